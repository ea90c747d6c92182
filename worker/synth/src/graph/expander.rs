//! Expansions: the results of the templates on a molecule, computed once for all searches of a process.
//!
//! An [`Expansion`] is the list of templates that match a molecule and the outcomes of those tried so far. It grows
//! as searches request more. It depends on the molecule and the model alone, not on a search's masks, depth or
//! budget. So searches share expansions, through a cache that is bounded in bytes, and find the same with and without
//! it. To this end a molecule is brought into the atom order of its canonical SMILES before templates are applied.
//!
//! A molecule with isotopes is expanded without them: the model has learnt nothing of them, and they do not change what
//! reacts. Its outcomes are those of the molecule without isotopes, with the labels back on their atoms; rules, model
//! and forward runs see the step without them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use chem::{
    Change, IsotopeLabels, Molecule, MoleculeKey, Outcome, Precursor, PreparedMolecule, ReactionMixture,
    Site, Template, block,
};
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use reactivity::{
    Facts, ReactionClass, Refusal, Soundness, Step, StereoSource, check, classify, surroundings,
};

use crate::model::RetroModel;
use crate::model::plausibility;
use crate::model::policy::{Ranked, Ranking};
use crate::model::surroundings::surroundings_logit;

/// Maximum number of precursors of a step; the number of orders in a forward run grows factorially.
const MAX_PRECURSORS: usize = 4;
/// Bytes of chemical facts for each atom of a molecule.
const FACTS_BYTES: usize = 80;

/// Expansion of molecules by one model.
pub struct Expander {
    model: Arc<RetroModel>,
    /// Cache of expansions; `None` if caching is off.
    cache: Option<Cache<MoleculeKey, CachedExpansion, Weight>>,
}

/// The templates that match a molecule and their outcomes, as far as computed.
pub struct Expansion {
    key: MoleculeKey,
    /// Molecule in the atom order of its first occurrence.
    molecule: Molecule,
    prepared: OnceLock<PreparedMolecule>,
    unlabelled: OnceLock<Option<Box<Unlabelled>>>,
    facts: OnceLock<Facts>,
    /// Templates that may match, most probable first.
    ranking: OnceLock<Ranking>,
    /// Outcomes of each of the first templates of `ranking`.
    outcomes: Mutex<Vec<Arc<[Arc<TemplateOutcome>]>>>,
    bytes: AtomicUsize,
}

/// The expansion of a molecule with isotopes as if it had none.
struct Unlabelled {
    labels: IsotopeLabels,
    expansion: Expansion,
}

/// One outcome of a template: a way to make a molecule.
#[derive(Debug)]
pub struct TemplateOutcome {
    /// Precursors in the order of their keys. Sources are atoms of [`Expansion::molecule`].
    pub precursors: Box<[Precursor]>,
    /// Stereocentres of the product that the template makes of flat atoms without a word on their configuration.
    made_centres: Box<[u32]>,
    /// Share of the template's probability for the sites of this outcome, above 0 and at most 1.
    pub share: f32,
    /// Number of places in the product with this outcome; sources are those of the first.
    pub places: SiteCount,
    /// The same outcome without isotopes, if the product has some.
    unlabelled: Option<Arc<TemplateOutcome>>,
    soundness: OnceLock<Result<Soundness, Refusal>>,
    surroundings: OnceLock<f32>,
    plausibility_alone: OnceLock<f32>,
    plausibility: OnceLock<f32>,
}

/// The number of places in a product with the same outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteCount {
    One,
    /// Several, or unknown.
    Several,
}

impl Expander {
    /// Creates an expander with a cache of up to `cache_bytes`; 0 turns the cache off.
    pub fn new(model: Arc<RetroModel>, cache_bytes: usize) -> Self {
        /// Typical size of an expansion with tried templates; only an estimate, since the cache grows its tables as
        /// needed.
        const TYPICAL_EXPANSION_BYTES: usize = 32 * 1024;
        let cache = (cache_bytes > 0).then(|| {
            Cache::with_weighter(cache_bytes.div_ceil(TYPICAL_EXPANSION_BYTES), cache_bytes as u64, Weight)
        });
        Self { model, cache }
    }

    pub fn model(&self) -> &Arc<RetroModel> {
        &self.model
    }

