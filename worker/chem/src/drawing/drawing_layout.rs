//! Layout of a drawing: positions of atoms, double bonds and wedges.
//!
//! Positions are chematic's. Its layout ignores the configuration of double bonds and draws no stereocentres, so that
//! is done here. The smaller side of a wrongly drawn double bond is reflected. Every centre gets a wedge whose
//! direction follows from the positions of its neighbours (IUPAC 2006, "Graphical representation of stereochemical
//! configuration").

use std::collections::{HashMap, HashSet};

use chematic::core::{
    AtomIdx, BondIdx, BondOrder, Chirality, Molecule as Graph, ez_markers::read_ez_facts, kekulize,
};
use chematic_depict::{Layout, compute_layout, layout::relieve_layout_clashes};

/// Stands for a neighbour that is not an atom of the graph: a hydrogen or a lone pair.
const UNSEEN: u32 = u32::MAX;
/// Minimum volume for which the arrangement of a centre's neighbours is clear.
const MIN_VOLUME: f64 = 0.2;

/// Layout of a drawing.
pub(super) struct DrawingLayout {
    pub(super) graph: Graph,
    /// Position of each atom; y grows downwards.
    pub(super) points: Vec<Point>,
    /// Number of lines of each bond.
    pub(super) lines: Vec<u8>,
    pub(super) wedges: HashMap<BondIdx, Wedge>,
    /// Atoms of each ring in the smallest set of smallest rings.
    pub(super) rings: Vec<Vec<AtomIdx>>,
}

/// Position in the plane, or a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Bond drawn as a wedge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wedge {
    /// Stereocentre at the narrow end.
    pub(super) from: AtomIdx,
    pub(super) side: Side,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Towards the viewer.
    Front,
    Back,
}

impl Point {
    pub(super) fn minus(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y }
    }

    /// Moves the point by `share` times `direction`.
    pub(super) fn along(self, direction: Self, share: f64) -> Self {
        Self { x: self.x + share * direction.x, y: self.y + share * direction.y }
    }

    pub(super) fn length(self) -> f64 {
        self.x.hypot(self.y)
    }

    /// Scales to length 1.
    pub(super) fn unit(self) -> Self {
        let length = self.length().max(f64::MIN_POSITIVE);
        Self { x: self.x / length, y: self.y / length }
    }

    /// Rotates by a quarter turn.
    pub(super) fn across(self) -> Self {
        Self { x: -self.y, y: self.x }
    }

    pub(super) fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y
    }

    fn turned(self, angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { x: self.x * cos - self.y * sin, y: self.x * sin + self.y * cos }
    }
}

impl DrawingLayout {
    /// Computes the layout for a box that is `ratio` times as wide as high.
    pub(super) fn new(graph: Graph, ratio: f64) -> Self {
        let mut layout = compute_layout(&graph);
        configure_double_bonds(&graph, &mut layout);
        let points: Vec<_> = layout.coords.iter().map(|point| Point { x: point.x, y: point.y }).collect();
        let rings: Vec<Vec<AtomIdx>> = chematic::perception::find_sssr(&graph).rings().to_vec();
        let double = kekulize(&graph).unwrap_or_default();
        let lines = graph.bonds().map(|(n, bond)| match double.get(&n).unwrap_or(&bond.order) {
            BondOrder::Double | BondOrder::Aromatic => 2,
            BondOrder::Triple => 3,
            _ => 1,
        });
        let lines = lines.collect();
        let mut plan =
            Self { graph, points: turned_to_fit(&points, ratio), lines, wedges: HashMap::new(), rings };
        plan.wedge_centres();
        plan
    }

    pub(super) fn at(&self, atom: AtomIdx) -> Point {
        self.points[atom.0 as usize]
    }

    /// Returns minimum x, maximum x, minimum y, maximum y.
    pub(super) fn bounds(&self) -> [f64; 4] {
        bounds(&self.points)
    }

    fn wedge_centres(&mut self) {
        let centres: Vec<AtomIdx> =
            self.graph.atoms().filter(|(_, atom)| atom.chirality.is_tetrahedral()).map(|(n, _)| n).collect();
        for &centre in &centres {
            let mut bonds: Vec<(AtomIdx, BondIdx)> = self
                .graph
                .neighbors(centre)
                .filter(|(_, bond)| self.lines[bond.0 as usize] == 1 && !self.wedges.contains_key(bond))
                .collect();
            bonds.sort_by_key(|(neighbour, bond)| {
                let in_ring =
                    self.rings.iter().any(|ring| ring.contains(neighbour) && ring.contains(&centre));
                (centres.contains(neighbour), in_ring, self.graph.degree(*neighbour), bond.0)
            });
            let wedge =
                bonds.into_iter().find_map(|(neighbour, bond)| Some((bond, self.side(centre, neighbour)?)));
            if let Some((bond, side)) = wedge {
                self.wedges.insert(bond, Wedge { from: centre, side });
            }
        }
    }

