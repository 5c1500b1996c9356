"""Scorers: how far a free answer is right, from 0 to 1, opened by a word such as `f1` or `similarity:minilm`.

A kind of scorer is a `ScorerProvider` in the tuple `UNITS` of a module here, or of another package's module that the
entry point `lapsus.scorers` names. `lapsus run`, `lapsus report` and `lapsus score` take these words as `--score`.

>>> scorer = open_scorer("contains")
>>> [score.value for score in scorer.score([Answer("It is Paris, of course.", "Paris"), Answer("Rome", "Paris")])]
[1.0, 0.0]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from lapsus.core.checks import shorten_repr
from lapsus.core.messages import format_unknown_name
from lapsus.core.plugins import load_units
from lapsus.core.text import to_label
from lapsus.core.types import Row
from lapsus.evaluation.parsing import list_golds, strip_reasoning

Reference = Literal["gold", "clean", "either"]
JUDGEMENTS = "judgements.sqlite"  # the cache of judges outside of runs
ROUNDING = 1e-6  # a cosine of equal vectors may be a little over 1


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered, what it is compared with, and the columns of its row.

    `gold` is the gold answer, or a list of accepted ones; where answers are `compared_with` those to the clean text, it
    is the list of these.
    """

    prediction: Any
    gold: Any = None
    row: Row = field(default_factory=dict, repr=False)
    compared_with: Reference = "gold"

    @property
    def text(self) -> str:
        """The prediction as text, without the train of thought before it."""
        return strip_reasoning(self.prediction) if isinstance(self.prediction, str) else to_label(self.prediction)

    @property
    def golds(self) -> tuple[str, ...]:
        """The accepted answers as texts."""
        return tuple(map(to_label, list_golds(self.gold)))

    @property
    def question(self) -> str:
        """The text that was asked, in its clean form where the row has one."""
        value = next((self.row[name] for name in ("clean_text", "text") if self.row.get(name)), "")
        return "\n".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """A score from 0 to 1, or None with the reason why there is none; `parts` are finer scores of the same answer."""

    value: float | None
    reason: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Scorer(Protocol):
    """Something that scores answers."""

    @property
    def name(self) -> str:
        """What the scorer is called beside each number."""
        ...

    @property
    def reference(self) -> Reference:
        """What answers are compared with: gold answers, answers to the clean texts, or either, gold ones first."""
        ...

    def fit(self, answers: Sequence[Answer]) -> Scorer:
        """Return the scorer with what it needs to know of a whole run: the answers to all clean texts."""
        ...

    def score(self, answers: Sequence[Answer]) -> Sequence[AnswerScore]:
        """Return a score per answer."""
        ...


Rate = Callable[[Answer], AnswerScore | float]


@dataclass(frozen=True, slots=True)
class FunctionScorer:
    """A scorer made of a function of one answer; `prepare` makes that function of the answers to all clean texts."""

    name: str
    rate: Rate | None = None
    prepare: Callable[[Sequence[Answer]], Rate] | None = None
    reference: Reference = "gold"

    def fit(self, answers: Sequence[Answer]) -> Scorer:
        """Return the scorer, prepared for a run."""
        return self if self.prepare is None else replace(self, rate=self.prepare(answers))

    def score(self, answers: Sequence[Answer]) -> list[AnswerScore]:
        """Return a score per answer."""
        if self.rate is None:
            raise ValueError(
                f"{self.name} does not know the run yet; call fit with the answers to the clean texts first"
            )
        results = (self.rate(answer) for answer in answers)
        return [each if isinstance(each, AnswerScore) else AnswerScore(each) for each in results]


@dataclass(frozen=True, slots=True)
class ScorerOptions:
    """What scorers that ask a model need: a file with the rubric, and the file of cached responses."""

    rubric: Path | None = None
    cache: Path | None = None


@dataclass(frozen=True, slots=True)
class ScorerProvider:
    """A kind of scorer: `open` takes what stands behind `name:`, which is empty for the name alone."""

    name: str
    usage: str
    summary: str
    open: Callable[[str, ScorerOptions], Scorer]


def load_scorer_providers() -> dict[str, ScorerProvider]:
    """Return every kind of scorer by its name."""
    return dict(sorted(load_units("lapsus.evaluation.scorers", "lapsus.scorers", lambda kind: kind.name).items()))


def open_scorer(spec: str, options: ScorerOptions | None = None) -> Scorer:
    """Return the scorer that a word names.

    >>> open_scorer("contain")
    Traceback (most recent call last):
    ...
    LookupError: there is no scorer 'contain'; did you mean contains? (known: ...
    """
    providers = load_scorer_providers()
    name, _, rest = spec.partition(":")
    if name not in providers:
        raise LookupError(format_unknown_name("scorer", name, providers))
    provider = providers[name]
    if bool(rest) != (":" in provider.usage):
        problem = f"{spec} has a setting, and {name} has none" if rest else f"{name} alone is not enough"
        raise ValueError(f"{problem}; write {provider.usage}")
    return provider.open(rest, options or ScorerOptions())


def open_scorers(specs: Sequence[str | Scorer], options: ScorerOptions | None = None) -> tuple[Scorer, ...]:
    """Return several scorers, each given as a word or as itself; refuse one that is named twice."""
    if options is not None and options.rubric is not None and not any(str(spec).startswith("judge:") for spec in specs):
        raise ValueError(f"the rubric {options.rubric} is for a judge, and none is named; add --score judge:MODEL")
    scorers = tuple(open_scorer(spec, options) if isinstance(spec, str) else spec for spec in specs)
    names = [scorer.name for scorer in scorers]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ValueError(f"the scorer {repeated} is named twice; name it once")
    return scorers


def check_scores(name: str, answers: Sequence[Answer], scores: Sequence[AnswerScore]) -> list[AnswerScore]:
    """Return the scores of a scorer, each from 0 to 1; raise for another number, or another number of them."""
    if len(scores) != len(answers):
        raise ValueError(f"{name} gave {len(scores)} scores for {len(answers)} answers; it must give one each")
    return [_check_score(name, answer, score) for answer, score in zip(answers, scores, strict=True)]


def _check_score(name: str, answer: Answer, score: AnswerScore) -> AnswerScore:
    value = score.value
    if value is None:
        return score if score.reason else replace(score, reason=f"{name} gave no score")
    if not isfinite(value) or not -ROUNDING <= value <= 1 + ROUNDING:
        raise ValueError(
            f"{name} gave {value!r} for the answer {shorten_repr(answer.prediction)}; a score is a number from 0 to 1"
        )
    return replace(score, value=min(1.0, max(0.0, float(value))))
