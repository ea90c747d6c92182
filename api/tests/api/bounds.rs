//! Limits on what an account may send, have waiting and store, and the cost of reading it.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Service, add_account, answer, complete_plan, join_one_organisation};

const PLANS: &str = "/synth-batches/v1/plans";
const BATCHES: &str = "/synth-batches/v1/batches";

/// Collects texts and lists without a bound in a schema, by their location.
fn unbounded(
    document: &Value,
    schema: &Value,
    location: &str,
    seen: &mut BTreeSet<String>,
    unbounded_fields: &mut Vec<String>,
) {
    if let Some(reference) = schema["$ref"].as_str() {
        if seen.insert(reference.to_owned()) {
            let schema = document.pointer(reference.trim_start_matches('#')).unwrap();
            unbounded(document, schema, reference.rsplit('/').next().unwrap(), seen, unbounded_fields);
        }
        return;
    }
    let is = |kind: &str| {
        schema["type"] == kind || schema["type"].as_array().is_some_and(|all| all.contains(&json!(kind)))
    };
    let is_named = ["enum", "const", "format"].iter().any(|word| schema.get(word).is_some());
    if is("string") && !is_named && schema.get("maxLength").is_none() {
        unbounded_fields.push(format!("{location}: a text"));
    }
    if is("array") && schema.get("maxItems").is_none() {
        unbounded_fields.push(format!("{location}: a list"));
    }
    for word in ["oneOf", "anyOf", "allOf", "prefixItems"] {
        for (at, part) in schema[word].as_array().into_iter().flatten().enumerate() {
            unbounded(document, part, &format!("{location}/{word}/{at}"), seen, unbounded_fields);
        }
    }
    for word in ["items", "additionalProperties"] {
        if let Some(part @ Value::Object(_)) = schema.get(word) {
            unbounded(document, part, &format!("{location}/{word}"), seen, unbounded_fields);
        }
    }
    for (name, part) in schema["properties"].as_object().into_iter().flatten() {
        unbounded(document, part, &format!("{location}/{name}"), seen, unbounded_fields);
    }
}

#[test]
fn every_text_and_list_of_a_request_has_a_bound_in_the_document() {
    let document = serde_json::to_value(api::document()).unwrap();
    let (mut seen, mut unbounded_fields) = (BTreeSet::new(), Vec::new());
    let mut checked = 0;

    for (path, item) in document["paths"].as_object().unwrap() {
        for operation in item.as_object().unwrap().values() {
            let location = operation["operationId"].as_str().unwrap_or(path);
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                // Headers are limited together, per connection.
                if parameter["in"] == "header" {
                    continue;
                }
                checked += 1;
                let location = format!("{location}?{}", parameter["name"]);
                unbounded(&document, &parameter["schema"], &location, &mut seen, &mut unbounded_fields);
            }
            for content in
                operation["requestBody"]["content"].as_object().into_iter().flat_map(|all| all.values())
            {
                checked += 1;
                unbounded(&document, &content["schema"], location, &mut seen, &mut unbounded_fields);
            }
        }
    }

    assert!(checked > 50 && seen.len() > 10, "{checked} schemas, {seen:?}");
    assert_eq!(unbounded_fields, Vec::<String>::new());
}

