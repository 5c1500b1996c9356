"""The first sentence of the page: what each kind of noise costs, in words that need no statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lapsus.core.messages import format_list
from lapsus.reporting.analysis.records import COSTS, ROBUST, UNDECIDED, FamilySummary
from lapsus.reporting.html.tables import format_count, format_percent, format_signed

NOUNS = {"typed": "typing", "dictated": "dictation", "fillers": "adding fillers", "reworded": "rewording"}
MAX_PARTS = 4  # kinds of noise in the sentence
ORDER = (COSTS, ROBUST, UNDECIDED)


def write_lead(summary: Sequence[FamilySummary]) -> str:
    """Return one sentence: what costs, what costs next to nothing, and what the examples do not decide."""
    by_family: dict[str, list[FamilySummary]] = {}
    for record in summary:
        if record.decision.verdict is not None and record.averages.micro_drop.value is not None:
            by_family.setdefault(record.family, []).append(record)
    families = sorted(by_family.values(), key=_rank_family)
    parts = [_describe_family(records) for records in families[:MAX_PARTS]]
    if len(families) > MAX_PARTS:
        parts.append(f"{format_count(len(families) - MAX_PARTS, 'more kind')} of noise below")
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""


def name_noise(family: str) -> str:
    """Return what people do, for a preset; the name of the noise itself for any other.

    >>> name_noise("typed"), name_noise("typed@2"), name_noise("keyboard")
    ('typing', 'typing (severity 2)', 'noise “keyboard”')
    """
    name, _, severity = family.partition("@")
    noun = NOUNS.get(name, f"noise “{name}”")
    return f"{noun} (severity {severity})" if severity else noun


def _rank_family(records: Sequence[FamilySummary]) -> tuple[int, float]:
    """Put what costs first, and the largest drop before others."""
    place = min(ORDER.index(record.decision.verdict or UNDECIDED) for record in records)
    return place, -max(_get_drop(record) for record in records)


def _describe_family(records: Sequence[FamilySummary]) -> str:
    name = name_noise(records[0].family)
    costly = [record for record in records if record.decision.verdict == COSTS]
    undecided = [record for record in records if record.decision.verdict == UNDECIDED]
    if costly:
        most = max(costly, key=_get_drop)
        if len(records) == 1:
            return f"{name} costs {_format_drop(most)}"
        extent = "each" if len(costly) == len(records) else f"{len(costly)}"
        return f"{name} costs {extent} of {len(records)} models points, {most.model} the most: {_format_drop(most)}"
    if undecided:
        return _describe_undecided(name, records, undecided)
    if len(records) == 1 and _get_high(records) < 0:
        return f"{name} costs nothing: the score rises by {_format_gain(records[0])}"
    if _get_high(records) <= 0:
        return f"{name} costs nothing"
    who = "" if len(records) == 1 else " any model"
    return f"{name} costs{who} less than {format_percent(_get_high(records))} points, if anything"


def _describe_undecided(name: str, records: Sequence[FamilySummary], undecided: Sequence[FamilySummary]) -> str:
    """Say how many examples did not decide, and how large the drop may be."""
    n_examples = list(dict.fromkeys(format_count(record.examples, "example") for record in undecided))
    who = "" if len(records) == 1 else f" for {len(undecided)} of {len(records)} models"
    sentence = f"{name}: not decided{who} by {format_list(n_examples, 2)}"
    if any(record.hides_class_drop for record in undecided):
        return f"{sentence} (balanced accuracy falls)"
    if any(record.averages.micro_drop.high is None for record in undecided):
        return sentence
    return f"{sentence} (less than {format_percent(_get_high(undecided))} points, if anything)"


def _get_drop(record: FamilySummary) -> float:
    return record.averages.micro_drop.value or 0.0


def _get_high(records: Iterable[FamilySummary]) -> float:
    """Return the upper end of the widest interval."""
    return max(record.averages.micro_drop.high or 0.0 for record in records)


def _format_drop(record: FamilySummary) -> str:
    drop = record.averages.micro_drop
    return f"{format_percent(drop.value)} points{_format_interval(drop.interval)}"


def _format_gain(record: FamilySummary) -> str:
    value, low, high = record.averages.micro_drop
    ends = (-high, -low) if low is not None and high is not None else None
    return f"{format_percent(-(value or 0.0))} points{_format_interval(ends)}"


def _format_interval(ends: Sequence[float] | None) -> str:
    return f" [{', '.join(format_signed(end) for end in ends)}]" if ends else ""
