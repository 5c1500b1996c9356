"""A simulated user who speaks turn after turn: each turn gets the noise that it would have in a row of messages.

>>> from lapsus.perturbations import OPERATORS
>>> speaker = NoisySpeaker((Noise(OPERATORS["filler_eos"]),), "chat-7")
>>> turn = speaker.say("slow down", 0)
>>> turn.clean, turn.noisy
('slow down', 'slow down pretty please')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lapsus.perturbations.noise import Noise, apply_in_turn


class SpokenTurn(NamedTuple):
    """What a user meant and what they typed: a text or a list of parts, the edits, and the operator."""

    clean: Any
    noisy: Any
    edits: list[dict[str, Any]]
    operator: str


@dataclass(frozen=True, slots=True)
class NoisySpeaker:
    """The user of one conversation.

    Args:
        noises: What is done to a turn, in this order, such as `parse_noise("en_keyboard")[0].make_noises()`.
        conversation: The id of the conversation, which decides the person and the noise.
    """

    noises: tuple[Noise, ...]
    conversation: str

    def say(self, content: str | Sequence[Mapping[str, Any]], number: int) -> SpokenTurn:
        """Return a turn with noise; `number` counts the user's turns from 0."""
        before = [{"role": "user", "content": ""}] * number  # a turn depends on its number, not on what was said before
        row = {"id": [self.conversation], "messages": [[*before, {"role": "user", "content": content}]]}
        noises = [replace(noise, text="messages", id="id", turns="last") for noise in self.noises]
        noisy = apply_in_turn(noises, row)
        return SpokenTurn(content, noisy["messages"][0][-1]["content"], noisy["edits"][0], noisy["operator"][0])
