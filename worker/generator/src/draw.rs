//! The next token, drawn from the model's distribution under temperature and top-p.
//!
//! Top-p is nucleus sampling (Holtzman et al., ICLR 2020): the fewest most probable tokens that
//! together reach `top_p`. Ties go to the lower id.
//!
//! A token that the string cannot go on with is drawn again from those that it can go on with, in
//! proportion to their probabilities. That is the model's distribution, restricted and made to sum to
//! one again, and yet most tokens are examined alone: the others only matter when the first one drawn
//! does not fit. But where the model finds next to nothing likely that fits, the string went wrong
//! earlier, and what could be drawn would be far-fetched: then none is drawn.

use pulp::{Arch, Simd, WithSimd};
use rand::{Rng, RngExt};

use crate::{gates::exp, pack::ModelPack};

/// Tokens whose chances are summed together: a sum one by one would wait for every addition, and a search token by token would
/// take longer than the network where tokens are many.
const BLOCK: usize = 16;

/// The share of the probability that must fit for a token to be drawn again. Of strings that went on with
/// less, two in three came to no end.
const LEAST_SHARE: f32 = 0.3;

/// Draws tokens; holds nothing but settings and room to work in.
#[derive(Debug)]
pub(crate) struct Draw {
    arch: Arch,
    scale: f32,
    top_p: f32,
    /// 0 for a token that can be drawn, else minus infinity; so for those that fill the last block.
    barred: Vec<[f32; BLOCK]>,
    eos: u32,
    chances: Vec<[f32; BLOCK]>,
    /// Of each block's chances.
    sums: Vec<f32>,
    /// The chances of tokens that have not been asked about.
    unasked: Vec<[f32; BLOCK]>,
    order: Vec<u32>,
}

impl Draw {
    pub(crate) fn new(pack: &ModelPack) -> Self {
        let (temperature, top_p) = (pack.generation.temperature as f32, pack.generation.top_p as f32);
        Self::of(temperature, top_p, &pack.vocabulary.can_be_drawn(), pack.vocabulary.eos())
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
            chances: barred.clone(),
            unasked: barred.clone(),
            sums: vec![0.0; barred.len()],
            barred,
            eos,
            order: Vec::new(),
        }
    }

    /// Draws from the distribution that `logits`, `[vocab]`, stand for.
    ///
    /// Logits that are no distribution (a network that overflows) end the string.
    pub(crate) fn next(&mut self, logits: &[f32], rng: &mut impl Rng) -> u32 {
        self.weigh(logits);
        self.pick(rng).unwrap_or(self.eos)
    }

    /// Draws from the same distribution, restricted to the tokens that `fits` says yes to.
    ///
    /// `None` when it is not worth while: see `LEAST_SHARE`. The token drawn is the last that `fits` was
    /// asked about.
    pub(crate) fn next_fitting(
        &mut self,
        logits: &[f32],
        rng: &mut impl Rng,
        mut fits: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        self.weigh(logits);
        let first = self.pick(rng).unwrap_or(self.eos);
        if fits(first) {
            return Some(first);
        }
        if !self.enough_fits(first, &mut fits) {
            return None;
        }
        // A token that does not fit drops out and another is drawn: each that fits is drawn in proportion to
        // its probability, as if all had been asked about.
        while let Some(token) = self.pick(rng) {
            if fits(token) {
                return Some(token);
            }
            self.refuse(token);
        }
        None
    }

    /// Says whether tokens of `LEAST_SHARE` of the probability fit, `first` being one that does not. Asks about
    /// the likeliest first and about no more than it takes; those that do not fit lose their chance.
    fn enough_fits(&mut self, first: u32, fits: &mut impl FnMut(u32) -> bool) -> bool {
        let wanted = LEAST_SHARE * self.sums.iter().sum::<f32>();
        self.refuse(first);
        let mut open: f32 = self.sums.iter().sum();
        let mut fitting = 0.0;
        self.unasked.clone_from(&self.chances);
        while fitting < wanted
            && fitting + open >= wanted
            && let Some(token) = likeliest(&self.unasked)
        {
            let chance = std::mem::take(&mut self.unasked.as_flattened_mut()[token as usize]);
            open -= chance;
            if fits(token) {
                fitting += chance;
            } else {
                self.refuse(token);
            }
        }
        fitting >= wanted
    }

    /// Puts the tokens that have a chance in order, the likeliest first; of equals, the lower id.
    fn put_in_order(&mut self) {
        let chances = self.chances.as_flattened();
        let tokens = (0..).zip(chances).filter(|(_, chance)| **chance > 0.0).map(|(token, _)| token);
        self.order.clear();
        self.order.extend(tokens);
        self.order
            .sort_unstable_by(|a, b| chances[*b as usize].total_cmp(&chances[*a as usize]).then(a.cmp(b)));
    }

    /// Takes a token's chance away.
    fn refuse(&mut self, token: u32) {
        let block = token as usize / BLOCK;
        self.chances[block][token as usize % BLOCK] = 0.0;
        self.sums[block] = total(&self.chances[block]);
    }

    /// Turns logits into what each token's chance is in proportion to.
    fn weigh(&mut self, logits: &[f32]) {
        let (arch, scale) = (self.arch, self.scale);
        arch.dispatch(Weigh {
            logits,
            barred: &self.barred,
            scale,
            chances: &mut self.chances,
            sums: &mut self.sums,
        });
        if self.top_p < 1.0 {
            self.cut_to_nucleus();
            self.sum();
        }
    }

    /// Sums chances that have changed.
    fn sum(&mut self) {
        for (sum, chances) in self.sums.iter_mut().zip(&self.chances) {
            *sum = total(chances);
        }
    }

    /// Draws a token by the chances; `None` when these are no distribution.
    fn pick(&self, rng: &mut impl Rng) -> Option<u32> {
        let total: f32 = self.sums.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return None;
        }
        // Over 0: a random number has 24 bits, and a token of less chance must not have that of a 0.
        let mut rest = (1.0 - rng.random::<f32>()) * total;
        let mut last = None;
        for (block, (sum, chances)) in self.sums.iter().zip(&self.chances).enumerate() {
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
        // Rounding can leave a crumb beyond the last token.
        let block = last?;
        within(&self.chances[block], f32::INFINITY).map(|token| (block * BLOCK + token) as u32)
    }

    fn cut_to_nucleus(&mut self) {
        self.put_in_order();
        let wanted = self.top_p * self.sums.iter().sum::<f32>();
        let chances = self.chances.as_flattened_mut();
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

/// The token of a block that `rest` falls on, or its last one that can be drawn when rounding leaves a crumb.
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

/// The token of the largest chance; of equals, the lower id. `None` when none has any.
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

/// The sum of a block, always in the same order.
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

/// Chances and their sums, from logits.
struct Weigh<'a> {
    logits: &'a [f32],
    barred: &'a [[f32; BLOCK]],
    scale: f32,
    chances: &'a mut [[f32; BLOCK]],
    sums: &'a mut [f32],
}

