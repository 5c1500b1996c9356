"""The text that a model reads, in the forms of the paper (5.1 and Appendix F.1), and its parts and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

PARTS = ("candidate", "reference", "source", "language")
PART = re.compile(rf"(?:^| )({'|'.join(PARTS)}): ")
WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")
TAGGED = "candidate: {candidate} language: {tag}"
INPUTS: Mapping[str, str] = {
    "within": "candidate: {candidate} reference: {reference} language: {tag}",
    "qe": "candidate: {candidate} source: {source} language: {tag}",
    "qe-ref": "candidate: {candidate} reference: {reference} source: {source} language: {tag}",
}


def split_parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield what each part of an input says, with its number in `PARTS`.

    >>> list(split_parts("candidate: o trem language: pt-any"))
    [(0, 'o trem'), (3, 'pt-any')]
    """
    pieces = PART.split(text)
    for name, content in zip(pieces[1::2], pieces[2::2], strict=True):
        yield PARTS.index(name), content


def tokenize(text: str) -> list[str]:
    """Return words and marks in lower case; a Chinese character is a word.

    >>> tokenize("O trem, 火车")
    ['o', 'trem', ',', '火', '车']
    """
    words: list[str] = WORD.findall(text.lower())
    return words
