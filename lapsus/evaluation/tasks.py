"""Tasks: what a model is asked about a row, and how its response is parsed and scored.

>>> task = make_task(["text"], "label", prompt="Is it about weather or music?", labels=["weather", "music"])
>>> print(task.render_prompt({"text": "will it rain"}))
Is it about weather or music?
will it rain
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lapsus.core.conversations import Prompt, add_instruction, ask, is_messages, parse_messages, put_system, to_chat
from lapsus.core.messages import format_list
from lapsus.core.text import to_text
from lapsus.core.track_names import READER_COLUMN
from lapsus.core.types import Row
from lapsus.evaluation.answer_types import AnswerType, ExactAnswer, FreeAnswer, LabelAnswer
from lapsus.evaluation.chat_settings import write_gold
from lapsus.evaluation.tool_answer import ToolCallAnswer, make_calls_prompt


@dataclass(frozen=True, slots=True)
class Task:
    """What a model is asked about a row.

    Args:
        name: The task's name; that of its benchmark, where this has one task.
        inputs: The columns that a user wrote. Noise changes these and nothing else.
        prompt: The instruction, with columns as `{column}`; without a column it stands before the inputs.
        answer_type: How a response is parsed and scored.
        dataset: The benchmark; its folder from `lapsus build`, or its repo on the Hub.
        clean: The config without noise; `original_` where columns of that name hold the clean twin, and `dialect`
            where columns hold the sentence in two forms.
        tracks: Patterns of the configs with noise.
        context: Columns that a model reads besides the inputs, such as the paragraph of a question.
        cluster: The column that names the original several rows share.
        hidden: Columns that would give the answer away, besides the gold answer itself.
        system: The system prompt of a run.
        shots: Example rows, which a model reads with their gold answers before each row.
        max_tokens: The most tokens of an answer, where a run sets them.
        version: Another one whenever the prompt or the parsing of the same row changes.
    """

    name: str
    inputs: tuple[str, ...]
    prompt: str
    answer_type: AnswerType
    summary: str = ""
    dataset: str = ""
    clean: str = "clean"
    tracks: tuple[str, ...] = ("*",)
    context: tuple[str, ...] = ()
    cluster: str | None = None
    hidden: tuple[str, ...] = ()
    version: str = "1"
    system: str = ""
    shots: tuple[Row, ...] = ()
    max_tokens: int | None = None

    @property
    def identity(self) -> str:
        """What a response depends on besides the model and the prompt."""
        return f"{self.name} {self.version}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a model reads."""
        return (*self.context, *self.inputs)

    def with_label_names(self, features: Mapping[str, Sequence[str]]) -> Task:
        """Return the task with the label names of the data, by column."""
        return replace(self, answer_type=self.answer_type.with_label_names(features))

    def render_prompt(self, row: Row) -> Prompt:
        """Return the prompt about a row, behind the system prompt and the example rows of a run.

        That of a conversation are its messages, with the instruction as system prompt.

        >>> make_task("messages", "answer").render_prompt({"messages": [{"role": "user", "content": "hi"}]})
        [{'role': 'user', 'content': 'hi'}]
        """
        prompt = self._render_row(row)
        if not (self.system or self.shots):
            return prompt
        turns: list[dict[str, Any]] = []
        for shot in self.shots:
            question = self._render_row(shot)
            if not isinstance(question, str) or not isinstance(prompt, str):
                raise ValueError("example rows cannot stand before conversations; leave out --shots")  # noqa: TRY004
            turns += [*ask(question), {"role": "assistant", "content": write_gold(self.answer_type, shot)}]
        return put_system(self.system, [*turns, *ask(prompt)])

    def _render_row(self, row: Row) -> Prompt:
        conversation = next((name for name in self.inputs if is_messages(row[name])), None)
        values = {name: "" if name == conversation else to_text(row[name]) for name in self.columns}
        prompt: str = string.Formatter().vformat(
            self.prompt, (), _PromptFields({**values, **self.answer_type.prompt_fields()})
        )
        if conversation is not None:
            return add_instruction(to_chat(parse_messages(row[conversation])), prompt.strip())
        return prompt

    def visible_columns(self, row: Row) -> dict[str, Any]:
        """Return the columns that a model may read: no gold answer, no clean twin, no edits."""
        hidden = {*self.answer_type.gold_columns, *self.hidden, "edits", "operator", READER_COLUMN}
        hidden |= {f"{twin}_{name}" for twin in ("clean", "original") for name in (*self.inputs, "tags")}
        return {name: value for name, value in row.items() if name not in hidden}

    def check_row(self, row: Row, where: str) -> None:
        """Refuse a row without the columns of the task, or with an invalid gold answer."""
        missing = [name for name in self.columns if name not in row]
        if missing:
            raise LookupError(
                f"{where} has no column {missing[0]!r}, which the task {self.name} reads "
                f"(columns: {format_list(row)}); choose the task that fits the data (lapsus tasks), or rename it"
            )
        try:
            self.answer_type.read_gold(row)
        except KeyError as error:
            raise LookupError(
                f"{where} has no column {error.args[0]!r} with the gold answer (columns: {format_list(row)}); "
                "name another"
            ) from None


