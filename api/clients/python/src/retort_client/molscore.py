"""A scoring function for MolScore: whether a service finds a way to make molecules.

`import retort_client.molscore` makes it known, and a task then names it:

    {"name": "Retort", "run": true, "parameters": {"prefix": "Retort", "max_seconds": 0.05}}

Its metrics are `Retort_solved` (1 or 0), `Retort_steps`, `Retort_usd_per_mol` and `Retort_plausibility` of the best route. What
could not be told is NaN, never 0. MolScore itself puts 0 in place of every NaN, so that a task that must not learn from a lost
connection says `"on_failure": "raise"`: then `RetortError` ends its run.
"""

# MolScore need not be there.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import logging
import math
from typing import Any, Literal

from molscore.scoring_functions import all_scoring_functions

from .bulk_queries import Synthesizability
from .client import Retort as Service
from .errors import RetortError

__all__ = ["Retort"]

logger = logging.getLogger(__name__)


class Retort:
    """Result of a short search for each molecule: solved, steps, price, plausibility."""

    return_metrics = ("solved", "steps", "usd_per_mol", "plausibility")

    def __init__(
        self,
        prefix: str = "Retort",
        url: str | None = None,
        max_seconds: float = 0.05,
        on_failure: Literal["nan", "raise"] = "nan",
        **_: object,
    ) -> None:
        """
        :param prefix: Prefix to identify scoring function instance
        :param url: Address of the service; that of RETORT_URL where there is none
        :param max_seconds: Seconds of each molecule's search [0.01, 1]
        :param on_failure: What becomes of a molecule of which the service could not tell [nan, raise]
        """
        self.prefix = prefix.replace(" ", "_")
        self._service = Service.from_env(url)
        self._max_seconds = max_seconds
        self._on_failure = on_failure

    def __call__(self, smiles: list[str], **_: object) -> list[dict[str, Any]]:
        """The metrics of each molecule, in order."""
        try:
            found = self._service.synthesizability(smiles, max_seconds=self._max_seconds)
        except RetortError as error:
            self._failed(error)
            return [self._result(each, None) for each in smiles]
        return [self._result(each, told) for each, told in zip(smiles, found, strict=True)]

    def _result(self, smiles: str, told: Synthesizability | None) -> dict[str, Any]:
        if told is not None and told.error is not None:
            self._failed(RetortError(f"nobody knows whether {smiles} can be made: {told.error}"))
            told = None
        solved = None if told is None else float(told.solved)
        figures = (solved, *((told.steps, told.price, told.plausibility) if told else (None, None, None)))
        named = zip(self.return_metrics, figures, strict=True)
        return {"smiles": smiles} | {f"{self.prefix}_{name}": math.nan if each is None else each for name, each in named}

    def _failed(self, error: RetortError) -> None:
        if self._on_failure == "raise":
            raise error
        logger.warning("%s", error)


if Retort not in all_scoring_functions:
    all_scoring_functions.append(Retort)
