"""Compares tautomer keys with standard InChIKeys: how often molecules that share a key share an InChIKey.

    cargo run --release -p chem --example tautomer_keys < SMILES > KEYS
    python compare_inchi.py KEYS
"""

import collections
import sys

from rdkit import Chem, RDLogger

RDLogger.DisableLog("rdApp.*")


def main():
    by_key = collections.defaultdict(set)
    by_skeleton = collections.Counter()
    rows = 0
    for line in open(sys.argv[1]):
        smiles, key, skeleton, _ = line.rstrip("\n").split("\t")
        by_key[key].add(smiles)
        by_skeleton[skeleton] += 1
        rows += 1
    shared = sorted(sorted(group) for group in by_key.values() if len(group) > 1)
    by_inchi = collections.defaultdict(set)
    differing = []
    for group in shared:
        keys = {Chem.MolToInchiKey(Chem.MolFromSmiles(smiles)) for smiles in group}
        if len(keys) > 1:
            differing.append(group)
    print(f"{rows} molecules, {len(by_key)} keys, {len(by_skeleton)} skeletons")
    print(f"{len(shared)} keys of several molecules, {len(differing)} of which have several InChIKeys")
    print(f"molecules that share a key with one of another InChIKey: {sum(map(len, differing))} of {rows}")
    for group in differing:
        print("  key", *group)
    if "--inverse" in sys.argv:
        keys = {smiles: key for key, group in by_key.items() for smiles in group}
        for smiles in keys:
            by_inchi[Chem.MolToInchiKey(Chem.MolFromSmiles(smiles))].add(smiles)
        apart = [sorted(group) for group in by_inchi.values() if len({keys[smiles] for smiles in group}) > 1]
        print(f"{len(apart)} InChIKeys of several keys")
        for group in sorted(apart):
            print("  InChIKey", *group)


if __name__ == "__main__":
    main()
