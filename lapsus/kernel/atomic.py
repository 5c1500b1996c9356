"""Outputs appear when they are complete: written beside their place, then moved there."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO


@contextmanager
def staged_folder(out: Path, *, ours: Callable[[Path], bool], what: str) -> Iterator[Path]:
    """Yield an empty folder that replaces `out` when the block ends well, and vanishes when it does not.

    `ours` tells whether a folder that is already at `out` may be replaced, and `what` such a folder is.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     with staged_folder(Path(home) / "page", ours=lambda folder: False, what="page") as folder:
    ...         _ = (folder / "index.html").write_text("hello")
    ...     (Path(home) / "page" / "index.html").read_text()
    'hello'
    """
    out = out.absolute()
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or (ours(out) and not _has_hidden(out)))):
        raise FileExistsError(f"{out} exists and is no earlier {what}; name another --out")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent))
    except OSError as error:
        raise PermissionError(f"{out} cannot be written ({error.strerror}); name another --out") from error
    try:
        new = staging / "new"
        new.mkdir()
        yield new
        old = staging / "old"
        if out.exists():
            out.rename(old)
        try:
            new.rename(out)
        except BaseException:
            if old.exists():
                old.rename(out)
            raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def staged_file(out: Path) -> Iterator[IO[bytes]]:
    """Yield an open file that replaces `out` when the block ends well, and vanishes when it does not.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     with staged_file(Path(home) / "cache" / "answer") as file:
    ...         _ = file.write(b"42")
    ...     (Path(home) / "cache" / "answer").read_bytes()
    b'42'
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    staging = out.with_name(f".{out.name}.{token_hex(4)}.partial")  # tempfile would deny it to other users
    with staging.open("xb") as file:
        try:
            yield file
        except BaseException:
            staging.unlink()
            raise
    staging.replace(out)


def _has_hidden(folder: Path) -> bool:
    """Tell whether somebody keeps more in the folder than was written there, such as a clone's history."""
    return any(path.name.startswith(".") for path in folder.iterdir())
