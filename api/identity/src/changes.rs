//! Changes of accounts and revocations, told to every process at once (PostgreSQL's NOTIFY).
//!
//! Whoever changes something tells it in the same transaction, so it is heard when it holds. A process that cannot hear forgets
//! what it remembers after seconds, by itself.

use database::{Background, Database, Heard};
use sqlx::PgConnection;

const CHANNEL: &str = "retort_identity";

/// The message that tells of revocations; any other is an account's id.
pub(crate) const REVOCATIONS: &str = "revocations";

/// Tells every process of a change, once the transaction commits.
pub(crate) async fn tell(connection: &mut PgConnection, what: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("select pg_notify($1, $2)", CHANNEL, what).execute(connection).await.map(drop)
}

/// Has `forget` called with what others change, or with `None` for everything, until dropped.
pub(crate) fn hear(database: &Database, forget: impl Fn(Option<&str>) + Send + Sync + 'static) -> Background {
    database::listen(database, &[CHANNEL], move |heard| match heard {
        // What changed before is not told again.
        Heard::Connected => forget(None),
        Heard::Notification { payload, .. } => forget(Some(payload)),
    })
}
