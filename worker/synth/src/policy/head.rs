//! The head of a long list of scores, as probabilities, without sorting the rest.

use pulp::{Arch, Simd, WithSimd};

use super::Ranked;

/// How many scores share a summary.
const BLOCK: usize = 16;

/// Turns the scores of all templates into the head of the list by probability (softmax): at most `limit`
/// templates, most probable first, ties by row.
pub fn most_probable(scores: &[f32], limit: usize) -> Vec<Ranked> {
    let Summary { greatest, total } = Arch::new().dispatch(Summarise { scores });
    let top = greatest.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let floor = floor(greatest, limit);
    let mut ranked: Vec<Ranked> = (0_u32..)
        .zip(scores)
        .filter(|&(_, &score)| score >= floor)
        .map(|(template, &score)| Ranked { template, probability: score })
        .collect();
    // A probability grows with its score, but two scores may round to one probability.
    let order =
        |a: &Ranked, b: &Ranked| b.probability.total_cmp(&a.probability).then(a.template.cmp(&b.template));
    if limit < ranked.len() {
        ranked.select_nth_unstable_by(limit, order);
        ranked.truncate(limit);
    }
    ranked.sort_unstable_by(order);
    for entry in &mut ranked {
        entry.probability = (entry.probability - top).exp() / total;
    }
    ranked
}

/// A score that at least `limit` scores reach, given the greatest of every block: those of the `limit` best blocks.
fn floor(mut greatest: Vec<f32>, limit: usize) -> f32 {
    match limit.checked_sub(1) {
        Some(last) if last < greatest.len() => {
            *greatest.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1
        }
        _ => f32::NEG_INFINITY,
    }
}

/// What one pass over the scores tells.
struct Summary {
    /// The greatest score of every [`BLOCK`].
    greatest: Vec<f32>,
    /// The softmax's denominator, for scores less the greatest of all.
    total: f32,
}

/// Summarises scores, compiled for the instruction sets that `pulp` finds at run time.
///
/// The order of summation is written out, so that every machine gets the same bits.
struct Summarise<'a> {
    scores: &'a [f32],
}

impl WithSimd for Summarise<'_> {
    type Output = Summary;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Summary {
        let (blocks, rest) = self.scores.as_chunks::<BLOCK>();
        let mut greatest: Vec<f32> = blocks.iter().map(|block| greatest_of(block)).collect();
        greatest.extend((!rest.is_empty()).then(|| greatest_of(rest)));
        let top = greatest_of(&greatest);
        let mut sums = [0.0_f32; BLOCK];
        for block in blocks {
            for (sum, score) in sums.iter_mut().zip(block) {
                *sum += exponential(score - top);
            }
        }
        let rest: f32 = rest.iter().map(|score| exponential(score - top)).sum();
        Summary { greatest, total: sums.iter().sum::<f32>() + rest }
    }
}

/// The greatest of finite numbers, in as many lanes as a register has.
#[inline(always)]
fn greatest_of(values: &[f32]) -> f32 {
    let greater = |a: f32, b: f32| if a > b { a } else { b };
    let (chunks, rest) = values.as_chunks::<16>();
    let mut lanes = [f32::NEG_INFINITY; 16];
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = greater(*lane, value);
        }
    }
    lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |a, &b| greater(a, b))
}

/// `e` to the power of `x`, for `x` of at most 0, to a relative error of 1e-6 (Cephes' `expf` without its special
/// cases): the library's function is a call for every number, which keeps the loop out of vector registers.
#[inline(always)]
fn exponential(x: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    /// Added to a small number, it leaves that number, rounded, in the last bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    let x = if x < -87.0 { -87.0 } else { x };
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let power = rounded - ROUND;
    let x = x - power * LN_2_HIGH - power * LN_2_LOW;
    let mut polynomial = 1.987_569_2e-4_f32;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        polynomial = polynomial * x + coefficient;
    }
    let scale = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    (polynomial * x * x + x + 1.0) * scale
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_sorting(scores: &[f32], limit: usize) -> Vec<u32> {
        let mut all: Vec<u32> = (0..scores.len() as u32).collect();
        all.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]).then(a.cmp(&b)));
        all.truncate(limit);
        all
    }

    proptest! {
        #[test]
        fn the_head_is_that_of_the_sorted_list(
            scores in prop::collection::vec((-40_i32..40).prop_map(|n| n as f32 / 4.0), 1..600),
            limit in 1_usize..700,
        ) {
            let ranked = most_probable(&scores, limit);

            let templates: Vec<u32> = ranked.iter().map(|entry| entry.template).collect();
            prop_assert_eq!(templates, by_sorting(&scores, limit));
            let total: f64 = scores.iter().map(|&score| f64::from(score).exp()).sum();
            for entry in ranked {
                let exact = f64::from(scores[entry.template as usize]).exp() / total;
                prop_assert!((f64::from(entry.probability) / exact - 1.0).abs() < 1e-5);
            }
        }

        #[test]
        fn exponentials_are_as_good_as_the_librarys(x in -87.0_f32..0.0) {
            prop_assert!((exponential(x) / x.exp() - 1.0).abs() < 1e-6);
        }
    }
}
