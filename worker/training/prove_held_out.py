"""Proves that no training input makes a molecule that is held out, and prints the counts of every list.

The decision that matters: the proof reads what training reads, not what made it, so it holds for any file with a column of
products or of reactions: `clean.tsv.gz:mapped`, `extracted.tsv.gz:1`. A product is held out when the InChIKey of any of its
organic components, as written or neutralised, is on a list (`held_out.py`). It ends with an error when one is.
"""

import argparse
import collections
import csv
import gzip
import multiprocessing
from collections.abc import Iterator
from pathlib import Path

from rdkit import Chem, RDLogger

import held_out


def products(path: Path, column: str) -> Iterator[str]:
    """Yields the column's products as written; `column` is a number, from 0, of a file without header, or a header's name."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        rows = csv.reader(lines, delimiter="," if ".csv" in path.name else "\t", quoting=csv.QUOTE_MINIMAL if ".csv" in path.name else csv.QUOTE_NONE)
        place = int(column) if column.isdigit() else next(rows).index(column)
        for row in rows:
            yield row[place].split(">")[-1]


def unmapped(product: str) -> str:
    """Gives the canonical product without map numbers; an unreadable one as it is."""
    mol = Chem.MolFromSmiles(product)
    if mol is None:
        return product
    for atom in held_out.atoms_of(mol):
        atom.SetAtomMapNum(0)
    return Chem.MolToSmiles(mol)


def keys(product: str) -> tuple[str, ...]:
    """Gives the keys of every organic component of a product; none for what cannot be read."""
    mol = Chem.MolFromSmiles(unmapped(product))
    if mol is None:
        return ()
    parts = Chem.GetMolFrags(mol, asMols=True)
    return tuple(key for part in parts if any(a.GetAtomicNum() == 6 for a in held_out.atoms_of(part)) for key in held_out.keys_of(part))


def count_matches(all_keys: Iterator[tuple[str, ...]], lists: held_out.HeldOut) -> collections.Counter[str]:
    """Counts products, those that are held out in all and by list, unreadable ones, and those that share a skeleton."""
    counts: collections.Counter[str] = collections.Counter()
    for found in all_keys:
        counts["products"] += 1
        counts["unreadable or inorganic"] += not found
        names = lists.lists_with(found)
        counts["held out"] += bool(names)
        counts["same skeleton only"] += not names and lists.shares_skeleton(found)
        counts.update(f"held out by {name}" for name in names)
    return counts


def _quiet() -> None:
    RDLogger.DisableLog("rdApp.*")


def main() -> None:
    """Prints a line a file and list; fails where a held-out product is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+", help="FILE:COLUMN, a number for a file without header")
    parser.add_argument("--data", type=Path, required=True, help="folder with reactions, routes and targets")
    parser.add_argument("--kit", type=Path, required=True, help="the benchmark kit's folder, with targets_public.csv")
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args()
    _quiet()
    lists = held_out.load(args.data, args.kit)
    guilty = 0
    for name in args.inputs:
        path, column = name.rsplit(":", 1)
        distinct = sorted(set(products(Path(path), column)))
        with multiprocessing.Pool(args.processes, initializer=_quiet) as pool:
            counts = count_matches(pool.imap(keys, distinct, chunksize=256), lists)
        print(f"{path}: {counts['products']} products, {counts['held out']} held out, {counts['same skeleton only']} that share "
              f"no more than a skeleton with one, {counts['unreadable or inorganic']} unreadable or inorganic")  # fmt: skip
        for listed, held in lists.lists.items():
            print(f"  {listed}: {counts[f'held out by {listed}']} of its {len(held)} keys' molecules")
        guilty += counts["held out"]
    if guilty:
        raise SystemExit(f"{guilty} products are held out: make these inputs again from reactions.py's rows")


if __name__ == "__main__":
    main()
