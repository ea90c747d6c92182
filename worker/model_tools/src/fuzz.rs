//! Invariants of reading models of others, one function per format. They serve the fuzz targets in `ops/fuzz`, and the
//! tests here, which use the same seeds.

use std::{io::Cursor, path::Path};

use serde_json::{Value, json};

use crate::{
    card,
    import::{
        aizynth::{
            network::{DensePolicy, FINGERPRINT_BITS},
            table::TemplateTable,
        },
        layout::tokenizer_of,
        reinvent::{archive::Archive, prior::Prior},
    },
    pack,
};

/// Valid prior; it supplies the tensors that a fuzzed pickle names.
const PRIOR: &[u8] = include_bytes!("../../../ops/tests/models/data/priors/gru.prior");

/// Reads a file that `torch.save` wrote.
pub fn prior(input: &[u8]) {
    if let Ok(mut archive) = Archive::of(Cursor::new(input))
        && let Ok(prior) = Prior::of(&mut archive)
    {
        is_sound(&prior);
    }
}

/// Reads the pickle of such a file.
pub fn pickle(input: &[u8]) {
    let mut archive = Archive::of(Cursor::new(PRIOR)).expect("fuzz: a prior is one");
    if let Ok(prior) = Prior::pickled(input, &mut archive) {
        is_sound(&prior);
    }
}

fn is_sound(prior: &Prior) {
    for tensor in &prior.tensors {
        assert_eq!(tensor.numbers.len(), tensor.shape.iter().product::<usize>(), "{}", tensor.name);
    }
}

/// Reads a network in ONNX.
pub fn onnx(input: &[u8]) {
    let Ok(policy) = DensePolicy::read(input) else { return };
    assert_eq!(
        (policy.weight1.len(), policy.bias1.len(), policy.weight2.len(), policy.bias2.len()),
        (policy.hidden * FINGERPRINT_BITS, policy.hidden, policy.outputs * policy.hidden, policy.outputs)
    );
}

/// Reads an uncompressed table of templates.
pub fn policy_table(input: &[u8]) {
    let Ok(table) = TemplateTable::of(input) else { return };
    assert!(table.repeated() <= table.rows.len());
    assert!(table.rows.iter().all(|row| row.fault.is_some() || !row.template.is_empty()));
}

/// Reads any JSON file of a pack, and a `vocab.json`.
pub fn pack_json(input: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(input) else { return };
    let _ = (pack::kind(&value), card::relative_cost(&value));
    if let Value::Object(metadata) = &value {
        let _ = card::readme(metadata, &[]);
    }
    let config = json!({ "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2 });
    let size = value.as_object().map(serde_json::Map::len);
    if let Ok(tokenizer) = tokenizer_of(value, Path::new("vocab.json"), &config) {
        assert_eq!(tokenizer["model"]["vocab"].as_object().map(serde_json::Map::len), size);
    }
}

#[cfg(test)]
mod tests {
    use test_support::replay;

    use super::*;

    #[test]
    fn any_prior_is_one_or_has_its_fault() {
        replay("prior", 5_000, prior);
        replay("pickle", 5_000, pickle);
    }

    #[test]
    fn any_policy_is_one_or_has_its_fault() {
        replay("onnx", 5_000, onnx);
        replay("policy_table", 5_000, policy_table);
    }

    #[test]
    fn any_json_of_a_pack_is_read() {
        replay("pack_json", 10_000, pack_json);
    }
}
