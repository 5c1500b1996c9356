"""Answers as files hold them: lists in text, other spellings, probabilities, confidences. One rule for every command.

Columns of answers are `EncodedColumn`s here: each rule looks once at every distinct answer.

>>> [normalize_answer(word) for word in ("Yes.", "１，０００", "42.0", "\u200fcafe\u0301 ")]
['yes', '1000', '42', 'café']
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.core.checks import shorten_repr
from lapsus.io.tables import Column, to_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from lapsus.core.checks import FloatArray
    from lapsus.io.encoding import EncodedColumn

    Mask = NDArray[np.bool_]

JOINING = "[^\\W_\u3040-\u9fff]"  # a letter or digit that makes one word with the one beside it

# Names of measures of which less is better, as words of a column's name.
ERROR_WORDS = {
    *("wer", "cer", "mer", "wil", "ter", "ser", "eer", "loss", "losses", "nll", "perplexity", "ppl", "bits", "bpb"),
    *(
        "error",
        "errors",
        "err",
        "mae",
        "mse",
        "rmse",
        "brier",
        "ece",
        "distance",
        "entropy",
        "hallucination",
        "toxicity",
    ),
}
MAX_PROBED = 20_000  # wrong answers that are searched for the right ones
MAX_LABELS = 50  # right answers, at most, that are labels
OPENERS = ("[", "{", "(", "array(")


def is_error_measure(name: str) -> bool:
    """Return whether a column of this name holds errors, of which less is better.

    >>> [is_error_measure(name) for name in ("wer", "val_loss", "WordErrorRate", "bits_per_byte", "f1", "personal")]
    [True, True, True, True, False, False]
    """
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return bool({word.casefold() for word in words} & ERROR_WORDS)


# Lists and objects that were written as text.


def parse_structures(column: Column, place: str, *, required: bool = False) -> Column:
    """Return lists and objects that a column holds as text, as JSON or Python write them; other columns unchanged.

    A column of which every text looks like one, and some cannot be read, is an error where they are `required`.

    >>> parse_structures(["['a', 'b']", None, '["c"]'], "p.csv")
    [['a', 'b'], None, ['c']]
    >>> parse_structures(["['a' 'b']"], "p.csv", required=True)
    Traceback (most recent call last):
    ValueError: p.csv: "['a' 'b']" is a list written as text, which cannot be read; write it as JSON, as in ["a", "b"].
    """
    if not isinstance(column, list) and not _is_text(column):
        return column
    if not isinstance(column, list):
        first = next((each.as_py() for each in column if each.is_valid), None)
        if first is None or not _looks_structured(first):
            return column
    values = to_list(column)
    texts = [value for value in values if value is not None]
    if not texts or not all(isinstance(text, str) and _looks_structured(text) for text in texts):
        return column
    parsed: list[Any] = []
    for value in values:
        try:
            parsed.append(None if value is None else _parse_structure(value))
        except ValueError:
            if required and any(quote in value for quote in "'\""):  # without quotes it may be a label, as (A)
                raise ValueError(
                    f"{place}: {shorten_repr(value, 60)} is a list written as text, which cannot be read; write it as"
                    ' JSON, as in ["a", "b"].'
                ) from None
            return column
    return parsed


def _is_text(column: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(column.type))


def _looks_structured(text: str) -> bool:
    text = text.strip()
    return text.startswith(OPENERS) and text.endswith(("]", "}", ")"))


def _parse_structure(text: str) -> Any:
    """Return the list or object in a text; raise ValueError where there is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
            if any(one.type == two.type == tokenize.STRING for one, two in pairwise(tokens)):
                raise ValueError(text)  # Python joins two texts without a comma between them
            value = ast.literal_eval(text.strip())
        except (SyntaxError, TypeError, RecursionError, MemoryError, tokenize.TokenError) as error:
            raise ValueError(text) from error
    if isinstance(value, tuple):
        value = list(value)
    if not isinstance(value, list | dict):
        raise ValueError(text)  # noqa: TRY004 - the text is wrong
    return value


# What a pipeline returns around its answer.

