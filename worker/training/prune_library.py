"""Takes templates out of a finished pack without a new training.

The decision that matters: a network's output is a row a template, and the softmax is over what matches a product, so rows that go
change no other row's score: kept templates rank among each other exactly as before. What `prepare_templates.refusal` names goes;
`template_stereo` would change texts and is left alone. A second run on its own output changes nothing.
"""

import argparse
import collections
import gzip
import json
from pathlib import Path

import numpy as np
from rdkit import RDLogger
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import prepare_templates
from metadata import write_json

PER_TEMPLATE = {
    "policy.safetensors": ("layer2.weight", "layer2.scale", "layer2.bias"),
    "sites.safetensors": ("template.weight", "template.scale"),
}


def rows_of(tensors: dict[str, np.ndarray], names: tuple[str, ...], kept: np.ndarray) -> dict[str, np.ndarray]:
    """Gives the tensors with only the kept rows of those that have a row a template."""
    return tensors | {name: np.ascontiguousarray(tensors[name][kept]) for name in names if name in tensors}


def precedents_of(tensors: dict[str, np.ndarray], kept: np.ndarray) -> dict[str, np.ndarray]:
    """Gives `starts` and `bits` of the kept templates."""
    starts = tensors["starts"].astype(np.int64)
    counts = np.diff(starts)
    owners = np.repeat(np.arange(len(counts)), counts)
    new_starts = np.concatenate([[0], np.cumsum(counts[kept])])
    return {"starts": new_starts.astype(np.uint32), "bits": np.ascontiguousarray(tensors["bits"][np.isin(owners, kept)])}


def evidence_of(text: str, kept: np.ndarray) -> str:
    """Gives the lines of the kept templates, renumbered."""
    numbers = {int(row): at for at, row in enumerate(kept)}
    lines = (line.split("\t", 1) for line in text.splitlines())
    return "".join(f"{numbers[int(row)]}\t{rest}\n" for row, rest in lines if int(row) in numbers)


def write_evidence(pack: Path, out: Path, kept: np.ndarray) -> None:
    """Writes `evidence.tsv.gz`, the same bytes on every run."""
    text = gzip.decompress((pack / "evidence.tsv.gz").read_bytes()).decode()
    (out / "evidence.tsv.gz").write_bytes(gzip.compress(evidence_of(text, kept).encode(), compresslevel=9, mtime=0))


def write_tensors(pack: Path, out: Path, kept: np.ndarray) -> None:
    """Writes the tensors that have a row a template."""
    for file, names in PER_TEMPLATE.items():
        with safe_open(pack / file, "np") as opened:
            notes = opened.metadata()
        save_file(rows_of(load_file(pack / file), names, kept), out / file, metadata=notes)
    save_file(precedents_of(load_file(pack / "precedents.safetensors"), kept), out / "precedents.safetensors")
    for file in (*PER_TEMPLATE, "precedents.safetensors"):
        (out / file).chmod(0o644)


def write_counts(pack: Path, out: Path, before: int, templates: list[str], by_hand: Path) -> None:
    """Writes the number of templates into config.json and metadata.json."""
    config = json.loads((pack / "config.json").read_text(encoding="utf-8")) | {"n_templates": len(templates)}
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    metadata = json.loads((pack / "metadata.json").read_text(encoding="utf-8"))
    written = {text for _, text, _ in prepare_templates.read_by_hand(by_hand, {})[0]}
    count = sum(text in written for text in templates)
    metadata["templates"] = {"extracted": len(templates) - count, "by_hand": count}
    metadata["architecture"] = metadata["architecture"].replace(f"{before} templates", f"{len(templates)} templates")
    write_json(out / "metadata.json", metadata)


def main() -> None:
    """Writes the pruned files of `--pack` to `--out`, or over the pack's own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="folder to write to; the pack's own, if not given")
    parser.add_argument("--by-hand", type=Path, required=True, help="hand-written templates (.tsv), to count them")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    out = args.out or args.pack
    out.mkdir(parents=True, exist_ok=True)
    library = prepare_templates.read_counted(args.pack / "templates.csv.gz")
    refusals = [prepare_templates.refusal(text) for text, _ in library]
    kept = np.array([row for row, reason in enumerate(refusals) if reason is None])
    listed = prepare_templates.refused_by_hand()
    reasons = collections.Counter(
        "listed in refused_templates.tsv" if text in listed else reason
        for (text, _), reason in zip(library, refusals, strict=True)
        if reason is not None
    )
    print("\n".join(f"{count} templates refused: {reason}" for reason, count in reasons.most_common()))
    print(f"{len(kept)} of {len(library)} templates kept")
    if len(kept) == len(library) and out == args.pack:
        return
    write_tensors(args.pack, out, kept)
    write_evidence(args.pack, out, kept)
    write_counts(args.pack, out, len(library), [library[row][0] for row in kept], args.by_hand)
    # Last: its row count is what the other files are held against.
    rows = [library[row] for row in kept]
    prepare_templates.write_library(out / "templates.csv.gz", [(text, text, count) for text, count in rows])


if __name__ == "__main__":
    main()
