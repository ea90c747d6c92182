//! Attacks on the forms by other pages, and by other users of the same browser.

use crate::{
    browser::{Browser, PAGE, PROGRAM, RedirectTarget, hidden},
    support::{PASSWORD, Service, add_account},
};

const OURS: (&str, &str) = ("origin", "http://retort.test");

#[tokio::test]
async fn login_form_without_its_proof() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let page = browser.get(&PAGE.request(&[])).await;
    let request = hidden(&page, "request");
    for proof in ["", "made-up", &"A".repeat(43)] {
        let form =
            [("request", &*request), ("proof", proof), ("email", "demo@example.org"), ("password", PASSWORD)];

        let answer = browser.post("/auth/login", &form).await;
        assert_eq!((answer.status, browser.cookies.borrow().len()), (403, 1), "{proof}");
    }
}

#[tokio::test]
async fn login_of_the_attacker_in_the_victims_browser() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let attacker = Browser::new(&service);
    let page = attacker.get(&PAGE.request(&[])).await;
    let (request, proof) = (hidden(&page, "request"), hidden(&page, "proof"));
    let form =
        [("request", &*request), ("proof", &*proof), ("email", "demo@example.org"), ("password", PASSWORD)];

    // The attacker's CSRF proof belongs to a cookie that the victim's browser does not have.
    let without = Browser::new(&service).post("/auth/login", &form).await;
    let victim = Browser::new(&service);
    victim.get(&PAGE.request(&[])).await;
    let with_another = victim.post("/auth/login", &form).await;

    assert_eq!((without.status, with_another.status), (403, 403));
    assert!(!victim.cookies.borrow().contains_key("retort_session"));
}

#[tokio::test]
async fn forms_sent_from_another_site() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let page = browser.get(&PAGE.request(&[])).await;
    let (request, proof) = (hidden(&page, "request"), hidden(&page, "proof"));
    let form =
        [("request", &*request), ("proof", &*proof), ("email", "demo@example.org"), ("password", PASSWORD)];
    for headers in [
        [("origin", "https://evil.test")].as_slice(),
        &[("origin", "null")],
        &[("origin", "http://retort.test.evil.test")],
        &[OURS, ("sec-fetch-site", "cross-site")],
        &[OURS, ("sec-fetch-site", "same-site")],
    ] {
        let answer = browser.post_with("/auth/login", &form, headers).await;

        assert_eq!(answer.status, 403, "{headers:?}");
    }
    assert_eq!(browser.post_with("/auth/login", &form, &[OURS]).await.status, 303);
}

#[tokio::test]
async fn consent_given_by_another_page() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let page = browser.log_in(&PAGE.request(&[])).await;
    let request = hidden(&page, "request");
    for proof in ["", "made-up"] {
        let form = [("request", &*request), ("proof", proof), ("decision", "allow")];

        let answer = browser.post("/auth/consent", &form).await;
        assert_eq!((answer.status, answer.header("location")), (403, ""), "{proof}");
    }
    let proof = hidden(&page, "proof");
    let form = [("request", &*request), ("proof", &*proof), ("decision", "allow")];
    let elsewhere = browser.post_with("/auth/consent", &form, &[("origin", "https://evil.test")]).await;
    assert_eq!(elsewhere.status, 403);
    let get = browser.get(&format!("/auth/consent?proof={proof}&decision=allow")).await;
    assert_eq!(get.status, 405);
}

#[tokio::test]
async fn consent_for_more_than_the_page_showed() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let page = browser.log_in(&PAGE.request(&[("scope", "openid")])).await;
    let more = PAGE.request(&[("scope", "openid generator_api.samples:create")]);
    let more = more.split_once('?').unwrap().1;
    let proof = hidden(&page, "proof");

    let answer =
        browser.post("/auth/consent", &[("request", more), ("proof", &proof), ("decision", "allow")]).await;

    assert_eq!((answer.status, answer.header("location")), (403, ""));
}

#[tokio::test]
async fn consent_page_of_another_person() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    add_account(&service.pool, "eve@example.org").await;
    let eve = Browser::new(&service);
    let page = eve.get(&PAGE.request(&[])).await;
    let page = eve.follow(eve.fill_in(&page, "eve@example.org", PASSWORD).await).await;
    let victim = Browser::new(&service);
    victim.log_in(&PAGE.request(&[])).await;

    let answer = victim.decide(&page, "allow").await;

    assert_eq!(answer.status, 403);
}

#[tokio::test]
async fn consent_by_any_word_but_allow() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let page = browser.log_in(&PAGE.request(&[])).await;
    for decision in ["", "yes", "ALLOW", "allow "] {
        assert_eq!(
            RedirectTarget::of(&browser.decide(&page, decision).await).error(),
            "access_denied",
            "{decision}"
        );
    }
}

#[tokio::test]
async fn consent_skipped_by_a_program_that_poses_as_another() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let browser = Browser::new(&service);
    browser.log_in_and_allow(&PROGRAM.request(&[])).await;

    let silently = browser.get(&PROGRAM.request(&[("prompt", "none")])).await;
    let again = browser.get(&PROGRAM.request(&[])).await;

    assert_eq!(RedirectTarget::of(&silently).error(), "consent_required");
    assert!(again.text.contains("<h1>Allow access</h1>"));
}

