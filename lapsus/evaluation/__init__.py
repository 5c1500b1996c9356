"""Models on tracks: tasks, the models that answer them, and the run that keeps every answer."""

from typing import TYPE_CHECKING

from lapsus.core.imports import make_lazy_getattr

if TYPE_CHECKING:
    from lapsus.evaluation.cache import Response
    from lapsus.evaluation.models import ModelAdapter, ModelProvider, open_model
    from lapsus.evaluation.runner import run
    from lapsus.evaluation.tasks import Task, load_tasks
    from lapsus.evaluation.tracks import TrackSet

__all__ = ["Response", "TrackSet", "ModelAdapter", "ModelProvider", "Task", "open_model", "run", "load_tasks"]

__getattr__ = make_lazy_getattr(
    __name__,
    {
        "Response": "lapsus.evaluation.cache",
        "TrackSet": "lapsus.evaluation.tracks",
        "ModelAdapter": "lapsus.evaluation.models",
        "ModelProvider": "lapsus.evaluation.models",
        "Task": "lapsus.evaluation.tasks",
        "open_model": "lapsus.evaluation.models",
        "run": "lapsus.evaluation.runner",
        "load_tasks": "lapsus.evaluation.tasks",
    },
)
