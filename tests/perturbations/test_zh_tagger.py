"""A corrector that is trained: what it reads and writes, what it repairs, and what it refuses."""

from __future__ import annotations

import json
import pickle
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from random import Random

import numpy as np
import payment_questions
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from lapsus.cli.main import main
from lapsus.core.edits import Edit, apply
from lapsus.papers.corrector_schedule import Schedule
from lapsus.perturbations.core import perturb, perturb_batch
from lapsus.perturbations.zh.correction.combine import (
    can_combine,
    is_in_both_tasks,
    is_same_task,
    rank_proposals,
    select_edits,
)
from lapsus.perturbations.zh.correction.corrector import ZhCorrect
from lapsus.perturbations.zh.correction.language_model import EDGE
from lapsus.perturbations.zh.correction.tagger import DELETE, FIRST, KEEP, PAD, SETTINGS, WEIGHTS, Tagger
from lapsus.perturbations.zh.correction.task_words import load_task_model

torch = pytest.importorskip("torch")

from lapsus.papers.corrector import (  # noqa: E402 - torch first, or nothing
    MAX_CHANGE_RATE,
    MAX_CHANGE_RATE_WITH_CORPUS,
    CorrectorNetwork,
    align_tags,
    build_vocabulary,
    calibrate_corpus_threshold,
    calibrate_threshold,
    train,
)

THINGS = [*payment_questions.THINGS, "蚂蚁花呗"]
QUESTIONS = [
    *payment_questions.QUESTIONS,
    "{}能用来买手机吗",
    "我想知道{}的利息是多少",
    "{}的账单在哪里看",
    "今天能不能还{}",
    "{}额度怎么提高",
    "如何取消{}分期",
    "{}还不了怎么办",
    "{}有没有优惠",
    "{}支持哪些商家",
    "{}被冻结了",
]
TEXTS = [question.format(thing) for question, thing in product(QUESTIONS, THINGS)]
NEWS = "警方通报了昨天下午在高速公路上发生的交通事故，两名司机受轻伤。"
CORPUS = ZhCorrect.from_texts(TEXTS).corpus
anything = st.text(st.one_of(st.sampled_from("华北花呗怎么还款吗，。ab1%時👍\n"), st.characters()), max_size=30)
typed = st.text("花呗怎么还款了", max_size=8)


@cache
def untrained(seed: int = 0) -> Tagger:
    """Return a tagger of random weights, which changes much."""
    units = build_vocabulary(TEXTS, TEXTS)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        state = network_of(units).state_dict()
    weights = {name: (3 * value).numpy().astype("float16").astype("float32") for name, value in state.items()}
    return Tagger.from_weights(units, weights, 0.3, 2.0)


def network_of(units):
    return CorrectorNetwork(len(units.characters) + 2, len(units.readings) + 2, len(units.written))


def rewritten(tagger: Tagger, text: str) -> str:
    return apply(text, tagger.edits(text))


@given(typed, typed)
def test_tags_say_how_to_get_back(clean, noisy):
    written = {character: number for number, character in enumerate("花呗怎么还款了", FIRST)}
    letters = {number: character for character, number in written.items()}
    found, missing = align_tags(clean, noisy, written)
    back = "".join(
        letters.get(before, "") + ("" if tag == DELETE else letters.get(tag, old))
        for before, tag, old in zip(missing, found, [*noisy, ""], strict=True)
    )
    longer = sum(op.dest_end - op.dest_start for op in Levenshtein.opcodes(noisy, clean)
                 if op.tag == "insert" and op.dest_end - op.dest_start > 1)  # fmt: skip
    assert Levenshtein.distance(back, clean) == longer  # of what is missing, one character is learned at a place
    assert len(found) == len(missing) == len(noisy) + 1


def test_what_the_task_does_not_write_is_kept():
    assert align_tags("款", "钱", {}) == ([KEEP, KEEP], [KEEP, KEEP])


