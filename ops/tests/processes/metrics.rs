//! Prometheus metrics, compared with the dashboards, the rules and the documentation.

use std::{collections::BTreeSet, fs, process::Command, time::Instant};

use reqwest::Method;
use serde_json::{Value, json};
use test_support::{WAIT_TIMEOUT, eventually, free_port};

use crate::{
    client::ApiClient,
    installation::{Installation, Role, long_search},
    process::{Process, is_installed, output, root},
    searches::{CATALOGUE, TARGET},
};

/// Folder of the dashboards and rules, from the repository's root.
const DASHBOARDS: &str = "ops/dashboards";

/// Processes that Prometheus scrapes, with their roles.
const SCRAPED: [(&str, Option<Role>); 3] =
    [("retort-api", None), ("retort-sampler", Some(Role::Sample)), ("retort-searcher", Some(Role::Search))];

/// Starts an installation whose processes serve metrics; returns it with their ports.
async fn installation() -> (Installation, Vec<u16>) {
    let mut installation = Installation::new().await;
    installation.import_catalogue(CATALOGUE);
    // The limit refuses something to a single account.
    installation.set("JOBS_IN_FLIGHT", "2");
    let mut ports = Vec::new();
    for (_, role) in SCRAPED {
        let port = free_port();
        installation.set("OTEL_EXPORTER_PROMETHEUS_PORT", &port.to_string());
        match role {
            None => installation.start_api().await,
            Some(Role::Sample) => {
                // The reservoir is filled and then drawn from.
                installation.start_worker(Role::Sample, &[("RESERVOIR_SIZE", "1000")]).await;
            }
            Some(Role::Search) => {
                installation.start_worker(Role::Search, &[]).await;
            }
        }
        ports.push(port);
    }
    (installation, ports)
}

/// Sends a few requests of every kind.
async fn request(caller: &ApiClient) {
    let sample = |body: Value| async move {
        let _ = caller.post("/generator/v1/samples", &body).await;
    };
    let search = |body: Value| async move {
        let _ = caller.post("/synth/v1/treesearch", &body).await;
    };
    sample(json!({ "size": 50 })).await;
    sample(json!({ "size": 5, "model_id": "none" })).await;
    let _ = caller.get("/generator/v1/samples").await;
    search(json!({ "search_smiles": TARGET, "max_seconds": 2 })).await;
    search(json!({ "search_smiles": "CCCCCCCCCC(C)CCC", "max_seconds": 0.2 })).await;
    let mut long = long_search(1);
    long["max_seconds"] = json!(0.3);
    tokio::join!(search(long.clone()), search(long.clone()), search(long));
}

/// Returns the metrics of a process in Prometheus' text format.
async fn scrape(port: u16) -> String {
    let answer = reqwest::get(format!("http://127.0.0.1:{port}/metrics")).await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4");
    answer.text().await.unwrap()
}

/// Returns the names and types of the metrics in a text.
fn metrics_in(text: &str) -> BTreeSet<(String, String)> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let ours = types.filter(|(name, _)| *name != "target_info");
    ours.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect()
}

