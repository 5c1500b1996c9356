"""The tables of a report, as typed records; `to_tables` gives them as the flat columns of the JSON and the CSV.

A record is a frozen dataclass. An `Estimate` becomes three columns, a record inside a record becomes its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lapsus.core.edits import Edit
from lapsus.core.messages import format_unknown_name
from lapsus.stats import DetectionModel

if TYPE_CHECKING:
    from pandas import DataFrame

CLASS_DROP = 0.005  # a smaller fall in balanced accuracy (half a point) gives no warning
ALPHA = 0.05  # the level of every test
LEFT_OUT_IF_NONE = {"left_out_if_none": True}  # of a nested record: None gives no columns instead of empty ones
INTERNAL = {"internal": True}  # in no file
MARGIN = 0.02  # a drop below it does not matter, unless the user says otherwise
COSTS, ROBUST, UNDECIDED = "costs", "robust", "undecided"  # the three verdicts


class Estimate(NamedTuple):
    """A number and the ends of its interval; None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def from_result(cls, result: Mapping[str, Any], name: str) -> Estimate:
        """Return a number of a metric's result, with its interval where it has one.

        >>> Estimate.from_result({"win_rate": 1.0, "win_rate_ci": None}, "win_rate")
        Estimate(value=1.0, low=None, high=None)
        """
        return cls(result[name], *(result[f"{name}_ci"] or ()))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends, where there are both."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def is_significant(p_value: float | None) -> bool:
    """Return whether a p-value, corrected for the number of tests, is below ALPHA; without a test it is not.

    >>> is_significant(0.049), is_significant(0.05), is_significant(None)
    (True, False, False)
    """
    return p_value is not None and p_value < ALPHA


