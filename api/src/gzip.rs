//! Body of create and retrieve, gzipped if the client accepts it.
//!
//! The contract requires gzipped JSON in Base64. That is not `Content-Encoding: gzip`, because the bytes on the wire
//! are not gzip. So it is sent as text with `Content-Transfer-Encoding: base64`, and no client library undoes half of
//! it. A client whose `Accept` names `application/json` gets JSON with RFC 9110's encoding; `GZIP_BODY=standard`
//! gives that to every client.

use std::io::Write;

use axum::{
    Json,
    http::{HeaderMap, HeaderName, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};
use serde::Serialize;

use http_errors::ApiError;

use crate::config::GzipBody;

const VARY: (HeaderName, &str) = (header::VARY, "accept-encoding, accept");

/// Encodes `value` in a form that `headers` accept; `mode` applies to clients that do not ask for JSON.
pub async fn body<T: Serialize>(
    headers: &HeaderMap,
    mode: GzipBody,
    value: &T,
) -> Result<Response, ApiError> {
    let mode = if asks_for_json(headers) { GzipBody::Standard } else { mode };
    let coding = match mode {
        GzipBody::Contract => contains_gzip(headers),
        GzipBody::Standard => accepts_gzip(headers),
    };
    if !coding {
        return Ok(([VARY], Json(value)).into_response());
    }
    let json = serde_json::to_vec(value).map_err(|error| ApiError::internal(&error))?;
    // Compressing ten thousand structures would block an async thread too long.
    let zipped = tokio::task::spawn_blocking(move || gzip(&json)).await;
    let zipped =
        zipped.map_err(|error| ApiError::internal(&error))?.map_err(|error| ApiError::internal(&error))?;
    Ok(match mode {
        GzipBody::Contract => (
            [
                VARY,
                (header::CONTENT_TYPE, "text/plain; charset=us-ascii"),
                (HeaderName::from_static("content-transfer-encoding"), "base64"),
            ],
            STANDARD.encode(zipped),
        )
            .into_response(),
        GzipBody::Standard => {
            ([VARY, (header::CONTENT_TYPE, "application/json"), (header::CONTENT_ENCODING, "gzip")], zipped)
                .into_response()
        }
    })
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Returns the values of a header, in lower case.
fn values(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = String> {
    let values = headers.get_all(name).iter();
    values.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase())
}

/// Returns true if the header contains the word `gzip` anywhere, as the contract says.
fn contains_gzip(headers: &HeaderMap) -> bool {
    values(headers, header::ACCEPT_ENCODING).any(|value| value.contains("gzip"))
}

/// Returns true if gzip is acceptable by RFC 9110, section 12.5.3. `*` alone leaves the choice to us, and we send
/// plain JSON.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    ["gzip", "x-gzip"].iter().any(|coding| weight(headers, header::ACCEPT_ENCODING, coding) > Some(0.0))
}

/// Returns true if `Accept` names JSON, and gives text no more weight (RFC 9110, section 12.5.1).
fn asks_for_json(headers: &HeaderMap) -> bool {
    let json = weight(headers, header::ACCEPT, "application/json");
    json > Some(0.0) && json >= weight(headers, header::ACCEPT, "text/plain")
}

/// Returns the weight that a header gives to `coding`; `None` if the header does not name it.
pub(crate) fn weight(headers: &HeaderMap, name: HeaderName, coding: &str) -> Option<f32> {
    values(headers, name).find_map(|value| {
        value.split(',').find_map(|item| {
            let mut parts = item.split(';').map(str::trim);
            let named = parts.next() == Some(coding);
            let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |q| q.parse().ok());
            weight.filter(|_| named)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_matches_the_word_and_the_standard_the_coding() {
        let cases = [
            ("*", false, false),
            ("gzip", true, true),
            ("GZIP, deflate, br", true, true),
            ("br;q=1.0, gzip;q=0.8", true, true),
            ("gzip;q=0", true, false),
            ("identity", false, false),
        ];
        for (value, contract, standard) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, value.parse().unwrap());

            assert_eq!((contains_gzip(&headers), accepts_gzip(&headers)), (contract, standard), "{value}");
        }
    }

    #[test]
    fn json_is_asked_for_by_its_name_alone() {
        let cases = [
            ("*/*", false),
            ("application/*", false),
            ("text/html, */*;q=0.8", false),
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/json, text/plain, */*", true),
            ("text/plain, application/json;q=0.9", false),
            ("text/plain;q=0.5, application/json;q=0.9", true),
            ("application/json;q=0", false),
            ("application/json;q=much", false),
            ("application/jsonl", false),
        ];
        for (value, asked) in cases {
            let headers = HeaderMap::from_iter([(header::ACCEPT, value.parse().unwrap())]);

            assert_eq!(asks_for_json(&headers), asked, "{value}");
        }
        assert!(!asks_for_json(&HeaderMap::new()));
    }
}
