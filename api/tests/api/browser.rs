//! Minimal browser for the authorization server: cookies, forms, redirects; and an application that sends it there.

use std::{cell::RefCell, collections::BTreeMap};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use reqwest::{RequestBuilder, redirect::Policy};
use sha2::{Digest, Sha256};

use crate::support::{Answer, PASSWORD, Service, answer};

pub const REDIRECT: &str = "https://app.test/callback";
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const SECRET: &str = "a secret of 256 random bits, for once not random";

/// Application as registered by `retort app add`.
pub struct Application {
    pub client_id: &'static str,
    pub secret: Option<&'static str>,
    pub redirects: &'static [&'static str],
    pub flows: &'static [&'static str],
    pub scopes: &'static [&'static str],
}

const EVERYTHING: &[&str] = &[
    "generator_api.samples:create",
    "generator_api.samples:read",
    "generator_api.models:read",
    "email",
    "profile",
    "openid",
    "offline_access",
];

/// Web page: a public client, over TLS.
pub const PAGE: Application = Application {
    client_id: "app_page",
    secret: None,
    redirects: &[REDIRECT],
    flows: &["code", "implicit"],
    scopes: EVERYTHING,
};

/// Server: a confidential client.
pub const SERVER: Application =
    Application { client_id: "app_server", secret: Some(SECRET), flows: &["code"], ..PAGE };

/// Program on the user's machine.
pub const PROGRAM: Application = Application {
    client_id: "app_program",
    redirects: &["http://127.0.0.1/callback"],
    flows: &["code", "device"],
    ..PAGE
};

impl Application {
    pub async fn register(&self, service: &Service) {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        sqlx::query(
            "insert into applications \
             (client_id, name, secret_hash, redirect_uris, logout_uris, flows, scopes) \
             values ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(self.client_id)
        .bind(format!("Test <{}>", self.client_id))
        .bind(self.secret.map(|secret| Sha256::digest(secret).to_vec()))
        .bind(owned(self.redirects))
        .bind(owned(&["https://app.test/bye"]))
        .bind(owned(self.flows))
        .bind(owned(self.scopes))
        .execute(&service.pool)
        .await
        .unwrap();
    }

    /// Builds the parameters of an authorization request, with `changes`; an empty value removes one.
    pub fn request(&self, changes: &[(&str, &str)]) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        let mut pairs = BTreeMap::from([
            ("response_type", "code"),
            ("client_id", self.client_id),
            ("redirect_uri", self.redirects[0]),
            ("scope", "openid email offline_access generator_api.samples:read"),
            ("state", "xyz"),
            ("nonce", "n-0S6"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        pairs.extend(changes.iter().copied());
        pairs.retain(|_, value| !value.is_empty());
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        format!("/auth/authorize?{query}")
    }

    /// Exchanges `code` at the token endpoint, with `changes`.
    pub async fn exchange(&self, service: &Service, code: &str, changes: &[(&str, &str)]) -> Answer {
        let mut form = BTreeMap::from([
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", self.redirects[0]),
            ("code_verifier", VERIFIER),
        ]);
        form.extend(changes.iter().copied());
        self.post(service, "/auth/token", form).await
    }

    pub async fn refresh(&self, service: &Service, token: &str) -> Answer {
        let form = BTreeMap::from([("grant_type", "refresh_token"), ("refresh_token", token)]);
        self.post(service, "/auth/token", form).await
    }

    /// Posts a form with the application's id and secret.
    pub async fn post(&self, service: &Service, path: &str, mut form: BTreeMap<&str, &str>) -> Answer {
        form.entry("client_id").or_insert(self.client_id);
        if let Some(secret) = self.secret {
            form.entry("client_secret").or_insert(secret);
        }
        form.retain(|_, value| !value.is_empty());
        answer(service.http.post(format!("{}{path}", service.base)).form(&form)).await
    }

    /// Runs the whole flow: login, consent, code, tokens.
    pub async fn tokens(&self, service: &Service) -> serde_json::Value {
        let browser = Browser::new(service);
        let redirected = browser.log_in_and_allow(&self.request(&[])).await;
        let tokens = self.exchange(service, &redirected.code(), &[]).await;
        assert_eq!(tokens.status, 200, "{tokens:?}");
        tokens.json()
    }
}

/// Redirect target outside the service.
#[derive(Debug)]
pub struct RedirectTarget {
    pub address: String,
    pub query: BTreeMap<String, String>,
    pub fragment: BTreeMap<String, String>,
}

impl RedirectTarget {
    /// Parses the `Location` of an answer that redirects to an application.
    pub fn of(answer: &Answer) -> Self {
        let location = answer.header("location");
        let url = url::Url::parse(location).unwrap_or_else(|_| panic!("leads nowhere else: {answer:?}"));
        let pairs = |text: Option<&str>| {
            url::form_urlencoded::parse(text.unwrap_or_default().as_bytes()).into_owned().collect()
        };
        let address = location.split(['?', '#']).next().unwrap().to_owned();
        Self { address, query: pairs(url.query()), fragment: pairs(url.fragment()) }
    }

    pub fn code(&self) -> String {
        self.query.get("code").unwrap_or_else(|| panic!("no code: {self:?}")).clone()
    }

    pub fn error(&self) -> &str {
        let error = self.query.get("error").or_else(|| self.fragment.get("error"));
        error.unwrap_or_else(|| panic!("no error: {self:?}"))
    }
}

pub struct Browser<'a> {
    service: &'a Service,
    http: reqwest::Client,
    pub cookies: RefCell<BTreeMap<String, String>>,
}

impl<'a> Browser<'a> {
    pub fn new(service: &'a Service) -> Self {
        let http = reqwest::Client::builder().redirect(Policy::none()).build().unwrap();
        Self { service, http, cookies: RefCell::default() }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.http.get(format!("{}{path}", self.service.base))).await
    }

    /// Posts a form as one of our own pages does.
    pub async fn post(&self, path: &str, form: &[(&str, &str)]) -> Answer {
        let request = self.http.post(format!("{}{path}", self.service.base)).form(form);
        self.send(request.header("origin", "http://retort.test")).await
    }

    /// Posts a form with `headers`, from any origin.
    pub async fn post_with(&self, path: &str, form: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        let mut request = self.http.post(format!("{}{path}", self.service.base)).form(form);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request).await
    }

