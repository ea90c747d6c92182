//! Models, and deletion of samples: extensions of the contract.

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
        "name": "Drug-like", "version": null, "summary": { "validity": 0.97 },
        "metadata": { "created": "2026-01-02", "architecture": "GRU", "licence": "MIT" },
        "created": "2026-01-02", "architecture": "GRU", "training_data": null, "licence": "MIT",
        "metrics": { "training_set": { "n_molecules": 3 }, "unconstrained": { "validity": 0.97 } },
    });
    assert_eq!((one.status, one.json()), (200, expected.clone()));
    assert_eq!(list["data"][0], expected);
    assert_eq!((&list["object"], &list["has_more"]), (&json!("list"), &json!(false)));
    let bare = bare.json();
    assert_eq!((&bare["metrics"], &bare["summary"], &bare["metadata"]), (&json!({}), &json!({}), &json!({})));
    assert_eq!((&bare["name"], &bare["version"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn pages_of_models_go_both_ways_by_id() {
    let service = Service::start().await;
    let page = async |query: &str| {
        let page = service.get(&format!("{MODELS}{query}")).await.json();
        let ids: Vec<_> = page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|model| model["id"].as_str().unwrap().to_owned())
            .collect();
        (ids.join(" "), page["has_more"] == true)
    };
    let expected = |ids: &str, has_more| (ids.to_owned(), has_more);

    assert_eq!(page("?limit=2").await, expected("druglike_gru poor_model", true));
    assert_eq!(page("?limit=2&next-page=poor_model").await, expected("slow_model stingy_model", false));
    assert_eq!(page("?limit=2&prev-page=stingy_model").await, expected("poor_model slow_model", true));
    assert_eq!(page("?limit=9&prev-page=slow_model").await, expected("druglike_gru poor_model", false));
    for query in ["?next-page=no_such", "?next-page=poor_model&prev-page=poor_model"] {
        let refused = service.get(&format!("{MODELS}{query}")).await;
        assert_eq!((refused.status, refused.text.as_str()), (400, "null"), "{query}");
    }
    let faulty = service.get(&format!("{MODELS}?limit=101&x=1")).await;
    assert_eq!(
        faulty.faults(),
        [("query.limit", "less_than_equal"), ("query.x", "extra_forbidden")]
            .map(|(place, kind)| (place.to_owned(), kind.to_owned()))
    );
}

#[tokio::test]
async fn a_model_is_online_idle_or_offline_as_samplers_have_it() {
    let service = Service::start().await;
    let status = async |model: &str| {
        let response = service.get(&format!("{MODELS}/{model}/status")).await;
        (response.status, response.json()["status"].as_str().unwrap_or_default().to_owned())
    };
    let set = async |statement: &'static str| {
        sqlx::query(statement).execute(&service.pool).await.unwrap();
    };
    set("insert into reservoir_models (model_id) values ('gone_model')").await;

    // The sampler has no reservoir, so every sample is drawn.
    let keeps_none = status("druglike_gru").await;
    set("update live_workers set ready_target = 500 where queue = 'sample'").await;
    let nothing_ready = status("druglike_gru").await;
    set("insert into reservoir_blocks (model_id, model_version, smiles, molecules) values ('druglike_gru', 'v', 'C', 1)")
        .await;
    let ready = status("druglike_gru").await;

    assert_eq!(keeps_none, (200, "online".to_owned()));
    assert_eq!(nothing_ready, (200, "idle".to_owned()));
    assert_eq!(ready, (200, "online".to_owned()));
    assert_eq!(status("gone_model").await, (200, "offline".to_owned()));
    assert_eq!(status("no_such").await.0, 404);
    let version = service.get("/generator/v1/version-backend").await;
    assert_eq!((version.status, version.json()), (200, json!({ "version": env!("CARGO_PKG_VERSION") })));
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
