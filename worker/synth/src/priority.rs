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
const LOOK: Duration = Duration::from_millis(20);

/// Urgency of a search, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Urgency {
    /// Interactive: a client waits for its answer.
    Awaited,
    /// Bulk: a client waits for the answers to many molecules at once.
    Many,
    /// Background, but a client will soon come back for the result.
    Asked,
    /// Background batch: no client waits for it.
    Batch,
}

impl Urgency {
    const COUNT: usize = 4;
}

/// Searches that share cores, counted by urgency.
#[derive(Debug, Default)]
pub struct PriorityScheduler {
    searches: [AtomicUsize; Urgency::COUNT],
    /// Lock held while a search leaves, so that a search about to pause does not miss it.
    leaving: Mutex<()>,
    left: Condvar,
}

/// Registration of a search with the scheduler, until its last clone is dropped. The default is an interactive
/// search, which is counted while it runs.
#[derive(Debug, Clone, Default)]
pub struct SearchPriority(Option<Arc<ScheduledSearch>>);

/// Entry of a search in the scheduler.
#[derive(Debug)]
pub struct ScheduledSearch {
    turns: Arc<PriorityScheduler>,
    urgency: Urgency,
    /// Nanoseconds for which it was paused.
    stood: AtomicU64,
}

impl PriorityScheduler {
    /// Registers a search of this urgency.
    pub fn turn(self: &Arc<Self>, urgency: Urgency) -> SearchPriority {
        SearchPriority(Some(self.place(urgency)))
    }

    /// Returns the scheduler entry of the search that `turn` belongs to.
    pub fn place_of(self: &Arc<Self>, turn: &SearchPriority) -> Arc<ScheduledSearch> {
        turn.0.as_ref().map_or_else(|| self.place(Urgency::Awaited), Arc::clone)
    }

    fn place(self: &Arc<Self>, urgency: Urgency) -> Arc<ScheduledSearch> {
        self.searches[urgency as usize].fetch_add(1, Ordering::SeqCst);
        Arc::new(ScheduledSearch { turns: Arc::clone(self), urgency, stood: AtomicU64::new(0) })
    }
}

impl SearchPriority {
    /// Returns true if the search is interactive: a client waits for this search alone.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.0.as_ref().is_none_or(|place| place.urgency == Urgency::Awaited)
    }

    /// Pauses while a more urgent search runs, unless cancelled, and no longer than until `latest`.
    pub(crate) fn stand_aside(&self, cancelled: &AtomicBool, latest: Option<Instant>) {
        let Some(place) = self.0.as_ref().filter(|place| place.must_stand_aside()) else { return };
        let begun = Instant::now();
        let has_time = || latest.is_none_or(|latest| Instant::now() < latest);
        let mut leaving = place.turns.leaving.lock();
        while place.must_stand_aside() && !cancelled.load(Ordering::Relaxed) && has_time() {
            place.turns.left.wait_for(&mut leaving, LOOK);
        }
        let stood = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        place.stood.fetch_add(stood, Ordering::Relaxed);
    }

    /// Returns true if a more urgent search runs.
    pub(crate) fn must_stand_aside(&self) -> bool {
        self.0.as_ref().is_some_and(|place| place.must_stand_aside())
    }

    /// Total time for which the search was paused.
    pub(crate) fn stood(&self) -> Duration {
        self.0
            .as_ref()
            .map_or(Duration::ZERO, |place| Duration::from_nanos(place.stood.load(Ordering::Relaxed)))
    }
}

impl ScheduledSearch {
    /// Returns true if a more urgent search runs.
    pub fn must_stand_aside(&self) -> bool {
        self.turns.searches[..self.urgency as usize].iter().any(|count| count.load(Ordering::SeqCst) > 0)
    }

    /// Number of searches of the same urgency, including this one.
    pub fn alike(&self) -> usize {
        self.turns.searches[self.urgency as usize].load(Ordering::Relaxed).max(1)
    }
}

