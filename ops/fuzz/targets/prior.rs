#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| model_tools::fuzz::prior(input));
