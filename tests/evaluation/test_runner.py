"""Runs: what is asked, kept, read and refused."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from datasets import Dataset

from lapsus import report
from lapsus import run as run_model
from lapsus.cli.main import main
from lapsus.core.types import Response
from lapsus.evaluation.answer_types import (
    ExactAnswer,
    FrameAnswer,
    LabelAnswer,
    SimilarityAnswer,
    SpanAnswer,
    SqlAnswer,
    TranslationAnswer,
)
from lapsus.evaluation.benchmark_tasks import load_tasks
from lapsus.evaluation.cache import ResponseCache
from lapsus.evaluation.models.function import FunctionModel
from lapsus.evaluation.parsing import match_label
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet, add_noise
from lapsus.perturbations import apply

ROWS = [
    {
        "id": str(i),
        "text": f"will it rain in town {i}" if i % 2 else f"play song number {i}",
        "label": "weather" if i % 2 else "music",
    }
    for i in range(20)
]
TASK = make_task(["text"], "label", name="mine")


def keywords(rows):
    return ["weather" if "rain" in row["text"].split() else "music" for row in rows]


def counting(rows_seen):
    def model(rows):
        rows_seen.extend(rows)
        return keywords(rows)

    return model


def test_a_function_sees_what_a_user_wrote_and_never_the_right_answer():
    seen = []
    rows = [row | {"clean_text": "secret", "town": "Rome"} for row in ROWS]
    run_model(TASK, rows, counting(seen), noise=["filler_eos"])
    assert all(set(row) == {"id", "text", "town"} for row in seen)


def test_the_clean_twin_is_always_run_and_noise_replays_from_the_rows(tmp_path):
    tracks = run_model(
        TASK, ROWS, keywords, noise=["filler_eos:2", "filler_bos"], tracks=["filler_eos.*"], out=tmp_path
    )
    assert [track.track for track in tracks] == ["clean", "filler_eos.1", "filler_eos.2"]
    for track in tracks[1:]:
        for row, clean in zip(track.rows, ROWS, strict=True):
            assert row["id"] == clean["id"] and row["clean_text"] == clean["text"]
            assert apply(row["clean_text"], [(e["start"], e["end"], e["text"]) for e in row["edits"]]) == row["text"]
    assert sum(row["text"] != row["clean_text"] for row in tracks[1].rows) == len(ROWS)
    page = report(tracks, tmp_path / "report").page
    assert page.is_file()
    files = sorted(path.name for path in tmp_path.rglob("*.jsonl"))
    assert files == ["clean.jsonl", "filler_eos.1.jsonl", "filler_eos.2.jsonl"]


def test_a_repeat_asks_nothing_and_leaves_the_files_as_they_are(tmp_path):
    seen = []
    model = FunctionModel(counting(seen), "m", "1")
    data = TrackSet.from_rows("mine", TASK, ROWS)
    first = Evaluation(data, model, tmp_path).execute()
    before = (tmp_path / "mine" / "m" / "clean.jsonl").read_bytes()
    again = Evaluation(data, model, tmp_path).execute()
    assert (first.requested, first.reused, again.requested, again.reused) == (20, 0, 0, 20)
    assert len(seen) == 20 and (tmp_path / "mine" / "m" / "clean.jsonl").read_bytes() == before
    assert Evaluation(data, FunctionModel(counting(seen), "m", "2"), tmp_path).execute().requested == 20, (
        "another revision is another model"
    )
    assert Evaluation(data, model, tmp_path, ignore_cache=True).execute().requested == 20


def test_a_row_whose_right_answer_was_mended_is_scored_anew(tmp_path):
    model = FunctionModel(keywords, "m", "1")
    Evaluation(TrackSet.from_rows("mine", TASK, ROWS), model, tmp_path).execute()
    mended = [row | {"label": "music"} for row in ROWS]
    outcome = Evaluation(TrackSet.from_rows("mine", TASK, mended), model, tmp_path).execute()
    assert outcome.requested == 0 and sum(row["score"] for row in outcome.tracks[0].rows) == 10


def test_an_answer_that_is_read_in_another_way_is_scored_anew(tmp_path, monkeypatch):
    data, model = TrackSet.from_rows("mine", TASK, ROWS), FunctionModel(keywords, "m", "1")
    Evaluation(data, model, tmp_path).execute()
    path = tmp_path / "mine" / "m" / "clean.jsonl"
    before = path.read_text()
    monkeypatch.setattr(type(TASK.answer_type), "parse", lambda _kind, _answer, _row: None)
    outcome = Evaluation(data, model, tmp_path).execute()
    assert (outcome.requested, outcome.reused, outcome.unparsed) == (0, 20, 20)
    assert [json.loads(line)["unparsed"] for line in path.read_text().splitlines()] == [True] * 20
    monkeypatch.undo()
    assert Evaluation(data, model, tmp_path).execute().unparsed == 0 and path.read_text() == before


def test_answers_of_an_earlier_run_are_read_as_the_task_reads_them_now(tmp_path):
    model = FunctionModel(lambda rows: ["I think it is music."] * len(rows), "m", "1")
    labelled = TrackSet.from_rows("mine", make_task(["text"], "label", labels=["music", "weather"], name="mine"), ROWS)
    file = tmp_path / "mine" / "m" / "clean.jsonl"
    Evaluation(TrackSet.from_rows("mine", TASK, ROWS), model, tmp_path).execute()
    (tmp_path / "answers.sqlite").unlink()
    outcome = Evaluation(labelled, model, tmp_path).execute()
    assert outcome.requested == 0 and sum(row["score"] for row in outcome.tracks[0].rows) == 10
    read_again = file.read_bytes()
    Evaluation(labelled, model, tmp_path, ignore_cache=True).execute()
    assert [json.loads(line) for line in read_again.splitlines()] == outcome.tracks[0].rows
    assert file.read_bytes() == read_again


def test_a_limit_takes_the_first_examples_and_a_longer_run_goes_on(tmp_path):
    model = FunctionModel(keywords, "m", "1")
    data = TrackSet.from_rows("mine", TASK, ROWS)
    assert Evaluation(data.limit(5), model, tmp_path).execute().requested == 5
    assert Evaluation(data, model, tmp_path).execute().requested == 15
    lines = (tmp_path / "mine" / "m" / "clean.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [row["id"] for row in ROWS]


def test_equal_questions_are_asked_once():
    task = make_task(["text"], "label")
    asked = []

    class Echo(FunctionModel):
        def build_prompt(self, task, row):
            return {"text": row["text"]}

    model = Echo(lambda rows: [asked.append(row["text"]) or "x" for row in rows], "echo", "1")
    rows = [{"id": str(i), "text": "same", "label": "x"} for i in range(5)]
    outcome = Evaluation(TrackSet.from_rows("d", task, rows), model).execute()
    assert asked == ["same"] and len(outcome.tracks[0].rows) == 5


SLOW = """
import os, time
calls = open(os.environ["CALLS"], "a")
def answer(rows):
    time.sleep(0.05)
    calls.write("".join(row["id"] + "\\n" for row in rows)); calls.flush()
    return ["music" for _ in rows]
