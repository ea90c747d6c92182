//! Parameters of a request to the authorization server, from a form or a query.

use std::collections::BTreeMap;

use axum::{extract::Request, http::header};
use http_errors::{ApiError, body};
use url::form_urlencoded;

/// The largest form, in bytes.
const MAX_FORM: usize = 32 * 1024;

/// The parameters; an empty one counts as omitted (RFC 6749, section 3.1).
#[derive(Debug, Clone, Default)]
pub struct Form(BTreeMap<String, String>);

/// Error of parsing the parameters.
#[derive(Debug)]
pub enum FormError {
    /// The body is not `application/x-www-form-urlencoded`.
    NotAForm,
    /// A parameter occurs twice, so two parsers could use different values.
    Repeated,
    /// A value contains a NUL character, which PostgreSQL cannot store.
    Nul,
    /// The body did not arrive.
    Body(ApiError),
}

impl Form {
    /// Reads the body of `request`.
    pub async fn read(request: Request) -> Result<Self, FormError> {
        let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(FormError::NotAForm);
        }
        let bytes = body(request.into_body(), MAX_FORM).await.map_err(FormError::Body)?;
        Self::parse(&bytes)
    }

    /// Parses a form or a query.
    pub fn parse(text: &[u8]) -> Result<Self, FormError> {
        let mut form = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(text) {
            if value.contains('\0') {
                return Err(FormError::Nul);
            }
            if !value.is_empty() && form.insert(name.into_owned(), value.into_owned()).is_some() {
                return Err(FormError::Repeated);
            }
        }
        Ok(Self(form))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn set(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.0.insert(name.to_owned(), value.to_owned()),
            None => self.0.remove(name),
        };
    }

    /// Formats the parameters as a query, ordered by name.
    pub fn to_query(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_counts_once_and_an_empty_one_not_at_all() {
        let form = Form::parse(b"a=1&b=&c=x%20y").unwrap();

        assert_eq!((form.get("a"), form.get("b"), form.get("c")), (Some("1"), None, Some("x y")));
        assert_eq!(form.to_query(), "a=1&c=x+y");
        assert!(matches!(Form::parse(b"a=1&a=1"), Err(FormError::Repeated)));
        assert!(matches!(Form::parse(b"a=%00"), Err(FormError::Nul)));
    }
}