LABEL_PROMPT = "Which label fits? Answer with one of these alone: {labels}.\n\n"  # where a run brings no prompt


class _PromptFields(dict[str, str]):
    """The fields of a prompt; an unknown one is an error."""

    def __missing__(self, name: str) -> str:
        raise LookupError(f"the prompt has the field {{{name}}}; use one of: {format_list(self)}")


def make_task(
    inputs: str | Sequence[str],
    gold: str | None = None,
    *,
    prompt: str | None = None,
    labels: Sequence[str] = (),
    name: str = "rows",
    max_tokens: int | None = None,
    free: bool = False,
    answers: str | None = None,
    tools: str | None = None,
) -> Task:
    r"""Return a task for rows of your own: a prediction is correct when it equals the gold column.

    With `free`, with `answers`, a column of lists of accepted answers, and without a gold column, scorers score what a
    model writes: `run(task, rows, model, score=["f1"])`. With `tools`, a column of functions, gold answers are calls.

    A model that reads text is told the labels, also without a prompt.

    >>> make_task(["text"], "label", labels=["weather", "music"]).render_prompt({"text": "will it rain"})
    'Which label fits? Answer with one of these alone: weather, music.\n\nwill it rain'
    """
    inputs = [inputs] if isinstance(inputs, str) else inputs
    column = answers or gold
    length: dict[str, Any] = {} if max_tokens is None else {"max_tokens": max_tokens}
    answer_type: AnswerType
    if tools and column:
        answer_type = ToolCallAnswer(column, tools, **length)
        prompt = prompt or make_calls_prompt(tools, inputs)
    elif labels and column:
        answer_type = LabelAnswer(column, {label: label for label in labels})
    elif free or answers or column is None:
        answer_type = FreeAnswer(column, several=answers is not None, **length)
    else:
        answer_type = ExactAnswer(column, **length)
    bare = "\n".join(f"{{{column}}}" for column in inputs)
    instruction = prompt or (f"{LABEL_PROMPT}{bare}" if labels and column else bare)
    fields = [part for _, part, _, _ in string.Formatter().parse(instruction) if part]
    if prompt and not set(fields) & set(inputs):
        instruction = "\n".join(
            [
                prompt.replace("{", "{{").replace("}", "}}") if not fields else prompt,
                *(f"{{{column}}}" for column in inputs),
            ]
        )
    context = tuple(dict.fromkeys(part for part in fields if part not in {*inputs, "labels"}))
    return Task(name, tuple(inputs), instruction, answer_type, dataset=name, context=context, clean="clean")
