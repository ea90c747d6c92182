"""Compares tokenisations and architectures of language models by quality per cost, and prints the table of it.

The decision that matters: everybody learns from scratch, from the same molecules in the same order, twice: once for the
same time of one CPU core, which is what a model costs to make, and once for the same number of molecules, which takes
out how well this machine's libraries run it. What a molecule costs to draw is counted (multiply-adds a token times
tokens a molecule), not timed, because the engine that would run the others is not written; what can be timed is.
Losses are nats of a whole molecule, so tokenisations can be compared.

Every figure is kept in `--work` as it is made, so a run that was ended goes on where it was.
"""

import argparse
import dataclasses
import itertools
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import torch
from rdkit import RDLogger
from torch import nn

import byte_pairs
import candidate_models
import corpus
import evaluate
import fast_gru
import metadata
import pack
import train_generator
from generator_model import Recurrent, SmilesGru, SmilesLstm

MAX_TOKENS = 102
DRAWN = 10_000


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A network to compare, over tokens of atoms or of merged pairs, and how it is trained.

    Learning rates are those usual for the architecture; nothing was tuned.
    """

    title: str
    make: Callable[[int], nn.Module]
    tokens: str = "atoms"
    layer: str = "torch"
    learning_rate: float = 1e-3


def transformer(n_tokens: int) -> nn.Module:
    """Gives a transformer that costs about as much a token as the layer of 1,024 units."""
    return candidate_models.SmilesTransformer(n_tokens, 256, 4, MAX_TOKENS)


CANDIDATES = {
    "gru512": Candidate("GRU 1 x 512", lambda n: SmilesGru(n, 128, 512), layer="fast", learning_rate=2e-3),
    "gru512_pairs": Candidate("GRU 1 x 512", lambda n: SmilesGru(n, 128, 512), "pairs", "fast", 2e-3),
    "gru1024": Candidate("GRU 1 x 1024", lambda n: SmilesGru(n, 128, 1024), layer="fast"),
    "gru1024_pairs": Candidate("GRU 1 x 1024", lambda n: SmilesGru(n, 128, 1024), "pairs", "fast"),
    "lstm": Candidate("LSTM 3 x 512", lambda n: SmilesLstm(n, 256, 512, 3)),
    "lstm_pairs": Candidate("LSTM 3 x 512", lambda n: SmilesLstm(n, 256, 512, 3), "pairs"),
    "transformer": Candidate("transformer 4 x 256", transformer),
    "transformer_pairs": Candidate("transformer 4 x 256", transformer, "pairs"),
    "mingru": Candidate("minGRU 3 x 512", lambda n: candidate_models.SmilesMinGru(n, 512, 3)),
    "mingru_pairs": Candidate("minGRU 3 x 512", lambda n: candidate_models.SmilesMinGru(n, 512, 3), "pairs"),
}
COLUMNS = [
    ("network", lambda f: f["title"]),
    ("tokens", lambda f: f["tokens"]),
    ("weights, M", lambda f: f"{f['weights'] / 1e6:.2f}"),
    ("trained, tokens/s", lambda f: f"{f['tokens_per_second']:,.0f}"),
    ("epochs", lambda f: f"{f['epochs']:.2f}"),
    ("nats a molecule", lambda f: f"{f['loss']:.2f}"),
    ("nats, same molecules", lambda f: f"{f['same_molecules']['loss']:.2f}" if "same_molecules" in f else ""),
    ("valid", lambda f: f"{f['validity']:.3f}"),
    ("unique", lambda f: f"{f['uniqueness']:.4f}"),
    ("novel", lambda f: f"{f['novelty']:.4f}"),
    ("KL score", lambda f: f"{f['kl_score']:.3f}"),
    ("tokens a molecule", lambda f: f"{f['tokens_per_molecule']:.1f}"),
    ("M multiply-adds a token", lambda f: f"{f['multiply_adds'] / 1e6:.2f}"),
    ("and a molecule", lambda f: f"{f['multiply_adds'] * f['tokens_per_molecule'] / 1e6:.0f}"),
    ("strings/s, PyTorch", lambda f: f"{f['pytorch_strings_per_second']:,.0f}"),
    ("strings/s, ours", lambda f: f"{f['engine_strings_per_second']:,.0f}" if "engine_strings_per_second" in f else ""),
]


def multiply_adds(model: nn.Module, mean_context: float) -> float:
    """Counts the multiplications that one more token of a string costs: of all matrices but those that are looked up.

    The first recurrent layer's input matrix folds into the embedding. Attention has two products with its context.
    """
    folded = {"rnn.weight_ih_l0"} if isinstance(model, Recurrent) else set()
    matrices = sum(
        weight.numel() for name, weight in model.named_parameters()
        if weight.dim() == 2 and "embedding" not in name and name not in folded
    )
    attention = [layer for layer in model.modules() if isinstance(layer, candidate_models.Attention)]
    return matrices + sum(2 * mean_context * layer.join.in_features for layer in attention)


def corpora(folder: Path, tokens: str, work: Path) -> tuple[corpus.Corpus, corpus.Corpus]:
    """Loads the training and the held-out molecules; those of merged pairs are made at first use."""
    chosen = folder
    if tokens == "pairs":
        chosen = work / "pairs"
        if not (chosen / "valid.npz").exists():
            byte_pairs.prepare(folder, chosen)
    return corpus.Corpus.load(chosen / "train.npz"), corpus.Corpus.load(chosen / "valid.npz")


def trained(
    candidate: Candidate, data: tuple[corpus.Corpus, corpus.Corpus], budget: float, clock: str, path: Path
) -> tuple[nn.Module, dict]:
    """Trains a candidate from scratch, or finishes what a checkpoint began; gives it with the figures of its training."""
    torch.manual_seed(0)
    model = candidate.make(len(data[0].vocabulary))
    schedule = train_generator.Schedule(budget, clock, candidate.learning_rate, warmup_steps=100)
    loss_sum = train_generator.LAYERS[candidate.layer]
    progress = train_generator.train(model, loss_sum, data, schedule, path)
    if progress.spent < budget:
        raise SystemExit(f"{path.stem}: stopped at {progress.spent / budget:.0%}; the same command goes on from there")
    figures = {
        "epochs": progress.molecules / len(data[0]),
        "tokens_seen": progress.tokens,
        "loss": train_generator.nll_per_molecule(loss_sum, model.eval(), data[1], 8000),
    }
    if clock == "cpu":
        figures["tokens_per_second"] = progress.tokens / (60 * progress.spent)
    return model, figures


def sampled(model: nn.Module, vocabulary: list[str], training: list[str], reference: list[str]) -> dict:
    """Draws free strings at temperature 1 with PyTorch and measures them."""
    began = time.process_time()
    drawn = pack.draw(model, DRAWN, 1.0, MAX_TOKENS, torch.Generator().manual_seed(0))
    took = time.process_time() - began
    strings = ["".join(vocabulary[token] for token in tokens) for tokens in drawn]
    return {**evaluate.measure(strings, training, reference), "pytorch_strings_per_second": DRAWN / took}


def engine_rate(program: Path, folder: Path, model: Recurrent, vocabulary: list[str]) -> float:
    """Gives the strings a second that our engine draws in bytes on one core: its example `sample`, best of three."""
    pack.write(folder, model, vocabulary, 1.0, MAX_TOKENS)
    facts = ("id", "description", "created", "architecture", "training_data", "licence")
    metadata.write_json(folder / "metadata.json", {**dict.fromkeys(facts, folder.name), "metrics": {}, "relative_cost": 1.0})
    rates = []
    for _ in range(3):
        said = subprocess.run([program, folder, str(DRAWN), "1", "1"], capture_output=True, text=True, check=True)
        lines = [json.loads(line) for line in said.stdout.splitlines()]
        rates += [line["strings_per_second"] for line in lines if line["precision"] == "bytes" and line["threads"] == 1]
    return max(rates)


def table(figures: list[dict]) -> str:
    """Formats the figures of the candidates as a table in Markdown."""
    rows = [[name for name, _ in COLUMNS], ["---"] * len(COLUMNS), *([show(f) for _, show in COLUMNS] for f in figures)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Makes what figures are missing in `--work`, then prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="folder of prepare_molecules.py")
    parser.add_argument("--data", type=Path, required=True, help="folder with train.smi.gz and valid.smi.gz")
    parser.add_argument("--work", type=Path, required=True, help="folder for checkpoints and figures")
    parser.add_argument("--minutes", type=float, default=8.0, help="CPU time for each candidate")
    parser.add_argument("--molecules", type=int, help="train each on so many molecules too")
    parser.add_argument("--engine", type=Path, help="our example `sample`, built: times what our engine runs")
    parser.add_argument("--only", nargs="*", choices=list(CANDIDATES), default=list(CANDIDATES))
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    torch.set_num_threads(1)
    args.work.mkdir(parents=True, exist_ok=True)
    training = list(corpus.read_smiles(args.data / "train.smi.gz"))
    reference = list(itertools.islice(corpus.read_smiles(args.data / "valid.smi.gz"), evaluate.KL_MOLECULES))

    for name in args.only:
        candidate, path = CANDIDATES[name], args.work / f"{name}.json"
        figures = json.loads(path.read_text()) if path.exists() else {}
        print(f"{name}:", flush=True)
        if "loss" not in figures:
            data = corpora(args.corpus, candidate.tokens, args.work)
            model, figures = trained(candidate, data, args.minutes, "cpu", args.work / f"{name}.pt")
            tokens_per_molecule = (len(data[1].ids) - len(data[1])) / len(data[1])
            figures |= {
                "title": candidate.title,
                "tokens": candidate.tokens,
                "weights": sum(weight.numel() for weight in model.parameters()),
                "tokens_per_molecule": tokens_per_molecule,
                "multiply_adds": multiply_adds(model, tokens_per_molecule / 2),
                **sampled(model, data[0].vocabulary, training, reference),
            }
            metadata.write_json(path, figures)
        if args.molecules and "same_molecules" not in figures:
            data = corpora(args.corpus, candidate.tokens, args.work)
            _, same = trained(candidate, data, args.molecules, "molecules", args.work / f"{name}_same.pt")
            figures["same_molecules"] = same
            metadata.write_json(path, figures)
        if args.engine and "engine_strings_per_second" not in figures and candidate.make(9).__class__ in (SmilesGru, SmilesLstm):
            data = corpora(args.corpus, candidate.tokens, args.work)
            model = candidate.make(len(data[0].vocabulary))
            model.load_state_dict(torch.load(args.work / f"{name}.pt", weights_only=True)["model"])
            figures["engine_strings_per_second"] = engine_rate(args.engine, args.work / name, model, data[0].vocabulary)
            metadata.write_json(path, figures)
    print(table([json.loads((args.work / f"{name}.json").read_text()) for name in args.only]))


if __name__ == "__main__":
    main()
