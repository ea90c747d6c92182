"""Wall times of samples and tree searches through HTTP, against a running installation.

One JSON object a request on standard output, a table on standard error. Only the standard library, and the
`retort` command for tokens, so that it runs wherever the service does.
"""

import argparse
import csv
import json
import statistics
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from installation import log_line


class Service:
    """The installation of a data folder."""

    def __init__(self, data: Path, retort: str) -> None:
        self.data, self.retort = data, retort
        self.base = (data / "api-url").read_text().strip()
        # A proxy cannot reach this machine's own service.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def post(self, path: str, body: dict) -> tuple[int, dict | None, float]:
        """Status, JSON body and seconds; waits where the rate limit or a full queue asks for it."""
        while True:
            token = subprocess.run(
                [self.retort, "--data", str(self.data), "token"], check=True, capture_output=True, text=True
            ).stdout.strip()
            request = urllib.request.Request(
                self.base + path,
                data=json.dumps(body).encode(),
                headers={"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
            )
            begun = time.perf_counter()
            try:
                with self.opener.open(request, timeout=300) as response:
                    answer = json.load(response)
                    return response.status, answer, time.perf_counter() - begun
            except urllib.error.HTTPError as error:
                if error.code in (429, 503) and (wait := error.headers.get("Retry-After")):
                    time.sleep(float(wait))
                    continue
                return error.code, None, time.perf_counter() - begun


def measure_samples(service: Service, sizes: list[int], repeats: int) -> None:
    """Wall times of samples of each size."""
    for size in sizes:
        walls = []
        for _ in range(repeats):
            status, sample, wall = service.post("/generator/v1/samples", {"size": size})
            unique = len(set(sample["smiles"])) if sample else 0
            emit(kind="sample", size=size, status=status, unique=unique, wall_s=round(wall, 4))
            if status == 200:
                walls.append(wall)
        if walls:
            log_line(f"sample of {size:>6}: median {statistics.median(walls):.3f} s of {len(walls)} ({size / min(walls):.0f}/s at best)")
        else:
            log_line(f"sample of {size:>6}: none succeeded")


def measure_searches(service: Service, targets: list[dict], seconds: list[float]) -> None:
    """Solved targets and times to the first validated route."""
    for limit in seconds:
        walls, stages, solved = [], [], 0
        for target in targets:
            body = {"search_smiles": target["smiles"], "max_seconds": limit}
            status, result, wall = service.post("/synth/v1/treesearch", body)
            found = bool(result and result["route_hierarchy"])
            metadata = result["metadata"] if result else {}
            emit(
                kind="treesearch",
                target=target.get("target_id", target["smiles"]),
                max_seconds=limit,
                status=status,
                solved=found,
                wall_s=round(wall, 4),
                metadata=metadata,
            )
            if found:
                solved += 1
                walls.append(wall)
                stages.append(metadata["tree_search_elapsed"])
        log_line(f"search of {limit:g} s: {solved} of {len(targets)} targets solved")
        if walls:
            log_line(
                f"    to the first route: median {statistics.median(walls):.3f} s through HTTP, "
                f"{statistics.median(stages):.3f} s of search"
            )


def emit(**fields: object) -> None:
    """A line of data."""
    print(json.dumps(fields), flush=True)


def numbers(kind: type) -> object:
    """A parser of numbers between commas."""
    return lambda text: [kind(part) for part in text.split(",") if part]


def main() -> None:
    """Measures what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(".retort"), help="data folder of the installation")
    parser.add_argument("--retort", default="retort", help="the retort command")
    parser.add_argument("--sizes", type=numbers(int), default=[10, 1000, 10000], help="samples to ask for")
    parser.add_argument("--repeats", type=int, default=3, help="samples of each size")
    parser.add_argument("--targets", type=Path, help="CSV with a column smiles; without it, no tree search")
    parser.add_argument("--seconds", type=numbers(float), default=[1.0, 4.0], help="max_seconds of the searches")
    arguments = parser.parse_args()

    service = Service(arguments.data, arguments.retort)
    measure_samples(service, arguments.sizes, arguments.repeats)
    if arguments.targets:
        with arguments.targets.open(newline="") as file:
            measure_searches(service, list(csv.DictReader(file)), arguments.seconds)


if __name__ == "__main__":
    main()
