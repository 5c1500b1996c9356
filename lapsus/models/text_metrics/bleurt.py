"""BLEURT by its port to torch: `pip install bleurt-pytorch==0.0.1`, with a checkpoint such as lucadiliello/BLEURT-20.

The port imports what transformers 5 no longer has, so that it needs transformers 4.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from lapsus.kernel.extras import needed
from lapsus.kernel.progress_bars import quiet_transformers
from lapsus.models.text_metrics import Asked, MetricKind, Rated, TextMetric

BATCH = 32


def open_bleurt(rest: str) -> TextMetric:
    """Return BLEURT with a checkpoint."""
    transformers = needed("transformers", "models", "bleurt")
    try:
        import bleurt_pytorch
    except ModuleNotFoundError as error:
        if error.name == "bleurt_pytorch":
            raise ModuleNotFoundError("bleurt is not installed; pip install bleurt-pytorch==0.0.1") from error
        raise ImportError(_too_new(transformers.__version__)) from error
    except ImportError as error:
        raise ImportError(_too_new(transformers.__version__)) from error
    with quiet_transformers():
        model = bleurt_pytorch.BleurtForSequenceClassification.from_pretrained(rest).eval()
    tokenizer = bleurt_pytorch.BleurtTokenizer.from_pretrained(rest)
    return Rated(f"bleurt:{Path(rest).name}", partial(_rate, model, tokenizer))


def _too_new(version: str) -> str:
    return f"bleurt-pytorch does not run with transformers {version}; pip install 'transformers<5' for it"


def _rate(model: Any, tokenizer: Any, asked: Asked) -> list[float]:
    import torch

    found: list[float] = []
    for at in range(0, len(asked.candidates), BATCH):
        sides = list(asked.references[at : at + BATCH]), list(asked.candidates[at : at + BATCH])
        inputs = tokenizer(*sides, padding="longest", truncation=True, max_length=512, return_tensors="pt")
        with torch.no_grad():
            found += model(**inputs).logits.flatten().tolist()
    return found


UNITS = (MetricKind("bleurt", "bleurt:PATH-OR-ID", "BLEURT, by bleurt-pytorch", open_bleurt),)
