//! Annotations of ready molecules: their properties and alerts, computed ahead by idle samplers.
//!
//! With them, most conditions of a sample are comparisons of numbers. A block of the reservoir stores them in bytes, in
//! the order of its molecules: for each, the values of [`Property::ALL`] as little-endian IEEE 754 numbers of 64 bits,
//! then a byte in which bit n says that the set n of [`AlertSet::ALL`] has an alert. The numbers are exact, so a check
//! has the result that computing would have.

use chem::{AlertSet, Molecule, Properties, Property};

/// Version of the layout and of the values. Blocks with another one count as not annotated. A change of a property or
/// of a set of alerts raises it; a test below notices.
pub(crate) const VERSION: i16 = 1;

const PROPERTIES: usize = Property::ALL.len();
/// Bytes of a molecule.
const BYTES: usize = PROPERTIES * size_of::<f64>() + 1;

/// Properties and alerts of a molecule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Annotation {
    values: [f64; PROPERTIES],
    /// Sets with an alert, by bit.
    alerts: u8,
}

impl Annotation {
    /// Computes the annotation of a molecule.
    #[must_use]
    pub fn of(molecule: &Molecule) -> Self {
        let properties = Properties::new(molecule);
        let found = AlertSet::first_matches(&AlertSet::ALL, molecule);
        let bits = found.iter().zip(0..).map(|(alert, bit)| u8::from(alert.is_some()) << bit);
        Self {
            values: Property::ALL.map(|property| properties.value(property)),
            alerts: bits.fold(0, |alerts, bit| alerts | bit),
        }
    }

    /// Returns the value of a property.
    #[must_use]
    pub fn value(&self, property: Property) -> f64 {
        self.values[property as usize]
    }

    /// Returns true if the molecule has an alert of the set.
    #[must_use]
    pub fn has_alert(&self, set: AlertSet) -> bool {
        self.alerts & 1 << set as u8 != 0
    }
}

/// Writes the annotations of a block.
pub(crate) fn encode(annotations: &[Annotation]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(annotations.len() * BYTES);
    for annotation in annotations {
        bytes.extend(annotation.values.iter().flat_map(|value| value.to_le_bytes()));
        bytes.push(annotation.alerts);
    }
    bytes
}

/// Reads the annotations of a block; those of an incomplete molecule at the end are left out.
pub(crate) fn decode(bytes: &[u8]) -> impl Iterator<Item = Annotation> {
    bytes.chunks_exact(BYTES).map(|bytes| {
        let mut values = [0.0; PROPERTIES];
        let (numbers, _) = bytes.as_chunks();
        values.iter_mut().zip(numbers).for_each(|(value, bytes)| *value = f64::from_le_bytes(*bytes));
        Annotation { values, alerts: bytes[BYTES - 1] }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOLECULES: [&str; 5] = [
        "CC(=O)Nc1ccc(O)cc1",
        "O=C1C=CC(=O)C=C1",
        "C[N+](C)(C)CC(=O)[O-]",
        "COc1ccc2nc(S(=O)Cc3ncc(C)c(OC)c3C)[nH]c2c1",
        "O=C(O)C[C@H](O)C[C@H](O)CCn1c(C2CC2)c(C(=O)Nc2ccccc2)c(-c2ccccc2)c1-c1ccc(F)cc1",
    ];

    fn annotations() -> Vec<(Molecule, Annotation)> {
        let molecules = MOLECULES.map(|smiles| smiles.parse::<Molecule>().unwrap());
        molecules.into_iter().map(|molecule| (molecule.clone(), Annotation::of(&molecule))).collect()
    }

    #[test]
    fn an_annotation_says_what_computing_would_say() {
        for (molecule, annotation) in annotations() {
            for property in Property::ALL {
                assert_eq!(annotation.value(property).to_bits(), property.of(&molecule).to_bits());
            }
            for set in AlertSet::ALL {
                assert_eq!(annotation.has_alert(set), set.first_match(&molecule).is_some());
            }
        }
    }

    #[test]
    fn what_is_stored_is_read_and_an_incomplete_end_is_not() {
        let annotations: Vec<_> = annotations().into_iter().map(|(_, annotation)| annotation).collect();

        let bytes = encode(&annotations);

        assert_eq!(decode(&bytes).collect::<Vec<_>>(), annotations);
        assert_eq!(decode(&bytes[..bytes.len() - 1]).collect::<Vec<_>>(), annotations[..4]);
        assert_eq!(decode(&[]).count(), 0);
    }
}
