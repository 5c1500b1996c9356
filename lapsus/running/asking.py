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

from lapsus.kernel.engines import AGAIN, Engine, OnRay, Place, check_release
from lapsus.running.answers import Answer
from lapsus.running.models import Model, Row, open_model
from lapsus.running.tasks import Task

Given = tuple[int, Answer]  # the place of a row, and its answer

ELSEWHERE = {"http", "https", "inspect"}  # kinds of models that compute on no node of ours
TOGETHER = 8  # questions under way at once, of such a model
AHEAD = 2  # batches that a replica has been given: while it answers one, the other one is on its way


class Batch(Protocol):
    """Questions that are asked together; the asker hands the batch back with their answers."""

    @property
    def questions(self) -> Sequence[Row]:
        """Return the rows to ask about."""
        ...


B = TypeVar("B", bound=Batch)


class Asker(Protocol):
    """Somebody who asks a model."""

    @property
    def model(self) -> Model:
        """The model, here: it says what is asked."""
        ...

    def answers(self, task: Task, batches: Iterable[B]) -> Iterator[tuple[B, Iterable[Given]]]:
        """Yield each batch, in order, with the answers to it."""
        ...

    def usage(self) -> Mapping[str, int]:
        """Return what the answers have cost so far."""
        ...


@dataclass(frozen=True, slots=True)
class Alone:
    """This process, with one model."""

    model: Model

    def answers(self, task: Task, batches: Iterable[B]) -> Iterator[tuple[B, Iterable[Given]]]:
        """Yield each batch with its answers, which are asked for as they are taken."""
        for batch in batches:
            yield batch, self.model.answers(task, batch.questions) if batch.questions else ()

    def usage(self) -> Mapping[str, int]:
        """Return what the model counts."""
        return self.model.usage()


class Replica:
    """A model on a node, opened when it is first asked: so that its errors are those of an answer."""

    def __init__(self, word: str, options: Mapping[str, Any], identity: str, release: str, folder: str) -> None:
        self.word, self.options, self.identity, self.release, self.folder = word, options, identity, release, folder
        self.model: Model | None = None

    def answers(self, task: Task, rows: Sequence[Row]) -> tuple[list[Given], Counter[str], Exception | None]:
        """Return the answers, what they cost, and the error that there are no more."""
        if self.model is None:
            check_release(self.release)
            if Path(self.folder).is_dir():
                os.chdir(self.folder)  # where this machine was asked from: the word may name what is there
            model = open_model(self.word, self.options)
            if model.identity != self.identity:
                raise ValueError(
                    f"a node has {model.identity} where this machine has {self.identity}; "
                    "give all machines the same model"
                )
            model.prepare(task)
            self.model = model
        before = Counter(self.model.usage())
        found: list[Given] = []
        failed: Exception | None = None
        try:
            found.extend(self.model.answers(task, rows))
        except (OSError, ValueError, TypeError, LookupError, ImportError) as error:  # what came before it is kept
            failed = error
        return found, Counter(self.model.usage()) - before, failed


@dataclass(slots=True)
class Handed:
    """A batch that a replica was given, and what came of it."""

    batch: Any
    replica: Any = None
    reference: Any = None
    answers: Iterable[Given] | None = None


@dataclass(frozen=True)
class Replicas:
    """Replicas of a model on the nodes of a cluster.

    Args:
        engine: The cluster.
        places: Where they are.
        word: The model, as `open_model` takes it.
        options: Its options.
        model: The same model here, which says what is asked; each replica must be what it is.
    """

    engine: OnRay
    places: Sequence[Place]
    word: str
    options: Mapping[str, Any]
    model: Model
    counted: Counter[str] = field(default_factory=Counter, repr=False)

    def answers(self, task: Task, batches: Iterable[B]) -> Iterator[tuple[B, Iterable[Given]]]:
        """Yield each batch with its answers; what a lost node was asked is asked again elsewhere."""
        ray = self.engine.ray
        waiting = iter(batches)
        replicas: list[Any] = []
        handed: deque[Handed] = deque()
        try:
            while True:
                for batch in islice(waiting, AHEAD * len(self.places) - len(handed)):
                    if not batch.questions:
                        handed.append(Handed(batch, answers=()))
                        continue
                    replicas = replicas or self._started()
                    handed.append(self._hand(task, Handed(batch), replicas, handed))
                if not handed:
                    return
                if handed[0].answers is None:
                    under_way = {one.reference: one for one in handed if one.answers is None}
                    (done,), _ = ray.wait(list(under_way), num_returns=1)
                    self._take(task, under_way[done], replicas, handed)
                    continue
                first = handed.popleft()
                yield first.batch, first.answers or ()
        finally:
            for replica in replicas:
                ray.kill(replica)

    def usage(self) -> Mapping[str, int]:
        """Return what all replicas have counted."""
        return dict(self.counted)

    def _hand(self, task: Task, one: Handed, replicas: Sequence[Any], handed: Iterable[Handed]) -> Handed:
        """Give a batch to the replica that has the fewest."""
        busy = Counter(id(other.replica) for other in handed if other.answers is None and other is not one)
        one.replica = min(replicas, key=lambda replica: busy[id(replica)])
        one.reference = one.replica.answers.remote(task, list(one.batch.questions))
        return one

    def _take(self, task: Task, one: Handed, replicas: list[Any], handed: Iterable[Handed]) -> None:
        """Take the answers to a batch; where its replica is lost, give the batch to another one."""
        try:
            found, used, failed = self.engine.result(one.reference)
        except self.engine.ray.exceptions.RayActorError as error:
            if one.replica in replicas:
                replicas.remove(one.replica)
            if not replicas:
                raise ChildProcessError(f"every replica of {self.model.name} is lost; {AGAIN}") from error
            self._hand(task, one, replicas, handed)
        else:
            self.counted.update(used)
            one.answers = _until(found, failed)

    def _started(self) -> list[Any]:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

        kind = self.engine.ray.remote(Replica)
        given = (self.word, dict(self.options), self.model.identity, version("lapsus"), str(Path.cwd()))
        return [
            kind.options(
                num_cpus=place.cpus, num_gpus=place.gpus, scheduling_strategy=On(place.node, soft=False)
            ).remote(*given)
            for place in self.places
        ]


def _until(found: Iterable[Given], failed: Exception | None) -> Iterator[Given]:
    """Yield the answers that came, then raise the error that ended them."""
    yield from found
    if failed is not None:
        raise failed


def open_asker(word: str, options: Mapping[str, Any], engine: Engine) -> Asker:
    """Return who asks the model that a word such as `hf:PATH` names.

    On a cluster it has a replica for each GPU where there are any, else for each node. A model behind an address takes
    one CPU of a node, and all its replicas together ask no more than `batch` questions at once.
    """
    if not isinstance(engine, OnRay):
        return Alone(open_model(word, options))
    places = engine.places()
    if not places:
        raise ValueError("no node of the cluster has a CPU; start one with `ray start --address`")
    if word.partition(":")[0] in ELSEWHERE:
        together = int(options.get("batch") or TOGETHER)
        nodes = list({place.node: replace(place, cpus=1, gpus=0) for place in places}.values())[:together]
        shared = {**options, "batch": together // len(nodes)}
        return Replicas(engine, nodes, word, shared, open_model(word, shared))
    gpus = any(place.gpus for place in places)
    same = {**options, "dtype": options.get("dtype") or ("bfloat16" if gpus else "float32")}
    theirs = {**same, "device": options.get("device") or ("cuda" if gpus else "cpu")}
    return Replicas(engine, places, word, theirs, open_model(word, {**same, "device": "cpu"}))
