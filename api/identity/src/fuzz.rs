//! Properties that must hold for any tokens, keys, forms and headers from outside: for the fuzz targets in
//! `ops/fuzz`, and for the tests here, which use the same seeds.

use std::{
    sync::LazyLock,
    time::{SystemTime, UNIX_EPOCH},
};

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use contract::{Flow, scope};
use ed25519_dalek::{Signer as _, SigningKey};
use jsonwebtoken::DecodingKey;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    form::Form,
    http::{
        client::basic,
        request::{AuthorizationRequest, ParsedRequest},
    },
    identity::bearer,
    network::behind,
    settings::{AUDIENCE, Switch, Transport},
    tables::{applications::Application, sessions::Cookie},
    tokens::{
        issuers::{RawJwkSet, external_subject},
        jwt,
        key::thumbprint,
        keys::{AccessTokenClaims, access_header, access_rules},
    },
};

const ISSUER: &str = "http://retort.test/auth";
const ELSEWHERE: &str = "https://elsewhere.test";
/// Allowed clock difference, in seconds.
const LEEWAY: u64 = 60;

/// Signing key of these tests, and its public half.
struct TestKeyPair {
    signing: SigningKey,
    public: String,
    kid: String,
    decoding: DecodingKey,
}

static PAIR: LazyLock<TestKeyPair> = LazyLock::new(|| {
    let signing = SigningKey::from_bytes(&[7; 32]);
    let public = URL_SAFE_NO_PAD.encode(signing.verifying_key().as_bytes());
    let decoding = DecodingKey::from_ed_components(&public).expect("fuzz: a point is a key");
    TestKeyPair { signing, kid: thumbprint(&public), public, decoding }
});

/// Checks a bearer token as sent; or, if the input has two lines, the header and the claims of a token that our key
/// signs. No token is accepted without our signature, and a signed one only if it is meant for us and valid now.
pub fn jwt(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    match text.split_once('\n') {
        Some((head, claims)) => signed(head, claims),
        None => assert!(read(text).is_err(), "nobody signed it"),
    }
}

/// Reads the claims of an access token, as for every request.
fn read(token: &str) -> Result<AccessTokenClaims, ()> {
    let kid = access_header(token).and_then(|header| jwt::kid(&header).map(str::to_owned)).map_err(drop)?;
    if kid != PAIR.kid {
        return Err(());
    }
    jwt::claims(token, &PAIR.decoding, &access_rules(ISSUER)).map_err(drop)
}

fn signed(head: &str, claims: &str) {
    let head = head.replace("KID", &PAIR.kid);
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(head), URL_SAFE_NO_PAD.encode(claims));
    let signature = PAIR.signing.sign(message.as_bytes()).to_bytes();
    let token = format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature));

    let claims = || serde_json::from_str::<DecisiveClaims>(claims).expect("what was let in is JSON");
    if let Ok(verified) = read(&token) {
        let _ = verified.login_micros();
        assert!(verified.exp.saturating_add(LEEWAY) >= now(), "it has ended");
        assert_eq!(claims().sub, *verified.sub);
        assert_issuer_and_audience(&claims(), ISSUER);
    }
    let keys = serde_json::json!({ "keys": [
        { "kty": "OKP", "crv": "Ed25519", "x": PAIR.public, "kid": PAIR.kid, "use": "sig" },
    ] });
    let keys: RawJwkSet = serde_json::from_value(keys).expect("fuzz: a key set is one");
    if let Ok(external_subject) = external_subject(ELSEWHERE, &token, &keys.usable(), &[AUDIENCE.to_owned()])
    {
        assert!(external_subject.scopes.iter().all(|held| scope::ALL.iter().any(|(known, _)| known == held)));
        assert!(!external_subject.account_id.is_empty());
        assert_issuer_and_audience(&claims(), ELSEWHERE);
    }
}

/// Claims that decide. Other claims are not parsed, since they may contain numbers out of range.
#[derive(Deserialize)]
struct DecisiveClaims {
    iss: Value,
    aud: Value,
    sub: Value,
}

