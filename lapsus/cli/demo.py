"""`lapsus demo`: the whole loop on the embedded sample: build, load, perturb, predict, score, report.

Nothing is precomputed: the models are trained here, on the rows that were just built.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from datasets import load_dataset

from lapsus import metrics
from lapsus.cli.demo_models import CommandModel, QuestionSearch, split_characters, split_syllables
from lapsus.cli.options import add_option
from lapsus.core.files import CACHE, stage_folder
from lapsus.core.messages import format_examples
from lapsus.core.terminal import hide_datasets_bars
from lapsus.core.types import Track
from lapsus.dataset_scripts import benchmarks
from lapsus.hub.build import build_dataset
from lapsus.perturbations import OPERATORS, Noise
from lapsus.perturbations.zh.homophone import ZhHomophone
from lapsus.reporting.report import report

if TYPE_CHECKING:
    from datasets import Dataset

RATES = (0.05, 0.1, 0.2, 0.4)  # rates of homophones, for the plot of score against noise
SIMULATED = ("auto.", "keyboard.", "speech.")


@click.command(epilog=format_examples("lapsus demo --out demo"))
@add_option("--out", "Folder for what it makes.", default=Path("demo"), show_default=True)
def demo(out: Path) -> None:
    """Run the whole loop on the embedded sample: build, load, perturb, score, report."""
    click.echo(f"wrote {run_demo(out, echo=click.echo)}")


def run_demo(out: Path, *, echo: Callable[[str], None] = print) -> Path:
    """Run the demo into the folder `out`; return the page of its report."""
    with stage_folder(out, may_replace=is_demo, description="demo") as folder, hide_datasets_bars():
        built = build_dataset(benchmarks()["sample"], folder / "sample")
        rows = sum(sum(splits.values()) for splits in built.rows.values())
        echo(f"built    {rows:,} rows in {len(built.rows)} configs")
        cache = folder.with_name(CACHE)  # kept outside the folder, so that it is not moved with it

        def load(config: str, split: str = "test") -> Dataset:
            return load_dataset(str(built.path), config, split=split, cache_dir=str(cache))

        tracks = [
            *make_question_tracks(load, list(built.rows)),
            *make_command_tracks(load, list(built.rows), echo),
            *make_entailment_tracks(load),
        ]
        echo(f"wrote    {sum(len(track.rows) for track in tracks):,} predictions on {len(tracks)} tracks")
        preference = test_dialect_choice(load)
        echo(
            f"judged   chrF prefers the dialect to a changed meaning in {preference['win_rate']:.0%} of "
            f"{preference['trials']} sentences (one-sided p = {preference['p_value']:.2g})"
        )
        for track in tracks:
            file = folder / "predictions" / track.dataset / track.model / f"{track.track}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in track.rows), encoding="utf-8")
        report(tracks, folder / "report", title="lapsus demo")
    return out.absolute() / "report" / "index.html"


def is_demo(folder: Path) -> bool:
    """Tell whether the folder is an earlier demo."""
    return (folder / "report" / "report.json").is_file() and (folder / "sample").is_dir()


def make_question_tracks(load: Callable[..., Dataset], configs: list[str]) -> Iterator[Track]:
    """Let two models find the clean second question of each pair, given the first question with noise."""
    train, test = load("clean", "train"), load("clean")
    train_texts = [*train["sentence1"], *train["sentence2"]]
    entries = test["sentence2"]
    tracks = {"clean": test} | {name: load(name) for name in configs if name.startswith(SIMULATED)}
    tracks |= {
        f"homophones_{rate:.0%}": Noise(ZhHomophone(rate), text="sentence1", id="id").map(test) for rate in RATES
    }
    for name, tokenize in {"characters": split_characters, "syllables": split_syllables}.items():
        model = QuestionSearch.train(tokenize, train_texts)
        for track, rows in tracks.items():
            yield Track(
                name,
                track,
                [
                    {
                        "id": row["id"],
                        "score": int(prediction == place),
                        "pair": rows.features["label"].int2str(row["label"]),
                        "text": row["sentence1"],
                        "clean_text": row.get("clean_sentence1", row["sentence1"]),
                    }
                    for place, (row, prediction) in enumerate(
                        zip(rows, model.predict(rows["sentence1"], entries), strict=True)
                    )
                ],
                "search-zh",
            )


def make_command_tracks(
    load: Callable[..., Dataset], configs: list[str], echo: Callable[[str], None]
) -> Iterator[Track]:
    """Let two models of intent and slots read plain commands, and the same with fillers, synonyms, speakos."""
    train = load("original", "train+validation")
    fillers = [OPERATORS["filler_bos"], OPERATORS["filler_eos"]]
    copies = [row for op in fillers for row in Noise(op, text="tokens", tags="tags", id="id", seed=7).map(train)]
    models = {"bayes": CommandModel.train(train), "bayes-copies": CommandModel.train([*train, *copies])}
    for model, slu in models.items():
        for config in ("original", *(name for name in configs if name in OPERATORS)):
            rows = load(config)
            intents, tags = rows.features["intent"].names, rows.features["tags"].feature.names
            predictions = slu.predict(rows["tokens"])
            accuracies = score_slu(rows, predictions)
            echo(
                f"scored   {model} on {config}: intent {accuracies['intent_accuracy']:.1%}, "
                f"slot F1 {accuracies['slot_f1']:.1%}, all right {accuracies['e2e_accuracy']:.1%}"
            )
            yield Track(
                model,
                config,
                [
                    {
                        "id": row["id"],
                        "prediction": intents[prediction["intent"]],
                        "gold": intents[row["intent"]],
                        "tags": [tags[tag] for tag in prediction["tags"]],
                        "gold_tags": [tags[tag] for tag in row["tags"]],
                        "text": " ".join(row["tokens"]),
                        "clean_text": " ".join(row.get("clean_tokens", row["tokens"])),
                    }
                    for row, prediction in zip(rows, predictions, strict=True)
                ],
                "intents-en",
            )


def score_slu(rows: Dataset, predictions: list[dict[str, Any]]) -> dict[str, Any]:
    """Score guesses whose tags are numbers, as the rows' are."""
    names = rows.features["tags"].feature.names

    def to_frame(intent: int, tags: list[int]) -> dict[str, Any]:
        return {"intent": str(intent), "tags": [names[tag] for tag in tags]}

    result: dict[str, Any] = metrics.slu_accuracy(
        [to_frame(**prediction) for prediction in predictions], [to_frame(row["intent"], row["tags"]) for row in rows]
    )
    return result


