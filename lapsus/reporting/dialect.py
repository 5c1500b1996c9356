"""What scores of a metric under several conditions say of it: success rates, regression, awareness.

The tables are those of Sun et al. (ACL 2023), with what the errata of their paper teach: success is tested two-sided,
wins against losses, so that a mark says better or worse; a rate that is marked neither way stands with the rate that so
few sentences could have found; equal scores are aware (Definition 2.3 has "at least"), unless all of them are equal.

>>> conditions = {"dialect": (0.9, 0.8, 0.7), "perturbed": (0.2, 0.9, 0.1)}
>>> scores = ConditionScores("m", "dialect-zh", ("1", "2", "3"), conditions)
>>> found = compute_success_rates(scores)[0]
>>> found.wins, found.losses, found.mark
(2, 1, 'few')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lapsus.core.types import ConditionScores
from lapsus.metrics.mixed_effects.score import mixed_effects
from lapsus.metrics.win_rate.score import win_rate
from lapsus.reporting.analysis.records import Estimate

if TYPE_CHECKING:
    from lapsus.reporting.html.plots import Plot

PERTURBED = "perturbed"  # the condition that every other one should be above
COMPARISONS = 5  # tests per metric in the paper, over which its level of .05 is divided
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class SuccessRate:
    """How often a condition scores above the perturbed sentence, or above the translated one.

    `mark` is better or worse where the test says so at the corrected level; few where it says neither, and could not
    have found a true rate below `detectable`, which is above .6; else none.
    """

    metric: str
    dataset: str
    condition: str
    baseline: str
    rate: Estimate
    wins: int
    losses: int
    ties: int
    p_value: float | None
    mark: str
    detectable: float | None


@dataclass(frozen=True, slots=True)
class Coefficient:
    """The difference of a condition from the perturbed sentence, by the mixed-effects regression."""

    metric: str
    dataset: str
    condition: str
    difference: Estimate
    error: float
    p_value: float | None
    significant: bool
    sentences: int


@dataclass(frozen=True, slots=True)
class Awareness:
    """The mean score of texts in one dialect with their own tag and with another's, and whether own is at least it.

    A metric that gives every text the same with both tags reads no tag, and is not aware.
    """

    metric: str
    dataset: str
    text_dialect: str
    tag: str
    own_tag_mean: float
    other_tag_mean: float
    rate: float
    reads_tag: bool
    aware: bool


def compute_success_rates(scores: ConditionScores, comparisons: int = COMPARISONS) -> list[SuccessRate]:
    """Return the success rates of a metric on a dataset."""
    rates = []
    for condition, baseline in _pair_conditions(scores.conditions):
        result = win_rate(
            scores.conditions[condition],
            scores.conditions[baseline],
            comparisons=comparisons,
            confidence_level=LEVEL,
            alternative="two-sided",
        )
        detectable = result["minimum_detectable_rate"]
        mark = "few" if detectable is None or detectable > 0.6 else ""
        if result["significant"]:
            mark = "better" if result["wins"] > result["losses"] else "worse"
        rates.append(
            SuccessRate(
                scores.metric,
                scores.dataset,
                condition,
                baseline,
                Estimate.from_result(result, "win_rate"),
                result["wins"],
                result["losses"],
                result["ties"],
                result["p_value"],
                mark,
                detectable,
            )
        )
    return rates


def _pair_conditions(conditions: Iterable[str]) -> list[tuple[str, str]]:
    """Return which conditions are compared: each with the perturbed one, and the dialects with the translation.

    >>> _pair_conditions(["dialect", "perturbed", "translated"])
    [('dialect', 'perturbed'), ('translated', 'perturbed'), ('dialect', 'translated')]
    """
    unperturbed = [name for name in conditions if name != PERTURBED]
    dialects = [name for name in unperturbed if name != "translated"]
    return [(name, PERTURBED) for name in unperturbed] + [
        (name, "translated") for name in dialects if "translated" in unperturbed
    ]


def fit_coefficients(scores: ConditionScores, comparisons: int = COMPARISONS) -> list[Coefficient]:
    """Return the differences from the perturbed sentence, each with the interval of the corrected level (99 %)."""
    level = 1 - (1 - LEVEL) / comparisons
    n_sentences = len(scores.ids)
    result = mixed_effects(
        [score for column in scores.conditions.values() for score in column],
        [name for name in scores.conditions for _ in range(n_sentences)],
        list(scores.ids) * len(scores.conditions),
        baseline=PERTURBED,
        confidence_level=level,
        correction="none",
    )
    return [
        Coefficient(
            scores.metric,
            scores.dataset,
            name,
            Estimate(effect["estimate"], *(effect["ci"] or ())),
            effect["se"],
            effect["p_value"],
            effect["p_value"] is not None and effect["p_value"] < 1 - level,
            n_sentences,
        )
        for name, effect in result["coefficients"].items()
    ]


def compute_awareness(scores: ConditionScores) -> list[Awareness]:
    """Return a row for each dialect whose texts were scored with its own tag and with the other's."""
    tags = list(dict.fromkeys(text for text, _ in scores.by_tag))
    records = []
    for text, other_tag in zip(tags, reversed(tags), strict=True):
        own_scores, other_scores = (list(scores.by_tag[text, tag]) for tag in (text, other_tag))
        means = sum(own_scores) / len(own_scores), sum(other_scores) / len(other_scores)
        rate = sum(a >= b for a, b in zip(own_scores, other_scores, strict=True)) / len(own_scores)
        reads_tag, aware = own_scores != other_scores, means[0] >= means[1]
        records.append(
            Awareness(scores.metric, scores.dataset, text, other_tag, *means, rate, reads_tag, reads_tag and aware)
        )
    return records


