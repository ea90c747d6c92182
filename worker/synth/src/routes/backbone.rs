//! Backbones: how a route takes the target apart, regardless of functional-group handles.
//!
//! Every molecule of a route covers the target atoms that end up in it, by the atom maps of the steps. The backbone
//! is the tree of these sets. A molecule that covers no atom (a protecting group's reagent) is not a node of the
//! tree. A step that leaves one precursor with exactly the product's atoms (a protection, an interconversion of
//! functional groups, an acid made from its ester) is not a level of it. So routes that differ only in handles share
//! a backbone. Their number of steps still distinguishes them; it is not part of the backbone.
//!
//! The key must be the same for routes that differ only by a symmetry of the target. It is a hash of the target's
//! skeleton with the tree attached, by colour refinement (Weisfeiler and Leman, 1968), which no renumbering of the
//! atoms can change.

use std::rc::Rc;

use chem::{Molecule, SmilesSkeleton, Structure};
use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::nodes::{MoleculeId, ReactionId};
use crate::routes::choices::RouteChoices;
use crate::routes::hash::{mix, stable};

/// Marker of an atom that is not in the target.
const NO_ATOM: u16 = u16::MAX;
/// Rounds of refinement with the tree. Distances that a tree of few nodes leaves undecided are shorter. The value is
/// constant because the key must never change.
const ROUNDS: usize = 16;

/// The tree of covered target atoms.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackboneTree {
    /// Covered target atoms, ascending.
    covered: Vec<u16>,
    /// Subtrees, ascending.
    children: Vec<Self>,
}

impl BackboneTree {
    /// Returns the backbone of a route; `atoms` is the number of atoms of the target.
    pub fn of(graph: &Graph, choices: &RouteChoices, atoms: usize, orders: &mut PrecursorAtomOrders) -> Self {
        let whole: Vec<u16> = (0..).take(atoms).collect();
        Self::subtree(graph, choices, graph.target(), &whole, orders)
            .unwrap_or(Self { covered: Vec::new(), children: Vec::new() })
    }

    /// Returns the tree of `molecule`; `None` if it covers no target atom. Its atoms, in the order of its expansion,
    /// are the target's atoms `map`.
    fn subtree(
        graph: &Graph,
        choices: &RouteChoices,
        molecule: MoleculeId,
        map: &[u16],
        orders: &mut PrecursorAtomOrders,
    ) -> Option<Self> {
        let mut covered: Vec<u16> = map.iter().copied().filter(|&atom| atom != NO_ATOM).collect();
        if covered.is_empty() {
            return None;
        }
        covered.sort_unstable();
        covered.dedup();
        let Some(reaction) = choices.reaction(graph, molecule) else {
            return Some(Self { covered, children: Vec::new() });
        };
        let precursors = &graph.reaction(reaction).precursors;
        let mut children: Vec<Self> = (0..precursors.len())
            .filter_map(|at| {
                let sources = orders.sources(graph, reaction, at);
                let of_target = |&source: &u16| map.get(usize::from(source)).copied().unwrap_or(NO_ATOM);
                let map: Vec<u16> = sources.iter().map(of_target).collect();
                Self::subtree(graph, choices, precursors[at], &map, orders)
            })
            .collect();
        children.sort_unstable();
        match children.as_slice() {
            [only] if only.covered == covered => children.pop(),
            _ => Some(Self { covered, children }),
        }
    }
}

impl BackboneTree {
    /// Leaves, in the order of the tree.
    fn leaves(&self) -> Vec<&Self> {
        match self.children.is_empty() {
            true => vec![self],
            false => self.children.iter().flat_map(Self::leaves).collect(),
        }
    }
}

/// Origins of precursor atoms, in the atom order of the precursor's own expansion.
///
/// A template numbers a precursor's atoms in its own way, and the precursor's expansion has its own order. Matching
/// the two takes microseconds and is done once.
#[derive(Default)]
pub struct PrecursorAtomOrders {
    known: FxHashMap<(ReactionId, usize, usize), Rc<[u16]>>,
}

impl PrecursorAtomOrders {
    /// Returns, for each atom of precursor number `at` of `reaction`, the product atom that it comes from, or
    /// [`NO_ATOM`].
    fn sources(&mut self, graph: &Graph, reaction: ReactionId, at: usize) -> Rc<[u16]> {
        let node = graph.reaction(reaction);
        let key = (reaction, node.current, at);
        Rc::clone(self.known.entry(key).or_insert_with(|| {
            let found = &node.proposal().outcome.precursors[at];
            let atom =
                |source: Option<u32>| source.and_then(|atom| u16::try_from(atom).ok()).unwrap_or(NO_ATOM);
            let in_its_order: Vec<u16> = found.sources.iter().map(|&source| atom(source)).collect();
            // A bought molecule has no expansion, and its atom order does not matter.
            let order = graph
                .molecule(node.precursors[at])
                .expansion
                .as_ref()
                .and_then(|expansion| found.molecule.correspondence(expansion.molecule()));
            match order {
                Some(order) => order.iter().map(|&atom| in_its_order[atom as usize]).collect(),
                None => in_its_order.into(),
            }
        }))
    }
}

