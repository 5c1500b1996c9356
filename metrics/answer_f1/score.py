"""Whether a question was answered by a passage: exact match and F1, as SQuAD's and CMRC2018's scripts compute them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus import stats
from lapsus.core import checks
from lapsus.core.text import is_mostly_chinese
from lapsus.io.tables import to_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lapsus.core.checks import FloatArray
    from lapsus.io.tables import Column


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
        clusters: the original of each question; questions with the same original form one cluster.
        confidence_level: of the intervals.

    Returns:
        exact_match: the share of answers that are a right one.
        f1: the mean F1.
        exact_match_ci, f1_ci: Wilson's intervals at the effective number of clusters.
        rules: whose were applied.
        examples: how many there are.

    Example:
        >>> result = answer_f1(["in Paris, France", "1889"], [["Paris"], ["the year 1889", "1889"]])
        >>> result["exact_match"], result["f1"]
        (0.5, 0.75)
        >>> answer_f1(["范廷颂枢机"], [["范廷颂"]])["f1"]
        0.75
    """
    checks.check_choice("rules", rules, (None, *RULES))
    stats.check_level(confidence_level)
    answers = checks.check_texts("predictions", predictions)
    golds = _parse_all_golds(references)
    examples = checks.check_same_length(predictions=answers, references=golds)
    rules = rules or choose_rules(golds)
    matches = np.array([match_best(answer, gold, rules) for answer, gold in zip(answers, golds, strict=True)])
    cluster_column = None if clusters is None else checks.check_list("clusters", clusters)
    exact, f1 = (stats.estimate_average(scores, cluster_column, level=confidence_level) for scores in matches.T)
    return {
        "exact_match": exact.mean,
        "f1": f1.mean,
        "exact_match_ci": exact.interval,
        "f1_ci": f1.interval,
        "rules": rules,
        "examples": examples,
    }


def parse_golds(gold: Any, place: str = "the right answer") -> list[str]:
    """Return the right answers of one question, given as a text, a list of texts, or SQuAD's `{"text": [...]}`.

    >>> parse_golds({"text": ["Paris"], "answer_start": [7]}), parse_golds("Paris"), parse_golds([])
    (['Paris'], ['Paris'], [''])
    """
    answers = gold["text"] if hasattr(gold, "keys") and "text" in gold else gold
    texts = [answers] if isinstance(answers, str) else answers
    if hasattr(texts, "tolist"):
        texts = texts.tolist()
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f'{place} is {gold!r}: give a text, a list of texts, or {{"text": [...]}}.')
    return list(texts) or [""]


def choose_rules(golds: Iterable[Sequence[str]]) -> str:
    """Return the rules that suit the language of the right answers.

    >>> choose_rules([["Paris"]]), choose_rules([["巴黎"], ["1889"]])
    ('squad', 'cmrc2018')
    """
    return "cmrc2018" if is_mostly_chinese(text for gold in golds for text in gold) else "squad"


def match_best(answer: str, golds: Sequence[str], rules: str) -> tuple[float, float]:
    """Return the exact match and the F1 of one answer, each the best over the right answers.

    >>> match_best("The Eiffel Tower!", ["Eiffel tower", "tower"], "squad")
    (1.0, 1.0)
    """
    match_pair = _match_squad if rules == "squad" else _match_cmrc
    if rules == "squad":  # as SQuAD 2.0 does: what is only an article or a mark is no answer
        golds = [gold for gold in golds if tokenize_squad(gold)] or [""]
    pairs = [match_pair(answer, gold) for gold in golds]
    return max(exact for exact, _ in pairs), max(f1 for _, f1 in pairs)


def _parse_all_golds(references: Iterable[Any]) -> list[list[str]]:
    column = checks.check_list("references", references)
    golds = [parse_golds(gold, f"references[{place}]") for place, gold in enumerate(column)]
    texts = [isinstance(gold, str) for gold in column]
    if len(set(texts)) > 1:
        place = texts.index(not texts[0])
        raise TypeError(f"references[{place}] is {column[place]!r}, unlike those before it: give all in one form.")
    return golds


def _match_squad(answer: str, gold: str) -> tuple[float, float]:
    answer_words, gold_words = tokenize_squad(answer), tokenize_squad(gold)
    shared = (Counter(answer_words) & Counter(gold_words)).total()
    exact = float(answer_words == gold_words)
    return exact, 2 * shared / (len(answer_words) + len(gold_words)) if answer_words and gold_words else exact


PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLES = re.compile(r"\b(a|an|the)\b")


