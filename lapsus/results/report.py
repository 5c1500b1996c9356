"""What noise costs each model, in numbers: tables of flat records, from which the page, the JSON and the CSV are made.

>>> clean = Track("bert", "clean", [{"id": "a", "score": 1}, {"id": "b", "score": 1}])
>>> noisy = Track("bert", "keyboard.1", [{"id": "a", "score": 0}, {"id": "b", "score": 1}])
>>> numbers = measure([clean, noisy])
>>> [(row["clean_average"], row["micro_average"], row["micro_drop"]) for row in numbers["summary"]]
[(1.0, 0.5, 0.5)]
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.kernel import statistics
from lapsus.kernel.atomic import staged_folder
from lapsus.metrics.micro_worst_average.score import micro_worst_average
from lapsus.metrics.prediction_consistency.score import prediction_consistency
from lapsus.results.predictions import few, label
from lapsus.results.tracks import CLEAN, Track

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Record = dict[str, Any]
Numbers = dict[str, Any]

NOISE_STEPS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, math.inf)  # a class of noise rates ends at each of these
MOST_GROUPS = 50
MOST_LABELS = 8  # beyond this a matrix of labels is no longer readable; right and wrong are
MOST_EXAMPLES = 12


@dataclass(frozen=True, slots=True)
class Options:
    """How the numbers are made."""

    by: tuple[str, ...] = ()
    confidence_level: float = 0.95
    n_resamples: int = 10_000
    seed: int = 0
    progress: Callable[[list[str]], Iterable[str]] = iter  # wraps the models of each dataset, as tqdm would

    @property
    def resampling(self) -> dict[str, Any]:
        """The options that intervals of averages need."""
        return {"confidence_level": self.confidence_level, "n_resamples": self.n_resamples, "seed": self.seed}


@dataclass(frozen=True, slots=True)
class Run:
    """A track whose rows are found by id; `scores` holds those that have one."""

    track: Track
    rows: Mapping[str, Mapping[str, Any]] = field(repr=False)
    scores: Mapping[str, float] = field(repr=False)

    def noise_rates(self) -> dict[str, float]:
        """Return the noise rate of each row that states it, or its noisy and clean text."""
        rates = {key: float(row["noise_rate"]) for key, row in self.rows.items() if row.get("noise_rate") is not None}
        return {**_edit_rates(self.rows), **rates}


def report(
    tracks: Sequence[Track],
    out: Path,
    *,
    by: Iterable[str] = (),
    title: str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
    progress: Callable[[list[str]], Iterable[str]] = iter,
) -> Path:
    """Write the page, the JSON and the CSV of what noise costs, into the folder `out`; return the page.

    Tracks of one model and dataset are compared with its track `clean` (or `original`); `keyboard.1` and `keyboard.2`
    are two annotators of one family. `by` names columns to break the averages down by; without it, that is the gold
    label where there are few. The folder appears when it is complete; an older report in it is replaced. `progress`
    wraps the models of each dataset, as `tqdm` would.
    """
    from lapsus.results.page import page

    options = Options(tuple(by), confidence_level, n_resamples, seed, progress)
    numbers = measure(tracks, options)
    with staged_folder(out, ours=is_report, what="report") as draft:
        (draft / "index.html").write_text(page(numbers, title=title), encoding="utf-8")
        (draft / "report.json").write_text(json.dumps(numbers, ensure_ascii=False, indent=1), encoding="utf-8")
        for name, records in numbers.items():
            if isinstance(records, list) and records:
                _write_csv(draft / f"{name}.csv", records)
    return out / "index.html"


def is_report(folder: Path) -> bool:
    """Tell whether a report was written to the folder."""
    return (folder / "report.json").is_file()


def _write_csv(path: Path, records: Sequence[Record]) -> None:
    columns = list(dict.fromkeys(name for record in records for name in record))
    with path.open("w", encoding="utf-8-sig", newline="") as file:  # the mark lets spreadsheets read Chinese
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for record in records:
            writer.writerow(
                {
                    name: " ".join(map(str, value)) if isinstance(value, list) else value
                    for name, value in record.items()
                }
            )


def measure(tracks: Sequence[Track], options: Options | None = None) -> Numbers:
    """Return every number of the report as lists of flat records.

    Rates are fractions; an interval is a pair of columns ending in `_low` and `_high`.
    """
    options = options or Options()
    runs = [_run(track) for track in tracks]
    if not runs:
        raise ValueError("There are no tracks to report on; give at least one file of predictions.")
    places = [(run.track.dataset, run.track.model, run.track.track) for run in runs]
    if len(set(places)) < len(places):
        dataset, model, name = next(place for place in places if places.count(place) > 1)
        raise ValueError(f"Track {name!r} of model {model!r} is given twice{f' on {dataset}' if dataset else ''}.")
    numbers: Numbers = {
        "lapsus": version("lapsus"),
        "settings": {**options.resampling, "by": list(options.by), "clusters": any(map(_clustered, runs))},
        **{name: [] for name in ("summary", "tracks", "comparisons", "transitions", "noise", "breakdowns", "joins")},
        "examples": [],
    }
    for dataset in dict.fromkeys(run.track.dataset for run in runs):
        there = [run for run in runs if run.track.dataset == dataset]
        for name, records in _dataset(there, options).items():
            numbers[name] += [{"dataset": dataset, **record} for record in records]
    return numbers


def _dataset(runs: Sequence[Run], options: Options) -> dict[str, list[Record]]:
    """Return the records of all models on one dataset."""
    found: dict[str, list[Record]] = {}
    by = _columns(runs, options)
    models = list(dict.fromkeys(run.track.model for run in runs))
    for model in options.progress(models):
        mine = [run for run in runs if run.track.model == model]
        clean = next((run for run in mine if run.track.track in CLEAN), None)
        noisy = [run for run in mine if run is not clean]
        per_track = [_track(run, clean, options) for run in mine]
        found.setdefault("tracks", []).extend({"model": model, **record} for record in per_track)
        for family in dict.fromkeys(run.track.family for run in noisy):
            members = [run for run in noisy if run.track.family == family]
            for name, records in _family(members, clean, by, options).items():
                found.setdefault(name, []).extend({"model": model, "family": family, **record} for record in records)
        found.setdefault("joins", []).extend(_joins(mine, clean, runs))
    _correct([record for record in found["tracks"] if "p_value" in record])
    found["comparisons"] = _comparisons(runs, models, options)
    found["examples"] = _examples(runs, models)
    return found


def _run(track: Track) -> Run:
    rows: dict[str, Mapping[str, Any]] = {}
    for number, row in enumerate(track.rows, 1):
        if row.get("id") is None:
            raise ValueError(f"{_place(track)}, row {number}: has no 'id'; give every row the id of its example.")
        key = str(row["id"])
        if key in rows:
            raise ValueError(f"{_place(track)}, row {number}: id {key!r} occurs a second time; keep one of them.")
        rows[key] = row
    scores = {key: value for key, row in rows.items() if (value := _score(track, key, row)) is not None}
    if not scores:
        raise ValueError(
            f"{_place(track)}: none of its {len(rows)} rows has a score; give predictions that were scored."
        )
    return Run(track, rows, scores)


def _clustered(run: Run) -> bool:
    """Say whether several rows share an original."""
    clusters = [label(row["cluster"]) for row in run.rows.values() if row.get("cluster") is not None]
    return len(set(clusters)) < len(clusters)


def _place(track: Track) -> str:
    return " / ".join(filter(None, (track.dataset, track.model, track.track)))


def _score(track: Track, key: str, row: Mapping[str, Any]) -> float | None:
    """Return the score of a row, which is whether its prediction is the gold answer unless it says otherwise."""
    if "score" not in row:
        if "gold" not in row or "prediction" not in row:
            raise ValueError(f"{_place(track)}, id {key!r}: has neither a score nor a prediction with its gold answer.")
        return None if row["prediction"] is None else float(label(row["prediction"]) == label(row["gold"]))
    score = row["score"]
    if score is None:
        return None
    if not isinstance(score, int | float | np.number) or not 0 <= score <= 1:  # a NaN is not between them either
        raise ValueError(f"{_place(track)}, id {key!r}: the score is {score!r}; give a number from 0 to 1.")
    return float(score)


def _columns(runs: Sequence[Run], options: Options) -> dict[str, dict[str, str]]:
    """Return, for each column to break down by, the value of every id."""
    chosen: dict[str, dict[str, str]] = {}
    for column in options.by or ("gold",):
        values: dict[str, str] = {}
        for run in runs:
            for key, row in run.rows.items():
                if row.get(column) is not None:
                    values.setdefault(key, label(row[column]))
        groups = len(set(values.values()))
        if options.by and not values:
            held = sorted({name for run in runs for row in run.rows.values() for name in row})
            raise LookupError(f"There is no column {column!r} to break down by; the tracks have {few(held)}.")
        if options.by and groups > MOST_GROUPS:
            raise ValueError(f"Column {column!r} has {groups} values; break down by one with at most {MOST_GROUPS}.")
        if options.by or 2 <= groups <= MOST_LABELS:
            chosen[column] = values
    return chosen


def _between(name: str, result: Mapping[str, Any]) -> Record:
    """Return a result and its interval as three columns."""
    low, high = result[f"{name}_ci"] or (None, None)
    return {name: result[name], f"{name}_low": low, f"{name}_high": high}


def _track(run: Run, clean: Run | None, options: Options) -> Record:
    """Return the record of one track: its average, and how it differs from clean."""
    average = micro_worst_average([[score] for score in run.scores.values()], **options.resampling)
    rates = run.noise_rates()
    record: Record = {
        "track": run.track.track,
        "family": run.track.family,
        "annotator": run.track.annotator,
        "clean": run.track.track in CLEAN,
        "examples": average["examples"],
        "average": average["micro_average"],
        "average_low": (average["micro_average_ci"] or (None, None))[0],
        "average_high": (average["micro_average_ci"] or (None, None))[1],
        "noise_rate": sum(rates.values()) / len(rates) if rates else None,
    }
    if clean is None or run is clean:
        return record
    both = [key for key in run.scores if key in clean.scores]
    _agree_on_gold(run, clean, both)
    pair = [run.scores[key] for key in both], [clean.scores[key] for key in both]
    originals = [label(clean.rows[key].get("cluster", key)) for key in both]
    return {**record, "compared": len(both), **_changes([(clean, run)], options), **_paired(*pair, originals, options)}


def _agree_on_gold(run: Run, clean: Run, keys: Sequence[str]) -> None:
    """Refuse to compare two tracks whose right answers are not the same."""
    golds = ((key, run.rows[key].get("gold"), clean.rows[key].get("gold")) for key in keys)
    apart = [(key, mine, its) for key, mine, its in golds if None not in (mine, its) and label(mine) != label(its)]
    if apart:
        key, mine, its = apart[0]
        raise ValueError(
            f"{run.track.model}: the right answer of id {key!r} is {mine!r} on {run.track.track} and {its!r} on "
            f"{clean.track.track} ({len(apart)} ids differ); give both tracks the same data"
        )


def _paired(ours: Sequence[float], theirs: Sequence[float], originals: Sequence[str], options: Options) -> Record:
    """Return the mean difference of two scores of the same examples, with its interval and test.

    Where examples share an original, it is the originals that count.
    """
    from scipy import stats

    if len(ours) < 2:
        return {"difference": None, "difference_low": None, "difference_high": None, "test": None, "p_value": None}
    first, second = np.array(ours), np.array(theirs)
    difference = first - second
    low = high = p_value = None
    _, own, sizes = np.unique(np.array(originals), return_inverse=True, return_counts=True)
    if len(sizes) < len(difference):
        sums = np.bincount(own, difference).astype(float)
        interval, p_value = statistics.clustered_mean(sums, sizes, options.confidence_level)
        low, high = interval or (None, None)
        return _tested(difference, low, high, "t over originals", p_value)
    if np.ptp(difference) > 1e-12:  # else they differ by rounding alone
        result = stats.ttest_rel(first, second)
        interval = result.confidence_interval(options.confidence_level)
        low, high, p_value = float(interval.low), float(interval.high), float(result.pvalue)
    elif abs(difference[0]) <= 1e-12:
        low = high = 0.0
        p_value = 1.0
    test = "paired t"
    if set(first) | set(second) <= {0.0, 1.0}:
        test, p_value = "McNemar, exact", statistics.mcnemar(int((difference > 0).sum()), int((difference < 0).sum()))
    return _tested(difference, low, high, test, p_value)


def _tested(difference: Any, low: float | None, high: float | None, test: str, p_value: float | None) -> Record:
    return {
        "difference": float(difference.mean()),
        "difference_low": low,
        "difference_high": high,
        "test": test,
        "p_value": p_value,
    }


def _correct(records: Sequence[Record]) -> None:
    """Add Holm's correction for the number of tests; a test that could not be made still counts as one."""
    corrected = statistics.holm([1.0 if record["p_value"] is None else record["p_value"] for record in records])
    for record, p_value in zip(records, corrected, strict=True):
        record["p_holm"] = None if record["p_value"] is None else p_value


