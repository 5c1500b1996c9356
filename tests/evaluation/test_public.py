"""The public interface of `lapsus.evaluation`: what it takes, and what it refuses instead of a misleading number."""

from __future__ import annotations

import json
import re
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass
from inspect import isfunction, signature
from pathlib import Path

import pytest
from click.testing import CliRunner

import lapsus
from lapsus import evaluation, hub, run
from lapsus.cli.main import main
from lapsus.core.plugins import load_units
from lapsus.evaluation import (
    AnswerType,
    Evaluation,
    ExactAnswer,
    Example,
    FrameAnswer,
    FunctionModel,
    LabelAnswer,
    ModelProvider,
    Prediction,
    Request,
    Response,
    SimilarityAnswer,
    SpanAnswer,
    SqlAnswer,
    TrackSet,
    TranslationAnswer,
    load_tasks,
    make_request,
    make_task,
    open_model,
)
from lapsus.evaluation.models import MODULES, load_model_providers
from lapsus.hub import build_rows
from lapsus.integrations import describe_task, load_exported_task
from lapsus.io.predictions import read_predictions

ROWS = [{"id": "a", "text": "will it rain", "label": "weather"}, {"id": "b", "text": "a song", "label": "music"}]
TASK = make_task(["text"], "label", labels=["music", "weather"])


def keywords(rows):
    return ["weather" if "rain" in row["text"] else "music" for row in rows]


def test_every_public_name_is_there():
    assert sorted(evaluation.__all__) == evaluation.__all__
    for name in evaluation.__all__:
        assert getattr(evaluation, name).__module__.startswith("lapsus."), name


@pytest.mark.parametrize("value", [
    Example("a", "clean", ROWS[0]), Request(Example("a", "clean", ROWS[0]), "will it rain", "k"), Response("weather"),
    Prediction(Request(Example("a", "clean", ROWS[0]), "", "k"), Response(None, error="too long"), None, {"score": 0.0}),
])  # fmt: skip
def test_the_values_of_a_run_are_frozen(value):
    assert is_dataclass(value)
    for each in fields(value):
        with pytest.raises(FrozenInstanceError):
            setattr(value, each.name, None)


def test_kinds_of_models_are_found_without_a_look_at_other_packages(monkeypatch):
    own = load_units("lapsus.evaluation.models", "no.such.group", lambda unit: unit.name)
    assert set(MODULES) == set(own)
    for scheme, provider in own.items():
        assert provider.open.__module__ == MODULES[scheme]
    monkeypatch.setattr("lapsus.evaluation.models.load_model_providers", lambda: pytest.fail("plugins were loaded"))
    assert open_model("python:json:dumps").name == "json.dumps"


def test_a_model_of_another_package_is_found(monkeypatch):
    provider = ModelProvider(
        "other",
        "other:NAME",
        "",
        lambda rest, options: FunctionModel(keywords, rest, options.get("mood", "")),
        ("mood",),
    )
    monkeypatch.setattr("lapsus.evaluation.models.load_model_providers", lambda: {"other": provider})
    assert open_model("other:m", {"mood": "calm"}).identity == "python:m at calm"
    with pytest.raises(TypeError, match=r"^other: has no option 'colour'; its options are name, label_map, mood$"):
        open_model("other:m", {"colour": "red"})


@pytest.mark.parametrize(("model", "known"), [
    ("python:json:dumps", "python: has no option 'lable_map'; its options are name, label_map, batch_size"),
    (keywords, "a function has no option 'lable_map'; its options are name, label_map, batch_size"),
    (FunctionModel(keywords, "m", "1"), "an adapter has no option 'lable_map'"),
    ("http://localhost:1/v1#m", "http: has no option 'lable_map'; its options are name, label_map, batch_size, chat_template"),
])  # fmt: skip
def test_an_unknown_option_is_refused(model, known):
    with pytest.raises(TypeError, match=re.escape(known)):
        run(TASK, ROWS, model, lable_map={"LABEL_0": "music"})


def test_an_option_that_the_kind_of_model_ignores_is_refused():
    with pytest.raises(TypeError, match="python: has no option 'tokenizer'"):
        run(TASK, ROWS, "python:json:dumps", tokenizer="x")
    with pytest.raises(TypeError, match="give it to the adapter itself"):
        run(TASK, ROWS, FunctionModel(keywords, "m", "1"), name="other")
    with pytest.raises(TypeError, match="split is 'test', but the rows are in memory"):
        run(TASK, ROWS, keywords, split="test")
    with pytest.raises(ValueError, match="the rows are of the task rows, not other"):
        run(make_task("text", "label", name="other"), TrackSet.from_rows("rows", TASK, ROWS), keywords)


