//! Invariants for any content of the files of a template pack, one function for each kind of file. Used by the fuzz
//! targets in `ops/fuzz`, and by the tests here with the same seeds.

use std::path::Path;
use std::sync::LazyLock;

use chem::PreparedMolecule;

use crate::model::library::TemplateLibrary;
use crate::model::policy::Policy;
use crate::model::precedents::Precedents;
use crate::model::records::{RecordedReactionsByTemplate, read_agents};
use crate::model::tensors::Weights;

/// Two templates, to which the weights belong.
const TABLE: &str = "\tretro_template\ttemplate_hash\tlibrary_occurrence\tlibrary_index\n\
    0\t[C:1](=[O;H0;D1:2])-[N;H1;D2;+0:3]>>([C:1](=[O:2])-[OH;+0].[NH2;+0:3])\ta\t1\t0\n\
    1\t[C:1]-[O;H0:2]-[C:3]>>([C:1]-[OH:2].[C:3]-[OH])\tb\t1\t1\n";

static LIBRARY: LazyLock<TemplateLibrary> = LazyLock::new(|| {
    TemplateLibrary::read(TABLE.as_bytes(), Path::new("templates"), 1).expect("fuzz: a table is one")
});
static PRODUCT: LazyLock<PreparedMolecule> =
    LazyLock::new(|| PreparedMolecule::new(&"CC(=O)NCCOC".parse().expect("fuzz: a molecule of ours is one")));

/// Checks a `templates.csv.gz`, unpacked.
pub fn template_table(input: &[u8]) {
    let Ok(library) = TemplateLibrary::read(input, Path::new("input"), 1) else { return };
    assert!(library.skipped() < library.len());
    for found in library.matches(&PRODUCT).templates {
        assert!(library.template(found.template).is_some());
    }
}

/// Checks an `agents.tsv` and, after a NUL, an `evidence.tsv.gz`, unpacked.
pub fn template_records(input: &[u8]) {
    let mut parts = input.splitn(2, |byte| *byte == 0);
    let (agents, evidence) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let path = Path::new("input");
    let Ok(agents) = read_agents(agents, path) else { return };
    let Ok(records) = RecordedReactionsByTemplate::read(evidence, path, &agents, LIBRARY.len()) else {
        return;
    };
    assert!(records.of(LIBRARY.len() as u32).is_none());
}

/// Checks any of the files of weights.
pub fn template_weights(input: &[u8]) {
    let Ok(weights) = Weights::of(input.to_vec(), Path::new("input")) else { return };
    if let Ok(policy) = Policy::of(&weights, None, LIBRARY.len()) {
        let ranking = policy.rank(PRODUCT.molecule(), LIBRARY.matches(&PRODUCT));
        drop(ranking);
    }
    let _ = Policy::of(&weights, Some(&weights), LIBRARY.len());
    if let Ok(precedents) = Precedents::of(&weights, LIBRARY.len()) {
        let nearest = precedents.nearest(0, &PRODUCT.molecule().fingerprint()).unwrap_or_default();
        assert!((0.0..=1.0).contains(&nearest.tanimoto) && (0.0..=1.000_001).contains(&nearest.cosine));
    }
}

#[cfg(test)]
mod tests {
    use test_support::replay;

    use super::*;

    #[test]
    fn any_table_of_templates_is_one_or_has_its_fault() {
        replay("template_table", 2_000, template_table);
    }

    #[test]
    fn any_records_are_some_or_have_their_fault() {
        replay("template_records", 10_000, template_records);
    }

    #[test]
    fn any_weights_are_some_or_have_their_fault() {
        replay("template_weights", 5_000, template_weights);
    }
}
