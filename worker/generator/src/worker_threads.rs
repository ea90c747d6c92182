//! Worker threads of a sampler, and the distribution of batches over them.
//!
//! On a CPU, every thread has its own batch, so none waits for another. A GPU needs thousands of strings at a time,
//! and drawing their tokens takes longer than the matrix products. There, all threads draw for one batch together,
//! and two batches alternate: while the GPU computes for one, the threads draw and check for the other.

use std::{num::NonZeroUsize, thread};

use candle_core::Result;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::engine::KernelStyle;

/// Slots of a batch on a CPU, a multiple of the tiles of the byte kernel. More slots would make matrix products a
/// little faster, but would slow down the last strings of a sample, when no new strings follow.
pub(crate) const SLOTS: usize = 128;
/// Slots of a batch in plain operations. Launching these costs a GPU as much as computing them for a thousand
/// strings.
const MANY_SLOTS: usize = 4096;
/// Alternating batches in plain operations.
const BATCHES_PER_THREAD: usize = 2;
/// Strings that justify another thread with its own batch.
const MIN_STRINGS_PER_THREAD: usize = 16;
/// Strings that justify another batch in plain operations.
const MIN_STRINGS_PER_BATCH: usize = 512;

/// Worker threads of a sampler.
#[derive(Debug)]
pub(crate) enum WorkerThreads {
    /// One single-threaded pool per thread. candle's matrix products spread over the rayon pool they run in, but
    /// spreading whole batches over threads is faster.
    Apart(Vec<ThreadPool>),
    /// One pool for all batches.
    Together(ThreadPool),
}

/// Resources of one batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchResources<'a> {
    /// Threads that draw and check.
    pub(crate) pool: &'a ThreadPool,
    /// Maximum number of strings generated at a time.
    pub(crate) slots: usize,
}

impl WorkerThreads {
    /// Starts `threads` threads for an engine with these operations.
    ///
    /// # Panics
    /// Panics if the operating system refuses threads.
    pub(crate) fn new(operations: KernelStyle, threads: NonZeroUsize) -> Self {
        let pool = |threads| {
            let name = |n| format!("sampler-{n}");
            let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build();
            pool.expect("the operating system gives a thread")
        };
        match operations {
            KernelStyle::Fused => Self::Apart((0..threads.get()).map(|_| pool(1)).collect()),
            KernelStyle::Plain => Self::Together(pool(threads.get())),
        }
    }

    /// Runs `work` at the same time for the number of batches that `size` strings justify.
    pub(crate) fn run(&self, size: usize, work: impl Fn(BatchResources) -> Result<()> + Sync) -> Result<()> {
        let (batches, slots) = match self {
            Self::Apart(pools) => (size.div_ceil(MIN_STRINGS_PER_THREAD).clamp(1, pools.len()), SLOTS),
            Self::Together(_) => {
                let batches = size.div_ceil(MIN_STRINGS_PER_BATCH).clamp(1, BATCHES_PER_THREAD);
                // Shared out evenly, so that the first batch does not take strings that the second could start.
                (batches, size.div_ceil(batches).clamp(MIN_STRINGS_PER_BATCH, MANY_SLOTS))
            }
        };
        let work = &work;
        thread::scope(|scope| {
            let begin = |n: usize| match self {
                Self::Apart(pools) => {
                    scope.spawn(move || pools[n].install(|| work(BatchResources { pool: &pools[n], slots })))
                }
                // Spawned outside the pool: a pool thread that waits for a part of one batch would otherwise pick up
                // another whole batch.
                Self::Together(pool) => scope.spawn(move || work(BatchResources { pool, slots })),
            };
            let threads: Vec<_> = (0..batches).map(begin).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("sampler: a thread panicked"))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{num::NonZeroUsize, sync::Mutex};

    use super::{SLOTS, WorkerThreads};
    use crate::engine::KernelStyle;

    /// Returns the slots of each batch that `size` strings are spread over, with three threads.
    fn slots(operations: KernelStyle, size: usize) -> Vec<usize> {
        let slots = Mutex::new(Vec::new());
        let worker_threads = WorkerThreads::new(operations, NonZeroUsize::new(3).unwrap());
        worker_threads
            .run(size, |resources| {
                slots.lock().unwrap().push(resources.slots);
                Ok(())
            })
            .unwrap();
        slots.into_inner().unwrap()
    }

    #[test]
    fn on_a_processor_every_thread_has_a_small_batch() {
        assert_eq!(slots(KernelStyle::Fused, 1), [SLOTS]);
        assert_eq!(slots(KernelStyle::Fused, 20), [SLOTS; 2]);
        assert_eq!(slots(KernelStyle::Fused, 10_000), [SLOTS; 3]);
    }

    #[test]
    fn plain_operations_have_one_or_two_batches_of_up_to_thousands() {
        assert_eq!(slots(KernelStyle::Plain, 1), [512]);
        assert_eq!(slots(KernelStyle::Plain, 512), [512]);
        assert_eq!(slots(KernelStyle::Plain, 2_000), [1_000; 2]);
        assert_eq!(slots(KernelStyle::Plain, 100_000), [4096; 2]);
    }
}
