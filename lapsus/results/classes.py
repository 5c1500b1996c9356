"""Class answers: datasets hold class numbers, models give numbers or names; both are converted to names.

>>> as_name(1, ["no", "yes"]), as_name("LABEL_1", ["no", "yes"]), as_name("Yes", ["no", "yes"])
('yes', 'yes', 'yes')
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from lapsus.kernel.names import shown
from lapsus.results.coding import MOST_WORDS, label
from lapsus.results.predictions import few

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lapsus.results.tracks import Track

FEWEST = 5  # fewer answers than this may all be wrong by chance
NUMBERED = re.compile(r"LABEL_(\d+)")  # the name that transformers gives to an unnamed class


def as_name(answer: Any, names: Sequence[str], *, digits_are_names: bool = False) -> Any:
    """Return the class name for a name, a number, or LABEL_ and a number; any other answer is returned unchanged."""
    said = label(answer)
    if said in names and (digits_are_names or not said.isdecimal()):
        return said
    numbered = re.fullmatch(r"(?:LABEL_)?(\d+)", said)
    if numbered and int(numbered[1]) < len(names):
        return names[int(numbered[1])]
    alike = [name for name in names if name.casefold() == said.strip().casefold()]
    return alike[0] if len(alike) == 1 else answer


def in_words(said: Sequence[Any], golds: Iterable[Any], names: Sequence[str] | None) -> list[Any]:
    """Return predictions in the words of the right answers.

    >>> in_words(["LABEL_1", "0", None], [0, 1, 1], None), in_words([1, None], ["yes", "no"], ["no", "yes"])
    (['1', '0', None], ['yes', None])
    """
    if names is not None:
        digits_are_names = _digits_are_names(said, names)
        spelled = (
            None if answer is None else as_name(answer, names, digits_are_names=digits_are_names) for answer in said
        )
        return list(spelled)
    if all(label(gold).isdecimal() for gold in golds if gold is not None):
        return [_number(answer) for answer in said]
    return list(said)


def _number(answer: Any) -> Any:
    found = NUMBERED.fullmatch(answer) if isinstance(answer, str) else None
    return found[1] if found else answer


def _digits_are_names(said: Iterable[Any], names: Sequence[str]) -> bool:
    """Return whether predicted numbers are names of classes; raise if they could be names or indices."""
    numbers = {word for word in map(label, said) if word.isdecimal()}
    called = numbers <= set(names)
    if called and all(int(word) < len(names) for word in numbers):
        unclear = [word for word in sorted(numbers) if names[int(word)] != word]
        if unclear:
            raise ValueError(
                f"the classes are called {few(names)}, so {unclear[0]!r} may be the name of a class or the number of "
                "another; give predictions as in LABEL_0, or a column of scores."
            )
    return called


def refuse_disjoint(who: object, said: Iterable[Any], golds: Iterable[Any], times: int = 1) -> None:
    """Raise if no prediction ever equals any right answer although right answers repeat: the wording differs.

    `times` is how often each example may occur at most.

    >>> refuse_disjoint("bert", ["yes"] * 6, ["yes", "no"] * 3)
    """
    right, predicted = (
        answers if isinstance(answers, Counter) else Counter(label(answer) for answer in answers if answer is not None)
        for answers in (golds, said)
    )
    if right.total() >= FEWEST and max(right.values()) > times and predicted and right.keys().isdisjoint(predicted):
        raise ValueError(
            f"{who}: no prediction is ever one of the right answers; predicted are {_vocabulary(predicted)}, and right "
            f"are {_vocabulary(right)}: give predictions in the words of the answers, or a column of scores."
        )


def never_right(track: Track) -> tuple[str, str] | None:
    """Return what is said and what is right on a track where no answer is right although right answers repeat."""
    columns = track.columns
    if columns.predictions is None or columns.golds is None or columns.scores.any():
        return None
    said, golds = columns.predictions.counts(~columns.unparsed), columns.golds.counts()
    few_answers = sum(said.values()) < FEWEST or max(golds.values(), default=0) == 1
    return None if few_answers else (_vocabulary(Counter(said)), _vocabulary(Counter(golds)))


def spelled_otherwise(track: Track) -> tuple[int, str, str] | None:
    """Return how many wrong answers differ from the right ones in case or spaces alone, one of them, and its right one.

    >>> from lapsus.results.tracks import Track
    >>> spelled_otherwise(Track("bert", "clean", [{"id": 1, "prediction": "card  lost ", "gold": "Card lost"}]))
    (1, 'card  lost ', 'Card lost')
    """
    columns = track.columns
    if columns.predictions is None or columns.golds is None:
        return None
    names = set(columns.golds.hashes.tolist())
    alike = {_plain(word): (code, word) for code, word in columns.golds.words.items()}
    found = []
    for code, word in columns.predictions.words.items():
        right, name = alike.get(_plain(word), (code, word))
        if code not in names and right != code:
            same = (columns.predictions.codes == code) & (columns.golds.codes == right) & (columns.scores == 0)
            found += [(int(same.sum()), word, name)] if same.any() else []
    return (sum(number for number, *_ in found), *max(found)[1:]) if found else None


def counted_from(tracks: Iterable[Track]) -> tuple[str, str] | None:
    """Return the numbers that are said and those that are right where these are the same ones counted from another.

    >>> from lapsus.results.tracks import Track
    >>> counted_from([Track("bert", "clean", [{"id": n, "prediction": n % 5, "gold": n % 5 + 1} for n in range(9)])])
    ('0 to 4', '1 to 5')
    """
    said, right = set[str](), set[str]()
    for track in tracks:
        columns = track.columns
        if columns.predictions is not None and columns.golds is not None:
            said |= columns.predictions.counts(~columns.unparsed).keys()
            right |= columns.golds.counts().keys()
        if len(said | right) > MOST_WORDS or not all(map(str.isdecimal, said | right)):
            return None
    if min(len(said), len(right)) < 2:
        return None
    (low, high), (first, last) = ((min(each), max(each)) for each in ({*map(int, said)}, {*map(int, right)}))
    return (f"{low} to {high}", f"{first} to {last}") if abs(low - first) == 1 and high - low == last - first else None


def _plain(word: str) -> str:
    return " ".join(word.casefold().split())


def only_class(track: Track) -> str | None:
    """Return the one class that a model says throughout a track where several are right; None if it says more."""
    columns = track.columns
    if columns.predictions is None or columns.golds is None or columns.predictions.distinct > 2:
        return None
    said = columns.predictions.counts(~columns.unparsed)
    golds = columns.golds.counts()
    several = len(golds) > 1 and max(golds.values()) > 1
    return next(iter(said)) if len(said) == 1 and several else None


def _vocabulary(answers: Counter[str]) -> str:
    return shown((repr(answer) for answer, _ in answers.most_common()), 4)
