"""Compact results of searches, and what they are expanded to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from compacted import compacted
from conftest import RECORDED

from retort_client import Plan
from retort_client.compact import CompactResult
from retort_client.wire import RouteGraph, TreeSearchResult

API = Path(__file__).parents[3]
ANSWERS = [RECORDED, API / "tests/data/imatinib_routes.json", API / "src/examples/tree_search.json"]


def expanded(compact: dict[str, Any]) -> TreeSearchResult:
    return CompactResult.model_validate_json(json.dumps(compact)).expanded()


def graphs(answer: TreeSearchResult) -> list[RouteGraph]:
    return [route.graph for route in Plan(answer)]


def read(path: Path) -> dict[str, Any]:
    if not path.exists():
        pytest.skip("the service's answers lie beside the client in its repository alone")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def compact(recorded: str) -> dict[str, Any]:
    return compacted(json.loads(recorded))


def only_route(compact: dict[str, Any]) -> dict[str, Any]:
    (backbones,) = compact["route_hierarchy"].values()
    (((route,),),) = backbones.values()
    return route


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_a_compact_result_gives_the_whole_result_back(path: Path) -> None:
    answer = read(path)
    whole = TreeSearchResult.model_validate(answer)

    result = expanded(compacted(answer))

    assert result == whole
    assert result.model_dump_json() == whole.model_dump_json()
    # Kept routes and bulk queries send a graph in this way.
    assert result.model_dump(exclude_unset=True) == whole.model_dump(exclude_unset=True)


def test_routes_share_equal_nodes_and_edges() -> None:
    routes = graphs(expanded(compacted(read(ANSWERS[1]))))

    for items in ([each for route in routes for each in route.nodes], [each for route in routes for each in route.edges]):
        texts = [each.model_dump_json() for each in items]
        assert len(set(map(id, items))) == len(set(texts)) < len(texts)


def test_a_depth_is_the_fewest_steps_from_the_target(compact: dict[str, Any]) -> None:
    first, second = compact["steps"]
    bought = second["precursors"][0]
    compact["steps"].append(first | {"precursors": [*first["precursors"], bought]})
    (backbones,) = compact["route_hierarchy"].values()
    backbones["another"] = [[only_route(compact) | {"steps": [2, 1]}]]

    one, other = graphs(expanded(compact))

    depths = [{node.id: node.data.depth for node in graph.nodes} for graph in (one, other)]
    assert (depths[0][bought], depths[1][bought]) == (2, 1)
    assert {name for name in depths[0] if depths[0][name] != depths[1][name]} == {bought}


def test_an_index_without_a_molecule_or_step_is_left_out(compact: dict[str, Any]) -> None:
    del compact["molecules"][1:]
    compact["steps"].clear()

    (graph,) = graphs(expanded(compact))

    assert ([node.data.depth for node in graph.nodes], graph.edges) == ([0], ())


def test_fields_that_this_version_does_not_know_are_kept_where_they_belong(compact: dict[str, Any]) -> None:
    step = compact["steps"][0]
    for part in (compact, only_route(compact), compact["molecules"][0], compact["molecules"][0]["data"], step, step["evidence"]):
        part[f"new_{len(part)}"] = True

    result = json.loads(expanded(compact).model_dump_json())

    def new(part: dict[str, Any]) -> int:
        return sum(name.startswith("new_") for name in part)

    graph = graphs(TreeSearchResult.model_validate(result))[0].model_dump()
    assert (new(result), new(graph), new(graph["nodes"][0]), new(graph["nodes"][0]["data"])) == (1, 1, 1, 1)
    assert [new(edge) for edge in graph["edges"]] == [2, 2, 0, 0]
