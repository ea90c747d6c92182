"""Audits answers of POST /synth/v1/treesearch with RDKit and nothing of the project.

    python ops/audit_routes.py ANSWER.json… [--catalogue FILE.csv[.gz]] [--request REQUEST.json] [--templates templates.csv.gz]

Each file holds an answer, or a list of {"request": …, "answer": …}. The catalogue's column `smiles` lists what can be bought
(every component, canonical and without the charges of its salt); a leaf may be a tautomer of what is offered. With templates each step has to be
one: some template, run forwards by RDKit on the step's precursors, gives its product, stereo included, but for a step that `needs` a
source of stereo; without templates, only the atoms are accounted for. Prints every fault with its route and step, then a table; exits with 1 if there is a fault.
"""

import argparse
import csv
import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem, Descriptors
from rdkit.Chem.MolStandardize import rdMolStandardize

RDLogger.DisableLog("rdApp.*")
csv.field_size_limit(1 << 24)

COUNTRIES = ["US", "CA", "GB", "FR", "CH", "DE", "CN", "AU"]
GRAMS = {"ug": 1e-6, "mg": 1e-3, "g": 1.0, "kg": 1e3}
MOLES = {"umol": 1e-6, "mmol": 1e-3, "mol": 1.0}
VOLUMES = {"ul", "ml", "l"}
# What reagents that routes do not list bring in: thionyl chloride, N-bromosuccinimide, oxidants.
FROM_REAGENTS = {"F", "Cl", "Br", "I", "O"}
DEFAULTS = {
    "max_depth": 5,
    "mask_usd_pricing_gte": 10_000.0,
    "mask_lead_times_gte": None,
    "mask_bblocks_mw_gte": None,
    "ships_to": "US",
    "max_backbone_groups": 5,
    "max_backbone_group_size": 10,
}


@lru_cache(maxsize=None)
def canonical(smiles: str) -> str | None:
    molecule = Chem.MolFromSmiles(smiles)
    return None if molecule is None else Chem.MolToSmiles(molecule)


@lru_cache(maxsize=None)
def flattened(smiles: str) -> str | None:
    """The canonical SMILES without stereo."""
    molecule = Chem.MolFromSmiles(smiles)
    return None if molecule is None else Chem.MolToSmiles(molecule, isomericSmiles=False)


@lru_cache(maxsize=None)
def neutral(smiles: str) -> str | None:
    """The canonical SMILES of a component without the charges that protons can take away."""
    molecule = Chem.MolFromSmiles(smiles)
    if molecule is None:
        return None
    charged = any(atom.GetFormalCharge() for atom in molecule.GetAtoms())
    return canonical(Chem.MolToSmiles(rdMolStandardize.Uncharger().uncharge(molecule) if charged else molecule))


@lru_cache(maxsize=None)
def substance(smiles: str) -> str:
    """The InChIKey, protonation aside, of the tautomer that RDKit chooses."""
    enumerator = rdMolStandardize.TautomerEnumerator()
    enumerator.SetRemoveSp3Stereo(False)
    chosen = enumerator.Canonicalize(Chem.MolFromSmiles(neutral(smiles) or smiles))
    return Chem.MolToInchiKey(chosen)[:25]


@lru_cache(maxsize=None)
def anions(smiles: str) -> list[str]:
    """A small molecule without one of its protons, in every way."""
    molecule = Chem.MolFromSmiles(smiles)
    found = []
    for atom in molecule.GetAtoms() if molecule.GetNumHeavyAtoms() < 7 else ():
        if atom.GetTotalNumHs() and atom.GetFormalCharge() == 0:
            ion = Chem.RWMol(molecule)
            site = ion.GetAtomWithIdx(atom.GetIdx())
            site.SetNumExplicitHs(atom.GetTotalNumHs() - 1)
            site.SetNoImplicit(True)
            site.SetFormalCharge(-1)
            found.append(Chem.MolToSmiles(ion))
    return found


def elements(smiles: str) -> Counter[str]:
    molecule = Chem.MolFromSmiles(smiles)
    return Counter(atom.GetSymbol() for atom in molecule.GetAtoms()) if molecule else Counter()


