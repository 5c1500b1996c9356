"""The verdict on synthetic noise: its numbers, its classifier against scikit-learn, and the command's function."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import SHARED_DATA
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from lapsus.metrics.human_likeness import score
from lapsus.metrics.human_likeness.score import human_likeness
from lapsus.perturbations.zh.homophone import ZhHomophone
from lapsus.reporting.fidelity import fidelity, format_fidelity, read_texts

READIN = SHARED_DATA / "readin"
SUBJECTS = "我你他她它们谁这那有人大家老师学生医生朋友"
VERBS = ["喜欢", "知道", "需要", "看见", "听说", "想要", "记得", "忘记"]
OBJECTS = ["天气", "电影", "火车", "手机", "音乐", "饭店", "衣服", "考试", "银行", "城市"]
CLEAN = [s + v + "今天的" + o for s in SUBJECTS for v in VERBS for o in OBJECTS][::7]


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("里", "历", "homophone"),  # READIN, Table 1: 里程 → 历程
        ("提额", "贴", "resegmented"),  # Table 1
        ("要尽力", "药剂量", "same_initials"),  # Table 4: yjl
        ("第二", "地热", "other"),  # Table 4: er → re
        ("查", "擦", "fuzzy_sound"),
        ("是", "四", "fuzzy_sound"),
        ("湖南", "护栏", "fuzzy_sound"),
        ("飞机", "灰机", "fuzzy_sound"),
        ("明", "民", "fuzzy_sound"),
        ("", "啊", "insertion"),
        ("，", "", "deletion"),
        ("APP", "英文", "other"),
        ("上海", "伤害人", "other"),  # 3 of 11 letters differ, more than a quarter
    ],
)
def test_kinds_of_change(old, new, kind):
    assert score.classify_change(old, new) == kind


def test_all_versions_of_a_sentence_are_on_the_same_side(monkeypatch):
    """Else the classifier would know the sentence that it is asked about."""
    sides = []

    def seen(*given):
        sides.append(given[2])
        return score.Auc(None, None)

    monkeypatch.setattr(score, "estimate_auc", seen)
    human = [[text[1:], text[:-1]] for text in CLEAN[:20]]
    sides_of = score.human_likeness, [text[::-1] for text in CLEAN[:20]], CLEAN[:20], human
    sides_of[0](*sides_of[1:])
    synthetic, first, second = np.split(sides[0], 3)
    assert (synthetic == first).all() and (first == second).all()
    assert len(set(first.tolist())) > 1
    sides.clear()
    sides_of[0](*sides_of[1:], clusters=[place // 4 for place in range(20)])
    of_original = np.split(sides[0], 3)[0].reshape(5, 4)
    assert (of_original == of_original[:, :1]).all()
    assert len(set(of_original[:, 0].tolist())) > 1


def test_what_only_one_sentence_has_is_no_feature():
    """The classifier is asked of other sentences than those it has seen."""
    names = score.extract_features(score._read_tracks("human", ["甲乙", "丙丁"], ["甲乙", "丙戊"])).names
    assert "text ^" in names
    assert not {"text 甲", "text 丁", "edit 戊→丁"} & {*names}


@given(st.text("天气好a，", max_size=12), st.text("天气号b，", max_size=12))
def test_changes_rebuild_the_noisy_text(clean, noisy):
    found = score.list_changes(clean, noisy)
    assert all(old != new for old, new, _ in found)
    assert sum(len(new) - len(old) for old, new, _ in found) == len(noisy) - len(clean)
    kept = len(clean) - sum(len(old) for old, _, _ in found)
    assert sum(len(new) for _, new, _ in found) + kept == len(noisy)
    assert (not found) == (clean == noisy)


def test_the_profile_counts_by_hand():
    result = human_likeness(
        [["里城", "历程"], ["提额", "贴"]], ["里程", "提额"], [["里程", None], ["t额", "提额了"]], top_features=3
    )
    made = result["synthetic"]
    assert made["micro_average"] == pytest.approx((0.5 + 0.5 + 0 + 1) / 4)
    assert made["worst_average"] == pytest.approx((0.5 + 1) / 2)
    assert made["annotator_averages"] == pytest.approx([0.25, 0.75])
    assert (made["unchanged"], made["equal_length"]) == pytest.approx((1 / 4, 2 / 3))
    assert made["kinds"]["homophone"] == pytest.approx(2 / 3)
    assert made["kinds"]["resegmented"] == pytest.approx(1 / 3)
    assert made["span_lengths"]["2"] == pytest.approx(1 / 3)
    people = result["human"]
    assert people["micro_average"] == pytest.approx((0 + (0.5 + 0.5) / 2) / 2)
    assert people["new_latin"] == pytest.approx(1 / 3)
    json.dumps(result)


def test_the_classifier_agrees_with_scikit_learn():
    draw = np.random.default_rng(1)
    values = draw.normal(size=(400, 12)) * (draw.random((400, 12)) < 0.5)
    labels = (values[:, 0] - values[:, 1] + draw.normal(size=400) > 0.7).astype(float)
    ours = score.fit_logistic(csr_matrix(values), labels)
    theirs = LogisticRegression(C=1, tol=1e-8, class_weight="balanced").fit(values, labels)
    assert ours[:-1] == pytest.approx(theirs.coef_[0], abs=2e-2)
    assert ours[-1] == pytest.approx(theirs.intercept_[0], abs=2e-2)
    scores = np.round(values @ ours[:-1], 1)  # rounded: ties are the point
    assert score.compute_auc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))


def homophones(rate, seeds):
    return list(zip(*(ZhHomophone(rate).rewrite(CLEAN, seed=seed) for seed in seeds), strict=True))


def test_the_same_noise_cannot_be_told_apart():
    result = human_likeness(homophones(0.3, (1, 2, 3)), CLEAN, homophones(0.3, (4, 5, 6)))
    assert result["auc"] == pytest.approx(0.5, abs=0.07)
    assert result["human_aucs"] == pytest.approx([0.5] * 3, abs=0.1)


def test_other_noise_can_be_told_apart_and_what_gives_it_away_is_named():
    slips = [[text.replace("今天的", "今天de"), text[:-1]] for text in CLEAN]
    result = human_likeness(homophones(0.3, (1, 2)), CLEAN, slips)
    assert result["auc"] > 0.95
    assert {"homophone 1→1", "kind homophone"} & set(result["features"]["synthetic"])
    assert "kind deletion" in result["features"]["human"]
    assert result["human_aucs"][0] > 0.95


def test_the_order_of_examples_does_not_matter_for_the_profile_and_hardly_for_the_auc():
    one, other = homophones(0.2, (1,)), homophones(0.4, (2,))
    forward = human_likeness(one, CLEAN, other)
    backward = human_likeness(one[::-1], CLEAN[::-1], other[::-1])
    assert forward["synthetic"]["kinds"] == backward["synthetic"]["kinds"]
    assert forward["auc"] == pytest.approx(backward["auc"], abs=0.01)
    assert forward == human_likeness(one, CLEAN, other)


@pytest.mark.parametrize(
    ("predictions", "references", "human", "says"),
    [
        (["a"], ["b", "c"], ["d", "e"], "differ in length"),
        (["a"], [""], ["d"], "is empty.*leave it out"),
        ([["a", None]], ["b"], ["d"], "writer without any text"),
        ([["a"], ["b", "c"]], ["b", "d"], ["d", "e"], "annotators"),
    ],
)
def test_wrong_columns_say_the_cure(predictions, references, human, says):
    with pytest.raises(ValueError, match=says):
        human_likeness(predictions, references, human)
    with pytest.raises(TypeError, match="not text"):
        human_likeness([["a"], [3]], ["b", "c"], ["d", "e"])


def test_files_of_lines_and_of_json_lines(tmp_path):
    lines, rows = tmp_path / "clean.txt", tmp_path / "human.jsonl"
    lines.write_text("你好吗\n再见\n", encoding="utf-8")
    rows.write_text('{"id": 1, "zh": "你好嘛\\n", "en": "x"}\n{"id": 2, "zh": "在见", "en": "y"}\n', encoding="utf-8")
    assert read_texts(rows, "zh") == ["你好嘛", "在见"]
    result = fidelity(lines, [rows], [lines, lines], text="zh")
    assert result["human"]["kinds"]["homophone"] == 1
    assert "error rate, worst" in format_fidelity(result)


def test_rows_are_matched_by_their_ids(tmp_path):
    files = {
        "clean": {7: "你好", 8: "再见", 9: "谢谢"},
        "human": {9: "谢些", 7: "你号"},
        "made": {9: "谢谢", 8: "在见", 7: "你好"},
    }
    for name, texts in files.items():
        lines = (json.dumps({"id": key, "zh": text}, ensure_ascii=False) for key, text in texts.items())
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    clean, human, made = (tmp_path / f"{name}.jsonl" for name in files)
    result = fidelity(clean, [human], [made])
    assert (result["examples"], result["human"]["unchanged"], result["synthetic"]["unchanged"]) == (2, 0, 1)
    assert "compared 2 of 3 sentences" in format_fidelity(result)


def test_the_file_without_common_ids_is_the_one_that_is_named(tmp_path):
    for name, ids in {"clean": "abc", "human": "abc", "other": "xyz", "first": "a", "last": "c"}.items():
        lines = (json.dumps({"id": key, "zh": "你好"}, ensure_ascii=False) for key in ids)
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    clean, human, other, first, last = (tmp_path / f"{n}.jsonl" for n in ("clean", "human", "other", "first", "last"))
    with pytest.raises(ValueError, match=r"other\.jsonl: none of its ids is in .*clean\.jsonl \('x', .* against 'a', "):
        fidelity(clean, [human], [other])
    with pytest.raises(ValueError, match=r"No sentence of .*clean\.jsonl is in all the other files"):
        fidelity(clean, [first], [last])


def test_files_that_do_not_fit_say_the_cure(tmp_path):
    rows, short = tmp_path / "rows.jsonl", tmp_path / "short.txt"
    rows.write_text('{"zh": "a", "en": "b"}\n', encoding="utf-8")
    short.write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(ValueError, match="--text"):
        read_texts(rows)
    with pytest.raises(LookupError, match="no text 'fr'"):
        read_texts(rows, "fr")
    with pytest.raises(ValueError, match=r"has 1 texts and .* has 2"):
        fidelity(short, [rows], [short], text="zh")
    rows.write_text("no json\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"rows.jsonl, line 1, column 1: .*every line is one JSON object"):
        read_texts(rows)
    (tmp_path / "rows.json").write_text('{"zh": "a"}\n{"zh": "b"}\n', encoding="utf-8")
    assert read_texts(tmp_path / "rows.json") == ["a", "b"]  # JSON lines, whatever they are called


@pytest.mark.parametrize("name", ["texts.jsonl", "texts.txt"])
def test_only_a_line_feed_ends_a_line_and_a_byte_order_mark_is_no_text(tmp_path, name):
    texts = [f"你{space}好" for space in "\u2028\u0085\x0b"]
    lines = [json.dumps({"zh": text}, ensure_ascii=False) for text in texts] if name.endswith("l") else texts
    (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    assert read_texts(tmp_path / name) == texts


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not READIN.is_dir(), reason="needs READIN's files beside the checkout")
def test_the_papers_homophones_are_found_out_and_humans_are_not():
    names = ["test_clean", *(f"test_noisy_keyboard_{n}" for n in (1, 2, 3))]
    files = [(READIN / "realtypo_nmt" / f"{name}.json").read_text(encoding="utf-8").split("\n") for name in names]
    clean, *humans = ([json.loads(line)["zh"].strip() for line in lines if line] for lines in files)
    made = [ZhHomophone(0.18, same_tone=False).rewrite(clean, seed=seed) for seed in (1, 2, 3)]
    result = human_likeness(list(zip(*made, strict=True)), clean, list(zip(*humans, strict=True)))
    assert result["human"]["micro_average"] == pytest.approx(0.184, abs=0.001)  # these 974 of 1,948 rows
    assert result["auc"] > 0.99
    assert all(0.65 < auc < 0.92 for auc in result["human_aucs"])
