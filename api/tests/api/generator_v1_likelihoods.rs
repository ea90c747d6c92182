//! Likelihoods of given molecules.

use serde_json::{Value, json};

use crate::support::{Answer, Service};

async fn post(service: &Service, body: &Value) -> Answer {
    service.post("/generator/v1/likelihoods", &body.to_string()).await
}

#[tokio::test]
async fn each_molecule_has_its_likelihood_at_its_position() {
    let service = Service::start().await;

    let answer = post(&service, &json!({ "smiles": ["CCO", "C1CC"], "model_id": "druglike_gru" })).await;

    let expected = json!({
        "object": "list", "model_id": "druglike_gru", "items": [
            { "smiles": "CCO", "error": null, "negative_log_likelihood": 3.0 },
            { "smiles": "C1CC", "error": "no molecule", "negative_log_likelihood": null },
        ],
    });
    assert_eq!((answer.status, answer.json()), (200, expected.clone()));
    assert_eq!(post(&service, &json!({ "smiles": ["CCO", "C1CC"] })).await.json(), expected);
}

#[tokio::test]
async fn every_fault_of_a_request_for_likelihoods_is_named_at_its_place() {
    let service = Service::start().await;
    for (body, faults) in [
        (json!({}), vec![("body.smiles", "missing")]),
        (json!({ "smiles": [] }), vec![("body.smiles", "too_short")]),
        (json!({ "smiles": "CCO" }), vec![("body.smiles", "list_type")]),
        (json!({ "smiles": vec!["C"; 1001] }), vec![("body.smiles", "too_long")]),
        (
            json!({ "smiles": ["C", 1, "C".repeat(10_001)], "model_id": "a-b", "size": 1 }),
            vec![
                ("body.smiles.1", "string_type"),
                ("body.smiles.2", "string_too_long"),
                ("body.model_id", "string_pattern_mismatch"),
                ("body.size", "extra_forbidden"),
            ],
        ),
    ] {
        let answer = post(&service, &body).await;

        let faults: Vec<_> =
            faults.iter().map(|(loc, kind)| ((*loc).to_owned(), (*kind).to_owned())).collect();
        assert_eq!((answer.status, answer.faults()), (422, faults));
    }
}

#[tokio::test]
async fn an_unknown_model_a_wrong_answer_and_no_sampler_are_told_apart() {
    let service = Service::start().await;
    let with = |model: &str| json!({ "smiles": ["CCO"], "model_id": model });

    assert_eq!(post(&service, &with("no_such")).await.status, 400);
    let wrong = post(&service, &with("stingy_model")).await;
    assert_eq!(
        (wrong.status, &wrong.json()["detail"][0]["loc"]),
        (500, &json!(["response", "items"])),
        "{wrong:?}"
    );
    let idle = Service::start_without_workers(&[]).await;
    assert_eq!(post(&idle, &json!({ "smiles": ["CCO"] })).await.status, 503);
}

#[tokio::test]
async fn molecules_count_against_the_accounts_limit() {
    let service = Service::start_with(&[("RATE_MOLECULES_PER_MINUTE", "3")]).await;
    let two = json!({ "smiles": ["CCO", "CCN"] });

    let statuses = [post(&service, &two).await.status, post(&service, &two).await.status];

    assert_eq!(statuses, [200, 429]);
}
