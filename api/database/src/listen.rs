//! A LISTEN connection that reconnects by itself.
//!
//! Notifications sent during an interruption are lost, so every (re)connection is reported too: a subscriber must
//! then query the current state itself. A silent connection looks the same whether nothing happens or the other end
//! is gone. So it is pinged when it has been silent for a while.

use std::{sync::Arc, time::Duration};

use sqlx::{
    Acquire, Connection,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions},
};
use tracing::{debug, warn};

use crate::{Background, Database, within};

/// Pause before reconnecting.
const RECONNECT_DELAY: Duration = Duration::from_millis(250);

/// Time limit for a new connection to start listening.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Silence after which a connection is pinged.
pub const PING_INTERVAL: Duration = Duration::from_secs(10);

/// Time limit for the answer to a ping, or ten times the ping interval if that is shorter. So a dead connection is
/// replaced within 16 s.
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// Report of a listener.
#[derive(Debug)]
pub enum ListenerEvent<'a> {
    /// The connection is established; notifications sent before may be lost.
    Connected,
    /// A notification on `channel`.
    #[expect(missing_docs, reason = "fields named in the variant's doc")]
    Notification { channel: &'a str, payload: &'a str },
}

/// Listens on `channels` of `database` until the task is dropped, on its own connection outside the pool, which
/// bypasses any pooler.
pub fn listen(
    database: &Database,
    channels: &'static [&'static str],
    report: impl Fn(ListenerEvent<'_>) + Send + Sync + 'static,
) -> Background {
    listen_with_ping_interval(PING_INTERVAL, database, channels, report)
}

/// Listens like [`listen`], and pings the connection after every silence of `ping`.
pub fn listen_with_ping_interval(
    ping: Duration,
    database: &Database,
    channels: &'static [&'static str],
    report: impl Fn(ListenerEvent<'_>) + Send + Sync + 'static,
) -> Background {
    let (options, report) = (Arc::new(database.direct().clone()), Arc::new(report));
    Background::supervise("listening to the database", move || {
        let (options, report) = (Arc::clone(&options), Arc::clone(&report));
        async move {
            loop {
                match listen_once(ping, &options, channels, &*report).await {
                    Ok(()) => debug!("the LISTEN connection was lost"),
                    Err(error) => warn!("the LISTEN connection failed: {error}"),
                }
                tokio::time::sleep(RECONNECT_DELAY).await;
            }
        }
    })
}

async fn listen_once(
    ping: Duration,
    options: &PgConnectOptions,
    channels: &[&str],
    report: &(impl Fn(ListenerEvent<'_>) + Sync),
) -> Result<(), sqlx::Error> {
    // A pool for one connection: when dropped, sqlx's listener says goodbye to the server and waits for its answer.
    // With a dead server that would block a connection of a shared pool.
    let own = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
    let own = own.connect_lazy_with(options.clone());
    let mut listener = within(CONNECT_TIMEOUT, async {
        let mut listener = PgListener::connect_with(&own).await?;
        listener.eager_reconnect(false);
        listener.listen_all(channels.iter().copied()).await?;
        Ok::<_, sqlx::Error>(listener)
    })
    .await?;
    report(ListenerEvent::Connected);
    loop {
        match tokio::time::timeout(ping, listener.try_recv()).await {
            Ok(event) => match event? {
                Some(event) => {
                    report(ListenerEvent::Notification {
                        channel: event.channel(),
                        payload: event.payload(),
                    });
                }
                None => return Ok(()),
            },
            // Notifications that arrive during the ping are kept for the next iteration.
            Err(_) => {
                within(PING_TIMEOUT.min(10 * ping), async { (&mut listener).acquire().await?.ping().await })
                    .await?
            }
        }
    }
}
