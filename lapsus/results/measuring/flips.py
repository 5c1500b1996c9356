"""Count which answers change between clean and noisy text, and into what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lapsus.metrics.prediction_consistency.score import prediction_consistency
from lapsus.results.coding import NONE
from lapsus.results.measuring.records import Changes, Estimate, Flips, Transition
from lapsus.results.measuring.runs import Run, chosen_originals, right_or_wrong

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lapsus.kernel.columns import FloatArray, IntArray
    from lapsus.results.coding import Codes

MOST_LABELS = 8  # with more labels than this, the matrix shows right and wrong only
RIGHT, WRONG, OTHERWISE = range(3)  # the numbers of right answers, of wrong ones, and of wrong ones that changed


def changes(clean: Run, members: Sequence[Run], level: float) -> Changes:
    """Count the predictions that differ between clean and noisy text; None where the rows do not tell.

    Answers that were both right count as the same, however they were worded.
    """
    both = [clean.scored & run.scored for run in members]
    if not any(mask.any() for mask in both):
        return Changes()
    before, after = _scores(clean, members, both)
    graded = right_or_wrong([before, after])
    said = _predictions(clean, members, both)
    if said is None and not graded:
        return Changes()

    one, other = (before, after) if said is None else said
    was_right, is_right = (graded & (side == 1) for side in (before, after))
    same = one == other
    originals: list[IntArray] = []
    for mask in both:
        mine = chosen_originals(clean, mask)
        originals.append(np.flatnonzero(mask) if mine is None else mine)
    result = prediction_consistency(
        np.where(is_right, RIGHT, np.where(same, WRONG, OTHERWISE)),
        np.full(len(after), RIGHT),
        np.where(was_right, RIGHT, WRONG),
        clusters=np.concatenate(originals),
        confidence_level=level,
    )
    return Changes(
        result["changed"],
        Estimate.of(result, "changed_rate"),
        Flips(**result["transitions"]) if graded else None,
    )


def transitions(clean: Run | None, members: Sequence[Run], dataset: str, model: str, family: str) -> list[Transition]:
    """Count which clean prediction became which noisy one: labels where there are few, else right and wrong."""
    both = [] if clean is None else [clean.scored & run.scored for run in members]
    if clean is None or not any(mask.any() for mask in both):
        return []
    said = _predictions(clean, members, both)
    kinds = np.zeros(0, np.uint64) if said is None else np.unique(np.concatenate(said))
    words: dict[int, str] = {}
    for run in (clean, *members):
        words |= run.predictions.words if run.predictions else {}
    if said is not None and 2 <= len(kinds) <= MOST_LABELS and words.keys() >= set(kinds.tolist()):
        before, after = (np.searchsorted(kinds, side) for side in said)
        table = np.bincount(before * len(kinds) + after, minlength=len(kinds) ** 2).reshape(len(kinds), -1)
        order = sorted(range(len(kinds)), key=lambda place: words[int(kinds[place])])
        names = [words[int(kinds[place])] for place in order]
        counts = table[np.ix_(order, order)]
    else:
        one, other = _scores(clean, members, both)
        if not right_or_wrong([one, other]):
            return []
        names = ["right", "wrong"]
        counts = np.bincount(2 * (one == 0) + (other == 0), minlength=4).reshape(2, 2)
    return [
        Transition(dataset, model, family, old, new, int(counts[i, j]))
        for i, old in enumerate(names)
        for j, new in enumerate(names)
    ]


def _scores(clean: Run, members: Sequence[Run], both: Sequence[NDArray[np.bool_]]) -> tuple[FloatArray, FloatArray]:
    """Return the scores of all pairs, on clean and on noisy text."""
    return (
        np.concatenate([clean.scores[mask] for mask in both]),
        np.concatenate([run.scores[mask] for run, mask in zip(members, both, strict=True)]),
    )


def _predictions(clean: Run, members: Sequence[Run], both: Sequence[NDArray[np.bool_]]) -> tuple[Codes, Codes] | None:
    """Return the predictions of all pairs, on clean and on noisy text; None where one is not known."""
    if clean.predictions is None or any(run.predictions is None for run in members):
        return None
    mine = clean.predictions.codes
    before = np.concatenate([mine[mask] for mask in both])
    after = np.concatenate(
        [run.predictions.codes[mask] for run, mask in zip(members, both, strict=True) if run.predictions]
    )
    return None if (before == NONE).any() or (after == NONE).any() else (before, after)
