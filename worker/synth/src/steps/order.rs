//! The order of sets of precursors: the ones that chemists have probably used first.
//!
//! The network's probability alone is a weak order: it sees the product, not the precursors. The log-odds of a set against the
//! others of its product are linear in the logarithm of the probability and in five more features (a conditional logit,
//! McFadden, "Conditional logit analysis of qualitative choice behavior", 1974). Weights come from
//! `worker/training/fit_order.py` and the recorded reactions of `uspto50k_val`.

use std::cmp::Ordering;

use chem::Precursor;

use crate::model::RetroModel;

/// Number of sets, the most probable ones, that are put in order.
pub const ORDERED_SETS: usize = 50;

const PROBABILITY: f64 = 0.638;
const RECORDS: f64 = 0.158;
const SOUND: f64 = 1.261;
const REACTIONS: f64 = 0.349;
const UNRECORDED: f64 = -1.177;
const ENVIRONMENT: f64 = 0.306;
/// Least probability.
const LEAST_PROBABILITY: f64 = 1e-6;

/// The features by which a set of precursors is ordered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetFeatures {
    /// ln of the probability of the templates and sites that propose the set.
    pub probability: f64,
    /// ln(1 + recorded reactions of the first such template).
    pub records: f64,
    /// 1 if its step stands the selectivity rules, else 0.
    pub sound: f64,
    /// ln(1 + recorded reactions) of the precursor that has fewest.
    pub reactions: f64,
    /// Number of precursors that no recorded reaction uses.
    pub unrecorded: f64,
    /// ln(1 + recorded reactants) with the environment that fewest have.
    pub environment: f64,
}

impl SetFeatures {
    /// Gathers the features; `None` for a model without recorded reactants, whose order is that of the probabilities.
    pub fn of(
        model: &RetroModel,
        (template, probability): (u32, f32),
        is_sound: bool,
        precursors: &[Precursor],
    ) -> Option<Self> {
        let recorded = model.recorded_reactants()?;
        let molecules = || precursors.iter().map(|precursor| &precursor.molecule);
        let reactions: Vec<u8> = molecules().map(|molecule| recorded.reactions(molecule.key())).collect();
        let environments = molecules().map(|molecule| recorded.rarest_environment(molecule));
        Some(Self {
            probability: f64::from(probability).max(LEAST_PROBABILITY).ln(),
            records: f64::from(model.records(template).reactions).ln_1p(),
            sound: f64::from(u8::from(is_sound)),
            reactions: f64::from(reactions.iter().copied().min().unwrap_or(0)).ln_1p(),
            unrecorded: reactions.iter().filter(|&&count| count == 0).count() as f64,
            environment: environments.fold(f64::INFINITY, f64::min),
        })
    }

    /// Returns the log-odds that chemists used the set, but for a constant that the product's sets share.
    pub fn log_odds(&self) -> f64 {
        PROBABILITY * self.probability
            + RECORDS * self.records
            + SOUND * self.sound
            + REACTIONS * self.reactions
            + UNRECORDED * self.unrecorded
            + ENVIRONMENT * self.environment
    }
}

/// Orders the likelier set first, one without features last; two without are equal.
pub fn likelier(a: Option<SetFeatures>, b: Option<SetFeatures>) -> Ordering {
    let log_odds = |set: Option<SetFeatures>| set.map_or(f64::NEG_INFINITY, |set| set.log_odds());
    log_odds(b).total_cmp(&log_odds(a))
}
