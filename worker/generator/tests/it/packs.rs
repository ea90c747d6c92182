//! Test that an incomplete pack is refused, with an error that names the file and the fault.

use std::{fs, path::Path};

use candle_core::{DType, Tensor};
use generator::ModelPack;
use serde_json::json;

use crate::toy;

const FILES: [&str; 5] =
    ["config.json", "generation_config.json", "metadata.json", "tokenizer.json", "model.safetensors"];

/// Breaks a good pack and returns the error of loading it.
fn fault(break_it: impl FnOnce(&Path)) -> String {
    let pack = toy::random();
    break_it(pack.path());
    ModelPack::load(pack.path()).expect_err("a broken pack must not load").to_string()
}

#[test]
fn a_whole_pack_loads() {
    let pack = ModelPack::load(toy::random().path()).unwrap();

    assert_eq!((pack.id.as_str(), pack.description.as_str(), pack.relative_cost), ("toy", "For tests", 1.5));
    assert_eq!(pack.generation.max_length, 40);
}

#[test]
fn a_missing_file_is_named() {
    for file in FILES {
        let error = fault(|pack| fs::remove_file(pack.join(file)).unwrap());

        assert!(error.contains(file), "{error}");
        assert!(error.contains("No such file"), "{error}");
    }
}

#[test]
fn a_truncated_file_is_named() {
    for file in FILES {
        let error = fault(|pack| {
            let bytes = fs::read(pack.join(file)).unwrap();
            fs::write(pack.join(file), &bytes[..bytes.len() / 2]).unwrap();
        });

        assert!(error.contains(file), "{error}");
    }
}

#[test]
fn a_file_of_other_content_is_named() {
    for file in FILES {
        let error = fault(|pack| fs::write(pack.join(file), "version https://git-lfs").unwrap());

        assert!(error.contains(file), "{error}");
    }
}

#[test]
fn a_value_that_makes_no_sense_is_named() {
    for (file, field, value, words) in [
        ("config.json", "model_type", json!("gpt"), "`model_type` is gpt, wanted `smiles_gru`"),
        ("config.json", "vocab_size", json!(0), "`vocab_size` is 0"),
        ("config.json", "vocab_size", json!(-1), "invalid value"),
        ("config.json", "num_layers", json!(0), "`num_layers` is 0"),
        ("config.json", "num_layers", json!(u64::MAX), "`num_layers` is 18446744073709551615"),
        ("config.json", "hidden_size", json!("12"), "invalid type"),
        ("config.json", "bos_token_id", json!(99), "`bos_token_id` is 99, wanted an id below `vocab_size`"),
        ("config.json", "eos_token_id", json!(1), "`eos_token_id` is 1, wanted an id of its own"),
        ("config.json", "pad_token_id", json!(2), "`pad_token_id` is 2, wanted an id of its own"),
        ("generation_config.json", "temperature", json!(0), "`temperature` is 0"),
        ("generation_config.json", "temperature", json!(-1), "`temperature` is -1"),
        ("generation_config.json", "temperature", json!(null), "invalid type"),
        ("generation_config.json", "top_p", json!(0), "`top_p` is 0"),
        ("generation_config.json", "top_p", json!(1.1), "`top_p` is 1.1"),
        ("generation_config.json", "max_length", json!(2), "`max_length` is 2"),
        ("generation_config.json", "max_length", json!(12.5), "invalid type"),
        ("metadata.json", "id", json!(""), "`id` is"),
        ("metadata.json", "id", json!("a b"), "`id` is a b, wanted letters, digits and underscores"),
        ("metadata.json", "relative_cost", json!(0), "`relative_cost` is 0"),
    ] {
        let error = fault(|pack| toy::edit(pack, file, |config| config[field] = value));

        assert!(error.contains(file) && error.contains(words), "{error}");
    }
}

#[test]
fn a_vocabulary_needs_no_token_for_padding() {
    let pack = toy::random();
    toy::edit(pack.path(), "config.json", |config| {
        drop(config.as_object_mut().unwrap().remove("pad_token_id"))
    });
    toy::edit(pack.path(), "tokenizer.json", |file| {
        drop(file["added_tokens"].as_array_mut().unwrap().remove(0));
    });

    ModelPack::load(pack.path()).unwrap();
}

#[test]
fn every_file_that_is_wrong_is_named() {
    let pack = toy::random();
    fs::remove_file(pack.path().join("metadata.json")).unwrap();
    toy::edit(pack.path(), "generation_config.json", |config| config["top_p"] = json!(2));
    fs::write(pack.path().join("model.safetensors"), "").unwrap();

    let faults: Vec<String> = ModelPack::faults(pack.path()).iter().map(ToString::to_string).collect();

    assert_eq!(faults.len(), 3, "{faults:?}");
    for (fault, file) in faults.iter().zip(["generation_config.json", "metadata.json", "model.safetensors"]) {
        assert!(fault.contains(file), "{fault}");
    }
    assert!(ModelPack::faults(toy::random().path()).is_empty());
}