/// Asserts that `iss` and `aud` (each a text or a list) match.
fn assert_issuer_and_audience(claims: &DecisiveClaims, issuer: &str) {
    for (claim, wanted) in [(&claims.iss, issuer), (&claims.aud, AUDIENCE)] {
        let is_named = match claim {
            Value::Array(all) => all.iter().any(|one| one == wanted),
            one => one == wanted,
        };
        assert!(is_named, "{claim} is not {wanted}");
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Checks the JWK set of another issuer: its keys never accept a token that they did not sign.
pub fn issuer_keys(input: &[u8]) {
    let Ok(keys) = serde_json::from_slice::<RawJwkSet>(input) else { return };
    let keys = keys.usable();
    for (kid, key) in keys.iter().take(8) {
        let part = |json: Value| URL_SAFE_NO_PAD.encode(json.to_string());
        let head = part(serde_json::json!({ "alg": format!("{:?}", key.algorithm), "kid": kid }));
        let claims =
            part(serde_json::json!({ "iss": ELSEWHERE, "aud": AUDIENCE, "sub": "x", "exp": now() + 60 }));
        // Signatures of these algorithms have 64 bytes, or as many as the modulus.
        for length in [64, 256] {
            let token = format!("{head}.{claims}.{}", URL_SAFE_NO_PAD.encode(vec![1_u8; length]));
            assert!(
                external_subject(ELSEWHERE, &token, &keys, &[AUDIENCE.to_owned()]).is_err(),
                "nobody signed it"
            );
        }
    }
}

/// Checks a form, or the query of an authorization request: it survives a round trip of writing and parsing, and an
/// answer goes only to the application's own address.
pub fn form(input: &[u8]) {
    let Ok(form) = Form::parse(input) else { return };
    let again = Form::parse(form.to_query().as_bytes());
    assert_eq!(again.map(|form| form.to_query()).ok(), Some(form.to_query()));
    for implicit_flow in [Switch::On, Switch::Off] {
        let Ok(read) = AuthorizationRequest::of(application(), form.clone(), ISSUER, implicit_flow) else {
            continue;
        };
        let (reply, pairs) = match read {
            ParsedRequest::Valid(wanted) => {
                assert!(wanted.scopes.iter().all(|scope| application().scopes.contains(scope)));
                (wanted.reply, [("code", "x"), ("scope", "y")])
            }
            ParsedRequest::Refused(refusal) => {
                (refusal.reply, [("error", refusal.error.0), ("error_description", refusal.error.1)])
            }
        };
        let location = reply.location(ISSUER, &pairs);
        assert!(
            application().allows_redirect_to(&reply.redirect_uri, ISSUER)
                && location.starts_with(&reply.redirect_uri)
        );
        assert!(HeaderValue::try_from(location).is_ok(), "a browser can be sent there");
    }
}

fn application() -> Application {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    Application {
        client_id: "app".to_owned(),
        name: "App".to_owned(),
        secret_hash: None,
        redirect_uris: words(&["https://app.test/back", "http://127.0.0.1/back?x=1"]),
        logout_uris: Vec::new(),
        flows: words(&[Flow::Code.as_str(), Flow::Implicit.as_str()]),
        scopes: words(&[scope::OPENID, scope::OFFLINE_ACCESS, scope::SAMPLES_READ]),
    }
}

/// Checks every header that is parsed here.
pub fn headers(input: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(input) else { return };
    let with = |name: HeaderName| HeaderMap::from_iter([(name, value.clone())]);
    if let Ok(token) = bearer(&with(header::AUTHORIZATION)) {
        assert!(!token.is_empty() && token.trim() == token);
        let _ = read(token);
    }
    if let Some((name, _)) = value.to_str().ok().and_then(basic) {
        assert!(!name.contains('\0'));
    }
    let cookies = with(header::COOKIE);
    for cookie in [Cookie::Session, Cookie::Form, Cookie::Device] {
        let secret = cookie.read(&cookies, Transport::Plain);
        assert!(secret.is_none_or(|secret| crate::secrets::is_wellformed(&secret)));
    }
    let proxies = ["10.0.0.0/8".parse().expect("fuzz: a network is one")];
    let peer = [10, 0, 0, 1].into();
    let _ = behind(&proxies, peer, &with(HeaderName::from_static("x-forwarded-for")));
}

#[cfg(test)]
mod tests {
    use test_support::replay;

    use super::*;

    #[test]
    fn any_token_is_refused_unless_it_is_ours_for_us_and_in_its_time() {
        replay("jwt", 3_000, jwt);
    }

    #[test]
    fn any_keys_of_an_issuer_are_read_or_left_out() {
        replay("issuer_keys", 3_000, issuer_keys);
    }

    #[test]
    fn any_form_is_read_as_it_is_written_or_refused() {
        replay("form", 10_000, form);
    }

    #[test]
    fn any_header_is_read_or_refused() {
        replay("headers", 10_000, headers);
    }

    #[test]
    fn a_good_token_is_let_in() {
        let head = r#"{"alg":"EdDSA","typ":"at+jwt","kid":"KID"}"#.replace("KID", &PAIR.kid);
        let claims = format!(r#"{{"iss":"{ISSUER}","aud":"retort","sub":"acc_1","exp":{}}}"#, now() + 60);
        let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(head), URL_SAFE_NO_PAD.encode(claims));
        let signature = PAIR.signing.sign(message.as_bytes()).to_bytes();

        let verified = read(&format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)));

        assert_eq!(verified.map(|verified| verified.sub), Ok("acc_1".to_owned()));
    }
}
