//! Incremental validity check of SMILES: whether a prefix can still become a molecule, known after each symbol.
//!
//! Checking the grammar (OpenSMILES, "Grammar"), valences and aromatic rings takes some tens of nanoseconds per
//! symbol, so a symbol that would spoil the string is never drawn (see `draw`). A prefix is refused only if no
//! continuation is valid. After something that this module does not know, everything is allowed. Strings of several
//! components are refused too, since samples have none.

use crate::{
    partial_molecule::PartialMolecule,
    symbol::{Atom, Bond, Symbol},
};

/// Maximum nesting of branches, the same limit as the parser's.
const MAX_OPEN_BRANCHES: usize = 100;

/// State of a SMILES prefix.
#[derive(Debug, Default)]
pub(crate) struct PartialSmiles {
    last: LastSymbol,
    sketch: PartialMolecule,
    /// Atom that the next bond would start from.
    current: u8,
    /// Atoms at which open branches start.
    branches: Vec<u8>,
    rings: Vec<OpenDigit>,
}

/// Kind of the last symbol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum LastSymbol {
    #[default]
    Nothing,
    /// An atom, with its ring bonds and branches.
    Atom,
    Bond(Bond),
    /// Start of a branch.
    Open,
    /// A symbol that this module does not know.
    Unknown,
}

/// A ring bond that is not closed yet.
#[derive(Debug, Clone, Copy)]
struct OpenDigit {
    number: u8,
    atom: u8,
    bond: Option<Bond>,
}

impl Clone for PartialSmiles {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    /// Copies without allocating if this value has been as large before.
    fn clone_from(&mut self, source: &Self) {
        (self.last, self.current) = (source.last, source.current);
        self.sketch.clone_from(&source.sketch);
        self.branches.clone_from(&source.branches);
        self.rings.clone_from(&source.rings);
    }
}

impl PartialSmiles {
    /// Resets to the empty string.
    pub(crate) fn clear(&mut self) {
        (self.last, self.current) = (LastSymbol::Nothing, 0);
        self.sketch.clear();
        self.branches.clear();
        self.rings.clear();
    }

    /// Reads the next symbols and returns true if the string can still become a molecule. After false, the value must
    /// not be used further.
    pub(crate) fn read(&mut self, symbols: &[Symbol]) -> bool {
        symbols.iter().all(|symbol| self.read_symbol(*symbol))
    }

    /// Ends the string and returns true if it can end here. The value must not be used afterwards.
    pub(crate) fn end(&mut self) -> bool {
        match self.last {
            LastSymbol::Atom => {
                self.branches.is_empty() && self.rings.is_empty() && self.sketch.finish(self.current)
            }
            LastSymbol::Unknown => true,
            _ => false,
        }
    }

    fn read_symbol(&mut self, symbol: Symbol) -> bool {
        match (self.last, symbol) {
            (LastSymbol::Unknown, _) => true,
            (_, Symbol::Unknown) => {
                self.last = LastSymbol::Unknown;
                true
            }
            (_, Symbol::Atom(atom)) => self.atom(atom),
            (LastSymbol::Atom | LastSymbol::Open, Symbol::Bond(bond)) => {
                self.last = LastSymbol::Bond(bond);
                self.sketch.has_room(self.current, bond.order())
            }
            (LastSymbol::Atom, Symbol::Open) => self.open_branch(),
            (LastSymbol::Atom, Symbol::Close) => self.close_branch(),
            (LastSymbol::Atom, Symbol::Ring(number)) => self.ring(number, None),
            // A branch starts with an atom, not with a ring bond.
            (LastSymbol::Bond(bond), Symbol::Ring(number)) if !self.begins_branch() => {
                self.ring(number, Some(bond))
            }
            _ => false,
        }
    }

    fn atom(&mut self, atom: Atom) -> bool {
        if self.sketch.is_full() {
            self.last = LastSymbol::Unknown;
            return true;
        }
        let parent = match self.last {
            LastSymbol::Nothing => None,
            LastSymbol::Bond(bond) => Some((self.current, Some(bond))),
            _ => Some((self.current, None)),
        };
        let Some(number) = self.sketch.add(atom, parent) else { return false };
        let parent_goes_on = self.begins_branch() || parent.is_none();
        let before = std::mem::replace(&mut self.current, number);
        self.last = LastSymbol::Atom;
        (if parent_goes_on { self.sketch.settle(before) } else { self.sketch.finish(before) })
            && self.can_go_on()
    }

