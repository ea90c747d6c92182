//! An authorization request, parsed once into a type that is always valid (RFC 6749, section 4; OpenID Connect Core,
//! section 3).
//!
//! Nothing is redirected until the application and its address are known to belong together: until then the person
//! sees an error page. Later errors go to the application at its address.

use axum::response::{IntoResponse, Redirect, Response};
use contract::{Flow, scope};
use url::form_urlencoded;

use crate::{
    error::PageError,
    form::Form,
    identity::Identity,
    scopes,
    settings::Switch,
    tables::applications::{self, Application},
};

/// Maximum length of a request, in bytes.
const MAX_REQUEST: usize = 4096;

/// A request of a registered application.
#[derive(Debug)]
pub struct AuthorizationRequest {
    pub application: Application,
    pub reply: Reply,
    pub response: RequestedResponse,
    /// Requested scopes, all of them allowed for the application; the account may hold fewer.
    pub scopes: Vec<String>,
    pub prompt: Prompt,
    /// Maximum age of the login, in seconds.
    pub max_age_seconds: Option<u32>,
    pub login_hint: Option<String>,
    /// Parameters, to be sent back with a form.
    pub form: Form,
}

/// Response that the application wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedResponse {
    /// A code, bound to the challenge.
    Code { challenge: String, nonce: Option<String> },
    /// An access token.
    Token,
    /// An access token, and an ID token that repeats the nonce.
    TokenAndIdToken { nonce: String },
}

/// Pages that the application wants to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prompt {
    /// The pages that are needed.
    #[default]
    Needed,
    /// No page: the application prefers an error.
    None,
    /// The login, and the consent as needed.
    Login,
    /// The consent, and the login as needed.
    Consent,
    /// The login and the consent.
    LoginAndConsent,
}

/// Address and form of the answer.
#[derive(Debug, Clone)]
pub struct Reply {
    pub redirect_uri: String,
    mode: Mode,
    state: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Query,
    Fragment,
}

/// An error for the application (RFC 6749, section 4.1.2.1).
#[derive(Debug)]
pub struct AuthorizationError {
    pub reply: Reply,
    pub error: (&'static str, &'static str),
}

/// Result of parsing a request.
pub enum ParsedRequest {
    Valid(Box<AuthorizationRequest>),
    Refused(AuthorizationError),
}

impl AuthorizationRequest {
    /// Parses the request in `query`.
    pub async fn read(identity: &Identity, query: &str) -> Result<ParsedRequest, PageError> {
        if query.len() > MAX_REQUEST {
            return Err(PageError::BadRequest("The request of the application is too long."));
        }
        let form = Form::parse(query.as_bytes())?;
        let client_id = form.get("client_id").unwrap_or_default();
        let Some(application) = applications::find(&identity.pool, client_id).await? else {
            return Err(PageError::BadRequest("The application that sent you here is not registered."));
        };
        Self::of(application, form, &identity.settings.public_url, identity.settings.implicit_flow)
    }

    /// Parses the request of `application` in the parameters of `form`, for the service at `public_url`.
    pub fn of(
        application: Application,
        form: Form,
        public_url: &str,
        implicit_flow: Switch,
    ) -> Result<ParsedRequest, PageError> {
        let address = form.get("redirect_uri");
        let address = address.filter(|address| application.allows_redirect_to(address, public_url));
        let Some(redirect_uri) = address.map(str::to_owned) else {
            return Err(PageError::BadRequest(
                "The application asks to send you to an address that is not registered for it.",
            ));
        };
        let mut reply =
            Reply { redirect_uri, mode: Mode::Query, state: form.get("state").map(str::to_owned) };
        Ok(match parse(implicit_flow, &application, &form, &mut reply) {
            Ok((wanted, scopes, prompt, max_age_seconds)) => ParsedRequest::Valid(Box::new(Self {
                application,
                reply,
                response: wanted,
                scopes,
                prompt,
                max_age_seconds,
                login_hint: form.get("login_hint").map(str::to_owned),
                form,
            })),
            Err(error) => ParsedRequest::Refused(AuthorizationError { reply, error }),
        })
    }

    pub fn refuse(&self, error: &'static str, description: &'static str) -> AuthorizationError {
        AuthorizationError { reply: self.reply.clone(), error: (error, description) }
    }
}

type Parsed = (RequestedResponse, Vec<String>, Prompt, Option<u32>);
type RequestFault = (&'static str, &'static str);

