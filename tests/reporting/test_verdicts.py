"""The verdict about a drop follows from its interval, and so many examples do decide."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from lapsus.cli.main import main
from lapsus.core.types import Track
from lapsus.reporting.analysis.comparisons import compare_paired_scores
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.analysis.records import AnalysisOptions, Estimate, PairedTest
from lapsus.reporting.analysis.verdicts import decide_drop
from lapsus.reporting.report import report


def scored(name, right, examples=100):
    return Track("m", name, [{"id": str(i), "score": int(i < right)} for i in range(examples)])


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ((0.001, 0.3), "costs"),
        ((0.001, 0.019), "costs"),
        ((0.0, 0.019), "robust"),  # 0 is not above 0
        ((-0.3, -0.1), "robust"),
        ((0.0, 0.02), "undecided"),  # the margin is not below the margin
        ((-0.1, 0.1), "undecided"),
    ],
)
def test_the_ends_of_the_interval_decide(ends, verdict):
    low, high = ends
    test = PairedTest(Estimate(-(low + high) / 2, -high, -low))
    assert decide_drop(test, 100, 0.02, 0.95).verdict == verdict


def test_a_single_original_decides_nothing():
    rows = [{"id": str(i), "score": 1, "cluster": "x"} for i in range(10)]
    noisy = [row | {"score": 0} for row in rows]
    [record] = measure([Track("m", "clean", rows), Track("m", "keyboard", noisy)]).summary
    assert (record.decision.verdict, record.decision.examples_to_decide) == ("undecided", None)


def test_without_a_clean_track_there_is_no_verdict():
    [record] = measure([scored("keyboard", 50)]).summary
    assert record.decision.verdict is None


@pytest.mark.parametrize("losses", [(0.10, 0.06), (0.05, 0.05), (0.03, 0.0)])
def test_so_many_examples_decide_in_about_four_of_five_studies(losses):
    """An independent study of the number: the observed shares of losses and gains are drawn again."""
    lost, gained = losses
    n_examples = 100

    def decide(numbers, size):
        n_lost, n_gained, _ = numbers
        noisy = np.concatenate([np.zeros(n_lost), np.ones(n_gained), np.ones(size - n_lost - n_gained)])
        clean = np.concatenate([np.ones(n_lost), np.zeros(n_gained), np.ones(size - n_lost - n_gained)])
        return decide_drop(compare_paired_scores(noisy, clean, None, 0.95), size, 0.02, 0.95)

    pilot = decide((round(lost * n_examples), round(gained * n_examples), 0), n_examples)
    assert pilot.verdict == "undecided"
    size = pilot.examples_to_decide
    draws = np.random.default_rng(0).multinomial(size, [lost, gained, 1 - lost - gained], 100)
    share = np.mean([decide(numbers, size).verdict != "undecided" for numbers in draws])
    assert share > 0.68, (size, share)


def test_the_margin_stands_in_the_files_of_a_report(tmp_path):
    tracks = [scored("clean", 90), scored("keyboard", 88)]
    folder = report(tracks, tmp_path / "out", n_resamples=20, margin=0.1).folder
    content = json.loads((folder / "report.json").read_text())
    [record] = content["summary"]
    assert (record["verdict"], record["margin"], record["examples_to_decide"]) == ("robust", 0.1, None)
    assert content["settings"]["margin"] == 0.1
    assert "robust,0.1" in (folder / "summary.csv").read_text("utf-8-sig")
    page = (folder / "index.html").read_text()
    assert "Verdict: robust within 10 points." in page
    assert "<small>robust</small>" in page


@pytest.mark.parametrize("points", ["0", "-1", "nan", "100"])
def test_a_margin_that_decides_nothing_is_refused_before_anything_is_read(tmp_path, points):
    result = CliRunner().invoke(main, ["report", "absent.csv", "--out", str(tmp_path / "out"), f"--margin={points}"])
    assert result.exit_code == 1
    assert "no study shows that a drop is exactly 0" in result.output
    with pytest.raises(ValueError, match="The margin is"):
        AnalysisOptions(margin=float(points))