    fn open_branch(&mut self) -> bool {
        self.branches.push(self.current);
        self.last = LastSymbol::Open;
        self.sketch.has_room(self.current, 1)
            && self.branches.len() <= MAX_OPEN_BRANCHES
            && self.sketch.set_rings_may_form(true)
    }

    fn close_branch(&mut self) -> bool {
        let Some(atom) = self.branches.pop() else { return false };
        let last = std::mem::replace(&mut self.current, atom);
        self.sketch.finish(last) && self.update_rings() && self.can_go_on()
    }

    fn ring(&mut self, number: u8, bond: Option<Bond>) -> bool {
        self.last = LastSymbol::Atom;
        let Some(open) = self.rings.iter().position(|ring| ring.number == number) else {
            self.rings.push(OpenDigit { number, atom: self.current, bond });
            return self.sketch.open_ring(self.current, bond)
                && self.sketch.set_rings_may_form(true)
                && self.sketch.settle(self.current)
                && self.can_go_on();
        };
        let open = self.rings.swap_remove(open);
        self.sketch.close_ring(open.atom, open.bond, self.current, bond)
            && self.update_rings()
            && self.sketch.settle(open.atom)
            && self.sketch.settle(self.current)
            && self.can_go_on()
    }

    /// Returns true if the last opened branch has no atom yet.
    fn begins_branch(&self) -> bool {
        self.branches.last() == Some(&self.current)
    }

    fn update_rings(&mut self) -> bool {
        self.sketch.set_rings_may_form(!(self.rings.is_empty() && self.branches.is_empty()))
    }

    /// Returns true if open rings can be closed: an atom must be left to continue from.
    fn can_go_on(&self) -> bool {
        self.rings.is_empty()
            || self.sketch.has_room(self.current, 1)
            || self.branches.iter().any(|atom| self.sketch.has_room(*atom, 1))
    }
}

#[cfg(test)]
mod tests {
    use chem::{Limits, Molecule};
    use proptest::prelude::*;

    use super::PartialSmiles;
    use crate::symbol::symbols;

    // For the reference set, made with RDKit, see the chem crate's `tests/data/SOURCES.md`.

    fn can_be_a_molecule(text: &str) -> bool {
        let mut outline = PartialSmiles::default();
        outline.read(&symbols(text)) && outline.end()
    }

    /// Returns the index of the first symbol at which the text is refused, if any.
    fn refused_at(text: &str) -> Option<usize> {
        let mut outline = PartialSmiles::default();
        (0..).zip(symbols(text)).find(|(_, symbol)| !outline.read(&[*symbol])).map(|(n, _)| n)
    }

    #[test]
    fn molecules_have_a_sound_outline() {
        for smiles in [
            "C",
            "CC(=O)N[C@@H]1CC1",
            "C%12CC%12",
            "F/C=C/F",
            "N#Cc1ccccc1",
            "CS(=O)(=O)c1ccc([N+](=O)[O-])cc1",
            "C[Si](C)(C)C",
            "CP(C)(=O)O",
            "C[N+](C)(C)C",
            "C1CC1C2CC2",
            "C=1CC1",
            "*C",
            "[Fe+2]",
            "[H-]N",
            "C[H-]C",
            "C[H+]C",
        ] {
            assert!(can_be_a_molecule(smiles), "{smiles}");
        }
    }

    #[test]
    fn aromatic_molecules_have_a_sound_outline() {
        for smiles in [
            "c1ccccc1",
            "c1cc[nH]c1",
            "Cn1cccc1",
            "Cn1ccccc1=O",
            "O=c1cc[nH]cc1",
            "c1ccc2c(c1)Cc1ccccc1-2",
            "c1ccc(-c2ccccc2)cc1",
            "c1ccc2[nH]cnc2c1",
            "c1ccc2cccc-2cc1",
            "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
            "C[n+]1ccccc1",
            "c1cc[o+]cc1",
            "c1cnc2nc[nH]c2n1",
            "c1ccn2cccc2c1",
            "c1cc2ccc3cccc4ccc(c1)c2c34",
            "O=c1[nH]c(=O)c2ccccc2[nH]1",
            "c1ccc(=C2C=CC=C2)cc1",
            "c1csc(-c2nccs2)n1",
            "CSc1ccc(-n2cc(C)s/c2=N\\C(=O)N2CCCC2)cc1",
        ] {
            let parses = Molecule::parse(smiles, Limits::TARGET).is_ok();
            assert_eq!(can_be_a_molecule(smiles), parses, "{smiles}");
        }
    }

