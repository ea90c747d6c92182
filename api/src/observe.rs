//! What every request gets: an id, a span in the caller's trace, a line in the log, headers that harden the
//! answer.

use std::{collections::BTreeMap, time::Instant};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use identity::Transport;
use tracing::{Instrument, Span, field};
use ulid::Ulid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest request id that a caller may choose.
const MAX_REQUEST_ID: usize = 64;

/// Asked every few seconds by whatever keeps the process up: not worth a line each.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// Runs the request in its span.
pub async fn observe(State(transport): State<Transport>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = request_id(request.headers());
    let path = request.uri().path().to_owned();
    let span = span(&request, &id);
    telemetry::set_parent(&span, &trace_context(request.headers()));

    async move {
        let method = request.method().clone();
        let mut response = next.run(request).await;
        let status = response.status();
        let span = Span::current();
        span.record("http.response.status_code", status.as_u16());
        if status.is_server_error() {
            span.record("otel.status_code", "ERROR");
        }
        let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
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

fn span(request: &Request, id: &str) -> Span {
    let method = request.method();
    let path = request.uri().path();
    let template = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    // A path without a template stays out of the name, which has to be one of few.
    let name = template.map_or_else(|| method.to_string(), |template| format!("{method} {template}"));
    tracing::info_span!(
        "request",
        otel.name = name,
        otel.kind = "server",
        otel.status_code = field::Empty,
        http.request.method = %method,
        http.route = template,
        http.response.status_code = field::Empty,
        url.path = path,
        request.id = id,
        account.id = field::Empty,
        job.id = field::Empty,
        sample.id = field::Empty,
    )
}

/// The caller's id for the request if it is harmless, else one of ours.
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
        // Answers belong to one account.
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}
