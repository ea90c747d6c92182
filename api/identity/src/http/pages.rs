//! HTML pages: login, consent, logout, and errors.
//!
//! They are rendered on the server, without scripts, in the browser's own fonts and colours. maud escapes all values,
//! and a content security policy forbids the page everything that it does not need.

use axum::{
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
};
use contract::scope::OPERATIONS;
use maud::{DOCTYPE, Markup, html};
use url::Url;

use crate::{
    http::csrf::Purpose,
    scopes,
    tables::{
        device_codes::Decision, organisations::MAX_LISTED_MEMBERS, script_tokens, sessions::SessionAccount,
    },
};

/// A page with its headers.
#[derive(Debug)]
pub struct HtmlPage {
    markup: Markup,
    /// Additional target to which the form's answer may redirect: browsers apply the policy to redirects too.
    allow_redirect: Option<String>,
    cookie: Option<String>,
}

/// The login page.
#[derive(Debug)]
pub struct LoginPage<'a> {
    /// Application that the login is for; `None`: a device.
    pub application: Option<&'a str>,
    /// Purpose of the login form, which its CSRF token covers.
    pub purpose: Purpose,
    pub request: &'a str,
    /// E-mail address to fill in at first.
    pub email: &'a str,
}

/// The page that asks whether an application may act for the person.
#[derive(Debug)]
pub struct Consent<'a> {
    pub application: &'a str,
    /// Address that receives the answer.
    pub address: &'a str,
    pub person: &'a SessionAccount,
    pub scopes: &'a [String],
    pub request: &'a str,
    pub csrf_token: &'a str,
}

impl HtmlPage {
    fn new(title: &str, content: Markup) -> Self {
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (title) " · Retort" }
                    link rel="stylesheet" href="/auth/pages.css";
                }
                body { main { h1 { (title) } (content) } }
            }
        };
        Self { markup, allow_redirect: None, cookie: None }
    }

    /// Allows the form's answer to redirect to `address`.
    pub fn allow_redirect(self, address: &str) -> Self {
        Self { allow_redirect: csp_source(address), ..self }
    }

    /// Sets a cookie with the page.
    pub fn sets(self, cookie: String) -> Self {
        Self { cookie: Some(cookie), ..self }
    }
}

impl IntoResponse for HtmlPage {
    fn into_response(self) -> Response {
        let policy = format!(
            "default-src 'none'; style-src 'self'; form-action 'self' {}; base-uri 'none'; frame-ancestors 'none'",
            self.allow_redirect.unwrap_or_default()
        );
        let mut response = Html(self.markup.into_string()).into_response();
        let mut set = |name, value: String| {
            let value = HeaderValue::try_from(value).expect("pages: header values of ours are plain ASCII");
            response.headers_mut().insert(name, value);
        };
        set(header::CONTENT_SECURITY_POLICY, policy);
        // With `no-referrer`, browsers would not report the origin of a form.
        set(header::REFERRER_POLICY, "same-origin".to_owned());
        if let Some(cookie) = self.cookie {
            set(header::SET_COOKIE, cookie);
        }
        response
    }
}

/// `GET /auth/pages.css`.
pub async fn style() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];
    (headers, include_str!("pages.css"))
}

/// Asks for e-mail address and password; `failed` says what was wrong with the last attempt.
pub fn login(login: &LoginPage<'_>, csrf_token: &str, failed: Option<&str>) -> HtmlPage {
    let content = html! {
        @match login.application {
            Some(application) => p { "Log in to continue to " strong { (application) } "." },
            None => p { "Log in to let a device in." },
        }
        @if let Some(failed) = failed {
            p #failed .failed role="alert" { (failed) }
        }
        form method="post" action="/auth/login" {
            input type="hidden" name="to" value=(login.purpose.as_str());
            input type="hidden" name="request" value=(login.request);
            input type="hidden" name="proof" value=(csrf_token);
            label for="email" { "E-mail address" }
            input #email type="email" name="email" value=(login.email) autocomplete="username" required
                autofocus[login.email.is_empty()] aria-describedby=[failed.map(|_| "failed")];
            label for="password" { "Password" }
            input #password type="password" name="password" autocomplete="current-password" required
                autofocus[!login.email.is_empty()] aria-describedby=[failed.map(|_| "failed")];
            button type="submit" { "Log in" }
        }
    };
    HtmlPage::new("Log in", content)
}

/// Asks whether to log in to the account of a link.
pub fn link(email: &str, code: &str, csrf_token: &str) -> HtmlPage {
    let content = html! {
        p { "This link logs this browser in as " strong { (email) } ", once." }
        form method="post" action="/auth/link" {
            input type="hidden" name="request" value=(code);
            input type="hidden" name="proof" value=(csrf_token);
            button type="submit" autofocus { "Log in" }
        }
        p { small { "Is that not you? Then somebody wants you to work in their account: close this page." } }
    };
    HtmlPage::new("Log in by a link", content)
}

