//! The skeleton of a SMILES: its atoms as they are written, and what is bonded to what.
//!
//! For those who need no chemistry. The string is taken at its word: a canonical one is a molecule, of any other this says
//! nothing that could be relied on.

use super::symbols::{Symbol, symbols};

/// The atoms and bonds of a SMILES, in the order in which they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written<'a> {
    /// The text of each atom, brackets left out.
    pub atoms: Vec<&'a str>,
    /// The bonds, those that close a ring where they close it.
    pub bonds: Vec<WrittenBond>,
}

/// A bond as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenBond {
    /// The atoms, the one that is written first first.
    pub atoms: (usize, usize),
    /// The character that it is written by, if it is written at all.
    pub mark: Option<u8>,
}

impl<'a> Written<'a> {
    /// Reads a string.
    #[must_use]
    pub fn read(smiles: &'a str) -> Self {
        let mut written = Self::default();
        let (mut last, mut mark) = (None, None);
        let mut branches = Vec::new();
        // The number, the atom and the mark of each ring bond whose other end is to come.
        let mut open: Vec<(u32, usize, Option<u8>)> = Vec::new();
        for symbol in symbols(smiles) {
            match symbol {
                Symbol::Atom(text) | Symbol::Bracket(text) => {
                    let atom = written.atoms.len();
                    written.atoms.push(text);
                    written.bond(last, atom, mark.take());
                    last = Some(atom);
                }
                Symbol::Bond(character) => mark = Some(character),
                Symbol::Open => branches.push(last),
                Symbol::Close => last = branches.pop().flatten(),
                Symbol::Dot => last = None,
                Symbol::Ring(number) => {
                    let Some(here) = last else { continue };
                    match open.iter().position(|ring| ring.0 == number) {
                        Some(place) => {
                            let (_, other, before) = open.swap_remove(place);
                            written.bond(Some(other), here, mark.take().or(before));
                        }
                        None => open.push((number, here, mark.take())),
                    }
                }
                Symbol::Unknown(_) => break,
            }
        }
        written
    }

    fn bond(&mut self, from: Option<usize>, to: usize, mark: Option<u8>) {
        self.bonds.extend(from.map(|from| WrittenBond { atoms: (from, to), mark }));
    }
}

#[cfg(test)]
mod tests {
    use super::Written;

    #[test]
    fn a_skeleton_has_the_bonds_of_the_molecule() {
        let written = Written::read("C[C@H]1CC=C(Br)%10CC%10C1.O");

        assert_eq!(written.atoms, ["C", "C@H", "C", "C", "C", "Br", "C", "C", "C", "O"]);
        let pairs: Vec<_> = written.bonds.iter().map(|bond| bond.atoms).collect();
        assert_eq!(pairs, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (4, 6), (6, 7), (4, 7), (7, 8), (1, 8)]);
        assert_eq!((written.bonds[3].mark, written.bonds[0].mark), (Some(b'='), None));
    }
}
