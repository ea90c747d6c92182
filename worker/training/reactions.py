"""Reads the recorded reactions of all sources into rows of one shape: product, precursors, reagents, the source's mapping.

The decision that matters: what a row is called. Its name is a hash of its canonical unmapped reaction, `precursors>>product`
as the atom mapper gets it: the product's largest organic component, neutralised, on the right; on the left what the source
says gives atoms, and of the other components those that could. Solvents, metals and bases that never end in a product
(`SPECTATORS`) stay outside: they cost the mapper time and have given it carbons that no flask would give. Rows of equal
product and claimed precursors are one reaction, whatever the reagents; the first is kept and the others are counted.

A reaction whose product is held out (`held_out.py`) is left out here, before anything else sees it.
"""

import argparse
import collections
import csv
import functools
import gzip
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rdkit import Chem, RDLogger

import held_out
import reaction_centre
from reaction_centre import UNMAPPED

# In the order in which mapping them is worth most.
SOURCES = (
    "uspto50k_train.csv.gz", "uspto_mit_val.csv.gz", "uspto_mit_test_half.csv.gz", "ord_uspto_sample.csv.gz",
    "uspto_full_val.csv.gz", "uspto_full_test.csv.gz", "lowe_grants_1976_2009.tsv.gz", "uspto_500_unmapped.tsv.gz",
    "uspto_1ktpl_rebuilt.tsv.gz",
)  # fmt: skip
SMALLEST_PRODUCT, LARGEST_PRODUCT = 4, 70

# Solvents, bases, phosphines and coupling agents whose atoms do not end in products. What might (DMF, acetone, acetonitrile,
# methanol, water, ammonia, halides, acetate, carbonate) is not here: the mapper has to see it to refuse or choose it.
SPECTATORS = frozenset(
    Chem.CanonSmiles(smiles)
    for smiles in (
        "C1CCOC1", "CC1CCCO1", "CCOCC", "COC(C)(C)C", "CC(C)OC(C)C", "C1COCCO1", "COCCOC", "COCCOCCOC",
        "c1ccccc1", "Cc1ccccc1", "Cc1ccccc1C", "Cc1cccc(C)c1", "Cc1ccc(C)cc1", "Clc1ccccc1", "Clc1ccccc1Cl",
        "CCCCC", "CCCCCC", "CCCCCCC", "C1CCCCC1", "ClCCl", "ClC(Cl)Cl", "ClC(Cl)(Cl)Cl", "ClCCCl",
        "CS(C)=O", "CN1CCCC1=O", "O=S1(=O)CCCC1", "CN(C)P(=O)(N(C)C)N(C)C",
        "CCN(CC)CC", "CCN(C(C)C)C(C)C", "c1ccncc1", "Cc1cccc(C)n1", "CN(C)c1ccncc1", "C1CCC2=NCCCN2CC1",
        "C1CN2CCN1CC2", "CN1CCOCC1", "CC(C)NC(C)C", "CC(C)[N-]C(C)C", "C[Si](C)(C)[N-][Si](C)(C)C", "CC(C)(C)[O-]",
        "c1ccc(P(c2ccccc2)c2ccccc2)cc1", "CCCCP(CCCC)CCCC", "O=C(N=NC(=O)OC(C)C)OC(C)C", "CCOC(=O)N=NC(=O)OCC",
        "CCN=C=NCCCN(C)C", "C(=NC1CCCCC1)=NC1CCCCC1", "On1nnc2ccccc21", "On1nnc2cccnc21", "N#N", "[Ar]", "[C]",
        "[H][H]", "[Li+]", "[Na+]", "[K+]", "[Cs+]", "[Mg+2]", "[Ca+2]", "[Ba+2]", "[Al+3]", "[Zn+2]", "[Zn]",
        "[Fe]", "[Fe+2]", "[Fe+3]", "[Cu+]", "[Cu+2]", "[Cu]", "[Mg]", "[Na]", "[Li]", "[K]", "[Sn]", "[Sn+2]", "[Ag+]",
        "[Ti+4]", "[Ni+2]", "[Ni]", "[AlH4-]", "[BH4-]", "[Na+].[BH4-]", "O=[Mn](=O)(=O)[O-]", "F[P-](F)(F)(F)(F)F",
        "F[B-](F)(F)F", "O=S(=O)([O-])[O-]", "O=P([O-])([O-])[O-]", "O=P([O-])([O-])O",
    )
) | {"[H+]", "[H-]"}  # fmt: skip
PLATINUM_GROUP = frozenset({44, 45, 46, 76, 77, 78, 79})

