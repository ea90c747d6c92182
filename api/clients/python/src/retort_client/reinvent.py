"""Synthesizability scores for programs that generate molecules: REINVENT 4's component `Retort` uses them.

Each molecule gets a short plan of its own. A plan without a route is an answer, and says that within its seconds the molecule was
not solved. A plan that failed (no service, a ration spent, a molecule that the service refuses) says nothing, and is NaN, never
0: a generator would learn from a zero that was only a lost connection.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping, Sequence

from .asynchronous import AsyncRetort
from .errors import RetortError
from .plan import Plan
from .route import Route
from .wire import PlanSettings

logger = logging.getLogger(__name__)


def _of_best(figure: Callable[[Route], float | None]) -> Callable[[Plan], float]:
    """A figure of the best route; NaN where there is no route, or nobody knows."""

    def read(plan: Plan) -> float:
        value = None if plan.best is None else figure(plan.best)
        return math.nan if value is None else float(value)

    return read


def _plausibility(route: Route) -> float | None:
    known = [step.evidence.plausibility for step in route.steps]
    return None if None in known else math.prod(each for each in known if each is not None)


PROPERTIES: Mapping[str, Callable[[Plan], float]] = {
    "solved": lambda plan: float(bool(plan)),
    "steps": _of_best(lambda route: len(route.steps)),
    "usd_per_mol": _of_best(lambda route: route.cost_usd_per_mol),
    "plausibility": _of_best(_plausibility),
}
"""Properties of a molecule's best route: whether there is one (1 or 0), its reactions, USD of building blocks for
a mole, and the product of its steps' plausibilities, from 0 to 1."""


def scores(
    smiles: Sequence[str], properties: Sequence[str], settings: PlanSettings, url: str | None = None, at_once: int = 8
) -> list[list[float]]:
    """The properties of molecules: for each property a list in the order of `smiles`, NaN where it could not be told.

    `settings` are those of the plans, of which `at_once` run at a time. The service is that of `url` or `RETORT_URL`, called as
    `Retort.from_env` does.
    """
    figures = [PROPERTIES[name] for name in properties]
    plans = asyncio.run(_plans(smiles, settings, url, at_once))
    return [[math.nan if plan is None else figure(plan) for plan in plans] for figure in figures]


async def _plans(smiles: Sequence[str], settings: PlanSettings, url: str | None, at_once: int) -> list[Plan | None]:
    places = asyncio.Semaphore(at_once)
    async with AsyncRetort.from_env(url) as retort:

        async def plan(molecule: str) -> Plan | None:
            async with places:
                try:
                    return await retort.plan(molecule, **settings)
                except RetortError as error:
                    logger.warning("no plan for %s: %s", molecule, error)
                    return None

        return await asyncio.gather(*map(plan, smiles))
