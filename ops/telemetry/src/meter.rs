//! Meter for the service's own instruments.

use opentelemetry::{global, metrics::Meter};

/// Instrumentation scope of the service's instruments and spans.
pub(crate) const SCOPE: &str = "retort";

/// Returns the meter of the service's own instruments. The instruments do nothing if the process exports no metrics.
#[must_use]
pub fn meter() -> Meter {
    global::meter(SCOPE)
}
