"""Writes the pack of a checkpoint of train_generator.py."""

import argparse
import datetime
import tomllib
from pathlib import Path

import torch

import pack
from generator_model import SmilesGru


def main() -> None:
    """Writes the pack's files but its card; what metrics the pack had are dropped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--pack", type=Path, required=True, help="folder to write; its name is the pack's id")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--max-length", type=int, default=102, help="tokens, <eos> among them")
    args = parser.parse_args()

    state = torch.load(args.checkpoint, weights_only=True)
    model = SmilesGru(**state["shape"])
    model.load_state_dict(state["model"])
    pack.write(args.pack, model, state["vocabulary"], args.temperature, args.max_length)
    facts = tomllib.loads(Path(__file__).with_name("packs.toml").read_text(encoding="utf-8"))[args.pack.name]
    shape = model.shape()
    pack.write_json(
        args.pack / "metadata.json",
        {
            "id": args.pack.name,
            "description": facts["description"],
            "created": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "architecture": f"GRU, {shape['num_layers']} x {shape['hidden_size']}, {shape['vocab_size']} SMILES tokens",
            "training_data": facts["training_data"],
            "licence": facts["licence"],
            "metrics": {},
            "relative_cost": facts["relative_cost"],
        },
    )


if __name__ == "__main__":
    main()
