//! Web pages that are embedded in the binary, under a policy that lets them load and call only this service.
//!
//! Browsers cache them and revalidate by an entity tag. The text is sent compressed; it is compressed once, at the
//! first request.

use std::{
    io::Write,
    sync::{Arc, OnceLock},
};

use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use flate2::{Compression, Crc, write::GzEncoder};

use crate::gzip::accepts_gzip;

// Images within style sheets and scripts, such as the cursors of an editor, are `data:` URLs, which access no
// network.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub const HTML: &str = "text/html; charset=utf-8";
pub const CSS: &str = "text/css; charset=utf-8";
pub const JSON: &str = "application/json";
pub const SCRIPT: &str = "text/javascript; charset=utf-8";
pub const TEXT: &str = "text/plain; charset=utf-8";
pub const ICON: &str = "image/svg+xml";

/// Path, type, text.
pub type File = (&'static str, &'static str, &'static str);

/// Serves `files`.
pub fn router<S: Clone + Send + Sync + 'static>(files: impl IntoIterator<Item = File>) -> Router<S> {
    files.into_iter().fold(Router::new(), |router, (address, content_type, text)| {
        let page = Arc::new(EmbeddedPage { content_type, text, packed: OnceLock::new() });
        router.route(address, get(async move |headers: HeaderMap| page.answer(&headers)))
    })
}

struct EmbeddedPage {
    content_type: &'static str,
    text: &'static str,
    packed: OnceLock<CompressedFile>,
}

/// A file as it is sent: gzipped, with the entity tag of its version.
struct CompressedFile {
    body: Bytes,
    tag: HeaderValue,
}

impl EmbeddedPage {
    fn answer(&self, request_headers: &HeaderMap) -> Response {
        let packed = self.packed.get_or_init(|| CompressedFile::new(self.text.as_bytes()));
        let mut headers = HeaderMap::from_iter(
            [
                (header::CONTENT_TYPE, self.content_type),
                (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
                (header::CACHE_CONTROL, "no-cache"),
                (header::VARY, "accept-encoding"),
            ]
            .map(|(name, value)| (name, HeaderValue::from_static(value))),
        );
        headers.insert(header::ETAG, packed.tag.clone());
        if etag_matches(request_headers, &packed.tag) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        if accepts_gzip(request_headers) {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            return (headers, packed.body.clone()).into_response();
        }
        (headers, self.text).into_response()
    }
}

impl CompressedFile {
    fn new(text: &[u8]) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let body = encoder.write_all(text).and_then(|()| encoder.finish());
        let body = body.expect("embedded: a vector takes every byte").into();
        let mut sum = Crc::new();
        sum.update(text);
        // A weak tag: the same for the compressed text and the plain one.
        let tag = format!("W/\"{:08x}-{:x}\"", sum.sum(), text.len());
        Self { body, tag: HeaderValue::try_from(tag).expect("embedded: a tag is of hexadecimal digits") }
    }
}

/// Returns true if the client already has the text with this `tag`.
fn etag_matches(request_headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let values =
        request_headers.get_all(header::IF_NONE_MATCH).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|had| *tag == *had.trim())
}
