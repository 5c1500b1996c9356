"""Tokens, tags and whole datasets."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, IterableDataset, List, Value

from lapsus.perturbations import (
    OPERATORS,
    Edit,
    Noise,
    apply,
    apply_tags,
    apply_tokens,
    perturb,
    perturb_tokens,
)
from lapsus.perturbations.core import Shout
from lapsus.perturbations.protection import find_words
from lapsus.perturbations.tokens import drop_slot_conflicts, parse_utterance


@dataclass(frozen=True, slots=True)
class Fixed:
    """Makes the edits it is given."""

    wanted: tuple[Edit, ...]
    name: str = "fixed"
    version: str = "1"

    def edits(self, text, rng):
        return self.wanted


TOKENS = ["fly", "to", "new", "york", "now"]
TAGS = ["O", "O", "B-city", "I-city", "B-time"]  # joined: fly 0-3, to 4-6, new 7-10, york 11-15, now 16-19


@pytest.mark.parametrize(
    ("edit", "tokens", "tags"),
    [
        (Edit(0, 0, "so "), "so fly to new york now", "O O O B-city I-city B-time"),
        (Edit(19, 19, " if you can"), "fly to new york now if you can", "O O B-city I-city B-time O O O"),
        (Edit(11, 11, "like "), "fly to like new york now", "O O O B-city I-city B-time"),  # to the border before
        (Edit(10, 10, " like"), "fly to new york like now", "O O B-city I-city O B-time"),  # to the border behind
        (Edit(11, 15, "yolk"), "fly to new yolk now", "O O B-city I-city B-time"),
        (Edit(7, 10, "brand new"), "fly to brand new york now", "O O B-city I-city I-city B-time"),
        (Edit(16, 19, "right now"), "fly to new york right now", "O O B-city I-city B-time I-time"),
        (Edit(7, 11, ""), "fly to york now", "O O B-city B-time"),  # the slot lives on in its other word
        (Edit(7, 15, "nyc"), "fly to nyc now", "O O B-city B-time"),
        (Edit(13, 13, "h"), "fly to new yohrk now", "O O B-city I-city B-time"),
        (Edit(10, 11, ""), "fly to newyork now", "O O B-city B-time"),
    ],
)
def test_tags_follow_their_tokens(edit, tokens, tags):
    noisy = perturb_tokens(Fixed((edit,)), TOKENS, TAGS)
    assert (noisy.tokens, noisy.tags) == (tokens.split(), tags.split())
    assert apply_tokens(TOKENS, noisy.edits) == noisy.tokens
    assert apply_tags(TOKENS, TAGS, noisy.edits) == noisy.tags


@pytest.mark.parametrize(
    "edit",
    [
        Edit(16, 19, ""),  # would leave an empty token
        Edit(15, 19, ""),  # would lose the slot
        Edit(4, 10, "onto"),  # would cross into the slot
        Edit(15, 16, ""),  # would join two slots
        Edit(6, 7, ""),  # would join a slot and its neighbour
        Edit(10, 11, " or "),  # would break the slot
    ],
)
def test_what_would_harm_a_slot_is_not_done(edit):
    noisy = perturb_tokens(Fixed((edit,)), TOKENS, TAGS)
    assert (noisy.tokens, noisy.tags, noisy.edits) == (TOKENS, TAGS, ())


def test_a_harmful_edit_does_not_take_the_others_with_it():
    noisy = perturb_tokens(Fixed((Edit(0, 3, "flee"), Edit(15, 16, ""))), TOKENS, TAGS)
    assert noisy.edits == (Edit(0, 3, "flee"),)


def test_an_i_without_b_opens_a_slot_and_stays_as_it_is():
    noisy = perturb_tokens(Fixed((Edit(0, 3, "new ark"),)), ["nyc", "now"], ["I-city", "O"])
    assert noisy.tags == ["I-city", "I-city", "O"]


def test_tokens_without_tags():
    noisy = perturb_tokens(Shout(), ["go"])
    assert (noisy.tokens, noisy.tags) == (["go!"], None)


@pytest.mark.parametrize(
    ("tokens", "tags", "sentence"),
    [
        (["a", "b"], ["O"], "2 tokens but 1 tags; give one tag per token"),
        (["a"], ["S-city"], "tag 0 is 'S-city'; tags are O, B-label or I-label, so convert them to BIO"),
        (["a", ""], ["O", "O"], "token 1 is ''; a token is a word without spaces, so drop or split it"),
        (["new york"], ["B-city"], "token 0 is 'new york'; a token is a word without spaces, so drop or split it"),
    ],
)
def test_bad_tokens_are_named(tokens, tags, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        perturb_tokens(Shout(), tokens, tags)
    row = {"id": "u7", "tokens": tokens, "tags": tags}
    with pytest.raises(ValueError, match=f"^row 'u7': {re.escape(sentence)}$"):
        Noise(Shout(), text="tokens", tags="tags", id="id")(row)
    kept = Noise(Shout(), text="tokens", tags="tags", id="id", on_error="keep", reason_column="why")(row)
    assert (kept["tokens"], kept["tags"], kept["edits"], kept["why"]) == (tokens, tags, [], sentence)


@pytest.mark.parametrize("name", ["filler_bos", "filler_pre_verb", "synonym_any", "speako", "nlpaug_keyboard"])
def test_protected_words_and_slots_are_never_touched(name):
    tokens = ["add", "buy", "sell", "music", "happy", "songs"]
    tags = ["O", "O", "O", "O", "B-name", "I-name"]
    for seed in range(20):
        noisy = perturb_tokens(
            OPERATORS[name], tokens, tags, seed=seed, protect=["BUY", "music"], protect_slots=["name"]
        )
        assert "buy" in noisy.tokens
        assert "music" in noisy.tokens
        assert "happy songs" in " ".join(noisy.tokens)
        assert [token for token, tag in zip(noisy.tokens, noisy.tags, strict=True) if tag != "O"] == ["happy", "songs"]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("zh_keyboard", "國際標準", "no reading among the simplified characters: 國 際 標 準"),
        ("zh_speech", "国" * 30_000, "nobody dictates more than 20000 characters"),
    ],
)
def test_an_operator_that_knows_why_it_left_a_text_is_quoted(name, text, why):
    row = Noise(OPERATORS[name], reason_column="why")({"text": text})
    assert (row["text"], row["why"]) == (text, why)


def test_protecting_everything_leaves_the_row_with_a_reason():
    noise = Noise(OPERATORS["speako"], protect=("watch", "it"), reason_column="why")
    assert noise({"text": "watch it"}) == {
        "text": "watch it",
        "clean_text": "watch it",
        "edits": [],
        "operator": "Speako(version='2') seed=0",
        "why": "speako finds nothing to change in this text",
    }


ROWS = Dataset.from_list(
    [{"id": f"u{i}", "tokens": ["play", f"song{i}", "now"], "tags": ["O", "B-song", "O"], "n": i} for i in range(23)]
)
TEXTS = Dataset.from_list([{"id": i, "a": "" if i < 12 else "play jazz", "b": "stop it"} for i in range(20)])


def test_rows_of_a_dataset_are_the_same_however_they_are_mapped():
    noise = Noise(OPERATORS["filler_eos"], text="tokens", tags="tags", id="id", seed=4)
    plain = ROWS.map(noise).to_list()
    assert ROWS.map(noise, batched=True, batch_size=7).to_list() == plain
    assert noise.map(ROWS, num_proc=2).to_list() == plain
    assert noise.map(ROWS.select(range(22, -1, -1))).to_list() == plain[::-1]
    assert [noise(row) | {"id": row["id"], "n": row["n"]} for row in ROWS] == plain
    for row in plain:
        assert apply_tokens(row["clean_tokens"], [tuple(edit.values()) for edit in row["edits"]]) == row["tokens"]
        assert perturb(noise.op, " ".join(row["clean_tokens"]), seed=4, key=row["id"]) == tuple(
            Edit(**edit) for edit in row["edits"]
        )


def test_first_rows_without_edits_do_not_spoil_the_types():
    noise = Noise(OPERATORS["filler_bos"], text="a", id="id", reason_column="why")
    noisy = noise.map(TEXTS, batch_size=3)
    assert noisy.features["edits"] == List({"start": Value("int64"), "end": Value("int64"), "text": Value("string")})
    assert noisy[0]["why"] == "the text is empty"
    assert noisy[15]["why"] is None
    assert noisy.num_rows == TEXTS.num_rows


def test_splits_and_streams():
    noise = Noise(OPERATORS["filler_bos"], text="b", id="id")
    plain = noise.map(TEXTS).to_list()
    assert noise.map(DatasetDict(test=TEXTS))["test"].to_list() == plain
    assert list(noise.map(TEXTS.to_iterable_dataset(num_shards=3))) == plain

    def unknown():
        yield from TEXTS

    assert list(noise.map(IterableDataset.from_generator(unknown))) == plain


def test_several_columns_have_noise_of_their_own():
    noisy = Noise(OPERATORS["filler_bos"], text=("a", "b"), id="id").map(TEXTS)
    assert noisy.column_names == ["id", "a", "b", "clean_a", "clean_b", "edits", "operator"]
    for row in noisy:
        for column in ("a", "b"):
            edits = [Edit(**edit) for edit in row["edits"][column]]
            assert apply(row[f"clean_{column}"], edits) == row[column]
    fillers = [(row["edits"]["a"][0]["text"], row["edits"]["b"][0]["text"]) for row in noisy if row["edits"]["a"]]
    assert any(first != second for first, second in fillers)


def test_another_version_is_another_cache_entry():
    first = ROWS.map(Noise(Fixed((Edit(0, 0, "so "),), version="1"), text="id"), batched=True)
    again = ROWS.map(Noise(Fixed((Edit(0, 0, "so "),), version="1"), text="id"), batched=True)
    other = ROWS.map(Noise(Fixed((Edit(0, 0, "so "),), version="2"), text="id"), batched=True)
    release = ROWS.map(Noise(Fixed((Edit(0, 0, "so "),), version="1"), text="id", lapsus="9"), batched=True)
    assert first._fingerprint == again._fingerprint
    assert len({first._fingerprint, other._fingerprint, release._fingerprint}) == 3


def test_tags_by_number():
    names = ["O", "B-song"]
    features = {"id": Value("string"), "tokens": List(Value("string")), "tags": List(ClassLabel(names=names))}
    labelled = Dataset.from_dict(
        {"id": ["u1"], "tokens": [["play", "jazz"]], "tags": [[0, 1]]}, features=Features(features)
    )
    noisy = Noise(Fixed((Edit(0, 0, "so "),)), text="tokens", tags="tags", id="id").map(labelled)
    assert noisy[0]["tags"] == [0, 0, 1]
    split = Noise(Fixed((Edit(5, 9, "ja zz"),)), text="tokens", tags="tags", id="id", reason_column="why").map(labelled)
    assert split[0]["tokens"] == ["play", "jazz"]
    assert split[0]["why"] == "the noisy tokens need a tag that the dataset has no name for"
    with pytest.raises(TypeError, match=r"row 'u1': the tags \[0, 1\] are not names; use noise.map"):
        Noise(Shout(), text="tokens", tags="tags", id="id")(labelled[0])


ANSWERED = {"id": "q", "context": "Ada met Bo in Rome.", "answers": {"text": ["Bo", "Rome"], "answer_start": [8, 14]}}


def test_answers_stay_whole_and_move():
    edits = (Edit(0, 3, "Adelaide"), Edit(9, 9, "like "), Edit(11, 15, "at R"), Edit(14, 18, "Roma"), Edit(19, 19, "!"))
    noisy = Noise(Fixed(edits), text="context", answers="answers", id="id")(ANSWERED)
    assert noisy["context"] == "Adelaide met like Bo in Roma.!"
    answers = noisy["answers"]
    assert answers["text"] == ["Bo", "Roma"]
    assert [noisy["context"][start:][: len(text)] for start, text in zip(*reversed(answers.values()), strict=True)] == [
        "Bo",
        "Roma",
    ]


def test_an_answer_that_is_not_there_is_named():
    row = ANSWERED | {"answers": {"text": ["Bob"], "answer_start": [8]}}
    with pytest.raises(
        ValueError, match=r"^row 'q': the answer 'Bob' does not stand at 8 in its text; correct answer_st"
    ):
        Noise(Shout(), text="context", answers="answers", id="id")(row)


def test_a_missing_text_is_named_or_kept():
    with pytest.raises(TypeError, match=r"^row 'u1': the text is no string but NoneType; give a string"):
        Noise(Shout(), id="id")({"id": "u1", "text": None})
    kept = Noise(Shout(), on_error="keep", reason_column="why")({"text": [None, "go", 5]})
    assert kept["text"] == [None, "go!", 5]
    assert kept["why"] == [
        "the text is no string but NoneType; give a string",
        None,
        "the text is no string but int; give a string",
    ]


def test_a_missing_column_is_named():
    with pytest.raises(LookupError, match=r"^no column is called 'question'; the rows have text$"):
        Noise(Shout(), text="question")({"text": "go"})
    with pytest.raises(ValueError, match="tags and answers belong to one column"):
        Noise(Shout(), text=("a", "b"), tags="tags")


def test_a_batch_without_rows_stays_without():
    from lapsus.perturbations.core import Shout

    noise = Noise(Shout(), text="tokens", tags="tags", id="id")
    made = noise({"id": [], "tokens": [], "tags": []})
    assert made["tokens"] == made["edits"] == made["operator"] == []
    assert noise({"id": "a", "tokens": [], "tags": []})["clean_tokens"] == []


def test_edits_that_lose_a_slot_only_together_are_not_both_made():
    said = parse_utterance(["fly", "new", "york"], ["O", "B-city", "I-city"])
    first, second = Edit(3, 7, ""), Edit(7, 12, "")
    assert drop_slot_conflicts(said, [first]) == (first,) and drop_slot_conflicts(said, [second]) == (second,)
    assert drop_slot_conflicts(said, [first, second]) == (first,)


def test_what_replaces_several_tokens_belongs_to_the_first():
    edit = Edit(0, 7, "x y")
    assert apply_tags(["york", "to"], ["B-city", "O"], [edit]) == ["B-city", "I-city"]
    assert drop_slot_conflicts(parse_utterance(["to", "york"], ["O", "B-city"]), [edit]) == ()


def test_protected_words_are_whole_words_and_the_longest():
    assert find_words("replay play player", ["play"]) == ((7, 11),)
    assert find_words("New York city", ["new", "new york", "york city"]) == ((0, 13),)


def test_a_row_that_changed_in_any_column_has_no_reason():
    row = {"id": "u1", "a": " ", "b": "go", "c": "?"}
    noise = Noise(OPERATORS["filler_bos"], text=("a", "b"), id="id", reason_column="why")
    assert noise(row)["why"] is None
    assert replace(noise, text=("a", "c"))(row)["why"] == "the text is empty"
