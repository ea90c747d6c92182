"""REINVENT 4 finds this component by the name of its file: synthesizability, by plans of a Retort service.

    [[stage.scoring.component]]
    [stage.scoring.component.Retort]
    [[stage.scoring.component.Retort.endpoint]]
    name = "can be made"
    weight = 1
    params.property = "solved"      # or "steps", "usd_per_mol", "plausibility": see retort_client.reinvent
    params.max_seconds = 0.5

Settings of the plans are those of the first endpoint. The service is that of `RETORT_URL`, called with `RETORT_TOKEN`.
"""

# REINVENT, whose folder this file is laid into, has no types and need not be there.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

__all__ = ["Retort"]

from dataclasses import field

import numpy as np
from pydantic.dataclasses import dataclass

from reinvent_plugins.components.add_tag import add_tag
from reinvent_plugins.components.component_results import ComponentResults
from retort_client.reinvent import PROPERTIES, scores
from retort_client.wire import PlanSettings


@add_tag("__parameters")
@dataclass
class Parameters:
    """A list each, with a value an endpoint, as REINVENT has it."""

    property: list[str]
    max_seconds: list[float] = field(default_factory=lambda: [0.5])
    max_depth: list[int] = field(default_factory=lambda: [5])


@add_tag("__component")
class Retort:
    """Scores of molecules by the routes to them; NaN where none could be told."""

    def __init__(self, params: Parameters) -> None:
        unknown = set(params.property) - set(PROPERTIES)
        if unknown:
            raise ValueError(f"no such property: {', '.join(sorted(unknown))} (there are {', '.join(PROPERTIES)})")
        self.params = params
        self.number_of_endpoints = len(params.property)

    def __call__(self, smilies: list[str]) -> ComponentResults:
        """The scores of each endpoint, in the order of the molecules."""
        settings: PlanSettings = {"max_seconds": self.params.max_seconds[0], "max_depth": self.params.max_depth[0]}
        return ComponentResults([np.array(each) for each in scores(smilies, self.params.property, settings)])
