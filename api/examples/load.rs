//! Load generator at a fixed rate: `load < PLAN.json`; prints one JSON object of results on standard output
//! (`ops/load/load.py`).
//!
//! Requests start by the clock, not after the previous answer, and a latency counts from the time at which its
//! request was due. So a service that stalls neither stops the requests nor hides their waiting time.

use std::{
    collections::BTreeMap,
    io::Read,
    time::{Duration, Instant},
};

use anyhow::Context;
use reqwest::{Client, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::task::JoinSet;

/// Load plan: requests, rate and accounts.
#[derive(Debug, Deserialize)]
struct LoadPlan {
    base: String,
    /// Requests a second; without it each caller sends the next request when it has its answer.
    rate: Option<f64>,
    /// Number of concurrent callers when there is no rate.
    callers: usize,
    seconds: f64,
    accounts: Vec<Account>,
    /// Weight of each operation.
    mix: BTreeMap<Operation, f64>,
    targets: Vec<String>,
    max_seconds: f64,
}

#[derive(Debug, Deserialize)]
struct Account {
    name: String,
    token: String,
    /// Id of a sample that the account owns.
    sample: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Operation {
    List,
    Retrieve,
    Sample,
    Search,
}

/// One request and its result.
struct RequestResult {
    account: usize,
    operation: Operation,
    /// Status code; 0: no answer.
    status: u16,
    seconds: f64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    // The service speaks plain HTTP here, but a client cannot be built without a crypto provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let plan: &'static LoadPlan = Box::leak(Box::new(serde_json::from_str(&text).context("the plan")?));
    let client = Client::builder().no_proxy().timeout(Duration::from_secs(120)).build()?;
    let begun = Instant::now();
    let results = match plan.rate {
        Some(rate) => send_at_rate(&client, plan, rate).await,
        None => send_in_sequence(&client, plan).await,
    };
    print(&results, plan, begun.elapsed().as_secs_f64())
}

async fn send_at_rate(client: &Client, plan: &'static LoadPlan, rate: f64) -> Vec<RequestResult> {
    let begun = Instant::now();
    let mut results = JoinSet::new();
    for number in 0..(plan.seconds * rate) as usize {
        let due = begun + Duration::from_secs_f64(number as f64 / rate);
        tokio::time::sleep_until(due.into()).await;
        results.spawn(send_request(client.clone(), plan, number, due));
    }
    results.join_all().await
}

async fn send_in_sequence(client: &Client, plan: &'static LoadPlan) -> Vec<RequestResult> {
    let ends = Instant::now() + Duration::from_secs_f64(plan.seconds);
    let mut callers = JoinSet::new();
    for caller in 0..plan.callers {
        let client = client.clone();
        callers.spawn(async move {
            let mut results = Vec::new();
            while Instant::now() < ends {
                let number = caller + results.len() * plan.callers;
                results.push(send_request(client.clone(), plan, number, Instant::now()).await);
            }
            results
        });
    }
    callers.join_all().await.into_iter().flatten().collect()
}

async fn send_request(client: Client, plan: &LoadPlan, number: usize, due: Instant) -> RequestResult {
    let operation = operation(plan, number);
    let account = number % plan.accounts.len();
    let Account { token, sample, .. } = &plan.accounts[account];
    let at = |path: &str| format!("{}{path}", plan.base);
    let request = match operation {
        Operation::List => client.get(at("/generator/v1/samples?limit=10")),
        Operation::Retrieve => client.get(at(&format!("/generator/v1/samples/{sample}"))),
        Operation::Sample => client.post(at("/generator/v1/samples")).json(&json!({ "size": 10 })),
        Operation::Search => {
            let target = &plan.targets[number % plan.targets.len()];
            let body = json!({ "search_smiles": target, "max_seconds": plan.max_seconds });
            client.post(at("/synth/v1/treesearch")).json(&body)
        }
    };
    let status = match request.bearer_auth(token).send().await {
        Ok(answer) => {
            let status = answer.status();
            answer.bytes().await.map_or(0, |_| status.as_u16())
        }
        Err(_) => 0,
    };
    RequestResult { account, operation, status, seconds: due.elapsed().as_secs_f64() }
}

/// Chooses the operation of a request: multiples of the golden ratio spread each evenly over time.
fn operation(plan: &LoadPlan, number: usize) -> Operation {
    let total_weight: f64 = plan.mix.values().sum();
    let mut position = (number as f64 * 0.618_033_988_749_895).fract() * total_weight;
    for (&operation, part) in &plan.mix {
        position -= part;
        if position < 0.0 {
            return operation;
        }
    }
    Operation::List
}

#[expect(clippy::print_stdout, reason = "the figures are what this program is for")]
fn print(results: &[RequestResult], plan: &LoadPlan, seconds: f64) -> anyhow::Result<()> {
    let operations: BTreeMap<Operation, _> = plan
        .mix
        .keys()
        .map(|&operation| {
            (operation, figures(results.iter().filter(|results| results.operation == operation)))
        })
        .collect();
    let accounts: BTreeMap<&str, _> = (0..plan.accounts.len())
        .map(|number| {
            (
                plan.accounts[number].name.as_str(),
                figures(results.iter().filter(|results| results.account == number)),
            )
        })
        .collect();
    let figures = json!({
        "seconds": seconds, "requests": results.len(), "all": figures(results.iter()),
        "operations": operations, "accounts": accounts,
    });
    println!("{figures}");
    Ok(())
}

/// Counts the answers by status, and computes the latencies of successes and rejections, in milliseconds.
fn figures<'a>(results: impl Iterator<Item = &'a RequestResult> + Clone) -> serde_json::Value {
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for one in results.clone() {
        *statuses.entry(one.status).or_default() += 1;
    }
    let quantiles = |is_meant: fn(u16) -> bool| {
        let mut taken: Vec<f64> = results
            .clone()
            .filter(|results| is_meant(results.status))
            .map(|results| results.seconds * 1e3)
            .collect();
        taken.sort_by(f64::total_cmp);
        let at = |share: f64| taken.get(((taken.len().max(1) - 1) as f64 * share) as usize).copied();
        json!({ "count": taken.len(), "p50": at(0.5), "p99": at(0.99), "p999": at(0.999) })
    };
    let is_refusal = |status| {
        status == StatusCode::SERVICE_UNAVAILABLE.as_u16() || status == StatusCode::TOO_MANY_REQUESTS.as_u16()
    };
    json!({ "statuses": statuses, "good": quantiles(|status| status == 200), "refused": quantiles(is_refusal) })
}
