//! Reference at `/docs`: it loads nothing from other hosts, and its document shows every answer.

use std::collections::BTreeSet;

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
