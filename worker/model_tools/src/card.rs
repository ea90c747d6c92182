//! Description of a model: `metadata.json`, which the API shows, and the README.

use chrono::Utc;
use contract::{ModelMetrics, PropertyDistribution};
use generator::Evaluation;
use serde_json::{Map, Value, json};

use super::{Kind, ModelId, PackFolder};

/// Multiplications per token of the reference model: a GRU layer of 512 units, and 48 tokens.
const REFERENCE_MULTIPLICATIONS: f64 = 3.0 * 512.0 * 512.0 + 48.0 * 512.0;

/// Facts that an import knows of a model.
#[derive(Debug)]
pub struct Card<'a> {
    /// One-line description for people.
    pub description: &'a str,
    /// Short description of the network.
    pub architecture: &'a str,
    /// Training data, as far as the file says.
    pub training_data: &'a str,
}

/// Builds `metadata.json` of an imported model.
pub fn metadata(id: &ModelId, card: &Card<'_>) -> Map<String, Value> {
    let Value::Object(metadata) = json!({
        "id": id.as_str(),
        "description": card.description,
        "created": Utc::now().date_naive().to_string(),
        "architecture": card.architecture,
        "training_data": card.training_data,
        "licence": "not stated; ask whoever made the model",
    }) else {
        unreachable!("card: an object was written")
    };
    metadata
}

/// Builds the README of a pack that has none, from its `metadata.json`.
pub fn readme(metadata: &Map<String, Value>, history: &[String]) -> String {
    let text = |field: &str| metadata.get(field).and_then(Value::as_str).unwrap_or("not stated");
    let mut readme = format!(
        "# {}\n\n{}\n\n| | |\n|---|---|\n| architecture | {} |\n| training data | {} |\n| licence | {} |\n",
        text("id"),
        text("description"),
        text("architecture"),
        text("training_data"),
        text("licence")
    );
    if !history.is_empty() {
        readme += "\n## What its file says\n\n";
        for line in history {
            readme += &format!("- {line}\n");
        }
    }
    readme
}

/// Returns the compute per molecule relative to other packs, from a generator's `config.json`; `None` if it lacks the
/// sizes.
pub fn relative_cost(config: &Value) -> Option<f64> {
    let size = |field: &str| config.get(field)?.as_u64().map(|size| size as f64);
    let (hidden, layers, vocab) = (size("hidden_size")?, size("num_layers")?, size("vocab_size")?);
    let gates = match config.get("model_type")?.as_str()? {
        "smiles_gru" => 3.0,
        _ => 4.0,
    };
    // The first layer reads its input from a table; the others multiply theirs.
    let products = gates * hidden * hidden * (2.0 * layers - 1.0) + vocab * hidden;
    Some((products / REFERENCE_MULTIPLICATIONS * 100.0).ceil() / 100.0)
}

/// Converts an evaluation to the form that `metadata.json` stores.
pub fn figures(evaluation: &Evaluation) -> ModelMetrics {
    let known = |value: Option<f64>| value.map(rounded);
    let other = [
        ("internal_diversity", Some(evaluation.internal_diversity)),
        ("scaffold_similarity", evaluation.scaffolds.similarity),
        ("scaffold_diversity", Some(evaluation.scaffolds.diversity)),
        ("stereo_share", Some(evaluation.stereo)),
    ];
    let properties = evaluation.properties.iter();
    ModelMetrics {
        n_strings: Some(evaluation.strings as u64),
        n_molecules: None,
        validity: known(Some(evaluation.validity)),
        uniqueness: known(Some(evaluation.uniqueness)),
        novelty: known(evaluation.novelty),
        kl_score: known(evaluation.kl_score),
        properties: properties
            .filter_map(|of| Some((metric_key(of.name), distribution(&of.drawn, of.likeness)?)))
            .collect(),
        other: other
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), rounded(value?).into())))
            .collect(),
    }
}

