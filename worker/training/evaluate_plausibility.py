"""Says how the forward judge tells steps that work from impossible ones, as tables of single steps have them.

The steps of `worker/reactivity/tests/data` were written by hand and are never trained on. A step counts as plausible as the most
plausible proposal of any template that makes it; steps that no template makes are counted and left out.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import refused_reactions
import train_plausibility


def steps(table: Path) -> dict[str, list[str]]:
    """Gives the reactions of a table by verdict: that of its first column, else of its name."""
    found: dict[str, list[str]] = {"right": [], "wrong": []}
    for line in table.read_text(encoding="utf-8").splitlines()[1:]:
        fields = line.split("\t")
        verdict = fields[0] if fields[0] in found else table.stem.split("_")[0]
        found[verdict].append(next(field for field in fields if ">>" in field))
    return found


def validities(explain: Path, pack: Path, reactions: list[str]) -> np.ndarray:
    """Gives (alone, among rivals) of each reaction that a template makes `[reactions, 2]`; NaN for the others."""
    values = [
        [(float(fields[2]), float(fields[3])) for fields in proposals]
        for _, proposals in refused_reactions.explained(explain, pack, reactions)
    ]
    return np.array([max(found, key=lambda pair: pair[1]) if found else (np.nan, np.nan) for found in values])


def main() -> None:
    """Prints the figures of each table and of all together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--explain", type=Path, required=True, help="the built example `explain` of `synth`")
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--tables", type=Path, nargs="+", required=True)
    args = parser.parse_args()
    sets: dict[str, dict[str, np.ndarray]] = {}
    for table in args.tables:
        for verdict, reactions in steps(table).items():
            if reactions:
                sets.setdefault("blind" if "blind" in table.stem else "known", {})[verdict] = validities(args.explain, args.pack, reactions)
    rng = np.random.default_rng(0)
    for name, verdicts in sets.items():
        right, wrong = (verdicts[verdict][~np.isnan(verdicts[verdict][:, 0])] for verdict in ("right", "wrong"))
        figures: dict = {"right": len(right), "wrong": len(wrong)}
        figures["no_template"] = {verdict: len(values) - int((~np.isnan(values[:, 0])).sum()) for verdict, values in verdicts.items()}
        for column, way in enumerate(("alone", "among_rivals")):
            a, b = right[:, column], wrong[:, column]
            drawn = [train_plausibility.auc(rng.choice(a, len(a)), rng.choice(b, len(b))) for _ in range(1000)]
            figures[way] = {
                "auc": round(train_plausibility.auc(a, b), 4),
                "auc_interval": [round(float(bound), 4) for bound in np.quantile(drawn, [0.025, 0.975])],
                "right_lost_wrong_refused": {
                    str(threshold): [round(float((a < threshold).mean()), 4), round(float((b < threshold).mean()), 4)]
                    for threshold in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
                },
            }
        print(json.dumps({name: figures}), flush=True)


if __name__ == "__main__":
    main()
