//! An OpenID Connect client library that is not ours goes through the flows.

use std::{convert::Infallible, future::Future, pin::Pin};

use openidconnect::{
    AccessTokenHash, AuthorizationCode, ClientId, ClientSecret, CsrfToken, HttpRequest, HttpResponse,
    IntrospectionUrl, IssuerUrl, Nonce, OAuth2TokenResponse, PkceCodeChallenge, RedirectUrl, RevocationUrl,
    Scope, TokenIntrospectionResponse, TokenResponse,
    core::{
        CoreAuthenticationFlow, CoreClient, CoreProviderMetadata, CoreRevocableToken, CoreUserInfoClaims,
    },
};

use crate::{
    browser::{Browser, REDIRECT, SECRET, SERVER},
    support::{ISSUER, Service},
};

type Sent = Pin<Box<dyn Future<Output = Result<HttpResponse, Infallible>> + Send>>;

/// The library's way to the service, whose public address leads nowhere in a test.
fn transport(service: &Service) -> impl Fn(HttpRequest) -> Sent + use<> {
    let (http, base) = (reqwest::Client::new(), service.base.clone());
    move |request| {
        let (http, base) = (http.clone(), base.clone());
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let path = parts.uri.path_and_query().unwrap().as_str();
            let request = http.request(parts.method, format!("{base}{path}")).headers(parts.headers);
            let response = request.body(body).send().await.unwrap();
            let mut answer = openidconnect::http::Response::builder().status(response.status());
            *answer.headers_mut().unwrap() = response.headers().clone();
            Ok(answer.body(response.bytes().await.unwrap().to_vec()).unwrap())
        })
    }
}

#[tokio::test]
async fn openidconnect_signs_a_person_in_and_checks_what_it_gets() {
    let service = Service::start_without_workers(&[]).await;
    SERVER.register(&service).await;
    let http = transport(&service);
    let issuer = IssuerUrl::new(ISSUER.to_owned()).unwrap();
    let metadata = CoreProviderMetadata::discover_async(issuer, &http).await.unwrap();
    let client = CoreClient::from_provider_metadata(
        metadata,
        ClientId::new(SERVER.client_id.to_owned()),
        Some(ClientSecret::new(SECRET.to_owned())),
    )
    .set_redirect_uri(RedirectUrl::new(REDIRECT.to_owned()).unwrap())
    .set_revocation_url(RevocationUrl::new("https://retort.test/auth/revoke".to_owned()).unwrap())
    .set_introspection_url(IntrospectionUrl::new(format!("{ISSUER}/introspect")).unwrap());
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let flow = CoreAuthenticationFlow::AuthorizationCode;
    let mut request = client.authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
    for scope in ["email", "profile", "offline_access", "generator_api.samples:read"] {
        request = request.add_scope(Scope::new(scope.to_owned()));
    }
    let (url, state, nonce) = request.set_pkce_challenge(challenge).url();

    let landed = Browser::new(&service).let_in(&url.as_str()["http://retort.test".len()..]).await;
    assert_eq!(&landed.query["state"], state.secret());
    let tokens = client
        .exchange_code(AuthorizationCode::new(landed.code()))
        .unwrap()
        .set_pkce_verifier(verifier)
        .request_async(&http)
        .await
        .unwrap();

    let id_token = tokens.id_token().unwrap();
    let id_verifier = client.id_token_verifier();
    let claims = id_token.claims(&id_verifier, &nonce).unwrap();
    assert_eq!(claims.subject().as_str(), service.account);
    assert_eq!(claims.email().unwrap().as_str(), "demo@example.org");
    assert!(claims.auth_time().is_some());
    let (alg, key) = (id_token.signing_alg().unwrap(), id_token.signing_key(&id_verifier).unwrap());
    let hash = AccessTokenHash::from_token(tokens.access_token(), alg, key).unwrap();
    assert_eq!(claims.access_token_hash(), Some(&hash));
    let subject = Some(claims.subject().clone());
    let person: CoreUserInfoClaims =
        client.user_info(tokens.access_token().clone(), subject).unwrap().request_async(&http).await.unwrap();
    assert_eq!(person.name().unwrap().get(None).unwrap().as_str(), "Demo");

    let refresh_token = tokens.refresh_token().unwrap();
    let next = client.exchange_refresh_token(refresh_token).unwrap().request_async(&http).await.unwrap();
    let introspected = client.introspect(next.access_token()).request_async(&http).await.unwrap();
    assert!(introspected.active());
    assert_eq!(introspected.sub(), Some(service.account.as_str()));
    let revocable = CoreRevocableToken::RefreshToken(next.refresh_token().unwrap().clone());
    client.revoke_token(revocable).unwrap().request_async(&http).await.unwrap();
    let introspected = client.introspect(next.access_token()).request_async(&http).await.unwrap();
    assert!(!introspected.active());
}
