"""A character sounds as before, each homophone is equally likely, and a higher rate only adds."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypinyin import Style, pinyin

from lapsus.perturbations import Operator, apply, perturb, perturb_batch
from lapsus.perturbations.core import KeyedOperator
from lapsus.perturbations.zh.homophone import UNITS, ZhHomophone

SENTENCES = ["花呗怎么不能提额了", "", "今天天气很好", "Wi-Fi连不上，怎么办？", "👍𠀀", "國際標準", "龘\ud800"]
texts = st.lists(st.text(st.sampled_from("花呗怎么不能提额了是时事abc，1 國👍"), max_size=20), max_size=8)


def test_protocol():
    assert isinstance(UNITS[0], Operator)
    assert isinstance(UNITS[0], KeyedOperator)


@given(texts, st.floats(0, 1), st.floats(0, 1), st.integers(0, 99))
def test_a_higher_rate_only_adds_edits(sentences, one, other, seed):
    low, high = sorted((one, other))
    few = perturb_batch(ZhHomophone(low), sentences, seed=seed)
    many = perturb_batch(ZhHomophone(high), sentences, seed=seed)
    assert all(set(a) <= set(b) for a, b in zip(few, many, strict=True))


@given(texts, st.integers(0, 99))
def test_neither_batch_nor_order_nor_the_fast_path_changes_a_byte(sentences, seed):
    op, keys = ZhHomophone(0.5), [f"row-{n}" for n in range(len(sentences))]
    together = perturb_batch(op, sentences, seed=seed, keys=keys)
    assert together == [perturb(op, text, seed=seed, key=key) for text, key in zip(sentences, keys, strict=True)]
    assert together[::-1] == perturb_batch(op, sentences[::-1], seed=seed, keys=keys[::-1])
    noisy = [apply(text, edits) for text, edits in zip(sentences, together, strict=True)]
    assert op.rewrite(sentences, seed=seed, keys=keys) == noisy


@pytest.mark.parametrize("charset", ["gb2312", "cjk"])
@pytest.mark.parametrize("same_tone", [True, False])
def test_every_replacement_sounds_like_what_it_replaces(charset, same_tone):
    style = Style.TONE if same_tone else Style.NORMAL
    op = ZhHomophone(1, same_tone=same_tone, charset=charset)
    for text in SENTENCES:
        edits = perturb(op, text, seed=3)
        assert [edit.end - edit.start for edit in edits] == [len(edit.text) for edit in edits] == [1] * len(edits)
        for start, _, new in edits:
            old = text[start]
            assert new != old
            assert set(pinyin(new, style, heteronym=True)[0]) & set(pinyin(old, style, heteronym=True)[0])
            assert charset == "cjk" or len(new.encode("gb2312")) == 2


def test_every_homophone_is_equally_likely():
    op = ZhHomophone(1, same_tone=False)
    counts = Counter(op.rewrite(["提"] * 20_000, keys=[str(n) for n in range(20_000)]))
    expected = 20_000 / len(counts)
    assert len(counts) > 20
    assert "提" not in counts
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    assert statistic < len(counts) + 5 * (2 * len(counts)) ** 0.5  # five standard deviations of chi-squared


def test_the_rate_is_the_share_of_replaced_characters():
    edits = perturb_batch(ZhHomophone(0.2), ["时"] * 20_000, keys=[str(n) for n in range(20_000)])
    assert sum(map(len, edits)) / 20_000 == pytest.approx(0.2, abs=0.012)


def test_what_has_no_homophone_stays():
    assert perturb(ZhHomophone(1), "hello, 123 👍 \ud800 http://") == ()
    assert perturb(ZhHomophone(1), "") == ()
    assert perturb_batch(ZhHomophone(1), []) == []


def test_one_text_may_come_with_its_own_stream():
    edits = ZhHomophone(1).edits("时时时", random.Random(1))
    assert [edit.start for edit in edits] == [0, 1, 2]


def test_published_noise_is_frozen():
    text = "花呗怎么不能提额了"
    assert apply(text, perturb(ZhHomophone(0.5), text, seed=1, key="row-7")) == "花呗怎么埠能鹈莪了"


@pytest.mark.parametrize(
    ("wrong", "says"), [({"rate": 2}, "rate is 2"), ({"charset": "big5"}, "'big5'; choose one of")]
)
def test_wrong_parameters_say_the_cure(wrong, says):
    with pytest.raises(ValueError, match=says):
        ZhHomophone(**wrong)
