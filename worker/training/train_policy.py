"""Trains the policy network of `policy_model.py` on what `policy_examples` made of recorded reactions.

The decision that matters: a reaction's labels are all pairs of a template and a site that give its recorded precursors, and the loss
is minus the logarithm of their total probability, so that the network is asked for the precursors and not for the one of several
equivalent templates that an extraction happened to write. The split is by product; `--held-out` examples are only looked at.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file, save_file

from pack_policy import unpacked
from policy_model import Batch, Policy, Sizes

TOP = (1, 3, 10, 50)


def spread(starts: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gives, of ragged rows one behind the other, the flat positions, whose they are, and where each begins."""
    first, counts = starts[rows], starts[rows + 1] - starts[rows]
    begins = np.cumsum(counts) - counts
    owners = np.repeat(np.arange(len(rows)), counts)
    return np.repeat(first - begins, counts) + np.arange(counts.sum()), owners, begins


class Examples:
    """The arrays of `policy_examples`."""

    def __init__(self, path: Path) -> None:
        arrays = load_file(path)
        self.arrays = {name: value.astype(np.int64) if name.endswith("_starts") else value for name, value in arrays.items()}
        self.products = arrays["products"].astype(np.int64)
        self.explained = np.flatnonzero(np.diff(self.arrays["right_starts"]) > 0)

    def chosen(self, use: Path | None) -> np.ndarray:
        """Gives the explained reactions, of the input lines in a file of numbers if there is one."""
        return self.explained[np.isin(self.arrays["lines"][self.explained], np.load(use))] if use else self.explained

    def _ragged(self, name: str, rows: np.ndarray, starts: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        places, owners, begins = spread(self.arrays[starts], rows)
        return self.arrays[name][places], owners, begins

    def batch(self, reactions: np.ndarray) -> tuple[Batch, torch.Tensor, torch.Tensor]:
        """Gives the batch of some reactions, for every pair whose it is, and which pairs are right."""
        products, arrays = self.products[reactions], self.arrays
        bits, _, bit_begins = self._ragged("bits", products, "bit_starts")
        environments, _, atom_begins = self._ragged("environments", products, "atom_starts")
        bonds, bond_owners, _ = self._ragged("bonds", products, "bond_starts")
        words, site_owners, site_begins = self._ragged("sites", products, "site_starts")
        members = np.unpackbits(words.view(np.uint8).reshape(len(words), 16), axis=1, bitorder="little")
        # A site of no atoms, at the end of each product's, for templates of which nobody knows where they match.
        atom_sites, site_atoms = np.nonzero(members)
        site_sizes = members.sum(1)
        nowhere = len(words) + np.arange(len(products))
        match_places, match_owners, match_begins = spread(arrays["match_starts"], products)
        counts = arrays["match_sites"][match_places].astype(np.int64)
        firsts = arrays["match_firsts"][match_places] + site_begins[match_owners]
        pair_counts = np.maximum(counts, 1)
        pair_begins = np.cumsum(pair_counts) - pair_counts
        pair_matches = np.repeat(np.arange(len(counts)), pair_counts)
        pair_sites = np.arange(pair_counts.sum()) - pair_begins[pair_matches] + firsts[pair_matches]
        pair_sites = np.where(counts[pair_matches] > 0, pair_sites, nowhere[match_owners[pair_matches]])
        rights, right_owners, _ = self._ragged("rights", np.asarray(reactions), "right_starts")
        masks = arrays["right_sites"][spread(arrays["right_starts"], np.asarray(reactions))[0]].astype(np.int64)
        match_masks = np.zeros(len(counts), np.int64)
        # A template that gives the precursors nobody knows where is right wherever it matches.
        match_masks[match_begins[right_owners] + rights] = np.where(masks == 0, 0xFFFF, masks)
        right = (match_masks[pair_matches] >> (np.arange(len(pair_matches)) - pair_begins[pair_matches])) & 1
        tensor = torch.from_numpy
        batch = Batch(
            bits=tensor(bits.astype(np.int64)),
            bit_starts=tensor(bit_begins),
            environments=tensor(environments.astype(np.int64)),
            bonds=tensor(bonds[:, :2].astype(np.int64) + atom_begins[bond_owners][:, None]),
            bond_kinds=tensor(bonds[:, 2].astype(np.int64)),
            site_atoms=tensor(site_atoms + atom_begins[site_owners[atom_sites]]),
            atom_sites=tensor(atom_sites),
            site_sizes=tensor(np.concatenate([site_sizes, np.zeros(len(products))]).astype(np.float32)),
            site_products=tensor(np.concatenate([site_owners, np.arange(len(products))])),
            match_templates=tensor(arrays["match_templates"][match_places].astype(np.int64)),
            match_products=tensor(match_owners),
            pair_matches=tensor(pair_matches),
            pair_sites=tensor(pair_sites),
        )
        return batch, tensor(match_owners[pair_matches]), tensor(right.astype(bool))


def log_sums(scores: torch.Tensor, owners: torch.Tensor, count: int) -> torch.Tensor:
    """Gives the logarithm of the sum of the exponentials of every owner's scores."""
    highest = torch.full((count,), -1e30).scatter_reduce(0, owners, scores.detach(), "amax")
    total = torch.zeros(count).index_add(0, owners, torch.exp(scores - highest[owners]))
    return highest + torch.log(total)


def negative_log_likelihood(scores: torch.Tensor, owners: torch.Tensor, right: torch.Tensor, count: int) -> torch.Tensor:
    """Gives the mean of minus the logarithm of the right pairs' total probability."""
    return (log_sums(scores, owners, count) - log_sums(scores[right], owners[right], count)).mean()


def accuracies(policy: Policy, examples: Examples, reactions: np.ndarray, total: int) -> list[float]:
    """Gives the shares of `total` reactions of which a right pair is among the first of `TOP` matches, by their best pair."""
    policy.eval()
    ranks = []
    with torch.no_grad():
        for start in range(0, len(reactions), 512):
            chosen = reactions[start : start + 512]
            batch, owners, right = examples.batch(chosen)
            scores = policy(batch)
            best = torch.full((len(chosen),), -torch.inf).scatter_reduce(0, owners[right], scores[right], "amax")
            highest = torch.full((len(batch.match_templates),), -torch.inf).scatter_reduce(0, batch.pair_matches, scores, "amax")
            above = highest > best[batch.match_products]
            ranks.append(torch.zeros(len(chosen)).index_add(0, batch.match_products, above.float()))
    policy.train()
    rank = torch.cat(ranks)
    return [round(float((rank < k).sum()) / total, 4) for k in TOP]


def begin_with(policy: Policy, weights: dict[str, np.ndarray]) -> None:
    """Takes over the weights of a library that the network's own begins with; what comes behind stays as it was drawn, but seldom right."""
    state = policy.state_dict()
    for name, value in weights.items():
        state[name][: len(value)] = torch.from_numpy(value)
    known = weights["layer2_bias"]
    state["layer2_bias"][len(known) :] = float(np.quantile(known, 0.1))
    policy.load_state_dict(state)


def save(policy: Policy, path: Path) -> None:
    """Writes the weights in f32; pack_policy.py makes the shipped file of it."""
    save_file({name: value.numpy() for name, value in policy.state_dict().items()}, path)


def main() -> None:
    """Trains for `--epochs`; writes weights after every one and, every few minutes, what it needs to go on after a stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, required=True, help="file of policy_examples")
    parser.add_argument("--use", type=Path, help="numbers of the input lines to train on (.npy); all, if not given")
    parser.add_argument("--often", type=Path, help="numbers of input lines that every epoch has --times times (.npy)")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--init", type=Path, help="weights to begin with, or a pack: of this library or its beginning")
    parser.add_argument("--held-out", type=Path, help="file of policy_examples, looked at after every epoch")
    parser.add_argument("--templates", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="f32 weights (.safetensors) to write")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--minutes-between-checkpoints", type=float, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    examples = Examples(args.examples)
    train = examples.chosen(args.use)
    if args.often:
        often = train[np.isin(examples.arrays["lines"][train], np.load(args.often))]
        train = np.concatenate([train, np.repeat(often, args.times - 1)])
    held_out = Examples(args.held_out) if args.held_out else None
    policy = Policy(Sizes(args.templates), args.dropout)
    if args.init:
        begin_with(policy, unpacked(args.init) if args.init.is_dir() else load_file(args.init))
    optimizer = torch.optim.Adam(policy.parameters(), args.learning_rate, fused=True)
    batches = math.ceil(len(train) / args.batch_size)
    total, step, resume = args.epochs * batches, 0, args.out.with_suffix(".resume")
    if resume.exists():
        state = torch.load(resume)
        policy.load_state_dict(state["policy"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
    print(f"{len(train)} reactions, {batches} batches an epoch, from step {step}", flush=True)
    began = saved = time.monotonic()
    loss_sum = loss_count = 0.0
    while step < total:
        epoch, place = divmod(step, batches)
        order = np.random.default_rng([args.seed, epoch]).permutation(train)
        chosen = order[place * args.batch_size : (place + 1) * args.batch_size]
        step += 1
        warm = min(1.0, step / 500)
        for group in optimizer.param_groups:
            group["lr"] = args.learning_rate * warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / total)))
        batch, owners, right = examples.batch(chosen)
        loss = negative_log_likelihood(policy(batch), owners, right, len(chosen))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        loss_sum, loss_count = loss_sum + loss.item(), loss_count + 1
        if step % 100 == 0:
            print(f"step {step} of {total}, loss {loss_sum / loss_count:.3f}, {time.monotonic() - began:.0f} s, "
                  f"{time.process_time():.0f} s of processor time", flush=True)  # fmt: skip
            loss_sum = loss_count = 0.0
        if step % batches == 0:
            save(policy, args.out)
            if held_out:
                found = accuracies(policy, held_out, held_out.explained, len(held_out.products))
                print(f"epoch {step // batches}: top-{'/'.join(map(str, TOP))} of the held-out reactions {found}", flush=True)
        if time.monotonic() - saved > 60 * args.minutes_between_checkpoints:
            torch.save({"policy": policy.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, resume)
            saved = time.monotonic()


if __name__ == "__main__":
    main()
