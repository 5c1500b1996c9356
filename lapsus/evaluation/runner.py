"""Run a model on every track of a dataset: each distinct request is sent once, each response is cached as it comes.

Tracks are interleaved: all tracks of an example are in one batch, so that an interrupted run has whole examples.
Prediction files are written when they are complete.

>>> rows = [{"id": "a", "text": "rain today", "label": "weather"}, {"id": "b", "text": "a song", "label": "music"}]
>>> def keywords(rows):
...     return ["weather" if row["text"].endswith("today") else "music" for row in rows]
>>> tracks = run(make_task(["text"], "label"), rows, keywords, noise=["filler_eos:2"])
>>> [(track.track, [row["prediction"] for row in track.rows]) for track in tracks]
[('clean', ['weather', 'music']), ('filler_eos.1', ['music', 'music']), ('filler_eos.2', ['music', 'music'])]
"""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lapsus.core.conversations import is_messages, list_user_texts, to_chat
from lapsus.core.files import ensure_folders, stage_file
from lapsus.core.messages import format_list
from lapsus.core.text import to_text
from lapsus.core.track_names import CLEAN, MANIFEST_NAME, READER_COLUMN
from lapsus.core.types import Example, Prediction, Request, Response, Row, StrPath, Track
from lapsus.evaluation.answer_types import apply_label_map
from lapsus.evaluation.benchmark_tasks import find_task
from lapsus.evaluation.cache import ResponseCache
from lapsus.evaluation.chat_settings import check_chat, describe_chat, set_chat
from lapsus.evaluation.models import ModelAdapter, make_request
from lapsus.evaluation.models.function import to_adapter
from lapsus.evaluation.outcomes import (
    DEFAULT_MAX_FAILURES,
    RunOutcomes,
    TooManyFailuresError,
    TruncatedAnswersError,
    collect_changes,
    describe_changes,
    explain_end,
    is_incomplete,
)
from lapsus.evaluation.repeats import describe_repeats, repeat_clean
from lapsus.evaluation.rewording import open_rewriter
from lapsus.evaluation.run_folder import (
    OLD_SPELLING,
    check_run_folder,
    name_files,
    read_manifest,
    read_previous,
    to_folder_name,
    write_prediction_files,
)
from lapsus.evaluation.scorers import Scorer, ScorerOptions, open_scorers
from lapsus.evaluation.scoring import add_columns, copy_scores, score_tracks
from lapsus.evaluation.tasks import LABEL_PROMPT, Task, make_task
from lapsus.evaluation.tracks import TrackSet, add_noise, load_tracks
from lapsus.io.tables import is_saved_dataset
from lapsus.perturbations.conversations import Turns
from lapsus.perturbations.protection import find_words, list_values

if TYPE_CHECKING:
    from lapsus.evaluation.executors import IndexedResponse, RequestExecutor

CACHE_NAME = "answers.sqlite"  # in the folder of predictions


