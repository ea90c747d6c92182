"""Makes `torch_gru/` and `torch_lstm/`: tiny random model packs and the logits that PyTorch computes with them.

Run it in this folder with torch and safetensors installed; SOURCES.md says with which versions it was run.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

TOKENS = ["<pad>", "<bos>", "<eos>", "C", "c", "1", "O", "(", ")"]
EMBEDDING, HIDDEN, LAYERS = 6, 20, 2
# Of unlike lengths: a batch has to score each as it would be scored alone.
STRINGS = [[1, 3, 3, 6, 2], [1, 4, 5, 4, 4, 4, 4, 4, 5, 2], [1, 3, 7, 6, 8, 3, 2], [1, 2]]


class Model(torch.nn.Module):
    """The architecture of the packs: embedding, GRU or LSTM, linear output."""

    def __init__(self, layers):
        super().__init__()
        self.embedding = torch.nn.Embedding(len(TOKENS), EMBEDDING)
        self.rnn = layers(EMBEDDING, HIDDEN, LAYERS, batch_first=True)
        self.out = torch.nn.Linear(HIDDEN, len(TOKENS))

    def forward(self, tokens):
        return self.out(self.rnn(self.embedding(tokens))[0])


def write(folder, name, value):
    Path(folder, name).write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def make(kind, layers):
    folder = f"torch_{kind}"
    torch.manual_seed(1)
    model = Model(layers)
    for weights in model.parameters():
        # Wide enough that the gates leave their linear range.
        torch.nn.init.normal_(weights, std=0.7)
    with torch.no_grad():
        logits = [model(torch.tensor([string]))[0].tolist() for string in STRINGS]

    Path(folder).mkdir(exist_ok=True)
    save_file(model.state_dict(), f"{folder}/model.safetensors")
    write(folder, "config.json", {
        "model_type": f"smiles_{kind}", "vocab_size": len(TOKENS), "embedding_size": EMBEDDING,
        "hidden_size": HIDDEN, "num_layers": LAYERS, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
    })
    write(folder, "generation_config.json", {"temperature": 1.0, "top_p": 1.0, "max_length": 40})
    write(folder, "metadata.json", {"id": folder, "description": "Random weights, for tests", "relative_cost": 1.0})
    write(folder, "tokenizer.json", {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [
            {"id": n, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
             "special": True} for n, text in enumerate(TOKENS[:3])
        ],
        "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": {text: n for n, text in enumerate(TOKENS)}, "unk_token": "<unk>"},
    })
    write(folder, "logits.json", {"strings": STRINGS, "logits": logits})


def main():
    make("gru", torch.nn.GRU)
    make("lstm", torch.nn.LSTM)


if __name__ == "__main__":
    main()
