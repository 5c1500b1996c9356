"""From the text that a model wrote to the answer it means, or to None where that cannot be told.

Every function takes time in proportion to the length of the text, whatever the text is.

>>> match_label("Answer: not entailed.", {"yes": "entailed", "entailed": "entailed", "not entailed": "not_entailed"})
'not_entailed'
>>> find_json_object('Sure: ```json {"intent": "play"} ```')
{'intent': 'play'}
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_LENGTH = 1_000_000  # characters; a longer text holds no answer
MAX_DEPTH = 500  # of JSON within JSON
LEAD = re.compile(
    r"(?:(?:the\s+)?(?:correct\s+|right\s+|final\s+)?(?:answer|label|intent)\s*(?:is|:|=)|答案(?:是|为|：|:)?|回答(?:是|：|:)?)\s*:?\s*",
    re.IGNORECASE,
)
WRAPPING = " \t\r\n\"'`*“”‘’「」《》()（）[]【】<>.,;:!?。，；：！？"
REASONING = re.compile(  # the prompt may have begun it, and the most tokens allowed may have cut it
    r"\A(?:(?!<think>).)*?</think>|<think>.*?(?:</think>|\Z)", re.DOTALL
)
NEGATION = re.compile(r"\b(?:not|no|never|isn't|neither|nor)(\W+)", re.IGNORECASE)
NEGATION_ZH = ("不", "非", "没")

# A query begins with `select`, or with one of `with a as (` and `with a (b, c) as (`; `with` is also a word of prose.
QUERY_WORD = re.compile(r"\b(?:(select)\b|with(?=\s))", re.IGNORECASE)
NAME = r"with\s+(?:recursive\s+)?[\w\"`]+\s*"
AS = r"as\s*(?:(?:not\s+)?materialized\s*)?\("
WITH_AS = re.compile(NAME + AS, re.IGNORECASE)
WITH_COLUMNS = re.compile(NAME + r"\(", re.IGNORECASE)
COLUMNS_AS = re.compile(r"\)\s*" + AS, re.IGNORECASE)

CLOSING = {"{": "}", "[": "]"}
SPACE = r"[ \t\n\r]*"
STRING = r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*)*"'
NUMBER = r"-?(?:0|[1-9][0-9]{0,4299})(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"  # Python reads no longer integers
JSON_VALUE = re.compile(rf"[{{\[]|{STRING}|true|false|null|NaN|-?Infinity|{NUMBER}")
JSON_KEY = re.compile(rf"{STRING}{SPACE}:{SPACE}")
JSON_SEPARATOR = re.compile(rf"{SPACE}([,\]}}])")
JSON_SPACE = re.compile(SPACE)


def strip_reasoning(text: str) -> str:
    """Return a text without the train of thought before it; one that does not end is followed by no answer.

    Neither does a text of more than `MAX_LENGTH` characters hold one.

    >>> [strip_reasoning(text) for text in ("<think>no, or yes?</think> yes", "no at first</think> yes", "<think>si")]
    ['yes', 'yes', '']
    """
    return REASONING.sub("", text).strip() if len(text) <= MAX_LENGTH else ""


def split_reasoning(text: str) -> tuple[str, str]:
    """Return the train of thought before an answer, and the answer; a text without `<think>` is all answer.

    >>> split_reasoning("<think>no, or yes?</think> yes"), split_reasoning("<think>si"), split_reasoning(" yes ")
    (('no, or yes?', 'yes'), ('si', ''), ('', ' yes '))
    """
    if "<think>" not in text and "</think>" not in text:
        return "", text
    answer = strip_reasoning(text)
    thought = text.rstrip().removesuffix(answer) if answer else text
    return re.sub(r"</?think>", "", thought).strip(), answer


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
        starts = [match.start() for match in pattern.finditer(text)]
        if _is_any_negated(text, starts):
            return []
        if starts:
            matches.append(form)
            text = pattern.sub(" " * len(form), text)
    return matches


def _is_any_negated(text: str, starts: Sequence[int]) -> bool:
    """Tell whether a negation stands right before one of these places, or with marks and spaces between.

    >>> _is_any_negated("not, yes", [5]), _is_any_negated("not now: yes", [9])
    (True, False)
    """
    if any(text[max(0, start - 2) : start].removesuffix("\n").endswith(NEGATION_ZH) for start in starts):
        return True
    for match in NEGATION.finditer(text) if starts else ():
        following = bisect_left(starts, match.start(1) + 1)
        if following < len(starts) and starts[following] <= match.end():
            return True
    return False


def _is_word_end(text: str, place: int) -> bool:
    """Tell whether no Latin word goes on at this place."""
    return place >= len(text) or not (text[place].isascii() and (text[place].isalnum() or text[place] == "_"))


def find_json_object(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in a text.

    >>> find_json_object('{as asked} {"a": {"b": 1}, "c": [2]} {"d": 3}')
    {'a': {'b': 1}, 'c': [2]}
    """
    return next(iter_json_objects(strip_reasoning(text)), None)


