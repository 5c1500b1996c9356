"""What NANO is pretrained on: sentences with the tag of a language or a dialect, which is right half the time.

>>> taipei, lisbon = Sentence("印表机没有纸了。", "zh", "TW"), Sentence("O comboio chegou.", "pt", "PT")
>>> for example in tagged([taipei, lisbon], balance=1.0, seed=3):
...     print(example)
('candidate: 印表机没有纸了。 language: zh-TW', 1.0)
('candidate: O comboio chegou. language: zh-TW', 0.0)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from lapsus.models.tagged_inputs import TAGGED, tag


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text, its language, and the region whose dialect it is in, where that is known."""

    text: str
    language: str
    region: str = ""


def tagged(
    sentences: Sequence[Sentence], *, balance: float = 1.0, positive: float = 0.5, times: int = 1, seed: int = 0
) -> list[tuple[str, float]]:
    """Return inputs for each sentence, and 1 where its tag is right, 0 where it is another's.

    Args:
        sentences: Of two languages at least, and of two dialects where `balance` is not 0.
        balance: Lambda: how many tags of dialects there are for one of a language. 0 takes no dialects. A sentence
            of unknown region only ever has tags of languages, so that its tags too are right half the time.
        positive: How often the tag is right.
        times: How often each sentence comes, with a tag drawn anew. A model that reads few sentences again and again
            learns by heart which of them had a right tag; give as many times as it will read each.
        seed: Another seed draws other tags.
    """
    if balance < 0:
        raise ValueError(f"balance is {balance}: give 0 for tags of languages alone, 1 for as many of dialects")
    if not 0 <= positive <= 1:
        raise ValueError(f"positive is {positive}: give the share of right tags, from 0 to 1")
    if times < 1:
        raise ValueError(f"times is {times}: give how often each sentence comes, 1 or more")
    languages = sorted({tag(each.language) for each in sentences})
    dialects = sorted({tag(each.language, each.region) for each in sentences if each.region})
    for kind, found in (("language", languages), ("dialect", dialects if balance else ["", ""])):
        if len(found) < 2:
            raise ValueError(f"the sentences have {len(found)} {kind}: give two at least, so that a tag can be wrong")
    made = []
    for number, each in enumerate([*sentences] * times):
        draw = Random(f"nano/{seed}/{number}").random
        regional = draw() < balance / (1 + balance) and bool(each.region)
        own, known = (tag(each.language, each.region), dialects) if regional else (tag(each.language), languages)
        others = [other for other in known if other != own]
        right, pick = draw() < positive, draw()
        given = own if right else others[int(pick * len(others))]
        made.append((TAGGED.format(candidate=each.text, tag=given), float(right)))
    return made