@dataclass(frozen=True, slots=True)
class RequestBatch:
    """Whole examples: how many rows an earlier run has, the requests of the others, and those of them to send."""

    n_done: int
    pending: list[Request]
    uncached: dict[str, Request] = field(repr=False)

    @property
    def requests(self) -> list[Request]:
        """The requests to send."""
        return list(self.uncached.values())


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The outcome of a run: its tracks and files, and the numbers of requests, of unparsed rows, and of each error.

    `failed` is the number of rows without a response whose requests the next run sends again. `notes` are what limits
    the scores.
    """

    tracks: list[Track]
    files: list[Path]
    requested: int
    reused: int
    unparsed: int
    errors: Mapping[str, int]
    failed: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What a run would send: rows, distinct requests, those not cached, and their tokens where these are known."""

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
        model: The model.
        out: The folder for predictions; None keeps them in memory.
        cache: The file of cached responses; by default `answers.sqlite` in `out`.
        ignore_cache: Whether every request is sent, even where a response is cached.
        executor: What sends the requests; None is this process.
        scorers: What scores the answers when all are there; by default the answer type of the task does.
        label_map: Responses that mean a label of the task; a classifier of transformers has a map of its own.
        max_failures: The share of failures among the last 20 requests at which the run still goes on.
    """

    data: TrackSet
    model: ModelAdapter
    out: StrPath | None = None
    cache: StrPath | None = None
    ignore_cache: bool = False
    executor: RequestExecutor | None = None
    label_map: Mapping[str, str] = field(default_factory=dict)
    max_failures: float = DEFAULT_MAX_FAILURES
    scorers: tuple[Scorer, ...] = ()

    def __post_init__(self) -> None:
        labels = self.task.answer_type.choices
        wrong = next((name for name in self.label_map.values() if labels and name not in labels), None)
        if wrong is not None:
            raise ValueError(f"--label-map names {wrong!r}, which is no label; use one of: {format_list(labels)}")

    @property
    def task(self) -> Task:
        """The task, with the labels of the data."""
        return self.data.task

    @property
    def folder(self) -> Path | None:
        """The folder for the predictions of this model on this dataset."""
        folders = to_folder_name(self.data.name), to_folder_name(self.model.name)
        return None if self.out is None else Path(self.out, *folders)

    def get_usage(self) -> Mapping[str, int]:
        """Return what the responses have cost, as the model counts it."""
        return self.model.get_usage() if self.executor is None else self.executor.get_usage()

    def _prepare(self) -> None:
        self.model.prepare(self.task)
        check_chat(self.model, self.task, next(iter(self.data.tracks.values()), []))

    def estimate(self) -> RunEstimate:
        """Count what would be sent, and send nothing."""
        self._prepare()
        groups = _group_by_id(self._index_examples())
        requests = [make_request(self.model, self.task, example) for example in chain.from_iterable(groups)]
        unique_requests = {request.key: request for request in requests}
        cache_path = self.cache_path
        with ResponseCache(cache_path if cache_path and cache_path.exists() else None) as cache:
            pending = [
                request for key, request in unique_requests.items() if self.ignore_cache or cache.get(key) is None
            ]
        tokens = self.model.count_tokens(self.task, pending)
        return RunEstimate(
            len(requests), len(unique_requests), len(pending), tokens, len(pending) * self.task.answer_type.max_tokens
        )

    def execute(self, progress: Callable[[int], Any] = lambda _: None) -> RunSummary:
        """Send the requests without a cached response, and write all predictions; `progress` gets numbers of rows."""
        paths = {} if self.folder is None else name_files(self.folder, self.data.tracks)
        self._prepare()
        manifest = self._make_manifest()
        if self.folder is not None:
            check_run_folder(self.folder, manifest, self.data.tracks)
        examples = self._index_examples()
        folder, cache_path = self.folder, self.cache_path
        n_requested = n_reused = 0
        with ExitStack() as stack:
            stack.enter_context(ensure_folders(*filter(None, (folder, cache_path and cache_path.parent))))
            cache = stack.enter_context(ResponseCache(cache_path))
            rows: dict[str, dict[str, dict[str, Any]]] = {track: {} for track in examples}
            for track, path in {} if self.ignore_cache else paths.items():
                rows[track] = read_previous(path, partial(self._reuse_row, examples[track]))
            outcomes = RunOutcomes(self.max_failures)
            stack.enter_context(explain_end(outcomes, cache_path))
            for batch, new_responses in self._respond(self._plan_batches(examples, rows, cache)):
                responses = self._store_responses(batch, new_responses, cache, outcomes)
                n_requested += len(batch.uncached)
                n_reused += batch.n_done + len({request.key for request in batch.pending}) - len(batch.uncached)
                for request in batch.pending:
                    prediction = self._make_prediction(request, responses[request.key])
                    rows[request.example.track][request.example.id] = self._make_row(prediction)
                progress(batch.n_done + len(batch.pending))
            outcomes.check_any_answer()
            order = list(dict.fromkeys(chain.from_iterable(examples.values())))
            tracks = [
                Track(self.model.name, track, [part[key] for key in order if key in part], self.data.name)
                for track, part in rows.items()
            ]
            repeats = [track for track in tracks if track.track.partition(".")[0] in CLEAN]
            notes = [*filter(None, [describe_repeats(repeats, self.model) if len(repeats) > 1 else None])]
            changes = collect_changes(row for track in tracks for row in track.rows)
            if self.folder is not None:
                check_run_folder(self.folder, manifest | {"request_changes": changes}, self.data.tracks)
            if changes:
                manifest |= {"request_changes": changes}
                notes.append(describe_changes(self.model.name, changes))
            tracks = self._score_tracks(tracks, examples, notes.append) if self.scorers else tracks
            write_prediction_files((paths[track.track], track.rows) for track in tracks if paths)
            self._write_manifest(manifest)
        all_rows = [row for track in tracks for row in track.rows]
        errors = Counter(row["error"] for row in all_rows if row.get("error"))
        n_unparsed = sum(bool(row["unparsed"]) for row in all_rows)
        n_failed = sum(row["request_key"] in outcomes.failed for row in all_rows)
        return RunSummary(
            tracks, list(paths.values()), n_requested, n_reused, n_unparsed, errors, n_failed, tuple(notes)
        )

    def _score_tracks(
        self, tracks: Sequence[Track], examples: Mapping[str, Mapping[str, Example]], warn: Callable[[str], object]
    ) -> list[Track]:
        """Return the tracks with the scores of the scorers, which see the columns of the data too."""
        with_data = [
            replace(track, rows=[add_columns(row, examples[track.track][row["id"]].columns) for row in track.rows])
            for track in tracks
        ]
        scored = score_tracks(with_data, self.scorers, warn=warn)
        return [
            replace(track, rows=[copy_scores(row, other) for row, other in zip(track.rows, new.rows, strict=True)])
            for track, new in zip(tracks, scored, strict=True)
        ]

    def count_complete_examples(self, rows: int) -> int:
        """Return how many whole examples the first `rows` rows are, in the order of the requests."""
        ends = accumulate(map(len, _group_by_id(self._index_examples())))
        return sum(end <= rows for end in ends)

    def _index_examples(self) -> dict[str, dict[str, Example]]:
        """Return the examples of each track by id."""
        return {
            track: {str(row["id"]): Example(str(row["id"]), track, row) for row in rows}
            for track, rows in self.data.tracks.items()
        }

    def _plan_batches(
        self,
        examples: Mapping[str, Mapping[str, Example]],
        done: Mapping[str, Mapping[str, Any]],
        cache: ResponseCache,
    ) -> Iterator[RequestBatch]:
        """Yield batches; equal requests are sent with the first batch that needs them, and cached from then on.

        `done` are the rows by track and id for which an earlier run has the prediction. Requests that another run on
        the same cache is sending are waited for; an executor has many batches at once, and waits for none.
        """
        requested_keys: set[str] = set()
        for batch_examples in _split_batches(_group_by_id(examples), self.model.batch_size):
            new = [example for example in batch_examples if example.id not in done[example.track]]
            pending = [make_request(self.model, self.task, example) for example in new]
            unsent = {request.key: request for request in pending if request.key not in requested_keys}
            if not self.ignore_cache:
                unsent = _find_uncached(unsent, cache)
                if self.executor is None:
                    cache.lease(unsent)
                    unsent = _find_uncached(unsent, cache)  # another run may have sent some of them
            requested_keys.update(unsent)
            yield RequestBatch(len(batch_examples) - len(new), pending, unsent)
            cache.release()

    def _respond(self, batches: Iterable[RequestBatch]) -> Iterator[tuple[RequestBatch, Iterable[IndexedResponse]]]:
        """Yield each batch with its responses, from this process or from the executor."""
        if self.executor is not None:
            yield from self.executor.execute(self.task, batches)
            return
        for batch in batches:
            yield batch, self.model.respond(self.task, batch.requests) if batch.uncached else ()

    def _store_responses(
        self, batch: RequestBatch, responses: Iterable[IndexedResponse], cache: ResponseCache, outcomes: RunOutcomes
    ) -> dict[str, Response]:
        """Cache the responses of a batch as they come; return those that its rows need, by key."""
        keys = list(batch.uncached)
        responses_by_key: dict[str, Response] = {}

        def store(index: int, response: Response) -> None:
            if response.cacheable:
                cache.put(keys[index], response)
            responses_by_key[keys[index]] = response

        iterator = iter(responses)
        try:
            for index, response in iterator:
                store(index, response)
                row = batch.uncached[keys[index]].example.columns
                outcomes.add(keys[index], response, was_cut=is_incomplete(self.task, response, row))
        except (TooManyFailuresError, TruncatedAnswersError, KeyboardInterrupt) as error:
            if isinstance(iterator, Generator):
                _store_rest(iterator, error, store)
            raise
        _check_complete(self.model.name, keys, responses_by_key)
        for request in batch.pending:
            if request.key in responses_by_key:
                continue
            cached = outcomes.failed.get(request.key) or cache.get(request.key)
            if cached is not None:
                responses_by_key[request.key] = cached
        return responses_by_key

    def _make_prediction(self, request: Request, response: Response) -> Prediction:
        """Parse and score a response."""
        row, answer_type = request.example.columns, self.task.answer_type
        raw = response.value if self._model_maps_labels else apply_label_map(response.value, self.label_map)
        value = None if response.error else answer_type.parse(raw, row)
        return Prediction(request, response, value, answer_type.score(value, row))

    def _make_row(self, prediction: Prediction) -> dict[str, Any]:
        """Return the row of a predictions file."""
        example, response = prediction.request.example, prediction.response
        columns, inputs = example.columns, self.task.inputs
        texts = {"text": _list_texts(columns, inputs)}
        if all(f"clean_{name}" in columns for name in inputs):
            texts["clean_text"] = _list_texts(columns, [f"clean_{name}" for name in inputs])
        row: dict[str, Any] = {
            "id": example.id,
            "dataset": self.data.name,
            "model": self.model.name,
            "track": example.track,
            "response": response.value,
            "unparsed": prediction.value is None,
            **prediction.scores,
            **{name: values[0] if len(values) == 1 else values for name, values in texts.items()},
        }
        row |= self._find_value_hits(columns, **texts)
        conversations = [columns[name] for name in inputs if is_messages(columns[name])]
        if len(conversations) == 1 and "clean_text" not in texts:  # noise leaves all but the user's turns as they are
            row["messages"] = to_chat(conversations[0])
        if self.task.cluster is not None:
            row["cluster"] = columns[self.task.cluster]
        row |= {name: columns[name] for name in ("edits", "operator", READER_COLUMN) if columns.get(name) is not None}
        details = {
            "label_logprobs": response.logprobs,
            "error": response.error,
            "finish_reason": response.finish_reason,
            "reasoning": response.reasoning,
            "request_changes": list(response.request_changes),
        }
        row |= {name: value for name, value in details.items() if value}
        return row | {"request_key": prediction.request.key}

    def _find_value_hits(
        self, columns: Row, text: Sequence[str], clean_text: Sequence[str] | None = None
    ) -> dict[str, bool]:
        """Return whether noise destroyed a gold value that stands in the clean text; nothing where none stands there.

        The names of labels are no values.
        """
        if clean_text is None or self.task.answer_type.choices:
            return {}
        golds = [columns.get(name) for name in self.task.answer_type.gold_columns]
        clean, noisy = ("\n".join(texts) for texts in (clean_text, text))
        folded = clean.casefold()
        texts = [gold.strip().casefold() for gold in golds if isinstance(gold, str) and gold[:1] not in "[{"]
        if len(texts) == len(golds) and not any(gold in folded for gold in texts):
            return {}  # the usual case: they stand nowhere
        values = list_values(golds)
        present = [value for value in values if find_words(clean, [value])]
        return {"value_hit": not all(find_words(noisy, [value]) for value in present)} if present else {}

    def _reuse_row(self, examples: Mapping[str, Example], row: Row) -> dict[str, Any] | None:
        """Return a row of an earlier run, parsed and scored again; None where its request was another one."""
        if "asked" in row and "request_key" not in row:
            raise ValueError(f"{self.folder} {OLD_SPELLING}")
        example = examples.get(str(row["id"]))
        if example is None or "response" not in row:
            return None
        request = make_request(self.model, self.task, example)
        if row.get("request_key") != request.key or row.get("error"):  # the cache knows which errors are final
            return None
        response = Response(
            row["response"],
            row.get("label_logprobs"),
            row.get("error"),
            finish_reason=row.get("finish_reason"),
            reasoning=row.get("reasoning"),
            request_changes=tuple(row.get("request_changes") or ()),
        )
        return self._make_row(self._make_prediction(request, response))

    @property
    def cache_path(self) -> Path | None:
        """The file of cached responses; None where these stay in memory."""
        if self.cache is not None:
            return Path(self.cache)
        return None if self.out is None else Path(self.out) / CACHE_NAME

    def _make_manifest(self) -> dict[str, Any]:
        """Return the content of `run.json`."""
        choices = [*self.task.answer_type.choices.items(), *({} if self._model_maps_labels else self.label_map).items()]
        return {
            "model": self.model.name,
            "model_identity": self.model.identity,
            "task": self.task.identity,
            "data_identity": self.data.identity,
            "rows_digest": self.data.hash_tracks(list(self.data.tracks)[:1], choices),
            "seed": self.data.seed,
            "prompt": self.task.prompt.removeprefix(LABEL_PROMPT),
            **({"chat": chat} if (chat := describe_chat(self.task)) else {}),
            **({"scorers": [scorer.name for scorer in self.scorers]} if self.scorers else {}),
            "lapsus": version("lapsus"),
        }

    def _write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write `run.json`; a run without noise keeps the seed of an earlier one."""
        if self.folder is None:
            return
        path = self.folder / MANIFEST_NAME
        if manifest["seed"] is None and path.exists():
            manifest = {**manifest, "seed": read_manifest(path).get("seed")}
        n_repeats = sum(file.stem.partition(".")[0] in CLEAN for file in self.folder.glob("*.jsonl"))
        manifest = {**manifest, "repeats": n_repeats}
        with stage_file(path) as file:
            file.write(json.dumps(manifest, ensure_ascii=False, indent=1).encode())

    @property
    def _model_maps_labels(self) -> bool:
        return hasattr(self.model, "label_map")


