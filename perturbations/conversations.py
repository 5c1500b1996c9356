"""Conversations as the texts of their turns, and back: what `Noise` does with a column of messages.

Every turn becomes a row of its own, with the key `ID/N`. One person speaks in a conversation, drawn from its id, and
the turns are one session; what carries over goes forwards only, so a turn keeps its noise when others follow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from lapsus.core.conversations import (
    USERS,
    Messages,
    Turn,
    get_role,
    group_edits,
    list_turns,
    parse_messages,
    record_edits,
    replace_texts,
    restore_form,
)
from lapsus.core.edits import Span
from lapsus.core.messages import format_list
from lapsus.perturbations.protection import merge_spans
from lapsus.perturbations.streams import stream_starts

Row: TypeAlias = Mapping[str, Any]
Turns: TypeAlias = Literal["all", "first", "last"]
TURNS: tuple[Turns, ...] = ("all", "first", "last")
PASTED = re.compile(
    r"```.*?(?:```|\Z)"  # fenced code
    r"|(?<![A-Za-z0-9])`[^`\n]+`(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])(?:https?://|www\.)[!-~]+"
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    re.DOTALL | re.ASCII,
)
BRACKETED = re.compile(r"[\[{].{78,}[\]}]", re.DOTALL)  # may be JSON
MIN_JSON = 80  # characters from which JSON is pasted, and not typed


def select_turns(turns: Sequence[Turn], which: Turns = "all") -> list[Turn]:
    """Return all texts of the user, or those of the first or of the last turn."""
    if which == "all" or not turns:
        return list(turns)
    number = turns[0 if which == "first" else -1].number
    return [turn for turn in turns if turn.number == number]


def explain_no_turns(messages: Messages) -> str:
    """Return why a conversation has no turn of a user."""
    roles = dict.fromkeys(map(get_role, messages))
    if not roles.keys().isdisjoint(USERS):
        return "no turn of the user holds a text"
    return f"no turn of a user, but of {format_list(roles)}" if roles else "the conversation is empty"


def make_turn_key(conversation: str, turn: Turn) -> str:
    """Return the key of a turn, `ID/N`, or of one of its parts, `ID/N.P`.

    >>> make_turn_key("chat-7", Turn(2, 5, None, "")), make_turn_key("chat-7", Turn(2, 5, 1, ""))
    ('chat-7/2', 'chat-7/2.1')
    """
    return f"{conversation}/{turn.number}" + ("" if turn.part is None else f".{turn.part}")


def draw_people(conversations: Sequence[str], seed: int) -> list[int]:
    """Return the number, from 1, of the person who speaks in each conversation.

    >>> draw_people(["chat-7"], 0) == draw_people(["chat-8", "chat-7"], 0)[1:]
    True
    """
    people: list[int] = ((stream_starts(f"person/{seed}", conversations) >> 33) + 1).tolist()
    return people


def find_pasted(text: str) -> tuple[Span, ...]:
    """Return what a person pastes and does not type: code between marks, addresses of the web and mail, long JSON.

    >>> text = "why does `f(x)` fail? see https://example.org/log"
    >>> [text[start:end] for start, end in find_pasted(text)]
    ['`f(x)`', 'https://example.org/log']
    """
    return merge_spans([*(match.span() for match in PASTED.finditer(text)), *_find_json(text)])


def _find_json(text: str) -> list[Span]:
    """Return where long lists and objects of JSON stand."""
    spans: list[Span] = []
    decoder, end = json.JSONDecoder(), 0
    for match in re.finditer(r"[\[{]", text) if BRACKETED.search(text) else ():
        if match.start() < end:
            continue
        try:
            _, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if end - match.start() >= MIN_JSON:
            spans.append((match.start(), end))
    return spans


class Conversation(NamedTuple):
    """The messages of a row, the turns to perturb, and the other turns; or why they cannot be read."""

    messages: Messages
    turns: Sequence[Turn] = ()
    others: Sequence[Turn] = ()
    fault: str | None = None


class TurnBatch(NamedTuple):
    """The turns of a batch of conversations, as the columns of rows of texts."""

    columns: dict[str, list[Any]]
    keys: list[str | None]
    names: list[str]  # of the conversations that they belong to


def read_conversations(
    cells: Sequence[Any], keys: Sequence[str | None], which: Turns, *, raises: bool
) -> list[Conversation]:
    """Return the conversations of a batch; one that cannot be read raises, or keeps its fault."""
    conversations = []
    for cell, key in zip(cells, keys, strict=True):
        try:
            messages = parse_messages([] if cell is None else cell)
            turns = list_turns(messages)
        except (TypeError, ValueError) as error:
            if raises:
                raise type(error)(f"row {key!r}: {error}") from error
            conversations.append(Conversation([], fault=str(error)))
            continue
        selected = select_turns(turns, which)
        conversations.append(Conversation(messages, selected, [turn for turn in turns if turn not in selected]))
    return conversations


def split_conversations(
    rows: Row,
    conversations: Sequence[Conversation],
    ids: Sequence[str | None] | None,
    column: str,
    extra: Sequence[str],
) -> TurnBatch:
    """Return the turns to perturb as rows of texts; where the rows are noisy, with their clean texts and edits.

    A conversation without an id is known by its first turn.
    """
    is_noisy = f"clean_{column}" in rows
    names = [column, *extra, *([f"clean_{column}", "edits", "operator"] if is_noisy else [])]
    batch = TurnBatch({name: [] for name in names}, [], [])
    for i, conversation in enumerate(conversations):
        if not conversation.turns:
            continue
        name = ids[i] if ids is not None else min([*conversation.turns, *conversation.others]).text
        clean_texts = _index_clean_texts(rows[f"clean_{column}"][i]) if is_noisy else {}
        edits = group_edits(rows["edits"][i]) if is_noisy else {}
        for turn in conversation.turns:
            batch.keys.append(None if name is None else make_turn_key(name, turn))
            batch.names.append(str(name))
            batch.columns[column].append(turn.text)
            for other in extra:
                batch.columns[other].append(rows[other][i])
            if is_noisy:
                place = (turn.number, turn.part)
                batch.columns[f"clean_{column}"].append(clean_texts.get(place, turn.text))
                batch.columns["edits"].append([edit._asdict() for edit in edits.get(place, ())])
                batch.columns["operator"].append(rows["operator"][i])
    return batch


def _index_clean_texts(cell: Any) -> dict[tuple[int, int | None], str]:
    return {(turn.number, turn.part): turn.text for turn in list_turns(parse_messages(cell or []))}


def join_conversations(
    rows: Row,
    conversations: Sequence[Conversation],
    output: Mapping[str, Sequence[Any]],
    column: str,
    *,
    origin: str,
    reason_column: str | None,
) -> dict[str, list[Any]]:
    """Return the columns of conversations whose turns became `output`; `origin` is what a row without turns records."""
    is_noisy = f"clean_{column}" in rows
    joined: dict[str, list[Any]] = {name: [] for name in (column, f"clean_{column}", "edits", "operator")}
    reasons: list[str | None] = []
    first = 0
    for i, conversation in enumerate(conversations):
        cell, turns = rows[column][i], conversation.turns
        places = range(first, first + len(turns))
        first += len(turns)
        texts = [(turn, output[column][place]) for turn, place in zip(turns, places, strict=True)]
        joined[column].append(restore_form(replace_texts(conversation.messages, texts), cell) if turns else cell)
        joined[f"clean_{column}"].append(rows[f"clean_{column}"][i] if is_noisy else cell)
        records = [(turn, output["edits"][place]) for turn, place in zip(turns, places, strict=True)]
        if is_noisy:
            old = group_edits(rows["edits"][i])
            others = ((turn, old.get((turn.number, turn.part), ())) for turn in conversation.others)
            records += [(turn, [edit._asdict() for edit in edits]) for turn, edits in others]
        joined["edits"].append(
            [
                edit
                for turn, edits in sorted(records, key=lambda record: record[0])
                for edit in record_edits(turn, edits)
            ]
        )
        own_origin = f"{rows['operator'][i]} then {origin}" if is_noisy else origin
        operators = dict.fromkeys(output["operator"][place] for place in places)
        joined["operator"].append(" / ".join(operators) or own_origin)
        if reason_column:
            turn_reasons = [output[reason_column][place] for place in places]
            empty = conversation.fault or explain_no_turns(conversation.messages)
            reasons.append(empty if not turns else None if joined["edits"][-1] else turn_reasons[0])
    return joined | ({reason_column: reasons} if reason_column else {})
