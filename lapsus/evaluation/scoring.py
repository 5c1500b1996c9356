"""Give the rows of tracks the scores of scorers: of a run, or of files of predictions.

The first scorer decides the column `score`; `scores` has the numbers of all, by the name of each scorer, and
`score_reason` says why an answer got none, or none of its points.

>>> rows = [{"id": "a", "prediction": "It is Paris.", "gold": "Paris"}]
>>> (track,) = score_tracks([Track("bert", "clean", rows)], ["contains", "exact"])
>>> track.rows[0]["score"], track.rows[0]["scores"]
(1.0, {'contains': 1.0, 'exact': 0.0})
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

from lapsus.core.messages import format_list
from lapsus.core.track_names import CLEAN
from lapsus.core.types import Row, Track
from lapsus.evaluation.parsing import list_golds
from lapsus.evaluation.scorers import (
    Answer,
    AnswerScore,
    FunctionScorer,
    Scorer,
    ScorerOptions,
    check_scores,
    open_scorers,
)

COLUMNS = ("score", "scores", "score_reason")  # what scorers write into a row
ROLES = (*COLUMNS, "gold", "prediction", "response", "error")  # what only the run says
NO_ANSWER = AnswerScore(0.0, "the model gave no answer")
NO_REFERENCE = AnswerScore(None, "the clean text has no answer")


def score_tracks(
    tracks: Sequence[Track],
    scorers: Sequence[str | Scorer],
    options: ScorerOptions | None = None,
    *,
    warn: Callable[[str], object] = warnings.warn,
) -> list[Track]:
    """Return the tracks with the scores of each row.

    Args:
        tracks: The predictions; a row holds `prediction` or `response`, and `gold` where a scorer needs it.
        scorers: Words such as `f1`, or scorers; the first decides `score`.
        options: What scorers that ask a model need.
        warn: Is told what limits the scores.
    """
    opened = open_scorers(scorers, options)
    if not opened:
        raise ValueError("no scorer is named; name one, such as f1")
    scored: dict[int, Track] = {}
    for key in dict.fromkeys((track.dataset, track.model) for track in tracks):
        group = [place for place, track in enumerate(tracks) if (track.dataset, track.model) == key]
        parts = [tracks[place] for place in group]
        rows = [list(track.rows) for track in parts]
        results = {scorer.name: _score_rows(scorer, parts, rows, warn) for scorer in opened}
        for number, place in enumerate(group):
            columns = {name: values[number] for name, values in results.items()}
            scored[place] = replace(tracks[place], rows=_write_scores(rows[number], columns))
    return [scored[place] for place in range(len(tracks))]


def add_columns(row: Row, columns: Row) -> dict[str, Any]:
    """Return a row of predictions with the columns of the data; its gold answer is that of the task, or none.

    >>> add_columns({"id": "a", "prediction": "x"}, {"id": "a", "gold": "y", "topic": "z"})
    {'id': 'a', 'topic': 'z', 'prediction': 'x'}
    """
    return {**{name: value for name, value in columns.items() if name not in ROLES}, **row}


def copy_scores(row: Row, scored: Row) -> dict[str, Any]:
    """Return a row with the scores of another one.

    >>> copy_scores({"id": "a", "score": None}, {"score": 1.0, "scores": {"f1": 1.0}, "score_reason": None})
    {'id': 'a', 'score': 1.0, 'scores': {'f1': 1.0}, 'score_reason': None}
    """
    return {**row, **{name: scored[name] for name in COLUMNS}}


def make_column_scorer(column: str) -> Scorer:
    """Return a scorer whose scores stand in a column."""

    def rate(answer: Answer) -> AnswerScore:
        value = answer.row.get(column)
        return AnswerScore(value, "" if value is not None else f"column {column} is empty")

    return FunctionScorer(column, rate, reference="either")


def _write_scores(rows: Sequence[Row], columns: Mapping[str, Sequence[AnswerScore]]) -> list[dict[str, Any]]:
    """Return rows with the scores of each scorer, the first of which is the score of the row."""
    first = next(iter(columns.values()))
    return [
        {
            **{name: value for name, value in row.items() if name not in COLUMNS},
            "score": first[place].value,
            "scores": {
                name: value
                for scorer, scores in columns.items()
                for name, value in ((scorer, scores[place].value), *scores[place].parts.items())
            },
            "score_reason": first[place].reason or None,
        }
        for place, row in enumerate(rows)
    ]


def _score_rows(
    scorer: Scorer, tracks: Sequence[Track], rows: Sequence[Sequence[Row]], warn: Callable[[str], object]
) -> list[list[AnswerScore]]:
    """Return the scores of a model's rows on each track; the scorer sees all of them at once."""
    needs_clean = scorer.reference == "clean" or (
        scorer.reference == "either" and not any(row.get("gold") is not None for part in rows for row in part)
    )
    if scorer.reference == "gold":
        _check_golds(scorer, tracks, rows)
    references = _collect_clean_answers(scorer, tracks, rows, warn) if needs_clean else {}
    answers: list[Answer] = []
    scores: list[list[AnswerScore]] = [[NO_ANSWER] * len(part) for part in rows]
    places: list[tuple[int, int]] = []
    for number, (track, part) in enumerate(zip(tracks, rows, strict=True)):
        for place, row in enumerate(part):
            gold = _select_references(references, track.track, str(row["id"])) if needs_clean else row.get("gold")
            prediction = read_prediction(row)
            if needs_clean and not gold:
                scores[number][place] = NO_REFERENCE
            elif prediction is not None:
                answers.append(Answer(prediction, gold, row, "clean" if needs_clean else "gold"))
                places.append((number, place))
    on_clean = [answer for answer, (number, _) in zip(answers, places, strict=True) if tracks[number].family in CLEAN]
    prepared = scorer.fit(on_clean or answers)
    new_scores = check_scores(scorer.name, answers, prepared.score(answers) if answers else ())
    for (number, place), score in zip(places, new_scores, strict=True):
        scores[number][place] = score
    return scores


