"""A server that is busy, slow, broken or lying: asked again, waited for, or named in one sentence."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from slow_endpoint import PATIENCE, serving

from lapsus.cli.main import main
from lapsus.evaluation.models import open_model
from lapsus.evaluation.models.endpoint_client import EndpointError
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet

ROWS = [{"id": str(i), "text": f"row {i}", "label": "yes"} for i in range(12)]
TASK = make_task(["text"], "label", labels=["yes", "no"])


def answered(server, out=None, **options):
    model = open_model(server.word, {"pause": 0.01, "timeout": PATIENCE, "batch_size": 4, **options})
    return Evaluation(TrackSet.from_rows("mine", TASK, ROWS), model, out).execute()


@pytest.mark.parametrize(
    "fault", ["drop", "slow", "malformed", "truncated", (429, ()), (500, ()), (503, (("Retry-After", "0"),))]
)
def test_a_fault_is_asked_again(fault):
    with serving(fault, fault) as server:
        outcome = answered(server)
    assert [row["prediction"] for row in outcome.tracks[0].rows] == ["yes"] * 12
    assert len(server.asked) == 14


def test_a_server_is_waited_for_as_long_as_it_asks():
    with serving((429, (("Retry-After", "0.5"),))) as server:
        answered(server, batch_size=1)
    (first, *_), (second, *_) = server.asked[:2]
    assert second - first >= 0.5


def test_questions_are_out_together_and_usage_is_counted():
    with serving("cut") as server:
        model = open_model(server.word, {"batch_size": 4})
        outcome = Evaluation(TrackSet.from_rows("mine", TASK, ROWS), model).execute()
        assert 2 <= server.most_out <= 4
    assert model.get_usage()["tokens of prompts"] == 60 and model.get_usage()["tokens of answers"] == 12
    assert model.get_usage()["answers cut at the most tokens allowed"] == 1 and outcome.unparsed == 1


def test_a_context_that_is_too_long_is_counted():
    with serving("long") as server:
        outcome = answered(server)
    assert outcome.errors == {"longer than the context of tiny; shorten the rows, or take another model": 1}
    assert outcome.unparsed == 1 and sum(row["score"] for row in outcome.tracks[0].rows) == 11


def test_a_server_that_stays_down_is_named_and_its_answers_are_kept(tmp_path):
    with serving(*[None] * 6, *[(500, ())] * 40) as server:
        with pytest.raises(EndpointError, match=r"still busy \(status 500\)"):
            answered(server, tmp_path, retries=1, batch_size=2)
        server.script.clear()
        before = len(server.asked)
        outcome = answered(server, tmp_path)
        assert outcome.requested <= 6 and len(server.asked) - before == outcome.requested
    assert len(outcome.tracks[0].rows) == 12


def test_mistakes_are_one_sentence(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    words = [
        "run",
        "--rows",
        str(tmp_path / "rows.jsonl"),
        "--text",
        "text",
        "--gold",
        "label",
        "--out",
        str(tmp_path / "o"),
        "--model",
    ]
    no_name = CliRunner().invoke(main, [*words, "http://localhost:1/v1"])
    assert no_name.exit_code == 1 and "write http://HOST/v1#NAME" in no_name.output
    with serving((401, ())) as server:
        refused = CliRunner().invoke(main, [*words, server.word])
    assert refused.exit_code == 1 and "refused the key (status 401); set $OPENAI_API_KEY" in refused.output
    assert "Traceback" not in refused.output


def test_a_dry_run_estimates_the_cost(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    words = [
        "run",
        "--rows",
        str(tmp_path / "rows.jsonl"),
        "--text",
        "text",
        "--gold",
        "label",
        "--dry-run",
        "--price",
        "1,2",
    ]
    done = CliRunner().invoke(main, [*words, "--model", "http://localhost:1/v1#m"])
    # 10 rows of 5 letters and 2 of 6, four letters a token; 12 answers of at most 64 tokens
    assert "tokens: 16 input, at most 768 output" in done.output, done.output
    assert "cost: at most 0.0016" in done.output
