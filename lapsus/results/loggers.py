"""Write the numbers of a report to Weights & Biases, MLflow or TensorBoard, through their own clients.

All three get the same numbers under the same names: `dataset/model/noise/measure`, without the parts that are empty.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus.kernel.extras import needed
from lapsus.results.measuring.records import Numbers

if TYPE_CHECKING:
    from lapsus.results.report import Report


def scalars(numbers: Numbers) -> dict[str, float]:
    """Return the numbers that are logged: what noise costs each model, the score of every track, measures of the task.

    >>> from lapsus.results.measuring.measure import measure
    >>> from lapsus.results.tracks import Track
    >>> rows = [{"id": 1, "score": 1}, {"id": 2, "score": 0}]
    >>> scalars(measure([Track("bert", "clean", rows), Track("bert", "keyboard", rows)]))["bert/keyboard/score"]
    0.5
    """
    found: dict[str, float] = {}
    for name, value in _named(numbers):
        if value is not None and found.setdefault(name, float(value)) != value:
            raise ValueError(f"Two numbers would both be logged as {name!r}; rename a model, a dataset or a track.")
    return found


def _named(numbers: Numbers) -> Iterator[tuple[str, float | None]]:
    for track in numbers.tracks:
        place = _place(track.dataset, track.model, track.track)
        yield f"{place}/score", track.average.value
        yield f"{place}/noise_rate", track.noise_rate
    for record in numbers.summary:
        place = _place(record.dataset, record.model, record.family)
        averages = record.averages
        for measure, estimate in (
            ("average", averages.micro_average),
            ("worst", averages.worst_average),
            ("drop", averages.micro_drop),
            ("worst_drop", averages.worst_drop),
        ):
            yield f"{place}/{measure}", estimate.value
        if record.test is not None:
            yield f"{place}/drop_p_holm", record.test.p_holm
    for task in numbers.tasks:
        yield f"{_place(task.dataset, task.model, task.track)}/{_plain(task.measure)}", task.value.value


def _place(*names: str) -> str:
    return "/".join(map(_plain, filter(None, names)))


def _plain(name: str) -> str:
    """Return a name with the characters that all three clients take."""
    return "".join(letter if letter.isalnum() or letter in "-_. " else "_" for letter in name)


def to_wandb(report: Report, *, project: str = "lapsus", **options: Any) -> None:
    """Log a report as a run of Weights & Biases; `options` go to `wandb.init`, as in mode="offline"."""
    wandb = needed("wandb", "loggers", by="the logger")
    run = wandb.init(project=project, config=_config(report.numbers), **options)
    try:
        run.log(scalars(report.numbers))
        run.save(str(report.page), base_path=str(report.folder), policy="now")
    finally:
        run.finish()


def to_mlflow(report: Report, *, tracking_uri: str | None = None, experiment: str = "lapsus") -> None:
    """Log a report as a run of MLflow, with the report's folder as an artifact."""
    mlflow = needed("mlflow", "loggers", by="the logger")
    if tracking_uri is not None:
        mlflow.set_tracking_uri(tracking_uri)
    mlflow.set_experiment(experiment)
    with mlflow.start_run():
        mlflow.log_params({name: str(value) for name, value in _config(report.numbers).items()})
        mlflow.log_metrics(scalars(report.numbers))
        mlflow.log_artifacts(str(report.folder), "report")


def to_tensorboard(report: Report, folder: Path | str, *, step: int = 0) -> None:
    """Log a report as events of TensorBoard in a folder."""
    summary = needed("tensorboard.summary", "loggers", by="the logger")
    with closing(summary.Writer(os.fspath(folder))) as writer:
        for name, value in scalars(report.numbers).items():
            writer.add_scalar(name, value, step)


def _config(numbers: Numbers) -> dict[str, Any]:
    told: dict[str, Any] = {"lapsus": numbers.lapsus, "confidence_level": numbers.settings.confidence_level}
    if numbers.provenance is not None:
        told |= {"command": numbers.provenance.command, "date": numbers.provenance.date}
    told |= {f"data {each.dataset}".strip(): each.blake2b for each in numbers.data}
    return {name: value for name, value in told.items() if value is not None}


LOGGERS: dict[str, Callable[[Report], None]] = {
    "wandb": to_wandb,
    "mlflow": to_mlflow,
    "tensorboard": lambda report: to_tensorboard(report, Path("runs", "lapsus")),
}
