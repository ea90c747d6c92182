//! Invalid sample requests: every fault, in one answer, in Pydantic's words.

use reqwest::Method;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{Answer, Service, answer, claims};

const SAMPLES: &str = "/generator/v1/samples";

#[tokio::test]
async fn every_fault_of_a_body_is_named_at_its_place() {
    let service = Service::start_without_workers(&[("RATE_SAMPLES_CREATE_PER_MINUTE", "0")]).await;
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("", &[("body", "missing")]),
        ("null", &[("body", "missing")]),
        ("[]", &[("body", "model_attributes_type")]),
        ("5", &[("body", "model_attributes_type")]),
        ("size=5", &[("body.0", "json_invalid")]),
        (r#"{"size": }"#, &[("body.9", "json_invalid")]),
        (r#"{"size": NaN}"#, &[("body.9", "json_invalid")]),
        (r#"{"size": 5, "size": 6}"#, &[("body.20", "json_invalid")]),
        ("{}", &[("body.size", "missing")]),
        (r#"{"size": 0}"#, &[("body.size", "greater_than_equal")]),
        (r#"{"size": -1}"#, &[("body.size", "greater_than_equal")]),
        (r#"{"size": 10001}"#, &[("body.size", "less_than_equal")]),
        (r#"{"size": 1e400}"#, &[("body.size", "finite_number")]),
        (r#"{"size": 99999999999999999999999}"#, &[("body.size", "less_than_equal")]),
        (r#"{"size": 1.5}"#, &[("body.size", "int_from_float")]),
        (r#"{"size": "5"}"#, &[("body.size", "int_type")]),
        (r#"{"size": true}"#, &[("body.size", "int_type")]),
        (r#"{"size": null}"#, &[("body.size", "int_type")]),
        (r#"{"size": [5]}"#, &[("body.size", "int_type")]),
        (r#"{"size": 5, "model_id": 5}"#, &[("body.model_id", "string_type")]),
        (r#"{"size": 5, "model_id": ""}"#, &[("body.model_id", "string_pattern_mismatch")]),
        (r#"{"size": 5, "model_id": "a b"}"#, &[("body.model_id", "string_pattern_mismatch")]),
        (r#"{"size": 5, "model_id": "a\n"}"#, &[("body.model_id", "string_pattern_mismatch")]),
        (
            r#"{"model_id": "a-b", "molecules": 1, "Size": 5}"#,
            &[
                ("body.size", "missing"),
                ("body.model_id", "string_pattern_mismatch"),
                ("body.molecules", "extra_forbidden"),
                ("body.Size", "extra_forbidden"),
            ],
        ),
    ];
    for (body, faults) in cases {
        let answer = service.post(SAMPLES, body).await;

        let expected: Vec<_> =
            faults.iter().map(|(loc, kind)| ((*loc).to_owned(), (*kind).to_owned())).collect();
        assert_eq!((answer.status, answer.faults()), (422, expected), "{body}");
    }
}

#[tokio::test]
async fn faults_of_body_and_query_come_together_and_read_as_pydantic_writes_them() {
    let service = Service::start_without_workers(&[]).await;

    let answer = service.post(&format!("{SAMPLES}?dry-run=1"), r#"{"size": 10001, "model_id": 7}"#).await;

    assert_eq!(answer.status, 422);
    assert_eq!(
        answer.json(),
        json!({ "detail": [
            { "loc": ["query", "dry-run"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden" },
            { "loc": ["body", "size"], "msg": "Input should be less than or equal to 10000",
              "type": "less_than_equal" },
            { "loc": ["body", "model_id"], "msg": "Input should be a valid string", "type": "string_type" },
        ] })
    );
}

#[tokio::test]
async fn every_fault_of_a_query_and_a_path_is_named_at_its_place() {
    let service = Service::start_without_workers(&[]).await;
    let long = "a".repeat(256);
    let cases: &[(String, &[(&str, &str)])] = &[
        ("?limit=0".into(), &[("query.limit", "greater_than_equal")]),
        ("?limit=101".into(), &[("query.limit", "less_than_equal")]),
        ("?limit=five".into(), &[("query.limit", "int_parsing")]),
        ("?limit=".into(), &[("query.limit", "int_parsing")]),
        ("?limit=1.5".into(), &[("query.limit", "int_parsing")]),
        ("?next-page=".into(), &[("query.next-page", "string_too_short")]),
        (format!("?next-page={long}"), &[("query.next-page", "string_too_long")]),
        ("?prev-page=a-b".into(), &[("query.prev-page", "string_pattern_mismatch")]),
        (
            "?limit=x&next-page=%21&prev-page=a%20b&next_page=c".into(),
            &[
                ("query.limit", "int_parsing"),
                ("query.next-page", "string_pattern_mismatch"),
                ("query.prev-page", "string_pattern_mismatch"),
                ("query.next_page", "extra_forbidden"),
            ],
        ),
        (format!("/{long}"), &[("path.sample_id", "string_too_long")]),
        ("/a-b".into(), &[("path.sample_id", "string_pattern_mismatch")]),
        ("/a%2Fb".into(), &[("path.sample_id", "string_pattern_mismatch")]),
        ("/%ff".into(), &[("path.sample_id", "string_pattern_mismatch")]),
    ];
    for (address, faults) in cases {
        let answer = service.get(&format!("{SAMPLES}{address}")).await;

        let expected: Vec<_> =
            faults.iter().map(|(loc, kind)| ((*loc).to_owned(), (*kind).to_owned())).collect();
        assert_eq!((answer.status, answer.faults()), (422, expected), "{address}");
    }
}

#[tokio::test]
async fn a_body_over_a_mebibyte_is_413_however_it_is_framed() {
    let service = Service::start_without_workers(&[]).await;
    let request =
        || async { service.request(Method::POST, SAMPLES).await.header("content-type", "application/json") };

    let sized = answer(request().await.body(vec![b' '; 5_000_000])).await;
    let just_fits = answer(request().await.body(vec![b' '; 1_048_576])).await;

    assert_eq!((sized.status, just_fits.status), (413, 422));
    assert_eq!(sized.faults(), [("body".to_owned(), "body_too_large".to_owned())]);
    assert_eq!(endless(&service).await, "HTTP/1.1 413 Payload Too Large");
}

/// Returns the status line for a chunked body that never ends.
async fn endless(service: &Service) -> String {
    let mut socket = TcpStream::connect(service.base.trim_start_matches("http://")).await.unwrap();
    let token = service.token(claims(&service.account)).await;
    let head = format!(
        "POST {SAMPLES} HTTP/1.1\r\nhost: retort\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let (mut from, mut to) = socket.split();
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let send = async {
        // Ends when the service has read enough and closes the connection.
        while to.write_all(chunk.as_bytes()).await.is_ok() {}
    };
    let mut answer = [0; 1024];
    let read = async { from.read(&mut answer).await.unwrap() };
    let count = tokio::select! {
        count = read => count,
        () = async { send.await; std::future::pending().await } => 0,
    };
    String::from_utf8_lossy(&answer[..count]).lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_body_is_json_by_its_content_type_or_for_want_of_one() {
    let service = Service::start_without_workers(&[]).await;
    let cases = [
        (Some("application/json"), 422),
        (Some("Application/JSON; charset=utf-8"), 422),
        (Some("application/merge-patch+json"), 422),
        (None, 422),
        (Some("text/plain"), 415),
        (Some("application/x-www-form-urlencoded"), 415),
        (Some("application/jsonp"), 415),
    ];
    for (content_type, status) in cases {
        let mut request = service.request(Method::POST, SAMPLES).await.body("{}");
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }

        assert_eq!(answer(request).await.status, status, "{content_type:?}");
    }
}

#[tokio::test]
async fn other_methods_are_405_with_allow_and_other_paths_404_null() {
    let service = Service::start_without_workers(&[]).await;

    let delete = answer(service.request(Method::DELETE, SAMPLES).await).await;
    let put = answer(service.request(Method::PUT, "/generator/v1/samples/a").await).await;
    let path = service.get("/generator/v2/samples").await;
    let slash = service.get("/generator/v1/samples/").await;

    assert_eq!(delete.status, 405);
    let allowed = |answer: &Answer| {
        let mut methods: Vec<_> = answer.header("allow").split(',').map(str::to_owned).collect();
        methods.sort_unstable();
        methods
    };
    assert_eq!(allowed(&delete), ["GET", "HEAD", "POST"]);
    assert_eq!((put.status, allowed(&put)), (405, ["DELETE", "GET", "HEAD"].map(str::to_owned).to_vec()));
    assert_eq!((path.status, path.text.as_str()), (404, "null"));
    assert_eq!((slash.status, slash.text.as_str()), (404, "null"));
}
