"""The numbers of a report: right where they can be counted by hand, equal to other implementations at random."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from lapsus.core.types import Track
from lapsus.io.predictions import read_references
from lapsus.reporting.analysis.measure import measure as typed_numbers
from lapsus.reporting.analysis.records import AnalysisOptions
from lapsus.reporting.report import report, to_json
from lapsus.reporting.tracks import read_tracks

QUICK = AnalysisOptions(n_resamples=50)


def measure(tracks, options=None):
    """The numbers as report.json holds them."""
    return json.loads(json.dumps(to_json(typed_numbers(tracks, options))))


def scored(model, name, scores, **columns):
    """A track with the given scores for the ids 0, 1, 2 …; None leaves the row out."""
    rows = [
        {"id": str(number), "score": score} | {column: values[number] for column, values in columns.items()}
        for number, score in enumerate(scores)
        if score is not None
    ]
    return Track(model, name, rows)


def answered(model, name, predictions, gold, **columns):
    return Track(
        model,
        name,
        [
            {"id": str(number), "prediction": prediction, "gold": truth}
            | {column: values[number] for column, values in columns.items()}
            for number, (prediction, truth) in enumerate(zip(predictions, gold, strict=True))
        ],
    )


def only(records, **wanted):
    found = [record for record in records if all(record[name] == value for name, value in wanted.items())]
    assert len(found) == 1, found
    return found[0]


def test_clean_micro_worst_and_drops():
    tracks = [
        scored("m", "clean", [1, 1, 1, 0]),
        scored("m", "keyboard.1", [1, 0, 1, 0]),
        scored("m", "keyboard.2", [1, 1, 0, 0]),
        scored("m", "speech.1", [0, 0, 0, 1]),
    ]
    numbers = measure(tracks, QUICK)
    keyboard, speech = numbers["summary"]
    assert (keyboard["family"], keyboard["annotators"], keyboard["examples"]) == ("keyboard", 2, 4)
    assert [keyboard[f"{name}_average"] for name in ("clean", "micro", "worst")] == [0.75, 0.5, 0.25]
    assert (keyboard["micro_drop"], keyboard["worst_drop"]) == (0.25, 0.5)
    assert (keyboard["changed"], keyboard["changed_rate"], keyboard["correct_to_wrong"]) == (2, 0.25, 2)
    assert (speech["worst_average"], speech["changed"], speech["wrong_to_correct"]) == (0.25, 4, 1)
    assert keyboard["worst_average_low"] <= 0.25 <= keyboard["worst_average_high"]
    assert [record["track"] for record in numbers["tracks"]] == ["clean", "keyboard.1", "keyboard.2", "speech.1"]
    assert only(numbers["tracks"], track="keyboard.1")["difference"] == -0.25


def test_without_clean_there_are_averages_and_no_drops():
    numbers = measure([scored("m", "keyboard.1", [1, 0]), scored("m", "keyboard.2", [1, 1])], QUICK)
    summary = only(numbers["summary"], model="m")
    assert (summary["micro_average"], summary["worst_average"]) == (0.75, 0.5)
    assert (summary["clean_average"], summary["worst_drop"], summary["changed"]) == (None, None, None)
    assert "p_value" not in numbers["tracks"][0]


def test_predictions_that_change_and_the_matrix_of_flips():
    gold = ["a", "a", "b", "c"]
    tracks = [answered("m", "clean", ["a", "a", "a", "b"], gold), answered("m", "noise", ["a", "b", "b", "a"], gold)]
    numbers = measure(tracks, QUICK)
    summary = only(numbers["summary"], family="noise")
    assert (summary["changed"], summary["correct_to_wrong"], summary["wrong_to_correct"]) == (3, 1, 1)
    assert summary["wrong_to_other_wrong"] == 1
    flips = {(record["clean"], record["noisy"]): record["count"] for record in numbers["transitions"]}
    assert flips == {("a", "a"): 1, ("a", "b"): 2, ("b", "a"): 1, ("b", "b"): 0}


def test_answers_that_were_both_right_did_not_change():
    """Free text is scored by the task, not by its wording."""
    clean = Track(
        "m", "clean", [{"id": 1, "prediction": "Paris", "score": 1}, {"id": 2, "prediction": "Rome", "score": 0}]
    )
    noisy = Track(
        "m", "noise", [{"id": 1, "prediction": "paris.", "score": 1}, {"id": 2, "prediction": "Oslo", "score": 0}]
    )
    summary = only(measure([clean, noisy], QUICK)["summary"], model="m")
    assert (summary["changed"], summary["wrong_to_other_wrong"]) == (1, 1)


def test_many_labels_flip_between_right_and_wrong():
    gold = [str(number) for number in range(20)]
    tracks = [answered("m", "clean", gold, gold), answered("m", "noise", ["0"] * 20, gold)]
    flips = {(r["clean"], r["noisy"]): r["count"] for r in measure(tracks, QUICK)["transitions"]}
    assert flips == {("right", "right"): 1, ("right", "wrong"): 19, ("wrong", "right"): 0, ("wrong", "wrong"): 0}


def test_graded_scores_have_a_paired_test_and_no_matrix():
    clean, noisy = [0.9, 0.8, 0.75, 0.5], [0.7, 0.9, 0.25, 0.5]
    numbers = measure([scored("m", "clean", clean), scored("m", "noise", noisy)], QUICK)
    record = only(numbers["tracks"], track="noise")
    assert record["test"] == "score test"
    assert record["p_value"] == pytest.approx(score_test(np.array(noisy) - clean))
    assert record["difference_low"] < record["difference"] < record["difference_high"]
    assert record["changed"] is None
    assert numbers["transitions"] == []


def score_test(differences):
    """The p-value of z with the variance under the hypothesis; of few differences, over every choice of their signs."""
    moved = differences[abs(differences) > 1e-12]
    if len(moved) == 0:
        return 1.0
    if len(moved) < 25:
        chances = Counter({0.0: 1.0})
        for difference in moved:
            steps = [(round(total + sign * difference, 9), chances[total] / 2) for total in chances for sign in (1, -1)]
            chances = Counter()
            for total, chance in steps:
                chances[total] += chance
        return sum(chance for total, chance in chances.items() if abs(total) >= abs(moved.sum()) - 1e-8)
    return 2 * stats.norm.sf(abs(moved.sum()) / np.sqrt((moved**2).sum()))


def random_tracks(models=3, examples=80, seed=1, dataset=""):
    draw = Random(seed)
    return [
        replace(
            scored(f"m{model}", name, [int(draw.random() < 0.9 - 0.1 * model - 0.05 * place) for _ in range(examples)]),
            dataset=dataset,
        )
        for model in range(models)
        for place, name in enumerate(["clean", "keyboard.1", "keyboard.2", "speech.1"])
    ]


def test_models_are_compared_as_statsmodels_would():
    tracks = random_tracks()
    comparisons = measure(tracks, QUICK)["comparisons"]
    table = {(track.model, track.track): np.array([row["score"] for row in track.rows]) for track in tracks}
    assert len(comparisons) == 3 * (1 + 2 + 1)  # the worst of one annotator is the average: one hypothesis
    for record in comparisons:
        names = {"": ["clean"], "keyboard": ["keyboard.1", "keyboard.2"], "speech": ["speech.1"]}[record["family"]]
        pick = np.min if record["measure"] == "worst" else np.mean
        ours, theirs = (pick([table[record[who], name] for name in names], axis=0) for who in ("model", "other"))
        assert record["difference"] == pytest.approx((ours - theirs).mean())
        assert record["examples"] == 80
        assert record["p_value"] == pytest.approx(score_test(ours - theirs))
        if record["test"] == "McNemar":
            counts = [[sum((ours == a) & (theirs == b)) for b in (1, 0)] for a in (1, 0)]
            few = counts[0][1] + counts[1][0] < 25
            assert record["p_value"] == pytest.approx(mcnemar(counts, exact=few, correction=False).pvalue)
        assert (record["p_value"] < 0.05) == (not record["difference_low"] <= 0 <= record["difference_high"])
    corrected = multipletests([record["p_value"] for record in comparisons], method="holm")[1]
    assert [record["p_holm"] for record in comparisons] == pytest.approx(corrected)


def test_averages_are_primary_and_tracks_exploratory():
    numbers = measure(random_tracks() + random_tracks(models=1, seed=2, dataset="b"), QUICK)
    tracks = [record for record in numbers["tracks"] if not record["clean"]]
    for records, name, method in ((numbers["summary"], "p_holm", "holm"), (tracks, "p_bh", "fdr_bh")):
        assert {record["n_tests"] for record in records} == {len(records)}
        corrected = multipletests([record["p_value"] for record in records], method=method)[1]
        assert [record[name] for record in records] == pytest.approx(corrected)
    assert (len(tracks), len(numbers["summary"])) == (12, 8)


def test_one_annotator_and_its_family_have_one_p_value():
    numbers = measure(random_tracks(), QUICK)
    for summary in numbers["summary"]:
        if summary["family"] == "speech":
            track = only(numbers["tracks"], model=summary["model"], track="speech.1")
            assert [summary[name] for name in ("difference", "p_value")] == [
                track[name] for name in ("difference", "p_value")
            ]


def test_more_tests_ask_for_larger_differences():
    """The smallest detectable difference is that at the level which decides: of the primary family, by Holm."""
    tracks = random_tracks(models=1)
    alone, many = measure(tracks[:3], QUICK), measure(random_tracks(), QUICK)
    first, other = (only(numbers["summary"], model="m0", family="keyboard") for numbers in (alone, many))
    assert first["p_value"] == other["p_value"]
    assert first["minimum_detectable"] < other["minimum_detectable"]


def test_rows_that_share_an_original_widen_every_interval():
    """Ten copies of each example say no more than one."""
    draw = Random(5)
    clean, noisy = ([int(draw.random() < rate) for _ in range(30)] for rate in (0.9, 0.6))
    once = [scored("m", name, scores) for name, scores in (("clean", clean), ("noise", noisy))]
    ten = [
        scored("m", name, [s for s in scores for _ in range(10)], cluster=[i for i in range(30) for _ in range(10)])
        for name, scores in (("clean", clean), ("noise", noisy))
    ]
    one, other = (measure(tracks, QUICK) for tracks in (once, ten))
    for table in ("summary", "tracks"):
        for first, second in zip(one[table], other[table], strict=True):
            for name in (key for key in first if key.endswith(("_low", "_high", "p_value", "minimum_detectable"))):
                assert first[name] == pytest.approx(second[name], abs=0.02), name


def test_unchanged_texts_broke_nothing_and_edits_are_told():
    recorded = [{"start": 0, "end": 2, "text": "ax"}]
    clean = answered("m", "clean", "yyyy", "yyyy", text=["abc", "abc", "abcd", "same"])
    noisy = answered(
        "m",
        "noise.1",
        "nnnn",
        "yyyy",
        text=["axc", "axc", "acd!", "same"],
        clean_text=["abc", "abc", "abcd", None],
        edits=[recorded, [[0, 1, "b"]], None, None],
    )
    examples = {record["id"]: record for record in measure([clean, noisy], QUICK)["lost_examples"]}
    assert set(examples) == {"0", "1", "2"}
    assert examples["0"]["edits"] == [[[0, 2, "ax"]]]  # as recorded
    assert examples["1"]["edits"] == [[[1, 2, "x"]]]  # what is recorded makes another text: aligned
    assert examples["2"]["edits"] == [[[1, 2, ""], [4, 4, "!"]]]


def test_a_threshold_that_gains_accuracy_loses_balance():
    """Fewer pairs are called alike: right more often where most differ, and blind to those that are alike."""
    gold = ["alike"] * 20 + ["different"] * 80
    clean = answered("m", "clean", ["alike"] * 60 + ["different"] * 40, gold)
    noisy = answered("m", "typing.1", ["alike"] * 5 + ["different"] * 95, gold)
    record = only(measure([clean, noisy], QUICK)["summary"], model="m")
    assert (record["clean_average"], record["micro_average"]) == (0.6, 0.85)
    assert (record["clean_balanced_accuracy"], record["balanced_accuracy"]) == (0.75, 0.625)
    from sklearn.metrics import balanced_accuracy_score, f1_score

    said = [row["prediction"] for row in noisy.rows]
    assert record["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(gold, said))
    assert record["macro_f1"] == pytest.approx(f1_score(gold, said, average="macro"))


def test_a_coin_is_not_called_fragile():
    """Three answers of a coin are all right in one case of eight, with noise or without."""
    draw = Random(3)
    texts = [f"text {number}" for number in range(4000)]

    def toss(name):
        return scored("coin", name, [draw.randint(0, 1) for _ in texts], text=texts, clean_text=texts)

    noisy = [toss("clean"), *(toss(f"k.{number}") for number in (1, 2, 3))]
    again = only(measure([*noisy, toss("clean.2"), toss("clean.3")], QUICK)["summary"], family="k")
    assert again["chance_source"] == "3 answers to the clean text"
    assert again["worst_average"] == pytest.approx(0.125, abs=0.02)
    assert again["chance_worst"] == pytest.approx(0.125, abs=0.02)
    assert again["chance_worst_low"] < again["chance_worst"] < again["chance_worst_high"]
    more = only(measure([*noisy, *(toss(f"clean.{number}") for number in range(2, 7))], QUICK)["summary"], family="k")
    assert more["chance_worst"] == pytest.approx(0.125, abs=0.02)
    for few in (noisy, [*noisy, toss("clean.2")]):  # the least of two answers is not that of three
        unknown = only(measure(few, QUICK)["summary"], family="k")
        assert (unknown["chance_worst"], unknown["chance_source"]) == (None, None)


def test_the_worst_by_chance_holds_the_truth_in_its_interval():
    """Three answers to a text of difficulty p are all right with p³: on average 1/4 for p uniform."""
    from lapsus.reporting.analysis.comparisons import estimate_chance_worst
    from lapsus.reporting.score_table import align_tracks

    draw = Random(5)
    held = 0
    names = ("clean", "clean.2", "clean.3", "k.1", "k.2", "k.3")
    for _ in range(100):
        chances = [draw.random() for _ in range(150)]
        runs = align_tracks([scored("m", name, [int(draw.random() < p) for p in chances]) for name in names])
        found = estimate_chance_worst(runs[3:], runs[0], runs[1:3], runs[0].scored, 0.95).chance_worst
        held += found.low <= 0.25 <= found.high
    assert held >= 89  # of 100 at 95 %


def test_models_that_agree_everywhere_are_not_different():
    tracks = [scored(model, name, [0.5, 0.25, 1]) for model in "ab" for name in ("clean", "noise")]
    for record in measure(tracks, QUICK)["comparisons"]:
        assert (record["difference"], record["p_value"]) == (0.0, 1.0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from([0, 1, 0.5, None]), min_size=4, max_size=4), min_size=1, max_size=12))
def test_laws(table):
    """Worst is at most average; a drop is a difference; groups and flips add up; order does not matter."""
    rows = [
        [*row, number % 2]
        for number, row in enumerate(table)
        if row[0] is not None and any(s is not None for s in row[1:])
    ]
    if not rows:
        return
    columns = list(zip(*rows, strict=True))
    names = ["clean", "keyboard.1", "keyboard.2", "keyboard.3"]
    tracks = [
        scored("m", name, column, half=columns[4])
        for name, column in zip(names, columns, strict=False)
        if any(score is not None for score in column)
    ]
    numbers = measure(tracks, AnalysisOptions(group_by=("half",), n_resamples=20))
    summary = only(numbers["summary"], model="m")
    assert 0 <= summary["worst_average"] <= summary["micro_average"] + 1e-12
    assert summary["micro_drop"] == pytest.approx(summary["clean_average"] - summary["micro_average"])
    assert sum(record["examples"] for record in numbers["groups"]) == summary["examples"] == len(rows)
    whole = sum(record["micro_average"] * record["examples"] for record in numbers["groups"])
    assert whole == pytest.approx(summary["micro_average"] * len(rows))
    backwards = [Track(track.model, track.track, track.rows[::-1]) for track in tracks]
    again = only(measure(backwards, AnalysisOptions(group_by=("half",), n_resamples=20))["summary"], model="m")
    assert again["worst_average"] == pytest.approx(summary["worst_average"])
    json.dumps(numbers, allow_nan=False)


def test_score_against_noise():
    rows = [
        {"id": 1, "score": 1, "text": "abcd", "clean_text": "abcd"},
        {"id": 2, "score": 0, "text": ["abXd", "efgh"], "clean_text": ["abcd", "efgh"]},
        {"id": 3, "score": 1, "noise_rate": 0.5, "text": "x", "clean_text": "abcd"},
        {"id": 4, "score": 1, "text": "x", "clean_text": ""},
    ]
    numbers = measure([Track("m", "keyboard.1", rows)], QUICK)
    found = [(r["noise_from"], r["noise_to"], r["noise_rate"], r["average"], r["texts"]) for r in numbers["noise_bins"]]
    assert found == [(None, 0.0, 0.0, 1.0, 1), (0.1, 0.2, 0.125, 0.0, 1), (0.3, 0.5, 0.5, 1.0, 1)]
    assert numbers["tracks"][0]["noise_rate"] == pytest.approx((0 + 1 / 8 + 1 / 2) / 3)


def test_breakdowns_by_any_column_and_by_gold_where_it_is_small():
    gold = ["yes", "yes", "no", "no"]
    tracks = [
        answered("m", "clean", gold, gold, source=["a", "b", "a", "b"]),
        answered("m", "k.1", ["yes", "no", "no", "no"], gold, source=["a", "b", "a", "b"]),
    ]
    by_gold = measure(tracks, QUICK)["groups"]
    assert {(r["column"], r["value"], r["micro_average"]) for r in by_gold} == {
        ("gold", "no", 1.0),
        ("gold", "yes", 0.5),
    }
    by_source = measure(tracks, AnalysisOptions(group_by=("source", "gold"), n_resamples=0))["groups"]
    assert only(by_source, column="source", value="b")["micro_drop"] == 0.5
    with pytest.raises(LookupError, match=r"no column 'domain' to break down by; the tracks have 'gold', 'id'"):
        measure(tracks, AnalysisOptions(group_by=("domain",)))
    with pytest.raises(ValueError, match="Column 'id' has over 50 values"):
        measure([scored("m", "clean", [1] * 60)], AnalysisOptions(group_by=("id",)))


def test_ids_that_do_not_join_are_counted_and_named():
    tracks = [
        scored("a", "clean", [1, 1, None, 1]),
        Track(
            "a",
            "k.1",
            [{"id": "1", "score": 1}, {"id": "2", "score": 0}, {"id": "9", "score": None}],
            "",
            ("7",),
            ("8",),
        ),
        scored("b", "clean", [1, 1]),
    ]
    numbers = measure(tracks, QUICK)
    joins = {(r["model"], r["track"], r["reason"]): (r["count"], r["ids"]) for r in numbers["unmatched_ids"]}
    assert joins == {
        ("a", "k.1", "in the data, but not predicted"): (1, ["7"]),
        ("a", "k.1", "predicted, but not in the data"): (1, ["8"]),
        ("a", "k.1", "has no clean counterpart"): (2, ["2", "9"]),
        ("a", "k.1", "clean only"): (2, ["0", "3"]),
        ("b", "clean", "scored for another model only"): (1, ["3"]),
    }
    assert only(numbers["summary"], model="a")["examples"] == 1
    assert only(numbers["comparisons"], measure="clean")["examples"] == 2


def test_clusters_widen_the_interval_of_changes():
    gold, changed = ["y"] * 40, ["n"] * 10 + ["y"] * 30
    apart = [answered("m", "clean", gold, gold), answered("m", "rewritten", changed, gold)]
    together = [
        answered("m", n, p, gold, cluster=[i // 10 for i in range(40)])
        for n, p in (("clean", gold), ("rewritten", changed))
    ]
    widths = []
    for tracks in (apart, together):
        numbers = measure(tracks, QUICK)
        assert numbers["settings"]["clustered"] == (tracks is together)
        record = only(numbers["summary"], model="m")
        widths.append(record["changed_rate_high"] - record["changed_rate_low"])
    assert widths[1] > 2 * widths[0]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([{"id": 1, "score": 1.2}], r"m / k\.1, id '1': the score is 1\.2; give a number from 0 to 1\."),
        ([{"id": 1, "score": float("nan")}], "the score is nan"),
        ([{"id": 1, "score": "1"}], "the score is '1'"),
        ([{"id": 1, "prediction": "a"}], "has neither a score nor a prediction with its gold answer"),
        ([{"id": 1, "score": 1}, {"id": "1", "score": 1}], r"row 2: id '1' occurs a second time"),
        ([{"score": 1}], r"row 1: has no 'id'"),
        ([{"id": 1, "score": None}], "none of its 1 rows has a score"),
    ],
)
def test_rows_that_cannot_be_scored_are_named(rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        measure([Track("m", "k.1", rows)], QUICK)


def test_no_tracks_and_the_same_track_twice_are_errors():
    with pytest.raises(ValueError, match="There are no tracks"):
        measure([])
    with pytest.raises(ValueError, match=r"Track 'k\.1' of model 'm' is given twice"):
        measure([scored("m", "k.1", [1]), scored("m", "k.1", [0])])


def test_every_number_is_written_as_json_and_csv(tmp_path):
    page = report(random_tracks(), tmp_path / "deep" / "out", n_resamples=50).page
    assert page == tmp_path / "deep" / "out" / "index.html"
    numbers = json.loads((page.parent / "report.json").read_text(encoding="utf-8"))
    for name in ("summary", "tracks", "comparisons", "transitions", "groups"):
        path = page.parent / f"{name}.csv"
        assert path.exists() == bool(numbers[name])
        if numbers[name]:
            with path.open(encoding="utf-8-sig", newline="") as file:
                rows = list(csv.DictReader(file))
            assert len(rows) == len(numbers[name])
            for row, record in zip(rows, numbers[name], strict=True):
                assert {
                    key: "" if value is None else str(value) for key, value in record.items()
                }.items() <= row.items()


def test_a_report_replaces_a_report_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    out = tmp_path / "out"
    first = report(random_tracks(), out, n_resamples=50).page.read_bytes()
    assert (
        report(random_tracks(), out, n_resamples=50).page.read_bytes() == first
    )  # the same bytes for the same predictions
    report(random_tracks(models=1), out, n_resamples=50)
    assert not (out / "comparisons.csv").exists()
    with pytest.raises(ValueError, match="no tracks"):
        report([], out)
    assert (out / "index.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]  # no draft is left behind
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(FileExistsError, match=r"mine exists and is no earlier report"):
        report(random_tracks(), tmp_path / "mine")


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_tracks_are_named_by_their_paths(tmp_path):
    row = {"id": 1, "score": 1}
    files = [
        write_lines(tmp_path / "gpt-4.1.keyboard.2.jsonl", [row]),
        write_lines(tmp_path / "bert" / "speech.1.jsonl", [row]),
        write_lines(tmp_path / "bert" / "clean.jsonl", [row]),
        write_lines(tmp_path / "bert" / "filler_bos.jsonl", [row]),
    ]
    tracks = read_tracks(files)
    assert [(t.model, t.track, t.family, t.annotator) for t in tracks] == [
        ("gpt-4.1", "keyboard.2", "keyboard", "2"),
        ("bert", "speech.1", "speech", "1"),
        ("bert", "clean", "clean", ""),
        ("bert", "filler_bos", "filler_bos", ""),
    ]
    deep = write_lines(tmp_path / "runs" / "bert" / "afqmc" / "keyboard.1.jsonl", [row])
    [track] = read_tracks([deep], path_pattern="{model}/{dataset}/{track}")
    assert (track.model, track.dataset, track.track) == ("bert", "afqmc", "keyboard.1")
    with pytest.raises(ValueError, match=r"the path pattern '\{run\}' is not understood"):
        read_tracks([deep], path_pattern="{run}")
    with pytest.raises(ValueError, match=r"7\.jsonl: names no model and track"):
        read_tracks([write_lines(tmp_path / "7.jsonl", [row])])


def test_columns_name_tracks_too(tmp_path):
    rows = [
        {"id": i, "score": 1, "model": model, "track": "keyboard", "annotator": annotator}
        for i in range(2)
        for model in ("a", "b")
        for annotator in (1, 2)
    ]
    tracks = read_tracks([write_lines(tmp_path / "all.jsonl", rows)])
    assert [(t.model, t.track, len(t.rows)) for t in tracks] == [
        ("a", "keyboard.1", 2),
        ("a", "keyboard.2", 2),
        ("b", "keyboard.1", 2),
        ("b", "keyboard.2", 2),
    ]


def test_lm_eval_samples_become_tracks(tmp_path):
    sample = {"doc_id": 0, "doc": {"id": "t-1", "label": "x"}, "target": "x", "filtered_resps": ["x"], "acc": 1.0}
    path = write_lines(tmp_path / "org__m" / "samples_readin_afqmc_keyboard.2_2026-01-02T03-04-05.jsonl", [sample])
    [track] = read_tracks([path])
    assert (track.model, track.dataset, track.track) == ("org__m", "readin_afqmc", "keyboard.2")
    assert track.rows[0]["score"] == 1.0
    two = write_lines(tmp_path / "org__m" / "samples_x_clean.jsonl", [sample | {"acc_norm": 0.0}])
    with pytest.raises(ValueError, match="holds the scores 'acc', 'acc_norm'; choose one as score"):
        read_tracks([two])
    assert read_tracks([two], score="acc_norm")[0].rows[0]["score"] == 0.0


def test_predictions_join_the_published_folder(tmp_path):
    """The folder that `lapsus build` writes gives the gold answers, the texts, and the columns to break down by."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    clean = [{"id": f"t-{i}", "sentence1": "花呗提额", "sentence2": "借呗", "label": i % 2} for i in range(4)]
    noisy = [
        r | {"sentence1": "花贝提额", "clean_sentence1": r["sentence1"], "clean_sentence2": r["sentence2"]}
        for r in clean
    ]
    for name, rows in {"clean": clean, "keyboard.1": noisy}.items():
        (tmp_path / "data" / name).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "data" / name / "test-00000-of-00001.parquet")
    files = [
        write_lines(tmp_path / "m" / "clean.jsonl", [{"id": f"t-{i}", "prediction": str(i % 2)} for i in range(4)]),
        write_lines(tmp_path / "m" / "keyboard.1.jsonl", [{"id": f"t-{i}", "prediction": "1"} for i in (1, 2, 3, 7)]),
    ]
    tracks = read_tracks(files, references=tmp_path / "data")
    assert (tracks[1].missing_predictions, tracks[1].unmatched_predictions) == (("t-0",), ("t-7",))
    assert tracks[1].rows[0]["text"] == ["花贝提额", "借呗"]
    numbers = measure(tracks, QUICK)
    assert only(numbers["summary"], model="m")["micro_average"] == pytest.approx(2 / 3)
    assert numbers["noise_bins"][0]["noise_rate"] == pytest.approx(1 / 6)
    assert [record["id"] for record in numbers["lost_examples"]] == ["t-2"]
    with pytest.raises(
        FileNotFoundError,
        match=r"holds no split 'dev' of track 'clean'; it holds 'clean/test', 'keyboard\.1/test': name",
    ):
        read_tracks(files, references=tmp_path / "data", split="dev")
    stranger = write_lines(tmp_path / "m" / "clean.jsonl", [{"id": "u-1", "prediction": 1}])
    with pytest.raises(
        ValueError, match=r"none of its ids is in .*data \('u-1' against 't-0', 't-1', 't-2' and 1 more\)"
    ):
        read_tracks([stranger], references=tmp_path / "data")