"""


def test_kill_9_loses_at_most_the_batch_under_way(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    rows = "".join(json.dumps(row | {"id": f"{i}-{row['id']}"}) + "\n" for i in range(10) for row in ROWS)
    (tmp_path / "rows.jsonl").write_text(rows)
    words = [
        "run",
        "--rows",
        "rows.jsonl",
        "--text",
        "text",
        "--gold",
        "label",
        "--noise",
        "filler_eos:2",
        "--model",
        "python:slow:answer",
        "--batch-size",
        "12",
        "--out",
        "out",
    ]
    command = [sys.executable, "-m", "lapsus", *words]
    env = os.environ | {"CALLS": str(tmp_path / "calls"), "PYTHONPATH": str(tmp_path)}
    running = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    calls = tmp_path / "calls"
    while running.poll() is None and not (calls.exists() and calls.read_bytes().count(b"\n") >= 24):
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    called = calls.read_text().splitlines()
    assert not list((tmp_path / "out").rglob("*.jsonl")), "predictions are written when they are whole"
    part = subprocess.run([*command, "--limit", "4"], cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert "sent 0 requests" in part.stdout, "all tracks of an example are asked together"
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    again = calls.read_text().splitlines()
    assert len(again) <= 600 + 12 and len(again) - len(called) < 600, done.stdout
    for path in (tmp_path / "out" / "rows" / "slow.answer").glob("*.jsonl"):
        found = [json.loads(line) for line in path.read_text().splitlines()]
        assert len(found) == len({row["id"] for row in found}) == 200


@pytest.mark.usefixtures("mine")
def test_a_run_that_is_stopped_says_what_is_kept_and_leaves_earlier_predictions_as_they_were():
    words = (*OWN, "--noise", "filler_eos:2", "--model", "python:my_test_model:stopping", "--batch-size", "12")
    assert invoke(*words, "--limit", "2").exit_code == 0
    before = {path: path.read_bytes() for path in Path("out").rglob("*.json*")}
    result = invoke(*words)
    assert result.exit_code == 130
    assert "interrupted after 8 examples" in result.output and "add --limit 8 to write predictions for these" in (
        result.output
    )
    assert {path: path.read_bytes() for path in Path("out").rglob("*.json*")} == before
    result = invoke(*words, "--limit", "8")
    assert "sent 0 requests" in result.output, result.output
    assert [len(path.read_text().splitlines()) for path in Path("out").rglob("*.jsonl")] == [8] * 3


KILLED = """
import json, os, random, signal, sys, time
from pathlib import Path
from lapsus.core.types import Example
from lapsus.evaluation.cache import ResponseCache
from lapsus.evaluation.models import make_request
from lapsus.evaluation.tracks import TrackSet, add_noise
from lapsus.evaluation.models.function import FunctionModel
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task

BATCH, OUT, CALLS = 6, Path("out"), Path("calls")
ROWS = [{"id": str(i), "text": f"play song {i}", "label": "music"} for i in range(60)]
DATA = add_noise(TrackSet.from_rows("mine", make_task(["text"], "label", labels=["music", "no"]), ROWS), ["filler_eos:2"])

def answer(rows):
    with CALLS.open("a") as calls:
        calls.write("".join(json.dumps(row["text"]) + "\\n" for row in rows))
    time.sleep(0.004)
    return ["music" if len(row["text"]) % 2 else "no" for row in rows]

def run(out):
    return Evaluation(DATA, FunctionModel(answer, "m", "1", BATCH), out).execute()

def called():
    return [json.loads(line) for line in CALLS.read_text().splitlines()] if CALLS.exists() else []

def known():
    if not (OUT / "answers.sqlite").exists():
        return set()
    with ResponseCache(OUT / "answers.sqlite") as cache:
        model = FunctionModel(answer, "m", "1", BATCH)
        examples = [Example(row["id"], track, row) for track, rows in DATA.tracks.items() for row in rows]
        return {example.columns["text"] for example in examples
                if cache.get(make_request(model, DATA.task, example).key) is not None}

