"""What the scripts promise, on toys: no data folder is needed. Run with `pytest`."""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch
from rdkit import Chem

import atom_mapper
import building_blocks
import byte_pairs
import clean_reactions
import corpus
import demo_catalogue
import evaluate
import extend_library
import extract_templates
import fit_order
import flask_reactions
import held_out
import make_generator
import map_reactions
import mapped_pack
import metadata
import pack
import pack_policy
import policy_model
import precedents
import prepare_molecules
import prepare_templates
import prove_held_out
import reaction_centre
import reactions
import train_generator
import train_plausibility
import train_policy
import training_set
from generator_model import Recurrent, SmilesGru, SmilesLstm

HERE = Path(__file__).parent
AMIDE = "[C:1](=[O:2])-[NH;D2:3]>>[C:1](=[O:2])-O.[NH2:3]"
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


def toy_corpus() -> corpus.Corpus:
    return corpus.encode(MOLECULES, corpus.build_vocabulary(MOLECULES, min_molecules=1), max_tokens=40)


def test_the_commonest_pairs_become_tokens() -> None:
    data = corpus.encode(["CCCO", "CCC", "NO"], [*corpus.SPECIALS, "C", "N", "O"], max_tokens=10)

    texts = byte_pairs.vocabulary(data, 2, n_molecules=3)
    merged = byte_pairs.merged(np.array([3, 3, 3, 3, 3, 5]), 3, 3, 6)

    assert texts[6:] == ["CC", "CCC"]
    assert merged.tolist() == [6, 6, 3, 5]


def test_strings_are_cut_into_the_longest_tokens_and_no_atom_in_two() -> None:
    data = toy_corpus()
    texts = [*data.vocabulary, "CC", "ClC", "c1cccc"]

    recoded = byte_pairs.recoded(data, texts)
    tokenizer = pack.tokenizer(texts)

    for i, smiles in enumerate(MOLECULES):
        ids = recoded.ids[recoded.offsets[i] : recoded.offsets[i + 1]].tolist()
        assert "".join(texts[k] for k in ids[1:-1]) == smiles
        assert tokenizer.encode(smiles).ids == ids
    assert tokenizer.encode("CCl").tokens[1:-1] == ["C", "Cl"]
    assert tokenizer.encode("ClCCC").tokens[1:-1] == ["ClC", "CC"]


@pytest.mark.parametrize("model_type", [SmilesGru, SmilesLstm])
def test_a_model_scores_a_token_at_a_time_as_it_does_all_at_once(model_type: type[Recurrent]) -> None:
    torch.manual_seed(0)
    model = model_type(9, 4, 8, 2).eval()
    tokens = torch.randint(3, 9, (2, 6))

    state, scores = None, []
    with torch.no_grad():
        for token in tokens.unbind(1):
            score, state = model.step(token, state)
            scores.append(score)

        assert torch.allclose(torch.stack(scores, 1), model(tokens), atol=1e-4)


def test_a_training_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    data = (toy_corpus(), toy_corpus())
    out = tmp_path / "toy.pt"

    def run(budget: int) -> train_generator.Progress:
        model = SmilesGru(len(data[0].vocabulary), 4, 8)
        schedule = train_generator.Schedule(budget, "molecules", batch_size=2)
        return train_generator.train(model, train_generator.torch_loss_sum, data, schedule, out)

    first, again = run(10), run(20)

    assert (first.molecules, again.molecules) == (10, 20)
    assert again.tokens > first.tokens
    assert run(20) == again
    assert train_generator.load(out)[1] == data[0].vocabulary


def test_every_recipe_says_from_what_and_for_how_long() -> None:
    for name, facts in metadata.packs().items():
        assert set(facts["recipe"]) == {"subset", "tokens", "hidden_size", "cpu_minutes", "learning_rate"}, name
        assert facts["recipe"]["subset"] in prepare_molecules.SUBSETS
        assert facts["recipe"]["tokens"] in ("atoms", "pairs")


def test_a_recipe_is_made_from_molecules_to_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("train", "valid"):
        with gzip.open(tmp_path / f"{name}.smi.gz", "wt") as out:
            out.writelines(f"{smiles}\ttoy\n" for smiles in MOLECULES * 100)
    recipe = {"subset": "all", "tokens": "pairs", "hidden_size": 8, "cpu_minutes": 0.005, "learning_rate": 1e-3}
    monkeypatch.setattr(metadata, "packs", lambda: {"toy": {"recipe": recipe}})
    monkeypatch.setattr(make_generator.train_generator, "fast_loss_sum", train_generator.torch_loss_sum)

    checkpoint, longest = make_generator.trained("toy", tmp_path, tmp_path / "work")

    assert checkpoint == tmp_path / "work" / "toy.pt"
    assert any(len(text) > 5 for text in train_generator.load(checkpoint)[1])
    assert longest < 2 + max(len(corpus.tokenize(smiles)) for smiles in MOLECULES)
    assert make_generator.trained("toy", tmp_path, tmp_path / "work") == (checkpoint, longest)


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
    metrics = evaluate.measure(["CCO", "OCC", "c1ccccc1", "C(", ""], ["CCO", "CCN"], [])

    assert metrics["validity"] == 0.6
    assert metrics["uniqueness"] == pytest.approx(2 / 3, abs=1e-4)
    assert metrics["novelty"] == 0.5
    assert "kl_score" not in metrics


