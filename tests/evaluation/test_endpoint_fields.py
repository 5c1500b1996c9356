"""Today's endpoints: refused fields, thinking, refusals, quotas; each provider is played by `chat_double`."""

from __future__ import annotations

import json

import pytest
from chat_double import PROVIDERS, serve_chat

from lapsus.core.messages import format_error
from lapsus.evaluation.models import open_model
from lapsus.evaluation.models.endpoint_client import EndpointError
from lapsus.evaluation.models.endpoint_fields import THINKING_TOKENS, FieldChanges, find_refused_fields
from lapsus.evaluation.outcomes import TooManyFailuresError, TruncatedAnswersError
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet

TASK = make_task("text", "label", prompt="Answer yes or no.", labels=["yes", "no"])
CHANGES = {
    "openai-reasoning": ["max_completion_tokens instead of max_tokens", "no temperature"],
    "anthropic": ["no temperature"],
    "gemini": ["no seed"],
    "mistral": ["no seed"],
    "llamacpp-strict": ["no seed"],
    "tools-none": ["max_completion_tokens instead of max_tokens"],
}
ABLE = [name for name, provider in PROVIDERS.items() if not provider.always and name != "endless"]


@pytest.fixture(scope="module")
def chat_server():
    with serve_chat() as server:
        yield server


def make_rows(number):
    return [{"id": str(i), "text": f"row {i}", "label": "yes"} for i in range(number)]


def evaluate(server, provider, out=None, number=4, task=TASK, **options):
    server.requests.clear()
    model = open_model(server.url(provider), {"batch_size": 1, "pause": 0.01, "retries": 1, **options})
    evaluation = Evaluation(TrackSet.from_rows("mine", task, make_rows(number)), model, out)
    return evaluation, evaluation.execute()


@pytest.mark.parametrize("provider", ABLE)
def test_every_able_provider_answers_every_row(provider, chat_server, tmp_path):
    evaluation, outcome = evaluate(chat_server, provider, tmp_path)
    rows = outcome.tracks[0].rows
    assert [(row["prediction"], row["score"], row.get("error")) for row in rows] == [("yes", 1.0, None)] * 4
    manifest = json.loads((evaluation.folder / "run.json").read_bytes())
    assert manifest.get("request_changes", []) == CHANGES.get(provider, [])
    assert len(chat_server.requests) <= 4 + 3  # what is refused is found out with the first row
    assert len(outcome.notes) == bool(CHANGES.get(provider))
    assert ("drawn" in "".join(outcome.notes)) == ("no temperature" in CHANGES.get(provider, []))


@pytest.mark.parametrize("provider", ["plain", "vllm", "ollama"])
def test_the_new_cap_is_never_sent_first(provider, chat_server):
    evaluate(chat_server, provider)
    assert all("max_tokens" in request and "max_completion_tokens" not in request for request in chat_server.requests)
    assert chat_server.requests[-1]["max_tokens"] == 16 + (THINKING_TOKENS if provider == "vllm" else 0)


def test_a_server_that_ignores_the_new_cap_is_noted(chat_server):
    model = open_model(chat_server.url("ollama"))
    model.endpoint.fields.learn({"max_tokens": 16}, ["max_tokens"])
    completion = model.endpoint.complete_uncached("hi", 16)
    assert completion.request_changes[-1] == "max_completion_tokens is ignored"


@pytest.mark.parametrize("provider", ["openai-reasoning", "gemini", "vllm", "sglang", "llamacpp", "opaque"])
def test_thinking_is_kept_apart_and_has_room(provider, chat_server, tmp_path):
    evaluation, outcome = evaluate(chat_server, provider, tmp_path)
    shown = PROVIDERS[provider].shown_in not in {None, "nowhere"}
    for row in outcome.tracks[0].rows:
        assert row["response"] == "yes"
        assert ("hm hm" in row.get("reasoning", "")) == shown
    counted = PROVIDERS[provider].shown_in is None
    thinking = evaluation.get_usage().get("tokens of thinking, among those of answers", 0)
    assert thinking == 4 * PROVIDERS[provider].thinking * counted
    (evaluation.folder / "clean.jsonl").unlink()  # from the cache
    _, again = evaluate(chat_server, provider, tmp_path)
    assert (again.requested, again.tracks[0].rows) == (0, outcome.tracks[0].rows)


def test_a_run_whose_answers_are_cut_stops_after_fifty_with_the_cure(chat_server, tmp_path):
    with pytest.raises(TruncatedAnswersError, match=r"50 of the first 50 answers were cut .* add --max-tokens"):
        evaluate(chat_server, "endless", tmp_path, 200)
    assert 51 <= len(chat_server.requests) <= 52
    free = make_task("text", prompt="Say it.", max_tokens=4)
    with pytest.raises(TruncatedAnswersError):
        evaluate(chat_server, "ollama", None, 60, free)
    _, outcome = evaluate(chat_server, "ollama", None, 60)  # the label was there before the answer was cut
    assert {row["score"] for row in outcome.tracks[0].rows} == {1.0}
    _, outcome = evaluate(chat_server, "endless", None, 2)
    assert {row["finish_reason"] for row in outcome.tracks[0].rows} == {"thinking"}


def test_a_refusal_is_no_wrong_answer(chat_server):
    evaluation, outcome = evaluate(chat_server, "refuser")
    row = outcome.tracks[0].rows[0]
    assert (row["finish_reason"], row["unparsed"], row["response"]) == ("refusal", True, None)
    assert evaluation.get_usage()["requests that the model or a content filter refused"] == 4


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        ("quota", r"the quota of the key for http://\S+ is used up \(status 429\); raise it"),
        ("flag", "was started without a flag that this needs"),
    ],
)
def test_what_no_other_try_cures_ends_the_run_at_once(provider, message, chat_server):
    with pytest.raises(EndpointError, match=message) as caught:
        evaluate(chat_server, provider)
    assert len(chat_server.requests) == 1 and "\n" not in format_error(caught.value)


def test_an_error_inside_a_success_is_asked_again(chat_server):
    with pytest.raises(TooManyFailuresError, match=r"all 1 requests failed.*busy"):
        evaluate(chat_server, "inside", number=1)
    assert len(chat_server.requests) == 2


def test_tools_beside_thinking_are_sent_with_effort_none(chat_server):
    endpoint = open_model(chat_server.url("tools-none")).endpoint
    completion = endpoint.complete_uncached("hi", 16, tools=[{"type": "function", "function": {"name": "f"}}])
    assert completion.request_changes == ("max_completion_tokens instead of max_tokens", "reasoning_effort none")
    assert endpoint.complete_uncached("hi", 16).request_changes == ("max_completion_tokens instead of max_tokens",)


def test_a_field_that_stays_refused_ends():
    fields = FieldChanges()
    body = {"max_tokens": 1, "tools": [1], "reasoning_effort": "none"}
    fields.learn(body, ["reasoning_effort", "model", "messages"])
    once = fields.apply(body)
    fields.learn(once, ["reasoning_effort"])
    assert fields.apply(body) == once == {"max_tokens": 1, "tools": [1]}


@pytest.mark.parametrize("text", ["", "null", "[]", '{"error": null}', '{"detail": [1, {"loc": 2}]}', "[" * 10_000])
def test_any_error_is_read(text):
    assert find_refused_fields(text) == ()
