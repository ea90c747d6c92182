//! Search tasks and their budgets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chem::Molecule;

use crate::constraints::Constraints;
use crate::priority::SearchPriority;

/// Stop condition of a search, beside its [`Budget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Stops at the first validated route.
    FirstRoute,
    /// Stops when a validated route is not [doubtful](crate::Route::is_doubtful), and returns the best of those known
    /// then. If the budget is spent before, returns the best validated route.
    FirstSoundRoute,
    /// Stops when the budget is spent or nothing is left to try.
    Budget,
}

/// Policy on whether buying the target itself counts as a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetPurchase {
    /// Buying does not count.
    Mask,
    /// Buying counts, as a route without steps.
    Allow,
}

/// Order in which building-block variations of a backbone are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupOrder {
    /// Lowest route total first.
    Total,
    /// Cheapest first: fewest USD for a mole of the target, variations with a block of unknown price last.
    Cost,
}

/// One tree search.
#[derive(Debug, Clone)]
pub struct Task {
    /// Molecule to make.
    pub target: Molecule,
    /// Maximum number of reaction steps on any branch of a route.
    pub max_depth: u32,
    /// Stop condition.
    pub stop: Stop,
    /// Policy on buying the target.
    pub target_purchase: TargetPurchase,
    /// Maximum number of backbone groups returned.
    pub max_groups: usize,
    /// Maximum number of building-block variations returned for a backbone.
    pub max_group_size: usize,
    /// Order in which variations are kept.
    pub group_order: GroupOrder,
    /// Further constraints on routes.
    pub constraints: Constraints,
}

/// Time and expansion limits of a search.
///
/// A search given `max_expansions` and a deadline that it does not reach is reproducible.
#[derive(Debug, Clone)]
pub struct Budget {
    /// Deadline of the search with extraction and validation. Writing the result takes a few milliseconds more.
    pub deadline: Instant,
    /// Deadline of a search that has no route yet, if it is earlier; `None`: `deadline`.
    pub unsolved_deadline: Option<Instant>,
    /// Cancellation flag. The search returns what it has within one template application.
    pub cancelled: Arc<AtomicBool>,
    /// Maximum number of expansions; `None`: no limit.
    pub max_expansions: Option<u64>,
    /// Registration with the priority scheduler. Time for which the search is paused does not count: its deadline
    /// moves on by it.
    pub priority: SearchPriority,
    /// Wall-clock deadline, which pauses do not extend; `None`: only the search's own clock counts.
    pub latest: Option<Instant>,
}

impl Budget {
    /// Creates a budget that ends at `deadline`, or earlier when `cancelled` is set.
    #[must_use]
    pub fn until(deadline: Instant, cancelled: Arc<AtomicBool>) -> Self {
        Self {
            deadline,
            unsolved_deadline: None,
            cancelled,
            max_expansions: None,
            priority: SearchPriority::default(),
            latest: None,
        }
    }

    /// Returns the same budget limited to `time` from now, by its own clock.
    #[must_use]
    pub fn within(&self, time: Duration) -> Self {
        Self { deadline: self.deadline.min(self.now() + time), ..self.clone() }
    }

    /// Time by the search's own clock, which stops while the search is paused. Deadlines are by this clock.
    pub(crate) fn now(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.priority.paused_time()).unwrap_or(now)
    }

    /// Returns true if `deadline` has passed or the search is cancelled. Pauses for more urgent searches first, so
    /// only the search's own thread calls this.
    pub(crate) fn spent_at(&self, deadline: Instant) -> bool {
        self.priority.pause_while_preempted(&self.cancelled, self.latest);
        self.is_over(deadline)
    }

    /// Returns true if the budget is spent or cancelled.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.is_over(self.deadline)
    }

    /// Returns true if the search must end now.
    pub(crate) fn spent(&self) -> bool {
        self.spent_at(self.deadline)
    }

    /// Returns true if helpers can stop working for the search: it is over at `deadline`, cancelled or paused.
    pub(crate) fn needs_no_help(&self, deadline: Instant) -> bool {
        self.priority.is_preempted() || self.is_over(deadline)
    }

    fn is_over(&self, deadline: Instant) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || self.now() >= deadline
            || self.latest.is_some_and(|latest| Instant::now() >= latest)
    }
}
