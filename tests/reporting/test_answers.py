"""Answers as people and harnesses write them: the right number, a refusal, or a warning; by report and by score."""

from __future__ import annotations

import json
import unicodedata

import pytest

from lapsus.core.types import Track
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.analysis.records import AnalysisOptions
from lapsus.reporting.report import report
from lapsus.reporting.score import score
from lapsus.reporting.tracks import read_tracks

QUICK = AnalysisOptions(n_resamples=0)


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        cells = [list(rows[0]), *(row.values() for row in rows)]
        quoted = (",".join(f'"{str(cell).replace(chr(34), chr(34) * 2)}"' for cell in row) for row in cells)
        path.write_text("\n".join(quoted) + "\n", encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(tmp_path, rows, name="clean.jsonl", **options):
    """Return the average of a file, and its warnings."""
    numbers = measure(read_tracks([write(tmp_path / "m" / name, rows)], **options), QUICK)
    return numbers.tracks[0].average.value, "; ".join(warning.message for warning in numbers.warnings)


def label_rows(n_wrong=2, n=10, labels=("no", "yes"), **columns):
    rows = []
    for i in range(n):
        gold, other = labels[i % 2], labels[(i + 1) % 2]
        row = {"id": str(i), "prediction": other if i < n_wrong else gold, "gold": gold}
        rows.append({**row, **{name: make(row, i) for name, make in columns.items()}})
    return rows


def sure(_, i):
    return round(0.75 + i / 50, 3)


def rename(rows, **names):
    return [{names.get(name, name): value for name, value in row.items()} for row in rows]


@pytest.mark.parametrize(
    "rows",
    [
        label_rows(score=sure),
        label_rows(score=lambda *_: 1.0),  # confidences that were rounded
        label_rows(score=lambda row, _: float(row["prediction"] != row["gold"])),  # an error, not a score
        label_rows(score=lambda row, _: 0.0 if row["prediction"] == row["gold"] else 0.9),  # a loss
        rename(label_rows(score=sure), prediction="label"),
        rename(label_rows(score=sure), prediction="answer"),
        [row | {"prediction": [{"label": row["prediction"], "score": 0.9}]} for row in label_rows()],
        [row | {"prediction": {"label": row["prediction"], "score": 0.9}} for row in label_rows()],
        [
            row | {"prediction": [{"label": "x", "score": 0.1}, {"label": row["prediction"], "score": 0.9}]}
            for row in label_rows()
        ],
        [
            row | {"prediction": {"sequence": "s", "labels": [row["prediction"], "x"], "scores": [0.9, 0.1]}}
            for row in label_rows()
        ],
        [row | {"prediction": [{"generated_text": row["prediction"]}]} for row in label_rows()],
        [row | {"prediction": [row["prediction"]]} for row in label_rows()],
    ],
)
def test_a_confidence_is_not_taken_for_correctness(tmp_path, rows):
    average, warnings = read(tmp_path, rows)
    assert average == 0.8
    if "score" in rows[0]:
        assert "so it is not how right predictions are" in warnings


def test_a_score_that_agrees_with_the_answers_counts_and_so_does_one_that_is_named(tmp_path):
    partial = label_rows(score=lambda row, _: 1.0 if row["prediction"] == row["gold"] else 0.5)
    assert read(tmp_path, partial) == (0.9, "")
    average, _ = read(tmp_path, label_rows(score=sure), score="score")
    assert average == pytest.approx(0.84)
    [track] = measure([Track("m", "clean", label_rows(score=sure))], QUICK).tracks
    assert track.average.value == 0.8
    own = label_rows(score=lambda *_: 0.0, request_key=lambda *_: "k")  # lapsus run scored these: frames
    assert read(tmp_path, own)[0] == 0


def test_labels_of_a_pipeline_meet_the_gold_answers_of_the_references(tmp_path):
    rows = [{"id": r["id"], "label": r["prediction"], "score": r["score"]} for r in label_rows(score=sure)]
    for column in ("gold", "label"):
        references = write(tmp_path / "right.jsonl", [{"id": r["id"], column: r["gold"]} for r in label_rows()])
        assert read(tmp_path, rows, references=references)[0] == 0.8


SQUAD = [(f"{i}", None if i % 2 else f"city {i}") for i in range(10)]


@pytest.mark.parametrize(
    "gold",
    [
        lambda right: [right] if right else [],
        lambda right: {"text": [right] if right else [], "answer_start": [1] if right else []},
        lambda right: [right or ""],
        lambda right: json.dumps([right] if right else []),
        lambda right: str({"text": [right] if right else []}),
    ],
)
@pytest.mark.parametrize("name", ["clean.jsonl", "clean.csv"])
def test_an_empty_answer_is_right_where_there_is_none(tmp_path, gold, name):
    make = (lambda value: value if isinstance(value, str) else json.dumps(value)) if name.endswith("csv") else None
    rows = [
        {"id": key, "prediction": right or "", "gold": make(gold(right)) if make else gold(right)}
        for key, right in SQUAD
    ]
    assert read(tmp_path, rows, name) == (1.0, "")
    assert read(tmp_path, rows, name, drop_unparsed=True) == (1.0, "")
    path = tmp_path / "m" / name
    measures = measure(read_tracks([path]), QUICK).task_scores
    assert {record.measure: record.value.value for record in measures} == {"Exact match": 1.0, "F1": 1.0}
    wrong = [row | {"prediction": "city 99"} for row in rows]
    assert read(tmp_path, wrong, name)[0] < 1


def test_text_that_looks_like_a_list_and_is_none_is_refused(tmp_path):
    for text in ("['city 1' 'the city 1']", "{'text': array(['Denver'], dtype=object)}"):
        with pytest.raises(ValueError, match="is a list written as text, which cannot be read"):
            read(tmp_path, [{"id": i, "prediction": "Denver", "gold": text} for i in range(6)])


@pytest.mark.parametrize(
    "prediction",
    [
        lambda yes: 0.93 if yes else 0.12,
        lambda yes: "0.93" if yes else "1.0",
        lambda yes: [0.1, 0.9] if yes else [0.9, 0.1],
        lambda yes: {"no": 0.1, "yes": 0.9} if yes else {"no": 0.6, "yes": 0.4},
        lambda yes: 3.25 if yes else -1.5,
        lambda yes: json.dumps([0.1, 0.9]) if yes else "[0.5, 0.5]",
    ],
)
@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")])
def test_probabilities_are_no_labels(tmp_path, prediction, labels):
    rows = [row | {"prediction": prediction(i % 2)} for i, row in enumerate(label_rows(labels=labels))]
    with pytest.raises(ValueError, match=r"predictions are .*numbers .*give the label of each prediction"):
        read(tmp_path, rows)


@pytest.mark.parametrize(
    ("labels", "change"),
    [
        (("yes", "no"), lambda said: f"{said}."),
        (("yes", "no"), lambda said: f"**{said.title()}**"),
        (("yes", "no"), lambda said: f"\u201c{said}\u201d!"),
        (("café", "señor"), lambda said: unicodedata.normalize("NFD", said)),
        (("2008年", "第12届"), lambda said: said.translate({ord("0") + n: ord("０") + n for n in range(10)})),
        (("نعم", "لا"), lambda said: f"\u200f{said}"),
        (("相同", "不同"), lambda said: f"\ufeff{said}。"),
        (("1000", "2500"), lambda said: f"{int(said):,}"),
        (("42", "7"), lambda said: f"{said}.0"),
        (("١٢", "7"), lambda said: {"١٢": "12", "7": "7 "}[said]),
    ],
)
def test_answers_written_otherwise_are_counted_and_compared_on_request(tmp_path, labels, change):
    rows = [
        row | {"prediction": change(row["prediction"]) if i < 4 else row["prediction"]}
        for i, row in enumerate(label_rows(0, labels=labels))
    ]
    average, warnings = read(tmp_path, rows)
    path = tmp_path / "m" / "clean.jsonl"
    result = score("classification", [path])
    if average == 1:  # "42.0" and "42" are one number
        assert labels[0] == "42" and result["accuracy"] == 1
        return
    assert average == result["accuracy"] == 0.6
    assert "4 of 10 predictions differ from the gold answer only in writing" in warnings
    assert "4 of 10 predictions differ" in result["warnings"][0]
    assert read(tmp_path, rows, normalize=True)[0] == 1
    assert score("classification", [path], normalize=True)["accuracy"] == 1


def test_labels_that_differ_in_writing_only_stay_apart(tmp_path):
    rows = label_rows(2, labels=("a", "A"))
    assert read(tmp_path, rows) == (0.8, "")
    assert read(tmp_path, rows, normalize=True) == (0.8, "")
    assert read(tmp_path, label_rows(2, labels=("spam", "not spam"))) == (0.8, "")  # one label within another


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("It was {}, I think.", "4 of 10 predictions contain the gold answer among other words"),
        ("答案是{}吧", "4 of 10 predictions contain the gold answer among other words"),
        ("Madrid", "4 of 10 predictions are none of the gold labels ('Madrid')"),
        ("un{}ed", "4 of 10 predictions are none of the gold labels"),
    ],
)
def test_wrong_answers_that_are_no_labels_are_counted(tmp_path, said, message):
    rows = label_rows(0, labels=("巴黎", "伦敦")) if "答" in said else label_rows(0, labels=("Paris", "Rome"))
    rows = [row | {"prediction": said.format(row["gold"])} if i < 4 else row for i, row in enumerate(rows)]
    average, warnings = read(tmp_path, rows)
    assert average == 0.6 and message in warnings


