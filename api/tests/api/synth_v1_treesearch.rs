//! Tree search with valid and invalid requests.

use contract::TreeSearchRequest;
use serde_json::{Value, json};

use crate::support::Service;

const SEARCH: &str = "/synth/v1/treesearch";

fn body(field: &str, value: &str) -> String {
    format!(r#"{{"search_smiles": "CCO", "{field}": {value}}}"#)
}

#[tokio::test]
async fn a_target_alone_is_searched_with_the_defaults_of_the_contract() {
    let service = Service::start().await;
    // A finished job is deleted from the queue, so a trigger copies it.
    sqlx::raw_sql(
        "create table kept (job bytea);
        create function keep() returns trigger language plpgsql as
            'begin insert into kept values (new.job); return new; end';
        create trigger keep after insert on apalis.jobs for each row execute function keep()",
    )
    .execute(&service.pool)
    .await
    .unwrap();

    let answer = service.post(SEARCH, r#"{"search_smiles": "CCO"}"#).await;

    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["route_hierarchy"], json!({}));
    assert_eq!(answer.json()["metadata"]["total_graph_nodes"], 1);
    let (job,): (Value,) = sqlx::query_as("select convert_from(job, 'utf8')::jsonb from kept")
        .fetch_one(&service.pool)
        .await
        .unwrap();
    let stored = find(&job, "request").expect("the stored job holds the request");
    let request: TreeSearchRequest = serde_json::from_value(stored.clone()).unwrap();
    assert_eq!(request, TreeSearchRequest::new("CCO"));
}

fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let object = value.as_object()?;
    object.get(name).or_else(|| object.values().find_map(|inner| find(inner, name)))
}

