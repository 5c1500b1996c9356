"""McNemar's test and the sign test: both test whether two counts have equal probability."""

from __future__ import annotations

from scipy import special


def mcnemar(one_way: int, other_way: int, *, exact: bool = False) -> float:
    """Return the two-sided p-value of changes in both directions being equally likely, by mid-p or exactly.

    The exact test rejects a true hypothesis less often than its level, since few counts are possible; mid-p weights the
    observed outcome by one half, and is closer to the level.

    >>> round(mcnemar(52, 38, exact=True), 3), round(mcnemar(52, 38), 3)  # RoBERTa on PaRTE: to wrong, to right
    (0.17, 0.142)
    """
    changes = one_way + other_way
    if not changes:
        return 1.0
    fewer = min(one_way, other_way)
    here, below = special.bdtr([fewer, fewer - 1], changes, 0.5)
    return float(min(1.0, 2 * here if exact else here + (below if fewer else 0.0)))


def sign_test(wins: int, losses: int, alternative: str) -> float:
    """Return the exact p-value of wins and losses being equally likely; leave ties out of the counts.

    >>> sign_test(3, 0, "greater")
    0.125
    """
    trials = wins + losses
    if not trials:
        return 1.0
    if alternative == "two-sided":
        return float(min(1.0, 2 * special.bdtr(min(wins, losses), trials, 0.5)))
    return float(special.bdtr(losses if alternative == "greater" else wins, trials, 0.5))