def tokenize_squad(text: str) -> list[str]:
    """Return the words that SQuAD's scripts compare.

    >>> tokenize_squad("The Eiffel Tower's height (in U.S. feet)")
    ['eiffel', 'towers', 'height', 'in', 'us', 'feet']
    """
    return ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split()


CMRC_MARKS = "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』"
WITHOUT_MARKS = str.maketrans("", "", CMRC_MARKS)
CHARACTER = re.compile(r"([\u4e00-\u9fa5])")


def _match_cmrc(answer: str, gold: str) -> tuple[float, float]:
    answer_words, gold_words = tokenize_cmrc(answer), tokenize_cmrc(gold)
    run = SequenceMatcher(None, gold_words, answer_words, autojunk=False).find_longest_match().size
    exact = answer.lower().strip().translate(WITHOUT_MARKS) == gold.lower().strip().translate(WITHOUT_MARKS)
    return float(exact), 2 * run / (len(answer_words) + len(gold_words)) if run else 0.0


def tokenize_cmrc(text: str) -> list[str]:
    """Return the words that CMRC2018's script compares: Chinese characters, and what nltk splits the rest into.

    >>> tokenize_cmrc("《Pay-Pal》在1998年12月，Max Levchin's.")
    ['paypal', '在', '1998', '年', '12', '月', 'max', 'levchin', "'s", '.']
    """
    pieces = CHARACTER.split(text.lower().strip().translate(WITHOUT_MARKS))
    return [word for piece in pieces for word in ([piece] if CHARACTER.fullmatch(piece) else tokenize_latin(piece))]


OPENS = re.compile(r"^\"|(?<=^\")\"|(?<=[ (\[{<])(?:\"|'')")
MARKS = re.compile(r"[;@#$%&?!*()\[\]{}<>«»“”‘’„\u2012-\u2015\"]|``|\.{2,}|''|[:,]$|(?<!\.)\.(?=[\])}>\"'»”’ ]*$)")
INNER = re.compile(r"([:,])(\D)")  # of two marks in a row, the second stays with what follows
QUOTED = re.compile(r"(?<!\w)'(?!(?:re|ve|ll|[mtsdn])\b)(?=\w)")
CLITICS = re.compile(r"(?<=[^' ])('(?:s|m|d|ll|re|ve)?|n't)(?= |$)")
CONTRACTIONS = re.compile(r"\b(can|gim|gon|got|lem)(?=(?:(?<=can)not|(?<=gim)me|(?<=gon)na|(?<=got)ta|(?<=lem)me)\b)")


def tokenize_latin(text: str) -> list[str]:
    """Return the words of a lower-case text in Latin letters, split as in the Penn Treebank.

    >>> tokenize_latin("they can't pay $3,000 (u.s.).")
    ['they', 'ca', "n't", 'pay', '$', '3,000', '(', 'u.s.', ')', '.']
    """
    text = INNER.sub(r" \1 \2", OPENS.sub(" `` ", text))
    text = MARKS.sub(r" \g<0> ", text).replace('"', "''")
    text = CONTRACTIONS.sub(r"\1 ", CLITICS.sub(r" \1 ", QUOTED.sub("' ", text)))
    return text.split()


# Answers to questions, where the right ones are a list: they are scored by the F1 of the metric `answer_f1`.


def score_passages(predictions: Column, gold: Column) -> FloatArray | None:
    """Return the F1 of each answer, by the rules of the language of the right ones; None where these are no lists.

    >>> score_passages(["in Paris", None], [{"text": ["Paris", "Lutetia"]}, {"text": ["1889"]}])
    array([0.66666667, 0.        ])
    >>> score_passages(["yes"], ["yes"]) is None
    True
    """
    golds = to_list(gold)
    if not _is_answer_list(next((each for each in golds if each is not None), None)):
        return None
    answers = to_list(predictions)
    if not all(answer is None or isinstance(answer, str) for answer in answers):
        return None
    right = [parse_golds([] if each is None else each) for each in golds]
    rules = choose_rules(right)
    pairs = zip(answers, right, strict=True)
    return np.array([0.0 if answer is None else match_best(answer, golds, rules)[1] for answer, golds in pairs])


def _is_answer_list(gold: Any) -> bool:
    """Return whether a right answer is SQuAD's `{"text": [...]}`, or a list of texts."""
    texts = gold.get("text") if isinstance(gold, Mapping) else gold
    return isinstance(texts, list) and all(isinstance(text, str) for text in texts)
