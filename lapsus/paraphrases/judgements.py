"""What judges said of paraphrases, which of these are accepted, and how far the judges agree.

>>> said = [Judgement("a", judge, 90, True) for judge in ("Ida", "Ben", "Lu")]
>>> verdicts(said, ["a", "b"])
[Verdict(item='a', judges=3, similarity=90.0, grammatical=1.0, outcome='accepted'),
 Verdict(item='b', judges=0, similarity=None, grammatical=None, outcome='too few judges')]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import Any

from lapsus.kernel.statistics import krippendorff_alpha

YES = frozenset({"1", "yes", "true", "y", "grammatical"})
NO = frozenset({"0", "no", "false", "n", "ungrammatical"})


class NotAJudgementError(ValueError):
    """What is wrong with a judgement, and the cure."""

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(what)
        self.cure = cure


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge said of one item: how alike the two mean, from 0 to 100, and whether the second is grammatical."""

    item: str
    judge: str
    similarity: float
    grammatical: bool


def judgement(row: Mapping[str, Any]) -> Judgement:
    """Return the judgement of a row.

    >>> judgement({"item": "a", "judge": "Ida", "similarity": "80", "grammatical": "Yes"})
    Judgement(item='a', judge='Ida', similarity=80.0, grammatical=True)
    """
    for name in ("item", "judge"):
        if row.get(name) in {None, ""}:
            raise NotAJudgementError(f"names no {name}", f"fill in the column {name!r}")
    try:
        similarity = float(row.get("similarity"))  # type: ignore[arg-type] # None is caught
    except (TypeError, ValueError):
        similarity = -1.0
    if not isfinite(similarity) or not 0 <= similarity <= 100 or isinstance(row.get("similarity"), bool):
        raise NotAJudgementError(
            f"has the similarity {row.get('similarity')!r}", "write a number from 0 (another meaning) to 100 (the same)"
        )
    said = row.get("grammatical")
    word = str(int(said) if isinstance(said, float) and said.is_integer() else said).strip().casefold()
    if word not in YES | NO:
        raise NotAJudgementError(f"has {said!r} for grammatical", "write yes or no")
    return Judgement(str(row["item"]), str(row["judge"]), similarity, word in YES)


@dataclass(frozen=True, slots=True)
class Rule:
    """When a paraphrase is accepted: most judges find it grammatical, and its mean similarity is over `similarity`.

    P̂aRTE retained what got "a similarity score above 75 out of 100"; it does not say of how many judges, nor how
    theirs were joined. Three, their mean and their majority are the choice of lapsus.
    """

    similarity: float = 75
    judges: int = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judges together say of an item.

    `outcome` is accepted, ungrammatical, not similar or too few judges.
    """

    item: str
    judges: int
    similarity: float | None
    grammatical: float | None
    outcome: str


def verdicts(judgements: Iterable[Judgement], items: Iterable[str], rule: Rule | None = None) -> list[Verdict]:
    """Return the verdict on every item, in their order."""
    by_item: dict[str, list[Judgement]] = defaultdict(list)
    for each in judgements:
        by_item[each.item].append(each)
    return [_verdict(item, by_item[item], rule or Rule()) for item in items]


def _verdict(item: str, mine: Sequence[Judgement], rule: Rule) -> Verdict:
    if not mine:
        return Verdict(item, 0, None, None, "too few judges")
    similarity = sum(each.similarity for each in mine) / len(mine)
    grammatical = sum(each.grammatical for each in mine) / len(mine)
    if len(mine) < rule.judges:
        outcome = "too few judges"
    elif grammatical <= 0.5:
        outcome = "ungrammatical"
    else:
        outcome = "accepted" if similarity > rule.similarity else "not similar"
    return Verdict(item, len(mine), round(similarity, 4), round(grammatical, 4), outcome)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far judges agree on the items that several of them judged.

    `similarity` is Krippendorff's interval alpha, `grammatical` the nominal one (None: all said the same, which leaves
    nothing to agree on); `apart` is how many points two judges of an item differ on average, `same` how often two of
    them say the same of its grammar.
    """

    judges: int
    judgements: int
    items: int
    similarity: float | None
    grammatical: float | None
    apart: float | None
    same: float | None


def agreement(judgements: Iterable[Judgement]) -> Agreement:
    """Return how far the judges agree."""
    every = list(judgements)
    by_item: dict[str, list[Judgement]] = defaultdict(list)
    for each in every:
        by_item[each.item].append(each)
    several = [mine for mine in by_item.values() if len(mine) > 1]
    pairs = [pair for mine in several for pair in combinations(mine, 2)]
    return Agreement(
        judges=len({each.judge for each in every}),
        judgements=len(every),
        items=len(several),
        similarity=krippendorff_alpha([each.similarity for each in mine] for mine in several),
        grammatical=krippendorff_alpha([each.grammatical for each in mine] for mine in several),
        apart=sum(abs(one.similarity - other.similarity) for one, other in pairs) / len(pairs) if pairs else None,
        same=sum(one.grammatical == other.grammatical for one, other in pairs) / len(pairs) if pairs else None,
    )
