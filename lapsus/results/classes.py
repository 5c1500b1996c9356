"""Answers that are classes: a dataset holds their numbers, a model may say numbers or names; both become names.

>>> as_name(1, ["no", "yes"]), as_name("LABEL_1", ["no", "yes"]), as_name("Yes", ["no", "yes"])
('yes', 'yes', 'yes')
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from lapsus.kernel.names import shown
from lapsus.results.predictions import few, label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lapsus.kernel.rows import Row
    from lapsus.results.tracks import Track

FEWEST = 5  # answers may all be wrong by chance
NUMBERED = re.compile(r"LABEL_(\d+)")  # what transformers calls a class without a name


def as_name(answer: Any, names: Sequence[str]) -> Any:
    """Return the class that is meant by its name, its number, or LABEL_ and its number; else the answer as it is."""
    said = label(answer)
    if said in names and not (said.isdecimal() and not isinstance(answer, str)):
        return said
    numbered = re.fullmatch(r"(?:LABEL_)?(\d+)", said)
    if numbered and int(numbered[1]) < len(names):
        return names[int(numbered[1])]
    alike = [name for name in names if name.casefold() == said.strip().casefold()]
    return alike[0] if len(alike) == 1 else answer


def named(rows: Sequence[Row], names: Sequence[str] | None, said: Sequence[str] | None = None) -> list[Row]:
    """Return rows of a track whose prediction and right answer are names of classes, of which `names` is the list.

    `said` are the names of the predictions' own numbers, if these have any. Where the data name no classes, LABEL_1
    stands for 1 if all right answers are numbers. No class, which is -1, becomes None.
    """
    if said is not None:
        rows = [{**row, "prediction": as_name(row["prediction"], said)} for row in rows]
    if names is None:
        golds = [label(row["gold"]) for row in rows if row.get("gold") is not None]
        if not all(gold.isdecimal() for gold in golds):
            return list(rows)
        return [{**row, "prediction": _number(row["prediction"])} if "prediction" in row else row for row in rows]
    _refuse_ambiguous(names)
    return [
        {**row, **{role: _class(row[role], names) for role in ("prediction", "gold") if row.get(role) is not None}}
        for row in rows
    ]


def _class(answer: Any, names: Sequence[str]) -> Any:
    return None if label(answer) == "-1" else as_name(answer, names)


def _number(answer: Any) -> Any:
    found = NUMBERED.fullmatch(answer) if isinstance(answer, str) else None
    return found[1] if found else answer


def _refuse_ambiguous(names: Sequence[str]) -> None:
    """Refuse classes of which one is called by the number of another."""
    for number, name in enumerate(names):
        if name.isdecimal() and int(name) < len(names) and int(name) != number:
            raise ValueError(
                f"the classes are called {few(names)}, so {name!r} may be the name of class {number} or the number of "
                f"class {name}; give a column of scores instead (--score)."
            )


def refuse_disjoint(tracks: Iterable[Track]) -> None:
    """Refuse a model that never says any of the right answers, although these repeat: it uses other words for them."""
    by_model: dict[tuple[str, str], list[Track]] = {}
    for track in tracks:
        by_model.setdefault((track.model, track.dataset), []).append(track)
    for (model, _), mine in by_model.items():
        rows = [row for track in mine for row in track.rows if row.get("prediction") is not None and "score" not in row]
        golds = Counter(label(row["gold"]) for row in rows if row.get("gold") is not None)
        said = Counter(label(row["prediction"]) for row in rows)
        if golds.total() >= FEWEST and max(golds.values()) > len(mine) and golds.keys().isdisjoint(said):
            raise ValueError(
                f"{model}: no prediction is ever one of the right answers; it says {_vocabulary(said)}, and right is "
                f"{_vocabulary(golds)}: give predictions in the words of the answers, or a column of scores (--score)."
            )


def only_class(track: Track) -> str | None:
    """Return the one class that a model says throughout a track where several are right; None if it says more."""
    said = {label(row["prediction"]) for row in track.rows if row.get("prediction") is not None}
    golds = Counter(label(row["gold"]) for row in track.rows if row.get("gold") is not None)
    several = len(golds) > 1 and max(golds.values()) > 1
    return next(iter(said)) if len(said) == 1 and several else None


def _vocabulary(answers: Counter[str]) -> str:
    return shown((repr(answer) for answer, _ in answers.most_common()), 4)
