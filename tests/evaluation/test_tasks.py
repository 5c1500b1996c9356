"""Every task on every dataset that is built from the small files: right answers, one answer to all, and rubbish."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from accepted_calls import list_accepted_calls
from click.testing import CliRunner
from paths import BENCHMARK_FILES as FILES
from small_benchmarks import BUILT

from lapsus import report
from lapsus import run as run_model
from lapsus.cli.main import main
from lapsus.core.track_names import CLEAN
from lapsus.dataset_scripts import benchmarks
from lapsus.evaluation.answer_types import SimilarityAnswer
from lapsus.evaluation.benchmark_tasks import load_tasks
from lapsus.evaluation.tool_answer import ToolCallAnswer
from lapsus.evaluation.tracks import load_tracks
from lapsus.hub.build import build_dataset
from lapsus.reporting.analysis.measure import measure

TRAINED = ("nature-atis", "nature-snips", "nature-nlued")  # their config `hard` trains a model when it is built
NAMES = [name for name, task in load_tasks().items() if task.dataset not in TRAINED]
HIDDEN = ("label", "intent", "tags", "slots", "scenario", "action", "entities", "frame", "answers", "query", "edits",
          "reference", "translation", "perturbed", "identical", "operator")  # fmt: skip
RUBBISH = "@@ ;; {"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a function that builds a dataset once."""
    root, made = tmp_path_factory.mktemp("built"), {}

    def build(name):
        if name not in made:
            folder = BUILT[name][0] if name in BUILT else None
            source = None if folder is None else FILES / folder
            build_dataset(benchmarks()[name], root / name, source=source, allow_partial=True)
            made[name] = root / name
        return made[name]

    return build


def right_answer(task, row):
    """Return what a model that knows the right answer would say."""
    judged = task.answer_type.score(None, row)
    if isinstance(task.answer_type, SimilarityAnswer):
        return 90 if row["tag"] == task.answer_type.tags[1] else 10
    if isinstance(task.answer_type, ToolCallAnswer):
        return list_accepted_calls(judged["gold"])
    if "gold_slots" in judged:
        return {"intent": row.get("intent"), "slots": judged["gold_slots"]}
    return judged["gold"]