@settings(max_examples=60, deadline=None)
@given(anything, st.integers(0, 1))
def test_any_text_is_read_without_a_crash(text, seed):
    tagger = untrained(seed)
    edits = tagger.edits(text, 0.0)
    apply(text, edits)
    assert all(text[start:end] != new for start, end, new in edits)
    assert all(one.end < other.start for one, other in pairwise(edits))
    both = ZhCorrect(corpus=CORPUS, tagger=tagger)
    apply(text, perturb(both, text))
    assert perturb(ZhCorrect(tagger=tagger), text) == perturb(ZhCorrect(tagger=tagger), text, seed=3, key="b")


def test_numpy_computes_what_torch_does():
    tagger = untrained()
    network = network_of(tagger.units)
    network.load_state_dict({name: torch.tensor(value) for name, value in tagger.weights.items()})
    network.eval()
    first, second = (torch.tensor([numbers]) for numbers in tagger.units.encode(TEXTS[3]))
    with torch.no_grad():
        expected = network(first, second)
    np.testing.assert_allclose(tagger.read_characters(TEXTS[3]), expected.numpy(), rtol=1e-3, atol=1e-3)


def test_padding_changes_nothing():
    tagger = untrained()
    network = network_of(tagger.units).eval()
    numbers = tagger.units.encode(TEXTS[0])
    alone = network(*(torch.tensor([each]) for each in numbers))
    padded = network(*(torch.tensor([[*each, *[PAD] * 7]]) for each in numbers))
    torch.testing.assert_close(alone, padded)


def test_the_threshold_leaves_clean_text_alone():
    careless = untrained()
    least = calibrate_threshold(careless, TEXTS)
    changed = sum(Levenshtein.distance(text, apply(text, careless.edits(text, least))) for text in TEXTS)
    assert changed <= MAX_CHANGE_RATE * sum(map(len, TEXTS))
    lower = sum(Levenshtein.distance(text, apply(text, careless.edits(text, least - 0.01))) for text in TEXTS)
    assert lower > MAX_CHANGE_RATE * sum(map(len, TEXTS))


@pytest.mark.parametrize(
    ("meant", "typed"), [("花呗怎么还款", "华呗怎怎还"), ("怎么还花呗", "怎还花花呗"), ("花", "款")]
)
def test_odds_are_those_of_the_tags(meant, typed):
    tagger = untrained()
    written = tagger.units.ids[2]
    network = network_of(tagger.units).eval()
    network.load_state_dict({name: torch.tensor(value) for name, value in tagger.weights.items()})
    with torch.no_grad():
        state = network(*(torch.tensor([numbers]) for numbers in tagger.units.encode(typed)))
    expected = 0.0
    for gold, kind, write in zip(align_tags(meant, typed, written), (network.kinds, network.gaps),
                                 (network.write, network.fill), strict=True):  # fmt: skip
        kinds, characters = kind(state).log_softmax(-1), write(state).log_softmax(-1)
        for at, tag in enumerate(gold):
            expected += (kinds[at, min(tag, kinds.shape[1] - 1)] - kinds[at, KEEP]).item()
            expected += characters[at, tag - FIRST].item() if tag >= FIRST else 0.0
    assert tagger.predict(typed).log_odds(Edit(0, len(typed), meant)) == pytest.approx(expected, rel=1e-3)
    assert tagger.predict(typed).log_odds(Edit(0, 1, "龘")) < -10  # which it never writes


@given(typed, st.integers(0, 4), st.integers(0, 3), st.text("花呗怎龘", max_size=3))
def test_odds_of_a_text_are_those_of_the_whole(text, start, longer, new):
    model = load_task_model(CORPUS)
    edit = Edit(start, start + longer, new) if start + longer <= len(text) else Edit(0, 0, new)
    whole = [model.model.cost(changed + EDGE, EDGE) for changed in (text, apply(text, [edit]))]
    assert model.log_odds(text, edit) == pytest.approx(whole[0] - whole[1], abs=1e-6)