#[tokio::test]
async fn a_text_or_a_list_beyond_its_bound_is_refused_at_its_place() {
    let service = Service::start_without_workers(&[]).await;
    let unbounded_fields: Value =
        serde_json::from_slice(include_bytes!("../golden/treesearch_result.json")).unwrap();
    let mut route = unbounded_fields["route_hierarchy"]["2"]["b0123456789abcdef"][0][0].clone();
    route["nodes"][1]["id"] = json!("n".repeat(10_001));
    let kept = json!({ "parameters": { "search_smiles": "CC(=O)NC" }, "route": route });
    let search = |field: &str, value: Value| json!({ "search_smiles": "CCO", field: value });
    let cases = [
        ("/synth/v1/treesearch", search("vendors_never", json!(["x".repeat(256)])), "body.vendors_never.0"),
        (
            "/synth/v1/treesearch",
            search("templates_never", json!(["x".repeat(256)])),
            "body.templates_never.0",
        ),
        (
            "/synth/v1/treesearch",
            search("reaction_classes_only", json!(["x".repeat(256)])),
            "body.reaction_classes_only.0",
        ),
        ("/synth/v1/expansions", json!({ "smiles": ["C".repeat(10_001)] }), "body.smiles.0"),
        ("/generator/v1/samples", json!({ "size": 1, "model_id": "m".repeat(256) }), "body.model_id"),
        ("/synth/v1/routes", kept, "body.route.nodes.1.id"),
    ];
    for (path, body, location) in cases {
        let refused = service.post(path, &body.to_string()).await;

        let fault = [(location.to_owned(), "string_too_long".to_owned())];
        assert_eq!((refused.status, refused.faults()), (422, fault.into()), "{path}");
    }
}