def test_a_file_of_references_is_read_once_and_takes_where(tmp_path, monkeypatch):
    from lapsus.reporting import tracks as module

    gold = [{"id": i, "gold": gold, "filter": name} for i in range(2) for name, gold in (("a", "x"), ("b", "y"))]
    data = write_lines(tmp_path / "gold.jsonl", gold)
    said = [{"id": i, "prediction": "y", "filter": name} for i in range(2) for name in "ab"]
    files = [write_lines(tmp_path / "m" / f"{name}.jsonl", said) for name in ("clean", "keyboard.1")]
    seen = []
    monkeypatch.setattr(
        module, "read_references", lambda path, where, **rest: seen.append(path) or read_references(path, where, **rest)
    )
    tracks = read_tracks(files, references=data, where={"filter": "b"})
    assert [[row["gold"] for row in track.rows] for track in tracks] == [["y", "y"]] * 2
    assert seen == [data]


def test_missing_columns_are_named_with_those_found(tmp_path):
    path = write_lines(tmp_path / "m" / "clean.jsonl", [{"id": 1, "output": "x", "domain": "bank"}])
    with pytest.raises(
        ValueError, match=r"has neither a score nor .* it has 'id', 'output', 'domain': name the columns"
    ):
        read_tracks([path])
    with pytest.raises(LookupError, match=r"has no column 'answer' for the gold; it has 'id', 'output', 'domain'"):
        read_tracks([path], gold="answer")
    assert read_tracks([path], gold="domain")[0].rows[0]["gold"] == "bank"


