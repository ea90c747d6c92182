//! Account view in a real browser, and the authorization server's page behind it: organisation, logins, tokens for
//! scripts.

use crate::{
    console_plan::{assert_no_errors, breaks_no_rule, stage},
    support::{PASSWORD, add_account, answer, join_one_organisation},
};

#[tokio::test]
async fn an_account_knows_its_organisation_and_makes_a_token_for_scripts_that_is_shown_once() {
    let Some((service, browser)) = stage().await else { return };
    let colleague = add_account(&service.pool, "eve@example.org").await;
    join_one_organisation(&service.pool, &[&service.account, &colleague]).await;

    browser.go("#/account").await;
    browser
        .until("return document.querySelector('#part_account .known')?.textContent.includes('lab') === true")
        .await;
    browser.screenshot("account").await;
    breaks_no_rule(&browser).await;
    assert_no_errors(&browser).await;
    browser.click("#part_account a[href='/auth/account#tokens']").await;
    browser.wait_for_title("Logins and tokens · Retort").await;
    let members = browser.run("return document.querySelector('details ul').textContent").await;
    browser.run("for (const one of document.querySelectorAll('details')) one.open = true").await;
    browser.type_into("#name", "Nightly batch").await;
    browser.run("document.querySelector('[name=\"generator_api.samples:delete\"]').click()").await;
    browser.screenshot("account_logins").await;
    breaks_no_rule(&browser).await;
    browser.resize(375, 800).await;
    let overflow = browser
        .run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        .await;
    browser.screenshot("account_logins_narrow").await;
    browser.resize(1280, 900).await;
    browser.type_into("#password", PASSWORD).await;
    browser.run("document.querySelector('form[action=\"/auth/account/tokens\"] button').click()").await;
    browser.wait_for_title("A token for scripts · Retort").await;
    let token = browser.text("#token").await;
    browser.screenshot("account_token").await;
    breaks_no_rule(&browser).await;
    let request = service.http.get(format!("{}/generator/v1/samples", service.base));
    let listed = answer(request.bearer_auth(&token)).await;
    browser.run("document.querySelector('main a').click()").await;
    browser.wait_for_title("Logins and tokens · Retort").await;
    let entry = browser.text("#tokens .entry").await;

    assert!(members.as_str().unwrap().contains("eve@example.org"), "{members}");
    assert_eq!(overflow, 0);
    assert_eq!(listed.status, 200, "{listed:?}");
    assert!(entry.contains("Nightly batch") && entry.contains("generator_api.samples:read"), "{entry}");
    assert!(!entry.contains("samples:delete") && !entry.contains("operations"), "{entry}");
    assert_no_errors(&browser).await;
}
