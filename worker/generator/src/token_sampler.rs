//! Draw of the next token from the model's distribution under temperature and top-p.
//!
//! Top-p is nucleus sampling (Holtzman et al., ICLR 2020): the smallest set of most probable tokens whose
//! probabilities reach `top_p`. Ties go to the lower id.
//!
//! If a drawn token cannot continue the string, another is drawn from the tokens that can, in proportion to their
//! probabilities. This samples the model's distribution, restricted to the fitting tokens and renormalised. Yet in
//! most cases only one token is examined, since the others only matter if the first one does not fit. If the fitting
//! tokens have almost no probability, the string went wrong earlier and any continuation would be far-fetched. In
//! that case no token is drawn.

use pulp::{Arch, Simd, WithSimd};
use rand::{Rng, RngExt};

use crate::{config::GenerationConfig, gates::exp, vocabulary::Vocabulary};

/// Tokens whose weights are summed together. Summing one by one would wait for every addition, and with a large
/// vocabulary a search token by token would take longer than the network.
const BLOCK: usize = 16;

/// Minimum share of the probability that must fit for a token to be drawn again. Of the strings that continued with
/// less, two in three could not be completed.
const MIN_FITTING_SHARE: f32 = 0.3;

/// Draws tokens; holds only settings and buffers.
#[derive(Debug)]
pub(crate) struct TokenSampler {
    arch: Arch,
    scale: f32,
    top_p: f32,
    /// 0 for a token that can be drawn, else minus infinity. The padding of the last block is minus infinity too.
    barred: Vec<[f32; BLOCK]>,
    eos: u32,
    token_weights: Vec<[f32; BLOCK]>,
    /// Sum of the weights of each block.
    sums: Vec<f32>,
    /// Weights of the tokens that have not been checked by `fits`.
    initial_weights: Vec<[f32; BLOCK]>,
    order: Vec<u32>,
}

impl TokenSampler {
    pub(crate) fn new(vocabulary: &Vocabulary, settings: GenerationConfig) -> Self {
        let (temperature, top_p) = (settings.temperature as f32, settings.top_p as f32);
        Self::of(temperature, top_p, &vocabulary.can_be_drawn(), vocabulary.eos())
    }

    fn of(temperature: f32, top_p: f32, can_be_drawn: &[bool], eos: u32) -> Self {
        let mut barred = vec![[f32::NEG_INFINITY; BLOCK]; can_be_drawn.len().div_ceil(BLOCK)];
        let tokens = barred.as_flattened_mut().iter_mut().zip(can_be_drawn);
        for (barred, _) in tokens.filter(|(_, can)| **can) {
            *barred = 0.0;
        }
        Self {
            arch: Arch::new(),
            scale: 1.0 / temperature,
            top_p,
            token_weights: barred.clone(),
            initial_weights: barred.clone(),
            sums: vec![0.0; barred.len()],
            barred,
            eos,
            order: Vec::new(),
        }
    }

    /// Draws from the distribution of `logits`, `[vocab]`, restricted to the tokens that are `allowed`, if given.
    ///
    /// If the logits are not a distribution (the network overflowed), the string ends.
    pub(crate) fn next(&mut self, logits: &[f32], allowed: Option<&[bool]>, rng: &mut impl Rng) -> u32 {
        self.weigh(logits, allowed);
        self.pick(rng).unwrap_or(self.eos)
    }

    /// Draws from the same distribution, restricted to the tokens for which `fits` returns true.
    ///
    /// Returns `None` if their probability is too small: see `MIN_FITTING_SHARE`. If only some tokens are `allowed`, any
    /// probability suffices. The token drawn is the last that `fits` was called with.
    pub(crate) fn next_fitting(
        &mut self,
        logits: &[f32],
        allowed: Option<&[bool]>,
        rng: &mut impl Rng,
        mut fits: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        self.weigh(logits, allowed);
        let first = self.pick(rng).unwrap_or(self.eos);
        if fits(first) {
            return Some(first);
        }
        if allowed.is_some() {
            self.refuse(first);
        } else if !self.enough_fits(first, &mut fits) {
            return None;
        }
        // A token that does not fit is removed and another is drawn. Each fitting token is drawn in proportion to its
        // probability, as if all had been checked.
        while let Some(token) = self.pick(rng) {
            if fits(token) {
                return Some(token);
            }
            self.refuse(token);
        }
        None
    }

