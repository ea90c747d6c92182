//! Connection tables of structure files (BIOVIA, "CTfile Formats", V2000).
//!
//! The decision that matters: a table becomes a SMILES and is parsed as one, so that one place decides what counts as
//! a molecule. chematic reads stereo from wedges and atom coordinates. Rare input that a guess would corrupt is
//! refused: V3000, three-dimensional coordinates, radicals, query bonds.

use std::collections::HashSet;

use chematic::core::{
    Atom, AtomIdx, BondIdx, BondOrder, Element, Molecule as Graph, MoleculeBuilder, valence::bond_order_sum,
};
use chematic::perception::{
    apply_ctab_local_parity_from_wedges_with_diagnostics, apply_ez_directions_from_2d_ex,
};

use crate::graph::index::index;

/// Maximum number of atoms, and of bonds, in a V2000 table.
const MAX_V2000_COUNT: usize = 999;

/// An invalid or unsupported connection table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct MolfileError {
    /// Line number, counted from 1.
    pub line: usize,
    /// Description of the fault.
    pub reason: String,
}

/// Converts a connection table to a SMILES that holds all of its information. The SMILES need not be a valid molecule
/// yet.
///
/// # Errors
/// Names the unsupported or malformed content and its line.
pub fn smiles_of_molfile(text: &str) -> Result<String, MolfileError> {
    let lines: Vec<&str> = text.lines().collect();
    let counts = lines.get(3).copied().unwrap_or_default();
    if counts.contains("V3000") {
        return Err(fault(4, "V3000 is not read"));
    }
    let (atoms, bonds) = (count(counts, 0)?, count(counts, 3)?);
    if atoms == 0 || lines.len() < 4 + atoms + bonds {
        return Err(fault(4, "fewer atoms and bonds than it says"));
    }
    let mut table = Table::default();
    for (at, line) in lines.iter().enumerate().skip(4).take(atoms) {
        table.atom(line).ok_or_else(|| fault(at + 1, "no atom"))?;
    }
    for (at, line) in lines.iter().enumerate().skip(4 + atoms).take(bonds) {
        table.bond(line).ok_or_else(|| fault(at + 1, "no bond that is read"))?;
    }
    for (at, line) in lines.iter().enumerate().skip(4 + atoms + bonds) {
        if line.starts_with("M  END") {
            break;
        }
        table.property(line).ok_or_else(|| fault(at + 1, "no property that is read"))?;
    }
    table.smiles().ok_or_else(|| fault(4, "no SMILES can be written of it"))
}

fn fault(line: usize, reason: &str) -> MolfileError {
    MolfileError { line, reason: reason.to_owned() }
}

fn count(line: &str, at: usize) -> Result<usize, MolfileError> {
    let found: Option<usize> = line.get(at..at + 3).and_then(|field| field.trim().parse().ok());
    found.filter(|&count| count <= MAX_V2000_COUNT).ok_or_else(|| fault(4, "no counts of atoms and bonds"))
}

#[derive(Default)]
struct Table {
    builder: MoleculeBuilder,
    places: Vec<(f64, f64)>,
    /// Valence of each atom as the table states it; 0 means the element's default.
    valences: Vec<u8>,
    charges: Vec<(AtomIdx, i8)>,
    /// Charges from the property block, which override all charges of the atom block.
    stated: Vec<(AtomIdx, i8)>,
    isotopes: Vec<(AtomIdx, u16)>,
    /// Double bonds marked as neither E nor Z.
    either: HashSet<BondIdx>,
}

