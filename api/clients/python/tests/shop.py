"""A small server that answers bulk queries: a few molecules, what they are made of, and who sells what."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from listening import Quiet, listening

AMIDE, ESTER, ACID, AMINE, UNKNOWN = "CNC(C)=O", "CCOC(C)=O", "CC(=O)O", "CN", "FC(F)(F)F"
STEPS: Mapping[str, list[tuple[list[str], float]]] = {
    AMIDE: [([ACID, AMINE], 0.6), ([ESTER, AMINE], 0.3)],
    ESTER: [([ACID, "CCO"], 0.9)],
}
PRICES = {ACID: 0.5, AMINE: 2.5, "CCO": None}
"""USD per gram; none where nobody says."""
NOT_REACHED = "not reached before the deadline of the call"


@dataclass
class Shop:
    """A server that runs, and what it was asked."""

    url: str
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    """The last part of each path, and the body."""


def expansion(smiles: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """What a molecule is made of."""
    sets = [
        {
            "smiles": precursors,
            "probability": probability,
            "plausibility": 0.9,
            "template_id": f"t{rank}",
            "reaction_class": "amide formation",
            "precedents": 57,
            "in_stock": [each in PRICES for each in precursors],
        }
        for rank, (precursors, probability) in enumerate(STEPS.get(smiles, []))
    ]
    return {"precursors": sets[: body["limit"]]}


def building_block(smiles: str, _: Mapping[str, Any]) -> dict[str, Any]:
    """Who sells a molecule."""
    sold = smiles in PRICES
    known = {"in_stock": sold, "price": PRICES.get(smiles), "lead_time_days": 3.0 if sold else None}
    return known | {"vendors": ["Acme", "Bolt"] if sold else [], "offers": []}


def synthesizability(smiles: str, _: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a molecule can be made."""
    steps = 0 if smiles in PRICES else 1 if smiles in STEPS else None
    solved = steps is not None
    figures = {"steps": steps, "price": 12.5 if solved else None, "plausibility": 0.9 if solved else None}
    return {"solved": solved, "seconds": 0.01} | figures


def likelihood(smiles: str, _: Mapping[str, Any]) -> dict[str, Any]:
    """As many nats as characters."""
    return {"negative_log_likelihood": float(len(smiles)) if smiles else None}


def analogue(smiles: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The route with another name for its block, in one step."""
    if not smiles or smiles == UNKNOWN:
        nothing = {"in_stock": False, "target": None, "plausibility": None, "route": None}
        return nothing | ({"error": f"the step to {AMIDE}: the template does not match these molecules"} if smiles else {})
    return {"in_stock": smiles in PRICES, "target": f"{smiles}C", "plausibility": 0.5, "route": body["route"]}


QUERIES = {
    "expansions": expansion,
    "building-blocks": building_block,
    "synthesizability": synthesizability,
    "analogues": analogue,
    "likelihoods": likelihood,
}


def found(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the shop has that is like an amine: the amine, and more."""
    similar = 1.0 if "similar_to" in body else None
    block = {"smiles": AMINE, "error": None, "mw": 31.058, "similarity": similar} | building_block(AMINE, body)
    return {"items": [block], "more": True, "searched": 0.5}


@contextmanager
def open_shop() -> Generator[Shop, None, None]:
    """A server that runs."""

    class Handler(Quiet):
        def do_POST(self) -> None:  # noqa: N802 (the library's names)
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            name = self.path.rpartition("/")[2]
            shop.asked.append((name, body))
            told = found(body) if name == "search" else {"items": [item(name, each, body) for each in body["smiles"]]}
            answer = json.dumps({"object": "list"} | told).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    shop = Shop("")
    with listening(Handler) as shop.url:
        yield shop


def item(name: str, smiles: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of one molecule; of a chain of seven carbons, and of no molecule, nothing."""
    error = NOT_REACHED if smiles == "CCCCCCC" else "no molecule at 2" if "(" in smiles and ")" not in smiles else None
    return {"smiles": smiles, "error": error} | QUERIES[name]("" if error else smiles, body)
