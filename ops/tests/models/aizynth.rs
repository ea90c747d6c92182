//! AiZynthFinder policies: an import gives the same results as ONNX, and a refusal names the fault.

use std::{
    fs,
    io::Write as _,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use catalogue::{BlockRow, Offer, StockView};
use chem::Molecule;
use flate2::{Compression, write::GzEncoder};
use serde::Deserialize;
use synth::{
    Budget, Constraints, GroupOrder, RetroModel, Route, RouteStep, Stop, TargetPurchase, Task, plan,
};

use crate::stage::{CommandOutput, TestModels, data};

#[derive(Deserialize)]
struct Expected {
    target: String,
    probabilities: Vec<f32>,
}

/// Imports a policy as `x`.
fn import(stage: &TestModels, network: &Path, templates: &Path, more: &[&str]) -> CommandOutput {
    let paths = [network.to_str().unwrap(), "--templates", templates.to_str().unwrap(), "--name", "x"];
    stage.model(&[&["import"], &paths[..], more].concat())
}

#[test]
fn a_policy_ranks_templates_as_its_network_does() {
    let expected: Expected =
        serde_json::from_slice(&fs::read(data("policy/expected.json")).unwrap()).unwrap();
    for network in ["policy/keras.onnx", "policy/pytorch.onnx"] {
        let stage = TestModels::with(&[]);

        let output = import(&stage, &data(network), &data("policy/templates.csv.gz"), &[]);

        assert_eq!((output.code, output.data.as_str()), (0, "x\n"), "{output:?}");
        assert!(output.notes.contains("templates.csv.gz, line 4: "), "{output:?}");
        assert!(output.notes.contains("1 of 4 templates cannot be read and are switched off"), "{output:?}");
        let steps = steps(&stage.models().join("x"), &expected.target);
        let templates: Vec<u32> = steps.iter().map(|step| step.template).collect();
        assert_eq!(templates, [1, 3]);
        // Probabilities are normalised over the templates that match.
        let all: f32 = templates.iter().map(|&template| expected.probabilities[template as usize]).sum();
        for step in steps {
            let expected = expected.probabilities[step.template as usize] / all;
            // The engine quantises the second layer to bytes.
            assert!((step.probability - expected).abs() < 0.01, "{} is not {expected}", step.probability);
            assert_eq!(step.template_hash, format!("hash{}", step.template));
        }
        assert_eq!(stage.model(&["check", "x"]).code, 0);
    }
}

#[test]
fn what_was_imported_is_shown() {
    let stage = TestModels::with(&[]);
    let errors = stage.beside("errors.tsv");
    let more = ["--errors", errors.to_str().unwrap()];

    import(&stage, &data("policy/keras.onnx"), &data("policy/templates.csv.gz"), &more);

    let shown = stage.model(&["show", "x", "--json"]).json();
    assert_eq!(shown["kind"], "templates");
    assert_eq!(shown["metadata"]["architecture"], "Morgan r2 2048 -> 3 ELU -> 4 templates");
    let readme = fs::read_to_string(stage.models().join("x/README.md")).unwrap();
    assert!(readme.contains("- templates: templates.csv.gz, 3 of 4 can be used"), "{readme}");
    let errors = fs::read_to_string(errors).unwrap();
    assert!(errors.starts_with("line\tfault\n4\t") && errors.lines().count() == 2, "{errors}");
}

#[test]
fn a_table_of_another_length_is_refused() {
    let stage = TestModels::with(&[]);
    let table = stage.beside("table.csv");
    fs::write(&table, "retro_template\nC>>C\n").unwrap();

    let output = import(&stage, &data("policy/keras.onnx"), &table, &[]);

    output.fails(
        1,
        &["table.csv has 1 templates, but ", "keras.onnx has 4 outputs: they do not belong together"],
    );
    assert!(stage.names().is_empty());
}

#[test]
fn what_is_no_table_or_no_network_is_refused_by_its_name() {
    let stage = TestModels::with(&[]);
    let write = |name: &str, bytes: &[u8]| {
        fs::write(stage.beside(name), bytes).unwrap();
        stage.beside(name)
    };
    let (network, table) = (data("policy/keras.onnx"), data("policy/templates.csv.gz"));
    let bytes = |file: &Path| fs::read(file).unwrap();
    let cut = |file: &Path| bytes(file)[..bytes(file).len() / 2].to_vec();
    let hdf5 = b"\x89HDF\r\n\x1a\n and more";

    let found = [
        (import(&stage, &network, &write("t.hdf5", hdf5), &[]), "t.hdf5: an HDF5 table; convert it"),
        (import(&stage, &write("m.hdf5", hdf5), &table, &[]), "m.hdf5: an HDF5 file; convert it"),
        (
            import(&stage, &write("cut.onnx", &cut(&network)), &table, &[]),
            "cut.onnx: not a readable ONNX file",
        ),
        (import(&stage, &network, &write("cut.csv.gz", &cut(&table)), &[]), "cut.csv.gz: after line "),
        (import(&stage, &network, &write("other.csv", b"a\tb\n1\t2\n"), &[]), "no column `retro_template`"),
        (import(&stage, &network, Path::new("nowhere.csv"), &[]), "nowhere.csv: No such file"),
        (
            import(&stage, &write("other.onnx", b"hello, I am text"), &table, &[]),
            "other.onnx: not a readable ONNX",
        ),
    ];

    for (output, words) in found {
        output.fails(1, &[words]);
    }
    assert!(stage.names().is_empty());
}

#[test]
fn a_table_that_unpacks_without_end_is_refused() {
    let stage = TestModels::with(&[]);
    let bomb = stage.beside("bomb.csv.gz");
    let packed = |bytes: &[u8]| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let rows = packed(&b"C>>C\n".repeat(200_000));
    fs::write(&bomb, [packed(b"retro_template\n"), rows.repeat(1_100)].concat()).unwrap();

    let output = import(&stage, &data("policy/keras.onnx"), &bomb, &[]);

    output.fails(1, &["bomb.csv.gz: more than 1048576 rows"]);
}

#[test]
fn network_and_table_go_together() {
    let stage = TestModels::with(&[]);
    let network = data("policy/keras.onnx");

    stage.model(&["import", network.to_str().unwrap()]).fails(2, &["name their table with --templates"]);
    stage
        .model(&["import", data("policy").to_str().unwrap(), "--name", "x"])
        .fails(2, &["no config.json", "keras.onnx --templates FILE.csv.gz --name ID"]);
    import(&stage, &data("priors/lstm.prior"), &data("policy/templates.csv.gz"), &[])
        .fails(2, &["--templates goes with a network in ONNX"]);
}

/// Returns the steps that a pack finds for a target whose precursors can all be bought, by template.
fn steps(pack: &Path, target: &str) -> Vec<RouteStep> {
    let model = Arc::new(RetroModel::load(pack).unwrap());
    let stock = StockView::in_memory((0..).zip(["CC(=O)O", "CC(=O)Cl", "CCN"]).map(|(id, smiles)| {
        let molecule: Molecule = smiles.parse().unwrap();
        (BlockRow::of(id, &molecule), vec![Offer::of(1).at(1.0).within(1.0)])
    }));
    let task = Task {
        target: target.parse().unwrap(),
        max_depth: 1,
        stop: Stop::Budget,
        target_purchase: TargetPurchase::Mask,
        max_groups: 10,
        max_group_size: 10,
        group_order: GroupOrder::Total,
        constraints: Constraints::default(),
    };
    let mut budget =
        Budget::until(Instant::now() + Duration::from_secs(20), Arc::new(AtomicBool::new(false)));
    budget.max_expansions = Some(10);
    let plan = plan(&model, &stock, &task, &budget);
    let mut steps: Vec<RouteStep> =
        plan.routes().flat_map(Route::steps).map(|(_, step)| step.clone()).collect();
    steps.sort_by_key(|step| step.template);
    steps.dedup_by_key(|step| step.template);
    steps
}
