//! What people are told of a model: `metadata.json`, which the API shows, and the README.

use chrono::Utc;
use generator::Evaluation;
use serde_json::{Map, Value, json};

use super::{Kind, ModelId, Pack};

/// Multiplications a token of the model that others are compared with: a GRU layer of 512 and 48 tokens.
const REFERENCE: f64 = 3.0 * 512.0 * 512.0 + 48.0 * 512.0;
/// What single precision costs beside bytes; models of other layers than GRU's are computed in it.
const SINGLE_PRECISION: f64 = 4.0;

/// What an import knows of a model.
#[derive(Debug)]
pub struct Card<'a> {
    /// One line for people.
    pub description: &'a str,
    /// The network in a few words.
    pub architecture: &'a str,
    /// What it learnt from, as far as its file says.
    pub training_data: &'a str,
}

/// `metadata.json` of an imported model.
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

/// The README of a pack that came without one, from its `metadata.json`.
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

/// Compute per molecule relative to other packs, from `config.json` of a generator; `None` where it does not say.
pub fn relative_cost(config: &Value) -> Option<f64> {
    let size = |field: &str| config.get(field)?.as_u64().map(|size| size as f64);
    let (hidden, layers, vocab) = (size("hidden_size")?, size("num_layers")?, size("vocab_size")?);
    let (gates, precision) = match config.get("model_type")?.as_str()? {
        "smiles_gru" => (3.0, 1.0),
        _ => (4.0, SINGLE_PRECISION),
    };
    // The first layer's input is a table; the others multiply theirs.
    let products = gates * hidden * hidden * (2.0 * layers - 1.0) + vocab * hidden;
    Some((products / REFERENCE * precision * 100.0).ceil() / 100.0)
}

/// What an evaluation came to, as `metadata.json` keeps it.
pub fn figures(evaluation: &Evaluation) -> Map<String, Value> {
    let rounded = |value: f64| json!((value * 1e4).round() / 1e4);
    let mut figures = Map::from_iter([("n_strings".to_owned(), json!(evaluation.strings))]);
    for (name, value) in [
        ("validity", Some(evaluation.validity)),
        ("uniqueness", Some(evaluation.uniqueness)),
        ("novelty", evaluation.novelty),
        ("kl_score", evaluation.kl_score),
        ("internal_diversity", Some(evaluation.internal_diversity)),
        ("scaffold_similarity", evaluation.scaffolds.similarity),
        ("scaffold_diversity", Some(evaluation.scaffolds.diversity)),
        ("stereo_share", Some(evaluation.stereo)),
    ] {
        figures.extend(value.map(|value| (name.to_owned(), rounded(value))));
    }
    figures
}

/// One line about the architecture, from the files of a pack.
pub fn architecture(pack: &Pack) -> String {
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
    fn costs_are_relative_to_one_small_gru() {
        let config = |model_type: &str, layers: u32| json!({"model_type": model_type, "hidden_size": 512, "num_layers": layers, "vocab_size": 48});

        assert_eq!(relative_cost(&config("smiles_gru", 1)), Some(1.0));
        assert_eq!(relative_cost(&config("smiles_gru", 3)), Some(4.88));
        assert_eq!(relative_cost(&config("smiles_lstm", 3)), Some(25.98));
        assert_eq!(relative_cost(&json!({"model_type": "smiles_gru"})), None);
    }
}
