//! Race conditions: refreshes, logins and device flows during a revocation.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use argon2::{Algorithm, Argon2, Params, PasswordHasher, Version, password_hash::SaltString};
use futures::future::join_all;
use identity::tables::accounts;
use serde_json::{Value, json};

use super::{
    accounts::log_in,
    refresh::{list, text},
};
use crate::{
    auth_device::{begin, decide, poll, type_code},
    browser::{Browser, PROGRAM},
    support::{Answer, PASSWORD, Service, add_account, answer},
};

/// Number of runs of each race.
const ROUNDS: usize = 1000;
/// Number of parallel runs.
const PARALLEL_RUNS: usize = 4;

/// Account with a password that is cheap to check.
struct Victim {
    email: String,
}

fn cheap_hash(password: &str) -> String {
    let cheap = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
    let salt = SaltString::encode_b64(b"sixteen bytes ok").unwrap();
    cheap.hash_password(password.as_bytes(), &salt).unwrap().to_string()
}

async fn start() -> Service {
    Service::start_without_workers(&[("RATE_LOGIN_PER_MINUTE", "0"), ("RATE_SAMPLES_READ_PER_MINUTE", "0")])
        .await
}

async fn victim(service: &Service, lane: usize) -> Victim {
    let email = format!("victim{lane}@example.org");
    let id = add_account(&service.pool, &email).await;
    sqlx::query("update accounts set password_hash = $2 where id = $1")
        .bind(&id)
        .bind(cheap_hash(PASSWORD))
        .execute(&service.pool)
        .await
        .unwrap();
    Victim { email }
}

async fn post(service: &Service, path: &str, form: &[(&str, &str)]) -> Answer {
    let mut form: BTreeMap<_, _> = form.iter().copied().collect();
    form.insert("client_id", "retort-cli");
    answer(service.http.post(format!("{}{path}", service.base)).form(&form)).await
}

async fn refresh(service: &Service, tokens: &Value) -> Answer {
    let form = [("grant_type", "refresh_token"), ("refresh_token", text(tokens, "refresh_token"))];
    post(service, "/auth/token", &form).await
}

