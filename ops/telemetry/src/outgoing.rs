//! Spans of outgoing requests: OpenTelemetry's semantic conventions, "HTTP client span", its stable attributes.

use reqwest::{
    RequestBuilder, Response, Url,
    header::{HeaderName, HeaderValue},
};
use tracing::{Instrument as _, Span, field};

use crate::context::inject_of;

/// Sends a request as part of the current trace, which continues at the other side.
///
/// # Errors
/// Fails if the request cannot be built or sent, as [`RequestBuilder::send`] does. A response of any status is a
/// success.
pub async fn send(request: RequestBuilder) -> Result<Response, reqwest::Error> {
    let (client, request) = request.build_split();
    let mut request = request?;
    let span = span(request.method().as_str(), request.url());
    for (name, value) in inject_of(&span) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            request.headers_mut().insert(name, value);
        }
    }
    let answered = client.execute(request).instrument(span.clone()).await;
    match &answered {
        Ok(response) => {
            let status = response.status();
            span.record("http.response.status_code", status.as_u16());
            if status.is_client_error() || status.is_server_error() {
                fail(&span, status.as_str());
            }
        }
        Err(error) => fail(&span, kind(error)),
    }
    answered
}

fn span(method: &str, url: &Url) -> Span {
    tracing::info_span!(
        "http",
        otel.name = method,
        otel.kind = "client",
        otel.status_code = field::Empty,
        http.request.method = method,
        http.response.status_code = field::Empty,
        error.type = field::Empty,
        server.address = url.host_str(),
        server.port = url.port_or_known_default(),
        url.full = %public(url),
    )
}

/// Returns the address without parts that may be secret.
fn public(url: &Url) -> Url {
    let mut public = url.clone();
    // Both calls fail only for an address without a host, which has no user either.
    let _ = public.set_username("");
    let _ = public.set_password(None);
    public.set_query(None);
    public
}

fn fail(span: &Span, kind: &str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind);
}

/// Classifies an error into one of a few values.
fn kind(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "timeout"
    } else if error.is_connect() {
        "connect"
    } else {
        "_OTHER"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_of_an_address_is_printed() {
        let url = Url::parse("https://ada:secret@login.example.org:8443/auth?code=secret").unwrap();

        assert_eq!(public(&url).as_str(), "https://login.example.org:8443/auth");
    }
}
