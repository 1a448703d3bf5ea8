#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| decode_fuzz::check_rows(bytes));
