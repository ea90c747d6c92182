//! A task in the background that goes on as long as its owner.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt;
use tokio::task::JoinHandle;
use tracing::error;

/// Pause before a task that ended begins again.
const PAUSE: Duration = Duration::from_secs(5);

/// A task that begins again when it panics or ends, and ends with its owner.
#[derive(Debug)]
#[must_use = "the task ends when this is dropped"]
pub struct Background(JoinHandle<()>);

impl Background {
    /// Runs what `task` gives, which is not meant to end; `name` is for the log.
    pub fn keep<F>(name: &'static str, task: impl FnMut() -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        Self::keep_after(PAUSE, name, task)
    }

    fn keep_after<F>(
        pause: Duration,
        name: &'static str,
        mut task: impl FnMut() -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        Self(tokio::spawn(async move {
            loop {
                // What the task shares outlives a panic in it as it would one in any other task.
                match AssertUnwindSafe(task()).catch_unwind().await {
                    Ok(()) => error!("`{name}` ended, and begins again in {pause:?}"),
                    Err(_) => error!("`{name}` panicked, and begins again in {pause:?}"),
                }
                tokio::time::sleep(pause).await;
            }
        }))
    }

    /// Ends the task at its next `.await`.
    pub fn stop(&self) {
        self.0.abort();
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_or_ends_begins_again() {
        let (runs, mut ran) = mpsc::unbounded_channel();
        let mut count = 0;
        let _kept = Background::keep_after(Duration::ZERO, "a test", move || {
            count += 1;
            let (count, runs) = (count, runs.clone());
            async move {
                runs.send(count).unwrap();
                assert!(count != 1, "on purpose");
            }
        });

        assert_eq!([ran.recv().await, ran.recv().await, ran.recv().await], [Some(1), Some(2), Some(3)]);
    }

    #[tokio::test]
    async fn a_task_ends_with_its_owner() {
        let (held, mut closed) = mpsc::channel::<()>(1);
        let kept = Background::keep("a test", move || {
            let held = held.clone();
            async move {
                let _held = held;
                std::future::pending::<()>().await;
            }
        });

        drop(kept);

        assert_eq!(closed.recv().await, None);
    }
}
