//! Valid forms of a model directory, and the errors for a broken one.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::toy::*;
use candle_core::{DType, Device, Tensor};
use synth::{RetroModel, RouteStep, SearchResult, plan};

const HEADER: &str = "\tretro_template\ttemplate_hash\tlibrary_occurrence\tlibrary_index\n";

fn fault(dir: &Path) -> String {
    RetroModel::load(dir).unwrap_err().to_string()
}

/// Returns the first step of the best route.
fn first_step(plan: &SearchResult) -> &RouteStep {
    plan.routes().next().unwrap().steps().next().unwrap().1
}

#[test]
fn a_directory_without_files_is_refused_by_the_name_of_the_file() {
    let dir = tempfile::tempdir().unwrap();

    assert!(fault(dir.path()).ends_with("templates.csv.gz"), "{}", fault(dir.path()));
}

#[test]
fn a_broken_table_is_refused_by_its_line() {
    let cases = [
        ("no header", "0\tCC>>C.C\thash\t3\t0\n".to_owned(), "line 1"),
        ("a short row", format!("{HEADER}0\tCC>>C.C\thash\t3\t0\n1\tCC>>C.C\n"), "line 3"),
        (
            "a missing row",
            format!("{HEADER}0\tCC>>C.C\th\t3\t0\n2\tCC>>C.C\th\t3\t2\n"),
            "line 3: is numbered `2`",
        ),
    ];
    for (name, table, expected) in cases {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &[(AMIDE, 1.0)]);
        write_table(dir.path(), &table);

        let fault = fault(dir.path());

        assert!(fault.contains("templates.csv.gz") && fault.contains(expected), "{name}: {fault}");
    }
}

#[test]
fn a_truncated_table_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[(AMIDE, 1.0), (ESTER, 1.0)]);
    let path = dir.path().join("templates.csv.gz");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 20]).unwrap();

    assert!(fault(dir.path()).contains("templates.csv.gz"));
}

#[test]
fn weights_that_do_not_fit_the_table_are_refused_by_the_name_of_the_tensor() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[(AMIDE, 1.0), (ESTER, 1.0)]);
    write_weights(dir.path(), 3, &[0.0; 3]);

    let fault = fault(dir.path());

    assert!(fault.contains("policy.safetensors, tensor `layer2.weight`"), "{fault}");
    assert!(fault.contains("[3, 4]") && fault.contains("[2, 4]"), "{fault}");
}

#[test]
fn weights_that_are_not_numbers_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[(AMIDE, 1.0)]);
    write_weights(dir.path(), 1, &[f32::NAN]);

    assert!(fault(dir.path()).contains("tensor `layer2.bias`: value 0 is NaN"));
}

#[test]
fn a_file_that_holds_no_tensors_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[(AMIDE, 1.0)]);
    std::fs::write(dir.path().join("policy.safetensors"), b"nothing").unwrap();

    assert!(fault(dir.path()).contains("not a readable safetensors file"));
}

#[test]
fn a_missing_tensor_is_named() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[(AMIDE, 1.0)]);
    let only = Tensor::zeros((4, 2048), DType::F32, &Device::Cpu).unwrap();
    let tensors = HashMap::from([("layer1.weight", only)]);
    candle_core::safetensors::save(&tensors, dir.path().join("policy.safetensors")).unwrap();

    assert!(fault(dir.path()).contains("tensor `layer1.bias`: is missing"));
}

#[test]
fn templates_that_cannot_be_compiled_are_counted_and_skipped() {
    let model = model(&[("this is no template", 5.0), (AMIDE, 1.0)]);

    let plan = plan(&model, &stock(&["CC(=O)O", "CCN"]), &task("CC(=O)NCC"), &expansions(10));

    assert_eq!((model.templates(), model.skipped_templates()), (2, 1));
    assert_eq!(first_step(&plan).template, 1);
}

#[test]
fn a_model_none_of_whose_templates_can_be_compiled_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("this is no template", 1.0)]);

    assert!(fault(dir.path()).contains("none of its 1 templates can be used"));
}

#[test]
fn half_precision_weights_are_read() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[(AMIDE, 3.0), (AMIDE_FROM_CHLORIDE, 1.0)]);
    let path = dir.path().join("policy.safetensors");
    let halves: HashMap<String, Tensor> = candle_core::safetensors::load(&path, &Device::Cpu)
        .unwrap()
        .into_iter()
        .map(|(name, tensor)| (name, tensor.to_dtype(DType::F16).unwrap()))
        .collect();
    candle_core::safetensors::save(&halves, &path).unwrap();
    let model = Arc::new(RetroModel::load(dir.path()).unwrap());

    let plan = plan(&model, &stock(&["CC(=O)O", "CCN"]), &task("CC(=O)NCC"), &expansions(10));

    let probability = first_step(&plan).probability;
    assert!((probability - 0.75).abs() < 1e-3, "{probability}");
}

#[test]
fn weights_in_signed_bytes_with_a_scale_a_row_are_read() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[(AMIDE, 1.0), (ESTER, 1.0)]);
    let path = dir.path().join("policy.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let hidden = file.tensor("layer1.bias").unwrap().shape()[0];
    let weights = vec![1_u8; 2 * hidden];
    let scales: Vec<u8> = [0.5_f32, 0.25].iter().flat_map(|scale| scale.to_le_bytes()).collect();
    let mut tensors: HashMap<String, _> =
        file.iter().map(|(name, view)| (name.to_owned(), view.clone())).collect();
    let bytes_of = |shape, data| safetensors::tensor::TensorView::new(safetensors::Dtype::I8, shape, data);
    tensors.insert("layer2.weight".to_owned(), bytes_of(vec![2, hidden], &weights).unwrap());
    let with = |tensors: &HashMap<String, safetensors::tensor::TensorView<'_>>, activation: &str| {
        let notes = HashMap::from([("activation".to_owned(), activation.to_owned())]);
        std::fs::write(&path, safetensors::serialize(tensors, Some(notes)).unwrap()).unwrap();
    };

    with(&tensors, "relu");
    assert!(fault(dir.path()).contains("`layer2.scale`: is missing"), "{}", fault(dir.path()));

    let scales = safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![2], &scales).unwrap();
    tensors.insert("layer2.scale".to_owned(), scales);
    with(&tensors, "relu");
    assert_eq!(RetroModel::load(dir.path()).unwrap().templates(), 2);

    with(&tensors, "tanh");
    assert!(fault(dir.path()).contains("activation `tanh`"), "{}", fault(dir.path()));
}
