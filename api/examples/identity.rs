//! Benchmark of authentication: `identity RETORT_API`, the built binary, on the PostgreSQL of `TEST_DATABASE_URL`.
//!
//! Starts the process as in production, on one core, and sends requests over real connections from this process,
//! which should run on another core. The CPU time of a request is that of the API process, as counted by the kernel,
//! so other load on the machine matters little. PostgreSQL's share is not included.

use std::{
    fs::File,
    io::Read,
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use argon2::{Argon2, PasswordHasher, password_hash::SaltString};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use sqlx::{Connection, PgConnection};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

/// Number of connections, each with one request at a time.
const CONNECTIONS: usize = 8;
/// Number of requests of each kind.
const REQUESTS: u64 = 20_000;
const LOGINS: u64 = 40;
/// Bad tokens a second, and the duration of the flood.
const BAD_TOKENS_PER_SECOND: u64 = 10_000;
const FLOOD_TIME: Duration = Duration::from_secs(10);
const PASSWORD: &str = "correct horse battery staple";
/// Unit of CPU time in /proc, ticks a second.
const TICKS_PER_SECOND: f64 = 100.0;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let binary = std::env::args().nth(1).context("usage: identity RETORT_API")?;
    let database = test_support::TestDatabase::with_schema().await;
    measure(&binary, &database.url()).await
}

async fn measure(binary: &str, url: &str) -> anyhow::Result<()> {
    let api = Api::start(binary, url, "0").await?;
    prepare(&mut PgConnection::connect(url).await?).await?;
    let good = api.token("demo@example.org", "generator_api.samples:read").await?;
    let spent = api.token("spent@example.org", "generator_api.samples:read").await?;
    let rationed = api.token("rationed@example.org", "generator_api.samples:read").await?;
    let other = api.token("demo@example.org", "generator_api.models:read").await?;
    let list = |token: &str| get("/generator/v1/samples", &format!("authorization: Bearer {token}\r\n"));

    write_line("CPU µs  requests/s  what (one core, keep-alive)");
    for (what, request, status) in [
        ("nothing that needs a token", get("/healthz", ""), 200),
        ("no token", get("/generator/v1/samples", ""), 401),
        ("an unknown key", list(&with_unknown_key(&good)?), 401),
        ("a wrong signature", list(&with_wrong_signature(&good)), 401),
        ("a good token without the scope: the check of a token alone", list(&other), 403),
        ("a good token of an account that has spent its ration", list(&spent), 429),
        ("a good token that lists a sample, of an account without a limit", list(&good), 200),
        ("a good token that lists a sample, with its ration counted", list(&rationed), 200),
    ] {
        let figures = api.figures(&request, status, REQUESTS).await?;
        write_line(&format!("{:6.1}  {:10.0}  {what}", figures.cpu * 1e6, figures.rate));
    }
    let login = api.figures(&attempt(PASSWORD), 200, LOGINS).await?;
    write_line(&format!(
        "{:6.0}  {:10.1}  a login with a password: Argon2id, 19 MiB",
        login.cpu * 1e6,
        login.rate
    ));
    flood(&api, &list(&good), &list(&with_wrong_signature(&good))).await?;
    drop(api);

    let strict = Api::start(binary, url, "1").await?;
    let refused = strict.figures(&attempt("a guess"), 429, REQUESTS).await?;
    write_line(&format!("{:6.1}  {:10.0}  a guess too many at a password", refused.cpu * 1e6, refused.rate));
    Ok(())
}

