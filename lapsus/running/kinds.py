"""Kinds of answers: how each is read from what a model gave, and what it scores against the right one.

A raw answer is text from a model that writes, or a value from one that decides: a label or its number, tags, a frame.

>>> paraphrase = Label("label", {"different": "不同", "paraphrase": "相同"})
>>> paraphrase.parse("相同。", {}), paraphrase.parse(1, {}), paraphrase.parse("也许", {})
('paraphrase', 'paraphrase', None)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

from lapsus.kernel import bio
from lapsus.kernel.names import shown
from lapsus.metrics.answer_f1.score import best_match, right_answers
from lapsus.results.classes import NUMBERED
from lapsus.results.coding import label
from lapsus.running.reading import answered, chosen, first_number, first_object, first_query, plain

Row = Mapping[str, Any]

MOST_LABELS = 200
ROUNDING = 1e-3  # of a hundred: a cosine of equal vectors may be a little over 1


def ended(choices: Mapping[str, str]) -> dict[str, str]:
    r"""Return choices as their likelihood is asked for: where one begins another, each with the end of its line.

    Without it, the longer could never be likelier than the one that it begins with.

    >>> ended({"a": "flight", "b": "airfare"}), ended({"a": "flight", "b": "flight_time"})
    ({'a': 'flight', 'b': 'airfare'}, {'a': 'flight\n', 'b': 'flight_time\n'})
    """
    in_order = sorted(set(choices.values()))  # what begins with a word stands right behind it
    nested = any(other.startswith(one) for one, other in pairwise(in_order))
    return {label: f"{word}\n" if nested else word for label, word in choices.items()}


class Kind(Protocol):
    """A kind of answer. `gold_columns` are those that a model must not see."""

    @property
    def gold_columns(self) -> tuple[str, ...]:
        """The columns that hold the right answer."""
        ...

    @property
    def choices(self) -> Mapping[str, str]:
        """What can be answered, by label, where the answer is one of a few words."""
        ...

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema of an answer, where it is an object."""
        ...

    @property
    def max_tokens(self) -> int:
        """How long a written answer may be."""
        ...

    def bound(self, features: Mapping[str, Sequence[str]]) -> Kind:
        """Return this kind with the names that a dataset has for its labels, by column."""
        ...

    def seeing(self, rows: Sequence[Row]) -> Kind:
        """Return this kind with the labels of these rows, where neither the task nor a dataset's features named any."""
        ...

    def filling(self) -> Mapping[str, str]:
        """Return what stands for `{labels}` and such in a prompt."""
        ...

    def parse(self, raw: Any, row: Row) -> Any | None:
        """Return what a raw answer means, or None."""
        ...

    def judged(self, prediction: Any | None, row: Row) -> dict[str, Any]:
        """Return the columns `prediction`, `gold` and `score`, and others of this kind; None scores 0."""
        ...


@dataclass(frozen=True, slots=True)
class _Plain:
    """An answer that is neither a choice nor an object."""

    @property
    def choices(self) -> Mapping[str, str]:
        return {}

    @property
    def schema(self) -> Mapping[str, Any] | None:
        return None

    def bound(self, features: Mapping[str, Sequence[str]]) -> Any:
        return self

    def seeing(self, rows: Sequence[Row]) -> Any:
        return self

    def filling(self) -> Mapping[str, str]:
        return {}


