"""The laws of conversations: noise on the user's turns, one person each, and nothing else moves."""

from __future__ import annotations

import copy
import json
import random

import numpy as np
import pytest

from lapsus.core.conversations import apply_to_messages, group_edits, holds_messages, list_turns
from lapsus.perturbations import OPERATORS, EnKeyboard, EnSpeech, Noise, ZhKeyboard, apply, perturb
from lapsus.perturbations.conversations import draw_people, find_pasted
from lapsus.perturbations.core import Mixture, Shout, Thinned, propose, with_person

WORDS = (
    "I would like to change the delivery address of my order please",
    "the order number is W7712 and I live in Springfield now",
    "yes please go ahead and also send me a confirmation by mail",
)
CHINESE = ("花呗怎么还款", "花呗的还款日是哪天", "花呗逾期了怎么办，花呗会影响征信吗")


def make_conversation(name, words=WORDS):
    """Return a conversation with all that must stay as it is: system, tool calls, tool results, an image."""
    messages = [{"role": "system", "content": "You are a clerk. Be brief with the order number."}]
    for number, text in enumerate(words):
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
        messages.append({"role": "user", "content": text if number % 2 else [image, {"type": "text", "text": text}]})
        call = {"name": "look_up", "arguments": '{"order": "the delivery address"}'}
        messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "function": call}]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "the order is on its way"})
        messages.append({"role": "assistant", "content": "Anything else about the order number?"})
    return {"id": name, "messages": messages}


ENGLISH_ROWS = [make_conversation(f"chat-{number}") for number in range(6)]
CHINESE_ROWS = [make_conversation(f"zh-{number}", CHINESE) for number in range(6)]
OPS = {
    "en_keyboard": (EnKeyboard(corrects=False, rate=3), ENGLISH_ROWS),
    "en_speech": (EnSpeech(), ENGLISH_ROWS),
    "filler_eos": (OPERATORS["filler_eos"], ENGLISH_ROWS),
    "thinned": (Thinned(EnKeyboard(corrects=False, rate=6), 0.5), ENGLISH_ROWS),
    "mixture": (Mixture("both", (EnKeyboard(corrects=False, rate=3), OPERATORS["filler_bos"])), ENGLISH_ROWS),
    "zh_keyboard": (ZhKeyboard.annotator(1, rate=3), CHINESE_ROWS),
}


