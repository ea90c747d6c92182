//! Confidence in a step: the estimated probability that a chemist would run it as written.
//!
//! The plausibility model knows the reaction mixture and not how usual the step is. A logistic regression (Hosmer and
//! Lemeshow, "Applied Logistic Regression") joins it with the evidence of the template. Its weights come from
//! `worker/training/fit_confidence.py` and the steps of `worker/training/read_steps.tsv`, which strict readers called sound,
//! doubtful or wrong.

use crate::model::RetroModel;

/// Weights of the logit of the plausibility, of the logarithms of the template's probability and of one more than its
/// recorded reactions, and of the similarity of the nearest recorded product.
const WEIGHTS: [f64; 4] = [0.327, 0.370, 0.265, 1.904];
const INTERCEPT: f64 = -1.779;
/// Bounds of the plausibility, whose logit has none.
const LEAST_PLAUSIBILITY: f64 = 1e-3;
/// Least probability, which a template at the end of a long list has.
const LEAST_PROBABILITY: f64 = 1e-4;

/// Evidence for a step beside the plausibility of its reaction mixture.
#[derive(Debug, Clone, Copy)]
pub struct TemplateEvidence {
    /// Probability of its templates among those that match the product.
    pub probability: f32,
    /// Row of its template.
    pub template: u32,
    /// Similarity of the product to the nearest recorded product of the template; 0 if none is recorded.
    pub nearest: f32,
}

impl TemplateEvidence {
    /// Returns the confidence in a step of this plausibility. It grows with the plausibility. It is the plausibility itself
    /// for a model that has no plausibility model, which knows 1 only.
    pub fn confidence(self, model: &RetroModel, plausibility: f32) -> f32 {
        if model.plausibility_model().is_none() {
            return plausibility;
        }
        let plausible = f64::from(plausibility).clamp(LEAST_PLAUSIBILITY, 1.0 - LEAST_PLAUSIBILITY);
        let features = [
            (plausible / (1.0 - plausible)).ln(),
            f64::from(self.probability).max(LEAST_PROBABILITY).ln(),
            f64::from(model.records(self.template).reactions).ln_1p(),
            f64::from(self.nearest),
        ];
        let logit: f64 = WEIGHTS.iter().zip(features).map(|(weight, feature)| weight * feature).sum();
        (1.0 / (1.0 + (-(logit + INTERCEPT)).exp())) as f32
    }
}
