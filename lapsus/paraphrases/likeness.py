"""How alike a paraphrase and its sentence mean, by a sentence encoder: what to show the judges first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lapsus.kernel.extras import needed
from lapsus.kernel.progress_bars import quiet_transformers

BATCH = 32


@dataclass(frozen=True, slots=True)
class Encoder:
    """The cosine of the means of an encoder's last layer, such as of all-MiniLM-L6-v2."""

    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    name: str

    @classmethod
    def load(cls, path: str) -> Encoder:
        """Load the encoder at a path, or of the Hub."""
        transformers = needed("transformers", "models", "a sentence encoder")
        needed("torch", "models", "a sentence encoder")
        with quiet_transformers():
            model = transformers.AutoModel.from_pretrained(path)
        return cls(model.eval(), transformers.AutoTokenizer.from_pretrained(path), Path(path).name)

    def alike(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the likeness of each pair, from -1 to 1; what is longer than the encoder reads is cut."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = dict(zip(texts, self._vectors(texts), strict=True))
        return [float(vectors[first] @ vectors[second]) for first, second in pairs]

    def _vectors(self, texts: Sequence[str]) -> list[Any]:
        import torch

        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        found: list[Any] = [None] * len(texts)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            batch = self.tokenizer(
                [texts[place] for place in places], padding=True, truncation=True, return_tensors="pt", verbose=False
            )
            mask = batch["attention_mask"][:, :, None]
            with torch.inference_mode():
                mean = (self.model(**batch).last_hidden_state * mask).sum(1) / mask.sum(1)
            for place, vector in zip(places, torch.nn.functional.normalize(mean, dim=1), strict=True):
                found[place] = vector
        return found
