//! Outcomes of a whole template library applied to a reaction mixture, as changes.
//!
//! The main decision: most templates do the same to a mixture as others. So a match is first described by its *edit*:
//! the bonds that its template changes, on the atoms that it matches. Each edit is performed once, by the most common
//! template that proposes it. Each product is one change, whatever edits lead to it. Templates of one molecule are
//! run on every molecule of the mixture; their products are competing products like any other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::change::{Change, ReactionMixture};
use super::mixture_graph::MixtureGraph;
use crate::graph::refinement::mix;
use crate::templates::edit::draft::DraftGraph;
use crate::templates::edit::script::Script;
use crate::templates::edit::validate::{self, Validity};
use crate::templates::index::TemplateIndex;
use crate::templates::screen::ProductScreen;
use crate::templates::template::Template;

/// Maximum number of matches examined per precursor side.
const MAX_MATCHES: usize = 64;

/// Index of templates for finding a mixture's outcomes.
#[derive(Debug, Default)]
pub struct OutcomeIndex {
    sides: TemplateIndex,
    /// Changes by template number.
    essences: HashMap<u32, TemplateChanges>,
}

/// Atoms and bonds that a template changes.
#[derive(Debug)]
struct TemplateChanges {
    /// Atoms of the precursor side that are removed or become something else.
    atoms: Vec<(u8, u64)>,
    /// Bonds that are made, changed or broken: two atoms of the precursor side, or one and a number for the added
    /// atom.
    bonds: Vec<(u8, Option<u8>, u64)>,
}

impl OutcomeIndex {
    /// Indexes `templates` by their numbers. Templates with smaller numbers are taken to be more common.
    ///
    /// Templates that only chematic can run forwards are left out.
    #[must_use]
    pub fn new<'a>(templates: impl IntoIterator<Item = (u32, &'a Template)>) -> Self {
        let mut essences = HashMap::new();
        let mut screens = Vec::new();
        for (number, template) in templates {
            let Some(script) = &template.forward_script else { continue };
            let Some(essence) = TemplateChanges::of(script) else { continue };
            essences.insert(number, essence);
            let query = script.query.clone();
            screens.push((number, Arc::new(ProductScreen { query, demand: None })));
        }
        let sides = TemplateIndex::of_screens(screens.iter().map(|(number, screen)| (*number, Some(screen))));
        Self { sides, essences }
    }

    /// Returns the outcomes of the mixture, each product once, at most `limit`, those of common templates first. Each
    /// has the number of a template that gives it.
    ///
    /// `template` returns a template by its number. Matches whose aromaticity only chematic can determine are left
    /// out.
    #[must_use]
    pub fn outcomes<'a>(
        &self,
        mixture: &ReactionMixture,
        template: impl Fn(u32) -> Option<&'a Template>,
        limit: usize,
    ) -> Vec<(u32, Change)> {
        let mut edits: HashMap<u64, (u32, Box<[u8]>)> = HashMap::new();
        self.sides.each_match(&mixture.target, MAX_MATCHES, &mut |numbers, images| {
            for &number in numbers {
                let Some(essence) = self.essences.get(&number) else { continue };
                let edit = essence.edit(images);
                let known = edits.get(&edit).is_some_and(|(known, _)| *known <= number);
                if !known {
                    edits.insert(edit, (number, images.into()));
                }
            }
        });
        let mut edits: Vec<(u32, Box<[u8]>, u64)> =
            edits.into_iter().map(|(edit, (number, images))| (number, images, edit)).collect();
        edits.sort_unstable();
        let mut found: Vec<(u32, Change)> = Vec::new();
        let mut places: HashMap<u64, usize> = HashMap::new();
        let mut draft = DraftGraph::default();
        for (number, images, _) in edits {
            if found.len() == limit {
                break;
            }
            let Some(script) = template(number).and_then(|template| template.forward_script.as_ref()) else {
                continue;
            };
            draft.fill(script, &mixture.target, &images);
            if validate::validate(script, &mixture.target, &mut draft) != Validity::Molecules {
                continue;
            }
            let (after, sources) = MixtureGraph::of_draft(&draft);
            let product = after.constitution();
            let change = || mixture.change_to(&after, &sources);
            match places.get(&product) {
                None => {
                    places.insert(product, found.len());
                    found.push((number, change()));
                }
                // Of two edits with the same product, the one that changes fewer atoms is kept.
                Some(&place) => {
                    let other = change();
                    if other.changing_atoms < found[place].1.changing_atoms {
                        found[place] = (number, other);
                    }
                }
            }
        }
        found
    }

    /// Returns the number of templates in the index.
    #[must_use]
    pub fn len(&self) -> usize {
        self.essences.len()
    }

    /// Returns true if the index is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.essences.is_empty()
    }
}

