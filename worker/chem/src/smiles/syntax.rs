//! The strict syntax check of a SMILES string, before any parser sees it.
//!
//! It accepts the language of RDKit's SMILES grammar, which is narrower than what chematic's parser accepts (`C()`,
//! `O@C`, `C(=)`, `.C`, `C11`), so that nothing RDKit refuses gets further. It runs in one pass without recursion,
//! enforces the size limits, and records the position of every atom so that later errors can point there. Valence is
//! checked by the sanitiser, not here.

use chem_fast::Limits;

use crate::error::SmilesError;

/// Maximum branch depth: chematic and RDKit recurse or grow a stack on nested branches.
const MAX_DEPTH: usize = 100;

/// Maximum number of `*`: in a ring system that cannot be kekulised, chematic and RDKit try every subset of them.
const MAX_WILDCARDS: usize = 8;

/// The results of the syntax check.
#[derive(Debug, Default)]
pub(crate) struct Syntax {
    /// Byte offset of each atom, in written order.
    pub atoms: Vec<usize>,
    /// Set if any hydrogen is written as an atom.
    pub has_hydrogen_atoms: bool,
}

/// Checks the syntax and size of `smiles`.
pub(crate) fn check(smiles: &str, limits: Limits) -> Result<Syntax, SmilesError> {
    if smiles.is_empty() {
        return Err(SmilesError::Empty);
    }
    if smiles.len() > limits.max_bytes {
        return Err(SmilesError::TooLong { bytes: smiles.len(), limit: limits.max_bytes });
    }
    Checker::new(smiles, limits).run()
}

/// The last token read, which determines the tokens that may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Start,
    /// An atom, a ring bond number or a closed branch: the chain can continue.
    Atom,
    Bond {
        at: usize,
        symbol: BondSymbol,
        opens_branch: bool,
    },
    Dot {
        at: usize,
    },
    Open {
        at: usize,
    },
}

/// A bond symbol, for comparing the two ends of a ring bond.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BondSymbol {
    Single,
    Double,
    Triple,
    Quadruple,
    Aromatic,
    Direction,
    Dative,
}

struct OpenRing {
    number: u32,
    atom: usize,
    at: usize,
    symbol: Option<BondSymbol>,
}

struct Checker<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    limits: Limits,
    heavy: usize,
    wildcards: usize,
    last: Last,
    /// Atom from which the next bond starts; meaningless before the first atom.
    chain: usize,
    /// Parent atom and opening position of every open branch.
    branches: Vec<(usize, usize)>,
    rings: Vec<OpenRing>,
    bonds: Vec<(usize, usize)>,
    syntax: Syntax,
}

