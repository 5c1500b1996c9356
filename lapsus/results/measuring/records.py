"""The tables of a report, as typed records; `tables` gives them as the flat columns of the JSON and the CSV.

A record is a frozen dataclass. An `Estimate` becomes three columns, a record inside a record becomes its columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple

from lapsus.perturbations import Edit

CLASS_DROP = 0.005  # a smaller fall in balanced accuracy (half a point) gives no warning
ALPHA = 0.05  # a corrected p-value below this counts as a difference
LEFT_OUT_IF_NONE = {"left_out_if_none": True}  # of a nested record: None gives no columns instead of empty ones


class Estimate(NamedTuple):
    """A number and the ends of its interval; None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, result: Mapping[str, Any], name: str) -> Estimate:
        """Return a number of a metric's result, with its interval where it has one.

        >>> Estimate.of({"win_rate": 1.0, "win_rate_ci": None}, "win_rate")
        Estimate(value=1.0, low=None, high=None)
        """
        return cls(result[name], *(result[f"{name}_ci"] or ()))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends, where there are both."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Two averages over classes, each with equal weight whatever its frequency; None without classes."""

    balanced_accuracy: Estimate = Estimate()
    macro_f1: Estimate = Estimate()


@dataclass(frozen=True, slots=True)
class WorstByChance:
    """The worst average that chance alone would give, and the data it was estimated from; None where not known."""

    worst_by_chance: float | None = None
    chance_from: str | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """The command that made a report, when (UTC), and the versions of Python and of packages."""

    command: str | None
    date: str
    python: str
    packages: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that the numbers were computed with."""

    confidence_level: float
    n_resamples: int
    seed: int
    by: tuple[str, ...]
    clusters: bool  # whether some examples share an original


@dataclass(frozen=True, slots=True)
class Averages:
    """The averages of one family of noise: on clean text, over annotators, of the worst annotator, and the drops."""

    clean_average: Estimate
    micro_average: Estimate
    worst_average: Estimate
    micro_drop: Estimate
    worst_drop: Estimate


@dataclass(frozen=True, slots=True)
class Flips:
    """How many changed answers went from right to wrong, from wrong to right, and from wrong to another wrong one."""

    correct_to_wrong: int
    wrong_to_correct: int
    wrong_to_other_wrong: int


@dataclass(frozen=True, slots=True)
class Changes:
    """How many answers differ between clean and noisy text; None where the rows do not tell."""

    changed: int | None = None
    changed_rate: Estimate = Estimate()
    flips: Flips | None = field(default=None, metadata=LEFT_OUT_IF_NONE)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The mean difference of two scores of the same examples; `p_holm` is corrected for as many `tests`.

    `detectable` is the smallest true difference that so many examples would show with a chance of 80 %; `effect_size`
    is the difference in standard deviations of the differences.
    """

    difference: Estimate = Estimate()
    test: str | None = None
    p_value: float | None = None
    p_holm: float | None = None
    tests: int | None = None
    detectable: float | None = None
    effect_size: float | None = None

    @property
    def holds_up(self) -> bool:
        """Whether the corrected p-value says that there is a difference."""
        return self.p_holm is not None and self.p_holm < ALPHA


@dataclass(frozen=True, slots=True)
class FromClean:
    """How a track differs from the clean one, on the examples that both have."""

    compared: int
    changes: Changes
    test: PairedTest


@dataclass(frozen=True, slots=True)
class FamilySummary:
    """One model on one family of noise, all its annotators together."""

    dataset: str
    model: str
    family: str
    annotators: int
    examples: int
    averages: Averages
    changes: Changes
    test: PairedTest | None = field(default=None, metadata=LEFT_OUT_IF_NONE)  # the average against clean
    chance: WorstByChance = WorstByChance()
    classes: ClassScores = ClassScores()
    clean_balanced_accuracy: Estimate = Estimate()  # on clean text, for the same examples
    clean_macro_f1: Estimate = Estimate()
    balanced_drop_p: float | None = None  # that balanced accuracy is the same on clean and on noisy text

    @property
    def favours_a_class(self) -> bool:
        """Whether the classes are told apart less well than on clean text, and the score hides it."""
        before, after = self.clean_balanced_accuracy.value, self.classes.balanced_accuracy.value
        if before is None or after is None:
            return False
        fall = self.averages.micro_drop.value or 0.0
        seen = fall > 0 and self.test is not None and self.test.holds_up
        return not seen and before - after >= CLASS_DROP + max(0.0, fall)


@dataclass(frozen=True, slots=True)
class TrackScore:
    """One model on one track."""

    dataset: str
    model: str
    track: str
    family: str
    annotator: str
    clean: bool
    examples: int
    unparsed: int  # the number of examples without an answer; these count as wrong
    average: Estimate
    noise_rate: float | None
    classes: ClassScores = ClassScores()
    from_clean: FromClean | None = field(default=None, metadata=LEFT_OUT_IF_NONE)


