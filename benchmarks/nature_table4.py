"""NATURE's tables with lapsus's small model: original, each operator, random, hard, and training with augmentation.

    python benchmarks/nature_table4.py run snips --data DIR --work DIR     train, perturb, score: DIR/snips.json
    python benchmarks/nature_table4.py table --work DIR --published FILE --out docs/nature.md

`--data` holds atis/ and snips/ with train.txt, dev.txt and test.txt in lines of `token tag`, the intent last.
The model that selects the hard set (seed 0) is never one of those that are scored on it (seeds 1, 2 ...).
Trained models are kept in `--work`, so that an interrupted run continues.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import click

from lapsus.kernel.bio import slots
from lapsus.models.slu_model import SluModel, train
from lapsus.perturbations.core import Mixture, stream
from lapsus.perturbations.en.nature import NATURE, random_operator
from lapsus.perturbations.en.nlpaug import CLASSES, Nlpaug, train_tfidf
from lapsus.perturbations.selection import Candidate, candidates, hardest, judged_by, shares
from lapsus.perturbations.tokens import perturb_tokens_batch, utterance

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]
SCORES = ("slot_f1", "intent", "e2e")
LABELS = {  # name in lapsus -> name in the paper
    "original": "Orig",
    "random": "Rand",
    "hard": "Hard",
    "filler_pre_verb": "Pre-V. Filler",
    "synonym_stopword": "Syn. StopW",
    "filler_bos": "BOS Filler",
    "filler_post_verb": "Post-V. Filler",
    "synonym_verb": "Syn. V.",
    "speako": "Speako",
    "synonym_any": "Syn. Any",
    "synonym_adjective": "Syn. Adj.",
    "synonym_adverb": "Syn. Adv.",
    "filler_eos": "EOS Filler",
}
SHARES = {
    "filler_bos": "BOS",
    "filler_pre_verb": "Pre-V",
    "filler_post_verb": "Post-V",
    "filler_eos": "EOS",
    "synonym_verb": "SynV",
    "synonym_adjective": "SynAdj",
    "synonym_adverb": "SynAdv",
    "synonym_any": "SynAny",
    "synonym_stopword": "SynStopW",
    "speako": "Speako",
}


@click.group()
def main() -> None:
    """Score a small model on NATURE's test sets."""


@main.command()
@click.argument("name", type=click.Choice(["atis", "snips"]))
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--work", type=click.Path(path_type=Path), required=True)
@click.option("--seeds", default=2, help="models to score")
@click.option("--augmented", "more", default=0, help="models to train on the augmented set too")
def run(name: str, data: Path, work: Path, seeds: int, more: int) -> None:
    """Train the models and score them on every set."""
    work.mkdir(parents=True, exist_ok=True)
    parts = {part: read(data / name / f"{part}.txt") for part in ("train", "dev", "test")}
    selector = trained(work / f"{name}.0.pt", parts["train"], parts["dev"], 0)
    sets = test_sets(parts["test"], selector)
    results: dict[str, Any] = {
        "selector": score(selector, sets["original"]),
        "shares": shares(one.operator for one in sets["hard"]),
        "unchanged": {key: mean(not one.edits for one in rows) for key, rows in sets.items() if key != "original"},
        "models": [],
    }
    training = {"plain": (parts["train"], parts["dev"])}
    if more:
        words = work / f"{name}.tfidf"
        train_tfidf((" ".join(row["tokens"]) for row in parts["train"]), words)
        training["augmented"] = (augmented(parts["train"], words), augmented(parts["dev"], words))
    for seed in range(1, seeds + 1):
        for kind, (rows, dev) in training.items():
            if kind == "augmented" and seed > more:
                continue
            model = trained(work / f"{name}.{kind}.{seed}.pt", rows, dev, seed)
            scores = {key: score(model, test) for key, test in sets.items()}
            exhaustive = redrawn(model, sets, parts["test"])
            results["models"].append({"seed": seed, "training": kind, "scores": scores, "redrawn": exhaustive})
            (work / f"{name}.json").write_text(json.dumps(results, indent=1))
            click.echo(f"{name} {kind} seed {seed}: {scores['original']} hard {scores['hard']['e2e']:.3f}")


