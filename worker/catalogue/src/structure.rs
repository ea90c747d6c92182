//! What a vendor's structure says.
//!
//! The major component is what the entry is bought for, its [parent](chem::Parent): never a counter-ion or a solvate
//! where there is something else, and without the charges that a salt put on it. What comes with it are minor
//! components; they make the gram of the major component dearer.

use chem::{Limits, Molecule, smiles_of_molfile};

use crate::{
    fault::{Fault, shorten},
    price::Weights,
};

/// A structure that can be bought.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    /// Canonical SMILES of the major component, neutral.
    pub smiles: String,
    /// Weight of the major component, daltons.
    pub mw: f64,
    /// Its fingerprint, as tables keep it.
    pub morgan_bits: Vec<u8>,
    /// Canonical SMILES of the whole entry.
    pub full_canonical: String,
    /// Canonical SMILES of the other components as the entry has them, joined by dots.
    pub minor_components: String,
    /// Weights of the whole entry and of all that is its major component.
    pub weights: Weights,
    /// The name of the counter-ion or solvate that the major component is, for want of another.
    pub counter_ion: Option<&'static str>,
}

impl Structure {
    /// Reads a SMILES; a ChemAxon extension behind it (`CCO |…|`) is not looked at.
    ///
    /// # Errors
    /// Fails where it is no molecule, or one with wildcard atoms.
    pub fn of_smiles(written: &str) -> Result<Self, Fault> {
        let smiles = written.split_once(" |").filter(|(_, rest)| rest.ends_with('|'));
        let smiles = smiles.map_or(written, |(smiles, _)| smiles.trim_end());
        let whole = Molecule::parse(smiles, Limits::DEFAULT)
            .map_err(|source| Fault::Smiles { smiles: shorten(smiles), source })?;
        Self::of(&whole, smiles)
    }

    /// Reads a connection table.
    ///
    /// # Errors
    /// Fails where it cannot be read, and as a SMILES does.
    pub fn of_molfile(text: &str) -> Result<Self, Fault> {
        let smiles = smiles_of_molfile(text).map_err(|error| Fault::Molfile { reason: error.to_string() })?;
        Self::of_smiles(&smiles)
    }

    fn of(whole: &Molecule, written: &str) -> Result<Self, Fault> {
        let full_canonical = whole.canonical_smiles();
        if full_canonical.contains('*') {
            return Err(Fault::Wildcard { smiles: shorten(written) });
        }
        let parent = whole.parent();
        let mw = parent.molecule.molecular_weight();
        #[expect(clippy::cast_precision_loss, reason = "a handful of components")]
        let weights = Weights { full: whole.molecular_weight(), major: mw * parent.copies as f64 };
        Ok(Self {
            morgan_bits: parent.molecule.fingerprint().to_bytes(),
            smiles: parent.molecule.canonical_smiles(),
            mw,
            full_canonical,
            minor_components: parent.others.join("."),
            weights,
            counter_ion: parent.counter_ion,
        })
    }
}