    /// Returns true if tokens with `MIN_FITTING_SHARE` of the probability fit, given that `first` does not. Checks the most
    /// probable tokens first and no more than necessary. Tokens that do not fit get weight zero.
    fn enough_fits(&mut self, first: u32, fits: &mut impl FnMut(u32) -> bool) -> bool {
        let wanted = MIN_FITTING_SHARE * self.sums.iter().sum::<f32>();
        self.refuse(first);
        let mut open: f32 = self.sums.iter().sum();
        let mut fitting = 0.0;
        self.initial_weights.clone_from(&self.token_weights);
        while fitting < wanted
            && fitting + open >= wanted
            && let Some(token) = likeliest(&self.initial_weights)
        {
            let chance = std::mem::take(&mut self.initial_weights.as_flattened_mut()[token as usize]);
            open -= chance;
            if fits(token) {
                fitting += chance;
            } else {
                self.refuse(token);
            }
        }
        fitting >= wanted
    }

    /// Sorts the tokens with a weight, the most probable first; ties go to the lower id.
    fn put_in_order(&mut self) {
        let chances = self.token_weights.as_flattened();
        let tokens = (0..).zip(chances).filter(|(_, chance)| **chance > 0.0).map(|(token, _)| token);
        self.order.clear();
        self.order.extend(tokens);
        self.order
            .sort_unstable_by(|a, b| chances[*b as usize].total_cmp(&chances[*a as usize]).then(a.cmp(b)));
    }

    /// Sets a token's weight to zero.
    fn refuse(&mut self, token: u32) {
        let block = token as usize / BLOCK;
        self.token_weights[block][token as usize % BLOCK] = 0.0;
        self.sums[block] = total(&self.token_weights[block]);
    }

    /// Converts logits into weights, which are proportional to the probabilities.
    fn weigh(&mut self, logits: &[f32], allowed: Option<&[bool]>) {
        let (arch, scale) = (self.arch, self.scale);
        arch.dispatch(TokenWeights {
            logits,
            barred: &self.barred,
            scale,
            token_weights: &mut self.token_weights,
            sums: &mut self.sums,
        });
        if let Some(allowed) = allowed {
            let weights = self.token_weights.as_flattened_mut().iter_mut().zip(allowed);
            weights.filter(|(_, allowed)| !**allowed).for_each(|(weight, _)| *weight = 0.0);
            self.sum();
        }
        if self.top_p < 1.0 {
            self.cut_to_nucleus();
            self.sum();
        }
    }

    /// Sums the weights that have changed.
    fn sum(&mut self) {
        for (sum, chances) in self.sums.iter_mut().zip(&self.token_weights) {
            *sum = total(chances);
        }
    }

    /// Draws a token in proportion to the weights; `None` if these are not a distribution.
    fn pick(&self, rng: &mut impl Rng) -> Option<u32> {
        let total: f32 = self.sums.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return None;
        }
        // Greater than 0: a random number has 24 bits, so 0 would favour a token of smaller probability.
        let mut rest = (1.0 - rng.random::<f32>()) * total;
        let mut last = None;
        for (block, (sum, chances)) in self.sums.iter().zip(&self.token_weights).enumerate() {
            if *sum == 0.0 {
                continue;
            }
            if rest > *sum {
                rest -= sum;
                last = Some(block);
                continue;
            }
            return within(chances, rest).map(|token| (block * BLOCK + token) as u32);
        }
        // Rounding can leave a small rest beyond the last token.
        let block = last?;
        within(&self.token_weights[block], f32::INFINITY).map(|token| (block * BLOCK + token) as u32)
    }

    fn cut_to_nucleus(&mut self) {
        self.put_in_order();
        let wanted = self.top_p * self.sums.iter().sum::<f32>();
        let chances = self.token_weights.as_flattened_mut();
        let mut reached = 0.0;
        for token in &self.order {
            let chance = &mut chances[*token as usize];
            if reached >= wanted {
                *chance = 0.0;
            }
            reached += *chance;
        }
    }
}

/// Returns the token of a block that `rest` falls on. If rounding leaves a small rest, returns the last one that can
/// be drawn.
fn within(chances: &[f32; BLOCK], mut rest: f32) -> Option<usize> {
    let mut last = None;
    for (token, chance) in chances.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
        last = Some(token);
        if rest <= *chance {
            break;
        }
        rest -= chance;
    }
    last
}

/// Returns the token of the largest weight; ties go to the lower id. `None` if all weights are zero.
fn likeliest(chances: &[[f32; BLOCK]]) -> Option<u32> {
    let mut largest = [0.0_f32; BLOCK];
    for block in chances {
        for (largest, chance) in largest.iter_mut().zip(block) {
            *largest = if chance > largest { *chance } else { *largest };
        }
    }
    let largest = largest.into_iter().fold(0.0, f32::max);
    if largest == 0.0 {
        return None;
    }
    chances.as_flattened().iter().position(|chance| *chance == largest).map(|token| token as u32)
}

