//! The network computes what PyTorch computes, however strings are batched.

use std::path::Path;

use generator::{Device, ModelPack, Precision, Sampler};
use serde::Deserialize;

/// See `tests/data/SOURCES.md`.
const TOLERANCE: f32 = 1e-5;

#[derive(Deserialize)]
struct Expected {
    strings: Vec<Vec<u32>>,
    logits: Vec<Vec<Vec<f32>>>,
}

fn torch_gru(precision: Precision) -> (Sampler, Expected) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/torch_gru");
    let sampler = Sampler::new(&ModelPack::load(&dir).unwrap(), Device::Cpu).unwrap();
    let file = match precision {
        Precision::Single => "logits.json",
        Precision::Bytes => "logits_bytes.json",
    };
    let expected = std::fs::read(dir.join(file)).unwrap();
    (sampler.with_precision(precision).unwrap(), serde_json::from_slice(&expected).unwrap())
}

fn assert_close(found: &[Vec<f32>], expected: &[Vec<f32>]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!((found - expected).abs() < TOLERANCE, "{found} is not {expected}");
    }
}

#[test]
fn the_network_gives_the_logits_that_pytorch_gives() {
    let (sampler, expected) = torch_gru(Precision::Single);

    for (string, expected) in expected.strings.iter().zip(&expected.logits) {
        let logits = sampler.logits(std::slice::from_ref(string)).unwrap();

        assert_close(&logits[0], expected);
    }
}

#[test]
fn a_string_is_scored_in_a_batch_as_it_is_alone() {
    let (sampler, expected) = torch_gru(Precision::Single);

    let logits = sampler.logits(&expected.strings).unwrap();

    assert_eq!(logits.len(), expected.logits.len());
    for (logits, expected) in logits.iter().zip(&expected.logits) {
        assert_close(logits, expected);
    }
}

#[test]
fn the_network_in_bytes_gives_the_logits_of_rounded_weights_and_states() {
    let (sampler, expected) = torch_gru(Precision::Bytes);

    let logits = sampler.logits(&expected.strings).unwrap();

    for ((string, logits), expected) in expected.strings.iter().zip(&logits).zip(&expected.logits) {
        assert_close(logits, expected);
        assert_eq!(sampler.logits(std::slice::from_ref(string)).unwrap()[0], *logits);
    }
}
