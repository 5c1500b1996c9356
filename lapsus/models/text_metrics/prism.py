"""PRISM (Thompson and Post, EMNLP 2020): how probable a multilingual translator finds one text, having read the other.

With references, the mean of both directions; with sources alone, the candidate having read the source. The authors'
model (m39v1) runs on fairseq alone; any encoder-decoder of transformers that translates and paraphrases stands in its
place here. `PATH@TAG` begins every text that is written with a token of that name, as M2M100 and NLLB want it; with
`@language` it is taken from each text's tag (`__zh__`).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from lapsus.kernel.extras import needed
from lapsus.kernel.progress_bars import quiet_transformers
from lapsus.models.text_metrics import Asked, MetricKind, Rated, Reads, TextMetric, Texts

BATCH = 32


def open_prism(rest: str) -> TextMetric:
    """Return the measure with an encoder-decoder."""
    transformers = needed("transformers", "models", "prism")
    path, _, begin = rest.partition("@")
    with quiet_transformers():
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    takes: tuple[Reads, ...] = ("references", "sources", *(("tags",) if begin == "language" else ()))
    return Rated(f"prism:{Path(path).name}", partial(_rate, model, tokenizer, begin), needs=(), takes=takes)


def _rate(model: Any, tokenizer: Any, begin: str, asked: Asked) -> list[float]:
    languages = (f"__{tag.partition('-')[0]}__" for tag in asked.tags)
    first = list(languages) if begin == "language" else [begin] * len(asked.candidates)
    if not asked.references:
        return likelihoods(model, tokenizer, asked.sources, asked.candidates, first)
    there = likelihoods(model, tokenizer, asked.references, asked.candidates, first)
    back = likelihoods(model, tokenizer, asked.candidates, asked.references, first)
    return [(one + other) / 2 for one, other in zip(there, back, strict=True)]


def likelihoods(model: Any, tokenizer: Any, read: Texts, written: Texts, first: Texts) -> list[float]:
    """Return the mean log-probability of the tokens of each written text, having read another."""
    import torch

    starts = [tokenizer.convert_tokens_to_ids(token) if token else None for token in first]
    if any(each == tokenizer.unk_token_id for each, token in zip(starts, first, strict=True) if token):
        raise LookupError(f"the model's vocabulary has no token {first[0]!r}; name another behind the @")
    found: list[float] = []
    for at in range(0, len(read), BATCH):
        inputs = tokenizer(list(read[at : at + BATCH]), padding=True, truncation=True, return_tensors="pt")
        outs = tokenizer(text_target=list(written[at : at + BATCH]), truncation=True)["input_ids"]
        begun = [
            [start, *ids] if start is not None else ids
            for start, ids in zip(starts[at : at + BATCH], outs, strict=True)
        ]
        width = max(map(len, begun))
        labels = torch.tensor([ids + [-100] * (width - len(ids)) for ids in begun])
        with torch.no_grad():
            logits = model(**inputs, labels=labels).logits.log_softmax(2)
        if starts[at] is not None:
            labels[:, 0] = -100  # it is given, and not written
        kept = labels != -100
        chosen = logits.gather(2, labels.clamp(min=0)[:, :, None])[:, :, 0]
        found += ((chosen * kept).sum(1) / kept.sum(1).clamp(min=1)).tolist()
    return found


UNITS = (MetricKind("prism", "prism:PATH-OR-ID[@TAG]", "PRISM with an encoder-decoder of transformers", open_prism),)