def test_the_kl_score_is_one_for_the_reference_itself() -> None:
    molecules = ["CCO", "c1ccccc1", "CCN", "CC(=O)O"]

    assert evaluate.kl_score(molecules, molecules) == pytest.approx(1.0)
    assert evaluate.kl_score(["CCO"] * 4, molecules) < 0.9


def test_properties_are_told_by_their_distributions() -> None:
    alone = evaluate.measure(["CCO", "CCCO", "CCCCO", "C("], [], [])["properties"]
    beside = evaluate.measure(["CCO", "CCCO", "CCCCO"], [], ["CCO", "CCCO", "CCCCO"])["properties"]

    assert list(alone) == [*evaluate.DESCRIPTORS, "heavy_atoms"]
    assert alone["heavy_atoms"] == {
        "mean": 4.0, "standard_deviation": 0.8165, "p05": 3.1, "p25": 3.5, "p50": 4.0, "p75": 4.5, "p95": 4.9
    }
    assert beside["molecular_weight"] == {**alone["molecular_weight"], "likeness": 1.0}


def test_figures_of_a_file_are_stored_beside_others(tmp_path: Path) -> None:
    metadata.write_json(tmp_path / "metadata.json", {"id": "m", "metrics": {"old": {"validity": 0.5}}})

    metadata.store(tmp_path, "new", {"validity": 0.9})

    stored = json.loads((tmp_path / "metadata.json").read_text(encoding="utf-8"))
    assert stored == {"id": "m", "metrics": {"old": {"validity": 0.5}, "new": {"validity": 0.9}}}


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_a_training_set_is_measured_as_the_console_does() -> None:
    measured = training_set.measured(["CCO", "c1ccccc1O", "C1CC(", "CC(=O)O"])
    weight, donors = (measured["properties"][name] for name in ("molecular_weight", "donors"))

    assert measured["n_molecules"] == 3
    assert (weight["p50"], weight["histogram"]) == (60.0518, {"start": 40, "width": 10, "counts": [1, 0, 1, 0, 0, 1]})
    assert (donors["mean"], donors["histogram"]) == (1.0, {"start": 0.5, "width": 1, "counts": [3]})


def test_a_corpus_gives_its_molecules_back() -> None:
    smiles = ["CCO", "Cl[C@H](Br)C", "c1ccccc1"]

    assert list(corpus.encode(smiles, corpus.build_vocabulary(smiles, 1), 100).smiles()) == smiles


def test_templates_are_grouped_and_lose_one_sided_maps() -> None:
    plain = "[C:1](=[O:2])-[N:3]>>[C:1](=[O:2])-[O:9].[N:3]"

    assert prepare_templates.grouped(plain) == "([C:1](=[O:2])-[N:3])>>([C:1](=[O:2])-[O].[N:3])"
    assert prepare_templates.grouped("[C:1]-[O:2]>>[C:1]=[O:2]") == "([C:1]-[O:2])>>[C:1]=[O:2]"
    assert prepare_templates.grouped("[C:1]>>[C:1].N.N.N.N") is None


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


def test_a_narrow_template_leaves_out_the_functional_groups_around_the_change() -> None:
    ester = "[CH3:1][NH2:2].Cl[CH2:3][C:4](=[O:5])[O:6][CH3:7]>>[CH3:1][NH:2][CH2:3][C:4](=[O:5])[O:6][CH3:7]"

    ((_, _, _, wide),), ((_, _, _, narrow),) = (extend_library.extracted([("toy", ester)], groups, 1) for groups in (True, False))

    expected = "[C;D1;H3:1]-[NH;D2;+0:2]-[CH2;D2;+0:3]-[C:4]>>Cl-[CH2;D2;+0:3]-[C:4].[C;D1;H3:1]-[NH2;D1;+0:2]"
    labels: dict[str, int] = {}
    assert ":5]" in wide
    assert prepare_templates.same_key(narrow, labels) == prepare_templates.same_key(expected, labels)


def test_only_what_is_rare_and_sane_is_looked_at_again() -> None:
    amide = "[C:1](=[O;D1;H0:2])-[NH;D2;+0:3]>>Cl-[C:1](=[O;D1;H0:2]).[NH2;D1;+0:3]"
    from_carbonate = "[c:2]-[O;H0;D2;+0:3]-[CH3;D1;+0:1]>>O-[C;H0;D3;+0:1](-[O-])=O.[c:2]-[OH;D1;+0:3]"
    labels: dict[str, int] = {}

    assert extend_library.is_left(amide, set(), labels)
    assert not extend_library.is_left(amide, {prepare_templates.same_key(amide, labels)}, labels)
    assert not extend_library.is_left(from_carbonate, set(), labels)


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


