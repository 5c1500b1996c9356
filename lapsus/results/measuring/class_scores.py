"""Balanced accuracy and macro-F1, which show where a model prefers one class.

A model that predicts "different" more often gains accuracy where most pairs differ, but finds fewer equal pairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from lapsus.kernel.class_rates import ClassRatios, class_rates, class_ratios
from lapsus.results.coding import NONE, hashed
from lapsus.results.measuring.records import ClassScores, Estimate
from lapsus.results.measuring.runs import chosen_originals
from lapsus.results.track_columns import NO_ANSWER

if TYPE_CHECKING:
    from lapsus.results.measuring.runs import Mask, Run

MOST_CLASSES = 100


def class_scores(runs: Iterable[tuple[Run, Mask]], level: float) -> ClassScores:
    """Score annotators' examples by class, on average over annotators; None where the right answers are not classes.

    They are classes if there are at least two of them, each right for two examples or more on average, and every
    answer is right or wrong. A macro-F1 averages over the classes that occur as right answers or as predictions; a
    missing answer is wrong, and no class.

    >>> from lapsus.results.measuring.runs import runs_of
    >>> from lapsus.results.tracks import Track
    >>> rows = [{"id": n, "gold": gold, "prediction": "a"} for n, gold in enumerate("aaab")]
    >>> [run] = runs_of([Track("bert", "clean", rows)])
    >>> found = class_scores([(run, run.scored)], 0.95)
    >>> found.balanced_accuracy.value, found.macro_f1.value
    (0.5, 0.428...)
    """
    found = []
    for run, examples in runs:
        of_run = _ratios(run, examples)
        if of_run is None:
            return ClassScores()
        found.append(of_run)
    rates = class_rates(found, level)._asdict()
    return ClassScores(Estimate.of(rates, "balanced_accuracy"), Estimate.of(rates, "macro_f1"))


def _ratios(run: Run, examples: Mask) -> ClassRatios | None:
    """Return the recalls and the F1 of the classes of these examples; None where they have no classes."""
    if run.golds is None or run.predictions is None or not examples.any() or run.golds.distinct > examples.sum() / 2:
        return None
    scores, golds, said = (part[examples] for part in (run.scores, run.golds.codes, run.predictions.codes))
    if not np.isin(scores, (0.0, 1.0)).all() or (golds == NONE).any() or (said == NONE).any():
        return None
    # A prediction that was scored as right is of the right class, whatever its wording.
    said = np.where(scores == 1, golds, said)
    classes, truth = np.unique(golds, return_inverse=True)
    if not 2 <= len(classes) <= MOST_CLASSES or len(golds) < 2 * len(classes):
        return None
    place = np.searchsorted(classes, said).clip(max=len(classes) - 1)
    others = classes[place] != said
    guess = place.astype(np.int64)
    guess[others] = len(classes) + np.unique(said[others], return_inverse=True)[1]
    guess[said == hashed([NO_ANSWER])] = -1
    return class_ratios(truth, guess, chosen_originals(run, examples))
