"""Exports, with the real packages, offline: the same prompts, the same scores."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("transformers")  # of the extra models

import tiny_models
from click.testing import CliRunner

from lapsus.cli.main import main
from lapsus.core.types import Track
from lapsus.evaluation.benchmark_tasks import find_task
from lapsus.evaluation.models import open_model
from lapsus.evaluation.models.inspect import InspectModel
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet, load_tracks
from lapsus.integrations import export, render_rows
from lapsus.integrations.hub import find_hub_scorer, to_hub_results
from lapsus.perturbations import OPERATORS, Noise, ZhKeyboard, apply
from lapsus.perturbations.core import propose
from lapsus.perturbations.speakers import NoisySpeaker
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.tracks import read_tracks


@pytest.fixture(scope="module")
def sample(built_sample):
    return built_sample


@pytest.fixture(scope="module")
def commands(sample):
    return load_tracks(str(sample), find_task("sample-intent")).limit(6)


@pytest.fixture(scope="module")
def causal(tmp_path_factory, commands):
    folder = tmp_path_factory.mktemp("causal")
    texts = [commands.task.render_prompt(row) for rows in commands.tracks.values() for row in rows]
    words = tiny_models.tokenizer([*texts, "user assistant"], chat=tiny_models.CHAT)
    tiny_models.causal(words, folder)
    return folder


def tracks_of(names, data):
    return {name: len(data.tracks[name]) for name in names}


@pytest.mark.parametrize(
    "name", ["sample-paraphrase", "sample-commands", "sample-intent", "sample-slots", "sample-entailment"]
)
def test_every_task_of_the_sample_reads_its_tracks(sample, name):
    data = load_tracks(str(sample), find_task(name))
    sizes = {len(rows) for rows in data.tracks.values()}
    assert len(sizes) == 1 and len(data.tracks) >= 2
    clean, *noisy = data.tracks.values()
    for rows in noisy:
        assert [row["id"] for row in rows] == [row["id"] for row in clean]
        prompts = [(data.task.render_prompt(a), data.task.render_prompt(b)) for a, b in zip(rows, clean, strict=True)]
        assert any(a != b for a, b in prompts) and all("{" not in a.replace('{"', "") for a, _ in prompts)


def test_only_the_tracks_that_are_asked_for(sample):
    task = find_task("sample-paraphrase")
    assert list(load_tracks(str(sample), task, ["keyboard.*"]).tracks) == [
        "clean",
        "keyboard.1",
        "keyboard.2",
        "keyboard.3",
    ]
    with pytest.raises(LookupError, match=r"no track fits 'typing\.\*'"):
        load_tracks(str(sample), task, ["typing.*"])
    with pytest.raises(LookupError, match="choose the task that fits"):
        load_tracks(str(sample), find_task("rte3"))
    assert list(load_tracks(str(sample), find_task("sample-entailment"), ["original"]).tracks) == ["original"]


def test_a_perfect_function_is_perfect_on_every_track(sample):
    task = find_task("sample-commands")
    data = load_tracks(str(sample), task)
    gold = {(row["id"], tuple(row["tokens"])): row for rows in data.tracks.values() for row in rows}
    from lapsus import run

    def perfect(rows):
        return [{name: gold[row["id"], tuple(row["tokens"])][name] for name in ("intent", "tags")} for row in rows]

    for track in run(task, str(sample), perfect):
        assert {row["score"] for row in track.rows} == {1.0}, track.track


def test_rendered_rows_ask_what_a_run_asks(commands):
    for track, rows in commands.tracks.items():
        for made, row in zip(render_rows(commands, track), rows, strict=True):
            assert made["question"] == commands.task.render_prompt(row)
            assert made["choices"][made["answer"]] == row["intent"]


@pytest.mark.slow
def test_lm_eval_finds_the_scores_of_a_run(sample, commands, causal, tmp_path):
    import lm_eval
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    export(commands, "lm-eval", tmp_path / "intents")
    pairs = load_tracks(str(sample), find_task("sample-paraphrase"), ["keyboard.*"]).limit(4)
    export(pairs, "lm-eval", tmp_path / "pairs")
    model = open_model(f"hf:{causal}", {"batch_size": 4})
    mine = Evaluation(commands, model).execute().tracks
    theirs = lm_eval.simple_evaluate(
        HFLM(pretrained=model.model, tokenizer=model.tokenizer, batch_size=4),
        tasks=[f"sample-intent_{track.track}" for track in mine],
        task_manager=TaskManager(include_path=str(tmp_path / "intents"), include_defaults=False),
        apply_chat_template=True,
        log_samples=True,
        bootstrap_iters=0,
    )
    for track in mine:
        samples = {each["doc"]["id"]: each for each in theirs["samples"][f"sample-intent_{track.track}"]}
        for row in track.rows:
            likely = [float(response[0][0]) for response in samples[row["id"]]["resps"]]
            assert likely == pytest.approx(list(row["label_logprobs"].values()), abs=1e-4)
        mean = sum(row["score"] for row in track.rows) / len(track.rows)
        assert theirs["results"][f"sample-intent_{track.track}"]["acc,none"] == pytest.approx(mean)
    sys.modules.pop("utils", None)  # each folder has its own
    grouped = lm_eval.simple_evaluate(
        HFLM(pretrained=model.model, tokenizer=model.tokenizer, batch_size=4),
        tasks=["sample-paraphrase_keyboard"],
        task_manager=TaskManager(include_path=str(tmp_path / "pairs"), include_defaults=False),
        apply_chat_template=True,
        bootstrap_iters=0,
    )["results"]["sample-paraphrase_keyboard"]
    assert 0 <= grouped["worst_average,none"] <= grouped["acc,none"] <= 1


@pytest.mark.slow
def test_lm_eval_asks_any_task_of_its_own_with_noise(commands, causal, tmp_path):
    import lm_eval
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    export(commands, "lm-eval", tmp_path / "out")
    rows = [{"id": "q1", "question": "play a song", "answer": 1}, {"id": "q2", "question": "will it rain", "answer": 0}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "other").mkdir()
    settings = (tmp_path / "out" / "noisy.py").read_text().replace("ID = None", 'ID = "id"')
    (tmp_path / "other" / "noisy.py").write_text(settings)
    (tmp_path / "other" / "other.yaml").write_text(
        "task: other\ndataset_path: json\ndataset_kwargs: {data_files: {test: %s}}\ntest_split: test\n"
        "output_type: multiple_choice\ndoc_to_text: '{{question}}'\ndoc_to_choice: ['no', 'yes']\n"
        "doc_to_target: answer\nprocess_docs: !function noisy.docs\n" % (tmp_path / "rows.jsonl")
    )
    found = lm_eval.simple_evaluate(
        HFLM(pretrained=open_model(f"hf:{causal}").model, tokenizer=open_model(f"hf:{causal}").tokenizer),
        tasks=["other"],
        task_manager=TaskManager(include_path=str(tmp_path / "other"), include_defaults=False),
        apply_chat_template=True,
        log_samples=True,
        bootstrap_iters=0,
    )["samples"]["other"]
    for row, sample in zip(rows, sorted(found, key=lambda each: each["doc_id"]), strict=True):
        (made,) = propose(OPERATORS["filler_eos"], [row["question"]], seed=0, keys=[row["id"]])
        noisy = apply(row["question"], made.edits)
        assert sample["doc"]["clean_question"] == row["question"] != noisy
        assert (
            noisy in sample["arguments"]["gen_args_0"]["arg_0"]
            if isinstance(sample["arguments"], dict)
            else noisy in sample["arguments"][0][0]
        )


def test_the_worst_average_of_lm_eval_is_ours(sample, tmp_path, monkeypatch):
    data = load_tracks(str(sample), find_task("sample-paraphrase"), ["keyboard.*"]).limit(8)
    export(data, "lm-eval", tmp_path / "tasks")
    group = json.loads((tmp_path / "tasks" / "group.yaml").read_text())
    assert group["task"] == ["sample-paraphrase_clean", "sample-paraphrase_keyboard"], "each track is asked once"
    monkeypatch.syspath_prepend(tmp_path / "tasks")
    sys.modules.pop("utils", None)
    import utils

    model = lambda rows: ["相同" if len(row["sentence1"]) % 2 else "不同" for row in rows]  # noqa: E731
    from lapsus import run

    tracks = run(data.task, data, model)
    items = [(row["id"], row["score"]) for track in tracks[1:] for row in track.rows]
    (ours,) = [row for row in measure(tracks).summary if row.family == "keyboard"]
    assert utils.worst_average(items) == pytest.approx(ours.averages.worst_average.value)
    rows = utils.load(["keyboard.1", "keyboard.2", "keyboard.3"])["test"]
    assert len(rows) == 24 and set(rows["track"][:3]) == {"keyboard.1", "keyboard.2", "keyboard.3"}
    assert [len({row["id"] for row in rows.select(range(3 * n, 3 * n + 3))}) for n in range(8)] == [1] * 8


@pytest.mark.slow
def test_inspect_asks_scores_and_reports_with_our_ids(sample, commands, tmp_path):
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def said(name):
        output = ModelOutput.from_content("mockllm/model", name)
        output.usage = ModelUsage(input_tokens=3, output_tokens=1, total_tokens=4)
        return output

    from lapsus.integrations.inspect import benchmark

    golds = [row["intent"] for row in commands.tracks["filler_eos"]]
    task = benchmark("sample-intent", str(sample), "filler_eos")
    task.dataset = task.dataset[:6]
    model = get_model("mockllm/model", custom_outputs=[said(golds[0])] * 3 + [said("nothing")] * 3)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", max_connections=1)
    assert log.status == "success"
    (path,) = tmp_path.glob("*.eval")
    (track,) = read_tracks([path])
    assert (track.track, track.dataset) == ("filler_eos", "sample-intent")
    assert {row["id"] for row in track.rows} == {row["id"] for row in commands.tracks["filler_eos"]}
    assert sum(row["score"] for row in track.rows) == sum(gold == golds[0] for gold in golds[:3])


def test_the_tasks_of_inspect_say_how_one_of_them_is_named(sample, tmp_path):
    pytest.importorskip("inspect_ai")
    from inspect_ai._eval.loader import load_tasks

    data = load_tracks(str(sample), find_task("sample-paraphrase"), ["keyboard.*"]).limit(2)
    export(data, "inspect", tmp_path / "tasks")
    (shown,) = [line for line in (tmp_path / "tasks" / "tasks.py").read_text().splitlines() if "inspect eval" in line]
    (task,) = load_tasks([f"{tmp_path}/tasks/{shown.split()[2]}"])
    assert task.name == "sample-paraphrase_clean" and len(task.dataset) == 2


OTHER = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate, prompt_template, system_message

SAID = ["花呗怎么提前还款", "借呗额度为什么没有了", "花呗分期怎么取消"]

@task
def other():
    samples = [Sample(id=f"q{n}", input=text, target="ok") for n, text in enumerate(SAID)]
    return Task(samples, solver=[system_message("brief"), prompt_template("Now: {prompt}"), generate()], scorer=match())
"""
PROVIDER = """
import asyncio
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi

@modelapi(name="offline")
def offline():
    class Words(ModelAPI):
        loops = set()

        async def generate(self, input, tools, tool_choice, config):
            self.loops.add(id(asyncio.get_running_loop()))
            said = input[-1].text
            made = ModelOutput.from_content(self.model_name, "ok" if "呗" in said else "music" if "song" in said else "no")
            made.usage = ModelUsage(input_tokens=len(said), output_tokens=1, total_tokens=len(said) + 1)
            return made

    return Words
"""


