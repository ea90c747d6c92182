//! Examples of answers and errors for the OpenAPI document.

#![expect(
    clippy::indexing_slicing,
    reason = "the examples are ours, and the document is made of them in the tests"
)]

use contract::TreeSearchRequest;
use serde_json::{Value, json};

use crate::engine_answer::engine_answer;

/// Sample id in examples.
pub const SAMPLE_ID: &str = "smp_01jd6xq1v3m4c5t6y7z8a9b0cd";
/// Model id in examples.
pub const MODEL_ID: &str = "druglike_gru";
/// Job id in examples.
pub const JOB_ID: &str = "01JD6XQ1V3M4C5T6Y7Z8A9B0CE";
/// Plan id in examples.
pub const PLAN_ID: &str = "pln_01jd6xq1v3m4c5t6y7z8a9b0cd";
/// Kept route's id in examples.
pub const ROUTE_ID: &str = "rte_01jd6xq1v3m4c5t6y7z8a9b0cd";
/// Batch id in examples.
pub const BATCH_ID: &str = "bat_01jd6xq1v3m4c5t6y7z8a9b0cd";
/// Sample batch's id in examples.
pub const SAMPLE_BATCH_ID: &str = "sbt_01jd6xq1v3m4c5t6y7z8a9b0cd";
/// Engine name in examples.
pub const ENGINE: &str = "uspto_retro";
const CREATED_AT: &str = "2026-01-02T03:04:05Z";

/// Returns the 200 answer of the operation `operation_id`.
pub fn answer(operation_id: &str) -> Option<Value> {
    match operation_id {
        "list_samples" => Some(json!({
            "data": [{
                "id": SAMPLE_ID, "object": "sample", "model_id": MODEL_ID, "num_smiles": 2,
                "created_at": CREATED_AT,
            }],
            "has_more": false,
            "object": "list",
        })),
        "create_sample" | "retrieve_sample" => Some(sample()),
        "generate" | "generate_by_model" => Some(json!({ "smiles": sample()["smiles"] })),
        "create_sample_batch" => Some(sample_batch("pending", 0)),
        "retrieve_sample_batch" | "cancel_sample_batch" => Some(sample_batch("processing", 3)),
        "list_sample_batches" => Some(listed(sample_batch("completed", 4))),
        "list_samples_of_batch" => {
            Some(listed(with_fields(sample(), json!({ "batch_id": SAMPLE_BATCH_ID }))))
        }
        "delete_sample_batch" => {
            Some(json!({ "id": SAMPLE_BATCH_ID, "object": "sample_batch", "deleted": true }))
        }
        "list_models" => Some(listed(model())),
        "retrieve_model" => Some(model()),
        "retrieve_model_status" => Some(json!({ "status": "online" })),
        "create_tree_search" => Some(tree_search()),
        "create_engine_tree_search" => engine_tree_search(),
        "create_expansions" => Some(expansions()),
        "look_up_building_blocks" => Some(building_blocks()),
        "search_building_blocks" => Some(found_blocks()),
        "create_synthesizability" => Some(synthesizability()),
        "create_analogues" => Some(analogues()),
        "create_route" | "retrieve_route" | "update_route" => Some(kept_route()),
        "list_routes" => {
            Some(page(with_fields(kept_route(), json!({ "route": null, "pricing_annotations": null }))))
        }
        "delete_route" => Some(json!({ "id": ROUTE_ID, "object": "route", "deleted": true })),
        "create_plan" | "retrieve_plan" => Some(plan(None)),
        "list_plans" => Some(page(plan(None))),
        "cancel_plan" => Some(with_fields(plan(None), json!({ "status": "cancelled" }))),
        "retrieve_plan_of_batch" => Some(plan(Some(BATCH_ID))),
        "list_plans_of_batch" => Some(page(plan(Some(BATCH_ID)))),
        "delete_plan" => Some(json!({ "id": PLAN_ID, "object": "plan", "deleted": true })),
        "create_batch" => Some(batch()),
        "retrieve_batch" | "cancel_batch" | "resume_batch" => Some(with_fields(batch(), progress())),
        "list_batches" => Some(page(batch())),
        "delete_batch" => Some(json!({ "id": BATCH_ID, "object": "batch", "deleted": true })),
        "list_engines" => Some(json!([{ "name": ENGINE, "queue_length": 12 }])),
        "list_libraries" => Some(json!([{ "name": "Example Chemicals (fictitious)" }])),
        "version_of_plans" | "version_of_generator" => Some(json!({ "version": env!("CARGO_PKG_VERSION") })),
        "operations_state" => Some(operations_state()),
        _ => None,
    }
}

