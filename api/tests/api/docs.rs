//! Reference at `/docs`: it loads nothing from other hosts, and its document shows every answer.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Service, answer};

/// Returns the texts between each `before` and the next quotation mark.
fn quoted(text: &str, before: &str) -> Vec<String> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

/// Returns the addresses that a browser loads from `text`, or follows within the service, without anchors in the page
/// itself.
fn linked_addresses(text: &str) -> Vec<String> {
    let text = text.replace("<a href=\"https://", "<a title=\"");
    let modules = quoted(&text, "from \"./").into_iter().map(|name| format!("/docs/{name}"));
    let links = [quoted(&text, " src=\""), quoted(&text, " href=\"")].concat();
    links.into_iter().filter(|link| !link.starts_with('#')).chain(modules).collect()
}

#[tokio::test]
async fn the_reference_needs_nothing_from_elsewhere() {
    let service = Service::start_without_workers(&[]).await;
    let mut seen = BTreeSet::new();
    let mut waiting = vec!["/docs".to_owned()];
    while let Some(path) = waiting.pop() {
        let file = answer(service.http.get(format!("{}{path}", service.base))).await;

        assert_eq!(file.status, 200, "{path}");
        if path.starts_with("/docs") {
            let policy = file.header("content-security-policy");
            assert!(policy.contains("script-src 'self'; style-src 'self'; connect-src 'self'"), "{path}");
            assert!(!file.text.contains("innerHTML"), "{path}");
            let new = linked_addresses(&file.text).into_iter().filter(|name| seen.insert(name.clone()));
            waiting.extend(new);
        }
    }

    for part in [
        "guide",
        "guide.js",
        "reference.css",
        "reference.js",
        "elements.js",
        "operation.js",
        "samples.js",
        "schemas.js",
        "try.js",
    ] {
        assert!(seen.contains(&format!("/docs/{part}")), "{part}");
    }
}

#[test]
fn every_answer_with_a_body_has_an_example() {
    let document = serde_json::to_value(api::document()).unwrap();
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    for operation in operations {
        let id = &operation["operationId"];
        for (status, response) in operation["responses"].as_object().unwrap() {
            let content = &response["content"]["application/json"];
            let is_null = content["schema"]["type"] == "null";

            let shown = content.get("example").is_some();

            assert_eq!(shown, !content.is_null() && !is_null, "{id} {status}");
        }
    }
}

/// Returns the example of a successful answer to `method` at `path`.
fn example(method: &str, path: &str, status: u16) -> Value {
    let document = serde_json::to_value(api::document()).unwrap();
    let response = &document["paths"][path][method]["responses"][status.to_string()];
    response["content"]["application/json"]["example"].clone()
}

/// Returns the names of the members of an answer, and of its first item if it is a list.
fn members(answer: &Value) -> [Vec<String>; 2] {
    let names = |value: &Value| -> Vec<String> {
        value.as_object().map(|members| members.keys().cloned().collect()).unwrap_or_default()
    };
    let first =
        [&answer["items"][0], &answer["data"][0], &answer[0]].into_iter().find(|item| !item.is_null());
    [names(answer), first.map(names).unwrap_or_default()]
}

#[tokio::test]
async fn answers_have_the_members_of_their_examples() {
    let service = Service::start().await;
    let target = "CC(=O)Nc1ccc(O)cc1";
    let route = example("post", "/synth/v1/routes", 201)["route"].clone();
    let created = [
        ("/generator/v1/samples", json!({ "size": 2 })),
        ("/generator/v1/sample-batches", json!({ "size": 2_000 })),
        ("/synth-batches/v1/plans", json!({ "parameters": { "search_smiles": target } })),
        ("/synth-batches/v1/batches", json!({ "smiles": [target], "parameters": {} })),
        ("/synth/v1/routes", json!({ "parameters": { "search_smiles": target }, "route": route })),
        ("/generator/v1/likelihoods", json!({ "smiles": [target] })),
        ("/synth/v1/treesearch", json!({ "search_smiles": target })),
        ("/synth/v1/expansions", json!({ "smiles": [target] })),
        ("/synth/v1/building-blocks", json!({ "smiles": [target] })),
        ("/synth/v1/building-blocks/search", json!({ "smiles": "CC(=O)O" })),
        ("/synth/v1/synthesizability", json!({ "smiles": [target] })),
        (
            "/synth/v1/analogues",
            json!({ "smiles": ["CCC(=O)O"], "building_block": "CC(=O)O", "route": route }),
        ),
    ];
    let read = [
        "/generator/v1/samples",
        "/generator/v1/sample-batches",
        "/generator/v1/version-backend",
        "/synth-batches/v1/engines",
        "/synth-batches/v1/plans",
        "/synth-batches/v1/batches",
        "/synth/v1/routes",
    ];

    for (path, body) in created {
        let answer = service.post(path, &body.to_string()).await;
        assert_eq!(answer.status / 100, 2, "{path}: {answer:?}");
        assert_eq!(members(&answer.json()), members(&example("post", path, answer.status)), "{path}");
    }
    for path in read {
        let answer = service.get(path).await;
        assert_eq!(members(&answer.json()), members(&example("get", path, 200)), "{path}");
    }
}

#[tokio::test]
async fn the_example_of_a_kept_route_is_kept_as_it_is() {
    let service = Service::start_without_workers(&[]).await;
    let example = example("post", "/synth/v1/routes", 201);
    let sent = ["parameters", "route", "pricing_annotations", "name", "note", "starred"];
    let body: Value = sent.iter().map(|name| ((*name).to_owned(), example[*name].clone())).collect();

    let kept = service.post("/synth/v1/routes", &body.to_string()).await;

    assert_eq!(kept.status, 201, "{kept:?}");
    let kept = kept.json();
    for name in sent {
        assert_eq!(kept[name], example[name], "{name}");
    }
}
