"""The first sentence of the page is true for any verdict."""

from __future__ import annotations

import re

from lapsus.core.types import Track
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.html.lead import write_lead


def make_lead(clean, examples=100, **models):
    """Return the lead for models that are correct on the first so many examples of each kind of noise."""
    tracks = [
        Track(model, name, [{"id": i, "score": int(i < right)} for i in range(examples)])
        for model, noises in models.items()
        for name, right in {"clean": clean, **noises}.items()
    ]
    return write_lead(measure(tracks).summary)


def test_what_costs_comes_first_the_largest_drop_before_others():
    lead = make_lead(900, 1000, m={"typed": 870, "reworded": 899, "dictated": 700, "fillers": 885})
    assert re.fullmatch(
        r"Dictation costs 20\.0 points \[\d+\.\d, \d+\.\d\]; typing costs 3\.0 points \[\d\.\d, \d\.\d\];"
        r" adding fillers costs 1\.5 points \[\d\.\d, \d\.\d\];"
        r" rewording costs less than \d\.\d points, if anything\.",
        lead,
    )


def test_what_the_examples_do_not_decide_is_called_so():
    lead = make_lead(90, m={"typed": 88, "keyboard": 90})
    assert re.fullmatch(
        r"Typing: not decided by 100 examples \(less than 7\.0 points, if anything\);"
        r" noise “keyboard”: not decided by 100 examples \(less than \d\.\d points, if anything\)\.",
        lead,
    )


def test_a_gain_costs_nothing():
    assert make_lead(60, m={"typed": 90}) == "Typing costs nothing: the score rises by 30.0 points [21.9, 39.6]."


def test_of_several_models_the_one_that_loses_most_is_named():
    lead = make_lead(90, a={"typed": 60, "dictated": 88}, b={"typed": 40, "dictated": 90}, c={"typed": 90})
    assert re.fullmatch(
        r"Typing costs 2 of 3 models points, b the most: 50\.0 points \[\d+\.\d, \d+\.\d\];"
        r" dictation: not decided for 2 of 2 models by 100 examples \(less than \d\.\d points, if anything\)\.",
        lead,
    )


def test_of_many_kinds_of_noise_the_rest_is_counted():
    lead = make_lead(90, m={f"typed@{severity}": 80 - severity for severity in range(1, 7)})
    assert lead.startswith("Typing (severity 6) costs 16.0 points [")
    assert lead.endswith("; 2 more kinds of noise below.")


def test_without_a_clean_track_there_is_no_lead():
    rows = [{"id": i, "score": 1} for i in range(9)]
    assert write_lead(measure([Track("m", "typed", rows)]).summary) == ""


def test_a_drop_of_balanced_accuracy_is_not_called_small():
    gold = ["same"] * 1338 + ["other"] * 2978

    def make_track(name, n_same, n_other):
        answers = ["same"] * n_same + ["other"] * (1338 - n_same + n_other) + ["same"] * (2978 - n_other)
        return Track(
            "m",
            name,
            [{"id": i, "gold": g, "prediction": a} for i, (g, a) in enumerate(zip(gold, answers, strict=True))],
        )

    lead = write_lead(measure([make_track("clean", 1036, 1225), make_track("typed", 569, 1831)]).summary)
    assert lead == "Typing: not decided by 4,316 examples (balanced accuracy falls)."