/// Returns the 202 answer of the operation `operation_id`.
pub fn pending(operation_id: &str) -> Option<Value> {
    (operation_id == "create_sample")
        .then(|| with_fields(sample(), json!({ "smiles": Value::Array(Vec::new()), "status": "pending" })))
}

/// Returns the body of the error `status` of an operation that needs `scope`; `None` if the body is `null`.
pub fn error(operation_id: &str, status: &str, scope: &str) -> Option<Value> {
    const AUTHORIZATION: [&str; 2] = ["header", "authorization"];
    let fault = |loc: &[&str], kind: &str, msg: &str| {
        Some(json!({ "detail": [{ "loc": loc, "msg": msg, "type": kind }] }))
    };
    match status {
        "401" => fault(&AUTHORIZATION, "not_authenticated", "an access token is required"),
        "403" => {
            let msg = format!("The access token lacks the scope {scope}");
            fault(&AUTHORIZATION, "insufficient_scope", &msg)
        }
        "408" => fault(&["body"], "body_too_slow", "The body took too long to arrive"),
        "413" => fault(&["body"], "body_too_large", "The body is larger than 1 MiB"),
        "415" => fault(
            &["header", "content-type"],
            "unsupported_media_type",
            "The body should be application/json",
        ),
        "409" => fault(&[], "conflict", "The job is done; it cannot be retried"),
        "422" => {
            let (loc, kind, msg) = example_fault(operation_id)?;
            fault(&loc, kind, msg)
        }
        "429" => fault(&[], "rate_limited", "The rate limit of this account is spent"),
        "500" => fault(&[], "internal_error", "Internal error"),
        "503" => fault(&[], "unavailable", "No worker for this operation is running"),
        "504" => {
            let msg = format!("The deadline of job {JOB_ID} passed before it was done");
            fault(&[], "deadline_passed", &msg)
        }
        _ => None,
    }
}

