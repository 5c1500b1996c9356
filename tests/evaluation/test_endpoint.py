"""A server that is busy, slow, broken or lying: asked again, waited for, or named in one sentence."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import suppress

import pytest
from click.testing import CliRunner
from slow_endpoint import PATIENCE, serving

from lapsus.cli.main import main
from lapsus.core.messages import format_error
from lapsus.evaluation.cache import ResponseCache
from lapsus.evaluation.models import open_model
from lapsus.evaluation.models.endpoint_client import Endpoint, EndpointError
from lapsus.evaluation.models.endpoint_transport import ConnectionPool
from lapsus.evaluation.outcomes import TooManyFailuresError
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet

ROWS = [{"id": str(i), "text": f"row {i}", "label": "yes"} for i in range(12)]
TASK = make_task(["text"], "label", labels=["yes", "no"])


def answered(server, out=None, rows=ROWS, **options):
    model = open_model(server.word, {"pause": 0.01, "timeout": PATIENCE, "batch_size": 4, **options})
    return Evaluation(TrackSet.from_rows("mine", TASK, rows), model, out).execute()


@pytest.mark.parametrize(
    "fault", ["drop", "slow", "malformed", "truncated", (429, ()), (500, ()), (503, (("Retry-After", "0"),))]
)
def test_a_fault_is_asked_again(fault):
    with serving(fault, fault) as server:
        outcome = answered(server)
    assert [row["prediction"] for row in outcome.tracks[0].rows] == ["yes"] * 12
    assert len(server.asked) == 14


def test_a_server_is_waited_for_as_long_as_it_asks():
    with serving((429, (("Retry-After", "0.5"),))) as server:
        answered(server, batch_size=1)
    (first, *_), (second, *_) = server.asked[:2]
    assert second - first >= 0.5


def test_questions_are_out_together_and_usage_is_counted():
    with serving("cut") as server:
        model = open_model(server.word, {"batch_size": 4})
        outcome = Evaluation(TrackSet.from_rows("mine", TASK, ROWS), model).execute()
        assert 2 <= server.most_out <= 4
    assert model.get_usage()["tokens of prompts"] == 60 and model.get_usage()["tokens of answers"] == 12
    assert model.get_usage()["answers cut at the most tokens allowed"] == 1 and outcome.unparsed == 1


def test_a_context_that_is_too_long_is_counted():
    with serving("long") as server:
        outcome = answered(server)
    assert outcome.errors == {"longer than the context of tiny; shorten the rows, or take another model": 1}
    assert outcome.unparsed == 1 and sum(row["score"] for row in outcome.tracks[0].rows) == 11


def make_rows(number):
    return [{"id": str(i), "text": f"row {i}", "label": "yes"} for i in range(number)]


def test_a_server_that_stays_down_ends_the_run_and_its_answers_are_kept(tmp_path):
    rows = make_rows(40)
    with serving(*[None] * 6, *[(500, ())] * 80) as server:
        with pytest.raises(TooManyFailuresError, match=r"11 of the last \d+ requests .* \(status 500\)") as error:
            answered(server, tmp_path, rows, retries=1, batch_size=2)
        assert "6 answered, 0 refused, 11 failed, and the answers are kept in" in format_error(error.value)
        assert format_error(error.value).endswith("type the same command to go on")
        server.script.clear()
        before = len(server.asked)
        outcome = answered(server, tmp_path, rows)
        assert outcome.requested == 34 == len(server.asked) - before
    assert len(outcome.tracks[0].rows) == 40 and outcome.failed == 0


def test_a_row_that_fails_is_asked_again_by_the_next_run_and_no_other(tmp_path):
    with serving((500, ()), (500, ())) as server:
        outcome = answered(server, tmp_path, retries=1, batch_size=1)
        assert outcome.failed == 1 and len(outcome.errors) == 1
        (bad,) = [row for row in outcome.tracks[0].rows if row.get("error")]
        assert bad["response"] is None and bad["score"] == 0
        again = answered(server, tmp_path)
    assert (again.requested, again.failed, again.errors) == (1, 0, {})


def test_a_server_that_refuses_every_row_ends_the_run_early():
    with serving(*[(400, ())] * 400) as server:
        with pytest.raises(TooManyFailuresError, match=r"of the last .* refused the question"):
            answered(server, None, make_rows(200))
        assert len(server.asked) <= 20
    with serving(*[(404, ())] * 400) as server:
        with pytest.raises(EndpointError, match="status 404"):
            answered(server, None, make_rows(200))
        assert len(server.asked) <= 8
    with serving(*[(400, ())] * 3) as server, pytest.raises(TooManyFailuresError, match="all 3 requests failed"):
        answered(server, None, make_rows(3))


def test_a_busy_server_is_asked_until_the_deadline():
    with serving(*[(429, ())] * 7) as server:
        assert not answered(server, None, make_rows(1), retries=1, pause=0.001).errors
    with serving(*[(429, ())] * 400) as server, pytest.raises(TooManyFailuresError, match="still busy"):
        answered(server, None, make_rows(1), retries=1, deadline=0.5)


@pytest.mark.parametrize(
    ("message", "finish_reason", "response", "error"),
    [
        ({"content": [{"type": "text", "text": "y"}, {"type": "image"}, "es"]}, "stop", "yes", None),
        ({"content": ""}, "stop", "", None),
        ({"content": None}, "content_filter", None, "a content filter of the server withheld"),
        ({"content": "half of"}, "content_filter", None, "a content filter of the server withheld"),
        ({"content": None, "refusal": "I can\x1bnot"}, "stop", None, "the model refused: I can not"),
        ({"content": None}, "length", None, "all tokens allowed were used before the answer began"),
        ({"content": None}, None, None, "the answer has no text"),
        ({}, "stop", None, "the answer has no text"),
        ({"content": {"a": 1}}, "stop", None, "sent no chat completion"),
        ("yes", "stop", None, "sent no chat completion"),
    ],
)
def test_an_odd_answer_is_read_or_recorded(message, finish_reason, response, error):
    body = json.dumps({"choices": [{"message": message, "finish_reason": finish_reason}], "usage": [1]})
    script = [(200, (), body)] * (2 if finish_reason == "length" else 1)  # the second has room for thinking
    with serving(None, *script) as server:
        outcome = answered(server, None, make_rows(2), batch_size=1, retries=0)
    row = outcome.tracks[0].rows[1]
    assert row["response"] == response and (error or "") in (row.get("error") or "")
    assert bool(row.get("error")) == bool(error)


@pytest.mark.parametrize(
    "usage", [None, [1], "x", {"prompt_tokens": "many"}, {"prompt_tokens": -1, "completion_tokens": 1e400}]
)
def test_strange_usage_is_not_counted(usage):
    body = json.dumps({"choices": [{"message": {"content": "yes"}}], "usage": usage})
    with serving((200, (), body)) as server:
        model = open_model(server.word, {"retries": 0})
        assert Evaluation(TrackSet.from_rows("mine", TASK, make_rows(1)), model).execute().unparsed == 0
    assert model.get_usage() == {}


def test_deep_json_is_an_error_of_its_row():
    body = '{"choices":[{"message":{"content":"yes"}}],"x":' + "[" * 100_000 + "]" * 100_000 + "}"
    with serving(None, (200, (), body)) as server:
        outcome = answered(server, None, make_rows(2), batch_size=1, retries=0)
    assert outcome.failed == 1 and outcome.unparsed == 1


def test_a_run_that_is_stopped_keeps_what_is_under_way(tmp_path):
    rows = make_rows(64)
    with serving() as server:
        model = open_model(server.word, {"batch_size": 4})
        evaluation = Evaluation(TrackSet.from_rows("mine", TASK, rows), model, tmp_path)
        stored = []

        def put(cache, key, response):
            original_put(cache, key, response)
            stored.append(key)
            if len(stored) == 10:
                raise KeyboardInterrupt

        original_put = ResponseCache.put
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ResponseCache, "put", put)
            with pytest.raises(KeyboardInterrupt):
                evaluation.execute()
        assert len(stored) == len(server.asked) <= 20
        assert answered(server, tmp_path, rows).requested == 64 - len(stored)


def test_mistakes_are_one_sentence(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    words = [
        "run",
        "--rows",
        str(tmp_path / "rows.jsonl"),
        "--text",
        "text",
        "--gold",
        "label",
        "--out",
        str(tmp_path / "o"),
        "--model",
    ]
    no_name = CliRunner().invoke(main, [*words, "http://localhost:1/v1"])
    assert no_name.exit_code == 1 and "write http://HOST/v1#NAME" in no_name.output
    with serving((401, ())) as server:
        refused = CliRunner().invoke(main, [*words, server.word])
    assert refused.exit_code == 1 and "refused the key (status 401); set $OPENAI_API_KEY" in refused.output
    assert "Traceback" not in refused.output


def test_a_dry_run_estimates_the_cost(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    words = [
        "run",
        "--rows",
        str(tmp_path / "rows.jsonl"),
        "--text",
        "text",
        "--gold",
        "label",
        "--dry-run",
        "--price",
        "1,2",
    ]
    done = CliRunner().invoke(main, [*words, "--model", "http://localhost:1/v1#m"])
    # 10 rows of 5 letters and 2 of 6, four letters a token; 12 answers of at most 64 tokens
    assert "tokens: 16 input, at most 768 output" in done.output, done.output
    assert "cost: at most 0.0016" in done.output


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_neither_key_nor_question_is_sent_on(status, monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    with serving() as stranger:
        target = f"localhost:{stranger.server_port}"
        location = (status, (("Location", f"http://{target}/v1/chat/completions"),))
        with serving(*[location] * 12) as server, pytest.raises(EndpointError, match=f"redirects to {target}"):
            answered(server, tmp_path)
        assert stranger.asked == []


@pytest.mark.parametrize("address", ["http://ann:sesame@127.0.0.1/v1#m", "http://127.0.0.1/v1?api-key=sesame#m"])
def test_a_key_in_an_address_is_refused_and_not_repeated(address):
    with pytest.raises(ValueError, match="give a key with --key-env NAME") as error:
        open_model(address)
    assert "sesame" not in str(error.value)


def test_a_key_goes_to_no_other_machine_unencrypted(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sesame")
    with pytest.raises(ValueError, match=r"key in \$MY_KEY is not sent there; use https, or add --key-over-http"):
        open_model("http://192.0.2.1/v1#m", {"key_env": "MY_KEY"})
    sent = []
    monkeypatch.setattr(ConnectionPool, "post", lambda *arguments: sent.append(arguments[3]))
    monkeypatch.setenv("OPENAI_API_KEY", "of another server")
    for url, options in [
        ("http://192.0.2.1/v1", {}),
        ("http://192.0.2.1/v1", {"key": "MY_KEY", "key_over_http": True}),
        ("https://192.0.2.1/v1", {"key": "MY_KEY"}),
        ("http://localhost/v1", {"key": "MY_KEY"}),
    ]:
        Endpoint(url, "m", **options)._send(url, b"", 1.0)
    assert [headers.get("Authorization") for headers in sent] == [None, *["Bearer sesame"] * 3]


def drip(connection, head):
    """Send a reply that never ends, a byte at a time."""
    connection.sendall(head)
    for _ in range(200):
        connection.sendall(b"x")
        time.sleep(0.05)


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Slow: "])
def test_a_reply_that_drips_ends_at_the_deadline(head):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with listener.accept()[0] as connection, suppress(OSError):
                drip(connection, head)

        threading.Thread(target=serve, daemon=True).start()
        began = time.monotonic()
        with pytest.raises(OSError, match="timed out"):
            ConnectionPool().post(f"http://127.0.0.1:{listener.getsockname()[1]}/", b"{}", {}, 0.5)
        assert time.monotonic() - began < 3


@pytest.mark.parametrize("status", [b"200", b"400"])
def test_a_reply_without_end_is_not_read_whole(status):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        n_sent = []

        def serve():
            with listener.accept()[0] as connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 " + status + b" X\r\nConnection: close\r\n\r\n")
                while sum(n_sent) < 200_000_000:
                    n_sent.append(connection.send(b" " * 1_000_000))

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(EndpointError, match=r"longer than 16 MB|status 400"):
            Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", "m", retries=0).complete("x")
        assert sum(n_sent) < 40_000_000


REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def test_a_connection_is_used_again_and_one_that_the_server_closed_is_not():
    accepted = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            for n_replies in (3, 2):
                connection, _ = listener.accept()
                accepted.append(connection)
                with connection:
                    for _ in range(n_replies):
                        while not connection.recv(10_000).endswith(b"{}"):
                            pass
                        connection.sendall(REPLY)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        pool = ConnectionPool()
        for number in range(5):
            assert pool.post(f"http://127.0.0.1:{listener.getsockname()[1]}/", b"{}", {}, PATIENCE).body == b"{}"
            if number == 2:
                time.sleep(0.1)  # the server closes
        thread.join(PATIENCE)
    assert len(accepted) == 2


def test_the_proxy_of_the_environment_is_asked_but_not_for_hosts_that_it_excludes(monkeypatch):
    with serving() as proxy, serving() as server:
        monkeypatch.setenv("http_proxy", f"127.0.0.1:{proxy.server_port}")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert Endpoint("http://example.invalid/v1", "m").complete("x") == "yes"
        assert Endpoint(server.word.partition("#")[0], "m").complete("x") == "yes"
    assert [asked[2] for asked in proxy.asked] == ["http://example.invalid/v1/chat/completions"]
    assert [asked[2] for asked in server.asked] == ["/v1/chat/completions"]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (b"SSH-2.0-OpenSSH\r\n", "breaks off its answers"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "breaks off its answers"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{", "breaks off its answers"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", "breaks off its answers"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", "breaks off its answers"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b", "sent no chat completion"),
        (b"HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", "status 999"),
        (b"HTTP/1.1 302 X\r\nContent-Length: 0\r\n\r\n", "redirects to"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "sent no chat completion"),
        (b"", "breaks off its answers"),
    ],
)
def test_a_reply_that_is_no_reply_is_one_sentence(reply, message):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with listener.accept()[0] as connection:
                connection.recv(10_000)
                connection.sendall(reply)

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(EndpointError, match=message):
            Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", "m", retries=0).complete("x")
