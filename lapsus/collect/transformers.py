"""Paraphrases by an encoder-decoder of transformers, such as a T5 that was trained on PAWS."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lapsus.collect.generators import GeneratorSettings
from lapsus.core.imports import import_optional
from lapsus.core.messages import format_list
from lapsus.core.terminal import hide_transformers_bars

PROMPT = "paraphrase: {text}"  # what T5 models for paraphrases were trained with


@dataclass(frozen=True, slots=True)
class Seq2SeqGenerator:
    """A model with its tokenizer: it returns its best beams; with `top_k` it draws instead, keyed by the sentence."""

    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    name: str
    number: int = 10
    top_k: int | None = None
    seed: int = 0
    prompt: str = PROMPT

    def generate(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield what the model writes for each text, the likeliest first; a text's do not depend on its neighbours."""
        import torch

        for text in texts:
            inputs = self.tokenizer(self.prompt.format(text=text), return_tensors="pt", verbose=False)
            length = int(inputs["input_ids"].shape[1])
            limit = self._find_max_length()
            if length > limit:
                raise ValueError(
                    f"{text[:60]!r}… has {length} tokens, more than the {limit} that {self.name} can read; leave it out"
                )
            with torch.random.fork_rng(devices=[]), torch.inference_mode():
                torch.manual_seed(self._compute_seed(text))
                outputs = self.model.generate(
                    input_ids=inputs["input_ids"],
                    attention_mask=inputs["attention_mask"],
                    max_new_tokens=2 * length + 8,
                    num_return_sequences=self.number,
                    **self._build_generation_args(),
                )
            yield [str(each).strip() for each in self.tokenizer.batch_decode(outputs, skip_special_tokens=True)]

    def _build_generation_args(self) -> dict[str, Any]:
        if self.top_k is None:
            return {"num_beams": self.number, "do_sample": False}
        return {"num_beams": 1, "do_sample": True, "top_k": self.top_k}

    def _compute_seed(self, text: str) -> int:
        """Return the seed of a sentence's drawings."""
        return int.from_bytes(hashlib.sha256(f"{self.name}/{self.seed}/{text}".encode()).digest()[:8])

    def _find_max_length(self) -> int:
        limits = (getattr(self.model.config, "max_position_embeddings", None), self.tokenizer.model_max_length)
        return min(int(number) for number in (*limits, 10**9) if number)


def open_seq2seq(path: str, settings: GeneratorSettings) -> Seq2SeqGenerator:
    """Load the checkpoint at a path, or of the Hub."""
    transformers = import_optional("transformers", "models", "a paraphraser")
    import_optional("torch", "models", "a paraphraser")
    local = Path(path)
    if local.exists() and not (local / "config.json").is_file():
        raise FileNotFoundError(f"{path} has no config.json; give the folder that save_pretrained wrote")
    prompt = settings.prompt or PROMPT
    if "{text}" not in prompt:
        raise ValueError(f"the prompt {prompt[:40]!r} has no {{text}}, where the sentence goes; put it in")
    with hide_transformers_bars():
        model, loading_info = transformers.AutoModelForSeq2SeqLM.from_pretrained(path, output_loading_info=True)
    if loading_info["missing_keys"]:
        raise ValueError(
            f"{path} lacks the weights of {format_list(sorted(loading_info['missing_keys']), 2)}; give a trained model"
        )
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    return Seq2SeqGenerator(model.eval(), tokenizer, local.name, settings.number, settings.top_k, settings.seed, prompt)
