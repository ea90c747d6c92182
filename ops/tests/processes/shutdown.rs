//! SIGTERM: what is in flight is finished, then the process ends.

use crate::{
    client::good,
    installation::{Installation, Role, long_search},
};

const SEARCH: &str = "/synth/v1/treesearch";

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_finishes_its_job_before_it_ends() {
    let mut installation = Installation::new().await;
    let worker = installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");

    let request = tokio::spawn(async move { good(caller.post(SEARCH, &long_search(5)).await).await });
    installation.running_job(Role::Search).await;
    installation.worker(worker).terminate();

    request.await.unwrap();
    assert!(installation.worker(worker).wait().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_answers_the_request_in_flight_before_it_ends() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");

    let request = tokio::spawn(async move { good(caller.post(SEARCH, &long_search(5)).await).await });
    installation.running_job(Role::Search).await;
    installation.api().terminate();

    request.await.unwrap();
    assert!(installation.api().wait().success());
}
