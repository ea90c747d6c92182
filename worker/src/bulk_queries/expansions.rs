//! Bulk query of expansions: precursors of molecules in one step.

use catalogue::{Stock, StockView};
use chem::Molecule;
use contract::{ExpandedMolecule, PrecursorSet, StepCheck};
use synth::{BatchLimits, Check, Planner};

use super::{BulkAnswer, BulkItem, answer_each};
use crate::rounding::rounded;

/// Returns the `most` probable sets of precursors of each molecule, and which precursors are in `stock`.
pub(crate) fn expansions(
    planner: &Planner,
    stock: &StockView,
    texts: &[String],
    (most, check): (usize, StepCheck),
    allowance: &BatchLimits,
) -> BulkAnswer<ExpandedMolecule> {
    let check = match check {
        StepCheck::Rules => Check::Rules,
        StepCheck::Forwards => Check::Forwards,
    };
    answer_each(planner, texts, allowance, |molecule, budget| {
        let sets = planner.precursor_sets(molecule, (most, check), budget)?;
        Some(ExpandedMolecule {
            smiles: molecule.canonical_smiles(),
            error: None,
            precursors: sets.into_iter().map(|set| written(set, stock)).collect(),
        })
    })
}

impl BulkItem for ExpandedMolecule {
    fn nothing(smiles: String, error: String) -> Self {
        Self { smiles, error: Some(error), precursors: Vec::new() }
    }
}

fn written(set: synth::PrecursorSet, stock: &StockView) -> PrecursorSet {
    PrecursorSet {
        smiles: set.precursors.iter().map(Molecule::canonical_smiles).collect(),
        probability: f64::from(set.probability),
        plausibility: rounded(f64::from(set.plausibility)),
        template_id: set.template_hash,
        reaction_class: set.class.name.to_owned(),
        reaction_category: Some(set.class.category.to_string()),
        precedents: set.precedents,
        needs: set.stereo_source.map(|source| source.to_string()),
        in_stock: set.precursors.iter().map(|precursor| stock.find(precursor).is_some()).collect(),
    }
}