impl Drop for ScheduledSearch {
    fn drop(&mut self) {
        let _leaving = self.turns.leaving.lock();
        self.turns.searches[self.urgency as usize].fetch_sub(1, Ordering::SeqCst);
        self.turns.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    /// Starts a thread that pauses for `turn` and sends its paused time when it resumes.
    fn standing(turn: SearchPriority, cancelled: Arc<AtomicBool>) -> mpsc::Receiver<Duration> {
        let (gone_on, heard) = mpsc::channel();
        thread::spawn(move || {
            turn.stand_aside(&cancelled, None);
            gone_on.send(turn.stood()).unwrap();
        });
        heard
    }

    const LONG: Duration = Duration::from_secs(60);
    const MOMENT: Duration = Duration::from_millis(50);

    #[test]
    fn the_most_urgent_search_goes_on_and_the_others_stand_until_it_is_over() {
        let turns = Arc::<PriorityScheduler>::default();
        let awaited = turns.turn(Urgency::Awaited);
        let batch = turns.turn(Urgency::Batch);

        let heard = standing(batch.clone(), Arc::default());

        assert!(!awaited.must_stand_aside() && batch.must_stand_aside());
        assert!(heard.recv_timeout(MOMENT).is_err());
        drop(awaited);
        // The thread may have been late to pause.
        assert!(heard.recv_timeout(LONG).unwrap() > Duration::ZERO);
        assert!(!batch.must_stand_aside());
    }

    #[test]
    fn one_that_somebody_comes_back_for_goes_before_one_of_many_and_after_one_that_is_waited_for() {
        let turns = Arc::<PriorityScheduler>::default();
        let (asked, batch) = (turns.turn(Urgency::Asked), turns.turn(Urgency::Batch));

        assert!(!asked.must_stand_aside() && batch.must_stand_aside());
        let _awaited = turns.place_of(&SearchPriority::default());
        assert!(asked.must_stand_aside() && batch.must_stand_aside());
    }

    #[test]
    fn many_at_once_come_after_one_that_is_waited_for_and_before_what_nobody_waits_for() {
        let turns = Arc::<PriorityScheduler>::default();
        let (many, asked) = (turns.turn(Urgency::Many), turns.turn(Urgency::Asked));

        assert!(!many.must_stand_aside() && asked.must_stand_aside());
        let _awaited = turns.turn(Urgency::Awaited);
        assert!(many.must_stand_aside());
    }

    #[test]
    fn one_that_has_an_end_by_everybodys_clock_stands_no_longer_than_that() {
        let turns = Arc::<PriorityScheduler>::default();
        let (_awaited, many) = (turns.turn(Urgency::Awaited), turns.turn(Urgency::Many));
        let end = Instant::now() + MOMENT;

        many.stand_aside(&AtomicBool::new(false), Some(end));

        assert!(Instant::now() >= end && many.must_stand_aside());
    }

    #[test]
    fn searches_of_one_urgency_do_not_wait_for_each_other() {
        let turns = Arc::<PriorityScheduler>::default();
        let (one, other) = (turns.turn(Urgency::Batch), turns.turn(Urgency::Batch));

        assert!(!one.must_stand_aside() && !other.must_stand_aside());
        assert_eq!(turns.place_of(&one).alike(), 2);
        assert_eq!(one.stood(), Duration::ZERO);
    }

    #[test]
    fn one_that_is_cancelled_stands_no_longer() {
        let turns = Arc::<PriorityScheduler>::default();
        let (_awaited, batch) = (turns.turn(Urgency::Awaited), turns.turn(Urgency::Batch));
        let cancelled = Arc::<AtomicBool>::default();

        let heard = standing(batch, Arc::clone(&cancelled));
        cancelled.store(true, Ordering::Relaxed);

        heard.recv_timeout(LONG).unwrap();
    }
}
