//! Separate service for each test: database, workers, socket.

use std::{collections::BTreeMap, io::Write, net::SocketAddr, sync::atomic::Ordering, time::Duration};

use api::{app, config::Config};
use argon2::{Argon2, PasswordHasher, password_hash::SaltString};
use chem::{Limits, MappedMolecule};
use chrono::Utc;
use contract::{
    CompactResult, JobFailure, JobId, Likelihoods, Metadata, MoleculeLikelihood, PlanFigures,
    ProgressReporting, ReagentResults, StoredAsyncSampleJob, StoredBulkQueryJob, StoredLikelihoodJob,
    StoredPlanJob, StoredSampleJob, StoredSearchResult, StoredTreeSearchJob, TreeSearchResult, scope,
};
use flate2::{Compression, write::GzEncoder};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use queue::{
    FinishResult, Handler, HandlerError, Job, JobContext, LiveModel, NewEvent, WorkerConfig, run_worker,
};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use sqlx::{PgConnection, PgPool};
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

use crate::{mock_bulk_query::MockBulkQueryWorker, recorded};

pub const PASSWORD: &str = "correct horse battery staple";
pub const ISSUER: &str = "http://retort.test/auth";

/// Running service; dropping it stops it and drops its database.
pub struct Service {
    pub base: String,
    pub pool: PgPool,
    pub http: reqwest::Client,
    /// Account of [`Service::request`].
    pub account: String,
    variables: BTreeMap<String, String>,
    tasks: JoinSet<()>,
    /// Dropped last.
    _database: test_support::TestDatabase,
}

impl Service {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a service with `settings` and one worker of each kind.
    pub async fn start_with(settings: &[(&str, &str)]) -> Self {
        let mut service = Self::start_without_workers(settings).await;
        let config = || WorkerConfig { slots: 4, ..WorkerConfig::default() };
        let card = |id| match id {
            "druglike_gru" => json!({
                "name": "Drug-like", "description": "drugs", "created": "2026-01-02", "architecture": "GRU", "licence": "MIT",
                "metrics": { "training_set": { "n_molecules": 3 }, "unconstrained": { "validity": 0.97 } }, "relative_cost": 1.0,
            }),
            _ => json!({}),
        };
        let models = ["druglike_gru", "slow_model", "poor_model", "stingy_model"].map(|id| LiveModel {
            model_id: id.to_owned(),
            relative_cost: 1.0,
            card: card(id),
        });
        let sampler = WorkerConfig { models: watch::channel(models.into()).1, ..config() };
        let (order_maker, scorer) = (sampler.clone(), sampler.clone());
        let engine = move || {
            let engine = LiveModel { model_id: "toy_engine".to_owned(), relative_cost: 1.0, card: json!({}) };
            WorkerConfig { models: watch::channel(vec![engine]).1, ..config() }
        };
        let (pool, other, third) = (service.pool.clone(), service.pool.clone(), service.pool.clone());
        let (fourth, fifth, sixth) = (service.pool.clone(), service.pool.clone(), service.pool.clone());
        let handler = MockSampler(pool.clone());
        service.tasks.spawn(async move {
            let _ = run_worker::<StoredSampleJob, _>(pool, sampler, handler, std::future::pending()).await;
        });
        service.tasks.spawn(async move {
            let handler = MockSearcher(other.clone());
            let _ =
                run_worker::<StoredTreeSearchJob, _>(other, engine(), handler, std::future::pending()).await;
        });
        service.tasks.spawn(async move {
            let handler = MockPlanWorker(third.clone());
            let _ = run_worker::<StoredPlanJob, _>(third, engine(), handler, std::future::pending()).await;
        });
        service.tasks.spawn(async move {
            let handler = MockBulkQueryWorker(fourth.clone());
            let _ =
                run_worker::<StoredBulkQueryJob, _>(fourth, engine(), handler, std::future::pending()).await;
        });
        service.tasks.spawn(async move {
            let handler = MockLikelihoodWorker(sixth.clone());
            let _ =
                run_worker::<StoredLikelihoodJob, _>(sixth, scorer, handler, std::future::pending()).await;
        });
        service.tasks.spawn(async move {
            let handler = MockAsyncSampler(fifth.clone());
            let _ =
                run_worker::<StoredAsyncSampleJob, _>(fifth, order_maker, handler, std::future::pending())
                    .await;
        });
        service.wait_until_ready().await;
        service
    }

