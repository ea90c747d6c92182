//! The ChemAxon extension of a SMILES (CXSMILES): `C[C@H](F)Cl |&1:1|`, by the grammar of ChemAxon's documentation as
//! RDKit 2026.09 reads it.
//!
//! A configuration that the extension relates to others, or calls racemic or unknown, is not that of one enantiomer: its
//! mark is removed, so that the molecule is what it is and never taken for the pure one. Features that no molecule here
//! can hold (radicals, polymers, attachment points, bonds of variable place) are refused with their position. The rest
//! describes a drawing or data, and is ignored.

use std::borrow::Cow;

use super::tokens::{Token, tokens};
use crate::error::SmilesError;

/// A SMILES and the extension behind it.
pub(crate) struct ExtendedSmiles<'a> {
    pub smiles: &'a str,
    extension: Extension,
}

/// The configurations that an extension takes back.
#[derive(Debug, Default)]
struct Extension {
    /// Atoms of related, racemic or unknown configuration.
    flat: Vec<usize>,
    /// Atoms whose configuration is absolute.
    absolute: Vec<usize>,
    /// Set if all other configurations are relative.
    is_relative: bool,
}

impl<'a> ExtendedSmiles<'a> {
    /// Splits a text; `None` if it has no extension.
    ///
    /// # Errors
    /// Fails if the extension is invalid, or has a feature that a molecule here cannot hold.
    pub fn read(text: &'a str) -> Result<Option<Self>, SmilesError> {
        let Some((smiles, rest)) = text.split_once(|character: char| character.is_ascii_whitespace()) else {
            return Ok(None);
        };
        let start = text.len() - rest.trim_start().len();
        let Some(body) = rest.trim().strip_prefix('|') else { return Ok(None) };
        let Some(body) = body.strip_suffix('|').filter(|body| !body.contains('|')) else {
            return Err(SmilesError::UnclosedExtension { opened: start });
        };
        Ok(Some(Self { smiles, extension: Extension::read(body, start + 1)? }))
    }

    /// Returns the SMILES without the marks that the extension takes back.
    pub fn resolved(&self) -> Cow<'a, str> {
        let extension = &self.extension;
        if extension.flat.is_empty() && !extension.is_relative {
            return Cow::Borrowed(self.smiles);
        }
        let is_flat = |atom: usize| {
            extension.flat.contains(&atom) || extension.is_relative && !extension.absolute.contains(&atom)
        };
        let mut smiles = String::with_capacity(self.smiles.len());
        let (mut atom, mut rest) = (0, self.smiles);
        for token in tokens(self.smiles) {
            let length = rest.len() - behind(token, rest).len();
            let (written, after) = rest.split_at(length);
            match token {
                Token::Bracket(_) if is_flat(atom) => smiles.push_str(&without_mark(written)),
                _ => smiles.push_str(written),
            }
            atom += usize::from(matches!(token, Token::Atom(_) | Token::Bracket(_)));
            rest = after;
        }
        Cow::Owned(smiles)
    }
}

/// Returns true if an extension behind a SMILES takes back a configuration that the SMILES marks: a racemate, or one
/// enantiomer that is not known.
#[must_use]
pub fn has_unknown_configuration(text: &str) -> bool {
    // Most texts have no extension.
    text.contains('|')
        && matches!(ExtendedSmiles::read(text), Ok(Some(extended)) if extended.resolved() != extended.smiles)
}

/// Returns the text behind its first token.
fn behind<'a>(token: Token<'_>, text: &'a str) -> &'a str {
    let length = match token {
        Token::Atom(letters) => letters.len(),
        Token::Bracket(inner) => inner.len() + 2,
        Token::Bond(b'>' | b'<') => 2,
        Token::Ring(_) if text.starts_with("%(") => text.find(')').map_or(text.len(), |end| end + 1),
        Token::Ring(_) if text.starts_with('%') => 3,
        Token::Unknown(rest) => rest.len(),
        _ => 1,
    };
    text.get(length..).unwrap_or_default()
}

