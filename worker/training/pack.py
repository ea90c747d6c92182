"""Language model packs: writing one from a checkpoint, reading one, sampling from it.

The decision that matters: a pack has Hugging Face's file names and PyTorch's weight names, so that it explains itself
to anyone's tools. Weights are f16, which halves the file and changes no sampled token in practice.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors
from torch import nn

import corpus
import metadata
from generator_model import NETWORKS, Recurrent

BATCH = 2500


def tokenizer(vocabulary: list[str]) -> Tokenizer:
    """Makes the tokenizer that cuts into the longest tokens and decodes by plain concatenation."""
    made = Tokenizer(models.WordLevel({token: i for i, token in enumerate(vocabulary)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(corpus.pattern(vocabulary)), behavior="isolated")
    made.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", special_tokens=[("<bos>", corpus.BOS), ("<eos>", corpus.EOS)]
    )
    made.decoder = decoders.Fuse()
    made.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in corpus.SPECIALS])
    return made


def write(folder: Path, model: Recurrent, vocabulary: list[str], temperature: float, max_length: int) -> None:
    """Writes everything of a pack but its metadata and its card."""
    folder.mkdir(parents=True, exist_ok=True)
    ids = {"bos_token_id": corpus.BOS, "eos_token_id": corpus.EOS, "pad_token_id": corpus.PAD}
    metadata.write_json(folder / "config.json", {"model_type": model.MODEL_TYPE, **model.shape(), **ids})
    metadata.write_json(
        folder / "generation_config.json",
        {"temperature": temperature, "top_p": 1.0, "max_length": max_length, "constrained": True},
    )
    tokenizer(vocabulary).save(str(folder / "tokenizer.json"), pretty=True)
    save_file(
        {name: value.half().contiguous() for name, value in model.state_dict().items()}, folder / "model.safetensors"
    )
    (folder / "model.safetensors").chmod(0o644)


def read(folder: Path) -> tuple[Recurrent, Tokenizer]:
    """Reads the network, in f32, and the tokenizer of a pack."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model = NETWORKS[config["model_type"]](*(config[key] for key in ("vocab_size", "embedding_size", "hidden_size", "num_layers")))
    model.load_state_dict({name: value.float() for name, value in load_file(folder / "model.safetensors").items()})
    model.eval()
    return model, Tokenizer.from_file(str(folder / "tokenizer.json"))


def sample(
    model: Recurrent, vocabulary: Tokenizer, n_strings: int, temperature: float, max_length: int, seed: int,
    *, bfloat16: bool = True,
) -> list[str]:
    """Draws raw strings; one that does not end within `max_length` tokens is kept as far as it got.

    Matrix products run in bfloat16, as in training, or in f32.
    """
    drawn = draw(model, n_strings, temperature, max_length, torch.Generator().manual_seed(seed), bfloat16=bfloat16)
    return vocabulary.decode_batch(drawn)


@torch.no_grad()
def draw(
    model: nn.Module, n_strings: int, temperature: float, max_length: int, generator: torch.Generator,
    *, bfloat16: bool = True,
) -> list[list[int]]:
    """Draws the tokens of raw strings, without <bos> and <eos>, from a network that has `Recurrent.step`."""
    strings: list[list[int]] = []
    while len(strings) < n_strings:
        n_rows = min(BATCH, n_strings - len(strings))
        drawn: list[list[int]] = [[] for _ in range(n_rows)]
        rows = torch.arange(n_rows)
        token = torch.full((n_rows,), corpus.BOS)
        state = None
        for _ in range(max_length):
            with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
                scores, state = model.step(token, state)
            scores = scores.float() / temperature
            scores[:, [corpus.PAD, corpus.BOS]] = -torch.inf
            token = torch.multinomial(scores.softmax(1), 1, generator=generator)[:, 0]
            going_on = token != corpus.EOS
            rows, token, state = rows[going_on], token[going_on], [part[going_on] for part in state]
            for row, index in zip(rows.tolist(), token.tolist(), strict=True):
                drawn[row].append(index)
            if not len(rows):
                break
        strings.extend(drawn)
    return strings