pub fn consent(consent: &Consent<'_>) -> HtmlPage {
    let content = html! {
        p { strong { (consent.application) } " asks to act for you at Retort." }
        p { "You are logged in as " strong { (consent.person.email) } ". The answer goes to "
            strong { (describe_receiver(consent.address)) } "." }
        (permissions(consent.scopes))
        (decision("/auth/consent", consent.request, consent.csrf_token))
    };
    HtmlPage::new("Allow access", content)
}

fn permissions(scopes: &[String]) -> Markup {
    html! {
        @if scopes.is_empty() {
            p { "It may search for routes, and nothing else." }
        } @else {
            p { "It may search for routes, and:" }
            ul { @for scope in scopes { li { (scopes::meaning(scope)) " " small { (scope) } } } }
        }
    }
}

fn decision(action: &str, request: &str, csrf_token: &str) -> Markup {
    html! {
        form method="post" action=(action) {
            input type="hidden" name="request" value=(request);
            input type="hidden" name="proof" value=(csrf_token);
            button type="submit" name="decision" value="allow" { "Allow" }
            button .quiet type="submit" name="decision" value="deny" { "Refuse" }
        }
        p { small { "Not you? " a href="/auth/logout" { "Log out" } " first." } }
    }
}

/// Asks for the code that a device shows.
pub fn device(code: &str, csrf_token: &str, failed: Option<&str>) -> HtmlPage {
    let content = html! {
        p { "Type the code that your device shows. If you did not begin this on a device of yours, close this page." }
        @if let Some(failed) = failed {
            p #failed .failed role="alert" { (failed) }
        }
        form method="post" action="/auth/device" {
            input type="hidden" name="proof" value=(csrf_token);
            label for="user_code" { "Code" }
            input #user_code .code type="text" name="user_code" value=(code) autocomplete="off" spellcheck="false"
                autocapitalize="characters" required autofocus aria-describedby=[failed.map(|_| "failed")];
            button type="submit" { "Continue" }
        }
    };
    HtmlPage::new("Let a device in", content)
}

/// The page that asks whether a device may act for the person.
#[derive(Debug)]
pub struct AllowDevice<'a> {
    pub application: &'a str,
    pub person: &'a SessionAccount,
    pub scopes: &'a [String],
    pub code: &'a str,
    pub request: &'a str,
    pub csrf_token: &'a str,
}

pub fn allow_device(allow: &AllowDevice<'_>) -> HtmlPage {
    let content = html! {
        p { strong { (allow.application) } " asks to act for you at Retort, on the device that shows this code:" }
        p .code { (allow.code) }
        p { "You are logged in as " strong { (allow.person.email) } "." }
        (permissions(allow.scopes))
        (decision("/auth/device/decision", allow.request, allow.csrf_token))
    };
    HtmlPage::new("Allow access", content)
}

pub fn device_decided(decision: Decision) -> HtmlPage {
    let text = match decision {
        Decision::Allowed => "The device is let in. You can close this page.",
        Decision::Refused => "The device is refused. You can close this page.",
    };
    HtmlPage::new("Done", html! { p { (text) } })
}

pub fn logout(person: &SessionAccount, request: &str, csrf_token: &str) -> HtmlPage {
    let content = html! {
        p { "You are logged in as " strong { (person.email) } "." }
        form method="post" action="/auth/logout" {
            input type="hidden" name="request" value=(request);
            input type="hidden" name="proof" value=(csrf_token);
            button type="submit" { "Log out" }
        }
    };
    HtmlPage::new("Log out", content)
}

/// Items that a person holds, each with the form that ends it.
#[derive(Debug)]
pub struct AccountPage<'a> {
    pub person: &'a SessionAccount,
    /// Name of the organisation.
    pub organisation: Option<&'a str>,
    /// Members of the organisation, including the person.
    pub other_members: &'a [String],
    pub sessions: &'a [AccountEntry],
    pub programs: &'a [AccountEntry],
    pub allowed: &'a [AccountEntry],
    pub tokens: &'a [AccountEntry],
    /// True if making a token requires the password.
    pub has_password: bool,
    /// Proof of the form for a new token.
    pub new_token: &'a str,
    /// Reason why no token was made.
    pub failed: Option<&'a str>,
}

/// An item on the account page.
#[derive(Debug)]
pub struct AccountEntry {
    pub name: String,
    pub about: String,
    /// Text that the form sends to end it.
    pub request: String,
    pub csrf_token: String,
}

/// Shows a person's logins and the programs that act for them.
pub fn account(account: &AccountPage<'_>) -> HtmlPage {
    let content = html! {
        p { "You are logged in as " strong { (account.person.email) } ". A browser or an application that you end here must log in again." }
        @if let Some(organisation) = account.organisation {
            p { "You belong to " strong { (organisation) } ", whose members read each other's samples, plans and kept routes." }
            details {
                summary { "Its members" }
                ul { @for fellow in account.other_members { li { (fellow) } } }
                @if account.other_members.len() >= usize::from(MAX_LISTED_MEMBERS) { p { small { "and others" } } }
            }
        }
        (entries("Browsers", account.sessions, "End"))
        (entries("Programs with a login", account.programs, "End"))
        (entries("Applications that you have allowed", account.allowed, "Withdraw"))
        div #tokens { (entries("Tokens for scripts", account.tokens, "End")) }
        (new_token(account))
        p { a href="/#/account" { "Back to the console" } }
    };
    HtmlPage::new("Logins and tokens", content)
}