_ATOM = re.compile(r"\[[^\]]+\]|Br|Cl|[BCNOPSFIbcnops*]")
_ELEMENT = re.compile(r"\[?\d*([A-Z][a-z]?|[a-z][a-z]?|\*)")

RECORDED_PER_PART = 10_000

Recorded = tuple[int, tuple[str, ...]]
Parts = list[tuple[str, tuple[int, ...]]]


class Row(NamedTuple):
    """A reaction of a source. Lists of SMILES are canonical, sorted and joined by dots.

    `source_map` has, for each atom of `product` as written, the index of its atom in the left side of `unmapped()`, or
    `UNMAPPED`; it is empty where the source maps nothing. `kind` names the change that the source's map claims
    (`reaction_centre.reaction_class`, hashed), empty where that map is missing or incomplete.
    """

    source: str
    line: int
    product: str
    precursors: str
    reagents: str
    source_map: tuple[int, ...]
    kind: str

    def claim(self) -> bytes:
        """Names the reaction as the source tells it: product and precursors."""
        return digest(f"{self.precursors}>>{self.product}")

    def unmapped(self) -> str:
        """Writes the canonical unmapped reaction that the atom mapper gets."""
        return f"{left_side(self.precursors, self.reagents)}>>{self.product}"

    def line_of_text(self) -> str:
        """Writes the row for `read_rows`."""
        return "\t".join((*map(str, self[:5]), ",".join(map(str, self.source_map)), self.kind))


def digest(reaction: str) -> bytes:
    """Gives the eight bytes that name a canonical unmapped reaction."""
    return hashlib.blake2b(reaction.encode(), digest_size=8).digest()


def is_spectator(smiles: str) -> bool:
    """Tells whether a canonical component is one that never gives atoms to a product."""
    if smiles in SPECTATORS:
        return True
    if not any(metal in smiles for metal in ("Ru", "Rh", "Pd", "Os", "Ir", "Pt", "Au")):
        return False
    mol = Chem.MolFromSmiles(smiles)
    return mol is not None and any(atom.GetAtomicNum() in PLATINUM_GROUP for atom in mol.GetAtoms())


def left_side(precursors: str, reagents: str) -> str:
    """Joins precursors and the reagents that could contribute, sorted, as the mapper gets them."""
    could = [part for part in reagents.split(".") if part and not is_spectator(part)]
    return ".".join(sorted(precursors.split(".") + could))


def _parts(mol: Chem.Mol) -> Parts:
    """Gives each component's canonical SMILES with the map numbers of its atoms in the order written."""
    found = []
    for part in Chem.GetMolFrags(mol, asMols=True) if len(Chem.GetMolFrags(mol)) > 1 else (mol,):
        atoms = held_out.atoms_of(part)
        maps = [atom.GetAtomMapNum() for atom in atoms]
        if any(maps):
            for atom in atoms:
                atom.SetAtomMapNum(0)
        smiles = Chem.MolToSmiles(part)
        order = part.GetPropsAsDict(includePrivate=True, includeComputed=True)["_smilesAtomOutputOrder"]
        found.append((smiles, tuple(maps[index] for index in order)))
    return found


class Components:
    """Canonical components of SMILES, remembered where no map number makes them unique."""

    def __init__(self) -> None:
        self.known: dict[str, Parts | None] = {}

    def of(self, smiles: str) -> Parts | None:
        """Gives the components of a dotted SMILES, or None where one cannot be read."""
        found: Parts = []
        for text in smiles.split("."):
            if not text:
                continue
            parts = self._of_one(text)
            if parts is None:
                return None
            found += parts
        return found

    def _of_one(self, text: str) -> Parts | None:
        if ":" in text:
            mol = Chem.MolFromSmiles(text)
            return _parts(mol) if mol else None
        if text not in self.known:
            mol = Chem.MolFromSmiles(text)
            self.known[text] = _parts(mol) if mol else None
        return self.known[text]


