//! REINVENT priors: an import gives the same results as PyTorch, and a refusal names the fault.

use std::{collections::BTreeMap, fs, path::PathBuf};

use generator::{Device, ModelPack, Sampler};
use serde::Deserialize;

use crate::stage::{TestModels, data};

#[derive(Deserialize)]
struct Expected {
    string: Vec<u32>,
    logits: Vec<Vec<f32>>,
}

fn prior(name: &str) -> PathBuf {
    data("priors").join(format!("{name}.prior"))
}

#[test]
fn a_prior_computes_what_pytorch_computed() {
    let expected = fs::read(data("priors/logits.json")).unwrap();
    let expected: BTreeMap<String, Expected> = serde_json::from_slice(&expected).unwrap();
    let stage = TestModels::with(&[]);
    for (cell, expected) in expected {
        let output = stage.model(&["import", prior(&cell).to_str().unwrap(), "--name", &cell]);

        assert_eq!((output.code, output.data.as_str()), (0, format!("{cell}\n").as_str()), "{output:?}");
        let pack = ModelPack::load(&stage.models().join(&cell)).unwrap();
        let sampler = Sampler::new(&pack, Device::Cpu).unwrap();
        let sampler = sampler.with_precision(generator::Precision::Single).unwrap();
        let found = sampler.logits(&[expected.string]).unwrap();
        for (found, expected) in found[0].iter().flatten().zip(expected.logits.iter().flatten()) {
            assert!((found - expected).abs() < 1e-4, "{cell}: {found} is not {expected}");
        }
    }
}

#[test]
fn a_prior_becomes_a_pack_with_what_its_file_says() {
    let stage = TestModels::with(&[]);

    let output = stage.model(&["import", prior("lstm").to_str().unwrap()]);

    assert_eq!((output.code, output.data.as_str()), (0, "lstm\n"), "{output:?}");
    let shown = stage.model(&["show", "lstm", "--json"]).json();
    assert_eq!(shown["config"]["model_type"], "smiles_lstm");
    assert_eq!(shown["metadata"]["training_data"], "A few small molecules");
    assert_eq!(shown["files"].as_array().unwrap().len(), 6);
    let readme = fs::read_to_string(stage.models().join("lstm/README.md")).unwrap();
    assert!(readme.contains("- comment: For tests only"), "{readme}");
    let pack = ModelPack::load(&stage.models().join("lstm")).unwrap();
    assert_eq!(pack.generation.max_length, 64);
}

#[test]
fn a_model_that_has_learnt_nothing_is_warned_of() {
    let stage = TestModels::with(&[]);
    let output = stage.model(&["import", prior("gru").to_str().unwrap(), "--name", "x"]);
    assert!(!output.notes.contains("the weights know little chemistry"), "{output:?}");
    let weights = stage.models().join("x/model.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    let header = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    bytes[header..].fill(0);
    fs::write(weights, bytes).unwrap();

    let output = stage.model(&["check", "x"]);

    assert!(output.data.contains("the weights know little chemistry"), "{output:?}");
}

#[test]
fn a_file_that_would_run_something_is_refused_by_the_name_of_it_and_does_not_run() {
    let stage = TestModels::with(&[]);

    let output = stage.model(&["import", prior("harmful").to_str().unwrap(), "--name", "x"]);

    output.fails(
        1,
        &["harmful.prior: byte ", "names `posix.system`, which no prior needs; nothing in the file was run"],
    );
    assert!(!stage.beside("harmed").exists() && !stage.models().join("harmed").exists());
    assert!(stage.names().is_empty());
}

#[test]
fn a_file_that_is_no_prior_is_refused_by_what_is_wrong_with_it() {
    let stage = TestModels::with(&[]);
    for (name, words) in [
        ("libinvent", "a model of type `Libinvent`; only `Reinvent` priors"),
        ("normalised", "`network_params.layer_normalization` is true, but layers are not normalised here"),
        ("another_cell", "`network_params.cell_type` is gru, but the tensors are those of a LSTM"),
        ("another_size", "`network_params.layer_size` is 5, but the tensors say 4"),
        ("no_end", "the vocabulary: no `$`, which ends every string"),
        ("no_order", "the vocabulary: `N` has no id of its own from 0 to 4"),
        ("few_tokens", "tensor `_embedding.weight`: is [5, 3], wanted [3, 3]"),
        ("no_network", "`network` is not there"),
        ("no_bias", "tensor `_rnn.bias_hh_l0`: is missing"),
        ("spare", "tensor `_rnn.weight_ih_l0_reverse`: the architecture has no place for it"),
        ("turned", "tensor `_linear.weight`: does not lie row by row"),
        ("expanded", "tensor `_linear.weight`: reaches beyond its storage"),
        ("whole_numbers", "tensor `_linear.bias`: has no storage of floating-point numbers"),
        ("not_a_number", "model.safetensors: tensor `out.bias` holds a number that is not finite"),
        ("not_a_tensor", "tensor `_linear.bias`: is not a tensor"),
        ("a_list", "`the file` is not a dictionary as REINVENT saves it"),
        ("old", "written by a torch before 1.6"),
        ("packed", "in the archive: compression method not supported"),
        ("short_storage", "in the archive has 56 bytes, wanted 60"),
        ("big_endian", "written in `big` byte order, wanted `little`"),
    ] {
        let output = stage.model(&["import", prior(name).to_str().unwrap(), "--name", "x"]);

        output.fails(1, &[words]);
    }
    assert!(stage.names().is_empty());
}

#[test]
fn a_prior_that_is_cut_off_is_refused_wherever_it_is_cut() {
    let stage = TestModels::with(&[]);
    let whole = fs::read(prior("gru")).unwrap();
    let cut = stage.beside("cut.prior");
    for part in [0, 3, 16, 900, whole.len() / 2, whole.len() - 1] {
        fs::write(&cut, &whole[..part]).unwrap();

        stage.model(&["import", cut.to_str().unwrap(), "--name", "x"]).fails(1, &["cut.prior: "]);
    }
    assert!(stage.names().is_empty());
}

#[test]
fn a_prior_with_bytes_changed_is_imported_or_refused_and_never_ends_the_program() {
    let stage = TestModels::with(&[]);
    let whole = fs::read(prior("no_end")).unwrap();
    let changed = stage.beside("changed.prior");
    for n in 0..60 {
        let mut bytes = whole.clone();
        let at = n * bytes.len() / 60;
        bytes[at] ^= 1 << (n % 8);
        bytes[(at * 7 + 13) % whole.len()] = 0xFF;
        fs::write(&changed, bytes).unwrap();

        stage.model(&["import", changed.to_str().unwrap(), "--name", "x"]).fails(1, &["changed.prior: "]);
    }
}