def lines(path):
    return [json.loads(line) for line in path.read_bytes().split(b"\\n")[:-1]]

began = time.perf_counter()
run(Path("again"))
whole = time.perf_counter() - began  # the moments of the kills are parts of it, however fast the machine
wanted = set(called())
CALLS.unlink()

rng, kills, before = random.Random(int(sys.argv[1])), 0, set()
while True:
    start = len(called())
    child = os.fork()
    if child == 0:
        run(OUT)
        os._exit(0)
    time.sleep(rng.random() * whole * (kills + 1) / 20)
    os.kill(child, signal.SIGKILL)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    now, asked = known(), called()[start:]
    assert not before & set(asked), "what was answered is asked again"
    assert before <= now and len(set(asked) - now) <= BATCH, "more than the batch under way is lost"
    files = sorted(OUT.rglob("*.jsonl"))
    assert all(len(lines(path)) == 60 for path in files), "predictions are written when they are whole"
    before = now
    if ended == 0:
        break
    kills += 1
written = {path.name: sorted(path.read_text().splitlines()) for path in OUT.rglob("*.jsonl")}
assert set(called()) == wanted
assert written == {path.name: sorted(path.read_text().splitlines()) for path in Path("again").rglob("*.jsonl")}
print(json.dumps({"kills": kills, "calls": start + len(asked)}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_killed_many_times_at_any_moment_it_asks_nothing_twice(tmp_path, seed):
    (tmp_path / "killed.py").write_text(KILLED)
    done = subprocess.run(
        [sys.executable, "killed.py", str(seed)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["kills"] >= 5 and found["calls"] <= 180 + 6 * found["kills"]


def test_a_line_that_a_crash_cut_is_written_again(tmp_path):
    model = FunctionModel(keywords, "m", "1")
    data = TrackSet.from_rows("mine", TASK, ROWS)
    Evaluation(data, model, tmp_path).execute()
    path = tmp_path / "mine" / "m" / "clean.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    assert Evaluation(data, model, tmp_path).execute().requested == 0
    assert path.read_bytes() == whole


def everything_in(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def failing_from(number):
    """Return a model that answers its questions one by one, and fails at one of them."""

    class Failing(FunctionModel):
        def respond(self, task, requests):
            for place, (_, answer) in enumerate(super().respond(task, requests)):
                if place == number:
                    raise ConnectionError("nobody there; start the server")
                yield place, answer

    return Failing(keywords, "m", "2")


def test_a_run_that_is_answered_nothing_leaves_nothing_behind(tmp_path):
    data = TrackSet.from_rows("mine", TASK, ROWS)
    with pytest.raises(ConnectionError):
        Evaluation(data, failing_from(0), tmp_path / "out", tmp_path / "kept" / "answers.sqlite").execute()
    assert not any(tmp_path.iterdir())


def test_a_run_that_is_answered_nothing_leaves_an_earlier_one_as_it_was(tmp_path):
    data = TrackSet.from_rows("mine", TASK, ROWS)
    Evaluation(data, FunctionModel(keywords, "m", "1"), tmp_path).execute()
    before = everything_in(tmp_path)
    with pytest.raises(ConnectionError):
        Evaluation(data, failing_from(0), tmp_path, ignore_cache=True).execute()
    assert everything_in(tmp_path) == before


def test_what_was_answered_before_a_failure_stays(tmp_path):
    data = TrackSet.from_rows("mine", TASK, ROWS)
    with pytest.raises(ConnectionError):
        Evaluation(data, failing_from(3), tmp_path / "out").execute()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["answers.sqlite"]
    assert Evaluation(data, failing_from(len(ROWS)), tmp_path / "out").execute().requested == len(ROWS) - 3


def test_a_cache_that_another_run_has_open_stays(tmp_path):
    path = tmp_path / "answers.sqlite"
    with ResponseCache(path) as other:
        with pytest.raises(ConnectionError):
            Evaluation(TrackSet.from_rows("mine", TASK, ROWS), failing_from(0), tmp_path).execute()
        other.put("k", Response("kept"))
    with ResponseCache(path) as cache:
        assert cache.get("k") == Response("kept")


LEFT = FunctionModel(keywords, "m", "1")


def noisy_rows(*noise, rows=ROWS, seed=0, labels=()):
    task = make_task(["text"], "label", name="mine", labels=labels)
    return add_noise(TrackSet.from_rows("mine", task, rows), noise, seed=seed)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (noisy_rows("filler_eos:2", seed=7), "seed of the noise,"),
        (noisy_rows("filler_eos:2").limit(5), "rows, gold answers or labels,"),
        (noisy_rows("filler_eos:2", rows=[*ROWS, ROWS[0] | {"id": "20"}]), "rows, gold answers or labels,"),
        (noisy_rows("filler_eos:2", rows=[row | {"label": "music"} for row in ROWS]), "rows, gold answers or labels,"),
        (noisy_rows("filler_eos:2", labels=("music", "weather")), "rows, gold answers or labels,"),
    ],
)
def test_tracks_of_another_run_do_not_stay_beside_the_new_ones(tmp_path, data, said):
    Evaluation(noisy_rows("filler_eos:3"), LEFT, tmp_path).execute()
    before = everything_in(tmp_path)
    with pytest.raises(
        ValueError, match=r"also holds filler_eos\.3, from a run of other (.*), which a report"
    ) as raised:
        Evaluation(data, LEFT, tmp_path).execute()
    assert f"of other {said}" in str(raised.value) and everything_in(tmp_path) == before
    next(tmp_path.rglob("filler_eos.3.jsonl")).unlink()
    assert Evaluation(data, LEFT, tmp_path).execute().files[0].is_file()


def test_tracks_of_another_revision_do_not_stay_beside_the_new_ones(tmp_path):
    Evaluation(noisy_rows("filler_eos:2"), LEFT, tmp_path).execute()
    changed = FunctionModel(keywords, "m", "2")
    with pytest.raises(
        ValueError, match=r"also holds filler_eos\.1, filler_eos\.2, from a run of other revision of the model,"
    ):
        Evaluation(noisy_rows("filler_eos"), changed, tmp_path).execute()
    Evaluation(noisy_rows("filler_eos:3"), changed, tmp_path).execute()


def test_further_tracks_of_the_same_rows_go_beside_the_others(tmp_path):
    for data in (
        noisy_rows("filler_eos", seed=3),
        TrackSet.from_rows("mine", TASK, ROWS),
        noisy_rows("filler_bos", seed=3),
    ):
        Evaluation(data, LEFT, tmp_path).execute()
    assert sorted(path.stem for path in tmp_path.rglob("*.jsonl")) == ["clean", "filler_bos", "filler_eos"]
    with pytest.raises(ValueError, match="seed of the noise"):
        Evaluation(noisy_rows("filler_bos", seed=4), LEFT, tmp_path).execute()


def test_another_model_of_the_same_name_is_refused(tmp_path):
    data = TrackSet.from_rows("mine", TASK, ROWS)
    Evaluation(data, FunctionModel(keywords, "m", "1"), tmp_path).execute()

    class Other(FunctionModel):
        @property
        def identity(self):
            return "hf:elsewhere/m at 1"

    with pytest.raises(ValueError, match="give this one a --name"):
        Evaluation(data, Other(keywords, "m", "1"), tmp_path).execute()


@pytest.mark.parametrize("note", ["", "[]", '{"task": "mine 1"}', "\xff"])
def test_a_note_that_is_no_note_of_a_run_is_named(tmp_path, note):
    task, model = make_task(["text"], "label", name="mine"), FunctionModel(keywords, "m", "1")
    (tmp_path / "mine" / "m").mkdir(parents=True)
    (tmp_path / "mine" / "m" / "run.json").write_bytes(note.encode("latin-1"))
    with pytest.raises(ValueError, match=r"run\.json names no model and task; delete it"):
        Evaluation(TrackSet.from_rows("mine", task, ROWS), model, tmp_path).execute()


def test_another_task_on_the_same_rows_is_refused(tmp_path):
    model = FunctionModel(keywords, "m", "1")
    Evaluation(TrackSet.from_rows("mine", TASK, ROWS), model, tmp_path).execute()
    other = make_task(["text"], "label", name="other")
    with pytest.raises(ValueError, match="predictions of another task"):
        Evaluation(TrackSet.from_rows("mine", other, ROWS), model, tmp_path).execute()


def test_slots_keep_their_tags_under_noise():
    rows = [{"id": "a", "tokens": ["play", "jazz"], "tags": ["O", "B-genre"], "intent": "play"}]
    task = make_task(["tokens"], "intent")
    task = type(task)("frames", ("tokens",), "{tokens}", FrameAnswer(), clean="clean")
    perfect = {}

    def model(rows):
        return [{"intent": "play", "tags": [perfect.get(token, "O") for token in row["tokens"]]} for row in rows]

    perfect["jazz"] = "B-genre"
    tracks = run_model(task, rows, model, noise=["filler_eos"])
    assert [row["score"] for track in tracks for row in track.rows] == [1.0, 1.0]
    perfect.clear()
    assert [row["score"] for track in run_model(task, rows, model) for row in track.rows] == [0.0]


ODD = [
    '{"intent": "play", "slots": {"city": {"name": "x"}}}',
    '{"intent": "play", "slots": {"city": [["x"]]}}',
    '{"intent": "play", "slots": [["city", {"name": "x"}]]}',
    '{"intent": "play", "slots": [[["city"], "x"]]}',
    '{"intent": "play", "slots": 5}',
    '{"intent": "play", "tags": 5}',
    '{"intent": "play", "tags": {"play": "O", "jazz": "B-genre"}}',
    '{"intent": ' * 3000,
]


@pytest.mark.parametrize("said", ODD)
def test_an_odd_frame_is_no_frame(said):
    assert FrameAnswer().parse(said, {"tokens": ["play", "jazz"]}) is None


def test_odd_frames_are_unparsed_and_the_run_goes_on(tmp_path):
    rows = [
        {"id": str(i), "tokens": ["play", "jazz"], "tags": ["O", "B-genre"], "intent": "play"} for i in range(len(ODD))
    ]
    task = replace(make_task(["tokens"], "intent"), answer_type=FrameAnswer())
    model = FunctionModel(lambda rows: ODD[: len(rows)], "odd", "1")
    for asked in (len(ODD), 0):
        outcome = Evaluation(TrackSet.from_rows("mine", task, rows), model, tmp_path).execute()
        assert (outcome.requested, outcome.unparsed) == (asked, len(ODD))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("yes", "entailed"),
        ("Yes, it does.", "entailed"),
        ("The answer is: no.", "not_entailed"),
        ("No", "not_entailed"),
        ("**Yes**", "entailed"),
        ("<think>no, hmm, yes?</think> No.", "not_entailed"),
        ("It might be no at first, but….</think> Yes.", "entailed"),
        ("<think>\nOkay, one might say yes, since", None),
        ("no.</think><think>no…</think> Yes.", "entailed"),
        ("entailed", "entailed"),
        ("not_entailed", "not_entailed"),
        ("not yes", None),
        ("Nobody knows", None),
        ("yesterday", None),
        ("It is hard to say: yes or no.", None),
        ("I think that it implies it, yes.", "entailed"),
        ("", None),
    ],
)
def test_reading_a_label(said, meant):
    assert LabelAnswer("label", {"not_entailed": "no", "entailed": "yes"}).parse(said, {}) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("相同", "same"),
        ("“不同”。", "other"),
        ("答案：相同", "same"),
        ("不相同", None),
        ("相同。因为都问还款", "same"),
        ("是否相同不好说", None),
    ],
)
def test_reading_a_chinese_label(said, meant):
    assert match_label(said, {"相同": "same", "不同": "other"}) == meant


