"""Writes worker/chem/tables/alerts.tsv: the structural alerts of RDKit's filter catalogues.

    python alerts.py ../chem/tables/alerts.tsv

RDKit compiles the catalogues into its library and hands out their patterns only in a serialised entry: text, then the
pattern as a binary molecule. The pattern is written as SMARTS, with hydrogens merged into their neighbours, as RDKit
matches it. Each entry is one pattern that must occur at least once; the script fails if a release of RDKit has others.
"""

import sys

from rdkit import Chem, rdBase
from rdkit.Chem import FilterCatalog

CATALOGUES = ["PAINS", "BRENK", "NIH", "CHEMBL"]
# Every binary molecule of RDKit starts with these bytes.
START = b"\xef\xbe\xad\xde"
# Minimum and maximum number of matches: at least one.
COUNTS = [b"1", b"4294967295"]


def smarts(entry):
    text, start, rest = bytes(entry.Serialize()).partition(START)
    *head, length = text.split()
    length = int(length) - len(START)
    if rest[length:].split()[:2] != COUNTS:
        sys.exit(f"{entry.GetDescription()} is not one pattern that must occur once")
    # chematic reads `[as]` as an aromatic sulfur.
    return Chem.MolToSmarts(Chem.Mol(start + rest[:length])).replace("[as]", "[#33&a]")


def main():
    print("RDKit", rdBase.rdkitVersion)
    with open(sys.argv[1], "w") as out:
        print("set", "name", "smarts", "source", sep="\t", file=out)
        for catalogue in CATALOGUES:
            entries = FilterCatalog.FilterCatalog(getattr(FilterCatalog.FilterCatalogParams.FilterCatalogs, catalogue))
            for index in range(entries.GetNumEntries()):
                entry = entries.GetEntryWithIdx(index)
                print(
                    catalogue.lower(),
                    entry.GetDescription(),
                    smarts(entry),
                    entry.GetProp("FilterSet"),
                    sep="\t",
                    file=out,
                )


if __name__ == "__main__":
    main()
