"""BERTScore and YiSi-1: every token looks for its like in the other text, by the vectors of an encoder.

BERTScore is the package bert-score (`pip install bert-score==0.3.13`), its F1 without rescaling. YiSi-1 (Lo, WMT 2019)
has no package, and is written out here as the paper has it without semantic roles: a token weighs by how rare it is
among the references that are scored together, and precision and recall are weighed .2 and .8.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from lapsus.core.imports import import_optional
from lapsus.core.terminal import hide_transformers_bars
from lapsus.evaluation.text_metrics import FunctionMetric, MetricInput, MetricProvider, TextMetric

RECALL_WEIGHT = 0.8  # alpha of YiSi for a metric, where there are references
Vectors = np.ndarray[Any, np.dtype[Any]]


def yisi_f(similarities: Vectors, candidate: Vectors, reference: Vectors) -> float:
    """Return YiSi's F of a table of similarities (candidate x reference) and the weights of both sides.

    >>> similar = np.array([[1.0, 0.2], [0.1, 0.6]])
    >>> round(yisi_f(similar, np.array([1.0, 1.0]), np.array([1.0, 3.0])), 4)  # P = .8, R = .7
    0.7179
    """
    precision = float(similarities.max(1) @ candidate / max(candidate.sum(), 1e-12))
    recall = float(similarities.max(0) @ reference / max(reference.sum(), 1e-12))
    denominator = RECALL_WEIGHT * precision + (1 - RECALL_WEIGHT) * recall
    return precision * recall / denominator if denominator > 0 else 0.0


def parse_layer(name: str, rest: str) -> tuple[str, int | None]:
    """Return the encoder and the layer of `PATH@LAYER`; None where no layer is named.

    >>> parse_layer("yisi", "encoder@9"), parse_layer("yisi", "encoder")
    (('encoder', 9), ('encoder', None))
    """
    path, at, layer = rest.partition("@")
    if at and not (layer.isascii() and layer.isdigit()):
        raise ValueError(f"{name}:{rest} names no layer; write a number behind the @, as in {path}@9")
    return path, int(layer) if at else None


def open_bertscore(rest: str) -> TextMetric:
    """Return BERTScore by an encoder; `PATH@LAYER` says which layer, by default the last one."""
    path, layer = parse_layer("bertscore", rest)
    try:
        from bert_score import BERTScorer
    except ImportError as error:
        raise ModuleNotFoundError("bertscore is not installed; pip install bert-score==0.3.13") from error
    transformers = import_optional("transformers", "models", "this metric")
    layers = transformers.AutoConfig.from_pretrained(path).num_hidden_layers if layer is None else layer
    with hide_transformers_bars():
        scorer = BERTScorer(model_type=path, num_layers=layers)
    tokenizer = scorer._tokenizer  # noqa: SLF001 - where it states no limit, the package's own call fails
    tokenizer.model_max_length = min(tokenizer.model_max_length, scorer._model.config.max_position_embeddings)  # noqa: SLF001

    def rate(metric_input: MetricInput) -> list[float]:
        pairs = list(zip(metric_input.candidates, metric_input.references, strict=True))
        nonempty = [index for index, pair in enumerate(pairs) if all(text.strip() for text in pair)]
        scores = [0.0] * len(pairs)  # the package gives 0 to a text of no words, or fails
        if nonempty:
            candidates, references = zip(*(pairs[index] for index in nonempty), strict=True)
            for index, value in zip(nonempty, scorer.score(candidates, references)[2].tolist(), strict=True):
                scores[index] = value
        return scores

    return FunctionMetric(f"bertscore:{Path(path).name}", rate)


def open_yisi(rest: str) -> TextMetric:
    """Return YiSi-1 by an encoder; `PATH@LAYER` says which layer, by default the last one."""
    path, layer = parse_layer("yisi", rest)
    transformers = import_optional("transformers", "models", "this metric")
    with hide_transformers_bars():
        model = transformers.AutoModel.from_pretrained(path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    return FunctionMetric(
        f"yisi:{Path(path).name}", partial(_rate_yisi, model, tokenizer, -1 if layer is None else layer)
    )


def _rate_yisi(model: Any, tokenizer: Any, layer: int, metric_input: MetricInput) -> list[float]:
    texts = dict.fromkeys((*metric_input.candidates, *metric_input.references))
    encoded = {text: _encode_tokens(model, tokenizer, layer, text) for text in texts}
    document_counts = Counter(token for text in set(metric_input.references) for token in set(encoded[text][0]))
    n_references = len(set(metric_input.references))

    def weigh(tokens: list[int]) -> Vectors:
        return np.array([log((n_references + 1) / (document_counts[token] + 1)) + 1e-6 for token in tokens])

    scores = []
    for candidate, reference in zip(metric_input.candidates, metric_input.references, strict=True):
        (candidate_tokens, candidate_vectors), (reference_tokens, reference_vectors) = (
            encoded[candidate],
            encoded[reference],
        )
        if not candidate_tokens or not reference_tokens:
            scores.append(float(candidate_tokens == reference_tokens))
            continue
        scores.append(yisi_f(candidate_vectors @ reference_vectors.T, weigh(candidate_tokens), weigh(reference_tokens)))
    return scores


def _encode_tokens(model: Any, tokenizer: Any, layer: int, text: str) -> tuple[list[int], Vectors]:
    """Return the tokens of a text and their vectors of length 1, without those that only mark its ends."""
    torch = import_optional("torch", "models", "this metric")
    batch = tokenizer(text, return_tensors="pt", truncation=True, return_special_tokens_mask=True)
    marks = batch.pop("special_tokens_mask")[0].bool()
    with torch.no_grad():
        vectors = model(**batch, output_hidden_states=True).hidden_states[layer][0][~marks].numpy()
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return batch["input_ids"][0][~marks].tolist(), vectors


UNITS = (
    MetricProvider("bertscore", "bertscore:PATH-OR-ID[@LAYER]", "BERTScore's F1, by bert-score", open_bertscore),
    MetricProvider("yisi", "yisi:PATH-OR-ID[@LAYER]", "YiSi-1 without semantic roles", open_yisi),
)
