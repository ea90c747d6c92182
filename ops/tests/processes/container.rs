//! Container image of `ops/container`, and its deployment files.
//!
//! The first stage of the build needs images that no registry provides here, so the second stage is tested. The same
//! script lays out its file system from the same archive, and buildah builds it. It runs as under an orchestrator: on
//! a read-only file system, as the image's user, without capabilities. The orchestrator's own additions (namespaces,
//! seccomp) are not tested.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use test_support::free_port;

use crate::{
    installation::Installation,
    package::{package, unpack},
    postgres::is_root,
    process::{binaries, is_installed, output, root},
    settings::{assert_command_accepted, assert_settings, stop_seconds},
    yaml::{documents, names, texts},
};

/// Runs a command with the image as its only file system: read-only, except for a `/tmp`.
const RUN_SCRIPT: &str = r#"set -e
mount --bind "$0" "$0"
mount -o remount,ro,bind "$0"
mount -t tmpfs tmpfs "$0/tmp"
exec setpriv --no-new-privs chroot --userspec="$1" "$0" "${@:2}""#;

/// Image that is built and mounted in a folder.
struct Image {
    settings: Value,
    files: PathBuf,
}

impl Image {
    /// Builds the image's last stage; `None` if that is not possible.
    fn build(folder: &Path) -> Option<Self> {
        if !is_installed("buildah") || !is_installed("unshare") {
            return None;
        }
        if !is_root() {
            println!("skipped: only root makes file systems read-only");
            return None;
        }
        let release = unpack(&package(&binaries(), "0.0.1", folder)?);
        let mut layout = Command::new(release.join("ops/container/layout"));
        layout.arg(&release).arg(folder.join("image"));
        output(layout);
        let file = fs::read_to_string(root().join("ops/container/Containerfile")).unwrap();
        let (_, last) = file.split_once("FROM scratch\n").expect("the last stage is made of nothing");
        // The output of the first stage already exists here.
        let last = format!("FROM scratch\n{}", last.replace("--from=release /image /", "image /"));
        fs::write(folder.join("Containerfile"), last).unwrap();

        let buildah = |arguments: &[&str]| {
            let mut buildah = Command::new("buildah");
            buildah.args(["--storage-driver", "vfs", "--root"]).arg(folder.join("storage"));
            buildah.arg("--runroot").arg(folder.join("run")).args(arguments).current_dir(folder);
            output(buildah)
        };
        buildah(&["build", "--isolation", "chroot", "--quiet", "--tag", "retort", "."]);
        let settings: Value =
            serde_json::from_str(&buildah(&["inspect", "--type", "image", "retort"])).unwrap();
        let container = buildah(&["from", "--pull-never", "retort"]);
        let files = buildah(&["mount", container.trim()]);
        Some(Self { settings: settings["OCIv1"]["config"].clone(), files: files.trim().into() })
    }

