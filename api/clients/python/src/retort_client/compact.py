"""Results of searches as the service sends them with `?view=compact`.

Each molecule and each step stands once, and routes name them by their indices: a sixth of the bytes. They are expanded on arrival.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from pydantic import NonNegativeInt

from .wire import (
    Body,
    Edge,
    Metadata,
    Node,
    NodeData,
    Offer,
    ReagentResults,
    RouteGraph,
    RouteStanding,
    StepEvidence,
    TreeSearchResult,
)


class NodeStanding(Body):
    """Importance of a molecule in the routes of its answer."""

    essential: bool
    only_for: str | None = None


class CompactMolecule(Body):
    """A molecule, without what depends on the route: the depth of its data is 0."""

    id: str
    data: NodeData
    standing: NodeStanding | None = None

    def node(self, depth: int) -> Node:
        """Node of the molecule, so many steps from the target."""
        data = self.data.model_copy(update={"depth": depth})
        return Node.model_validate(_given(self, "standing") | _given(self.standing) | {"data": data})


class CompactStep(Body):
    """A step."""

    product: str
    precursors: tuple[str, ...]
    plausibility: float | None = None
    evidence: StepEvidence | None = None

    def edges(self) -> tuple[Edge, ...]:
        """Edges from the product to the precursors."""
        fields = _given(self, "product", "precursors", "evidence") | _given(self.evidence) | {"source": self.product}
        return tuple(Edge.model_validate(fields | {"target": precursor}) for precursor in self.precursors)


class CompactRoute(Body):
    """A route, by the indices of its molecules, the target first, and of its steps."""

    graph: RouteStanding | None = None
    molecules: tuple[NonNegativeInt, ...]
    steps: tuple[NonNegativeInt, ...]


class CompactResult(Body):
    """Result of a tree search, with the distinct molecules and steps of all routes."""

    search_smiles: str = ""
    metadata: Metadata
    molecules: tuple[CompactMolecule, ...]
    steps: tuple[CompactStep, ...]
    route_hierarchy: Mapping[str, Mapping[str, tuple[tuple[CompactRoute, ...], ...]]]
    pricing_annotations: tuple[Offer, ...]
    reagent_results: ReagentResults

    def expanded(self) -> TreeSearchResult:
        """Result in which each route has its molecules and steps. Indices without a molecule or step are left out.

        Routes share equal nodes and edges, which are frozen.
        """
        step_edges = [step.edges() for step in self.steps]

        @cache
        def node(index: int, depth: int) -> Node:
            return self.molecules[index].node(depth)

        def graph(route: CompactRoute) -> RouteGraph:
            molecules = [index for index in route.molecules if index < len(self.molecules)]
            steps = [index for index in route.steps if index < len(self.steps)]
            ids = [self.molecules[index].id for index in molecules]
            depths = _depths(ids, [self.steps[index] for index in steps])
            nodes = tuple(node(index, depths.get(each, 0)) for index, each in zip(molecules, ids, strict=True))
            edges = tuple(chain.from_iterable(step_edges[index] for index in steps))
            fields = {"directed": True, "multigraph": False, "nodes": nodes, "edges": edges}
            return RouteGraph.model_validate(_given(route, "molecules", "steps") | fields)

        hierarchy = {
            depth: {key: tuple(tuple(map(graph, routes)) for routes in variations) for key, variations in backbones.items()}
            for depth, backbones in self.route_hierarchy.items()
        }
        return TreeSearchResult.model_validate(_given(self, "molecules", "steps") | {"route_hierarchy": hierarchy})


def _given(body: Body | None, *left_out: str) -> dict[str, Any]:
    """Fields that the service gave, known here or not."""
    given = frozenset[str]() if body is None else body.model_fields_set.difference(left_out)
    return {name: value for name, value in body or () if name in given}


def _depths(ids: Sequence[str], steps: Sequence[CompactStep]) -> dict[str, int]:
    """The fewest steps to each molecule from the target, the first of `ids`."""
    precursors = {step.product: step.precursors for step in steps}
    depths = dict.fromkeys(ids[:1], 0)
    waiting = deque(depths)
    while waiting:
        product = waiting.popleft()
        for precursor in precursors.get(product, ()):
            if precursor not in depths:
                depths[precursor] = depths[product] + 1
                waiting.append(precursor)
    return depths