ANSWER_KEYS = ("label", "answer", "generated_text", "translation_text", "summary_text", "sequence")


def unwrap_answers(column: Column) -> Column:
    """Return the answers in lists of one, or in what a pipeline of transformers returns; other columns unchanged.

    >>> unwrap_answers([["yes"], ["no"]]), unwrap_answers([{"label": "yes", "score": 0.9}])
    (['yes', 'no'], ['yes'])
    >>> unwrap_answers([[{"label": "no", "score": 0.2}, {"label": "yes", "score": 0.8}]]), unwrap_answers([["a", "b"]])
    (['yes'], [['a', 'b']])
    """
    if not isinstance(column, list):
        import pyarrow as pa

        if not pa.types.is_nested(column.type):
            return column
        column = column.to_pylist()
    if not any(isinstance(value, list | Mapping) for value in column):
        return column
    answers = [_unwrap(value) for value in column]
    return column if any(isinstance(answer, list | Mapping) for answer in answers) else answers


def _unwrap(value: Any) -> Any:
    if isinstance(value, list):
        if len(value) > 1 and all(isinstance(each, Mapping) and "score" in each for each in value):
            value = [max(value, key=lambda each: each["score"])]
        return value if len(value) > 1 else _unwrap(value[0]) if value else ""
    if isinstance(value, Mapping):
        if {"labels", "scores"} <= value.keys() and value["labels"]:
            return max(zip(value["scores"], value["labels"], strict=False))[1]
        key = next((key for key in ANSWER_KEYS if isinstance(value.get(key), str | int)), None)
        return value[key] if key is not None and (len(value) == 1 or "score" in value) else value
    return value


def accepts_empty(gold: str) -> bool:
    """Return whether a right answer, as text, says that there is none: an empty text, or an empty list of answers.

    >>> [accepts_empty(gold) for gold in ("", "[]", '{"answer_start": [], "text": []}', '["a", ""]', "yes")]
    [True, True, True, True, False]
    """
    if not gold.startswith(("[", "{")):
        return not gold.strip()
    try:
        value = json.loads(gold)
    except (ValueError, RecursionError):
        return False
    texts = value.get("text") if isinstance(value, Mapping) else value
    return isinstance(texts, list) and (not texts or "" in texts)


# Answers that differ in writing only.


def normalize_answer(text: str) -> str:
    """Return an answer without what is only its writing: case, width, Unicode form, invisible marks, final marks.

    >>> normalize_answer("**YES!**"), normalize_answer("第１２届。"), normalize_answer("...")
    ('yes', '第12届', '')
    """
    text = unicodedata.normalize("NFKC", text)
    if not text.isascii():
        text = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
        text = "".join(str(unicodedata.decimal(letter)) if letter.isdecimal() else letter for letter in text)
        text = unicodedata.normalize("NFC", text.translate(DASHES))
    text = " ".join(text.casefold().split())
    sign = "-" if re.match(r"[-+]\.?\d", text) and text.startswith("-") else ""
    text = sign + text.strip(EDGES)
    if NUMBER.fullmatch(text):
        text = text.replace(",", "")
        text = re.sub(r"\.?0+$", "", text) if "." in text else text
    return text


def describe_rewriting(pairs: Iterable[tuple[Any, Any]], total: int) -> str | None:
    """Return that over 1 % of `total` labels differ from the gold ones in their writing only; None where they do not.

    >>> print(describe_rewriting([("yes.", "yes")], 2))
    1 of 2 predictions differ from the gold label only in writing (case, spaces, marks, width or Unicode form) and \
count as wrong, such as 'yes.' for 'yes'; write them alike
    """
    rewritten = {
        pair: count
        for pair, count in Counter(pairs).items()
        if all(isinstance(label, str) for label in pair) and len({*map(normalize_answer, pair)}) == 1
    }
    if not sum(rewritten.values()) > MAX_REWRITTEN * total:
        return None
    prediction, gold = next(iter(rewritten))
    return (
        f"{sum(rewritten.values())} of {total} predictions differ from the gold label only in writing (case, spaces, "
        f"marks, width or Unicode form) and count as wrong, such as {prediction!r} for {gold!r}; write them alike"
    )


