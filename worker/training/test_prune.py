"""What pruning a pack promises, on a toy pack."""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import prepare_templates
import prune_library

SOUND = "([C:1]-[CH2;D2;+0:2]-[OH;D1;+0:3])>>[C:1]-[CH;D2;+0:2]=[O;H0;D1;+0:3]"
WRONG = "([C:2]-[CH2;D2;+0:1]-[CH2;D2;+0:3]-[C:4])>>(Br-[CH2;D2;+0:1]-[C:2].I-[CH2;D2;+0:3]-[C:4])"
ESTER = "([C:1]-[C:2](=[O;D1;H0:3])-[OH;D1;+0:4])>>C-[O;H0;D2;+0:4]-[C:2](-[C:1])=[O;D1;H0:3]"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """Gives a pack of three templates, the second of which is refused."""
    prepare_templates.write_library(tmp_path / "templates.csv.gz", [(text, text, 2) for text in (SOUND, WRONG, ESTER)])
    rows = np.arange(3, dtype=np.int8)[:, None]
    scale = np.arange(3, dtype=np.float32)
    policy = {"layer1.bias": scale, "layer2.weight": rows, "layer2.scale": scale, "layer2.bias": scale}
    save_file(policy, tmp_path / "policy.safetensors", metadata={"activation": "elu"})
    save_file({"template.weight": rows, "template.scale": scale, "bond.weight": scale}, tmp_path / "sites.safetensors")
    bits = np.arange(5, dtype=np.uint8)[:, None]
    save_file({"starts": np.array([0, 2, 3, 5], np.uint32), "bits": bits}, tmp_path / "precedents.safetensors")
    with gzip.open(tmp_path / "evidence.tsv.gz", "wt", encoding="utf-8") as out:
        out.write("0\t7\tUS1\t1:5\n1\t2\t\t\n2\t3\tUS2\t\n")
    (tmp_path / "config.json").write_text('{"n_templates": 3, "hidden_size": 1}', encoding="utf-8")
    metadata = {"architecture": "Morgan -> 3 templates", "templates": {"extracted": 3, "by_hand": 0}}
    (tmp_path / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    return tmp_path


def prune(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the script on a pack, with a hand-written file of one template."""
    by_hand = pack / "by_hand.tsv"
    by_hand.write_text(f"ester\t6\t{prepare_templates.plain(ESTER)}\tCC(=O)O\tCOC(C)=O\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["prune_library.py", "--pack", str(pack), "--by-hand", str(by_hand)])
    prune_library.main()


def test_a_refused_template_leaves_every_file_of_the_pack(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prune(pack, monkeypatch)

    policy, sites = load_file(pack / "policy.safetensors"), load_file(pack / "sites.safetensors")
    precedents = load_file(pack / "precedents.safetensors")
    assert prepare_templates.read_counted(pack / "templates.csv.gz") == [(SOUND, 2), (ESTER, 2)]
    assert policy["layer2.weight"].tolist() == [[0], [2]] and policy["layer1.bias"].tolist() == [0, 1, 2]
    assert policy["layer2.scale"].tolist() == policy["layer2.bias"].tolist() == [0, 2]
    assert sites["template.weight"].tolist() == [[0], [2]] and sites["bond.weight"].tolist() == [0, 1, 2]
    assert precedents["starts"].tolist() == [0, 2, 4] and precedents["bits"].ravel().tolist() == [0, 1, 3, 4]
    assert gzip.decompress((pack / "evidence.tsv.gz").read_bytes()).decode() == "0\t7\tUS1\t1:5\n1\t3\tUS2\t\n"
    assert json.loads((pack / "config.json").read_text())["n_templates"] == 2
    metadata = json.loads((pack / "metadata.json").read_text())
    assert metadata == {"architecture": "Morgan -> 2 templates", "templates": {"extracted": 1, "by_hand": 1}}


def test_pruning_twice_changes_nothing(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prune(pack, monkeypatch)
    once = {path.name: path.read_bytes() for path in pack.iterdir()}

    prune(pack, monkeypatch)

    assert {path.name: path.read_bytes() for path in pack.iterdir()} == once