def _changes(pairs: Sequence[tuple[Run, Run]], options: Options) -> Record:
    """Return how many predictions differ between clean and noisy; None where the rows do not tell.

    Answers that were both right count as the same, however they were worded.
    """
    cases = [(clean, noisy, key) for clean, noisy in pairs for key in noisy.scores if key in clean.scores]
    unknown = {"changed": None, "changed_rate": None, "changed_rate_low": None, "changed_rate_high": None}
    if not cases:
        return unknown
    graded = all(run.scores[key] in {0.0, 1.0} for clean, noisy, key in cases for run in (clean, noisy))
    worded = all(run.rows[key].get("prediction") is not None for clean, noisy, key in cases for run in (clean, noisy))
    if not graded and not worded:
        return unknown

    def answer(run: Run, key: str) -> str:
        right = graded and run.scores[key] == 1
        return "right" if right else f"wrong {label(run.rows[key]['prediction']) if worded else ''}"

    result = prediction_consistency(
        [answer(noisy, key) for _, noisy, key in cases],
        ["right"] * len(cases),
        [answer(clean, key) for clean, _, key in cases],
        clusters=[label(clean.rows[key].get("cluster", key)) for clean, _, key in cases],
        confidence_level=options.confidence_level,
    )
    repeated = len({label(clean.rows[key].get("cluster", key)) for clean, _, key in cases}) < len(cases)
    low, high = result["changed_rate_cluster_ci" if repeated else "changed_rate_ci"] or (None, None)
    changes = {"changed": result["changed"], "changed_rate": result["changed_rate"]}
    changes |= {"changed_rate_low": low, "changed_rate_high": high}
    return {**changes, **result["transitions"]} if graded else changes


