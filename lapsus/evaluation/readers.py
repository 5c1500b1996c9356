"""A reader corrects texts before the model: tracks of read text beside the clean and the noisy ones, in one run.

The reader stands on both sides, since it changes clean text too. The report splits each drop by these tracks.

>>> from lapsus.evaluation import TrackSet, make_task
>>> rows = [{"id": "a", "text": "slow down", "label": "drive"}]
>>> data = TrackSet.from_tracks("mine", make_task(["text"], "label"), {"clean": rows, "typed.1": [
...     {**rows[0], "text": "slwo down", "clean_text": "slow down"}]})
>>> def repair(texts):
...     "Knows one word."
...     return [text.replace("slwo", "slow") for text in texts]
>>> [(name, rows[0]["text"]) for name, rows in add_reader(data, repair).tracks.items()]
[('clean', 'slow down'), ('typed.1', 'slwo down'), ('read.clean', 'slow down'), ('read.typed.1', 'slow down')]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from lapsus.core.checks import shorten_repr
from lapsus.core.conversations import is_messages, list_turns, replace_texts
from lapsus.core.edits import apply
from lapsus.core.messages import format_list
from lapsus.core.origins import parse_operators
from lapsus.core.track_names import CLEAN, READ, READER_COLUMN
from lapsus.core.types import Row
from lapsus.evaluation.models.function import import_function
from lapsus.evaluation.tracks import TrackSet

NO_KNOWLEDGE = "a function without a docstring"


@dataclass(frozen=True, slots=True)
class Reader:
    """A corrector of texts.

    Args:
        name: Its name in reports.
        read: Returns a text for each text.
        knowledge: What it knows, in a few words: another reader gives another split.
        noises: The operators, or tracks of data by people, whose noise it is for; empty for any.
    """

    name: str
    read: Callable[[list[str]], Any] = field(repr=False)
    knowledge: str = NO_KNOWLEDGE
    noises: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """The name and what the reader knows, as each row of a read track holds it."""
        return f"{self.name} ({self.knowledge})"


def open_reader(spec: str | Reader | Callable[[list[str]], Any]) -> Reader:
    """Return the reader of a name, of MODULE:FUNCTION, or of a function.

    The first line of a function's docstring says what it knows; its attribute `noises` names what it is for.

    >>> open_reader("zh_corect")
    Traceback (most recent call last):
    ...
    LookupError: unknown reader 'zh_corect'; write zh_correct, or MODULE:FUNCTION
    """
    if isinstance(spec, Reader):
        return spec
    if not isinstance(spec, str):
        return _wrap_function(getattr(spec, "__name__", "function"), spec)
    if spec in READERS:
        return READERS[spec]()
    module, _, function = spec.partition(":")
    if not (module and function):
        raise LookupError(f"unknown reader {spec!r}; write {format_list(READERS)}, or MODULE:FUNCTION")
    return _wrap_function(spec.replace(":", "."), import_function(spec))


def _wrap_function(name: str, function: Callable[[list[str]], Any]) -> Reader:
    knowledge = (inspect.getdoc(function) or NO_KNOWLEDGE).splitlines()[0].rstrip(".")
    return Reader(name, function, knowledge, tuple(getattr(function, "noises", ())))


def _open_zh_correct() -> Reader:
    from lapsus.perturbations.core import perturb
    from lapsus.perturbations.zh.correction.corrector import ZhCorrect

    corrector = ZhCorrect()
    return Reader(
        f"{corrector.name} {corrector.version}",
        lambda texts: [apply(text, perturb(corrector, text)) for text in texts],
        "Chinese words of the same sound, by the words and pairs of words of the input engine; no text of the task",
        ("zh_keyboard", "zh_speech", "zh_homophone", "keyboard", "speech"),
    )


READERS: Mapping[str, Callable[[], Reader]] = {"zh_correct": _open_zh_correct}


def add_reader(data: TrackSet, spec: str | Reader | Callable[[list[str]], Any]) -> TrackSet:
    """Return the data with each track, the clean one too, as a reader corrects it: `read.clean`, `read.typed.1`."""
    reader = open_reader(spec)
    clean, *others = data.tracks
    noisy = [name for name in others if name.partition(".")[0] not in CLEAN]
    if clean not in CLEAN:
        raise ValueError(
            f"the task {data.task.name} has no clean track, but {clean!r}, so no drop can be split; leave --reader out"
        )
    if not noisy:
        raise ValueError(
            "a reader splits what noise costs, but only the clean track is run; add noise, or leave --reader out"
        )
    for name in noisy:
        _check_noise(reader, name, data.tracks[name])
    if taken := [name for name in (clean, *noisy) if f"{READ}{name}" in data.tracks]:
        raise ValueError(f"{data.name} has a track {READ}{taken[0]!s} already; rename it, or leave --reader out")
    inputs = data.task.inputs
    rows_by_track = {
        name: [_add_clean_texts(row, inputs, name == clean) for row in data.tracks[name]] for name in (clean, *noisy)
    }
    texts = _list_distinct(rows_by_track.values(), inputs)
    corrections = dict(zip(texts, read_texts(reader, texts), strict=True))
    read_tracks = {
        f"{READ}{name}": [_read_row(row, inputs, corrections, reader.description) for row in rows]
        for name, rows in rows_by_track.items()
    }
    noisy_texts = _list_distinct([rows_by_track[name] for name in noisy], inputs)
    is_idle = all(corrections[text] == text for text in noisy_texts)
    note = (
        f"the reader {reader.name} changed none of {len(noisy_texts):,} noisy texts, so it wins nothing back; "
        "check its language, or take one that knows this noise"
    )
    notes = (*data.notes, note) if is_idle else data.notes
    return replace(data, tracks={**data.tracks, **read_tracks}, notes=notes)


def read_texts(reader: Reader, texts: Sequence[str]) -> list[str]:
    """Return what a reader makes of texts, one text each; refuse anything else.

    >>> read_texts(Reader("short", lambda texts: texts[1:]), ["a", "b"])
    Traceback (most recent call last):
    ...
    ValueError: the reader short returned 1 texts for 2; return one text for each
    """
    try:
        values = reader.read(list(texts))
    except Exception as error:
        raise ValueError(
            f"the reader {reader.name} raised {type(error).__name__}: {error}; `lapsus --debug …` shows where"
        ) from error
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(
            f"the reader {reader.name} returned {type(values).__name__}; a reader takes a list of texts and returns one"
        )
    output = list(values)
    if len(output) != len(texts):
        raise ValueError(
            f"the reader {reader.name} returned {len(output)} texts for {len(texts)}; return one text for each"
        )
    wrong = next((value for value in output if not isinstance(value, str)), None)
    if wrong is not None or None in output:
        raise TypeError(f"the reader {reader.name} returned {shorten_repr(wrong)}, which is no text; return texts")
    return output


def _check_noise(reader: Reader, track: str, rows: Sequence[Row]) -> None:
    """Refuse a track whose noise the reader is not for."""
    if not reader.noises:
        return
    origins = dict.fromkeys(str(row["operator"]) for row in rows if row.get("operator"))
    operators = dict.fromkeys(words.partition(" ")[0] for origin in origins for words in parse_operators(origin))
    wrong = [name for name in operators or [track.partition(".")[0]] if name not in reader.noises]
    if wrong:
        raise ValueError(
            f"the reader {reader.name} is not for the noise {wrong[0]} of the track {track}, but for "
            f"{format_list(reader.noises)}; leave the track out with --tracks, or give another --reader"
        )


def _add_clean_texts(row: Row, inputs: Sequence[str], is_clean: bool) -> Row:
    return {**row, **{f"clean_{name}": row[name] for name in inputs}} if is_clean else row


def _list_distinct(tracks: Iterable[Iterable[Row]], inputs: Sequence[str]) -> list[str]:
    """Return the distinct texts of all rows; a reader reads each once."""
    rows = chain.from_iterable(tracks)
    return list(dict.fromkeys(text for row in rows for name in inputs for text in _list_texts(row[name], name)))


def _list_texts(value: Any, column: str) -> list[str]:
    if isinstance(value, str):
        return [value]
    if is_messages(value):
        return [turn.text for turn in list_turns(value)]
    raise TypeError(
        f"column {column!r} holds {shorten_repr(value)}, and a reader reads texts and messages; leave --reader out"
    )


def _read_row(row: Row, inputs: Sequence[str], corrections: Mapping[str, str], description: str) -> Row:
    return {**row, **{name: _replace(row[name], corrections) for name in inputs}, READER_COLUMN: description}


def _replace(value: Any, corrections: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return corrections[value]
    return replace_texts(value, [(turn, corrections[turn.text]) for turn in list_turns(value)])
