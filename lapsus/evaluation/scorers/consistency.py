"""Whether the answer to the noisy text says the same as the answer to the clean one: no gold answers are needed.

It is the F1 of the words of two answers without function words and the words of the question, each weighted by how few
of the run's clean answers have it (its idf). Of nineteen scores it told best which real answers say the same (AUC .919;
word F1 .816, a sentence encoder .830).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from lapsus.evaluation.scorers import Answer, FunctionScorer, Rate, Scorer, ScorerOptions, ScorerProvider
from lapsus.evaluation.scorers.words import compute_f1, split_answer

FUNCTION_TEXT = (
    "a an the is was were are be been it its this that these those of in on at to for from by with as and or but not "
    "no i you he she they we my your his her their our me him them what which who whom when where why how many much do "
    "does did has have had will would could can should may might there here than then so if about into over after "
    "before between during also just only very more most some any all each other such same own both few "
    "s t re ve ll d m "  # of contractions
    "的 了 是 在 和 与 也 有 吗 呢 吧 啊 这 那 个 就 都 很 着 被 把 为"
)
FUNCTION_WORDS = frozenset(FUNCTION_TEXT.split())


def prepare_consistency(answers: Sequence[Answer]) -> Rate:
    """Return the score, with the weights of the words of these answers."""
    counts = Counter(word for answer in answers for word in set(split_answer(answer.text)))
    return partial(_rate_consistency, counts, len(answers))


def _rate_consistency(counts: Mapping[str, int], size: int, answer: Answer) -> float:
    """Return the mean agreement of an answer with each answer to the clean text."""

    def weigh(word: str) -> float:
        return math.log((size + 2) / (counts.get(word, 0) + 1))

    asked = _list_question_words(answer)
    scores = [_compare(answer.text, clean, asked, weigh) for clean in answer.golds]
    return sum(scores) / len(scores)


def _list_question_words(answer: Answer) -> frozenset[str]:
    """Return the words of the question, in its clean and its noisy form."""
    values = (answer.row.get(name) or "" for name in ("clean_text", "text"))
    texts = (" ".join(map(str, value)) if isinstance(value, list | tuple) else str(value) for value in values)
    return frozenset(word for text in texts for word in split_answer(text))


def _compare(text: str, clean: str, asked: frozenset[str], weigh: Callable[[str], float]) -> float:
    """Return how far two answers say the same; of single words, such as labels, whether they do.

    >>> _compare("It is red.", "Red", frozenset({"red", "or", "blue"}), lambda _: 1.0)
    1.0
    >>> _compare("No.", "Yes.", frozenset(), lambda _: 1.0), _compare("Blue", "Red", frozenset({"red", "blue"}), len)
    (0.0, 0.0)
    """
    if text == clean:
        return 1.0
    if all(each.isascii() and len(each.split()) == 1 for each in (text, clean)):  # labels, which are right or wrong
        return float(split_answer(text) == split_answer(clean))
    pairs = zip(_list_contents(text, asked), _list_contents(clean, asked), strict=True)
    words, clean_words = next((pair for pair in pairs if all(pair)), (split_answer(text), split_answer(clean)))
    return compute_f1(words, clean_words, weigh)


def _list_contents(text: str, asked: frozenset[str]) -> Iterator[list[str]]:
    """Yield the words that say something new, then those that are no function words."""
    words = split_answer(text)
    for ignored in (FUNCTION_WORDS | asked, FUNCTION_WORDS):
        yield [word for word in words if word not in ignored]


def open_consistency(_: str, __: ScorerOptions) -> Scorer:
    """Return the scorer."""
    return FunctionScorer("consistency", prepare=prepare_consistency, reference="clean")


UNITS = (
    ScorerProvider(
        "consistency", "consistency", "agreement with the answer to the clean text; no gold answers", open_consistency
    ),
)
