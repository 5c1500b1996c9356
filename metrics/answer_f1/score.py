"""Whether a question was answered by a passage: exact match and F1, as SQuAD's and CMRC2018's scripts compute them."""

from __future__ import annotations

import re
import string
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.kernel import columns, statistics
from lapsus.kernel.words import mostly_chinese

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

RULES = ("squad", "cmrc2018")


def answer_f1(
    predictions: Iterable[str],
    references: Iterable[str] | Iterable[Iterable[str]] | Iterable[Mapping[str, Any]],
    *,
    rules: str | None = None,
    clusters: Iterable[Any] | None = None,
    confidence_level: float = 0.95,
) -> dict[str, Any]:
    """Return the exact matches and the F1 of answers to questions, each against the nearest of its right answers.

    Args:
        predictions: the answers; an empty one says that there is none.
        references: for each question its right answer, or the list of them, or SQuAD's `{"text": [...]}`; an empty
            list where the passage has no answer.
        rules: "squad" (1.1 and 2.0) ignores case, punctuation and the English articles, and its F1 is that of the words
            that two answers share. "cmrc2018" ignores case and some punctuation, and its F1 is that of the longest run
            of words that two answers share, each Chinese character being a word. None takes the latter where the
            letters of the references are mostly Chinese.
        clusters: what each question was made from: questions that share an original count as one finding.
        confidence_level: of the intervals.

    Returns:
        exact_match: the share of answers that are a right one.
        f1: the mean F1.
        exact_match_ci, f1_ci: Wilson's intervals at the effective number of originals.
        rules: whose were applied.
        examples: how many there are.

    Example:
        >>> result = answer_f1(["in Paris, France", "1889"], [["Paris"], ["the year 1889", "1889"]])
        >>> result["exact_match"], result["f1"]
        (0.5, 0.75)
        >>> answer_f1(["范廷颂枢机"], [["范廷颂"]])["f1"]
        0.75
    """
    columns.one_of("rules", rules, (None, *RULES))
    statistics.check_level(confidence_level)
    answers = columns.texts("predictions", predictions)
    golds = _all_right_answers(references)
    examples = columns.same_length(predictions=answers, references=golds)
    rules = rules or rules_for(golds)
    found = np.array([best_match(answer, gold, rules) for answer, gold in zip(answers, golds, strict=True)])
    given = None if clusters is None else columns.listed("clusters", clusters)
    exact, f1 = (statistics.average(scores, given, level=confidence_level) for scores in found.T)
    return {
        "exact_match": exact.mean,
        "f1": f1.mean,
        "exact_match_ci": exact.interval,
        "f1_ci": f1.interval,
        "rules": rules,
        "examples": examples,
    }


def right_answers(gold: Any, place: str = "the right answer") -> list[str]:
    """Return the right answers of one question, given as a text, a list of texts, or SQuAD's `{"text": [...]}`.

    >>> right_answers({"text": ["Paris"], "answer_start": [7]}), right_answers("Paris"), right_answers([])
    (['Paris'], ['Paris'], [''])
    """
    held = gold["text"] if hasattr(gold, "keys") and "text" in gold else gold
    texts = [held] if isinstance(held, str) else held
    if hasattr(texts, "tolist"):
        texts = texts.tolist()
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f'{place} is {gold!r}: give a text, a list of texts, or {{"text": [...]}}.')
    return list(texts) or [""]


def rules_for(golds: Iterable[Sequence[str]]) -> str:
    """Return the rules that suit the language of the right answers.

    >>> rules_for([["Paris"]]), rules_for([["巴黎"], ["1889"]])
    ('squad', 'cmrc2018')
    """
    return "cmrc2018" if mostly_chinese(text for gold in golds for text in gold) else "squad"


def best_match(answer: str, golds: Sequence[str], rules: str) -> tuple[float, float]:
    """Return the exact match and the F1 of one answer, each the best over the right answers.

    >>> best_match("The Eiffel Tower!", ["Eiffel tower", "tower"], "squad")
    (1.0, 1.0)
    """
    compared = _squad if rules == "squad" else _cmrc
    if rules == "squad":  # as SQuAD 2.0 does: what is only an article or a mark is no answer
        golds = [gold for gold in golds if squad_words(gold)] or [""]
    pairs = [compared(answer, gold) for gold in golds]
    return max(exact for exact, _ in pairs), max(f1 for _, f1 in pairs)


