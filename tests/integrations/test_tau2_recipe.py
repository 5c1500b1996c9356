"""The recipe for τ²-bench in the documentation: it runs where the package is, and against a stand-in elsewhere."""

from __future__ import annotations

import re
import runpy
import sys
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from paths import ROOT

from lapsus.perturbations import apply

STOP, TRANSFER, OUT_OF_SCOPE = "###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"
WORDS = (
    "Hi, could you create a task for me that is called Important Meeting please",
    "My user id is user_1 and the description should say that this is a test of the task",
    f"That is all, thank you very much for your help with the task {STOP}",
)


def read_recipe():
    page = (ROOT / "docs" / "noise.md").read_text(encoding="utf-8")
    (script,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "tau2.registry" in block)
    return script


@dataclass
class UserMessage:
    content: str | None
    tool_calls: list[Any] | None = None
    raw_data: dict[str, Any] | None = None

    def is_tool_call(self):
        return bool(self.tool_calls)

    def model_copy(self, update):
        return replace(self, **update)


@dataclass
class UserSimulator:
    """What τ²-bench 1.0.1 does: it keeps what it meant, and returns it."""

    instructions: str
    script: list[UserMessage] = field(default_factory=list)

    def get_init_state(self, message_history=None):
        return SimpleNamespace(messages=list(message_history or []))

    def generate_next_message(self, message, state):
        meant = self.script[len([each for each in state.messages if isinstance(each, UserMessage)])]
        state.messages += [message, meant]
        return meant, state


def run_recipe(folder, operator="en_keyboard"):
    """Run the script as the page has it."""
    (folder / "noisy_tau2.py").write_text(read_recipe().replace('"en_keyboard"', f'"{operator}"'), encoding="utf-8")
    runpy.run_path(str(folder / "noisy_tau2.py"), run_name="noisy_tau2")


@pytest.fixture
def recipe(monkeypatch, tmp_path):
    """Run the recipe beside a stand-in of the package."""
    users = {}
    modules = {
        "tau2": {},
        "tau2.cli": {"main": None},
        "tau2.data_model": {},
        "tau2.data_model.message": {"UserMessage": UserMessage},
        "tau2.registry": {"registry": SimpleNamespace(register_user=lambda cls, name: users.update({name: cls}))},
        "tau2.user": {},
        "tau2.user.user_simulator": {"UserSimulator": UserSimulator},
        "tau2.user.user_simulator_base": {"STOP": STOP, "TRANSFER": TRANSFER, "OUT_OF_SCOPE": OUT_OF_SCOPE},
    }
    for name, content in modules.items():
        module = ModuleType(name)
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, module)
    run_recipe(tmp_path, "en_keyboard@8")
    return users["noisy_user"]


def speak(user, turns):
    state, typed = user.get_init_state(), []
    for _ in range(turns):
        message, state = user.generate_next_message(SimpleNamespace(content="What is it?"), state)
        typed.append(message)
    return typed, state


def test_the_user_types_noise_and_goes_on_from_what_it_meant(recipe):
    script = [UserMessage(text) for text in WORDS]
    typed, state = speak(recipe("be a customer", script), 3)
    assert [message.content for message in typed] != list(WORDS)
    assert typed[2].content == WORDS[2], "the mark is looked for"
    for message, text in zip(typed[:2], WORDS, strict=False):
        assert message.raw_data["clean"] == text
        assert apply(text, message.raw_data["edits"]) == message.content
    assert [message.content for message in state.messages if isinstance(message, UserMessage)] == list(WORDS)
    again, _ = speak(recipe("be a customer", script), 3)
    other, _ = speak(recipe("be another customer", script), 3)
    assert again == typed != other


def test_calls_of_tools_stay_and_count_for_nothing(recipe):
    call = UserMessage("look_up", tool_calls=["look_up()"])
    typed, _ = speak(recipe("be a customer", [call, UserMessage(WORDS[0])]), 2)
    alone, _ = speak(recipe("be a customer", [UserMessage(WORDS[0])]), 1)
    assert typed == [call, *alone]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tau2") is None or find_spec("tau2.registry") is None, reason="τ²-bench is not installed")
def test_the_recipe_runs_with_the_package(tmp_path, monkeypatch):
    run_recipe(tmp_path, "en_keyboard@8")
    from tau2.agent import llm_agent
    from tau2.data_model.message import AssistantMessage
    from tau2.data_model.message import UserMessage as Tau2UserMessage
    from tau2.data_model.simulation import TextRunConfig
    from tau2.registry import registry
    from tau2.runner.build import build_text_orchestrator
    from tau2.user import user_simulator

    asked = []

    def answer_as_user(*_, messages, **__):
        asked.append([message.content for message in messages])
        number = sum(isinstance(message, AssistantMessage) for message in messages)
        return AssistantMessage(role="assistant", content=WORDS[min(number, 2)], cost=0.0)

    def answer_as_agent(*_, **__):
        return AssistantMessage(role="assistant", content="Anything else?", cost=0.0)

    monkeypatch.setattr(user_simulator, "generate", answer_as_user)
    monkeypatch.setattr(llm_agent, "generate", answer_as_agent)
    config = TextRunConfig(
        domain="mock", agent="llm_agent", user="noisy_user", llm_agent="x", llm_user="x", max_steps=12
    )
    task = registry.get_tasks_loader("mock")()[0]
    runs = [build_text_orchestrator(config, task, seed=3).run() for _ in range(2)]
    typed, again = ([each for each in run.messages if isinstance(each, Tau2UserMessage)] for run in runs)
    assert [message.content for message in typed] == [message.content for message in again] != list(WORDS)
    assert typed[2].content == WORDS[2]
    for message, text in zip(typed[:2], WORDS, strict=False):
        assert apply(message.raw_data["clean"], message.raw_data["edits"]) == message.content
        assert message.raw_data["clean"] == text
    typos = {message.content for message in typed} - set(WORDS)
    assert not any(typos & {*texts} for texts in asked), "the simulator reads what it meant"
