//! Sampling of exactly the requested number of distinct valid molecules.
//!
//! A run is an endless sequence of strings, numbered from 0. String n depends only on the seed and n. Threads take
//! the next numbers, and a sample is the first `size` distinct valid molecules in the order of the numbers, not of
//! time. So the same seed gives the same sample with any number of threads: in bytes on any CPU, in single precision
//! on the same kind of CPU. On a GPU, rounding depends on the batch size, so a different number of strings may give
//! different strings.

use std::{num::NonZeroUsize, sync::atomic::AtomicU64, thread, time::Duration};

use candle_core::Device;
use parking_lot::Mutex;

use crate::{
    ModelPack, Precision, SampleBudget, SampleError,
    decoration::Decoration,
    draw_options::{DrawOptions, MoleculeFilter},
    engine::NetworkEngine,
    fixed_parts::FixedParts,
    int8::ByteRates,
    likelihood::{self, LikelihoodBatch, negative_log_likelihoods},
    molecule_collector::{AttemptLimits, StringCounts},
    molecule_map,
    partial_sample::PartialSample,
    sample_run::{Run, next_number},
    string_batch::{self, DeadEndPolicy, GenerationContext, RawString, StringEnd, StringQueue},
    worker_threads::{SLOTS, WorkerThreads},
};

/// Strings, at least, that a draw under conditions may need.
const MIN_CONDITIONED_STRINGS: usize = 512;