fn parse(
    implicit_flow: Switch,
    application: &Application,
    form: &Form,
    reply: &mut Reply,
) -> Result<Parsed, RequestFault> {
    let kind = ResponseKind::read(form)?;
    if kind != ResponseKind::Code {
        reply.mode = Mode::Fragment;
    }
    match (form.get("response_mode"), kind) {
        (None, _) => {}
        (Some("fragment"), _) => reply.mode = Mode::Fragment,
        (Some("query"), ResponseKind::Code) => {}
        _ => return Err(("invalid_request", "this response_mode is not for this response_type")),
    }
    if kind != ResponseKind::Code && implicit_flow == Switch::Off {
        return Err(("unsupported_response_type", "the implicit flow is switched off here"));
    }
    let flow = if kind == ResponseKind::Code { Flow::Code } else { Flow::Implicit };
    if !application.allows(flow) {
        return Err(("unauthorized_client", "the application is not registered for this flow"));
    }
    if form.get("request").is_some() {
        return Err(("request_not_supported", "request objects are not supported"));
    }
    if form.get("request_uri").is_some() {
        return Err(("request_uri_not_supported", "request objects are not supported"));
    }
    let scopes = parse_scopes(application, form, kind)?;
    let nonce = form.get("nonce").map(str::to_owned);
    let wanted = match kind {
        ResponseKind::Code => RequestedResponse::Code { challenge: parse_challenge(form)?, nonce },
        ResponseKind::Token => RequestedResponse::Token,
        ResponseKind::TokenAndIdToken => {
            if !scopes::has(&scopes, scope::OPENID) {
                return Err(("invalid_scope", "an ID token needs the scope openid"));
            }
            let nonce = nonce.ok_or(("invalid_request", "an ID token in a redirect needs a nonce"))?;
            RequestedResponse::TokenAndIdToken { nonce }
        }
    };
    let max_age = match form.get("max_age").map(str::parse) {
        None => None,
        Some(Ok(seconds)) => Some(seconds),
        Some(Err(_)) => return Err(("invalid_request", "max_age should be a number of seconds")),
    };
    Ok((wanted, scopes, parse_prompt(form)?, max_age))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResponseKind {
    Code,
    Token,
    TokenAndIdToken,
}

impl ResponseKind {
    /// Parses the response type, whose words come in any order.
    fn read(form: &Form) -> Result<Self, RequestFault> {
        let text = form.get("response_type").ok_or(("invalid_request", "response_type is missing"))?;
        let mut words: Vec<_> = text.split(' ').collect();
        words.sort_unstable();
        match words[..] {
            ["code"] => Ok(Self::Code),
            ["token"] => Ok(Self::Token),
            ["id_token", "token"] => Ok(Self::TokenAndIdToken),
            _ => Err(("unsupported_response_type", "want code, token or id_token token")),
        }
    }
}

/// Reads the PKCE challenge, which every application must send; `plain` is not allowed (RFC 9700, section 2.1.1).
fn parse_challenge(form: &Form) -> Result<String, RequestFault> {
    let challenge = form.get("code_challenge").ok_or(("invalid_request", "code_challenge is missing"))?;
    if form.get("code_challenge_method") != Some("S256") {
        return Err(("invalid_request", "code_challenge_method should be S256"));
    }
    if !crate::secrets::is_wellformed(challenge) {
        return Err(("invalid_request", "code_challenge is not the Base64 of a SHA-256"));
    }
    Ok(challenge.to_owned())
}

fn parse_scopes(
    application: &Application,
    form: &Form,
    kind: ResponseKind,
) -> Result<Vec<String>, RequestFault> {
    let Some(text) = form.get("scope") else { return Ok(scopes::default_scopes(&application.scopes)) };
    let mut wanted = scopes::parse(text);
    if !scopes::covers(&application.scopes, &wanted) {
        return Err(("invalid_scope", "a scope is unknown or not for this application"));
    }
    if kind != ResponseKind::Code {
        // A redirect carries no refresh token (OpenID Connect Core, section 11).
        wanted.retain(|scope| scope != scope::OFFLINE_ACCESS);
    }
    Ok(wanted)
}

fn parse_prompt(form: &Form) -> Result<Prompt, RequestFault> {
    let mut words = scopes::parse(form.get("prompt").unwrap_or_default());
    words.sort_unstable();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => Ok(Prompt::Needed),
        ["none"] => Ok(Prompt::None),
        // The login page also allows choosing another account.
        ["login"] | ["select_account"] | ["login", "select_account"] => Ok(Prompt::Login),
        ["consent"] => Ok(Prompt::Consent),
        ["consent", "login"] | ["consent", "select_account"] | ["consent", "login", "select_account"] => {
            Ok(Prompt::LoginAndConsent)
        }
        _ => Err(("invalid_request", "this prompt is unknown or contradicts itself")),
    }
}

impl Reply {
    /// Redirects the browser to the application with `pairs`, the state and the issuer (RFC 9207).
    pub fn send(&self, identity: &Identity, pairs: &[(&str, &str)]) -> Response {
        Redirect::to(&self.location(&identity.settings.issuer(), pairs)).into_response()
    }

    /// Builds the address of that redirect.
    pub fn location(&self, issuer: &str, pairs: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(pairs);
        if let Some(state) = &self.state {
            query.append_pair("state", state);
        }
        let query = query.append_pair("iss", issuer).finish();
        let join = match self.mode {
            Mode::Fragment => '#',
            Mode::Query if self.redirect_uri.contains('?') => '&',
            Mode::Query => '?',
        };
        format!("{}{join}{query}", self.redirect_uri)
    }
}

impl AuthorizationError {
    pub fn send(&self, identity: &Identity) -> Response {
        let (error, description) = self.error;
        self.reply.send(identity, &[("error", error), ("error_description", description)])
    }
}
