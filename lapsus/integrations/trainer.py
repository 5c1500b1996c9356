"""Callbacks of transformers' Trainer: other noise in every epoch, and what noise costs the model at every evaluation.

    trainer.add_callback(EpochCallback(transform))
    trainer.add_callback(NoiseCallback(trainer, data))

The second adds `eval_noise_clean`, and for each family of tracks `eval_noise_keyboard_average` and
`eval_noise_keyboard_worst`, to the metrics, and logs them, with the ends of their 95 % intervals, as the Trainer logs
everything: `metric_for_best_model="noise_keyboard_worst"` keeps the checkpoint that is best at its worst.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from transformers import Trainer, TrainerCallback

from lapsus.core.messages import format_list
from lapsus.core.types import Track
from lapsus.evaluation.models import ModelAdapter
from lapsus.evaluation.models.causal import CausalModel
from lapsus.evaluation.models.transformers import find_family
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tracks import TrackSet
from lapsus.integrations.loggers import to_safe_name
from lapsus.perturbations import NoiseTransform
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.analysis.records import Estimate

PREFIX = "eval_noise_"  # loggers show what begins with `eval_` under `eval/`


class EpochCallback(TrainerCallback):  # type: ignore[misc] # transformers is untyped here
    """Tells a transform of the training rows which epoch begins, also where a training is resumed."""

    def __init__(self, transform: NoiseTransform) -> None:
        """Keep the transform."""
        self.transform = transform
        self.next_epoch = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin where the checkpoint stopped; a stream without length has no epochs to stop in."""
        self.next_epoch = int(state.epoch or 0)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Set the epoch before its first batch is read."""
        self.transform.set_epoch(self.next_epoch)
        self.next_epoch += 1


class NoiseCallback(TrainerCallback):  # type: ignore[misc] # transformers is untyped here
    """Runs the model on every track of `data` when the Trainer evaluates."""

    def __init__(self, trainer: Trainer, data: TrackSet, *, batch_size: int = 32, chat_template: bool = True) -> None:
        """Check that the model can do the task of the data.

        Args:
            trainer: The Trainer, of which the model, the tokenizer and the loggers are used.
            data: The rows on the clean track and on noisy ones, as `add_noise` returns them.
            batch_size: How many rows go through the model at once.
            chat_template: Whether a causal model is asked through the tokenizer's chat template.
        """
        if not isinstance(trainer, Trainer):
            raise TypeError(
                f"NoiseCallback needs the Trainer, not {type(trainer).__name__}; write "
                "trainer.add_callback(NoiseCallback(trainer, data))"
            )
        if len(data.tracks) < 2:
            raise ValueError(f"{data.name} has one track, {next(iter(data.tracks))!r}; add one with add_noise")
        self.trainer, self.data, self.batch_size, self.chat_template = trainer, data, batch_size, chat_template
        self.tokenizer = deepcopy(_find_tokenizer(trainer))  # models set its padding, which training needs otherwise
        self._check_best_metric()
        self._make_adapter().prepare(data.task)

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure clean, average and worst scores, add them to the metrics, and log them."""
        model = self.trainer.model
        was_training = model.training
        model.eval()
        try:
            tracks = Evaluation(self.data, self._make_adapter()).execute().tracks
        finally:
            model.train(was_training)
        noise_metrics: dict[str, float] = {}
        for row in measure(tracks).summary:
            averages = row.averages
            noise_metrics |= _flatten("clean", averages.clean_average)
            noise_metrics |= _flatten(f"{row.family}_average", averages.micro_average)
            noise_metrics |= _flatten(f"{row.family}_worst", averages.worst_average)
        self.trainer.log(dict(noise_metrics))  # it adds to what it is given
        if kwargs.get("metrics") is not None:
            kwargs["metrics"].update(noise_metrics)

    def _make_adapter(self) -> ModelAdapter:
        """Return the model as one that answers requests."""
        model: Any = self.trainer.model
        name = type(model).__name__
        family = find_family(name)
        if family is None:
            raise TypeError(
                f"NoiseCallback reads classifiers, taggers, readers of passages, encoder-decoders and causal models, "
                f"not {name}; leave it out"
            )
        _, adapter = family
        bare = {"bare_prompt": True} if adapter is CausalModel and not self.chat_template else {}
        step = f"step {self.trainer.state.global_step}"
        return adapter(model, self.tokenizer, "model", step, self.batch_size, str(model.device), **bare)

    def _check_best_metric(self) -> None:
        """Raise where the best model is chosen by noise that the data do not have."""
        best = str(self.trainer.args.metric_for_best_model or "").removeprefix("eval_")
        families = dict.fromkeys(to_safe_name(Track("", track, []).family) for track in list(self.data.tracks)[1:])
        names = ["noise_clean", *(f"noise_{family}_{end}" for family in families for end in ("average", "worst"))]
        if best.startswith("noise_") and best not in names:
            raise ValueError(f"metric_for_best_model is {best!r}, but {self.data.name} gives {format_list(names, 40)}")


def _find_tokenizer(trainer: Trainer) -> Any:
    tokenizer = getattr(trainer.processing_class, "tokenizer", trainer.processing_class)
    if tokenizer is None:
        raise ValueError("the Trainer has no tokenizer; make it with processing_class=tokenizer")
    return tokenizer


def _flatten(name: str, estimate: Estimate) -> dict[str, float]:
    """Return a score and the ends of its interval, by the names of metrics."""
    values = {"": estimate.value, "_low": estimate.low, "_high": estimate.high}
    name = f"{PREFIX}{to_safe_name(name)}"
    return {f"{name}{end}": value for end, value in values.items() if value is not None}
