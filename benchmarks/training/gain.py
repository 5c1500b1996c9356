"""What training with noise wins back: small models, trained with and without, asked about people's noise.

    python benchmarks/training/gain.py run DATA --work DIR [--only snips] [--seeds 5]
    python benchmarks/training/gain.py table --work DIR --out docs/training.md

DATA has the folders nature_slu, nlued, slurp, readin and xsid. Each model reads the training rows PASSES times, and as
often a copy of each: with new noise in every pass (`Noise.transform`), with one noisy copy where a paper made one, or
the clean row again, so that all take the same number of steps. `run` keeps what each seed has right in DIR; about a
quarter of an hour of one core for all tables. Intervals (95 %) are over seeds and test rows; differences pair them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from _materials import Material, Texts, Training, dialects, questions, requests, snips

sys.path.insert(0, str(Path(__file__).parents[1] / "systems"))
from _page import write
from _readin_tables import Estimate

from lapsus.perturbations import Noise

PASSES = 2
COLUMNS = ("clean", "average", "worst")
MATERIALS = {"slurp": requests, "afqmc": questions, "xsid": dialects, "snips": snips}
Rows = Sequence[tuple[Texts, str]]
Predict = Callable[[Sequence[Texts]], Sequence[str]]


def iter_passes(rows: Rows, training: Training, seed: int) -> Iterator[list[tuple[Texts, str]]]:
    """Yield what is read in each pass: every row, and a copy of it."""
    columns = [f"text{place}" for place in range(len(rows[0][0]))]
    batch = {column: [texts[place] for texts, _ in rows] for place, column in enumerate(columns)}
    batch["id"] = [f"train{number}" for number in range(len(rows))]
    for number in range(PASSES):
        if training.operator is None:
            copies = batch
        elif number == 0 or training.fresh:
            transform = Noise(training.operator, text=tuple(columns), id="id", seed=seed).transform(number)
            copies = transform(batch)
        texts = zip(*(copies[column] for column in columns), strict=True)
        yield [*rows, *((text, label) for text, (_, label) in zip(texts, rows, strict=True))]


def train_linear(**reading: Any) -> Callable[[Sequence[Rows], int], Predict]:
    """Return what trains a logistic regression over hashed n-grams, pass by pass; `reading` says what these are."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    vectorizer = HashingVectorizer(n_features=2**16, **reading)

    def read(texts: Sequence[Texts]) -> Any:
        return vectorizer.transform([text[0] if len(text) == 1 else text for text in texts])

    def train(passes: Sequence[Rows], seed: int) -> Predict:
        model = SGDClassifier(loss="log_loss", alpha=1e-6, average=True, random_state=seed)
        labels = sorted({label for _, label in passes[0]})
        rng = np.random.default_rng(seed)
        for rows in passes:
            order = rng.permutation(len(rows))
            features, gold = read([texts for texts, _ in rows]), np.array([label for _, label in rows])
            model.partial_fit(features[order], gold[order], classes=labels)
        return lambda texts: [str(label) for label in model.predict(read(texts))]

    return train


def list_shared(pair: Texts) -> list[str]:
    """Return the characters and pairs of characters that two texts share, and those that one has alone.

    >>> list_shared(("ab", "ac"))
    ['=a', '!ab', '!ac', '!b', '!c']
    """
    first, second = ({text[i : i + n] for n in (1, 2) for i in range(len(text) + 1 - n)} for text in pair)
    return [f"={gram}" for gram in sorted(first & second)] + [f"!{gram}" for gram in sorted(first ^ second)]


MODELS = {
    "words": train_linear(ngram_range=(1, 2)),
    "letters": train_linear(analyzer="char_wb", ngram_range=(1, 4)),
    "shared characters": train_linear(analyzer=list_shared),
}


def score(material: Material, predict: Predict) -> dict[str, list[float]]:
    """Return what a model has right of each test row: clean, on average over its noisy versions, in the worst."""
    versions = [texts for noisy in material.noisy for texts in noisy]
    predictions = iter(predict(versions))
    golds = [gold for _, gold in material.test]
    right = [[next(predictions) == gold for _ in noisy] for noisy, gold in zip(material.noisy, golds, strict=True)]
    clean = predict([texts for texts, _ in material.test])
    return {
        "clean": [float(label == gold) for label, gold in zip(clean, golds, strict=True)],
        "average": [float(np.mean(each)) for each in right],
        "worst": [float(min(each)) for each in right],
    }


@click.group()
def main() -> None:
    """What training with noise wins back."""


