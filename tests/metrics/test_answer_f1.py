"""answer_f1 beside the published procedures, written again with nltk's tokenizer and difflib's counterpart."""

from __future__ import annotations

import json
import random
import re
import string

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer
from paths import SHARED_DATA

from lapsus.evaluation.answer_types import SpanAnswer
from lapsus.metrics import answer_f1
from lapsus.metrics.answer_f1.score import match_best, tokenize_cmrc, tokenize_latin, tokenize_squad
from lapsus.reporting.score import score

DATA = SHARED_DATA
NLTK = NLTKWordTokenizer()
CMRC_MARKS = set("-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")


def cmrc_segments(text):
    """The mixed segmentation of CMRC2018's script, letter by letter."""
    found, latin = [], ""
    for letter in text.lower().strip():
        if letter in CMRC_MARKS:
            continue
        if "\u4e00" <= letter <= "\u9fa5":
            found += [*NLTK.tokenize(latin), letter]
            latin = ""
        else:
            latin += letter
    return found + NLTK.tokenize(latin)


def cmrc_f1(answer, golds):
    best = 0.0
    for mine, its in ((cmrc_segments(answer), cmrc_segments(gold)) for gold in golds):
        run, row = 0, [0] * (len(its) + 1)
        for one in mine:
            row = [0] + [row[place] + 1 if one == other else 0 for place, other in enumerate(its)]
            run = max(run, *row)
        if run:
            precision, recall = run / len(mine), run / len(its)
            best = max(best, 2 * precision * recall / (precision + recall))
    return best


def cmrc_exact(answer, golds):
    bare = ["".join(letter for letter in text.lower().strip() if letter not in CMRC_MARKS) for text in (answer, *golds)]
    return float(bare[0] in bare[1:])


def squad(answer, golds):
    """SQuAD 2.0's normalisation, and its F1 by crossing words out."""

    def normal(text):
        kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", kept).split()

    found = []
    for gold in [gold for gold in golds if normal(gold)] or [""]:
        mine, its = normal(answer), normal(gold)
        left, shared = list(its), 0
        for word in mine:
            if word in left:
                left.remove(word)
                shared += 1
        exact = float(mine == its)
        if not mine or not its:
            found.append((exact, exact))
        elif not shared:
            found.append((exact, 0.0))
        else:
            precision, recall = shared / len(mine), shared / len(its)
            found.append((exact, 2 * precision * recall / (precision + recall)))
    return tuple(max(side) for side in zip(*found, strict=True))


PIECES = ["the", "The ", "a", "paris", "Paris ", "in ", "1889", "!", ", ", "'s ", "u.s. ", "", "-", "two"]
ENGLISH = st.lists(st.sampled_from(PIECES), max_size=7).map("".join)


@given(ENGLISH, st.lists(ENGLISH, min_size=1, max_size=3))
def test_in_english_it_is_squads(answer, golds):
    assert match_best(answer, golds, "squad") == pytest.approx(squad(answer, golds))


CHINESE = st.text(alphabet="范廷颂枢机a1'\".,，。《》· -%$(…", max_size=12)


@example(",,a", ["a"])  # nltk leaves the second of two commas at its word
@given(CHINESE, st.lists(CHINESE, min_size=1, max_size=3))
def test_in_chinese_it_is_cmrcs(answer, golds):
    assert match_best(answer, golds, "cmrc2018") == pytest.approx((cmrc_exact(answer, golds), cmrc_f1(answer, golds)))


