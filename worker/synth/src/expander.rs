//! What the templates make of a molecule, computed once for all searches of a process.
//!
//! An [`Expansion`] is the list of templates worth trying on a molecule and the outcomes of those tried so far.
//! It grows as searches ask for more and depends on the molecule and the model alone, not on a search's masks,
//! depth or budget: so searches share expansions, through a cache that is bounded in bytes, and find the same
//! with and without it. To that end a molecule is brought into the atom order of its canonical SMILES before
//! templates see it, whatever order it came in.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use chem::{Key, Molecule, Outcome, Precursor, PreparedMolecule};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use reactivity::{Certainty, Facts, Refusal, Step, judge};

use crate::model::RetroModel;
use crate::policy::Ranked;

/// How many of the most probable templates a molecule gets, and the probability at which their list ends: first,
/// and each time that it gets more. The last is every template that matches.
pub const WIDTHS: [(usize, f32); 3] = [(50, 0.995), (200, f32::INFINITY), (usize::MAX, f32::INFINITY)];
/// The widths that one answer of the network serves.
const HEAD_WIDTHS: usize = 2;
/// A step that needs more molecules than this is not considered; running it forwards would take factorially
/// many orders.
const MAX_PRECURSORS: usize = 4;
/// About what a molecule takes beside its atoms, and what each atom of it does.
const MOLECULE_BYTES: (usize, usize) = (512, 48);

/// Expands molecules by one model.
pub struct Expander {
    model: Arc<RetroModel>,
    /// `None`: nothing is kept.
    cache: Option<Cache<Key, Kept, Weight>>,
}

/// The templates worth trying on a molecule and what they make of it, as far as it is known.
pub struct Expansion {
    key: Key,
    /// As it was met first.
    molecule: Molecule,
    prepared: OnceLock<PreparedMolecule>,
    facts: OnceLock<Facts>,
    known: Mutex<Known>,
    bytes: AtomicUsize,
}

#[derive(Default)]
struct Known {
    /// The most probable templates, as many as the network has been `asked` for.
    ranked: Vec<Ranked>,
    asked: usize,
    /// The templates that may match, most probable first.
    list: Vec<Ranked>,
    /// How `list` grew.
    widths: Vec<Width>,
    /// What each of the first templates of `list` found.
    outcomes: Vec<Arc<[Arc<Found>]>>,
}

/// What the list of templates is at one of the [`WIDTHS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Width {
    /// Templates that may match.
    pub listed: usize,
    /// Templates in all.
    pub ranked: usize,
    /// Probability of the last of them: what a greater width adds is no more probable.
    pub floor: f32,
}

/// One way that a template finds to make a molecule.
#[derive(Debug)]
pub struct Found {
    /// In the order of their keys. Sources are atoms of [`Expansion::molecule`].
    pub precursors: Vec<Precursor>,
    soundness: OnceLock<Result<Certainty, Refusal>>,
}

impl Expander {
    /// Keeps expansions of up to `cache_bytes` in all; 0 keeps none.
    pub fn new(model: Arc<RetroModel>, cache_bytes: usize) -> Self {
        /// What an expansion that has been tried takes, roughly; the cache grows its tables as it needs.
        const TYPICAL: usize = 32 * 1024;
        let cache = (cache_bytes > 0)
            .then(|| Cache::with_weighter(cache_bytes.div_ceil(TYPICAL), cache_bytes as u64, Weight));
        Self { model, cache }
    }

    pub fn model(&self) -> &Arc<RetroModel> {
        &self.model
    }

    /// The expansion of `molecule`, which may know nothing yet.
    pub fn expansion(&self, molecule: &Molecule) -> Arc<Expansion> {
        let new = || {
            Arc::new(Expansion {
                key: molecule.key(),
                molecule: molecule.clone(),
                prepared: OnceLock::new(),
                facts: OnceLock::new(),
                known: Mutex::default(),
                bytes: AtomicUsize::new(size_of::<Expansion>() + 2 * molecule_bytes(molecule)),
            })
        };
        let Some(cache) = &self.cache else { return new() };
        let known: Result<Kept, std::convert::Infallible> =
            cache.get_or_insert_with(&molecule.key(), || Ok(Kept::new(new())));
        match known {
            Ok(known) => known.expansion,
        }
    }

    /// The list of templates at number `width` of [`WIDTHS`]; asks the network if nobody has.
    pub fn width(&self, expansion: &Expansion, width: usize) -> Width {
        let wanted = if width < HEAD_WIDTHS { WIDTHS[HEAD_WIDTHS - 1].0 } else { WIDTHS[width].0 };
        if expansion.known().asked < wanted {
            let ranked = self.model.rank(&expansion.molecule.fingerprint(), wanted);
            let mut known = expansion.known();
            // Another search may have been quicker.
            if known.asked < wanted {
                expansion.bytes.fetch_add(ranked.len() * size_of::<Ranked>(), Ordering::Relaxed);
                (known.ranked, known.asked) = (ranked, wanted);
            }
        }
        let product = expansion.prepared();
        let may_match = |ranked: &&Ranked| {
            self.model.template(ranked.template).is_some_and(|template| template.may_match(product))
        };
        let mut known = expansion.known();
        let Known { ranked, list, widths, .. } = &mut *known;
        while widths.len() <= width {
            let first = widths.last().map_or(0, |before| before.ranked);
            let (limit, mass) = WIDTHS[widths.len()];
            let end = prefix(ranked, limit, mass).max(first);
            list.extend(ranked[first..end].iter().filter(may_match));
            let floor = ranked[..end].last().map_or(0.0, |last| last.probability);
            widths.push(Width { listed: list.len(), ranked: end, floor });
        }
        if widths.len() == WIDTHS.len() {
            // All of it is in the list that can be of use.
            *ranked = Vec::new();
        }
        known.widths[width]
    }

