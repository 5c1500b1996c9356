"""Count which answers change between clean and noisy text, and into what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lapsus.metrics.prediction_consistency.score import prediction_consistency
from lapsus.results.measuring.records import Changes, Estimate, Flips, Transition
from lapsus.results.measuring.runs import Pair, Run, all_right_or_wrong, paired_cases
from lapsus.results.predictions import label

MOST_LABELS = 8  # with more labels than this, the matrix shows right and wrong only


def changes(pairs: Sequence[Pair], level: float) -> Changes:
    """Count the predictions that differ between clean and noisy; None where the rows do not tell.

    Answers that were both right count as the same, however they were worded.
    """
    cases = paired_cases(pairs)
    graded = all_right_or_wrong(cases)
    worded = all(run.rows[key].get("prediction") is not None for clean, noisy, key in cases for run in (clean, noisy))
    if not cases or not (graded or worded):
        return Changes()

    def answer(run: Run, key: str) -> str:
        right = graded and run.scores[key] == 1
        return "right" if right else f"wrong {label(run.rows[key]['prediction']) if worded else ''}"

    originals = [clean.original(key) for clean, _, key in cases]
    result = prediction_consistency(
        [answer(noisy, key) for _, noisy, key in cases],
        ["right"] * len(cases),
        [answer(clean, key) for clean, _, key in cases],
        clusters=originals,
        confidence_level=level,
    )
    interval = result["changed_rate_ci"] or ()
    return Changes(
        result["changed"],
        Estimate(result["changed_rate"], *interval),
        Flips(**result["transitions"]) if graded else None,
    )


def transitions(pairs: Sequence[Pair], dataset: str, model: str, family: str) -> list[Transition]:
    """Count which clean prediction became which noisy one: labels where there are few, else right and wrong."""
    cases = paired_cases(pairs)
    predicted = [(clean.rows[key].get("prediction"), noisy.rows[key].get("prediction")) for clean, noisy, key in cases]
    kinds = {label(answer) for pair in predicted for answer in pair if answer is not None}
    if 2 <= len(kinds) <= MOST_LABELS and all(None not in pair for pair in predicted):
        counts = Counter((label(before), label(after)) for before, after in predicted)
        order: Sequence[str] = sorted(kinds)
    elif cases and all_right_or_wrong(cases):
        names = {1.0: "right", 0.0: "wrong"}
        counts = Counter((names[clean.scores[key]], names[noisy.scores[key]]) for clean, noisy, key in cases)
        order = ("right", "wrong")
    else:
        return []
    return [
        Transition(dataset, model, family, before, after, counts[before, after]) for before in order for after in order
    ]