@pytest.mark.parametrize(("kind", "answer", "meant"), [(SpanAnswer(), "Paris", "Paris"), (TranslationAnswer(), "Rain.", "Rain."),
                                                       (ExactAnswer(), "Paris", "Paris"), (SimilarityAnswer(), "85", 85.0),
                                                       (SqlAnswer(), "SELECT 1", "SELECT 1")])  # fmt: skip
def test_reasoning_is_no_part_of_an_answer_and_no_answer_where_it_does_not_end(kind, answer, meant):
    for thought in ("<think>SELECT 9</think> ", "SELECT 9</think>\n"):
        assert kind.parse(thought + answer, {}) == meant
    assert kind.parse(f"<think>SELECT 9 {answer}", {}) is None


def test_numbers_of_labels_are_names_and_texts_that_are_numbers_stay():
    assert LabelAnswer("label", {"no": "no", "yes": "yes"}).parse(1, {}) == "yes"
    assert LabelAnswer("label", {"1": "one", "0": "none"}).parse(1, {}) == "1"
    assert LabelAnswer("label", {"no": "no"}).parse(7, {}) is None
    assert LabelAnswer("label", {"no": "no", "yes": "yes"}).parse({"label": "LABEL_1", "score": 0.9}, {}) == "yes"
    assert LabelAnswer("label", {"LABEL_1": "one", "LABEL_0": "none"}).parse("LABEL_1", {}) == "LABEL_1"
    assert LabelAnswer("label", {"no": "no"}).parse("LABEL_7", {}) is None
    assert LabelAnswer("label", {"Yes": "Yes", "No": "No"}).parse(True, {}) == "Yes"
    assert LabelAnswer("label", {"apart": "apart", "alike": "alike"}).parse(True, {}) == "alike"
    assert ExactAnswer("gold").score(ExactAnswer("gold").parse(1.0, {}), {"gold": 1})["score"] == 1.0