def test_known_options_are_taken():
    (track,) = run(TASK, ROWS, lambda rows: [0] * len(rows), name="m", batch_size=1, label_map={"0": "weather"})
    assert track.model == "m" and [row["prediction"] for row in track.rows] == ["weather"] * 2


def test_a_label_that_only_a_later_track_has_is_one_of_the_labels():
    later = [{"id": "c", "text": "what time is it", "label": "clock"}]
    task = make_task(["text"], "label")
    data = TrackSet.from_tracks("mine", task, {"clean": ROWS, "typed": [*ROWS, *later]})
    assert data.task.answer_type.known_golds == ("clock", "music", "weather")
    tracks = run(
        task, {"clean": ROWS, "typed": [{k: v for k, v in row.items() if k != "id"} for row in ROWS]}, keywords
    )
    assert [len(track.rows) for track in tracks] == [2, 2]


def test_a_row_is_checked_when_it_enters(tmp_path):
    asked = []
    with pytest.raises(ValueError, match="row 'b' has the gold label 'other', which is none of music, weather"):
        run(TASK, [ROWS[0], {**ROWS[1], "label": "other"}], asked.append)
    task = load_tasks()["noiseqa"]
    rows = [{"id": "a", "context": "x", "question": "y", "answers": {"text": [], "answer_start": []}}]
    with pytest.raises(ValueError, match="row 'a' has no answer"):
        run(task, rows, asked.append, out=tmp_path / "out")
    assert asked == [] and not (tmp_path / "out").exists()


GOLD = [
    (LabelAnswer(), {"label": 1}, "1"),
    (ExactAnswer(), {"answer": 2.0}, "2"),
    (
        FrameAnswer(),
        {"intent": "play", "tokens": ["a", "b"], "tags": ["O", "B-x"]},
        {"intent": "play", "slots": [("x", "b")]},
    ),
    (FrameAnswer(with_intent=False), {"slots": [["x", "b"]]}, {"intent": "", "slots": [("x", "b")]}),
    (SpanAnswer(), {"answers": {"text": ["Rome"], "answer_start": [0]}}, ["Rome"]),
    (TranslationAnswer(), {"reference": "rain"}, "rain"),
    (SqlAnswer(), {"query": "SELECT 1"}, "SELECT 1"),
    (SimilarityAnswer(), {}, None),
]


@pytest.mark.parametrize(("answer_type", "row", "gold"), GOLD)
def test_gold_answers_are_read_without_a_prediction(answer_type: AnswerType, row, gold):
    assert answer_type.read_gold(row) == gold
    if answer_type.gold_columns:
        with pytest.raises(KeyError):
            answer_type.read_gold({"id": "a"})


def test_a_model_reads_nothing_but_its_prompt():
    seen = []
    model = FunctionModel(lambda rows: [seen.extend(rows) or "x" for _ in rows], "m", "1")
    request = make_request(model, TASK, Example("a", "clean", {**ROWS[0], "clean_text": "c", "operator": "o"}))
    list(model.respond(TASK, [request]))
    assert seen == [request.prompt] == [{"id": "a", "text": "will it rain"}]


def test_predictions_with_the_old_names_of_columns_are_refused(tmp_path):
    data, model = TrackSet.from_rows("mine", TASK, ROWS), FunctionModel(keywords, "m", "1")
    Evaluation(data, model, tmp_path).execute()
    path = tmp_path / "mine" / "m" / "clean.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    old = [{"asked" if name == "request_key" else name: value for name, value in row.items()} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in old))
    with pytest.raises(ValueError, match=r"mine.m was written by an earlier version of lapsus.*; delete it, or give"):
        Evaluation(data, model, tmp_path).execute()
    path.unlink()
    manifest = tmp_path / "mine" / "m" / "run.json"
    manifest.write_text(json.dumps({"task": "rows 1", "identity": "python:m at 1", "rows": "x"}))
    with pytest.raises(ValueError, match=r"mine.m was written by an earlier version of lapsus.*; delete it, or give"):
        Evaluation(data, model, tmp_path).execute()


