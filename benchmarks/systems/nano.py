"""NANO at a size that trains in seconds: what the second pretraining phase does to a small metric.

    python nano.py prepare BUILT OUT       # sentences and ratings, from dialect-zh, -pt and -en-demszky
    python nano.py train OUT MODEL SEED,… LAMBDA…  # one file for each and each input
    python nano.py write OUT MODEL         # its table of docs/dialects.md

MODEL is a key of `MODELS`, LAMBDA is none, 0, 1 or 2. Trained on the sentences of FRMT's exemplars and dev parts,
tested on its test part. Sentences are at most 130 characters long (45 in Chinese), and there are as many as a minute of
training can read. The ratings are made (lapsus.papers.nano), in WMT's format; the sizes stand in `SIZES`
and `MODELS`, to be raised on a bigger machine. Every twentieth sentence and rating is held out.
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

from lapsus.papers.nano.first_token import TrainingConfig

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


@dataclass(frozen=True)
class Learner:
    """How a model begins with a seed, and how it is trained in both phases."""

    begin: Callable[[int], Any]  # with a seed
    pretraining: TrainingConfig
    finetuning: TrainingConfig


def begun_bags(seed: int) -> Any:
    """Return an encoder of bags of words."""
    from lapsus.papers.nano.bags import make_bag_encoder

    return make_bag_encoder(size=32, seed=seed)


def begun_characters(seed: int) -> Any:
    """Return an encoder-decoder over the characters of words."""
    from lapsus.papers.nano.characters import make_character_encoder

    return make_character_encoder(seed=seed)


SIZES = Sizes({"zh": 45, "pt": 130, "en": 130}, {"zh": 600, "pt": 600, "en": 300}, 200)
MODELS = {
    "bags": Learner(begun_bags, TrainingConfig(1000, 64, 5e-3), TrainingConfig(200, 64, 5e-3)),
    "characters": Learner(begun_characters, TrainingConfig(700, 64, 3e-3), TrainingConfig(120, 64, 5e-3)),
}
HELD = 20  # one in so many sentences and ratings
TIMES = 8  # that a sentence comes, with a tag drawn anew


def short(row: Row, language: str) -> bool:
    """Tell whether all texts of a row are short."""
    return all(len(row[name] or "") <= SIZES.letters[language] for name in ("base", "dialect") if name in row)


def prepare(built: Path, out: Path) -> None:
    """Write what is trained and tested on."""
    from datasets import load_dataset

    from lapsus.papers.nano import construct_ratings, write_ratings

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
        rated += construct_ratings(learnt[: SIZES.rated[language]], language)  # type: ignore[arg-type]
        tested = [row for row in parts["test"] if short(row, language) and row["perturbed"] and not row["identical"]]
        (out / f"test-{language}.json").write_text(json.dumps(spread(tested, SIZES.tested), ensure_ascii=False))
        print(language, len(learnt), "rows to learn from,", len(tested), "to test on")
    sentences += [(text, "en", "") for text in english]
    rated += construct_ratings(list(english.values())[: SIZES.rated["en"]], "en")
    tested = [dict(row) for row in load_dataset(str(built / "dialect-en-demszky"), split="test") if row["perturbed"]]
    (out / "test-en.json").write_text(json.dumps(tested, ensure_ascii=False))
    (out / "sentences.json").write_text(json.dumps(sentences, ensure_ascii=False))
    write_ratings(out / "ratings.csv", rated)
    print(len(sentences), "sentences,", len(rated), "ratings,", len(tested), "English sentences to test on")


def spread(rows: Sequence[Row], most: int) -> list[Row]:
    """Return so many rows from all over the list."""
    step = max(1, len(rows) // most)
    return [dict(row) for row in rows[::step][:most]]


def train(out: Path, name: str, seed: int, lambdas: Sequence[str]) -> None:
    """Train and test one seed, with and without the phase."""
    from lapsus.evaluation.dialect import DialectSentences, score_conditions
    from lapsus.papers.nano import Sentence, finetune, kendall_agreement, pretrain, read_ratings
    from lapsus.papers.text_metrics import make_nano_metric

    sentences = [Sentence(*each) for each in json.loads((out / "sentences.json").read_text())]
    rated = read_ratings(out / "ratings.csv")
    heard, held = parted(sentences, 2)
    learnt, kept = parted(rated, 1)
    learner = MODELS[name]
    begun = learner.begin(seed)
    tests = {
        language: DialectSentences(language, tags, json.loads((out / f"test-{language}.json").read_text()))
        for language, tags in (("zh", ("zh-CN", "zh-TW")), ("pt", ("pt-BR", "pt-PT")), ("en", ("en-US", "en-IN")))
    }
    for balance in lambdas:
        if all((out / f"{name}-{seed}-{balance}-{form}.json").exists() for form in FORMS):
            continue
        started = time.process_time()
        model = begun
        if balance != "none":
            model = pretrain(begun, heard, learner.pretraining, balance=float(balance), copies=TIMES, seed=seed)
        tags = told_apart(model, held)
        for form in FORMS:
            made = finetune(model, learnt, learner.finetuning, input_format=form, seed=seed)
            metric = make_nano_metric(made, "nano")
            found: dict[str, Any] = {
                "tau": kendall_agreement(made, kept),
                "tags": tags,
                "left": told_apart(made.model, held),
            }
            for language, test in tests.items():
                if form == "qe" and language == "en":
                    continue  # no source to read
                scored = score_conditions(metric, test, references=form == "within", sources=form == "qe")
                found[language] = measured(scored.conditions, scored.by_tag)
            found["seconds"] = round(time.process_time() - started, 1)
            (out / f"{name}-{seed}-{balance}-{form}.json").write_text(json.dumps(found))
            print(name, seed, balance, form, json.dumps(found), flush=True)


def parted(some: Sequence[Any], together: int) -> tuple[list[Any], list[Any]]:
    """Return what is learnt and what is held out; so many that follow each other stay together, as both dialects do."""
    sides: tuple[list[Any], list[Any]] = [], []
    for number, each in enumerate(some):
        sides[number // together % HELD == 0].append(each)
    return sides


def told_apart(model: Any, held: Sequence[Any]) -> dict[str, float]:
    """Return how often a sentence scores higher with its own tag than with one of another, beside nothing else."""
    from lapsus.papers.nano.inputs import TAGGED

    found = {}
    for said, regional in (("languages", False), ("dialects", True)):
        pairs = [(each.text, own, other) for each in held for own, other in _rivals(each, regional)]
        own, other = (
            np.array(model.predict([TAGGED.format(candidate=pair[0], tag=pair[side]) for pair in pairs]))
            for side in (1, 2)
        )
        found[said] = float((own > other).mean())
    return found


def _rivals(sentence: Any, regional: bool) -> list[tuple[str, str]]:
    """Return the tag of a sentence with each tag it is to be told from: languages, or dialects of its own."""
    from lapsus.evaluation.text_metrics import format_tag

    language, region = sentence.language, sentence.region
    if regional:
        return [
            (format_tag(language, region), format_tag(language, other))
            for other in REGIONS.get(language, ())
            if other != region
        ]
    return [(format_tag(language), format_tag(other)) for other in (*REGIONS, "en") if other != language]


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


def write(out: Path, name: str) -> None:
    """Write the table of a model between its markers of the page."""
    from lapsus.hub.dataset_card import format_table

    found: dict[tuple[str, str], dict[int, Row]] = {(balance, form): {} for balance in LAMBDAS for form in FORMS}
    for file in sorted(out.glob(f"{name}-*-*-*.json")):
        _, seed, balance, form = file.stem.split("-")
        found[balance, form][int(seed)] = json.loads(file.read_text())
    rows = []

    def row(form: str, data: str, said: str, measure: Callable[[Row], float]) -> None:
        runs = [{seed: measure(run) for seed, run in found[balance, form or FORMS[0]].items()} for balance in LAMBDAS]
        without, _, one, _ = runs
        gain = [one[seed] - without[seed] for seed in one.keys() & without.keys()]
        rows.append(
            [form, data, said, *(over_seeds([*values.values()]) for values in runs), over_seeds(gain, "{:+.2f}")]
        )

    for said in ("languages", "dialects"):
        row("", "before ratings", f"tags of {said}", at("tags", said))
    for form in FORMS:
        for language in ("zh", "pt", "en")[: 3 if form == "within" else 2]:
            row(form, language, "success rate", at(language, "win"))
            if language != "en":
                for place, region in enumerate(REGIONS[language]):
                    row(form, language, f"aware, {region}", at(language, "aware", place))
                row(form, language, "aware, both", at(language, "aware"))
        row(form, "sentences held out", "tags of dialects", at("left", "dialects"))
        row(form, "ratings held out", "Kendall's τ", at("tau"))
    seeds = ", ".join(f"{said} {len(found[balance, FORMS[-1]])}" for balance, said in NAMES.items())
    seconds = sum(run["seconds"] for (_, form), runs in found.items() if form == FORMS[-1] for run in runs.values())
    note = f"Seeds: {seeds}; {seconds:.0f} processor seconds in all."
    heads = ["input", "data", "", *NAMES.values(), "λ = 1 − without"]
    _page.write(DOCS, f"nano, {name}", f"{format_table(heads, rows)}\n\n{note}", by="benchmarks/systems/nano.py")


def at(*path: str | int) -> Callable[[Row], float]:
    """Return what reads a number out of a run, or the mean of several."""

    def read(run: Row) -> float:
        found: Any = run
        for step in path:
            found = found[step]
        return float(np.mean(found))

    return read


def over_seeds(values: Sequence[float], form: str = "{:.2f}") -> str:
    """Return the mean over seeds and Student's interval of it, which one seed alone does not have."""
    from scipy import stats

    if not values:
        return "–"
    mean = float(np.mean(values))
    if len(values) == 1:
        return form.format(mean)
    half = float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))
    return f"{form.format(mean)} [{form.format(mean - half)}, {form.format(mean + half)}]"


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "prepare":
        prepare(Path(rest[0]), Path(rest[1]))
    elif what == "train":
        for seed in rest[2].split(","):
            train(Path(rest[0]), rest[1], int(seed), rest[3:])
    else:
        write(Path(rest[0]), rest[1])