class Templates:
    """Every template, run forwards: product patterns are tried first, reactions are compiled when they are needed."""

    def __init__(self, path: Path) -> None:
        self.sides: list[tuple[Chem.Mol, str, str]] = []
        with gzip.open(path, "rt", newline="") as file:
            for row in csv.reader(file, delimiter="\t"):
                product, _, precursors = row[1].partition(">>")
                pattern = Chem.MolFromSmarts(product.strip("()") if product.count("(") == 1 else product[1:-1])
                if precursors and pattern is not None:
                    self.sides.append((pattern, product, precursors))
        self.replayed: dict[tuple[str, str, bool], bool] = {}

    @lru_cache(maxsize=4096)
    def forward(self, at: int) -> Any:
        _, product, precursors = self.sides[at]
        group = lambda side: side if side.startswith("(") and side.endswith(")") else f"({side})"  # noqa: E731
        reaction = AllChem.ReactionFromSmarts(f"{group(precursors)}>>{group(product)}")
        reaction.Initialize()
        return reaction

    def gives(self, precursors: str, product: str, flat: bool) -> bool:
        """Says whether a template gives the product; with `flat`, whatever its stereo."""
        key = (precursors, product, flat)
        if key not in self.replayed:
            self.replayed[key] = self._gives(precursors, product, flat)
        return self.replayed[key]

    def _gives(self, precursors: str, product: str, flat: bool) -> bool:
        target, educts = Chem.MolFromSmiles(product), Chem.MolFromSmiles(precursors)
        written = flattened if flat else canonical
        wanted = written(product)
        for at, (pattern, _, _) in enumerate(self.sides):
            if not target.HasSubstructMatch(pattern):
                continue
            try:
                outcomes = self.forward(at).RunReactants((educts,))
            except ValueError:
                continue
            for (outcome,) in outcomes:
                text = Chem.MolToSmiles(outcome)
                if any(written(part) == wanted for part in text.split(".")):
                    return True
        return False


