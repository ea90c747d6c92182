//! Attacks on accounts and passwords, and on resources of other accounts.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use crate::{
    browser::{Browser, PAGE},
    support::{Answer, PASSWORD, Service, add_account, answer, sample_id},
};

pub async fn log_in(service: &Service, email: &str, password: &str) -> Answer {
    let form = [
        ("grant_type", "password"),
        ("client_id", "retort-cli"),
        ("username", email),
        ("password", password),
    ];
    answer(service.http.post(format!("{}/auth/token", service.base)).form(&form)).await
}

async fn disabled_account(service: &Service) {
    let id = add_account(&service.pool, "gone@example.org").await;
    sqlx::query("update accounts set disabled_at = now() where id = $1")
        .bind(id)
        .execute(&service.pool)
        .await
        .unwrap();
}

#[tokio::test]
async fn accounts_told_apart_by_the_message() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    disabled_account(&service).await;
    let cases = [
        ("demo@example.org", "wrong"),
        ("nobody@example.org", PASSWORD),
        ("gone@example.org", PASSWORD),
        ("gone@example.org", "wrong"),
        ("nobody@example.org\u{0}", PASSWORD),
    ];

    let mut tokens = Vec::new();
    let mut pages = Vec::new();
    for (email, password) in cases.into_iter().take(4) {
        tokens.push(log_in(&service, email, password).await);
        let browser = Browser::new(&service);
        let page = browser.get(&PAGE.request(&[])).await;
        let answer = browser.fill_in(&page, email, password).await;
        let (_, text) = answer.text.split_once("</h1>").unwrap();
        let (text, _) = text.split_once("<form").unwrap();
        pages.push((answer.status, text.to_owned()));
    }

    for answer in &tokens {
        assert_eq!((answer.status, &answer.text), (400, &tokens[0].text));
    }
    assert!(pages[0].1.contains("The e-mail address or the password is wrong."));
    assert!(pages.iter().all(|page| *page == pages[0]), "{pages:?}");
    assert_eq!(log_in(&service, cases[4].0, cases[4].1).await.status, 400);
}

#[tokio::test]
async fn accounts_told_apart_by_the_time() {
    let service = Service::start_without_workers(&[("RATE_LOGIN_PER_MINUTE", "0")]).await;
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..8 {
        for (email, fastest) in ["demo@example.org", "nobody@example.org"].into_iter().zip(&mut fastest) {
            let begun = Instant::now();
            log_in(&service, email, "wrong").await;
            *fastest = begun.elapsed().min(*fastest);
        }
    }

    // Argon2 takes tens of milliseconds; without it an answer takes two or three. Other tests compete for the cores.
    let [known, unknown] = fastest.map(|time| time.as_secs_f64());
    assert!((known / unknown) < 3.0 && (unknown / known) < 3.0, "{known} {unknown}");
}

