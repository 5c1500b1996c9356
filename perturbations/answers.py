"""SQuAD answers: texts that lie within a noisy column, and move with it.

>>> answers = {"text": ["jazz"], "answer_start": [5]}
>>> move_answers(answers, [Edit(0, 0, "so ")], "so play jazz", [(5, 9)])
{'text': ['jazz'], 'answer_start': [8]}
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from lapsus.core.edits import Edit, Span
from lapsus.core.types import Row
from lapsus.perturbations.core import move_spans


def is_answers_column(name: str) -> bool:
    """Return whether a column may hold SQuAD answers."""
    return "answer" in name.lower()


def check_answers_move(rows: Row, columns: Iterable[str], known: Container[str]) -> None:
    """Raise where SQuAD answers lie in a text of `columns`, which noise changes, and would not be moved with it.

    Columns with "answer" in their name are looked at, except the `known` ones, each in its first row with an answer.
    """
    for name in rows:
        if not is_answers_column(name) or name in known:
            continue
        cells = (
            (i, cell) for i, cell in enumerate(rows[name]) if isinstance(cell, Mapping) and cell.get("answer_start")
        )
        if (first := next(cells, None)) is None:
            continue
        answer_starts = list(zip(first[1]["answer_start"], first[1].get("text", ()), strict=False))
        for column in columns:
            text = rows[column][first[0]]
            if isinstance(text, str) and any(
                answer and text[start : start + len(answer)] == answer for start, answer in answer_starts
            ):
                raise ValueError(
                    f"the answers in {name!r} stand at places of {column!r}, which noise would move; name them, as "
                    f"--answers {name} or answers={name!r}"
                )


def move_answers(answers: Any, edits: Sequence[Edit], noisy: str, spans: Sequence[Span]) -> Any:
    """Return the answers as they stand in the noisy text."""
    if not answers:
        return answers
    new_spans = move_spans(edits, spans)
    return {
        **answers,
        "answer_start": [start for start, _ in new_spans],
        "text": [noisy[start:end] for start, end in new_spans],
    }