def read(path: Path) -> list[Row]:
    """Read utterances in lines of `token tag`, the intent on the last line of each block."""
    rows: list[Row] = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        if block.strip():
            *lines, intent = block.strip().split("\n")
            tokens, tags = zip(*(line.split() for line in lines), strict=True)
            rows.append({"id": str(len(rows)), "tokens": list(tokens), "tags": list(tags), "intent": intent.strip()})
    return rows


def trained(path: Path, rows: Sequence[Row], dev: Sequence[Row], seed: int) -> SluModel:
    """Return the model of `path`, trained now if it is not there yet."""
    if not path.exists():
        start = time.process_time()
        train(rows, dev, seed).save(path)
        click.echo(f"{path.name}: {len(rows)} utterances, {time.process_time() - start:.0f} s of one core")
    return SluModel.load(path)


def test_sets(rows: Sequence[Row], selector: SluModel) -> dict[str, list[Candidate]]:
    """Return the original, the ten operators', the ten random and the hard set."""
    said = [utterance(row["tokens"], row["tags"]) for row in rows]
    keys = [row["id"] for row in rows]
    sets = {"original": [Candidate("", row["tokens"], row["tags"], row["intent"], ()) for row in rows]}
    for operator in (*NATURE, *(random_operator(index) for index in range(10))):
        sets[operator.name] = [
            Candidate(noisy.operator.name, noisy.tokens, noisy.tags or [], row["intent"], noisy.edits)
            for row, noisy in zip(rows, perturb_tokens_batch(operator, said, keys=keys), strict=True)
        ]
    sets["hard"] = hardest(candidates(rows, NATURE), judged_by(selector))
    return sets


def augmented(rows: Sequence[Row], words: Path) -> list[Row]:
    """Append to `rows` what one of nlpaug's augmenters makes of each, where labels can be realigned.

    Of the paper's six the contextual one is missing: it needs a checkpoint of BERT.
    """
    mixture = Mixture(
        "augmented",
        tuple(Nlpaug(one, str(words) if one == "tfidf" else "") for one in CLASSES if one != "contextual"),
    )
    said = [utterance(row["tokens"], row["tags"]) for row in rows]
    made = perturb_tokens_batch(mixture, said, keys=[row["id"] for row in rows])
    new = [
        {"id": f"{row['id']}-augmented", "tokens": noisy.tokens, "tags": noisy.tags, "intent": row["intent"]}
        for row, noisy in zip(rows, made, strict=True)
    ]
    return [*rows, *new]


def read_right(model: SluModel, rows: Sequence[Candidate]) -> list[bool]:
    """Return for each utterance whether the intent and all slots are right."""
    frames = model.predict([row.tokens for row in rows])
    return [
        row.intent == frame["intent"] and slots(row.tags) == slots(frame["tags"])
        for row, frame in zip(rows, frames, strict=True)
    ]


def score(model: SluModel, rows: Sequence[Candidate]) -> dict[str, float]:
    """Return slot F1, intent accuracy and the share of utterances with everything right."""
    frames = model.predict([row.tokens for row in rows])
    true = [set(slots(row.tags)) for row in rows]
    predicted = [set(slots(frame["tags"])) for frame in frames]
    right = sum(len(a & b) for a, b in zip(true, predicted, strict=True))
    intents = [row.intent == frame["intent"] for row, frame in zip(rows, frames, strict=True)]
    return {
        "slot_f1": 2 * right / max(sum(map(len, true)) + sum(map(len, predicted)), 1),
        "intent": mean(intents),
        "e2e": mean(ok and a == b for ok, a, b in zip(intents, true, predicted, strict=True)),
    }


@main.command()
@click.option("--work", type=click.Path(path_type=Path), required=True)
@click.option("--published", type=click.Path(path_type=Path), required=True, help="the paper's numbers, as JSON")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="the page whose marked part is rewritten")
def table(work: Path, published: Path, out: Path) -> None:
    """Write the results of `run` and the paper's numbers as tables, between the markers of a page."""
    paper = json.loads(published.read_text(encoding="utf-8"))
    results = {name: json.loads((work / f"{name}.json").read_text()) for name in ("snips", "atis")}
    text = "\n\n".join((_scores(results, paper), _random(results), _shares(results, paper), _augmentation(results)))
    before, _, rest = out.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    out.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
    click.echo(f"wrote {out}")


