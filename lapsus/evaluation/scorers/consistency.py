"""Whether the answer to the noisy text says the same as the answer to the clean one: no gold answers are needed.

It is the F1 of the words of two answers without function words and the words of the question, each weighted by how few
of the run's clean answers have it (its idf). Of nineteen scores it told best which real answers say the same (AUC .919;
word F1 .816, a sentence encoder .830).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial

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


Split = Callable[[str], Sequence[str]]


def prepare_consistency(answers: Sequence[Answer]) -> Rate:
    """Return the score, with the weights of the words of these answers."""
    split = cache(split_answer)  # an answer to a clean text is compared with many others
    counts = Counter(word for answer in answers for word in set(split(answer.text)))
    size = len(answers)

    @cache
    def weigh(word: str) -> float:
        return math.log((size + 2) / (counts.get(word, 0) + 1))

    return partial(_rate_consistency, split, weigh)


def _rate_consistency(split: Split, weigh: Callable[[str], float], answer: Answer) -> float:
    """Return the mean agreement of an answer with each answer to the clean text."""
    asked = _list_question_words(split, answer)
    scores = [_compare(answer.text, clean, asked, split, weigh) for clean in answer.golds]
    return sum(scores) / len(scores)


def _list_question_words(split: Split, answer: Answer) -> frozenset[str]:
    """Return the words of the question, in its clean and its noisy form."""
    values = (answer.row.get(name) or "" for name in ("clean_text", "text"))
    texts = (" ".join(map(str, value)) if isinstance(value, list | tuple) else str(value) for value in values)
    return frozenset(word for text in texts for word in split(text))


def _compare(text: str, clean: str, asked: frozenset[str], split: Split, weigh: Callable[[str], float]) -> float:
    """Return how far two answers say the same; of single words, such as labels, whether they do.

    >>> _compare("It is red.", "Red", frozenset({"red", "or", "blue"}), split_answer, len)
    1.0
    >>> [_compare(*pair, frozenset({"red", "blue"}), split_answer, len) for pair in (("No.", "Yes."), ("Blue", "Red"))]
    [0.0, 0.0]
    """
    if text == clean:
        return 1.0
    words, clean_words = split(text), split(clean)
    if all(each.isascii() and len(each.split()) == 1 for each in (text, clean)):  # labels, which are right or wrong
        return float(words == clean_words)
    for ignored in (FUNCTION_WORDS | asked, FUNCTION_WORDS):  # what is new, then what is no function word
        new, clean_new = ([word for word in side if word not in ignored] for side in (words, clean_words))
        if new and clean_new:
            return compute_f1(new, clean_new, weigh)
    return compute_f1(words, clean_words, weigh)


def open_consistency(_: str, __: ScorerOptions) -> Scorer:
    """Return the scorer."""
    return FunctionScorer("consistency", prepare=prepare_consistency, reference="clean")


UNITS = (
    ScorerProvider(
        "consistency", "consistency", "agreement with the answer to the clean text; no gold answers", open_consistency
    ),
)
