"""How many predictions change when the input is said in other words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus import stats
from lapsus.core import checks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SAME_RIGHT, SAME_WRONG, TO_WRONG, TO_RIGHT, OTHER_WRONG = range(5)


def prediction_consistency(
    predictions: Iterable[str] | Iterable[int],
    references: Iterable[str] | Iterable[int],
    original_predictions: Iterable[str] | Iterable[int],
    *,
    groups: checks.Groups | None = None,
    group_names: Iterable[Any] | Mapping[str, Iterable[Any]] | None = None,
    clusters: Iterable[Any] | None = None,
    label_map: Mapping[Any, Any] | None = None,
    confidence_level: float = 0.95,
    exact: bool = False,
) -> dict[str, Any]:
    """Return the share of changed predictions, which way they changed, and whether accuracy moved.

    Args:
        predictions: the label predicted for each rewritten input.
        references: the gold labels.
        original_predictions: the label predicted for each original input.
        groups: one value per example, or several such columns by name: each group is also scored by itself.
        group_names: the groups to report, in order; one that does not occur has 0 examples and null rates.
        clusters: what each example was rewritten from: rewrites of one original count as one finding, in every
            interval and test.
        label_map: labels to be read as others before anything is compared, as in
            `{"contradiction": "not_entailment", "neutral": "not_entailment"}`.
        confidence_level: of the intervals.
        exact: whether McNemar's test is always exact; by default it is with fewer than 25 changes.

    Returns:
        examples, changed, changed_rate: how many there are, and on how many and which share of them the label changed.
        changed_rate_ci: Wilson's interval of that share, with clusters at the effective number of examples.
        changed_rate_cluster_ci: with `clusters` only: the same interval, by an older name.
        accuracy, original_accuracy: on the rewritten and on the original inputs.
        accuracy_ci, original_accuracy_ci: their intervals.
        accuracy_change: accuracy - original_accuracy.
        accuracy_change_ci: its interval, by the score test (Tango's).
        transitions: the changes by kind: correct_to_wrong, wrong_to_correct, wrong_to_other_wrong.
        changed_rate_when_correct, changed_rate_when_wrong: by what the original prediction was; None if it never was.
        mcnemar_p: the two-sided p-value that accuracy did not move: McNemar's where every example has its own original,
            else the score test over originals.
        accuracy_change_p: that p-value by the score test in either case, which `accuracy_change_ci` inverts.
        accuracy_cluster_p: with `clusters` only: the same p-value, by an older name.
        groups: with `groups` only: the same for each group, by its name.

    Example:
        >>> result = prediction_consistency(["yes", "no", "no"], ["yes", "yes", "no"], ["yes", "yes", "yes"])
        >>> result["changed_rate"], result["transitions"]["correct_to_wrong"], result["mcnemar_p"]
        (0.6666666666666666, 1, 1.0)
    """
    stats.check_level(confidence_level)
    new, gold, old = checks.encode_labels(
        label_map, predictions=predictions, references=references, original_predictions=original_predictions
    )
    outcomes = np.where(old == gold, TO_WRONG, np.where(new == gold, TO_RIGHT, OTHER_WRONG)).astype(np.int8)
    same = new == old
    outcomes[same] = np.where(new[same] == gold[same], SAME_RIGHT, SAME_WRONG)
    cluster_ids = checks.number_clusters(clusters, predictions=new)

    def score(members: Any) -> dict[str, Any]:
        counts = np.bincount(outcomes[members], minlength=5)
        result = _compute_rates(counts.tolist())
        result |= _compute_intervals(outcomes[members], cluster_ids[members], confidence_level)
        result["mcnemar_p"] = result["accuracy_change_p"]
        if not checks.has_repeats(cluster_ids[members]):
            to_wrong, to_right = int(counts[TO_WRONG]), int(counts[TO_RIGHT])
            result["mcnemar_p"] = _compute_mcnemar_p(to_wrong, to_right, exact=exact) if counts.any() else None
        if clusters is not None:
            result["changed_rate_cluster_ci"] = result["changed_rate_ci"]
            result["accuracy_cluster_p"] = result["accuracy_change_p"]
        return result

    result = score(slice(None))
    if groups is not None:
        result["groups"] = checks.score_by_group(groups, group_names, len(new), score)
    return result


def _compute_mcnemar_p(to_wrong: int, to_right: int, *, exact: bool) -> float:
    """Return the p-value of changes in both directions being equally likely."""
    if exact:
        return stats.sign_test(to_wrong, to_right, "two-sided")
    changes = np.repeat([-1.0, 1.0], [to_wrong, to_right])
    return stats.compute_p_value(stats.ClusterSums(changes, np.ones(len(changes), np.int64)))


def _compute_rates(outcomes: list[int]) -> dict[str, Any]:
    same_right, same_wrong, to_wrong, to_right, other_wrong = outcomes
    changed = to_wrong + to_right + other_wrong
    originally_right = same_right + to_wrong
    examples = same_right + same_wrong + changed
    return {
        "examples": examples,
        "changed": changed,
        "changed_rate": _share(changed, examples),
        "accuracy": _share(same_right + to_right, examples),
        "original_accuracy": _share(originally_right, examples),
        "accuracy_change": (to_right - to_wrong) / examples if examples else None,
        "transitions": {
            "correct_to_wrong": to_wrong,
            "wrong_to_correct": to_right,
            "wrong_to_other_wrong": other_wrong,
        },
        "changed_rate_when_correct": _share(to_wrong, originally_right),
        "changed_rate_when_wrong": _share(to_right + other_wrong, examples - originally_right),
    }


def _compute_intervals(outcomes: checks.IntArray, cluster_ids: checks.IntArray, level: float) -> dict[str, Any]:
    """Return the intervals of the rates and of the change of accuracy, whose p-value its interval inverts."""
    if not len(outcomes):
        names = ("changed_rate_ci", "accuracy_ci", "original_accuracy_ci", "accuracy_change_ci", "accuracy_change_p")
        return dict.fromkeys(names)
    shares = {
        "changed_rate_ci": outcomes >= TO_WRONG,
        "accuracy_ci": (outcomes == SAME_RIGHT) | (outcomes == TO_RIGHT),
        "original_accuracy_ci": (outcomes == SAME_RIGHT) | (outcomes == TO_WRONG),
    }
    shared = checks.has_repeats(cluster_ids)
    result: dict[str, Any] = {
        name: stats.clustered_rate_interval(stats.sum_by_cluster_number(share.astype(float), cluster_ids), level)
        if shared
        else stats.wilson_interval(int(share.sum()), len(share), level)
        for name, share in shares.items()
    }
    moved = (outcomes == TO_RIGHT).astype(float) - (outcomes == TO_WRONG)
    sums = stats.sum_by_cluster_number(moved, cluster_ids)
    interval = p_value = None
    if sums.n_clusters > 1:
        interval, p_value = stats.estimate_difference(sums, float((moved > 0).mean()), level)
    return {**result, "accuracy_change_ci": interval, "accuracy_change_p": p_value}


def _share(part: int, total: int) -> float | None:
    return part / total if total else None
