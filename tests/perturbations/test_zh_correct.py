"""A corrector that has learned a task's words: the laws of operators, what it repairs, and what it leaves alone."""

from __future__ import annotations

import json
import pickle
import time
from itertools import product

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from Levenshtein import distance
from paths import SHARED_DATA
from payment_questions import QUESTIONS, THINGS

from lapsus.cli.main import main
from lapsus.cli.perturb import apply_settings
from lapsus.perturbations import OPERATORS, Operator, apply, perturb, perturb_batch
from lapsus.perturbations.zh.correction.corrector import ZhCorrect
from lapsus.perturbations.zh.correction.language_model import EDGE, UNSEEN, CharacterModel, ReadingIndex, name_slip
from lapsus.perturbations.zh.correction.task_words import Corpus, load_task_model

READIN = SHARED_DATA / "readin" / "afqmc_balanced"
TEXTS = [question.format(thing) for question, thing in product(QUESTIONS, THINGS)]
OP = ZhCorrect.from_texts(TEXTS)
NEWS = "警方通报了昨天下午在高速公路上发生的交通事故，两名司机受轻伤。"
anything = st.text(st.one_of(st.sampled_from("华北花呗怎么，。“” ab12%時國们👍,.\n哦啊"), st.characters()), max_size=40)


def fixed(text, op=OP):
    return apply(text, perturb(op, text))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("华北怎么还款", "花呗怎么还款"),  # the same sound
        ("怎么关闭戒备", "怎么关闭借呗"),
        ("花呗语气了怎么办", "花呗逾期了怎么办"),
        ("花呗可以提前缓款吗", "花呗可以提前还款吗"),  # a letter too many
        ("花呗zen么还款", "花呗怎么还款"),  # left as letters
        ("怎样才能开同借呗", "怎样才能开通借呗"),
    ],
)
def test_words_of_the_task_are_restored(typed, meant):
    assert fixed(typed) == meant


@pytest.mark.parametrize("text", [*TEXTS[::3], NEWS, "", "abc 123 👍\ud800", "國際標準", "\n\n", "。"])
def test_right_text_is_left_alone(text):
    assert perturb(OP, text, key="row") == ()


def test_a_text_of_another_task_is_corrected_as_without():
    text = "华北平原今年的小麦收成比去年好，农民们都很高兴。"
    assert (
        load_task_model(OP.corpus).task_probability(text) < 0.01
        and load_task_model(OP.corpus).task_probability(TEXTS[0]) > 0.99
    )
    assert perturb(OP, text) == perturb(ZhCorrect(), text)


@settings(max_examples=150, deadline=None)
@given(anything)
def test_any_text_is_corrected_without_a_crash(text):
    edits = perturb(OP, text, key="row")
    apply(text, edits)
    assert all(text[start:end] != new for start, end, new in edits)
    assert edits == perturb(OP, text, seed=5, key="other")


def test_it_is_an_operator_like_the_others():
    assert isinstance(OP, Operator)
    texts = ["华北怎么还款", "怎么关闭戒备", NEWS]
    assert perturb_batch(OP, texts) == [perturb(OP, text) for text in texts]
    there = pickle.loads(pickle.dumps(OP))  # noqa: S301 - our own
    assert there == OP and hash(there) == hash(OP) and perturb_batch(there, texts) == perturb_batch(OP, texts)
    assert ZhCorrect.from_texts(TEXTS[1:]) != OP != ZhCorrect()
    assert len(repr(OP)) < 100


def test_more_caution_corrects_less():
    texts = ["华北怎么还款", "花呗语气了怎么办", "花呗zen么还款"]
    made = [sum(map(len, perturb_batch(ZhCorrect.from_texts(TEXTS, caution=c), texts))) for c in (6, 14, 60)]
    assert made == sorted(made, reverse=True) and made[0] >= 3 and made[-1] == 0


def test_time_is_bounded():
    started = time.process_time()
    perturb(OP, "华北怎么还款" * 100)
    assert time.process_time() - started < 20
    assert "10000 characters" in OP.untouched("华北" * 5_001)
    assert perturb(OP, "华北" * 5_001) == ()


