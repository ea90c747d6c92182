//! Conversion of durations for PostgreSQL.

use std::time::Duration;

use sqlx::postgres::types::PgInterval;

/// Converts `duration` to the microsecond; one that PostgreSQL cannot represent becomes its longest.
#[must_use]
pub fn interval(duration: Duration) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX) }
}
