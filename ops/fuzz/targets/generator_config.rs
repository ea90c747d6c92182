#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| generator::fuzz::generator_config(input));
