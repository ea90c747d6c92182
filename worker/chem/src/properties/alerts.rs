//! Structural alerts: substructures that make a molecule a poor starting point for a drug.
//!
//! The sets are the catalogues of RDKit's `FilterCatalog`, with their names and in their order. The table is written
//! by `worker/training/alerts.py`.

use std::fmt;
use std::sync::OnceLock;

use crate::molecules::molecule::Molecule;
use crate::table::Table;
use crate::templates::pattern::Pattern;

/// A set of structural alerts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertSet {
    /// Pan-assay interference compounds, families A, B and C (Baell and Holloway, J. Med. Chem. 2010).
    Pains,
    /// Unwanted functionality in screening libraries (Brenk et al., ChemMedChem 2008).
    Brenk,
    /// Filters of the NIH's screening library (Jadhav et al., J. Med. Chem. 2010; Doveston et al., 2015).
    Nih,
    /// Seven sets collected by ChEMBL: Glaxo, Dundee, BMS, SureChEMBL, MLSMR, Inpharmatica and LINT.
    Chembl,
}

/// An alert: its name, and the pattern that must occur.
struct Alert {
    name: &'static str,
    pattern: Pattern,
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
        let canonical = molecule.as_canonical();
        alerts()[*self as usize]
            .iter()
            .find(|alert| alert.pattern.may_occur_in(canonical) && alert.pattern.matches(molecule))
            .map(|alert| alert.name)
    }
}

impl fmt::Display for AlertSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Returns the alerts of each set.
fn alerts() -> &'static [Vec<Alert>; 4] {
    static ALERTS: OnceLock<[Vec<Alert>; 4]> = OnceLock::new();
    ALERTS.get_or_init(|| {
        let table = Table {
            file: "alerts.tsv",
            text: include_str!("../../tables/alerts.tsv"),
            columns: ["set", "name", "smarts", "source"],
            keys: 4,
        };
        let mut sets = [const { Vec::new() }; 4];
        let rows = table.read(|[set, name, smarts, _]| {
            let set = AlertSet::from_name(set).ok_or_else(|| format!("no set `{set}`"))?;
            let pattern = Pattern::parse(smarts).map_err(|error| error.to_string())?;
            Ok((set, Alert { name, pattern }))
        });
        for (set, alert) in rows.expect("alerts: the table is checked by a test") {
            sets[set as usize].push(alert);
        }
        sets
    })
}

#[cfg(test)]
mod tests {
    use super::{AlertSet, alerts};

    #[test]
    fn every_alert_of_rdkit_is_there() {
        let counts = alerts().each_ref().map(Vec::len);

        assert_eq!(counts, [480, 105, 180, 770]);
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
