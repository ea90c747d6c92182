//! Sampling of exactly the requested number of distinct valid molecules.
//!
//! A run is an endless sequence of strings, numbered from 0. String n depends only on the seed and n. Threads take
//! the next numbers, and a sample is the first `size` distinct valid molecules in the order of the numbers, not of
//! time. So the same seed gives the same sample with any number of threads: in bytes on any CPU, in single precision
//! on the same kind of CPU. On a GPU, rounding depends on the batch size, so a different number of strings may give
//! different strings.
//!
//! Every thread both generates and checks. Strings are checked a few dozen at a time, so that the network's weights
//! and the parser's tables do not displace each other from the caches.

use std::{
    collections::HashSet,
    num::NonZeroUsize,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

use candle_core::Device;
use chem::{Limits, Molecule};
use parking_lot::{Condvar, Mutex};
use rayon::prelude::*;

use crate::{
    Budget, ModelPack, Precision, SampleError,
    engine::Engine,
    int8::ByteRates,
    molecule_collector::{MoleculeCollector, StringCounts},
    partial_sample::PartialSample,
    string_batch::{self, DeadEndPolicy, EndReason, GenerationContext, RawString, StringQueue},
    worker_threads::{self, BatchResources, WorkerThreads},
};

/// Strings that a thread checks at a time.
const CHECK_BATCH: usize = 32;
/// Interval at which a thread without strings to start checks its budget.
const BUDGET_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Draws molecules from one model; can be shared between threads.
#[derive(Debug)]
pub struct Sampler {
    pack: ModelPack,
    device: Device,
    engine: Engine,
    threads: NonZeroUsize,
    crew: WorkerThreads,
    /// Counts of the strings of all finished samples since the last `take_counts`.
    tally: Mutex<StringCounts>,
}

impl Sampler {
    /// Prepares the model on `device`, with one thread per core that the process may use.
    ///
    /// # Errors
    /// Fails if the device cannot hold the model.
    ///
    /// # Panics
    /// Panics if the operating system refuses threads.
    pub fn new(pack: &ModelPack, device: Device) -> Result<Self, SampleError> {
        Self::on_threads(pack, device, thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }

    /// Prepares the model on `device`, with `threads` threads: in bytes on the CPU, in single precision elsewhere.
    ///
    /// # Errors
    /// Fails if the device cannot hold the model.
    ///
    /// # Panics
    /// Panics if the operating system refuses threads.
    pub fn on_threads(pack: &ModelPack, device: Device, threads: NonZeroUsize) -> Result<Self, SampleError> {
        let precision = if device.is_cpu() { Precision::Bytes } else { Precision::Single };
        let engine = Engine::new(pack, &device, precision)?;
        let crew = WorkerThreads::new(engine.operations(), threads);
        Ok(Self { pack: pack.clone(), device, engine, threads, crew, tally: Mutex::default() })
    }

    /// Changes the number of threads to `threads`.
    ///
    /// # Panics
    /// Panics if the operating system refuses threads.
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, crew: WorkerThreads::new(self.engine.operations(), threads), ..self }
    }

    /// Changes the precision. Byte precision always runs on the CPU, whatever the device.
    ///
    /// # Errors
    /// Fails if the device cannot hold the model.
    ///
    /// # Panics
    /// Panics if the operating system refuses threads.
    pub fn with_precision(self, precision: Precision) -> Result<Self, SampleError> {
        let engine = Engine::new(&self.pack, &self.device, precision)?;
        Ok(self.with_engine(engine))
    }

    /// Switches to the reference network in batches of thousands, as on a GPU. On a CPU this is the slowest way, but
    /// it shows what a GPU would compute.
    ///
    /// # Errors
    /// Fails if the device cannot hold the model.
    ///
    /// # Panics
    /// Panics if the operating system refuses threads.
    pub fn with_plain_operations(self) -> Result<Self, SampleError> {
        let engine = Engine::reference(&self.pack, &self.device)?;
        Ok(self.with_engine(engine))
    }

    fn with_engine(self, engine: Engine) -> Self {
        Self { engine, ..self }.with_threads(self.threads)
    }

    /// Returns the pack that the molecules come from.
    #[must_use]
    pub fn pack(&self) -> &ModelPack {
        &self.pack
    }

    /// Draws `size` distinct valid molecules of one component, as canonical SMILES.
    ///
    /// # Errors
    /// Fails if the budget ends, or if the model cannot give `size` molecules: after `20 * size + 2,000` strings, or
    /// earlier if the last 2,000 gave no new molecule.
    pub fn sample(&self, size: usize, seed: u64, budget: &Budget) -> Result<Vec<String>, SampleError> {
        let mut draft = PartialSample::new(size, seed);
        self.resume(&mut draft, size, budget)?;
        Ok(draft.harvest.into_molecules())
    }

    /// Draws the molecules that `draft` lacks of its first `aim`, or of all if it is smaller. Molecules already drawn
    /// stay in the draft even if this fails.
    ///
    /// # Errors
    /// Fails as [`Self::sample`] does.
    pub fn resume(&self, draft: &mut PartialSample, aim: usize, budget: &Budget) -> Result<(), SampleError> {
        let PartialSample { seed, harvest } = draft;
        let before = harvest.tally();
        harvest.aim_at(aim);
        if !harvest.is_over() {
            let missing = harvest.missing();
            self.draw(missing, self.source(*seed, DeadEndPolicy::Cut), &Run::new(harvest, budget))?;
        }
        self.count(harvest.tally().since(before));
        if harvest.is_complete() {
            Ok(())
        } else if harvest.is_barren() {
            Err(SampleError::SizeUnreachable { wanted: harvest.size(), reached: harvest.molecules().len() })
        } else {
            Err(SampleError::Interrupted)
        }
    }

    /// Draws until the run is over, with the number of batches that `molecules` strings justify.
    fn draw(
        &self,
        molecules: usize,
        source: GenerationContext<'_>,
        run: &Run<'_>,
    ) -> Result<(), SampleError> {
        self.crew.run(molecules, |berth| {
            let mut worker = SampleBatch { run, berth, unchecked: Vec::new() };
            loop {
                let work = string_batch::generate(source, berth, &mut worker);
                if work.is_err() {
                    run.end();
                }
                work?;
                worker.check();
                if !run.wait_for_work() {
                    return Ok(());
                }
            }
        })?;
        Ok(())
    }

    fn count(&self, more: StringCounts) {
        let mut tally = self.tally.lock();
        tally.strings += more.strings;
        tally.valid += more.valid;
        tally.distinct += more.distinct;
    }

    /// Returns and resets the counts of the strings of all samples that ended since the last call.
    pub fn take_counts(&self) -> StringCounts {
        std::mem::take(&mut self.tally.lock())
    }

    /// Draws `count` strings as the model writes them, valid or not, for evaluation.
    ///
    /// A string that reaches the pack's `max_length` is cut there. With constrained decoding, the strings are those
    /// that [`Self::sample`] checks, and a string that could not be completed is empty.
    ///
    /// # Errors
    /// Fails if the network does.
    pub fn raw(&self, count: usize, seed: u64) -> Result<Vec<String>, SampleError> {
        let source = self.source(seed, DeadEndPolicy::Continue);
        let begun = AtomicU64::new(0);
        let texts = Mutex::new(vec![String::new(); count]);
        self.crew.run(count, |berth| {
            let hopeless = source.hopeless;
            let mut collector =
                EvaluationBatch { begun: &begun, count: count as u64, hopeless, texts: &texts };
            string_batch::generate(source, berth, &mut collector)
        })?;
        Ok(texts.into_inner())
    }

    /// Computes the logits after each token of the given strings, one row per token.
    ///
    /// Strings run as one batch, each in its slot. Each must start with the pack's first token.
    ///
    /// # Errors
    /// Fails if the network does.
    ///
    /// # Panics
    /// Panics on a token that is not in the vocabulary.
    pub fn logits(&self, strings: &[Vec<u32>]) -> Result<Vec<Vec<Vec<f32>>>, SampleError> {
        let steps = strings.iter().map(Vec::len).max().unwrap_or(0);
        let mut rows = vec![Vec::new(); strings.len()];
        let mut state = self.engine.start(strings.len())?;
        let eos = self.pack.vocabulary.eos();
        for step in 0..steps {
            let tokens: Vec<u32> = strings.iter().map(|string| *string.get(step).unwrap_or(&eos)).collect();
            let fresh = vec![step == 0; strings.len()];
            self.engine.step(&tokens, &fresh, &mut state)?;
            for ((string, rows), logits) in
                strings.iter().zip(&mut rows).zip(state.logits().chunks_exact(self.pack.vocabulary.len()))
            {
                if step < string.len() {
                    rows.push(logits.to_vec());
                }
            }
        }
        Ok(rows)
    }

    /// Measures the matrix products in bytes on one thread, for `time` with each instruction set that the CPU has for
    /// them. Empty with another precision.
    #[must_use]
    pub fn byte_rates(&self, time: Duration) -> Vec<ByteRates> {
        match &self.engine {
            Engine::Bytes(network) => network.rates(worker_threads::SLOTS, time),
            Engine::Reference(_) | Engine::Fused(_) => Vec::new(),
        }
    }

    /// Returns the source of a run's strings. `hopeless` applies to packs without constrained decoding.
    fn source(&self, seed: u64, hopeless: DeadEndPolicy) -> GenerationContext<'_> {
        let hopeless = if self.pack.generation.constrained { DeadEndPolicy::Avoid } else { hopeless };
        GenerationContext { engine: &self.engine, pack: &self.pack, seed, hopeless }
    }
}

