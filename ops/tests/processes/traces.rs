//! Single trace from the request through the job to the stages of the work.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use fake_opentelemetry_collector::{ExportedSpan, FakeCollectorServer};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use test_support::WAIT_TIMEOUT;

use crate::{
    client::good,
    installation::{Installation, Role},
    process::output,
    searches::{CATALOGUE, TARGET},
};

/// Sends a request as part of a trace; returns the spans of that trace by name, once `last` is among them.
async fn spans_of(
    installation: &Installation,
    collector: &mut FakeCollectorServer,
    (path, body): (&str, Value),
    expected: &[&str],
) -> BTreeMap<String, ExportedSpan> {
    let trace = format!("{:032x}", ulid::Ulid::generate().0);
    let caller = installation.account(&trace);
    let request = caller.request(Method::POST, path).json(&body);
    good(request.header("traceparent", format!("00-{trace}-00f067aa0ba902b7-01")).send().await.unwrap())
        .await;

    collected(collector, expected, |span| span.trace_id == trace).await
}

/// Returns the spans that satisfy `ours` by name, once all `expected` ones are among them; of several with one name,
/// the first counts: a search grows and reads by turns.
async fn collected(
    collector: &mut FakeCollectorServer,
    expected: &[&str],
    ours: impl Fn(&ExportedSpan) -> bool,
) -> BTreeMap<String, ExportedSpan> {
    let mut spans = BTreeMap::new();
    let begun = Instant::now();
    while !expected.iter().all(|name| spans.contains_key(*name)) {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "wanted {expected:?}, got {:?}", spans.keys());
        let exported = collector.exported_spans(1, Duration::from_secs(1)).await;
        for span in exported.into_iter().filter(|span| ours(span)) {
            spans.entry(span.name.clone()).or_insert(span);
        }
    }
    spans
}

fn assert_child(spans: &BTreeMap<String, ExportedSpan>, child: &str, parent: &str) {
    assert_eq!(spans[child].parent_span_id, spans[parent].span_id, "`{child}` belongs to `{parent}`");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_its_job_and_the_stages_of_the_work_are_one_trace() {
    let mut collector = FakeCollectorServer::start().await.unwrap();
    let mut installation = Installation::new().await;
    installation.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint());
    installation.set("OTEL_BSP_SCHEDULE_DELAY", "200");
    installation.import_catalogue(CATALOGUE);
    installation.start_all().await;

    let request = "POST /generator/v1/samples";
    let sample = ("/generator/v1/samples", json!({ "size": 5 }));
    let (send, process) = ("send sample", "process sample");
    let spans =
        spans_of(&installation, &mut collector, sample, &[request, send, process, "model.sample"]).await;
    assert_eq!(spans[request].parent_span_id, "00f067aa0ba902b7", "the caller's trace goes on");
    assert_child(&spans, send, request);
    assert_child(&spans, process, send);
    assert!(spans[process].attributes.contains_key("queue_wait_ms"));
    assert_child(&spans, "model.sample", process);
    let statement = spans.values().find(|span| span.name.starts_with("select admitted"));
    let statement = statement.expect("the statement that takes the job has a span");
    assert_eq!(statement.parent_span_id, spans[send].span_id);
    assert!(statement.attributes["db.system.name"].contains("postgresql"), "{statement:?}");
    assert!(spans[send].start_time_unix_nano <= statement.start_time_unix_nano);

    let request = "POST /synth/v1/treesearch";
    let (send, process) = ("send search", "process search");
    let stages = ["search.expansion", "search.first_route", "search.extraction", "search.validation"];
    let expected = [&[request, send, process, "search", "annotate"], &stages[..]].concat();
    let search = (
        "/synth/v1/treesearch",
        json!({ "search_smiles": TARGET, "early_exit_first_solution": false, "max_seconds": 3 }),
    );
    let spans = spans_of(&installation, &mut collector, search, &expected).await;
    assert_child(&spans, send, request);
    assert_child(&spans, process, send);
    assert_child(&spans, "search", process);
    assert_child(&spans, "annotate", process);
    assert_child(&spans, "search.expansion", "search");
    assert_child(&spans, "search.first_route", "search.expansion");
    assert_child(&spans, "search.extraction", "search");
    for (earlier, later) in [("search.expansion", "search.extraction"), ("search", "annotate")] {
        assert!(
            spans[earlier].end_time_unix_nano <= spans[later].start_time_unix_nano,
            "`{earlier}` ends before `{later}` begins"
        );
    }
    for stage in stages {
        let stage = &spans[stage];
        assert!(stage.start_time_unix_nano < stage.end_time_unix_nano, "`{}` takes time", stage.name);
    }
}

