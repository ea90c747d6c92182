//! The SMILES parser for ordinary molecules.
//!
//! Supported: one component; B, C, N, O, F, Si, P, S, Cl, Se, Br and I; brackets with hydrogens, `@`, and a charge of
//! one; single, double, triple and aromatic bonds; `/` and `\`. All other input, and all invalid input, is left to
//! the general path, which produces the error messages. The resulting graph equals that of RDKit's parser
//! (`SmilesParseOps.cpp`: `CloseMolRings`, `SetUnspecifiedBondTypes`, `AdjustAtomChiralityFlags`).

use super::graph::{
    Atom, Bond, BondKind, BondStereo, ChiralTag, Direction, Edge, Graph, MAX_FAST_ATOMS, MAX_NEIGHBOURS,
};
use super::limits::Limits;
use super::parity::is_odd;
use super::valence::is_kekulised_with_written_double_bond;

/// Maximum branch depth; deeper nesting is left to the general path.
const MAX_DEPTH: usize = 64;

/// A bond symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParsedSymbol {
    Kind(BondKind),
    Direction(Direction),
}

/// An open ring bond, whose other end has not been read yet.
#[derive(Debug, Clone, Copy)]
struct OpenRingBond {
    number: u8,
    atom: u8,
    symbol: Option<ParsedSymbol>,
    /// Number of ring bonds opened before this one.
    order: u8,
}

/// A ring bond with both ends.
#[derive(Debug, Clone, Copy)]
struct ClosedRingBond {
    number: u8,
    order: u8,
    bond: Bond,
}

/// The neighbours of a chiral atom, in written order. A ring bond that is still open is given by its opening number.
#[derive(Debug, Clone, Copy)]
struct ChiralAtom {
    atom: u8,
    /// Set if no atom precedes it.
    first: bool,
    rings: u8,
    written: [Written; MAX_NEIGHBOURS],
    count: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Atom(u8),
    Ring(u8),
}

/// The buffers of the parser.
#[derive(Debug, Default)]
pub(super) struct Parser {
    branches: Vec<u8>,
    open: Vec<OpenRingBond>,
    closed: Vec<ClosedRingBond>,
    centres: Vec<ChiralAtom>,
    /// Index of each atom's stereocentre; 255 for none.
    centre_of: Vec<u8>,
    opened: u8,
}

/// The last token read; decides what may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastToken {
    Start,
    Atom,
    Bond(ParsedSymbol),
    Branch,
    BranchBond(ParsedSymbol),
}

