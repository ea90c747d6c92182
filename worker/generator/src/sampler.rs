//! Samples: exactly as many distinct valid molecules as were asked for.
//!
//! A run is an endless sequence of strings, numbered from 0; string n depends on the seed and n
//! alone. Threads take numbers in turn, and a sample is the first `size` distinct valid molecules in
//! the order of the numbers: not of the clock. So the same seed gives the same sample with any number
//! of threads; in bytes on any processor, in single precision on the same kind of processor. A GPU rounds sums by
//! the size of the batch, so there another number of strings may be other strings.
//!
//! Every thread generates and checks: strings are checked a few dozen at a time, so that neither the
//! network's weights nor the parser's tables are driven from the caches by turns.

use std::{
    collections::HashSet,
    num::NonZeroUsize,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use candle_core::Device;
use chem::{Limits, Molecule};
use rayon::prelude::*;

use crate::{
    Budget, ModelPack, Precision, SampleError,
    crew::{self, Berth, Crew},
    draft::Draft,
    engine::Engine,
    harvest::{Harvest, Tally},
    int8::ByteRates,
    stream::{self, End, Ends, Hopeless, Raw, Source},
};

/// Strings that a thread checks at a time.
const CHECKED_TOGETHER: usize = 32;
/// How long a thread that has nothing to begin waits before it looks at its budget again.
const PATIENCE: Duration = Duration::from_millis(20);

/// Draws molecules from one model; share it between threads.
#[derive(Debug)]
pub struct Sampler {
    pack: ModelPack,
    device: Device,
    engine: Engine,
    threads: NonZeroUsize,
    crew: Crew,
    /// Of the strings of all samples that nobody has asked for yet.
    tally: Mutex<Tally>,
}

impl Sampler {
    /// Prepares the model on `device`, for as many threads as the process may have cores.
    ///
    /// # Errors
    /// Fails when the device cannot hold the model.
    ///
    /// # Panics
    /// Panics when the operating system refuses threads.
    pub fn new(pack: &ModelPack, device: Device) -> Result<Self, SampleError> {
        Self::on_threads(pack, device, thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }

    /// Prepares the model on `device`, for `threads` threads: in bytes on the processor, in single precision elsewhere.
    ///
    /// # Errors
    /// Fails when the device cannot hold the model.
    ///
    /// # Panics
    /// Panics when the operating system refuses threads.
    pub fn on_threads(pack: &ModelPack, device: Device, threads: NonZeroUsize) -> Result<Self, SampleError> {
        let precision = if device.is_cpu() { Precision::Bytes } else { Precision::Single };
        let engine = Engine::new(pack, &device, precision)?;
        let crew = Crew::new(engine.operations(), threads);
        Ok(Self { pack: pack.clone(), device, engine, threads, crew, tally: Mutex::default() })
    }

    /// The same sampler on `threads` threads.
    ///
    /// # Panics
    /// Panics when the operating system refuses threads.
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, crew: Crew::new(self.engine.operations(), threads), ..self }
    }

    /// The same sampler with another precision; bytes run on the processor, whatever the device.
    ///
    /// # Errors
    /// Fails when the device cannot hold the model.
    ///
    /// # Panics
    /// Panics when the operating system refuses threads.
    pub fn with_precision(self, precision: Precision) -> Result<Self, SampleError> {
        let engine = Engine::new(&self.pack, &self.device, precision)?;
        Ok(self.with_engine(engine))
    }

    /// The same sampler with the reference network in batches of thousands, as on a GPU: on a processor it is
    /// slower than any other, and tells what a GPU would do.
    ///
    /// # Errors
    /// Fails when the device cannot hold the model.
    ///
    /// # Panics
    /// Panics when the operating system refuses threads.
    pub fn with_plain_operations(self) -> Result<Self, SampleError> {
        let engine = Engine::reference(&self.pack, &self.device)?;
        Ok(self.with_engine(engine))
    }

    fn with_engine(self, engine: Engine) -> Self {
        Self { engine, ..self }.with_threads(self.threads)
    }

    /// The pack that the molecules come from.
    #[must_use]
    pub fn pack(&self) -> &ModelPack {
        &self.pack
    }

    /// Draws `size` molecules: valid, of one component, canonical SMILES, no two the same.
    ///
    /// # Errors
    /// Fails when the budget is spent, and when the model cannot give `size` molecules: after
    /// `20 * size + 2,000` strings, or sooner when the last 2,000 held no new molecule.
    pub fn sample(&self, size: usize, seed: u64, budget: &Budget) -> Result<Vec<String>, SampleError> {
        let mut draft = Draft::new(size, seed);
        self.go_on(&mut draft, size, budget)?;
        Ok(draft.harvest.into_molecules())
    }

    /// Draws what the first `aim` molecules of `draft` lack, or all of them where those are fewer. What was drawn stays in it, whatever
    /// comes in between.
    ///
    /// # Errors
    /// As [`Self::sample`].
    pub fn go_on(&self, draft: &mut Draft, aim: usize, budget: &Budget) -> Result<(), SampleError> {
        let Draft { seed, harvest } = draft;
        let before = harvest.tally();
        harvest.aim_at(aim);
        if !harvest.is_over() {
            let missing = harvest.missing();
            self.draw(missing, self.source(*seed, Hopeless::Cut), &Run::new(harvest, budget))?;
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

    /// Draws until the run is over, for the sake of so many molecules.
    fn draw(&self, molecules: usize, source: Source<'_>, run: &Run<'_>) -> Result<(), SampleError> {
        self.crew.run(molecules, |berth| {
            let mut worker = Worker { run, berth, unchecked: Vec::new() };
            loop {
                let work = stream::generate(source, berth, &mut worker);
                if work.is_err() {
                    run.end();
                }
                work?;
                worker.check();
                if !run.wants_more() {
                    return Ok(());
                }
            }
        })?;
        Ok(())
    }

    fn count(&self, more: Tally) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.strings += more.strings;
        tally.valid += more.valid;
        tally.distinct += more.distinct;
    }

    /// What became of the strings of all samples that have ended since this was last asked.
    pub fn take_tally(&self) -> Tally {
        std::mem::take(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Draws `count` strings as the model writes them, valid or not, for evaluation.
    ///
    /// A string that reaches the pack's `max_length` is cut there. Where the pack constrains its strings, they
    /// are what [`Self::sample`] checks, and one that could not be brought to an end is empty.
    ///
    /// # Errors
    /// Fails when the network does.
    pub fn raw(&self, count: usize, seed: u64) -> Result<Vec<String>, SampleError> {
        let source = self.source(seed, Hopeless::Continue);
        let begun = AtomicU64::new(0);
        let texts = Mutex::new(vec![String::new(); count]);
        self.crew.run(count, |berth| {
            let hopeless = source.hopeless;
            let mut collector = Collector { begun: &begun, count: count as u64, hopeless, texts: &texts };
            stream::generate(source, berth, &mut collector)
        })?;
        Ok(texts.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Scores every next token of given strings of tokens, one row of logits after each token.
    ///
    /// Strings run as one batch, each in its slot; the first token of each is the pack's first token.
    ///
    /// # Errors
    /// Fails when the network does.
    ///
    /// # Panics
    /// Panics on a token that the vocabulary does not have.
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

    /// Measures the matrix products in bytes on one thread, for `time` by each instruction set that the processor has for
    /// them; none where another precision is chosen.
    #[must_use]
    pub fn byte_rates(&self, time: Duration) -> Vec<ByteRates> {
        match &self.engine {
            Engine::Bytes(network) => network.rates(crew::SLOTS, time),
            Engine::Reference(_) | Engine::Fused(_) => Vec::new(),
        }
    }

    /// What a run's strings are made of; `hopeless` is for packs that do not constrain them.
    fn source(&self, seed: u64, hopeless: Hopeless) -> Source<'_> {
        let hopeless = if self.pack.generation.constrained { Hopeless::Avoid } else { hopeless };
        Source { engine: &self.engine, pack: &self.pack, seed, hopeless }
    }
}

/// The canonical SMILES of a string that is a molecule; radicals are none that anybody asked for.
fn canonical(raw: &Raw) -> Option<String> {
    if raw.end != End::Itself {
        return None;
    }
    let molecule = Molecule::parse(&raw.text, Limits::TARGET).ok()?;
    (!molecule.has_radicals()).then(|| molecule.canonical_smiles())
}

/// The next number below `limit`.
fn next_number(begun: &AtomicU64, limit: u64) -> Option<u64> {
    begun
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |number| (number < limit).then(|| number + 1))
        .ok()
}

/// What the threads of a sample share.
struct Run<'a> {
    budget: &'a Budget,
    harvest: Mutex<&'a mut Harvest>,
    /// The numbers of strings that it had before.
    early: HashSet<u64>,
    /// Rung when the harvest has grown.
    grown: Condvar,
    /// The strings below it are begun.
    begun: AtomicU64,
    /// Those below it are to be begun, as far as is known.
    limit: AtomicU64,
    over: AtomicBool,
}

impl<'a> Run<'a> {
    fn new(harvest: &'a mut Harvest, budget: &'a Budget) -> Self {
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

    fn harvest(&self) -> MutexGuard<'_, &'a mut Harvest> {
        self.harvest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, strings: impl IntoIterator<Item = (u64, Option<String>)>) {
        let mut harvest = self.harvest();
        harvest.add(strings);
        self.limit.store(harvest.expected(), Ordering::Relaxed);
        let over = harvest.is_over();
        drop(harvest);
        if over {
            self.end();
        }
        self.grown.notify_all();
    }

    /// Waits until there are strings to begin; `false` when there will be none.
    fn wants_more(&self) -> bool {
        let mut harvest = self.harvest();
        while !self.is_over() {
            // When all that was begun has come, the harvest expects at least one more.
            if self.begun.load(Ordering::Relaxed) < self.limit.load(Ordering::Relaxed) {
                return true;
            }
            let waited = self.grown.wait_timeout(harvest, PATIENCE);
            harvest = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.grown.notify_all();
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || self.budget.is_spent()
    }
}

/// One batch of a sample.
struct Worker<'a, 'harvest> {
    run: &'a Run<'harvest>,
    berth: Berth<'a>,
    unchecked: Vec<(u64, Raw)>,
}

impl Worker<'_, '_> {
    fn check(&mut self) {
        let unchecked = std::mem::take(&mut self.unchecked);
        let checked = |(number, raw): (u64, Raw)| (number, canonical(&raw));
        let checked: Vec<_> = self.berth.pool.install(|| unchecked.into_par_iter().map(checked).collect());
        self.run.add(checked);
    }
}

impl Ends for Worker<'_, '_> {
    fn next(&mut self) -> Option<u64> {
        let limit = self.run.limit.load(Ordering::Relaxed);
        std::iter::from_fn(|| next_number(&self.run.begun, limit))
            .find(|number| !self.run.early.contains(number))
    }

    fn take(&mut self, number: u64, raw: Raw) {
        self.unchecked.push((number, raw));
        if self.unchecked.len() == CHECKED_TOGETHER * self.berth.pool.current_num_threads() {
            self.check();
        }
    }

    fn is_over(&self) -> bool {
        self.run.is_over()
    }
}

/// One batch of an evaluation.
struct Collector<'a> {
    begun: &'a AtomicU64,
    count: u64,
    hopeless: Hopeless,
    texts: &'a Mutex<Vec<String>>,
}

impl Ends for Collector<'_> {
    fn next(&mut self) -> Option<u64> {
        next_number(self.begun, self.count)
    }

    fn take(&mut self, number: u64, raw: Raw) {
        if raw.end == End::Itself || self.hopeless == Hopeless::Continue {
            let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
            // Below `count`, which is a length.
            texts[number as usize] = raw.text;
        }
    }

    fn is_over(&self) -> bool {
        false
    }
}