def _find_uncached(requests: Mapping[str, Request], cache: ResponseCache) -> dict[str, Request]:
    return {key: request for key, request in requests.items() if cache.get(key) is None}


def _store_rest(
    iterator: Generator[IndexedResponse, None, None], error: BaseException, store: Callable[[int, Response], Any]
) -> None:
    """Tell a model that the run ends, and store what still arrives."""
    with suppress(StopIteration, type(error)):
        item = iterator.throw(error)
        while True:
            store(*item)
            item = next(iterator)


def _check_complete(model: str, keys: Sequence[str], responses: Mapping[str, Response]) -> None:
    """Raise where a model returned no response to a request."""
    n_missing = sum(key not in responses for key in keys)
    if n_missing:
        raise ValueError(f"{model} returned no response to {n_missing} of {len(keys)} requests; run again")


def _group_by_id(examples: Mapping[str, Mapping[str, Example]]) -> Iterator[list[Example]]:
    """Yield each example on all tracks that have it, in the order of the first track."""
    for example_id in dict.fromkeys(chain.from_iterable(examples.values())):
        yield [part[example_id] for part in examples.values() if example_id in part]


def _split_batches(groups: Iterable[list[Example]], size: int) -> Iterator[list[Example]]:
    """Yield whole examples until a batch has at least `size` rows."""
    batch: list[Example] = []
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
    score: str | Scorer | Sequence[str | Scorer] = (),
    turns: Turns | None = None,
    protect: Sequence[str] = (),
    rewriter: Any = None,
    rewriter_judge: str | None = None,
    rewordings: StrPath | None = None,
    tracks: Sequence[str] = (),
    limit: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    split: str | None = None,
    out: StrPath | None = None,
    cache: StrPath | None = None,
    ignore_cache: bool = False,
    max_failures: float = DEFAULT_MAX_FAILURES,
    system: str = "",
    shots: Iterable[Row] = (),
    max_tokens: int | None = None,
    progress: Callable[[int], Any] = lambda _: None,
    **options: Any,
) -> list[Track]:
    """Return the predictions of a model on every track, as `lapsus.report` takes them.

    Args:
        task: A name of `lapsus tasks`, or a `Task`.
        rows: A dataset folder or ORG/NAME of the Hub; a file of rows, or a folder that `save_to_disk` wrote; rows as
            dicts, a `datasets.Dataset` or a data frame; or such rows by track.
        model: Such as `hf:PATH`, `http://HOST/v1#NAME`, `python:MODULE:FUNCTION`; an adapter; or a function of rows.
        noise: Noise to add to the clean rows, each as `[TRACK=]OPERATOR[:ANNOTATORS][@SEVERITY]`.
        score: Scorers of free answers, such as `f1`; the first decides the score of a row.
        turns: Of conversations, the turns of the user that get noise: `all`, the `first` or the `last`.
        protect: What noise leaves as whole words: the values of a COLUMN, matches of `regex:PATTERN`, or `gold`.
        rewriter: The model that writes the noise `reworded:N`, given as `model` is.
        rewriter_judge: What compares the meaning of rewordings: a model, or a text metric as `similarity:NAME`.
        rewordings: The file `reworded.jsonl` of an earlier run, instead of `rewriter`.
        tracks: Patterns of the tracks to run, such as `keyboard.*`; the clean track is always included.
        limit: Only the first so many examples.
        repeats: How often the clean text is answered, as the tracks `clean`, `clean.2` and so on.
        seed: The seed of the noise.
        split: The split of a dataset; by default `test`, or the one that stands for it.
        out: A folder for predictions and cached responses, from which an interrupted run resumes.
        cache: The file of cached responses; by default `answers.sqlite` in `out`.
        ignore_cache: Whether every request is sent, even where a response is cached.
        max_failures: The share of failures among the last 20 requests at which the run still goes on.
        system: The system prompt.
        shots: Example rows, which the model reads with their gold answers before each row.
        max_tokens: The most tokens of an answer.
        progress: Is called with the number of rows of each batch.
        options: Of the model, such as `name`, `label_map`, `batch_size`; an unknown one is refused.
    """
    adapter = to_adapter(model, options)
    resolved_task = find_task(task) if isinstance(task, str) else task
    data = _to_track_set(resolved_task, rows, () if noise else tracks, split)
    source = open_rewriter(
        noise, rewriter, rewriter_judge, rewordings, cache=cache or (out and Path(out, CACHE_NAME)), out=out
    )
    if noise:
        data = data if source is None else data.limit(limit)
        data = add_noise(data, noise, seed=seed, turns=turns, protect=protect, rewriter=source).select(tracks)
    data = replace(data, task=set_chat(data.task, system=system, shots=shots, max_tokens=max_tokens))
    label_map = options.get("label_map") or {}
    specs = score if isinstance(score, list | tuple) else [cast("str | Scorer", score)]
    evaluation = Evaluation(
        repeat_clean(data.limit(limit), repeats),
        adapter,
        out,
        cache,
        ignore_cache,
        label_map=label_map,
        max_failures=max_failures,
    )
    if specs:
        evaluation = replace(evaluation, scorers=open_scorers(specs, ScorerOptions(cache=evaluation.cache_path)))
    summary = evaluation.execute(progress)
    for note in summary.notes:
        warnings.warn(note, stacklevel=2)
    return summary.tracks


