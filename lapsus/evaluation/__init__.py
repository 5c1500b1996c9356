"""Models on the tracks of a dataset: tasks, model adapters, and the run that writes predictions.

>>> from lapsus.evaluation import make_task, run
>>> rows = [{"id": "a", "text": "will it rain", "label": "weather"}, {"id": "b", "text": "a song", "label": "music"}]
>>> (track,) = run(make_task("text", "label"), rows, lambda rows: ["weather"] * len(rows))
>>> [row["score"] for row in track.rows]
[1.0, 0.0]
"""

from typing import TYPE_CHECKING

from lapsus.core.imports import make_lazy_getattr

if TYPE_CHECKING:
    from lapsus.core.types import Example, Prediction, Request, Response, Track
    from lapsus.evaluation.answer_types import (
        AnswerType,
        ExactAnswer,
        FrameAnswer,
        FreeAnswer,
        LabelAnswer,
        SimilarityAnswer,
        SpanAnswer,
        SqlAnswer,
        TranslationAnswer,
    )
    from lapsus.evaluation.benchmark_tasks import find_task, load_tasks
    from lapsus.evaluation.models import ModelAdapter, ModelProvider, make_request, open_model
    from lapsus.evaluation.models.causal import CausalModel
    from lapsus.evaluation.models.endpoint import EndpointModel
    from lapsus.evaluation.models.function import FunctionModel
    from lapsus.evaluation.models.transformers import Classifier, TokenClassifier, TransformersModel
    from lapsus.evaluation.runner import Evaluation, run
    from lapsus.evaluation.scorers import (
        Answer,
        AnswerScore,
        FunctionScorer,
        Scorer,
        ScorerOptions,
        ScorerProvider,
        open_scorer,
    )
    from lapsus.evaluation.scoring import score_tracks
    from lapsus.evaluation.tasks import Task, make_task
    from lapsus.evaluation.tool_answer import ToolCallAnswer
    from lapsus.evaluation.tracks import TrackSet, add_noise, load_tracks

__all__ = [
    "Answer",
    "AnswerScore",
    "AnswerType",
    "CausalModel",
    "Classifier",
    "EndpointModel",
    "Evaluation",
    "ExactAnswer",
    "Example",
    "FrameAnswer",
    "FreeAnswer",
    "FunctionModel",
    "FunctionScorer",
    "LabelAnswer",
    "ModelAdapter",
    "ModelProvider",
    "Prediction",
    "Request",
    "Response",
    "Scorer",
    "ScorerOptions",
    "ScorerProvider",
    "SimilarityAnswer",
    "SpanAnswer",
    "SqlAnswer",
    "Task",
    "TokenClassifier",
    "ToolCallAnswer",
    "Track",
    "TrackSet",
    "TransformersModel",
    "TranslationAnswer",
    "add_noise",
    "find_task",
    "load_tasks",
    "load_tracks",
    "make_request",
    "make_task",
    "open_model",
    "open_scorer",
    "run",
    "score_tracks",
]

_NAMES = {
    "lapsus.core.types": ("Example", "Prediction", "Request", "Response", "Track"),
    "lapsus.evaluation.answer_types": (
        "AnswerType",
        "ExactAnswer",
        "FrameAnswer",
        "FreeAnswer",
        "LabelAnswer",
        "SimilarityAnswer",
        "SpanAnswer",
        "SqlAnswer",
        "TranslationAnswer",
    ),
    "lapsus.evaluation.benchmark_tasks": ("find_task", "load_tasks"),
    "lapsus.evaluation.models": ("ModelAdapter", "ModelProvider", "make_request", "open_model"),
    "lapsus.evaluation.models.causal": ("CausalModel",),
    "lapsus.evaluation.models.endpoint": ("EndpointModel",),
    "lapsus.evaluation.models.function": ("FunctionModel",),
    "lapsus.evaluation.models.transformers": ("Classifier", "TokenClassifier", "TransformersModel"),
    "lapsus.evaluation.runner": ("Evaluation", "run"),
    "lapsus.evaluation.scoring": ("score_tracks",),
    "lapsus.evaluation.scorers": (
        "Answer",
        "AnswerScore",
        "FunctionScorer",
        "Scorer",
        "ScorerOptions",
        "ScorerProvider",
        "open_scorer",
    ),
    "lapsus.evaluation.tool_answer": ("ToolCallAnswer",),
    "lapsus.evaluation.tasks": ("Task", "make_task"),
    "lapsus.evaluation.tracks": ("TrackSet", "add_noise", "load_tracks"),
}

__getattr__ = make_lazy_getattr(__name__, {name: module for module, names in _NAMES.items() for name in names})