impl Parser {
    /// Parses `smiles` into `graph`; `None` if it is not ordinary or not valid.
    pub fn read(&mut self, smiles: &str, limits: Limits, graph: &mut Graph) -> Option<()> {
        graph.clear();
        self.branches.clear();
        self.open.clear();
        self.closed.clear();
        self.centres.clear();
        self.centre_of.clear();
        self.opened = 0;
        let most = limits.max_heavy_atoms.min(MAX_FAST_ATOMS);
        let bytes = smiles.as_bytes();
        if bytes.len() > limits.max_bytes {
            return None;
        }
        let mut last = LastToken::Start;
        let mut chain = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'(' => {
                    if last != LastToken::Atom || self.branches.len() == MAX_DEPTH {
                        return None;
                    }
                    self.branches.push(chain);
                    last = LastToken::Branch;
                    at += 1;
                }
                b')' => {
                    if last != LastToken::Atom {
                        return None;
                    }
                    chain = self.branches.pop()?;
                    at += 1;
                }
                b'0'..=b'9' | b'%' => {
                    let symbol = match last {
                        LastToken::Atom => None,
                        LastToken::Bond(symbol) => Some(symbol),
                        _ => return None,
                    };
                    let number = match bytes[at..] {
                        [b'%', tens @ b'1'..=b'9', ones @ b'0'..=b'9', ..] => {
                            at += 3;
                            10 * (tens - b'0') + ones - b'0'
                        }
                        [digit @ b'0'..=b'9', ..] => {
                            at += 1;
                            digit - b'0'
                        }
                        _ => return None,
                    };
                    self.ring_bond(graph, chain, number, symbol)?;
                    last = LastToken::Atom;
                }
                b'-' | b'=' | b'#' | b'/' | b'\\' => {
                    let symbol = match byte {
                        b'-' => ParsedSymbol::Kind(BondKind::Single),
                        b'=' => ParsedSymbol::Kind(BondKind::Double),
                        b'#' => ParsedSymbol::Kind(BondKind::Triple),
                        b'/' => ParsedSymbol::Direction(Direction::Up),
                        _ => ParsedSymbol::Direction(Direction::Down),
                    };
                    last = match last {
                        LastToken::Atom => LastToken::Bond(symbol),
                        LastToken::Branch => LastToken::BranchBond(symbol),
                        _ => return None,
                    };
                    at += 1;
                }
                _ => {
                    let (atom, length) = read_atom(&bytes[at..])?;
                    at += length;
                    let symbol = match last {
                        LastToken::Start | LastToken::Atom | LastToken::Branch => None,
                        LastToken::Bond(symbol) | LastToken::BranchBond(symbol) => Some(symbol),
                    };
                    let previous = (last != LastToken::Start).then_some(chain);
                    chain = self.atom(graph, atom, previous, symbol, most)?;
                    last = LastToken::Atom;
                }
            }
        }
        if last != LastToken::Atom || !self.branches.is_empty() || !self.open.is_empty() {
            return None;
        }
        self.close_rings(graph)?;
        self.settle_hands(graph)
    }

    fn atom(
        &mut self,
        graph: &mut Graph,
        atom: Atom,
        previous: Option<u8>,
        symbol: Option<ParsedSymbol>,
        most: usize,
    ) -> Option<u8> {
        if graph.atoms.len() == most {
            return None;
        }
        let index = u8::try_from(graph.atoms.len()).ok()?;
        graph.atoms.push(atom);
        if let Some(previous) = previous {
            let bond = resolve(graph, previous, index, symbol);
            add_bond(graph, bond)?;
            self.note(previous, Written::Atom(index))?;
        }
        if atom.chirality == ChiralTag::None {
            self.centre_of.push(u8::MAX);
        } else {
            self.centre_of.push(u8::try_from(self.centres.len()).ok()?);
            self.centres.push(ChiralAtom {
                atom: index,
                first: previous.is_none(),
                rings: 0,
                written: [Written::Atom(previous.unwrap_or(0)); MAX_NEIGHBOURS],
                count: u8::from(previous.is_some()),
            });
        }
        Some(index)
    }

    /// Records a neighbour of an atom if the atom is chiral.
    fn note(&mut self, atom: u8, written: Written) -> Option<()> {
        let centre = self.centre_of[usize::from(atom)];
        if centre == u8::MAX {
            return Some(());
        }
        let centre = &mut self.centres[usize::from(centre)];
        *centre.written.get_mut(usize::from(centre.count))? = written;
        centre.count += 1;
        Some(())
    }

    fn ring_bond(&mut self, graph: &Graph, atom: u8, number: u8, symbol: Option<ParsedSymbol>) -> Option<()> {
        let Some(place) = self.open.iter().position(|open| open.number == number) else {
            let order = self.opened;
            self.opened = order.checked_add(1)?;
            self.open.push(OpenRingBond { number, atom, symbol, order });
            return self.note(atom, Written::Ring(order));
        };
        let open = self.open.remove(place);
        let back = symbol.map(|symbol| match symbol {
            ParsedSymbol::Direction(direction) => ParsedSymbol::Direction(direction.flipped()),
            kind => kind,
        });
        if open.atom == atom || open.symbol.zip(back).is_some_and(|(one, other)| one != other) {
            return None;
        }
        let mut bond = resolve(graph, open.atom, atom, open.symbol.or(back));
        // RDKit keeps the opening half only if a bond symbol was written there.
        if !matches!(open.symbol, Some(ParsedSymbol::Kind(_))) {
            std::mem::swap(&mut bond.begin, &mut bond.end);
            bond.direction = bond.direction.flipped();
        }
        self.closed.push(ClosedRingBond { number, order: open.order, bond });
        self.note(atom, Written::Atom(open.atom))?;
        let centre = self.centre_of[usize::from(open.atom)];
        if centre != u8::MAX {
            let centre = &mut self.centres[usize::from(centre)];
            let waiting = centre.written[..usize::from(centre.count)].iter_mut();
            waiting.filter(|at| **at == Written::Ring(open.order)).for_each(|at| *at = Written::Atom(atom));
            centre.rings += 1;
        }
        let centre = self.centre_of[usize::from(atom)];
        if centre != u8::MAX {
            self.centres[usize::from(centre)].rings += 1;
        }
        Some(())
    }

    fn close_rings(&mut self, graph: &mut Graph) -> Option<()> {
        self.closed.sort_unstable_by_key(|closed| (closed.number, closed.order));
        for closed in &self.closed {
            if graph.bond_between(closed.bond.begin, closed.bond.end).is_some() {
                return None;
            }
            add_bond(graph, closed.bond)?;
        }
        Some(())
    }

    /// Converts each atom's chirality from the written order of its neighbours to the order of its bonds.
    fn settle_hands(&self, graph: &mut Graph) -> Option<()> {
        for centre in &self.centres {
            let at = usize::from(centre.atom);
            let atom = graph.atoms[at];
            let sound = match (atom.degree, atom.hydrogens) {
                (4, 0) => true,
                (3, 0 | 1) => !(atom.number == 6 && atom.charge < 0),
                _ => false,
            };
            if !sound || atom.aromatic || centre.count != atom.degree {
                return None;
            }
            let mut bonds = [0; MAX_NEIGHBOURS];
            for (bond, written) in bonds.iter_mut().zip(&centre.written[..usize::from(centre.count)]) {
                let Written::Atom(other) = *written else { return None };
                *bond = graph.bond_between(centre.atom, other)?;
            }
            let mut odd = is_odd(&bonds[..usize::from(centre.count)]);
            if atom.degree == 3 {
                let unsaturated = atom.edges().iter().any(|&edge| graph.kind(edge) != BondKind::Single);
                odd ^= match atom.hydrogens {
                    1 => centre.first,
                    _ => centre.rings == 1 && !unsaturated,
                };
            }
            graph.atoms[at].chirality = atom.chirality.flipped_if(odd);
        }
        Some(())
    }
}

