"""A route as a tree: the target at its root, made by a step from precursors, down to what is bought.

The service sends a graph, in which a molecule that a route needs twice is one node. People and other programs read trees, where it
stands twice, so that is what a `Route` is made of; the graph is kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import drawing, export, text
from .errors import BadAnswer
from .extras import has, need
from .wire import Country, Edge, Node, NodeData, Offer, RouteGraph, ShoppingList

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True)
class Step:
    """A reaction that makes a molecule."""

    product: str
    """SMILES of what it makes."""
    precursors: tuple[Molecule, ...]
    """What it is made from, in the order of the answer."""
    evidence: Edge
    """What the step rests on: class of the reaction, plausibility, precedents, conditions, warnings."""

    @property
    def smiles(self) -> str:
        """The reaction, `precursor.precursor>>product`."""
        return f"{'.'.join(precursor.smiles for precursor in self.precursors)}>>{self.product}"


@dataclass(frozen=True)
class Molecule:
    """A molecule of a route."""

    node: Node
    made_by: Step | None
    """The step that makes it; none where it is bought."""
    offers: tuple[Offer, ...]
    """Who sells it, the cheapest first, prices that nobody knows last; empty where the route makes it."""

    @property
    def smiles(self) -> str:
        """Canonical SMILES."""
        return self.data.smiles

    @property
    def data(self) -> NodeData:
        """What is known of it."""
        return self.node.data

    def walk(self) -> Iterator[Molecule]:
        """It and all that it is made from, each before its precursors."""
        yield self
        for precursor in self.made_by.precursors if self.made_by else ():
            yield from precursor.walk()


@dataclass(frozen=True)
class Route:
    """One validated way to make the target."""

    graph: RouteGraph
    """As the service sent it."""
    backbone: str
    """The key that it shares with all routes that build the target from the same fragments."""
    offers: Mapping[int, tuple[Offer, ...]]
    """The offers of the answer by catalogue integer, the cheapest first."""
    ships_to: Country | None = "US"
    """Where the lead times in pictures and texts are for."""

    @cached_property
    def target(self) -> Molecule:
        """The root of the tree."""
        return _tree(self.graph, self.offers)

    @property
    def rank(self) -> int | None:
        """Its place among all routes of the answer; 1 is best."""
        return self.graph.graph.rank if self.graph.graph else None

    @property
    def score(self) -> float | None:
        """What it is ranked by, from 0 to 1; comparable within an answer."""
        return self.graph.graph.score if self.graph.graph else None

    @property
    def cost_usd_per_mol(self) -> float | None:
        """USD of building blocks for a mole of the target, every step in full yield; none where a price is not known."""
        return self.graph.graph.cost_usd_per_mol if self.graph.graph else None

    @property
    def lead_time_days(self) -> float | None:
        """Days until the last building block is there, by the quickest offer of each."""
        return self.graph.graph.lead_time_days if self.graph.graph else None

    @property
    def shopping_list(self) -> ShoppingList | None:
        """What to order for the amount that was asked for."""
        return self.graph.graph.shopping_list if self.graph.graph else None

    @cached_property
    def depth(self) -> int:
        """Steps of the longest branch; 0 where the target is bought."""
        return _depth(self.target)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The distinct reactions, that which makes the target first."""
        steps = {molecule.node.id: molecule.made_by for molecule in self.target.walk() if molecule.made_by}
        return tuple(steps.values())

    @cached_property
    def building_blocks(self) -> tuple[Molecule, ...]:
        """What is bought, each once, as the tree has it from left to right."""
        leaves = {molecule.node.id: molecule for molecule in self.target.walk() if not molecule.made_by}
        return tuple(leaves.values())

    def to_networkx(self) -> networkx.DiGraph[str]:
        """The graph of the answer, with its attributes; edges run from product to precursor. Needs networkx."""
        graph: networkx.DiGraph[str] = need("networkx", "networkx").node_link_graph(
            self.graph.model_dump(mode="json"), edges="edges"
        )
        return graph

    def to_aizynthfinder(self) -> dict[str, Any]:
        """The tree as AiZynthFinder writes and reads it (`ReactionTree.from_dict`)."""
        return export.aizynthfinder(self)

    def to_retrocast(self) -> dict[str, Any]:
        """The tree as a route of RetroCast's schema 2. Needs RDKit, for the InChIKeys."""
        return export.retrocast(self)

    def svg(self) -> str:
        """A picture: structural formulas from the target on the left to what is bought on the right. Needs RDKit."""
        return drawing.svg(self)

    def __str__(self) -> str:
        """The tree as text, as `retort plan` prints it."""
        return text.tree(self)

    def _repr_html_(self) -> str:
        return drawing.html(self) if has("rdkit") else drawing.plain(str(self))


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
