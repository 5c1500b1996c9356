"""From the text that a model wrote to the answer it means, or to None where that cannot be told.

>>> match_label("Answer: not entailed.", {"yes": "entailed", "entailed": "entailed", "not entailed": "not_entailed"})
'not_entailed'
>>> find_json_object('Sure: ```json {"intent": "play"} ```')
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
REASONING = re.compile(  # the prompt may have begun it, and the most tokens allowed may have cut it
    r"\A(?:(?!<think>).)*?</think>|<think>.*?(?:</think>|\Z)", re.DOTALL
)
QUERY = re.compile(  # how one begins; `with` is also a word of prose
    r"\b(?:select\b|with\s+(?:recursive\s+)?[\w\"`]+\s*(?:\([^)]*\)\s*)?as\s*(?:(?:not\s+)?materialized\s*)?\()",
    re.IGNORECASE,
)
NEGATION = re.compile(r"(?:\b(?:not|no|never|isn't|neither|nor)\W+|[不非没])$", re.IGNORECASE)


def strip_reasoning(text: str) -> str:
    """Return a text without the train of thought before it; one that does not end is followed by no answer.

    >>> strip_reasoning("<think>no, or yes?</think> yes"), strip_reasoning("no at first</think> yes"), strip_reasoning("<think>yes, sin")
    ('yes', 'yes', '')
    """
    return REASONING.sub("", text).strip()


def strip_wrapping(text: str) -> str:
    """Return an answer without the quotes, marks and spaces around it.

    >>> strip_wrapping(" “相同”。")
    '相同'
    """
    return strip_reasoning(text).strip(WRAPPING)


def match_label(text: str, words: Mapping[str, str]) -> str | None:
    """Return the label whose word the text begins with, alone or after "the answer is"; else the only one it holds.

    A word counts as a whole: `entailed` is not in `not_entailed`, nor 相同 in 不相同.

    >>> match_label("不相同", {"相同": "paraphrase", "不同": "different"}) is None
    True
    """
    by_form = {word.casefold(): label for word, label in words.items()}
    answer = strip_wrapping(text).casefold()
    if answer in by_form:
        return by_form[answer]
    forms = sorted(by_form, key=len, reverse=True)
    lead = LEAD.search(answer)
    for start in (answer, *([answer[lead.end() :].lstrip(WRAPPING)] if lead else [])):
        for form in forms:
            if start.startswith(form) and _is_word_end(start, len(form)):
                return by_form[form]
    labels = {by_form[form] for form in _find_forms(answer, forms)}
    return labels.pop() if len(labels) == 1 else None


def _find_forms(text: str, forms: list[str]) -> list[str]:
    """Return the forms that stand in a text as whole words, a longer one hiding the shorter ones within it."""
    matches = []
    for form in forms:
        if not form.isascii():  # without spaces between words, a word in the midst may be part of another
            continue
        pattern = re.compile(rf"(?<!\w){re.escape(form)}(?!\w)")
        matches += ["" if NEGATION.search(text[: match.start()]) else form for match in pattern.finditer(text)]
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return [form for form in matches if form] if "" not in matches else []


def _is_word_end(text: str, place: int) -> bool:
    """Tell whether no Latin word goes on at this place."""
    return place >= len(text) or not (text[place].isascii() and (text[place].isalnum() or text[place] == "_"))


def find_json_object(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in a text."""
    text = strip_reasoning(text)
    decoder = json.JSONDecoder()
    for match in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):  # no object, or one that is nested without end
            continue
        if isinstance(value, dict):
            return value
    return None


def find_number(text: str) -> float | None:
    """Return the first number in a text.

    >>> find_number("I would say 85 of 100.")
    85.0
    """
    match = re.search(r"-?\d+(?:\.\d+)?", strip_reasoning(text))
    return float(match[0]) if match else None


def find_sql(text: str) -> str | None:
    """Return the SQL query in a text, on one line.

    It ends with the code block that it is in; without one, with a semicolon or before an empty line.

    >>> find_sql("```sql" + chr(10) + "SELECT name" + chr(10) + "FROM singer;" + chr(10) + "```")
    'SELECT name FROM singer'
    >>> find_sql("The query with the answer is: SELECT name FROM singer" + chr(10) * 2 + "It lists names.")
    'SELECT name FROM singer'
    """
    text = strip_reasoning(text)
    fenced = re.search(r"```(?:\w+)?\s*\n?(.*?)```", text, re.DOTALL)
    code = fenced[1] if fenced else text
    opening = QUERY.search(code)
    end = ";" if fenced else r";|\n\s*\n"
    return " ".join(re.split(end, code[opening.start() :], maxsplit=1)[0].split()) if opening else None
