"""A service for AiZynthFinder: its single-step model as an expansion policy, and its stock.

In the configuration, where the service is that of `url` or `RETORT_URL`, called as `Retort.from_env` does:

    expansion:
      retort:
        type: retort_client.aizynthfinder.RetortExpansion
        limit: 50
    stock:
      retort:
        type: retort_client.aizynthfinder.RetortStock
        ships_to: US

Where the service cannot tell, they raise `RetortError`: a molecule without steps, or one that is not in stock, would be an answer.
"""

# AiZynthFinder need not be there.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aizynthfinder.chem import SmilesBasedRetroReaction, TreeMolecule
from aizynthfinder.context.policy.expansion_strategies import ExpansionStrategy
from aizynthfinder.context.stock.queries import StockQueryMixin
from aizynthfinder.utils.exceptions import StockException

from .bulk_queries import PrecursorSet
from .client import Retort
from .errors import RetortError
from .stock import RememberedStock
from .wire import Country

if TYPE_CHECKING:
    from aizynthfinder.chem import Molecule
    from aizynthfinder.context.config import Configuration


class RetortExpansion(ExpansionStrategy):
    """The service's single-step model; priors are the policy's probabilities."""

    def __init__(
        self, key: str, config: Configuration, url: str | None = None, limit: int = 50, engine: str | None = None, **_: object
    ) -> None:
        super().__init__(key, config)
        self._retort = Retort.from_env(url)
        self._limit = limit
        self._engine = engine
        self._known: dict[str, tuple[PrecursorSet, ...]] = {}

    def get_actions(
        self, molecules: Sequence[TreeMolecule], cache_molecules: Sequence[TreeMolecule] | None = None
    ) -> tuple[list[SmilesBasedRetroReaction], list[float]]:
        """Proposes precursors of the molecules; unknown molecules are asked for in one request."""
        self._look_up([*molecules, *(cache_molecules or [])])
        found = [(molecule, rank, each) for molecule in molecules for rank, each in enumerate(self._known[molecule.smiles])]
        return [self._reaction(*each) for each in found], [each.probability for _, _, each in found]

    def reset_cache(self) -> None:
        """Forgets what was asked for."""
        self._known.clear()

    def _look_up(self, molecules: Sequence[TreeMolecule]) -> None:
        asked = [smiles for smiles in dict.fromkeys(molecule.smiles for molecule in molecules) if smiles not in self._known]
        for smiles, expanded in zip(asked, self._retort.expansions(asked, limit=self._limit, engine=self._engine), strict=True):
            if expanded.error is not None:
                raise RetortError(f"nobody knows what {smiles} may be made of: {expanded.error}")
            self._known[smiles] = expanded.precursors
        precursors = [smiles for each in asked for found in self._known[each] for smiles in found.smiles]
        for stock in self._stocks():
            stock.look_up(precursors)

    def _stocks(self) -> list[RetortStock]:
        """Those that will be asked for the precursors one by one."""
        stocks = [self._config.stock[key] for key in self._config.stock.selection or []]
        return [stock for stock in stocks if isinstance(stock, RetortStock)]

    def _reaction(self, molecule: TreeMolecule, rank: int, precursors: PrecursorSet) -> SmilesBasedRetroReaction:
        metadata = {
            "policy_name": self.key,
            "policy_probability": precursors.probability,
            "policy_probability_rank": rank,
            "template_hash": precursors.template_id,
            "classification": precursors.reaction_class,
            "library_occurrence": precursors.precedents,
            "plausibility": precursors.plausibility,
        }
        return SmilesBasedRetroReaction(molecule, metadata=metadata, reactants_str=".".join(precursors.smiles))


class RetortStock(StockQueryMixin):
    """Molecules that are sold to a country; prices are USD per gram. Each molecule is asked for once."""

    def __init__(self, url: str | None = None, ships_to: Country | None = "US") -> None:
        self._stock = RememberedStock(Retort.from_env(url), ships_to)

    def __contains__(self, mol: Molecule) -> bool:
        return self._stock.find(mol.smiles).in_stock

    def price(self, mol: Molecule) -> float:
        """The lowest price; raises `StockException` where nobody says one."""
        price = self._stock.find(mol.smiles).price
        if price is None:
            raise StockException(f"nobody says a price for {mol.smiles}")
        return price

    def availability_string(self, mol: Molecule) -> str:
        """Returns the vendors."""
        return ",".join(self._stock.find(mol.smiles).vendors)

    def look_up(self, smiles: Sequence[str]) -> None:
        """Asks for many at once, which costs no more than one."""
        self._stock.look_up(smiles)
