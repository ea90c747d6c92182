//! Packs in our own layout: list, show, check, import, remove.

use std::{fs, path::Path};

use serde_json::json;

use crate::stage::{TestModels, edit};

#[test]
fn models_are_listed_for_people_and_for_scripts() {
    let stage = TestModels::with(&["leadlike_gru", "uspto_retro"]);
    fs::create_dir(stage.models().join("empty")).unwrap();
    fs::create_dir(stage.models().join(".import-7")).unwrap();

    let output = stage.model(&["list"]);
    let listed = stage.model(&["list", "--json"]).json();

    assert_eq!(output.code, 0, "{output:?}");
    let first_words: Vec<&str> =
        output.data.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(first_words, ["MODEL", "empty", "leadlike_gru", "uspto_retro"]);
    assert!(output.notes.contains("empty/config.json: No such file"), "{output:?}");
    let kinds: Vec<_> = listed.as_array().unwrap().iter().map(|model| model["kind"].clone()).collect();
    assert_eq!(kinds, [json!(null), json!("generator"), json!("templates")]);
}

#[test]
fn a_model_is_shown_with_its_card_its_settings_and_its_files() {
    let stage = TestModels::with(&["leadlike_gru"]);

    let output = stage.model(&["show", "leadlike_gru"]);
    let shown = stage.model(&["show", "leadlike_gru", "--json"]).json();

    assert_eq!(output.code, 0, "{output:?}");
    for words in ["leadlike_gru (generator)", "hidden_size: 512", "model.safetensors: 2.3 MB"] {
        assert!(output.data.contains(words), "{words}: {output:?}");
    }
    assert_eq!(shown["config"]["model_type"], "smiles_gru");
    assert_eq!(shown["files"].as_array().unwrap().len(), 6);
    stage.model(&["show", "nobody"]).fails(1, &["no model `nobody`", "there are: leadlike_gru"]);
}

