//! Third-party clients: the Python library authlib goes through every flow, and a real browser through the pages.
//!
//! If one is not installed, its tests say so and pass; those that `CLIENTS=authlib,chromium` names must be installed.

use std::{collections::BTreeMap, net::SocketAddr, process::Stdio};

use axum::{Router, extract::RawQuery, routing::get};
use serde_json::{Value, json};
use test_support::{Chromium, Script};
use tokio::{io::AsyncWriteExt, net::TcpListener, process::Command, sync::mpsc};

use crate::{
    auth_device,
    browser::{PAGE, PROGRAM, REDIRECT, SECRET, SERVER},
    support::{PASSWORD, Service},
};

/// Prints that a client is missing.
pub fn skip(client: &str, reason: &str) {
    let required = std::env::var("CLIENTS").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == client), "{reason}");
    eprintln!("skipped: {reason}");
}

/// Finds a Python with the packages that the script needs.
async fn python() -> Option<&'static str> {
    for python in ["python3", "/usr/bin/python3"] {
        let has = Command::new(python)
            .args(["-c", "import authlib, requests"])
            .stderr(Stdio::null())
            .status()
            .await;
        if has.is_ok_and(|status| status.success()) {
            return Some(python);
        }
    }
    None
}

#[tokio::test]
async fn authlib_goes_through_every_flow() {
    let Some(python) = python().await else {
        return skip(
            "authlib",
            "no Python has authlib and requests: apt-get install python3-authlib python3-requests",
        );
    };
    let service = Service::start_without_workers(&[("PUBLIC_URL", "")]).await;
    for application in [PAGE, SERVER, PROGRAM] {
        application.register(&service).await;
    }
    let given = json!({
        "base": service.base, "email": "demo@example.org", "password": PASSWORD, "redirect": REDIRECT,
        "public": PAGE.client_id, "confidential": SERVER.client_id, "secret": SECRET, "device": PROGRAM.client_id,
    });
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/authlib_flows.py");
    let mut client = Command::new(python);
    // By default authlib refuses loopback without TLS.
    client.arg(script).env("AUTHLIB_INSECURE_TRANSPORT", "1").env("NO_PROXY", "*");
    client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut client = client.spawn().unwrap();
    client.stdin.take().unwrap().write_all(given.to_string().as_bytes()).await.unwrap();

    let output = client.wait_with_output().await.unwrap();

    let (printed, faults) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{faults}");
    assert_eq!(printed.trim(), "code, refresh, revoke, introspect, implicit, device, logout");
}

/// Starts a program on the user's machine that waits for the browser's redirect; returns its address and the received
/// query.
async fn loopback() -> (SocketAddr, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, receiver) = mpsc::unbounded_channel();
    let callback = async move |RawQuery(query): RawQuery| {
        sender.send(query.unwrap_or_default()).unwrap();
        "You can close this page."
    };
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/callback", get(callback))).await });
    (address, receiver)
}

/// Returns the accessible role and name of the element.
async fn role_and_name(browser: &Chromium, selector: &str) -> (String, String) {
    let element = browser.find(selector).await;
    (browser.read(&element, "computedrole").await, browser.read(&element, "computedlabel").await)
}

fn pair(role: &str, label: &str) -> (String, String) {
    (role.to_owned(), label.to_owned())
}

#[tokio::test]
async fn a_browser_without_scripts_logs_in_and_consents_to_an_application() {
    let browser = match Chromium::start(Script::Off).await {
        Ok(browser) => browser,
        Err(missing) => return skip("chromium", &missing),
    };
    let service = Service::start_without_workers(&[("PUBLIC_URL", "")]).await;
    PROGRAM.register(&service).await;
    let (address, mut came_back) = loopback().await;
    let redirect = format!("http://{address}/callback");
    let request =
        PROGRAM.request(&[("redirect_uri", &redirect), ("scope", "openid email generator_api.samples:read")]);

    browser.open(&format!("{}{request}", service.base)).await;
    assert_eq!(browser.title().await, "Log in · Retort");
    assert_eq!(role_and_name(&browser, "#email").await, pair("textbox", "E-mail address"));
    assert_eq!(role_and_name(&browser, "#password").await, pair("textbox", "Password"));
    assert_eq!(role_and_name(&browser, "button").await, pair("button", "Log in"));
    browser.screenshot("login").await;

    browser.type_into("#email", "demo@example.org").await;
    browser.type_into("#password", "wrong").await;
    browser.click("button").await;
    assert_eq!(browser.text("#failed").await, "The e-mail address or the password is wrong.");
    assert_eq!(role_and_name(&browser, "#failed").await.0, "alert");
    browser.screenshot("login_failed").await;
    // The e-mail address is kept and the password field has the focus: typing the password and Enter suffices.
    browser.type_where_the_cursor_is(&format!("{PASSWORD}\u{e007}")).await;
    browser.wait_for_title("Allow access · Retort").await;
    let page = browser.text("main").await;
    for part in
        ["Test <app_program>", "demo@example.org", "a program on this machine", "generator_api.samples:read"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    browser.screenshot("consent").await;
    for cookie in browser.cookies().await {
        assert_eq!((&cookie["httpOnly"], &cookie["sameSite"]), (&json!(true), &json!("Lax")), "{cookie}");
    }

    browser.click("button[value=allow]").await;
    let query = came_back.recv().await.unwrap();
    let answer: BTreeMap<String, String> =
        url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    assert_eq!((&*answer["state"], &*answer["iss"]), ("xyz", &*format!("{}/auth", service.base)));
    let tokens = PROGRAM.exchange(&service, &answer["code"], &[("redirect_uri", &redirect)]).await;
    assert_eq!((tokens.status, &tokens.json()["token_type"]), (200, &json!("Bearer")));
}

#[tokio::test]
async fn a_browser_allows_a_device_and_logs_out() {
    let browser = match Chromium::start(Script::Off).await {
        Ok(browser) => browser,
        Err(missing) => return skip("chromium", &missing),
    };
    let service = Service::start_without_workers(&[("PUBLIC_URL", "")]).await;
    PROGRAM.register(&service).await;
    let begun: Value = auth_device::begin(&service).await;

    browser.open(begun["verification_uri_complete"].as_str().unwrap()).await;
    browser.type_into("#email", "demo@example.org").await;
    browser.type_into("#password", PASSWORD).await;
    browser.click("button").await;
    browser.wait_for_title("Let a device in · Retort").await;
    browser.screenshot("device").await;
    browser.click("button").await;
    browser.wait_for_title("Allow access · Retort").await;
    browser.click("button[value=allow]").await;
    browser.wait_for_title("Done · Retort").await;
    assert_eq!(auth_device::poll(&service, &begun).await.status, 200);

    browser.open(&format!("{}/auth/logout", service.base)).await;
    browser.click("button").await;
    browser.wait_for_title("Logged out · Retort").await;
    // The remaining cookie marks a known browser and logs nobody in.
    let names: Vec<Value> = browser.cookies().await.iter().map(|cookie| cookie["name"].clone()).collect();
    assert_eq!(names, ["retort_device"]);
}
