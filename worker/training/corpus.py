"""SMILES corpora as token ids: one regex, one vocabulary, one flat array.

The decision that matters: tokens are atom level (bracket atoms, two-letter halogens and two-digit ring
closures are one token, everything else one character), so that every string of tokens decodes by plain
concatenation and raw validity is as high as a small network allows. The pattern follows Schwaller et al.,
ACS Cent. Sci. 2019, "Molecular Transformer".
"""

import collections
import dataclasses
import gzip
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

PAD, BOS, EOS = 0, 1, 2
SPECIALS = ["<pad>", "<bos>", "<eos>"]
TOKEN_PATTERN = r"\[[^\[\]]+\]|Br|Cl|%[0-9]{2}|."
_TOKEN = re.compile(TOKEN_PATTERN)


def tokenize(smiles: str) -> list[str]:
    """Splits a SMILES string into tokens whose concatenation is the string."""
    return _TOKEN.findall(smiles)


def pattern(vocabulary: list[str]) -> str:
    """Gives the regex that cuts a string into a vocabulary's longest tokens, from the left, and no atom in two."""
    texts = sorted(set(vocabulary).difference(SPECIALS), key=lambda text: (-len(text), text))
    guards = {"C": "(?!l)", "B": "(?!r)"}
    return "|".join(re.escape(text) + guards.get(text[-1], "") for text in texts)


def read_smiles(path: Path) -> Iterator[str]:
    """Yields the first whitespace-separated field of every line of a plain or gzipped file."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            fields = line.split()
            if fields:
                yield fields[0]


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Tokenised molecules: molecule i is `ids[offsets[i]:offsets[i + 1]]`, with <bos> and <eos>."""

    vocabulary: list[str]
    ids: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def save(self, path: Path) -> None:
        """Writes the corpus as one .npz file."""
        np.savez(path, ids=self.ids, offsets=self.offsets, vocabulary=np.array(json.dumps(self.vocabulary)))

    @staticmethod
    def load(path: Path) -> "Corpus":
        """Reads what `save` wrote."""
        with np.load(path) as arrays:
            return Corpus(json.loads(str(arrays["vocabulary"])), arrays["ids"], arrays["offsets"])

    def smiles(self) -> Iterator[str]:
        """Yields the molecules as strings."""
        for begin, end in itertools.pairwise(self.offsets):
            yield "".join(self.vocabulary[token] for token in self.ids[begin + 1 : end - 1])

    def batches(self, batch_size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yields one epoch of `[batch, time]` int64 arrays, padded on the right, alike in length."""
        order = rng.permutation(len(self))
        lengths = np.diff(self.offsets)
        pool = batch_size * 64
        for start in range(0, len(order), pool):
            chunk = order[start : start + pool]
            chunk = chunk[np.argsort(lengths[chunk], kind="stable")]
            cuts = [chunk[k : k + batch_size] for k in range(0, len(chunk), batch_size)]
            for k in rng.permutation(len(cuts)):
                yield self.padded(cuts[k])

    def padded(self, rows: np.ndarray) -> np.ndarray:
        """Stacks the given molecules into a `[batch, time]` int64 array, padded on the right."""
        begins, lengths = self.offsets[rows], self.offsets[rows + 1] - self.offsets[rows]
        columns = np.arange(lengths.max())
        inside = columns < lengths[:, None]
        batch = np.full(inside.shape, PAD, np.int64)
        batch[inside] = self.ids[(begins[:, None] + columns)[inside]]
        return batch


def build_vocabulary(smiles: list[str], min_molecules: int) -> list[str]:
    """Lists the special tokens, then the tokens of at least `min_molecules` molecules, commonest first."""
    counts: collections.Counter[str] = collections.Counter()
    for text in smiles:
        counts.update(set(tokenize(text)))
    kept = [(-n, token) for token, n in counts.items() if n >= min_molecules]
    return SPECIALS + [token for _, token in sorted(kept)]


def encode(smiles: list[str], vocabulary: list[str], max_tokens: int) -> Corpus:
    """Encodes the molecules made of known tokens only and of at most `max_tokens` of them."""
    index = {token: i for i, token in enumerate(vocabulary)}
    flat: list[int] = []
    offsets = [0]
    for text in smiles:
        tokens = tokenize(text)
        if len(tokens) > max_tokens or any(token not in index for token in tokens):
            continue
        flat.append(BOS)
        flat.extend(index[token] for token in tokens)
        flat.append(EOS)
        offsets.append(len(flat))
    return Corpus(vocabulary, np.array(flat, np.uint8), np.array(offsets, np.int64))
