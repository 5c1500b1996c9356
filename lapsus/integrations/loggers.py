"""Write the numbers of a report to Weights & Biases, MLflow, TensorBoard or trackio, through their own clients.

All get the same numbers under the same names: `dataset/model/noise/measure`, without the parts that are empty.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus.core.imports import import_optional
from lapsus.reporting.analysis.records import Results

if TYPE_CHECKING:
    from lapsus.reporting.report import Report


def flatten_scalars(numbers: Results) -> dict[str, float]:
    """Return the numbers that are logged: what noise costs each model, the score of every track, measures of the task.

    >>> from lapsus.reporting.analysis.measure import measure
    >>> from lapsus.core.types import Track
    >>> rows = [{"id": 1, "score": 1}, {"id": 2, "score": 0}]
    >>> flatten_scalars(measure([Track("bert", "clean", rows), Track("bert", "keyboard", rows)]))["bert/keyboard/score"]
    0.5
    """
    values_by_name: dict[str, float] = {}
    for name, value in _iter_scalars(numbers):
        if value is not None and values_by_name.setdefault(name, float(value)) != value:
            raise ValueError(f"Two numbers would both be logged as {name!r}; rename a model, a dataset or a track.")
    return values_by_name


def _iter_scalars(numbers: Results) -> Iterator[tuple[str, float | None]]:
    for track in numbers.tracks:
        prefix = _join_names(track.dataset, track.model, track.track)
        yield f"{prefix}/score", track.average.value
        yield f"{prefix}/noise_rate", track.noise_rate
    for record in numbers.summary:
        prefix = _join_names(record.dataset, record.model, record.family)
        averages = record.averages
        for measure, estimate in (
            ("average", averages.micro_average),
            ("worst", averages.worst_average),
            ("drop", averages.micro_drop),
            ("worst_drop", averages.worst_drop),
        ):
            yield f"{prefix}/{measure}", estimate.value
        if record.test is not None:
            yield f"{prefix}/drop_p_holm", record.test.p_holm
    for task in numbers.task_scores:
        yield f"{_join_names(task.dataset, task.model, task.track)}/{to_safe_name(task.measure)}", task.value.value


def _join_names(*names: str) -> str:
    return "/".join(map(to_safe_name, filter(None, names)))


def to_safe_name(name: str) -> str:
    """Return a name with the characters that all clients take."""
    return "".join(letter if letter.isalnum() or letter in "-_. " else "_" for letter in name)


def to_wandb(report: Report, *, project: str = "lapsus", **options: Any) -> None:
    """Log a report as a run of Weights & Biases; `options` go to `wandb.init`, as in mode="offline"."""
    wandb = import_optional("wandb", "loggers", needed_by="the logger")
    run = wandb.init(project=project, config=_make_config(report.numbers), **options)
    try:
        run.log(flatten_scalars(report.numbers))
        run.save(str(report.page), base_path=str(report.folder), policy="now")
    finally:
        run.finish()


def to_mlflow(report: Report, *, tracking_uri: str | None = None, experiment: str = "lapsus") -> None:
    """Log a report as a run of MLflow, with the report's folder as an artifact.

    Where no place is set, it is the folder `mlruns` if there is no sqlalchemy, which MLflow's own default needs.
    """
    mlflow = import_optional("mlflow", "loggers", needed_by="the logger")
    if tracking_uri is None and not mlflow.tracking.is_tracking_uri_set() and not find_spec("sqlalchemy"):
        tracking_uri = Path("mlruns").absolute().as_uri()
    if tracking_uri is not None:
        if tracking_uri.startswith("file:"):
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # else MLflow 3 asks for a database
        mlflow.set_tracking_uri(tracking_uri)
    try:
        mlflow.set_experiment(experiment)
        with mlflow.start_run():
            mlflow.log_params({name: str(value) for name, value in _make_config(report.numbers).items()})
            mlflow.log_metrics(flatten_scalars(report.numbers))
            mlflow.log_artifacts(str(report.folder), "report")
    except mlflow.exceptions.MlflowException as error:
        raise ValueError(
            f"MLflow cannot log to {mlflow.get_tracking_uri()}: {' '.join(str(error).split())[:200]}; set "
            "MLFLOW_TRACKING_URI to the address of a server or to a folder such as file:mlruns, or install sqlalchemy "
            "and alembic for a database."
        ) from error


def to_tensorboard(report: Report, folder: Path | str, *, step: int = 0) -> None:
    """Log a report as events of TensorBoard in a folder."""
    summary = import_optional("tensorboard.summary", "loggers", needed_by="the logger")
    with closing(summary.Writer(os.fspath(folder))) as writer:
        for name, value in flatten_scalars(report.numbers).items():
            writer.add_scalar(name, value, step)


def to_trackio(report: Report, *, project: str = "lapsus", **options: Any) -> None:
    """Log a report as a run of trackio; `options` go to `trackio.init`, as in space_id="ORG/NAME"."""
    try:
        trackio = import_module("trackio")
    except ImportError as error:  # in no extra, as it pins older releases of what others need
        raise ModuleNotFoundError("the logger needs trackio; install it with: pip install trackio") from error
    run = trackio.init(project=project, config=_make_config(report.numbers), **options)
    try:
        run.log(flatten_scalars(report.numbers))
    finally:
        run.finish()


def _make_config(numbers: Results) -> dict[str, Any]:
    config: dict[str, Any] = {"lapsus": numbers.lapsus, "confidence_level": numbers.settings.confidence_level}
    if numbers.provenance is not None:
        config |= {"command": numbers.provenance.command, "date": numbers.provenance.date}
    config |= {f"data {each.dataset}".strip(): each.blake2b for each in numbers.datasets}
    return {name: value for name, value in config.items() if value is not None}


LOGGERS: dict[str, Callable[[Report], None]] = {
    "wandb": to_wandb,
    "mlflow": to_mlflow,
    "trackio": to_trackio,
    "tensorboard": lambda report: to_tensorboard(report, Path("runs", "lapsus")),
}
