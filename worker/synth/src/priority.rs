//! Priority scheduler: background searches pause while more urgent ones run.
//!
//! A search asks the scheduler whenever it checks the clock, which is several times per template. It pauses within a
//! millisecond, loses nothing and resumes where it stopped. The paused time is not taken from its budget. Helpers
//! never pause; they drop their jobs for a paused search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Interval at which a paused search checks for cancellation.
const PAUSE_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Urgency of a search, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SearchUrgency {
    /// Interactive: a client waits for its answer.
    Interactive,
    /// Bulk: a client waits for the answers to many molecules at once.
    Bulk,
    /// Background, but a client will soon come back for the result.
    Background,
    /// Background batch: no client waits for it.
    Batch,
}

impl SearchUrgency {
    const COUNT: usize = 4;
}

/// Searches that share cores, counted by urgency.
#[derive(Debug, Default)]
pub struct PriorityScheduler {
    searches: [AtomicUsize; SearchUrgency::COUNT],
    /// Lock held while a search ends, so that a search about to pause does not miss it.
    finish_lock: Mutex<()>,
    finished: Condvar,
}

/// Registration of a search with the scheduler, until its last clone is dropped. The default is an interactive
/// search, which is counted while it runs.
#[derive(Debug, Clone, Default)]
pub struct SearchPriority(Option<Arc<ScheduledSearch>>);

/// Entry of a search in the scheduler.
#[derive(Debug)]
pub struct ScheduledSearch {
    scheduler: Arc<PriorityScheduler>,
    urgency: SearchUrgency,
    /// Nanoseconds for which it was paused.
    paused_nanos: AtomicU64,
}

impl PriorityScheduler {
    /// Registers a search of this urgency.
    pub fn register(self: &Arc<Self>, urgency: SearchUrgency) -> SearchPriority {
        SearchPriority(Some(self.scheduled_entry(urgency)))
    }

    /// Returns the scheduler entry of the search that `priority` belongs to.
    pub fn entry_of(self: &Arc<Self>, priority: &SearchPriority) -> Arc<ScheduledSearch> {
        priority.0.as_ref().map_or_else(|| self.scheduled_entry(SearchUrgency::Interactive), Arc::clone)
    }

    fn scheduled_entry(self: &Arc<Self>, urgency: SearchUrgency) -> Arc<ScheduledSearch> {
        self.searches[urgency as usize].fetch_add(1, Ordering::SeqCst);
        Arc::new(ScheduledSearch { scheduler: Arc::clone(self), urgency, paused_nanos: AtomicU64::new(0) })
    }
}

impl SearchPriority {
    /// Returns true if the search is interactive: a client waits for this search alone.
    #[must_use]
    pub fn is_interactive(&self) -> bool {
        self.0.as_ref().is_none_or(|entry| entry.urgency == SearchUrgency::Interactive)
    }

    /// Pauses while a more urgent search runs, unless cancelled, and no longer than until `latest`.
    pub(crate) fn pause_while_preempted(&self, cancelled: &AtomicBool, latest: Option<Instant>) {
        let Some(entry) = self.0.as_ref().filter(|entry| entry.is_preempted()) else { return };
        let begun = Instant::now();
        let has_time = || latest.is_none_or(|latest| Instant::now() < latest);
        let mut finish_lock = entry.scheduler.finish_lock.lock();
        while entry.is_preempted() && !cancelled.load(Ordering::Relaxed) && has_time() {
            entry.scheduler.finished.wait_for(&mut finish_lock, PAUSE_CHECK_INTERVAL);
        }
        let paused_nanos = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        entry.paused_nanos.fetch_add(paused_nanos, Ordering::Relaxed);
    }

    /// Returns true if a more urgent search runs.
    pub(crate) fn is_preempted(&self) -> bool {
        self.0.as_ref().is_some_and(|entry| entry.is_preempted())
    }

    /// Total time for which the search was paused.
    pub(crate) fn paused_time(&self) -> Duration {
        self.0
            .as_ref()
            .map_or(Duration::ZERO, |entry| Duration::from_nanos(entry.paused_nanos.load(Ordering::Relaxed)))
    }
}

impl ScheduledSearch {
    /// Returns true if a more urgent search runs.
    pub fn is_preempted(&self) -> bool {
        self.scheduler.searches[..self.urgency as usize].iter().any(|count| count.load(Ordering::SeqCst) > 0)
    }

