"""What the scripts promise, on toys: no data folder is needed. Run with `pytest`."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from rdkit import Chem

import building_blocks
import corpus
import demo_catalogue
import evaluate
import extract_templates
import pack
import prepare_templates
from generator_model import SmilesGru

MOLECULES = ["CCO", "c1ccccc1Br", "C[C@@H](N)C(=O)O", "ClCC%10CC%10", "O=[N+]([O-])c1ccccc1"]


def test_tokens_concatenate_to_the_string() -> None:
    for smiles in MOLECULES:
        assert "".join(corpus.tokenize(smiles)) == smiles
    assert corpus.tokenize("ClC%10[C@@H]Br") == ["Cl", "C", "%10", "[C@@H]", "Br"]


def test_molecules_with_rare_tokens_are_left_out() -> None:
    vocabulary = corpus.build_vocabulary(["CCO", "CO", "CN"], min_molecules=2)

    encoded = corpus.encode(["CCO", "CN"], vocabulary, max_tokens=10)

    assert vocabulary == ["<pad>", "<bos>", "<eos>", "C", "O"]
    assert encoded.ids.tolist() == [1, 3, 3, 4, 2]


def test_an_epoch_has_every_molecule_once() -> None:
    encoded = corpus.encode(["C" * n for n in range(1, 30)], corpus.SPECIALS + ["C"], max_tokens=40)

    lengths = [int((row == 3).sum()) for batch in encoded.batches(4, np.random.default_rng(0)) for row in batch]

    assert sorted(lengths) == list(range(1, 30))


def test_a_pack_reads_back_and_its_tokenizer_round_trips(tmp_path: Path) -> None:
    torch.manual_seed(0)
    vocabulary = corpus.build_vocabulary(MOLECULES, min_molecules=1)
    model = SmilesGru(len(vocabulary), 4, 8)

    pack.write(tmp_path, model, vocabulary, temperature=0.9, max_length=20)
    read, tokenizer = pack.read(tmp_path)

    tokens = torch.tensor([[1, 3, 4, 5]])
    assert torch.allclose(read(tokens), model(tokens), atol=1e-2)
    for smiles in MOLECULES:
        ids = tokenizer.encode(smiles).ids
        assert (ids[0], ids[-1]) == (corpus.BOS, corpus.EOS)
        assert tokenizer.decode(ids) == smiles
    assert json.loads((tmp_path / "config.json").read_text())["hidden_size"] == 8


def test_sampling_follows_its_seed(tmp_path: Path) -> None:
    vocabulary = corpus.build_vocabulary(MOLECULES, min_molecules=1)
    pack.write(tmp_path, SmilesGru(len(vocabulary), 4, 8), vocabulary, temperature=1.0, max_length=12)
    model, tokenizer = pack.read(tmp_path)

    first, again = (pack.sample(model, tokenizer, 5, 1.0, 12, seed=7) for _ in range(2))

    assert first == again
    assert len(first) == 5


def test_metrics_count_raw_strings() -> None:
    metrics = evaluate.measure(["CCO", "OCC", "c1ccccc1", "C(", ""], ["CCO", "CCN"])

    assert metrics["validity"] == 0.6
    assert metrics["uniqueness"] == pytest.approx(2 / 3, abs=1e-4)
    assert metrics["novelty"] == 0.5


def test_templates_are_grouped_and_lose_one_sided_maps() -> None:
    plain = "[C:1](=[O:2])-[N:3]>>[C:1](=[O:2])-[O:9].[N:3]"

    assert prepare_templates.grouped(plain) == "([C:1](=[O:2])-[N:3])>>([C:1](=[O:2])-[O].[N:3])"
    assert prepare_templates.grouped("[C:1]-[O:2]>>[C:1]=[O:2]") == "([C:1]-[O:2])>>[C:1]=[O:2]"
    assert prepare_templates.grouped("[C:1]>>[C:1].N.N.N") is None


def test_a_template_is_kept_for_the_reaction_it_gives_back() -> None:
    text = prepare_templates.grouped("[C:1](=[O:2])-[NH;D2:3]>>[C:1](=[O:2])-O.[NH2:3]")
    assert text is not None
    template = prepare_templates.compiled(text)
    assert template is not None

    assert prepare_templates.gives_back(template, "CC(=O)NC", "CC(=O)O.CN")
    assert not prepare_templates.gives_back(template, "CC(=O)NC", "CC(=O)Cl.CN")


def test_a_mapped_reaction_gives_its_template() -> None:
    reaction = "[CH3:1][C:2](=[O:3])O.[CH3:4][NH2:5]>>[CH3:1][C:2](=[O:3])[NH:5][CH3:4]"

    found = extract_templates.extract(("toy", reaction))

    assert found is not None
    assert found[:3] == ("toy", "CNC(C)=O", "CC(=O)O.CN")


def test_unmapped_products_have_no_template() -> None:
    assert extract_templates.extract(("toy", "[CH3:1]O>>[CH3:1]Cl")) is None


def test_enumerated_blocks_are_molecules() -> None:
    for smiles in list(building_blocks.enumerate_blocks())[::200]:
        assert Chem.MolFromSmiles(smiles) is not None, smiles


def test_the_catalogue_is_the_same_every_time_and_says_it_is_a_demo() -> None:
    first, again = (list(demo_catalogue.offers("Brc1ccccc1", 5, dict.fromkeys(("FFC", "IBB", "MUR", "ISD"), 0))) for _ in "ab")

    assert first == again
    assert 1 <= len(first) <= 3
    for offer in first:
        assert "(demo)" in offer["vendor_name"]
        assert offer["cs_url"].startswith("https://example.com/")
        assert offer["price_usd"] > 0


def test_what_a_reaction_makes_is_no_leaf(tmp_path: Path) -> None:
    path = tmp_path / "extracted.tsv.gz"
    with gzip.open(path, "wt") as out:
        out.write("a\tCCN\tCCBr.N\tx>>y\n" "a\tCCNC\tCCN.CI\tx>>y\n" "val\tCCl\tCO\tx>>y\n" "a\tCCC\tCS\tx>>y\n")

    leaves = demo_catalogue.reaction_leaves(path, {"val"}, {"CCC"}, 20)

    assert leaves == [("N", 1), ("CI", 1), ("CCBr", 1)]
