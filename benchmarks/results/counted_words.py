"""Baselines that count words or characters; lapsus alone suffices for all but the dialects' chrF (sacrebleu)."""

from __future__ import annotations

from functools import cache
from typing import Any

from heads import Rows, intent_of, rows_of, text_of

from lapsus.cli.demo_models import CommandModel, QuestionSearch


@cache
def _bayes(dataset: str, config: str, split: str) -> CommandModel:
    rows = rows_of(dataset, config, split)
    told = [(text_of(row).split(), intent_of(row)) for row in rows]
    return CommandModel.train(
        [{"tokens": words, "tags": ["O"] * len(words), "intent": named} for words, named in told], 0
    )


def _intents(rows: Rows, *data: str) -> list[str]:
    return [guess["intent"] for guess in _bayes(*data).predict([text_of(row).split() for row in rows])]


def snips(rows: Rows) -> list[str]:
    """Intents of SNIPS, by naive Bayes."""
    return _intents(rows, "nature-snips", "original", "train")


def atis(rows: Rows) -> list[str]:
    """Intents of ATIS, by naive Bayes."""
    return _intents(rows, "nature-atis", "original", "train")


def slurp(rows: Rows) -> list[str]:
    """Intents of SLURP, by naive Bayes."""
    return _intents(rows, "slurp-asr", "clean", "validation")


@cache
def _search() -> tuple[QuestionSearch, tuple[str, ...]]:
    found = tuple(dict.fromkeys(row["context"] for row in rows_of("noiseqa", "clean", "test")))
    return QuestionSearch.train(str.split, found), found


def noiseqa(rows: Rows) -> list[str]:
    """The paragraph of NoiseQA with the likest words and pairs of words, weighted by rarity."""
    search, found = _search()
    return [found[place] for place in search.predict([row["question"] for row in rows], found)]


def dialect(rows: Rows) -> list[float]:
    """The chrF of a sentence against its base."""
    from sacrebleu import sentence_chrf

    made: list[Any] = [sentence_chrf(row["candidate"], [row["base"]]).score for row in rows]
    return [min(100.0, float(each)) for each in made]
