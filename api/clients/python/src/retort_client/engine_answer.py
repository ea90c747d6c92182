"""A result in the shape of this API family's other clients, as what a tree search answers.

A reaction that is a node there is here what its edges say, from the product to each precursor. Prices are in the same numbers; what
stands there for a number that nobody knows is none here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .errors import BadAnswer
from .stored import CommonOffer, EngineAnswer, EngineRoute, ReactionData
from .wire import Edge, Node, Offer, ReagentResults, RouteGraph, TreeSearchResult

UNKNOWN_DAYS = 9999
LEAD_TIME = "lead_time_days_to_"


def tree_search_result(answer: EngineAnswer) -> TreeSearchResult:
    """The answer of a tree search that found the same; its backbones are named by SMILES instead of by a key."""
    hierarchy: dict[str, dict[str, tuple[tuple[RouteGraph, ...], ...]]] = {}
    for backbone, by_steps in answer.route_hierarchy.items():
        for steps, priced in by_steps.items():
            hierarchy.setdefault(steps, {})[backbone] = tuple((route_graph(route),) for route, _ in priced)
    return TreeSearchResult(
        search_smiles=answer.search_smiles,
        metadata=answer.metadata,
        route_hierarchy=hierarchy,
        pricing_annotations=tuple(map(_offer, answer.pricing_annotations or ())),
        reagent_results=_reagents(answer.reagent_results),
    )


def route_graph(route: EngineRoute) -> RouteGraph:
    """The graph of a route without nodes for its reactions."""
    reactions = {node.id: node.data for node in route.nodes if isinstance(node.data, ReactionData)}
    nodes = tuple(Node(id=node.id, data=node.data) for node in route.nodes if not isinstance(node.data, ReactionData))
    edges = tuple(_edges(route, reactions))
    return RouteGraph(directed=True, multigraph=False, graph=route.graph, nodes=nodes, edges=edges)


def _edges(route: EngineRoute, reactions: Mapping[str, ReactionData]) -> Iterator[Edge]:
    products = {edge.source: edge.target for edge in route.edges if edge.source in reactions}
    for edge in route.edges:
        if edge.source in reactions:
            continue
        if edge.target not in products:
            raise BadAnswer(f"a route whose molecule {edge.source} goes into no reaction that is in it")
        reaction = reactions[edge.target]
        evidence: dict[str, Any] = {} if reaction.evidence is None else reaction.evidence.model_dump()
        ends = {"source": products[edge.target], "target": edge.source, "plausibility": reaction.plausibility}
        yield Edge.model_validate(evidence | ends)


def _offer(offer: CommonOffer) -> Offer:
    told: dict[str, Any] = offer.model_dump()
    unknown = {name for name, days in told.items() if name.startswith(LEAD_TIME) and days == UNKNOWN_DAYS}
    entry = {"cs_id": "", "cs_prefix": "", "cs_url": ""}
    return Offer.model_validate(entry | {name: value for name, value in told.items() if name not in unknown})


def _reagents(results: ReagentResults | None) -> ReagentResults:
    of_steps: Mapping[str, tuple[str, ...]] = {} if results is None else results.reaction_to_edges
    return ReagentResults(reaction_to_edges={reaction: tuple(_from_product(edges)) for reaction, edges in of_steps.items()})


def _from_product(edges: tuple[str, ...]) -> Iterator[str]:
    """`precursor:reaction` … `reaction:product` as `product:precursor` …"""
    ends = [edge.partition(":") for edge in edges]
    for precursor, _, _ in ends[:-1]:
        yield f"{ends[-1][2]}:{precursor}"
