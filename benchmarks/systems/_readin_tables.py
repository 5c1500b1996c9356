"""The tables of READIN's systems: what each has right, beside the first one, and what noise takes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _recipes import Recipe, System
from scipy import stats

Scores = np.ndarray[Any, np.dtype[Any]]
LABELS, BALANCED = ("paraphrase", "different"), "balanced"


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and test rows in percent, with its 95 % interval."""

    mean: float
    half: float

    @classmethod
    def of(cls, groups: Sequence[Scores]) -> Estimate:
        """Estimate the mean of groups of rows, each with scores by seed and row.

        Seeds and rows are both samples, so the spreads of both count (Satterthwaite).
        """
        parts = [(group.mean(0).var(ddof=1) / group.shape[1] / len(groups) ** 2, group.shape[1]) for group in groups]
        by_seed = np.mean([group.mean(1) for group in groups], axis=0)
        parts.append((by_seed.var(ddof=1) / len(by_seed), len(by_seed)))
        whole = sum(part for part, _ in parts)
        freedom = whole**2 / sum(part**2 / (number - 1) for part, number in parts) if whole else np.inf
        return cls(100 * float(by_seed.mean()), 100 * float(stats.t.ppf(0.975, freedom) * whole**0.5))

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.half:.1f}"

    @property
    def signed(self) -> str:
        """The same for a difference; in bold if it is not within its interval of 0."""
        told = f"{self.mean:+.1f} ± {self.half:.1f}"
        return f"**{told}**" if abs(self.mean) > self.half else told


@dataclass(frozen=True)
class Asked:
    """What a system answered with each seed: right (1) or wrong (0) by column, label, seed and row."""

    system: System
    seconds: float
    right: Mapping[str, Mapping[str, Scores]]

    def estimate(self, column: str, label: str) -> Estimate:
        """Estimate the accuracy of a label, or the mean of both."""
        return Estimate.of([self.right[column][each] for each in of_label(label)])

    def lost(self, column: str) -> dict[str, Scores]:
        """Return what noise takes or gives, row by row."""
        return {label: self.right[column][label] - self.right["clean"][label] for label in LABELS}


def of_label(label: str) -> Sequence[str]:
    """Return the labels whose mean a row of the table is."""
    return LABELS if label == BALANCED else (label,)


def answers(recipe: Recipe, work: Path) -> list[tuple[System, list[Any]]]:
    """Return what was kept of each system that was run, of the seeds that all of these have, if there are two."""
    folder = work / recipe.answers
    seeds = {system.name: {file.stem for file in (folder / system.name).glob("*.json")} for system in recipe.systems}
    ran = [system for system in recipe.systems if seeds[system.name]]
    common = sorted(set.intersection(*(seeds[system.name] for system in ran)), key=int) if ran else []
    if len(common) < 2:
        return []
    files = {system.name: [folder / system.name / f"{seed}.json" for seed in common] for system in ran}
    return [(one, [json.loads(file.read_text(encoding="utf-8")) for file in files[one.name]]) for one in ran]


def asked(recipe: Recipe, kept: Iterable[tuple[System, list[Any]]]) -> list[Asked]:
    """Return the answers of each system, right or wrong."""
    found = []
    for system, runs in kept:
        right: dict[str, dict[str, Scores]] = {column: {} for column in recipe.columns_of_table}
        for label in LABELS:
            for column, scores in by_column(recipe, [run["answers"] for run in runs], label).items():
                right[column][label] = scores
        found.append(Asked(system, float(np.mean([run["seconds"] for run in runs])), right))
    return found


def by_column(recipe: Recipe, runs: Sequence[Any], label: str) -> dict[str, Scores]:
    """Return scores by seed and row of a label: clean, average and worst of the annotators, each track made here.

    The rows are the odd ones, which no noise was fitted on.
    """
    rows = [key for key, (gold, _) in runs[0]["clean"].items() if gold == label and held_out(key)]

    def of(tracks: Sequence[str]) -> Scores:
        return np.array([[[float(run[track][key][1] == label) for key in rows] for track in tracks] for run in runs])

    typed = of([track for track in recipe.tracks if track != "clean"])
    own = {track: of([track])[:, 0] for track in recipe.own_noise}
    return {"clean": of(["clean"])[:, 0], "average": typed.mean(1), "worst": typed.min(1), **own}


def held_out(key: str) -> bool:
    """Tell whether no noise was fitted on a row: the odd ones."""
    return bool(int(key) % 2)


