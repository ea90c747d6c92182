"""Keeps the reactions whose map can be trusted and writes them with it: `reactions_clean.tsv.gz`.

The decision that matters: two that are independent have to agree. Where a source has a map, the mapper's has to make and
break the same bonds (`reaction_centre.py`): `agreed`, written with the mapper's map. Where the mapper has not been asked,
because it has seen enough examples of this kind of change and agreed with nearly all of them, the source is believed: `kind`,
with the source's map. Where the source has no map, or one of a kind that is not believed, the mapper's is kept if it is of a kind
on which both agree elsewhere: `known`. Where there is neither source nor kind, the mapper's confidence alone speaks and has to
be high: `alone`. Precursors that give no atom are reagents then, whatever the source called them, and reactions of equal
product and precursors become one.
"""

import argparse
import collections
import csv
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from rdkit import Chem, RDLogger

import map_reactions
import mapped_pack
import reaction_centre
import reactions

AGREED_CONFIDENCE = 0.05
KNOWN_CONFIDENCE = 0.3
ALONE_CONFIDENCE = 0.9
MAX_PRECURSORS = 4
KIND_EXAMPLES, KNOWN_EXAMPLES, KIND_AGREEMENT = 4, 2, 0.8
MAPS_PER_CLAIM = 3
COLUMNS = ("id", "sources", "mapped", "reagents", "confidence", "n_dup", "trust", "product", "precursors")
TRUSTS = ("agreed", "kind", "known", "alone")
NO_CLAIM, DISAGREE = "unsure, and the source has no map", "mapper and source disagree"
WAITING = "not mapped yet, and not of a kind that is believed"

Map = tuple[int, ...]


class Claim:
    """All rows that claim one product from one set of precursors."""

    __slots__ = ("kind", "maps", "name", "reagents", "rows", "sources", "unmapped")

    def __init__(self, unmapped: str, name: bytes) -> None:
        self.unmapped, self.name, self.kind = unmapped, name, ""
        self.sources: set[str] = set()
        self.maps: dict[tuple[str, Map], None] = {}
        self.reagents: set[str] = set()
        self.rows = 0

    def add(self, row: reactions.Row) -> None:
        """Takes a row's source, reagents, map and the kind of that."""
        self.rows += 1
        self.sources.add(row.source)
        self.reagents.update(part for part in row.reagents.split(".") if part)
        self.kind = self.kind or row.kind
        if row.source_map and len(self.maps) < MAPS_PER_CLAIM:
            self.maps[row.unmapped(), row.source_map] = None


class Verdict(NamedTuple):
    """What became of a claim: one of `TRUSTS` and the map to write, or a reason to drop it."""

    why: str
    unmapped: str = ""
    indices: Map = ()
    confidence: float = 0.0


def write_mapped(unmapped: str, indices: tuple[int, ...]) -> tuple[str, str, tuple[str, ...]]:
    """Gives the mapped reaction of the contributing precursors, these unmapped, and the other components."""
    left, product = unmapped.split(">>")
    number_of = {index: number for number, index in enumerate(indices, start=1)}
    mapped, plain, others, offset = [], [], [], 0
    for component in left.split("."):
        mol = Chem.MolFromSmiles(component)
        numbers = [number_of.get(offset + place, 0) for place in range(mol.GetNumAtoms())]
        offset += len(numbers)
        if not any(numbers):
            others.append(component)
            continue
        plain.append(component)
        for atom, number in zip(mol.GetAtoms(), numbers, strict=True):
            atom.SetAtomMapNum(number)
        mapped.append(Chem.MolToSmiles(mol))
    target = Chem.MolFromSmiles(product)
    for number, atom in enumerate(target.GetAtoms(), start=1):
        atom.SetAtomMapNum(number)
    return f"{'.'.join(mapped)}>>{Chem.MolToSmiles(target)}", ".".join(sorted(plain)), tuple(others)


