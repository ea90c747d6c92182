//! A molecule as a SMILES writes it: the texts of its atoms, and the order of their neighbours.
//!
//! Nothing is perceived, so whatever is written from it in another order (see `walk`) has the same aromatic atoms,
//! charges, isotopes and stereo. The order of the neighbours is what `@` and `/` refer to (OpenSMILES, "Chirality").

use crate::smiles::tokens::{Token, tokens};

/// Atoms and bonds in written order.
#[derive(Debug, Clone, Default)]
pub(super) struct WrittenMolecule {
    pub(super) atoms: Vec<WrittenAtom>,
    pub(super) bonds: Vec<WrittenBond>,
}

/// An atom as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrittenAtom {
    /// Element, with the isotope before it: `13C`, `c`, `*`.
    pub(super) name: String,
    pub(super) is_in_brackets: bool,
    pub(super) turn: Option<Turn>,
    /// Hydrogens stated in the brackets.
    pub(super) hydrogens: u8,
    /// Charge as written: empty, `+`, `-2`.
    pub(super) charge: String,
    /// Atom map number; 0 for none.
    pub(super) number: u32,
    /// Neighbours in written order, those of ring bonds where the number stands.
    pub(super) order: Vec<Neighbour>,
}

/// Tetrahedral configuration: seen from the first neighbour, the others run this way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// `@`
    Counterclockwise,
    /// `@@`
    Clockwise,
}

/// A neighbour in an atom's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Neighbour {
    /// A hydrogen stated in the brackets.
    Hydrogen,
    /// The atom at the other end of this bond.
    Bond(usize),
}

/// A bond as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenBond {
    /// The two atoms, in the direction that the mark has.
    pub(super) atoms: (usize, usize),
    pub(super) mark: Option<u8>,
}

impl Turn {
    /// Returns the other configuration.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Counterclockwise => Self::Clockwise,
            Self::Clockwise => Self::Counterclockwise,
        }
    }
}

impl WrittenBond {
    /// Returns the atom at the other end.
    pub(super) fn other(self, atom: usize) -> usize {
        if self.atoms.0 == atom { self.atoms.1 } else { self.atoms.0 }
    }

    /// Returns the mark as written from `atom`.
    pub(super) fn mark_from(self, atom: usize) -> Option<u8> {
        if self.atoms.0 == atom { self.mark } else { self.mark.map(reversed) }
    }
}

/// Returns the mark of a bond that is written in the other direction.
fn reversed(mark: u8) -> u8 {
    match mark {
        b'/' => b'\\',
        b'\\' => b'/',
        other => other,
    }
}

impl WrittenAtom {
    /// Returns true if the atom is an attachment point.
    pub(super) fn is_point(&self) -> bool {
        self.name.trim_start_matches(|letter: char| letter.is_ascii_digit()) == "*"
    }

    /// Creates an attachment point with its only bond.
    pub(super) fn point(bond: Neighbour) -> Self {
        Self { order: vec![bond], ..Self::plain("*") }
    }

    fn plain(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_in_brackets: false,
            turn: None,
            hydrogens: 0,
            charge: String::new(),
            number: 0,
            order: Vec::new(),
        }
    }

    /// Parses the text in an atom's brackets; `None` if it is not of the usual kind.
    fn bracket(text: &str) -> Option<Self> {
        let (text, number) = match text.split_once(':') {
            Some((text, number)) => (text, number.parse().ok()?),
            None => (text, 0),
        };
        let start = text.find(|letter: char| !letter.is_ascii_digit())?;
        let letters = &text.as_bytes()[start..];
        let length = match letters {
            [b'*', ..] => 1,
            [first, second, ..] if first.is_ascii_uppercase() && second.is_ascii_lowercase() => 2,
            [b's', b'e', ..] | [b'a', b's', ..] | [b't', b'e', ..] => 2,
            [first, ..] if first.is_ascii_alphabetic() => 1,
            _ => return None,
        };
        let (name, rest) = text.split_at(start + length);
        let (turn, rest) = if let Some(rest) = rest.strip_prefix("@@") {
            (Some(Turn::Clockwise), rest)
        } else if let Some(rest) = rest.strip_prefix('@') {
            (Some(Turn::Counterclockwise), rest)
        } else {
            (None, rest)
        };
        let (hydrogens, charge) = match rest.strip_prefix('H') {
            Some(rest) => match rest.as_bytes() {
                [digit @ b'0'..=b'9', ..] => (digit - b'0', &rest[1..]),
                _ => (1, rest),
            },
            None => (0, rest),
        };
        let is_charge = charge.is_empty() || charge.starts_with(['+', '-']);
        is_charge.then(|| Self {
            is_in_brackets: true,
            turn,
            hydrogens,
            charge: charge.to_owned(),
            number,
            ..Self::plain(name)
        })
    }
}

