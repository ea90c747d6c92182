//! Which of many templates may match a molecule, without asking each of them.
//!
//! Templates share product sides, and product sides share what they ask of an atom and its neighbours: its
//! *surroundings*. Where each of the surroundings occurs in a molecule is found once, as sets of atoms, from sets that
//! are shared in turn: the atoms that fit a mask, the atoms bonded to one of those. A side is looked at only
//! where the rarest of its surroundings occurs, matched only where all of them do, and the match has few atoms left to
//! try for each step. What is found is exactly what asking every template would find.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

use super::matcher::{self, Set, Target};
use super::query::MAX_PATTERN;
use super::{Screen, Template};
use crate::prepared::PreparedMolecule;

/// Finds the templates that may match a molecule.
#[derive(Default)]
pub struct TemplateIndex {
    /// What is asked of single atoms.
    masks: Vec<u64>,
    /// Atoms bonded to one of a mask: its number and the bonds.
    neighbours: Vec<(u32, u8)>,
    surroundings: Vec<Surroundings>,
    /// In the order of the surroundings that they are found by.
    sides: Vec<Side>,
    /// For each of the surroundings, the sides that are found by them.
    found_by: Vec<Range<u32>>,
    /// Numbers of templates that have no screen and may match anything.
    unscreened: Vec<u32>,
    /// Numbers of all templates.
    all: Vec<u32>,
}

/// What a side asks of one of its atoms and of what that is bonded to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Surroundings {
    mask: u32,
    /// Numbers of neighbours, ascending; like ones once.
    neighbours: Box<[u32]>,
}

/// A product side.
struct Side {
    screen: Arc<Screen>,
    /// For each step of the screen's query, the number of the surroundings.
    surroundings: Box<[u32]>,
    /// Numbers of the templates that have it.
    templates: Vec<u32>,
}

