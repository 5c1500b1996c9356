"""Where the system keeps libraries and their data."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

ROOTS = ("/usr/lib", "/usr/local/lib", "/usr/share", "/usr/local/share")


@cache
def has(library: str) -> bool:
    """Say whether the loader finds a library of this name."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


@cache
def find(path: str) -> Path | None:
    """Return the first file or folder of this relative path, also below a folder of the machine's architecture."""
    for root in ROOTS:
        for found in (Path(root) / path, *sorted(Path(root).glob(f"*-linux-gnu*/{path}"))):
            if found.exists():
                return found
    return None