MAX_REWRITTEN = 0.01  # the share of labels in another writing up to which nothing is said
EDGES = " \t.,;:!?\"'`*_~()[]{}<>«»“”„‘’‹›。、，；：！？…《》「」『』（）【】-–—"
DASHES = {ord(dash): "-" for dash in "\u2010\u2011\u2012\u2013\u2014\u2212"}
NUMBER = re.compile(r"-?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Rewordings:
    """Rows whose wrong answer says the right one otherwise, and one such pair of answer and right answer."""

    rows: Mask
    example: tuple[str, str] | None

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.rows.sum())


def find_respelled(predictions: EncodedColumn, golds: EncodedColumn, wrong: Mask) -> Rewordings:
    """Return the wrong answers that are right after `normalize_answer`.

    >>> from lapsus.io.encoding import encode_column
    >>> respelled = find_respelled(encode_column(["Yes.", "no"]), encode_column(["yes", "yes"]), np.array([True, True]))
    >>> respelled.count, respelled.example
    (1, ('Yes.', 'yes'))
    """
    return _find_reworded(predictions, golds, wrong, lambda answer, gold: answer == gold != "")


def find_containing(predictions: EncodedColumn, golds: EncodedColumn, wrong: Mask) -> Rewordings:
    """Return the wrong answers that hold the right one among other words; of very many, the first are searched.

    >>> from lapsus.io.encoding import encode_column
    >>> find_containing(encode_column(["It was Paris."]), encode_column(["Paris"]), np.array([True])).count
    1
    """
    return _find_reworded(predictions, golds, wrong, _contains)


def _find_reworded(
    predictions: EncodedColumn, golds: EncodedColumn, wrong: Mask, is_right: Callable[[str, str], bool]
) -> Rewordings:
    """Return the wrong answers that are right once both sides are normalised; of very many, the first are looked at."""
    rows = np.zeros(len(wrong), bool)
    probed = np.flatnonzero(wrong & (predictions.codes >= 0) & (golds.codes >= 0))[:MAX_PROBED]
    normalize = cache(normalize_answer)
    labels = set(golds.words)  # an answer that is another right answer is wrong
    by_pair: dict[tuple[int, int], bool] = {}
    for row in probed.tolist():
        pair = int(predictions.codes[row]), int(golds.codes[row])
        if pair not in by_pair:
            said, right = predictions.words[pair[0]], golds.words[pair[1]]
            by_pair[pair] = said not in labels and is_right(normalize(said), normalize(right))
        rows[row] = by_pair[pair]
    if not rows.any():
        return Rewordings(rows, None)
    first = int(rows.argmax())
    return Rewordings(rows, (predictions.words[predictions.codes[first]], golds.words[golds.codes[first]]))


def _contains(answer: str, gold: str) -> bool:
    """Return whether an answer holds another one as whole words; in a writing without spaces, at all.

    >>> _contains("about two years", "two"), _contains("about twofold", "two"), _contains("大约两年", "两年")
    (True, False, True)
    """
    if not gold or len(answer) <= len(gold):
        return False
    before, after = (f"(?<!{JOINING})", f"(?!{JOINING})")
    pattern = (
        (before if re.match(JOINING, gold[0]) else "")
        + re.escape(gold)
        + (after if re.match(JOINING, gold[-1]) else "")
    )
    return re.search(pattern, answer) is not None


def respell_as_golds(predictions: EncodedColumn, golds: Iterable[str]) -> EncodedColumn:
    """Return answers in the words of the right ones, where one of these alone has the same `normalize_answer`.

    >>> from lapsus.io.encoding import encode_column
    >>> respell_as_golds(encode_column(["Yes.", "maybe"]), ["yes", "no"]).words
    ['yes', 'maybe']
    """
    by_form: dict[str, str | None] = {}
    known = set(golds)
    for gold in known:
        form = normalize_answer(gold)
        by_form[form] = None if form in by_form or not form else gold
    return predictions.rename(
        lambda words: [word if word in known else by_form.get(normalize_answer(word)) or word for word in words]
    )


