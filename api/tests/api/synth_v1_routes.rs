//! Kept routes.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    lists::pages_go_both_ways_for_colleagues,
    support::{Answer, Service, add_account, answer, join_one_organisation},
};

const ROUTES: &str = "/synth/v1/routes";

/// Example search result for CNC(C)=O: routes of one step and of two.
fn search_result() -> Value {
    serde_json::from_slice(include_bytes!("../golden/treesearch_result.json")).unwrap()
}

/// Returns a body that keeps the route of two steps: N-methylacetamide from acetic acid (made from its ester) and
/// methylamine.
fn body() -> Value {
    let search_result = search_result();
    json!({
        "parameters": { "search_smiles": "CC(=O)NC", "max_depth": 3 },
        "route": search_result["route_hierarchy"]["2"]["b0123456789abcdef"][0][0],
        "pricing_annotations": search_result["pricing_annotations"],
        "name": "by the ester",
        "note": "Ask Ada\nfirst",
        "starred": true,
    })
}

impl Service {
    /// Keeps a route and returns its id.
    async fn kept(&self) -> String {
        let answer = self.post(ROUTES, &body().to_string()).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    async fn route_as(&self, account: &str, method: Method, id: &str, body: Option<Value>) -> Answer {
        let request = self.request_as(account, method, &format!("{ROUTES}/{id}")).await;
        answer(match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        })
        .await
    }
}

#[tokio::test]
async fn a_route_is_kept_as_it_was_sent() {
    let service = Service::start_without_workers(&[]).await;
    let body = body();

    let made = service.post(ROUTES, &body.to_string()).await;

    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    for part in ["route", "pricing_annotations", "name", "note", "starred"] {
        assert_eq!(made[part], body[part], "{part}");
    }
    assert_eq!((&made["object"], &made["is_own"]), (&json!("route"), &json!(true)));
    assert_eq!(made["parameters"]["search_smiles"], "CC(=O)NC");
    assert_eq!(made["parameters"]["max_depth"], 3);
    let figures = json!({ "steps": 2, "price_usd": 31.5, "lead_time_days": 4.0, "plausibility": 0.9 * 0.8 });
    assert_eq!(made["figures"], figures);
    let id = made["id"].as_str().unwrap();
    assert_eq!(service.get(&format!("{ROUTES}/{id}")).await.json(), made);
    let listed = service.get(ROUTES).await.json();
    assert_eq!(listed["items"][0]["figures"], figures);
    assert_eq!(listed["items"][0]["route"], Value::Null);
}

#[tokio::test]
async fn a_route_made_by_hand_is_kept_without_what_nobody_knows_of_it() {
    let service = Service::start_without_workers(&[]).await;
    let mut body = body();
    body["route"].as_object_mut().unwrap().remove("graph");
    for edge in body["route"]["edges"].as_array_mut().unwrap() {
        *edge = json!({ "source": edge["source"], "target": edge["target"] });
    }
    for optional in ["pricing_annotations", "name", "note", "starred"] {
        body.as_object_mut().unwrap().remove(optional);
    }

    let made = service.post(ROUTES, &body.to_string()).await;

    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    assert_eq!(made["route"], body["route"]);
    assert_eq!((&made["name"], &made["starred"]), (&Value::Null, &json!(false)));
    assert_eq!(
        made["figures"],
        json!({ "steps": 2, "price_usd": null, "lead_time_days": null, "plausibility": null })
    );
}

#[tokio::test]
async fn what_is_said_of_a_route_is_changed_field_by_field() {
    let service = Service::start_without_workers(&[]).await;
    let id = service.kept().await;
    let account = service.account.clone();
    let change = async |change: Value| {
        let changed = service.route_as(&account, Method::PATCH, &id, Some(change)).await;
        assert_eq!(changed.status, 200, "{changed:?}");
        let changed = changed.json();
        assert_eq!(changed, service.get(&format!("{ROUTES}/{id}")).await.json());
        assert_eq!(changed["route"], body()["route"]);
        (changed["name"].clone(), changed["note"].clone(), changed["starred"].clone())
    };

    assert_eq!(change(json!({})).await, (json!("by the ester"), json!("Ask Ada\nfirst"), json!(true)));
    assert_eq!(change(json!({ "note": null })).await, (json!("by the ester"), Value::Null, json!(true)));
    assert_eq!(
        change(json!({ "name": "ours", "starred": false })).await,
        (json!("ours"), Value::Null, json!(false))
    );
    let wrong = json!({ "name": 1, "starred": null, "route": {} });
    let wrong = service.route_as(&account, Method::PATCH, &id, Some(wrong)).await;
    let faults = [("name", "string_type"), ("starred", "bool_type"), ("route", "extra_forbidden")]
        .map(|(field, kind)| (format!("body.{field}"), kind.to_owned()));
    assert_eq!((wrong.status, wrong.faults()), (422, faults.into()));
}

