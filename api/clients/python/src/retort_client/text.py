"""Routes as text: the trees that `retort plan` prints, letter for letter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .wire import ConstraintReport, Edge, OrderedPack, SearchReport, ShoppingList, TreeSearchResult

if TYPE_CHECKING:
    from .route import Molecule, Route


def tree(route: Route) -> str:
    """One route: the tree, then what to order."""
    lines = [label(route.target, route), *_branches(route.target, route, "")]
    return "\n".join([*lines, *(f"  {line}" for line in shopping(route))])


def heading(route: Route) -> str:
    """How deep a route is, its backbone, and what it costs."""
    parts = [f"{route.depth} {'step' if route.depth == 1 else 'steps'} deep", f"backbone {route.backbone}"]
    if route.cost_usd_per_mol is not None:
        parts.append(f"{significant(route.cost_usd_per_mol)} USD/mol")
    if route.lead_time_days is not None:
        parts.append(f"{number(route.lead_time_days)} days")
    return " · ".join(parts)


def found(answer: TreeSearchResult, shown: int) -> str:
    """How many routes there are, and how long it took."""
    metadata = answer.metadata
    count = metadata.validated_routes
    routes = {0: "no route found", 1: "1 validated route"}.get(count, f"{count} validated routes")
    if count > max(shown, 1):
        routes += f", {shown} of them shown"
    seconds = f"{metadata.total_elapsed:.2f} s ({metadata.tree_search_elapsed:.2f} s of search"
    return f"{routes} in {seconds}, {metadata.total_graph_nodes} graph nodes)"


def without_route(report: SearchReport) -> str:
    """What stopped a search that found no route, and what to try."""
    refused = report.refused_steps
    reasons = {
        "something else would happen in the flask": refused.unsound,
        "run forwards, they do not give their product": refused.product_not_regained,
        "run forwards, they give other products as well": refused.competing_site,
    }
    advice = (
        "everything was tried: allow more steps (max_depth) or more building blocks (mask_usd_pricing_gte=None, ships_to=None)"
        if report.exhausted
        else "the time was over: allow more (max_seconds)"
    )
    stopped = [f"neither made nor bought: {smiles}" for smiles in report.stopped_by]
    counted = [f"{count} steps refused: {reason}" for reason, count in reasons.items() if count]
    constraints = [_refusal(constraint) for constraint in report.constraints if constraint.refused or constraint.reason]
    return "\n".join(f"  {line}" for line in [*stopped, *counted, *constraints, advice])


def _refusal(constraint: ConstraintReport) -> str:
    item = "" if constraint.index is None else f"[{constraint.index}]"
    reason = "" if constraint.reason is None else f": {constraint.reason}"
    return f"{constraint.constraint}{item} refused {constraint.refused}{reason}"


def label(molecule: Molecule, route: Route) -> str:
    """A molecule with what makes it, or with its best offer."""
    if not molecule.data.is_building_block:
        return molecule.smiles + (f"  ← {step}" if molecule.made_by and (step := made_by(molecule.made_by.evidence)) else "")
    return f"{molecule.smiles}  [{offer(molecule, route)}]"


def made_by(edge: Edge) -> str:
    """What a step is and rests on; nothing in an answer that does not say."""
    if edge.reaction_class is None:
        return ""
    parts = [edge.reaction_class]
    if edge.plausibility is not None:
        parts.append(f"plausibility {edge.plausibility:.2f}")
    if edge.precedents:
        parts.append(f"{edge.precedents} precedents" + (f" ({', '.join(edge.patents)})" if edge.patents else ""))
    conditions = edge.conditions
    agents = [commonest(of) for of in (conditions.reagents, conditions.catalysts, conditions.solvents) if of]
    if agents:
        parts.append(", ".join(agents))
    return " · ".join([*parts, *(f"! {warning}" for warning in edge.warnings)])


def commonest(agents: Mapping[str, int]) -> str:
    """The name that most precedents have; of equals the last in the alphabet."""
    return max(agents, key=lambda name: (agents[name], name))


def offer(molecule: Molecule, route: Route) -> str:
    """The best offer of what is bought, and how many there are."""
    if not molecule.offers:
        return "buy"
    best = molecule.offers[0]
    parts = ["buy, price unknown" if best.normalised_usd is None else f"buy at {significant(best.normalised_usd)} USD/g"]
    parts.append(best.vendor_name)
    days = best.lead_time_days(route.ships_to)
    if days is not None:
        parts.append(f"{number(days)} days")
    if len(molecule.offers) > 1:
        parts.append(f"{len(molecule.offers)} offers")
    return " · ".join(parts)


def shopping(route: Route) -> Iterator[str]:
    """What to order, a line a pack; nothing for a target that is bought."""
    orders = route.shopping_list
    if orders is None or not route.graph.edges:
        return
    yield total(orders)
    for taken in orders.from_stock:
        source = taken.location or "stock"
        entry = f"{taken.vendor_name} {taken.cs_id}"
        yield f"  take {significant(taken.grams)} g of #{taken.building_block_idx} from {source} ({entry})"
    for vendor in orders.vendors:
        for item in vendor.items:
            yield f"  {_pack(item)}: {vendor.vendor_name} {item.cs_id}, {item.usd:.2f} USD"
    for block in orders.without_price:
        who = ", ".join(block.vendors) or "nobody"
        yield f"  {significant(block.grams_needed)} g of #{block.building_block_idx}: no price ({who})"


def total(orders: ShoppingList) -> str:
    """What an order comes to."""
    usd = "not all priced" if orders.total_usd is None else f"{orders.total_usd:.2f} USD"
    days = "" if orders.lead_time_days is None else f", {number(orders.lead_time_days)} days"
    per_cent = math.floor(orders.step_yield * 100 + 0.5)
    return f"to order for {number(orders.amount_mmol)} mmol at {per_cent} % a step: {usd}{days}"


def significant(usd: float) -> str:
    """Three figures are enough for a price."""
    return f"{usd:.{0 if usd >= 100 else 2 if usd >= 1 else 4}f}"


def number(value: float) -> str:
    """A number without the digits that say nothing."""
    return str(int(value)) if value == int(value) else str(value)


def _pack(item: OrderedPack) -> str:
    pack = "pack" if item.pack is None or item.uom is None else f"{number(item.pack)} {item.uom}"
    return f"{item.count} × {pack} of #{item.building_block_idx} ({significant(item.grams_needed)} g needed)"


def _branches(product: Molecule, route: Route, indent: str) -> Iterator[str]:
    precursors = product.made_by.precursors if product.made_by else ()
    for position, precursor in enumerate(precursors, 1):
        branch, deeper = ("└─ ", "   ") if position == len(precursors) else ("├─ ", "│  ")
        yield f"{indent}{branch}{label(precursor, route)}"
        yield from _branches(precursor, route, indent + deeper)
