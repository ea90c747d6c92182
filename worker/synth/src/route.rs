//! A route as a graph of molecules. Edges run from a product to the precursors of its step.
//!
//! One type serves from extraction to the answer. During ranking a node is a choice in the search graph; in the
//! answer it is the output for a molecule. petgraph keeps nodes and edges and sorts them topologically, which also
//! shows that no molecule is needed to make itself. Results that depend on the order (the longest branch, the amounts
//! needed) take one walk along it.

use chem::block;
use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, Edge, Node, NodeIndex};
use petgraph::visit::EdgeRef;

/// Route without a cycle. `M` is the data of a molecule. The first molecule is the target.
#[derive(Debug, Clone)]
pub struct RouteGraph<M> {
    /// Directed graph. An edge's weight is the number of precursor molecules that the step takes.
    graph: DiGraph<M, u32>,
    /// Topological order: every molecule after all molecules that it is needed for.
    order: Vec<NodeIndex>,
}

impl<M> RouteGraph<M> {
    /// Creates the route of these molecules, the target first; `None` if a molecule is needed to make itself.
    #[must_use]
    pub fn new(graph: DiGraph<M, u32>) -> Option<Self> {
        let order = toposort(&graph, None).ok()?;
        Some(Self { graph, order })
    }

    /// Creates the route of a target that is bought.
    #[must_use]
    pub fn bought(target: M) -> Self {
        let mut graph = DiGraph::new();
        let order = vec![graph.add_node(target)];
        Self { graph, order }
    }

    /// Approximate memory in bytes, without the heap data of its molecules.
    pub(crate) fn bytes(&self) -> usize {
        let (molecules, edges) = self.graph.capacity();
        block(molecules * size_of::<Node<M>>())
            + block(edges * size_of::<Edge<u32>>())
            + block(self.order.capacity() * size_of::<NodeIndex>())
    }

    /// Node of the target.
    #[must_use]
    pub fn target(&self) -> NodeIndex {
        NodeIndex::new(0)
    }

    /// Molecules, each once, in insertion order.
    pub fn molecules(&self) -> impl Iterator<Item = &M> {
        self.graph.node_weights()
    }

    /// Nodes of the molecules, each after all that it is needed for.
    pub fn places(&self) -> impl Iterator<Item = NodeIndex> {
        self.order.iter().copied()
    }

    /// Molecule at a node.
    #[must_use]
    pub fn molecule(&self, place: NodeIndex) -> &M {
        &self.graph[place]
    }

    /// Precursors of the step to the molecule at `product`, each once with its count, in insertion order.
    pub fn precursors(&self, product: NodeIndex) -> impl Iterator<Item = (NodeIndex, u32)> + use<M> {
        let newest_first: Vec<_> =
            self.graph.edges(product).map(|edge| (edge.target(), *edge.weight())).collect();
        newest_first.into_iter().rev()
    }

    /// Edges from product to precursor, in insertion order.
    pub fn edges(&self) -> impl Iterator<Item = (NodeIndex, NodeIndex)> {
        self.graph.edge_references().map(|edge| (edge.source(), edge.target()))
    }

    /// Number of reaction steps of the longest branch.
    #[must_use]
    pub fn longest_branch(&self) -> u32 {
        let mut steps = vec![0_u32; self.order.len()];
        for &product in &self.order {
            for precursor in self.graph.neighbors(product) {
                steps[precursor.index()] = steps[precursor.index()].max(steps[product.index()] + 1);
            }
        }
        steps.into_iter().max().unwrap_or(0)
    }

    /// Moles of each molecule needed for one mole of the target, if each step gives the fraction `step_yield` of
    /// what it makes. For one molecule that the route keeps, it makes as many as `makes` gives: of a racemate two.
    #[must_use]
    pub fn moles(&self, step_yield: f64, makes: impl Fn(&M) -> u32) -> Vec<f64> {
        let mut moles = vec![0.0; self.order.len()];
        moles[self.target().index()] = 1.0;
        for &product in &self.order {
            let made = moles[product.index()] * f64::from(makes(&self.graph[product])) / step_yield;
            for edge in self.graph.edges(product) {
                moles[edge.target().index()] += made * f64::from(*edge.weight());
            }
        }
        moles
    }

    /// Number of molecules of each kind needed for one molecule of the target, every step in full yield. `makes` is as
    /// for [`Self::moles`].
    #[must_use]
    pub fn amounts(&self, makes: impl Fn(&M) -> u32) -> Vec<u32> {
        let mut amounts = vec![0_u32; self.order.len()];
        amounts[self.target().index()] = 1;
        for &product in &self.order {
            let made = amounts[product.index()].saturating_mul(makes(&self.graph[product]));
            for edge in self.graph.edges(product) {
                let amount = &mut amounts[edge.target().index()];
                *amount = amount.saturating_add(made.saturating_mul(*edge.weight()));
            }
        }
        amounts
    }
}

impl<M: PartialEq> PartialEq for RouteGraph<M> {
    /// Returns true if molecules and edges are the same, in the same insertion order.
    fn eq(&self, other: &Self) -> bool {
        let edges = |route: &Self| -> Vec<_> {
            let edges = route.graph.edge_references();
            edges.map(|edge| (edge.source(), edge.target(), *edge.weight())).collect()
        };
        self.molecules().eq(other.molecules()) && edges(self) == edges(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(edges: &[(u32, u32, u32)]) -> Option<RouteGraph<()>> {
        RouteGraph::new(DiGraph::from_edges(edges))
    }

    #[test]
    fn a_molecule_that_two_branches_need_is_needed_as_often_as_both_say() {
        // The target takes two of 1 and one of 2, and both take 3.
        let route = route(&[(0, 1, 2), (0, 2, 1), (1, 3, 1), (2, 3, 3)]).unwrap();

        assert_eq!(route.amounts(|_| 1), [1, 2, 1, 5]);
        assert_eq!(route.moles(0.5, |_| 1), [1.0, 4.0, 2.0, 20.0]);
        assert_eq!(route.amounts(|_| 2), [1, 4, 2, 20]);
        assert_eq!(route.longest_branch(), 2);
        let below: Vec<_> = route.precursors(route.target()).map(|(at, times)| (at.index(), times)).collect();
        assert_eq!(below, [(1, 2), (2, 1)]);
    }

    #[test]
    fn a_branch_is_as_long_as_its_longest_way() {
        let route = route(&[(0, 3, 1), (0, 1, 1), (1, 2, 1), (2, 3, 1)]).unwrap();

        assert_eq!(route.longest_branch(), 3);
        let places: Vec<_> = route.places().map(NodeIndex::index).collect();
        assert_eq!(places, [0, 1, 2, 3]);
    }

    #[test]
    fn nothing_is_needed_to_make_itself() {
        assert_eq!(route(&[(0, 1, 1), (1, 2, 1), (2, 1, 1)]), None);
    }

    #[test]
    fn a_target_that_is_bought_has_no_branch() {
        let route = RouteGraph::bought(());

        assert_eq!((route.longest_branch(), route.amounts(|_| 1)), (0, vec![1]));
    }
}
