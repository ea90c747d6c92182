//! Manifests of `ops/kubernetes`: rendered by kustomize, and checked against Kubernetes' schemas and our own
//! processes.
//!
//! No cluster is available to apply them here. KEDA's objects have no schema here either; their queries run against a
//! real PostgreSQL.

use std::{collections::BTreeMap, process::Command};

use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Executor as _};
use test_support::{eventually, free_port};

use crate::{
    installation::{Installation, Role},
    process::{output, root},
    settings::{assert_command_accepted, assert_settings, stop_seconds},
    yaml::{documents, texts},
};

/// Renders the manifests of a folder of `ops/kubernetes` as text; `None` if kubectl is not installed.
fn rendered(folder: &str) -> Option<String> {
    let version = Command::new("kubectl").args(["kustomize", "--help"]).output();
    if !version.is_ok_and(|version| version.status.success()) {
        println!("skipped: kubectl is not installed");
        return None;
    }
    let mut kustomize = Command::new("kubectl");
    kustomize.arg("kustomize").arg(root().join("ops/kubernetes").join(folder));
    Some(output(kustomize))
}

fn manifests(folder: &str) -> Option<Vec<Value>> {
    documents(&rendered(folder)?)
}

fn of_kind<'a>(manifests: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    manifests.iter().filter(move |manifest| manifest["kind"] == kind)
}

/// Returns the manifests with a pod template.
fn workloads(manifests: &[Value]) -> Vec<&Value> {
    of_kind(manifests, "Deployment").chain(of_kind(manifests, "Job")).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn container(workload: &Value) -> &Value {
    let containers = workload["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    assert_eq!(containers.len(), 1, "{workload}");
    &containers[0]
}

/// Returns the plain-text variables of a container, from the ConfigMap and its own list.
fn variables<'a>(manifests: &'a [Value], container: &'a Value) -> BTreeMap<&'a str, &'a str> {
    let of_map = texts_of_map(manifests, container);
    let own = container["env"].as_array().into_iter().flatten();
    let own = own.filter_map(|variable| Some((text(&variable["name"]), variable["value"].as_str()?)));
    of_map.into_iter().chain(own).collect()
}

fn texts_of_map<'a>(manifests: &'a [Value], container: &'a Value) -> Vec<(&'a str, &'a str)> {
    let named = container["envFrom"].as_array().into_iter().flatten();
    let named: Vec<&Value> = named.map(|from| &from["configMapRef"]["name"]).collect();
    let maps = of_kind(manifests, "ConfigMap").filter(|map| named.contains(&&map["metadata"]["name"]));
    maps.flat_map(|map| map["data"].as_object().unwrap())
        .map(|(name, value)| (name.as_str(), text(value)))
        .collect()
}

