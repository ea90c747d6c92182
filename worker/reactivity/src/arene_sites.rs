//! Site model of arenes: how fast an electrophile takes the place of each aromatic hydrogen, relative to the others.
//!
//! The value of a position is the natural logarithm of its relative rate. Its base is physical: the energy that the ring
//! system loses when one carbon leaves the conjugation (Wheland, J. Am. Chem. Soc. 1942), and the positive charge at each
//! atom of the cation that is left. Every substituent and ring atom adds in proportion to that charge, and by its
//! distance. `tables/arene_sites.tsv` holds the weights with their standard errors; `worker/training/fit_arene_sites.py`
//! fits them to recorded reactions, and its README has the figures. Names of groups must stay as
//! `worker/training/arene_features.py` has them.

use std::sync::LazyLock;

use chem::{Order, Table};

use crate::change::Facts;
use crate::hueckel::{self, Filled};
use crate::named::named;
use crate::queries::*;

named! {
/// Group on a ring, atom of a ring, or another property of a position that affects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    // Groups on carbon.
    Oxide,
    Hydroxyl,
    Acyloxy,
    Alkoxy,
    Nitro,
    Azolyl,
    Ammonium,
    Imino,
    Imido,
    Sulfonamido,
    Acylamino,
    Hydrazino,
    Amino,
    Alkylamino,
    Dialkylamino,
    Sulfonyl,
    Thio,
    Fluoro,
    Chloro,
    Bromo,
    Iodo,
    Azinyl,
    Aryl,
    Fluoroalkyl,
    DrawnAlkyl,
    Alkyl,
    Cyano,
    Carboxyl,
    Carboxamide,
    Acyl,
    Vinyl,
    /// Silicon, boron, tin and the like.
    Silyl,
    // Groups on nitrogen of the ring.
    AlkylOnNitrogen,
    ArylOnNitrogen,
    /// Acyl, sulfonyl and the like; and silyl, which keeps electrophiles from the next carbon as well.
    DrawingOnNitrogen,
    // Atoms of the ring.
    RingNitrogen,
    /// Nitrogen that gives two electrons, as in pyrrole.
    RingAmine,
    RingCation,
    RingOxygen,
    RingSulfur,
    RingCarbonyl,
    // Properties of the position.
    Localisation,
    FiveRing,
    AnyOrtho,
    Crowded,
    Fusion,
    Peri,
}
}

named! {
/// Relation of an effect to a position: a distance, the charge, or an electrophile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Ortho,
    Meta,
    Far,
    Charge,
    All,
    Bromine,
    Chlorine,
    Iodine,
    Nitration,
    Acylation,
    Formylation,
    Sulfonation,
}
}

/// Electrophile whose selectivity was fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Electrophile {
    Bromine,
    Chlorine,
    Iodine,
    Nitration,
    Acylation,
    Formylation,
    Sulfonation,
}

impl Electrophile {
    /// Returns true for a halogen and for the nitronium ion.
    pub fn is_halogen_or_nitronium(self) -> bool {
        matches!(self, Self::Bromine | Self::Chlorine | Self::Iodine | Self::Nitration)
    }

    fn relation(self) -> Relation {
        match self {
            Self::Bromine => Relation::Bromine,
            Self::Chlorine => Relation::Chlorine,
            Self::Iodine => Relation::Iodine,
            Self::Nitration => Relation::Nitration,
            Self::Acylation => Relation::Acylation,
            Self::Formylation => Relation::Formylation,
            Self::Sulfonation => Relation::Sulfonation,
        }
    }
}

type Weights = [[f64; Relation::ALL.len()]; Effect::ALL.len()];

/// Weights of all effects; 0 where there is no row.
static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    let table = Table {
        file: "arene_sites.tsv",
        text: include_str!("../tables/arene_sites.tsv"),
        columns: ["effect", "relation", "value", "error", "positions", "source"],
        keys: 2,
    };
    let rows = table.read(|[effect, relation, value, ..]| {
        let value: f64 = value.parse().map_err(|_| format!("`{value}` is no number"))?;
        Ok((Effect::named(effect)?, Relation::named(relation)?, value))
    });
    let mut weights = [[0.0; Relation::ALL.len()]; Effect::ALL.len()];
    for (effect, relation, value) in rows.expect("arene_sites: a test reads the table") {
        weights[effect as usize][relation as usize] = value;
    }
    weights
});

/// Atom of a ring system, by what it brings to the conjugation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RingAtom {
    Carbon,
    Nitrogen,
    Amine,
    Cation,
    Oxygen,
    Sulfur,
    Carbonyl,
}

