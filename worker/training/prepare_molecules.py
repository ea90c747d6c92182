"""Tokenises the training and validation molecules of the language models.

The decision that matters: a molecule with a token that fewer than `--min-molecules` molecules have is left
out, so that the vocabulary holds only what the network sees often enough to learn. The vocabulary is always that of
all molecules, whatever the `--subset`, so that a subset's model can start from the weights of the whole.
"""

import argparse
from pathlib import Path

from rdkit import Chem
from rdkit.Chem import Descriptors, rdMolDescriptors

import corpus


def is_leadlike(smiles: str) -> bool:
    """Says whether a molecule is small: weight 150 to 350, at most 25 heavy atoms and 6 rotatable bonds, rings."""
    mol = Chem.MolFromSmiles(smiles)
    return (
        8 <= mol.GetNumHeavyAtoms() <= 25
        and 150 <= Descriptors.MolWt(mol) <= 350
        and rdMolDescriptors.CalcNumRotatableBonds(mol) <= 6
        and mol.GetRingInfo().NumRings() >= 1
    )


SUBSETS = {"all": lambda _: True, "leadlike": is_leadlike}


def prepare(data: Path, out: Path, subset: str, min_molecules: int = 100, max_tokens: int = 100) -> None:
    """Writes `train.npz` and `valid.npz` under `out`, from the files of the same names in `data`."""
    out.mkdir(parents=True, exist_ok=True)
    train = list(corpus.read_smiles(data / "train.smi.gz"))
    vocabulary = corpus.build_vocabulary(train, min_molecules)
    for name, smiles in (("train", train), ("valid", list(corpus.read_smiles(data / "valid.smi.gz")))):
        chosen = [text for text in smiles if SUBSETS[subset](text)]
        encoded = corpus.encode(chosen, vocabulary, max_tokens)
        encoded.save(out / f"{name}.npz")
        print(f"{name}: {len(encoded)} of {len(smiles)} molecules, {len(encoded.ids)} tokens of {len(vocabulary)} kinds")


def prepared(data: Path, work: Path, subset: str) -> Path:
    """Gives the folder of a subset's corpus under `work`, which is written where it is missing."""
    folder = work / subset
    if not (folder / "valid.npz").exists():
        prepare(data, folder, subset)
    return folder


def main() -> None:
    """Prepares one folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.smi.gz and valid.smi.gz")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--min-molecules", type=int, default=100)
    parser.add_argument("--subset", choices=sorted(SUBSETS), default="all")
    parser.add_argument("--max-tokens", type=int, default=100)
    args = parser.parse_args()
    prepare(args.data, args.out, args.subset, args.min_molecules, args.max_tokens)


if __name__ == "__main__":
    main()
