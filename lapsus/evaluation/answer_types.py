"""Answer types: how a response is parsed, and how the prediction is scored against the gold answer.

A response is text from a model that writes, or a value from one that decides: a label or its number, tags, a frame.

>>> paraphrase = LabelAnswer("label", {"different": "不同", "paraphrase": "相同"})
>>> paraphrase.parse("相同。", {}), paraphrase.parse(1, {}), paraphrase.parse("也许", {})
('paraphrase', 'paraphrase', None)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from lapsus.core import bio
from lapsus.core.messages import format_list
from lapsus.core.text import to_label
from lapsus.core.types import Row
from lapsus.evaluation.parsing import (
    find_json_object,
    find_number,
    find_sql,
    match_label,
    parse_answers,
    strip_reasoning,
    strip_wrapping,
)
from lapsus.io.labels import UNNAMED_CLASS
from lapsus.metrics.answer_f1.score import match_best, parse_golds

MAX_LABELS = 200
ROUNDING = 1e-3  # of a hundred: a cosine of equal vectors may be a little over 1


def terminate_choices(choices: Mapping[str, str]) -> dict[str, str]:
    r"""Return the choices for scoring by likelihood: where one is a prefix of another, each ends with a line break.

    Without it, the longer one could never be likelier than its prefix.

    >>> terminate_choices({"a": "flight", "b": "airfare"}), terminate_choices({"a": "flight", "b": "flight_time"})
    ({'a': 'flight', 'b': 'airfare'}, {'a': 'flight\n', 'b': 'flight_time\n'})
    """
    words = sorted(set(choices.values()))  # what begins with a word stands right behind it
    nested = any(second.startswith(first) for first, second in pairwise(words))
    return {label: f"{word}\n" if nested else word for label, word in choices.items()}


class AnswerType(Protocol):
    """How responses are parsed and scored."""

    @property
    def gold_columns(self) -> tuple[str, ...]:
        """The columns that hold the gold answer: no model reads them."""
        ...

    @property
    def choices(self) -> Mapping[str, str]:
        """The word that a model writes for each label; empty where the answer is not a label."""
        ...

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema of an answer, where it is an object."""
        ...

    @property
    def max_tokens(self) -> int:
        """The most tokens of a written response."""
        ...

    def with_label_names(self, features: Mapping[str, Sequence[str]]) -> AnswerType:
        """Return this answer type with the label names of a dataset, by column."""
        ...

    def with_observed_labels(self, rows: Sequence[Row]) -> AnswerType:
        """Return this answer type with the labels of these rows, where neither the task nor the dataset names any."""
        ...

    def prompt_fields(self) -> Mapping[str, str]:
        """Return the values of `{labels}` and similar fields of a prompt."""
        ...

    def read_gold(self, row: Row) -> Any:
        """Return the gold answer of a row; raise KeyError for a missing column, ValueError for an invalid value."""
        ...

    def parse(self, raw: Any, row: Row) -> Any | None:
        """Return the prediction that a response gives; None where it cannot be parsed."""
        ...

    def score(self, prediction: Any | None, row: Row) -> dict[str, Any]:
        """Return the columns `prediction`, `gold` and `score`, and others of this type; None scores 0."""
        ...


@dataclass(frozen=True, slots=True)
class FreeText:
    """Defaults of an answer that is neither a label nor an object."""

    @property
    def choices(self) -> Mapping[str, str]:
        return {}

    @property
    def schema(self) -> Mapping[str, Any] | None:
        return None

    def with_label_names(self, features: Mapping[str, Sequence[str]]) -> Any:
        return self

    def with_observed_labels(self, rows: Sequence[Row]) -> Any:
        return self

    def prompt_fields(self) -> Mapping[str, str]:
        return {}


