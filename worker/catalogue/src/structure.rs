//! A vendor's structure and its major component.
//!
//! The major component is the [parent](chem::Parent) for which the entry is bought: never a counter-ion or a solvate
//! if there is another component, and without the charges of the salt form. The other components are minor; they
//! raise the price per gram of the major component.

use chem::{Limits, Molecule, has_unknown_configuration, read_molfile};

use crate::{
    fault::{RecordFault, shorten},
    price::EntryWeights,
};

/// A structure that can be bought.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockStructure {
    /// Canonical SMILES of the major component, neutral.
    pub smiles: String,
    /// Weight of the major component, daltons.
    pub mw: f64,
    /// Morgan fingerprint of the major component, in the database's form.
    pub morgan_bits: Vec<u8>,
    /// Canonical SMILES of the whole entry.
    pub full_canonical: String,
    /// Canonical SMILES of the other components in the entry's stoichiometry, joined by dots.
    pub minor_components: String,
    /// Weights of the whole entry and of all its copies of the major component.
    pub weights: EntryWeights,
    /// Name of the counter-ion or solvate, if the entry has no other component.
    pub counter_ion: Option<&'static str>,
    /// True for a racemate or an unknown enantiomer whose file marks a configuration, which is left out here.
    pub has_unknown_configuration: bool,
}

impl BlockStructure {
    /// Parses a SMILES, with or without a ChemAxon extension behind it (`CCO |…|`). A racemate or an unknown enantiomer
    /// has no configuration, so it is never taken for one enantiomer.
    ///
    /// # Errors
    /// Fails if the text is not a valid molecule, if it has wildcard atoms, or if the extension makes it something else
    /// (a polymer, a radical).
    pub fn of_smiles(smiles: &str) -> Result<Self, RecordFault> {
        Ok(Self { has_unknown_configuration: has_unknown_configuration(smiles), ..Self::of(smiles)? })
    }

    /// Parses a connection table.
    ///
    /// # Errors
    /// Fails if it cannot be parsed, and for the same reasons as a SMILES.
    pub fn of_molfile(text: &str) -> Result<Self, RecordFault> {
        let table = read_molfile(text).map_err(|error| RecordFault::Molfile { reason: error.to_string() })?;
        let has_unknown_configuration = table.has_unknown_configuration;
        Ok(Self { has_unknown_configuration, ..Self::of(&table.smiles)? })
    }

    fn of(written: &str) -> Result<Self, RecordFault> {
        let whole = Molecule::parse(written, Limits::DEFAULT)
            .map_err(|source| RecordFault::Smiles { smiles: shorten(written), source })?;
        let full_canonical = whole.canonical_smiles();
        if full_canonical.contains('*') {
            return Err(RecordFault::Wildcard { smiles: shorten(written) });
        }
        let parent = whole.parent();
        let mw = parent.molecule.molecular_weight();
        #[expect(clippy::cast_precision_loss, reason = "a handful of components")]
        let weights = EntryWeights { full: whole.molecular_weight(), major: mw * parent.copies as f64 };
        Ok(Self {
            morgan_bits: parent.molecule.fingerprint().to_bytes(),
            smiles: parent.molecule.canonical_smiles(),
            mw,
            full_canonical,
            minor_components: parent.others.join("."),
            weights,
            counter_ion: parent.counter_ion,
            has_unknown_configuration: false,
        })
    }
}