def test_paths_are_strings_or_paths(tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    folders = [str(tmp_path / "a"), tmp_path / "b"]
    contents = []
    for path, folder in zip((str(file), file), folders, strict=True):
        Evaluation(
            TrackSet.from_file(path, TASK), FunctionModel(keywords, "m", "1"), folder, cache=f"{folder}.sqlite"
        ).execute()
        assert Path(f"{folder}.sqlite").is_file()
        contents.append((Path(folder) / "mine" / "m" / "clean.jsonl").read_bytes())
    assert contents[0] == contents[1]
    task = load_tasks()["sample-intent"]
    data = TrackSet.from_rows("x", task, [{"id": "a", "tokens": ["a"], "tags": ["O"], "intent": "i"}])
    (tmp_path / "lapsus-export.json").write_text(json.dumps(describe_task(data)))
    assert load_exported_task(str(tmp_path)) == load_exported_task(tmp_path)


def test_numbers_that_are_whole_are_one_id():
    data = TrackSet.from_rows("mine", TASK, [{**ROWS[0], "id": 7.0}, {**ROWS[1], "id": 8}])
    assert [row["id"] for row in data.tracks["clean"]] == ["7", "8"]


def test_rows_of_a_file_beside_a_dataset_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    words = ["run", "--rows", "mine.jsonl", "--text", "text", "--gold", "label", "--model", "python:json:dumps"]
    result = CliRunner().invoke(main, [*words, "--data", "folder", "--out", "out"])
    assert result.exit_code != 0 and "--data is for a dataset of a task, but --rows names your own" in result.output


@pytest.mark.parametrize("noise", ["clean=filler_eos", "taken=filler_eos"])
def test_noise_replaces_no_track(noise):
    rows = [{"id": "a", "text": "slow down", "label": "x"}]
    with pytest.raises(ValueError, match=f"two tracks are called '{noise.partition('=')[0]}'; give each noise once"):
        run(make_task("text", "label"), {"clean": rows, "taken": rows}, lambda rows: ["x"] * len(rows), noise=[noise])


@dataclass(frozen=True)
class Place:
    """A path of another library."""

    path: str

    def __fspath__(self):
        return self.path


@pytest.mark.parametrize("place", [str, Place])
def test_a_path_is_a_text_or_what_os_takes_for_one(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(n), "text": f"play song {n}", "label": "xy"[n % 2]} for n in range(4)]
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run(make_task("text", "label"), place("mine.jsonl"), lambda rows: ["x"] * len(rows), out=place("out"))
    predictions = place(str(next(Path("out").rglob("clean.jsonl"))))
    assert lapsus.score("classification", [predictions], place("mine.jsonl"))["accuracy"] == 0.5
    tracks = lapsus.read_tracks([predictions], references=place("mine.jsonl"))
    lapsus.report(tracks, place("report"), n_resamples=10)
    lapsus.perturb_file(place("mine.jsonl"), place("noisy.jsonl"), "speako", text="text", id="id", progress=False)
    noise = {"text": "text", "id": "id", "progress": False}
    lapsus.perturb_corpus(place("mine.jsonl"), place("shards"), "filler_eos", **noise)
    sides = [[place("mine.jsonl"), place("noisy.jsonl")]] * 2
    assert lapsus.fidelity(place("mine.jsonl"), *sides, text="text")["sentences"] == 4
    built = build_rows(place("mine.jsonl"), place("built"), text="text", noise="filler_eos")
    assert built.rows["clean"] == {"test": 4} and Path("report/index.html").is_file()


def test_no_public_function_asks_for_a_path_of_pathlib():
    for module in (lapsus, evaluation, hub):
        for name in module.__all__:
            function = getattr(module, name)
            if not isfunction(function):
                continue
            for parameter in signature(function).parameters.values():
                kind = str(parameter.annotation)
                assert "Path" not in kind or "StrPath" in kind, f"{name}({parameter})"


def test_a_task_of_another_package_names_its_cure(tmp_path):
    from lapsus.evaluation import load_tracks

    with pytest.raises(FileNotFoundError) as caught:
        load_tracks(tmp_path / "none", make_task("text", "label", name="theirs"))
    assert "lapsus build" not in str(caught.value) and "give a dataset folder or ORG/NAME" in str(caught.value)


def test_every_kind_of_model_names_its_options():
    for provider in load_model_providers().values():
        assert isinstance(provider.options, tuple) and "label_map" not in provider.options


def test_the_report_refuses_predictions_with_the_old_names_of_columns(tmp_path):
    row = {"id": "a", "answer": "x", "unparsed": False, "prediction": "x", "gold": "x", "score": 1.0, "asked": "k"}
    path = tmp_path / "clean.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(ValueError, match=r"clean\.jsonl was written by an earlier version of lapsus"):
        read_predictions(path)
    del row["asked"]
    path.write_text(json.dumps(row) + "\n")
    assert read_predictions(path).columns == list(row)


def test_a_task_of_inspect_has_one_annotator():
    make_noise_track = pytest.importorskip("lapsus.integrations.inspect", exc_type=ImportError).make_noise_track
    with pytest.raises(ValueError, match=r"give operator='zh_keyboard@0.5\+filler_eos' and annotator=1"):
        make_noise_track("zh_keyboard:3@0.5+filler_eos", None)
    assert make_noise_track("zh_keyboard@0.5+filler_eos", 2).suffix == ".2"
