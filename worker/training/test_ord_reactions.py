"""What reading datasets of the Open Reaction Database promises. Run with `pytest`."""

import collections
import gzip
import random
from pathlib import Path

import pytest

from ord_reactions import Broken, fields, lines_of_dataset, main

# Ten reactions made by hand, written with ord-schema 0.3.
TEN = Path(__file__).with_name("ord_ten_reactions.pb.gz")


def lines_of(path: Path) -> tuple[list[str], dict[str, int]]:
    counts: collections.Counter[str] = collections.Counter()
    return list(lines_of_dataset(path, counts)), dict(counts)


def test_each_reaction_has_its_reactants_and_its_wanted_product(tmp_path: Path) -> None:
    plain = tmp_path / "ten.pb"
    plain.write_bytes(gzip.decompress(TEN.read_bytes()))

    lines, counts = lines_of(TEN)

    assert lines == [
        "O=C(NCc1ccccc1)c1ccc(F)cc1\tNCc1ccccc1.O=C(O)c1ccc(F)cc1",
        "c1ccc(-c2ccncc2)cc1\tBrc1ccncc1.OB(O)c1ccccc1",
        "O=C(O)c1ccc(Cl)cc1\tCOC(=O)c1ccc(Cl)cc1",
        # The byproduct is not wanted.
        "CCNCc1ccccc1\tCCN.O=Cc1ccccc1",
        # The only product.
        "NCCc1ccccc1\tCC(C)(C)OC(=O)NCCc1ccccc1",
        # Without its map numbers.
        "COc1ccccc1\tCI.Oc1ccccc1",
        "CC(=O)Nc1ccccc1\tCC(=O)Cl.Nc1ccccc1",
        # From a reaction SMILES alone.
        "CC(=O)OCc1ccccc1\tCC(=O)O.OCc1ccccc1",
        "COC(=O)[C@H](C)N\tC[C@H](N)C(=O)O",
    ]
    # One has a product with no more than a name.
    assert counts == {"read": 9, "left out: a component without a readable structure": 1}
    assert lines_of(plain) == (lines, counts)


def test_a_broken_dataset_is_refused_or_loses_reactions(tmp_path: Path) -> None:
    data = gzip.decompress(TEN.read_bytes())
    path = tmp_path / "broken.pb"
    chance = random.Random(1)
    for _ in range(400):
        broken = bytearray(data[: chance.randrange(len(data))] if chance.random() < 0.3 else data)
        for _ in range(chance.randrange(4)):
            if broken:
                broken[chance.randrange(len(broken))] = chance.randrange(256)
        path.write_bytes(broken)
        try:
            lines, counts = lines_of(path)
        except Broken:
            continue
        assert len(lines) <= 40 and sum(counts.values()) <= 40


@pytest.mark.parametrize("data", [b"\x0a\xff\xff\xff\xff\x0f", b"\x80" * 11, b"\x0b", b"\x0d\x00", b"\x1a"])
def test_lengths_beyond_the_end_and_groups_are_refused(data: bytes) -> None:
    with pytest.raises(Broken):
        fields(data)


def test_lines_of_several_datasets_are_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "own.tsv"
    monkeypatch.setattr("sys.argv", ["ord_reactions.py", str(TEN), str(TEN), "--out", str(out)])

    with pytest.raises(SystemExit) as ended:
        main()

    assert not ended.value.code
    assert out.read_text(encoding="utf-8").splitlines() == lines_of(TEN)[0]


def test_unreadable_datasets_are_named_and_the_others_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, missing, text, cut, flipped = [tmp_path / name for name in ("own.tsv", "missing.pb", "text.pb", "cut.pb.gz", "flipped.pb.gz")]
    text.write_text("not a dataset")
    cut.write_bytes(TEN.read_bytes()[:300])
    flipped.write_bytes(TEN.read_bytes()[:20] + b"\xff\xff\xff\xff" + TEN.read_bytes()[24:])
    broken = [missing, text, cut, flipped]
    monkeypatch.setattr("sys.argv", ["ord_reactions.py", *map(str, broken), str(TEN), "--out", str(out)])

    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code
    assert out.read_text(encoding="utf-8").splitlines() == lines_of(TEN)[0]
    told = capsys.readouterr().out
    assert all(f"{path} is left out: " in told for path in broken)


def test_own_products_stand_behind_the_recorded_ones() -> None:
    pytest.importorskip("torch")
    import numpy as np

    from add_precedents import with_counts, with_own

    old = {"starts": np.array([0, 2, 2, 3], np.uint32), "bits": np.arange(192, dtype=np.uint8).reshape(3, 64)}
    own_bits = np.zeros((2, 512), bool)
    own_bits[0] = np.unpackbits(old["bits"][0], bitorder="little")
    own_bits[1, 9] = True

    found = with_own(old, {0: own_bits, 1: own_bits[1:]})

    # What is there already is not added again.
    assert found["starts"].tolist() == [0, 3, 4, 5]
    assert found["bits"][[0, 1, 4]].tolist() == old["bits"].tolist()
    assert np.flatnonzero(np.unpackbits(found["bits"][2], bitorder="little")).tolist() == [9]
    assert with_counts(["0\t5\tUS1\t1:2\n", "2\t7\t\t\n"], {0: 2, 1: 3}) == ["0\t7\tUS1\t1:2\n", "1\t3\t\t\n", "2\t7\t\t\n"]
