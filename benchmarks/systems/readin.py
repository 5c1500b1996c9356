"""READIN's tables as runs: a recipe names the data, the systems, their training and the tracks; this runs it.

    python benchmarks/systems/readin.py run RECIPE --data BUILT --work DIR [--system NAME] [--seeds 5] [--only 3]
    python benchmarks/systems/readin.py table --work DIR --published FILE --out docs/systems.md

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
from datasets import disable_progress_bars, load_dataset, load_from_disk

from lapsus.models import pair_model, small_encoder
from lapsus.models.noisy_copies import operators_of, with_noisy_copies
from lapsus.perturbations import ZhCorrect, apply

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
    own_noise: Mapping[str, str]  # tracks made here from the clean one, by name
    systems: tuple[System, ...]

    @classmethod
    def read(cls, path: Path) -> Recipe:
        """Read a file of the form of table5.toml."""
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        systems = tuple(System(**each) for each in told.pop("system"))
        first, second = told.pop("columns")
        return cls(path.stem, columns=(first, second), systems=systems, own_noise=told.pop("own_noise", {}),
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

    kept = work / "tokenizers" / tokens
    if not kept.exists():
        code, _, index = tokens.partition("+")
        SubCharTokenizer.learnt(texts, code, index=bool(index), size=VOCABULARY).save_pretrained(kept)
    tokenizer = SubCharTokenizer.from_pretrained(kept)
    return lambda text: list(tokenizer.tokenize(text))


VOCABULARY = 3000  # units of every tokenizer of a table


def copied(split: Any, spec: str, columns: Pair, work: Path) -> Any:
    """Return the training rows with their noisy copies, which are made once for all seeds of the training."""
    kept = work / "copies" / spec
    if not kept.exists():
        with_noisy_copies(split, operators_of(spec), column=columns).save_to_disk(kept)
    return load_from_disk(kept)


def predictor(system: System, folder: Path, work: Path, columns: Pair, seed: int) -> Callable[[Sequence[Pair]], Any]:
    """Train a system, and return what names the label of pairs."""
    split = rows_of(folder, "clean", "train")
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
    from lapsus.perturbations import Noise

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
    predict = predictor(system, folder, work, recipe.columns, seed)
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


if __name__ == "__main__":
    disable_progress_bars()
    main()
