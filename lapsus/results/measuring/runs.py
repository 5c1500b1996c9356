"""Scored tracks side by side: element i of every array belongs to the same example of the dataset.

>>> clean = Track("bert", "clean", [{"id": 7, "prediction": "b", "gold": "b"}])
>>> [run] = runs_of([clean])
>>> run.ids.to_pylist(), run.scores
(['7'], array([1.]))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lapsus.kernel.columns import repeats
from lapsus.results.coding import NONE, Answers, hashed
from lapsus.results.track_names import CLEAN
from lapsus.results.tracks import Track, place_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lapsus.kernel.columns import FloatArray, IntArray
    from lapsus.results.coding import Codes

    Mask = NDArray[np.bool_]


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


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A track over the examples of its dataset, `ids`; `present` says which of them it has.

    `scores` is NaN where there is none. `originals` numbers what each example was made from; None where every example
    is its own. `place` is the row of each example in the track.
    """

    track: Track
    ids: Any = field(repr=False)  # pyarrow.StringArray
    present: Mask = field(repr=False)
    place: IntArray | None = field(repr=False)  # None: the rows are the examples
    scores: FloatArray = field(repr=False)
    originals: IntArray | None = field(repr=False)
    predictions: Answers | None = field(repr=False)
    golds: Answers | None = field(repr=False)
    noise: FloatArray | None = field(repr=False)
    seen: Codes | None = field(repr=False)
    meant: Codes | None = field(repr=False)
    groups: Mapping[str, Answers] = field(repr=False)

    @property
    def is_clean(self) -> bool:
        """Whether the model saw the clean text; `clean.2` is the same text answered a second time."""
        return self.track.family in CLEAN

    @property
    def scored(self) -> Mask:
        """Which examples have a score."""
        return ~np.isnan(self.scores)

    @property
    def clustered(self) -> bool:
        """Whether several rows share an original."""
        if self.originals is None:
            return False
        return repeats(self.originals[self.present])

    def rows(self, examples: Sequence[int] | IntArray) -> list[Mapping[str, Any]]:
        """Return the rows of these examples, all of which are present."""
        return self.track.chosen(self._places(examples).tolist())

    def columns(self, names: Sequence[str], examples: Sequence[int] | IntArray) -> list[list[Any]]:
        """Return columns of the rows of these examples, all of which are present; None where rows lack one."""
        return self.track.values_of(names, self._places(examples))

    @property
    def silent(self) -> Mask:
        """Which examples have no answer."""
        found = np.zeros(len(self.present), bool)
        found[np.flatnonzero(self.present)] = self.track.columns.unparsed[self._places(np.flatnonzero(self.present))]
        return found

    def _places(self, examples: Sequence[int] | IntArray) -> IntArray:
        numbers = np.asarray(examples, np.int64)
        return numbers if self.place is None else self.place[numbers]


def clean_of(runs: Iterable[Run]) -> Run | None:
    """Return the run that noise is compared with: `clean` or `original`, else the first of `clean.1`, `clean.2` etc."""
    clean = [run for run in runs if run.is_clean]
    return next((run for run in clean if run.track.track in CLEAN), clean[0] if clean else None)


def runs_of(tracks: Sequence[Track]) -> list[Run]:
    """Return all tracks over the examples of their datasets; no track may be there twice."""
    if not tracks:
        raise ValueError("There are no tracks to report on; give at least one file of predictions.")
    places = [(track.dataset, track.model, track.track) for track in tracks]
    if len(set(places)) < len(places):
        dataset, model, name = next(place for place in places if places.count(place) > 1)
        raise ValueError(f"Track {name!r} of model {model!r} is given twice{f' on {dataset}' if dataset else ''}.")
    made: dict[int, Run] = {}
    for dataset in dict.fromkeys(track.dataset for track in tracks):
        mine = [number for number, track in enumerate(tracks) if track.dataset == dataset]
        made |= zip(mine, _aligned([tracks[number] for number in mine]), strict=True)
    return [made[number] for number in range(len(tracks))]


