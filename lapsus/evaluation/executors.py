"""Who asks a model its questions: this process, or replicas of the model on the nodes of a Ray cluster.

The questions come in batches, and the answers in the same order. The batches do not depend on who asks, so neither do
the answers: a model that computes on whole batches sees the same ones.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lapsus.core.executors import RETRY_HINT, Executor, Placement, RayExecutor, check_release
from lapsus.evaluation.cache import Response
from lapsus.evaluation.models import ModelAdapter, Row, open_model
from lapsus.evaluation.tasks import Task

IndexedResponse = tuple[int, Response]  # the place of a row, and its answer

REMOTE_SCHEMES = {"http", "https", "inspect"}  # kinds of models that compute on no node of ours
REMOTE_BATCH_SIZE = 8  # questions under way at once, of such a model
AHEAD = 2  # batches that a replica has been given: while it answers one, the other one is on its way


class RequestGroup(Protocol):
    """Questions that are asked together; the asker hands the batch back with their answers."""

    @property
    def requests(self) -> Sequence[Row]:
        """Return the rows to ask about."""
        ...


B = TypeVar("B", bound=RequestGroup)


class RequestExecutor(Protocol):
    """Somebody who asks a model."""

    @property
    def model(self) -> ModelAdapter:
        """The model, here: it says what is asked."""
        ...

    def execute(self, task: Task, batches: Iterable[B]) -> Iterator[tuple[B, Iterable[IndexedResponse]]]:
        """Yield each batch, in order, with the answers to it."""
        ...

    def get_usage(self) -> Mapping[str, int]:
        """Return what the answers have cost so far."""
        ...


@dataclass(frozen=True, slots=True)
class LocalRequestExecutor:
    """This process, with one model."""

    model: ModelAdapter

    def execute(self, task: Task, batches: Iterable[B]) -> Iterator[tuple[B, Iterable[IndexedResponse]]]:
        """Yield each batch with its answers, which are asked for as they are taken."""
        for batch in batches:
            yield batch, self.model.respond(task, batch.requests) if batch.requests else ()

    def get_usage(self) -> Mapping[str, int]:
        """Return what the model counts."""
        return self.model.get_usage()


class Replica:
    """A model on a node, opened when it is first asked: so that its errors are those of an answer."""

    def __init__(self, spec: str, options: Mapping[str, Any], identity: str, release: str, folder: str) -> None:
        self.spec, self.options, self.identity, self.release, self.folder = spec, options, identity, release, folder
        self.model: ModelAdapter | None = None

    def respond(self, task: Task, rows: Sequence[Row]) -> tuple[list[IndexedResponse], Counter[str], Exception | None]:
        """Return the answers, what they cost, and the error that there are no more."""
        if self.model is None:
            check_release(self.release)
            if Path(self.folder).is_dir():
                os.chdir(self.folder)  # where this machine was asked from: the word may name what is there
            model = open_model(self.spec, self.options)
            if model.identity != self.identity:
                raise ValueError(
                    f"a node has {model.identity} where this machine has {self.identity}; "
                    "give all machines the same model"
                )
            model.prepare(task)
            self.model = model
        before = Counter(self.model.get_usage())
        responses: list[IndexedResponse] = []
        failure: Exception | None = None
        try:
            responses.extend(self.model.respond(task, rows))
        except (OSError, ValueError, TypeError, LookupError, ImportError) as error:  # what came before it is kept
            failure = error
        return responses, Counter(self.model.get_usage()) - before, failure


@dataclass(slots=True)
class Assignment:
    """A batch that a replica was given, and what came of it."""

    batch: Any
    replica: Any = None
    reference: Any = None
    responses: Iterable[IndexedResponse] | None = None


@dataclass(frozen=True)
class ReplicaPool:
    """Replicas of a model on the nodes of a cluster.

    Args:
        cluster: The cluster.
        placements: Where they are.
        spec: The model, as `open_model` takes it.
        options: Its options.
        model: The same model here, which says what is asked; each replica must be what it is.
    """

    cluster: RayExecutor
    placements: Sequence[Placement]
    spec: str
    options: Mapping[str, Any]
    model: ModelAdapter
    usage_counts: Counter[str] = field(default_factory=Counter, repr=False)

    def execute(self, task: Task, batches: Iterable[B]) -> Iterator[tuple[B, Iterable[IndexedResponse]]]:
        """Yield each batch with its answers; what a lost node was asked is asked again elsewhere."""
        ray = self.cluster.ray
        remaining = iter(batches)
        replicas: list[Any] = []
        assignments: deque[Assignment] = deque()
        try:
            while True:
                for batch in islice(remaining, AHEAD * len(self.placements) - len(assignments)):
                    if not batch.requests:
                        assignments.append(Assignment(batch, responses=()))
                        continue
                    replicas = replicas or self._start_replicas()
                    assignments.append(self._assign(task, Assignment(batch), replicas, assignments))
                if not assignments:
                    return
                if assignments[0].responses is None:
                    under_way = {
                        assignment.reference: assignment for assignment in assignments if assignment.responses is None
                    }
                    (done,), _ = ray.wait(list(under_way), num_returns=1)
                    self._collect(task, under_way[done], replicas, assignments)
                    continue
                first = assignments.popleft()
                yield first.batch, first.responses or ()
        finally:
            for replica in replicas:
                ray.kill(replica)

    def get_usage(self) -> Mapping[str, int]:
        """Return what all replicas have counted."""
        return dict(self.usage_counts)

    def _assign(
        self, task: Task, assignment: Assignment, replicas: Sequence[Any], assignments: Iterable[Assignment]
    ) -> Assignment:
        """Give a batch to the replica that has the fewest."""
        busy = Counter(
            id(other.replica) for other in assignments if other.responses is None and other is not assignment
        )
        assignment.replica = min(replicas, key=lambda replica: busy[id(replica)])
        assignment.reference = assignment.replica.respond.remote(task, list(assignment.batch.requests))
        return assignment

    def _collect(
        self, task: Task, assignment: Assignment, replicas: list[Any], assignments: Iterable[Assignment]
    ) -> None:
        """Take the answers to a batch; where its replica is lost, give the batch to another one."""
        try:
            responses, usage, failure = self.cluster.get_result(assignment.reference)
        except self.cluster.ray.exceptions.RayActorError as error:
            if assignment.replica in replicas:
                replicas.remove(assignment.replica)
            if not replicas:
                raise ChildProcessError(f"every replica of {self.model.name} is lost; {RETRY_HINT}") from error
            self._assign(task, assignment, replicas, assignments)
        else:
            self.usage_counts.update(usage)
            assignment.responses = _yield_then_raise(responses, failure)

    def _start_replicas(self) -> list[Any]:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

        actor_class = self.cluster.ray.remote(Replica)
        arguments = (self.spec, dict(self.options), self.model.identity, version("lapsus"), str(Path.cwd()))
        return [
            actor_class.options(
                num_cpus=placement.cpus, num_gpus=placement.gpus, scheduling_strategy=On(placement.node, soft=False)
            ).remote(*arguments)
            for placement in self.placements
        ]


def _yield_then_raise(responses: Iterable[IndexedResponse], failure: Exception | None) -> Iterator[IndexedResponse]:
    """Yield the answers that came, then raise the error that ended them."""
    yield from responses
    if failure is not None:
        raise failure


def open_request_executor(spec: str, options: Mapping[str, Any], executor: Executor) -> RequestExecutor:
    """Return who asks the model that a word such as `hf:PATH` names.

    On a cluster it has a replica for each GPU where there are any, else for each node. A model behind an address takes
    one CPU of a node, and all its replicas together ask no more than `batch` questions at once.
    """
    if not isinstance(executor, RayExecutor):
        return LocalRequestExecutor(open_model(spec, options))
    placements = executor.placements()
    if not placements:
        raise ValueError("no node of the cluster has a CPU; start one with `ray start --address`")
    if spec.partition(":")[0] in REMOTE_SCHEMES:
        batch_size = int(options.get("batch") or REMOTE_BATCH_SIZE)
        nodes = list({placement.node: replace(placement, cpus=1, gpus=0) for placement in placements}.values())[
            :batch_size
        ]
        shared_options = {**options, "batch": batch_size // len(nodes)}
        return ReplicaPool(executor, nodes, spec, shared_options, open_model(spec, shared_options))
    gpus = any(placement.gpus for placement in placements)
    common_options = {**options, "dtype": options.get("dtype") or ("bfloat16" if gpus else "float32")}
    replica_options = {**common_options, "device": options.get("device") or ("cuda" if gpus else "cpu")}
    return ReplicaPool(
        executor, placements, spec, replica_options, open_model(spec, {**common_options, "device": "cpu"})
    )