@dataclass(frozen=True, slots=True)
class TaskScore:
    """A measure of one model on one track that is more than the mean of its scores: slot F1, exact match, BLEU."""

    dataset: str
    model: str
    track: str
    family: str
    annotator: str
    clean: bool
    examples: int
    measure: str
    value: Estimate


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models on the examples that both answered; `measure` is clean, average or worst."""

    dataset: str
    model: str
    other: str
    measure: str
    family: str
    examples: int
    model_score: float
    other_score: float
    test: PairedTest


@dataclass(frozen=True, slots=True)
class Transition:
    """How often an answer to clean text became another one to the noisy text of the same example."""

    dataset: str
    model: str
    family: str
    clean: str
    noisy: str
    count: int


@dataclass(frozen=True, slots=True)
class NoiseClass:
    """The average score of the texts whose noise rate is between two bounds; None is no bound."""

    dataset: str
    model: str
    family: str
    noise_above: float | None
    noise_up_to: float | None
    noise_rate: float
    texts: int
    examples: int
    average: Estimate


@dataclass(frozen=True, slots=True)
class GroupScore:
    """The averages of the examples that have one value in a column."""

    dataset: str
    model: str
    family: str
    column: str
    value: str
    annotators: int
    examples: int
    averages: Averages


@dataclass(frozen=True, slots=True)
class GroupGap:
    """The groups of one column that a model serves worst and best under one noise; `measure` is average or drop.

    `p_value` is that so wide a gap between any two of the groups is chance; `p_holm` is corrected for as many `tests`.
    """

    dataset: str
    model: str
    family: str
    column: str
    measure: str
    groups: int
    worst: str
    best: str
    gap: float
    p_value: float | None
    p_holm: float | None = None
    tests: int | None = None

    @property
    def holds_up(self) -> bool:
        """Whether the corrected p-value says that the groups differ."""
        return self.p_holm is not None and self.p_holm < ALPHA


@dataclass(frozen=True, slots=True)
class Doubt:
    """A warning about the numbers of a track, or of all tracks of a model."""

    dataset: str
    model: str
    track: str
    doubt: str

    def __str__(self) -> str:
        return f"{' / '.join(filter(None, (self.dataset, self.model, self.track)))}: {self.doubt}"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Ids that could not be used, and the reason; the first of them are listed."""

    dataset: str
    model: str
    track: str
    problem: str
    count: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DialectScore:
    """How often a scorer of texts prefers a dialect to another meaning, and a text with its own tag to another's."""

    dataset: str
    model: str
    examples: int
    win_rate: Estimate
    wins: int
    losses: int
    ties: int
    p_value: float | None = None
    p_holm: float | None = None
    tests: int | None = None
    awareness_rate: Estimate = Estimate()
    awareness_wins: int | None = None
    awareness_losses: int | None = None
    awareness_ties: int | None = None
    awareness_p_value: float | None = None


@dataclass(frozen=True, slots=True)
class BrokenText:
    """A noisy text on which models lost the right answer; `edits` turn the clean text into it."""

    dataset: str
    id: str
    track: str
    clean_text: tuple[str, ...]
    text: tuple[str, ...]
    edits: tuple[tuple[Edit, ...], ...]
    gold: str | None
    lost: tuple[str, ...]
    models: int
    predictions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that a track was read from; `identity` (the model and its revision), task and data as run.json says."""

    dataset: str
    model: str
    track: str
    file: str
    bytes: int
    sha256: str
    identity: str | None
    task: str | None
    data: str | None


@dataclass(frozen=True, slots=True)
class DataDigest:
    """A hash of the examples of a dataset: of their ids, right answers and clean texts, where the rows hold them."""

    dataset: str
    examples: int
    blake2b: str


@dataclass(frozen=True, slots=True)
class Numbers:
    """Every number of a report. Rates are fractions; the order of records is that of the tracks."""

    lapsus: str
    settings: Settings
    provenance: Provenance | None = None
    summary: tuple[FamilySummary, ...] = ()
    tracks: tuple[TrackScore, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    transitions: tuple[Transition, ...] = ()
    noise: tuple[NoiseClass, ...] = ()
    breakdowns: tuple[GroupScore, ...] = ()
    gaps: tuple[GroupGap, ...] = ()
    joins: tuple[LeftOut, ...] = ()
    examples: tuple[BrokenText, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    dialects: tuple[DialectScore, ...] = ()
    tasks: tuple[TaskScore, ...] = ()
    files: tuple[SourceFile, ...] = ()
    data: tuple[DataDigest, ...] = ()

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return the tables by name, each a list of flat records, as the files hold them."""
        return {name: [flat(record) for record in records] for name, records in self._records().items()}

    def of_dataset(self, dataset: str) -> Numbers:
        """Return the records of one dataset."""
        kept = {
            name: tuple(record for record in records if record.dataset == dataset)
            for name, records in self._records().items()
        }
        return Numbers(self.lapsus, self.settings, self.provenance, **kept)

    def _records(self) -> dict[str, tuple[Any, ...]]:
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, tuple)}


def flat(record: Any) -> dict[str, Any]:
    """Return the columns of a record.

    >>> flat(Changes(3, Estimate(0.25, 0.1, 0.5)))
    {'changed': 3, 'changed_rate': 0.25, 'changed_rate_low': 0.1, 'changed_rate_high': 0.5}
    """
    columns: dict[str, Any] = {}
    for part in fields(record):
        value = getattr(record, part.name)
        if isinstance(value, Estimate):
            columns |= {part.name: value.value, f"{part.name}_low": value.low, f"{part.name}_high": value.high}
        elif is_dataclass(value):
            columns |= flat(value)
        elif value is not None or part.metadata != LEFT_OUT_IF_NONE:
            columns[part.name] = value
    return columns