impl TemplateIndex {
    /// The index of `templates`, each with the number that it is to be found by.
    #[must_use]
    pub fn new<'a>(templates: impl IntoIterator<Item = (u32, &'a Template)>) -> Self {
        let mut index = Self::default();
        let mut sides: Vec<Side> = Vec::new();
        let mut numbers = Numbers::default();
        let mut known: HashMap<Arc<Screen>, usize> = HashMap::new();
        for (number, template) in templates {
            index.all.push(number);
            let Some(screen) = &template.screen else {
                index.unscreened.push(number);
                continue;
            };
            let side = *known.entry(Arc::clone(screen)).or_insert_with(|| {
                let surroundings = numbers.surroundings_of(screen);
                sides.push(Side { screen: Arc::clone(screen), surroundings, templates: Vec::new() });
                sides.len() - 1
            });
            sides[side].templates.push(number);
        }
        index.masks = numbers.masks.in_order();
        index.neighbours = numbers.neighbours.in_order();
        index.surroundings = numbers.surroundings.in_order();
        index.file(sides);
        index
    }

    /// Puts each side where it is found: with those of its surroundings that the fewest sides have.
    fn file(&mut self, mut sides: Vec<Side>) {
        let mut sharing = vec![0_u32; self.surroundings.len()];
        for side in &sides {
            side.surroundings.iter().for_each(|&at| sharing[at as usize] += 1);
        }
        let rarest = |side: &Side| side.surroundings.iter().copied().min_by_key(|&at| (sharing[at as usize], at));
        sides.sort_by_cached_key(|side| rarest(side));
        let mut end = 0;
        self.found_by = (0..self.surroundings.len() as u32)
            .map(|at| {
                let start = end;
                while sides.get(end as usize).is_some_and(|side| rarest(side) <= Some(at)) {
                    end += 1;
                }
                start..end
            })
            .collect();
        self.sides = sides;
    }

    /// Numbers of the templates that [may match](Template::may_match), ascending.
    #[must_use]
    pub fn matching(&self, product: &PreparedMolecule) -> Vec<u32> {
        let Some(target) = product.target() else { return self.all.clone() };
        let mut found = self.unscreened.clone();
        if target.features.len() <= 128 {
            self.find::<1>(product, target, &mut found);
        } else {
            self.find::<2>(product, target, &mut found);
        }
        found.sort_unstable();
        found
    }

    fn find<const W: usize>(&self, product: &PreparedMolecule, target: &Target, found: &mut Vec<u32>) {
        let places = self.places::<W>(target);
        let occurs = |&at: &u32| places[at as usize] != Set::EMPTY;
        for (at, filed) in self.found_by.iter().enumerate() {
            if filed.is_empty() || places[at] == Set::EMPTY {
                continue;
            }
            for side in &self.sides[filed.start as usize..filed.end as usize] {
                if !side.surroundings.iter().all(occurs) {
                    continue;
                }
                let mut candidates = [Set::EMPTY; MAX_PATTERN];
                for (set, &at) in candidates.iter_mut().zip(&side.surroundings) {
                    *set = places[at as usize];
                }
                let mut accept = |images: &[u8]| side.screen.accepts(product, target, images);
                if matcher::may_match_among(&side.screen.query, target, candidates, &mut accept) {
                    found.extend_from_slice(&side.templates);
                }
            }
        }
    }

    /// For each of the surroundings, the atoms that have them.
    fn places<const W: usize>(&self, target: &Target) -> Vec<Set<W>> {
        let kinds = Kinds::<W>::of(target);
        let fitting: Vec<Set<W>> = self.masks.iter().map(|&mask| kinds.fitting(mask)).collect();
        let bonded: Vec<Set<W>> =
            self.neighbours.iter().map(|&(mask, bonds)| kinds.bonded(self.masks[mask as usize], bonds)).collect();
        let place = |one: &Surroundings| {
            let mut place = fitting[one.mask as usize];
            for &neighbour in &one.neighbours {
                place.narrow(&bonded[neighbour as usize]);
            }
            place
        };
        self.surroundings.iter().map(place).collect()
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

/// The atoms of a molecule by what masks see of them.
struct Kinds<const W: usize> {
    kinds: Vec<Kind<W>>,
}

struct Kind<const W: usize> {
    features: u64,
    atoms: Set<W>,
    /// By the bonds of a mask, the atoms bonded to one of these by one of them.
    bonded: [Set<W>; 16],
}

impl<const W: usize> Kinds<W> {
    fn of(target: &Target) -> Self {
        let mut kinds: Vec<Kind<W>> = Vec::new();
        for (atom, &features) in (0..).zip(&target.features) {
            let at = kinds.iter().position(|kind| kind.features == features).unwrap_or_else(|| {
                kinds.push(Kind { features, atoms: Set::EMPTY, bonded: [Set::EMPTY; 16] });
                kinds.len() - 1
            });
            kinds[at].atoms.insert(atom);
            for &(next, order) in target.around(atom) {
                for (bonds, set) in (0_u8..).zip(&mut kinds[at].bonded) {
                    if bonds & order != 0 {
                        set.insert(next);
                    }
                }
            }
        }
        Self { kinds }
    }

    fn fitting(&self, mask: u64) -> Set<W> {
        self.union(mask, |kind| &kind.atoms)
    }

    fn bonded(&self, mask: u64, bonds: u8) -> Set<W> {
        self.union(mask, |kind| &kind.bonded[usize::from(bonds & 15)])
    }

    fn union(&self, mask: u64, of: impl Fn(&Kind<W>) -> &Set<W>) -> Set<W> {
        let mut all = Set::EMPTY;
        for kind in self.kinds.iter().filter(|kind| kind.features & !mask == 0) {
            all.widen(of(kind));
        }
        all
    }
}

/// Gives like things one number, ascending in the order in which they come.
#[derive(Debug)]
struct Numbering<T>(HashMap<T, u32>);

impl<T> Default for Numbering<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Hash + Eq> Numbering<T> {
    fn of(&mut self, thing: T) -> u32 {
        let next = u32::try_from(self.0.len()).expect("index: no more things than memory holds");
        *self.0.entry(thing).or_insert(next)
    }

    fn in_order(self) -> Vec<T> {
        let mut all: Vec<(T, u32)> = self.0.into_iter().collect();
        all.sort_unstable_by_key(|&(_, number)| number);
        all.into_iter().map(|(thing, _)| thing).collect()
    }
}

#[derive(Default)]
struct Numbers {
    masks: Numbering<u64>,
    neighbours: Numbering<(u32, u8)>,
    surroundings: Numbering<Surroundings>,
}

impl Numbers {
    /// The surroundings of each step.
    fn surroundings_of(&mut self, screen: &Screen) -> Box<[u32]> {
        let steps = &screen.query.steps;
        let mut neighbours = vec![Vec::new(); steps.len()];
        let masks: Vec<u32> = steps.iter().map(|step| self.masks.of(step.mask)).collect();
        for (at, step) in steps.iter().enumerate() {
            for &(other, bonds) in step.parent.iter().chain(&step.closures) {
                let other = usize::from(other);
                neighbours[at].push(self.neighbours.of((masks[other], bonds)));
                neighbours[other].push(self.neighbours.of((masks[at], bonds)));
            }
        }
        masks
            .into_iter()
            .zip(neighbours)
            .map(|(mask, mut neighbours)| {
                neighbours.sort_unstable();
                neighbours.dedup();
                self.surroundings.of(Surroundings { mask, neighbours: neighbours.into() })
            })
            .collect()
    }
}
