//! One LISTEN connection that comes back by itself.
//!
//! Notifications sent while it was away are lost, so every (re)connection is reported too: whoever waits
//! for a notification must then look for itself.

use std::time::Duration;

use sqlx::{PgPool, postgres::PgListener};
use tokio::task::JoinHandle;
use tracing::{debug, warn};

/// Pause before the connection is tried again.
const RECONNECT: Duration = Duration::from_millis(250);

/// What a listener reports.
pub(crate) enum Heard<'a> {
    /// The connection stands; what was sent before may be lost.
    Connected,
    /// A notification on `channel`.
    Notification { channel: &'a str, payload: &'a str },
}

/// Listens on `channels` until the task is dropped.
pub(crate) fn spawn(
    pool: PgPool,
    channels: &'static [&'static str],
    mut report: impl FnMut(Heard<'_>) + Send + 'static,
) -> Background {
    Background(tokio::spawn(async move {
        loop {
            match listen(&pool, channels, &mut report).await {
                Ok(()) => debug!("the LISTEN connection was lost"),
                Err(error) => warn!("the LISTEN connection failed: {error}"),
            }
            tokio::time::sleep(RECONNECT).await;
        }
    }))
}

async fn listen(
    pool: &PgPool,
    channels: &[&str],
    report: &mut (impl FnMut(Heard<'_>) + Send),
) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.eager_reconnect(false);
    listener.listen_all(channels.iter().copied()).await?;
    report(Heard::Connected);
    while let Some(notification) = listener.try_recv().await? {
        report(Heard::Notification { channel: notification.channel(), payload: notification.payload() });
    }
    Ok(())
}

/// A task that ends with its owner.
#[derive(Debug)]
pub(crate) struct Background(pub(crate) JoinHandle<()>);

impl Drop for Background {
    fn drop(&mut self) {
        self.0.abort();
    }
}
