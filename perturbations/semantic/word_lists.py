"""How the word lists of the semantic edits are written and read.

The first line of a file ends with the version of the lists, which is that of their operators. `[replace]` begins a
list; a line that starts with `# ` is a comment. A line `plain = (?! not)` of the list `context` names a pattern, which
goes on in indented lines and stands as `<plain>` in rules.

A line `north / south / east` lists words of which each denies the others, and goes on below if a stroke ends it;
`all > some / few` goes one way only.
A word may name the context it needs: what comes before in braces, `{!no|any} more` or `{the} left`, of which a dash
gives only the ending, `{-o} forte`; what comes after as a regular expression, `more(?! or less)`. A word that other
senses make unsafe to replace, but fine to arrive at, carries a star: `summer / *spring`. In the insertions, `_`
is the word beside which the other is put: `is > _ not`.

>>> [str(rule) for rule in parse_rules("low / *high(?! school)")["low"]]
['low > high']
>>> parse_rules("is(?! not) > _ not")["is"][0].can_apply("this is not it", 5)
False
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "data"
VERSION = re.compile(r"# .* Version (\d+)\n")
LISTS = (
    "context",
    "replace",
    "insert",
    "insert at the opening",
    "delete",
    "numerals",
    "synonyms",
    "negations",
    "negating prefixes",
    "not negations",
    "fillers",
    "question",
    "counts before",
    "counts after",
    "years before",
)
BEFORE = re.compile(r"\{(!?)([^{}]*[^{}\d,])\} ")
LOOKAROUND = re.compile(r"\(\?<?[=!](?:[^()]|\([^()]*\))*\)")


@cache
def read_version(language: str) -> str:
    """Return the version of a language's lists.

    >>> read_version("en")
    '2'
    """
    with (FOLDER / f"{language}.txt").open(encoding="utf-8") as file:
        version = VERSION.fullmatch(file.readline())
    if version is None:
        raise ValueError(f"{file.name} does not begin with a comment that ends with its version; mend it")
    return version[1]


def read_word_lists(language: str) -> dict[str, str]:
    """Return the lines of each list of a language; a list that the language has not is empty."""
    path = FOLDER / f"{language}.txt"
    return split_lists(path.read_text(encoding="utf-8"), path.name)


def split_lists(text: str, source: str) -> dict[str, str]:
    r"""Return the lines of each list of a file, with the named patterns filled in.

    >>> lists = split_lists("[context]\nplain = (?! not)\n[insert]\nis<plain> > _ not\n", "here")
    >>> lists["insert"], lists["delete"]
    ('is(?! not) > _ not', '')
    """
    headed = re.split(r"^\[([a-z ]+)\]\n", re.sub(r"^#(?: .*)?\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)
    lists = dict.fromkeys(LISTS, "")
    for name, lines in zip(headed[1::2], headed[2::2], strict=True):
        if name not in lists or lists[name]:
            raise ValueError(f"{source} has the list {name!r}, which is unknown or there twice; name one of {LISTS}")
        lists[name] = lines.rstrip()
    lines = re.sub(r"\n +", "", lists.pop("context")).splitlines()
    patterns = {name: pattern for name, _, pattern in (line.partition(" = ") for line in lines)}
    return {name: _fill_in(lines, patterns, source) for name, lines in lists.items()}


def _fill_in(lines: str, patterns: Mapping[str, str], source: str) -> str:
    unknown = {*re.findall(r"<([a-z]+)>", lines)} - patterns.keys()
    if unknown:
        raise ValueError(f"{source} has <{min(unknown)}>, but its list `context` has no such pattern; add it")
    return re.sub(r"<([a-z]+)>", lambda match: patterns[match[1]], lines)


@dataclass(frozen=True, slots=True)
class Rule:
    """A word, the context that it needs, and what may stand in its place."""

    word: str
    context: re.Pattern[str]
    targets: tuple[str, ...]

    def can_apply(self, text: str, start: int) -> bool:
        """Tell whether the word that starts at `start` stands in the context that the rule needs."""
        return self.context.match(text, start) is not None

    def __str__(self) -> str:
        """Show the rule as it is written."""
        return f"{self.word} > {' / '.join(self.targets)}"


def parse_rules(lines: str) -> dict[str, list[Rule]]:
    """Read the rules of `lines`, by word; what is no plain word is a pattern, kept under the empty word."""
    rules: dict[str, list[Rule]] = {}
    for line in lines.replace(" /\n", " / ").splitlines():
        left, arrow, right = line.partition(" > ")
        sources = [item.strip() for item in left.split(" / ") if item.strip()]
        words = [strip_markup(item) for item in (right.split(" / ") if arrow else sources)]
        for source in sources:
            if source.startswith("*"):
                continue
            word = strip_markup(source)
            targets = tuple(target for target in words if target != word)
            key = word if re.fullmatch(r"[\w'’ -]+", word) else ""
            rules.setdefault(key, []).append(Rule(word, re.compile(to_lookbehinds(source)), targets))
    return rules


def strip_markup(item: str) -> str:
    """Return the word of an item: without its star and its context.

    >>> strip_markup("*more(?! or less)")
    'more'
    """
    return LOOKAROUND.sub("", BEFORE.sub("", item)).strip().removeprefix("*")


def to_lookbehinds(item: str) -> str:
    """Write what must or must not come before a word as lookbehinds, which want one width each.

    >>> [bool(re.search(to_lookbehinds("{!no|any} more"), text)) for text in ("no more", "Any more", "some more")]
    [False, False, True]
    """
    if (condition := BEFORE.match(item.strip())) is None:
        return item.strip()
    is_negative, words = condition[1], condition[2].split("|")
    prefixes = [f"{word[1:]} " if word.startswith("-") else rf"(?i:\b{word} )" for word in words]
    if is_negative:
        return "".join(f"(?<!{text})" for text in prefixes) + to_lookbehinds(item.strip()[condition.end() :])
    return f"(?:{'|'.join(f'(?<={text})' for text in prefixes)})" + to_lookbehinds(item.strip()[condition.end() :])


def parse_word_list(lines: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(lines.split())


def parse_groups(lines: str) -> dict[str, frozenset[int]]:
    r"""Return, for each word, the numbers of the lines it stands in.

    >>> parse_groups("big large\nlarge grand")["large"]
    frozenset({0, 1})
    """
    lines_by_word: dict[str, set[int]] = {}
    for number, line in enumerate(lines.splitlines()):
        for word in line.split():
            lines_by_word.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in lines_by_word.items()}