def check_margin(margin: float) -> None:
    """Raise unless the margin is a fraction strictly between 0 and 1."""
    if not 0 < margin < 1:
        raise ValueError(
            f"The margin is {margin:g}: it must be above 0 and below 1, as no study shows that a drop is exactly 0;"
            f" give the drop that does not matter to you, e.g. {MARGIN} for 2 points."
        )


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Two averages over classes, each with equal weight whatever its frequency; None without classes."""

    balanced_accuracy: Estimate = Estimate()
    macro_f1: Estimate = Estimate()


@dataclass(frozen=True, slots=True)
class ChanceWorst:
    """The worst average that chance alone would give, and the data it was estimated from; None where not known."""

    chance_worst: Estimate = Estimate()
    chance_source: str | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """The command that made a report, when (UTC), and the versions of Python and of packages."""

    command: str | None
    date: str
    python: str
    packages: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """The options that numbers are computed with."""

    group_by: tuple[str, ...] = ()
    confidence_level: float = 0.95
    n_resamples: int = 10_000
    seed: int = 0
    progress: Callable[[list[str]], Iterable[str]] = iter  # wraps the iteration over a dataset's models, as tqdm does
    margin: float = MARGIN  # a smaller drop does not matter; a fraction

    def __post_init__(self) -> None:
        """Refuse a margin that decides nothing."""
        check_margin(self.margin)

    @property
    def resampling(self) -> dict[str, Any]:
        """The options that intervals of averages need."""
        return {"confidence_level": self.confidence_level, "n_resamples": self.n_resamples, "seed": self.seed}


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """The settings that the numbers were computed with."""

    confidence_level: float
    n_resamples: int
    seed: int
    group_by: tuple[str, ...]
    clustered: bool  # whether some examples share an original
    margin: float = MARGIN


@dataclass(frozen=True, slots=True)
class Averages:
    """The averages of one family of noise: on clean text, over annotators, of the worst annotator, and the drops.

    `relative_change` is the change of the average as a share of the clean one (%Δ).
    """

    clean_average: Estimate
    micro_average: Estimate
    worst_average: Estimate
    micro_drop: Estimate = Estimate()
    worst_drop: Estimate = Estimate()
    relative_change: Estimate = Estimate()


@dataclass(frozen=True, slots=True)
class Flips:
    """The numbers of changed predictions: correct to wrong, wrong to correct, and wrong to another wrong one."""

    correct_to_wrong: int
    wrong_to_correct: int
    wrong_to_other_wrong: int


@dataclass(frozen=True, slots=True)
class Changes:
    """How many predictions differ between clean and noisy text; None without predictions."""

    changed: int | None = None
    changed_rate: Estimate = Estimate()
    flips: Flips | None = field(default=None, metadata=LEFT_OUT_IF_NONE)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The mean difference of two scores of the same examples.

    `p_holm` (of a primary test) or `p_bh` (of an exploratory one, by Benjamini and Hochberg) is corrected for `n_tests`
    tests. `minimum_detectable` is the smallest true difference that the test detects with a power of 80 %, at the level
    that decides among so many tests. `effect_size` is the difference in standard deviations of the differences.
    """

    difference: Estimate = Estimate()
    test: str | None = None
    p_value: float | None = None
    p_holm: float | None = None
    p_bh: float | None = None
    n_tests: int | None = None
    minimum_detectable: float | None = None
    effect_size: float | None = None
    detection: DetectionModel | None = field(default=None, repr=False, compare=False, metadata=INTERNAL)

    @property
    def is_significant(self) -> bool:
        """Whether the difference is significant after Holm's correction."""
        return is_significant(self.p_holm)

    @property
    def is_suggestive(self) -> bool:
        """Whether an exploratory test is below 5 % after its correction."""
        return is_significant(self.p_bh)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the interval of a drop decides: costs, robust (within the margin), or undecided; None without a clean track.

    `examples_to_decide` is about how many examples would decide with a chance of 80 %, were the observed drop the true
    one; None where the verdict is clear, and where nothing tells the number.
    """

    verdict: str | None = None
    margin: float | None = None
    examples_to_decide: int | None = None


@dataclass(frozen=True, slots=True)
class CleanComparison:
    """The difference between a track and the clean one, on the examples that both have."""

    compared_examples: int
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
    chance: ChanceWorst = ChanceWorst()
    classes: ClassScores = ClassScores()
    clean_balanced_accuracy: Estimate = Estimate()  # on clean text, for the same examples
    clean_macro_f1: Estimate = Estimate()
    balanced_drop_p: float | None = None  # that balanced accuracy is the same on clean and on noisy text
    balanced_drop_p_bh: float | None = None  # corrected, as an exploratory test
    average_new_annotators: Estimate = Estimate()  # with the interval for other annotators, of three and more
    drop_new_annotators: Estimate = Estimate()
    decision: Verdict = Verdict()

    @property
    def is_significant(self) -> bool:
        """Whether the average differs significantly from the clean one."""
        return self.test is not None and self.test.is_significant

    @property
    def hides_class_drop(self) -> bool:
        """Whether balanced accuracy drops, and the score hides it: it drops less, or not significantly."""
        before, after = self.clean_balanced_accuracy.value, self.classes.balanced_accuracy.value
        if before is None or after is None:
            return False
        drop = self.averages.micro_drop.value or 0.0
        return not (drop > 0 and self.is_significant) and before - after >= CLASS_DROP + max(0.0, drop)


@dataclass(frozen=True, slots=True)
class NoiseOrigin:
    """What the rows of a noisy track say of their noise: the texts with a known clean form, and what wrote them."""

    texts: int | None = None
    operators: tuple[str, ...] = ()  # with their versions
    by_people: bool = False


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
    unparsed: int  # the number of examples without a prediction; these count as wrong
    average: Estimate
    noise_rate: float | None
    classes: ClassScores = ClassScores()
    from_clean: CleanComparison | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    noise: NoiseOrigin | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    shared_average: float | None = field(default=None, metadata=LEFT_OUT_IF_NONE)  # of a clean track; see `for_rank`
    failed: int = 0  # calls of the model that failed; they count as wrong
    refused: int = 0  # by the model or a content filter
    cut: int = 0  # at the most tokens allowed
    changed_texts: int | None = None  # how many texts differ from their clean text; None where rows do not tell

    @property
    def for_rank(self) -> float:
        """The average that ranks models: on the examples that all of them have, where these are not all examples."""
        average = self.average.value if self.shared_average is None else self.shared_average
        return average or 0.0


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
class ScorerAgreement:
    """A scorer of the answers of a dataset, and its agreement with people where these judged some answers.

    The one that `decides` gives every score of the report. `alpha` is Krippendorff's, of the scorer and people;
    `difference` is how much higher the scorer scores on average.
    """

    dataset: str
    scorer: str
    decides: bool
    judged: int
    alpha: float | None
    difference: Estimate


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
    """How often one prediction on clean text became another one on the noisy text of the same example."""

    dataset: str
    model: str
    family: str
    clean: str
    noisy: str
    count: int


@dataclass(frozen=True, slots=True)
class NoiseBin:
    """The average score of the texts with a noise rate between two bounds; None is no bound."""

    dataset: str
    model: str
    family: str
    noise_from: float | None
    noise_to: float | None
    noise_rate: float
    texts: int
    examples: int
    average: Estimate


@dataclass(frozen=True, slots=True)
class GroupScore:
    """The averages of one group: the examples with one value in a column."""

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
    """The gap between the worst and the best group of one column under one noise; `measure` is average or drop.

    `p_value` takes into account that these two were picked from all groups; `p_bh` is corrected for `n_tests` tests, as
    they are exploratory.
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
    p_bh: float | None = None
    n_tests: int | None = None

    @property
    def is_suggestive(self) -> bool:
        """Whether this exploratory test is below 5 % after its correction."""
        return is_significant(self.p_bh)


