"""The verdict about a drop: it costs, the model is robust within a margin, or the examples do not decide."""

from __future__ import annotations

from lapsus import stats
from lapsus.reporting.analysis.records import (
    COSTS,
    ROBUST,
    UNDECIDED,
    Estimate,
    FamilySummary,
    PairedTest,
    Verdict,
    is_significant,
)


def decide_summary(record: FamilySummary, margin: float, confidence_level: float) -> Verdict:
    """Return the verdict about one model on one family of noise.

    A score that stays while balanced accuracy falls significantly is not called robust.
    """
    if record.test is None:
        return Verdict()
    decision = decide_drop(record.test, record.examples, margin, confidence_level)
    if decision.verdict == ROBUST and record.hides_class_drop and is_significant(record.balanced_drop_p_bh):
        return Verdict(UNDECIDED, margin)
    return decision


def decide_drop(test: PairedTest, n_examples: int, margin: float, confidence_level: float) -> Verdict:
    """Return the verdict about the drop of so many examples; `test` is of the noisy score minus the clean one.

    The drop costs where its interval is above 0; the model is robust where the interval ends below the margin. A small
    drop that is certain does both, and costs. The interval is that of this drop alone, not corrected for the others.

    >>> decide_drop(PairedTest(Estimate(-0.071, -0.092, -0.052)), 800, 0.02, 0.95).verdict
    'costs'
    >>> decide_drop(PairedTest(Estimate(-0.003, -0.014, 0.008)), 800, 0.02, 0.95).verdict
    'robust'
    >>> decide_drop(PairedTest(Estimate(-0.01, -0.04, 0.02)), 800, 0.02, 0.95).verdict
    'undecided'
    """
    low, high = _get_drop_ends(test.difference)
    if low is not None and low > 0:
        return Verdict(COSTS, margin)
    if high is not None and high < margin:
        return Verdict(ROBUST, margin)
    return Verdict(UNDECIDED, margin, _count_to_decide(test, n_examples, margin, 1 - confidence_level))


def _get_drop_ends(difference: Estimate) -> tuple[float | None, float | None]:
    """Return the ends of a drop's interval, of those of the change."""
    low, high = difference.interval or (None, None)
    return (None if high is None else -high), (None if low is None else -low)


def _count_to_decide(test: PairedTest, n_examples: int, margin: float, alpha: float) -> int | None:
    """Return about how many examples decide in one way or the other, rounded up to two digits."""
    if test.detection is None or test.difference.value is None:
        return None
    drop = -test.difference.value
    numbers = (
        stats.count_examples(test.detection, n_examples, drop, alpha=alpha) if drop > 0 else None,
        stats.count_examples_within(test.detection, n_examples, drop, margin, alpha=alpha),
    )
    number = min((number for number in numbers if number is not None), default=None)
    return None if number is None else round_up(max(number, n_examples + 1))


def round_up(number: int) -> int:
    """Return a number rounded up to two digits.

    >>> round_up(87), round_up(1234)
    (87, 1300)
    """
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step


def describe_verdict(decision: Verdict) -> str:
    """Return a verdict in words.

    >>> describe_verdict(Verdict("robust", 0.02)), describe_verdict(Verdict("undecided", 0.02, 1300))
    ('robust within 2 points', 'undecided: about 1,300 examples would decide')
    """
    if decision.verdict == ROBUST:
        return f"{ROBUST} within {format_margin(decision.margin)}"
    if decision.verdict == UNDECIDED and decision.examples_to_decide is not None:
        return f"{UNDECIDED}: about {decision.examples_to_decide:,} examples would decide"
    return decision.verdict or ""


def format_margin(margin: float | None) -> str:
    """Return a margin in points.

    >>> format_margin(0.02), format_margin(0.01), format_margin(0.025)
    ('2 points', '1 point', '2.5 points')
    """
    points = f"{100 * (margin or 0.0):.10g}"
    return f"{points} point{'' if points == '1' else 's'}"
