//! Queries about an atom and its surroundings.

use chem::{Atom, Bond, Order, Structure, is_odd};

pub const LI: u8 = 3;
pub const B: u8 = 5;
pub const C: u8 = 6;
pub const N: u8 = 7;
pub const O: u8 = 8;
pub const F: u8 = 9;
pub const MG: u8 = 12;
pub const SI: u8 = 14;
pub const P: u8 = 15;
pub const S: u8 = 16;
pub const CL: u8 = 17;
pub const CU: u8 = 29;
pub const ZN: u8 = 30;
pub const SE: u8 = 34;
pub const BR: u8 = 35;
pub const CD: u8 = 48;
pub const SN: u8 = 50;
pub const I: u8 = 53;

/// Returns true if an element is chlorine, bromine or iodine.
pub fn is_heavy_halogen(element: u8) -> bool {
    matches!(element, CL | BR | I)
}

/// Returns true if an element is a halogen.
pub fn is_halogen(element: u8) -> bool {
    element == F || is_heavy_halogen(element)
}

/// Queries about a structure.
pub trait StructureQueries {
    /// The structure itself.
    fn structure(&self) -> &Structure;

    fn at(&self, atom: u32) -> &Atom {
        self.structure().atom(atom)
    }

    fn element(&self, atom: u32) -> u8 {
        self.at(atom).element
    }

    fn hydrogens(&self, atom: u32) -> u8 {
        self.at(atom).hydrogens
    }

    fn is_aromatic(&self, atom: u32) -> bool {
        self.at(atom).aromatic
    }

    fn is_aromatic_carbon(&self, atom: u32) -> bool {
        self.element(atom) == C && self.is_aromatic(atom)
    }

    fn around(&self, atom: u32) -> &[Bond] {
        self.structure().bonds(atom)
    }