    /// Returns the side of the plane on which `raised` must be for the centre to have its configuration.
    fn side(&self, centre: AtomIdx, raised: AtomIdx) -> Option<Side> {
        let mut order = self.graph.stereo_neighbor_order(centre)?.to_vec();
        if order.len() == 3 {
            // The view is from the lone pair (OpenSMILES, "Tetrahedral Centers"), which comes first like an implicit
            // hydrogen.
            order.insert(0, UNSEEN);
        }
        let seen = |neighbour: u32| {
            let flat = self.at(AtomIdx(neighbour)).minus(self.at(centre)).unit();
            // On a page, y grows downwards.
            [flat.x, -flat.y, if neighbour == raised.0 { 1.0 } else { 0.0 }]
        };
        let mut sum = [0.0; 3];
        for neighbour in order.iter().filter(|neighbour| **neighbour != UNSEEN) {
            for (sum, part) in sum.iter_mut().zip(seen(*neighbour)) {
                *sum -= part;
            }
        }
        let place = |neighbour: u32| if neighbour == UNSEEN { sum } else { seen(neighbour) };
        let [first, a, b, c] = <[u32; 4]>::try_from(order).ok()?.map(place);
        // Seen from the first neighbour, `@` means that a, b, c run counterclockwise: their normal points at the
        // viewer.
        let normals = [cross(a, b), cross(b, c), cross(c, a)];
        let volume: f64 =
            (0..3).map(|n| normals.iter().map(|normal| normal[n]).sum::<f64>() * first[n]).sum();
        if volume.abs() < MIN_VOLUME {
            return None;
        }
        let is_right = (volume > 0.0) == (self.graph.atom(centre).chirality == Chirality::CounterClockwise);
        Some(if is_right { Side::Front } else { Side::Back })
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn bounds(points: &[Point]) -> [f64; 4] {
    let none = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY];
    points.iter().fold(none, |[left, right, top, bottom], point| {
        [left.min(point.x), right.max(point.x), top.min(point.y), bottom.max(point.y)]
    })
}

/// Rotates by the multiple of 30° at which the drawing can be largest.
fn turned_to_fit(points: &[Point], ratio: f64) -> Vec<Point> {
    let turned = |n: u32| -> Vec<Point> {
        points.iter().map(|point| point.turned(f64::from(n) * std::f64::consts::PI / 6.0)).collect()
    };
    let extent = |points: &[Point]| {
        let [left, right, top, bottom] = bounds(points);
        ((right - left) / ratio).max(bottom - top)
    };
    // Prefers no rotation unless another angle is clearly better.
    let worth = |n: u32| extent(&turned(n)) * if n == 0 { 0.95 } else { 1.0 };
    turned((0..6).min_by(|a, b| worth(*a).total_cmp(&worth(*b))).unwrap_or(0))
}

/// Reflects the smaller side of every double bond outside rings that is drawn in the wrong configuration.
fn configure_double_bonds(graph: &Graph, layout: &mut Layout) {
    let Some((facts, _)) = read_ez_facts(graph) else { return };
    let mut reflected = false;
    for fact in facts {
        let [one, other] = fact.ends;
        let points: Vec<_> = layout.coords.iter().map(|point| Point { x: point.x, y: point.y }).collect();
        let place = |atom: AtomIdx| points[atom.0 as usize];
        let (origin, axis) = (place(one.atom), place(other.atom).minus(place(one.atom)).unit());
        let height = |atom: AtomIdx| place(atom).minus(origin).dot(axis.across());
        let reference =
            |end: &chematic::core::ez_markers::EzFactEnd| graph.bond(end.reference).other(end.atom);
        let (Some(first), Some(second)) = (reference(&one), reference(&other)) else { continue };
        if (height(first) * height(second) > 0.0) == (one.up == other.up) {
            continue;
        }
        let sides = [side_of(graph, one.atom, other.atom), side_of(graph, other.atom, one.atom)];
        let Some(side) = sides.into_iter().flatten().min_by_key(HashSet::len) else { continue };
        for atom in side {
            let (point, height) = (place(atom), height(atom));
            let mirrored = point.along(axis.across(), -2.0 * height);
            layout.coords[atom.0 as usize] = chematic_depict::Point::new(mirrored.x, mirrored.y);
        }
        reflected = true;
    }
    if reflected {
        relieve_layout_clashes(graph, layout);
    }
}

/// Returns the atoms on `end`'s side of its bond to `other`; `None` if the bond is in a ring.
fn side_of(graph: &Graph, end: AtomIdx, other: AtomIdx) -> Option<HashSet<AtomIdx>> {
    let mut side = HashSet::from([end]);
    let mut open = vec![end];
    while let Some(atom) = open.pop() {
        for (next, _) in graph.neighbors(atom) {
            if next == other {
                if atom != end {
                    return None;
                }
            } else if side.insert(next) {
                open.push(next);
            }
        }
    }
    Some(side)
}

#[cfg(test)]
mod tests {
    use chematic::{
        core::{BondOrder, MoleculeBuilder, remap_tetrahedral_parity},
        perception::local_parity_from_wedges,
        smiles,
    };