@dataclass(frozen=True, slots=True)
class Label(_Plain):
    """One of a few labels; `words` is what a model that writes calls each of them."""

    column: str = "label"
    words: Mapping[str, str] = field(default_factory=dict)
    max_tokens: int = 16

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def choices(self) -> Mapping[str, str]:
        return self.words

    def bound(self, features: Mapping[str, Sequence[str]]) -> Label:
        names = features.get(self.column)
        if not names:
            return self
        if self.words and set(names) != set(self.words):
            raise ValueError(
                f"the data's column {self.column!r} has the labels {', '.join(names)}, the task knows "
                f"{', '.join(self.words)}; choose the task that fits the data (lapsus tasks)"
            )
        return replace(self, words={name: self.words.get(name, name) for name in names})

    def seeing(self, rows: Sequence[Row]) -> Label:
        return self if self.words else replace(self, words={name: name for name in few_labels(rows, self.column)})

    def filling(self) -> Mapping[str, str]:
        return {"labels": ", ".join(self.words.values())}

    def parse(self, raw: Any, row: Row) -> str | None:
        if isinstance(raw, Mapping) and "label" in raw:
            raw = raw["label"]
        if isinstance(raw, str) and raw in self.words:
            return raw
        if isinstance(raw, str) and (place := NUMBERED.fullmatch(raw)):
            return dict(enumerate(self.words)).get(int(place[1]))
        if isinstance(raw, str):
            return chosen(raw, {word: name for name, word in self.words.items()} | {name: name for name in self.words})
        if raw is None or isinstance(raw, Mapping | list):
            return None
        return numbered(raw, list(self.words))

    def judged(self, prediction: str | None, row: Row) -> dict[str, Any]:
        gold = label(row[self.column])
        if self.words and gold not in self.words:
            raise ValueError(
                f"row {row.get('id')!r} has the right answer {gold!r}, which is none of {shown(self.words)}; "
                "name all labels, or leave the row out"
            )
        return {"prediction": prediction, "gold": gold, "score": float(prediction == gold)}


MEANT = {True: ("yes", "true", "1"), False: ("no", "false", "0")}  # what answers that are true or false are called


def numbered(answer: bool | float, names: Sequence[str]) -> str | None:
    """Return the label that is called so, or that stands at this place, from 0; None where there is none.

    True is yes, whatever its place. Where labels are numbers themselves, the place of another one is refused: one run
    would read both.

    >>> numbered(1, ["no", "yes"]), numbered(1, ["1", "2"]), numbered(True, ["yes", "no"])
    ('yes', '1', 'yes')
    >>> numbered(0, ["1", "2"])
    Traceback (most recent call last):
    ...
    ValueError: an answer is 0, and the labels are the numbers 1, 2; say which is which, as in --label-map 0=1,1=2
    """
    called = label(answer)
    if called in names:
        return called
    if isinstance(answer, bool) and (meant := [name for name in names if name.casefold() in MEANT[answer]]):
        return meant[0]
    written = label(int(answer)) if isinstance(answer, bool) else called
    if not written.isdecimal() or int(written) >= len(names):
        return None
    numbers = [name for name in names if name.isdecimal()]
    if numbers:
        raise ValueError(
            f"an answer is {written}, and the labels are the numbers {shown(numbers)}; say which is which, as in "
            f"--label-map {by_place(names)}"
        )
    return names[int(written)]


def by_place(names: Sequence[str]) -> str:
    """Return a map from the places of the first labels to their names, as `--label-map` takes it.

    >>> by_place(["no", "yes"])
    '0=no,1=yes'
    """
    return ",".join(f"{place}={name}" for place, name in enumerate(names[:4]))


def renamed(raw: Any, label_map: Mapping[str, str]) -> Any:
    """Return the label that a map has for an answer, or the answer where it has none.

    >>> renamed(0, {"0": "no"}), renamed({"label": "LABEL_0"}, {"LABEL_0": "no"}), renamed("yes", {"0": "no"})
    ('no', 'no', 'yes')
    """
    said = raw["label"] if isinstance(raw, Mapping) and "label" in raw else raw
    return label_map.get(label(said), raw)


def few_labels(rows: Sequence[Row], column: str) -> tuple[str, ...]:
    """Return the labels in a column; none where there are too many to choose from.

    >>> few_labels([{"label": "b"}, {"label": "a"}, {"label": "b"}], "label")
    ('a', 'b')
    """
    found = {label(row[column]) for row in rows}
    return tuple(sorted(found)) if len(found) <= MOST_LABELS else ()