impl Table {
    fn atom(&mut self, line: &str) -> Option<()> {
        let number = |begin: usize| line.get(begin..begin + 10)?.trim().parse::<f64>().ok();
        let (x, y, z) = (number(0)?, number(10)?, number(20)?);
        let small =
            |begin: usize| line.get(begin..begin + 3).map_or("", str::trim).parse::<u8>().unwrap_or(0);
        // The symbol has up to three letters; the mass difference follows it.
        let symbol = line.get(31..)?.split_whitespace().next()?;
        let is_mass_usual = line.get(34..36).is_none_or(|field| matches!(field.trim(), "" | "0"));
        if z.abs() > 1e-4 || !is_mass_usual && symbol != "D" && symbol != "T" {
            return None;
        }
        let (symbol, isotope) = match symbol {
            "D" => ("H", Some(2)),
            "T" => ("H", Some(3)),
            symbol => (symbol, None),
        };
        let mut atom = match symbol {
            "*" | "A" | "Q" | "R" | "R#" => Atom::wildcard(),
            symbol => Atom::new(Element::from_symbol(symbol)?),
        };
        atom.isotope = isotope;
        let at = self.builder.add_atom(atom);
        match small(36) {
            0 => {}
            code @ (1..=3 | 5..=7) => self.charges.push((at, 4 - i8::try_from(code).ok()?)),
            _ => return None,
        }
        self.places.push((x, y));
        self.valences.push(small(48));
        Some(())
    }

    fn bond(&mut self, line: &str) -> Option<()> {
        let field = |begin: usize| line.get(begin..begin + 3)?.trim().parse::<usize>().ok();
        let atom = |number: usize| number.checked_sub(1).filter(|&at| at < self.places.len()).map(index);
        let (begin, end) = (atom(field(0)?)?, atom(field(3)?)?);
        if begin == end {
            return None;
        }
        let stereo = field(9).unwrap_or(0);
        let order = match (field(6)?, stereo) {
            (1, 1) => BondOrder::Up,
            (1, 6) => BondOrder::Down,
            (1, _) => BondOrder::Single,
            (2, _) => BondOrder::Double,
            (3, _) => BondOrder::Triple,
            (4, _) => BondOrder::Aromatic,
            (9, _) => BondOrder::Dative,
            _ => return None,
        };
        let bond = self.builder.add_bond(begin, end, order).ok()?;
        if order == BondOrder::Double && stereo == 3 {
            self.either.insert(bond);
        }
        Some(())
    }

    fn property(&mut self, line: &str) -> Option<()> {
        let kind = line.get(..6).unwrap_or_default();
        if !matches!(kind, "M  CHG" | "M  ISO" | "M  RAD") {
            // Names, brackets and program-specific lines.
            return Some(());
        }
        let mut fields = line[6..].split_whitespace().skip(1);
        while let Some(atom) = fields.next() {
            let at = atom.parse::<usize>().ok()?.checked_sub(1).filter(|&at| at < self.places.len())?;
            let value = fields.next()?;
            match kind {
                "M  CHG" => self.stated.push((index(at), value.parse().ok()?)),
                "M  ISO" => self.isotopes.push((index(at), value.parse().ok()?)),
                _ if value == "0" => {}
                _ => return None,
            }
        }
        Some(())
    }

    fn smiles(self) -> Option<String> {
        let mut graph = self.builder.build();
        let aromatic: Vec<AtomIdx> = graph
            .bonds()
            .filter(|(_, bond)| bond.order == BondOrder::Aromatic)
            .flat_map(|(_, bond)| [bond.atom1, bond.atom2])
            .collect();
        aromatic.into_iter().for_each(|at| graph.set_atom_aromatic(at, true));
        let charges = if self.stated.is_empty() { self.charges } else { self.stated };
        charges.into_iter().for_each(|(at, charge)| graph.set_charge(at, charge));
        self.isotopes.into_iter().for_each(|(at, isotope)| graph.set_isotope(at, Some(isotope)));
        for (at, stated) in self.valences.into_iter().enumerate() {
            add_hydrogens(&mut graph, index(at), stated);
        }
        apply_ctab_local_parity_from_wedges_with_diagnostics(&mut graph, &self.places);
        // The wedges have been read. A wedge next to a double bond must not be taken for an E/Z direction.
        let wedges: Vec<BondIdx> = graph
            .bonds()
            .filter(|(_, bond)| matches!(bond.order, BondOrder::Up | BondOrder::Down))
            .map(|(at, _)| at)
            .collect();
        wedges.into_iter().for_each(|at| graph.set_bond_order(at, BondOrder::Single));
        apply_ez_directions_from_2d_ex(&mut graph, &self.places, &self.either);
        chematic::smiles::rdkit_canonical_smiles(&graph).ok()
    }
}