@dataclass(frozen=True, slots=True)
class LabelAnswer(FreeText):
    """One of a few labels; `verbalizers` are the words that a model writes for them."""

    column: str = "label"
    verbalizers: Mapping[str, str] = field(default_factory=dict)
    max_tokens: int = 16

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def choices(self) -> Mapping[str, str]:
        return self.verbalizers

    def with_label_names(self, features: Mapping[str, Sequence[str]]) -> LabelAnswer:
        names = features.get(self.column)
        if not names:
            return self
        if self.verbalizers and set(names) != set(self.verbalizers):
            raise ValueError(
                f"the data's column {self.column!r} has the labels {', '.join(names)}, the task knows "
                f"{', '.join(self.verbalizers)}; choose the task that fits the data (lapsus tasks)"
            )
        return replace(self, verbalizers={name: self.verbalizers.get(name, name) for name in names})

    def with_observed_labels(self, rows: Sequence[Row]) -> LabelAnswer:
        return (
            self
            if self.verbalizers
            else replace(self, verbalizers={name: name for name in collect_labels(rows, self.column)})
        )

    def prompt_fields(self) -> Mapping[str, str]:
        return {"labels": ", ".join(self.verbalizers.values())}

    def parse(self, raw: Any, row: Row) -> str | None:
        if isinstance(raw, Mapping) and "label" in raw:
            raw = raw["label"]
        if isinstance(raw, str) and raw in self.verbalizers:
            return raw
        if isinstance(raw, str) and (place := UNNAMED_CLASS.fullmatch(raw)):
            return dict(enumerate(self.verbalizers)).get(int(place[1]))
        if isinstance(raw, str):
            return match_label(
                raw, {word: name for name, word in self.verbalizers.items()} | {name: name for name in self.verbalizers}
            )
        if raw is None or isinstance(raw, Mapping | list):
            return None
        return resolve_index(raw, list(self.verbalizers))

    def read_gold(self, row: Row) -> str:
        gold = to_label(row[self.column])
        if self.verbalizers and gold not in self.verbalizers:
            raise ValueError(
                f"row {row.get('id')!r} has the gold label {gold!r}, which is none of {format_list(self.verbalizers)}; "
                "name all labels, or leave the row out"
            )
        return gold

    def score(self, prediction: str | None, row: Row) -> dict[str, Any]:
        gold = self.read_gold(row)
        return {"prediction": prediction, "gold": gold, "score": float(prediction == gold)}


BOOLEAN_WORDS = {
    True: ("yes", "true", "1"),
    False: ("no", "false", "0"),
}  # names of the labels that booleans stand for


def resolve_index(value: bool | float, names: Sequence[str]) -> str | None:
    """Return the label with this name, else the label with this index, from 0; None where there is none.

    True is the label "yes", whatever its index. Where labels are numbers themselves, an index is refused: one run would
    read names and indices.

    >>> resolve_index(1, ["no", "yes"]), resolve_index(1, ["1", "2"]), resolve_index(True, ["yes", "no"])
    ('yes', '1', 'yes')
    >>> resolve_index(0, ["1", "2"])
    Traceback (most recent call last):
    ...
    ValueError: an answer is 0, and the labels are the numbers 1, 2; say which is which, as in --label-map 0=1,1=2
    """
    text = to_label(value)
    if text in names:
        return text
    if isinstance(value, bool) and (matches := [name for name in names if name.casefold() in BOOLEAN_WORDS[value]]):
        return matches[0]
    digits = to_label(int(value)) if isinstance(value, bool) else text
    if not digits.isdecimal() or int(digits) >= len(names):
        return None
    numbers = [name for name in names if name.isdecimal()]
    if numbers:
        raise ValueError(
            f"an answer is {digits}, and the labels are the numbers {format_list(numbers)}; say which is which, as in "
            f"--label-map {format_label_map(names)}"
        )
    return names[int(digits)]


def format_label_map(names: Sequence[str]) -> str:
    """Return a map from the indices of the first labels to their names, as `--label-map` takes it.

    >>> format_label_map(["no", "yes"])
    '0=no,1=yes'
    """
    return ",".join(f"{index}={name}" for index, name in enumerate(names[:4]))


def apply_label_map(raw: Any, label_map: Mapping[str, str]) -> Any:
    """Return the label that a map has for a response, or the response where it has none.

    >>> apply_label_map(0, {"0": "no"}), apply_label_map({"label": "L0"}, {"L0": "no"}), apply_label_map("yes", {})
    ('no', 'no', 'yes')
    """
    value = raw["label"] if isinstance(raw, Mapping) and "label" in raw else raw
    return label_map.get(to_label(value), raw)


