"""Instruction models through transformers: labels are scored by log-likelihood, all else is written and read.

The likelihood of a label is that of its tokens after the prompt, as lm-evaluation-harness computes it. A prompt goes
through the model once, whatever the number of labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lapsus.running.answers import Answer
from lapsus.running.kinds import ended
from lapsus.running.models import Row
from lapsus.running.models.transformers_models import Loaded
from lapsus.running.tasks import Task

Tokens = list[int]
BEFORE_LABEL = "\n"  # between a bare prompt and a label; a chat template brings what stands there


def as_chat(tokenizer: Any, prompt: str) -> str:
    """Return a prompt as the chat template of a tokenizer puts it."""
    told: str = tokenizer.apply_chat_template(
        [{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True
    )
    return told


def refuse_alike(model: str, endings: Mapping[str, Sequence[Any]]) -> None:
    """Refuse labels of which one has the tokens that another begins with: the other could never be likelier."""
    for word, tokens in endings.items():
        for other, its in endings.items():
            if word != other and list(its[: len(tokens)]) == list(tokens):
                raise ValueError(
                    f"{model} reads the labels {word!r} and {other!r} as the same tokens"
                    f"{'' if len(its) == len(tokens) else ' at their beginning'}, so that the second can never win; "
                    "give labels that begin differently"
                )


@dataclass(frozen=True)
class Instructed(Loaded):
    """A causal language model, asked through its chat template; or with the prompt alone, where it has none."""

    plain: bool = False

    def prepare(self, task: Task) -> None:
        if not self.plain and not self.tokenizer.chat_template:
            raise ValueError(
                f"{self.name} has no chat template, so it is no instruction model; give one that has, "
                "or pass --plain to send the prompt as it is"
            )
        words = list(ended(task.kind.choices).values())
        refuse_alike(self.name, dict(zip(words, self.endings(self.tail(self.text("?")), words), strict=True)))

    def tail(self, text: str) -> str:
        """Return a text from its last special token on; tokenizers split there, whatever stands before."""
        return text[max([0, *(text.rfind(mark) for mark in self.tokenizer.all_special_tokens)]) :]

    def endings(self, text: str, words: Sequence[str]) -> list[Tokens]:
        """Return the tokens of labels behind a text."""
        alone, *whole = self.encoded([text, *(text + self.joined(word) for word in words)])
        return [each[len(alone) :] for each in whole]

    def joined(self, word: str) -> str:
        """Return a label as it stands behind the prompt."""
        return f"{BEFORE_LABEL}{word}" if self.plain else word

    def text(self, prompt: str) -> str:
        """Return a prompt as the model reads it."""
        return prompt if self.plain else as_chat(self.tokenizer, prompt)

    def encoded(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of texts that go on; a chat template brings its own special ones."""
        if not texts:
            return []
        found: list[Tokens] = self.tokenizer(
            list(texts), add_special_tokens=self.plain, truncation=False, verbose=False
        )["input_ids"]
        end = self.tokenizer.eos_token_id if self.plain else None  # some tokenizers end every text
        return [each[:-1] if end is not None and each[-1:] == [end] else each for each in found]

    def question(self, task: Task, row: Row) -> Any:
        choices = list(ended(task.kind.choices).values())
        return {"prompt": self.text(task.asked(row))} | (
            {"choices": choices} if choices else {"max_tokens": task.kind.max_tokens}
        )

    def answers(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Answer]]:
        choices = ended(task.kind.choices)
        texts = [self.text(task.asked(row)) for row in rows]
        prompts = self.encoded(texts)
        tails = [self.tail(text) for text in texts] if choices else []
        known = {tail: self.endings(tail, list(choices.values())) for tail in dict.fromkeys(tails)}
        endings = [known[tail] for tail in tails] if choices else [[] for _ in texts]
        room = [max(map(len, each), default=task.kind.max_tokens) for each in endings]
        too_long, batches = self.batches(list(map(len, prompts)), room)
        for place in too_long:
            yield place, Answer(None, problem=self.too_long)
        for places in batches:
            if not choices:
                yield from zip(
                    places, map(Answer, self.written([prompts[place] for place in places], task)), strict=True
                )
                continue
            found = self.likelihoods([prompts[place] for place in places], [endings[place] for place in places])
            for place, scores in zip(places, found, strict=True):
                by_label = dict(zip(choices, scores, strict=True))
                yield place, Answer(max(by_label, key=by_label.__getitem__), by_label)

    def likelihoods(self, prompts: Sequence[Tokens], endings: Sequence[Sequence[Tokens]]) -> list[list[float]]:
        """Return the log-likelihood of each ending of each prompt; every prompt has as many."""
        import torch

        batch = self.padded([{"input_ids": prompt, "attention_mask": [1] * len(prompt)} for prompt in prompts], "left")
        mask = batch["attention_mask"]
        several = any(len(ending) > 1 for each in endings for ending in each)
        with torch.inference_mode():
            first = self.model(
                input_ids=batch["input_ids"],
                attention_mask=mask,
                position_ids=(mask.cumsum(-1) - 1).clamp(min=0),
                use_cache=several,
                logits_to_keep=1,
            )
            start = first.logits[:, -1].float().log_softmax(-1)
            scores = [[float(start[place, ending[0]]) for ending in each] for place, each in enumerate(endings)]
            if several:
                self._add_rest(scores, endings, mask, first.past_key_values)
        return scores

    def _add_rest(self, scores: list[list[float]], endings: Sequence[Sequence[Tokens]], mask: Any, past: Any) -> None:
        """Add the log-likelihood of each ending's tokens behind its first."""
        import torch

        labels, width = len(endings[0]), max(len(ending) for each in endings for ending in each) - 1
        rows = [ending for each in endings for ending in each]
        read = torch.zeros(len(rows), width, dtype=torch.long)
        there = torch.zeros(len(rows), width, dtype=mask.dtype)
        for place, ending in enumerate(rows):
            read[place, : len(ending) - 1] = torch.tensor(ending[:-1], dtype=torch.long)
            there[place, : len(ending) - 1] = 1
        past.batch_repeat_interleave(labels)
        before = mask.repeat_interleave(labels, 0)
        places = before.sum(-1, keepdim=True) + torch.arange(width, device=mask.device)
        made = self.model(
            input_ids=read.to(self.device),
            attention_mask=torch.cat([before, there.to(self.device)], -1),
            position_ids=places,
            past_key_values=past,
        )
        likely = made.logits.float().log_softmax(-1)
        for place, ending in enumerate(rows):
            rest = sum(float(likely[place, step, token]) for step, token in enumerate(ending[1:]))
            scores[place // labels][place % labels] += rest

    def written(self, prompts: Sequence[Tokens], task: Task) -> list[str]:
        """Return what the model writes after each prompt, greedily."""
        import torch

        batch = self.padded([{"input_ids": prompt, "attention_mask": [1] * len(prompt)} for prompt in prompts], "left")
        end = self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else self.tokenizer.eos_token_id
        with torch.inference_mode():
            made = self.model.generate(
                **batch,
                max_new_tokens=task.kind.max_tokens,
                do_sample=False,
                temperature=None,
                top_p=None,
                top_k=None,
                pad_token_id=end,
            )
        texts: list[str] = self.tokenizer.batch_decode(made[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
        return texts

    def tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        return sum(map(len, self.encoded([self.text(task.asked(row)) for row in rows])))

    def padded(self, encoded: Any, side: str = "right") -> Any:
        """Pad with the end where a tokenizer has no padding of its own."""
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        return super().padded(encoded, side)
