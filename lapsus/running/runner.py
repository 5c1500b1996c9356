"""A model on every track of a dataset: each question asked once, each answer kept as it comes.

Tracks are interleaved: all tracks of an example are asked together, so that what a stopped run was answered is paired.
Its answers are kept; files of predictions are written when they are whole.

>>> rows = [{"id": "a", "text": "rain today", "label": "weather"}, {"id": "b", "text": "a song", "label": "music"}]
>>> def keywords(rows):
...     return ["weather" if row["text"].endswith("today") else "music" for row in rows]
>>> tracks = run(own_task(["text"], "label"), rows, keywords, noise=["filler_eos:2"])
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

from lapsus.kernel.atomic import staged_file
from lapsus.kernel.folders import folders
from lapsus.kernel.names import shown
from lapsus.kernel.words import as_text
from lapsus.results.track_names import RUN_NOTE
from lapsus.results.tracks import Track
from lapsus.running.answers import Answer, AnswerCache, asked_key
from lapsus.running.asking import Alone, Asker
from lapsus.running.data import Data, open_dataset, safe
from lapsus.running.kinds import renamed
from lapsus.running.models import Model, open_model
from lapsus.running.models.python_function import PythonFunction, revision_of
from lapsus.running.noise_on_rows import with_noise
from lapsus.running.predictions_files import earlier, write
from lapsus.running.tasks import Task, find_task, own_task

Row = Mapping[str, Any]
TOGETHER = {  # what tracks of one model must share to stand in one folder
    "identity": "revision of the model",
    "task": "version of the task",
    "rows": "rows, right answers or labels",
    "seed": "seed of the noise",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One row of one track, and the name of its answer."""

    track: str
    row: Row = field(repr=False)
    key: str


@dataclass(frozen=True, slots=True)
class Together:
    """Some examples, whole: what is known of their rows, what is not, and the questions that nobody has asked yet."""

    kept: list[tuple[Asked, dict[str, Any]]]
    todo: list[Asked]
    unasked: dict[str, Row] = field(repr=False)

    @property
    def questions(self) -> list[Row]:
        """The rows to ask about."""
        return list(self.unasked.values())


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to: its tracks, and how many rows of each origin and trouble it has."""

    tracks: list[Track]
    files: list[Path]
    asked: int
    reused: int
    unparsed: int
    problems: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run would ask: rows, different questions, those without an answer yet, and their tokens if known."""

    rows: int
    questions: int
    unanswered: int
    tokens: int | None
    most_answer_tokens: int


