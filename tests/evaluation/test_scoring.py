"""Scores of whole runs: consistency and its floor, several scorers, runs and reports that agree."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from lapsus.cli.main import main
from lapsus.core.messages import USER_ERRORS
from lapsus.core.types import Track
from lapsus.evaluation import make_task, run
from lapsus.evaluation.scorers import Answer, AnswerScore, FunctionScorer
from lapsus.evaluation.scoring import score_tracks
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.tracks import read_tracks

QUESTIONS = {"a": "When was it built?", "b": "Who painted it?", "c": "Where is it?", "d": "How many came?"}
ANSWERS = {"a": "It was 1889.", "b": "I think Monet.", "c": "It is in Paris.", "d": "About 1,200 people."}
GOLDS = {"a": ["1889"], "b": ["Claude Monet", "Monet"], "c": ["Paris"], "d": ["1200"]}
ROWS = [{"id": key, "question": text, "gold": GOLDS[key]} for key, text in QUESTIONS.items()]


def respond(rows):
    """Answer as people do; a question that is not spelt as it should be is not understood."""
    return [ANSWERS[row["id"]] if row["question"] == QUESTIONS[row["id"]] else "Sorry?" for row in rows]


def track(name, answers, model="bert", **columns):
    return Track(model, name, [{"id": key, "prediction": each, **columns} for key, each in answers.items()])


def values(track, name="score"):
    return [row[name] for row in track.rows]


def test_a_run_scores_free_answers_with_several_scorers(tmp_path):
    task = make_task("question", answers="gold")
    clean, noisy = run(task, ROWS, respond, noise=["filler_eos"], score=["contains", "f1"], out=tmp_path)
    assert values(clean) == [1, 1, 1, 1]
    assert [list(each) for each in values(clean, "scores")] == [["contains", "f1"]] * 4
    assert values(clean, "scores")[0]["f1"] == pytest.approx(0.5)
    assert values(noisy) == [0, 0, 0, 0]
    folder = tmp_path / "rows" / "respond"
    assert json.loads((folder / "run.json").read_text())["scorers"] == ["contains", "f1"]
    again = read_tracks([*folder.glob("*.jsonl")], score=["contains", "f1"])
    by_name = {each.track: each for each in again}
    assert values(by_name["clean"], "scores") == values(clean, "scores")
    results = measure(read_tracks([*folder.glob("*.jsonl")]))  # as the files have them
    assert [record.averages.micro_drop.value for record in results.summary] == [1.0]
    measured = {(each.track, each.measure): each.value.value for each in results.task_scores}
    assert measured["clean", "contains"] == 1
    assert measured["clean", "f1"] == pytest.approx(sum(each["f1"] for each in values(clean, "scores")) / 4)
    assert [(each.scorer, each.decides) for each in results.scorers] == [("contains", True), ("f1", False)]


def test_other_scorers_need_no_request(tmp_path):
    asked = []

    def count(rows):
        asked.extend(rows)
        return respond(rows)

    count.revision = "1"
    task = make_task("question", answers="gold")
    run(task, ROWS, count, score="contains", out=tmp_path)
    (clean,) = run(task, ROWS, count, score="exact", out=tmp_path)
    assert len(asked) == 4
    assert values(clean) == [0, 0, 0, 0]


def test_tracks_of_other_scorers_do_not_stand_in_one_folder(tmp_path):
    task = make_task("question", answers="gold")
    run(task, ROWS, respond, score="contains", noise=["filler_eos"], out=tmp_path)
    with pytest.raises(ValueError, match="from a run of other scorers"):
        run(task, ROWS, respond, score="exact", out=tmp_path)


def test_scorers_see_the_columns_of_the_data():
    rows = [{**row, "hint": key} for row, key in zip(ROWS, "wxyz", strict=True)]
    scorer = FunctionScorer("mine", lambda answer: float(answer.row["hint"] == "w"), reference="either")
    (clean,) = run(make_task("question", answers="gold"), rows, respond, score=scorer)
    assert values(clean) == [1, 0, 0, 0]
    assert "hint" not in clean.rows[0]


CLEAN = {"a": "red house", "b": "blue house", "c": "green tower", "d": "white tower"}


def test_consistency_compares_with_the_answers_to_the_clean_texts():
    noisy = track("keyboard.1", {**CLEAN, "a": "black ship", "c": ""})
    with pytest.warns(UserWarning, match="consistency has no floor"):
        clean, scored = score_tracks([track("clean", CLEAN), noisy], ["consistency"])
    assert values(clean) == [1, 1, 1, 1]
    assert values(scored) == [0, 1, 0, 1]
    assert values(scored, "score_reason")[2] == "the model gave no answer"


def test_the_floor_of_consistency_is_the_agreement_of_repeats(recwarn):
    repeat = track("clean.2", {**CLEAN, "a": "old ship"})
    noisy = track("keyboard.1", {**CLEAN, "b": "old ship"})
    clean, second, scored = score_tracks([track("clean", CLEAN), repeat, noisy], ["consistency"])
    assert not recwarn
    assert values(clean) == values(second) == [0, 1, 1, 1]  # each beside the other one
    assert values(scored) == [0.5, 0, 1, 1]  # beside both
    (summary,) = measure([clean, second, scored]).summary
    assert summary.averages.clean_average.value == 0.75
    assert summary.averages.micro_drop.value == pytest.approx(0.75 - 0.625)
    assert summary.averages.micro_drop.interval is not None


def test_consistency_depends_on_the_rows_alone():
    tracks = [track("clean", CLEAN), track("clean.2", CLEAN), track("keyboard.1", {**CLEAN, "b": "blue ship"})]
    more = [*tracks, track("speech.1", dict.fromkeys(CLEAN, "something else"))]
    shuffled = [Track(each.model, each.track, each.rows[::-1]) for each in tracks[::-1]]
    expected = score_tracks(tracks, ["consistency"])[2]
    assert values(score_tracks(more, ["consistency"])[2]) == values(expected)
    assert values(score_tracks(shuffled, ["consistency"])[0])[::-1] == values(expected)


def test_a_clean_text_without_an_answer_gives_no_score_to_its_noisy_ones():
    tracks = [track("clean", {**CLEAN, "a": None}), track("clean.2", {**CLEAN, "a": None}), track("keyboard.1", CLEAN)]
    scored = score_tracks(tracks, ["consistency"])[2]
    assert values(scored) == [None, 1, 1, 1]
    assert values(scored, "score_reason")[0] == "the clean text has no answer"
    (summary,) = measure(score_tracks(tracks, ["consistency"])).summary
    assert summary.examples == 3  # and not a wrong answer


def test_what_scorers_cannot_compare_is_refused():
    with pytest.raises(ValueError, match=r"there is no track clean among keyboard\.1; add its file"):
        score_tracks([track("keyboard.1", CLEAN)], ["consistency"])
    with pytest.raises(ValueError, match="4 rows have no gold answer to compare with, as f1 does"):
        score_tracks([track("clean", CLEAN)], ["f1"])
    with pytest.raises(ValueError, match="no scorer is named"):
        score_tracks([track("clean", CLEAN)], [])


def test_models_and_datasets_are_scored_apart():
    tracks = [
        track("clean", CLEAN, "bert"),
        track("clean", dict.fromkeys(CLEAN, "x"), "gpt"),
        track("keyboard.1", CLEAN, "gpt"),
    ]
    with pytest.warns(UserWarning, match="no floor"):
        assert values(score_tracks(tracks, ["consistency"])[2]) == [0, 0, 0, 0]


def test_the_agreement_with_people_stands_in_the_report():
    rows = [
        {"id": key, "prediction": text, "gold": "red house", "human_score": human}
        for (key, text), human in zip(CLEAN.items(), (1, 1, 0, None), strict=True)
    ]
    scored = score_tracks([Track("bert", "clean", rows)], ["exact", "contains"])
    record = measure(scored).scorers[0]
    assert (record.scorer, record.judged) == ("exact", 3)
    assert record.difference.value == pytest.approx(-1 / 3)
    assert record.alpha == pytest.approx(4 / 9)  # units (1, 1), (0, 1), (0, 0)


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def invoke(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def files(tmp_path):
    rows = [{"id": key, "prediction": text, "gold": GOLDS[key][0], "f1": 0.25} for key, text in ANSWERS.items()]
    wrong = [{**row, "prediction": "Sorry?"} for row in rows]
    return [write(tmp_path / "bert.clean.jsonl", rows), write(tmp_path / "bert.keyboard.1.jsonl", wrong)]


def test_reports_of_files_of_predictions(files, tmp_path):
    result = invoke("report", *files, "--score", "contains", "--score", "exact", "--out", tmp_path / "report")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report" / "index.html").read_text()
    assert "Scores are those of contains." in page
    numbers = json.loads((tmp_path / "report" / "report.json").read_text())
    assert [record["micro_drop"] for record in numbers["summary"]] == [0.75]


def test_a_column_wins_over_a_scorer_of_its_name(files):
    clean, _ = read_tracks(files, score="f1")
    assert values(clean) == [0.25] * 4
    clean, _ = read_tracks(files, score=["contains", "f1"])  # and stands beside scorers
    assert clean.rows[0]["scores"] == {"contains": 1.0, "f1": 0.25}
    with pytest.raises(USER_ERRORS, match=r"contans.* no scorer of that name"):
        read_tracks(files, score="contans")


def test_own_rows_without_gold_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "echo.py").write_text("def answer(rows):\n    return [row['question'] for row in rows]\n")
    rows = write(tmp_path / "mine.jsonl", [{"id": key, "question": text} for key, text in QUESTIONS.items()])
    command = ["run", "--rows", rows, "--text", "question", "--model", "python:echo:answer", "--noise", "filler_eos"]
    result = invoke(*command, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "add --score consistency" in result.output
    result = invoke(*command, "--score", "consistency", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "consistency has no floor" in result.output
    result = invoke(*command, "--score", "f1", "--out", tmp_path / "out")
    assert result.exit_code == 2


def test_gold_answers_that_are_sentences_need_a_scorer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "echo.py").write_text("def answer(rows):\n    return [row['question'] for row in rows]\n")
    rows = [
        {"id": str(n), "question": f"Where is number {n}?", "gold": f"It is in the old house of number {n}."}
        for n in range(6)
    ]
    command = ["run", "--rows", write(tmp_path / "mine.jsonl", rows), "--text", "question", "--gold", "gold"]
    command += ["--model", "python:echo:answer", "--noise", "filler_eos", "--out", tmp_path / "out"]
    result = CliRunner().invoke(main, list(map(str, command)))
    assert "name a scorer, such as --score f1" in result.output
    assert invoke(*command, "--score", "f1").exit_code == 0


def test_answers_that_hold_the_gold_one_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "talk.py").write_text("def answer(rows):\n    return ['I would say Paris.' for row in rows]\n")
    rows = [{"id": str(n), "question": "Where?", "gold": "Paris"} for n in range(3)]
    result = invoke(
        "run", "--rows", write(tmp_path / "mine.jsonl", rows), "--text", "question", "--gold", "gold",
        "--model", "python:talk:answer", "--out", tmp_path / "out",
    )  # fmt: skip
    assert "3 of 3 answers are wrong and hold the gold answer among other words" in result.output


def test_scores_of_answers_without_one_are_not_wrong_ones():
    half = FunctionScorer("half", lambda answer: AnswerScore(None, "unread") if answer.row["id"] == "a" else 1.0)
    rows = [{"id": key, "prediction": "x", "gold": "x"} for key in "abc"]
    scored = score_tracks([Track("bert", "clean", rows)], [half])
    (record,) = measure(scored).tracks
    assert (record.examples, record.unparsed, record.average.value) == (2, 0, 1.0)
    assert Answer("x", ["y", "z"]).golds == ("y", "z")


def test_lapsus_score_takes_scorers(files, tmp_path):
    result = json.loads(invoke("score", "contains", "--predictions", files[0]).output)
    assert (result["contains"], result["examples"], result["unscored"]) == (0.75, 4, 0)
    assert result["contains_ci"][0] < 0.75 < result["contains_ci"][1]
    gold = write(tmp_path / "gold.jsonl", [{"id": key, "answers": each} for key, each in list(GOLDS.items())[:3]])
    answers = write(
        tmp_path / "p.jsonl", [{"id": key, "output": text, "human_score": 1} for key, text in ANSWERS.items()]
    )
    command = ["score", "contains", "--predictions", answers, "--references", gold, "--option", "predictions=output"]
    result = json.loads(invoke(*command, "--option", "references=answers").output)
    assert result["contains"] == 1
    assert result["join"]["not_in_references"] == {"count": 1, "ids": ["d"]}
    assert result["people"]["examples"] == 3
    result = json.loads(invoke("score", "consistency", "--predictions", files[1], "--references", files[0]).output)
    assert result["consistency"] == 0
    result = invoke("score", "f1", "--predictions", *files[:1], "--option", "prediction=x")
    assert "did you mean predictions" in result.output


def test_scores_of_two_scorers_stand_in_no_report(files, tmp_path):
    clean, noisy = read_tracks(files, score="contains")
    (other,) = score_tracks([noisy], ["exact"])
    with pytest.raises(
        ValueError, match=r"bert / clean has the scores of contains, and bert / keyboard\.1 those of exact"
    ):
        measure([clean, other])
    with pytest.raises(ValueError, match="those of no scorer"):
        measure([clean, *read_tracks(files[1:], score="f1")])
    for name in ("contains", "exact"):
        assert invoke("report", *files, "--score", name, "--out", tmp_path / name).exit_code == 0
    result = CliRunner().invoke(main, ["compare", str(tmp_path / "contains"), str(tmp_path / "exact")])
    assert "has the scores of contains and" in result.output
    assert invoke("compare", tmp_path / "exact", tmp_path / "exact").exit_code == 0