@pytest.mark.parametrize("name", ["wer", "CER", "val_loss", "wordErrorRate", "wer_norm"])
def test_error_rates_are_turned_by_their_names(tmp_path, name):
    rows = [{"id": i, name: 0.25} for i in range(10)]
    average, warnings = read(tmp_path, rows, score=name)
    assert average == 0.75 and "lower is better" in warnings
    assert read(tmp_path, rows, score=name, lower_is_better=False) == (0.25, "")
    path = tmp_path / "m" / "clean.jsonl"
    noisy = write(tmp_path / "m" / "noisy.jsonl", [row | {name: 0.5} for row in rows])
    result = score("micro_worst_average", [path, noisy], options={"predictions": name})
    assert result["worst_average"] == 0.5 and "lower is better" in result["warnings"][0]


def test_scores_are_turned_on_request(tmp_path):
    rows = [{"id": i, "cost": 0.25} for i in range(10)]
    assert read(tmp_path, rows, score="cost") == (0.25, "")
    assert read(tmp_path, rows, score="cost", lower_is_better=True)[0] == 0.75


def test_half_of_a_letter_is_a_wrong_answer(tmp_path):
    rows = [row | {"prediction": "no\ud83d"} if i == 4 else row for i, row in enumerate(label_rows(0))]
    path = write(tmp_path / "m" / "clean.jsonl", rows)
    tracks = read_tracks([path])
    assert measure(tracks, QUICK).tracks[0].average.value == 0.9
    assert report(tracks, tmp_path / "out", n_resamples=0).page.is_file()
    assert report([Track("m", "clean", rows)], tmp_path / "out2", n_resamples=0).page.is_file()


@pytest.mark.parametrize("form", ["({})", "[{}]", "{{{}}}"])
def test_a_label_in_brackets_is_a_label(tmp_path, form):
    assert read(tmp_path, label_rows(2, labels=(form.format("A"), form.format("B")))) == (0.8, "")


def test_labels_with_confidences_and_no_gold_answers_are_told(tmp_path):
    rows = [{"id": str(i), "label": "no", "score": 0.9 + i / 100} for i in range(8)]
    assert "if it is not, give the gold answers" in read(tmp_path, rows)[1]
    assert read(tmp_path, [row | {"score": i % 2} for i, row in enumerate(rows)])[1] == ""
    assert read(tmp_path, rows, score="score")[1] == ""
