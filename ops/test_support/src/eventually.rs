//! Waits for what other tasks and processes do.

use std::time::{Duration, Instant};

/// Timeout for every wait; only a hang takes so long.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

/// Time between two checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Calls `ask` repeatedly until it returns a value.
///
/// # Panics
/// Panics with `condition` at the timeout.
pub async fn eventually<T>(condition: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(begun.elapsed() < WAIT_TIMEOUT, "never came true: {condition}");
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
}

/// Calls `check` repeatedly until it returns true.
///
/// # Panics
/// Panics with `condition` at the timeout.
pub async fn until(condition: &str, mut check: impl AsyncFnMut() -> bool) {
    eventually(condition, async || check().await.then_some(())).await;
}
