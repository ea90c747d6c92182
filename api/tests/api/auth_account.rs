//! The page on which a person sees where they are logged in and what acts for them, and ends it.

use crate::{
    browser::{Browser, PAGE},
    support::{Answer, PASSWORD, Service, add_account, answer, join_one_organisation},
};

/// The forms of the page, each with what is said of it: `(request, proof, words)`.
fn forms(page: &Answer) -> Vec<(String, String, String)> {
    let value = |part: &str, name: &str| {
        let marker = format!("name=\"{name}\" value=\"");
        part.split_once(&marker).unwrap().1.split('"').next().unwrap().to_owned()
    };
    let parts = page.text.split("<form").skip(1);
    parts.map(|part| (value(part, "request"), value(part, "proof"), part.to_owned())).collect()
}

/// Ends what the form is for whose words have `wanted`.
async fn end(browser: &Browser<'_>, wanted: &str) -> Answer {
    let page = browser.get("/auth/account").await;
    let (request, proof, _) = forms(&page)
        .into_iter()
        .find(|(.., words)| words.contains(wanted))
        .unwrap_or_else(|| panic!("{page:?}"));
    browser.post("/auth/account", &[("request", &request), ("proof", &proof)]).await
}

/// A browser in which the demo account is logged in.
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
    let landed = here.let_in(&PAGE.request(&[])).await;
    let tokens = PAGE.exchange(&service, &landed.code(), &[]).await.json();

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
async fn nobody_ends_what_is_not_theirs_or_by_a_form_from_elsewhere() {
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
    // Without a refresh token.
    let request = PAGE.request(&[("scope", "openid generator_api.samples:read")]);
    let tokens = PAGE.exchange(&service, &here.let_in(&request).await.code(), &[]).await.json();
    let unspent = here.let_in(&request).await.code();
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