def test_what_many_reactions_use_is_a_leaf_though_one_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "extracted.tsv.gz"
    uses = "".join(f"a\tCCN{'C' * n}\tCCN.CBr\tx>>y\n" for n in range(1, 4))
    with gzip.open(path, "wt") as out:
        out.write("a\tCCN\tCCI\tx>>y\n" + uses + "a\tCBr\tCO\tx>>y\n" * 2)

    leaves = demo_catalogue.reaction_leaves(path, set(), set(), 20)

    assert leaves == [("CCN", 3), ("CO", 2), ("CCI", 1)]


def test_chemical_weapons_are_not_for_sale() -> None:
    joined = demo_catalogue.blocks(2, [("CN(CCCl)CCCl", 9), ("CCO", 1)], 0, ["CN(CCCl)CCCl.Cl"])

    assert "CCO" in joined
    assert not any("CN(CCCl)CCCl" in smiles.split(".") for smiles in joined)
    assert all(Chem.CanonSmiles(smiles) == smiles for smiles in demo_catalogue.NEVER_SOLD)


def test_what_a_reaction_makes_is_no_leaf(tmp_path: Path) -> None:
    path = tmp_path / "extracted.tsv.gz"
    with gzip.open(path, "wt") as out:
        out.write("a\tCCN\tCCBr.N\tx>>y\n" "a\tCCNC\tCCN.CI\tx>>y\n" "val\tCCl\tCO\tx>>y\n" "a\tCCC\tCS\tx>>y\n")

    leaves = demo_catalogue.reaction_leaves(path, {"val"}, {"CCC"}, 20)

    assert leaves == [("N", 1), ("CI", 1), ("CCBr", 1)]


def test_the_shelf_is_canonical_and_in_order() -> None:
    rows = [line.split("\t") for line in demo_catalogue.SHELF.read_text(encoding="utf-8").splitlines()[1:]]
    shelf = demo_catalogue.read_shelf(demo_catalogue.SHELF)

    assert shelf == [smiles for smiles, _, _ in rows]
    assert len(set(shelf)) == len(shelf)
    assert rows == sorted(rows, key=lambda row: (row[2], row[0]))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("CCO\tethanol", "not 3 columns"),
        ("CCO\tethanol\t", "not 3 columns"),
        ("C(C\tethane\talkanes", "no molecule"),
        ("C[Hg]C\tdimethylmercury\tmetals", "elements"),
    ],
)
def test_a_fault_in_the_shelf_is_told_with_its_line(tmp_path: Path, line: str, fault: str) -> None:
    path = tmp_path / "shelf.tsv"
    path.write_text(f"smiles\tname\tclass\nOCC\tethanol\talcohols\n{line}\n")

    with pytest.raises(ValueError, match=f"shelf.tsv, line 3: .*{fault}"):
        demo_catalogue.read_shelf(path)


def test_what_is_on_the_shelf_joins_the_catalogue() -> None:
    joined = demo_catalogue.blocks(1, [("N", 7)], 0, ["N", "OCCCCCCCCCCCCCCCCCO"])

    assert joined["N"] == 7
    assert joined["OCCCCCCCCCCCCCCCCCO"] == demo_catalogue.SHELF_OCCURRENCES


def test_one_template_written_twice_has_one_key() -> None:
    labels: dict[str, int] = {}
    other = "[NH;D2:7]-[C:5]=[O:6]>>[NH2:7].O-[C:5]=[O:6]"
    narrower = "[NH;D2:7]-[C:5]=[O:6]>>[NH2:7].Cl-[C:5]=[O:6]"

    keys = [prepare_templates.same_key(text, labels) for text in (AMIDE, other, narrower)]

    assert keys[0] == keys[1] != keys[2]


def test_templates_with_stereo_are_never_merged() -> None:
    text = "[C@:1](-[O:2])(-[N:3])-[C:4]>>[C@:1](-[O:2])(-[N:3])=[C:4]"

    assert prepare_templates.same_key(text, {}) == text


