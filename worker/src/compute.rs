//! Compute threads with low priority, so that threads that answer come first.
//!
//! Searches and samples use all cores for seconds. Handing out ready molecules, storing and answering need a core for
//! a millisecond, but would wait until a compute thread yields one. So compute threads have a lower priority (`nice`,
//! setpriority(2)): alone they get all cores, beside others about a tenth of one.

use tokio::task::JoinHandle;

/// Nice value of compute threads, from 0 to 19.
const COMPUTE_NICENESS: i32 = 10;

/// Nice value of background threads: beside other computing they get a tenth of a core.
const BACKGROUND_NICENESS: i32 = 19;

/// Runs `work` on a compute thread; threads that it starts inherit the priority.
pub fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    tokio::task::spawn_blocking(|| {
        // If the kernel refuses, all threads have the same priority.
        let _ = rustix::process::setpriority_process(None, COMPUTE_NICENESS);
        work()
    })
}

/// Runs background `work` on a thread of its own: a thread cannot regain its priority, so it cannot be reused.
pub fn compute_in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    tokio::task::spawn_blocking(|| {
        let thread = std::thread::spawn(|| {
            let _ = rustix::process::setpriority_process(None, BACKGROUND_NICENESS);
            work()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_computes_is_nicer_than_what_waits_for_it() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let own = priority();

        let (computing, started) =
            compute(move || (priority(), std::thread::spawn(priority).join().unwrap())).await.unwrap();

        assert_eq!((computing, started), (own.max(COMPUTE_NICENESS), own.max(COMPUTE_NICENESS)));
        assert_eq!(priority(), own);
        assert_eq!(compute_in_background(priority).await.unwrap(), own.max(BACKGROUND_NICENESS));
        assert_eq!(compute(priority).await.unwrap(), own.max(COMPUTE_NICENESS));
    }
}
