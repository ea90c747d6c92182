//! Writing of a laid-out traversal as text.
//!
//! A port of RDKit's `GetAtomSmiles`, `GetBondSmiles` and `FragmentSmilesConstruct` (`SmilesWrite.cpp`).

use super::elements::symbol;
use super::graph::{Atom, BondKind, ChiralTag, Direction, Graph};
use super::layout::Part;
use super::valence::valences;

/// Appends the string of a traversal; `None` if more rings are open at once than can be numbered here.
pub(super) fn write(text: &mut Vec<u8>, graph: &Graph, parts: &[Part]) -> Option<()> {
    // Digit of each ring of the traversal while it is open.
    let mut digits = [0_u8; 64];
    let mut taken = 1_u128;
    let mut freed = 0_u128;
    for part in parts {
        match *part {
            Part::Atom(at) => {
                taken &= !freed;
                freed = 0;
                write_atom(text, &graph.atoms[usize::from(at)]);
            }
            Part::Bond(bond, left) => text.extend_from_slice(bond_symbol(graph, bond, left)),
            Part::Ring(ring) => {
                let slot = digits.get_mut(usize::from(ring))?;
                let digit = if *slot == 0 {
                    let digit = (!taken).trailing_zeros() as u8;
                    taken |= 1 << digit;
                    *slot = digit;
                    digit
                } else {
                    freed |= 1 << *slot;
                    std::mem::take(slot)
                };
                if digit >= 10 {
                    text.extend_from_slice(&[b'%', b'0' + digit / 10]);
                }
                text.push(b'0' + digit % 10);
            }
            Part::Open => text.push(b'('),
            Part::Close => text.push(b')'),
        }
    }
    Some(())
}

fn write_atom(text: &mut Vec<u8>, atom: &Atom) {
    let bracket = needs_bracket(atom);
    if bracket {
        text.push(b'[');
    }
    let name = symbol(atom.number);
    let lower = atom.aromatic && matches!(atom.number, 5..=8 | 14 | 15 | 16 | 34);
    if lower {
        text.extend(name.iter().map(u8::to_ascii_lowercase));
    } else {
        text.extend_from_slice(name);
    }
    if !bracket {
        return;
    }
    text.extend_from_slice(match atom.chirality {
        ChiralTag::None => b"",
        ChiralTag::Clockwise => b"@@",
        ChiralTag::Counter => b"@",
    });
    let hydrogens = atom.total_hydrogens();
    if hydrogens > 0 {
        text.push(b'H');
        if hydrogens > 1 {
            text.push(b'0' + hydrogens);
        }
    }
    match atom.charge {
        1.. => text.push(b'+'),
        ..0 => text.push(b'-'),
        0 => {}
    }
    text.push(b']');
}

/// Port of `atomNeedsBracket`.
fn needs_bracket(atom: &Atom) -> bool {
    let organic = !matches!(atom.number, 14 | 34);
    let usual = valences(atom.number).map_or(0, |list| list[0]);
    !organic
        || atom.charge != 0
        || atom.chirality != ChiralTag::None
        || atom.radicals != 0
        || (matches!(atom.number, 7 | 15) && atom.aromatic && atom.hydrogens != 0)
        || (atom.total_valence() != usual && atom.total_hydrogens() != 0)
}

fn bond_symbol(graph: &Graph, bond: u8, left: u8) -> &'static [u8] {
    let bond = &graph.bonds[usize::from(bond)];
    let is_aromatic = |atom: u8| graph.atoms[usize::from(atom)].aromatic;
    let aromatic = is_aromatic(left) && is_aromatic(bond.other(left));
    match (bond.kind, bond.direction) {
        (BondKind::Single | BondKind::Aromatic, Direction::Down) => b"\\",
        (BondKind::Single | BondKind::Aromatic, Direction::Up) => b"/",
        (BondKind::Single, Direction::None) if aromatic && !bond.aromatic => b"-",
        (BondKind::Aromatic, Direction::None) if !aromatic => b":",
        (BondKind::Double, _) if !aromatic || !bond.aromatic => b"=",
        (BondKind::Triple, _) => b"#",
        _ => b"",
    }
}
