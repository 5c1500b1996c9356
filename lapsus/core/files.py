"""Atomic outputs: a file or folder is written under a temporary name beside its target, then moved to the target.

`stage_folder` and `stage_file` write one output; `ensure_folders` makes folders that are removed again where they stay
empty.
"""

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


SUFFIX = ".partial"  # of the temporary file or folder beside the target, which its run locks
NEW, OLD, CACHE = "new", "old", "cache"  # names inside the temporary folder; the last is for the caller
RANDOM_PART = re.compile(r"[a-z0-9_]{8}")  # what tempfile puts between the target's name and the suffix
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # constants of Linux's renameat2


@contextmanager
def stage_folder(
    out: Path,
    *,
    may_replace: Callable[[Path], bool],
    description: str,
    is_own_file: Callable[[str], bool] | None = None,
) -> Iterator[Path]:
    """Yield an empty folder that replaces `out` when the block succeeds, and is deleted when the block raises.

    At every moment `out` is the old folder or the new one. The next run removes the leftovers of a killed one.

    Args:
        out: The folder to write.
        may_replace: Whether a folder that is already at `out` may be replaced.
        description: What such a folder is, for the error.
        is_own_file: Whether an earlier run wrote a path of the old folder; other files are copied to the new one.
            Without it, no file is copied.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     with stage_folder(Path(home) / "page", may_replace=lambda folder: False, description="page") as folder:
    ...         _ = (folder / "index.html").write_text("hello")
    ...     (Path(home) / "page" / "index.html").read_text()
    'hello'
    """
    out = resolve_link(out)
    remove_leftovers(out)
    if out.exists() and not (
        out.is_dir() and (not any(out.iterdir()) or (may_replace(out) and not _has_hidden_entries(out)))
    ):
        raise FileExistsError(f"{out} exists and is no earlier {description}; name another --out")
    with ExitStack() as stack:
        staging = _make_locked_folder(out, stack)
        try:
            new = staging / NEW
            new.mkdir()
            yield new
            if is_own_file:
                _copy_foreign_files(out, new, is_own_file)
            _swap_in(new, out, staging / OLD)
        except OSError as error:
            _explain_full_disk(error, staging, out)
            raise
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _explain_full_disk(error: OSError, staging: Path, out: Path) -> None:
    """Raise the sentence on a full disk, with what it would have to hold; do nothing about other errors."""
    if error.errno == errno.ENOSPC:
        written = sum(path.stat().st_size for path in staging.rglob("*") if path.is_file())
        message = f"no space is left after {written / 1e6:,.1f} MB; free more than that, or name another --out"
        raise OSError(errno.ENOSPC, message, str(out)) from error


def require_space(out: Path, size: int) -> None:
    """Raise where the disk of a folder has no room for so many bytes."""
    free = shutil.disk_usage(out.parent).free
    if free < size:
        message = (
            f"about {size / 1e6:,.1f} MB are needed and {free / 1e6:,.1f} MB are free; free some or name another --out"
        )
        raise OSError(errno.ENOSPC, message, str(out))


@contextmanager
def open_scratch(out: Path) -> Iterator[Path]:
    """Yield an empty folder beside `out` for a run's own files; it is deleted after the block.

    The next run for `out` removes what a killed one left, as it does with the folders of `stage_folder`.
    """
    out = resolve_link(out)
    with ExitStack() as stack:
        staging = _make_locked_folder(out, stack)
        try:
            (staging / CACHE).mkdir()
            yield staging / CACHE
        except OSError as error:
            if error.filename != str(out):  # else it has been explained
                _explain_full_disk(error, staging, out)
            raise
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def resolve_link(out: Path) -> Path:
    """Return where a symbolic link leads: what it names is replaced, and the link stays."""
    return Path(os.path.realpath(out)) if out.is_symlink() else out.absolute()