def test_progress_sees_every_model(tmp_path):
    seen = []

    def watched(models):
        for model in models:
            seen.append(model)
            yield model

    report(random_tracks(models=2), tmp_path / "out", n_resamples=10, progress=watched)
    assert seen == ["m0", "m1"]


def test_a_missing_answer_is_no_class():
    gold = ["a", "b"] * 20
    rows = [{"id": i, "gold": g, "prediction": g} for i, g in enumerate(gold)]
    silent = [row | {"prediction": None} if row["id"] == 0 else row for row in rows]
    record = measure([Track("m", "clean", silent)], QUICK)["tracks"][0]
    assert record["balanced_accuracy"] == pytest.approx((19 / 20 + 1) / 2)
    assert record["macro_f1"] == pytest.approx((2 * 19 / 39 + 1) / 2)


def test_answers_with_several_right_ones_score_their_f1(tmp_path):
    """SQuAD's `answers` are found as the right answers, and are no classes."""
    data = tmp_path / "data.jsonl"
    golds = [["Paris", "in Paris"], ["1889"], ["the tower"]]
    told = [{"id": str(i), "answers": {"text": gold, "answer_start": [0] * len(gold)}} for i, gold in enumerate(golds)]
    data.write_text("".join(json.dumps(row) + "\n" for row in told))
    said = {"clean": ["in Paris", "1889", "tower"], "keyboard.1": ["Paris, France", None, "the year 1889"]}
    for track, answers in said.items():
        rows = [json.dumps({"id": str(i), "prediction": answer}) + "\n" for i, answer in enumerate(answers)]
        (tmp_path / f"bert.{track}.jsonl").write_text("".join(rows))
    tracks = read_tracks([tmp_path / f"bert.{track}.jsonl" for track in said], references=data)
    found = {record["track"]: record for record in measure(tracks, QUICK)["tracks"]}
    assert found["clean"]["average"] == 1.0
    assert found["keyboard.1"]["average"] == pytest.approx((2 / 3 + 0 + 0) / 3)
    assert found["keyboard.1"]["unparsed"] == 1


