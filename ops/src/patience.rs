//! Asking again where a service is away for a while, as in a restart: what takes hours must not end by a second.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::{failure::Failure, terminal};

/// How long a service may be away before a command gives up.
const PATIENCE: Duration = Duration::from_secs(600);

/// Between two questions: at first, and at last.
const PAUSES: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(5)];

/// Asks again where the service does not answer, or says that it will later, for as long as [`PATIENCE`], and says once that it does.
///
/// # Errors
/// Fails with the last failure, and at once with any other.
pub async fn patiently<T>(mut ask: impl AsyncFnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let begun = Instant::now();
    let (mut pause, mut is_told) = (PAUSES[0], false);
    loop {
        let failure = match ask().await {
            Err(failure @ (Failure::Unreachable(_) | Failure::Later { .. }))
                if begun.elapsed() < PATIENCE =>
            {
                failure
            }
            answer => return answer,
        };
        if !is_told {
            terminal::note(&format!("waiting: {failure}"));
            is_told = true;
        }
        sleep(match failure {
            Failure::Later { seconds, .. } => Duration::from_secs(seconds.clamp(1, 60)),
            _ => pause,
        })
        .await;
        pause = (pause * 2).min(PAUSES[1]);
    }
}
