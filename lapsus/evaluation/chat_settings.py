r"""Settings of a chat that hold for a whole run: a system prompt, example rows with their answers, a cap on tokens.

>>> from lapsus.evaluation.tasks import make_task
>>> task = make_task("text", "label", prompt="Weather or music?", labels=["weather", "music"])
>>> task = set_chat(task, system="Be brief.", shots=[{"id": "s", "text": "a song", "label": "music"}])
>>> [message["content"] for message in task.render_prompt({"text": "will it rain"})]
['Be brief.', 'Weather or music?\na song', 'music', 'Weather or music?\nwill it rain']
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lapsus.core.text import to_text
from lapsus.core.types import Row
from lapsus.evaluation.answer_types import AnswerType

if TYPE_CHECKING:
    from lapsus.evaluation.models import ModelAdapter
    from lapsus.evaluation.tasks import Task

SETTINGS = {"system": "", "shots": (), "max_tokens": None}  # of a task, and what they are where a run sets none


def set_chat(task: Task, *, system: str = "", shots: Iterable[Row] = (), max_tokens: int | None = None) -> Task:
    """Return a task with the settings of a run."""
    if max_tokens is not None:
        if isinstance(max_tokens, bool) or max_tokens < 1:
            raise ValueError(f"max_tokens is {max_tokens!r}; give a number from 1")
        task = replace(task, answer_type=replace(cast("Any", task.answer_type), max_tokens=max_tokens))
    rows = tuple(dict(row) for row in shots)
    for number, row in enumerate(rows):
        task.check_row(row, f"example row {number}")
    return replace(task, system=system, shots=rows, max_tokens=max_tokens)


def write_gold(answer_type: AnswerType, row: Row) -> str:
    """Return the gold answer of a row as a model would write it.

    >>> from lapsus.evaluation.answer_types import LabelAnswer
    >>> write_gold(LabelAnswer("label", {"same": "相同", "different": "不同"}), {"label": "same"})
    '相同'
    """
    gold = answer_type.read_gold(row)
    if answer_type.choices:
        return answer_type.choices[gold]
    if isinstance(gold, Sequence) and gold and all(isinstance(each, str) for each in gold):
        return gold if isinstance(gold, str) else gold[0]
    text = json.dumps(gold, ensure_ascii=False) if isinstance(gold, Mapping | list) else to_text(gold)
    prediction = answer_type.parse(text, row) if gold else None
    if prediction is None or answer_type.score(prediction, row)["score"] not in {None, 1}:
        raise ValueError(f"the gold answer of the example row {row.get('id')!r} cannot be written; take other rows")
    return text


def check_chat(model: ModelAdapter, task: Task, rows: Sequence[Row]) -> None:
    """Refuse settings that a model does not read, and example rows that are asked too."""
    if not rows:
        return
    for name, default in SETTINGS.items():
        if getattr(task, name) == default:
            continue
        plain = replace(task, **cast("Any", {name: default}))
        if name == "max_tokens":
            other: Any = replace(cast("Any", task.answer_type), max_tokens=task.answer_type.max_tokens + 1)
            plain = replace(plain, answer_type=other)
        if model.build_prompt(plain, rows[0]) == model.build_prompt(task, rows[0]):
            raise TypeError(
                f"{model.name} does not read --{name.replace('_', '-')} on the task {task.name}; leave it out, or take "
                "a model that writes"
            )
    asked = {_list_inputs(task, row): row for row in rows} if task.shots else {}
    for shot in task.shots:
        if (row := asked.get(_list_inputs(task, shot))) is not None:
            raise ValueError(
                f"the example row {shot.get('id')!r} is the row {row.get('id')!r} too; take other examples"
            )


def _list_inputs(task: Task, row: Row) -> tuple[str, ...]:
    return tuple(to_text(row[name]) for name in task.columns)


def describe_chat(task: Task) -> dict[str, Any]:
    """Return the settings for the manifest of a run; empty where there are none."""
    values = {"system": task.system, "shots": [dict(row) for row in task.shots], "max_tokens": task.max_tokens}
    return {name: value for name, value in values.items() if value}


def read_text(value: str, option: str) -> str:
    """Return a text, or that of the file that it names.

    >>> read_text("Be brief.", "--system")
    'Be brief.'
    """
    is_word = len(value.split()) == 1
    path = Path(value)
    if is_word and path.is_file():
        return path.read_text(encoding="utf-8-sig").strip()
    if is_word and (path.suffix in {".txt", ".md", ".json"} or "/" in value) and not value.startswith("{"):
        raise FileNotFoundError(f"{value}: no such file for {option}; give a text, or the path of a file")
    return value


def read_object(value: str, option: str) -> dict[str, Any]:
    """Return a JSON object, written out or in a file.

    >>> read_object('{"top_p": 0.9}', "--params")
    {'top_p': 0.9}
    """
    try:
        data = json.loads(read_text(value, option))
    except ValueError as error:
        raise ValueError(f"{option} is no JSON ({error}); write an object, such as '{{\"top_p\": 0.9}}'") from error
    if not isinstance(data, dict):
        raise ValueError(f"{option} is no JSON object; write one, such as '{{\"top_p\": 0.9}}'")  # noqa: TRY004
    return data
