"""The 136-million-keystrokes study: English sentences that thousands of people copied, key by key.

What stayed after their own corrections is in the logs. What would have stayed without backspace is worked out here:
what was typed first at each place that was corrected, in the place of what stands there now.
"""

from __future__ import annotations

import hashlib
import math
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from datasets import Features, List, Value
from rapidfuzz.distance import OSA, Levenshtein

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lapsus.dataset_scripts.source import Source

LOGS = "keystrokes.jsonl"  # one log per line
PARTICIPANT_FILES = "*_keystrokes.txt"  # the study's own files, one per typist and one key per line
OWN_COLUMNS = (
    "PARTICIPANT_ID", "TEST_SECTION_ID", "SENTENCE", "USER_INPUT", "KEYSTROKE_ID",
    "PRESS_TIME", "RELEASE_TIME", "LETTER", "KEYCODE",
)  # fmt: skip
BACKSPACE = ("BKSP", "\b")
SPEEDS = {"slow": (0, 40), "medium": (40, 60), "fast": (60, math.inf)}  # words of five characters per minute
ROWS: dict[str, int | None] = {"test": 1_525}
UNKNOWN_ROWS: dict[str, int | None] = {"test": None}  # how many sentences each group typed is not published
MAX_EXTRA_CHARACTERS = 4  # how many more characters may stand now where something was corrected


class TypingLog(NamedTuple):
    """A sentence as one typist copied it."""

    typist: int
    sentence: str
    typed: str  # what stayed
    keys: Sequence[str]  # characters, and names such as BKSP and SHIFT
    milliseconds: int  # milliseconds from the first key to the last