@dataclass(frozen=True, slots=True)
class Run:
    """A model on the tracks of `data`.

    Args:
        data: The rows of each track.
        model: What answers.
        out: The folder for predictions; None keeps them in memory.
        cache: The file that keeps the answers; by default `answers.sqlite` in `out`.
        fresh: Ask again, whatever the cache holds.
        asker: Who asks the model; by default this process.
        label_map: Answers that mean a label of the task; a classifier of transformers has a map of its own.
    """

    data: Data
    model: Model
    out: Path | None = None
    cache: Path | None = None
    fresh: bool = False
    asker: Asker | None = None
    label_map: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        labels = self.task.kind.choices
        wrong = next((name for name in self.label_map.values() if labels and name not in labels), None)
        if wrong is not None:
            raise ValueError(f"--label-map leads to {wrong!r}, which is none of the labels {shown(labels)}; name these")

    @property
    def task(self) -> Task:
        """The task, with the labels of the data."""
        return self.data.task

    @property
    def asking(self) -> Asker:
        """Who asks the model."""
        return self.asker or Alone(self.model)

    @property
    def folder(self) -> Path | None:
        """Where the predictions of this model on this dataset go."""
        return None if self.out is None else self.out / safe(self.data.name) / safe(self.model.name)

    def cost(self) -> Cost:
        """Count what would be asked, without asking."""
        self.model.prepare(self.task)
        planned = list(chain.from_iterable(self._interleaved()))
        different = {one.key: one for one in planned}
        kept = self._cache_path()
        with AnswerCache(kept if kept and kept.exists() else None) as cache:
            left = [one for key, one in different.items() if self.fresh or cache.get(key) is None]
        tokens = self.model.tokens(self.task, [one.row for one in left])
        return Cost(len(planned), len(different), len(left), tokens, len(left) * self.task.kind.max_tokens)

    def execute(self, progress: Callable[[int], Any] = lambda _: None) -> Outcome:
        """Ask what has no answer yet, and write what comes; `progress` is told of rows that are done."""
        self.model.prepare(self.task)
        groups = list(self._interleaved())
        wanted: dict[str, dict[str, Asked]] = {name: {} for name in self.data.tracks}
        for one in chain.from_iterable(groups):
            wanted[one.track][str(one.row["id"])] = one
        told = self._told()
        self._refuse_others(told)
        made: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in self.data.tracks}
        paths = {} if self.folder is None else {name: self.folder / f"{safe(name)}.jsonl" for name in wanted}
        asked = reused = 0
        with ExitStack() as stack:
            kept_in = self._cache_path()
            stack.enter_context(folders(*filter(None, (self.folder, kept_in and kept_in.parent))))
            cache = stack.enter_context(AnswerCache(kept_in))
            known = {} if self.fresh else paths
            rows_before = {name: earlier(path, partial(self._again, wanted[name])) for name, path in known.items()}
            for batch, answers in self.asking.answers(self.task, self._planned(groups, cache, rows_before)):
                for one, kept in batch.kept:
                    made[one.track][str(one.row["id"])] = kept
                found = self._found(batch, answers, cache)
                asked += len(batch.unasked)
                reused += len(batch.kept) + len({one.key for one in batch.todo}) - len(batch.unasked)
                for one in batch.todo:
                    made[one.track][str(one.row["id"])] = self._judged(one, found[one.key])
                progress(len(batch.kept) + len(batch.todo))
            write((path, [made[name][key] for key in wanted[name]]) for name, path in paths.items())
            self._note(told)
        tracks = [Track(self.model.name, name, list(rows.values()), self.data.name) for name, rows in made.items()]
        everything = [row for track in tracks for row in track.rows]
        problems: dict[str, int] = {}
        for row in everything:
            if row.get("problem"):
                problems[row["problem"]] = problems.get(row["problem"], 0) + 1
        unparsed = sum(bool(row["unparsed"]) for row in everything)
        return Outcome(tracks, list(paths.values()), asked, reused, unparsed, problems)

    def _cache_path(self) -> Path | None:
        return self.cache or (None if self.out is None else self.out / "answers.sqlite")

    def _again(self, wanted: Mapping[str, Asked], row: Row) -> dict[str, Any] | None:
        """Return a row of an earlier run with its answer as it is read today; None where that was another question."""
        one = wanted.get(str(row["id"]))
        if one is None or row.get("asked") != one.key or "answer" not in row:
            return None
        return self._judged(one, Answer(row["answer"], row.get("scores"), row.get("problem")))

    def _refuse_others(self, now: Mapping[str, Any]) -> None:
        """Refuse a folder with predictions that would stand beside the new ones, but are of another kind of run."""
        if self.folder is None or not (self.folder / RUN_NOTE).exists():
            return
        before = _noted(self.folder / RUN_NOTE)
        if before["task"].rpartition(" ")[0] != self.task.name:
            raise ValueError(
                f"{self.folder} holds the predictions of another task ({before['task']}); give another --out"
            )
        if before["identity"].partition(" at ")[0] != self.model.identity.partition(" at ")[0]:
            raise ValueError(
                f"{self.folder} holds the predictions of another model ({before['identity']}); "
                "give this one a --name of its own, or another --out"
            )
        written = {safe(name) for name in self.data.tracks}
        others = sorted(path.stem for path in self.folder.glob("*.jsonl") if path.stem not in written)
        differing = [said for name, said in TOGETHER.items() if now[name] is not None and now[name] != before.get(name)]
        if others and differing:
            raise ValueError(
                f"{self.folder} also holds {shown(others)}, from a run of other {shown(differing)}, which a report "
                "would join with this one; run these tracks too, delete their files (the answers are kept), or give "
                "another --out"
            )

    def _told(self) -> dict[str, Any]:
        """Return what a run says about itself."""
        choices = [*self.task.kind.choices.items(), *({} if self._maps_itself else self.label_map).items()]
        return {
            "model": self.model.name,
            "identity": self.model.identity,
            "task": self.task.identity,
            "data": self.data.identity,
            "rows": self.data.digest(list(self.data.tracks)[:1], choices),
            "seed": self.data.seed,
            "lapsus": version("lapsus"),
        }

    def _note(self, told: Mapping[str, Any]) -> None:
        """Write down what was run; the seed of tracks that an earlier run made stays where this one made none."""
        if self.folder is None:
            return
        note = self.folder / RUN_NOTE
        if told["seed"] is None and note.exists():
            told = {**told, "seed": _noted(note).get("seed")}
        with staged_file(note) as file:
            file.write(json.dumps(told, ensure_ascii=False, indent=1).encode())

    def whole(self, rows: int) -> int:
        """Return how many examples the first so many rows are, as they are asked."""
        ends = accumulate(map(len, self._groups()))
        return sum(end <= rows for end in ends)

    def _groups(self) -> Iterator[list[tuple[str, Row]]]:
        """Yield the rows of each example with their tracks."""
        by_id = {name: {str(row["id"]): row for row in rows} for name, rows in self.data.tracks.items()}
        for key in dict.fromkeys(chain.from_iterable(by_id.values())):
            yield [(name, rows[key]) for name, rows in by_id.items() if key in rows]

    def _interleaved(self) -> Iterator[list[Asked]]:
        """Yield what is asked about each example, all tracks together."""
        for group in self._groups():
            yield [self._asked(name, row) for name, row in group]

    def _asked(self, track: str, row: Row) -> Asked:
        return Asked(
            track, row, asked_key(self.model.identity, self.task.identity, self.model.question(self.task, row))
        )

    def _planned(
        self, groups: Iterable[list[Asked]], cache: AnswerCache, before: Mapping[str, Mapping[str, dict[str, Any]]]
    ) -> Iterator[Together]:
        """Yield batches; a question stands in the first one that needs it, and its answer in the cache from then on."""
        asked: set[str] = set()
        for batch in _batches(groups, self.model.batch):
            kept: list[tuple[Asked, dict[str, Any]]] = []
            todo: list[Asked] = []
            unanswered: dict[str, Row] = {}
            for one in batch:
                row = before.get(one.track, {}).get(str(one.row["id"]))
                if row is not None:
                    kept.append((one, row))
                    continue
                todo.append(one)
                if one.key not in asked and (self.fresh or cache.get(one.key) is None):
                    unanswered[one.key] = one.row
                    asked.add(one.key)
            yield Together(kept, todo, unanswered)

    def _found(self, batch: Together, answers: Iterable[tuple[int, Answer]], cache: AnswerCache) -> dict[str, Answer]:
        """Keep the answers to a batch as they come; return those that its rows need, by key."""
        keys = list(batch.unasked)
        found: dict[str, Answer] = {}
        for place, answer in answers:
            cache.put(keys[place], answer)
            found[keys[place]] = answer
        lacking = [key for key in keys if key not in found]
        if lacking:
            raise ValueError(f"{self.model.name} gave no answer to {len(lacking)} of {len(keys)} questions; run again")
        for one in batch.todo:
            kept = None if one.key in found else cache.get(one.key)
            if kept is not None:
                found[one.key] = kept
        return found

    def _judged(self, one: Asked, answer: Answer) -> dict[str, Any]:
        """Return the row of a predictions file."""
        task, row = self.task, one.row
        prediction = None if answer.problem else task.kind.parse(self._meant(answer.raw), row)
        texts = {"text": [as_text(row[name]) for name in task.inputs]}
        if all(f"clean_{name}" in row for name in task.inputs):
            texts["clean_text"] = [as_text(row[f"clean_{name}"]) for name in task.inputs]
        made: dict[str, Any] = {
            "id": str(row["id"]),
            "dataset": self.data.name,
            "model": self.model.name,
            "track": one.track,
            "answer": answer.raw,
            "unparsed": prediction is None,
            **task.kind.judged(prediction, row),
            **{name: values[0] if len(values) == 1 else values for name, values in texts.items()},
        }
        if task.cluster is not None:
            made["cluster"] = row[task.cluster]
        made |= {name: row[name] for name in ("edits", "operator") if row.get(name) is not None}
        made |= {name: value for name, value in (("scores", answer.scores), ("problem", answer.problem)) if value}
        return made | {"asked": one.key}

    @property
    def _maps_itself(self) -> bool:
        return hasattr(self.model, "label_map")

    def _meant(self, raw: Any) -> Any:
        return raw if self._maps_itself else renamed(raw, self.label_map)


