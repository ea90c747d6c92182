//! Conditions on an atom, numbered so that patterns share them.

use std::collections::HashMap;

use chematic::core::Element;
use chematic::smarts::{AtomPrimitive, AtomQuery, BondPrimitive, BondQuery};

use super::target::{AROMATIC, DOUBLE, RING, SINGLE, TRIPLE};

/// Error of a pattern that conditions do not express: hybridisation, counts of heteroatoms, more than 64 atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the pattern has a condition that only the general matcher knows")]
pub(crate) struct Unsupported;

/// Number of a condition in its library.
pub(crate) type ConditionId = u32;

/// A condition on an atom. Parts of a condition have lower numbers than the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Condition {
    Any,
    Element(u8),
    Aromatic,
    Charge(i8),
    Hydrogens(u8),
    /// Number of neighbours that are atoms of the graph.
    Degree(u8),
    /// Number of neighbours, hydrogens included.
    Neighbours(u8),
    Valence(u8),
    /// Number of rings through the atom.
    Rings(u8),
    /// Size of the smallest ring through the atom.
    SmallestRing(u8),
    /// Number of ring bonds.
    RingBonds(u8),
    Isotope(u16),
    And(ConditionId, ConditionId),
    Or(ConditionId, ConditionId),
    Not(ConditionId),
    /// The first atom of this pattern of the library.
    Root(u32),
    /// An atom that meets the first condition, bonded by one of these bonds to one that meets the second.
    Bonded(ConditionId, u8, ConditionId),
}

/// The conditions of a library, each once.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    pub all: Vec<Condition>,
    /// Estimated share of atoms that meet each condition.
    pub shares: Vec<f32>,
    known: HashMap<Condition, ConditionId>,
}

impl Conditions {
    /// Returns the number of a condition.
    pub fn number(&mut self, condition: Condition) -> ConditionId {
        if let Some(&known) = self.known.get(&condition) {
            return known;
        }
        let id = self.all.len() as ConditionId;
        self.shares.push(self.share(condition));
        self.all.push(condition);
        self.known.insert(condition, id);
        id
    }

    /// Returns the number of the condition that `query` states. `root` numbers the pattern of a recursion.
    pub fn of_query(
        &mut self,
        query: &AtomQuery,
        roots: &mut dyn Iterator<Item = u32>,
    ) -> Result<ConditionId, Unsupported> {
        let condition = match query {
            AtomQuery::Primitive(AtomPrimitive::Recursive(_)) => {
                Condition::Root(roots.next().ok_or(Unsupported)?)
            }
            AtomQuery::Primitive(primitive) => return self.of_primitive(primitive),
            AtomQuery::And(a, b) => Condition::And(self.of_query(a, roots)?, self.of_query(b, roots)?),
            AtomQuery::Or(a, b) => Condition::Or(self.of_query(a, roots)?, self.of_query(b, roots)?),
            AtomQuery::Not(a) => Condition::Not(self.of_query(a, roots)?),
        };
        Ok(self.number(condition))
    }

    fn of_primitive(&mut self, primitive: &AtomPrimitive) -> Result<ConditionId, Unsupported> {
        let condition = match primitive {
            AtomPrimitive::AtomicNum(number) => Condition::Element(*number),
            AtomPrimitive::Symbol(symbol) => {
                Condition::Element(Element::from_symbol(symbol).ok_or(Unsupported)?.atomic_number())
            }
            AtomPrimitive::Aromatic(true) => Condition::Aromatic,
            AtomPrimitive::Aromatic(false) => {
                let aromatic = self.number(Condition::Aromatic);
                Condition::Not(aromatic)
            }
            AtomPrimitive::Charge(charge) => Condition::Charge(*charge),
            AtomPrimitive::HCount(count) | AtomPrimitive::ImplicitHCount(count) => {
                Condition::Hydrogens(*count)
            }
            AtomPrimitive::Degree(count) | AtomPrimitive::HeavyDegree(count) => Condition::Degree(*count),
            AtomPrimitive::TotalConnectivity(count) => Condition::Neighbours(*count),
            AtomPrimitive::Valence(valence) => Condition::Valence(*valence),
            AtomPrimitive::RingMembership(false) => Condition::Rings(0),
            AtomPrimitive::RingMembership(true) => {
                let acyclic = self.number(Condition::Rings(0));
                Condition::Not(acyclic)
            }
            AtomPrimitive::RingCount(count) => Condition::Rings(*count),
            AtomPrimitive::MinRingSize(size) => Condition::SmallestRing(*size),
            AtomPrimitive::RingBondCount(count) => Condition::RingBonds(*count),
            AtomPrimitive::Isotope(mass) => Condition::Isotope(*mass),
            AtomPrimitive::Wildcard | AtomPrimitive::Chirality(_) => Condition::Any,
            _ => return Err(Unsupported),
        };
        Ok(self.number(condition))
    }

    /// Estimates the share of atoms of drug-like molecules that meet a condition. It orders searches, no more.
    fn share(&self, condition: Condition) -> f32 {
        let of = |id: ConditionId| self.shares[id as usize];
        match condition {
            Condition::Any | Condition::Charge(0) | Condition::Isotope(0) => 1.0,
            Condition::Element(6) => 0.75,
            Condition::Element(7 | 8) => 0.12,
            Condition::Element(16) => 0.02,
            Condition::Element(_) | Condition::Charge(_) => 0.01,
            Condition::Isotope(_) => 0.001,
            Condition::Aromatic | Condition::Hydrogens(0) | Condition::Neighbours(3) => 0.5,
            Condition::Hydrogens(_) | Condition::Degree(_) | Condition::Neighbours(_) => 0.25,
            Condition::Valence(_) | Condition::Rings(_) | Condition::RingBonds(_) => 0.4,
            Condition::SmallestRing(5 | 6) => 0.4,
            Condition::SmallestRing(_) => 0.03,
            Condition::And(a, b) => of(a) * of(b),
            Condition::Or(a, b) => (of(a) + of(b)).min(1.0),
            Condition::Not(a) => 1.0 - of(a),
            Condition::Root(_) => 0.2,
            Condition::Bonded(a, ..) => of(a) * 0.5,
        }
    }
}

/// Returns the kinds of bond that a query allows.
pub(super) fn bonds(query: &BondQuery) -> u8 {
    match query {
        BondQuery::Any => SINGLE | AROMATIC,
        BondQuery::Primitive(primitive) => match primitive {
            BondPrimitive::Single => SINGLE,
            BondPrimitive::Double => DOUBLE,
            BondPrimitive::Triple => TRIPLE,
            BondPrimitive::Aromatic => AROMATIC,
            // RDKit treats them as the default bond, as if no bond were written.
            BondPrimitive::Up | BondPrimitive::Down => SINGLE | AROMATIC,
            BondPrimitive::Any => u8::MAX,
            BondPrimitive::Ring => RING,
            // A `PatternTarget` has none.
            BondPrimitive::Quadruple | BondPrimitive::DativeForward | BondPrimitive::DativeBackward => 0,
        },
        BondQuery::And(a, b) => bonds(a) & bonds(b),
        BondQuery::Or(a, b) => bonds(a) | bonds(b),
        BondQuery::Not(a) => !bonds(a),
    }
}