    /// Atoms bonded to this one.
    fn next_to(&self, atom: u32) -> impl Iterator<Item = u32> + '_ {
        self.around(atom).iter().map(|bond| bond.to)
    }

    /// The bond between two atoms.
    fn bond(&self, a: u32, b: u32) -> Option<Bond> {
        self.around(a).iter().copied().find(|bond| bond.to == b)
    }

    /// Number of bonded atoms other than hydrogen.
    fn degree(&self, atom: u32) -> usize {
        self.around(atom).len()
    }

    /// Number of neighbours of an element.
    fn count(&self, atom: u32, element: u8) -> usize {
        self.next_to(atom).filter(|&next| self.element(next) == element).count()
    }

    fn is_in_ring(&self, atom: u32) -> bool {
        self.around(atom).iter().any(|bond| bond.ring > 0)
    }

    /// Size of the smallest ring that contains the atom; 0 for none.
    fn ring(&self, atom: u32) -> u8 {
        self.around(atom).iter().map(|bond| bond.ring).filter(|&ring| ring > 0).min().unwrap_or(0)
    }

    /// Atom doubly bonded to this one that satisfies `wanted`.
    fn doubly(&self, atom: u32, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        self.around(atom)
            .iter()
            .find(|bond| bond.order == Order::Double && wanted(bond.to))
            .map(|bond| bond.to)
    }

    /// Atom triply bonded to this one.
    fn triply(&self, atom: u32) -> Option<u32> {
        self.around(atom).iter().find(|bond| bond.order == Order::Triple).map(|bond| bond.to)
    }

    /// Returns true if all bonds of the atom are single.
    fn is_saturated(&self, atom: u32) -> bool {
        self.around(atom).iter().all(|bond| bond.order == Order::Single)
    }

    /// Returns true if the atom is a carbon with single bonds only.
    fn is_sp3(&self, atom: u32) -> bool {
        self.element(atom) == C && self.is_saturated(atom)
    }

    /// Returns true if the atom is bonded to the oxygen of an epoxide.
    fn is_beside_epoxide_oxygen(&self, atom: u32) -> bool {
        self.next_to(atom).any(|next| self.element(next) == O && self.ring(next) == 3)
    }

    /// Returns true if the atom is a carbon of a cyclopropane.
    fn is_cyclopropane(&self, atom: u32) -> bool {
        let in_ring = |atom: u32| self.around(atom).iter().filter(|bond| bond.ring == 3);
        self.is_sp3(atom)
            && in_ring(atom).filter(|bond| self.is_sp3(bond.to)).count() > 1
            && in_ring(atom).all(|bond| self.element(bond.to) == C)
    }

    /// Oxygen or sulfur of a carbonyl group, for its carbon.
    fn carbonyl(&self, carbon: u32) -> Option<u32> {
        (self.element(carbon) == C)
            .then(|| {
                self.doubly(carbon, |other| matches!(self.element(other), O | S) && self.degree(other) == 1)
            })
            .flatten()
    }

    /// Returns true if the atom is the carbon of a carbonyl group, including those of aromatic lactams.
    fn is_carbonyl(&self, atom: u32) -> bool {
        self.carbonyl(atom).is_some()
    }

    /// Returns true for the carbon between a sulfonyl fluoride and an ester that gives up difluorocarbene: it has two fluorines.
    fn is_difluorocarbene_source(&self, carbon: u32) -> bool {
        self.is_sp3(carbon) && self.count(carbon, F) == 2 && self.count(carbon, S) == 1
    }

    /// Returns true for the carbon of a diazo compound.
    fn is_diazo(&self, atom: u32) -> bool {
        self.element(atom) == C
            && self.doubly(atom, |next| self.element(next) == N && self.at(next).charge == 1).is_some()
    }

    /// Returns true for the sulfur of sulfur dioxide.
    fn is_sulfur_dioxide(&self, sulfur: u32) -> bool {
        self.element(sulfur) == S && self.degree(sulfur) == 2 && self.oxo(sulfur) == 2
    }

    /// Number of oxygens doubly bonded to the atom.
    fn oxo(&self, atom: u32) -> usize {
        self.around(atom)
            .iter()
            .filter(|bond| bond.order == Order::Double && self.element(bond.to) == O)
            .count()
    }

    /// Returns true for an oxygen of hydrogen peroxide or a peracid, either of which a template may take for the one that is given.
    fn is_oxidising_oxygen(&self, atom: u32) -> bool {
        let is_peroxide = |atom: u32| self.element(atom) == O && self.count(atom, O) > 0;
        self.element(atom) == O
            && (is_peroxide(atom)
                || self.next_to(atom).any(|acyl| {
                    self.element(acyl) == C
                        && self.next_to(acyl).any(|next| next != atom && is_peroxide(next))
                }))
    }

    /// Returns true for the carbon beside the nitrogen of an isoxazole that no benzene ring is fused to.
    fn is_isoxazole_c3(&self, carbon: u32) -> bool {
        let is_isoxazole = |next: u32| {
            self.element(next) == N
                && self.is_aromatic(next)
                && self.next_to(next).any(|far| self.element(far) == O && self.is_aromatic(far))
        };
        self.is_aromatic_carbon(carbon)
            && self.next_to(carbon).any(is_isoxazole)
            && !self.next_to(carbon).any(|next| self.is_shared_by_aromatic_rings(next))
    }

    /// Returns true if the atom is the nitrogen of an isothiocyanate.
    fn is_isothiocyanate(&self, atom: u32) -> bool {
        let carbon = self.doubly(atom, |next| self.element(next) == C);
        carbon.is_some_and(|carbon| self.doubly(carbon, |next| self.element(next) == S).is_some())
    }

    /// Returns true if the atom is part of two aromatic rings.
    fn is_shared_by_aromatic_rings(&self, atom: u32) -> bool {
        self.around(atom).iter().filter(|bond| bond.order == Order::Aromatic).count() == 3
    }

    /// Aromatic nitrogens of rings of five within two bonds of a carbon of such a ring.
    fn azole_nitrogens(&self, carbon: u32) -> impl Iterator<Item = u32> + '_ {
        let reach = if self.ring(carbon) == 5 { 2 } else { 0 };
        self.distances(carbon, reach)
            .into_iter()
            .map(|(atom, _)| atom)
            .filter(|&atom| self.element(atom) == N && self.is_aromatic(atom) && self.ring(atom) == 5)
    }

    /// Returns true for a carbon with a methylene group at the other end of its double bond.
    fn has_methylene(&self, carbon: u32) -> bool {
        self.doubly(carbon, |far| self.element(far) == C && self.hydrogens(far) == 2).is_some()
    }

    /// Returns true for the inner carbon of a terminal alkyne.
    fn is_ethynyl(&self, atom: u32) -> bool {
        self.triply(atom).is_some_and(|far| self.hydrogens(far) > 0)
    }

    /// Returns true for the nitrogen of a quaternary ammonium or N-alkylazinium ion.
    fn is_onium(&self, atom: u32) -> bool {
        self.element(atom) == N
            && self.at(atom).charge == 1
            && self.hydrogens(atom) == 0
            && self.count(atom, O) == 0
    }

    /// Returns true if the atom is the nitrogen of a nitro group.
    fn is_nitro(&self, atom: u32) -> bool {
        self.element(atom) == N
            && self.at(atom).charge == 1
            && self.count(atom, O) == 2
            && self.oxo(atom) == 1
    }

    /// Returns true if the atom is the carbon of a nitrile or isocyanide.
    fn is_cyano(&self, atom: u32) -> bool {
        self.element(atom) == C && self.triply(atom).is_some_and(|other| self.element(other) == N)
    }

    /// Returns true if the atom is an oxygen with hydrogen.
    fn is_hydroxyl(&self, atom: u32) -> bool {
        self.element(atom) == O && self.hydrogens(atom) > 0
    }

    /// Returns true for an sp3 carbon beside one with a free hydroxyl group.
    fn has_beta_hydroxyl(&self, alpha: u32) -> bool {
        let bears_hydroxyl =
            |beta: u32| self.is_sp3(beta) && self.next_to(beta).any(|oxygen| self.is_hydroxyl(oxygen));
        self.is_sp3(alpha) && self.next_to(alpha).any(bears_hydroxyl)
    }

    /// Returns true if the atom is a carbon with three fluorines.
    fn is_trifluoromethyl(&self, atom: u32) -> bool {
        self.element(atom) == C && self.count(atom, F) == 3
    }

    /// Returns true if the atom withdraws electrons from an adjacent ring, by resonance or as a trifluoromethyl group.
    fn impoverishes_ring(&self, atom: u32) -> bool {
        self.is_acceptor(atom) || self.is_trifluoromethyl(atom)
    }

    /// Returns true for an atom of a ring that bears a group outside of it that withdraws electrons.
    fn bears_acceptor(&self, atom: u32) -> bool {
        self.next_to(atom).any(|next| !self.is_aromatic(next) && self.impoverishes_ring(next))
    }

    /// Returns true if the atom withdraws electrons from an adjacent double bond or ring by resonance.
    fn is_acceptor(&self, atom: u32) -> bool {
        self.is_carbonyl(atom)
            || self.is_cyano(atom)
            || self.is_nitro(atom)
            || (self.element(atom) == S && self.oxo(atom) > 0)
            || (self.element(atom) == P && self.oxo(atom) > 0)
            || (self.element(atom) == C
                && !self.is_aromatic(atom)
                && self.doubly(atom, |other| self.element(other) == N).is_some())
            || (self.element(atom) == N && self.at(atom).charge == 1 && !self.is_saturated(atom))
    }

    /// Returns true for the double bond of a cinnamate or chalcone, which hands its acceptor on to the ring.
    fn is_vinylogous_acceptor(&self, carbon: u32) -> bool {
        let far = self.doubly(carbon, |far| self.element(far) == C);
        far.is_some_and(|far| self.is_alpha(far)) && !self.is_aromatic(carbon)
    }

    /// Returns true for a substituent of an arene that withdraws electrons: an acceptor, a trifluoromethyl group or a halogen.
    fn is_withdrawing(&self, atom: u32) -> bool {
        !self.is_aromatic(atom)
            && (self.is_acceptor(atom) || self.is_trifluoromethyl(atom) || is_halogen(self.element(atom)))
    }

    /// Returns true if a carbon is bonded to an aromatic ring, or to a double or triple bond between carbons.
    fn is_benzylic_or_allylic(&self, atom: u32) -> bool {
        self.next_to(atom).any(|next| {
            self.is_aromatic(next)
                || (self.element(next) == C
                    && self.around(next).iter().any(|bond| {
                        matches!(bond.order, Order::Double | Order::Triple) && self.element(bond.to) == C
                    }))
        })
    }

    /// Returns true for an sp3 atom with chlorine, bromine or iodine.
    fn is_alkyl_halide(&self, atom: u32) -> bool {
        self.is_sp3(atom) && self.next_to(atom).any(|next| is_heavy_halogen(self.element(next)))
    }

    /// Returns true if a carbon is bonded to a carbonyl, cyano or similar group.
    fn is_alpha(&self, atom: u32) -> bool {
        self.next_to(atom).any(|next| self.is_acceptor(next))
    }

    /// Number of carbons (and silicons) bonded to an atom.
    fn carbons(&self, atom: u32) -> usize {
        self.next_to(atom).filter(|&next| matches!(self.element(next), C | SI)).count()
    }

    /// Number of aromatic atoms bonded to an atom.
    fn aryls(&self, atom: u32) -> usize {
        self.next_to(atom).filter(|&next| self.is_aromatic(next)).count()
    }

    /// Returns true if an sp3 carbon has a neighbour without hydrogen whose substituents are all carbon.
    fn is_neopentylic(&self, atom: u32) -> bool {
        self.next_to(atom).any(|next| self.is_sp3(next) && self.carbons(next) == 4)
    }

    /// Atoms within `most` bonds with their distances in bonds, the atom itself first.
    fn distances(&self, from: u32, most: u32) -> Vec<(u32, u32)> {
        let mut found = vec![(from, 0)];
        let mut next = 0;
        while let Some(&(atom, distance)) = found.get(next) {
            next += 1;
            if distance == most {
                continue;
            }
            for bond in self.around(atom) {
                if !found.iter().any(|&(known, _)| known == bond.to) {
                    found.push((bond.to, distance + 1));
                }
            }
        }
        found
    }

    /// Returns true if no two bonds in sequence of the shortest path are in a ring, which would hold its ends apart, as those of meta substituents.
    fn is_open_path(&self, near: &[(u32, u32)], end: u32, distance: u32) -> bool {
        let (mut at, mut was_in_ring) = (end, false);
        for left in (0..distance).rev() {
            let is_next = |&&(atom, away): &&(u32, u32)| away == left && self.bond(at, atom).is_some();
            let Some(&(next, _)) = near.iter().find(is_next) else { return false };
            let in_ring = self.bond(at, next).is_some_and(|bond| bond.ring > 0);
            if in_ring && was_in_ring {
                return false;
            }
            (at, was_in_ring) = (next, in_ring);
        }
        true
    }

    /// Handedness of a stereocentre, read over three of its neighbours to the fourth. `None` for an atom without configuration.
    fn handedness(&self, atom: u32, first: [u32; 3]) -> Option<bool> {
        let centre = self.at(atom).centre.as_ref()?;
        let last = centre.order.iter().copied().find(|next| !first.contains(next))?;
        let places: Vec<usize> = first
            .into_iter()
            .chain([last])
            .map(|wanted| centre.order.iter().position(|&next| next == wanted))
            .collect::<Option<_>>()?;
        Some(centre.clockwise ^ is_odd(&places))
    }

    /// Returns true if aromatic bonds connect two atoms.
    fn shares_arene(&self, from: u32, to: u32) -> bool {
        let mut found = vec![from];
        let mut next = 0;
        while let Some(&atom) = found.get(next) {
            next += 1;
            for bond in self.around(atom).iter().filter(|bond| bond.order == Order::Aromatic) {
                if !found.contains(&bond.to) {
                    found.push(bond.to);
                }
            }
        }
        found.contains(&to)
    }

    /// Atoms of a smallest ring through a bond, in order.
    fn smallest_cycle(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut ways: Vec<(u32, usize)> = vec![(from, usize::MAX)];
        let mut next = 0;
        while let Some(&(atom, _)) = ways.get(next) {
            for other in self.next_to(atom) {
                if (atom == from && other == to) || ways.iter().any(|&(known, _)| known == other) {
                    continue;
                }
                ways.push((other, next));
                if other == to {
                    let mut cycle = vec![to];
                    let mut at = next;
                    while at != usize::MAX {
                        cycle.push(ways[at].0);
                        at = ways[at].1;
                    }
                    return Some(cycle);
                }
            }
            next += 1;
        }
        None
    }
}

impl StructureQueries for Structure {
    fn structure(&self) -> &Structure {
        self
    }
}