/// Computes the keys of the backbones of one target.
pub struct BackboneKeys {
    smiles: String,
    /// Hash of the canonical SMILES.
    target: u64,
    /// Colour of each atom, refined without a tree.
    colours: Vec<u64>,
    bonds: Vec<BackboneBond>,
    known: FxHashMap<BackboneTree, String>,
}

/// Bond of the target's skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BackboneBond {
    atoms: (usize, usize),
    kind: u64,
}

impl BackboneKeys {
    /// Prepares the keys of the target with this canonical SMILES.
    pub fn new(smiles: &str) -> Self {
        let (mut colours, bonds) = skeleton(smiles);
        for _ in 0..colours.len() {
            colours = refine(&colours, &bonds);
        }
        let target = stable(smiles.as_bytes());
        Self { smiles: smiles.to_owned(), target, colours, bonds, known: FxHashMap::default() }
    }

    /// Number of atoms of the target.
    pub fn atoms(&self) -> usize {
        self.colours.len()
    }

    /// Returns the key: `b` and 16 hexadecimal digits.
    pub fn key(&mut self, tree: &BackboneTree) -> String {
        if let Some(known) = self.known.get(tree) {
            return known.clone();
        }
        let key = format!("b{:016x}", self.hash(tree));
        self.known.insert(tree.clone(), key.clone());
        key
    }

    /// Returns the target's SMILES with each atom numbered by the leaf of the tree that covers it, in the order of
    /// the leaves. An atom outside all leaves has no number.
    pub fn skeleton(&self, tree: &BackboneTree) -> String {
        let mut fragments = vec![None; self.atoms()];
        for (leaf, number) in tree.leaves().into_iter().zip(1..) {
            for &atom in &leaf.covered {
                fragments.get_mut(usize::from(atom)).map(|fragment| fragment.get_or_insert(number));
            }
        }
        numbered(&self.smiles, &fragments)
    }

    /// Refines the skeleton with one more vertex per tree node, tied to its covered atoms and its parent, and sums
    /// all colours.
    fn hash(&self, tree: &BackboneTree) -> u64 {
        const NODE: u64 = 0x6e6f_6465;
        const COVERS: u64 = 0x6174_6f6d;
        const PARENT: u64 = 0x7061_7265;
        let mut colours = self.colours.clone();
        let mut bonds = self.bonds.clone();
        let mut stack = vec![(tree, None, NODE)];
        while let Some((node, parent, depth)) = stack.pop() {
            let vertex = colours.len();
            colours.push(mix(depth));
            let covers = node
                .covered
                .iter()
                .map(|&atom| BackboneBond { atoms: (usize::from(atom), vertex), kind: COVERS });
            bonds.extend(covers.filter(|bond| bond.atoms.0 < self.atoms()));
            bonds.extend(parent.map(|parent| BackboneBond { atoms: (parent, vertex), kind: PARENT }));
            stack.extend(node.children.iter().map(|child| (child, Some(vertex), depth + 1)));
        }
        for _ in 0..ROUNDS {
            colours = refine(&colours, &bonds);
        }
        let sum = colours.iter().fold(0_u64, |sum, &colour| sum.wrapping_add(mix(colour)));
        mix(self.target ^ mix(sum))
    }
}

/// Runs one round: every vertex takes in the colours around it, independent of their order.
fn refine(colours: &[u64], bonds: &[BackboneBond]) -> Vec<u64> {
    let mut around = vec![0_u64; colours.len()];
    for bond in bonds {
        let (a, b) = bond.atoms;
        around[a] = around[a].wrapping_add(mix(colours[b] ^ mix(bond.kind)));
        around[b] = around[b].wrapping_add(mix(colours[a] ^ mix(bond.kind)));
    }
    colours.iter().zip(around).map(|(&colour, around)| mix(colour.rotate_left(17) ^ mix(around))).collect()
}

/// Returns atom colours and bonds of a canonical SMILES. Stereo marks are left out because they depend on the order
/// of atoms.
fn skeleton(smiles: &str) -> (Vec<u64>, Vec<BackboneBond>) {
    let written = SmilesSkeleton::read(smiles);
    let kind = |mark| match mark {
        None | Some(b'-' | b'/' | b'\\') => 0,
        // The direction of a dative-bond arrow depends on the order of atoms.
        Some(b'<') => u64::from(b'>'),
        Some(mark) => u64::from(mark),
    };
    let bonds = written.bonds.iter().map(|bond| BackboneBond { atoms: bond.atoms, kind: kind(bond.mark) });
    (written.atoms.iter().map(|atom| stable(without_stereo(atom).as_bytes())).collect(), bonds.collect())
}

