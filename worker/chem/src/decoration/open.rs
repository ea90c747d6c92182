//! A molecule with attachment points that is being completed.

use std::ops::Range;

use super::{
    walk,
    written::{Neighbour, WrittenAtom, WrittenBond, WrittenMolecule},
};

/// A molecule with attachment points, in the order in which they are to be filled.
///
/// Filled points stay among the atoms, without bonds, so that atoms keep their numbers.
#[derive(Debug, Clone)]
pub struct OpenMolecule {
    written: WrittenMolecule,
    /// Atoms that are points.
    points: Vec<usize>,
}

impl OpenMolecule {
    /// Orders the points: those with a number by their number, then the others as written.
    pub(super) fn new(written: WrittenMolecule) -> Self {
        let mut points: Vec<usize> =
            (0..written.atoms.len()).filter(|atom| written.atoms[*atom].is_point()).collect();
        points.sort_by_key(|point| match written.atoms[*point].number {
            0 => u32::MAX,
            number => number,
        });
        Self { written, points }
    }

    /// Returns the number of points to be filled.
    #[must_use]
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// Returns the number of atoms, filled points included. Atoms that are added get the numbers from here on.
    #[must_use]
    pub fn atoms(&self) -> usize {
        self.written.atoms.len()
    }

    /// Returns distinct strings of the molecule that end where a substituent of the first point would follow, those of
    /// `variants` ways through the molecule. Other points are written as hydrogens. Empty without points.
    #[must_use]
    pub fn endings(&self, variants: usize) -> Vec<String> {
        let Some((end, point)) = self.first_point() else { return Vec::new() };
        let mut endings = Vec::new();
        for ending in
            (0..variants).flat_map(|variant| walk::endings(&self.written, end, Some(point), variant))
        {
            if !endings.contains(&ending) {
                endings.push(ending);
            }
        }
        endings
    }

    /// Returns the molecule as SMILES, its points written as hydrogens.
    #[must_use]
    pub fn smiles(&self) -> String {
        let is_atom = |atom: &usize| !self.written.atoms[*atom].is_point();
        let end = (0..self.atoms()).find(is_atom);
        let strings = end.map_or_else(Vec::new, |end| walk::endings(&self.written, end, None, 0));
        strings.into_iter().next().unwrap_or_default()
    }

    /// Returns the molecule after a string of [`Self::endings`] has gone on with `text`; `None` if `text` is not a
    /// substituent.
    #[must_use]
    pub fn continued(&self, text: &str) -> Option<Self> {
        self.joined(&Self::new(WrittenMolecule::read(&format!("*{text}"))?))
    }

    /// Joins the first points of two molecules by a bond; `None` if one has no point. The other's atoms are numbered
    /// after those of this one.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Option<Self> {
        let ((end, bond), (other_end, other_bond)) = (self.first_point()?, other.first_point()?);
        let mut joined = self.clone();
        let atoms = self.written.atoms.len();
        let bonds = self.written.bonds.len();

        // Directions are relative: reversing all of one molecule changes no configuration.
        let mark = self.written.bonds[bond].mark_from(end).filter(|mark| is_direction(*mark));
        let other_mark =
            other.written.bonds[other_bond].mark_from(other.points[0]).filter(|mark| is_direction(*mark));
        let is_reversed = mark.is_some() && other_mark.is_some() && mark != other_mark;
        let is_aromatic = |molecule: &Self, atom: usize| {
            molecule.written.atoms[atom].name.starts_with(|letter: char| letter.is_ascii_lowercase())
        };
        let both_aromatic = is_aromatic(self, end) && is_aromatic(other, other_end);
        let mark = mark.or(other_mark).or(both_aromatic.then_some(b'-'));

