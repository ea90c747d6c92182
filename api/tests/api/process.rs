//! Process tests: settings, migration, serving, stopping.

use std::{
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;
use sqlx::ConnectOptions;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
};

use crate::support::Service;

fn retort_api(arguments: &[&str], settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retort-api"));
    command.args(arguments).env_clear().envs(settings.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str], settings: &[(&str, &str)]) -> Output {
    retort_api(arguments, settings).output().unwrap()
}

#[test]
fn faulty_settings_are_named_together_and_stop_the_start() {
    let output = run(&["serve"], &[("HTTP_ADDR", "nowhere"), ("GZIP_BODY", "maybe")]);

    let error = String::from_utf8_lossy(&output.stderr);
    // EX_CONFIG: the supervisor must not restart the process.
    assert_eq!(output.status.code(), Some(78));
    for name in ["HTTP_ADDR", "GZIP_BODY", "DATABASE_URL"] {
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn the_document_can_be_printed_without_a_database() {
    let output = run(&["openapi"], &[]);

    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
}

#[tokio::test]
async fn a_request_in_flight_is_finished_when_the_process_stops() {
    // Only its database is used.
    let service = Service::start_without_workers(&[]).await;
    let url = service.pool.connect_options().to_url_lossy().to_string();
    let migrated = run(&["migrate"], &[("DATABASE_URL", &url)]);
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    let address = free_address();
    let mut process =
        retort_api(&["serve"], &[("DATABASE_URL", &url), ("HTTP_ADDR", &address)]).spawn().unwrap();
    serves(&address).await;
    let mut request = connect(&address).await;
    let head = "POST /auth/token HTTP/1.1\r\nhost: retort\r\ncontent-length: 24\r\n\
                content-type: application/x-www-form-urlencoded\r\n\r\ngrant_type=";
    request.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;

    let pid = process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    tokio::time::sleep(Duration::from_millis(300)).await;
    let refused = TcpStream::connect(&address).await;
    request.write_all(b"unknown_thing").await.unwrap();
    let mut answer = String::new();
    request.read_to_string(&mut answer).await.unwrap();

    assert!(refused.is_err());
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request"), "{answer}");
    assert!(answer.contains("unsupported_grant_type"), "{answer}");
    assert!(ended(&mut process).await);
}

/// The certificate is for localhost, from a certificate authority of this test.
#[tokio::test]
async fn with_a_certificate_it_speaks_tls_and_its_address_says_so() {
    let service = Service::start_without_workers(&[]).await;
    let url = service.pool.connect_options().to_url_lossy().to_string();
    let address = free_address();
    let file = |name: &str| format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let (certificate, key) = (file("tls.crt"), file("tls.key"));
    let settings = [
        ("DATABASE_URL", url.as_str()),
        ("HTTP_ADDR", &address),
        ("TLS_CERTIFICATE", &certificate),
        ("TLS_KEY", &key),
    ];
    let mut process = retort_api(&["serve"], &settings).spawn().unwrap();
    let mut log = Log::of(&mut process);
    log.wait_for("ready to serve").await;
    let root = reqwest::Certificate::from_pem(&std::fs::read(file("ca.crt")).unwrap()).unwrap();
    let client = reqwest::Client::builder().tls_certs_only([root]).build().unwrap();

    let discovery = client.get(format!("https://{address}/auth/.well-known/openid-configuration"));
    let discovery = discovery.send().await.unwrap();
    let version = discovery.version();
    let document: Value = serde_json::from_slice(&discovery.bytes().await.unwrap()).unwrap();

    assert_eq!(document["issuer"], format!("https://{address}/auth"));
    assert!(format!("{version:?}").starts_with("HTTP/"));
    process.kill().unwrap();
    process.wait().unwrap();
    let half = run(&["serve"], &[("DATABASE_URL", &url), ("TLS_KEY", &key)]);
    assert!(String::from_utf8_lossy(&half.stderr).contains("TLS_CERTIFICATE and TLS_KEY go together"));
}

#[tokio::test]
async fn a_renewed_certificate_is_taken_up_without_a_restart() {
    let service = Service::start_without_workers(&[]).await;
    let url = service.pool.connect_options().to_url_lossy().to_string();
    let address = free_address();
    let data =
        |name: &str| std::fs::read(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("tls.crt"), folder.path().join("tls.key"));
    std::fs::write(&certificate, data("tls.crt")).unwrap();
    std::fs::write(&key, data("tls.key")).unwrap();
    let settings = [
        ("DATABASE_URL", url.as_str()),
        ("HTTP_ADDR", &address),
        ("TLS_CERTIFICATE", certificate.to_str().unwrap()),
        ("TLS_KEY", key.to_str().unwrap()),
    ];
    let mut process = retort_api(&["serve"], &settings).spawn().unwrap();
    let mut log = Log::of(&mut process);
    connect(&address).await;
    let pid = process.id().to_string();
    let hang_up = || assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    // A new connection each time, which trusts only one authority.
    let trusts = async |authority: &str| {
        let root = reqwest::Certificate::from_pem(&data(authority)).unwrap();
        let client = reqwest::Client::builder().tls_certs_only([root]).build().unwrap();
        client.get(format!("https://{address}/healthz")).send().await.is_ok()
    };
    assert!(trusts("ca.crt").await && !trusts("renewed_ca.crt").await);

    // Half a renewal.
    std::fs::write(&certificate, data("renewed_tls.crt")).unwrap();
    hang_up();
    log.wait_for("the renewed certificate cannot be used").await;
    assert!(trusts("ca.crt").await && !trusts("renewed_ca.crt").await);

    std::fs::write(&key, data("renewed_tls.key")).unwrap();
    hang_up();
    log.wait_for("loaded a renewed certificate").await;
    assert!(!trusts("ca.crt").await && trusts("renewed_ca.crt").await);

    process.kill().unwrap();
    process.wait().unwrap();
}

/// Log output of a process.
struct Log(mpsc::UnboundedReceiver<String>);

impl Log {
    fn of(process: &mut Child) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let outputs: [Box<dyn Read + Send>; 2] =
            [Box::new(process.stdout.take().unwrap()), Box::new(process.stderr.take().unwrap())];
        for output in outputs {
            let sender = sender.clone();
            std::thread::spawn(move || {
                BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
            });
        }
        Self(receiver)
    }

    async fn wait_for(&mut self, text: &str) {
        let seen = async { while !self.0.recv().await.unwrap().contains(text) {} };
        let seen = tokio::time::timeout(Duration::from_secs(20), seen).await;
        assert!(seen.is_ok(), "the log does not say: {text}");
    }
}

#[tokio::test]
async fn clients_that_dawdle_or_say_nothing_are_cut_off() {
    let service = Service::start_without_workers(&[]).await;
    let url = service.pool.connect_options().to_url_lossy().to_string();
    let address = free_address();
    let settings = [
        ("DATABASE_URL", url.as_str()),
        ("HTTP_ADDR", &address),
        ("HEADER_SECONDS", "1"),
        ("CONNECTIONS_PER_ADDRESS", "8"),
    ];
    let mut process = retort_api(&["serve"], &settings).spawn().unwrap();
    serves(&address).await;
    let sent: [&[u8]; 4] = [b"", b"G", b"PRI * HTTP/2.0\r\n", b"GET /healthz HTTP/1.1\r\nhost: retort\r\n"];
    let cut = async |sent: &[u8]| {
        let mut slow = connect(&address).await;
        slow.write_all(sent).await.unwrap();
        let mut answer = Vec::new();
        // A reset connection counts as closed.
        let closed = tokio::time::timeout(Duration::from_secs(10), slow.read_to_end(&mut answer)).await;
        assert!(closed.is_ok(), "open after {}", String::from_utf8_lossy(sent));
    };

    futures::future::join_all(sent.map(cut)).await;

    // Silent connections occupy only the share of their own address, and only for a short time.
    let silent = futures::future::join_all((0..50).map(|_| connect(&address))).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut good = connect(&address).await;
    good.write_all(b"GET /healthz HTTP/1.1\r\nhost: retort\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    good.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    drop(silent);
    process.kill().unwrap();
    process.wait().unwrap();
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Waits until the whole service answers, not only its probes.
async fn serves(address: &str) {
    let mut answer = String::new();
    while !answer.starts_with("HTTP/1.1 200 OK") {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let mut socket = connect(address).await;
        socket
            .write_all(b"GET /openapi.json HTTP/1.1\r\nhost: retort\r\nconnection: close\r\n\r\n")
            .await
            .unwrap();
        answer.clear();
        socket.read_to_string(&mut answer).await.unwrap();
    }
}

async fn connect(address: &str) -> TcpStream {
    let begun = Instant::now();
    loop {
        match TcpStream::connect(address).await {
            Ok(socket) => return socket,
            Err(error) if begun.elapsed() > Duration::from_secs(20) => panic!("not serving: {error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Returns true if the process ends successfully within ten seconds.
async fn ended(process: &mut Child) -> bool {
    for _ in 0..200 {
        if let Some(status) = process.try_wait().unwrap() {
            return status.success();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    process.kill().unwrap();
    false
}