def to_batch(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def perturb_rows(noise, rows):
    output = noise(to_batch(rows))
    return [{name: values[place] for name, values in output.items()} for place in range(len(rows))]


@pytest.fixture(params=OPS)
def case(request):
    op, rows = OPS[request.param]
    return Noise(op, text="messages", id="id", seed=1), rows


def test_noise_falls_on_the_user_and_its_edits_replay(case):
    noise, rows = case
    before = copy.deepcopy(rows)
    noisy = perturb_rows(noise, rows)
    assert rows == before
    assert sum(row["messages"] != row["clean_messages"] for row in noisy) > len(rows) / 2
    for row, output in zip(rows, noisy, strict=True):
        assert output["clean_messages"] == row["messages"]
        assert apply_to_messages(row["messages"], output["edits"]) == output["messages"]
        edits = group_edits(output["edits"])
        for old, new in zip(list_turns(row["messages"]), list_turns(output["messages"]), strict=True):
            assert apply(old.text, edits.get((old.number, old.part), ())) == new.text
        for old, new in zip(row["messages"], output["messages"], strict=True):
            assert old == new or old["role"] == "user"
            if isinstance(old["content"], list):
                assert old["content"][0] == new["content"][0]  # the image


def test_neither_order_nor_batch_nor_sharding_matters(case):
    noise, rows = case
    noisy = perturb_rows(noise, rows)
    order = random.Random(3).sample(range(len(rows)), len(rows))
    shuffled = perturb_rows(noise, [rows[place] for place in order])
    assert [shuffled[order.index(place)] for place in range(len(rows))] == noisy
    assert [noise(row) for row in rows] == noisy


def test_a_later_turn_changes_no_earlier_one(case):
    noise, rows = case
    for row, output in zip(rows[:3], perturb_rows(noise, rows[:3]), strict=True):
        prefixes = [{**row, "messages": row["messages"][:length]} for length in range(1, len(row["messages"]))]
        for length, prefix in enumerate(perturb_rows(noise, prefixes), 1):
            assert prefix["messages"] == output["messages"][:length]


def test_a_system_prompt_or_tool_result_more_or_less_moves_nothing(case):
    noise, rows = case
    for row, output in zip(rows[:3], perturb_rows(noise, rows[:3]), strict=True):
        bare = [message for message in row["messages"] if message["role"] == "user"]
        assert noise({**row, "messages": bare})["messages"] == [m for m in output["messages"] if m["role"] == "user"]
        result = {"role": "user", "content": [{"type": "tool_result", "content": "done"}]}  # as Anthropic has it
        more = noise({**row, "messages": [row["messages"][0], result, *row["messages"][1:]]})
        assert [m for m in more["messages"] if m != result] == output["messages"]


@pytest.mark.parametrize("which", ["first", "last"])
def test_one_turn_gets_the_noise_that_it_has_among_all(case, which):
    noise, rows = case
    one = perturb_rows(Noise(noise.op, "messages", "id", 1, turns=which), rows)
    for row, output, full in zip(rows, one, perturb_rows(noise, rows), strict=True):
        number = 0 if which == "first" else len(WORDS) - 1
        assert {edit["turn"] for edit in output["edits"]} <= {number}
        assert output["edits"] == [edit for edit in full["edits"] if edit["turn"] == number]
        assert output["messages"] == apply_to_messages(row["messages"], output["edits"])


def test_noise_over_noise_has_one_list_of_edits(case):
    noise, rows = case
    first = perturb_rows(noise, rows)
    second = Noise(OPERATORS["zh_homophone" if rows is CHINESE_ROWS else "filler_bos"], "messages", "id", turns="last")
    both = perturb_rows(second, [{**row, **output} for row, output in zip(rows, first, strict=True)])
    assert any(one["messages"] != two["messages"] for one, two in zip(first, both, strict=True))
    for row, once, twice in zip(rows, first, both, strict=True):
        assert twice["clean_messages"] == row["messages"]
        assert apply_to_messages(row["messages"], twice["edits"]) == twice["messages"]
        early = [edit for edit in once["edits"] if edit["turn"] < len(WORDS) - 1]
        assert [edit for edit in twice["edits"] if edit["turn"] < len(WORDS) - 1] == early
        assert twice["operator"].startswith(f"{once['operator']} then ")


def test_the_keys_are_those_of_the_turns():
    op = EnKeyboard(corrects=False, rate=3)
    noisy = Noise(op, "messages", "id", 1)(ENGLISH_ROWS[0])
    person = with_person(op, draw_people(["chat-0"], 1)[0])
    edits = group_edits(noisy["edits"])
    assert edits[1, None] == list(perturb(person, WORDS[1], seed=1, key="chat-0/1"))
    assert edits[2, 1] == list(perturb(person, WORDS[2], seed=1, key="chat-0/2.1"))


def test_one_person_speaks_in_a_conversation():
    op, texts, groups = EnKeyboard(corrects=False), list(WORDS * 4), 120
    names = [f"c{group}" for group in range(groups) for _ in texts]
    keys = [f"{name}/{place % len(texts)}" for place, name in enumerate(names)]

    def agreement(people):
        proposals = propose(op, texts * groups, keys=keys, people=people)
        shares = np.array([len(proposal.edits) for proposal in proposals], float).reshape(groups, len(texts))
        within, between = shares.var(1, ddof=1).mean(), len(texts) * shares.mean(1).var(ddof=1)
        return (between - within) / (between + (len(texts) - 1) * within)

    assert agreement(None) < 0.05
    assert agreement(draw_people(names, 0)) > 0.15


def test_people_of_a_batch_are_who_they_are_alone():
    texts, keys, people = list(WORDS * 5), [str(place) for place in range(15)], [place % 4 + 1 for place in range(15)]
    for op in (
        EnKeyboard(corrects=False),
        EnKeyboard(3),
        EnSpeech(),
        Thinned(EnKeyboard(corrects=False), 0.7),
        Shout(),
    ):
        batch = [proposal.edits for proposal in propose(op, texts, seed=2, keys=keys, people=people)]
        alone = [
            perturb(with_person(op, who), text, seed=2, key=key)
            for who, text, key in zip(people, texts, keys, strict=True)
        ]
        assert batch == alone


def test_a_person_is_drawn_from_seed_and_conversation():
    people = draw_people([f"c{number}" for number in range(1000)], 0)
    assert len(set(people)) == 1000
    assert min(people) >= 1
    assert draw_people(["c7"], 0) == people[7:8] != draw_people(["c7"], 1)


def test_what_people_paste_stays():
    code = "```python\nprint(the order number)\n```"
    data = json.dumps({"order": "the order number", "address": "the delivery address of my order", "items": [1, 2, 3]})
    text = f"look at {code} and `ls -la`, https://example.org/the/order or me@example.org, it says {data} ok"
    pasted = [text[start:end] for start, end in find_pasted(text)]
    assert pasted == [code, "`ls -la`", "https://example.org/the/order", "me@example.org", data]
    noise = Noise(EnKeyboard(corrects=False, rate=10), "messages", "id")
    for number in range(30):
        row = noise({"id": str(number), "messages": [{"role": "user", "content": text}]})
        assert all(part in row["messages"][0]["content"] for part in pasted)
    assert find_pasted('I typed [this] and {"a": 1} myself, don`t and can`t') == ()
    assert find_pasted("打开https://example.org/a看看") == ((2, 23),)


def test_sharegpt_names_are_read():
    rows = {"id": "a", "conversations": [{"from": "human", "value": "slow down"}, {"from": "gpt", "value": "I do."}]}
    noisy = Noise(Shout(), "conversations", "id")(rows)
    assert noisy["conversations"] == [{"from": "human", "value": "slow down!"}, {"from": "gpt", "value": "I do."}]
    assert noisy["edits"] == [{"turn": 0, "part": None, "start": 9, "end": 9, "text": "!"}]


@pytest.mark.parametrize("turns", ["all", "last"])
def test_json_is_read_and_written(turns):
    messages = [{"role": "user", "content": "slow down"}]
    text = json.dumps(messages)
    assert holds_messages(text)
    assert not any(map(holds_messages, ("[]", "[1]", "slow [down]", ["slow", "{down"], 7, None, [], [{"a": 1}])))
    noisy = Noise(Shout(), "messages", turns=turns)({"messages": [text, messages, None]})
    expected = [{"role": "user", "content": "slow down!"}]
    assert json.loads(noisy["messages"][0]) == expected
    assert noisy["messages"][1:] == [expected, None]
    assert noisy["clean_messages"] == [text, messages, None]
    with pytest.raises(ValueError, match="the text is the JSON of messages; say which turns to perturb"):
        Noise(Shout(), "messages")({"messages": [text]})


def test_rows_that_cannot_be_perturbed_say_why():
    cells = [
        [{"role": "user", "content": "slow down"}],
        [{"role": "agent", "content": "hello"}],
        [{"content": "hello"}],
        [{"role": "user", "content": 7}],
        [{"role": "user", "content": None}],
        [{"role": "user", "content": " "}],
    ]
    noise = Noise(Shout(), "messages", reason_column="why", on_error="keep")
    noisy = noise({"messages": cells})
    assert noisy["messages"][1:5] == cells[1:5]
    assert noisy["why"] == [
        None,
        "no turn of a user, but of agent",
        "message 0 has no role; give it one, such as user, assistant, system or tool",
        "the content of message 0 is int; give a text or a list of parts",
        "no turn of the user holds a text",
        None,
    ]
    with pytest.raises(ValueError, match=r"^row '2': message 0 has no role"):
        Noise(Shout(), "messages")({"messages": cells})
    with pytest.raises(ValueError, match="name no other column, tags or answers"):
        Noise(Shout(), ("messages", "text"))({"messages": cells[:1], "text": ["a"]})
    with pytest.raises(ValueError, match="turns is 'some'; choose one of all, first, last"):
        Noise(Shout(), turns="some")
    with pytest.raises(ValueError, match="'slow down' holds no messages"):
        Noise(Shout(), turns="all")({"text": "slow down"})


def test_a_conversation_without_an_id_is_known_by_its_first_turn():
    noise = Noise(EnKeyboard(corrects=False, rate=4), "messages")
    (full, other) = (make_conversation("x", words) for words in (WORDS, WORDS[:1]))
    long, short = noise(full)["messages"], noise(other)["messages"]
    assert short == long[: len(short)]
    last = Noise(noise.op, "messages", turns="last")(full)
    assert last["edits"] == [edit for edit in noise(full)["edits"] if edit["turn"] == 2]


def test_values_stay_in_every_turn():
    op = EnKeyboard(corrects=False, rate=10)
    for seed in range(10):
        noise = Noise(op, "messages", "id", seed, protect_columns=("order",), protect_patterns=("[Ss]pring[a-z]+",))
        text = list_turns(noise({**ENGLISH_ROWS[0], "order": {"number": "W7712"}})["messages"])[1].text
        assert "W7712" in text
        assert "Springfield" in text


def test_another_epoch_is_another_person():
    noise = Noise(EnKeyboard(corrects=False, rate=4), "messages", "id")
    rows = to_batch(ENGLISH_ROWS)
    transform = noise.transform(edits=True)
    assert transform(rows)["messages"] == noise(rows)["messages"]
    transform.set_epoch(1)
    other = transform(rows)
    assert all(one != two for one, two in zip(other["messages"], noise(rows)["messages"], strict=True))
    assert other["operator"][0].endswith(" epoch=1")
    assert list(map(apply_to_messages, rows["messages"], other["edits"])) == other["messages"]
