#![no_main]

use decode::{Format, Precision};

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    // The unit that overflows the most.
    decode_fuzz::check_decode(Format::LineProtocol { precision: Precision::Seconds }, body);
});
