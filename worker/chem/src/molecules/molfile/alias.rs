//! Aliases of atoms: the abbreviations that drawing programs write in place of a group (`A` lines).
//!
//! `tables/aliases.tsv` holds them; names of one group are separated by bars. An alias that is an element with its
//! hydrogens (`NH2`, `Cl`) is that element. Any other alias is refused, because the atom below it is only a
//! placeholder.

use std::{collections::HashMap, sync::LazyLock};

use chematic::core::{Element, Molecule as Graph};

use crate::table::Table;

/// Groups by alias; the first atom is the one that is bound.
static GROUPS: LazyLock<HashMap<&'static str, Graph>> = LazyLock::new(|| {
    let table = Table {
        file: "aliases.tsv",
        text: include_str!("../../../tables/aliases.tsv"),
        columns: ["alias", "smiles", "source"],
        keys: 1,
    };
    let rows = table.read(|[aliases, smiles, _]| {
        let group = chematic::smiles::parse(smiles).map_err(|error| error.to_string())?;
        Ok(aliases.split('|').map(move |alias| (alias, group.clone())).collect::<Vec<_>>())
    });
    rows.expect("aliases: a test reads the table").into_iter().flatten().collect()
});

/// Meaning of an alias.
pub(super) enum Alias {
    /// A group whose first atom is bound.
    Group(&'static Graph),
    /// An element with a stated number of hydrogens, if any is stated.
    Element(Element, Option<u8>),
}

impl Alias {
    /// Looks up an alias.
    pub(super) fn of(text: &str) -> Option<Self> {
        GROUPS.get(text).map(Self::Group).or_else(|| element(text))
    }
}

/// Parses an element with its hydrogens in front or behind: `NH2`, `H2N`, `Cl`.
fn element(text: &str) -> Option<Alias> {
    let hydrogens = |text: &str| match text.strip_prefix('H')? {
        "" => Some(1),
        count => count.parse::<u8>().ok().filter(|count| (2..=4).contains(count)),
    };
    let symbol_end = |text: &str| {
        let second = text.chars().nth(1).filter(char::is_ascii_lowercase);
        if second.is_some() { 2 } else { 1 }
    };
    if let Some(element) = Element::from_symbol(text) {
        return Some(Alias::Element(element, None));
    }
    let behind = || {
        let (symbol, rest) = text.split_at_checked(symbol_end(text))?;
        Some(Alias::Element(Element::from_symbol(symbol)?, Some(hydrogens(rest)?)))
    };
    let before = || {
        let at = text.rfind(|character: char| character.is_ascii_uppercase()).filter(|&at| at > 0)?;
        Some(Alias::Element(Element::from_symbol(&text[at..])?, Some(hydrogens(&text[..at])?)))
    };
    behind().or_else(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alias_is_a_group() {
        assert!(GROUPS.len() > 150, "{}", GROUPS.len());
        for (alias, smiles) in [("CF3", "C(F)(F)F"), ("Ph", "c1ccccc1"), ("MeO2C", "C(=O)OC")] {
            let group = GROUPS.get(alias).unwrap();
            let expected = chematic::smiles::parse(smiles).unwrap();
            assert_eq!(group.atoms().count(), expected.atoms().count(), "{alias}");
        }
    }

    #[test]
    fn an_element_may_have_its_hydrogens() {
        let shown = |text| match Alias::of(text) {
            Some(Alias::Element(element, hydrogens)) => format!("{}{hydrogens:?}", element.symbol()),
            Some(Alias::Group(_)) => "group".to_owned(),
            None => "nothing".to_owned(),
        };
        for (text, expected) in [
            ("NH2", "NSome(2)"),
            ("H2N", "NSome(2)"),
            ("HO", "OSome(1)"),
            ("Cl", "ClNone"),
            ("N", "NNone"),
            ("SiH3", "SiSome(3)"),
            ("Ac", "group"),
            ("Xyz", "nothing"),
            ("R1", "nothing"),
            ("é", "nothing"),
            ("", "nothing"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
