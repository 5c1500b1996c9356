"""What judges said of paraphrases, which of these are accepted, and how far the judges agree.

>>> said = [Judgement("a", judge, 90, True) for judge in ("Ida", "Ben", "Lu")]
>>> decide_verdicts(said, ["a", "b"])
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

from lapsus.core.checks import shorten_repr
from lapsus.stats import krippendorff_alpha

YES = frozenset({"1", "yes", "true", "y", "grammatical"})
NO = frozenset({"0", "no", "false", "n", "ungrammatical"})


class InvalidJudgementError(ValueError):
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


def is_blank(value: Any) -> bool:
    """Return whether a cell of a table is empty; any other value is content, also 0 and a list."""
    return value is None or value == ""


def parse_judgement(row: Mapping[str, Any]) -> Judgement:
    """Return the judgement of a row.

    >>> parse_judgement({"item": "a", "judge": "Ida", "similarity": "80", "grammatical": "Yes"})
    Judgement(item='a', judge='Ida', similarity=80.0, grammatical=True)
    """
    for name in ("item", "judge"):
        if is_blank(row.get(name)):
            raise InvalidJudgementError(f"names no {name}", f"fill in the column {name!r}")
    try:
        similarity = float(row.get("similarity"))  # type: ignore[arg-type] # None is caught
    except (TypeError, ValueError, OverflowError):
        similarity = -1.0
    if not isfinite(similarity) or not 0 <= similarity <= 100 or isinstance(row.get("similarity"), bool):
        raise InvalidJudgementError(
            f"has the similarity {shorten_repr(row.get('similarity'))}",
            "write a number from 0 (another meaning) to 100 (the same)",
        )
    answer = row.get("grammatical")
    word = str(int(answer) if isinstance(answer, float) and answer.is_integer() else answer).strip().casefold()
    if word not in YES | NO:
        raise InvalidJudgementError(f"has {shorten_repr(answer)} for grammatical", "write yes or no")
    for name in ("item", "judge"):
        if not isinstance(row[name], str | int | float):
            raise InvalidJudgementError(f"has {shorten_repr(row[name])} for {name}", "write a word or a number")
    return Judgement(str(row["item"]), str(row["judge"]), similarity, word in YES)


@dataclass(frozen=True, slots=True)
class AcceptanceRule:
    """When a paraphrase is accepted: most judges find it grammatical, and its mean similarity is over `min_similarity`.

    P̂aRTE retained what got "a similarity score above 75 out of 100"; it does not say of how many judges, nor how
    theirs were joined. Three, their mean and their majority are the choice of lapsus.
    """

    min_similarity: float = 75
    min_judges: int = 3


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


def decide_verdicts(
    judgements: Iterable[Judgement], items: Iterable[str], rule: AcceptanceRule | None = None
) -> list[Verdict]:
    """Return the verdict on every item, in their order."""
    by_item: dict[str, list[Judgement]] = defaultdict(list)
    for each in judgements:
        by_item[each.item].append(each)
    return [_decide_verdict(item, by_item[item], rule or AcceptanceRule()) for item in items]


def _decide_verdict(item: str, judgements: Sequence[Judgement], rule: AcceptanceRule) -> Verdict:
    if not judgements:
        return Verdict(item, 0, None, None, "too few judges")
    similarity = sum(each.similarity for each in judgements) / len(judgements)
    grammatical = sum(each.grammatical for each in judgements) / len(judgements)
    if len(judgements) < rule.min_judges:
        outcome = "too few judges"
    elif grammatical <= 0.5:
        outcome = "ungrammatical"
    else:
        outcome = "accepted" if similarity > rule.min_similarity else "not similar"
    return Verdict(item, len(judgements), round(similarity, 4), round(grammatical, 4), outcome)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far judges agree on the items that several of them judged.

    `similarity` is Krippendorff's interval alpha, `grammatical` the nominal one (None: all said the same, which leaves
    nothing to agree on); `mean_distance` is how many points two judges of an item differ on average,
    `same_grammaticality` how often two of them say the same of its grammar.
    """

    judges: int
    judgements: int
    items: int
    similarity: float | None
    grammatical: float | None
    mean_distance: float | None
    same_grammaticality: float | None


def measure_agreement(judgements: Iterable[Judgement]) -> Agreement:
    """Return how far the judges agree."""
    all_judgements = list(judgements)
    by_item: dict[str, list[Judgement]] = defaultdict(list)
    for each in all_judgements:
        by_item[each.item].append(each)
    groups = [group for group in by_item.values() if len(group) > 1]
    pairs = [pair for group in groups for pair in combinations(group, 2)]
    return Agreement(
        judges=len({each.judge for each in all_judgements}),
        judgements=len(all_judgements),
        items=len(groups),
        similarity=krippendorff_alpha([each.similarity for each in group] for group in groups),
        grammatical=krippendorff_alpha([each.grammatical for each in group] for group in groups),
        mean_distance=sum(abs(first.similarity - second.similarity) for first, second in pairs) / len(pairs)
        if pairs
        else None,
        same_grammaticality=sum(first.grammatical == second.grammatical for first, second in pairs) / len(pairs)
        if pairs
        else None,
    )
