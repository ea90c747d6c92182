//! Progress stream of a plan: routes while its search runs, then the plan.
//!
//! A plan continues with or without a reader of its stream.

use std::time::Duration;

use axum::{extract::State, http::HeaderMap, response::Response};
use contract::{FoundRoute, StoredPlanJob, StreamEvent};
use http_errors::ApiError;
use queue::{Client, JobEvent, Subscription};
use serde_json::json;
use sqlx::PgPool;

use super::{NO_PLAN, PlanRow, shaped};
use crate::{
    access::Caller,
    answer_shape::{AnswerShape, Shaped},
    endpoints::{
        PathId,
        ownership::{Detail, find},
    },
    engine_answer::engine_route,
    streams::{Source, SourceRead, StreamContext, last_event},
};

/// Poll interval for a plan that has no job yet.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Streams the progress of a plan.
#[utoipa::path(
    get, path = "/synth-batches/v1/plans/{plan_id}/events", tag = "plans", operation_id = "watch_plan",
    description = "Streams the progress of a plan after the event that `Last-Event-ID` names, and the plan once \
        it has ended. Events begin about a second after the stream is opened. The plan goes on without \
        readers. An account has at most 16 open streams. An extension.",
    summary = "Watch a plan",
    params(
        ("plan_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$", description = "Id of the plan."),
        ("last-event-id" = u64, Header, minimum = 0, maximum = 9_007_199_254_740_991_u64,
            description = "Id of the last event that the client received."),
    ),
    responses(
        (status = 200, description = "Events: `progress` (`SearchProgress`), `route` (`FoundRoute`, with the \
            route in the shape of a plan's result that `Accept` asks for), and as the last one `answer` \
            (`Plan`) or `problem` (`StreamProblem`). Resume a stream that ends without either.", content_type = "text/event-stream", body = StreamEvent),
        (status = 404, description = NO_PLAN),
    ),
)]
pub async fn watch(
    State(pool): State<PgPool>,
    State(queue): State<Client>,
    caller: Caller,
    shape: AnswerShape,
    terms: StreamContext,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let after = last_event(&headers)?;
    let address = format!("/synth-batches/v1/plans/{id}/events");
    let begin = async {
        let events = Events { pool, queue, reader: caller.account_id, id, shape, subscription: None };
        events.plan_row(Detail::Listed).await?;
        Ok(events)
    };
    terms.open().await?.respond(&address, after, begin).await
}

/// Source of a plan's events.
struct Events {
    pool: PgPool,
    queue: Client,
    reader: String,
    id: String,
    shape: AnswerShape,
    /// `None` while the plan has no job.
    subscription: Option<Subscription<StoredPlanJob>>,
}

impl Source for Events {
    async fn read_after(&mut self, after: i64) -> Result<SourceRead, ApiError> {
        let row = self.plan_row(Detail::Listed).await?;
        let has_ended = row.has_ended();
        self.subscribe_to_job(row.job_id).await?;
        if let Some(subscription) = &mut self.subscription {
            let events = subscription.poll(after).await?.events;
            if !events.is_empty() {
                let events = match self.shape {
                    AnswerShape::Native => Ok(events),
                    AnswerShape::Engine => events.into_iter().map(with_reaction_nodes).collect(),
                };
                return Ok(SourceRead {
                    events: events.map_err(|error| ApiError::internal(&error))?,
                    end: None,
                });
            }
        }
        let end = if has_ended { Some(self.plan_json().await) } else { None };
        Ok(SourceRead { events: Vec::new(), end })
    }

    async fn wait_for_change(&mut self) {
        match &mut self.subscription {
            Some(subscription) => subscription.wait_for_change().await,
            None => tokio::time::sleep(POLL_INTERVAL).await,
        }
    }
}

impl Events {
    /// Watches the plan's current job, which changes if the plan was cancelled and resumed.
    async fn subscribe_to_job(&mut self, job_id: Option<String>) -> Result<(), ApiError> {
        if self.subscription.as_ref().map(|subscription| subscription.id()) != job_id.as_deref() {
            self.subscription = match job_id {
                Some(id) => Some(self.queue.subscribe_passively(&id).await?),
                None => None,
            };
        }
        Ok(())
    }

    async fn plan_row(&self, detail: Detail) -> Result<PlanRow, ApiError> {
        find(&self.pool, &self.reader, &self.id, detail).await?.ok_or(ApiError::NotFound)
    }

    /// Returns the plan as JSON, as retrieval does.
    async fn plan_json(&self) -> Result<String, ApiError> {
        let row = self.plan_row(Detail::Whole).await?;
        let Shaped(plan, _) = shaped(row, self.shape).await?;
        serde_json::to_string(&plan).map_err(|error| ApiError::internal(&error))
    }
}

/// Converts a route to the form of plans, with reactions as nodes.
fn with_reaction_nodes(event: JobEvent) -> Result<JobEvent, serde_json::Error> {
    if event.event != "route" {
        return Ok(event);
    }
    let FoundRoute { route, backbone, steps } = serde_json::from_str(&event.data)?;
    let data = json!({ "route": engine_route(route), "backbone": backbone, "steps": steps }).to_string();
    Ok(JobEvent { data, ..event })
}
