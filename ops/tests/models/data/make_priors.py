"""Makes `priors/`: files as REINVENT saves them, good, broken and harmful, and `priors/logits.json`.

REINVENT itself is not needed: classes of its module names stand in for its own, so that the pickles name them alike.
Run it in this folder: make_priors.py MOLECULES.smi.gz; SOURCES.md says with which versions it was run, on what.
"""

import gzip
import json
import os
import re
import shutil
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path

import torch

OUT = Path("priors")
TOKEN = re.compile(r"\[[^\]]*\]|%\d{2}|Br|Cl|.")


def stand_in(module, name, body):
    """A class that pickles as `module.name`."""
    parts = module.split(".")
    for n in range(len(parts)):
        path = ".".join(parts[: n + 1])
        sys.modules.setdefault(path, types.ModuleType(path))
    made = type(name, (), {**body, "__module__": module})
    setattr(sys.modules[module], name, made)
    return made


def vocabulary_init(self, tokens):
    self._tokens = {}
    for n, token in enumerate(tokens):
        self._tokens[token] = n
        self._tokens[n] = token
    self._current_id = len(tokens)


MODULE = "reinvent.models.reinvent.models.vocabulary"
Vocabulary = stand_in(MODULE, "Vocabulary", {"__init__": vocabulary_init})
SMILESTokenizer = stand_in(MODULE, "SMILESTokenizer", {})
ModelMetaData = stand_in("reinvent.models.meta_data", "ModelMetaData", {})


class RNN(torch.nn.Module):
    """REINVENT's network, by its names."""

    def __init__(self, vocabulary, size, layers, cell, embedding):
        super().__init__()
        self._embedding = torch.nn.Embedding(vocabulary, embedding)
        self._rnn = getattr(torch.nn, cell.upper())(embedding, size, layers, batch_first=True)
        self._linear = torch.nn.Linear(size, vocabulary)

    def forward(self, tokens):
        return self._linear(self._rnn(self._embedding(tokens))[0])


def molecules(file):
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        small = [line.split()[0] for line in lines]
    return [smiles for smiles in small if len(smiles) <= 24 and "." not in smiles][:20000]


