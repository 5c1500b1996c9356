"""Hinglish-TOP: requests to an assistant in English and in Hinglish, with the parse of each.

A parse is the request with brackets around its intents and slots: `[IN:PLAY play [SL:TRACK new wave ] ]`.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from datasets import ClassLabel, Features, List, Value

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_text
from lapsus.dataset_scripts.source import MissingFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts.source import Source

FILES = {split: f"{split}.tsv" for split in ("train", "validation", "test")}
HEADER = ("en_query", "cs_query", "en_parse", "cs_parse", "domain")
PREFIXES = {"clean": "en", "hinglish": "cs"}


class Parse(NamedTuple):
    """The outermost intent of a request, and its slots with their words."""

    intent: str
    slots: list[tuple[str, str]]


class HinglishTop(Benchmark):
    """Requests in English, and the same as people say them in Hinglish, with intents, slots and whole parses."""

    NAME = "hinglish-top"
    TITLE = "Hinglish-TOP"
    LANGUAGES = ("en", "hi")
    ARXIV = ("2211.07514",)
    LICENSE = "apache-2.0"
    TASKS = ("text-classification", "token-classification")
    TASK_IDS = ("intent-classification",)
    TAGS = ("code-switching", "hinglish", "semantic-parsing", "slot-filling")
    WHERE = (
        "https://github.com/google-research-datasets/Hinglish-TOP-Dataset "
        "(the human annotated train.tsv, validation.tsv, test.tsv)"
    )
    ROWS = {config: {"train": 2_993, "validation": 1_390, "test": 6_513} for config in PREFIXES}

    def columns(self, config: str) -> Features:
        """Return the features of a config; labels are those of the source, in alphabetical order."""
        intents, slots, domains = _collect_labels(self.source) if self.source else ((), (), ())
        clean = {} if config == "clean" else {"clean_text": TEXT}
        return Features(
            {
                "id": TEXT,
                "text": TEXT,
                **clean,
                "domain": ClassLabel(names=list(domains)),
                "intent": ClassLabel(names=list(intents)),
                "entities": List({"type": ClassLabel(names=list(slots)), "text": TEXT}),
                "parse": TEXT,
                "seen": Value("bool"),
            }
        )

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the requests of a split; `seen` ones have an English text that is in train."""
        train = set()
        if split != "train":
            with suppress(MissingFileError):
                train = {row["en_query"] for _, row in iter_requests(source, "train")}
        prefix = PREFIXES[config]
        for number, (where, row) in enumerate(iter_requests(source, split)):
            parse = read_parse(row[f"{prefix}_parse"], where)
            clean = {} if config == "clean" else {"clean_text": row["en_query"]}
            yield {
                "id": str(number),
                "text": row[f"{prefix}_query"],
                **clean,
                "domain": row["domain"],
                "intent": parse.intent,
                "entities": [{"type": slot, "text": words} for slot, words in parse.slots],
                "parse": row[f"{prefix}_parse"],
                "seen": row["en_query"] in train,
            }


def iter_requests(source: Source, split: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the requests of a split, each with where it stands."""
    name = source.find_one(FILES[split])
    lines = source.read_tsv(name, len(HEADER))
    if tuple(next(lines, ())) != HEADER:
        raise ValueError(f"{name} does not begin with the columns {', '.join(HEADER)}; get the file again")
    for number, fields in enumerate(lines, start=2):
        where = f"{name} line {number}"
        row = {column: field.strip() for column, field in zip(HEADER, fields, strict=True)}
        yield where, {column: parse_text(row, column, where) for column in HEADER}


def read_parse(text: str, where: str) -> Parse:
    """Return the outermost intent of a parse, and the slots that are right below it.

    >>> read_parse("[IN:PLAY play [SL:TRACK songs [IN:BY by [SL:ARTIST Ida ] ] ] ]", "line 2")
    Parse(intent='PLAY', slots=[('TRACK', 'songs by Ida')])
    """
    open_nodes: list[tuple[str, list[str]]] = []
    slots: list[tuple[str, str]] = []
    intent = ""
    for word in text.split():
        if word.startswith(("[IN:", "[SL:")) and not intent:
            open_nodes.append((word[1:], []))
        elif not open_nodes:
            break
        elif word != "]":
            open_nodes[-1][1].append(word)
        else:
            label, words = open_nodes.pop()
            if not open_nodes:
                intent = label
                continue
            open_nodes[-1][1].extend(words)
            if len(open_nodes) == 1 and label.startswith("SL:"):
                slots.append((label.removeprefix("SL:"), " ".join(words)))
    else:
        if intent.startswith("IN:"):
            return Parse(intent.removeprefix("IN:"), slots)
    raise ValueError(f"{where} has the parse {text!r}, which is not one intent with its brackets; get the file again")


@lru_cache(maxsize=4)  # each config is a separate builder
def _collect_labels(source: Source) -> tuple[tuple[str, ...], ...]:
    labels: tuple[set[str], ...] = (set(), set(), set())
    for split in FILES:
        with suppress(MissingFileError):
            for where, row in iter_requests(source, split):
                parses = [read_parse(row[f"{prefix}_parse"], where) for prefix in PREFIXES.values()]
                labels[0].update(parse.intent for parse in parses)
                labels[1].update(slot for parse in parses for slot, _ in parse.slots)
                labels[2].add(row["domain"])
    return tuple(tuple(sorted(names)) for names in labels)


UNITS = (HinglishTop,)
