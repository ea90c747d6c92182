"""The bill of a release's materials, as CycloneDX 1.5: bill_of_materials.py VERSION SECONDS

It names the crates that the three programs link or run when they are built, the library that the console ships, and the model packs.
`cargo tree` knows which crates those are (its features are the build's), Cargo.lock their checksums, `cargo metadata` their licences.
"""

import hashlib
import json
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = "x86_64-unknown-linux-gnu"


def cargo(*arguments: str) -> str:
    """The output of a command of cargo."""
    return subprocess.run(["cargo", *arguments, "--locked"], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout


def licences(expression: str | None) -> list[dict]:
    """CycloneDX's form of an SPDX expression; crates of old separate with a slash."""
    return [{"expression": re.sub(r" */ *", " OR ", expression)}] if expression else []


def licence_file(package: dict) -> list[dict]:
    """The first line of a licence's text, for a crate that names no licence."""
    text = Path(package["manifest_path"]).with_name(package["license_file"]).read_text()
    return [{"license": {"name": text.splitlines()[0]}}]


def sha256(content: str) -> list[dict]:
    return [{"alg": "SHA-256", "content": content}]


def crates() -> list[dict]:
    """Crates of a registry; our own are the release itself."""
    locked = re.findall(r'name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"', (ROOT / "Cargo.lock").read_text())
    checksums = {(name, version): checksum for name, version, checksum in locked}
    known = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", TARGET))["packages"]
    licence = {(package["name"], package["version"]): licences(package["license"]) or licence_file(package) for package in known}
    packages = [argument for package in ("api", "worker", "ops") for argument in ("-p", package)]
    tree = cargo("tree", *packages, "--edges", "normal,build", "--target", TARGET, "--prefix", "none", "--format", "{p}")
    linked = sorted(set(re.findall(r"^(\S+) v(\S+)", tree, re.MULTILINE)) & checksums.keys())
    return [
        {
            "type": "library",
            "bom-ref": f"pkg:cargo/{name}@{version}",
            "name": name,
            "version": version,
            "purl": f"pkg:cargo/{name}@{version}",
            "licenses": licence[name, version],
            "hashes": sha256(checksums[name, version]),
        }
        for name, version in linked
    ]


def console_libraries() -> list[dict]:
    """Libraries of npm that the console ships."""
    vendor = ROOT / "api/console/vendor"
    lines = [line.split("\t") for line in (vendor / "manifest.tsv").read_text().splitlines() if not line.startswith("#")]
    return [
        {
            "type": "library",
            "bom-ref": f"pkg:npm/{name}@{version}",
            "name": name,
            "version": version,
            "purl": f"pkg:npm/{name}@{version}",
            "licenses": licences(licence),
            "hashes": sha256(checksum),
        }
        for name, version, licence, file, checksum in lines
        if file.endswith(".js")
    ]


def model_packs() -> list[dict]:
    """Packs of worker/models, with each of their files."""
    packs = []
    for pack in sorted((ROOT / "worker/models").iterdir()):
        metadata = json.loads((pack / "metadata.json").read_text())
        files = [
            {"type": "file", "name": file.name, "hashes": sha256(hashlib.sha256(file.read_bytes()).hexdigest())}
            for file in sorted(pack.iterdir())
        ]
        packs.append(
            {
                "type": "machine-learning-model",
                "bom-ref": f"model:{pack.name}",
                "name": pack.name,
                "version": metadata["created"],
                "description": metadata["description"],
                "licenses": licences(metadata["licence"]),
                "components": files,
            }
        )
    return packs


def main(version: str, seconds: str) -> None:
    """Prints the bill."""
    components = [*crates(), *console_libraries(), *model_packs()]
    release = {"type": "application", "bom-ref": "retort", "name": "retort", "version": version, "licenses": licences("MIT OR Apache-2.0")}
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([version, seconds, components]))}",
        "version": 1,
        "metadata": {"timestamp": datetime.fromtimestamp(int(seconds), timezone.utc).isoformat(), "component": release},
        "components": components,
    }
    json.dump(bill, sys.stdout, indent=1)


main(*sys.argv[1:])
