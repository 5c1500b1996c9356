"""Find the column of each role in a file: for a track of the report, and for a metric.

>>> first_of(ROLES["gold"], ["id", "label", "intent"])
'label'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lapsus.results.coding import label
from lapsus.results.predictions import few

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lapsus.kernel.rows import Row
    from lapsus.results.predictions import PredictedColumns, Predictions

# The usual names of each role's column, the most likely first.
ROLES: dict[str, tuple[str, ...]] = {
    "prediction": ("prediction", "predictions", "predicted", "output"),
    "gold": ("gold", "reference", "references", "label", "target", "intent", "answers"),
    "score": ("score",),
    "cluster": ("cluster", "original_id"),
}
# Other names of a metric's columns, beside their own name.
METRIC_COLUMNS: dict[str, tuple[str, ...]] = {
    "predictions": ROLES["prediction"],
    "references": (*ROLES["gold"], "clean_text"),
    "original_predictions": ("original_prediction", *ROLES["prediction"]),
    "clean_scores": ("clean_score",),
    "conditions": ("condition", "track"),
    "examples": ("example", "id"),
    "groups": ("group",),
    "clusters": ROLES["cluster"],
}


def first_of(usual: Iterable[str], columns: Iterable[str]) -> str | None:
    """Return the first of the usual names that is among the columns."""
    there = set(columns)
    return next((name for name in usual if name in there), None)


def noisy(columns: Iterable[str]) -> list[str]:
    """Return the columns X for which there is a column clean_X, as `Noise` writes them.

    >>> noisy(["id", "text", "clean_text", "edits"])
    ['text']
    """
    there = list(columns)
    return [name for name in there if f"clean_{name}" in there]


def of_track(
    found: Predictions | PredictedColumns, columns: Sequence[str], chosen: Mapping[str, str | None]
) -> dict[str, str]:
    """Return the columns of a track's score, prediction, gold and cluster: the chosen ones, else the usual ones."""
    roles = {role: column for role, column in chosen.items() if column is not None}
    for role, column in roles.items():
        if column not in columns:
            raise LookupError(f"{found.path}: has no column {column!r} for the {role}; it has {few(columns)}.")
    for role, names in ROLES.items():
        usual = first_of(names, columns)
        if role not in roles and usual is not None:
            roles[role] = usual
    if "score" not in roles and len(found.metrics) > 1:
        raise ValueError(f"{found.path}: holds the scores {few(found.metrics)}; choose one as score.")
    if "score" not in roles and found.metrics:
        roles["score"] = found.metrics[0]
    if "score" not in roles and not {"prediction", "gold"} <= roles.keys():
        raise ValueError(
            f"{found.path}: has neither a score nor a prediction with its gold answer; it has {few(columns)}:"
            " name the columns, or give the references."
        )
    return roles


def of_perturbed(columns: Sequence[str]) -> dict[str, str]:
    """Return the one column that `lapsus perturb` made noisy, and its clean column; empty unless there is exactly one.

    >>> of_perturbed(["id", "text", "clean_text", "edits"])
    {'predictions': 'text', 'references': 'clean_text'}
    """
    made = noisy(columns)
    if len(made) != 1 or first_of(("predictions", *ROLES["prediction"]), columns):
        return {}
    return {"predictions": made[0], "references": f"clean_{made[0]}"}


class LackingColumnError(LookupError):
    """A metric lacks a column that an option can name; who knows how options are given can word the cure anew.

    >>> str(LackingColumnError("noise_rate finds no column for its references", "references=said"))
    'noise_rate finds no column for its references: give the option references=said.'
    """

    def __init__(self, what: str, option: str) -> None:
        self.what, self.option = what, option
        super().__init__(f"{what}: give the option {option}.")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a metric: its name and type in the metric, and the name in the files if the user gave one."""

    metric: str
    name: str
    kind: str
    source: str | None = None

    @property
    def lists(self) -> bool:
        """Whether an example may have several values, one per annotator."""
        return "Iterable[Iterable" in self.kind and "Mapping" not in self.kind

    @property
    def frames(self) -> bool:
        """Whether a value is an intent with its tags."""
        return self.kind.startswith("Iterable[Mapping")

    @property
    def labels(self) -> bool:
        """Whether the values are classes."""
        return self.kind == "Iterable[str] | Iterable[int]"

    def find(self, names: Sequence[str], scored: tuple[str, ...] = (), *, beside: bool = False) -> str:
        """Return the name of this column in a file; an empty name means that the whole row is the value.

        `scored` are the metrics that a harness has computed. In a file `beside` the predictions, names that could mean
        the predictions themselves are not used.
        """
        if self.source is None and self.frames and {"intent", "tags"} <= set(names) and not beside:
            return ""
        scores: tuple[str, ...] = ("score", *(scored if len(scored) == 1 else ())) if "float" in self.kind else ()
        usual: tuple[str, ...] = (self.name, *(() if beside else scores), *METRIC_COLUMNS.get(self.name, ()))
        if beside:
            usual = tuple(name for name in usual if name not in ROLES["prediction"])
        found = first_of(usual if self.source is None else (self.source,), names)
        if found is not None:
            return found
        if beside and self.name == "original_predictions":
            raise LackingColumnError(f"{self.metric} needs the predictions before", "original_predictions=clean.jsonl")
        missing = f"column {self.source!r}" if self.source else f"column for its {self.name}"
        what = f"{self.metric} finds no {missing} in the files; they have {few(names)}"
        if not names:
            raise LookupError(f"{what}: give rows with columns.")
        raise LackingColumnError(what, f"{self.name}={next((name for name in names if name != 'id'), 'id')}")

    def value(self, row: Row, name: str) -> Any:
        """Return the row's value; labels become text, so that 1 and "1" are one label."""
        if not name:
            return {"intent": row["intent"], "tags": row["tags"]}
        value = row.get(name)
        return label(value) if self.labels and value is not None else value
