"""Language model packs: writing one from a checkpoint, reading one, sampling from it.

The decision that matters: a pack has Hugging Face's file names and PyTorch's weight names, so that it explains itself
to anyone's tools. Weights are f16, which halves the file and changes no sampled token in practice.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors

import corpus
from generator_model import SmilesGru

BATCH = 2500


def tokenizer(vocabulary: list[str]) -> Tokenizer:
    """Makes the tokenizer that splits as `corpus.tokenize` does and decodes by plain concatenation."""
    made = Tokenizer(models.WordLevel({token: i for i, token in enumerate(vocabulary)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(corpus.TOKEN_PATTERN), behavior="isolated")
    made.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", special_tokens=[("<bos>", corpus.BOS), ("<eos>", corpus.EOS)]
    )
    made.decoder = decoders.Fuse()
    made.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in corpus.SPECIALS])
    return made


def write_json(path: Path, value: dict) -> None:
    """Writes indented JSON with a final newline."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write(folder: Path, model: SmilesGru, vocabulary: list[str], temperature: float, max_length: int) -> None:
    """Writes everything of a pack but its metadata and its card."""
    folder.mkdir(parents=True, exist_ok=True)
    ids = {"bos_token_id": corpus.BOS, "eos_token_id": corpus.EOS, "pad_token_id": corpus.PAD}
    write_json(folder / "config.json", {"model_type": "smiles_gru", **model.shape(), **ids})
    write_json(
        folder / "generation_config.json",
        {"temperature": temperature, "top_p": 1.0, "max_length": max_length, "constrained": True},
    )
    tokenizer(vocabulary).save(str(folder / "tokenizer.json"), pretty=True)
    save_file(
        {name: value.half().contiguous() for name, value in model.state_dict().items()}, folder / "model.safetensors"
    )
    (folder / "model.safetensors").chmod(0o644)


def read(folder: Path) -> tuple[SmilesGru, Tokenizer]:
    """Reads the network, in f32, and the tokenizer of a pack."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model = SmilesGru(*(config[key] for key in ("vocab_size", "embedding_size", "hidden_size", "num_layers")))
    model.load_state_dict({name: value.float() for name, value in load_file(folder / "model.safetensors").items()})
    model.eval()
    return model, Tokenizer.from_file(str(folder / "tokenizer.json"))


@torch.no_grad()
def sample(
    model: SmilesGru, vocabulary: Tokenizer, n_strings: int, temperature: float, max_length: int, seed: int,
    *, bfloat16: bool = True,
) -> list[str]:
    """Draws raw strings; one that does not end within `max_length` tokens is kept as far as it got.

    Matrix products run in bfloat16, as in training, or in f32.
    """
    generator = torch.Generator().manual_seed(seed)
    strings: list[str] = []
    while len(strings) < n_strings:
        n_rows = min(BATCH, n_strings - len(strings))
        drawn: list[list[int]] = [[] for _ in range(n_rows)]
        rows = torch.arange(n_rows)
        token = torch.full((n_rows, 1), corpus.BOS)
        state = None
        for _ in range(max_length):
            with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
                hidden, state = model.rnn(model.embedding(token), state)
                scores = model.out(hidden[:, 0])
            scores = scores.float() / temperature
            scores[:, [corpus.PAD, corpus.BOS]] = -torch.inf
            token = torch.multinomial(scores.softmax(1), 1, generator=generator)
            going_on = token[:, 0] != corpus.EOS
            rows, token, state = rows[going_on], token[going_on], state[:, going_on]
            for row, index in zip(rows.tolist(), token[:, 0].tolist(), strict=True):
                drawn[row].append(index)
            if not len(rows):
                break
        strings.extend(vocabulary.decode_batch(drawn))
    return strings
