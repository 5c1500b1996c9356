"""BLEURT by its port to torch: `pip install bleurt-pytorch==0.0.1`, with a checkpoint such as lucadiliello/BLEURT-20.

The port imports what transformers 5 no longer has, so that it needs transformers 4.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from lapsus.core.imports import import_optional
from lapsus.core.terminal import hide_transformers_bars
from lapsus.evaluation.text_metrics import FunctionMetric, MetricInput, MetricProvider, TextMetric

BATCH = 32


def open_bleurt(rest: str) -> TextMetric:
    """Return BLEURT with a checkpoint."""
    transformers = import_optional("transformers", "models", "bleurt")
    try:
        import bleurt_pytorch
    except ModuleNotFoundError as error:
        if error.name == "bleurt_pytorch":
            raise ModuleNotFoundError("bleurt is not installed; pip install bleurt-pytorch==0.0.1") from error
        raise ImportError(_format_version_error(transformers.__version__)) from error
    except ImportError as error:
        raise ImportError(_format_version_error(transformers.__version__)) from error
    with hide_transformers_bars():
        model = bleurt_pytorch.BleurtForSequenceClassification.from_pretrained(rest).eval()
    tokenizer = bleurt_pytorch.BleurtTokenizer.from_pretrained(rest)
    return FunctionMetric(f"bleurt:{Path(rest).name}", partial(_rate, model, tokenizer))


def _format_version_error(version: str) -> str:
    return f"bleurt-pytorch does not run with transformers {version}; pip install 'transformers<5' for it"


def _rate(model: Any, tokenizer: Any, metric_input: MetricInput) -> list[float]:
    import torch

    scores: list[float] = []
    for at in range(0, len(metric_input.candidates), BATCH):
        sides = list(metric_input.references[at : at + BATCH]), list(metric_input.candidates[at : at + BATCH])
        inputs = tokenizer(*sides, padding="longest", truncation=True, max_length=512, return_tensors="pt")
        with torch.no_grad():
            scores += model(**inputs).logits.flatten().tolist()
    return scores


UNITS = (MetricProvider("bleurt", "bleurt:PATH-OR-ID", "BLEURT, by bleurt-pytorch", open_bleurt),)
