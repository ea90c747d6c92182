"""Adds the hand-written templates that a finished pack lacks, and fits their output rows alone.

The decision that matters: a network that is trained is not trained again for a template. Its trunk and its old rows stay byte for byte; a
new row is fitted by the loss that `train_policy.py` trains with, minus the logarithm of the right pairs' share among all that match. It learns
from siblings, which are products that the template makes (`sibling_products.py`), and from recorded reactions, of whose products most
were made otherwise: so a row scores high where it belongs and low elsewhere. Rows of hand-written templates
that hardly any recorded reaction explains were hardly ever asked for in training and are fitted again. A fifth of the siblings is kept
back and measured.
"""

import argparse
import collections
import gzip
import json
import random
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from rdkit import Chem, RDLogger
from safetensors.numpy import load_file, save_file

import extend_library
import held_out
import pack_policy
import prepare_templates
import retro_metadata
from policy_model import Policy, Sizes
from sibling_products import Partners, Step, may_be_seen, read_blocks, siblings
from train_policy import Examples, begin_with, log_sums

KEPT_BACK = 5
BATCH = 256


class Pairs(NamedTuple):
    """Reactions with a pair of a fitted row, and their pairs, row after row.

    `others`, `others_right` `[reactions]`: logarithms of the sums over the pairs of other rows, all and the right ones; `weights` `[reactions]`. Of
    every pair: its fitted `rows`, its reaction (`owners`), whether it is `right`, and the vector of its site, `sites` `[pairs, site]`.
    """

    others: torch.Tensor
    others_right: torch.Tensor
    weights: torch.Tensor
    rows: torch.Tensor
    owners: torch.Tensor
    right: torch.Tensor
    sites: torch.Tensor


class Rows(NamedTuple):
    """Weights of the fitted rows: `bias` `[rows]`, `template` `[rows, site]`. That of the molecule is nought: a site's vector knows it."""

    bias: torch.Tensor
    template: torch.Tensor


def collected(policy: Policy, examples: Examples, weights: np.ndarray, fitted: np.ndarray) -> Pairs:
    """Runs the frozen network over the explained reactions, each with the weight of its line; those without a pair of a fitted row teach nothing."""
    place = torch.full((policy.sizes.templates,), -1)
    place[torch.from_numpy(fitted)] = torch.arange(len(fitted))
    parts: list[Pairs] = []
    count = 0
    with torch.no_grad():
        for start in range(0, len(examples.explained), BATCH):
            chosen = examples.explained[start : start + BATCH]
            batch, owners, right = examples.batch(chosen)
            molecules, sites = policy.vectors(batch)
            scores = policy.scores(batch, molecules, sites)
            rows = place[batch.match_templates[batch.pair_matches]]
            own = rows >= 0
            has = torch.zeros(len(chosen), dtype=torch.bool).index_fill(0, owners[own], 1)
            number = torch.cumsum(has, 0) - 1 + count
            others, others_right = (log_sums(scores[mask], owners[mask], len(chosen))[has] for mask in (~own, ~own & right))
            weight = torch.from_numpy(weights[examples.arrays["lines"][chosen]])[has]
            vectors = sites[batch.pair_sites[own]]
            parts.append(Pairs(others, others_right, weight, rows[own], number[owners[own]], right[own], vectors))
            count += int(has.sum())
    whole = Pairs(*(torch.cat(column) for column in zip(*parts, strict=True)))
    order = torch.argsort(whole.rows, stable=True)
    return Pairs(*whole[:3], *(column[order] for column in whole[3:]))


def loss_of(rows: Rows, pairs: Pairs) -> torch.Tensor:
    """Gives the weighted mean of minus the logarithm of the right pairs' total probability."""
    counts = torch.bincount(pairs.rows, minlength=len(rows.bias)).tolist()
    parts = zip(torch.split(pairs.sites, counts), rows.template, strict=True)
    scores = torch.cat([sites @ row for sites, row in parts]) + rows.bias[pairs.rows]
    count, right = len(pairs.others), pairs.right
    total = torch.logaddexp(pairs.others, log_sums(scores, pairs.owners, count))
    of_right = torch.logaddexp(pairs.others_right, log_sums(scores[right], pairs.owners[right], count))
    return ((total - of_right) * pairs.weights).sum() / pairs.weights.sum()


def fit(pairs: Pairs, count: int, decay: float, steps: int) -> Rows:
    """Fits so many rows, from nothing and a low bias; large weights cost `decay` times their squares."""
    rows = Rows(torch.full((count,), -3.0, requires_grad=True), torch.zeros(count, pairs.sites.shape[1], requires_grad=True))
    optimizer = torch.optim.Adam([{"params": [rows.bias], "lr": 0.1}, {"params": [rows.template], "lr": 0.03}])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(rows, pairs)
        (loss + decay * rows.template.square().sum()).backward()
        optimizer.step()
        schedule.step()
        if step % 20 == 0 or step == steps - 1:
            print(f"step {step}: loss {loss.item():.4f} of {len(pairs.others)} reactions, {len(pairs.rows)} pairs", flush=True)
    return Rows(*(part.detach() for part in rows))