@pytest.fixture
def provider(tmp_path):
    """A package with a provider of inspect: a model that answers by the words it sees."""
    told = tmp_path / "site" / "offline-1.0.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: offline\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text("[inspect_ai]\noffline = offline\n")
    (tmp_path / "site" / "offline.py").write_text(PROVIDER)
    return tmp_path / "site"


@pytest.mark.slow
def test_inspects_own_command_puts_noise_on_any_task(provider, tmp_path):
    (tmp_path / "other.py").write_text(OTHER)
    env = os.environ | {"PYTHONPATH": str(provider)}
    command = [sys.executable, "-m", "inspect_ai", "eval", "lapsus/noisy", "--model", "offline/words"]
    command += ["--display", "none", "-T", "of=other.py@other"]
    for own in (["-T", "operator=clean"], ["-T", "operator=zh_keyboard", "-T", "annotator=2"]):
        subprocess.run([*command, *own], cwd=tmp_path, env=env, check=True, capture_output=True)
    tracks = {track.track: track for track in read_tracks([tmp_path / "logs"])}
    assert set(tracks) == {"clean", "zh_keyboard.2"} and {track.dataset for track in tracks.values()} == {"other"}
    noisy = tracks["zh_keyboard.2"].rows
    assert [row["id"] for row in noisy] == [row["id"] for row in tracks["clean"].rows] == ["q0", "q1", "q2"]
    assert any(row["text"] != row["clean_text"] for row in noisy)
    for row in noisy:
        (clean,), (text,) = row["clean_text"], row["text"]
        spoken = NoisySpeaker((Noise(ZhKeyboard.annotator(2)),), row["id"]).say(clean, 0)
        assert text == spoken.noisy and row["score"] == float("呗" in text), "the model saw the noise"
    (line,) = measure(list(tracks.values())).summary
    assert line.averages.clean_average.value == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lapsus/noisy", "-T", "of=other.py@other", "-T", "operator=zh_keybord"], "did you mean zh_keyboard"),
        (["lapsus/noisy", "-T", "of=other.py@nothing"], "Task named 'nothing' not found"),
        (["lapsus/benchmark", "-T", "task=readin-afqm", "-T", "data=."], "did you mean readin-afqmc"),
        (["lapsus/benchmark", "-T", "task=readin-afqmc", "-T", "data=nowhere"], "nowhere"),
    ],
)
def test_a_mistake_in_inspects_own_command_is_one_sentence(provider, tmp_path, words, said):
    (tmp_path / "other.py").write_text(OTHER)
    command = [sys.executable, "-m", "inspect_ai", "eval", *words, "--model", "offline/words", "--display", "plain"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(provider)},
        capture_output=True,
        text=True,
        check=False,
    )
    told = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1 and said in told and "Traceback" not in told, told