@dataclass(frozen=True, slots=True)
class DropSplit:
    """A drop in two parts, on the same examples: what a reader before the model avoids, and what is left.

    `left` is read clean minus read noisy, `avoidable` the drop minus `left`. `reader` is its name and what it knows.
    The texts are counted over all annotators: those that noise changed, those of them that the reader turned into the
    clean text, and the clean ones that it changed.
    """

    dataset: str
    model: str
    family: str
    reader: str
    annotators: int
    examples: int
    drop: Estimate
    avoidable: Estimate
    left: Estimate
    clean_average: float
    noisy_average: float
    read_clean_average: float
    read_noisy_average: float
    changed_texts: int
    restored_texts: int
    changed_clean_texts: int


@dataclass(frozen=True, slots=True)
class ReportWarning:
    """What limits the numbers of a track, or of all tracks of a model."""

    dataset: str
    model: str
    track: str
    message: str

    def __str__(self) -> str:
        return f"{' / '.join(filter(None, (self.dataset, self.model, self.track)))}: {self.message}"


@dataclass(frozen=True, slots=True)
class UnmatchedIds:
    """Ids that could not be used, and the reason; the first of them are listed."""

    dataset: str
    model: str
    track: str
    reason: str
    count: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DialectScore:
    """How often a text metric rates a dialect above another meaning, and a text with its own tag above another tag."""

    dataset: str
    model: str
    examples: int
    win_rate: Estimate
    wins: int
    losses: int
    ties: int
    p_value: float | None = None
    p_holm: float | None = None
    n_tests: int | None = None
    awareness_rate: Estimate = Estimate()
    awareness_wins: int | None = None
    awareness_losses: int | None = None
    awareness_ties: int | None = None
    awareness_p_value: float | None = None


@dataclass(frozen=True, slots=True)
class LostExample:
    """An example that models answered correctly on clean text only; `edits` turn the clean text into the noisy one."""

    dataset: str
    id: str
    track: str
    clean_text: tuple[str, ...]
    text: tuple[str, ...]
    edits: tuple[tuple[Edit, ...], ...]
    gold: str | None
    lost_by: tuple[str, ...]
    models: int
    predictions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that a track was read from; `identity` (of the model), `task` and `data` stand in its run.json."""

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
class DatasetDigest:
    """A hash of the examples of a dataset: of their ids, gold answers and clean texts, where the rows hold them."""

    dataset: str
    examples: int
    blake2b: str


@dataclass(frozen=True, slots=True)
class Results:
    """Every number of a report. Rates are fractions; the order of records is that of the tracks."""

    lapsus: str
    settings: AnalysisSettings
    provenance: Provenance | None = None
    summary: tuple[FamilySummary, ...] = ()
    tracks: tuple[TrackScore, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    transitions: tuple[Transition, ...] = ()
    noise_bins: tuple[NoiseBin, ...] = ()
    groups: tuple[GroupScore, ...] = ()
    group_gaps: tuple[GroupGap, ...] = ()
    unmatched_ids: tuple[UnmatchedIds, ...] = ()
    lost_examples: tuple[LostExample, ...] = ()
    warnings: tuple[ReportWarning, ...] = ()
    dialects: tuple[DialectScore, ...] = ()
    task_scores: tuple[TaskScore, ...] = ()
    scorers: tuple[ScorerAgreement, ...] = ()
    splits: tuple[DropSplit, ...] = ()
    sources: tuple[SourceFile, ...] = ()
    datasets: tuple[DatasetDigest, ...] = ()

    def to_tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return the tables by name, each a list of flat records, as the files hold them."""
        return {name: [to_flat_dict(record) for record in records] for name, records in self._list_tables().items()}

    def to_pandas(self, table: str = "summary") -> DataFrame:
        """Return a table as a data frame of pandas: `summary`, `tracks`, `comparisons` and so on."""
        from pandas import DataFrame

        tables = self.to_tables()
        if table not in tables:
            raise LookupError(format_unknown_name("table", table, tables))
        return DataFrame(tables[table])

    def _repr_html_(self) -> str:
        """Return the summary as a notebook shows it."""
        return str(self.to_pandas().to_html(index=False))

    def for_dataset(self, dataset: str) -> Results:
        """Return the records of one dataset."""
        tables = {
            name: tuple(record for record in records if record.dataset == dataset)
            for name, records in self._list_tables().items()
        }
        return Results(self.lapsus, self.settings, self.provenance, **tables)

    def _list_tables(self) -> dict[str, tuple[Any, ...]]:
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, tuple)}


def to_flat_dict(record: Any) -> dict[str, Any]:
    """Return the columns of a record.

    >>> to_flat_dict(Changes(3, Estimate(0.25, 0.1, 0.5)))
    {'changed': 3, 'changed_rate': 0.25, 'changed_rate_low': 0.1, 'changed_rate_high': 0.5}
    """
    columns: dict[str, Any] = {}
    for part in fields(record):
        value = getattr(record, part.name)
        if part.metadata == INTERNAL:
            continue
        if isinstance(value, Estimate):
            columns |= {part.name: value.value, f"{part.name}_low": value.low, f"{part.name}_high": value.high}
        elif is_dataclass(value):
            columns |= to_flat_dict(value)
        elif value is not None or part.metadata != LEFT_OUT_IF_NONE:
            columns[part.name] = value
    return columns
