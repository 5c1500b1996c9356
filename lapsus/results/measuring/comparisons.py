"""Compare every two models on the examples that both answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from lapsus.results.measuring.paired import corrected, paired_test
from lapsus.results.measuring.records import Comparison
from lapsus.results.measuring.runs import Options, Run, clean_of
from lapsus.results.predictions import label


@dataclass(frozen=True, slots=True)
class Measure:
    """One score per example: of the clean track, or of all annotators of a family."""

    name: str
    family: str
    tracks: tuple[str, ...]
    summarise: Callable[[list[float]], float]


def comparisons(runs: Sequence[Run], models: Sequence[str], options: Options) -> list[Comparison]:
    """Compare every two models, with the annotators that both have."""
    scores = {(run.track.model, run.track.track): run.scores for run in runs}
    originals = {
        key: label(row["cluster"]) for run in runs for key, row in run.rows.items() if row.get("cluster") is not None
    }
    records: list[Comparison] = []
    for model, other in combinations(models, 2):
        for measure in _measures(runs):
            pairs = [
                (scores[model, name], scores[other, name])
                for name in measure.tracks
                if {(model, name), (other, name)} <= scores.keys()
            ]
            if measure.name == "worst" and len(pairs) == 1:  # the worst of one annotator is its average
                continue
            both = _both(pairs)
            if not both:
                continue
            ours = [measure.summarise([mine for mine, _ in found]) for found in both.values()]
            theirs = [measure.summarise([its for _, its in found]) for found in both.values()]
            test = paired_test(ours, theirs, [originals.get(key, key) for key in both], options.confidence_level)
            place = (runs[0].track.dataset, model, other, measure.name, measure.family)
            records.append(Comparison(*place, len(ours), _mean(ours), _mean(theirs), test))
    return records


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
    found = [Measure("clean", "", (clean.track.track,), _mean)] if clean else []
    for family, names in families.items():
        found += [Measure("average", family, tuple(names), _mean), Measure("worst", family, tuple(names), min)]
    return found


def _both(pairs: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]) -> dict[str, list[tuple[float, float]]]:
    """Return, for each example, the scores of the tracks that both models have it on."""
    keys = dict.fromkeys(key for pair in pairs for key in pair[0])
    found = {key: [(mine[key], its[key]) for mine, its in pairs if key in mine and key in its] for key in keys}
    return {key: scores for key, scores in found.items() if scores}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