    async fn send(&self, request: RequestBuilder) -> Answer {
        let cookies: Vec<_> =
            self.cookies.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = if cookies.is_empty() { request } else { request.header("cookie", cookies.join("; ")) };
        let answer = answer(request).await;
        for cookie in answer.headers.get_all("set-cookie") {
            let (name, rest) = cookie.to_str().unwrap().split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if value.is_empty() {
                self.cookies.borrow_mut().remove(name);
            } else {
                self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }

    /// Follows redirects within the service.
    pub async fn follow(&self, mut answer: Answer) -> Answer {
        while answer.header("location").starts_with('/') {
            let location = answer.header("location").to_owned();
            answer = self.get(&location).await;
        }
        answer
    }

    /// Fills in the login page `page`.
    pub async fn fill_in(&self, page: &Answer, email: &str, password: &str) -> Answer {
        let (request, proof) = (hidden(page, "request"), hidden(page, "proof"));
        let form = [("request", &*request), ("proof", &*proof), ("email", email), ("password", password)];
        self.post("/auth/login", &form).await
    }

    /// Answers the consent page `page`.
    pub async fn decide(&self, page: &Answer, decision: &str) -> Answer {
        let (request, proof) = (hidden(page, "request"), hidden(page, "proof"));
        let form = [("request", &*request), ("proof", &*proof), ("decision", decision)];
        self.post("/auth/consent", &form).await
    }

    /// Logs the demo account in during the flow of `request`; returns the next page or redirect.
    pub async fn log_in(&self, request: &str) -> Answer {
        let page = self.get(request).await;
        assert!(page.text.contains("<h1>Log in</h1>"), "{page:?}");
        let answer = self.fill_in(&page, "demo@example.org", PASSWORD).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        self.follow(answer).await
    }

    /// Logs in and allows all that is requested.
    pub async fn log_in_and_allow(&self, request: &str) -> RedirectTarget {
        let mut answer = self.get(request).await;
        if answer.text.contains("<h1>Log in</h1>") {
            answer = self.fill_in(&answer, "demo@example.org", PASSWORD).await;
            answer = self.follow(answer).await;
        }
        if answer.text.contains("<h1>Allow access</h1>") {
            answer = self.decide(&answer, "allow").await;
        }
        RedirectTarget::of(&answer)
    }
}

/// Returns the value of the hidden field `name`.
pub fn hidden(page: &Answer, name: &str) -> String {
    let marker = format!("name=\"{name}\" value=\"");
    let (_, rest) = page.text.split_once(&marker).unwrap_or_else(|| panic!("no {name}: {page:?}"));
    rest.split('"').next().unwrap().replace("&amp;", "&")
}
