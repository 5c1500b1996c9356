"""The gate passes what is robust, and nothing that was not measured."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from lapsus.cli.main import main
from lapsus.core.types import Track
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.analysis.records import AnalysisOptions
from lapsus.reporting.gate import check_condition, find_problems, judge_report
from lapsus.reporting.report import report

SIZE = 300


def make_rows(correct, noisy=True, failed=0):
    """Rows of which so many are answered correctly; the first calls may have failed."""
    rows = []
    for i in range(SIZE):
        gold = "ab"[i % 2]
        answer = None if i < failed else gold if i < correct + failed else "ba"[i % 2]
        row = {"id": str(i), "gold": gold, "prediction": answer, "clean_text": f"the house {i}"}
        text = f"teh house {i}" if noisy else row["clean_text"]
        rows.append(row | {"text": text, "error": "HTTP 500" if i < failed else None})
    return rows


def make_tracks(clean, typed, model="m", noisy=True, failed=0):
    return [
        Track(model, "clean", make_rows(clean, False)),
        Track(model, "typed", make_rows(typed, noisy, failed)),
    ]


def judge(tracks, margin=0.05):
    [outcome] = judge_report(measure(tracks, AnalysisOptions(margin=margin)))
    return outcome


@pytest.mark.parametrize(
    ("typed", "outcome", "words"),
    [
        (280, "passed", "robust within 5 points"),
        (273, "passed", "costs, less than the margin"),  # certain, and small
        (100, "failed", "costs"),
        (262, "failed", "costs"),
    ],
)
def test_a_cell_fails_only_where_the_drop_is_certain(typed, outcome, words):
    result = judge(make_tracks(280, typed))
    assert (result.outcome, words in result.message) == (outcome, True), result.message


def test_few_examples_are_inconclusive():
    tracks = [Track(track.model, track.track, track.rows[:12]) for track in make_tracks(280, 280)]
    assert judge(tracks).outcome == "inconclusive"


@pytest.mark.parametrize(
    ("tracks", "problem"),
    [
        (make_tracks(280, 280, noisy=False), "noise changed no text on typed"),
        (make_tracks(280, 270, failed=30), "30 of 300 calls failed on typed"),
        (make_tracks(280, 280)[1:], "there is no clean track"),
        (make_tracks(280, 280)[:1], "no noisy track"),
    ],
)
def test_what_was_not_measured_does_not_pass(tracks, problem):
    numbers = measure(tracks)
    assert problem in find_problems(numbers)[0]
    assert all(outcome.outcome == "failed" for outcome in judge_report(numbers))


@pytest.mark.parametrize(
    ("condition", "n_failures"),
    [
        ("typed.average.low < 85 or typed.drop.high > 5", 1),
        ("typed.average.high < 10", 0),
        ("drop > 30", 1),
        ("clean.high < 90 and drop > 30", 0),
        ("typed.worst_drop.low > 30 and typed.p < 0.05", 1),
    ],
)
def test_a_condition_names_families_and_ends(condition, n_failures):
    assert len(check_condition(condition, measure(make_tracks(280, 100)))) == n_failures


def test_each_model_is_asked_for_itself():
    numbers = measure([*make_tracks(280, 100, "bad"), *make_tracks(280, 279, "good")])
    assert check_condition("typed.drop.low > 5", numbers) == ["bad: typed.drop.low > 5 holds"]
    assert check_condition("drop.low > 5", numbers) == ["bad on typed: drop.low > 5 holds"]


def test_a_value_that_is_not_known_does_not_pass():
    numbers = measure([*make_tracks(280, 280, "m"), Track("n", "clean", make_rows(280, False)), *make_other("n")])
    assert check_condition("typed.drop > 5", numbers) == [
        "n: typed.drop is not known, so 'typed.drop > 5' cannot be checked"
    ]
    with pytest.raises(ValueError, match="is no condition"):
        check_condition("spoken.drop > 5", numbers)


def make_other(model):
    return [Track(model, "dictated", make_rows(280))]


def write(folder, tracks):
    for track in tracks:
        (folder / f"{track.model}.{track.track}.jsonl").write_text("\n".join(map(json.dumps, track.rows)))
    return [str(folder / f"{track.model}.{track.track}.jsonl") for track in tracks]


@pytest.mark.parametrize(
    ("tracks", "code"),
    [
        (make_tracks(280, 280), 0),
        (make_tracks(280, 60), 3),
        (make_tracks(280, 280, noisy=False), 3),
        (make_tracks(280, 250, failed=30), 3),
    ],
)
def test_the_exit_code_of_report(tmp_path, tracks, code):
    words = [*write(tmp_path, tracks), "--out", str(tmp_path / "out"), "--fail-if", "typed.drop.low > 2"]
    result = CliRunner().invoke(main, ["report", *words])
    assert result.exit_code == code, result.output
    assert ("fails: " in result.output) == bool(code)
    suite = ET.parse(tmp_path / "out" / "junit.xml").getroot()  # noqa: S314 # of our own
    assert (suite.get("failures") != "0") == bool(code)
    assert len(suite) == int(suite.get("tests"))
    assert "| m | typed | 93.3 |" in (tmp_path / "out" / "summary.md").read_text()


@pytest.mark.parametrize(
    ("new", "code"),
    [
        (make_tracks(280, 280), 0),
        (make_tracks(200, 200), 3),  # worse everywhere: no drop shows it
        (make_tracks(280, 280, noisy=False), 3),
        (make_tracks(280, 250, failed=30), 3),
    ],
)
def test_the_exit_code_of_compare(tmp_path, new, code):
    old = report(make_tracks(280, 280), tmp_path / "old", n_resamples=0).folder
    folder = report(new, tmp_path / "new", n_resamples=0).folder
    result = CliRunner().invoke(main, ["compare", str(old), str(folder), "--fail-if", "average.high < 0"])
    assert result.exit_code == code, result.output


def test_names_with_marks_of_xml_and_markdown_stay_whole(tmp_path):
    name = 'a<b>&"c"|\x07'
    folder = report(make_tracks(280, 280, name), tmp_path / "out", n_resamples=0).folder
    [case] = ET.parse(folder / "junit.xml").getroot()  # noqa: S314 # of our own
    assert case.get("classname") == 'a<b>&"c"| '
    assert "<b>" not in (folder / "summary.md").read_text()
