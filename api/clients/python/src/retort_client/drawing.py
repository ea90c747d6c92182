"""Routes as pictures, for notebooks and pages.

A picture is one SVG that asks for nothing else: the target on the left, each step a column to the right, what is bought with its
price. RDKit draws the formulas; where each stands is decided here, by the rule that a molecule is level with the middle of what it
is made from.
"""

from __future__ import annotations

import html as markup
from collections.abc import Iterator
from dataclasses import dataclass

from . import text
from .extras import need
from .tree import Molecule, RouteTree

WIDTH, HEIGHT = 190, 120
"""Of a formula, in pixels."""
BOND = 22
"""Length of a bond where the molecule has room for it."""
GAP, CAPTION = 120, 44
"""Between columns, and below a formula for its words."""
MARGIN = 8
LETTERS = 32
"""Of a line of words at most."""


@dataclass(frozen=True)
class Placed:
    """A molecule and where it stands."""

    molecule: Molecule
    column: int
    row: float
    """In formulas from the top; halves are between two."""
    precursors: tuple[Placed, ...]

    def walk(self) -> Iterator[Placed]:
        """Yields it and all that it is made from."""
        yield self
        for precursor in self.precursors:
            yield from precursor.walk()

    @property
    def corner(self) -> tuple[float, float]:
        """Left and top edge of its formula, in pixels."""
        return MARGIN + self.column * (WIDTH + GAP), MARGIN + self.row * (HEIGHT + CAPTION)


def svg(route: RouteTree) -> str:
    """The route as a picture."""
    root, rows = _place(route.target, 0, 0)
    placed = list(root.walk())
    columns = 1 + max(each.column for each in placed)
    width = 2 * MARGIN + columns * WIDTH + (columns - 1) * GAP
    height = 2 * MARGIN + rows * (HEIGHT + CAPTION)
    parts = [part for each in placed for part in _drawn(each, route)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="system-ui, sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>'
    )


def html(route: RouteTree) -> str:
    """The picture, and what to order."""
    orders = "\n".join(text.shopping(route))
    heading = f"<p>{markup.escape(text.heading(route))}</p>"
    return f'{heading}<div style="overflow-x:auto">{svg(route)}</div>' + (plain(orders) if orders else "")


def plain(words: str) -> str:
    """Text as it stands."""
    return f"<pre>{markup.escape(words)}</pre>"


def _place(molecule: Molecule, column: int, first_row: int) -> tuple[Placed, int]:
    """A molecule and its precursors from `first_row` on, and how many rows they take."""
    precursors: list[Placed] = []
    rows = 0
    for precursor in molecule.made_by.precursors if molecule.made_by else ():
        placed, taken = _place(precursor, column + 1, first_row + rows)
        precursors.append(placed)
        rows += taken
    row = (precursors[0].row + precursors[-1].row) / 2 if precursors else float(first_row)
    return Placed(molecule, column, row, tuple(precursors)), max(rows, 1)


def _drawn(placed: Placed, route: RouteTree) -> Iterator[str]:
    left, top = placed.corner
    molecule = placed.molecule
    yield _formula(molecule.smiles, left, top)
    if molecule.made_by is None:
        yield from _words(text.offer(molecule, route).split(" · "), left, top + HEIGHT + 12, "#0a6640")
        return
    evidence = molecule.made_by.evidence
    plausibility = [] if evidence.plausibility is None else [f"plausibility {evidence.plausibility:.2f}"]
    yield from _words([evidence.reaction_class or "", *plausibility], left, top + HEIGHT + 12, "#57606a")
    right, middle = left + WIDTH, top + HEIGHT / 2
    for precursor in placed.precursors:
        x, y = precursor.corner
        bend = right + GAP / 2
        yield (
            f'<path d="M{right:g} {middle:g}H{bend:g}V{y + HEIGHT / 2:g}H{x:g}" fill="none" stroke="#8c959f" stroke-width="1.5"/>'
        )


def _words(parts: list[str], left: float, top: float, colour: str) -> Iterator[str]:
    for line, words in enumerate(parts[:3]):
        shown = words if len(words) <= LETTERS else words[: LETTERS - 1] + "…"
        said = markup.escape(shown)
        yield f'<text x="{left + WIDTH / 2:g}" y="{top + 13 * line:g}" text-anchor="middle" fill="{colour}">{said}</text>'


def _formula(smiles: str, left: float, top: float) -> str:
    chem = need("rdkit.Chem", "rdkit")
    molecule = chem.MolFromSmiles(smiles)
    if molecule is None:
        return "".join(_words([smiles], left, top + HEIGHT / 2, "#1b1f24"))
    drawer = need("rdkit.Chem.Draw.rdMolDraw2D", "rdkit").MolDraw2DSVG(WIDTH, HEIGHT)
    drawer.drawOptions().clearBackground = False
    drawer.drawOptions().fixedBondLength = BOND
    drawer.DrawMolecule(molecule)
    drawer.FinishDrawing()
    drawn: str = drawer.GetDrawingText()
    # A picture within a picture, without the words that only stand before a file.
    inner = drawn[drawn.index("<svg") + len("<svg") :].strip()
    return f'<svg x="{left:g}" y="{top:g}" {inner}'
