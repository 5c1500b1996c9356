"""A model on every track of a dataset: each question asked once, each answer kept as it comes.

Tracks are interleaved: all tracks of an example are asked together, so that what a stopped run was answered is paired.
Its answers are kept; files of predictions are written when they are whole.

>>> rows = [{"id": "a", "text": "rain today", "label": "weather"}, {"id": "b", "text": "a song", "label": "music"}]
>>> def keywords(rows):
...     return ["weather" if row["text"].endswith("today") else "music" for row in rows]
>>> tracks = run(make_task(["text"], "label"), rows, keywords, noise=["filler_eos:2"])
>>> [(track.track, [row["prediction"] for row in track.rows]) for track in tracks]
[('clean', ['weather', 'music']), ('filler_eos.1', ['music', 'music']), ('filler_eos.2', ['music', 'music'])]
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, cast

from lapsus.core.files import ensure_folders, stage_file
from lapsus.core.messages import format_list
from lapsus.core.text import to_text
from lapsus.core.track_names import MANIFEST_NAME
from lapsus.evaluation.answer_types import apply_label_map
from lapsus.evaluation.cache import Response, ResponseCache, make_request_key
from lapsus.evaluation.executors import LocalRequestExecutor, RequestExecutor
from lapsus.evaluation.models import ModelAdapter, open_model
from lapsus.evaluation.models.function import FunctionModel, find_revision
from lapsus.evaluation.tasks import Task, find_task, make_task
from lapsus.evaluation.tracks import TrackSet, add_noise, load_tracks, to_folder_name
from lapsus.io.writers import read_previous, write_prediction_files
from lapsus.core.types import Track

Row = Mapping[str, Any]
COMPARABLE_KEYS = {  # what tracks of one model must share to stand in one folder
    "model_identity": "revision of the model",
    "task": "version of the task",
    "rows_digest": "rows, right answers or labels",
    "seed": "seed of the noise",
}


@dataclass(frozen=True, slots=True)
class Request:
    """One row of one track, and the name of its answer."""

    track: str
    row: Row = field(repr=False)
    key: str


@dataclass(frozen=True, slots=True)
class RequestBatch:
    """Some examples, whole: what is known of their rows, what is not, and the questions that nobody has asked yet."""

    reused: list[tuple[Request, dict[str, Any]]]
    pending: list[Request]
    uncached: dict[str, Row] = field(repr=False)

    @property
    def requests(self) -> list[Row]:
        """The rows to ask about."""
        return list(self.uncached.values())


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run came to: its tracks, and how many rows of each origin and trouble it has."""

    tracks: list[Track]
    files: list[Path]
    requested: int
    reused: int
    unparsed: int
    errors: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What a run would ask: rows, different questions, those without an answer yet, and their tokens if known."""

    rows: int
    requests: int
    uncached: int
    tokens: int | None
    max_completion_tokens: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A model on the tracks of `data`.

    Args:
        data: The rows of each track.
        model: What answers.
        out: The folder for predictions; None keeps them in memory.
        cache: The file that keeps the answers; by default `answers.sqlite` in `out`.
        ignore_cache: Ask again, whatever the cache holds.
        executor: Who asks the model; by default this process.
        label_map: Answers that mean a label of the task; a classifier of transformers has a map of its own.
    """

    data: TrackSet
    model: ModelAdapter
    out: Path | None = None
    cache: Path | None = None
    ignore_cache: bool = False
    executor: RequestExecutor | None = None
    label_map: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        labels = self.task.answer_type.choices
        wrong = next((name for name in self.label_map.values() if labels and name not in labels), None)
        if wrong is not None:
            raise ValueError(
                f"--label-map leads to {wrong!r}, which is none of the labels {format_list(labels)}; name these"
            )

    @property
    def task(self) -> Task:
        """The task, with the labels of the data."""
        return self.data.task

    @property
    def active_executor(self) -> RequestExecutor:
        """Who asks the model."""
        return self.executor or LocalRequestExecutor(self.model)

    @property
    def folder(self) -> Path | None:
        """Where the predictions of this model on this dataset go."""
        return None if self.out is None else self.out / to_folder_name(self.data.name) / to_folder_name(self.model.name)

    def estimate(self) -> RunEstimate:
        """Count what would be asked, without asking."""
        self.model.prepare(self.task)
        requests = list(chain.from_iterable(self._interleave_requests()))
        unique_requests = {request.key: request for request in requests}
        cache_path = self._cache_path()
        with ResponseCache(cache_path if cache_path and cache_path.exists() else None) as cache:
            pending = [
                request for key, request in unique_requests.items() if self.ignore_cache or cache.get(key) is None
            ]
        tokens = self.model.count_tokens(self.task, [request.row for request in pending])
        return RunEstimate(
            len(requests), len(unique_requests), len(pending), tokens, len(pending) * self.task.answer_type.max_tokens
        )

    def execute(self, progress: Callable[[int], Any] = lambda _: None) -> RunSummary:
        """Ask what has no answer yet, and write what comes; `progress` is told of rows that are done."""
        self.model.prepare(self.task)
        groups = list(self._interleave_requests())
        requests_by_track: dict[str, dict[str, Request]] = {name: {} for name in self.data.tracks}
        for request in chain.from_iterable(groups):
            requests_by_track[request.track][str(request.row["id"])] = request
        manifest = self._make_manifest()
        self._check_folder(manifest)
        predictions: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in self.data.tracks}
        paths = (
            {}
            if self.folder is None
            else {name: self.folder / f"{to_folder_name(name)}.jsonl" for name in requests_by_track}
        )
        n_requested = n_reused = 0
        with ExitStack() as stack:
            cache_path = self._cache_path()
            stack.enter_context(ensure_folders(*filter(None, (self.folder, cache_path and cache_path.parent))))
            cache = stack.enter_context(ResponseCache(cache_path))
            previous_paths = {} if self.ignore_cache else paths
            previous_rows = {
                name: read_previous(path, partial(self._reuse_row, requests_by_track[name]))
                for name, path in previous_paths.items()
            }
            for batch, new_responses in self.active_executor.execute(
                self.task, self._plan_batches(groups, cache, previous_rows)
            ):
                for request, prediction in batch.reused:
                    predictions[request.track][str(request.row["id"])] = prediction
                responses = self._store_responses(batch, new_responses, cache)
                n_requested += len(batch.uncached)
                n_reused += len(batch.reused) + len({request.key for request in batch.pending}) - len(batch.uncached)
                for request in batch.pending:
                    predictions[request.track][str(request.row["id"])] = self._make_prediction(
                        request, responses[request.key]
                    )
                progress(len(batch.reused) + len(batch.pending))
            write_prediction_files(
                (path, [predictions[name][key] for key in requests_by_track[name]]) for name, path in paths.items()
            )
            self._write_manifest(manifest)
        tracks = [
            Track(self.model.name, name, list(rows.values()), self.data.name) for name, rows in predictions.items()
        ]
        all_rows = [row for track in tracks for row in track.rows]
        errors: dict[str, int] = {}
        for row in all_rows:
            if row.get("error"):
                errors[row["error"]] = errors.get(row["error"], 0) + 1
        n_unparsed = sum(bool(row["unparsed"]) for row in all_rows)
        return RunSummary(tracks, list(paths.values()), n_requested, n_reused, n_unparsed, errors)

    def _cache_path(self) -> Path | None:
        return self.cache or (None if self.out is None else self.out / "answers.sqlite")

    def _reuse_row(self, requests: Mapping[str, Request], row: Row) -> dict[str, Any] | None:
        """Return a row of an earlier run with its answer as it is read today; None where that was another question."""
        request = requests.get(str(row["id"]))
        if request is None or row.get("request_key") != request.key or "response" not in row:
            return None
        return self._make_prediction(request, Response(row["response"], row.get("label_logprobs"), row.get("error")))

    def _check_folder(self, manifest: Mapping[str, Any]) -> None:
        """Refuse a folder with predictions that would stand beside the new ones, but are of another kind of run."""
        if self.folder is None or not (self.folder / MANIFEST_NAME).exists():
            return
        previous = _read_manifest(self.folder / MANIFEST_NAME)
        if previous["task"].rpartition(" ")[0] != self.task.name:
            raise ValueError(
                f"{self.folder} holds the predictions of another task ({previous['task']}); give another --out"
            )
        if previous["model_identity"].partition(" at ")[0] != self.model.identity.partition(" at ")[0]:
            raise ValueError(
                f"{self.folder} holds the predictions of another model ({previous['model_identity']}); "
                "give this one a --name of its own, or another --out"
            )
        new_tracks = {to_folder_name(name) for name in self.data.tracks}
        other_tracks = sorted(path.stem for path in self.folder.glob("*.jsonl") if path.stem not in new_tracks)
        differing = [
            description
            for name, description in COMPARABLE_KEYS.items()
            if manifest[name] is not None and manifest[name] != previous.get(name)
        ]
        if other_tracks and differing:
            raise ValueError(
                f"{self.folder} also holds {format_list(other_tracks)}, from a run of other {format_list(differing)}, which a report "
                "would join with this one; run these tracks too, delete their files (the answers are kept), or give "
                "another --out"
            )

    def _make_manifest(self) -> dict[str, Any]:
        """Return what a run says about itself."""
        choices = [*self.task.answer_type.choices.items(), *({} if self._model_maps_labels else self.label_map).items()]
        return {
            "model": self.model.name,
            "model_identity": self.model.identity,
            "task": self.task.identity,
            "data_identity": self.data.identity,
            "rows_digest": self.data.hash_tracks(list(self.data.tracks)[:1], choices),
            "seed": self.data.seed,
            "lapsus": version("lapsus"),
        }

    def _write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write down what was run; the seed of tracks that an earlier run made stays where this one made none."""
        if self.folder is None:
            return
        path = self.folder / MANIFEST_NAME
        if manifest["seed"] is None and path.exists():
            manifest = {**manifest, "seed": _read_manifest(path).get("seed")}
        with stage_file(path) as file:
            file.write(json.dumps(manifest, ensure_ascii=False, indent=1).encode())

    def count_complete_examples(self, rows: int) -> int:
        """Return how many examples the first so many rows are, as they are asked."""
        ends = accumulate(map(len, self._group_by_example()))
        return sum(end <= rows for end in ends)

    def _group_by_example(self) -> Iterator[list[tuple[str, Row]]]:
        """Yield the rows of each example with their tracks."""
        by_id = {name: {str(row["id"]): row for row in rows} for name, rows in self.data.tracks.items()}
        for key in dict.fromkeys(chain.from_iterable(by_id.values())):
            yield [(name, rows[key]) for name, rows in by_id.items() if key in rows]

    def _interleave_requests(self) -> Iterator[list[Request]]:
        """Yield what is asked about each example, all tracks together."""
        for group in self._group_by_example():
            yield [self._make_request(name, row) for name, row in group]

    def _make_request(self, track: str, row: Row) -> Request:
        return Request(
            track,
            row,
            make_request_key(self.model.identity, self.task.identity, self.model.build_request(self.task, row)),
        )

    def _plan_batches(
        self,
        groups: Iterable[list[Request]],
        cache: ResponseCache,
        previous_rows: Mapping[str, Mapping[str, dict[str, Any]]],
    ) -> Iterator[RequestBatch]:
        """Yield batches; a question stands in the first one that needs it, and its answer in the cache from then on."""
        requested_keys: set[str] = set()
        for batch in _split_batches(groups, self.model.batch_size):
            reused: list[tuple[Request, dict[str, Any]]] = []
            pending: list[Request] = []
            uncached: dict[str, Row] = {}
            for request in batch:
                row = previous_rows.get(request.track, {}).get(str(request.row["id"]))
                if row is not None:
                    reused.append((request, row))
                    continue
                pending.append(request)
                if request.key not in requested_keys and (self.ignore_cache or cache.get(request.key) is None):
                    uncached[request.key] = request.row
                    requested_keys.add(request.key)
            yield RequestBatch(reused, pending, uncached)

    def _store_responses(
        self, batch: RequestBatch, responses: Iterable[tuple[int, Response]], cache: ResponseCache
    ) -> dict[str, Response]:
        """Keep the answers to a batch as they come; return those that its rows need, by key."""
        keys = list(batch.uncached)
        responses_by_key: dict[str, Response] = {}
        for place, response in responses:
            cache.put(keys[place], response)
            responses_by_key[keys[place]] = response
        missing = [key for key in keys if key not in responses_by_key]
        if missing:
            raise ValueError(f"{self.model.name} gave no answer to {len(missing)} of {len(keys)} questions; run again")
        for request in batch.pending:
            cached = None if request.key in responses_by_key else cache.get(request.key)
            if cached is not None:
                responses_by_key[request.key] = cached
        return responses_by_key

    def _make_prediction(self, request: Request, response: Response) -> dict[str, Any]:
        """Return the row of a predictions file."""
        task, row = self.task, request.row
        prediction = None if response.error else task.answer_type.parse(self._apply_label_map(response.value), row)
        texts = {"text": [to_text(row[name]) for name in task.inputs]}
        if all(f"clean_{name}" in row for name in task.inputs):
            texts["clean_text"] = [to_text(row[f"clean_{name}"]) for name in task.inputs]
        prediction_row: dict[str, Any] = {
            "id": str(row["id"]),
            "dataset": self.data.name,
            "model": self.model.name,
            "track": request.track,
            "response": response.value,
            "unparsed": prediction is None,
            **task.answer_type.score(prediction, row),
            **{name: values[0] if len(values) == 1 else values for name, values in texts.items()},
        }
        if task.cluster is not None:
            prediction_row["cluster"] = row[task.cluster]
        prediction_row |= {name: row[name] for name in ("edits", "operator") if row.get(name) is not None}
        prediction_row |= {
            name: value for name, value in (("label_logprobs", response.logprobs), ("error", response.error)) if value
        }
        return prediction_row | {"request_key": request.key}

    @property
    def _model_maps_labels(self) -> bool:
        return hasattr(self.model, "label_map")

    def _apply_label_map(self, value: Any) -> Any:
        return value if self._model_maps_labels else apply_label_map(value, self.label_map)


def _read_manifest(path: Path) -> dict[str, Any]:
    """Return what an earlier run wrote down about itself."""
    try:
        manifest = json.loads(path.read_bytes())
        return {**manifest, **{name: str(manifest[name]) for name in ("task", "model_identity")}}
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(
            f"{path} does not say which model answered which task there; delete it, or give another --out"
        ) from error


def _split_batches(groups: Iterable[list[Request]], size: int) -> Iterator[list[Request]]:
    """Yield examples, whole, until a batch has enough questions."""
    batch: list[Request] = []
    for group in groups:
        batch += group
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def run(
    task: str | Task,
    rows: Any,
    model: str | ModelAdapter | Callable[[list[dict[str, Any]]], Any],
    *,
    noise: Sequence[str] = (),
    tracks: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
    split: str | None = None,
    out: Path | str | None = None,
    fresh: bool = False,
    progress: Callable[[int], Any] = lambda _: None,
    **options: Any,
) -> list[Track]:
    """Return what a model answers on every track, as `lapsus.report` takes it.

    Args:
        task: A name of `lapsus tasks`, or a `Task`.
        rows: A dataset folder or ORG/NAME of the Hub; a list of rows or a `datasets.Dataset`; or rows by track.
        model: Such as `hf:PATH`, `http://HOST/v1#NAME`, `python:MODULE:FUNCTION`; a model; or a function of rows.
        noise: Noise to add to the clean rows, each as `OPERATOR[:ANNOTATORS][@SEVERITY]`.
        tracks: Patterns of the tracks to run, such as `keyboard.*`; the clean one is run always.
        limit: Only the first so many examples.
        seed: The seed of the noise.
        split: The split of a dataset; by default `test`, or the one that stands for it.
        out: A folder that keeps predictions and answers, so that a run that stopped goes on.
        fresh: Ask again, whatever is kept.
        progress: Is told of the rows that are done.
        options: Those of the model.
    """
    resolved_task = find_task(task) if isinstance(task, str) else task
    data = _to_track_set(resolved_task, rows, tracks if not noise else (), split)
    if noise:
        data = add_noise(data, noise, seed=seed).select(tracks)
    adapter: ModelAdapter
    if isinstance(model, str):
        adapter = open_model(model, options)
    elif hasattr(model, "respond"):
        adapter = cast("ModelAdapter", model)
    elif callable(model):
        adapter = FunctionModel(model, getattr(model, "__name__", "function"), find_revision(model))
    else:
        raise TypeError(f"model is {model!r}; give a word such as 'hf:PATH', or a function of rows")
    folder = None if out is None else Path(out)
    label_map = options.get("label_map") or {}
    return (
        Evaluation(data.limit(limit), adapter, folder, ignore_cache=fresh, label_map=label_map).execute(progress).tracks
    )


def _to_track_set(task: Task, rows: Any, patterns: Sequence[str], split: str | None) -> TrackSet:
    if isinstance(rows, TrackSet):
        return rows.select(patterns)
    if isinstance(rows, Path | str):
        return load_tracks(str(rows), task, patterns, split=split)
    if isinstance(rows, Mapping):
        parts = {name: TrackSet.from_rows(name, task, part) for name, part in rows.items()}
        first = next(iter(parts.values()))
        return TrackSet(task.name, first.task, {name: part.tracks["clean"] for name, part in parts.items()}).select(
            patterns
        )
    return TrackSet.from_rows(task.name, task, rows).select(patterns)


__all__ = ["RunEstimate", "RunSummary", "Evaluation", "make_task", "run"]
