"""Repeats of the clean text: each is a request of its own, and equal answers are said."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from lapsus.cli.main import main
from lapsus.core.types import Example
from lapsus.evaluation import TrackSet, make_request, make_task, run
from lapsus.evaluation.cache import make_request_key
from lapsus.evaluation.models.function import FunctionModel
from lapsus.evaluation.repeats import repeat_clean
from lapsus.evaluation.runner import Evaluation

ROWS = [{"id": str(number), "text": f"play song {number}", "label": "music"} for number in range(6)]
TASK = make_task(["text"], "label", labels=["music", "no"])
NAMES = ["clean", "clean.2", "clean.3", "filler_eos.1", "filler_eos.2"]


class Sampler:
    """Answers a text in another way whenever it is asked."""

    revision = "1"

    def __init__(self):
        self.texts = []

    def __call__(self, rows):
        labels = []
        for row in rows:
            labels.append(["music", "no"][self.texts.count(row["text"]) % 2])
            self.texts.append(row["text"])
        return labels


def test_each_repeat_is_asked_and_cached_by_itself(tmp_path):
    sampler = Sampler()
    asked = {"name": "m", "repeats": 3, "noise": ["filler_eos:2"], "out": tmp_path}
    tracks = run(TASK, ROWS, sampler, **asked)
    assert [track.track for track in tracks] == NAMES
    assert [{row["prediction"] for row in track.rows} for track in tracks[:3]] == [{"music"}, {"no"}, {"music"}]
    assert all(sampler.texts.count(row["text"]) == 3 for row in ROWS) and len(sampler.texts) == 5 * len(ROWS)
    keys = [row["request_key"] for track in tracks for row in track.rows]
    assert len(set(keys)) == len(keys)
    again = run(TASK, ROWS, sampler, **asked)
    assert len(sampler.texts) == 5 * len(ROWS) and [track.rows for track in again] == [track.rows for track in tracks]
    assert json.loads((tmp_path / "rows/m/run.json").read_text())["repeats"] == 3


def test_the_first_answer_has_the_key_that_it_always_had():
    model = FunctionModel(lambda rows: ["music"] * len(rows), "m", "1")
    first, second = (make_request(model, TASK, Example("a", track, ROWS[0])) for track in ("clean", "clean.2"))
    assert first.key == make_request_key(model.identity, TASK.identity, first.prompt) != second.key
    noisy = make_request(model, TASK, Example("a", "keyboard.2", ROWS[0]))  # an unchanged text is the clean one
    assert noisy.key == first.key


class Greedy(FunctionModel):
    """A model that says that it does not vary."""

    deterministic = True


@pytest.mark.parametrize(
    ("kind", "requests", "said"),
    [(Greedy, 6, "m answers greedily on this machine, so its 3 answers to a clean text are equal by construction"),
     (FunctionModel, 18, "the 3 answers of m to each of 6 clean texts are equal")],
)  # fmt: skip
def test_equal_repeats_are_said(kind, requests, said):
    data = repeat_clean(TrackSet.from_rows("mine", TASK, ROWS), 3)
    summary = Evaluation(data, kind(lambda rows: ["music"] * len(rows), "m", "1")).execute()
    assert summary.requested == requests and summary.notes[0].startswith(said)
    with pytest.warns(UserWarning, match="equal"):
        run(TASK, ROWS, kind(lambda rows: ["music"] * len(rows), "m", "1"), repeats=3)


def test_models_of_transformers_are_deterministic():
    from lapsus.evaluation.models.causal import CausalModel
    from lapsus.evaluation.models.transformers import Classifier

    assert Classifier.deterministic and CausalModel.deterministic


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "3"])
def test_a_number_that_is_none_is_refused(count):
    with pytest.raises(ValueError, match="give how often the clean text is asked, a whole number from 1"):
        run(TASK, ROWS, Sampler(), repeats=count)


def test_repeats_that_are_there_are_refused():
    with pytest.raises(ValueError, match=r"has a track 'clean.2' already"):
        run(TASK, {"clean": ROWS, "clean.2": ROWS}, Sampler(), repeats=2)
    with pytest.raises(ValueError, match="no clean track to repeat, but 'a'"):
        run(TASK, {"a": ROWS, "b": ROWS}, Sampler(), repeats=2)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    Path("repeated_model.py").write_text(
        "import itertools\nturn = itertools.count()\ndef answer(rows):\n    return [['music', 'no', 'no'][next(turn) % 3] for _ in rows]\n"
    )
    words = ["run", "--rows", "mine.jsonl", "--text", "text", "--gold", "label", "--labels", "music,no", "--out", "out",
             "--model", "python:repeated_model:answer", "--noise", "filler_eos:3", "--repeats"]  # fmt: skip
    result = CliRunner().invoke(main, [*words, "3"])
    assert result.exit_code == 0, result.output
    assert sorted(path.stem for path in Path("out").rglob("clean*.jsonl")) == ["clean", "clean.2", "clean.3"]
    assert CliRunner().invoke(main, ["report", "out/mine", "--out", "report"]).exit_code == 0
    page = Path("report/index.html").read_text()
    assert "from 3 answers to the clean text" in page and "The worst by chance is not known" not in page
    assert "0 is not in the range" in CliRunner().invoke(main, [*words, "0"]).output