class Audit:
    """Faults found so far, by check."""

    def __init__(self, catalogue: set[str] | None, templates: Templates | None) -> None:
        self.catalogue = catalogue
        self.templates = templates
        self.passed: Counter[str] = Counter()
        self.faults: dict[str, list[str]] = defaultdict(list)
        self.routes = 0

    def check(self, name: str, holds: bool, where: str) -> bool:
        if holds:
            self.passed[name] += 1
        else:
            self.faults[name].append(where)
        return holds

    def answer(self, answer: dict[str, Any], request: dict[str, Any], where: str) -> None:
        wanted = DEFAULTS | request
        target = canonical(answer["search_smiles"])
        offers = self.offers(answer, wanted, where)
        reactions: set[str] = set()
        hierarchy = answer["route_hierarchy"]
        groups = [group for by_key in hierarchy.values() for group in by_key.items()]
        self.check("no more groups than asked for", len(groups) <= wanted["max_backbone_groups"], where)
        keys = [(steps, key) for steps, by_key in hierarchy.items() for key in by_key]
        for steps, key in keys:
            variations = hierarchy[steps][key]
            here = f"{where} {steps}/{key}"
            self.check("keys are b and 16 hexadecimal digits", bool(re.fullmatch(r"b[0-9a-f]{16}", key)), here)
            self.check("no more variations than asked for", len(variations) <= wanted["max_backbone_group_size"], here)
            seen: set[frozenset[int | None]] = set()
            for nth, routes in enumerate(variations):
                leaves = set()
                for route in routes:
                    self.routes += 1
                    leaves.add(self.route(route, int(steps), target, wanted, offers, reactions, f"{here} {nth}"))
                self.check("one set of building blocks a variation", len(leaves) == 1, f"{here} {nth}")
                self.check("variations differ", not leaves & seen, f"{here} {nth}")
                seen |= leaves
        listed = {once(step) for step in answer["reagent_results"]["reaction_to_edges"]}
        self.check("reaction_to_edges lists every step once", listed == reactions, f"{where}: {listed ^ reactions}")
        count = sum(len(routes) for variations in (hierarchy[s][k] for s, k in keys) for routes in variations)
        self.check("validated_routes counts those returned", answer["metadata"]["validated_routes"] >= count, where)

    def offers(self, answer: dict[str, Any], wanted: dict[str, Any], where: str) -> dict[int, list[dict[str, Any]]]:
        by_block: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for offer in answer["pricing_annotations"]:
            by_block[offer["major_component_id"]].append(offer)
            here = f"{where} offer {offer['cs_id']}"
            if (offer["uom"] or "").lower() in VOLUMES:
                continue  # The answer does not say the density.
            expected = normalised(offer)
            stated = offer["normalised_usd"]
            same = (expected is None) == (stated is None) and (
                expected is None or stated is None or abs(expected - stated) <= 1e-3 * max(expected, 1e-9)
            )
            self.check("price per gram follows from the pack", same, f"{here}: {stated}, not {expected}")
        return by_block

    def route(
        self,
        route: dict[str, Any],
        steps: int,
        target: str | None,
        wanted: dict[str, Any],
        offers: dict[int, list[dict[str, Any]]],
        reactions: set[str],
        where: str,
    ) -> frozenset[int | None]:
        nodes = {node["id"]: node["data"] for node in route["nodes"]}
        below: dict[str, list[str]] = defaultdict(list)
        for edge in route["edges"]:
            below[edge["source"]].append(edge["target"])
        flat = {edge["source"] for edge in route["edges"] if edge.get("needs")}
        whole = all(end in nodes for edge in route["edges"] for end in (edge["source"], edge["target"]))
        self.check("edges join nodes of the route", whole, where)
        root = route["nodes"][0]["id"]
        self.check("the first node is the target", nodes[root]["smiles"] == target, where)
        self.check("smiles are canonical", all(canonical(n["smiles"]) == n["smiles"] for n in nodes.values()), where)
        longest = longest_branch(root, below, ())
        if not self.check("no cycle", longest is not None, where):
            return frozenset()
        self.check("k1 is the longest branch", longest == steps, where)
        self.check("the depth limit holds", steps <= wanted["max_depth"], where)
        reached = reach(root, below)
        self.check("every node is needed", reached == set(nodes), where)
        leaves: set[int | None] = set()
        for id, data in nodes.items():
            if below[id]:
                self.check("what is made is not bought", not data["is_building_block"], where)
                precursors = sorted(nodes[precursor]["smiles"] for precursor in below[id])
                reactions.add(self.step(precursors, data["smiles"], id in flat, where))
            else:
                leaves.add(data["building_block_idx"])
                self.leaf(data, wanted, offers.get(data["building_block_idx"], []), where)
        return frozenset(leaves)

    def step(self, precursors: list[str], product: str, flat: bool, where: str) -> str:
        step = f"{'.'.join(precursors)}>>{product}"
        self.check("the product is not among its precursors", product not in precursors, f"{where}: {step}")
        if self.templates:
            # A precursor that is needed twice has one edge.
            ways = [precursors, *([*precursors, twice] for twice in precursors)]
            # What a template needs as an ion is written as it is sold.
            for at, precursor in enumerate(precursors):
                ways += [[*precursors[:at], ion, *precursors[at + 1 :]] for ion in anions(precursor)]
            gives = any(self.templates.gives(".".join(way), product, flat) for way in ways)
            self.check("the step, run forwards, gives its product", gives, f"{where}: {step}")
        else:
            made, used = elements(product), Counter[str]()
            for precursor in precursors:
                used += elements(precursor)
            lost = {element: n for element, n in made.items() if element not in FROM_REAGENTS}
            missing = [element for element, n in lost.items() if used[element] == 0 or 2 * used["C"] < made["C"]]
            self.check("the product's atoms are accounted for", not missing, f"{where}: {step}: {missing}")
        return step

    def leaf(self, data: dict[str, Any], wanted: dict[str, Any], offers: list[dict[str, Any]], where: str) -> None:
        here = f"{where}: {data['smiles']}"
        self.check("leaves are bought", data["is_building_block"] and data["building_block_idx"] is not None, here)
        self.check("a building block is its own nearest", data["closest_building_block"] == 1.0, here)
        molecule = Chem.MolFromSmiles(data["smiles"])
        self.check("weights are right", abs(Descriptors.MolWt(molecule) - data["mw"]) < 0.01, here)
        blocks = {offer["major_component"] for offer in offers}
        own = data["smiles"] in blocks or substance(data["smiles"]) in map(substance, blocks)
        if self.catalogue is not None:
            self.check("leaves are in the catalogue", bool({data["smiles"], *blocks} & self.catalogue), here)
        self.check("leaves have offers of their own", own, here)
        country = wanted["ships_to"]
        shipped = [o for o in offers if country is None or o[f"lead_time_days_to_{country}"] is not None]
        prices = [o["normalised_usd"] for o in shipped if o["normalised_usd"] is not None]
        limit = wanted["mask_usd_pricing_gte"]
        self.check("leaves are within the price mask", limit is None or not prices or min(prices) < limit, here)
        heavy = wanted["mask_bblocks_mw_gte"]
        self.check("leaves are within the weight mask", heavy is None or data["mw"] < heavy, here)
        slow = wanted["mask_lead_times_gte"]
        days = [o[f"lead_time_days_to_{c}"] for o in shipped for c in ([country] if country else COUNTRIES)]
        known = [day for day in days if day is not None]
        self.check("leaves are within the lead-time mask", slow is None or not known or min(known) < slow, here)

    def report(self) -> bool:
        for name, faults in self.faults.items():
            for fault in faults[:20]:
                print(f"FAULT {name}: {fault}")
            if len(faults) > 20:
                print(f"FAULT {name}: {len(faults) - 20} more")
        print(f"{'check':<44} {'passed':>8} {'failed':>8}")
        for name in sorted(self.passed.keys() | self.faults.keys()):
            print(f"{name:<44} {self.passed[name]:>8} {len(self.faults[name]):>8}")
        print(f"{self.routes} routes audited")
        return not any(self.faults.values())


