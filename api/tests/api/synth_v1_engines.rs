//! Searches with an engine, and the lists of engines and libraries.

use serde_json::{Value, json};

use crate::support::Service;

const BY_ENGINE: &str = "/synth/v1/toy_engine/treesearch";

#[tokio::test]
async fn a_search_by_an_engine_is_answered_as_clients_of_the_family_read_it() {
    let service = Service::start().await;

    let answer = service.post(BY_ENGINE, r#"{"search_smiles": "CCO"}"#).await;

    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.json();
    assert_eq!((&answer["search_smiles"], &answer["route_hierarchy"]), (&json!("CCO"), &json!({})));
    assert_eq!((&answer["pricing_annotations"], &answer["reagent_results"]), (&Value::Null, &Value::Null));
    assert_eq!(answer["metadata"]["total_graph_nodes"], 1);
}

#[tokio::test]
async fn an_engine_that_no_searcher_serves_is_not_found() {
    let service = Service::start_with(&[("ENGINE_ALIASES", "thieme=toy_engine,gone=no_engine")]).await;
    let post = async |engine: &str| {
        service.post(&format!("/synth/v1/{engine}/treesearch"), r#"{"search_smiles": "CCO"}"#).await.status
    };

    assert_eq!(post("toy_engine").await, 200);
    assert_eq!(post("thieme").await, 200);
    assert_eq!(post("no_engine").await, 404);
    assert_eq!(post("gone").await, 404);
    assert_eq!(post("no-word").await, 422);
}

#[tokio::test]
async fn a_search_by_an_engine_takes_what_a_search_takes() {
    let service = Service::start_without_workers(&[]).await;

    let answer = service.post(BY_ENGINE, r#"{"search_smiles": "C1CC", "max_depth": 0, "engine": "x"}"#).await;

    let faults = [
        ("search_smiles", "smiles_invalid"),
        ("max_depth", "greater_than_equal"),
        ("engine", "extra_forbidden"),
    ];
    let faults = faults.map(|(field, kind)| (format!("body.{field}"), kind.to_owned()));
    assert_eq!((answer.status, answer.faults()), (422, faults.into()));
}

#[tokio::test]
async fn engines_are_those_of_live_searchers_and_their_other_names() {
    let service = Service::start_with(&[("ENGINE_ALIASES", "thieme=toy_engine,gone=no_engine")]).await;
    sqlx::query(
        "insert into plans (id, account_id, search_smiles, parameters, engine) values ('pln_1', $1, 'C', '{}', 'toy_engine')",
    )
    .bind(&service.account)
    .execute(&service.pool)
    .await
    .unwrap();

    let engines = service.get("/synth-batches/v1/engines").await;
    let models = service.get("/generator/v1/models").await;

    let expected =
        json!([{ "name": "toy_engine", "queue_length": 1 }, { "name": "thieme", "queue_length": 1 }]);
    assert_eq!(engines.json(), expected);
    let ids: Vec<_> =
        models.json()["data"].as_array().unwrap().iter().map(|model| model["id"].clone()).collect();
    assert!(!ids.contains(&json!("toy_engine")), "{ids:?}");
}

#[tokio::test]
async fn plans_that_wait_are_counted_once_in_some_seconds() {
    let service = Service::start().await;
    let engines = async || service.get("/synth-batches/v1/engines").await;
    let counted = engines().await;
    sqlx::raw_sql("alter table plans rename to gone").execute(&service.pool).await.unwrap();

    let again = engines().await;

    assert_eq!((again.status, again.text), (200, counted.text));
}

#[tokio::test]
async fn libraries_are_the_vendors_that_the_account_sees() {
    let service = Service::start_without_workers(&[]).await;
    sqlx::raw_sql(
        "insert into vendors (name, is_private) values ('Acme', false), ('Own stock', true), ('Bolt', false)",
    )
    .execute(&service.pool)
    .await
    .unwrap();

    let libraries = service.get("/synth-batches/v1/libraries").await;
    let version = service.get("/synth-batches/v1/version-backend").await;

    assert_eq!(libraries.json(), json!([{ "name": "Acme" }, { "name": "Bolt" }]));
    assert_eq!(version.json(), json!({ "version": env!("CARGO_PKG_VERSION") }));
}