/// Returns an example fault in a request of the operation: its location, kind and message.
fn example_fault(operation_id: &str) -> Option<([&'static str; 2], &'static str, &'static str)> {
    let at_most = |field, msg| Some((field, "less_than_equal", msg));
    let no_word =
        |field| Some((["path", field], "string_pattern_mismatch", r"String should match pattern '^\w+$'"));
    match operation_id {
        "create_sample" => at_most(["body", "size"], "Input should be less than or equal to 10000"),
        "generate" | "generate_by_model" => {
            at_most(["query", "samples"], "Input should be less than or equal to 1000")
        }
        "create_sample_batch" => at_most(["body", "size"], "Input should be less than or equal to 100000"),
        "list_sample_batches" | "list_samples_of_batch" | "list_models" => {
            at_most(["query", "limit"], "Input should be less than or equal to 100")
        }
        "list_samples" => at_most(["query", "limit"], "Input should be less than or equal to 100"),
        "create_tree_search" => {
            Some((["body", "max_seconds"], "greater_than", "Input should be greater than 0"))
        }
        "create_expansions" => at_most(["body", "limit"], "Input should be less than or equal to 200"),
        "look_up_building_blocks" => Some((["body", "smiles"], "missing", "Field required")),
        "search_building_blocks" => at_most(["body", "limit"], "Input should be less than or equal to 100"),
        "create_analogues" => Some((["body", "building_block"], "missing", "Field required")),
        "create_synthesizability" => {
            at_most(["body", "max_seconds"], "Input should be less than or equal to 1")
        }
        "operations_state" => Some((["query", "limit"], "extra_forbidden", "Extra inputs are not permitted")),
        "create_engine_tree_search" => no_word("engine"),
        "create_route" => Some((["body", "route"], "missing", "Field required")),
        "list_routes" => at_most(["query", "limit"], "Input should be less than or equal to 100"),
        "retrieve_route" | "update_route" | "delete_route" => no_word("route_id"),
        "create_plan" => Some((["body", "parameters"], "missing", "Field required")),
        "create_batch" => Some((["body", "smiles"], "missing", "Field required")),
        "list_batches" | "list_plans" | "list_plans_of_batch" => {
            at_most(["query", "limit"], "Input should be less than or equal to 100")
        }
        "list_engines" | "list_libraries" | "version_of_plans" | "version_of_generator" => {
            Some((["query", "limit"], "extra_forbidden", "Extra inputs are not permitted"))
        }
        "watch_tree_search" => no_word("search_id"),
        "retrieve_plan" | "watch_plan" | "cancel_plan" | "delete_plan" | "retrieve_plan_of_batch" => {
            no_word("plan_id")
        }
        "retrieve_batch"
        | "cancel_batch"
        | "resume_batch"
        | "delete_batch"
        | "retrieve_sample_batch"
        | "cancel_sample_batch"
        | "delete_sample_batch" => no_word("batch_id"),
        "retrieve_model" | "retrieve_model_status" => no_word("model_id"),
        "retrieve_sample" | "delete_sample" => no_word("sample_id"),
        "pause_queue" | "resume_queue" => no_word("queue"),
        "cancel_job" | "retry_job" => no_word("job_id"),
        _ => None,
    }
}

fn sample() -> Value {
    json!({
        "id": SAMPLE_ID, "object": "sample", "model_id": MODEL_ID,
        "smiles": ["CC(=O)Nc1ccc(O)cc1", "Cc1ccccc1N"], "created_at": CREATED_AT,
        "status": "completed", "batch_id": null, "error": null,
    })
}

fn sample_batch(status: &str, completed: i64) -> Value {
    json!({
        "id": SAMPLE_BATCH_ID, "object": "sample_batch", "model_id": null, "size": 2_000, "chunk_count": 4,
        "chunks_created": true, "status": status, "completed_chunks": completed, "failed_chunks": 0,
        "created_at": CREATED_AT,
    })
}

fn listed(item: Value) -> Value {
    json!({ "data": [item], "has_more": false, "object": "list" })
}

fn model() -> Value {
    let (architecture, training_data) =
        ("GRU, 1 x 512, 248 SMILES tokens", "844,803 molecules of public sets");
    json!({
        "id": MODEL_ID, "object": "model", "molecules_ready": 200_000, "name": "Drug-like", "version": "5f1d7a0c93be24d1",
        "summary": {
            "n_strings": 10_000, "validity": 1.0, "uniqueness": 0.9998, "novelty": 0.9893, "kl_score": 0.9903,
            "internal_diversity": 0.8811,
        },
        "metadata": {
            "created": "2026-01-02", "architecture": architecture, "training_data": training_data,
            "licence": "CC-BY-SA-3.0",
        },
        "description": "Drug-like molecules of 8 to 50 heavy atoms, stereo included", "created": "2026-01-02",
        "architecture": architecture, "training_data": training_data, "licence": "CC-BY-SA-3.0",
        "metrics": { "constrained_temperature_1": {
            "n_strings": 10_000, "validity": 1.0, "uniqueness": 0.9998, "novelty": 0.9893, "kl_score": 0.9903,
            "internal_diversity": 0.8811,
            "properties": { "molecular_weight": {
                "mean": 373.2, "standard_deviation": 104.9, "p05": 217.3, "p25": 302.3, "p50": 363.9, "p75": 433.6,
                "p95": 559.7, "likeness": 0.98,
            } },
        }, "training_set": {
            "n_molecules": 844_803,
            "properties": { "rings": {
                "mean": 3.2, "standard_deviation": 1.2, "p05": 1.0, "p25": 2.0, "p50": 3.0, "p75": 4.0, "p95": 5.0,
                "histogram": { "start": 0.5, "width": 1.0, "counts": [63_000, 180_000, 290_000, 215_000, 96_803] },
            } },
        } },
    })
}

/// Example of a tree search in the shape for clients of this API family.
fn engine_tree_search() -> Option<Value> {
    let result = serde_json::from_value(tree_search()).ok()?;
    serde_json::to_value(engine_answer(result)).ok()
}

/// Wraps two items as a bulk query's answer: one for a molecule, and one for an invalid SMILES.
fn bulk_query_answer(item: Value, nothing: Value) -> Value {
    let unread = json!({ "smiles": "C1CC", "error": "ring bond 1 opened at byte 1 is never closed" });
    json!({
        "object": "list", "items": [item, with_fields(unread, nothing)], "total_elapsed": 0.016,
        "deadline_seconds": 120.0,
    })
}

fn expansions() -> Value {
    let set = json!({
        "smiles": ["CC(=O)O", "Nc1ccc(O)cc1"], "probability": 0.4127, "plausibility": 0.9962,
        "template_id": "23308cf32ba0e3b6eaf1b2a31a1e7f1f3f6c1ac1a6f1ac3c31b26d4f",
        "reaction_class": "amide coupling", "reaction_category": "acylation and related processes", "precedents": 1304,
        "in_stock": [true, true],
    });
    let item = json!({ "smiles": "CC(=O)Nc1ccc(O)cc1", "error": null, "precursors": [set] });
    bulk_query_answer(item, json!({ "precursors": [] }))
}

fn sold_block() -> Value {
    let offers = tree_search()["pricing_annotations"].take();
    json!({
        "smiles": "Nc1ccc(O)cc1", "error": null, "in_stock": true, "building_block_idx": 1, "price": 0.8,
        "lead_time_days": 3.0, "inchikey": "PLIKAWJENQZMHA-UHFFFAOYSA-N",
        "vendors": ["Example Chemicals (fictitious)"], "offers": [offers[0]],
    })
}

fn found_blocks() -> Value {
    let item = with_fields(sold_block(), json!({ "inchikey": null, "mw": 109.128, "similarity": 0.5769 }));
    json!({
        "object": "list", "items": [item], "more": false, "searched": 1.0, "total_elapsed": 0.004,
    })
}

fn building_blocks() -> Value {
    let nothing = json!({
        "in_stock": false, "building_block_idx": null, "price": null, "lead_time_days": null, "inchikey": null, "vendors": [],
        "offers": [],
    });
    bulk_query_answer(sold_block(), nothing)
}

fn synthesizability() -> Value {
    let item = json!({
        "smiles": "CC(=O)Nc1ccc(O)cc1", "error": null, "solved": true, "steps": 1, "price": 135.34,
        "plausibility": 0.9962, "seconds": 0.016,
    });
    let nothing = json!({
        "solved": false, "steps": null, "price": null, "plausibility": null, "seconds": 0.0,
    });
    bulk_query_answer(item, nothing)
}

fn analogues() -> Value {
    let mut route = tree_search()["route_hierarchy"]["1"]["b0f3c2a1d4e5b6978"][0][0].take();
    route["nodes"][0]["data"]["smiles"] = json!("CCC(=O)Nc1ccc(O)cc1");
    let item = json!({
        "smiles": "CCC(=O)O", "error": null, "in_stock": true, "target": "CCC(=O)Nc1ccc(O)cc1", "plausibility": 0.9953,
        "route": route,
    });
    let nothing = json!({ "in_stock": false, "target": null, "plausibility": null, "route": null });
    bulk_query_answer(item, nothing)
}

fn plan(batch_id: Option<&str>) -> Value {
    let parameters = TreeSearchRequest::new("CC(=O)Nc1ccc(O)cc1");
    let parameters = with_fields(json!(parameters), json!({ "engine": ENGINE }));
    json!({
        "id": PLAN_ID, "object": "plan", "created_at": CREATED_AT, "updated_at": CREATED_AT, "batch_id": batch_id,
        "status": "pending", "parameters": parameters, "name": "Paracetamol", "description": null, "result": null,
        "figures": null, "error": null,
    })
}

fn kept_route() -> Value {
    let mut found = tree_search();
    json!({
        "id": ROUTE_ID, "object": "route", "created_at": CREATED_AT, "updated_at": CREATED_AT, "name": "One step",
        "note": "DMAP may be left out.", "starred": true, "is_own": true,
        "parameters": TreeSearchRequest::new("CC(=O)Nc1ccc(O)cc1"),
        "figures": { "steps": 1, "price_usd": null, "lead_time_days": 3.0, "plausibility": 0.9962 },
        "route": found["route_hierarchy"]["1"]["b0f3c2a1d4e5b6978"][0][0].take(),
        "pricing_annotations": found["pricing_annotations"].take(),
    })
}

fn batch() -> Value {
    json!({
        "id": BATCH_ID, "object": "batch", "created_at": CREATED_AT, "updated_at": CREATED_AT, "name": "Library 7",
        "description": null, "plan_count": 1200, "plans_created": true,
    })
}

fn progress() -> Value {
    json!({ "progress": {
        "pending": 700, "processing": 2, "completed": 490, "failed": 8, "cancelled": 0, "seconds_left": 1404.0,
    } })
}

fn page(item: Value) -> Value {
    json!({ "object": "list", "items": [item], "has_next": false, "has_previous": false })
}

/// Returns `object` with `fields` added.
fn with_fields(mut object: Value, fields: Value) -> Value {
    if let (Value::Object(object), Value::Object(fields)) = (&mut object, fields) {
        object.extend(fields);
    }
    object
}

/// Example: paracetamol from 4-aminophenol in one step, from a fictitious vendor.
fn tree_search() -> Value {
    let (target, amine, acid) = ("CC(=O)Nc1ccc(O)cc1", "Nc1ccc(O)cc1", "CC(=O)O");
    let (target_id, amine_id, acid_id) = (
        "0e7a2c2e-5d0f-5a0b-9a51-5a7a3c1f0a01",
        "0e7a2c2e-5d0f-5a0b-9a51-5a7a3c1f0a02",
        "0e7a2c2e-5d0f-5a0b-9a51-5a7a3c1f0a03",
    );
    let node = |id: &str, smiles: &str, mw: f64, block: Option<i32>| {
        json!({ "id": id, "data": {
            "smiles": smiles, "mw": mw, "is_building_block": block.is_some(), "building_block_idx": block,
            "closest_building_block": if block.is_some() { 1.0 } else { 0.62 },
            "depth": i32::from(block.is_some()), "expanded": block.is_none(), "in_solution_path": true,
        }, "essential": true, "only_for": block.map(|_| target_id) })
    };
    let edge = |precursor: &str| {
        json!({
            "source": target_id, "target": precursor, "plausibility": 0.9962,
            "reaction_class": "amide coupling", "reaction_category": "acylation and related processes",
            "template": "23308cf32ba0e3b6eaf1b2a31a1e7f1f3f6c1ac1a6f1ac3c31b26d4f", "probability": 0.4127,
            "precedents": 1304, "precedent_similarity": 0.6471, "patents": ["US03932168"], "warnings": [],
            "conditions": {
                "reagents": { "EDC": 391, "triethylamine": 302 }, "catalysts": { "DMAP": 188 },
                "solvents": { "dichloromethane": 466, "DMF": 341 },
            },
        })
    };
    let graph = json!({
        "directed": true, "multigraph": false,
        "graph": {
            "rank": 1, "score": 0.2611, "cost_usd_per_mol": 135.34, "lead_time_days": 3.0, "convergence": 1.0,
        },
        "nodes": [
            node(target_id, target, 151.165, None),
            node(acid_id, acid, 60.052, Some(2)),
            node(amine_id, amine, 109.128, Some(1)),
        ],
        "edges": [
            edge(acid_id),
            edge(amine_id),
        ],
    });
    let offer = |id: i32, smiles: &str, mw: f64| {
        json!({
            "major_component_id": id, "full_canonical": smiles, "major_component": smiles,
            "minor_components": "", "mw": mw, "vendor_name": "Example Chemicals (fictitious)",
            "cs_id": format!("EX-{id}"), "cs_prefix": "EX", "cs_url": format!("https://example.org/EX-{id}"),
            "pack": 25.0, "uom": "g", "price_usd": 20.0, "normalised_usd": 0.8, "api_timestamp": CREATED_AT,
            "lead_time_days_to_US": 3.0, "lead_time_days_to_CA": 5.0, "lead_time_days_to_GB": 7.0,
            "lead_time_days_to_FR": 7.0, "lead_time_days_to_CH": 8.0, "lead_time_days_to_DE": 7.0,
            "lead_time_days_to_CN": null, "lead_time_days_to_AU": 12.0,
        })
    };
    json!({
        "search_smiles": target,
        "metadata": {
            "tree_search_elapsed": 0.021, "routes_extracted_elapsed": 0.001,
            "routes_validated_elapsed": 0.002, "bblock_annotations_elapsed": 0.004, "total_elapsed": 0.028,
            "total_graph_nodes": 87, "unvalidated_routes": 0, "validated_routes": 1, "total_bblocks": 2,
            "search": {
                "expanded_molecules": 4, "exhausted": false,
                "refused_steps": { "unsound": 2, "product_not_regained": 0, "competing_site": 0 },
                "stopped_by": [],
            },
        },
        "route_hierarchy": { "1": { "b0f3c2a1d4e5b6978": [[graph]] } },
        "pricing_annotations": [offer(1, amine, 109.128), offer(2, acid, 60.052)],
        "reagent_results": { "reaction_to_edges": {
            format!("{acid}.{amine}>>{target}"):
                [format!("{target_id}:{acid_id}"), format!("{target_id}:{amine_id}")],
        } },
    })
}

/// Example state: one search that runs, and one that crashed three workers.
fn operations_state() -> Value {
    let (account, worker) = ("ada@example.org", "search-01JD6XQ1V3M4C5T6Y7Z8A9B0CF");
    json!({
        "at": "2026-01-02T03:04:15Z",
        "queues": [
            { "queue": "sample", "waiting": 0, "busy": 0, "slots": 0, "oldest_wait_seconds": 0.0,
              "paused": { "since": "2026-01-02T03:00:00Z", "by": account } },
            { "queue": "search", "waiting": 0, "busy": 1, "slots": 2, "oldest_wait_seconds": 0.0, "paused": null },
        ],
        "workers": [{
            "name": worker, "queue": "search", "host": "lab-3", "started_at": "2026-01-01T00:00:00Z",
            "last_seen": "2026-01-02T03:04:14Z", "live": true, "slots": 2, "more_places": 1, "models": [],
            "holds": [JOB_ID],
        }],
        "jobs": [{
            "id": JOB_ID, "queue": "search", "account": account, "kind": "first_route", "model_id": null,
            "state": "running", "attempts": 1, "enqueued_at": CREATED_AT, "started_at": CREATED_AT,
            "deadline": "2026-01-02T03:05:05Z", "worker": worker,
        }],
        "jobs_total": 1,
        "failures": [{
            "id": "01JD6XQ1V3M4C5T6Y7Z8A9B0CD", "queue": "search", "account": account, "model_id": null, "attempts": 3,
            "failed_at": "2026-01-02T02:00:00Z", "problem": "abandoned",
            "error": "given up after 3 attempts: the database failed",
        }],
        "failures_total": 1,
        "reservoirs": [{ "model_id": MODEL_ID, "ready": 187_500, "target": 200_000 }],
        "catalogue": {
            "version": 3, "building_blocks": 17_184, "offers": 68_736, "imported_at": "2026-01-01T12:00:00Z",
        },
    })
}

#[cfg(test)]
mod tests {
    use contract::{
        ErrorBody, KeptRoute, Model, ModelList, OperationsState, Sample, SampleList, TreeSearchResult,
    };
    use serde::{Serialize, de::DeserializeOwned};

    use super::*;

    /// Asserts that the example deserialises as `T` and serialises back to itself.
    fn assert_is<T: Serialize + DeserializeOwned>(operation_id: &str) {
        let example = answer(operation_id).unwrap();

        let value: T = serde_json::from_value(example.clone()).unwrap();

        assert_eq!(serde_json::to_value(value).unwrap(), example);
    }

    #[test]
    fn every_example_is_of_the_type_that_it_stands_for() {
        assert_is::<SampleList>("list_samples");
        assert_is::<Sample>("create_sample");
        assert_is::<Sample>("retrieve_sample");
        assert_is::<ModelList>("list_models");
        assert_is::<Model>("retrieve_model");
        assert_is::<TreeSearchResult>("create_tree_search");
        assert_is::<KeptRoute>("create_route");
        assert_is::<OperationsState>("operations_state");
    }

    #[test]
    fn every_example_of_an_error_is_the_body_of_one() {
        for status in ["401", "403", "408", "409", "413", "415", "422", "429", "500", "503", "504"] {
            let example = error("create_sample", status, "samples").unwrap();

            let body: ErrorBody = serde_json::from_value(example).unwrap();

            assert_eq!(body.detail.len(), 1, "{status}");
        }
        assert_eq!(error("create_sample", "400", "samples"), None);
    }
}
