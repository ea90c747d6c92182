"""Inside syntheseus, where it is installed: its own search by a service's model and stock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Installation
from shop import ACID, AMIDE, AMINE, ESTER, UNKNOWN, Shop, open_shop

from retort_client import Retort, RetortError

interface: Any = pytest.importorskip("syntheseus")
retro_star: Any = pytest.importorskip("syntheseus.search.algorithms.best_first.retro_star")
evaluation: Any = pytest.importorskip("syntheseus.search.node_evaluation.common")
plugin: Any = pytest.importorskip("retort_client.syntheseus")


@pytest.fixture
def shop() -> Iterator[Shop]:
    with open_shop() as shop:
        yield shop


@pytest.fixture
def retort(shop: Shop) -> Iterator[Retort]:
    with Retort(shop.url, "t") as retort:
        yield retort


def test_a_model_gives_reactions_with_their_probabilities(retort: Retort) -> None:
    model = plugin.RetortModel(retort)

    amide, unknown = model([interface.Molecule(AMIDE), interface.Molecule(UNKNOWN)], num_results=10)

    assert [str(reaction) for reaction in amide] == [f"{ACID}.{AMINE}>>{AMIDE}", f"{ESTER}.{AMINE}>>{AMIDE}"]
    assert [reaction.metadata["probability"] for reaction in amide] == [0.6, 0.3]
    assert amide[0].metadata["template"] == "t0"
    assert list(unknown) == []


def test_an_inventory_says_what_is_sold_at_what_price_and_asks_once(shop: Shop, retort: Retort) -> None:
    inventory = plugin.RetortInventory(retort)
    acid, unknown = interface.Molecule(ACID), interface.Molecule(UNKNOWN)

    inventory.fill_metadata(acid)

    assert {name: acid.metadata[name] for name in ("is_purchasable", "cost", "supplier")} == {
        "is_purchasable": True,
        "cost": 0.5,
        "supplier": "Acme, Bolt",
    }
    assert (inventory.is_purchasable(unknown), inventory.is_purchasable(acid)) == (False, True)
    assert [body["smiles"] for _, body in shop.asked] == [[ACID], [UNKNOWN]]


def test_what_could_not_be_told_is_no_answer(retort: Retort) -> None:
    late = interface.Molecule("CCCCCCC")

    with pytest.raises(RetortError, match="not reached"):
        plugin.RetortModel(retort)([late])
    with pytest.raises(RetortError, match="not reached"):
        plugin.RetortInventory(retort).is_purchasable(late)


def test_retro_star_solves_a_target_with_two_requests_an_expansion(shop: Shop, retort: Retort) -> None:
    inventory = plugin.RetortInventory(retort)
    model = plugin.RetortModel(retort, inventory=inventory, use_cache=True)
    search = retro_star.RetroStarSearch(
        reaction_model=model,
        mol_inventory=inventory,
        and_node_cost_fn=evaluation.ReactionModelLogProbCost(),
        value_function=evaluation.ConstantNodeEvaluator(0.0),
        limit_reaction_model_calls=5,
        stop_on_first_solution=True,
    )

    graph, _ = search.run_from_mol(interface.Molecule(AMIDE))

    assert graph.root_node.has_solution
    assert [name for name, _ in shop.asked] == ["building-blocks", "expansions", "building-blocks"]


def test_a_service_that_runs_is_searched_with(bulk_querying: Installation) -> None:
    with Retort(bulk_querying.url, bulk_querying.token) as retort:
        inventory = plugin.RetortInventory(retort)
        search = retro_star.RetroStarSearch(
            reaction_model=plugin.RetortModel(retort, inventory=inventory, use_cache=True),
            mol_inventory=inventory,
            and_node_cost_fn=evaluation.ReactionModelLogProbCost(),
            value_function=evaluation.ConstantNodeEvaluator(0.0),
            limit_reaction_model_calls=20,
            stop_on_first_solution=True,
        )

        graph, _ = search.run_from_mol(interface.Molecule(bulk_querying.target))

    assert graph.root_node.has_solution