def iter_json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, but those within another one.

    >>> list(iter_json_objects('<call>{"a": {"b": 1}}</call> and [{"c": 2}, {broken}]'))
    [{'a': {'b': 1}}, {'c': 2}]
    """
    ends: dict[int, int] = {}
    position = 0
    for brace in re.finditer(r"\{", text):
        start = brace.start()
        if start < position:
            continue
        if start not in ends:
            _scan_object(text, start, ends)
        end = ends.pop(start)
        if end:
            try:
                value: dict[str, Any] = json.loads(text[start:end])
            except (ValueError, RecursionError):  # a limit of this Python
                continue
            yield value
            position = end


def is_shallow(value: Any, limit: int = 100) -> bool:
    """Return whether JSON nests no deeper than a limit: what recurses over it must not end a run.

    >>> is_shallow({"a": [[1]]}, 3), is_shallow({"a": [[1]]}, 2)
    (True, False)
    """
    level = [value]
    for _ in range(limit + 1):
        level = [
            each
            for part in level
            if isinstance(part, Mapping | list | tuple)
            for each in (part.values() if isinstance(part, Mapping) else part)
        ]
        if not level:
            return True
    return False


def _scan_object(text: str, start: int, ends: dict[int, int]) -> None:
    """Note where the object at a brace ends, and each object and list within it; 0 for one that is broken or cut.

    Where an object is broken, so is every one that is still open there: none of them needs to be scanned again.

    >>> ends = {}
    >>> _scan_object('{"a": {"b": {}, "c"}', 0, ends)
    >>> ends
    {0: 0, 6: 0, 12: 14}
    """
    containers: list[int] = []  # where those begin that are open
    position = start
    while len(containers) < MAX_DEPTH and (value := JSON_VALUE.match(text, position)):
        is_opening = text[position] in "{["
        if is_opening:
            containers.append(position)
            ends[position] = 0
        separator, position = _read_separator(text, value.end())
        while separator == CLOSING[text[containers[-1]]]:
            ends[containers.pop()] = position
            if not containers:
                return
            is_opening = False
            separator, position = _read_separator(text, position)
        if separator != ("" if is_opening else ","):
            return
        position = JSON_SPACE.match(text, position).end()  # type: ignore[union-attr] # it matches anywhere
        if text[containers[-1]] == "{":
            key = JSON_KEY.match(text, position)
            if key is None:
                return
            position = key.end()


def _read_separator(text: str, position: int) -> tuple[str, int]:
    """Return a comma or a closing bracket behind spaces, or nothing where there is neither, and its end."""
    separator = JSON_SEPARATOR.match(text, position)
    return ("", position) if separator is None else (separator[1], separator.end())


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
    fence = text.find("```")
    fence_end = text.find("```", fence + 3) if fence >= 0 else -1
    code = re.sub(r"\A\w*\s*", "", text[fence + 3 : fence_end]) if fence_end >= 0 else text
    start = _find_query_start(code)
    end = ";" if fence_end >= 0 else r";|\n\s*\n"
    return None if start is None else " ".join(re.split(end, code[start:], maxsplit=1)[0].split())


def _find_query_start(code: str) -> int | None:
    """Return where the first query begins.

    >>> _find_query_start("with ease (or not): with a (b) as (select 1) select b from a")
    20
    """
    closing, is_query = 0, False  # the first closing bracket behind a list of columns; whether a query follows it
    for word in QUERY_WORD.finditer(code):
        start = word.start()
        if word[1] or WITH_AS.match(code, start):
            return start
        columns = WITH_COLUMNS.match(code, start)
        if columns is None:
            continue
        if 0 <= closing < columns.end():
            closing = code.find(")", columns.end())
            is_query = closing >= 0 and COLUMNS_AS.match(code, closing) is not None
        if is_query:
            return start
    return None


def list_golds(gold: Any) -> tuple[Any, ...]:
    """Return the accepted answers of a gold value: one, a list of them, or SQuAD's `{"text": [...]}`.

    >>> list_golds("a"), list_golds(["a", "b"]), list_golds({"text": ["a"], "answer_start": [3]})
    (('a',), ('a', 'b'), ('a',))
    """
    if isinstance(gold, Mapping) and isinstance(gold.get("text"), list):
        gold = gold["text"]
    return tuple(gold) if isinstance(gold, list | tuple) else () if gold is None else (gold,)


def parse_answers(value: Any, where: str) -> Any:
    """Return the accepted answers of a cell of `--answers`: a list, or the JSON of one as a CSV file holds it.

    >>> parse_answers('["Paris", "the city of Paris"]', "row 1")
    ['Paris', 'the city of Paris']
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    is_list = isinstance(value, list | tuple) or (isinstance(value, Mapping) and isinstance(value.get("text"), list))
    golds = list(list_golds(value)) if is_list else []
    if not golds:
        raise ValueError(f'{where} holds no list of accepted answers; write one such as ["Paris", "in Paris"]')
    return golds