        let number = |it: usize| if it == other_bond { bond } else { it + bonds };
        joined.written.atoms.extend(other.written.atoms.iter().map(|atom| {
            let order = atom.order.iter().map(|neighbour| match neighbour {
                Neighbour::Bond(it) => Neighbour::Bond(number(*it)),
                Neighbour::Hydrogen => Neighbour::Hydrogen,
            });
            WrittenAtom { order: order.collect(), ..atom.clone() }
        }));
        joined.written.bonds.extend(other.written.bonds.iter().map(|it| {
            let (a, b) = it.atoms;
            let atoms = if is_reversed && it.mark.is_some_and(is_direction) {
                (b + atoms, a + atoms)
            } else {
                (a + atoms, b + atoms)
            };
            WrittenBond { atoms, mark: it.mark }
        }));
        joined.written.bonds[bond] = WrittenBond { atoms: (end, other_end + atoms), mark };
        for point in [self.points[0], other.points[0] + atoms] {
            joined.written.atoms[point].order.clear();
        }
        joined.points = self.points[1..].to_vec();
        joined.points.extend(other.points[1..].iter().map(|point| point + atoms));
        Some(joined)
    }

    /// Returns a molecule for each of these atoms that has a hydrogen: with a point in its place, which is the first
    /// to be filled.
    ///
    /// # Panics
    /// Panics if there are not that many atoms.
    #[must_use]
    pub fn with_point_anywhere(&self, atoms: Range<usize>) -> Vec<Self> {
        atoms.filter(|atom| self.has_free_hydrogen(*atom)).map(|atom| self.with_point_at(atom)).collect()
    }

    /// Returns the atom of the first point's neighbour, and the bond to the point.
    fn first_point(&self) -> Option<(usize, usize)> {
        let point = *self.points.first()?;
        let bond = self.written.bonds_of(point).next()?;
        Some((self.written.other(bond, point), bond))
    }

    /// Returns true if a hydrogen of the atom can be replaced without changing the atom otherwise.
    fn has_free_hydrogen(&self, atom: usize) -> bool {
        let it = &self.written.atoms[atom];
        let bonds: Vec<usize> = self.written.bonds_of(atom).collect();
        if bonds.is_empty() {
            return false;
        }
        if it.is_in_brackets {
            return it.hydrogens > 0;
        }
        let order = |bond: &usize| match self.written.bonds[*bond].mark {
            Some(b'=') => 2,
            Some(b'#') => 3,
            _ => 1,
        };
        let bonds: usize = bonds.iter().map(order).sum();
        match it.name.as_str() {
            "C" => bonds < 4,
            // Aromatic, and an exocyclic double bond counts for two.
            "c" | "N" => bonds < 3,
            "O" | "S" => bonds < 2,
            _ => false,
        }
    }

    fn with_point_at(&self, atom: usize) -> Self {
        let mut molecule = self.clone();
        let (bond, point) = (Neighbour::Bond(self.written.bonds.len()), self.atoms());
        molecule.written.bonds.push(WrittenBond { atoms: (atom, point), mark: None });
        molecule.written.atoms.push(WrittenAtom::point(bond));
        let it = &mut molecule.written.atoms[atom];
        match it.order.iter_mut().find(|neighbour| **neighbour == Neighbour::Hydrogen) {
            Some(hydrogen) => {
                *hydrogen = bond;
                it.hydrogens -= 1;
            }
            None => it.order.push(bond),
        }
        molecule.points.insert(0, point);
        molecule
    }
}

fn is_direction(mark: u8) -> bool {
    matches!(mark, b'/' | b'\\')
}

#[cfg(test)]
mod tests {
    use chem_fast::Limits;

    use super::OpenMolecule;
    use crate::{decoration::written::WrittenMolecule, molecules::molecule::Molecule};

    fn open(smiles: &str) -> OpenMolecule {
        OpenMolecule::new(WrittenMolecule::read(smiles).unwrap())
    }

    fn canonical(smiles: &str) -> String {
        let limits = Limits { max_bytes: usize::MAX, ..Limits::DEFAULT };
        Molecule::parse(smiles, limits).map_or_else(|error| error.to_string(), |it| it.canonical_smiles())
    }

