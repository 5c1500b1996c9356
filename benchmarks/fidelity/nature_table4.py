"""NATURE's tables with lapsus's small models: original, each operator, random, hard, and training with augmentation.

    python benchmarks/fidelity/nature_table4.py run snips --data DIR --work DIR    train, perturb, score: DIR/snips.json
    python benchmarks/fidelity/nature_table4.py table --work DIR --published FILE --out docs/nature.md

`--data` is what `lapsus build nature-snips --source` reads. The model that selects the hard set (the joint one, seed 0)
is not scored on it, only on the others; seeds 1, 2 ... are scored on all. Trained models are kept in `--work`, and the
scores of each model in the JSON as soon as it has them, so that an interrupted run continues: what was scored on the
same sets is not scored again.
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import click

from lapsus.core.bio import extract_slots
from lapsus.dataset_scripts.nature import NatureAtis, NatureNlued, NatureSnips
from lapsus.dataset_scripts.source import open_source
from lapsus.papers.slu import SluModel, train
from lapsus.perturbations.core import Mixture, open_stream
from lapsus.perturbations.en.nature import NATURE, random_operator
from lapsus.perturbations.en.nlpaug import CLASSES, Nlpaug, train_tfidf
from lapsus.perturbations.selection import (
    Candidate,
    count_operator_shares,
    make_candidates,
    make_selector,
    select_hardest,
)
from lapsus.perturbations.tokens import parse_utterance, perturb_tokens_batch

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]
SCORES = ("slot_f1", "intent", "e2e")
DATASETS = {"atis": NatureAtis, "snips": NatureSnips, "nlued": NatureNlued}
NETWORKS = {"plain": "joint", "stack": "stack", "augmented": "joint"}  # by what the models of a run are called
PEERS = {"plain": ("joint", "Bi-RNN"), "stack": ("stack", "Stack-Prop+BERT")}  # ours, and the paper's nearest
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
@click.argument("name", type=click.Choice(list(DATASETS)))
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--work", type=click.Path(path_type=Path), required=True)
@click.option("--seeds", default=3, help="joint models to score")
@click.option("--stack", default=0, help="models whose tagger reads the intent, to score as well")
@click.option("--augmented", "more", default=0, help="joint models to train on the augmented set too")
def run(name: str, data: Path, work: Path, seeds: int, stack: int, more: int) -> None:
    """Train the models and score them on every set."""
    work.mkdir(parents=True, exist_ok=True)
    source = open_source(data)
    parts = {part: list(DATASETS[name].utterances(source, part)) for part in ("train", "validation", "test")}
    plain = (parts["train"], parts["validation"])
    selector = trained(work / f"{name}.0.pt", *plain, 0)
    sets = test_sets(parts["test"], selector)
    told = digest(sets)
    path = work / f"{name}.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    results: dict[str, Any] = {
        "sets": told,
        "shares": count_operator_shares(one.operator for one in sets["hard"]),
        "unchanged": {key: mean(not one.edits for one in rows) for key, rows in sets.items() if key != "original"},
        "models": known["models"] if known.get("sets") == told else [],
    }
    scored = {(model["training"], model["seed"]) for model in results["models"]}
    training = {"plain": plain, "stack": plain}
    if more:
        words = work / f"{name}.tfidf"
        train_tfidf((" ".join(row["tokens"]) for row in parts["train"]), words)
        training["augmented"] = (augmented(plain[0], words), augmented(plain[1], words))
    kinds = [("plain", 0), *(("plain", seed + 1) for seed in range(seeds))]
    kinds += [(kind, seed + 1) for kind, count in (("stack", stack), ("augmented", more)) for seed in range(count)]
    for kind, seed in sorted(set(kinds) - scored, key=lambda model: (model[1], kinds.index(model))):
        kept = work / f"{name}.{kind}.{seed}.pt"
        model = trained(kept, *training[kind], seed, NETWORKS[kind]) if seed else selector
        read = {key: score(model, test) for key, test in sets.items() if seed or key != "hard"}
        scores = {key: accuracies for key, (accuracies, _) in read.items()}
        again = redrawn({key: right for key, (_, right) in read.items()}, parts["test"])
        results["models"].append({"seed": seed, "training": kind, "scores": scores, "redrawn": again})
        path.write_text(json.dumps(results, indent=1))
        click.echo(f"{name} {kind} seed {seed}: {scores['original']}")


def trained(path: Path, rows: Sequence[Row], dev: Sequence[Row], seed: int, network: str = "joint") -> SluModel:
    """Return the model of `path`, trained now if it is not there yet."""
    if not path.exists():
        start = time.process_time()
        train(rows, dev, seed, network=network).save(path)
        click.echo(f"{path.name}: {len(rows)} utterances, {time.process_time() - start:.0f} s of one core")
    return SluModel.load(path)


def test_sets(rows: Sequence[Row], selector: SluModel) -> dict[str, list[Candidate]]:
    """Return the original, the ten operators', the ten random and the hard set."""
    said = [parse_utterance(row["tokens"], row["tags"]) for row in rows]
    keys = [row["id"] for row in rows]
    sets = {"original": [Candidate("", row["tokens"], row["tags"], row["intent"], ()) for row in rows]}
    for operator in (*NATURE, *(random_operator(index) for index in range(10))):
        sets[operator.name] = [
            Candidate(noisy.operator.name, noisy.tokens, noisy.tags or [], row["intent"], noisy.edits)
            for row, noisy in zip(rows, perturb_tokens_batch(operator, said, keys=keys), strict=True)
        ]
    sets["hard"] = select_hardest(make_candidates(rows, NATURE), make_selector(selector))
    return sets


