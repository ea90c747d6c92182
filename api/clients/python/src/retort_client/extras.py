"""Libraries that only some need: imported when they are used, with a word about how to have them."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, extra: str) -> Any:  # noqa: ANN401 (a module of a library that need not be there)
    """The module `module`, which comes with the extra `extra` of this package."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.split(".", maxsplit=1)[0]
        raise ImportError(f"this needs {library}: pip install 'retort-client[{extra}]'", name=library) from error


def has(module: str) -> bool:
    """Returns true if a module can be imported."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
