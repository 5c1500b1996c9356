"""Predictions and references are joined by one rule, whatever command reads them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from lapsus.io.join import join_references
from lapsus.io.predictions import PredictionTable
from lapsus.io.tables import Table
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.analysis.records import AnalysisOptions
from lapsus.reporting.score import score
from lapsus.reporting.tracks import read_tracks

GOLD_COLUMNS = ("gold", "reference", "references", "label", "target")
OTHER_COLUMNS = ("group", "cluster", "text", "prediction", "output", "predicted", "score")
IDS = [str(number) for number in range(6)]


@st.composite
def tables(draw, required=()):
    """Rows with some ids in any order, and any of the usual columns, with few values, so that many agree."""
    ids = draw(st.permutations(IDS))[: draw(st.integers(2, len(IDS)))]
    chosen = (draw(st.sets(st.sampled_from(columns), max_size=2)) for columns in (GOLD_COLUMNS, OTHER_COLUMNS))
    names = sorted(set(required).union(*chosen))
    column = {
        "score": st.sampled_from([0, 1, 0.5, None]),
        "prediction": st.sampled_from(["x", "y", None]),
        "text": st.just("a b"),
    }
    rows = [{"id": key, **{name: draw(column.get(name, st.sampled_from("xy"))) for name in names}} for key in ids]
    if draw(st.booleans()):  # the same value for an id everywhere: no conflict
        for row in rows:
            row.update({name: "xy"[int(row["id"]) % 2] for name in names if name in GOLD_COLUMNS})
    return rows


def attempt(function):
    try:
        return function()
    except (ValueError, LookupError) as error:
        return str(error)


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables(required=["prediction"]), tables() | st.none())
@example(
    [{"id": "1", "prediction": "x", "gold": "x"}, {"id": "2", "prediction": "x", "gold": "x"}],
    [{"id": "1", "label": "y"}, {"id": "2", "label": "y"}],
)
@example(
    [{"id": "0", "prediction": "x", "score": 0}, {"id": "1", "prediction": None, "score": None}],
    [{"id": "1"}, {"id": "2"}],  # the one row that joins was not answered
)
@example(
    [{"id": key, "prediction": "" if key < "3" else "x", "target": "y"} for key in IDS],
    None,
)
@example([{"id": key, "prediction": "the x", "answers": ["x", "y"]} for key in IDS], None)
@example([{"id": key, "prediction": "x"} for key in IDS], [{"id": key, "label": {"text": ["x", "z"]}} for key in IDS])
def test_score_and_report_say_the_same_of_the_same_files(tmp_path_factory, rows, data):
    folder = tmp_path_factory.mktemp("f")
    path = write(folder / "m" / "clean.jsonl", rows)
    references = None if data is None else write(folder / "data.jsonl", data)
    is_scored = "score" in rows[0]
    assume(not is_scored or any(row["score"] is not None for row in rows))
    is_passage = any(isinstance(value, list | dict) for row in [*rows, *(data or ())] for value in row.values())
    metric, key = ("prediction_consistency", "accuracy")
    options = {"original_predictions": str(path)}
    if is_passage:
        with pytest.raises(ValueError, match="holds lists of right answers; use the metric answer_f1"):
            score(metric, [path], references, options)
        metric, key, options = "answer_f1", "f1", {}
    elif is_scored:
        metric, key, options = "micro_worst_average", "micro_average", {"n_resamples": "0"}

    def report_number():
        [track] = measure(read_tracks([path], references=references), AnalysisOptions(n_resamples=0)).tracks
        return track.average.value

    def score_number():
        return score(metric, [path], references, options)[key]

    from_report, from_score = attempt(report_number), attempt(score_number)
    if isinstance(from_report, str) or isinstance(from_score, str):
        assert isinstance(from_report, str) and isinstance(from_score, str), (from_report, from_score)
        assert ("but" in from_report) == ("but" in from_score)
    else:
        assert from_score == pytest.approx(from_report, abs=1e-12)


def joined(rows, data, **options):
    files = (PredictionTable(Path(name), Table.from_rows(each)) for name, each in (("p.csv", rows), ("data.csv", data)))
    return join_references(*files, **options)


def test_references_win_and_fill_what_is_missing():
    rows = [{"id": 1, "prediction": "a", "gold": "1", "group": "n", "note": "kept"}]
    data = [{"id": "1", "prediction": "b", "gold": 1, "group": None, "score": 0.2, "area": "s"}]
    found = joined(rows, data)
    assert found.table.to_rows() == [
        {"gold": 1, "group": "n", "area": "s", "id": "1", "prediction": "a", "note": "kept"}
    ]
    assert found.gold.name == "gold" and found.gold.values == [1]


@pytest.mark.parametrize(
    ("row", "known", "sentence"),
    [
        (
            {"gold": "x"},
            {"gold": "y"},
            r"^p\.csv: column 'gold' of id 'b' is 'x', but 'y' in data\.csv; correct one of them, or name the column with",
        ),
        (
            {"gold": "x"},
            {"label": "y"},
            r"^p\.csv: column 'gold' of id 'b' is 'x', but 'y' in column 'label' of data\.csv; correct one of them",
        ),
        (
            {"text": "x"},
            {"text": "y"},
            r"column 'text' of id 'b' is 'x', but 'y' in data\.csv; .* leave the column out",
        ),
        (
            {"clean_text": "x", "text": "z"},
            {"text": "y"},
            "column 'clean_text' of id 'b' is 'x', but 'y' in column 'text'",
        ),
        ({"length": 3}, {"length": 4.5}, "column 'length' of id 'b' is 3, but 4.5 in"),
        ({"spans": [1, 2]}, {"spans": [1, 2, 3]}, r"column 'spans' of id 'b' is \[1, 2\], but \[1, 2, 3\] in"),
        ({"spans": [1, 2]}, {"spans": [1, 3]}, r"column 'spans' of id 'b' is \[1, 2\], but \[1, 3\] in"),
    ],
)
def test_a_conflict_names_the_first_row(row, known, sentence):
    same = dict.fromkeys((*row, *known), "same") | {"prediction": "p"}
    rows = [{"id": "a"} | same, {"id": "b", "prediction": "p"} | row]
    data = [{"id": "b"} | known, {"id": "a"} | dict.fromkeys(known, "same")]
    with pytest.raises(ValueError, match=sentence):
        joined(rows, data)


@pytest.mark.parametrize(
    ("value", "known"),
    [
        (1, "1"),
        (0.1, 0.10000000149),
        (["x"], "x"),
        ({"start": 1}, {"start": 1, "end": None}),
        (True, "True"),
        ("true", True),
        (None, "x"),
        (float("nan"), 0.5),
    ],
)
def test_one_value_in_two_forms_is_no_conflict(value, known):
    assert joined([{"id": 1, "gold": value}], [{"id": 1, "gold": known}]).gold.values == [known]


def test_what_the_model_answered_is_no_reference():
    rows = [{"id": 1, "tags": ["O"], "gold_tags": ["B"], "prediction": "a", "label": "a", "model": "m"}]
    data = [{"id": 1, "tags": ["B"], "label": "b", "prediction": "c", "score": 0.5, "model": "n"}]
    found = joined(rows, data, answer_columns=["label"])
    assert found.table.to_rows() == [{"id": "1", **{name: value for name, value in rows[0].items() if name != "id"}}]
    assert (found.gold.name, found.gold.values) == ("label", ["b"])


def test_a_noisy_text_is_compared_with_its_clean_twin():
    rows = [{"id": 1, "text": "nosy", "clean_text": "noisy", "prediction": "a"}]
    found = joined(rows, [{"id": 1, "text": "noisy", "label": "a"}])
    assert found.table.columns["text"] == ["nosy"]


def test_a_noisy_text_is_compared_with_a_noisy_one_where_both_have_its_clean_twin():
    row = {"id": "1", "text": "nosy", "clean_text": "noisy"}
    assert joined([row | {"prediction": "a"}], [row | {"label": "a"}]).table.columns["text"] == ["nosy"]
    with pytest.raises(ValueError, match="column 'text' of id '1' is 'nosy', but 'noisi' in"):
        joined([row | {"prediction": "a"}], [row | {"label": "a", "text": "noisi"}])


def test_the_number_of_a_class_is_its_name():
    rows, data = [{"id": 1, "prediction": "a", "label": 1}], [{"id": 1, "label": "yes"}]
    files = [PredictionTable(Path(name), Table.from_rows(each)) for name, each in (("p.csv", rows), ("d.csv", data))]
    for names, fails in ((("no", "yes"), False), (("yes", "no"), True)):
        references = replace(files[1], classes={"label": names})
        if fails:
            with pytest.raises(ValueError, match=r"column 'label' of id '1' is 1, but 'yes' in d\.csv"):
                join_references(files[0], references)
        else:
            assert join_references(files[0], references).gold.values == ["yes"]


def test_a_chosen_gold_column_is_not_compared_with_another():
    found = joined([{"id": 1, "gold": "x", "prediction": "x"}], [{"id": 1, "label": "y"}], gold="gold")
    assert (found.gold.name, found.gold.values) == ("gold", ["x"])


def test_annotators_of_a_family_score_as_in_the_report(tmp_path):
    scores = {"keyboard.1": [1, None, 0, 0.5], "keyboard.2": [None, 1, 1], "clean": [1, 1, 1, 1]}
    files = {
        name: write(tmp_path / "m" / f"{name}.jsonl", [{"id": i, "score": s} for i, s in enumerate(column)])
        for name, column in scores.items()
    }
    [summary] = measure(read_tracks(list(files.values())), AnalysisOptions(n_resamples=0)).summary
    noisy = [files[name] for name in ("keyboard.1", "keyboard.2")]
    options = {"clean_scores": f"{files['clean']}:score", "n_resamples": "0"}
    found = score("micro_worst_average", noisy, None, options)
    for name in ("micro_average", "worst_average", "micro_drop"):
        assert found[name] == pytest.approx(getattr(summary.averages, name).value)
