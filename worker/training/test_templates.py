"""What the judges of templates promise: right and wrong chemistry for every rule. No data folder is needed."""

import collections

import pytest
from rdkit import Chem

import prepare_templates
import template_sanity
import template_stereo
from template_graph import Template, reduction
from template_sanity import Reason
from template_stereo import Verdict

AMINE = "[C:2]-[NH;D2;+0:3]-[C:4]"
METHYLAMINE = "([C:2]-[N;H0;D3;+0:3](-[C:4])-[CH3;D1;+0:1])"
METHYL_ESTER = "([CH3;D1;+0:1]-[O;H0;D2;+0:4]-[C:3]=[O;D1;H0:2])"
ACID = "[O;D1;H0:2]=[C:3]-[OH;D1;+0:4]"
ALDEHYDE = "([O;D1;H0:5]=[CH;D2;+0:4]-[c;H0;D3;+0:1](:[c:2]):[c:3])"
ARYL_BROMIDE = "Br-[c;H0;D3;+0:1](:[c:2]):[c:3]"

WRONG = [
    # carbon from solvents, bases and reagents
    (Reason.FOREIGN_CARBON, f"{METHYL_ESTER}>>(O=[C;H0;D3;+0:1](-[O-])-[O-].{ACID})"),
    (Reason.FOREIGN_CARBON, f"{METHYL_ESTER}>>(O-[C;H0;D3;+0:1](=O)-[O-].{ACID})"),
    (Reason.FOREIGN_CARBON, f"{METHYL_ESTER}>>(Cl-C(=O)-[C;H0;D3;+0:1](-Cl)=O.{ACID})"),
    (Reason.FOREIGN_CARBON, f"{METHYL_ESTER}>>(C-C(-C)-N(-C-[CH3;D1;+0:1])-C(-C)-C.{ACID})"),
    (Reason.FOREIGN_CARBON, f"{METHYL_ESTER}>>(C-N(-[CH3;D1;+0:1])-C=O.{ACID})"),
    (Reason.FOREIGN_CARBON, f"{METHYL_ESTER}>>(C-N(-C)-C-C-C-N=C=N-C-[CH3;D1;+0:1].{ACID})"),
    (Reason.FOREIGN_CARBON, f"{METHYL_ESTER}>>([O;D1;H0:2]=[C:3]-[OH;D1;+0:4].[cH;D2;+0:1]1:c:c:c:c:c:1)"),
    (Reason.FOREIGN_CARBON, f"{METHYLAMINE}>>(N#[C;H0;D2;+0:1]-[BH3-].{AMINE})"),
    (Reason.FOREIGN_CARBON, f"{METHYLAMINE}>>(C-C(=O)-O-[BH-](-O-C(-C)=O)-O-[C;H0;D3;+0:1](-C)=O.{AMINE})"),
    (Reason.FOREIGN_CARBON, f"{METHYLAMINE}>>(C-[C;H0;D3;+0:1](-O)=O.{AMINE})"),
    (Reason.FOREIGN_CARBON, f"{METHYLAMINE}>>(O-[CH;D2;+0:1]=O.{AMINE})"),
    (Reason.FOREIGN_CARBON, f"{ALDEHYDE}>>({ARYL_BROMIDE}.C1-C-[CH2;D2;+0:4]-[O;H0;D2;+0:5]-C-1)"),
    # reagents that give an oxygen, a nitrogen or a halogen
    (Reason.REAGENT, "([C:3]-[C;H0;D3;+0:2](-[NH2;D1;+0:1])=[O;D1;H0:4])>>"
     "(C-C-[N;H0;D3;+0:1](-C-C)-C-C.O-[C;H0;D3;+0:2](-[C:3])=[O;D1;H0:4])"),
    (Reason.REAGENT, "([C:2]-[C;H0;D3;+0:3](=[O;H0;D1;+0:4])-[OH;D1;+0:1])>>"
     "(C-C(-C)=[O;H0;D1;+0:1].[C:2]-[CH2;D2;+0:3]-[OH;D1;+0:4])"),
    (Reason.REAGENT, "([C:3]-[CH2;D2;+0:2]-[Cl;H0;D1;+0:1])>>(Cl-C-[Cl;H0;D1;+0:1].O-[CH2;D2;+0:2]-[C:3])"),
    # oxidation states
    (Reason.OXIDATION_STATE, "([CH3;D1;+0:1]-[c:2])>>F-[C;H0;D4;+0:1](-F)(-F)-[c:2]"),
    (Reason.OXIDATION_STATE, "([C:2]-[CH2;D2;+0:1]-[NH;D2;+0:4]-[C:3])>>(Cl-[C;H0;D3;+0:1](=O)-[C:2].[C:3]-[NH2;D1;+0:4])"),
    (Reason.OXIDATION_STATE, f"{METHYL_ESTER}>>(Cl-[CH2;D2;+0:1]-Cl.{ACID})"),
    # nothing leaves
    (Reason.NO_LEAVING_GROUP, "([#7;a:1]:[c;H0;D3;+0:2](:[c:3])-[N;H0;D3;+0:5](-[C:4])-[C:6])>>"
     "([#7;a:1]:[cH;D2;+0:2]:[c:3].[C:4]-[NH;D2;+0:5]-[C:6])"),
    (Reason.NO_LEAVING_GROUP, "([C:1]-[CH2;D2;+0:2]-[O;H0;D2;+0:3]-[c:4])>>([C:1]-[CH3;D1;+0:2].[OH;D1;+0:3]-[c:4])"),
    (Reason.NO_LEAVING_GROUP, "([C:1]-[CH2;D2;+0:2]-[CH2;D2;+0:4]-[C:3])>>([C:1]-[CH3;D1;+0:2].[C:3]-[CH3;D1;+0:4])"),
    # what leaves does not
    (Reason.POOR_LEAVING_GROUP, "([C:2]-[CH2;D2;+0:1]-[NH;D2;+0:3]-[c:4])>>(N-[CH2;D2;+0:1]-[C:2].[NH2;D1;+0:3]-[c:4])"),
    (Reason.POOR_LEAVING_GROUP, "([CH3;D1;+0:1]-[O;H0;D2;+0:2]-[c:3])>>(N-C(=O)-[CH3;D1;+0:1].[OH;D1;+0:2]-[c:3])"),
    (Reason.POOR_LEAVING_GROUP, "([C:2]-[CH3;D1;+0:1])>>C-[CH2;D2;+0:1]-[C:2]"),
    (Reason.POOR_LEAVING_GROUP, "([CH3;D1;+0:1]-[c;H0;D3;+0:2](:[c:3]):[c:4])>>"
     "(C-C-C-[CH2;D2;+0:1]-[Li].Br-[c;H0;D3;+0:2](:[c:3]):[c:4])"),
    (Reason.POOR_LEAVING_GROUP, "([C:4]-[NH;D2;+0:5]-[c;H0;D3;+0:1](:[c:2]):[c:3])>>"
     "(N#C-[c;H0;D3;+0:1](:[c:2]):[c:3].[C:4]-[NH2;D1;+0:5])"),
    (Reason.BROKEN_RING, "([C:1]-[CH3;D1;+0:2])>>[C:1]-[c;H0;D3;+0:2]1:c:c:c:c:c:1"),
]