    #[test]
    fn what_no_parser_can_read_is_refused() {
        for text in [
            "",
            "C(",
            "C)",
            "C()C",
            "C1CC",
            "C(=)C",
            "C=",
            "C==C",
            "(C)",
            "1CC1",
            "C(1)",
            "C.C",
            "C((C)C)C",
            "C11",
            "C1C1",
            "C12CC12",
            "C=1CC-1",
            "C(=1CC1)C",
        ] {
            assert!(!can_be_a_molecule(text), "{text}");
        }
    }

    #[test]
    fn what_binds_too_much_is_refused_where_it_does() {
        for (text, at) in [
            ("FC(F)(F)(F)F", 11),
            ("CFC", 2),
            ("CO=C", 2),
            ("C=N(C)C", 6),
            ("C=F", 2),
            ("C#C=C", 3),
            ("F1CC1", 1),
            ("[NH3+](C)C", 4),
            ("C1CF", 3),
            ("C1(CF)F", 6),
        ] {
            assert_eq!(refused_at(text), Some(at), "{text}");
        }
    }

    #[test]
    fn what_has_no_alternating_double_bonds_is_refused_where_no_rest_can_mend_it() {
        for (text, at) in [
            // The last carbon could still bind an oxygen by a double bond.
            ("c1cccc1C", Some(7)),
            ("c1cccc1=O", None),
            ("c1ccc2ncnc2c1C", Some(13)),
            ("Cn1ccccc1", None),
            // An atom outside a ring cannot be aromatic.
            ("CcC", Some(2)),
            ("Cc(C)c", Some(3)),
            ("c1ccccc1cC", Some(9)),
            // Two rings joined by a single bond do not share their double bonds.
            ("c1cccc1c1cccc1", Some(7)),
            ("c1ccn(C)cc1", Some(10)),
        ] {
            assert_eq!(refused_at(text), at, "{text}");
        }
        for text in ["c1cccc1", "c1ccc2ncnc2c1", "Cn1ccccc1", "c1cc[nH]cc1", "c1ccocc1"] {
            assert!(!can_be_a_molecule(text), "{text}");
        }
    }

    #[test]
    fn no_canonical_molecule_of_the_reference_set_is_refused() {
        let molecules = include_str!("../../chem/tests/data/molecules.tsv");
        for line in molecules.lines().skip(1) {
            let canonical = line.split('\t').nth(1).unwrap();
            if !canonical.contains('.') {
                assert!(can_be_a_molecule(canonical), "{canonical}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_canonical_string_is_refused(text in "[CNOcn1-2()=#/\\\\%\\[\\]H+*-]{1,9}") {
            if let Ok(molecule) = Molecule::parse(&text, Limits::TARGET) {
                let canonical = molecule.canonical_smiles();
                prop_assert!(can_be_a_molecule(&canonical), "{text}: {canonical}");
            }
        }

        #[test]
        fn what_is_not_refused_is_a_molecule(
            tokens in prop::collection::vec(
                prop::sample::select(vec!["C", "N", "O", "F", "S", "c", "n", "o", "[nH]", "(", ")", "=", "#", "1", "2"]),
                1..80,
            ),
        ) {
            // As in `stream`, symbols that do not fit are skipped.
            let mut outline = PartialSmiles::default();
            let mut text = String::new();
            for token in tokens {
                let mut trial = outline.clone();
                if trial.read(&symbols(token)) {
                    outline = trial;
                    text.push_str(token);
                }
            }
            if outline.end() {
                let molecule = Molecule::parse(&text, Limits::TARGET);
                prop_assert!(molecule.is_ok(), "{text}: {molecule:?}");
            }
        }
    }
}
