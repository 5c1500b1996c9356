"""What a person and their input method have learned: words often confused, words typed right, candidates moved up.

The file holds words and numbers, fitted by tools/fit_keyboard.py: how often READIN's annotators typed one word for
another, and shares of words in AFQMC's training questions. It holds none of their sentences.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

MEMORIES = Path(__file__).parents[1] / "data" / "zh_keyboard_memory.json"
Options = tuple[Sequence[str], Sequence[float]]  # texts, and their weights added up


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """What is often written about, in one sort of texts."""

    about: Sequence[str]  # words by which a text of the topic is known
    words: Mapping[str, float]  # shares of the words
    follows: Mapping[str, Mapping[str, float]]  # shares of the words after a word


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What one person learned; compared by identity, so that it is a cheap key of caches."""

    confusions: Mapping[str, Options]  # what is typed for a word out of habit, and how often
    mastered: Mapping[str, float]  # how often a word comes out right that would have gone wrong
    ranks: Mapping[str, float]  # nats by which a candidate costs more than the engine says
    strays: Options  # characters that slip in anywhere

    @classmethod
    def from_json(cls, learned: Mapping[str, Any]) -> Memory:
        """Return what was learned, as it is kept in the file."""
        confusions = {old: cumulate_weights(new) for old, new in learned["confusions"].items()}
        return cls(confusions, learned["sure"], learned["ranks"], cumulate_weights(learned["strays"]))


NOTHING = Memory({}, {}, {}, ("的了是", (2.0, 3.0, 4.0)))


def cumulate_weights(weights: Mapping[str, float]) -> Options:
    """Return texts with their weights added up.

    >>> cumulate_weights({"马": 1.0, "嘛": 3.0})
    (['马', '嘛'], [1.0, 4.0])
    """
    return list(weights), list(accumulate(weights.values()))


@cache
def load_memories() -> Mapping[int, Mapping[str, Memory]]:
    """Return what each of READIN's annotators had learned, for questions and for prose."""
    people = enumerate(_load_learned()["people"], 1)
    return {number: {kind: Memory.from_json(learned) for kind, learned in row.items()} for number, row in people}


@cache
def _load_topics() -> Sequence[Topic]:
    return [Topic(**topic) for topic in _load_learned()["topics"]]


def find_topic(text: str) -> Topic | None:
    """Return the topic of a text, if it is a known one.

    >>> find_topic("花呗怎么还款") is not None, find_topic("今天天气很好")
    (True, None)
    """
    return next((topic for topic in _load_topics() if any(word in text for word in topic.about)), None)


@cache
def _load_learned() -> Any:
    return json.loads(MEMORIES.read_text(encoding="utf-8"))
