//! Metrics of the queue.
//!
//! Pairs of counters and no gauges. Submitted jobs minus answered jobs are in flight, and begun attempts minus ended
//! attempts are running, at every moment and over every span of time.

use std::{sync::LazyLock, time::Duration};

use contract::JobFailure;
use opentelemetry::{
    KeyValue,
    metrics::{Counter, Histogram},
};

use crate::{AwaitError, SubmitError};

/// Histogram bounds in seconds for waits and work, from a ready sample to the longest search.
const HISTOGRAM_BOUNDS: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 120.0];

static INSTRUMENTS: LazyLock<Instruments> = LazyLock::new(Instruments::new);

/// Metrics of callers: jobs submitted, and the results of their waits.
pub(crate) mod callers {
    use super::{AwaitError, INSTRUMENTS, JobFailure, KeyValue, SubmitError, queue};

    /// Counts a job that was taken or refused.
    pub(crate) fn submitted(of: &'static str, refusal: Option<&SubmitError>) {
        let reason = match refusal {
            None => return INSTRUMENTS.submitted.add(1, &[queue(of)]),
            Some(SubmitError::Full { .. }) => "full",
            Some(SubmitError::TooManyInFlight { .. }) => "too_many_in_flight",
            Some(SubmitError::Paused { .. }) => "paused",
            Some(SubmitError::NoWorker { .. }) => "no_worker",
            Some(SubmitError::UnknownModel) => "unknown_model",
            Some(SubmitError::Unencodable(_) | SubmitError::Panicked(_) | SubmitError::Database(_)) => {
                "failed"
            }
        };
        INSTRUMENTS.refused.add(1, &[queue(of), KeyValue::new("reason", reason)]);
    }

    /// Counts a caller that got its outcome.
    pub(crate) fn answered<T>(of: &'static str, outcome: &Result<Result<T, JobFailure>, AwaitError>) {
        let outcome = match outcome {
            Ok(Ok(_)) => "done",
            Ok(Err(JobFailure::DeadlinePassed)) | Err(AwaitError::DeadlinePassed) => "deadline_passed",
            Ok(Err(JobFailure::TooLate)) => "too_late",
            Ok(Err(JobFailure::Cancelled)) => "cancelled",
            Ok(Err(JobFailure::CancelledByOperator)) => "cancelled_by_operator",
            Ok(Err(JobFailure::Abandoned { .. })) => "abandoned",
            Ok(Err(_)) => "refused_by_worker",
            Err(AwaitError::Lost) => "lost",
            Err(AwaitError::Undecodable(_) | AwaitError::Database(_)) => "failed",
        };
        ended(of, outcome);
    }

    /// Counts a caller that left before the outcome.
    pub(crate) fn left(of: &'static str) {
        ended(of, "caller_left");
    }

    fn ended(of: &'static str, outcome: &'static str) {
        INSTRUMENTS.answered.add(1, &[queue(of), KeyValue::new("outcome", outcome)]);
    }
}

/// Metrics of workers: one attempt at a job, from start to end.
pub(crate) struct Attempt {
    queue: &'static str,
    begun: std::time::Instant,
    outcome: &'static str,
}

impl Attempt {
    /// Starts an attempt at a job that has `waited` since it was submitted.
    pub(crate) fn begin(of: &'static str, waited: Duration) -> Self {
        INSTRUMENTS.begun.add(1, &[queue(of)]);
        INSTRUMENTS.wait.record(waited.as_secs_f64(), &[queue(of)]);
        // An attempt that ends in no other way was stopped with the process.
        Self { queue: of, begun: std::time::Instant::now(), outcome: "stopped" }
    }

    /// Records the result: `finished`, `failed` or `cancelled`.
    pub(crate) fn end(mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        INSTRUMENTS.ended.add(1, &[queue(self.queue), KeyValue::new("outcome", self.outcome)]);
        let mut attributes = vec![
            queue(self.queue),
            KeyValue::new("messaging.system", SYSTEM),
            KeyValue::new("messaging.operation.name", "process"),
        ];
        if self.outcome != "finished" {
            attributes.push(KeyValue::new("error.type", self.outcome));
        }
        INSTRUMENTS.process.record(self.begun.elapsed().as_secs_f64(), &attributes);
    }
}

/// Counts rows that were deleted for their age.
pub(crate) fn deleted(what: &str, rows: u64) {
    INSTRUMENTS.deleted.add(rows, &[KeyValue::new("retort.retention.what", what.to_owned())]);
}

/// Name of the messaging system, in OpenTelemetry's conventions.
pub(crate) const SYSTEM: &str = "apalis";

fn queue(name: &'static str) -> KeyValue {
    KeyValue::new("messaging.destination.name", name)
}

struct Instruments {
    submitted: Counter<u64>,
    refused: Counter<u64>,
    answered: Counter<u64>,
    begun: Counter<u64>,
    ended: Counter<u64>,
    wait: Histogram<f64>,
    process: Histogram<f64>,
    deleted: Counter<u64>,
}

impl Instruments {
    fn new() -> Self {
        let meter = telemetry::meter();
        let jobs = |name: &'static str, described: &'static str| {
            meter.u64_counter(name).with_unit("{job}").with_description(described).build()
        };
        let attempts = |name: &'static str, described: &'static str| {
            meter.u64_counter(name).with_unit("{attempt}").with_description(described).build()
        };
        let seconds = |name: &'static str, described: &'static str| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(described);
            histogram.with_boundaries(HISTOGRAM_BOUNDS.to_vec()).build()
        };
        Self {
            submitted: jobs("retort.jobs.submitted", "Jobs that a queue took"),
            refused: jobs("retort.jobs.refused", "Jobs that a queue did not take, by reason"),
            answered: jobs("retort.jobs.answered", "Jobs whose caller waits no longer, by outcome"),
            begun: attempts("retort.attempts.begun", "Attempts at jobs that workers began"),
            ended: attempts("retort.attempts.ended", "Attempts at jobs that ended, by outcome"),
            wait: seconds("retort.job.wait", "From a job's submission to an attempt at it"),
            process: seconds("messaging.process.duration", "How long attempts at jobs took"),
            deleted: meter
                .u64_counter("retort.retention.deleted")
                .with_unit("{row}")
                .with_description("Rows that were deleted because of their age, by what they were")
                .build(),
        }
    }
}
