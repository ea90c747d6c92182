//! Account page, where a user sees and ends logins and authorised applications.

use crate::{
    browser::{Browser, PAGE, SERVER},
    support::{Answer, PASSWORD, Service, add_account, answer, join_one_organisation},
};

/// Returns the forms of the page that end something, with their descriptions: `(request, proof, words)`.
fn forms(page: &Answer) -> Vec<(String, String, String)> {
    let value = |part: &str, name: &str| {
        let marker = format!("name=\"{name}\" value=\"");
        part.split_once(&marker).unwrap().1.split('"').next().unwrap().to_owned()
    };
    let parts = page.text.split("<form").skip(1).filter(|part| part.contains("class=\"entry\""));
    parts.map(|part| (value(part, "request"), value(part, "proof"), part.to_owned())).collect()
}

/// Submits the form whose description contains `expected`.
async fn end(browser: &Browser<'_>, expected: &str) -> Answer {
    let page = browser.get("/auth/account").await;
    let (request, proof, _) = forms(&page)
        .into_iter()
        .find(|(.., words)| words.contains(expected))
        .unwrap_or_else(|| panic!("{page:?}"));
    browser.post("/auth/account", &[("request", &request), ("proof", &proof)]).await
}

/// Returns a browser in which the demo account is logged in.
async fn logged_in(service: &Service) -> Browser<'_> {
    let browser = Browser::new(service);
    browser.log_in(&PAGE.request(&[])).await;
    browser
}

#[tokio::test]
async fn a_person_sees_their_logins_and_ends_those_of_another_browser_and_of_a_program() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    join_one_organisation(&service.pool, &[&service.account]).await;
    let (here, there) = (logged_in(&service).await, logged_in(&service).await);
    let redirected = here.log_in_and_allow(&PAGE.request(&[])).await;
    let tokens = PAGE.exchange(&service, &redirected.code(), &[]).await.json();

    let page = here.get("/auth/account").await;
    let ended = end(&here, "A browser").await;
    let gone = there.get("/auth/account").await;
    let withdrawn = end(&here, "may ").await;
    let refreshed = PAGE.refresh(&service, tokens["refresh_token"].as_str().unwrap()).await;
    let after = here.get("/auth/account").await;

    let words: Vec<_> = forms(&page).into_iter().map(|(request, ..)| request).collect();
    let kinds: Vec<_> = words.iter().map(|words| words.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["session", "session", "family", "consent"]);
    assert!(page.text.contains("You belong to <strong>lab</strong>"), "{page:?}");
    assert!(page.text.contains("Test &lt;app_page&gt;") && page.text.contains("This browser"), "{page:?}");
    assert_eq!((ended.status, ended.header("location")), (303, "/auth/account"));
    assert_eq!(gone.status, 400, "{gone:?}");
    assert_eq!((withdrawn.status, refreshed.status), (303, 400));
    assert_eq!(forms(&after).len(), 1);
}

#[tokio::test]
async fn logins_are_ended_only_by_their_owner_and_by_our_own_form() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    add_account(&service.pool, "eve@example.org").await;
    let (ours, eve) = (logged_in(&service).await, Browser::new(&service));
    let login = eve.get(&PAGE.request(&[])).await;
    eve.fill_in(&login, "eve@example.org", PASSWORD).await;
    let (request, proof, _) = forms(&ours.get("/auth/account").await).remove(0);

    let of_hers = eve.post("/auth/account", &[("request", &request), ("proof", &proof)]).await;
    let unproven = ours.post("/auth/account", &[("request", &request), ("proof", "x")]).await;
    let form = [("request", &*request), ("proof", &*proof)];
    let elsewhere = ours.post_with("/auth/account", &form, &[("origin", "http://evil.test")]).await;

    assert_eq!((of_hers.status, unproven.status, elsewhere.status), (403, 403, 403));
    assert_eq!(ours.get("/auth/account").await.status, 200);
    assert_eq!(forms(&eve.get("/auth/account").await).len(), 1);
}

#[tokio::test]
async fn an_application_that_may_nothing_any_more_has_neither_an_access_token_nor_a_code_left() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let here = logged_in(&service).await;
    // A login without a refresh token.
    let request = PAGE.request(&[("scope", "openid generator_api.samples:read")]);
    let tokens = PAGE.exchange(&service, &here.log_in_and_allow(&request).await.code(), &[]).await.json();
    let unspent = here.log_in_and_allow(&request).await.code();
    let list = async || {
        let token = tokens["access_token"].as_str().unwrap();
        let request = service.http.get(format!("{}/generator/v1/samples", service.base));
        answer(request.bearer_auth(token)).await.status
    };

    let before = list().await;
    let withdrawn = end(&here, "may ").await;
    let after = list().await;
    let late = PAGE.exchange(&service, &unspent, &[]).await;

    assert_eq!((before, withdrawn.status, after, late.status), (200, 303, 401, 400));
    assert!(tokens.get("refresh_token").is_none(), "{tokens}");
}

