"""The answer type of tool calls: read from a message, from JSON or from Python in a text, and matched as BFCL does.

>>> row = {"id": "a", "functions": '[{"name": "ride.book"}]', "calls": '[{"ride.book": {"to": ["Albany"]}}]'}
>>> answer_type = ToolCallAnswer()
>>> answer_type.score(answer_type.parse('{"name": "ride_book", "arguments": {"to": "Albany"}}', row), row)["score"]
1.0
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lapsus.core.conversations import Prompt, add_instruction, ask
from lapsus.core.text import to_text
from lapsus.core.types import Row
from lapsus.evaluation.answer_types import FreeText
from lapsus.evaluation.call_match import match_calls
from lapsus.evaluation.tool_calls import list_functions, make_tools, read_calls, read_gold_calls

if TYPE_CHECKING:
    from lapsus.evaluation.tasks import Task


@dataclass(frozen=True, slots=True)
class ToolCallAnswer(FreeText):
    """Calls of functions: `score` says whether all is right, `right_tool` the names, `right_arguments` a share.

    `column` holds the gold calls, `functions` the descriptions of the functions, both as JSON or as lists.
    """

    column: str = "calls"
    functions: str = "functions"
    max_tokens: int = 256

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def list_tools(self, row: Row) -> list[dict[str, Any]]:
        """Return the functions of a row as an endpoint takes them in `tools`."""
        return make_tools(list_functions(row.get(self.functions)))

    def read_gold(self, row: Row) -> Any:
        try:
            read_gold_calls(row[self.column])
        except ValueError as error:
            raise ValueError(f"row {row.get('id')!r}: {error}") from error
        gold = row[self.column]
        return json.loads(gold) if isinstance(gold, str) else gold

    def parse(self, raw: Any, row: Row) -> list[dict[str, Any]] | None:
        calls = read_calls(raw)
        return None if calls is None else [call._asdict() for call in calls]

    def score(self, prediction: Sequence[Mapping[str, Any]] | None, row: Row) -> dict[str, Any]:
        calls = None if prediction is None else read_calls(prediction)
        gold = self.read_gold(row)
        match = match_calls(calls, gold, list_functions(row.get(self.functions)))
        result = {
            "prediction": _to_text(prediction),
            "gold": _to_text(gold),
            "score": float(match.right),
            "right_tool": float(match.right_tool),
            "right_arguments": match.right_arguments,
        }
        return result | {"mistake": match.reason} if match.reason else result


def make_calls_prompt(functions: str, inputs: Sequence[str]) -> str:
    """Return the instruction for a model that reads functions as text, as a template.

    >>> make_calls_prompt("tools", ["request"]).splitlines()[-1]
    '{request}'
    """
    return (
        f"You can call these functions:\n{{{functions}}}\n\nAnswer with the calls that the request needs, as a JSON "
        'list alone, as in [{{"name": "…", "arguments": {{"…": …}}}}].\nRequest:\n'
        + "\n".join(f"{{{name}}}" for name in inputs)
    )


def render_without_functions(task: Task, answer_type: ToolCallAnswer, row: Row) -> Prompt:
    """Return what is asked where functions go beside the prompt: the inputs, behind the context as system prompt."""
    prompt = replace(task, prompt="\n".join(f"{{{name}}}" for name in task.inputs)).render_prompt(row)
    context = [to_text(row[name]) for name in task.context if name != answer_type.functions and row[name]]
    return add_instruction(ask(prompt), "\n\n".join(context)) if context else prompt


def _to_text(value: Any) -> str | None:
    """Return calls as one text, so that files and tables of any format hold them."""
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)
