"""Noise on every user turn of an inspect agent with a simulated user, and only there."""

from __future__ import annotations

from copy import deepcopy

import pytest

from lapsus.perturbations import EnKeyboard, Noise, apply, perturb
from lapsus.perturbations.conversations import draw_people
from lapsus.perturbations.core import with_person
from lapsus.perturbations.speakers import NoisySpeaker
from lapsus.perturbations.specs import parse_noise

WORDS = (
    "I would like to change the delivery address of my order please",
    "The order number is W7712 and I live in Springfield now",
    "Yes please go ahead and also send me a confirmation",
)
SPEC = "en_keyboard@8"
SAID_BY_AGENT = ("What is your order number?", "I found it. Shall I change it?", "Done. Anything else?")
RESULT = "order W7712: to be sent to the old address"
IDS = ("s0", "s1", "s2")


def expect(sample, words=WORDS, **protect):
    """Return what a sample's user types."""
    (noise,) = parse_noise(SPEC)[0].make_noises(**protect)
    return [NoisySpeaker((noise,), sample).say(text, number).noisy for number, text in enumerate(words)]


def test_a_live_turn_is_the_turn_of_a_recorded_conversation():
    op = EnKeyboard(rate=8)
    noise = Noise(op, "messages", "id", seed=3)
    parts = [{"type": "image"}, {"type": "text", "text": WORDS[1]}]
    contents = [WORDS[0], parts, WORDS[2]]
    row = {"id": "chat", "messages": [{"role": "user", "content": content} for content in contents]}
    recorded = noise(row)
    speaker = NoisySpeaker((noise,), "chat")
    for number, content in enumerate(contents):
        spoken = speaker.say(content, number)
        assert spoken.noisy == recorded["messages"][number]["content"]
        assert spoken.edits == [edit for edit in recorded["edits"] if edit["turn"] == number]
        assert (spoken.clean, spoken.operator) == (content, recorded["operator"])
    person = with_person(op, draw_people(["chat"], 3)[0])
    assert recorded["messages"][0]["content"] == apply(WORDS[0], perturb(person, WORDS[0], seed=3, key="chat/0"))


inspect_ai = pytest.importorskip("inspect_ai")


def look_up():
    from inspect_ai.tool import tool

    @tool
    def look_up():
        async def execute(order: str):
            """Look up an order.

            Args:
                order: Its number.
            """
            return RESULT if order else ""

        return execute

    return look_up()


class Dialogue:
    """The agent under test and the simulated user, both scripted; what each is asked is kept."""

    def __init__(self, way):
        from inspect_ai.model import get_model

        self.way, self.asked = way, []
        self.user = get_model("mockllm/user", custom_outputs=self.answer_as_user, memoize=False)
        self.agent = get_model("mockllm/agent", custom_outputs=self.answer_as_agent, memoize=False)

    def answer_as_agent(self, messages, *_):
        from inspect_ai.model import ModelOutput

        self.asked.append(("agent", deepcopy(messages)))
        users = sum(message.role == "user" for message in messages)
        if messages[-1].role == "tool":
            return ModelOutput.from_content("mockllm/agent", SAID_BY_AGENT[1])
        if users == 2:
            return ModelOutput.for_tool_call("mockllm/agent", "look_up", {"order": "W7712"})
        return ModelOutput.from_content("mockllm/agent", SAID_BY_AGENT[0 if users == 1 else 2])

    def answer_as_user(self, messages, *_):
        from inspect_ai.model import ModelOutput

        self.asked.append(("user", deepcopy(messages)))
        number = sum(message.role == "assistant" for message in messages)
        return ModelOutput.from_content("mockllm/user", WORDS[number] if number < len(WORDS) else "###DONE###")

    async def simulate(self, state):
        """Say what the user says next: the simulator reads the conversation with the roles turned round."""
        from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

        from lapsus.integrations.inspect import get_clean_turns

        if state.output.message.tool_calls:
            return True
        typed = [message.text for message in state.messages if message.role == "user"]
        clean = iter(get_clean_turns() if self.way == "says" else [WORDS[0], *typed[1:]])
        turned = [ChatMessageSystem(content="You are a customer.")]
        for message in state.messages:
            if message.role == "user":
                turned.append(ChatMessageAssistant(content=next(clean)))
            elif message.role == "assistant" and not message.tool_calls:
                turned.append(ChatMessageUser(content=message.text))
        words = (await self.user.generate(turned)).completion
        return False if words == "###DONE###" else words


