"""Trains a SMILES language model on the CPU within a wall-clock budget.

The decision that matters: the learning rate follows the clock, not the step count (warm-up, then a cosine to
zero that ends with `--minutes`), so that a run ends in time and annealed whatever else the machine does.
Matrix products run in bfloat16, which AMX units do about three times as fast as f32; master weights stay f32.
`--layer fast` trains the same network three times as fast again with the layer of fast_gru.py.
"""

import argparse
import copy
import math
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

import corpus
import fast_gru
from generator_model import SmilesGru


def torch_loss_sum(model: SmilesGru, batch: torch.Tensor) -> torch.Tensor:
    """Sums the cross-entropy over all real tokens of a batch, by PyTorch's own layer."""
    with torch.autocast("cpu", torch.bfloat16):
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


def nll_per_molecule(loss_sum: Callable, model: SmilesGru, data: corpus.Corpus, n_molecules: int) -> float:
    """Gives the mean negative log-likelihood of the first molecules, in nats."""
    lengths = np.diff(data.offsets)[:n_molecules]
    order = np.argsort(lengths, kind="stable")
    with torch.no_grad():
        parts = [
            loss_sum(model, torch.from_numpy(data.padded(order[start : start + 256]))).item()
            for start in range(0, len(order), 256)
        ]
    return sum(parts) / len(order)


def learning_rate(peak: float, step: int, warmup_steps: int, fraction: float) -> float:
    """Warms up linearly by step, then anneals by the fraction of the budget used, along a cosine to zero."""
    return peak * min(1.0, (step + 1) / warmup_steps) * 0.5 * (1.0 + math.cos(math.pi * min(1.0, fraction)))


class Average:
    """A running average of a network's weights, which is as good at any moment as annealed weights are at the end."""

    def __init__(self, model: SmilesGru, decay: float) -> None:
        self.model = copy.deepcopy(model)
        self.decay = decay

    @torch.no_grad()
    def update(self, model: SmilesGru) -> None:
        """Moves the average towards the network's weights of now."""
        torch._foreach_lerp_(list(self.model.parameters()), list(model.parameters()), 1 - self.decay)


def save(path: Path, model: SmilesGru, optimizer: torch.optim.Optimizer, vocabulary: list[str], state: dict) -> None:
    """Writes a checkpoint, whole or not at all."""
    part = path.with_suffix(".part")
    torch.save(
        {"shape": model.shape(), "model": model.state_dict(), "optimizer": optimizer.state_dict(),
         "vocabulary": vocabulary, **state},
        part,
    )
    part.replace(path)


def main() -> None:
    """Trains until the budget is used and leaves the last checkpoint at `--out`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="folder of prepare_molecules.py")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint to write")
    parser.add_argument("--init", type=Path, help="checkpoint to continue from")
    parser.add_argument("--minutes", type=float, required=True, help="budget, by --clock")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall", help="what the budget and the annealing follow")
    parser.add_argument("--done-minutes", type=float, default=0.0, help="part of the schedule that lies behind --init")
    parser.add_argument("--hidden-size", type=int, default=512)
    parser.add_argument("--embedding-size", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--warmup-steps", type=int, default=200)
    parser.add_argument("--average", type=float, metavar="DECAY", help="do not anneal; keep a running average of the weights")
    parser.add_argument("--layer", choices=sorted(LAYERS), default="fast")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    loss_sum = LAYERS[args.layer]
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    train = corpus.Corpus.load(args.corpus / "train.npz")
    valid = corpus.Corpus.load(args.corpus / "valid.npz")
    start_state = torch.load(args.init, weights_only=True) if args.init else None
    shape = start_state["shape"] if start_state else {
        "vocab_size": len(train.vocabulary), "embedding_size": args.embedding_size, "hidden_size": args.hidden_size,
    }
    model = SmilesGru(**shape)
    optimizer = torch.optim.Adam(model.parameters(), args.learning_rate, fused=True)
    if start_state:
        if start_state["vocabulary"] != train.vocabulary:
            raise SystemExit("the checkpoint has another vocabulary than the corpus")
        model.load_state_dict(start_state["model"])
        if "optimizer" in start_state:
            optimizer.load_state_dict(start_state["optimizer"])

    average = Average(model, args.average) if args.average else None
    result = average.model if average else model
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    clock = CLOCKS[args.clock]
    began = clock()
    last_report = time.monotonic()
    step = n_molecules = n_tokens = 0
    tokens_per_molecule = (len(train.ids) - len(train)) / len(train)
    total = args.done_minutes + args.minutes
    while True:
        for batch in train.batches(args.batch_size, rng):
            elapsed = (clock() - began) / 60
            if elapsed >= args.minutes or stop.is_set():
                save(args.out, result, optimizer, train.vocabulary, {"molecules_seen": n_molecules})
                print(f"end: {n_molecules} molecules, validation NLL {nll_per_molecule(loss_sum, result, valid, 8000):.3f}", flush=True)
                return
            fraction = 0.0 if average else (args.done_minutes + elapsed) / total
            rate = learning_rate(args.learning_rate, step, args.warmup_steps, fraction)
            for group in optimizer.param_groups:
                group["lr"] = rate
            tokens = torch.from_numpy(batch)
            n_real = int((tokens[:, 1:] != corpus.PAD).sum())
            # By a constant, not by the batch's own tokens: batches are of molecules alike in length, and tokens of short
            # molecules would weigh more than those of long ones.
            loss = loss_sum(model, tokens) / (len(batch) * tokens_per_molecule)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if average:
                average.update(model)
            step += 1
            n_molecules += len(batch)
            n_tokens += n_real
            if time.monotonic() - last_report > 120:
                last_report = time.monotonic()
                save(args.out, result, optimizer, train.vocabulary, {"molecules_seen": n_molecules})
                print(
                    f"{elapsed:.1f} min, step {step}, {n_molecules / len(train):.2f} epochs, "
                    f"{n_tokens / (clock() - began):.0f} tokens/s, lr {rate:.2e}, "
                    f"validation NLL {nll_per_molecule(loss_sum, result, valid, 2000):.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
