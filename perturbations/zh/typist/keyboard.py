"""Type Chinese as people do: in chunks, through a Pinyin input method, in a hurry and without looking back.

>>> from lapsus.perturbations import apply, perturb
>>> text = "花呗怎么不能提额了"
>>> apply(text, perturb(ZhKeyboard.annotator(1), text, seed=1, key="row-4"))
'花呗责骂不能提了'
"""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass, fields
from random import Random
from typing import TYPE_CHECKING

from lapsus.perturbations.streams import SessionStream, SharedStarts, session_starts, stream_start, stream_starts
from lapsus.perturbations.zh.input_method.installed import open_input_method
from lapsus.perturbations.zh.input_method.pinyin import load_engine
from lapsus.perturbations.zh.typist.candidates import EMBEDDED
from lapsus.perturbations.zh.typist.habits import PEOPLE, load_habits
from lapsus.perturbations.zh.typist.memory import NOTHING, Memory, load_memories
from lapsus.perturbations.zh.typist.retyping import IMES, LONGEST, classify_text, retype
from lapsus.perturbations.zh.typist.session import TypingSession

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lapsus.core.edits import Edit

LARGEST = 10  # rate: ten times as much as people do
PLAIN, CONSPICUOUS = 0.55, 2.2  # how fast one wrong character, and any other error, gets rarer with care
RATES, TIMES = (1, 1.55, 1.93, 2.22, 2.55, 2.77, 2.9), (1, 2, 3, 4, 6, 8, 10)  # typed so many times: what goes wrong


@dataclass(frozen=True, slots=True, repr=False)
class ZhKeyboard:
    """A person retyping a text. Short questions and prose with its marks are typed with different habits.

    Args:
        who: Whose habits: 1 to 3, fitted to the three people who typed READIN; any other number is somebody drawn, with
            habits as far from theirs as theirs are from each other.
        rate: How much goes wrong: 1 is what people do. A higher rate only adds edits. Below 1 it is care, which
            conspicuous errors fall to first.
        engine: Whose candidates: "embedded", or a real input method that is installed, such as "libpinyin".
        memory: Whether they confuse the words that READIN's people did. Without it nothing is used that was learned
            from the words of READIN and AFQMC, which state no licence.

    >>> ZhKeyboard.annotator(2).rate
    1.0
    """

    who: int = 1
    rate: float = 1.0
    engine: str = "embedded"
    memory: bool = True
    name: str = "zh_keyboard"
    version: str = "4"

    def __post_init__(self) -> None:
        if not 1 <= self.who <= PEOPLE:
            raise ValueError(f"who is {self.who!r}; give a number from 1 to {PEOPLE}; the first three typed READIN")
        if not 0 <= self.rate <= LARGEST:
            raise ValueError(f"rate is {self.rate!r}; give a number from 0 to {LARGEST}, where 1 is what people do")
        if self.engine != EMBEDDED:
            open_input_method(self.engine)

    def __repr__(self) -> str:
        """Show the settings; `memory` only where it is off, so that rows of version 4 stay as they were."""
        names = (field.name for field in fields(self) if field.name != "memory" or not self.memory)
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    @classmethod
    def annotator(cls, number: int, *, rate: float = 1.0) -> ZhKeyboard:
        """Return a person: the first three are those of the `-sim` tracks."""
        return cls(number, rate)

    def edits(self, text: str, rng: Random) -> list[Edit]:
        """Return what typing `text` changes."""
        begin = stream_start(rng)
        return self._make_edits(
            text, begin, rng.shared_starts if isinstance(rng, SessionStream) else SharedStarts(begin, begin)
        )

    def edits_from_keys(self, texts: Sequence[str], seed: int, keys: Sequence[str]) -> list[tuple[Edit, ...]]:
        """Return the edits that typing each text makes, each in a session of its own."""
        return self.edits_in_sessions(texts, seed, keys, keys)

    def edits_in_sessions(
        self, texts: Sequence[str], seed: int, keys: Sequence[str], sessions: Sequence[str]
    ) -> list[tuple[Edit, ...]]:
        """Return the edits that typing each text makes, where the texts of a session are typed together."""
        name = f"{self.name}/{seed}"
        begins = stream_starts(name, keys).tolist()
        shared = session_starts(name, sessions)
        return [tuple(self._make_edits(*arguments)) for arguments in zip(texts, begins, shared, strict=True)]

    def _make_edits(self, text: str, begin: int, shared: SharedStarts) -> list[Edit]:
        text = text[:LONGEST]
        prose, topic = classify_text(text, learned=self.memory)
        typist = load_habits(self.who)["prose" if prose else "question"]
        # What was learned from questions to a bank is of no use for others.
        memory = self._get_memory("question" if topic else "prose")
        person_rng = Random(begin * 64 + self.who)  # with a shared stream, all people would slip at the same places
        session = TypingSession.for_person(shared, self.who)
        edits: list[Edit] = []
        n_passes = count_passes(self.rate)
        for pass_index in range(math.ceil(n_passes)):
            typed = retype(
                text, typist, person_rng, self.engine, IMES * self.who, memory, session.next_pass(2 * pass_index)
            )
            if (share := n_passes - pass_index) < 1:
                typed = [edit for edit in typed if person_rng.random() < _chance_to_remain(edit, share)]
            edits = _merge_disjoint(edits, typed)
        return edits

    def _get_memory(self, kind: str) -> Memory:
        return load_memories()[(self.who - 1) % len(load_memories()) + 1][kind] if self.memory else NOTHING

    def untouched(self, text: str) -> str:
        """Return what of `text` no typing can change, and why; nothing where all of it is typed.

        >>> ZhKeyboard().untouched("國際標準")
        'no reading among the simplified characters: 國 際 標 準'
        """
        reasons = []
        if len(text) > LONGEST:
            reasons.append(f"only the first {LONGEST} characters are typed")
        unread = dict.fromkeys(c for c in text[:LONGEST] if c.isalpha() and not c.isascii() and not _is_readable(c))
        if unread:
            reasons.append(f"no reading among the simplified characters: {' '.join(unread)}")
        return "; ".join(reasons)


def _is_readable(character: str) -> bool:
    return character in load_engine().by_text


def count_passes(rate: float) -> float:
    """Return how many times a text is typed for a rate: what goes wrong often goes wrong again, and counts once.

    >>> count_passes(0.5), count_passes(1.55), count_passes(3.9)
    (0.5, 2.0, 11.0)
    """
    if rate <= 1:
        return rate
    if rate >= RATES[-1]:
        return TIMES[-1] + rate - RATES[-1]
    at = bisect(RATES, rate)
    share = (rate - RATES[at - 1]) / (RATES[at] - RATES[at - 1])
    return TIMES[at - 1] + share * (TIMES[at] - TIMES[at - 1])


def _chance_to_remain(edit: Edit, share: float) -> float:
    """Return the chance that a person with a share of the usual errors leaves one in: conspicuous ones go first."""
    plain = len(edit.text) == edit.end - edit.start == 1
    return math.pow(share, PLAIN if plain else CONSPICUOUS)


def _merge_disjoint(first: list[Edit], second: list[Edit]) -> list[Edit]:
    """Add to `first` the edits of `second` that do not touch it."""
    if not first:
        return second
    added = [new for new in second if all(new.end < old.start or new.start > old.end for old in first)]
    return sorted(first + added)


UNITS = (ZhKeyboard(),)
