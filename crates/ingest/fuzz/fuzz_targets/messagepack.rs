#![no_main]

use ingest::decode::Format;

libfuzzer_sys::fuzz_target!(|body: &[u8]| ingest_fuzz::check_decode(Format::MessagePack, body));
