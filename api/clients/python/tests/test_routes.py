"""Routes of a recorded answer: as trees, as text, as pictures, in the formats of others."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import PRAZOSIN

import retort_client
from retort_client import BadAnswer, Plan, Route

QUINAZOLINE, PIPERAZINE, FUROYL = "COc1cc2nc(Cl)nc(N)c2cc1OC", "C1CNCCN1", "O=C(Cl)c1ccco1"
AMINE = "COc1cc2nc(N3CCNCC3)nc(N)c2cc1OC"

TEXT = """\
COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC  ← amide formation from acid halide · plausibility 1.00 · 47 precedents \
(US03962249, US03980650, US04001237) · triethylamine, benzene
├─ COc1cc2nc(N3CCNCC3)nc(N)c2cc1OC  ← SNAr amination · plausibility 1.00 · 1082 precedents \
(US03947374, US03950338, US03956495) · hydrogen chloride, water
│  ├─ C1CNCCN1  [buy at 0.5000 USD/g · Imaginary Building Blocks (demo) · 11 days · 5 offers]
│  └─ COc1cc2nc(Cl)nc(N)c2cc1OC  [buy at 5.01 USD/g · Made-Up Reagents (demo) · 11 days · 2 offers]
└─ O=C(Cl)c1ccco1  [buy at 0.5000 USD/g · Fictitious Fine Chemicals (demo) · 5 days · 2 offers]
  to order for 1 mmol at 80 % a step: 15.30 USD, 41 days
    4 × 100 mg of #34839 (0.3745 g needed): Invented Synthesis on Demand (demo) ISD-006185, 11.60 USD
    2 × 100 mg of #77016 (0.1632 g needed): Invented Synthesis on Demand (demo) ISD-013594, 2.00 USD
    1 × 250 mg of #2659 (0.1346 g needed): Made-Up Reagents (demo) MUR-000697, 1.70 USD"""


@pytest.fixture
def route(plan: Plan) -> Route:
    assert plan.best is not None
    return plan.best


def test_a_route_is_a_tree_from_the_target_to_what_is_bought(route: Route) -> None:
    assert [molecule.smiles for molecule in route.target.walk()] == [PRAZOSIN, AMINE, PIPERAZINE, QUINAZOLINE, FUROYL]
    assert [step.smiles for step in route.steps] == [f"{AMINE}.{FUROYL}>>{PRAZOSIN}", f"{PIPERAZINE}.{QUINAZOLINE}>>{AMINE}"]
    assert (route.rank, route.depth, route.cost_usd_per_mol, route.lead_time_days) == (1, 2, 1308.33, 11.0)


def test_what_is_bought_comes_with_its_offers_the_cheapest_first_and_unknown_prices_last(recorded: str) -> None:
    answer = json.loads(recorded)
    answer["pricing_annotations"].reverse()
    answer["pricing_annotations"][0]["normalised_usd"] = None

    (route,) = Plan.from_json(json.dumps(answer)).routes

    prices = {block.smiles: [offer.normalised_usd for offer in block.offers] for block in route.building_blocks}
    assert list(prices) == [PIPERAZINE, QUINAZOLINE, FUROYL]
    assert (len(prices[PIPERAZINE]), prices[PIPERAZINE][0]) == (5, 0.5)
    in_order = [[math.inf if usd is None else usd for usd in of_one] for of_one in prices.values()]
    assert in_order == [sorted(of_one) for of_one in in_order]
    assert sum(of_one.count(math.inf) for of_one in in_order) == 1


def test_a_shopping_list_names_packs_by_vendor(route: Route) -> None:
    orders = route.shopping_list

    assert orders is not None
    assert orders.total_usd == 15.3
    assert [(vendor.vendor_name, len(vendor.items)) for vendor in orders.vendors] == [
        ("Invented Synthesis on Demand (demo)", 2),
        ("Made-Up Reagents (demo)", 1),
    ]


def test_a_route_reads_as_the_command_line_prints_it(route: Route) -> None:
    assert str(route) == TEXT


