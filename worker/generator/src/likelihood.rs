//! Likelihood of given strings under a model.

use candle_core::Result;

use crate::{engine::NetworkEngine, vocabulary::Vocabulary, worker_threads::SLOTS};

/// Strings whose likelihoods are computed together, and their places among all strings.
pub(crate) struct LikelihoodBatch {
    pub(crate) places: Vec<usize>,
    pub(crate) strings: Vec<Vec<u32>>,
}

/// Encodes molecules and distributes them over batches of strings of about the same length, since a batch takes as
/// long as its longest string. Molecules that the vocabulary cannot express are in none.
pub(crate) fn batches<'a>(
    smiles: impl Iterator<Item = &'a str>,
    vocabulary: &Vocabulary,
) -> Vec<LikelihoodBatch> {
    let encoded = smiles.enumerate().filter_map(|(place, text)| Some((place, vocabulary.encode(text)?)));
    let mut strings: Vec<(usize, Vec<u32>)> = encoded.collect();
    strings.sort_by_key(|(_, tokens)| tokens.len());
    let batch = |strings: &[(usize, Vec<u32>)]| {
        let (places, strings) = strings.iter().cloned().unzip();
        LikelihoodBatch { places, strings }
    };
    strings.chunks(SLOTS).map(batch).collect()
}

/// Returns the negative log-likelihood of each string in nats: that of all its tokens after the first, given those
/// before them, without masks and at temperature 1. `vocab` is the size of the vocabulary.
pub(crate) fn negative_log_likelihoods(
    engine: &NetworkEngine,
    vocab: usize,
    strings: &[Vec<u32>],
) -> Result<Vec<f64>> {
    let steps = strings.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(1);
    let mut sums = vec![0.0; strings.len()];
    if steps == 0 {
        return Ok(sums);
    }
    let mut state = engine.start(strings.len())?;
    for step in 0..steps {
        // A string that has ended is fed any token.
        let tokens: Vec<u32> = strings.iter().map(|string| string.get(step).copied().unwrap_or(0)).collect();
        engine.step(&tokens, &vec![step == 0; strings.len()], &mut state)?;
        for ((string, sum), logits) in strings.iter().zip(&mut sums).zip(state.logits().chunks_exact(vocab)) {
            if let Some(next) = string.get(step + 1) {
                *sum += surprise(logits, *next);
            }
        }
    }
    Ok(sums)
}

/// Returns the negative log-probability of a token.
fn surprise(logits: &[f32], token: u32) -> f64 {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - most).exp()).sum();
    f64::from(sum.ln() + most - logits[token as usize])
}
