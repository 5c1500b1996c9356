"""Models on tracks: tasks, the models that answer them, and the run that keeps every answer."""

from typing import TYPE_CHECKING

from lapsus.kernel.lazy import lazy

if TYPE_CHECKING:
    from lapsus.running.answers import Answer
    from lapsus.running.data import Data
    from lapsus.running.models import Model, ModelKind, open_model
    from lapsus.running.runner import run
    from lapsus.running.tasks import Task, tasks

__all__ = ["Answer", "Data", "Model", "ModelKind", "Task", "open_model", "run", "tasks"]

__getattr__ = lazy(
    __name__,
    {
        "Answer": "lapsus.running.answers",
        "Data": "lapsus.running.data",
        "Model": "lapsus.running.models",
        "ModelKind": "lapsus.running.models",
        "Task": "lapsus.running.tasks",
        "open_model": "lapsus.running.models",
        "run": "lapsus.running.runner",
        "tasks": "lapsus.running.tasks",
    },
)
