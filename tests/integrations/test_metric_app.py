"""What a visitor of a metric's Space writes opens no file of its server, and does not keep it busy."""

from __future__ import annotations

import json

import pytest

from lapsus import metrics
from lapsus.integrations.metric_app import MAX_RESAMPLES, compute_from_files, compute_from_json


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return str(path)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Make files of the server, one of them where its program runs, and go there."""
    for name in ("private.jsonl", "private.json", "private.csv"):
        write(tmp_path / "server" / name, [{"id": "1", "token": "hf_8Qz2", "label": "yes"}])
    (tmp_path / "server" / "app.py").write_text("token = 'hf_8Qz2'")
    monkeypatch.chdir(tmp_path / "server")
    return tmp_path / "server"


@pytest.mark.parametrize("file", ["private.jsonl", "private.json", "private.csv", "app.py", "../server/private.jsonl"])
@pytest.mark.parametrize(
    "option", ["original_predictions={}:label", "original_predictions={}", "groups=id,{}:label", "references={}:label"]
)
@pytest.mark.parametrize("absolute", [True, False])
def test_an_option_names_uploads_only(server, tmp_path, file, option, absolute):
    upload = write(
        tmp_path / "uploads" / "mine.jsonl",
        [{"id": "1", "prediction": "yes", "gold": "yes", "original_prediction": "no"}],
    )
    said = []
    for name in (file, f"no-{file.rpartition('/')[2]}"):
        path = str(server / name) if absolute else name
        with pytest.raises(ValueError, match="finds no column") as caught:
            compute_from_files("prediction_consistency", [upload], option.format(path))
        said.append(str(caught.value).replace(path, "PATH"))
    assert said[0] == said[1], "whether the file is there makes no difference"
    assert "token" not in said[0] and "hf_8Qz2" not in said[0]


def test_a_column_that_is_called_like_a_file_is_a_column(server, tmp_path):
    path = str(server / "private.jsonl")
    rows = [{"id": "1", f"{path}:token": "hello", f"clean_{path}:token": "hallo", "edits": "[]"}]
    upload = write(tmp_path / "mine.jsonl", rows)
    example = {"predictions": ["hello"], "references": ["hallo"]}
    expected = compute_from_json(metrics.load_metrics()["noise_rate"], json.dumps(example))
    for options in (f"predictions={path}:token\nreferences=clean_{path}:token", ""):
        result = compute_from_files("noise_rate", [upload], options)
        assert {name: value for name, value in result.items() if name != "join"} == expected
    with pytest.raises(ValueError, match="finds no column") as caught:
        compute_from_files(
            "noise_rate",
            [write(tmp_path / "other.jsonl", [{"id": "1", "a": "b"}])],
            f"predictions={path}:token\nreferences=a",
        )
    assert "hf_8Qz2" not in str(caught.value)


def test_an_upload_feeds_an_option_and_is_no_prediction(tmp_path):
    files = [
        write(tmp_path / "a" / "noisy.jsonl", [{"id": "1", "score": 1}, {"id": "2", "score": 0}]),
        write(tmp_path / "b" / "clean.jsonl", [{"id": "1", "acc": 1}, {"id": "2", "acc": 1}]),
        write(tmp_path / "b" / "sets.jsonl", [{"id": "1", "part": "u"}, {"id": "2", "part": "v"}]),
    ]
    options = "clean_scores=clean.jsonl:acc\ngroups=sets.jsonl:part,sets.jsonl:id"
    result = compute_from_files("micro_worst_average", files, options)
    assert (result["micro_average"], result["micro_drop"], result["join"]) == (0.5, 0.5, {"examples": 2})
    assert {name: list(parts) for name, parts in result["groups"].items()} == {
        "sets.jsonl:part": ["u", "v"],
        "sets.jsonl:id": ["1", "2"],
    }


@pytest.mark.parametrize("value", [MAX_RESAMPLES + 1, 10**9, 1e300, float("inf"), 10**400])
def test_resamples_have_a_maximum(tmp_path, value):
    example = {"predictions": [[1.5, n] for n in range(5)], "n_resamples": value}
    metric = metrics.load_metrics()["micro_worst_average"]
    with pytest.raises(ValueError, match=r"n_resamples is .*: give at most 100000 here"):
        compute_from_json(metric, json.dumps(example))
    upload = write(tmp_path / "mine.jsonl", [{"id": str(n), "score": 1.5} for n in range(5)])
    with pytest.raises(ValueError, match=r"n_resamples is .*: give at most 100000 here"):
        compute_from_files("micro_worst_average", [upload], f"n_resamples={value}")
    assert compute_from_json(metric, json.dumps({**example, "n_resamples": 100}))["micro_average"] > 0
    assert compute_from_files("micro_worst_average", [upload], "n_resamples=100")["micro_average"] == 1.5


def test_deep_input_is_one_sentence():
    with pytest.raises(ValueError, match="The input is no JSON"):
        compute_from_json(metrics.load_metrics()["win_rate"], "[" * 100_000)
