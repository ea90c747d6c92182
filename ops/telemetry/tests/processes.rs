//! Logs and exports of a process with this crate, observed from outside.
//!
//! Logging is set up from the environment once per process, so each case is a process: this binary again, running the
//! one test that is otherwise ignored.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]

use std::{
    collections::BTreeMap,
    process::{Command, Output},
    time::Duration,
};

use fake_opentelemetry_collector::{ExportedSpan, FakeCollectorServer};
use tracing::{info, info_span, warn};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// The process under test: a request that stores a job, and the processing of that job.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
#[ignore = "run by the other tests, in a process of its own"]
async fn process() {
    let guard = match telemetry::init("test-service") {
        Ok(guard) => guard,
        Err(error) => return println!("error: {error}"),
    };
    if let Err(error) = guard.serve_prometheus() {
        return println!("error: {error}");
    }
    let header = BTreeMap::from([("traceparent".to_owned(), format!("00-{TRACE}-{PARENT}-01"))]);
    let request = info_span!("request");
    telemetry::set_parent(&request, &header);
    let stored = request.in_scope(|| {
        info!(size = 5, "stored a job");
        telemetry::inject()
    });
    println!("stored: {stored:?}");

    let job = info_span!("job");
    telemetry::set_parent(&job, &stored);
    job.in_scope(|| info_span!("work").in_scope(|| warn!("works")));
    info!("outside of any span");
}

fn run(environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["process", "--exact", "--ignored", "--nocapture"]);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("OTEL_") || name.ends_with("_LOG"))
    {
        command.env_remove(name);
    }
    command.env_remove("LOG_FORMAT").envs(environment.iter().copied()).output().unwrap()
}

fn log(environment: &[(&str, &str)]) -> String {
    String::from_utf8(run(environment).stderr).unwrap()
}

fn line<'a>(log: &'a str, words: &str) -> &'a str {
    log.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("no line `{words}` in:\n{log}"))
}

fn by_name(spans: Vec<ExportedSpan>) -> BTreeMap<String, ExportedSpan> {
    spans.into_iter().map(|span| (span.name.clone(), span)).collect()
}

#[test]
fn lines_carry_the_trace_they_belong_to_though_nothing_is_exported() {
    let log = log(&[]);

    assert!(line(&log, "stored a job").contains(&format!("trace_id={TRACE}")), "{log}");
    assert!(line(&log, "works").contains(&format!("trace_id={TRACE}")), "{log}");
    assert!(!line(&log, "outside of any span").contains("trace_id"), "{log}");
}

#[test]
fn json_lines_are_objects_with_the_ids_of_trace_and_span() {
    let log = log(&[("LOG_FORMAT", "json")]);

    let line: BTreeMap<String, serde_json::Value> = serde_json::from_str(line(&log, "stored a job")).unwrap();
    assert_eq!(line["trace_id"], TRACE);
    assert_eq!(line["span_id"].as_str().unwrap().len(), 16);
    assert_eq!(
        (&line["message"], &line["size"], &line["level"]),
        (&"stored a job".into(), &5.into(), &"INFO".into())
    );
}

#[test]
fn the_filter_of_the_environment_holds_for_lines() {
    let log = log(&[("RUST_LOG", "warn")]);

    assert!(!log.contains("stored a job"), "{log}");
    assert!(log.contains("works"), "{log}");
}

#[test]
fn what_cannot_be_understood_is_an_error_that_names_the_variable() {
    let wrong = [
        ("RUST_LOG", "retort=loud"),
        ("LOG_FORMAT", "xml"),
        ("OTEL_EXPORTER_PROMETHEUS_PORT", "70000"),
        ("OTEL_EXPORTER_PROMETHEUS_HOST", "no such host"),
    ];
    for (name, value) in wrong {
        let output = String::from_utf8(run(&[(name, value)]).stdout).unwrap();

        assert!(output.contains("error: ") && output.contains(name), "{output}");
        assert!(!name.starts_with("OTEL") || output.contains(value), "{output}");
    }
}

#[test]
fn a_disabled_sdk_leaves_no_ids() {
    let output = run(&[("OTEL_SDK_DISABLED", "true")]);

    assert!(String::from_utf8(output.stdout).unwrap().contains("stored: {}"));
    assert!(!String::from_utf8(output.stderr).unwrap().contains("trace_id"));
}

#[tokio::test(flavor = "multi_thread")]
async fn spans_are_exported_over_grpc_as_one_trace_with_lines_and_metrics_before_the_process_ends() {
    let mut collector = FakeCollectorServer::start().await.unwrap();
    let endpoint = collector.endpoint();

    let output = tokio::task::spawn_blocking(move || run(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]))
        .await
        .unwrap();

    assert!(output.status.success());
    let spans = by_name(collector.exported_spans(3, Duration::from_secs(20)).await);
    assert_eq!(spans.keys().collect::<Vec<_>>(), ["job", "request", "work"]);
    assert!(spans.values().all(|span| span.trace_id == TRACE));
    assert_eq!(spans["request"].parent_span_id, PARENT);
    assert_eq!(spans["job"].parent_span_id, spans["request"].span_id);
    assert_eq!(spans["work"].parent_span_id, spans["job"].span_id);
    let logs = collector.exported_logs(3, Duration::from_secs(20)).await;
    let stored =
        logs.iter().find(|log| log.body.as_deref().is_some_and(|body| body.contains("stored a job")));
    assert_eq!(stored.map(|log| &*log.trace_id), Some(TRACE), "{logs:?}");
    let metrics = format!("{:?}", collector.exported_metrics(1, Duration::from_secs(20)).await);
    assert!(metrics.contains("process.uptime") && metrics.contains("process.cpu.time"), "{metrics}");
}

#[test]
fn a_sampler_of_the_environment_decides_what_is_recorded() {
    let output = run(&[("OTEL_TRACES_SAMPLER", "always_off")]);

    // The trace continues, marked as not sampled.
    let stored = String::from_utf8(output.stdout).unwrap();
    assert!(stored.contains(&format!("00-{TRACE}-")) && stored.contains("-00\""), "{stored}");
}

#[test]
fn http_protobuf_goes_to_the_path_of_traces() {
    use std::io::{Read as _, Write as _};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let collector = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut request, mut part) = (String::new(), [0; 4096]);
        while !request.contains("named-by-the-operator") {
            let len = stream.read(&mut part).unwrap();
            assert!(len > 0, "the service's name is not in {request}");
            request += &String::from_utf8_lossy(&part[..len]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        request
    });

    let output = run(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        ("OTEL_SERVICE_NAME", "named-by-the-operator"),
        ("OTEL_METRICS_EXPORTER", "none"),
        ("OTEL_LOGS_EXPORTER", "none"),
    ]);

    assert!(output.status.success());
    let request = collector.join().unwrap();
    assert!(request.starts_with("POST /v1/traces HTTP/1.1"), "{request}");
    assert!(request.contains("application/x-protobuf"), "{request}");
}