#[tokio::test]
async fn lists_leave_the_lists_of_parameters_out() {
    let service = Service::start_without_workers(&[]).await;
    let vendors: Vec<_> = (0..100).map(|n| format!("vendor {n}")).collect();
    let parameters = json!({ "engine": "toy_engine", "vendors_never": vendors, "max_depth": 3 });
    let mut of_plan = parameters.clone();
    of_plan["search_smiles"] = json!("CCO");
    let plan = service.post(PLANS, &json!({ "parameters": of_plan }).to_string()).await.json();
    let batch =
        service.post(BATCHES, &json!({ "smiles": ["C"], "parameters": parameters }).to_string()).await.json();
    let (plan, batch) = (plan["id"].as_str().unwrap(), batch["id"].as_str().unwrap());

    for list in [PLANS.to_owned(), format!("{BATCHES}/{batch}/plans")] {
        let listed = service.get(&list).await.json()["items"][0]["parameters"].clone();

        assert_eq!((&listed["max_depth"], listed.get("vendors_never")), (&json!(3), None), "{list}");
    }
    let whole = service.get(&format!("{PLANS}/{plan}")).await.json();
    assert_eq!(whole["parameters"]["vendors_never"].as_array().unwrap().len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_at_the_same_moment_pass_no_cap_together() {
    let service = Service::start_without_workers(&[("WAITING_TARGETS", "5")]).await;
    let body = json!({ "parameters": { "search_smiles": "CCO", "engine": "toy_engine" } }).to_string();

    let answers = futures::future::join_all((0..20).map(|_| service.post(PLANS, &body))).await;

    let stored: i64 =
        sqlx::query_scalar("select count(*) from plans").fetch_one(&service.pool).await.unwrap();
    assert_eq!(stored, 5);
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 5);
    let refused = answers.iter().find(|answer| answer.status != 201).unwrap();
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(
        refused
            .text
            .contains("6 targets of this account's plans and batches would be waiting, and the limit is 5"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn asynchronous_samples_wait_within_the_cap_of_molecules() {
    let service = Service::start_without_workers(&[("WAITING_MOLECULES", "10")]).await;
    let create_sample = async |size: u32| {
        let request = service.request(Method::POST, "/generator/v1/samples").await;
        let body = json!({ "size": size, "model_id": "toy" }).to_string();
        answer(
            request.header("prefer", "respond-async").header("content-type", "application/json").body(body),
        )
        .await
    };

    let statuses =
        [create_sample(6).await.status, create_sample(5).await.status, create_sample(4).await.status];

    assert_eq!(statuses, [202, 409, 202]);
}

#[tokio::test]
async fn an_account_stores_so_many_megabytes_and_an_operator_gives_it_more() {
    let service = Service::start_without_workers(&[("STORED_MEGABYTES", "1")]).await;
    let body = json!({ "parameters": { "search_smiles": "CCO", "engine": "toy_engine" } }).to_string();
    let first = service.post(PLANS, &body).await.json();
    let stored = async || {
        sqlx::query_scalar::<_, i64>("select stored_bytes($1)")
            .bind(&service.account)
            .fetch_one(&service.pool)
            .await
            .unwrap()
    };
    assert!((300..2_000).contains(&stored().await));
    sqlx::query("update plans set status = 'completed', result = convert_to(repeat('x', 1000000), 'UTF8')")
        .execute(&service.pool)
        .await
        .unwrap();

    let full = service.post(PLANS, &body).await;
    sqlx::query(
        "insert into account_rations (account_id, ration, per_minute) values ($1, 'stored-megabytes', 2)",
    )
    .bind(&service.account)
    .execute(&service.pool)
    .await
    .unwrap();
    sqlx::query("select pg_notify('retort_identity', $1)")
        .bind(&service.account)
        .execute(&service.pool)
        .await
        .unwrap();
    let mut more = service.post(PLANS, &body).await;
    for _ in 0..100 {
        if more.status == 201 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        more = service.post(PLANS, &body).await;
    }
    let delete = format!("{PLANS}/{}", first["id"].as_str().unwrap());
    let gone = answer(service.request(Method::DELETE, &delete).await).await;

    assert_eq!(full.status, 409);
    assert!(full.text.contains("would store 1 MB of plans and kept routes, and 1 may be"), "{full:?}");
    assert_eq!((more.status, gone.status), (201, 200));
    assert!((300..4_000).contains(&stored().await));
}

#[tokio::test]
async fn the_progress_of_a_hundred_thousand_plans_is_read_in_some_blocks() {
    // Each statement stores thousands of plans.
    let service = Service::start_without_workers(&[("REQUEST_SECONDS", "120")]).await;
    sqlx::query(
        "insert into batches (id, account_id, parameters, engine, plan_count) values ('bat_1', $1, '{}', 'toy_engine', 100000)",
    )
    .bind(&service.account)
    .execute(&service.pool)
    .await
    .unwrap();
    for part in 0..20 {
        sqlx::query(
            "insert into plans (id, account_id, batch_id, place, search_smiles, engine, status, result)
            select 'pln_' || n, $1, 'bat_1', n, 'C', 'toy_engine', 'completed', convert_to(repeat('x', 2100), 'UTF8')
            from generate_series($2 * 5000, $2 * 5000 + 4999) as n",
        )
        .bind(&service.account)
        .bind(part)
        .execute(&service.pool)
        .await
        .unwrap();
    }
    let blocks = async |query: &'static str| {
        let plan: Value = sqlx::query_scalar(query).fetch_one(&service.pool).await.unwrap();
        let read = ["Shared Hit Blocks", "Shared Read Blocks", "Temp Read Blocks", "Temp Written Blocks"];
        read.iter().map(|kind| plan[0]["Plan"][kind].as_i64().unwrap()).sum::<i64>()
    };
    // The first call includes the planning of the function.
    blocks("explain (analyze, buffers, format json) select * from progress_of_batch('bat_1')").await;

    let progress =
        blocks("explain (analyze, buffers, format json) select * from progress_of_batch('bat_1')").await;
    let stored = service.get(&format!("{BATCHES}/bat_1")).await.json();
    let page = service.get(&format!("{BATCHES}/bat_1/plans?limit=100")).await;

    // A plan with its result occupies several blocks.
    assert!(progress < 2_000, "{progress} blocks");
    assert_eq!(stored["progress"]["completed"], 100_000);
    assert_eq!((page.status, page.json()["items"].as_array().unwrap().len()), (200, 100));
}

#[tokio::test]
async fn the_progress_of_a_batch_always_matches_its_plans() {
    let service = Service::start_without_workers(&[]).await;
    let body =
        json!({ "smiles": ["C", "CC", "C", "CCC", "CCCC", "CC"], "parameters": { "engine": "toy_engine" } });
    let batch = service.post(BATCHES, &body.to_string()).await.json()["id"].as_str().unwrap().to_owned();
    let plans: Vec<String> =
        sqlx::query_scalar("select id from plans order by place").fetch_all(&service.pool).await.unwrap();
    let agrees = async |action: &str| {
        let stored = service.get(&format!("{BATCHES}/{batch}")).await.json()["progress"].clone();
        let counted: Value = sqlx::query_scalar(
            "select jsonb_object_agg(standing, plans) from (
                select plan_standing(plan.status, made.status, made.job_id) as standing, count(*) as plans
                from plans as plan join plans as made on made.id = coalesce(plan.same_as, plan.id) group by standing
            ) as counted",
        )
        .fetch_one(&service.pool)
        .await
        .unwrap();
        for standing in ["pending", "processing", "completed", "failed", "cancelled"] {
            let counted = counted.get(standing).cloned().unwrap_or(json!(0));
            assert_eq!(stored[standing], counted, "{standing} after {action}: {stored}");
        }
    };
    let act = async |path: String| assert_eq!(service.post(&path, "").await.status, 200, "{path}");

    agrees("creation").await;
    // The second plan of the same target, cancelled alone.
    act(format!("{PLANS}/{}/cancel", plans[2])).await;
    agrees("cancelling one that has another's result").await;
    complete_plan(&mut service.pool.acquire().await.unwrap(), &plans[0]).await.unwrap();
    agrees("completing the other").await;
    sqlx::query("update plans set status = 'failed', problem = '{}' where id = $1")
        .bind(&plans[1])
        .execute(&service.pool)
        .await
        .unwrap();
    agrees("a failure that two have").await;
    act(format!("{BATCHES}/{batch}/cancel")).await;
    agrees("cancelling").await;
    act(format!("{BATCHES}/{batch}/resume")).await;
    agrees("resuming").await;
    sqlx::query("update plans set status = 'pending', problem = null where id = $1")
        .bind(&plans[1])
        .execute(&service.pool)
        .await
        .unwrap();
    agrees("a second attempt").await;
}

#[tokio::test]
async fn late_commits_are_listed_after_earlier_ones() {
    let service = Service::start_without_workers(&[]).await;
    let colleague = add_account(&service.pool, "colleague@example.org").await;
    join_one_organisation(&service.pool, &[&service.account, &colleague]).await;
    let mut late = service.pool.begin().await.unwrap();
    sqlx::query(
        "insert into plans (id, account_id, search_smiles, parameters, engine) values ('pln_00', $1, 'C', '{\"search_smiles\": \"C\"}', 'e')",
    )
    .bind(&colleague)
    .execute(&mut *late)
    .await
    .unwrap();
    let body = json!({ "parameters": { "search_smiles": "CCO", "engine": "toy_engine" } });
    let early = service.post(PLANS, &body.to_string()).await.json()["id"].as_str().unwrap().to_owned();
    let ids = |page: Value| {
        page["items"].as_array().unwrap().iter().map(|plan| plan["id"].clone()).collect::<Vec<_>>()
    };

    let before = ids(service.get(PLANS).await.json());
    late.commit().await.unwrap();
    let newer = ids(service.get(&format!("{PLANS}?ending_before={early}")).await.json());

    assert_eq!(before, [json!(early)]);
    assert_eq!(newer, [json!("pln_00")]);
}

#[tokio::test]
async fn a_row_of_a_later_release_is_shown_as_far_as_it_is_understood() {
    let service = Service::start_without_workers(&[]).await;
    let body = json!({ "parameters": { "search_smiles": "CCO", "engine": "toy_engine" } }).to_string();
    let ids = [service.post(PLANS, &body).await.json(), service.post(PLANS, &body).await.json()];
    sqlx::query("update plans set parameters = '{\"search_smiles\": \"CCO\", \"max_depth\": 4, \"solvents_never\": [\"DMF\"]}', engine = 'later' where id = $1")
        .bind(ids[0]["id"].as_str().unwrap())
        .execute(&service.pool)
        .await
        .unwrap();

    let listed = service.get(PLANS).await;
    let one = service.get(&format!("{PLANS}/{}", ids[0]["id"].as_str().unwrap())).await;

    assert_eq!((listed.status, one.status), (200, 200), "{listed:?}");
    assert_eq!(listed.json()["items"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&one.json()["parameters"]["max_depth"], &one.json()["parameters"]["engine"]),
        (&json!(4), &json!("later"))
    );
}
