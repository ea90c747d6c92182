"""Looks at many molecules: what is asked, and what is told of each."""

from __future__ import annotations

import httpx
import pytest
from conftest import Installation
from shop import AMIDE, AMINE, ESTER, NOT_REACHED, UNKNOWN, open_shop
from worlds import BOTH, Call

from retort_client import InvalidRequest, Plan, Retort, RetryPolicy

LOST = httpx.ReadError("connection reset")


@pytest.mark.parametrize("call", BOTH)
def test_an_expansion_has_its_precursors_the_most_probable_first(call: Call) -> None:
    with open_shop() as shop:
        amide, unknown, nothing = call(lambda retort: retort.expansions(iter([AMIDE, UNKNOWN, "C("]), limit=2), shop.url, "t")

    assert [(each.smiles, each.probability, each.in_stock) for each in amide.precursors] == [
        (("CC(=O)O", "CN"), 0.6, (True, True)),
        (("CCOC(C)=O", "CN"), 0.3, (False, True)),
    ]
    assert (unknown.error, unknown.precursors) == (None, ())
    assert (nothing.error, nothing.precursors) == ("no molecule at 2", ())
    assert shop.asked == [("expansions", {"smiles": [AMIDE, UNKNOWN, "C("], "limit": 2})]


@pytest.mark.parametrize("call", BOTH)
def test_building_blocks_have_their_price_and_who_sells_them(call: Call) -> None:
    with open_shop() as shop:
        amine, unknown = call(
            lambda retort: retort.building_blocks([AMINE, UNKNOWN], ships_to=None, max_offers=3, inchikey=True), shop.url, "t"
        )

    assert (amine.in_stock, amine.price, amine.vendors) == (True, 2.5, ("Acme", "Bolt"))
    assert (unknown.in_stock, unknown.price, unknown.vendors) == (False, None, ())
    assert shop.asked == [("building-blocks", {"smiles": [AMINE, UNKNOWN], "ships_to": None, "max_offers": 3, "inchikey": True})]


@pytest.mark.parametrize("call", BOTH)
def test_what_was_not_reached_is_not_what_was_not_solved(call: Call) -> None:
    with open_shop() as shop:
        amide, unknown, late = call(lambda retort: retort.synthesizability([AMIDE, UNKNOWN, "CCCCCCC"]), shop.url, "t")

    assert (amide.solved, amide.steps, amide.price, amide.error) == (True, 1, 12.5, None)
    assert (unknown.solved, unknown.error) == (False, None)
    assert late.error == NOT_REACHED
    assert shop.asked[0][1]["max_seconds"] == 0.05


@pytest.mark.parametrize("call", BOTH)
def test_likelihoods_are_those_of_the_model_that_is_named(call: Call) -> None:
    with open_shop() as shop:
        amide, nothing = call(lambda retort: retort.likelihoods([AMIDE, "C("], model="druglike_gru"), shop.url, "t")
        call(lambda retort: retort.likelihoods([AMINE]), shop.url, "t")

    assert (amide.negative_log_likelihood, amide.error) == (8.0, None)
    assert (nothing.negative_log_likelihood, nothing.error) == (None, "no molecule at 2")
    assert shop.asked == [
        ("likelihoods", {"smiles": [AMIDE, "C("], "model_id": "druglike_gru"}),
        ("likelihoods", {"smiles": [AMINE]}),
    ]


@pytest.mark.parametrize("call", BOTH)
def test_more_than_a_thousand_are_asked_for_in_turns_and_none_not_at_all(call: Call) -> None:
    with open_shop() as shop:
        found = call(lambda retort: retort.synthesizability([AMINE] * 2001), shop.url, "t")
        assert call(lambda retort: retort.synthesizability([]), shop.url, "t") == ()

    assert len(found) == 2001
    assert [len(body["smiles"]) for _, body in shop.asked] == [1000, 1000, 1]


def test_a_look_whose_answer_was_lost_is_sent_again() -> None:
    answers = iter([LOST, httpx.Response(502), httpx.Response(200, json={"items": []})])

    def answer(_: httpx.Request) -> httpx.Response:
        given = next(answers)
        if isinstance(given, Exception):
            raise given
        return given

    with Retort("http://x.example", "t", transport=httpx.MockTransport(answer), retry_policy=RetryPolicy(first_wait=0)) as retort:
        assert retort.expansions(["C"]) == ()


