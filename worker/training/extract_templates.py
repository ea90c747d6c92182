"""Extracts a retro template from every atom-mapped reaction with rdchiral.

The decision that matters: a template is only as good as its reaction's mapping, so a reaction is refused unless its
product is one molecule, fully mapped, and made of at most three mapped reactants. Map numbers that the product lacks are
stripped first. A few reactions make rdchiral run for ever; a timer ends each after three seconds.
"""

import argparse
import csv
import gzip
import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from rdchiral import template_extractor
from rdkit import Chem, RDLogger

SOURCES = (
    "uspto50k_train", "uspto50k_val", "uspto_mit_val", "uspto_mit_test_half", "ord_uspto_sample", "uspto_full_val",
    "uspto_full_test",
)
SECONDS_PER_REACTION = 3
MAX_PRECURSORS = 3
_MAP_NUMBER = re.compile(r":(\d+)\]")


class TooSlow(Exception):
    """rdchiral did not come back in time."""


def _on_alarm(*_: object) -> None:
    raise TooSlow


def quiet_worker(groups: bool = True) -> None:
    """Prepares a process for `extract`: rdchiral prints, RDKit logs, and neither is to be seen.

    Without `groups` a template is the changed atoms and their neighbours; with them, whole functional groups that these belong to.
    """
    if not groups:
        template_extractor.get_special_groups = lambda _: []
    RDLogger.DisableLog("rdApp.*")
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (rdchiral prints; lives as long as the process)
    signal.signal(signal.SIGALRM, _on_alarm)


def unmapped(smiles: str) -> str | None:
    """Gives the canonical SMILES without map numbers, or None for what is no molecule."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        return None
    for atom in mol.GetAtoms():
        atom.SetAtomMapNum(0)
    return Chem.MolToSmiles(mol)


def mapped_reactants(reactants: str, product_maps: set[int]) -> list[str] | None:
    """Picks the reactants that give atoms to the product, or None when the mapping is not one to one."""
    kept: list[str] = []
    seen: set[int] = set()
    for part in reactants.split("."):
        maps = {int(number) for number in _MAP_NUMBER.findall(part)} & product_maps
        if maps & seen:
            return None
        if maps:
            kept.append(part)
            seen |= maps
    return kept if seen == product_maps and 1 <= len(kept) <= MAX_PRECURSORS else None


def extract(task: tuple[str, str]) -> tuple[str, str, str, str] | None:
    """Gives source, product, reactants and retro template of a reaction, or None when it has none."""
    source, reaction = task
    *left, product = reaction.split(">")
    mol = Chem.MolFromSmiles(product)
    if "." in product or mol is None or not 4 <= mol.GetNumHeavyAtoms() <= 70:
        return None
    maps = {atom.GetAtomMapNum() for atom in mol.GetAtoms()}
    if 0 in maps or len(maps) != mol.GetNumAtoms():
        return None
    kept = mapped_reactants(".".join(side for side in left if side), maps)
    if kept is None:
        return None
    clean_product, clean = unmapped(product), [unmapped(part) for part in kept]
    if clean_product is None or None in clean or clean_product in clean:
        return None
    stripped = _MAP_NUMBER.sub(lambda hit: hit.group(0) if int(hit.group(1)) in maps else "]", ".".join(kept))
    signal.setitimer(signal.ITIMER_REAL, SECONDS_PER_REACTION)
    try:
        found = template_extractor.extract_from_reaction({"_id": 0, "reactants": stripped, "products": product})
    except Exception:  # noqa: BLE001 (rdchiral raises whatever it meets; a reaction without template is left out)
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if not found or "reaction_smarts" not in found:
        return None
    return source, clean_product, ".".join(sorted(clean)), found["reaction_smarts"]


def tasks(folder: Path) -> Iterator[tuple[str, str]]:
    """Yields source and mapped reaction SMILES of all files."""
    for source in SOURCES:
        with gzip.open(folder / f"{source}.csv.gz", "rt", encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                yield source, row["rxn_smiles"]


def main() -> None:
    """Writes one line a reaction: source, product, reactants, template; of equal reactions the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the mapped reactions, *.csv.gz")
    parser.add_argument("--out", type=Path, required=True, help="extracted.tsv.gz to write")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    seen: set[tuple[str, str]] = set()
    with (
        multiprocessing.Pool(args.processes, initializer=quiet_worker) as pool,
        gzip.open(args.out, "wt", compresslevel=6, encoding="utf-8") as out,
    ):
        for row in pool.imap(extract, tasks(args.data), chunksize=64):
            if row and row[1:3] not in seen:
                seen.add(row[1:3])
                out.write("\t".join(row) + "\n")
    print(f"{len(seen)} reactions")


if __name__ == "__main__":
    main()
