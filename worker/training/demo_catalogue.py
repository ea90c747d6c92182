"""Makes the demo catalogue: real molecules, fictitious vendors, prices and lead times.

The decision that matters: everything but the molecules comes from a hash of the molecule and the vendor, so the file is
the same on every run, nothing in it is anyone's price, and masks on price and lead time have something to bite on.
The molecules are small reactants of the training reactions that no training reaction makes or many use, commonest
first, the enumerated blocks of building_blocks.py, and what laboratory suppliers stock, of shelf.tsv. The `--exclude` products'
own reactions do not count.
"""

import argparse
import collections
import csv
import dataclasses
import gzip
import hashlib
import io
import math
from collections.abc import Iterator
from pathlib import Path

from rdkit import Chem, RDLogger
from rdkit.Chem import Descriptors, rdMolDescriptors

import building_blocks
import prepare_templates

COUNTRIES = ("US", "CA", "GB", "FR", "CH", "DE", "CN", "AU")
COLUMNS = (
    "smiles", "vendor_name", "cs_prefix", "cs_id", "cs_url", "pack", "uom", "price_usd",
    *(f"lead_time_days_to_{country}" for country in COUNTRIES),
)
ELEMENTS = {"H", "Li", "B", "C", "N", "O", "F", "Na", "Mg", "Si", "P", "S", "Cl", "K", "Zn", "Se", "Br", "Sn", "I"}
SMALLEST_USD_PER_GRAM, LARGEST_USD_PER_GRAM = 0.5, 2000.0
SHELF = Path(__file__).with_name("shelf.tsv")
SHELF_COLUMNS = ["smiles", "name", "class"]
SHELF_OCCURRENCES = 30  # what every supplier stocks is cheap: priced as if this many reactions used it
BOUGHT_RATIO = 3  # a reactant that reactions make is bought if so many use it for each that makes it
# Schedule 1 of the Chemical Weapons Convention: nobody sells them.
NEVER_SOLD = {
    "ClCCSCCCl", "ClCCSCCl", "ClCSCSCCl", "CCN(CCCl)CCCl", "CN(CCCl)CCCl", "ClCCN(CCCl)CCCl", "CC(C)OP(C)(=O)F",
    "CP(=O)(F)F", "Cl/C=C/[As](Cl)Cl",
}


@dataclasses.dataclass(frozen=True)
class Vendor:
    """A vendor that does not exist: what share of the molecules it has and where it ships to, in days."""

    name: str
    prefix: str
    share: float
    price_factor: float
    packs: tuple[tuple[float, str], ...]
    days: dict[str, int]
    spread_days: int


VENDORS = (
    Vendor("Fictitious Fine Chemicals (demo)", "FFC", 0.55, 1.3, ((1, "g"), (5, "g"), (25, "g")),
           dict(zip(COUNTRIES, (2, 4, 7, 7, 8, 7, None, 12), strict=True)), 3),
    Vendor("Imaginary Building Blocks (demo)", "IBB", 0.45, 0.7, ((5, "g"), (25, "g"), (1, "kg")),
           dict(zip(COUNTRIES, (10, 12, 12, 12, 14, 12, 3, 14), strict=True)), 6),
    Vendor("Made-Up Reagents (demo)", "MUR", 0.3, 1.6, ((250, "mg"), (1, "g"), (10, "mmol")),
           dict(zip(COUNTRIES, (9, None, 3, 2, 3, 1, None, None), strict=True)), 2),
    Vendor("Invented Synthesis on Demand (demo)", "ISD", 0.2, 4.0, ((50, "mg"), (100, "mg"), (1, "g")),
           dict(zip(COUNTRIES, (28, 30, 28, 28, 28, 28, 21, 35), strict=True)), 14),
)


def unit_hash(*parts: str) -> float:
    """Gives a number in [0, 1) that depends on the parts alone."""
    digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def reaction_leaves(path: Path, held_out: set[str], unwanted: set[str], max_heavy_atoms: int) -> list[tuple[str, int]]:
    """Lists reactants that are bought with their occurrences, commonest first, then the smallest."""
    reactions = [
        row for row in prepare_templates.read_reactions(path) if row[0] not in held_out and row[1] not in unwanted
    ]
    made = collections.Counter(product for _, product, _, _ in reactions)
    counts = collections.Counter(part for row in reactions for part in set(row[2].split(".")))
    leaves = []
    for smiles, count in counts.items():
        if count < BOUGHT_RATIO * made[smiles]:
            continue
        mol = Chem.MolFromSmiles(smiles)
        if mol is None or mol.GetNumHeavyAtoms() > max_heavy_atoms or not acceptable(mol):
            continue
        leaves.append((-count, mol.GetNumHeavyAtoms(), Chem.MolToSmiles(mol)))
    return [(smiles, -count) for count, _, smiles in sorted(leaves)]


def acceptable(mol: Chem.Mol) -> bool:
    """Says whether the molecule is neutral, without isotopes and radicals, of the catalogue's elements."""
    return Chem.GetFormalCharge(mol) == 0 and is_known(mol) and not any(atom.GetIsotope() for atom in mol.GetAtoms())


def is_known(mol: Chem.Mol) -> bool:
    """Says whether the molecule is without radicals and of the catalogue's elements."""
    return all(atom.GetSymbol() in ELEMENTS and not atom.GetNumRadicalElectrons() for atom in mol.GetAtoms())


def usd_per_gram(mol: Chem.Mol, key: str, count: int) -> float:
    """Guesses a price: up with size, stereocentres and rings, down with how often reactions use the molecule."""
    exponent = (
        -0.4
        + 0.07 * mol.GetNumHeavyAtoms()
        + 0.3 * len(Chem.FindMolChiralCenters(mol, useLegacyImplementation=True))
        + 0.12 * rdMolDescriptors.CalcNumRings(mol)
        - 0.4 * math.log10(count)
        + 1.6 * (unit_hash("price", key) - 0.5)
    )
    return min(LARGEST_USD_PER_GRAM, max(SMALLEST_USD_PER_GRAM, 10**exponent))


