"""Scored tracks side by side: element i of every array belongs to the same example of the dataset.

>>> clean = Track("bert", "clean", [{"id": 7, "prediction": "b", "gold": "b"}])
>>> [run] = align_tracks([clean])
>>> run.ids.to_pylist(), run.scores
(['7'], array([1.]))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lapsus.core.checks import has_repeats
from lapsus.core.track_names import CLEAN
from lapsus.core.types import Track
from lapsus.io.encoding import NO_VALUE, HashedColumn, hash_texts
from lapsus.reporting.analysis.records import UnmatchedIds
from lapsus.reporting.columns import (
    TrackColumns,
    format_track_name,
    get_columns,
    select_rows,
    select_values,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lapsus.core.checks import FloatArray, IntArray
    from lapsus.io.encoding import Codes

    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """The options that numbers are computed with."""

    group_by: tuple[str, ...] = ()
    confidence_level: float = 0.95
    n_resamples: int = 10_000
    seed: int = 0
    progress: Callable[[list[str]], Iterable[str]] = iter  # wraps the iteration over a dataset's models, as tqdm does

    @property
    def resampling(self) -> dict[str, Any]:
        """The options that intervals of averages need."""
        return {"confidence_level": self.confidence_level, "n_resamples": self.n_resamples, "seed": self.seed}


@dataclass(frozen=True, slots=True, eq=False)
class AlignedTrack:
    """A track over the examples of its dataset, `ids`; `present` says which of them it has.

    `scores` is NaN where there is none. `clusters` numbers what each example was made from; None where every example
    is its own. `row_indices` is the row of each example in the track.
    """

    track: Track
    columns: TrackColumns = field(repr=False)  # of the track's own rows
    ids: Any = field(repr=False)  # pyarrow.StringArray
    present: Mask = field(repr=False)
    row_indices: IntArray | None = field(repr=False)  # None: the rows are the examples
    scores: FloatArray = field(repr=False)
    clusters: IntArray | None = field(repr=False)
    predictions: HashedColumn | None = field(repr=False)
    golds: HashedColumn | None = field(repr=False)
    noise: FloatArray | None = field(repr=False)
    text_hashes: Codes | None = field(repr=False)
    clean_text_hashes: Codes | None = field(repr=False)
    groups: Mapping[str, HashedColumn] = field(repr=False)

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
        if self.clusters is None:
            return False
        return has_repeats(self.clusters[self.present])

    def select_rows(self, examples: Sequence[int] | IntArray) -> list[Mapping[str, Any]]:
        """Return the rows of these examples, all of which are present."""
        return select_rows(self.track, self._to_row_indices(examples))

    def select_columns(self, names: Sequence[str], examples: Sequence[int] | IntArray) -> list[list[Any]]:
        """Return columns of the rows of these examples, all of which are present; None where rows lack one."""
        return select_values(self.track, names, self._to_row_indices(examples))

    @property
    def unanswered(self) -> Mask:
        """Which examples have no answer."""
        unanswered = np.zeros(len(self.present), bool)
        unanswered[np.flatnonzero(self.present)] = self.columns.unparsed[
            self._to_row_indices(np.flatnonzero(self.present))
        ]
        return unanswered

    def _to_row_indices(self, examples: Sequence[int] | IntArray) -> IntArray:
        indices = np.asarray(examples, np.int64)
        return indices if self.row_indices is None else self.row_indices[indices]


def find_clean_track(runs: Iterable[AlignedTrack]) -> AlignedTrack | None:
    """Return the run that noise is compared with: `clean` or `original`, else the first of `clean.1`, `clean.2` etc."""
    clean = [run for run in runs if run.is_clean]
    return next((run for run in clean if run.track.track in CLEAN), clean[0] if clean else None)


def align_tracks(tracks: Sequence[Track]) -> list[AlignedTrack]:
    """Return all tracks over the examples of their datasets; no track may be there twice."""
    if not tracks:
        raise ValueError("There are no tracks to report on; give at least one file of predictions.")
    places = [(track.dataset, track.model, track.track) for track in tracks]
    if len(set(places)) < len(places):
        dataset, model, name = next(place for place in places if places.count(place) > 1)
        raise ValueError(f"Track {name!r} of model {model!r} is given twice{f' on {dataset}' if dataset else ''}.")
    runs_by_index: dict[int, AlignedTrack] = {}
    for dataset in dict.fromkeys(track.dataset for track in tracks):
        indices = [number for number, track in enumerate(tracks) if track.dataset == dataset]
        runs_by_index |= zip(indices, _align_dataset([tracks[number] for number in indices]), strict=True)
    return [runs_by_index[number] for number in range(len(tracks))]


def _align_dataset(tracks: Sequence[Track]) -> list[AlignedTrack]:
    """Return the tracks of one dataset over all its examples, in the order in which they first appear."""
    columns = [get_columns(track) for track in tracks]
    for track, part in zip(tracks, columns, strict=True):
        if np.isnan(part.scores).any():  # then no row has one, and some have a prediction
            raise ValueError(
                f"{format_track_name(track)}: none of its {len(part.scores)} rows has a score; fill the column, or"
                " leave it out where each prediction has its gold answer."
            )
    ids, places = _join_ids([part.ids for part in columns])
    clusters = _number_clusters(ids, columns, places)
    return [
        _align_track(track, part, ids, rows, clusters)
        for track, part, rows in zip(tracks, columns, places, strict=True)
    ]


def _join_ids(parts: Sequence[Any]) -> tuple[Any, list[IntArray | None]]:
    """Return all ids, and where those of each part are among them; None where a part is all of them, in order."""
    all_ids = parts[0]
    positions: list[Any] = []
    for part in parts:
        if part is all_ids or part.equals(all_ids):
            positions.append(len(all_ids))  # as many as there were: the same, unless others come
            continue
        indices = pc.index_in(part, value_set=all_ids)
        if indices.null_count:
            all_ids = pa.concat_arrays([all_ids, part.filter(indices.is_null())])
            indices = pc.index_in(part, value_set=all_ids)
        positions.append(np.asarray(indices, np.int64))
    size = len(all_ids)
    return all_ids, [None if _is_identity(position, size) else _to_indices(position) for position in positions]


def _is_identity(positions: Any, size: int) -> bool:
    return isinstance(positions, int) and positions == size


def _to_indices(positions: Any) -> IntArray:
    return np.arange(positions) if isinstance(positions, int) else positions


def _number_clusters(ids: Any, tracks: Sequence[TrackColumns], places: Sequence[IntArray | None]) -> IntArray | None:
    """Number what each example was made from, as the first track that names it says; None where no track names any."""
    if all(track.clusters is None for track in tracks):
        return None
    import pandas as pd

    codes = np.full(len(ids), NO_VALUE)
    for track, rows in zip(tracks, places, strict=True):
        if track.clusters is not None:
            track_clusters = track.clusters.codes
            indices = np.arange(len(ids)) if rows is None else rows
            codes[indices] = np.where(codes[indices] == NO_VALUE, track_clusters, codes[indices])
    unnamed = codes == NO_VALUE
    codes[unnamed] = hash_texts(ids.filter(pa.array(unnamed)).to_pylist())  # an example without one is its own
    return np.asarray(pd.factorize(codes)[0], np.int64)


def _align_track(
    track: Track, columns: TrackColumns, ids: Any, rows: IntArray | None, clusters: IntArray | None
) -> AlignedTrack:
    """Return the columns of a track over all examples, of which its rows are the ones with the numbers `rows`."""
    size = len(ids)
    if rows is None:
        row_indices, present = None, np.ones(size, bool)
    else:
        row_indices = np.full(size, -1)
        row_indices[rows] = np.arange(len(rows))
        present = row_indices >= 0

    def expand_numbers(column: Any, fill_value: Any) -> Any:
        if column is None or rows is None:
            return column
        wide = np.full(size, fill_value, column.dtype)
        wide[rows] = column
        return wide

    def expand_answers(column: HashedColumn | None) -> HashedColumn | None:
        return column if column is None or rows is None else column.scatter(rows, size)

    return AlignedTrack(
        track,
        columns,
        ids,
        present,
        row_indices,
        expand_numbers(columns.scores, np.nan),
        clusters,
        expand_answers(columns.predictions),
        expand_answers(columns.golds),
        expand_numbers(columns.noise, np.nan),
        expand_numbers(columns.text_hashes, 0),
        expand_numbers(columns.clean_text_hashes, 0),
        {name: wide for name, column in (columns.groups or {}).items() if (wide := expand_answers(column)) is not None},
    )


def find_shared_examples(run: AlignedTrack, clean: AlignedTrack) -> Mask:
    """Return which examples are scored in both tracks; raise if the right answers of the tracks differ."""
    examples = run.scored & clean.scored
    if run.golds is not None and clean.golds is not None:
        golds, clean_golds = run.golds.codes, clean.golds.codes
        is_different = examples & (golds != clean_golds) & (golds != NO_VALUE) & (clean_golds != NO_VALUE)
        if is_different.any():
            first = int(is_different.argmax())
            example_id = run.ids[first].as_py()
            gold, clean_gold = (each.select_rows([first])[0]["gold"] for each in (run, clean))
            raise ValueError(
                f"{run.track.model}: the right answer of id {example_id!r} is {gold!r} on {run.track.track} and {clean_gold!r} on "
                f"{clean.track.track} ({int(is_different.sum())} ids differ); give both tracks the same data"
            )
    return examples


def is_binary(scores: Iterable[FloatArray]) -> bool:
    """Say whether every score is 0 or 1."""
    return all(bool(np.isin(each, (0.0, 1.0)).all()) for each in scores)


def select_clusters(run: AlignedTrack, examples: Mask) -> IntArray | None:
    """Return the originals of these examples; None where each is its own."""
    return None if run.clusters is None else run.clusters[examples]


# Whether a model saw on a noisy track the clean text of an example.


def find_unchanged_texts(run: AlignedTrack, clean: AlignedTrack) -> Mask:
    """Return where the texts of a track are those of its clean form, or else those of the clean track."""
    if run.text_hashes is None:
        return np.zeros(len(run.present), bool)
    clean_hashes = np.zeros(len(run.present), np.uint64) if run.clean_text_hashes is None else run.clean_text_hashes
    if clean.text_hashes is not None:
        clean_hashes = np.where(clean_hashes == 0, clean.text_hashes, clean_hashes)
    return np.asarray((run.text_hashes != 0) & (run.text_hashes == clean_hashes))


def to_texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a column that holds one, several or none."""
    return (value,) if isinstance(value, str) else tuple(value or ())


