"""A metric of texts on sentences in two dialects, with another meaning, and translated: the scores of each condition.

>>> from lapsus.evaluation.text_metrics import open_metric
>>> row = {"id": "1", "base": "the tram", "dialect": "the streetcar", "perturbed": "the train", "source": "o bonde"}
>>> scored = score_conditions(open_metric("chrf"), DialectSentences("dialect-en", ("en-US", "en-IN"), [row]))
>>> {name: round(values[0]) for name, values in scored.conditions.items()}
{'dialect': 25, 'perturbed': 70}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lapsus.core.messages import format_list
from lapsus.core.types import ConditionScores, StrPath
from lapsus.evaluation.answer_types import SimilarityAnswer
from lapsus.evaluation.benchmark_tasks import load_tasks
from lapsus.evaluation.tasks import Task
from lapsus.evaluation.text_metrics import TextMetric, format_tag
from lapsus.evaluation.tracks import load_tracks
from lapsus.io.readers import read_rows

TRANSLATED = "translated"


@dataclass(frozen=True, slots=True)
class DialectSentences:
    """Rows of `base`, `dialect`, `perturbed`, `source` and `with_translations` if any; the tags of both dialects."""

    name: str
    tags: tuple[str, str]
    rows: Sequence[Mapping[str, Any]] = field(repr=False)
    notes: tuple[str, ...] = ()

    def with_translations(self, path: StrPath) -> DialectSentences:
        """Return those rows that a file translates: `id` and `prediction`, as `lapsus run` writes, or `translation`."""
        rows = read_rows(Path(path))
        column = next((name for name in ("prediction", "translation") if rows and name in rows[0]), None)
        if column is None or "id" not in rows[0]:
            raise LookupError(f"{path} has {format_list(rows[0] if rows else ())}; give rows of id and prediction")
        translations = {str(row["id"]): row[column] for row in rows if row[column]}
        translated_rows = [
            {**row, TRANSLATED: translations[row["id"]]} for row in self.rows if row["id"] in translations
        ]
        if not translated_rows:
            raise LookupError(
                f"{path} shares no id with {self.name} ({format_list([row['id'] for row in self.rows], 2)})"
            )
        n_missing = len(self.rows) - len(translated_rows)
        return replace(
            self,
            rows=translated_rows,
            notes=(*self.notes, *((f"{n_missing} sentences have no translation",) if n_missing else ())),
        )

    def limit(self, limit: int | None) -> DialectSentences:
        """Return the first so many rows."""
        return replace(self, rows=self.rows[:limit])


def find_dialect_tasks() -> dict[str, Task]:
    """Return the tasks that are about dialects."""
    return {name: task for name, task in load_tasks().items() if isinstance(task.answer_type, SimilarityAnswer)}


def load_sentences(source: str, task: Task, split: str | None = None) -> DialectSentences:
    """Return the sentences of a built dataset, or of one on the Hub."""
    if not isinstance(task.answer_type, SimilarityAnswer):
        raise TypeError(f"{task.name} is not about dialects; choose one of {format_list(find_dialect_tasks())}")
    data = load_tracks(source, task, split=split)
    return DialectSentences(task.name, task.answer_type.tags, data.tracks["dialect"], data.notes)


def score_conditions(
    metric: TextMetric, sentences: DialectSentences, *, references: bool = True, sources: bool = False
) -> ConditionScores:
    """Return the scores of every condition, told the language in general; and those with the tags of both dialects.

    Args:
        metric: The metric under test.
        sentences: What it is tested on.
        references: Whether it reads the base sentence as its reference; if not, the base is a condition too.
        sources: Whether it reads the English sentence that was translated.
    """
    rows = sentences.rows
    if not rows:
        raise ValueError(f"{sentences.name} has no sentence in both dialects with an edit; give other rows")
    if sources and "source" not in rows[0]:
        raise LookupError(f"{sentences.name} has no sources; leave them out, or take dialect-zh or dialect-pt")
    if not (references or sources):
        raise ValueError("a candidate is rated beside a reference or a source; give at least one of them")
    source_texts = [row["source"] for row in rows] if sources else None
    general_tags = [format_tag(sentences.tags[0].partition("-")[0])] * len(rows)

    def rate(column: str, reference_column: str, tags: Sequence[str]) -> list[float]:
        reference_texts = [row[reference_column] for row in rows] if references else None
        return metric.score([row[column] for row in rows], reference_texts, source_texts, tags)

    names = [
        *(() if references else ("base",)),
        "dialect",
        "perturbed",
        *((TRANSLATED,) if TRANSLATED in rows[0] else ()),
    ]
    conditions = {name: rate(name, "base", general_tags) for name in names}
    return ConditionScores(
        metric.name, sentences.name, [row["id"] for row in rows], conditions, _score_tags(metric, sentences, rate)
    )


def _score_tags(metric: TextMetric, sentences: DialectSentences, rate: Any) -> dict[tuple[str, str], list[float]]:
    """Return the scores of both dialects with both tags, beside the translation or, without one, the other dialect."""
    if "tags" not in (*metric.required, *metric.optional):
        return {}
    scores = {}
    sides = zip(sentences.tags, ("base", "dialect"), ("dialect", "base"), strict=True)
    for own_tag, column, other_column in sides:
        reference_column = TRANSLATED if TRANSLATED in sentences.rows[0] else other_column
        for dialect_tag in sentences.tags:
            scores[own_tag, dialect_tag] = rate(column, reference_column, [dialect_tag] * len(sentences.rows))
    return scores