/// Measures latencies of a valid caller while others send bad tokens.
async fn flood(api: &Api, good: &[u8], bad: &[u8]) -> anyhow::Result<()> {
    let calm = good_caller(api.address, good).await?;
    let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut senders = JoinSet::new();
    let cpu = api.cpu_seconds()?;
    let begun = Instant::now();
    for _ in 0..CONNECTIONS {
        let (bad, stop, sent, address) = (bad.to_vec(), stop.clone(), sent.clone(), api.address);
        senders.spawn(async move {
            let mut connection = Caller::connect(address).await?;
            let mut clock =
                interval(Duration::from_secs(CONNECTIONS as u64) / u32::try_from(BAD_TOKENS_PER_SECOND)?);
            clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
            while !stop.load(Ordering::Relaxed) {
                clock.tick().await;
                if connection.send(&bad).await? != 401 {
                    bail!("a bad token was let in");
                }
                sent.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
    }
    let stormy = good_caller(api.address, good).await?;
    stop.store(true, Ordering::Relaxed);
    let seconds = begun.elapsed().as_secs_f64();
    for done in senders.join_all().await {
        done?;
    }
    let busy = (api.cpu_seconds()? - cpu) / seconds;
    write_line(&format!(
        "{:.0} wrong signatures a second take {:.0} % of the core",
        sent.load(Ordering::Relaxed) as f64 / seconds,
        busy * 100.0
    ));
    for (what, times) in [("without them", calm), ("with them", stormy)] {
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
        write_line(&format!(
            "a good caller {what}: {} lists, median {:.2} ms, 99 of 100 under {:.2} ms, slowest {:.2} ms",
            times.len(),
            at(0.5),
            at(0.99),
            at(1.0)
        ));
    }
    Ok(())
}

/// Measures the latencies of a caller that lists samples a hundred times a second; sorted, shortest first.
async fn good_caller(address: SocketAddr, request: &[u8]) -> anyhow::Result<Vec<Duration>> {
    let mut connection = Caller::connect(address).await?;
    let mut clock = interval(Duration::from_millis(10));
    let (begun, mut times) = (Instant::now(), Vec::new());
    while begun.elapsed() < FLOOD_TIME {
        clock.tick().await;
        let started = Instant::now();
        let status = connection.send(request).await?;
        if status != 200 {
            bail!("a good caller got {status}");
        }
        times.push(started.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

/// A running process on one core.
struct Api {
    process: Child,
    address: SocketAddr,
}

/// CPU seconds a request, and requests a second.
struct Figures {
    cpu: f64,
    rate: f64,
}

impl Api {
    async fn start(binary: &str, url: &str, logins_per_minute: &str) -> anyhow::Result<Self> {
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log = File::create(std::env::temp_dir().join(format!("identity-{}.log", std::process::id())))?;
        let mut command = Command::new("taskset");
        command
            .args(["-c", "0", binary, "serve"])
            .env("DATABASE_URL", url)
            .env("HTTP_ADDR", address.to_string());
        // The benchmark measures the service without its rate limits; logs go to a file, as with ./ops/up.
        command.env("RATE_SAMPLES_READ_PER_MINUTE", "0").env("RATE_LOGIN_PER_MINUTE", logins_per_minute);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let process = command.spawn().context("starting taskset (util-linux)")?;
        let api = Self { process, address };
        for _ in 0..400 {
            if let Ok(mut caller) = Caller::connect(address).await
                && caller.send(&get("/openapi.json", "")).await? == 200
            {
                return Ok(api);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("{binary} does not serve")
    }

    /// Fetches an access token of an account.
    async fn token(&self, email: &str, scope: &str) -> anyhow::Result<String> {
        let mut connection = Caller::connect(self.address).await?;
        let form = format!("{}&scope={scope}", password_form(email, PASSWORD));
        connection.send(&post(&form)).await?;
        let body: Value = serde_json::from_slice(&connection.body)?;
        Ok(body["access_token"].as_str().context("no token")?.to_owned())
    }

    async fn figures(&self, request: &[u8], status: u16, count: u64) -> anyhow::Result<Figures> {
        // Warm-up: caches, connections of the pool, the first pages of memory.
        send(self.address, request, 50.min(count / 10)).await?;
        let (cpu, begun) = (self.cpu_seconds()?, Instant::now());
        let mut callers = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let (request, address) = (request.to_vec(), self.address);
            callers.spawn(async move { send(address, &request, count / CONNECTIONS as u64).await });
        }
        for done in callers.join_all().await {
            let found = done?;
            if found != status {
                bail!("{found} instead of {status}");
            }
        }
        let count = count as f64;
        Ok(Figures { cpu: (self.cpu_seconds()? - cpu) / count, rate: count / begun.elapsed().as_secs_f64() })
    }

    /// Returns the process's user and system time so far.
    fn cpu_seconds(&self) -> anyhow::Result<f64> {
        let mut stat = String::new();
        File::open(format!("/proc/{}/stat", self.process.id()))?.read_to_string(&mut stat)?;
        let (_, fields) = stat.rsplit_once(')').context("an unknown /proc")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) / TICKS_PER_SECOND)
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A keep-alive connection.
struct Caller {
    stream: TcpStream,
    head: Vec<u8>,
    body: Vec<u8>,
}

impl Caller {
    async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, head: Vec::new(), body: Vec::new() })
    }

    /// Sends a request and returns the status of the answer, whose body is then in `body`.
    async fn send(&mut self, request: &[u8]) -> anyhow::Result<u16> {
        self.stream.write_all(request).await?;
        self.head.clear();
        let end = loop {
            if self.stream.read_buf(&mut self.head).await? == 0 {
                bail!("the connection ended");
            }
            if let Some(end) = self.head.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
        };
        self.body = self.head.split_off(end);
        let head = std::str::from_utf8(&self.head)?.to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let length: usize = length.context("an answer without a length")?.parse()?;
        while self.body.len() < length {
            if self.stream.read_buf(&mut self.body).await? == 0 {
                bail!("the connection ended");
            }
        }
        Ok(head.split(' ').nth(1).context("no status")?.parse()?)
    }
}

/// Sends `count` requests and returns the status of the last answer.
async fn send(address: SocketAddr, request: &[u8], count: u64) -> anyhow::Result<u16> {
    let mut connection = Caller::connect(address).await?;
    let mut status = 0;
    for _ in 0..count {
        status = connection.send(request).await?;
    }
    Ok(status)
}

fn get(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: retort\r\n{headers}\r\n").into_bytes()
}

fn post(form: &str) -> Vec<u8> {
    let (kind, length) = ("application/x-www-form-urlencoded", form.len());
    let head = format!("host: retort\r\ncontent-type: {kind}\r\ncontent-length: {length}");
    format!("POST /auth/token HTTP/1.1\r\n{head}\r\n\r\n{form}").into_bytes()
}

fn password_form(email: &str, password: &str) -> String {
    let password = password.replace(' ', "+");
    format!("grant_type=password&client_id=retort-cli&username={email}&password={password}")
}

fn attempt(password: &str) -> Vec<u8> {
    post(&password_form("demo@example.org", password))
}

/// Returns the token with the id of a key that does not exist.
fn with_unknown_key(token: &str) -> anyhow::Result<String> {
    let (header, rest) = token.split_once('.').context("no token")?;
    let mut header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header)?)?;
    header["kid"] = "made-up".into();
    Ok(format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string())))
}

