"""The source of a benchmark's original files: a folder, one file, or an archive that is read without unpacking it.

Every file is hashed while it is read, so that a card can state what it was made from. Untrusted input (archives,
XML, encodings) is checked here and nowhere else; each failure is one sentence.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import stat
import tarfile
import tempfile
import weakref
import xml.etree.ElementTree as ET
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any, cast
from xml.parsers import expat

from lapsus.kernel.names import shown
from lapsus.kernel.rows import BrokenFileError, cells, decoded, json_value

MAX_BYTES = 4 * 2**30  # of an archive's files together; LAPSUS_MAX_BYTES overrides it
MAX_RATIO = 200  # of a file's size to its compressed size; text stays below it; LAPSUS_MAX_RATIO overrides it
SMALL = 2**20  # a file that unpacks to less is accepted at any ratio
CHUNK = 2**20
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)
LITTER = ("__MACOSX", ".DS_Store", ".git", "__pycache__")


class PackedFileError(OSError):
    """A compressed file of a folder is damaged, or unpacks to too much."""


class MissingFileError(FileNotFoundError):
    """The source lacks a file: other configs of the benchmark may still be there."""


@dataclass(eq=False)
class Source:
    """The files of a benchmark by name; `used` maps each file that was read to its sha256.

    >>> home = Path(__file__).with_name("sample_data")
    >>> source = open_source(home)
    >>> source.find("paraphrase.jsonl"), next(source.json_lines("paraphrase.jsonl"))["id"]
    ('paraphrase.jsonl', 'p001')
    """

    path: Path
    files: Mapping[str, Callable[[], IO[bytes]]] = field(repr=False)  # name -> open
    on_disk: tuple[Path, ...] = field(default=(), repr=False)  # the files whose change invalidates cached rows
    used: dict[str, str] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list, repr=False)  # names, the last one last
    _found: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False)  # pattern -> names
    _parts: dict[tuple[str, ...], Source] = field(default_factory=dict, init=False, repr=False)  # words -> files

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source) and self.fingerprint() == other.fingerprint()

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def names(self) -> list[str]:
        """Return the names of all files, sorted, with `/` between folders."""
        return sorted(self.files)

    def match(self, *patterns: str) -> list[str]:
        """Return the files whose path ends in one of the patterns, in order of the patterns.

        A pattern is a name with `*` and `?`, and may name folders: `keyboard/test*.json`.
        """
        return [name for pattern in patterns for name in self._matching(pattern)]

    def _matching(self, pattern: str) -> list[str]:
        """Return the files that match one pattern, sorted; of many thousand files most are told by their ending."""
        if pattern not in self._found:
            ending = re.split(r"[*?\]]", pattern)[-1]
            likely = sorted(name for name in self.files if name.endswith(ending))
            self._found[pattern] = [
                name for name in likely if fnmatchcase(name, pattern) or fnmatchcase(name, f"*/{pattern}")
            ]
        return self._found[pattern]

    def find(self, *patterns: str) -> str:
        """Return the one file that matches the first pattern with a match, in any folder."""
        for pattern in patterns:
            found = self.match(pattern)
            if len(found) > 1:
                raise ValueError(f"{pattern} is {shown(found)} in {self.path}; name the folder that holds only one")
            if found:
                return found[0]
        plain = [pattern for pattern in patterns if not set(pattern) & set("*?/")] or patterns
        raise MissingFileError(
            f"{self.path} has no {' or '.join(plain)}; it holds {shown(self.names())}"
            " (--allow-partial builds what is there)"
        )

    def within(self, *words: str) -> Source:
        """Return the files in folders whose path has one of the words in it, or all files when none has.

        The names of the files themselves do not count: a folder may hold other files that are called after the task.
        """
        if words not in self._parts:
            folders = {name: name.lower().rpartition("/")[0] for name in self.files}
            chosen = {name: file for name, file in self.files.items() if any(word in folders[name] for word in words)}
            self._parts[words] = replace(self, files=chosen) if chosen else self
        return self._parts[words]

    def open(self, name: str) -> IO[bytes]:
        """Open one file; it is recorded in `used` when it has been read to its end."""
        if name not in self.files:
            raise MissingFileError(f"{self.path} has no {name}; it holds {shown(self.names())}")
        self.opened.append(name)
        return cast("IO[bytes]", io.BufferedReader(_Hashed(self, name), CHUNK))

    def read(self, name: str) -> bytes:
        """Return the bytes of one file."""
        with self.open(name) as file:
            return file.read()

    def text(self, name: str) -> str:
        """Return a UTF-8 file as text, without a BOM and with plain line ends."""
        return "\n".join(self.lines(name))

    def lines(self, name: str) -> Iterator[str]:
        r"""Yield the lines of a UTF-8 file without their line ends; only \n and \r\n end a line."""
        line = None
        with self.open(name) as file:
            for number, line in enumerate(decoded(file, name), start=1):
                if "\0" in line:
                    raise BrokenFileError(name, "holds the character NUL", "get the file again", line=number)
                yield line.removesuffix("\n").removesuffix("\r")
        if line is None:
            raise ValueError(f"{name} is empty; get the file again")

    def json_lines(self, name: str, *required: str) -> Iterator[dict[str, Any]]:
        """Yield the objects of a file with one JSON object per line, each with the required keys."""
        for number, line in enumerate(self.lines(name), start=1):
            if line.strip():
                yield _object(_parsed(line, name, number), f"{name}, line {number}:", required)

    def json(self, name: str) -> Any:
        """Return the content of a JSON file."""
        return _parsed(self.text(name), name)

    def objects(self, name: str, *required: str) -> Iterator[dict[str, Any]]:
        """Yield the objects of a file that is either one JSON list or one JSON object per line."""
        with self.open(name) as file:
            start = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if start != b"[":
            yield from self.json_lines(name, *required)
            return
        content = self.json(name)
        for number, row in enumerate(content, start=1):
            yield _object(row, f"{name}, object {number}:", required)

    def table(self, name: str, *required: str, delimiter: str | None = None) -> Iterator[dict[str, str]]:
        """Yield the rows of a CSV or TSV file with a header, each with the required columns.

        Without a delimiter, the header tells: a tab, else a semicolon, else a comma.
        """
        lines = self.lines(name)
        header = next(lines)
        delimiter = delimiter or next((mark for mark in "\t;" if mark in header), ",")
        rows = cells(_with_line_ends(header, lines), name, delimiter)
        columns = [column.strip() for column in next(rows)[1]]
        absent = [column for column in required if column not in columns]
        if absent:
            raise ValueError(f"{name} has no column {shown(absent)}; its columns are {shown(columns)}")
        for _, row in rows:
            yield dict(zip(columns, row, strict=True))

    def tabs(self, name: str, fields: int) -> Iterator[list[str]]:
        """Yield the fields of a file of tab-separated lines, without quotes and without a header."""
        for number, line in enumerate(self.lines(name), start=1):
            row = line.split("\t")
            if len(row) != fields:
                raise ValueError(f"{name}, line {number}: has {len(row)} tab-separated fields, not {fields}; mend it")
            yield row

    def xml(self, name: str) -> ET.Element:
        """Return the root of an XML file; a document that declares entities is refused."""
        builder = ET.TreeBuilder()
        parser = expat.ParserCreate()

        def refuse(entity: str, *_: Any) -> None:
            raise ValueError(f"{name} declares the XML entity {entity!r}; entities are refused, so write it out")

        def undefined(entity: str, *_: Any) -> None:
            raise ValueError(f"{name} uses the undefined XML entity {entity!r}; write the character itself")

        parser.EntityDeclHandler = refuse
        parser.SkippedEntityHandler = undefined
        parser.StartElementHandler = builder.start
        parser.EndElementHandler = builder.end
        parser.CharacterDataHandler = builder.data
        parser.buffer_text = True
        try:
            parser.Parse(self.read(name), True)
        except expat.ExpatError as error:
            raise ValueError(f"{name} is no well-formed XML ({error}); get the file again") from None
        return builder.close()

    def fingerprint(self) -> str:
        """Return one hash that changes with any file, as the key of a cache of built rows.

        It uses path, size, mtime and ctime (which cannot be set back), and reads no content.
        """
        digest = hashlib.sha256()
        for path in self.on_disk:
            state = path.stat()
            digest.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\0{state.st_ctime_ns}\n".encode())
        return digest.hexdigest()


class _Hashed(io.RawIOBase):
    """A file that hashes what is read of it, and records the hash in its source at the end."""

    def __init__(self, source: Source, name: str) -> None:
        self.source, self.name = source, name
        try:
            self.file = source.files[name]()
        except (*BROKEN, NotImplementedError, RuntimeError, ValueError) as error:  # all raised by zipfile
            raise self._damaged(error) from None
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self.file.read(len(buffer))
        except BROKEN as error:
            raise self._damaged(error) from None
        buffer[: len(data)] = data
        self.digest.update(data)
        if not data:
            self.source.used[self.name] = self.digest.hexdigest()
        return len(data)

    def close(self) -> None:
        if hasattr(self, "file"):
            self.file.close()
        super().close()

    def _damaged(self, error: Exception) -> ValueError:
        return ValueError(f"{self.name} in {self.source.path} is damaged ({error}); get the archive again")


def open_source(path: Path, *, name: str | None = None, max_bytes: int | None = None) -> Source:
    """Open a folder, a zip or tar archive (also gz, bz2, xz), or a single file called `name`.

    An archive that would leave its folder, holds links, or unpacks to more than `max_bytes` is refused.
    """
    limit = max_bytes or int(os.environ.get("LAPSUS_MAX_BYTES", MAX_BYTES))
    if path.is_dir():
        inside = (file for file in path.rglob("*") if file.is_file())
        names = sorted(file.relative_to(path).as_posix() for file in inside)
        kept = [name for name in names if not _litter(name)]
        files = dict(_unpacked(path, name, limit) for name in kept)
        files |= {
            name: _opener(path / name) for name in kept if name in files
        }  # what is there unpacked is read as it is
        return Source(path, files, tuple(path / name for name in kept))
    if not path.is_file():
        raise FileNotFoundError(f"there is no source at {path}; name a folder or an archive that exists")
    with path.open("rb") as file:
        magic = file.read(6)
    unpack = next((opener for mark, opener in COMPRESSED.items() if magic.startswith(mark)), None)
    with ExitStack() as opened:
        try:
            if magic.startswith((b"PK\3\4", b"PK\5\6")) or zipfile.is_zipfile(path):
                return Source(path, _zip_files(path, limit), (path,))
            plain: IO[bytes] = tempfile.TemporaryFile() if unpack else path.open("rb")  # noqa: SIM115 - `opened` closes it
            opened.callback(plain.close)
            if unpack:
                _unpack(path, unpack, plain, limit)
            if tarfile.is_tarfile(plain):
                files = _tar_files(path, plain, limit)
            else:
                files = {name or path.stem: lambda: _reopened(plain)} if unpack else {name or path.name: _opener(path)}
        except BROKEN as error:
            raise ValueError(f"{path} is a damaged archive ({error}); get it again") from None
        source = Source(path, files, (path,))
        weakref.finalize(source, opened.pop_all().close)
        return source


def open_files(paths: Mapping[str, Path]) -> Source:
    """Open files that were downloaded, by the names they had; a single archive is opened itself."""
    if len(paths) == 1:
        (name, path), *_ = paths.items()
        return open_source(path, name=name)
    files = {name: _opener(path) for name, path in paths.items()}
    return Source(Path(os.path.commonpath(paths.values())), files, tuple(paths.values()))


COMPRESSED: Mapping[bytes, Callable[[Path], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
PACKED: Mapping[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def _zip_files(path: Path, limit: int) -> dict[str, Callable[[], IO[bytes]]]:
    opened = _OpenZip(path)
    members = [member for member in opened.here().infolist() if not member.is_dir()]
    for member in members:
        _inside(path, member.filename)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise ValueError(f"{path} holds the link {member.filename!r}; links are refused, so pack the file itself")
        if member.flag_bits & 1:
            raise ValueError(f"{path} needs a password for {member.filename!r}; unpack it and name the folder")
        _no_bomb(path, member.filename, member.file_size, member.compress_size)
    _within(path, sum(member.file_size for member in members), limit)
    return _once(path, [(member.filename, _zip_opener(opened, member)) for member in members])


def _tar_files(path: Path, plain: IO[bytes], limit: int) -> dict[str, Callable[[], IO[bytes]]]:
    plain.seek(0)
    archive = tarfile.open(fileobj=plain, mode="r:")  # noqa: SIM115 - stays open as long as its source
    members = [member for member in archive if not member.isdir()]
    for member in members:
        _inside(path, member.name)
        if not member.isreg():
            raise ValueError(f"{path} holds the link {member.name!r}; links are refused, so pack the file itself")
    _within(path, sum(member.size for member in members), limit)  # a sparse member may unpack to more than is stored
    return _once(path, [(member.name, _tar_opener(archive, member)) for member in members])


def _unpack(path: Path, opener: Callable[[Path], Any], plain: IO[bytes], limit: int) -> None:
    """Unpack a compressed file to an unnamed temporary file, for random access."""
    packed, size = path.stat().st_size, 0
    try:
        with opener(path) as file:
            while data := file.read(CHUNK):
                size += plain.write(data)
                _within(path, size, limit)
                _no_bomb(path, path.name, size, packed)
    except (OSError, *BROKEN) as error:
        raise ValueError(f"{path} is a damaged archive ({error}); get it again") from None
    plain.seek(0)


def _unpacked(folder: Path, name: str, limit: int) -> tuple[str, Callable[[], IO[bytes]]]:
    """Return a file of a folder and how to open it: a compressed one under the name of what is in it."""
    path = folder / name
    unpack = PACKED.get(path.suffix)
    if unpack is None or path.stem.endswith(".tar"):
        return name, _opener(path)

    def opened() -> IO[bytes]:
        plain = tempfile.TemporaryFile()  # noqa: SIM115 - the reader closes it
        try:
            _unpack(path, unpack, plain, limit)
        except ValueError as error:
            plain.close()
            raise PackedFileError(str(error)) from None
        return plain

    return name.removesuffix(path.suffix), opened


def _reopened(file: IO[bytes]) -> IO[bytes]:
    file.flush()
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    return cast("IO[bytes]", io.FileIO(os.dup(file.fileno())))  # a duplicate, since a reader may close its file


def _opener(path: Path) -> Callable[[], IO[bytes]]:
    return lambda: path.open("rb")


class _OpenZip:
    """A zip file that is opened once per process, since opening parses its directory; a fork opens it again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.process = 0
        self.archive: zipfile.ZipFile | None = None

    def here(self) -> zipfile.ZipFile:
        """Return the archive as opened by this process."""
        if self.archive is None or self.process != os.getpid():
            self.process, self.archive = os.getpid(), zipfile.ZipFile(self.path)
        return self.archive