@dataclass(frozen=True, slots=True)
class Exact(_Plain):
    """An answer that is right when it is the same as the gold one: the kind of rows that bring no task."""

    column: str = "answer"
    max_tokens: int = 64
    golds: tuple[str, ...] = ()  # the right answers there are, where they are few

    def seeing(self, rows: Sequence[Row]) -> Exact:
        """Return this kind with the right answers of rows, where these look like labels."""
        held = next((row[self.column] for row in rows if isinstance(row[self.column], Mapping | list)), None)
        if held is not None:
            raise TypeError(
                f"the column {self.column!r} holds {shown([str(held)[:60]])}, and no text that an answer could equal; "
                "name the task whose right answers these are (lapsus tasks), such as noiseqa for passages"
            )
        return replace(self, golds=few_labels(rows, self.column))

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def parse(self, raw: Any, row: Row) -> str | None:
        if isinstance(raw, str):
            return plain(raw) or None
        return None if raw is None else label(raw)

    def judged(self, prediction: str | None, row: Row) -> dict[str, Any]:
        gold = label(row[self.column])
        return {"prediction": prediction, "gold": gold, "score": float(prediction in {gold, plain(gold)})}


@dataclass(frozen=True, slots=True)
class Frame(_Plain):
    """An intent and slots, or slots alone; `score` says whether all of it is right, `intent_right` the intent alone.

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

    def bound(self, features: Mapping[str, Sequence[str]]) -> Frame:
        slots = dict.fromkeys(tag[2:] for tag in features.get("tags", ()) if tag != "O")
        return replace(
            self,
            intents=tuple(features.get("intent", self.intents)),
            slots=tuple(features.get("slots", ())) or tuple(slots) or self.slots,
        )

    def seeing(self, rows: Sequence[Row]) -> Frame:
        slots = {tag[2:] for row in rows for tag in row.get("tags") or () if tag != "O"}
        slots |= {str(slot[0]) for row in rows for slot in row.get("slots") or ()}
        intents = few_labels(rows, "intent") if self.with_intent else ()
        return replace(self, intents=self.intents or intents, slots=self.slots or tuple(sorted(slots)))

    def filling(self) -> Mapping[str, str]:
        return {"intents": ", ".join(self.intents), "slots": ", ".join(self.slots)}

    def parse(self, raw: Any, row: Row) -> dict[str, Any] | None:
        found = first_object(raw) if isinstance(raw, str) else raw
        if isinstance(found, list) and not self.with_intent:
            found = {"tags": found}
        if not isinstance(found, Mapping) or (self.with_intent and found.get("intent") is None):
            return None
        intent = self._intent(found["intent"]) if self.with_intent else ""
        tags = found.get("tags")
        slots: list[tuple[str, str]] | None
        if tags is not None:
            if not isinstance(tags, list | tuple):
                return None
            try:
                slots = spans(row.get("tokens") or [], [str(tag) for tag in tags])
            except ValueError:
                return None
        else:
            slots = _slot_list(found.get("slots") or {})
        if intent is None or slots is None:
            return None
        return {"intent": intent, "slots": sorted(slots)}

    def _intent(self, said: Any) -> str | None:
        if not self.intents:
            return str(said)
        if isinstance(said, int):
            return numbered(said, self.intents)
        return chosen(str(said), {intent: intent for intent in self.intents})

    def judged(self, prediction: dict[str, Any] | None, row: Row) -> dict[str, Any]:
        told = row.get("slots")
        gold = spans(row["tokens"], row["tags"]) if told is None else [tuple(slot) for slot in told]
        mine = prediction or {"intent": None, "slots": []}
        right = prediction is not None and _folded(mine["slots"]) == _folded(gold)
        made: dict[str, Any] = {}
        if self.with_intent:
            intent = label(row["intent"])
            made = {"prediction": mine["intent"], "gold": intent, "intent_right": float(mine["intent"] == intent)}
            right = right and mine["intent"] == intent
        slots = [list(slot) for slot in mine["slots"]]
        return {**made, "score": float(right), "slots": slots, "gold_slots": sorted(list(slot) for slot in gold)}


def spans(tokens: Sequence[str], tags: Sequence[str]) -> list[tuple[str, str]]:
    """Return the slots of BIO tags with their words.

    >>> spans(["play", "new", "wave", "now"], ["O", "B-genre", "I-genre", "O"])
    [('genre', 'new wave')]
    """
    if len(tokens) != len(tags):
        raise ValueError(f"{len(tokens)} tokens but {len(tags)} tags; give one tag per token")
    return [(slot.label, " ".join(tokens[slot.start : slot.end])) for slot in bio.slots(tags)]


def _slot_list(slots: Any) -> list[tuple[str, str]] | None:
    """Read slots written as {slot: text}, {slot: [texts]} or [[slot, text]]; None where they are nested deeper.

    >>> _slot_list({"city": "Rome", "day": ["today"]}), _slot_list({"city": {"name": "Rome"}})
    ([('city', 'Rome'), ('day', 'today')], None)
    """
    if isinstance(slots, Mapping):
        pairs = [(name, each) for name, held in slots.items() for each in (held if isinstance(held, list) else [held])]
    elif isinstance(slots, list) and all(isinstance(each, list | tuple) and len(each) == 2 for each in slots):
        pairs = [(each[0], each[1]) for each in slots]
    else:
        return None
    if any(isinstance(part, Mapping | list | tuple) for pair in pairs for part in pair):
        return None
    return [(str(name), str(text)) for name, text in pairs if text is not None and text != ""]


def _folded(slots: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted((name, " ".join(str(text).casefold().split())) for name, text in slots)


@dataclass(frozen=True, slots=True)
class Span(_Plain):
    """A passage of the context: `score` is its F1, `exact` exact match, by the rules of the metric `answer_f1`.

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
        found = raw.get("answer") if isinstance(raw, Mapping) else raw
        return answered(found) or None if isinstance(found, str) else None

    def judged(self, prediction: str | None, row: Row) -> dict[str, Any]:
        golds = [gold or self.unanswerable for gold in right_answers(row[self.column])]
        if not any(golds):
            raise ValueError(f"row {row.get('id')!r} has no answer, and the task knows no word for that; leave it out")
        exact, f1 = best_match(prediction, golds, self.rules) if prediction else (0.0, 0.0)
        return {"prediction": prediction, "gold": golds[0], "golds": golds, "score": f1, "exact": exact}


