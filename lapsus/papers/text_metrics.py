"""Text metrics that read the first token of an encoder-decoder: MetricX, and a NANO trained here.

MetricX (Juraska et al., WMT 2023 and 2024): an mT5 that says how many errors a translation has, from 0 to 25.

A checkpoint such as google/metricx-24-hybrid-large-v2p6@google/mt5-large: behind the @ the tokenizer, which its folder
lacks. The metric is its negative. The form of the input is that of 2024 (`source: … candidate: … reference: …`, parts
that are not there left out), of 2023 where `metricx-23` stands in the name.

Both are found by the entry point `lapsus.text_metrics`, and import torch when they are opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lapsus.core.imports import import_optional
from lapsus.evaluation.text_metrics import FunctionMetric, MetricInput, MetricProvider, Reads, TextMetric

if TYPE_CHECKING:
    from lapsus.papers.nano import Nano
    from lapsus.papers.nano.first_token import FirstTokenRegressor

PLACE = 250089  # <extra_id_10> of mT5, as the authors read it
WORST = 25.0
READS: Mapping[str, tuple[Reads, ...]] = {
    "within": ("references",),
    "qe": ("sources",),
    "qe-ref": ("references", "sources"),
}


def open_metricx(rest: str) -> TextMetric:
    """Return MetricX with a checkpoint."""
    import_optional("torch", "papers", "metricx")
    from lapsus.papers.nano.first_token import load_checkpoint

    path, _, tokenizer = rest.partition("@")
    older = "metricx-23" in path.lower()
    model = load_checkpoint(
        path, token_index=PLACE, max_length=1024 if older else 1536, tokenizer=tokenizer or None, append_eos=False
    )
    if model.model.config.vocab_size <= PLACE:
        raise ValueError(
            f"{path} has {model.model.config.vocab_size} tokens, an mT5 250,112; give a MetricX checkpoint"
        )
    return FunctionMetric(
        f"metricx:{Path(path).name}", partial(_rate, model, older), required=(), optional=("references", "sources")
    )


def _rate(model: FirstTokenRegressor, older: bool, metric_input: MetricInput) -> list[float]:
    texts = [
        build_input(
            candidate,
            metric_input.references[index] if metric_input.references else None,
            metric_input.sources[index] if metric_input.sources else None,
            older=older,
        )
        for index, candidate in enumerate(metric_input.candidates)
    ]
    return [-min(max(each, 0.0), WORST) for each in model.predict(texts)]


def build_input(candidate: str, reference: str | None, source: str | None, *, older: bool) -> str:
    """Return what the model reads.

    >>> build_input("a tram", "the tram", "o elétrico", older=False)
    'source: o elétrico candidate: a tram reference: the tram'
    >>> build_input("a tram", None, "o elétrico", older=True)
    'candidate: a tram source: o elétrico'
    """
    if older:
        return f"candidate: {candidate} " + (f"source: {source}" if reference is None else f"reference: {reference}")
    parts = (("source", source), ("candidate", candidate), ("reference", reference))
    return " ".join(f"{name}: {text}" for name, text in parts if text is not None)


def open_nano(rest: str) -> TextMetric:
    """Return the metric in a folder that `Nano.save` wrote."""
    import_optional("torch", "papers", "nano")
    from lapsus.papers.nano import Nano

    return make_nano_metric(Nano.load(rest), f"nano:{Path(rest).name}")


def make_nano_metric(nano: Nano, name: str) -> TextMetric:
    """Return a trained NANO as a metric."""

    def rate(metric_input: MetricInput) -> list[float]:
        return nano.score(metric_input.candidates, metric_input.references, metric_input.sources, metric_input.tags)

    return FunctionMetric(name, rate, required=(*READS[nano.input_format], "tags"))


UNITS = (
    MetricProvider("metricx", "metricx:PATH-OR-ID[@TOKENIZER]", "MetricX, negative", open_metricx),
    MetricProvider("nano", "nano:FOLDER", "a metric trained by lapsus.papers.nano", open_nano),
)
