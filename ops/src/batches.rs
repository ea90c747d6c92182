//! Batches of plans at a service: creating them, following them through lost connections, and reading their results.

use std::{collections::VecDeque, time::Duration};

use contract::{Batch, BatchProgress, MAX_BATCH, Page, PlanStatus, TreeSearchRequest, TreeSearchResult};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{signal, time::sleep};

use crate::{failure::Failure, retry::retry_while_unavailable, service::Service, targets::Target};

const BATCHES: &str = "/synth-batches/v1/batches";
/// Path of sample batches, which are cancelled and deleted as batches of plans are.
pub const SAMPLE_BATCHES: &str = "/generator/v1/sample-batches";
const PLANS: &str = "/synth-batches/v1/plans";

/// Maximum length of a plan's name, in characters.
const MAX_NAME: usize = 255;

/// Maximum number of items on a page.
const PAGE_SIZE: usize = 100;

/// Timeout for storing a batch: a hundred thousand targets take longer than any other call.
const CREATE_TIMEOUT: Duration = Duration::from_secs(300);

/// Initial and final polling interval of a batch.
pub const POLL_INTERVALS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(5)];

/// A plan of a batch, without its result.
#[derive(Debug, Clone, Deserialize)]
pub struct BatchPlan {
    /// Plan id.
    pub id: String,
    /// Status of the plan.
    pub status: PlanStatus,
    /// Name of its target.
    pub name: Option<String>,
    /// Reason for its failure.
    pub error: Option<String>,
    parameters: Value,
}

/// A plan with its result, in the tree search's own shape.
#[derive(Debug, Deserialize)]
struct PlanResult {
    result: Option<TreeSearchResult>,
}

impl BatchPlan {
    /// The request; fields unknown to this version are ignored.
    pub fn request(&self) -> TreeSearchRequest {
        let smiles = self.parameters["search_smiles"].as_str().unwrap_or_default();
        let mut request = self.parameters.clone();
        if let Value::Object(fields) = &mut request {
            fields.remove("engine");
        }
        serde_json::from_value(request).unwrap_or_else(|_| TreeSearchRequest::new(smiles))
    }
}

/// Stores a batch of targets. Each gets the parameters of `request`, whose own target is ignored.
///
/// # Errors
/// Fails if the service rejects the batch or does not answer.
pub async fn create(
    service: &Service,
    targets: &[Target],
    request: &TreeSearchRequest,
    name: Option<&str>,
) -> Result<Batch, Failure> {
    if targets.len() > MAX_BATCH {
        return Err(Failure::Usage(format!(
            "{} targets exceed the maximum of {MAX_BATCH} a batch",
            targets.len()
        )));
    }
    let mut parameters = serde_json::to_value(request).map_err(anyhow::Error::new)?;
    if let Value::Object(fields) = &mut parameters {
        fields.remove("search_smiles");
    }
    let smiles: Vec<&str> = targets.iter().map(|target| target.smiles.as_str()).collect();
    let mut body = json!({ "smiles": smiles, "parameters": parameters, "name": name });
    // An older service does not know this field.
    if targets.iter().any(|target| target.name.is_some()) {
        body["names"] = targets.iter().map(|target| json!(target.name.as_deref().map(shortened))).collect();
    }
    service.create(BATCHES, &body, CREATE_TIMEOUT).await
}

/// Truncates a name to the length that the service stores.
fn shortened(name: &str) -> String {
    name.chars().filter(|letter| *letter != '\0').take(MAX_NAME).collect()
}

/// Batches, the newest first, up to one page.
///
/// # Errors
/// Fails if the call fails.
pub async fn list(service: &Service) -> Result<Vec<Batch>, Failure> {
    let page: Page<Batch> = service.get(&format!("{BATCHES}?limit={PAGE_SIZE}")).await?;
    Ok(page.items)
}

/// A batch with its progress.
///
/// # Errors
/// Fails if the call fails.
pub async fn retrieve(service: &Service, id: &str) -> Result<Batch, Failure> {
    service.get(&format!("{BATCHES}/{id}")).await.map_err(|failure| without_batch(failure, id))
}

/// Names the batch if it is not there.
pub fn without_batch(failure: Failure, id: &str) -> Failure {
    match failure {
        Failure::NotThere => Failure::Refused(format!("there is no batch {id}")),
        other => other,
    }
}

