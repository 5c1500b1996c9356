"""Noise while a model trains: a function of (seed, epoch, key), whatever reads the rows."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from datasets import ClassLabel, Dataset, Features, List, Value

from lapsus.core.edits import parse_edits
from lapsus.perturbations import OPERATORS, Mixture, Noise, NoiseTransform, apply, mix
from lapsus.perturbations.core import Clean, Shout
from lapsus.perturbations.streams import find_block

TEXTS = [f"please play the {kind} song number {i} right now" for i in range(10) for kind in ("new", "old", "best")]
ROWS = [{"id": f"u{i}", "text": text, "label": i % 3} for i, text in enumerate(TEXTS)]
OPERATOR_NAMES = ("en_keyboard", "filler_eos", "speako")


@pytest.fixture
def rows():
    return Dataset.from_list(ROWS)


def noise_of(name="en_keyboard", **settings):
    return Noise(OPERATORS[name], **{"text": "text", "id": "id"} | settings)


def texts_by_id(batches):
    return {row_id: text for batch in batches for row_id, text in zip(batch["id"], batch["text"], strict=True)}


@pytest.mark.parametrize("name", OPERATOR_NAMES)
def test_epoch_0_is_the_noise_of_map_and_later_epochs_are_others(rows, name):
    noise = noise_of(name)
    transform = noise.transform()
    noisy = rows.with_transform(transform)
    epochs = []
    for epoch in range(3):
        transform.set_epoch(epoch)
        assert noise.transform(epoch)(rows[:]) == noisy[:], "an epoch that is set is one that is given"
        epochs.append(noisy[:]["text"])
    assert epochs[0] == noise.map(rows)["text"][:]
    for first, second in ((0, 1), (1, 2), (0, 2)):
        same = sum(a == b for a, b in zip(epochs[first], epochs[second], strict=True))
        assert same < 0.9 * len(rows), f"epochs {first} and {second} agree in {same} of {len(rows)} rows"
    transform.set_epoch(1)
    assert noisy[:]["text"] == epochs[1], "an epoch comes back"


def test_every_column_stays_and_edits_come_when_asked_for(rows):
    plain = rows.with_transform(noise_of().transform())[:]
    assert list(plain) == ["id", "text", "label", "clean_text"]
    assert plain["clean_text"] == TEXTS and plain["label"] == [row["label"] for row in ROWS]
    full = rows.with_transform(noise_of(reason_column="why").transform(epoch=2, edits=True))[:]
    assert list(full) == ["id", "text", "label", "clean_text", "edits", "operator", "why"]
    assert full["text"] == [apply(t, parse_edits(e)) for t, e in zip(TEXTS, full["edits"], strict=True)]
    assert {origin.rpartition(") ")[2] for origin in full["operator"]} == {"seed=0 epoch=2"}
    assert "why" not in rows.with_transform(noise_of(reason_column="why").transform())[:]


def test_rows_that_hold_edits_keep_them_true(rows):
    once = noise_of("filler_eos").map(rows)
    twice = once.with_transform(noise_of("en_keyboard").transform(epoch=1))[:]
    assert list(twice) == once.column_names and twice["clean_text"] == TEXTS
    assert twice["text"] == [apply(t, parse_edits(e)) for t, e in zip(TEXTS, twice["edits"], strict=True)]


@pytest.mark.parametrize("name", OPERATOR_NAMES)
def test_order_batches_and_single_rows_do_not_matter(rows, name):
    noisy = rows.with_transform(noise_of(name).transform(epoch=3))
    whole = texts_by_id([noisy[:]])
    assert whole == texts_by_id(noisy.shuffle(seed=1)[i : i + 7] for i in range(0, len(rows), 7))
    assert whole == {row["id"]: row["text"] for row in (noisy[i] for i in reversed(range(len(rows))))}
    stream = rows.to_iterable_dataset(num_shards=3)
    for options in ({"batched": True, "batch_size": 4}, {"batched": False}):
        assert whole == {row["id"]: row["text"] for row in stream.map(noise_of(name).transform(epoch=3), **options)}


def test_without_ids_the_text_is_the_key():
    rows = Dataset.from_list([{"text": text} for text in TEXTS])
    epochs = [rows.with_transform(noise_of(id=None).transform(epoch)) for epoch in (0, 1)]
    assert epochs[0][:]["text"] == noise_of(id=None).map(rows)["text"][:] != epochs[1][:]["text"]
    assert epochs[1][:]["text"][3:5] == epochs[1][3:5]["text"] == epochs[1].select([3, 4])[:]["text"]


def test_the_columns_of_a_row_are_one_session_and_a_block_stays_one():
    pairs = Dataset.from_list(
        [{"id": str(i), "a": "花呗怎么提前还款", "b": "借呗怎么提前还款", "label": 1} for i in range(20)]
    )
    noise = Noise(OPERATORS["zh_keyboard"], text=("a", "b"), id="id")
    noisy = pairs.with_transform(noise.transform(epoch=1))[:]
    assert list(noisy) == ["id", "a", "b", "label", "clean_a", "clean_b"]
    assert noisy["a"] != noise.map(pairs)["a"][:]
    assert find_block("epoch 1/1299") == "epoch 1/12"


def test_the_users_turns_change_in_every_epoch_and_no_other():
    talk = [{"role": "user", "content": "play the song"}, {"role": "assistant", "content": "which one"}] * 2
    rows = Dataset.from_list([{"id": f"c{i}", "messages": talk} for i in range(10)])
    noise = Noise(OPERATORS["filler_eos"], text="messages", id="id")
    epochs = [rows.with_transform(noise.transform(epoch))[:]["messages"] for epoch in range(2)]
    assert epochs[0] != epochs[1]
    for conversation in (*epochs[0], *epochs[1]):
        assert [turn["content"] == old["content"] for turn, old in zip(conversation, talk, strict=True)] == [
            False,
            True,
        ] * 2


def test_tags_follow_their_tokens_in_every_epoch():
    features = Features({"id": Value("string"), "tokens": List(Value("string")), "tags": List(ClassLabel(names=["O", "B-x", "I-x"]))})  # fmt: skip
    rows = Dataset.from_list([{"id": "a", "tokens": ["play", "the", "song"], "tags": [0, 1, 2]}] * 5, features=features)
    noise = Noise(OPERATORS["filler_eos"], text="tokens", id="id", tags="tags").fit_to_features(features)
    for epoch in range(3):
        for row in rows.with_transform(noise.transform(epoch)):
            assert len(row["tokens"]) == len(row["tags"]) > 3 and row["tags"][:3] == [0, 1, 2]
            assert row["clean_tokens"] == ["play", "the", "song"]


def test_answers_move_and_protected_words_stay():
    text = "the capital of france is paris they say and nobody doubts it"
    answers = {"text": ["paris"], "answer_start": [text.index("paris")]}
    rows = Dataset.from_list([{"id": str(i), "text": text, "answers": answers} for i in range(20)])
    transform = noise_of(answers="answers", protect=("france",)).transform()
    for epoch in range(3):
        transform.set_epoch(epoch)
        noisy = rows.with_transform(transform)[:]
        assert set(noisy["text"]) != {text}
        for changed, moved in zip(noisy["text"], noisy["answers"], strict=True):
            start, answer = moved["answer_start"][0], moved["text"][0]
            assert "france" in changed and changed[start : start + len(answer)] == answer and answer.startswith("par")


def test_every_selection_is_in_the_epoch_that_is_set(rows):
    transform = noise_of().transform()
    noisy = rows.with_transform(transform)
    copies = [noisy.select(range(9)), noisy.shuffle(seed=0).select_columns(["id", "text"]), copy.deepcopy(noisy)]
    transform.set_epoch(4)
    whole = texts_by_id([rows.with_transform(noise_of().transform(epoch=4))[:]])
    for selection in copies:
        got = texts_by_id([selection[:]])
        assert got and got == {row_id: whole[row_id] for row_id in got}


def test_what_is_pickled_is_in_the_same_epoch_and_another_epoch_has_another_fingerprint(rows):
    transform = noise_of().transform(epoch=2)
    assert pickle.loads(pickle.dumps(transform))(rows[:]) == transform(rows[:])  # noqa: S301 - our own
    fingerprints = {rows.with_transform(noise_of().transform(epoch))._fingerprint for epoch in (0, 1, 1)}
    assert len(fingerprints) == 2
    with_map = [rows.map(noise_of().transform(epoch), batched=True)["text"][:] for epoch in (0, 1)]
    assert with_map[0] != with_map[1]


def test_a_loader_gives_the_same_bytes_for_any_number_of_workers(rows):
    torch = pytest.importorskip("torch")
    transform = noise_of().transform()
    noisy = rows.with_transform(transform)
    expected = [texts_by_id([rows.with_transform(noise_of().transform(epoch))[:]]) for epoch in range(3)]
    for n_workers in (0, 1, 2):
        options = {"num_workers": n_workers, "persistent_workers": n_workers > 0}
        loader = torch.utils.data.DataLoader(noisy, batch_size=4, shuffle=True, **options)
        for epoch in range(3):
            transform.set_epoch(epoch)
            assert texts_by_id(loader) == expected[epoch], f"epoch {epoch}, {n_workers} workers"


@pytest.mark.slow
def test_running_workers_of_every_start_method_hear_of_the_next_epoch(rows):
    torch = pytest.importorskip("torch")
    transform = noise_of().transform()
    stream = rows.to_iterable_dataset(num_shards=2).map(transform, batched=True)
    expected = [texts_by_id([rows.with_transform(noise_of().transform(epoch))[:]]) for epoch in range(2)]
    for dataset, method in ((rows.with_transform(transform), "spawn"), (stream, "forkserver"), (stream, "fork")):
        loader = torch.utils.data.DataLoader(
            dataset, batch_size=4, num_workers=2, persistent_workers=True, multiprocessing_context=method
        )
        for epoch in range(2):
            transform.set_epoch(epoch)
            assert texts_by_id(loader) == expected[epoch], (type(dataset).__name__, method, epoch)


def test_a_stream_goes_on_in_the_middle_of_an_epoch(rows):
    transform = noise_of().transform(epoch=5)
    stream = rows.to_iterable_dataset(num_shards=2).map(transform, batched=True, batch_size=4)
    whole = [row["text"] for row in stream]
    first = []
    for row in stream:
        first.append(row["text"])
        if len(first) == 10:
            state = stream.state_dict()
            break
    again = rows.to_iterable_dataset(num_shards=2).map(noise_of().transform(epoch=5), batched=True, batch_size=4)
    again.load_state_dict(state)
    assert first + [row["text"] for row in again] == whole


def test_seeds_and_epochs_are_whole_numbers():
    for seed in (None, "7", 1.0, True):
        with pytest.raises(TypeError, match=r"the seed is .*; give a whole number, such as 0"):
            noise_of(seed=seed)
    for epoch in (None, "1", 0.5):
        with pytest.raises(TypeError, match=r"the epoch is .*; give a whole number, such as 0"):
            noise_of().transform(epoch)
    with pytest.raises(ValueError, match="the epoch is -1; give a number from 0"):
        noise_of().transform().set_epoch(-1)
    assert noise_of(seed=np.int64(3)) == noise_of(seed=3)


def test_without_torch_an_epoch_is_a_plain_number(rows, monkeypatch):
    monkeypatch.setattr("lapsus.perturbations.transform.find_spec", lambda _: None)
    transform = noise_of().transform()
    transform.set_epoch(2)
    assert (
        transform.epoch == 2 and rows.with_transform(transform)[:]["text"] == noise_of().transform(2)(rows[:])["text"]
    )
    assert isinstance(transform, NoiseTransform) and "epoch=2" in repr(transform)


def test_a_mixture_draws_its_shares_anew_in_every_epoch():
    noise = Noise(mix({"en_keyboard:2": 1, "filler_eos@0.5": 1, "clean": 2}), text="text", id="id", reason_column="why")
    rows = {"id": [str(i) for i in range(2000)], "text": ["please play the next song right now"] * 2000}
    shares = []
    for epoch in (0, 1):
        full = noise.transform(epoch, edits=True)(rows)
        clean = [origin.startswith("mix: Clean(") for origin in full["operator"]]
        assert {full["why"][i] for i in range(2000) if clean[i]} == {"the row is of the clean share"}
        assert sum("who=2" in origin for origin in full["operator"]) == pytest.approx(250, abs=60)
        shares.append(clean)
        assert sum(clean) == pytest.approx(1000, abs=90)
    assert sum(a and b for a, b in zip(*shares, strict=True)) == pytest.approx(500, abs=80), "drawn apart"


def test_a_mixture_of_one_spec_draws_as_one_without_weights():
    mixed = mix(["zh_keyboard:3"])
    assert isinstance(mixed, Mixture) and not mixed.weights and {each.who for each in mixed.operators} == {1, 2, 3}
    for call, message in (
        (lambda: mix(["zh_keyboard+zh_homophone"]), "joins several operators; name one"),
        (lambda: mix([]), "there is no noise to mix"),
        (lambda: mix({"filler_eos": "2"}), "the weight of filler_eos is '2'; give a number"),
        (lambda: mix({"filler_eos": 0, "clean": 0}), "give numbers from 0 that are not all 0"),
        (lambda: mix({"filler_eos": 2, "clean": -1}), "give numbers from 0 that are not all 0"),
        (lambda: Mixture("both", (Shout(), Clean()), weights=(1,)), "2 operators but 1 weights; give one for each"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            call()
