"""Whether a metric scores a text higher when told the right dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy import stats

from lapsus.kernel import columns

if TYPE_CHECKING:
    from collections.abc import Iterable


def dialect_awareness(predictions: Iterable[float], references: Iterable[float]) -> dict[str, Any]:
    """Return the share of texts scored at least as high with the tag of their own dialect as with another's.

    Args:
        predictions: the score of each text with the matching tag.
        references: its score with another tag.

    A metric that ignores the tag ties everywhere, and by definition its rate is 1: so ties are shown, and not tested.

    Returns:
        awareness_rate: the share of texts that win or tie.
        wins, ties, losses: how many texts are scored higher, equally, lower with their own tag.
        trials: how many texts there are.
        p_value: of the one-tailed test that wins are more than losses by chance; None where all tie.

    Example:
        >>> dialect_awareness([0.8, 0.7, 0.7], [0.6, 0.7, 0.9])["awareness_rate"]
        0.6666666666666666
    """
    own, other = columns.scores("predictions", predictions), columns.scores("references", references)
    trials = columns.same_length(predictions=own, references=other)
    wins, losses = int((own > other).sum()), int((own < other).sum())
    decided = wins + losses
    return {
        "awareness_rate": (trials - losses) / trials,
        "wins": wins,
        "ties": trials - decided,
        "losses": losses,
        "trials": trials,
        "p_value": float(stats.binomtest(wins, decided, 0.5, "greater").pvalue) if decided else None,
    }