NUMBERS = [{"id": str(i), "text": f"play song {i}", "label": i % 3 + 1} for i in range(30)]
BY_NUMBER = make_task(["text"], "label", labels=["1", "2", "3"], name="mine")


def by_place(said):
    return lambda rows: [said(int(row["text"].split()[2]) % 3) for row in rows]


@pytest.mark.parametrize(
    "said", ["LABEL_{}".format, lambda place: {"label": f"LABEL_{place}"}, lambda place: place + 1]
)
def test_labels_that_are_numbers_are_said_by_name_or_as_places_of_labels(said):
    assert all(row["score"] for row in run_model(BY_NUMBER, NUMBERS, by_place(said))[0].rows)


def test_numbers_that_may_be_labels_or_their_places_are_refused_until_a_map_says_which(tmp_path):
    data, model = TrackSet.from_rows("mine", BY_NUMBER, NUMBERS), FunctionModel(by_place(int), "m", "1")
    with pytest.raises(ValueError, match=r"an answer is 0, and the labels .* --label-map 0=1,1=2,2=3\n30 answered"):
        Evaluation(data, model, tmp_path).execute()
    names = {"0": "1", "1": "2", "2": "3"}
    outcome = Evaluation(data, model, tmp_path, label_map=names).execute()
    assert outcome.requested == 0 and all(row["score"] for row in outcome.tracks[0].rows)
    assert all(row["score"] for row in run_model(BY_NUMBER, NUMBERS, by_place(str), label_map=names)[0].rows)
    with pytest.raises(ValueError, match="--label-map names '4', which is no label; use one of: 1, 2, 3"):
        Evaluation(data, model, label_map={"0": "4"})
    with pytest.raises(ValueError, match="an answer is 0, and the labels are the numbers 1, 2"):
        FrameAnswer(intents=("1", "2")).parse({"intent": 0}, {})


def test_numbers_that_were_read_by_name_and_may_be_places_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "numbers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in NUMBERS[:2]))
    (tmp_path / "two_numbers.py").write_text("def answer(rows):\n    return [1, 2]\n")
    words = (
        "run",
        "--rows",
        "numbers.jsonl",
        "--text",
        "text",
        "--gold",
        "label",
        "--model",
        "python:two_numbers:answer",
    )
    told = invoke(*words, "--labels", "1,2,3", "--out", "out").output
    assert "the responses 1, 2 were parsed as labels of that name; if they are indexes into 1, 2, 3" in told
    assert "of that name" not in invoke(*words, "--labels", "0,1,2", "--out", "other").output


def test_a_truth_value_is_the_label_of_its_name():
    assert [LabelAnswer("label", {"true": "true", "false": "false"}).parse(value, {}) for value in (True, False)] == [
        "true",
        "false",
    ]