impl RingAtom {
    fn of(facts: &Facts, atom: u32) -> Self {
        match facts.element(atom) {
            C if facts.is_carbonyl(atom) => Self::Carbonyl,
            N if facts.at(atom).charge > 0 => Self::Cation,
            N if facts.hydrogens(atom) > 0 || facts.degree(atom) == 3 => Self::Amine,
            N => Self::Nitrogen,
            O => Self::Oxygen,
            S | SE => Self::Sulfur,
            _ => Self::Carbon,
        }
    }

    /// Energy, resonance with a neighbour, and electrons (Streitwieser, "Molecular Orbital Theory for Organic Chemists",
    /// 1961, table 5.1).
    fn parameters(self) -> (f64, f64, u32) {
        match self {
            Self::Carbon => (0.0, 1.0, 1),
            Self::Nitrogen => (0.5, 1.0, 1),
            Self::Amine => (1.5, 0.8, 2),
            Self::Cation => (2.0, 1.0, 1),
            Self::Oxygen => (2.0, 0.8, 2),
            Self::Sulfur => (1.0, 0.7, 2),
            Self::Carbonyl => (0.9, 1.0, 0),
        }
    }

    fn effect(self) -> Option<Effect> {
        Some(match self {
            Self::Carbon => return None,
            Self::Nitrogen => Effect::RingNitrogen,
            Self::Amine => Effect::RingAmine,
            Self::Cation => Effect::RingCation,
            Self::Oxygen => Effect::RingOxygen,
            Self::Sulfur => Effect::RingSulfur,
            Self::Carbonyl => Effect::RingCarbonyl,
        })
    }
}

/// Fused aromatic ring system.
#[derive(Debug)]
pub struct RingSystem {
    atoms: Vec<u32>,
    kinds: Vec<RingAtom>,
    /// Aromatic neighbours of each atom, by their places.
    near: Vec<Vec<usize>>,
    /// Effects of each atom and of its groups.
    effects: Vec<Vec<Effect>>,
    /// Number of groups on each atom.
    groups: Vec<usize>,
    matrix: Vec<Vec<f64>>,
    energy: f64,
}

impl RingSystem {
    /// Returns the ring system of an aromatic atom; `None` if it is too large.
    pub fn of(facts: &Facts, start: u32) -> Option<Self> {
        let mut atoms = vec![start];
        let mut next = 0;
        while let Some(&atom) = atoms.get(next) {
            next += 1;
            for other in aromatic_neighbours(facts, atom) {
                if !atoms.contains(&other) {
                    atoms.push(other);
                }
            }
            if atoms.len() > hueckel::MOST_ATOMS {
                return None;
            }
        }
        let kinds: Vec<RingAtom> = atoms.iter().map(|&atom| RingAtom::of(facts, atom)).collect();
        let place = |atom: u32| atoms.iter().position(|&known| known == atom);
        let near: Vec<Vec<usize>> =
            atoms.iter().map(|&atom| aromatic_neighbours(facts, atom).filter_map(place).collect()).collect();
        let mut matrix = vec![vec![0.0; atoms.len()]; atoms.len()];
        for (here, others) in near.iter().enumerate() {
            let (energy, resonance, _) = kinds[here].parameters();
            matrix[here][here] = energy;
            for &there in others {
                matrix[here][there] = resonance.min(kinds[there].parameters().1);
            }
        }
        let groups: Vec<Vec<Effect>> =
            atoms.iter().zip(&kinds).map(|(&atom, &kind)| groups_on(facts, atom, kind)).collect();
        let mut system = Self {
            groups: groups.iter().map(Vec::len).collect(),
            effects: groups
                .into_iter()
                .zip(&kinds)
                .map(|(found, kind)| found.into_iter().chain(kind.effect()).collect())
                .collect(),
            atoms,
            kinds,
            near,
            matrix,
            energy: 0.0,
        };
        system.energy = hueckel::fill(system.matrix.clone(), system.electrons()).energy;
        Some(system)
    }

    /// Returns true for a ring of six carbons.
    pub fn is_benzene(&self) -> bool {
        self.atoms.len() == 6 && self.kinds.iter().all(|&kind| kind == RingAtom::Carbon)
    }

    /// Returns true if the atom is one of the system's.
    pub fn contains(&self, atom: u32) -> bool {
        self.atoms.contains(&atom)
    }

