"""What noise must not destroy: words, matches of a pattern, and values of a column, each kept as a whole word.

>>> text = "please move order 7890 to 北京路"
>>> [text[start:end] for start, end in find_words(text, ["7890", "北京"])]
['7890', '北京']
>>> drop_destructive(text, [Edit(17, 18, ""), Edit(22, 22, "e"), Edit(25, 25, "o")], find_words(text, ["7890"]))
(Edit(start=25, end=25, text='o'),)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from lapsus.core.edits import Edit, Span, apply
from lapsus.core.text import CHINESE, to_label

# Scripts without blanks between words: Chinese, kana, Thai, Lao, Myanmar, Khmer. A word there has no visible border.
UNSPACED = f"{CHINESE}\u3040-\u30ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
GOLD, REGEX = "gold", "regex:"
LETTER = rf"[^\W{UNSPACED}]"  # of a script with blanks, or a digit


@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern of a user; an invalid one is a ValueError."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression ({error}); correct it") from None


@lru_cache(maxsize=4096)
def _compile_word(word: str) -> re.Pattern[str]:
    """Return the pattern of a whole word; matches may overlap."""
    before = rf"(?<!{LETTER})" if re.match(LETTER, word) else ""
    after = rf"(?!{LETTER})" if re.match(LETTER, word[-1]) else ""
    return re.compile(rf"{before}(?=({re.escape(word)}){after})", re.IGNORECASE)


def find_words(text: str, words: Iterable[str]) -> tuple[Span, ...]:
    """Return where `words` stand in `text`, as whole words in any case; those that overlap as one span.

    An end of a word needs a border only where it is a letter of a script with blanks, or a digit.

    >>> find_words("Play SXSW fresh", ["sxsw"]), find_words("请问北京的天气", ["北京"])
    (((5, 9),), ((2, 4),))
    """
    return merge_spans(match.span(1) for word in words if word for match in _compile_word(word).finditer(text))


class Protection(NamedTuple):
    """Where the values come from that noise leaves: columns of the row, and regular expressions."""

    columns: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    @classmethod
    def parse(cls, words: Iterable[str], gold: Iterable[str] = (GOLD,)) -> Protection:
        """Return what words such as `order`, `regex:[0-9]+` and `gold` name; `gold` stands for the gold columns.

        >>> Protection.parse(["order", "regex:[0-9]+", "gold"], gold=["label"])
        Protection(columns=('order', 'label'), patterns=('[0-9]+',))
        """
        words = list(words)
        patterns = [word.removeprefix(REGEX) for word in words if word.startswith(REGEX)]
        columns = [word for word in words if not word.startswith(REGEX)]
        named = (name for word in columns for name in (gold if word == GOLD else [word]))
        for pattern in patterns:
            compile_pattern(pattern)
        return cls(tuple(dict.fromkeys(named)), tuple(patterns))

    def settings(self) -> dict[str, tuple[str, ...]]:
        """Return the fields of `Noise` that it sets."""
        return {"protect_columns": self.columns, "protect_patterns": self.patterns}


def find_matches(text: str, patterns: Iterable[str]) -> tuple[Span, ...]:
    """Return where patterns match.

    >>> find_matches("order 7890", [r"[0-9]+"])
    ((6, 10),)
    """
    return merge_spans(match.span() for pattern in patterns for match in compile_pattern(pattern).finditer(text))


def merge_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return sorted spans, those that overlap as one; empty ones are left out.

    >>> merge_spans([(4, 6), (0, 3), (2, 4), (9, 9)])
    ((0, 4), (4, 6))
    """
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif start < end:
            merged.append((start, end))
    return tuple(merged)


def list_values(cell: Any) -> tuple[str, ...]:
    """Return the texts and numbers that a cell holds, at any depth, as they may stand in a text.

    Of SQuAD answers these are the answers; a cell that is JSON is read.

    >>> list_values({"name": "call", "arguments": {"to": ["Ada", "7890"], "times": 2.0}})
    ('call', 'Ada', '7890', '2.0', '2')
    """
    return tuple(dict.fromkeys(_iter_values(cell)))


def _iter_values(cell: Any) -> Iterator[str]:
    if isinstance(cell, str):
        structure = _parse_json(cell)
        if structure is not None:
            yield from _iter_values(structure)
        elif cell.strip():
            yield cell.strip()
    elif isinstance(cell, Mapping):
        for value in [cell["text"]] if "answer_start" in cell and "text" in cell else cell.values():
            yield from _iter_values(value)
    elif isinstance(cell, int | float) and not isinstance(cell, bool):
        yield str(cell)
        yield to_label(cell)
    elif isinstance(cell, Iterable) and not isinstance(cell, bytes):
        for value in cell:
            yield from _iter_values(value)


def _parse_json(text: str) -> Any:
    """Return the list or object that a text is; None for any other text."""
    if text.lstrip()[:1] not in {"[", "{"}:
        return None
    try:
        structure = json.loads(text)
    except ValueError:
        return None
    return structure if isinstance(structure, list | dict) else None


def drop_destructive(text: str, edits: Iterable[Edit], spans: Sequence[Span]) -> tuple[Edit, ...]:
    """Return the edits without those that glue a letter to a span where none stood: the span would be no whole word.

    The edits are in order and outside of the spans. Of several that meet at a border the nearest goes first.
    """
    remaining = list(edits)
    glued = True
    while glued:  # an edit that goes may uncover another border
        glued = False
        for span in spans:
            while (place := _find_glue(text, remaining, span)) is not None:
                del remaining[place]
                glued = True
    return tuple(remaining)


def _find_glue(text: str, edits: Sequence[Edit], span: Span) -> int | None:
    """Return the index of the edit at a border of `span` that brings a letter beside it; None where none does."""
    start, end = span
    before = sum(edit.end <= start for edit in edits)
    if before and edits[before - 1].end == start and _glues(text[start], text[start - 1 : start] if start else ""):
        left = apply(text[:start], edits[:before])[-1:]
        if re.match(LETTER, left):
            return before - 1
    behind = next((place for place, edit in enumerate(edits) if edit.start >= end), len(edits))
    if behind < len(edits) and edits[behind].start == end and _glues(text[end - 1], text[end : end + 1]):
        shifted = [Edit(edit.start - end, edit.end - end, edit.text) for edit in edits[behind:]]
        if re.match(LETTER, apply(text[end:], shifted)[:1]):
            return behind
    return None


def _glues(own: str, neighbour: str) -> bool:
    """Return whether a span that ends with `own`, beside `neighbour`, has a border there that a letter would take."""
    return bool(re.match(LETTER, own)) and not re.match(LETTER, neighbour)
