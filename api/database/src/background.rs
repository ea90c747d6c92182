//! A background task that runs as long as its owner.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt;
use tokio::{runtime::Handle, task::JoinHandle};
use tracing::{Instrument, Span, error};

/// Pause before a task that ended is restarted.
const RESTART_DELAY: Duration = Duration::from_secs(5);

/// A task that is restarted when it panics or ends, and is stopped with its owner.
#[derive(Debug)]
#[must_use = "the task ends when this is dropped"]
pub struct Background(JoinHandle<()>);

impl Background {
    /// Runs and restarts the future of `task`, which is not meant to end; `name` is for the log.
    pub fn supervise<F>(name: &'static str, task: impl FnMut() -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        Self::keep_after(RESTART_DELAY, name, task)
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
                // State shared with the task survives a panic here as it would in any other task.
                match AssertUnwindSafe(task()).catch_unwind().await {
                    Ok(()) => error!("`{name}` ended and restarts in {pause:?}"),
                    Err(_) => error!("`{name}` panicked and restarts in {pause:?}"),
                }
                tokio::time::sleep(pause).await;
            }
        }))
    }

    /// Stops the task at its next `.await`.
    pub fn stop(&self) {
        self.0.abort();
    }
}

/// Runs `task` to its end, for a value that is dropped. Without a runtime the process is ending, and it does not run.
pub fn run_after_drop(task: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(task.instrument(Span::current()));
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
        let kept = Background::supervise("a test", move || {
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
