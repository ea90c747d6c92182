"""What the judges of whole templates promise: changes that share a flask, atoms that meet, reagents that exist. No data folder is needed."""

from pathlib import Path

import pytest

import prepare_templates
import template_losses
import template_partners
import template_pots
from template_graph import Template
from template_sanity import Reason

ESTER_TO_ACID = ("[O;D1;H0:20]=[C:21]-[OH;D1;+0:22]", "C-[O;H0;D2;+0:22]-[C:21]=[O;D1;H0:20]")
FREE_AMINE = "[C:30]-[NH2;D1;+0:31]"
BOC = (FREE_AMINE, "C-C(-C)(-C)-O-C(=O)-[NH;D2;+0:31]-[C:30]")
CBZ = (FREE_AMINE, "O=C(-O-C-c1:c:c:c:c:c:1)-[NH;D2;+0:31]-[C:30]")
NITRO = ("[NH2;D1;+0:41]-[c:40]", "O=[N+;H0;D3:41](-[O-])-[c:40]")
BENZYL_ETHER = ("[C:50]-[OH;D1;+0:51]", "c1:c:c:c:c:c:1-C-[O;H0;D2;+0:51]-[C:50]")
TERT_BUTYL_ESTER = ("[O;D1;H0:60]=[C:61]-[OH;D1;+0:62]", "C-C(-C)(-C)-[O;H0;D2;+0:62]-[C:61]=[O;D1;H0:60]")
SUZUKI = (
    "[c:1]:[c;H0;D3;+0:2](:[c:3])-[c;H0;D3;+0:4](:[c:5]):[c:6]",
    "Br-[c;H0;D3;+0:2](:[c:1]):[c:3].O-B(-O)-[c;H0;D3;+0:4](:[c:5]):[c:6]",
)
AMIDE = ("[C:2]-[NH;D2;+0:1]-[C;H0;D3;+0:3](-[C:4])=[O;D1;H0:5]", "[C:2]-[NH2;D1;+0:1].O-[C;H0;D3;+0:3](-[C:4])=[O;D1;H0:5]")
REDUCTIVE_AMINATION = ("[C:2]-[CH2;D2;+0:1]-[NH;D2;+0:3]-[C:4]", "O=[CH;D2;+0:1]-[C:2].[C:4]-[NH2;D1;+0:3]")
ANILIDE = ("[C;D1;H3:2]-[C;H0;D3;+0:1](=[O;D1;H0:3])-[NH;D2;+0:41]-[c:40]", "C-C(=O)-O-[C;H0;D3;+0:1](-[C;D1;H3:2])=[O;D1;H0:3].")


def together(*changes: tuple[str, str]) -> str:
    product, precursors = (".".join(side) for side in zip(*changes, strict=True))
    return f"({product})>>({precursors})"


def test_changes_that_no_flask_makes_together_are_refused() -> None:
    refused = [
        together(SUZUKI, ESTER_TO_ACID),
        together(SUZUKI, BOC),
        together(SUZUKI, NITRO),
        together(AMIDE, ESTER_TO_ACID),
        together(AMIDE, BOC),
        together(AMIDE, BENZYL_ETHER),
        together(REDUCTIVE_AMINATION, BOC),
        together(BOC, NITRO, SUZUKI),
        # an alkylation that saponifies its ester, whichever oxygen the map keeps
        "([O;D1;H0:3]=[C:2]-[OH;D1;+0:4].[c:6]-[O;H0;D2;+0:5]-[CH2;D2;+0:1]-[C:7])>>"
        "(C-[O;H0;D2;+0:4]-[C:2]=[O;D1;H0:3].[OH;D1;+0:5]-[c:6].Br-[CH2;D2;+0:1]-[C:7])",
        "([c:6]-[O;H0;D2;+0:5]-[CH2;D2;+0:1]-[C;H0;D3:2](=[O;H0;D1;+0:4])-[OH;D1;+0:3])>>"
        "(Br-[CH2;D2;+0:1]-[C;H0;D3:2](=[O;H0;D1;+0:3])-[O;H0;D2;+0:4]-C.[OH;D1;+0:5]-[c:6])",
    ]

    for text in refused:
        assert prepare_templates.refusal(text) == Reason.TWO_FLASKS.value, text