    /// Returns the expansion of `molecule`, which may still be empty.
    pub fn expansion(&self, molecule: &Molecule) -> Arc<Expansion> {
        let new = || Arc::new(Expansion::new(molecule));
        let Some(cache) = &self.cache else { return new() };
        let known: Result<CachedExpansion, std::convert::Infallible> =
            cache.get_or_insert_with(&molecule.key(), || Ok(CachedExpansion::new(new())));
        match known {
            Ok(known) => known.expansion,
        }
    }

    /// Returns the expansion for a single use: if it is not in the cache, it is not added.
    pub fn uncached_expansion(&self, molecule: &Molecule) -> Arc<Expansion> {
        let known = self.cache.as_ref().and_then(|cache| cache.get(&molecule.key()));
        known.map_or_else(|| Arc::new(Expansion::new(molecule)), |known| known.expansion)
    }

    /// Returns the templates that may match, most probable first; finds and ranks them at the first call.
    pub fn list<'a>(&self, expansion: &'a Expansion) -> &'a [Ranked] {
        self.ranking(expansion).templates()
    }

    fn ranking<'a>(&self, expansion: &'a Expansion) -> &'a Ranking {
        expansion.ranking.get_or_init(|| self.model.rank(expansion.unlabelled().prepared()))
    }

    /// Returns the outcomes of template number `at` of the expansion's list; `None` if `should_continue` returns false before
    /// they are known.
    ///
    /// # Panics
    /// Panics if the list has no such template.
    pub fn outcomes(
        &self,
        expansion: &Expansion,
        at: usize,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Option<Arc<[Arc<TemplateOutcome>]>> {
        let list = self.list(expansion);
        loop {
            let next = {
                let known = expansion.outcomes.lock();
                if let Some(found) = known.get(at) {
                    return Some(Arc::clone(found));
                }
                known.len()
            };
            let found = self.apply(expansion, list[next], should_continue)?;
            let mut known = expansion.outcomes.lock();
            // Another search may have added it first.
            if known.len() == next {
                known.push(found);
            }
        }
    }

    /// Returns the probability of a template's outcome at these sites, 0 if the template is not in the list.
    pub fn probability(&self, expansion: &Expansion, template: u32, sites: &[Site]) -> f32 {
        let ranking = self.ranking(expansion);
        let ranked = ranking.templates().iter().find(|ranked| ranked.template == template);
        ranked.map_or(0.0, |ranked| ranked.probability * ranking.share(template, sites))
    }

    fn apply(
        &self,
        expansion: &Expansion,
        ranked: Ranked,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Option<Arc<[Arc<TemplateOutcome>]>> {
        let Some(template) = self.model.template(ranked.template) else { return Some(Arc::default()) };
        let mut stopped = false;
        let outcomes = expansion.apply(template, &mut || {
            stopped |= !should_continue();
            !stopped
        });
        if stopped {
            return None;
        }
        let possible = |outcome: &Outcome| (1..=MAX_PRECURSORS).contains(&outcome.precursors.len());
        let ranking = self.ranking(expansion);
        let found = outcomes.into_iter().filter(possible).map(|outcome| {
            let share = ranking.share(ranked.template, &outcome.sites);
            let places = if outcome.sites.len() == 1 { SiteCount::One } else { SiteCount::Several };
            TemplateOutcome { share, places, ..TemplateOutcome::from(outcome) }
        });
        Some(expansion.labelled(found).into_iter().map(Arc::new).collect())
    }

    /// Compacts an expansion that has grown, and updates its weight in the cache.
    pub fn cache(&self, expansion: &Arc<Expansion>) {
        expansion.compact();
        if let Some(cache) = &self.cache {
            cache.insert(expansion.key, CachedExpansion::new(Arc::clone(expansion)));
        }
    }

    /// Returns the numbers of cache hits and misses since the start.
    pub fn cache_hits_and_misses(&self) -> (u64, u64) {
        self.cache.as_ref().map_or((0, 0), |cache| (cache.hits(), cache.misses()))
    }

    /// Returns the bytes in the cache.
    pub fn cached_bytes(&self) -> u64 {
        self.cache.as_ref().map_or(0, Cache::weight)
    }
}

impl Expansion {
    /// Creates an empty expansion.
    pub fn new(molecule: &Molecule) -> Self {
        Self {
            key: molecule.key(),
            molecule: molecule.clone(),
            prepared: OnceLock::new(),
            unlabelled: OnceLock::new(),
            facts: OnceLock::new(),
            ranking: OnceLock::new(),
            outcomes: Mutex::default(),
            bytes: AtomicUsize::new(size_of::<Self>() + molecule.bytes()),
        }
    }

    /// Returns the molecule, its atoms in the order of its canonical SMILES.
    pub fn molecule(&self) -> &Molecule {
        self.prepared().molecule()
    }

    /// Returns the rank of a template in the list, from 1, the most probable; `None` if it is not in the list.
    pub fn rank_of(&self, template: u32) -> Option<u32> {
        let at = self.ranking.get()?.templates().iter().position(|ranked| ranked.template == template)?;
        u32::try_from(at + 1).ok()
    }

    /// Returns the chemical facts of [`Self::molecule`].
    fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| Facts::of(self.molecule()))
    }

    /// Returns [`Self::molecule`], prepared for templates.
    pub fn prepared(&self) -> &PreparedMolecule {
        self.prepared.get_or_init(|| {
            // Our parser reads everything that our canonicaliser writes; otherwise any atom order would do.
            let canonical = Molecule::trusted(&self.molecule.canonical_smiles());
            PreparedMolecule::new(canonical.as_ref().unwrap_or(&self.molecule))
        })
    }

    /// Returns the expansion of the molecule without isotopes: this one if it has none.
    pub fn unlabelled(&self) -> &Self {
        self.isotopes().map_or(self, |unlabelled| &unlabelled.expansion)
    }

    fn isotopes(&self) -> Option<&Unlabelled> {
        let new = || {
            let labels =
                self.molecule.has_isotopes().then(|| IsotopeLabels::of(self.molecule())).flatten()?;
            let expansion = Self::new(labels.molecule());
            Some(Box::new(Unlabelled { labels, expansion }))
        };
        self.unlabelled.get_or_init(new).as_deref()
    }

    /// Returns the outcomes of a template without isotopes. With isotopes, equal places of the molecule without them
    /// may differ, so its outcomes are kept apart.
    fn apply(&self, template: &Template, should_continue: &mut dyn FnMut() -> bool) -> Vec<Outcome> {
        match self.isotopes() {
            None => template.apply_while(self.prepared(), should_continue),
            Some(unlabelled) => template.apply_by_site(unlabelled.expansion.prepared(), should_continue),
        }
    }

    /// Returns the outcomes of a template, each with its sites in the molecule without isotopes.
    pub fn outcomes_of(&self, template: &Template) -> Vec<(TemplateOutcome, Vec<Site>)> {
        let outcomes = self.apply(template, &mut || true).into_iter();
        outcomes
            .flat_map(|outcome| {
                let sites = outcome.sites.clone();
                let labelled = self.labelled([TemplateOutcome::from(outcome)].into_iter());
                labelled.into_iter().map(move |outcome| (outcome, sites.clone()))
            })
            .collect()
    }

    /// Returns the precursors of every outcome of a template, separate for each place of the molecule.
    pub fn precursors_by_site(
        &self,
        template: &Template,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Vec<Box<[Precursor]>> {
        let outcomes = template.apply_by_site(self.unlabelled().prepared(), should_continue).into_iter();
        match self.isotopes() {
            None => outcomes.map(|outcome| outcome.precursors.into()).collect(),
            Some(Unlabelled { labels, .. }) => {
                outcomes.flat_map(|outcome| labels.label(&outcome.precursors)).map(Into::into).collect()
            }
        }
    }

    /// Returns these outcomes of the molecule without isotopes with its isotopes, those with the same precursors as
    /// one.
    fn labelled(&self, outcomes: impl Iterator<Item = TemplateOutcome>) -> Vec<TemplateOutcome> {
        let Some(Unlabelled { labels, .. }) = self.isotopes() else { return outcomes.collect() };
        let mut found: Vec<TemplateOutcome> = Vec::new();
        for outcome in outcomes {
            let sets = labels.label(&outcome.precursors);
            let (share, places, outcome) = (outcome.share, outcome.places, Arc::new(outcome));
            for set in sets {
                let new = TemplateOutcome::new(set);
                match found.iter_mut().find(|known| known.has_same_precursors(&new)) {
                    Some(known) => {
                        (known.share, known.places) = ((known.share + share).min(1.0), SiteCount::Several)
                    }
                    None => found.push(TemplateOutcome {
                        share,
                        places,
                        unlabelled: Some(Arc::clone(&outcome)),
                        ..new
                    }),
                }
            }
        }
        found
    }

    /// Returns the approximate memory, including facts that are still to be computed.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Drops template results that no outcome uses, and recomputes the memory.
    fn compact(&self) {
        let facts = self.molecule.atoms() * FACTS_BYTES;
        let ranking = self.ranking.get().map_or(0, Ranking::bytes);
        let outcomes = {
            let known = self.outcomes.lock();
            let lists = known.iter().map(|found| {
                block(size_of_val(&**found) + 2 * size_of::<usize>())
                    + found.iter().map(|found| found.bytes()).sum::<usize>()
            });
            block(known.capacity() * size_of::<Arc<[Arc<TemplateOutcome>]>>()) + lists.sum::<usize>()
        };
        let prepared = self.prepared().tidy();
        let unlabelled = self.isotopes().map_or(0, |unlabelled| {
            unlabelled.expansion.compact();
            unlabelled.expansion.bytes()
        });
        let own = size_of::<Self>() + self.molecule.bytes() + facts;
        let bytes = own + ranking + outcomes + prepared + unlabelled;
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Expansion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Expansion({:?})", self.molecule)
    }
}

