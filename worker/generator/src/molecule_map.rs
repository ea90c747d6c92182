//! Work on molecules that exist already, by the threads that draw.

use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use rayon::prelude::*;

use crate::{SampleBudget, sample_run::next_number, worker_threads::WorkerThreads};

/// Molecules that a thread takes at a time.
const CHUNK: usize = 32;

/// Returns the result of `work` for each of these molecules, in their order; for the first of them if the budget ends.
///
/// # Panics
/// Panics if `work` does.
pub(crate) fn map<M: Sync, T: Send>(
    threads: &WorkerThreads,
    molecules: &[M],
    work: impl Fn(&M) -> T + Sync,
    budget: &SampleBudget,
) -> Vec<T> {
    let size = match threads {
        WorkerThreads::Apart(_) => CHUNK,
        WorkerThreads::Together(pool) => CHUNK * pool.current_num_threads(),
    };
    let chunks: Vec<_> = molecules.chunks(size).collect();
    let results: Vec<_> = chunks.iter().map(|_| Mutex::new(None)).collect();
    let next_chunk = AtomicU64::new(0);
    let ended = threads.run(molecules.len(), |resources| {
        while !budget.is_exhausted()
            && let Some(number) = next_number(&next_chunk, chunks.len() as u64)
        {
            // Fits, since it is below a length.
            let number = number as usize;
            let chunk = chunks[number].par_iter().map(&work);
            *results[number].lock() = Some(resources.pool.install(|| chunk.collect::<Vec<_>>()));
        }
        Ok(())
    });
    ended.expect("map: the work returns no error");
    results.into_iter().map_while(Mutex::into_inner).flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::{num::NonZeroUsize, sync::atomic::Ordering, time::Instant};

    use super::*;
    use crate::engine::KernelStyle;

    #[test]
    fn results_are_in_order_and_end_with_the_budget() {
        let smiles: Vec<_> = (0..1_000).map(|number| number.to_string()).collect();
        for style in [KernelStyle::Fused, KernelStyle::Plain] {
            let threads = WorkerThreads::new(style, NonZeroUsize::new(3).unwrap());
            let budget = SampleBudget::unlimited();

            let all = map(&threads, &smiles, String::clone, &budget);
            let cancelled = |text: &String| {
                budget.cancelled.store(text.len() > 2, Ordering::Relaxed);
                text.clone()
            };
            let first = map(&threads, &smiles, cancelled, &budget);
            let late = SampleBudget { deadline: Some(Instant::now()), ..SampleBudget::unlimited() };

            assert_eq!(all, smiles);
            assert!((1..1_000).contains(&first.len()) && smiles.starts_with(&first), "{}", first.len());
            assert_eq!(map(&threads, &smiles, String::clone, &late), Vec::<String>::new());
        }
    }
}
