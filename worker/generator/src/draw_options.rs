//! Conditions of a draw: settings that replace the pack's, parts that stay, and a filter of molecules.

use chem::Molecule;

use crate::{
    config::GenerationConfig,
    distribution::{Temperature, TopP},
    fixed_parts::FixedParts,
};

/// Conditions under which molecules are drawn. The default draws as the pack says.
#[derive(Debug, Clone, Default)]
pub struct DrawOptions {
    /// Divisor of the logits instead of the pack's.
    pub temperature: Option<Temperature>,
    /// Cumulative probability for nucleus sampling instead of the pack's.
    pub top_p: Option<TopP>,
    /// Parts that every molecule contains.
    pub fixed: Option<FixedParts>,
}

/// Constraints that molecules must satisfy, numbered from 0.
///
/// The threads that check strings call it, on valid molecules only. It must depend on nothing but the molecule, or
/// the same seed does not give the same sample.
pub trait MoleculeFilter: Sync {
    /// Returns the index of a constraint that refuses the molecule; `None` if it satisfies all.
    fn refusal(&self, molecule: &Molecule) -> Option<usize>;
}

impl DrawOptions {
    /// Returns the pack's settings with those that these options replace.
    pub(crate) fn settings(&self, pack: GenerationConfig) -> GenerationConfig {
        GenerationConfig {
            temperature: self.temperature.map_or(pack.temperature, Temperature::get),
            top_p: self.top_p.map_or(pack.top_p, TopP::get),
            ..pack
        }
    }

    /// Returns true if these options draw as the pack says.
    pub(crate) fn is_plain(&self) -> bool {
        self.temperature.is_none() && self.top_p.is_none() && self.fixed.is_none()
    }
}