def _list_texts(columns: Row, names: Sequence[str]) -> list[str]:
    """Return the texts of some columns; of a conversation what the user says."""
    texts: list[str] = []
    for value in (columns[name] for name in names):
        texts += list_user_texts(value) if isinstance(value, list) and is_messages(value) else [to_text(value)]
    return texts


def _to_track_set(task: Task, rows: Any, patterns: Sequence[str], split: str | None) -> TrackSet:
    if isinstance(rows, str | os.PathLike):
        if Path(rows).is_file() or is_saved_dataset(Path(rows)):
            return TrackSet.from_file(rows, task, split=split).select(patterns)
        return load_tracks(rows, task, patterns, split=split)
    if split is not None:
        raise TypeError(f"split is {split!r}, but the rows are in memory; give the rows of that split alone")
    if isinstance(rows, TrackSet):
        if rows.task.name != task.name:
            raise ValueError(
                f"the rows are of the task {rows.task.name}, not {task.name}; give the task {rows.task.name}"
            )
        return rows.select(patterns)
    if isinstance(rows, Mapping):
        return TrackSet.from_tracks(task.name, task, rows).select(patterns)
    return TrackSet.from_rows(task.name, task, rows).select(patterns)


__all__ = ["Evaluation", "RunEstimate", "RunSummary", "make_task", "run"]
