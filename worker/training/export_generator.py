"""Writes the pack of a checkpoint of train_generator.py."""

import argparse
import datetime
from pathlib import Path

import metadata
import pack
import train_generator

def export(checkpoint: Path, folder: Path, temperature: float = 1.0, max_length: int = 102) -> None:
    """Writes the pack's files but its card; what metrics the pack had are dropped."""
    model, vocabulary = train_generator.load(checkpoint)
    pack.write(folder, model, vocabulary, temperature, max_length)
    facts = metadata.packs()[folder.name]
    shape = model.shape()
    metadata.write_json(
        folder / "metadata.json",
        {
            "id": folder.name,
            "description": facts["description"],
            "created": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "architecture": f"GRU, {shape['num_layers']} x {shape['hidden_size']}, {shape['vocab_size']} SMILES tokens",
            "training_data": facts["training_data"],
            "licence": facts["licence"],
            "metrics": {},
            "relative_cost": facts["relative_cost"],
        },
    )


def main() -> None:
    """Exports one checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--pack", type=Path, required=True, help="folder to write; its name is the pack's id")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--max-length", type=int, default=102, help="tokens, <bos> and <eos> among them")
    args = parser.parse_args()
    export(args.checkpoint, args.pack, args.temperature, args.max_length)


if __name__ == "__main__":
    main()
