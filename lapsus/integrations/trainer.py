"""A callback of transformers' Trainer: what noise costs the model under training, at every evaluation.

    trainer.add_callback(NoiseCallback(data, tokenizer))

adds `eval_noise_clean`, and for each family of tracks `eval_noise_keyboard_average` and `eval_noise_keyboard_worst`, to
the metrics: `metric_for_best_model="noise_keyboard_worst"` keeps the checkpoint that is best at its worst.
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from lapsus.evaluation.models.transformers import Classifier, TokenClassifier, TransformersModel
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tracks import TrackSet
from lapsus.reporting.analysis.measure import measure

FAMILIES: dict[str, type[TransformersModel]] = {
    "ForSequenceClassification": Classifier,
    "ForTokenClassification": TokenClassifier,
}


class NoiseCallback(TrainerCallback):  # type: ignore[misc] # transformers is untyped here
    """Runs the model on every track of `data` when the Trainer evaluates."""

    def __init__(self, data: TrackSet, tokenizer: Any, batch_size: int = 32) -> None:
        """Keep the rows and the tokenizer; the model comes from the Trainer."""
        self.data, self.tokenizer, self.batch_size = data, tokenizer, batch_size

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure clean, average and worst scores, and add them to the log and to the metrics."""
        model = kwargs["model"]
        family = next((kind for name, kind in FAMILIES.items() if type(model).__name__.endswith(name)), None)
        if family is None:
            raise TypeError(f"NoiseCallback reads classifiers and taggers, not {type(model).__name__}; leave it out")
        was_training = model.training
        adapter = family(
            model.eval(), self.tokenizer, "model", f"step {state.global_step}", self.batch_size, str(model.device)
        )
        try:
            tracks = Evaluation(self.data, adapter).execute().tracks  # type: ignore[arg-type] # both families are models
        finally:
            model.train(was_training)
        noise_metrics: dict[str, float] = {}
        for row in measure(tracks).summary:
            scores = {
                "eval_noise_clean": row.averages.clean_average,
                f"eval_noise_{row.family}_average": row.averages.micro_average,
                f"eval_noise_{row.family}_worst": row.averages.worst_average,
            }
            noise_metrics |= {name: score.value for name, score in scores.items() if score.value is not None}
        state.log_history.append({**noise_metrics, "step": state.global_step, "epoch": state.epoch})
        if kwargs.get("metrics") is not None:
            kwargs["metrics"].update(noise_metrics)