def _make_locked_folder(out: Path, stack: ExitStack) -> Path:
    """Make a temporary folder beside `out` that stays locked as long as `stack`, or until the process ends."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        while True:
            staging = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=SUFFIX, dir=out.parent))
            if stack.enter_context(_lock(staging)) or not _can_lock():
                return staging  # else another run has taken the new folder for a leftover
    except OSError as error:
        raise PermissionError(f"{out} cannot be written ({error.strerror}); name another --out") from error


def _swap_in(new: Path, out: Path, old: Path) -> None:
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


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two folders in one step; return False where the system or the file system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    status: int = rename(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE)
    return not status


def _copy_foreign_files(out: Path, new: Path, is_own_file: Callable[[str], bool]) -> None:
    """Copy to `new` the files of `out` that lapsus did not write and `new` does not have."""
    for path in sorted(out.rglob("*")) if out.is_dir() else ():
        name = path.relative_to(out).as_posix()
        if path.is_file() and not is_own_file(name) and not (new / name).exists():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, new / name)


def remove_leftovers(out: Path) -> None:
    """Remove what killed runs left beside `out`; if a run was killed between its two moves, restore the old folder."""
    for staging in sorted(out.parent.glob(f"{glob.escape(f'.{out.name}.')}*{SUFFIX}")):
        random_part = staging.name.removeprefix(f".{out.name}.").removesuffix(SUFFIX)
        with suppress(OSError), _lock(staging) as locked:  # another run may remove it meanwhile
            names = {path.name for path in staging.iterdir()}
            if not locked or not RANDOM_PART.fullmatch(random_part) or names - {NEW, OLD, CACHE}:
                continue  # a live run locks it, or it is not ours
            if OLD in names and not out.exists():
                (staging / OLD).rename(out)
            shutil.rmtree(staging, ignore_errors=True)


def _can_lock() -> bool:
    """Return whether folders can be locked here: not on Windows, where leftovers stay."""
    return importlib.util.find_spec("fcntl") is not None


@contextmanager
def _lock(path: Path) -> Iterator[bool]:
    """Lock a folder or file until the block or the process ends; yield whether it is locked, and still at its path.

    The lock is on the folder and not on a file in it, so that the folder is locked until it is gone.
    """
    if not _can_lock():
        yield False
        return
    import fcntl

    descriptor = os.open(path, os.O_RDONLY)
    try:
        locked = False
        with suppress(OSError):  # another run locks it, or has moved it away
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            locked = os.path.samestat(os.fstat(descriptor), path.stat())
        yield locked
    finally:
        os.close(descriptor)


@contextmanager
def stage_file(out: Path) -> Iterator[IO[bytes]]:
    """Yield an open file that replaces `out` when the block succeeds, and is deleted when the block raises.

    Its name is `.<name>.partial`, so that the next run overwrites the leftovers of a killed one; while two runs write
    the same file, the second one takes another name.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     with stage_file(Path(home) / "cache" / "answer") as file:
    ...         _ = file.write(b"42")
    ...     (Path(home) / "cache" / "answer").read_bytes()
    b'42'
    """
    out = resolve_link(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        staging = out.with_name(f".{out.name}{SUFFIX}")
        if not stack.enter_context(_create_locked_file(staging)):
            staging = out.with_name(f".{out.name}.{token_hex(4)}{SUFFIX}")  # tempfile's are unreadable to other users
        try:
            with staging.open("wb") as file:
                yield file
        except BaseException:
            staging.unlink(missing_ok=True)
            raise
        staging.replace(out)


@contextmanager
def _create_locked_file(path: Path) -> Iterator[bool]:
    """Make a file, unless there is one, and lock it as `_lock` does; yield False where that fails."""
    with ExitStack() as stack:
        locked = False
        if _can_lock():
            with suppress(OSError):  # it belongs to another user, or another run has moved it away
                path.touch()
                locked = not path.is_symlink() and path.is_file() and stack.enter_context(_lock(path))
        yield locked


def _has_hidden_entries(folder: Path) -> bool:
    """Return whether the folder holds hidden entries, such as the `.git` of a clone."""
    return any(path.name.startswith(".") for path in folder.iterdir())


@contextmanager
def ensure_folders(*paths: Path) -> Iterator[None]:
    """Make folders for a block, and remove those that the block leaves empty; folders from before stay.

    >>> home = Path(tempfile.mkdtemp())
    >>> with ensure_folders(home / "answers", home / "model" / "track"):
    ...     _ = (home / "answers" / "note").write_text("42")
    >>> sorted(path.name for path in home.rglob("*"))
    ['answers', 'note']
    """
    new = [folder for path in paths for folder in (path, *path.parents) if not folder.exists()]
    for path in paths:
        path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for folder in new:
            with suppress(OSError):  # it is not empty
                folder.rmdir()
