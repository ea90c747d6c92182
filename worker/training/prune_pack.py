"""Holds a shipped pack to the rules that templates are selected by, without training it anew.

The decision that matters: weights, scale, bias and precedents go with their template's row. A template that is mended keeps its row; one
that is added, from the hand-written file, takes the row of the commonest template that makes its example, stereo aside, at a third of its
odds, or of one that makes a part of it at a thirtieth. The same bytes on every run, and nothing to do on the second.
"""

import argparse
import collections
import dataclasses
import json
import math
from pathlib import Path

import numpy as np
from rdkit import Chem, RDLogger
from safetensors.numpy import load_file, save_file

import prepare_templates
import template_stereo
from pack import write_json

SAME_REACTION, AKIN = -math.log(3), -math.log(30)
HAND_WRITTEN_OCCURRENCES = 1


@dataclasses.dataclass
class Row:
    """A template of the new library, the old row whose weights and precedents it takes, and by how much its bias differs.

    Without a source it starts from the lowest bias.
    """

    text: str
    occurrences: int
    source: int | None
    log_odds: float = 0.0


@dataclasses.dataclass
class Report:
    """What was done to which templates: by reason, the old rows and their texts."""

    changed: dict[str, list[tuple[int, str]]] = dataclasses.field(default_factory=lambda: collections.defaultdict(list))

    def counts(self) -> dict[str, int]:
        """Counts by reason, most first."""
        return {reason: len(rows) for reason, rows in sorted(self.changed.items(), key=lambda item: (-len(item[1]), item[0]))}


def plain(text: str) -> str:
    """Takes the parentheses off the sides of a grouped template."""
    return ">>".join(side[1:-1] if side.startswith("(") else side for side in text.split(">>"))


def sound_rows(old: list[tuple[str, int]], report: Report) -> list[Row]:
    """Mends or drops extracted templates; of equal ones, and of mirror images that mean the same, the commonest stays."""
    rows: list[Row] = []
    places: dict[str, int] = {}
    for source, (text, occurrences) in enumerate(old):
        if occurrences == HAND_WRITTEN_OCCURRENCES:
            continue
        better, reason = prepare_templates.sound(text)
        if reason:
            report.changed[reason].append((source, text))
        if better is None:
            continue
        if better in places:
            rows[places[better]].occurrences += occurrences
            report.changed["the same as a commoner one"].append((source, text))
            continue
        places[better] = places[template_stereo.mirrored(better)] = len(rows)
        rows.append(Row(better, occurrences, source))
    return rows


class Parents:
    """Finds the old template that a hand-written one is a kind of."""

    def __init__(self, old: list[tuple[str, int]]) -> None:
        self.old = old
        self.known: dict[int, tuple | None] = {}

    def _flat(self, smiles: str) -> str:
        return Chem.MolToSmiles(Chem.MolFromSmiles(smiles), isomericSmiles=False)

    def of(self, product: str, precursors: str) -> tuple[int | None, float]:
        """Gives the first row that makes the precursors of the product, configurations left aside, and what its odds are worth.

        Failing that the first that makes them and a reagent besides, failing that the first that makes one of them.
        """
        mol, wanted = Chem.MolFromSmiles(self._flat(product)), set(self._flat(precursors).split("."))
        besides, some = None, None
        for row in range(len(self.old)):
            for outcome in self._outcomes(row, mol):
                if outcome == wanted:
                    return row, SAME_REACTION
                if besides is None and outcome > wanted:
                    besides = row
                if some is None and outcome & wanted:
                    some = row
        return (some, AKIN) if besides is None else (besides, SAME_REACTION)

    def _outcomes(self, row: int, mol: Chem.Mol) -> list[set[str]]:
        if row not in self.known:
            reaction = prepare_templates.compiled(self.old[row][0])
            self.known[row] = (reaction, reaction.GetReactantTemplate(0)) if reaction else None
        found = self.known[row]
        if found is None or not mol.HasSubstructMatch(found[1]):
            return []
        return [set(self._flat(outcome).split(".")) for outcome in prepare_templates.outcomes(found[0], mol)]


