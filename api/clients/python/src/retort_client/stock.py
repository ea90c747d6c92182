"""Cache of the service's stock, for programs that ask for molecules one by one."""

from __future__ import annotations

from collections.abc import Iterable

from .bulk_queries import SoldMolecule
from .client import Retort
from .errors import RetortError
from .wire import Country


class RememberedStock:
    """The stock of a service, as it was when each molecule was asked for first."""

    def __init__(self, retort: Retort, ships_to: Country | None) -> None:
        self._retort = retort
        self._ships_to: Country | None = ships_to
        self._known: dict[str, SoldMolecule] = {}

    def look_up(self, smiles: Iterable[str]) -> None:
        """Asks for all of these that are not known, in one request a thousand."""
        asked = [each for each in dict.fromkeys(smiles) if each not in self._known]
        # How an error is told is left to who asks for that one molecule.
        self._known.update(zip(asked, self._retort.building_blocks(asked, ships_to=self._ships_to, max_offers=0), strict=True))

    def find(self, smiles: str) -> SoldMolecule:
        """A molecule of the stock, or one that is not in it.

        Raises `RetortError` where the service could not tell.
        """
        self.look_up([smiles])
        found = self._known[smiles]
        if found.error is not None:
            del self._known[smiles]
            raise RetortError(f"nobody knows whether {smiles} is in stock: {found.error}")
        return found
