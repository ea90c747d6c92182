"""AiZynthFinder's stock of so many molecules: how long it takes to load, what memory it takes and what a look-up takes.

    python3 ops/load/stock.py BLOCKS (`./ops/bench catalogue` runs it for as many as it has measured)

The stock is a table of InChIKeys in HDF5, as its download_public_data has it, and the class that reads it is AiZynthFinder's own
(InMemoryInchiKeyQuery). Keys are made of numbers: what molecule a key stands for makes no difference to reading it. Where its
packages cannot be installed, that is said.
"""

import gc
import hashlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from environments import AIZYNTHFINDER, environment

LOOK_UPS = 100_000


def key(number: int) -> str:
    """Something like an InChIKey: fourteen letters, eight, and the end that most have."""
    digest = hashlib.sha256(str(number).encode()).digest()
    letters = "".join(chr(ord("A") + byte % 26) for byte in digest[:22])
    return f"{letters[:14]}-{letters[14:]}SA-N"


def resident() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


class Keyed:
    """What a query asks of a molecule."""

    def __init__(self, number: int):
        self.inchi_key = key(number)


def measure(blocks: int) -> None:
    """Loads the stock, and prints the figures; runs with AiZynthFinder's interpreter."""
    import pandas
    from aizynthfinder.context.stock.queries import InMemoryInchiKeyQuery

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stock.hdf5"
        pandas.DataFrame({"inchi_key": [key(number) for number in range(blocks)]}).to_hdf(path, key="table")
        gc.collect()
        before, began = resident(), time.perf_counter()
        stock = InMemoryInchiKeyQuery(str(path))
        loaded = time.perf_counter() - began
        gc.collect()
        megabytes = (resident() - before) / 1e6
    asked = [Keyed(number * 7_919 % (2 * blocks)) for number in range(LOOK_UPS)]
    began = time.perf_counter()
    found = sum(molecule in stock for molecule in asked)
    each = (time.perf_counter() - began) / LOOK_UPS
    print(
        f"{len(stock)} keys loaded in {loaded:.2f} s, {megabytes:.0f} MB more in memory ({megabytes * 1e6 / blocks:.0f} bytes a block);"
        f" {found} of {LOOK_UPS} found, {each * 1e9:.0f} ns each, its key being known; no prices, no similarity"
    )


def main() -> None:
    if sys.argv[1] == "--inside":
        measure(int(sys.argv[2]))
        return
    try:
        python = environment("aizynth", AIZYNTHFINDER)
    except subprocess.CalledProcessError:
        print("skipped: aizynthfinder cannot be installed")
        return
    subprocess.run([python, __file__, "--inside", sys.argv[1]], check=True)


if __name__ == "__main__":
    main()
