//! Texts with a NUL character, which PostgreSQL cannot store: refused in every text field of a request.

use serde_json::{Value, json};

use crate::support::Service;

const MISMATCH: &str = "string_pattern_mismatch";

/// Returns every text field of a search, except reaction classes, which come from a fixed list.
fn terms() -> [(&'static str, Value, &'static str); 10] {
    [
        ("vendors_only", json!(["Acme", "A\0"]), ".1"),
        ("vendors_never", json!(["\0"]), ".0"),
        ("vendors_first", json!(["\0cme"]), ".0"),
        ("templates_never", json!(["\0"]), ".0"),
        ("molecules_never", json!(["C\0"]), ".0"),
        ("substructures_never", json!(["C\0"]), ".0"),
        ("fragments_to_keep", json!(["C\0"]), ".0"),
        ("building_blocks_required", json!(["C\0"]), ".0"),
        ("building_blocks_own", json!([{ "smiles": "C\0" }]), ".0.smiles"),
        ("engine", json!("a\0"), ""),
    ]
}

#[tokio::test]
async fn no_text_of_a_request_may_have_a_nul() {
    let service = Service::start().await;
    let refused = async |path: &str, body: &Value, location: &str, kind: &str| {
        let answer = service.post(path, &body.to_string()).await;
        assert_eq!(answer.status, 422, "{path} {location}: {answer:?}");
        assert_eq!(answer.faults(), [(format!("body.{location}"), kind.to_owned())], "{path}");
    };

    for (field, value, item) in terms() {
        let location = format!("{field}{item}");
        let nested = format!("parameters.{location}");
        let (plan, search) = (json!({ "search_smiles": "CCO", field: value }), json!({ field: value }));
        let batch = json!({ "smiles": ["CCO"], "parameters": search });
        refused("/synth-batches/v1/plans", &json!({ "parameters": plan }), &nested, MISMATCH).await;
        refused("/synth-batches/v1/batches", &batch, &nested, MISMATCH).await;
        if field != "engine" {
            refused("/synth/v1/treesearch", &plan, &location, MISMATCH).await;
            refused("/synth/v1/toy_engine/treesearch", &plan, &location, MISMATCH).await;
        }
    }
    for kind in ["only", "never", "required"] {
        let field = format!("reaction_classes_{kind}");
        let body = json!({ "search_smiles": "CCO", field.clone(): ["\0"] });
        refused("/synth/v1/treesearch", &body, &format!("{field}.0"), MISMATCH).await;
    }
    for path in ["expansions", "building-blocks", "synthesizability"] {
        let body = json!({ "smiles": ["CCO", "C\0"] });
        refused(&format!("/synth/v1/{path}"), &body, "smiles.1", MISMATCH).await;
    }
    refused("/generator/v1/likelihoods", &json!({ "smiles": ["CCO", "C\0"] }), "smiles.1", MISMATCH).await;
    let names = json!({ "smiles": ["CCO"], "parameters": {}, "names": ["\0"] });
    refused("/synth-batches/v1/batches", &names, "names.0", MISMATCH).await;
    refused("/generator/v1/samples", &json!({ "size": 1, "model_id": "a\0" }), "model_id", MISMATCH).await;
}

#[tokio::test]
async fn the_document_says_which_texts_have_no_nul() {
    let document = serde_json::to_value(api::document()).unwrap();

    for location in [
        "TreeSearchRequest/properties/vendors_only/items",
        "PlanParameters/properties/vendors_never/items",
        "BatchParameters/properties/templates_never/items",
        "BatchRequest/properties/names/items",
        "ExpansionsRequest/properties/smiles/items",
        "LikelihoodsRequest/properties/smiles/items",
        "PlanRequest/properties/name",
        "OwnBlock/properties/smiles",
    ] {
        let schema = &document.pointer(&format!("/components/schemas/{location}")).unwrap();
        assert_eq!(schema["pattern"], r"^[^\x00]*$", "{location}: {schema}");
    }
    let engine = "/components/schemas/PlanParameters/properties/engine/pattern";
    assert_eq!(document.pointer(engine).unwrap(), r"^\w+$");
}