/// Returns the bond between two atoms for a written or missing bond symbol.
fn resolve(graph: &Graph, begin: u8, end: u8, symbol: Option<ParsedSymbol>) -> Bond {
    let both_aromatic = graph.atoms[usize::from(begin)].aromatic && graph.atoms[usize::from(end)].aromatic;
    let unnamed = if both_aromatic { BondKind::Aromatic } else { BondKind::Single };
    let (kind, direction) = match symbol {
        None => (unnamed, Direction::None),
        Some(ParsedSymbol::Kind(kind)) => (kind, Direction::None),
        Some(ParsedSymbol::Direction(direction)) => (unnamed, direction),
    };
    let aromatic = kind == BondKind::Aromatic;
    Bond {
        begin,
        end,
        kind,
        aromatic,
        conjugated: false,
        direction,
        sides: BondStereo::None,
        references: [0; 2],
    }
}

fn add_bond(graph: &mut Graph, bond: Bond) -> Option<()> {
    let [begin, end] = [bond.begin, bond.end].map(|atom| &graph.atoms[usize::from(atom)]);
    // RDKit makes such a bond single if there is no other way, or does not count it. The general path then finds an
    // atom with too many bonds, or a string that cannot be parsed again.
    let is_doubtful = begin.aromatic && end.aromatic
        || [begin, end]
            .iter()
            .any(|atom| atom.aromatic && !is_kekulised_with_written_double_bond(atom.number));
    if graph.bonds.len() == MAX_FAST_ATOMS
        || is_doubtful && matches!(bond.kind, BondKind::Double | BondKind::Triple)
    {
        return None;
    }
    let index = u8::try_from(graph.bonds.len()).ok()?;
    for (atom, to) in [(bond.begin, bond.end), (bond.end, bond.begin)] {
        let atom = &mut graph.atoms[usize::from(atom)];
        *atom.around.get_mut(usize::from(atom.degree))? = Edge { to, bond: index };
        atom.degree += 1;
    }
    graph.bonds.push(bond);
    Some(())
}

