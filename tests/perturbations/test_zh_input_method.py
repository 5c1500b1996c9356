"""Letters become ranked Chinese text, as in the input methods that people use."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypinyin import lazy_pinyin
from rapidfuzz.distance import Levenshtein

from lapsus.perturbations.zh.input_method.installed import list_input_methods, open_input_method
from lapsus.perturbations.zh.input_method.pinyin import QUICK, STARTS, Word, load_engine

SENTENCES = [  # written for this test
    "我们明天上午去公园散步",
    "这个问题应该怎么解决",
    "请把门关上外面很冷",
    "他每天坐地铁去公司上班",
    "火车什么时候到北京",
    "孩子们在操场上踢足球",
    "医生建议他多喝水多休息",
    "这家饭店的菜又便宜又好吃",
    "会议推迟到下个星期三",
    "图书馆里非常安静",
    "老师让我们写一篇作文",
    "手机没电了我找不到充电器",
    "他的建议得到了大家的支持",
    "昨天晚上下了一场大雨",
    "银行卡的密码忘记了怎么办",
    "政府宣布了新的经济政策",
    "科学家发现了一种新的材料",
    "我已经付款了为什么没有发货",
    "春天来了花园里的花都开了",
    "这条路正在维修请绕行",
]


@pytest.fixture(scope="module")
def engine():
    return load_engine()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("tie", "贴"), ("licheng", "历程"), ("dire", "地热"), ("yjl", "药剂量"), ("shishi", "事实"), ("huabei", "华北")],
    ids=lambda value: value if value.isascii() else "",
)
def test_what_readins_typists_got_is_offered(engine, keys, expected):
    assert expected in engine.candidates(keys, limit=10)


@pytest.mark.parametrize(
    ("context", "word", "or_mark"),
    [("我用支付宝", "支付宝", "支付宝"), ("还款，", "", "，"), ("还款。，", "", "，"), ("abc", "", ""), ("", "", "")],
)
def test_the_last_word_of_a_context(engine, context, word, or_mark):
    assert engine.find_last_word(context) == word
    assert engine.find_last_word(context, STARTS) == or_mark


def test_context_decides_between_words_of_the_same_sound(engine):
    assert engine.candidates("jizhe", "新华社")[0] == "记者"
    assert engine.sentence("tadaogongyuanpaobu").endswith("到公园跑步")


@pytest.mark.parametrize("last", ["", "支付宝", "的", "，", "。", "龘龘"])
def test_one_cost_is_that_of_the_row(engine, last):
    row, backoff = engine.bigrams.row(last)
    for text in [*list(row)[:300], "还款", "花呗", "的", "，"]:
        word = engine.by_text.get(text) or Word(text, "", 20.0)
        assert engine.bigrams.costs(last, [word]) == [engine.bigrams.cost(last, word)]
        assert engine.bigrams.cost(last, word) == (row[text] + word.rarer if text in row else backoff + word.cost)


def test_mixed_and_abbreviated_input(engine):
    assert "怎么" in engine.candidates("zenm")
    assert "为什么" in engine.candidates("wsm")
    assert engine.candidates("zhongg", limit=3)[0][0] in "中种重忠"
    assert engine.candidates("xi'an")[0] == "西安"
    assert engine.candidates("xian")[0] != "西安"


def test_whole_sentences_come_back(engine):
    errors = sum(Levenshtein.distance(s, engine.sentence("".join(lazy_pinyin(s)))) for s in SENTENCES)
    assert errors / sum(map(len, SENTENCES)) <= 0.10


def test_alternatives_are_weighed(engine):
    heard = [[("hu", 0.0), ("fu", 1.0)], [("lan", 0.0), ("nan", 1.0)], [("ren", 0.0)]]
    assert engine.decode_slots(heard) == "湖南人"
    assert engine.decode_slots([[("hu", 9.0), ("fu", 0.0)], [("nan", 0.0)]], "")[0] not in "湖胡"


def test_a_syllable_may_be_missing(engine):
    lattice = [
        [(1, "jin", 0.0)],
        [(2, "tian", 0.0)],
        [(3, "", 0.5), (3, "de", 9.0)],
        [(4, "tian", 0.0)],
        [(5, "qi", 0.0)],
    ]
    assert engine.decode(lattice) == "今天天气"


def test_readings_follow_the_word(engine):
    assert engine.readings("银行的行长") == ["yin", "hang", "de", "hang", "zhang"]
    assert engine.readings("𠀀a1") == ["", "", ""]


@given(st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyz'"), max_size=24), st.integers(1, 30))
def test_any_letters_are_taken(keys, limit):
    found = load_engine().candidates(keys, limit=limit)
    assert len(found) <= limit
    assert len(set(found)) == len(found)
    assert bool(found) or not keys.strip("'")


@given(st.text(max_size=40))
def test_segments_are_the_text(text):
    words = load_engine().segment(text)
    assert "".join(word.text for word in words) == text
    assert len(load_engine().readings(text)) == len(text)


@given(
    st.text(
        st.sampled_from(
            "的一是了我不在人们有来他这上着个地到大里说就去子得也和那要下看天时过出小么起你都把好还多没为又可家学只以主会样年想生"
        ),
        min_size=1,
        max_size=8,
    )
)
def test_full_pinyin_gives_as_many_characters(text):
    syllables = load_engine().readings(text)
    assert len(load_engine().sentence(syllables)) == len(text)


def test_own_words_come_back_and_the_engine_they_are_added_to_stays(engine):
    own = engine.with_words({"花呗": 0.02, "借呗": 0.01, "银行": 0.1})
    assert own.candidates("huabei", limit=1) == ["花呗"]
    assert own.sentence("zenmekaitongjiebei") == "怎么开通借呗"
    assert [word.text for word in own.segment("花呗还款")] == ["花呗", "还款"]
    assert own.by_text["银行"] == Word("银行", "yin hang", -math.log(0.1))
    assert [word.text for word in own.by_reading["yin hang"]].count("银行") == 1
    assert engine.candidates("huabei", limit=1) == ["华北"]
    assert engine.by_text["花呗"].cost > own.by_text["花呗"].cost


def test_what_is_likelier_already_stays(engine):
    same = engine.with_words({"的": 1e-9, "银行": 1e-9})
    assert same.entries == engine.entries
    assert same.rank_candidates("yinhang", "", 5) == engine.rank_candidates("yinhang", "", 5)


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ({"花呗a": 0.1}, "'花呗a' cannot be typed"),
        ({"": 0.1}, "'' cannot be typed"),
        ({"花呗": 0.0}, "share of 花呗 is 0.0: give a part"),
        ({"花呗": 12}, "share of 花呗 is 12: give a part"),
    ],
)
def test_own_words_that_cannot_be_are_one_sentence(engine, shares, said):
    with pytest.raises(ValueError, match=said):
        engine.with_words(shares)


@pytest.mark.parametrize("text", SENTENCES)
def test_letters_taken_apart_from_the_end_give_what_a_search_from_the_beginning_gives(engine, text):
    keys = "".join(engine.readings(text[:7]))
    best = engine._search(engine.parse(keys), "", QUICK, 2 * QUICK)[0]
    found = dict(engine.find_full_texts(keys, "", 20))
    assert min(found.values()) <= best[0] + 1e-9
    assert best[2] in found


def test_long_input_is_taken(engine):
    assert engine.candidates("nihao" * 300 + "h", limit=1)[0].startswith("你好" * 200)


INSTALLED = [engine.name for engine in list_input_methods() if engine.available]


@pytest.mark.parametrize("name", INSTALLED)
def test_real_input_methods_agree_with_ours(engine, name):
    real = open_input_method(name)
    words = [w for w in map(Word._make, engine.entries) if 2 <= len(w.text) <= 4 and w.cost < 13][::30][:400]
    keys = ["".join(w.reading.split(" ")) for w in words]
    same = sum(real.candidates(k, limit=1)[:1] == engine.candidates(k, limit=1) for k in keys)
    assert same / len(keys) >= 0.85


@pytest.mark.parametrize("name", INSTALLED)
def test_real_input_methods_take_anything_and_learn_nothing(name):
    real = open_input_method(name)
    before = real.candidates("shishi", limit=5)
    for keys in ("", "i", "zzzz", "yjl", "shishishishi", "'"):
        assert len(real.candidates(keys, limit=3)) <= 3
    assert real.candidates("shishi", limit=5) == before
    assert len(before) == 5


@pytest.mark.parametrize("name", INSTALLED)
def test_real_input_methods_leave_no_files_behind(name, tmp_path):
    program = f"from lapsus.perturbations.zh.input_method.installed import open_input_method; print(open_input_method({name!r}).candidates('shishi', limit=1))"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, check=True
    )
    assert done.stdout.decode().strip() != "[]"
    assert list(tmp_path.iterdir()) == []


def test_a_missing_input_method_says_how_to_get_it(monkeypatch):
    with pytest.raises(LookupError, match="'sogou' is unknown; choose from embedded, libgooglepinyin"):
        open_input_method("sogou")
    from lapsus.perturbations.zh.input_method.installed import libpinyin

    monkeypatch.setattr(libpinyin, "is_available", lambda: False)
    with pytest.raises(LookupError, match="not installed; apt-get install libpinyin15"):
        open_input_method("libpinyin")