#[test]
fn what_ships_is_sound() {
    let stage = TestModels::with(&["druglike_gru", "leadlike_gru", "uspto_retro"]);

    let output = stage.model(&["check", "--json"]);

    assert_eq!(output.code, 0, "{output:?}");
    for report in output.json().as_array().unwrap() {
        assert_eq!((&report["faults"], &report["warnings"]), (&json!([]), &json!([])), "{report}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_file() {
    type Break = fn(&Path);
    let cases: [(&str, Break, &str); 9] = [
        ("leadlike_gru", |pack| truncate(&pack.join("model.safetensors")), "model.safetensors: "),
        ("leadlike_gru", |pack| truncate(&pack.join("tokenizer.json")), "tokenizer.json: "),
        (
            "leadlike_gru",
            |pack| edit(&pack.join("config.json"), |config| config["hidden_size"] = json!(511)),
            "model.safetensors: tensor `rnn.weight_ih_l0` is [1536, 128], wanted [1533, 128]",
        ),
        (
            "leadlike_gru",
            |pack| edit(&pack.join("config.json"), |config| config["model_type"] = json!("gpt2")),
            "config.json: `model_type` is gpt2, wanted `smiles_gru`",
        ),
        ("leadlike_gru", |pack| poison(&pack.join("model.safetensors")), "not finite"),
        (
            "leadlike_gru",
            |pack| {
                // Renames the tokens with their ids unchanged, so that they spell no molecule.
                edit(&pack.join("tokenizer.json"), |file| {
                    let vocab = file["model"]["vocab"].as_object_mut().unwrap();
                    let spells = |text: &str| text.contains(['C', 'c', 'O', 'N']);
                    let renamed = vocab.iter().map(|(text, id)| match spells(text) {
                        true => (format!("{text}?"), id.clone()),
                        false => (text.clone(), id.clone()),
                    });
                    *vocab = renamed.collect();
                });
            },
            "tokenizer.json: spells 0 of 12 ordinary molecules",
        ),
        ("uspto_retro", |pack| truncate(&pack.join("templates.csv.gz")), "templates.csv.gz: "),
        ("uspto_retro", |pack| truncate(&pack.join("policy.safetensors")), "policy.safetensors: "),
        ("uspto_retro", |pack| poison(&pack.join("plausibility.safetensors")), "not finite"),
    ];
    for (model, break_it, words) in cases {
        let stage = TestModels::with(&[model]);
        break_it(&stage.models().join(model));

        let output = stage.model(&["check", model]);

        output.fails(1, &["one model of 1 has faults"]);
        assert!(output.data.starts_with("FAULT") && output.data.contains(words), "{words}: {output:?}");
    }
}

#[test]
fn a_table_that_unpacks_to_more_than_any_table_is_not_read() {
    let stage = TestModels::with(&["uspto_retro"]);
    let table = stage.models().join("uspto_retro/templates.csv.gz");
    // A gzip file may have many members: here 1,100 times a mebibyte of zeros, a few kilobytes each.
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut member, &vec![0; 1 << 20]).unwrap();
    fs::write(table, member.finish().unwrap().repeat(1_100)).unwrap();

    let output = stage.model(&["check"]);

    assert!(output.data.contains("templates.csv.gz: unpacks to more than 1073741824 bytes"), "{output:?}");
}

#[test]
fn two_packs_with_one_id_are_named() {
    let stage = TestModels::with(&["leadlike_gru"]);
    fs::rename(stage.copy_of("leadlike_gru", "copy"), stage.models().join("copy")).unwrap();

    let output = stage.model(&["check", "--json"]);

    output.fails(1, &["2 models of 2 have faults"]);
    let output = stage.model(&["show", "leadlike_gru"]);
    output.fails(1, &["2 packs", "are called `leadlike_gru`"]);
}

#[test]
fn a_pack_is_imported_whole_under_the_name_it_is_given() {
    let stage = TestModels::with(&["leadlike_gru"]);
    let source = stage.copy_of("leadlike_gru", "theirs");
    fs::write(source.join("training_args.bin"), "x").unwrap();

    let output = stage.model(&["import", source.to_str().unwrap(), "--name", "mine_2"]);

    assert_eq!((output.code, output.data.as_str()), (0, "mine_2\n"), "{output:?}");
    assert!(output.notes.contains("left out, as no part of a pack: training_args.bin"), "{output:?}");
    assert_eq!(stage.names(), ["leadlike_gru", "mine_2"]);
    let shown = stage.model(&["show", "mine_2", "--json"]).json();
    assert_eq!(shown["metadata"]["id"], "mine_2");
    assert_eq!(shown["metadata"]["licence"], "CC-BY-SA-3.0");
    assert_eq!(stage.model(&["check"]).code, 0);
}

#[test]
fn what_follows_from_other_files_need_not_be_there() {
    let stage = TestModels::with(&[]);
    let source = stage.copy_of("leadlike_gru", "theirs");
    let tokenizer: serde_json::Value =
        serde_json::from_slice(&fs::read(source.join("tokenizer.json")).unwrap()).unwrap();
    fs::write(source.join("vocab.json"), tokenizer["model"]["vocab"].to_string()).unwrap();
    for file in ["tokenizer.json", "metadata.json", "generation_config.json", "README.md"] {
        fs::remove_file(source.join(file)).unwrap();
    }

    let output = stage.model(&["import", source.to_str().unwrap()]);

    assert_eq!((output.code, output.data.as_str()), (0, "theirs\n"), "{output:?}");
    let shown = stage.model(&["show", "theirs", "--json"]).json();
    assert_eq!(shown["files"].as_array().unwrap().len(), 6);
    assert_eq!(shown["metadata"]["relative_cost"], 1.13);
}

#[test]
fn an_id_is_never_taken_twice() {
    let stage = TestModels::with(&["leadlike_gru"]);
    let source = stage.copy_of("leadlike_gru", "theirs");

    let output = stage.model(&["import", source.to_str().unwrap()]);

    output.fails(1, &["there is a model `leadlike_gru` already", "choose another --name"]);
    assert_eq!(stage.names(), ["leadlike_gru"]);
}

#[test]
fn a_name_that_is_a_path_is_wrong_usage() {
    let stage = TestModels::with(&[]);
    let source = stage.copy_of("leadlike_gru", "theirs");

    for name in ["../up", "a/b", ".", "", "a b"] {
        stage.model(&["import", source.to_str().unwrap(), "--name", name]).fails(2, &["an id has"]);
    }
    edit(&source.join("metadata.json"), |card| card["id"] = json!("../../up"));
    stage.model(&["import", source.to_str().unwrap()]).fails(2, &["`../../up`", "give it a --name"]);
    assert!(stage.names().is_empty());
}

#[test]
fn a_pack_that_is_not_sound_is_not_imported_and_leaves_nothing() {
    let stage = TestModels::with(&[]);
    let source = stage.copy_of("leadlike_gru", "theirs");
    truncate(&source.join("model.safetensors"));

    stage
        .model(&["import", source.to_str().unwrap(), "--name", "broken"])
        .fails(1, &["not imported: model.safetensors: "]);

    assert!(stage.names().is_empty());
}

#[test]
fn a_source_that_is_no_model_is_refused_by_its_name() {
    let stage = TestModels::with(&[]);
    fs::create_dir(stage.beside("empty")).unwrap();

    for (source, words) in [
        ("nowhere", "nowhere: No such file"),
        ("empty", "empty/config.json: No such file"),
        ("/dev/zero", "/dev/zero: is not a file"),
    ] {
        stage.model(&["import", source, "--name", "x"]).fails(1, &[words]);
    }
    assert!(stage.names().is_empty());
}

#[test]
fn a_model_is_removed_when_it_is_certain() {
    let stage = TestModels::with(&["leadlike_gru", "uspto_retro"]);

    stage.model(&["remove", "leadlike_gru"]).fails(2, &["use --yes"]);
    assert_eq!(stage.names().len(), 2);
    let output = stage.model(&["remove", "leadlike_gru", "--yes"]);

    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.notes.contains("no generator is left"), "{output:?}");
    assert_eq!(stage.names(), ["uspto_retro"]);
    stage.model(&["remove", "../models", "--yes"]).fails(1, &["no model `../models`"]);
}

fn truncate(file: &Path) {
    let bytes = fs::read(file).unwrap();
    fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
}

/// Sets the first number of a weights file to NaN, in f16 as in f32; tensors of bytes come last in the file.
fn poison(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let (length, _) = bytes.split_first_chunk().unwrap();
    let first = 8 + usize::try_from(u64::from_le_bytes(*length)).unwrap();
    bytes[first..first + 4].fill(0xFF);
    fs::write(file, bytes).unwrap();
}
