"""Where the system keeps libraries and their data."""

from __future__ import annotations

import atexit
import ctypes
import tempfile
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


def own_folder() -> Path:
    """Make a folder that lasts as long as the process: what an engine writes there, no other run reads.

    What is registered with atexit after this still finds the folder.
    """
    folder = tempfile.TemporaryDirectory(prefix="lapsus-")
    atexit.register(folder.cleanup)
    return Path(folder.name)
