"""The client's types are those of the service's OpenAPI document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from retort_client import bulk_queries, compact, events, kept, stored, wire

DOCUMENT = Path(__file__).parents[3] / "tests" / "openapi.json"

# What is called otherwise here than there.
NAMES = {
    "SampleSummary": "SampleListItem",
    "SamplePage": "SampleList",
    "Offer": "PricingAnnotation",
    "PlanBody": "NativePlan",
    "PlanPage": "Page_Plan",
    "BatchBody": "Batch",
    "BatchPage": "Page_Batch",
    "SampleBatchBody": "SampleBatch",
    "SampleBatchPage": "Listed_SampleBatch",
    "ChunkPage": "Listed_Sample",
    "KeptBody": "KeptRoute",
    "KeptPage": "Page_KeptRoute",
    "BulkAnswer": "Looked_ExpandedMolecule",
    "Progress": "SearchProgress",
    "_RouteFound": "FoundRoute",
    "_Problem": "StreamProblem",
}
BODIES = [
    body
    for module in (wire, compact, stored, bulk_queries, kept, events)
    for body in vars(module).values()
    if isinstance(body, type)
    and issubclass(body, wire.Body)
    and body.__module__ == module.__name__
    and body not in {wire.Body, wire.Identified}
    # Nor what pydantic makes of a page of something, which has a name of its own.
    and "[" not in body.__name__
]


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    if not DOCUMENT.exists():
        pytest.skip("the service's document lies beside the client in its repository alone")
    return json.loads(DOCUMENT.read_text(encoding="utf-8"))["components"]["schemas"]


def merged(schema: dict[str, Any], schemas: dict[str, Any]) -> tuple[set[str], set[str]]:
    """All properties of a schema, and those that must be there. Parts that are flattened into it may be missing as a whole."""

    def named(part: dict[str, Any]) -> dict[str, Any]:
        return schemas[part["$ref"].rpartition("/")[2]] if "$ref" in part else part

    parts = [named(part) for part in schema.get("allOf", [schema])]
    flattened = [named(each) for part in parts for each in part.get("oneOf", [])]
    properties = {name for part in [*parts, *flattened] for name in part.get("properties", {})}
    return properties, {name for part in parts for name in part.get("required", [])}


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_each_body_has_the_fields_of_the_document_and_demands_none_that_may_be_missing(
    body: type[BaseModel], schemas: dict[str, Any]
) -> None:
    properties, required = merged(schemas[NAMES.get(body.__name__, body.__name__)], schemas)

    assert set(body.model_fields) <= properties
    assert {name for name, field in body.model_fields.items() if field.is_required()} <= required


@pytest.mark.parametrize("body", ["PlanParameters", "BatchParameters"])
def test_plans_and_batches_take_the_settings_of_a_search_and_an_engine(body: str, schemas: dict[str, Any]) -> None:
    assert set(wire.PlanSettings.__annotations__) == set(schemas[body]["properties"]) - {"search_smiles", "engine"}


def test_every_setting_of_a_search_can_be_set(schemas: dict[str, Any]) -> None:
    assert set(wire.PlanSettings.__annotations__) == set(schemas["TreeSearchRequest"]["properties"]) - {"search_smiles"}


def test_every_condition_of_a_sample_can_be_set(schemas: dict[str, Any]) -> None:
    for request in ("SampleRequest", "SampleBatchRequest"):
        assert set(wire.SampleConditions.__annotations__) == set(schemas[request]["properties"]) - {"size", "model_id"}
    assert set(wire.RouteLimits.__annotations__) == set(schemas["RouteLimits"]["properties"])
    assert set(wire.PropertyRange.__annotations__) == set(schemas["PropertyRange"]["properties"])
