"""Virtual environments of the programs that Retort is measured beside, each made once, in the user's cache folder."""

import os
import subprocess
import sys
from pathlib import Path

AIZYNTHFINDER = ["aizynthfinder==4.4.1", "pyarrow<20"]


def environment(name: str, packages: list[str]) -> Path:
    """Gives the interpreter of the environment `name`, which is made with these packages if it is not there."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "retort" / "bench" / name
    python = cache / "bin" / "python"
    if not (cache / "complete").exists():
        print(f"installing {', '.join(packages)} in {cache}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", cache], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True, stdout=sys.stderr)
        (cache / "complete").touch()
    return python
