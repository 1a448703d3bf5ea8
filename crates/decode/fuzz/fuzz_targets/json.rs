#![no_main]

use decode::Format;

libfuzzer_sys::fuzz_target!(|body: &[u8]| decode_fuzz::check_decode(Format::Json { table: "cpu" }, body));