def _aligned(tracks: Sequence[Track]) -> list[Run]:
    """Return the tracks of one dataset over all its examples, in the order in which they first appear."""
    for track in tracks:
        if np.isnan(track.columns.scores).all():
            raise ValueError(
                f"{place_of(track)}: none of its {len(track.columns.scores)} rows has a score; fill the column, or"
                " leave it out where each prediction has its gold answer."
            )
    ids, places = _joined([track.columns.ids for track in tracks])
    originals = _originals(ids, tracks, places)
    return [_run(track, ids, rows, originals) for track, rows in zip(tracks, places, strict=True)]


def _joined(parts: Sequence[Any]) -> tuple[Any, list[IntArray | None]]:
    """Return all ids, and where those of each part are among them; None where a part is all of them, in order."""
    every = parts[0]
    found: list[Any] = []
    for part in parts:
        if part is every or part.equals(every):
            found.append(len(every))  # as many as there were: the same, unless others come
            continue
        places = pc.index_in(part, value_set=every)
        if places.null_count:
            every = pa.concat_arrays([every, part.filter(places.is_null())])
            places = pc.index_in(part, value_set=every)
        found.append(np.asarray(places, np.int64))
    size = len(every)
    return every, [None if _is_whole(each, size) else _range(each) for each in found]


def _is_whole(found: Any, size: int) -> bool:
    return isinstance(found, int) and found == size


def _range(found: Any) -> IntArray:
    return np.arange(found) if isinstance(found, int) else found


def _originals(ids: Any, tracks: Sequence[Track], places: Sequence[IntArray | None]) -> IntArray | None:
    """Number what each example was made from, as the first track that names it says; None where no track names any."""
    if all(track.columns.clusters is None for track in tracks):
        return None
    import pandas as pd

    codes = np.full(len(ids), NONE)
    for track, rows in zip(tracks, places, strict=True):
        if track.columns.clusters is not None:
            told = track.columns.clusters.codes
            mine = np.arange(len(ids)) if rows is None else rows
            codes[mine] = np.where(codes[mine] == NONE, told, codes[mine])
    unnamed = codes == NONE
    codes[unnamed] = hashed(ids.filter(pa.array(unnamed)).to_pylist())  # an example without one is its own
    return np.asarray(pd.factorize(codes)[0], np.int64)


def _run(track: Track, ids: Any, rows: IntArray | None, originals: IntArray | None) -> Run:
    columns, size = track.columns, len(ids)
    if rows is None:
        place, present = None, np.ones(size, bool)
    else:
        place = np.full(size, -1)
        place[rows] = np.arange(len(rows))
        present = place >= 0

    def numbers(column: Any, nothing: Any) -> Any:
        if column is None or rows is None:
            return column
        wide = np.full(size, nothing, column.dtype)
        wide[rows] = column
        return wide

    def said(column: Answers | None) -> Answers | None:
        return column if column is None or rows is None else column.at(rows, size)

    return Run(
        track,
        ids,
        present,
        place,
        numbers(columns.scores, np.nan),
        originals,
        said(columns.predictions),
        said(columns.golds),
        numbers(columns.noise, np.nan),
        numbers(columns.seen, 0),
        numbers(columns.meant, 0),
        {name: wide for name, column in (columns.groups or {}).items() if (wide := said(column)) is not None},
    )


def shared(run: Run, clean: Run) -> Mask:
    """Return which examples are scored in both tracks; raise if the right answers of the tracks differ."""
    both = run.scored & clean.scored
    if run.golds is not None and clean.golds is not None:
        mine, its = run.golds.codes, clean.golds.codes
        apart = both & (mine != its) & (mine != NONE) & (its != NONE)
        if apart.any():
            first = int(apart.argmax())
            key = run.ids[first].as_py()
            told, other = (each.rows([first])[0]["gold"] for each in (run, clean))
            raise ValueError(
                f"{run.track.model}: the right answer of id {key!r} is {told!r} on {run.track.track} and {other!r} on "
                f"{clean.track.track} ({int(apart.sum())} ids differ); give both tracks the same data"
            )
    return both


def right_or_wrong(scores: Iterable[FloatArray]) -> bool:
    """Say whether every score is 0 or 1."""
    return all(bool(np.isin(each, (0.0, 1.0)).all()) for each in scores)


def chosen_originals(run: Run, examples: Mask) -> IntArray | None:
    """Return the originals of these examples; None where each is its own."""
    return None if run.originals is None else run.originals[examples]
