"""The compact form of a search's result, as the service makes it."""

from __future__ import annotations

import json
from typing import Any


def compacted(answer: dict[str, Any]) -> dict[str, Any]:
    """A result with each molecule and each step once."""
    molecules, steps = dict[str, int](), dict[str, int]()

    def index(items: dict[str, int], item: dict[str, Any]) -> int:
        return items.setdefault(json.dumps(item), len(items))

    def compacted_route(graph: dict[str, Any]) -> dict[str, Any]:
        leaving: dict[str, list[dict[str, Any]]] = {}
        for edge in graph["edges"]:
            leaving.setdefault(edge["source"], []).append(edge)
        nodes = graph["nodes"]
        route = {name: value for name, value in graph.items() if name == "graph"}
        route["molecules"] = [index(molecules, _molecule(node)) for node in nodes]
        route["steps"] = [index(steps, _step(leaving[node["id"]])) for node in nodes if node["id"] in leaving]
        return route

    hierarchy = {
        depth: {key: [[compacted_route(graph) for graph in routes] for routes in groups] for key, groups in backbones.items()}
        for depth, backbones in answer["route_hierarchy"].items()
    }
    items = {"molecules": [json.loads(each) for each in molecules], "steps": [json.loads(each) for each in steps]}
    return answer | items | {"route_hierarchy": hierarchy}


def _molecule(node: dict[str, Any]) -> dict[str, Any]:
    standing = {name: value for name, value in node.items() if name not in {"id", "data"}}
    return {"id": node["id"], "data": node["data"] | {"depth": 0}} | ({"standing": standing} if standing else {})


def _step(edges: list[dict[str, Any]]) -> dict[str, Any]:
    evidence = {name: value for name, value in edges[0].items() if name not in {"source", "target", "plausibility"}}
    step = {"product": edges[0]["source"], "precursors": [edge["target"] for edge in edges]}
    step |= {name: value for name, value in edges[0].items() if name == "plausibility"}
    return step | ({"evidence": evidence} if evidence else {})
