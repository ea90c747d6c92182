"""Adds to a library the templates of clean reactions that none of its templates explains.

The decision that matters: a library is not made anew when there are more reactions. `policy_examples` has said which reactions some
template explains; only the others are extracted from (`extract_templates.extract`), and what is seen twice, gives its
reactions back and passes `template_sanity` and `template_stereo` (`prepare_templates.select`) is put behind the old templates, so
that a trained network keeps its rows. What is seen once is extracted again without the functional groups around the change: so
narrow a context is often seen twice where the wide one is not, and the rules of the search say where it may be used. Last come
hand-written templates that the library does not have.
"""

import argparse
import collections
import multiprocessing
from pathlib import Path

import numpy as np
from rdkit import RDLogger
from safetensors.numpy import load_file

import clean_reactions
import extract_templates
import prepare_templates

Task = tuple[str, str]


def unexplained(clean: Path, examples: Path) -> list[Task]:
    """Lists first source and mapped reaction of the clean reactions that have no right template."""
    arrays = load_file(examples)
    explained = set(arrays["lines"][np.diff(arrays["right_starts"].astype(np.int64)) > 0].tolist())
    rows = clean_reactions.read(clean)
    return [(row["sources"].split(",")[0], row["mapped"]) for at, row in enumerate(rows) if at not in explained]


def extracted(tasks: list[Task], groups: bool, processes: int) -> list[prepare_templates.Reaction | None]:
    """Extracts the template of every reaction, with functional groups or without; None for a reaction that has none."""
    with multiprocessing.Pool(processes, extract_templates.quiet_worker, (groups,)) as pool:
        return pool.map(extract_templates.extract, tasks, chunksize=64)


def is_left(template: str, keys: set[str], labels: dict[str, int]) -> bool:
    """Says whether a template has not been selected although nothing speaks against it but its rarity."""
    text = prepare_templates.grouped(template)
    rare = prepare_templates.same_key(template, labels) not in keys
    return rare and text is not None and prepare_templates.sound(text)[0] is not None


def by_hand(path: Path, library: list[str]) -> list[tuple[str, int]]:
    """Lists the hand-written templates that a library has in no way of writing them, with 0 occurrences.

    Raises `SystemExit` with the faults of lines that are refused.
    """
    labels: dict[str, int] = {}
    good, refused = prepare_templates.read_by_hand(path, labels)
    if refused:
        raise SystemExit("\n".join(refused))
    keys = {prepare_templates.same_key(prepare_templates.plain(text), labels) for text in library}
    return [(text, 0) for _, text, key in good if key not in keys]


def main() -> None:
    """Writes the longer `templates.csv.gz`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True, help="templates.csv.gz to extend")
    parser.add_argument("--clean", type=Path, required=True, help="reactions_clean.tsv.gz")
    parser.add_argument("--examples", type=Path, required=True, help="what policy_examples made of its products and precursors")
    parser.add_argument("--out", type=Path, required=True, help="templates.csv.gz to write")
    parser.add_argument("--by-hand", type=Path, help="hand-written templates (.tsv)")
    parser.add_argument("--min-count", type=int, default=2)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    library = prepare_templates.read_counted(args.library)
    tasks, known = unexplained(args.clean, args.examples), {text for text, _ in library}
    for groups in (True, False):
        found = extracted(tasks, groups, args.processes)
        reasons: collections.Counter[str] = collections.Counter()
        labels: dict[str, int] = {}
        rows = [row for row in found if row]
        selected = prepare_templates.select(rows, args.min_count, len(rows), labels, reasons)
        new = [(text, count) for _, (_, text, count) in selected if text not in known]
        keys = {key for key, _ in selected}
        library, known = library + new, known | {text for text, _ in new}
        print(f"{len(tasks)} reactions unexplained, {len(rows)} gave a template, {len(new)} new templates, {len(library)} in all")
        print("\n".join(f"{count} templates refused: {reason}" for reason, count in reasons.most_common()), flush=True)
        tasks = [task for task, row in zip(tasks, found, strict=True) if row and is_left(row[3], keys, labels)]
    if args.by_hand:
        library += by_hand(args.by_hand, [text for text, _ in library])
        print(f"{len(library)} with those written by hand")
    prepare_templates.write_library(args.out, [(text, text, count) for text, count in library])


if __name__ == "__main__":
    main()
