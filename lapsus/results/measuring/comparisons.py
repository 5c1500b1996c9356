"""Compare models on the examples that both answered: every two of them, or each with the best of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from lapsus.results.measuring.paired import corrected, paired_test
from lapsus.results.measuring.records import Comparison
from lapsus.results.measuring.runs import Options, Run, chosen_originals, clean_of

if TYPE_CHECKING:
    from lapsus.kernel.columns import FloatArray

MOST_PAIRED = 30  # models, at most, of which every two are compared


@dataclass(frozen=True, slots=True)
class Measure:
    """One score per example: of the clean track, or of all annotators of a family."""

    name: str
    family: str
    tracks: tuple[str, ...]

    def of(self, table: FloatArray) -> FloatArray:
        """Return the score of each example, of a table of annotators x examples."""
        found: FloatArray = (np.nanmin if self.name == "worst" else np.nanmean)(table, axis=0)
        return found


def comparisons(runs: Sequence[Run], models: Sequence[str], options: Options) -> list[Comparison]:
    """Compare models, with the annotators that both have."""
    every = {model: {run.track.track: run for run in runs if run.track.model == model} for model in models}
    of_model = {model: mine for model, mine in every.items() if mine}
    pairs = list(_pairs(of_model))
    measures = _measures(runs)
    found: dict[tuple[str, str], list[Comparison]] = {pair: [] for pair in pairs}
    for measure in measures:
        whole = {model: _whole(mine, measure) for model, mine in of_model.items()}
        for model, other in pairs:
            shared = [name for name in measure.tracks if name in of_model[model] and name in of_model[other]]
            if not shared or (measure.name == "worst" and len(shared) == 1):  # of one annotator, it is its average
                continue
            ours, theirs = whole[model], whole[other]
            if ours is None or theirs is None:
                ours, theirs = _both([(of_model[model][name], of_model[other][name]) for name in shared], measure)
            both = ~np.isnan(ours)
            if both.any():
                ours, theirs = ours[both], theirs[both]
                test = paired_test(ours, theirs, chosen_originals(runs[0], both), options.confidence_level)
                place = (runs[0].track.dataset, model, other, measure.name, measure.family)
                found[model, other].append(
                    Comparison(*place, len(ours), float(ours.mean()), float(theirs.mean()), test)
                )
    return list(chain.from_iterable(found.values()))


def _pairs(of_model: Mapping[str, Mapping[str, Run]]) -> Iterator[tuple[str, str]]:
    """Return every two models; of very many, each with the one that scores best on clean text."""
    if len(of_model) <= MOST_PAIRED:
        yield from combinations(of_model, 2)
        return

    def score(model: str) -> float:
        runs = list(of_model[model].values())
        return float(np.nanmean((clean_of(runs) or runs[0]).scores))

    best = max(of_model, key=score)
    yield from ((model, best) for model in of_model if model != best)


def _whole(mine: Mapping[str, Run], measure: Measure) -> FloatArray | None:
    """Return a model's score of each example, where it has all of them by all annotators."""
    runs = [mine[name] for name in measure.tracks if name in mine]
    if len(runs) < len(measure.tracks):
        return None
    table = np.stack([run.scores for run in runs])
    return None if np.isnan(table).any() else measure.of(table)


def _both(pairs: Sequence[tuple[Run, Run]], measure: Measure) -> tuple[FloatArray, FloatArray]:
    """Return two models' scores of each example, by the annotators for which both have one; NaN where there is none."""
    tables = [np.stack([pair[side].scores for pair in pairs]) for side in (0, 1)]
    missing = np.isnan(tables[0]) | np.isnan(tables[1])
    nothing = missing.all(axis=0)
    made = []
    for table in tables:
        scores = np.full(table.shape[1], np.nan)
        scores[~nothing] = measure.of(np.where(missing, np.nan, table)[:, ~nothing])
        made.append(scores)
    return made[0], made[1]


def compared_once(records: Sequence[Comparison]) -> list[Comparison]:
    """Apply Holm's correction to the tests of all comparisons of a report."""
    tests = corrected(record.test for record in records)
    return [replace(record, test=test) for record, test in zip(records, tests, strict=True)]


def _measures(runs: Sequence[Run]) -> list[Measure]:
    """Return what two models can be compared by: clean text, and the average and worst of each family."""
    families: dict[str, dict[str, None]] = {}
    for run in runs:
        if not run.is_clean:
            families.setdefault(run.track.family, {})[run.track.track] = None
    clean = clean_of(runs)
    found = [Measure("clean", "", (clean.track.track,))] if clean else []
    for family, names in families.items():
        found += [Measure("average", family, tuple(names)), Measure("worst", family, tuple(names))]
    return found
