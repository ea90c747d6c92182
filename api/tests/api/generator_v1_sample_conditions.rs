//! Conditions of samples and of sample batches: every fault at its place, references to other samples, and what
//! reaches a worker.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Service, add_account, answer, sample_id};

const SAMPLES: &str = "/generator/v1/samples";
const BATCHES: &str = "/generator/v1/sample-batches";

/// Posts a request for a sample of one molecule with these further members.
async fn post(service: &Service, members: &Value) -> Answer {
    post_to(SAMPLES, service, members).await
}

/// Posts a request for one molecule with these further members, or with another size.
async fn post_to(path: &str, service: &Service, members: &Value) -> Answer {
    let mut body = json!({ "size": 1 });
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    service.post(path, &body.to_string()).await
}

#[tokio::test]
async fn every_fault_of_a_condition_is_named_at_its_place() {
    let service = Service::start_without_workers(&[("RATE_SAMPLES_CREATE_PER_MINUTE", "0")]).await;
    let many = |count: usize, text: &'static str| vec![text; count];
    let cases: [(Value, &[(&str, &str)]); 51] = [
        (json!({ "scaffold": "c1ccccc1" }), &[("body.scaffold", "attachment_points")]),
        (json!({ "scaffold": "[*:1]c1cccc" }), &[("body.scaffold", "smiles_invalid")]),
        (json!({ "scaffold": ["C"] }), &[("body.scaffold", "string_type")]),
        (json!({ "scaffold": "" }), &[("body.scaffold", "string_too_short")]),
        (json!({ "scaffold": "C".repeat(1_001) }), &[("body.scaffold", "string_too_long")]),
        (json!({ "fragments": ["[*]C"] }), &[("body.fragments", "too_short")]),
        (json!({ "fragments": ["[*]C", "CC"] }), &[("body.fragments.1", "attachment_points")]),
        (json!({ "fragments": ["[*]C", "[*]C[*]"] }), &[("body.fragments.1", "attachment_points")]),
        (json!({ "scaffold": "[*]c1ccccc1.C" }), &[("body.scaffold", "smiles_invalid")]),
        (json!({ "fragments": many(7, "[*]C") }), &[("body.fragments", "too_long")]),
        (
            json!({ "scaffold": "[*:1]C", "fragments": ["[*]C", "[*]N"] }),
            &[("body.fragments", "contradictory")],
        ),
        (
            json!({ "substructures_required": ["[#6]", "[#6"] }),
            &[("body.substructures_required.1", "smarts_invalid")],
        ),
        (json!({ "substructures_required": "C" }), &[("body.substructures_required", "list_type")]),
        (json!({ "substructures_never": many(21, "C") }), &[("body.substructures_never", "too_long")]),
        (
            json!({ "substructures_never": ["C".repeat(1_001)] }),
            &[("body.substructures_never.0", "string_too_long")],
        ),
        (
            json!({ "substructures_required": ["[#7]", "[#8]"], "substructures_never": ["[#8]"] }),
            &[("body.substructures_required.1", "contradictory")],
        ),
        (json!({ "similar_to": ["CCO"] }), &[("body.similar_to", "missing")]),
        (
            json!({ "similar_to": ["C1CC"], "similarity_gte": 0.4 }),
            &[("body.similar_to.0", "smiles_invalid")],
        ),
        (json!({ "similar_to": many(21, "C"), "similarity_gte": 0.4 }), &[("body.similar_to", "too_long")]),
        (json!({ "similarity_gte": 0.4 }), &[("body.similarity_gte", "missing")]),
        (
            json!({ "similarity_gte": 0.4, "similarity_lt": 0.9 }),
            &[("body.similarity_gte", "missing"), ("body.similarity_lt", "missing")],
        ),
        (
            json!({ "similar_to": ["C"], "similarity_gte": 1.1 }),
            &[("body.similarity_gte", "less_than_equal")],
        ),
        (
            json!({ "similar_to": ["C"], "similarity_gte": 0.5, "similarity_lt": 0.5 }),
            &[("body.similarity_gte", "contradictory")],
        ),
        (json!({ "properties": [] }), &[("body.properties", "dict_type")]),
        (json!({ "properties": { "weight": { "gte": 1 } } }), &[("body.properties.weight", "enum")]),
        (json!({ "properties": { "mw": 300 } }), &[("body.properties.mw", "dict_type")]),
        (json!({ "properties": { "mw": {} } }), &[("body.properties.mw", "missing")]),
        (json!({ "properties": { "mw": { "gte": "300" } } }), &[("body.properties.mw.gte", "float_type")]),
        (
            json!({ "properties": { "mw": { "gt": 300, "lte": 1 } } }),
            &[("body.properties.mw.gt", "extra_forbidden")],
        ),
        (
            json!({ "properties": { "mw": { "gte": 2, "lte": 1 } } }),
            &[("body.properties.mw.gte", "contradictory")],
        ),
        (json!({ "alerts": "pains" }), &[("body.alerts", "list_type")]),
        (json!({ "alerts": ["pains", "PAINS"] }), &[("body.alerts.1", "enum")]),
        (json!({ "temperature": 0.05 }), &[("body.temperature", "greater_than_equal")]),
        (json!({ "temperature": 2.5 }), &[("body.temperature", "less_than_equal")]),
        (json!({ "temperature": "hot" }), &[("body.temperature", "float_type")]),
        (json!({ "top_p": 0 }), &[("body.top_p", "greater_than")]),
        (json!({ "top_p": 1.5 }), &[("body.top_p", "less_than_equal")]),
        (json!({ "seed": -1 }), &[("body.seed", "greater_than_equal")]),
        (json!({ "seed": 9_007_199_254_740_992_u64 }), &[("body.seed", "less_than_equal")]),
        (json!({ "seed": 1.5 }), &[("body.seed", "int_from_float")]),
        (json!({ "seed": "1" }), &[("body.seed", "int_type")]),
        (json!({ "exclude": "smp_1" }), &[("body.exclude", "list_type")]),
        (json!({ "exclude": ["smp_1", "a-b"] }), &[("body.exclude.1", "string_pattern_mismatch")]),
        (json!({ "exclude": many(101, "smp_1") }), &[("body.exclude", "too_long")]),
        (json!({ "details": 1 }), &[("body.details", "bool_type")]),
        (json!({ "synthesizable": true }), &[("body.synthesizable", "dict_type")]),
        (json!({ "synthesizable": { "routes": true } }), &[("body.synthesizable.routes", "extra_forbidden")]),
        (
            json!({
                "synthesizable": {
                    "max_steps": 0, "max_usd_per_mol": 0, "ships_to": "XX", "max_lead_time_days": -1,
                    "max_seconds_each": 2,
                }
            }),
            &[
                ("body.synthesizable.max_steps", "greater_than_equal"),
                ("body.synthesizable.max_usd_per_mol", "greater_than"),
                ("body.synthesizable.ships_to", "enum"),
                ("body.synthesizable.max_lead_time_days", "greater_than_equal"),
                ("body.synthesizable.max_seconds_each", "less_than_equal"),
            ],
        ),
        (
            json!({ "synthesizable": { "max_steps": 51, "max_seconds_each": null } }),
            &[
                ("body.synthesizable.max_steps", "less_than_equal"),
                ("body.synthesizable.max_seconds_each", "float_type"),
            ],
        ),
        (json!({ "routes": true }), &[("body.routes", "extra_forbidden")]),
        (
            json!({
                "scaffold": "C", "substructures_never": ["C("], "properties": { "x": {}, "mw": { "lte": [] } },
                "seed": true, "exclude": [1], "more": 1,
            }),
            &[
                ("body.scaffold", "attachment_points"),
                ("body.substructures_never.0", "smarts_invalid"),
                ("body.properties.mw.lte", "float_type"),
                ("body.properties.x", "enum"),
                ("body.seed", "int_type"),
                ("body.exclude.0", "string_type"),
                ("body.more", "extra_forbidden"),
            ],
        ),
    ];
    for (members, faults) in cases {
        for path in [SAMPLES, BATCHES] {
            let answer = post_to(path, &service, &members).await;

            let expected: Vec<_> =
                faults.iter().map(|(loc, kind)| ((*loc).to_owned(), (*kind).to_owned())).collect();
            assert_eq!((answer.status, answer.faults()), (422, expected), "{path}: {members}");
        }
    }
}

