//! Samples: exactly as many distinct valid molecules as were asked for.
//!
//! A run is an endless sequence of strings, numbered from 0; string n depends on the seed and n
//! alone. Threads take stretches of it in turn, and a sample is the first `size` distinct valid
//! molecules in the order of the numbers: not of the clock. So the same seed gives the same sample
//! with any number of threads. (On the same kind of processor: another one may round differently.)

use std::{
    collections::{BTreeMap, HashSet},
    num::NonZeroUsize,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use candle_core::Device;
use chem::{Limits, Molecule};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{
    Budget, ModelPack, SampleError,
    network::Network,
    stream::{self, Raw, Stretch},
};

/// Strings of one stretch at least and at most. Few for a small sample, which should not wait for
/// more than it needs; many for a large one, since the end of every stretch is spent on a batch that
/// runs dry.
const STRETCH: (usize, usize) = (16, 512);
/// A sample is split in this many stretches, so that threads share it evenly.
const STRETCHES: usize = 16;
/// Strings drawn for each molecule wanted, and in any case, before a size counts as unreachable.
const ATTEMPTS: (u64, u64) = (20, 2_000);
/// Strings without a single new molecule after which a size counts as unreachable.
const BARREN: u64 = 2_000;

/// Draws molecules from one model; share it between threads.
#[derive(Debug)]
pub struct Sampler {
    pack: ModelPack,
    network: Network,
    /// One pool of one thread for every thread of the sampler: candle's matrix products spread over
    /// the rayon pool they run in, and spreading whole batches over threads is better.
    pools: Vec<ThreadPool>,
}

impl Sampler {
    /// Prepares the model on `device`, for as many threads as the machine has.
    ///
    /// # Errors
    /// Fails when the device cannot hold the model.
    ///
    /// # Panics
    /// Panics when the operating system refuses threads.
    pub fn new(pack: &ModelPack, device: Device) -> Result<Self, SampleError> {
        let network = Network::new(pack, &device)?;
        let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Ok(Self { pack: pack.clone(), network, pools: pools(threads) })
    }

    /// The same sampler on `threads` threads.
    ///
    /// # Panics
    /// Panics when the operating system refuses threads.
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { pools: pools(threads), ..self }
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
        if size == 0 {
            return Ok(Vec::new());
        }
        let run = Run::new(self, seed, size.div_ceil(STRETCHES).clamp(STRETCH.0, STRETCH.1));
        let harvest = Mutex::new(Harvest::new(size));
        run.on_all_threads(budget, canonical, |n, molecules| {
            harvest.lock().unwrap_or_else(PoisonError::into_inner).add(n, molecules)
        })?;

        let harvest = harvest.into_inner().unwrap_or_else(PoisonError::into_inner);
        match harvest.molecules.len() {
            reached if reached == size => Ok(harvest.molecules),
            reached if harvest.is_barren() => Err(SampleError::SizeUnreachable { wanted: size, reached }),
            _ => Err(SampleError::Interrupted),
        }
    }

    /// Draws `count` strings as the model writes them, valid or not, for evaluation.
    ///
    /// A string that reaches the pack's `max_length` is cut there.
    ///
    /// # Errors
    /// Fails when the network does.
    pub fn raw(&self, count: usize, seed: u64) -> Result<Vec<String>, SampleError> {
        let run = Run::new(self, seed, count.div_ceil(STRETCHES).clamp(STRETCH.0, STRETCH.1));
        let wanted = count.div_ceil(run.stretch_len);
        let stretches = Mutex::new(BTreeMap::new());
        run.on_all_threads(
            &Budget::unlimited(),
            |raw| raw.text,
            |n, texts| {
                let mut stretches = stretches.lock().unwrap_or_else(PoisonError::into_inner);
                stretches.insert(n, texts);
                // Later ones may come before earlier ones.
                let first = stretches.keys().zip(0..).take(wanted).filter(|(n, place)| *n == place);
                if first.count() == wanted { Next::Enough } else { Next::More }
            },
        )?;
        let stretches = stretches.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(stretches.into_values().flatten().take(count).collect())
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
        let mut state = self.network.start(strings.len())?;
        let eos = self.pack.vocabulary.eos();
        for step in 0..steps {
            let tokens: Vec<u32> = strings.iter().map(|string| *string.get(step).unwrap_or(&eos)).collect();
            let fresh = vec![step == 0; strings.len()];
            let logits = self.network.step(&tokens, &fresh, &mut state)?;
            for ((string, rows), logits) in
                strings.iter().zip(&mut rows).zip(logits.chunks_exact(self.pack.vocabulary.len()))
            {
                if step < string.len() {
                    rows.push(logits.to_vec());
                }
            }
        }
        Ok(rows)
    }
}

