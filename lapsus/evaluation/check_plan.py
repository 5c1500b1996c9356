"""What `lapsus check` does with rows: how answers are scored, which noise is added, and what that changes.

>>> rows = [{"id": str(n), "text": "will it rain", "label": ["weather", "music"][n % 2]} for n in range(8)]
>>> plan = plan_check(rows, "text", "label", noise=["fillers"])
>>> plan.settings["labels"], plan.settings["noise"], list(plan.data.tracks)
(('music', 'weather'), ('fillers=filler_eos:3',), ['clean', 'fillers.1', 'fillers.2', 'fillers.3'])
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from lapsus.core.checks import shorten_repr
from lapsus.core.messages import format_list, format_unknown_name
from lapsus.core.text import is_free_text, to_label, to_text
from lapsus.core.types import Row
from lapsus.evaluation.answer_types import MAX_LABELS, LabelAnswer
from lapsus.evaluation.parsing import list_golds
from lapsus.evaluation.presets import PRESETS, Preset, choose_presets, is_preset, name_language
from lapsus.evaluation.repeats import repeat_clean
from lapsus.evaluation.rewording import REWORDED, Rewriter, is_reworded
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet, add_noise, count_changed, read_conversations
from lapsus.perturbations.conversations import Turns
from lapsus.perturbations.languages import detect_language
from lapsus.perturbations.specs import OPERATORS, format_noise_name, list_operator_names, split_track_name

MAX_NUMBERS = 20  # distinct numbers that are still classes
MAX_LETTERS = 60  # of a label
REPEATS = 3  # answers to the clean text, where there are no gold answers
N_SAMPLES = 3
N_REWORDINGS = 3  # tracks of the preset `reworded`
WIDTH = 90  # letters of a sample
NUMBER = re.compile(r"\s*[-+]?\d[\d.,]*\s*%?\s*")
LABEL_PROMPTS = {"zh": "请只回答以下标签之一：{labels}"}
LABEL_PROMPT = "Answer with one of these labels: {labels}"


class AnswerStyle(NamedTuple):
    """How answers are scored: as one of the labels, or by scorers; `summary` says so in words."""

    summary: str
    labels: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    several: bool = False


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """The rows with their noise, and the settings of `lapsus run` that do the same.

    Args:
        data: The clean track, and those of the noise.
        settings: Options of `lapsus run` by name: columns, labels, prompt, scorers and noise.
        noises: The preset of each noise spec, or None where an operator is named.
        notes: What was found out about the rows.
        graded: Whether gold answers say what is right.
    """

    data: TrackSet
    settings: Mapping[str, Any]
    noises: Mapping[str, Preset | None]
    notes: tuple[str, ...] = ()
    graded: bool = True

    @property
    def size(self) -> int:
        """The number of examples."""
        return len(next(iter(self.data.tracks.values())))

    def describe(self) -> Iterator[str]:
        """Yield lines: the rows, and for each noise what it does, its share of changed texts and samples."""
        yield from self.notes
        for spec in self.noises:
            track, noise = split_track_name(spec)
            family = track or format_noise_name(noise)
            names = [name for name in self.data.tracks if re.fullmatch(rf"{re.escape(family)}(\.\d+)?", name)]
            yield from _describe_noise(self.data, family, names, spec, self.noises[spec])


def plan_check(
    rows: Any,
    text: str | Sequence[str],
    gold: str | None = None,
    *,
    answers: str | None = None,
    id: str = "id",
    labels: Sequence[str] = (),
    prompt: str | None = None,
    score: Any = (),
    noise: str | Sequence[str] = (),
    language: str | None = None,
    seed: int = 0,
    turns: Turns | None = None,
    protect: Sequence[str] = (),
    rewriter: Rewriter | None = None,
    split: str | None = None,
    limit: int | None = None,
    repeats: int | None = None,
) -> CheckPlan:
    """Return what to do with rows: a file, a dataset or data frame, or a list; refuse what would tell nothing."""
    inputs, score, noise = _to_tuple(text), _to_tuple(score), _to_tuple(noise)
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}; give the number of examples, from 1 on")
    read = _make_reader(rows, id, split)
    if gold and answers:
        raise ValueError("--gold and --answers both name the gold answers; leave one out")
    raw = read(make_task([]))
    examples = next(iter(raw.tracks.values()))
    check_columns(raw.name, examples, inputs, gold or answers)
    readable = (read_conversations(dict(row), inputs) for row in examples[:limit])
    texts = [to_text(row.get(name)) for row in readable for name in inputs]
    check_texts(inputs, texts)
    if score:
        style = AnswerStyle(f"scored by {format_list(map(_name_scorer, score))}", tuple(labels), score)
    else:
        check_classes(examples, answers or gold)
        style = find_answer_style(examples, answers or gold, labels)
    if style.several and not answers:
        gold, answers = None, gold
    specs, reason = _choose_noise(noise, language, texts, rewrites=rewriter is not None)
    code = language or detect_language(texts).language
    instruction = prompt or (LABEL_PROMPTS.get(str(code), LABEL_PROMPT) if style.labels else None)
    task = make_task(
        inputs,
        gold,
        labels=style.labels,
        prompt=instruction,
        name=Path(rows).stem if isinstance(rows, str | os.PathLike) else "rows",
        free=bool(style.score),
        answers=answers,
    )
    if style.labels and not labels:  # in the order of the data, where it names its classes
        task = replace(task, answer_type=LabelAnswer(str(gold)))
    data = add_noise(read(task).limit(limit), list(specs), seed=seed, turns=turns, protect=protect, rewriter=rewriter)
    graded = style.score != ("consistency",)
    repeats = repeats or (1 if graded else REPEATS)
    settings = {
        "text": inputs,
        "gold": gold,
        "answers": answers,
        "labels": tuple(data.task.answer_type.choices),
        "prompt": instruction,
        "score": style.score,
        "noise": tuple(specs),
        "repeats": repeats,
    }
    size = min(len(examples), limit or len(examples))
    found = f"{size:,} examples of {raw.name}; texts in {format_list(inputs)}: {reason}"
    return CheckPlan(repeat_clean(data, repeats), settings, specs, (found, f"answers: {style.summary}"), graded)


def check_columns(name: str, rows: Sequence[Row], inputs: Sequence[str], gold: str | None) -> None:
    """Refuse columns that the rows do not have.

    >>> check_columns("mine", [{"question": "rain?"}], ["quesion"], None)
    Traceback (most recent call last):
    ...
    LookupError: there is no column 'quesion'; did you mean question? (known: question)
    """
    known = list(dict.fromkeys(column for row in rows for column in row))
    if not inputs:
        raise LookupError(f"no column of texts is named; name it with --text ({name} has {format_list(known)})")
    missing = next((column for column in (*inputs, *filter(None, [gold])) if column not in known), None)
    if missing is not None:
        raise LookupError(format_unknown_name("column", missing, known))


def check_texts(inputs: Sequence[str], texts: Sequence[str]) -> None:
    """Refuse texts that are numbers, on which no noise falls.

    >>> check_texts(["price"], ["7", "3.50"])
    Traceback (most recent call last):
    ...
    ValueError: the column 'price' holds numbers ('7'), on which no noise falls; name the column of texts with --text
    """
    if texts and all(NUMBER.fullmatch(text) for text in texts):
        raise ValueError(
            f"the column {inputs[0]!r} holds numbers ({texts[0]!r}), on which no noise falls; name the column of texts "
            "with --text"
        )


def check_classes(rows: Sequence[Row], column: str | None) -> None:
    """Refuse gold answers that are all the same: a model that always gives it is never wrong."""
    golds = set() if column is None else {to_label(row.get(column)) for row in rows}
    if len(golds) == 1 and len(rows) > 1:
        raise ValueError(
            f"every gold answer in {column!r} is {shorten_repr(golds.pop(), 40)}, and a model that always says so is "
            "never wrong; add rows with other answers, or leave --gold out to see whether answers change"
        )


def find_answer_style(rows: Sequence[Row], column: str | None, labels: Sequence[str] = ()) -> AnswerStyle:
    """Return how answers are scored, by what the gold answers look like.

    >>> find_answer_style([{"a": "yes"}, {"a": "no"}] * 3, "a").labels
    ('no', 'yes')
    >>> find_answer_style([{"a": "Paris"}, {"a": "Rome"}], "a").score, find_answer_style([], None).score
    (('contains', 'f1'), ('consistency',))
    """
    if column is None:
        return AnswerStyle(
            "no gold answers, so it counts how often noise changes what the model says (consistency); to score what is "
            "right add --gold COLUMN",
            score=("consistency",),
        )
    if labels:
        return AnswerStyle(f"{len(labels)} labels ({format_list(labels)})", labels=tuple(labels))
    values = [row.get(column) for row in rows if row.get(column) is not None]
    if any(isinstance(value, Mapping) for value in values):
        raise TypeError(f"the column {column!r} holds objects; add --score json, or --score tool-call for calls")
    several = any(isinstance(value, list) for value in values)
    golds = [to_label(gold) for value in values for gold in list_golds(value)]
    distinct = sorted(set(golds))
    numeric = all(NUMBER.fullmatch(gold) for gold in golds)
    most = min(MAX_NUMBERS if numeric else MAX_LABELS, len(golds) // (5 if numeric else 2))
    is_short = all(len(gold) <= MAX_LETTERS for gold in distinct)
    if not several and is_short and len(distinct) <= most and not any("," in gold for gold in distinct):
        return AnswerStyle(
            f"{len(distinct)} labels, in {column!r}: {format_list(distinct)} (if these are free text, add --score f1)",
            labels=tuple(distinct),
        )
    if numeric:
        return AnswerStyle(f"numbers, in {column!r} (--score number)", score=("number",), several=several)
    if is_free_text(distinct, len(golds)):
        return AnswerStyle(f"sentences, in {column!r} (--score f1)", score=("f1",), several=several)
    summary = f"free text, right where the gold answer stands in it, in {column!r} (--score contains)"
    return AnswerStyle(summary, score=("contains", "f1"), several=several)


def _make_reader(rows: Any, key: str, split: str | None) -> Any:
    """Return a function from a task to the rows as a clean track."""
    if isinstance(rows, str | os.PathLike):
        return lambda task: TrackSet.from_file(rows, task, key, split)
    if split is not None:
        raise TypeError(f"split is {split!r}, but the rows are in memory; give the rows of that split alone")
    source = list(rows) if isinstance(rows, Iterator) else rows
    is_table = hasattr(source, "columns") or hasattr(source, "features")
    is_rows = isinstance(source, Sequence) and all(isinstance(row, Mapping) for row in source[:1])
    if isinstance(source, Mapping) or not (is_table or is_rows):
        raise TypeError(
            f"the rows are {shorten_repr(source, 40)}; give a list of dicts, a data frame, a dataset, or the path of a "
            "file"
        )
    return lambda task: TrackSet.from_rows("rows", task, source, key)


def _choose_noise(
    noise: Sequence[str], language: str | None, texts: Sequence[str], *, rewrites: bool = False
) -> tuple[dict[str, Preset | None], str]:
    """Return noise specs with their presets, and what is known of the language; without `noise` all of its presets."""
    guess = detect_language(texts)
    reason = name_language(language) if language else f"{name_language(guess.language or 'of an unknown language')}"
    reason += "" if language else f" ({guess.reason})"
    code = language or guess.language
    noise = [f"{REWORDED}:{N_REWORDINGS}" if rewrites and word == REWORDED else word for word in noise]
    names = [word for word in noise if is_preset(word)]
    if code is None and (names or not noise):
        raise LookupError(
            f"the language of the texts is unknown ({guess.reason}, e.g. {shorten_repr(texts[0], 40)}); name it with "
            "--language, or name an operator with --noise"
        )
    for name in (
        name for word in noise if word not in names and not is_reworded(word) for name in list_operator_names(word)
    ):
        if name not in OPERATORS:
            known = [*dict.fromkeys(preset.name for preset in PRESETS), *OPERATORS]
            raise LookupError(format_unknown_name("preset or operator", name, known))
    presets = {preset.name: preset for preset in choose_presets(str(code), names)} if names or not noise else {}
    words = noise or list(presets)
    return {presets[word].spec if word in presets else word: presets.get(word) for word in words}, reason


def _describe_noise(
    data: TrackSet, family: str, names: Sequence[str], spec: str, preset: Preset | None
) -> Iterator[str]:
    inputs = data.task.inputs
    shares = [count_changed(data.tracks[name], inputs) / max(1, len(data.tracks[name])) for name in names]
    known = [OPERATORS[name] for name in list_operator_names(spec) if name in OPERATORS]
    operators = [f"{operator.name} {operator.version}" for operator in known] or ["words of the rewriter"]
    has_people = bool(known) and all(hasattr(operator, "annotator") for operator in known)
    people = f"{len(names)} {'simulated people' if has_people else 'draws'}, " if len(names) > 1 else ""
    share = f"{sum(shares) / len(shares):.0%}".replace("%", " %")
    yield f"\n{family}: {people}{format_list(operators)}; {share} of the texts change"
    for label, words in (("how much", preset.severity), ("how human", preset.likeness)) if preset else ():
        yield fill(f"{label}: {words}", 110, initial_indent="  ", subsequent_indent="    ")
    for clean, noisy in islice(_iter_changed(data, names), N_SAMPLES):
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(clean, noisy, strict=False)))
        start = same - WIDTH // 3 if same > WIDTH * 2 // 3 else 0
        yield f"    {_cut(clean, start)}"
        yield f"  > {_cut(noisy, start)}"


def _iter_changed(data: TrackSet, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield changed texts with their clean ones, each example once, the tracks in turn."""
    seen: set[str] = set()
    while True:
        n_seen = len(seen)
        for name in names:
            for row in data.tracks[name]:
                pairs = [(to_text(row[f"clean_{column}"]), to_text(row[column])) for column in data.task.inputs]
                changed = next((pair for pair in pairs if pair[0] != pair[1]), None)
                if changed and row["id"] not in seen:
                    seen.add(row["id"])
                    yield changed
                    break
        if len(seen) == n_seen:
            return


def _cut(text: str, start: int) -> str:
    r"""Return a part of a text on one line.

    >>> _cut("will it\nrain", 0), _cut("x" * 100, 5)[:4]
    ('will it rain', '…xxx')
    """
    line = " ".join(text.split())
    cut = line[start : start + WIDTH]
    return f"{'…' if start else ''}{cut}{'…' if start + WIDTH < len(line) else ''}"


def _to_tuple(value: Any) -> tuple[Any, ...]:
    """Return several values, of which one may stand for itself.

    >>> _to_tuple("typed"), _to_tuple(["typed", "dictated"])
    (('typed',), ('typed', 'dictated'))
    """
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _name_scorer(scorer: Any) -> str:
    return scorer if isinstance(scorer, str) else str(scorer.name)
