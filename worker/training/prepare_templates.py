"""Selects the template library and writes it with the training examples of the policy network.

The decision that matters: a template stays only if RDKit, applying it with both sides grouped, gives back the
recorded precursors of at least one of the reactions it came from. Grouping, `(product)>>(A.B)`, keeps a ring
opening from splitting into bogus fragments. Reactions of `--held-out` sources and of `--exclude` products count
neither as occurrences nor as examples.
"""

import argparse
import collections
import csv
import gzip
import hashlib
import re
from pathlib import Path

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem, rdFingerprintGenerator

FINGERPRINT_BITS = 2048
MAX_PRECURSORS = 3
MAX_TEMPLATE_LENGTH = 600
EXAMPLES_TO_CHECK = 4
_MAP_NUMBER = re.compile(r":(\d+)\]")

Reaction = tuple[str, str, str, str]


def read_reactions(path: Path) -> list[Reaction]:
    """Reads source, product, reactants and retro template, one reaction a line."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [tuple(line.rstrip("\n").split("\t")) for line in lines]
    return [row for row in rows if len(row) == 4]


def read_products(paths: list[Path]) -> set[str]:
    """Reads the canonical SMILES of the `smiles` (or `product`) column of CSV files."""
    found = set()
    for path in paths:
        with path.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                mol = Chem.MolFromSmiles(row.get("smiles") or row.get("product") or "")
                if mol is not None:
                    found.add(Chem.MolToSmiles(mol))
    return found


def grouped(template: str) -> str | None:
    """Groups the sides of a plain template and strips map numbers that only one side has."""
    product, precursors = template.split(">>")
    if len(template) > MAX_TEMPLATE_LENGTH or len(precursors.split(".")) > MAX_PRECURSORS:
        return None
    common = set(_MAP_NUMBER.findall(product)) & set(_MAP_NUMBER.findall(precursors))

    def strip(side: str) -> str:
        return _MAP_NUMBER.sub(lambda hit: hit.group(0) if hit.group(1) in common else "]", side)

    right = strip(precursors)
    return f"({strip(product)})>>({right})" if "." in right else f"({strip(product)})>>{right}"


def compiled(template: str) -> AllChem.ChemicalReaction | None:
    """Compiles a grouped template, or gives None when RDKit cannot."""
    try:
        reaction = AllChem.ReactionFromSmarts(template)
        reaction.Initialize()
    except (ValueError, RuntimeError):
        return None
    return reaction if reaction.GetNumReactantTemplates() == 1 else None


def gives_back(reaction: AllChem.ChemicalReaction, product: str, precursors: str) -> bool:
    """Says whether the template applied to the product has the recorded precursors among its outcomes."""
    recorded = Chem.MolFromSmiles(precursors)
    if recorded is None:
        return False
    wanted = Chem.MolToSmiles(recorded)
    for outcome in reaction.RunReactants((Chem.MolFromSmiles(product),), 200):
        try:
            mol = Chem.MolFromSmiles(".".join(Chem.MolToSmiles(part) for part in outcome))
        except (ValueError, RuntimeError):
            continue
        if mol is not None and Chem.MolToSmiles(mol) == wanted:
            return True
    return False


def select(reactions: list[Reaction], min_count: int, max_templates: int) -> list[tuple[str, str, int]]:
    """Lists (recorded template, grouped template, occurrences), commonest first, ties by template."""
    examples: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    for _, product, precursors, template in reactions:
        examples[template].append((product, precursors))
    library = []
    for template in sorted(examples, key=lambda key: (-len(examples[key]), key)):
        if len(examples[template]) < min_count or len(library) == max_templates:
            break
        text = grouped(template)
        reaction = compiled(text) if text else None
        if reaction and any(gives_back(reaction, *example) for example in examples[template][:EXAMPLES_TO_CHECK]):
            library.append((template, text, len(examples[template])))
    return library


def write_library(path: Path, library: list[tuple[str, str, int]]) -> None:
    """Writes templates.csv.gz: tab separated, row number = network output = library index."""
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:
        packed.write(b"\tretro_template\ttemplate_hash\tlibrary_occurrence\tlibrary_index\n")
        for row, (_, text, count) in enumerate(library):
            digest = hashlib.sha224(text.encode()).hexdigest()
            packed.write(f"{row}\t{text}\t{digest}\t{count}\t{row}\n".encode())


def main() -> None:
    """Writes `templates.csv.gz` and `examples.npz` under `--out`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="extracted.tsv.gz of extract_templates.py")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="CSV files of products to leave out")
    parser.add_argument("--held-out", nargs="*", default=["uspto50k_val"], help="sources kept for the evaluation")
    parser.add_argument("--min-count", type=int, default=3)
    parser.add_argument("--max-templates", type=int, default=17_000)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    args.out.mkdir(parents=True, exist_ok=True)

    everything = read_reactions(args.data)
    held_out = [row for row in everything if row[0] in args.held_out]
    unwanted = read_products(args.exclude) | {row[1] for row in held_out}
    reactions = [row for row in everything if row[0] not in args.held_out and row[1] not in unwanted]
    reactions = [row for row in reactions if Chem.MolFromSmiles(row[1]) is not None]
    library = select(reactions, args.min_count, args.max_templates)
    write_library(args.out / "templates.csv.gz", library)

    index = {template: row for row, (template, _, _) in enumerate(library)}
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=FINGERPRINT_BITS)

    def packed_bits(rows: list[Reaction]) -> np.ndarray:
        bits = [generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(row[1])) for row in rows]
        return np.packbits(np.array(bits, np.uint8), axis=1)

    covered = [row for row in reactions if row[3] in index]
    covered_held_out = [row for row in held_out if row[3] in index]
    np.savez(
        args.out / "examples.npz",
        bits=packed_bits(covered),
        labels=np.array([index[row[3]] for row in covered]),
        products=np.unique([row[1] for row in covered], return_inverse=True)[1],
        held_out_bits=packed_bits(covered_held_out),
        held_out_labels=np.array([index[row[3]] for row in covered_held_out]),
        counts=np.array([count for _, _, count in library]),
        n_held_out=np.array(len(held_out)),
    )
    print(
        f"{len(reactions)} reactions, {len(library)} templates that cover {len(covered)} of them "
        f"({len(covered) / len(reactions):.3f}); held out {len(held_out)}, covered {len(covered_held_out)}"
    )


if __name__ == "__main__":
    main()