def digest(sets: dict[str, list[Candidate]]) -> str:
    """Return what tells the sets of other operators, or of another selector, apart."""
    told = {key: [(row.tokens, row.tags, row.intent) for row in rows] for key, rows in sets.items()}
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def augmented(rows: Sequence[Row], words: Path) -> list[Row]:
    """Append to `rows` what one of nlpaug's augmenters makes of each, where labels can be realigned.

    Of the paper's six the contextual one is missing: it needs a checkpoint of BERT.
    """
    mixture = Mixture(
        "augmented",
        tuple(Nlpaug(one, str(words) if one == "tfidf" else "") for one in CLASSES if one != "contextual"),
    )
    said = [parse_utterance(row["tokens"], row["tags"]) for row in rows]
    made = perturb_tokens_batch(mixture, said, keys=[row["id"] for row in rows])
    new = [
        {"id": f"{row['id']}-augmented", "tokens": noisy.tokens, "tags": noisy.tags, "intent": row["intent"]}
        for row, noisy in zip(rows, made, strict=True)
    ]
    return [*rows, *new]


def score(model: SluModel, rows: Sequence[Candidate]) -> tuple[dict[str, float], list[bool]]:
    """Return slot F1, intent and end-to-end accuracy, and for each utterance whether all of it is right."""
    frames = model.predict([row.tokens for row in rows])
    true = [set(extract_slots(row.tags)) for row in rows]
    predicted = [set(extract_slots(frame["tags"])) for frame in frames]
    found = sum(len(a & b) for a, b in zip(true, predicted, strict=True))
    intents = [row.intent == frame["intent"] for row, frame in zip(rows, frames, strict=True)]
    right = [ok and a == b for ok, a, b in zip(intents, true, predicted, strict=True)]
    f1 = 2 * found / max(sum(map(len, true)) + sum(map(len, predicted)), 1)
    return {"slot_f1": f1, "intent": mean(intents), "e2e": mean(right)}, right


@main.command()
@click.option("--work", type=click.Path(path_type=Path), required=True)
@click.option("--published", type=click.Path(path_type=Path), required=True, help="the paper's numbers, as JSON")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="the page whose marked part is rewritten")
def table(work: Path, published: Path, out: Path) -> None:
    """Write the results of `run` and the paper's numbers as tables, between the markers of a page."""
    paper = json.loads(published.read_text(encoding="utf-8"))
    results = {name: json.loads(file.read_text()) for name in DATASETS if (file := work / f"{name}.json").exists()}
    parts = [_scores(name, result, paper) for name, result in results.items()]
    text = "\n\n".join((*parts, _random(results), _shares(results, paper), *_augmentation(results)))
    before, _, rest = out.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    out.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
    click.echo(f"wrote {out}")