class AaltoTyping(Benchmark):
    """Sentences as people copied them, after their own corrections and as if they had made none."""

    NAME = "aalto-typing"
    TITLE = "Sentences copied in the 136M keystrokes study"
    LANGUAGES = ("en",)
    LICENSE = None
    RIGHTS = "free for research, with attribution"
    TASKS = ("text-generation",)
    TAGS = ("noise", "keyboard", "typing", "keystrokes")
    ANNOTATIONS = "crowdsourced"
    WHERE = "https://userinterfaces.aalto.fi/136Mkeystrokes (Keystrokes.zip; some of its files in a folder will do)"
    ROWS = {
        "clean": ROWS,
        **{f"typed.{speed}": UNKNOWN_ROWS for speed in SPEEDS},
        "typed": ROWS,
        **{f"uncorrected.{speed}": UNKNOWN_ROWS for speed in SPEEDS},
        "uncorrected": UNKNOWN_ROWS,
    }

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        if config == "clean":
            return Features({"id": TEXT, "text": TEXT})
        typings = List({"typist": Value("int32"), "wpm": Value("float32"), "text": TEXT})
        return Features({"id": TEXT, "text": typings, "clean_text": TEXT})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the sentences, each with what every typist of the group made of it."""
        kind, _, group = config.partition(".")
        typings: dict[str, list[tuple[int, str]]] = {}
        totals: dict[int, tuple[int, int]] = {}  # typist -> characters and milliseconds
        for log in iter_logs(source):
            characters, milliseconds = totals.get(log.typist, (0, 0))
            totals[log.typist] = characters + len(log.typed) - 1, milliseconds + log.milliseconds
            text = undo_corrections(log) if kind == "uncorrected" else log.typed
            typings.setdefault(log.sentence, []).extend([] if text is None else [(log.typist, text)])
        if kind == "clean":
            totals = {}  # a sentence is there at any speed
        speeds = {typist: compute_words_per_minute(typist, *total) for typist, total in totals.items()}
        sentences = {hashlib.sha256(sentence.encode()).hexdigest()[:12]: sentence for sentence in typings}
        for key, sentence in sorted(sentences.items()):  # in the same order, whichever typists are there
            if kind == "clean":
                yield {"id": key, "text": sentence}
                continue
            minimum, limit = SPEEDS[group] if group else (0, math.inf)
            group_typings = [
                {"typist": typist, "wpm": speeds[typist], "text": text}
                for typist, text in sorted(typings[sentence])
                if minimum <= speeds[typist] < limit
            ]
            if group_typings:
                yield {"id": key, "text": group_typings, "clean_text": sentence}


def compute_words_per_minute(typist: int, characters: int, milliseconds: int) -> float:
    """Return how many words of five characters a typist writes in a minute.

    >>> compute_words_per_minute(7, 100, 24_000)
    50.0
    """
    if milliseconds <= 0 or characters <= 0:
        raise ValueError(f"typist {typist} has {characters} characters in {milliseconds} ms; leave the typist out")
    return round(characters / 5 / (milliseconds / 60_000), 1)


def iter_logs(source: Source) -> Iterator[TypingLog]:
    """Yield the logs of a source; raise where a typist copied one sentence twice."""
    seen: set[tuple[int, int]] = set()
    for where, log in _read_line_logs(source) if source.match(LOGS) else _read_typist_logs(source):
        if (log.typist, hash(log.sentence)) in seen:
            raise ValueError(f"{where} has typist {log.typist} copy {log.sentence!r} a second time; keep one of them")
        seen.add((log.typist, hash(log.sentence)))
        for what, text in (("sentence", log.sentence), ("typed text", log.typed)):
            if not text.strip():
                raise ValueError(f"{where} has an empty {what}; leave the log out")
        yield log


def _read_line_logs(source: Source) -> Iterator[tuple[str, TypingLog]]:
    name = source.find_one(LOGS)
    for number, row in enumerate(source.read_json_lines(name, "typist", "sentence", "typed", "keys", "ms"), start=1):
        where = f"{name} line {number}"
        for column, kind in (("typist", int), ("sentence", str), ("typed", str)):
            if not isinstance(row[column], kind):
                raise ValueError(f"{where} has {row[column]!r} as its {column}; mend the log")  # noqa: TRY004 - the file is wrong
        keys, times = row["keys"], row["ms"]
        if not (_is_list_of(str, keys) and _is_list_of(int, times) and len(keys) == len(times) > 0):
            raise ValueError(f"{where} has keys and ms that are not as many names and numbers; mend the log")
        yield where, TypingLog(row["typist"], row["sentence"], row["typed"], keys, times[-1] - times[0])


def _is_list_of(kind: type, values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _read_typist_logs(source: Source) -> Iterator[tuple[str, TypingLog]]:
    names = source.match(PARTICIPANT_FILES)
    if not names:
        source.find_one(LOGS, PARTICIPANT_FILES)  # raises, and says what is there
    for name in names:
        lines = source.read_tsv(name, len(OWN_COLUMNS))
        header = next(lines)
        if tuple(header) != OWN_COLUMNS:
            raise ValueError(f"{name} has the columns {', '.join(header)}, not those of the study; get the file again")
        keys = (dict(zip(OWN_COLUMNS, line, strict=True)) for line in lines)
        for section, section_keys in groupby(keys, key=lambda key: key["TEST_SECTION_ID"]):
            where = f"{name} section {section}"
            presses = list(section_keys)
            first_press = presses[0]
            try:
                typist, times = int(first_press["PARTICIPANT_ID"]), [int(key["PRESS_TIME"]) for key in presses]
            except ValueError as error:
                raise ValueError(f"{where} has no number where one belongs ({error}); get the file again") from None
            letters = [key["LETTER"] for key in presses]
            yield (
                where,
                TypingLog(typist, first_press["SENTENCE"], first_press["USER_INPUT"], letters, times[-1] - times[0]),
            )


class Correction(NamedTuple):
    """A place in the text where something else was typed first."""

    start: int
    first: str


def replay_keys(keys: Iterable[str]) -> tuple[str, list[Correction]]:
    """Return the text that the keys give, and what was typed first where it was corrected.

    >>> replay_keys(["SHIFT", "T", "e", "BKSP", "h", "e"])
    ('The', [Correction(start=1, first='e')])
    """
    text: list[str] = []
    deleted: list[str] = []
    corrections: list[Correction] = []

    def correct() -> None:
        start, first = len(text), "".join(reversed(deleted))
        deleted.clear()
        while corrections and corrections[-1].start >= start:  # the text that is taken back had been corrected before
            earlier = corrections.pop()
            first = first[: earlier.start - start] + earlier.first
        corrections.append(Correction(start, first))

    for key in keys:
        if key in BACKSPACE:
            deleted += [text.pop()] if text else []
        elif len(key) == 1:
            if deleted:
                correct()
            text.append(key)
    if deleted:
        correct()
    return "".join(text), corrections


def undo_corrections(log: TypingLog) -> str | None:
    """Return the text as if nothing had been taken back; None where the log lost keys and does not give the text.

    >>> keys = [*"dont", "BKSP", *"'t ask"]
    >>> undo_corrections(TypingLog(7, "don't ask", "don't ask", keys, 900))
    'dont ask'
    """
    text, corrections = replay_keys(log.keys)
    if text != log.typed:
        return None
    for start, first in reversed(corrections):
        text = text[:start] + first + text[_find_end(text, start, first) :]
    return text


def _find_end(text: str, start: int, first: str) -> int:
    """Return where the part of the text ends that stands in the place of what was typed first.

    It is the one that needs the fewest edits. Of several an exchange of neighbours comes first, then a part that ends
    alike (a key was left out), one with as many spaces (people rarely hit the space bar for a letter), one as long.
    """

    def rank_end(end: int) -> tuple[int, int, bool, int, int]:
        current = text[start:end]
        edits = OSA.distance(first, current)
        swaps = Levenshtein.distance(first, current) - edits
        spaces = abs(first.count(" ") - current.count(" "))
        return edits, -swaps, first[-1:] != current[-1:], spaces, abs(len(first) - len(current))

    if start and first == text[start - 1]:  # the key before was hit twice
        return start
    return min(range(start, min(len(text), start + len(first) + MAX_EXTRA_CHARACTERS) + 1), key=rank_end)


UNITS = (AaltoTyping,)
