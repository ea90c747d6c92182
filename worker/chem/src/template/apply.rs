//! A template applied backwards: product to precursors.

use std::collections::BTreeMap;

use chematic::rxn::transform::TracedProduct;

use super::{Outcome, Precursor, Template};
use crate::correspondence;
use crate::molecule::Molecule;
use crate::prepared::PreparedMolecule;

pub(super) fn apply(template: &Template, product: &PreparedMolecule) -> Vec<Outcome> {
    let mut outcomes: BTreeMap<Vec<String>, Outcome> = BTreeMap::new();
    for products in template.backward().run(&[product.molecule()]) {
        let Some(mut precursors) = precursors(&products) else { continue };
        precursors.sort_by(|a, b| a.smiles.cmp(&b.smiles));
        let key = precursors.iter().map(|precursor| precursor.smiles.clone()).collect();
        outcomes.entry(key).or_insert(Outcome { precursors });
    }
    outcomes.into_values().collect()
}

fn precursors(products: &[TracedProduct]) -> Option<Vec<Precursor>> {
    let mut precursors = Vec::new();
    for product in products {
        for (graph, atoms) in product.molecule.fragments_with_source_atoms() {
            let smiles = chematic::smiles::rdkit_canonical_smiles(&graph).ok()?;
            let molecule = Molecule::from_canonical(smiles.clone()).ok()?;
            let order = correspondence::find(&graph, molecule.graph())?;
            let sources = order
                .into_iter()
                .map(|atom| product.atom_sources[atoms[atom].0 as usize].map(|source| source.atom.0))
                .collect();
            precursors.push(Precursor { smiles, molecule, sources });
        }
    }
    Some(precursors)
}
