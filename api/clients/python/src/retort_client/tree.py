"""Trees of routes: the target at the root, made by a step from precursors, down to what is bought.

The service sends a graph, in which a molecule that a route needs twice is one node. People and other programs read trees, where it
stands twice, so that is what a route is made of; the graph is kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from .errors import BadAnswer
from .wire import Country, Edge, Node, NodeData, Offer, RouteGraph, ShoppingList


@dataclass(frozen=True)
class Step:
    """A reaction that makes a molecule."""

    product: str
    """SMILES of the product."""
    precursors: tuple[Molecule, ...]
    """Molecules that it is made from, in the order of the answer."""
    evidence: Edge
    """Evidence: class of the reaction, plausibility, precedents, conditions, warnings."""

    @property
    def smiles(self) -> str:
        """The reaction, `precursor.precursor>>product`."""
        return f"{'.'.join(precursor.smiles for precursor in self.precursors)}>>{self.product}"


@dataclass(frozen=True)
class Molecule:
    """A molecule of a route."""

    node: Node
    made_by: Step | None
    """Step that makes it; `None` if it is bought."""
    offers: tuple[Offer, ...]
    """Offers, the cheapest first, those of unknown price last; empty if the route makes it."""

    @property
    def smiles(self) -> str:
        """Canonical SMILES."""
        return self.data.smiles

    @property
    def data(self) -> NodeData:
        """Data of the molecule."""
        return self.node.data

    def walk(self) -> Iterator[Molecule]:
        """Yields it and all that it is made from, each before its precursors."""
        yield self
        for precursor in self.made_by.precursors if self.made_by else ():
            yield from precursor.walk()


@dataclass(frozen=True)
class RouteTree:
    """A route as data: its tree, its figures and its offers."""

    graph: RouteGraph
    """Graph in the shape of the API."""
    backbone: str
    """The key that it shares with all routes that build the target from the same fragments."""
    offers: Mapping[int, tuple[Offer, ...]]
    """The offers of the answer by catalogue integer, the cheapest first."""
    ships_to: Country | None = "US"
    """Country of the lead times in pictures and texts."""

    @cached_property
    def target(self) -> Molecule:
        """The root of the tree."""
        return _tree(self.graph, self.offers)

    @property
    def rank(self) -> int | None:
        """Rank among all routes of the answer; 1 is best."""
        return self.graph.graph.rank if self.graph.graph else None

    @property
    def score(self) -> float | None:
        """Score by which it is ranked, from 0 to 1; comparable within an answer."""
        return self.graph.graph.score if self.graph.graph else None

    @property
    def cost_usd_per_mol(self) -> float | None:
        """USD of building blocks for a mole of the target, every step in full yield; `None` if a price is not known."""
        return self.graph.graph.cost_usd_per_mol if self.graph.graph else None

    @property
    def lead_time_days(self) -> float | None:
        """Days until the last building block arrives, by the quickest offer of each."""
        return self.graph.graph.lead_time_days if self.graph.graph else None

    @property
    def shopping_list(self) -> ShoppingList | None:
        """Shopping list for the amount that was asked for."""
        return self.graph.graph.shopping_list if self.graph.graph else None

    @cached_property
    def depth(self) -> int:
        """Steps of the longest branch; 0 if the target is bought."""
        return _depth(self.target)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The distinct reactions, that which makes the target first."""
        steps = {molecule.node.id: molecule.made_by for molecule in self.target.walk() if molecule.made_by}
        return tuple(steps.values())

    @cached_property
    def building_blocks(self) -> tuple[Molecule, ...]:
        """Building blocks, each once, as the tree has them from left to right."""
        leaves = {molecule.node.id: molecule for molecule in self.target.walk() if not molecule.made_by}
        return tuple(leaves.values())


def _depth(molecule: Molecule) -> int:
    return 1 + max(map(_depth, molecule.made_by.precursors)) if molecule.made_by else 0


def _tree(graph: RouteGraph, offers: Mapping[int, tuple[Offer, ...]]) -> Molecule:
    nodes = {node.id: node for node in graph.nodes}
    leaving: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        leaving.setdefault(edge.source, []).append(edge)

    def molecule(name: str, above: frozenset[str]) -> Molecule:
        if name not in nodes or name in above:
            raise BadAnswer(f"a route whose molecule {name} is {'its own precursor' if name in above else 'not in it'}")
        node, edges = nodes[name], leaving.get(name)
        if not edges:
            block = node.data.building_block_idx
            return Molecule(node, None, () if block is None else offers.get(block, ()))
        precursors = tuple(molecule(edge.target, above | {name}) for edge in edges)
        return Molecule(node, Step(node.data.smiles, precursors, edges[0]), ())

    if not nodes:
        raise BadAnswer("a route without molecules")
    return molecule(min(graph.nodes, key=lambda node: node.data.depth).id, frozenset())
