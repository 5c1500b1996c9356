"""Folders that stay where something was put into them.

>>> import tempfile
>>> home = Path(tempfile.mkdtemp())
>>> with folders(home / "answers", home / "model" / "track"):
...     _ = (home / "answers" / "note").write_text("kept")
>>> sorted(path.name for path in home.rglob("*"))
['answers', 'note']
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def folders(*paths: Path) -> Iterator[None]:
    """Make folders for a block, and remove those that it leaves empty; what was there before stays."""
    new = [folder for path in paths for folder in (path, *path.parents) if not folder.exists()]
    for path in paths:
        path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for folder in new:
            with suppress(OSError):  # it holds something
                folder.rmdir()
