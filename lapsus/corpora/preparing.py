"""What a file and a corpus have in common before and after they are perturbed: checks, hashes of keys, a summary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lapsus.perturbations.discovery import OPERATORS
from lapsus.perturbations.hashed_draws import starts
from lapsus.perturbations.noise import Noise, named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

REASON = "unchanged"  # the column that says why a row has no edits


@dataclass(frozen=True, slots=True)
class Summary:
    """What `perturb_file` did."""

    target: Path | str  # or the address of a folder
    rows: int
    changed: int
    unchanged: dict[str, int]  # by reason

    def __str__(self) -> str:
        kept = "".join(f"; {count} unchanged: {reason}" for reason, count in sorted(self.unchanged.items()))
        return f"wrote {self.rows} rows to {self.target}, {self.changed} of them changed{kept}"


def given_noises(noise: Noise | str | Sequence[Noise], settings: Mapping[str, Any]) -> tuple[Noise, ...]:
    """Return the noises of a job, which keep a row that cannot be perturbed; raise unless they go together."""
    given = [Noise(OPERATORS[noise])] if isinstance(noise, str) else [noise] if isinstance(noise, Noise) else [*noise]
    noises = tuple(replace(each, **settings, bad="keep", reason=REASON) for each in given)
    _refuse_different(noises)
    return noises


def _refuse_different(noises: Sequence[Noise]) -> None:
    """Raise unless there are noises, and the others differ from the first in operator and seed only."""
    if not noises:
        raise ValueError("no noise is given; give at least one operator")
    first = noises[0]
    for each in noises[1:]:
        if replace(each, op=first.op, seed=first.seed) != first:
            raise ValueError(
                "the noises differ in more than operator and seed; perturb the outcome of one by the other"
            )


def check_columns(source: str | Path, columns: list[str], noise: Noise) -> bool:
    """Raise if the source lacks columns `noise` reads or has ones it writes; return whether it is noisy already."""
    if not columns:
        raise ValueError(f"{source}: holds no rows; give a file with at least one")
    for name in named(noise):
        if name not in columns:
            raise LookupError(f"no column is called {name!r}; {source} has {', '.join(columns)}")
    if {*noise.clean_names(), "edits", "operator"} <= {*columns} and noise.is_noisy(columns):
        return True
    for name in (*noise.clean_names(), "edits", "operator", REASON):
        if name in columns:
            raise ValueError(
                f"{source} already has the column {name!r}, as perturbed files do; "
                "perturb the clean file, or rename the column"
            )
    return False


def hashed(keys: Sequence[Any]) -> Any:
    """Return a 64-bit hash of each key that is not None."""
    return starts("keys", [str(key) for key in keys if key is not None])
