//! The text of a template: its sides, their components, their atom maps.

use std::collections::HashSet;

use chematic::smarts::{self, QueryMolecule};

use crate::error::TemplateError;

/// Maximum length of a template, in bytes.
const MAX_BYTES: usize = 4000;

/// Maximum number of components of a side: a forward run tries every way to distribute them among the molecules.
const MAX_COMPONENTS: usize = 6;

/// The two sides of a retro template, each as its components, without grouping parentheses.
#[derive(Debug)]
pub(crate) struct TemplateSides {
    pub product: Vec<String>,
    pub precursors: Vec<String>,
}

impl TemplateSides {
    /// Splits a template; returns the sides with their patterns.
    pub fn parse(template: &str) -> Result<(Self, QueryMolecule, QueryMolecule), TemplateError> {
        if template.len() > MAX_BYTES {
            return Err(TemplateError::TooLong { bytes: template.len(), limit: MAX_BYTES });
        }
        let (product, precursors) = template.trim().split_once(">>").ok_or(TemplateError::NotAReaction)?;
        let sides = Self { product: components(product), precursors: components(precursors) };
        if sides.product.is_empty() || sides.precursors.is_empty() {
            return Err(TemplateError::NotAReaction);
        }
        let components = sides.product.len().max(sides.precursors.len());
        if components > MAX_COMPONENTS {
            return Err(TemplateError::TooManyComponents { components, limit: MAX_COMPONENTS });
        }
        let product = pattern(&sides.product.join("."))?;
        let precursors = pattern(&sides.precursors.join("."))?;
        Ok((sides, product, precursors))
    }

    /// Returns the reaction from product to precursors, both sides grouped.
    pub fn backward(&self) -> String {
        let product = group(&self.product);
        let precursors = self.precursors.join(".");
        format!("{product}>>({})", without_foreign_maps(&precursors, &product))
    }

    /// Returns the reaction from precursors to product; `groups` holds the precursor components of each molecule.
    pub fn forward(&self, groups: &[Vec<usize>]) -> String {
        let precursors: Vec<String> = groups
            .iter()
            .map(|members| group(&members.iter().map(|&i| self.precursors[i].as_str()).collect::<Vec<_>>()))
            .collect();
        let precursors = precursors.join(".");
        let product = self.product.join(".");
        format!("{precursors}>>({})", without_foreign_maps(&product, &precursors))
    }
}

/// Parses a SMARTS pattern. Refuses patterns that chematic accepts but RDKit refuses or cannot use: no atom, an atom
/// bonded to itself, two bonds between the same atoms.
pub(crate) fn pattern(smarts: &str) -> Result<QueryMolecule, TemplateError> {
    let fault = |reason: String| TemplateError::Smarts { smarts: smarts.to_owned(), reason };
    let query = smarts::parse_smarts(smarts).map_err(|error| fault(error.to_string()))?;
    if query.atoms.is_empty() {
        return Err(fault("it has no atom".to_owned()));
    }
    let mut bonded = HashSet::new();
    for bond in &query.bonds {
        let atoms = [bond.atom1.min(bond.atom2), bond.atom1.max(bond.atom2)];
        if atoms[0] == atoms[1] || !bonded.insert(atoms) {
            return Err(fault(format!(
                "a ring bond from atom {} to atom {} is one too many",
                atoms[0], atoms[1]
            )));
        }
    }
    Ok(query)
}

/// Formats a side as a group, in parentheses if it has more than one component.
fn group<S: AsRef<str>>(components: &[S]) -> String {
    match components {
        [one] => one.as_ref().to_owned(),
        many => format!("({})", many.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(".")),
    }
}

/// Splits a side at its dots and removes the grouping parentheses.
fn components(side: &str) -> Vec<String> {
    let side = side.trim();
    let mut parts = Vec::new();
    let (mut depth, mut bracket, mut start) = (0usize, 0usize, 0usize);
    for (at, character) in side.char_indices() {
        match character {
            '[' => bracket += 1,
            ']' => bracket = bracket.saturating_sub(1),
            '(' if bracket == 0 => depth += 1,
            ')' if bracket == 0 => depth = depth.saturating_sub(1),
            '.' if bracket == 0 && depth == 0 => {
                parts.push(&side[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&side[start..]);
    parts
        .into_iter()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .flat_map(|part| match part.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            Some(inner) => components(inner),
            None => vec![part.to_owned()],
        })
        .collect()
}

/// Returns `side` without the atom map numbers that do not occur in `other`, since chematic and RDKit refuse them or
/// warn.
fn without_foreign_maps(side: &str, other: &str) -> String {
    let known = map_numbers(other);
    let mut text = String::with_capacity(side.len());
    let mut rest = side;
    while let Some(close) = rest.find(']') {
        let (atom, after) = rest.split_at(close);
        match map_of(atom) {
            Some((head, number)) if !known.contains(&number) => text.push_str(head),
            _ => text.push_str(atom),
        }
        text.push(']');
        rest = &after[1..];
    }
    text.push_str(rest);
    text
}

fn map_numbers(side: &str) -> Vec<u32> {
    side.split(']').filter_map(|atom| map_of(atom).map(|(_, number)| number)).collect()
}

/// Splits `..[C;H1:12` into the text before `:12` and the number 12.
fn map_of(atom: &str) -> Option<(&str, u32)> {
    let (head, digits) = atom.rsplit_once(':')?;
    digits.parse().ok().map(|number| (head, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_has_at_most_as_many_components_as_can_be_assigned() {
        let template = |components: usize| format!("[C:1]>>{}", vec!["[C:1]"; components].join("."));

        assert!(TemplateSides::parse(&template(6)).is_ok());
        let fault = TemplateError::TooManyComponents { components: 7, limit: 6 };
        assert_eq!(TemplateSides::parse(&template(7)).err(), Some(fault));
    }
}
