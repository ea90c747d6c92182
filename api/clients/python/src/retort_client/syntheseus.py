"""A service for syntheseus: its single-step model, and its stock.

    from retort_client import Retort
    from retort_client.syntheseus import RetortInventory, RetortModel

    retort = Retort.from_env()
    inventory = RetortInventory(retort)
    model = RetortModel(retort, inventory=inventory, use_cache=True)
    RetroStarSearch(reaction_model=model, mol_inventory=inventory, …)

Where the service cannot tell, they raise `RetortError`: a molecule without steps, or one that is not in stock, would be an answer.
"""

# syntheseus need not be there.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from syntheseus.interface.bag import Bag
from syntheseus.interface.models import BackwardReactionModel
from syntheseus.interface.molecule import Molecule
from syntheseus.interface.reaction import ReactionMetaData, SingleProductReaction
from syntheseus.search.mol_inventory import BaseMolInventory

from .bulk_queries import ExpandedMolecule, PrecursorSet
from .client import Retort
from .errors import RetortError
from .stock import RememberedStock
from .wire import Country

MOST_RESULTS = 200
"""Sets of precursors that the service gives of a molecule at most."""


class RetortInventory(BaseMolInventory):
    """Molecules that are sold to a country; each is asked for once."""

    def __init__(self, retort: Retort, *, ships_to: Country | None = "US") -> None:
        self._stock = RememberedStock(retort, ships_to)

    def is_purchasable(self, mol: Molecule) -> bool:
        """Returns true if a vendor sells it."""
        return self._stock.find(mol.smiles).in_stock

    def fill_metadata(self, mol: Molecule) -> None:
        """Returns whether a vendor sells it and, if it has a price, USD per gram and the vendor."""
        found = self._stock.find(mol.smiles)
        mol.metadata["is_purchasable"] = found.in_stock
        if found.price is not None:
            mol.metadata["cost"] = found.price
        if found.vendors:
            mol.metadata["supplier"] = ", ".join(found.vendors)

    def look_up(self, molecules: Sequence[Molecule]) -> None:
        """Asks for many at once, which costs no more than one."""
        self._stock.look_up(molecule.smiles for molecule in molecules)


class RetortModel(BackwardReactionModel):
    """The service's single-step model; `probability` of a reaction is the policy's, `confidence` its plausibility."""

    def __init__(
        self, retort: Retort, *, engine: str | None = None, inventory: RetortInventory | None = None, **settings: Any
    ) -> None:
        """`inventory` is asked for all precursors of an expansion at once; `settings` are those of every model of syntheseus."""
        super().__init__(**settings)
        self._retort = retort
        self._engine = engine
        self._inventory = inventory

    def _get_reactions(self, inputs: list[Molecule], num_results: int) -> list[Sequence[SingleProductReaction]]:
        limit = min(num_results, MOST_RESULTS)
        smiles = [molecule.smiles for molecule in inputs]
        expanded = self._retort.expansions(smiles, limit=limit, engine=self._engine)
        reactions: list[Sequence[SingleProductReaction]] = [_reactions(*each) for each in zip(inputs, expanded, strict=True)]
        if self._inventory is not None:
            self._inventory.look_up([molecule for of_one in reactions for each in of_one for molecule in each.reactants])
        return reactions


def _reactions(product: Molecule, expanded: ExpandedMolecule) -> list[SingleProductReaction]:
    if expanded.error is not None:
        raise RetortError(f"nobody knows what {product.smiles} may be made of: {expanded.error}")
    return [_reaction(product, precursors) for precursors in expanded.precursors]


def _reaction(product: Molecule, precursors: PrecursorSet) -> SingleProductReaction:
    told = {"probability": precursors.probability, "score": precursors.probability, "confidence": precursors.plausibility}
    metadata = ReactionMetaData(**{name: value for name, value in told.items() if value is not None}, source="retort")
    if precursors.probability > 0:
        metadata["log_probability"] = math.log(precursors.probability)
    if precursors.template_id is not None:
        metadata["template"] = precursors.template_id
    reactants = Bag([Molecule(smiles) for smiles in precursors.smiles])
    return SingleProductReaction(reactants=reactants, product=product, metadata=metadata)
