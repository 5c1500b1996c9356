"""Instruction models in vLLM's engine, without a server: `vllm:PATH-OR-ID`, on as many GPUs as --tensor-parallel says.

They are asked as `hf:` asks them: the same prompt, labels by log-likelihood, all else written greedily.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from lapsus.core.imports import import_package
from lapsus.core.types import Response
from lapsus.evaluation.models import ModelProvider
from lapsus.evaluation.models.causal import CausalModel, Tokens
from lapsus.evaluation.models.weights import explain_remote_code, find_checkpoint
from lapsus.evaluation.tasks import Task
from lapsus.io.readers import strip_error_message


@dataclass(frozen=True)
class VllmModel(CausalModel):
    """A causal language model in the engine of vLLM; `model` is that engine."""

    deterministic: ClassVar[bool] = False  # what else is in a batch changes the last digits

    @property
    def max_length(self) -> int:
        """How many tokens the engine reads at once: it keeps room for one that it writes."""
        return int(self.model.llm_engine.model_config.max_model_len) - 1

    def score_endings(self, prompts: Sequence[Tokens], endings: Sequence[Sequence[Tokens]]) -> list[list[float]]:
        """Return the log-likelihood of each ending of each prompt, which the engine reads as a part of the prompt."""
        texts = [[*prompt, *ending] for prompt, each in zip(prompts, endings, strict=True) for ending in each]
        outputs = iter(self._ask(texts, prompt_logprobs=1, max_tokens=1))
        scores = []
        for prompt, each in zip(prompts, endings, strict=True):
            behind = (output.prompt_logprobs[len(prompt) :] for output in islice(outputs, len(each)))
            scores.append(
                [
                    sum(place[token].logprob for place, token in zip(logprobs, ending, strict=True))
                    for logprobs, ending in zip(behind, each, strict=True)
                ]
            )
        return scores

    def generate(self, prompts: Sequence[Tokens], task: Task) -> list[Response]:
        """Return what the model writes after each prompt, greedily."""
        completions = [each.outputs[0] for each in self._ask(prompts, max_tokens=task.answer_type.max_tokens)]
        return [
            Response(each.text, finish_reason="length" if each.finish_reason == "length" else None)
            for each in completions
        ]

    def _ask(self, prompts: Sequence[Tokens], **sampling: Any) -> list[Any]:
        params = import_package("vllm", "vllm:").SamplingParams(temperature=0, seed=0, **sampling)
        outputs: list[Any] = self.model.generate(
            [{"prompt_token_ids": list(prompt)} for prompt in prompts], params, use_tqdm=False
        )
        return outputs


def open_vllm(rest: str, options: Mapping[str, Any]) -> VllmModel:
    """Return the model at a path, or of the Hub, in an engine of its own."""
    vllm = import_package("vllm", "vllm:")
    checkpoint = find_checkpoint(rest, trust_remote_code=bool(options.get("trust_remote_code")))
    path, dtype = checkpoint.path, options.get("dtype") or "auto"
    if checkpoint.adapter is not None:
        raise ValueError(f"{path} is an adapter; give hf:{path}, or merge it into {checkpoint.base} and save that")
    identity = f"vllm:{path} at {checkpoint.fingerprint()} {dtype}"
    try:
        engine = vllm.LLM(
            model=path,
            revision=checkpoint.revision,
            tensor_parallel_size=int(options.get("tensor_parallel") or 1),
            dtype=dtype,
            seed=0,
            trust_remote_code=checkpoint.trust_remote_code,
        )
    except Exception as error:  # an engine may raise anything: for a file, a GPU or memory that it misses
        if "trust_remote_code" in str(error):
            raise ValueError(explain_remote_code(path)) from error
        raise ValueError(f"vLLM does not open {path} ({strip_error_message(error)}); give what it asks for") from error
    return VllmModel(
        engine,
        engine.get_tokenizer(),
        options.get("name") or Path(path).name,
        identity + (" with its own code" if checkpoint.trust_remote_code else ""),
        int(options.get("batch_size") or 64),
        "",  # the engine knows its devices
        bare_prompt=options.get("chat_template") is False,
    )


UNITS = (
    ModelProvider(
        "vllm",
        "vllm:PATH-OR-ID",
        "an instruction model in vLLM's engine, on one or more GPUs",
        open_vllm,
        ("batch_size", "chat_template", "dtype", "tensor_parallel", "trust_remote_code"),
    ),
)