def with_rows(tensors: dict[str, np.ndarray], fitted: np.ndarray, rows: Rows, templates: int) -> dict[str, np.ndarray]:
    """Gives the tensors of a pack for so many templates with the fitted rows in bytes; all others stay as they are."""
    found = dict(tensors)
    nought = np.zeros((len(fitted), tensors["layer2.weight"].shape[1]), np.float32)
    for name, table in (("layer2", nought), ("template", rows.template.numpy())):
        scale = np.maximum(np.abs(table).max(axis=1), 1e-12) / pack_policy.LEVELS
        found[f"{name}.weight"] = replaced(tensors[f"{name}.weight"], fitted, np.rint(table / scale[:, None]), templates)
        found[f"{name}.scale"] = replaced(tensors[f"{name}.scale"], fitted, scale, templates)
    found["layer2.bias"] = replaced(tensors["layer2.bias"], fitted, rows.bias.numpy(), templates)
    return found


def replaced(table: np.ndarray, fitted: np.ndarray, rows: np.ndarray, templates: int) -> np.ndarray:
    """Gives a table of so many rows, some of them replaced."""
    longer = np.zeros((templates, *table.shape[1:]), table.dtype)
    longer[: len(table)] = table
    longer[fitted] = rows.astype(table.dtype)
    return longer


