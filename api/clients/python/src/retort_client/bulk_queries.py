"""Bulk queries of many molecules: precursors, offers, synthesizability, analogues.

Each molecule has an answer at its position. An invalid molecule, or one that was not reached in time, has an `error`; its other
fields have no meaning then.
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
LIKELIHOODS = "/generator/v1/likelihoods"
LARGEST_QUERY = 1000
LONGEST_SEARCH = 5.0
"""Seconds of a search of the catalogue."""


class BulkAnswer(Body, Generic[M]):
    """Answer to a bulk query."""

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
    needs: str | None = None
    """By what the step gives the configuration, where the precursors do not."""
    in_stock: tuple[bool, ...]
    """True for each precursor that can be bought."""


class ExpandedMolecule(Body):
    """A molecule with its possible precursors."""

    smiles: str
    error: str | None = None
    precursors: tuple[PrecursorSet, ...]
    """Those first that chemists have probably used."""


class SoldMolecule(Body):
    """A molecule with its offers."""

    smiles: str
    error: str | None = None
    in_stock: bool
    price: float | None = None
    """USD per gram of the cheapest offer."""
    lead_time_days: float | None = None
    inchikey: str | None = None
    """Set if it was asked for."""
    vendors: tuple[str, ...]
    offers: tuple[Offer, ...]
    """The cheapest first."""


class BlockSearch(TypedDict, total=False):
    """Query of the catalogue, by one of the first four. The service has a default for each other field."""

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
    """Result of a search of the catalogue."""

    items: tuple[FoundBlock, ...]
    more: bool
    """True if there are more, or may be."""
    searched: float
    """Share of the catalogue, from 0 to 1, that was searched before there were enough or the time was over."""


class MoleculeLikelihood(Body):
    """Likelihood of a molecule under a generative model."""

    smiles: str
    """Canonical."""
    error: str | None = None
    negative_log_likelihood: float | None = None
    """In nats, at temperature 1."""


class Synthesizability(Body):
    """Result of a short search for a way to make or buy a molecule."""

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
    """Product of a route with another molecule in the place of one of its building blocks."""

    smiles: str
    """Molecule in the block's place."""
    error: str | None = None
    """Among others which step does not take it, and why."""
    in_stock: bool
    target: str | None = None
    """Product of the route."""
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
    """Proposes precursors of molecules."""
    settings = {"limit": limit} | ({} if engine is None else {"engine": engine})
    return _bulk_query(session, EXPANSIONS, smiles, settings, BulkAnswer[ExpandedMolecule])


def building_blocks(
    session: Session, smiles: Iterable[str], ships_to: Country | None, max_offers: int | None, inchikey: bool
) -> Steps[tuple[SoldMolecule, ...]]:
    """Looks up offers of molecules."""
    settings = (
        {"ships_to": ships_to}
        | ({} if max_offers is None else {"max_offers": max_offers})
        | ({"inchikey": True} if inchikey else {})
    )
    return _bulk_query(session, BUILDING_BLOCKS, smiles, settings, BulkAnswer[SoldMolecule])


def search(session: Session, asked: BlockSearch) -> Steps[FoundBlocks]:
    """Searches building blocks."""
    seconds = session.retry_policy.for_work(LONGEST_SEARCH)
    answer = yield from call(session, Request("POST", SEARCH, json={**asked}, seconds=seconds, idempotent=True))
    return read(FoundBlocks, answer)


def synthesizability(
    session: Session, smiles: Iterable[str], max_seconds: float, engine: str | None
) -> Steps[tuple[Synthesizability, ...]]:
    """Searches briefly for routes to molecules."""
    settings = {"max_seconds": max_seconds} | ({} if engine is None else {"engine": engine})
    return _bulk_query(session, SYNTHESIZABILITY, smiles, settings, BulkAnswer[Synthesizability])


def likelihoods(
    session: Session, smiles: Iterable[str], model: str | None
) -> Steps[tuple[MoleculeLikelihood, ...]]:
    """Computes the likelihoods of molecules under a model."""
    settings = {} if model is None else {"model_id": model}
    return _bulk_query(session, LIKELIHOODS, smiles, settings, BulkAnswer[MoleculeLikelihood])


def analogues(
    session: Session, route: Route, building_block: str, smiles: Iterable[str], engine: str | None
) -> Steps[tuple[Analogue, ...]]:
    """Runs a route with other molecules in the place of a block."""
    graph = route.graph.model_dump(mode="json", exclude_unset=True)
    settings = {"route": graph, "building_block": building_block} | ({} if engine is None else {"engine": engine})
    return _bulk_query(session, ANALOGUES, smiles, settings, BulkAnswer[Analogue])


def _bulk_query(
    session: Session, path: str, smiles: Iterable[str], settings: Mapping[str, Any], shape: type[BulkAnswer[M]]
) -> Steps[tuple[M, ...]]:
    """Sends as many bulk queries as needed, one after the other."""
    found: list[M] = []
    for some in _thousands(smiles):
        # A second for each is the most that a molecule may take; the service has a deadline of its own, and answers by then.
        seconds = session.retry_policy.for_work(float(len(some)))
        answer = yield from call(
            session, Request("POST", path, json={"smiles": some, **settings}, seconds=seconds, idempotent=True)
        )
        found.extend(read(shape, answer).items)
    return tuple(found)


def _thousands(smiles: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(smiles)
    while some := list(islice(rest, LARGEST_QUERY)):
        yield some