def asked_and_answered(task, data):
    """Return the right answers by what a model sees: so a model that sees too little cannot be right."""
    return {repr(task.visible_columns(row)): right_answer(task, row) for rows in data.tracks.values() for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_right_answers_score_one_on_every_track_and_rubbish_nothing(name, built):
    task = load_tasks()[name]
    data = load_tracks(str(built(task.dataset)), task)
    task, known = data.task, asked_and_answered(data.task, data)
    right = run_model(task, data, lambda rows: [known[repr(row)] for row in rows])
    assert [track.track for track in right] == list(data.tracks)
    assert all(not row["unparsed"] for track in right for row in track.rows)
    wrong = run_model(task, data, lambda rows: [RUBBISH] * len(rows))
    if isinstance(task.answer_type, SimilarityAnswer):
        found = measure(right).dialects[0]
        assert (found.losses, found.ties) == (0, 0) and found.wins == found.examples > 0
        assert (found.awareness_wins, found.awareness_losses) == (found.examples, 0)
        silent = measure(wrong).dialects[0]
        assert (silent.wins, silent.ties) == (0, silent.examples), "no answer never wins"
        return
    assert right[0].track in {*CLEAN}, "the report finds the clean track"
    assert {row["score"] for track in right for row in track.rows} == {1.0}
    assert {row["score"] for track in wrong for row in track.rows} == {0.0}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_told_neither_the_right_answer_nor_the_clean_text(name, built):
    task = load_tasks()[name]
    data = load_tracks(str(built(task.dataset)), task)
    for rows in data.tracks.values():
        for row in rows:
            seen = data.task.visible_columns(row)
            assert not {*HIDDEN} & {*seen}
            assert not [
                column for column in seen if column.startswith(("clean_", "original_")) and column != "original_id"
            ]
            assert set(data.task.columns) <= {*seen}


def test_a_dialect_that_is_a_sentences_own_or_has_no_edit_is_left_out(tmp_path):
    from datasets import Dataset

    rows = [
        {"id": "a", "base": "o trem", "dialect": "o comboio", "perturbed": "o avião"},
        {"id": "b", "base": "a casa", "dialect": "a casa", "perturbed": "a rua"},
        {"id": "c", "base": "o ônibus", "dialect": "o autocarro", "perturbed": None},
    ]
    Dataset.from_list(rows).to_parquet(tmp_path / "test.parquet")
    data = load_tracks(str(tmp_path), load_tasks()["dialect-pt"])
    assert [[(row["candidate"], row["tag"]) for row in part] for part in data.tracks.values()] == [
        [("o comboio", "pt-PT")], [("o avião", "pt-BR")], [("o comboio", "pt-BR")],
    ]  # fmt: skip
    assert data.notes == (
        "2 of 3 sentences are left out: 1 have no edit that surely changes their meaning, 1 are the same in both dialects",
    )


def spoken_rows(folder, rows):
    """Write a dataset of questions, as they were meant and as all annotators spoke them."""
    from datasets import Dataset

    paths = {"clean": [{"id": key, "question": f"meant {key}"} for key, _ in rows]}
    paths["speech"] = [
        {"id": key, "question": [{"annotator": who, "text": text} for who, text in said]} for key, said in rows
    ]
    answers = {"context": "Paris.", "answers": {"text": ["Paris"], "answer_start": [0]}}
    for config, part in paths.items():
        (folder / config).mkdir(parents=True)
        Dataset.from_list([row | answers for row in part]).to_parquet(folder / config / "test.parquet")
    told = [{"config_name": config, "data_files": f"{config}/test.parquet"} for config in paths]
    (folder / "README.md").write_text(f"---\n{json.dumps({'configs': told})}\n---\n")
    return load_tracks(str(folder), replace(load_tasks()["noiseqa"], clean="clean", tracks=("speech",)))


def test_tracks_go_by_annotator_and_lack_the_rows_that_one_did_not_write(tmp_path):
    data = spoken_rows(
        tmp_path, [("a", []), ("b", [(3, "b3"), (1, "b1")]), ("c", [(1, "c1"), (2, "c2"), (10, "c10"), (3, None)])]
    )
    assert {name: [(row["id"], row["question"]) for row in rows] for name, rows in data.tracks.items()} == {
        "clean": [("a", "meant a"), ("b", "meant b"), ("c", "meant c")],
        "speech.1": [("b", "b1"), ("c", "c1")],
        "speech.2": [("c", "c2")],
        "speech.3": [("b", "b3")],
        "speech.10": [("c", "c10")],
    }
    assert list(data.tracks) == ["clean", "speech.1", "speech.2", "speech.3", "speech.10"]


def test_texts_that_name_no_annotator_go_by_their_place(tmp_path):
    data = spoken_rows(tmp_path, [("a", [(None, "one"), (None, "two")])])
    assert [(name, rows[0]["question"]) for name, rows in data.tracks.items()][1:] == [
        ("speech.1", "one"),
        ("speech.2", "two"),
    ]


def test_two_texts_of_one_annotator_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"speech, row 'a', has two texts of annotator 2; keep one of them"):
        spoken_rows(tmp_path, [("a", [(2, "one"), (2, "two")])])


def test_a_benchmark_that_was_built_without_its_paragraphs_says_which_file_it_lacks(tmp_path):
    from datasets import Dataset

    Dataset.from_list([{"id": "a", "question": "What is it?"}]).to_parquet(tmp_path / "test.parquet")
    lacking = (
        r"has no column 'context', .* build disfl-qa again with all of its files: from .* and dev-v2\.0\.json of SQuAD"
    )
    with pytest.raises(LookupError, match=lacking):
        load_tracks(str(tmp_path), replace(load_tasks()["disfl-qa"], clean="default"))


