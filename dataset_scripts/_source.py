"""Where a benchmark's original files are: a folder, or an archive read without unpacking it.

Every file that is read is hashed, so that a card can say what it was made from.
"""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Source:
    """The files of a folder or zip archive; `used` maps each file that was read to its sha256."""

    path: Path
    used: dict[str, str] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Return the names of all files, sorted, with `/` between folders."""
        if self.path.is_file():
            with zipfile.ZipFile(self.path) as archive:
                return sorted(info.filename for info in archive.infolist() if not info.is_dir())
        return sorted(file.relative_to(self.path).as_posix() for file in self.path.rglob("*") if file.is_file())

    def read(self, name: str) -> bytes:
        """Return the bytes of one file."""
        if self.path.is_file():
            with zipfile.ZipFile(self.path) as archive:
                data = archive.read(name)
        else:
            data = (self.path / name).read_bytes()
        self.used[name] = hashlib.sha256(data).hexdigest()
        return data

    def lines(self, name: str) -> Iterator[str]:
        """Yield the lines of a UTF-8 file without their line ends."""
        yield from self.read(name).decode("utf-8-sig").splitlines()

    def fingerprint(self) -> str:
        """Return one hash over all names and contents: what a cache of built rows must depend on."""
        digest = hashlib.sha256()
        for name in self.names():
            digest.update(f"{name}\0{hashlib.sha256(Source(self.path).read(name)).hexdigest()}\n".encode())
        return digest.hexdigest()


def open_source(path: Path) -> Source:
    """Open a folder or archive."""
    if not path.exists():
        raise FileNotFoundError(f"there is no source at {path}; name a folder or an archive that exists")
    return Source(path)
