"""Files with a column of messages: every format gives the same rows, in shards, resumed, and over earlier noise."""

from __future__ import annotations

import csv
import json
import shlex

import pytest
from click.testing import CliRunner
from datasets import Dataset, Features, Json, List, Value, load_dataset
from paths import ROOT

from lapsus.cli.main import main
from lapsus.core.conversations import apply_to_messages, list_turns
from lapsus.io.readers import read_rows
from lapsus.jobs.perturb_corpus import perturb_corpus
from lapsus.jobs.perturb_file import perturb_file
from lapsus.perturbations import EnKeyboard, Noise
from lapsus.perturbations.core import Shout

WORDS = ("please change the delivery address of my order", "it is number W7712 in Springfield", "go ahead, thanks")
NOISE = Noise(EnKeyboard(corrects=False, rate=3), "messages", "id")


def make_rows(count=30):
    """Return conversations whose contents are texts and parts, with tool calls: no two messages have the same keys."""
    call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"n": 1}'}}
    rows = []
    for number in range(count):
        messages = [{"role": "system", "content": "Be brief."}] if number % 3 else []
        for place, text in enumerate(WORDS):
            content = text if (place + number) % 2 else [{"type": "text", "text": text}]
            messages += [{"role": "user", "content": content}, {"role": "assistant", "tool_calls": [call]}]
            messages.append({"role": "tool", "tool_call_id": "c", "content": "done"})
        rows.append({"id": f"chat-{number}", "messages": messages, "order": "W7712"})
    return rows


ROWS = make_rows()


def write_rows(path, rows=ROWS):
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(rows[0])
            writer.writerows(
                [json.dumps(cell) if isinstance(cell, list) else cell for cell in row.values()] for row in rows
            )
    else:
        features = Features({"id": Value("string"), "messages": List(Json()), "order": Value("string")})
        Dataset.from_list(rows, features=features).to_parquet(path)
    return path


def read_noisy(path):
    """Return the rows of a file, with structures that its format holds as text."""
    return [
        {name: json.loads(cell) if isinstance(cell, str) and cell[:1] == "[" else cell for name, cell in row.items()}
        for row in read_rows(path)
    ]


@pytest.fixture(scope="module")
def expected():
    output = NOISE({name: [row[name] for row in ROWS] for name in ROWS[0]})
    return [{name: values[place] for name, values in output.items()} for place in range(len(ROWS))]


@pytest.mark.parametrize("source", ["rows.jsonl", "rows.csv", "rows.parquet"])
@pytest.mark.parametrize("target", ["noisy.jsonl", "noisy.csv", "noisy.parquet"])
def test_all_formats_give_the_same_rows(tmp_path, expected, source, target):
    path = write_rows(tmp_path / source)
    summary = perturb_file(path, tmp_path / target, NOISE, progress=False)
    assert (summary.rows, summary.changed) == (30, sum(bool(row["edits"]) for row in expected))
    for row, output, wanted in zip(ROWS, read_noisy(tmp_path / target), expected, strict=True):
        assert output["clean_messages"] == row["messages"]
        assert [output[name] for name in ("messages", "edits")] == [wanted["messages"], wanted["edits"]]
        assert apply_to_messages(row["messages"], output["edits"]) == output["messages"]


def test_a_corpus_of_shards_has_the_same_rows(tmp_path, expected):
    rows = [*ROWS[:20], {"id": "none", "order": "x"}, *ROWS[20:]]
    perturb_corpus(write_rows(tmp_path / "a.jsonl", rows), tmp_path / "out", NOISE, shard_bytes=4000, progress=False)
    shards = sorted((tmp_path / "out").glob("*.parquet"))
    assert len(shards) > 3
    noisy = {row["id"]: row for shard in shards for row in read_rows(shard)}
    assert noisy.pop("none")["unchanged"] == "the conversation is empty"
    assert [noisy[row["id"]]["messages"] for row in ROWS] == [row["messages"] for row in expected]
    assert [noisy[row["id"]]["edits"] for row in ROWS] == [row["edits"] for row in expected]


def test_parquet_loads_with_every_message_as_it_was(tmp_path, expected):
    perturb_file(write_rows(tmp_path / "rows.jsonl"), tmp_path / "noisy.parquet", NOISE, progress=False)
    loaded = load_dataset(
        "parquet", data_files=str(tmp_path / "noisy.parquet"), split="train", cache_dir=tmp_path / "c"
    )
    assert isinstance(loaded.features["messages"].feature, Json)
    assert loaded["messages"][:] == [row["messages"] for row in expected]
    clean = loaded.select_columns(["id", "clean_messages"]).rename_column("clean_messages", "messages")
    assert NOISE.map(clean)["edits"][:] == [row["edits"] for row in expected]
    over = Noise(Shout(), "messages", "id").map(loaded)
    assert "turn" in over.features["edits"].feature
    for row, output in zip(ROWS, over, strict=True):
        assert apply_to_messages(row["messages"], output["edits"]) == output["messages"]
        assert all(turn.text.endswith("!") for turn in list_turns(output["messages"]))


def lapsus(*words):
    return CliRunner().invoke(main, ["perturb", *map(str, words)])


def test_the_command_takes_turns_and_protected_values(tmp_path):
    source = write_rows(tmp_path / "rows.jsonl")
    options = ("--noise", "en_keyboard@8", "--text", "messages", "--id", "id")
    protect = ("--protect", "order", "--protect", "regex:Spring[a-z]+")
    result = lapsus(*options, *protect, "--turns", "last", source, tmp_path / "last.jsonl")
    assert result.exit_code == 0, result.output
    last = read_rows(tmp_path / "last.jsonl")
    assert {edit["turn"] for row in last for edit in row["edits"]} == {2}
    assert lapsus(*options, *protect, source, tmp_path / "all.jsonl").exit_code == 0
    texts = [list_turns(row["messages"])[1].text for row in read_rows(tmp_path / "all.jsonl")]
    assert sum(text != WORDS[1] for text in texts) > 5
    assert all("W7712" in text.split() and "Springfield" in text.split() for text in texts)
    assert lapsus(*options, source, tmp_path / "free.jsonl").exit_code == 0
    assert any("W7712" not in str(row["messages"]) for row in read_rows(tmp_path / "free.jsonl"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--text", "order", "--turns", "last"), "'order' holds no messages; name another column"),
        (("--text", "messages", "--protect", "regex:("), "'(' is no regular expression"),
        (("--text", "messages", "--protect", "gold"), "no column is called 'gold'"),
        (("--text", "messages", "--text", "order"), "name no other column"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path, options, message):
    result = lapsus("--noise", "speako", *options, write_rows(tmp_path / "rows.jsonl"), tmp_path / "out.jsonl")
    assert result.exit_code != 0
    assert message in result.output
    assert not (tmp_path / "out.jsonl").exists()


def test_the_commands_of_the_page_run(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "noise.md").read_text(encoding="utf-8").replace("\\\n", " ")
    commands = [line.removeprefix("$ lapsus ") for line in page.splitlines() if "chats.jsonl noisy.jsonl" in line]
    assert len(commands) == 2
    write_rows(tmp_path / "chats.jsonl")
    monkeypatch.chdir(tmp_path)
    for command in commands:
        result = CliRunner().invoke(main, [*shlex.split(command), "--overwrite"])
        assert result.exit_code == 0, result.output
        assert (
            all("W7712" in str(row["messages"]) for row in read_rows(tmp_path / "noisy.jsonl"))
            or "protect" not in command
        )
