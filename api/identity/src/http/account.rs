//! `/auth/account`: a person's logins, the programs that act for them, their script tokens, and the ways to end each.
//!
//! This is a page of the authorization server, not an operation of the API, so ending a login or making a token takes
//! a person in a browser. An application with an access token can neither end the logins of others nor make itself a
//! token that outlives its own.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    response::{IntoResponse, Redirect, Response},
};

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    error::{PageError, RefusedForm},
    form::Form,
    http::{
        client_address::ClientAddress,
        csrf::{self, Purpose},
        login,
        pages::{self, AccountEntry, NEW_TOKEN},
    },
    identity::Identity,
    scopes,
    tables::{
        accounts::NO_PASSWORD,
        applications, codes, consents, device_codes, organisations, refresh_tokens,
        script_tokens::{self, ScriptTokenCreation},
        sessions::{self, Session, SessionAccount},
    },
};

/// Time after a login by link in which a token may be made without a password: the lifetime of a link.
const RECENT_LOGIN: TimeDelta = TimeDelta::minutes(10);

/// An item that a person may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AccountItem<'a> {
    /// A login in a browser, by its id.
    Session(&'a str),
    /// Tokens that a program got from a login, by their family.
    Family(&'a str),
    /// Consent given to an application, by the application's id.
    Consent(&'a str),
    /// A script token, by its id.
    Token(&'a str),
}

impl<'a> AccountItem<'a> {
    /// Parses the text in a form.
    fn read(words: &'a str) -> Option<Self> {
        match words.split_once(' ')? {
            ("session", id) => Some(Self::Session(id)),
            ("family", family) => Some(Self::Family(family)),
            ("consent", client_id) => Some(Self::Consent(client_id)),
            ("token", id) => Some(Self::Token(id)),
            _ => None,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Session(id) => format!("session {id}"),
            Self::Family(family) => format!("family {family}"),
            Self::Consent(client_id) => format!("consent {client_id}"),
            Self::Token(id) => format!("token {id}"),
        }
    }
}

/// `GET /auth/account`.
pub async fn look(State(identity): State<Arc<Identity>>, request: Request) -> Result<Response, PageError> {
    let session = csrf::session(&identity.pool, &identity.settings, request.headers()).await?;
    let session =
        session.ok_or(PageError::BadRequest("You are not logged in here. Log in at the console first."))?;
    Ok(([(header::CACHE_CONTROL, "no-store")], page(&identity, &session, None).await?).into_response())
}

/// Builds the page of the logged-in person; `failed` says why no token was made.
async fn page(
    identity: &Identity,
    session: &Session,
    failed: Option<&str>,
) -> Result<pages::HtmlPage, PageError> {
    let account_id = &session.person.account_id;
    let entry = |held: AccountItem<'_>, name: String, about: String| {
        let request = held.words();
        AccountEntry {
            csrf_token: csrf::proof(&session.secret, Purpose::Account, &request),
            request,
            name,
            about,
        }
    };
    let own = sessions::id(&session.secret);
    let sessions = sessions::list(&identity.pool, account_id).await?.into_iter().map(|row| {
        let name = if row.id == own { "This browser" } else { "A browser" };
        let about = format!("since {}", time(row.authenticated_at));
        entry(AccountItem::Session(&row.id), name.to_owned(), about)
    });
    let mut programs = Vec::new();
    for row in refresh_tokens::families(&identity.pool, account_id).await? {
        let about = format!("since {}, last seen {}", time(row.began_at), time(row.renewed_at));
        programs.push(entry(AccountItem::Family(&row.family), name(identity, row.client_id).await?, about));
    }
    let mut allowed = Vec::new();
    for row in consents::list(&identity.pool, account_id).await? {
        let about = format!("may {} since {}", row.scopes.join(", "), time(row.granted_at));
        let client_id = row.client_id.clone();
        allowed.push(entry(AccountItem::Consent(&client_id), name(identity, row.client_id).await?, about));
    }
    let tokens = script_tokens::list(&identity.pool, account_id).await?.into_iter().map(|row| {
        let may = if row.scopes.is_empty() { "search for routes".to_owned() } else { row.scopes.join(", ") };
        let about = format!("may {may}; made {}, ends {}", time(row.created_at), day(row.expires_at));
        entry(AccountItem::Token(&row.id), row.name, about)
    });
    Ok(pages::account(&pages::AccountPage {
        person: &session.person,
        organisation: organisations::name_of(&identity.pool, account_id).await?.as_deref(),
        other_members: &organisations::other_members(&identity.pool, account_id).await?,
        sessions: &sessions.collect::<Vec<_>>(),
        programs: &programs,
        allowed: &allowed,
        tokens: &tokens.collect::<Vec<_>>(),
        has_password: has_password(identity, &session.person).await?,
        new_token: &csrf::proof(&session.secret, Purpose::Token, NEW_TOKEN),
        failed,
    }))
}

/// `POST /auth/account`: ends a session, token family, consent or script token.
pub async fn end(State(identity): State<Arc<Identity>>, request: Request) -> Result<Response, PageError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let session =
        csrf::session(&identity.pool, &identity.settings, &headers).await?.ok_or(PageError::Forged)?;
    csrf::check(&identity.settings, &headers, &form, Purpose::Account, &session.secret)?;
    let account_id = &session.person.account_id;
    let held = AccountItem::read(form.get("request").unwrap_or_default()).ok_or(PageError::Forged)?;
    let mut transaction = identity.pool.begin().await?;
    match held {
        AccountItem::Session(id) => sessions::end_of(&mut transaction, account_id, id).await?,
        AccountItem::Family(family) => refresh_tokens::end_of(&mut transaction, account_id, family).await?,
        AccountItem::Consent(client_id) => {
            consents::revoke(&mut transaction, account_id, client_id).await?;
            codes::end_application_of(&mut transaction, account_id, client_id).await?;
            device_codes::end_application_of(&mut transaction, account_id, client_id).await?;
            refresh_tokens::end_application_of(&mut transaction, account_id, client_id).await?;
        }
        AccountItem::Token(id) => drop(script_tokens::end(&mut transaction, account_id, id).await?),
    }
    transaction.commit().await?;
    // The client is told that a login has ended, so it must find it ended here at once.
    identity.revocations.forget();
    identity.script_tokens.forget();
    tracing::info!(target: "audit", { account.id = account_id }, "a person ended a login of theirs");
    Ok(Redirect::to("/auth/account").into_response())
}

/// `POST /auth/account/tokens`: makes a script token, and shows it only this once.
///
/// A session lasts for hours and a token for months, so the person has to authenticate again.
pub async fn make_token(
    State(identity): State<Arc<Identity>>,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Result<Response, PageError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let session =
        csrf::session(&identity.pool, &identity.settings, &headers).await?.ok_or(PageError::Forged)?;
    csrf::check(&identity.settings, &headers, &form, Purpose::Token, &session.secret)?;
    let made = match parse_token_request(&form) {
        Ok((name, days)) => match authenticated_at(&identity, &headers, address, &session, &form).await? {
            Ok(at) => store_token(&identity, &session.person, at, &form, (name, days)).await?,
            Err(reason) => Err(reason),
        },
        Err(reason) => Err(reason),
    };
    let no_store = [(header::CACHE_CONTROL, "no-store")];
    match made {
        Ok(token) => {
            let page = pages::token_made(
                form.get("name").unwrap_or_default(),
                &token,
                &identity.settings.public_url,
            );
            Ok((no_store, page).into_response())
        }
        Err(reason) => {
            Ok((no_store, RefusedForm(page(&identity, &session, Some(reason)).await?)).into_response())
        }
    }
}

/// Parses the name and the lifetime in days of the requested token, or returns the error in them.
fn parse_token_request(form: &Form) -> Result<(&str, u16), &'static str> {
    let name = form.get("name").unwrap_or_default().trim();
    if name.is_empty() {
        return Err("A token needs a name, by which you know it again.");
    }
    if name.chars().count() > script_tokens::MAX_NAME_LENGTH || name.chars().any(char::is_control) {
        return Err("The name is too long: it has 80 characters at most, in one line.");
    }
    let days = form.get("days").and_then(|days| days.parse().ok());
    let days = days.filter(|days| script_tokens::LIFETIMES_DAYS.contains(days));
    days.map(|days| (name, days)).ok_or("Choose when the token ends.")
}

