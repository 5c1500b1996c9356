"""Conversations: lists of messages, and the turns of the user in them.

A message has a role and a content (`role` and `content`, or ShareGPT's `from` and `value`). The content is a text, or a
list of parts of which some are texts. A turn is a user's message that holds a text. Turns are counted from 0, so that a
system prompt or a tool's result more or less leaves their numbers as they are.

>>> messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "slow down"}]
>>> list_turns(messages)
[Turn(number=0, message=1, part=None, text='slow down')]
>>> edits = [{"turn": 0, "part": None, "start": 9, "end": 9, "text": "!"}]
>>> apply_to_messages(messages, edits)[1]
{'role': 'user', 'content': 'slow down!'}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from lapsus.core.edits import Edit, apply

Messages: TypeAlias = Sequence[Mapping[str, Any]]
Prompt: TypeAlias = str | list[dict[str, Any]]  # what a model is asked: a text, or messages

ROLES, CONTENTS = ("role", "from"), ("content", "value")  # of OpenAI, and of ShareGPT
SHAREGPT = (ROLES[1], CONTENTS[1])
SHAREGPT_ROLES = {"human": "user", "gpt": "assistant"}
USERS = ("user", "human")
TEXT_PARTS = ("text", "input_text")


class Turn(NamedTuple):
    """A text of a user: the number of its turn, the place of its message, the place of its part or None, the text."""

    number: int
    message: int
    part: int | None
    text: str


def is_messages(value: Any) -> bool:
    """Return whether a value is a list of messages.

    >>> is_messages([{"from": "human", "value": "hi"}]), is_messages("hi"), is_messages(["hi"])
    (True, False, False)
    """
    return (
        isinstance(value, Sequence)
        and bool(value)
        and isinstance(value[0], Mapping)
        and _find_key(value[0], ROLES) is not None
    )


def parse_messages(value: Any) -> list[Any]:
    """Return the messages of a cell: a list of messages, or the same as JSON.

    >>> parse_messages('[{"role": "user", "content": "hi"}]')
    [{'role': 'user', 'content': 'hi'}]
    """
    try:
        messages = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        messages = None
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        sample = str(value)[:60]
        raise ValueError(  # noqa: TRY004 - told as any other fault
            f"{sample!r} holds no messages; give a list of objects with role and content"
        )
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get(_find_key(message, ROLES) or ""), str):
            raise ValueError(  # noqa: TRY004 - likewise
                f"message {number} has no role; give it one, such as user, assistant, system or tool"
            )
    return list(messages)


def restore_form(messages: Sequence[Any], value: Any) -> Any:
    """Return messages in the form of the cell that they were parsed from: as JSON where that was a text."""
    return json.dumps(messages, ensure_ascii=False) if isinstance(value, str) else list(messages)


def holds_messages(value: Any) -> bool:
    """Return whether a cell holds messages, as a list or as JSON.

    >>> holds_messages('[{"role": "user", "content": "hi"}]'), holds_messages("[hi]")
    (True, False)
    """
    if not isinstance(value, str):
        return is_messages(value)
    try:
        return value.lstrip().startswith("[") and is_messages(parse_messages(value))
    except ValueError:
        return False


def _find_key(message: Mapping[str, Any], names: Iterable[str]) -> str | None:
    return next((name for name in names if message.get(name) is not None), None)


def get_role(message: Mapping[str, Any]) -> str:
    """Return the role of a message, as it is written."""
    return str(message[_find_key(message, ROLES) or ROLES[0]])


def list_turns(messages: Messages) -> list[Turn]:
    """Return the texts of the user, in order.

    >>> parts = [{"type": "image_url", "image_url": {"url": "data:"}}, {"type": "text", "text": "what is it"}]
    >>> list_turns([{"role": "user", "content": parts}, {"from": "human", "value": "thanks"}])
    [Turn(number=0, message=0, part=1, text='what is it'), Turn(number=1, message=1, part=None, text='thanks')]
    """
    turns: list[Turn] = []
    number = 0
    for place, message in enumerate(messages):
        if get_role(message) not in USERS:
            continue
        content = message.get(_find_key(message, CONTENTS) or "")
        if isinstance(content, str):
            texts: list[tuple[int | None, str]] = [(None, content)]
        elif content is None or isinstance(content, Sequence):
            texts = [(part, entry["text"]) for part, entry in enumerate(content or ()) if _is_text_part(entry)]
        else:
            raise TypeError(
                f"the content of message {place} is {type(content).__name__}; give a text or a list of parts"
            )
        turns += [Turn(number, place, part, text) for part, text in texts]
        number += bool(texts)
    return turns


def _is_text_part(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in TEXT_PARTS and isinstance(part.get("text"), str)


def replace_texts(messages: Messages, texts: Iterable[tuple[Turn, str]]) -> list[dict[str, Any]]:
    """Return messages with other texts in some of the user's turns; the messages that are given stay as they are."""
    output = [dict(message) for message in messages]
    for turn, text in texts:
        message = output[turn.message]
        name = _find_key(message, CONTENTS) or CONTENTS[0]
        if turn.part is None:
            message[name] = text
        else:
            parts = list(message[name])
            parts[turn.part] = {**parts[turn.part], "text": text}
            message[name] = parts
    return output


def apply_to_messages(messages: Any, edits: Iterable[Mapping[str, Any]]) -> Any:
    """Replay the edits that a noisy row records on its clean messages."""
    parsed = parse_messages(messages)
    by_turn = group_edits(edits)
    texts = [(turn, apply(turn.text, by_turn.get((turn.number, turn.part), ()))) for turn in list_turns(parsed)]
    return restore_form(replace_texts(parsed, texts), messages)


