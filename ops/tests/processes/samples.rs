//! Sampling, end to end.

use std::collections::HashSet;

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{
    client::ApiClient,
    installation::{Installation, Role},
};

const SAMPLES: &str = "/generator/v1/samples";

async fn create(caller: &ApiClient, size: u32) -> Value {
    caller.create(SAMPLES, &json!({ "size": size })).await
}

fn ids(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_has_the_size_asked_for_and_can_be_retrieved_by_its_owner_alone() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Sample, &[]).await;
    installation.start_api().await;
    let (owner, stranger) = (installation.account("owner"), installation.account("stranger"));

    let sample = create(&owner, 120).await;
    let path = format!("{SAMPLES}/{}", sample["id"].as_str().unwrap());
    let smiles: HashSet<&str> =
        sample["smiles"].as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect();

    assert_eq!(smiles.len(), 120, "distinct structures");
    for text in smiles {
        let molecule: chem::Molecule = text.parse().unwrap();
        assert_eq!(molecule.canonical_smiles(), text);
    }
    assert_eq!(owner.read(&path).await, sample);
    assert_eq!(stranger.get(&path).await.status(), StatusCode::NOT_FOUND);
    let list = owner.read(SAMPLES).await;
    assert_eq!(list["data"][0]["id"], sample["id"]);
    assert_eq!(list["data"][0]["num_smiles"], 120);
    assert_eq!(list["data"][0].get("smiles"), None);
    assert_eq!(stranger.read(SAMPLES).await["data"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_lead_through_all_samples_in_both_directions() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Sample, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(create(&caller, 1).await["id"].as_str().unwrap().to_owned());
    }
    made.reverse();

    let first = caller.read(&format!("{SAMPLES}?limit=2")).await;
    let second = caller.read(&format!("{SAMPLES}?limit=2&next-page={}", made[1])).await;
    let last = caller.read(&format!("{SAMPLES}?limit=2&next-page={}", made[3])).await;
    let back = caller.read(&format!("{SAMPLES}?limit=2&prev-page={}", made[4])).await;

    assert_eq!((ids(&first), &first["has_more"]), (vec![&*made[0], &*made[1]], &json!(true)));
    assert_eq!((ids(&second), &second["has_more"]), (vec![&*made[2], &*made[3]], &json!(true)));
    assert_eq!((ids(&last), &last["has_more"]), (vec![&*made[4]], &json!(false)));
    assert_eq!((ids(&back), &back["has_more"]), (vec![&*made[2], &*made[3]], &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_worker_the_answer_is_503_with_the_time_to_come_back() {
    let mut installation = Installation::new().await;
    installation.start_api().await;
    let caller = installation.account("owner");

    let answer = caller.post(SAMPLES, &json!({ "size": 1 })).await;

    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    let seconds = answer.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap();
    assert!(seconds > 0);
}
