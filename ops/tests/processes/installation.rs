//! An installation: a database, an API, workers, and a logged-in account.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};
use tempfile::TempDir;
use test_support::{eventually, free_port};

use crate::{
    client::ApiClient,
    postgres::{Database, Server},
    process::{Process, binaries, binary_of, output, root},
};

/// Everything that a test starts. Fields drop in order: processes before their database.
#[derive(Debug)]
pub struct Installation {
    api: Option<Process>,
    workers: Vec<Process>,
    database: Database,
    folder: TempDir,
    port: u16,
    started: usize,
    environment: Vec<(String, String)>,
    binaries: PathBuf,
}

/// Role of a worker process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Sample,
    Search,
}

impl Role {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Search => "search",
        }
    }
}

impl Installation {
    /// Creates a migrated database without running processes.
    pub async fn new() -> Self {
        Self::with(Database::shared().await)
    }

    /// Same as `new`, with its own PostgreSQL; `None` if that is not possible.
    pub fn with_own_postgres() -> Option<Self> {
        own_server().map(Database::Own).map(Self::with)
    }

    /// Same as `new`, with its own PostgreSQL on a disk of `megabytes`; `None` if that is not possible.
    pub fn with_postgres_on_a_disk_of(megabytes: u32) -> Option<Self> {
        let server = Server::start_on_a_disk_of(megabytes);
        if server.is_none() {
            println!("skipped: no file system can be mounted, or initdb and pg_ctl are not installed");
        }
        server.map(Database::Own).map(Self::with)
    }

    /// Creates a database without a schema.
    pub async fn unmigrated() -> Self {
        Self::bare(Database::shared().await)
    }

    /// Same as `unmigrated`, with its own PostgreSQL; `None` if that is not possible.
    pub fn unmigrated_with_own_postgres() -> Option<Self> {
        own_server().map(Database::Own).map(Self::bare)
    }

    fn with(database: Database) -> Self {
        let installation = Self::bare(database);
        installation.migrate();
        installation
    }

    fn bare(database: Database) -> Self {
        Self {
            api: None,
            workers: Vec::new(),
            database,
            folder: tempfile::tempdir().expect("a folder can be made"),
            port: free_port(),
            started: 0,
            environment: Vec::new(),
            binaries: binaries(),
        }
    }

    /// Migrates the schema.
    pub fn migrate(&self) {
        let mut migrate = self.command("retort-api");
        migrate.arg("migrate");
        output(migrate);
    }

    /// Lifts the rate limits of samples and searches for every process that starts later.
    pub fn lift_rate_limits(&mut self) {
        for quota in ["SAMPLES_CREATE", "MOLECULES", "SAMPLES_READ", "TREESEARCH", "SEARCH_SECONDS"] {
            self.set(&format!("RATE_{quota}_PER_MINUTE"), "0");
        }
    }

    /// Sets a variable for every process that starts from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Uses the binaries of `folder` from now on.
    pub fn set_binaries(&mut self, folder: PathBuf) {
        self.binaries = folder;
    }

    /// Returns the PostgreSQL of this installation alone.
    pub fn postgres(&self) -> &Server {
        match &self.database {
            Database::Own(server) => server,
            Database::Shared(_) => panic!("this installation shares its PostgreSQL"),
        }
    }

    /// Returns the folder of the installation's files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the database's address.
    pub fn url(&self) -> String {
        self.database.url()
    }

    /// Opens a connection to the database.
    pub async fn connection(&self) -> PgConnection {
        PgConnection::connect(&self.database.url()).await.expect("the database answers")
    }

    /// Starts the API and waits until it answers.
    pub async fn start_api(&mut self) {
        let http = self.anonymous_client();
        let process = self.begin_api();
        eventually("the API serves", async || {
            process.assert_running();
            let answer = http.request(reqwest::Method::GET, "/openapi.json").send().await.ok()?;
            (answer.status() == StatusCode::OK).then_some(())
        })
        .await;
    }

    /// Starts the API and returns at once.
    pub fn begin_api(&mut self) -> &mut Process {
        let mut command = self.command("retort-api");
        command.arg("serve").env("HTTP_ADDR", self.address());
        self.begin_api_as(command)
    }

    /// Starts the API with `command` and returns at once.
    pub fn begin_api_as(&mut self, command: Command) -> &mut Process {
        let process = self.start("api", command);
        self.api.insert(process)
    }

    /// Starts a worker and returns at once.
    pub fn begin_worker(&mut self, role: Role) -> &mut Process {
        let mut command = self.command("retort-worker");
        command.arg(role.name());
        let process = self.start(role.name(), command);
        self.workers.push(process);
        self.workers.last_mut().expect("one was pushed")
    }

    /// Returns the value of `HTTP_ADDR`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns a client without a token.
    pub fn anonymous_client(&self) -> ApiClient {
        ApiClient::new(&format!("http://{}", self.address()), "")
    }

    /// Polls `/readyz` until the answer satisfies `is_it`; returns the answer.
    pub async fn readiness(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let anonymous = self.anonymous_client();
        eventually("the API says how ready it is", async || {
            let answer = anonymous.request(reqwest::Method::GET, "/readyz").send().await.ok()?;
            let body = answer.json::<Value>().await.ok()?;
            is_it(&body).then_some(body)
        })
        .await
    }