# The ids that were left out, and the reason.


MAX_NAMED = 12


def list_unmatched_ids(
    model_tracks: Sequence[AlignedTrack], clean: AlignedTrack | None, all_tracks: Sequence[AlignedTrack]
) -> list[UnmatchedIds]:
    """Count and name the ids of one model's tracks that were left out."""
    return [
        UnmatchedIds(run.track.dataset, run.track.model, run.track.track, reason, count, ids)
        for run in model_tracks
        for reason, count, ids in _iter_reasons(run, clean, all_tracks)
        if count
    ]


def _iter_reasons(
    run: AlignedTrack, clean: AlignedTrack | None, all_tracks: Sequence[AlignedTrack]
) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    def make_reason(reason: str, examples: Mask) -> tuple[str, int, tuple[str, ...]]:
        first = np.flatnonzero(examples)[:MAX_NAMED]
        return reason, int(examples.sum()), tuple(run.ids[index].as_py() for index in first.tolist())

    missing, unknown = run.track.missing_predictions, run.track.unmatched_predictions
    yield "in the data, but not predicted", len(missing), tuple(missing[:MAX_NAMED])
    yield "predicted, but not in the data", len(unknown), tuple(unknown[:MAX_NAMED])
    present_elsewhere = np.zeros(len(run.present), bool)
    for other in all_tracks:
        if other.track.track == run.track.track:
            present_elsewhere |= other.present
    yield make_reason("scored for another model only", present_elsewhere & ~run.present)
    if clean is not None and run is not clean:
        yield make_reason("has no clean counterpart", run.present & ~clean.present)
        yield make_reason("clean only", clean.present & ~run.present)