@pytest.mark.parametrize("text", [7, {"a": 1}, ["x", None], [["x"]]])
def test_a_text_that_is_no_text_is_refused_with_its_row(text):
    clean = Track("m", "clean", [{"id": "a", "score": 1, "text": "x", "clean_text": "x"}])
    noisy = Track("m", "keyboard", [{"id": "a", "score": 0, "text": text, "clean_text": "x"}])
    with pytest.raises(
        ValueError, match=r"m / keyboard, id 'a': the column 'text' has .*; give a text, or a list of texts"
    ):
        typed_numbers([clean, noisy], QUICK)


@pytest.mark.parametrize("edits", [[["a", 1, "x"]], [{"start": 0, "end": "1", "text": "y"}], [[0, 1, 5]]])
def test_a_column_of_edits_that_holds_none_is_left_alone(edits):
    row = {"id": "a", "prediction": "p", "gold": "p", "clean_text": "cat"}
    tracks = [
        Track("m", "clean", [row | {"text": "cat"}]),
        Track("m", "keyboard", [row | {"prediction": "q", "text": "cst", "edits": edits}]),
    ]
    [example] = typed_numbers(tracks, QUICK).lost_examples
    assert [edit.text for edit in example.edits[0]] == ["s"]


def test_an_original_that_holds_most_rows_is_warned_of():
    clusters = [0] * 30 + list(range(1, 31))
    tracks = [scored("m", name, [1, 0] * 30, cluster=clusters) for name in ("clean", "noise")]
    assert [str(warning) for warning in typed_numbers(tracks, QUICK).warnings if "original" in str(warning)] == [
        f"m / {name}: one original holds 50 % of the rows: intervals are wide, and tests rest on it"
        for name in ("clean", "noise")
    ]
