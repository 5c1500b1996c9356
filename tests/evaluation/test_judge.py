"""Judges: verdicts of models as scores, blind, in both orders, cached."""

from __future__ import annotations

import json
import re

import pytest

from lapsus.core.messages import USER_ERRORS
from lapsus.core.types import Track
from lapsus.evaluation import make_task, run
from lapsus.evaluation.scorers import Answer, ScorerOptions, open_scorer, open_scorers
from lapsus.evaluation.scorers.judge import combine_orders, fill, make_template, read_verdict
from lapsus.evaluation.scoring import score_tracks
from lapsus.reporting.analysis.measure import measure

JUDGES = '''
import json

SEEN = []


def strict(rows):
    SEEN.extend(rows)
    return [json.dumps({"verdict": "right" if row["answer"] == row["gold"] else "wrong"}) for row in rows]


def quality(text):
    return len(set(text.split()))


def leaning(rows):
    """Prefer the better answer where it is much better, else answer A."""
    SEEN.extend(rows)
    winners = []
    for row in rows:
        difference = quality(row["a"]) - quality(row["b"])
        winners.append("B" if difference <= -2 else "A")
    return [f'I think: {json.dumps({"winner": winner})}' for winner in winners]


def silent(rows):
    return ["I cannot say." for row in rows]
'''


@pytest.fixture
def judges(tmp_path, monkeypatch):
    (tmp_path / "judges_of_test.py").write_text(JUDGES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "judges_of_test", raising=False)
    import judges_of_test

    return judges_of_test


def tracks(noisy, clean=("red", "blue", "green"), **columns):
    return [
        Track(
            "bert",
            name,
            [
                {"id": str(place), "prediction": text, "text": f"{name}?", "clean_text": "clean?", **columns}
                for place, text in enumerate(answers)
            ],
        )
        for name, answers in (("clean", clean), ("keyboard.1", noisy))
    ]


def test_a_judge_rates_answers_beside_gold_ones(judges):
    spec = "judge:python:judges_of_test:strict"
    clean, noisy = score_tracks(tracks(("red", "red", "old"), gold="red"), [spec, "exact"])
    assert [row["score"] for row in clean.rows] == [1, 0, 0]
    assert [row["scores"] for row in noisy.rows] == [{spec: each, "exact": each} for each in (1.0, 1.0, 0.0)]
    assert len(judges.SEEN) == 4  # equal requests are sent once: red, blue, green, old


def test_a_judge_is_blind_to_the_track(judges):
    score_tracks(
        tracks(("red", "bleu", "old"), gold="red", track="keyboard.1", model="bert"),
        ["judge:python:judges_of_test:strict"],
    )
    seen = json.dumps(judges.SEEN)
    assert "keyboard" not in seen and "bert" not in seen
    assert "clean?" in seen  # the clean question of noisy texts too
    assert [row["answer"] for row in judges.SEEN] == sorted(row["answer"] for row in judges.SEEN)


def test_pairs_are_judged_in_both_orders(judges):
    clean = ("a b c d", "a b c d", "a b", "a b c", "same")
    noisy = ("a b", "a b c", "a b c d", "a b x", "same")
    spec = "judge:python:judges_of_test:leaning"
    first, second = score_tracks(tracks(noisy, clean), [spec])
    assert [row["score"] for row in first.rows] == [0.5] * 5
    assert [row["score"] for row in second.rows] == [0, 0.5, 1, 0.5, 0.5]
    assert [row["scores"]["turned verdicts"] for row in second.rows] == [0, 1, 0, 1, 0]
    assert (
        len(judges.SEEN) == 6
    )  # equal answers are a tie that is not asked for, and the third pair is the first turned
    (summary,) = measure([first, second]).summary
    assert (
        summary.averages.micro_drop.value == 0
    )  # one lost, one won; asked once, a judge that leans to A says otherwise


def test_verdicts_are_cached(judges, tmp_path):
    options = ScorerOptions(cache=tmp_path / "judgements.sqlite")
    data = tracks(("red", "old", "old"), gold="red")
    before = score_tracks(data, ["judge:python:judges_of_test:strict"], options)
    count = len(judges.SEEN)
    assert score_tracks(data, ["judge:python:judges_of_test:strict"], options) == before
    assert len(judges.SEEN) == count


def test_a_rubric_of_ones_own(judges, tmp_path):
    rubric = tmp_path / "rubric.txt"
    rubric.write_text('Is it polite? {"scale": 1}\n{answer}')
    scorer = open_scorer("judge:python:judges_of_test:strict", ScorerOptions(rubric))
    scorer.score([Answer("{gold}", "yes", {"text": "May I?"})])
    (seen,) = judges.SEEN
    assert seen["request"].startswith('Is it polite? {"scale": 1}\n{gold}\nReply with JSON')
    assert seen["request"].endswith("\n\nQUESTION: May I?\nREFERENCE: yes")
    rubric.write_text(" ")
    with pytest.raises(ValueError, match="is empty; write what the judge is asked"):
        open_scorer("judge:python:judges_of_test:strict", ScorerOptions(rubric))


@pytest.mark.usefixtures("judges")
def test_a_rubric_without_a_judge_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is for a judge, and none is named"):
        open_scorers(["f1"], ScorerOptions(tmp_path / "rubric.txt"))


@pytest.mark.usefixtures("judges")
def test_a_gold_column_that_is_not_named_is_not_read():
    rows = [{"id": "a", "text": "x", "gold": "a b c"}]
    (clean,) = run(make_task("text"), rows, lambda _: ["a b c d e"], score="judge:python:judges_of_test:leaning")
    assert clean.rows[0]["score"] == 0.5  # a comparison, and no verdict beside the gold answer


@pytest.mark.usefixtures("judges")
def test_verdicts_that_cannot_be_read_are_no_wrong_answers():
    scored = score_tracks(tracks(("red", "old", "old"), gold="red"), ["judge:python:judges_of_test:silent"])
    assert [row["score"] for row in scored[1].rows] == [None] * 3
    assert scored[1].rows[0]["score_reason"] == "the judge's verdict cannot be read"
    scored = score_tracks(tracks(("red", "old", "old")), ["judge:python:judges_of_test:silent"], warn=lambda _: None)
    assert [row["score"] for row in scored[1].rows] == [0.5, None, None]


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ({"verdict": "RIGHT "}, 1), ({"verdict": "partly"}, 0.5), ({"verdict": False}, 0), ({"score": 0.25}, 0.25),
        ({"score": 4}, None), ({"score": True}, None), ({}, None), (None, None), ({"verdict": "fine"}, None),
    ],
)  # fmt: skip
def test_replies_of_judges(reply, value):
    assert read_verdict({"prediction": reply}).value == value


def test_a_failure_of_the_judge_is_told():
    row = {"prediction": None, "error": "the server is still busy"}
    assert read_verdict(row).reason == "the judge gave no answer: the server is still busy"
    assert combine_orders({"prediction": {"winner": "A"}}, row).value is None


def test_templates_keep_braces_of_answers():
    template = make_template("{question} {answer}", ("question", "answer"), "JSON")
    assert fill(template, {"question": "{answer}", "answer": "{question}"}) == "{answer} {question}\nJSON"


@pytest.mark.parametrize("spec", ["judge", "judge:gguf:x", "judge:gpt-4o"])
def test_a_judge_needs_a_model(spec):
    with pytest.raises(USER_ERRORS, match=re.compile("write (judge:MODEL|hf:)|unknown model")):
        open_scorer(spec)