/// Parses an atom at the start of `bytes`; returns it with its length.
fn read_atom(bytes: &[u8]) -> Option<(Atom, usize)> {
    let mut atom = Atom {
        number: 0,
        charge: 0,
        hydrogens: 0,
        closed: false,
        aromatic: false,
        chirality: ChiralTag::None,
        radicals: 0,
        explicit: 0,
        implicit: 0,
        degree: 0,
        around: [Edge::default(); MAX_NEIGHBOURS],
    };
    if bytes[0] == b'[' {
        return read_bracket(bytes, atom);
    }
    let (number, aromatic, length) = match bytes {
        [b'C', b'l', ..] => (17, false, 2),
        [b'B', b'r', ..] => (35, false, 2),
        [b'C', ..] => (6, false, 1),
        [b'N', ..] => (7, false, 1),
        [b'O', ..] => (8, false, 1),
        [b'F', ..] => (9, false, 1),
        [b'S', ..] => (16, false, 1),
        [b'P', ..] => (15, false, 1),
        [b'B', ..] => (5, false, 1),
        [b'I', ..] => (53, false, 1),
        [b'c', ..] => (6, true, 1),
        [b'n', ..] => (7, true, 1),
        [b'o', ..] => (8, true, 1),
        // The general path parses `se` without brackets as one atom.
        [b's', b'e', ..] => return None,
        [b's', ..] => (16, true, 1),
        [b'p', ..] => (15, true, 1),
        [b'b', ..] => (5, true, 1),
        _ => return None,
    };
    (atom.number, atom.aromatic) = (number, aromatic);
    Some((atom, length))
}

/// Parses `[C@@H+]` and the like.
fn read_bracket(bytes: &[u8], mut atom: Atom) -> Option<(Atom, usize)> {
    let (number, aromatic, length) = match bytes[1..] {
        [b'S', b'i', ..] => (14, false, 2),
        [b'S', b'e', ..] => (34, false, 2),
        [b's', b'e', ..] => (34, true, 2),
        [b'C', b'l', ..] => (17, false, 2),
        [b'B', b'r', ..] => (35, false, 2),
        [b'C', next, ..] if !next.is_ascii_lowercase() => (6, false, 1),
        [b'N', next, ..] if !next.is_ascii_lowercase() => (7, false, 1),
        [b'O', next, ..] if !next.is_ascii_lowercase() => (8, false, 1),
        [b'F', next, ..] if !next.is_ascii_lowercase() => (9, false, 1),
        [b'S', next, ..] if !next.is_ascii_lowercase() => (16, false, 1),
        [b'P', next, ..] if !next.is_ascii_lowercase() => (15, false, 1),
        [b'B', next, ..] if !next.is_ascii_lowercase() => (5, false, 1),
        [b'I', next, ..] if !next.is_ascii_lowercase() => (53, false, 1),
        [b'c', next, ..] if !next.is_ascii_lowercase() => (6, true, 1),
        [b'n', next, ..] if !next.is_ascii_lowercase() => (7, true, 1),
        [b'o', next, ..] if !next.is_ascii_lowercase() => (8, true, 1),
        [b's', next, ..] if !next.is_ascii_lowercase() => (16, true, 1),
        [b'p', next, ..] if !next.is_ascii_lowercase() => (15, true, 1),
        _ => return None,
    };
    (atom.number, atom.aromatic, atom.closed) = (number, aromatic, true);
    let mut at = 1 + length;
    if bytes.get(at) == Some(&b'@') {
        at += 1;
        atom.chirality = ChiralTag::Counter;
        if bytes.get(at) == Some(&b'@') {
            at += 1;
            atom.chirality = ChiralTag::Clockwise;
        }
    }
    if bytes.get(at) == Some(&b'H') {
        at += 1;
        atom.hydrogens = 1;
        if let Some(&digit @ b'0'..=b'9') = bytes.get(at) {
            at += 1;
            atom.hydrogens = digit - b'0';
        }
    }
    match bytes.get(at) {
        Some(b'+') => (atom.charge, at) = (1, at + 1),
        Some(b'-') => (atom.charge, at) = (-1, at + 1),
        _ => {}
    }
    if bytes.get(at) != Some(&b']') {
        return None;
    }
    Some((atom, at + 1))
}
