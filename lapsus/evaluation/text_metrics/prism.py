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

from lapsus.core.imports import import_optional
from lapsus.core.terminal import hide_transformers_bars
from lapsus.evaluation.text_metrics import FunctionMetric, MetricInput, MetricProvider, Reads, TextMetric, Texts

BATCH = 32


def open_prism(rest: str) -> TextMetric:
    """Return the measure with an encoder-decoder."""
    transformers = import_optional("transformers", "models", "prism")
    path, _, begin = rest.partition("@")
    with hide_transformers_bars():
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    required: tuple[Reads, ...] = ("tags",) if begin == "language" else ()
    rate = partial(_rate, model, tokenizer, begin)
    return FunctionMetric(f"prism:{Path(path).name}", rate, required, optional=("references", "sources"))


def _rate(model: Any, tokenizer: Any, begin: str, metric_input: MetricInput) -> list[float]:
    languages = (f"__{tag.partition('-')[0]}__" for tag in metric_input.tags)
    start_tokens = list(languages) if begin == "language" else [begin] * len(metric_input.candidates)
    if not metric_input.references:
        return mean_logprobs(model, tokenizer, metric_input.sources, metric_input.candidates, start_tokens)
    candidate_logprobs = mean_logprobs(model, tokenizer, metric_input.references, metric_input.candidates, start_tokens)
    reference_logprobs = mean_logprobs(model, tokenizer, metric_input.candidates, metric_input.references, start_tokens)
    return [(forward + backward) / 2 for forward, backward in zip(candidate_logprobs, reference_logprobs, strict=True)]


def mean_logprobs(model: Any, tokenizer: Any, sources: Texts, targets: Texts, start_tokens: Texts) -> list[float]:
    """Return the mean log-probability of the tokens of each written text, having read another."""
    import torch

    start_ids = [tokenizer.convert_tokens_to_ids(token) if token else None for token in start_tokens]
    if any(each == tokenizer.unk_token_id for each, token in zip(start_ids, start_tokens, strict=True) if token):
        raise LookupError(f"the model's vocabulary has no token {start_tokens[0]!r}; name another behind the @")
    scores: list[float] = []
    for at in range(0, len(sources), BATCH):
        inputs = tokenizer(list(sources[at : at + BATCH]), padding=True, truncation=True, return_tensors="pt")
        outs = tokenizer(text_target=list(targets[at : at + BATCH]), truncation=True)["input_ids"]
        target_ids = [
            [start, *ids] if start is not None else ids
            for start, ids in zip(start_ids[at : at + BATCH], outs, strict=True)
        ]
        width = max(map(len, target_ids))
        labels = torch.tensor([ids + [-100] * (width - len(ids)) for ids in target_ids])
        with torch.no_grad():
            logits = model(**inputs, labels=labels).logits.log_softmax(2)
        if start_ids[at] is not None:
            labels[:, 0] = -100  # it is given, and not written
        mask = labels != -100
        token_logprobs = logits.gather(2, labels.clamp(min=0)[:, :, None])[:, :, 0]
        scores += ((token_logprobs * mask).sum(1) / mask.sum(1).clamp(min=1)).tolist()
    return scores


UNITS = (
    MetricProvider("prism", "prism:PATH-OR-ID[@TAG]", "PRISM with an encoder-decoder of transformers", open_prism),
)
