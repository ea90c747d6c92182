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

type Job = Box<dyn FnOnce() + Send>;

/// Returns the number of cores that the process may use, by its affinity and its control group: the default where no
/// number is set.
pub fn all_cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Helper threads and the count of the searches that share them.
pub struct HelperPool {
    cores: usize,
    turns: Arc<PriorityScheduler>,
    line: Arc<JobQueue>,
    helpers: Vec<JoinHandle<()>>,
}

/// The queue of jobs for the helpers.
#[derive(Default)]
struct JobQueue {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    closed: bool,
}

/// One search's registration for a share of the cores.
pub struct CoreShare<'a> {
    cores: &'a HelperPool,
    place: Arc<ScheduledSearch>,
}

impl HelperPool {
    /// Shares `cores` cores, at least one. A thread that cannot be started is left out.
    pub fn new(cores: usize) -> Self {
        let line = Arc::<JobQueue>::default();
        let helper = |number: usize| {
            let line = Arc::clone(&line);
            Builder::new().name(format!("search-helper-{number}")).spawn(move || line.work()).ok()
        };
        let helpers: Vec<_> = (1..cores).filter_map(helper).collect();
        Self { cores: helpers.len() + 1, turns: Arc::default(), line, helpers }
    }

    /// Registers the search with priority `turn`, until the seat is dropped.
    pub fn seat(&self, turn: &SearchPriority) -> CoreShare<'_> {
        CoreShare { cores: self, place: self.turns.place_of(turn) }
    }

    /// Returns the priority scheduler of the searches.
    pub fn turns(&self) -> &Arc<PriorityScheduler> {
        &self.turns
    }
}

impl Drop for HelperPool {
    fn drop(&mut self) {
        self.line.jobs.lock().closed = true;
        self.line.changed.notify_all();
        for helper in self.helpers.drain(..) {
            // Panics of jobs are caught in the helper.
            let _ = helper.join();
        }
    }
}

impl CoreShare<'_> {
    /// Returns the number of helpers that the search may use now.
    pub fn helpers(&self) -> usize {
        if self.place.must_stand_aside() {
            return 0;
        }
        (self.cores.cores / self.place.alike()).saturating_sub(1)
    }

    /// Queues `job` for a helper.
    pub fn help(&self, job: impl FnOnce() + Send + 'static) {
        self.cores.line.jobs.lock().waiting.push_back(Box::new(job));
        self.cores.line.changed.notify_one();
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
    fn next(&self) -> Option<Job> {
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
    use crate::priority::Urgency;

    #[test]
    fn a_search_alone_has_all_cores_and_several_share_them() {
        let cores = HelperPool::new(8);

        let first = cores.seat(&SearchPriority::default());
        let alone = first.helpers();
        let others = [cores.seat(&SearchPriority::default()), cores.seat(&SearchPriority::default())];
        let shared = first.helpers();
        drop(others);

        assert_eq!((alone, shared, first.helpers()), (7, 1, 7));
    }

    #[test]
    fn as_many_searches_as_cores_have_one_each() {
        let cores = HelperPool::new(3);

        let seats = [
            cores.seat(&SearchPriority::default()),
            cores.seat(&SearchPriority::default()),
            cores.seat(&SearchPriority::default()),
            cores.seat(&SearchPriority::default()),
        ];

        assert!(seats.iter().all(|seat| seat.helpers() == 0));
    }

    #[test]
    fn a_search_that_stands_aside_takes_no_core_from_the_one_that_it_stands_aside_for() {
        let cores = HelperPool::new(4);
        let batch = cores.seat(&cores.turns().turn(Urgency::Batch));

        let alone = batch.helpers();
        let awaited = cores.seat(&SearchPriority::default());

        assert_eq!((alone, batch.helpers(), awaited.helpers()), (3, 0, 3));
    }

    #[test]
    fn helpers_outlive_a_job_that_panics() {
        let cores = HelperPool::new(2);
        let (done, heard) = mpsc::channel();
        let seat = cores.seat(&SearchPriority::default());

        seat.help(|| panic!("a broken job"));
        seat.help(move || done.send(7).unwrap());

        assert_eq!(heard.recv_timeout(Duration::from_secs(60)), Ok(7));
    }
}