def grams(pack: float, uom: str, weight: float) -> float:
    """Converts a pack to grams."""
    return pack * {"mg": 1e-3, "g": 1.0, "kg": 1e3, "mmol": weight * 1e-3}[uom]


def rounded(price: float) -> float:
    """Rounds to two significant digits, as price lists do, and to whole dollars from 10 on."""
    step = 10 ** (math.floor(math.log10(price)) - 1)
    value = round(price / step) * step
    return round(value) if value >= 10 else round(value, 2)


def offers(smiles: str, count: int, numbers: dict[str, int]) -> Iterator[dict[str, object]]:
    """Yields one to three offers for a molecule and counts up each vendor's catalogue numbers."""
    mol = Chem.MolFromSmiles(smiles)
    weight = Descriptors.MolWt(Chem.MolFromSmiles(max(smiles.split("."), key=len)))
    base = usd_per_gram(mol, smiles, count)
    ranked = sorted(VENDORS, key=lambda vendor: unit_hash("vendor", vendor.prefix, smiles) / vendor.share)
    chosen = [vendor for vendor in ranked if unit_hash("vendor", vendor.prefix, smiles) < vendor.share * 0.8][:3]
    for vendor in chosen or ranked[:1]:
        pick = unit_hash("pack", vendor.prefix, smiles)
        pack, uom = vendor.packs[int(pick**1.5 * len(vendor.packs))]
        mass = grams(pack, uom, weight)
        per_gram = base * vendor.price_factor * (0.7 + 0.6 * unit_hash("offer", vendor.prefix, smiles)) * mass**-0.3
        per_gram = min(LARGEST_USD_PER_GRAM, max(SMALLEST_USD_PER_GRAM, per_gram))
        delay = int(unit_hash("days", vendor.prefix, smiles) * (vendor.spread_days + 1))
        numbers[vendor.prefix] += 1
        number = f"{numbers[vendor.prefix]:06d}"
        yield {
            "smiles": smiles,
            "vendor_name": vendor.name,
            "cs_prefix": vendor.prefix,
            "cs_id": f"{vendor.prefix}-{number}",
            "cs_url": f"https://example.com/{vendor.prefix.lower()}/{number}",
            "pack": pack,
            "uom": uom,
            "price_usd": rounded(max(1.0, per_gram * mass)),
            **{
                f"lead_time_days_to_{country}": "" if days is None else days + delay
                for country, days in vendor.days.items()
            },
        }


def read_shelf(path: Path) -> list[str]:
    """Lists the molecules that every laboratory supplier has, as canonical SMILES. Says which line is at fault."""
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    if header.split("\t") != SHELF_COLUMNS:
        raise ValueError(f"{path.name}, line 1: the columns are not {', '.join(SHELF_COLUMNS)}")
    return [shelf_molecule(f"{path.name}, line {number}", line) for number, line in enumerate(lines, 2)]


def shelf_molecule(place: str, line: str) -> str:
    """Gives the canonical SMILES of one line of the shelf, which may be an ion or labelled."""
    fields = line.split("\t")
    if len(fields) != len(SHELF_COLUMNS) or not all(fields):
        raise ValueError(f"{place}: not {len(SHELF_COLUMNS)} columns")
    mol = Chem.MolFromSmiles(fields[0])
    if mol is None:
        raise ValueError(f"{place}: {fields[0]} is no molecule")
    if not is_known(mol):
        raise ValueError(f"{place}: {fields[0]} has radicals or other elements")
    return Chem.MolToSmiles(mol)


def blocks(max_leaves: int, leaves: list[tuple[str, int]], n_salts: int, shelf: list[str]) -> dict[str, int]:
    """Joins leaves, enumerated blocks, salts and the shelf: SMILES to occurrences, 1 for what only enumeration gave."""
    counts = dict(leaves)
    joined = dict(leaves[:max_leaves])
    for smiles in building_blocks.enumerate_blocks():
        mol = Chem.MolFromSmiles(smiles)
        if mol is None:
            raise ValueError(f"{smiles} is no molecule")
        canonical = Chem.MolToSmiles(mol)
        joined.setdefault(canonical, counts.get(canonical, 1))
    for smiles in building_blocks.hydrochlorides(n_salts):
        joined.setdefault(smiles, 1)
    for smiles in shelf:
        joined.setdefault(smiles, SHELF_OCCURRENCES)
    return {smiles: count for smiles, count in joined.items() if NEVER_SOLD.isdisjoint(smiles.split("."))}


def main() -> None:
    """Writes the catalogue, sorted by SMILES."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="extracted.tsv.gz of extract_templates.py")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="CSV files of products to leave out")
    parser.add_argument("--held-out", nargs="*", default=["uspto50k_val"])
    parser.add_argument("--max-heavy-atoms", type=int, default=20)
    parser.add_argument("--max-leaves", type=int, default=53_000)
    parser.add_argument("--salts", type=int, default=400)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")

    unwanted = prepare_templates.read_products(args.exclude)
    leaves = reaction_leaves(args.data, set(args.held_out), unwanted, args.max_heavy_atoms)
    joined = blocks(args.max_leaves, leaves, args.salts, read_shelf(SHELF))
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    numbers: dict[str, int] = collections.Counter()
    for smiles in sorted(joined):
        writer.writerows(offers(smiles, joined[smiles], numbers))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
    print(f"{len(joined)} molecules, {sum(numbers.values())} offers, {args.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