#[tokio::test]
async fn session_fixed_before_the_login() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let planted = "A".repeat(43);
    let victim = Browser::new(&service);
    victim.cookies.borrow_mut().insert("retort_session".to_owned(), planted.clone());

    victim.log_in(&PAGE.request(&[])).await;

    assert_ne!(victim.cookies.borrow()["retort_session"], planted);
    let attacker = Browser::new(&service);
    attacker.cookies.borrow_mut().insert("retort_session".to_owned(), planted);
    assert!(attacker.get(&PAGE.request(&[])).await.text.contains("<h1>Log in</h1>"));
}

#[tokio::test]
async fn session_of_an_earlier_login() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    browser.log_in(&PAGE.request(&[])).await;
    let stolen = browser.cookies.borrow()["retort_session"].clone();

    browser.log_in(&PAGE.request(&[("prompt", "login")])).await;

    let thief = Browser::new(&service);
    thief.cookies.borrow_mut().insert("retort_session".to_owned(), stolen);
    assert!(thief.get(&PAGE.request(&[])).await.text.contains("<h1>Log in</h1>"));
}

#[tokio::test]
async fn session_after_the_logout() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    browser.log_in(&PAGE.request(&[])).await;
    let stolen = browser.cookies.borrow()["retort_session"].clone();
    let page = browser.get("/auth/logout").await;

    let proof = hidden(&page, "proof");
    assert_eq!(browser.post("/auth/logout", &[("request", ""), ("proof", &proof)]).await.status, 200);

    let thief = Browser::new(&service);
    thief.cookies.borrow_mut().insert("retort_session".to_owned(), stolen);
    assert!(thief.get(&PAGE.request(&[])).await.text.contains("<h1>Log in</h1>"));
}

#[tokio::test]
async fn session_past_its_time_or_of_a_disabled_account() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    for end in ["update browser_sessions set expires_at = now()", "update accounts set disabled_at = now()"] {
        let browser = Browser::new(&service);
        let consent = browser.log_in(&PAGE.request(&[])).await;

        sqlx::query(end).execute(&service.pool).await.unwrap();

        assert!(browser.get(&PAGE.request(&[])).await.text.contains("<h1>Log in</h1>"), "{end}");
        assert_eq!(browser.decide(&consent, "allow").await.status, 403, "{end}");
    }
}

#[tokio::test]
async fn session_cookie_tossed_in_twice() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    browser.log_in(&PAGE.request(&[])).await;
    let good = browser.cookies.borrow()["retort_session"].clone();
    let tossed = format!("{}; retort_session={good}", "A".repeat(43));
    browser.cookies.borrow_mut().insert("retort_session".to_owned(), tossed);

    // The two cookies cannot be distinguished, so neither counts.
    assert!(browser.get(&PAGE.request(&[])).await.text.contains("<h1>Log in</h1>"));
}

#[tokio::test]
async fn logout_by_another_page() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    browser.log_in(&PAGE.request(&[])).await;

    browser.get("/auth/logout").await;
    browser.post_with("/auth/logout", &[], &[("origin", "https://evil.test")]).await;
    let forged = browser.post("/auth/logout", &[("request", ""), ("proof", "made-up")]).await;

    assert_eq!(forged.status, 403);
    assert!(browser.get(&PAGE.request(&[])).await.text.contains("<h1>Allow access</h1>"));
}

#[tokio::test]
async fn pages_in_a_frame() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let login = browser.get(&PAGE.request(&[])).await;
    let consent = browser.log_in(&PAGE.request(&[])).await;
    let logout = browser.get("/auth/logout").await;
    let failure = browser.get(&PAGE.request(&[("redirect_uri", "https://evil.test")])).await;

    for page in [login, consent, logout, failure] {
        assert_eq!(page.header("x-frame-options"), "DENY");
        let policy = page.header("content-security-policy");
        assert!(
            policy.contains("frame-ancestors 'none'") && policy.starts_with("default-src 'none'"),
            "{policy}"
        );
        assert_eq!(page.header("cache-control"), "no-store");
    }
}

#[tokio::test]
async fn script_in_a_parameter() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let script = "\"><script>alert(1)</script>";
    let changes = [("login_hint", script), ("state", script), ("nonce", script)];

    let login = browser.get(&PAGE.request(&changes)).await;
    let refused = browser.fill_in(&login, script, "wrong").await;
    let consent = browser.log_in(&PAGE.request(&changes)).await;

    assert_eq!(refused.status, 403);
    for page in [login, refused, consent] {
        assert!(!page.text.contains("<script"), "{}", page.text);
    }
}

#[tokio::test]
async fn proof_of_one_form_in_another() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let consent = browser.log_in(&PAGE.request(&[])).await;
    let (request, proof) = (hidden(&consent, "request"), hidden(&consent, "proof"));

    let answer = browser.post("/auth/logout", &[("request", &request), ("proof", &proof)]).await;

    assert_eq!(answer.status, 403);
}
