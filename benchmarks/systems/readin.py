"""READIN's tables as runs: a recipe names the data, the systems, their training and the tracks; this runs it.

    python benchmarks/systems/readin.py run RECIPE --data BUILT --work DIR [--system NAME] [--seeds 5] [--only 3]
    python benchmarks/systems/readin.py table RECIPE --work DIR --out docs/systems.md

BUILT is a folder with the datasets of `lapsus build`. Of a recipe's systems those run that need no checkpoint; a system
with one runs when it is named: `--system roberta-wwm`, on a machine that has it. A run that is kept is not run again.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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


@dataclass(frozen=True)
class System:
    """A row of a table: a model, how its training data are read, and what is done to noisy texts first."""

    name: str
    label: str
    model: str = "pair"  # "pair" and "encoder" start from nothing; anything else is a checkpoint, as hf:ID
    tokens: str = "characters"  # or a code of `subchar`, such as "pinyin", "pinyin+index"
    noisy: str = ""  # what one noisy copy of each training row is made with
    corrected: bool = False  # whether noisy texts are corrected by what the training texts have
    training: Mapping[str, Any] | None = None

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
    return lambda text: list(tokenizer.tokenize(text))


VOCABULARY = 3000  # units of every tokenizer of a table


def copied(split: Any, spec: str, columns: Pair, work: Path) -> Any:
    """Return the training rows with their noisy copies, which are made once for all seeds of the training."""
    kept = work / "copies" / f"{spec} of {len(split)}"
    if not kept.exists():
        with_noisy_copies(split, operators_of(spec), column=columns).save_to_disk(kept)
    return load_from_disk(kept)


def predictor(system: System, folder: Path, work: Path, recipe: Recipe, seed: int) -> Callable[[Sequence[Pair]], Any]:
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
    settings = dict(system.training or {})
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


def run_one(recipe: Recipe, system: System, seed: int, data: Path, work: Path) -> None:
    """Train and ask one system with one seed; keep for each track which rows were right."""
    kept = work / recipe.name / system.name / f"{seed}.json"
    if kept.exists():
        return
    folder, begun = data / recipe.data, process_time()
    predict = predictor(system, folder, work, recipe, seed)
    trained = process_time() - begun
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
@click.argument("recipe", type=click.Path(path_type=Path, exists=True))
@click.option("--data", type=click.Path(path_type=Path), required=True, help="the datasets of lapsus build")
@click.option("--work", type=click.Path(path_type=Path), required=True, help="what is kept of each run")
@click.option("--system", "names", multiple=True, help="only this system; may be given again")
@click.option("--seeds", default=5, show_default=True)
@click.option("--only", type=int, help="only this seed")
def run(recipe: Path, data: Path, work: Path, names: tuple[str, ...], seeds: int, only: int | None) -> None:
    """Train and ask the systems of a recipe."""
    told = Recipe.read(recipe)
    unknown = set(names) - {system.name for system in told.systems}
    if unknown:
        raise click.UsageError(
            f"{recipe} has no system {', '.join(sorted(unknown))}; it has {', '.join(s.name for s in told.systems)}"
        )
    for seed in range(seeds) if only is None else (only,):
        for system in told.systems:
            if system.name in names or (not names and system.runs_here):
                run_one(told, system, seed, data, work)


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and test rows in percent, with its 95 % interval."""

    mean: float
    half: float

    @classmethod
    def of(cls, scores: np.ndarray[Any, Any]) -> Estimate:
        """Estimate from scores by seed and row: both are samples, so the spreads of both count (Satterthwaite)."""
        seeds, rows = scores.shape
        by_row, by_seed = scores.mean(0).var(ddof=1) / rows, scores.mean(1).var(ddof=1) / seeds
        whole = by_row + by_seed
        freedom = whole**2 / (by_row**2 / (rows - 1) + by_seed**2 / (seeds - 1)) if whole else np.inf
        return cls(100 * float(scores.mean()), 100 * float(stats.t.ppf(0.975, freedom) * whole**0.5))

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.half:.1f}"


def answers(recipe: Recipe, work: Path) -> dict[str, dict[int, dict[str, dict[str, list[str]]]]]:
    """Return the answers of each system that two seeds or more ran, by seed and track."""
    found = {}
    for system in recipe.systems:
        files = sorted((work / recipe.name / system.name).glob("*.json"))
        if len(files) > 1:
            found[system.name] = {int(file.stem): json.loads(file.read_text())["answers"] for file in files}
    return found


def scores(runs: Mapping[int, Any], tracks: Sequence[str], label: str) -> np.ndarray[Any, Any]:
    """Return right (1) or wrong (0) by seed, track and row of a label; odd rows, which no noise was fitted on."""
    rows = [key for key, (gold, _) in runs[min(runs)][tracks[0]].items() if gold == label and int(key) % 2]
    return np.array(
        [[[float(run[track][key][1] == label) for key in rows] for track in tracks] for run in runs.values()]
    )


def cells(recipe: Recipe, runs: Mapping[int, Any], label: str) -> list[np.ndarray[Any, Any]]:
    """Return scores by seed and row: clean, average and worst of the annotators, then each track made here."""
    people = [track for track in recipe.tracks if track != "clean"]
    typed = scores(runs, people, label)
    own = [scores(runs, [track], label)[:, 0] for track in recipe.own_noise]
    return [scores(runs, ["clean"], label)[:, 0], typed.mean(1), typed.min(1), *own]


def lines(recipe: Recipe, work: Path) -> list[str]:
    """Return the table of what was run: accuracy of both labels by system, and the difference to the first one."""
    heads = ["clean", "average", "worst", *recipe.own_noise]
    table = [
        f"| {recipe.title} | seeds | label | {' | '.join(heads)} |",
        f"| --- | --: | --- | {' | '.join('--:' for _ in heads)} |",
    ]
    found = answers(recipe, work)
    if not found:
        table = ["No system was run with two seeds or more."]
    for system in recipe.systems:
        runs = found.get(system.name, {})
        for label in ("paraphrase", "different") if runs else ():
            told = [Estimate.of(cell) for cell in cells(recipe, runs, label)]
            table.append(f"| {system.label} | {len(runs)} | {label} | {' | '.join(map(str, told))} |")
    if recipe.published:
        table += ["", "The paper's, by other models, on all 4,316 rows:", "", "| | clean | average | worst |"]
        table += ["| --- | --: | --: | --: |"]
        table += [f"| {row} | {' | '.join(f'{each:.2f}' for each in told)} |" for row, told in recipe.published.items()]
    return table


@main.command()
@click.argument("recipe", type=click.Path(path_type=Path, exists=True))
@click.option("--work", type=click.Path(path_type=Path), required=True, help="what is kept of each run")
@click.option("--out", type=click.Path(path_type=Path, exists=True), help="the page whose marked part is rewritten")
def table(recipe: Path, work: Path, out: Path | None) -> None:
    """Write what the systems of a recipe reached."""
    told = "\n".join(lines(Recipe.read(recipe), work))
    click.echo(told)
    if out is not None:
        write(out, recipe.stem, told)


if __name__ == "__main__":
    disable_progress_bars()
    main()
