"""Noise that is none: no text changed, or an operator for another writing; runs that would mix with others."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from lapsus.cli.main import main
from lapsus.evaluation.runner import run
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet, add_noise, describe_changes
from lapsus.perturbations.specs import describe_mismatch

CHINESE = ["花呗怎么提额", "借呗可以提前还款吗", "我的订单为什么还没有发货"]
ENGLISH = ["play a song by the beatles", "will it rain in london tomorrow", "book a table for two"]
GERMAN = ["wird es morgen in Köln regnen", "spiele ein Lied von Bach", "füge das Lied hinzu"]
RUSSIAN = ["какая завтра погода", "включи песню"]
TASK = make_task(["text"], "label")


def rows_of(texts, n=24):
    return [{"id": str(i), "text": texts[i % len(texts)], "label": "ab"[i % 2]} for i in range(n)]


def noise(texts, spec, n=24):
    return add_noise(TrackSet.from_rows("mine", TASK, rows_of(texts, n)), [spec])


@pytest.mark.parametrize("texts", [CHINESE, RUSSIAN])
def test_noise_that_changes_nothing_is_refused(texts, tmp_path):
    with pytest.raises(ValueError, match="changes none of the 24 texts: en_keyboard is made for English"):
        noise(texts, "en_keyboard:2")
    rows = tmp_path / "mine.jsonl"
    rows.write_text("".join(f'{{"id": "{i}", "text": "{texts[i % 2]}"}}\n' for i in range(24)), encoding="utf-8")
    words = ["perturb", "--noise", "en_keyboard", "--text", "text", "--id", "id", str(rows), str(tmp_path / "o.jsonl")]
    assert "warning: en_keyboard changed none of the texts" in CliRunner().invoke(main, words).output


def test_noise_for_another_writing_is_told():
    with pytest.raises(ValueError, match="the noise of typed changes none of the 24 texts: filler_eos is made for"):
        noise(CHINESE, "typed=filler_eos:2")
    assert "zh_keyboard is made for Chinese" in noise(GERMAN, "zh_keyboard:2").notes[0]
    for texts, spec in ((CHINESE, "zh_keyboard:2"), (ENGLISH, "filler_eos"), (GERMAN, "filler_eos")):
        assert noise(texts, spec).notes == ()
    few = noise(CHINESE, "en_keyboard", 3)  # so few may stay as they are by chance
    assert "changes none of the 3 texts" in few.notes[0]


def test_a_run_says_how_many_texts_changed():
    data = noise(ENGLISH, "filler_eos:2")
    assert describe_changes(data) == "rows with a changed text: filler_eos.1 100 %, filler_eos.2 100 %"
    assert describe_changes(TrackSet.from_rows("mine", TASK, rows_of(ENGLISH))) is None


def test_mixed_texts_count_by_their_letters():
    assert describe_mismatch(("zh",), ["花呗 Pay 怎么还"]) is None
    assert describe_mismatch(("en",), ["123 456", ""]) is None
    assert describe_mismatch(("xx",), CHINESE) is None  # a language that nothing is known about


def answer(rows):
    return ["a" for _ in rows]


def test_the_prompt_belongs_to_what_a_run_is(tmp_path):
    def ask(prompt, **options):
        task = make_task(["text"], "label", prompt=prompt)
        return run(task, rows_of(ENGLISH, 4), answer, out=tmp_path, **options)

    ask("Answer: {text}")
    ask("Answer: {text}", noise=["filler_eos"])
    with pytest.raises(ValueError, match="holds the answers to another prompt"):
        ask("Think, then answer: {text}")
    ask("Think, then answer: {text}", name="thinking")
