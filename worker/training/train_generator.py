"""Trains a SMILES language model within a budget of time or of epochs, on a processor or a graphics card.

The decision that matters: the learning rate follows the budget, not the step count (warm-up, then a cosine to zero
that ends with it), so that a run ends in time and annealed, and goes on from its checkpoint where it was stopped.
Matrix products run in bfloat16, which AMX units do about three times as fast as f32; master weights stay f32.
`--layer fast` trains the same network three times as fast again with the layer of fast_gru.py. On a graphics card
products run in TF32: an epoch of 850,000 molecules takes seconds there, and five minutes of a core.
"""

import argparse
import dataclasses
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import corpus
import fast_gru
from generator_model import NETWORKS, Recurrent, SmilesGru


LossSum = Callable[[nn.Module, torch.Tensor], torch.Tensor]


def torch_loss_sum(model: nn.Module, batch: torch.Tensor) -> torch.Tensor:
    """Sums the cross-entropy over all real tokens of a batch, by PyTorch's own layer, on the model's device."""
    device = next(model.parameters()).device
    batch = batch.to(device, non_blocking=True)
    with torch.autocast("cpu", torch.bfloat16, enabled=device.type == "cpu"):
        logits = model(batch[:, :-1]).float()
    return cross_entropy_sum(logits, batch[:, 1:])


def fast_loss_sum(model: SmilesGru, batch: torch.Tensor) -> torch.Tensor:
    """Sums the cross-entropy over all real tokens of a batch, by the layer of fast_gru.py."""
    return cross_entropy_sum(fast_gru.logits(model, batch[:, :-1]), batch[:, 1:].t())