/// Changes the password as `retort account password` does.
async fn change_password(service: &Service, victim: &Victim, password: &str) {
    let mut transaction = service.pool.begin().await.unwrap();
    let account = accounts::named(&mut transaction, &victim.email).await.unwrap().unwrap();
    account.change_password(&mut transaction, &cheap_hash(password)).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Disables and enables the account as `retort account disable` and `enable` do.
async fn disable_and_enable(service: &Service, victim: &Victim) {
    let mut transaction = service.pool.begin().await.unwrap();
    let account = accounts::named(&mut transaction, &victim.email).await.unwrap().unwrap();
    account.disable(&mut transaction).await.unwrap();
    transaction.commit().await.unwrap();
    account.enable(&mut service.pool.acquire().await.unwrap()).await.unwrap();
}

/// Refreshes until it is refused, or until long after the revocation; returns the last tokens.
async fn steal(service: &Service, mut tokens: Value, ended: &AtomicBool) -> Value {
    let mut after = 0;
    while after < 5 {
        after += usize::from(ended.load(Ordering::Acquire));
        let answer = refresh(service, &tokens).await;
        if answer.status != 200 {
            break;
        }
        tokens = answer.json();
    }
    tokens
}

/// Lets a thief refresh in a loop while `end` revokes the tokens, many times, and asserts that no token survives on
/// either side.
async fn assert_nothing_survives(end: impl AsyncFn(&Service, &Victim, &Value) -> Option<Value>) {
    let service = start().await;
    let lane = async |lane: usize| {
        let victim = victim(&service, lane).await;
        let mut left = Vec::new();
        for round in 0..ROUNDS / PARALLEL_RUNS {
            let tokens = log_in(&service, &victim.email, PASSWORD).await.json();
            let ended = AtomicBool::new(false);
            let ending = async {
                for _ in 0..round % 16 {
                    tokio::task::yield_now().await;
                }
                let got = end(&service, &victim, &tokens).await;
                ended.store(true, Ordering::Release);
                got
            };
            let (stolen, got) = tokio::join!(steal(&service, tokens.clone(), &ended), ending);
            for tokens in [Some(stolen), got].into_iter().flatten() {
                let again = refresh(&service, &tokens).await;
                assert_eq!(again.status, 400, "round {round} of lane {lane}: {again:?}");
                left.push(tokens);
            }
        }
        left
    };
    let left = join_all((0..PARALLEL_RUNS).map(lane)).await.concat();
    assert_all_end(&service, &left).await;
}

/// Asserts that every access token ends, once every process has been notified of the revocation.
async fn assert_all_end(service: &Service, left: &[Value]) {
    for tokens in left {
        for _ in 0..200 {
            if list(service, text(tokens, "access_token")).await == 401 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(list(service, text(tokens, "access_token")).await, 401, "{tokens}");
    }
}

#[tokio::test]
async fn refreshes_while_the_password_is_changed() {
    assert_nothing_survives(async |service, victim, _| {
        change_password(service, victim, PASSWORD).await;
        None
    })
    .await;
}

#[tokio::test]
async fn refreshes_while_the_account_is_disabled() {
    assert_nothing_survives(async |service, victim, _| {
        disable_and_enable(service, victim).await;
        None
    })
    .await;
}

#[tokio::test]
async fn refreshes_while_the_family_is_revoked() {
    assert_nothing_survives(async |service, _, tokens| {
        let revoked = post(service, "/auth/revoke", &[("token", text(tokens, "refresh_token"))]).await;
        assert_eq!(revoked.status, 200);
        None
    })
    .await;
}

#[tokio::test]
async fn refreshes_while_the_owner_uses_the_stolen_token() {
    assert_nothing_survives(async |service, _, tokens| {
        let answer = refresh(service, tokens).await;
        // The second use of the token reveals that there are two holders.
        (answer.status == 200).then(|| answer.json())
    })
    .await;
}

#[tokio::test]
async fn logins_with_the_old_password_while_it_is_changed() {
    let service = start().await;
    let victim = victim(&service, 0).await;
    let mut left = Vec::new();
    for round in 0..ROUNDS / 20 {
        let (old, new) = (format!("{PASSWORD} {round}"), format!("{PASSWORD} {}", round + 1));
        change_password(&service, &victim, &old).await;
        let logins = join_all((0..20).map(|_| log_in(&service, &victim.email, &old)));

        let (logins, ()) = tokio::join!(logins, change_password(&service, &victim, &new));

        for login in logins.iter().filter(|login| login.status == 200) {
            assert_eq!(refresh(&service, &login.json()).await.status, 400, "round {round}");
            left.push(login.json());
        }
        let now = log_in(&service, &victim.email, &new).await;
        assert_eq!(
            (now.status, list(&service, text(&now.json(), "access_token")).await),
            (200, 200),
            "round {round}"
        );
    }
    assert_all_end(&service, &left).await;
}

#[tokio::test]
async fn device_that_was_let_in_before_the_account_was_disabled() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let victim = Victim { email: "demo@example.org".to_owned() };
    for disabling in [true, false] {
        let begun = begin(&service).await;
        let browser = Browser::new(&service);
        let page = type_code(&browser, text(&begun, "user_code")).await;
        assert_eq!(decide(&browser, &page, "allow").await.status, 200);

        if disabling {
            disable_and_enable(&service, &victim).await;
        } else {
            let hash = identity::hash_password(PASSWORD).unwrap();
            let mut connection = service.pool.acquire().await.unwrap();
            let account = accounts::named(&mut connection, &victim.email).await.unwrap().unwrap();
            account.change_password(&mut connection, &hash).await.unwrap();
        }

        let polled = poll(&service, &begun).await;
        assert_eq!(
            (polled.status, polled.json()["error"].clone()),
            (400, json!("invalid_grant")),
            "{polled:?}"
        );
    }
}