/// Adds the hydrogens that a table leaves out: those of a stated valence, or those of an element that SMILES writes
/// in brackets, where no hydrogens would be implied.
fn add_hydrogens(graph: &mut Graph, at: AtomIdx, stated: u8) {
    let atom = graph.atom(at);
    if atom.aromatic {
        return;
    }
    let bonds = bond_order_sum(graph, at);
    let valence = match (stated, atom.charge, atom.element.symbol()) {
        (15, ..) => Some(0),
        (1..=14, ..) => Some(stated),
        (_, 0, "Li" | "Na" | "K") => Some(1),
        (_, 0, "Si") => Some(4),
        (_, 0, "Se") => [2, 4, 6].into_iter().find(|&valence| valence >= bonds),
        (_, 0, "Sn") => [2, 4].into_iter().find(|&valence| valence >= bonds),
        (_, 0, "As") => [3, 5].into_iter().find(|&valence| valence >= bonds),
        _ => None,
    };
    if let Some(hydrogens) = valence.and_then(|valence| valence.checked_sub(bonds)) {
        graph.set_hydrogen_count(at, Some(hydrogens));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a table of two atoms from the first atom line, a bond and properties.
    fn table(atom: &str, bond: &str, properties: &str) -> String {
        format!(
            "\n\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n{atom}\n    1.0000    0.0000    0.0000 O   0  0\n{bond}\n{properties}M  END\n"
        )
    }

    const CARBON: &str = "    0.0000    0.0000    0.0000 C   0  0";

    #[test]
    fn charges_isotopes_and_hydrogens_are_as_the_table_says() {
        let cases = [
            (CARBON, "  1  2  1  0", "", "CO"),
            (CARBON, "  1  2  2  0", "", "C=O"),
            (CARBON, "  1  2  1  0", "M  CHG  1   2  -1\nM  ISO  1   1  13\n", "[13CH3][O-]"),
            ("    0.0000    0.0000    0.0000 N   0  3", "  1  2  1  0", "", "[NH3+]O"),
            ("    0.0000    0.0000    0.0000 Si  0  0", "  1  2  1  0", "", "O[SiH3]"),
            ("    0.0000    0.0000    0.0000 D   0  0", "  1  2  1  0", "", "[2H]O"),
            (
                "    0.0000    0.0000    0.0000 C   0  0  0  0  0  2",
                "  1  2  1  0",
                "M  CHG  1   1   1\n",
                "[CH+]O",
            ),
        ];
        for (atom, bond, properties, expected) in cases {
            assert_eq!(
                smiles_of_molfile(&table(atom, bond, properties)).as_deref(),
                Ok(expected),
                "{atom} {properties}"
            );
        }
    }

    #[test]
    fn what_is_not_read_is_refused_by_line() {
        let cases = [
            (table("    0.0000    0.0000    0.5000 C   0  0", "  1  2  1  0", ""), 5),
            (table("    0.0000    0.0000    0.0000 Xx  0  0", "  1  2  1  0", ""), 5),
            (table("    0.0000    0.0000 C", "  1  2  1  0", ""), 5),
            (table(CARBON, "  1  3  1  0", ""), 7),
            (table(CARBON, "  1  0  1  0", ""), 7),
            (table(CARBON, "  1  1  1  0", ""), 7),
            (table(CARBON, "  1  2  8  0", ""), 7),
            (table(CARBON, "  1  2  1  0", "M  RAD  1   1   2\n"), 8),
            (table(CARBON, "  1  2  1  0", "M  CHG  1   9   1\n"), 8),
            (table(CARBON, "  1  2  1  0", "M  CHG  1   1\n"), 8),
            ("\n\n\n  9  1  0  0  0  0  0  0  0  0999 V2000\nM  END\n".to_owned(), 4),
            ("\n\n\n  0  0  0     0  0            999 V3000\nM  END\n".to_owned(), 4),
            ("\n\n\n  é  0\n".to_owned(), 4),
            (String::new(), 4),
        ];
        for (text, line) in cases {
            assert_eq!(smiles_of_molfile(&text).map_err(|error| error.line), Err(line), "{text}");
        }
    }
}
