//! Shape of search results in an answer: that of this API family, or the tree search's own.
//!
//! Clients that name the media type of the tree search's own shape in `Accept` get that. All others get the shape of
//! the family.

use std::convert::Infallible;

use axum::{
    Json,
    extract::FromRequestParts,
    http::{HeaderMap, HeaderName, HeaderValue, header, request::Parts},
    response::{IntoResponse, Response},
};
use contract::{NATIVE_RESULT, ShapedResult, TreeSearchResult};
use serde::Serialize;

use crate::{engine_answer::engine_answer, gzip::weight};

const VARY: (HeaderName, &str) = (header::VARY, "accept");

/// Shape of search results that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerShape {
    /// That of this API family.
    Engine,
    /// The tree search's own.
    Native,
}

impl AnswerShape {
    /// Returns the shape that `Accept` asks for: the tree search's own if it is named and JSON has no more weight
    /// (RFC 9110, section 12.5.1).
    pub fn of(headers: &HeaderMap) -> Self {
        let native = weight(headers, header::ACCEPT, NATIVE_RESULT);
        let is_native = native > Some(0.0) && native >= weight(headers, header::ACCEPT, "application/json");
        if is_native { Self::Native } else { Self::Engine }
    }

    /// Converts a result to this shape.
    pub fn of_result(self, result: TreeSearchResult) -> ShapedResult {
        match self {
            Self::Engine => ShapedResult::Engine(engine_answer(result)),
            Self::Native => ShapedResult::Native(result),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for AnswerShape {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

/// Body whose search result has a shape.
pub struct Shaped<T>(pub T, pub AnswerShape);

impl<T: Serialize> IntoResponse for Shaped<T> {
    fn into_response(self) -> Response {
        let Self(body, shape) = self;
        let mut response = ([VARY], Json(body)).into_response();
        if shape == AnswerShape::Native {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(NATIVE_RESULT));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_the_search_s_own_shape_where_it_names_it() {
        let cases = [
            ("application/vnd.retort.treesearch+json", AnswerShape::Native),
            ("application/vnd.retort.treesearch+json, application/json", AnswerShape::Native),
            (
                "text/event-stream, application/vnd.retort.treesearch+json;q=0.9, application/json;q=0.9",
                AnswerShape::Native,
            ),
            ("application/json, application/vnd.retort.treesearch+json;q=0.5", AnswerShape::Engine),
            ("application/vnd.retort.treesearch+json;q=0", AnswerShape::Engine),
            ("application/json", AnswerShape::Engine),
            ("application/*, */*", AnswerShape::Engine),
            ("image/png", AnswerShape::Engine),
        ];

        for (value, shape) in cases {
            let headers = HeaderMap::from_iter([(header::ACCEPT, value.parse().unwrap())]);
            assert_eq!(AnswerShape::of(&headers), shape, "{value}");
        }
        assert_eq!(AnswerShape::of(&HeaderMap::new()), AnswerShape::Engine);
    }
}
