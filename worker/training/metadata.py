"""What a pack says of itself in `metadata.json`, and how its JSON is written."""

import json
import tomllib
from pathlib import Path


def packs() -> dict[str, dict]:
    """Reads what packs.toml says of each pack."""
    return tomllib.loads(Path(__file__).with_name("packs.toml").read_text(encoding="utf-8"))


def write_json(path: Path, value: dict) -> None:
    """Writes indented JSON with a final newline."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def store(folder: Path, name: str, metrics: dict[str, object]) -> None:
    """Puts figures into a pack's metadata, beside those of other names."""
    path = folder / "metadata.json"
    metadata = json.loads(path.read_text(encoding="utf-8"))
    metadata["metrics"][name] = metrics
    write_json(path, metadata)
