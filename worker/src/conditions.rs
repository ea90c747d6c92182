//! Conditions of a sample request in the sampler's form: a filter of molecules, and the way of drawing.
//!
//! The API has parsed the same texts with the same functions of `chem`, so a fault here means that the job did not
//! come from the API. Checks run in the order of their cost, and a molecule is refused by the first that it fails. Those
//! that the annotation of a ready molecule answers run before the others.

use std::{
    cell::LazyCell,
    cmp::Reverse,
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use chem::{AlertSet, Fingerprint, Limits, Molecule, Part, Pattern, Properties, Property};
use contract::{ConditionRefusals, JobFailure, PropertyRange, SampleConditions};
use generator::{DrawOptions, FixedParts, Fragments, FragmentsError, MoleculeFilter, OutOfRange};

use crate::annotations::Annotation;

/// Condition that cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum ConditionError {
    /// Invalid SMILES of a molecule.
    #[error(transparent)]
    Smiles(#[from] chem::SmilesError),
    /// Invalid SMILES of a scaffold or a fragment.
    #[error(transparent)]
    Part(#[from] chem::PartError),
    /// Fragments that cannot be linked.
    #[error(transparent)]
    Fragments(#[from] FragmentsError),
    /// Invalid SMARTS of a substructure.
    #[error(transparent)]
    Smarts(#[from] chem::TemplateError),
    /// Temperature or probability that nothing can be drawn with.
    #[error(transparent)]
    Range(#[from] OutOfRange),
    /// Unknown name of a property or of a set of alerts.
    #[error("no `{0}`")]
    Unknown(String),
}

/// Molecules that do not come again, by the digests of their canonical SMILES.
///
/// A digest has 64 bits: of a million molecules, a new one has the digest of one once in 10^13 times.
#[derive(Debug, Default)]
pub struct ExcludedMolecules(HashSet<u64>);

impl ExcludedMolecules {
    /// Adds molecules by their canonical SMILES.
    pub(crate) fn extend(&mut self, smiles: &[String]) {
        self.0.extend(smiles.iter().map(|smiles| digest(smiles)));
    }

    fn contains(&self, molecule: &Molecule) -> bool {
        self.0.contains(&digest(&molecule.canonical_smiles()))
    }
}

fn digest(smiles: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    smiles.hash(&mut hasher);
    hasher.finish()
}

/// Result of the check of a molecule that is drawn already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadyCheck {
    /// All conditions on molecules are satisfied.
    Accepted,
    /// The check with this index refuses it.
    Refused(usize),
    /// No molecule, which no sampler draws.
    Invalid,
}

/// Conditions of a draw. The default has none.
#[derive(Debug, Default)]
pub struct DrawConditions {
    /// The way of drawing.
    pub(crate) options: DrawOptions,
    /// Filter of the molecules, if there is any condition on them.
    pub(crate) filter: Option<ConditionFilter>,
}

impl DrawConditions {
    /// Reads the conditions of a request; `excluded` are the molecules of its excluded samples.
    ///
    /// # Errors
    /// Fails if a condition is not valid SMILES or SMARTS, is out of range or has an unknown name.
    pub fn new(conditions: &SampleConditions, excluded: ExcludedMolecules) -> Result<Self, ConditionError> {
        let options = DrawOptions {
            temperature: conditions.temperature.map(TryInto::try_into).transpose()?,
            top_p: conditions.top_p.map(TryInto::try_into).transpose()?,
            fixed: fixed_parts(conditions)?,
        };
        let filter = ConditionFilter::new(conditions, excluded)?;
        Ok(Self { options, filter: Some(filter).filter(|filter| !filter.0.is_empty()) })
    }

    /// Returns the filter as the sampler takes it.
    pub(crate) fn filter(&self) -> Option<&dyn MoleculeFilter> {
        self.filter.as_ref().map(|filter| filter as &dyn MoleculeFilter)
    }

    /// Checks a molecule that is drawn already; `smiles` is its own, and `annotation` what is known of it.
    pub(crate) fn check(&self, smiles: &str, annotation: Option<&Annotation>) -> ReadyCheck {
        let Some(filter) = &self.filter else { return ReadyCheck::Accepted };
        let answers = filter.0.iter().map(|check| annotation.and_then(|known| check.check.answer(known)));
        if let Some(check) = answers.clone().position(|answer| answer == Some(false)) {
            return ReadyCheck::Refused(check);
        }
        if answers.clone().all(|answer| answer.is_some()) {
            return ReadyCheck::Accepted;
        }
        let Ok(molecule) = Molecule::trusted(smiles) else { return ReadyCheck::Invalid };
        let properties = LazyCell::new(|| Properties::new(&molecule));
        let mut checks = filter.0.iter().zip(answers);
        let refusal = checks
            .position(|(check, answer)| answer.is_none() && !check.check.allows(&molecule, &properties));
        refusal.map_or(ReadyCheck::Accepted, ReadyCheck::Refused)
    }

    /// Returns true if a molecule that is drawn already satisfies all conditions on molecules; `smiles` is its own.
    pub(crate) fn allow(&self, smiles: &str) -> bool {
        self.check(smiles, None) == ReadyCheck::Accepted
    }

    /// Returns true if annotations of molecules save more than some microseconds each.
    pub(crate) fn profit_from_annotations(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.0.iter().any(|check| check.check.is_slow()))
    }

    /// Returns true if the conditions may leave too few molecules, or none.
    pub(crate) fn are_narrow(&self) -> bool {
        self.filter.is_some() || self.options.fixed.is_some()
    }

    /// Returns the failure of a sample whose model cannot write the parts of its molecules.
    pub(crate) fn unwritable(&self) -> JobFailure {
        let field = match self.options.fixed {
            Some(FixedParts::Fragments(_)) => "fragments",
            _ => "scaffold",
        };
        JobFailure::UnwritablePart { field: field.to_owned() }
    }

    /// Returns the refusals of each condition, most first; `counts` are those of the filter's checks.
    pub(crate) fn refusals(&self, counts: &[u64]) -> Vec<ConditionRefusals> {
        self.filter.as_ref().map(|filter| filter.refusals(counts)).unwrap_or_default()
    }

    /// Returns the failure of a sample of `wanted` molecules that has `found` of them, if there is any condition on
    /// its molecules; `refused` are the counts of the filter's checks.
    pub(crate) fn too_narrow(&self, wanted: u32, found: usize, refused: &[u64]) -> Option<JobFailure> {
        let refused = self.refusals(refused);
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        self.are_narrow().then_some(JobFailure::ConditionsTooNarrow { wanted, found, refused })
    }
}

/// Returns true if molecules that are drawn in the model's own way can satisfy these conditions.
pub(crate) fn are_drawn_alike(conditions: &SampleConditions) -> bool {
    // All fields are listed, so that the compiler asks about a new one.
    let SampleConditions {
        scaffold,
        fragments,
        temperature,
        top_p,
        seed,
        substructures_required: _,
        substructures_never: _,
        similar_to: _,
        similarity_gte: _,
        similarity_lt: _,
        properties: _,
        alerts: _,
        exclude: _,
        synthesizable: _,
    } = conditions;
    scaffold.is_none() && fragments.is_empty() && temperature.is_none() && top_p.is_none() && seed.is_none()
}

/// Reads the parts that every molecule contains.
fn fixed_parts(conditions: &SampleConditions) -> Result<Option<FixedParts>, ConditionError> {
    let part = |smiles: &String| Part::parse(smiles, Limits::TARGET);
    if let Some(scaffold) = &conditions.scaffold {
        return Ok(Some(FixedParts::Scaffold(part(scaffold)?)));
    }
    if conditions.fragments.is_empty() {
        return Ok(None);
    }
    let parts: Result<_, _> = conditions.fragments.iter().map(part).collect();
    Ok(Some(FixedParts::Fragments(Fragments::new(parts?)?)))
}

/// Filter of the molecules that satisfy all conditions.
#[derive(Debug)]
pub(crate) struct ConditionFilter(Vec<NamedCheck>);

/// Check with the place of its condition in the request.
#[derive(Debug)]
struct NamedCheck {
    condition: String,
    check: Check,
}

/// Check of a molecule. Variants and the values of each are in the order of their cost.
#[derive(Debug)]
enum Check {
    Property(Property, PropertyRange),
    Contains(Pattern),
    Lacks(Pattern),
    Similarity(SimilarityRange),
    HasNo(AlertSet),
    IsNew(ExcludedMolecules),
}

impl Check {
    /// Returns the rank of the check by its cost, cheapest first.
    fn cost(&self) -> u32 {
        match self {
            Self::Property(property, _) => property_cost(*property),
            Self::Contains(_) | Self::Lacks(_) => 1,
            Self::Similarity(_) => 3,
            Self::IsNew(_) => 3,
            Self::HasNo(_) => 6,
        }
    }

    /// Returns true if annotations have what the check computes, and computing it takes long.
    fn is_slow(&self) -> bool {
        matches!(self, Self::HasNo(_) | Self::Property(Property::LogP | Property::Qed | Property::SaScore, _))
    }

    /// Returns the result that the annotation of a molecule has; `None` if it has none.
    fn answer(&self, annotation: &Annotation) -> Option<bool> {
        match self {
            Self::Property(property, range) => Some(range.contains(annotation.value(*property))),
            Self::HasNo(alerts) => Some(!annotation.has_alert(*alerts)),
            Self::Contains(_) | Self::Lacks(_) | Self::Similarity(_) | Self::IsNew(_) => None,
        }
    }

    /// Returns true if the molecule passes; `properties` are its own.
    fn allows(
        &self,
        molecule: &Molecule,
        properties: &LazyCell<Properties, impl FnOnce() -> Properties>,
    ) -> bool {
        match self {
            Self::Property(property, range) => range.contains(properties.value(*property)),
            Self::Contains(pattern) => pattern.matches(molecule),
            Self::Lacks(pattern) => !pattern.matches(molecule),
            Self::Similarity(range) => range.contains(molecule),
            Self::HasNo(alerts) => alerts.first_match(molecule).is_none(),
            Self::IsNew(excluded) => !excluded.contains(molecule),
        }
    }
}

/// Returns the rank of a property by the cost of its value: counts of atoms and bonds, then patterns, then tables of
/// fragments.
fn property_cost(property: Property) -> u32 {
    match property {
        Property::LogP | Property::PolarSurface => 2,
        Property::SaScore => 4,
        Property::Qed => 5,
        _ => 0,
    }
}

/// Range of the highest similarity to some molecules. Its ends have the precision of a similarity.
#[derive(Debug)]
struct SimilarityRange {
    fingerprints: Vec<Fingerprint>,
    gte: Option<f32>,
    lt: Option<f32>,
}

impl SimilarityRange {
    fn of(conditions: &SampleConditions) -> Result<Self, ConditionError> {
        let fingerprint = |smiles: &String| Ok(Molecule::parse_one(smiles, Limits::TARGET)?.fingerprint());
        let fingerprints: Result<_, ConditionError> = conditions.similar_to.iter().map(fingerprint).collect();
        #[expect(clippy::cast_possible_truncation, reason = "a share of bits is rounded the same way")]
        let end = |bound: Option<f64>| bound.map(|bound| bound as f32);
        let (gte, lt) = (end(conditions.similarity_gte), end(conditions.similarity_lt));
        Ok(Self { fingerprints: fingerprints?, gte, lt })
    }

    fn contains(&self, molecule: &Molecule) -> bool {
        let fingerprint = molecule.fingerprint();
        let highest = self.fingerprints.iter().map(|other| fingerprint.tanimoto(other)).fold(0.0, f32::max);
        self.gte.is_none_or(|least| highest >= least) && self.lt.is_none_or(|end| highest < end)
    }
}

impl ConditionFilter {
    fn new(conditions: &SampleConditions, excluded: ExcludedMolecules) -> Result<Self, ConditionError> {
        let mut checks = Vec::new();
        let mut add = |condition: String, check| checks.push(NamedCheck { condition, check });
        for (name, range) in &conditions.properties {
            let property = Property::from_name(name).ok_or_else(|| ConditionError::Unknown(name.clone()))?;
            add(format!("properties.{name}"), Check::Property(property, *range));
        }
        for (at, smarts) in conditions.substructures_required.iter().enumerate() {
            add(format!("substructures_required[{at}]"), Check::Contains(Pattern::parse(smarts)?));
        }
        for (at, smarts) in conditions.substructures_never.iter().enumerate() {
            add(format!("substructures_never[{at}]"), Check::Lacks(Pattern::parse(smarts)?));
        }
        if !conditions.similar_to.is_empty() {
            add("similar_to".to_owned(), Check::Similarity(SimilarityRange::of(conditions)?));
        }
        for name in &conditions.alerts {
            let alerts = AlertSet::from_name(name).ok_or_else(|| ConditionError::Unknown(name.clone()))?;
            add(format!("alerts.{name}"), Check::HasNo(alerts));
        }
        if !conditions.exclude.is_empty() {
            add("exclude".to_owned(), Check::IsNew(excluded));
        }
        checks.sort_by_key(|check| check.check.cost());
        Ok(Self(checks))
    }

    /// Returns the refusals of each condition, most first; `counts` are those of the checks.
    fn refusals(&self, counts: &[u64]) -> Vec<ConditionRefusals> {
        let refused = self.0.iter().zip(counts).filter(|&(_, &count)| count > 0);
        let mut refusals: Vec<_> = refused
            .map(|(check, &count)| ConditionRefusals { condition: check.condition.clone(), count })
            .collect();
        refusals.sort_by_key(|refusals| Reverse(refusals.count));
        refusals
    }
}

impl MoleculeFilter for ConditionFilter {
    fn refusal(&self, molecule: &Molecule) -> Option<usize> {
        let properties = LazyCell::new(|| Properties::new(molecule));
        self.0.iter().position(|check| !check.check.allows(molecule, &properties))
    }
}
