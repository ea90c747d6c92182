//! Part of the confidence in a step that its atoms give, by strict readers' verdicts on other steps: the kinds that the step changes and leaves.
//!
//! A logistic regression of sound against other steps on the step's class, the kinds of its atoms with their places
//! ([`reactivity::surroundings`]), and the pairs of both. `worker/training/fit_confidence.py` writes its weights into `tables/surroundings.tsv`.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use chem::Table;
use reactivity::ReactionClass;

/// Weights by class and kind; [`ANY`] stands for all of them.
static WEIGHTS: LazyLock<HashMap<(&'static str, &'static str), f32>> =
    LazyLock::new(|| read().expect("surroundings: a test reads the table"));

const ANY: &str = "-";

fn read() -> Result<HashMap<(&'static str, &'static str), f32>, chem::TableError> {
    let table = Table {
        file: "surroundings.tsv",
        text: include_str!("../../tables/surroundings.tsv"),
        columns: ["class", "kind", "weight"],
        keys: 2,
    };
    let rows = table.read(|[class, kind, weight]| {
        let weight = weight.parse().map_err(|_| format!("`{weight}` is no number"))?;
        Ok(((class, kind), weight))
    })?;
    Ok(rows.into_iter().collect())
}

/// Returns the part of the logit of the confidence in a step that its class and the kinds of its atoms give.
pub fn surroundings_logit(class: ReactionClass, kinds: &BTreeSet<String>) -> f32 {
    let weight = |class: &str, kind: &str| WEIGHTS.get(&(class, kind)).copied().unwrap_or(0.0);
    let of_kind = |kind: &String| weight(ANY, kind) + weight(class.name, kind);
    weight(class.name, ANY) + kinds.iter().map(of_kind).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_readable() {
        let weights = read().unwrap();
        assert!(weights.values().all(|weight| weight.is_finite()), "{weights:?}");
        for class in weights.keys().map(|(class, _)| class) {
            assert!(*class == ANY || reactivity::CLASS_NAMES.contains(class), "{class}");
        }
    }
}
