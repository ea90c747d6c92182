"""Routes as text: the trees that `retort plan` prints, letter for letter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from .tree import Molecule, RouteTree
from .wire import ConstraintReport, Edge, OrderedPack, SearchReport, ShoppingList, TreeSearchResult


def tree(route: RouteTree) -> str:
    """One route: the tree, then what to order."""
    lines = [label(route.target, route), *_branches(route.target, route, "")]
    return "\n".join([*lines, *(f"  {line}" for line in shopping(route))])


def heading(route: RouteTree) -> str:
    """Depth of a route, its backbone and its cost."""
    parts = [f"{route.depth} {'step' if route.depth == 1 else 'steps'} deep", f"backbone {route.backbone}"]
    if route.cost_usd_per_mol is not None:
        parts.append(f"{significant(route.cost_usd_per_mol)} USD/mol")
    if route.lead_time_days is not None:
        parts.append(f"{number(route.lead_time_days)} days")
    return " · ".join(parts)


def found(answer: TreeSearchResult, shown: int) -> str:
    """Number of routes and seconds of the search."""
    metadata = answer.metadata
    count = metadata.validated_routes
    routes = {0: "no route found", 1: "1 validated route"}.get(count, f"{count} validated routes")
    if count > max(shown, 1):
        routes += f", {shown} of them shown"
    seconds = f"{metadata.total_elapsed:.2f} s ({metadata.tree_search_elapsed:.2f} s of search"
    return f"{routes} in {seconds}, {metadata.total_graph_nodes} graph nodes)"


def without_route(report: SearchReport) -> str:
    """Reasons why a search found no route, and advice."""
    refused = report.refused_steps
    reasons = {
        "a chemist would not run them": refused.unsound,
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


def label(molecule: Molecule, route: RouteTree) -> str:
    """A molecule with what makes it, or with its best offer."""
    if not molecule.data.is_building_block:
        return molecule.smiles + (f"  ← {step}" if molecule.made_by and (step := made_by(molecule.made_by.evidence)) else "")
    return f"{molecule.smiles}  [{offer(molecule, route)}]"


def made_by(edge: Edge) -> str:
    """Class and evidence of a step; empty if the answer has no class."""
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
    if edge.needs is not None:
        parts.append(f"needs {edge.needs}")
    return " · ".join([*parts, *(f"! {warning}" for warning in edge.warnings)])


def commonest(agents: Mapping[str, int]) -> str:
    """The name that most precedents have; of equals the last in the alphabet."""
    return max(agents, key=lambda name: (agents[name], name))


def offer(molecule: Molecule, route: RouteTree) -> str:
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


def shopping(route: RouteTree) -> Iterator[str]:
    """Shopping list, a line a pack; empty for a target that is bought."""
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
    """Total of an order."""
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


def _branches(product: Molecule, route: RouteTree, indent: str) -> Iterator[str]:
    precursors = product.made_by.precursors if product.made_by else ()
    for position, precursor in enumerate(precursors, 1):
        branch, deeper = ("└─ ", "   ") if position == len(precursors) else ("├─ ", "│  ")
        yield f"{indent}{branch}{label(precursor, route)}"
        yield from _branches(precursor, route, indent + deeper)