#[tokio::test]
async fn every_value_in_range_is_taken() {
    let service = Service::start().await;
    let cases = [
        ("early_exit_first_solution", "false"),
        ("max_seconds", "0.001"),
        ("max_seconds", "120"),
        ("max_depth", "1"),
        ("max_depth", "50"),
        ("max_depth", "5.0"),
        ("mask_trivial_solution", "false"),
        ("mask_bblocks_mw_gte", "null"),
        ("mask_bblocks_mw_gte", "300.5"),
        ("mask_usd_pricing_gte", "null"),
        ("ships_to", "null"),
        ("ships_to", "\"AU\""),
        ("mask_lead_times_gte", "7"),
        ("max_backbone_groups", "1"),
        ("max_backbone_group_size", "99999999999"),
        ("limit_backbone_group_size_by_cost", "true"),
        ("bonds_to_break", "null"),
        ("bonds_to_keep", "[]"),
        ("fragments_to_keep", r#"["[CX3](=O)[OX2H1]", "C1=CC=CC=C1"]"#),
        ("molecules_never", r#"["CO", "O=C=O"]"#),
        ("substructures_never", r#"["[#6]Cl"]"#),
        ("building_blocks_required", r#"["CC"]"#),
        ("building_blocks_own", r#"[{"smiles": "CC"}, {"smiles": "CO", "usd_per_gram": 0.5}]"#),
        ("building_blocks_own", r#"[{"smiles": "CC", "usd_per_gram": null}]"#),
        ("reaction_classes_only", r#"["amide coupling", "Suzuki coupling"]"#),
        ("reaction_classes_never", r#"["other reaction"]"#),
        ("reaction_classes_required", r#"["nitration"]"#),
        ("templates_never", r#"["0123"]"#),
        ("max_steps", "3"),
        ("max_steps", "null"),
        ("protecting_groups", "\"never\""),
    ];
    for (field, value) in cases {
        assert_eq!(service.post(SEARCH, &body(field, value)).await.status, 200, "{field} {value}");
    }
}

#[tokio::test]
async fn every_fault_of_a_field_is_named() {
    let service = Service::start_without_workers(&[("RATE_TREESEARCH_PER_MINUTE", "0")]).await;
    let cases = [
        ("early_exit_first_solution", "1", "bool_type"),
        ("early_exit_first_solution", "\"true\"", "bool_type"),
        ("early_exit_first_solution", "null", "bool_type"),
        ("max_seconds", "0", "greater_than"),
        ("max_seconds", "-1", "greater_than"),
        ("max_seconds", "1e9", "less_than_equal"),
        ("max_seconds", "120.1", "less_than_equal"),
        ("max_seconds", "1e999", "finite_number"),
        ("max_seconds", "\"4\"", "float_type"),
        ("max_seconds", "true", "float_type"),
        ("max_seconds", "null", "float_type"),
        ("max_depth", "0", "greater_than_equal"),
        ("max_depth", "51", "less_than_equal"),
        ("max_depth", "2.5", "int_from_float"),
        ("max_depth", "\"5\"", "int_type"),
        ("mask_bblocks_mw_gte", "\"300\"", "float_type"),
        ("mask_usd_pricing_gte", "false", "float_type"),
        ("mask_lead_times_gte", "{}", "float_type"),
        ("ships_to", "\"XX\"", "enum"),
        ("ships_to", "\"us\"", "enum"),
        ("ships_to", "1", "enum"),
        ("max_backbone_groups", "0", "greater_than_equal"),
        ("max_backbone_group_size", "-5", "greater_than_equal"),
        ("limit_backbone_group_size_by_cost", "\"yes\"", "bool_type"),
        ("bonds_to_break", "1", "list_type"),
        ("fragments_to_keep", "{}", "list_type"),
        ("max_steps", "0", "greater_than_equal"),
        ("protecting_groups", "\"sometimes\"", "enum"),
        ("protecting_groups", "null", "enum"),
        ("target", "\"CCO\"", "extra_forbidden"),
    ];
    for (field, value, kind) in cases {
        let answer = service.post(SEARCH, &body(field, value)).await;

        let faults = [(format!("body.{field}"), kind.to_owned())];
        assert_eq!((answer.status, answer.faults()), (422, faults.into()), "{field} {value}");
    }
    let nan = service.post(SEARCH, &body("max_seconds", "NaN")).await;
    assert_eq!(nan.faults(), [("body.40".to_owned(), "json_invalid".to_owned())]);
}

#[tokio::test]
async fn every_fault_of_a_constraint_has_its_place() {
    let service = Service::start_without_workers(&[("RATE_TREESEARCH_PER_MINUTE", "0")]).await;
    let request = json!({
        "search_smiles": "[CH3:1][CH2:2][OH:3]",
        "bonds_to_break": [[1, 9], [8, 2], [1, 3], [2, 1]],
        "bonds_to_keep": [[1], [1, 2, 3], [0, 1], ["1", 2], 7],
        "fragments_to_keep": ["C(", 1],
        "molecules_never": ["CC.CC", "C(C)(C)(C)(C)C"],
        "substructures_never": [""],
        "building_blocks_required": ["no"],
        "building_blocks_own": [
            {}, {"smiles": "nope"}, {"smiles": "C", "usd_per_gram": 0}, {"smiles": "C", "x": 1}, "C",
        ],
        "reaction_classes_only": ["magic"],
    });

    let answer = service.post(SEARCH, &request.to_string()).await;

    let expected = [
        ("body.bonds_to_keep.0", "too_short"),
        ("body.bonds_to_keep.1", "too_long"),
        ("body.bonds_to_keep.2.0", "greater_than_equal"),
        ("body.bonds_to_keep.3.0", "int_type"),
        ("body.bonds_to_keep.4", "list_type"),
        ("body.fragments_to_keep.0", "smarts_invalid"),
        ("body.fragments_to_keep.1", "string_type"),
        ("body.molecules_never.0", "smiles_invalid"),
        ("body.molecules_never.1", "smiles_invalid"),
        ("body.substructures_never.0", "string_too_short"),
        ("body.building_blocks_required.0", "smiles_invalid"),
        ("body.building_blocks_own.0.smiles", "missing"),
        ("body.building_blocks_own.1.smiles", "smiles_invalid"),
        ("body.building_blocks_own.2.usd_per_gram", "greater_than"),
        ("body.building_blocks_own.3.x", "extra_forbidden"),
        ("body.building_blocks_own.4", "dict_type"),
        ("body.reaction_classes_only.0", "enum"),
        ("body.bonds_to_break.0.1", "unknown_atom"),
        ("body.bonds_to_break.1.0", "unknown_atom"),
        ("body.bonds_to_break.2", "not_bonded"),
    ];
    assert_eq!(answer.status, 422);
    assert_eq!(answer.faults(), expected.map(|(place, kind)| (place.to_owned(), kind.to_owned())));
    assert!(answer.text.contains("'amide coupling'"), "the classes that there are: {answer:?}");
}

#[tokio::test]
async fn a_bond_cannot_be_kept_and_broken() {
    let service = Service::start_without_workers(&[]).await;
    let request = json!({
        "search_smiles": "[CH3:1][CH2:2][OH:3]", "bonds_to_break": [[1, 2], [2, 3]], "bonds_to_keep": [[3, 2]],
    });

    let answer = service.post(SEARCH, &request.to_string()).await;

    assert_eq!(answer.faults(), [("body.bonds_to_keep.0".to_owned(), "contradictory".to_owned())]);
}

#[tokio::test]
async fn a_target_that_is_no_molecule_is_refused_with_its_place() {
    let service = Service::start_without_workers(&[("RATE_TREESEARCH_PER_MINUTE", "0")]).await;
    let long = "C".repeat(1001);
    let many = "C".repeat(300);
    let nested = format!("C{}C", "(".repeat(900));
    let cases = [
        ("", "string_too_short"),
        (long.as_str(), "string_too_long"),
        (many.as_str(), "smiles_invalid"),
        (nested.as_str(), "smiles_invalid"),
        ("not a molecule", "smiles_invalid"),
        ("CCO.CC", "smiles_invalid"),
        ("C1CCC", "smiles_invalid"),
        ("CC(C)(C)(C)C", "smiles_invalid"),
        ("CC[", "smiles_invalid"),
        ("🧪", "smiles_invalid"),
    ];
    for (smiles, kind) in cases {
        let answer = service.post(SEARCH, &json!({ "search_smiles": smiles }).to_string()).await;

        let faults = [("body.search_smiles".to_owned(), kind.to_owned())];
        assert_eq!((answer.status, answer.faults()), (422, faults.into()), "{smiles}");
    }
    let two = service.post(SEARCH, r#"{"search_smiles": "CCO.CC"}"#).await;
    assert_eq!(
        two.json()["detail"][0]["msg"],
        "Input should be a valid SMILES: more than one component, the second begins after byte 3"
    );
    let open_ring = service.post(SEARCH, r#"{"search_smiles": "C1CCC"}"#).await;
    assert!(open_ring.text.contains("byte 1"), "{open_ring:?}");
    let brackets = service.post(SEARCH, &json!({ "search_smiles": "[".repeat(100_000) }).to_string()).await;
    assert_eq!(brackets.faults(), [("body.search_smiles".to_owned(), "string_too_long".to_owned())]);
}

#[tokio::test]
async fn all_faults_of_a_search_come_at_once() {
    let service = Service::start_without_workers(&[]).await;

    let answer =
        service.post(SEARCH, r#"{"max_depth": 0, "ships_to": "XX", "max_seconds": 0, "x": 1}"#).await;

    assert_eq!(
        answer.json(),
        json!({ "detail": [
            { "loc": ["body", "search_smiles"], "msg": "Field required", "type": "missing" },
            { "loc": ["body", "max_seconds"], "msg": "Input should be greater than 0", "type": "greater_than" },
            { "loc": ["body", "max_depth"], "msg": "Input should be greater than or equal to 1",
              "type": "greater_than_equal" },
            { "loc": ["body", "ships_to"],
              "msg": "Input should be 'US', 'CA', 'GB', 'FR', 'CH', 'DE', 'CN' or 'AU'", "type": "enum" },
            { "loc": ["body", "x"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden" },
        ] })
    );
}

#[tokio::test]
async fn the_limit_of_max_seconds_is_the_operators() {
    let service = Service::start_without_workers(&[("MAX_SECONDS_LIMIT", "10")]).await;

    let answer = service.post(SEARCH, &body("max_seconds", "10.5")).await;

    assert_eq!(answer.json()["detail"][0]["msg"], "Input should be less than or equal to 10");
}

#[tokio::test]
async fn the_least_number_is_a_number_of_seconds() {
    let service = Service::start().await;

    let answer = service.post(SEARCH, &body("max_seconds", "5e-324")).await;

    // The search may or may not start in time; computing its size must not fail.
    assert!([200, 503].contains(&answer.status), "{answer:?}");
}

#[tokio::test]
async fn what_a_worker_answers_is_checked_before_it_is_sent() {
    let service = Service::start().await;

    let nonsense = service.post(SEARCH, &body("max_depth", "49")).await;
    let refused = service.post(SEARCH, &body("max_depth", "48")).await;

    assert_eq!(nonsense.status, 500);
    let fault = ("response.route_hierarchy".to_owned(), "string_pattern_mismatch".to_owned());
    assert_eq!(nonsense.faults(), [fault.clone(), fault]);
    assert_eq!(refused.status, 422);
    assert_eq!(refused.faults(), [("body.search_smiles".to_owned(), "smiles_invalid".to_owned())]);
}