def test_every_template_written_by_hand_holds_for_its_example() -> None:
    good, refused = prepare_templates.read_by_hand(HERE / "medicinal_chemistry.tsv", {})

    assert refused == []
    assert len({text for _, text, _ in good}) == len(good) > 150


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("amide\t2\t" + AMIDE + "\tCNC(C)=O", "not name, class"),
        ("amide\t2\t[C:1](=[O:2])-[N>>[C:1]\tCNC(C)=O\tCN.CC(=O)O", "compiles"),
        ("amide\t2\t" + AMIDE + "\tCNC(C)=O\tCN.CC(=O)", "precursors"),
        ("amide\t2\t" + AMIDE + "\tCNC(C)=O\tCN(", "no pair of molecules"),
        ("forwards\t2\t[C:1](=[O:2])-O.[NH2:3]>>[C:1](=[O:2])-[NH;D2:3]\tCNC(C)=O\tCN.CC(=O)O", "precursors"),
    ],
)
def test_lines_that_do_not_hold_are_refused_with_their_number(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "by_hand.tsv"
    path.write_text("# a comment\n\n" + line + "\n", encoding="utf-8")

    good, refused = prepare_templates.read_by_hand(path, {})

    assert good == []
    assert refused[0].startswith("by_hand.tsv:3: ")
    assert reason in refused[0]


def test_a_repeated_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "by_hand.tsv"
    path.write_text(f"amide\t2\t{AMIDE}\tCNC(C)=O\tCN.CC(=O)O\n" * 2, encoding="utf-8")

    good, refused = prepare_templates.read_by_hand(path, {})

    assert [name for name, _, _ in good] == ["amide"]
    assert refused == ["by_hand.tsv:2: repeats an earlier template"]


def policy_examples(path: Path) -> train_policy.Examples:
    """Writes and reads two products: two atoms, two templates, the first at two sites; and one atom, a template nobody knows where."""
    arrays = {
        "atom_starts": np.array([0, 2, 3], np.uint64),
        "environments": np.arange(12, dtype=np.uint16).reshape(3, 4),
        "bond_starts": np.array([0, 2, 2], np.uint64),
        "bonds": np.array([[0, 1, 0], [1, 0, 0]], np.uint8),
        "bit_starts": np.array([0, 2, 3], np.uint64),
        "bits": np.array([5, 9, 7], np.uint16),
        "site_starts": np.array([0, 3, 3], np.uint64),
        "sites": np.array([[1, 0], [2, 0], [3, 0]], np.uint64),
        "match_starts": np.array([0, 2, 3], np.uint64),
        "match_templates": np.array([0, 2, 1], np.uint16),
        "match_firsts": np.array([0, 2, 0], np.uint16),
        "match_sites": np.array([2, 1, 0], np.uint8),
        "products": np.array([0, 1, 0], np.uint32),
        "lines": np.array([0, 1, 2], np.uint32),
        "right_starts": np.array([0, 1, 2, 2], np.uint64),
        "rights": np.array([0, 0], np.uint16),
        "right_sites": np.array([0b10, 0], np.uint16),
    }
    safetensors.numpy.save_file(arrays, path)
    return train_policy.Examples(path)


def test_a_batch_pairs_templates_with_their_sites(tmp_path: Path) -> None:
    examples = policy_examples(tmp_path / "examples.safetensors")

    batch, owners, right = examples.batch(np.array([1, 0]))

    assert examples.explained.tolist() == [0, 1]
    assert batch.match_templates.tolist() == [1, 0, 2]
    assert batch.match_products.tolist() == [0, 1, 1]
    assert batch.pair_matches.tolist() == [0, 1, 1, 2]
    # Three sites of the second product, then the places without atoms of both.
    assert batch.pair_sites.tolist() == [3, 0, 1, 2]
    assert list(zip(batch.atom_sites.tolist(), batch.site_atoms.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 1), (2, 2)]
    assert owners.tolist() == [0, 1, 1, 1]
    assert right.tolist() == [True, False, True, False]


def test_the_policy_is_asked_for_any_of_the_right_pairs() -> None:
    scores = torch.tensor([0.0, 2.0, 0.0, 1.0, 0.0])
    owners, right = torch.tensor([0, 0, 0, 1, 1]), torch.tensor([True, False, True, False, True])

    loss = train_policy.negative_log_likelihood(scores, owners, right, 2)

    first, second = scores[:3].softmax(0)[[0, 2]].sum(), scores[3:].softmax(0)[1]
    assert float(loss) == pytest.approx(float(-torch.log(first * second)) / 2)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_scores_of_pairs_and_sums_of_rows_are_pytorchs(tmp_path: Path) -> None:
    torch.manual_seed(0)
    left, right = torch.randn(5, 8, requires_grad=True), torch.randn(4, 8, requires_grad=True)
    a, b = torch.tensor([0, 4, 4, 1]), torch.tensor([3, 3, 0, 2])
    weights = torch.randn(4)

    found = policy_model.PairScores.apply(left, right, a, b)
    gradients = torch.autograd.grad((found * weights).sum(), (left, right))
    sums = policy_model.RowSums.apply(left, a, b, 4)
    row_gradient = torch.autograd.grad((sums * right.detach()).sum(), left)[0]

    expected = (left[a] * right[b]).sum(1)
    assert torch.allclose(found, expected, atol=1e-5)
    for one, other in zip(gradients, torch.autograd.grad((expected * weights).sum(), (left, right)), strict=True):
        assert torch.allclose(one, other, atol=1e-5)
    expected = torch.zeros(4, 8).index_add(0, b, left[a])
    assert torch.allclose(sums, expected, atol=1e-5)
    assert torch.allclose(row_gradient, torch.autograd.grad((expected * right.detach()).sum(), left)[0], atol=1e-5)


def test_packed_weights_are_the_weights_but_for_rounding(tmp_path: Path) -> None:
    policy = policy_model.Policy(policy_model.Sizes(7, environments=16, molecule=4, atom=3, site=5))
    weights = {name: value.numpy() for name, value in policy.state_dict().items()}

    packed = pack_policy.packed(weights, 6)
    pack_policy.write(packed, tmp_path)
    again = pack_policy.unpacked(tmp_path)

    assert packed["layer1.weight"].shape == (4, 2048)
    assert all(packed[f"{name}.weight"].dtype == np.int8 for name in ("layer2", "environment", "template"))
    assert again.keys() == weights.keys()
    for name, value in again.items():
        assert np.allclose(value, weights[name][: len(value)], atol=0.01), name
    assert len(again["template.weight"]) == len(again["layer2_bias"]) == 6


def test_training_goes_on_from_a_smaller_library() -> None:
    before, after = (policy_model.Policy(policy_model.Sizes(count, environments=16, molecule=4, atom=3, site=5)) for count in (6, 7))
    weights = {name: value.numpy().copy() for name, value in before.state_dict().items()}
    weights["layer2_bias"][:] = np.arange(6)

    train_policy.begin_with(after, weights)

    state = after.state_dict()
    assert all(np.array_equal(state[name][: len(value)], value) for name, value in weights.items())
    assert state["layer2_bias"][6] == 0.5


def test_precedents_are_those_of_the_right_templates(tmp_path: Path) -> None:
    examples = policy_examples(tmp_path / "examples.safetensors")

    found = precedents.by_template(examples, examples.explained)

    assert {row: products.tolist() for row, products in found.items()} == {0: [0], 1: [1]}
    assert np.flatnonzero(precedents.fingerprints(examples, np.array([1]))[0]).tolist() == [7]


def flasks() -> train_plausibility.Flasks:
    """Two flasks: a recorded change with two rivals, the first of its kind, and one without rivals."""
    length = train_plausibility.KIND + 1
    kinds = [5, 5, 6, 5]
    features = np.array([[change, kind, *[9] * (length - 2)] for change, kind in enumerate(kinds)], np.uint16)
    starts = np.arange(len(kinds) + 1) * length
    return train_plausibility.Flasks(np.array([0, 3, 4]), starts, features.ravel(), np.array([0, 1, 2, 3]))


def test_a_batch_leaves_out_what_is_held_out_and_knows_like_rivals() -> None:
    everything = train_plausibility.batch(flasks(), np.array([1, 0]), np.ones(4, bool))
    some = train_plausibility.batch(flasks(), np.array([0]), np.array([True, False, True, True]))

    assert everything.flask.tolist() == [0, 1, 1, 1]
    assert everything.place.tolist() == [0, 0, 1, 2]
    assert everything.like.tolist() == [False, False, True, False]
    assert everything.features[everything.starts].tolist() == [3, 0, 1, 2]
    assert some.features[some.starts].tolist() == [0, 2]


def test_a_judge_learns_which_change_wins() -> None:
    torch.manual_seed(0)
    model = train_plausibility.Plausibility(8, 8, 0.0)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    part = train_plausibility.batch(flasks(), np.array([0, 1]), np.ones(4, bool))

    for _ in range(200):
        loss = train_plausibility.losses(model(part.features, part.starts), part, 0.5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    scored = train_plausibility.score_changes(model, flasks(), np.array([0, 1]))
    assert train_plausibility.within(scored, scored.lead).tolist() == [1.0]
    assert (scored.lead <= scored.score).all()


def test_ranking_figures_agree_with_their_definitions() -> None:
    assert train_plausibility.auc(np.array([3.0, 2.0, 2.0]), np.array([2.0, 1.0])) == pytest.approx(5 / 6)


def test_a_logistic_fit_finds_the_scale_that_made_the_labels() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(200_000, 1))
    labels = (rng.random(len(logits)) < train_plausibility.sigmoid(0.5 * logits[:, 0] - 1)).astype(float)
    weights = np.full(len(logits), 1 / len(logits))

    scale = train_plausibility.logistic(logits, labels, weights)

    assert scale == pytest.approx((0.5, -1.0), abs=0.03)
    curve = train_plausibility.reliability(train_plausibility.sigmoid(logits[:, 0] * scale[0] + scale[1]), labels, weights)
    assert all(abs(mean - share) < 0.02 for mean, share, part in curve if part > 0.01)


def test_bytes_hold_what_rows_held() -> None:
    weight = torch.tensor([[1.0, -0.5], [0.001, 0.0]])

    rounded, scale = train_plausibility.quantised(weight)

    assert ((rounded.float() - train_plausibility.ZERO) * scale[:, None]).numpy() == pytest.approx(weight.numpy(), abs=0.005)


def test_a_line_says_where_each_atom_was() -> None:
    line = flask_reactions.line_of("[CH3:1][NH2:2].Cl[C:3]([CH3:4])=[O:5]>>[CH3:1][NH:2][C:3]([CH3:4])=[O:5]")

    reaction, sources = line.split("\t")
    left, right = reaction.split(">>")
    symbols = [atom.GetSymbol() for part in left.split(".") for atom in Chem.MolFromSmiles(part).GetAtoms()]
    made = [atom.GetSymbol() for atom in Chem.MolFromSmiles(right).GetAtoms()]
    assert [symbols[int(source)] for source in sources.split(",")] == made


def test_precedents_are_folded_and_differ() -> None:
    bits = np.zeros((3, 2048), bool)
    bits[0, [0, 513]] = bits[1, [0, 1]] = bits[2, 700] = True

    folded = precedents.folded(bits)

    assert np.flatnonzero(folded[0]).tolist() == [0, 1]
    assert np.flatnonzero(folded[2]).tolist() == [188]
    assert precedents.diverse(folded, 8) == [0, 2]


ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"


def a_row(left: str, agents: str, product: str) -> reactions.Row:
    """Makes the row of a recorded reaction that has one."""
    made = reactions.make_row("toy", 1, (left, agents, product), reactions.Components())
    assert not isinstance(made, str)
    return made[0]


def test_a_row_splits_what_contributes_from_what_does_not() -> None:
    row = a_row("[CH3:1][C:2](=[O:3])Cl.[NH2:4][CH2:5][CH3:6].O", "ClCCl", "[CH3:1][C:2](=[O:3])[NH:4][CH2:5][CH3:6].Cl")

    assert row.product == "CCNC(C)=O"
    assert row.precursors == "CC(=O)Cl.CCN"
    assert row.reagents == "ClCCl.O"
    assert row.unmapped() == "CC(=O)Cl.CCN.O>>CCNC(C)=O"
    assert row.source_map == (4, 5, 6, 1, 0, 2)


def test_a_row_is_refused_with_a_reason() -> None:
    for recorded, reason in (
        (("CCO", "", "CCO"), "product unreadable, inorganic, under 4 or over 70 heavy atoms"),
        (("CCCO", "", "CCCO"), "product among the precursors"),
        (("CCCO", "", "CCCBr"), "product has atoms that no precursor has"),
        (("C(", "", "CCCBr"), "precursors unreadable"),
    ):
        assert reactions.make_row("toy", 1, recorded, reactions.Components()) == reason


def test_a_salt_of_a_product_is_its_neutral_parent() -> None:
    assert a_row("CCCCC(=O)OC", "", "CCCCC(=O)[O-].[Na+]").product == "CCCCC(=O)O"


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    row = a_row("[CH3:1][C:2](=[O:3])Cl.[NH2:4][CH2:5][CH3:6]", "", "[CH3:1][C:2](=[O:3])[NH:4][CH2:5][CH3:6]")
    with gzip.open(tmp_path / "uspto50k_train.00.rows.tsv.gz", "wt") as out:
        out.write(row.line_of_text() + "\n")

    assert list(reactions.read_rows(tmp_path)) == [row]


def held_out_folder(folder: Path) -> held_out.HeldOut:
    """Lays out lists of one molecule each and loads them."""
    for name in ("routes", "reactions", "targets", "kit"):
        (folder / name).mkdir()
    key = Chem.MolToInchiKey(Chem.MolFromSmiles(ASPIRIN))
    (folder / "routes" / "never_train.txt.gz").write_bytes(gzip.compress(key.encode()))
    (folder / "reactions" / "uspto50k_val.csv.gz").write_bytes(gzip.compress(b"rxn_smiles\nCCl.[NH3:1]>>[CH3:2][NH2:1]\n"))
    (folder / "targets" / "drugs.csv").write_text("smiles\nC[C@H](N)C(=O)O\n")
    (folder / "targets" / "routes.json.gz").write_bytes(
        gzip.compress(json.dumps([{"type": "mol", "smiles": "CCCCO", "children": [{"type": "reaction", "children": []}]}]).encode())
    )
    (folder / "kit" / "targets_public.csv").write_text("target_id,smiles\nP0,CCCCN\n")
    return held_out.load(folder, folder / "kit")


def test_held_out_molecules_are_known_in_every_form(tmp_path: Path) -> None:
    lists = held_out_folder(tmp_path)

    def names(smiles: str) -> set[str]:
        return lists.lists_with(held_out.keys_of(Chem.MolFromSmiles(smiles)))

    assert names("OC(=O)c1ccccc1OC(C)=O") == {"never_train"}
    assert names("CC(=O)Oc1ccccc1C(=O)[O-].[Na+]") == {"never_train"}
    assert names("CN") == {"uspto50k_val"}
    assert names("C[C@H]([NH3+])C(=O)[O-]") == {"drugs"}
    assert names("C[C@@H](N)C(=O)O") == set()
    assert lists.shares_skeleton(held_out.keys_of(Chem.MolFromSmiles("C[C@@H](N)C(=O)O")))
    assert names("CCCCO") == {"routes.json.gz products"}
    assert names("CCCCN") == {"kit targets_public"}


def test_the_proof_finds_a_held_out_product_and_passes_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    held_out_folder(tmp_path)
    innocent, guilty = tmp_path / "templates.tsv.gz", tmp_path / "clean.tsv.gz"
    innocent.write_bytes(gzip.compress(b"toy\tCCCCBr\tCCCCO\ttemplate\n"))
    guilty.write_bytes(gzip.compress(b"id\tmapped\n1\tCCl.[NH3:1]>>[Na+].[O-][C:1](=O)c1ccccc1OC(C)=O\n2\tC>>CCCBr\n"))
    where = ["--data", str(tmp_path), "--kit", str(tmp_path / "kit")]

    monkeypatch.setattr("sys.argv", ["prove_held_out.py", f"{innocent}:1", *where])
    prove_held_out.main()
    monkeypatch.setattr("sys.argv", ["prove_held_out.py", f"{guilty}:mapped", *where])
    with pytest.raises(SystemExit, match="1 products are held out"):
        prove_held_out.main()

    printed = capsys.readouterr().out
    assert f"{innocent}: 1 products, 0 held out" in printed
    assert f"{guilty}: 2 products, 1 held out" in printed
    assert "never_train: 1 of its 1 keys' molecules" in printed


def test_a_map_follows_the_attention_and_its_neighbours() -> None:
    left, right = "CCO", "CCO"
    attention = np.zeros((9, 9))
    attention[5:8, 1:4] = [[0.5, 0.5, 0.9], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]]

    indices, confidence = atom_mapper.map_from_attention(attention, left, right)

    assert indices.tolist() == [0, 1, 2]
    assert confidence == pytest.approx(1.0 * (90 * 0.6) / (90 * 0.6 + 0.4))


