"""Teaches a trained language model to write fewer strings that are no molecules, within a wall-clock budget.

The decision that matters: one loss has two parts. The cross-entropy of training molecules keeps the model where it is,
and REINFORCE (Williams, 1992) lowers the probability of the model's own invalid strings: the gradient of the share of
invalid strings is the mean of grad log p over the invalid ones among fresh samples, so only those are ever
back-propagated. Nothing else is rewarded, so what the molecules look like stays the training set's business.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from rdkit import Chem, RDLogger
from torch.nn import functional

import corpus
import train_generator
from generator_model import SmilesGru


@torch.no_grad()
def draw(model: SmilesGru, n_strings: int, max_tokens: int) -> list[list[int]]:
    """Draws strings of tokens at temperature 1, without <bos>; those that do not end by themselves lack <eos>."""
    rnn = model.rnn
    table = functional.linear(model.embedding.weight, rnn.weight_ih_l0, rnn.bias_ih_l0)
    hidden_weight = rnn.weight_hh_l0.t().bfloat16().contiguous()
    out_weight = model.out.weight.t().bfloat16().contiguous()
    forbidden = torch.zeros(len(table))
    forbidden[[corpus.PAD, corpus.BOS]] = -torch.inf
    drawn: list[list[int]] = [[] for _ in range(n_strings)]
    rows = torch.arange(n_strings)
    token = torch.full((n_strings,), corpus.BOS)
    state = torch.zeros(n_strings, rnn.hidden_size)
    for _ in range(max_tokens):
        inputs = table[token].chunk(3, 1)
        products = ((state.bfloat16() @ hidden_weight).float() + rnn.bias_hh_l0).chunk(3, 1)
        reset = torch.sigmoid(inputs[0] + products[0])
        update = torch.sigmoid(inputs[1] + products[1])
        new = torch.tanh(inputs[2] + reset * products[2])
        state = torch.lerp(new, state, update)
        scores = (state.bfloat16() @ out_weight).float() + model.out.bias + forbidden
        # The smallest of exponential waiting times is a draw from the softmax.
        token = (scores.softmax(1) / torch.empty_like(scores).exponential_()).argmax(1)
        for row, index in zip(rows.tolist(), token.tolist(), strict=True):
            drawn[row].append(index)
        going_on = token != corpus.EOS
        rows, token, state = rows[going_on], token[going_on], state[going_on]
        if not len(rows):
            break
    return drawn


def is_valid(tokens: list[int], vocabulary: list[str]) -> bool:
    """Says whether a string ended by itself and is a molecule."""
    text = "".join(vocabulary[token] for token in tokens[:-1])
    return tokens[-1] == corpus.EOS and bool(text) and Chem.MolFromSmiles(text) is not None


def padded(strings: list[list[int]]) -> torch.Tensor:
    """Stacks strings into a `[batch, time]` int64 tensor that begins with <bos>, padded on the right."""
    batch = torch.full((len(strings), 1 + max(map(len, strings))), corpus.PAD)
    batch[:, 0] = corpus.BOS
    for row, tokens in zip(batch, strings, strict=True):
        row[1 : 1 + len(tokens)] = torch.tensor(tokens)
    return batch


def main() -> None:
    """Trains until the budget is used and leaves the last checkpoint at `--out`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="folder of prepare_molecules.py")
    parser.add_argument("--init", type=Path, required=True, help="checkpoint of train_generator.py")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint to write")
    parser.add_argument("--minutes", type=float, required=True, help="wall-clock budget")
    parser.add_argument("--batch-size", type=int, default=256, help="training molecules a step")
    parser.add_argument("--draws", type=int, default=1024, help="strings drawn a step")
    parser.add_argument("--weight", type=float, default=8.0, help="nats that a wholly invalid model costs a molecule")
    parser.add_argument("--learning-rate", type=float, default=4e-4)
    parser.add_argument("--warmup-steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    train = corpus.Corpus.load(args.corpus / "train.npz")
    valid = corpus.Corpus.load(args.corpus / "valid.npz")
    start = torch.load(args.init, weights_only=True)
    if start["vocabulary"] != train.vocabulary:
        raise SystemExit("the checkpoint has another vocabulary than the corpus")
    model = SmilesGru(**start["shape"])
    model.load_state_dict(start["model"])
    optimizer = torch.optim.Adam(model.parameters(), args.learning_rate, fused=True)
    optimizer.load_state_dict(start["optimizer"])
    loss_sum = train_generator.LAYERS["fast"]
    max_tokens = int(np.diff(train.offsets).max())

    began = last_report = time.monotonic()
    validity: list[float] = []
    for step, batch in enumerate(train_generator.endless(train, args.batch_size, np.random.default_rng(args.seed))):
        elapsed = (time.monotonic() - began) / 60
        done = elapsed >= args.minutes
        if done or time.monotonic() - last_report > 120:
            last_report = time.monotonic()
            train_generator.save(args.out, model, optimizer, train.vocabulary, {"steps": step})
            loss = train_generator.nll_per_molecule(loss_sum, model, valid, 8000 if done else 2000)
            print(f"{elapsed:.1f} min, step {step}, validity {np.mean(validity[-20:]):.4f}, validation NLL {loss:.3f}", flush=True)
        if done:
            return
        for group in optimizer.param_groups:
            group["lr"] = train_generator.learning_rate(args.learning_rate, step, args.warmup_steps, elapsed / args.minutes)

        strings = draw(model, args.draws, max_tokens)
        invalid = [tokens for tokens in strings if not is_valid(tokens, train.vocabulary)]
        validity.append(1 - len(invalid) / len(strings))
        optimizer.zero_grad(set_to_none=True)
        n_real = int((batch[:, 1:] != corpus.PAD).sum())
        (loss_sum(model, batch) / n_real).backward()
        if invalid:
            # Both parts are weighed per molecule; the common divisor is train_generator.py's, whose optimizer goes on.
            (-args.weight * loss_sum(model, padded(invalid)) * len(batch) / (len(strings) * n_real)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


if __name__ == "__main__":
    main()
