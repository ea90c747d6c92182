//! One LISTEN connection that comes back by itself.
//!
//! Notifications sent while it was away are lost, so every (re)connection is reported too: whoever waits for a notification
//! must then look for itself. A connection on which nothing comes looks the same whether nothing happens or the other end is gone
//! without a word, so in the silence it is asked whether it lives.

use std::{sync::Arc, time::Duration};

use sqlx::{
    Acquire, Connection,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions},
};
use tracing::{debug, warn};

use crate::{Background, Database, within};

/// Pause before the connection is tried again.
const RECONNECT: Duration = Duration::from_millis(250);

/// How long a new connection may take until it listens.
const CONNECT: Duration = Duration::from_secs(5);

/// The silence after which a connection is asked whether it lives.
pub const PING: Duration = Duration::from_secs(10);

/// How long it may take to answer, or ten silences. A connection that is gone is so replaced within 16 s.
const ANSWER: Duration = Duration::from_secs(5);

/// What a listener reports.
#[derive(Debug)]
pub enum Heard<'a> {
    /// The connection stands; what was sent before may be lost.
    Connected,
    /// A notification on `channel`.
    #[expect(missing_docs, reason = "fields named in the variant's doc")]
    Notification { channel: &'a str, payload: &'a str },
}

/// Listens on `channels` of `database` until the task is dropped, on a connection of its own beside the pool's, past any pooler.
pub fn listen(
    database: &Database,
    channels: &'static [&'static str],
    report: impl Fn(Heard<'_>) + Send + Sync + 'static,
) -> Background {
    listen_pinging(PING, database, channels, report)
}

/// Listens as [`listen`] does, and asks the connection after every silence of `ping`.
pub fn listen_pinging(
    ping: Duration,
    database: &Database,
    channels: &'static [&'static str],
    report: impl Fn(Heard<'_>) + Send + Sync + 'static,
) -> Background {
    let (options, report) = (Arc::new(database.direct().clone()), Arc::new(report));
    Background::keep("listening to the database", move || {
        let (options, report) = (Arc::clone(&options), Arc::clone(&report));
        async move {
            loop {
                match listen_once(ping, &options, channels, &*report).await {
                    Ok(()) => debug!("the LISTEN connection was lost"),
                    Err(error) => warn!("the LISTEN connection failed: {error}"),
                }
                tokio::time::sleep(RECONNECT).await;
            }
        }
    })
}

async fn listen_once(
    ping: Duration,
    options: &PgConnectOptions,
    channels: &[&str],
    report: &(impl Fn(Heard<'_>) + Sync),
) -> Result<(), sqlx::Error> {
    // A pool for one connection: sqlx's listener takes leave of the server when it is dropped, and would hold a place in a
    // pool that others use for as long as a dead server does not answer that.
    let own = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
    let own = own.connect_lazy_with(options.clone());
    let mut listener = within(CONNECT, async {
        let mut listener = PgListener::connect_with(&own).await?;
        listener.eager_reconnect(false);
        listener.listen_all(channels.iter().copied()).await?;
        Ok::<_, sqlx::Error>(listener)
    })
    .await?;
    report(Heard::Connected);
    loop {
        match tokio::time::timeout(ping, listener.try_recv()).await {
            Ok(heard) => match heard? {
                Some(heard) => {
                    report(Heard::Notification { channel: heard.channel(), payload: heard.payload() });
                }
                None => return Ok(()),
            },
            // What is heard while it answers is kept for the next turn.
            Err(_) => {
                within(ANSWER.min(10 * ping), async { (&mut listener).acquire().await?.ping().await }).await?
            }
        }
    }
}