def read_prediction(row: Row) -> Any | None:
    """Return what a model answered, as it came; None where there is no answer.

    >>> read_prediction({"response": "It is B.", "prediction": "B"}), read_prediction({"prediction": "B"})
    ('It is B.', 'B')
    """
    if row.get("error"):
        return None
    value = row.get("response")
    value = row.get("prediction") if value is None else value
    is_blank = (isinstance(value, str) and not value.strip()) or (isinstance(value, float) and isnan(value))
    return None if is_blank else value


def _check_golds(scorer: Scorer, tracks: Sequence[Track], rows: Sequence[Sequence[Row]]) -> None:
    """Raise where a row has no gold answer to compare with."""
    for track, part in zip(tracks, rows, strict=True):
        missing = [str(row["id"]) for row in part if not list_golds(row.get("gold")) and row.get("gold") != []]
        if missing:
            raise ValueError(
                f"{track.model} on {track.track}: {len(missing)} rows have no gold answer to compare with, as "
                f"{scorer.name} does (id {format_list(missing, 3)}); name its column with --gold, or take --score "
                "consistency, which needs none"
            )


def _collect_clean_answers(
    scorer: Scorer, tracks: Sequence[Track], rows: Sequence[Sequence[Row]], warn: Callable[[str], object]
) -> dict[str, dict[str, Any]]:
    """Return the answers to the clean texts: by id, and then by track."""
    clean = [(track, part) for track, part in zip(tracks, rows, strict=True) if track.family in CLEAN]
    if not clean:
        raise ValueError(
            f"{tracks[0].model}: {scorer.name} compares with the answers to the clean texts, and there is no track "
            f"clean among {format_list(track.track for track in tracks)}; add its file"
        )
    if len(clean) == 1 and scorer.reference == "clean":
        warn(
            f"{tracks[0].model}: {scorer.name} has no floor, as the clean texts were answered once: a model that does "
            "not answer a text twice in the same way looks worse here; add --repeats 3 to the run"
        )
    answers: dict[str, dict[str, Any]] = {}
    for track, part in clean:
        for row in part:
            if (prediction := read_prediction(row)) is not None:
                answers.setdefault(str(row["id"]), {})[track.track] = prediction
    return answers


def _select_references(answers: Mapping[str, Mapping[str, Any]], track: str, row_id: str) -> list[Any]:
    """Return the answers to the clean text that an answer is compared with: those of other repeats, if it is one."""
    by_track = answers.get(row_id, {})
    others = [answer for name, answer in by_track.items() if name != track]
    return others if others or track not in by_track else [by_track[track]]