def _zip_opener(opened: _OpenZip, member: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: opened.here().open(member)


def _tar_opener(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
    return lambda: cast("IO[bytes]", archive.extractfile(member))


def _once(path: Path, members: list[tuple[str, Callable[[], IO[bytes]]]]) -> dict[str, Callable[[], IO[bytes]]]:
    files: dict[str, Callable[[], IO[bytes]]] = {}
    for name, opener in members:
        plain = "/".join(part for part in name.split("/") if part not in {"", "."})
        if plain in files:
            raise ValueError(f"{path} holds {plain!r} twice; pack it again with one of them")
        if not _litter(plain):
            files[plain] = opener
    return files


def _litter(name: str) -> bool:
    return any(part in LITTER for part in name.split("/"))


def _inside(path: Path, name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or not parts[0] or parts[0].endswith(":"):
        raise ValueError(f"{path} holds {name!r}, which lies outside of it; such an archive is refused")


def _no_bomb(path: Path, name: str, size: int, packed: int) -> None:
    if size <= SMALL:
        return
    limit = int(os.environ.get("LAPSUS_MAX_RATIO", MAX_RATIO))
    if size > limit * packed:
        raise ValueError(
            f"{name!r} in {path} unpacks to more than {limit} times its size, as a zip bomb does;"
            " set LAPSUS_MAX_RATIO higher if you trust it"
        )


def _within(path: Path, size: int, limit: int) -> None:
    if size > limit:
        raise ValueError(
            f"{path} unpacks to more than {limit:,} bytes; set LAPSUS_MAX_BYTES to a higher number if you trust it"
        )


def _parsed(text: str, name: str, line: int | None = None) -> Any:
    content = json_value(text, name, line=line, cure="get the file again")
    if "\\u0000" in text and "\0" in "".join(_strings(content)):
        raise BrokenFileError(name, "holds the character NUL", "get the file again", line=line)
    if "\\ud" in text.lower():  # JSON allows a lone surrogate, which is no valid text
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            what = "holds half of a surrogate pair, which is no character"
            raise BrokenFileError(name, what, "mend it", line=line) from None
    return content


def _strings(content: Any) -> Iterator[str]:
    """Yield the strings of a JSON value, its keys among them."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list | dict):
        for each in content:
            yield from _strings(each)
        if isinstance(content, dict):
            yield from _strings(list(content.values()))


def _object(value: Any, where: str, required: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is {shown([type(value).__name__])}, not an object; get the file again")  # noqa: TRY004 - the file is wrong, not the call
    absent = [key for key in required if value.get(key) is None]
    if absent:
        raise ValueError(f"{where} has no {shown(absent)}; its keys are {shown(value)}")
    return value


def _with_line_ends(header: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"{header}\n"
    for line in lines:
        yield f"{line}\n"
