//! Valid sample requests.

use std::{io::Read, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use contract::SampleId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Service, add_account, answer, sample_id};

const SAMPLES: &str = "/generator/v1/samples";

fn ids(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    let data = json["data"].as_array().unwrap().clone();
    data.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_created_sample_can_be_retrieved_and_listed() {
    let service = Service::start().await;

    let created = service.post(SAMPLES, r#"{"size": 3}"#).await;

    assert_eq!(created.status, 200, "{created:?}");
    let sample = created.json();
    assert_eq!(sample["object"], "sample");
    assert_eq!(sample["model_id"], "druglike_gru");
    assert_eq!(sample["smiles"], json!(["[1CH4]", "[2CH4]", "[3CH4]"]));
    assert!(sample["created_at"].as_str().unwrap().ends_with('Z'));
    let id = sample["id"].as_str().unwrap();
    assert!(id.parse::<SampleId>().is_ok());
    assert_eq!(created.header("vary"), "accept-encoding, accept");

    let retrieved = service.get(&format!("{SAMPLES}/{id}")).await;
    assert_eq!((retrieved.status, retrieved.json()), (200, sample.clone()));

    let list = service.get(SAMPLES).await.json();
    let item = json!({
        "id": id, "object": "sample", "model_id": "druglike_gru", "num_smiles": 3,
        "created_at": sample["created_at"],
    });
    assert_eq!(list, json!({ "data": [item], "has_more": false, "object": "list" }));
}

#[tokio::test]
async fn a_model_can_be_chosen_and_an_unknown_one_is_400_null() {
    let service = Service::start().await;

    let known = service.post(SAMPLES, r#"{"size": 1.0, "model_id": "druglike_gru"}"#).await;
    let null = service.post(SAMPLES, r#"{"size": 1, "model_id": null}"#).await;
    let unknown = service.post(SAMPLES, r#"{"size": 1, "model_id": "no_such"}"#).await;

    assert_eq!((known.status, known.json()["model_id"].clone()), (200, json!("druglike_gru")));
    assert_eq!(null.status, 200);
    assert_eq!((unknown.status, unknown.text.as_str()), (400, "null"));
}

#[tokio::test]
async fn pages_go_both_ways_newest_first() {
    let service = Service::start_without_workers(&[]).await;
    for n in 10..17 {
        service.insert_sample(&service.account, &sample_id(n)).await;
    }
    let expect = |numbers: &[u8]| numbers.iter().map(|n| sample_id(*n)).collect::<Vec<_>>();
    let cases: [(String, &[u8], bool); 9] = [
        (String::new(), &[16, 15, 14, 13, 12], true),
        ("?limit=2".into(), &[16, 15], true),
        ("?limit=7".into(), &[16, 15, 14, 13, 12, 11, 10], false),
        (format!("?limit=2&next-page={}", sample_id(15)), &[14, 13], true),
        (format!("?limit=3&next-page={}", sample_id(13)), &[12, 11, 10], false),
        (format!("?next-page={}", sample_id(10)), &[], false),
        (format!("?limit=2&prev-page={}", sample_id(12)), &[14, 13], true),
        (format!("?limit=4&prev-page={}", sample_id(12)), &[16, 15, 14, 13], false),
        (format!("?prev-page={}", sample_id(16)), &[], false),
    ];
    for (query, numbers, has_more) in cases {
        let page = service.get(&format!("{SAMPLES}{query}")).await;

        assert_eq!(ids(&page), expect(numbers), "{query}");
        assert_eq!(page.json()["has_more"], json!(has_more), "{query}");
    }
}

#[tokio::test]
async fn accounts_do_not_see_each_other() {
    let service = Service::start_without_workers(&[]).await;
    let other = add_account(&service.pool, "other@example.org").await;
    service.insert_sample(&service.account, &sample_id(10)).await;
    service.insert_sample(&other, &sample_id(11)).await;
    let theirs = sample_id(11);

    let list = service.get(SAMPLES).await;
    let retrieved = service.get(&format!("{SAMPLES}/{theirs}")).await;
    let never = service.get(&format!("{SAMPLES}/{}", sample_id(12))).await;
    let no_id = service.get(&format!("{SAMPLES}/anything")).await;
    let next = service.get(&format!("{SAMPLES}?next-page={theirs}")).await;
    let prev = service.get(&format!("{SAMPLES}?prev-page={theirs}")).await;
    let own = sample_id(10);
    let both = service.get(&format!("{SAMPLES}?next-page={own}&prev-page={own}")).await;

    assert_eq!(ids(&list), [sample_id(10)]);
    for answer in [retrieved, never, no_id] {
        assert_eq!((answer.status, answer.text.as_str()), (404, "null"));
    }
    for answer in [next, prev, both] {
        assert_eq!((answer.status, answer.text.as_str()), (400, "null"));
    }
}

#[tokio::test]
async fn gzip_is_base64_text_as_the_contract_says() {
    let service = Service::start().await;
    let create = service.request(Method::POST, SAMPLES).await.header("accept-encoding", "br, gzip;q=0.5");

    let created = answer(create.header("content-type", "application/json").body(r#"{"size": 2}"#)).await;

    assert_eq!(created.status, 200);
    assert_eq!(created.header("content-type"), "text/plain; charset=us-ascii");
    assert_eq!(created.header("content-transfer-encoding"), "base64");
    assert_eq!(created.header("content-encoding"), "");
    assert_eq!(created.header("vary"), "accept-encoding, accept");
    let sample = unzip(&STANDARD.decode(&created.text).unwrap());
    assert_eq!(sample["smiles"], json!(["[1CH4]", "[2CH4]"]));

    let path = format!("{SAMPLES}/{}", sample["id"].as_str().unwrap());
    let retrieve = service.request(Method::GET, &path).await.header("accept-encoding", "gzip");
    let retrieved = answer(retrieve).await;
    assert_eq!(unzip(&STANDARD.decode(&retrieved.text).unwrap()), sample);
}

#[tokio::test]
async fn a_request_for_json_gets_json_in_any_compression() {
    let service = Service::start().await;
    let create = service.request(Method::POST, SAMPLES).await.header("content-type", "application/json");
    let create = create.header("accept-encoding", "gzip, deflate").header("accept", "application/json");

    let created = create.body(r#"{"size": 2}"#).send().await.unwrap();

    let headers = created.headers().clone();
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(headers["content-encoding"], "gzip");
    assert_eq!(headers["vary"], "accept-encoding, accept");
    let sample = unzip(&created.bytes().await.unwrap());
    assert_eq!(sample["smiles"], json!(["[1CH4]", "[2CH4]"]));

    let path = format!("{SAMPLES}/{}", sample["id"].as_str().unwrap());
    let plain = service.request(Method::GET, &path).await.header("accept", "application/json, */*;q=0.5");
    assert_eq!(answer(plain).await.json(), sample);
}

#[tokio::test]
async fn without_a_name_the_first_default_model_that_lives_serves() {
    let cases = [
        ("druglike_gru,stingy_model", 200, json!("druglike_gru")),
        // The sampler takes the job, and returns fewer molecules than requested.
        ("stingy_model,druglike_gru", 500, json!(null)),
        ("absent_model,druglike_gru", 200, json!("druglike_gru")),
        ("absent_model", 503, json!(null)),
    ];
    for (models, status, model) in cases {
        let service = Service::start_with(&[("DEFAULT_MODEL", models)]).await;

        let created = service.post(SAMPLES, r#"{"size": 1}"#).await;

        assert_eq!((created.status, &created.json()["model_id"]), (status, &model), "{models}: {created:?}");
        if status == 503 {
            assert!(created.text.contains("No running sampler has a default model"), "{created:?}");
        }
    }
}

#[tokio::test]
async fn gzip_is_a_content_encoding_where_the_operator_says_so() {
    let service = Service::start_with(&[("GZIP_BODY", "standard")]).await;
    service.insert_sample(&service.account, &sample_id(10)).await;
    let path = format!("{SAMPLES}/{}", sample_id(10));

    let zipped = service.request(Method::GET, &path).await.header("accept-encoding", "gzip");
    let zipped = zipped.send().await.unwrap();
    assert_eq!(zipped.headers()["content-encoding"], "gzip");
    assert_eq!(zipped.headers()["vary"], "accept-encoding, accept");
    assert_eq!(unzip(&zipped.bytes().await.unwrap())["id"], json!(sample_id(10)));

    let plain = service.request(Method::GET, &path).await.header("accept-encoding", "gzip;q=0");
    assert_eq!(answer(plain).await.json()["id"], json!(sample_id(10)));
}

fn unzip(bytes: &[u8]) -> Value {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_500_with_its_faults() {
    let service = Service::start().await;

    let short = service.post(SAMPLES, r#"{"size": 3, "model_id": "stingy_model"}"#).await;
    let poor = service.post(SAMPLES, r#"{"size": 3, "model_id": "poor_model"}"#).await;

    assert_eq!(short.status, 500);
    assert_eq!(short.faults(), [("response.smiles".to_owned(), "wrong_length".to_owned())]);
    assert_eq!(poor.status, 500);
    assert_eq!(poor.faults(), [("response".to_owned(), "size_unreachable".to_owned())]);
}

#[tokio::test]
async fn a_late_sample_is_504_with_the_job_and_can_be_retrieved_later() {
    let service = Service::start_with(&[("SAMPLE_DEADLINE_SECONDS", "1")]).await;

    let late = service.post(SAMPLES, r#"{"size": 3, "model_id": "slow_model"}"#).await;

    assert_eq!(late.status, 504, "{late:?}");
    let (job,): (String,) = sqlx::query_as("select id from jobs").fetch_one(&service.pool).await.unwrap();
    let message = late.json()["detail"][0]["msg"].as_str().unwrap().to_owned();
    assert!(message.contains(&job), "{message}");
    let sample = message.rsplit(' ').next().unwrap().to_owned();
    for _ in 0..100 {
        if service.get(&format!("{SAMPLES}/{sample}")).await.status == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{sample} was not stored");
}

#[tokio::test]
async fn a_caller_that_hangs_up_cancels_its_job() {
    let service = Service::start().await;
    let request = service.request(Method::POST, SAMPLES).await.timeout(Duration::from_millis(700));
    let body = r#"{"size": 3, "model_id": "slow_model"}"#;

    request.header("content-type", "application/json").body(body).send().await.unwrap_err();

    for _ in 0..100 {
        let (cancelled,): (bool,) =
            sqlx::query_as("select exists (select from jobs where cancelled_at is not null)")
                .fetch_one(&service.pool)
                .await
                .unwrap();
        if cancelled {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the job was not cancelled");
}

#[tokio::test]
async fn without_a_worker_a_sample_is_503_with_retry_after() {
    let service = Service::start_without_workers(&[]).await;

    let answer = service.post(SAMPLES, r#"{"size": 3, "model_id": "druglike_gru"}"#).await;

    assert_eq!(answer.status, 503);
    assert!(answer.header("retry-after").parse::<u32>().unwrap() >= 1);
    assert_eq!(answer.faults(), [(String::new(), "unavailable".to_owned())]);
}

#[tokio::test]
async fn a_spent_rate_limit_is_429_with_headers() {
    let service = Service::start_with(&[("RATE_SAMPLES_READ_PER_MINUTE", "2")]).await;

    let first = service.get(SAMPLES).await;
    let second = service.get(&format!("{SAMPLES}/anything")).await;
    let third = service.get(SAMPLES).await;
    let other_operation = service.post(SAMPLES, r#"{"size": 1}"#).await;
    let account = add_account(&service.pool, "other@example.org").await;
    let other_account = answer(service.request_as(&account, Method::GET, SAMPLES).await).await;

    assert_eq!((first.status, second.status, third.status), (200, 404, 429));
    assert_eq!(first.header("ratelimit-policy"), "\"reads\";q=2;w=60");
    assert_eq!(first.header("ratelimit"), "\"reads\";r=1;t=30");
    assert_eq!(second.header("ratelimit"), "\"reads\";r=0;t=60");
    assert_eq!(third.header("ratelimit"), "\"reads\";r=0;t=30");
    assert_eq!(third.header("retry-after"), "30");
    assert_eq!(third.faults(), [(String::new(), "rate_limited".to_owned())]);
    assert_eq!((other_operation.status, other_account.status), (200, 200));
}
