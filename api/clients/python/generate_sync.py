"""Writes the client for threads from the client for event loops: python generate_sync.py

`AsyncRetort` and its files are written by hand. `Retort` is the same text without `async` and `await`, with threads' names for
the same things. A test compares the written files with this.
"""

from __future__ import annotations

import re
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "src/retort_client"
FILES = {
    "asynchronous.py": "client.py",
    "asynchronous_batches.py": "batches.py",
    "asynchronous_kept_routes.py": "kept_routes.py",
    "asynchronous_samples.py": "samples.py",
}

REPLACEMENTS = [
    (r"\basync with aclosing\(", "with closing("),
    (r"\basync (def|for|with) ", r"\1 "),
    (r"\bawait ", ""),
    (r"\bAsyncGenerator\[(\w+), None\]", r"Generator[\1, None, None]"),
    (r"\bAsync(?=\w)", ""),
    (r"\basyncio\b", "time"),
    (r"\basynchronous_(\w+)", r"\1"),
    (r"\ba(next\(|iter_bytes|read\(|close\b|closing\b)", r"\1"),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"several tasks", "several threads"),
    (r"an `async with` statement", "a `with` statement"),
    (r"on an event loop", "for programs that wait for each answer"),
]
"""Patterns and what takes their place, in this order."""


def synchronous(source: str, name: str) -> str:
    """Returns the text for threads of a file for event loops."""
    for pattern, replacement in REPLACEMENTS:
        source = re.sub(pattern, replacement, source)
    return f"# Written by generate_sync.py from {name}: change that.\n{_with_sorted_imports(source)}"


def _with_sorted_imports(source: str) -> str:
    """Sorts the names of each import, and neighbouring imports, which may have other names now."""

    def names(match: re.Match[str]) -> str:
        sorted_names = sorted(set(match[2].split(", ")), key=lambda name: (not name.isupper(), not name[0].isupper(), name.lower()))
        return f"{match[1]}{', '.join(sorted_names)}\n"

    def with_sorted(statement: str, text: str) -> str:
        def neighbours(match: re.Match[str]) -> str:
            return "".join(sorted(re.findall(statement, match[0], flags=re.MULTILINE), key=lambda found: found.split()[1]))

        return re.sub(f"(?:{statement})+", neighbours, text, flags=re.MULTILINE)

    source = re.sub(r"^(from \S+ import )([\w, ]+)\n", names, source, flags=re.MULTILINE)
    source = with_sorted(r"^import \S+\n", source)
    # One import is one line, or as many as its brackets hold.
    return with_sorted(r"^from \.\S* import (?:\([^)]*\)|.*)\n", source)


def generated() -> dict[Path, str]:
    """Returns the files for threads, each with its text."""
    sources = {name: (SOURCES / name).read_text(encoding="utf-8") for name in FILES}
    return {SOURCES / FILES[name]: synchronous(source, name) for name, source in sources.items()}


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")