def flaw(unmapped: str, centre: reaction_centre.Centre | None) -> str | None:
    """Says why a map is no use whoever made it, or None."""
    if centre is None:
        return "a product atom comes from nowhere"
    if unmapped.split(">>")[1] in centre.contributing:
        return "nothing happens"
    return f"more than {MAX_PRECURSORS} precursors" if len(centre.contributing) > MAX_PRECURSORS else None


def decide(claim: Claim, found: tuple[float, Map]) -> Verdict:
    """Judges a claim that the mapper has mapped, by itself."""
    confidence, indices = found
    mine = reaction_centre.centre(claim.unmapped, indices)
    flawed = flaw(claim.unmapped, mine)
    if flawed:
        return Verdict(flawed)
    if not claim.maps:
        return Verdict(NO_CLAIM, claim.unmapped, indices, confidence)
    if not any(reaction_centre.centre(*theirs) == mine for theirs in claim.maps):
        return Verdict(DISAGREE, claim.unmapped, indices, confidence)
    return Verdict("agreed" if confidence >= AGREED_CONFIDENCE else "agreed, but unsure", claim.unmapped, indices, confidence)


class Kinds:
    """How often the mapper agreed with a kind of claim, and what follows for others of the kind."""

    def __init__(self) -> None:
        self.asked: collections.Counter[str] = collections.Counter()
        self.agreed: collections.Counter[str] = collections.Counter()

    def learn(self, kind: str, verdict: Verdict) -> None:
        """Counts an example."""
        self.asked[kind] += 1
        self.agreed[kind] += verdict.why == "agreed"

    def believed(self, kind: str, examples: int) -> bool:
        """Tells whether there are so many examples, and mapper and sources agree on nearly all."""
        return bool(kind) and self.asked[kind] >= examples and self.agreed[kind] >= KIND_AGREEMENT * self.asked[kind]

    def decide_unmapped(self, claim: Claim) -> Verdict:
        """Judges a claim that the mapper has not mapped."""
        if not self.believed(claim.kind, KIND_EXAMPLES):
            return Verdict(WAITING)
        unmapped, indices = next(iter(claim.maps))
        flawed = flaw(unmapped, reaction_centre.centre(unmapped, indices))
        return Verdict(flawed) if flawed else Verdict("kind", unmapped, indices, self.agreed[claim.kind] / self.asked[claim.kind])

    def reconsider(self, claim: Claim, verdict: Verdict) -> Verdict:
        """Judges by its kind a map of the mapper's that no source confirms; two examples are enough beside the mapper's own word."""
        if verdict.why == DISAGREE and self.believed(claim.kind, 1):
            return Verdict(DISAGREE)
        if verdict.confidence >= KNOWN_CONFIDENCE:
            kind = reactions.kind_of(verdict.unmapped, verdict.indices)
            if self.believed(kind, KNOWN_EXAMPLES):
                return verdict._replace(why="known")
        if verdict.why == NO_CLAIM and verdict.confidence >= ALONE_CONFIDENCE:
            return verdict._replace(why="alone")
        return Verdict(verdict.why)


def gather(rows: Iterator[reactions.Row]) -> list[Claim]:
    """Puts the rows of each claim together, in the order in which `map_reactions.distinct` names them."""
    by_claim: dict[bytes, Claim] = {}
    by_name: dict[bytes, Claim] = {}
    for row in rows:
        key = row.claim()
        if key not in by_claim:
            unmapped = row.unmapped()
            name = reactions.digest(unmapped)
            by_claim[key] = by_name.setdefault(name, Claim(unmapped, name))
        by_claim[key].add(row)
    return list(by_name.values())