def _noted(note: Path) -> dict[str, Any]:
    """Return what an earlier run wrote down about itself."""
    try:
        told = json.loads(note.read_bytes())
        return {**told, **{name: str(told[name]) for name in ("task", "identity")}}
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(
            f"{note} does not say which model answered which task there; delete it, or give another --out"
        ) from error


def _batches(groups: Iterable[list[Asked]], size: int) -> Iterator[list[Asked]]:
    """Yield examples, whole, until a batch has enough questions."""
    batch: list[Asked] = []
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
    model: str | Model | Callable[[list[dict[str, Any]]], Any],
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
    chosen = find_task(task) if isinstance(task, str) else task
    data = _data(chosen, rows, tracks if not noise else (), split)
    if noise:
        data = with_noise(data, noise, seed=seed).chosen(tracks)
    asked: Model
    if isinstance(model, str):
        asked = open_model(model, options)
    elif hasattr(model, "answers"):
        asked = cast("Model", model)
    elif callable(model):
        asked = PythonFunction(model, getattr(model, "__name__", "function"), revision_of(model))
    else:
        raise TypeError(f"model is {model!r}; give a word such as 'hf:PATH', or a function of rows")
    folder = None if out is None else Path(out)
    label_map = options.get("label_map") or {}
    return Run(data.limited(limit), asked, folder, fresh=fresh, label_map=label_map).execute(progress).tracks


def _data(task: Task, rows: Any, patterns: Sequence[str], split: str | None) -> Data:
    if isinstance(rows, Data):
        return rows.chosen(patterns)
    if isinstance(rows, Path | str):
        return open_dataset(str(rows), task, patterns, split=split)
    if isinstance(rows, Mapping):
        parts = {name: Data.of_rows(name, task, part) for name, part in rows.items()}
        first = next(iter(parts.values()))
        return Data(task.name, first.task, {name: part.tracks["clean"] for name, part in parts.items()}).chosen(
            patterns
        )
    return Data.of_rows(task.name, task, rows).chosen(patterns)


__all__ = ["Cost", "Outcome", "Run", "own_task", "run"]