impl TemplateChanges {
    /// Extracts the changes of a template; `None` if it changes nothing.
    fn of(script: &Script) -> Option<Self> {
        let matched = script.matched_orders();
        let mut essence = Self { atoms: Vec::new(), bonds: Vec::new() };
        for (at, becomes) in (0_u8..).zip(&script.becomes) {
            match becomes.map(|atom| &script.atoms[usize::from(atom)]) {
                None => essence.atoms.push((at, u64::MAX)),
                Some(written) => {
                    let element = written.element.map_or(0, u64::from);
                    let charge = written.charge.map_or(0, |charge| 1 + u64::from(charge.cast_unsigned()));
                    // Most atoms state a charge; only a charge other than zero carries information.
                    let charge = if charge == 1 { 0 } else { charge };
                    if element != 0 || charge != 0 {
                        essence.atoms.push((at, element << 16 | charge));
                    }
                }
            }
        }
        let from = |atom: u8| script.atoms[usize::from(atom)].from;
        let is_pair = |a: (u8, u8), b: (u8, u8)| a == b || a == (b.1, b.0);
        let mut kept: HashSet<(u8, u8)> = HashSet::new();
        for &(a, b, order) in &script.bonds {
            match (from(a), from(b)) {
                (Some(a), Some(b)) => {
                    let was = matched.iter().find(|&&(c, d, _)| is_pair((a, b), (c, d)));
                    if let Some(&(c, d, _)) = was {
                        kept.insert((c, d));
                    }
                    if was.is_none_or(|&(_, _, was)| was != order) {
                        essence.bonds.push((a.min(b), Some(a.max(b)), u64::from(order)));
                    }
                }
                (Some(at), None) | (None, Some(at)) => {
                    let new = if from(a).is_none() { a } else { b };
                    let element = script.atoms[usize::from(new)].element.map_or(0, u64::from);
                    essence.bonds.push((at, None, element << 8 | u64::from(order)));
                }
                (None, None) => {}
            }
        }
        for &(a, b, _) in matched.iter().filter(|(a, b, _)| !kept.contains(&(*a, *b))) {
            let stays = |atom: u8| script.becomes[usize::from(atom)].is_some();
            if stays(a) && stays(b) {
                essence.bonds.push((a.min(b), Some(a.max(b)), u64::MAX));
            }
        }
        (!essence.atoms.is_empty() || !essence.bonds.is_empty()).then_some(essence)
    }

    /// Returns a hash of the changes and the atoms that they affect.
    fn edit(&self, images: &[u8]) -> u64 {
        let image = |atom: u8| u64::from(images[usize::from(atom)]);
        let mut sum = 0_u64;
        for &(atom, what) in &self.atoms {
            sum = sum.wrapping_add(mix(image(atom), what));
        }
        for &(a, b, what) in &self.bonds {
            let (a, b) = (image(a), b.map_or(0xffff, image));
            sum = sum.wrapping_add(mix(mix(a.min(b) << 16 | a.max(b), 9), what));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::molecules::molecule::Molecule;

    /// Returns the outcomes of the mixture by template number, with their changes.
    fn outcomes(templates: &[&str], mixture: &[&str], limit: usize) -> Vec<(u32, Change)> {
        let templates: Vec<Template> = templates.iter().map(|one| Template::parse(one).unwrap()).collect();
        let molecules: Vec<Molecule> = mixture.iter().map(|smiles| smiles.parse().unwrap()).collect();
        let index = OutcomeIndex::new((0_u32..).zip(&templates));
        let mixture = ReactionMixture::new(&molecules).unwrap();
        index.outcomes(&mixture, |number| templates.get(number as usize), limit)
    }

    const ACYLATION: &str = "[N;H1;D2:1]-[C:2](=[O:3])>>[N;H2;D1:1].Cl-[C:2](=[O:3])";
    const HYDROLYSIS: &str = "[C:2](=[O:3])-[OH]>>[C:2](=[O:3])-Cl";

    #[test]
    fn every_site_is_an_outcome_and_sites_alike_by_symmetry_are_one() {
        let two_sites = outcomes(&[ACYLATION], &["NCCCC(C)N", "CC(=O)Cl"], 64);
        let alike = outcomes(&[ACYLATION], &["NCCCCN", "CC(=O)Cl"], 64);

        assert_eq!(two_sites.len(), 2);
        assert_ne!(two_sites[0].1.product_hash, two_sites[1].1.product_hash);
        assert_eq!(alike.len(), 1);
    }

    #[test]
    fn a_reaction_of_one_molecule_of_the_mixture_is_a_competitor() {
        let found = outcomes(&[ACYLATION, HYDROLYSIS], &["CCN", "CC(=O)Cl"], 64);

        let numbers: Vec<u32> = found.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [0, 1]);
    }

    #[test]
    fn an_edit_is_made_once_by_the_commonest_template() {
        let found = outcomes(&[ACYLATION, ACYLATION], &["CCN", "CC(=O)Cl"], 64);

        assert_eq!(found.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn the_product_is_known_by_its_structure_alone() {
        let molecules: Vec<Molecule> = ["CCN", "CC(=O)Cl"].map(|smiles| smiles.parse().unwrap()).into();
        let product: Molecule = "CCNC(C)=O".parse().unwrap();
        let known =
            ReactionMixture::new(&molecules).unwrap().change(&product, &vec![None; product.atoms()]).unwrap();

        let found = outcomes(&[ACYLATION], &["CCN", "CC(=O)Cl"], 64);

        assert_eq!(found[0].1.product_hash, known.product_hash);
        assert_eq!(outcomes(&[ACYLATION], &["NCCCC(C)N", "CC(=O)Cl"], 1).len(), 1);
    }
}
