"""The score of every row of a report, saved beside its page; two reports are compared by these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lapsus.kernel.frames import Frame
from lapsus.results.coding import NONE, Answers
from lapsus.results.track_columns import columns_of
from lapsus.results.tracks import FileRows, Track, place_of

if TYPE_CHECKING:
    from lapsus.kernel.columns import IntArray
    from lapsus.results.coding import Codes
    from lapsus.results.measuring.runs import Run

NAME = "scores.parquet"
PLACE = ("dataset", "model", "track")
HASHES = ("gold", "text")  # of the right answer, and of what the model saw; 0 where rows do not hold it


def write_scores(runs: Iterable[Run], folder: Path) -> None:
    """Write the scores of all tracks into a folder, one row each, with hashes that tell whether data are the same."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.dictionary(pa.int32(), pa.string())
    columns = {**dict.fromkeys(PLACE, text), "id": pa.string(), "original": pa.string(), "score": pa.float64()}
    schema = pa.schema(columns | dict.fromkeys(HASHES, pa.uint64()))
    with pq.ParquetWriter(folder / NAME, schema) as writer:
        for run in runs:
            scored = np.flatnonzero(run.scored)
            ids = run.ids.take(pa.array(scored))
            place = (run.track.dataset, run.track.model, run.track.track)
            named = [pa.DictionaryArray.from_arrays(np.zeros(len(scored), np.int32), [name]) for name in place]
            originals = ids if run.originals is None else run.ids.take(pa.array(_firsts(run.originals)[scored]))
            told = (None if run.golds is None else run.golds.codes, run.seen)
            hashes = [np.zeros(len(scored), np.uint64) if each is None else each[scored] for each in told]
            columns_of_run = [*named, ids, originals, *map(pa.array, (run.scores[scored], *hashes))]
            writer.write_table(pa.Table.from_arrays(columns_of_run, schema=schema))


def _firsts(originals: IntArray) -> IntArray:
    """Return the first example of each example's original, which stands for it."""
    _, first, numbers = np.unique(originals, return_index=True, return_inverse=True)
    return np.asarray(first[numbers], np.int64)


def read_scores(folder: Path) -> list[Track]:
    """Return the tracks of a report with their scores, as `write_scores` has left them.

    >>> from tempfile import mkdtemp
    >>> from lapsus.results.measuring.runs import runs_of
    >>> place = Path(mkdtemp())
    >>> write_scores(runs_of([Track("bert", "clean", [{"id": "a", "score": 1}], "afqmc")]), place)
    >>> read_scores(place)[0].columns.scores
    array([1.])
    """
    import pyarrow.parquet as pq

    path = folder / NAME
    if not path.is_file():
        raise FileNotFoundError(f"{folder}: holds no {NAME}; give a folder that `lapsus report` has written.")
    table = pq.read_table(path).rename_columns({"original": "cluster"}).unify_dictionaries()
    if not table.num_rows:
        return []
    codes = np.stack([np.asarray(table[name].combine_chunks().indices) for name in PLACE])
    places, numbers = np.unique(codes, axis=1, return_inverse=True)
    words = [table[name].chunk(0).dictionary.to_pylist() for name in PLACE]
    _, first = np.unique(numbers, return_index=True)
    tracks = []
    for number in np.argsort(first).tolist():
        mine = table.take(np.flatnonzero(numbers == number))
        frame = Frame({name: mine[name] for name in ("id", "score", "cluster")}, mine.num_rows)
        dataset, model, name = (words[part][code] for part, code in enumerate(places[:, number].tolist()))
        columns = columns_of(frame, place_of(Track(model, name, [], dataset)))
        if set(HASHES) <= set(mine.column_names):  # older reports hold none
            golds, seen = (mine[column].to_numpy() for column in HASHES)
            columns = replace(columns, golds=_answers(golds), seen=seen)
        tracks.append(Track(model, name, FileRows(partial(Frame, frame.columns, frame.length), columns), dataset))
    return tracks


def _answers(hashes: Codes) -> Answers:
    """Return answers of which only the hashes are known."""
    distinct = np.append(np.setdiff1d(hashes, NONE), NONE)
    numbers = np.where(hashes == NONE, len(distinct) - 1, np.searchsorted(distinct[:-1], hashes))
    return Answers(numbers, distinct, {})
