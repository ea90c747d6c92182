//! Structural alerts: substructures that make a molecule a poor starting point for a drug.
//!
//! The sets are the catalogues of RDKit's `FilterCatalog`, with their names and in their order.
//! `worker/training/alerts.py` writes the table.

use std::fmt;
use std::sync::OnceLock;

use crate::molecules::molecule::Molecule;
use crate::molecules::ring_set::RingSet;
use crate::patterns::library::{PatternId, PatternLibrary};
use crate::patterns::matcher::PatternMatcher;
use crate::patterns::target::PatternTarget;
use crate::table::Table;
use crate::templates::pattern::Pattern;

/// A set of structural alerts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertSet {
    /// Pan-assay interference compounds, families A, B and C (Baell and Holloway, J. Med. Chem. 2010).
    Pains,
    /// Unwanted groups in screening libraries (Brenk et al., ChemMedChem 2008).
    Brenk,
    /// Unwanted groups in the NIH's screening library (Jadhav et al., J. Med. Chem. 2010).
    Nih,
    /// Seven sets collected by ChEMBL: Glaxo, Dundee, BMS, SureChEMBL, MLSMR, Inpharmatica and LINT.
    Chembl,
}

impl AlertSet {
    /// All sets.
    pub const ALL: [Self; 4] = [Self::Pains, Self::Brenk, Self::Nih, Self::Chembl];

    /// Returns the public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pains => "pains",
            Self::Brenk => "brenk",
            Self::Nih => "nih",
            Self::Chembl => "chembl",
        }
    }

    /// Returns the set of this public name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }

    /// Returns the name of the first alert of the set that a molecule has, in RDKit's order.
    #[must_use]
    pub fn first_match(&self, molecule: &Molecule) -> Option<&'static str> {
        Self::first_matches(&[*self], molecule)[0]
    }

    /// Returns the first alert of each of several sets, which share their work on the molecule.
    #[must_use]
    pub fn first_matches(sets: &[Self], molecule: &Molecule) -> Vec<Option<&'static str>> {
        let Ok(perceived) = molecule.perceived() else { return vec![None; sets.len()] };
        let catalogue = Catalogue::get();
        let rows = |set: &Self| &catalogue.sets[*set as usize];
        let graph = perceived.graph();
        match PatternTarget::new(graph, &RingSet::of(graph)) {
            Some(target) => {
                let mut matcher = PatternMatcher::new(&catalogue.library, &target);
                let mut first = |set| rows(set).iter().find(|alert| matcher.occurs(alert.pattern));
                sets.iter().map(|set| first(set).map(|alert| alert.name)).collect()
            }
            None => {
                let patterns = general_patterns();
                let first = |set: &Self| {
                    let of_set = rows(set).iter().zip(&patterns[*set as usize]);
                    of_set.into_iter().find(|(_, pattern)| pattern.matches(&perceived))
                };
                sets.iter().map(|set| first(set).map(|(alert, _)| alert.name)).collect()
            }
        }
    }
}

impl fmt::Display for AlertSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// An alert: its name, and the pattern that must occur.
struct Alert {
    name: &'static str,
    pattern: PatternId,
}

/// The alerts of each set.
struct Catalogue {
    library: PatternLibrary,
    sets: [Vec<Alert>; 4],
}

impl Catalogue {
    /// Returns the catalogue, which is built at the first call.
    fn get() -> &'static Self {
        static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
        CATALOGUE.get_or_init(|| {
            let mut catalogue = Self { library: PatternLibrary::default(), sets: [const { Vec::new() }; 4] };
            for (set, name, smarts) in rows() {
                let query =
                    chematic::smarts::parse_smarts(smarts).expect("alerts: the table has SMARTS alone");
                let pattern = catalogue.library.add(&query).expect("alerts: a test builds the catalogue");
                catalogue.sets[set as usize].push(Alert { name, pattern });
            }
            catalogue
        })
    }
}

/// Returns the patterns of each set for the general matcher, which unusual molecules need.
fn general_patterns() -> &'static [Vec<Pattern>; 4] {
    static PATTERNS: OnceLock<[Vec<Pattern>; 4]> = OnceLock::new();
    PATTERNS.get_or_init(|| {
        let mut patterns = [const { Vec::new() }; 4];
        for (set, _, smarts) in rows() {
            patterns[set as usize].push(Pattern::parse(smarts).expect("alerts: the table has SMARTS alone"));
        }
        patterns
    })
}

/// Returns set, name and SMARTS of each alert.
fn rows() -> Vec<(AlertSet, &'static str, &'static str)> {
    let table = Table {
        file: "alerts.tsv",
        text: include_str!("../../tables/alerts.tsv"),
        columns: ["set", "name", "smarts", "source"],
        keys: 4,
    };
    let rows = table.read(|[set, name, smarts, _]| {
        Ok((AlertSet::from_name(set).ok_or_else(|| format!("no set `{set}`"))?, name, smarts))
    });
    rows.expect("alerts: a test reads the table")
}

#[cfg(test)]
mod tests {
    use super::{AlertSet, Catalogue, general_patterns};

    #[test]
    fn every_alert_of_rdkit_is_there() {
        let expected = [480, 105, 180, 770];

        assert_eq!(Catalogue::get().sets.each_ref().map(Vec::len), expected);
        assert_eq!(general_patterns().each_ref().map(Vec::len), expected);
    }

    // Names are those of RDKit 2026.09.1.
    #[test]
    fn the_first_alert_is_rdkits() {
        for (smiles, set, name) in [
            ("O=C1C=CC(=O)C=C1", AlertSet::Pains, Some("quinone_A(370)")),
            ("CC(=O)Cl", AlertSet::Brenk, Some("acid_halide")),
            ("CCO", AlertSet::Chembl, None),
        ] {
            assert_eq!(set.first_match(&smiles.parse().unwrap()), name, "{smiles}");
        }
    }
}
