"""Files for a dataset's repo on the Hub: `eval.yaml`, with a task of inspect per track, over rendered columns.

`to_hub_results` makes the entries of `.eval_results/*.yaml` in a model's repo out of a report's tracks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lapsus.core.types import Track
from lapsus.evaluation.answer_types import ExactAnswer, SpanAnswer
from lapsus.evaluation.tasks import Task
from lapsus.evaluation.tracks import TrackSet
from lapsus.integrations import render_rows


def find_hub_scorer(task: Task) -> str:
    """Return the scorer of the Hub that tells of a task what ours does; refuse a task for which it has none.

    >>> from lapsus.evaluation.benchmark_tasks import find_task
    >>> [find_hub_scorer(find_task(name)) for name in ("readin-afqmc", "noiseqa", "readin-cmrc2018")]
    ['choice', 'f1', 'exact']

    Its `f1` compares words between spaces, which Chinese has not.
    """
    answer_type = task.answer_type
    if answer_type.choices:
        return "choice"
    if isinstance(answer_type, SpanAnswer):
        return "f1" if answer_type.rules == "squad" else "exact"
    if isinstance(answer_type, ExactAnswer):
        return "exact"
    raise TypeError(
        f"the Hub's eval.yaml has no scorer for {task.name}, whose answer type is {type(answer_type).__name__}; "
        "write the task for inspect (--export inspect), which scores as lapsus run does"
    )


def write_hub_files(data: TrackSet, folder: Path) -> None:
    """Write `eval.yaml`, and a Parquet file per track with the columns `question`, `choices` and `answer`.

    The configs `asked-TRACK` belong into the card: `data_files` is `asked/TRACK.parquet`.
    """
    import yaml
    from datasets import Dataset

    choices, scorer = bool(data.task.answer_type.choices), find_hub_scorer(data.task)
    (folder / "asked").mkdir()
    configs, tasks = [], []
    for track in data.tracks:
        name = f"asked-{track}"
        Dataset.from_list(
            [{k: v for k, v in row.items() if k != "row"} for row in render_rows(data, track)]
        ).to_parquet(folder / "asked" / f"{track}.parquet")
        configs.append({"config_name": name, "data_files": [{"split": "test", "path": f"asked/{track}.parquet"}]})
        fields: dict[str, Any] = {
            "input": "question",
            "target": "answer" if choices else "gold",
            "metadata": ["id", "dataset", "track"],
        }
        tasks.append(
            {
                "id": track.replace(".", "_"),
                "config": name,
                "split": "test",
                "field_spec": fields | ({"choices": "choices"} if choices else {}),
                "solvers": [{"name": "multiple_choice" if choices else "generate"}],
                "scorers": [{"name": scorer}],
            }
        )
    content = {
        "name": data.task.dataset or data.name,
        "description": data.task.summary,
        "evaluation_framework": "inspect-ai",
        "tasks": tasks,
    }
    (folder / "eval.yaml").write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), encoding="utf-8")
    (folder / "configs.yaml").write_text(yaml.safe_dump({"configs": configs}, sort_keys=False), encoding="utf-8")


def to_hub_results(tracks: Sequence[Track], dataset_id: str, *, source_url: str | None = None) -> list[dict[str, Any]]:
    """Return the mean score of each track as Hub's own entries, for `.eval_results/NAME.yaml` of a model's repo.

    >>> rows = [{"id": "a", "score": 1.0}, {"id": "b", "score": 0.0}]
    >>> to_hub_results([Track("m", "keyboard.1", rows)], "org/readin-afqmc")[0]["value"]
    50.0

    An answer that could not be read is wrong.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    entries = []
    for track in tracks:
        scores = [row["score"] or 0.0 for row in track.rows]
        if not scores:
            raise ValueError(f"the track {track.track} of {track.model} has no rows; give a track with answers")
        mean = 100 * sum(scores) / len(scores)
        entries.append(
            EvalResultEntry(
                dataset_id=dataset_id, task_id=track.track.replace(".", "_"), value=mean, source_url=source_url
            )
        )
    hub_results: list[dict[str, Any]] = eval_result_entries_to_yaml(entries)
    return hub_results