def test_a_passage_is_judged_by_the_rules_of_its_benchmark():
    answers = {"answers": {"text": ["1990", "1990年"], "answer_start": [0, 0]}}
    for task, said, expected in (
        ("readin-cmrc2018", "1990年", (1.0, 1.0)),
        ("readin-cmrc2018", "在1990年", (0.8, 0.0)),  # two of three words in a row, and both of the right answer
        ("noiseqa", "the 1990.", (1.0, 1.0)),
        ("noiseqa", None, (0.0, 0.0)),
    ):
        judged = load_tasks()[task].answer_type.score(said, answers)
        assert (judged["score"], judged["exact_match"]) == pytest.approx(expected)


def test_a_question_without_an_answer_is_answered_by_saying_so():
    kind = SpanAnswer(unanswerable="unanswerable")
    none, some = (
        {"id": "a", "answers": {"text": texts, "answer_start": [0] * len(texts)}} for texts in ([], ["Paris"])
    )
    assert kind.score(kind.parse("Unanswerable.", none), none)["score"] == 1.0
    assert kind.score("Paris", none)["score"] == 0.0 == kind.score("unanswerable", some)["score"]
    assert kind.score(None, none) == {
        "prediction": None, "gold": "unanswerable", "references": ["unanswerable"], "score": 0.0, "exact_match": 0.0
    }  # fmt: skip
    with pytest.raises(ValueError, match="row 'a' has no answer, and the task knows no word for that; leave it out"):
        SpanAnswer().score("Paris", none)


def test_unparsed_answers_count_as_wrong():
    task = make_task(["text"], "label", labels=["weather", "music"])
    tracks = run_model(task, ROWS[:4], lambda rows: ["perhaps"] * len(rows))
    assert [(row["prediction"], row["unparsed"], row["score"]) for row in tracks[0].rows] == [(None, True, 0.0)] * 4


def test_dataset_features_name_the_labels():
    data = Dataset.from_list([{"id": "a", "text": "x", "label": 1}])
    from datasets import ClassLabel

    data = data.cast_column("label", ClassLabel(names=["no", "yes"]))
    task = make_task(["text"], "label", labels=["no", "yes"])
    assert run_model(task, data, lambda _: [1])[0].rows[0] | {"request_key": ""} == {
        "id": "a", "dataset": "rows", "model": "<lambda>", "track": "clean", "response": 1, "unparsed": False,
        "prediction": "yes", "gold": "yes", "score": 1.0, "text": "x", "request_key": "",
    }  # fmt: skip


def invoke(*words):
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "my_test_model.py").write_text(
        "def answer(rows):\n    return ['music'] * len(rows)\ndef short(rows):\n    return []\ndef broken(rows):\n    return 1 / 0\n"
        "def stopping(rows):\n    if any(row['id'] == '10' for row in rows):\n        raise KeyboardInterrupt\n"
        "    return ['music'] * len(rows)\n"
    )
    return tmp_path


OWN = ("run", "--rows", "mine.jsonl", "--text", "text", "--gold", "label", "--out", "out")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*OWN,), "missing --model"),
        ((*OWN, "--model", "nothing"), "unknown model 'nothing'"),
        ((*OWN, "--model", "python:my_test_model:other"), "it has answer, short, broken, stopping"),
        ((*OWN, "--model", "python:no_such_module:answer"), "there is no module 'no_such_module' here"),
        ((*OWN, "--model", "python:my_test_model:short"), "returned 0 answers for 20 rows"),
        ((*OWN, "--model", "python:my_test_model:broken"), "my_test_model.broken raised ZeroDivisionError"),
        (
            (*OWN[:6], "town", *OWN[7:], "--model", "python:my_test_model:answer"),
            "no column 'town' with the gold answer",
        ),
        ((*OWN, "--model", "python:my_test_model:answer", "--tracks", "keyboard.*"), "no track fits 'keyboard.*'"),
        ((*OWN, "--model", "python:my_test_model:answer", "--noise", "filler_eso"), "filler_eos"),
        ((*OWN, "--model", "python:my_test_model:answer", "--text", "question"), "has no column 'question'"),
        ((*OWN, "--model", "python:my_test_model:answer", "--id", "number"), "label; name one with --id"),
        (
            ("run", "readin-afqmc", "--model", "python:my_test_model:answer", "--out", "out"),
            "lapsus build readin-afqmc",
        ),
        (
            ("run", "readin-afqmc", "--data", "no/such/folder", "--model", "python:my_test_model:answer", "--out", "o"),
            "there is no folder no/such/folder; run `lapsus build readin-afqmc --out no/such/folder`",
        ),
        (
            (*OWN, "--model", "python:my_test_model:answer", "--split", "dev"),
            "mine.jsonl is a file, which has no split 'dev'; leave the split out",
        ),
        (("run", "--rows", "none.jsonl", *OWN[3:], "--model", "nothing"), "none.jsonl: no such file"),
        (
            ("run", "readin_afqmc", "--data", "x", "--model", "python:my_test_model:answer", "--out", "o"),
            "did you mean readin-afqmc",
        ),
        (
            ("run", "readin-afqm", "--data", "x", "--model", "python:my_test_model:answer", "--out", "o"),
            "did you mean readin-afqmc",
        ),
        (
            ("run", "readin-afqmc", *OWN[1:3], "--model", "python:my_test_model:answer", "--out", "out"),
            "no column 'sentence1'",
        ),
    ],
)
@pytest.mark.usefixtures("mine")
def test_a_mistake_gets_one_sentence(words, said):
    result = invoke(*words)
    assert result.exit_code != 0 and said in result.output
    assert "Traceback" not in result.output


