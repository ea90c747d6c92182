//! Changes of accounts and revocations, broadcast to every process at once (PostgreSQL's NOTIFY).
//!
//! A change is published in its own transaction, so the notification arrives when the change is visible. Cache
//! entries expire within seconds in a process that receives no notifications.

use database::{Background, Database, ListenerEvent};
use sqlx::PgConnection;

const CHANNEL: &str = "retort_identity";

/// Payload for revocations; any other payload is an account's id.
pub(crate) const REVOCATIONS: &str = "revocations";

/// Notifies every process of a change, once the transaction commits.
pub(crate) async fn publish(connection: &mut PgConnection, what: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("select pg_notify($1, $2)", CHANNEL, what).execute(connection).await.map(drop)
}

/// Calls `forget` with each change of another process, or with `None` for everything, until dropped.
pub(crate) fn subscribe(
    database: &Database,
    forget: impl Fn(Option<&str>) + Send + Sync + 'static,
) -> Background {
    database::listen(database, &[CHANNEL], move |event| match event {
        // Earlier changes are not sent again.
        ListenerEvent::Connected => forget(None),
        ListenerEvent::Notification { payload, .. } => forget(Some(payload)),
    })
}