def train(model, strings, steps):
    """Long enough that many of its strings are molecules."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        batch = [strings[n] for n in torch.randint(len(strings), (128,))]
        tokens = torch.nn.utils.rnn.pad_sequence([torch.tensor(s) for s in batch], True, -100)
        logits = model(tokens[:, :-1].clamp(min=0))
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    print(f"loss {loss.item():.3f} nats a token")


def saved(model, tokens, cell, size, layers, embedding, **more):
    """As `Model.get_save_dict` of REINVENT 4 lays it out."""
    metadata = ModelMetaData()
    metadata.__dict__.update(
        hash_id="0123", hash_id_format="xxhash.xxh3_128_hex 3.4.1", model_id="tiny",
        origina_data_source="A few small molecules", creation_date=1.7e9, updates=[1.7e9, 1.8e9],
        comments=["For tests\nonly"])
    dictionary = {"tokens": {token: n for n, token in enumerate(tokens)}, "pad_token": 0, "bos_token": 1,
                  "eos_token": 2, "unk_token": None}
    return {
        "model_type": "Reinvent", "version": 1, "metadata": metadata, "vocabulary": dictionary,
        "tokenizer": SMILESTokenizer(), "max_sequence_length": 64, "network": model.state_dict(),
        "network_params": {"dropout": 0.0, "layer_size": size, "num_layers": layers, "cell_type": cell,
                           "embedding_layer_size": embedding, "layer_normalization": False},
        **more,
    }


def good(name, cell, smiles, **more):
    letters = sorted({token for string in smiles for token in TOKEN.findall(string)})
    tokens = ["$", "^"] + letters
    ids = {token: n for n, token in enumerate(tokens)}
    strings = [[1] + [ids[token] for token in TOKEN.findall(string)] + [0] for string in smiles]
    size, layers, embedding = 24, 3, 8
    torch.manual_seed(1)
    model = RNN(len(tokens), size, layers, cell, embedding)
    train(model, strings, 1500)
    content = saved(model, tokens, cell, size, layers, embedding)
    if name == "gru":
        # As REINVENT 2 and 3 saved it: an object, no type, no metadata.
        content["vocabulary"] = Vocabulary(tokens)
        for key in ("model_type", "metadata", "version"):
            del content[key]
    torch.save(content, OUT / f"{name}.prior")
    with torch.no_grad():
        logits = model(torch.tensor([strings[0]]))[0].tolist()
    return {"string": strings[0], "logits": [[round(number, 5) for number in row] for row in logits]}


class Harm:
    def __reduce__(self):
        return os.system, ("touch harmed",)


def broken():
    """Tiny files, each with one fault."""
    tokens = ["$", "^", "C", "N", "O"]

    def save(name, change=lambda content: None, **more):
        torch.manual_seed(2)
        content = saved(RNN(5, 4, 1, "lstm", 3), tokens, "lstm", 4, 1, 3, **more)
        change(content)
        torch.save(content, OUT / f"{name}.prior")

    def network(name, change):
        save(name, lambda content: change(content["network"]))

    def put(key, value):
        return lambda content: content.__setitem__(key, value)

    save("harmful", put("comment", Harm()))
    save("libinvent", put("model_type", "Libinvent"))
    save("normalised", lambda content: content["network_params"].update(layer_normalization=True))
    save("another_cell", lambda content: content["network_params"].update(cell_type="gru"))
    save("another_size", lambda content: content["network_params"].update(layer_size=5))
    save("no_end", put("vocabulary", {"tokens": {"€": 0, "^": 1, "C": 2, "N": 3, "O": 4}}))
    save("no_order", put("vocabulary", {"tokens": {"$": 0, "^": 1, "C": 2, "N": 7, "O": 4}}))
    save("few_tokens", put("vocabulary", {"tokens": {"$": 0, "^": 1, "C": 2}}))
    save("no_network", lambda content: content.pop("network"))
    network("no_bias", lambda tensors: tensors.pop("_rnn.bias_hh_l0"))
    network("spare", put("_rnn.weight_ih_l0_reverse", torch.zeros(16, 3)))
    network("turned", put("_linear.weight", torch.zeros(4, 5).t()))
    network("whole_numbers", put("_linear.bias", torch.zeros(5, dtype=torch.int64)))
    network("not_a_number", put("_linear.bias", torch.full((5,), float("nan"))))
    network("not_a_tensor", put("_linear.bias", [0.0] * 5))
    network("expanded", put("_linear.weight", torch.zeros(1, 1).expand(5, 4)))
    torch.save([1, 2, 3], OUT / "a_list.prior")
    torch.save({"vocabulary": {"tokens": {}}}, OUT / "old.prior", _use_new_zipfile_serialization=False)

    # The same file packed: nothing that torch writes, and a way to make a small file large.
    save("plain")
    with zipfile.ZipFile(OUT / "plain.prior") as plain:
        with zipfile.ZipFile(OUT / "packed.prior", "w", zipfile.ZIP_DEFLATED) as packed:
            for name in plain.namelist():
                packed.writestr(zipfile.ZipInfo(name), plain.read(name), zipfile.ZIP_DEFLATED)
        with zipfile.ZipFile(OUT / "short_storage.prior", "w") as short:
            for name in plain.namelist():
                content = plain.read(name)
                short.writestr(zipfile.ZipInfo(name), content[:-4] if "/data/" in name else content)
        with zipfile.ZipFile(OUT / "big_endian.prior", "w") as big:
            for name in plain.namelist():
                big.writestr(zipfile.ZipInfo(name), b"big" if "byteorder" in name else plain.read(name))
    (OUT / "plain.prior").unlink()


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    torch.set_num_threads(1)
    smiles = molecules(sys.argv[1])
    print(len(smiles), "molecules")
    expected = {name: good(name, name, smiles) for name in ("lstm", "gru")}
    (OUT / "logits.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")
    broken()


if __name__ == "__main__":
    main()