/// Formats the figures as rows of a README table, followed by those of the properties.
pub fn tables(metrics: &ModelMetrics) -> String {
    let figures = json!(metrics);
    let mut text = "| | |\n|---|---|\n".to_owned();
    for (name, value) in figures.as_object().into_iter().flatten().filter(|(_, value)| value.is_number()) {
        text += &format!("| {} | {value} |\n", name.replace('_', " "));
    }
    text +=
        "\n| | mean | standard deviation | 5 % | median | 95 % | likeness |\n|---|---|---|---|---|---|---|\n";
    for (name, of) in &metrics.properties {
        let likeness = of.likeness.map(|likeness| likeness.to_string()).unwrap_or_default();
        let name = name.replace('_', " ");
        let PropertyDistribution { mean, standard_deviation, p05, p50, p95, .. } = of;
        text += &format!("| {name} | {mean} | {standard_deviation} | {p05} | {p50} | {p95} | {likeness} |\n");
    }
    text
}

/// Returns a property's name in `metadata.json`.
fn metric_key(name: &str) -> String {
    name.to_lowercase().replace(' ', "_")
}

/// Returns the distribution of a property over molecules, computed as in numpy; `None` without values.
pub fn distribution(values: &[f64], likeness: Option<f64>) -> Option<PropertyDistribution> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let last = sorted.len().checked_sub(1)?;
    let mean = sorted.iter().sum::<f64>() / count;
    let variance = sorted.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    // Interpolates linearly between two molecules.
    let percentile = |share: f64| {
        let place = share * last as f64;
        let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        rounded(below + (above - below) * place.fract())
    };
    Some(PropertyDistribution {
        mean: rounded(mean),
        standard_deviation: rounded(variance.sqrt()),
        p05: percentile(0.05),
        p25: percentile(0.25),
        p50: percentile(0.5),
        p75: percentile(0.75),
        p95: percentile(0.95),
        likeness: likeness.map(rounded),
        histogram: None,
    })
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Describes the architecture in one line, from the files of a pack.
pub fn architecture(pack: &PackFolder) -> String {
    if let Some(text) = pack.text("architecture") {
        return text.to_owned();
    }
    let size = |field: &str| pack.config.as_ref()?.get(field)?.as_u64();
    match (pack.kind, size("hidden_size")) {
        (Some(Kind::Templates), Some(hidden)) => format!("{hidden} hidden units"),
        (Some(Kind::Generator), Some(hidden)) => {
            let layers = size("num_layers").unwrap_or_default();
            format!("{layers} x {hidden}")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_have_numpys_quantiles() {
        let strings = ["CCO", "CCCO", "CCCCO", "C("].map(str::to_owned);

        let figures = figures(&Evaluation::of(&strings, &[]));

        assert_eq!(figures.validity, Some(0.75));
        assert_eq!(
            json!(figures.properties["heavy_atoms"]),
            json!({
                "mean": 4.0, "standard_deviation": 0.8165, "p05": 3.1, "p25": 3.5, "p50": 4.0, "p75": 4.5, "p95": 4.9
            })
        );
        assert_eq!(figures.properties.len(), 10);
        let tables = tables(&figures);
        assert!(tables.contains("| n strings | 4 |"), "{tables}");
        assert!(tables.contains("| heavy atoms | 4 | 0.8165 | 3.1 | 4 | 4.9 |  |"), "{tables}");
    }

    #[test]
    fn costs_are_relative_to_one_small_gru() {
        let config = |model_type: &str, layers: u32| json!({"model_type": model_type, "hidden_size": 512, "num_layers": layers, "vocab_size": 48});

        assert_eq!(relative_cost(&config("smiles_gru", 1)), Some(1.0));
        assert_eq!(relative_cost(&config("smiles_gru", 3)), Some(4.88));
        assert_eq!(relative_cost(&config("smiles_lstm", 3)), Some(6.5));
        assert_eq!(relative_cost(&json!({"model_type": "smiles_gru"})), None);
    }
}
