"""The callbacks of transformers' Trainer, with tiny models of four kinds."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers")  # of the extra models

import tiny_models
import torch
from datasets import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments

from lapsus.evaluation.answer_types import FrameAnswer
from lapsus.evaluation.models import open_model
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import Task, make_task
from lapsus.evaluation.tracks import TrackSet, add_noise
from lapsus.integrations.trainer import EpochCallback, NoiseCallback
from lapsus.perturbations import Noise, mix

TEXTS = [("rain now", "weather"), ("a song", "music"), ("snow today", "weather"), ("play it", "music")] * 3
LABELS = ["weather", "music"]
ROWS = [{"id": str(i), "text": text, "label": label} for i, (text, label) in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def data():
    task = make_task(["text"], "label", labels=LABELS)
    return add_noise(TrackSet.from_rows("mine", task, ROWS), ["filler_eos:2"])


def words_of(data, **options):
    """Return a tokenizer of all words of the rows."""
    texts = [row["text"] for rows in data.tracks.values() for row in rows]
    return tiny_models.tokenizer([*texts, *LABELS, "user assistant"], **options)


def make_trainer(model, words, folder, rows, **settings):
    options = {"num_train_epochs": 2, "eval_strategy": "epoch", "save_strategy": "no", "learning_rate": 0.01} | settings
    arguments = TrainingArguments(
        str(folder / "out"), per_device_train_batch_size=4, seed=0, report_to=options.pop("report_to", []),
        use_cpu=True, disable_tqdm=True, **options,
    )  # fmt: skip
    return Trainer(model, arguments, train_dataset=rows, eval_dataset=rows, processing_class=words)


class Logged(TrainerCallback):
    """Sees what W&B, TensorBoard, MLflow and trackio see."""

    def __init__(self):
        self.logs = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.logs.append(dict(logs))


def classify(words, folder, data):
    model = tiny_models.classifier(words, folder / "start", LABELS)
    rows = [dict(words(row["text"])) | {"labels": LABELS.index(row["label"])} for row in ROWS]
    return model, Dataset.from_list(rows), data


def tag(words, folder, _):
    task = Task("slots", ("tokens",), "{tokens}", FrameAnswer(with_intent=False))
    rows = [
        {"id": row["id"], "tokens": row["text"].split(), "tags": ["B-day" if w in {"now", "today"} else "O" for w in row["text"].split()]}
        for row in ROWS
    ]  # fmt: skip
    tags = ["O", "B-day", "I-day"]
    model = tiny_models.tagger(words, folder / "start", tags, [(row["tokens"], row["tags"]) for row in rows[:4]])
    encoded = []
    for row in rows:
        batch = words(row["tokens"], is_split_into_words=True)
        labels = [-100 if place is None else tags.index(row["tags"][place]) for place in batch.word_ids()]
        encoded.append(dict(batch) | {"labels": labels})
    return (
        model,
        Dataset.from_list(encoded),
        add_noise(TrackSet.from_rows("tagged", task.with_label_names({"tags": tags}), rows), ["filler_eos:2"]),
    )


def continue_text(words, folder, data):
    model = tiny_models.causal(words, folder / "start")
    rows = [dict(batch := words(f"<s>user {row['text']} </s><s>assistant {row['label']}")) | {"labels": batch["input_ids"]} for row in ROWS]  # fmt: skip
    return model, Dataset.from_list(rows), data


def translate(words, folder, data):
    model = tiny_models.seq2seq(words, folder / "start")
    rows = [dict(words(row["text"])) | {"labels": words(row["label"])["input_ids"]} for row in ROWS]
    return model, Dataset.from_list(rows), data


@pytest.mark.parametrize("kind", [classify, tag, continue_text, translate])
def test_each_kind_of_model_is_measured_and_logged_while_it_trains(kind, data, tmp_path):
    words = words_of(data, chat=tiny_models.CHAT if kind is continue_text else None)
    model, rows, own = kind(words, tmp_path, data)
    trainer = make_trainer(model, words, tmp_path, rows, per_device_eval_batch_size=1)
    if kind is continue_text:
        trainer.args.per_device_train_batch_size = 1
        trainer._train_batch_size = 1
    if kind in {tag, translate}:
        from transformers import DataCollatorForSeq2Seq, DataCollatorForTokenClassification

        collators = {tag: DataCollatorForTokenClassification, translate: DataCollatorForSeq2Seq}
        trainer.data_collator = collators[kind](words)
    side = words.padding_side = "right"
    logged = Logged()
    trainer.add_callback(logged)
    trainer.add_callback(NoiseCallback(trainer, own))
    trainer.train()
    assert words.padding_side == side, "the Trainer's own tokenizer stays as it is"
    evaluated = [logs for logs in logged.logs if "eval_noise_clean" in logs]
    assert len(evaluated) == 2 and trainer.state.log_history[-2]["step"] == trainer.state.global_step
    for logs in evaluated:
        for name in ("clean", "filler_eos_average", "filler_eos_worst"):
            low, value, high = (logs[f"eval_noise_{name}{end}"] for end in ("_low", "", "_high"))
            assert 0 <= low <= value <= high <= 1 and low < high
        assert logs["eval_noise_filler_eos_worst"] <= logs["eval_noise_filler_eos_average"] and logs["epoch"] > 0
    trainer.save_model(tmp_path / "trained")
    tracks = Evaluation(own, open_model(f"hf:{tmp_path / 'trained'}")).execute().tracks
    by_id = list(zip(*([row["score"] for row in track.rows] for track in tracks[1:]), strict=True))
    assert evaluated[-1]["eval_noise_clean"] == pytest.approx(sum(row["score"] for row in tracks[0].rows) / len(ROWS))
    assert evaluated[-1]["eval_noise_filler_eos_worst"] == pytest.approx(sum(map(min, by_id)) / len(ROWS))
    assert evaluated[-1]["eval_noise_filler_eos_average"] == pytest.approx(sum(map(sum, by_id)) / 2 / len(ROWS))


def test_the_best_checkpoint_is_the_one_that_is_best_at_its_worst(data, tmp_path):
    words = words_of(data)
    model, rows, _ = classify(words, tmp_path, data)
    best = {"metric_for_best_model": "noise_filler_eos_worst", "save_strategy": "best", "num_train_epochs": 6}
    trainer = make_trainer(model, words, tmp_path, rows, report_to=["tensorboard"], **best)
    trainer.add_callback(NoiseCallback(trainer, data))
    trainer.train()
    logged = [line for line in trainer.state.log_history if "eval_noise_clean" in line]
    assert [line["step"] for line in logged] == [3, 6, 9, 12, 15, 18]
    assert trainer.state.best_metric == max(line["eval_noise_filler_eos_worst"] for line in logged)
    assert trainer.evaluate()["eval_noise_clean"] == logged[-1]["eval_noise_clean"], "the caller's metrics hold it"
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    board = events.EventAccumulator(str(next((tmp_path / "out").rglob("events*")).parent)).Reload()
    seen = [event.value for event in board.Scalars("eval/noise_filler_eos_worst")]
    assert seen[:6] == pytest.approx([line["eval_noise_filler_eos_worst"] for line in logged])


def test_what_cannot_be_measured_is_refused_when_the_callback_is_made(data, tmp_path):
    words = words_of(data)
    model, rows, _ = classify(words, tmp_path, data)
    trainer = make_trainer(model, words, tmp_path, rows)
    frames = Task("frames", ("text",), "{text}", FrameAnswer())
    framed = TrackSet.from_rows("framed", frames, [{"id": "a", "text": "rain", "intent": "ask", "slots": []}])
    other = make_task(["text"], "label", labels=["yes", "no"])
    others = TrackSet.from_rows("others", other, [{"id": "a", "text": "rain", "label": "yes"}])
    for given, message in (
        ((data, words), r"NoiseCallback needs the Trainer, not TrackSet; write trainer\.add_callback"),
        ((trainer, TrackSet.from_rows("mine", data.task, ROWS)), "mine has one track, 'clean'; add one with add_noise"),
        ((trainer, add_noise(framed, ["filler_eos"])), "model is a classifier"),
        ((trainer, add_noise(others, ["filler_eos"])), "model has the labels"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            NoiseCallback(*given)
    with pytest.raises(ValueError, match="the Trainer has no tokenizer"):
        NoiseCallback(make_trainer(model, None, tmp_path, rows), data)
    with pytest.raises(ValueError, match="'noise_typing_worst', but mine gives noise_clean, noise_filler_eos_average"):
        NoiseCallback(make_trainer(model, words, tmp_path, rows, metric_for_best_model="noise_typing_worst"), data)
    bare = make_trainer(tiny_models.causal(words, tmp_path / "causal"), words, tmp_path, rows)
    with pytest.raises(ValueError, match=r"no chat template.*chat_template=False"):
        NoiseCallback(bare, data)
    assert NoiseCallback(bare, data, chat_template=False)
    unknown = make_trainer(torch.nn.Linear(1, 1), words, tmp_path, rows)
    with pytest.raises(TypeError, match="encoder-decoders and causal models, not Linear; leave it out"):
        NoiseCallback(unknown, data)


class Seen:
    """Tokenizes a batch, and remembers its texts by epoch."""

    def __init__(self, words, transform):
        self.words, self.transform, self.batches = words, transform, []

    def __call__(self, rows):
        noisy = self.transform(rows)
        self.batches.append((self.transform.epoch, dict(zip(noisy["id"], noisy["text"], strict=True))))
        encoded = self.words(noisy["text"], padding="max_length", max_length=8)
        return dict(encoded) | {"labels": [LABELS.index(label) for label in noisy["label"]]}

    def by_epoch(self):
        epochs = {}
        for epoch, texts in self.batches:
            epochs.setdefault(epoch, {}).update(texts)
        return epochs


@pytest.mark.parametrize("stream", [False, True])
def test_every_epoch_has_its_noise_also_after_a_resume_in_its_middle(data, tmp_path, stream):
    noise = Noise(mix({"filler_eos": 1, "filler_bos": 1}), text="text", id="id", seed=5)
    expected = [dict(zip([r["id"] for r in ROWS], noise.transform(epoch)(Dataset.from_list(ROWS)[:])["text"], strict=True)) for epoch in range(3)]  # fmt: skip
    words = words_of(data)

    def train(folder, **options):
        seen = Seen(words, noise.transform())
        rows = Dataset.from_list(ROWS)
        if stream:
            rows = rows.to_iterable_dataset().map(seen, batched=True, batch_size=4, remove_columns=rows.column_names)
        else:
            rows = rows.with_transform(seen)
        model = tiny_models.classifier(words, folder / "start", LABELS)
        length = {"max_steps": 9} if stream else {"num_train_epochs": 3}
        settings = {"save_strategy": "steps", "save_steps": 2, "eval_strategy": "no", "remove_unused_columns": False}
        trainer = make_trainer(model, words, folder, rows, **settings, **length)
        trainer.add_callback(EpochCallback(seen.transform))
        trainer.train(**options)
        return seen.by_epoch()

    epochs = train(tmp_path)
    assert [epochs[n] for n in range(3)] == expected
    if not stream:
        resumed = train(tmp_path, resume_from_checkpoint=str(tmp_path / "out" / "checkpoint-4"))
        assert set(resumed) == {1, 2} and resumed[2] == expected[2]
        assert len(resumed[1]) == 8 and resumed[1] == {key: expected[1][key] for key in resumed[1]}