def test_what_one_flask_does_stays() -> None:
    kept = [
        together(SUZUKI),
        together(ESTER_TO_ACID, (ESTER_TO_ACID[0].replace("2", "7"), ESTER_TO_ACID[1].replace("2", "7"))),
        together(BOC, TERT_BUTYL_ESTER),
        together(NITRO, BENZYL_ETHER),
        together(NITRO, BOC),  # tin and hydrochloric acid
        together(REDUCTIVE_AMINATION, CBZ),
        together(REDUCTIVE_AMINATION, NITRO),
        f"({ANILIDE[0]})>>({ANILIDE[1]}{NITRO[1]})",  # iron, acetic acid and its anhydride
        # a nitro group that closes a lactam, a benzyl group that goes over to Boc under hydrogen
        "([C:3]-[C;H0;D3;+0:1](=[O;D1;H0:2])-[NH;D2;+0:4]-[c:5])>>(C-O-[C;H0;D3;+0:1](-[C:3])=[O;D1;H0:2].O=[N+;H0;D3:4](-[O-])-[c:5])",
        "([#8:2]-[C;H0;D3;+0:1](=[O;D1;H0:3])-[NH;D2;+0:4]-[C:5])>>"
        "(C-C(-C)(-C)-O-C(=O)-O-[C;H0;D3;+0:1](-[#8:2])=[O;D1;H0:3].c1:c:c:c:c:c:1-C-[NH;D2;+0:4]-[C:5])",
        # an enol ether after a Heck reaction, a boronic ester after a work-up, an acyl imidazole of carbonyldiimidazole
        "([CH3;D1;+0:3]-[C;H0;D3;+0:1](=[O;H0;D1;+0:2])-[c;H0;D3;+0:4](:[c:5]):[c:6])>>"
        "(C-C-C-C-[O;H0;D2;+0:2]-[CH;D2;+0:1]=[CH2;D1;+0:3].Br-[c;H0;D3;+0:4](:[c:5]):[c:6])",
        # triflic anhydride, the acetonide of a hydroxy acid
        "([#16:2]-[O;H0;D2;+0:1]-[CH2;D2;+0:3]-[C:4])>>(F-C(-F)(-F)-S(=O)(=O)-[O;H0;D2;+0:1]-[#16:2].O-[CH2;D2;+0:3]-[C:4])",
        "([#16:6]-[NH;D2;+0:7]-[C;H0;D3;+0:1](=[O;D1;H0:2])-[C:3]-[OH;D1;+0:5])>>"
        "(C-C1(-C)-O-[C;H0;D3;+0:1](=[O;D1;H0:2])-[C:3]-[O;H0;D2;+0:5]-1.[#16:6]-[NH2;D1;+0:7])",
        "([OH;D1;+0:4]-[B;H0;D3;+0:1](-[OH;D1;+0:5])-[c;H0;D3;+0:2](:[c:3]):[c:6])>>"
        "(C-O-[B;H0;D3;+0:1](-[O;H0;D2;+0:4]-C)-[O;H0;D2;+0:5]-C.Br-[c;H0;D3;+0:2](:[c:3]):[c:6])",
    ]

    for text in kept:
        assert prepare_templates.refusal(text) is None, text


