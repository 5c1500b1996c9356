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

from lapsus.core.messages import format_list
from lapsus.io.readers import FileFormatError, decode_lines, parse_csv, parse_json

MAX_BYTES = 4 * 2**30  # of an archive's files together; LAPSUS_MAX_BYTES overrides it
MAX_RATIO = 200  # of a file's size to its compressed size; text stays below it; LAPSUS_MAX_RATIO overrides it
SMALL_FILE_BYTES = 2**20  # a file that unpacks to less is accepted at any ratio
CHUNK = 2**20
ARCHIVE_ERRORS = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)
LITTER = ("__MACOSX", ".DS_Store", ".git", "__pycache__")


class PackedFileError(OSError):
    """A compressed file of a folder is damaged, or unpacks to too much."""


class MissingFileError(FileNotFoundError):
    """The source lacks a file: other configs of the benchmark may still be there."""


class AmbiguousFileError(ValueError):
    """Several files of the source may be the one that is asked for."""


@dataclass(eq=False)
class Source:
    """The files of a benchmark by name; `hashes` maps each file that was read to its sha256.

    >>> home = Path(__file__).with_name("sample_data")
    >>> source = open_source(home)
    >>> source.find_one("paraphrase.jsonl"), next(source.read_json_lines("paraphrase.jsonl"))["id"]
    ('paraphrase.jsonl', 'p001')
    """

    path: Path
    files: Mapping[str, Callable[[], IO[bytes]]] = field(repr=False)  # name -> open
    on_disk: tuple[Path, ...] = field(default=(), repr=False)  # the files whose change invalidates cached rows
    hashes: dict[str, str] = field(default_factory=dict)
    opened_names: list[str] = field(default_factory=list, repr=False)  # names, the last one last
    _matches: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False)  # pattern -> names
    _filtered: dict[tuple[str, ...], Source] = field(default_factory=dict, init=False, repr=False)  # words -> files

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source) and self.fingerprint() == other.fingerprint()

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def list_names(self) -> list[str]:
        """Return the names of all files, sorted, with `/` between folders."""
        return sorted(self.files)

    def match(self, *patterns: str) -> list[str]:
        """Return the files whose path ends in one of the patterns, in order of the patterns.

        A pattern is a name with `*` and `?`, and may name folders: `keyboard/test*.json`.
        """
        return [name for pattern in patterns for name in self._match_pattern(pattern)]

    def _match_pattern(self, pattern: str) -> list[str]:
        """Return the files that match one pattern, sorted; of many thousand files most are told by their ending."""
        if pattern not in self._matches:
            ending = re.split(r"[*?\]]", pattern)[-1]
            candidates = sorted(name for name in self.files if name.endswith(ending))
            self._matches[pattern] = [
                name for name in candidates if fnmatchcase(name, pattern) or fnmatchcase(name, f"*/{pattern}")
            ]
        return self._matches[pattern]

    def find_one(self, *patterns: str) -> str:
        """Return the one file that matches the first pattern with a match, in any folder."""
        for pattern in patterns:
            names = self.match(pattern)
            if len(names) > 1:
                raise AmbiguousFileError(
                    f"{pattern} is {format_list(names)} in {self.path}; name the folder that holds only one"
                )
            if names:
                return names[0]
        file_names = [pattern for pattern in patterns if not set(pattern) & set("*?/")] or patterns
        raise MissingFileError(
            f"{self.path} has no {' or '.join(file_names)}; it holds {format_list(self.list_names())}"
            " (--allow-partial builds what is there)"
        )

    def filter_folders(self, *words: str) -> Source:
        """Return the files in folders whose path has one of the words in it, or all files when none has.

        The names of the files themselves do not count: a folder may hold other files that are called after the task.
        """
        if words not in self._filtered:
            folders = {name: name.lower().rpartition("/")[0] for name in self.files}
            selected = {name: file for name, file in self.files.items() if any(word in folders[name] for word in words)}
            self._filtered[words] = replace(self, files=selected) if selected else self
        return self._filtered[words]

    def open(self, name: str) -> IO[bytes]:
        """Open one file; it is recorded in `hashes` when it has been read to its end."""
        if name not in self.files:
            raise MissingFileError(f"{self.path} has no {name}; it holds {format_list(self.list_names())}")
        self.opened_names.append(name)
        return cast("IO[bytes]", io.BufferedReader(_HashingReader(self, name), CHUNK))

    def read(self, name: str) -> bytes:
        """Return the bytes of one file."""
        with self.open(name) as file:
            return file.read()

    def read_text(self, name: str) -> str:
        """Return a UTF-8 file as text, without a BOM and with plain line ends."""
        return "\n".join(self.read_lines(name))

    def read_lines(self, name: str) -> Iterator[str]:
        r"""Yield the lines of a UTF-8 file without their line ends; only \n and \r\n end a line."""
        line = None
        with self.open(name) as file:
            for number, line in enumerate(decode_lines(file, name), start=1):
                if "\0" in line:
                    raise FileFormatError(name, "holds the character NUL", "get the file again", line=number)
                yield line.removesuffix("\n").removesuffix("\r")
        if line is None:
            raise ValueError(f"{name} is empty; get the file again")

    def read_json_lines(self, name: str, *required: str) -> Iterator[dict[str, Any]]:
        """Yield the objects of a file with one JSON object per line, each with the required keys."""
        for number, line in enumerate(self.read_lines(name), start=1):
            if line.strip():
                yield _check_object(_parse_json(line, name, number), f"{name}, line {number}:", required)

    def read_json(self, name: str) -> Any:
        """Return the content of a JSON file."""
        return _parse_json(self.read_text(name), name)

    def read_objects(self, name: str, *required: str) -> Iterator[dict[str, Any]]:
        """Yield the objects of a file that is either one JSON list or one JSON object per line."""
        with self.open(name) as file:
            start = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if start != b"[":
            yield from self.read_json_lines(name, *required)
            return
        content = self.read_json(name)
        for number, row in enumerate(content, start=1):
            yield _check_object(row, f"{name}, object {number}:", required)

    def read_table(self, name: str, *required: str, delimiter: str | None = None) -> Iterator[dict[str, str]]:
        """Yield the rows of a CSV or TSV file with a header, each with the required columns.

        Without a delimiter, the header tells it, as `find_separator` does.
        """
        lines = self.read_lines(name)
        header = next(lines)
        rows = parse_csv(_restore_line_ends(header, lines), name, delimiter or ",")
        columns = [column.strip() for column in next(rows)[1]]
        absent = [column for column in required if column not in columns]
        if absent:
            raise ValueError(f"{name} has no column {format_list(absent)}; its columns are {format_list(columns)}")
        for _, row in rows:
            yield dict(zip(columns, row, strict=True))

    def read_tsv(self, name: str, fields: int) -> Iterator[list[str]]:
        """Yield the fields of a file of tab-separated lines, without quotes and without a header."""
        for number, line in enumerate(self.read_lines(name), start=1):
            row = line.split("\t")
            if len(row) != fields:
                raise ValueError(f"{name}, line {number}: has {len(row)} tab-separated fields, not {fields}; mend it")
            yield row

    def read_xml(self, name: str) -> ET.Element:
        """Return the root of an XML file; a document that declares entities is refused."""
        builder = ET.TreeBuilder()
        parser = expat.ParserCreate()

        def refuse(entity: str, *_: Any) -> None:
            raise ValueError(f"{name} declares the XML entity {entity!r}; entities are refused, so write it out")

        def refuse_undefined(entity: str, *_: Any) -> None:
            raise ValueError(f"{name} uses the undefined XML entity {entity!r}; write the character itself")

        parser.EntityDeclHandler = refuse
        parser.SkippedEntityHandler = refuse_undefined
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


