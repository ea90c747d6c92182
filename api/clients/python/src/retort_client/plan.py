"""Result of a tree search."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from . import drawing, text
from .extras import need
from .route import Route
from .wire import Country, Metadata, Offer, TreeSearchResult

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class BackboneGroup:
    """Routes that build the target from the same fragments, and differ in what they buy and in steps that change no fragment."""

    backbone: str
    """`b` and 16 hexadecimal digits, the same for the same backbone in every search."""
    routes: tuple[Route, ...]
    """Best first."""


@dataclass(frozen=True)
class Plan:
    """The routes to a target, with offers for what they buy."""

    answer: TreeSearchResult
    """Result of the search, in the shape of the API."""
    ships_to: Country | None = "US"
    """Country of the lead times in pictures and texts."""

    @property
    def target(self) -> str:
        """Canonical SMILES of the target."""
        return self.answer.search_smiles

    @property
    def metadata(self) -> Metadata:
        """Seconds and counts, and where there is no route, why (`metadata.search`)."""
        return self.answer.metadata

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        """Every route of the answer, best first."""
        found = [
            Route(graph, backbone, self._offers_by_block, self.ships_to)
            for backbones in self.answer.route_hierarchy.values()
            for backbone, variations in backbones.items()
            for variation in variations
            for graph in variation
        ]
        return tuple(sorted(found, key=lambda route: math.inf if route.rank is None else route.rank))

    @property
    def best(self) -> Route | None:
        """The best route; none where there is no route."""
        return self.routes[0] if self.routes else None

    @cached_property
    def groups(self) -> tuple[BackboneGroup, ...]:
        """The routes by backbone; the group of the best route first."""
        groups: dict[str, list[Route]] = {}
        for route in self.routes:
            groups.setdefault(route.backbone, []).append(route)
        return tuple(BackboneGroup(backbone, tuple(routes)) for backbone, routes in groups.items())

    @property
    def offers(self) -> tuple[Offer, ...]:
        """All offers for what the routes buy."""
        return self.answer.pricing_annotations

    @cached_property
    def _offers_by_block(self) -> Mapping[int, tuple[Offer, ...]]:
        offers: dict[int, list[Offer]] = {}
        for offer in self.answer.pricing_annotations:
            offers.setdefault(offer.major_component_id, []).append(offer)
        return {block: tuple(sorted(of_one, key=_usd_per_gram)) for block, of_one in offers.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """One row a route, best first, with what it takes and what it buys. Needs pandas."""
        columns = {
            "rank": [route.rank for route in self.routes],
            "score": [route.score for route in self.routes],
            "depth": [route.depth for route in self.routes],
            "steps": [len(route.steps) for route in self.routes],
            "backbone": [route.backbone for route in self.routes],
            "cost_usd_per_mol": [route.cost_usd_per_mol for route in self.routes],
            "lead_time_days": [route.lead_time_days for route in self.routes],
            "order_usd": [route.shopping_list.total_usd if route.shopping_list else None for route in self.routes],
            "building_blocks": [[block.smiles for block in route.building_blocks] for route in self.routes],
            "reactions": [[step.smiles for step in route.steps] for route in self.routes],
        }
        frame: pandas.DataFrame = need("pandas", "pandas").DataFrame(columns)
        return frame

    def to_json(self) -> str:
        """The answer as JSON, from which `Plan.from_json` makes the plan again."""
        return self.answer.model_dump_json()

    @classmethod
    def from_json(cls, answer: str | bytes, ships_to: Country | None = "US") -> Plan:
        """The plan of an answer that was kept, by `to_json` or by `retort plan --out FILE.json`."""
        return cls(TreeSearchResult.model_validate_json(answer), ships_to)

    def __iter__(self) -> Iterator[Route]:
        return iter(self.routes)

    def __len__(self) -> int:
        return len(self.routes)

    def __bool__(self) -> bool:
        """True if there is a route."""
        return bool(self.routes)

    def __str__(self) -> str:
        """Every route as text, as `retort plan` prints them; where there is none, what stopped the search and what to try."""
        trees = (f"\nRoute {number} · {text.heading(route)}\n{route}" for number, route in enumerate(self.routes, 1))
        search = self.metadata.search
        why = [] if self.routes or search is None else [text.without_route(search)]
        return "\n".join([f"{self.target}\n{text.found(self.answer, len(self.routes))}", *trees, *why])

    def _repr_html_(self) -> str:
        if self.best is None:
            return drawing.plain(str(self))
        rows = "".join(f"<li>{html.escape(text.heading(route))}</li>" for route in self.routes)
        said = html.escape(text.found(self.answer, len(self.routes)))
        return f"<p>{said}</p>{self.best._repr_html_()}<ol>{rows}</ol>"  # pyright: ignore[reportPrivateUsage]


def _usd_per_gram(offer: Offer) -> float:
    return math.inf if offer.normalised_usd is None else offer.normalised_usd
