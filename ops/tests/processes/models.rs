//! Models that come and go while samplers run.

use std::{fs, path::Path};

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{
    client::Caller,
    installation::{Installation, Role},
    process::eventually,
};

const MODELS: &str = "/generator/v1/models";
const SAMPLES: &str = "/generator/v1/samples";

fn ours(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).to_str().unwrap().to_owned()
}

async fn is_known(caller: &Caller, model: &str) -> bool {
    caller.get(&format!("{MODELS}/{model}")).await.status() == StatusCode::OK
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prior_is_imported_drawn_from_and_removed_while_a_sampler_runs() {
    let models = tempfile::tempdir().unwrap();
    let shipped = models.path().join("leadlike_gru");
    fs::create_dir(&shipped).unwrap();
    for entry in fs::read_dir(ours("../worker/models/leadlike_gru")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), shipped.join(entry.file_name())).unwrap();
    }
    let mut installation = Installation::new().await;
    installation.set("MODELS_DIR", models.path().to_str().unwrap());
    installation.start_worker(Role::Sample, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");
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
    installation.must_live();
}