def collect_labels(rows: Sequence[Row], column: str) -> tuple[str, ...]:
    """Return the labels in a column; none where there are too many to choose from.

    >>> collect_labels([{"label": "b"}, {"label": "a"}, {"label": "b"}], "label")
    ('a', 'b')
    """
    labels = {to_label(row[column]) for row in rows}
    return tuple(sorted(labels)) if len(labels) <= MAX_LABELS else ()


@dataclass(frozen=True, slots=True)
class ExactAnswer(FreeText):
    """A text that is correct when it equals the gold answer: the answer type of rows without a task."""

    column: str = "answer"
    max_tokens: int = 64
    known_golds: tuple[str, ...] = ()  # the distinct gold answers, where they are few

    def with_observed_labels(self, rows: Sequence[Row]) -> ExactAnswer:
        """Return this answer type with the gold answers of the rows, where these look like labels."""
        nested_value = next((row[self.column] for row in rows if isinstance(row[self.column], Mapping | list)), None)
        if nested_value is not None:
            raise TypeError(
                f"the column {self.column!r} holds {str(nested_value)[:60]}, which no response can equal; "
                "name the column with --answers, add --score f1, or name the task that reads such gold answers "
                "(lapsus tasks), such as noiseqa for passages"
            )
        return replace(self, known_golds=collect_labels(rows, self.column))

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def parse(self, raw: Any, row: Row) -> str | None:
        if isinstance(raw, str):
            return strip_wrapping(raw) or None
        return None if raw is None else to_label(raw)

    def read_gold(self, row: Row) -> str:
        return to_label(row[self.column])

    def score(self, prediction: str | None, row: Row) -> dict[str, Any]:
        gold = self.read_gold(row)
        return {"prediction": prediction, "gold": gold, "score": float(prediction in {gold, strip_wrapping(gold)})}


@dataclass(frozen=True, slots=True)
class FreeAnswer(FreeText):
    """A text that scorers score when the run has ended; without a column there is no gold answer.

    With `several`, the column holds lists of accepted answers, which a CSV file has as JSON.
    """

    column: str | None = "answer"
    max_tokens: int = 256
    several: bool = False

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return () if self.column is None else (self.column,)

    def read_gold(self, row: Row) -> Any:
        if self.column is None:
            return None
        gold = row[self.column]
        return parse_answers(gold, f"row {row.get('id')!r}, column {self.column!r},") if self.several else gold

    def parse(self, raw: Any, row: Row) -> Any | None:
        return strip_reasoning(raw) or None if isinstance(raw, str) else raw

    def score(self, prediction: Any | None, row: Row) -> dict[str, Any]:
        gold = {} if self.column is None else {"gold": self.read_gold(row)}
        return {"prediction": prediction, **gold, "score": None}


