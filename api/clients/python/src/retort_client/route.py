"""A route to a target, which draws itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import drawing, text
from .extras import has, need
from .tree import Molecule, RouteTree, Step

if TYPE_CHECKING:
    import networkx

__all__ = ["Molecule", "Route", "Step"]


@dataclass(frozen=True)
class Route(RouteTree):
    """One validated way to make the target."""

    def to_networkx(self) -> networkx.DiGraph[str]:
        """The graph of the answer, with its attributes; edges run from product to precursor. Needs networkx."""
        graph: networkx.DiGraph[str] = need("networkx", "networkx").node_link_graph(
            self.graph.model_dump(mode="json"), edges="edges"
        )
        return graph

    def svg(self) -> str:
        """A picture: structural formulas from the target on the left to what is bought on the right. Needs RDKit."""
        return drawing.svg(self)

    def __str__(self) -> str:
        """The tree as text, as `retort plan` prints it."""
        return text.tree(self)

    def _repr_html_(self) -> str:
        return drawing.html(self) if has("rdkit") else drawing.plain(str(self))
