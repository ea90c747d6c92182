"""Maps the distinct reactions of the rows that `reactions.py` wrote, in shards, and goes on where it stopped.

The decision that matters: what comes first. Most recorded reactions are one of few kinds (`reaction_centre.reaction_class`), so
where sources have maps a few examples of each kind tell whether the mapper agrees with that kind of claim; these are mapped
first (`Stage.EXAMPLES`), then the reactions that no source has mapped, then all the rest, for as long as there is time. A shard is written once, whole and under its final name, so a stop loses no more than the
reactions in hand. A line of a shard is the reaction's name in hexadecimal, the confidence, and for each product atom the
index of its precursor atom, -1 for none; a reaction too long for the network has no indices.
"""

import argparse
import collections
import enum
import gzip
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from rdkit import RDLogger

import atom_mapper
import reactions

REACTIONS_PER_SHARD = 1000
EXAMPLES_PER_KIND = 6


class Stage(enum.Enum):
    """Which reactions are mapped: examples of every kind that sources claim, those without a claim, all."""

    EXAMPLES = "examples"
    UNCLAIMED = "unclaimed"
    ALL = "all"


def distinct(rows: Iterator[reactions.Row]) -> Iterator[tuple[reactions.Row, str, bytes]]:
    """Yields the first row of every claim with its unmapped reaction and the name of that, each name once."""
    claims, names = set(), set()
    for row in rows:
        claim = row.claim()
        if claim in claims:
            continue
        claims.add(claim)
        unmapped = row.unmapped()
        name = reactions.digest(unmapped)
        if name not in names:
            names.add(name)
            yield row, unmapped, name


def wanted(rows: Iterator[reactions.Row], stage: Stage) -> Iterator[tuple[str, bytes]]:
    """Yields unmapped reaction and name of what a stage maps."""
    examples: collections.Counter[str] = collections.Counter()
    for row, unmapped, name in distinct(rows):
        examples[row.kind] += 1
        if stage is Stage.EXAMPLES and (not row.kind or examples[row.kind] > EXAMPLES_PER_KIND):
            continue
        if stage is Stage.UNCLAIMED and row.kind:
            continue
        yield unmapped, name


def read_shards(folder: Path) -> Iterator[tuple[bytes, float, tuple[int, ...]]]:
    """Yields name, confidence and map of every reaction that is mapped already."""
    for path in sorted(folder.glob("shard_*.tsv.gz")):
        with gzip.open(path, "rt", encoding="ascii") as lines:
            for line in lines:
                name, confidence, indices = line.rstrip("\n").split("\t")
                yield bytes.fromhex(name), float(confidence), tuple(int(index) for index in indices.split(",") if index)


def write_shard(folder: Path, names: list[bytes], results: list[tuple | None]) -> None:
    """Writes the next shard."""
    path = folder / f"shard_{len(list(folder.glob('shard_*.tsv.gz'))):05d}.tsv.gz"
    unfinished = path.with_suffix(".unfinished")
    with gzip.open(unfinished, "wt", encoding="ascii") as out:
        for name, result in zip(names, results, strict=True):
            indices, confidence = ("", 0.0) if result is None else (",".join(map(str, result[0])), result[1])
            out.write(f"{name.hex()}\t{confidence:.6f}\t{indices}\n")
    unfinished.rename(path)


def main() -> None:
    """Maps what no shard has yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True, help="folder that reactions.py wrote")
    parser.add_argument("--shards", type=Path, required=True)
    parser.add_argument("--stages", nargs="+", default=[stage.value for stage in Stage], choices=[stage.value for stage in Stage])
    parser.add_argument("--names", type=Path, help="map these reactions alone: what `clean_reactions.py --waiting` wrote")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    torch.set_num_threads(args.threads)
    args.shards.mkdir(parents=True, exist_ok=True)
    known = {name for name, _, _ in read_shards(args.shards)}
    names = {bytes.fromhex(line) for line in args.names.read_text(encoding="ascii").split()} if args.names else None
    mapper = atom_mapper.AtomMapper()
    begun = time.monotonic()
    for stage in map(Stage, args.stages):
        before, waiting = len(known), (pair for pair in wanted(reactions.read_rows(args.rows), stage) if pair[1] not in known and (names is None or pair[1] in names))
        while chunk := list(itertools.islice(waiting, REACTIONS_PER_SHARD)):
            write_shard(args.shards, [name for _, name in chunk], mapper.map([unmapped for unmapped, _ in chunk]))
            known.update(name for _, name in chunk)
            print(f"{stage.value}: {len(known)} mapped, {len(known) - before} of this stage, after {time.monotonic() - begun:.0f} s, "
                  f"{time.process_time():.0f} s of processor time", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