RIGHT = [
    # methyl, formyl, carboxyl and carbonyl groups from what is sold for it
    f"{METHYL_ESTER}>>(I-[CH3;D1;+0:1].{ACID})",
    f"{METHYL_ESTER}>>(C-O-S(=O)(=O)-O-[CH3;D1;+0:1].{ACID})",
    f"{METHYL_ESTER}>>(C-O-C(=O)-O-[CH3;D1;+0:1].{ACID})",
    f"{METHYL_ESTER}>>(O-[CH3;D1;+0:1].{ACID})",
    f"{METHYL_ESTER}>>(C-[Si](-C)(-[CH3;D1;+0:1])-C=[N+]=[N-].{ACID})",
    f"{METHYLAMINE}>>(O=[CH2;D1;+0:1].{AMINE})",
    f"{ALDEHYDE}>>({ARYL_BROMIDE}.C-N(-C)-[CH;D2;+0:4]=[O;D1;H0:5])",
    "([O;H0;D1;+0:1]=[CH;D2;+0:2]-[c;H0;D3;+0:4](:[c:3]):[c:5])>>(Cl-C(-Cl)-[O;H0;D2;+0:1]-[CH3;D1;+0:2].[c:3]:[cH;D2;+0:4]:[c:5])",
    "([C:3]-[NH;D2;+0:4]-[CH;D2;+0:1]=[O;D1;H0:2])>>(O-[CH;D2;+0:1]=[O;D1;H0:2].[C:3]-[NH2;D1;+0:4])",
    "([O;H0;D1;+0:5]=[C;H0;D3;+0:4](-[OH;D1;+0:6])-[c;H0;D3;+0:1](:[c:2]):[c:3])>>"
    "(Br-[c;H0;D3;+0:1](:[c:2]):[c:3].[O;H0;D1;+0:5]=[C;H0;D2;+0:4]=[O;H0;D1;+0:6])",
    "([C:3]-[NH;D2;+0:4]-[C;H0;D3;+0:1](=[O;D1;H0:2])-[NH;D2;+0:5]-[c:6])>>"
    "(Cl-C(-Cl)(-Cl)-O-[C;H0;D3;+0:1](=[O;D1;H0:2])-O-C(-Cl)(-Cl)-Cl.[C:3]-[NH2;D1;+0:4].[NH2;D1;+0:5]-[c:6])",
    "([C;D1;H3:2]-[C;H0;D3;+0:1](=[O;D1;H0:3])-[NH;D2;+0:4]-[c:5])>>"
    "(C-C(=O)-O-[C;H0;D3;+0:1](-[C;D1;H3:2])=[O;D1;H0:3].[NH2;D1;+0:4]-[c:5])",
    # redox in place
    "([#7:2]-[CH3;D1;+0:1])>>C-C(-C)(-C)-O-[C;H0;D3;+0:1](=O)-[#7:2]",
    "([C:2]-[CH2;D2;+0:1]-[OH;D1;+0:3])>>C-C-O-[C;H0;D3;+0:1](-[C:2])=[O;H0;D1;+0:3]",
    "([O;H0;D1;+0:4]=[C;H0;D3;+0:2](-[OH;D1;+0:1])-[c:3])>>"
    "(O=[Mn](=O)(-[O-])=[O;H0;D1;+0:1].[CH3;D1;+0:2]-[c:3].[OH2;D0;+0:4])",
    "([C:2]-[CH;D2;+0:1]=[O;H0;D1;+0:3])>>O-C-[CH;D3;+0:1](-[C:2])-[OH;D1;+0:3]",
    # C-H that reacts
    "([O-;H0;D1:3]-[N+;H0;D3:1](=[O;D1;H0:2])-[c;H0;D3;+0:5](:[c:4]):[c:6])>>"
    "([O-]-[N+;H0;D3:1](=[O;D1;H0:2])-[OH;D1;+0:3].[c:4]:[cH;D2;+0:5]:[c:6])",
    "([Br;H0;D1;+0:1]-[CH2;D2;+0:2]-[c:3])>>(O=C1-C-C-C(=O)-N-1-[Br;H0;D1;+0:1].[CH3;D1;+0:2]-[c:3])",
    "([C:4]#[C;H0;D2;+0:5]-[c;H0;D3;+0:1](:[c:2]):[c:3])>>(I-[c;H0;D3;+0:1](:[c:2]):[c:3].[C:4]#[CH;D1;+0:5])",
    "([#8:3]-[C:4](=[O;D1;H0:5])-[CH;D3;+0:6](-[C:7]=[O;D1;H0:8])-[CH2;D2;+0:1]-[c:2])>>"
    "(Br-[CH2;D2;+0:1]-[c:2].[#8:3]-[C:4](=[O;D1;H0:5])-[CH2;D2;+0:6]-[C:7]=[O;D1;H0:8])",
    # what leaves
    "([C:2]-[C@@H;D3;+0:1](-[OH;D1;+0:6])-[C:3](=[O;D1;H0:4])-[O;D1;H1:5])>>"
    "(N-[C@H;D3;+0:1](-[C:2])-[C:3](=[O;D1;H0:4])-[O;D1;H1:5].[O-]-N=[O;H0;D1;+0:6])",
    "([#6:1]-[NH;D2;+0]-[C;H0;D3;+0:3](=[O;D1;H0:4])-[O;H0;D2;+0:5]-[C:6])>>"
    "([#6:1]-[C;H0;D3;+0:3](=[O;D1;H0:4])-[OH;D1].[OH;D1;+0:5]-[C:6])",
    "([F;D1;H0:2]-[CH;D3;+0:1](-[F;D1;H0:3])-[O;H0;D2;+0:4]-[c:5])>>"
    "(Cl-[C;H0;D4;+0:1](-[F;D1;H0:2])(-[F;D1;H0:3])-C(=O)-[O-].[OH;D1;+0:4]-[c:5])",
    "([C:1]-[NH;D2;+0:2]-[CH2;D2;+0:4]-[C:3]-[OH;D1;+0:5])>>([C:1]-[NH2;D1;+0:2].[C:3]1-[CH2;D2;+0:4]-[O;H0;D2;+0:5]-1)",
    "([C:2]#[CH;D1;+0:1])>>C-C(-C)(-O)-[C;H0;D2;+0:1]#[C:2]",
]


