//! A template applied backwards: product to precursors.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use chematic::rxn::transform::TracedProduct;

use super::duplicates::Duplicates;
use super::edit::build::{self, Made};
use super::edit::parts::Precursor;
use super::edit::run::{self, End};
use super::engine::Engine;
use super::outcome::Outcome;
use super::prepared::PreparedMolecule;
use super::site::Site;
use super::template::Template;
use crate::graph::correspondence;
use crate::molecules::key::Key;
use crate::molecules::molecule::Molecule;

impl Template {
    /// Applies the template to a product.
    ///
    /// Outcomes are unique and come in the order of their precursors' keys; there are none where the template
    /// does not match. Outcomes whose molecules do not sanitise are left out. An outcome in which a precursor is
    /// the product itself is kept: whether that is of use is the caller's question.
    ///
    /// Stereo is not lost in silence. An outcome in which a stereocentre or double bond whose configuration the
    /// product states is gone, or no longer stated, is left out, unless the template states stereo on its product
    /// side. RDKit ignores that stereo when it matches, so that whether such a template makes this product or
    /// another isomer is known only once it has been [run forwards](Self::forward); what certainly makes
    /// another is left out.
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

    /// [Applies](Self::apply) the template, asking after every match whether to `go_on`; once told not to, it gives
    /// what it has or nothing.
    #[must_use]
    pub fn apply_while(&self, product: &PreparedMolecule, go_on: &mut dyn FnMut() -> bool) -> Vec<Outcome> {
        self.applied(product, Alike::Once, go_on)
    }

    /// [Applies](Self::apply) the template, and keeps outcomes apart that have the same precursors but take other atoms of the
    /// product apart: which amide of a chain of alike ones is made, though the pieces are the same. Asks whether to `go_on` as
    /// [`Self::apply_while`] does.
    #[must_use]
    pub fn apply_apart(&self, product: &PreparedMolecule, go_on: &mut dyn FnMut() -> bool) -> Vec<Outcome> {
        self.applied(product, Alike::Apart, go_on)
    }

    fn applied(
        &self,
        product: &PreparedMolecule,
        alike: Alike,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Vec<Outcome> {
        if !self.may_match(product) {
            return Vec::new();
        }
        on_the_graph(self, product, alike, go_on).unwrap_or_else(|| the_long_way(self, product, alike, go_on))
    }
}

/// What is done with outcomes of the same precursors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alike {
    /// The first stands for all.
    Once,
    /// Those that take other atoms of the product apart are kept.
    Apart,
}

/// What an outcome is told from others by.
type Told = (Vec<Key>, Vec<Arc<[Option<u32>]>>);

impl Alike {
    fn told(self, precursors: &[Precursor]) -> Told {
        let keys = precursors.iter().map(|precursor| precursor.molecule.key()).collect();
        let sources = precursors.iter().map(|precursor| Arc::clone(&precursor.sources));
        (keys, if self == Self::Apart { sources.collect() } else { Vec::new() })
    }
}

/// By the template's script, without a string; `None` where a match has to go the long way.
pub(super) fn on_the_graph(
    template: &Template,
    product: &PreparedMolecule,
    alike: Alike,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Outcome>> {
    let (script, target) = (template.script.as_ref()?, product.target()?);
    let mut outcomes: BTreeMap<Told, Outcome> = BTreeMap::new();
    let end = run::run(script, target, go_on, |draft, images| {
        let made =
            draft.map_or(Made::Unsure, |draft| build::molecules(script, draft, target, product.parts()));
        match made {
            Made::Molecules(precursors) => {
                let told = alike.told(&precursors);
                let outcome = outcomes.entry(told).or_insert(Outcome { precursors, sites: Vec::new() });
                outcome.sites.extend(Site::of(target, images));
                ControlFlow::Continue(())
            }
            Made::StereoLost => ControlFlow::Continue(()),
            Made::Unsure => ControlFlow::Break(()),
        }
    });
    (end != End::Left).then(|| outcomes.into_values().collect())
}

/// Through chematic: its reactions, its sanitiser, its canonical SMILES.
pub(super) fn the_long_way(
    template: &Template,
    product: &PreparedMolecule,
    alike: Alike,
    go_on: &mut dyn FnMut() -> bool,
) -> Vec<Outcome> {
    let mut outcomes: BTreeMap<Told, Outcome> = BTreeMap::new();
    let mut duplicates = Duplicates::default();
    if !go_on() {
        return Vec::new();
    }
    let backward = template.backward.get_or_make(|| Engine::new(template.text.backward()));
    for products in backward.run(&[product.molecule()]) {
        if !go_on() {
            break;
        }
        if duplicates.contains(&products, |source| source.atom.0) {
            continue;
        }
        let Some(mut precursors) = precursors(&products) else { continue };
        precursors.sort_by_key(|precursor| precursor.molecule.key());
        outcomes.entry(alike.told(&precursors)).or_insert(Outcome { precursors, sites: Vec::new() });
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
