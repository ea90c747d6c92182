//! A template applied forwards: precursors to product.

use std::collections::BTreeSet;

use super::{Engine, Template};
use crate::molecule::Molecule;

pub(super) fn forward(template: &Template, precursors: &[Molecule]) -> Vec<String> {
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
    products.into_iter().collect()
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