def test_a_plan_goes_to_json_and_back(plan: Plan) -> None:
    again = Plan.from_json(plan.to_json())

    assert again.answer == plan.answer
    assert [(group.backbone, len(group.routes)) for group in again.groups] == [(plan.routes[0].backbone, 1)]
    assert (len(plan), bool(plan), list(plan)) == (1, True, list(plan.routes))


def test_an_answer_without_a_route_says_so_and_is_false(recorded: str) -> None:
    answer = json.loads(recorded) | {"route_hierarchy": {}}
    answer["metadata"]["validated_routes"] = 0
    answer["metadata"]["search"] |= {"exhausted": False, "stopped_by": ["C1CC1"], "refused_steps": {"unsound": 2}}
    answer["metadata"]["search"]["constraints"] = [
        {"constraint": "molecules_never", "index": 1, "refused": 7, "reason": "without this one there is a route"},
        {"constraint": "max_steps", "index": None, "refused": 0, "reason": None},
    ]

    plan = Plan.from_json(json.dumps(answer))

    assert (bool(plan), plan.best, plan.groups) == (False, None, ())
    assert str(plan).splitlines()[2:] == [
        "  neither made nor bought: C1CC1",
        "  2 steps refused: a chemist would not run them",
        "  molecules_never[1] refused 7: without this one there is a route",
        "  the time was over: allow more (max_seconds)",
    ]
    assert "no route found in" in plan._repr_html_()  # pyright: ignore[reportPrivateUsage]


def test_fields_that_this_version_does_not_know_are_kept(recorded: str) -> None:
    answer = json.loads(recorded) | {"new_field": {"deep": [1]}}

    assert json.loads(Plan.from_json(json.dumps(answer)).to_json())["new_field"] == {"deep": [1]}


@pytest.mark.parametrize(("from_", "to"), [("b", "a"), ("b", "nowhere")])
def test_a_graph_that_is_no_tree_is_told_and_does_not_hang(recorded: str, from_: str, to: str) -> None:
    answer = json.loads(recorded)
    graph = graph_of(answer)
    names = {"a": graph["nodes"][0]["id"], "b": graph["nodes"][1]["id"]}
    graph["edges"].append(graph["edges"][0] | {"source": names[from_], "target": names.get(to, to)})

    with pytest.raises(BadAnswer, match="a route whose molecule"):
        _ = Plan.from_json(json.dumps(answer)).routes[0].target


def test_a_molecule_that_is_needed_twice_stands_twice_in_the_tree_and_is_one_block(recorded: str) -> None:
    answer = json.loads(recorded)
    graph = graph_of(answer)
    bought = next(node["id"] for node in graph["nodes"] if node["data"]["smiles"] == FUROYL)
    made = next(node["id"] for node in graph["nodes"] if node["data"]["smiles"] == AMINE)
    graph["edges"].append(next(edge for edge in graph["edges"] if edge["source"] == made) | {"target": bought})

    route = Plan.from_json(json.dumps(answer)).routes[0]

    assert [molecule.smiles for molecule in route.target.walk()].count(FUROYL) == 2
    assert [block.smiles for block in route.building_blocks].count(FUROYL) == 1


def test_networkx_reads_the_graph_with_its_attributes(route: Route) -> None:
    networkx = pytest.importorskip("networkx", minversion="3.4")

    graph = route.to_networkx()

    assert networkx.is_directed_acyclic_graph(graph)
    (root,) = [node for node, degree in graph.in_degree() if degree == 0]
    assert graph.nodes[root]["data"]["smiles"] == PRAZOSIN
    assert {graph.edges[edge]["reaction_class"] for edge in graph.out_edges(root)} == {"amide formation from acid halide"}
    assert graph.graph["rank"] == 1


def test_pandas_gets_a_row_a_route(plan: Plan) -> None:
    pytest.importorskip("pandas")

    frame = plan.to_pandas()

    assert frame[["rank", "depth", "steps", "order_usd"]].to_dict("records") == [  # pyright: ignore[reportUnknownMemberType]
        {"rank": 1, "depth": 2, "steps": 2, "order_usd": 15.3}
    ]
    assert frame["building_blocks"][0] == [PIPERAZINE, QUINAZOLINE, FUROYL]


