"""Writes what a template's precedents say beside their products: patents that used it, and the conditions they did it under.

The decision that matters: conditions are counted, not chosen. Reagents stand in a reaction's record without amounts or order,
together with what the work-up took, so the commonest agents of many precedents say more than any one of them. Agents that have a
name and a role in the pack's `agents.tsv` count, counter-ions do not. Patents are those of the grants' rows of the same product whose precursors
are the reaction's; the oldest come first. `evidence.tsv.gz` has a line a template: its row, the number of its reactions, up to three
patents, and for each role at most `PER_ROLE` agents as `row of agents.tsv:count`.
"""

import argparse
import collections
import csv
import gzip
from pathlib import Path

import clean_reactions
import reactions
from precedents import reactions_by_template
from train_policy import Examples

GRANTS = "lowe_grants_1976_2009.tsv.gz"
PATENTS = 3
PER_ROLE = 4
LEAST_SHARE = 0.05

Agents = dict[str, tuple[int, str]]


def read_agents(path: Path) -> Agents:
    """Gives row and role of every agent by its SMILES; of two SMILES of one name the first one's row."""
    agents: Agents = {}
    rows: dict[str, int] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        for at, line in enumerate(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)):
            agents[line["smiles"]] = rows.setdefault(line["name"], at), line["role"]
    return agents


def patents_of_grants(rows: Path, data: Path) -> dict[str, list[tuple[frozenset[str], str]]]:
    """Lists, by product, the precursors of the grants' rows and the patent that each is from."""
    numbers: dict[int, tuple[str, frozenset[str]]] = {}
    for row in reactions.read_rows(rows):
        if row.source == GRANTS.split(".")[0]:
            numbers[row.line] = row.product, frozenset(row.precursors.split("."))
    found: dict[str, list[tuple[frozenset[str], str]]] = collections.defaultdict(list)
    with gzip.open(data / "reactions" / GRANTS, "rt", encoding="utf-8", newline="") as lines:
        for number, line in enumerate(csv.DictReader(lines, delimiter="\t"), start=2):
            if number in numbers:
                product, precursors = numbers[number]
                found[product].append((precursors, line["patent"]))
    return found


def conditions(counts: collections.Counter[int], roles: dict[int, str], total: int) -> list[tuple[int, int]]:
    """Picks the commonest agents of each role, of those that at least a twentieth of the reactions have."""
    picked: collections.Counter[str] = collections.Counter()
    kept = []
    for agent, count in counts.most_common():
        role = roles[agent]
        if picked[role] < PER_ROLE and count >= LEAST_SHARE * total:
            picked[role] += 1
            kept.append((agent, count))
    return kept


def main() -> None:
    """Writes `evidence.tsv.gz` into the pack, whose `agents.tsv` says which agents count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True, help="folder that reactions.py wrote")
    parser.add_argument("--data", type=Path, required=True, help="folder with reactions")
    parser.add_argument("--clean", type=Path, required=True, help="reactions_clean.tsv.gz")
    parser.add_argument("--examples", type=Path, required=True, help="what policy_examples made of it with the shipped library")
    parser.add_argument("--pack", type=Path, required=True)
    args = parser.parse_args()
    agents = read_agents(args.pack / "agents.tsv")
    roles = {row: role for row, role in agents.values()}
    grants = patents_of_grants(args.rows, args.data)
    clean = [
        (row["product"], frozenset(row["precursors"].split(".")), [agents[it][0] for it in row["reagents"].split(".") if it in agents])
        for row in clean_reactions.read(args.clean)
    ]  # fmt: skip
    examples = Examples(args.examples)
    written, with_patents = 0, 0
    with gzip.open(args.pack / "evidence.tsv.gz", "wt", compresslevel=9, encoding="utf-8", newline="") as out:
        for template, found in reactions_by_template(examples, examples.explained).items():
            lines = examples.arrays["lines"][found].tolist()
            counts: collections.Counter[int] = collections.Counter()
            patents: set[str] = set()
            for line in lines:
                product, precursors, used = clean[line]
                counts.update(set(used))
                patents.update(patent for known, patent in grants.get(product, ()) if known >= precursors)
            said = ",".join(f"{agent}:{count}" for agent, count in conditions(counts, roles, len(lines)))
            out.write(f"{template}\t{len(lines)}\t{','.join(sorted(patents)[:PATENTS])}\t{said}\n")
            written, with_patents = written + 1, with_patents + bool(patents)
    print(f"{written} templates, {with_patents} of them with a patent")


if __name__ == "__main__":
    main()
