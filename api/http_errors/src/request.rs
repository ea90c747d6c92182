//! Parsing of a request's parts: a JSON body within its limits, a query.

use std::time::Duration;

use axum::{
    body::{Body, BodyDataStream, Bytes},
    extract::{Query, Request},
    http::{HeaderMap, Uri, header},
};
use futures::StreamExt;

use crate::error::ApiError;

/// The largest body of an ordinary request, in bytes.
pub const MAX_BODY: usize = 1024 * 1024;

/// Number of bytes of an oversized body that are read and discarded, so that a client which writes everything before
/// it reads still gets the answer instead of a broken connection.
const MAX_DRAINED: usize = 8 * 1024 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Time limit for a caller to send its body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads the body, at most `most` bytes, of a request with a JSON content type; a missing content type counts as
/// JSON.
pub async fn json_body_up_to(most: usize, request: Request) -> Result<Bytes, ApiError> {
    if !is_json(request.headers()) {
        return Err(ApiError::NotJson);
    }
    let expects_continue = request.headers().contains_key(header::EXPECT);
    match content_length(request.headers()) {
        // The client waits for `100 Continue`, which is not sent.
        Some(length) if length > most && expects_continue => Err(ApiError::BodyTooLarge { most }),
        _ => body(request.into_body(), most).await,
    }
}

/// Reads a body of at most `most` bytes, however it is framed.
pub async fn body(body: Body, most: usize) -> Result<Bytes, ApiError> {
    let mut chunks = body.into_data_stream();
    let whole = async {
        let mut whole = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| ApiError::BodyIncomplete)?;
            if whole.len() + chunk.len() > most {
                return Err(ApiError::BodyTooLarge { most });
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(Bytes::from(whole))
    };
    let result = tokio::time::timeout(BODY_TIMEOUT, whole).await.unwrap_or(Err(ApiError::BodyTooSlow));
    if matches!(result, Err(ApiError::BodyTooLarge { .. })) {
        drain(chunks).await;
    }
    result
}

async fn drain(mut chunks: BodyDataStream) {
    let away = async {
        let mut drained = 0;
        while let Some(Ok(chunk)) = chunks.next().await {
            drained += chunk.len();
            if drained > MAX_DRAINED {
                return;
            }
        }
    };
    // A timeout only means that the client may not see the answer.
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, away).await;
}

/// Returns the decoded parameters of the query, in their order.
pub fn query_pairs(uri: &Uri) -> Vec<(String, String)> {
    Query::try_from_uri(uri).map(|Query(pairs)| pairs).unwrap_or_default()
}

fn content_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else { return true };
    let essence = content_type.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}
