"""Type Chinese as people do: in chunks, through a Pinyin input method, in a hurry and without looking back.

>>> from lapsus.perturbations.core import apply, perturb
>>> text = "花呗怎么不能提额了"
>>> apply(text, perturb(ZhKeyboard.annotator(1), text, seed=1, key="row-4"))
'花呗怎么不能提恶了'
"""

from __future__ import annotations

import gc
import math
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from lapsus.perturbations.hashed_draws import start_of, starts
from lapsus.perturbations.zh.engine.installed import load
from lapsus.perturbations.zh.engine.pinyin import load_engine
from lapsus.perturbations.zh.typist.candidates import EMBEDDED
from lapsus.perturbations.zh.typist.habits import annotators
from lapsus.perturbations.zh.typist.learned_words import memories
from lapsus.perturbations.zh.typist.retyping import IMES, LONGEST, register, retyped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lapsus.perturbations.core import Edit

LARGEST = 10  # rate: ten times as much as people do


@dataclass(frozen=True, slots=True)
class ZhKeyboard:
    """A person retyping a text. Short questions and prose with its marks are typed with different habits.

    Args:
        who: Whose habits: 1 to 3, fitted to the three people who typed READIN.
        rate: How much goes wrong: 1 is what people do. A higher rate only adds edits.
        engine: Whose candidates: "embedded", or a real input method that is installed, such as "libpinyin".

    >>> ZhKeyboard.annotator(2).rate
    1.0
    """

    who: int = 1
    rate: float = 1.0
    engine: str = "embedded"
    name: str = "zh_keyboard"
    version: str = "3"

    def __post_init__(self) -> None:
        if self.who not in annotators():
            raise ValueError(f"who is {self.who!r}; choose one of {', '.join(map(str, annotators()))}")
        if not 0 <= self.rate <= LARGEST:
            raise ValueError(f"rate is {self.rate!r}; give a number from 0 to {LARGEST}, where 1 is what people do")
        if self.engine != EMBEDDED:
            load(self.engine)

    @classmethod
    def annotator(cls, number: int, *, rate: float = 1.0) -> ZhKeyboard:
        """Return one of the three people of the `-sim` tracks."""
        return cls(number, rate)

    def edits(self, text: str, rng: Random) -> list[Edit]:
        """Return what typing `text` changes."""
        return self._edits(text, start_of(rng))

    def edits_keyed(self, texts: Sequence[str], seed: int, keys: Sequence[str]) -> list[tuple[Edit, ...]]:
        """Return what typing each text changes."""
        begins = starts(f"{self.name}/{seed}", keys).tolist()
        with without_garbage_collection():
            return [tuple(self._edits(text, begin)) for text, begin in zip(texts, begins, strict=True)]

    def _edits(self, text: str, begin: int) -> list[Edit]:
        text = text[:LONGEST]
        prose, topic = register(text)
        typist = annotators()[self.who]["prose" if prose else "question"]
        # What was learned from questions to a bank is of no use for others.
        memory = memories()[self.who]["question" if topic else "prose"]
        own = Random(begin * 64 + self.who)  # with a shared stream, all people would slip at the same places
        found: list[Edit] = []
        for done in range(math.ceil(self.rate)):
            typed = retyped(text, typist, own, self.engine, IMES * self.who, memory)
            if (share := self.rate - done) < 1:
                typed = [edit for edit, chance in [(edit, own.random()) for edit in typed] if chance < share]
            found = _with_untouched(found, typed)
        return found

    def untouched(self, text: str) -> str:
        """Say what of `text` no typing can change, and why; nothing where all of it is typed.

        >>> ZhKeyboard().untouched("國際標準")
        'no reading among the simplified characters: 國 際 標 準'
        """
        reasons = []
        if len(text) > LONGEST:
            reasons.append(f"only the first {LONGEST} characters are typed")
        unread = dict.fromkeys(c for c in text[:LONGEST] if c.isalpha() and not c.isascii() and not _readable(c))
        if unread:
            reasons.append(f"no reading among the simplified characters: {' '.join(unread)}")
        return "; ".join(reasons)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Suspend the garbage collector: typing makes no cycles, and its large caches make every collection slow."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _readable(character: str) -> bool:
    return character in load_engine().by_text


def _with_untouched(first: list[Edit], second: list[Edit]) -> list[Edit]:
    """Add to `first` the edits of `second` that do not touch it."""
    if not first:
        return second
    added = [new for new in second if all(new.end < old.start or new.start > old.end for old in first)]
    return sorted(first + added)


UNITS = (ZhKeyboard(),)
