"""What a recipe file of this folder holds: a table of READIN as data, systems, training and tracks."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

FROM_NOTHING = ("bags", "convolutions", "encoder")


@dataclass(frozen=True)
class System:
    """A row of a table: a model, how its training data are read, and what is done to noisy texts first."""

    name: str
    label: str
    model: str = "bags"  # those of FROM_NOTHING are trained here; anything else is a checkpoint, as hf:ID
    tokens: str = "characters"  # or a code of `subchar`, such as "pinyin", "pinyin+index"
    noisy: str = ""  # what one noisy copy of each training row is made with
    corrected: bool = False  # whether noisy texts are corrected by what the training texts have
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def learning(self) -> str:
        """What tells systems apart that learn something else, or in another way."""
        return repr(replace(self, name="", label="", corrected=False))

    @property
    def runs_here(self) -> bool:
        """Whether no checkpoint is needed."""
        return self.model in FROM_NOTHING


@dataclass(frozen=True)
class Recipe:
    """A table: what is read, asked of whom, and on which tracks."""

    name: str
    title: str
    data: str
    columns: tuple[str, str]
    tracks: tuple[str, ...]
    rows: int  # how many rows of the training split are read
    own_noise: Mapping[str, str]  # tracks made here from the clean one, by name
    published: Mapping[str, Sequence[float]]  # the paper's figures, by their row
    systems: tuple[System, ...]
    answers: str  # the recipe under whose name the answers are kept
    measure: str = "accuracy"  # of each label, or "macro-F1" of both

    @property
    def columns_of_table(self) -> list[str]:
        """What the systems are asked: clean, average and worst of the annotators, then the noise made here."""
        return ["clean", "average", "worst", *self.own_noise]

    @classmethod
    def read(cls, path: Path) -> Recipe:
        """Read a file of the form of table5.toml, or one that measures another's answers in another way."""
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        if "of" in told:
            return replace(cls.read(path.with_stem(told.pop("of"))), name=path.stem, **told)
        return cls(
            path.stem,
            answers=path.stem,
            columns=tuple(told.pop("columns")),
            tracks=tuple(told.pop("tracks")),
            own_noise=told.pop("own_noise", {}),
            published=told.pop("published", {}),
            systems=tuple(System(**each) for each in told.pop("system")),
            **told,
        )