@main.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--work", type=click.Path(path_type=Path), required=True, help="where what each seed has right is kept")
@click.option("--only", multiple=True, type=click.Choice(list(MATERIALS)))
@click.option("--seeds", default=5)
def run(data: Path, work: Path, only: Sequence[str], seeds: int) -> None:
    """Train and ask; what is kept already is not done again."""
    for name in only or MATERIALS:
        material = MATERIALS[name](data)
        print(f"{name}: {len(material.train)} rows to train on, {len(material.test)} to ask", flush=True)
        (work / name).mkdir(parents=True, exist_ok=True)
        for seed in range(seeds):
            for training in material.trainings:
                file = work / name / f"{training.label} {seed}.json"
                if not file.exists():
                    file.write_text(json.dumps(train_and_ask(material, training, seed)), encoding="utf-8")


def train_and_ask(material: Material, training: Training, seed: int) -> dict[str, Any]:
    """Return what each model has right, and what the tables say of its data."""
    start = time.process_time()
    passes = list(iter_passes(material.train, training, seed))
    for_noise = time.process_time() - start
    scores = {model: score(material, MODELS[model](passes, seed)) for model in material.models}
    seconds = time.process_time() - start
    for model, columns in scores.items():
        means = ", ".join(f"{column} {100 * float(np.mean(each)):.1f}" for column, each in columns.items())
        print(
            f"  {training.label}, seed {seed}, {model}: {means}; {seconds:.1f} s, {for_noise:.1f} for noise", flush=True
        )
    return {
        "title": material.title,
        "laboratory": material.is_laboratory,
        "gold": [label for _, label in material.test] if len(material.test[0][0]) == 2 else None,
        "rows": len(material.train),
        "training": training.label,
        "seconds": seconds,
        "scores": scores,
    }


def estimate(runs: Sequence[Any], model: str, column: str, base: Sequence[Any] = ()) -> Estimate:
    """Return a score over seeds and rows, or the difference to the base; of both labels alike where there are two."""

    def read(these: Sequence[Any]) -> Any:
        return np.array([each["scores"][model][column] for each in these])

    scores = read(runs) - read(base) if base else read(runs)
    gold = np.array(runs[0]["gold"] or [""] * scores.shape[1])
    return Estimate.of([scores[:, gold == label] for label in sorted(set(gold))])


def format_tables(work: Path) -> str:
    """Return the tables of all that was run, as Markdown; of the seeds that every training has."""
    parts = []
    seconds = 0.0
    for name in (name for name in MATERIALS if (work / name).exists()):
        runs: dict[str, dict[str, Any]] = {}
        for file in sorted((work / name).glob("*.json")):
            label, _, seed = file.stem.rpartition(" ")
            runs.setdefault(label, {})[seed] = json.loads(file.read_text(encoding="utf-8"))
        seeds = sorted(set.intersection(*(set(by_seed) for by_seed in runs.values())))
        if len(seeds) < 2:
            print(f"{name}: fewer than two seeds are complete; run it again", file=sys.stderr)
            continue
        seconds += sum(run["seconds"] for by_seed in runs.values() for run in by_seed.values())
        common = {label: [by_seed[seed] for seed in seeds] for label, by_seed in runs.items()}
        parts.append(format_table(common.pop("no noise"), common))
    return "\n\n".join([*parts, f"All trainings and answers: {seconds / 60:.0f} minutes of one core."])


def format_table(base: Sequence[Any], runs: Mapping[str, Sequence[Any]]) -> str:
    """Return the table of one dataset: each training, and its gain over none."""
    about = base[0]
    origin = "A laboratory table: operators made its noise." if about["laboratory"] else "People made its noise."
    n_asked = len(next(iter(about["scores"].values()))["clean"])
    measure = "balanced accuracy" if about["gold"] else "accuracy"
    size = f"{about['rows']:,} rows to train on, {n_asked:,} to ask"
    lines = [
        f"**{about['title']}.** {origin} {size}; {measure} in percent, {len(base)} seeds.\n",
        "| model, training | clean | average | worst | gain, clean | gain, average | gain, worst |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    order = sorted(runs, key=lambda label: ("comparison" in label, "lapsus" in label, label))
    for model in about["scores"]:
        for label, these in [("no noise", base), *((label, runs[label]) for label in order)]:
            cells = [str(estimate(these, model, column)) for column in COLUMNS]
            cells += ["" if these is base else estimate(these, model, column, base).signed for column in COLUMNS]
            lines.append(f"| {model}, {label} | {' | '.join(cells)} |")
    return "\n".join(lines)


@main.command()
@click.option("--work", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--out", type=click.Path(path_type=Path, exists=True), help="the page whose marked part is rewritten")
def table(work: Path, out: Path | None) -> None:
    """Write the tables."""
    text = format_tables(work)
    print(text)
    if out is not None:
        write(out, "gain", text, by="benchmarks/training/gain.py")


if __name__ == "__main__":
    main()
