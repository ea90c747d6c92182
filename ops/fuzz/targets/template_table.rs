#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| synth::fuzz::template_table(input));