    /// Starts a service with `settings`; an empty value counts as unset. Without `PUBLIC_URL` the public address is
    /// the real one, for external clients.
    pub async fn start_without_workers(settings: &[(&str, &str)]) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let database = test_support::TestDatabase::with_schema().await;
        let url = database.url();
        let mut variables: BTreeMap<String, String> = [
            ("DATABASE_URL", url.as_str()),
            ("DATABASE_CONNECTIONS", "12"),
            ("PUBLIC_URL", "http://retort.test"),
            // The fastest login, for tests of what follows one.
            ("AUTH_PASSWORD_GRANT", "on"),
        ]
        .into_iter()
        .chain(settings.iter().copied())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
        variables.retain(|_, value| !value.is_empty());
        let pool = api::connect(&Config::from_variables(&variables).unwrap()).await.unwrap().pool;
        let mut tasks = JoinSet::new();
        let base = serve(&variables, &pool, &mut tasks).await;
        let account = add_account(&pool, "demo@example.org").await;
        let http = reqwest::Client::new();
        Self { base, pool, http, account, variables, tasks, _database: database }
    }

    /// Starts another API process on the same database; returns its address.
    pub async fn another(&mut self) -> String {
        serve(&self.variables, &self.pool, &mut self.tasks).await
    }

    /// Starts another API process with `settings` and its own connections on the same database; returns its address.
    pub async fn another_with(&mut self, settings: &[(&str, &str)]) -> String {
        let mut variables = self.variables.clone();
        variables.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let pool = api::connect(&Config::from_variables(&variables).unwrap()).await.unwrap().pool;
        serve(&variables, &pool, &mut self.tasks).await
    }

    /// Returns the URL of the service's database.
    pub fn database_url(&self) -> &str {
        &self.variables["DATABASE_URL"]
    }

    /// Checks that another API process would start, with `secret` for its keys.
    pub async fn would_start(&self, secret: Option<&str>) -> Result<(), String> {
        let mut variables = self.variables.clone();
        variables.remove("KEYS_SECRET");
        variables.extend(secret.map(|secret| ("KEYS_SECRET".to_owned(), secret.to_owned())));
        let config = Config::from_variables(&variables).map_err(|error| error.to_string())?;
        app::App::new(config, self.pool.clone()).await.map(drop).map_err(|error| error.to_string())
    }

    async fn wait_until_ready(&self) {
        test_support::until("the service is ready", async || {
            self.http.get(format!("{}/readyz", self.base)).send().await.unwrap().status() == StatusCode::OK
        })
        .await;
    }

    /// Waits until a statement counts `count`.
    pub async fn until_count(&self, statement: &'static str, count: i64) {
        test_support::until(&format!("{count}: {statement}"), async || {
            let counted: i64 = sqlx::query_scalar(statement).fetch_one(&self.pool).await.unwrap();
            counted == count
        })
        .await;
    }

    /// Builds a request with a valid token of the service's account.
    pub async fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.request_as(&self.account, method, path).await
    }

    pub async fn request_as(&self, account: &str, method: Method, path: &str) -> RequestBuilder {
        let mut claims = claims(account);
        claims["iss"] = json!(format!("{}/auth", self.variables.get("PUBLIC_URL").unwrap_or(&self.base)));
        let token = self.token(claims).await;
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(token)
    }

    pub async fn get(&self, path: &str) -> Answer {
        answer(self.request(Method::GET, path).await).await
    }

    pub async fn post(&self, path: &str, body: &str) -> Answer {
        let request = self.request(Method::POST, path).await;
        answer(request.header("content-type", "application/json").body(body.to_owned())).await
    }

    /// Returns a token with `claims`, signed by the service's own key.
    pub async fn token(&self, claims: Value) -> String {
        let (kid, private): (String, String) =
            sqlx::query_as("select kid, private_key_pem from signing_keys")
                .fetch_one(&self.pool)
                .await
                .unwrap();
        sign(&kid, &EncodingKey::from_ed_pem(private.as_bytes()).unwrap(), &claims)
    }

    /// Stores a sample of `account` as a worker would.
    pub async fn insert_sample(&self, account: &str, id: &str) {
        insert_sample(&mut self.pool.acquire().await.unwrap(), id, account, "druglike_gru", 2, 0)
            .await
            .unwrap();
    }
}

async fn serve(variables: &BTreeMap<String, String>, pool: &PgPool, tasks: &mut JoinSet<()>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let mut variables = variables.clone();
    variables.entry("PUBLIC_URL".to_owned()).or_insert_with(|| base.clone());
    let config = Config::from_variables(&variables).unwrap();
    let router = app::router(app::App::new(config, pool.clone()).await.unwrap());
    tasks.spawn(async move {
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        axum::serve(listener, service).await.unwrap();
    });
    base
}

