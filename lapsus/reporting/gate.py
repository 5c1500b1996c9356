"""Whether a report passes: the verdict of each cell, what forbids to trust it, and a condition of the user.

A cell passes where the drop is below the margin, fails where it is certain and not below it, and is else inconclusive.
Nothing passes where noise changed no text, or calls of the model failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from lapsus.reporting.analysis.records import COSTS, ROBUST, Estimate, FamilySummary, Results
from lapsus.reporting.analysis.verdicts import describe_verdict, format_margin
from lapsus.reporting.expressions import Condition, parse_condition
from lapsus.reporting.html.tables import escape_markdown, format_count, format_percent, format_signed

PASSED, FAILED, INCONCLUSIVE = "passed", "failed", "inconclusive"
MEASURES = ("clean", "average", "worst", "drop", "worst_drop")
NAMES = ("p", "p_holm", *(f"{name}{end}" for name in MEASURES for end in ("", ".low", ".high")))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the gate says of one model on one family of noise, and the reason in words."""

    dataset: str
    model: str
    family: str
    outcome: str
    message: str

    @property
    def place(self) -> str:
        """The model and the noise."""
        return f"{'/'.join(filter(None, (self.dataset, self.model)))} on {self.family}"


def judge_report(numbers: Results) -> list[Outcome]:
    """Return the outcome of each model on each family of noise."""
    return [_judge_cell(numbers, record) for record in numbers.summary]


def _judge_cell(numbers: Results, record: FamilySummary) -> Outcome:
    place = (record.dataset, record.model, record.family)
    if problems := list(_iter_problems(numbers, record)):
        return Outcome(*place, FAILED, "; ".join(problems))
    drop = record.averages.micro_drop
    message = f"a drop of {_format_drop(drop)} points, {describe_verdict(record.decision)}"
    margin = record.decision.margin
    if record.decision.verdict == COSTS and margin is not None:
        within = drop.high is not None and drop.high < margin
        return Outcome(*place, PASSED if within else FAILED, f"{message}{', less than the margin' if within else ''}")
    return Outcome(*place, PASSED if record.decision.verdict == ROBUST else INCONCLUSIVE, message)


def find_problems(numbers: Results) -> list[str]:
    """Return, in words, what forbids a report to pass whatever its numbers are."""
    if not numbers.summary:
        return ["the report has no noisy track, so nothing was measured"]
    return [
        f"{'/'.join(filter(None, (record.dataset, record.model)))} on {record.family}: {problem}"
        for record in numbers.summary
        for problem in _iter_problems(numbers, record)
    ]


def _iter_problems(numbers: Results, record: FamilySummary) -> Iterator[str]:
    """Yield why the drop of a cell cannot be trusted."""
    if record.averages.micro_drop.value is None:
        yield "there is no clean track, so the drop is not known"
    for track in numbers.tracks:
        if (track.dataset, track.model) != (record.dataset, record.model):
            continue
        if track.failed and (track.clean or track.family == record.family):
            yield f"{track.failed} of {format_count(track.examples, 'call')} failed on {track.track}; run them again"
        if track.changed_texts == 0 and not track.clean and track.family == record.family:
            yield f"noise changed no text on {track.track}; check its operator and the language"


def check_condition(text: str, numbers: Results) -> list[str]:
    """Return where a condition holds, or where it asks for a value that is not known, in words.

    Each model is asked for itself. `typed.drop.high` is the value of one family; `drop.high` that of each in turn.
    """
    condition = parse_report_condition(text, numbers)
    failures = []
    for dataset, model in dict.fromkeys((record.dataset, record.model) for record in numbers.summary):
        records = [record for record in numbers.summary if (record.dataset, record.model) == (dataset, model)]
        of_families = {
            f"{record.family}.{name}": value for record in records for name, value in _list_values(record).items()
        }
        place = "/".join(filter(None, (dataset, model)))
        asks_each = any(name in NAMES for name in condition.names)
        for record in records if asks_each else records[:1]:
            values = of_families | _list_values(record)
            name = f"{place} on {record.family}" if asks_each else place
            failures += _evaluate(condition, values, name)
    return failures


