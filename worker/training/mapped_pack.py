"""Keeps the atom maps of all reactions in one small file, and rebuilds mapped reactions from it and the rows.

The decision that matters: the file has no SMILES. A reaction is the hash of its canonical unmapped form (`reactions.digest`), so
the maps are worth nothing without the data and are checked against it: `check` finds the row of every name, and demands as
many indices as the product has atoms, of equal elements, none twice. Names are sorted and stored as differences; a map, which
mostly counts upwards, as the places where it does not and how far it jumps there. Every column is compressed by itself.
"""

import argparse
import io
import lzma
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rdkit import Chem

import map_reactions
import reactions

MAGIC = b"RETORTMAPS1\n"
CONFIDENCE_STEPS = 255
COLUMNS = ("name_differences", "confidences", "lengths", "break_counts", "break_gaps", "jumps")

Mapped = dict[bytes, tuple[float, tuple[int, ...]]]


def _breaks(indices: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yields where a map does not count on (from the break before) and how far it jumps."""
    expected, last = 0, 0
    for place, index in enumerate(indices):
        if index != expected:
            yield place - last, index - expected
            last = place
        expected = index + 1


def _unbroken(length: int, breaks: list[tuple[int, int]]) -> tuple[int, ...]:
    jumps, place = {}, 0
    for gap, jump in breaks:
        place += gap
        jumps[place] = jump
    indices, expected = [], 0
    for place in range(length):
        expected += jumps.get(place, 0)
        indices.append(expected)
        expected += 1
    return tuple(indices)


def _planes(values: np.ndarray) -> bytes:
    """Writes all lowest bytes, then all second ones, and so on: what is mostly zero then stands together."""
    return np.ascontiguousarray(values.view(np.uint8).reshape(len(values), -1).T).tobytes()


def _from_planes(data: bytes, kind: str) -> np.ndarray:
    width = np.dtype(kind).itemsize
    return np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(width, -1).T).reshape(-1).view(kind)


def write(path: Path, mapped: Mapped) -> None:
    """Writes the pack; confidences are rounded down to 1/255."""
    names = sorted(mapped)
    numbers = np.array([int.from_bytes(name, "big") for name in names], np.uint64)
    breaks = [list(_breaks(mapped[name][1])) for name in names]
    flat = [pair for pairs in breaks for pair in pairs]
    columns = {
        "name_differences": _planes(np.diff(numbers, prepend=np.uint64(0)).astype("<u8")),
        "confidences": bytes(int(mapped[name][0] * CONFIDENCE_STEPS) for name in names),
        "lengths": bytes(len(mapped[name][1]) for name in names),
        "break_counts": bytes(len(pairs) for pairs in breaks),
        "break_gaps": bytes(gap for gap, _ in flat),
        "jumps": _planes(np.array([jump for _, jump in flat], "<i2")),
    }
    with path.open("wb") as out:
        out.write(MAGIC)
        for name in COLUMNS:
            packed = lzma.compress(columns[name], preset=9 | lzma.PRESET_EXTREME)
            out.write(len(packed).to_bytes(8, "little"))
            out.write(packed)


def read(path: Path) -> Mapped:
    """Reads a pack: confidence and map by name.

    Raises:
        ValueError: for a file of another kind.
    """
    source = io.BytesIO(path.read_bytes())
    if source.read(len(MAGIC)) != MAGIC:
        raise ValueError(f"{path} is no pack of atom maps")
    columns = {name: lzma.decompress(source.read(int.from_bytes(source.read(8), "little"))) for name in COLUMNS}
    numbers = np.cumsum(_from_planes(columns["name_differences"], "<u8"), dtype=np.uint64)
    jumps = _from_planes(columns["jumps"], "<i2").tolist()
    mapped, at = {}, 0
    for row, number in enumerate(numbers.tolist()):
        end = at + columns["break_counts"][row]
        breaks = list(zip(columns["break_gaps"][at:end], jumps[at:end], strict=True))
        indices = _unbroken(columns["lengths"][row], breaks)
        mapped[number.to_bytes(8, "big")] = columns["confidences"][row] / CONFIDENCE_STEPS, indices
        at = end
    return mapped


def fault(unmapped: str, indices: tuple[int, ...]) -> str | None:
    """Says what is wrong with a map of a canonical unmapped reaction, or None where nothing is."""
    left, right = (Chem.MolFromSmiles(side, sanitize=False) for side in unmapped.split(">>"))
    if right.GetNumAtoms() != len(indices):
        return "another number of product atoms"
    used = [index for index in indices if index != reactions.UNMAPPED]
    if len(set(used)) != len(used) or any(not 0 <= index < left.GetNumAtoms() for index in used):
        return "a precursor atom twice, or one that is not there"
    for atom, index in zip(right.GetAtoms(), indices, strict=True):
        if index != reactions.UNMAPPED and left.GetAtomWithIdx(index).GetAtomicNum() != atom.GetAtomicNum():
            return "another element"
    return None


def check(mapped: Mapped, rows: Iterator[reactions.Row]) -> dict[str, int]:
    """Counts the maps that fit their row, those that do not by their fault, and those without a row."""
    counts = {"fits": 0}
    left_over = set(mapped)
    for _, unmapped, name in map_reactions.distinct(rows):
        if name not in left_over:
            continue
        left_over.remove(name)
        verdict = fault(unmapped, mapped[name][1]) or "fits"
        counts[verdict] = counts.get(verdict, 0) + 1
    return counts | {"no such row": len(left_over)}


def main() -> None:
    """Packs what the shards have of the rows, reads the pack again and checks it against the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True, help="folder that reactions.py wrote")
    parser.add_argument("--shards", type=Path, help="folder that map_reactions.py wrote; without it the pack is only checked")
    parser.add_argument("--pack", type=Path, required=True)
    args = parser.parse_args()
    if args.shards:
        names = {name for _, _, name in map_reactions.distinct(reactions.read_rows(args.rows))}
        found = map_reactions.read_shards(args.shards)
        write(args.pack, {name: (sure, indices) for name, sure, indices in found if indices and name in names})
    mapped = read(args.pack)
    print(f"{args.pack}: {len(mapped)} maps, {args.pack.stat().st_size / 1e6:.2f} MB")
    counts = check(mapped, reactions.read_rows(args.rows))
    print(counts)
    if counts["fits"] != len(mapped):
        raise SystemExit("the pack does not belong to these rows: make it again, or the rows")


if __name__ == "__main__":
    main()