@pytest.mark.parametrize("call", BOTH)
def test_the_catalogue_is_searched_in_one_way_and_tells_how_far(call: Call) -> None:
    with open_shop() as shop:
        similar = call(lambda retort: retort.search_building_blocks(similar_to=AMINE, limit=1, ships_to=None), shop.url, "t")
        numbered = call(lambda retort: retort.search_building_blocks(text="EN300-1"), shop.url, "t")

    [block] = similar.items
    assert (block.smiles, block.similarity, block.mw, block.price) == (AMINE, 1.0, 31.058, 2.5)
    assert (similar.more, similar.searched) == (True, 0.5)
    assert numbered.items[0].similarity is None
    assert shop.asked == [
        ("search", {"similar_to": AMINE, "limit": 1, "ships_to": None}),
        ("search", {"text": "EN300-1"}),
    ]


@pytest.mark.parametrize("call", BOTH)
def test_a_service_that_runs_answers_bulk_queries(call: Call, bulk_querying: Installation) -> None:
    asked = [bulk_querying.target, "FC(F)(F)F", "C("]

    expanded = call(lambda retort: retort.expansions(asked, limit=5), bulk_querying.url, bulk_querying.token)
    made = call(lambda retort: retort.synthesizability(asked, max_seconds=0.5), bulk_querying.url, bulk_querying.token)
    precursors = expanded[0].precursors[0]
    sold = call(lambda retort: retort.building_blocks(precursors.smiles), bulk_querying.url, bulk_querying.token)

    assert 1 <= len(expanded[0].precursors) <= 5
    assert [each.in_stock for each in sold] == list(precursors.in_stock)
    assert all(each.price is not None and each.offers for each in sold if each.in_stock)
    assert (made[0].solved, made[1].solved, made[1].error) == (True, False, None)
    assert made[0].steps is not None
    for found in (expanded, made):
        assert [each.error is None for each in found] == [True, True, False]


@pytest.mark.parametrize("call", BOTH)
def test_a_route_is_run_with_other_blocks(call: Call, plan: Plan) -> None:
    best = plan.best
    assert best is not None
    block = best.building_blocks[0].smiles
    with open_shop() as shop:
        ester, unknown = call(lambda retort: retort.analogues(best, block, [ESTER, UNKNOWN]), shop.url, "t")

    assert (ester.target, ester.plausibility, ester.in_stock) == (f"{ESTER}C", 0.5, False)
    assert ester.to_route().target.smiles == best.target.smiles
    assert unknown.error is not None and "does not match" in unknown.error
    with pytest.raises(ValueError, match="does not match"):
        unknown.to_route()
    [(name, body)] = shop.asked
    assert (name, body["building_block"], len(body["route"]["nodes"])) == ("analogues", block, len(best.graph.nodes))


@pytest.mark.parametrize("call", BOTH)
def test_a_service_that_runs_makes_analogues(call: Call, bulk_querying: Installation) -> None:
    best = call(lambda retort: retort.plan(bulk_querying.target), bulk_querying.url, bulk_querying.token).best
    assert best is not None
    blocks = [block.smiles for block in best.building_blocks]

    same, nothing = call(
        lambda retort: retort.analogues(best, blocks[0], [blocks[0], "FC(F)(F)F"]), bulk_querying.url, bulk_querying.token
    )
    with pytest.raises(InvalidRequest) as caught:
        call(lambda retort: retort.analogues(best, "C", ["C"]), bulk_querying.url, bulk_querying.token)

    assert (same.error, same.target, same.in_stock) == (None, best.target.smiles, True)
    assert [step.product for step in same.to_route().steps] == [step.product for step in best.steps]
    assert nothing.error is not None and nothing.route is None
    assert [fault.path for fault in caught.value.faults] == ["body.building_block"]


@pytest.mark.parametrize("call", BOTH)
def test_a_bad_bulk_query_is_refused_at_its_place(call: Call, bulk_querying: Installation) -> None:
    with pytest.raises(InvalidRequest) as caught:
        call(lambda retort: retort.expansions(["C"], limit=201), bulk_querying.url, bulk_querying.token)

    assert [fault.path for fault in caught.value.faults] == ["body.limit"]
