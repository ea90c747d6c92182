"""Writes the shipped policy.safetensors and sites.safetensors: large tables as signed bytes with one scale a row, the rest in f16.

The decision that matters: rounding a table to 255 levels a row changes a logit by less than 0.01, and the file becomes a quarter
of what f32 takes. Rows of templates that a library does not have (a network may be trained with room for more) are left out.
What is lost by it is so little that training goes on from the shipped files as well as from f32 (`unpacked`).
"""

import argparse
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

LEVELS = 127
BYTES = ("layer2", "environment", "template")
GENERAL = ("layer1.", "layer2.")


def packed(weights: dict[str, np.ndarray], templates: int) -> dict[str, np.ndarray]:
    """Gives the shipped tensors of the f32 weights of `policy_model.Policy` for the first so many templates."""
    plain = {
        "layer1.weight": weights["layer1.weight"].T,
        "layer1.bias": weights["layer1_bias"],
        "bond.weight": weights["bond.weight"],
        "atom.weight": weights["atom.weight"],
        "molecule.weight": weights["molecule.weight"],
        "molecule.bias": weights["molecule.bias"],
    }
    plain |= {name: value for name, value in weights.items() if name.startswith(("own.", "heard."))}
    tensors = {name: np.ascontiguousarray(value, np.float16) for name, value in plain.items()}
    for name in BYTES:
        table = weights[f"{name}.weight"].astype(np.float32)
        table = table if name == "environment" else table[:templates]
        scale = np.maximum(np.abs(table).max(axis=1), 1e-12) / LEVELS
        tensors[f"{name}.weight"] = np.rint(table / scale[:, None]).astype(np.int8)
        tensors[f"{name}.scale"] = scale
    tensors["layer2.bias"] = weights["layer2_bias"].astype(np.float32)[:templates]
    return tensors


def write(tensors: dict[str, np.ndarray], pack: Path) -> None:
    """Writes the fingerprint's network and that of the sites into a pack's folder."""
    general = {name: value for name, value in tensors.items() if name.startswith(GENERAL)}
    sites = {name: value for name, value in tensors.items() if name not in general}
    for file, part, notes in (("policy", general, {"activation": "elu"}), ("sites", sites, None)):
        path = pack / f"{file}.safetensors"
        save_file(part, path, metadata=notes)
        path.chmod(0o644)
        print(f"{path}: {path.stat().st_size} bytes")


def unpacked(pack: Path) -> dict[str, np.ndarray]:
    """Gives the f32 weights of `policy_model.Policy` that a pack's files stand for."""
    tensors = load_file(pack / "policy.safetensors") | load_file(pack / "sites.safetensors")
    weights = {name: value.astype(np.float32) for name, value in tensors.items() if not name.endswith(".scale")}
    for name in BYTES:
        weights[f"{name}.weight"] *= tensors[f"{name}.scale"][:, None]
    weights["layer1.weight"] = np.ascontiguousarray(weights["layer1.weight"].T)
    weights["layer1_bias"], weights["layer2_bias"] = weights.pop("layer1.bias"), weights.pop("layer2.bias")
    return weights


def main() -> None:
    """Packs `--weights` into `--pack`, and writes its config.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="f32 weights of train_policy.py")
    parser.add_argument("--templates", type=int, required=True, help="how many templates the pack has")
    parser.add_argument("--pack", type=Path, required=True, help="folder of the pack")
    args = parser.parse_args()
    tensors = packed(load_file(args.weights), args.templates)
    write(tensors, args.pack)
    config = {
        "model_type": "template_relevance",
        "fingerprint": "morgan_r2_2048",
        "hidden_size": tensors["layer2.weight"].shape[1],
        "environments": tensors["environment.weight"].shape[0],
        "atom_size": tensors["environment.weight"].shape[1],
        "site_size": tensors["template.weight"].shape[1],
        "n_templates": args.templates,
    }
    (args.pack / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
