"""A metric of texts on sentences in two dialects, with another meaning, and translated: the scores of each condition.

>>> from lapsus.models.text_metrics import open_metric
>>> row = {"id": "1", "base": "the tram", "dialect": "the streetcar", "perturbed": "the train", "source": "o bonde"}
>>> scored = score(open_metric("chrf"), Sentences("dialect-en", ("en-US", "en-IN"), [row]))
>>> {name: round(values[0]) for name, values in scored.conditions.items()}
{'dialect': 25, 'perturbed': 70}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lapsus.kernel.names import shown
from lapsus.models.tagged_inputs import tag
from lapsus.models.text_metrics import TextMetric
from lapsus.results.dialect_tables import Scores
from lapsus.results.predictions import read
from lapsus.running.data import open_dataset
from lapsus.running.kinds import Similarity
from lapsus.running.tasks import Task, tasks

TRANSLATED = "translated"


@dataclass(frozen=True, slots=True)
class Sentences:
    """Rows of `base`, `dialect`, `perturbed`, `source` and `translated` if any; the tags of both dialects."""

    name: str
    tags: tuple[str, str]
    rows: Sequence[Mapping[str, Any]] = field(repr=False)
    said: tuple[str, ...] = ()

    def translated(self, path: Path) -> Sentences:
        """Return those rows that a file translates: `id` and `prediction`, as `lapsus run` writes, or `translation`."""
        rows = read(path).rows
        column = next((name for name in ("prediction", "translation") if rows and name in rows[0]), None)
        if column is None or "id" not in rows[0]:
            raise LookupError(f"{path} has {shown(rows[0] if rows else ())}; give rows of id and prediction")
        known = {str(row["id"]): row[column] for row in rows if row[column]}
        kept = [{**row, TRANSLATED: known[row["id"]]} for row in self.rows if row["id"] in known]
        if not kept:
            raise LookupError(f"{path} shares no id with {self.name} ({shown([row['id'] for row in self.rows], 2)})")
        left = len(self.rows) - len(kept)
        return replace(
            self, rows=kept, said=(*self.said, *((f"{left} sentences have no translation",) if left else ()))
        )

    def limited(self, limit: int | None) -> Sentences:
        """Return the first so many rows."""
        return replace(self, rows=self.rows[:limit])


def dialect_tasks() -> dict[str, Task]:
    """Return the tasks that are about dialects."""
    return {name: task for name, task in tasks().items() if isinstance(task.kind, Similarity)}


def open_sentences(place: str, task: Task, split: str | None = None) -> Sentences:
    """Return the sentences of a built dataset, or of one on the Hub."""
    if not isinstance(task.kind, Similarity):
        raise TypeError(f"{task.name} is not about dialects; choose one of {shown(dialect_tasks())}")
    data = open_dataset(place, task, split=split)
    return Sentences(task.name, task.kind.tags, data.tracks["dialect"], data.said)


def score(metric: TextMetric, sentences: Sentences, *, references: bool = True, sources: bool = False) -> Scores:
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
    english = [row["source"] for row in rows] if sources else None
    general = [tag(sentences.tags[0].partition("-")[0])] * len(rows)

    def rated(column: str, beside: str, tags: Sequence[str]) -> list[float]:
        given = [row[beside] for row in rows] if references else None
        return metric.score([row[column] for row in rows], given, english, tags)

    names = [
        *(() if references else ("base",)),
        "dialect",
        "perturbed",
        *((TRANSLATED,) if TRANSLATED in rows[0] else ()),
    ]
    conditions = {name: rated(name, "base", general) for name in names}
    return Scores(
        metric.name, sentences.name, [row["id"] for row in rows], conditions, _aware(metric, sentences, rated)
    )


def _aware(metric: TextMetric, sentences: Sentences, rated: Any) -> dict[tuple[str, str], list[float]]:
    """Return the scores of both dialects with both tags, beside the translation or, without one, the other dialect."""
    if "tags" not in (*metric.needs, *metric.takes):
        return {}
    made = {}
    sides = zip(sentences.tags, ("base", "dialect"), ("dialect", "base"), strict=True)
    for own, column, other in sides:
        beside = TRANSLATED if TRANSLATED in sentences.rows[0] else other
        for told in sentences.tags:
            made[own, told] = rated(column, beside, [told] * len(sentences.rows))
    return made
