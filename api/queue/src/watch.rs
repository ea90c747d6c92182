//! Watching a job, from whichever process: what it tells, and its outcome.
//!
//! A job that is watched for its outcome is nobody's who waits: a process that dies leaves it to whoever watches it next, and it is
//! cancelled when nobody has for a while.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use contract::Problem;
use database::Background;
use sqlx::PgPool;
use tracing::{Instrument, Span, warn};

use crate::{
    AwaitError, Job, JobEvent,
    ears::{Ear, Ears},
    events::{self, LEASE, RENEWAL, Watching},
    live::ACT,
    metrics::callers,
    pending::decode,
    store,
};

/// How long nothing is looked for when nothing is heard.
const RE_READ: Duration = Duration::from_secs(2);

/// Beyond a lease, so that it has run out.
const SLACK: Duration = Duration::from_millis(200);

/// Somebody who watches a job, until dropped.
#[derive(Debug)]
pub struct Watch<J> {
    pool: PgPool,
    id: String,
    ear: Ear,
    watching: Watching,
    /// Of who asked for the job, its queue: they are counted, with how it ended for them.
    asked: Option<&'static str>,
    /// Whether the outcome has been seen.
    settled: bool,
    _lease: Background,
    job: PhantomData<fn() -> J>,
}

/// What there is to see of a job.
#[derive(Debug)]
pub struct Seen<T> {
    /// What it told, in order.
    pub events: Vec<JobEvent>,
    /// Its outcome, once it has one and all that it told was seen.
    pub end: Option<Result<Result<T, Problem>, AwaitError>>,
}

impl<J: Job> Watch<J> {
    /// Watches the job `id` from now on.
    pub(crate) async fn begin(
        pool: PgPool,
        ears: &Arc<Ears>,
        id: String,
        watching: Watching,
    ) -> Result<Self, sqlx::Error> {
        let ear = ears.open(id.clone());
        events::watch(&pool, &id, watching).await?;
        let lease = renewal(pool.clone(), id.clone(), watching);
        let job = PhantomData;
        Ok(Self { pool, id, ear, watching, asked: None, settled: false, _lease: lease, job })
    }

    /// Counts as who asked for the job.
    pub(crate) fn asked(mut self) -> Self {
        self.asked = Some(J::QUEUE);
        self
    }

    /// The job's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Waits until there may be something new to see.
    pub async fn heard(&mut self) {
        self.ear.heard(RE_READ).await;
    }

    /// Looks at the job: what it told after number `after`, and its end.
    ///
    /// # Errors
    /// Fails when the database does; it can be asked again.
    pub async fn look(&mut self, after: i64) -> Result<Seen<J::Outcome>, sqlx::Error> {
        // Before what it told: what is told after its end is nobody's.
        let state = database::within(ACT, store::state(&self.pool, &self.id)).await?;
        let events = database::within(ACT, events::told_after(&self.pool, &self.id, after)).await?;
        if !events.is_empty() {
            return Ok(Seen { events, end: None });
        }
        let end = match state {
            store::State::Finished(outcome) => Some(decode::<J>(outcome)),
            store::State::Missing => Some(Err(AwaitError::Lost)),
            store::State::Late => Some(Err(AwaitError::DeadlinePassed)),
            store::State::Open => {
                // Nobody else may be there who sees that it is too late to begin it.
                database::within(ACT, store::settle(&self.pool, &self.id)).await?;
                None
            }
        };
        if let Some(end) = &end {
            self.settle(end);
        }
        Ok(Seen { events, end })
    }

    fn settle(&mut self, end: &Result<Result<J::Outcome, Problem>, AwaitError>) {
        self.settled = true;
        if let Some(queue) = self.asked.take() {
            callers::answered(queue, end);
        }
    }
}

impl<J> Drop for Watch<J> {
    fn drop(&mut self) {
        if let Some(queue) = self.asked {
            callers::left(queue);
        }
        if self.settled || self.watching == Watching::Idly {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (pool, id) = (self.pool.clone(), self.id.clone());
        let look = async move {
            tokio::time::sleep(LEASE + SLACK).await;
            let unwatched = async {
                if events::is_watched(&pool, &id).await? {
                    return Ok(());
                }
                store::cancel(&pool, std::slice::from_ref(&id)).await
            };
            if let Err(error) = database::within(ACT, unwatched).await {
                warn!(job.id = %id, "a job that nobody watches any more could not be cancelled: {error}");
            }
        };
        runtime.spawn(look.instrument(Span::current()));
    }
}

/// Says that somebody watches the job, until dropped.
fn renewal(pool: PgPool, id: String, watching: Watching) -> Background {
    Background::keep("saying that somebody watches a job", move || {
        let (pool, id) = (pool.clone(), id.clone());
        async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                if let Err(error) = database::within(ACT, events::watch(&pool, &id, watching)).await {
                    warn!(job.id = %id, "could not say that somebody watches: {error}");
                }
            }
        }
    })
}
