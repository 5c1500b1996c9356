"""The sub-character tokenizer: every text comes back, homophones are one where they should be, folders load anywhere."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers")

from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers.normalizers import Precompiled
from transformers import AutoTokenizer, BertConfig

from lapsus.papers.subchar.charsmap import build_charsmap
from lapsus.papers.subchar.codes import CODES, END, RESERVED, format_codes, make_spellings
from lapsus.papers.subchar.tokenizer import SubCharTokenizer

TEXTS = ["花呗怎么不能提额了", "支付宝怎么还款", "Can I pay with 花呗?", "借呗额度为什么没有了"] * 3
SHAPES = [*CODES]
ODD = st.text(
    st.one_of(
        st.sampled_from("花呗怎么提额鑫〇龘㐀𠀀éֿّ́̈ a[]<>0xE4\n\t🦜👩‍👩‍👧"),
        st.sampled_from([*RESERVED, "\ue100"]),
        st.characters(exclude_categories=["Cs"]),
    )
)


@pytest.fixture(scope="module")
def exact():
    return {code: SubCharTokenizer.train(TEXTS, code, index=True, size=600) for code in SHAPES}


@pytest.fixture(scope="module")
def forgiving():
    return SubCharTokenizer.train(TEXTS, "pinyin", size=600)


def back(tokenizer, text):
    return tokenizer.decode(tokenizer(text).input_ids, skip_special_tokens=True)


@pytest.mark.parametrize("code", SHAPES)
@given(text=ODD)
@settings(max_examples=60, deadline=None)
def test_every_text_comes_back(exact, code, text):
    assert back(exact[code], text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[SEP] [PAD]",
        "<0xE4>",
        "花\u0301花",
        "\ue0fd花\ue0ff",
        "花\ue100\u0301花\u0301\ue100\ue100",
        "",
        " ",
        "hua1花1",
        "\r\n花",
    ],
)
@pytest.mark.parametrize("code", SHAPES)
def test_awkward_texts_come_back(exact, code, text):
    assert back(exact[code], text) == text


def test_nothing_is_unknown(exact):
    for tokenizer in exact.values():
        assert tokenizer.unk_token_id not in tokenizer("龘🦜ñ\ue000𠀀 [UNK]").input_ids


def test_characters_that_sound_alike_are_one_without_an_index(forgiving, exact):
    assert forgiving("支付").input_ids == forgiving("之富").input_ids  # zhi1 fu4
    assert forgiving("支付").input_ids != forgiving("支夫").input_ids  # fu1
    assert exact["pinyin"]("支付").input_ids != exact["pinyin"]("之富").input_ids
    assert back(forgiving, "之富宝") == "支付宝"  # the frequent ones


def test_tones_and_keys_are_as_published():
    shown = {code: format_codes(make_spellings(code, index=False)["明"]) for code in SHAPES if code != "characters"}
    assert shown == {
        "pinyin": "ming2.",
        "pinyin-toneless": "ming.",
        "zhuyin": "ㄇㄧㄥ2.",
        "wubi": "jeg.",
    }


@pytest.mark.parametrize("code", [code for code in SHAPES if code != "characters"])
def test_codes_with_an_index_are_all_different(code):
    spelt = make_spellings(code, index=True)
    assert len(spelt) > 20_000
    assert len(set(spelt.values())) == len(spelt)
    assert all(each.endswith(END) and each.count(END) == 1 for each in spelt.values())


def test_offsets_lead_to_the_characters_of_the_text(exact):
    text = "用花呗pay!"
    tokenizer = exact["pinyin"]
    made = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
    covered = {place for start, end in made.offset_mapping for place in range(start, end)}
    assert covered == set(range(len(text)))


def test_a_saved_folder_gives_the_same_numbers_with_and_without_lapsus(exact, tmp_path):
    texts = ["花呗怎么还款", "花\u0301 [SEP] 🦜", "abc"]
    exact["zhuyin"].save_pretrained(tmp_path)
    again = SubCharTokenizer.from_pretrained(tmp_path)
    assert [again(text).input_ids for text in texts] == [exact["zhuyin"](text).input_ids for text in texts]
    assert [back(again, text) for text in texts] == texts
    BertConfig(vocab_size=600).save_pretrained(tmp_path)  # as in a model's folder
    plain = AutoTokenizer.from_pretrained(tmp_path)
    assert [plain(text).input_ids for text in texts] == [exact["zhuyin"](text).input_ids for text in texts]
    assert plain.pad_token_id == 0 and plain("花", "呗").token_type_ids == again("花", "呗").token_type_ids


def test_pairs_have_their_marks(exact):
    tokenizer = exact["pinyin"]
    pair = tokenizer("花", "呗")
    shown = tokenizer.convert_ids_to_tokens(pair.input_ids)
    assert shown[0] == "[CLS]" and shown.count("[SEP]") == 2 and shown[-1] == "[SEP]"
    assert pair.token_type_ids[0] == 0 and pair.token_type_ids[-1] == 1


def test_what_a_model_may_write_is_decoded(exact):
    tokenizer = exact["pinyin"]
    cut = tokenizer("花", add_special_tokens=False).input_ids[:1]
    assert isinstance(tokenizer.decode([*cut, *cut, 7, 300]), str)


@given(
    st.dictionaries(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
        st.text("abc花", max_size=4),
        min_size=1,
        max_size=40,
    )
)
@settings(max_examples=60, deadline=None)
def test_a_charsmap_maps_each_character_and_nothing_else(texts):
    normalizer = Precompiled(build_charsmap(texts))
    for key, text in texts.items():
        assert normalizer.normalize_str(key) == text
    assert normalizer.normalize_str("\u2603") == texts.get("\u2603", "\u2603")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: SubCharTokenizer.train(TEXTS, "stroke"), "choose one of pinyin"),
        (lambda: SubCharTokenizer.train(TEXTS, "pinyin", size=100), "give at least"),
        (lambda: build_charsmap({"ab": "c"}), "a key is one character"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(call, said):
    with pytest.raises(ValueError, match=said):
        call()
