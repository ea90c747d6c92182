//! Names of syntheses of aromatic heterocycles, by the atoms around the ring: `tables/aromatic_rings.tsv`.

use std::{collections::HashMap, sync::LazyLock};

use chem::Table;

use crate::change::Facts;
use crate::queries::*;
use crate::reaction_class::ReactionClass;

/// Class by ring: the letters of its atoms in the order of the ring, `b` for a carbon that it shares with a benzene ring, begun and
/// turned so that capitals come first in the alphabet.
pub(super) static CLASSES: LazyLock<HashMap<&str, ReactionClass>> = LazyLock::new(|| {
    let table = Table {
        file: "aromatic_rings.tsv",
        text: include_str!("../../tables/aromatic_rings.tsv"),
        columns: ["ring", "class", "source"],
        keys: 1,
    };
    let rows = table.read(|[ring, name, _]| {
        let class = ReactionClass::named(name).ok_or_else(|| format!("`{name}` is no class"))?;
        if ring != least_turn(ring.as_bytes()) {
            return Err(format!("`{ring}` is not the least of its turns"));
        }
        Ok((ring, class))
    });
    rows.expect("aromatic_ring: a test reads the table").into_iter().collect()
});

/// Class of the synthesis of an aromatic ring, whose atoms come in order; `None` for a ring without a name.
pub fn class(facts: &Facts, ring: &[u32]) -> Option<ReactionClass> {
    if !ring.iter().all(|&atom| facts.is_aromatic(atom)) {
        return None;
    }
    let letter = |at: usize| {
        let [before, atom, after] = [at + ring.len() - 1, at, at + 1].map(|at| ring[at % ring.len()]);
        match facts.element(atom) {
            C if is_benzene_bond(facts, ring, before, atom) || is_benzene_bond(facts, ring, atom, after) => {
                Some(b'b')
            }
            C => Some(b'C'),
            N => Some(b'N'),
            O => Some(b'O'),
            S => Some(b'S'),
            _ => None,
        }
    };
    let letters: Option<Vec<u8>> = (0..ring.len()).map(letter).collect();
    CLASSES.get(least_turn(&letters?).as_str()).copied()
}

/// Returns true if a bond of the ring is one of a benzene ring as well.
fn is_benzene_bond(facts: &Facts, ring: &[u32], a: u32, b: u32) -> bool {
    let further = |atom: u32| {
        facts.next_to(atom).filter(|next| facts.is_aromatic_carbon(*next) && !ring.contains(next))
    };
    let meta = |from: u32| further(from).flat_map(further).collect::<Vec<u32>>();
    facts.is_aromatic_carbon(a)
        && facts.is_aromatic_carbon(b)
        && meta(a).iter().any(|&a| meta(b).iter().any(|&b| facts.bond(a, b).is_some()))
}

/// The least of the strings that the ring gives from each atom in each direction.
fn least_turn(letters: &[u8]) -> String {
    let size = letters.len();
    let turns = (0..size).flat_map(|start| {
        [1, size - 1]
            .map(|step| (0..size).map(|at| char::from(letters[(start + at * step) % size])).collect())
    });
    turns.min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Class of a ring of a canonical SMILES, by the numbers of its atoms there.
    fn name(smiles: &str, ring: &[u32]) -> Option<&'static str> {
        class(&Facts::of(&smiles.parse().unwrap()), ring).map(|class| class.name)
    }

    #[test]
    fn rings_have_the_names_of_textbooks() {
        assert_eq!(name("c1ccc2[nH]ccc2c1", &[3, 4, 5, 6, 7]), Some("indole synthesis"));
        assert_eq!(name("c1cc2[nH]ccc2cn1", &[2, 3, 4, 5, 6]), Some("pyrrole synthesis"));
        assert_eq!(name("c1ccc2ncncc2c1", &[3, 4, 5, 6, 7, 8]), Some("quinazoline synthesis"));
        assert_eq!(name("c1ccc2cnccc2c1", &[3, 4, 5, 6, 7, 8]), Some("isoquinoline synthesis"));
        assert_eq!(name("c1ccn2ccnc2c1", &[3, 4, 5, 6, 7]), Some("imidazole synthesis"));
        assert_eq!(name("c1ccc2c(c1)CCN2", &[3, 4, 6, 7, 8]), None);
        assert_eq!(name("c1cc[se]c1", &[0, 1, 2, 3, 4]), None);
    }
}
