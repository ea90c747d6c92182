//! The next token, drawn from the model's distribution under temperature and top-p.
//!
//! Top-p is nucleus sampling (Holtzman et al., ICLR 2020): the fewest most probable tokens that
//! together reach `top_p`. Ties go to the lower id.

use rand::{Rng, RngExt};

use crate::{gates::exp, pack::ModelPack};

/// Draws tokens; holds nothing but settings and room to work in.
#[derive(Debug)]
pub(crate) struct Draw {
    scale: f32,
    top_p: f32,
    /// 1 for a token that can be drawn, else 0.
    allowed: Vec<f32>,
    eos: u32,
    chances: Vec<f32>,
    order: Vec<u32>,
}

impl Draw {
    pub(crate) fn new(pack: &ModelPack) -> Self {
        let allowed = pack.vocabulary.can_be_drawn().into_iter().map(|yes| if yes { 1.0 } else { 0.0 });
        Self {
            scale: 1.0 / pack.generation.temperature as f32,
            top_p: pack.generation.top_p as f32,
            allowed: allowed.collect(),
            eos: pack.vocabulary.eos(),
            chances: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Draws from the distribution that `logits`, `[vocab]`, stand for.
    ///
    /// Logits that are no distribution (a network that overflows) end the string.
    pub(crate) fn next(&mut self, logits: &[f32], rng: &mut impl Rng) -> u32 {
        let known = logits.iter().zip(&self.allowed).filter(|(_, allowed)| **allowed > 0.0);
        let largest = known.map(|(logit, _)| *logit).fold(f32::NEG_INFINITY, f32::max);
        let scale = self.scale;
        let weighed = logits.iter().zip(&self.allowed);
        self.chances.clear();
        self.chances.extend(weighed.map(|(logit, allowed)| allowed * exp((logit - largest) * scale)));
        if self.top_p < 1.0 {
            self.cut_to_nucleus();
        }

        let total: f32 = self.chances.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return self.eos;
        }
        let mut rest = rng.random::<f32>() * total;
        let mut last = self.eos;
        for (token, chance) in (0..).zip(&self.chances) {
            if *chance > 0.0 {
                if rest < *chance {
                    return token;
                }
                rest -= chance;
                last = token;
            }
        }
        // Rounding can leave a crumb beyond the last token.
        last
    }

    fn cut_to_nucleus(&mut self) {
        let chances = &mut self.chances;
        self.order.clear();
        self.order.extend((0..).take(chances.len()));
        self.order.sort_by(|a, b| chances[*b as usize].total_cmp(&chances[*a as usize]));
        let wanted = self.top_p * chances.iter().sum::<f32>();
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
