"""What adding templates to a finished pack promises, on toys. Run with `pytest`."""

import random

import numpy as np
import torch
from rdkit import Chem

import add_templates
import pack_policy
import policy_model
from add_templates import Pairs, Rows
from sibling_products import Partners, decorated, siblings

AMIDE = "([C:1](=[O:2])-[NH;D2:3])>>([C:1](=[O:2])-[OH].[NH2:3])"


def molecules(*texts: str) -> list[Chem.Mol]:
    return [Chem.MolFromSmiles(text) for text in texts]


def test_siblings_are_made_of_blocks_that_react_once() -> None:
    blocks = molecules("NC1CC1", "NCCN", "O=C(O)c1ccccc1", "O=C(O)CC(=O)O", "CCO")

    found = siblings(AMIDE, ("CNC(C)=O", "CC(=O)O.CN"), Partners(blocks, 4), 10, random.Random(0))

    assert ("CNC(C)=O", "CC(=O)O.CN") in found
    assert ("O=C(NC1CC1)c1ccccc1", "NC1CC1.O=C(O)c1ccccc1") in found
    assert not any("NCCN" in precursors or "O=C(O)CC(=O)O" in precursors for _, precursors in found)


def test_decorations_leave_what_reacts_alone() -> None:
    pattern = Chem.MolFromSmarts("[NH2]-c")
    made = {Chem.MolToSmiles(mol) for mol in decorated(Chem.MolFromSmiles("Nc1ccccc1"), pattern)}

    assert "Nc1ccc(F)cc1" in made
    assert all(len(mol.GetSubstructMatches(pattern)) == 1 for mol in molecules(*made))


def test_a_pack_grows_and_its_old_rows_stay() -> None:
    policy = policy_model.Policy(policy_model.Sizes(3, environments=16, molecule=4, atom=3, site=5))
    before = pack_policy.packed({name: value.numpy() for name, value in policy.state_dict().items()}, 3)
    rows = Rows(torch.tensor([0.5, -0.5]), torch.full((2, 5), -2.0))

    after = add_templates.with_rows(before, np.array([1, 3]), rows, 4)

    assert after["layer2.weight"].shape == (4, 4)
    assert after["template.weight"].dtype == np.int8
    for name in ("layer2.weight", "layer2.scale", "layer2.bias", "template.weight", "template.scale"):
        assert np.array_equal(after[name][[0, 2]], before[name][[0, 2]])
    assert not after["layer2.weight"][[1, 3]].any()
    assert np.allclose(after["template.weight"][1] * after["template.scale"][1], -2)
    assert after["layer2.bias"][[1, 3]].tolist() == [0.5, -0.5]
    assert all(np.array_equal(after[name], value) for name, value in before.items() if name.startswith(("layer1", "atom")))


def test_new_templates_have_no_precedents() -> None:
    assert add_templates.lengthened(np.array([0, 2, 5], np.uint32), 4).tolist() == [0, 2, 5, 5, 5]


def test_reagents_are_no_precursors() -> None:
    assert add_templates.unmapped("CCO.[CH3:1][Br:9].[NH3:2]>>[CH3:1][NH2:2]") == ("CN", "CBr.N")


def test_a_row_learns_where_it_belongs() -> None:
    # Two reactions, one row: right in the first, wrong in the second, where another template is recorded.
    pairs = Pairs(
        others=torch.tensor([0.0, 0.0]),
        others_right=torch.tensor([-1e30, 0.0]),
        rows=torch.tensor([0, 0]),
        owners=torch.tensor([0, 1]),
        right=torch.tensor([True, False]),
        sites=torch.eye(2),
        weights=torch.ones(2),
    )

    rows = add_templates.fit(pairs, 1, 1e-4, 100)

    scores = rows.template[0] + rows.bias[0]
    assert scores[0] > 1
    assert scores[1] < -1
