//! Retrosynthetic application of a template: product to precursors.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use chematic::rxn::transform::TracedProduct;

use super::duplicates::Duplicates;
use super::edit::build::{self, BuildResult};
use super::edit::parts::Precursor;
use super::edit::run::{self, RunEnd};
use super::engine::TemplateEngine;
use super::outcome::Outcome;
use super::prepared::PreparedMolecule;
use super::site::Site;
use super::template::Template;
use crate::graph::correspondence;
use crate::molecules::key::MoleculeKey;
use crate::molecules::molecule::Molecule;

impl Template {
    /// Applies the template to a product.
    ///
    /// Outcomes are unique and sorted by their precursors' keys. The list is empty if the template does not match.
    /// Outcomes whose molecules do not sanitise are left out. An outcome in which a precursor is the product itself
    /// is kept: the caller decides whether it is of use.
    ///
    /// Stereo is not lost silently. An outcome is left out if a stereocentre or double bond with a configuration
    /// stated in the product is gone or no longer stated, unless the template states stereo on its product side. One
    /// or two centres may become atoms of double bonds or aromatic rings, as in the ketone of a chiral alcohol:
    /// [`Outcome::made_centres`] has them, and the caller decides whether their configuration can be made.
    /// RDKit ignores that stereo when it matches, so only a template that is [run forwards](Self::forward) shows
    /// whether it makes this product or another isomer. Outcomes that certainly make another isomer are left out.
    ///
    /// ```
    /// use chem::{Molecule, PreparedMolecule, Template};
    ///
    /// let amide = Template::parse("[C:1](=[O:2])[NH:3][c:4]>>Cl[C:1]=[O:2].[NH2:3][c:4]")?;
    /// let paracetamol: Molecule = "CC(=O)Nc1ccc(O)cc1".parse()?;
    ///
    /// let outcomes = amide.apply(&PreparedMolecule::new(&paracetamol));
    ///
    /// let mut precursors: Vec<_> = outcomes[0].precursors.iter().map(|precursor| precursor.molecule.as_canonical()).collect();
    /// precursors.sort_unstable();
    /// assert_eq!(precursors, ["CC(=O)Cl", "Nc1ccc(O)cc1"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn apply(&self, product: &PreparedMolecule) -> Vec<Outcome> {
        self.apply_while(product, &mut || true)
    }

    /// [Applies](Self::apply) the template and calls `should_continue` after every match. If `should_continue` returns false, the
    /// outcomes so far are returned, or none.
    #[must_use]
    pub fn apply_while(
        &self,
        product: &PreparedMolecule,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Vec<Outcome> {
        self.applied(product, DuplicatePolicy::Once, should_continue)
    }

    /// [Applies](Self::apply) the template, but keeps outcomes separate that have the same precursors from different
    /// atoms of the product: for example, which one of several equivalent amides in a chain is made. Calls `should_continue` as
    /// [`Self::apply_while`] does.
    #[must_use]
    pub fn apply_by_site(
        &self,
        product: &PreparedMolecule,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Vec<Outcome> {
        self.applied(product, DuplicatePolicy::Apart, should_continue)
    }

    fn applied(
        &self,
        product: &PreparedMolecule,
        alike: DuplicatePolicy,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Vec<Outcome> {
        if !self.may_match(product) {
            return Vec::new();
        }
        on_the_graph(self, product, alike, should_continue)
            .unwrap_or_else(|| the_long_way(self, product, alike, should_continue))
    }
}

/// The treatment of outcomes with the same precursors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DuplicatePolicy {
    /// Only the first is kept.
    Once,
    /// Those that disconnect different atoms of the product are kept.
    Apart,
}

/// Identity of an outcome: precursor keys and, if kept apart, sources.
type OutcomeIdentity = (Vec<MoleculeKey>, Vec<Arc<[Option<u32>]>>);

impl DuplicatePolicy {
    fn identity(self, precursors: &[Precursor]) -> OutcomeIdentity {
        let keys = precursors.iter().map(|precursor| precursor.molecule.key()).collect();
        let sources = precursors.iter().map(|precursor| Arc::clone(&precursor.sources));
        (keys, if self == Self::Apart { sources.collect() } else { Vec::new() })
    }
}

/// Applies the template by its script, without a string; `None` if a match needs the general path.
pub(super) fn on_the_graph(
    template: &Template,
    product: &PreparedMolecule,
    alike: DuplicatePolicy,
    should_continue: &mut dyn FnMut() -> bool,
) -> Option<Vec<Outcome>> {
    let (script, target) = (template.script.as_ref()?, product.target()?);
    let mut outcomes: BTreeMap<OutcomeIdentity, Outcome> = BTreeMap::new();
    let end = run::run(script, target, should_continue, |draft, images| {
        let made = draft
            .map_or(BuildResult::Unsure, |draft| build::molecules(script, draft, target, product.parts()));
        let (precursors, made_centres) = match made {
            BuildResult::Molecules(precursors) => (precursors, Vec::new()),
            BuildResult::Prochiral(precursors, centres) => (precursors, centres),
            BuildResult::StereoLost => return ControlFlow::Continue(()),
            BuildResult::Unsure => return ControlFlow::Break(()),
        };
        let identity = alike.identity(&precursors);
        let new = Outcome { precursors, sites: Vec::new(), made_centres };
        outcomes.entry(identity).or_insert(new).sites.extend(Site::of(target, images));
        ControlFlow::Continue(())
    });
    (end != RunEnd::Left).then(|| outcomes.into_values().collect())
}

/// Applies the template through chematic: its reactions, its sanitiser, its canonical SMILES.
pub(super) fn the_long_way(
    template: &Template,
    product: &PreparedMolecule,
    alike: DuplicatePolicy,
    should_continue: &mut dyn FnMut() -> bool,
) -> Vec<Outcome> {
    let mut outcomes: BTreeMap<OutcomeIdentity, Outcome> = BTreeMap::new();
    let mut duplicates = Duplicates::default();
    if !should_continue() {
        return Vec::new();
    }
    let backward = template.backward.get_or_make(|| TemplateEngine::new(template.text.backward()));
    for products in backward.run(&[product.molecule()]) {
        if !should_continue() {
            break;
        }
        if duplicates.contains(&products, |source| source.atom.0) {
            continue;
        }
        let Some(mut precursors) = precursors(&products) else { continue };
        precursors.sort_by_key(|precursor| precursor.molecule.key());
        let Some(made_centres) = made_centres(template, product, &precursors) else { continue };
        let new = Outcome { precursors, sites: Vec::new(), made_centres };
        outcomes.entry(alike.identity(&new.precursors)).or_insert(new);
    }
    outcomes.into_values().collect()
}

/// Returns the centres of the product that are flat in the precursors; none for a template whose stereo only a
/// forward run can check, and `None` if other stereo is lost.
fn made_centres(
    template: &Template,
    product: &PreparedMolecule,
    precursors: &[Precursor],
) -> Option<Vec<u32>> {
    if template.states_stereo {
        return Some(Vec::new());
    }
    let parts = precursors.iter().map(|part| (&part.molecule, &*part.sources));
    product.stereo().flattened(product.molecule().graph(), parts)
}

/// Returns the molecules of one match; `None` if one of them is invalid.
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
