//! The tokens of a SMILES, without their chemical meaning.
//!
//! For code that needs no chemistry, or brings its own: code that continues after a part, searches for charges, or
//! needs to know which atoms are bonded. Errors in a string are not detected here (see `syntax`).

/// One token of a SMILES.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// An atom without brackets, by its letters (including `*`).
    Atom(&'a str),
    /// An atom in brackets, by the text between them.
    Bracket(&'a str),
    /// A bond or bond direction, by its character; a dative bond by that of its arrow, `>` or `<`.
    Bond(u8),
    /// The beginning of a branch.
    Open,
    /// The end of a branch.
    Close,
    /// One end of a ring bond, with its number.
    Ring(u32),
    /// The dot between two components.
    Dot,
    /// Text that starts no token, up to the end of the string.
    Unknown(&'a str),
}

/// Splits `smiles` into its tokens and stops after the first unknown one.
pub fn tokens(smiles: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = smiles;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (symbol, length) = first(rest).unwrap_or((Token::Unknown(rest), rest.len()));
        rest = &rest[length..];
        Some(symbol)
    })
}

/// Returns true if an atom of a SMILES has a charge.
pub(crate) fn states_charge(smiles: &str) -> bool {
    tokens(smiles).any(|symbol| matches!(symbol, Token::Bracket(atom) if atom.contains(['+', '-'])))
}

/// Returns true if an atom of a SMILES states its isotope.
pub(crate) fn states_isotope(smiles: &str) -> bool {
    smiles.as_bytes().windows(2).any(|pair| pair[0] == b'[' && pair[1].is_ascii_digit())
}

/// Returns the first token and its length in bytes.
fn first(text: &str) -> Option<(Token<'_>, usize)> {
    let symbol = match text.as_bytes()[0] {
        b'(' => Token::Open,
        b')' => Token::Close,
        b'.' => Token::Dot,
        b'-' if text.starts_with("->") => return Some((Token::Bond(b'>'), 2)),
        b'<' if text.starts_with("<-") => return Some((Token::Bond(b'<'), 2)),
        mark @ (b'-' | b'=' | b'#' | b'$' | b':' | b'/' | b'\\') => Token::Bond(mark),
        digit @ b'0'..=b'9' => Token::Ring(u32::from(digit - b'0')),
        b'%' => return ring(text),
        b'[' => {
            let end = text.find(']')?;
            return Some((Token::Bracket(&text[1..end]), end + 1));
        }
        letter => {
            let length = match (letter, text.as_bytes().get(1)) {
                (b'C', Some(b'l')) | (b'B', Some(b'r')) => 2,
                (b'*', _) => 1,
                _ if letter.is_ascii_alphabetic() => 1,
                _ => return None,
            };
            return Some((Token::Atom(&text[..length]), length));
        }
    };
    Some((symbol, 1))
}

/// Parses `%12` or `%(123)`; RDKit does not accept `%01`.
fn ring(text: &str) -> Option<(Token<'_>, usize)> {
    let (number, length) = match text[1..].strip_prefix('(') {
        Some(rest) => {
            let end = rest.find(')')?;
            (&rest[..end], end + 3)
        }
        None => (text.get(1..3).filter(|number| !number.starts_with('0'))?, 3),
    };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse().ok()).flatten().map(|number| (Token::Ring(number), length))
}

#[cfg(test)]
mod tests {
    use super::{Token, states_charge, tokens};

    #[test]
    fn a_string_is_split_into_symbols() {
        let found: Vec<Token<'_>> = tokens("C[C@H](=%12)/Cl%(103).*->C<-N").collect();

        assert_eq!(
            found,
            [
                Token::Atom("C"),
                Token::Bracket("C@H"),
                Token::Open,
                Token::Bond(b'='),
                Token::Ring(12),
                Token::Close,
                Token::Bond(b'/'),
                Token::Atom("Cl"),
                Token::Ring(103),
                Token::Dot,
                Token::Atom("*"),
                Token::Bond(b'>'),
                Token::Atom("C"),
                Token::Bond(b'<'),
                Token::Atom("N"),
            ]
        );
    }

    #[test]
    fn what_begins_no_symbol_is_the_last() {
        for text in ["]", "[C", "%1", "%x1", "%05", "%(1", "é", "%é", ">", "<N"] {
            let found: Vec<Token<'_>> = tokens(text).collect();

            assert_eq!(found, [Token::Unknown(text)], "{text}");
        }
    }

    #[test]
    fn a_bond_is_no_charge() {
        for (smiles, is_charged) in [
            ("c1ccc2c(c1)-c1ccccc1-2", false),
            ("[C@H]", false),
            ("[O-]", true),
            ("C[N+]", true),
            ("[O-2]", true),
        ] {
            assert_eq!(states_charge(smiles), is_charged, "{smiles}");
        }
    }
}