#[tokio::test]
async fn passwords_guessed_at_one_account() {
    let service = Service::start_without_workers(&[("RATE_LOGIN_PER_MINUTE", "3")]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let page = browser.get(&PAGE.request(&[])).await;
    for n in 0..3 {
        assert_eq!(browser.fill_in(&page, "demo@example.org", &format!("guess {n}")).await.status, 403);
    }

    // Even the right password has to wait now, here and at the token endpoint, however the e-mail address is spelled.
    let page = browser.fill_in(&page, "demo@example.org", PASSWORD).await;
    let token = log_in(&service, " DEMO@Example.org ", PASSWORD).await;

    assert_eq!((page.status, token.status), (429, 429));
    assert!(!page.header("retry-after").is_empty());
}

#[tokio::test]
async fn one_password_tried_at_many_accounts() {
    let service = Service::start_without_workers(&[("RATE_LOGIN_PER_MINUTE", "2")]).await;
    let mut refused = 0;
    for n in 0..8 {
        let answer = log_in(&service, &format!("person{n}@example.org"), "password1").await;
        refused += u32::from(answer.status == 429);
    }

    // The limit per address is three times that per account.
    assert_eq!(refused, 2);
}

#[tokio::test]
async fn throttle_evaded_by_headers() {
    let service = Service::start_without_workers(&[("RATE_LOGIN_PER_MINUTE", "1")]).await;
    let mut statuses = Vec::new();
    for n in 0..5 {
        let form = [
            ("grant_type", "password"),
            ("client_id", "retort-cli"),
            ("username", &format!("person{n}@example.org")),
            ("password", "guess"),
        ];
        let request = service.http.post(format!("{}/auth/token", service.base)).form(&form);
        let request = request.header("x-forwarded-for", format!("192.0.2.{n}"));
        let request = request.header("forwarded", format!("for=192.0.2.{n}"));
        statuses.push(answer(request.header("x-real-ip", format!("192.0.2.{n}"))).await.status);
    }

    assert_eq!(statuses, [400, 400, 400, 429, 429]);
}

#[tokio::test]
async fn guesses_spread_over_several_processes() {
    let mut service = Service::start_without_workers(&[("RATE_LOGIN_PER_MINUTE", "3")]).await;
    let mut bases = vec![service.base.clone(), service.another().await, service.another().await];
    let mut statuses = Vec::new();
    for n in 0..6 {
        service.base.clone_from(&bases[n % 3]);
        statuses.push(log_in(&service, "demo@example.org", &format!("guess {n}")).await.status);
    }

    assert_eq!(statuses, [400, 400, 400, 429, 429, 429]);
    // A restarted process remembers the attempts too, and the limit of the address holds over all processes.
    bases.push(service.another().await);
    service.base.clone_from(&bases[3]);
    assert_eq!(log_in(&service, "demo@example.org", PASSWORD).await.status, 429);
    let mut others = Vec::new();
    for n in 0..4 {
        service.base.clone_from(&bases[n % 4]);
        others.push(log_in(&service, &format!("person{n}@example.org"), "guess").await.status);
    }
    assert_eq!(others, [400, 400, 429, 429]);
}

#[tokio::test]
async fn throttle_evaded_by_the_addresses_of_one_network() {
    let settings = [("RATE_LOGIN_PER_MINUTE", "1"), ("TRUSTED_PROXIES", "127.0.0.1")];
    let service = Service::start_without_workers(&settings).await;
    let attempt = async |n: usize, address: String| {
        let form = [
            ("grant_type", "password"),
            ("client_id", "retort-cli"),
            ("username", &format!("person{n}@example.org")),
            ("password", "guess"),
        ];
        let request = service.http.post(format!("{}/auth/token", service.base)).form(&form);
        answer(request.header("x-forwarded-for", address)).await.status
    };
    let mut statuses = Vec::new();
    for n in 0..5 {
        statuses.push(attempt(n, format!("2001:db8::{n}")).await);
    }

    assert_eq!(statuses, [400, 400, 400, 429, 429]);
    assert_eq!(attempt(9, "2001:db8:0:1::1".to_owned()).await, 400);
}

#[tokio::test]
async fn owner_locked_out_by_strangers() {
    let settings = [("RATE_LOGIN_PER_MINUTE", "3"), ("TRUSTED_PROXIES", "127.0.0.1")];
    let service = Service::start_without_workers(&settings).await;
    PAGE.register(&service).await;
    let owner = Browser::new(&service);
    owner.log_in_and_allow(&PAGE.request(&[])).await;
    let attempt = async |password: &str, address: &str| {
        let form = [
            ("grant_type", "password"),
            ("client_id", "retort-cli"),
            ("username", "demo@example.org"),
            ("password", password),
        ];
        let request = service.http.post(format!("{}/auth/token", service.base)).form(&form);
        answer(request.header("x-forwarded-for", address)).await.status
    };

    let mut stranger = Vec::new();
    for _ in 0..5 {
        stranger.push(attempt("guess", "192.0.2.1").await);
    }
    assert_eq!(stranger, [400, 400, 400, 429, 429]);
    assert_eq!(attempt(PASSWORD, "192.0.2.200").await, 200);

    // Many of them exhaust the attempts of unknown browsers, but not those of the owner's browser.
    for n in 2..=11 {
        for _ in 0..3 {
            attempt("guess", &format!("192.0.2.{n}")).await;
        }
    }
    assert_eq!(attempt(PASSWORD, "192.0.2.200").await, 429);
    owner.cookies.borrow_mut().remove("retort_session");
    let page = owner.get(&PAGE.request(&[])).await;
    assert_eq!(owner.fill_in(&page, "demo@example.org", PASSWORD).await.status, 303);
}

#[tokio::test]
async fn password_typed_into_the_wrong_field_readable_in_the_database() {
    let service = Service::start_without_workers(&[]).await;

    log_in(&service, PASSWORD, "demo@example.org").await;

    let rows: Vec<(String,)> =
        sqlx::query_as("select account_id from rate_limits").fetch_all(&service.pool).await.unwrap();
    // One row each for the client, the address, the account from that address, and the account from anywhere.
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(rows.iter().all(|(who,)| !who.contains("horse")), "{rows:?}");
}

#[tokio::test]
async fn password_so_long_that_hashing_it_hurts() {
    let service = Service::start_without_workers(&[]).await;

    let long = log_in(&service, "demo@example.org", &"a".repeat(20_000)).await;
    let too_long = log_in(&service, "demo@example.org", &"a".repeat(100_000)).await;

    assert_eq!((long.status, too_long.status), (400, 413));
}

#[tokio::test]
async fn sample_of_another_account() {
    let service = Service::start_without_workers(&[]).await;
    let other = add_account(&service.pool, "eve@example.org").await;
    service.insert_sample(&service.account, &sample_id(1)).await;
    let mine = format!("/generator/v1/samples/{}", sample_id(1));
    let never = format!("/generator/v1/samples/{}", sample_id(9));
    for method in [Method::GET, Method::DELETE] {
        let theirs = answer(service.request_as(&other, method.clone(), &mine).await).await;
        let nobodys = answer(service.request_as(&other, method, &never).await).await;

        assert_eq!((theirs.status, theirs.text.as_str()), (404, "null"));
        assert_eq!((theirs.status, &theirs.text), (nobodys.status, &nobodys.text));
    }
    assert_eq!(service.get(&mine).await.status, 200);
}

#[tokio::test]
async fn cursor_of_another_account() {
    let service = Service::start_without_workers(&[]).await;
    let other = add_account(&service.pool, "eve@example.org").await;
    service.insert_sample(&service.account, &sample_id(1)).await;
    service.insert_sample(&other, &sample_id(2)).await;
    for cursor in ["next-page", "prev-page"] {
        for id in [sample_id(1), sample_id(9)] {
            let path = format!("/generator/v1/samples?{cursor}={id}");
            let answer = answer(service.request_as(&other, Method::GET, &path).await).await;

            assert_eq!((answer.status, answer.text.as_str()), (400, "null"), "{path}");
        }
    }
    let list = answer(service.request_as(&other, Method::GET, "/generator/v1/samples").await).await;
    assert_eq!(list.json()["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn statement_in_an_id() {
    let service = Service::start_without_workers(&[]).await;
    service.insert_sample(&service.account, &sample_id(1)).await;
    for id in ["' or '1'='1", "smp_';delete from samples;--", "%", "..%2f..%2fetc%2fpasswd", "smp_%00"] {
        let path = format!("/generator/v1/samples/{}", id.replace('\'', "%27").replace(' ', "%20"));

        assert_eq!(service.get(&path).await.status, 422, "{id}");
    }
    assert_eq!(service.get("/generator/v1/samples").await.json()["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn person_asked_for_with_another_ones_token() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let other = add_account(&service.pool, "eve@example.org").await;
    let tokens = PAGE.tokens(&service).await;
    let token = tokens["access_token"].as_str().unwrap();

    let address = format!("{}/auth/userinfo?sub={other}", service.base);
    let person = answer(service.http.get(address).bearer_auth(token)).await.json();

    assert_eq!(
        person,
        json!({ "sub": service.account, "email": "demo@example.org", "email_verified": true })
    );
}

#[tokio::test]
async fn person_asked_for_without_the_scope() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let scope = [("scope", "generator_api.samples:read"), ("response_type", "token")];
    let redirected = Browser::new(&service).log_in_and_allow(&PAGE.request(&scope)).await;

    let address = format!("{}/auth/userinfo", service.base);
    let answer = answer(service.http.get(address).bearer_auth(&redirected.fragment["access_token"])).await;

    assert_eq!(answer.status, 403);
    assert!(answer.header("www-authenticate").contains("insufficient_scope"));
}

/// Puts the accounts into one organisation, as `retort org join` does.
async fn join_organisation(service: &Service, accounts: &[&str]) {
    sqlx::raw_sql("insert into organisations (id, name) values ('org_lab', 'Lab')")
        .execute(&service.pool)
        .await
        .unwrap();
    for account in accounts {
        sqlx::query("update accounts set organisation_id = 'org_lab' where id = $1")
            .bind(account)
            .execute(&service.pool)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn sample_of_a_fellow_member_deleted() {
    let service = Service::start_without_workers(&[]).await;
    let fellow = add_account(&service.pool, "eve@example.org").await;
    join_organisation(&service, &[&service.account, &fellow]).await;
    service.insert_sample(&service.account, &sample_id(1)).await;
    let mine = format!("/generator/v1/samples/{}", sample_id(1));

    let read = answer(service.request_as(&fellow, Method::GET, &mine).await).await;
    let deleted = answer(service.request_as(&fellow, Method::DELETE, &mine).await).await;

    assert_eq!((read.status, deleted.status), (200, 403));
    assert_eq!(deleted.faults(), [(String::new(), "not_yours".to_owned())]);
    assert_eq!(service.get(&mine).await.status, 200);
}

#[tokio::test]
async fn samples_kept_in_sight_after_leaving_the_organisation() {
    let service = Service::start_without_workers(&[]).await;
    let leaver = add_account(&service.pool, "eve@example.org").await;
    join_organisation(&service, &[&service.account, &leaver]).await;
    service.insert_sample(&service.account, &sample_id(1)).await;
    let list = async || answer(service.request_as(&leaver, Method::GET, "/generator/v1/samples").await).await;
    assert_eq!(list().await.json()["data"].as_array().unwrap().len(), 1);
    sqlx::query("update accounts set organisation_id = null where id = $1")
        .bind(&leaver)
        .execute(&service.pool)
        .await
        .unwrap();

    // With the same token, immediately.
    let mine = format!("/generator/v1/samples/{}", sample_id(1));
    let cursor = format!("/generator/v1/samples?next-page={}", sample_id(1));
    let read = answer(service.request_as(&leaver, Method::GET, &mine).await).await;
    let page = answer(service.request_as(&leaver, Method::GET, &cursor).await).await;

    assert_eq!((read.status, page.status), (404, 400));
    assert_eq!(list().await.json()["data"], json!([]));
}
