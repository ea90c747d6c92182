//! Log lines over OTLP.

use tracing::{Event, Subscriber};
use tracing_subscriber::{Layer, layer::Context};

use crate::statements::is_statement;

/// Sends the events that are worth a line, in the trace that they belong to.
///
/// Not a filter of the layer's own: those lose spans after a query of sqlx (see `setup.rs`).
pub(crate) struct Lines<L>(pub(crate) L);

impl<S: Subscriber, L: Layer<S>> Layer<S> for Lines<L> {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if !is_statement(event.metadata()) {
            self.0.on_event(event, context);
        }
    }
}
