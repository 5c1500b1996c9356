"""Case and punctuation lost, as a recogniser loses them and as people do who type on a phone; no word changes.

>>> from lapsus.perturbations import apply, perturb
>>> text = "What is the V&A's first gallery, in London?"
>>> apply(text, perturb(EnUnmarked(), text, key="2"))
"what is the V&A's first gallery in london"
>>> apply(text, perturb(EnUnmarked(by="phone", name="en_unmarked_phone"), text, key="6"))
"What is the V&A's first gallery, in London"
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lapsus.core.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

FITTED = Path(__file__).parent / "data" / "en_unmarked.json"
WORD = re.compile(r"[A-Za-z][A-Za-z'’&]*")
MARK = re.compile(r"[.,;:!?\"()“”]+")
KINDS = {"recogniser": "as a recogniser does", "phone": "as people do who type in a hurry"}


@dataclass(frozen=True, slots=True)
class EnUnmarked:
    """Lose capitals and punctuation: no word changes, only how it is written.

    Args:
        by: "recogniser" loses nearly all marks and the capital at the start, and keeps most names; "phone" is somebody
            typing who may not go back: the last mark goes most often, capitals now and then.
        rate: A factor of each chance.

    >>> EnUnmarked(by="phone").by
    'phone'
    """

    by: str = "recogniser"
    rate: float = 1.0
    name: str = "en_unmarked"
    version: str = "1"

    def __post_init__(self) -> None:
        if self.by not in KINDS:
            raise ValueError(f"by is {self.by!r}; choose one of {', '.join(KINDS)}")
        if not 0 <= self.rate <= 10:
            raise ValueError(f"rate is {self.rate!r}; give a number from 0 to 10, where 1 is what is lost")

    @property
    def summary(self) -> str:
        """What the operator does."""
        return f"Lose capitals and punctuation, {KINDS[self.by]}: no word changes, only how it is written"

    def edits(self, text: str, rng: Random) -> tuple[Edit, ...]:
        """Return what is lost: each kind of mark and capital by the habit of this text, then place by place."""
        chance = {name: self.rate * share for name, share in load_fitted()[self.by].items()}
        plain = rng.random() < chance["all capitals"]
        open_end = rng.random() < chance["last mark"]
        last = len(text.rstrip())
        edits: list[Edit] = []
        first = True
        for match in sorted([*WORD.finditer(text), *MARK.finditer(text)], key=lambda item: item.start()):
            start, end = match.span()
            draw = rng.random()
            if match[0][0].isalpha():
                lost = draw < chance["first capital" if first else "name"] or plain
                first = False
                if lost and any(map(str.isupper, match[0])) and match[0] != "I":
                    edits.append(Edit(start, end, match[0].lower()))
            elif end == last:
                if open_end:
                    edits.append(Edit(start, end, ""))
            elif (
                not (text[start - 1 : start].isalnum() and text[end : end + 1].isalnum())
                and draw < chance["mark within"]
            ):
                edits.append(Edit(start, end, ""))
        return tuple(edits)


@cache
def load_fitted() -> Mapping[str, Mapping[str, float]]:
    """Return what `tools/fit_en_unmarked.py` counted: how often each is lost, by whom."""
    shares: dict[str, dict[str, float]] = json.loads(FITTED.read_text(encoding="utf-8"))
    return shares


UNITS = (EnUnmarked(), EnUnmarked(by="phone", name="en_unmarked_phone"))
