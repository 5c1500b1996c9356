"""What the column `operator` of a row says of its noise: which operators, or people, wrote it.

>>> parse_operators("EnKeyboard(who=1, layout=Keys(rows=3), name='en_keyboard', version='1') seed=0")
['en_keyboard 1']
>>> parse_operators("loud: Shout(version='2') seed=0 then en_keyboard@0.5"), parse_operators("person: Ann")
(['Shout 2', 'en_keyboard'], [])
"""

from __future__ import annotations

import re

PERSON = "person: "  # what a row says that a person wrote
CALL = re.compile(r"(\w*)\(([^()]*)\)")  # the innermost first
SETTING = re.compile(r"\b(name|version)='([^']*)'")


def parse_operators(origin: str) -> list[str]:
    """Return the operators, each with its version where it is known, that the column `operator` of a row names."""
    operators: dict[str, None] = {}
    for part in origin.split(" then "):
        if part.startswith(PERSON):
            continue
        rest, calls = part, []
        while match := CALL.search(rest):
            settings = dict(SETTING.findall(match[2]))
            if "version" in settings:
                calls.append(f"{settings.get('name', match[1])} {settings['version']}")
            rest = rest[: match.start()] + rest[match.end() :]
        plain = re.split(r"[:@(\s]", part.strip(), maxsplit=1)[0]
        operators |= dict.fromkeys(calls or filter(None, [plain]))
    return list(operators)