def test_a_higher_bar_changes_less_and_no_more_than_allowed_of_clean_texts():
    tagger, model = untrained(), load_task_model(CORPUS)
    texts = [text for text in TEXTS[::4] if is_in_both_tasks(text, tagger, model)]
    least = calibrate_corpus_threshold(tagger, model, texts)
    found = {text: rank_proposals(text, tagger, model) for text in texts}
    made = [[select_edits(found[text], bar) for text in texts] for bar in (least - 2, least, least + 2)]
    assert all(set(more) >= set(fewer) for low, high in pairwise(made) for more, fewer in zip(low, high, strict=True))
    changed = [sum(map(Levenshtein.distance, texts, map(apply, texts, edits))) for edits in made]
    assert changed[1] <= MAX_CHANGE_RATE_WITH_CORPUS * sum(map(len, texts)) < changed[0]
    assert all(can_combine(*two) for edits in made[0] for two in pairwise(edits))


def test_beside_a_corpus_texts_of_another_task_are_left_to_each():
    tagger = untrained()
    both = ZhCorrect(corpus=CORPUS, tagger=tagger)
    assert not is_in_both_tasks(NEWS, tagger, load_task_model(CORPUS)) and is_in_both_tasks(
        TEXTS[0], tagger, load_task_model(CORPUS)
    )
    assert perturb(both, NEWS) == perturb(ZhCorrect(), NEWS)
    eager = ZhCorrect(0.0, corpus=CORPUS, tagger=tagger)
    made = select_edits(rank_proposals(TEXTS[0], tagger, load_task_model(CORPUS)), tagger.corpus_threshold - 6)
    assert made and set(made) <= set(perturb(eager, TEXTS[0]))
    news = ZhCorrect.from_texts([NEWS, *CORPUS.texts[:5]]).corpus
    assert is_same_task(tagger, CORPUS) and not is_same_task(tagger, news)
    for text in ("华北怎么还款", TEXTS[0], NEWS):
        assert perturb(ZhCorrect(0.0, corpus=news, tagger=tagger), text) == perturb(ZhCorrect(0.0, corpus=news), text)
        assert perturb(ZhCorrect(tagger=tagger), text) == perturb(ZhCorrect(), text)  # it would write nonsense
    assert not perturb(ZhCorrect(caution=60, corpus=CORPUS, tagger=tagger), TEXTS[0])


def test_a_folder_is_read_as_it_was_written(tmp_path):
    tagger = untrained()
    tagger.save(tmp_path / "corrector")
    there = Tagger.read(str(tmp_path / "corrector"))
    assert (
        there == tagger
        and hash(there) == hash(tagger)
        and (there.threshold, there.corpus_threshold) == (tagger.threshold, tagger.corpus_threshold)
    )
    assert all(there.edits(text) == tagger.edits(text) for text in TEXTS)
    assert there != untrained(1)
    op = ZhCorrect(tagger=str(tmp_path / "corrector"))
    assert eval(repr(op)) == op  # noqa: S307 - our own repr
    back = pickle.loads(pickle.dumps(op))  # noqa: S301 - our own
    assert back == op and perturb_batch(back, TEXTS) == perturb_batch(op, TEXTS)
    with pytest.raises(ValueError, match="is not what it was"):
        Tagger.read(str(tmp_path / "corrector"), "0" * 12)