def test_the_page_and_the_command_say_how_often_a_dialect_wins(built, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letters_in_common.py").write_text(
        "def alike(rows):\n"
        "    sets = [(set(row['base'].lower()), set(row['candidate'].lower())) for row in rows]\n"
        "    return [100 * len(a & b) / len(a | b) for a, b in sets]\n"
    )
    words = ("run", "dialect-en", "--data", str(built("dialect-en")), "--model", "python:letters_in_common:alike")
    done = CliRunner().invoke(main, [*words, "--out", "out"])
    assert done.exit_code == 0, done.output
    files = sorted(Path("out").rglob("*.jsonl"))
    scores = {file.stem: [json.loads(line)["score"] for line in file.read_text().splitlines()] for file in files}
    wins = sum(a > b for a, b in zip(scores["dialect"], scores["perturbed"], strict=True))
    ties = sum(a == b for a, b in zip(scores["dialect"], scores["perturbed"], strict=True))
    assert f"the dialect wins {wins / 48:.1%} of 48 sentences ({ties} ties); awareness 100.0% (48 ties)" in done.output
    told = CliRunner().invoke(main, ["report", *map(str, files), "--out", "report"])
    assert told.exit_code == 0 and "no clean track" not in told.output, told.output
    page = Path("report/index.html").read_text(encoding="utf-8")
    assert "Dialect and meaning" in page and f"{100 * wins / 48:.1f}" in page
    assert Path("report/dialects.csv").read_text(encoding="utf-8-sig").splitlines()[1].split(",")[6:9] == [
        str(wins), str(48 - wins - ties), str(ties),
    ]  # fmt: skip


def test_noise_on_rte_finds_its_clean_track(built, tmp_path):
    tracks = run_model("rte3", built("rte"), lambda rows: [1] * len(rows), noise=["filler_eos:2"])
    assert [track.track for track in tracks] == ["clean", "filler_eos.1", "filler_eos.2"]
    report(tracks, tmp_path / "page")
    assert measure(tracks).summary[0].averages.clean_average.value == 0.5


@pytest.mark.slow
def test_queries_run_on_the_databases_that_are_given(built, tmp_path):
    task = load_tasks()["readin-cspider"]
    plain = load_tracks(str(built("readin-cspider")), task)
    for row in plain.tracks["clean"]:
        file = tmp_path / row["db_id"] / f"{row['db_id']}.sqlite"
        file.parent.mkdir(exist_ok=True)
        with sqlite3.connect(file) as connection:
            for line in row["schema"].splitlines():
                connection.execute(f"CREATE TABLE IF NOT EXISTS {line}")
    data = load_tracks(str(built("readin-cspider")), task, databases=tmp_path)
    known = asked_and_answered(data.task, data)
    right = run_model(data.task, data, lambda rows: [known[repr(row)] for row in rows])
    assert {row["execution_match"] for track in right for row in track.rows} == {1.0}
    assert {(one.measure, one.value.value) for one in measure(right).task_scores} == {
        ("Same result", 1.0),
        ("Same clauses", 1.0),
    }
    broken = run_model(data.task, data, lambda rows: ["SELECT nothing FROM nowhere"] * len(rows))
    assert {row["execution_match"] for track in broken for row in track.rows} == {0.0}


@pytest.mark.slow
def test_a_track_within_a_config_of_all_annotators_can_be_chosen(built):
    task = load_tasks()["slurp-asr-intent"]
    found = load_tracks(str(built("slurp-asr")), task, ["speech.2"])
    assert list(found.tracks) == ["clean", "speech.2"] and found.tracks["speech.2"]
    with pytest.raises(LookupError, match=r"no track fits 'speech\.9'"):
        load_tracks(str(built("slurp-asr")), task, ["speech.9"])
