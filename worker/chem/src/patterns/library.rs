//! Patterns that share conditions.

use std::collections::HashMap;

use chematic::smarts::{AtomPrimitive, AtomQuery, QueryMolecule};

use super::condition::{Condition, ConditionId, Conditions, Unsupported, bonds};

/// Maximum number of atoms of a pattern.
pub(super) const MAX_PATTERN: usize = 64;

/// Patterns, and the conditions on their atoms.
#[derive(Debug, Default)]
pub(crate) struct PatternLibrary {
    pub(super) conditions: Conditions,
    pub(super) patterns: Vec<SetPattern>,
    /// Number of each pattern, by its parsed form.
    known: HashMap<String, PatternId>,
}

/// Number of a pattern in its library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatternId(pub(super) u32);

/// A pattern of a library.
#[derive(Debug)]
pub(super) struct SetPattern {
    /// For each atom, what it must be by itself, then that and what it must be bonded to.
    pub atoms: Vec<Vec<ConditionId>>,
    /// Order in which all atoms are placed, the rarest first.
    pub anywhere: Vec<Step>,
    /// The same, starting with the first atom.
    pub from_root: Vec<Step>,
}

/// An atom of a pattern, placed after those that it is attached to.
#[derive(Debug)]
pub(super) struct Step {
    pub atom: u8,
    /// Earlier step to which the atom is bonded, and the allowed bonds; `None` at the start of a component.
    pub parent: Option<(u8, u8)>,
    /// Further earlier steps to which it is bonded, and the allowed bonds.
    pub closures: Vec<(u8, u8)>,
}

impl PatternLibrary {
    /// Adds a pattern, or finds it if it is there already.
    ///
    /// # Errors
    /// Fails if conditions cannot express the pattern.
    pub fn add(&mut self, query: &QueryMolecule) -> Result<PatternId, Unsupported> {
        if query.atoms.is_empty() || query.atoms.len() > MAX_PATTERN {
            return Err(Unsupported);
        }
        let form = format!("{query:?}");
        if let Some(&known) = self.known.get(&form) {
            return Ok(known);
        }
        let mut own = Vec::with_capacity(query.atoms.len());
        for atom in &query.atoms {
            let mut inner = Vec::new();
            recursions(&atom.query, &mut inner);
            let roots: Vec<u32> =
                inner.into_iter().map(|query| self.add(query).map(|id| id.0)).collect::<Result<_, _>>()?;
            own.push(self.conditions.of_query(&atom.query, &mut roots.into_iter())?);
        }
        let allowed: Vec<u8> = query.bonds.iter().map(|bond| bonds(&bond.query)).collect();
        let atoms: Vec<Vec<ConditionId>> = (0..own.len())
            .map(|atom| {
                let mut conditions: Vec<ConditionId> = query.adj[atom]
                    .iter()
                    .map(|&(bond, to)| {
                        self.conditions.number(Condition::Bonded(own[atom], allowed[bond], own[to]))
                    })
                    .collect();
                conditions.sort_unstable();
                conditions.dedup();
                conditions.insert(0, own[atom]);
                conditions
            })
            .collect();
        let shares: Vec<f32> =
            own.iter().map(|&condition| self.conditions.shares[condition as usize]).collect();
        let pattern = SetPattern {
            anywhere: plan(query, &allowed, &shares, None),
            from_root: plan(query, &allowed, &shares, Some(0)),
            atoms,
        };
        let id = PatternId(self.patterns.len() as u32);
        self.patterns.push(pattern);
        self.known.insert(form, id);
        Ok(id)
    }
}

/// Collects the patterns of recursions, in the order of the text.
fn recursions<'a>(query: &'a AtomQuery, found: &mut Vec<&'a QueryMolecule>) {
    match query {
        AtomQuery::Primitive(AtomPrimitive::Recursive(inner)) => found.push(inner),
        AtomQuery::Primitive(_) => {}
        AtomQuery::And(a, b) | AtomQuery::Or(a, b) => {
            recursions(a, found);
            recursions(b, found);
        }
        AtomQuery::Not(a) => recursions(a, found),
    }
}

/// Orders the atoms: `first`, then always the rarest of those bonded to a placed one, or else of all.
fn plan(query: &QueryMolecule, allowed: &[u8], shares: &[f32], first: Option<usize>) -> Vec<Step> {
    let mut place: Vec<Option<u8>> = vec![None; shares.len()];
    let mut steps = Vec::with_capacity(shares.len());
    while steps.len() < shares.len() {
        let is_bonded = |atom: usize| query.adj[atom].iter().any(|&(_, to)| place[to].is_some());
        let next = first.filter(|_| steps.is_empty()).or_else(|| {
            (0..shares.len())
                .filter(|&atom| place[atom].is_none())
                .min_by(|&a, &b| is_bonded(b).cmp(&is_bonded(a)).then(shares[a].total_cmp(&shares[b])))
        });
        let Some(atom) = next else { break };
        let mut earlier = query.adj[atom].iter().filter_map(|&(bond, to)| Some((place[to]?, allowed[bond])));
        let parent = earlier.next();
        let closures = earlier.collect();
        // Patterns have at most 64 atoms.
        place[atom] = Some(steps.len() as u8);
        steps.push(Step { atom: atom as u8, parent, closures });
    }
    steps
}
