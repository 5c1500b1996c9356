"""Whether a metric scores a text higher when told the right dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus import stats
from lapsus.core import checks

if TYPE_CHECKING:
    from collections.abc import Iterable


def dialect_awareness(
    predictions: Iterable[float],
    references: Iterable[float],
    *,
    clusters: Iterable[Any] | None = None,
    confidence_level: float = 0.95,
) -> dict[str, Any]:
    """Return the share of texts scored at least as high with the tag of their own dialect as with another's.

    Args:
        predictions: the score of each text with the matching tag.
        references: its score with another tag.
        clusters: the original of each text; texts with the same original form one cluster.
        confidence_level: of the interval.

    A metric that ignores the tag ties everywhere, and by definition its rate is 1: so ties are shown, and not tested.

    Returns:
        awareness_rate: the share of texts that win or tie.
        awareness_rate_ci: Wilson's interval of it, with clusters at the effective number of texts.
        wins, ties, losses: how many texts are scored higher, equally, lower with their own tag.
        trials: how many texts there are.
        p_value: of the one-tailed test that wins outnumber losses by chance: the exact sign test, or with
            repeated `clusters` the score test over clusters; None where all tie.

    Example:
        >>> dialect_awareness([0.8, 0.7, 0.7], [0.6, 0.7, 0.9])["awareness_rate"]
        0.6666666666666666
    """
    stats.check_level(confidence_level)
    own, other = checks.check_scores("predictions", predictions), checks.check_scores("references", references)
    trials = checks.check_same_length(predictions=own, references=other)
    outcomes = np.sign(own - other)
    wins, losses = int((outcomes > 0).sum()), int((outcomes < 0).sum())
    decided = wins + losses
    p_value = stats.sign_test(wins, losses, "greater") if decided else None
    interval = stats.wilson_interval(trials - losses, trials, confidence_level)
    cluster_ids = checks.number_clusters(clusters, predictions=own)
    if checks.has_repeats(cluster_ids):
        is_won = stats.sum_by_cluster_number((outcomes >= 0).astype(float), cluster_ids)
        interval = stats.clustered_rate_interval(is_won, confidence_level)
        comparable = decided and is_won.n_clusters > 1
        p_value = (
            stats.compute_p_value(stats.sum_by_cluster_number(outcomes, cluster_ids), "greater") if comparable else None
        )
    return {
        "awareness_rate": (trials - losses) / trials,
        "awareness_rate_ci": interval,
        "wins": wins,
        "ties": trials - decided,
        "losses": losses,
        "trials": trials,
        "p_value": p_value,
    }
