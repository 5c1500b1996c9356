"""An instruction model that is asked for a number from 0 to 100, behind an OpenAI-compatible address.

`judge:http://localhost:8000/v1#NAME`. Answers are kept in `lapsus/judge-answers` of the user's cache, so that none is
asked for twice.
"""

from __future__ import annotations

import re
from functools import partial

from lapsus.evaluation.models.endpoint_client import Endpoint
from lapsus.evaluation.models.packaged import find_cache_folder
from lapsus.evaluation.text_metrics import FunctionMetric, MetricInput, MetricProvider, TextMetric

SAME_MEANING = (
    "Sentence 1: {base}\nSentence 2: {candidate}\nHow well does sentence 2 say in {tag} what sentence 1 means, "
    "from 0 (another meaning) to 100 (the same meaning)? Answer with a number alone."
)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def open_judge(rest: str) -> TextMetric:
    """Return the judge at an address."""
    url, hash_, model = rest.partition("#")
    if not hash_ or not model:
        raise ValueError(f"judge:{rest} names no model; write judge:http://HOST/v1#NAME")
    endpoint = Endpoint(url, model, cache=str(find_cache_folder() / "judge-answers"))
    return FunctionMetric(
        f"judge:{model}", partial(_rate, endpoint), required=("tags",), optional=("references", "sources")
    )


def _rate(endpoint: Endpoint, metric_input: MetricInput) -> list[float]:
    prompts = [
        SAME_MEANING.format(base=base, candidate=candidate, tag=tag.removesuffix("-any"))
        for base, candidate, tag in zip(
            metric_input.references or metric_input.sources, metric_input.candidates, metric_input.tags, strict=True
        )
    ]
    return [_parse_number(answer, endpoint.model) for answer in endpoint.complete_all(prompts, max_tokens=8)]


def _parse_number(answer: str, model: str) -> float:
    """Return the number of an answer.

    >>> _parse_number("85.", "m")
    85.0
    """
    match = NUMBER.search(answer)
    if match is None or not 0 <= float(match[0]) <= 100:
        raise ValueError(f"{model} answered {answer!r}, which is no number from 0 to 100; take another judge")
    return float(match[0])


UNITS = (MetricProvider("judge", "judge:http://HOST/v1#NAME", "an instruction model asked for 0 to 100", open_judge),)