def test_a_task_that_the_hub_cannot_score_is_refused():
    for name in ("readin-wmt2021", "readin-cspider", "nature-snips", "dialect-zh"):
        with pytest.raises(TypeError, match=rf"no scorer for {name}, .*write the task for inspect"):
            find_hub_scorer(find_task(name))


def test_what_a_provider_of_inspect_misses_is_one_sentence(monkeypatch):
    pytest.importorskip("inspect_ai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(
        ValueError, match=r"^inspect does not open openai/gpt-4o \([^\n\[]+OPENAI_API_KEY[^\n\[]+\); give"
    ):
        open_model("inspect:openai/gpt-4o")
    with pytest.raises(ValueError, match=r"inspect does not open nowhere/model \(Model API nowhere of model"):
        open_model("inspect:nowhere/model")


@pytest.mark.slow
def test_a_model_of_inspect_answers_a_run(provider, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(provider)
    importlib.invalidate_caches()
    importlib.import_module("offline")
    rows = [{"id": "a", "text": "a song", "label": "music"}, {"id": "b", "text": "rain", "label": "music"}]
    model = open_model("inspect:offline/words", {"batch_size": 1})
    data = TrackSet.from_rows("mine", make_task(["text"], "label", labels=["music", "weather"], prompt="{text}"), rows)
    outcome = Evaluation(data, model, tmp_path / "out").execute()
    assert [row["prediction"] for row in outcome.tracks[0].rows] == ["music", None] and outcome.unparsed == 1
    assert model.get_usage() == {"tokens of prompts": 10, "tokens of answers": 2}
    assert Evaluation(data, model, tmp_path / "out").execute().requested == 0
    assert len(model.model.api.loops) == 1, "connections of a provider live in one loop"


class FailsOnce:
    """A model of inspect whose first question of all fails."""

    def __init__(self):
        self.asked = []

    async def generate(self, prompt, config):
        self.asked.append(prompt)
        if len(self.asked) == 1:
            raise TimeoutError("too slow.")
        return SimpleNamespace(completion="music", usage=None)


def test_the_good_answers_of_a_batch_are_kept_when_another_one_of_inspect_fails(tmp_path):
    pytest.importorskip("inspect_ai")
    rows = [{"id": str(i), "text": f"song {i}", "label": "music"} for i in range(4)]
    task = make_task(["text"], "label", labels=["music", "weather"], prompt="{text}")
    data = TrackSet.from_rows("mine", task, rows)
    model = InspectModel(FailsOnce(), "offline/words", "words", 4)
    with pytest.raises(ConnectionError, match=r"gave no answer \(TimeoutError: too slow\); run again to go on"):
        Evaluation(data, model, tmp_path).execute()
    assert Evaluation(data, model, tmp_path).execute().requested == 1
    assert model.model.asked == ["song 0", "song 1", "song 2", "song 3", "song 0"]


@pytest.mark.slow
def test_evaluate_finds_the_scores_of_a_run(sample, tmp_path):
    data = load_tracks(str(sample), find_task("sample-paraphrase"), ["keyboard.1"])
    labels = list(data.task.answer_type.choices)
    texts = {
        track: [[_said(row[each]) for each in data.task.inputs] for row in rows] for track, rows in data.tracks.items()
    }
    words = tiny_models.tokenizer([text for rows in texts.values() for row in rows for text in row])
    tiny_models.classifier(words, tmp_path / "model", labels, length=128)
    export(data, "evaluate", tmp_path / "suite")
    done = subprocess.run(
        [sys.executable, "suite.py", str(tmp_path / "model")], cwd=tmp_path / "suite", capture_output=True, text=True,
        env=os.environ | {"HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    tracks = Evaluation(data, open_model(f"hf:{tmp_path / 'model'}")).execute().tracks
    assert [line["track"] for line in found] == [track.track for track in tracks]
    for line, track in zip(found, tracks, strict=True):
        assert line["accuracy"] == pytest.approx(sum(row["score"] for row in track.rows) / len(track.rows))


def _said(value):
    return " ".join(value) if isinstance(value, list) else value


def test_the_command_writes_exports_and_refuses_other_folders(sample, tmp_path):
    words = [
        "tasks",
        "sample-intent",
        "--data",
        str(sample),
        "--tracks",
        "filler_eos",
        "--out",
        str(tmp_path / "out"),
        "--export",
    ]
    for target, file in {
        "lm-eval": "group.yaml",
        "inspect": "tasks.py",
        "evaluate": "suite.py",
        "hub": "eval.yaml",
    }.items():
        done = CliRunner().invoke(main, [*words, target])
        assert done.exit_code == 0 and (tmp_path / "out" / file).is_file(), done.output
    assert not (tmp_path / "out" / "group.yaml").exists()
    told = json.loads((tmp_path / "out" / "lapsus-export.json").read_text())
    assert told["tracks"] == ["original", "filler_eos"]
    frames = CliRunner().invoke(
        main, ["tasks", "sample-commands", *words[2:-2], str(tmp_path / "o"), "--export", "evaluate"]
    )
    assert frames.exit_code == 1 and "evaluate runs classifiers of one text or two" in frames.output
    refused = CliRunner().invoke(main, [*words[:2], "--export", "hub"])
    assert refused.exit_code and "--export needs --data" in refused.output


def test_results_for_the_hub_are_means_in_percent():
    data = TrackSet.from_rows(
        "mine", make_task(["text"], "label"), [{"id": str(i), "text": "x", "label": "yes"} for i in range(4)]
    )
    tracks = Evaluation(data, open_function()).execute().tracks
    (entry,) = to_hub_results(tracks, "org/mine")
    assert entry["value"] == 25.0 and entry["dataset"]["task_id"] == "clean"
    unread = Track("m", "keyboard.1", [{"id": "a", "score": 1.0}, {"id": "b", "score": None}])
    assert to_hub_results([unread], "org/mine")[0]["value"] == 50.0
    with pytest.raises(ValueError, match=r"keyboard\.1 of m has no rows"):
        to_hub_results([Track("m", "keyboard.1", [])], "org/mine")


def open_function():
    from lapsus.evaluation.models.function import FunctionModel

    return FunctionModel(lambda rows: ["yes" if row["id"] == "0" else "no" for row in rows], "m", "1")