/// Draws molecules from one model; can be shared between threads.
#[derive(Debug)]
pub struct Sampler {
    pack: ModelPack,
    device: Device,
    engine: NetworkEngine,
    threads: NonZeroUsize,
    worker_threads: WorkerThreads,
    /// Counts of the strings of all finished samples since the last `take_counts`.
    counts: Mutex<StringCounts>,
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
        let engine = NetworkEngine::new(pack, &device, precision)?;
        let worker_threads = WorkerThreads::new(engine.operations(), threads);
        Ok(Self { pack: pack.clone(), device, engine, threads, worker_threads, counts: Mutex::default() })
    }

    /// Changes the number of threads to `threads`.
    ///
    /// # Panics
    /// Panics if the operating system refuses threads.
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, worker_threads: WorkerThreads::new(self.engine.operations(), threads), ..self }
    }

    /// Changes the precision. Byte precision always runs on the CPU, whatever the device.
    ///
    /// # Errors
    /// Fails if the device cannot hold the model.
    ///
    /// # Panics
    /// Panics if the operating system refuses threads.
    pub fn with_precision(self, precision: Precision) -> Result<Self, SampleError> {
        let engine = NetworkEngine::new(&self.pack, &self.device, precision)?;
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
        let engine = NetworkEngine::reference(&self.pack, &self.device)?;
        Ok(self.with_engine(engine))
    }

    fn with_engine(self, engine: NetworkEngine) -> Self {
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
    pub fn sample(&self, size: usize, seed: u64, budget: &SampleBudget) -> Result<Vec<String>, SampleError> {
        self.sample_filtered(size, seed, &DrawOptions::default(), None, budget)
    }

    /// Draws `size` distinct valid molecules of one component under `options`, all of which `filter` accepts, as
    /// canonical SMILES.
    ///
    /// # Errors
    /// Fails as [`Self::sample`] does; under conditions the model cannot give `size` molecules if 500,000 strings
    /// gave no new molecule, or if 2,000 of the accepted ones were known.
    pub fn sample_filtered(
        &self,
        size: usize,
        seed: u64,
        options: &DrawOptions,
        filter: Option<&dyn MoleculeFilter>,
        budget: &SampleBudget,
    ) -> Result<Vec<String>, SampleError> {
        let mut partial_sample = PartialSample::new(size, seed);
        self.resume_filtered(&mut partial_sample, size, options, filter, budget)?;
        Ok(partial_sample.collector.into_molecules())
    }

    /// Draws the molecules that `partial_sample` lacks of its first `target_count`, or of all if it is smaller.
    /// Molecules already drawn stay in it even if this fails.
    ///
    /// # Errors
    /// Fails as [`Self::sample`] does.
    pub fn resume(
        &self,
        partial_sample: &mut PartialSample,
        target_count: usize,
        budget: &SampleBudget,
    ) -> Result<(), SampleError> {
        self.resume_filtered(partial_sample, target_count, &DrawOptions::default(), None, budget)
    }

    /// Draws what `partial_sample` lacks, as [`Self::resume`] does, under the conditions of
    /// [`Self::sample_filtered`]. They must be the same each time.
    ///
    /// # Errors
    /// Fails as [`Self::sample_filtered`] does.
    pub fn resume_filtered(
        &self,
        partial_sample: &mut PartialSample,
        target_count: usize,
        options: &DrawOptions,
        filter: Option<&dyn MoleculeFilter>,
        budget: &SampleBudget,
    ) -> Result<(), SampleError> {
        let PartialSample { seed, collector } = partial_sample;
        let before = collector.tally();
        let is_plain = options.is_plain() && filter.is_none();
        collector.limit(if is_plain { AttemptLimits::PLAIN } else { AttemptLimits::CONDITIONED });
        collector.aim_at(target_count);
        if !collector.is_over() {
            let missing = collector.missing();
            let strings = if is_plain { missing } else { missing.max(MIN_CONDITIONED_STRINGS) };
            let decoration = options.fixed.as_ref().map(|fixed| self.decoration(fixed)).transpose()?;
            let source = self.source(*seed, DeadEndPolicy::Cut, options);
            let source = GenerationContext { decoration: decoration.as_ref(), ..source };
            Run::new(collector, budget, filter).draw(&self.worker_threads, strings, source)?;
        }
        self.count(collector.tally().since(before));
        if collector.is_complete() {
            Ok(())
        } else if collector.yields_nothing_new() {
            Err(SampleError::SizeUnreachable {
                wanted: collector.size(),
                reached: collector.molecules().len(),
                refused: collector.refused().to_vec(),
            })
        } else {
            Err(SampleError::Interrupted {
                reached: collector.molecules().len(),
                refused: collector.refused().to_vec(),
            })
        }
    }

    /// Prepares parts that every molecule contains.
    fn decoration(&self, fixed: &FixedParts) -> Result<Decoration, SampleError> {
        Decoration::new(fixed, &self.engine, &self.pack.vocabulary, self.pack.generation.max_length)
    }

    fn count(&self, more: StringCounts) {
        let mut counts = self.counts.lock();
        counts.strings += more.strings;
        counts.valid += more.valid;
        counts.refused += more.refused;
        counts.distinct += more.distinct;
    }

    /// Returns and resets the counts of the strings of all samples that ended since the last call.
    pub fn take_counts(&self) -> StringCounts {
        std::mem::take(&mut self.counts.lock())
    }

    /// Draws `count` strings as the model writes them, valid or not, for evaluation.
    ///
    /// A string that reaches the pack's `max_length` is cut there. With constrained decoding, the strings are those
    /// that [`Self::sample`] checks, and a string that could not be completed is empty.
    ///
    /// # Errors
    /// Fails if the network does.
    pub fn raw(&self, count: usize, seed: u64) -> Result<Vec<String>, SampleError> {
        let source = self.source(seed, DeadEndPolicy::Continue, &DrawOptions::default());
        let next_number = AtomicU64::new(0);
        let texts = Mutex::new(vec![String::new(); count]);
        self.worker_threads.run(count, |resources| {
            let dead_ends = source.dead_ends;
            let mut collector =
                EvaluationBatch { next_number: &next_number, count: count as u64, dead_ends, texts: &texts };
            string_batch::generate(source, resources, &mut collector)
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

    /// Computes the negative log-likelihoods of molecules under the model, in nats: of their strings as given, which
    /// should be canonical SMILES. Without masks, at temperature 1. `None` in place of a string that the vocabulary
    /// cannot express.
    ///
    /// # Errors
    /// Fails if the network does.
    pub fn likelihoods(&self, smiles: &[impl AsRef<str>]) -> Result<Vec<Option<f64>>, SampleError> {
        let batches = likelihood::batches(smiles.iter().map(AsRef::as_ref), &self.pack.vocabulary);
        let next_batch = AtomicU64::new(0);
        let losses = Mutex::new(vec![None; smiles.len()]);
        self.worker_threads.run(smiles.len(), |_| {
            while let Some(batch) = next_number(&next_batch, batches.len() as u64) {
                let LikelihoodBatch { places, strings } = &batches[batch as usize];
                let found = negative_log_likelihoods(&self.engine, self.pack.vocabulary.len(), strings)?;
                let mut losses = losses.lock();
                places.iter().zip(found).for_each(|(place, loss)| losses[*place] = Some(loss));
            }
            Ok(())
        })?;
        Ok(losses.into_inner())
    }

    /// Returns the result of `work` for each of these molecules, in their order; for the first of them if the budget
    /// ends. The threads that draw compute it.
    ///
    /// # Panics
    /// Panics if `work` does.
    pub fn map<M: Sync, T: Send>(
        &self,
        molecules: &[M],
        work: impl Fn(&M) -> T + Sync,
        budget: &SampleBudget,
    ) -> Vec<T> {
        molecule_map::map(&self.worker_threads, molecules, work, budget)
    }

    /// Measures the matrix products in bytes on one thread, for `time` with each instruction set that the CPU has for
    /// them. Empty with another precision.
    #[must_use]
    pub fn byte_rates(&self, time: Duration) -> Vec<ByteRates> {
        match &self.engine {
            NetworkEngine::Bytes(network) => network.rates(SLOTS, time),
            NetworkEngine::Reference(_) | NetworkEngine::Fused(_) => Vec::new(),
        }
    }

    /// Returns the source of a run's strings. `dead_ends` applies to packs without constrained decoding.
    fn source(&self, seed: u64, dead_ends: DeadEndPolicy, options: &DrawOptions) -> GenerationContext<'_> {
        let settings = options.settings(self.pack.generation);
        let dead_ends = if settings.constrained { DeadEndPolicy::Avoid } else { dead_ends };
        GenerationContext {
            engine: &self.engine,
            vocabulary: &self.pack.vocabulary,
            settings,
            seed,
            dead_ends,
            decoration: None,
        }
    }
}

/// One batch of an evaluation.
struct EvaluationBatch<'a> {
    next_number: &'a AtomicU64,
    count: u64,
    dead_ends: DeadEndPolicy,
    texts: &'a Mutex<Vec<String>>,
}

impl StringQueue for EvaluationBatch<'_> {
    fn next(&mut self) -> Option<u64> {
        next_number(self.next_number, self.count)
    }

    fn take(&mut self, number: u64, raw: RawString) {
        if raw.end == StringEnd::EndToken || self.dead_ends == DeadEndPolicy::Continue {
            let mut texts = self.texts.lock();
            // Fits, since it is below the length `count`.
            texts[number as usize] = raw.text;
        }
    }

    fn is_over(&self) -> bool {
        false
    }
}