/// Returns a sent request's attributes: method, host, port, status, kind of failure.
fn request_attributes(span: &ExportedSpan) -> [Option<&str>; 5] {
    let attribute = |name| {
        // The collector gives values in debug format: `Some(AnyValue { value: Some(StringValue("GET")) })`.
        let value = span.attributes.get(name)?;
        value.split(['(', ')', '"']).rfind(|part| part.chars().any(char::is_alphanumeric))
    };
    ["http.request.method", "server.address", "server.port", "http.response.status_code", "error.type"]
        .map(attribute)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_goes_on_with_the_trace_of_its_surroundings() {
    let mut collector = FakeCollectorServer::start().await.unwrap();
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Sample, &[]).await;
    installation.set("OTEL_BSP_SCHEDULE_DELAY", "200");
    installation.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint());
    installation.start_api().await;
    installation.account("owner");
    let trace = format!("{:032x}", ulid::Ulid::generate().0);

    let mut sample = installation.retort_as("owner");
    sample.args(["sample", "--size", "3"]).env("TRACEPARENT", format!("00-{trace}-00f067aa0ba902b7-01"));
    // The collector holds 64 spans. The API sent more while it started, so they are taken while the command runs:
    // its own would wait behind them for longer than its export may last.
    let sampled = tokio::task::spawn_blocking(move || output(sample));

    let (command, request) = ("retort sample", "POST /generator/v1/samples");
    let spans = collected(&mut collector, &[command, "POST", request], |span| span.trace_id == trace).await;
    sampled.await.unwrap();
    assert_eq!(spans[command].parent_span_id, "00f067aa0ba902b7");
    assert_child(&spans, "POST", command);
    assert_child(&spans, request, "POST");
    let address = installation.address();
    let (host, port) = address.split_once(':').unwrap();
    assert_eq!(request_attributes(&spans["POST"]), [Some("POST"), Some(host), Some(port), Some("200"), None]);
    assert_eq!(spans["POST"].kind, "SPAN_KIND_CLIENT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_the_keys_of_an_issuer_is_traced_with_its_failure() {
    let issuer = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = issuer.local_addr().unwrap().port();
    let requests = tokio::spawn(async move {
        let (mut connection, _) = issuer.accept().await.unwrap();
        let mut request = vec![0; 4096];
        let length = connection.read(&mut request).await.unwrap();
        let refusal = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        connection.write_all(refusal.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&request[..length]).to_lowercase()
    });
    let mut collector = FakeCollectorServer::start().await.unwrap();
    let mut installation = Installation::new().await;
    installation.set("AUTH_ISSUER", &format!("http://127.0.0.1:{port}"));
    installation.set("AUTH_AUDIENCE", "retort");
    installation.set("OTEL_BSP_SCHEDULE_DELAY", "200");
    installation.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint());
    installation.start_api().await;

    installation.anonymous_client().get("/readyz").await;
    let request = requests.await.unwrap();
    let spans = collected(&mut collector, &["GET"], |span| span.kind == "SPAN_KIND_CLIENT").await;

    let span = &spans["GET"];
    let port = port.to_string();
    assert_eq!(
        request_attributes(span),
        [Some("GET"), Some("127.0.0.1"), Some(&port), Some("503"), Some("503")]
    );
    assert_eq!(span.status.as_ref().map(|status| &*status.code), Some("STATUS_CODE_ERROR"));
    let context = format!("traceparent: 00-{}-{}-01", span.trace_id, span.span_id);
    assert!(request.contains(&context), "{context} is not in {request}");
}
