"""Writes logits_bytes.json into each pack: its logits with weights and states rounded to bytes, in f64."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

PACKS = [Path(__file__).with_name(name) for name in ("torch_gru", "torch_lstm")]


def rounded_rows(weights: np.ndarray) -> np.ndarray:
    """Rounds each row to multiples of a part of 127 of its greatest weight."""
    scale = np.abs(weights).max(1, keepdims=True) / 127
    return np.round(weights / scale) * scale


def rounded_columns(table: np.ndarray) -> np.ndarray:
    """Rounds each column to multiples of a part of 254 of its range, from the middle."""
    least, largest = table.min(0), table.max(0)
    middle, scale = (least + largest) / 2, (largest - least) / 254
    return np.round((table - middle) / scale) * scale + middle


def rounded(state: np.ndarray) -> np.ndarray:
    """Rounds states to multiples of 1/127."""
    return np.round(state * 127) / 127


def sigmoid(x: np.ndarray) -> np.ndarray:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def gru(given: np.ndarray, kept: np.ndarray, state: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gives the next hidden state of a GRU, which has no cells."""
    (xr, xz, xn), (hr, hz, hn) = given.reshape(3, -1), kept.reshape(3, -1)
    update, new = sigmoid(xz + hz), np.tanh(xn + sigmoid(xr + hr) * hn)
    return new + update * (state - new), cell


def lstm(given: np.ndarray, kept: np.ndarray, state: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gives the next hidden state and the next cells of an LSTM."""
    i, f, g, o = (given + kept).reshape(4, len(state))
    cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(cell), cell


CELLS = {"smiles_gru": gru, "smiles_lstm": lstm}


def logits(weights: dict[str, np.ndarray], tokens: list[int], config: dict) -> list[list[float]]:
    """Scores the next token after each one."""
    states = np.zeros((config["num_layers"], config["hidden_size"]))
    cells = np.zeros_like(states)
    # The hidden biases of gates r and z, and of an LSTM's, are in the first layer's table; that of gate n is not.
    outer = np.arange(len(weights["rnn.bias_hh_l0"])) < (2 if config["model_type"] == "smiles_gru" else 4) * states.shape[1]
    bias = weights["rnn.bias_ih_l0"] + outer * weights["rnn.bias_hh_l0"]
    table = rounded_columns(weights["embedding.weight"] @ weights["rnn.weight_ih_l0"].T + bias) - outer * weights["rnn.bias_hh_l0"]
    rows = []
    for token in tokens:
        for n in range(len(states)):
            if n == 0:
                given = table[token]
            else:
                given = rounded_rows(weights[f"rnn.weight_ih_l{n}"]) @ rounded(states[n - 1]) + weights[f"rnn.bias_ih_l{n}"]
            kept = rounded_rows(weights[f"rnn.weight_hh_l{n}"]) @ rounded(states[n]) + weights[f"rnn.bias_hh_l{n}"]
            states[n], cells[n] = CELLS[config["model_type"]](given, kept, states[n], cells[n])
        rows.append((rounded_rows(weights["out.weight"]) @ rounded(states[-1]) + weights["out.bias"]).tolist())
    return rows


def main() -> None:
    """Writes the files."""
    for pack in PACKS:
        weights = {name: array.astype(np.float64) for name, array in load_file(pack / "model.safetensors").items()}
        config = json.loads((pack / "config.json").read_text())
        strings = json.loads((pack / "logits.json").read_text())["strings"]
        found = {"strings": strings, "logits": [logits(weights, tokens, config) for tokens in strings]}
        (pack / "logits_bytes.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