def test_a_folder_of_something_else_is_refused(tmp_path):
    def refused(folder):
        with pytest.raises(ValueError, match=r"no folder of a corrector .* make one with: lapsus train-corrector"):
            ZhCorrect(tagger=str(folder))

    refused(tmp_path / "missing")
    refused(tmp_path)
    good = tmp_path / "good"
    untrained().save(good)
    weights, known = (good / WEIGHTS).read_bytes(), (good / SETTINGS).read_text(encoding="utf-8")
    for name, content in ((WEIGHTS, weights[: len(weights) // 2]), (WEIGHTS, b"none"), (WEIGHTS, b""),
                          (SETTINGS, b"{}"), (SETTINGS, b"[]"), (SETTINGS, b"\xff"),
                          (SETTINGS, known.replace('"花", ', "", 1).encode())):  # fmt: skip
        (good / WEIGHTS).write_bytes(weights)
        (good / SETTINGS).write_text(known, encoding="utf-8")
        assert ZhCorrect(tagger=str(good)).tagger == untrained()
        (good / name).write_bytes(content)
        refused(good)
    with pytest.raises(TypeError, match="give the folder that lapsus train-corrector wrote"):
        ZhCorrect(tagger=3)


@pytest.mark.parametrize(
    "texts", [[], [""], ["花呗怎么还款"] * 500, ["no Chinese"] * 500, [str(n) for n in range(500)]]
)
def test_too_little_to_learn_from_is_an_error(texts):
    with pytest.raises(ValueError, match="different Chinese texts to learn from; give at least 100"):
        train(texts)


def test_one_string_is_no_list_of_texts():
    with pytest.raises(TypeError, match="give a list"):
        train("花呗怎么还款")


def test_the_command_says_what_is_wrong(tmp_path):
    def said(*words):
        result = CliRunner().invoke(main, ["train-corrector", *map(str, words)])
        assert result.exit_code == 1 and "Traceback" not in result.output
        return result.output

    few = tmp_path / "few.txt"
    few.write_text("花呗怎么还款\n", encoding="utf-8")
    assert "there are 1 different Chinese texts" in said(few, "--out", tmp_path / "new")
    assert "cannot be read" in said(tmp_path / "missing.txt", "--out", tmp_path / "new")
    (tmp_path / "en.txt").write_text("hello\n", encoding="utf-8")
    assert "holds no Chinese text" in said(tmp_path / "en.txt", "--out", tmp_path / "new")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x", encoding="utf-8")
    assert "exists and is no earlier corrector" in said(few, "--out", tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").exists() and not (tmp_path / "new").exists()


@pytest.fixture(scope="module")
def trained() -> Tagger:
    """Return a tagger trained on a hundred questions."""
    return train(TEXTS, schedule=Schedule(copies=6, epochs=8, batch_size=32))


@pytest.mark.slow
def test_words_of_the_task_are_restored(trained):
    op = ZhCorrect(tagger=trained)
    assert [apply(text, perturb(op, text)) for text in ("华北怎么还款", "怎么关闭戒备")] == [
        "花呗怎么还款",
        "怎么关闭借呗",
    ]
    assert sum(rewritten(trained, text) != text for text in TEXTS) <= 2
    assert perturb(op, NEWS) == perturb(ZhCorrect(), NEWS)
    more = [len(perturb(ZhCorrect(caution, tagger=trained), "华北怎么还款")) for caution in (0, 6, 60)]
    assert more[0] >= more[1] == 1 > more[2]
    both = ZhCorrect(corpus=ZhCorrect.from_texts(TEXTS).corpus, tagger=trained)
    assert apply("华北怎么还款", perturb(both, "华北怎么还款")) == "花呗怎么还款"


@pytest.mark.slow
def test_training_is_reproducible_and_leaves_the_random_state_alone():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    schedule = Schedule(1, 1)
    assert train(TEXTS, schedule=schedule) == train(Random(3).sample(TEXTS, len(TEXTS)), schedule=schedule)
    assert torch.equal(torch.rand(3), expected)
    assert train(TEXTS, seed=1, schedule=schedule) != train(TEXTS, schedule=schedule)


@pytest.mark.slow
def test_the_command_line_trains_and_corrects(tmp_path):
    clean, folder, source, target = (tmp_path / name for name in ("clean.jsonl", "corrector", "in.jsonl", "out.jsonl"))
    clean.write_text("".join(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(TEXTS)), "utf-8")
    words = ["train-corrector", clean, "--out", folder, "--copies", 1, "--epochs", 1]
    for _ in range(2):  # an earlier corrector is replaced
        result = CliRunner().invoke(main, list(map(str, words)))
        assert result.exit_code == 0, result.output
    assert "epoch 1 of 1" in result.output and sorted(path.name for path in Path(folder).iterdir()) == [
        SETTINGS,
        WEIGHTS,
    ]
    source.write_text(json.dumps({"id": "1", "text": TEXTS[0]}), encoding="utf-8")
    words = ["perturb", "--noise", "zh_correct", "--set", f"tagger={folder}", "--text", "text", "--id", "id"]
    result = CliRunner().invoke(main, [*words, str(source), str(target)])
    assert result.exit_code == 0, result.output
    assert "Tagger.read(" in json.loads(target.read_text(encoding="utf-8"))["operator"]