@pytest.mark.parametrize(("reason", "text"), WRONG)
def test_templates_that_make_something_of_nothing_are_refused(reason: Reason, text: str) -> None:
    refusal = template_sanity.check_template(text)

    assert refusal is not None and refusal.reason == reason, refusal


@pytest.mark.parametrize("text", RIGHT)
def test_right_chemistry_stays(text: str) -> None:
    assert template_sanity.check_template(text) is None


def test_changes_of_oxidation_state_are_counted_forwards() -> None:
    ester = Template("([C:2]-[CH2;D2;+0:1]-[OH;D1;+0:3])>>C-C-O-[C;H0;D3;+0:1](-[C:2])=[O;H0;D1;+0:3]")
    carbonate = Template(f"{METHYL_ESTER}>>(O=[C;H0;D3;+0:1](-[O-])-[O-].{ACID})")
    alcohol = Template("([C:1]-[CH;D2;+0:2]=[O;H0;D1;+0:3])>>[C:1]-[CH2;D2;+0:2]-[OH;D1;+0:3]")

    assert [reduction(ester, 1), reduction(carbonate, 1), reduction(alcohol, 2)] == [4, 6, -2]


def test_refused_templates_never_enter_a_library() -> None:
    carbonate = "[CH3;D1;+0:1]-[O;H0;D2;+0:2]-[c:3]>>O=[C;H0;D3;+0:1](-[O-])-[O-].[OH;D1;+0:2]-[c:3]"
    iodide = carbonate.replace("O=[C;H0;D3;+0:1](-[O-])-[O-]", "I-[CH3;D1;+0:1]")
    reactions = [
        ("x", "COc1ccccc1", "O=C([O-])[O-].Oc1ccccc1", carbonate),
        ("x", "COc1ccccc1C", "CI.Cc1ccccc1O", iodide),
    ]
    refused: collections.Counter[str] = collections.Counter()

    library = prepare_templates.select(reactions, 1, 10, {}, refused)

    assert [template[0] for _, template in library] == [iodide]
    assert refused == {Reason.FOREIGN_CARBON.value: 1}