@pytest.mark.parametrize(
    "text",
    [
        "i can't, cannot, gonna and won't!", "'twas mr. o'neill's \"big\" day -- really...", "3,000.50 (u.s. dollars);",
        "they've said: \"it's 'fine'\" [sic]", "a, b,c 10:30 e.g. this.", "‘quoted’ “words” «here» 100% #1 a&b @home",
        '""start', "well . . . yes.)", "we'd've 'em n't don't", "",
    ],
)  # fmt: skip
def test_latin_words_are_nltks(text):
    assert tokenize_latin(text) == NLTK.tokenize(text)


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "cmrc2018").exists(), reason="needs CMRC2018 beside the checkout")
def test_cmrcs_own_answers():
    """Every right answer of the development set against the others of its question, and pieces of its paragraph."""
    rng = random.Random(0)
    told = json.loads((DATA / "cmrc2018" / "squad-style-data" / "cmrc2018_dev.json").read_text("utf-8"))["data"]
    cases = []
    for paragraph in (part for article in told for part in article["paragraphs"]):
        for question in paragraph["qas"]:
            first, *others = [answer["text"] for answer in question["answers"]]
            place = rng.randrange(len(paragraph["context"]))
            cases += [(first, others), (paragraph["context"][place : place + len(first) + 3], [first, *others])]
    cases = rng.sample(cases, 1500)
    wrong = [
        case for case in cases if match_best(*case, "cmrc2018") != pytest.approx((cmrc_exact(*case), cmrc_f1(*case)))
    ]
    assert wrong == []
    assert answer_f1(*map(list, zip(*cases, strict=True)))["rules"] == "cmrc2018"


def test_rules_follow_the_language_of_the_right_answers():
    assert answer_f1(["1889"], [["1889年", "巴黎"]])["rules"] == "cmrc2018"
    assert answer_f1(["巴黎"], [["Paris"]])["rules"] == "squad"
    assert answer_f1(["the cat"], [["A cat!"]])["exact_match"] == 1
    assert answer_f1(["the cat"], [["A cat!"]], rules="cmrc2018")["exact_match"] == 0
    assert tokenize_squad("U.S.") == ["us"] and tokenize_cmrc("U.S.") == ["u.s", "."]


def test_right_answers_in_every_form():
    expected = answer_f1(["Paris", "no"], [["Paris", "Lutetia"], ["yes"]])
    assert expected["exact_match"] == 0.5
    given = [{"text": ["Paris", "Lutetia"], "answer_start": [1, 9]}, {"text": ["yes"], "answer_start": [3]}]
    assert answer_f1(["Paris", "no"], given) == expected
    assert answer_f1(["Paris", "no"], np.array([["Paris", "Lutetia"], ["yes", "yes"]])) == expected
    with pytest.raises(TypeError, match=r"references\[1\] is 3: give a text, a list of texts"):
        answer_f1(["a", "b"], ["a", 3])


def test_no_answer_is_right_where_there_is_none():
    assert answer_f1(["", "Paris", ""], [[], [], ["Paris"]])["f1"] == pytest.approx(1 / 3)


def test_questions_of_one_original_count_once():
    answers, golds = ["a b", "b", "c", "d"] * 10, [["a b"], ["a b"], ["d"], ["d"]] * 10
    alone = answer_f1(answers[:20], golds[:20])
    twice = answer_f1(answers[:20] * 2, golds[:20] * 2, clusters=list(range(20)) * 2)
    for key in ("exact_match_ci", "f1_ci"):
        assert twice[key] == pytest.approx(alone[key])
        assert twice[key][0] < twice[key.removesuffix("_ci")] < twice[key][1]


def test_a_run_scores_as_the_metric_does():
    rows = [("1990年", ["1990", "1990年"]), ("不知道", ["北京"]), ("北京市", ["北京"])]
    judged = [
        SpanAnswer(rules="cmrc2018").score(answer, {"answers": {"text": golds, "answer_start": [0] * len(golds)}})
        for answer, golds in rows
    ]
    result = answer_f1([answer for answer, _ in rows], [golds for _, golds in rows])
    assert np.mean([row["score"] for row in judged]) == pytest.approx(result["f1"])
    assert np.mean([row["exact_match"] for row in judged]) == pytest.approx(result["exact_match"])


def test_answers_are_scored_from_files(tmp_path):
    said, data = tmp_path / "said.jsonl", tmp_path / "data.jsonl"
    said.write_text('{"id": "1", "prediction": "in Paris"}\n{"id": "2", "prediction": "1889"}\n')
    data.write_text(
        '{"id": "2", "answers": {"text": ["1889"], "answer_start": [0]}}\n'
        '{"id": "1", "answers": {"text": ["Paris", "in Paris"], "answer_start": [3, 0]}}\n'
    )
    result = score("answer_f1", [said], data)
    assert (result["exact_match"], result["f1"], result["join"]) == (1.0, 1.0, {"examples": 2})
