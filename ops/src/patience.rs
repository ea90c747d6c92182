//! Asking again where a service is away for a while, as in a restart: what takes hours must not end by a second.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::failure::Failure;

/// How long a service may be away before a command gives up.
const PATIENCE: Duration = Duration::from_secs(600);

/// Between two questions: at first, and at last.
const PAUSES: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(5)];

/// Asks again where the service does not answer, or says that it will later, for as long as [`PATIENCE`].
///
/// # Errors
/// Fails with the last failure, and at once with any other.
pub async fn patiently<T>(mut ask: impl AsyncFnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let begun = Instant::now();
    let mut pause = PAUSES[0];
    loop {
        let wait = match ask().await {
            Err(Failure::Unreachable(_)) if begun.elapsed() < PATIENCE => pause,
            Err(Failure::Later { seconds, .. }) if begun.elapsed() < PATIENCE => {
                Duration::from_secs(seconds.clamp(1, 60))
            }
            answer => return answer,
        };
        sleep(wait).await;
        pause = (pause * 2).min(PAUSES[1]);
    }
}