ARYL = "[c:2]:[c;H0;D3;+0:1](:[c:3])"
BEARING_ARYL = "[c;H0;D3;+0:1](:[c:2]):[c:3]"
WRONG = [
    # the atom that reacts
    (
        Reason.OTHER_ATOM,
        f"({ARYL}-[c;H0;D3;+0:7](:[c:8]):[c:6]:[cH;D2;+0:4]:[c:5])>>(Br-{BEARING_ARYL}.O-B(-O)-[c;H0;D3;+0:4](:[c:5]):[c:6]:[cH;D2;+0:7]:[c:8])",
    ),
    (
        Reason.OTHER_ATOM,
        "([#8:3]-[CH2;D2;+0:4]-[O;H0;D2;+0:5]-[c:6].[#8:2]-[CH3;D1;+0:1])>>(Cl-[CH2;D2;+0:1]-[#8:2].[#8:3]-[CH3;D1;+0:4].[OH;D1;+0:5]-[c:6])",
    ),
    # oxidations that nothing makes
    (Reason.NO_OXIDANT, "([C:1]-[c;H0;D3;+0:2]1:[cH;D2;+0:3]:[cH;D2;+0:4]:[cH;D2;+0:5]:[cH;D2;+0:6]:[cH;D2;+0:7]:1)>>"
     "[C:1]-[CH;D3;+0:2]1-[CH2;D2;+0:3]-[CH2;D2;+0:4]-[CH2;D2;+0:5]-[CH2;D2;+0:6]-[CH2;D2;+0:7]-1"),
    (Reason.NO_OXIDANT, "([C:1]-[c;H0;D3;+0:2]1:[cH;D2;+0:3]:[cH;D2;+0:4]:[cH;D2;+0:5]:[cH;D2;+0:6]:[cH;D2;+0:7]:1)>>"
     "[C:1]-[CH2;D2;+0:2]-[CH2;D2;+0:3]-[CH2;D2;+0:4]-[CH2;D2;+0:5]-[CH2;D2;+0:6]-[CH3;D1;+0:7]"),
    (Reason.NO_OXIDANT, f"({ARYL}-[C;H0;D3;+0:4](-[c:5])=[O;D1;H0:6])>>([Li]-{BEARING_ARYL}.[O;D1;H0:6]=[CH;D2;+0:4]-[c:5])"),
    (
        Reason.NO_OXIDANT,
        "([O;D1;H0:4]=[C;H0;D3;+0:5](-[c:6])-[CH;D2;+0:2]=[CH;D2;+0:1]-[c:3])>>"
        "(O=[C;H0;D3;+0:1](-[CH3;D1;+0:2])-[c:3].[O;D1;H0:4]=[CH;D2;+0:5]-[c:6])",
    ),
    # a step that is left out
    (
        Reason.LEFT_OUT,
        "([#7;a:4]:[c:5]:[n;H0;D3;+0:6](-[CH2;D2;+0:3]-[CH;D2;+0:1]=[CH2;D1;+0:2]):[c:7])>>"
        "(O=[C;H0;D3;+0:1](-[CH3;D1;+0:2])-[CH3;D1;+0:3].[#7;a:4]:[c:5]:[nH;D2;+0:6]:[c:7])",
    ),
    (Reason.LEFT_OUT, "([C:2]-[CH;D2;+0:1]=[N;H0;D2;+0:3]-[c:4])>>(Br-[CH2;D2;+0:1]-[C:2].[NH2;D1;+0:3]-[c:4])"),
    (
        Reason.LEFT_OUT,
        "([C:2]-[CH;D2;+0:1]=[CH;D2;+0:4]-[C:3])>>(O-[CH2;D2;+0:1]-[C:2].[C:3]-[CH2;D2;+0:4]-[P+](-c1:c:c:c:c:c:1)(-c1:c:c:c:c:c:1)-c1:c:c:c:c:c:1)",
    ),
    (
        Reason.LEFT_OUT,
        "([C:3]-[CH2;D2;+0:4]-[CH2;D2;+0:1]-[c:2])>>(O=[CH;D2;+0:1]-[c:2].[C:3]-[CH;D2;+0:4]=P(-c1:c:c:c:c:c:1)(-c1:c:c:c:c:c:1)-c1:c:c:c:c:c:1)",
    ),
    # polarity
    (Reason.SAME_POLARITY, f"({ARYL}-[CH3;D1;+0:4])>>(Cl-{BEARING_ARYL}.O-[CH3;D1;+0:4])"),
    (Reason.SAME_POLARITY, "([C:2]-[CH2;D2;+0:1]-[CH2;D2;+0:3]-[C:4])>>(Br-[CH2;D2;+0:1]-[C:2].I-[CH2;D2;+0:3]-[C:4])"),
    (Reason.SAME_POLARITY, "([C:2]-[CH2;D2;+0:1]-[NH;D2;+0:3]-[C:4])>>(Br-[Mg]-[CH2;D2;+0:1]-[C:2].[NH2;D1;+0:3]-[C:4])"),
    (Reason.SAME_POLARITY, f"({ARYL}-[CH2;D2;+0:4]-[C:5])>>(O-B(-O)-{BEARING_ARYL}.Br-[Mg]-[CH2;D2;+0:4]-[C:5])"),
    (
        Reason.SAME_POLARITY,
        "([c:1]-[C;H0;D3;+0:2](=[O;D1;H0:3])-[C;H0;D3;+0:4](=[O;D1;H0:5])-[C:6])>>"
        "(Cl-[C;H0;D3;+0:2](-[c:1])=[O;D1;H0:3].O-[C;H0;D3;+0:4](-[C:6])=[O;D1;H0:5])",
    ),
    # reagents
    (Reason.NO_SUCH_REAGENT, "([c:1]-[NH;D2;+0:2]-[C:3](=[O;D1;H0:4])-[O;D1;H1:5])>>([c:1]-[NH2;D1;+0:2].Cl-[C:3](=[O;D1;H0:4])-[O;D1;H1:5])"),
    (Reason.NO_SUCH_REAGENT, "([C:1]-[NH2;D1;+0:2])>>O-C(=O)-[NH;D2;+0:2]-[C:1]"),
    (Reason.NO_SUCH_REAGENT, "([c:3]:[c;H0;D3;+0:4](:[c:5])-[NH2;D1;+0:1])>>(O=[N;H0;D2;+0:1]-[O-].[c:3]:[cH;D2;+0:4]:[c:5])"),
    (Reason.NO_SUCH_REAGENT, "([Cl;H0;D1;+0:4]-[C:2](=[O;D1;H0:3])-[c:5])>>(O-[C:2](=[O;D1;H0:3])-[c:5].[Cl;H0;D1;+0:4]-c1:c:c:c:s:1)"),
]  # fmt: skip

