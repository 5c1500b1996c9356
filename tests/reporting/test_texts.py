"""Examples that do not pair, and noise that is none: warnings at the top of the page."""

from __future__ import annotations

import pytest

from lapsus.core.types import Track
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.analysis.records import AnalysisOptions
from lapsus.reporting.html.headline import build_drop_matrix, order_models

QUICK = AnalysisOptions(n_resamples=0)


def track(name, *, n=20, start=0, model="m", wrong=(), **columns):
    rows = [{"id": str(i), "score": int(i not in wrong)} for i in range(start, start + n)]
    return Track(model, name, [{**row, **{key: make(int(row["id"])) for key, make in columns.items()}} for row in rows])


def warnings_of(*tracks):
    return [str(warning) for warning in measure(tracks, QUICK).warnings]


def item(i):
    return f"what costs item {i}"


def typed(i):
    return f"waht costs item {i}"


@pytest.mark.parametrize(
    ("clean", "noisy", "message"),
    [
        ({"text": item}, {"text": typed, "clean_text": item}, None),
        (
            {"text": item},
            {"text": typed, "clean_text": lambda i: item(i + 1)},
            "20 of 20 examples have another clean text",
        ),
        (
            {"text": item},
            {"text": typed, "clean_text": lambda i: item(i or 99)},
            "1 of 20 examples have another clean text",
        ),
        (
            {"text": typed, "clean_text": item},
            {"text": typed, "clean_text": item},
            "20 of 20 examples have a text that differs from their clean text, on a track that is called clean",
        ),
        ({"text": item}, {"text": item, "clean_text": item}, "none of its 20 texts differs from the clean text"),
        ({"text": item}, {"text": item}, "none of its 20 texts differs from the clean text"),
        ({}, {"text": item, "clean_text": item}, "none of its 20 texts differs from the clean text"),
        (
            {"text": lambda i: f"花呗怎么提额{i}"},
            {
                "text": lambda i: f"花呗怎么提额{i} you know",
                "clean_text": lambda i: f"花呗怎么提额{i}",
                "operator": lambda _: "filler_eos: note seed=1",
            },
            "filler_eos is made for English",
        ),
    ],
)
def test_texts_that_are_not_clean_and_noisy_of_one_example_are_told(clean, noisy, message):
    found = warnings_of(track("clean", **clean), track("keyboard.1", **noisy))
    assert found == [] if message is None else any(message in warning for warning in found), found


def test_two_noisy_tracks_with_other_clean_texts_are_told():
    other = {"text": typed, "clean_text": lambda i: item(i + 1)}
    found = warnings_of(track("clean"), track("k.1", text=typed, clean_text=item), track("k.2", **other))
    assert found == [
        (
            "m / k.2: 20 of 20 examples have another clean text than on the other tracks of this model (such as id '0'); "
            "check that an id is the same example everywhere"
        )
    ]


def test_noise_on_some_examples_has_the_clean_score_of_these():
    tracks = [track("clean", wrong=range(10, 20)), track("keyboard.1", n=10, wrong=range(5)), track("speech.1")]
    assert warnings_of(*tracks) == ["m / keyboard: it has 10 of the 20 examples of clean; its drop is of these only"]
    matrix = build_drop_matrix("d0", measure(tracks, QUICK))
    [(_, _, clean, cells)] = matrix.rows
    assert clean == "50.0"
    assert [cell.score for cell in cells] == ["100.0 → 50.0", "100.0"]


def test_models_on_other_examples_are_told():
    easy = [track(name, n=10, model="easy") for name in ("clean", "k.1")]
    full = [track(name, n=20, model="full") for name in ("clean", "k.1")]
    assert warnings_of(*easy, *full) == [
        (
            "easy / clean: this model has 10 of the 20 examples of all models; models stand in the order of their clean "
            "scores on the 10 examples that all have"
        )
    ]
    assert warnings_of(*full, *[track(name, model="other") for name in ("clean", "k.1")]) == []


def test_models_are_ranked_on_the_examples_that_all_have():
    easy = [track(name, n=10, model="easy", wrong=range(2)) for name in ("clean", "k.1")]  # 80 %, on the easy half
    full = [track(name, model="full", wrong=range(10, 20)) for name in ("clean", "clean.2", "k.1")]  # 50 %, and 100 %
    results = measure([*easy, *full], QUICK)
    assert order_models(results) == ["full", "easy"]
    assert {record.track: record.shared_average for record in results.tracks if record.model == "full"} == {
        "clean": 1.0,
        "clean.2": None,
        "k.1": None,
    }
    assert [row[0] for row in build_drop_matrix("d0", results).rows] == ["full", "easy"]
    apart = [track(name, n=10, start=20, model="apart") for name in ("clean", "k.1")]
    assert "no example is shared by all" in warnings_of(*full, *apart)[0]
    same = measure([*full, *[track(name, model="other") for name in ("clean", "k.1")]], QUICK)
    assert order_models(same) == ["other", "full"] and {record.shared_average for record in same.tracks} == {None}


@pytest.mark.parametrize(("failed", "said"), [(1, False), (2, False), (3, True)])
def test_more_than_two_per_cent_of_errors_are_said_apart(failed, said):
    def row(i):
        answer = {"score": None, "error": "no reply in time"} if i < failed else {"score": 1, "error": None}
        return {"id": str(i), "unparsed": i < failed + 5, **answer}

    noisy = Track("m", "k.1", [row(i) for i in range(100)])
    messages = warnings_of(track("clean", n=100), noisy)
    expected = (
        "3 of 100 examples (3.0 %) have an error and no answer (such as 'no reply in time'): the drop is also theirs"
    )
    assert any(expected in message for message in messages) == said
    assert any("examples have no answer or no score" in message for message in messages)
