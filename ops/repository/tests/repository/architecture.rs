//! Dependency arrows of ARCHITECTURE.md, checked against `cargo metadata`.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

/// Our packages, and for each the packages of ours that it may link, directly or indirectly.
const ALLOWED_DEPENDENCIES: [(&str, &[&str]); 18] = [
    ("contract", &[]),
    ("http_errors", &["contract", "database", "telemetry"]),
    ("database", &["telemetry"]),
    ("identity", &["contract", "database", "http_errors", "telemetry"]),
    ("telemetry", &[]),
    ("chem_fast", &[]),
    ("chem", &["chem_fast"]),
    ("catalogue", &["chem", "chem_fast"]),
    ("catalogue_tables", &["catalogue", "chem", "chem_fast", "contract", "database", "telemetry"]),
    ("generator", &["chem", "chem_fast"]),
    ("reactivity", &["chem", "chem_fast"]),
    ("synth", &["catalogue", "chem", "chem_fast", "reactivity"]),
    ("model_tools", &["catalogue", "chem", "chem_fast", "contract", "generator", "reactivity", "synth"]),
    ("queue", &["contract", "database", "telemetry"]),
    ("schema", &["contract", "database", "queue", "telemetry"]),
    (
        "api",
        &[
            "chem",
            "chem_fast",
            "contract",
            "database",
            "http_errors",
            "identity",
            "model_tools",
            "queue",
            "reactivity",
            "schema",
            "telemetry",
        ],
    ),
    (
        "worker",
        &[
            "catalogue",
            "catalogue_tables",
            "chem",
            "chem_fast",
            "contract",
            "database",
            "generator",
            "queue",
            "reactivity",
            "schema",
            "synth",
            "telemetry",
        ],
    ),
    (
        "ops",
        &[
            "catalogue",
            "catalogue_tables",
            "chem",
            "chem_fast",
            "contract",
            "database",
            "http_errors",
            "generator",
            "identity",
            "model_tools",
            "queue",
            "reactivity",
            "schema",
            "synth",
            "telemetry",
        ],
    ),
];

/// Packages that each package links, by name, without build and test dependencies.
struct Links(BTreeMap<String, BTreeSet<String>>);

impl Links {
    fn read() -> Self {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--format-version", "1", "--locked"])
            .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml")])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();

        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let list = |value: &Value| value.as_array().unwrap().clone();
        let names: BTreeMap<String, String> = list(&metadata["packages"])
            .iter()
            .map(|package| (text(&package["id"]), text(&package["name"])))
            .collect();
        let mut links: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in list(&metadata["resolve"]["nodes"]) {
            let linked = links.entry(names[&text(&node["id"])].clone()).or_default();
            for dependency in list(&node["deps"]) {
                if list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                    linked.insert(names[&text(&dependency["pkg"])].clone());
                }
            }
        }
        Self(links)
    }

    /// All packages that `package` links, directly or indirectly.
    fn transitive_dependencies(&self, package: &str) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        let mut open = vec![package.to_owned()];
        while let Some(next) = open.pop() {
            for linked in &self.0[&next] {
                if reached.insert(linked.clone()) {
                    open.push(linked.clone());
                }
            }
        }
        reached
    }
}

#[test]
fn our_packages_link_each_other_only_along_the_arrows() {
    let links = Links::read();
    let ours: BTreeSet<&str> = ALLOWED_DEPENDENCIES.iter().map(|(package, _)| *package).collect();

    for (package, allowed) in ALLOWED_DEPENDENCIES {
        let linked = links.transitive_dependencies(package);
        let of_ours: Vec<&str> = ours.iter().copied().filter(|&ours| linked.contains(ours)).collect();
        let beyond: Vec<&str> = of_ours.into_iter().filter(|ours| !allowed.contains(ours)).collect();
        assert_eq!(beyond, [""; 0], "`{package}` links what it should not");
    }
}

#[test]
fn the_api_links_no_model_runtime() {
    let linked = Links::read().transitive_dependencies("api");

    let runtime: Vec<_> =
        linked.iter().filter(|name| name.starts_with("candle") || name.as_str() == "tokenizers").collect();

    assert_eq!(runtime, [""; 0]);
}

#[test]
fn compute_links_neither_an_async_runtime_nor_a_database() {
    let links = Links::read();

    for package in ["chem", "chem_fast", "generator", "model_tools", "reactivity", "synth"] {
        let linked = links.transitive_dependencies(package);
        let io: Vec<_> = linked
            .iter()
            .filter(|name| name.as_str() == "tokio" || name.starts_with("sqlx") || name.starts_with("apalis"))
            .collect();
        assert_eq!(io, [""; 0], "`{package}`");
    }
}

#[test]
fn only_the_queue_knows_apalis() {
    let links = Links::read();

    let users: Vec<&str> = ALLOWED_DEPENDENCIES
        .iter()
        .map(|(package, _)| *package)
        .filter(|package| links.0[*package].iter().any(|name| name.starts_with("apalis")))
        .collect();

    assert_eq!(users, ["queue"]);
}
