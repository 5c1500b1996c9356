"""What the clients of trackers read back, without a network, is what the report says."""

from __future__ import annotations

import json
import struct
import sys
import time

import pytest
from click.testing import CliRunner

from lapsus.cli.main import main
from lapsus.core.types import Track
from lapsus.integrations.loggers import flatten_scalars, to_mlflow, to_tensorboard, to_trackio, to_wandb
from lapsus.reporting.report import report


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    clean = [{"id": i, "score": 1, "slots": [["a", "b"]], "gold_slots": [["a", "b"]]} for i in range(20)]
    noisy = [row | {"score": int(row["id"] % 4 > 0)} for row in clean]
    tracks = [Track("org/bert", "clean", clean, "d"), Track("org/bert", "homophones_40%.1", noisy, "d")]
    return report(tracks, tmp_path_factory.mktemp("logged") / "out", n_resamples=20)


def rounded(numbers):
    return {name: pytest.approx(value, abs=1e-6) for name, value in numbers.items()}


def test_the_numbers_are_those_of_the_report(written):
    logged = flatten_scalars(written.numbers)
    assert logged["d/org_bert/clean/score"] == 1
    assert logged["d/org_bert/homophones_40_.1/score"] == logged["d/org_bert/homophones_40_/average"] == 0.75
    assert logged["d/org_bert/homophones_40_/drop"] == 0.25
    assert logged["d/org_bert/clean/Entity F1"] == 1
    assert len(logged) == 2 + 5 + 4


def test_two_numbers_of_one_name_are_refused():
    from lapsus.reporting.analysis.measure import measure

    tracks = [Track("m", name, [{"id": 1, "score": score}]) for name, score in (("a%", 0), ("a_", 1))]
    with pytest.raises(ValueError, match="'m/a_/score'; rename"):
        flatten_scalars(measure(tracks))


def test_tensorboard_reads_them(written, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    to_tensorboard(written, tmp_path, step=3)
    events = EventAccumulator(str(tmp_path)).Reload()
    found = {}
    for name in events.Tags()["tensors"]:
        [event] = events.Tensors(name)
        assert event.step == 3
        found[name] = make_ndarray(event.tensor_proto).item()
    assert found == rounded(flatten_scalars(written.numbers))


@pytest.mark.slow
def test_mlflow_reads_them(written, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    place = (tmp_path / "runs").as_uri()
    to_mlflow(written, tracking_uri=place)
    client = mlflow.MlflowClient(place)
    [run] = client.search_runs([client.get_experiment_by_name("lapsus").experiment_id])
    assert run.data.metrics == rounded(flatten_scalars(written.numbers))
    assert run.data.params["data d"] == written.numbers.datasets[0].blake2b
    assert "report/index.html" in {each.path for each in client.list_artifacts(run.info.run_id, "report")}


@pytest.mark.slow
def test_mlflow_works_as_the_extra_installs_it(written, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_ALLOW_FILE_STORE"):
        monkeypatch.setenv(name, "")  # so that it is restored
        monkeypatch.delenv(name)
    monkeypatch.setattr("lapsus.integrations.loggers.find_spec", lambda _name: None)
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(None)
    to_mlflow(written)
    client = mlflow.MlflowClient((tmp_path / "mlruns").as_uri())
    assert len(client.search_runs([client.get_experiment_by_name("lapsus").experiment_id])) == 1
    mlflow.set_tracking_uri(None)


@pytest.mark.slow
def test_a_place_that_mlflow_does_not_know_is_one_sentence(written):
    mlflow = pytest.importorskip("mlflow")
    with pytest.raises(ValueError, match=r"MLflow cannot log to nowhere://a: .*set MLFLOW_TRACKING_URI to"):
        to_mlflow(written, tracking_uri="nowhere://a")
    mlflow.set_tracking_uri(None)


class FakeTrackio:
    """The part of trackio that the logger calls, which notes what it is told."""

    def __init__(self):
        self.calls = []

    def init(self, project, *, config, space_id=None):
        self.calls.append(("init", project, config["lapsus"], space_id))
        return self

    def log(self, metrics):
        self.calls.append(("log", metrics))

    def finish(self):
        self.calls.append(("finish",))


def test_trackio_is_told_the_numbers(written, monkeypatch):
    fake = FakeTrackio()
    monkeypatch.setitem(sys.modules, "trackio", fake)
    to_trackio(written, space_id="me/runs")
    first = ("init", "lapsus", written.numbers.lapsus, "me/runs")
    assert fake.calls == [first, ("log", flatten_scalars(written.numbers)), ("finish",)]


def test_trackio_that_is_not_there_is_one_sentence(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install trackio$"):
        to_trackio(written)


def records(path):
    """Yield what a file of wandb holds: a header of seven bytes, then records in blocks, as in a log of LevelDB."""
    data, place, whole = path.read_bytes(), 7, b""
    while place + 7 <= len(data):
        left = 32768 - place % 32768
        if left < 7:
            place += left
            continue
        length, kind = struct.unpack("<HB", data[place + 4 : place + 7])
        whole += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in {1, 4}:  # whole, or the last part
            yield whole
            whole = b""


@pytest.mark.slow
def test_wandb_reads_them(written, tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    from wandb.proto.wandb_internal_pb2 import Record

    monkeypatch.setenv("WANDB_SILENT", "true")
    to_wandb(written, mode="offline", dir=str(tmp_path))
    [file] = tmp_path.glob("wandb/offline-run-*/*.wandb")
    found = {}
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not any(Record.FromString(data).HasField("exit") for data in records(file)):
        time.sleep(0.2)  # another process writes the file
    for data in records(file):
        for item in Record.FromString(data).history.item:
            name = item.key or "/".join(item.nested_key)
            if not name.startswith("_"):
                found[name] = json.loads(item.value_json)
    assert found == rounded(flatten_scalars(written.numbers))


def test_the_command_logs_where_it_is_told(tmp_path, monkeypatch):
    pytest.importorskip("tensorboard")
    monkeypatch.chdir(tmp_path)
    for track in ("clean", "k"):
        (tmp_path / f"bert.{track}.jsonl").write_text('{"id": "a", "score": 1}\n{"id": "b", "score": 0}\n')
    done = CliRunner().invoke(
        main, ["report", "bert.clean.jsonl", "bert.k.jsonl", "--out", "out", "--log-to", "tensorboard"]
    )
    assert done.exit_code == 0, done.output
    assert "logged to tensorboard" in done.output
    assert list(tmp_path.glob("runs/lapsus/events*"))
