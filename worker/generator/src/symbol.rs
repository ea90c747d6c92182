//! Symbols of SMILES, and the valence limits of atoms.
//!
//! Bonds are counted as in RDKit: a charged atom binds like the neutral atom with the same number of electrons.
//! RDKit's repairs of invalid input (nitrogen with five bonds) are left out, since a model learns strings written by
//! a toolkit, and toolkits do not write such input.

/// Symbol of a SMILES string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    Atom(Atom),
    Bond(Bond),
    /// Start of a branch.
    Open,
    /// End of a branch.
    Close,
    /// One end of a ring bond, with its number.
    Ring(u8),
    /// The dot between two components.
    Dot,
    /// A symbol that this module does not know.
    Unknown,
}

/// Bond symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bond {
    Single,
    Double,
    Triple,
    Aromatic,
    /// Single bond with a direction, for the configuration of a double bond.
    Direction,
}

/// Valence limits of an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Atom {
    /// Maximum bonds, a double bond counted twice, without hydrogens in brackets.
    pub(crate) most_bonds: u8,
    /// Maximum neighbours, hydrogens left out.
    pub(crate) most_neighbours: u8,
    pub(crate) aromatic: DoubleBondNeed,
}

/// Need of an aromatic atom for one of the ring's alternating double bonds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DoubleBondNeed {
    /// Not aromatic.
    No,
    /// Needs one unless it has an exocyclic double bond: carbon.
    Always,
    /// Needs one if it has this many neighbours: the nitrogen of pyridine, not that of N-methylpyrrole.
    WithNeighbours(u8),
    /// Never needs one: the oxygen of furan.
    Never,
}

impl Bond {
    /// Returns the valence that the bond takes from an atom. An aromatic bond takes one, and its atom's double bond
    /// another.
    pub(crate) fn order(self) -> u8 {
        match self {
            Self::Single | Self::Aromatic | Self::Direction => 1,
            Self::Double => 2,
            Self::Triple => 3,
        }
    }
}

/// Splits `text` into symbols and stops after the first unknown one.
pub(crate) fn symbols(text: &str) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for symbol in chem::tokens(text) {
        symbols.push(Symbol::of(symbol).unwrap_or(Symbol::Unknown));
        if symbols.last() == Some(&Symbol::Unknown) {
            break;
        }
    }
    symbols
}

impl Symbol {
    /// Converts a SMILES symbol.
    fn of(symbol: chem::Token<'_>) -> Option<Self> {
        Some(match symbol {
            chem::Token::Atom(name) => Self::Atom(plain(name)?),
            chem::Token::Bracket(text) => Self::Atom(bracket(text)?),
            chem::Token::Bond(mark) => Self::Bond(match mark {
                b'-' => Bond::Single,
                b'=' => Bond::Double,
                b'#' => Bond::Triple,
                b':' => Bond::Aromatic,
                b'/' | b'\\' => Bond::Direction,
                _ => return None,
            }),
            chem::Token::Open => Self::Open,
            chem::Token::Close => Self::Close,
            chem::Token::Ring(number) => Self::Ring(u8::try_from(number).ok()?),
            chem::Token::Dot => Self::Dot,
            chem::Token::Unknown(_) => return None,
        })
    }
}

/// Parses an atom outside brackets, which has implicit hydrogens.
fn plain(name: &str) -> Option<Atom> {
    let plain = ["B", "C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "b", "c", "n", "o", "p", "s"];
    let mut atom = plain.contains(&name).then(|| atom(name, 0, 0))??;
    if name == "c" {
        (atom.most_neighbours, atom.aromatic) = (3, DoubleBondNeed::Always);
    }
    Some(atom)
}

/// Parses the content of atom brackets: `13C@@H2+2:7`.
fn bracket(text: &str) -> Option<Atom> {
    let text = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let name =
        [2, 1].into_iter().filter_map(|length| text.get(..length)).find(|name| number(name).is_some())?;
    let (text, _) = text[name.len()..].split_once(':').unwrap_or((&text[name.len()..], ""));
    let text = text.trim_start_matches('@');
    let (hydrogens, charge) = match text.strip_prefix('H') {
        Some(text) => count(text),
        None => (0, text),
    };
    let charge = match charge.as_bytes() {
        [] => 0,
        [b'+', rest @ ..] => i32::from(charge_magnitude(rest, b'+')?),
        [b'-', rest @ ..] => -i32::from(charge_magnitude(rest, b'-')?),
        _ => return None,
    };
    atom(name, hydrogens, charge)
}

/// Parses the number at the start of `text`, 1 if there is none; returns it and the rest.
fn count(text: &str) -> (u8, &str) {
    match text.as_bytes() {
        [digit @ b'0'..=b'9', ..] => (digit - b'0', &text[1..]),
        _ => (1, text),
    }
}

/// Returns the magnitude of a charge from the text after its first sign.
fn charge_magnitude(rest: &[u8], sign: u8) -> Option<u8> {
    match rest {
        [] => Some(1),
        [digit @ b'0'..=b'9'] => Some(digit - b'0'),
        [again] if *again == sign => Some(2),
        _ => None,
    }
}

fn atom(name: &str, hydrogens: u8, charge: i32) -> Option<Atom> {
    let number = number(name)?;
    // RDKit lets a hydride bind two atoms and a proton any number. No drug has either: they are left to the parser.
    if number == 1 && charge != 0 {
        return None;
    }
    let bonds = |most: u8| most.saturating_sub(hydrogens);
    if !name.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        let most = bonds(most_bonds(number - charge));
        return Some(Atom { most_bonds: most, most_neighbours: most, aromatic: DoubleBondNeed::No });
    }
    // A negative charge gives boron one bond more; a charge of either sign takes one from carbon.
    let default = match number {
        5 => 3 - charge,
        6 => 4 - charge.abs(),
        7 | 15 | 33 => 3 + charge,
        _ => 2 + charge,
    };
    let most = bonds(u8::try_from(default).ok()?);
    let aromatic = if most > 2 { DoubleBondNeed::WithNeighbours(most - 1) } else { DoubleBondNeed::Never };
    Some(Atom { most_bonds: most, most_neighbours: most.min(3), aromatic })
}

