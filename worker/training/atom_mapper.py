"""Maps reactions by RXNMapper's network, several times faster than the package and with the same semantics.

The decision that matters: of the package only its files are used, weights and vocabulary. One head of the eleventh of the
twelve layers says which atoms belong together, so ten layers are run in full, of the eleventh the queries and keys of that
head, and nothing of the twelfth. `Network` does it in single precision by PyTorch and gives the package's maps exactly;
`ByteNetwork` has the ten layers in bytes (`atom_mapper.cpp`), twice as fast on a CPU with AVX2, and differs in 1 to 2 of 100
maps, most of them unsure ones. How attention becomes a map is the package's own rule (`attention.py` there: the surest pair
first, neighbours of a pair made 90 times surer).

The network is from Schwaller et al., Science Advances 2021, "Extraction of organic chemistry grammar from unsupervised
learning of chemical reactions"; rxnmapper 0.4.3, MIT.
"""

import functools
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
from rdkit import Chem
from torch.nn import functional
from torch.utils import cpp_extension

LAYERS, HEAD, HEADS, WIDTH = 10, 5, 8, 256
NEIGHBOUR_FACTOR = 90.0
LONGEST = 512
TOKENS_PER_BATCH = 4096
UNMAPPED = -1
_TOKENS = re.compile(
    r"(\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>>?|\*|\$|\%[0-9]{2}|[0-9])"
)
_LAYER = "albert.encoder.albert_layer_groups.0.albert_layers.0."


def package_folder() -> Path:
    """Finds the network's files in the installed package, without importing it.

    Raises:
        ModuleNotFoundError: where rxnmapper is not installed.
    """
    found = importlib.util.find_spec("rxnmapper")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("rxnmapper is not installed: its files hold the network")
    return Path(found.origin).parent / "models" / "transformers" / "albert_heads_8_uspto_all_1310k"


