//! Retries while the service is unavailable, as in a restart: a command of hours must not fail because of a short
//! gap.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::{failure::Failure, terminal};

/// Time that a service may be unavailable before a command gives up.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Shortest and longest pause between two attempts.
const PAUSES: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(5)];

/// Retries while the service does not answer or asks to retry later, for at most [`MAX_WAIT`]. Notes once that it is
/// waiting.
///
/// # Errors
/// Fails with the last failure after that time, and at once with any other failure.
pub async fn retry_while_unavailable<T>(
    mut request: impl AsyncFnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let begun = Instant::now();
    let (mut pause, mut is_told) = (PAUSES[0], false);
    loop {
        let failure = match request().await {
            Err(failure @ (Failure::Unreachable(_) | Failure::Later { .. }))
                if begun.elapsed() < MAX_WAIT =>
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
