//! Many molecules for one caller: spread over the cores, begun in the order in which they were asked for.
//!
//! Each thread has a turn of its own, so that the searches of the process count them all: a search among these asks for no helper that
//! another of them is, and all of them stand aside for what is more urgent. They tell no trace, which would have a thousand times
//! the spans of one search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use chem::Molecule;
use tracing::subscriber::{NoSubscriber, with_default};

use crate::search::planner::Planner;
use crate::steps::forwards::{self, KnownStep, Made, NotMade};
use crate::steps::one_step::{Check, PrecursorSet, precursor_sets};
use crate::task::Budget;
use crate::turns::Urgency;

/// What a call for many molecules may take.
#[derive(Debug, Clone)]
pub struct Allowance {
    /// What comes before it.
    pub urgency: Urgency,
    /// It ends at this instant, however long it has stood aside.
    pub latest: Instant,
    /// Set by anyone: what is not done is left.
    pub cancelled: Arc<AtomicBool>,
}

/// What became of a call for many molecules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done<R> {
    /// One for each, in the order of the call; `None` for one that was not reached.
    pub each: Vec<Option<R>>,
    /// How long it took, without the time for which it stood aside.
    pub worked: Duration,
}

impl Planner {
    /// What `work` makes of each of `items`, on all cores; it gives `None` where its budget is spent before it is done.
    ///
    /// # Panics
    /// Panics where `work` does.
    pub fn each<T: Sync, R: Send>(
        &self,
        items: &[T],
        allowance: &Allowance,
        work: impl Fn(&T, &Budget) -> Option<R> + Sync,
    ) -> Done<R> {
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
        // All turns are taken before the first thread begins, which counts the others.
        let budgets: Vec<Budget> = (0..threads).map(|_| self.budget(allowance)).collect();
        let mut stood = Duration::ZERO;
        let mut each: Vec<Option<R>> = items.iter().map(|_| None).collect();
        thread::scope(|scope| {
            let run = &run;
            // Each gives its turn back at its end: the last ones have the other's cores.
            let start = |budget: Budget| {
                let work = move || (run(&budget), budget.turn.stood());
                scope.spawn(|| with_default(NoSubscriber::default(), work))
            };
            let running: Vec<_> = budgets.into_iter().map(start).collect();
            for thread in running {
                let (done, waited) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                stood = stood.max(waited);
                for (at, result) in done {
                    each[at] = result;
                }
            }
        });
        Done { each, worked: started.elapsed().saturating_sub(stood) }
    }

    /// The `most` probable sets of precursors of `product` whose steps stand this check, most probable first, ties by their canonical SMILES;
    /// `None` where the budget is spent before they are known.
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

    /// The step that makes `product` of these precursors, each of which it may take more than once, by the template of this hash; `None`
    /// where the model has none that does.
    #[must_use]
    pub fn known_step(&self, hash: &str, product: &Molecule, precursors: &[Molecule]) -> Option<KnownStep> {
        forwards::known_step(&self.expander, hash, product, precursors)
    }

    /// What the step gives of these molecules, as many as it [takes](KnownStep::taking), where that stands as a step of a route has to;
    /// `None` where the budget is spent before it is known.
    #[must_use]
    pub fn run_forwards(
        &self,
        step: &KnownStep,
        precursors: &[Molecule],
        budget: &Budget,
    ) -> Option<Result<Made, NotMade>> {
        let made = forwards::run(&self.expander, step, precursors, budget);
        self.searched();
        made
    }

    fn budget(&self, allowance: &Allowance) -> Budget {
        Budget {
            turn: self.turn(allowance.urgency),
            latest: Some(allowance.latest),
            ..Budget::until(allowance.latest, Arc::clone(&allowance.cancelled))
        }
    }
}