BEGIN, END = (f"<!-- {edge} of what benchmarks/fidelity/nature_table4.py wrote -->" for edge in ("begin", "end"))


def each(result: dict[str, Any], training: str, key: str, what: str) -> list[float]:
    """Return a score in percent of each model; for `random` the mean of the ten draws."""
    keys = [f"random.{index}" for index in range(10)] if key == "random" else [key]
    models = [model for model in result["models"] if model["training"] == training and keys[0] in model["scores"]]
    return [100.0 * mean(float(model["scores"][one][what]) for one in keys) for model in models]


def averaged(result: dict[str, Any], training: str, key: str, what: str) -> float:
    """Return a score in percent, averaged over the models."""
    return mean(each(result, training, key, what))


def redrawn(right: dict[str, list[bool]], rows: Sequence[Row], draws: int = 300) -> float:
    """Return the mean end-to-end accuracy of many random sets; the candidates are fixed, only the operator is drawn."""
    mixtures = [random_operator(index) for index in range(draws)]
    return mean(
        right[mixture.choose(open_stream(mixture, 0, row["id"])).name][i]
        for mixture in mixtures
        for i, row in enumerate(rows)
    )


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _scores(name: str, result: dict[str, Any], paper: dict[str, Any]) -> str:
    columns = paper["nature_table4"]["columns"]
    kinds = [kind for kind in PEERS if each(result, kind, "original", "e2e")]
    rows = []
    for key, label in LABELS.items():
        ours = [[each(result, kind, key, what) for what in SCORES] for kind in kinds]
        theirs = [
            [paper["nature_table4"]["rows"][peer][label][columns.index(f"{name}_{what}")] for what in SCORES]
            for _, peer in PEERS.values()
        ]
        rows.append([f"`{key}`", *map(_triple, ours), *(" / ".join(f"{one:.1f}" for one in three) for three in theirs)])
    counts = [(PEERS[kind][0], len(each(result, kind, "original", "e2e"))) for kind in kinds]
    heads = [f"{ours}, {count} model{'s' * (count > 1)}" for ours, count in counts]
    return _grid([name.upper(), *heads, *(f"*paper: {peer}*" for _, peer in PEERS.values())], rows)


def _triple(scores: Sequence[Sequence[float]]) -> str:
    """Return slot F1, intent and end-to-end accuracy, the last with its deviation between the models."""
    means = " / ".join(f"{mean(one):.1f}" for one in scores)
    return f"{means} ± {stdev(scores[-1]):.1f}" if len(scores[-1]) > 1 else means


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
            published = theirs[SHARES[operator.name]][list(DATASETS).index(name)]
            row.append(f"{100 * result['shares'].get(operator.name, 0):.1f} ({published:.1f})")
            row.append(f"{100 * result['unchanged'][operator.name]:.1f}")
        rows.append(row)
    return _grid(
        ["operator", *(head for name in results for head in (f"{name.upper()} share of `hard`", "left alone"))], rows
    )


def _augmentation(results: dict[str, Any]) -> list[str]:
    rows = []
    for name, result in results.items():
        both = {model["seed"] for model in result["models"] if model["training"] == "augmented"}
        if not both:
            continue
        paired = {"models": [model for model in result["models"] if model["seed"] in both]}
        for key in ("original", "random", "hard"):
            plain, more = (averaged(paired, training, key, "e2e") for training in ("plain", "augmented"))
            rows.append([f"{name.upper()} {key}", f"{plain:.1f}", f"{more:.1f}", f"{more - plain:+.1f}"])
    return [_grid(["E2E accuracy", "without", "with augmentation", "change"], rows)] if rows else []


if __name__ == "__main__":
    main()