def test_bytes_and_floats_map_alike() -> None:
    try:
        package = atom_mapper.package_folder()
    except ModuleNotFoundError:
        pytest.skip("rxnmapper's files are not installed")
    reaction = "CC(=O)Cl.CCN.O>>CCNC(C)=O"
    assert package.exists()

    (exact, sure), = atom_mapper.AtomMapper(atom_mapper.Network).map([reaction])
    (rough, nearly), = atom_mapper.AtomMapper(atom_mapper.ByteNetwork).map([reaction])

    assert exact.tolist() == rough.tolist() == [4, 5, 6, 1, 0, 2]
    assert nearly == pytest.approx(sure, abs=0.05)


def test_equivalent_atoms_make_the_same_centre() -> None:
    unmapped = "CC(=O)Cl.CCN.O>>CCNC(C)=O"
    one = reaction_centre.centre(unmapped, (4, 5, 6, 1, 0, 2))
    acid = "CC(=O)O.CCN>>CCNC(C)=O"

    assert one is not None and one.contributing == ("CC(=O)Cl", "CCN")
    assert reaction_centre.centre(acid, (4, 5, 6, 1, 0, 2)) == reaction_centre.centre(acid, (4, 5, 6, 1, 0, 3))
    assert reaction_centre.centre(unmapped, (4, 5, 6, 1, 0, 7)) != one
    assert reaction_centre.centre(unmapped, (4, 5, 6, 1, 0, -1)) is None