    /// Builds a command that runs in the image, with the image's variables.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "bash", "-c", RUN_SCRIPT]).arg(&self.files);
        command.arg(self.settings["User"].as_str().unwrap()).args(arguments).env_clear();
        let variables = texts(&self.settings["Env"]).into_iter().filter_map(|pair| pair.split_once('='));
        // The machine's own `PATH`, to find the programs that enter the image.
        command.envs(variables).env("PATH", "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_image_has_every_role_and_needs_neither_root_nor_a_file_system_to_write_on() {
    let folder = tempfile::tempdir().unwrap();
    let Some(image) = Image::build(folder.path()) else { return };
    assert_eq!(image.settings["User"], "10001:10001");
    assert_eq!(texts(&image.settings["Cmd"]), ["retort-api", "serve"]);
    assert!(image.settings["Entrypoint"].is_null());
    assert!(!image.files.join("bin/sh").exists() && !image.files.join("usr/bin").exists());

    for program in ["retort", "retort-api", "retort-worker"] {
        let version = output(image.command(&[program, "--version"]));
        assert!(version.starts_with(program), "{version}");
    }

    let mut installation = Installation::unmigrated().await;
    let (url, address) = (installation.url(), installation.address());
    let command = |arguments: &[&str]| {
        let mut command = image.command(arguments);
        command.env("DATABASE_URL", &url).env("HTTP_ADDR", &address).env("RESERVOIR_SIZE", "0");
        // Both processes share this machine's network.
        command.env("OTEL_EXPORTER_PROMETHEUS_PORT", free_port().to_string());
        command
    };
    output(command(&["retort-api", "migrate"]));
    let mut sampler = installation.start("sampler", command(&["retort-worker", "sample"]));
    installation.begin_api_as(command(&["retort-api", "serve"]));
    let readiness = installation.readiness(|answer| answer["missing"] == json!(["searcher"])).await;
    assert_eq!(readiness["checks"]["sampler"], "ok");
    let caller = installation.account("owner");
    let sample = caller.create("/generator/v1/samples", &json!({ "size": 3 })).await;

    assert_eq!(sample["smiles"].as_array().unwrap().len(), 3);
    // The processes run as the image's user, without capabilities and without a way to gain any.
    let id = installation.api().id();
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let of = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    assert!(of("Uid:").starts_with("10001"), "{status}");
    assert_eq!(
        (of("CapEff:"), of("CapPrm:"), of("NoNewPrivs:")),
        ("0".repeat(16), "0".repeat(16), "1".to_owned())
    );
    sampler.terminate();
    assert!(sampler.wait().success(), "{}", sampler.log());
    installation.api().terminate();
    assert!(installation.api().wait().success());
}

/// Reads `ops/container/compose.yaml`; `None` if no YAML reader is installed.
fn compose() -> Option<Value> {
    let text = fs::read_to_string(root().join("ops/container/compose.yaml")).unwrap();
    Some(documents(&text)?.remove(0))
}

/// Returns the services that run our image.
fn our_services(compose: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let services = compose["services"].as_object().unwrap().iter();
    services
        .filter(|(_, service)| !service["build"].is_null())
        .map(|(name, service)| (name.as_str(), service))
}

#[test]
fn the_compose_file_is_one_that_compose_takes() {
    if !is_installed("docker-compose") {
        return;
    }
    // The folder of packaged releases may not exist yet.
    fs::create_dir_all(root().join("target/package")).unwrap();
    let config = |password: Option<&str>| {
        let mut config = Command::new("docker-compose");
        config.arg("-f").arg(root().join("ops/container/compose.yaml")).args(["config", "--quiet"]);
        config.env_remove("POSTGRES_PASSWORD").envs(password.map(|password| ("POSTGRES_PASSWORD", password)));
        config.output().unwrap()
    };

    let found = config(Some("secret"));
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let words = config(None);
    assert!(!words.status.success() || root().join("ops/container/.env").exists(), "it has no default");
}

#[test]
fn every_service_of_the_compose_file_has_known_settings_and_files() {
    let Some(compose) = compose() else { return };
    let services: Vec<_> = our_services(&compose).collect();
    assert_eq!(
        services.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["api", "migrate", "sampler", "searcher"]
    );
    for (name, service) in services {
        assert_settings(names(&service["environment"]));
        assert_command_accepted(&texts(&service["command"]));
        assert_eq!((&service["read_only"], &service["cap_drop"]), (&json!(true), &json!(["ALL"])), "{name}");
        assert_eq!(service["security_opt"], json!(["no-new-privileges:true"]), "{name}");
    }
    let variables = compose["services"]["api"]["environment"].as_object().unwrap();
    // Values that come from another variable are left at their default.
    let variables = variables.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
    let takes = stop_seconds(variables.filter(|(_, value)| !value.contains("${")));
    let has = compose["services"]["api"]["stop_grace_period"].as_str().unwrap().trim_end_matches('s');
    assert!(has.parse::<u64>().unwrap() > takes, "{has} of {takes}");

    let volumes = names(&compose["volumes"]);
    for (name, service) in compose["services"].as_object().unwrap() {
        for volume in texts(&service["volumes"]) {
            let (from, _) = volume.split_once(':').unwrap();
            let is_there = volumes.contains(&from) || root().join("ops/container").join(from).exists();
            assert!(is_there, "{name} has no {from}");
        }
    }
}

#[test]
fn prometheus_asks_the_services_of_the_compose_file_by_the_names_that_rules_know() {
    let Some(compose) = compose() else { return };
    let prometheus = fs::read_to_string(root().join("ops/container/prometheus.yaml")).unwrap();
    let Some(mut read) = documents(&prometheus) else { return };
    let jobs = read.remove(0)["scrape_configs"].take();
    let requests = jobs.as_array().unwrap().iter().map(|job| {
        let service = job["dns_sd_configs"][0]["names"][0].as_str().unwrap();
        let port = job["dns_sd_configs"][0]["port"].to_string();
        let port_setting = &compose["services"][service]["environment"]["OTEL_EXPORTER_PROMETHEUS_PORT"];
        assert_eq!(port_setting, &Value::from(port));
        (job["job_name"].as_str().unwrap(), service)
    });

    assert_eq!(
        requests.collect::<Vec<_>>(),
        [("retort-api", "api"), ("retort-sampler", "sampler"), ("retort-searcher", "searcher")]
    );
    if !is_installed("promtool") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("prometheus.yaml"), prometheus).unwrap();
    fs::copy(root().join("ops/dashboards/alerts.yml"), folder.path().join("alerts.yml")).unwrap();
    let mut check = Command::new("promtool");
    check.current_dir(folder.path()).args(["check", "config", "prometheus.yaml"]);
    output(check);
}
