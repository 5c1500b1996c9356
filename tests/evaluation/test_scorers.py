"""Scorers of free answers: golden values, laws over every scorer, and what is refused."""

from __future__ import annotations

import pytest

from lapsus.core.messages import USER_ERRORS
from lapsus.evaluation.parsing import list_golds, parse_answers
from lapsus.evaluation.scorers import (
    Answer,
    AnswerScore,
    FunctionScorer,
    check_scores,
    load_scorer_providers,
    open_scorer,
    open_scorers,
)
from lapsus.metrics import answer_f1

PLAIN = ("exact", "contains", "number", "f1", "choice", "json", "tool-call", "consistency")


def rate(spec, prediction, gold, others=(), **row):
    """Return the score of one answer, in a run with these gold answers."""
    answer = Answer(prediction, gold, {"id": "a", **row})
    scorer = open_scorer(spec).fit([answer, *(Answer(other, other) for other in others)])
    (score,) = scorer.score([answer])
    return score.value


@pytest.mark.parametrize(
    ("spec", "prediction", "gold", "value"),
    [
        ("exact", " “Paris”. ", "paris", 1),
        ("exact", "It is Paris.", "Paris", 0),
        ("exact", "<think>Rome?</think>Paris", "Paris", 1),
        ("exact", "2", 2.0, 1),
        ("exact", "São  Paulo", "são paulo", 1),
        ("exact", "Rome", ["Paris", "Rome"], 1),
        ("contains", "According to the text, it is the Île de France.", "Île de France", 1),
        ("contains", "It is Parisian.", "Paris", 0),
        ("contains", "There are 1,200 of them.", "1200", 1),
        ("contains", "There are twelve.", "12", 1),
        ("contains", "是范廷颂枢机。", "范廷颂", 1),
        ("contains", "It is France, de Île.", "Île de France", 0),
        ("contains", "", "Paris", 0),
        ("contains", "हिन्दी में", "हिन्दी", 1),
        ("contains", "हिन्दुस्तान", "हिन्द", 0),
        ("number", "3 and 4 make 7.", 7, 1),
        ("number", "The answer is 3, since 7 - 4 is 3 and not 5.", 3, 1),
        ("number", "#### 1,200.00", "1200", 1),
        ("number", "\\boxed{-4.5}", -4.5, 1),
        ("number", "−4.5 °C", "-4.5", 1),
        ("number", "between 10-12", 12, 1),
        ("number", "I do not know.", 7, 0),
        ("number", "1.5", 15, 0),
        ("number", "7 of them", ["7", "8"], 1),
        ("choice", "(B) since A is wrong", "B", 1),
        ("choice", "A good question: the answer is C.", "C", 1),
        ("choice", "A good question.", "A", 0),
        ("choice", "b", "B", 1),
        ("choice", "B or C", "B", 0),
        ("json", '```json\n{"b": ["x"], "a": 1.0}\n```', '{"a": 1, "b": ["X "]}', 1),
        ("json", '{"a": true}', {"a": 1}, 0),
        ("json", 'Sure: {"a": [1, 2]}', {"a": [2, 1]}, 0),
        ("json", "none", {"a": 1}, 0),
        ("json", "[" * 900 + "]" * 900, {"a": 1}, 0),
        ("tool-call", '{"name": "f", "arguments": {"a": ' + "[" * 900 + "]" * 900 + "}}", '[{"f": {"a": [1]}}]', 0),
        ("json", "[1, 2]", "[1, 2.0]", 1),
        ("similarity:chrf", "Paris", ["Rome", "Paris"], 1),
        ("consistency", "The answer is 1889.", ["It was built in 1889, as the text says."], None),
    ],
)
def test_scores_of_known_answers(spec, prediction, gold, value):
    score = rate(spec, prediction, gold, others="ABCD" if spec == "choice" else ())
    assert score == value if value is not None else 0 < score < 1


def test_f1_is_that_of_the_metric():
    answers = ["in Paris, France", "", "the year 1889", "a b a"]
    golds = [["Paris"], ["x"], ["1889", "year of 1889"], ["a a b c"]]
    rows = [
        Answer(answer, gold, {"id": str(place)})
        for place, (answer, gold) in enumerate(zip(answers, golds, strict=True))
    ]
    values = [score.value for score in open_scorer("f1").fit(rows).score(rows)]
    assert sum(values) / 4 == pytest.approx(answer_f1(answers, golds)["f1"])
    assert rate("f1", "范廷颂枢机", "范廷颂") == 0.75


def test_consistency_follows_content_and_not_form():
    question = "When was the tower built?"
    clean = [
        Answer(text, row={"text": question})
        for text in ("The tower was built in 1889.", "It was finished in the year 1900.", "Around 1750, I believe.")
    ]
    scorer = open_scorer("consistency").fit(clean)

    def agree(text, reference):
        (score,) = scorer.score(
            [Answer(text, [reference], {"text": "wehn was teh tower bulit", "clean_text": question})]
        )
        return score.value

    first = clean[0].prediction
    assert agree(first, first) == 1
    assert agree("1889.", first) == 1  # all other words are those of the question, or function words
    assert agree("The tower was built in 1900.", first) == 0
    assert agree("No.", "Yes.") == 0
    assert agree("1889, I believe.", first) == agree(first, "1889, I believe.")  # symmetric


