"""A model as judge: `judge:MODEL`, with any model that `--model` takes.

With gold answers the judge says of each answer whether it is right. Without them it compares the answer to the noisy
text with the answer to the clean one, in both orders: only a verdict that stays the same counts, any other is a tie. A
judge reads the clean question and texts, and no name of a track; equal requests are sent once and cached as those of
models are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lapsus.core.types import Row
from lapsus.evaluation.answer_types import FreeText
from lapsus.evaluation.models import ModelAdapter, open_model
from lapsus.evaluation.parsing import find_json_object
from lapsus.evaluation.scorers import Answer, AnswerScore, Reference, ScorerOptions, ScorerProvider

RIGHT = "Does the answer say the same as the reference? Its form and its length do not count."
BETTER = "Which answer to the question is better? Their form, their length and their order do not count."
VERDICT_FORM = 'Reply with JSON alone: {"verdict": "right", "partly" or "wrong", "reason": "…"}'
WINNER_FORM = 'Reply with JSON alone: {"winner": "A", "B" or "tie", "reason": "…"}'
VERDICTS = {"right": 1.0, "correct": 1.0, "yes": 1.0, "partly": 0.5, "wrong": 0.0, "incorrect": 0.0, "no": 0.0}
TEXT = {"type": "string"}
TITLES = {"question": "QUESTION", "gold": "REFERENCE", "answer": "ANSWER", "a": "ANSWER A", "b": "ANSWER B"}
UNREAD = "the judge's verdict cannot be read"
TURNED = "turned verdicts"  # the share of pairs whose verdict follows the order


@dataclass(frozen=True, slots=True)
class VerdictAnswer(FreeText):
    """The JSON object that a judge replies with."""

    properties: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int = 256

    @property
    def gold_columns(self) -> tuple[str, ...]:
        """Nothing: a verdict has no gold answer."""
        return ()

    @property
    def schema(self) -> Mapping[str, Any]:
        """The object with a verdict, and a reason."""
        properties = {**self.properties, "reason": TEXT}
        return {"type": "object", "properties": properties, "required": list(self.properties)}

    def read_gold(self, row: Row) -> None:
        """Return None."""

    def parse(self, raw: Any, row: Row) -> dict[str, Any] | None:
        """Return the first JSON object of a reply."""
        return dict(raw) if isinstance(raw, Mapping) else find_json_object(raw) if isinstance(raw, str) else None

    def score(self, prediction: dict[str, Any] | None, row: Row) -> dict[str, Any]:
        """Return the verdict as the prediction."""
        return {"prediction": prediction, "score": None}


@dataclass(frozen=True, slots=True)
class JudgeScorer:
    """The verdicts of a model: on each answer beside its gold answers, or on pairs of answers in both orders."""

    name: str
    model: ModelAdapter = field(repr=False)
    rubric: str = ""
    cache: Path | None = None
    reference: Reference = "either"

    def fit(self, answers: Sequence[Answer]) -> JudgeScorer:
        """Return the judge itself."""
        return self

    def score(self, answers: Sequence[Answer]) -> list[AnswerScore]:
        """Return the score of each answer."""
        pairs = [answer for answer in answers if answer.compared_with == "clean"]
        if pairs and len(pairs) < len(answers):
            raise ValueError("some answers have gold answers and others have none; give all of them one")
        return self._compare(answers) if pairs else self._rate(answers)

    def _rate(self, answers: Sequence[Answer]) -> list[AnswerScore]:
        """Return how right each answer is, beside its gold answers."""
        template = make_template(self.rubric or RIGHT, ("question", "gold", "answer"), VERDICT_FORM)
        rows = [
            {"question": answer.question, "gold": " / ".join(answer.golds), "answer": answer.text} for answer in answers
        ]
        verdicts = self._ask([(fill(template, row), row) for row in rows], {"verdict": {"enum": list(VERDICTS)}})
        return [read_verdict(verdicts[fill(template, row)]) for row in rows]

    def _compare(self, answers: Sequence[Answer]) -> list[AnswerScore]:
        """Return whether each answer is better than the one to the clean text: 1, 0, or 0.5 for a tie."""
        template = make_template(self.rubric or BETTER, ("question", "a", "b"), WINNER_FORM)
        pairs = [(answer.text, answer.golds[0]) for answer in answers]
        orders: list[tuple[Row, Row]] = [
            (
                {"question": answer.question, "a": noisy, "b": clean},
                {"question": answer.question, "a": clean, "b": noisy},
            )
            for answer, (noisy, clean) in zip(answers, pairs, strict=True)
        ]
        rows = [row for pair, (noisy, clean) in zip(orders, pairs, strict=True) if noisy != clean for row in pair]
        verdicts = self._ask([(fill(template, row), row) for row in rows], {"winner": {"enum": ["A", "B", "tie"]}})
        return [
            AnswerScore(0.5, parts={TURNED: 0.0})
            if noisy == clean
            else combine_orders(*(verdicts[fill(template, row)] for row in pair))
            for pair, (noisy, clean) in zip(orders, pairs, strict=True)
        ]

    def _ask(self, requests: Iterable[tuple[str, Row]], properties: Mapping[str, Any]) -> dict[str, Row]:
        """Return the row with the judge's reply to each request; each is sent once, in an order that tells nothing."""
        from lapsus.evaluation.runner import Evaluation
        from lapsus.evaluation.tasks import Task
        from lapsus.evaluation.tracks import TrackSet

        columns = dict(requests)
        texts = sorted(columns)
        if not texts:
            return {}
        task = Task("judge", ("request",), "{request}", VerdictAnswer(properties), dataset="judge")
        rows = [{"id": str(place), "request": text, **columns[text]} for place, text in enumerate(texts)]
        data = TrackSet.from_rows("judge", task, rows)
        outcome = Evaluation(data, self.model, cache=self.cache).execute()
        return dict(zip(texts, outcome.tracks[0].rows, strict=True))


