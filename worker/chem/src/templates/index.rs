//! The index that finds the templates that may match a molecule, without testing each of them.
//!
//! Templates share product sides, and product sides share conditions on an atom and its neighbours: its
//! *surroundings*. The places of all surroundings in a molecule are found once, as sets of atoms, from other shared
//! sets: the atoms that fit a mask, and the atoms bonded to one of those. A side is checked only where its rarest
//! surroundings occur, and matched only where all of them occur; the matcher then has few candidate atoms for each
//! step. The result is exactly that of testing every template.

use std::collections::HashMap;
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::matching::matcher::{self, AtomSet, Candidates};
use super::matching::query::{MAX_PATTERN, MaskPattern};
use super::matching::target::MatchTarget;
use super::prepared::PreparedMolecule;
use super::screen::ProductScreen;
use super::site::{Match, Matches, Site};
use super::template::Template;

/// Maximum number of distinct sites of a product side; a peptide has more equivalent bonds than anyone will read.
pub(crate) const MAX_SITES: usize = 16;

/// An index of the templates that may match a molecule.
#[derive(Default)]
pub struct TemplateIndex {
    masks: Vec<AtomCondition>,
    /// Bond orders by which atoms are bonded to an atom of a mask.
    neighbours: Vec<u8>,
    /// Neighbour entries of each of the surroundings of a mask.
    surroundings: Vec<Box<[u32]>>,
    /// Product sides, sorted by the surroundings under which they are filed.
    sides: Vec<ProductSide>,
    /// Surroundings, and the range of sides filed under them.
    found_by: Vec<(u32, Range<usize>)>,
    /// Numbers of templates without a screen, which may match anything.
    unscreened: Vec<u32>,
    /// Numbers of all templates.
    all: Vec<u32>,
}

/// Conditions on an atom by itself.
struct AtomCondition {
    mask: u64,
    /// Neighbour entries for atoms of this mask.
    neighbours: Range<usize>,
    /// Surroundings of atoms of this mask.
    surroundings: Range<usize>,
}

/// A product side.
struct ProductSide {
    screen: Arc<ProductScreen>,
    /// Surroundings of each step of the screen's query.
    surroundings: Box<[u32]>,
    /// Numbers of the templates with this side.
    templates: Vec<u32>,
}

/// A neighbour: its mask and the bonds to it.
type Neighbour = (u64, u8);
/// The mask of an atom and its neighbours, ascending, without duplicates.
type AtomEnvironment = (u64, Vec<Neighbour>);

