"""Measures what a language model learnt from as the console measures samples, and keeps the histograms in its pack.

The decision that matters: properties differ from one toolkit to the next (acceptors, rotatable bonds, logP), so that a sample
stands beside its training set only where one program has measured both. That is the console's own module, run by Node.
"""

import argparse
import json
import subprocess
from pathlib import Path

import corpus
import metadata
import prepare_molecules

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "training_set.mjs"
NAME = "training_set"


def learnt_from(subset: str, data: Path, work: Path) -> list[str]:
    """Gives the molecules of a subset's corpus."""
    return list(corpus.Corpus.load(prepare_molecules.prepared(data, work, subset) / "train.npz").smiles())


def measured(smiles: list[str]) -> dict[str, object]:
    """Gives how many molecules there are, and how each of the console's properties is distributed over them."""
    program = ["node", str(PROGRAM)]
    return json.loads(subprocess.run(program, input="\n".join(smiles), capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Measures the training sets of packs."""
    packs = metadata.packs()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", nargs="+", choices=list(packs))
    parser.add_argument("--data", type=Path, required=True, help="folder with train.smi.gz and valid.smi.gz")
    parser.add_argument("--work", type=Path, required=True, help="folder for corpora")
    parser.add_argument("--packs", type=Path, default=HERE.parent / "models", help="folder of packs to write to")
    args = parser.parse_args()
    known: dict[str, dict[str, object]] = {}
    for name in args.pack:
        subset = packs[name]["recipe"]["subset"]
        if subset not in known:
            known[subset] = measured(learnt_from(subset, args.data, args.work))
        metadata.store(args.packs / name, NAME, known[subset])
        print(f"{name}: {known[subset]['n_molecules']} molecules", flush=True)


if __name__ == "__main__":
    main()