/// Returns a bracket atom without its mark: `@`, `@@` or a class such as `@SP1`.
fn without_mark(atom: &str) -> String {
    let Some((before, mark)) = atom.split_once('@') else { return atom.to_owned() };
    let mark = mark.trim_start_matches('@');
    let class = ["TH", "AL", "SP", "TB", "OH"].iter().find_map(|class| {
        let number = mark.strip_prefix(class)?;
        number.starts_with(|digit: char| digit.is_ascii_digit()).then_some(number)
    });
    let after = class.map_or(mark, |number| number.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    format!("{before}{after}")
}

impl Extension {
    /// Reads the text between the bars, which begins at byte `start`.
    fn read(body: &str, start: usize) -> Result<Self, SmilesError> {
        let mut extension = Self::default();
        let mut rest = body;
        while !rest.is_empty() {
            let at = start + body.len() - rest.len();
            let (feature, after) =
                feature(rest).ok_or(SmilesError::Extension { feature: "an unknown feature", at })?;
            extension.add(feature, at)?;
            rest = after;
        }
        Ok(extension)
    }

    fn add(&mut self, feature: &str, at: usize) -> Result<(), SmilesError> {
        let refused = |feature| Err(SmilesError::Extension { feature, at });
        let (kind, value) = feature.split_once(':').unwrap_or((feature, ""));
        let kind = kind.trim_end_matches(|digit: char| digit.is_ascii_digit());
        match kind {
            "&" | "o" => self.flat.extend(atoms(value, at)?),
            "a" => self.absolute.extend(atoms(value, at)?),
            "r" if value.is_empty() => self.is_relative = true,
            "w" => {
                // `atom.bond`: a wavy bond.
                let ends: Vec<&str> = value.split(',').filter_map(|pair| pair.split('.').next()).collect();
                self.flat.extend(atoms(&ends.join(","), at)?);
            }
            "^" => return refused("a radical"),
            "m" => return refused("a bond of variable place"),
            "LN" => return refused("a link node"),
            "RG" | "LO" => return refused("an R-group"),
            "C" => return refused("a coordinate bond"),
            "H" => return refused("a hydrogen bond"),
            "u" | "s" | "rb" => return refused("a query"),
            "Sg" if !value.starts_with("gen:") => return refused("a polymer or mixture"),
            _ if feature.starts_with('$') => return label_fault(feature).map_or(Ok(()), refused),
            // Coordinates, wedges, ring double bonds, lone pairs, grouped fragments, data.
            _ if feature.starts_with('(') => {}
            "wU" | "wD" | "c" | "t" | "ctu" | "lp" | "f" | "Sg" | "SgD" | "SgH" | "atomProp" => {}
            _ => return refused("an unknown feature"),
        }
        Ok(())
    }
}

/// Splits the first feature off; `None` if it does not end.
fn feature(text: &str) -> Option<(&str, &str)> {
    let length = match text.as_bytes().first()? {
        b'(' => text.find(')')? + 1,
        b'$' => text[1..].find('$')? + 2,
        // A comma before a number continues a list.
        _ => {
            let bytes = text.as_bytes();
            let ends = |&at: &usize| bytes[at] == b',' && !bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
            (0..bytes.len()).find(ends).unwrap_or(text.len())
        }
    };
    let (feature, after) = text.split_at(length);
    match after.strip_prefix(',') {
        Some(after) => Some((feature, after)),
        None => after.is_empty().then_some((feature, after)),
    }
}

/// Parses a list of atoms.
fn atoms(list: &str, at: usize) -> Result<Vec<usize>, SmilesError> {
    let fault = SmilesError::Extension { feature: "an invalid list of atoms", at };
    list.split(',').map(|atom| atom.parse().map_err(|_| fault.clone())).collect()
}

/// Returns what atom labels (`$_AP1;;R1$`) say that no molecule here can hold; values (`$_AV:…$`) and names say nothing.
fn label_fault(labels: &str) -> Option<&'static str> {
    let labels = labels.trim_matches('$');
    if labels.starts_with("_AV:") {
        return None;
    }
    labels.split(';').find_map(|label| {
        let name = label.strip_prefix('_').unwrap_or(label);
        let is_numbered = |prefix: &str| {
            let number = name.strip_prefix(prefix);
            number.is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
            })
        };
        if is_numbered("AP") {
            Some("an attachment point")
        } else if is_numbered("R") {
            Some("an R-group")
        } else if label.ends_with("_e") || label.ends_with("_p") {
            Some("a query atom")
        } else {
            None
        }
    })
}
