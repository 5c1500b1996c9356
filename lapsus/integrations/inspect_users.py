"""Noise on every user turn of inspect, also those that a simulated user writes during the run, and on nothing else.

- `noise` is a setup solver: it perturbs the user's messages that a sample brings along.
- `says` wraps what speaks for the user later, such as `react(on_continue=says(speaker))`. The speaker goes on from what
  it meant: `get_clean_turns()` has its own words.
- A hook perturbs later turns of a task that cannot be touched, on their way to the model; `lapsus/noisy` uses it.

A turn is keyed by the sample's id and its number, so that it is the same in every epoch and every later call. The clean
and the noisy text of each turn stand in the sample's store, and so in the log.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Any

from inspect_ai.hooks import BeforeModelGenerate, Hooks, hooks
from inspect_ai.model import ChatMessage, ContentText
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import store

from lapsus.core.track_names import CLEAN
from lapsus.perturbations import NoiseTrack, parse_noise
from lapsus.perturbations.protection import GOLD, Protection, list_values
from lapsus.perturbations.speakers import NoisySpeaker, SpokenTurn
from lapsus.perturbations.specs import format_noise_name

RECORD = "lapsus_noise"  # in the store of a sample
HARNESS = (  # what inspect says in the user's name
    "Please proceed to the next step using your best judgement.",
    "Your submission was incorrect. Please proceed and attempt to find the correct answer.",
)


def make_noise_track(operator: str, annotator: int | None) -> NoiseTrack:
    """Return the noise of one annotator, or of the operator as it is.

    >>> make_noise_track("zh_keyboard@0.5", 2).steps[0].operator.who, make_noise_track("filler_eos", 2).suffix
    (2, '.2')
    >>> make_noise_track("filler_eos:3", None)
    Traceback (most recent call last):
    ...
    ValueError: operator='filler_eos:3' asks for several annotators, and an inspect task has one; give ...
    """
    if ":" in operator:
        one_annotator = "+".join(re.sub(":[^@]*", "", part) for part in operator.split("+"))
        raise ValueError(
            f"operator={operator!r} asks for several annotators, and an inspect task has one; "
            f"give operator={one_annotator!r} and annotator=1, and run it again for the others"
        )
    if annotator is None:
        return parse_noise(operator)[0]
    parts = (part.partition("@") for part in operator.split("+"))
    return parse_noise("+".join(f"{name}:{annotator}{at}{severity}" for name, at, severity in parts))[-1]


@solver  # type: ignore[untyped-decorator] # inspect is not followed
def noise(
    operator: str = "filler_eos",
    annotator: int | None = None,
    dataset: str | None = None,
    *,
    protect: str | Sequence[str] = (),
    hook: bool = False,
    leave: str | None = None,
) -> Solver:
    """Add noise to what the user of a sample says, keyed by the sample's id; give it to a task as `setup`.

    Args:
        operator: OPERATOR[@SEVERITY], several joined by `+`, or `clean` for the twin without noise.
        annotator: The number of an annotator, or a seed where the operator has none.
        dataset: The name of the data in `lapsus report`.
        protect: What noise leaves as whole words: values of the sample's metadata by name, the matches of
            `regex:PATTERN`, or `gold` for its target.
        hook: Whether user messages that come later get noise on their way to the model. A simulated user or a grader
            must then be another model.
        leave: A regular expression of messages that the harness writes in the user's name, besides inspect's own.
    """
    dataset_metadata = {"dataset": dataset} if dataset else {}
    if operator in CLEAN:
        return _mark_clean({**dataset_metadata, "track": CLEAN[0]})
    annotator_noise = make_noise_track(operator, annotator)
    protection = Protection.parse([protect] if isinstance(protect, str) else protect)
    metadata = {**dataset_metadata, "track": f"{format_noise_name(operator)}{annotator_noise.suffix}"}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - inspect gives it
        settings = {"operator": operator, "annotator": annotator, "patterns": list(protection.patterns)}
        record: dict[str, Any] = {
            **settings,
            "values": _find_values(state, protection),
            "id": str(state.sample_id),
            "hook": hook,
            "leave": leave,
            "model": str(state.model),
            "turns": [],
            "numbers": {},
        }
        texts, edits = [], []
        for message in state.messages:
            if message.role == "user" and message.text:
                spoken = _speak(record, message.content)
                message.content = _replace_texts(message.content, spoken.noisy)
                record["numbers"][_identify(message)] = None  # it has its noise, whatever a template adds to it
                texts.append((_join_texts(spoken.clean), _join_texts(spoken.noisy)))
                edits += [{**edit, "turn": len(texts) - 1} for edit in spoken.edits]
        store().set(RECORD, record)
        clean, noisy = map(list, zip(*texts, strict=True)) if texts else ([], [])
        operators = [turn["operator"] for turn in record["turns"][:1]]
        state.metadata |= {
            **metadata,
            "text": noisy,
            "clean_text": clean,
            "edits": edits,
            "operator": "".join(operators),
        }
        return state

    return solve


def _mark_clean(metadata: dict[str, Any]) -> Solver:
    """Return a solver that leaves the words as they are, and says so."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - inspect gives it
        texts = [_join_texts(_to_parts(message.content)) for message in state.messages if message.role == "user"]
        state.metadata |= metadata | {"text": texts}
        return state

    return solve


