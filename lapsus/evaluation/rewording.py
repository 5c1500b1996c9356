"""Rewording as noise: a model says texts in other words, filters reject what is not the same, a file keeps the rest.

The same text has the same rewordings wherever it stands: `reworded:1` is the first track of `reworded:3`.

>>> Reworded("mymodel", 1, {"will it rain": "is rain expected"}).edits("will it rain")
(Edit(start=0, end=12, text='is rain expected'),)
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from lapsus.core.checks import shorten_repr
from lapsus.core.conversations import is_messages, list_turns
from lapsus.core.edits import Edit, apply
from lapsus.core.files import stage_file
from lapsus.core.overlap import OverlapFilter, jaccard, normalise
from lapsus.core.types import Row, StrPath
from lapsus.evaluation.answer_types import FreeAnswer
from lapsus.evaluation.models import ModelAdapter
from lapsus.evaluation.run_folder import to_folder_name
from lapsus.evaluation.scorers import Answer, Scorer, ScorerOptions, open_scorer
from lapsus.evaluation.tasks import Task
from lapsus.io.readers import FileFormatError, read_rows
from lapsus.perturbations.conversations import Turns, find_pasted, make_turn_key, select_turns
from lapsus.perturbations.languages import name_script
from lapsus.perturbations.protection import Protection, find_matches, find_words, list_values
from lapsus.perturbations.specs import MAX_ANNOTATORS, NoiseStep, NoiseTrack, list_operator_names, split_track_name

REWORDED = "reworded"
SPEC = re.compile(rf"{REWORDED}(?::(?P<count>[0-9]+))?")
FILE_NAME = "reworded.jsonl"
PROMPT_VERSION = "1"  # another one whenever PROMPT or HINTS change
PROMPT = (
    "Say the text below in other words, as another person would who means the same. {how} Keep its meaning, its "
    "language, and all names, numbers and quoted words. Do not answer it. Reply with the new text alone, without any "
    "comment.\nThis is version {way} of several, each different from the others.\n\nText: {text}"
)
HINTS = (
    "Take other words.",
    "Build the sentence in another way.",
    "Change both the words and how it is built.",
    "Say it more briefly.",
    "Say it as people talk.",
    "Say it more formally.",
)
ROUNDS = 2  # texts that lack rewordings are asked about once more
MAX_TOKENS = 1024
SLACK, FACTOR = 30, 3  # a rewording has at most FACTOR times the letters of its text, and SLACK more
MIN_SIMILARITY = 0.8  # in both directions, where no judge but a text metric compares
REFUSAL = re.compile(
    r"(?:(?:i['’]m|i am) (?:very |so )?sorry|sorry,|i (?:cannot|can['’]t|won['’]t|am unable|apologi[sz]e)|as an ai\b"
    r"|抱歉|对不起|很抱歉|我无法|我不能)",
    re.IGNORECASE,
)
KANA = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}
NO_JUDGE = (
    "no judge has compared what the rewordings mean with the texts, and some will mean something else; add "
    "--rewriter-judge MODEL, or read {file}"
)


@dataclass(frozen=True, slots=True)
class Reworded:
    """An operator that puts the rewording of a text in the place of what differs; texts without one stay."""

    model: str
    number: int
    texts: Mapping[str, str] = field(repr=False)
    version: str = PROMPT_VERSION
    name: str = REWORDED

    def edits(self, text: str, rng: Random | None = None) -> tuple[Edit, ...]:
        """Return the replacement of the part of a text that differs in its rewording."""
        return replace_middle(text, self.texts.get(text, text))


class Source(NamedTuple):
    """A clean text: the id of its row or turn, its column, and what must stand in its rewordings as it stands here."""

    id: str
    column: str
    text: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draw:
    """The rewordings of each text in their order, the identity of their model, and what became of its candidates."""

    model: str
    texts: Mapping[str, Sequence[str]]
    rejected: Mapping[str, int] = field(default_factory=dict)
    prompt: str = PROMPT_VERSION


@dataclass(frozen=True, slots=True)
class Rewriter:
    """Where rewordings come from: a model, or the file of an earlier run.

    Args:
        model: The model that rewrites.
        judge: The scorer that says whether a rewording and its text mean the same, asked in both directions.
        file: The file of an earlier run, instead of a model.
        cache: The file of cached responses.
        out: The folder of a run, which gets a folder of the data with the file of the rewordings.
    """

    model: ModelAdapter | None = None
    judge: Scorer | None = None
    file: Path | None = None
    cache: Path | None = None
    out: Path | None = None

    def name_file(self, data_name: str) -> Path | None:
        """Return the file of the rewordings of a run on some data; None where nothing is written."""
        return None if self.out is None else self.out / to_folder_name(data_name) / FILE_NAME

    def draw(self, sources: Sequence[Source], count: int, data_name: str) -> tuple[Draw, list[str]]:
        """Return `count` rewordings of each text where there are so many, and what a user should know of them."""
        if self.model is None:
            draw = read_rewordings(Path(self.file or FILE_NAME), sources, count)
        else:
            draw = draw_rewordings(sources, count, self.model, self.judge, self.cache)
        notes = [describe_draw(draw, count)]
        file = None if self.model is None else self.name_file(data_name)
        if self.model is not None and self.judge is None:
            notes.append(f"warning: {REWORDED}: {NO_JUDGE.format(file=file or 'them')}")
        if file is not None:
            with stage_file(file) as lines:
                lines.writelines(
                    json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
                    for row in list_rows(draw, sources, count)
                )
        return draw, notes


def open_rewriter(
    noise: Sequence[str],
    model: Any = None,
    judge: str | None = None,
    file: StrPath | None = None,
    *,
    cache: StrPath | None = None,
    out: StrPath | None = None,
) -> Rewriter | None:
    """Return what rewrites texts for these noise specs, or None where nothing is named.

    `judge` is a model, or a text metric such as `similarity:minilm`; `file` has the rewordings of an earlier run.
    """
    from lapsus.evaluation.models.function import to_adapter

    given = {"--rewriter": model, "--rewriter-judge": judge, "--rewordings": file}
    named = next((name for name, value in given.items() if value is not None), None)
    n_specs = sum(map(is_reworded, noise))
    if n_specs > 1:
        raise ValueError(f"--noise names {REWORDED} {n_specs} times; name it once, with the number of tracks")
    if named and not n_specs:
        raise ValueError(f"{named} belongs to --noise {REWORDED}:N; add it, or leave {named} out")
    if model is None and file is None:
        if judge is not None:
            raise ValueError(f"the judge {judge} compares rewordings, and nothing rewrites; add --rewriter MODEL")
        return None
    if file is not None:
        if model is not None or judge is not None:
            raise ValueError(
                f"{file} has the rewordings of an earlier run, which are not drawn or judged again; leave out "
                "--rewriter and --rewriter-judge, or --rewordings"
            )
        if not Path(file).is_file():
            raise FileNotFoundError(f"{file}: no such file; give the {FILE_NAME} of an earlier run")
    cache_path = None if cache is None else Path(cache)
    scorer = None
    if judge is not None:
        spec = judge if judge.startswith(("similarity:", "judge:")) else f"judge:{judge}"
        scorer = open_scorer(spec, ScorerOptions(cache=cache_path))
    return Rewriter(
        None if model is None else to_adapter(model, {}),
        scorer,
        None if file is None else Path(file),
        cache_path,
        None if out is None else Path(out),
    )


def is_reworded(spec: str) -> bool:
    """Return whether a noise spec is about rewording.

    >>> is_reworded("reworded:3"), is_reworded("words=reworded"), is_reworded("filler_eos:2")
    (True, True, False)
    """
    return REWORDED in list_operator_names(spec)


def parse_reworded(spec: str) -> tuple[str, int | None]:
    """Return the name of the tracks of a `[TRACK=]reworded[:N]` spec, and how many they are; None for one alone.

    >>> parse_reworded("reworded:3"), parse_reworded("words=reworded")
    (('reworded', 3), ('words', None))
    """
    track, noise = split_track_name(spec)
    match = SPEC.fullmatch(noise)
    if match is None:
        raise ValueError(f"{spec!r} is no noise spec; {REWORDED} stands alone: write {REWORDED} or {REWORDED}:3")
    count = None if match["count"] is None else int(match["count"])
    if count is not None and not 1 <= count <= MAX_ANNOTATORS:
        raise ValueError(f"{spec!r} asks for {count} rewordings; give a number from 1 to {MAX_ANNOTATORS}")
    return track or REWORDED, count


def make_reworded_tracks(
    rewriter: Rewriter | None, spec: str, sources: Sequence[Source], data_name: str
) -> tuple[str, tuple[NoiseTrack, ...], list[str]]:
    """Return the name of the tracks of a spec, the tracks, and what a user should know of them."""
    family, count = parse_reworded(spec)
    if rewriter is None:
        raise LookupError(
            f"{spec} needs a model that rewrites texts; name one with --rewriter MODEL, or for other words in English "
            "take --noise filler_eos:3, or --noise synonym_any:3 with the extra lapsus[en]"
        )
    draw, notes = rewriter.draw(sources, count or 1, data_name)
    tracks = [
        NoiseTrack(
            "" if count is None else f".{number}",
            (NoiseStep(Reworded(draw.model, number, _take(draw.texts, number), draw.prompt), 0),),
        )
        for number in range(1, (count or 1) + 1)
    ]
    return family, tuple(tracks), notes


def _take(texts: Mapping[str, Sequence[str]], number: int) -> dict[str, str]:
    return {text: others[number - 1] for text, others in texts.items() if len(others) >= number}


def list_sources(
    rows: Iterable[Row],
    inputs: Sequence[str],
    golds: Sequence[str] = (),
    protection: Protection | None = None,
    turns: Turns | None = None,
) -> list[Source]:
    """Return the texts that users wrote, with the gold and protected values that stand in them.

    >>> list_sources([{"id": "a", "text": "move order 7890", "order": 7890}], ["text"], ["order"])
    [Source(id='a', column='text', text='move order 7890', values=('7890',))]
    """
    columns, patterns = protection or Protection()
    sources: list[Source] = []
    for row in rows:
        if missing := next((name for name in columns if name not in row), None):
            raise LookupError(f"the rows have no column {missing!r}, whose values are protected; name another")
        values = [value for name in (*golds, *columns) for value in list_values(row.get(name))]
        for column in inputs:
            for key, text in _list_texts(row, column, turns):
                words = [value for value in values if find_words(text, [value])]
                words += [text[start:end] for start, end in find_matches(text, patterns)]
                sources.append(Source(key, column, text, tuple(dict.fromkeys(words))))
    return sources


def _list_texts(row: Row, column: str, turns: Turns | None) -> Iterator[tuple[str, str]]:
    """Yield the key and the text of a row, or of each turn of its user; turns with something pasted are left out."""
    cell, key = row[column], str(row["id"])
    if isinstance(cell, str):
        yield key, cell
    elif is_messages(cell):
        for turn in select_turns(list_turns(cell), turns or "all"):
            if not find_pasted(turn.text):
                yield make_turn_key(key, turn), turn.text
    else:
        raise TypeError(
            f"column {column!r} holds {type(cell).__name__}, and {REWORDED} is for texts and messages; take other noise"
        )


# Drawing: each text is asked about in several ways, and what is not the same in other words is rejected.


def draw_rewordings(
    sources: Sequence[Source],
    count: int,
    model: ModelAdapter,
    judge: Scorer | None = None,
    cache: Path | None = None,
) -> Draw:
    """Return at most `count` rewordings of each text, and how many candidates were rejected for each reason."""
    values: dict[str, dict[str, None]] = {}
    for source in sources:
        if _has_letters(source.text):
            values.setdefault(source.text, {}).update(dict.fromkeys(source.values))
    accepted: dict[str, list[str]] = {text: [] for text in values}
    known = {text: {normalise(text)} for text in values}
    rejected: Counter[str] = Counter()
    for start in range(1, ROUNDS * count + 1, count):
        short = [text for text, others in accepted.items() if len(others) < count]
        requests = [(text, way) for text in short for way in range(start, start + count)]
        candidates: list[tuple[str, str]] = []
        for (text, _), response in zip(requests, _ask(model, requests, cache), strict=True):
            candidate = clean_reply(response.get("prediction"), text)
            reason = _find_fault(text, candidate, response, known[text], list(values[text]))
            if reason:
                rejected[reason] += 1
                continue
            known[text].add(normalise(candidate))
            candidates.append((text, candidate))
        for (text, candidate), is_same in zip(candidates, _compare(judge, candidates), strict=True):
            if not is_same:
                rejected["mean something else"] += 1
            elif len(accepted[text]) < count:
                accepted[text].append(candidate)
    return Draw(model.identity, accepted, rejected)


def _has_letters(text: str) -> bool:
    return any(letter.isalpha() for letter in text)


def _ask(model: ModelAdapter, requests: Sequence[tuple[str, int]], cache: Path | None) -> list[Row]:
    """Return the row with the reply to each request for a text and a way; each is sent once, and cached."""
    from lapsus.evaluation.runner import Evaluation
    from lapsus.evaluation.tracks import TrackSet

    if not requests:
        return []
    answer = FreeAnswer(None, max_tokens=MAX_TOKENS)
    task = Task(REWORDED, ("text",), PROMPT, answer, dataset=REWORDED, context=("how", "way"), version=PROMPT_VERSION)
    rows = [
        {"id": _name_request(text, way), "text": text, "how": HINTS[(way - 1) % len(HINTS)], "way": str(way)}
        for text, way in requests
    ]
    outcome = Evaluation(TrackSet.from_rows(REWORDED, task, rows), model, cache=cache).execute()
    return list(outcome.tracks[0].rows)


def _name_request(text: str, way: int) -> str:
    """Return an id that does not depend on the other texts: functions read it, so it is in the key of the cache."""
    return hashlib.sha256(f"{way}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def clean_reply(reply: Any, text: str) -> str:
    r"""Return the new text of a reply, without blanks and marks around it that the text does not have.

    >>> clean_reply(' "Is rain expected?"\n', "will it rain")
    'Is rain expected?'
    """
    candidate = reply.strip() if isinstance(reply, str) else ""
    for before, after in ('""', "“”", "''", "「」"):
        if candidate[:1] == before and candidate[1:].endswith(after) and text[:1] != before:
            candidate = candidate[1:-1].strip()
    return candidate if "\n" in text else re.sub(r"\s*\n\s*(?=\S)", "\n", candidate)


def _find_fault(text: str, candidate: str, response: Row, known: set[str], values: Sequence[str]) -> str:
    """Return why a candidate is not the same in other words, or nothing."""
    reasons: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("were not answered", lambda: bool(response.get("error"))),
        ("were cut", lambda: response.get("finish_reason") in {"length", "thinking"}),
        ("are empty", lambda: not any(letter.isalnum() for letter in candidate)),
        ("refuse", lambda: bool(REFUSAL.match(candidate)) and not REFUSAL.match(text)),
        ("are no single text", lambda: "\n" in candidate and "\n" not in text),
        ("are in another writing", lambda: find_script(candidate) != find_script(text)),
        ("are too long", lambda: len(candidate) > FACTOR * len(text) + SLACK),
        ("lack a value", lambda: not all(find_words(candidate, [value]) for value in values)),
        ("repeat the text or another", lambda: normalise(candidate) in known),
        ("are too near", lambda: not OverlapFilter().accepts(jaccard(text, candidate))),
    )
    return next((reason for reason, applies in reasons if applies()), "")


def find_script(text: str) -> str:
    """Return the script of most letters of a text; kana count as Chinese characters, among which they stand.

    >>> find_script("will it rain in 北京"), find_script("明日は雨")
    ('LATIN', 'CJK')
    """
    names = Counter(name_script(letter) for letter in text if letter.isalpha())
    scripts = Counter[str]()
    for name, number in names.items():
        scripts[KANA.get(name, name)] += number
    return scripts.most_common(1)[0][0] if scripts else ""


def _compare(judge: Scorer | None, pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """Return whether both texts of each pair mean the same, in both directions; without a judge all do."""
    if judge is None or not pairs:
        return [True] * len(pairs)
    least = MIN_SIMILARITY if judge.name.startswith("similarity:") else 1.0
    answers = [
        Answer(there, back, {"text": f"Say this in other words: {back}"})
        for pair in pairs
        for there, back in (pair, pair[::-1])
    ]
    scores = [score.value is not None and score.value >= least for score in judge.score(answers)]
    return [there and back for there, back in zip(scores[::2], scores[1::2], strict=True)]


def describe_draw(draw: Draw, count: int) -> str:
    """Return how many texts have rewordings, and why candidates were rejected.

    >>> describe_draw(Draw("m", {"a": ["b"], "c": []}, {"are too near": 2}), 1)
    'reworded: 1 of 2 texts have 1, 1 stay clean; of the candidates 2 are too near'
    """
    complete, without = (sum(len(others) == number for others in draw.texts.values()) for number in (count, 0))
    fewer = len(draw.texts) - complete - without
    parts = [f"{complete:,} of {len(draw.texts):,} texts have {count}"]
    parts += [f"{fewer:,} have fewer and stay clean on the other tracks"] if fewer else []
    parts += [f"{without:,} stay clean"] if without else []
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in sorted(draw.rejected.items()))
    return f"{REWORDED}: {', '.join(parts)}" + (f"; of the candidates {reasons}" if reasons else "")


# The file that replays: a line for each text and number, also for texts that stay clean.


def list_rows(draw: Draw, sources: Sequence[Source], count: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of the file."""
    for source in sources:
        for number in range(1, count + 1):
            others = draw.texts.get(source.text, ())
            text = others[number - 1] if len(others) >= number else source.text
            yield {
                "id": source.id,
                "column": source.column,
                "number": number,
                "clean": source.text,
                "text": text,
                "edits": [edit._asdict() for edit in replace_middle(source.text, text)],
                "model": draw.model,
                "prompt": draw.prompt,
            }