    use super::{DrawingLayout, Side, configure_double_bonds};
    use crate::Molecule;

    fn plan(smiles: &str) -> DrawingLayout {
        DrawingLayout::new(smiles.parse::<Molecule>().unwrap().canonical_graph(), 1.5)
    }

    /// Counts the centres whose wedges chematic reads correctly, and incorrectly. Some it does not read at all.
    fn read_back(plan: &DrawingLayout) -> (usize, usize) {
        let mut drawn = MoleculeBuilder::new();
        for (_, atom) in plan.graph.atoms() {
            drawn.add_atom(atom.clone());
        }
        for (n, bond) in plan.graph.bonds() {
            let (mut ends, mut order) = ((bond.atom1, bond.atom2), bond.order);
            if let Some(wedge) = plan.wedges.get(&n) {
                order = if wedge.side == Side::Front { BondOrder::Up } else { BondOrder::Down };
                ends = if wedge.from == bond.atom1 { ends } else { (ends.1, ends.0) };
            } else if matches!(order, BondOrder::Up | BondOrder::Down) {
                order = BondOrder::Single;
            }
            drawn.add_bond(ends.0, ends.1, order).unwrap();
        }
        let drawn = drawn.build();
        let places: Vec<_> = plan.points.iter().map(|point| (point.x / 40.0, -point.y / 40.0)).collect();
        let (mut right, mut wrong) = (0, 0);
        for wedge in plan.wedges.values() {
            let Some((chirality, order)) = local_parity_from_wedges(&drawn, &places, wedge.from) else {
                continue;
            };
            let declared = plan.graph.stereo_neighbor_order(wedge.from).unwrap();
            let (Ok(order), Ok(declared)) = (order.try_into(), declared.try_into()) else { continue };
            let odd = remap_tetrahedral_parity(declared, order).unwrap();
            let is_right = (chirality == plan.graph.atom(wedge.from).chirality) != odd;
            right += usize::from(is_right);
            wrong += usize::from(!is_right);
        }
        (right, wrong)
    }

    #[test]
    fn wedges_say_what_the_centres_are() {
        for smiles in [
            "N[C@@H](C)C(=O)O",
            "N[C@H](C)C(=O)O",
            "F[C@](Cl)(Br)CC",
            "C[C@H]1CC[C@@H](O)CC1",
            "C[C@@]12CC[C@H]3[C@@H](CC=C4C[C@@H](O)CC[C@@]43C)[C@@H]1CC[C@@H]2O",
            "O[C@H]1[C@H](O)[C@@H](O)[C@H](O)[C@@H](O)[C@@H]1O",
            "OC[C@H]1O[C@@H](n2cnc3c2ncnc3N)[C@H](O)[C@@H]1O",
        ] {
            let plan = plan(smiles);
            let centres = plan.graph.atoms().filter(|(_, atom)| atom.chirality.is_tetrahedral()).count();

            assert_eq!(read_back(&plan), (centres, 0), "{smiles}");
        }
    }

    #[test]
    fn no_wedge_in_the_reference_set_is_read_otherwise() {
        let (mut right, mut wrong, mut all) = (0, 0, 0);
        for line in include_str!("../../tests/data/molecules.tsv").lines().skip(1) {
            let plan = plan(line.split('\t').next().unwrap());
            let read = read_back(&plan);
            right += read.0;
            wrong += read.1;
            all += plan.wedges.len();
        }
        assert_eq!(wrong, 0);
        assert!(all > 100 && right * 20 > all * 19, "{right} of {all}");
    }

    #[test]
    fn double_bonds_lie_as_they_are_configured() {
        for (smiles, wanted) in [("F/C=C/F", "F/C=C/F"), ("F/C=C\\F", "F/C=C\\F"), ("CC(/C=C\\C)=C\\Cl", "")]
        {
            let graph = smiles.parse::<Molecule>().unwrap().canonical_graph();
            let mut layout = chematic_depict::compute_layout(&graph);

            configure_double_bonds(&graph, &mut layout);

            let facts = chematic::core::ez_markers::read_ez_facts(&graph).unwrap().0;
            assert!(!facts.is_empty());
            for fact in facts {
                let place = |atom: chematic::core::AtomIdx| layout.coords[atom.0 as usize];
                let [one, other] = fact.ends;
                let far = |end: &chematic::core::ez_markers::EzFactEnd| {
                    place(graph.bond(end.reference).other(end.atom).unwrap())
                };
                let (a, b) = (place(one.atom), place(other.atom));
                let side = |p: chematic_depict::Point| (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
                assert_eq!(
                    side(far(&one)) * side(far(&other)) > 0.0,
                    one.up == other.up,
                    "{smiles} {wanted}"
                );
            }
        }
        assert!(smiles::parse("F/C=C/F").is_ok());
    }
}
