"""The SMILES language model: embedding, GRU, linear head.

The decision that matters: names and layout of the weights are PyTorch's own (`rnn.weight_ih_l0` and so on), so
that a checkpoint is a pack without conversion.
"""

import torch
from torch import nn


class SmilesGru(nn.Module):
    """A GRU over SMILES tokens."""

    def __init__(self, vocab_size: int, embedding_size: int, hidden_size: int, num_layers: int = 1) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size, num_layers, batch_first=True)
        self.out = nn.Linear(hidden_size, vocab_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores the next token after each position: `[batch, time]` to `[batch, time, vocab]` logits."""
        return self.out(self.rnn(self.embedding(tokens))[0])

    def shape(self) -> dict[str, int]:
        """Gives the constructor's arguments."""
        return {
            "vocab_size": self.embedding.num_embeddings,
            "embedding_size": self.embedding.embedding_dim,
            "hidden_size": self.rnn.hidden_size,
            "num_layers": self.rnn.num_layers,
        }