def test_a_corpus_is_read_from_lines_and_from_json_lines(tmp_path):
    plain, rows = tmp_path / "clean.txt", tmp_path / "clean.jsonl"
    plain.write_text("\n".join(TEXTS), encoding="utf-8")
    rows.write_text(
        "\n".join(json.dumps({"id": n, "text": text, "label": "0"}) for n, text in enumerate(TEXTS)), encoding="utf-8"
    )
    for path in (plain, rows):
        op = apply_settings(OPERATORS["zh_correct"], [f"corpus={path}"])
        assert op == OP and eval(repr(op)) == op  # noqa: S307 - our own repr
    seen = Corpus.read(str(plain))
    plain.write_text("\n".join(TEXTS[1:]), encoding="utf-8")
    with pytest.raises(ValueError, match="is not what it was"):
        Corpus.read(str(plain), seen.digest)


@pytest.mark.parametrize("texts", [[], ["no Chinese"], [""]])
def test_nothing_to_learn_from_is_an_error(texts):
    with pytest.raises(ValueError, match="holds no Chinese text"):
        ZhCorrect.from_texts(texts)


def test_one_string_is_no_list_of_texts():
    with pytest.raises(TypeError, match="give a list"):
        ZhCorrect.from_texts("花呗怎么还款")


def test_the_command_line_takes_a_corpus(tmp_path):
    clean, source, target = (tmp_path / name for name in ("clean.txt", "in.jsonl", "out.jsonl"))
    clean.write_text("\n".join(TEXTS), encoding="utf-8")
    source.write_text(json.dumps({"id": "1", "text": "华北怎么还款"}), encoding="utf-8")
    words = ["perturb", "--noise", "zh_correct", "--set", f"corpus={clean}", "--text", "text", "--id", "id"]
    result = CliRunner().invoke(main, [*words, str(source), str(target)])
    assert result.exit_code == 0, result.output
    row = json.loads(target.read_text(encoding="utf-8"))
    assert row["text"] == "花呗怎么还款" and OP.corpus.digest in row["operator"]
    result = CliRunner().invoke(main, [*words[:4], "corpus=missing.txt", *words[5:], str(source), str(target)])
    assert result.exit_code == 1 and "missing.txt cannot be read (No such file" in result.output


letters = st.text("aeghinosuz", min_size=3, max_size=8)


@given(letters, letters)
def test_a_slip_is_one_edit_or_two_letters_swapped(meant, typed):
    how = name_slip(meant, typed)
    swapped = {meant[:i] + meant[i + 1] + meant[i] + meant[i + 2 :] for i in range(len(meant) - 1)}
    assert bool(how) == (meant != typed and (distance(meant, typed) == 1 or typed in swapped))


@given(st.sets(letters, max_size=6), letters)
def test_readings_are_found_again(readings, typed):
    assert dict(ReadingIndex(readings).find_near(typed)) == {
        r: name_slip(r, typed) for r in readings if name_slip(r, typed)
    }


def test_probabilities_after_a_context_sum_to_one():
    model = CharacterModel(TEXTS)
    seen = {c for text in TEXTS for c in text} | {EDGE}
    for context in ("", "花", "花呗", "怎么还", EDGE):
        unseen = (1 / UNSEEN - len(seen)) * model.probability(context, "龘")
        assert sum(model.probability(context, c) for c in seen) + unseen == pytest.approx(1)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not READIN.is_dir(), reason="needs READIN's files beside the checkout")
def test_the_training_texts_repair_a_fifth_of_a_real_tracks_errors():
    rows = {
        name: [json.loads(line)["sentence1"] for line in (READIN / f"{name}.json").read_text("utf-8").splitlines()]
        for name in ("train", "test_clean", "test_noisy_1")
    }
    op = ZhCorrect.from_texts(rows["train"][::2])
    pairs = list(zip(rows["test_clean"], rows["test_noisy_1"], strict=True))[1::12]
    before = sum(distance(clean, noisy) for clean, noisy in pairs)
    after = sum(distance(clean, fixed(noisy, op)) for clean, noisy in pairs)
    changed = sum(distance(clean, fixed(clean, op)) for clean, _ in pairs)
    assert after < 0.85 * before
    assert changed < 0.005 * sum(len(clean) for clean, _ in pairs)
