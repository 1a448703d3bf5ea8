#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| decode_fuzz::check_expand(body));
