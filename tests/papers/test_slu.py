"""The small joint model: it learns, it is the same each time, and it leaves the caller's state alone."""

from __future__ import annotations

import json

import pytest
from paths import ROOT

torch = pytest.importorskip("torch")

from lapsus.core.bio import extract_slots  # noqa: E402 - torch first, or nothing
from lapsus.papers.slu import SluModel, Vocabulary, train  # noqa: E402 - likewise

SAMPLE = ROOT / "dataset_scripts" / "sample_data" / "slu.jsonl"
ROWS = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
TRAIN = [row for row in ROWS if row["split"] != "test"]
TEST = [row for row in ROWS if row["split"] == "test"]


@pytest.fixture(scope="module")
def model():
    return train(TRAIN, epochs=2, seed=1, batch_size=8)


@pytest.mark.slow
def test_it_learns_intents_and_slots_from_a_small_sample():
    model = train(TRAIN, epochs=25, seed=1, batch_size=8)
    frames = model.predict([row["tokens"] for row in TEST])
    intents = [frame["intent"] == row["intent"] for frame, row in zip(frames, TEST, strict=True)]
    true, read = (
        [set(extract_slots(row["tags"])) for row in TEST],
        [set(extract_slots(frame["tags"])) for frame in frames],
    )
    found = sum(len(a & b) for a, b in zip(true, read, strict=True))
    assert sum(intents) / len(intents) > 0.5  # of eight
    assert 2 * found / (sum(map(len, true)) + sum(map(len, read))) > 0.25


def test_a_frame_has_one_tag_per_token_for_any_utterance(model):
    odd = [["unheard", "of", "🦜"], [], ["play"], ["x"] * 70]
    assert [len(frame["tags"]) for frame in model.predict(odd)] == [3, 0, 1, 70]
    assert model.predict([]) == []


def test_frames_do_not_depend_on_the_batch(model):
    utterances = [row["tokens"] for row in TEST]
    assert model.predict(utterances) == model.predict(utterances, batch_size=3)
    losses = model.compute_losses(TEST)
    assert losses == pytest.approx(model.compute_losses(TEST, batch_size=3), rel=1e-4)
    assert model.compute_losses(TEST[::-1])[::-1] == pytest.approx(losses, rel=1e-4)


def test_a_loss_is_the_improbability_of_the_true_frame(model):
    (frame,) = model.predict([TEST[0]["tokens"]])
    right = {"tokens": TEST[0]["tokens"], **frame}
    wrong = {**right, "intent": next(name for name in model.vocabulary.intents if name != frame["intent"])}
    unknown = {**right, "intent": "never_seen"}
    best, worse, impossible = model.compute_losses([right, wrong, unknown])
    assert 0 <= best < worse < impossible == float("inf")


def test_it_reads_back_what_it_saved(model, tmp_path):
    model.save(tmp_path / "model.pt")
    again = SluModel.load(tmp_path / "model.pt")
    assert again.vocabulary == model.vocabulary
    assert again.compute_losses(TEST) == model.compute_losses(TEST)


def test_the_same_seed_gives_the_same_weights_and_touches_no_state_of_the_caller():
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    first, second, other = (train(TRAIN[:24], epochs=2, seed=seed) for seed in (3, 3, 4))
    torch.rand(3)
    assert torch.get_num_threads() == threads
    torch.set_rng_state(state)
    same, different = (
        [torch.equal(a, b) for a, b in zip(first.network.parameters(), net.network.parameters(), strict=True)]
        for net in (second, other)
    )
    assert all(same)
    assert not all(different)


def test_training_leaves_the_global_random_stream_alone():
    torch.manual_seed(5)
    expected = torch.rand(4)
    torch.manual_seed(5)
    with pytest.raises(ValueError, match="epochs is 0: give how often all rows are read"):
        train(TRAIN[:8], epochs=0)
    train(TRAIN[:8], epochs=1)
    assert torch.equal(torch.rand(4), expected)


def test_the_epoch_that_reads_most_of_dev_right_is_kept():
    dev = TRAIN[:24]
    kept = train(TRAIN[:24], dev, epochs=12)
    last = train(TRAIN[:24], epochs=12)

    def right(model):
        frames = model.predict([row["tokens"] for row in dev])
        return sum(
            frame == {"intent": row["intent"], "tags": row["tags"]} for frame, row in zip(frames, dev, strict=True)
        )

    assert right(kept) >= right(last)


def test_the_vocabulary_does_not_depend_on_the_order_of_rows():
    assert Vocabulary.from_examples(TRAIN) == Vocabulary.from_examples(TRAIN[::-1])


def test_nothing_to_train_on_is_one_sentence():
    with pytest.raises(ValueError, match="no examples to train on"):
        train([])


def test_an_empty_utterance_has_an_intent_to_learn_and_no_tags():
    rows = [{"tokens": ["play", "jazz"], "tags": ["O", "B-genre"], "intent": "play"}] * 4
    empty = {"tokens": [], "tags": [], "intent": "silence"}
    model = train([*rows, *[empty] * 4], epochs=20, batch_size=4)  # some batches hold empty ones alone
    assert model.predict([[], ["play", "jazz"]]) == [
        {"intent": "silence", "tags": []},
        {"intent": "play", "tags": ["O", "B-genre"]},
    ]


def test_the_stack_network_learns_saves_and_lets_the_tagger_read_the_intent(tmp_path):
    rows = [{"tokens": ["play", "jazz"], "tags": ["O", "B-genre"], "intent": "play"}] * 8
    rows += [{"tokens": ["weather", "there"], "tags": ["O", "B-place"], "intent": "weather"}] * 8
    stack = train(rows, epochs=20, network="stack", batch_size=8)
    said = [["play", "jazz"], ["weather", "there"]]
    assert stack.predict(said) == [{key: row[key] for key in ("intent", "tags")} for row in (rows[0], rows[8])]
    assert stack.predict([[]])[0]["tags"] == []
    stack.save(tmp_path / "stack.pt")
    again = SluModel.load(tmp_path / "stack.pt")
    assert type(again.network).__name__ == "StackNetwork"
    assert again.compute_losses(rows) == pytest.approx(stack.compute_losses(rows))
    assert {tag for frame in stack.predict(said) for tag in frame["tags"]} != {"B-genre"}
    with torch.no_grad():
        stack.network.intent.bias[stack.vocabulary.intents.index("play")] += 50  # all tokens now mean "play"
        stack.network.tag.weight[:, :-2] = 0  # the tagger sees the intent alone
        stack.network.tag.weight[stack.vocabulary.tags.index("B-genre"), -2:] = torch.tensor([50.0, 0.0])
    assert {tag for frame in stack.predict(said) for tag in frame["tags"]} == {"B-genre"}


def test_padding_changes_no_answer_of_the_stack_network():
    rows = [{"tokens": ["play", "jazz"], "tags": ["O", "B-genre"], "intent": "play"}] * 8
    rows += [{"tokens": ["weather"] * 9, "tags": ["O"] * 9, "intent": "weather"}] * 8
    stack = train(rows, epochs=3, network="stack", batch_size=8)
    assert stack.compute_losses(rows) == pytest.approx(stack.compute_losses(rows, batch_size=1), rel=1e-4)


def test_an_unknown_network_is_refused():
    with pytest.raises(ValueError, match="choose one of joint, stack"):
        train([{"tokens": ["a"], "tags": ["O"], "intent": "x"}], network="bert")
