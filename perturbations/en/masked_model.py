"""Synonym candidates from a masked language model, as in NATURE: any fill-mask checkpoint of transformers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lapsus.core.imports import import_optional

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lapsus.perturbations.en.synonyms import Gap


@dataclass(frozen=True, slots=True)
class MaskedLM:
    """Words that a fill-mask model puts in the gap, the most probable first.

    Give it to `Synonym(part, candidates=MaskedLM("bert-base-uncased"))`; its repr, recorded with every row, tells
    which model made a track. Logits are computed in double precision and rounded, so that neither the size of a
    batch nor the machine changes which word comes first.

    Args:
        checkpoint: A model id of the Hub, or a folder.
        revision: The commit of the checkpoint, for results that stay.
        top: How many candidates to return.
        batch_size: How many gaps go through the model at once.
        device: Where it runs, as torch names it.
    """

    checkpoint: str
    revision: str | None = None
    top: int = 50
    batch_size: int = 32
    device: str = "cpu"
    version: str = "1"

    def rank(self, gaps: Sequence[Gap]) -> list[Sequence[str]]:
        """Mask each gap's word and ask the model; a gap beyond the model's length gets no candidates."""
        return [[word for word, _ in candidates] for candidates in self.score(gaps)]

    def score(self, gaps: Sequence[Gap]) -> list[list[tuple[str, float]]]:
        """Return the candidates of each gap with their logits."""
        starts = range(0, len(gaps), self.batch_size)
        return [
            candidates for start in starts for candidates in self._score_batch(gaps[start : start + self.batch_size])
        ]

    def _score_batch(self, gaps: Sequence[Gap]) -> Iterator[list[tuple[str, float]]]:
        torch = import_optional("torch", "models")
        tokenizer, model = _load_checkpoint(self.checkpoint, self.revision, self.device)
        mask = tokenizer.mask_token
        encoded = tokenizer(
            [f"{gap.text[: gap.start]}{mask}{gap.text[gap.end :]}" for gap in gaps],
            padding=True,
            truncation=True,
            max_length=min(tokenizer.model_max_length, model.config.max_position_embeddings - 2),
            return_tensors="pt",
        ).to(self.device)
        with torch.inference_mode():
            logits = model(**encoded).logits
        for i, gap in enumerate(gaps):
            mask_indices = (encoded["input_ids"][i] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
            nth = gap.text[: gap.start].count(mask)  # the text itself may hold the mask's name
            if nth >= len(mask_indices):
                yield []
                continue
            scores, order = torch.sort(logits[i, mask_indices[nth]].round(decimals=6), descending=True, stable=True)
            best = zip(map(_make_word_decoder(tokenizer), order[: self.top].tolist()), scores.tolist(), strict=False)
            yield [(word, score) for word, score in best if word]


def _make_word_decoder(tokenizer: Any) -> Any:
    """Return a function from a token's number to its word, or nothing for a piece of one."""

    def decode_word(number: int) -> str | None:
        piece = tokenizer.convert_ids_to_tokens(number)
        text = str(tokenizer.decode([number])).strip()
        return None if piece.startswith("##") or number in tokenizer.all_special_ids or not text.isalpha() else text

    return decode_word


@lru_cache(maxsize=2)
def _load_checkpoint(checkpoint: str, revision: str | None, device: str) -> tuple[Any, Any]:
    """Load tokenizer and model once."""
    transformers = import_optional("transformers", "models")
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint, revision=revision)
    if tokenizer.mask_token is None:
        raise ValueError(f"{checkpoint!r} has no mask token; give a fill-mask checkpoint such as bert-base-uncased")
    model = transformers.AutoModelForMaskedLM.from_pretrained(checkpoint, revision=revision)
    return tokenizer, model.double().eval().to(device)
