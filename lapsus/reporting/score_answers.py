"""`lapsus score` with a scorer: the mean score of the answers in a file, and how their ids joined.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder) / "p.jsonl"
...     _ = path.write_text('{"id": 1, "prediction": "It is Paris.", "gold": "Paris"}')
...     score_answers("contains", [path])["contains"]
1.0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lapsus import stats
from lapsus.core.messages import format_unknown_name
from lapsus.core.types import Track
from lapsus.evaluation.scorers import ScorerOptions, load_scorer_providers, open_scorer
from lapsus.evaluation.scoring import score_tracks
from lapsus.io.join import ROLES, find_first, join_references
from lapsus.io.predictions import format_quoted, read_predictions, read_references
from lapsus.io.tables import Table, to_list
from lapsus.reporting.analysis.scorers import HUMAN_COLUMN, compare_with_people, is_number

OPTIONS = ("predictions", "references")  # names of columns
MAX_IDS = 10


def is_scorer(name: str) -> bool:
    """Return whether a word names a scorer.

    >>> is_scorer("similarity:minilm"), is_scorer("win_rate")
    (True, False)
    """
    return name.partition(":")[0] in load_scorer_providers()


def score_answers(
    name: str,
    predictions: Sequence[Path],
    references: Any = None,
    options: Mapping[str, str] | None = None,
    *,
    where: Mapping[str, str] | None = None,
    scorer_options: ScorerOptions | None = None,
) -> dict[str, Any]:
    """Return the mean score of a file of answers, with its interval.

    `references` hold the gold answers; for a scorer that compares with the answers to clean texts, these answers.
    `options` name the columns: `predictions=output`, `references=answer`. Where rows hold `human_score`, the agreement
    with people is beside.
    """
    columns = dict(options or {})
    if unknown := [option for option in columns if option not in OPTIONS]:
        raise LookupError(f"{name}: {format_unknown_name('option', unknown[0], OPTIONS)}")
    if len(predictions) != 1:
        raise ValueError(f"{name} takes one file of predictions, not {len(predictions)}; score them one by one.")
    scorer = open_scorer(name, scorer_options)
    file = read_predictions(predictions[0], where=where)
    tracks = []
    if scorer.reference == "clean":
        if references is None:
            raise ValueError(f"{name} compares with the answers to clean texts; give their file with --references.")
        clean = read_references(references, where)
        tracks.append(Track(predictions[0].stem, "clean", _make_rows(clean.table, columns, clean.path)))
        table, unmatched = file.table, {}
    else:
        data = None if references is None else read_references(references, where)
        joined = join_references(file, data, gold=columns.get("references"))
        table = joined.table
        if joined.gold is not None:
            table = table.with_columns({"gold": joined.gold.values})
        unmatched = {"not_in_references": joined.unmatched, "not_predicted": joined.missing}
    tracks.append(Track(predictions[0].stem, "noisy", _make_rows(table, columns, file.path)))
    rows = score_tracks(tracks, [scorer], warn=lambda _: None)[-1].rows
    not_joined = {why: {"count": len(ids), "ids": list(ids[:MAX_IDS])} for why, ids in unmatched.items() if ids}
    return {**_summarize(scorer.name, rows), "join": {"examples": len(rows), **not_joined}}


def _make_rows(table: Table, columns: Mapping[str, str], path: Path) -> list[dict[str, Any]]:
    """Return rows with a prediction under that name."""
    name = columns.get("predictions") or find_first(("response", *ROLES["prediction"]), table.columns)
    if name is None or name not in table.columns:
        raise LookupError(
            f"{path}: has no column {name or 'of predictions'}; it has {format_quoted(table.columns)}: "
            "name one with --option predictions=COLUMN."
        )
    kept = {key: column for key, column in table.columns.items() if key != "response"}
    rows = replace(table, columns={**kept, "prediction": to_list(table.columns[name])}).to_rows()
    return [{**row, "id": row.get("id", place)} for place, row in enumerate(rows)]


def _summarize(name: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the mean of each score of the rows, with its interval, and the agreement with people."""
    result: dict[str, Any] = {}
    for part in dict.fromkeys(part for row in rows for part in row["scores"]):
        values = [row["scores"][part] for row in rows if row["scores"].get(part) is not None]
        average = stats.estimate_average(np.array(values, float)) if values else None
        result |= {part: None if average is None else average.mean}
        result |= {f"{part}_ci": None if average is None else average.interval}
    pairs = [
        (row["score"], float(row[HUMAN_COLUMN]))
        for row in rows
        if row["score"] is not None and is_number(row.get(HUMAN_COLUMN))
    ]
    if pairs:
        alpha, difference = compare_with_people(pairs)
        result["people"] = {"alpha": alpha, "difference": difference.value, "difference_ci": difference.interval}
        result["people"] |= {"examples": len(pairs)}
    return {"scorer": name, **result, "examples": len(rows), "unscored": sum(row["score"] is None for row in rows)}