/// Answer with its status, headers and body.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns `(loc, type)` of each fault, `loc` joined by dots.
    pub fn faults(&self) -> Vec<(String, String)> {
        let json = self.json();
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let items = json["detail"].as_array().unwrap_or_else(|| panic!("no detail: {self:?}"));
        items
            .iter()
            .map(|item| {
                let loc: Vec<_> = item["loc"].as_array().unwrap().iter().map(text).collect();
                (loc.join("."), text(&item["type"]))
            })
            .collect()
    }
}

pub async fn answer(request: RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Answer { status, headers, text: response.text().await.unwrap() }
}

pub fn claims(account: &str) -> Value {
    let now = Utc::now().timestamp();
    let scopes: Vec<_> = scope::ordinary().collect();
    json!({
        "iss": ISSUER, "sub": account, "aud": "retort", "exp": now + 600, "nbf": now, "iat": now,
        "jti": "1", "client_id": "retort-cli", "scope": scopes.join(" "),
    })
}

pub fn sign(kid: &str, key: &EncodingKey, claims: &Value) -> String {
    let mut header = Header::new(Algorithm::EdDSA);
    header.kid = Some(kid.to_owned());
    header.typ = Some("at+jwt".to_owned());
    jsonwebtoken::encode(&header, claims, key).unwrap()
}

/// Puts accounts into one organisation.
pub async fn join_one_organisation(pool: &PgPool, accounts: &[&str]) {
    sqlx::raw_sql("insert into organisations (id, name) values ('org_lab', 'lab')")
        .execute(pool)
        .await
        .unwrap();
    sqlx::query("update accounts set organisation_id = 'org_lab' where id = any($1)")
        .bind(accounts)
        .execute(pool)
        .await
        .unwrap();
}

/// Adds an account with every ordinary scope and [`PASSWORD`], as `retort account add` does.
pub async fn add_account(pool: &PgPool, email: &str) -> String {
    let salt = SaltString::encode_b64(b"sixteen bytes ok").unwrap();
    let hash = Argon2::default().hash_password(PASSWORD.as_bytes(), &salt).unwrap().to_string();
    let id = format!("acc_{}", JobId::generate().to_string().to_lowercase());
    let scopes: Vec<_> = scope::ordinary().map(str::to_owned).collect();
    sqlx::query(
        "insert into accounts (id, email, name, password_hash, scopes) values ($1, $2, 'Demo', $3, $4)",
    )
    .bind(&id)
    .bind(email)
    .bind(hash)
    .bind(scopes)
    .execute(pool)
    .await
    .unwrap();
    id
}

/// Adds an account with every scope, the operators' too.
pub async fn add_operator(pool: &PgPool, email: &str) -> String {
    let id = add_account(pool, email).await;
    sqlx::query("update accounts set scopes = scopes || '{operations}' where id = $1")
        .bind(&id)
        .execute(pool)
        .await
        .unwrap();
    id
}

/// Operation of the document.
pub struct Operation {
    pub method: Method,
    /// Path of the operation, with `x` for each id.
    pub path: String,
    /// Scopes that the operation needs: one, or none.
    pub scopes: Vec<String>,
    pub is_read_from_a_body: bool,
    pub statuses: Vec<u16>,
}

/// Returns every operation of the document.
pub fn operations() -> Vec<Operation> {
    let document = serde_json::to_value(api::document()).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let words: Vec<_> =
                path.split('/').map(|word| if word.contains('{') { "x" } else { word }).collect();
            let statuses = operation["responses"].as_object().unwrap().keys();
            operations.push(Operation {
                method: method.to_uppercase().parse().unwrap(),
                path: words.join("/"),
                scopes: serde_json::from_value(operation["security"][0]["bearer"].clone()).unwrap(),
                is_read_from_a_body: operation.get("requestBody").is_some(),
                statuses: statuses.map(|status| status.parse().unwrap()).collect(),
            });
        }
    }
    operations
}

/// Returns the id of the `n`th sample of a test; ids ascend with `n`.
pub fn sample_id(n: u8) -> String {
    format!("smp_01jd6xq1v3m4c5t6y7z8a9b0{n:02}")
}

async fn insert_sample(
    connection: &mut PgConnection,
    id: &str,
    account: &str,
    model: &str,
    size: u32,
    seed: u64,
) -> Result<(), sqlx::Error> {
    let smiles: Vec<_> = (1..=size).map(|mass| format!("[{mass}CH4]")).collect();
    sqlx::query(
        "insert into samples (id, account_id, model_id, num_smiles, smiles, seed) \
         values ($1, $2, $3, $4, $5, $6)",
    )
    .bind(id)
    .bind(account)
    .bind(model)
    .bind(i32::try_from(size).unwrap())
    .bind(smiles)
    .bind(seed.cast_signed())
    .execute(connection)
    .await?;
    Ok(())
}