#[test]
fn the_manifests_are_what_kubernetes_takes() {
    let Some(rendered) = rendered("autoscaled") else { return };
    let mut known = Command::new("python3");
    known.args(["-c", "import kubernetes_validate"]);
    if !known.output().is_ok_and(|known| known.status.success()) {
        println!("skipped: Python's kubernetes-validate is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("manifests.yaml");
    std::fs::write(&file, &rendered).unwrap();

    let mut validate = Command::new("python3");
    validate.args(["-m", "kubernetes_validate", "--strict", "--no-warn"]).arg(file);
    let found = output(validate);

    // All objects except KEDA's, for which there is no schema.
    let all = rendered.lines().filter(|line| line.starts_with("kind: ")).count();
    assert_eq!(found.matches(" passed for resource ").count(), all - 2, "{found}");
}

#[test]
fn every_process_has_known_settings_and_no_more_rights() {
    let Some(manifests) = manifests("base") else { return };
    let workloads = workloads(&manifests);
    assert_eq!(workloads.len(), 4);
    for workload in workloads {
        let (pod, container) = (&workload["spec"]["template"]["spec"], container(workload));
        let own = container["env"].as_array().into_iter().flatten().map(|variable| text(&variable["name"]));
        assert_settings(own.chain(variables(&manifests, container).into_keys()));
        assert_command_accepted(&texts(&container["command"]));

        let may = json!({
            "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] }
        });
        assert_eq!(container["securityContext"], may);
        let runs = json!({
            "runAsNonRoot": true, "runAsUser": 10001, "runAsGroup": 10001, "seccompProfile": { "type": "RuntimeDefault" }
        });
        assert_eq!(pod["securityContext"], runs);
        assert_eq!(pod["automountServiceAccountToken"], false);
        for what in [&container["resources"]["requests"]["cpu"], &container["resources"]["limits"]["memory"]]
        {
            assert!(what.is_string() || what.is_number(), "{container}");
        }
    }
}

#[test]
fn a_pod_has_the_time_that_its_process_takes_to_stop() {
    let Some(manifests) = manifests("base") else { return };
    for workload in of_kind(&manifests, "Deployment") {
        let variables_of_workload = variables(&manifests, container(workload));
        let takes = match variables_of_workload.get("WORKER_GRACE_SECONDS") {
            Some(seconds) => seconds.parse().unwrap(),
            None => stop_seconds(variables_of_workload),
        };

        let has = workload["spec"]["template"]["spec"]["terminationGracePeriodSeconds"].as_u64().unwrap();

        assert!(has > takes, "{}: {has} of {takes}", workload["metadata"]["name"]);
    }
}

#[test]
fn what_is_chosen_by_labels_and_ports_is_there() {
    let Some(manifests) = manifests("autoscaled") else { return };
    let deployments: Vec<&Value> = of_kind(&manifests, "Deployment").collect();
    let labels = |deployment: &Value| deployment["spec"]["template"]["metadata"]["labels"].clone();
    let chosen = |body: &Value| -> Vec<&Value> {
        let body = body.as_object().unwrap();
        let has = |deployment: &&&Value| body.iter().all(|(name, value)| labels(deployment)[name] == *value);
        deployments.iter().filter(has).copied().collect()
    };
    let ports = |deployment: &Value| -> Vec<Value> {
        let ports = container(deployment)["ports"].as_array().unwrap().iter();
        ports.map(|port| port["name"].clone()).collect()
    };

    for service in of_kind(&manifests, "Service") {
        let chosen = chosen(&service["spec"]["selector"]);
        assert_eq!(chosen.len(), 1);
        assert!(ports(chosen[0]).contains(&service["spec"]["ports"][0]["targetPort"]));
    }
    let budgets = of_kind(&manifests, "PodDisruptionBudget");
    let kept: Vec<usize> =
        budgets.map(|budget| chosen(&budget["spec"]["selector"]["matchLabels"]).len()).collect();
    assert_eq!(kept, [1; 3]);
    for policy in of_kind(&manifests, "NetworkPolicy") {
        let chosen = chosen(&policy["spec"]["podSelector"]["matchLabels"]);
        let opened = policy["spec"]["ingress"].as_array().unwrap().iter();
        let opened = opened.flat_map(|rule| rule["ports"].as_array().unwrap());
        for port in opened {
            assert!(
                !chosen.is_empty() && chosen.iter().all(|pod| ports(pod).contains(&port["port"])),
                "{port}"
            );
        }
    }
    for deployment in &deployments {
        assert_eq!(chosen(&deployment["spec"]["selector"]["matchLabels"]).len(), 1);
    }
    // A scaled deployment sets no replica count, because every `apply` would restore it.
    for scaled in of_kind(&manifests, "ScaledObject") {
        let target = &scaled["spec"]["scaleTargetRef"]["name"];
        let target = deployments.iter().find(|deployment| deployment["metadata"]["name"] == *target).unwrap();
        assert!(target["spec"]["replicas"].is_null(), "{target}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_probe_is_answered() {
    let Some(manifests) = manifests("base") else { return };
    let mut installation = Installation::new().await;
    installation.start_api().await;
    let mut metrics = Vec::new();
    // The API's deployment comes first: it serves before any worker is alive.
    let mut deployments: Vec<&Value> = of_kind(&manifests, "Deployment").collect();
    deployments.sort_by_key(|deployment| deployment["metadata"]["name"] != "retort-api");

    let mut requests = 0;
    for deployment in deployments {
        let container = container(deployment);
        let command = texts(&container["command"]).join(" ");
        if let Some(role) =
            [Role::Sample, Role::Search].into_iter().find(|role| command.ends_with(role.name()))
        {
            let port = free_port();
            installation.start_worker(role, &[("OTEL_EXPORTER_PROMETHEUS_PORT", &port.to_string())]).await;
            metrics.push((command.clone(), port));
        }
        for (name, probe) in container.as_object().unwrap().iter().filter(|(name, _)| name.ends_with("Probe"))
        {
            let probe = &probe["httpGet"];
            let address = match text(&probe["port"]) {
                "http" => installation.address(),
                "metrics" => {
                    let (_, port) = metrics.iter().find(|(of, _)| *of == command).unwrap();
                    format!("127.0.0.1:{port}")
                }
                other => panic!("no port `{other}`"),
            };
            let url = format!("http://{address}{}", text(&probe["path"]));
            eventually(&format!("{command} answers its {name}"), async || {
                let answer = reqwest::get(&url).await.ok()?;
                (answer.status() == StatusCode::OK).then_some(())
            })
            .await;
            requests += 1;
        }
    }

    assert_eq!(requests, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_are_scaled_by_the_jobs_and_the_wait_of_their_queue() {
    let Some(manifests) = manifests("autoscaled") else { return };
    let installation = Installation::new().await;
    let mut database = installation.connection().await;
    database
        .execute(
            "insert into live_workers (name, queue, slots) values ('one', 'search', 2), ('two', 'search', 2);
            insert into jobs (id, queue, deadline, expected_seconds, created_at, finished_at, held_until) values
                ('waits', 'search', now() + interval '1 h', 1, now() - interval '30 s', null, null),
                ('waits too', 'search', now() + interval '1 h', 1, now(), null, null),
                ('runs', 'search', now() + interval '1 h', 1, now() - interval '50 s', null, now() + interval '1 h'),
                ('too late', 'search', now() - interval '1 s', 1, now() - interval '90 s', null, null),
                ('done', 'search', now() + interval '1 h', 1, now() - interval '90 s', now(), null)",
        )
        .await
        .unwrap();

    let mut found = Vec::new();
    for scaled in of_kind(&manifests, "ScaledObject") {
        for trigger in scaled["spec"]["triggers"].as_array().unwrap() {
            let query = AssertSqlSafe(text(&trigger["metadata"]["query"]).to_owned());
            let figure: f64 = sqlx::query_scalar(query).fetch_one(&mut database).await.unwrap();
            found.push((text(&scaled["metadata"]["name"]), text(&trigger["metricType"]), figure));
        }
    }

    let [jobs_of_samples, wait_of_samples, jobs, (name, kind, seconds)] = found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(jobs_of_samples, ("retort-sampler", "AverageValue", 0.0));
    assert_eq!(wait_of_samples, ("retort-sampler", "Value", 0.0));
    // Three jobs; a worker does two at a time.
    assert_eq!(jobs, ("retort-searcher", "AverageValue", 1.5));
    assert_eq!((name, kind), ("retort-searcher", "Value"));
    assert!((30.0..50.0).contains(&seconds), "{seconds}");
}