def test_a_reaction_class_is_the_same_on_another_molecule() -> None:
    one = reaction_centre.reaction_class("CC(=O)Cl.CCN>>CCNC(C)=O", (4, 5, 6, 1, 0, 2))

    assert one == reaction_centre.reaction_class("CCC(=O)Cl.CCCN>>CCCNC(=O)CC", (5, 6, 7, 8, 2, 3, 1, 0))
    assert one != reaction_centre.reaction_class("CC(=O)Br.CCN>>CCNC(C)=O", (4, 5, 6, 1, 0, 2))


def test_maps_survive_packing(tmp_path: Path) -> None:
    mapped = {
        bytes(range(8)): (1.0, (4, 5, 6, 1, 0, 2)),
        b"\xff" * 8: (0.5, (0, 1, 2, -1, 3)),
        b"\x00" * 8: (0.0, (7,)),
    }
    path = tmp_path / "maps"

    mapped_pack.write(path, mapped)
    read = mapped_pack.read(path)

    assert {name: indices for name, (_, indices) in read.items()} == {name: indices for name, (_, indices) in mapped.items()}
    assert read[b"\xff" * 8][0] == pytest.approx(0.5, abs=1 / 255)


def test_a_pack_is_checked_against_the_rows() -> None:
    row = a_row("CC(=O)Cl.CCN", "", "CCNC(C)=O")
    good = {reactions.digest(row.unmapped()): (1.0, (4, 5, 6, 1, 0, 2))}

    assert mapped_pack.check(good, iter([row])) == {"fits": 1, "no such row": 0}
    assert mapped_pack.check(good, iter([])) == {"fits": 0, "no such row": 1}
    assert mapped_pack.fault(row.unmapped(), (4, 5, 6, 1, 0, 3)) == "another element"
    assert mapped_pack.fault(row.unmapped(), (4, 4, 6, 1, 0, 2)) == "a precursor atom twice, or one that is not there"


