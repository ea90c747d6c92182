//! Client authentication: the application that makes a request, proven by its secret if it has one (RFC 6749, section
//! 2.3).

use axum::{
    extract::Request,
    http::{HeaderMap, header},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use sqlx::PgPool;
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use crate::{
    error::{ClientProof, TokenError},
    form::Form,
    secrets,
    tables::applications::{self, Application},
};

/// Returns the application that makes the request, and the request's form.
pub async fn read(pool: &PgPool, request: Request) -> Result<(Application, Form), TokenError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    Ok((authenticate(pool, &headers, &form).await?, form))
}

/// Authenticates the application that makes the request.
pub async fn authenticate(
    pool: &PgPool,
    headers: &HeaderMap,
    form: &Form,
) -> Result<Application, TokenError> {
    let (client_id, secret, proof) = credentials(headers, form)?;
    let refused = TokenError::InvalidClient(proof);
    let Some(application) = applications::find(pool, &client_id).await? else { return Err(refused) };
    let proven = match (&application.secret_hash, secret) {
        (None, None) => true,
        (Some(hash), Some(secret)) => secrets::hash(&secret).ct_eq(hash).into(),
        _ => false,
    };
    if !proven {
        tracing::warn!(target: "audit", client_id, "an application failed to prove itself");
        return Err(refused);
    }
    Ok(application)
}

/// Reads the client id and secret, from the header or the form; never from both.
fn credentials(
    headers: &HeaderMap,
    form: &Form,
) -> Result<(String, Option<String>, ClientProof), TokenError> {
    let (id, secret) = (form.get("client_id"), form.get("client_secret"));
    let Some(header) = headers.get(header::AUTHORIZATION) else {
        let id = id.ok_or(TokenError::MISSING)?;
        return Ok((id.to_owned(), secret.map(str::to_owned), ClientProof::Form));
    };
    let refused = || TokenError::InvalidClient(ClientProof::Header);
    let (name, password) = header.to_str().ok().and_then(basic).ok_or_else(refused)?;
    if secret.is_some() || id.is_some_and(|id| id != name) {
        return Err(TokenError::InvalidRequest("the application names itself in two ways"));
    }
    Ok((name, Some(password), ClientProof::Header))
}

/// Parses a Basic header. Both halves are form-encoded before they are joined (RFC 6749, section 2.3.1).
pub fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (name, password) = text.split_once(':')?;
    let decode = |text: &str| {
        // Parsed as the value of an empty name; an `&`, which would end it, is escaped in a correct encoding.
        let value = format!("={}", text.replace('&', "%26"));
        form_urlencoded::parse(value.as_bytes()).next().map(|(_, value)| value.into_owned())
    };
    let (name, password) = (decode(name)?, decode(password)?);
    // PostgreSQL rejects a query with a NUL character.
    (!name.contains('\0')).then_some((name, password))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_credentials_are_form_encoded_before_they_are_joined() {
        let header = format!("Basic {}", STANDARD.encode("app%3A1:p%26q+r"));

        assert_eq!(basic(&header), Some(("app:1".to_owned(), "p&q r".to_owned())));
        assert_eq!(basic("Basic !"), None);
        assert_eq!(basic("Bearer eyJ"), None);
    }
}
