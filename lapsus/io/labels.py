"""Class answers: datasets hold class numbers, models give numbers or names; both are converted to names.

>>> to_class_name(1, ["no", "yes"]), to_class_name("LABEL_1", ["no", "yes"]), to_class_name("Yes", ["no", "yes"])
('yes', 'yes', 'yes')
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.core.checks import shorten_repr
from lapsus.core.messages import format_list
from lapsus.core.text import is_free_text, to_label
from lapsus.io.predictions import format_quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lapsus.io.encoding import Codes, HashedColumn

MIN_ANSWERS = 5  # fewer answers than this may all be wrong by chance
UNNAMED_CLASS = re.compile(r"LABEL_(\d+)")  # the name that transformers gives to an unnamed class


def to_class_name(answer: Any, names: Sequence[str], *, digits_are_names: bool = False) -> Any:
    """Return the class name for a name, a number, or LABEL_ and a number; any other answer is returned unchanged."""
    text = to_label(answer)
    if text in names and (digits_are_names or not text.isdecimal()):
        return text
    match = re.fullmatch(r"(?:LABEL_)?(\d+)", text)
    if match and int(match[1]) < len(names):
        return names[int(match[1])]
    matches = [name for name in names if name.casefold() == text.strip().casefold()]
    return matches[0] if len(matches) == 1 else answer


def map_to_gold_labels(predictions: Sequence[Any], golds: Iterable[Any], names: Sequence[str] | None) -> list[Any]:
    """Return predictions in the words of the right answers.

    >>> map_to_gold_labels(["LABEL_1", "0", None], [0, 1, 1], None)
    ['1', '0', None]
    >>> map_to_gold_labels([1, None], ["yes", "no"], ["no", "yes"])
    ['yes', None]
    """
    if names is not None:
        digits_are_names = _has_numeric_names(predictions, names)
        class_names = (
            None if answer is None else to_class_name(answer, names, digits_are_names=digits_are_names)
            for answer in predictions
        )
        return list(class_names)
    if all(to_label(gold).isdecimal() for gold in golds if gold is not None):
        return [_strip_label_prefix(answer) for answer in predictions]
    return list(predictions)


def _strip_label_prefix(answer: Any) -> Any:
    match = UNNAMED_CLASS.fullmatch(answer) if isinstance(answer, str) else None
    return match[1] if match else answer


def _has_numeric_names(predictions: Iterable[Any], names: Sequence[str]) -> bool:
    """Return whether predicted numbers are names of classes; raise if they could be names or indices."""
    numbers = {word for word in map(to_label, predictions) if word.isdecimal()}
    are_names = numbers <= set(names)
    if are_names and all(int(word) < len(names) for word in numbers):
        ambiguous = [word for word in sorted(numbers) if names[int(word)] != word]
        if ambiguous:
            raise ValueError(
                f"the classes are called {format_quoted(names)}, so {ambiguous[0]!r} may be the name of a class or the"
                " number of another; give predictions as in LABEL_0, or a column of scores."
            )
    return are_names


def check_shared_vocabulary(
    name: object, predictions: Iterable[Any], golds: Iterable[Any], max_occurrences: int = 1
) -> None:
    """Raise if no prediction ever equals any right answer although right answers repeat: the wording differs.

    `max_occurrences` is how often each example may occur at most.

    >>> check_shared_vocabulary("bert", ["yes"] * 6, ["yes", "no"] * 3)
    """
    gold_counts, prediction_counts = (
        answers
        if isinstance(answers, Counter)
        else Counter(to_label(answer) for answer in answers if answer is not None)
        for answers in (golds, predictions)
    )
    if (
        gold_counts.total() >= MIN_ANSWERS
        and max(gold_counts.values()) > max_occurrences
        and prediction_counts
        and gold_counts.keys().isdisjoint(prediction_counts)
    ):
        raise ValueError(
            f"{name}: no prediction equals any gold label (predictions: {format_vocabulary(prediction_counts)};"
            f" gold: {format_vocabulary(gold_counts)}); use the gold labels, or give a score column."
        )


def format_vocabulary(answers: Counter[str]) -> str:
    """Return the most common answers, for a sentence."""
    return format_list((repr(answer) for answer, _ in answers.most_common()), 4)


# Gold answers that are sentences: equality with a text that a model wrote would be no score.


def check_free_text(predictions: Codes, golds: HashedColumn, place: str) -> None:
    """Raise if gold answers are sentences and most predictions equal none of them: exact match would say little.

    A model that selects one of the sentences is scored by exact match, and so are frames and lists, written as JSON.
    """
    is_gold = np.isin(predictions, golds.hashes)
    if 2 * is_gold.sum() >= len(is_gold) or not is_free_text(golds.words.values(), len(golds)):
        return
    example = next(iter(golds.words.values()))
    if not example.startswith(("{", "[")):
        raise ValueError(
            f"{place}: the gold answers are sentences ({shorten_repr(example, 40)}) and the model writes its own, so"
            " that being equal says little; give each row a score from 0 to 1, as sacrebleu's"
            " sentence_chrf(prediction, [gold]).score / 100."
        )
