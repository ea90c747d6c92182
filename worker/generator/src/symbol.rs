//! The symbols of SMILES, and what valence lets an atom bind.
//!
//! Bonds are counted as RDKit counts them: an atom with a charge binds as the neutral atom with as
//! many electrons does. Its repairs of what nobody should write (nitrogen with five bonds) are left
//! out: a model learns strings that a toolkit wrote, and no toolkit writes those.

/// One symbol of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    Atom(Atom),
    Bond(Bond),
    /// The beginning of a branch.
    Open,
    /// The end of a branch.
    Close,
    /// One end of a ring bond, with its number.
    Ring(u8),
    /// The dot between two components.
    Dot,
    /// Something that this module does not know.
    Unknown,
}

/// A bond as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bond {
    Single,
    Double,
    Triple,
    Aromatic,
    /// A single bond that says on which side of a double bond it is.
    Direction,
}

/// What an atom may bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Atom {
    /// Most bonds, a double bond counted twice, hydrogens in brackets left out.
    pub(crate) most_bonds: u8,
    /// Most neighbours, hydrogens left out.
    pub(crate) most_neighbours: u8,
    pub(crate) aromatic: Aromatic,
}

/// Whether an atom needs one of the double bonds that alternate around its ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aromatic {
    /// It is not aromatic.
    No,
    /// It does, unless it has a double bond that leaves the ring: carbon.
    Always,
    /// It does when it has this many neighbours: pyridine's nitrogen, not that of N-methylpyrrole.
    WithNeighbours(u8),
    /// It never does: furan's oxygen.
    Never,
}

impl Bond {
    /// How much of an atom's valence it takes; an aromatic bond takes one, and its atom's double bond
    /// another.
    pub(crate) fn order(self) -> u8 {
        match self {
            Self::Single | Self::Aromatic | Self::Direction => 1,
            Self::Double => 2,
            Self::Triple => 3,
        }
    }
}

/// Splits `text` into symbols; what follows one that is not known is left out.
pub(crate) fn symbols(text: &str) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for symbol in chem::symbols(text) {
        symbols.push(Symbol::of(symbol).unwrap_or(Symbol::Unknown));
        if symbols.last() == Some(&Symbol::Unknown) {
            break;
        }
    }
    symbols
}

impl Symbol {
    /// What a symbol of SMILES means here.
    fn of(symbol: chem::Symbol<'_>) -> Option<Self> {
        Some(match symbol {
            chem::Symbol::Atom(name) => Self::Atom(plain(name)?),
            chem::Symbol::Bracket(text) => Self::Atom(bracket(text)?),
            chem::Symbol::Bond(mark) => Self::Bond(match mark {
                b'-' => Bond::Single,
                b'=' => Bond::Double,
                b'#' => Bond::Triple,
                b':' => Bond::Aromatic,
                b'/' | b'\\' => Bond::Direction,
                _ => return None,
            }),
            chem::Symbol::Open => Self::Open,
            chem::Symbol::Close => Self::Close,
            chem::Symbol::Ring(number) => Self::Ring(u8::try_from(number).ok()?),
            chem::Symbol::Dot => Self::Dot,
            chem::Symbol::Unknown(_) => return None,
        })
    }
}

/// An atom outside brackets, which has the hydrogens that it lacks.
fn plain(name: &str) -> Option<Atom> {
    let plain = ["B", "C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "b", "c", "n", "o", "p", "s"];
    let mut atom = plain.contains(&name).then(|| atom(name, 0, 0))??;
    if name == "c" {
        (atom.most_neighbours, atom.aromatic) = (3, Aromatic::Always);
    }
    Some(atom)
}

/// An atom from what stands between its brackets: `13C@@H2+2:7`.
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
        [b'+', rest @ ..] => i32::from(times(rest, b'+')?),
        [b'-', rest @ ..] => -i32::from(times(rest, b'-')?),
        _ => return None,
    };
    atom(name, hydrogens, charge)
}

/// The number that `text` begins with, 1 when there is none, and the rest.
fn count(text: &str) -> (u8, &str) {
    match text.as_bytes() {
        [digit @ b'0'..=b'9', ..] => (digit - b'0', &text[1..]),
        _ => (1, text),
    }
}

/// How many charges there are, by what follows the first sign.
fn times(rest: &[u8], sign: u8) -> Option<u8> {
    match rest {
        [] => Some(1),
        [digit @ b'0'..=b'9'] => Some(digit - b'0'),
        [again] if *again == sign => Some(2),
        _ => None,
    }
}

fn atom(name: &str, hydrogens: u8, charge: i32) -> Option<Atom> {
    let number = number(name)?;
    let bonds = |most: u8| most.saturating_sub(hydrogens);
    if !name.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        let most = bonds(most_bonds(number - charge));
        return Some(Atom { most_bonds: most, most_neighbours: most, aromatic: Aromatic::No });
    }
    // Boron's charge adds an electron pair to bind with, carbon's takes a bond away, whatever its sign.
    let default = match number {
        5 => 3 - charge,
        6 => 4 - charge.abs(),
        7 | 15 | 33 => 3 + charge,
        _ => 2 + charge,
    };
    let most = bonds(u8::try_from(default).ok()?);
    let aromatic = if most > 2 { Aromatic::WithNeighbours(most - 1) } else { Aromatic::Never };
    Some(Atom { most_bonds: most, most_neighbours: most.min(3), aromatic })
}

/// The atomic number, of the elements that molecules in the making mostly have.
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

/// Most bonds of a neutral atom with this number.
fn most_bonds(number: i32) -> u8 {
    match number {
        // RDKit lets the metals that these ions are looked up as bind anything.
        3 | 11 | 19 => 1,
        12 => 2,
        _ => u8::try_from(number).ok().and_then(chem::valences).and_then(<[u8]>::last).copied().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::{Aromatic, Atom, Bond, Symbol, symbols};

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
        for text in ["l", "[", "]", "*", "[Fe+2]", "[C", "%1", "%05", "$", "é", "[nonsense]"] {
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
            ("c", 4, 3, Aromatic::Always),
            ("n", 3, 3, Aromatic::WithNeighbours(2)),
            ("[nH]", 2, 2, Aromatic::Never),
            ("[n+]", 4, 3, Aromatic::WithNeighbours(3)),
            ("[nH+]", 3, 3, Aromatic::WithNeighbours(2)),
            ("[n-]", 2, 2, Aromatic::Never),
            ("o", 2, 2, Aromatic::Never),
            ("[o+]", 3, 3, Aromatic::WithNeighbours(2)),
            ("s", 2, 2, Aromatic::Never),
            ("[se]", 2, 2, Aromatic::Never),
        ] {
            let atom = Atom { most_bonds: bonds, most_neighbours: neighbours, aromatic };
            assert_eq!(symbols(text), [Symbol::Atom(atom)], "{text}");
        }
    }
}