impl TemplateIndex {
    /// Builds the index of `templates`, each with the number under which it is reported.
    #[must_use]
    pub fn new<'a>(templates: impl IntoIterator<Item = (u32, &'a Template)>) -> Self {
        Self::of_screens(templates.into_iter().map(|(number, template)| (number, template.screen.as_ref())))
    }

    /// Builds an index of items with these screens.
    pub(crate) fn of_screens<'a>(
        screens: impl IntoIterator<Item = (u32, Option<&'a Arc<ProductScreen>>)>,
    ) -> Self {
        let mut index = Self::default();
        let mut sides: Vec<(&Arc<ProductScreen>, Vec<u32>)> = Vec::new();
        let mut known: HashMap<&ProductScreen, usize> = HashMap::new();
        for (number, screen) in screens {
            index.all.push(number);
            let screen = screen.filter(|screen| !screen.query.steps.is_empty());
            let Some(screen) = screen else {
                index.unscreened.push(number);
                continue;
            };
            let side = *known.entry(&**screen).or_insert(sides.len());
            if side == sides.len() {
                sides.push((screen, Vec::new()));
            }
            sides[side].1.push(number);
        }
        let surroundings: Vec<Vec<AtomEnvironment>> =
            sides.iter().map(|(screen, _)| surroundings(&screen.query)).collect();
        let distinct = index.number(&surroundings);
        let sides =
            sides.into_iter().zip(&surroundings).map(|((screen, templates), surroundings)| ProductSide {
                screen: Arc::clone(screen),
                surroundings: surroundings.iter().map(|one| index_of(one, &distinct)).collect(),
                templates,
            });
        index.sort_by_rarest(sides.collect());
        index
    }

    /// Numbers masks, neighbours and surroundings, so that those of a mask are adjacent; returns the surroundings.
    fn number(&mut self, all: &[Vec<AtomEnvironment>]) -> Vec<AtomEnvironment> {
        let distinct = sorted(all.iter().flatten().cloned());
        let neighbours = sorted(distinct.iter().flat_map(|(_, neighbours)| neighbours.iter().copied()));
        let with = |mask: u64| {
            let (from, to) = (
                neighbours.partition_point(|one| one.0 < mask),
                neighbours.partition_point(|one| one.0 <= mask),
            );
            let start = distinct.partition_point(|one| one.0 < mask);
            AtomCondition {
                mask,
                neighbours: from..to,
                surroundings: start..distinct.partition_point(|one| one.0 <= mask),
            }
        };
        self.masks = sorted(distinct.iter().map(|one| one.0)).into_iter().map(with).collect();
        let places =
            |(_, around): &AtomEnvironment| around.iter().map(|one| index_of(one, &neighbours)).collect();
        self.surroundings = distinct.iter().map(places).collect();
        self.neighbours = neighbours.into_iter().map(|(_, bonds)| bonds).collect();
        distinct
    }

    /// Files each side under the rarest of its surroundings: those shared by the fewest sides.
    fn sort_by_rarest(&mut self, mut sides: Vec<ProductSide>) {
        let mut sharing = vec![0_u32; self.surroundings.len()];
        for side in &sides {
            side.surroundings.iter().for_each(|&at| sharing[at as usize] += 1);
        }
        let rarest = |side: &ProductSide| {
            side.surroundings.iter().copied().min_by_key(|&at| (sharing[at as usize], at)).unwrap_or_default()
        };
        sides.sort_by_cached_key(rarest);
        let mut end = 0;
        for alike in sides.chunk_by(|a, b| rarest(a) == rarest(b)) {
            self.found_by.push((rarest(&alike[0]), end..end + alike.len()));
            end += alike.len();
        }
        self.sides = sides;
    }

    /// Returns the templates that [may match](Template::may_match), ascending, with their sites.
    #[must_use]
    pub fn matches(&self, product: &PreparedMolecule) -> Matches {
        let nowhere = |&template: &u32| Match { template, first: 0, count: 0 };
        let mut found = Matches::default();
        let Some(target) = product.target() else {
            found.templates.extend(self.all.iter().map(nowhere));
            return found;
        };
        found.templates.extend(self.unscreened.iter().map(nowhere));
        if target.features.len() <= 128 {
            self.find::<1>(product, target, &mut found);
        } else {
            self.find::<2>(product, target, &mut found);
        }
        found.templates.sort_unstable();
        found
    }

    /// Calls `visit` with every match in `target` of a side that is screened by its query alone. The arguments are
    /// the numbers of the templates with this side, and the target atom for each atom of the pattern. There are at
    /// most `limit` matches for a side.
    pub(crate) fn each_match(
        &self,
        target: &MatchTarget,
        limit: usize,
        visit: &mut dyn FnMut(&[u32], &[u8]),
    ) {
        if target.features.len() <= 128 {
            self.match_all::<1>(target, limit, visit);
        } else {
            self.match_all::<2>(target, limit, visit);
        }
    }

    fn match_all<const W: usize>(
        &self,
        target: &MatchTarget,
        limit: usize,
        visit: &mut dyn FnMut(&[u32], &[u8]),
    ) {
        self.each_side::<W>(target, &mut |side, candidates| {
            let mut left = limit;
            matcher::matches_among(&side.screen.query, target, candidates, &mut |images| {
                visit(&side.templates, images);
                left -= 1;
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        });
    }

    fn find<const W: usize>(&self, product: &PreparedMolecule, target: &MatchTarget, found: &mut Matches) {
        self.each_side::<W>(target, &mut |side, candidates| {
            let first = found.sites.len();
            let mut enough = |images: &[u8]| {
                if !side.screen.accepts(product, target, images) {
                    return false;
                }
                let Some(site) = Site::of(target, images) else { return true };
                if !found.sites[first..].contains(&site) {
                    found.sites.push(site);
                }
                found.sites.len() - first == MAX_SITES
            };
            let may_match = matcher::may_match_among(&side.screen.query, target, candidates, &mut enough);
            let count = found.sites.len() - first;
            if may_match || count > 0 {
                let (first, count) = (first as u32, count as u32);
                let here = |&template: &u32| Match { template, first, count };
                found.templates.extend(side.templates.iter().map(here));
            }
        });
    }

    /// Calls `visit` with every side of which all surroundings occur in `target`, and with the candidate atoms of its
    /// steps.
    fn each_side<const W: usize>(
        &self,
        target: &MatchTarget,
        visit: &mut dyn FnMut(&ProductSide, Candidates<W>),
    ) {
        let places = self.places::<W>(target);
        let occurs = |&at: &u32| places[at as usize] != AtomSet::EMPTY;
        for (_, sides) in self.found_by.iter().filter(|(at, _)| occurs(at)) {
            for side in self.sides[sides.clone()].iter().filter(|side| side.surroundings.iter().all(occurs)) {
                let mut candidates = [AtomSet::EMPTY; MAX_PATTERN];
                for (set, &at) in candidates.iter_mut().zip(&side.surroundings) {
                    *set = places[at as usize];
                }
                visit(side, candidates);
            }
        }
    }

    /// Returns the atoms with each of the surroundings.
    fn places<const W: usize>(&self, target: &MatchTarget) -> Vec<AtomSet<W>> {
        let kinds = kinds::<W>(target);
        let mut fitting = vec![AtomSet::EMPTY; self.masks.len()];
        let mut bonded = vec![AtomSet::EMPTY; self.neighbours.len()];
        for (mask, fitting) in self.masks.iter().zip(&mut fitting) {
            for kind in kinds.iter().filter(|kind| kind.features & !mask.mask == 0) {
                fitting.union_with(&kind.atoms);
                let bonds = &self.neighbours[mask.neighbours.clone()];
                for (set, &bonds) in bonded[mask.neighbours.clone()].iter_mut().zip(bonds) {
                    set.union_with(&kind.bonded[usize::from(bonds % 16)]);
                }
            }
        }
        let mut places = vec![AtomSet::EMPTY; self.surroundings.len()];
        for (mask, fitting) in
            self.masks.iter().zip(fitting).filter(|(_, fitting)| *fitting != AtomSet::EMPTY)
        {
            let surroundings = &self.surroundings[mask.surroundings.clone()];
            for (place, neighbours) in places[mask.surroundings.clone()].iter_mut().zip(surroundings) {
                *place = fitting;
                neighbours.iter().for_each(|&at| place.intersect_with(&bonded[at as usize]));
            }
        }
        places
    }
}

impl fmt::Debug for TemplateIndex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TemplateIndex")
            .field("templates", &self.all.len())
            .field("unscreened", &self.unscreened.len())
            .field("sides", &self.sides.len())
            .field("surroundings", &self.surroundings.len())
            .field("neighbours", &self.neighbours.len())
            .field("masks", &self.masks.len())
            .finish()
    }
}