/// Action on a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchAction {
    Cancel,
    Resume,
}

/// Performs an action on a batch.
///
/// # Errors
/// Fails if the call fails.
pub async fn act(service: &Service, id: &str, action: BatchAction) -> Result<(), Failure> {
    let path_segment = match action {
        BatchAction::Cancel => "cancel",
        BatchAction::Resume => "resume",
    };
    service.act(&format!("{}/{path_segment}", path(id))).await.map_err(|failure| without_batch(failure, id))
}

/// Deletes a batch with all its results.
///
/// # Errors
/// Fails if the call fails.
pub async fn delete(service: &Service, id: &str) -> Result<(), Failure> {
    service.delete(&path(id)).await.map_err(|failure| without_batch(failure, id))
}

/// Returns true for the id of a sample batch.
pub fn is_of_samples(id: &str) -> bool {
    id.starts_with("sbt_")
}

fn path(id: &str) -> String {
    let batches = if is_of_samples(id) { SAMPLE_BATCHES } else { BATCHES };
    format!("{batches}/{id}")
}

/// Polls a batch until no plan is pending or processing, and reports its progress to `on_progress`.
///
/// # Errors
/// Fails if the call fails, after the retries of [`retry_while_unavailable`].
pub async fn follow(
    service: &Service,
    id: &str,
    on_progress: impl Fn(&BatchProgress),
) -> Result<(), Failure> {
    let mut pause = POLL_INTERVALS[0];
    loop {
        let progress =
            retry_while_unavailable(async || retrieve(service, id).await).await?.progress.unwrap_or_default();
        on_progress(&progress);
        if progress.pending + progress.processing == 0 {
            return Ok(());
        }
        sleep(pause).await;
        pause = (pause * 2).min(POLL_INTERVALS[1]);
    }
}

/// Works on a batch until Ctrl-C. If the command leaves the batch, the failure says that it continues, and how to
/// come back.
///
/// # Errors
/// Fails if the work fails or is interrupted.
pub async fn leave_on_interrupt<T>(
    work: impl Future<Output = Result<T, Failure>>,
    come_back: &str,
) -> Result<T, Failure> {
    tokio::select! {
        done = work => done,
        _ = signal::ctrl_c() => Err(Failure::Interrupted(format!("left the batch, which continues: {come_back}"))),
    }
    .map_err(|failure| match failure {
        Failure::Unreachable(reason) => Failure::Unreachable(format!("{reason}; the batch continues: {come_back}")),
        other => other,
    })
}

/// The plans of a batch, in the order of its targets.
///
/// # Errors
/// Fails if a call fails, after the retries of [`retry_while_unavailable`].
pub async fn plans(service: &Service, id: &str) -> Result<Vec<BatchPlan>, Failure> {
    let mut plans = VecDeque::new();
    loop {
        // The pages begin with the last targets.
        let after =
            plans.front().map(|plan: &BatchPlan| format!("&starting_after={}", plan.id)).unwrap_or_default();
        let path = format!("{BATCHES}/{id}/plans?limit={PAGE_SIZE}{after}");
        let page: Page<BatchPlan> = retry_while_unavailable(async || service.get(&path).await).await?;
        page.items.into_iter().for_each(|plan| plans.push_front(plan));
        if !page.has_next {
            return Ok(plans.into());
        }
    }
}

/// Result of a plan, or the reason why there is none.
///
/// # Errors
/// Fails if the call fails, after the retries of [`retry_while_unavailable`].
pub async fn outcome(
    service: &Service,
    plan: &BatchPlan,
) -> Result<Result<TreeSearchResult, String>, Failure> {
    if plan.status != PlanStatus::Completed {
        let status = serde_json::to_value(plan.status).map_err(anyhow::Error::new)?;
        return Ok(Err(plan.error.clone().unwrap_or_else(|| status.as_str().unwrap_or_default().to_owned())));
    }
    let path = format!("{PLANS}/{}", plan.id);
    let plan: PlanResult = retry_while_unavailable(async || service.get(&path).await).await?;
    Ok(plan.result.ok_or_else(|| "its result is no longer stored".to_owned()))
}
