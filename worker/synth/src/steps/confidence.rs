//! Confidence in a step: the estimated probability that a chemist would run it as written.
//!
//! The plausibility model knows the reaction mixture and not how usual the step is. A logistic regression (Hosmer and
//! Lemeshow, "Applied Logistic Regression") joins it with the evidence of the template, and with what the step changes and leaves
//! ([`crate::model::surroundings`]). The weights come from `worker/training/fit_confidence.py` and the steps of
//! `worker/training/read_steps.tsv`, which strict readers called sound, doubtful or wrong.

use crate::model::RetroModel;
use crate::model::precedents::PrecedentSimilarity;

// Weights of the logarithms of the template's probability and of one more than its recorded reactions, of the logit of the
// plausibility, and of the similarity of the nearest recorded product. The last two count only where a product is recorded: a
// template that was written by hand has textbooks for its evidence, and the plausibility model, which learned from recorded
// reactions, does not tell its sound steps from the others.
const PROBABILITY: f64 = 0.277;
const RECORDS: f64 = 0.163;
const PLAUSIBILITY: f64 = 0.216;
const SIMILARITY: f64 = 3.204;
const UNRECORDED: f64 = 2.488;
const INTERCEPT: f64 = -1.251;
/// Bounds of the plausibility, whose logit has none.
const LEAST_PLAUSIBILITY: f64 = 1e-3;
/// Least probability, which a template at the end of a long list has.
const LEAST_PROBABILITY: f64 = 1e-4;
/// Mean similarity of the nearest recorded product in `read_steps.tsv`.
const USUAL_SIMILARITY: f32 = 0.31;

/// Evidence for a step beside the plausibility of its reaction mixture.
#[derive(Debug, Clone, Copy)]
pub struct TemplateEvidence {
    /// Similarity of the product to the nearest recorded product of the template; the usual one where none is recorded.
    pub nearest: f32,
    /// Part of the logit that the evidence gives; `None` for a model without a plausibility model.
    logit: Option<f64>,
    /// Weight of the plausibility.
    plausibility_weight: f64,
}

impl TemplateEvidence {
    /// Gathers the evidence for a step of this template, whose product has this `precedent`. `probability` is that of the
    /// step's templates among those that match the product; `surroundings` the part of the logit that the atoms of the step give.
    pub fn new(
        model: &RetroModel,
        (template, probability): (u32, f32),
        precedent: Option<PrecedentSimilarity>,
        surroundings: f32,
    ) -> Self {
        let (similarity, plausibility_weight) = match precedent {
            Some(nearest) => (SIMILARITY * f64::from(nearest.tanimoto), PLAUSIBILITY),
            None => (UNRECORDED, 0.0),
        };
        let logit = model.plausibility_model().map(|_| {
            INTERCEPT
                + PROBABILITY * f64::from(probability).max(LEAST_PROBABILITY).ln()
                + RECORDS * f64::from(model.records(template).reactions).ln_1p()
                + similarity
                + f64::from(surroundings)
        });
        Self { nearest: precedent.map_or(USUAL_SIMILARITY, |it| it.tanimoto), logit, plausibility_weight }
    }

    /// Returns the confidence in a step of this plausibility. It never falls as the plausibility grows. It is the plausibility itself
    /// for a model that has no plausibility model, which knows 1 only.
    pub fn confidence(self, plausibility: f32) -> f32 {
        let Some(evidence) = self.logit else { return plausibility };
        let plausible = f64::from(plausibility).clamp(LEAST_PLAUSIBILITY, 1.0 - LEAST_PLAUSIBILITY);
        let logit = evidence + self.plausibility_weight * (plausible / (1.0 - plausible)).ln();
        (1.0 / (1.0 + (-logit).exp())) as f32
    }
}