    // For the reference set, made with RDKit, see `tests/data/SOURCES.md`.
    fn reference() -> impl Iterator<Item = &'static str> {
        let molecules = include_str!("../../tests/data/molecules.tsv");
        let canonical = molecules.lines().skip(1).map(|line| line.split('\t').nth(1).unwrap());
        canonical.filter(|smiles| !smiles.contains(['.', '*']))
    }

    #[test]
    fn every_way_to_write_a_molecule_is_the_same_molecule() {
        let mut seen = 0;
        for smiles in reference() {
            let Some(written) = WrittenMolecule::read(smiles) else { continue };
            let molecule = OpenMolecule::new(written);
            assert_eq!(canonical(&molecule.smiles()), smiles);
            for site in molecule.with_point_anywhere(0..molecule.atoms()).iter().step_by(5) {
                for ending in site.endings(3) {
                    assert_eq!(canonical(&format!("{ending}[H]")), smiles, "{ending}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 1_000, "{seen} strings");
    }

    #[test]
    fn a_string_that_goes_on_is_the_joined_molecule() {
        for smiles in reference() {
            let Some(written) = WrittenMolecule::read(smiles) else { continue };
            let molecule = OpenMolecule::new(written);
            for site in molecule.with_point_anywhere(0..molecule.atoms()).iter().step_by(7) {
                for (ending, rest) in
                    site.endings(2).iter().flat_map(|it| [(it, "[C@@H](F)Cl"), (it, "c1ccno1")])
                {
                    let joined = site.continued(rest).unwrap();

                    assert_eq!(
                        canonical(&joined.smiles()),
                        canonical(&format!("{ending}{rest}")),
                        "{ending}"
                    );
                }
            }
        }
    }

    #[test]
    fn points_are_filled_by_number_and_then_as_written() {
        let mut molecule = open("*C[N+]([*:2])(C)C[*:1]");

        let ends: Vec<String> = std::iter::from_fn(|| {
            let ending = molecule.endings(1).pop()?;
            molecule = molecule.continued("F").unwrap();
            Some(ending)
        })
        .collect();

        let whole = ends.iter().map(|end| canonical(&format!("{end}[H]")));
        assert_eq!(whole.collect::<Vec<_>>(), ["C[NH+](C)C", "C[NH+](C)CF", "C[N+](C)(F)CF"]);
        assert_eq!(canonical(&molecule.smiles()), canonical("FC[N+](C)(F)CF"));
    }

    #[test]
    fn configurations_survive_until_their_points_are_filled() {
        let molecule = open("[*:1]/C=C/[C@]([*:2])([*:3])N");

        let whole = ["F", "Cl", "Br"].iter().fold(molecule, |it, rest| it.continued(rest).unwrap());

        assert_eq!(canonical(&whole.smiles()), canonical("F/C=C/[C@](Cl)(Br)N"));
    }

    #[test]
    fn two_double_bonds_are_joined_without_changing_either() {
        for (one, other, whole) in [
            ("*/C=C/F", "*/C=C/Cl", "F/C=C/C=C/Cl"),
            ("*/C=C/F", "*\\C=C/Cl", "F/C=C/C=C\\Cl"),
            ("*/C=C\\F", "Cl/C=C/*", "F/C=C\\C=C\\Cl"),
            ("*c1ccccc1", "*/C=C/Cl", "c1ccccc1/C=C/Cl"),
        ] {
            let joined = open(one).joined(&open(other)).unwrap();

            assert_eq!(canonical(&joined.smiles()), canonical(whole), "{one} {other}");
        }
    }

    #[test]
    fn only_hydrogens_make_a_site() {
        let sites = |smiles: &str| {
            let molecule = open(smiles);
            let found = molecule.with_point_anywhere(0..molecule.atoms());
            found.iter().map(|site| canonical(&site.continued("F").unwrap().smiles())).collect::<Vec<_>>()
        };

        assert_eq!(sites("CSC(=O)O"), ["O=C(O)SCF", "CSC(=O)OF"].map(canonical));
        assert_eq!(
            sites("c1c[nH]cn1"),
            ["Fc1c[nH]cn1", "Fc1cnc[nH]1", "Fn1ccnc1", "Fc1ncc[nH]1"].map(canonical)
        );
    }
}
