"""Label Studio: the tasks it imports, the labelling interface that goes with them, and the export it gives back.

A new project takes `label_studio.xml` as its labelling interface and imports `label_studio.json`; its export as JSON
is a file of judgements, one judge for each of its users.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

CONFIG = """<View>
  <Header value="Sentence"/>
  <Text name="text" value="$text"/>
  <Header value="The same in other words"/>
  <Text name="paraphrase" value="$paraphrase"/>
  <Header value="How well does it keep the meaning? 100: exactly the same. 0: something else, or the opposite."/>
  <Number name="similarity" toName="paraphrase" min="0" max="100" step="1" slider="true" required="true"/>
  <Header value="Is it grammatical?"/>
  <Choices name="grammatical" toName="paraphrase" choice="single" showInline="true" required="true">
    <Choice value="yes"/>
    <Choice value="no"/>
  </Choices>
</View>
"""


def tasks(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a sheet as tasks.

    >>> tasks([{"item": "a", "text": "Ada won.", "paraphrase": "Ada was the winner."}])
    [{'data': {'item': 'a', 'text': 'Ada won.', 'paraphrase': 'Ada was the winner.'}}]
    """
    return [{"data": dict(row)} for row in rows]


def is_export(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether rows are tasks with annotations."""
    return bool(rows) and all("data" in row and "annotations" in row for row in rows)


def judged(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the annotations of an export as rows; those that were cancelled (skipped) are none."""
    for task in rows:
        for annotation in task["annotations"]:
            if annotation.get("was_cancelled"):
                continue
            said = {result.get("from_name"): result.get("value", {}) for result in annotation.get("result", ())}
            chosen = said.get("grammatical", {}).get("choices") or [None]
            yield {
                "item": task["data"].get("item"),
                "judge": _judge(annotation.get("completed_by")),
                "similarity": said.get("similarity", {}).get("number"),
                "grammatical": chosen[0],
            }


def _judge(told: Any) -> str | None:
    """Return who annotated: a number, or in other exports an object with one."""
    if isinstance(told, Mapping):
        told = told.get("email") or told.get("id")
    return None if told is None else str(told)
