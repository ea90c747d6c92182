"""The GRU layer of `gru_layer.cpp` as an autograd function, built at first use.

The decision that matters: it computes what `torch.nn.GRU` computes, from the same parameters, so a run may change
between the two at any checkpoint; `python fast_gru.py` checks their agreement and measures both.
"""

import functools
import time
from pathlib import Path
from types import ModuleType

import torch
from torch.nn import functional
from torch.utils import cpp_extension

from generator_model import SmilesGru


@functools.cache
def _extension() -> ModuleType:
    return cpp_extension.load(
        "gru_layer",
        [str(Path(__file__).with_name("gru_layer.cpp"))],
        extra_cflags=["-O3", "-march=native", "-ffast-math", "-mprefer-vector-width=512"],
    )


class _Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tokens, table, weight, bias):  # noqa: ANN001, ANN205 (autograd's own signature)
        weight_t = weight.bfloat16().t().contiguous()
        states, saved = _extension().forward(tokens, table.bfloat16(), weight_t, bias.bfloat16())
        ctx.save_for_backward(tokens, states, saved, weight_t)
        ctx.vocab = len(table)
        return states[1:]

    @staticmethod
    def backward(ctx, grad):  # noqa: ANN001, ANN205
        tokens, states, saved, weight_t = ctx.saved_tensors
        table, weight_grad, bias = _extension().backward(
            grad.bfloat16().contiguous(), tokens, states, saved, weight_t, ctx.vocab
        )
        return None, table, weight_grad, bias


def logits(model: SmilesGru, tokens: torch.Tensor) -> torch.Tensor:
    """Scores the next token after each position, like the model itself but time first: `[time, batch, vocab]` f32."""
    if model.rnn.num_layers != 1:
        raise ValueError("the fast layer is for one-layer models")
    rnn = model.rnn
    table = functional.linear(model.embedding.weight, rnn.weight_ih_l0, rnn.bias_ih_l0)
    states = _Layer.apply(tokens.t().contiguous(), table, rnn.weight_hh_l0, rnn.bias_hh_l0)
    with torch.autocast("cpu", torch.bfloat16):
        return model.out(states).float()


def main() -> None:
    """Compares values, gradients and speed of the two layers."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = SmilesGru(48, 128, 512)
    tokens = torch.randint(3, 48, (512, 50))
    weights = torch.randn(512, 50, 48)

    def slow() -> torch.Tensor:
        return model(tokens)

    def slow_bf16() -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return model(tokens).float()

    def fast() -> torch.Tensor:
        return logits(model, tokens).transpose(0, 1)

    gradients = []
    for name, run in (("nn.GRU f32", slow), ("nn.GRU bf16", slow_bf16), ("fast", fast)):
        for attempt in range(2):
            began = time.monotonic()
            model.zero_grad()
            value = run()
            (value * weights).sum().backward()
            took = time.monotonic() - began
        gradients.append([p.grad.clone() for p in model.parameters()])
        worst = max(
            float((a - b).norm() / a.norm()) for a, b in zip(gradients[0], gradients[-1], strict=True)
        )
        print(f"{name}: {tokens.numel() / took:.0f} tokens/s, worst relative gradient error {worst:.4f}")


if __name__ == "__main__":
    main()