    /// Starts a worker, waits until it takes jobs, and returns its index.
    pub async fn start_worker(&mut self, role: Role, environment: &[(&str, &str)]) -> usize {
        let before = self.worker_names(role).await;
        let mut command = self.command("retort-worker");
        command.arg(role.name()).envs(environment.iter().copied());
        let mut process = self.start(role.name(), command);
        eventually("the worker takes jobs", async || {
            process.assert_running();
            self.worker_names(role).await.iter().any(|name| !before.contains(name)).then_some(())
        })
        .await;
        self.workers.push(process);
        self.workers.len() - 1
    }

    /// Starts an API and one worker of each role, and waits until they are ready.
    pub async fn start_all(&mut self) {
        self.start_worker(Role::Sample, &[]).await;
        self.start_worker(Role::Search, &[]).await;
        self.start_api().await;
    }

    pub fn api(&mut self) -> &mut Process {
        self.api.as_mut().expect("the API was started")
    }

    pub fn worker(&mut self, number: usize) -> &mut Process {
        &mut self.workers[number]
    }

    /// Stops the workers after their jobs.
    pub fn end_workers(&mut self) {
        for mut worker in self.workers.drain(..) {
            worker.terminate();
            assert!(worker.wait().success(), "{}", worker.log());
        }
    }

    /// Kills every process of the service.
    pub fn kill_all(&mut self) {
        for process in self.api.iter_mut().chain(&mut self.workers) {
            process.kill();
        }
        self.api = None;
        self.workers.clear();
    }

    /// Fails unless every started process still runs.
    pub fn assert_running(&mut self) {
        for process in self.api.iter_mut().chain(&mut self.workers) {
            process.assert_running();
        }
    }

    /// Creates an account, logs it in through the command line, and returns a client with its token.
    pub fn account(&self, name: &str) -> ApiClient {
        self.account_with(name, &[])
    }

    /// Same as `account`, with extra `options` of `retort account add`.
    pub fn account_with(&self, name: &str, options: &[&str]) -> ApiClient {
        let email = format!("{name}@example.org");
        let mut add = self.retort_as(name);
        add.args(["account", "add", &email, "--generate"]).args(options);
        output(add);
        self.logged_in(name)
    }

    /// Logs in an existing account, and returns a client with its token.
    pub fn logged_in(&self, name: &str) -> ApiClient {
        let email = format!("{name}@example.org");
        let run = |arguments: &[&str]| {
            let mut command = self.retort_as(name);
            command.args(arguments);
            output(command)
        };
        run(&["account", "login", &email]);
        ApiClient::new(&format!("http://{}", self.address()), run(&["token"]).trim())
    }

    /// Builds a command line in which the account called `name` is logged in.
    pub fn retort_as(&self, name: &str) -> Command {
        let mut command = self.command("retort");
        command.arg("--data").arg(self.folder.path().join(name));
        command.args(["--api", &format!("http://{}", self.address())]);
        command
    }

    /// Imports a catalogue with the columns of the demo catalogue.
    pub fn import_catalogue(&self, csv: &str) {
        let file = self.folder.path().join("catalogue.csv");
        std::fs::write(&file, csv).expect("a file can be written");
        let mut import = self.command("retort");
        import.args(["catalogue", "import"]).arg(file);
        output(import);
    }

    /// Imports the demo catalogue.
    pub fn import_demo_catalogue(&self) {
        let demo = root().join("ops/catalogue/demo.csv.gz");
        self.retort(&["catalogue", "import", demo.to_str().unwrap()]);
    }

    /// Runs the command line, which must succeed, and returns its output.
    pub fn retort(&self, arguments: &[&str]) -> String {
        let mut command = self.command("retort");
        command.args(arguments);
        output(command)
    }

    /// Waits until a worker runs a job of a queue; returns the job's id.
    pub async fn running_job(&self, role: Role) -> String {
        let mut connection = self.connection().await;
        eventually("a worker begins the job", async || {
            let found = sqlx::query_scalar::<_, String>(
                "select id from jobs where queue = $1 and started_at is not null and finished_at is null",
            );
            found.bind(role.name()).fetch_optional(&mut connection).await.expect("the table is there")
        })
        .await
    }

    /// Returns the workers that are alive or were until a moment ago.
    async fn worker_names(&self, role: Role) -> Vec<String> {
        let mut connection = self.connection().await;
        sqlx::query_scalar("select name from live_workers where queue = $1")
            .bind(role.name())
            .fetch_all(&mut connection)
            .await
            .expect("the table is there")
    }

    /// Builds a command for one of our binaries, with the database's address.
    pub fn command(&self, name: &str) -> Command {
        let mut command = binary_of(&self.binaries, name);
        command.env("DATABASE_URL", self.database.url());
        // Filling the reservoir would take cores from the other tests.
        command.env("RESERVOIR_SIZE", "0");
        command.env("CATALOGUE_FOLDER", self.folder.path().join("catalogue"));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn start(&mut self, name: &str, command: Command) -> Process {
        self.started += 1;
        let log = self.folder.path().join(format!("{}-{name}.log", self.started));
        Process::start(&format!("{name} {}", self.started), command, log)
    }
}

fn own_server() -> Option<Server> {
    let server = Server::start_new();
    if server.is_none() {
        println!("skipped: initdb and pg_ctl are not installed");
    }
    server
}

/// Returns the request of a search that runs for `seconds`: a large target, no early exit.
pub fn long_search(seconds: u32) -> Value {
    json!({
        // Imatinib.
        "search_smiles": "Cc1ccc(NC(=O)c2ccc(CN3CCN(C)CC3)cc2)cc1Nc1nccc(-c2cccnc2)n1",
        "early_exit_first_solution": false,
        "max_seconds": seconds,
        "max_depth": 20,
    })
}
