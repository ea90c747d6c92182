"""A plan's result, which has reactions as nodes, as the answer of a tree search."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retort_client import BadAnswer
from retort_client.engine_answer import route_graph, tree_search_result
from retort_client.stored import EngineAnswer, EngineRoute
from retort_client.wire import Edge, TreeSearchResult

GOLDEN = Path(__file__).parents[3] / "tests" / "golden"


@pytest.fixture
def as_engine() -> dict[str, Any]:
    if not GOLDEN.exists():
        pytest.skip("the service's recorded answers lie beside the client in its repository alone")
    return json.loads((GOLDEN / "engine_answer.json").read_text(encoding="utf-8"))


def test_it_says_what_the_search_itself_answered_but_for_offers_without_a_price(as_engine: dict[str, Any]) -> None:
    answered = TreeSearchResult.model_validate_json((GOLDEN / "treesearch_result.json").read_text(encoding="utf-8"))

    read = tree_search_result(EngineAnswer.model_validate(as_engine))

    assert (read.search_smiles, read.metadata, read.reagent_results) == (
        answered.search_smiles,
        answered.metadata,
        answered.reagent_results,
    )
    assert routes(read) == routes(answered)
    vendors = [offer.vendor_name for offer in answered.pricing_annotations]
    assert vendors == [*(offer.vendor_name for offer in read.pricing_annotations), "Priceless"]


def test_days_that_nobody_knows_are_none(as_engine: dict[str, Any]) -> None:
    offer = next(each for each in as_engine["pricing_annotations"] if "lead_time_days_to_US" in each)
    offer |= {"lead_time_days_to_US": 9999, "lead_time_days_to_DE": 12}

    read = tree_search_result(EngineAnswer.model_validate(as_engine))

    known = next(each for each in read.pricing_annotations if each.lead_time_days_to_DE == 12)
    assert known.lead_time_days("US") is None


def test_without_a_route_there_is_neither_offer_nor_reaction(as_engine: dict[str, Any]) -> None:
    empty: dict[str, Any] = as_engine | {"route_hierarchy": {}, "pricing_annotations": None, "reagent_results": None}

    read = tree_search_result(EngineAnswer.model_validate(empty))

    assert (read.route_hierarchy, read.pricing_annotations, read.reagent_results.reaction_to_edges) == ({}, (), {})


def test_a_molecule_that_goes_nowhere_is_told() -> None:
    route = EngineRoute.model_validate({"nodes": [], "edges": [{"source": "m", "target": "nowhere"}]})

    with pytest.raises(BadAnswer, match="a route whose molecule m goes into no reaction"):
        route_graph(route)


def routes(answer: TreeSearchResult) -> list[tuple[str, Any, Any]]:
    """The routes with the steps of their longest branch; steps in the order of their ends."""
    graphs = [
        (steps, graph)
        for steps, backbones in answer.route_hierarchy.items()
        for variations in backbones.values()
        for variation in variations
        for graph in variation
    ]
    return [
        (steps, [node.model_dump(include={"id", "data"}) for node in graph.nodes], sorted(map(known, graph.edges), key=str))
        for steps, graph in graphs
    ]


def known(edge: Edge) -> dict[str, Any]:
    """What this package knows of an edge."""
    return edge.model_dump(include=set(Edge.model_fields))