RIGHT = [
    # tautomers of an azole, a mirrored chloromethyl ether, dihydropyran
    f"({ARYL}-[c;H0;D3;+0:6]1:[c:5]:[cH;D2;+0:4]:[n;H0;D2;+0:8]:[nH;D2;+0:7]:1)>>(Br-{BEARING_ARYL}.O-B(-O)-[c;H0;D3;+0:4]1:[c:5]:[cH;D2;+0:6]:[n;H0;D2;+0:7]:[nH;D2;+0:8]:1)",
    "([CH3;D1;+0:1]-[#8:2]-[CH2;D2;+0:3]-[O;H0;D2;+0:4]-[c:5])>>(Cl-[CH2;D2;+0:1]-[#8:2]-[CH3;D1;+0:3].[OH;D1;+0:4]-[c:5])",
    # dehydrogenation of a tetralin, Duff's and Stetter's reactions, an aldehyde and a diazo ester
    "([c:1]1:[cH;D2;+0:2]:[cH;D2;+0:3]:[cH;D2;+0:4]:[cH;D2;+0:5]:[c:6]:1)>>[c:1]1-[CH2;D2;+0:2]-[CH2;D2;+0:3]-[CH2;D2;+0:4]-[CH2;D2;+0:5]-[c:6]:1",
    "([c:3]:[c;H0;D3;+0:4](:[c:5])-[CH;D2;+0:1]=[O;D1;H0:2])>>([CH2;D1;+0:1]=[O;D1;H0:2].[c:3]:[cH;D2;+0:4]:[c:5])",
    "([C:6]-[C;H0;D3;+0:4](=[O;D1;H0:5])-[CH2;D2;+0:1]-[CH2;D2;+0:2]-[C:3]=[O:7])>>([C:6]-[CH;D2;+0:4]=[O;D1;H0:5].[CH2;D1;+0:1]=[CH;D2;+0:2]-[C:3]=[O:7])",
    # a Grignard reagent and an ester or aldehyde, a thiol and a chloroketone written as the enol
    "([C:2]-[CH2;D2;+0:1]-[CH;D3;+0:3](-[OH;D1;+0:4])-[C:5])>>(Br-[Mg]-[CH2;D2;+0:1]-[C:2].[O;H0;D1;+0:4]=[CH;D2;+0:3]-[C:5])",
    "([c:9]-[S;H0;D2;+0:8]-[C;H0;D3;+0:1](-[C:2])=[C;H0;D3;+0:3](-[OH;D1;+0:4])-[C:5])>>"
    "(Cl-[CH;D3;+0:1](-[C:2])-[C;H0;D3;+0:3](=[O;H0;D1;+0:4])-[C:5].[SH;D1;+0:8]-[c:9])",
    # arenes couple by a reductant, zinc closes a cyclopropane
    "([c:1]:[c;H0;D3;+0:2](:[c:3])-[c;H0;D3;+0:4](:[c:5]):[c:6])>>(Br-[c;H0;D3;+0:2](:[c:1]):[c:3].Br-[c;H0;D3;+0:4](:[c:5]):[c:6])",
    "([C:1]1-[CH2;D2;+0:2]-[CH2;D2;+0:3]-1)>>Br-[CH2;D2;+0:2]-[C:1]-[CH2;D2;+0:3]-Br",
    # a benzylic alcohol in a Friedel-Crafts alkylation
    "([c:1]-[CH2;D2;+0:2]-[c;H0;D3;+0:3](:[c:4]):[c:5])>>(O-[CH2;D2;+0:2]-[c:1].[c:4]:[cH;D2;+0:3]:[c:5])",
    # nitration, amination of a nitroarene by hydroxylamine, cyanuric fluoride, a carbamic ester
    "([c:3]:[c;H0;D3;+0:4](:[c:5])-[NH2;D1;+0:1])>>(O-[NH2;D1;+0:1].[c:3]:[cH;D2;+0:4]:[c:5])",
    "([F;H0;D1;+0:1]-[C:2](-[C:3])=[O;D1;H0:4])>>(Fc1:n:c(F):n:c(-[F;H0;D1;+0:1]):n:1.O-[C:2](-[C:3])=[O;D1;H0:4])",
]  # fmt: skip