impl TemplateOutcome {
    /// Creates an outcome with these precursors, in the order of their keys.
    pub fn new(precursors: Vec<Precursor>) -> Self {
        Self {
            precursors: precursors.into(),
            made_centres: Box::default(),
            share: 1.0,
            places: SiteCount::One,
            unlabelled: None,
            soundness: OnceLock::new(),
            surroundings: OnceLock::new(),
            plausibility_alone: OnceLock::new(),
            plausibility: OnceLock::new(),
        }
    }

    /// Creates an equally probable variant: the same precursors with other sources, or in another order.
    pub fn like(&self, precursors: Vec<Precursor>) -> Self {
        let (made_centres, unlabelled) = (self.made_centres.clone(), self.unlabelled.clone());
        Self { share: self.share, made_centres, unlabelled, ..Self::new(precursors) }
    }

    fn has_same_precursors(&self, other: &Self) -> bool {
        let keys = |outcome: &Self| -> Vec<MoleculeKey> {
            outcome.precursors.iter().map(|precursor| precursor.molecule.key()).collect()
        };
        keys(self) == keys(other)
    }

    /// Returns the molecules with which the template runs forwards, and the key of the product that it gives: both
    /// without isotopes, the product without the configuration of the centres that the template does not determine.
    pub fn forward_run(&self, product: &Expansion) -> (Vec<Molecule>, MoleculeKey) {
        if let Some(unlabelled) = &self.unlabelled {
            return unlabelled.forward_run(product.unlabelled());
        }
        let precursors = self.precursors.iter().map(|precursor| precursor.molecule.clone()).collect();
        let flat = (!self.made_centres.is_empty())
            .then(|| product.molecule().without_centres(&self.made_centres))
            .flatten();
        (precursors, flat.map_or(product.key, |flat| flat.key()))
    }

