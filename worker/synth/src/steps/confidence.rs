//! Confidence in a step: the estimated probability that a chemist would run it as written.
//!
//! The plausibility model knows the reaction mixture and not how usual the step is. A logistic regression (Hosmer and
//! Lemeshow, "Applied Logistic Regression") joins it with the evidence of the template. Its weights come from
//! `worker/training/fit_confidence.py` and the steps of `worker/training/read_steps.tsv`, which strict readers called sound,
//! doubtful or wrong.

use crate::model::RetroModel;
use crate::model::precedents::PrecedentSimilarity;

// Weights of the logit of the plausibility, of the logarithms of the template's probability and of one more than its
// recorded reactions, and of the similarity of the nearest recorded product.
const PLAUSIBILITY: f64 = 0.327;
const PROBABILITY: f64 = 0.370;
const RECORDS: f64 = 0.265;
const SIMILARITY: f64 = 1.904;
const INTERCEPT: f64 = -1.779;
/// Bounds of the plausibility, whose logit has none.
const LEAST_PLAUSIBILITY: f64 = 1e-3;
/// Least probability, which a template at the end of a long list has.
const LEAST_PROBABILITY: f64 = 1e-4;

/// Evidence for a step beside the plausibility of its reaction mixture.
#[derive(Debug, Clone, Copy)]
pub struct TemplateEvidence {
    /// Similarity of the product to the nearest recorded product of the template; 1 for a model without precedents.
    pub nearest: f32,
    /// Part of the logit that the evidence gives; `None` for a model without a plausibility model.
    logit: Option<f64>,
}

impl TemplateEvidence {
    /// Gathers the evidence for a step of this template, whose product has this `precedent`. `probability` is that of the
    /// step's templates among those that match the product.
    pub fn new(
        model: &RetroModel,
        template: u32,
        probability: f32,
        precedent: Option<PrecedentSimilarity>,
    ) -> Self {
        let nearest = precedent.map_or(1.0, |precedent| precedent.tanimoto);
        let logit = model.plausibility_model().map(|_| {
            INTERCEPT
                + PROBABILITY * f64::from(probability).max(LEAST_PROBABILITY).ln()
                + RECORDS * f64::from(model.records(template).reactions).ln_1p()
                + SIMILARITY * f64::from(nearest)
        });
        Self { nearest, logit }
    }

    /// Returns the confidence in a step of this plausibility. It grows with the plausibility. It is the plausibility itself
    /// for a model that has no plausibility model, which knows 1 only.
    pub fn confidence(self, plausibility: f32) -> f32 {
        let Some(evidence) = self.logit else { return plausibility };
        let plausible = f64::from(plausibility).clamp(LEAST_PLAUSIBILITY, 1.0 - LEAST_PLAUSIBILITY);
        let logit = evidence + PLAUSIBILITY * (plausible / (1.0 - plausible)).ln();
        (1.0 / (1.0 + (-logit).exp())) as f32
    }
}