#[test]
fn a_string_is_spelled_in_the_longest_tokens_that_lead_to_its_end() {
    let pack = toy::always(&["C", "CC", "CCO", "l", "Cl"]);
    let pack = ModelPack::load(pack.path()).unwrap();

    // Tokens by id; the special ones are 0 to 2.
    assert_eq!(pack.encode("CCO"), Some(vec![1, 5, 2]));
    assert_eq!(pack.encode("CCCl"), Some(vec![1, 4, 7, 2]));
    assert_eq!(pack.encode(""), Some(vec![1, 2]));
    assert_eq!(pack.encode("CCN"), None);
    assert_eq!(pack.encode("Cé"), None);
    assert_eq!(pack.encode("C<eos>"), None);
}

#[test]
fn a_missing_field_is_named() {
    for (file, field) in [
        ("config.json", "eos_token_id"),
        ("generation_config.json", "top_p"),
        ("metadata.json", "relative_cost"),
    ] {
        let error = fault(|pack| {
            toy::edit(pack, file, |config| assert!(config.as_object_mut().unwrap().remove(field).is_some()));
        });

        assert!(error.contains(file) && error.contains(&format!("missing field `{field}`")), "{error}");
    }
}

#[test]
fn a_vocabulary_must_be_the_one_of_the_configuration() {
    let vocabulary = |change: fn(&mut serde_json::Map<String, serde_json::Value>)| {
        fault(|pack| {
            toy::edit(pack, "tokenizer.json", |file| change(file["model"]["vocab"].as_object_mut().unwrap()));
        })
    };

    let error = vocabulary(|vocab| assert!(vocab.insert("P".to_owned(), json!(8)).is_none()));
    assert!(error.contains("tokenizer.json: 9 tokens, but `vocab_size` is 8"), "{error}");

    let error = vocabulary(|vocab| assert!(vocab.remove("F").is_some()));
    assert!(error.contains("tokenizer.json: 7 tokens, but `vocab_size` is 8"), "{error}");

    let error = vocabulary(|vocab| vocab["F"] = json!(9));
    assert!(error.contains("tokenizer.json: token id 9 is not below `vocab_size`"), "{error}");

    let error = vocabulary(|vocab| vocab["F"] = json!(3));
    assert!(error.contains("tokenizer.json: two tokens have the id 3"), "{error}");
}

#[test]
fn a_tokenizer_must_decode_by_concatenation() {
    let error = fault(|pack| toy::edit(pack, "tokenizer.json", |file| file["decoder"] = json!(null)));

    assert!(error.contains("tokenizer.json: the decoder does not join tokens as they are"), "{error}");
}

#[test]
fn weights_must_be_those_of_the_architecture() {
    let weights = |change: fn(&mut std::collections::HashMap<String, Tensor>)| {
        fault(|pack| toy::edit_weights(pack, change))
    };

    let error = weights(|tensors| assert!(tensors.remove("rnn.bias_hh_l1").is_some()));
    assert!(error.contains("model.safetensors: no tensor `rnn.bias_hh_l1`"), "{error}");

    let error = weights(|tensors| {
        let spare = tensors["out.bias"].clone();
        tensors.insert("rnn.bias_hh_l2".to_owned(), spare);
    });
    assert!(error.contains("model.safetensors: unexpected tensor `rnn.bias_hh_l2`"), "{error}");

    let error = weights(|tensors| {
        let turned = tensors["out.weight"].t().unwrap().contiguous().unwrap();
        tensors.insert("out.weight".to_owned(), turned);
    });
    assert!(error.contains("tensor `out.weight` is [12, 8], wanted [8, 12]"), "{error}");

    let error = weights(|tensors| {
        let broken = (&tensors["out.bias"] * f64::NAN).unwrap();
        tensors.insert("out.bias".to_owned(), broken);
    });
    assert!(error.contains("tensor `out.bias` holds a number that is not finite"), "{error}");

    let error = weights(|tensors| {
        let whole = tensors["out.bias"].to_dtype(DType::I64).unwrap();
        tensors.insert("out.bias".to_owned(), whole);
    });
    assert!(error.contains("tensor `out.bias` holds i64"), "{error}");
}

#[test]
fn half_precision_weights_load() {
    let pack = toy::random();
    toy::edit_weights(pack.path(), |tensors| {
        for tensor in tensors.values_mut() {
            *tensor = tensor.to_dtype(DType::F16).unwrap();
        }
    });

    ModelPack::load(pack.path()).unwrap();
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(400))]

    #[test]
    fn no_bytes_in_a_pack_make_loading_panic(
        file in 0..FILES.len(),
        changes in proptest::collection::vec((proptest::prelude::any::<proptest::sample::Index>(), 0_u8..), 1..5),
        cut in proptest::option::weighted(0.2, proptest::prelude::any::<proptest::sample::Index>()),
    ) {
        let pack = toy::random();
        let path = pack.path().join(FILES[file]);
        let mut bytes = fs::read(&path).unwrap();
        // Only the front is changed: it holds the header, while the weights' values may be anything.
        let front = bytes.len().min(1500);
        for (at, byte) in changes {
            bytes[at.index(front)] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(&path, bytes).unwrap();

        for fault in ModelPack::faults(pack.path()) {
            proptest::prop_assert!(fault.to_string().contains(&pack.path().display().to_string()));
        }
    }
}