/// Returns the token with the signature of another, which costs as much to check as a valid one.
fn with_wrong_signature(token: &str) -> String {
    let (signed, signature) = token.rsplit_once('.').unwrap_or_default();
    let first = if signature.starts_with('A') { 'B' } else { 'A' };
    format!("{signed}.{first}{}", signature.get(1..).unwrap_or_default())
}

/// Creates accounts with a sample each, with three limits: no limit, once a minute, and a limit too high to matter.
async fn prepare(database: &mut PgConnection) -> anyhow::Result<()> {
    let salt = SaltString::encode_b64(b"sixteen bytes ok").map_err(|error| anyhow::anyhow!("{error}"))?;
    let hash = Argon2::default().hash_password(PASSWORD.as_bytes(), &salt);
    let hash = hash.map_err(|error| anyhow::anyhow!("{error}"))?.to_string();
    sqlx::query(
        "insert into accounts (id, email, name, password_hash, scopes) \
         select id, id || '@example.org', id, $1, '{generator_api.samples:read,generator_api.models:read}' \
         from unnest(array['demo', 'spent', 'rationed']) id",
    )
    .bind(hash)
    .execute(&mut *database)
    .await?;
    sqlx::raw_sql(
        "insert into account_rations (account_id, ration, per_minute) values \
         ('spent', 'reads', 1), ('rationed', 'reads', 100000000); \
         insert into samples (id, account_id, model_id, num_smiles, smiles, seed) values \
         ('smp_01jd6xq1v3m4c5t6y7z8a9b0c1', 'demo', 'druglike_gru', 1, '{C}', 0), \
         ('smp_01jd6xq1v3m4c5t6y7z8a9b0c2', 'rationed', 'druglike_gru', 1, '{C}', 0)",
    )
    .execute(database)
    .await?;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the figures are what this program is for")]
fn write_line(text: &str) {
    println!("{text}");
}