def cross_entropy_sum(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Sums the cross-entropy of `[.., vocab]` logits over the targets that are not padding."""
    targets = targets.reshape(-1)
    return functional.cross_entropy(logits.reshape(len(targets), -1), targets, ignore_index=corpus.PAD, reduction="sum")


LAYERS = {"torch": torch_loss_sum, "fast": fast_loss_sum}
CLOCKS = {"wall": time.monotonic, "cpu": time.process_time}
REPORT_SECONDS = 120


def nll_per_molecule(loss_sum: LossSum, model: nn.Module, data: corpus.Corpus, n_molecules: int) -> float:
    """Gives the mean negative log-likelihood of the first molecules, in nats."""
    lengths = np.diff(data.offsets)[:n_molecules]
    order = np.argsort(lengths, kind="stable")
    with torch.no_grad():
        parts = [
            loss_sum(model, torch.from_numpy(data.padded(order[start : start + 256]))).item()
            for start in range(0, len(order), 256)
        ]
    return sum(parts) / len(order)


def endless(data: corpus.Corpus, batch_size: int, rng: np.random.Generator) -> Iterator[torch.Tensor]:
    """Yields the batches of one epoch after another."""
    while True:
        yield from map(torch.from_numpy, data.batches(batch_size, rng))


def learning_rate(peak: float, step: int, warmup_steps: int, fraction: float) -> float:
    """Warms up linearly by step, then anneals by the fraction of the budget used, along a cosine to zero."""
    return peak * min(1.0, (step + 1) / warmup_steps) * 0.5 * (1.0 + math.cos(math.pi * min(1.0, fraction)))


@dataclasses.dataclass(frozen=True)
class Schedule:
    """How a run learns: for how long, by which clock, and how fast."""

    budget: float
    clock: str = "cpu"
    learning_rate: float = 2e-3
    warmup_steps: int = 200
    batch_size: int = 256
    seed: int = 0


@dataclasses.dataclass
class Progress:
    """How far a run has come."""

    spent: float = 0.0
    steps: int = 0
    molecules: int = 0
    tokens: int = 0


def save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, vocabulary: list[str], progress: dict) -> None:
    """Writes a checkpoint, whole or not at all."""
    part = path.with_suffix(".part")
    described = {"model_type": model.MODEL_TYPE, "shape": model.shape()} if isinstance(model, Recurrent) else {}
    torch.save(
        {**described, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "vocabulary": vocabulary,
         "progress": progress},
        part,
    )
    part.replace(path)


def train(
    model: nn.Module, loss_sum: LossSum, data: tuple[corpus.Corpus, corpus.Corpus], schedule: Schedule, out: Path
) -> Progress:
    """Trains a network on the first corpus until the budget is used, or goes on where the checkpoint `out` left off.

    The second corpus is held out: its loss is printed at every checkpoint, and costs nothing of the budget. SIGTERM
    ends the run after a last checkpoint, from which the next run goes on.
    """
    molecules, held_out = data
    optimizer = torch.optim.Adam(model.parameters(), schedule.learning_rate, fused=True)
    progress = Progress()
    if out.exists():
        before = torch.load(out, map_location=next(model.parameters()).device, weights_only=True)
        if before["vocabulary"] != molecules.vocabulary:
            raise SystemExit(f"{out} has another vocabulary than the corpus")
        model.load_state_dict(before["model"])
        optimizer.load_state_dict(before["optimizer"])
        progress = Progress(**before["progress"])
        if progress.spent >= schedule.budget:
            return progress
    stop = threading.Event()
    handler = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    clock = CLOCKS.get(schedule.clock, lambda: 0.0)
    tokens_per_molecule = (len(molecules.ids) - len(molecules)) / len(molecules)
    batches = endless(molecules, schedule.batch_size, np.random.default_rng([schedule.seed, progress.steps]))
    last_report, began = time.monotonic(), clock()
    while progress.spent < schedule.budget and not stop.is_set():
        tokens = next(batches)
        rate = learning_rate(schedule.learning_rate, progress.steps, schedule.warmup_steps, progress.spent / schedule.budget)
        for group in optimizer.param_groups:
            group["lr"] = rate
        # By a constant, not by the batch's own tokens: batches are of molecules alike in length, and tokens of short
        # molecules would weigh more than those of long ones.
        loss = loss_sum(model, tokens) / (len(tokens) * tokens_per_molecule)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        progress.steps += 1
        progress.molecules += len(tokens)
        progress.tokens += int((tokens[:, 1:] != corpus.PAD).sum())
        progress.spent += len(tokens) if schedule.clock == "molecules" else (clock() - began) / 60
        began = clock()
        if time.monotonic() - last_report > REPORT_SECONDS:
            save(out, model, optimizer, molecules.vocabulary, dataclasses.asdict(progress))
            loss = nll_per_molecule(loss_sum, model, held_out, 2000)
            print(
                f"{progress.spent / schedule.budget:.1%}, step {progress.steps}, {progress.molecules / len(molecules):.2f} epochs, "
                f"lr {rate:.2e}, held-out loss {loss:.3f}",
                flush=True,
            )
            last_report, began = time.monotonic(), clock()
    signal.signal(signal.SIGTERM, handler)
    save(out, model, optimizer, molecules.vocabulary, dataclasses.asdict(progress))
    print(f"end: {progress}, held-out loss {nll_per_molecule(loss_sum, model, held_out, 8000):.3f}", flush=True)
    return progress


def load(path: Path) -> tuple[Recurrent, list[str]]:
    """Reads the network and the vocabulary of a checkpoint."""
    state = torch.load(path, map_location="cpu", weights_only=True)
    model = NETWORKS[state["model_type"]](**state["shape"])
    model.load_state_dict(state["model"])
    return model, state["vocabulary"]


def main() -> None:
    """Trains until the budget is used and leaves the last checkpoint at `--out`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="folder of prepare_molecules.py")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint to write; where it is there, the run goes on")
    parser.add_argument("--init", type=Path, help="checkpoint whose weights a new run begins with")
    parser.add_argument("--minutes", type=float, required=True, help="budget, by --clock")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="cpu", help="what the budget and the annealing follow")
    parser.add_argument("--network", choices=sorted(NETWORKS), default=SmilesGru.MODEL_TYPE)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--hidden-size", type=int, default=512)
    parser.add_argument("--embedding-size", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--warmup-steps", type=int, default=200)
    parser.add_argument("--layer", choices=sorted(LAYERS), default="fast", help="fast: one GRU layer on a processor")
    parser.add_argument("--device", default="cpu", help="cpu or cuda; a graphics card takes --layer torch")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    data = corpus.Corpus.load(args.corpus / "train.npz"), corpus.Corpus.load(args.corpus / "valid.npz")
    if args.init:
        model, vocabulary = load(args.init)
        if vocabulary != data[0].vocabulary:
            raise SystemExit("the checkpoint has another vocabulary than the corpus")
    else:
        shape = (len(data[0].vocabulary), args.embedding_size, args.hidden_size, args.layers)
        model = NETWORKS[args.network](*shape)
    model.to(args.device)
    schedule = Schedule(args.minutes, args.clock, args.learning_rate, args.warmup_steps, args.batch_size, args.seed)
    train(model, LAYERS[args.layer], data, schedule, args.out)


if __name__ == "__main__":
    main()