    /// Checks the selectivity of the step against other reactions in the mixture; `product` is the step's product.
    pub fn soundness(&self, product: &Expansion) -> Result<Soundness, Refusal> {
        *self.soundness.get_or_init(|| self.as_step(product, check))
    }

    /// Returns the reaction class of the step that makes `product`.
    pub fn class(&self, product: &Expansion) -> ReactionClass {
        self.as_step(product, classify)
    }

    /// Returns both at once: the selectivity result, and the class if the step passes.
    pub fn apply_rules(&self, product: &Expansion) -> Result<(Soundness, ReactionClass), Refusal> {
        let soundness_and_class =
            self.as_step(product, |step| check(step).map(|soundness| (soundness, classify(step))));
        self.soundness.get_or_init(|| soundness_and_class.map(|(soundness, _)| soundness));
        soundness_and_class
    }

    /// Returns what verdicts on other steps say of the atoms of this one: a part of the logit of the confidence in it.
    pub fn surroundings(&self, product: &Expansion) -> f32 {
        let of_step = |step: &Step<'_>| surroundings_logit(classify(step), &surroundings(step));
        *self.surroundings.get_or_init(|| self.as_step(product, of_step))
    }

    /// Returns the means by which the step gives one stereoisomer, if it is sound and needs one.
    pub fn stereo_source(&self, product: &Expansion) -> Option<StereoSource> {
        self.soundness(product).ok()?.stereo_source
    }

