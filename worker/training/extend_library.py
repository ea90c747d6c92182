"""Adds to a library the templates of clean reactions that none of its templates explains.

The decision that matters: a library is not made anew when there are more reactions. `policy_examples` has said which reactions some
template explains; only the others are extracted from (`extract_templates.extract`), and what is seen twice, gives its
reactions back and passes `template_sanity` and `template_stereo` (`prepare_templates.select`) is put behind the old templates, so
that a trained network keeps its rows.
"""

import argparse
import collections
import csv
import gzip
import multiprocessing
from pathlib import Path

import numpy as np
from rdkit import RDLogger
from safetensors.numpy import load_file

import extract_templates
import prepare_templates


def unexplained(clean: Path, examples: Path) -> list[tuple[str, str]]:
    """Lists first source and mapped reaction of the clean reactions that have no right template."""
    arrays = load_file(examples)
    explained = set(arrays["lines"][np.diff(arrays["right_starts"].astype(np.int64)) > 0].tolist())
    with gzip.open(clean, "rt", encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["sources"].split(",")[0], row["mapped"]) for at, row in enumerate(rows) if at not in explained]


def main() -> None:
    """Writes the longer `templates.csv.gz`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True, help="templates.csv.gz to extend")
    parser.add_argument("--clean", type=Path, required=True, help="reactions_clean.tsv.gz")
    parser.add_argument("--examples", type=Path, required=True, help="what policy_examples made of its products and precursors")
    parser.add_argument("--out", type=Path, required=True, help="templates.csv.gz to write")
    parser.add_argument("--min-count", type=int, default=2)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    tasks = unexplained(args.clean, args.examples)
    with multiprocessing.Pool(args.processes, initializer=extract_templates.quiet_worker) as pool:
        found = [row for row in pool.imap(extract_templates.extract, tasks, chunksize=64) if row]
    reasons: collections.Counter[str] = collections.Counter()
    selected = prepare_templates.select(found, args.min_count, len(found), {}, reasons)
    old = prepare_templates.read_counted(args.library)
    known = {text for text, _ in old}
    new = [(text, count) for _, (_, text, count) in selected if text not in known]
    prepare_templates.write_library(args.out, [(text, text, count) for text, count in old + new])
    print("\n".join(f"{count} templates refused: {reason}" for reason, count in reasons.most_common()))
    print(f"{len(tasks)} reactions unexplained, {len(found)} gave a template; {len(old)} templates before, {len(old) + len(new)} after")


if __name__ == "__main__":
    main()