def by_hand_rows(path: Path, old: list[tuple[str, int]], extracted: list[Row], report: Report) -> list[Row]:
    """Lists the hand-written templates that no extracted one repeats, with the rows they take."""
    labels: dict[str, int] = {}
    good, refused = prepare_templates.read_by_hand(path, labels)
    if refused:
        raise SystemExit("\n".join(refused))
    keys = {prepare_templates.same_key(plain(row.text), labels) for row in extracted}
    shipped = {text: row for row, (text, count) in enumerate(old) if count == HAND_WRITTEN_OCCURRENCES}
    mended = {prepare_templates.sound(text)[0]: row for text, row in shipped.items()}
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    examples = {prepare_templates.grouped(fields[2]): (fields[3], fields[4]) for fields in lines}
    parents, rows = Parents(old), []
    for name, text, key in good:
        source = shipped.get(text, mended.get(text))
        if source is None and key in keys:
            continue
        if source is not None:
            rows.append(Row(text, HAND_WRITTEN_OCCURRENCES, source))
            if text not in shipped:
                report.changed["written by hand, turned over"].append((source, text))
            continue
        parent, log_odds = parents.of(*examples[text])
        rows.append(Row(text, HAND_WRITTEN_OCCURRENCES, parent, log_odds))
        report.changed["written by hand, added"].append((-1 if parent is None else parent, text))
        print(f"added: {name} takes row {parent}: {old[parent][0] if parent is not None else ''}", flush=True)
    taken = {row.source for row in rows}
    report.changed["written by hand, replaced"].extend((row, text) for text, row in shipped.items() if row not in taken)
    return rows


def policy_of(rows: list[Row], tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Gathers the output rows of the network."""
    sources = np.array([-1 if row.source is None else row.source for row in rows])
    unknown = sources < 0
    new = dict(tensors)
    for name in ("layer2.weight", "layer2.scale", "layer2.bias"):
        new[name] = tensors[name][sources].copy()
    new["layer2.weight"][unknown] = 0
    new["layer2.bias"] += np.array([row.log_odds for row in rows], np.float32)
    new["layer2.bias"][unknown] = tensors["layer2.bias"].min()
    return new


def precedents_of(rows: list[Row], tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Gathers the precedents of the rows."""
    starts, bits = tensors["starts"].astype(np.int64), tensors["bits"]
    parts = [bits[:0] if row.source is None else bits[starts[row.source] : starts[row.source + 1]] for row in rows]
    ends = np.cumsum([0, *map(len, parts)])
    return {"starts": ends.astype(np.uint32), "bits": np.concatenate(parts)}


def write_pack(pack: Path, rows: list[Row], report: Report) -> None:
    """Writes templates, network, precedents, configuration and metadata; the forward judge knows no templates."""
    prepare_templates.write_library(pack / "templates.csv.gz", [(row.text, row.text, row.occurrences) for row in rows])
    for name, gathered in (("policy", policy_of), ("precedents", precedents_of)):
        path = pack / f"{name}.safetensors"
        save_file(gathered(rows, load_file(path)), path)
        path.chmod(0o644)
    config = json.loads((pack / "config.json").read_text(encoding="utf-8"))
    write_json(pack / "config.json", {**config, "n_templates": len(rows)})
    metadata = json.loads((pack / "metadata.json").read_text(encoding="utf-8"))
    by_hand = sum(row.occurrences == HAND_WRITTEN_OCCURRENCES for row in rows)
    metadata["architecture"] = f"Morgan r2 2048 -> {config['hidden_size']} ELU -> {len(rows)} templates"
    pruned = collections.Counter(metadata.get("templates", {}).get("pruned", {}))
    pruned.update(report.counts())
    metadata["templates"] = {"extracted": len(rows) - by_hand, "by_hand": by_hand, "pruned": dict(pruned)}
    write_json(pack / "metadata.json", metadata)


def main() -> None:
    """Rewrites the pack in place and prints what was done to how many templates; with `--report`, to which."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--by-hand", type=Path, required=True, help="hand-written templates (.tsv)")
    parser.add_argument("--report", type=Path, help="where to list the templates by what was done to them")
    parser.add_argument("--dry-run", action="store_true", help="write no pack")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    old, report = prepare_templates.read_counted(args.pack / "templates.csv.gz"), Report()
    rows = sound_rows(old, report)
    rows += by_hand_rows(args.by_hand, old, rows, report)
    print("\n".join(f"{count}\t{reason}" for reason, count in report.counts().items()))
    print(f"{len(old)} templates before, {len(rows)} after")
    if args.report:
        with args.report.open("w", encoding="utf-8") as out:
            for reason, found in report.changed.items():
                out.writelines(f"{reason}\t{row}\t{text}\n" for row, text in found)
    if not args.dry_run:
        write_pack(args.pack, rows, report)


if __name__ == "__main__":
    main()
