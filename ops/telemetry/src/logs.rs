//! Log lines over OTLP.

use tracing::{Event, Subscriber};
use tracing_subscriber::{Layer, layer::Context};

use crate::statements::is_fast_statement;

/// Layer that exports the events that get a log line, within their trace.
///
/// This is not a filter of the layer's own, because such filters lose spans after a query of sqlx (see `setup.rs`).
pub(crate) struct LogExportLayer<L>(pub(crate) L);

impl<S: Subscriber, L: Layer<S>> Layer<S> for LogExportLayer<L> {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if !is_fast_statement(event.metadata()) {
            self.0.on_event(event, context);
        }
    }
}
