#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| ingest_fuzz::check_expand(body));
