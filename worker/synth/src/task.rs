//! What a search is asked to do, and how long it may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chem::Molecule;

use crate::constraints::Constraints;
use crate::turns::Turn;

/// When a search ends, other than by its [`Budget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// At the first validated route.
    FirstRoute,
    /// When the budget is spent or nothing is left to try.
    Budget,
}

/// Whether buying the target itself counts as a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trivial {
    /// It does not.
    Mask,
    /// It does: a route of no steps.
    Allow,
}

/// Which building-block variations of a backbone are kept first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupOrder {
    /// Those of the routes with the lowest total.
    Total,
    /// The cheapest: fewest USD for a mole of the target, those with a block of unknown price last.
    Cost,
}

/// One tree search.
#[derive(Debug, Clone)]
pub struct Task {
    /// The molecule to make.
    pub target: Molecule,
    /// Most reaction steps on any branch of a route.
    pub max_depth: u32,
    /// When to stop.
    pub stop: Stop,
    /// Whether the target may be bought.
    pub trivial: Trivial,
    /// Most backbone groups returned.
    pub max_groups: usize,
    /// Most building-block variations returned for a backbone.
    pub max_group_size: usize,
    /// Which variations are kept first.
    pub group_order: GroupOrder,
    /// What routes must, may and may not do beside that.
    pub constraints: Constraints,
}

/// How long a search may take.
///
/// A search given `max_expansions` and a deadline that it does not reach is reproducible.
#[derive(Debug, Clone)]
pub struct Budget {
    /// The search, with extraction and validation, ends at this instant. Writing the plan down takes a few
    /// milliseconds more.
    pub deadline: Instant,
    /// Set by anyone: the search returns what it has within one template application.
    pub cancelled: Arc<AtomicBool>,
    /// Most expansions; `None`: no limit.
    pub max_expansions: Option<u64>,
    /// Whose turn comes before this search's. The time for which it stands aside is not the search's own: its deadline moves on by it.
    pub turn: Turn,
    /// It ends at this instant however long it has stood aside; `None`: its own clock alone counts.
    pub latest: Option<Instant>,
}

impl Budget {
    /// A budget that ends at `deadline`, or earlier when `cancelled` is set.
    #[must_use]
    pub fn until(deadline: Instant, cancelled: Arc<AtomicBool>) -> Self {
        Self { deadline, cancelled, max_expansions: None, turn: Turn::default(), latest: None }
    }

    /// The same for at most `time` from now, by its own clock.
    #[must_use]
    pub fn within(&self, time: Duration) -> Self {
        Self { deadline: self.deadline.min(self.now() + time), ..self.clone() }
    }

    /// The time by the search's own clock, which stands while the search stands aside; deadlines are by this clock.
    pub(crate) fn now(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.turn.stood()).unwrap_or(now)
    }

    /// Whether `deadline` has passed or the search is cancelled. Stands aside for more urgent searches first: the search's own thread
    /// alone asks this.
    pub(crate) fn spent_at(&self, deadline: Instant) -> bool {
        self.turn.stand_aside(&self.cancelled, self.latest);
        self.is_over(deadline)
    }

    /// Whether it is spent or cancelled.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.is_over(self.deadline)
    }

    /// Whether the search must end now.
    pub(crate) fn spent(&self) -> bool {
        self.spent_at(self.deadline)
    }

    /// Whether a helper has nothing more to do for the search: it is over at `deadline` or cancelled, or stands aside.
    pub(crate) fn needs_no_help(&self, deadline: Instant) -> bool {
        self.turn.must_stand_aside() || self.is_over(deadline)
    }

    fn is_over(&self, deadline: Instant) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || self.now() >= deadline
            || self.latest.is_some_and(|latest| Instant::now() >= latest)
    }
}
