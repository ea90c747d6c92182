"""Writes worker/chem/tables/fragment_scores.bin: the fragment scores of the synthetic accessibility score.

    python fragment_scores.py ../chem/tables/fragment_scores.bin

The table of Ertl and Schuffenhauer (J. Cheminform. 2009, 1, 8) comes with RDKit as `Contrib/SA_Score/fpscores.pkl.gz`:
a score for each of 705,292 Morgan environments of radius 0 to 2. The file holds, little-endian:

- the number of different scores (u32), and the scores, the most frequent first, in ten-thousandths (i32);
- the number of environments (u32);
- a bit stream, the highest bit of a byte first. For each environment, ascending: the difference of its number from
  the one before, as a Rice code with 12 low bits; and the place of its score, plus one, as an Elias gamma code.

`worker/chem/src/properties/fragment_scores.rs` reads it.
"""

import collections
import gzip
import pickle
import struct
import sys
from pathlib import Path

from rdkit import RDConfig

# Low bits of a Rice code: the file is smallest with 12.
LOW_BITS = 12


def rice(number):
    high, low = divmod(number, 1 << LOW_BITS)
    return "1" * high + "0" + format(low, f"0{LOW_BITS}b")


def gamma(number):
    binary = format(number, "b")
    return "0" * (len(binary) - 1) + binary


def main():
    source = Path(RDConfig.RDContribDir) / "SA_Score" / "fpscores.pkl.gz"
    scores = {}
    for score, *environments in pickle.load(gzip.open(source)):
        parts = round(float(score) * 10_000)
        if parts / 10_000 != float(score):
            sys.exit(f"the score {score} has more than four decimals")
        scores.update(dict.fromkeys(environments, parts))
    ranked = [parts for parts, _ in sorted(collections.Counter(scores.values()).items(), key=lambda x: (-x[1], x[0]))]
    rank = {parts: place for place, parts in enumerate(ranked, 1)}
    bits = []
    before = 0
    for environment in sorted(scores):
        bits.append(rice(environment - before) + gamma(rank[scores[environment]]))
        before = environment
    bits = "".join(bits)
    bits += "0" * (-len(bits) % 8)
    stream = int(bits, 2).to_bytes(len(bits) // 8, "big")
    head = struct.pack(f"<I{len(ranked)}iI", len(ranked), *ranked, len(scores))
    Path(sys.argv[1]).write_bytes(head + stream)


if __name__ == "__main__":
    main()