@dataclass(frozen=True, slots=True)
class Translation(_Plain):
    """A translation: `score` is the chrF of the sentence, from 0 to 1; corpus scores come from `lapsus score`."""

    column: str = "reference"
    max_tokens: int = 256

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def parse(self, raw: Any, row: Row) -> str | None:
        return answered(raw) or None if isinstance(raw, str) else None

    def judged(self, prediction: str | None, row: Row) -> dict[str, Any]:
        from sacrebleu import sentence_chrf

        gold = row[self.column]
        score = sentence_chrf(prediction, [gold]).score / 100 if prediction else 0.0
        return {"prediction": prediction, "gold": gold, "score": min(1.0, score), "chrf": 100 * score}


@dataclass(frozen=True, slots=True)
class Query(_Plain):
    """An SQL query: `score` is Spider's exact set match, values left out; `executed` compares results on a database.

    A row may hold `database`, the path of an SQLite file.
    """

    column: str = "query"
    max_tokens: int = 256

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def parse(self, raw: Any, row: Row) -> str | None:
        return first_query(raw) if isinstance(raw, str) else None

    def judged(self, prediction: str | None, row: Row) -> dict[str, Any]:
        from lapsus.running.queries import same_clauses, same_result

        gold = row[self.column]
        right = prediction is not None and same_clauses(prediction, gold)
        made = {"prediction": prediction, "gold": gold, "score": float(right)}
        if row.get("database"):
            made["executed"] = float(prediction is not None and same_result(prediction, gold, row["database"]))
        return made


@dataclass(frozen=True, slots=True)
class Similarity(_Plain):
    """How alike two texts mean, from 0 to 100; `score` is a hundredth of it. There is no right answer.

    `tags` are the dialects of the base sentence and of the other one, as a model is told them.
    """

    tags: tuple[str, str] = ("its dialect", "another dialect")
    max_tokens: int = 8

    @property
    def gold_columns(self) -> tuple[str, ...]:
        return ()

    def parse(self, raw: Any, row: Row) -> float | None:
        number = first_number(raw) if isinstance(raw, str) else raw
        if isinstance(number, bool) or not isinstance(number, int | float) or not -ROUNDING <= number <= 100 + ROUNDING:
            return None
        return float(min(100, max(0, number)))

    def judged(self, prediction: float | None, row: Row) -> dict[str, Any]:
        return {"prediction": prediction, "score": None if prediction is None else prediction / 100}