def make_tables(
    all_scores: Sequence[ConditionScores], comparisons: int = COMPARISONS
) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Return heads and rows of each table by its title."""
    level = f"{100 * (1 - (1 - LEVEL) / comparisons):g} %"
    rates = [each for scores in all_scores for each in compute_success_rates(scores, comparisons)]
    effects = [each for scores in all_scores for each in fit_coefficients(scores, comparisons)]
    aware = [each for scores in all_scores for each in compute_awareness(scores)]
    tables_by_title = {
        "Success rates (Table 1)": (
            ["metric", "data", "above", "sentences", "rate [95 %]", "ties", "mark", "detectable"],
            [
                [e.metric, e.dataset, f"{e.condition} > {e.baseline}", f"{e.wins + e.losses + e.ties:,}",
                 _format_estimate(e.rate, "{:.2f}"), str(e.ties), e.mark,
                 "" if e.detectable is None else f"{e.detectable:.2f}"]
                for e in rates
            ],
        ),
        "Mixed-effects regression (Table 11)": (
            ["metric", "data", "difference", f"estimate [{level}]", "error", "p", "mark"],
            [
                [e.metric, e.dataset, f"{e.condition} − {PERTURBED}", _format_estimate(e.difference, "{:+.3g}"),
                 f"{e.error:.2g}", _format_p_value(e.p_value),
                 "" if not e.significant else "better" if (e.difference.value or 0) > 0 else "worse"]
                for e in effects
            ],
        ),
    }  # fmt: skip
    if aware:
        tables_by_title["Awareness (Table 5)"] = (
            ["metric", "data", "text", "own tag", "other tag", "own at least other", "aware"],
            [
                [e.metric, e.dataset, e.text_dialect, f"{e.own_tag_mean:.3f}", f"{e.other_tag_mean:.3f}",
                 f"{e.rate:.2f}" if e.reads_tag else "–",
                 "reads no tag" if not e.reads_tag else "yes" if e.aware else "no"]
                for e in aware
            ],
        )  # fmt: skip
    return tables_by_title


def _format_estimate(estimate: Estimate, form: str) -> str:
    if estimate.value is None:
        return "–"
    ends = f" [{', '.join(form.format(end) for end in estimate.interval)}]" if estimate.interval else ""
    return form.format(estimate.value) + ends


def _format_p_value(value: float | None) -> str:
    return "–" if value is None else "< .001" if value < 0.001 else f"{value:.3f}"


def format_tables(tables: Mapping[str, tuple[Sequence[str], Sequence[Sequence[str]]]]) -> str:
    """Return tables for a terminal."""
    lines: list[str] = []
    for title, (heads, rows) in tables.items():
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines += [title, "", *("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
                               for row in (heads, *rows)), ""]  # fmt: skip
    return "\n".join(lines).rstrip()


def to_records(
    all_scores: Sequence[ConditionScores], comparisons: int = COMPARISONS
) -> dict[str, list[dict[str, Any]]]:
    """Return the same as plain values."""

    def to_plain(record: Any) -> dict[str, Any]:
        values = asdict(record)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}

    return {
        "success": [to_plain(each) for scores in all_scores for each in compute_success_rates(scores, comparisons)],
        "coefficients": [to_plain(each) for scores in all_scores for each in fit_coefficients(scores, comparisons)],
        "awareness": [to_plain(each) for scores in all_scores for each in compute_awareness(scores)],
    }


def draw_coefficients(all_scores: Sequence[ConditionScores], comparisons: int = COMPARISONS) -> Plot:
    """Return the plot of coefficients (Figure 2): a panel per metric, since only those of one metric compare."""
    from lapsus.reporting.html.plots import Contrasts, draw_contrasts

    conditions = [
        name for name in dict.fromkeys(name for scores in all_scores for name in scores.conditions) if name != PERTURBED
    ]
    panels = []
    for metric in dict.fromkeys(scores.metric for scores in all_scores):
        rows = []
        for scores in all_scores:
            if scores.metric == metric:
                effects = fit_coefficients(scores, comparisons)
                rows.append(
                    (
                        scores.dataset.removeprefix("dialect-"),
                        sorted((conditions.index(e.condition), e.difference) for e in effects),
                    )
                )
        panels.append(Contrasts(metric, rows))
    title = f"Differences from sentences with another meaning, {100 * (1 - (1 - LEVEL) / comparisons):g} % intervals"
    return draw_contrasts("coefficients", title, panels, [f"{name} − {PERTURBED}" for name in conditions])
