"""Read typing logs (the file of `aalto-typing`), and name the slips in them.

A row's text is judged twice: as it was sent, and as it would have been without going back.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from rapidfuzz.distance import OSA

from lapsus.metrics.human_likeness.score import diff_texts
from lapsus.perturbations.en.typist.keys import find_key, neighbouring_keys
from lapsus.perturbations.en.typist.model import CLOSING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Row(NamedTuple):
    """What somebody was to copy and what came of it."""

    typist: int
    clean: str
    typed: str


class Slip(NamedTuple):
    """One slip: of which kind, at which character, what stood there and what stands there."""

    kind: str
    at: int
    old: str
    new: str


def read(path: Path) -> tuple[list[Row], list[Row]]:
    """Return the rows as sent, and those of complete logs as they would be without going back."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        logs = [json.loads(line) for line in file]
    sent = [Row(log["typist"], log["sentence"], log["typed"]) for log in logs]
    return sent, [Row(log["typist"], log["sentence"], text) for log in logs if (text := uncorrected(log)) is not None]


def is_of_half(row: Row, which: int) -> bool:
    """Return whether a row's typist and sentence are both of one half."""
    return crc32(str(row.typist).encode()) % 2 == which == crc32(row.clean.encode()) % 2


def replayed(keys: list[str]) -> tuple[str, list[tuple[int, str]]]:
    """Return the text that the keys give, and each correction: where, and what was taken back."""
    text: list[str] = []
    run: list[str] = []
    marks: list[tuple[int, str]] = []
    for one in keys:
        if one == "BKSP":
            run.extend(text[-1:])
            del text[-1:]
        elif len(one) == 1:
            if run:
                marks.append((len(text), "".join(reversed(run))))
                run = []
            text.append(one)
    return "".join(text), marks


def uncorrected(log: dict[str, Any]) -> str | None:
    """Return the text as if nothing had been taken back; None where the log lost keys, as 30 % did."""
    text, marks = replayed(log["keys"])
    if text != log["typed"]:
        return None
    kept: list[tuple[int, str]] = []
    for place, gone in marks:
        while kept and kept[-1][0] >= place:  # what goes back further takes the earlier one with it
            kept.pop()
        kept.append((place, gone))
    for place, gone in reversed(kept):
        if place <= len(text):
            ends = range(place, min(len(text), place + len(gone) + 4) + 1)
            end = min(ends, key=lambda end: OSA.distance(gone, text[place:end]) + 0.01 * abs(end - place - len(gone)))
            text = text[:place] + gone + text[end:]
    return text


def slips(clean: str, typed: str) -> Iterator[Slip]:
    """Yield the slips that make `typed` of `clean`.

    >>> [(slip.kind, slip.at) for slip in slips("The cat is here.", "Teh cst is here")]
    [('swap', 1), ('beside', 5), ('open', 15)]
    """
    for at, old, new in _with_swaps(clean, diff_texts(clean, typed)):
        yield _named(clean, at, old, new)


def _with_swaps(clean: str, found: list[tuple[int, str, str]]) -> Iterator[tuple[int, str, str]]:
    skip = False
    for (at, old, new), (then, gone, come) in zip(found, [*found[1:], (-9, "", "")], strict=False):
        if skip:
            skip = False
        elif not old and len(new) == 1 and gone == new and not come and then == at + 1:
            yield at, clean[at] + gone, gone + clean[at]
            skip = True
        elif not new and len(old) == 1 and come == old and not gone and then == at + 2:
            yield at, old + clean[at + 1], clean[at + 1] + old
            skip = True
        else:
            yield at, old, new


def _named(clean: str, at: int, old: str, new: str) -> Slip:
    end = at + len(old)
    before, after = clean[at - 1 : at] if at else "", clean[end : end + 1]
    if not old:
        return _insertion(at, new, before, after)
    if not new:
        return _deletion(at, old, after)
    if len(old) == len(new) == 1:
        return Slip(_replacement(old, new, before, after), at, old, new)
    if old == new[::-1] and len(old) == 2:
        return Slip("swap", at, old, new)
    return Slip("lower" if old.isupper() and new == old.lower() else "run", at, old, new)


def _replacement(old: str, new: str, before: str, after: str) -> str:
    return next(
        kind
        for kind, holds in {
            "lower": old.isupper() and new == old.lower(),
            "upper": old.upper() == new,
            "next": new.lower() == after.lower(),
            "before": new.lower() == before.lower(),
            "beside": find_key(new) in neighbouring_keys(find_key(old)),
            "other": True,
        }.items()
        if holds
    )


def _deletion(at: int, old: str, after: str) -> Slip:
    if len(old) == 1:
        return Slip("open" if old in CLOSING and not after else "omit", at, old, "")
    word = old.strip()
    if word.isalpha() and word != old:
        return Slip("cut_word", at + old.index(word), word, "")
    return Slip("cut", at, old, "")


def _insertion(at: int, new: str, before: str, after: str) -> Slip:
    here = max(at - 1, 0)  # the character behind which it stands
    if len(new) > 1 and after:
        word = new.strip()
        if word.isalpha() and ((new.endswith(" ") and before in ("", " ")) or (new.startswith(" ") and after == " ")):
            return Slip("add_word", at + (new[0] == " "), "", word)
        return Slip("extra", here, before, new)
    kind, after_it = next(
        case
        for case, holds in {
            ("after_end", True): not after,
            ("space", True): new == " ",
            ("double", True): new.lower() == before.lower(),
            ("double", False): new.lower() == after.lower(),
            ("too_after", True): find_key(new) in neighbouring_keys(find_key(before)),
            ("too_before", False): find_key(new) in neighbouring_keys(find_key(after)),
            ("stray", True): True,
        }.items()
        if holds
    )
    return Slip(kind, here, before, new) if after_it else Slip(kind, at, after, new)