/// Submits the form for a new token with these fields and the right password.
async fn make_token(browser: &Browser<'_>, fields: &[(&str, &str)]) -> Answer {
    let fields: Vec<_> = fields.iter().copied().chain([("password", PASSWORD)]).collect();
    make_token_without_password(browser, &fields).await
}

async fn make_token_without_password(browser: &Browser<'_>, fields: &[(&str, &str)]) -> Answer {
    let page = browser.get("/auth/account").await;
    let form = page.text.split("action=\"/auth/account/tokens\"").nth(1).unwrap();
    let proof = form.split_once("name=\"proof\" value=\"").unwrap().1.split('"').next().unwrap();
    let fields: Vec<_> = [("request", "new"), ("proof", proof)].iter().chain(fields).copied().collect();
    browser.post("/auth/account/tokens", &fields).await
}

/// Returns the token that a page shows.
fn token_of(page: &Answer) -> String {
    let (_, rest) = page.text.split_once("class=\"secret\"").unwrap_or_else(|| panic!("{page:?}"));
    rest.split_once('>').unwrap().1.split('<').next().unwrap().to_owned()
}

/// Returns the statuses of listing samples and of deleting one with `token`.
async fn statuses_with_token(service: &Service, token: &str) -> (u16, u16) {
    let path = format!("{}/generator/v1/samples", service.base);
    let list = answer(service.http.get(&path).bearer_auth(token)).await;
    let delete = answer(service.http.delete(format!("{path}/smp_1")).bearer_auth(token)).await;
    (list.status, delete.status)
}

const READ: (&str, &str) = ("generator_api.samples:read", "on");

#[tokio::test]
async fn a_script_token_has_the_ticked_scopes_is_shown_once_and_revoked() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = logged_in(&service).await;

    let made = make_token(&browser, &[("name", "Nightly <b>"), ("days", "30"), READ]).await;
    let token = token_of(&made);
    let may = statuses_with_token(&service, &token).await;
    let page = browser.get("/auth/account").await;
    let ended = end(&browser, "Nightly").await;
    let after = statuses_with_token(&service, &token).await;

    assert_eq!((made.status, made.header("cache-control")), (200, "no-store"));
    assert!(token.starts_with("retort_") && token.len() == 58, "{token}");
    assert_eq!(may, (200, 403));
    assert!(
        page.text.contains("Nightly &lt;b&gt;") && page.text.contains("may generator_api.samples:read"),
        "{page:?}"
    );
    assert!(!page.text.contains(&token), "{page:?}");
    assert_eq!((ended.status, after), (303, (401, 401)));
    let stored: i64 =
        sqlx::query_scalar("select count(*) from script_tokens").fetch_one(&service.pool).await.unwrap();
    assert_eq!(stored, 0);
}

#[tokio::test]
async fn a_token_for_scripts_needs_a_name_of_its_own_a_day_and_our_own_form() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = logged_in(&service).await;
    make_token(&browser, &[("name", "One"), ("days", "90")]).await;

    let long = "n".repeat(81);
    for (fields, why) in [
        ([("name", ""), ("days", "30")], "needs a name"),
        ([("name", &*long), ("days", "30")], "80 characters"),
        ([("name", "Two"), ("days", "31")], "Choose when"),
        ([("name", "ONE"), ("days", "30")], "of this name already"),
    ] {
        let refused = make_token(&browser, &fields).await;
        assert!(refused.status == 403 && refused.text.contains(why), "{why}: {refused:?}");
    }
    let unproven = [("request", "new"), ("proof", "x"), ("name", "Three"), ("days", "30")];
    let unproven = browser.post("/auth/account/tokens", &unproven).await;
    // The ticked scopes count only as far as the account has them.
    sqlx::query("update accounts set scopes = '{generator_api.models:read}'")
        .execute(&service.pool)
        .await
        .unwrap();
    make_token(&browser, &[("name", "Four"), ("days", "365"), READ]).await;

    assert_eq!((unproven.status, unproven.text.contains("class=\"secret\"")), (403, false));
    let stored: Vec<(String, Vec<String>)> =
        sqlx::query_as("select name, scopes from script_tokens order by created_at")
            .fetch_all(&service.pool)
            .await
            .unwrap();
    assert_eq!(stored, [("One".to_owned(), vec![]), ("Four".to_owned(), vec![])]);
}

