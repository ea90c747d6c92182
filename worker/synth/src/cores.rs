//! The cores of the machine, shared by the searches of a process.
//!
//! Every search computes on its own thread. If there are more cores than searches, the rest are helper threads that
//! precompute expansions for a search. A search may use as many helpers as its fair share allows, which is checked
//! again before every job. A job takes about a millisecond, so a new search soon gets its share. Searches preempted
//! by more urgent ones have no share.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle, available_parallelism};

use parking_lot::{Condvar, Mutex};

use crate::priority::{PriorityScheduler, ScheduledSearch, SearchPriority};

type HelperJob = Box<dyn FnOnce() + Send>;

/// Returns the number of cores that the process may use, by its affinity and its control group: the default where no
/// number is set.
pub fn all_cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Helper threads and the count of the searches that share them.
pub struct HelperPool {
    cores: usize,
    scheduler: Arc<PriorityScheduler>,
    queue: Arc<JobQueue>,
    helpers: Vec<JoinHandle<()>>,
}

/// The queue of jobs for the helpers.
#[derive(Default)]
struct JobQueue {
    jobs: Mutex<HelperJobs>,
    changed: Condvar,
}

#[derive(Default)]
struct HelperJobs {
    waiting: VecDeque<HelperJob>,
    closed: bool,
}

/// One search's registration for a share of the cores.
pub struct CoreShare<'a> {
    pool: &'a HelperPool,
    entry: Arc<ScheduledSearch>,
}

impl HelperPool {
    /// Shares `cores` cores, at least one. A thread that cannot be started is left out.
    pub fn new(cores: usize) -> Self {
        let queue = Arc::<JobQueue>::default();
        let helper = |number: usize| {
            let queue = Arc::clone(&queue);
            Builder::new().name(format!("search-helper-{number}")).spawn(move || queue.work()).ok()
        };
        let helpers: Vec<_> = (1..cores).filter_map(helper).collect();
        Self { cores: helpers.len() + 1, scheduler: Arc::default(), queue, helpers }
    }

    /// Registers the search with priority `priority`, until the share is dropped.
    pub fn core_share(&self, priority: &SearchPriority) -> CoreShare<'_> {
        CoreShare { pool: self, entry: self.scheduler.entry_of(priority) }
    }

    /// Returns the priority scheduler of the searches.
    pub fn scheduler(&self) -> &Arc<PriorityScheduler> {
        &self.scheduler
    }
}

impl Drop for HelperPool {
    fn drop(&mut self) {
        self.queue.jobs.lock().closed = true;
        self.queue.changed.notify_all();
        for helper in self.helpers.drain(..) {
            // Panics of jobs are caught in the helper.
            let _ = helper.join();
        }
    }
}

impl CoreShare<'_> {
    /// Returns the number of helpers that the search may use now.
    pub fn helpers(&self) -> usize {
        if self.entry.is_preempted() {
            return 0;
        }
        (self.pool.cores / self.entry.equally_urgent()).saturating_sub(1)
    }

    /// Queues `job` for a helper.
    pub fn submit(&self, job: impl FnOnce() + Send + 'static) {
        self.pool.queue.jobs.lock().waiting.push_back(Box::new(job));
        self.pool.queue.changed.notify_one();
    }
}

impl JobQueue {
    fn work(&self) {
        while let Some(job) = self.next() {
            // The requesting search does the same work itself and hits the same panic.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    /// Returns the next job; `None` once the queue is closed.
    fn next(&self) -> Option<HelperJob> {
        let mut jobs = self.jobs.lock();
        loop {
            if jobs.closed {
                return None;
            }
            match jobs.waiting.pop_front() {
                Some(job) => return Some(job),
                None => self.changed.wait(&mut jobs),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::priority::SearchUrgency;

    #[test]
    fn a_search_alone_has_all_cores_and_several_share_them() {
        let cores = HelperPool::new(8);

        let first = cores.core_share(&SearchPriority::default());
        let alone = first.helpers();
        let others =
            [cores.core_share(&SearchPriority::default()), cores.core_share(&SearchPriority::default())];
        let shared = first.helpers();
        drop(others);

        assert_eq!((alone, shared, first.helpers()), (7, 1, 7));
    }

    #[test]
    fn as_many_searches_as_cores_have_one_each() {
        let cores = HelperPool::new(3);

        let core_shares = [
            cores.core_share(&SearchPriority::default()),
            cores.core_share(&SearchPriority::default()),
            cores.core_share(&SearchPriority::default()),
            cores.core_share(&SearchPriority::default()),
        ];

        assert!(core_shares.iter().all(|core_share| core_share.helpers() == 0));
    }

    #[test]
    fn a_paused_search_takes_no_core_from_the_more_urgent_one() {
        let cores = HelperPool::new(4);
        let batch = cores.core_share(&cores.scheduler().register(SearchUrgency::Batch));

        let alone = batch.helpers();
        let interactive = cores.core_share(&SearchPriority::default());

        assert_eq!((alone, batch.helpers(), interactive.helpers()), (3, 0, 3));
    }

    #[test]
    fn helpers_outlive_a_job_that_panics() {
        let cores = HelperPool::new(2);
        let (done, results) = mpsc::channel();
        let core_share = cores.core_share(&SearchPriority::default());

        core_share.submit(|| panic!("a broken job"));
        core_share.submit(move || done.send(7).unwrap());

        assert_eq!(results.recv_timeout(Duration::from_secs(60)), Ok(7));
    }
}