impl<'a> Checker<'a> {
    fn new(text: &'a str, limits: Limits) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            limits,
            heavy: 0,
            wildcards: 0,
            last: Last::Start,
            chain: 0,
            branches: Vec::new(),
            rings: Vec::new(),
            bonds: Vec::with_capacity(text.len()),
            syntax: Syntax { atoms: Vec::with_capacity(text.len()), has_hydrogen_atoms: false },
        }
    }

    fn run(mut self) -> Result<Syntax, SmilesError> {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'[' => self.bracket_atom()?,
                b'(' => self.open_branch()?,
                b')' => self.close_branch()?,
                b'.' => self.dot()?,
                b'0'..=b'9' | b'%' => self.ring_bond()?,
                b'A'..=b'Z' | b'a'..=b'z' | b'*' => self.plain_atom()?,
                _ => self.bond()?,
            }
        }
        self.finish()
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn unexpected(&self) -> SmilesError {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => SmilesError::Unexpected { found, at: self.at },
            None => self.missing_atom_error(),
        }
    }

    /// Returns the error for a missing atom: the string ends, or another token stands, where an atom must follow.
    fn missing_atom_error(&self) -> SmilesError {
        let at = match self.last {
            Last::Bond { at, .. } | Last::Dot { at } | Last::Open { at } => at,
            Last::Start | Last::Atom => self.text.len().saturating_sub(1),
        };
        let after = self.text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
        SmilesError::Unfinished { after, at }
    }

    fn finish(self) -> Result<Syntax, SmilesError> {
        if let Some(&(_, opened)) = self.branches.last() {
            return Err(match self.last {
                Last::Atom => SmilesError::UnclosedBranch { opened },
                _ => self.missing_atom_error(),
            });
        }
        if self.last != Last::Atom {
            return Err(self.missing_atom_error());
        }
        match self.rings.first() {
            Some(ring) => Err(SmilesError::UnclosedRing { number: ring.number, opened: ring.at }),
            None => Ok(self.syntax),
        }
    }

    fn open_branch(&mut self) -> Result<(), SmilesError> {
        if self.last != Last::Atom {
            return Err(self.unexpected());
        }
        if self.branches.len() == MAX_DEPTH {
            return Err(SmilesError::TooDeep { limit: MAX_DEPTH, at: self.at });
        }
        self.branches.push((self.chain, self.at));
        self.last = Last::Open { at: self.at };
        self.at += 1;
        Ok(())
    }

    fn close_branch(&mut self) -> Result<(), SmilesError> {
        match self.last {
            Last::Atom => {}
            Last::Open { at } => return Err(SmilesError::EmptyBranch { opened: at }),
            _ if self.branches.is_empty() => return Err(SmilesError::UnopenedBranch { at: self.at }),
            _ => return Err(self.missing_atom_error()),
        }
        let Some((atom, _)) = self.branches.pop() else {
            return Err(SmilesError::UnopenedBranch { at: self.at });
        };
        self.chain = atom;
        self.at += 1;
        Ok(())
    }

    fn dot(&mut self) -> Result<(), SmilesError> {
        if self.last != Last::Atom {
            return Err(self.unexpected());
        }
        self.last = Last::Dot { at: self.at };
        self.at += 1;
        Ok(())
    }

    fn bond(&mut self) -> Result<(), SmilesError> {
        let (symbol, length) = match (self.peek(0), self.peek(1)) {
            (Some(b'-'), Some(b'>')) => (BondSymbol::Dative, 2),
            (Some(b'<'), Some(b'-')) => (BondSymbol::Dative, 2),
            (Some(b'-'), _) => (BondSymbol::Single, 1),
            (Some(b'='), _) => (BondSymbol::Double, 1),
            (Some(b'#'), _) => (BondSymbol::Triple, 1),
            (Some(b'$'), _) => (BondSymbol::Quadruple, 1),
            (Some(b':'), _) => (BondSymbol::Aromatic, 1),
            (Some(b'/' | b'\\'), _) => (BondSymbol::Direction, 1),
            _ => return Err(self.unexpected()),
        };
        let opens_branch = match self.last {
            Last::Atom => false,
            Last::Open { .. } => true,
            _ => return Err(self.unexpected()),
        };
        self.last = Last::Bond { at: self.at, symbol, opens_branch };
        self.at += length;
        Ok(())
    }

    fn ring_bond(&mut self) -> Result<(), SmilesError> {
        let at = self.at;
        let symbol = match self.last {
            Last::Atom => None,
            Last::Bond { opens_branch: false, symbol, .. } => Some(symbol),
            _ => return Err(self.unexpected()),
        };
        let number = self.ring_number()?;
        let Some(open) = self.rings.iter().position(|ring| ring.number == number) else {
            self.rings.push(OpenRing { number, atom: self.chain, at, symbol });
            self.last = Last::Atom;
            return Ok(());
        };
        let open = self.rings.remove(open);
        let (from, to) = (open.atom, self.chain);
        if open.symbol.zip(symbol).is_some_and(|(one, other)| one != other) {
            return Err(SmilesError::RingBondConflict { number, opened: open.at, at });
        }
        if from == to {
            return Err(SmilesError::RingToSelf { number, at });
        }
        if self.bonds.contains(&(from, to)) || self.bonds.contains(&(to, from)) {
            return Err(SmilesError::DuplicateBond { number, at });
        }
        self.bonds.push((from, to));
        self.last = Last::Atom;
        Ok(())
    }

    /// Parses `1`, `%12` or `%(123)`; RDKit does not accept `%01`.
    fn ring_number(&mut self) -> Result<u32, SmilesError> {
        if self.peek(0) != Some(b'%') {
            return self.digits(1, 1, "ring bond number");
        }
        self.at += 1;
        if self.peek(0) == Some(b'0') {
            return Err(self.unexpected());
        }
        if self.peek(0) != Some(b'(') {
            return self.digits(2, 2, "ring bond number");
        }
        self.at += 1;
        let number = self.digits(1, 5, "ring bond number")?;
        if self.peek(0) != Some(b')') {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(number)
    }

    /// Parses between `least` and `most` digits as a number.
    fn digits(&mut self, least: usize, most: usize, what: &'static str) -> Result<u32, SmilesError> {
        let start = self.at;
        let mut value = 0u32;
        while let Some(digit @ b'0'..=b'9') = self.peek(0) {
            if self.at - start == most {
                if least == most {
                    break;
                }
                return Err(SmilesError::OutOfRange { what, at: start });
            }
            value = value * 10 + u32::from(digit - b'0');
            self.at += 1;
        }
        if self.at - start < least {
            return Err(self.unexpected());
        }
        Ok(value)
    }

    fn plain_atom(&mut self) -> Result<(), SmilesError> {
        let length = match (self.peek(0), self.peek(1)) {
            (Some(b'C'), Some(b'l')) | (Some(b'B'), Some(b'r')) => 2,
            (
                Some(
                    b'B' | b'C' | b'N' | b'O' | b'P' | b'S' | b'F' | b'I' | b'b' | b'c' | b'n' | b'o' | b'p'
                    | b's' | b'*',
                ),
                _,
            ) => 1,
            _ => return Err(self.unexpected()),
        };
        let heavy = self.peek(0) != Some(b'*');
        if !heavy {
            self.wildcard()?;
        }
        self.push_atom(self.at, heavy)?;
        self.at += length;
        Ok(())
    }

    /// Parses `[13C@@H2+2:7]`.
    fn bracket_atom(&mut self) -> Result<(), SmilesError> {
        let opened = self.at;
        let Some(length) = self.bytes[opened..].iter().position(|&byte| byte == b']') else {
            return Err(SmilesError::UnclosedBracket { opened });
        };
        let close = opened + length;
        self.at += 1;
        if self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
            self.digits(1, 3, "isotope")?;
        }
        let hydrogen = self.bracket_element(close)?;
        self.chirality()?;
        if self.peek(0) == Some(b'H') {
            self.at += 1;
            if self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
                self.digits(1, 1, "hydrogen count")?;
            }
        }
        self.charge()?;
        if self.peek(0) == Some(b':') {
            self.at += 1;
            self.digits(1, 5, "atom map number")?;
        }
        if self.at != close {
            return Err(self.unexpected());
        }
        self.at += 1;
        self.syntax.has_hydrogen_atoms |= hydrogen;
        self.push_atom(opened, !hydrogen && self.bytes.get(close - 1) != Some(&b'*'))
    }

    fn wildcard(&mut self) -> Result<(), SmilesError> {
        if self.wildcards == MAX_WILDCARDS {
            return Err(SmilesError::TooManyWildcards { limit: MAX_WILDCARDS, at: self.at });
        }
        self.wildcards += 1;
        Ok(())
    }

    /// Parses the element of a bracket atom; returns true for hydrogen.
    fn bracket_element(&mut self, close: usize) -> Result<bool, SmilesError> {
        if self.peek(0) == Some(b'*') {
            self.wildcard()?;
            self.at += 1;
            return Ok(false);
        }
        if self.peek(0) == Some(b'#') {
            self.at += 1;
            let start = self.at;
            let number = self.digits(1, 3, "atomic number")?;
            if number > 118 {
                return Err(SmilesError::OutOfRange { what: "atomic number", at: start });
            }
            if number == 0 {
                self.wildcard()?;
            }
            return Ok(number == 1);
        }
        for length in [2, 1] {
            let Some(symbol) = self.text.get(self.at..self.at + length) else { continue };
            if self.at + length <= close && is_element(symbol) {
                self.at += length;
                return Ok(symbol == "H");
            }
        }
        let end = self.text[self.at..close]
            .find(|c: char| !c.is_ascii_alphabetic())
            .map_or(close, |length| self.at + length);
        match self.text.get(self.at..end) {
            Some(symbol) if !symbol.is_empty() => {
                Err(SmilesError::UnknownElement { symbol: symbol.chars().take(3).collect(), at: self.at })
            }
            _ => Err(self.unexpected()),
        }
    }

    fn chirality(&mut self) -> Result<(), SmilesError> {
        if self.peek(0) != Some(b'@') {
            return Ok(());
        }
        let start = self.at;
        self.at += 1;
        if self.peek(0) == Some(b'@') {
            self.at += 1;
            return Ok(());
        }
        let most = match self.text.get(self.at..self.at + 2) {
            Some("TH" | "AL") => 2,
            Some("SP") => 3,
            Some("TB") => 20,
            Some("OH") => 30,
            _ => return Ok(()),
        };
        self.at += 2;
        if !self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
            return Ok(());
        }
        match self.digits(1, 2, "chirality class")? {
            number if number <= most => Ok(()),
            _ => Err(SmilesError::OutOfRange { what: "chirality class", at: start }),
        }
    }

    /// Parses `+`, `++`, `+2` and the like.
    fn charge(&mut self) -> Result<(), SmilesError> {
        let Some(sign @ (b'+' | b'-')) = self.peek(0) else { return Ok(()) };
        self.at += 1;
        if self.peek(0) == Some(sign) {
            self.at += 1;
        } else if self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
            self.digits(1, 2, "charge")?;
        }
        Ok(())
    }

    fn push_atom(&mut self, at: usize, heavy: bool) -> Result<(), SmilesError> {
        self.heavy += usize::from(heavy);
        if self.heavy > self.limits.max_heavy_atoms {
            return Err(SmilesError::TooManyAtoms { limit: self.limits.max_heavy_atoms, at });
        }
        let index = self.syntax.atoms.len();
        if !matches!(self.last, Last::Start | Last::Dot { .. }) {
            self.bonds.push((self.chain, index));
        }
        self.syntax.atoms.push(at);
        self.chain = index;
        self.last = Last::Atom;
        Ok(())
    }
}

/// Returns true if `symbol` is an element, or an aromatic one, as written in brackets.
fn is_element(symbol: &str) -> bool {
    matches!(symbol, "b" | "c" | "n" | "o" | "p" | "s" | "si" | "as" | "se" | "te")
        || (symbol.starts_with(|first: char| first.is_ascii_uppercase())
            && chematic::core::Element::from_symbol(symbol).is_some())
}