def _evaluate(condition: Condition, values: Mapping[str, float | None], place: str) -> list[str]:
    unknown = [name for name in condition.names if values.get(name) is None]
    if unknown:
        return [f"{place}: {', '.join(unknown)} is not known, so {condition.text!r} cannot be checked"]
    return [f"{place}: {condition.text} holds"] if condition.evaluate(values) else []


def parse_report_condition(text: str, numbers: Results) -> Condition:
    """Parse a condition over the values of a report."""
    families = dict.fromkeys(record.family for record in numbers.summary)
    return parse_condition(text, [*NAMES, *(f"{family}.{name}" for family in families for name in NAMES)])


def _list_values(record: FamilySummary) -> dict[str, float | None]:
    """Return the values that a condition can name, in points."""
    averages = record.averages
    estimates = (
        averages.clean_average,
        averages.micro_average,
        averages.worst_average,
        averages.micro_drop,
        averages.worst_drop,
    )
    values: dict[str, float | None] = {
        "p": record.test.p_value if record.test else None,
        "p_holm": record.test.p_holm if record.test else None,
    }
    for name, estimate in zip(MEASURES, estimates, strict=True):
        for end, value in zip(("", ".low", ".high"), estimate, strict=True):
            values[f"{name}{end}"] = None if value is None else 100 * value
    return values


def to_junit(numbers: Results, failures: Sequence[str] = ()) -> str:
    """Return the outcomes as JUnit XML: a case for each cell, and one for the condition where it fails.

    An inconclusive cell is skipped, with its reason.
    """
    outcomes = judge_report(numbers)
    n_failed = sum(outcome.outcome == FAILED for outcome in outcomes)
    suite = ET.Element("testsuite", name="lapsus", tests=str(len(outcomes) + bool(failures)))
    suite.set("failures", str(n_failed + bool(failures)))
    suite.set("skipped", str(sum(outcome.outcome == INCONCLUSIVE for outcome in outcomes)))
    for outcome in outcomes:
        name = "/".join(filter(None, (outcome.dataset, outcome.model)))
        case = ET.SubElement(suite, "testcase", classname=_to_xml_text(name), name=_to_xml_text(outcome.family))
        if outcome.outcome != PASSED:
            kind = "failure" if outcome.outcome == FAILED else "skipped"
            ET.SubElement(case, kind, message=_to_xml_text(outcome.message))
    if failures:
        case = ET.SubElement(suite, "testcase", classname="lapsus", name="--fail-if")
        ET.SubElement(case, "failure", message=_to_xml_text("; ".join(failures)))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=False) + "\n"


def _to_xml_text(text: str) -> str:
    """Return a text without the characters that XML does not allow."""
    return "".join(letter if letter >= " " and letter not in "\ufffe\uffff" else " " for letter in text)


def list_summary_rows(numbers: Results) -> list[dict[str, str]]:
    """Return a row of words for each model on each family of noise, as summaries show it."""
    rows = []
    for record, outcome in zip(numbers.summary, judge_report(numbers), strict=True):
        averages = record.averages
        rows.append(
            {
                "model": "/".join(filter(None, (record.dataset, record.model))),
                "noise": record.family,
                "clean": format_percent(averages.clean_average.value),
                "noisy": format_percent(averages.micro_average.value),
                "drop": _format_drop(averages.micro_drop),
                "gate": f"{outcome.outcome}: {describe_verdict(record.decision)}".removesuffix(": "),
            }
        )
    return rows


def to_markdown_summary(numbers: Results, failures: Sequence[str] = ()) -> str:
    """Return a short summary for a pull request."""
    lines = [f"**lapsus**: what noise costs, in points (margin: {format_margin(numbers.settings.margin)})", ""]
    lines += ["| model | noise | clean | noisy | drop | gate |", "|---|---|---:|---:|---:|---|"]
    for row in list_summary_rows(numbers):
        cells = row | {name: escape_markdown(row[name]) for name in ("model", "noise", "gate")}
        lines.append(f"| {' | '.join(cells.values())} |")
    notes = [*find_problems(numbers), *failures]
    lines += ["", *(f"- {escape_markdown(note)}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"


def _format_drop(drop: Estimate) -> str:
    if drop.low is None or drop.high is None:
        return format_percent(drop.value)
    return f"{format_percent(drop.value)} [{format_signed(drop.low)} to {format_signed(drop.high)}]"