/// Returns the sum of a block, always added in the same order.
#[inline(always)]
fn total(chances: &[f32; BLOCK]) -> f32 {
    let mut sums = *chances;
    let mut width = BLOCK / 2;
    while width > 0 {
        for n in 0..width {
            sums[n] += sums[n + width];
        }
        width /= 2;
    }
    sums[0]
}

/// Computation of weights and their sums from logits.
struct TokenWeights<'a> {
    logits: &'a [f32],
    barred: &'a [[f32; BLOCK]],
    scale: f32,
    token_weights: &'a mut [[f32; BLOCK]],
    sums: &'a mut [f32],
}

impl WithSimd for TokenWeights<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut largest = [f32::NEG_INFINITY; BLOCK];
        for (block, chances) in self.token_weights.iter_mut().enumerate() {
            let logits = &self.logits[block * BLOCK..];
            // The last block is padded with entries that cannot be drawn.
            if let Some(logits) = logits.first_chunk::<BLOCK>() {
                *chances = *logits;
            } else {
                *chances = [0.0; BLOCK];
                chances[..logits.len()].copy_from_slice(logits);
            }
            for n in 0..BLOCK {
                // Not `max`, whose handling of NaN takes more than one instruction.
                let logit = chances[n] + self.barred[block][n];
                largest[n] = if logit > largest[n] { logit } else { largest[n] };
            }
        }
        let mut most = f32::NEG_INFINITY;
        for largest in largest {
            most = most.max(largest);
        }
        for block in 0..self.token_weights.len() {
            let chances = &mut self.token_weights[block];
            for (chance, barred) in chances.iter_mut().zip(&self.barred[block]) {
                let drawn = exp((*chance - most) * self.scale);
                *chance = if *barred < 0.0 { 0.0 } else { drawn };
            }
            self.sums[block] = total(chances);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::TokenSampler;

    const CHANCES: [f32; 6] = [0.1, 0.2, 0.05, 0.3, 0.25, 0.1];
    const DRAWS: usize = 100_000;

    fn draw(top_p: f32) -> TokenSampler {
        TokenSampler::of(1.0, top_p, &[true; 6], 0)
    }

    /// Counts how often each token is drawn, and how often none.
    fn counts(top_p: f32, fits: impl Fn(u32) -> bool) -> ([f64; 6], usize) {
        let logits = CHANCES.map(f32::ln);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let (mut draw, mut counts, mut none) = (draw(top_p), [0.0; 6], 0);
        for _ in 0..DRAWS {
            let mut asked = None;
            let token = draw.next_fitting(&logits, None, &mut rng, |token| {
                asked = Some(token);
                fits(token)
            });
            match token {
                Some(token) => {
                    assert!(fits(token));
                    assert_eq!(asked, Some(token), "the token drawn is asked about last");
                    counts[token as usize] += 1.0 / DRAWS as f64;
                }
                None => none += 1,
            }
        }
        (counts, none)
    }

    #[test]
    fn what_fits_is_drawn_in_proportion_to_its_probability() {
        let (counts, none) = counts(1.0, |token| token != 3 && token != 0);

        assert_eq!(none, 0);
        for (count, chance) in counts.iter().zip([0.0, 0.2, 0.05, 0.0, 0.25, 0.1].map(|chance| chance / 0.6))
        {
            assert!((count - chance).abs() < 0.006, "{count} is not {chance}");
        }
    }

    #[test]
    fn where_next_to_nothing_fits_only_what_is_drawn_at_once_is_taken() {
        let (counts, none) = counts(1.0, |token| token == 1);

        assert!((counts[1] - 0.2).abs() < 0.006);
        assert_eq!(none, DRAWS - (counts[1] * DRAWS as f64).round() as usize);
    }

    #[test]
    fn an_allowed_token_is_drawn_however_improbable_and_a_nucleus_is_of_allowed_tokens() {
        let logits = CHANCES.map(f32::ln);
        let allowed = [false, false, true, false, false, true];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        for _ in 0..100 {
            let token = draw(1.0).next_fitting(&logits, Some(&allowed), &mut rng, |token| token == 2);
            assert_eq!(token, Some(2));
            // Token 5 has two thirds of what is allowed.
            assert_eq!(draw(0.3).next(&logits, Some(&allowed), &mut rng), 5);
            assert_eq!(draw(0.3).next_fitting(&logits, Some(&allowed), &mut rng, |token| token != 5), None);
        }
    }

    #[test]
    fn a_nucleus_is_restricted_as_the_whole_is() {
        // Tokens 3, 4 and 1 reach 0.7.
        let (counts, none) = counts(0.7, |token| token != 4);

        assert_eq!(none, 0);
        for (count, chance) in counts.iter().zip([0.0, 0.4, 0.0, 0.6, 0.0, 0.0]) {
            assert!((count - chance).abs() < 0.006, "{count} is not {chance}");
        }
    }
}