# ---- configurations ----

SECONDARY_BROMIDE = "([C:2]-[CH;D3;+0:1](-[C:3])-[O;H0;D2;+0:4]-[c:5])>>(Br-[CH;D3;+0:1](-[C:2])-[C:3].[OH;D1;+0:4]-[c:5])"
MITSUNOBU = SECONDARY_BROMIDE.replace("(Br-", "(O-")
TURNED_OVER = MITSUNOBU.replace("[CH;", "[C@H;", 1).replace("(O-[CH;", "(O-[C@@H;")
RETENTION = TURNED_OVER.replace("@@", "@")


@pytest.mark.parametrize("text", [SECONDARY_BROMIDE, MITSUNOBU, RETENTION])
@pytest.mark.parametrize("ether", ["CC[C@H](C)Oc1ccccc1", "CC[C@@H](C)Oc1ccccc1"])
def test_a_displacement_turns_the_centre_over(text: str, ether: str) -> None:
    better, _ = prepare_templates.sound(text)

    outcomes = prepare_templates.outcomes(prepare_templates.compiled(better), Chem.MolFromSmiles(ether))

    leaver = "Br" if "Br" in text else "O"
    centre = "@@" if "@@" not in ether else "@"
    assert outcomes == [Chem.CanonSmiles(f"CC[C{centre}H](C){leaver}.Oc1ccccc1")]
    turned = prepare_templates.Forward(better)
    mols = turned.arrange([Chem.MolFromSmiles(part) for part in outcomes[0].split(".")])
    assert turned.products(mols) == [Chem.CanonSmiles(ether)]


