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
from collections.abc import Callable, Iterator, Sequence
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
            transform = Noise(training.operator, text=columns, id="id", seed=seed).transform(number)
            copies = transform(batch)
        texts = zip(*(copies[column] for column in columns), strict=True)
        yield [*rows, *((text, label) for text, (_, label) in zip(texts, rows, strict=True))]


def train_linear(analyzer: str, ngrams: tuple[int, int]) -> Callable[[Sequence[Rows], int], Predict]:
    """Return what trains a logistic regression over hashed n-grams, pass by pass."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    read = HashingVectorizer(analyzer=analyzer, ngram_range=ngrams, n_features=2**16)

    def train(passes: Sequence[Rows], seed: int) -> Predict:
        model = SGDClassifier(loss="log_loss", alpha=1e-6, average=True, random_state=seed)
        labels = sorted({label for _, label in passes[0]})
        rng = np.random.default_rng(seed)
        for rows in passes:
            order = rng.permutation(len(rows))
            texts, gold = read.transform([text for (text,), _ in rows]), np.array([label for _, label in rows])
            model.partial_fit(texts[order], gold[order], classes=labels)
        return lambda texts: [str(label) for label in model.predict(read.transform([text for (text,) in texts]))]

    return train


def train_bags(passes: Sequence[Rows], seed: int) -> Predict:
    """Train the network that counts what two questions have in common."""
    from lapsus.papers.pair_model import BagNetwork, train

    pairs = [(first, second, label) for rows in passes for (first, second), label in rows]
    model = train(pairs, seed=seed, network=BagNetwork, epochs=1, rate=1e-2, batch_size=128)
    return lambda texts: model.predict([(first, second) for first, second in texts])


MODELS = {
    "words": train_linear("word", (1, 2)),
    "letters": train_linear("char_wb", (1, 4)),
    "bags of characters": train_bags,
}


def score(material: Material, predict: Predict) -> dict[str, list[float]]:
    """Return what a model has right of each test row: clean, on average over its noisy versions, in the worst."""
    versions = [texts for noisy in material.noisy for texts in noisy]
    predictions = iter(predict(versions))
    right = [[next(predictions) == gold for _ in noisy] for noisy, (_, gold) in zip(material.noisy, material.test, strict=True)]  # fmt: skip
    clean = predict([texts for texts, _ in material.test])
    return {
        "clean": [float(label == gold) for label, (_, gold) in zip(clean, material.test, strict=True)],
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
        for training in material.trainings:
            for seed in range(seeds):
                file = work / name / f"{training.label.replace('/', '-')} {seed}.json"
                if file.exists():
                    continue
                start = time.process_time()
                passes = list(iter_passes(material.train, training, seed))
                made = time.process_time() - start
                scores = {model: score(material, MODELS[model](passes, seed)) for model in material.models}
                seconds = time.process_time() - start
                means = {model: [round(100 * float(np.mean(each)), 1) for each in columns.values()] for model, columns in scores.items()}  # fmt: skip
                print(f"  {training.label}, seed {seed}: {means}; {seconds:.1f} s, {made:.1f} for noise", flush=True)
                file.parent.mkdir(parents=True, exist_ok=True)
                kept = {
                    "title": material.title,
                    "laboratory": material.is_laboratory,
                    "gold": [label for _, label in material.test] if name == "afqmc" else None,
                    "rows": len(material.train),
                    "training": training.label,
                    "seconds": seconds,
                    "scores": scores,
                }
                file.write_text(json.dumps(kept), encoding="utf-8")


def estimate(runs: Sequence[Any], model: str, column: str, base: Sequence[Any] = ()) -> Estimate:
    """Return a score over seeds and rows, or the difference to the base; of both labels alike where there are two."""

    def read(these: Sequence[Any]) -> Any:
        return np.array([each["scores"][model][column] for each in these])

    scores = read(runs) - read(base) if base else read(runs)
    gold = np.array(runs[0]["gold"] or [""] * scores.shape[1])
    return Estimate.of([scores[:, gold == label] for label in sorted(set(gold))])


def format_tables(work: Path) -> str:
    """Return the tables of all that was run, as Markdown."""
    parts = []
    for name in (name for name in MATERIALS if (work / name).exists()):
        kept = [json.loads(file.read_text(encoding="utf-8")) for file in sorted((work / name).glob("*.json"))]
        runs: dict[str, list[Any]] = {}
        for each in kept:
            runs.setdefault(each["training"], []).append(each)
        base = runs.pop("no noise")
        order = sorted(runs, key=lambda label: ("comparison" in label, "lapsus" in label, label))
        place = "A laboratory table: operators made its noise. " if base[0]["laboratory"] else "People made its noise. "
        measure = "balanced accuracy" if base[0]["gold"] else "accuracy"
        lines = [
            f"**{base[0]['title']}.** {place}{base[0]['rows']:,} rows to train on, "
            f"{len(base[0]['scores'][next(iter(base[0]['scores']))]['clean']):,} to ask, {len(base)} seeds; {measure} in percent.",
            "",
            "| model, training | clean | average | worst | clean, gain | average, gain | worst, gain |",
            "| --- | --: | --: | --: | --: | --: | --: |",
        ]
        for model in base[0]["scores"]:
            for label, these in [("no noise", base), *((label, runs[label]) for label in order)]:
                columns = ("clean", "average", "worst")
                cells = [str(estimate(these, model, column)) for column in columns]
                gains = [""] * 3 if these is base else [estimate(these, model, column, base).signed for column in columns]
                lines.append(f"| {model}, {label} | {' | '.join([*cells, *gains])} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


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
