//! Test that the network computes the same as PyTorch, however strings are batched.

use std::{num::NonZeroUsize, path::Path};

use generator::{Device, ModelPack, Precision, Sampler};
use serde::Deserialize;

/// Tolerance of the logits; see `tests/data/SOURCES.md`.
const TOLERANCE: f32 = 1e-5;

#[derive(Deserialize)]
pub struct Expected {
    pub strings: Vec<Vec<u32>>,
    pub logits: Vec<Vec<Vec<f32>>>,
}

pub fn torch_model(name: &str, precision: Precision) -> (Sampler, Expected) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
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
    for name in ["torch_gru", "torch_lstm"] {
        let (sampler, expected) = torch_model(name, Precision::Single);

        for (string, expected) in expected.strings.iter().zip(&expected.logits) {
            let logits = sampler.logits(std::slice::from_ref(string)).unwrap();

            assert_close(&logits[0], expected);
        }
    }
}

#[test]
fn a_string_is_scored_in_a_batch_as_it_is_alone() {
    for name in ["torch_gru", "torch_lstm"] {
        let (sampler, expected) = torch_model(name, Precision::Single);

        let logits = sampler.logits(&expected.strings).unwrap();

        assert_eq!(logits.len(), expected.logits.len());
        for (logits, expected) in logits.iter().zip(&expected.logits) {
            assert_close(logits, expected);
        }
    }
}

#[test]
fn the_network_in_bytes_gives_the_logits_of_rounded_weights_and_states() {
    for name in ["torch_gru", "torch_lstm"] {
        let (sampler, expected) = torch_model(name, Precision::Bytes);

        let logits = sampler.logits(&expected.strings).unwrap();

        for ((string, logits), expected) in expected.strings.iter().zip(&logits).zip(&expected.logits) {
            assert_close(logits, expected);
            assert_eq!(sampler.logits(std::slice::from_ref(string)).unwrap()[0], *logits);
        }
    }
}

#[test]
fn an_lstm_gives_the_same_strings_with_any_number_of_threads() {
    let (sampler, _) = torch_model("torch_lstm", Precision::Bytes);
    let one = sampler.with_threads(NonZeroUsize::MIN);
    let alone = one.raw(40, 7).unwrap();

    let three = one.with_threads(NonZeroUsize::new(3).unwrap());

    assert_eq!(three.raw(40, 7).unwrap(), alone);
}