@pytest.mark.parametrize(("reason", "text"), WRONG)
def test_atoms_that_do_not_meet_are_refused(reason: Reason, text: str) -> None:
    refusal = template_partners.check_partners(Template(text))

    assert refusal is not None and refusal.reason == reason, refusal


@pytest.mark.parametrize("text", RIGHT)
def test_atoms_that_meet_stay(text: str) -> None:
    graph = Template(text)

    assert template_partners.check_partners(graph) is None
    assert template_pots.check_pots(graph) is None


NOT_LOST = [
    "([c:2]:[cH;D2;+0:1]:[c:3])>>N-C(=O)-[c;H0;D3;+0:1](:[c:2]):[c:3]",
    "([c:2]:[cH;D2;+0:1]:[c:3])>>C-O-[c;H0;D3;+0:1](:[c:2]):[c:3]",
    "([c:2]:[cH;D2;+0:1]:[c:3])>>N#C-[c;H0;D3;+0:1](:[c:2]):[c:3]",
    "([C:2]-[CH2;D2;+0:1]-[C:3])>>N-[CH;D3;+0:1](-[C:2])-[C:3]",
    "([C:2]-[CH2;D2;+0:1]-[C:3])>>O-[CH;D3;+0:1](-[C:2])-[C:3]",
    "([C:1]-[CH3;D1;+0:2].[C:4]-[CH3;D1;+0:3])>>[C:1]-[CH2;D2;+0:2]-[CH2;D2;+0:3]-[C:4]",
    "([C:2]-[NH;D2;+0:1]-[C:3])>>C-C-[N;H0;D3;+0:1](-[C:2])-[C:3]",
    "([C:2]-[NH;D2;+0:1]-[C:3]=[O;D1;H0:4])>>C-[N;H0;D3;+0:1](-[C:2])-[C:3]=[O;D1;H0:4]",
    "([C:2]-[OH;D1;+0:1])>>C-C(-C)-[O;H0;D2;+0:1]-[C:2]",
]
LOST = [
    # halide, acid, xanthate, benzylic alcohol, an aminal's cyano group, malonic acid
    "([c:2]:[cH;D2;+0:1]:[c:3])>>Br-[c;H0;D3;+0:1](:[c:2]):[c:3]",
    "([c:2]:[cH;D2;+0:1]:[c:3])>>O-C(=O)-[c;H0;D3;+0:1](:[c:2]):[c:3]",
    "([#7;a:4]:[c:2]:[cH;D2;+0:1]:[c:3])>>C-C-O-C(=O)-[c;H0;D3;+0:1](:[c:3]):[c:2]:[#7;a:4]",
    "([C:2]-[CH2;D2;+0:1]-[C:3])>>C-S-C(=S)-O-[CH;D3;+0:1](-[C:2])-[C:3]",
    "([C:2]-[CH2;D2;+0:1]-[c:3])>>O-[CH;D3;+0:1](-[C:2])-[c:3]",
    "([C:2]-[CH2;D2;+0:1]-[#7:3])>>N#C-[CH;D3;+0:1](-[C:2])-[#7:3]",
    "([O;D1;H0:4]=[C:2]-[CH2;D2;+0:1]-[C:3])>>O-C(=O)-[CH;D3;+0:1](-[C:3])-[C:2]=[O;D1;H0:4]",
    # gem-dimethyl of a cyclopropane, von Braun, an aryl ether, a boronic ester, a carbamate that becomes methyl
    "([CH3;D1;+0:2]-[C:1]-[CH3;D1;+0:3])>>[C:1]1-[CH2;D2;+0:2]-[CH2;D2;+0:3]-1",
    "([C:2]-[NH;D2;+0:1]-[C:3])>>C-[N;H0;D3;+0:1](-[C:2])-[C:3]",
    "([OH;D1;+0:1]-[c:2])>>C-C(-C)-[O;H0;D2;+0:1]-[c:2]",
    "([c:2]-[B;H0;D3:1](-[OH;D1;+0:3])-[O;D1;H1:4])>>C-C-[O;H0;D2;+0:3]-[B;H0;D3:1](-[c:2])-[O;D1;H1:4]",
    "([C:2]-[NH;D2;+0:1]-[CH3;D1;+0:3])>>C-[N;H0;D3;+0:1](-[C:2])-[C;H0;D3;+0:3](=O)-O-C(-C)(-C)-C",
]


@pytest.mark.parametrize("text", NOT_LOST)
def test_a_group_that_nothing_takes_off_stays_on(text: str) -> None:
    assert template_losses.check_losses(Template(text)) is not None


@pytest.mark.parametrize("text", LOST)
def test_a_group_that_comes_off_may_leave(text: str) -> None:
    assert template_losses.check_losses(Template(text)) is None


def test_a_template_of_the_table_is_refused_with_the_chemists_reason(tmp_path: Path) -> None:
    table = tmp_path / "refused.tsv"
    table.write_text("# a comment\nretro_template\treason\n([C:1])>>[C:1]-O\ttoo general\n", encoding="utf-8")

    assert prepare_templates.refused_by_hand(table) == {"([C:1])>>[C:1]-O": "too general"}


def test_the_table_of_refused_templates_holds_what_no_rule_says() -> None:
    for text, reason in prepare_templates.refused_by_hand().items():
        graph = Template(text)
        judges = (template_partners.check_partners, template_pots.check_pots, template_losses.check_losses)
        assert reason and all(judge(graph) is None for judge in judges), text
