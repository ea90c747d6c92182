"""Byte pairs over atom tokens: the commonest pair of neighbouring tokens becomes a token, again and again.

The decision that matters: pairs only choose the vocabulary. Strings are then cut into the longest tokens from the left,
not by repeating the merges, so that one regex is the whole tokenizer, and our engine cuts as it does. After
Sennrich et al., ACL 2016; on SMILES, Li and Fourches, J. Chem. Inf. Model. 2021.
"""

import re
from pathlib import Path

import numpy as np

import corpus

N_MERGES = 200
MERGE_MOLECULES = 50_000


def prepare(atoms: Path, out: Path) -> None:
    """Writes `train.npz` and `valid.npz` under `out`: those of atom tokens in another folder, cut into merged pairs."""
    out.mkdir(parents=True, exist_ok=True)
    train = corpus.Corpus.load(atoms / "train.npz")
    texts = vocabulary(train, N_MERGES, MERGE_MOLECULES)
    for name, data in (("train", train), ("valid", corpus.Corpus.load(atoms / "valid.npz"))):
        coded = recoded(data, texts)
        coded.save(out / f"{name}.npz")
        print(f"{name}: {len(coded.ids)} tokens of {len(texts)} kinds, {len(data.ids)} of {len(data.vocabulary)} before", flush=True)


def vocabulary(data: corpus.Corpus, n_merges: int, n_molecules: int) -> list[str]:
    """Gives the vocabulary of a corpus of atom tokens and the tokens merged from its first molecules' commonest pairs."""
    texts = list(data.vocabulary)
    n_tokens = len(texts) + n_merges
    ids = data.ids[: data.offsets[min(n_molecules, len(data))]].astype(np.int64)
    while len(texts) < n_tokens:
        inside = (ids[:-1] >= len(corpus.SPECIALS)) & (ids[1:] >= len(corpus.SPECIALS))
        if not inside.any():
            break
        counts = np.bincount((ids[:-1] * n_tokens + ids[1:])[inside])
        first, second = divmod(int(counts.argmax()), n_tokens)
        ids = merged(ids, first, second, len(texts))
        texts.append(texts[first] + texts[second])
    return texts


def merged(ids: np.ndarray, first: int, second: int, new: int) -> np.ndarray:
    """Replaces a pair of neighbours by a token, from the left."""
    found = np.flatnonzero((ids[:-1] == first) & (ids[1:] == second))
    if first == second:
        # In a run of equal tokens every other match overlaps the one before it.
        begins = np.diff(found, prepend=-2) != 1
        run_began = np.maximum.accumulate(np.where(begins, np.arange(len(found)), 0))
        found = found[(np.arange(len(found)) - run_began) % 2 == 0]
    ids = ids.copy()
    ids[found] = new
    return np.delete(ids, found + 1)


def recoded(data: corpus.Corpus, texts: list[str]) -> corpus.Corpus:
    """Cuts the molecules of a corpus anew, into the tokens of another vocabulary that can spell them all."""
    pattern = re.compile(corpus.pattern(texts))
    index = {text: i for i, text in enumerate(texts)}
    flat: list[int] = []
    offsets = [0]
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        smiles = "".join([data.vocabulary[i] for i in data.ids[start + 1 : end - 1]])
        flat += [corpus.BOS, *[index[text] for text in pattern.findall(smiles)], corpus.EOS]
        offsets.append(len(flat))
    return corpus.Corpus(texts, np.array(flat, np.min_scalar_type(len(texts) - 1)), np.array(offsets, np.int64))
