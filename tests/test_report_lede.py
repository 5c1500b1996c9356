"""The first sentence of the page is true for every outcome."""

from __future__ import annotations

import pytest

from lapsus.results.measuring.measure import measure
from lapsus.results.measuring.runs import Options
from lapsus.results.page.lede import lede
from lapsus.results.tracks import Track


def said(clean, **noisy):
    """The sentence for the scores of a model, given as the number of right answers among forty."""
    tracks = [
        Track("bert", name, [{"id": i, "score": int(i < right)} for i in range(40)])
        for name, right in {"clean": clean, **noisy}.items()
    ]
    return lede(measure(tracks, Options(n_resamples=500)).summary)


@pytest.mark.parametrize(
    ("noisy", "sentence"),
    [
        ({"keyboard": 20}, "Noise costs most on keyboard: bert falls from 75.0 % on clean text to 50.0 %."),
        ({"keyboard": 40}, "Nowhere does noise cost what would hold up. On keyboard, bert rises from 75.0 % on clean"),
        ({"keyboard": 30}, "No score differs between clean and noisy text."),
        ({"keyboard": 29}, "No difference between clean and noisy text holds up. The largest is on keyboard: bert has"),
        ({"keyboard": 31}, "No difference between clean and noisy text holds up. The largest is on keyboard: bert has"),
        ({"keyboard": 20, "speech": 26}, "to 50.0 %. It costs least on speech for bert: 10.0 points."),
        ({"keyboard": 20, "speech": 30}, "to 50.0 %. It costs least on speech for bert, where no score is lost."),
        ({"keyboard": 20, "speech": 40}, "to 50.0 %. On speech, bert rises from 75.0 % on clean text to 100.0 %."),
    ],
)
def test_the_first_sentence_says_what_came_out(noisy, sentence):
    assert sentence in said(30, **noisy)
    assert ("falls" in said(30, **noisy)) == (noisy["keyboard"] == 20)


def test_the_worst_served_are_named_where_there_are_several():
    tracks = [
        Track("bert", name, [{"id": i, "score": int(low <= i < low + right)} for i in range(40)])
        for name, low, right in (("clean", 0, 40), ("keyboard.1", 0, 20), ("keyboard.2", 10, 20))
    ]
    sentence = lede(measure(tracks, Options(n_resamples=500)).summary)
    assert sentence.endswith(
        "to 50.0 % on average, and to 25.0 % when each example counts only whom the model served worst."
    )
    assert lede([]) == ""