#[tokio::test]
async fn a_colleague_reads_a_kept_route_and_its_owner_alone_changes_it() {
    let service = Service::start_without_workers(&[]).await;
    let colleague = add_account(&service.pool, "colleague@example.org").await;
    let stranger = add_account(&service.pool, "other@example.org").await;
    join_one_organisation(&service.pool, &[&service.account, &colleague]).await;
    let id = service.kept().await;
    let request = async |account: &str, method: Method, body: Option<Value>| {
        service.route_as(account, method, &id, body).await.status
    };
    let name = || Some(json!({ "name": "mine" }));

    let read = service.route_as(&colleague, Method::GET, &id, None).await;
    assert_eq!((read.status, &read.json()["is_own"]), (200, &json!(false)));
    assert_eq!(request(&colleague, Method::PATCH, name()).await, 403);
    assert_eq!(request(&colleague, Method::DELETE, None).await, 403);
    assert_eq!(request(&stranger, Method::GET, None).await, 404);
    assert_eq!(request(&stranger, Method::PATCH, name()).await, 404);
    assert_eq!(request(&stranger, Method::DELETE, None).await, 404);
    let gone = service.route_as(&service.account, Method::DELETE, &id, None).await;
    assert_eq!((gone.status, gone.json()), (200, json!({ "id": id, "object": "route", "deleted": true })));
    assert_eq!(request(&colleague, Method::GET, None).await, 404);
}

#[tokio::test]
async fn kept_routes_are_listed_for_their_readers_the_newest_first() {
    let service = Service::start_without_workers(&[]).await;
    let mut kept = Vec::new();
    for _ in 0..3 {
        kept.push(service.kept().await);
    }

    pages_go_both_ways_for_colleagues(&service, ROUTES, &kept).await;
}

#[tokio::test]
async fn an_account_keeps_ten_thousand_routes_at_most() {
    let service = Service::start_without_workers(&[]).await;
    let first = service.kept().await;
    // A busy machine would take longer for all of them than a statement may.
    for block in 0..10 {
        sqlx::query(
            "insert into kept_routes (id, account_id, parameters, figures, content)
            select 'rte_' || number, account_id, parameters, figures, ''
            from kept_routes, generate_series(1000 * $2 + 1, 1000 * $2 + 1000) number
            where id = $1 and number > 1",
        )
        .bind(&first)
        .bind(block)
        .execute(&service.pool)
        .await
        .unwrap();
    }

    let one_more = service.post(ROUTES, &body().to_string()).await;
    assert_eq!((one_more.status, one_more.faults()[0].1.as_str()), (409, "conflict"));

    let account = service.account.clone();
    assert_eq!(service.route_as(&account, Method::DELETE, &first, None).await.status, 200);
    assert_eq!(service.post(ROUTES, &body().to_string()).await.status, 201);
}

/// Returns the faults of a body that `spoil` has changed.
async fn faults(service: &Service, spoil: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    let mut body = body();
    spoil(&mut body);
    let answer = service.post(ROUTES, &body.to_string()).await;
    assert_eq!(answer.status, 422, "{answer:?}");
    answer.faults()
}

