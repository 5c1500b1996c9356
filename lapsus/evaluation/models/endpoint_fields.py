"""Fields of a chat request that a server refuses: each is replaced or dropped once, for all later requests.

A request asks for what a measurement wants: temperature 0, a seed, a cap on the tokens. `max_completion_tokens` never
goes first, since Ollama ignores it without a word, and then nothing is cut.

>>> fields = FieldChanges()
>>> wanted = {"model": "m", "temperature": 0, "max_tokens": 16}
>>> error = '{"error": {"message": "Unsupported parameter", "param": "max_tokens"}}'
>>> fields.learn(wanted, find_refused_fields(error))
>>> fields.apply(wanted), fields.describe(wanted)
({'model': 'm', 'temperature': 0, 'max_completion_tokens': 16}, ('max_completion_tokens instead of max_tokens',))
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

THINKING_TOKENS = 2000  # room for the thinking of a model, besides the answer
DROP, RENAME, NO_EFFORT = "drop", "rename", "none"
CAP, NEW_CAP, EFFORT = "max_tokens", "max_completion_tokens", "reasoning_effort"
OPTIONAL = frozenset(
    {
        "temperature",
        "seed",
        "top_p",
        "logprobs",
        "top_logprobs",
        "stop",
        "response_format",
        "parallel_tool_calls",
        EFFORT,
    }
)
NAMED = tuple(  # how servers name a field in words
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"unsupported (?:parameter|value|param): ['\"`]?([\w.]+)",
        r"unrecognized request arguments? supplied: (\w+)",
        r'unknown name "(\w+)"',
        r"['\"`]?\b(\w+)['\"`]? (?:is deprecated|is not supported|does not support)",
        r"function tools with (reasoning_effort)",
        r"duplicate field [`'\"](\w+)",
        r"(response_format|grammar) and tools are mutually exclusive",
    )
)
SYNONYMS = {"grammar": "response_format"}


def load_error(text: str) -> tuple[str, Mapping[str, Any]]:
    """Return the message of an error and its object: `{error: {…}}`, a list of one, `{error: "…"}`, or bare text.

    >>> load_error('[{"error": {"code": 400, "message": "no"}}]'), load_error("busy")
    (('no', {'code': 400, 'message': 'no'}), ('busy', {}))
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text, {}
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(error, Mapping):
        return str(error), {}
    return str(error.get("message", text)), error


def find_refused_fields(text: str) -> tuple[str, ...]:
    """Return the fields that an error names, in `param`, in a place of the request, or in its words.

    >>> find_refused_fields('{"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}')
    ('seed',)
    """
    message, error = load_error(text)
    names = [name for pattern in NAMED for name in pattern.findall(message)]
    names.append(error.get("param"))
    details = error.get("detail")
    for detail in details if isinstance(details, list) else ():
        place = detail.get("loc") if isinstance(detail, Mapping) else None
        names += place[1:2] if isinstance(place, list) else ()
    texts = [name.partition(".")[0].lower() for name in names if isinstance(name, str)]
    return tuple(dict.fromkeys(SYNONYMS.get(name, name) for name in texts))


@dataclass(slots=True)
class FieldChanges:
    """What a server demands of every request to one model.

    Args:
        changes: What becomes of a field.
        thinks: Whether the model thinks before it answers, and needs room for it.
    """

    changes: dict[str, str] = field(default_factory=dict)
    thinks: bool = False

    def apply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request as the server takes it."""
        body = dict(request)
        if self.thinks and CAP in body:
            body[CAP] += THINKING_TOKENS
        for name, change in list(self.changes.items()):
            if change == NO_EFFORT:
                body |= {EFFORT: NO_EFFORT} if body.get("tools") else {}
            elif name in body:
                value = body.pop(name)
                body |= {NEW_CAP: value} if change == RENAME else {}
        return body

    def learn(self, body: Mapping[str, Any], names: Sequence[str]) -> None:
        """Change the fields of a request that was refused for them."""
        for name in names:
            if name == CAP and name in body:
                self.changes[name] = RENAME
            elif name == EFFORT and body.get("tools") and body.get(name) != NO_EFFORT:
                self.changes.setdefault(name, NO_EFFORT)
            elif name in OPTIONAL and name in body:
                self.changes[name] = DROP

    def describe(self, request: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the changes to a request."""
        words = {DROP: "no {}", RENAME: f"{NEW_CAP} instead of {{}}", NO_EFFORT: "{} none"}
        body = self.apply(request)
        return tuple(
            words[change].format(name)
            for name, change in sorted(self.changes.items())
            if (name in request) != (name in body) or (change == NO_EFFORT and name in body)
        )
