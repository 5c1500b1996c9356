"""Systems that write an answer, without a checkpoint: they take it from the question that is most alike.

For `lapsus run … --model python:nearest:sql`; `DATA` in the environment is a folder with datasets of `lapsus build`.
CSpider's and WMT's training parts are not in the sources here, so what is remembered are the *other* rows of the clean
test split: these systems show what noise does to a model that reads surfaces, not how good a parser or a translator
is. Each row's own answer is left out.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import log
from pathlib import Path
from typing import Any

from datasets import load_dataset

Rows = list[dict[str, Any]]
Weights = dict[str, float]
CLAUSE = re.compile(r"[^，。；！？、\n]+")


def runs_of_characters(text: str) -> Counter[str]:
    """Return the runs of one to three characters of a text, with how often they occur.

    >>> sorted(runs_of_characters("几人"))
    ['人', '几', '几人']
    """
    return Counter(text[start : start + n] for n in (1, 2, 3) for start in range(len(text) - n + 1))


@dataclass(frozen=True)
class Rarity:
    """How much a run of characters says: the more, the fewer texts have it."""

    texts: int
    having: Counter[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Rarity:
        """Count runs of characters in texts."""
        seen = [set(runs_of_characters(text)) for text in texts]
        return cls(len(seen), Counter(run for runs in seen for run in runs))

    def weights(self, text: str) -> Weights:
        """Return the runs of a text as a vector of length 1."""
        told = {run: n * log((1 + self.texts) / (1 + self.having[run])) for run, n in runs_of_characters(text).items()}
        size = sum(weight * weight for weight in told.values()) ** 0.5 or 1.0
        return {run: weight / size for run, weight in told.items()}


@dataclass(frozen=True)
class Memory:
    """Texts with their answers, by the group that is searched; each has an id."""

    rarity: Rarity
    kept: dict[str, list[tuple[str, Weights, str]]]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str, str, str]]) -> Memory:
        """Keep rows of group, id, text and answer."""
        told = list(rows)
        rarity = Rarity.of(text for _, _, text, _ in told)
        kept = defaultdict(list)
        for group, key, text, answer in told:
            kept[group].append((key, rarity.weights(text), answer))
        return cls(rarity, dict(kept))

    def answer(self, group: str, key: str, text: str) -> str:
        """Return the answer of the text in a group that is most alike, other than the one with this id."""
        asked = self.rarity.weights(text)
        alike = [
            (sum(weight * known.get(run, 0.0) for run, weight in asked.items()), answer)
            for other, known, answer in self.kept[group]
            if other != key
        ]
        return max(alike, key=lambda each: each[0])[1] if alike else ""


def clean_rows(dataset: str) -> Rows:
    """Return the clean test rows of a built dataset."""
    return list(load_dataset(str(Path(os.environ["DATA"]) / dataset), "clean", split="test"))


@cache
def _queries() -> Memory:
    rows = clean_rows("readin-cspider-sim")
    return Memory.of((row["db_id"], row["id"], row["question"], row["query"]) for row in rows)


def sql(rows: Rows) -> list[str]:
    """Answer with the query of the nearest other question to the same database."""
    return [_queries().answer(row["db_id"], row["id"], row["question"]) for row in rows]


@cache
def _translations() -> Memory:
    rows = [(row["id"], row["translation"]) for row in clean_rows("readin-wmt2021")]
    return Memory.of(("", key, both["zh"], both["en"]) for key, both in rows)


def english(rows: Rows) -> list[str]:
    """Answer with the translation of the nearest other sentence."""
    return [_translations().answer("", row["id"], row["zh"]) for row in rows]


@cache
def _contexts() -> Rarity:
    return Rarity.of({row["context"] for row in clean_rows("readin-cmrc2018-sim")})


@cache
def _clauses(context: str) -> list[tuple[str, Weights]]:
    return [(clause, _contexts().weights(clause)) for clause in CLAUSE.findall(context)]


def passage(rows: Rows) -> list[str]:
    """Answer with what the clause most like the question has beside the question's own characters: its longest run."""
    found = []
    for row in rows:
        asked = _contexts().weights(row["question"])
        clauses = _clauses(row["context"])
        clause = max(clauses, key=lambda each: sum(asked.get(run, 0.0) * weight for run, weight in each[1].items()))[0]
        own = re.split(f"[{re.escape(row['question'])}]", clause) if row["question"] else [clause]
        found.append(max(own, key=len).strip() or clause)
    return found