    /// Logarithm of the relative rate at which an electrophile replaces the hydrogen on a carbon of the system.
    pub fn value(&self, facts: &Facts, carbon: u32, electrophile: Electrophile) -> f64 {
        let Some(place) = self.atoms.iter().position(|&atom| atom == carbon) else {
            return f64::NEG_INFINITY;
        };
        let (localisation, charge) = self.cation(place);
        let far = self.distances(place);
        let mut value = own(Effect::Localisation, electrophile) * localisation;
        if facts.ring(carbon) == 5 {
            value += own(Effect::FiveRing, electrophile);
        }
        let mut beside = 0;
        for other in (0..self.atoms.len()).filter(|&other| other != place) {
            let relation = match far[other] {
                1 => Relation::Ortho,
                2 => Relation::Meta,
                _ => Relation::Far,
            };
            for &effect in &self.effects[other] {
                let weights = &WEIGHTS[effect as usize];
                value += weights[relation as usize] + weights[Relation::Charge as usize] * charge[other];
            }
            if far[other] == 1 {
                beside += self.groups[other];
                if self.near[other].len() == 3 {
                    value += own(Effect::Fusion, electrophile);
                    value +=
                        if self.is_peri(place, other, &far) { own(Effect::Peri, electrophile) } else { 0.0 };
                }
            }
        }
        value += own(Effect::AnyOrtho, electrophile) * beside as f64;
        if beside > 1 { value + own(Effect::Crowded, electrophile) } else { value }
    }

    fn electrons(&self) -> u32 {
        self.kinds.iter().map(|kind| kind.parameters().2).sum()
    }

    /// Localisation energy of a position, and the positive charge of each atom of its cation.
    fn cation(&self, place: usize) -> (f64, Vec<f64>) {
        let rest: Vec<usize> = (0..self.atoms.len()).filter(|&other| other != place).collect();
        let matrix = rest.iter().map(|&a| rest.iter().map(|&b| self.matrix[a][b]).collect()).collect();
        let Filled { energy, electrons } = hueckel::fill(matrix, self.electrons().saturating_sub(2));
        let mut charge = vec![0.0; self.atoms.len()];
        for (&other, electrons) in rest.iter().zip(electrons) {
            charge[other] = f64::from(self.kinds[other].parameters().2) - electrons;
        }
        (self.energy - energy, charge)
    }

    /// Number of aromatic bonds between a place and every other.
    fn distances(&self, place: usize) -> Vec<usize> {
        let mut far = vec![usize::MAX; self.atoms.len()];
        far[place] = 0;
        let mut open = vec![place];
        let mut next = 0;
        while let Some(&here) = open.get(next) {
            next += 1;
            for &there in &self.near[here] {
                if far[there] == usize::MAX {
                    far[there] = far[here] + 1;
                    open.push(there);
                }
            }
        }
        far
    }

    /// Returns true if the neighbour in the next ring, across a fusion, has a group.
    fn is_peri(&self, place: usize, fused: usize, far: &[usize]) -> bool {
        self.near[fused].iter().any(|&peri| {
            peri != place
                && far[peri] == 2
                && self.near[peri].len() == 2
                && self.kinds[peri] == RingAtom::Carbon
                && self.groups[peri] > 0
        })
    }
}

/// Weight of a property of the position, for all electrophiles and for this one.
fn own(effect: Effect, electrophile: Electrophile) -> f64 {
    let weights = &WEIGHTS[effect as usize];
    weights[Relation::All as usize] + weights[electrophile.relation() as usize]
}

fn aromatic_neighbours(facts: &Facts, atom: u32) -> impl Iterator<Item = u32> + '_ {
    facts.around(atom).iter().filter(|bond| bond.order == Order::Aromatic).map(|bond| bond.to)
}

/// Effects of the groups on an atom of a ring.
fn groups_on(facts: &Facts, atom: u32, kind: RingAtom) -> Vec<Effect> {
    let groups = facts.around(atom).iter().filter(|bond| bond.order != Order::Aromatic);
    groups
        .filter_map(|bond| group(facts, bond.to, atom))
        .map(|effect| match (kind, effect) {
            (RingAtom::Amine, Effect::Aryl | Effect::Azinyl) => Effect::ArylOnNitrogen,
            (RingAtom::Amine, Effect::Acyl | Effect::Carboxyl | Effect::Carboxamide) => {
                Effect::DrawingOnNitrogen
            }
            (RingAtom::Amine, Effect::Sulfonyl | Effect::Nitro | Effect::Cyano | Effect::Silyl) => {
                Effect::DrawingOnNitrogen
            }
            (RingAtom::Amine, _) => Effect::AlkylOnNitrogen,
            (_, effect) => effect,
        })
        .collect()
}