def test_aizynthfinder_reads_the_tree_that_the_service_writes() -> None:
    reactiontree = pytest.importorskip("aizynthfinder.reactiontree", exc_type=ImportError)

    tree = reactiontree.ReactionTree.from_dict(exported("aizynth"))

    assert (tree.root.smiles, tree.is_solved) == (PRAZOSIN, True)
    assert sorted(leaf.smiles for leaf in tree.leafs()) == sorted([PIPERAZINE, QUINAZOLINE, FUROYL])
    assert len(list(tree.reactions())) == 2


def test_retrocast_makes_the_route_that_the_service_writes_of_aizynthfinders_tree() -> None:
    pytest.importorskip("rdkit")
    library = pytest.importorskip("retrocast")
    route = exported("retrocast")

    (read,) = library.adapt([exported("aizynth")], "aizynthfinder")

    assert without_annotations(read["route"]) == without_annotations(route)
    assert read["route"]["schema_version"] == route["schema_version"]


def test_a_picture_has_every_molecule_and_asks_for_nothing(route: Route) -> None:
    pytest.importorskip("rdkit")

    picture = ElementTree.fromstring(route.svg())

    formulas = picture.findall("{http://www.w3.org/2000/svg}svg")
    corners = [(float(formula.attrib["x"]), float(formula.attrib["y"])) for formula in formulas]
    assert len(set(corners)) == 5
    # Level with the middle of what they are made from.
    assert corners[0][1] == (corners[1][1] + corners[4][1]) / 2
    assert "SNAr amination" in route.svg()
    assert "href" not in route.svg()


def test_a_notebook_shows_the_picture_and_the_order(plan: Plan, route: Route) -> None:
    pytest.importorskip("rdkit")

    page = plan._repr_html_()  # pyright: ignore[reportPrivateUsage]

    assert page.count('<svg xmlns="http://www.w3.org/2000/svg" width=') == 1
    assert "4 × 100 mg of #34839" in page


def test_without_rdkit_a_notebook_shows_the_text_and_a_picture_says_what_it_needs(
    route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("rdkit", "rdkit.Chem"):
        monkeypatch.setitem(__import__("sys").modules, module, None)

    assert route._repr_html_().startswith(f"<pre>{PRAZOSIN}  ← amide")  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(ImportError, match=r"pip install 'retort-client\[rdkit\]'"):
        route.svg()


def test_text_of_a_service_is_no_markup(recorded: str) -> None:
    answer = recorded.replace("Imaginary Building Blocks (demo)", "<script>alert(1)</script>").replace("Made-Up", "<b>Made-Up</b>")

    page = Plan.from_json(answer)._repr_html_()  # pyright: ignore[reportPrivateUsage]

    assert "<script" not in page
    assert "<b>" not in page


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(retort_client.__file__).parent / "py.typed").exists()


def exported(format: str) -> dict[str, Any]:
    """The route of the recorded answer in the format of another program, as the service's tests expect it."""
    recorded = Path(__file__).parents[3] / "contract" / "tests" / "data" / f"prazosin.{format}.json"
    if not recorded.exists():
        pytest.skip("what the service writes lies beside the client in its repository alone")
    (route,) = json.loads(recorded.read_text(encoding="utf-8"))
    return route


def graph_of(answer: dict[str, Any]) -> dict[str, Any]:
    """The only route of a recorded answer."""
    (backbones,) = answer["route_hierarchy"].values()
    (((graph,),),) = backbones.values()
    return graph


def without_annotations(route: Any) -> Any:  # noqa: ANN401
    """What both ways of writing a route must agree in."""
    if isinstance(route, dict):
        return {key: without_annotations(value) for key, value in route.items() if key != "annotations"}  # pyright: ignore
    return [without_annotations(each) for each in route] if isinstance(route, list) else route  # pyright: ignore