def test_labels_are_consistent_as_a_whole():
    scorer = open_scorer("consistency").fit([Answer("play_music"), Answer("play_radio")])
    pairs = [("play_music", "play_radio"), ("1889.", "1889"), ("B", "(B)"), ("B", "C")]
    scores = scorer.score([Answer(text, [clean]) for text, clean in pairs])
    assert [score.value for score in scores] == [0, 1, 1, 0]


def test_words_that_many_answers_have_say_little():
    clean = [Answer(f"{name}, certainly") for name in ("red", "blue", "green", "white")]
    scorer = open_scorer("consistency").fit(clean)
    changed, shorter = scorer.score([Answer("black, certainly", ["red, certainly"]), Answer("red", ["red, certainly"])])
    assert changed.value < 0.3
    assert shorter.value > 0.7


def test_consistency_does_not_depend_on_the_order_of_rows():
    clean = [Answer(text) for text in ("red house", "blue house", "red tower")]
    pair = [Answer("red ship", ["red house"])]
    values = {
        open_scorer("consistency").fit(order).score(pair)[0].value
        for order in (clean, clean[::-1], clean[1:] + clean[:1])
    }
    assert len(values) == 1


@pytest.mark.parametrize("name", PLAIN)
def test_every_scorer_gives_1_to_the_gold_answer_and_less_to_nothing(name):
    gold = {
        "number": "7",
        "json": '{"a": 1}',
        "choice": "B",
        "tool-call": '[{"name": "f", "arguments": {"a": 1}}]',
    }.get(name, "the red house")
    if name == "consistency":
        assert rate(name, gold, [gold]) == 1
        assert rate(name, "", [gold]) == 0
        return
    assert rate(name, gold, gold, others=("A", "B")) == 1
    assert rate(name, "", gold, others=("A", "B")) == 0


def test_every_scorer_is_listed_with_its_form():
    providers = load_scorer_providers()
    assert set(PLAIN) | {"similarity", "python"} <= set(providers)
    assert all(provider.usage.startswith(name) and provider.summary for name, provider in providers.items())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("contain", "did you mean contains?"),
        ("f1:squad", "f1:squad has a setting, and f1 has none; write f1"),
        ("similarity", "similarity alone is not enough; write similarity:MODEL"),
        ("python:json", "names no function"),
        ("python:json:dumps", "a scorer takes a prediction"),
        ("similarity:nothing", "there is no metric 'nothing'"),
    ],
)
def test_wrong_names_are_one_sentence(spec, message):
    with pytest.raises(USER_ERRORS, match=message):
        open_scorer(spec)


def test_one_scorer_is_named_once():
    with pytest.raises(ValueError, match="f1 is named twice"):
        open_scorers(["f1", "exact", "f1"])


@pytest.mark.parametrize(
    ("spec", "gold", "message"),
    [
        ("number", "Paris", "holds no number; take --score"),
        ("json", "Paris", "is no JSON"),
        ("tool-call", "x", "is no list of calls"),
    ],
)
def test_gold_answers_of_another_kind_are_refused(spec, gold, message):
    with pytest.raises(ValueError, match=message):
        rate(spec, "[]" if spec == "tool-call" else "7", gold)


def test_functions_of_users(tmp_path, monkeypatch):
    (tmp_path / "own_scorer.py").write_text(
        "def same(prediction, golds, row):\n    return None if row['id'] == 'b' else prediction in golds\n"
        "def broken(prediction, golds, row):\n    return 1 / 0\n"
        "def text(prediction, golds, row):\n    return 'good'\n"
        "def high(prediction, golds, row):\n    return 100\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    answers = [Answer("x", ["x"], {"id": "a"}), Answer("x", "y", {"id": "b"})]
    scorer = open_scorer("python:own_scorer:same")
    assert [score.value for score in check_scores(scorer.name, answers, scorer.score(answers))] == [1.0, None]
    for name, message in (("broken", "raised ZeroDivisionError"), ("text", "returned 'good' for row 'a'")):
        with pytest.raises(USER_ERRORS, match=message):
            open_scorer(f"python:own_scorer:{name}").score(answers)
    high = open_scorer("python:own_scorer:high")
    with pytest.raises(ValueError, match="a score is a number from 0 to 1"):
        check_scores(high.name, answers, high.score(answers))


def test_a_score_that_is_none_has_a_reason():
    (score,) = check_scores("mine", [Answer("x")], [AnswerScore(None)])
    assert score.reason == "mine gave no score"
    with pytest.raises(ValueError, match="gave 0 scores for 1 answers"):
        check_scores("mine", [Answer("x")], [])
    with pytest.raises(ValueError, match="does not know the run yet"):
        FunctionScorer("mine").score([Answer("x")])


def test_lists_of_accepted_answers():
    assert list_golds({"text": ["a", "b"]}) == ("a", "b")
    assert parse_answers('["a"]', "row 1") == parse_answers(["a"], "row 1") == ["a"]
    for cell in ("a", "[]", None, 7, '{"a": 1}'):
        with pytest.raises(ValueError, match="holds no list of accepted answers"):
            parse_answers(cell, "row 1")
