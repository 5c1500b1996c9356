"""A scored track: its rows by id, each with its score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lapsus.results.predictions import label
from lapsus.results.track_names import CLEAN
from lapsus.results.tracks import Track, is_unparsed

NO_ANSWER = "(no answer)"  # shown for a missing answer, which counts as wrong


@dataclass(frozen=True, slots=True)
class Options:
    """The options that numbers are computed with."""

    by: tuple[str, ...] = ()
    confidence_level: float = 0.95
    n_resamples: int = 10_000
    seed: int = 0
    progress: Callable[[list[str]], Iterable[str]] = iter  # wraps the iteration over a dataset's models, as tqdm does

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

    @property
    def is_clean(self) -> bool:
        """Whether the model saw the clean text; `clean.2` is the same text answered a second time."""
        return self.track.family in CLEAN

    @property
    def clustered(self) -> bool:
        """Whether several rows share an original."""
        clusters = [label(row["cluster"]) for row in self.rows.values() if row.get("cluster") is not None]
        return len(set(clusters)) < len(clusters)

    def original(self, key: str) -> str:
        """Return the original that the example was made from; examples of one original are not independent."""
        cluster = self.rows[key].get("cluster")
        return key if cluster is None else label(cluster)


Pair = tuple[Run, Run]  # the same model on clean and on noisy text


def clean_of(runs: Iterable[Run]) -> Run | None:
    """Return the run that noise is compared with: `clean` or `original`, else the first of `clean.1`, `clean.2` etc."""
    clean = [run for run in runs if run.is_clean]
    return next((run for run in clean if run.track.track in CLEAN), clean[0] if clean else None)


def run_of(track: Track) -> Run:
    """Score every row of a track; a missing answer is wrong.

    >>> run_of(Track("bert", "clean", [{"id": 7, "prediction": "b", "gold": "b"}])).scores
    {'7': 1.0}
    """
    rows: dict[str, Mapping[str, Any]] = {}
    for number, row in enumerate(track.rows, 1):
        if row.get("id") is None:
            raise ValueError(f"{place_of(track)}, row {number}: has no 'id'; give every row the id of its example.")
        key = str(row["id"])
        if key in rows:
            raise ValueError(f"{place_of(track)}, row {number}: id {key!r} occurs a second time; keep one of them.")
        rows[key] = {**row, "prediction": NO_ANSWER, "score": 0.0} if is_unparsed(row) else row
    scores = {key: value for key, row in rows.items() if (value := _score(track, key, row)) is not None}
    if not scores:
        raise ValueError(
            f"{place_of(track)}: none of its {len(rows)} rows has a score; give predictions that were scored."
        )
    return Run(track, rows, scores)


def place_of(track: Track) -> str:
    """Return the name of a track for an error."""
    return " / ".join(filter(None, (track.dataset, track.model, track.track)))


def _score(track: Track, key: str, row: Mapping[str, Any]) -> float | None:
    """Return the score of a row: its `score` if it has one, else whether its prediction is the gold answer."""
    if "score" not in row:
        if "gold" not in row or "prediction" not in row:
            raise ValueError(
                f"{place_of(track)}, id {key!r}: has neither a score nor a prediction with its gold answer."
            )
        return float(label(row["prediction"]) == label(row["gold"]))
    score = row["score"]
    if score is None:
        return None
    if not isinstance(score, int | float | np.number) or not 0 <= score <= 1:  # also refuses NaN
        raise ValueError(f"{place_of(track)}, id {key!r}: the score is {score!r}; give a number from 0 to 1.")
    return float(score)


def shared_keys(run: Run, clean: Run) -> list[str]:
    """Return the ids scored in both tracks; raise if the right answers of the tracks differ."""
    keys = [key for key in run.scores if key in clean.scores]
    golds = ((key, run.rows[key].get("gold"), clean.rows[key].get("gold")) for key in keys)
    apart = [(key, mine, its) for key, mine, its in golds if None not in (mine, its) and label(mine) != label(its)]
    if apart:
        key, mine, its = apart[0]
        raise ValueError(
            f"{run.track.model}: the right answer of id {key!r} is {mine!r} on {run.track.track} and {its!r} on "
            f"{clean.track.track} ({len(apart)} ids differ); give both tracks the same data"
        )
    return keys


def paired_cases(pairs: Sequence[Pair]) -> list[tuple[Run, Run, str]]:
    """Return the examples that both runs of a pair have scored."""
    return [(clean, noisy, key) for clean, noisy in pairs for key in noisy.scores if key in clean.scores]


def all_right_or_wrong(cases: Iterable[tuple[Run, Run, str]]) -> bool:
    """Say whether every score is 0 or 1."""
    return all(run.scores[key] in {0.0, 1.0} for clean, noisy, key in cases for run in (clean, noisy))


def texts_of(value: Any) -> tuple[str, ...]:
    """Return the texts of a column that holds one, several or none."""
    return (value,) if isinstance(value, str) else tuple(value or ())
