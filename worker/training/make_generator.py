"""Makes a shipped language model from its data: corpus, network, pack and figures, by one command.

The decision that matters: the recipes stand in packs.toml, and every step leaves a file under `--work` that the next
run finds, a training also its checkpoint, so whoever is interrupted gives the same command again.
"""

import argparse
import subprocess
from pathlib import Path

import torch
from rdkit import RDLogger

import corpus
import evaluate
import export_generator
import grow_generator
import prepare_molecules
import train_generator
from generator_model import SmilesGru

EMBEDDING_SIZE = 128
REPOSITORY = Path(__file__).resolve().parents[2]


def prepared(subset: str, data: Path, work: Path) -> tuple[corpus.Corpus, corpus.Corpus]:
    """Gives the training and the held-out molecules of a subset."""
    folder = work / subset
    if not (folder / "valid.npz").exists():
        prepare_molecules.prepare(data, folder, subset)
    return corpus.Corpus.load(folder / "train.npz"), corpus.Corpus.load(folder / "valid.npz")


def start(recipe: dict, vocabulary: list[str], data: Path, work: Path) -> SmilesGru:
    """Makes the network that a training begins with; another pack's, which is made first, is widened where it has to be."""
    if "start" not in recipe:
        torch.manual_seed(0)
        return SmilesGru(len(vocabulary), EMBEDDING_SIZE, recipe["hidden_size"])
    model, known = train_generator.load(trained(recipe["start"], data, work))
    if known != vocabulary:
        raise SystemExit(f"{recipe['start']} was trained on another vocabulary")
    if recipe["hidden_size"] > model.shape()["hidden_size"]:
        model = grow_generator.grown(model, recipe["hidden_size"], seed=0)
    return model


def trained(name: str, data: Path, work: Path) -> Path:
    """Gives the finished checkpoint of a pack, and trains it where it is missing or not yet finished."""
    recipe = export_generator.packs()[name]["recipe"]
    corpora = prepared(recipe["subset"], data, work)
    checkpoint = work / f"{name}.pt"
    is_begun = checkpoint.exists()
    model = train_generator.load(checkpoint)[0] if is_begun else start(recipe, corpora[0].vocabulary, data, work)
    schedule = train_generator.Schedule(recipe["cpu_minutes"], learning_rate=recipe["learning_rate"])
    print(f"{name}: {recipe}", flush=True)
    progress = train_generator.train(model, train_generator.fast_loss_sum, corpora, schedule, checkpoint)
    if progress.spent < schedule.budget:
        raise SystemExit(f"{name}: stopped at {progress.spent / schedule.budget:.0%}; the same command goes on from there")
    return checkpoint


def figures(folder: Path, data: Path, work: Path) -> None:
    """Has our engine write 10,000 strings, constrained and free, and stores what they are like in the pack's metadata."""
    RDLogger.DisableLog("rdApp.*")
    training, reference = (list(corpus.read_smiles(data / f"{name}.smi.gz")) for name in ("train", "valid"))
    for name, mode in (("constrained_temperature_1", []), ("temperature_1", ["free"])):
        program = ["cargo", "run", "--release", "--quiet", "--example", "strings", "--", str(folder), "10000", "0", "1", *mode]
        said = subprocess.run(program, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
        (work / f"{folder.name}_{name}.txt").write_text(said, encoding="utf-8")
        metrics = evaluate.measure(said.splitlines(), training, reference)
        evaluate.store(folder, name, metrics)
        print(f"{name}: {metrics}", flush=True)


def main() -> None:
    """Makes one pack; its card is written by hand."""
    names = list(export_generator.packs())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", choices=names)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.smi.gz and valid.smi.gz")
    parser.add_argument("--work", type=Path, required=True, help="folder for corpora and checkpoints")
    parser.add_argument("--packs", type=Path, default=REPOSITORY / "worker/models", help="folder of packs to write to")
    parser.add_argument("--evaluate", action="store_true", help="draw strings with our engine, which needs cargo, and measure them")
    args = parser.parse_args()
    torch.set_num_threads(1)

    folder = (args.packs / args.pack).resolve()
    export_generator.export(trained(args.pack, args.data, args.work), folder)
    if args.evaluate:
        figures(folder, args.data, args.work)


if __name__ == "__main__":
    main()
