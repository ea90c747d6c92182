//! Molecules as connection tables (MDL, "CTfile Formats", V2000) with the coordinates of the pictures, for drawing
//! programs.
//!
//! Stereo is given by wedges and by the geometry of double bonds. A double bond of unstated configuration is marked
//! as such.

use std::fmt::Write as _;

use chematic::core::{AtomIdx, BondIdx, ez_markers::read_ez_facts};

use super::drawing_layout::{DrawingLayout, Side};
use crate::molecules::molecule::Molecule;

/// Ratio of width to height of the layout.
const RATIO: f64 = 1.5;
/// Bond length in ångströms. Readers take the end of a wedge to be 1 out of the plane, which must not be small
/// compared with a bond.
const BOND: f64 = 1.5;
/// Entries per property line.
const ENTRIES: usize = 8;
/// Largest ring in which a double bond can have only one configuration.
const SMALL_RING: usize = 7;

/// Writes the connection table of a molecule of at most 999 atoms, with a one-line title. It ends in `M  END` and a
/// line feed.
#[must_use]
pub fn molfile(molecule: &Molecule, title: &str) -> String {
    let plan = DrawingLayout::new(molecule.canonical_graph(), RATIO);
    let (atoms, bonds) = (plan.graph.atom_count(), plan.graph.bond_count());
    let title: String = title.chars().filter(|character| !character.is_control()).take(80).collect();
    let mut table = format!("{title}\n  Retort\n\n{atoms:3}{bonds:3}  0  0  0  0  0  0  0  0999 V2000\n");
    let scale = BOND / chematic_depict::layout::BOND_LEN;
    for (n, atom) in plan.graph.atoms() {
        let point = plan.at(n);
        let _ = writeln!(
            table,
            "{:10.4}{:10.4}{:10.4} {:<3} 0  0  0  0  0  0  0  0  0  0  0  0",
            scale * point.x,
            -scale * point.y,
            0.0,
            atom.element.symbol()
        );
    }
    let facts = read_ez_facts(&plan.graph).map(|(facts, _)| facts).unwrap_or_default();
    for bond in (0..bonds).map(|n| BondIdx(u32::try_from(n).unwrap_or(u32::MAX))) {
        let is_said = facts.iter().any(|fact| fact.double == bond);
        let (from, to, stereo) = ends(&plan, bond, is_said);
        let _ = writeln!(table, "{:3}{:3}{:3}{stereo:3}", from.0 + 1, to.0 + 1, plan.lines[bond.0 as usize]);
    }
    let charged = plan.graph.atoms().filter(|(_, atom)| atom.charge != 0);
    properties(&mut table, "CHG", charged.map(|(n, atom)| (n, i64::from(atom.charge))));
    let labelled = plan.graph.atoms().filter_map(|(n, atom)| Some((n, i64::from(atom.isotope?))));
    properties(&mut table, "ISO", labelled);
    table + "M  END\n"
}

/// Returns the ends of a bond, the narrow end of a wedge first, and its stereo value in the table.
fn ends(plan: &DrawingLayout, bond: BondIdx, is_said: bool) -> (AtomIdx, AtomIdx, u8) {
    let entry = plan.graph.bond(bond);
    let (one, other) = (entry.atom1, entry.atom2);
    if let Some(wedge) = plan.wedges.get(&bond) {
        let end = if wedge.from == one { other } else { one };
        return (wedge.from, end, if wedge.side == Side::Front { 1 } else { 6 });
    }
    let has_neighbours = |atom| plan.graph.degree(atom) > 1;
    let in_small_ring = || {
        plan.rings.iter().any(|ring| ring.len() <= SMALL_RING && ring.contains(&one) && ring.contains(&other))
    };
    let is_open = plan.lines[bond.0 as usize] == 2
        && !is_said
        && has_neighbours(one)
        && has_neighbours(other)
        && !in_small_ring();
    (one, other, if is_open { 3 } else { 0 })
}

/// Writes property lines of up to `ENTRIES` entries.
fn properties(table: &mut String, name: &str, entries: impl Iterator<Item = (AtomIdx, i64)>) {
    let entries: Vec<_> = entries.collect();
    for line in entries.chunks(ENTRIES) {
        let _ = write!(table, "M  {name}{:3}", line.len());
        for (atom, value) in line {
            let _ = write!(table, " {:3} {value:3}", atom.0 + 1);
        }
        table.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smiles_of_molfile;

    #[test]
    fn a_table_is_read_as_the_molecule_that_it_was_written_of() {
        for smiles in [
            "CCO",
            "c1ccc2[nH]ccc2c1",
            "C[N+](C)(C)CC(=O)[O-]",
            "O=[N+]([O-])c1ccccc1",
            "[13CH3]O",
            "C[C@H](N)C(=O)O",
            "C[C@@H](N)C(=O)O",
            "F/C=C/F",
            "F/C=C\\F",
            "FC=CF",
            "CC(=O)N[C@@H]1CCCC[C@H]1O",
            "CS(=O)(=O)c1ccc(C#N)cc1",
            "COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC",
        ] {
            let molecule: Molecule = smiles.parse().unwrap();

            let table = molfile(&molecule, "a name\nof two lines");

            assert_eq!(table.lines().next(), Some("a nameof two lines"));
            let first = table.lines().nth(4).unwrap();
            assert!(first[..10].trim().parse::<f64>().unwrap().abs() < 20.0, "{first}");
            let read: Molecule = smiles_of_molfile(&table).unwrap().parse().unwrap();
            assert_eq!(read.canonical_smiles(), molecule.canonical_smiles(), "{table}");
        }
    }
}
