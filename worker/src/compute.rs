//! Threads that compute give way to those that answer.
//!
//! Searches and samples take all cores for seconds. What hands out molecules that lie ready, stores, and answers needs a core for
//! a millisecond, and whoever waits for that waits for each core that is not given up. So threads that compute have a lower
//! priority (`nice`, setpriority(2)): alone they have all cores, beside others about a tenth of one.

use tokio::task::JoinHandle;

/// How nice they are, of 0 to 19.
const NICE: i32 = 10;

/// How nice those are whose work nobody waits for: beside other computing they have a tenth of a core.
const NICEST: i32 = 19;

/// Runs `work` on a thread that computes; so do those that it starts.
pub fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    tokio::task::spawn_blocking(|| {
        // A kernel that refuses this has threads that are all alike.
        let _ = rustix::process::setpriority_process(None, NICE);
        work()
    })
}

/// Runs `work`, which nobody waits for, on a thread of its own: one that has become as nice as that cannot be used for anything else.
pub fn compute_aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    tokio::task::spawn_blocking(|| {
        let thread = std::thread::spawn(|| {
            let _ = rustix::process::setpriority_process(None, NICEST);
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

        assert_eq!((computing, started), (own.max(NICE), own.max(NICE)));
        assert_eq!(priority(), own);
        assert_eq!(compute_aside(priority).await.unwrap(), own.max(NICEST));
        assert_eq!(compute(priority).await.unwrap(), own.max(NICE));
    }
}
