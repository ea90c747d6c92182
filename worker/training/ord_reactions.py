"""Reads datasets of the Open Reaction Database (`.pb`, `.pb.gz`): products and precursors of recorded reactions.

The decision that matters: the few fields that are needed are read from the wire format itself, so that a dataset needs no
package. Every length is checked against what holds it, and nesting has a limit; a broken reaction is left out by its number, a
broken dataset as a whole. Precursors are the components that the record calls reactants, or gives no role; without these
the reaction SMILES of the record counts. A reaction has a line for each product that is wanted (`is_desired_product`), or for its
only one. The lines are those that `policy_examples` reads: `product TAB precursors`.
"""

import argparse
import collections
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from rdkit import Chem, RDLogger

# Numbers of fields and values in ord-schema's `dataset.proto` and `reaction.proto` (0.3).
REACTIONS = 3
IDENTIFIERS, INPUTS, OUTCOMES = 1, 2, 8
REACTION_SMILES, REACTION_CXSMILES = 2, 6
SMILES, CXSMILES = 2, 10
UNSPECIFIED, REACTANT, PRODUCT = 0, 1, 8
LARGEST = 1 << 31

Fields = dict[int, list[int | bytes]]


class Broken(ValueError):
    """The bytes are no message."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Reads a number of up to 64 bits; gives it and the place behind it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise Broken(f"ends within a number at byte {at}")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise Broken(f"a number of more than ten bytes before byte {at}")


def fields(data: int | bytes) -> Fields:
    """Reads the fields of a message: numbers, and the bytes of texts and messages."""
    if isinstance(data, int):
        raise Broken("a number in the place of a message")
    found: Fields = collections.defaultdict(list)
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
            found[number].append(value)
            continue
        if kind == 2:
            length, at = varint(data, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise Broken(f"a field of kind {kind} before byte {at}")
        if length > len(data) - at:
            raise Broken(f"a field of {length} bytes before byte {at}, of which {len(data) - at} are there")
        if kind == 2:
            found[number].append(data[at : at + length])
        at += length
    return found


def number(message: Fields, field: int) -> int:
    """Gives a field's number; 0 if it is not there."""
    values = message.get(field, [])
    return values[-1] if values and isinstance(values[-1], int) else 0


def value_of(identifiers: list[int | bytes], kinds: tuple[int, ...]) -> str | None:
    """Gives the text of the first identifier of these kinds, in their order."""
    read = [fields(identifier) for identifier in identifiers]
    for kind in kinds:
        for identifier in read:
            texts = identifier.get(3, [])
            if number(identifier, 1) == kind and texts and isinstance(texts[-1], bytes):
                return texts[-1].decode("utf-8", "replace")
    return None


def canonical(text: str) -> str | None:
    """Gives the canonical SMILES without map numbers; `None` for what is no molecule."""
    mol = Chem.MolFromSmiles(text)
    if mol is None or mol.GetNumAtoms() == 0:
        return None
    for atom in mol.GetAtoms():
        atom.SetAtomMapNum(0)
    return Chem.MolToSmiles(mol)


def sides(reaction: Fields) -> tuple[list[str | None], list[str | None]]:
    """Gives the precursors and the wanted products of a reaction, `None` for one without a readable structure."""
    precursors: list[str | None] = []
    for entry in reaction.get(INPUTS, []):
        for held in fields(entry).get(2, []):
            for component in map(fields, fields(held).get(1, [])):
                if number(component, 3) in (UNSPECIFIED, REACTANT):
                    text = value_of(component.get(1, []), (SMILES, CXSMILES))
                    precursors.append(canonical(text) if text else None)
    products = [product for outcome in reaction.get(OUTCOMES, []) for product in map(fields, fields(outcome).get(3, []))]
    products = [product for product in products if number(product, 7) in (UNSPECIFIED, PRODUCT)]
    wanted = [product for product in products if number(product, 2)] or (products if len(products) == 1 else [])
    texts = [value_of(product.get(1, []), (SMILES, CXSMILES)) for product in wanted]
    made = [canonical(text) if text else None for text in texts]
    if precursors and made:
        return precursors, made
    written = value_of(reaction.get(IDENTIFIERS, []), (REACTION_SMILES, REACTION_CXSMILES))
    parts = written.split(" ")[0].split(">") if written else []
    if len(parts) != 3:
        return precursors, made
    left = [canonical(part) for part in parts[0].split(".") if part]
    right = [canonical(part) for part in parts[2].split(".") if part]
    return left, right if len(right) == 1 else []


def lines_of(reaction: bytes | int) -> Iterator[str]:
    """Yields the lines of a reaction. Raises `Broken` with the reason if there are none."""
    precursors, products = sides(fields(reaction))
    if not precursors or not products:
        raise Broken("no reactant" if not precursors else "no wanted product")
    if None in precursors or None in products:
        raise Broken("a component without a readable structure")
    for product in products:
        if product in precursors:
            raise Broken("the product is among the reactants")
        yield f"{product}\t{'.'.join(sorted(str(smiles) for smiles in precursors))}"


def read(path: Path) -> bytes:
    """Reads a file, unpacked. Raises `Broken` with the reason if it cannot be read whole."""
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                data = packed.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as reason:
        raise Broken(str(reason)) from reason
    if len(data) > LARGEST:
        raise Broken(f"more than {LARGEST} bytes")
    return data


def lines_of_dataset(path: Path, counts: collections.Counter[str]) -> Iterator[str]:
    """Yields the lines of a dataset's reactions; counts them, and why others are left out."""
    for place, reaction in enumerate(fields(read(path)).get(REACTIONS, []), start=1):
        try:
            yield from list(lines_of(reaction))
            counts["read"] += 1
        except Broken as reason:
            counts[f"left out: {reason}" if "byte" not in str(reason) else "left out: broken"] += 1
            if counts.total() - counts["read"] <= 20:
                print(f"{path}, reaction {place}: {reason}", flush=True)


def main() -> None:
    """Writes the lines of all datasets, each once, and says what was left out and why."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", type=Path, nargs="+", help=".pb or .pb.gz files")
    parser.add_argument("--out", type=Path, required=True, help="lines for policy_examples")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    counts: collections.Counter[str] = collections.Counter()
    lines: dict[str, None] = {}
    unread = 0
    for path in args.datasets:
        try:
            lines |= dict.fromkeys(lines_of_dataset(path, counts))
        except Broken as reason:
            unread += 1
            print(f"{path} is left out: {reason}", flush=True)
    args.out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(json.dumps({"lines": len(lines), **dict(counts.most_common()), **({"datasets left out": unread} if unread else {})}))
    raise SystemExit(unread > 0)


if __name__ == "__main__":
    main()