/// Returns the canonical SMILES of a valid string. Radicals count as invalid, since they are not wanted.
fn canonical(raw: &RawString) -> Option<String> {
    if raw.end != EndReason::Itself {
        return None;
    }
    let molecule = Molecule::parse(&raw.text, Limits::TARGET).ok()?;
    (!molecule.has_radicals()).then(|| molecule.canonical_smiles())
}

/// Takes the next number below `limit`.
fn next_number(begun: &AtomicU64, limit: u64) -> Option<u64> {
    begun
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |number| (number < limit).then(|| number + 1))
        .ok()
}

/// State shared by the threads of a sample.
struct Run<'a> {
    budget: &'a Budget,
    harvest: Mutex<&'a mut MoleculeCollector>,
    /// Numbers of the strings that had arrived before the run.
    early: HashSet<u64>,
    /// Notified when results have been added.
    grown: Condvar,
    /// Number of the next string to start.
    begun: AtomicU64,
    /// Strings below this number are to be started, by the current estimate.
    limit: AtomicU64,
    over: AtomicBool,
}

impl<'a> Run<'a> {
    fn new(harvest: &'a mut MoleculeCollector, budget: &'a Budget) -> Self {
        Self {
            budget,
            early: harvest.early().collect(),
            grown: Condvar::new(),
            begun: AtomicU64::new(harvest.next()),
            limit: AtomicU64::new(harvest.expected()),
            harvest: Mutex::new(harvest),
            over: AtomicBool::new(false),
        }
    }