def test_shards_are_read_as_they_were_written(tmp_path: Path) -> None:
    map_reactions.write_shard(tmp_path, [b"\x01" * 8, b"\x02" * 8], [(np.array([2, 0, -1]), 0.75), None])

    assert list(map_reactions.read_shards(tmp_path)) == [(b"\x01" * 8, 0.75, (2, 0, -1)), (b"\x02" * 8, 0.0, ())]


def test_examples_of_a_kind_are_mapped_first() -> None:
    rows = [a_row(f"{'C' * n}C(=O)Cl.CCN", "", f"CCNC(=O){'C' * n}")._replace(kind="amide") for n in range(1, 10)]
    unclaimed = a_row("CCCCC(=O)Br.CCN", "", "CCNC(=O)CCCC")

    def stage(which: map_reactions.Stage) -> int:
        return len(list(map_reactions.wanted(iter([*rows, unclaimed]), which)))

    assert stage(map_reactions.Stage.EXAMPLES) == map_reactions.EXAMPLES_PER_KIND
    assert stage(map_reactions.Stage.UNCLAIMED) == 1
    assert stage(map_reactions.Stage.ALL) == 10


TRUST = clean_reactions.COLUMNS.index("trust")


def cleaned(rows: list[reactions.Row], mapped: dict[str, tuple[float, tuple[int, ...]]]) -> tuple[list[tuple[str, ...]], dict[str, int]]:
    """Cleans rows by maps of their unmapped reactions."""
    fates: dict[str, int] = {}

    def count(fate: str) -> None:
        fates[fate] = fates.get(fate, 0) + 1

    by_name = {reactions.digest(unmapped): found for unmapped, found in mapped.items()}
    return list(clean_reactions.clean(clean_reactions.gather(iter(rows)), by_name, count, [])), fates


