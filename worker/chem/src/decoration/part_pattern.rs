//! The pattern of a part: its atoms with their hydrogens, bonds and neighbours, and any atom at each point.

use std::fmt::Write;

use crate::{
    molecules::{molecule::Molecule, structure::Structure},
    smiles::tokens::{Token, tokens},
    templates::pattern::Pattern,
};

/// Builds the pattern of `molecule`, whose atoms `*` are points; `None` if SMARTS cannot express it.
///
/// An atom matches one of the same element, charge and aromaticity with as many hydrogens and neighbours, so a match
/// has substituents at the points alone. Configurations are not part of it.
pub(super) fn pattern(molecule: &Molecule) -> Option<Pattern> {
    let structure = Structure::of(molecule);
    // The SMILES with its atoms replaced: the structure's atoms are in its order.
    let (mut text, mut atoms) = (String::new(), 0..);
    for symbol in tokens(molecule.as_canonical()) {
        let _ = match symbol {
            Token::Atom(_) | Token::Bracket(_) => write!(text, "{}", atom(&structure, atoms.next()?)),
            Token::Bond(b'/' | b'\\') => write!(text, "-"),
            Token::Bond(mark) => write!(text, "{}", char::from(mark)),
            Token::Open => write!(text, "("),
            Token::Close => write!(text, ")"),
            Token::Ring(number @ 0..10) => write!(text, "{number}"),
            Token::Ring(number) => write!(text, "%{number}"),
            Token::Dot | Token::Unknown(_) => return None,
        };
    }
    Pattern::parse(&text).ok()
}

fn atom(structure: &Structure, at: u32) -> String {
    let atom = structure.atom(at);
    if atom.element == 0 {
        return "[!#1]".to_owned();
    }
    let kind = if atom.aromatic { 'a' } else { 'A' };
    let (element, hydrogens, charge) = (atom.element, atom.hydrogens, atom.charge);
    format!("[#{element}&{kind}&H{hydrogens}&D{}&{charge:+}]", structure.bonds(at).len())
}
