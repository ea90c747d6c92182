//! Forward application of a template: precursors to product.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use chematic::rxn::transform::ReactantAtom;

use super::duplicates::Duplicates;
use super::edit::build::{self, BuildResult};
use super::edit::parts::{Parts, Precursor};
use super::edit::run::{self, RunEnd};
use super::engine::TemplateEngine;
use super::matching::target::MatchTarget;
use super::template::Template;
use crate::graph::correspondence;
use crate::molecules::key::MoleculeKey;
use crate::molecules::molecule::Molecule;

impl Template {
    /// Runs the template forwards on precursors.
    ///
    /// Every assignment of the precursors to the template's precursor side is tried. The result holds the canonical
    /// SMILES of every product molecule, sorted and unique.
    #[must_use]
    pub fn forward(&self, precursors: &[Molecule]) -> Vec<String> {
        let mut products: Vec<String> = self
            .forward_traced(precursors)
            .iter()
            .map(|product| product.molecule.canonical_smiles())
            .collect();
        products.sort_unstable();
        products
    }

    /// [Runs](Self::forward) the template forwards without writing the products as SMILES. Products come in the order
    /// of their keys, each with its source atoms; the precursors' atoms are numbered consecutively.
    #[must_use]
    pub fn forward_traced(&self, precursors: &[Molecule]) -> Vec<Precursor> {
        on_the_graph(self, precursors).unwrap_or_else(|| the_long_way(self, precursors))
    }

    /// Returns true if the template, [run forwards](Self::forward) on precursors, gives this product among others.
    /// Cheaper than computing all products.
    #[must_use]
    pub fn gives(&self, precursors: &[Molecule], product: MoleculeKey) -> bool {
        script_yields_product(self, precursors, product).unwrap_or_else(|| {
            let is_it = |made: Precursor| {
                if made.molecule.key() == product {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            for_each_chematic_product(self, precursors, is_it).is_break()
        })
    }
}

/// Runs the template by its script; `None` if a match needs the general path.
pub(super) fn on_the_graph(template: &Template, precursors: &[Molecule]) -> Option<Vec<Precursor>> {
    let mut products: BTreeMap<MoleculeKey, Precursor> = BTreeMap::new();
    let end = for_each_script_product(template, precursors, &mut |made| match made {
        BuildResult::Molecules(made) => {
            products.extend(made.into_iter().map(|part| (part.molecule.key(), part)));
            ControlFlow::Continue(())
        }
        BuildResult::Prochiral(..) | BuildResult::StereoLost | BuildResult::Unsure => ControlFlow::Break(()),
    })?;
    (end != RunEnd::Left).then(|| products.into_values().collect())
}

/// Returns true if a match gives the product, by the template's script; `None` if only the general path can decide.
fn script_yields_product(template: &Template, precursors: &[Molecule], product: MoleculeKey) -> Option<bool> {
    let mut is_sure = true;
    let end = for_each_script_product(template, precursors, &mut |made| match made {
        BuildResult::Molecules(made) if made.iter().any(|part| part.molecule.key() == product) => {
            ControlFlow::Break(())
        }
        BuildResult::Molecules(_) => ControlFlow::Continue(()),
        // Another match may give the product.
        BuildResult::Prochiral(..) | BuildResult::StereoLost | BuildResult::Unsure => {
            is_sure = false;
            ControlFlow::Continue(())
        }
    })?;
    let given = end == RunEnd::Left;
    (given || is_sure).then_some(given)
}

/// Calls `each` with the products of every match, until it breaks; `None` if the template has no script or the
/// precursors are too large.
fn for_each_script_product(
    template: &Template,
    precursors: &[Molecule],
    each: &mut dyn FnMut(BuildResult) -> ControlFlow<()>,
) -> Option<RunEnd> {
    let script = template.forward_script.as_ref()?;
    let target = MatchTarget::new(&precursors.iter().collect::<Vec<_>>())?;
    let parts = Parts::default();
    Some(run::run(script, &target, &mut || true, |draft, _| {
        each(draft.map_or(BuildResult::Unsure, |draft| build::molecules(script, draft, &target, &parts)))
    }))
}

/// Runs the template through chematic.
pub(super) fn the_long_way(template: &Template, precursors: &[Molecule]) -> Vec<Precursor> {
    let mut products = Vec::new();
    let _ = for_each_chematic_product(template, precursors, |product| {
        products.push(product);
        ControlFlow::Continue(())
    });
    products.sort_by_key(|product| product.molecule.key());
    products
}

/// Calls `each` with every distinct product, until it breaks.
fn for_each_chematic_product(
    template: &Template,
    precursors: &[Molecule],
    mut each: impl FnMut(Precursor) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let parts = template.text.precursors.len();
    let ways = template.forward.get_or_make(|| {
        partitions(parts)
            .into_iter()
            .map(|groups| (groups.len(), TemplateEngine::new(template.text.forward(&groups))))
            .collect()
    });
    let starts: Vec<u32> = precursors
        .iter()
        .scan(0, |start, molecule| Some(std::mem::replace(start, *start + molecule.atoms() as u32)))
        .collect();
    // Deduplicates before and after canonicalising, which takes most of the time: equivalent groups make most matches
    // repeat others.
    let (mut duplicates, mut written) = (Duplicates::default(), HashSet::new());
    for (_, engine) in ways.iter().filter(|(groups, _)| *groups == precursors.len()) {
        for order in orders(precursors.len()) {
            let reactants: Vec<&Molecule> = order.iter().map(|&i| &precursors[i]).collect();
            let name = |source: &ReactantAtom| starts[order[source.reactant]] + source.atom.0;
            for product in engine.run(&reactants).iter().flatten() {
                if duplicates.contains(std::slice::from_ref(product), name) {
                    continue;
                }
                let Ok(smiles) = chematic::smiles::rdkit_canonical_smiles(&product.molecule) else {
                    continue;
                };
                if !written.insert(smiles.clone()) {
                    continue;
                }
                let Ok(whole) = Molecule::from_canonical(smiles.clone()) else { continue };
                // The atom mapping is useful if it can be determined; the molecule is valid in any case.
                let atoms = correspondence::find(&product.molecule, whole.graph());
                let source =
                    |atom: usize| product.atom_sources[*atoms.as_ref()?.get(atom)?].as_ref().map(name);
                let mut sources = (0..whole.atoms()).map(source);
                for part in smiles.split('.') {
                    let Ok(molecule) = Molecule::from_canonical(part.to_owned()) else { continue };
                    let sources = sources.by_ref().take(molecule.atoms()).collect();
                    if part.len() == smiles.len() || written.insert(part.to_owned()) {
                        each(Precursor { molecule, sources })?;
                    }
                }
            }
        }
    }
    ControlFlow::Continue(())
}

/// Returns every way to distribute `parts` template components among molecules, as groups of components.
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

/// Returns every order of `0..count`.
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
