//! Bulk queries of molecules and of the catalogue.

use serde_json::{Value, json};

use crate::{
    recorded::{self, RecordedVariant},
    support::Service,
};

const EXPANSIONS: &str = "/synth/v1/expansions";
const BUILDING_BLOCKS: &str = "/synth/v1/building-blocks";
const SYNTHESIZABILITY: &str = "/synth/v1/synthesizability";
const ANALOGUES: &str = "/synth/v1/analogues";
const SEARCH: &str = "/synth/v1/building-blocks/search";
const ALL: [&str; 3] = [EXPANSIONS, BUILDING_BLOCKS, SYNTHESIZABILITY];

#[tokio::test]
async fn each_molecule_is_answered_at_its_position() {
    let service = Service::start().await;
    let query = async |path: &str| {
        let answer = service.post(path, r#"{"smiles": ["CCO", "C1CC"]}"#).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"), "{answer:?}");
        let answer = answer.json();
        assert_eq!((&answer["object"], &answer["deadline_seconds"]), (&json!("list"), &json!(120.0)));
        answer["items"].clone()
    };

    let expansions = query(EXPANSIONS).await;
    let building_blocks = query(BUILDING_BLOCKS).await;
    let synthesizability = query(SYNTHESIZABILITY).await;

    let set = json!({
        "smiles": ["C", "CO"], "probability": 0.5, "plausibility": 0.25, "template_id": "t",
        "reaction_class": "limit 50, rules", "reaction_category": "other", "precedents": 3, "in_stock": [true, false],
    });
    let unread = json!({ "smiles": "C1CC", "error": "no molecule", "precursors": [] });
    assert_eq!(expansions, json!([{ "smiles": "CCO", "error": null, "precursors": [set] }, unread]));
    assert_eq!(building_blocks[0]["vendors"], json!(["US, at most 10 offers"]));
    assert_eq!(building_blocks[1]["error"], "no molecule");
    assert_eq!(synthesizability[0]["seconds"], 0.05);
    assert_eq!(synthesizability[1]["error"], "no molecule");
}

#[tokio::test]
async fn a_bulk_query_reaches_the_worker_whole() {
    let service = Service::start_with(&[("ENGINE_ALIASES", "thieme=toy_engine")]).await;
    let first = async |path: &str, body: Value| -> Value {
        service.post(path, &body.to_string()).await.json()["items"][0].take()
    };

    let expansions =
        first(EXPANSIONS, json!({ "smiles": ["CCO"], "limit": 7, "check": "forwards", "engine": "thieme" }))
            .await;
    let sold = first(BUILDING_BLOCKS, json!({ "smiles": ["CCO"], "ships_to": "DE", "max_offers": 0 })).await;
    let anywhere =
        first(BUILDING_BLOCKS, json!({ "smiles": ["CCO"], "ships_to": null, "inchikey": true })).await;
    let small = first(SYNTHESIZABILITY, json!({ "smiles": ["CCO"], "max_seconds": 1 })).await;

    assert_eq!(expansions["precursors"][0]["reaction_class"], "limit 7, forwards");
    assert_eq!(sold["vendors"], json!(["DE, at most 0 offers"]));
    assert_eq!(anywhere["vendors"], json!(["anywhere, at most 10 offers"]));
    assert_eq!((&sold["inchikey"], &anywhere["inchikey"]), (&Value::Null, &json!("KEY-CCO")));
    assert_eq!(small["seconds"], 1.0);
}

#[tokio::test]
async fn every_fault_of_a_bulk_query_has_its_location() {
    let service = Service::start().await;
    let faults = async |path: &str, body: Value| {
        let answer = service.post(path, &body.to_string()).await;
        assert_eq!(answer.status, 422, "{answer:?}");
        answer.faults()
    };

    for path in ALL {
        assert_eq!(faults(path, json!({})).await, [fault("smiles", "missing")]);
        assert_eq!(faults(path, json!({ "smiles": [] })).await, [fault("smiles", "too_short")]);
        assert_eq!(faults(path, json!({ "smiles": "CCO" })).await, [fault("smiles", "list_type")]);
        assert_eq!(faults(path, json!({ "smiles": vec!["C"; 1001] })).await, [fault("smiles", "too_long")]);
        let wrong = faults(path, json!({ "smiles": ["C", 1, null], "x": 1 })).await;
        let expected = [
            fault("smiles.1", "string_type"),
            fault("smiles.2", "string_type"),
            fault("x", "extra_forbidden"),
        ];
        assert_eq!(wrong, expected);
        let query = service.post(&format!("{path}?limit=1"), r#"{"smiles": ["C"]}"#).await;
        assert_eq!(query.faults(), [("query.limit".to_owned(), "extra_forbidden".to_owned())]);
    }
    let of_expansions = json!({ "smiles": ["C"], "limit": 201, "check": 1, "engine": "no-word" });
    let expected = [
        fault("limit", "less_than_equal"),
        fault("check", "enum"),
        fault("engine", "string_pattern_mismatch"),
    ];
    assert_eq!(faults(EXPANSIONS, of_expansions).await, expected);
    let of_blocks =
        json!({ "smiles": ["C"], "ships_to": "XX", "max_offers": -1, "inchikey": 1, "engine": "toy_engine" });
    let expected = [
        fault("ships_to", "enum"),
        fault("max_offers", "greater_than_equal"),
        fault("inchikey", "bool_type"),
        fault("engine", "extra_forbidden"),
    ];
    assert_eq!(faults(BUILDING_BLOCKS, of_blocks).await, expected);
    for (seconds, kind) in [(0.009, "greater_than_equal"), (1.001, "less_than_equal")] {
        let of_searches = json!({ "smiles": ["C"], "max_seconds": seconds });
        assert_eq!(faults(SYNTHESIZABILITY, of_searches).await, [fault("max_seconds", kind)]);
    }
}

#[tokio::test]
async fn an_engine_that_no_searcher_serves_is_a_bad_reference() {
    let service = Service::start().await;

    for path in [EXPANSIONS, SYNTHESIZABILITY] {
        let answer = service.post(path, r#"{"smiles": ["C"], "engine": "no_engine"}"#).await;

        assert_eq!((answer.status, answer.text.as_str()), (400, "null"));
    }
}

#[tokio::test]
async fn workers_of_the_previous_release_leave_bulk_queries_and_callers_get_an_error() {
    let service = Service::start_without_workers(&[]).await;
    let searchers = "insert into live_workers (name, queue, slots, last_seen, lease)
        values ('search-old', 'search', 4, now() + interval '1 hour', interval '5 seconds')";
    sqlx::query(searchers).execute(&service.pool).await.unwrap();

    for path in ALL {
        let answer = service.post(path, r#"{"smiles": ["C"]}"#).await;

        assert_eq!(answer.status, 503);
        assert_ne!(answer.header("retry-after"), "");
        assert_eq!(answer.json()["detail"][0]["msg"], "No worker for this operation is running");
    }
}

#[tokio::test]
async fn items_that_are_not_what_was_asked_for_are_not_passed_on() {
    let service = Service::start().await;

    for path in ALL {
        let answer = service.post(path, r#"{"smiles": ["nonsense"]}"#).await;

        assert_eq!(answer.status, 500, "{answer:?}");
        assert_eq!(answer.faults(), [("response.items".to_owned(), "response_invalid".to_owned())]);
    }
}

#[tokio::test]
async fn a_bulk_query_takes_search_seconds_in_proportion_to_its_work() {
    let service = Service::start_with(&[("RATE_SEARCH_SECONDS_PER_MINUTE", "100")]).await;
    let query = async |molecules: usize| {
        let body = json!({ "smiles": vec!["CCO"; molecules], "max_seconds": 1 });
        service.post(SYNTHESIZABILITY, &body.to_string()).await
    };

    // The mock worker reports a third of a second per molecule.
    let used = [query(60).await.status, query(60).await.status];
    let (large, small) = (query(90).await, query(5).await);

    assert_eq!((used, large.status, small.status), ([200, 200], 429, 200));
    assert_eq!(large.header("ratelimit-policy"), "\"search-seconds\";q=100;w=60");
}

/// Returns a route of an answer, as a client sends it back.
fn route() -> Value {
    let answer = recorded::answer(RecordedVariant::AsFound);
    let groups = answer.route_hierarchy.values().flat_map(|groups| groups.values());
    json!(groups.flatten().flatten().next().unwrap())
}

#[tokio::test]
async fn a_route_is_sent_back_with_one_of_its_blocks_to_be_another() {
    let service = Service::start().await;
    let route = route();
    let nodes = route["nodes"].as_array().unwrap();
    let smiles = |at: usize| nodes[at]["data"]["smiles"].as_str().unwrap();
    let block = nodes.iter().position(|node| node["data"]["is_building_block"] == true).unwrap();
    let analogues = async |block: &str, route: &Value, others: Value| {
        let body = json!({ "route": route, "building_block": block, "smiles": others });
        service.post(ANALOGUES, &body.to_string()).await
    };

    let query = analogues(smiles(block), &route, json!(["CCO", "C1CC"])).await;
    let target = analogues(smiles(0), &route, json!(["CCO"])).await;
    let stranger = analogues("CCCCCCC", &route, json!(["CCO"])).await;
    let torn = analogues(smiles(block), &json!({ "nodes": [] }), json!([])).await;
    let empty = service.post(ANALOGUES, "{}").await;
    let nonsense = analogues(smiles(block), &route, json!(["nonsense"])).await;

    let items = query.json()["items"].clone();
    let mut made = route.clone();
    made["nodes"][block]["data"]["smiles"] = json!("CCO");
    assert_eq!((query.status, &items[0]["target"], &items[0]["route"]), (200, &json!(smiles(0)), &made));
    assert_eq!((&items[1]["error"], &items[1]["route"]), (&json!("no molecule"), &Value::Null));
    for answer in [target, stranger] {
        assert_eq!((answer.status, answer.faults()), (422, vec![fault("building_block", "not_in_route")]));
    }
    assert_eq!(torn.faults(), [fault("route", "value_error"), fault("smiles", "too_short")]);
    let missing = ["route", "building_block", "smiles"].map(|field| fault(field, "missing"));
    assert_eq!(empty.faults(), missing);
    assert_eq!(nonsense.status, 500);
}

fn fault(location: &str, kind: &str) -> (String, String) {
    (format!("body.{location}"), kind.to_owned())
}

#[tokio::test]
async fn a_catalogue_query_reaches_the_worker_whole() {
    let service = Service::start().await;
    let search = async |body: Value| {
        let answer = service.post(SEARCH, &body.to_string()).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"), "{answer:?}");
        answer.json()
    };

    let similar = search(json!({ "similar_to": "CCO" })).await;
    let closer = search(
        json!({ "similar_to": "CCO", "min_similarity": 0.5, "limit": 7, "ships_to": null, "max_offers": 0 }),
    )
    .await;
    let others = [
        search(json!({ "smiles": "[CH3:1]O" })).await,
        search(json!({ "substructure": "[#6]Br" })).await,
        search(json!({ "text": "EN300-17" })).await,
    ];

    let item = json!({
        "smiles": "Nc1ccc(O)cc1", "error": null, "in_stock": true, "building_block_idx": 7, "price": 2.5,
        "lead_time_days": null, "inchikey": null, "vendors": ["Acme", "like CCO to 0.3, limit 25, US, at most 10 offers"],
        "offers": [], "mw": 46.07, "similarity": 0.5,
    });
    let expected =
        json!({ "object": "list", "items": [item], "more": true, "searched": 0.25, "total_elapsed": 0.5 });
    assert_eq!(similar, expected);
    let vendor = |answer: &Value| answer["items"][0]["vendors"][1].as_str().unwrap().to_owned();
    assert_eq!(vendor(&closer), "like CCO to 0.5, limit 7, anywhere, at most 0 offers");
    let usual = "limit 25, US, at most 10 offers";
    let expected =
        ["structure [CH3:1]O", "with [#6]Br", "number EN300-17"].map(|way| format!("{way}, {usual}"));
    assert_eq!(others.each_ref().map(vendor), expected);
}

#[tokio::test]
async fn every_fault_of_a_search_of_the_catalogue_has_its_place() {
    let service = Service::start().await;
    let faults = async |body: Value| {
        let answer = service.post(SEARCH, &body.to_string()).await;
        assert_eq!(answer.status, 422, "{answer:?}");
        answer.faults()
    };
    let fault = |location: &str, kind: &str| (location.to_owned(), kind.to_owned());

    for (body, location, kind) in [
        (json!({}), "body", "one_of"),
        (json!({ "smiles": "C", "text": "EN" }), "body", "one_of"),
        (json!({ "smiles": "C1CC" }), "body.smiles", "smiles_invalid"),
        (json!({ "smiles": null }), "body.smiles", "string_type"),
        (json!({ "similar_to": "C.C" }), "body.similar_to", "smiles_invalid"),
        (json!({ "substructure": "[#6" }), "body.substructure", "smarts_invalid"),
        (json!({ "substructure": "" }), "body.substructure", "string_too_short"),
        (json!({ "substructure": "C".repeat(1001) }), "body.substructure", "string_too_long"),
        (json!({ "text": "E" }), "body.text", "string_too_short"),
        (json!({ "text": "E\0F" }), "body.text", "string_pattern_mismatch"),
        (json!({ "text": "EN", "limit": 101 }), "body.limit", "less_than_equal"),
        (json!({ "text": "EN", "min_similarity": 1.1 }), "body.min_similarity", "less_than_equal"),
        (json!({ "text": "EN", "ships_to": "XX" }), "body.ships_to", "enum"),
        (json!({ "text": "EN", "max_offers": -1 }), "body.max_offers", "greater_than_equal"),
        (json!({ "text": "EN", "engine": "toy_engine" }), "body.engine", "extra_forbidden"),
    ] {
        assert_eq!(faults(body.clone()).await, [fault(location, kind)], "{body}");
    }
    let answer = service.post(SEARCH, r#"{"smiles": "C1CC"}"#).await;
    let msg = answer.json()["detail"][0]["msg"].clone();
    assert_eq!(msg, "Input should be a valid SMILES: ring bond 1 opened at byte 1 is never closed");
}

#[tokio::test]
async fn blocks_that_are_not_what_was_searched_for_are_not_passed_on() {
    let service = Service::start().await;

    let answer = service.post(SEARCH, r#"{"text": "nonsense"}"#).await;

    assert_eq!(answer.status, 500, "{answer:?}");
    assert_eq!(answer.faults(), [("response.items".to_owned(), "response_invalid".to_owned())]);
}
