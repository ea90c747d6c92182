"""Inside AiZynthFinder, where it is installed: its own search by a service's model and stock, named in its configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Installation
from shop import ACID, AMIDE, AMINE, ESTER, UNKNOWN, Shop, open_shop

from retort_client import RetortError

aizynthfinder: Any = pytest.importorskip("aizynthfinder.aizynthfinder", exc_type=ImportError)
chem: Any = pytest.importorskip("aizynthfinder.chem", exc_type=ImportError)


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("RETORT_TOKEN", "t")
    with open_shop() as shop:
        yield shop


@pytest.fixture
def finder(shop: Shop) -> Any:  # noqa: ANN401
    return finder_at(shop.url)


def finder_at(url: str) -> Any:  # noqa: ANN401
    named = {"type": "retort_client.aizynthfinder.RetortExpansion", "url": url, "limit": 10}
    stock = {"type": "retort_client.aizynthfinder.RetortStock", "url": url}
    finder = aizynthfinder.AiZynthFinder(configdict={"expansion": {"retort": named}, "stock": {"retort": stock}})
    finder.expansion_policy.select("retort")
    finder.stock.select("retort")
    return finder


def test_its_search_finds_routes_by_the_services_steps_to_what_the_service_sells(finder: Any) -> None:  # noqa: ANN401
    finder.target_smiles = AMIDE

    finder.tree_search()
    finder.build_routes()

    assert finder.extract_statistics()["is_solved"]
    (tree, *_) = finder.routes.reaction_trees
    (reaction, *_) = tree.reactions()
    assert {leaf.smiles for leaf in tree.leafs()} <= {ACID, AMINE, "CCO"}
    assert (reaction.metadata["policy_name"], reaction.metadata["classification"]) == ("retort", "amide formation")


def test_a_policy_gives_actions_with_priors_and_asks_once(finder: Any, shop: Shop) -> None:  # noqa: ANN401
    amide, unknown = chem.TreeMolecule(smiles=AMIDE, parent=None), chem.TreeMolecule(smiles=UNKNOWN, parent=None)

    (actions, priors), _ = [finder.expansion_policy([amide], [unknown]) for _ in range(2)]

    assert priors == [0.6, 0.3]
    assert [action.reactants_str for action in actions] == [f"{ACID}.{AMINE}", f"{ESTER}.{AMINE}"]
    assert [name for name, _ in shop.asked] == ["expansions", "building-blocks"]
    assert shop.asked[0][1]["smiles"] == [AMIDE, UNKNOWN]


def test_a_stock_has_prices_and_who_sells(finder: Any) -> None:  # noqa: ANN401
    acid, ethanol = chem.Molecule(smiles=ACID), chem.Molecule(smiles="CCO")

    assert acid in finder.stock
    assert chem.Molecule(smiles=UNKNOWN) not in finder.stock
    assert (finder.stock.price(acid), finder.stock.availability_list(acid)) == (0.5, ["Acme", "Bolt"])
    assert ethanol in finder.stock
    with pytest.raises(Exception, match="Could not obtain price"):
        finder.stock.price(ethanol)


def test_what_could_not_be_told_is_no_answer(finder: Any) -> None:  # noqa: ANN401
    late = chem.TreeMolecule(smiles="CCCCCCC", parent=None)

    with pytest.raises(RetortError, match="not reached"):
        finder.expansion_policy([late])
    with pytest.raises(RetortError, match="not reached"):
        _ = late in finder.stock


def test_a_service_that_runs_is_searched_with(bulk_querying: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETORT_TOKEN", bulk_querying.token)
    finder = finder_at(bulk_querying.url)
    finder.target_smiles = bulk_querying.target
    finder.config.search.time_limit = 20
    finder.config.search.return_first = True

    finder.tree_search()
    finder.build_routes()

    assert finder.extract_statistics()["is_solved"]
