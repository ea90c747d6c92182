"""Selects the template library: what reactions gave, and general reactions of medicinal chemistry written by hand.

The decision that matters: a template stays only if RDKit, applying it with both sides grouped, gives back the
recorded precursors of at least one of the reactions it came from. Grouping, `(product)>>(A.B)`, keeps a ring
opening from splitting into bogus fragments. Reactions of `--held-out` sources and of `--exclude` products count
neither as occurrences nor as examples. Templates that differ only in how they are written count as one. What
`template_sanity`, `template_partners`, `template_pots`, `template_losses`, `template_stereo` or `refused_templates.tsv`
refuses never enters the library, however often it was seen.
"""

import argparse
import collections
import csv
import functools
import gzip
import hashlib
import itertools
import re
from pathlib import Path

from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem

import template_losses
import template_partners
import template_pots
import template_sanity
import template_stereo
from template_graph import Template as TemplateGraph

FINGERPRINT_BITS = 2048
MAX_PRECURSORS = 4
MAX_TEMPLATE_LENGTH = 600
EXAMPLES_TO_CHECK = 4
REFUSED_BY_HAND = Path(__file__).parent / "refused_templates.tsv"
_MAP_NUMBER = re.compile(r":(\d+)\]")

Reaction = tuple[str, str, str, str]
Template = tuple[str, str, int]


class RefusedLine(Exception):
    """A line of the hand-written file that is broken, repeated or no retro template."""


def read_reactions(path: Path) -> list[Reaction]:
    """Reads source, product, reactants and retro template, one reaction a line."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [tuple(line.rstrip("\n").split("\t")) for line in lines]
    return [row for row in rows if len(row) == 4]


def read_products(paths: list[Path]) -> set[str]:
    """Reads the canonical SMILES of the `smiles` (or `product`) column of CSV files."""
    found = set()
    for path in paths:
        with path.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                mol = Chem.MolFromSmiles(row.get("smiles") or row.get("product") or "")
                if mol is not None:
                    found.add(Chem.MolToSmiles(mol))
    return found


def read_library(path: Path) -> list[str]:
    """Reads the grouped templates of templates.csv.gz, row by row."""
    return [text for text, _ in read_counted(path)]


def read_counted(path: Path) -> list[tuple[str, int]]:
    """Reads the grouped templates of templates.csv.gz with how often each was seen."""
    csv.field_size_limit(1 << 20)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["retro_template"], int(row["library_occurrence"])) for row in rows]


def grouped(template: str) -> str | None:
    """Groups the sides of a plain template and strips map numbers that only one side has."""
    product, precursors = template.split(">>")
    if len(template) > MAX_TEMPLATE_LENGTH or len(precursors.split(".")) > MAX_PRECURSORS:
        return None
    common = set(_MAP_NUMBER.findall(product)) & set(_MAP_NUMBER.findall(precursors))

    def strip(side: str) -> str:
        return _MAP_NUMBER.sub(lambda hit: hit.group(0) if hit.group(1) in common else "]", side)

    right = strip(precursors)
    return f"({strip(product)})>>({right})" if "." in right else f"({strip(product)})>>{right}"


def plain(text: str) -> str:
    """Takes the parentheses off the sides of a grouped template."""
    return ">>".join(side[1:-1] if side.startswith("(") else side for side in text.split(">>"))


def same_key(template: str, labels: dict[str, int]) -> str:
    """Gives a string that two templates share if they are one template, written in another order.

    Both sides become one molecule of labelled dummy atoms, bonds and the pairs of mapped atoms being atoms too, and
    RDKit's canonical SMILES orders it. A template with stereo is its own key: `@` hangs on the order of writing.
    """
    if any(mark in template for mark in "@/\\"):
        return template
    graph = Chem.RWMol()

    def add(label: str) -> int:
        atom = Chem.Atom(0)
        atom.SetIsotope(labels.setdefault(label, len(labels) + 1))
        return graph.AddAtom(atom)

    mapped: dict[int, list[int]] = collections.defaultdict(list)
    for side, text in zip("pr", template.split(">>"), strict=True):
        pattern = Chem.MolFromSmarts(text)
        if pattern is None:
            return template
        places = [add(side + _MAP_NUMBER.sub("]", atom.GetSmarts())) for atom in pattern.GetAtoms()]
        for atom in pattern.GetAtoms():
            if atom.GetAtomMapNum():
                mapped[atom.GetAtomMapNum()].append(places[atom.GetIdx()])
        for bond in pattern.GetBonds():
            middle = add("bond" + bond.GetSmarts())
            for end in (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()):
                graph.AddBond(middle, places[end], Chem.BondType.SINGLE)
    for pair in mapped.values():
        middle = add("map")
        for place in pair:
            graph.AddBond(middle, place, Chem.BondType.SINGLE)
    return Chem.MolToSmiles(graph)


def compiled(template: str) -> AllChem.ChemicalReaction | None:
    """Compiles a grouped template, or gives None when RDKit cannot."""
    try:
        reaction = AllChem.ReactionFromSmarts(template)
        reaction.Initialize()
    except (ValueError, RuntimeError):
        return None
    return reaction if reaction.GetNumReactantTemplates() == 1 else None


def canonical(smiles: str) -> str | None:
    """Gives the canonical SMILES, or None for what is no molecule."""
    mol = Chem.MolFromSmiles(smiles)
    return None if mol is None else Chem.MolToSmiles(mol)


def outcomes(reaction: AllChem.ChemicalReaction, product: Chem.Mol, max_outcomes: int = 200) -> list[str]:
    """Lists the precursor sets a retro template gives, canonical and sorted."""
    found = set()
    for outcome in reaction.RunReactants((product,), max_outcomes):
        smiles = canonical(".".join(Chem.MolToSmiles(part) for part in outcome))
        if smiles is not None:
            found.add(smiles)
    return sorted(found)


def gives_back(reaction: AllChem.ChemicalReaction, product: str, precursors: str) -> bool:
    """Says whether the template applied to the product has the recorded precursors among its outcomes."""
    return canonical(precursors) in outcomes(reaction, Chem.MolFromSmiles(product))


class Forward:
    """A template turned round: precursors to product."""

    def __init__(self, text: str) -> None:
        product, precursors = text.split(">>")
        precursors = precursors[1:-1] if precursors.startswith("(") and "." in precursors else precursors
        self.reaction = AllChem.ReactionFromSmarts(f"{precursors}>>{product[1:-1]}")
        self.reaction.Initialize()
        self.n_precursors = self.reaction.GetNumReactantTemplates()

    def arrange(self, mols: list[Chem.Mol]) -> list[Chem.Mol] | None:
        """Puts the molecules in the order of the template's patterns, or gives None when they do not fit."""
        if len(mols) != self.n_precursors:
            return None
        patterns = [self.reaction.GetReactantTemplate(i) for i in range(self.n_precursors)]
        for order in itertools.permutations(mols):
            if all(mol.HasSubstructMatch(pattern) for mol, pattern in zip(order, patterns, strict=True)):
                return list(order)
        return None

    def products(self, mols: list[Chem.Mol], max_outcomes: int = 30) -> list[str]:
        """Lists what the template can make of molecules in its own order, canonical and sorted."""
        found = set()
        for outcome in self.reaction.RunReactants(tuple(mols), max_outcomes):
            smiles = canonical(Chem.MolToSmiles(outcome[0])) if len(outcome) == 1 else None
            if smiles is not None and "." not in smiles:
                found.add(smiles)
        return sorted(found)


