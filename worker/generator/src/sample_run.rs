//! Run of a sample: the threads that draw its strings, and their checks.
//!
//! Every thread both generates and checks. Strings are checked a few dozen at a time, so that the network's weights
//! and the parser's tables do not displace each other from the caches.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use chem::{Limits, Molecule};
use parking_lot::{Condvar, Mutex};
use rayon::prelude::*;

use crate::{
    SampleBudget,
    decoration::Decoration,
    draw_options::MoleculeFilter,
    linking::Linking,
    molecule_collector::{MoleculeCollector, StringResult},
    string_batch::{self, GenerationContext, RawString, StringEnd, StringQueue},
    worker_threads::{BatchResources, WorkerThreads},
};

/// Strings that a thread checks at a time.
const CHECK_BATCH: usize = 32;
/// Interval at which a thread without strings to start checks its budget.
const BUDGET_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// State shared by the threads of a sample.
pub(crate) struct Run<'a> {
    budget: &'a SampleBudget,
    filter: Option<&'a dyn MoleculeFilter>,
    collector: Mutex<&'a mut MoleculeCollector>,
    /// Numbers of the strings that had arrived before the run.
    arrived_out_of_order: HashSet<u64>,
    /// Notified when results have been added.
    results_added: Condvar,
    /// Number of the next string to start.
    next_number: AtomicU64,
    /// Strings below this number are to be started, by the current estimate.
    limit: AtomicU64,
    over: AtomicBool,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        collector: &'a mut MoleculeCollector,
        budget: &'a SampleBudget,
        filter: Option<&'a dyn MoleculeFilter>,
    ) -> Self {
        Self {
            budget,
            filter,
            arrived_out_of_order: collector.early().collect(),
            results_added: Condvar::new(),
            next_number: AtomicU64::new(collector.next()),
            limit: AtomicU64::new(collector.expected()),
            collector: Mutex::new(collector),
            over: AtomicBool::new(false),
        }
    }

    /// Draws until the run is over, with as many batches as this number of strings justifies.
    pub(crate) fn draw(
        &self,
        threads: &WorkerThreads,
        strings: usize,
        source: GenerationContext<'_>,
    ) -> candle_core::Result<()> {
        threads.run(strings, |resources| {
            let mut worker =
                MoleculeBatch { run: self, source, resources, unchecked: Vec::new(), fault: None };
            loop {
                let generated = string_batch::generate(source, resources, &mut worker);
                if generated.is_err() {
                    self.end();
                }
                generated?;
                worker.check();
                worker.fault.take().map_or(Ok(()), Err)?;
                if !self.wait_for_work() {
                    return Ok(());
                }
            }
        })
    }

    fn add(&self, strings: impl IntoIterator<Item = (u64, StringResult)>) {
        let mut collector = self.collector.lock();
        collector.add(strings);
        self.limit.store(collector.expected(), Ordering::Relaxed);
        let over = collector.is_over();
        drop(collector);
        if over {
            self.end();
        }
        self.results_added.notify_all();
    }

    /// Waits until there are strings to start; returns false if there will be none.
    fn wait_for_work(&self) -> bool {
        let mut collector = self.collector.lock();
        while !self.is_over() {
            // When all started strings have arrived, at least one more is expected, so the wait always ends.
            if self.next_number.load(Ordering::Relaxed) < self.limit.load(Ordering::Relaxed) {
                return true;
            }
            self.results_added.wait_for(&mut collector, BUDGET_CHECK_INTERVAL);
        }
        false
    }

    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.results_added.notify_all();
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || self.budget.is_exhausted()
    }
}

/// One batch of a sample.
struct MoleculeBatch<'a, 'run> {
    run: &'a Run<'run>,
    source: GenerationContext<'a>,
    resources: BatchResources<'a>,
    unchecked: Vec<(u64, RawString)>,
    /// Failure of the network in a check, which ended the run.
    fault: Option<candle_core::Error>,
}

impl MoleculeBatch<'_, '_> {
    fn check(&mut self) {
        let unchecked = std::mem::take(&mut self.unchecked);
        let unchecked = match self.source.linking() {
            Some(linking) => match linked(linking, unchecked) {
                Ok(linked) => linked,
                Err(fault) => {
                    self.fault = Some(fault);
                    self.run.end();
                    return;
                }
            },
            None => unchecked,
        };
        let (decoration, filter) = (self.source.decoration, self.run.filter);
        let checked = |(number, raw): (u64, RawString)| (number, checked(&raw, decoration, filter));
        let checked: Vec<_> =
            self.resources.pool.install(|| unchecked.into_par_iter().map(checked).collect());
        self.run.add(checked);
    }
}

/// Joins the fragments to finished strings. A string to which that is not possible is hopeless.
fn linked(
    linking: Linking<'_>,
    strings: Vec<(u64, RawString)>,
) -> candle_core::Result<Vec<(u64, RawString)>> {
    let texts: Vec<&str> =
        strings.iter().map(|(_, raw)| if raw.end == StringEnd::EndToken { &*raw.text } else { "" }).collect();
    let joined = linking.join(&texts)?;
    let numbers = strings.iter().map(|(number, _)| *number);
    Ok(numbers
        .zip(joined.into_iter().map(|text| match text {
            Some(text) => RawString { text, end: StringEnd::EndToken },
            None => RawString { text: String::new(), end: StringEnd::Hopeless },
        }))
        .collect())
}

impl StringQueue for MoleculeBatch<'_, '_> {
    fn next(&mut self) -> Option<u64> {
        let limit = self.run.limit.load(Ordering::Relaxed);
        std::iter::from_fn(|| next_number(&self.run.next_number, limit))
            .find(|number| !self.run.arrived_out_of_order.contains(number))
    }

    fn take(&mut self, number: u64, raw: RawString) {
        self.unchecked.push((number, raw));
        if self.unchecked.len() == CHECK_BATCH * self.resources.pool.current_num_threads() {
            self.check();
        }
    }

    fn is_over(&self) -> bool {
        self.run.is_over()
    }
}

/// Checks a string. Radicals count as invalid, since they are not wanted.
fn checked(
    raw: &RawString,
    decoration: Option<&Decoration>,
    filter: Option<&dyn MoleculeFilter>,
) -> StringResult {
    if raw.end != StringEnd::EndToken {
        return StringResult::Invalid;
    }
    let Ok(molecule) = Molecule::parse(&raw.text, Limits::TARGET) else { return StringResult::Invalid };
    if molecule.has_radicals() || decoration.is_some_and(|it| !it.is_kept(&raw.text, &molecule)) {
        return StringResult::Invalid;
    }
    filter
        .and_then(|filter| filter.refusal(&molecule))
        .map_or_else(|| StringResult::Accepted(molecule.canonical_smiles()), StringResult::Refused)
}

/// Takes the next number below `limit`.
pub(crate) fn next_number(next_number: &AtomicU64, limit: u64) -> Option<u64> {
    next_number
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |number| (number < limit).then(|| number + 1))
        .ok()
}