def make_template(rubric: str, fields: Sequence[str], form: str) -> str:
    """Return a rubric with the form of the reply, and the fields that the rubric lacks.

    >>> print(make_template("Is it polite?", ["answer"], "Reply with JSON."))
    Is it polite?
    Reply with JSON.
    <BLANKLINE>
    ANSWER: {answer}
    """
    missing = [f"{TITLES[name]}: {{{name}}}" for name in fields if f"{{{name}}}" not in rubric]
    return "\n\n".join(filter(None, (f"{rubric.strip()}\n{form}", "\n".join(missing))))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with the values of its fields; other braces, and those of values, stay.

    >>> fill('{answer} {"score": 1}', {"answer": "{gold}", "gold": "x"})
    '{gold} {"score": 1}'
    """
    parts = [template]
    for name, value in values.items():
        pieces: list[str] = []
        for place, part in enumerate(parts):
            split = part.split(f"{{{name}}}") if place % 2 == 0 else [part]
            pieces += [each for piece in split for each in (value, piece)][1:]
        parts = pieces
    return "".join(parts)


def read_verdict(row: Row) -> AnswerScore:
    """Return the score that a reply of the judge gives: a verdict, or a number from 0 to 1.

    >>> read_verdict({"prediction": {"verdict": "Partly"}}).value, read_verdict({"prediction": {"score": 0.8}}).value
    (0.5, 0.8)
    """
    reply = row["prediction"] or {}
    word, number = reply.get("verdict"), reply.get("score")
    if isinstance(word, bool):
        return AnswerScore(float(word))
    if isinstance(word, str) and word.strip().casefold() in VERDICTS:
        return AnswerScore(VERDICTS[word.strip().casefold()], str(reply.get("reason") or ""))
    if isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number <= 1:
        return AnswerScore(float(number), str(reply.get("reason") or ""))
    return _refuse(row)


def combine_orders(there: Row, back: Row) -> AnswerScore:
    """Return the score of answer A of the first order: only a winner in both orders wins.

    >>> first, second = {"prediction": {"winner": "A"}}, {"prediction": {"winner": "B"}}
    >>> combine_orders(first, second).value, combine_orders(first, first).value
    (1.0, 0.5)
    """
    winners = [str((row["prediction"] or {}).get("winner", "")).strip().casefold() for row in (there, back)]
    points = {"a": 1.0, "b": 0.0, "tie": 0.5}
    unread = next((row for row, winner in zip((there, back), winners, strict=True) if winner not in points), None)
    if unread is not None:
        return _refuse(unread)
    value, again = points[winners[0]], 1 - points[winners[1]]
    return AnswerScore(value if value == again else 0.5, parts={TURNED: float(value != again)})


def _refuse(row: Row) -> AnswerScore:
    return AnswerScore(None, f"the judge gave no answer: {row['error']}" if row.get("error") else UNREAD)


def open_judge(rest: str, options: ScorerOptions) -> JudgeScorer:
    """Return the judge that `MODEL` names; its rubric is a file, its replies are cached."""
    rubric = "" if options.rubric is None else options.rubric.read_text(encoding="utf-8")
    if options.rubric is not None and not rubric.strip():
        raise ValueError(f"{options.rubric} is empty; write what the judge is asked")
    return JudgeScorer(f"judge:{rest}", open_model(rest), rubric, options.cache)


UNITS = (ScorerProvider("judge", "judge:MODEL", "verdicts of a model, with any that --model takes", open_judge),)