    /// Reads the step that makes `product`, without isotopes.
    pub fn as_step<T>(&self, product: &Expansion, read: impl FnOnce(&Step<'_>) -> T) -> T {
        if let Some(unlabelled) = &self.unlabelled {
            return unlabelled.as_step(product.unlabelled(), read);
        }
        let mixture: Vec<Facts> =
            self.precursors.iter().map(|precursor| Facts::of(&precursor.molecule)).collect();
        let sources = self.precursors.iter().map(|precursor| &*precursor.sources);
        let step = Step::new(mixture.iter().zip(sources), product.facts());
        read(&step.with_prochiral(!self.made_centres.is_empty()))
    }

    /// Returns the probability that the reaction mixture gives `product`, without considering rivals.
    pub fn plausibility_alone(&self, product: &Expansion, model: &RetroModel) -> f32 {
        *self.plausibility_alone.get_or_init(|| {
            self.change(product, model).map_or(1.0, |(_, change)| model.plausibility_alone(&change))
        })
    }

    /// Returns the same probability among all products that the templates make of the mixture; never larger.
    pub fn plausibility(&self, product: &Expansion, model: &RetroModel) -> f32 {
        *self.plausibility.get_or_init(|| {
            self.change(product, model).map_or(1.0, |(mixture, change)| model.plausibility(&mixture, &change))
        })
    }

    /// Returns the most complete plausibility computed so far: among rivals, else alone; 1 if none was.
    pub fn known_plausibility(&self) -> f32 {
        self.plausibility.get().or(self.plausibility_alone.get()).copied().unwrap_or(1.0)
    }

    /// Returns the plausibilities alone and among rivals; 1 if not computed. Without rivals both are equal.
    pub fn plausibilities(&self) -> (f32, f32) {
        let alone = self.plausibility_alone.get().copied().unwrap_or(1.0);
        (alone, self.plausibility.get().copied().unwrap_or(alone))
    }

    /// Returns the reaction mixture and its change; `None` if the model has no plausibility model, or the mixture
    /// cannot be determined.
    fn change(&self, product: &Expansion, model: &RetroModel) -> Option<(ReactionMixture, Change)> {
        if let Some(unlabelled) = &self.unlabelled {
            return unlabelled.change(product.unlabelled(), model);
        }
        model.plausibility_model().and_then(|_| plausibility::change(product.molecule(), &self.precursors))
    }

    /// Returns the approximate memory, without the precursors shared with others: those are
    /// [counted](PreparedMolecule::tidy) once, with the molecule of which they are parts.
    fn bytes(&self) -> usize {
        let own = self.precursors.iter().filter(|precursor| !precursor.is_shared()).map(Precursor::bytes);
        block(size_of::<Self>() + 2 * size_of::<usize>())
            + block(size_of_val(&*self.precursors))
            + block(size_of_val(&*self.made_centres))
            + own.sum::<usize>()
            + self.unlabelled.as_ref().map_or(0, |unlabelled| unlabelled.bytes())
    }
}

impl From<Outcome> for TemplateOutcome {
    fn from(outcome: Outcome) -> Self {
        Self { made_centres: outcome.made_centres.into(), ..Self::new(outcome.precursors) }
    }
}

/// An expansion in the cache, with its weight at insertion: the cache requires a constant weight.
#[derive(Clone)]
struct CachedExpansion {
    expansion: Arc<Expansion>,
    bytes: u64,
}

impl CachedExpansion {
    fn new(expansion: Arc<Expansion>) -> Self {
        let bytes = expansion.bytes.load(Ordering::Relaxed) as u64;
        Self { expansion, bytes }
    }
}

#[derive(Clone)]
struct Weight;

impl Weighter<MoleculeKey, CachedExpansion> for Weight {
    fn weight(&self, _key: &MoleculeKey, kept: &CachedExpansion) -> u64 {
        kept.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_that_do_not_match_are_not_listed_and_those_that_do_share_the_probability() {
        let model = Arc::new(RetroModel::of_one_template("[C:1]-[O:2]>>[C:1]-Cl.[O:2]"));
        let expander = Expander::new(model, 0);
        let list = |smiles: &str| {
            let expansion = expander.expansion(&smiles.parse().unwrap());
            expander.list(&expansion).to_vec()
        };

        assert_eq!(list("CCO"), [Ranked { template: 0, probability: 1.0 }]);
        assert_eq!(list("CCN"), []);
    }
}
