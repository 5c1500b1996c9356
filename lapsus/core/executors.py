"""Where work is done: in this process, or on the machines of a Ray cluster.

An executor maps a function over items. The result depends on the item alone, so the executor changes the time and
nothing else. The function and its items are pickled, so every machine needs the modules that they name.

>>> with open_executor("local") as executor:
...     list(executor.map(abs, [-1, 2]))
[(-1, 1), (2, 2)]
"""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from lapsus.core.imports import import_optional
from lapsus.core.terminal import defer_interrupts

if TYPE_CHECKING:
    from types import ModuleType

T = TypeVar("T")
R = TypeVar("R")
ExecutorName: TypeAlias = Literal["local", "ray"]

RETRIES = 5  # of a task whose worker or node died, since a task may kill every worker
OBJECT_STORE = 128 * 1024**2  # bytes of a cluster that is started here: what tasks exchange is small
CONNECT_TIMEOUT = 20  # seconds to reach a cluster
RETRY_HINT = "run the same again to go on"


class Executor(Protocol):
    """Maps functions over items."""

    def map(self, work: Callable[[T], R], items: Iterable[T], *, ordered: bool = False) -> Iterator[tuple[T, R]]:
        """Yield each item with its result, in order or as results come; take few items ahead."""
        ...


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """This process."""

    def map(self, work: Callable[[T], R], items: Iterable[T], *, ordered: bool = False) -> Iterator[tuple[T, R]]:
        """Yield each item with its result, in order."""
        for item in items:
            yield item, work(item)


@dataclass(frozen=True, slots=True)
class Placement:
    """The node of a long-lived worker, and its share of the node's resources."""

    node: str
    cpus: int
    gpus: int


@dataclass(frozen=True, slots=True)
class RayExecutor:
    """A Ray cluster that this process is connected to: each item is a plain task that takes one CPU."""

    ray: ModuleType

    def map(self, work: Callable[[T], R], items: Iterable[T], *, ordered: bool = False) -> Iterator[tuple[T, R]]:
        """Yield each item with its result; a task whose worker or node died runs again on another.

        After an error, or when the caller stops early, running tasks end by themselves: Ray 2.60 aborts a process that
        cancels a task at the moment it ends ("Tried to complete task that was not pending").
        """
        task = self.ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(_run_checked)
        payload = self.ray.put((work, version("lapsus")))
        waiting = iter(items)
        running: deque[tuple[Any, T]] = deque()
        while True:
            for item in islice(waiting, max(0, 2 * self.cpus() - len(running))):
                running.append((task.remote(payload, item), item))
            if not running:
                return
            if ordered:
                index = 0
            else:
                (done,), _ = self.ray.wait([reference for reference, _ in running], num_returns=1)
                index = next(index for index, (reference, _) in enumerate(running) if reference == done)
            done, item = running[index]
            result = self.get_result(done)
            del running[index]
            yield item, result

    def cpus(self) -> int:
        """Return how many tasks the cluster runs at once now; nodes may come and go."""
        return max(1, int(self.ray.cluster_resources().get("CPU", 0)))

    def placements(self) -> list[Placement]:
        """Return a placement for each GPU of the cluster; without GPUs, for each node with CPUs."""
        nodes = [(node["NodeID"], node["Resources"]) for node in self.ray.nodes() if node["Alive"]]
        capacities = [(node, int(resources.get("CPU", 0)), int(resources.get("GPU", 0))) for node, resources in nodes]
        placements = [Placement(node, max(1, cpus // gpus), 1) for node, cpus, gpus in capacities for _ in range(gpus)]
        return sorted(
            placements or [Placement(node, cpus, 0) for node, cpus, _ in capacities if cpus],
            key=lambda placement: placement.node,
        )

    def get_result(self, reference: Any) -> Any:
        """Return the result of a task; raise its error as if it had been raised here."""
        errors = self.ray.exceptions
        try:
            return self.ray.get(reference)
        except errors.RayTaskError as error:
            raise error.cause from error
        except errors.OutOfMemoryError as error:
            raise MemoryError(
                f"a worker had too little memory; give nodes more memory, or fewer CPUs, and {RETRY_HINT}"
            ) from error
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError) as error:
            raise ChildProcessError(
                f"a worker died {RETRIES + 1} times at the same task, perhaps for want of memory; {RETRY_HINT}"
            ) from error


def _run_checked(payload: tuple[Callable[[T], R], str], item: T) -> R:
    """Do the work, if this machine has the release of lapsus that sent it."""
    work, release = payload
    check_release(release)
    return work(item)


def check_release(expected: str) -> None:
    """Raise unless this machine has the release of lapsus that sent the work."""
    if version("lapsus") != expected:
        raise ImportError(
            f"a node has lapsus {version('lapsus')}, and the machine that sent the work has {expected}: "
            "their noise may differ; install the same release on all"
        )


@contextmanager
def open_executor(
    name: ExecutorName = "local", *, address: str | None = None, cpus: int | None = None
) -> Iterator[Executor]:
    """Yield an executor; the connection to Ray ends with the block.

    Args:
        name: `local` is this process, `ray` a cluster.
        address: The address of a running cluster, such as `auto` or `10.0.0.1:6379`. Without one, and without
            RAY_ADDRESS, a cluster on this machine starts, and ends with the block.
        cpus: The number of CPUs of a cluster that starts here; by default all that this process may use.
    """
    if name == "local":
        yield LocalExecutor()
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send no statistics
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # nodes have lapsus already
    ray = import_optional("ray", "ray", "the executor ray")
    if ray.is_initialized():  # the caller's own connection
        yield RayExecutor(ray)
        return
    cluster_address = address or os.environ.get("RAY_ADDRESS")
    init_options: dict[str, Any] = (
        {}
        if cluster_address
        else {
            "num_cpus": cpus or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cpus,
            "object_store_memory": OBJECT_STORE,
            "include_dashboard": False,
        }
    )
    try:
        try:
            _check_reachable(cluster_address)
            with defer_interrupts():
                ray.init(cluster_address or "local", log_to_driver=False, logging_level=logging.ERROR, **init_options)
        except Exception as error:  # Ray raises bare ones
            reason = " ".join(str(error).partition(". ")[0].split())
            raise ConnectionError(
                f"there is no Ray cluster at {cluster_address} ({reason}); start one with `ray start --head`, "
                "or leave --ray-address out"
                if cluster_address
                else f"no Ray cluster came up on this machine ({reason}); run the same again when it is less busy, "
                "or leave --executor ray out"
            ) from error
        yield RayExecutor(ray)
    finally:
        with defer_interrupts():
            ray.shutdown()


def _check_reachable(address: str | None) -> None:
    """Raise where nothing listens at HOST:PORT; Ray itself would try for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_TIMEOUT):
            pass


LOCAL = LocalExecutor()
