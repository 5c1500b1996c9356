"""The engine `ray` on a cluster of two nodes on this machine, whose head has no CPUs: it can lose any node but that."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from datasets import Dataset
from slow_endpoint import serving

from lapsus.cli.main import main
from lapsus.core import executors
from lapsus.core.executors import LOCAL, RayExecutor, open_executor
from lapsus.dataset_scripts import simulated
from lapsus.evaluation.executors import open_replicas
from lapsus.evaluation.models import open_model
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet, add_noise
from lapsus.hub import build_rows
from lapsus.jobs.perturb_corpus import perturb_corpus
from lapsus.perturbations import OPERATORS, Edit, Noise

os.environ |= {"RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0", "RAY_USAGE_STATS_ENABLED": "0"}
ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytestmark = pytest.mark.slow
ROWS = [{"id": f"u{i}", "text": ["play jazz", "", "我想听歌", "go 🎷"][i % 4], "n": i} for i in range(120)]


@dataclass(frozen=True, slots=True)
class Slow:
    """Takes its time, and tells which process works where."""

    seen: str
    pause: float = 0.0
    fatal: str = ""
    name: str = "slow"
    version: str = "1"

    def edits(self, text, rng):
        with Path(self.seen, str(os.getpid())).open("a", encoding="utf-8") as file:
            file.write(f"{ray.get_runtime_context().get_node_id()}\n")
        if self.fatal and self.fatal in text:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self.pause)
        return (Edit(0, 0, "so "),)


class Nodes:
    """A cluster whose nodes come and go."""

    def __init__(self):
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "object_store_memory": 2**27, "include_dashboard": False}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.workers = []

    def add(self):
        self.workers.append(self.cluster.add_node(num_cpus=1, object_store_memory=2**27))

    def kill(self, identity):
        node = next(node for node in self.workers if node.node_id == identity)
        self.workers.remove(node)
        self.cluster.remove_node(node, allow_graceful=False)


MODEL = """
import os, pathlib, time
SEEN = pathlib.Path({seen!r})

