"""What noise costs models: real transcripts, ours and nlpaug's.

    python benchmarks/fidelity/downstream.py SLURP NOISEQA

On SLURP, classifiers of the scenario are trained on the development requests and asked about the test requests with an
odd number, as written and as noise makes them: as many versions of each as it has recordings. On NoiseQA, search finds
the paragraph that answers a question; of these every other question is asked. Intervals resample requests.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from lapsus.perturbations import OPERATORS, EnSpeech, Operator, apply, perturb_batch

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from corpora.transcripts import Row, noiseqa, slurp

RESAMPLES = 2000
FEATURES: dict[str, dict[str, Any]] = {
    "words": {"ngram_range": (1, 2)},
    "letters": {"analyzer": "char_wb", "ngram_range": (2, 5), "sublinear_tf": True},
}
Predict = Callable[[Sequence[str]], "np.ndarray"]


def noises() -> dict[str, Operator]:
    """Return what is compared with real transcripts."""
    return {
        "en_speech": EnSpeech(),
        "nature.speako": OPERATORS["nature.speako"],
        "nlpaug keyboard": OPERATORS["nlpaug_keyboard"],
        "nlpaug spelling": OPERATORS["nlpaug_spelling"],
    }


def versions(texts: list[str], op: Operator) -> list[str]:
    """Return each text as the noise makes it, each time anew."""
    made = perturb_batch(op, texts, keys=[f"{number}" for number in range(len(texts))])
    return [apply(text, edits) for text, edits in zip(texts, made, strict=True)]


def drops(right: np.ndarray, clean: np.ndarray, of: np.ndarray) -> tuple[str, float, float]:
    """Return the drop of the average and of the worst version with their intervals, in points."""
    numbers = np.unique(of)
    rows = [np.flatnonzero(of == number) for number in numbers]
    average = np.array([clean[some].mean() - right[some].mean() for some in rows]) * 100
    worst = np.array([clean[some].mean() - right[some].min() for some in rows]) * 100
    draw = np.random.default_rng(0)
    picked = draw.integers(0, len(rows), (RESAMPLES, len(rows)))
    shown = []
    for values in (average, worst):
        low, high = np.quantile(values[picked].mean(axis=1), (0.025, 0.975))
        shown.append(f"{values.mean():5.1f} [{low:.1f}, {high:.1f}]")
    return "   ".join(shown), float(average.mean()), float(worst.mean())


def compared(name: str, rows: list[Row], answers: list[object], models: dict[str, Predict]) -> None:
    """Print the drop of each model under each noise."""
    texts = [row.clean for row in rows]
    noisy = {"real": [row.heard for row in rows]} | {one: versions(texts, op) for one, op in noises().items()}
    of = np.array([row.number for row in rows])
    for model, predict in models.items():
        clean = np.array([one == other for one, other in zip(predict(texts), answers, strict=True)], float)
        print(f"{name}, {model}: {clean.mean():.3f} on clean; drop on average, of the worst version", flush=True)
        real = (0.0, 0.0)
        for one, made in noisy.items():
            right = np.array([one == other for one, other in zip(predict(made), answers, strict=True)], float)
            shown, *points = drops(right, clean, of)
            real = (points[0], points[1]) if one == "real" else real
            print(
                f"  {one:16s} {shown}   beside the real one {points[0] - real[0]:+.1f}, {points[1] - real[1]:+.1f}",
                flush=True,
            )


def scenarios(folder: Path, file: str) -> dict[int, tuple[str, str]]:
    """Return the text and the scenario of each request."""
    rows = map(json.loads, (folder / file).read_text(encoding="utf-8").splitlines())
    return {row["slurp_id"]: (row["sentence"], row["scenario"]) for row in rows}


def requests(folder: Path) -> None:
    """Compare classifiers of SLURP's scenarios."""
    train, test = scenarios(folder, "devel.jsonl"), scenarios(folder, "test.jsonl")
    rows = [row for row in slurp(folder) if row.number % 2 and row.number in test]
    texts, labels = zip(*train.values(), strict=True)
    models: dict[str, Predict] = {}
    for name, settings in FEATURES.items():
        model = make_pipeline(TfidfVectorizer(**settings), LogisticRegression(C=10, max_iter=300))
        models[name] = model.fit(texts, labels).predict
    compared("SLURP", rows, [test[row.number][1] for row in rows], models)


def questions(folder: Path) -> None:
    """Compare searches for the paragraph that answers one of NoiseQA's questions."""
    data = json.loads((folder / "Natural" / "xquad-context-en-question-en.json").read_text(encoding="utf-8"))["data"]
    parts = [part for article in data for part in article["paragraphs"]]
    answers = [number for number, part in enumerate(parts) for _ in part["qas"]]
    rows = [row for row in noiseqa(folder) if row.number % 2]
    models: dict[str, Predict] = {}
    for name, settings in FEATURES.items():
        vectors = TfidfVectorizer(**{**settings, "sublinear_tf": True})
        index = vectors.fit_transform([part["context"] for part in parts])

        def found(texts: Sequence[str], vectors: TfidfVectorizer = vectors, index: np.ndarray = index) -> np.ndarray:
            return np.asarray((vectors.transform(texts) @ index.T).argmax(axis=1)).ravel()

        models[name] = found
    compared("NoiseQA", rows, [answers[row.number] for row in rows], models)


def main() -> None:
    """Compare on both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("slurp", type=Path)
    parser.add_argument("noiseqa", type=Path)
    args = parser.parse_args()
    requests(args.slurp)
    questions(args.noiseqa)


if __name__ == "__main__":
    main()
