"""Runs renkin on targets: renkin_routes.py KIT TARGETS.csv LIMIT_SECONDS default|kit, in renkin's virtual environment.

As the kit's run_renkin.py does, but with the routes: one JSON object a target.
"""

import csv
import gzip
import json
import resource
import sys
import time
from pathlib import Path

import renkin


def main() -> None:
    kit, targets, limit, mode = Path(sys.argv[1]), Path(sys.argv[2]), round(float(sys.argv[3])), sys.argv[4]
    with gzip.open(kit / "stock.csv.gz", "rt") as file:
        stock = [row["smiles"] for row in csv.DictReader(file)]
    extracted = {"templates_path": str(kit / "renkin_templates.smi"), "top_templates": 500} if mode == "kit" else {}
    with targets.open(newline="") as file:
        smiles = [row["smiles"] for row in csv.DictReader(file)]
    for target in smiles:
        start = time.process_time()
        answer = json.loads(
            renkin.find_routes(
                target,
                depth=5,
                max_routes=5,
                beam_width=100,
                building_blocks=stock,
                time_limit_seconds=limit,
                exclude_target_from_stock=True,
                first_route_stats=True,
                search_stats=True,
                **extracted,
            )
        )
        first = answer.get("first_route") or {}
        result = {
            "routes": answer.get("routes") or [],
            "first_ms": first.get("wall_ms") or first.get("elapsed_ms"),
            "cpu_s": time.process_time() - start,
            "expansions": (answer.get("search_stats") or {}).get("nodes_expanded") or 0,
            "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
