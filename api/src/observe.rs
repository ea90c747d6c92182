//! Request middleware: an id, a span in the caller's trace, a log line, metrics, and security headers of the answer.
//!
//! Names are those of OpenTelemetry's semantic conventions for HTTP (stable since 1.23).

use std::{
    collections::BTreeMap,
    sync::LazyLock,
    time::{Duration, Instant},
};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::Response,
};
use identity::Transport;
use opentelemetry::{
    KeyValue,
    metrics::{Histogram, UpDownCounter},
};
use tracing::{Instrument, Span, field};
use ulid::Ulid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of a request id that a client chooses.
const MAX_REQUEST_ID: usize = 64;

/// Probe paths, which an orchestrator polls every few seconds; they get no log line.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// Runs the request in its span.
pub async fn observe(State(transport): State<Transport>, request: Request, next: Next) -> Response {
    let id = request_id(request.headers());
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let span = span(&request, &id, transport);
    telemetry::set_parent(&span, &trace_context(request.headers()));
    // Dropped with the request, however it ends.
    let mut measured = RequestMetrics::begin(&request, transport);

    async move {
        let mut response = next.run(request).await;
        let status = response.status();
        let elapsed = measured.answered(status);
        let span = Span::current();
        span.record("http.response.status_code", status.as_u16());
        if status.is_server_error() {
            span.record("error.type", status.as_str());
            span.record("otel.status_code", "ERROR");
        }
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let status = status.as_u16();
        if PROBES.contains(&path.as_str()) {
            tracing::debug!(elapsed_ms, "{method} {path} answered {status}");
        } else {
            tracing::info!(elapsed_ms, "{method} {path} answered {status}");
        }
        harden(response.headers_mut(), &id, transport);
        response
    }
    .instrument(span)
    .await
}

fn span(request: &Request, id: &str, transport: Transport) -> Span {
    let method = request.method();
    let path = request.uri().path();
    let template = template(request);
    // A path without a template is left out, to keep the number of span names small.
    let name = template.map_or_else(|| method.to_string(), |template| format!("{method} {template}"));
    tracing::info_span!(
        "request",
        otel.name = name,
        otel.kind = "server",
        otel.status_code = field::Empty,
        http.request.method = %method,
        http.route = template,
        http.response.status_code = field::Empty,
        error.type = field::Empty,
        url.path = path,
        url.scheme = scheme(transport),
        user_agent.original = request.headers().get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()),
        request.id = id,
        account.id = field::Empty,
        job.id = field::Empty,
        sample.id = field::Empty,
    )
}

fn template(request: &Request) -> Option<&str> {
    request.extensions().get::<MatchedPath>().map(MatchedPath::as_str)
}

fn scheme(transport: Transport) -> &'static str {
    match transport {
        Transport::Tls => "https",
        Transport::Plain => "http",
    }
}

/// Metrics of a request, from its start to its answer or its end without one.
struct RequestMetrics {
    begun: Instant,
    /// Method and scheme.
    known: [KeyValue; 2],
    route: Option<String>,
    status: Option<StatusCode>,
}

impl RequestMetrics {
    fn begin(request: &Request, transport: Transport) -> Self {
        let known = [
            KeyValue::new("http.request.method", method(request.method())),
            KeyValue::new("url.scheme", scheme(transport)),
        ];
        REQUESTS.active.add(1, &known);
        Self { begun: Instant::now(), known, route: template(request).map(str::to_owned), status: None }
    }

    /// Records the answer; returns the time that it took.
    fn answered(&mut self, status: StatusCode) -> Duration {
        self.status = Some(status);
        self.begun.elapsed()
    }
}

impl Drop for RequestMetrics {
    fn drop(&mut self) {
        REQUESTS.active.add(-1, &self.known);
        let mut attributes = self.known.to_vec();
        attributes.extend(self.route.take().map(|route| KeyValue::new("http.route", route)));
        match self.status {
            None => attributes.push(KeyValue::new("error.type", "caller_left")),
            Some(status) => {
                attributes.push(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
                if status.is_server_error() {
                    attributes.push(KeyValue::new("error.type", status.as_str().to_owned()));
                }
            }
        }
        REQUESTS.duration.record(self.begun.elapsed().as_secs_f64(), &attributes);
    }
}

/// Returns one of a few names, since clients may send any word as a method.
fn method(method: &Method) -> &'static str {
    ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
        .into_iter()
        .find(|&known| known == method.as_str())
        .unwrap_or("_OTHER")
}

/// Histogram bounds in seconds: those of the conventions, extended to the longest search.
const BOUNDS: [f64; 17] =
    [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 30.0, 60.0, 120.0];

static REQUESTS: LazyLock<Requests> = LazyLock::new(|| {
    let meter = telemetry::meter();
    Requests {
        duration: meter
            .f64_histogram("http.server.request.duration")
            .with_unit("s")
            .with_description("How long requests took")
            .with_boundaries(BOUNDS.to_vec())
            .build(),
        active: meter
            .i64_up_down_counter("http.server.active_requests")
            .with_unit("{request}")
            .with_description("Requests that are being answered")
            .build(),
    }
});

struct Requests {
    duration: Histogram<f64>,
    active: UpDownCounter<i64>,
}

/// Returns the client's request id if it is safe, else a new one.
fn request_id(headers: &HeaderMap) -> String {
    let harmless = |id: &&str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        !id.is_empty() && id.len() <= MAX_REQUEST_ID && id.bytes().all(plain)
    };
    let chosen = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok()).filter(harmless);
    chosen.map_or_else(|| Ulid::generate().to_string(), str::to_owned)
}

fn trace_context(headers: &HeaderMap) -> BTreeMap<String, String> {
    let text = |name: &str| Some((name.to_owned(), headers.get(name)?.to_str().ok()?.to_owned()));
    ["traceparent", "tracestate"].into_iter().filter_map(text).collect()
}

fn harden(headers: &mut HeaderMap, id: &str, transport: Transport) {
    if let Ok(id) = HeaderValue::try_from(id) {
        headers.insert(REQUEST_ID, id);
    }
    if transport == Transport::Tls {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        // Answers are private to one account.
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}