/// Returns the time of the person's authentication: now, if the password is right; else the error.
///
/// An account without a password logs in by a link, and that login has to be recent.
async fn authenticated_at(
    identity: &Identity,
    headers: &HeaderMap,
    address: Option<IpAddr>,
    Session { person, .. }: &Session,
    form: &Form,
) -> Result<Result<DateTime<Utc>, &'static str>, PageError> {
    if !has_password(identity, person).await? {
        let is_fresh = Utc::now() - person.authenticated_at < RECENT_LOGIN;
        let reason = "Your login is too old to make a token. An operator can make you a link to log in by.";
        return Ok(is_fresh.then_some(person.authenticated_at).ok_or(reason));
    }
    let shown = (person.email.as_str(), form.get("password").unwrap_or_default());
    let login = login::attempt(identity, headers, address, shown).await?;
    let own = login.filter(|login| login.account.id == person.account_id);
    Ok(own.map(|login| login.at).ok_or("The password is wrong."))
}

async fn has_password(identity: &Identity, person: &SessionAccount) -> Result<bool, sqlx::Error> {
    let account = identity.accounts.find(&person.account_id).await?;
    Ok(account.is_some_and(|account| account.password_hash != NO_PASSWORD))
}

/// Stores a token of a login at that time; returns its text, or the reason for a failure.
async fn store_token(
    identity: &Identity,
    person: &SessionAccount,
    authenticated_at: DateTime<Utc>,
    form: &Form,
    (name, days): (&str, u16),
) -> Result<Result<String, &'static str>, PageError> {
    let held = scopes::default_scopes(&person.scopes);
    let ticked: Vec<String> = held.into_iter().filter(|scope| form.get(scope).is_some()).collect();
    let new = script_tokens::NewScriptToken { name, scopes: &ticked, days };
    let mut transaction = identity.pool.begin().await?;
    let made = script_tokens::make(&mut transaction, &person.account_id, authenticated_at, new).await?;
    transaction.commit().await?;
    Ok(match made {
        ScriptTokenCreation::Token(token) => {
            tracing::info!(target: "audit", { account.id = person.account_id, days }, "a person made a token for scripts");
            Ok(token)
        }
        ScriptTokenCreation::NameTaken => {
            Err("You have a token of this name already: end it first, or choose another name.")
        }
        ScriptTokenCreation::TooMany => {
            Err("You have 50 tokens, which is the most: end one that you do not need.")
        }
    })
}

/// Looks up the display name of the application.
async fn name(identity: &Identity, client_id: String) -> Result<String, sqlx::Error> {
    let application = applications::find(&identity.pool, &client_id).await?;
    Ok(application.map_or(client_id, |application| application.name))
}

fn day(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d").to_string()
}

fn time(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}