def decided(claims: list[Claim], mapped: mapped_pack.Mapped) -> Iterator[tuple[Claim, Verdict]]:
    """Yields every claim with its verdict: first those that stand by themselves, then those that are judged by their kind."""
    kinds = Kinds()
    waiting: list[tuple[Claim, Verdict | None]] = []
    for claim in claims:
        verdict = decide(claim, mapped[claim.name]) if claim.name in mapped else None
        if verdict and claim.maps:
            kinds.learn(claim.kind, verdict)
        if verdict is None or verdict.why in (NO_CLAIM, DISAGREE):
            waiting.append((claim, verdict))
        else:
            yield claim, verdict
    for claim, verdict in waiting:
        yield claim, kinds.reconsider(claim, verdict) if verdict else kinds.decide_unmapped(claim)


class Clean(NamedTuple):
    """A reaction that passed."""

    mapped: str
    product: str
    precursors: str
    verdict: Verdict
    sources: set[str]
    reagents: set[str]
    rows: int

    def merged(self, other: "Clean") -> "Clean":
        """Joins two of equal product and precursors; the better trusted one's map stays."""
        best = min(self, other, key=lambda one: (TRUSTS.index(one.verdict.why), -one.verdict.confidence))
        return Clean(best.mapped, self.product, self.precursors, best.verdict, self.sources | other.sources, self.reagents | other.reagents, self.rows + other.rows)


def clean(
    claims: list[Claim], mapped: mapped_pack.Mapped, count: Callable[[str], None], waiting: list[bytes]
) -> Iterator[tuple[str, ...]]:
    """Yields the lines of the file; reports every claim's fate, over all and by source, and the names of those that wait."""
    kept: dict[bytes, Clean] = {}
    for claim, verdict in decided(claims, mapped):
        if verdict.why == WAITING:
            waiting.append(claim.name)
        for where in ("", *claim.sources):
            count(f"{where} {verdict.why}".strip())
        if verdict.why not in TRUSTS:
            continue
        text, precursors, others = write_mapped(verdict.unmapped, verdict.indices)
        reagents = (claim.reagents | set(others)) - set(precursors.split("."))
        product = verdict.unmapped.split(">>")[1]
        entry = Clean(text, product, precursors, verdict, claim.sources, reagents, claim.rows)
        key = reactions.digest(f"{precursors}>>{product}")
        kept[key] = kept[key].merged(entry) if key in kept else entry
    for key, entry in kept.items():
        sources, reagents = ",".join(sorted(entry.sources)), ".".join(sorted(entry.reagents))
        confidence = f"{entry.verdict.confidence:.3f}"
        yield (
            key.hex(), sources, entry.mapped, reagents, confidence, str(entry.rows), entry.verdict.why, entry.product, entry.precursors,
        )  # fmt: skip


def read(path: Path) -> Iterator[dict[str, str]]:
    """Yields the rows of the file, by `COLUMNS`."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


def main() -> None:
    """Writes the clean reactions of a pack, or of the shards there are so far."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True, help="folder that reactions.py wrote")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--pack", type=Path, help="file that mapped_pack.py wrote")
    given.add_argument("--shards", type=Path, help="folder that map_reactions.py writes")
    parser.add_argument("--out", type=Path, required=True, help="reactions_clean.tsv.gz to write")
    parser.add_argument("--waiting", type=Path, help="where to write the names of what the mapper should be asked next")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    if args.pack:
        mapped = mapped_pack.read(args.pack)
    else:
        mapped = {name: (sure, indices) for name, sure, indices in map_reactions.read_shards(args.shards) if indices}
    counts: collections.Counter[str] = collections.Counter()
    claims = gather(reactions.read_rows(args.rows))
    written, waiting = 0, []
    with gzip.open(args.out, "wt", compresslevel=6, encoding="utf-8") as out:
        out.write("\t".join(COLUMNS) + "\n")
        for line in clean(claims, mapped, lambda fate: counts.update([fate]), waiting):
            out.write("\t".join(line) + "\n")
            written += 1
    if args.waiting:
        args.waiting.write_text("".join(f"{name.hex()}\n" for name in waiting), encoding="ascii")
    for fate, number in sorted(counts.items()):
        print(f"{number:8} {fate}")
    print(f"{written:8} distinct reactions written")


if __name__ == "__main__":
    main()
