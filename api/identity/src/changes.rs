//! Changes of accounts and revocations, told to every process at once (PostgreSQL's NOTIFY).
//!
//! Whoever changes something tells it in the same transaction, so it is heard when it holds. A process that cannot hear forgets
//! what it remembers after seconds, by itself.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use sqlx::{
    PgConnection, PgPool,
    postgres::{PgListener, PgPoolOptions},
};

const CHANNEL: &str = "retort_identity";

/// The message that tells of revocations; any other is an account's id.
pub(crate) const REVOCATIONS: &str = "revocations";

/// How long to wait before listening again, when the database is away.
const PAUSE: Duration = Duration::from_secs(1);

/// How often to look whether anybody still needs to know.
const LOOK: Duration = Duration::from_secs(60);

/// Tells every process of a change, once the transaction commits.
pub(crate) async fn tell(connection: &mut PgConnection, what: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("select pg_notify($1, $2)", CHANNEL, what).execute(connection).await.map(drop)
}

/// Has `who` forget what others change, as long as it is there: what is told of, or with `None` everything.
pub(crate) fn hear<T>(who: &Arc<T>, pool: &PgPool, forget: fn(&T, Option<&str>))
where
    T: Send + Sync + 'static,
{
    tokio::spawn(listen(Arc::downgrade(who), pool.clone(), forget));
}

async fn listen<T>(who: Weak<T>, pool: PgPool, forget: fn(&T, Option<&str>)) {
    while who.strong_count() > 0 && !pool.is_closed() {
        if let Err(error) = listen_once(&who, &pool, forget).await {
            tracing::warn!(%error, "changes of accounts cannot be heard; they hold within half a minute");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn listen_once<T>(
    who: &Weak<T>,
    pool: &PgPool,
    forget: fn(&T, Option<&str>),
) -> Result<(), sqlx::Error> {
    // A connection of its own: those of the pool are for requests.
    let own = PgPoolOptions::new().max_connections(1).connect_with((*pool.connect_options()).clone()).await?;
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen(CHANNEL).await?;
    // What changed before is not told again.
    who.upgrade().iter().for_each(|who| forget(who, None));
    loop {
        let heard = tokio::time::timeout(LOOK, listener.try_recv()).await;
        let Some(who) = who.upgrade().filter(|_| !pool.is_closed()) else { return Ok(()) };
        match heard {
            Err(_) => {}
            Ok(told) => match told? {
                Some(told) => forget(&who, Some(told.payload())),
                // The connection broke; it is another one now.
                None => forget(&who, None),
            },
        }
    }
}
