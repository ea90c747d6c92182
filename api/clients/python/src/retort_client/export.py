"""Routes in the formats of other programs."""

from __future__ import annotations

from typing import Any

from .extras import need
from .tree import Molecule, RouteTree, Step
from .wire import Edge


def aizynthfinder(route: RouteTree) -> dict[str, Any]:
    """A tree in which molecules and reactions alternate, as AiZynthFinder's `ReactionTree.to_dict` gives it.

    Reactions are written backwards there, `product>>precursor.precursor`.
    """
    tree = _aizynthfinder_molecule(route.target)
    tree["scores"] = {} if route.score is None else {"retort score": route.score}
    tree["metadata"] = {"is_solved": True, "backbone": route.backbone}
    return tree


def _aizynthfinder_molecule(molecule: Molecule) -> dict[str, Any]:
    tree: dict[str, Any] = {
        "type": "mol",
        "hide": False,
        "smiles": molecule.smiles,
        "is_chemical": True,
        "in_stock": molecule.data.is_building_block,
    }
    if molecule.made_by:
        tree["children"] = [_aizynthfinder_reaction(molecule.made_by)]
    return tree


def _aizynthfinder_reaction(step: Step) -> dict[str, Any]:
    edge = step.evidence
    metadata = {
        "template_hash": edge.template,
        "classification": edge.reaction_class,
        "library_occurrence": edge.precedents,
        "policy_probability": edge.probability,
        "policy_name": "retort",
        "plausibility": edge.plausibility,
    }
    return {
        "type": "reaction",
        "hide": False,
        "smiles": f"{step.product}>>{'.'.join(precursor.smiles for precursor in step.precursors)}",
        "is_reaction": True,
        "metadata": _known(metadata),
        "children": [_aizynthfinder_molecule(precursor) for precursor in step.precursors],
    }


def retrocast(route: RouteTree) -> dict[str, Any]:
    """A route of RetroCast's schema 2: molecules by SMILES and InChIKey, each with the reaction that it is the product of."""
    standing = {
        "rank": route.rank,
        "score": route.score,
        "backbone": route.backbone,
        "cost_usd_per_mol": route.cost_usd_per_mol,
        "lead_time_days": route.lead_time_days,
    }
    return {"target": _retrocast_molecule(route.target), "annotations": _known(standing), "schema_version": "2"}


def _retrocast_molecule(molecule: Molecule) -> dict[str, Any]:
    tree: dict[str, Any] = {"smiles": molecule.smiles, "inchikey": _inchikey(molecule.smiles)}
    if molecule.made_by:
        tree["product_of"] = _retrocast_reaction(molecule.made_by)
    cheapest = molecule.offers[0].normalised_usd if molecule.offers else None
    tree["annotations"] = _known({"usd_per_gram": cheapest})
    return tree


def _retrocast_reaction(step: Step) -> dict[str, Any]:
    edge: Edge = step.evidence
    annotations = {
        "template_hash": edge.template,
        "reaction_class": edge.reaction_class,
        "probability": edge.probability,
        "plausibility": edge.plausibility,
        "precedents": edge.precedents,
    }
    reactants = [_retrocast_molecule(precursor) for precursor in step.precursors]
    return {"reactants": reactants, "annotations": _known(annotations)}


def _known(annotations: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in annotations.items() if value is not None}


def _inchikey(smiles: str) -> str:
    chem = need("rdkit.Chem", "rdkit")
    key: str = chem.MolToInchiKey(chem.MolFromSmiles(smiles))
    return key