class _HashingReader(io.RawIOBase):
    """A file that hashes what is read of it, and records the hash in its source at the end."""

    def __init__(self, source: Source, name: str) -> None:
        self.source, self.name = source, name
        try:
            self.file = source.files[name]()
        except (*ARCHIVE_ERRORS, NotImplementedError, RuntimeError, ValueError) as error:  # all raised by zipfile
            raise self._make_damage_error(error) from None
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self.file.read(len(buffer))
        except ARCHIVE_ERRORS as error:
            raise self._make_damage_error(error) from None
        buffer[: len(data)] = data
        self.digest.update(data)
        if not data:
            self.source.hashes[self.name] = self.digest.hexdigest()
        return len(data)

    def close(self) -> None:
        if hasattr(self, "file"):
            self.file.close()
        super().close()

    def _make_damage_error(self, error: Exception) -> ValueError:
        return ValueError(f"{self.name} in {self.source.path} is damaged ({error}); get the archive again")


def open_source(path: Path, *, name: str | None = None, max_bytes: int | None = None) -> Source:
    """Open a folder, a zip or tar archive (also gz, bz2, xz), or a single file called `name`.

    An archive that would leave its folder, holds links, or unpacks to more than `max_bytes` is refused.
    """
    limit = max_bytes or int(os.environ.get("LAPSUS_MAX_BYTES", MAX_BYTES))
    if path.is_dir():
        paths = (file for file in path.rglob("*") if file.is_file())
        names = sorted(file.relative_to(path).as_posix() for file in paths)
        data_names = [name for name in names if not _is_litter(name)]
        files = dict(_open_packed(path, name, limit) for name in data_names)
        files |= {
            name: _make_opener(path / name) for name in data_names if name in files
        }  # what is there unpacked is read as it is
        return Source(path, files, tuple(path / name for name in data_names))
    if not path.is_file():
        raise FileNotFoundError(f"there is no source at {path}; name a folder or an archive that exists")
    with path.open("rb") as file:
        magic = file.read(6)
    unpack = next((opener for mark, opener in COMPRESSED.items() if magic.startswith(mark)), None)
    with ExitStack() as stack:
        try:
            if magic.startswith((b"PK\3\4", b"PK\5\6")) or zipfile.is_zipfile(path):
                return Source(path, _list_zip_members(path, limit), (path,))
            plain: IO[bytes] = tempfile.TemporaryFile() if unpack else path.open("rb")  # noqa: SIM115 - `opened` closes it
            stack.callback(plain.close)
            if unpack:
                _unpack(path, unpack, plain, limit)
            if tarfile.is_tarfile(plain):
                files = _list_tar_members(path, plain, limit)
            else:
                files = (
                    {name or path.stem: lambda: _reopen(plain)} if unpack else {name or path.name: _make_opener(path)}
                )
        except ARCHIVE_ERRORS as error:
            raise ValueError(f"{path} is a damaged archive ({error}); get it again") from None
        source = Source(path, files, (path,))
        weakref.finalize(source, stack.pop_all().close)
        return source