#[tokio::test]
async fn a_token_for_scripts_ends_by_its_day_a_new_password_and_lost_scopes_and_a_guess_costs_no_query() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = logged_in(&service).await;
    let token = token_of(&make_token(&browser, &[("name", "One"), ("days", "90"), READ]).await);
    let change = async |what: &'static str| {
        sqlx::raw_sql(what).execute(&service.pool).await.unwrap();
        sqlx::query("select pg_notify('retort_identity', id) from accounts")
            .execute(&service.pool)
            .await
            .unwrap();
    };
    let turns_to = async |expected: u16| {
        for _ in 0..200 {
            if statuses_with_token(&service, &token).await.0 == expected {
                return true;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        false
    };

    assert_eq!(statuses_with_token(&service, &token).await.0, 200);
    change("update script_tokens set expires_at = now()").await;
    assert!(turns_to(401).await, "its day");
    change("update script_tokens set expires_at = now() + interval '1 day'").await;
    assert!(turns_to(200).await, "as it was");
    change("update accounts set scopes = '{openid}'").await;
    assert!(turns_to(403).await, "lost scopes");
    change("update accounts set scopes = '{generator_api.samples:read}', tokens_from = clock_timestamp()")
        .await;
    assert!(turns_to(401).await, "a new password");
    change("update accounts set tokens_from = null").await;
    assert!(turns_to(200).await, "as it was");
    let guess = format!("{}{}", &token[..token.len() - 1], if token.ends_with('A') { 'B' } else { 'A' });
    // A guessed token is refused even while the database does not answer.
    change("alter table script_tokens rename to gone").await;
    assert_eq!(statuses_with_token(&service, &guess).await.0, 401);
    assert_eq!(statuses_with_token(&service, "retort_").await.0, 401);
}

#[tokio::test]
async fn a_token_for_scripts_needs_the_password_once_more_and_guesses_at_it_are_counted() {
    let service = Service::start_without_workers(&[("RATE_LOGIN_PER_MINUTE", "5")]).await;
    PAGE.register(&service).await;
    let browser = logged_in(&service).await;
    let submit = async |password: &str| {
        make_token_without_password(&browser, &[("name", "One"), ("days", "30"), ("password", password)])
            .await
    };

    let page = browser.get("/auth/account").await;
    let refused = [submit("").await, submit("wrong").await];
    let made = submit(PASSWORD).await;
    let mut guesses = Vec::new();
    for _ in 0..50 {
        guesses.push(submit("wrong").await.status);
    }

    assert!(page.text.contains("type=\"password\""), "{page:?}");
    for refused in refused {
        assert!(refused.status == 403 && refused.text.contains("password is wrong"), "{refused:?}");
    }
    // The token is valid, but has no scope.
    assert_eq!((made.status, statuses_with_token(&service, &token_of(&made)).await.0), (200, 403));
    assert!(guesses.contains(&429), "{guesses:?}");
}

#[tokio::test]
async fn an_account_without_a_password_makes_a_token_soon_after_it_logged_in() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = logged_in(&service).await;
    let change = async |what: &'static str| {
        sqlx::raw_sql(what).execute(&service.pool).await.unwrap();
    };
    change("update accounts set password_hash = '!'").await;

    let page = browser.get("/auth/account").await;
    let made = make_token_without_password(&browser, &[("name", "One"), ("days", "30")]).await;
    change("update browser_sessions set authenticated_at = now() - interval '11 minutes'").await;
    let late = make_token(&browser, &[("name", "Two"), ("days", "30")]).await;

    assert!(!page.text.contains("type=\"password\"") && page.text.contains("has no password"), "{page:?}");
    assert_eq!(made.status, 200, "{made:?}");
    assert!(late.status == 403 && late.text.contains("too old to make a token"), "{late:?}");
}

#[tokio::test]
async fn a_script_token_is_revoked_by_its_holder_and_introspected_by_a_confidential_application() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    SERVER.register(&service).await;
    let browser = logged_in(&service).await;
    let token = token_of(&make_token(&browser, &[("name", "One"), ("days", "30"), READ]).await);
    let other = token_of(&make_token(&browser, &[("name", "Two"), ("days", "30"), READ]).await);
    let introspect =
        async || SERVER.post(&service, "/auth/introspect", [("token", &*token)].into()).await.json();
    let revoke = async |token: &str| {
        let request = service.http.post(format!("{}/auth/revoke", service.base));
        answer(request.form(&[("token", token)])).await.status
    };

    let guess = format!("{}{}", &token[..57], if token.ends_with('A') { 'B' } else { 'A' });
    let (before, guessed) = (introspect().await, revoke(&guess).await);
    let between = statuses_with_token(&service, &token).await.0;
    let (ended, again) = (revoke(&token).await, revoke(&token).await);

    assert_eq!((&before["active"], &before["scope"]), (&true.into(), &READ.0.into()));
    assert_eq!((&before["sub"], before.get("client_id")), (&service.account.as_str().into(), None));
    assert_eq!((guessed, between, ended, again), (200, 200, 200, 200));
    assert_eq!(
        (statuses_with_token(&service, &token).await.0, statuses_with_token(&service, &other).await.0),
        (401, 200)
    );
    assert_eq!(introspect().await, serde_json::json!({ "active": false }));
}