def answer(rows):
    time.sleep(0.05)
    with (SEEN / str(os.getpid())).open("a") as file:
        file.writelines(row["text"].replace("\\n", " ") + "\\n" for row in rows)
    return ["music" if "jazz" in row["text"] else "other" for row in rows]
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Return the folder in which the model `seen_model:answer` notes what each process was asked."""
    home = tmp_path_factory.mktemp("model")
    (home / "asked").mkdir()
    (home / "seen_model.py").write_text(MODEL.format(seen=str(home / "asked")))
    return home / "asked"


@pytest.fixture(scope="module")
def nodes():
    cluster = Nodes()
    cluster.add()
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers have lapsus, and not this test
    with open_executor("ray", address=cluster.cluster.address):
        yield cluster
    cluster.cluster.shutdown()


@pytest.fixture(scope="module")
def both(nodes):
    while len(nodes.workers) < 2:
        nodes.add()
    nodes.cluster.wait_for_nodes()
    return nodes


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in ROWS), encoding="utf-8")
    return path


def run(source, target, noise="zh_homophone", **options):
    given = {"text": "text", "id": "id", "progress": False, "shard_bytes": 400, "executor": RayExecutor(ray)} | options
    return perturb_corpus(source, target, noise, **given)


def shards(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_any_number_of_nodes_makes_the_same_bytes(nodes, source, tmp_path):
    with open_executor() as here:
        run(source, tmp_path / "here", executor=here)
    run(source, tmp_path / "one")
    nodes.add()
    nodes.cluster.wait_for_nodes()
    assert RayExecutor(ray).cpus() == 2
    run(source, tmp_path / "two")
    assert shards(tmp_path / "here") == shards(tmp_path / "one") == shards(tmp_path / "two")


@pytest.mark.parametrize("loss", ["worker", "node"])
def test_a_loss_changes_nothing(both, source, tmp_path, loss):
    seen = tmp_path / "seen"
    seen.mkdir()
    noise = Noise(Slow(str(seen), 0.03))
    lost = []

    def kill():
        while len(list(seen.iterdir())) < 2 or not list((tmp_path / "out.partial" / "notes").glob("*")):
            time.sleep(0.02)
        pid = max(seen.iterdir(), key=lambda path: path.stat().st_mtime)  # it works right now
        if loss == "worker":
            os.kill(int(pid.name), signal.SIGKILL)
        else:
            both.kill(pid.read_text().split()[0])
        lost.append(pid.name)

    killer = threading.Thread(target=kill)
    killer.start()
    done = run(source, tmp_path / "out", noise)
    killer.join()
    if loss == "node":
        both.add()
    assert lost and done.rows == len(ROWS)
    made = pq.read_table(tmp_path / "out").to_pylist()
    assert [row["id"] for row in made] == [row["id"] for row in ROWS]
    assert all(row["text"] == f"so {row['clean_text']}" for row in made)
    again = sum(len(path.read_text().split()) for path in seen.iterdir()) - len(ROWS)
    assert again < 60  # what was lost was done again, and nothing else


@pytest.mark.usefixtures("both")
def test_errors_of_workers_are_one_sentence(source, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="memory:// is the memory of one process, which workers do not see; name a fo"):
        run(source, "memory://out")
    source.write_text(source.read_text() + "{\n")
    with pytest.raises(
        ValueError, match=r"in.jsonl, line 121, column 2: Expecting property name .*; every line is one"
    ):
        run(source, tmp_path / "out")
    monkeypatch.setattr(executors, "RETRIES", 1)
    source.write_text('{"id": 1, "text": "fatal"}\n')
    (tmp_path / "seen").mkdir()
    with pytest.raises(
        ChildProcessError, match=r"a worker died 2 times at the same task, perhaps for want of memory; r"
    ):
        run(source, tmp_path / "out", Noise(Slow(str(tmp_path / "seen"), fatal="fatal")))
    assert len(list((tmp_path / "seen").iterdir())) == 2


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        (None, "no Ray cluster came up on this machine (The node timed out); run the same again when it is less busy"),
        ("auto", "there is no Ray cluster at auto (The node timed out); start one with `ray start --head`"),
    ],
)
def test_a_cluster_that_does_not_come_up_is_one_sentence(address, sentence, monkeypatch):
    def init(*_, **__):
        raise Exception("The node timed out. This could happen because\nit is busy.")  # noqa: TRY002 - as Ray does

    for name, value in {"init": init, "is_initialized": bool, "shutdown": bool}.items():
        monkeypatch.setattr(ray, name, value)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(ConnectionError, match=re.escape(sentence)), open_executor("ray", address=address):
        raise AssertionError


@pytest.mark.usefixtures("both")
def test_noise_over_a_dataset_of_ray():
    noise = Noise(OPERATORS["zh_homophone"], text="text", id="id", seed=2)
    found = sorted(
        noise.map_ray(ray.data.from_arrow(pa.Table.from_pylist(ROWS)).repartition(4)).take_all(),
        key=lambda row: row["n"],
    )
    wanted = noise.map(Dataset.from_list(ROWS)).to_list()
    assert [{name: row[name] for name in wanted[0]} for row in found] == wanted


@pytest.mark.usefixtures("both")
def test_the_command_on_a_running_cluster(source, tmp_path):
    words = ["perturb", "--noise", "filler_eos", "--text", "text", "--id", "id", "--executor", "ray"]
    done = CliRunner().invoke(main, [*words, str(source), str(tmp_path / "out")])
    assert done.exit_code == 0 and done.output.startswith("wrote 120 rows to "), done.output


TASK = make_task(["text"], "label", labels=["music", "other"])
ASKED = [
    {"id": str(i), "text": f"{['play jazz', 'go home', 'more jazz please'][i % 3]} {i}", "label": "music"}
    for i in range(90)
]


def answered(out, word, engine, **options):
    replicas = open_replicas(word, options, engine) if isinstance(engine, RayExecutor) else None
    model = replicas.model if replicas else open_model(word, options)
    data = add_noise(TrackSet.from_rows("mine", TASK, ASKED), ["filler_eos:2"])
    outcome = Evaluation(data, model, out, executor=replicas).execute()
    return outcome, {path.name: path.read_bytes() for path in sorted((out / "mine").rglob("*.jsonl"))}


@pytest.mark.usefixtures("both")
def test_replicas_answer_as_one_model_does(tmp_path):
    tiny_models = pytest.importorskip("tiny_models", reason="the extra `models` is not installed")
    words = tiny_models.tokenizer([row["text"] for row in ASKED])
    tiny_models.classifier(words, tmp_path / "net", ["music", "other"], [("play jazz", "music"), ("go home", "other")])
    one, wanted = answered(tmp_path / "one", f"hf:{tmp_path}/net", LOCAL)
    many, found = answered(tmp_path / "many", f"hf:{tmp_path}/net", RayExecutor(ray))
    assert found == wanted and len(found) == 3
    assert (many.requested, many.reused) == (one.requested, one.reused)
    again, kept = answered(tmp_path / "many", f"hf:{tmp_path}/net", RayExecutor(ray))
    assert again.requested == 0 and kept == found


@pytest.mark.usefixtures("both")
def test_a_lost_replica_changes_no_answer(asked, tmp_path, monkeypatch):
    monkeypatch.chdir(asked.parent)
    _, wanted = answered(tmp_path / "one", "python:seen_model:answer", LOCAL, batch_size=6)
    before = {path.name for path in asked.iterdir()}

    def kill():
        while not (new := {path.name for path in asked.iterdir()} - before):
            time.sleep(0.02)
        os.kill(int(new.pop()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    outcome, found = answered(tmp_path / "many", "python:seen_model:answer", RayExecutor(ray), batch_size=6)
    killer.join()
    assert found == wanted and outcome.requested == len({row["text"] for track in outcome.tracks for row in track.rows})


@pytest.mark.usefixtures("both")
def test_the_questions_to_an_address_have_one_budget(tmp_path):
    with serving() as server:
        outcome, _ = answered(tmp_path, server.word, RayExecutor(ray), batch_size=5)
        assert 3 <= server.most_out <= 4  # two for each of two nodes: never more than five
    assert outcome.requested == len(server.asked) and not outcome.errors
    with pytest.raises(OSError, match=r"^no answer from http.*; start the server, or check the url$"):
        answered(tmp_path / "down", server.word, RayExecutor(ray), retries=0)


@pytest.mark.usefixtures("both")
def test_synthetic_tracks_of_a_dataset_are_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(simulated, "BATCH_ROWS", 7)
    source = tmp_path / "mine.jsonl"
    texts = ("花呗怎么提前还款", "借呗额度为什么没有了", "花呗分期怎么取消")
    source.write_text("".join(f'{{"key": {n}, "text": "{texts[n % 3]}"}}\n' for n in range(40)), encoding="utf-8")
    built = []
    for name, where in (("one", LOCAL), ("many", RayExecutor(ray))):
        folder = tmp_path / name / "mine"
        build_rows(source, folder, text="text", id="key", noise=["typed=zh_homophone:2"], executor=where)
        built.append({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()})
    assert built[0] == built[1] and len(built[0]) == 5
