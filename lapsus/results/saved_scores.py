"""The score of every row of a report, saved beside its page; two reports are compared by these."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lapsus.results.measuring.runs import Run
from lapsus.results.tracks import Track

NAME = "scores.parquet"
Place = tuple[str, str, str]  # dataset, model, track


def write_scores(runs: Iterable[Run], folder: Path) -> None:
    """Write the scores of all tracks into a folder, one row each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.dictionary(pa.int32(), pa.string())
    names = {"dataset": text, "model": text, "track": text, "id": pa.string(), "original": pa.string()}
    schema = pa.schema({**names, "score": pa.float64()})
    with pq.ParquetWriter(folder / NAME, schema) as writer:
        for run in runs:
            columns: dict[str, list[Any]] = {
                "dataset": [run.track.dataset] * len(run.scores),
                "model": [run.track.model] * len(run.scores),
                "track": [run.track.track] * len(run.scores),
                "id": list(run.scores),
                "original": [run.original(key) for key in run.scores],
                "score": list(run.scores.values()),
            }
            writer.write_table(pa.table(columns, schema=schema))


def read_scores(folder: Path) -> list[Run]:
    """Return the tracks of a report with their scores, as `write_scores` has left them.

    >>> from tempfile import mkdtemp
    >>> from lapsus.results.measuring.runs import run_of
    >>> from lapsus.results.tracks import Track
    >>> place = Path(mkdtemp())
    >>> write_scores([run_of(Track("bert", "clean", [{"id": "a", "score": 1}], "afqmc"))], place)
    >>> read_scores(place)[0].scores
    {'a': 1.0}
    """
    import pyarrow.parquet as pq

    path = folder / NAME
    if not path.is_file():
        raise FileNotFoundError(f"{folder}: holds no {NAME}; give a folder that `lapsus report` has written.")
    places: dict[Place, dict[str, dict[str, Any]]] = {}
    for row in pq.read_table(path).to_pylist():
        rows = places.setdefault((row["dataset"], row["model"], row["track"]), {})
        rows[row["id"]] = {"id": row["id"], "score": row["score"], "cluster": row["original"]}
    return [
        Run(Track(model, track, list(rows.values()), dataset), rows, {key: row["score"] for key, row in rows.items()})
        for (dataset, model, track), rows in places.items()
    ]
