"""What a task is measured by stands on the page, and is what the metric of that name says."""

from __future__ import annotations

from random import Random

import pytest

from lapsus.core.types import Track
from lapsus.metrics import (
    annotated_bleu,
    annotated_chrf,
    answer_f1,
    entity_f1,
    micro_worst_average,
    slu_accuracy,
)
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.report import report

TAGS = ("O", "B-artist", "I-artist", "B-genre")
WORDS = ("the", "cat", "sat", "down", "on", "a", "mat", "near", "Paris", "in", "1889")


def measures(tracks, track):
    return {
        record.measure: record.value
        for record in measure(tracks).task_scores
        if record.track == track and record.model == "m"
    }


def sentence(draw, length=9):
    return " ".join(draw.choice(WORDS) for _ in range(length))


def both(rows):
    """Two tracks; the second one has two answers of the first exchanged."""
    swapped = [
        row | {k: other[k] for k in row if k in {"prediction", "tags", "slots"}}
        for row, other in zip(rows, [rows[1], rows[0], *rows[2:]], strict=True)
    ]
    return [Track("m", "clean", rows), Track("m", "k.1", swapped)]


def test_intents_and_tags():
    draw = Random(1)
    lengths = [5] * 40
    rows = [
        {
            "id": i,
            "prediction": draw.choice("ab"),
            "gold": draw.choice("ab"),
            "tags": [draw.choice(TAGS) for _ in range(n)],
            "gold_tags": [draw.choice(TAGS) for _ in range(n)],
        }
        for i, n in enumerate(lengths)
    ]
    tracks = both(rows)
    for track in tracks:
        wanted = slu_accuracy(
            [{"intent": row["prediction"], "tags": row["tags"]} for row in track.rows],
            [{"intent": row["gold"], "tags": row["gold_tags"]} for row in track.rows],
        )
        found = measures(tracks, track.track)
        assert {name: value.value for name, value in found.items()} == {
            "Slot F1": wanted["slot_f1"],
            "Intent accuracy": wanted["intent_accuracy"],
            "Intent and all slots": wanted["e2e_accuracy"],
        }
        assert found["Slot F1"].interval == tuple(wanted["slot_f1_ci"])


def test_slots_as_lapsus_run_writes_them():
    draw = Random(2)
    pair = lambda: [draw.choice(["artist", "genre"]), draw.choice(WORDS)]  # noqa: E731
    rows = [
        {"id": i, "score": 0, "slots": [pair() for _ in range(draw.randrange(3))], "gold_slots": [pair()]}
        for i in range(40)
    ]
    wanted = entity_f1([row["slots"] for row in rows], [row["gold_slots"] for row in rows])
    found = measures(both(rows), "clean")
    assert (found["Entity F1"].value, found["SLU-F1"].value) == (wanted["entity_f1"], wanted["slu_f1"])


@pytest.mark.parametrize("form", ["answers", "references"])
def test_answers_to_questions(form):
    draw = Random(3)
    rows = [
        {"id": i, "prediction": sentence(draw, 2), "references": [sentence(draw, 2), sentence(draw, 1)]}
        for i in range(40)
    ]
    wanted = answer_f1([row["prediction"] for row in rows], [row["references"] for row in rows])
    if form == "answers":
        rows = [{"id": row["id"], "prediction": row["prediction"], "gold": {"text": row["references"]}} for row in rows]
    else:
        rows = [row | {"score": 0.5, "gold": row["references"][0]} for row in rows]
    found = measures(both(rows), "clean")
    assert (found["Exact match"].value, found["F1"].value) == (wanted["exact_match"], wanted["f1"])


def test_translations():
    draw = Random(4)
    rows = [
        {"id": i, "score": 0.5, "prediction": sentence(draw), "gold": sentence(draw), "chrf": 50} for i in range(40)
    ]
    said, right = [[row["prediction"]] for row in rows], [row["gold"] for row in rows]
    found = measures(both(rows), "clean")
    assert found["BLEU"].value == pytest.approx(annotated_bleu(said, right)["micro_average"] / 100)
    assert found["chrF"].value == pytest.approx(annotated_chrf(said, right)["micro_average"] / 100)


def test_translations_into_chinese_with_many_digits():
    draw = Random(5)
    rows = [
        {"id": i, "score": 0.5, "prediction": f"会议 {i}", "gold": f"会议在 {draw.random():.12f} 点", "chrf": 50}
        for i in range(40)
    ]
    said, right = [[row["prediction"]] for row in rows], [row["gold"] for row in rows]
    expected = annotated_bleu(said, right, tokenize="zh")["micro_average"] / 100
    assert measures(both(rows), "clean")["BLEU"].value == pytest.approx(expected)


def test_labels_have_none_and_the_page_shows_those_that_are_there(tmp_path):
    labels = [{"id": i, "prediction": "a", "gold": "ab"[i % 2], "reference": "ab"[i % 2]} for i in range(20)]
    assert measures(both(labels), "clean") == {}
    rows = [{"id": i, "score": i % 2, "slots": [["a", "b"]] * (i % 2), "gold_slots": [["a", "b"]]} for i in range(20)]
    text = report(both(rows), tmp_path / "out", n_resamples=20).page.read_text(encoding="utf-8")
    section = text[text.index('id="d0-task"') :]
    assert "Entity F1" in section
    assert ">66.7 <small>" in section  # ten of twenty found, none invented


def test_queries_that_were_run():
    draw = Random(7)
    rows = [
        {
            "id": i,
            "prediction": "q",
            "gold": "q",
            "score": float(i % 3 == 0),
            "request_key": "k",  # as `lapsus run` writes: equal queries may be scored otherwise
            "execution_match": float(draw.random() < 0.6),
        }
        for i in range(40)
    ]
    found = measures(both(rows), "clean")
    for name, column in (("Same result", "execution_match"), ("Same clauses", "score")):
        wanted = micro_worst_average([[row[column]] for row in rows])
        assert (found[name].value, found[name].low, found[name].high) == (
            sum(row[column] for row in rows) / 40,
            *wanted["micro_average_ci"],
        )