class Network:
    """The encoder as far as the head that maps."""

    def __init__(self, folder: Path) -> None:
        weights = torch.load(folder / "pytorch_model.bin", map_location="cpu", weights_only=True)
        embeddings = "albert.embeddings."
        self.words = weights[embeddings + "word_embeddings.weight"]
        self.places = weights[embeddings + "position_embeddings.weight"] + weights[embeddings + "token_type_embeddings.weight"][0]
        self.embedding_norm = self._pair(weights, embeddings + "LayerNorm")
        self.widen = self._pair(weights, "albert.encoder.embedding_hidden_mapping_in")
        parts = [self._pair(weights, f"{_LAYER}attention.{name}") for name in ("query", "key", "value")]
        self.query_key_value = torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])
        head = slice(HEAD * WIDTH // HEADS, (HEAD + 1) * WIDTH // HEADS)
        self.last = torch.cat([part[0][head] for part in parts[:2]]), torch.cat([part[1][head] for part in parts[:2]])
        self.mix = self._pair(weights, _LAYER + "attention.dense")
        self.attention_norm = self._pair(weights, _LAYER + "attention.LayerNorm")
        self.inner = self._pair(weights, _LAYER + "ffn")
        self.outer = self._pair(weights, _LAYER + "ffn_output")
        self.layer_norm = self._pair(weights, _LAYER + "full_layer_layer_norm")

    @staticmethod
    def _pair(weights: dict[str, torch.Tensor], name: str) -> tuple[torch.Tensor, torch.Tensor]:
        return weights[name + ".weight"], weights[name + ".bias"]

    @torch.inference_mode()
    def attention(self, ids: torch.Tensor) -> torch.Tensor:
        """Gives the mapping head's attention, `[batch, length, length]`, of token ids `[batch, length]` of one length."""
        batch, length = ids.shape
        embedded = self.words[ids] + self.places[:length]
        hidden = functional.linear(_normed(embedded, self.embedding_norm), *self.widen)
        hidden = self.layers(hidden, LAYERS)
        query, key = functional.linear(hidden, *self.last).chunk(2, -1)
        scores = query @ key.transpose(1, 2) * (WIDTH // HEADS) ** -0.5
        return scores.softmax(-1)

    def layers(self, hidden: torch.Tensor, passes: int) -> torch.Tensor:
        """Runs `[batch, length, 256]` hidden states through the layer, which all passes share."""
        for _ in range(passes):
            hidden = self._layer(hidden)
        return hidden

    def _layer(self, hidden: torch.Tensor) -> torch.Tensor:
        batch, length, _ = hidden.shape
        joint = functional.linear(hidden, *self.query_key_value).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = joint.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(batch, length, WIDTH)
        attended = _normed(functional.linear(mixed, *self.mix).add_(hidden), self.attention_norm)
        inner = functional.gelu(functional.linear(attended, *self.inner))
        return _normed(functional.linear(inner, *self.outer).add_(attended), self.layer_norm)


@functools.cache
def _extension() -> ModuleType:
    source = str(Path(__file__).with_name("atom_mapper.cpp"))
    return cpp_extension.load("atom_mapper_layers", [source], extra_cflags=["-O3", "-march=native", "-ffast-math"])


class ByteNetwork(Network):
    """The same with its layers in bytes, built at first use; needs a C++ compiler and AVX2."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        pairs = (self.query_key_value, self.mix, self.attention_norm, self.inner, self.outer, self.layer_norm)
        self.bytes = _extension().Layers([tensor.contiguous() for pair in pairs for tensor in pair])

    def layers(self, hidden: torch.Tensor, passes: int) -> torch.Tensor:
        """Runs each reaction's hidden states through the layer in bytes."""
        return torch.stack([self.bytes.run(states, passes) for states in hidden])


def _normed(values: torch.Tensor, norm: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    return functional.layer_norm(values, norm[0].shape, *norm, eps=1e-12)


def vocabulary(folder: Path) -> dict[str, int]:
    """Reads the network's tokens and their ids."""
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    return {token: index for index, token in enumerate(lines) if token}


@functools.cache
def _atomic_number(token: str) -> int:
    return Chem.MolFromSmiles(token, sanitize=False).GetAtomWithIdx(0).GetAtomicNum()


class _Side:
    """One side of a reaction: where its atoms stand among the tokens, what they are, and who is bonded to whom."""

    def __init__(self, smiles: str, tokens: list[str], offset: int) -> None:
        mol = Chem.MolFromSmiles(smiles, sanitize=False)
        if mol is None:
            raise ValueError(f"not a SMILES: {smiles}")
        atoms = [place for place, token in enumerate(tokens) if token[0].isalpha() or token[0] == "[" or token == "*"]
        self.places = np.array(atoms) + offset
        self.numbers = np.array([_atomic_number(tokens[place]) for place in atoms])
        self.neighbours = [np.flatnonzero(row) for row in Chem.GetAdjacencyMatrix(mol)]


def map_from_attention(attention: np.ndarray, left: str, right: str) -> tuple[np.ndarray, float]:
    """Gives for each product atom its atom on the left (or `UNMAPPED`), and the product of the pairs' confidences.

    `attention` is the head's matrix over `[CLS] left >> right [SEP]`.
    """
    left_tokens, right_tokens = _TOKENS.findall(left), _TOKENS.findall(right)
    columns, rows = _Side(left, left_tokens, 1), _Side(right, right_tokens, len(left_tokens) + 2)
    score = attention[np.ix_(rows.places, columns.places)].astype(float) + attention[np.ix_(columns.places, rows.places)].T
    score *= rows.numbers[:, None] == columns.numbers[None, :]
    return _assign(score, rows.neighbours, columns.neighbours)


def _assign(score: np.ndarray, row_neighbours: list[np.ndarray], column_neighbours: list[np.ndarray]) -> tuple[np.ndarray, float]:
    """Pairs rows and columns, surest first; a row's sureness is its largest share of the row's sum. Uses `score` up."""
    chosen = np.full(len(score), UNMAPPED)
    confidence = 1.0
    for _ in range(len(score)):
        sums = score.sum(axis=1)
        sums[sums == 0] = 1.0
        shares = score.max(axis=1) / sums
        row = int(shares.argmax())
        share = float(shares[row])
        if share <= 1e-8:
            break
        column = int(score[row].argmax())
        chosen[row] = column
        confidence *= share
        score[row_neighbours[row][:, None], column_neighbours[column]] *= NEIGHBOUR_FACTOR
        score[row] = 0.0
        score[:, column] = 0.0
    return chosen, confidence


class AtomMapper:
    """Maps lists of canonical unmapped reactions `A.B>>P`."""

    def __init__(self, network: type[Network] = ByteNetwork) -> None:
        folder = package_folder()
        self.network = network(folder)
        self.ids = vocabulary(folder)

    def encode(self, reaction: str) -> list[int]:
        """Gives the token ids, with the special tokens around them."""
        unknown = self.ids["[UNK]"]
        inside = [self.ids.get(token, unknown) for token in _TOKENS.findall(reaction)]
        return [self.ids["[CLS]"], *inside, self.ids["[SEP]"]]

    def map(self, reactions: list[str]) -> list[tuple[np.ndarray, float] | None]:
        """Gives map and confidence of each, or None where it is longer than the network reads."""
        encoded = [self.encode(reaction) for reaction in reactions]
        order = sorted((index for index in range(len(encoded)) if len(encoded[index]) <= LONGEST), key=lambda i: len(encoded[i]))
        results: list[tuple[np.ndarray, float] | None] = [None] * len(reactions)
        start = 0
        while start < len(order):
            length = len(encoded[order[start]])
            end = start + 1
            while end < len(order) and len(encoded[order[end]]) == length and (end - start + 1) * length <= TOKENS_PER_BATCH:
                end += 1
            chunk = order[start:end]
            attention = self.network.attention(torch.tensor([encoded[index] for index in chunk])).numpy()
            for index, matrix in zip(chunk, attention, strict=True):
                left, right = reactions[index].split(">>")
                results[index] = map_from_attention(matrix, left, right)
            start = end
        return results
