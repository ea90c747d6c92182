//! Batches of molecules for one caller: spread over the cores, started in the order of the call.
//!
//! Each thread registers with the priority scheduler, so the process's searches count all of them. A search in the
//! batch therefore requests no helper that another one occupies, and the whole batch pauses for more urgent searches.
//! These searches record no trace: it would have a thousand times the spans of one search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use chem::Molecule;
use tracing::subscriber::{NoSubscriber, with_default};

use crate::priority::SearchUrgency;
use crate::search::planner::Planner;
use crate::steps::forward::{self, ForwardFailure, ForwardProduct, KnownStep};
use crate::steps::one_step::{Check, PrecursorSet, precursor_sets};
use crate::task::Budget;

/// Limits of a batch call.
#[derive(Debug, Clone)]
pub struct BatchLimits {
    /// Urgency of the call among the searches of the process.
    pub urgency: SearchUrgency,
    /// Wall-clock deadline, which pauses do not extend.
    pub latest: Instant,
    /// Cancellation flag. Unfinished items are skipped.
    pub cancelled: Arc<AtomicBool>,
}

/// Results of a batch call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchResult<R> {
    /// One result per item, in the order of the call; `None` for an item that was not reached.
    pub each: Vec<Option<R>>,
    /// Duration of the call without the time for which it was paused.
    pub worked: Duration,
}

impl Planner {
    /// Runs `work` on each of `items`, on all cores. `work` returns `None` if its budget is spent before it is done.
    ///
    /// # Panics
    /// Panics where `work` does.
    pub fn each<T: Sync, R: Send>(
        &self,
        items: &[T],
        allowance: &BatchLimits,
        work: impl Fn(&T, &Budget) -> Option<R> + Sync,
    ) -> BatchResult<R> {
        let started = Instant::now();
        let next = AtomicUsize::new(0);
        let run = |budget: &Budget| {
            let mut done = Vec::new();
            while !budget.spent() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else { break };
                done.push((at, work(item, budget)));
            }
            done
        };
        let threads = self.settings.cores.clamp(1, items.len().max(1));
        // Registers all threads with the scheduler before the first starts, which counts the others.
        let budgets: Vec<Budget> = (0..threads).map(|_| self.budget_for(allowance)).collect();
        let mut paused = Duration::ZERO;
        let mut each: Vec<Option<R>> = items.iter().map(|_| None).collect();
        thread::scope(|scope| {
            let run = &run;
            // Each thread unregisters at its end, so the last ones can use the others' cores.
            let start = |budget: Budget| {
                let work = move || (run(&budget), budget.priority.paused_time());
                scope.spawn(|| with_default(NoSubscriber::default(), work))
            };
            let running: Vec<_> = budgets.into_iter().map(start).collect();
            for thread in running {
                let (done, waited) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                paused = paused.max(waited);
                for (at, result) in done {
                    each[at] = result;
                }
            }
        });
        BatchResult { each, worked: started.elapsed().saturating_sub(paused) }
    }

    /// Returns the `most` probable sets of precursors of `product` whose steps pass this check, in the order of
    /// [`PrecursorSet`]s that chemists have probably used; `None` if the budget is spent first.
    #[must_use]
    pub fn precursor_sets(
        &self,
        product: &Molecule,
        (most, check): (usize, Check),
        budget: &Budget,
    ) -> Option<Vec<PrecursorSet>> {
        let sets = precursor_sets(&self.expander, product, (most, check), budget);
        self.searched();
        sets
    }

    /// Returns the step that makes `product` from these precursors with the template of this hash. It may take each
    /// precursor more than once. `None` if the model has no such step.
    #[must_use]
    pub fn known_step(&self, hash: &str, product: &Molecule, precursors: &[Molecule]) -> Option<KnownStep> {
        forward::known_step(&self.expander, hash, product, precursors)
    }

    /// Returns the product of the step from these molecules, its [precursors](KnownStep::precursors_with), if it
    /// passes the checks of a route's step; `None` if the budget is spent first.
    #[must_use]
    pub fn run_forwards(
        &self,
        step: &KnownStep,
        precursors: &[Molecule],
        budget: &Budget,
    ) -> Option<Result<ForwardProduct, ForwardFailure>> {
        let made = forward::run(&self.expander, step, precursors, budget);
        self.searched();
        made
    }

    fn budget_for(&self, allowance: &BatchLimits) -> Budget {
        Budget {
            priority: self.priority(allowance.urgency),
            latest: Some(allowance.latest),
            ..Budget::until(allowance.latest, Arc::clone(&allowance.cancelled))
        }
    }
}
