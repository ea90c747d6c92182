//! Whether a string of SMILES can still become a molecule, by its outline alone.
//!
//! Open branches, open rings and what may follow what cost a few instructions a letter, so a string
//! that has gone wrong gives its slot up at once, and the parser sees none that cannot parse. Only what
//! OpenSMILES ("Grammar") forbids beyond doubt counts as wrong; after a letter that says nothing here,
//! everything is allowed. Several components are no molecule of a sample and count as wrong too.

/// What has been read of one string.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outline {
    last: Last,
    /// Open branches.
    depth: u32,
    /// Open rings, one bit each.
    rings: u128,
}

/// What came last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Nothing,
    /// An atom, with its ring closures and branches.
    Atom,
    Bond,
    /// The beginning of a branch.
    Open,
    /// Something inside brackets.
    Bracket,
    /// The beginning of a ring closure of two digits, and the first of them.
    Percent,
    Tens(u8),
    /// Something that this module does not know.
    Unknown,
}

impl Outline {
    /// Reads on; says whether the string can still become a molecule.
    pub(crate) fn read(&mut self, text: &str) -> bool {
        text.bytes().all(|byte| self.read_byte(byte))
    }

    /// Whether the string can end here.
    pub(crate) fn can_end(&self) -> bool {
        match self.last {
            Last::Atom => self.depth == 0 && self.rings == 0,
            Last::Unknown => true,
            _ => false,
        }
    }

    fn read_byte(&mut self, byte: u8) -> bool {
        self.last = match (self.last, byte) {
            (Last::Unknown, _) => Last::Unknown,
            (Last::Bracket, b']') => Last::Atom,
            (Last::Bracket, b'[') => return false,
            (Last::Bracket, _) => Last::Bracket,
            (Last::Percent, b'0'..=b'9') => Last::Tens(byte - b'0'),
            (Last::Tens(tens), b'0'..=b'9') => self.ring(10 * tens + byte - b'0'),
            (Last::Percent | Last::Tens(_), _) => Last::Unknown,
            (_, b'.') => return false,
            (_, b'[') => Last::Bracket,
            (_, b'A'..=b'Z' | b'a'..=b'z' | b'*') => Last::Atom,
            (Last::Nothing, _) => return false,
            (Last::Bond, b'-' | b'=' | b'#' | b'(' | b')') => return false,
            (_, b'-' | b'=' | b'#') => Last::Bond,
            (Last::Open, b')' | b'0'..=b'9' | b'%') => return false,
            (_, b'0'..=b'9') => self.ring(byte - b'0'),
            (_, b'%') => Last::Percent,
            (_, b'(') => {
                self.depth += 1;
                Last::Open
            }
            (_, b')') if self.depth == 0 => return false,
            (_, b')') => {
                self.depth -= 1;
                Last::Atom
            }
            // A direction says nothing that the parser would not know better.
            (last, b'/' | b'\\') => last,
            _ => Last::Unknown,
        };
        true
    }

    fn ring(&mut self, number: u8) -> Last {
        self.rings ^= 1 << number;
        Last::Atom
    }
}

#[cfg(test)]
mod tests {
    use chem::{Limits, Molecule};
    use proptest::prelude::*;

    use super::Outline;

    fn can_be_a_molecule(text: &str) -> bool {
        let mut outline = Outline::default();
        outline.read(text) && outline.can_end()
    }

    #[test]
    fn molecules_have_a_sound_outline() {
        for smiles in
            ["C", "CC(=O)N[C@@H]1CC1", "C%12CC%12", "C%05CC5", "F/C=C/F", "c1ccc2c(c1)cccc2", "N#Cc1ccccc1"]
        {
            assert!(can_be_a_molecule(smiles), "{smiles}");
        }
    }

    #[test]
    fn what_no_parser_can_read_is_refused() {
        for text in [
            "", "C(", "C)", "C()C", "C1CC", "C(=)C", "C=", "C==C", "(C)", "1CC1", "C[", "C[N[", "C%1",
            "C(1)", "C.C",
        ] {
            assert!(!can_be_a_molecule(text), "{text}");
        }
    }

    #[test]
    fn a_string_is_refused_at_the_letter_that_no_rest_can_mend() {
        let mut outline = Outline::default();

        assert!(outline.read("CC(C)"));
        assert!(!outline.read(")"));
    }

    proptest! {
        #[test]
        fn nothing_that_parses_to_one_component_is_refused(text in "[CNOcn1-2()=#/\\\\.%\\[\\]H+*-]{1,9}") {
            if !can_be_a_molecule(&text) {
                let molecule = Molecule::parse(&text, Limits::TARGET);
                prop_assert!(molecule.is_err() || text.contains('.'), "{text}");
            }
        }
    }
}