/// Returns the atomic number, for the elements that are common in generated molecules.
fn number(name: &str) -> Option<i32> {
    Some(match name {
        "H" => 1,
        "B" | "b" => 5,
        "C" | "c" => 6,
        "N" | "n" => 7,
        "O" | "o" => 8,
        "F" => 9,
        "Si" => 14,
        "P" | "p" => 15,
        "S" | "s" => 16,
        "Cl" => 17,
        "As" | "as" => 33,
        "Se" | "se" => 34,
        "Br" => 35,
        "Te" | "te" => 52,
        "I" => 53,
        _ => return None,
    })
}

/// Returns the maximum bonds of a neutral atom of this element.
fn most_bonds(number: i32) -> u8 {
    match number {
        // Ions that are isoelectronic with these metals. RDKit allows the metals any number of bonds.
        3 | 11 | 19 => 1,
        12 => 2,
        _ => u8::try_from(number).ok().and_then(chem::valences).and_then(<[u8]>::last).copied().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::{Atom, Bond, DoubleBondNeed, Symbol, symbols};

    #[test]
    fn a_string_is_split_into_symbols() {
        let found = symbols("C(=%12)/1.");

        assert!(matches!(found[0], Symbol::Atom(_)));
        let rest = [
            Symbol::Open,
            Symbol::Bond(Bond::Double),
            Symbol::Ring(12),
            Symbol::Close,
            Symbol::Bond(Bond::Direction),
            Symbol::Ring(1),
            Symbol::Dot,
        ];
        assert_eq!(found[1..], rest);
    }

    #[test]
    fn what_is_no_symbol_is_unknown_to_its_end() {
        let unknown = ["l", "[", "]", "*", "[C", "%1", "%05", "$", "é", "[nonsense]"];
        let not_followed = ["[Fe+2]", "[H-]", "[2H+]", "[HH-]"];
        for text in unknown.into_iter().chain(not_followed) {
            assert_eq!(symbols(text), [Symbol::Unknown], "{text}");
        }
    }

    #[test]
    fn an_atom_binds_what_its_electrons_let_it_bind() {
        for (text, bonds) in [
            ("C", 4),
            ("N", 3),
            ("O", 2),
            ("F", 1),
            ("P", 5),
            ("S", 6),
            ("Cl", 1),
            ("I", 5),
            ("[N+]", 4),
            ("[NH3+]", 1),
            ("[O-]", 1),
            ("[S+]", 5),
            ("[S-]", 1),
            ("[P+]", 4),
            ("[B-]", 4),
            ("[13C@@H]", 3),
            ("[C@:7]", 4),
            ("[C-]", 3),
            ("[Cl+3]", 4),
            ("[2H]", 1),
            ("[Ca]", 0),
        ] {
            match symbols(text)[..] {
                [Symbol::Atom(atom)] => assert_eq!(atom.most_bonds, bonds, "{text}"),
                ref other => assert!(bonds == 0 && *other == [Symbol::Unknown], "{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn aromatic_atoms_say_when_they_need_a_double_bond() {
        for (text, bonds, neighbours, aromatic) in [
            ("c", 4, 3, DoubleBondNeed::Always),
            ("n", 3, 3, DoubleBondNeed::WithNeighbours(2)),
            ("[nH]", 2, 2, DoubleBondNeed::Never),
            ("[n+]", 4, 3, DoubleBondNeed::WithNeighbours(3)),
            ("[nH+]", 3, 3, DoubleBondNeed::WithNeighbours(2)),
            ("[n-]", 2, 2, DoubleBondNeed::Never),
            ("o", 2, 2, DoubleBondNeed::Never),
            ("[o+]", 3, 3, DoubleBondNeed::WithNeighbours(2)),
            ("s", 2, 2, DoubleBondNeed::Never),
            ("[se]", 2, 2, DoubleBondNeed::Never),
        ] {
            let atom = Atom { most_bonds: bonds, most_neighbours: neighbours, aromatic };
            assert_eq!(symbols(text), [Symbol::Atom(atom)], "{text}");
        }
    }
}
