"""READIN's tables as runs: a recipe names the data, the systems, their training and the tracks; this runs it.

    python benchmarks/systems/readin.py run RECIPE… --data BUILT --work DIR [--system NAME] [--seeds 5] [--only 3]
    python benchmarks/systems/readin.py table RECIPE --work DIR --out docs/systems.md

BUILT is a folder with the datasets of `lapsus build`. Of a recipe's systems those run that need no checkpoint; a system
with one runs when it is named: `--system roberta-wwm`, on a machine that has it. A run that is kept is not run again,
and systems that learn the same of the same rows, in whatever recipe of a command, are trained once for each seed.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import click
import numpy as np
from _page import write
from datasets import disable_progress_bars, load_dataset, load_from_disk
from scipy import stats

from lapsus.models import pair_model, small_encoder
from lapsus.models.noisy_copies import operators_of, with_noisy_copies
from lapsus.perturbations import Noise, ZhCorrect, apply

Pair = tuple[str, str]
Predict = Callable[[Sequence[Pair]], list[str]]
Scores = np.ndarray[Any, np.dtype[Any]]
LABELS, BALANCED = ("paraphrase", "different"), "balanced"


@dataclass(frozen=True)
class System:
    """A row of a table: a model, how its training data are read, and what is done to noisy texts first."""

    name: str
    label: str
    model: str = "pair"  # "pair" and "encoder" start from nothing; anything else is a checkpoint, as hf:ID
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
        return self.model in {"pair", "encoder"}


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

    @property
    def columns_of_table(self) -> list[str]:
        """What the systems are asked: clean, average and worst of the annotators, then the noise made here."""
        return ["clean", "average", "worst", *self.own_noise]

    @classmethod
    def read(cls, path: Path) -> Recipe:
        """Read a file of the form of table5.toml."""
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        systems = tuple(System(**each) for each in told.pop("system"))
        first, second = told.pop("columns")
        return cls(path.stem, columns=(first, second), systems=systems, own_noise=told.pop("own_noise", {}),
                   published=told.pop("published", {}),
                   tracks=tuple(told.pop("tracks")), **told)  # fmt: skip


def rows_of(folder: Path, config: str, split: str) -> Any:
    """Return a split with the names of its labels."""
    rows = load_dataset(str(folder), config, split=split)
    names = rows.features["label"].names
    plain = rows.select_columns(["id", "sentence1", "sentence2"])
    return plain.add_column("label", [names[label] for label in rows["label"]])


def cutter(tokens: str, texts: Sequence[str], work: Path) -> Callable[[str], list[str]]:
    """Return what cuts a text into units; a tokenizer is learnt from the training texts once."""
    if tokens == "characters":
        return pair_model.characters
    from lapsus.models.subchar.tokenizer import SubCharTokenizer

    kept = work / "tokenizers" / f"{tokens} of {len(texts)}"
    if not kept.exists():
        code, _, index = tokens.partition("+")
        SubCharTokenizer.learnt(texts, code, index=bool(index), size=VOCABULARY).save_pretrained(kept)
    tokenizer = SubCharTokenizer.from_pretrained(kept)
    return cache(lambda text: list(tokenizer.tokenize(text)))


VOCABULARY = 3000  # units of every tokenizer of a table


def copied(split: Any, spec: str, columns: Pair, work: Path) -> Any:
    """Return the training rows with their noisy copies, which are made once for all seeds of the training."""
    kept = work / "copies" / f"{spec} of {len(split)}"
    if not kept.exists():
        with_noisy_copies(split, operators_of(spec), column=columns).save_to_disk(kept)
    return load_from_disk(kept)


def predictor(system: System, folder: Path, work: Path, recipe: Recipe, seed: int) -> Predict:
    """Train a system, and return what names the label of pairs."""
    columns = recipe.columns
    whole = rows_of(folder, "clean", "train")
    split = whole.select(range(min(recipe.rows, len(whole)))) if system.runs_here else whole
    texts = [row[name] for row in split for name in columns]
    if system.noisy:
        split = copied(split, system.noisy, columns, work)
    first, second = columns
    pairs = [(row[first], row[second], row["label"]) for row in split]
    dev = [(row[first], row[second], row["label"]) for row in rows_of(folder, "clean", "validation")]
    settings = dict(system.training)
    if system.model == "pair":
        cut, network = cutter(system.tokens, texts, work), partial(pair_model.Convolutions, size=settings.pop("size"))
        return pair_model.train(pairs, dev, seed, cut=cut, network=network, **settings).predict
    if system.model == "encoder":
        pieces = small_encoder.word_pieces(texts, size=VOCABULARY)
        return small_encoder.train(pairs, dev, seed, tokenizer=pieces, **settings).predict
    start = system.model.removeprefix("hf:")
    return small_encoder.train(pairs, dev, seed, start=start, **settings).predict


def corrected(corrector: ZhCorrect, texts: Iterable[Pair]) -> list[Pair]:
    """Return pairs with their slips put right."""
    nothing = Random(0)  # a correction draws nothing
    right = [tuple(apply(text, corrector.edits(text, nothing)) for text in pair) for pair in texts]
    return [(first, second) for first, second in right]


def tracks_of(recipe: Recipe, folder: Path) -> dict[str, list[Any]]:
    """Return the test rows of each track: those of the dataset, then those made here."""
    tracks = {track: list(rows_of(folder, track, "test")) for track in recipe.tracks}
    clean = rows_of(folder, "clean", "test")
    for name, spec in recipe.own_noise.items():
        tracks[name] = list(Noise(operators_of(spec), column=recipe.columns, key="id").map(clean))
    return tracks


@dataclass
class Taught:
    """What was trained with one seed, so that what learns the same is trained once."""

    seed: int
    known: dict[str, tuple[Predict, float]] = field(default_factory=dict)

    def of(self, recipe: Recipe, system: System, data: Path, work: Path) -> tuple[Predict, float]:
        """Return what names the labels of pairs, and the processor seconds it took to train."""
        key = repr((recipe.data, recipe.columns, recipe.rows, system.learning))
        if key not in self.known:
            begun = process_time()
            predict = predictor(system, data / recipe.data, work, recipe, self.seed)
            self.known[key] = predict, process_time() - begun
        return self.known[key]


def run_one(recipe: Recipe, system: System, taught: Taught, data: Path, work: Path) -> None:
    """Train and ask one system with one seed; keep for each track which rows were right."""
    seed, folder = taught.seed, data / recipe.data
    kept = work / recipe.name / system.name / f"{seed}.json"
    if kept.exists():
        return
    predict, trained = taught.of(recipe, system, data, work)
    corrector = ZhCorrect.learned(
        row[name] for row in rows_of(folder, "clean", "train") for name in recipe.columns
    ) if system.corrected else None  # fmt: skip
    found: dict[str, dict[str, list[str]]] = {}
    for track, rows in tracks_of(recipe, folder).items():
        pairs = [(row[recipe.columns[0]], row[recipe.columns[1]]) for row in rows]
        if corrector is not None and track != "clean":
            pairs = corrected(corrector, pairs)
        guesses = predict(pairs)
        found[track] = {row["id"]: [row["label"], guess] for row, guess in zip(rows, guesses, strict=True)}
    kept.parent.mkdir(parents=True, exist_ok=True)
    told = {"seconds": round(trained), "answers": found}
    kept.write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    right = sum(gold == guess for gold, guess in found["clean"].values()) / len(found["clean"])
    click.echo(f"{recipe.name} {system.name} seed {seed}: clean {right:.3f}, {trained:.0f} s")


@click.group()
def main() -> None:
    """Run READIN's tables, and write what came out."""