def _all_right_answers(references: Iterable[Any]) -> list[list[str]]:
    column = columns.listed("references", references)
    golds = [right_answers(gold, f"references[{place}]") for place, gold in enumerate(column)]
    texts = [isinstance(gold, str) for gold in column]
    if len(set(texts)) > 1:
        place = texts.index(not texts[0])
        raise TypeError(f"references[{place}] is {column[place]!r}, unlike those before it: give all in one form.")
    return golds


def _squad(answer: str, gold: str) -> tuple[float, float]:
    mine, its = squad_words(answer), squad_words(gold)
    shared = (Counter(mine) & Counter(its)).total()
    exact = float(mine == its)
    return exact, 2 * shared / (len(mine) + len(its)) if mine and its else exact


PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLES = re.compile(r"\b(a|an|the)\b")


def squad_words(text: str) -> list[str]:
    """Return the words that SQuAD's scripts compare.

    >>> squad_words("The Eiffel Tower's height (in U.S. feet)")
    ['eiffel', 'towers', 'height', 'in', 'us', 'feet']
    """
    return ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split()


CMRC_MARKS = "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』"
WITHOUT_MARKS = str.maketrans("", "", CMRC_MARKS)
CHARACTER = re.compile(r"([\u4e00-\u9fa5])")


def _cmrc(answer: str, gold: str) -> tuple[float, float]:
    mine, its = cmrc_words(answer), cmrc_words(gold)
    run = SequenceMatcher(None, its, mine, autojunk=False).find_longest_match().size
    exact = answer.lower().strip().translate(WITHOUT_MARKS) == gold.lower().strip().translate(WITHOUT_MARKS)
    return float(exact), 2 * run / (len(mine) + len(its)) if run else 0.0


def cmrc_words(text: str) -> list[str]:
    """Return the words that CMRC2018's script compares: Chinese characters, and what nltk splits the rest into.

    >>> cmrc_words("《Pay-Pal》在1998年12月，Max Levchin's.")
    ['paypal', '在', '1998', '年', '12', '月', 'max', 'levchin', "'s", '.']
    """
    pieces = CHARACTER.split(text.lower().strip().translate(WITHOUT_MARKS))
    return [word for piece in pieces for word in ([piece] if CHARACTER.fullmatch(piece) else latin_words(piece))]


OPENS = re.compile(r"^\"|(?<=^\")\"|(?<=[ (\[{<])(?:\"|'')")
MARKS = re.compile(r"[;@#$%&?!*()\[\]{}<>«»“”‘’„\u2012-\u2015\"]|``|\.{2,}|''|[:,]$|(?<!\.)\.(?=[\])}>\"'»”’ ]*$)")
INNER = re.compile(r"([:,])(\D)")  # of two marks in a row, the second stays with what follows
QUOTED = re.compile(r"(?<!\w)'(?!(?:re|ve|ll|[mtsdn])\b)(?=\w)")
CLITICS = re.compile(r"(?<=[^' ])('(?:s|m|d|ll|re|ve)?|n't)(?= |$)")
TOGETHER = re.compile(r"\b(can|gim|gon|got|lem)(?=(?:(?<=can)not|(?<=gim)me|(?<=gon)na|(?<=got)ta|(?<=lem)me)\b)")


def latin_words(text: str) -> list[str]:
    """Return the words of a lower-case text in Latin letters, split as in the Penn Treebank.

    >>> latin_words("they can't pay $3,000 (u.s.).")
    ['they', 'ca', "n't", 'pay', '$', '3,000', '(', 'u.s.', ')', '.']
    """
    text = INNER.sub(r" \1 \2", OPENS.sub(" `` ", text))
    text = MARKS.sub(r" \g<0> ", text).replace('"', "''")
    text = TOGETHER.sub(r"\1 ", CLITICS.sub(r" \1 ", QUOTED.sub("' ", text)))
    return text.split()
