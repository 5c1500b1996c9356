"""From the text that a model wrote to the answer it means, or to None where that cannot be told.

>>> chosen("Answer: not entailed.", {"yes": "entailed", "entailed": "entailed", "not entailed": "not_entailed"})
'not_entailed'
>>> first_object('Sure: ```json {"intent": "play"} ```')
{'intent': 'play'}
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAD = re.compile(
    r"(?:(?:the\s+)?(?:correct\s+|right\s+|final\s+)?(?:answer|label|intent)\s*(?:is|:|=)|答案(?:是|为|：|:)?|回答(?:是|：|:)?)\s*:?\s*",
    re.IGNORECASE,
)
WRAPPING = " \t\r\n\"'`*“”‘’「」《》()（）[]【】<>.,;:!?。，；：！？"
THOUGHT = re.compile(  # the prompt may have begun it, and the most tokens allowed may have cut it
    r"\A(?:(?!<think>).)*?</think>|<think>.*?(?:</think>|\Z)", re.DOTALL
)
QUERY = re.compile(  # how one begins; `with` is also a word of prose
    r"\b(?:select\b|with\s+(?:recursive\s+)?[\w\"`]+\s*(?:\([^)]*\)\s*)?as\s*(?:(?:not\s+)?materialized\s*)?\()",
    re.IGNORECASE,
)
NEGATION = re.compile(r"(?:\b(?:not|no|never|isn't|neither|nor)\W+|[不非没])$", re.IGNORECASE)


def answered(text: str) -> str:
    """Return a text without the train of thought before it; one that does not end is followed by no answer.

    >>> answered("<think>no, or yes?</think> yes"), answered("no at first</think> yes"), answered("<think>yes, sin")
    ('yes', 'yes', '')
    """
    return THOUGHT.sub("", text).strip()


def plain(text: str) -> str:
    """Return an answer without the quotes, marks and spaces around it.

    >>> plain(" “相同”。")
    '相同'
    """
    return answered(text).strip(WRAPPING)


def chosen(text: str, words: Mapping[str, str]) -> str | None:
    """Return the label whose word the text begins with, alone or after "the answer is"; else the only one it holds.

    A word counts as a whole: `entailed` is not in `not_entailed`, nor 相同 in 不相同.

    >>> chosen("不相同", {"相同": "paraphrase", "不同": "different"}) is None
    True
    """
    by_form = {word.casefold(): label for word, label in words.items()}
    said = plain(text).casefold()
    if said in by_form:
        return by_form[said]
    forms = sorted(by_form, key=len, reverse=True)
    after = LEAD.search(said)
    for start in (said, *([said[after.end() :].lstrip(WRAPPING)] if after else [])):
        for form in forms:
            if start.startswith(form) and _ends(start, len(form)):
                return by_form[form]
    found = {by_form[form] for form in _occurring(said, forms)}
    return found.pop() if len(found) == 1 else None


def _occurring(said: str, forms: list[str]) -> list[str]:
    """Return the forms that stand in a text as whole words, a longer one hiding the shorter ones within it."""
    found = []
    for form in forms:
        if not form.isascii():  # without spaces between words, a word in the midst may be part of another
            continue
        pattern = re.compile(rf"(?<!\w){re.escape(form)}(?!\w)")
        found += ["" if NEGATION.search(said[: match.start()]) else form for match in pattern.finditer(said)]
        said = pattern.sub(lambda match: " " * len(match[0]), said)
    return [form for form in found if form] if "" not in found else []


def _ends(text: str, place: int) -> bool:
    """Tell whether no Latin word goes on at this place."""
    return place >= len(text) or not (text[place].isascii() and (text[place].isalnum() or text[place] == "_"))


def first_object(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in a text."""
    text = answered(text)
    decoder = json.JSONDecoder()
    for match in re.finditer(r"\{", text):
        try:
            found, _ = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):  # no object, or one that is nested without end
            continue
        if isinstance(found, dict):
            return found
    return None


def first_number(text: str) -> float | None:
    """Return the first number in a text.

    >>> first_number("I would say 85 of 100.")
    85.0
    """
    found = re.search(r"-?\d+(?:\.\d+)?", answered(text))
    return float(found[0]) if found else None


def first_query(text: str) -> str | None:
    """Return the SQL query in a text, on one line.

    It ends with the code block that it is in; without one, with a semicolon or before an empty line.

    >>> first_query("```sql" + chr(10) + "SELECT name" + chr(10) + "FROM singer;" + chr(10) + "```")
    'SELECT name FROM singer'
    >>> first_query("The query with the answer is: SELECT name FROM singer" + chr(10) * 2 + "It lists names.")
    'SELECT name FROM singer'
    """
    text = answered(text)
    fenced = re.search(r"```(?:\w+)?\s*\n?(.*?)```", text, re.DOTALL)
    written = fenced[1] if fenced else text
    begun = QUERY.search(written)
    end = ";" if fenced else r";|\n\s*\n"
    return " ".join(re.split(end, written[begun.start() :], maxsplit=1)[0].split()) if begun else None
