//! Training and evaluation of models.

use std::fs;

use serde_json::Value;

use crate::stage::TestModels;

/// Returns molecules of one kind, which a general model rarely draws together.
fn sulfonamides() -> String {
    let rings = ["c1ccccc1", "c1ccncc1", "c1ccsc1", "C1CCCCC1", "c1ccc2ccccc2c1"];
    let tails =
        ["C", "CC", "C(C)C", "CCO", "CCN", "C1CC1", "CC(F)(F)F", "CCOC", "CC#N", "CCCl", "CC(C)C", "CCC"];
    let lines =
        rings.iter().flat_map(|ring| tails.iter().map(move |tail| format!("O=S(=O)(N{tail}){ring} x\n")));
    lines.collect()
}

#[test]
fn a_model_is_taught_a_users_molecules_and_is_a_model_like_others() {
    let stage = TestModels::with(&["leadlike_gru"]);
    let broken = "O=S(=O)(NC\nnonsense\n\nCC.O\n[U]\nCS(N)(=O)=O\nNS(C)(=O)=O\n";
    fs::write(stage.beside("own.smi"), sulfonamides() + broken).unwrap();

    let output = stage.model(&[
        "train",
        "--molecules",
        "own.smi",
        "--from",
        "leadlike_gru",
        "--name",
        "own",
        "--epochs",
        "2",
        "--batch-size",
        "16",
        "--errors",
        "errors.txt",
    ]);

    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(output.data, "own\n");
    for words in [
        "own.smi:61: no molecule: ",
        "own.smi:64: several components",
        "own.smi:65: the model has no tokens to write [U]",
        "left out 5 lines",
        "own.smi:67: a molecule of an earlier line",
        "54 molecules to learn from, 7 held out",
        "epoch 2: ",
    ] {
        assert!(output.notes.contains(words), "no `{words}` in {output:?}");
    }
    assert_eq!(fs::read_to_string(stage.beside("errors.txt")).unwrap().lines().count(), 5);
    assert_eq!(stage.names(), ["leadlike_gru", "own"]);
    assert_eq!(stage.model(&["check", "own"]).code, 0);
    let shown = stage.model(&["show", "own", "--json"]).json();
    let figures = &shown["metadata"]["metrics"]["as_shipped"];
    assert!(figures["validity"].as_f64().unwrap() > 0.9, "{shown}");
    assert!(figures["properties"]["molecular_weight"]["p50"].as_f64().unwrap() > 100.0, "{shown}");
    let card = fs::read_to_string(stage.models().join("own/README.md")).unwrap();
    assert!(
        card.contains("54 molecules to learn from, 7 held out; 5 lines of the file were left out"),
        "{card}"
    );
}

#[test]
fn impossible_trainings_are_refused_with_a_reason() {
    let stage = TestModels::with(&["leadlike_gru"]);
    fs::write(stage.beside("few.smi"), "CCO\nCCN\nx\n").unwrap();
    fs::write(stage.beside("own.smi"), sulfonamides()).unwrap();
    let train = |data: &str, from: &str, name: &str, rate: &str| {
        let settings = ["--learning-rate", rate, "--batch-size", "1"];
        stage
            .model(&[&["train", "--molecules", data, "--from", from, "--name", name][..], &settings].concat())
    };

    train("few.smi", "leadlike_gru", "own", "1e-3")
        .fails(1, &["few.smi: 2 molecules that leadlike_gru can write, of at least 20", "no molecule: 1"]);
    train("none.smi", "leadlike_gru", "own", "1e-3").fails(1, &["none.smi"]);
    train("own.smi", "nobody", "own", "1e-3").fails(1, &["no model `nobody`"]);
    train("own.smi", "leadlike_gru", "leadlike_gru", "1e-3")
        .fails(1, &["there is a model `leadlike_gru` already"]);
    train("own.smi", "leadlike_gru", "own", "0").fails(2, &["--learning-rate 0"]);
    train("own.smi", "leadlike_gru", "own", "1").fails(1, &["learning"]);
    assert_eq!(stage.names(), ["leadlike_gru"]);
}

#[test]
fn a_model_is_measured_and_reported() {
    let stage = TestModels::with(&["leadlike_gru"]);
    fs::write(stage.beside("known.smi"), sulfonamides()).unwrap();

    let output =
        stage.model(&["evaluate", "leadlike_gru", "--reference", "known.smi", "--size", "200", "--json"]);

    assert_eq!(output.code, 0, "{output:?}");
    let figures = output.json();
    assert_eq!((&figures["model"], &figures["n_strings"]), (&"leadlike_gru".into(), &200.into()));
    for name in ["validity", "uniqueness", "novelty", "internal_diversity"] {
        assert!((0.5..=1.0).contains(&figures[name].as_f64().unwrap()), "{name}: {figures}");
    }
    for name in ["kl_score", "scaffold_similarity", "stereo_share"] {
        assert!((0.0..=1.0).contains(&figures[name].as_f64().unwrap()), "{name}: {figures}");
    }
    let report = fs::read_to_string(stage.beside("leadlike_gru.html")).unwrap();
    assert!(report.contains("<h1>leadlike_gru</h1>") && report.matches("<svg").count() > 40);
    let kept = stage.model(&["show", "leadlike_gru", "--json"]).json();
    assert_eq!(kept["metadata"]["metrics"]["as_shipped"], Value::Null, "{kept}");
    assert_eq!(stage.model(&["evaluate", "leadlike_gru", "--size", "50", "--update"]).code, 0);
    let kept = stage.model(&["show", "leadlike_gru", "--json"]).json();
    assert_eq!(kept["metadata"]["metrics"]["as_shipped"]["n_strings"], 50, "{kept}");
    assert!(kept["metadata"]["metrics"]["temperature_1"]["validity"].is_number(), "{kept}");
    let shown = stage.model(&["show", "leadlike_gru"]).data;
    assert!(shown.contains("metrics.as_shipped.properties.crippen_logp: "), "{shown}");
    stage.model(&["evaluate", "leadlike_gru", "--temperature", "0"]).fails(2, &["--temperature 0"]);
    stage.model(&["evaluate", "leadlike_gru", "--reference", "none.smi"]).fails(1, &["none.smi"]);
}
