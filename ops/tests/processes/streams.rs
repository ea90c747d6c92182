//! Tree search as a stream, end to end: a real searcher publishes events, another process resumes the stream, and a
//! stream without readers is cancelled.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use test_support::{EventReader, ReceivedEvent, eventually, free_port};

use crate::{
    client::ApiClient,
    installation::{Installation, Role, long_search},
    process::Process,
    searches::{TARGET, installation},
};

const SEARCH: &str = "/synth/v1/treesearch";

/// Starts another API on the same database; returns it with its address.
async fn another_api(installation: &mut Installation) -> (Process, String) {
    let address = format!("127.0.0.1:{}", free_port());
    let mut command = installation.command("retort-api");
    command
        .arg("serve")
        .env("HTTP_ADDR", &address)
        .env("PUBLIC_URL", format!("http://{}", installation.address()));
    let process = installation.start("api", command);
    let base = format!("http://{address}");
    let anonymous = ApiClient::new(&base, "");
    eventually("the other API serves", async || {
        let answer = anonymous.request(Method::GET, "/openapi.json").send().await.ok()?;
        (answer.status() == StatusCode::OK).then_some(())
    })
    .await;
    (process, base)
}

fn long() -> Value {
    json!({ "search_smiles": TARGET, "early_exit_first_solution": false, "max_seconds": 20, "max_depth": 10 })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_resumes_at_another_process() {
    let mut installation = installation().await;
    let (_other, base) = another_api(&mut installation).await;
    let caller = installation.account("owner");
    let elsewhere = caller.at(&base);
    for kill in [true, false] {
        let mut reader = EventReader::of(caller.request(Method::POST, SEARCH).json(&long())).await;
        let location = reader.location();
        let mut had = vec![reader.next().await.unwrap()];
        while had.last().unwrap().1 != "route" {
            had.push(reader.next().await.unwrap());
        }

        if kill {
            installation.api().kill();
        } else {
            installation.api().terminate();
        }
        had.extend(reader.rest().await);
        assert!(had.iter().all(|(_, name, _)| name != "answer" && name != "problem"));
        let last = had.last().unwrap().0;
        let again = elsewhere.request(Method::GET, &location).header("last-event-id", last);
        let rest = EventReader::of(again).await.rest().await;

        let all: Vec<ReceivedEvent> = had.into_iter().chain(rest).collect();
        assert!(all.is_sorted_by(|one, next| one.0 < next.0), "nothing comes twice");
        let (_, name, answer) = all.last().unwrap();
        assert_eq!((name.as_str(), &answer["search_smiles"]), ("answer", &json!(TARGET)));
        let is_route = |event: &&ReceivedEvent| event.1 == "route";
        let routes: Vec<&ReceivedEvent> = all.iter().filter(is_route).collect();
        for (_, _, found) in &routes {
            let nodes = found["route"]["nodes"].as_array().unwrap();
            assert_eq!(
                (&nodes[0]["data"]["smiles"], &nodes[0]["data"]["depth"]),
                (&json!(TARGET), &json!(0))
            );
            let is_bought = |node: &&Value| node["data"]["is_building_block"] == true;
            assert!(nodes.iter().filter(is_bought).count() > 0 && found["steps"].as_u64() > Some(0));
        }
        let best = &routes[0].2;
        let steps = best["steps"].to_string();
        assert!(answer["route_hierarchy"][steps].get(best["backbone"].as_str().unwrap()).is_some());
        assert!(
            all.iter().any(|(_, name, output)| name == "progress" && output["expansions"].as_u64() > Some(0))
        );
        if kill {
            installation.start_api().await;
        } else {
            assert!(installation.api().wait().success());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_without_readers_of_its_stream_is_cancelled() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Search, &[("WORKER_SLOTS", "1")]).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let mut reader = EventReader::of(caller.request(Method::POST, SEARCH).json(&long_search(100))).await;
    assert_eq!(reader.next().await.unwrap().1, "progress");
    let mut connection = installation.connection().await;

    drop(reader);

    eventually("the search is cancelled and its place free", async || {
        let held: i64 = sqlx::query_scalar("select count(*) from jobs where finished_at is null")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        (held == 0).then_some(())
    })
    .await;
    let outcome: Value =
        sqlx::query_scalar("select outcome from jobs").fetch_one(&mut connection).await.unwrap();
    assert_eq!(outcome["Err"]["problem"], "cancelled");
    // An interactive search gets the freed slot.
    caller.create(SEARCH, &json!({ "search_smiles": "CCO", "max_seconds": 1 })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_whose_caller_died_and_does_not_return_is_cancelled() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let mut reader = EventReader::of(caller.request(Method::POST, SEARCH).json(&long_search(100))).await;
    reader.next().await.unwrap();

    installation.api().kill();

    let mut connection = installation.connection().await;
    eventually("the search is cancelled", async || {
        let open: i64 = sqlx::query_scalar("select count(*) from jobs where finished_at is null")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        (open == 0).then_some(())
    })
    .await;
}