@functools.cache
def refused_by_hand(path: Path = REFUSED_BY_HAND) -> dict[str, str]:
    """Reads the templates that a chemist refused and no rule can, with the reasons."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["retro_template"]: row["reason"] for row in rows}


def refusal(text: str) -> str | None:
    """Gives the reason why a grouped template is refused as it stands, or None."""
    if text in refused_by_hand():
        return refused_by_hand()[text]
    found = template_sanity.check_template(text)
    if found is None:
        graph = TemplateGraph(text)
        found = template_partners.check_partners(graph) or template_pots.check_pots(graph) or template_losses.check_losses(graph)
    return None if found is None else found.reason.value


def sound(text: str) -> tuple[str | None, str]:
    """Gives a grouped template as it should be, or None, and the reason why it was changed or refused; empty for neither."""
    reason = refusal(text)
    if reason is not None:
        return None, reason
    mended = template_stereo.mended(text)
    if mended.verdict is template_stereo.Verdict.UNCHANGED:
        return text, ""
    return None if mended.verdict.is_refusal else mended.text, mended.verdict.value


def check_by_hand(line: str, seen: set[str], labels: dict[str, int]) -> tuple[str, str]:
    """Gives (name, grouped template) of a line of the hand-written file.

    Raises `RefusedLine` with the reason where the line is broken, repeats a template or does not hold for its example.
    """
    fields = line.split("\t")
    if len(fields) != 5 or fields[2].count(">>") != 1:
        raise RefusedLine("not name, class, retro template, product and precursors")
    name, _, plain, product, precursors = fields
    text = grouped(plain)
    reaction = compiled(text) if text else None
    mol, wanted = Chem.MolFromSmiles(product), canonical(precursors)
    if text is None or reaction is None:
        raise RefusedLine("not a retro template that RDKit compiles")
    if mol is None or wanted is None:
        raise RefusedLine("its example is no pair of molecules")
    key = same_key(plain, labels)
    if key in seen:
        raise RefusedLine("repeats an earlier template")
    better, reason = sound(text)
    if better != text:
        raise RefusedLine(f"{reason}: {better}" if better else reason)
    if wanted not in outcomes(reaction, mol):
        raise RefusedLine("does not give the example's precursors: written forwards, or too narrow?")
    turned = Forward(text)
    mols = [Chem.MolFromSmiles(part) for part in precursors.split(".")]
    if turned.n_precursors == len(mols):
        arranged = turned.arrange(mols)
        if arranged is None or Chem.MolToSmiles(mol) not in turned.products(arranged):
            raise RefusedLine("run forwards, it does not give the example's product back")
    seen.add(key)
    return name, text


def read_by_hand(path: Path, labels: dict[str, int]) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Reads the hand-written file: (name, grouped template, key) of good lines, and what was refused, with numbers."""
    good, refused, seen = [], [], set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            try:
                name, text = check_by_hand(line, seen, labels)
                good.append((name, text, same_key(line.split("\t")[2], labels)))
            except RefusedLine as reason:
                refused.append(f"{path.name}:{number}: {reason}")
    return good, refused


