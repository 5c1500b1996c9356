"""What is typed could have been typed by a person; a pure function of text, seed and key."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.core.edits import Edit, apply
from lapsus.perturbations.core import Operator, perturb, perturb_batch
from lapsus.perturbations.noise import Noise
from lapsus.perturbations.streams import find_block
from lapsus.perturbations.zh.input_method.installed import list_input_methods
from lapsus.perturbations.zh.input_method.pinyin import load_engine
from lapsus.perturbations.zh.typist import keyboard, retyping
from lapsus.perturbations.zh.typist.candidates import EMBEDDED, make_input_method
from lapsus.perturbations.zh.typist.habits import Typist, load_annotators, load_habits
from lapsus.perturbations.zh.typist.keyboard import LONGEST, UNITS, ZhKeyboard, _merge_disjoint, retype
from lapsus.perturbations.zh.typist.memory import NOTHING, Memory, cumulate_weights, find_topic, load_memories
from lapsus.perturbations.zh.typist.retyping import is_prose
from lapsus.perturbations.zh.typist.session import TypingSession

PEOPLE = [ZhKeyboard.annotator(n) for n in (1, 2, 3)]
QUESTION = "花呗怎么不能提额了"
PROSE = "新华社北京7月26日电（记者 王立）“各部门要尽力防止病毒在社区进一步扩散。”"
texts = st.text(st.sampled_from("花呗怎么不能提额了的是我们支付宝还款abc12，。“”、 國👍"), max_size=40)
PERFECT = Typist(
    **dict.fromkeys((f.name for f in fields(Typist)), 0.0)
    | {"glance": 1.0, "glance_character": 1.0, "compose": 1.0, "miss": 1.0}
    | {"marks": (0.0, 0.0, 0.0, 0.0), "quotes": (0.0, 0.0)},
)


def reached(text, typist, expected, tries=3000):
    """Say whether this typist can come to type `expected`."""
    return any(apply(text, retype(text, typist, Random(n))) == expected for n in range(tries))


@pytest.mark.parametrize(
    ("text", "expected", "habits"),
    [
        ("提额", "贴", {"join": 1.0, "glance": 0.0, "compose": 0.0, "first": 1.0}),  # tie: the first candidate
        ("里程", "历程", {"glance": 0.0}),  # licheng: the first candidate
        (
            "要尽力",
            "药剂量",
            {"join": 1.0, "abbreviate": 1.0, "glance": 0.0, "compose": 0.0, "first": 1.0, "drift": 0.9},
        ),  # yjl
        ("第二", "地热", {"join": 1.0, "slip": 1.0, "miss": 0.0, "swap": 1.0}),  # dier typed dire
    ],
    ids=["tie", "licheng", "yjl", "dire"],
)
def test_the_errors_of_readins_tables_1_and_4_have_a_path(text, expected, habits):
    assert reached(text, replace(PERFECT, **habits), expected)
    assert not reached(text, PERFECT, expected, tries=20)


def test_a_perfect_typist_changes_nothing():
    for text in (QUESTION, PROSE, "2020-07-26 来源"):
        assert retype(text, PERFECT, Random(1)) == []


def test_people_err_about_as_much_as_readins_annotators():
    changed = [
        sum(apply(QUESTION, perturb(person, QUESTION, key=str(n))) != QUESTION for n in range(300)) / 300
        for person in PEOPLE
    ]
    assert all(0.6 < share < 0.98 for share in changed)


def test_protocol():
    assert isinstance(UNITS[0], Operator)
    assert [unit.name for unit in UNITS] == ["zh_keyboard"]
    assert eval(repr(PEOPLE[1]), {"ZhKeyboard": ZhKeyboard}) == PEOPLE[1]  # noqa: S307 - our own repr


class OnlyRandom(Random):
    """A stream that gives nothing but `random()`."""

    def getrandbits(self, k):
        raise AssertionError("getrandbits was drawn")

    randrange = choice = shuffle = sample = gauss = getrandbits


@given(texts, st.integers(0, 99), st.sampled_from(PEOPLE))
def test_edits_are_sorted_apart_and_change_something(text, seed, person):
    edits = list(person.edits(text, OnlyRandom(seed)))
    noisy = apply(text, edits)
    assert (noisy != text) == bool(edits)
    assert all(text[start:end] != new for start, end, new in edits)
    assert all(a.end <= b.start for a, b in pairwise(edits))
    assert edits == list(person.edits(text, Random(seed)))


@given(texts, st.floats(0, 3), st.floats(0, 3), st.integers(0, 99))
def test_a_higher_rate_only_adds_edits(text, one, other, seed):
    low, high = sorted((one, other))
    few = perturb(ZhKeyboard(rate=low), text, seed=seed)
    many = perturb(ZhKeyboard(rate=high), text, seed=seed)
    assert set(few) <= set(many)
    assert not perturb(ZhKeyboard(rate=0), text, seed=seed)


def test_slips_of_another_go_that_touch_those_of_the_first_are_left_out():
    first = [Edit(2, 4, "x"), Edit(8, 9, "")]
    apart = [Edit(0, 1, "y"), Edit(6, 7, "y"), Edit(10, 11, "y")]
    for touching in (Edit(1, 2, "y"), Edit(3, 3, "y"), Edit(4, 5, "y"), Edit(9, 9, "y"), Edit(7, 10, "y")):
        assert _merge_disjoint(first, sorted([*apart, touching])) == sorted([*first, *apart])


@given(st.lists(texts, max_size=6), st.integers(0, 9))
def test_neither_batch_nor_order_changes_anything(sentences, seed):
    keys = [f"row-{n}" for n in range(len(sentences))]
    together = perturb_batch(PEOPLE[0], sentences, seed=seed, keys=keys)
    assert together[::-1] == perturb_batch(PEOPLE[0], sentences[::-1], seed=seed, keys=keys[::-1])


def test_annotators_differ_on_the_same_key():
    typed = {apply(PROSE * 3, perturb(person, PROSE * 3, key="row-1")) for person in PEOPLE}
    assert len(typed) == 3


def test_what_was_picked_once_is_picked_again():
    habit = replace(PERFECT, glance=0.5, ranking=0.0)
    text = "里程，里程，里程"
    assert {apply(text, retype(text, habit, Random(n))) for n in range(40)} == {text, "历程，历程，历程"}


def test_what_is_typed_out_of_habit_needs_no_slip():
    habit = Memory({"还": cumulate_weights({"换": 1.0})}, {}, {}, cumulate_weights({}))
    assert apply("他还你书", retype("他还你书", PERFECT, Random(1), memory=habit)) == "他换你书"
    assert retype("返还", PERFECT, Random(1), memory=habit) == []  # a word of its own


def test_what_fingers_are_sure_of_comes_out_right():
    hasty = replace(PERFECT, glance=0.0)
    assert {apply("里程", retype("里程", hasty, Random(n))) for n in range(20)} == {"历程"}
    sure = Memory({}, {"里程": 1.0}, {}, cumulate_weights({}))
    assert all(retype("里程", hasty, Random(n), memory=sure) == [] for n in range(20))


def test_a_candidate_can_be_learned():
    hasty = replace(PERFECT, glance=0.0)
    learned = Memory({}, {}, {"里程": -5.0}, cumulate_weights({}))
    assert all(retype("里程", hasty, Random(n), memory=learned) == [] for n in range(20))


def after_and_alone(keys, before):
    offers = make_input_method(1, 0.0, EMBEDDED, NOTHING, None)
    return [dict(zip(*offers(keys, word), strict=True)) for word in (before, "")]


@pytest.mark.parametrize(
    ("keys", "before", "first"), [("hao", "手机", "号"), ("xing", "提", "醒"), ("qing", "今天", "青")]
)
def test_the_word_before_can_put_another_candidate_first(keys, before, first):
    after, alone = after_and_alone(keys, before)
    assert next(iter(alone)) != next(iter(after)) == first


def test_the_word_before_weighs_two_fifths_of_what_its_bigrams_say():
    after, alone = after_and_alone("hao", "手机")
    costs, (row, backoff) = load_engine().costs, load_engine().bigrams.row("手机")
    moves = {text: row[text] - costs[text] if text in row else backoff for text in after if f"机{text}" not in costs}
    assert len(moves) > 3 and any(text in row for text in moves) and any(text not in row for text in moves)
    for text, move in moves.items():
        assert after[text] - alone[text] == pytest.approx(0.4 * move)


def test_what_was_learned_from_questions_to_a_bank_stays_there():
    assert find_topic("花呗怎么还款") is not None
    assert find_topic("这座城市的海拔是多少") is None
    assert not {"花呗", "借呗"} & {word for person in load_memories().values() for word in person["prose"].confusions}


def test_without_memory_nothing_that_was_learned_is_read(monkeypatch):
    def typed(memory):
        person = ZhKeyboard(memory=memory)
        return [apply(QUESTION, perturb(person, QUESTION, key=str(n))) for n in range(60)]

    assert eval(repr(ZhKeyboard(2, memory=False))) == ZhKeyboard(2, memory=False)  # noqa: S307 - our own repr
    known = typed(memory=True)
    monkeypatch.setattr(keyboard, "load_memories", None)
    monkeypatch.setattr(retyping, "find_topic", None)
    retyping.classify_text.cache_clear()
    alone = typed(memory=False)
    assert alone != known and sum(text != QUESTION for text in alone) > 20
    with pytest.raises(TypeError):
        typed(memory=True)


def test_what_was_learned_is_words_and_shares():
    for person in load_memories().values():
        for memory in person.values():
            assert all(0 < sums[-1] <= 1 and len(texts) == len(sums) for texts, sums in memory.confusions.values())
            assert all(0 < share < 1 for share in memory.mastered.values())
            assert all(abs(cost) <= 5 for cost in memory.ranks.values())
            words = [*memory.confusions, *memory.mastered, *memory.ranks, *memory.strays[0]]
            assert all(len(word) <= 4 and min(word) >= "\u4e00" for word in words)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "國際標準資訊",
        "Wi-Fi连不上",
        "https://example.org/a?b=1",
        "👍🏽👨‍👩‍👧",
        "𠀀龘\ud800",
        "12.5%",
        "\n\t",
        "。",
        "ｆｕｌｌ",
        "й",
        "한국어",
        "まで",
        "還是还是",
    ],
)
@pytest.mark.parametrize("person", PEOPLE, ids=["1", "2", "3"])
def test_bad_input_is_handled(person, text):
    for n in range(30):
        noisy = apply(text, perturb(person, text, key=str(n)))
        assert isinstance(noisy, str)
        assert len(noisy) <= 3 * len(text) + 6


def test_what_cannot_be_typed_is_left_and_said():
    person = PEOPLE[0]
    assert perturb(person, "國際標準") == ()
    assert "國 際" in person.untouched("國際標準")
    assert person.untouched(QUESTION) == person.untouched("") == ""


@pytest.mark.slow
def test_a_million_characters_take_bounded_time():
    text = "花呗怎么不能提额了，" * 100_000
    start = time.process_time()
    edits = perturb(PEOPLE[0], text)
    assert time.process_time() - start < 20
    assert edits
    assert max(edit.end for edit in edits) <= LONGEST
    assert f"the first {LONGEST} characters" in PEOPLE[0].untouched(text)


@pytest.mark.parametrize("name", [engine.name for engine in list_input_methods() if engine.available])
def test_a_real_input_method_can_stand_in(name):
    person = ZhKeyboard(2, engine=name)
    typed = {apply(QUESTION, perturb(person, QUESTION, key=str(n))) for n in range(30)}
    assert len(typed) > 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"who": 0}, "who is 0; give a number from 1 to 10000"),
        ({"rate": -1}, "rate is -1; give a number from 0 to 10"),
        ({"engine": "sogou"}, "'sogou' is unknown"),
    ],
)
def test_errors_name_the_value_and_the_cure(arguments, message):
    with pytest.raises((ValueError, LookupError), match=message):
        ZhKeyboard(**arguments)


def sat_together(person, rows, seed=0):
    """Return pairs of texts as one person types them, each pair in a sitting."""
    texts = [text for row in rows for text in row]
    keys = [f"{n}/{side}" for n in range(len(rows)) for side in "ab"]
    sittings = [key.split("/")[0] for key in keys]
    noisy = list(map(apply, texts, perturb_batch(person, texts, seed=seed, keys=keys, sessions=sittings)))
    return list(zip(noisy[::2], noisy[1::2], strict=True))


def test_in_one_sitting_a_word_fares_as_it_did_before():
    rows = [("里程", "里程")] * 300
    made = sat_together(PEOPLE[0], rows)
    wrong = [pair for pair in made if pair[0] != "里程"]
    assert len(wrong) > 30
    alike = sum(one == other for one, other in wrong) / len(wrong)
    apart = perturb_batch(PEOPLE[0], ["里程"] * 300, keys=[str(n) for n in range(300)])
    chance = max(apart.count(edits) for edits in set(apart) if edits) / 300
    assert alike > 0.5 > 2 * chance
    assert Noise(PEOPLE[0], text=("a", "b"), id="id")({"id": "4", "a": "里程", "b": "里程"})["a"] == made[4][0]


def test_sittings_of_the_keys_change_nothing():
    keys = ["row-1", "row-2"]
    assert perturb_batch(PEOPLE[1], [QUESTION, PROSE], keys=keys) == perturb_batch(
        PEOPLE[1], [QUESTION, PROSE], keys=keys, sessions=keys
    )


def test_a_block_of_rows_shares_the_width_of_digits_and_care():
    wide = replace(PERFECT, wide_digits=0.5)
    blocks = [
        {apply("2020年", retype("2020年", wide, Random(n), session=TypingSession(n, block))) for n in range(5)}
        for block in range(40)
    ]
    assert {frozenset(block) for block in blocks} == {frozenset({"2020年"}), frozenset({"２０２０年"})}
    hasty = replace(PERFECT, glance=0.8, care=0.5)
    shares = [
        sum(bool(retype("里程", hasty, Random(n), session=TypingSession(n, block))) for n in range(200)) / 200
        for block in range(30)
    ]
    assert max(shares) > 2 * min(shares)


def test_the_block_of_a_row_is_the_hundred_that_its_id_is_in():
    assert len({find_block(f"test-{n}") for n in range(200)}) == 2
    assert find_block("test-1") == find_block("test-99") != find_block("dev-1")


def test_a_digit_slips_to_a_key_beside_it_or_chooses_a_candidate():
    typed = {apply("12月", retype("12月", replace(PERFECT, digit=1.0), Random(n))) for n in range(200)}
    assert {"1月", "21月"}.isdisjoint({"12月"}) and len(typed) > 8
    assert not any(digit in text for text in typed for digit in "567890")
    choosing = {apply("上5个", retype("上5个", replace(PERFECT, chosen=1.0), Random(n))) for n in range(40)}
    assert all(text[1:] == "个" and text[0] != "上" for text in choosing)


def test_a_text_keeps_its_own_style_of_marks():
    ascii_marks, mixed = "我去,你呢", "我去,你呢。"
    made = [{apply(text, retype(text, PERFECT, Random(n))) for n in range(40)} for text in (ascii_marks, mixed)]
    assert made == [{ascii_marks}, {mixed, "我去，你呢。"}]


def test_care_leaves_conspicuous_errors_out_first():
    def share(rate):
        edits = [e for n in range(300) for e in perturb(ZhKeyboard(1, rate), PROSE, key=str(n))]
        return sum(e.end - e.start == len(e.text) == 1 for e in edits) / len(edits)

    assert share(0.15) > share(1.0) + 0.25


def test_twice_the_rate_is_about_twice_the_errors():
    rows = [PROSE] * 60
    once, twice = (
        sum(map(len, perturb_batch(ZhKeyboard(1, rate), rows, keys=[str(n) for n in range(60)]))) for rate in (1, 2)
    )
    assert 1.5 < twice / once < 2.4


def test_there_are_more_people_than_three():
    drawn = [load_habits(number)["question"] for number in range(1, 60)]
    assert len({(typist.slip, typist.omit) for typist in drawn}) == len(drawn)
    assert min(t.slip for t in drawn) > 0 and max(t.slip for t in drawn) < 0.1
    assert sum(typist.stop > 0.1 for typist in drawn) in range(1, 15)
    assert perturb(ZhKeyboard.annotator(8), QUESTION, key="a") == perturb(ZhKeyboard.annotator(8), QUESTION, key="a")


def test_registers():
    assert not is_prose(QUESTION)
    assert is_prose(PROSE)
    assert set(load_annotators()) == {1, 2, 3}
