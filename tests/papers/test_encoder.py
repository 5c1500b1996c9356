"""The small encoder: it learns, it is the same each time, it saves what `lapsus run` reads."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from lapsus.evaluation.runner import run  # noqa: E402 - likewise
from lapsus.evaluation.tasks import make_task  # noqa: E402 - likewise
from lapsus.papers.encoder import EncoderConfig, SmallEncoder, train, train_word_pieces  # noqa: E402 - torch first

TINY = EncoderConfig(size=32, layers=1, positions=24)
SINGLE = [
    ("play some jazz", "music"),
    ("will it rain", "weather"),
    ("put on a song", "music"),
    ("is it cold", "weather"),
]
PAIRS = [("怎么还款", "如何还款", "same"), ("怎么还款", "怎么退款", "other")]


@pytest.fixture(scope="module")
def words():
    return train_word_pieces([text for *texts, _ in SINGLE + PAIRS for text in texts] * 2)


@pytest.fixture(scope="module")
def model(words):
    return train(SINGLE * 4, tokenizer=words, shape=TINY, epochs=20, rate=2e-3, batch_size=4)


def test_it_learns_what_it_was_shown(model):
    assert model.predict([row[:-1] for row in SINGLE]) == [row[-1] for row in SINGLE]
    assert model.predict([]) == []


def test_it_learns_pairs(words):
    pairs = train(PAIRS * 16, tokenizer=words, shape=TINY, epochs=20, rate=2e-3, batch_size=8)
    assert pairs.predict([row[:-1] for row in PAIRS]) == ["same", "other"]


def test_the_same_seed_gives_the_same_weights_and_leaves_the_callers_stream_alone(words):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    one, again, other = (
        train(SINGLE, SINGLE[:1], seed, tokenizer=words, shape=TINY, epochs=2).model.state_dict() for seed in (3, 3, 4)
    )
    assert torch.equal(torch.rand(3), expected)
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert any(not torch.equal(one[name], other[name]) for name in one)


def test_scores_do_not_depend_on_the_batch_and_sum_to_one(model):
    texts = [("play",), ("will it rain on some cold song " * 9,), ("",), ("is it",)]
    assert torch.allclose(model.predict_logprobs(texts), model.predict_logprobs(texts, batch_size=1), atol=1e-5)
    assert torch.allclose(model.predict_logprobs(texts).exp().sum(1), torch.ones(4))


def test_a_folder_goes_through_lapsus_run(model, tmp_path):
    model.save(tmp_path / "model")
    model.save(tmp_path / "model")  # a model may replace a model
    loaded = SmallEncoder.load(tmp_path / "model")
    kept, were = (each.model.state_dict() for each in (loaded, model))
    assert all(torch.equal(kept[name], were[name]) for name in were)
    torch.testing.assert_close(
        loaded.predict_logprobs([("play",)]), model.predict_logprobs([("play",)])
    )  # sums may round otherwise
    rows = [{"id": str(n), "text": text, "label": label} for n, (text, label) in enumerate(SINGLE)]
    (clean,) = run(make_task(["text"], "label", labels=["music", "weather"]), rows, f"hf:{tmp_path / 'model'}")
    assert [row["prediction"] for row in clean.rows] == [label for _, label in SINGLE]


def test_it_goes_on_from_a_checkpoint(model, tmp_path):
    model.save(tmp_path / "model")
    further = train(SINGLE, start=tmp_path / "model", epochs=1, rate=1e-6)
    assert further.predict([row[:-1] for row in SINGLE]) == [row[-1] for row in SINGLE]
    three = train([(text, text) for text, _ in SINGLE[:3]], start=tmp_path / "model", epochs=1)
    assert len(three.labels) == three.predict_logprobs([("play",)]).shape[1] == 3  # its last layer is a new one


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [([], {}, "no rows to train on"), (SINGLE, {}, "needs a tokenizer"), (SINGLE, {"epochs": 0}, "epochs is 0")],
)
def test_a_mistake_is_told_in_a_sentence(rows, options, said):
    with pytest.raises(ValueError, match=said):
        train(rows, **options)


def test_a_folder_of_something_else_is_not_replaced(model, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="no earlier model"):
        model.save(tmp_path)
