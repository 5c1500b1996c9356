"""How the word lists of the semantic edits are written and read.

A line `north / south / east` lists words of which each denies the others, and goes on below if a stroke ends it;
`all > some / few` goes one way only.
A word may name the context it needs: what comes before in braces, `{!no|any} more` or `{the} left`, of which a dash
gives only the ending, `{-o} forte`; what comes after as a regular expression, `more(?! or less)`. A word that other
senses make unsafe to replace, but fine to arrive at, carries a star: `summer / *spring`. In the insertions, `_`
is the word beside which the other is put: `is > _ not`.

>>> [str(rule) for rule in parse("low / *high(?! school)")["low"]]
['low > high']
>>> parse("is(?! not) > _ not")["is"][0].fits("this is not it", 5)
False
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BEFORE = re.compile(r"\{(!?)([^{}]*[^{}\d,])\} ")
LOOKAROUND = re.compile(r"\(\?<?[=!](?:[^()]|\([^()]*\))*\)")


@dataclass(frozen=True, slots=True)
class Rule:
    """A word, the context that it needs, and what may stand in its place."""

    word: str
    context: re.Pattern[str]
    targets: tuple[str, ...]

    def fits(self, text: str, start: int) -> bool:
        """Tell whether the word that starts at `start` stands in the context that the rule needs."""
        return self.context.match(text, start) is not None

    def __str__(self) -> str:
        """Show the rule as it is written."""
        return f"{self.word} > {' / '.join(self.targets)}"


def parse(lines: str) -> dict[str, list[Rule]]:
    """Read the rules of `lines`, by word; what is no plain word is a pattern, kept under the empty word."""
    rules: dict[str, list[Rule]] = {}
    for line in lines.replace(" /\n", " / ").splitlines():
        left, arrow, right = line.partition(" > ")
        sources = [item.strip() for item in left.split(" / ") if item.strip()]
        words = [plain(item) for item in (right.split(" / ") if arrow else sources)]
        for source in sources:
            if source.startswith("*"):
                continue
            word = plain(source)
            targets = tuple(target for target in words if target != word)
            key = word if re.fullmatch(r"[\w'’ -]+", word) else ""
            rules.setdefault(key, []).append(Rule(word, re.compile(preceded(source)), targets))
    return rules


def plain(item: str) -> str:
    """Return the word of an item: without its star and its context.

    >>> plain("*more(?! or less)")
    'more'
    """
    return LOOKAROUND.sub("", BEFORE.sub("", item)).strip().removeprefix("*")


def preceded(item: str) -> str:
    """Write what must or must not come before a word as lookbehinds, which want one width each.

    >>> [bool(re.search(preceded("{!no|any} more"), text)) for text in ("no more", "Any more", "some more")]
    [False, False, True]
    """
    if (condition := BEFORE.match(item.strip())) is None:
        return item.strip()
    denied, words = condition[1], condition[2].split("|")
    behind = [f"{word[1:]} " if word.startswith("-") else rf"(?i:\b{word} )" for word in words]
    if denied:
        return "".join(f"(?<!{text})" for text in behind) + preceded(item.strip()[condition.end() :])
    return f"(?:{'|'.join(f'(?<={text})' for text in behind)})" + preceded(item.strip()[condition.end() :])


def word_list(lines: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(lines.split())


def groups(lines: str) -> dict[str, frozenset[int]]:
    r"""Return, for each word, the numbers of the lines it stands in.

    >>> groups("big large\nlarge grand")["large"]
    frozenset({0, 1})
    """
    found: dict[str, set[int]] = {}
    for number, line in enumerate(lines.splitlines()):
        for word in line.split():
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}