def test_a_reaction_is_kept_where_mapper_and_source_agree() -> None:
    row = a_row("[CH3:1][C:2](=[O:3])Cl.[NH2:4][CH2:5][CH3:6].O", "", "[CH3:1][C:2](=[O:3])[NH:4][CH2:5][CH3:6]")
    unmapped = row.unmapped()

    (line,), _ = cleaned([row, row], {unmapped: (0.9, (4, 5, 6, 1, 0, 2))})
    refused, fates = cleaned([row], {unmapped: (0.9, (4, 5, 6, 1, 0, 7))})

    assert line[2] == "Cl[C:4]([CH3:5])=[O:6].[CH3:1][CH2:2][NH2:3]>>[CH3:1][CH2:2][NH:3][C:4]([CH3:5])=[O:6]"
    assert line[1] == "toy"
    assert line[3:] == ("O", "0.900", "2", "agreed", "CCNC(C)=O", "CC(=O)Cl.CCN")
    assert refused == []
    assert fates["mapper and source disagree"] == 1


def test_a_reaction_without_a_source_map_needs_a_sure_mapper() -> None:
    row = a_row("CC(=O)Cl.CCN", "", "CCNC(C)=O")

    sure, _ = cleaned([row], {row.unmapped(): (0.95, (4, 5, 6, 1, 0, 2))})
    unsure, _ = cleaned([row], {row.unmapped(): (0.5, (4, 5, 6, 1, 0, 2))})

    assert [line[TRUST] for line in sure] == ["alone"]
    assert unsure == []


def test_a_kind_that_the_mapper_agrees_with_is_believed() -> None:
    rows = []
    for n in range(1, 6):
        chain = "".join(f"[CH2:{10 + i}]" for i in range(n))
        rows.append(a_row(f"[CH3:1]{chain}[C:2](=[O:3])Cl.[NH2:4][CH2:5][CH3:6]", "", f"[CH3:1]{chain}[C:2](=[O:3])[NH:4][CH2:5][CH3:6]"))
    agreeing = {row.unmapped(): (0.9, row.source_map) for row in rows[:4]}

    lines, fates = cleaned(rows, agreeing)

    assert len({row.kind for row in rows}) == 1
    assert [line[TRUST] for line in lines] == ["agreed"] * 4 + ["kind"]
    assert cleaned(rows, dict(list(agreeing.items())[:3]))[1]["not mapped yet, and not of a kind that is believed"] == 2


def test_a_map_that_no_source_confirms_is_kept_where_its_kind_is_known() -> None:
    claimed = [
        a_row(f"[CH3:1]{chain}[C:2](=[O:3])Cl.[NH2:4][CH2:5][CH3:6]", "", f"[CH3:1]{chain}[C:2](=[O:3])[NH:4][CH2:5][CH3:6]")
        for chain in ("[CH2:10]", "[CH2:10][CH2:11]")
    ]
    unclaimed = a_row("CCCC(=O)Cl.CCCN", "", "CCCNC(=O)CCC")
    mapped = {row.unmapped(): (0.9, row.source_map) for row in claimed}

    lines, _ = cleaned([*claimed, unclaimed], mapped | {unclaimed.unmapped(): (0.4, (6, 7, 8, 9, 3, 4, 2, 1, 0))})

    assert [line[TRUST] for line in lines] == ["agreed", "agreed", "known"]


def test_the_order_of_sets_is_fitted_within_products(tmp_path: Path) -> None:
    # The second feature tells the recorded set of each product; the first is larger for all sets of the second product.
    rows = [(0, 1, 1, 2), (0, 0, 1, 1), (1, 0, 9, 0), (1, 1, 9, 1), (2, 0, 5, 5)]
    (tmp_path / "sets.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))

    choices = fit_order.Choices.read(tmp_path / "sets.tsv")

    assert choices.product.tolist() == [0, 0, 1, 1]  # no set of the third product is recorded
    first, second = choices.fit()
    assert second > 1 and abs(first) < 1e-6
    assert choices.ranks(choices.features @ [0, -1]).tolist() == [1, 1]
    assert choices.of(np.array([1])).ranks(np.array([1.0, 1.0])).tolist() == [1]
