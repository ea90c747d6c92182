//! The graph of an ordinary molecule: flat arrays, atoms and bonds numbered by bytes.
//!
//! Numbering is RDKit's (`SmilesParse`): atoms as written, chain bonds as written, then ring bonds by their number
//! and the order they were opened in; an atom's bonds ascend. The canonical form depends on it where RDKit's does.

use super::elements::outer_electrons;
use super::valence::{keeps_own_valences, valences};

/// Maximum number of atoms, and of bonds: sets of them are 128-bit masks.
pub(super) const MAX_FAST_ATOMS: usize = 128;

/// Maximum number of bonds of one atom.
pub(super) const MAX_NEIGHBOURS: usize = 4;

/// Kinds of bond, in the order of RDKit's numbers for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BondKind {
    Single,
    Double,
    Triple,
    Aromatic,
}

impl BondKind {
    /// Twice the bond's order.
    pub fn twice(self) -> u8 {
        match self {
            Self::Single => 2,
            Self::Double => 4,
            Self::Triple => 6,
            Self::Aromatic => 3,
        }
    }

    /// Returns RDKit's number (`Bond::BondType`).
    pub fn number(self) -> i32 {
        match self {
            Self::Single => 1,
            Self::Double => 2,
            Self::Triple => 3,
            Self::Aromatic => 12,
        }
    }
}

/// The mark `/` or `\` of a bond, seen from its first atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    None,
    Down,
    Up,
}

impl Direction {
    pub fn flipped(self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }
}

/// The chirality of an atom, with its neighbours in the order of its bonds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChiralTag {
    None,
    /// `@@`.
    Clockwise,
    /// `@`.
    Counter,
}

impl ChiralTag {
    pub fn flipped(self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Clockwise => Self::Counter,
            Self::Counter => Self::Clockwise,
        }
    }

    pub fn flipped_if(self, odd: bool) -> Self {
        if odd { self.flipped() } else { self }
    }
}

/// The configuration of a double bond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BondStereo {
    None,
    /// The highest-ranking neighbours of both ends are on the same side (`STEREOZ`).
    Same,
    /// The highest-ranking neighbours are on opposite sides (`STEREOE`).
    Opposite,
}

/// A bond and the neighbour at its other end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Edge {
    pub to: u8,
    pub bond: u8,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Atom {
    pub number: u8,
    pub charge: i8,
    /// Explicit hydrogens, counted on the atom itself.
    pub hydrogens: u8,
    /// Set if no hydrogens are implied (bracket atoms).
    pub closed: bool,
    pub aromatic: bool,
    pub chirality: ChiralTag,
    pub radicals: u8,
    /// Explicit valence (bonds and counted hydrogens), as of the last update.
    pub explicit: u8,
    /// Implied hydrogens, as of the last update.
    pub implicit: u8,
    pub degree: u8,
    pub around: [Edge; MAX_NEIGHBOURS],
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Bond {
    pub begin: u8,
    pub end: u8,
    pub kind: BondKind,
    pub aromatic: bool,
    pub conjugated: bool,
    pub direction: Direction,
    pub sides: BondStereo,
    /// Reference neighbours of `sides`: one of the first atom and one of the second.
    pub references: [u8; 2],
}

#[derive(Debug, Default)]
pub(super) struct Graph {
    pub atoms: Vec<Atom>,
    pub bonds: Vec<Bond>,
}

impl Atom {
    pub fn edges(&self) -> &[Edge] {
        &self.around[..usize::from(self.degree)]
    }

    /// Number of implied hydrogens; 0 for bracket atoms.
    pub fn implied(&self) -> u8 {
        if self.closed { 0 } else { self.implicit }
    }

    pub fn total_hydrogens(&self) -> u8 {
        self.hydrogens + self.implied()
    }

    pub fn total_valence(&self) -> u8 {
        self.explicit + self.implied()
    }

    pub fn total_degree(&self) -> u8 {
        self.degree + self.total_hydrogens()
    }

    /// Returns the element with the same number of electrons.
    fn isoelectronic(&self) -> u8 {
        self.number.saturating_add_signed(self.charge.saturating_neg())
    }

    /// Computes bonds and counted hydrogens (`calculateExplicitValence`) from twice the bond orders.
    fn explicit_valence(&self, twice: u8, aromatic: bool, strictness: Strictness) -> Option<u8> {
        let mut twice = twice + 2 * self.hydrogens;
        let list = valences(self.isoelectronic())?;
        let least = list[0];
        if aromatic && twice > 2 * least {
            let most =
                list.iter().copied().take_while(|&valence| 2 * valence <= twice).last().unwrap_or(least);
            if twice <= 2 * most + 3 {
                twice = 2 * most;
            }
        }
        let result = twice.div_ceil(2);
        if strictness == Strictness::Strict {
            let (mut most, mut shifted) = (*list.last()?, i16::from(result));
            if self.is_hypervalent() {
                most = *valences(self.number)?.last()?;
                shifted -= i16::from(self.charge);
            }
            if shifted > i16::from(most) {
                return None;
            }
        }
        Some(result)
    }

    /// Computes the implied hydrogens (`calculateImplicitValence`) from the last explicit valence.
    fn implicit_valence(&self, aromatic: bool, strictness: Strictness) -> Option<u8> {
        if self.closed {
            return Some(0);
        }
        let mut bonds = i16::from(self.explicit) + i16::from(self.radicals);
        let mut like = self.isoelectronic();
        let least = i16::from(valences(like)?[0]);
        if self.is_hypervalent() {
            like = self.number;
            bonds -= i16::from(self.charge);
        }
        let list = valences(like)?;
        let hydrogens = if aromatic {
            if bonds <= least {
                least - bonds
            } else {
                let accepted =
                    list.iter().take_while(|&&v| v > 0).any(|&valence| bonds == i16::from(valence));
                if !accepted && strictness == Strictness::Strict {
                    return None;
                }
                0
            }
        } else {
            match list.iter().map(|&valence| i16::from(valence)).find(|&valence| bonds <= valence) {
                Some(valence) => valence - bonds,
                None if strictness == Strictness::Strict => return None,
                None => 0,
            }
        };
        u8::try_from(hydrogens).ok()
    }

    /// Returns true if RDKit allows the atom more bonds than the isoelectronic element.
    fn is_hypervalent(&self) -> bool {
        keeps_own_valences(self.number, i16::from(self.isoelectronic()))
    }
}

/// Strictness of an update: strict updates refuse impossible valences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    Strict,
    Lenient,
}

