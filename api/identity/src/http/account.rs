//! `/auth/account`: where a person is logged in, which programs act for them, and an end to each.
//!
//! A page of the authorization server and no operation of the API, so that it takes a person in a browser to end a login: no application can
//! end those of others with the token that it was given.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::header,
    response::{IntoResponse, Redirect, Response},
};

use crate::{
    error::PageError,
    form::Form,
    http::{
        csrf::{self, Purpose},
        pages::{self, Entry},
    },
    identity::Identity,
    tables::{applications, codes, consents, device_codes, organisations, refresh, sessions},
};

/// What a person may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held<'a> {
    /// A login in a browser, by its id.
    Session(&'a str),
    /// What a program got of a login, by its family.
    Family(&'a str),
    /// What an application was allowed, by its id.
    Consent(&'a str),
}

impl<'a> Held<'a> {
    /// What a form's words stand for.
    fn read(words: &'a str) -> Option<Self> {
        match words.split_once(' ')? {
            ("session", id) => Some(Self::Session(id)),
            ("family", family) => Some(Self::Family(family)),
            ("consent", client_id) => Some(Self::Consent(client_id)),
            _ => None,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Session(id) => format!("session {id}"),
            Self::Family(family) => format!("family {family}"),
            Self::Consent(client_id) => format!("consent {client_id}"),
        }
    }
}

/// `GET /auth/account`.
pub async fn look(State(identity): State<Arc<Identity>>, request: Request) -> Result<Response, PageError> {
    let session = csrf::session(&identity.pool, &identity.settings, request.headers()).await?;
    let session =
        session.ok_or(PageError::BadRequest("You are not logged in here. Log in at the console first."))?;
    let account_id = &session.person.account_id;
    let entry = |held: Held<'_>, name: String, about: String| {
        let request = held.words();
        Entry { proof: csrf::proof(&session.secret, Purpose::Account, &request), request, name, about }
    };
    let own = sessions::id(&session.secret);
    let sessions = sessions::list(&identity.pool, account_id).await?.into_iter().map(|found| {
        let name = if found.id == own { "This browser" } else { "A browser" };
        let about = format!("since {}", time(found.authenticated_at));
        entry(Held::Session(&found.id), name.to_owned(), about)
    });
    let mut programs = Vec::new();
    for found in refresh::families(&identity.pool, account_id).await? {
        let about = format!("since {}, last seen {}", time(found.began_at), time(found.renewed_at));
        programs.push(entry(Held::Family(&found.family), name(&identity, found.client_id).await?, about));
    }
    let mut allowed = Vec::new();
    for found in consents::list(&identity.pool, account_id).await? {
        let about = format!("may {} since {}", found.scopes.join(", "), time(found.granted_at));
        let client_id = found.client_id.clone();
        allowed.push(entry(Held::Consent(&client_id), name(&identity, found.client_id).await?, about));
    }
    let page = pages::account(&pages::Account {
        person: &session.person,
        organisation: organisations::name_of(&identity.pool, account_id).await?.as_deref(),
        sessions: &sessions.collect::<Vec<_>>(),
        programs: &programs,
        allowed: &allowed,
    });
    Ok(([(header::CACHE_CONTROL, "no-store")], page).into_response())
}

/// `POST /auth/account`: ends one of them.
pub async fn end(State(identity): State<Arc<Identity>>, request: Request) -> Result<Response, PageError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let session =
        csrf::session(&identity.pool, &identity.settings, &headers).await?.ok_or(PageError::Forged)?;
    csrf::check(&identity.settings, &headers, &form, Purpose::Account, &session.secret)?;
    let account_id = &session.person.account_id;
    let held = Held::read(form.get("request").unwrap_or_default()).ok_or(PageError::Forged)?;
    let mut transaction = identity.pool.begin().await?;
    match held {
        Held::Session(id) => sessions::end_of(&mut transaction, account_id, id).await?,
        Held::Family(family) => refresh::end_of(&mut transaction, account_id, family).await?,
        Held::Consent(client_id) => {
            consents::withdraw(&mut transaction, account_id, client_id).await?;
            codes::end_application_of(&mut transaction, account_id, client_id).await?;
            device_codes::end_application_of(&mut transaction, account_id, client_id).await?;
            refresh::end_application_of(&mut transaction, account_id, client_id).await?;
        }
    }
    transaction.commit().await?;
    // Who is told that a login has ended finds it ended, here at once.
    identity.revocations.forget();
    tracing::info!(target: "audit", { account.id = account_id }, "a person ended a login of theirs");
    Ok(Redirect::to("/auth/account").into_response())
}

/// What people call the application.
async fn name(identity: &Identity, client_id: String) -> Result<String, sqlx::Error> {
    let application = applications::find(&identity.pool, &client_id).await?;
    Ok(application.map_or(client_id, |application| application.name))
}

fn time(at: chrono::DateTime<chrono::Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}
