//! Whose turn it is to compute: searches that nobody waits for stand aside while more urgent ones run.
//!
//! A search asks whenever it looks at the clock, which is several times a template, so that it stands still within a millisecond and
//! loses nothing: it goes on where it stood. The time for which it stands is not taken from its budget. Helpers never stand; they
//! drop what they were to do for a search that does.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a search that stands looks whether it is cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// Who waits for a search; the more urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Urgency {
    /// Somebody, for its answer.
    Awaited,
    /// Somebody, for the answers to many molecules at once.
    Many,
    /// Nobody, but somebody will soon come back for it.
    Asked,
    /// Nobody: it is one of many.
    Batch,
}

impl Urgency {
    const COUNT: usize = 4;
}

/// The searches that share cores, by their urgency.
#[derive(Debug, Default)]
pub struct Turns {
    searches: [AtomicUsize; Urgency::COUNT],
    /// Held where a search leaves, so that none that begins to stand misses it.
    leaving: Mutex<()>,
    left: Condvar,
}

/// A search's turn, until the last clone of it is dropped. By default it is that of a search that somebody waits for, which counts
/// while the search runs.
#[derive(Debug, Clone, Default)]
pub struct Turn(Option<Arc<Place>>);

/// A search's place among the others.
#[derive(Debug)]
pub struct Place {
    turns: Arc<Turns>,
    urgency: Urgency,
    /// Nanoseconds for which it stood aside.
    stood: AtomicU64,
}

impl Turns {
    /// The turn of a search of this urgency.
    pub fn turn(self: &Arc<Self>, urgency: Urgency) -> Turn {
        Turn(Some(self.place(urgency)))
    }

    /// The place of the search whose turn `turn` is.
    pub fn place_of(self: &Arc<Self>, turn: &Turn) -> Arc<Place> {
        turn.0.as_ref().map_or_else(|| self.place(Urgency::Awaited), Arc::clone)
    }

    fn place(self: &Arc<Self>, urgency: Urgency) -> Arc<Place> {
        self.searches[urgency as usize].fetch_add(1, Ordering::SeqCst);
        Arc::new(Place { turns: Arc::clone(self), urgency, stood: AtomicU64::new(0) })
    }

    fn leaving(&self) -> MutexGuard<'_, ()> {
        self.leaving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Whether somebody waits for the search and nothing else.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.0.as_ref().is_none_or(|place| place.urgency == Urgency::Awaited)
    }

    /// Stands aside while a more urgent search runs, unless cancelled, and no longer than until `latest`.
    pub(crate) fn stand_aside(&self, cancelled: &AtomicBool, latest: Option<Instant>) {
        let Some(place) = self.0.as_ref().filter(|place| place.must_stand_aside()) else { return };
        let begun = Instant::now();
        let has_time = || latest.is_none_or(|latest| Instant::now() < latest);
        let mut leaving = place.turns.leaving();
        while place.must_stand_aside() && !cancelled.load(Ordering::Relaxed) && has_time() {
            leaving = place
                .turns
                .left
                .wait_timeout(leaving, LOOK)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(guard, _)| guard);
        }
        let stood = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        place.stood.fetch_add(stood, Ordering::Relaxed);
    }

    /// Whether a more urgent search runs.
    pub(crate) fn must_stand_aside(&self) -> bool {
        self.0.as_ref().is_some_and(|place| place.must_stand_aside())
    }

    /// For how long the search has stood aside.
    pub(crate) fn stood(&self) -> Duration {
        self.0
            .as_ref()
            .map_or(Duration::ZERO, |place| Duration::from_nanos(place.stood.load(Ordering::Relaxed)))
    }
}

impl Place {
    /// Whether a more urgent search runs.
    pub fn must_stand_aside(&self) -> bool {
        self.turns.searches[..self.urgency as usize].iter().any(|count| count.load(Ordering::SeqCst) > 0)
    }

    /// How many searches are as urgent, this one among them.
    pub fn alike(&self) -> usize {
        self.turns.searches[self.urgency as usize].load(Ordering::Relaxed).max(1)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _leaving = self.turns.leaving();
        self.turns.searches[self.urgency as usize].fetch_sub(1, Ordering::SeqCst);
        self.turns.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    /// A thread that stands aside for `turn`, and tells when it goes on.
    fn standing(turn: Turn, cancelled: Arc<AtomicBool>) -> mpsc::Receiver<Duration> {
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
        let turns = Arc::<Turns>::default();
        let awaited = turns.turn(Urgency::Awaited);
        let batch = turns.turn(Urgency::Batch);

        let heard = standing(batch.clone(), Arc::default());

        assert!(!awaited.must_stand_aside() && batch.must_stand_aside());
        assert!(heard.recv_timeout(MOMENT).is_err());
        drop(awaited);
        // The thread may have come late to where it stands.
        assert!(heard.recv_timeout(LONG).unwrap() > Duration::ZERO);
        assert!(!batch.must_stand_aside());
    }

    #[test]
    fn one_that_somebody_comes_back_for_goes_before_one_of_many_and_after_one_that_is_waited_for() {
        let turns = Arc::<Turns>::default();
        let (asked, batch) = (turns.turn(Urgency::Asked), turns.turn(Urgency::Batch));

        assert!(!asked.must_stand_aside() && batch.must_stand_aside());
        let _awaited = turns.place_of(&Turn::default());
        assert!(asked.must_stand_aside() && batch.must_stand_aside());
    }

    #[test]
    fn many_at_once_come_after_one_that_is_waited_for_and_before_what_nobody_waits_for() {
        let turns = Arc::<Turns>::default();
        let (many, asked) = (turns.turn(Urgency::Many), turns.turn(Urgency::Asked));

        assert!(!many.must_stand_aside() && asked.must_stand_aside());
        let _awaited = turns.turn(Urgency::Awaited);
        assert!(many.must_stand_aside());
    }

    #[test]
    fn one_that_has_an_end_by_everybodys_clock_stands_no_longer_than_that() {
        let turns = Arc::<Turns>::default();
        let (_awaited, many) = (turns.turn(Urgency::Awaited), turns.turn(Urgency::Many));
        let end = Instant::now() + MOMENT;

        many.stand_aside(&AtomicBool::new(false), Some(end));

        assert!(Instant::now() >= end && many.must_stand_aside());
    }

    #[test]
    fn searches_of_one_urgency_do_not_wait_for_each_other() {
        let turns = Arc::<Turns>::default();
        let (one, other) = (turns.turn(Urgency::Batch), turns.turn(Urgency::Batch));

        assert!(!one.must_stand_aside() && !other.must_stand_aside());
        assert_eq!(turns.place_of(&one).alike(), 2);
        assert_eq!(one.stood(), Duration::ZERO);
    }

    #[test]
    fn one_that_is_cancelled_stands_no_longer() {
        let turns = Arc::<Turns>::default();
        let (_awaited, batch) = (turns.turn(Urgency::Awaited), turns.turn(Urgency::Batch));
        let cancelled = Arc::<AtomicBool>::default();

        let heard = standing(batch, Arc::clone(&cancelled));
        cancelled.store(true, Ordering::Relaxed);

        heard.recv_timeout(LONG).unwrap();
    }
}
