"""Two reports side by side: what moved, whether that may be chance, and the exit code that a pipeline reads."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from lapsus.cli.main import main
from lapsus.core.types import Track
from lapsus.reporting.compare import NAMES, compare, format_changes
from lapsus.reporting.expressions import parse_condition
from lapsus.reporting.report import read_scores, report


def written(out, errors, model="m", examples=80, clean=True, dataset=""):
    """A report on one model that misses the first `errors[track]` examples of each track."""
    named = {**({"clean": 4} if clean else {}), **errors}
    tracks = [
        Track(model, name, [{"id": str(i), "score": int(i >= missed)} for i in range(examples)], dataset)
        for name, missed in named.items()
    ]
    return report(tracks, out, n_resamples=20).folder


def test_what_moved_is_counted_as_by_hand(tmp_path):
    old = written(tmp_path / "old", {"keyboard.1": 12, "keyboard.2": 20})
    new = written(tmp_path / "new", {"keyboard.1": 28, "keyboard.2": 36})
    [change] = compare(old, new)
    assert (change.old.clean, change.old.average, change.old.worst) == pytest.approx((0.95, 0.8, 0.75))
    assert (change.new.clean, change.new.average, change.new.worst) == pytest.approx((0.95, 0.6, 0.55))
    assert change.tests["average"].difference.value == pytest.approx(-0.2)
    assert change.tests["drop"].difference.value == pytest.approx(0.2)
    assert change.tests["clean"].difference.value == 0
    assert (change.verdict, change.note, change.examples) == ("worse", "", 80)
    values = change.to_values()
    assert [values[name] for name in ("drop", "old_drop", "new_drop")] == pytest.approx([20, 15, 35])
    [back] = compare(new, old)
    assert back.verdict == "better"
    assert "better" in format_changes([back])


def test_the_same_report_twice_is_no_difference(tmp_path):
    same = written(tmp_path / "same", {"keyboard.1": 12})
    [change] = compare(same, same)
    assert {(test.difference.value, test.p_value) for test in change.tests.values()} == {(0.0, 1.0)}
    assert (change.verdict, change.note) == ("undecided: about 390 examples would decide", "")
    [change] = compare(same, same, margin=0.1)
    assert change.verdict == "as good, within 10 points"


def test_without_clean_the_average_is_compared(tmp_path):
    old = written(tmp_path / "old", {"keyboard.1": 10}, clean=False)
    new = written(tmp_path / "new", {"keyboard.1": 40}, clean=False)
    [change] = compare(old, new)
    assert (list(change.tests), change.verdict, change.new.drop) == (["average", "worst"], "worse", None)
    assert parse_condition("drop > 0", NAMES).evaluate(change.to_values()) is False


def test_a_model_that_was_renamed_is_found_where_it_is_the_only_one(tmp_path):
    old = written(tmp_path / "old", {"keyboard.1": 10}, model="bert-1")
    new = written(tmp_path / "new", {"keyboard.1": 40}, model="bert-2")
    assert [change.model for change in compare(old, new)] == ["bert-2"]
    other = written(tmp_path / "other", {"speech.1": 40}, model="bert-2")
    with pytest.raises(ValueError, match="share no noisy track of a model"):
        compare(old, other)


def told(out, name="keyboard.1", number=40, gold="ab", text="text {}", tracks=("clean",)):
    """A report whose rows hold right answers and texts."""
    rows = [{"id": str(i), "prediction": "a", "gold": gold[i % 2], "text": text.format(i)} for i in range(number)]
    made = [Track("m", track, rows) for track in (*tracks, name)]
    return report(made, out, n_resamples=20).folder


def test_reports_with_other_right_answers_are_not_compared(tmp_path):
    old, new = told(tmp_path / "old"), told(tmp_path / "new", gold="aa")
    said = r"^m / clean: the gold answer of id '1' is not the same in .*old and .*new \(20 of 40 ids differ\); compare"
    with pytest.raises(ValueError, match=said):
        compare(old, new)
    [change] = compare(old, told(tmp_path / "same"))
    assert (change.warnings, change.old_examples, change.new_examples, change.n_changed_texts) == ([], 40, 40, 0)


def test_what_only_one_report_holds_is_said(tmp_path):
    old = told(tmp_path / "old", tracks=("clean", "keyboard.2"))
    result = CliRunner().invoke(main, ["compare", str(old), str(told(tmp_path / "new", number=30, text="other {}"))])
    assert result.stderr.splitlines() == [
        "warning: m on keyboard: only 30 examples are in both reports, of 40 in the old one and 30 in the new one",
        "warning: m on keyboard: 30 of 30 examples have other texts (another seed, operator or data): the change is also theirs",
        "warning: m on keyboard: left out, as only one report has them: 'keyboard.2'",
    ]
    assert result.stdout.splitlines()[1].split()[:3] == ["m", "keyboard", "30"]
    told_in_json = CliRunner().invoke(main, ["compare", str(old), str(tmp_path / "new"), "--json"])
    [record] = json.loads(told_in_json.stdout)
    assert [
        record[name] for name in ("examples", "old_examples", "new_examples", "n_changed_texts", "unmatched_tracks")
    ] == [
        *(30, 40, 30, 30),
        ["keyboard.2"],
    ]


def test_reports_that_share_no_example_are_not_compared(tmp_path):
    old = report([Track("m", name, [{"id": "a", "score": 1}]) for name in ("clean", "k.1")], tmp_path / "old")
    new = report([Track("m", name, [{"id": "a.0", "score": 1}]) for name in ("clean", "k.1")], tmp_path / "new")
    with pytest.raises(
        ValueError, match=r"share no example of k of m \('a' against 'a\.0'\); compare reports on the same"
    ):
        compare(old.folder, new.folder)


def test_a_report_without_hashes_of_its_data_is_still_read(tmp_path):
    import pyarrow.parquet as pq

    old, new = told(tmp_path / "old"), told(tmp_path / "new", gold="aa", text="other {}")
    path = old / "scores.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["gold", "text"]), path)
    [change] = compare(old, new)
    assert (change.examples, change.n_changed_texts) == (40, 0)


def test_scores_come_back_as_they_were_written(tmp_path):
    rows = [{"id": "a", "score": 0.25, "cluster": "x"}, {"id": "b", "score": 1, "cluster": "x"}]
    out = report([Track("m", "clean", rows, "d")], tmp_path / "out", n_resamples=20).folder
    [track] = read_scores(out)
    assert (track.dataset, track.model, track.track) == ("d", "m", "clean")
    assert list(track.rows) == [{"id": "a", "score": 0.25, "cluster": "a"}, {"id": "b", "score": 1.0, "cluster": "a"}]
    with pytest.raises(FileNotFoundError, match="give a folder that `lapsus report` has written"):
        read_scores(tmp_path)


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("drop > 5", 3),
        ("drop > 25", 0),
        ("drop > 5 and p_holm < 0.05", 3),
        ("new_drop > 29 or average > 0", 3),
        ("not (old_drop <= new_drop)", 0),
        ("10 < drop < 30", 3),
        ("drop - average > 39", 3),
    ],
)
def test_the_exit_code_tells_whether_a_threshold_is_crossed(tmp_path, expression, code):
    old = written(tmp_path / "old", {"keyboard.1": 12})
    new = written(tmp_path / "new", {"keyboard.1": 28})
    result = CliRunner().invoke(main, ["compare", str(old), str(new), "--fail-if", expression])
    assert result.exit_code == code, result.output
    assert ("fails: " in result.output) == (code == 3)


def test_a_threshold_that_divides_by_zero_is_one_sentence_and_no_pass(tmp_path):
    old = written(tmp_path / "old", {"keyboard.1": 4})  # as many as on clean text: no drop
    new = written(tmp_path / "new", {"keyboard.1": 28})
    result = CliRunner().invoke(main, ["compare", str(old), str(new), "--fail-if", "drop / old_drop > 0.5"])
    assert result.exit_code == 1
    assert result.output.splitlines()[-1] == (
        "Error: 'drop / old_drop > 0.5' divides by 0 where drop=30, old_drop=0; "
        'multiply instead, as in "drop > 0.5 * old_drop".'
    )


def test_the_command_prints_json(tmp_path):
    old = written(tmp_path / "old", {"keyboard.1": 12})
    result = CliRunner().invoke(main, ["compare", str(old), str(old), "--json"])
    [record] = json.loads(result.output)
    assert (record["model"], record["old_drop"]) == ("m", record["new_drop"])
    assert {test["difference"] for test in record["tests"].values()} == {0.0}


@pytest.mark.parametrize(
    "text",
    [
        "drop >> 5",
        "drop",
        "5 > 3",
        "dropp > 5",
        "__import__('os')",
        "drop > '5'",
        "drop.real > 1",
        "drop >",
        "(lambda: drop)() > 1",
        "",
    ],
)
def test_what_is_no_condition_is_one_sentence(text):
    with pytest.raises(ValueError, match="is no condition; write one like"):
        parse_condition(text, NAMES)


@given(st.floats(-50, 50), st.floats(0, 1), st.floats(-50, 50))
def test_conditions_are_what_python_would_say(drop, p, limit):
    for text in (
        "drop > limit",
        "drop > limit and p < 0.05",
        "not drop <= limit or p >= 0.5",
        "-drop * 2 + 1 < limit / 2",
    ):
        expected = eval(text, {"drop": drop, "p": p, "limit": limit})  # noqa: S307 - our own text
        assert parse_condition(text, ["drop", "p", "limit"]).evaluate({"drop": drop, "p": p, "limit": limit}) == bool(
            expected
        )


def test_a_smaller_drop_of_a_ruined_model_is_no_gain(tmp_path):
    """Wrong on 4 clean and 12 noisy examples before, on nearly all afterwards: the drop shrinks, the model is worse."""
    old, new = written(tmp_path / "old", {"keyboard.1": 12}), written(tmp_path / "new", {"clean": 70, "keyboard.1": 71})
    [change] = compare(old, new)
    assert change.verdict == "worse"
    assert change.tests["drop"].difference.value < 0
    assert change.note == "clean text fell by 82.5 points; the drop is smaller only because of that"
    result = CliRunner().invoke(main, ["compare", str(old), str(new), "--fail-if", "average.high < 0"])
    assert result.exit_code == 3
    assert change.note in result.stdout


@pytest.mark.parametrize(
    ("before", "after", "verdict", "note"),
    [
        ((4, 12), (30, 38), "worse", "clean text fell by 32.5 points; the drop does not show that"),
        (
            (30, 40),
            (4, 40),
            "better on clean text",
            "clean text gained 32.5 points; the drop is larger only because of that",
        ),
        ((4, 40), (4, 4), "better", ""),
    ],
)
def test_the_verdict_follows_noisy_text_then_clean_text(tmp_path, before, after, verdict, note):
    old, new = (
        written(tmp_path / name, {"clean": clean, "keyboard.1": noisy})
        for name, (clean, noisy) in (("old", before), ("new", after))
    )
    [change] = compare(old, new)
    assert (change.verdict, change.note) == (verdict, note)


def test_the_ends_of_intervals_are_names_of_conditions(tmp_path):
    old, new = written(tmp_path / "old", {"keyboard.1": 12}), written(tmp_path / "new", {"keyboard.1": 28})
    [change] = compare(old, new)
    values = change.to_values()
    low, high = change.tests["drop"].difference.interval
    assert (values["drop.low"], values["drop.high"]) == pytest.approx((100 * low, 100 * high))
    assert parse_condition("drop.low > 5 and drop.high < 40 and average.p < 0.05", NAMES).evaluate(values)
    with pytest.raises(ValueError, match=r"'drop\.middle > 5' is no condition"):
        parse_condition("drop.middle > 5", NAMES)