def f1(gold: Scores, guess: Scores, weights: Scores) -> Scores:
    """Return the F1 of a class of a sample in which each row has a weight; both are 1 where a row is of the class.

    >>> f1(np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0]), np.array([1, 1, 1, 1]))
    np.float64(0.5)
    """
    found: Scores = 2 * (weights @ (gold * guess)) / np.maximum(weights @ (gold + guess), 1e-12)
    return found


def macro_f1(runs: Sequence[Any], tracks: Sequence[str], draws: int = 2000) -> str:
    """Return the mean macro-F1 of tracks over seeds, and the 95 % interval of drawing rows and seeds anew."""
    rows = [key for key in runs[0][tracks[0]] if held_out(key)]
    gold = np.array([float(runs[0][tracks[0]][key][0] == LABELS[0]) for key in rows])
    rng = np.random.default_rng(0)
    weights = np.vstack([np.ones(len(rows)), rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), draws)])
    by_seed = []
    for run in runs:
        guesses = [np.array([float(run[track][key][1] == LABELS[0]) for key in rows]) for track in tracks]
        both = [(f1(gold, guess, weights) + f1(1 - gold, 1 - guess, weights)) / 2 for guess in guesses]
        by_seed.append(np.mean(both, axis=0))
    table = np.array(by_seed)
    seeds = rng.integers(0, len(runs), (draws, len(runs)))
    drawn = table[seeds.T, np.arange(1, draws + 1)].mean(0)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{100 * table[:, 0].mean():.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def f1_table(recipe: Recipe, kept: Iterable[tuple[System, list[Any]]]) -> str:
    """Return the macro-F1 of the clean rows, and its average over the annotators."""
    people = [track for track in recipe.tracks if track != "clean"]
    rows = []
    for system, runs in kept:
        told = [run["answers"] for run in runs]
        rows.append([system.label, str(len(runs)), macro_f1(told, ["clean"]), macro_f1(told, people)])
    return grid([recipe.title, "seeds", "clean", "average"], rows)


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """Return a table whose first columns are words, and the others numbers."""
    marks = ["---"] * words + ["--:"] * (len(heads) - words)
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, marks, *rows))


def scores_table(recipe: Recipe, found: Sequence[Asked]) -> str:
    """Return the accuracy of both labels and their mean, by system."""
    columns = recipe.columns_of_table
    rows = [
        [one.system.label, label, *(str(one.estimate(column, label)) for column in columns), f"{one.seconds:.0f}"]
        for one in found
        for label in (*LABELS, BALANCED)
    ]
    return grid([recipe.title, "label", *columns, "s a model"], rows, words=2)


def costs_table(recipe: Recipe, found: Sequence[Asked]) -> str:
    """Return what noise takes of the balanced accuracy, by system, and how that differs from the first system's."""
    noisy = recipe.columns_of_table[1:]
    rows = []
    for one in found:
        row = [one.system.label]
        for column in noisy:
            own, first = one.lost(column), found[0].lost(column)
            row.append(Estimate.of([own[label] for label in LABELS]).signed)
            row.append("" if one is found[0] else Estimate.of([own[label] - first[label] for label in LABELS]).signed)
        rows.append(row)
    return grid(["balanced accuracy, noisy − clean", *(f"{c}{of}" for c in noisy for of in ("", ", beside the first"))],
                rows)  # fmt: skip


def gains_table(recipe: Recipe, found: Sequence[Asked]) -> str:
    """Return the balanced accuracy beside that of the first system."""
    rows = [
        [
            one.system.label,
            *(
                Estimate.of([one.right[column][label] - found[0].right[column][label] for label in LABELS]).signed
                for column in recipe.columns_of_table
            ),
        ]
        for one in found[1:]
    ]
    return grid([f"balanced accuracy − that of {found[0].system.label}", *recipe.columns_of_table], rows)


def text_of(recipe: Recipe, work: Path) -> str:
    """Return the tables of what was run, then the paper's."""
    parts = ["No system was run with two seeds or more."]
    kept = answers(recipe, work)
    if kept and recipe.measure == "macro-F1":
        parts = [f1_table(recipe, kept)]
    elif kept:
        found = asked(recipe, kept)
        seeds = found[0].right["clean"][LABELS[0]].shape[0]
        parts = [scores_table(recipe, found), gains_table(recipe, found), costs_table(recipe, found)]
        parts.append(f"Seeds: {seeds}; seconds are of a processor that did much else, for the training of a model.")
    if recipe.published:
        heads = ["", "clean", "average", "worst"][: 1 + max(map(len, recipe.published.values()))]
        theirs = [[row, *(f"{each:.2f}" for each in told)] for row, told in recipe.published.items()]
        parts += ["The paper's, by other models, on all 4,316 rows:", grid(heads, theirs)]
    return "\n\n".join(parts)
