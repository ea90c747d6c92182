//! The skeleton of a SMILES: its atoms as written, and the bonds between them.
//!
//! For code that needs no chemistry. The string is not validated: a canonical SMILES is a molecule; for any other
//! string the result is not reliable.

use super::tokens::{Token, tokens};

/// The atoms and bonds of a SMILES, in written order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SmilesSkeleton<'a> {
    /// Text of each atom, without brackets.
    pub atoms: Vec<&'a str>,
    /// The bonds; a ring bond is listed where its ring closes.
    pub bonds: Vec<SkeletonBond>,
}

/// A bond as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkeletonBond {
    /// The two atoms; the one written first comes first.
    pub atoms: (usize, usize),
    /// Bond character, if one is written.
    pub mark: Option<u8>,
}

impl<'a> SmilesSkeleton<'a> {
    /// Parses a string.
    #[must_use]
    pub fn read(smiles: &'a str) -> Self {
        let mut written = Self::default();
        let (mut last, mut mark) = (None, None);
        let mut branches = Vec::new();
        // Number, atom and bond character of each open ring bond.
        let mut open: Vec<(u32, usize, Option<u8>)> = Vec::new();
        for symbol in tokens(smiles) {
            match symbol {
                Token::Atom(text) | Token::Bracket(text) => {
                    let atom = written.atoms.len();
                    written.atoms.push(text);
                    written.bond(last, atom, mark.take());
                    last = Some(atom);
                }
                Token::Bond(character) => mark = Some(character),
                Token::Open => branches.push(last),
                Token::Close => last = branches.pop().flatten(),
                Token::Dot => last = None,
                Token::Ring(number) => {
                    let Some(here) = last else { continue };
                    match open.iter().position(|ring| ring.0 == number) {
                        Some(place) => {
                            let (_, other, before) = open.swap_remove(place);
                            written.bond(Some(other), here, mark.take().or(before));
                        }
                        None => open.push((number, here, mark.take())),
                    }
                }
                Token::Unknown(_) => break,
            }
        }
        written
    }

    fn bond(&mut self, from: Option<usize>, to: usize, mark: Option<u8>) {
        self.bonds.extend(from.map(|from| SkeletonBond { atoms: (from, to), mark }));
    }
}

#[cfg(test)]
mod tests {
    use super::SmilesSkeleton;

    #[test]
    fn a_skeleton_has_the_bonds_of_the_molecule() {
        let written = SmilesSkeleton::read("C[C@H]1CC=C(Br)%10CC%10C1.O");

        assert_eq!(written.atoms, ["C", "C@H", "C", "C", "C", "Br", "C", "C", "C", "O"]);
        let pairs: Vec<_> = written.bonds.iter().map(|bond| bond.atoms).collect();
        assert_eq!(pairs, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (4, 6), (6, 7), (4, 7), (7, 8), (1, 8)]);
        assert_eq!((written.bonds[3].mark, written.bonds[0].mark), (Some(b'='), None));
    }
}