@dataclass(frozen=True, slots=True)
class FrameAnswer(FreeText):
    """An intent and slots, or slots alone; `score` says whether all is correct, `intent_correct` the intent alone.

    The gold frame is `intent` with `tags` over `tokens`, or with `slots`, a list of [slot, text].
    """

    intents: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    with_intent: bool = True
    max_tokens: int = 160

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return ("intent", "tags", "slots")

    @property
    def schema(self) -> Mapping[str, Any] | None:
        text = {"type": "string"}
        slots = {"slots": {"type": "object", "additionalProperties": {"type": "array", "items": text}}}
        intent = {"intent": {"enum": list(self.intents)} if self.intents else text} if self.with_intent else {}
        return {"type": "object", "properties": {**intent, **slots}, "required": [*intent, *slots]}

    def with_label_names(self, features: Mapping[str, Sequence[str]]) -> FrameAnswer:
        slots = dict.fromkeys(tag[2:] for tag in features.get("tags", ()) if tag != "O")
        return replace(
            self,
            intents=tuple(features.get("intent", self.intents)),
            slots=tuple(features.get("slots", ())) or tuple(slots) or self.slots,
        )

    def with_observed_labels(self, rows: Sequence[Row]) -> FrameAnswer:
        slots = {tag[2:] for row in rows for tag in row.get("tags") or () if tag != "O"}
        slots |= {str(slot[0]) for row in rows for slot in row.get("slots") or ()}
        intents = collect_labels(rows, "intent") if self.with_intent else ()
        return replace(self, intents=self.intents or intents, slots=self.slots or tuple(sorted(slots)))

    def prompt_fields(self) -> Mapping[str, str]:
        return {"intents": ", ".join(self.intents), "slots": ", ".join(self.slots)}

    def parse(self, raw: Any, row: Row) -> dict[str, Any] | None:
        frame = find_json_object(raw) if isinstance(raw, str) else raw
        if isinstance(frame, list) and not self.with_intent:
            frame = {"tags": frame}
        if not isinstance(frame, Mapping) or (self.with_intent and frame.get("intent") is None):
            return None
        intent = self._parse_intent(frame["intent"]) if self.with_intent else ""
        tags = frame.get("tags")
        slots: list[tuple[str, str]] | None
        if tags is not None:
            if not isinstance(tags, list | tuple):
                return None
            try:
                slots = extract_slot_texts(row.get("tokens") or [], [str(tag) for tag in tags])
            except ValueError:
                return None
        else:
            slots = _parse_slots(frame.get("slots") or {})
        if intent is None or slots is None:
            return None
        return {"intent": intent, "slots": sorted(slots)}

    def _parse_intent(self, value: Any) -> str | None:
        if not self.intents:
            return str(value)
        if isinstance(value, int):
            return resolve_index(value, self.intents)
        return match_label(str(value), {intent: intent for intent in self.intents})

    def read_gold(self, row: Row) -> dict[str, Any]:
        pairs = row.get("slots")
        slots = extract_slot_texts(row["tokens"], row["tags"]) if pairs is None else [tuple(slot) for slot in pairs]
        return {"intent": to_label(row["intent"]) if self.with_intent else "", "slots": slots}

    def score(self, prediction: dict[str, Any] | None, row: Row) -> dict[str, Any]:
        gold = self.read_gold(row)
        frame = prediction or {"intent": None, "slots": []}
        correct = prediction is not None and _normalise_slots(frame["slots"]) == _normalise_slots(gold["slots"])
        intent_columns: dict[str, Any] = {}
        if self.with_intent:
            intent_correct = frame["intent"] == gold["intent"]
            correct = correct and intent_correct
            intent_columns = {
                "prediction": frame["intent"],
                "gold": gold["intent"],
                "intent_correct": float(intent_correct),
            }
        return {
            **intent_columns,
            "score": float(correct),
            "slots": [list(slot) for slot in frame["slots"]],
            "gold_slots": sorted(list(slot) for slot in gold["slots"]),
        }


def extract_slot_texts(tokens: Sequence[str], tags: Sequence[str]) -> list[tuple[str, str]]:
    """Return the slots of BIO tags with their words.

    >>> extract_slot_texts(["play", "new", "wave", "now"], ["O", "B-genre", "I-genre", "O"])
    [('genre', 'new wave')]
    """
    if len(tokens) != len(tags):
        raise ValueError(f"{len(tokens)} tokens but {len(tags)} tags; give one tag per token")
    return [(slot.label, " ".join(tokens[slot.start : slot.end])) for slot in bio.extract_slots(tags)]


def _parse_slots(slots: Any) -> list[tuple[str, str]] | None:
    """Read slots written as {slot: text}, {slot: [texts]} or [[slot, text]]; None where they are nested deeper.

    >>> _parse_slots({"city": "Rome", "day": ["today"]}), _parse_slots({"city": {"name": "Rome"}})
    ([('city', 'Rome'), ('day', 'today')], None)
    """
    if isinstance(slots, Mapping):
        pairs = [
            (name, each) for name, value in slots.items() for each in (value if isinstance(value, list) else [value])
        ]
    elif isinstance(slots, list) and all(isinstance(each, list | tuple) and len(each) == 2 for each in slots):
        pairs = [(each[0], each[1]) for each in slots]
    else:
        return None
    if any(isinstance(part, Mapping | list | tuple) for pair in pairs for part in pair):
        return None
    return [(str(name), str(text)) for name, text in pairs if text is not None and text != ""]


