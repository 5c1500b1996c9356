"""NANO at a size that trains in seconds: what the second pretraining phase does to a small metric.

    python nano.py prepare BUILT OUT       # sentences and ratings, from dialect-zh, -pt and -en-demszky
    python nano.py train OUT SEED,… LAMBDA… # LAMBDA is none, 0, 1 or 2; one file for each and each input
    python nano.py write OUT               # the table of docs/dialects.md

Trained on the sentences of FRMT's exemplars and dev parts, tested on its test part. Sentences are at most 130
characters long (45 in Chinese), and there are as many as a few seconds of training can read. The ratings are made
(lapsus.models.nano.constructed), in WMT's format; the sizes stand in `SIZES`, to be raised on a bigger machine.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _page
import numpy as np

DOCS = Path(__file__).parents[2] / "docs" / "dialects.md"
Row = dict[str, Any]
REGIONS = {"zh": ("CN", "TW"), "pt": ("BR", "PT")}
FORMS = ("within", "qe")
LAMBDAS = ("none", "0", "1", "2")


@dataclass(frozen=True)
class Sizes:
    """How large everything is."""

    letters: Mapping[str, int]
    rated: Mapping[str, int]  # rows of the dev part of which ratings are made
    tested: int  # sentences of the test part, of each language
    width: int
    pretraining: int  # steps
    finetuning: int
    batch: int
    rate: float


SIZES = Sizes({"zh": 45, "pt": 130, "en": 130}, {"zh": 600, "pt": 600, "en": 300}, 200, 32, 200, 200, 64, 5e-3)


def short(row: Row, language: str) -> bool:
    """Tell whether all texts of a row are short."""
    return all(len(row[name] or "") <= SIZES.letters[language] for name in ("base", "dialect") if name in row)


def prepare(built: Path, out: Path) -> None:
    """Write what is trained and tested on."""
    from datasets import load_dataset

    from lapsus.models.nano.constructed import constructed
    from lapsus.models.nano.ratings import write_ratings

    out.mkdir(parents=True, exist_ok=True)
    sentences: list[tuple[str, str, str]] = []
    rated = []
    english: dict[str, Row] = {}
    for language, regions in REGIONS.items():
        parts = {name: list(part) for name, part in load_dataset(str(built / f"dialect-{language}")).items()}
        learnt = [dict(row) for name in ("exemplars", "dev") for row in parts[name] if short(row, language)]
        for row in learnt:
            sentences += [
                (row[side], language, region) for side, region in zip(("base", "dialect"), regions, strict=True)
            ]
            if len(row["source"]) <= SIZES.letters["en"]:
                english.setdefault(row["source"], {"id": row["id"], "base": row["source"], "source": row["source"]})
        rated += constructed(learnt[: SIZES.rated[language]], language)  # type: ignore[arg-type]
        tested = [row for row in parts["test"] if short(row, language) and row["perturbed"] and not row["identical"]]
        (out / f"test-{language}.json").write_text(json.dumps(spread(tested, SIZES.tested), ensure_ascii=False))
        print(language, len(learnt), "rows to learn from,", len(tested), "to test on")
    sentences += [(text, "en", "") for text in english]
    rated += constructed(list(english.values())[: SIZES.rated["en"]], "en")
    tested = [dict(row) for row in load_dataset(str(built / "dialect-en-demszky"), split="test") if row["perturbed"]]
    (out / "test-en.json").write_text(json.dumps(tested, ensure_ascii=False))
    (out / "sentences.json").write_text(json.dumps(sentences, ensure_ascii=False))
    write_ratings(out / "ratings.csv", rated)
    print(len(sentences), "sentences,", len(rated), "ratings,", len(tested), "English sentences to test on")


def spread(rows: Sequence[Row], most: int) -> list[Row]:
    """Return so many rows from all over the list."""
    step = max(1, len(rows) // most)
    return [dict(row) for row in rows[::step][:most]]


def train(out: Path, seed: int, lambdas: Sequence[str]) -> None:
    """Train and test one seed, with and without the phase."""
    from lapsus.models.first_token import Training
    from lapsus.models.nano import Sentence, agreement, finetuned, pretrained
    from lapsus.models.nano.bags import bags
    from lapsus.models.nano.ratings import read_ratings
    from lapsus.models.text_metrics.own import nano_metric
    from lapsus.running.dialect_study import Sentences, score

    sentences = [Sentence(*each) for each in json.loads((out / "sentences.json").read_text())]
    rated = read_ratings(out / "ratings.csv")
    held, learnt = rated[::20], [each for number, each in enumerate(rated) if number % 20]
    begun = bags(size=SIZES.width, seed=seed)
    tests = {
        language: Sentences(language, tags, json.loads((out / f"test-{language}.json").read_text()))
        for language, tags in (("zh", ("zh-CN", "zh-TW")), ("pt", ("pt-BR", "pt-PT")), ("en", ("en-US", "en-IN")))
    }
    for balance in lambdas:
        if all((out / f"{seed}-{balance}-{form}.json").exists() for form in FORMS):
            continue
        started = time.process_time()
        model = begun
        if balance != "none":
            how = Training(SIZES.pretraining, SIZES.batch, SIZES.rate)
            model = pretrained(begun, sentences, how, balance=float(balance), seed=seed)
        for form in FORMS:
            made = finetuned(model, learnt, Training(SIZES.finetuning, SIZES.batch, SIZES.rate), form=form, seed=seed)
            metric = nano_metric(made, "nano")
            found: dict[str, Any] = {"tau": agreement(made, held)}
            for language, test in tests.items():
                if form == "qe" and language == "en":
                    continue  # no source to read
                scored = score(metric, test, references=form == "within", sources=form == "qe")
                found[language] = measured(scored.conditions, scored.aware)
            found["seconds"] = round(time.process_time() - started, 1)
            (out / f"{seed}-{balance}-{form}.json").write_text(json.dumps(found))
            print(seed, balance, form, json.dumps(found), flush=True)


def measured(conditions: Mapping[str, Sequence[float]], aware: Mapping[tuple[str, str], Sequence[float]]) -> Row:
    """Return the success rate, the coefficient in standard deviations of all scores, and awareness of both dialects."""
    wins = np.array(conditions["dialect"]) > np.array(conditions["perturbed"])
    gap = np.mean(conditions["dialect"]) - np.mean(conditions["perturbed"])
    spread = np.std(np.concatenate([np.asarray(each) for each in conditions.values()]))
    tags = list(dict.fromkeys(text for text, _ in aware))
    own = [
        float(np.mean(np.array(aware[text, text]) > np.array(aware[text, other])))
        for text, other in zip(tags, tags[::-1], strict=True)
    ]
    return {"win": float(wins.mean()), "gap": float(gap / max(spread, 1e-12)), "aware": own}


NAMES = {"none": "without NANO", "0": "λ = 0", "1": "λ = 1", "2": "λ = 2"}


def write(out: Path) -> None:
    """Write both tables between the markers of the page."""
    from lapsus.hub.dataset_card import table

    found = {
        (balance, form): [json.loads(file.read_text()) for file in sorted(out.glob(f"[0-9]*-{balance}-{form}.json"))]
        for balance in LAMBDAS
        for form in FORMS
    }
    heads = ["input", "data", "", *NAMES.values(), "λ = 1 − without"]
    rows = []
    for form in FORMS:
        for language in ("zh", "pt", "en")[: 3 if form == "within" else 2]:
            measures: list[tuple[str, Callable[[Row], float]]] = [("success rate", win)]
            if language != "en":
                measures += [(f"aware, {name}", aware(place)) for place, name in enumerate(REGIONS[language])]
                measures += [("aware, both", aware(None))]
            for said, measure in measures:
                runs = {balance: [measure(run[language]) for run in found[balance, form]] for balance in LAMBDAS}
                gain = [one - two for one, two in zip(runs["1"], runs["none"], strict=True)]
                cells = [over_seeds(runs[balance]) for balance in LAMBDAS]
                rows.append([form, language, said, *cells, over_seeds(gain, "{:+.2f}")])
        taus = {balance: [run["tau"] for run in found[balance, form]] for balance in LAMBDAS}
        gain = [one - two for one, two in zip(taus["1"], taus["none"], strict=True)]
        cells = [over_seeds(taus[balance]) for balance in LAMBDAS]
        rows.append([form, "ratings held out", "Kendall's τ", *cells, over_seeds(gain, "{:+.2f}")])
    seeds = {len(runs) for runs in found.values()}
    seconds = sum(run["seconds"] for (_, form), runs in found.items() if form == FORMS[-1] for run in runs)
    note = f"Seeds: {', '.join(map(str, sorted(seeds)))}; {seconds:.0f} processor seconds in all."
    text = f"{table(heads, rows)}\n\n{note}"
    _page.write(DOCS, "nano", text, by="benchmarks/systems/nano.py")


def win(run: Row) -> float:
    """Return the success rate."""
    return float(run["win"])


def aware(place: int | None) -> Callable[[Row], float]:
    """Return how often texts of a dialect score higher with their own tag; of both dialects, the mean."""
    return lambda run: float(np.mean(run["aware"]) if place is None else run["aware"][place])


def over_seeds(values: Sequence[float], form: str = "{:.2f}") -> str:
    """Return the mean over seeds and Student's interval of it."""
    from scipy import stats

    mean = float(np.mean(values))
    half = float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))
    return f"{form.format(mean)} [{form.format(mean - half)}, {form.format(mean + half)}]"


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "prepare":
        prepare(Path(rest[0]), Path(rest[1]))
    elif what == "train":
        for seed in rest[1].split(","):
            train(Path(rest[0]), int(seed), rest[2:])
    else:
        write(Path(rest[0]))
