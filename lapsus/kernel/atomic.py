"""Atomic outputs: a file or folder is written under a temporary name beside its target, then moved to the target."""

from __future__ import annotations

import ctypes
import errno
import glob
import importlib.util
import os
import re
import shutil
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

SUFFIX = ".partial"  # of the temporary folder beside the target, which is locked as long as its run lives
NEW, OLD, CACHE = "new", "old", "cache"  # names inside the temporary folder; the last is for the caller
LEFT_OVER = re.compile(r"[a-z0-9_]{8}")  # what tempfile puts between the target's name and the suffix
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # constants of Linux's renameat2


@contextmanager
def staged_folder(
    out: Path,
    *,
    ours: Callable[[Path], bool],
    what: str,
    written: Callable[[str], bool] | None = None,
) -> Iterator[Path]:
    """Yield an empty folder that replaces `out` when the block succeeds, and is deleted when the block raises.

    At every instant `out` is the old folder or the new one. What a killed run left behind is removed by the next.

    Args:
        out: The folder to write.
        ours: Tells whether a folder that is already at `out` may be replaced.
        what: What such a folder is, for the error.
        written: Tells of a path within the old folder whether an earlier run wrote it; other files are kept.
            Without it all are taken for such.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     with staged_folder(Path(home) / "page", ours=lambda folder: False, what="page") as folder:
    ...         _ = (folder / "index.html").write_text("hello")
    ...     (Path(home) / "page" / "index.html").read_text()
    'hello'
    """
    out = followed(out)
    _clear_left_overs(out)
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or (ours(out) and not _has_hidden(out)))):
        raise FileExistsError(f"{out} exists and is no earlier {what}; name another --out")
    with ExitStack() as held:
        staging = _locked_folder(out, held)
        try:
            new = staging / NEW
            new.mkdir()
            yield new
            if written:
                _keep_others(out, new, written)
            _put(new, out, staging / OLD)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise OSError(errno.ENOSPC, "no space is left; free some or name another --out", str(out)) from error
            raise
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def followed(out: Path) -> Path:
    """Return where a symbolic link leads: what it names is replaced, and the link stays."""
    return Path(os.path.realpath(out)) if out.is_symlink() else out.absolute()


def _locked_folder(out: Path, held: ExitStack) -> Path:
    """Make a temporary folder beside `out` that stays locked as long as `held`, or until the process ends."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        while True:
            staging = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=SUFFIX, dir=out.parent))
            if held.enter_context(_lock(staging)) or not _can_lock():
                return staging  # else another run took the new folder for a left-over, and removes it
    except OSError as error:
        raise PermissionError(f"{out} cannot be written ({error.strerror}); name another --out") from error


def _put(new: Path, out: Path, old: Path) -> None:
    """Move the folder `new` to `out`; an earlier `out` ends up at `new` (exchanged) or at `old` (moved)."""
    if not out.exists():
        new.rename(out)
        return
    if _exchange(new, out):
        return
    out.rename(old)
    try:
        new.rename(out)
    except BaseException:
        old.rename(out)
        raise


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; return False where the system or the file system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    failed: int = rename(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)
    return not failed


def _keep_others(out: Path, new: Path, written: Callable[[str], bool]) -> None:
    """Copy to `new` the files of `out` that lapsus did not write and `new` does not have."""
    for path in sorted(out.rglob("*")) if out.is_dir() else ():
        name = path.relative_to(out).as_posix()
        if path.is_file() and not written(name) and not (new / name).exists():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, new / name)


def _clear_left_overs(out: Path) -> None:
    """Remove what killed runs left beside `out`; if a run was killed between its two moves, restore the old folder."""
    for staging in sorted(out.parent.glob(f"{glob.escape(f'.{out.name}.')}*{SUFFIX}")):
        drawn = staging.name.removeprefix(f".{out.name}.").removesuffix(SUFFIX)
        with suppress(OSError), _lock(staging) as locked:  # what another run removes meanwhile is no matter
            names = {path.name for path in staging.iterdir()}
            if not locked or not LEFT_OVER.fullmatch(drawn) or names - {NEW, OLD, CACHE}:
                continue  # a live run holds it, or somebody else made it
            if OLD in names and not out.exists():
                (staging / OLD).rename(out)
            shutil.rmtree(staging, ignore_errors=True)


def _can_lock() -> bool:
    """Return whether folders can be locked here: not on Windows, where left-overs stay."""
    return importlib.util.find_spec("fcntl") is not None


@contextmanager
def _lock(path: Path) -> Iterator[bool]:
    """Lock a folder or file until the block or the process ends; yield whether it is locked, and still at its path.

    A folder itself is locked and no file in it, so that it is locked until it is gone.
    """
    if not _can_lock():
        yield False
        return
    import fcntl

    opened = os.open(path, os.O_RDONLY)
    try:
        locked = False
        with suppress(OSError):  # another run holds it, or has moved it away
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            locked = os.path.samestat(os.fstat(opened), path.stat())
        yield locked
    finally:
        os.close(opened)


@contextmanager
def staged_file(out: Path) -> Iterator[IO[bytes]]:
    """Yield an open file that replaces `out` when the block succeeds, and is deleted when the block raises.

    What a killed run left behind, the next one overwrites: its name is `.<name>.partial`, unless another live run is
    writing the same file.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     with staged_file(Path(home) / "cache" / "answer") as file:
    ...         _ = file.write(b"42")
    ...     (Path(home) / "cache" / "answer").read_bytes()
    b'42'
    """
    out = followed(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        staging = out.with_name(f".{out.name}{SUFFIX}")
        if not held.enter_context(_locked_file(staging)):
            staging = out.with_name(f".{out.name}.{token_hex(4)}{SUFFIX}")  # tempfile's are unreadable to other users
        try:
            with staging.open("wb") as file:
                yield file
        except BaseException:
            staging.unlink(missing_ok=True)
            raise
        staging.replace(out)


@contextmanager
def _locked_file(path: Path) -> Iterator[bool]:
    """Make a file where there is none and lock it as `_lock` does; yield False where that cannot be."""
    with ExitStack() as held:
        locked = False
        if _can_lock():
            with suppress(OSError):  # it belongs to another user, or another run has moved it away
                path.touch()
                locked = not path.is_symlink() and path.is_file() and held.enter_context(_lock(path))
        yield locked


def _has_hidden(folder: Path) -> bool:
    """Return whether the folder holds hidden entries, such as the `.git` of a clone."""
    return any(path.name.startswith(".") for path in folder.iterdir())
