"""Pictures of the dashboards' pages, out of a real Prometheus: `./ops/bench pictures`.

A service of its own under mixed traffic (`load.py`), a Prometheus that asks its processes, and every panel of every page of
`ops/dashboards` drawn from what that answers to the panel's own queries. For who wants to see what the pages show before there is a
Grafana; Matplotlib is installed at the first run. Writes NAME.png for each page into the folder that is named.
"""

import argparse
import json
import math
import os
import re
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from environments import environment

try:
    import matplotlib
except ModuleNotFoundError:
    python = environment("pictures", ["matplotlib"])
    os.execv(python, [str(python), *sys.argv])

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from installation import ROOT, Installation, free_port, log_line  # noqa: E402
from load import MIX, Load, service  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402
from PIL import Image  # noqa: E402

PAGES = ROOT / "ops/dashboards"
SCRAPED_EVERY = 5
# What `$__rate_interval` is with that.
RATE = "20s"
INK, PAPER, PANEL, FAINT = "#d8d9da", "#111217", "#181b1f", "#2c3235"
LINES = ["#73bf69", "#f2cc0c", "#5794f2", "#ff780a", "#b877d9", "#f2495c", "#8ab8ff", "#96d98d", "#ffb357", "#ca95e5"]

Series = list[tuple[str, list[float], list[float]]]


class Prometheus:
    """One that runs meanwhile."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}/api/v1/query_range"
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def series(self, target: dict[str, Any], begin: float, end: float) -> Series:
        """What a query gave over a time, each with its name in the legend."""
        query = target["expr"].replace("$__rate_interval", RATE).replace("$__range", f"{int(end - begin)}s")
        words = urllib.parse.urlencode({"query": query, "start": begin, "end": end, "step": SCRAPED_EVERY})
        with self.opener.open(f"{self.base}?{words}") as answer:
            results = json.load(answer)["data"]["result"]
        legend = target.get("legendFormat", "")
        found = []
        for result in results:
            labels = result["metric"]
            name = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda match: labels.get(match[1], ""), legend)
            points = [(float(at), float(value)) for at, value in result["values"] if math.isfinite(float(value))]
            found.append((name, [at - begin for at, _ in points], [value for _, value in points]))
        return [one for one in found if one[1]]


@contextmanager
def prometheus(on: Installation, ports: dict[str, int], folder: Path) -> Iterator[Prometheus]:
    """Asks the processes on these ports meanwhile."""
    scraped = [{"job_name": f"retort-{name}", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]} for name, port in ports.items()]
    config = {"global": {"scrape_interval": f"{SCRAPED_EVERY}s"}, "scrape_configs": scraped}
    (folder / "prometheus.yml").write_text(json.dumps(config))
    port = free_port()
    command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"]
    on.start_command(command)
    time.sleep(3)
    yield Prometheus(port)


def in_words(value: float, unit: str | None) -> str:
    """As a person reads it."""
    if unit == "percentunit":
        return f"{100 * value:.3g} %"
    if unit == "s":
        return f"{value:.3g} s" if value >= 1 or value == 0 else f"{1000 * value:.3g} ms"
    suffix = {"bytes": "B", "Bps": "B/s", "reqps": " req/s", "cps": "/s"}.get(unit or "", "")
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {letter}{suffix.strip()}"
    return f"{value:.3g}{suffix}"


def draw(panel: dict[str, Any], series: Series, axes: plt.Axes, lasted: float) -> None:
    """One panel."""
    unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit")
    axes.set_facecolor(PANEL)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    axes.set_title(panel["title"], color=INK, fontsize=9, loc="left", pad=5)
    if panel["type"] == "stat":
        axes.set_xticks([])
        axes.set_yticks([])
        last = series[0][2][-1] if series else None
        axes.text(0.5, 0.48, "-" if last is None else in_words(last, unit), color=LINES[0], fontsize=20, ha="center", va="center", transform=axes.transAxes)
        return
    for number, (name, at, values) in enumerate(series):
        axes.plot(at, values, color=LINES[number % len(LINES)], linewidth=1.1, label=name or "all")
    axes.set_xlim(0, lasted)
    axes.set_ylim(bottom=0)
    axes.grid(color=FAINT, linewidth=0.5)
    axes.tick_params(colors=INK, labelsize=6.5, length=0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{int(at) // 60}:{int(at) % 60:02}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: in_words(value, unit)))
    if series:
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.11), ncol=3, fontsize=5.8, frameon=False, labelcolor=INK, handlelength=1, columnspacing=1
        )


def picture(page: Path, source: Prometheus, begin: float, end: float, out: Path) -> None:
    """One page."""
    board = json.loads(page.read_text())
    columns = 24
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in board["panels"])
    figure = plt.figure(figsize=(11, rows * 0.34), facecolor=PAPER)
    figure.text(0.02, 1 - 0.12 / (rows * 0.34) - 0.01, board["title"], color=INK, fontsize=12, va="top")
    for panel in board["panels"]:
        place = panel["gridPos"]
        left, width = place["x"] / columns, place["w"] / columns
        height, bottom = place["h"] / rows, 1 - (place["y"] + place["h"]) / rows
        is_graph = panel["type"] != "stat"
        shift = 0.035
        axes = figure.add_axes((
            left + (0.055 if is_graph else 0.02), (bottom + height * (0.26 if is_graph else 0.1)) * (1 - shift),
            width - (0.07 if is_graph else 0.03), height * (0.6 if is_graph else 0.62) * (1 - shift),
        ))
        series = [one for target in panel["targets"] for one in source.series(target, begin, end)]
        draw(panel, series, axes, end - begin)
    path = out / f"{page.stem}.png"
    figure.savefig(path, dpi=100, facecolor=PAPER)
    plt.close(figure)
    # A few colours, in a quarter of the bytes.
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)
    log_line(str(path))


def main() -> None:
    """Draws what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="./ops/bench pictures", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=180, help="of traffic (180)")
    parser.add_argument("--rate", type=float, default=20, help="requests a second (20)")
    parser.add_argument("folder", type=Path, help="where the pictures go")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    ports = {name: free_port() for name in ("api", "sampler", "searcher")}
    with service(args, ports) as load, tempfile.TemporaryDirectory() as folder:
        with prometheus(load.on, ports, Path(folder)) as source:
            begin = time.time()
            traffic(load, args)
            for page in sorted(PAGES.glob("*.json")):
                picture(page, source, begin, time.time(), args.folder)


def traffic(load: Load, args: argparse.Namespace) -> None:
    """Calm, then three times as much, then calm again."""
    for share, rate in ((0.4, 1.0), (0.3, 3.0), (0.3, 1.0)):
        load.measure(args.seconds * share, MIX, args.rate * rate)


if __name__ == "__main__":
    main()
