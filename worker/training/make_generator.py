"""Makes a shipped language model from its data: corpus, network, pack and figures, by one command.

The decision that matters: the recipes stand in packs.toml, and every step leaves a file under `--work` that the next
run finds, a training also its checkpoint, so whoever is interrupted gives the same command again.
"""

import argparse
import subprocess
from pathlib import Path

import numpy as np
import torch
from rdkit import RDLogger

import byte_pairs
import corpus
import evaluate
import export_generator
import metadata
import prepare_molecules
import train_generator
from generator_model import SmilesGru

EMBEDDING_SIZE = 128
REPOSITORY = Path(__file__).resolve().parents[2]
CARGO = ["cargo", "run", "--release", "--quiet", "--example", "strings", "--"]


def prepared(recipe: dict, data: Path, work: Path) -> tuple[corpus.Corpus, corpus.Corpus]:
    """Gives the training and the held-out molecules of a recipe, in its tokens."""
    folder = atoms = prepare_molecules.prepared(data, work, recipe["subset"])
    if recipe["tokens"] == "pairs":
        folder = work / f"{recipe['subset']}_pairs"
        if not (folder / "valid.npz").exists():
            byte_pairs.prepare(atoms, folder)
    return corpus.Corpus.load(folder / "train.npz"), corpus.Corpus.load(folder / "valid.npz")


def trained(name: str, data: Path, work: Path) -> tuple[Path, int]:
    """Gives the finished checkpoint of a pack, trained where that is missing, and its longest molecule in tokens."""
    recipe = metadata.packs()[name]["recipe"]
    corpora = prepared(recipe, data, work)
    checkpoint = work / f"{name}.pt"
    torch.manual_seed(0)
    model = SmilesGru(len(corpora[0].vocabulary), EMBEDDING_SIZE, recipe["hidden_size"])
    schedule = train_generator.Schedule(recipe["cpu_minutes"], learning_rate=recipe["learning_rate"])
    print(f"{name}: {recipe}", flush=True)
    progress = train_generator.train(model, train_generator.fast_loss_sum, corpora, schedule, checkpoint)
    if progress.spent < schedule.budget:
        raise SystemExit(f"{name}: stopped at {progress.spent / schedule.budget:.0%}; the same command goes on from there")
    return checkpoint, int(np.diff(corpora[0].offsets).max())


def figures(folder: Path, data: Path, work: Path, strings: list[str]) -> None:
    """Has our engine write 10,000 strings, constrained and free, and stores what they are like in the pack's metadata."""
    RDLogger.DisableLog("rdApp.*")
    training, reference = (list(corpus.read_smiles(data / f"{name}.smi.gz")) for name in ("train", "valid"))
    for name, mode in (("constrained_temperature_1", []), ("temperature_1", ["free"])):
        program = [*strings, str(folder), "10000", "0", "1", *mode]
        said = subprocess.run(program, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
        (work / f"{folder.name}_{name}.txt").write_text(said, encoding="utf-8")
        metrics = evaluate.measure(said.splitlines(), training, reference)
        metadata.store(folder, name, metrics)
        print(f"{name}: {metrics}", flush=True)


def main() -> None:
    """Makes one pack; its card is written by hand."""
    names = list(metadata.packs())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", choices=names)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.smi.gz and valid.smi.gz")
    parser.add_argument("--work", type=Path, required=True, help="folder for corpora and checkpoints")
    parser.add_argument("--packs", type=Path, default=REPOSITORY / "worker/models", help="folder of packs to write to")
    parser.add_argument("--evaluate", action="store_true", help="draw strings with our engine and measure them")
    parser.add_argument("--strings", type=Path, help="our engine's example `strings`, built; default: cargo builds it")
    args = parser.parse_args()
    torch.set_num_threads(1)

    folder = (args.packs / args.pack).resolve()
    checkpoint, longest = trained(args.pack, args.data, args.work)
    export_generator.export(checkpoint, folder, max_length=longest)
    if args.evaluate:
        figures(folder, args.data, args.work, [str(args.strings.resolve())] if args.strings else CARGO)


if __name__ == "__main__":
    main()