    fn add(&self, strings: impl IntoIterator<Item = (u64, Option<String>)>) {
        let mut harvest = self.harvest.lock();
        harvest.add(strings);
        self.limit.store(harvest.expected(), Ordering::Relaxed);
        let over = harvest.is_over();
        drop(harvest);
        if over {
            self.end();
        }
        self.grown.notify_all();
    }

    /// Waits until there are strings to start; returns false if there will be none.
    fn wait_for_work(&self) -> bool {
        let mut harvest = self.harvest.lock();
        while !self.is_over() {
            // When all started strings have arrived, at least one more is expected, so the wait always ends.
            if self.begun.load(Ordering::Relaxed) < self.limit.load(Ordering::Relaxed) {
                return true;
            }
            self.grown.wait_for(&mut harvest, BUDGET_CHECK_INTERVAL);
        }
        false
    }

    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.grown.notify_all();
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || self.budget.is_exhausted()
    }
}

/// One batch of a sample.
struct SampleBatch<'a, 'harvest> {
    run: &'a Run<'harvest>,
    berth: BatchResources<'a>,
    unchecked: Vec<(u64, RawString)>,
}

impl SampleBatch<'_, '_> {
    fn check(&mut self) {
        let unchecked = std::mem::take(&mut self.unchecked);
        let checked = |(number, raw): (u64, RawString)| (number, canonical(&raw));
        let checked: Vec<_> = self.berth.pool.install(|| unchecked.into_par_iter().map(checked).collect());
        self.run.add(checked);
    }
}

impl StringQueue for SampleBatch<'_, '_> {
    fn next(&mut self) -> Option<u64> {
        let limit = self.run.limit.load(Ordering::Relaxed);
        std::iter::from_fn(|| next_number(&self.run.begun, limit))
            .find(|number| !self.run.early.contains(number))
    }

    fn take(&mut self, number: u64, raw: RawString) {
        self.unchecked.push((number, raw));
        if self.unchecked.len() == CHECK_BATCH * self.berth.pool.current_num_threads() {
            self.check();
        }
    }

    fn is_over(&self) -> bool {
        self.run.is_over()
    }
}

/// One batch of an evaluation.
struct EvaluationBatch<'a> {
    begun: &'a AtomicU64,
    count: u64,
    hopeless: DeadEndPolicy,
    texts: &'a Mutex<Vec<String>>,
}

impl StringQueue for EvaluationBatch<'_> {
    fn next(&mut self) -> Option<u64> {
        next_number(self.begun, self.count)
    }

    fn take(&mut self, number: u64, raw: RawString) {
        if raw.end == EndReason::Itself || self.hopeless == DeadEndPolicy::Continue {
            let mut texts = self.texts.lock();
            // Fits, since it is below the length `count`.
            texts[number as usize] = raw.text;
        }
    }

    fn is_over(&self) -> bool {
        false
    }
}
