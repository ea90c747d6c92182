"""Says which of renkin's routes its own rules give back: run forwards with RDKit, every step must make its product again.

    renkin_replay.py TEMPLATES.smi < ROUTES.jsonl

A line of the input is one target, {"routes": […]} as renkin writes them; a line of the output is 1 if a route of it stands and
else 0. Steps by the rules that renkin was built with are believed, but for `cc_single_cleavage`, which cuts any single bond
between carbons.
"""

import itertools
import json
import sys
from pathlib import Path

from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem

RDLogger.DisableLog("rdApp.*")


class Rules:
    def __init__(self, path: Path) -> None:
        lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
        self.templates = [line.split("\t")[0].strip() for line in lines]
        self.forward: dict[int, AllChem.ChemicalReaction] = {}

    def reaction(self, number: int) -> AllChem.ChemicalReaction:
        """The rule of this number, `product>>precursors`, the other way round."""
        if number not in self.forward:
            product, precursors = self.templates[number].split(">>")
            product = f"({product})" if "." in product else product
            self.forward[number] = AllChem.ReactionFromSmarts(f"{precursors}>>{product}")
            self.forward[number].Initialize()
        return self.forward[number]

    def gives(self, number: int, precursors: list[str], product: str) -> bool:
        reaction = self.reaction(number)
        molecules = [Chem.MolFromSmiles(smiles) for smiles in precursors]
        if None in molecules or len(molecules) != reaction.GetNumReactantTemplates():
            return False
        wanted = canonical(Chem.MolFromSmiles(product))
        orders = itertools.permutations(molecules)
        made = (part for order in orders for parts in reaction.RunReactants(order) for part in parts)
        return any(canonical(part) == wanted for part in made)


def canonical(molecule: Chem.Mol) -> str | None:
    try:
        Chem.SanitizeMol(molecule)
        return Chem.CanonSmiles(Chem.MolToSmiles(molecule))
    except Exception:  # RDKit raises many kinds for what is no molecule
        return None


def stands(rules: Rules, step: dict) -> bool:
    rule = step["rule"]
    if rule.startswith("extracted_"):
        return rules.gives(int(rule.removeprefix("extracted_")), step["precursors"], step["target"])
    return rule != "cc_single_cleavage"


def main() -> None:
    rules = Rules(Path(sys.argv[1]))
    for line in sys.stdin:
        routes = json.loads(line)["routes"]
        print(int(any(all(stands(rules, step) for step in route["steps"]) for route in routes)))


if __name__ == "__main__":
    main()
