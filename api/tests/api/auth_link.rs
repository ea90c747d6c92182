//! Login links: valid once, for minutes, and only after a click on the button.

use std::time::Duration;

use identity::tables::accounts;

use crate::{
    browser::{Browser, hidden},
    support::{Answer, Service, add_account},
};

/// Returns the address of a login link to the demo account with this lifetime.
async fn link(service: &Service, lifetime: Duration) -> String {
    let mut connection = service.pool.acquire().await.unwrap();
    let account = accounts::named(&mut connection, "demo@example.org").await.unwrap().unwrap();
    let secret = account.link(&mut connection, lifetime).await.unwrap().unwrap();
    format!("/auth/link?code={secret}")
}

const MINUTES: Duration = Duration::from_secs(600);

/// Presses the button of the link's page.
async fn press(browser: &Browser<'_>, page: &Answer) -> Answer {
    let (request, proof) = (hidden(page, "request"), hidden(page, "proof"));
    browser.post("/auth/link", &[("request", &request), ("proof", &proof)]).await
}

#[tokio::test]
async fn a_login_link_works_by_its_button_and_not_by_a_visit() {
    let service = Service::start_without_workers(&[]).await;
    let address = link(&service, MINUTES).await;
    let (scanner, browser) = (Browser::new(&service), Browser::new(&service));

    let visits = [scanner.get(&address).await, scanner.get(&address).await];
    let page = browser.get(&address).await;
    let entered = press(&browser, &page).await;

    assert_eq!(visits.map(|page| page.status), [200, 200]);
    assert!(page.text.contains("demo@example.org"), "{page:?}");
    assert_eq!((page.header("cache-control"), page.header("referrer-policy")), ("no-store", "same-origin"));
    assert_eq!((entered.status, entered.header("location")), (303, "/"));
    let logout = browser.get("/auth/logout").await;
    assert!(logout.text.contains("logged in as <strong>demo@example.org"), "{logout:?}");
    let kept: Vec<Vec<u8>> =
        sqlx::query_scalar("select secret_hash from login_links").fetch_all(&service.pool).await.unwrap();
    assert_eq!(kept.iter().map(Vec::len).collect::<Vec<_>>(), [32]);
}

#[tokio::test]
async fn a_second_use_a_late_one_and_a_wrong_address_are_refused_each_in_its_words() {
    let service = Service::start_without_workers(&[]).await;
    let (address, late) = (link(&service, MINUTES).await, link(&service, Duration::ZERO).await);
    let (first, second) = (Browser::new(&service), Browser::new(&service));
    let (page, other) = (first.get(&address).await, second.get(&address).await);

    let entered = press(&first, &page).await;
    let refused = [
        (press(&second, &other).await, "has been used"),
        (second.get(&address).await, "has been used"),
        (second.get(&late).await, "too old"),
        (second.get(&format!("{address}x")).await, "This link is not valid."),
        (second.get("/auth/link").await, "This link is not valid."),
    ];

    assert_eq!(entered.status, 303);
    for (answer, words) in refused {
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.text.contains(words), "{words}: {answer:?}");
        assert!(!answer.headers.contains_key("set-cookie"), "{answer:?}");
    }
}

#[tokio::test]
async fn a_login_link_ends_with_the_accounts_other_credentials() {
    let service = Service::start_without_workers(&[]).await;
    add_account(&service.pool, "ada@example.org").await;
    let addresses = [link(&service, MINUTES).await, link(&service, MINUTES).await];
    let browser = Browser::new(&service);
    let page = browser.get(&addresses[0]).await;

    let mut connection = service.pool.acquire().await.unwrap();
    let account = accounts::named(&mut connection, "demo@example.org").await.unwrap().unwrap();
    account.change_password(&mut connection, "another").await.unwrap();

    assert_eq!(page.status, 200);
    assert_eq!(press(&browser, &page).await.status, 400);
    assert_eq!(browser.get(&addresses[1]).await.status, 400);
    account.disable(&mut connection).await.unwrap();
    assert_eq!(account.link(&mut connection, MINUTES).await.unwrap(), None);
}

#[tokio::test]
async fn a_form_of_another_site_does_not_log_in() {
    let service = Service::start_without_workers(&[]).await;
    let address = link(&service, MINUTES).await;
    let (browser, stranger) = (Browser::new(&service), Browser::new(&service));
    let page = browser.get(&address).await;
    let (request, proof) = (hidden(&page, "request"), hidden(&page, "proof"));

    let form = [("request", &*request), ("proof", &*proof)];
    let without_cookie = stranger.post("/auth/link", &form).await;
    let from_elsewhere = browser.post_with("/auth/link", &form, &[("sec-fetch-site", "cross-site")]).await;

    assert_eq!((without_cookie.status, from_elsewhere.status), (403, 403));
    assert_eq!(press(&browser, &page).await.status, 303);
}
