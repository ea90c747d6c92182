//! A span and a duration for every SQL statement, from the event that sqlx logs when a statement ends.
//!
//! sqlx has no spans; at level `debug` it logs each statement with its duration. A span is created from that event
//! afterwards, with the true start time, as a child of the span in which the statement ran. Statements outside of an
//! exported trace (heartbeats, periodic clean-up) record only a duration.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use opentelemetry::{
    Context, KeyValue,
    metrics::{Histogram, Meter},
    trace::{Span as _, SpanKind, TraceContextExt as _, Tracer as _},
};
use opentelemetry_sdk::trace::SdkTracer;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, layer};

/// Target of sqlx's statement events.
pub(crate) const SQLX_TARGET: &str = "sqlx::query";

/// Directive that makes sqlx log its statements; placed before the operator's directives.
pub(crate) const SQLX_DIRECTIVE: &str = "sqlx::query=debug";

/// Histogram bounds of the durations in seconds (semantic conventions, `db.client.operation.duration`).
const BOUNDS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0];

/// Returns true for the event of a statement that was not too slow. Such events get no line in the log.
pub(crate) fn is_fast_statement(metadata: &Metadata<'_>) -> bool {
    metadata.target() == SQLX_TARGET && *metadata.level() > tracing::Level::WARN
}

/// Layer that creates spans and durations of statements.
pub(crate) struct StatementLayer {
    tracer: Option<SdkTracer>,
    duration: Option<Histogram<f64>>,
}

impl StatementLayer {
    /// Creates the layer with a tracer, a meter or both; `None` if there is neither.
    pub(crate) fn new(tracer: Option<SdkTracer>, meter: Option<&Meter>) -> Option<Self> {
        let duration = meter.map(|meter| {
            meter
                .f64_histogram("db.client.operation.duration")
                .with_unit("s")
                .with_description("How long SQL statements took")
                .with_boundaries(BOUNDS.to_vec())
                .build()
        });
        (tracer.is_some() || duration.is_some()).then_some(Self { tracer, duration })
    }
}

impl<S: Subscriber> Layer<S> for StatementLayer {
    fn on_event(&self, event: &Event<'_>, _: layer::Context<'_, S>) {
        if event.metadata().target() != SQLX_TARGET {
            return;
        }
        let mut statement = Statement::default();
        event.record(&mut statement);
        let system = KeyValue::new("db.system.name", "postgresql");
        let operation = KeyValue::new("db.operation.name", statement.operation());
        if let Some(duration) = &self.duration {
            duration.record(statement.seconds, &[system.clone(), operation.clone()]);
        }

        let parent = Context::current();
        let Some(tracer) = self.tracer.as_ref().filter(|_| parent.span().span_context().is_sampled()) else {
            return;
        };
        let end = SystemTime::now();
        let start = end - Duration::try_from_secs_f64(statement.seconds).unwrap_or_default();
        let summary = statement.summary.trim_end_matches(" …").to_owned();
        let text = if statement.text.is_empty() { summary.clone() } else { statement.text.trim().to_owned() };
        tracer
            .span_builder(summary)
            .with_kind(SpanKind::Client)
            .with_start_time(start)
            .with_attributes([
                system,
                operation,
                KeyValue::new("db.query.text", text),
                KeyValue::new("db.response.returned_rows", statement.rows),
            ])
            .start_with_context(tracer, &parent)
            .end_with_timestamp(end);
    }
}

/// Fields of sqlx's event for a statement.
#[derive(Default)]
struct Statement {
    summary: String,
    text: String,
    seconds: f64,
    rows: i64,
}

impl Statement {
    /// Returns the operation as one of a few words, which makes it usable as a metric attribute.
    fn operation(&self) -> &'static str {
        let first = self.summary.split_whitespace().next().unwrap_or_default();
        [
            "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "BEGIN", "COMMIT", "ROLLBACK", "COPY", "NOTIFY",
            "LISTEN",
        ]
        .into_iter()
        .find(|word| word.eq_ignore_ascii_case(first))
        .unwrap_or("other")
    }
}

impl Visit for Statement {
    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "elapsed_secs" {
            self.seconds = value;
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "rows_returned" {
            self.rows = i64::try_from(value).unwrap_or(i64::MAX);
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "summary" => value.clone_into(&mut self.summary),
            "db.statement" => value.clone_into(&mut self.text),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}