impl WithSimd for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut largest = [f32::NEG_INFINITY; BLOCK];
        for (block, chances) in self.chances.iter_mut().enumerate() {
            let logits = &self.logits[block * BLOCK..];
            // The last block is filled up with what cannot be drawn.
            if let Some(logits) = logits.first_chunk::<BLOCK>() {
                *chances = *logits;
            } else {
                *chances = [0.0; BLOCK];
                chances[..logits.len()].copy_from_slice(logits);
            }
            for n in 0..BLOCK {
                // Not `max`, which has more to say about what is no number than one instruction does.
                let logit = chances[n] + self.barred[block][n];
                largest[n] = if logit > largest[n] { logit } else { largest[n] };
            }
        }
        let mut most = f32::NEG_INFINITY;
        for largest in largest {
            most = most.max(largest);
        }
        for block in 0..self.chances.len() {
            let chances = &mut self.chances[block];
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

    use super::Draw;

    const CHANCES: [f32; 6] = [0.1, 0.2, 0.05, 0.3, 0.25, 0.1];
    const DRAWS: usize = 100_000;

    fn draw(top_p: f32) -> Draw {
        Draw::of(1.0, top_p, &[true; 6], 0)
    }

    /// How often each token is drawn, and how often none.
    fn counts(top_p: f32, fits: impl Fn(u32) -> bool) -> ([f64; 6], usize) {
        let logits = CHANCES.map(f32::ln);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let (mut draw, mut counts, mut none) = (draw(top_p), [0.0; 6], 0);
        for _ in 0..DRAWS {
            let mut asked = None;
            let token = draw.next_fitting(&logits, &mut rng, |token| {
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
    fn a_nucleus_is_restricted_as_the_whole_is() {
        // Tokens 3, 4 and 1 reach 0.7.
        let (counts, none) = counts(0.7, |token| token != 4);

        assert_eq!(none, 0);
        for (count, chance) in counts.iter().zip([0.0, 0.4, 0.0, 0.6, 0.0, 0.0]) {
            assert!((count - chance).abs() < 0.006, "{count} is not {chance}");
        }
    }
}