@pytest.mark.usefixtures("mine")
def test_answers_in_other_words_than_the_right_ones_are_said():
    Path("other_words.py").write_text("def answer(rows):\n    return ['LABEL_9'] * len(rows)\n")
    unread = invoke(*OWN, "--model", "python:other_words:answer", "--labels", "music,weather")
    assert unread.exit_code == 0
    assert "20 responses could not be parsed and count as wrong, e.g. 'LABEL_9'; expected one of: music, weather" in (
        unread.output
    )
    never = invoke(*OWN, "--model", "python:other_words:answer", "--name", "without-labels")
    assert "predictions: 'LABEL_9'; gold: 'music', 'weather'" in never.output
    assert "right are" not in invoke(*OWN, "--model", "python:my_test_model:answer").output


def test_a_dry_run_asks_nothing_and_says_how_much_there_is(mine):
    result = invoke(*OWN, "--model", "python:my_test_model:answer", "--noise", "filler_eos:2", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "60 rows, 56 distinct requests, 56 not cached" in result.output
    assert not (mine / "out").exists()


def test_without_a_dataset_the_tasks_are_offered():
    result = invoke("run")
    assert result.exit_code == 0 and "readin-afqmc" in result.output and "--rows mine.jsonl" in result.output


def test_a_dataset_that_needs_no_files_is_built_on_the_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "always_the_same.py").write_text("def answer(rows):\n    return [50] * len(rows)\n")
    words = ("run", "dialect-en", "--model", "python:always_the_same:answer", "--out", "out", "--limit", "3")
    first = invoke(*words)
    assert first.exit_code == 0 and "the dialect wins 0.0% of 3 sentences (3 ties)" in first.output, first.output
    assert "sent 0 requests; reused 9 cached responses" in invoke(*words).output
    assert (tmp_path / "out" / "datasets").is_dir() and len(list((tmp_path / "out").glob("*/*/*.jsonl"))) == 3


def test_every_option_has_help():
    for name in ("run", "tasks"):
        for option in main.get_command(None, name).params:
            assert getattr(option, "help", "argument") or option.param_type_name == "argument"


def test_own_rows_of_a_task_bring_the_labels_that_nobody_named():
    from lapsus.evaluation.benchmark_tasks import find_task

    rows = [
        {"id": "a", "tokens": ["play", "jazz"], "tags": ["O", "B-genre"], "intent": "play"},
        {"id": "b", "tokens": ["book", "two"], "tags": ["O", "B-size"], "intent": "book"},
    ]
    intents = TrackSet.from_rows("mine", find_task("nature-snips-intent"), rows).task
    assert list(intents.answer_type.choices) == ["book", "play"] and "one of: book, play." in intents.render_prompt(
        rows[0]
    )
    frames = TrackSet.from_rows("mine", find_task("nature-snips"), rows).task
    assert "one of: book, play." in frames.render_prompt(
        rows[0]
    ) and "the slots are: genre, size." in frames.render_prompt(rows[0])
    spoken = {"id": "a", "text": "play jazz", "intent": "play", "slots": [["genre", "jazz"]]}
    assert TrackSet.from_rows("mine", find_task("slurp-asr"), [spoken]).task.answer_type.slots == ("genre",)


def test_right_answers_that_no_answer_could_equal_are_refused():
    answers = {"text": ["Paris"], "answer_start": [13]}
    with pytest.raises(TypeError, match=r"holds .*Paris.* name the task that reads such gold answers"):
        TrackSet.from_rows("mine", TASK, [{"id": "a", "text": "where", "label": answers}])
    labelled = make_task(["text"], "label", labels=["yes", "no"])
    with pytest.raises(ValueError, match="row 'b' has the gold label 'maybe', which is none of yes, no"):
        TrackSet.from_rows(
            "mine", labelled, [{"id": k, "text": "x", "label": v} for k, v in (("a", "yes"), ("b", "maybe"))]
        )


@pytest.mark.parametrize("labels", [(), ("music", "weather")])
@pytest.mark.parametrize("nothing", [None, "", " ", float("nan")])
def test_rows_without_a_right_answer_are_refused(nothing, labels):
    rows = [row | {"label": nothing} if number in {3, 5} else row for number, row in enumerate(ROWS)]
    said = r"mine, row 3 has no gold answer in 'label' \(2 of 20 rows have none\); leave these rows out"
    with pytest.raises(ValueError, match=said):
        TrackSet.from_rows("mine", make_task(["text"], "label", labels=labels), rows)


def test_empty_cells_are_no_right_answers(tmp_path):
    (tmp_path / "mine.csv").write_text("id,text,label\na,play,music\nb,rain,\n")
    with pytest.raises(ValueError, match=r"row 1 has no gold answer in 'label' \(1 of 2 rows"):
        TrackSet.from_file(tmp_path / "mine.csv", TASK)


KINDS = {
    "readin-afqmc": {"sentence1": "花呗怎么提前还款", "sentence2": "如何提前还花呗的款", "label": "paraphrase"},
    "rte1": {"premise": "The man sleeps at home", "hypothesis": "A man is asleep at home", "label": "entailed"},
    "nature-snips": {"tokens": ["play", "new", "wave"], "tags": ["O", "B-genre", "I-genre"], "intent": "play"},
    "nature-snips-slots": {"tokens": ["play", "new", "wave"], "tags": ["O", "B-genre", "I-genre"]},
    "noiseqa": {
        "question": "Where is the tower",
        "context": "It is in Paris.",
        "answers": {"text": ["Paris"], "answer_start": [9]},
    },
    "readin-cmrc2018": {
        "question": "花呗怎么提前还款",
        "context": "在网上还。",
        "answers": {"text": ["网上"], "answer_start": [1]},
    },
    "readin-wmt2021": {"zh": "花呗怎么提前还款", "en": "how to pay early"},
    "readin-cspider": {"question": "花呗怎么提前还款", "schema": "t(a)", "query": "SELECT a FROM t"},
    "slurp-asr": {"text": "play some new wave", "intent": "play", "slots": [["genre", "new wave"]]},
}


