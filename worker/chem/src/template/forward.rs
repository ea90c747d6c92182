//! A template applied forwards: precursors to product.

use std::collections::{BTreeMap, BTreeSet};

use super::fast::{self, End};
use super::graph::{self, Made};
use super::{Engine, Target, Template};
use crate::key::Key;
use crate::molecule::Molecule;

/// Every product molecule, unique, in the order of their keys.
pub(super) fn forward(template: &Template, precursors: &[Molecule]) -> Vec<Molecule> {
    on_the_graph(template, precursors).unwrap_or_else(|| the_long_way(template, precursors))
}

/// By the template's script; `None` where a match has to go the long way.
pub(super) fn on_the_graph(template: &Template, precursors: &[Molecule]) -> Option<Vec<Molecule>> {
    let script = template.forward_script.as_ref()?;
    let target = Target::new(&precursors.iter().collect::<Vec<_>>())?;
    let mut products: BTreeMap<Key, Molecule> = BTreeMap::new();
    let end = fast::run(script, &target, &mut || true, &mut |draft| match graph::molecules(
        script, draft, &target,
    ) {
        Made::Molecules(made) => {
            products.extend(made.into_iter().map(|part| (part.molecule.key(), part.molecule)));
            true
        }
        Made::StereoLost | Made::Unsure => false,
    });
    (end != End::Unsure).then(|| products.into_values().collect())
}

/// Through chematic.
pub(super) fn the_long_way(template: &Template, precursors: &[Molecule]) -> Vec<Molecule> {
    let mut products = BTreeSet::new();
    let parts = template.text.precursors.len();
    let ways = template.forward.get_or_init(|| {
        partitions(parts)
            .into_iter()
            .map(|groups| (groups.len(), Engine::new(template.text.forward(&groups))))
            .collect()
    });
    for (_, engine) in ways.iter().filter(|(groups, _)| *groups == precursors.len()) {
        for order in orders(precursors.len()) {
            let reactants: Vec<&Molecule> = order.iter().map(|&i| &precursors[i]).collect();
            for product in engine.run(&reactants).iter().flatten() {
                if let Ok(smiles) = chematic::smiles::rdkit_canonical_smiles(&product.molecule) {
                    products.extend(smiles.split('.').map(str::to_owned));
                }
            }
        }
    }
    let mut products: Vec<Molecule> =
        products.into_iter().filter_map(|smiles| Molecule::from_canonical(smiles).ok()).collect();
    products.sort_by_key(Molecule::key);
    products
}

/// Every way to deal `parts` template components out to molecules, as groups of components.
fn partitions(parts: usize) -> Vec<Vec<Vec<usize>>> {
    let mut all: Vec<Vec<Vec<usize>>> = vec![vec![]];
    for part in 0..parts {
        all = all
            .into_iter()
            .flat_map(|groups| {
                (0..=groups.len()).map(move |place| {
                    let mut groups = groups.clone();
                    match groups.get_mut(place) {
                        Some(group) => group.push(part),
                        None => groups.push(vec![part]),
                    }
                    groups
                })
            })
            .collect();
    }
    all
}

/// Every order of `0..count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for next in 0..count {
        all = all
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..=order.len()).map(move |place| {
                    let mut order = order.clone();
                    order.insert(place, next);
                    order
                })
            })
            .collect();
    }
    all
}
