"""Molecules a second by kind of condition, through HTTP, on a service of its own: `./ops/bench conditioned`.

One caller asks for samples of each kind, one after the other. The kinds alternate, so that all meet the machine in the
same state. Half of the reservoir is full before each round. Samples with conditions on molecules are measured out of the
reservoir, and once drawn, which a seed forces. Makeable molecules are measured twice: out of those that idle searchers
have found ahead, and drawn and searched for, which a limit on lead times forces.

One JSON line a kind on standard output, a table on standard error. Only the standard library.
"""

import argparse
import json
from pathlib import Path
from statistics import median
from typing import Any

from installation import ROOT, UNLIMITED_RATES, Installation, Service, installation, log_line, wait_until
from recording import SAMPLES

LONGEST = 900.0
# Longer than any lead time of the demo catalogue.
ANY_LEAD_TIME = 3650
# Half of the default reservoir.
LYING_READY = 100_000
COMMON_RANGES = {
    "properties": {"mw": {"gte": 300, "lte": 450}, "clogp": {"lte": 4}, "qed": {"gte": 0.6}, "sa_score": {"lte": 3.5}},
    "alerts": ["pains", "brenk"],
}

KINDS: dict[str, dict[str, Any]] = {
    "no condition": {},
    "a seed": {"seed": 7},
    "properties": {"properties": {"mw": {"gte": 300, "lte": 450}, "clogp": {"lte": 4}}},
    "drug-likeness, SA score": {"properties": {"qed": {"gte": 0.6}, "sa_score": {"lte": 3.5}}},
    "alerts": {"alerts": ["pains", "brenk"]},
    "common ranges": COMMON_RANGES,
    "common ranges, drawn": COMMON_RANGES | {"seed": 7},
    "substructures": {"substructures_required": ["C(=O)N"], "substructures_never": ["[N+](=O)[O-]"]},
    "similarity": {"similar_to": ["CC(=O)Nc1ccc(O)cc1"], "similarity_gte": 0.2},
    "a scaffold": {"scaffold": "[*:1]c1ccc2[nH]nc([*:2])c2c1"},
    "linked fragments": {"fragments": ["[*:1]c1ccncc1", "[*:1]N1CCOCC1"]},
    "makeable, ready": {"synthesizable": {}},
    "makeable, in 3 steps, ready": {"synthesizable": {"max_steps": 3}},
    "makeable, searched for": {"synthesizable": {"max_lead_time_days": ANY_LEAD_TIME}},
}


def wait_for_makeable(on: Installation, model: str, molecules: int) -> None:
    """Returns when so many makeable molecules of a model wait, with three steps or fewer."""
    counted = f"select count(*) from makeable_molecules where model_id = '{model}' and steps <= 3"
    wait_until(lambda: int(on.cluster.query(counted)) >= molecules, f"{molecules:,} makeable molecules", LONGEST, 1)


def ask(caller: Service, args: argparse.Namespace, kind: str) -> float | None:
    """The seconds of one sample of a kind; none where it is not whole."""
    size = args.searched if kind == "makeable, searched for" else args.size
    answer = caller.call("POST", SAMPLES, {"size": size, "model_id": args.model, **KINDS[kind]})
    is_whole = answer.status == 200 and len(set(answer.json()["smiles"])) == size
    return answer.seconds / size if is_whole else None


def main() -> None:
    """Measures, prints lines of data and a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, required=True, help="folder of retort-api, retort-worker and retort")
    parser.add_argument("--model", default="druglike_gru")
    parser.add_argument("--size", type=int, default=1000, help="molecules of a sample")
    parser.add_argument("--searched", type=int, default=100, help="molecules of a sample whose routes are searched for")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each kind")
    args = parser.parse_args()

    took: dict[str, list[float]] = {kind: [] for kind in KINDS}
    errors = dict.fromkeys(KINDS, 0)
    settings = UNLIMITED_RATES | {"SAMPLER_MODELS": args.model, "MAKEABLE_RESERVOIR_SIZE": str(6 * args.size)}
    with installation(args.binaries, settings) as on:
        on.retort("catalogue", "import", str(ROOT / "ops/catalogue/demo.csv.gz"))
        on.api()
        on.sampler()
        on.searcher()
        caller = on.service(on.account("bench"))
        for _ in range(args.rounds):
            caller.wait_for_molecules(args.model, LYING_READY)
            wait_for_makeable(on, args.model, 2 * args.size)
            for kind in KINDS:
                seconds = ask(caller, args, kind)
                if seconds is None:
                    errors[kind] += 1
                else:
                    took[kind].append(seconds)

    log_line(f"\n{'samples of ' + str(args.size):32}{'molecules a second':>20}{'ms a thousand':>16}{'errors':>10}")
    for kind, each in took.items():
        rate = round(1 / median(each)) if each else None
        thousand = round(median(each) * 1e6, 1) if each else None
        line = {"measurement": "conditioned", "kind": kind, "molecules_per_second": rate, "errors": errors[kind]}
        print(json.dumps(line | {"milliseconds_per_thousand": thousand}), flush=True)
        log_line(f"{kind:32}{rate or 0:20,}{thousand or 0:16,}{errors[kind]:10}")


if __name__ == "__main__":
    main()