def _normalise_slots(slots: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted((name, " ".join(str(text).casefold().split())) for name, text in slots)


@dataclass(frozen=True, slots=True)
class SpanAnswer(FreeText):
    """Words of the context: `score` is F1, `exact_match` exact match, by the rules of the metric `answer_f1`.

    Where questions may have no answer, as in SQuAD 2.0, `unanswerable` is the word that says so.
    """

    column: str = "answers"
    max_tokens: int = 48
    rules: str = "squad"
    unanswerable: str = ""

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def parse(self, raw: Any, row: Row) -> str | None:
        answer = raw.get("answer") if isinstance(raw, Mapping) else raw
        return strip_reasoning(answer) or None if isinstance(answer, str) else None

    def read_gold(self, row: Row) -> list[str]:
        golds = [gold or self.unanswerable for gold in parse_golds(row[self.column])]
        if not any(golds):
            raise ValueError(f"row {row.get('id')!r} has no answer, and the task knows no word for that; leave it out")
        return golds

    def score(self, prediction: str | None, row: Row) -> dict[str, Any]:
        golds = self.read_gold(row)
        exact, f1 = match_best(prediction, golds, self.rules) if prediction else (0.0, 0.0)
        return {"prediction": prediction, "gold": golds[0], "references": golds, "score": f1, "exact_match": exact}


@dataclass(frozen=True, slots=True)
class TranslationAnswer(FreeText):
    """A translation: `score` is the chrF of the sentence, from 0 to 1; corpus scores come from `lapsus score`."""

    column: str = "reference"
    max_tokens: int = 256

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def read_gold(self, row: Row) -> str:
        gold: str = row[self.column]
        return gold

    def parse(self, raw: Any, row: Row) -> str | None:
        return strip_reasoning(raw) or None if isinstance(raw, str) else None

    def score(self, prediction: str | None, row: Row) -> dict[str, Any]:
        from sacrebleu import sentence_chrf

        gold = self.read_gold(row)
        score = sentence_chrf(prediction, [gold]).score / 100 if prediction else 0.0
        return {"prediction": prediction, "gold": gold, "score": min(1.0, score), "chrf": 100 * score}


@dataclass(frozen=True, slots=True)
class SqlAnswer(FreeText):
    """An SQL query: `score` is Spider's exact set match without values.

    Where `databases` is the folder with NAME/NAME.sqlite, `execution_match` compares the results on the database that
    the row's `db_id` names; `execution_error` says which limit a query exceeded.
    """

    column: str = "query"
    max_tokens: int = 256
    databases: Path | None = None

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def read_gold(self, row: Row) -> str:
        gold: str = row[self.column]
        return gold

    def parse(self, raw: Any, row: Row) -> str | None:
        return find_sql(raw) if isinstance(raw, str) else None

    def score(self, prediction: str | None, row: Row) -> dict[str, Any]:
        from lapsus.evaluation.sql import match_clauses
        from lapsus.evaluation.sql_execution import execute_queries, find_database

        gold = self.read_gold(row)
        correct = prediction is not None and match_clauses(prediction, gold)
        result = {"prediction": prediction, "gold": gold, "score": float(correct)}
        if self.databases is None:
            return result
        if prediction is None:
            return result | {"execution_match": 0.0}
        execution = execute_queries(prediction, gold, find_database(self.databases, str(row["db_id"])))
        result["execution_match"] = float(execution.match)
        return result if execution.error is None else result | {"execution_error": execution.error}


@dataclass(frozen=True, slots=True)
class SimilarityAnswer(FreeText):
    """How similar in meaning two texts are, from 0 to 100; `score` is a hundredth of it. There is no gold answer.

    `tags` are the dialects of the base sentence and of the other one, as a prompt names them.
    """

    tags: tuple[str, str] = ("its dialect", "another dialect")
    max_tokens: int = 8

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return ()

    def read_gold(self, row: Row) -> None:
        """Return None: nothing is compared with a gold answer."""

    def parse(self, raw: Any, row: Row) -> float | None:
        number = find_number(raw) if isinstance(raw, str) else raw
        if isinstance(number, bool) or not isinstance(number, int | float) or not -ROUNDING <= number <= 100 + ROUNDING:
            return None
        return float(min(100, max(0, number)))

    def score(self, prediction: float | None, row: Row) -> dict[str, Any]:
        return {"prediction": prediction, "score": None if prediction is None else prediction / 100}