def _family(
    members: Sequence[Run], clean: Run | None, by: Mapping[str, Mapping[str, str]], options: Options
) -> dict[str, list[Record]]:
    """Return the records of the annotators of one family, taken together."""
    every = dict.fromkeys(key for run in members for key in run.scores)
    keys = [key for key in every if clean is None or key in clean.scores]
    if not keys:
        return {}
    table = [[run.scores.get(key) for run in members] for key in keys]
    clean_scores = None if clean is None else [clean.scores[key] for key in keys]
    groups = {column: [values.get(key, "(none)") for key in keys] for column, values in by.items()}
    result = micro_worst_average(table, clean_scores=clean_scores, groups=groups or None, **options.resampling)
    measures = ("clean_average", "micro_average", "worst_average", "micro_drop", "worst_drop")

    def record(scored: Mapping[str, Any]) -> Record:
        nothing = {name: None for measure in measures for name in (measure, f"{measure}_low", f"{measure}_high")}
        parts = [_between(measure, scored) for measure in measures if measure in scored]
        return {"examples": scored["examples"], **nothing, **{key: part[key] for part in parts for key in part}}

    pairs = [] if clean is None else [(clean, run) for run in members]
    return {
        "summary": [{"annotators": len(members), **record(result), **_changes(pairs, options)}],
        "breakdowns": [
            {"column": column, "value": value, "annotators": len(members), **record(scored)}
            for column, values in result.get("groups", {}).items()
            for value, scored in values.items()
        ],
        "transitions": _transitions(pairs),
        "noise": _noise(members, options),
    }