def normalised(offer: dict[str, Any]) -> float | None:
    """USD per gram of the major component, None where the pack does not tell."""
    pack, uom, price = offer["pack"], (offer["uom"] or "").lower(), offer["price_usd"]
    if pack is None or price is None or pack <= 0:
        return None
    parts = offer["full_canonical"].split(".")
    times = sum(offer["major_component"] in (canonical(part), neutral(part)) for part in parts)
    major = times * Descriptors.MolWt(Chem.MolFromSmiles(offer["major_component"]))
    if uom in GRAMS:
        return price / (pack * GRAMS[uom] * major / offer["mw"])
    if uom in MOLES:
        return price / (pack * MOLES[uom] * major)
    return None


def once(step: str) -> str:
    """The step with each precursor named once: edges do not say how often it is needed."""
    precursors, _, product = step.partition(">>")
    return f"{'.'.join(sorted(set(precursors.split('.'))))}>>{product}"


def longest_branch(at: str, below: dict[str, list[str]], path: tuple[str, ...]) -> int | None:
    """Steps of the longest branch from `at`, None if there is a cycle."""
    if at in path:
        return None
    lengths = [longest_branch(next_, below, (*path, at)) for next_ in below[at]]
    if None in lengths:
        return None
    return 1 + max(length for length in lengths if length is not None) if lengths else 0


def reach(root: str, below: dict[str, list[str]]) -> set[str]:
    found, open_ = {root}, [root]
    while open_:
        for next_ in below[open_.pop()]:
            if next_ not in found:
                found.add(next_)
                open_.append(next_)
    return found


def answers(path: str, request: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any], str]]:
    content = json.loads(Path(path).read_text()) if path != "-" else json.load(sys.stdin)
    for nth, item in enumerate(content if isinstance(content, list) else [content]):
        if "answer" in item:
            yield item["answer"], request | item.get("request", {}), f"{path}[{nth}]"
        else:
            yield item, request, f"{path}[{nth}]"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", nargs="+", metavar="ANSWER.json", help="`-` is standard input")
    parser.add_argument("--catalogue", nargs="*", type=Path, default=[], help="CSV with a column `smiles`, gzipped or not")
    parser.add_argument("--request", type=Path, help="the request's JSON, for its masks and limits")
    parser.add_argument("--templates", type=Path, help="templates.csv.gz of the model that was asked")
    arguments = parser.parse_args()

    catalogue: set[str] | None = None
    for path in arguments.catalogue:
        catalogue = catalogue or set()
        opened = gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="")
        with opened as file:
            for row in csv.DictReader(file):
                for part in row["smiles"].split("."):
                    catalogue.update(form for form in (canonical(part), neutral(part)) if form)
    templates = Templates(arguments.templates) if arguments.templates else None
    request = json.loads(arguments.request.read_text()) if arguments.request else {}
    audit = Audit(catalogue, templates)
    for path in arguments.answers:
        for answer, wanted, where in answers(path, request):
            audit.answer(answer, wanted, where)
    return 0 if audit.report() else 1


if __name__ == "__main__":
    sys.exit(main())