/// A ring bond that is not closed yet.
struct OpenRing {
    number: u32,
    bond: usize,
}

impl WrittenMolecule {
    /// Reads a string that is one molecule; `None` for several components, and for symbols that are not usual in
    /// SMILES of molecules (quadruple and dative bonds, other stereo than `@` and `@@`).
    pub(super) fn read(smiles: &str) -> Option<Self> {
        let mut molecule = Self::default();
        let (mut last, mut mark) = (None, None);
        let mut branches = Vec::new();
        let mut open: Vec<OpenRing> = Vec::new();
        for symbol in tokens(smiles) {
            match symbol {
                Token::Atom(_) | Token::Bracket(_) => {
                    let atom = match symbol {
                        Token::Bracket(text) => WrittenAtom::bracket(text)?,
                        Token::Atom(name) => WrittenAtom::plain(name),
                        _ => return None,
                    };
                    let here = molecule.add(atom, last.map(|last| (last, mark.take())));
                    last = Some(here);
                }
                Token::Bond(character @ (b'-' | b'=' | b'#' | b':' | b'/' | b'\\')) => mark = Some(character),
                Token::Open => branches.push(last?),
                Token::Close => last = Some(branches.pop()?),
                Token::Ring(number) => {
                    let here = last?;
                    let bond = match open.iter().position(|ring| ring.number == number) {
                        Some(place) => {
                            let bond = open.swap_remove(place).bond;
                            let found = &mut molecule.bonds[bond];
                            found.atoms.1 = here;
                            found.mark = found.mark.or(mark.take().map(reversed));
                            bond
                        }
                        None => {
                            let bond = molecule.bonds.len();
                            open.push(OpenRing { number, bond });
                            molecule.bonds.push(WrittenBond { atoms: (here, here), mark: mark.take() });
                            bond
                        }
                    };
                    molecule.atoms[here].order.push(Neighbour::Bond(bond));
                }
                Token::Bond(_) | Token::Dot | Token::Unknown(_) => return None,
            }
        }
        (open.is_empty() && branches.is_empty() && mark.is_none() && last.is_some()).then_some(molecule)
    }

    /// Adds an atom with a bond to `parent`, and returns its index.
    fn add(&mut self, mut atom: WrittenAtom, parent: Option<(usize, Option<u8>)>) -> usize {
        let here = self.atoms.len();
        if let Some((parent, mark)) = parent {
            let bond = Neighbour::Bond(self.bonds.len());
            self.bonds.push(WrittenBond { atoms: (parent, here), mark });
            self.atoms[parent].order.push(bond);
            atom.order.push(bond);
        }
        atom.order.extend((0..atom.hydrogens).map(|_| Neighbour::Hydrogen));
        self.atoms.push(atom);
        here
    }

    /// Iterates over the bonds of an atom.
    pub(super) fn bonds_of(&self, atom: usize) -> impl Iterator<Item = usize> {
        self.atoms[atom].order.iter().filter_map(|neighbour| match neighbour {
            Neighbour::Bond(bond) => Some(*bond),
            Neighbour::Hydrogen => None,
        })
    }

    /// Returns true if an attachment point is the end of one single bond to an atom, and has nothing else.
    pub(super) fn is_usable_point(&self, point: usize) -> bool {
        let it = &self.atoms[point];
        let bonds: Vec<usize> = self.bonds_of(point).collect();
        let is_bare = it.hydrogens == 0 && it.charge.is_empty() && it.turn.is_none();
        let is_single = |bond: usize| !matches!(self.bonds[bond].mark, Some(b'=' | b'#' | b':'));
        let [bond] = bonds[..] else { return false };
        is_bare && is_single(bond) && !self.atoms[self.other(bond, point)].is_point()
    }

    /// Returns the atom at the other end of a bond.
    pub(super) fn other(&self, bond: usize, atom: usize) -> usize {
        self.bonds[bond].other(atom)
    }
}