BEGIN, END = (f"<!-- {edge} of what benchmarks/nature_table4.py wrote -->" for edge in ("begin", "end"))


def averaged(result: dict[str, Any], training: str, key: str, what: str) -> float:
    """Return a score in percent, averaged over the models (and, for `random`, over the ten draws)."""
    keys = [f"random.{index}" for index in range(10)] if key == "random" else [key]
    models = [model for model in result["models"] if model["training"] == training]
    return 100.0 * mean(float(model["scores"][key][what]) for model in models for key in keys)


def redrawn(model: SluModel, sets: dict[str, list[Candidate]], rows: Sequence[Row], draws: int = 300) -> float:
    """Return the mean end-to-end accuracy of many random sets; the candidates are fixed, only the operator is drawn."""
    right = {operator.name: [bool(ok) for ok in read_right(model, sets[operator.name])] for operator in NATURE}
    mixtures = [random_operator(index) for index in range(draws)]
    return mean(
        right[mixture.choose(stream(mixture, 0, row["id"])).name][i]
        for mixture in mixtures
        for i, row in enumerate(rows)
    )


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _scores(results: dict[str, Any], paper: dict[str, Any]) -> str:
    theirs = paper["nature_table4"]["rows"]["Bi-RNN"]
    columns = paper["nature_table4"]["columns"]
    rows = []
    for key, label in LABELS.items():
        row = [f"`{key}`"]
        for name, result in results.items():
            for what in SCORES:
                published = theirs[label][columns.index(f"{name}_{what}")]
                row.append(f"{averaged(result, 'plain', key, what):.1f} ({published:.1f})")
        rows.append(row)
    return _grid(
        ["test set", *(f"{name.upper()} {what}" for name in results for what in ("slot F1", "intent", "E2E"))], rows
    )


def _random(results: dict[str, Any]) -> str:
    rows = []
    for name, result in results.items():
        for what, label in zip(SCORES, ("slot F1", "intent", "E2E"), strict=True):
            operators = mean(averaged(result, "plain", operator.name, what) for operator in NATURE)
            drawn = [averaged(result, "plain", f"random.{index}", what) for index in range(10)]
            again = [model.get("redrawn") for model in result["models"] if model["training"] == "plain"]
            exhaustive = f"{100 * mean(again):.2f}" if what == "e2e" and all(again) else "–"
            rows.append(
                [f"{name.upper()} {label}", f"{mean(drawn):.2f} ± {stdev(drawn):.2f}", f"{operators:.2f}", exhaustive]
            )
    head = [
        "",
        "`random.0` … `random.9`: mean ± deviation of a set",
        "mean of the ten operators",
        "300 draws among the operators' own sets",
    ]
    return _grid(head, rows)


def _shares(results: dict[str, Any], paper: dict[str, Any]) -> str:
    theirs = paper["nature_table2_hard_share"]
    rows = []
    for operator in NATURE:
        row = [f"`{operator.name}`"]
        for name, result in results.items():
            published = theirs[SHARES[operator.name]][("atis", "snips").index(name)]
            row.append(f"{100 * result['shares'].get(operator.name, 0):.1f} ({published:.1f})")
            row.append(f"{100 * result['unchanged'][operator.name]:.1f}")
        rows.append(row)
    return _grid(
        ["operator", *(head for name in results for head in (f"{name.upper()} share of `hard`", "left alone"))], rows
    )


def _augmentation(results: dict[str, Any]) -> str:
    rows = []
    for name, result in results.items():
        both = {model["seed"] for model in result["models"] if model["training"] == "augmented"}
        if not both:
            continue
        paired = {"models": [model for model in result["models"] if model["seed"] in both]}
        for key in ("original", "random", "hard"):
            plain, more = (averaged(paired, training, key, "e2e") for training in ("plain", "augmented"))
            rows.append([f"{name.upper()} {key}", f"{plain:.1f}", f"{more:.1f}", f"{more - plain:+.1f}"])
    return _grid(["E2E accuracy", "without", "with augmentation", "change"], rows)


if __name__ == "__main__":
    main()
