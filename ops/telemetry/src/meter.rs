//! Where the service's own instruments come from.

use opentelemetry::{global, metrics::Meter};

/// The name under which the instruments and spans of the service are found.
pub(crate) const SCOPE: &str = "retort";

/// The meter of the service's own instruments; what it makes does nothing in a process that shows nobody its metrics.
#[must_use]
pub fn meter() -> Meter {
    global::meter(SCOPE)
}