def says(speaker: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return what speaks for the user with noise in what it says: an `on_continue` of `react`, or any that gives text.

    What is no text, such as True, stays as it is, and so does everything where `noise` is not the sample's setup.
    """

    @wraps(speaker)
    async def speak(*arguments: Any, **options: Any) -> Any:
        words = await speaker(*arguments, **options)
        record = store().get(RECORD)
        if record is None or not isinstance(words, str):
            return words
        spoken = _speak(record, words)
        store().set(RECORD, record)
        return spoken.noisy

    return speak


def get_clean_turns() -> list[str]:
    """Return what the user of the sample meant so far: what a simulator should read as its own words."""
    return [_join_texts(turn["clean"]) for turn in (store().get(RECORD) or {"turns": []})["turns"]]


@hooks(name="lapsus_noisy_user", description="lapsus: noise on what a simulated user says")
class NoisyUser(Hooks):  # type: ignore[misc] # likewise
    """Noise on user messages that come after a sample's own, where `noise` asks for it."""

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Perturb what the user says, on its way to the model under test; the task's own messages stay clean."""
        record = store().get(RECORD)
        if record is None or not record["hook"] or not _is_same_model(record["model"], data.model_name):
            return
        said = {_join_texts(turn["noisy"]) for turn in record["turns"]}
        for place, message in enumerate(data.input):
            if message.role != "user" or message.text in {*said, ""} or _is_harness(message.text, record["leave"]):
                continue
            key = _identify(message)
            if key not in record["numbers"]:
                record["numbers"][key] = len(record["turns"])
                _speak(record, message.content)
                store().set(RECORD, record)
            number = record["numbers"][key]
            if number is not None:
                content = _replace_texts(message.content, record["turns"][number]["noisy"])
                data.input[place] = message.model_copy(update={"content": content})


def _speak(record: dict[str, Any], content: Any) -> SpokenTurn:
    """Return the next turn of a sample with noise, and record it."""
    track = make_noise_track(record["operator"], record["annotator"])
    noises = track.make_noises(protect=tuple(record["values"]), protect_patterns=tuple(record["patterns"]))
    number = len(record["turns"])
    spoken = NoisySpeaker(noises, record["id"]).say(_to_parts(content), number)
    record["turns"].append(spoken._asdict())
    return spoken


def _find_values(state: TaskState, protection: Protection) -> list[str]:
    """Return the values of a sample that noise leaves."""
    known = {**(state.metadata or {}), GOLD: list(state.target)}
    if missing := [name for name in protection.columns if name not in known]:
        raise LookupError(f"sample {state.sample_id!r} has no {missing[0]!r} in its metadata to protect; name another")
    return [value for name in protection.columns for value in list_values(known[name])]


def _to_parts(content: Any) -> Any:
    """Return the content of a message as messages hold it."""
    if isinstance(content, str):
        return content
    return [{"type": part.type, "text": getattr(part, "text", None)} for part in content]


def _replace_texts(content: Any, noisy: Any) -> Any:
    """Return the content of a message with the texts of noisy parts."""
    if isinstance(content, str):
        return noisy
    return [
        part.model_copy(update={"text": other["text"]}) if isinstance(part, ContentText) else part
        for part, other in zip(content, noisy, strict=True)
    ]


def _join_texts(content: Any) -> str:
    """Return the text of a content, as inspect joins it."""
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content if part["text"])


def _identify(message: ChatMessage) -> str:
    """Return what tells a message from others in every later call."""
    return str(message.id or message.text)


def _is_same_model(own: str, name: str) -> bool:
    return own == name or own.endswith(f"/{name}") or name.endswith(f"/{own}")


def _is_harness(text: str, leave: str | None) -> bool:
    """Return whether a message comes from the harness, in the user's name."""
    return text.strip().startswith(HARNESS) or (leave is not None and re.search(leave, text) is not None)