fn pools(threads: NonZeroUsize) -> Vec<ThreadPool> {
    let pool =
        |n| ThreadPoolBuilder::new().num_threads(1).thread_name(move |_| format!("sampler-{n}")).build();
    (0..threads.get()).map(|n| pool(n).expect("the operating system gives a thread")).collect()
}

/// The canonical SMILES of a string that is a molecule of one component.
fn canonical(raw: Raw) -> Option<String> {
    if !raw.ended || raw.text.is_empty() || raw.text.contains('.') {
        return None;
    }
    Molecule::parse(&raw.text, Limits::TARGET).ok().map(|molecule| molecule.canonical_smiles())
}

/// Whether a run has to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    More,
    Enough,
}

/// A run over all threads.
struct Run<'a> {
    sampler: &'a Sampler,
    seed: u64,
    stretch_len: usize,
    /// The next stretch that no thread has taken.
    next: AtomicU64,
    enough: AtomicBool,
}

impl<'a> Run<'a> {
    fn new(sampler: &'a Sampler, seed: u64, stretch_len: usize) -> Self {
        Self { sampler, seed, stretch_len, next: AtomicU64::new(0), enough: AtomicBool::new(false) }
    }

    /// Generates stretches until `take`, which gets each with its number, says that it has enough, or
    /// the budget is spent.
    fn on_all_threads<T: Clone + Send>(
        &self,
        budget: &Budget,
        ended: impl Fn(Raw) -> T + Sync,
        take: impl Fn(u64, Vec<T>) -> Next + Sync,
    ) -> Result<(), SampleError> {
        let work = || -> candle_core::Result<()> {
            while let Some((n, results)) = self.stretch(budget, &ended)? {
                if take(n, results) == Next::Enough {
                    self.enough.store(true, Ordering::Relaxed);
                }
            }
            Ok(())
        };
        thread::scope(|scope| {
            let threads: Vec<_> = self
                .sampler
                .pools
                .iter()
                .map(|pool| {
                    scope.spawn(|| {
                        pool.install(work).inspect_err(|_| self.enough.store(true, Ordering::Relaxed))
                    })
                })
                .collect();
            let results =
                threads.into_iter().map(|thread| thread.join().expect("sampler: a thread panicked"));
            results.collect::<candle_core::Result<Vec<()>>>()
        })?;
        Ok(())
    }

    /// Takes the next stretch and generates it; `None` when there is no reason to.
    fn stretch<T: Clone>(
        &self,
        budget: &Budget,
        ended: impl Fn(Raw) -> T,
    ) -> candle_core::Result<Option<(u64, Vec<T>)>> {
        let stop = || self.enough.load(Ordering::Relaxed) || budget.is_spent();
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        let first = n.wrapping_mul(self.stretch_len as u64);
        let stretch = Stretch { seed: self.seed, first, count: self.stretch_len };
        let strings = stream::generate(&self.sampler.network, &self.sampler.pack, stretch, stop, ended)?;
        Ok(strings.map(|strings| (n, strings)))
    }
}

/// Molecules in the order of their strings, though stretches come in any order.
struct Harvest {
    size: usize,
    molecules: Vec<String>,
    known: HashSet<String>,
    /// Stretches that came before one with a lower number.
    early: BTreeMap<u64, Vec<Option<String>>>,
    /// Number of the stretch to take next.
    next: u64,
    /// Strings taken so far.
    strings: u64,
    /// Strings since the last new molecule.
    since_new: u64,
}

impl Harvest {
    fn new(size: usize) -> Self {
        Self {
            size,
            molecules: Vec::with_capacity(size),
            known: HashSet::with_capacity(size),
            early: BTreeMap::new(),
            next: 0,
            strings: 0,
            since_new: 0,
        }
    }

    fn add(&mut self, n: u64, stretch: Vec<Option<String>>) -> Next {
        self.early.insert(n, stretch);
        while let Some(stretch) = self.early.remove(&self.next) {
            self.next += 1;
            for molecule in stretch {
                if self.is_complete() || self.is_barren() {
                    return Next::Enough;
                }
                self.take(molecule);
            }
        }
        if self.is_complete() || self.is_barren() { Next::Enough } else { Next::More }
    }

    fn take(&mut self, molecule: Option<String>) {
        self.strings += 1;
        self.since_new += 1;
        if let Some(molecule) = molecule
            && self.known.insert(molecule.clone())
        {
            self.molecules.push(molecule);
            self.since_new = 0;
        }
    }

    fn is_complete(&self) -> bool {
        self.molecules.len() == self.size
    }

    /// Whether the model has had its chance.
    fn is_barren(&self) -> bool {
        self.since_new >= BARREN || self.strings >= ATTEMPTS.0 * self.size as u64 + ATTEMPTS.1
    }
}
