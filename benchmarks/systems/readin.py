"""READIN's tables as runs: a recipe names the data, the systems, their training and the tracks; this runs it.

    python benchmarks/systems/readin.py run RECIPE… --data BUILT --work DIR [--system NAME] [--seeds 5] [--only 3]
    python benchmarks/systems/readin.py table RECIPE --work DIR --out docs/systems.md

BUILT is a folder with the datasets of `lapsus build`. Of a recipe's systems those run that need no checkpoint; a system
with one runs when it is named: `--system roberta-wwm`, on a machine that has it. A run that is kept is not run again,
and systems that learn the same of the same rows, in whatever recipe of a command, are trained once for each seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from time import process_time
from typing import Any

import click
from _page import table_command
from _readin_tables import text_of
from _recipes import Recipe, System
from datasets import Dataset, disable_progress_bars, load_dataset, load_from_disk

from lapsus.papers import encoder, pair_model
from lapsus.papers.noisy_copies import add_noisy_copies
from lapsus.perturbations import Noise, ZhCorrect, mix
from lapsus.perturbations.core import list_versions

Pair = tuple[str, str]
Predict = Callable[[Sequence[Pair]], list[str]]
NETWORKS = {"bags": pair_model.BagNetwork, "convolutions": pair_model.ConvolutionNetwork}


def rows_of(folder: Path, config: str, split: str) -> Any:
    """Return a split with the names of its labels."""
    rows = load_dataset(str(folder), config, split=split)
    names = rows.features["label"].names
    plain = rows.select_columns(["id", "sentence1", "sentence2"])
    return plain.add_column("label", [names[label] for label in rows["label"]])


def cutter(tokens: str, texts: Sequence[str], work: Path) -> Callable[[str], list[str]]:
    """Return what cuts a text into units; a tokenizer is learnt from the training texts once."""
    if tokens == "characters":
        return pair_model.split_characters
    from lapsus.papers.subchar.tokenizer import SubCharTokenizer

    kept = work / "tokenizers" / f"{tokens} of {len(texts)}"
    if not kept.exists():
        code, _, index = tokens.partition("+")
        SubCharTokenizer.train(texts, code, index=bool(index), size=VOCABULARY).save_pretrained(kept)
    tokenizer = SubCharTokenizer.from_pretrained(kept)
    return cache(lambda text: list(tokenizer.tokenize(text)))


VOCABULARY = 3000  # units of every tokenizer of a table


def made_by(spec: str) -> str:
    """Return the operators of a noise with their versions: another version makes other texts.

    >>> made_by("zh_homophone@0.2")
    'zh_homophone@0.2 by zh_homophone@1'
    """
    return f"{spec} by {', '.join(dict.fromkeys(list_versions(mix([spec]))))}"


def copied(split: Any, spec: str, columns: Pair, work: Path) -> Any:
    """Return the training rows with their noisy copies, which are made once for all seeds of the training."""
    kept = work / "copies" / f"{made_by(spec)} of {len(split)}"
    if not kept.exists():
        add_noisy_copies(split, mix([spec]), text=columns).save_to_disk(kept)
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
    if system.model in NETWORKS:
        cut, network = cutter(system.tokens, texts, work), partial(NETWORKS[system.model], size=settings.pop("size"))
        return pair_model.train(pairs, dev, seed, tokenize=cut, network=network, **settings).predict
    if system.model == "encoder":
        pieces = encoder.train_word_pieces(texts, size=VOCABULARY)
        return encoder.train(pairs, dev, seed, tokenizer=pieces, **settings).predict
    start = system.model.removeprefix("hf:")
    return encoder.train(pairs, dev, seed, start=start, **settings).predict


def tracks_of(recipe: Recipe, folder: Path, work: Path) -> dict[str, list[Any]]:
    """Return the test rows of each track: those of the dataset, then those made here, once for all systems."""
    tracks = {track: list(rows_of(folder, track, "test")) for track in recipe.tracks}
    clean = rows_of(folder, "clean", "test")
    for name, spec in recipe.own_noise.items():
        kept = work / "tracks" / f"{made_by(spec)} of {len(clean)}"
        if not kept.exists():
            Noise(mix([spec]), text=recipe.columns, id="id").map(clean).save_to_disk(kept)
        tracks[name] = list(load_from_disk(kept))
    return tracks


def corrected_tracks(recipe: Recipe, folder: Path, work: Path) -> dict[str, list[Any]]:
    """Return the test rows, the noisy ones put right by what the training texts have, once for all seeds."""
    tracks = tracks_of(recipe, folder, work)
    noisy = [track for track in tracks if track != "clean"]
    folders = {track: work / "corrected" / f"{recipe.answers} {track} by {CORRECTOR}" for track in noisy}
    if not all(kept.exists() for kept in folders.values()):
        training = rows_of(folder, "clean", "train")
        corrector = ZhCorrect.from_texts(row[name] for row in training for name in recipe.columns)
        for track, kept in folders.items():
            Noise(corrector, text=recipe.columns, id="id").map(Dataset.from_list(tracks[track])).save_to_disk(kept)
    return {"clean": tracks["clean"]} | {track: list(load_from_disk(kept)) for track, kept in folders.items()}


(CORRECTOR,) = list_versions(ZhCorrect())


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
    kept = work / recipe.answers / system.name / f"{seed}.json"
    noise = [made_by(spec) for spec in (system.noisy, *recipe.own_noise.values()) if spec]
    noise += [CORRECTOR] * system.corrected
    if kept.exists():
        if json.loads(kept.read_text(encoding="utf-8")).get("noise") != noise:
            raise click.UsageError(f"{kept} was answered with other noise than {'; '.join(noise)}; give another --work")
        return
    predict, trained = taught.of(recipe, system, data, work)
    tracks = (corrected_tracks if system.corrected else tracks_of)(recipe, folder, work)
    found: dict[str, dict[str, list[str]]] = {}
    for track, rows in tracks.items():
        guesses = predict([(row[recipe.columns[0]], row[recipe.columns[1]]) for row in rows])
        found[track] = {row["id"]: [row["label"], guess] for row, guess in zip(rows, guesses, strict=True)}
    kept.parent.mkdir(parents=True, exist_ok=True)
    told = {"seconds": round(trained), "noise": noise, "answers": found}
    kept.write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    right = sum(gold == guess for gold, guess in found["clean"].values()) / len(found["clean"])
    click.echo(f"{recipe.answers} {system.name} seed {seed}: clean {right:.3f}, {trained:.0f} s")


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


main.add_command(table_command(lambda recipe, work: text_of(Recipe.read(recipe), work)))


if __name__ == "__main__":
    disable_progress_bars()
    main()