#[tokio::test]
async fn a_fault_says_where_a_text_goes_wrong_and_which_names_there_are() {
    let service = Service::start_without_workers(&[]).await;

    let answer = post(
        &service,
        &json!({
            "substructures_required": ["C", "C(C"], "similar_to": ["CX"], "similarity_gte": 0.5,
            "properties": { "mass": { "gte": 1 } }, "alerts": ["none"],
        }),
    )
    .await;

    let detail = answer.json()["detail"].clone();
    let msg = |at: usize| detail[at]["msg"].as_str().unwrap().to_owned();
    assert_eq!(detail[0]["loc"], json!(["body", "substructures_required", 1]));
    assert!(msg(0).starts_with("Input should be a valid SMARTS: "), "{}", msg(0));
    assert_eq!(detail[1]["loc"], json!(["body", "similar_to", 0]));
    assert_eq!(msg(1), "Input should be a valid SMILES: unexpected `X` at byte 1");
    assert_eq!(detail[2]["loc"], json!(["body", "properties", "mass"]));
    assert!(msg(2).starts_with("Input should be '") && msg(2).contains("'mw'"), "{}", msg(2));
    assert!(msg(3).contains("'pains'") && msg(3).contains("'brenk'"), "{}", msg(3));
}

#[tokio::test]
async fn makeable_molecules_cost_search_seconds_if_the_sample_is_made() {
    let service = Service::start_without_workers(&[("RATE_SEARCH_SECONDS_PER_MINUTE", "2")]).await;
    let makeable = json!({ "synthesizable": { "max_seconds_each": 0.5 } });
    for _ in 0..3 {
        assert_eq!(post(&service, &makeable).await.status, 503);
    }

    let service = Service::start_with(&[("RATE_SEARCH_SECONDS_PER_MINUTE", "2")]).await;
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(post(&service, &makeable).await.status);
    }

    assert_eq!(statuses, [200, 200, 429]);
    assert_eq!(post(&service, &json!({})).await.status, 200);
}