def group_edits(edits: Iterable[Mapping[str, Any]] | None) -> dict[tuple[int, int | None], list[Edit]]:
    """Return the edits of a row by turn and part."""
    by_turn: dict[tuple[int, int | None], list[Edit]] = {}
    for edit in edits or ():
        place = (edit["turn"], edit["part"])
        by_turn.setdefault(place, []).append(Edit(edit["start"], edit["end"], edit["text"]))
    return by_turn


def record_edits(turn: Turn, edits: Iterable[Any]) -> list[dict[str, Any]]:
    """Return edits of a turn, as a noisy row records them."""
    return [{"turn": turn.number, "part": turn.part, **edit} for edit in edits]


def list_user_texts(messages: Any) -> list[str]:
    """Return what the user says.

    >>> list_user_texts([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}])
    ['hi']
    """
    return [turn.text for turn in list_turns(parse_messages(messages))]


class Message(NamedTuple):
    """A message of a transcript: its role, its texts, whether it is a turn; what is no text is named in brackets."""

    role: str
    texts: tuple[str, ...]
    is_turn: bool


def transcribe(messages: Messages) -> list[Message]:
    """Return messages as a reader is shown them, with calls of tools as JSON, and roles in the names of OpenAI.

    >>> call = {"function": {"name": "find", "arguments": '{"id": 7}'}}
    >>> for message in transcribe([{"from": "human", "value": "hi"}, {"role": "assistant", "tool_calls": [call]}]):
    ...     print(message)
    Message(role='user', texts=('hi',), is_turn=True)
    Message(role='assistant', texts=('[{"name": "find", "arguments": {"id": 7}}]',), is_turn=False)
    """
    user_texts: dict[int, list[str]] = {}
    for turn in list_turns(messages):
        user_texts.setdefault(turn.message, []).append(turn.text)
    transcript = []
    for place, message in enumerate(messages):
        role = SHAREGPT_ROLES.get(get_role(message), get_role(message))
        is_turn = place in user_texts
        texts = user_texts[place] if is_turn else _describe_content(message)
        transcript.append(Message(role, tuple(texts), is_turn))
    return transcript


def _describe_content(message: Mapping[str, Any]) -> list[str]:
    content = message.get(_find_key(message, CONTENTS) or "")
    parts = content if isinstance(content, list | tuple) else [] if content in (None, "") else [content]
    texts = [part["text"] if _is_text_part(part) else _describe_part(part) for part in parts]
    calls = [_describe_call(call) for call in message.get("tool_calls") or ()]
    return [*texts, f"[{', '.join(calls)}]"] if calls else texts


def _describe_part(part: Any) -> str:
    return (
        part if isinstance(part, str) else f"({part.get('type', 'a part') if isinstance(part, Mapping) else 'a part'})"
    )


def _describe_call(call: Any) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return json.dumps(call, ensure_ascii=False, default=str)
    arguments = function.get("arguments")
    arguments = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return f'{{"name": {json.dumps(function.get("name"), ensure_ascii=False)}, "arguments": {arguments}}}'


def to_chat(messages: Messages) -> list[dict[str, Any]]:
    """Return messages as a model is asked them: up to the last that an assistant can answer, in the names of OpenAI.

    >>> to_chat([{"from": "human", "value": "hi", "weight": None}, {"from": "gpt", "value": "hello"}])
    [{'role': 'user', 'content': 'hi'}]
    """
    chat = []
    for message in messages:
        role = get_role(message)
        others = {name: value for name, value in message.items() if value is not None and name not in SHAREGPT}
        content = message.get(_find_key(message, CONTENTS) or "")
        chat.append({**others, "role": SHAREGPT_ROLES.get(role, role), "content": content})
    while chat and chat[-1]["role"] == "assistant":  # the answer that was given, which a model must not read
        chat.pop()
    return chat


def add_instruction(chat: Sequence[dict[str, Any]], instruction: str) -> list[dict[str, Any]]:
    """Return a chat with an instruction in its system prompt, behind what stands there.

    >>> add_instruction([{"role": "user", "content": "hi"}], "Be brief.")[0]
    {'role': 'system', 'content': 'Be brief.'}
    """
    if not instruction:
        return list(chat)
    first = chat[0] if chat else {}
    if first.get("role") == "system" and isinstance(first["content"], str):
        return [{**first, "content": f"{first['content']}\n\n{instruction}"}, *chat[1:]]
    return [{"role": "system", "content": instruction}, *chat]


def put_system(system: str, chat: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    r"""Return a chat behind a system prompt; that of the chat itself follows in the same message.

    >>> put_system("Be brief.", [{"role": "system", "content": "You book."}, {"role": "user", "content": "hi"}])[0]
    {'role': 'system', 'content': 'Be brief.\n\nYou book.'}
    """
    if not system:
        return list(chat)
    first = chat[0] if chat else {}
    if first.get("role") == "system" and isinstance(first["content"], str):
        return [{**first, "content": f"{system}\n\n{first['content']}"}, *chat[1:]]
    return [{"role": "system", "content": system}, *chat]


def ask(prompt: Prompt) -> list[dict[str, Any]]:
    """Return a prompt as messages: a text is what the user says."""
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)


def require_text(prompt: Prompt, model: str) -> str:
    """Return a prompt that is a text; raise for messages, which this model cannot be asked."""
    if not isinstance(prompt, str):
        raise ValueError(  # noqa: TRY004 - the model is at fault
            f"{model} reads no conversations; name a column of texts, or take a model with a chat template"
        )
    return prompt