impl Bond {
    pub fn other(&self, atom: u8) -> u8 {
        if self.begin == atom { self.end } else { self.begin }
    }
}

impl Graph {
    pub fn clear(&mut self) {
        self.atoms.clear();
        self.bonds.clear();
    }

    pub fn bond_between(&self, a: u8, b: u8) -> Option<u8> {
        self.atoms[usize::from(a)].edges().iter().find(|edge| edge.to == b).map(|edge| edge.bond)
    }

    pub fn kind(&self, edge: Edge) -> BondKind {
        self.bonds[usize::from(edge.bond)].kind
    }

    /// Returns twice the sum of the bond orders of an atom.
    pub fn twice_bonds(&self, atom: usize) -> u8 {
        self.atoms[atom].edges().iter().map(|&edge| self.kind(edge).twice()).sum()
    }

    /// Returns twice the sum of the bond orders of an atom, and true if the atom or one of its bonds is aromatic
    /// (RDKit's `isAromaticAtom`).
    fn bonding(&self, at: usize) -> (u8, bool) {
        let atom = &self.atoms[at];
        atom.edges().iter().fold((0, atom.aromatic), |(twice, aromatic), edge| {
            let bond = &self.bonds[usize::from(edge.bond)];
            (twice + bond.kind.twice(), aromatic || bond.aromatic || bond.kind == BondKind::Aromatic)
        })
    }

    /// Computes an atom's explicit valence and implied hydrogens (`Atom::updatePropertyCache`); `None` if RDKit
    /// refuses.
    pub fn update(&mut self, at: usize, strictness: Strictness) -> Option<()> {
        let (twice, aromatic) = self.bonding(at);
        let atom = &mut self.atoms[at];
        if let (false, 0, Some(&[most])) =
            (aromatic || atom.charge != 0, atom.radicals, valences(atom.number))
        {
            atom.explicit = twice / 2 + atom.hydrogens;
            if atom.explicit > most && strictness == Strictness::Strict {
                return None;
            }
            atom.implicit = if atom.closed { 0 } else { most.saturating_sub(atom.explicit) };
            return Some(());
        }
        atom.explicit = atom.explicit_valence(twice, aromatic, strictness)?;
        atom.implicit = atom.implicit_valence(aromatic, strictness)?;
        Some(())
    }

    /// Computes an atom's explicit valence alone.
    pub fn update_explicit(&mut self, at: usize) -> Option<()> {
        let (twice, aromatic) = self.bonding(at);
        self.atoms[at].explicit = self.atoms[at].explicit_valence(twice, aromatic, Strictness::Lenient)?;
        Some(())
    }

    /// Assigns unpaired electrons to atoms without implied hydrogens (`assignRadicals`).
    pub fn assign_radicals(&mut self) -> Option<()> {
        for at in 0..self.atoms.len() {
            let atom = &self.atoms[at];
            if !atom.closed {
                continue;
            }
            let outer = i16::from(outer_electrons(atom.number)?);
            let bonds = i16::from((self.twice_bonds(at) + 2 * atom.hydrogens) / 2);
            let charge = i16::from(atom.charge);
            let mut radicals = 8 - outer - bonds + charge;
            if radicals < 0 {
                let list = valences(atom.number)?;
                let more = list.iter().map(|&v| i16::from(v) - bonds + charge).find(|&left| left >= 0);
                radicals = if list.len() > 1 { more.unwrap_or(0) } else { 0 };
            }
            let left = outer - bonds - charge;
            if left >= 0 {
                radicals = radicals.min(left);
            }
            self.atoms[at].radicals = u8::try_from(radicals.max(0)).ok()?;
        }
        Some(())
    }
}

/// Returns the set with one member.
pub(super) fn bit(member: impl Into<usize>) -> u128 {
    1 << member.into()
}

/// Iterates over the members of a set, ascending.
pub(super) fn members(set: u128) -> impl Iterator<Item = usize> {
    std::iter::successors((set != 0).then_some(set), |rest| {
        let rest = rest & (rest - 1);
        (rest != 0).then_some(rest)
    })
    .map(|rest| rest.trailing_zeros() as usize)
}
