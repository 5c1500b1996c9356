"""Right answers that are whole sentences: a model that writes its own is not judged by whether the two are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lapsus.kernel.columns import brief

if TYPE_CHECKING:
    from lapsus.results.coding import Answers, Codes

LONG = 20  # letters of a right answer, on average, from which it is a sentence and no label; one of Chinese counts two


def are_sentences(right: Answers | None) -> bool:
    """Return whether right answers are whole sentences that differ from each other.

    >>> from lapsus.results.coding import answers, coded
    >>> are_sentences(answers(coded(["The train is late.", "Nobody was in the old house."])))
    True
    >>> are_sentences(answers(coded(["entailment", "contradiction"])))
    False
    """
    if right is None or right.distinct * 2 < len(right):
        return False
    words = list(right.words.values())
    letters = sum(len(text) + sum(map(_is_han, text)) for text in words)
    several = sum(" " in text.strip() or any(map(_is_han, text)) for text in words)
    return letters >= LONG * len(words) and several * 2 > len(words)


def refuse_own_words(said: Codes, right: Answers, place: str) -> None:
    """Raise if right answers are sentences and most of what was said is none of them: being equal would say little.

    Who looks for a sentence among the right ones finds or misses it; frames and lists, written as JSON, are equal or
    not.
    """
    found = np.isin(said, right.hashes)
    if 2 * found.sum() >= len(found) or not are_sentences(right):
        return
    example = next(iter(right.words.values()))
    if not example.startswith(("{", "[")):
        raise ValueError(
            f"{place}: the right answers are sentences ({brief(example, 40)}) and the model writes its own, so that"
            " being equal says little; give each row a score from 0 to 1, as sacrebleu's"
            " sentence_chrf(prediction, [gold]).score / 100."
        )


def _is_han(letter: str) -> bool:
    return "\u4e00" <= letter <= "\u9fff"
