#!/usr/bin/env python3
"""Names the test programs that need not run again: ops/unchanged.py [--passed JUNIT]

A program whose bytes are what they were when all of its tests passed gives the same verdict, as long as all else is the same that
a test may read: the service's programs, every file of the repository that is not compiled, and the settings of the tests. Reads the
output of `cargo nextest list --list-type binaries-only --message-format json`, and prints the ids of such programs, one a line.
With --passed it keeps what JUNIT says of the run that followed instead, in target/nextest/passed.json: of the programs and files as they
were before it, since somebody may write on while tests run. `./ops/test --all` does not ask.
"""

import hashlib
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "nextest"
KEPT, BEFORE = FOLDER / "passed.json", FOLDER / "before.json"
PROGRAMS = {"api": ["retort-api"], "worker": ["retort-worker"], "ops": ["retort", "retort-api", "retort-worker"]}
"""What the tests of a package start beside themselves."""
ALWAYS = ("repository",)
"""Their tests read sources as text."""
SETTINGS = ("AXE", "CLIENTS", "CONSOLE_TYPES", "PENDINGAI", "PLUGINS", "RELEASED_BINARIES", "SCHEMATHESIS_EXAMPLES", "RETORT_", "PATH")


def digest(*files: Path) -> str:
    """One hash of the contents of files, in their order."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(hashlib.sha256(file.read_bytes()).digest() if file.is_file() else b"none")
    return whole.hexdigest()


def surroundings() -> str:
    """One hash of what any test may read and no compiler has."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    files = [ROOT / name for name in sorted(listed.stdout.split("\0")) if name and not name.endswith(".rs")]
    settings = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(SETTINGS))
    return hashlib.sha256("\0".join([digest(*files), *map(str, files), *settings]).encode()).hexdigest()


def programs() -> dict[str, str]:
    """The hash of each test program with its surroundings, by the id of the program."""
    around = surroundings()
    found = {}
    for name, program in json.load(sys.stdin)["rust-binaries"].items():
        path, package = Path(program["binary-path"]), name.split("::")[0]
        beside = [path.parent.parent / started for started in PROGRAMS.get(package, [])]
        if package not in ALWAYS:
            found[name] = around + digest(path, *beside)
    return found


def main() -> None:
    """Does what the arguments ask for."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if sys.argv[1:2] == ["--passed"]:
        now = json.loads(BEFORE.read_text())
        suites = ElementTree.parse(sys.argv[2]).getroot().iter("testsuite")
        ran = {suite.get("name"): int(suite.get("failures", 1)) + int(suite.get("errors", 1)) for suite in suites}
        kept = {name: hashed for name, hashed in now.items() if ran.get(name) == 0 or (name not in ran and kept.get(name) == hashed)}
        KEPT.write_text(json.dumps(kept))
    else:
        now = programs()
        FOLDER.mkdir(parents=True, exist_ok=True)
        BEFORE.write_text(json.dumps(now))
        for name, hashed in now.items():
            if kept.get(name) == hashed:
                print(name)


if __name__ == "__main__":
    main()