#[tokio::test]
async fn conditions_that_say_nothing_change_nothing() {
    let service = Service::start().await;
    let nothing = json!({
        "scaffold": null, "fragments": [], "substructures_required": null, "substructures_never": [],
        "similar_to": [], "similarity_gte": null, "similarity_lt": null, "properties": {}, "alerts": [],
        "temperature": null, "top_p": null, "seed": null, "exclude": [], "details": false,
    });

    let plain = post(&service, &json!({})).await;
    let same = post(&service, &nothing).await;

    assert_eq!((plain.status, same.status), (200, 200), "{same:?}");
    let names = |answer: &Answer| answer.json().as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        names(&plain),
        ["batch_id", "created_at", "error", "id", "model_id", "object", "smiles", "status"]
    );
    assert_eq!(names(&same), names(&plain));
}

/// Returns the stored jobs of the queue that have failed or are not done. The others are gone.
async fn jobs(service: &Service, queue: &str) -> Vec<Value> {
    sqlx::query_scalar("select convert_from(job, 'UTF8')::jsonb from apalis.jobs where job_type = $1")
        .bind(queue)
        .fetch_all(&service.pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_sample_can_be_excluded_by_those_who_see_it_alone() {
    let service = Service::start().await;
    let other = add_account(&service.pool, "other@example.org").await;
    service.insert_sample(&service.account, &sample_id(10)).await;
    service.insert_sample(&other, &sample_id(11)).await;
    let pending = service.request(Method::POST, SAMPLES).await.header("prefer", "respond-async");
    let pending = pending.header("content-type", "application/json");
    let pending = answer(pending.body(r#"{"size": 1, "model_id": "slow_model"}"#)).await;
    let batch = service.post("/generator/v1/sample-batches", r#"{"size": 3}"#).await.json()["id"].clone();
    let exclude = async |ids: &[Value]| {
        let answer = post(&service, &json!({ "exclude": ids })).await;
        (answer.status, answer.text)
    };

    assert_eq!(exclude(&[json!(sample_id(10)), batch.clone()]).await.0, 200);
    assert_eq!(exclude(&[json!(sample_id(10)), json!(sample_id(10))]).await.0, 200);
    for unknown in
        [json!(sample_id(11)), json!(sample_id(12)), json!("nothing"), pending.json()["id"].clone()]
    {
        assert_eq!(exclude(&[batch.clone(), unknown.clone()]).await, (400, "null".to_owned()), "{unknown}");
    }
}

#[tokio::test]
async fn too_many_excluded_molecules_are_refused() {
    let service = Service::start_without_workers(&[]).await;
    let mut ids = Vec::new();
    for n in 0..11 {
        let id = format!("sbt_{n}");
        sqlx::query(
            "insert into sample_batches (id, account_id, size, chunk_count) values ($1, $2, 100000, 200)",
        )
        .bind(&id)
        .bind(&service.account)
        .execute(&service.pool)
        .await
        .unwrap();
        ids.push(id);
    }

    let refused = post(&service, &json!({ "exclude": ids })).await;
    let taken = post(&service, &json!({ "exclude": ids[..10] })).await;
    let refused_batch = post_to(BATCHES, &service, &json!({ "exclude": ids })).await;
    let taken_batch = post_to(BATCHES, &service, &json!({ "exclude": ids[..10] })).await;
    let unknown_batch = post_to(BATCHES, &service, &json!({ "exclude": ["sbt_none"] })).await;

    assert_eq!((refused.status, refused.faults()), (422, vec![("body.exclude".into(), "too_long".into())]));
    assert_eq!((refused_batch.status, refused_batch.faults()), (422, refused.faults()));
    // Nobody is there to draw.
    assert_eq!((taken.status, taken_batch.status), (503, 200));
    assert_eq!((unknown_batch.status, unknown_batch.text.as_str()), (400, "null"));
}

#[tokio::test]
async fn a_stored_job_has_the_conditions_as_they_were_given_and_nothing_new_without_any() {
    let service = Service::start().await;
    let conditions = json!({
        "substructures_required": ["[#6]"], "properties": { "mw": { "gte": 10.0 } }, "alerts": ["pains"], "seed": 5,
    });
    let mut asked = conditions.clone();
    // With this model the jobs fail, and failed jobs are kept.
    asked["model_id"] = json!("poor_model");
    let plain = asked.clone();
    asked["details"] = json!(true);
    let plain = post(&service, &json!({ "model_id": plain["model_id"] })).await;
    assert_eq!(plain.status, 500, "{plain:?}");
    let shape: Vec<_> = jobs(&service, "sample").await[0].as_object().unwrap().keys().cloned().collect();
    assert_eq!(shape, ["account_id", "deadline", "model_id", "sample_id", "seed", "size", "version"]);

    let failed = post(&service, &asked).await;
    let mut body = asked.clone();
    body["size"] = json!(2);
    let later = service.request(Method::POST, SAMPLES).await.header("prefer", "respond-async");
    let later = answer(later.header("content-type", "application/json").body(body.to_string())).await;

    assert_eq!((failed.status, later.status), (500, 202), "{failed:?}");
    let sample = jobs(&service, "sample").await.into_iter().find(|job| job.get("details").is_some()).unwrap();
    assert_eq!((&sample["conditions"], &sample["seed"]), (&conditions, &json!(5)));
    let order = jobs(&service, "order").await.remove(0);
    assert_eq!((&order["conditions"], &order["details"]), (&conditions, &json!(true)));
    let seed: i64 =
        sqlx::query_scalar("select seed from sample_orders").fetch_one(&service.pool).await.unwrap();
    assert_eq!(seed, 5);
}

/// Returns the rows of the sample batches, the oldest first, without what differs each time.
async fn batch_rows(service: &Service) -> Vec<Value> {
    sqlx::query_scalar(
        "select jsonb_build_object(
            'conditions', conditions, 'details', details, 'is_begun', is_begun, 'size', size
        ) from sample_batches order by number",
    )
    .fetch_all(&service.pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_batch_is_stored_with_its_conditions_and_has_nothing_new_without_any() {
    let service = Service::start_without_workers(&[]).await;
    let conditions = json!({ "properties": { "mw": { "lte": 300.0 } }, "exclude": [], "scaffold": null });
    let mut asked = conditions.clone();
    asked["size"] = json!(600);

    let plain = post_to(BATCHES, &service, &json!({ "size": 600, "alerts": [], "details": false })).await;
    let made = post_to(BATCHES, &service, &asked).await;
    let detailed = post_to(BATCHES, &service, &json!({ "details": true })).await;
    let seeded = post_to(BATCHES, &service, &json!({ "seed": 5 })).await;

    let names = |answer: &Answer| answer.json().as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for answer in [&plain, &made, &detailed, &seeded] {
        assert_eq!((answer.status, names(answer)), (200, names(&plain)), "{answer:?}");
    }
    let row = |conditions: Value, details: bool, is_begun: Value, size: u32| {
        json!({
            "conditions": conditions, "details": details, "is_begun": is_begun, "size": size,
        })
    };
    // To samplers of the previous release, a batch with conditions is begun.
    let rows = [
        row(Value::Null, false, json!(false), 600),
        row(json!({ "properties": { "mw": { "lte": 300.0 } } }), false, Value::Null, 600),
        row(json!({}), true, Value::Null, 1),
        row(json!({ "seed": 5 }), false, Value::Null, 1),
    ];
    assert_eq!(batch_rows(&service).await, rows);
}

#[tokio::test]
async fn batches_with_the_same_seed_have_chunks_with_the_same_seeds() {
    let service = Service::start_without_workers(&[]).await;
    for seed in [5, 5, 6] {
        assert_eq!(post_to(BATCHES, &service, &json!({ "size": 1_100, "seed": seed })).await.status, 200);
    }

    let seeds: Vec<Vec<i64>> = sqlx::query_scalar(
        "select array_agg(seed order by place) from sample_orders join sample_batches on batch_id = sample_batches.id
        group by number order by number",
    )
    .fetch_all(&service.pool)
    .await
    .unwrap();

    assert_eq!((seeds[0].len(), &seeds[0]), (3, &seeds[1]));
    assert!(!seeds[2].iter().any(|seed| seeds[0].contains(seed)), "{seeds:?}");
}

#[tokio::test]
async fn makeable_molecules_of_a_batch_cost_search_seconds_if_it_is_stored() {
    let settings = [("RATE_SEARCH_SECONDS_PER_MINUTE", "2"), ("WAITING_MOLECULES", "2")];
    let service = Service::start_without_workers(&settings).await;
    let mut statuses = Vec::new();
    for size in [3, 3, 3, 1, 1, 1] {
        let asked = json!({ "size": size, "synthesizable": { "max_seconds_each": 0.3 } });
        statuses.push(post_to(BATCHES, &service, &asked).await.status);
    }

    assert_eq!(statuses, [409, 409, 409, 200, 200, 429]);
    assert_eq!(batch_rows(&service).await.len(), 2);
}