/// Mock sampler whose behaviour depends on the model's name.
struct MockSampler(PgPool);

impl Handler<StoredSampleJob> for MockSampler {
    async fn handle(
        &self,
        context: JobContext<StoredSampleJob>,
        (StoredSampleJob::V1(job) | StoredSampleJob::V2(job) | StoredSampleJob::V3(job)): StoredSampleJob,
    ) -> Result<(), HandlerError> {
        let model_id = job.model_id.unwrap_or_else(|| "druglike_gru".to_owned());
        if model_id == "slow_model" {
            while !context.cancelled.load(Ordering::Acquire) && Utc::now() < job.deadline {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        let mut transaction = self.0.begin().await?;
        let outcome = if model_id == "poor_model" {
            Err(JobFailure::SizeUnreachable { model_id, wanted: job.size, reached: 1 })
        } else {
            let size = if model_id == "stingy_model" { job.size - 1 } else { job.size };
            let id = job.sample_id.to_string();
            insert_sample(&mut transaction, &id, &job.account_id, &model_id, size, job.seed).await?;
            Ok(job.sample_id)
        };
        if context.finish(&mut transaction, &outcome).await? == FinishResult::Stored {
            transaction.commit().await?;
        }
        Ok(())
    }
}

/// Publishes the progress of a search and a route, as a searcher does.
async fn publish<J: Job>(context: &JobContext<J>, pool: &PgPool) -> Result<(), sqlx::Error> {
    let progress = json!({
        "seconds": 1.2, "expansions": 310, "molecules": 2048, "depth": 4, "routes": 0, "best_cost": null,
    });
    let answer: Value = serde_json::from_str(include_str!("../golden/treesearch_result.json")).unwrap();
    let (steps, groups) = answer["route_hierarchy"].as_object().unwrap().iter().next().unwrap();
    let (backbone, variations) = groups.as_object().unwrap().iter().next().unwrap();
    let steps: u32 = steps.parse().unwrap();
    let route = json!({ "route": variations[0][0], "backbone": backbone, "steps": steps });
    let events = [("progress", progress), ("route", route)];
    let events = events.map(|(event, data)| NewEvent { event, data: data.to_string() });
    context.event_publisher().publish(pool, &events).await
}

/// Mock worker for likelihoods: as many nats as characters. `C1CC` is an invalid molecule, and with `stingy_model` the
/// last item is missing.
struct MockLikelihoodWorker(PgPool);

impl Handler<StoredLikelihoodJob> for MockLikelihoodWorker {
    async fn handle(
        &self,
        context: JobContext<StoredLikelihoodJob>,
        StoredLikelihoodJob::V1(job): StoredLikelihoodJob,
    ) -> Result<(), HandlerError> {
        let item = |smiles: &String| {
            let error = (smiles == "C1CC").then(|| "no molecule".to_owned());
            let negative_log_likelihood = error.is_none().then_some(smiles.len() as f64);
            MoleculeLikelihood { smiles: smiles.clone(), error, negative_log_likelihood }
        };
        let mut items: Vec<_> = job.smiles.iter().map(item).collect();
        if job.model_id == "stingy_model" {
            items.pop();
        }
        let outcome = Ok(Likelihoods { object: Default::default(), model_id: job.model_id, items });
        let mut transaction = self.0.begin().await?;
        let _ = context.finish(&mut transaction, &outcome).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Mock worker for asynchronous samples, controlled by the model's name: with `slow_model` it runs until it is
/// cancelled.
struct MockAsyncSampler(PgPool);

impl Handler<StoredAsyncSampleJob> for MockAsyncSampler {
    async fn handle(
        &self,
        context: JobContext<StoredAsyncSampleJob>,
        job: StoredAsyncSampleJob,
    ) -> Result<(), HandlerError> {
        let job = job.job().clone();
        if job.model_id == "slow_model" {
            while !context.cancelled.load(Ordering::Acquire) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            return Ok(());
        }
        let mut transaction = self.0.begin().await?;
        let outcome = if job.model_id == "poor_model" {
            Err(JobFailure::SizeUnreachable { model_id: job.model_id, wanted: job.size, reached: 1 })
        } else {
            complete_async_sample(&mut transaction, &job.sample_id.to_string()).await?;
            Ok(())
        };
        let _ = context.finish(&mut transaction, &outcome).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Stores the result of an asynchronous sample as a sampler does.
pub async fn complete_async_sample(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    let (account, model, size): (String, String, i32) = sqlx::query_as(
        "update sample_orders set status = 'completed' where id = $1 returning account_id, model_id, size",
    )
    .bind(id)
    .fetch_one(&mut *connection)
    .await?;
    insert_sample(connection, id, &account, &model, size.unsigned_abs(), 0).await
}

/// Mock worker for plans that finds two routes. A `max_depth` of 48 makes it refuse the target; 47 makes it run until
/// it is cancelled, and publish progress while a client watches.
struct MockPlanWorker(PgPool);

impl Handler<StoredPlanJob> for MockPlanWorker {
    async fn handle(
        &self,
        context: JobContext<StoredPlanJob>,
        StoredPlanJob::V1(job): StoredPlanJob,
    ) -> Result<(), HandlerError> {
        let depth: Option<i32> =
            sqlx::query_scalar("select (parameters ->> 'max_depth')::int from plans where id = $1")
                .bind(&job.plan_id)
                .fetch_one(&self.0)
                .await?;
        if depth == Some(47) {
            let mut is_told = false;
            while !context.cancelled.load(Ordering::Acquire) {
                if context.watched.load(Ordering::Acquire) && !std::mem::replace(&mut is_told, true) {
                    publish(&context, &self.0).await?;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            return Ok(());
        }
        let mut transaction = self.0.begin().await?;
        let outcome = match depth {
            Some(48) => Err(JobFailure::BadTarget { reason: "too strange".to_owned() }),
            _ => {
                complete_plan(&mut transaction, &job.plan_id).await?;
                Ok(())
            }
        };
        let _ = context.finish(&mut transaction, &outcome).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Example result of a plan.
const RESULT: &[u8] = include_bytes!("../golden/treesearch_result.json");

/// Stores the example result, as a searcher does.
pub async fn complete_plan(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    let mut zipped = GzEncoder::new(Vec::new(), Compression::default());
    zipped.write_all(RESULT)?;
    let result = serde_json::from_slice(RESULT).unwrap();
    sqlx::query("update plans set status = 'completed', result = $2, figures = $3 where id = $1")
        .bind(id)
        .bind(zipped.finish()?)
        .bind(sqlx::types::Json(PlanFigures::of(&result)))
        .execute(connection)
        .await?;
    Ok(())
}

/// A searcher that finds no route. `max_depth` selects its behaviour: 49 gives a malformed answer, 48 refuses the target, 47
/// runs until it is cancelled, 46 to 44 give what [`recorded::RecordedVariant`] says. With 47 and 43 it publishes progress
/// events if they are wanted.
struct MockSearcher(PgPool);

impl Handler<StoredTreeSearchJob> for MockSearcher {
    async fn handle(
        &self,
        context: JobContext<StoredTreeSearchJob>,
        StoredTreeSearchJob::V1(job): StoredTreeSearchJob,
    ) -> Result<(), HandlerError> {
        if job.reporting == ProgressReporting::Events && [43, 47].contains(&job.request.max_depth) {
            publish(&context, &self.0).await?;
        }
        if job.request.max_depth == 47 {
            while !context.cancelled.load(Ordering::Acquire) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            return Ok(());
        }
        let kind = recorded::RecordedVariant::of(&job.request);
        let nothing = TreeSearchResult {
            search_smiles: job.request.search_smiles.clone(),
            metadata: Metadata { total_graph_nodes: 1, ..Metadata::default() },
            route_hierarchy: Default::default(),
            pricing_annotations: Vec::new(),
            reagent_results: ReagentResults::default(),
        };
        let mut result = kind.map_or(nothing, recorded::answer);
        if kind != Some(recorded::RecordedVariant::Hostile) {
            let target = MappedMolecule::of_one(&job.request.search_smiles, Limits::TARGET).unwrap();
            result.search_smiles = target.molecule().canonical_smiles();
        }
        recorded::add_constraint_reports(&mut result, &job.request);
        if job.request.max_depth == 49 {
            let groups = [("nonsense".to_owned(), Vec::new())].into();
            result.route_hierarchy.insert("one".to_owned(), groups);
        }
        let outcome = match job.request.max_depth {
            48 => Err(JobFailure::BadTarget { reason: "too strange".to_owned() }),
            _ if job.compact => Ok(StoredSearchResult::Compact(CompactResult::of(result))),
            _ => Ok(StoredSearchResult::Full(result)),
        };
        let mut transaction = self.0.begin().await?;
        let _ = context.finish(&mut transaction, &outcome).await?;
        transaction.commit().await?;
        Ok(())
    }
}
