"""Language models that were compared with the shipped ones and that our engine does not run.

The decision that matters: they have the interface of `generator_model.Recurrent`, so one loop trains and samples all.
Both normalise before each layer and add what it gives to what they had.
"""

import math

import torch
from torch import nn
from torch.nn import functional

State = list[torch.Tensor]


class Attention(nn.Module):
    """Causal self-attention and a feed-forward layer (Vaswani et al., 2017)."""

    def __init__(self, size: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norm = nn.LayerNorm(size)
        self.qkv = nn.Linear(size, 3 * size)
        self.join = nn.Linear(size, size)
        self.forward_norm = nn.LayerNorm(size)
        self.feed_forward = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size))

    def forward(self, x: torch.Tensor, cache: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        """Maps `[batch, time, size]`; the cache of keys and values is `[batch, 2, heads, time before, size / heads]`."""
        batch, time, size = x.shape
        parts = self.qkv(self.norm(x)).view(batch, time, 3, self.n_heads, size // self.n_heads).permute(0, 2, 3, 1, 4)
        kept = parts[:, 1:] if cache is None else torch.cat([cache, parts[:, 1:]], 3)
        # Written out: the backward pass of PyTorch's own on CPUs takes longer than all the rest of a training step.
        scores = parts[:, 0] @ kept[:, 0].transpose(2, 3) / math.sqrt(size // self.n_heads)
        if cache is None:
            scores = scores.masked_fill(torch.ones(time, time, dtype=torch.bool).triu(1), -torch.inf)
        seen = scores.softmax(3).to(x.dtype) @ kept[:, 1]
        x = x + self.join(seen.transpose(1, 2).reshape(batch, time, size))
        return x + self.feed_forward(self.forward_norm(x)), kept


class MinimalGru(nn.Module):
    """A gated linear recurrence (minGRU of Feng et al., 2024): its gates see the input only, not the state."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.inner = nn.Linear(size, 3 * size)
        self.join = nn.Linear(size, size)

    def forward(self, x: torch.Tensor, state: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        """Maps `[batch, time, size]`; the state is `[batch, size]`."""
        update, value, gate = self.inner(self.norm(x)).float().transpose(0, 1).chunk(3, 2)
        state = torch.zeros_like(value[0]) if state is None else state
        states = []
        for z, v in zip(update.sigmoid().unbind(), value.unbind(), strict=True):
            state = torch.lerp(state, v, z)
            states.append(state)
        return x + self.join(torch.stack(states, 1) * functional.silu(gate.transpose(0, 1))), state


class Stacked(nn.Module):
    """Layers of one kind between an embedding and a head."""

    def __init__(self, vocab_size: int, size: int, layers: list[nn.Module]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, size)
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(size)
        self.out = nn.Linear(size, vocab_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores the next token after each position: `[batch, time]` to `[batch, time, vocab]` logits."""
        return self.scores(self.embedded(tokens, 0), [None] * len(self.layers))[0]

    def step(self, token: torch.Tensor, state: State | None) -> tuple[torch.Tensor, State]:
        """Scores what follows one more token of each string, as `generator_model.Recurrent.step` does."""
        x = self.embedded(token[:, None], self.n_before(state))
        logits, state = self.scores(x, state or [None] * len(self.layers))
        return logits[:, 0], state

    def embedded(self, tokens: torch.Tensor, _n_before: int) -> torch.Tensor:
        """Looks up the tokens; `_n_before` others came before them."""
        return self.embedding(tokens)

    def n_before(self, _state: State | None) -> int:
        """Counts the tokens behind a state, where that matters."""
        return 0

    def scores(self, x: torch.Tensor, states: list) -> tuple[torch.Tensor, State]:
        """Runs all layers and the head."""
        after = []
        for layer, state in zip(self.layers, states, strict=True):
            x, state = layer(x, state)
            after.append(state)
        return self.out(self.norm(x)), after


class SmilesTransformer(Stacked):
    """A decoder-only transformer with learned positions."""

    def __init__(self, vocab_size: int, size: int, num_layers: int, max_tokens: int, n_heads: int = 4) -> None:
        super().__init__(vocab_size, size, [Attention(size, n_heads) for _ in range(num_layers)])
        self.position_embedding = nn.Embedding(max_tokens, size)
        for table in (self.embedding, self.position_embedding):
            nn.init.normal_(table.weight, std=0.02)

    def embedded(self, tokens: torch.Tensor, n_before: int) -> torch.Tensor:
        """Looks up the tokens and their positions."""
        return self.embedding(tokens) + self.position_embedding(torch.arange(n_before, n_before + tokens.shape[1]))

    def n_before(self, state: State | None) -> int:
        """Counts the keys in the first layer's cache."""
        return state[0].shape[3] if state else 0


class SmilesMinGru(Stacked):
    """A stack of minimal GRUs."""

    def __init__(self, vocab_size: int, size: int, num_layers: int) -> None:
        super().__init__(vocab_size, size, [MinimalGru(size) for _ in range(num_layers)])