/// Request text of the form for a new token.
pub const NEW_TOKEN: &str = "new";

/// Builds the form for a new token. Scopes for operators are off by default, all others are on.
fn new_token(account: &AccountPage<'_>) -> Markup {
    let scopes = scopes::default_scopes(&account.person.scopes);
    html! {
        details open[account.failed.is_some()] {
            summary { "New token" }
            form method="post" action="/auth/account/tokens" {
                input type="hidden" name="request" value=(NEW_TOKEN);
                input type="hidden" name="proof" value=(account.new_token);
                @if let Some(failed) = account.failed {
                    p #failed .failed role="alert" { (failed) }
                }
                label for="name" { "Name" }
                input #name type="text" name="name" maxlength=(script_tokens::MAX_NAME_LENGTH) required autocomplete="off"
                    aria-describedby=[account.failed.map(|_| "failed")];
                fieldset {
                    legend { "It may search for routes" @if !scopes.is_empty() { ", and:" } }
                    @for scope in &scopes {
                        label .check {
                            input type="checkbox" name=(scope) value="on" checked[*scope != OPERATIONS];
                            span { (scopes::meaning(scope)) " " small { (scope) } }
                        }
                    }
                }
                label for="days" { "It ends after" }
                select #days name="days" {
                    @for days in script_tokens::LIFETIMES_DAYS { option value=(days) selected[days == 90] { (days) " days" } }
                }
                @if account.has_password {
                    label for="password" { "Your password" }
                    input #password type="password" name="password" required autocomplete="current-password";
                } @else {
                    p { small { "Your account has no password: make the token within ten minutes of a login by a link." } }
                }
                button type="submit" { "Make the token" }
            }
        }
    }
}

/// Shows a new script token, which is shown only once.
pub fn token_made(name: &str, token: &str, service: &str) -> HtmlPage {
    let content = html! {
        p { "The token " strong { (name) } ". Copy it now: it is not shown again." }
        p #token .secret tabindex="0" { (token) }
        p { small { "Whoever has it acts for you. Keep it where the script's other secrets are, and end it here when it is not needed any more. "
            "A new password ends it too." } }
        pre tabindex="0" { "export RETORT_API=" (service) "\nexport RETORT_TOKEN=…\nretort plan 'CC(=O)Nc1ccc(O)cc1'" }
        p { a href="/auth/account" { "Back to logins and tokens" } }
    };
    HtmlPage::new("A token for scripts", content)
}

fn entries(title: &str, entries: &[AccountEntry], act: &str) -> Markup {
    html! {
        h2 { (title) }
        @if entries.is_empty() {
            p { small { "None." } }
        }
        @for entry in entries {
            form .entry method="post" action="/auth/account" {
                input type="hidden" name="request" value=(entry.request);
                input type="hidden" name="proof" value=(entry.csrf_token);
                p { strong { (entry.name) } " " small { (entry.about) } }
                button .quiet type="submit" aria-label=(format!("{act} {} {}", entry.name, entry.about)) { (act) }
            }
        }
    }
}

pub fn logged_out() -> HtmlPage {
    HtmlPage::new("Logged out", html! { p { "You are logged out of this browser." } })
}

/// Shows an error and what the person can do.
pub fn failure(reason: &str) -> HtmlPage {
    HtmlPage::new("This did not work", html! { p role="alert" { (reason) } })
}

/// Describes the receiver of the answer at `address` for a person.
fn describe_receiver(address: &str) -> String {
    match Url::parse(address) {
        Ok(url) if url.has_host() && is_loopback(&url) => "a program on this machine".to_owned(),
        Ok(url) if url.has_host() => url.host_str().unwrap_or_default().to_owned(),
        Ok(url) => format!("the app that opens {}: links", url.scheme()),
        Err(_) => "an unknown place".to_owned(),
    }
}

fn is_loopback(url: &Url) -> bool {
    matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"))
}

/// Formats `address` as a source of a content security policy.
fn csp_source(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    Some(if url.has_host() && url.origin().is_tuple() {
        url.origin().ascii_serialization()
    } else {
        format!("{}:", url.scheme())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_escaped() {
        let form = LoginPage {
            application: Some("<b>App</b>"),
            purpose: Purpose::Login,
            request: "a=\"><script>",
            email: "\"><img>",
        };
        let page = login(&form, "p", None);

        let text = page.markup.into_string();
        assert!(!text.contains("<b>") && !text.contains("<script>") && !text.contains("<img>"), "{text}");
    }

    #[test]
    fn the_policy_names_an_origin_or_a_scheme() {
        assert_eq!(csp_source("https://app.test:8443/cb?x=;%20*"), Some("https://app.test:8443".to_owned()));
        assert_eq!(csp_source("org.example.app:/cb"), Some("org.example.app:".to_owned()));
        assert_eq!(describe_receiver("http://127.0.0.1:4000/cb"), "a program on this machine");
        assert_eq!(describe_receiver("https://app.test/cb"), "app.test");
    }
}
