//! Pages that are files in the binary, under a policy that lets them load and call nothing but this service.
//!
//! Browsers keep them and ask whether they are still the same, which a tag answers; what is sent is compressed, once, when it is first
//! asked for.

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

// Pictures within style sheets and scripts, as the cursors of an editor, are `data:` addresses, which lead nowhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub const HTML: &str = "text/html; charset=utf-8";
pub const CSS: &str = "text/css; charset=utf-8";
pub const SCRIPT: &str = "text/javascript; charset=utf-8";
pub const TEXT: &str = "text/plain; charset=utf-8";
pub const ICON: &str = "image/svg+xml";

/// Address, type, text.
pub type File = (&'static str, &'static str, &'static str);

/// Answers with `files`.
pub fn router<S: Clone + Send + Sync + 'static>(files: &[File]) -> Router<S> {
    files.iter().fold(Router::new(), |router, &(address, content_type, text)| {
        let page = Arc::new(Page { content_type, text, packed: OnceLock::new() });
        router.route(address, get(async move |headers: HeaderMap| page.answer(&headers)))
    })
}

struct Page {
    content_type: &'static str,
    text: &'static str,
    packed: OnceLock<Packed>,
}

/// A text as it is sent: by gzip, with the tag that tells it from other versions of itself.
struct Packed {
    body: Bytes,
    tag: HeaderValue,
}

impl Page {
    fn answer(&self, asked: &HeaderMap) -> Response {
        let packed = self.packed.get_or_init(|| Packed::new(self.text.as_bytes()));
        let mut headers = HeaderMap::from_iter(
            [
                (header::CONTENT_TYPE, self.content_type),
                (header::CONTENT_SECURITY_POLICY, POLICY),
                (header::CACHE_CONTROL, "no-cache"),
                (header::VARY, "accept-encoding"),
            ]
            .map(|(name, value)| (name, HeaderValue::from_static(value))),
        );
        headers.insert(header::ETAG, packed.tag.clone());
        if has_it(asked, &packed.tag) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        if accepts_gzip(asked) {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            return (headers, packed.body.clone()).into_response();
        }
        (headers, self.text).into_response()
    }
}

impl Packed {
    fn new(text: &[u8]) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let body = encoder.write_all(text).and_then(|()| encoder.finish());
        let body = body.expect("embedded: a vector takes every byte").into();
        let mut sum = Crc::new();
        sum.update(text);
        // Weak: the same for the compressed text and the plain one.
        let tag = format!("W/\"{:08x}-{:x}\"", sum.sum(), text.len());
        Self { body, tag: HeaderValue::try_from(tag).expect("embedded: a tag is of hexadecimal digits") }
    }
}

/// Whether who asks has the text already that goes by `tag`.
fn has_it(asked: &HeaderMap, tag: &HeaderValue) -> bool {
    let values = asked.get_all(header::IF_NONE_MATCH).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|had| *tag == *had.trim())
}