def _product(smiles: str) -> Chem.Mol | None:
    mol = Chem.MolFromSmiles(smiles)
    if mol is None or not mol.GetNumAtoms():
        return None
    part = held_out.neutralised(held_out.largest_organic(mol))
    carbons = any(atom.GetAtomicNum() == 6 for atom in held_out.atoms_of(part))
    return part if carbons and SMALLEST_PRODUCT <= part.GetNumHeavyAtoms() <= LARGEST_PRODUCT else None


@functools.lru_cache(maxsize=100_000)
def elements(component: str) -> collections.Counter[str]:
    """Counts a component's heavy atoms by element, from its string."""
    found = (_ELEMENT.search(token).group(1).capitalize() for token in _ATOM.findall(component))
    return collections.Counter(symbol for symbol in found if symbol != "H")


def _enough_atoms(left: str, product: str) -> bool:
    """Tells whether the left side has every atom of the product: what has not cannot be mapped in full."""
    there: collections.Counter[str] = collections.Counter()
    for component in left.split("."):
        there.update(elements(component))
    return not elements(product) - there


def _split_by_map(components: Parts, product_maps: set[int]) -> tuple[Parts, Parts]:
    contributing = [part for part in components if product_maps & set(part[1])]
    return contributing, [part for part in components if not product_maps & set(part[1])]


def _source_map(precursors: Parts, left: str, product_maps: tuple[int, ...]) -> tuple[int, ...]:
    """Says for each product atom where in the left side its map number stands."""
    waiting = collections.defaultdict(list)
    for smiles, maps in precursors:
        waiting[smiles].append(maps)
    place: dict[int, int] = {}
    offset = 0
    for smiles in left.split("."):
        atoms = len(_ATOM.findall(smiles))
        if waiting[smiles]:
            for index, number in enumerate(waiting[smiles].pop(0)):
                if number:
                    place.setdefault(number, offset + index)
        offset += atoms
    return tuple(place.get(number, UNMAPPED) if number else UNMAPPED for number in product_maps)


def kind_of(unmapped: str, source_map: tuple[int, ...]) -> str:
    """Names the kind of change that a map claims, by eight bytes in hexadecimal; empty for an incomplete map."""
    if not source_map or UNMAPPED in source_map or len(set(source_map)) != len(source_map):
        return ""
    return digest(reaction_centre.reaction_class(unmapped, source_map)).hex()


def make_row(source: str, line: int, recorded: tuple[str, str, str], components: Components) -> tuple[Row, Chem.Mol] | str:
    """Makes the row of (left, agents, product) and the product's molecule, or says why there is none.

    A left side without any map number is taken at its word: all of it are precursors, the agents are reagents.
    """
    left, agents, right = recorded
    mol = _product(right)
    if mol is None:
        return "product unreadable, inorganic, under 4 or over 70 heavy atoms"
    product, product_maps = _parts(mol)[0]
    on_left, on_arrow = components.of(left), components.of(agents)
    if on_left is None or on_arrow is None or not on_left:
        return "precursors unreadable"
    mapped = any(product_maps)
    contributing, others = _split_by_map(on_left + on_arrow, set(product_maps) - {0}) if mapped else (on_left, on_arrow)
    if not contributing:
        return "no precursor contributes"
    precursors = sorted(smiles for smiles, _ in contributing)
    if product in precursors:
        return "product among the precursors"
    reagents = sorted({smiles for smiles, _ in others} - set(precursors) - {product})
    row = Row(source, line, product, ".".join(precursors), ".".join(reagents), (), "")
    whole = left_side(row.precursors, row.reagents)
    if not _enough_atoms(whole, product):
        return "product has atoms that no precursor has"
    if any(Chem.MolFromSmiles(part) is None for part in (product, *whole.split("."))):
        return "unreadable once canonical"
    source_map = _source_map(contributing, whole, product_maps) if mapped else ()
    return row._replace(source_map=source_map, kind=kind_of(row.unmapped(), source_map)), mol