#[tokio::test]
async fn what_is_no_route_to_the_target_is_refused_with_its_place() {
    let service = Service::start_without_workers(&[]).await;
    let one = |location: &str, kind: &str| vec![(format!("body.{location}"), kind.to_owned())];
    let invalid = |location: &str| one(location, "graph_invalid");
    let smiles = |at: usize| format!("route.nodes.{at}.data.smiles");
    let set = |at: &'static str, value: Value| move |body: &mut Value| *body.pointer_mut(at).unwrap() = value;

    let other = faults(&service, set("/parameters/search_smiles", json!("CCO"))).await;
    let unreadable = faults(&service, set("/route/nodes/1/data/smiles", json!("C1CC"))).await;
    let twice = faults(&service, set("/route/nodes/3/data/smiles", json!("NC"))).await;
    let cycle = faults(&service, set("/route/edges/2/target", json!("t"))).await;
    let apart = faults(&service, |body| drop(body["route"]["edges"].as_array_mut().unwrap().pop())).await;
    let nowhere = faults(&service, set("/route/edges/2/target", json!("nobody"))).await;
    let no_index = faults(&service, set("/route/nodes/3/data/building_block_idx", Value::Null)).await;
    let both = faults(&service, |body| {
        body["route"]["nodes"][1]["data"]["is_building_block"] = json!(true);
        body["route"]["nodes"][1]["data"]["building_block_idx"] = json!(7);
    })
    .await;
    let empty = faults(&service, set("/route", json!({}))).await;
    let missing = faults(&service, |body| *body = json!({})).await;
    let text = faults(&service, set("/route", json!("CNC(C)=O"))).await;

    assert_eq!(other, invalid(&smiles(0)));
    assert_eq!(unreadable, one(&smiles(1), "smiles_invalid"));
    assert_eq!(twice, invalid(&smiles(3)));
    for refused in [cycle, apart, nowhere, no_index, both] {
        assert_eq!(refused, invalid("route"));
    }
    assert_eq!(empty, one("route", "value_error"));
    assert_eq!(missing, [one("parameters", "missing"), one("route", "missing")].concat());
    assert_eq!(text, one("route", "dict_type"));
}

#[tokio::test]
async fn nothing_that_is_said_of_a_route_is_lost_in_silence() {
    let service = Service::start_without_workers(&[]).await;
    let one = |location: &str, kind: &str| vec![(format!("body.{location}"), kind.to_owned())];

    let unknown = faults(&service, |body| body["route"]["nodes"][1]["data"]["colour"] = json!("red")).await;
    // Without its category, the rest of a step's evidence would be ignored.
    let halves = faults(&service, |body| {
        drop(body["route"]["edges"][0].as_object_mut().unwrap().remove("reaction_category"));
    })
    .await;
    let offer = faults(&service, |body| body["pricing_annotations"][2]["discount"] = json!(0.1)).await;
    let mass = faults(&service, |body| body["pricing_annotations"][1]["mw"] = json!("heavy")).await;
    let sure = faults(&service, |body| body["route"]["edges"][1]["plausibility"] = json!(1.5)).await;

    assert_eq!(unknown, one("route.nodes.1.data.colour", "extra_forbidden"));
    assert_eq!((halves.len(), halves[0].0.starts_with("body.route.edges.0.")), (1, true), "{halves:?}");
    assert_eq!(offer, one("pricing_annotations.2.discount", "extra_forbidden"));
    assert_eq!(mass, one("pricing_annotations.1", "value_error"));
    assert_eq!(sure, one("route", "value_error"));
}

#[tokio::test]
async fn a_body_may_have_two_mebibytes_and_a_route_a_thousand_molecules() {
    let service = Service::start_without_workers(&[]).await;
    let mut body = body();
    // A chain from the last molecule on, of alkanes of different lengths.
    let nodes = body["route"]["nodes"].as_array().unwrap().clone();
    let chain = |length: usize| {
        let mut nodes = nodes.clone();
        nodes[3]["data"]["is_building_block"] = json!(false);
        nodes[3]["data"]["building_block_idx"] = Value::Null;
        let mut edges = Vec::new();
        for at in nodes.len()..length {
            let mut node = nodes[3].clone();
            // Two branch counts distinguish a thousand molecules.
            let smiles = format!("{}C{}", "C(F)".repeat(at % 32 + 1), "C(Cl)".repeat(at / 32 + 1));
            (node["id"], node["data"]["smiles"]) = (json!(format!("n{at}")), json!(smiles));
            let last = nodes.last().unwrap()["id"].clone();
            edges.push(json!({ "source": last, "target": node["id"] }));
            nodes.push(node);
        }
        (nodes, edges)
    };
    let save = async |length: usize| {
        let (nodes, edges) = chain(length);
        let mut body = body.clone();
        body["route"]["nodes"] = json!(nodes);
        body["route"]["edges"].as_array_mut().unwrap().extend(edges);
        service.post(ROUTES, &body.to_string()).await
    };

    let most = save(1_000).await;
    let too_many = save(1_001).await;
    body["note"] = json!("n".repeat(2 << 20));
    let too_large = service.post(ROUTES, &body.to_string()).await;

    assert_eq!(most.status, 201, "{:?}", most.faults());
    assert_eq!(too_many.faults(), [("body.route".to_owned(), "graph_invalid".to_owned())]);
    assert_eq!(too_large.status, 413);
}
