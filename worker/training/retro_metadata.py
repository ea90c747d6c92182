"""Writes metadata.json of the retrosynthesis pack from the figures of the other scripts."""

import argparse
import datetime
import json
import re
from pathlib import Path

import numpy as np
from rdkit import RDLogger
from safetensors import safe_open

import prepare_templates
from metadata import write_json


def counts(examples: Path) -> tuple[int, int]:
    """Gives how many reactions a file of policy_examples has, and how many of them some template explains."""
    with safe_open(examples, "np") as file:
        right = np.diff(file.get_tensor("right_starts").astype(np.int64))
    return len(right), int((right > 0).sum())


def accuracies(text: str) -> dict[str, float]:
    """Reads what single_step printed: shares by rank, their 95 % error, and of how many reactions."""
    found = re.findall(r"top-(\d+): ([\d.]+) ± ([\d.]+) of (\d+) reactions", text)
    if not found:
        raise SystemExit("no figures of single_step")
    shares = {f"top_{rank}": float(share) for rank, share, _, _ in found}
    return {"reactions": int(found[0][3]), **shares, "error_95": max(float(error) for _, _, error, _ in found)}


def reactants(path: Path) -> int:
    """Gives the number of recorded reactants that the pack counts."""
    with safe_open(path, "np") as file:
        return len(file.get_tensor("keys"))


def main() -> None:
    """Counts what the pack was made from and joins it with measured figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--by-hand", type=Path, required=True, help="hand-written templates (.tsv)")
    parser.add_argument("--examples", type=Path, required=True, help="file of policy_examples that the network was trained on")
    parser.add_argument("--policy", type=Path, required=True, help="output of single_step")
    parser.add_argument("--plausibility", type=Path, help="figures of train_plausibility.py; the pack's own, if not given")
    parser.add_argument("--steps", type=Path, help="output of evaluate_plausibility.py")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    config = json.loads((args.pack / "config.json").read_text(encoding="utf-8"))
    library = prepare_templates.read_library(args.pack / "templates.csv.gz")
    if len(library) != config["n_templates"]:
        raise SystemExit(f"{len(library)} templates, but the network has {config['n_templates']} outputs")
    reactions, explained = counts(args.examples)
    before = json.loads((args.pack / "metadata.json").read_text(encoding="utf-8"))
    written = {text for _, text, _ in prepare_templates.read_by_hand(args.by_hand, {})[0]}
    by_hand = sum(text in written for text in library)
    plausibility = before.get("plausibility", {})
    if args.plausibility:
        tables = args.steps.read_text(encoding="utf-8").splitlines() if args.steps else []
        steps = {name: figures for line in tables for name, figures in json.loads(line).items()}
        plausibility = {
            "file": "plausibility.safetensors",
            "split": "by template: 8 tenths training, 1 calibration, 1 test; the figures are the test part's",
            **json.loads(args.plausibility.read_text(encoding="utf-8")),
            "written_steps": steps,
        }
    write_json(
        args.pack / "metadata.json",
        {
            "id": "uspto_retro",
            "description": "Retrosynthesis templates, the network that ranks them, forward judge and precedents",
            "created": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "architecture": (
                f"Morgan r2 2048 -> {config['hidden_size']} ELU -> {len(library)} templates, and at every site atoms' environments "
                f"{config['environments']} x {config['atom_size']}, heard from twice -> {config['site_size']} -> templates"
            ),
            "training_data": f"{reactions:,} clean reactions of Lowe's USPTO extraction, {explained:,} of them explained; see README.md",
            "licence": "CC0-1.0",
            "metrics": {"uspto50k_val": accuracies(args.policy.read_text(encoding="utf-8"))},
            "templates": {"extracted": len(library) - by_hand, "by_hand": by_hand},
            "plausibility": plausibility,
            "reactants": {"file": "reactants.safetensors", "reactants": reactants(args.pack / "reactants.safetensors")},
            "precedents": {"file": "precedents.safetensors", "bits": 512, "per_template": "up to 8, chosen to differ"},
        },
    )


if __name__ == "__main__":
    main()
