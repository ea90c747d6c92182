"""Writes metadata.json of the retrosynthesis pack from the figures of the other scripts."""

import argparse
import datetime
import gzip
import json
from pathlib import Path

from pack import write_json

import prepare_templates


def main() -> None:
    """Counts what the pack was made from and joins it with measured figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--reactions", type=Path, required=True, help="explained.tsv.gz of explain_reactions.py")
    parser.add_argument("--policy", type=Path, required=True, help="output of evaluate_policy.py")
    parser.add_argument("--plausibility", type=Path, required=True, help="figures of train_plausibility.py")
    parser.add_argument("--steps", type=Path, help="output of evaluate_plausibility.py")
    args = parser.parse_args()
    config = json.loads((args.pack / "config.json").read_text(encoding="utf-8"))
    library = prepare_templates.read_library(args.pack / "templates.csv.gz")
    if len(library) != config["n_templates"]:
        raise SystemExit(f"{len(library)} templates, but the network has {config['n_templates']} outputs")
    with gzip.open(args.reactions, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    train = [row for row in rows if row[0] == "train"]
    explained = sum(bool(row[3]) for row in train)
    plausibility = json.loads(args.plausibility.read_text(encoding="utf-8"))
    tables = args.steps.read_text(encoding="utf-8").splitlines() if args.steps else []
    steps = {name: figures for line in tables for name, figures in json.loads(line).items()}
    policy = json.loads(args.policy.read_text(encoding="utf-8"))
    write_json(
        args.pack / "metadata.json",
        {
            "id": "uspto_retro",
            "description": "Retrosynthesis templates, the network that ranks them, forward judge and precedents",
            "created": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "architecture": f"Morgan r2 2048 -> {config['hidden_size']} ELU -> {len(library)} templates",
            "training_data": (
                f"{len(train):,} reactions of Lowe's USPTO extraction, {explained:,} of them explained by a template; "
                "see README.md"
            ),
            "licence": "CC0-1.0",
            "metrics": {"uspto50k_val": policy},
            "plausibility": {
                "file": "plausibility.safetensors",
                "split": "by template: 8 tenths training, 1 calibration, 1 test; the figures are the test part's",
                **plausibility,
                "written_steps": steps,
            },
            "precedents": {"file": "precedents.safetensors", "bits": 512, "per_template": "up to 8, chosen to differ"},
        },
    )


if __name__ == "__main__":
    main()