def make_entailment_tracks(load: Callable[..., Dataset]) -> Iterator[Track]:
    """Predict entailment from word overlap, for the original pairs and for their paraphrases."""
    rows = load("entailment")
    names = rows.features
    for track, side in {"clean": "original_", "rewritten": ""}.items():
        yield Track(
            "overlap",
            track,
            [
                {
                    "id": row["id"],
                    "prediction": "entailed"
                    if is_mostly_covered(row[f"{side}premise"], row[f"{side}hypothesis"])
                    else "not_entailed",
                    "gold": names["label"].names[row["label"]],
                    "rewritten": names["rewritten"].names[row["rewritten"]],
                    "cluster": row["original_id"],
                }
                for row in rows
            ],
            "entailment-en",
        )


def is_mostly_covered(premise: str, hypothesis: str) -> bool:
    """Return whether most words of the hypothesis are in the premise.

    >>> is_mostly_covered("A red kite rose over the bay.", "A kite rose.")
    True
    """
    words = [{word.strip(".,;:!?").lower() for word in text.split()} for text in (premise, hypothesis)]
    return len(words[0] & words[1]) >= 0.7 * len(words[1])


def test_dialect_choice(load: Callable[..., Dataset]) -> dict[str, Any]:
    """Test whether chrF scores the same meaning in another dialect above a changed meaning."""
    from sacrebleu import sentence_chrf

    rows = load("dialect").to_list()
    scores = {
        side: [sentence_chrf(row[side], [row["base"]]).score for row in rows] for side in ("dialect", "perturbed")
    }
    result: dict[str, Any] = metrics.win_rate(scores["dialect"], scores["perturbed"])
    return result