/// Returns the names and types in the documentation's table.
fn documented() -> BTreeSet<(String, String)> {
    let page = fs::read_to_string(root().join(DASHBOARDS).join("README.md")).unwrap();
    let cells = |line: &str| {
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        Some((cells.get(2)?.clone(), cells.get(3)?.clone()))
    };
    let kinds = ["counter", "gauge", "histogram"];
    page.lines().filter_map(cells).filter(|(_, kind)| kinds.contains(&kind.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_is_what_is_documented() {
    let (installation, ports) = installation().await;
    let caller = installation.account("metrics");
    let documented = documented();
    let begun = Instant::now();
    let mut found = BTreeSet::new();
    while found != documented {
        let missing: Vec<_> = documented.symmetric_difference(&found).collect();
        assert!(begun.elapsed() < WAIT_TIMEOUT, "shown or documented alone: {missing:?}");
        request(&caller).await;
        for &port in &ports {
            found.extend(metrics_in(&scrape(port).await));
        }
    }

    // No metric label identifies a caller.
    for port in ports {
        let text = scrape(port).await;
        assert!(!text.contains("acc_") && !text.contains(TARGET), "{text}");
    }
}

#[test]
fn every_rule_is_one_that_prometheus_takes_and_names_a_section_of_the_guide() {
    let rules = fs::read_to_string(root().join(DASHBOARDS).join("alerts.yml")).unwrap();
    let named: Vec<(&str, &str)> = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("runbook: ops/guide/")?.split_once('#'))
        .collect();
    assert_eq!(named.len(), rules.matches("- alert:").count(), "each has its section");
    for (page, section) in named {
        let text = fs::read_to_string(root().join("ops/guide").join(page)).unwrap();
        let mut anchors = text.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor);
        assert!(anchors.any(|anchor| anchor == section), "{page} has no section `{section}`");
    }

    if !is_installed("promtool") {
        return;
    }
    let mut check = Command::new("promtool");
    check.current_dir(root().join(DASHBOARDS)).args(["check", "config", "prometheus.yml"]);
    output(check);
}

/// Returns a heading's anchor, as code hosts generate it.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|sign| sign.is_alphanumeric() || *sign == '-').collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_panel_of_a_dashboard_and_no_rule_asks_for_what_is_not_there() {
    if !is_installed("prometheus") {
        return;
    }
    let (installation, ports) = installation().await;
    let prometheus = Prometheus::start(&installation, &ports);
    let caller = installation.account("panels");
    let queries = queries();
    assert!(queries.len() > 60, "{} queries", queries.len());

    let begun = Instant::now();
    let mut empty = queries.clone();
    while !empty.is_empty() {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "nothing is found for {empty:#?}");
        request(&caller).await;
        let mut still = Vec::new();
        for query in empty {
            if prometheus.request(&query).await.is_empty() {
                still.push(query);
            }
        }
        empty = still;
    }

    // All rules were evaluated, and none failed.
    let rules = prometheus.api("rules", &[]).await;
    let rules: Vec<&Value> = rules["groups"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|group| group["rules"].as_array().unwrap())
        .collect();
    assert!(rules.len() > 10);
    for rule in rules {
        assert_eq!(rule["health"], "ok", "{rule}");
        // A condition that is a fault only if it lasts may hold for a moment.
        assert_ne!(rule["state"], "firing", "nothing is wrong: {rule}");
    }
}

/// Returns the panels' queries, with an interval inserted as by the dashboard.
fn queries() -> Vec<String> {
    let mut queries = Vec::new();
    for entry in fs::read_dir(root().join(DASHBOARDS)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let board: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for panel in board["panels"].as_array().unwrap() {
            let targets = panel["targets"].as_array().unwrap();
            assert!(!targets.is_empty(), "{}: {}", path.display(), panel["title"]);
            let expressions = targets.iter().map(|target| target["expr"].as_str().unwrap());
            queries.extend(expressions.map(|query| query.replace("$__rate_interval", "30s")));
        }
    }
    queries
}

/// A Prometheus that scrapes an installation every second.
struct Prometheus {
    port: u16,
    _process: Process,
}

impl Prometheus {
    fn start(installation: &Installation, ports: &[u16]) -> Self {
        let folder = installation.folder().join("prometheus");
        fs::create_dir_all(&folder).unwrap();
        let jobs: Vec<Value> = SCRAPED
            .iter()
            .zip(ports)
            .map(|((name, _), port)| {
                json!({ "job_name": name, "static_configs": [{ "targets": [format!("127.0.0.1:{port}")] }] })
            })
            .collect();
        // JSON is YAML.
        let config = json!({
            "global": { "scrape_interval": "1s", "evaluation_interval": "1s" },
            "rule_files": [root().join(DASHBOARDS).join("alerts.yml")],
            "scrape_configs": jobs,
        });
        fs::write(folder.join("prometheus.yml"), config.to_string()).unwrap();
        let port = free_port();
        let mut command = Command::new("prometheus");
        command
            .arg(format!("--config.file={}", folder.join("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"));
        Self { port, _process: Process::start("prometheus", command, folder.join("log")) }
    }

    /// Evaluates a query now; values that are no number are left out.
    async fn request(&self, query: &str) -> Vec<f64> {
        let data = self.api("query", &[("query", query)]).await;
        let found = data["result"].as_array().cloned().unwrap_or_default();
        let figure =
            |series: &Value| series["value"][1].as_str()?.parse::<f64>().ok().filter(|value| !value.is_nan());
        found.iter().filter_map(figure).collect()
    }

    async fn api(&self, what: &str, parameters: &[(&str, &str)]) -> Value {
        eventually("Prometheus answers", async || {
            let request = reqwest::Client::new()
                .request(Method::GET, format!("http://127.0.0.1:{}/api/v1/{what}", self.port))
                .query(parameters);
            let mut body: Value = request.send().await.ok()?.json().await.unwrap();
            assert_eq!(body["status"], "success", "{parameters:?}: {body}");
            Some(body["data"].take())
        })
        .await
    }
}
