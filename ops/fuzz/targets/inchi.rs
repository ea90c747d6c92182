#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ops::fuzz::inchi(input));