    /// Number of searches of the same urgency, including this one.
    pub fn equally_urgent(&self) -> usize {
        self.scheduler.searches[self.urgency as usize].load(Ordering::Relaxed).max(1)
    }
}

impl Drop for ScheduledSearch {
    fn drop(&mut self) {
        let _finish_lock = self.scheduler.finish_lock.lock();
        self.scheduler.searches[self.urgency as usize].fetch_sub(1, Ordering::SeqCst);
        self.scheduler.finished.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    /// Starts a thread that pauses for `priority` and sends its paused time when it resumes.
    fn paused_search(priority: SearchPriority, cancelled: Arc<AtomicBool>) -> mpsc::Receiver<Duration> {
        let (resume, resumed) = mpsc::channel();
        thread::spawn(move || {
            priority.pause_while_preempted(&cancelled, None);
            resume.send(priority.paused_time()).unwrap();
        });
        resumed
    }

    const LONG: Duration = Duration::from_secs(60);
    const MOMENT: Duration = Duration::from_millis(50);

    #[test]
    fn the_most_urgent_search_runs_and_the_others_pause_until_it_ends() {
        let scheduler = Arc::<PriorityScheduler>::default();
        let interactive = scheduler.register(SearchUrgency::Interactive);
        let batch = scheduler.register(SearchUrgency::Batch);

        let resumed = paused_search(batch.clone(), Arc::default());

        assert!(!interactive.is_preempted() && batch.is_preempted());
        assert!(resumed.recv_timeout(MOMENT).is_err());
        drop(interactive);
        // The thread may have been late to pause.
        assert!(resumed.recv_timeout(LONG).unwrap() > Duration::ZERO);
        assert!(!batch.is_preempted());
    }

    #[test]
    fn an_asynchronous_search_goes_before_batches_and_after_interactive_ones() {
        let scheduler = Arc::<PriorityScheduler>::default();
        let (background, batch) =
            (scheduler.register(SearchUrgency::Background), scheduler.register(SearchUrgency::Batch));

        assert!(!background.is_preempted() && batch.is_preempted());
        let _interactive = scheduler.entry_of(&SearchPriority::default());
        assert!(background.is_preempted() && batch.is_preempted());
    }

    #[test]
    fn a_bulk_query_goes_after_interactive_searches_and_before_background_ones() {
        let scheduler = Arc::<PriorityScheduler>::default();
        let (bulk, background) =
            (scheduler.register(SearchUrgency::Bulk), scheduler.register(SearchUrgency::Background));

        assert!(!bulk.is_preempted() && background.is_preempted());
        let _interactive = scheduler.register(SearchUrgency::Interactive);
        assert!(bulk.is_preempted());
    }

    #[test]
    fn a_search_with_a_deadline_pauses_no_longer_than_its_deadline() {
        let scheduler = Arc::<PriorityScheduler>::default();
        let (_interactive, bulk) =
            (scheduler.register(SearchUrgency::Interactive), scheduler.register(SearchUrgency::Bulk));
        let end = Instant::now() + MOMENT;

        bulk.pause_while_preempted(&AtomicBool::new(false), Some(end));

        assert!(Instant::now() >= end && bulk.is_preempted());
    }

    #[test]
    fn searches_of_one_urgency_do_not_wait_for_each_other() {
        let scheduler = Arc::<PriorityScheduler>::default();
        let (one, other) =
            (scheduler.register(SearchUrgency::Batch), scheduler.register(SearchUrgency::Batch));

        assert!(!one.is_preempted() && !other.is_preempted());
        assert_eq!(scheduler.entry_of(&one).equally_urgent(), 2);
        assert_eq!(one.paused_time(), Duration::ZERO);
    }

    #[test]
    fn a_cancelled_search_resumes() {
        let scheduler = Arc::<PriorityScheduler>::default();
        let (_interactive, batch) =
            (scheduler.register(SearchUrgency::Interactive), scheduler.register(SearchUrgency::Batch));
        let cancelled = Arc::<AtomicBool>::default();

        let resumed = paused_search(batch, Arc::clone(&cancelled));
        cancelled.store(true, Ordering::Relaxed);

        resumed.recv_timeout(LONG).unwrap();
    }
}