def test_a_marked_displacement_serves_the_racemate_too() -> None:
    better, _ = prepare_templates.sound(SECONDARY_BROMIDE)

    outcomes = prepare_templates.outcomes(prepare_templates.compiled(better), Chem.MolFromSmiles("CCC(C)Oc1ccccc1"))

    assert outcomes == ["CCC(C)Br.Oc1ccccc1"]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (TURNED_OVER, Verdict.UNCHANGED),
        (SECONDARY_BROMIDE, Verdict.MARKED),
        (RETENTION, Verdict.TURNED),
        # an isopropyl group is no centre, a glycoside's carbon ionises, an acid takes the alcohol's oxygen
        (SECONDARY_BROMIDE.replace("[C:2]", "[C;D1;H3:2]").replace("[C:3]", "[C;D1;H3:3]"), Verdict.UNCHANGED),
        (SECONDARY_BROMIDE.replace("[C:2]", "[#8:2]"), Verdict.UNCHANGED),
        (
            "([C:2]-[C@H;D3;+0:1](-[C:3])-[O;H0;D2;+0:6]-[C:5]=[O;D1;H0:4])>>"
            "(O-[C@H;D3;+0:1](-[C:2])-[C:3].[O;D1;H0:4]=[C:5]-[OH;D1;+0:6])",
            Verdict.UNCHANGED,
        ),
        # an amino acid with nitrous acid: the carboxyl group turns it over first
        (
            "([C:2]-[C@@H;D3;+0:1](-[OH;D1;+0:6])-[C:3](=[O;D1;H0:4])-[O;D1;H1:5])>>"
            "(N-[C@H;D3;+0:1](-[C:2])-[C:3](=[O;D1;H0:4])-[O;D1;H1:5].[O-]-N=[O;H0;D1;+0:6])",
            Verdict.UNCHANGED,
        ),
        # a glycoside with retention may be a neighbouring group's work, which the template does not tell
        (
            "([#8:2]-[C@H;D3;+0:1](-[C:3])-[O;H0;D2;+0:4]-[c:5])>>"
            "(C-C(=O)-O-[C@H;D3;+0:1](-[#8:2])-[C:3].[OH;D1;+0:4]-[c:5])",
            Verdict.DOUBTFUL,
        ),
        ("([C:1]-[C@H;D3;+0:2](-[C:3])-[OH;D1;+0:4])>>[C:1]-[C;H0;D3;+0:2](-[C:3])=[O;H0;D1;+0:4]", Verdict.FROM_NOTHING),
        (
            "([#7:1]-[C@H;D3;+0:2](-[C;D1;H3:3])-[C@H;D3;+0:4](-[OH;D1;+0:5])-[c:6])>>"
            "[#7:1]-[C@H;D3;+0:2](-[C;D1;H3:3])-[C;H0;D3;+0:4](=[O;H0;D1;+0:5])-[c:6]",
            Verdict.UNCHANGED,
        ),
        (
            "([C:3]-[CH;D3;+0:2](-[C:4])-[NH2;D1;+0:1])>>C-C(-C)(-C)-O-C(=O)-[NH;D2;+0:1]-[C@@H;D3;+0:2](-[C:3])-[C:4]",
            Verdict.LOST,
        ),
    ],
)
def test_centres_are_judged(text: str, verdict: Verdict) -> None:
    assert template_stereo.mended(text).verdict is verdict


def test_an_ether_that_took_the_phenols_oxygen_for_the_leaving_one_is_of_primary_carbon() -> None:
    swapped = "([C:4]-[O;H0;D2;+0:5]-[c;H0;D3;+0:1](:[c:2]):[c:3])>>(O-[c;H0;D3;+0:1](:[c:2]):[c:3].[C:4]-[OH;D1;+0:5])"

    better, _ = prepare_templates.sound(swapped)

    reaction = prepare_templates.compiled(better)
    assert prepare_templates.outcomes(reaction, Chem.MolFromSmiles("CCCOc1ccccc1")) == ["CCCO.Oc1ccccc1"]
    assert prepare_templates.outcomes(reaction, Chem.MolFromSmiles("CC[C@H](C)Oc1ccccc1")) == []


def test_mirror_images_count_as_one_where_both_sides_are_marked() -> None:
    made = "([C:1]-[C@H;D3;+0:2](-[C:3])-[OH;D1;+0:4])>>[C:1]-[C;H0;D3;+0:2](-[C:3])=[O;H0;D1;+0:4]"

    assert template_stereo.mirrored(TURNED_OVER) == TURNED_OVER.replace("@@", "#").replace("@", "@@").replace("#", "@")
    assert template_stereo.mirrored(made) == made