/// Effect of the group that begins at `atom` on the ring atom `ring`; `None` for a doubly bonded oxygen or sulfur.
fn group(facts: &Facts, atom: u32, ring: u32) -> Option<Effect> {
    Some(match facts.element(atom) {
        O if facts.at(atom).charge < 0 => Effect::Oxide,
        O | S if !facts.is_saturated(atom) && facts.oxo(atom) == 0 => return None,
        O if facts.hydrogens(atom) > 0 => Effect::Hydroxyl,
        O if facts.next_to(atom).any(|next| draws(facts, next)) => Effect::Acyloxy,
        O => Effect::Alkoxy,
        N => nitrogen_group(facts, atom, ring),
        S if facts.oxo(atom) > 0 => Effect::Sulfonyl,
        S => Effect::Thio,
        F => Effect::Fluoro,
        CL => Effect::Chloro,
        BR => Effect::Bromo,
        I => Effect::Iodo,
        C => carbon_group(facts, atom, ring),
        _ => Effect::Silyl,
    })
}

/// Returns true if an atom takes the electrons of a nitrogen or oxygen beside it.
fn draws(facts: &Facts, atom: u32) -> bool {
    match facts.element(atom) {
        C => {
            !facts.is_aromatic(atom)
                && facts
                    .around(atom)
                    .iter()
                    .any(|bond| bond.order != Order::Single && matches!(facts.element(bond.to), O | N | S))
        }
        S | P => facts.oxo(atom) > 0,
        _ => false,
    }
}

fn nitrogen_group(facts: &Facts, atom: u32, ring: u32) -> Effect {
    let others = || facts.next_to(atom).filter(|&next| next != ring);
    let is_cation = facts.at(atom).charge > 0;
    match others().filter(|&next| draws(facts, next)).count() {
        _ if is_cation && facts.oxo(atom) > 0 => Effect::Nitro,
        _ if facts.is_aromatic(atom) => Effect::Azolyl,
        _ if is_cation => Effect::Ammonium,
        _ if !facts.is_saturated(atom) => Effect::Imino,
        2.. => Effect::Imido,
        1 if others().any(|next| facts.element(next) == S) => Effect::Sulfonamido,
        1 => Effect::Acylamino,
        _ if others().any(|next| matches!(facts.element(next), N | O)) => Effect::Hydrazino,
        _ => match facts.hydrogens(atom) {
            2 => Effect::Amino,
            1 => Effect::Alkylamino,
            _ => Effect::Dialkylamino,
        },
    }
}

fn carbon_group(facts: &Facts, atom: u32, ring: u32) -> Effect {
    let others = || facts.around(atom).iter().filter(|bond| bond.to != ring);
    let single =
        |element| others().any(|bond| bond.order == Order::Single && facts.element(bond.to) == element);
    let is_azine = |atom: u32| facts.is_aromatic(atom) && RingAtom::of(facts, atom) == RingAtom::Nitrogen;
    if facts.is_aromatic(atom) {
        return if others().any(|bond| is_azine(bond.to)) { Effect::Azinyl } else { Effect::Aryl };
    }
    if others().filter(|bond| facts.element(bond.to) == F).count() > 1 {
        return Effect::Fluoroalkyl;
    }
    if facts.is_saturated(atom) {
        let is_drawn = others().any(|bond| matches!(facts.element(bond.to), O | N | S | F | CL | BR | I));
        return if is_drawn { Effect::DrawnAlkyl } else { Effect::Alkyl };
    }
    match () {
        () if facts.is_cyano(atom) => Effect::Cyano,
        () if !draws(facts, atom) => Effect::Vinyl,
        () if single(O) => Effect::Carboxyl,
        () if single(N) => Effect::Carboxamide,
        () => Effect::Acyl,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Aromatic C–H of a molecule with the best value; the SMILES must be canonical.
    fn fastest(smiles: &str, electrophile: Electrophile) -> u32 {
        let facts = Facts::of(&smiles.parse().unwrap());
        let value = |atom: u32| {
            RingSystem::of(&facts, atom)
                .map_or(f64::NEG_INFINITY, |system| system.value(&facts, atom, electrophile))
        };
        let free = |&atom: &u32| facts.is_aromatic_carbon(atom) && facts.hydrogens(atom) > 0;
        (0..facts.atoms() as u32).filter(free).max_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap()
    }

    #[test]
    fn the_table_has_the_weight_of_the_localisation_energy() {
        assert!(own(Effect::Localisation, Electrophile::Bromine) < -1.0);
    }

    #[test]
    fn textbook_positions_are_the_fastest() {
        assert_eq!(fastest("Cc1ccccc1", Electrophile::Acylation), 4);
        assert_eq!(fastest("c1cnn2ccnc2c1", Electrophile::Iodine), 4);
        assert_eq!(fastest("Cn1ccc2ccccc21", Electrophile::Bromine), 3);
    }
}