    /// What template number `at` of the expansion's list finds; `None` when `go_on` says to stop before that is
    /// known.
    ///
    /// # Panics
    /// Panics when the list has no such template.
    pub fn outcomes(
        &self,
        expansion: &Expansion,
        at: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<(Ranked, Arc<[Arc<Found>]>)> {
        loop {
            let (next, ranked) = {
                let known = expansion.known();
                if let Some(found) = known.outcomes.get(at) {
                    return Some((known.list[at], Arc::clone(found)));
                }
                (known.outcomes.len(), known.list[known.outcomes.len()])
            };
            let found = self.apply(expansion, ranked, go_on)?;
            let bytes =
                size_of::<Arc<[Arc<Found>]>>() + found.iter().map(|found| found.bytes()).sum::<usize>();
            let mut known = expansion.known();
            // Another search may have been quicker.
            if known.outcomes.len() == next {
                known.outcomes.push(found);
                expansion.bytes.fetch_add(bytes, Ordering::Relaxed);
            }
        }
    }

    fn apply(
        &self,
        expansion: &Expansion,
        ranked: Ranked,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Arc<[Arc<Found>]>> {
        let product = expansion.prepared();
        let Some(template) = self.model.template(ranked.template) else { return Some(Arc::default()) };
        let mut stopped = false;
        let outcomes = template.apply_while(product, &mut || {
            stopped |= !go_on();
            !stopped
        });
        if stopped {
            return None;
        }
        let possible = |outcome: &Outcome| (1..=MAX_PRECURSORS).contains(&outcome.precursors.len());
        let found = outcomes.into_iter().filter(possible);
        Some(found.map(|outcome| Arc::new(Found { precursors: outcome.precursors, soundness: OnceLock::new() })).collect())
    }

    /// Tells the cache that the expansion has grown.
    pub fn keep(&self, expansion: &Arc<Expansion>) {
        if let Some(cache) = &self.cache {
            cache.insert(expansion.key, Kept::new(Arc::clone(expansion)));
        }
    }

    /// Bytes in the cache.
    pub fn cached_bytes(&self) -> u64 {
        self.cache.as_ref().map_or(0, Cache::weight)
    }
}

impl Expansion {
    /// The molecule, its atoms in the order of its canonical SMILES.
    pub fn molecule(&self) -> &Molecule {
        self.prepared().molecule()
    }

    /// What chemists see in [`Self::molecule`].
    fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| Facts::of(self.molecule()))
    }

    /// Probability of template number `at` of the list.
    pub fn probability(&self, at: usize) -> Option<f32> {
        self.known().list.get(at).map(|ranked| ranked.probability)
    }

    fn prepared(&self) -> &PreparedMolecule {
        self.prepared.get_or_init(|| {
            // What our canonicaliser has written our parser can read; were it not so, any order would do.
            let canonical = Molecule::trusted(&self.molecule.canonical_smiles());
            PreparedMolecule::new(canonical.as_ref().unwrap_or(&self.molecule))
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // What is known is pushed whole, so a panic elsewhere leaves nothing half done.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Expansion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Expansion({:?})", self.molecule)
    }
}

impl Found {
    /// Whether a chemist would sign the step, by what else would happen in the flask; `product` is what it makes.
    pub fn soundness(&self, product: &Expansion) -> Result<Certainty, Refusal> {
        *self.soundness.get_or_init(|| {
            let flask: Vec<Facts> =
                self.precursors.iter().map(|precursor| Facts::of(&precursor.molecule)).collect();
            let sources = self.precursors.iter().map(|precursor| &*precursor.sources);
            judge(&Step::new(flask.iter().zip(sources), product.facts()))
        })
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        let precursor = |precursor: &Precursor| {
            size_of::<Precursor>()
                + precursor.sources.len() * size_of::<Option<u32>>()
                + molecule_bytes(&precursor.molecule)
        };
        size_of::<Self>() + self.precursors.iter().map(precursor).sum::<usize>()
    }
}

/// How many of the templates it takes to reach the probability `mass` together, at most `limit`.
fn prefix(ranked: &[Ranked], limit: usize, mass: f32) -> usize {
    let mut covered = 0.0;
    let enough = ranked.iter().take(limit).position(|entry| {
        covered += entry.probability;
        covered >= mass
    });
    enough.map_or(ranked.len().min(limit), |last| last + 1)
}

fn molecule_bytes(molecule: &Molecule) -> usize {
    let (fixed, per_atom) = MOLECULE_BYTES;
    fixed + per_atom * molecule.atoms()
}

/// An expansion in the cache, with its weight when it was put there: the cache must see it unchanged.
#[derive(Clone)]
struct Kept {
    expansion: Arc<Expansion>,
    bytes: u64,
}

impl Kept {
    fn new(expansion: Arc<Expansion>) -> Self {
        let bytes = expansion.bytes.load(Ordering::Relaxed) as u64;
        Self { expansion, bytes }
    }
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Kept> for Weight {
    fn weight(&self, _key: &Key, kept: &Kept) -> u64 {
        kept.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_ends_at_its_limit_or_at_its_probability() {
        let ranked = [0.422, 0.422, 0.155].map(|probability| Ranked { template: 0, probability });
        let length = |limit, mass| prefix(&ranked, limit, mass);

        assert_eq!((length(3, 2.0), length(2, 2.0), length(3, 0.8), length(3, 0.4)), (3, 2, 2, 1));
        assert_eq!((length(9, f32::INFINITY), length(0, 1.0)), (3, 0));
    }
}