def read_rewordings(file: Path, sources: Sequence[Source], count: int) -> Draw:
    """Return the rewordings of a file; refuse those of other texts or several models, and what its edits do not say."""
    by_place: dict[tuple[str, str, int], Row] = {}
    origin: tuple[str, str] | None = None
    for number, row in enumerate(read_rows(file), 1):
        try:
            by_place[str(row["id"]), str(row["column"]), int(row["number"])] = row
            edits = [Edit(edit["start"], edit["end"], edit["text"]) for edit in row["edits"]]
            own_origin = str(row["model"]), str(row["prompt"])
            is_whole = apply(row["clean"], edits) == row["text"]
        except (KeyError, TypeError, ValueError) as error:
            what = f"row {number} is no rewording ({error})"
            raise FileFormatError(file, what, f"give the {FILE_NAME} of a run") from None
        origin = origin or own_origin
        if not is_whole or own_origin != origin:
            what = f"row {number} was changed, or is of another model or prompt"
            raise FileFormatError(file, what, f"give the {FILE_NAME} of a run as it was written")
    texts: dict[str, list[str]] = {}
    for source in sources:
        rows = [by_place.get((source.id, source.column, number)) for number in range(1, count + 1)]
        if missing := next((number for number, row in enumerate(rows, 1) if row is None), None):
            raise LookupError(
                f"{file} has no rewording {missing} of {source.column!r} in row {source.id!r}; draw them again with "
                "--rewriter MODEL"
            )
        others = [str(row["text"]) for row in rows if row and row["text"] != source.text]
        if wrong := next((row for row in rows if row and row["clean"] != source.text), None):
            raise ValueError(
                f"{file} was drawn from other texts: row {source.id!r} has {shorten_repr(source.text)}, the file "
                f"{shorten_repr(wrong['clean'])}; give the file of these rows, or --rewriter MODEL"
            )
        if _has_letters(source.text) and texts.setdefault(source.text, others) != others:
            raise ValueError(f"{file} rewords {shorten_repr(source.text)} in two ways; give the file as it was written")
    model, prompt = origin or ("", PROMPT_VERSION)
    return Draw(model, texts, prompt=prompt)


def replace_middle(text: str, other: str) -> tuple[Edit, ...]:
    """Return the edit that makes one text the other: whole words between what both begin and end with.

    >>> replace_middle("please play a song now", "please put on music now")
    (Edit(start=7, end=18, text='put on music'),)
    """
    if text == other:
        return ()
    start = next(
        (place for place, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other))
    )
    while start and not text[start - 1].isspace():
        start -= 1
    most = min(len(text), len(other)) - start
    end = next((n for n in range(most) if text[-1 - n] != other[-1 - n]), most)
    while end and not text[len(text) - end].isspace():
        end -= 1
    return (Edit(start, len(text) - end, other[start : len(other) - end]),)