def evaluate(task, model, folder, **options):
    """Run a task offline: mockllm counts tokens with a file that it downloads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("inspect_ai.model._model.count_text_tokens", lambda text: len(text) // 4)
        (log,) = inspect_ai.eval(task, model=model, log_dir=str(folder), display="none", log_level="error", **options)
    assert log.status == "success", log.error
    return log


@pytest.fixture(scope="module", params=["says", "hook"])
def run(request, tmp_path_factory):
    """Run an agent with a tool and a simulated user; return the log, and what both models were asked."""
    from inspect_ai.agent import as_solver, react
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import includes

    from lapsus.integrations.inspect import noise, says

    dialogue = Dialogue(request.param)
    speaker = says(dialogue.simulate) if request.param == "says" else dialogue.simulate
    task = inspect_ai.Task(
        dataset=MemoryDataset([Sample(input=WORDS[0], target="Done", id=name) for name in IDS]),
        setup=noise(SPEC, dataset="orders", hook=request.param == "hook"),
        solver=as_solver(react(tools=[look_up()], submit=False, on_continue=speaker)),
        scorer=includes(),
        message_limit=20,
    )
    log = evaluate(task, dialogue.agent, tmp_path_factory.mktemp("logs"), epochs=2)
    return request.param, log, dialogue.asked


def list_requests(sample):
    """Return the messages of each request to the agent under test."""
    return [event.input for event in sample.events if event.event == "model" and "agent" in event.model]


def test_every_user_turn_is_noisy_and_the_same_in_every_call(run):
    _, log, _ = run
    turns = 0
    for sample in log.samples:
        expected = expect(sample.id)
        assert expected != list(WORDS)
        requests = list_requests(sample)
        for messages in requests:
            users = [message.text for message in messages if message.role == "user"]
            assert users == expected[: len(users)]
        turns += len([message for message in requests[-1] if message.role == "user"])
    assert turns == 18  # 3 samples, 2 epochs, 3 turns


def test_nothing_else_is_touched(run):
    _, log, asked = run
    for sample in log.samples:
        for messages in list_requests(sample):
            for message in messages:
                assert message.role != "tool" or message.text == RESULT
                assert message.role != "assistant" or message.tool_calls or message.text in SAID_BY_AGENT
    own = [
        message.text for who, messages in asked if who == "user" for message in messages if message.role == "assistant"
    ]
    assert set(own) == set(WORDS), "the simulator goes on from what it meant"


def test_the_clean_turns_stand_in_the_log(run):
    way, log, _ = run
    for sample in log.samples:
        turns = sample.store["lapsus_noise"]["turns"]
        assert [turn["clean"] for turn in turns] == list(WORDS)
        assert [turn["noisy"] for turn in turns] == expect(sample.id)
        assert [apply(turn["clean"], turn["edits"]) for turn in turns] == [turn["noisy"] for turn in turns]
        assert sample.metadata["track"] == "en_keyboard_800%"
        assert (sample.metadata["text"], sample.metadata["clean_text"]) == (expect(sample.id)[:1], [WORDS[0]])
        later = [message.text for message in sample.messages if message.role == "user"][1:]
        assert later == (expect(sample.id)[1:] if way == "says" else list(WORDS[1:]))


def test_the_report_reads_the_log(run):
    from lapsus.reporting.tracks import read_tracks

    _, log, _ = run
    (track,) = read_tracks([log.location])
    assert (track.dataset, track.track, len(track.rows)) == ("orders", "en_keyboard_800%", 3)
    assert {row["id"]: row["text"] for row in track.rows} == {name: expect(name)[:1] for name in IDS}


def test_words_of_the_harness_and_protected_values_stay(tmp_path):
    from inspect_ai.agent import as_solver, react
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ModelOutput, get_model

    from lapsus.integrations.inspect import noise

    requests = []

    def answer(messages, *_):
        requests.append([message.text for message in messages if message.role == "user"])
        if len(requests) < 3:
            return ModelOutput.from_content("mockllm/agent", "Hm.")
        return ModelOutput.for_tool_call("mockllm/agent", "submit", {"answer": "W7712"})

    async def insist(_):
        if len(requests) == 1:
            return True  # inspect itself goes on
        return "RULES: go on with the order." if len(requests) == 2 else len(requests) < 4

    sample = Sample(
        input=[ChatMessageUser(content=WORDS[0]), ChatMessageUser(content=WORDS[1])], target="W7712", id="s"
    )
    task = inspect_ai.Task(
        dataset=MemoryDataset([sample]),
        setup=noise("filler_eos+en_keyboard@10", protect="gold", hook=True, leave="^RULES:"),
        solver=as_solver(react(on_continue=insist)),
        message_limit=12,
    )
    log = evaluate(task, get_model("mockllm/agent", custom_outputs=answer, memoize=False), tmp_path)
    first, second, *others = requests[-1]
    assert first != WORDS[0]
    assert second != WORDS[1]
    assert "W7712" in second
    assert others[0].strip().startswith("Please proceed to the next step using your best judgement.")
    assert others[-1] == "RULES: go on with the order."
    assert len(log.samples[0].store["lapsus_noise"]["turns"]) == 2


def test_a_mistake_of_noise_in_inspect_is_one_sentence():
    from lapsus.integrations.inspect import noise

    with pytest.raises(ValueError, match="is no regular expression"):
        noise("filler_eos", protect="regex:(")
    with pytest.raises(ValueError, match="asks for several annotators"):
        noise("filler_eos:3")