@pytest.mark.parametrize("name", KINDS)
def test_noise_goes_on_rows_of_any_kind_and_leaves_the_right_answers(name):
    from lapsus.evaluation.benchmark_tasks import find_task

    task, row = find_task(name), {"id": "a"} | KINDS[name]
    noise = ["zh_homophone:2@1", "zh_homophone@0.8"] if "readin" in name else ["filler_eos:2", "filler_bos"]
    data = add_noise(TrackSet.from_rows("mine", task, [row]), noise)
    assert len(data.tracks) == 4
    (clean,), *noisy = data.tracks.values()
    assert clean == TrackSet.from_rows("mine", task, [row]).tracks["clean"][0]
    for (made,) in noisy:
        assert any(made[each] != row[each] for each in task.inputs)
        assert all(made[f"clean_{each}"] == row[each] for each in task.inputs)
        gold = {k: v for k, v in data.task.answer_type.score(None, made).items() if k.startswith("gold")}
        assert gold == {k: v for k, v in data.task.answer_type.score(None, clean).items() if k.startswith("gold")}
        assert all(made[each] == row[each] for each in task.context)
        if "tags" in row:
            assert len(made["tags"]) == len(made["tokens"]) > 3


def test_half_a_character_is_kept_and_older_answers_are_read(tmp_path):
    rows = [{"id": "a", "text": "x", "label": "y"}, {"id": "b", "text": "z", "label": "y"}]
    model = FunctionModel(lambda rows: ["花\ud83d"] * len(rows), "half", "1")
    for asked in (2, 0):
        outcome = Evaluation(TrackSet.from_rows("mine", TASK, rows), model, tmp_path).execute()
        assert (outcome.requested, [row["response"] for row in outcome.tracks[0].rows]) == (asked, ["花\ud83d"] * 2)
        (tmp_path / "mine" / "half" / "clean.jsonl").unlink()
    with ResponseCache(tmp_path / "old.sqlite") as cache, closing(sqlite3.connect(tmp_path / "old.sqlite")) as old:
        old.execute("INSERT INTO answers VALUES (?, ?)", ("k", '{"raw": "花呗", "scores": null, "problem": null}'))
        old.commit()
        assert cache.get("k") == Response("花呗")


def test_the_cache_says_when_it_is_no_cache(tmp_path):
    (tmp_path / "answers.sqlite").write_text("these are no answers, but a text that is long enough to be no database")
    with pytest.raises(ValueError, match=r"is no cache of responses .*; delete it, or name another"):
        ResponseCache(Path(tmp_path / "answers.sqlite"))


OPENED = """
import multiprocessing
from pathlib import Path
from lapsus.core.types import Response
from lapsus.evaluation.cache import ResponseCache

def put(number, start):
    for place in range(100):
        start.wait(30)
        with ResponseCache(Path(f"{place}.sqlite")) as cache:
            cache.put(str(number), Response(number))

if __name__ == "__main__":
    start = multiprocessing.Barrier(6)
    runs = [multiprocessing.Process(target=put, args=(number, start)) for number in range(6)]
    for run in runs:
        run.start()
    assert runs and not any([run.join(30) or run.exitcode for run in runs])
    for path in Path().glob("*.sqlite"):
        with ResponseCache(path) as cache:
            assert all(cache.get(str(number)) == Response(number) for number in range(6))
"""


def test_runs_that_open_one_new_cache_at_the_same_moment_wait_for_one_another(tmp_path):
    (tmp_path / "opened.py").write_text(OPENED)
    subprocess.run([sys.executable, "opened.py"], cwd=tmp_path, check=True)


def test_a_cache_that_stays_locked_is_not_to_be_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr("lapsus.evaluation.cache.WAIT", 0.1)
    path = tmp_path / "answers.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TimeoutError, match=r"another run has locked .* wait for its end, or name another"):
            ResponseCache(path)
    with pytest.raises(ValueError, match=r"\(unable to open database file\); name another with --cache"):
        ResponseCache(tmp_path)


@pytest.mark.parametrize(
    "names",
    [("K 1", "K-1"), ("Keyboard", "keyboard"), ("straße", "STRASSE"), ("\u00c5", "\u212b"), ("CLEAN", "clean2")],
)
def test_tracks_that_would_be_one_file_are_refused(tmp_path, names):
    tracks = dict.fromkeys(("clean", *names), ROWS[:2])
    model = FunctionModel(keywords, "m", "1")
    with pytest.raises(ValueError, match=r"the tracks .* would be one file, .*; rename one of them"):
        Evaluation(TrackSet.from_tracks("mine", TASK, tracks), model, tmp_path).execute()
    assert not list(tmp_path.iterdir())


def test_datasets_and_models_that_would_be_one_folder_are_refused(tmp_path):
    def execute(dataset, model):
        data = TrackSet.from_rows(dataset, TASK, ROWS[:2])
        return Evaluation(data, FunctionModel(keywords, model, "1"), tmp_path).execute()

    execute("my data", "m")
    with pytest.raises(ValueError, match="holds the predictions of 'my data', another dataset"):
        execute("my-data", "m")
    for dataset, model in [("My data", "m"), ("my data", "M")]:
        with pytest.raises(ValueError, match="are one folder where the case of letters does not count"):
            execute(dataset, model)
    assert execute("my data", "m").requested == 0
