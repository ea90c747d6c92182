//! One trace from the request through the job to the stages of the work.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use fake_opentelemetry_collector::{ExportedSpan, FakeCollectorServer};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::good,
    installation::Installation,
    process::PATIENCE,
    searches::{CATALOGUE, TARGET},
};

/// Sends a request as part of a trace and gives the spans of that trace, by name, once `last` is among them.
async fn spans_of(
    installation: &Installation,
    collector: &mut FakeCollectorServer,
    (path, body): (&str, Value),
    wanted: &[&str],
) -> BTreeMap<String, ExportedSpan> {
    let trace = format!("{:032x}", ulid::Ulid::generate().0);
    let caller = installation.account(&trace);
    let request = caller.request(Method::POST, path).json(&body);
    good(request.header("traceparent", format!("00-{trace}-00f067aa0ba902b7-01")).send().await.unwrap())
        .await;

    let mut spans = BTreeMap::new();
    let begun = Instant::now();
    while !wanted.iter().all(|name| spans.contains_key(*name)) {
        assert!(begun.elapsed() < PATIENCE, "wanted {wanted:?}, got {:?}", spans.keys());
        for span in collector.exported_spans(1, Duration::from_secs(1)).await {
            if span.trace_id == trace {
                spans.insert(span.name.clone(), span);
            }
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
    let wanted = [&[request, send, process, "search", "annotate"], &stages[..]].concat();
    let search = (
        "/synth/v1/treesearch",
        json!({ "search_smiles": TARGET, "early_exit_first_solution": false, "max_seconds": 3 }),
    );
    let spans = spans_of(&installation, &mut collector, search, &wanted).await;
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
