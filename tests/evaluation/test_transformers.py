"""Models of transformers: the same numbers as a bare loop, and no number that misleads."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace

import pytest

pytest.importorskip("transformers")  # of the extra models

import tiny_models
import torch

from lapsus import run
from lapsus.core.types import Example
from lapsus.evaluation.answer_types import FrameAnswer, LabelAnswer, SpanAnswer, TranslationAnswer
from lapsus.evaluation.models import make_request, open_model
from lapsus.evaluation.models.transformers import find_best_span, match_labels
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import Task, make_task
from lapsus.evaluation.tracks import TrackSet

TEXTS = [
    "will it rain today in the town",
    "play a song of the band",
    "is there snow in the north",
    "turn the music up now please",
]
LABELS = ["weather", "music", "weather", "music"]
ROWS = [{"id": str(i), "text": text, "label": label} for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True))]
TASK = make_task(["text"], "label", labels=["music", "weather"])
FILLERS = ["please and thank you would you can you if you can please would you please thank you ? , right okay"]


def respond(model, task, rows):
    """Return the index and the response of each row."""
    return model.respond(task, [make_request(model, task, Example(row["id"], "clean", row)) for row in rows])


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classifier")
    words = tiny_models.tokenizer([*TEXTS, *FILLERS])
    tiny_models.classifier(words, folder, ["weather", "music"], list(zip(TEXTS, LABELS, strict=True)))
    return folder


def test_a_classifier_answers_by_its_own_labels(classifier):
    tracks = run(TASK, ROWS, f"hf:{classifier}", noise=["filler_eos:2"], batch_size=2)
    assert [row["prediction"] for row in tracks[0].rows] == LABELS
    assert len(tracks) == 3 and all(len(track.rows) == 4 for track in tracks)


def test_batches_by_length_give_what_single_texts_give(classifier):
    model = open_model(f"hf:{classifier}", {"batch_size": 3})
    together = dict(respond(model, TASK, ROWS))
    for place, row in enumerate(ROWS):
        alone = dict(respond(model, TASK, [row]))[0]
        with torch.inference_mode():
            bare = model.model(**model.tokenizer(row["text"], return_tensors="pt")).logits.log_softmax(-1)[0].tolist()
        assert together[place].value == alone.value
        assert [together[place].logprobs[name] for name in ("weather", "music")] == pytest.approx(bare, abs=1e-5)


def test_labels_are_mapped_by_name_and_never_by_number(classifier, tmp_path):
    words = tiny_models.tokenizer(TEXTS)
    tiny_models.classifier(words, tmp_path, ["LABEL_0", "LABEL_1"])
    with pytest.raises(ValueError, match=r"--label-map LABEL_0=music,LABEL_1=weather"):
        run(TASK, ROWS, f"hf:{tmp_path}")
    one = run(TASK, ROWS, f"hf:{tmp_path}", label_map={"LABEL_0": "music", "LABEL_1": "weather"})[0]
    other = run(TASK, ROWS, f"hf:{tmp_path}", label_map={"LABEL_1": "music", "LABEL_0": "weather"})[0]
    assert all(a["prediction"] != b["prediction"] for a, b in zip(one.rows, other.rows, strict=True))
    with pytest.raises(ValueError, match="has the labels weather, music, the task calm, storm"):
        run(
            make_task(["text"], "label"),
            [row | {"label": "storm" if row["label"] == "weather" else "calm"} for row in ROWS],
            f"hf:{classifier}",
        )


def test_names_of_labels():
    wanted = ["not_entailed", "entailed"]
    assert match_labels(["entailment", "neutral", "contradiction"], wanted, {}, "") == [
        "entailed",
        "not_entailed",
        "not_entailed",
    ]
    assert match_labels(["a", "b"], [], {}, "") == ["a", "b"]
    with pytest.raises(ValueError, match="can never answer maybe; give a model that was trained on this task"):
        match_labels(["entailment", "not_entailment"], [*wanted, "maybe"], {}, "m has the labels")
    with pytest.raises(ValueError, match=r"--label-map LABEL_1=not_entailed$"):
        match_labels(["entailment", "LABEL_1"], wanted, {}, "m has the labels")


def test_missing_weights_are_no_model(classifier, tmp_path):
    config = json.loads((classifier / "config.json").read_text())
    from transformers import BertModel

    BertModel.from_pretrained(classifier).save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"lacks the weights of .*would be random"):
        open_model(f"hf:{tmp_path}")


def test_a_long_text_is_counted_and_never_cut(classifier):
    rows = [*ROWS, {"id": "long", "text": "rain " * 100, "label": "weather"}]
    outcome = Evaluation(TrackSet.from_rows("mine", TASK, rows), open_model(f"hf:{classifier}")).execute()
    (problem,) = outcome.errors.items()
    assert problem[0].startswith("longer than the 64 tokens") and problem[1] == 1
    assert outcome.unparsed == 1 and outcome.tracks[0].rows[-1]["score"] == 0.0


TAGS = ["O", "B-genre", "I-genre"]
SAID = [(["play", "new", "wave"], ["O", "B-genre", "I-genre"]), (["stop", "the", "jazz"], ["O", "O", "B-genre"])]


def test_a_tagger_tags_words_through_noise(tmp_path):
    words = tiny_models.tokenizer([" ".join(tokens) for tokens, _ in SAID] + FILLERS)
    tiny_models.tagger(words, tmp_path, TAGS, SAID)
    task = Task("slots", ("tokens",), "{tokens}", FrameAnswer(with_intent=False)).with_label_names({"tags": TAGS})
    rows = [{"id": str(i), "tokens": tokens, "tags": tags} for i, (tokens, tags) in enumerate(SAID)]
    clean, noisy = run(task, rows, f"hf:{tmp_path}", noise=["filler_eos"])
    assert [row["score"] for row in clean.rows] == [1.0, 1.0]
    assert clean.rows[0]["slots"] == [["genre", "new wave"]] and len(noisy.rows) == 2
    other = task.with_label_names({"tags": ["O", "B-artist"]})
    with pytest.raises(ValueError, match="does not know the slots artist"):
        run(other, rows, f"hf:{tmp_path}")
    with pytest.raises(TypeError, match="names no intent"):
        run(replace(task, answer_type=FrameAnswer()), [row | {"intent": "play"} for row in rows], f"hf:{tmp_path}")


def test_a_reader_reads_all_of_a_long_passage(tmp_path):
    context = " ".join(f"w{i}" for i in range(300))
    words = tiny_models.tokenizer([context, "which word is it"])
    tiny_models.reader(words, tmp_path, length=64)
    model = open_model(f"hf:{tmp_path}")
    task = Task("qa", ("question",), "{question}", SpanAnswer(), context=("context",))
    said = dict(respond(model, task, [{"id": "a", "question": "which word is it", "context": context}]))[0].value
    assert said and said in context
    # the likeliest span of all windows, by a slow reading of each window
    best = None
    for start in range(300):
        piece = " ".join(f"w{i}" for i in range(start, min(300, start + 40)))
        if said in piece:
            best = piece
    assert best


@pytest.mark.parametrize("seed", range(40))
def test_the_best_span_is_that_of_a_search_of_all(seed):
    rng, number = random.Random(seed), 12
    starts, ends = ([rng.randint(-3, 3) for _ in range(number)] for _ in "se")  # many are equal: the first one wins
    inside = [rng.random() < 0.7 for _ in range(number)]
    longest = rng.randint(1, number + 2)
    spans = [(first, last) for first in range(number) for last in range(first, min(first + longest, number))]
    scores = {(a, b): starts[a] + ends[b] for a, b in spans if inside[a] and inside[b]}
    assert find_best_span(starts, ends, inside, longest)[1:] == max(scores, key=scores.__getitem__, default=(0, 0))


def test_a_reader_says_that_there_is_no_answer_where_its_first_token_scores_highest(tmp_path):
    words = tiny_models.tokenizer(["one two three four", "which word is it"])
    tiny_models.reader(words, tmp_path, length=64)
    model = open_model(f"hf:{tmp_path}")
    task = Task("qa", ("question",), "{question}", SpanAnswer(unanswerable="unanswerable"), context=("context",))
    row = {"id": "a", "question": "which word is it", "context": "one two three four"}

    length = len(model.tokenizer(row["question"], row["context"])["input_ids"])
    for first, said in ((5.0, "unanswerable"), (0.0, "one")):
        logits = torch.tensor([[first] + [1.0] * (length - 1)])
        object.__setattr__(model, "model", Fake(logits))  # the model is frozen
        assert dict(respond(model, task, [row]))[0].value == said
        assert dict(respond(model, replace(task, answer_type=SpanAnswer()), [row]))[0].value == "one"


class Fake:
    """A model that gives the same logits to every window."""

    def __init__(self, logits):
        self.start_logits = self.end_logits = logits

    device = torch.device("cpu")
    config = None  # without a limit of its own

    def __call__(self, **windows):
        return self


def test_a_writer_translates_the_text_alone(tmp_path):
    words = tiny_models.tokenizer(TEXTS)
    tiny_models.seq2seq(words, tmp_path)
    task = Task("translate", ("text",), "Translate: {text}", TranslationAnswer("label"))
    model = open_model(f"hf:{tmp_path}", {"batch_size": 2})
    assert model.build_prompt(task, ROWS[0]) == TEXTS[0]
    track = run(task, ROWS, model)[0]
    alone = [run(task, [row], model)[0].rows[0]["response"] for row in ROWS]
    assert [row["response"] for row in track.rows] == alone


QUESTION = "{text} Is it about weather or music ?"
WORDS = {"weather": "the weather now", "music": "music"}


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    folder = tmp_path_factory.mktemp("causal")
    words = tiny_models.tokenizer([*TEXTS, QUESTION, "user assistant", *WORDS.values()], chat=tiny_models.CHAT)
    tiny_models.causal(words, folder)
    return folder


def instructed(words=None):
    return Task("about", ("text",), QUESTION, LabelAnswer("label", words or WORDS))


def bare_likelihood(model, tokenizer, prompt, ending):
    before = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    whole = tokenizer(prompt + ending, add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        likely = model(torch.tensor([whole])).logits.float().log_softmax(-1)[0]
    return sum(likely[place - 1, whole[place]].item() for place in range(len(before), len(whole)))


def test_labels_are_scored_as_a_bare_forward_pass_does(causal):
    model = open_model(f"hf:{causal}", {"batch_size": 3})
    found = dict(respond(model, instructed(), ROWS))
    for place, row in enumerate(ROWS):
        prompt = f"<s>user {row['text']} Is it about weather or music ?</s><s>assistant "
        for label, word in WORDS.items():
            bare = bare_likelihood(model.model, model.tokenizer, prompt, word)
            assert found[place].logprobs[label] == pytest.approx(bare, abs=1e-4)
        assert found[place].value == max(WORDS, key=found[place].logprobs.__getitem__)
    assert len({math.floor(answer.logprobs["music"] * 10) for answer in found.values()}) > 1, "prompts differ"


@pytest.mark.parametrize(
    "words",
    [
        {"weather": "music", "music": "music"},
        {"weather": "the weather now", "music": "the weather"},
        {"weather": "unseen", "music": "neverseen"},
    ],
)
def test_labels_that_tokenise_alike_are_refused(causal, words):
    if words["weather"] == words["music"]:
        words = words | {"music": "music "}
    with pytest.raises(ValueError, match="as the same tokens"):
        open_model(f"hf:{causal}").prepare(instructed(words))


def test_an_instruction_model_writes_where_there_are_no_labels(causal):
    task = make_task(["text"], "label")
    model = open_model(f"hf:{causal}", {"batch_size": 3})
    together = [row["response"] for row in run(task, ROWS, model)[0].rows]
    assert together == [run(task, [row], model)[0].rows[0]["response"] for row in ROWS]


def test_without_a_chat_template_it_is_no_instruction_model(tmp_path):
    words = tiny_models.tokenizer([*TEXTS, QUESTION, *WORDS.values()])
    tiny_models.causal(words, tmp_path)
    with pytest.raises(ValueError, match=r"no chat template.*--no-chat-template"):
        run(instructed(), ROWS, f"hf:{tmp_path}")
    (row, *_) = run(instructed(), ROWS, f"hf:{tmp_path}", chat_template=False)[0].rows
    model = open_model(f"hf:{tmp_path}")
    prompt = (
        f"<s> {QUESTION.format(text=ROWS[0]['text'])}"  # its tokenizer ends every text, which must not stand between
    )
    for label, word in WORDS.items():
        assert row["label_logprobs"][label] == pytest.approx(
            bare_likelihood(model.model, model.tokenizer, prompt, f" {word}"), abs=1e-4
        )


def test_a_model_that_is_nowhere_is_named(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        FileNotFoundError, match="there is no folder no-such-model, and the Hub gives no model of this id"
    ):
        open_model("hf:no-such-model")


def test_wrong_kinds_of_models_are_refused(classifier, tmp_path):
    with pytest.raises(TypeError, match="does not ask for a label"):
        run(
            Task("qa", ("text",), "{text}", SpanAnswer("label")),
            [row | {"label": {"text": ["x"]}} for row in ROWS],
            f"hf:{classifier}",
        )
    with pytest.raises(FileNotFoundError, match=r"no config\.json"):
        open_model(f"hf:{tmp_path}")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        open_model("hf:./nowhere")


def test_other_weights_are_another_model(classifier, tmp_path):
    before = open_model(f"hf:{classifier}").identity
    assert open_model(f"hf:{classifier}").identity == before
    words = tiny_models.tokenizer([*TEXTS, *FILLERS])
    tiny_models.classifier(words, tmp_path, ["weather", "music"])
    assert open_model(f"hf:{tmp_path}").identity.partition(" at ")[2] != before.partition(" at ")[2]
