//! Access to resources of other accounts.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Service, add_account, answer, sample_id};

/// One resource of each kind that an account can own, by the path parameter of its kind in the document.
struct Owned {
    ids: BTreeMap<(&'static str, &'static str), String>,
}

impl Owned {
    async fn by(service: &Service) -> Self {
        service.insert_sample(&service.account, &sample_id(1)).await;
        let make = async |path: &str, body: Value| {
            let made = service.post(path, &body.to_string()).await;
            assert!([200, 201].contains(&made.status), "{path}: {made:?}");
            made.json()["id"].as_str().unwrap().to_owned()
        };
        let batch = make("/synth-batches/v1/batches", batch()).await;
        let in_batch = service.get(&format!("/synth-batches/v1/batches/{batch}/plans")).await.json()["items"]
            [0]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let ids = [
            (("/generator/v1/samples/", "sample_id"), sample_id(1)),
            (
                ("/generator/v1/sample-batches/", "batch_id"),
                make("/generator/v1/sample-batches", sample_batch()).await,
            ),
            (("/synth-batches/v1/plans/", "plan_id"), make("/synth-batches/v1/plans", plan()).await),
            (("/synth-batches/v1/batches/", "batch_id"), batch),
            (("/synth-batches/v1/batches/", "plan_id"), in_batch),
            (("/synth/v1/routes/", "route_id"), make("/synth/v1/routes", route()).await),
            // A search is found by its id and account; none runs now.
            (("/synth/v1/treesearch/", "search_id"), "01JD6XQ1V3M4C5T6Y7Z8A9B0CE".to_owned()),
        ];
        Self { ids: ids.into() }
    }

    /// Fills the ids into a path of the document; `None` if the path names no resource of an account.
    fn fill(&self, path: &str) -> Option<String> {
        if path.starts_with("/operations/") || path.contains("{model_id}") || path.contains("{engine}") {
            return None;
        }
        let mut filled = path.to_owned();
        while let Some(begin) = filled.find('{') {
            let end = filled.find('}').unwrap();
            let name = filled[begin + 1..end].to_owned();
            let known = self.ids.iter().find(|((of, field), _)| path.starts_with(of) && *field == name);
            let (_, id) = known.unwrap_or_else(|| panic!("a resource that this test makes none of: {path}"));
            filled.replace_range(begin..=end, id);
        }
        (filled != path).then_some(filled)
    }
}

fn plan() -> Value {
    json!({ "parameters": { "search_smiles": "CCO", "engine": "toy_engine" } })
}

fn batch() -> Value {
    json!({ "smiles": ["CC"], "parameters": { "engine": "toy_engine" } })
}

fn sample_batch() -> Value {
    json!({ "size": 3, "model_id": "druglike_gru" })
}

fn route() -> Value {
    let node = json!({
        "smiles": "CN", "mw": 31.058, "is_building_block": true, "building_block_idx": 1, "closest_building_block": 1.0, "depth": 0,
        "expanded": false, "in_solution_path": true,
    });
    json!({
        "parameters": { "search_smiles": "CN" },
        "route": {
            "directed": true, "multigraph": false, "edges": [],
            "nodes": [{ "id": "n", "data": node, "essential": true, "only_for": null }],
        },
        "pricing_annotations": [],
    })
}

/// Dumps all rows of every account in the database.
async fn all(service: &Service) -> Value {
    sqlx::query_scalar(
        "select jsonb_build_object(
            'samples', (select jsonb_agg(to_jsonb(s)) from samples as s),
            'sample_batches', (select jsonb_agg(to_jsonb(s)) from sample_batches as s),
            'sample_orders', (select jsonb_agg(to_jsonb(s)) from sample_orders as s),
            'plans', (select jsonb_agg(to_jsonb(p)) from plans as p),
            'batches', (select jsonb_agg(to_jsonb(b)) from batches as b),
            'routes', (select jsonb_agg(to_jsonb(r)) from kept_routes as r)
        )",
    )
    .fetch_one(&service.pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn resource_of_another_account_by_its_id() {
    let service = Service::start_without_workers(&[]).await;
    let eve = add_account(&service.pool, "eve@example.org").await;
    let owned = Owned::by(&service).await;
    let before = all(&service).await;
    let document = serde_json::to_value(api::document()).unwrap();
    let mut tried = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(path) = owned.fill(path) else { continue };
        for method in item.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let request = service.request_as(&eve, method.clone(), &path).await;
            let request = request.header("content-type", "application/json").body("{}");
            let response = answer(request).await;

            assert_eq!((response.status, response.text.as_str()), (404, "null"), "{method} {path}");
            tried += 1;
        }
    }
    assert!(tried >= 18, "{tried} operations were tried");
    assert_eq!(all(&service).await, before);
}

#[tokio::test]
async fn list_begun_at_a_resource_of_another_account() {
    let service = Service::start_without_workers(&[]).await;
    let eve = add_account(&service.pool, "eve@example.org").await;
    let owned = Owned::by(&service).await;
    for (list, of, cursor) in [
        ("/synth-batches/v1/plans", ("/synth-batches/v1/plans/", "plan_id"), "starting_after"),
        ("/synth-batches/v1/batches", ("/synth-batches/v1/batches/", "batch_id"), "starting_after"),
        ("/synth/v1/routes", ("/synth/v1/routes/", "route_id"), "starting_after"),
        ("/generator/v1/sample-batches", ("/generator/v1/sample-batches/", "batch_id"), "next-page"),
    ] {
        let id = &owned.ids[&of];
        let begun =
            answer(service.request_as(&eve, Method::GET, &format!("{list}?{cursor}={id}")).await).await;
        let whole = answer(service.request_as(&eve, Method::GET, list).await).await;

        assert_eq!((begun.status, begun.text.as_str()), (400, "null"), "{list}");
        assert_eq!(whole.status, 200, "{list}");
        assert!(!whole.text.contains(id.as_str()), "{list}: {whole:?}");
    }
}

#[tokio::test]
async fn fields_of_the_server_written_by_the_caller() {
    let service = Service::start_without_workers(&[]).await;
    let forged = json!({
        "id": "pln_forged", "account_id": "acc_1", "is_own": false, "status": "completed", "created_at": 0, "result": {},
        "problem": {}, "organisation_id": "org_1", "expires_at": 0,
    });
    let forged = forged.as_object().unwrap();
    for (path, mut body) in [
        ("/synth-batches/v1/plans", plan()),
        ("/synth-batches/v1/batches", batch()),
        ("/synth/v1/routes", route()),
        ("/generator/v1/sample-batches", sample_batch()),
    ] {
        body.as_object_mut().unwrap().extend(forged.clone());
        let response = service.post(path, &body.to_string()).await;

        assert_eq!(response.status, 422, "{path}: {response:?}");
        let locations: BTreeSet<String> =
            response.faults().into_iter().map(|(location, _)| location).collect();
        assert_eq!(locations, forged.keys().map(|name| format!("body.{name}")).collect(), "{path}");
    }
}