def _transitions(pairs: Sequence[tuple[Run, Run]]) -> list[Record]:
    """Count which clean prediction became which noisy one: labels where there are few, else right and wrong."""
    cases = [(clean, noisy, key) for clean, noisy in pairs for key in noisy.scores if key in clean.scores]
    predicted = [(clean.rows[key].get("prediction"), noisy.rows[key].get("prediction")) for clean, noisy, key in cases]
    kinds = {label(answer) for pair in predicted for answer in pair if answer is not None}
    if 2 <= len(kinds) <= MOST_LABELS and all(None not in pair for pair in predicted):
        counts = Counter((label(before), label(after)) for before, after in predicted)
        order: Sequence[str] = sorted(kinds)
    elif cases and {score for clean, noisy, key in cases for score in (clean.scores[key], noisy.scores[key])} <= {
        0.0,
        1.0,
    }:
        names = {1.0: "right", 0.0: "wrong"}
        counts = Counter((names[clean.scores[key]], names[noisy.scores[key]]) for clean, noisy, key in cases)
        order = ("right", "wrong")
    else:
        return []
    return [{"clean": before, "noisy": after, "count": counts[before, after]} for before in order for after in order]


def _edit_rates(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the edits per clean character of each row that has its noisy and its clean text, or lists of both."""
    from rapidfuzz.distance import Levenshtein

    rates: dict[str, float] = {}
    for key, row in rows.items():
        noisy, clean = _texts(row.get("text")), _texts(row.get("clean_text"))
        length = sum(map(len, clean))
        if noisy and length and len(noisy) == len(clean):
            rates[key] = sum(map(Levenshtein.distance, noisy, clean)) / length
    return rates


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _noise(members: Sequence[Run], options: Options) -> list[Record]:
    """Return the average score of the rows in each class of noise rates."""
    rates = [run.noise_rates() for run in members]
    records: list[Record] = []
    for low, high in zip((-math.inf, *NOISE_STEPS), NOISE_STEPS, strict=False):
        table: list[list[float | None]] = []
        inside: list[float] = []
        for key in dict.fromkeys(key for run in members for key in run.scores):
            here = [low < rate.get(key, math.nan) <= high for rate in rates]
            if any(here):
                table.append([run.scores.get(key) if there else None for run, there in zip(members, here, strict=True)])
                inside += [rate[key] for rate, there in zip(rates, here, strict=True) if there]
        scored = [row for row in table if any(score is not None for score in row)]
        if not scored:
            continue
        result = micro_worst_average(scored, **options.resampling)
        ends = result["micro_average_ci"] or (None, None)
        records.append(
            {
                "noise_above": None if math.isinf(low) else low,
                "noise_up_to": None if math.isinf(high) else high,
                "noise_rate": sum(inside) / len(inside),
                "texts": len(inside),
                "examples": result["examples"],
                "average": result["micro_average"],
                "average_low": ends[0],
                "average_high": ends[1],
            }
        )
    return records


def _joins(mine: Sequence[Run], clean: Run | None, everyone: Sequence[Run]) -> list[Record]:
    """Count and name the ids that were left out, and why."""
    records: list[Record] = []

    def left_out(run: Run, why: str, ids: Iterable[str]) -> None:
        named = list(ids)
        if named:
            place = {"model": run.track.model, "track": run.track.track}
            records.append({**place, "problem": why, "count": len(named), "ids": named[:MOST_EXAMPLES]})

    for run in mine:
        others = dict.fromkeys(key for other in everyone if other.track.track == run.track.track for key in other.rows)
        left_out(run, "in the data, but not predicted", run.track.missing)
        left_out(run, "predicted, but not in the data", run.track.unknown)
        left_out(run, "has no score", (key for key in run.rows if key not in run.scores))
        left_out(run, "scored for another model only", (key for key in others if key not in run.rows))
        if clean is not None and run is not clean:
            left_out(run, "has no clean counterpart", (key for key in run.rows if key not in clean.rows))
            left_out(run, "clean only", (key for key in clean.rows if key not in run.rows))
    return records


def _comparisons(runs: Sequence[Run], models: Sequence[str], options: Options) -> list[Record]:
    """Compare every two models on the examples that both have, with the annotators that both have."""
    scores = {(run.track.model, run.track.track): run.scores for run in runs}
    clean_name = next((run.track.track for run in runs if run.track.track in CLEAN), None)
    families: dict[str, list[str]] = {}
    for run in runs:
        if run.track.track not in CLEAN:
            names = families.setdefault(run.track.family, [])
            names += [run.track.track] * (run.track.track not in names)
    measures: list[tuple[str, str, list[str], Callable[[list[float]], float]]] = []
    if clean_name:
        measures.append(("clean", "", [clean_name], _mean))
    for family, names in families.items():
        measures += [("average", family, names, _mean), ("worst", family, names, min)]
    original_of = {
        key: label(row["cluster"]) for run in runs for key, row in run.rows.items() if row.get("cluster") is not None
    }
    records: list[Record] = []
    for model, other in combinations(models, 2):
        for measure, family, names, summarise in measures:
            pairs = [
                (scores[model, name], scores[other, name])
                for name in names
                if {(model, name), (other, name)} <= scores.keys()
            ]
            ours, theirs, originals = [], [], []
            for key in dict.fromkeys(key for pair in pairs for key in pair[0]):
                both = [(mine[key], its[key]) for mine, its in pairs if key in mine and key in its]
                if both:
                    ours.append(summarise([mine for mine, _ in both]))
                    theirs.append(summarise([its for _, its in both]))
                    originals.append(original_of.get(key, key))
            if ours:
                place = {"model": model, "other": other, "measure": measure, "family": family, "examples": len(ours)}
                values = {"model_score": _mean(ours), "other_score": _mean(theirs)}
                records.append({**place, **values, **_paired(ours, theirs, originals, options)})
    _correct(records)
    return records


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _examples(runs: Sequence[Run], models: Sequence[str]) -> list[Record]:
    """Return the noisy texts that cost the most models their clean answer."""
    clean = {run.track.model: run for run in runs if run.track.track in CLEAN}
    lost: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        before = clean.get(run.track.model)
        if before is not None and run is not before:
            for key in run.scores:
                if _texts(run.rows[key].get("text")) and before.scores.get(key, 0) - run.scores[key] >= 0.5:
                    lost.setdefault((key, run.track.track), []).append(run)
    hardest = sorted(lost.items(), key=lambda item: (-len(item[1]), item[0]))
    first = {key: (track, losers) for (key, track), losers in reversed(hardest)}
    records: list[Record] = []
    for key, (track, losers) in sorted(first.items(), key=lambda item: (-len(item[1][1]), item[0]))[:MOST_EXAMPLES]:
        row = losers[0].rows[key]
        said = [
            f"{run.track.model}: {label(run.rows[key]['prediction'])}"
            for run in losers
            if run.rows[key].get("prediction") is not None
        ]
        records.append(
            {
                "id": key,
                "track": track,
                "clean_text": _texts(row.get("clean_text")),
                "text": _texts(row.get("text")),
                "gold": None if row.get("gold") is None else label(row["gold"]),
                "lost": [run.track.model for run in losers],
                "models": len(models),
                "predictions": said,
            }
        )
    return records
