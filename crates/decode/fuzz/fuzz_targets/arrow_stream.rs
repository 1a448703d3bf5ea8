#![no_main]

use decode::Format;

libfuzzer_sys::fuzz_target!(
    // Arrow's reader panics on some of what is wrong, and we catch it; only a panic that nobody catches is a finding.
    init: std::panic::set_hook(Box::new(|_| ())),
    |body: &[u8]| decode_fuzz::check_decode(Format::ArrowStream { table: "cpu" }, body)
);
