#![no_main]

use ingest::decode::{Format, Precision};

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    // The unit that overflows the most.
    ingest_fuzz::check_decode(Format::LineProtocol { precision: Precision::Seconds }, body);
});
