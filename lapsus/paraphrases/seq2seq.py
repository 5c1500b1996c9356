"""Paraphrases by an encoder-decoder of transformers, such as a T5 that was trained on PAWS."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lapsus.kernel.extras import needed
from lapsus.kernel.names import shown
from lapsus.kernel.progress_bars import quiet_transformers
from lapsus.paraphrases.generators import Settings

PROMPT = "paraphrase: {text}"  # what T5 models for paraphrases were trained with


@dataclass(frozen=True, slots=True)
class Seq2Seq:
    """A model with its tokenizer: it returns its best beams; with `top_k` it draws instead, keyed by the sentence."""

    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    name: str
    number: int = 10
    top_k: int | None = None
    seed: int = 0
    prompt: str = PROMPT

    def paraphrases(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield what the model writes for each text, the likeliest first; a text's do not depend on its neighbours."""
        import torch

        for text in texts:
            asked = self.tokenizer(self.prompt.format(text=text), return_tensors="pt", verbose=False)
            length = int(asked["input_ids"].shape[1])
            limit = self._limit()
            if length > limit:
                raise ValueError(
                    f"{text[:60]!r}… has {length} tokens, more than the {limit} that {self.name} can read; leave it out"
                )
            with torch.random.fork_rng(devices=[]), torch.inference_mode():
                torch.manual_seed(self._key(text))
                made = self.model.generate(
                    input_ids=asked["input_ids"],
                    attention_mask=asked["attention_mask"],
                    max_new_tokens=2 * length + 8,
                    num_return_sequences=self.number,
                    **self._search(),
                )
            yield [str(each).strip() for each in self.tokenizer.batch_decode(made, skip_special_tokens=True)]

    def _search(self) -> dict[str, Any]:
        if self.top_k is None:
            return {"num_beams": self.number, "do_sample": False}
        return {"num_beams": 1, "do_sample": True, "top_k": self.top_k}

    def _key(self, text: str) -> int:
        """Return the seed of a sentence's drawings."""
        return int.from_bytes(hashlib.sha256(f"{self.name}/{self.seed}/{text}".encode()).digest()[:8])

    def _limit(self) -> int:
        told = (getattr(self.model.config, "max_position_embeddings", None), self.tokenizer.model_max_length)
        return min(int(number) for number in (*told, 10**9) if number)


def open_seq2seq(path: str, settings: Settings) -> Seq2Seq:
    """Load the checkpoint at a path, or of the Hub."""
    transformers = needed("transformers", "models", "a paraphraser")
    needed("torch", "models", "a paraphraser")
    local = Path(path)
    if local.exists() and not (local / "config.json").is_file():
        raise FileNotFoundError(f"{path} has no config.json; give the folder that save_pretrained wrote")
    prompt = settings.prompt or PROMPT
    if "{text}" not in prompt:
        raise ValueError(f"the prompt {prompt[:40]!r} has no {{text}}, where the sentence goes; put it in")
    with quiet_transformers():
        model, told = transformers.AutoModelForSeq2SeqLM.from_pretrained(path, output_loading_info=True)
    if told["missing_keys"]:
        raise ValueError(f"{path} lacks the weights of {shown(sorted(told['missing_keys']), 2)}; give a trained model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    return Seq2Seq(model.eval(), tokenizer, local.name, settings.number, settings.top_k, settings.seed, prompt)