def select(
    reactions: list[Reaction], min_count: int, max_templates: int, labels: dict[str, int], refused: collections.Counter[str]
) -> list[tuple[str, Template]]:
    """Lists (key, (recorded template, grouped template, occurrences)), commonest first, ties by template.

    `refused` counts the templates that nothing else speaks against, by the reason they are refused for.
    """
    written = collections.Counter(row[3] for row in reactions)
    keys = {template: same_key(template, labels) for template in written}
    examples: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    best: dict[str, str] = {}
    for template in sorted(written, key=lambda text: (-written[text], text)):
        best.setdefault(keys[template], template)
    for _, product, precursors, template in reactions:
        examples[keys[template]].append((product, precursors))
    library, texts = [], set()
    for key in sorted(examples, key=lambda key: (-len(examples[key]), best[key])):
        if len(examples[key]) < min_count or len(library) == max_templates:
            break
        text = grouped(best[key])
        reaction = compiled(text) if text else None
        if text is None or not reaction:
            continue
        if not any(gives_back(reaction, *example) for example in examples[key][:EXAMPLES_TO_CHECK]):
            continue
        better, reason = sound(text)
        if better is None:
            refused[reason] += 1
        # Turned over, two templates may have become one or each other's mirror image, which means the same.
        elif better not in texts:
            texts |= {better, template_stereo.mirrored(better)}
            library.append((key, (best[key], better, len(examples[key]))))
    return library


def write_library(path: Path, library: list[Template]) -> None:
    """Writes templates.csv.gz: tab separated, row number = network output = library index; written by hand occurs 0 times."""
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:
        packed.write(b"\tretro_template\ttemplate_hash\tlibrary_occurrence\tlibrary_index\n")
        for row, (_, text, count) in enumerate(library):
            digest = hashlib.sha224(text.encode()).hexdigest()
            packed.write(f"{row}\t{text}\t{digest}\t{count}\t{row}\n".encode())


def main() -> None:
    """Writes `templates.csv.gz` and `reactions.tsv.gz` (part, product, precursors, its template's row) under `--out`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="extracted.tsv.gz of extract_templates.py")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="CSV files of products to leave out")
    parser.add_argument("--held-out", nargs="*", default=["uspto50k_val"], help="sources kept for the evaluation")
    parser.add_argument("--by-hand", type=Path, help="hand-written templates (.tsv); they follow the extracted ones")
    parser.add_argument("--min-count", type=int, default=2)
    parser.add_argument("--max-templates", type=int, default=25_000)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    args.out.mkdir(parents=True, exist_ok=True)

    labels: dict[str, int] = {}
    by_hand, refused = read_by_hand(args.by_hand, labels) if args.by_hand else ([], [])
    print("\n".join(refused) or "no hand-written line refused", flush=True)
    everything = read_reactions(args.data)
    held_out = [row for row in everything if row[0] in args.held_out]
    unwanted = read_products(args.exclude) | {row[1] for row in held_out}
    reactions = [row for row in everything if row[0] not in args.held_out and row[1] not in unwanted]
    reactions = [row for row in reactions if Chem.MolFromSmiles(row[1]) is not None]
    reasons: collections.Counter[str] = collections.Counter()
    selected = select(reactions, args.min_count, args.max_templates, labels, reasons)
    print("\n".join(f"{count} templates refused: {reason}" for reason, count in reasons.most_common()), flush=True)
    rows = {key: row for row, (key, _) in enumerate(selected)}
    library = [template for _, template in selected]
    extra = [(text, text, 0) for _, text, key in by_hand if key not in rows]
    write_library(args.out / "templates.csv.gz", library + extra)

    covered: collections.Counter[str] = collections.Counter()
    with gzip.open(args.out / "reactions.tsv.gz", "wt", compresslevel=4, encoding="utf-8") as out:
        for part, members in (("train", reactions), ("held-out", held_out)):
            for _, product, precursors, template in members:
                row = rows.get(same_key(template, labels))
                covered[part] += row is not None
                out.write(f"{part}\t{product}\t{precursors}\t{'' if row is None else row}\n")
    print(
        f"{len(reactions)} reactions, {len(library)} templates that cover {covered['train']} of them "
        f"({covered['train'] / len(reactions):.3f}), {len(extra)} of {len(by_hand)} written by hand added; "
        f"held out {len(held_out)}, covered {covered['held-out']}"
    )


if __name__ == "__main__":
    main()