/// Returns a canonical SMILES with these numbers as its atom map.
fn numbered(smiles: &str, numbers: &[Option<u32>]) -> String {
    // Our parser reads everything that our canonicaliser writes.
    let structure = Molecule::trusted(smiles).map_or_else(|_| Structure::default(), |it| Structure::of(&it));
    let mut numbered = String::with_capacity(4 * smiles.len());
    let mut done = 0;
    for (at, text) in (0_u32..).zip(SmilesSkeleton::read(smiles).atoms) {
        let Some(number) = numbers.get(at as usize).copied().flatten() else { continue };
        let start = text.as_ptr().addr() - smiles.as_ptr().addr();
        numbered.push_str(&smiles[done..start]);
        done = start + text.len();
        if smiles[..start].ends_with('[') {
            numbered.push_str(&format!("{text}:{number}"));
            continue;
        }
        let hydrogens = if (at as usize) < structure.len() { structure.atom(at).hydrogens } else { 0 };
        let hydrogens = match hydrogens {
            0 => String::new(),
            1 => "H".to_owned(),
            count => format!("H{count}"),
        };
        numbered.push_str(&format!("[{text}{hydrogens}:{number}]"));
    }
    numbered + &smiles[done..]
}

/// Atom text without stereo marks. Its hydrogens are dropped as well, since `[C@H]` and `C` may be equivalent by
/// symmetry.
fn without_stereo(atom: &str) -> String {
    match atom.split_once('@') {
        Some((before, after)) => {
            let after = after.trim_start_matches('@');
            let end = after.find('H').unwrap_or(after.len());
            format!("{before}{}", &after[..end])
        }
        None => atom.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(covered: &[u16]) -> BackboneTree {
        BackboneTree { covered: covered.to_vec(), children: Vec::new() }
    }

    fn cut(atoms: u16, parts: &[&[u16]]) -> BackboneTree {
        BackboneTree {
            covered: (0..atoms).collect(),
            children: parts.iter().map(|part| leaf(part)).collect(),
        }
    }

    #[test]
    fn a_skeleton_has_the_bonds_of_the_molecule() {
        let (colours, bonds) = skeleton("C[C@H]1CC=C(Br)%10CC%10C1");

        let pairs: Vec<_> = bonds.iter().map(|bond| bond.atoms).collect();
        assert_eq!(colours.len(), 9);
        assert_eq!(pairs, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (4, 6), (6, 7), (4, 7), (7, 8), (1, 8)]);
        assert_eq!(bonds[3].kind, u64::from(b'='));
        assert_eq!(colours[0], colours[1]);
    }

    #[test]
    fn a_dative_bond_is_a_bond_whichever_end_is_written_first() {
        let (there, back) = (skeleton("N->[Cu]"), skeleton("[Cu]<-N"));

        assert_eq!((there.0.len(), there.1.len()), (2, 1));
        assert_eq!(there.1[0].kind, back.1[0].kind);
    }

    #[test]
    fn cuts_that_a_symmetry_of_the_target_maps_onto_each_other_have_one_key() {
        let mut keys = BackboneKeys::new("CCNC(=O)NCC");

        let left = keys.key(&cut(8, &[&[0, 1, 2], &[3, 4, 5, 6, 7]]));
        let right = keys.key(&cut(8, &[&[0, 1, 2, 3, 4], &[5, 6, 7]]));
        let other = keys.key(&cut(8, &[&[0, 1], &[2, 3, 4, 5, 6, 7]]));

        assert_eq!(left, right);
        assert_ne!(left, other);
        assert_eq!(left.len(), 17);
    }

    #[test]
    fn the_order_of_cuts_is_part_of_the_backbone() {
        let mut keys = BackboneKeys::new("CCOCN");
        let nested = |inner: BackboneTree, rest: BackboneTree| BackboneTree {
            covered: vec![0, 1, 2, 3, 4],
            children: vec![inner, rest],
        };
        let inner = |parts: &[&[u16]], covered: &[u16]| BackboneTree {
            covered: covered.to_vec(),
            children: parts.iter().map(|part| leaf(part)).collect(),
        };

        let one = keys.key(&nested(inner(&[&[0, 1], &[2, 3]], &[0, 1, 2, 3]), leaf(&[4])));
        let other = keys.key(&nested(leaf(&[0, 1]), inner(&[&[2, 3], &[4]], &[2, 3, 4])));

        assert_ne!(one, other);
    }

    #[test]
    fn a_skeleton_is_the_target_numbered_by_the_fragments_of_its_backbone() {
        let keys = BackboneKeys::new("C[C@@H](N)C(=O)Nc1ccccc1");
        let rest: Vec<u16> = (5..12).collect();

        let cut_once = keys.skeleton(&cut(12, &[&[0, 1, 2, 3, 4], &rest]));

        assert_eq!(
            cut_once,
            "[CH3:1][C@@H:1]([NH2:1])[C:1](=[O:1])[NH:2][c:2]1[cH:2][cH:2][cH:2][cH:2][cH:2]1"
        );
        assert_eq!(keys.skeleton(&cut(12, &[&[0, 1], &rest])).matches(":1]").count(), 2);
        assert_eq!(BackboneKeys::new("CC[O-]").skeleton(&leaf(&[0, 1, 2])), "[CH3:1][CH2:1][O-:1]");
    }

    #[test]
    fn a_key_is_what_it_was_in_every_earlier_version() {
        let key = BackboneKeys::new("CC(=O)NC").key(&cut(5, &[&[0, 1, 2], &[3, 4]]));

        assert_eq!(key, "b28985ef2e6f18417");
    }
}