def rarely_recorded(pack: Path, written: set[str], library: list[str], least: int) -> list[int]:
    """Lists the rows of hand-written templates that explain fewer clean reactions than `least`."""
    counts: dict[int, int] = {}
    with gzip.open(pack / "evidence.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row, count = line.split("\t")[:2]
            counts[int(row)] = int(count)
    return [row for row, text in enumerate(library) if text in written and counts.get(row, 0) < least]


def recorded_steps(data: Path, wanted: int, rng: random.Random) -> tuple[list[Step], list[Step]]:
    """Draws recorded reactions to learn from; gives all of `uspto50k_val` to measure by as well."""
    steps: list[Step] = []
    with gzip.open(data / "templates" / "extracted.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            source, product, precursors, _ = line.rstrip("\n").split("\t")
            if source != "uspto50k_val":
                steps.append((product, precursors))
    mapped = held_out._csv_column(data / "reactions" / "uspto50k_val.csv.gz", "rxn_smiles")
    return rng.sample(steps, min(wanted, len(steps))), [unmapped(reaction) for reaction in mapped]


def unmapped(reaction: str) -> Step:
    """Gives product and precursors of a mapped reaction; precursors without an atom of the product are reagents."""

    def plain(text: str) -> str:
        mol = Chem.MolFromSmiles(text)
        for atom in mol.GetAtoms():
            atom.SetAtomMapNum(0)
        return Chem.MolToSmiles(mol)

    precursors, product = reaction.split(">")[0], reaction.split(">")[-1]
    return plain(product), ".".join(sorted(plain(part) for part in precursors.split(".") if ":" in part))


def grown(pack: Path, by_hand: Path) -> tuple[list[tuple[str, int]], list[int], dict[str, Step]]:
    """Gives the longer library with its counts, the new rows, and the examples of hand-written templates by their text."""
    library = prepare_templates.read_counted(pack / "templates.csv.gz")
    new = extend_library.by_hand(by_hand, [text for text, _ in library])
    examples: dict[str, Step] = {}
    for line in by_hand.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            _, _, plain, product, precursors = line.split("\t")
            step = Chem.CanonSmiles(product), ".".join(sorted(Chem.CanonSmiles(part) for part in precursors.split(".")))
            examples[prepare_templates.grouped(plain)] = step
    return library + new, list(range(len(library), len(library) + len(new))), examples


def lengthened(starts: np.ndarray, templates: int) -> np.ndarray:
    """Gives the starts of precedents of so many templates, the new ones without any."""
    return np.concatenate([starts, np.full(templates + 1 - len(starts), starts[-1], starts.dtype)])


def write_pack(pack: Path, library: list[tuple[str, int]], tensors: dict[str, np.ndarray]) -> None:
    """Writes the library, the network, the precedents' starts and the number of templates into the pack."""
    prepare_templates.write_library(pack / "templates.csv.gz", [(text, text, count) for text, count in library])
    pack_policy.write(tensors, pack)
    precedents = load_file(pack / "precedents.safetensors")
    precedents["starts"] = lengthened(precedents["starts"], len(library))
    save_file(precedents, pack / "precedents.safetensors")
    (pack / "precedents.safetensors").chmod(0o644)
    config = json.loads((pack / "config.json").read_text(encoding="utf-8")) | {"n_templates": len(library)}
    (pack / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def measured(single_step: Path, pack: Path, steps: list[Step], out: Path) -> str:
    """Ranks the precursors of some steps with a pack, one rank a line in `out`; gives what `single_step` prints."""
    lines = "".join(f"{product}\t{precursors}\n" for product, precursors in steps)
    run = subprocess.run([single_step, pack, out], input=lines, text=True, stdout=subprocess.PIPE, check=True)
    return run.stdout


def write_metadata(pack: Path, templates: int, added: int, figures: str) -> None:
    """Counts the new templates in metadata.json and gives it the figures of `single_step`."""
    path = pack / "metadata.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    before = sum(said["templates"].values())
    said["architecture"] = said["architecture"].replace(f"{before} templates", f"{templates} templates")
    said["templates"]["by_hand"] += added
    said["metrics"]["uspto50k_val"] = retro_metadata.accuracies(figures)
    retro_metadata.write_json(path, said)


def main() -> None:
    """Lengthens `--pack` in place, and prints what it ranks where."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--by-hand", type=Path, required=True, help="hand-written templates (.tsv)")
    parser.add_argument("--catalogue", type=Path, required=True, help="demo.csv.gz, for building blocks")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--kit", type=Path, required=True, help="folder of the benchmark kit")
    parser.add_argument("--examples", type=Path, required=True, help="folder with policy_examples and single_step")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--siblings", type=int, default=40)
    parser.add_argument("--recorded", type=int, default=12_000)
    parser.add_argument("--weight", type=float, default=0.0015, help="of a sibling; a recorded reaction weighs 1")
    parser.add_argument("--least", type=int, default=20, help="old rows with fewer clean reactions are fitted again")
    parser.add_argument("--decay", type=float, default=2e-4)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    args.work.mkdir(parents=True, exist_ok=True)
    rng = random.Random(0)
    library, new, examples_of = grown(args.pack, args.by_hand)
    texts = [text for text, _ in library]
    fitted = np.array(sorted([*rarely_recorded(args.pack, set(examples_of), texts[: len(texts) - len(new)], args.least), *new]))
    print(f"{len(new)} templates added, {len(fitted)} rows to fit", flush=True)
    held = held_out.load(args.data, args.kit)
    partners = Partners(read_blocks(args.catalogue, rng), 60)
    made: list[tuple[int, Step]] = []
    for row in fitted.tolist():
        found = siblings(texts[row], examples_of[texts[row]], partners, args.siblings, rng)
        made += [(row, step) for step in found if may_be_seen(step[0], held)]
    recorded, validation = recorded_steps(args.data, args.recorded, rng)
    recorded = [step for step in recorded if may_be_seen(step[0], held)]
    print(f"{len(made)} siblings, {len(recorded)} recorded reactions", flush=True)
    kept_back = [pair for at, pair in enumerate(made) if at % KEPT_BACK == 0]
    taught = [step for at, (_, step) in enumerate(made) if at % KEPT_BACK]

    longer, lines = args.work / "templates.csv.gz", args.work / "examples.safetensors"
    prepare_templates.write_library(longer, [(text, text, count) for text, count in library])
    text = "".join(f"{product}\t{precursors}\n" for product, precursors in taught + recorded)
    subprocess.run([args.examples / "policy_examples", longer, lines], input=text, text=True, check=True)
    policy = Policy(Sizes(len(library)))
    begin_with(policy, pack_policy.unpacked(args.pack))
    policy.eval()
    examples = Examples(lines)
    weights = np.ones(len(taught) + len(recorded), np.float32)
    weights[: len(taught)] = args.weight
    rows = fit(collected(policy, examples, weights, fitted), len(fitted), args.decay, args.steps)
    tensors = load_file(args.pack / "policy.safetensors") | load_file(args.pack / "sites.safetensors")
    write_pack(args.pack, library, with_rows(tensors, fitted, rows, len(library)))

    single_step = args.examples / "single_step"
    figures = measured(single_step, args.pack, validation, args.work / "validation.ranks")
    write_metadata(args.pack, len(library), len(new), figures)
    said = measured(single_step, args.pack, [step for _, step in kept_back], args.work / "siblings.ranks")
    print(f"uspto50k_val\n{figures}siblings kept back\n{said}", flush=True)
    ranks = [int(rank) for rank in (args.work / "siblings.ranks").read_text(encoding="utf-8").split()]
    by_row: dict[int, list[int]] = collections.defaultdict(list)
    for (row, _), rank in zip(kept_back, ranks, strict=True):
        by_row[row].append(rank)
    (args.work / "ranks.tsv").write_text(
        "".join(f"{row}\t{sum(0 < rank <= 10 for rank in ranks)}\t{len(ranks)}\t{texts[row]}\n" for row, ranks in by_row.items()),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
