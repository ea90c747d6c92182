"""The SMILES language models that packs hold: embedding, recurrent layers, linear head.

The decision that matters: names and layout of the weights are PyTorch's own (`rnn.weight_ih_l0` and so on), so
that a checkpoint is a pack without conversion.
"""

import torch
from torch import nn


class Recurrent(nn.Module):
    """What a GRU and an LSTM over SMILES tokens share."""

    CELL: type[nn.RNNBase]
    MODEL_TYPE: str

    def __init__(self, vocab_size: int, embedding_size: int, hidden_size: int, num_layers: int = 1) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_size)
        self.rnn = self.CELL(embedding_size, hidden_size, num_layers, batch_first=True)
        self.out = nn.Linear(hidden_size, vocab_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores the next token after each position: `[batch, time]` to `[batch, time, vocab]` logits."""
        return self.out(self.rnn(self.embedding(tokens))[0])

    def step(self, token: torch.Tensor, state: list[torch.Tensor] | None) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Scores what follows one more token of each string: `[batch]` to `[batch, vocab]` logits.

        The state is a list of tensors whose first dimension is the batch, None before the first token.
        """
        before = None
        if state is not None:
            parts = [part.transpose(0, 1).contiguous() for part in state]
            before = tuple(parts) if len(parts) > 1 else parts[0]
        hidden, after = self.rnn(self.embedding(token[:, None]), before)
        after = after if isinstance(after, tuple) else (after,)
        return self.out(hidden[:, 0]), [part.transpose(0, 1) for part in after]

    def shape(self) -> dict[str, int]:
        """Gives the constructor's arguments."""
        return {
            "vocab_size": self.embedding.num_embeddings,
            "embedding_size": self.embedding.embedding_dim,
            "hidden_size": self.rnn.hidden_size,
            "num_layers": self.rnn.num_layers,
        }


class SmilesGru(Recurrent):
    """A GRU over SMILES tokens."""

    CELL = nn.GRU
    MODEL_TYPE = "smiles_gru"


class SmilesLstm(Recurrent):
    """An LSTM over SMILES tokens; of 3 layers of 512 it is REINVENT's network (Blaschke et al., JCIM 2020)."""

    CELL = nn.LSTM
    MODEL_TYPE = "smiles_lstm"


NETWORKS: dict[str, type[Recurrent]] = {network.MODEL_TYPE: network for network in (SmilesGru, SmilesLstm)}
