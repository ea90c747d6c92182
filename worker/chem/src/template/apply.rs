//! A template applied backwards: product to precursors.

use std::collections::BTreeMap;

use chematic::rxn::transform::TracedProduct;

use super::duplicates::Duplicates;
use super::fast::{self, End};
use super::graph::{self, Made};
use super::{Outcome, Precursor, Site, Template};
use crate::correspondence;
use crate::key::Key;
use crate::molecule::Molecule;
use crate::prepared::PreparedMolecule;

pub(super) fn apply(
    template: &Template,
    product: &PreparedMolecule,
    go_on: &mut dyn FnMut() -> bool,
) -> Vec<Outcome> {
    if !template.may_match(product) {
        return Vec::new();
    }
    on_the_graph(template, product, go_on).unwrap_or_else(|| the_long_way(template, product, go_on))
}

/// By the template's script, without a string; `None` where a match has to go the long way.
pub(super) fn on_the_graph(
    template: &Template,
    product: &PreparedMolecule,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Outcome>> {
    let (script, target) = (template.script.as_ref()?, product.target()?);
    let mut outcomes: BTreeMap<Vec<Key>, Outcome> = BTreeMap::new();
    let end = fast::run(script, target, go_on, &mut |draft, images| match graph::molecules(
        script, draft, target,
    ) {
        Made::Molecules(precursors) => {
            let key = precursors.iter().map(|precursor| precursor.molecule.key()).collect();
            let outcome = outcomes.entry(key).or_insert(Outcome { precursors, sites: Vec::new() });
            outcome.sites.extend(Site::of(target, images));
            true
        }
        Made::StereoLost => true,
        Made::Unsure => false,
    });
    (end != End::Unsure).then(|| outcomes.into_values().collect())
}

/// Through chematic: its reactions, its sanitiser, its canonical SMILES.
pub(super) fn the_long_way(
    template: &Template,
    product: &PreparedMolecule,
    go_on: &mut dyn FnMut() -> bool,
) -> Vec<Outcome> {
    let mut outcomes: BTreeMap<Vec<Key>, Outcome> = BTreeMap::new();
    let mut duplicates = Duplicates::default();
    if !go_on() {
        return Vec::new();
    }
    for products in template.backward().run(&[product.molecule()]) {
        if !go_on() {
            break;
        }
        if duplicates.contains(&products) {
            continue;
        }
        let Some(mut precursors) = precursors(&products) else { continue };
        precursors.sort_by_key(|precursor| precursor.molecule.key());
        let key = precursors.iter().map(|precursor| precursor.molecule.key()).collect();
        outcomes.entry(key).or_insert(Outcome { precursors, sites: Vec::new() });
    }
    outcomes.into_values().filter(|outcome| keeps_stereo(template, product, outcome)).collect()
}

/// Whether no stereo of the product is lost, or only a run forwards can tell.
fn keeps_stereo(template: &Template, product: &PreparedMolecule, outcome: &Outcome) -> bool {
    let parts = outcome.precursors.iter().map(|part| (&part.molecule, &*part.sources));
    template.states_stereo || product.stereo().is_kept(parts)
}

/// The molecules of one match, or `None` where one of them is no molecule.
fn precursors(products: &[TracedProduct]) -> Option<Vec<Precursor>> {
    let mut precursors = Vec::new();
    for product in products {
        let canonical = chematic::smiles::rdkit_canonical_smiles(&product.molecule).ok()?;
        let whole = Molecule::from_canonical(canonical.clone()).ok()?;
        let order = correspondence::find(&product.molecule, whole.graph())?;
        let mut sources =
            order.into_iter().map(|atom| product.atom_sources[atom].map(|source| source.atom.0));
        if !canonical.contains('.') {
            precursors.push(Precursor { molecule: whole, sources: sources.collect() });
            continue;
        }
        for smiles in canonical.split('.') {
            let molecule = Molecule::from_canonical(smiles.to_owned()).ok()?;
            let sources = sources.by_ref().take(molecule.atoms()).collect();
            precursors.push(Precursor { molecule, sources });
        }
    }
    Some(precursors)
}