@main.command()
@click.argument("recipes", type=click.Path(path_type=Path, exists=True), nargs=-1, required=True)
@click.option("--data", type=click.Path(path_type=Path), required=True, help="the datasets of lapsus build")
@click.option("--work", type=click.Path(path_type=Path), required=True, help="what is kept of each run")
@click.option("--system", "names", multiple=True, help="only this system; may be given again")
@click.option("--seeds", default=5, show_default=True)
@click.option("--only", type=int, help="only this seed")
def run(
    recipes: tuple[Path, ...], data: Path, work: Path, names: tuple[str, ...], seeds: int, only: int | None
) -> None:
    """Train and ask the systems of recipes."""
    told = [Recipe.read(recipe) for recipe in recipes]
    known = {system.name for recipe in told for system in recipe.systems}
    if unknown := set(names) - known:
        raise click.UsageError(f"no recipe has a system {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    for seed in range(seeds) if only is None else (only,):
        taught = Taught(seed)
        for recipe in told:
            for system in recipe.systems:
                if system.name in names or (not names and system.runs_here):
                    run_one(recipe, system, taught, data, work)


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


def asked(recipe: Recipe, work: Path) -> list[Asked]:
    """Return the answers of each system that two seeds or more ran."""
    found = []
    for system in recipe.systems:
        files = sorted((work / recipe.name / system.name).glob("*.json"))
        runs = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        if len(runs) > 1:
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
    rows = [key for key, (gold, _) in runs[0]["clean"].items() if gold == label and int(key) % 2]

    def of(tracks: Iterable[str]) -> Scores:
        return np.array([[[float(run[track][key][1] == label) for key in rows] for track in tracks] for run in runs])

    typed = of(track for track in recipe.tracks if track != "clean")
    own = {track: of([track])[:, 0] for track in recipe.own_noise}
    return {"clean": of(["clean"])[:, 0], "average": typed.mean(1), "worst": typed.min(1), **own}


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
    found = asked(recipe, work)
    parts = ["No system was run with two seeds or more."]
    if found:
        seeds = {one.right["clean"][LABELS[0]].shape[0] for one in found}
        parts = [scores_table(recipe, found), gains_table(recipe, found), costs_table(recipe, found)]
        parts.append(f"Seeds: {', '.join(map(str, sorted(seeds)))}; seconds are of a processor, for the training.")
    if recipe.published:
        theirs = [[row, *(f"{each:.2f}" for each in told)] for row, told in recipe.published.items()]
        parts += ["The paper's, by other models, on all 4,316 rows:", grid(["", "clean", "average", "worst"], theirs)]
    return "\n\n".join(parts)


@main.command()
@click.argument("recipe", type=click.Path(path_type=Path, exists=True))
@click.option("--work", type=click.Path(path_type=Path), required=True, help="what is kept of each run")
@click.option("--out", type=click.Path(path_type=Path, exists=True), help="the page whose marked part is rewritten")
def table(recipe: Path, work: Path, out: Path | None) -> None:
    """Write what the systems of a recipe reached."""
    told = text_of(Recipe.read(recipe), work)
    click.echo(told)
    if out is not None:
        write(out, recipe.stem, told)


if __name__ == "__main__":
    disable_progress_bars()
    main()
