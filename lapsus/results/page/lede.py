"""The first sentences of the page: the effect of noise, as far as the tests support it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lapsus.results.measuring.records import ALPHA, FamilySummary
from lapsus.results.page.cells import counted, percent


def lede(summary: Sequence[FamilySummary]) -> str:
    """Say where noise costs most and least; if no test finds a drop, say so, and how large a drop could be missed."""
    compared = [record for record in summary if record.averages.micro_drop.value is not None]
    return " ".join(_sentences(compared)) if compared else ""


def _sentences(compared: Sequence[FamilySummary]) -> Iterator[str]:
    costs = [record for record in compared if _holds_up(record) and _drop(record) > 0]
    gains = [record for record in compared if _holds_up(record) and _drop(record) < 0]
    open_ones = [record for record in compared if not _holds_up(record)]
    if costs:
        most = max(costs, key=_drop)
        uncertain = any(_drop(record) > _drop(most) for record in open_ones)
        yield ("Of the drops that hold up, the largest is on " if uncertain else "Noise costs most on ") + _fall(most)
        if len(costs) > 1:
            least = min(costs, key=_drop)
            yield f"Of the drops that hold up, the smallest is on {_place(least)}: {percent(_drop(least))} points."
    elif gains:
        yield "No drop holds up."
    elif all(_drop(record) == 0 for record in compared):
        yield "No average differs between clean and noisy text."
    else:
        largest = max(compared, key=lambda record: abs(_drop(record)))
        yield "No difference between clean and noisy text holds up."
        yield f"The largest is on {_place(largest)}, {_moves(largest)}, which may be chance."
    if gains:
        largest = min(gains, key=_drop)
        yield f"On {_place(largest)} the score rises, {_moves(largest)}."
    yield from _missed(open_ones)
    yield from _unbalanced(compared)


def _fall(most: FamilySummary) -> str:
    said = f"{most.family}: {most.model} falls {_moves(most)}"
    if most.annotators > 1:
        worst = percent(most.averages.worst_average.value)
        said += f" on average, and to {worst} % when each example counts only whom the model served worst"
    return f"{said}."


def _missed(open_ones: Sequence[FamilySummary]) -> Iterator[str]:
    """Say how large a drop could be missed where no test finds a difference."""
    sizes = [
        max(record.test.detectable, abs(_drop(record)))
        for record in open_ones
        if record.test and record.test.detectable is not None
    ]
    if sizes:
        where = _place(open_ones[0]) if len(open_ones) == 1 else f"{len(open_ones)} of the cells below"
        yield (
            f"Where none holds up ({where}), a difference of {percent(max(sizes))} points could have been missed:"
            " that is not yet robust."
        )


def _unbalanced(compared: Sequence[FamilySummary]) -> Iterator[str]:
    """Warn of accuracy that does not fall while fewer classes are told apart."""
    found = [record for record in compared if record.favours_a_class]
    if not found:
        return
    sure = [record for record in found if (record.balanced_drop_p or 0.0) < ALPHA]
    record = max(sure or found, key=_class_drop)
    before, after = percent(record.clean_balanced_accuracy.value), percent(record.classes.balanced_accuracy.value)
    accuracy = "does not fall" if _drop(record) <= 0 else "falls by no more than chance explains"
    others = f" The same may be so in {counted(len(found) - 1, 'other cell')} below (†)." if len(found) > 1 else ""
    yield (
        f"But {record.model} {'is not' if sure else 'may not be'} robust on {record.family}: its accuracy {accuracy},"
        f" yet its balanced accuracy falls from {before} % to {after} %, as the rarer classes are found less often"
        f"{'' if sure else ', which may be chance'}.{others}"
    )


def _class_drop(record: FamilySummary) -> float:
    return (record.clean_balanced_accuracy.value or 0.0) - (record.classes.balanced_accuracy.value or 0.0)


def _holds_up(record: FamilySummary) -> bool:
    return record.test is not None and record.test.holds_up


def _drop(record: FamilySummary) -> float:
    return record.averages.micro_drop.value or 0.0


def _place(record: FamilySummary) -> str:
    return f"{record.family} for {record.model}"


def _moves(record: FamilySummary) -> str:
    averages = record.averages
    return f"from {percent(averages.clean_average.value)} % on clean text to {percent(averages.micro_average.value)} %"
