"""Send requests to replicas of a model on the nodes of a Ray cluster.

Batches come back in their order. They are the same as in a run without a cluster, so the responses are too, also of a
model that computes on whole batches.
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

from lapsus.core.executors import RETRY_HINT, Placement, RayExecutor, check_release
from lapsus.core.types import Request, Response
from lapsus.evaluation.models import ModelAdapter, find_provider, open_model
from lapsus.evaluation.tasks import Task

IndexedResponse = tuple[int, Response]  # the index of a request, and its response

REMOTE_SCHEMES = {"http", "https", "inspect"}  # models that compute on no node of the cluster
REMOTE_BATCH_SIZE = 8  # requests in flight, of such a model
AHEAD = 2  # batches per replica: while it computes one, the next is on its way


class RequestGroup(Protocol):
    """Requests that are sent together; the executor hands the batch back with their responses."""

    @property
    def requests(self) -> Sequence[Request]:
        """The requests to send."""
        ...


B = TypeVar("B", bound=RequestGroup)


class RequestExecutor(Protocol):
    """What sends requests to a model."""

    @property
    def model(self) -> ModelAdapter:
        """The model in this process: it builds the prompts."""
        ...

    def execute(self, task: Task, batches: Iterable[B]) -> Iterator[tuple[B, Iterable[IndexedResponse]]]:
        """Yield each batch, in order, with its responses."""
        ...

    def get_usage(self) -> Mapping[str, int]:
        """Return what the responses have cost so far."""
        ...


class Replica:
    """A model on a node, opened at its first batch, so that its errors are raised there."""

    def __init__(self, spec: str, options: Mapping[str, Any], identity: str, release: str, folder: str) -> None:
        self.spec, self.options, self.identity, self.release, self.folder = spec, options, identity, release, folder
        self.model: ModelAdapter | None = None

    def respond(
        self, task: Task, requests: Sequence[Request]
    ) -> tuple[list[IndexedResponse], Counter[str], Exception | None]:
        """Return the responses, what they cost, and the error after which there are no more."""
        if self.model is None:
            check_release(self.release)
            if Path(self.folder).is_dir():
                os.chdir(self.folder)  # the spec may name a file of the folder that the run was started in
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
            responses.extend(self.model.respond(task, requests))
        except (OSError, ValueError, TypeError, LookupError, ImportError) as error:  # the responses before it are kept
            failure = error
        return responses, Counter(self.model.get_usage()) - before, failure


@dataclass(slots=True)
class Assignment:
    """A batch, the replica that computes it, and its responses."""

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
        model: The same model in this process, which builds the prompts; each replica must have its identity.
    """

    cluster: RayExecutor
    placements: Sequence[Placement]
    spec: str
    options: Mapping[str, Any]
    model: ModelAdapter
    usage_counts: Counter[str] = field(default_factory=Counter, repr=False)

    def execute(self, task: Task, batches: Iterable[B]) -> Iterator[tuple[B, Iterable[IndexedResponse]]]:
        """Yield each batch with its responses; the requests of a lost node are sent to another one."""
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
        """Take the responses of a batch; where its replica is lost, give the batch to another one."""
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
    """Yield the responses that came, then raise the error that ended them."""
    yield from responses
    if failure is not None:
        raise failure


def open_replicas(spec: str, options: Mapping[str, Any], cluster: RayExecutor) -> ReplicaPool:
    """Return replicas of the model that a spec such as `hf:PATH` names, on the nodes of a cluster.

    There is one for each GPU where there are any, else one for each node. A model behind an address takes one CPU of a
    node, and all its replicas together have no more than `batch_size` requests in flight.
    """
    placements = cluster.placements()
    if not placements:
        raise ValueError("no node of the cluster has a CPU; start one with `ray start --address`")
    provider = find_provider(spec)
    if "tensor_parallel" in provider.options or options.get("device_map"):
        raise ValueError(
            f"{spec} spreads itself over GPUs, so no cluster can place it; leave out --executor ray, or --device-map"
        )
    if provider.name in REMOTE_SCHEMES:
        batch_size = int(options.get("batch_size") or REMOTE_BATCH_SIZE)
        nodes = list({placement.node: replace(placement, cpus=1, gpus=0) for placement in placements}.values())[
            :batch_size
        ]
        shared_options = {**options, "batch_size": batch_size // len(nodes)}
        return ReplicaPool(cluster, nodes, spec, shared_options, open_model(spec, shared_options))
    if "device" not in provider.options:
        return ReplicaPool(cluster, placements, spec, options, open_model(spec, options))
    gpus = any(placement.gpus for placement in placements)
    common_options = {**options, "dtype": options.get("dtype") or ("bfloat16" if gpus else "float32")}
    replica_options = {**common_options, "device": options.get("device") or ("cuda" if gpus else "cpu")}
    model = open_model(spec, {**common_options, "device": "cpu"})
    return ReplicaPool(cluster, placements, spec, replica_options, model)
