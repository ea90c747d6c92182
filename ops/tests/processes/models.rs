//! Models that are added and removed while samplers run.

use std::{fs, path::Path};

use reqwest::StatusCode;
use serde_json::{Value, json};
use test_support::eventually;

use crate::{
    client::ApiClient,
    installation::{Installation, Role},
};

const MODELS: &str = "/generator/v1/models";
const SAMPLES: &str = "/generator/v1/samples";

fn ours(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).to_str().unwrap().to_owned()
}

/// Creates a folder with a copy of the small shipped model.
fn one_model() -> tempfile::TempDir {
    let models = tempfile::tempdir().unwrap();
    let shipped = models.path().join("leadlike_gru");
    fs::create_dir(&shipped).unwrap();
    for entry in fs::read_dir(ours("../worker/models/leadlike_gru")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), shipped.join(entry.file_name())).unwrap();
    }
    models
}

/// Starts an installation whose sampler serves the packs of a folder.
async fn sampling_from(models: &Path) -> (Installation, ApiClient) {
    let mut installation = Installation::new().await;
    installation.set("MODELS_DIR", models.to_str().unwrap());
    installation.start_worker(Role::Sample, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    (installation, caller)
}

async fn is_known(caller: &ApiClient, model: &str) -> bool {
    caller.get(&format!("{MODELS}/{model}")).await.status() == StatusCode::OK
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prior_is_imported_drawn_from_and_removed_while_a_sampler_runs() {
    let models = one_model();
    let (mut installation, caller) = sampling_from(models.path()).await;
    let of_prior = json!({"size": 5, "model_id": "prior"});
    assert!(!is_known(&caller, "prior").await);

    let prior = ours("tests/models/data/priors/lstm.prior");
    assert_eq!(installation.retort(&["model", "import", &prior, "--name", "prior"]), "prior\n");
    eventually("the API knows the prior", async || is_known(&caller, "prior").await.then_some(())).await;
    let sample: Value = caller.create(SAMPLES, &of_prior).await;
    installation.retort(&["model", "remove", "prior", "--yes"]);
    eventually("the API forgets the prior", async || (!is_known(&caller, "prior").await).then_some(())).await;

    assert_eq!(sample["smiles"].as_array().unwrap().len(), 5);
    caller.create(SAMPLES, &json!({"size": 5})).await;
    installation.assert_running();
}

#[tokio::test(flavor = "multi_thread")]
async fn samplers_of_different_models_get_the_jobs_of_their_own() {
    let mut installation = Installation::new().await;
    let druglike = installation.start_worker(Role::Sample, &[("SAMPLER_MODELS", "druglike_gru")]).await;
    installation.start_worker(Role::Sample, &[("SAMPLER_MODELS", "leadlike_gru")]).await;
    installation.start_api().await;
    let caller = installation.account("owner");

    for _ in 0..5 {
        for model in ["leadlike_gru", "druglike_gru"] {
            let sample = caller.create(SAMPLES, &json!({"size": 5, "model_id": model})).await;
            assert_eq!(sample["model_id"], model);
        }
    }
    let unknown = caller.post(SAMPLES, &json!({"size": 5, "model_id": "no_such"})).await;
    installation.worker(druglike).terminate();
    installation.worker(druglike).wait();
    let refused = caller.post(SAMPLES, &json!({"size": 5, "model_id": "druglike_gru"})).await;

    assert_eq!(unknown.status(), StatusCode::BAD_REQUEST);
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(caller.create(SAMPLES, &json!({"size": 5})).await["model_id"], "leadlike_gru");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_was_taught_while_a_sampler_runs_can_be_asked_for() {
    let models = one_model();
    let (mut installation, caller) = sampling_from(models.path()).await;
    let data = models.path().join("own.smi");
    let rings = ["c1ccccc1", "c1ccncc1", "c1ccsc1", "C1CCCCC1"];
    let tails = ["C", "CC", "CCO", "CCN", "C1CC1", "CCOC", "CC#N", "CCCl"];
    let lines =
        rings.iter().flat_map(|ring| tails.iter().map(move |tail| format!("O=S(=O)(N{tail}){ring}\n")));
    fs::write(&data, lines.collect::<String>()).unwrap();

    let data = data.to_str().unwrap();
    installation.retort(&[
        "model",
        "train",
        "--molecules",
        data,
        "--from",
        "leadlike_gru",
        "--name",
        "own",
        "--epochs",
        "1",
    ]);
    eventually("the API knows the model", async || is_known(&caller, "own").await.then_some(())).await;
    let sample = caller.create(SAMPLES, &json!({"size": 5, "model_id": "own"})).await;
    let card = caller.read(&format!("{MODELS}/own")).await;

    assert_eq!((sample["smiles"].as_array().unwrap().len(), &sample["model_id"]), (5, &json!("own")));
    let figures = &card["metrics"]["as_shipped"];
    assert!(figures["properties"]["molecular_weight"]["p50"].as_f64().unwrap() > 100.0, "{card}");
    installation.assert_running();
}
