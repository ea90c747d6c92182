"""Looks at up to a thousand molecules at once: what they may be made of in one step, who sells them, whether they can be made.

Each molecule has its own answer, in the order in which it was asked for. One that cannot be read, or whose turn did not come in
time, has an `error` in its place and nothing else that is known: its other fields say nothing then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Generic, TypeVar

from typing_extensions import TypedDict

from .calls import Session, call
from .exchange import Request, Steps, read
from .route import Route
from .wire import Body, Country, Offer, RouteGraph

M = TypeVar("M", bound=Body)

EXPANSIONS = "/synth/v1/expansions"
BUILDING_BLOCKS = "/synth/v1/building-blocks"
SEARCH = "/synth/v1/building-blocks/search"
SYNTHESIZABILITY = "/synth/v1/synthesizability"
ANALOGUES = "/synth/v1/analogues"
LARGEST_LOOK = 1000
LONGEST_SEARCH = 5.0
"""Seconds of a search of the catalogue."""


class Looked(Body, Generic[M]):
    """What was found of many molecules."""

    items: tuple[M, ...]


class PrecursorSet(Body):
    """Molecules that may make another in one step."""

    smiles: tuple[str, ...]
    """Canonical SMILES; what is needed twice is there twice."""
    probability: float
    """That the model gives the step, of all that it has for the molecule."""
    plausibility: float | None = None
    """Probability, from 0 to 1, that these give the molecule rather than something else."""
    template_id: str | None = None
    reaction_class: str | None = None
    reaction_category: str | None = None
    precedents: int | None = None
    in_stock: tuple[bool, ...]
    """Whether each of the precursors can be bought."""


class ExpandedMolecule(Body):
    """What a molecule may be made of in one step."""

    smiles: str
    error: str | None = None
    precursors: tuple[PrecursorSet, ...]
    """The most probable first."""


class SoldMolecule(Body):
    """Whether and where a molecule is sold."""

    smiles: str
    error: str | None = None
    in_stock: bool
    price: float | None = None
    """USD per gram of the cheapest offer."""
    lead_time_days: float | None = None
    inchikey: str | None = None
    """Where it was asked for."""
    vendors: tuple[str, ...]
    offers: tuple[Offer, ...]
    """The cheapest first."""


class BlockSearch(TypedDict, total=False):
    """What the catalogue is searched by: one of the first four; what is left out is as the service has it."""

    smiles: str
    similar_to: str
    substructure: str
    text: str
    """A vendor's number, or how it begins."""
    min_similarity: float
    limit: int
    """1 to 100."""
    ships_to: Country | None
    """Anywhere for none."""
    max_offers: int


class FoundBlock(SoldMolecule):
    """A building block that was found."""

    mw: float
    """Daltons."""
    similarity: float | None = None
    """Tanimoto similarity, where that was asked for."""


class FoundBlocks(Body):
    """What a search of the catalogue found."""

    items: tuple[FoundBlock, ...]
    more: bool
    """Whether there are more, or may be."""
    searched: float
    """The part of the catalogue, from 0 to 1, that was looked at before there were enough or the time was over."""


class Synthesizability(Body):
    """Whether a short search finds a way to make or buy a molecule."""

    smiles: str
    error: str | None = None
    solved: bool
    steps: int | None = None
    """Of the longest branch of the best route; 0 where the molecule itself can be bought."""
    price: float | None = None
    """USD of that route's building blocks for a mole of the molecule."""
    plausibility: float | None = None
    """The product of that of the route's steps."""
    seconds: float


class Analogue(Body):
    """What a route gives with another molecule in the place of one of its building blocks."""

    smiles: str
    """What takes the block's place."""
    error: str | None = None
    """Among others which step does not take it, and why."""
    in_stock: bool
    target: str | None = None
    """What the route makes of it."""
    plausibility: float | None = None
    """The product of that of the route's steps."""
    route: RouteGraph | None = None

    def to_route(self) -> Route:
        """The route, to be drawn, written down or kept; it knows no offers.

        Raises `ValueError` where there is none.
        """
        if self.route is None:
            raise ValueError(self.error)
        return Route(self.route, "", {}, None)


def expansions(session: Session, smiles: Iterable[str], limit: int, engine: str | None) -> Steps[tuple[ExpandedMolecule, ...]]:
    """What molecules may be made of in one step."""
    settings = {"limit": limit} | ({} if engine is None else {"engine": engine})
    return _look(session, EXPANSIONS, smiles, settings, Looked[ExpandedMolecule])


def building_blocks(
    session: Session, smiles: Iterable[str], ships_to: Country | None, max_offers: int | None, inchikey: bool
) -> Steps[tuple[SoldMolecule, ...]]:
    """Who sells molecules."""
    settings = {"ships_to": ships_to} | ({} if max_offers is None else {"max_offers": max_offers}) | ({"inchikey": True} if inchikey else {})
    return _look(session, BUILDING_BLOCKS, smiles, settings, Looked[SoldMolecule])


def search(session: Session, asked: BlockSearch) -> Steps[FoundBlocks]:
    """Building blocks that are like something."""
    seconds = session.patience.for_work(LONGEST_SEARCH)
    answer = yield from call(session, Request("POST", SEARCH, json={**asked}, seconds=seconds, idempotent=True))
    return read(FoundBlocks, answer)


def synthesizability(
    session: Session, smiles: Iterable[str], max_seconds: float, engine: str | None
) -> Steps[tuple[Synthesizability, ...]]:
    """Whether molecules can be made."""
    settings = {"max_seconds": max_seconds} | ({} if engine is None else {"engine": engine})
    return _look(session, SYNTHESIZABILITY, smiles, settings, Looked[Synthesizability])


def analogues(
    session: Session, route: Route, building_block: str, smiles: Iterable[str], engine: str | None
) -> Steps[tuple[Analogue, ...]]:
    """What a route gives with other molecules in the place of a block."""
    graph = route.graph.model_dump(mode="json", exclude_unset=True)
    settings = {"route": graph, "building_block": building_block} | ({} if engine is None else {"engine": engine})
    return _look(session, ANALOGUES, smiles, settings, Looked[Analogue])


def _look(
    session: Session, path: str, smiles: Iterable[str], settings: Mapping[str, Any], shape: type[Looked[M]]
) -> Steps[tuple[M, ...]]:
    """As many looks as it takes, one after the other."""
    found: list[M] = []
    for some in _thousands(smiles):
        # A second for each is the most that a molecule may take; the service has a deadline of its own, and answers by then.
        seconds = session.patience.for_work(float(len(some)))
        answer = yield from call(
            session, Request("POST", path, json={"smiles": some, **settings}, seconds=seconds, idempotent=True)
        )
        found.extend(read(shape, answer).items)
    return tuple(found)


def _thousands(smiles: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(smiles)
    while some := list(islice(rest, LARGEST_LOOK)):
        yield some
