"""How many predictions change when the input is said in other words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.kernel import columns, statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SAME_RIGHT, SAME_WRONG, TO_WRONG, TO_RIGHT, OTHER_WRONG = range(5)


def prediction_consistency(
    predictions: Iterable[str] | Iterable[int],
    references: Iterable[str] | Iterable[int],
    original_predictions: Iterable[str] | Iterable[int],
    *,
    groups: columns.Groups | None = None,
    group_names: Iterable[Any] | Mapping[str, Iterable[Any]] | None = None,
    clusters: Iterable[Any] | None = None,
    label_map: Mapping[Any, Any] | None = None,
    confidence_level: float = 0.95,
) -> dict[str, Any]:
    """Return the share of changed predictions, which way they changed, and whether accuracy moved.

    Args:
        predictions: the label predicted for each rewritten input.
        references: the gold labels.
        original_predictions: the label predicted for each original input.
        groups: one value per example, or several such columns by name: each group is also scored by itself.
        group_names: the groups to report, in order; one that does not occur has 0 examples and null rates.
        clusters: what each example was rewritten from; adds an interval and a test that hold when rows share an
            original.
        label_map: labels to be read as others before anything is compared, as in
            `{"contradiction": "not_entailment", "neutral": "not_entailment"}`.
        confidence_level: of the intervals.

    Returns:
        examples, changed, changed_rate: how many there are, and on how many and which share of them the label changed.
        changed_rate_ci: Wilson's interval of that share, for independent examples.
        changed_rate_cluster_ci: with `clusters` only: the interval for examples that share an original.
        accuracy, original_accuracy: on the rewritten and on the original inputs.
        transitions: the changes by kind: correct_to_wrong, wrong_to_correct, wrong_to_other_wrong.
        changed_rate_when_correct, changed_rate_when_wrong: by what the original prediction was; None if it never was.
        mcnemar_p: the exact two-sided p-value that accuracy did not move, for independent examples.
        accuracy_cluster_p: with `clusters` only: the same for examples that share an original.
        groups: with `groups` only: the same for each group, by its name.

    Example:
        >>> result = prediction_consistency(["yes", "no", "no"], ["yes", "yes", "no"], ["yes", "yes", "yes"])
        >>> result["changed_rate"], result["transitions"]["correct_to_wrong"], result["mcnemar_p"]
        (0.6666666666666666, 1, 1.0)
    """
    statistics.check_level(confidence_level)
    new, gold, old = columns.labels(
        label_map, predictions=predictions, references=references, original_predictions=original_predictions
    )
    outcomes = np.where(old == gold, TO_WRONG, np.where(new == gold, TO_RIGHT, OTHER_WRONG)).astype(np.int8)
    same = new == old
    outcomes[same] = np.where(new[same] == gold[same], SAME_RIGHT, SAME_WRONG)
    cluster_of = None
    if clusters is not None:
        cluster_of, _ = columns.numbered("clusters", clusters)
        columns.same_length(predictions=new, clusters=cluster_of)

    def score(members: Any) -> dict[str, Any]:
        counts = np.bincount(outcomes[members], minlength=5)
        result = _rates(counts.tolist(), confidence_level)
        if cluster_of is not None:
            _, own = np.unique(cluster_of[members], return_inverse=True)
            changed = np.bincount(own, outcomes[members] >= TO_WRONG)
            sizes = np.bincount(own)
            result["changed_rate_cluster_ci"] = statistics.clustered_wilson(changed, sizes, confidence_level)
            moved = (outcomes[members] == TO_RIGHT).astype(float) - (outcomes[members] == TO_WRONG)
            _, result["accuracy_cluster_p"] = statistics.clustered_mean(
                np.bincount(own, moved).astype(float), sizes, confidence_level
            )
        return result

    result = score(slice(None))
    if groups is not None:
        result["groups"] = columns.breakdown(groups, group_names, len(new), score)
    return result


def _rates(outcomes: list[int], level: float) -> dict[str, Any]:
    same_right, same_wrong, to_wrong, to_right, other_wrong = outcomes
    changed = to_wrong + to_right + other_wrong
    originally_right = same_right + to_wrong
    examples = same_right + same_wrong + changed
    return {
        "examples": examples,
        "changed": changed,
        "changed_rate": _share(changed, examples),
        "changed_rate_ci": statistics.wilson(changed, examples, level),
        "accuracy": _share(same_right + to_right, examples),
        "original_accuracy": _share(originally_right, examples),
        "transitions": {
            "correct_to_wrong": to_wrong,
            "wrong_to_correct": to_right,
            "wrong_to_other_wrong": other_wrong,
        },
        "changed_rate_when_correct": _share(to_wrong, originally_right),
        "changed_rate_when_wrong": _share(to_right + other_wrong, examples - originally_right),
        "mcnemar_p": statistics.mcnemar(to_wrong, to_right, exact=True) if examples else None,
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
