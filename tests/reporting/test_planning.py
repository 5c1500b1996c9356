"""A plan names the examples that show a drop, from a pilot or from stated rates."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binom, norm

from lapsus import stats
from lapsus.cli.main import main
from lapsus.core.types import Track
from lapsus.reporting.planning import make_pilots, plan_drops, plan_examples, state_rates
from lapsus.reporting.report import report
from lapsus.stats import DetectionModel


def lapsus(*words):
    return CliRunner().invoke(main, ["plan", *map(str, words)])


def test_the_number_is_that_of_the_formula_for_mcnemars_test():
    """Connor 1987, Sample size for testing differences in proportions for the paired-sample design: his formula."""
    drop, changed = 0.05, np.hypot(0.1, 0.05)
    z_alpha, z_beta = norm.ppf(0.975), norm.ppf(0.8)
    connor = (z_alpha * np.sqrt(changed) + z_beta * np.sqrt(changed - drop**2)) ** 2 / drop**2
    [row] = plan_examples([state_rates(0.5, 0.1)], [drop], [1], 1)
    assert row.examples == pytest.approx(connor, rel=0.04)


def test_the_power_is_that_of_every_outcome_counted():
    """An independent count: losses and gains of 60 rows, with the exact test of binom."""
    n_rows, drop, background = 60, 0.12, 0.1
    changed = np.hypot(background, drop)
    up = (changed - drop) / 2
    power = 0.0
    for n_changed in range(1, n_rows + 1):
        gains = np.arange(n_changed + 1)
        if n_changed < 25:
            p_values = np.minimum(1, 2 * binom.cdf(np.minimum(gains, n_changed - gains), n_changed, 0.5))
        else:
            p_values = 2 * norm.sf(abs(2 * gains - n_changed) / np.sqrt(n_changed))
        chance = binom.pmf(gains, n_changed, up / changed)
        power += binom.pmf(n_changed, n_rows, changed) * chance[p_values < 0.05].sum()
    assert DetectionModel(background, 1.0, n_rows, n_rows - 1).compute_power(drop, 0.05) == pytest.approx(
        power, abs=1e-9
    )


def test_what_examples_show_and_what_a_drop_needs_are_the_same_question():
    pilot = state_rates(0.9, 0.1)
    [row] = plan_drops([pilot], 500, [3], 4)
    [back] = plan_examples([pilot], [row.drop], [3], 4)
    assert back.examples == pytest.approx(500, rel=0.03)


@pytest.mark.parametrize("n_tests", [1, 12])
def test_smaller_drops_more_tests_and_fewer_annotators_need_more(n_tests):
    pilot = state_rates(0.9, 0.1)
    rows = plan_examples([pilot], [0.02, 0.05], [1, 5], n_tests)
    sizes = {(row.drop, row.annotators): row.examples for row in rows}
    assert sizes[0.02, 1] > sizes[0.02, 5] > sizes[0.05, 1] > sizes[0.05, 5]
    [strict] = plan_examples([pilot], [0.02], [1], n_tests + 1)
    assert strict.examples > sizes[0.02, 1]


def draw_tracks(correlated):
    """Three annotators who lose the same examples, or each their own."""
    rng = np.random.default_rng(1)
    lost = rng.random((3, 2000)) < 0.2
    lost[1:] = lost[0] if correlated else lost[1:]
    columns = {"clean": np.ones(2000), **{f"typed.{n + 1}": 1.0 - column for n, column in enumerate(lost)}}
    return [
        Track("m", name, [{"id": str(i), "score": score} for i, score in enumerate(column.tolist())])
        for name, column in columns.items()
    ]


def test_annotators_help_as_far_as_they_differ():
    [alike], [unlike] = make_pilots(draw_tracks(True)), make_pilots(draw_tracks(False))
    assert alike.correlation == pytest.approx(1) and unlike.correlation == pytest.approx(0, abs=0.05)
    assert alike.make_model(6).rows == pytest.approx(alike.detection.rows)
    assert unlike.make_model(6).rows == pytest.approx(2 * unlike.detection.rows, rel=0.1)


def test_a_report_is_a_pilot(tmp_path):
    tracks = draw_tracks(False)
    folder = report(tracks, tmp_path / "report", n_resamples=0).folder
    rows = json.loads(lapsus(folder, "--drop", 2, "--annotators", 3, "--json").output)
    [pilot] = make_pilots(tracks)
    assert [row["examples"] for row in rows] == [stats.count_examples(pilot.detection, 2000, 0.02)]
    assert (rows[0]["model"], rows[0]["family"], rows[0]["n_tests"], rows[0]["repeats"]) == ("m", "typed", 1, 3)
    table = lapsus(folder, "--examples", 200).output
    assert table.splitlines()[0].split() == ["model", "noise", "drop", "annotators", "repeats", "examples"]
    assert "assumed" not in table


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give the folder of a report"),
        (("--clean", 3, "--drop", 5), "cannot drop by 5 points"),
        (("--clean", 90, "--drop", 5, "--examples", 100), "give one of them"),
        (("--clean", 0), "--clean"),
        (("--clean", 90, "--drop", 0), "--drop"),
        ((".", "--clean", 90), "leave out --clean"),
        ((".",), "holds no scores.parquet"),
    ],
)
def test_a_plan_without_sense_is_refused(words, message):
    result = lapsus(*words)
    assert result.exit_code and message in result.output and "Traceback" not in result.output


def test_a_report_without_a_clean_track_is_no_pilot(tmp_path):
    folder = report(draw_tracks(False)[1:], tmp_path / "report", n_resamples=0).folder
    assert "so nothing tells what varies" in lapsus(folder).output


def test_where_nothing_decides_no_number_is_invented():
    model = DetectionModel(background=0.0, magnitude=None, rows=10, freedom=9)
    assert stats.count_examples(model, 10, 0.1) is None
    assert stats.count_examples(state_rates(0.9, 0.1).detection, 100, 0.0) is None
    assert stats.count_examples_within(state_rates(0.9, 0.1).detection, 100, 0.03, 0.02) is None