def recorded_reactions(path: Path) -> Iterator[Recorded]:
    """Yields line number and (left, agents, product) of a source's file, or as many parts as a broken line has."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines, delimiter="\t" if ".tsv" in path.name else ","), start=2):
            if "rxn_smiles" in row:
                yield number, tuple(row["rxn_smiles"].split(" ")[0].split(">"))
            else:
                yield number, (row["precursors"], row["reagent_part"], row["product"])


class RowFilter:
    """Asks once a product whether it is held out."""

    def __init__(self, lists: held_out.HeldOut) -> None:
        self.lists = lists
        self.known: dict[str, set[str]] = {}
        self.same_skeleton = 0

    def reasons(self, product: str, mol: Chem.Mol) -> set[str]:
        """Names the lists that hold the product; counts those that share no more than a skeleton with a held-out one."""
        if product not in self.known:
            keys = held_out.keys_of(mol)
            self.known[product] = self.lists.lists_with(keys)
            self.same_skeleton += not self.known[product] and self.lists.shares_skeleton(keys)
        return self.known[product]


def rows_of(name: str, recorded: Iterable[Recorded], row_filter: RowFilter, count: Callable[[str], None]) -> Iterator[Row]:
    """Yields the rows of one source that may be trained on; reports why others are left out."""
    source, components = name.split(".")[0], Components()
    for number, sides in recorded:
        made = make_row(source, number, sides, components) if len(sides) == 3 else "not two arrows"
        if isinstance(made, str):
            count(made)
            continue
        row, mol = made
        reasons = row_filter.reasons(row.product, mol)
        for reason in reasons:
            count(f"held out: {reason}")
        count("held out" if reasons else "kept")
        if not reasons:
            yield row


def read_rows(folder: Path) -> Iterator[Row]:
    """Yields all rows that `main` wrote, most useful source first."""
    for name in SOURCES:
        for path in sorted(folder.glob(f"{name.split('.')[0]}.*.rows.tsv.gz")):
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                for line in lines:
                    source, number, product, precursors, reagents, indices, kind = line.rstrip("\n").split("\t")
                    source_map = tuple(int(index) for index in indices.split(",") if index)
                    yield Row(source, int(number), product, precursors, reagents, source_map, kind)


def write_part(path: Path, name: str, recorded: list[Recorded], row_filter: RowFilter) -> None:
    """Writes the rows of a part of a source, and beside them what was left out and why."""
    counts: collections.Counter[str] = collections.Counter()
    unfinished = path.with_suffix(".unfinished")
    with gzip.open(unfinished, "wt", compresslevel=3, encoding="utf-8") as out:
        for row in rows_of(name, recorded, row_filter, lambda reason: counts.update([reason])):
            out.write(row.line_of_text() + "\n")
    path.with_name(path.name.replace(".rows.tsv.gz", ".counts.json")).write_text(json.dumps(counts), encoding="utf-8")
    unfinished.rename(path)


def main() -> None:
    """Writes `SOURCE.PART.rows.tsv.gz` for every part of a source that has none yet, and says what was left out and why."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with reactions, routes and targets")
    parser.add_argument("--kit", type=Path, required=True, help="the benchmark kit's folder, with targets_public.csv")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sources", nargs="+", default=SOURCES, choices=SOURCES)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    args.out.mkdir(parents=True, exist_ok=True)
    row_filter = RowFilter(held_out.load(args.data, args.kit))
    for name in args.sources:
        total: collections.Counter[str] = collections.Counter()
        recorded = recorded_reactions(args.data / "reactions" / name)
        for part in itertools.count():
            batch = list(itertools.islice(recorded, RECORDED_PER_PART))
            if not batch:
                break
            path = args.out / f"{name.split('.')[0]}.{part:02d}.rows.tsv.gz"
            if not path.exists():
                write_part(path, name, batch, row_filter)
            total.update(json.loads(path.with_name(path.name.replace(".rows.tsv.gz", ".counts.json")).read_text()))
        print(name, dict(total.most_common()), f"products sharing a held-out skeleton so far: {row_filter.same_skeleton}", flush=True)


if __name__ == "__main__":
    main()
