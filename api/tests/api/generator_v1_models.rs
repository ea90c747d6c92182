//! Models, and samples that are deleted: the extensions of the contract.

use contract::scope;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Service, add_account, answer, claims};

const MODELS: &str = "/generator/v1/models";
const SAMPLES: &str = "/generator/v1/samples";

#[tokio::test]
async fn models_are_listed_with_their_cards_and_what_is_ready() {
    let service = Service::start().await;
    sqlx::query(
        "insert into reservoir_blocks (model_id, model_version, smiles, molecules)
        values ('druglike_gru', 'v', 'C', 300), ('druglike_gru', 'v', 'CC', 41), ('other', 'v', 'C', 5)",
    )
    .execute(&service.pool)
    .await
    .unwrap();

    let list = service.get(MODELS).await;
    let one = service.get(&format!("{MODELS}/druglike_gru")).await;
    let bare = service.get(&format!("{MODELS}/slow_model")).await;

    assert_eq!(list.status, 200, "{list:?}");
    let list = list.json();
    let ids: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert_eq!(ids, ["druglike_gru", "poor_model", "slow_model", "stingy_model"]);
    let expected = json!({
        "id": "druglike_gru", "object": "model", "molecules_ready": 341, "description": "drugs",
        "created": "2026-01-02", "architecture": "GRU", "training_data": null, "licence": "MIT",
        "metrics": { "temperature_1": { "validity": 0.97 } },
    });
    assert_eq!((one.status, one.json()), (200, expected.clone()));
    assert_eq!(list["data"][0], expected);
    assert_eq!(list["object"], "list");
    assert_eq!((bare.status, &bare.json()["metrics"]), (200, &json!({})));
}

#[tokio::test]
async fn a_model_that_is_not_there_is_404_and_a_wrong_id_422() {
    let service = Service::start().await;

    let absent = service.get(&format!("{MODELS}/no_such")).await;
    let wrong = service.get(&format!("{MODELS}/no-such?x=1")).await;

    assert_eq!((absent.status, absent.text.as_str()), (404, "null"));
    assert_eq!(wrong.status, 422);
    let faults: Vec<Value> =
        wrong.json()["detail"].as_array().unwrap().iter().map(|fault| fault["loc"].clone()).collect();
    assert_eq!(faults, [json!(["path", "model_id"]), json!(["query", "x"])]);
}

#[tokio::test]
async fn a_deleted_sample_is_gone_for_its_owner_and_nobody_else_can_delete_it() {
    let service = Service::start().await;
    let id = service.post(SAMPLES, r#"{"size": 2}"#).await.json()["id"].as_str().unwrap().to_owned();
    let path = format!("{SAMPLES}/{id}");
    let stranger = add_account(&service.pool, "stranger@example.org").await;

    let by_stranger = answer(service.request_as(&stranger, Method::DELETE, &path).await).await;
    let by_owner = answer(service.request(Method::DELETE, &path).await).await;
    let again = answer(service.request(Method::DELETE, &path).await).await;

    assert_eq!((by_stranger.status, by_stranger.text.as_str()), (404, "null"));
    assert_eq!((by_owner.status, by_owner.text.as_str()), (204, ""));
    assert_eq!(again.status, 404);
    assert_eq!(service.get(&path).await.status, 404);
    assert_eq!(service.get(SAMPLES).await.json()["data"], json!([]));
}

#[tokio::test]
async fn reading_models_and_deleting_samples_need_their_scopes() {
    let service = Service::start().await;
    let call = async |method: Method, path: &str, scopes: &str| {
        let mut claims = claims(&service.account);
        claims["scope"] = json!(scopes);
        let token = service.token(claims).await;
        let request = service.http.request(method, format!("{}{path}", service.base)).bearer_auth(token);
        answer(request).await.status
    };

    assert_eq!(call(Method::GET, MODELS, scope::SAMPLES_READ).await, 403);
    assert_eq!(call(Method::GET, MODELS, scope::MODELS_READ).await, 200);
    let sample = format!("{SAMPLES}/smp_01jd6xq1v3m4c5t6y7z8a9b0cd");
    assert_eq!(call(Method::DELETE, &sample, scope::SAMPLES_READ).await, 403);
    assert_eq!(call(Method::DELETE, &sample, scope::SAMPLES_DELETE).await, 404);
}
