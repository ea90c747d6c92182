"""Writes torch_gru/logits_bytes.json: the logits that torch_gru has with weights and states rounded to bytes, in f64."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

PACK = Path(__file__).with_name("torch_gru")


def rounded_rows(weights: np.ndarray) -> np.ndarray:
    """Rounds each row to multiples of a part of 127 of its greatest weight."""
    scale = np.abs(weights).max(1, keepdims=True) / 127
    return np.round(weights / scale) * scale


def rounded(state: np.ndarray) -> np.ndarray:
    """Rounds states to multiples of 1/127."""
    return np.round(state * 127) / 127


def sigmoid(x: np.ndarray) -> np.ndarray:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def logits(weights: dict[str, np.ndarray], tokens: list[int], layers: int) -> list[list[float]]:
    """Scores the next token after each one."""
    size = weights["out.weight"].shape[1]
    states = [np.zeros(size) for _ in range(layers)]
    rows = []
    for token in tokens:
        for n in range(layers):
            # The first layer's input is a table, which is not rounded.
            into = weights[f"rnn.weight_ih_l{n}"]
            given = into @ weights["embedding.weight"][token] if n == 0 else rounded_rows(into) @ rounded(states[n - 1])
            given = given + weights[f"rnn.bias_ih_l{n}"]
            kept = rounded_rows(weights[f"rnn.weight_hh_l{n}"]) @ rounded(states[n]) + weights[f"rnn.bias_hh_l{n}"]
            (xr, xz, xn), (hr, hz, hn) = given.reshape(3, size), kept.reshape(3, size)
            update, new = sigmoid(xz + hz), np.tanh(xn + sigmoid(xr + hr) * hn)
            states[n] = new + update * (states[n] - new)
        rows.append((rounded_rows(weights["out.weight"]) @ rounded(states[-1]) + weights["out.bias"]).tolist())
    return rows


def main() -> None:
    """Writes the file."""
    weights = {name: array.astype(np.float64) for name, array in load_file(PACK / "model.safetensors").items()}
    layers = json.loads((PACK / "config.json").read_text())["num_layers"]
    strings = json.loads((PACK / "logits.json").read_text())["strings"]
    found = {"strings": strings, "logits": [logits(weights, tokens, layers) for tokens in strings]}
    (PACK / "logits_bytes.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