/// Atoms of a molecule that no mask distinguishes.
struct AtomKind<const W: usize> {
    features: u64,
    atoms: AtomSet<W>,
    /// Atoms bonded to one of these by a bond of the mask; the bond mask is the index.
    bonded: [AtomSet<W>; 16],
}

fn kinds<const W: usize>(target: &MatchTarget) -> Vec<AtomKind<W>> {
    let mut kinds: Vec<AtomKind<W>> = Vec::new();
    for (atom, &features) in (0..).zip(&target.features) {
        let at = kinds.iter().position(|kind| kind.features == features).unwrap_or_else(|| {
            kinds.push(AtomKind { features, atoms: AtomSet::EMPTY, bonded: [AtomSet::EMPTY; 16] });
            kinds.len() - 1
        });
        kinds[at].atoms.insert(atom);
        for &(next, order) in target.around(atom) {
            let alike = (0_u8..).zip(&mut kinds[at].bonded).filter(|(bonds, _)| bonds & order != 0);
            alike.for_each(|(_, set)| set.insert(next));
        }
    }
    kinds
}

/// Returns the surroundings of each step.
fn surroundings(query: &MaskPattern) -> Vec<AtomEnvironment> {
    let mut all: Vec<AtomEnvironment> = query.steps.iter().map(|step| (step.mask, Vec::new())).collect();
    for (at, step) in query.steps.iter().enumerate() {
        for &(other, bonds) in step.parent.iter().chain(&step.closures) {
            let other = usize::from(other);
            let (mask, other_mask) = (all[at].0, all[other].0);
            all[at].1.push((other_mask, bonds));
            all[other].1.push((mask, bonds));
        }
    }
    for (_, neighbours) in &mut all {
        neighbours.sort_unstable();
        neighbours.dedup();
    }
    all
}

/// Sorts the items and removes duplicates.
fn sorted<T: Ord>(things: impl Iterator<Item = T>) -> Vec<T> {
    let mut things: Vec<T> = things.collect();
    things.sort_unstable();
    things.dedup();
    things
}

/// Returns the index of an item in a sorted slice.
fn index_of<T: Ord>(thing: &T, sorted: &[T]) -> u32 {
    let place = sorted.binary_search(thing).expect("index: what sides have has been numbered");
    u32::try_from(place).expect("index: fewer things than memory holds")
}