# Numbers that are no labels.

FRACTION = re.compile(r"-?\d*\.\d+([eE][-+]?\d+)?|-?\d+(\.\d+)?[eE]-\d+")
DECIMAL = re.compile(r"-?\d+(\.\d*)?([eE][-+]?\d+)?|-?\.\d+([eE][-+]?\d+)?")


def check_are_answers(predictions: Sequence[str], golds: Iterable[str], place: object) -> None:
    """Raise if predictions, as text, are probabilities or other scores of classes, and right answers are not.

    >>> check_are_answers(["0.93", "0.12"], ["1", "0"], "p.csv")
    Traceback (most recent call last):
    ValueError: p.csv: predictions are numbers from 0 to 1 such as 0.93, as probabilities are, and right answers are \
labels such as '1'; give the label of each prediction.
    """
    right = list(golds)
    if not predictions or not right:
        return
    example = next((word for word in predictions if FRACTION.fullmatch(word)), None)
    what = None
    if example is not None and all(map(DECIMAL.fullmatch, predictions)):
        n_fractions = sum(FRACTION.fullmatch(word) is not None for word in predictions)
        if any(map(FRACTION.fullmatch, right)):
            return
        are_rates = all(0 <= float(word) <= 1 for word in predictions)
        are_classes = len(right) <= MAX_LABELS and all(not DECIMAL.fullmatch(word) or word in "01" for word in right)
        if are_rates and are_classes:
            what = f"numbers from 0 to 1 such as {example}, as probabilities are"
        elif 2 * n_fractions > len(predictions):
            what = f"numbers with decimals such as {example}, as scores of a class are"
    elif all(map(_is_scores, predictions)) and not any(map(_is_scores, right)):
        what = f"lists of numbers such as {predictions[0][:40]}, as probabilities of all classes are"
    if what is not None:
        raise ValueError(
            f"{place}: predictions are {what}, and right answers are labels such as {right[0][:40]!r}; give the label"
            " of each prediction."
        )


def _is_scores(word: str) -> bool:
    """Return whether a text is a list of numbers, or an object of them, some with decimals."""
    if not word.startswith(("[", "{")) or "." not in word:
        return False
    try:
        value = json.loads(word)
    except (ValueError, RecursionError):
        return False
    numbers = list(value.values()) if isinstance(value, dict) else value
    return len(numbers) > 1 and all(isinstance(each, int | float) and not isinstance(each, bool) for each in numbers)


# A score beside the answer and the right one: how right the answer is, or how sure the model is of it.


def contradicts_answers(scores: FloatArray, predictions: EncodedColumn, golds: EncodedColumn) -> int | None:
    """Return a row whose score is not how right its answer is; None where there is none.

    An answer that is the right one scores 1, and one that is another of the labels scores less.

    >>> from lapsus.io.encoding import encode_column
    >>> answers, right = encode_column(["yes", "no"]), encode_column(["yes", "yes"])
    >>> [contradicts_answers(np.array(scores), answers, right) for scores in ([0.98, 0.9], [1, 0.5])]
    [0, None]
    """
    words = {word: place for place, word in enumerate(golds.words)}
    table = np.array([*(words.get(word, -1) for word in predictions.words), -1], np.int64)
    said = table[predictions.codes]
    known = (golds.codes >= 0) & (predictions.codes >= 0) & ~np.isnan(scores)
    is_right = known & (said == golds.codes)
    contradicts = is_right & (scores < 1 - 1e-6)
    if len(golds.words) <= MAX_LABELS and 2 * len(golds.words) <= len(golds.codes):
        contradicts |= known & ~is_right & (said >= 0) & (scores >= 1)
    return int(contradicts.argmax()) if contradicts.any() else None


def is_confidence(scores: FloatArray) -> bool:
    """Return whether some scores lie between 0 and 1, as confidences do.

    >>> is_confidence(np.array([0.0, 1.0])), is_confidence(np.array([0.0, 0.5]))
    (False, True)
    """
    return bool(((scores > 0) & (scores < 1)).any())