def open_files(paths: Mapping[str, Path]) -> Source:
    """Open files that were downloaded, by the names they had; a single archive is opened itself."""
    if len(paths) == 1:
        (name, path), *_ = paths.items()
        return open_source(path, name=name)
    files = {name: _make_opener(path) for name, path in paths.items()}
    return Source(Path(os.path.commonpath(paths.values())), files, tuple(paths.values()))


COMPRESSED: Mapping[bytes, Callable[[Path], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
PACKED: Mapping[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def _list_zip_members(path: Path, limit: int) -> dict[str, Callable[[], IO[bytes]]]:
    archive = _ForkSafeZip(path)
    members = [member for member in archive.get_archive().infolist() if not member.is_dir()]
    for member in members:
        _check_member_path(path, member.filename)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise ValueError(f"{path} holds the link {member.filename!r}; links are refused, so pack the file itself")
        if member.flag_bits & 1:
            raise ValueError(f"{path} needs a password for {member.filename!r}; unpack it and name the folder")
        _check_compression_ratio(path, member.filename, member.file_size, member.compress_size)
    _check_size(path, sum(member.file_size for member in members), limit)
    return _index_members(path, [(member.filename, _make_zip_opener(archive, member)) for member in members])


def _list_tar_members(path: Path, plain: IO[bytes], limit: int) -> dict[str, Callable[[], IO[bytes]]]:
    plain.seek(0)
    archive = tarfile.open(fileobj=plain, mode="r:")  # noqa: SIM115 - stays open as long as its source
    members = [member for member in archive if not member.isdir()]
    for member in members:
        _check_member_path(path, member.name)
        if not member.isreg():
            raise ValueError(f"{path} holds the link {member.name!r}; links are refused, so pack the file itself")
    _check_size(
        path, sum(member.size for member in members), limit
    )  # a sparse member may unpack to more than is stored
    return _index_members(path, [(member.name, _make_tar_opener(archive, member)) for member in members])


def _unpack(path: Path, opener: Callable[[Path], Any], plain: IO[bytes], limit: int) -> None:
    """Unpack a compressed file to an unnamed temporary file, for random access."""
    packed, size = path.stat().st_size, 0
    try:
        with opener(path) as file:
            while data := file.read(CHUNK):
                size += plain.write(data)
                _check_size(path, size, limit)
                _check_compression_ratio(path, path.name, size, packed)
    except (OSError, *ARCHIVE_ERRORS) as error:
        raise ValueError(f"{path} is a damaged archive ({error}); get it again") from None
    plain.seek(0)


def _open_packed(folder: Path, name: str, limit: int) -> tuple[str, Callable[[], IO[bytes]]]:
    """Return a file of a folder and how to open it: a compressed one under the name of what is in it."""
    path = folder / name
    unpack = PACKED.get(path.suffix)
    if unpack is None or path.stem.endswith(".tar"):
        return name, _make_opener(path)

    def open_unpacked() -> IO[bytes]:
        plain = tempfile.TemporaryFile()  # noqa: SIM115 - the reader closes it
        try:
            _unpack(path, unpack, plain, limit)
        except ValueError as error:
            plain.close()
            raise PackedFileError(str(error)) from None
        return plain

    return name.removesuffix(path.suffix), open_unpacked


def _reopen(file: IO[bytes]) -> IO[bytes]:
    file.flush()
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    return cast("IO[bytes]", io.FileIO(os.dup(file.fileno())))  # a duplicate, since a reader may close its file


def _make_opener(path: Path) -> Callable[[], IO[bytes]]:
    return lambda: path.open("rb")


class _ForkSafeZip:
    """A zip file that is opened once per process, since opening parses its directory; a fork opens it again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.process = 0
        self.archive: zipfile.ZipFile | None = None

    def get_archive(self) -> zipfile.ZipFile:
        """Return the archive as opened by this process."""
        if self.archive is None or self.process != os.getpid():
            self.process, self.archive = os.getpid(), zipfile.ZipFile(self.path)
        return self.archive


def _make_zip_opener(archive: _ForkSafeZip, member: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.get_archive().open(member)


def _make_tar_opener(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
    return lambda: cast("IO[bytes]", archive.extractfile(member))


def _index_members(
    path: Path, members: list[tuple[str, Callable[[], IO[bytes]]]]
) -> dict[str, Callable[[], IO[bytes]]]:
    files: dict[str, Callable[[], IO[bytes]]] = {}
    for name, opener in members:
        member_name = "/".join(part for part in name.split("/") if part not in {"", "."})
        if member_name in files:
            raise ValueError(f"{path} holds {member_name!r} twice; pack it again with one of them")
        if not _is_litter(member_name):
            files[member_name] = opener
    return files


def _is_litter(name: str) -> bool:
    return any(part in LITTER for part in name.split("/"))


def _check_member_path(path: Path, name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or not parts[0] or parts[0].endswith(":"):
        raise ValueError(f"{path} holds {name!r}, which lies outside of it; such an archive is refused")


def _check_compression_ratio(path: Path, name: str, size: int, packed: int) -> None:
    if size <= SMALL_FILE_BYTES:
        return
    limit = int(os.environ.get("LAPSUS_MAX_RATIO", MAX_RATIO))
    if size > limit * packed:
        raise ValueError(
            f"{name!r} in {path} unpacks to more than {limit} times its size, as a zip bomb does;"
            " set LAPSUS_MAX_RATIO higher if you trust it"
        )


def _check_size(path: Path, size: int, limit: int) -> None:
    if size > limit:
        raise ValueError(
            f"{path} unpacks to more than {limit:,} bytes; set LAPSUS_MAX_BYTES to a higher number if you trust it"
        )


def _parse_json(text: str, name: str, line: int | None = None) -> Any:
    content = parse_json(text, name, line=line, hint="get the file again")
    if "\\u0000" in text and "\0" in "".join(_iter_strings(content)):
        raise FileFormatError(name, "holds the character NUL", "get the file again", line=line)
    if "\\ud" in text.lower():  # JSON allows a lone surrogate, which is no valid text
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            what = "holds half of a surrogate pair, which is no character"
            raise FileFormatError(name, what, "mend it", line=line) from None
    return content


def _iter_strings(content: Any) -> Iterator[str]:
    """Yield the strings of a JSON value, its keys among them."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list | dict):
        for item in content:
            yield from _iter_strings(item)
        if isinstance(content, dict):
            yield from _iter_strings(list(content.values()))


def _check_object(value: Any, where: str, required: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is {format_list([type(value).__name__])}, not an object; get the file again")  # noqa: TRY004 - the file is wrong, not the call
    absent = [key for key in required if value.get(key) is None]
    if absent:
        raise ValueError(f"{where} has no {format_list(absent)}; its keys are {format_list(value)}")
    return value


def _restore_line_ends(header: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"{header}\n"
    for line in lines:
        yield f"{line}\n"
