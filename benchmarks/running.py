"""Speed of `lapsus run` beside a bare loop over the same model; writes docs/benchmarks-running.md.

    python benchmarks/running.py [--quick] [SAMPLE]

SAMPLE is a folder that `lapsus build sample` wrote; without it one is built, which takes longer than the measuring.
Some 250 questions of the embedded sample are asked of each of two models. Both ways tokenise the same questions, pad
the same batches and run the same model on one thread; the bare loop keeps the answers in a list, lapsus also judges
them and writes them to disk. Times are CPU seconds, the best of several turns in which both take part. Weights are
random: speed does not depend on them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertForSequenceClassification, LlamaConfig, LlamaForCausalLM

from lapsus.dataset_scripts import benchmarks
from lapsus.evaluation.benchmark_tasks import find_task
from lapsus.evaluation.models.causal import CausalModel
from lapsus.evaluation.models.transformers import Classifier
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tracks import TrackSet, load_tracks
from lapsus.hub.build import build_dataset

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
import endpoint
import tiny_models

ROOT = Path(__file__).parents[1]
QUICK = "--quick" in sys.argv
TURNS = 1 if QUICK else 9
EXAMPLES = 25  # pairs of questions, each on ten tracks
LAYERS = 2 if QUICK else 6
SIZE: dict[str, Any] = {"hidden_size": 384, "num_attention_heads": 6, "num_hidden_layers": LAYERS}
WANTED = 0.95
SERVER_TITLE = "\n\n## A model behind an address\n\nBoth in turns on one machine (`python benchmarks/endpoint.py`).\n\n"


def classifier(data: TrackSet) -> Classifier:
    """Return a classifier of pairs with random weights."""
    words = tiny_models.tokenizer(texts(data), pair="letters")
    labels = dict(enumerate(data.task.answer_type.choices))
    config = BertConfig(vocab_size=len(words), intermediate_size=1536, id2label=labels, **SIZE)
    return Classifier(BertForSequenceClassification(config).eval(), words, "bert", "bert at random", 16, "cpu")


def causal(data: TrackSet) -> CausalModel:
    """Return an instruction model with random weights."""
    words = tiny_models.tokenizer(
        [*(data.task.render_prompt(row) for row in rows(data)), "user assistant"], chat=tiny_models.CHAT
    )
    config = LlamaConfig(vocab_size=len(words), intermediate_size=1024, num_key_value_heads=2, **SIZE)
    return CausalModel(LlamaForCausalLM(config).eval(), words, "llama", "llama at random", 16, "cpu")


def rows(data: TrackSet) -> list[Any]:
    """Return the rows of all tracks."""
    return [row for track in data.tracks.values() for row in track]


def texts(data: TrackSet) -> list[str]:
    """Return what users wrote."""
    return [row[name] for row in rows(data) for name in data.task.inputs]


def questions(data: TrackSet, model: Any) -> Iterator[list[Any]]:
    """Yield the rows that `lapsus run` asks together: examples whole, equal questions once."""
    asked: set[str] = set()
    window: list[Any] = []
    size = 0
    for example in zip(*data.tracks.values(), strict=True):
        size += len(example)
        for row in example:
            key = repr(model.build_prompt(data.task, row))
            if key not in asked:
                asked.add(key)
                window.append(row)
        if size >= model.batch_size:
            yield window
            window, size = [], 0
    if window:
        yield window


def bare_classifier(data: TrackSet, model: Classifier) -> int:
    """Ask the classifier in a loop; return how many questions there were."""
    said = []
    for window in questions(data, model):
        encoded = model.tokenizer(*([row[name] for row in window] for name in data.task.inputs))
        order = sorted(range(len(window)), key=lambda place: -len(encoded["input_ids"][place]))
        for start in range(0, len(order), 16):
            batch = [{name: encoded[name][place] for name in encoded} for place in order[start : start + 16]]
            with torch.inference_mode():
                logits = model.model(**model.tokenizer.pad(batch, return_tensors="pt")).logits
            said += logits.log_softmax(-1).tolist()
    return len(said)


def bare_causal(data: TrackSet, model: CausalModel) -> int:
    """Score the first token of every label in a loop; return how many questions there were."""
    said = []
    labels = [model.tokenizer(word)["input_ids"] for word in data.task.answer_type.choices.values()]
    model.tokenizer.padding_side = "left"
    for window in questions(data, model):
        prompts = [
            model.tokenizer.apply_chat_template(
                [{"role": "user", "content": data.task.render_prompt(row)}], tokenize=False, add_generation_prompt=True
            )
            for row in window
        ]
        encoded = model.tokenizer(prompts, add_special_tokens=False)["input_ids"]
        order = sorted(range(len(window)), key=lambda place: -len(encoded[place]))
        for start in range(0, len(order), 16):
            batch = model.tokenizer.pad(
                {"input_ids": [encoded[p] for p in order[start : start + 16]]}, return_tensors="pt"
            )
            with torch.inference_mode():
                logits = model.model(**batch, logits_to_keep=1, use_cache=False).logits[:, -1].log_softmax(-1)
            said += [[row[label[0]] for label in labels] for row in logits.tolist()]
    return len(said)


def seconds(work: Callable[[], Any]) -> float:
    """Return the processor time of the work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measured(name: str, data: TrackSet, model: Any, bare: Callable[[TrackSet, Any], int]) -> list[str]:
    """Return the cells of a line: questions, both speeds, and their ratio."""
    asked = bare(data, model)  # a first turn for both, which is not counted
    ours, theirs = [], []
    for _ in range(TURNS):
        with tempfile.TemporaryDirectory() as folder:
            run = Evaluation(data, model, Path(folder))
            ours.append(seconds(run.execute))
        theirs.append(seconds(lambda: bare(data, model)))
    fast, bare_fast = asked / min(ours), asked / min(theirs)
    return [name, f"{asked:,}", f"{fast:,.0f}", f"{bare_fast:,.0f}", f"{fast / bare_fast:.3f}", f"{WANTED:g}"]


def main() -> None:
    """Measure, print and write the table."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    built = [word for word in sys.argv[1:] if not word.startswith("-")]
    with tempfile.TemporaryDirectory() as folder:
        sample = built[0] if built else str(build_dataset(benchmarks()["sample"], Path(folder) / "sample").path)
        pairs = load_tracks(sample, find_task("sample-paraphrase")).limit(EXAMPLES)
        intents = load_tracks(sample, find_task("sample-intent"))
        lines = [
            measured("sequence classification", pairs, classifier(pairs), bare_classifier),
            measured("causal, labels by log-likelihood", intents, causal(intents), bare_causal),
        ]
    head = ["model", "questions", "lapsus run, questions a CPU second", "bare loop", "ratio", "aim"]
    table = ["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines)]
    server = endpoint.table()
    print("\n".join(table), server, sep="\n\n")
    if not QUICK:
        size = f"{LAYERS} layers of 384, batches of 16 of like length, one thread, torch {torch.__version__}"
        text = (
            "# Speed of `lapsus run`\n\nQuestions per CPU second of `lapsus run`, which judges every answer and writes "
            "it to disk, beside a bare loop over the same model in the same batches "
            f"(`python benchmarks/running.py`; {size}).\n\n"
        )
        (ROOT / "docs" / "benchmarks-running.md").write_text(
            text + "\n".join(table) + SERVER_TITLE + server + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
