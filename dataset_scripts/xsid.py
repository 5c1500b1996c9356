"""xSID: requests to an assistant with intents and slots, in a standard language and as people write their dialects.

A block of a file is one request: header lines (`# key = value`, or `# key: value`), then one line per token with its
number, the token, the intent and the tag of its slot; a blank line ends it. Norwegian ids are `request/writer`.
"""

from __future__ import annotations

import re
from contextlib import suppress
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from datasets import ClassLabel, Features, List

from lapsus.core import bio
from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row
from lapsus.dataset_scripts.source import MissingFileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lapsus.dataset_scripts.source import Source

SIZES = {"validation": 300, "test": 500}
FILES = {"validation": "valid", "test": "test"}
HEADER = re.compile(r"#\s*([\w-]+)\s*(?:=|:)\s*(.*)")
BOKMAAL = "B"
EXCHANGED = ("219", "220")  # requests of `no.test` of which each has the other's words in Bokmål
ALIKE = 0.8  # of two English texts of one request, of which one was corrected


def count_expected_rows(writers: int) -> dict[str, dict[str, int]]:
    """Return the rows of `clean` and of each writer."""
    return {config: dict(SIZES) for config in ("clean", *(f"writer.{number}" for number in range(1, writers + 1)))}


class Xsid(Benchmark):
    """One standard language of xSID, with the dialects that are written beside it."""

    ARXIV: ClassVar[tuple[str, ...]] = ("2105.07316",)
    LICENSE = "cc-by-sa-4.0"
    TASKS = ("text-classification", "token-classification")
    TASK_IDS = ("intent-classification",)
    TAGS = ("dialect", "spoken-language-understanding", "slot-filling")
    WHERE = "https://github.com/mainlp/xsid (data/xSID-0.7)"

    def columns(self, config: str) -> Features:
        """Return the features of a config; labels are those of the source, in alphabetical order."""
        intents, tags = _collect_labels(self) if self.source else ((), ())
        slots = tuple(dict.fromkeys(tag[2:] for tag in tags if tag != "O"))
        clean = {} if config == "clean" else {"clean_text": TEXT}
        return Features(
            {
                "id": TEXT,
                "text": TEXT,
                **clean,
                "dialect": TEXT,
                "intent": ClassLabel(names=list(intents)),
                "entities": List({"type": ClassLabel(names=list(slots)), "text": TEXT}),
                "tokens": List(TEXT),
                "tags": List(ClassLabel(names=list(tags))),
            }
        )

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the requests of a split as one writer wrote them."""
        clean = self.read_requests(source, "clean", split)
        for request, row in (clean if config == "clean" else self.read_requests(source, config, split)).items():
            if row["text"]:  # a writer left out a request
                twin = {} if config == "clean" else {"clean_text": clean[request]["text"]}
                yield {name: value for name, value in row.items() if name != "english"} | twin

    def read_requests(self, source: Source, config: str, split: str) -> dict[str, Row]:
        """Return what a writer made of each request, by request."""
        raise NotImplementedError

    def list_files(self, split: str) -> list[str]:
        """Return the files of a split."""
        raise NotImplementedError


class XsidNorwegian(Xsid):
    """Requests in Bokmål and by ten writers of Norwegian dialects, with intents and slots."""

    NAME = "xsid-no"
    TITLE = "xSID: Norwegian by ten writers (NoMusic)"
    LANGUAGES = ("no", "nb")
    ROWS = count_expected_rows(10) | {"writer.1": {"validation": 299, "test": 500}}

    def read_requests(self, source: Source, config: str, split: str) -> dict[str, Row]:
        """Return the requests of one writer; each must have the same ones as Bokmål, with the same intents."""
        writer = BOKMAAL if config == "clean" else config.partition(".")[2]
        (name,) = (source.find_one(file) for file in self.list_files(split))
        requests: dict[str, dict[str, Row]] = {writer: {}, BOKMAAL: {}}
        for row in iter_requests(source, name):
            request, _, number = row["id"].partition("/")
            if number in requests:
                _add_request(requests[number], request, row, name)
        own, bokmaal = requests[writer], requests[BOKMAAL]
        _mend_exchange(bokmaal)
        for request in sorted(own.keys() | bokmaal.keys(), key=int):
            if request not in own or request not in bokmaal:
                missing = BOKMAAL if request in own else writer
                raise ValueError(f"{name} has no {request}/{missing}, but others of that request; get the file again")
            if own[request]["intent"] != bokmaal[request]["intent"]:
                raise ValueError(f"{name} {request}/{writer} has another intent than {request}/B; get the file again")
        return dict(sorted(own.items(), key=lambda item: int(item[0])))

    def list_files(self, split: str) -> list[str]:
        """Return the one file of a split, which holds all writers."""
        return [f"no.{FILES[split]}.conll"]


class XsidPairs(Xsid):
    """A language with one file of its own, and one for each dialect."""

    CODES: ClassVar[tuple[str, ...]]  # of the standard language, then of the dialects in order of the writers

    def read_requests(self, source: Source, config: str, split: str) -> dict[str, Row]:
        """Return the requests of a file; those of a dialect are joined to the standard ones by their English text."""
        names = [source.find_one(file) for file in self.list_files(split)]
        number = 0 if config == "clean" else int(config.partition(".")[2])
        clean = _index_requests(source, names[0], self.CODES[0])
        if not number:
            return clean
        dialect = _index_requests(source, names[number], self.CODES[number])
        return join_by_english(clean, dialect, names[number])

    def list_files(self, split: str) -> list[str]:
        """Return the files of a split, of the standard language first."""
        return [f"{code}.{FILES[split]}.conll" for code in self.CODES]


class XsidGerman(XsidPairs):
    """Requests in German, Bavarian, Munich Bavarian, South Tyrolean and Swiss German, with intents and slots."""

    NAME = "xsid-de"
    TITLE = "xSID: German and four of its dialects"
    LANGUAGES = ("de", "bar", "gsw")
    CODES = ("de", "de-ba", "de-muc", "de-st", "gsw")
    ROWS = count_expected_rows(4)


class XsidItalian(XsidPairs):
    """Requests in Italian and Neapolitan, with intents and slots."""

    NAME = "xsid-it"
    TITLE = "xSID: Italian and Neapolitan"
    LANGUAGES = ("it", "nap")
    CODES = ("it", "nap")
    ROWS = count_expected_rows(1)


def join_by_english(clean: Mapping[str, Row], dialect: Mapping[str, Row], name: str) -> dict[str, Row]:
    """Return the rows of a dialect by the standard request that they translate.

    A row whose id and English text are those of a request belongs to it. One file stands in another order, and its ids
    are not the requests': its rows go to the next request with their English text, or one hardly different.
    """
    same = {key: row for key, row in dialect.items() if key in clean and row["english"] == clean[key]["english"]}
    joined = dict(same)
    free: dict[str, list[str]] = {}
    for key, row in clean.items():
        if key not in same:
            free.setdefault(row["english"], []).append(key)
    late = []
    for key, row in dialect.items():
        if key in same:
            continue
        if free.get(row["english"]):
            joined[free[row["english"]].pop(0)] = row
        else:
            late.append(row)
    for row in late:
        left = [english for english, ids in free.items() if ids]
        alike = get_close_matches(row["english"], left, n=1, cutoff=ALIKE)
        if not alike:
            raise ValueError(f"{name} has a request {row['english']!r}, which is none of its standard; get it again")
        joined[free[alike[0]].pop(0)] = row
    for key, row in joined.items():
        if row["intent"] != clean[key]["intent"]:
            raise ValueError(f"{name} has another intent for {row['text']!r} than request {key}; get the files again")
    return {key: {**joined[key], "id": key} for key in clean if key in joined}


def iter_requests(source: Source, name: str) -> Iterator[Row]:
    """Yield the requests of a file."""
    header: dict[str, str] = {}
    tokens: list[list[str]] = []
    for number, line in enumerate(chain(source.read_lines(name), [""]), start=1):
        where = f"{name} line {number}"
        if match := HEADER.match(line) if line.startswith("#") else None:
            if tokens:
                raise ValueError(f"{where} begins a request, but no blank line ends the one before; get it again")
            header[match[1]] = match[2].strip()
        elif line.strip():
            fields = line.split("\t")
            if len(fields) != 4:
                raise ValueError(f"{where} has {len(fields)} fields, expected 4; get the file again")
            tokens.append(fields)
        elif header or tokens:
            yield _parse_request(header, tokens, where)
            header, tokens = {}, []


def _parse_request(header: Mapping[str, str], lines: list[list[str]], where: str) -> Row:
    """Return one request as a row."""
    missing = next((key for key in ("id", "text", "intent") if key not in header), None if lines else "tokens")
    if missing:
        raise ValueError(f"{where} ends a request without {missing}; get the file again")
    _, tokens, intents, tags = map(list, zip(*lines, strict=True))
    if set(intents) != {header["intent"]}:
        raise ValueError(f"{where} ends a request with several intents; get the file again")
    for tag in tags:
        if tag != "O" and not tag.startswith(("B-", "I-")):
            raise ValueError(f"{where} ends a request with the tag {tag!r}, which is none of O, B-, I-")
    return {
        "id": header["id"],
        "text": header["text"],
        "dialect": header.get("dialect", ""),
        "intent": header["intent"],
        "entities": [
            {"type": slot.label, "text": find_words(header["text"], tokens, slot.start, slot.end)}
            for slot in bio.extract_slots(tags)
        ],
        "tokens": tokens,
        "tags": tags,
        "english": header.get("text-en", ""),
    }


def find_words(text: str, tokens: list[str], start: int, end: int) -> str:
    """Return tokens as they stand in the text, which has no blanks where tokens only part words and marks.

    >>> find_words("wake me at 6:50", ["wake", "me", "at", "6", ":", "50"], 3, 6)
    '6:50'
    """
    before, words = (
        r"\s*".join(re.escape(char) for token in part for char in "".join(token.split()))
        for part in (tokens[:start], tokens[start:end])
    )
    match = re.match(rf"\s*{before}\s*({words})", text)
    return match[1] if match else " ".join(tokens[start:end])


def _mend_exchange(requests: dict[str, Row]) -> None:
    """Give two requests their own words, where the one about reminders asks for the weather."""
    first, second = (requests.get(request) for request in EXCHANGED)
    if first and second and first["intent"].startswith("reminder/") and "B-weather/attribute" in first["tags"]:
        for name in ("text", "entities", "tokens", "tags"):
            first[name], second[name] = second[name], first[name]


def _index_requests(source: Source, name: str, code: str) -> dict[str, Row]:
    requests: dict[str, Row] = {}
    for row in iter_requests(source, name):
        _add_request(requests, row["id"], {**row, "dialect": code}, name)
    return requests


def _add_request(requests: dict[str, Row], request: str, row: Row, name: str) -> None:
    if request in requests:
        raise ValueError(f"{name} has the request {row['id']!r} twice; keep one of them")
    if not request.isdecimal():
        raise ValueError(f"{name} has the id {row['id']!r}, expected a number; get the file again")
    requests[request] = {**row, "id": request}


def _collect_labels(benchmark: Xsid) -> tuple[tuple[str, ...], tuple[str, ...]]:
    files = [file for split in SIZES for file in benchmark.list_files(split)]
    return _collect_labels_of(benchmark.source, tuple(files))


@lru_cache(maxsize=8)  # each config of a benchmark is a separate builder
def _collect_labels_of(source: Any, files: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    intents: set[str] = set()
    tags: set[str] = set()
    for file in files:
        with suppress(MissingFileError):
            for row in iter_requests(source, source.find_one(file)):
                intents.add(row["intent"])
                tags.update(row["tags"])
    return tuple(sorted(intents)), ("O", *sorted(tags - {"O"}))


UNITS = (XsidNorwegian, XsidGerman, XsidItalian)
