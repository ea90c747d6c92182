//! Support of the tests: a database for each, a toy job, and handlers that do as the job says.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

use contract::{JobFailure, JobId};
use queue::{
    Client, FinishResult, Handler, HandlerError, Job, JobCaller, JobContext, LiveModel, Pending, ReadyResult,
    SubmitError, WorkEstimate, WorkerConfig, run_worker,
};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
pub use test_support::{TestDatabase, until};
use tokio::{
    sync::{oneshot, watch},
    task::JoinHandle,
};

/// Instruction for the handler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToyAction {
    /// Answer with the number.
    Answer(u64),
    /// Answer after the milliseconds, unless cancelled.
    Sleep(u64),
    /// Answer with a problem.
    Refuse,
    /// Fail like a machine in the first attempts, then answer with the attempt.
    FailUntil(u32),
    /// Panic at every attempt.
    Panic,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Toy {
    pub act: ToyAction,
    pub expected_seconds: f64,
    pub model_id: Option<String>,
    /// Longest run, in seconds.
    pub longest: Option<f64>,
    /// Number of ready results that it takes.
    pub units: Option<u32>,
    pub patience: Duration,
    pub account: String,
    pub most_in_flight: Option<u32>,
}

impl Toy {
    pub fn new(act: ToyAction) -> Self {
        Self {
            act,
            expected_seconds: 0.01,
            model_id: None,
            longest: None,
            units: None,
            patience: Duration::from_secs(30),
            account: "somebody".to_owned(),
            most_in_flight: None,
        }
    }

    pub fn of(mut self, model_id: &str) -> Self {
        self.model_id = Some(model_id.to_owned());
        self
    }

    pub fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    pub fn by(mut self, account: &str) -> Self {
        self.account = account.to_owned();
        self
    }

    pub fn taking(mut self, units: u32) -> Self {
        self.units = Some(units);
        self
    }

    pub fn at_most(mut self, seconds: f64) -> Self {
        self.longest = Some(seconds);
        self
    }

    pub fn expecting(mut self, seconds: f64) -> Self {
        self.expected_seconds = seconds;
        self
    }
}

impl Job for Toy {
    const QUEUE: &'static str = "toy";

    type Outcome = u64;

    fn work(&self) -> WorkEstimate<'_> {
        WorkEstimate {
            kind: "toy",
            seconds: self.expected_seconds,
            longest: self.longest,
            ready: self.units.map(|units| ReadyResult { units, seconds: 0.01 }),
        }
    }

    fn model_id(&self) -> Option<&str> {
        self.model_id.as_deref()
    }
}

/// Submits a toy for its own account.
pub trait SubmitToy {
    async fn put(&self, id: JobId, job: &Toy) -> Result<Pending<Toy>, SubmitError>;
}

impl SubmitToy for Client {
    async fn put(&self, id: JobId, job: &Toy) -> Result<Pending<Toy>, SubmitError> {
        let (account_id, patience) = (job.account.as_str(), job.patience);
        self.submit(id, job, JobCaller { account_id, timeout: patience, max_in_flight: job.most_in_flight })
            .await
    }
}

/// Observations of the handlers for one job.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    pub started: u32,
    pub now: u32,
    pub most_at_once: u32,
    pub cancelled: bool,
    pub superseded: bool,
}

#[derive(Clone)]
pub struct Toys {
    pub pool: PgPool,
    pub seen: Arc<Mutex<HashMap<JobId, Seen>>>,
}

impl Toys {
    pub fn new(database: &TestDatabase) -> Self {
        Self { pool: database.pool.clone(), seen: Arc::default() }
    }

    pub fn seen(&self, id: JobId) -> Seen {
        self.seen.lock().unwrap().get(&id).cloned().unwrap_or_default()
    }

    fn note(&self, id: JobId, note: impl FnOnce(&mut Seen)) {
        note(self.seen.lock().unwrap().entry(id).or_default());
    }
}

/// Counts a job as running while it lives.
struct RunningCount(Toys, JobId);

impl Drop for RunningCount {
    fn drop(&mut self) {
        self.0.note(self.1, |seen| seen.now -= 1);
    }
}

impl Handler<Toy> for Toys {
    async fn handle(&self, context: JobContext<Toy>, job: Toy) -> Result<(), HandlerError> {
        self.note(context.id, |seen| {
            seen.started += 1;
            seen.now += 1;
            seen.most_at_once = seen.most_at_once.max(seen.now);
        });
        let _inside = RunningCount(self.clone(), context.id);
        let outcome = match job.act {
            ToyAction::Answer(number) => Ok(number),
            ToyAction::Refuse => Err(JobFailure::BadTarget { reason: "no".to_owned() }),
            ToyAction::FailUntil(attempt) if context.attempt < attempt => {
                return Err("the disk is full".into());
            }
            ToyAction::FailUntil(_) => Ok(u64::from(context.attempt)),
            ToyAction::Panic => panic!("on purpose"),
            ToyAction::Sleep(ms) => {
                for _ in 0..ms / 10 {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    if context.cancelled.load(Ordering::Acquire) {
                        self.note(context.id, |seen| seen.cancelled = true);
                        return Ok(());
                    }
                }
                Ok(ms)
            }
        };
        let mut transaction = self.pool.begin().await?;
        match context.finish(&mut transaction, &outcome).await? {
            FinishResult::Stored => transaction.commit().await?,
            FinishResult::Superseded => self.note(context.id, |seen| seen.superseded = true),
        }
        Ok(())
    }
}

/// A worker in this process; dropping it simulates a crash.
pub struct Worker {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), queue::QueueError>>,
}

impl Worker {
    pub fn start(toys: &Toys, slots: usize) -> Self {
        Self::start_with(toys, config(slots))
    }

    pub fn start_with(toys: &Toys, config: WorkerConfig) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async move {
            let _ = stopped.await;
        };
        let task = tokio::spawn(run_worker::<Toy, _>(toys.pool.clone(), config, toys.clone(), shutdown));
        Self { stop: Some(stop), task }
    }

    /// Stops as on SIGTERM.
    pub async fn stop(mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        self.task.await.unwrap().unwrap();
    }

    /// Stops as on kill -9.
    pub async fn crash(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

/// Returns settings that are all faster than in production, so that tests need not wait.
pub fn config(slots: usize) -> WorkerConfig {
    WorkerConfig {
        slots,
        models: watch::channel(models(&["toy_model"])).1,
        heartbeat_interval: Duration::from_millis(200),
        heartbeat: Duration::from_millis(400),
        grace: Duration::from_secs(10),
        ..WorkerConfig::default()
    }
}

/// Makes models with these ids.
pub fn models(ids: &[&str]) -> Vec<LiveModel> {
    let model = |id: &&str| LiveModel {
        model_id: (*id).to_owned(),
        relative_cost: 1.0,
        card: serde_json::json!({"description": "a toy"}),
    };
    ids.iter().map(model).collect()
}

/// Waits until a worker lives.
pub async fn live(client: &Client) {
    until("a worker lives", || async { !client.live_workers().await.unwrap().is_empty() }).await;
}

/// Waits until a worker serves the model.
pub async fn serves(client: &Client, id: &str) {
    until("the model is served", || async {
        client.live_models("toy").await.unwrap().iter().any(|model| model.model_id == id)
    })
    .await;
}
