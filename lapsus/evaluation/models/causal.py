"""Instruction models of transformers: labels are scored by log-likelihood, all else is generated and parsed.

The likelihood of a label is that of its tokens after the prompt, as lm-evaluation-harness computes it. A prompt goes
through the model once, whatever the number of labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lapsus.core.conversations import Prompt, ask, require_text
from lapsus.core.types import Request, Response, Row
from lapsus.evaluation.answer_types import terminate_choices
from lapsus.evaluation.models.transformers import TransformersModel
from lapsus.evaluation.tasks import Task

Tokens = list[int]
BEFORE_LABEL = "\n"  # between a bare prompt and a label; a chat template brings what stands there


def apply_chat_template(tokenizer: Any, prompt: Prompt) -> str:
    """Return a prompt as the chat template of a tokenizer puts it."""
    text: str = tokenizer.apply_chat_template(ask(prompt), tokenize=False, add_generation_prompt=True)
    return text


def check_distinct_labels(model: str, endings: Mapping[str, Sequence[Any]]) -> None:
    """Refuse labels of which one has the tokens that another begins with: the other could never be likelier."""
    for word, tokens in endings.items():
        for other_word, other_tokens in endings.items():
            if word != other_word and list(other_tokens[: len(tokens)]) == list(tokens):
                raise ValueError(
                    f"{model} reads the labels {word!r} and {other_word!r} as the same tokens"
                    f"{'' if len(other_tokens) == len(tokens) else ' at their beginning'}, so the second can never "
                    "win; give labels that begin differently"
                )


@dataclass(frozen=True)
class CausalModel(TransformersModel):
    """A causal language model, asked through its chat template; or with the prompt alone, where it has none."""

    bare_prompt: bool = False

    def prepare(self, task: Task) -> None:
        if not self.bare_prompt and not self.tokenizer.chat_template:
            raise ValueError(
                f"{self.name} has no chat template, so it is no instruction model; give one that has, "
                "or add --no-chat-template (chat_template=False in Python)"
            )
        words = list(terminate_choices(task.answer_type.choices).values())
        check_distinct_labels(
            self.name,
            dict(
                zip(
                    words,
                    self.tokenize_labels(self.text_after_special_token(self.format_prompt("?")), words),
                    strict=True,
                )
            ),
        )

    def text_after_special_token(self, text: str) -> str:
        """Return a text from its last special token on; tokenizers split there, whatever stands before."""
        return text[max([0, *(text.rfind(mark) for mark in self.tokenizer.all_special_tokens)]) :]

    def tokenize_labels(self, text: str, words: Sequence[str]) -> list[Tokens]:
        """Return the tokens of labels behind a text."""
        text_tokens, *full_tokens = self.encode([text, *(text + self.join_label(word) for word in words)])
        return [each[len(text_tokens) :] for each in full_tokens]

    def join_label(self, word: str) -> str:
        """Return a label as it stands behind the prompt."""
        return f"{BEFORE_LABEL}{word}" if self.bare_prompt else word

    def format_prompt(self, prompt: Prompt) -> str:
        """Return a prompt as the model reads it."""
        if self.bare_prompt:
            return require_text(prompt, "a model without a chat template")
        return apply_chat_template(self.tokenizer, prompt)

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of texts that go on; a chat template brings its own special ones."""
        if not texts:
            return []
        token_ids: list[Tokens] = self.tokenizer(
            list(texts), add_special_tokens=self.bare_prompt, truncation=False, verbose=False
        )["input_ids"]
        end = self.tokenizer.eos_token_id if self.bare_prompt else None  # some tokenizers end every text
        return [each[:-1] if end is not None and each[-1:] == [end] else each for each in token_ids]

    def build_prompt(self, task: Task, row: Row) -> Any:
        choices = list(terminate_choices(task.answer_type.choices).values())
        return {"prompt": self.format_prompt(task.render_prompt(row))} | (
            {"choices": choices} if choices else {"max_tokens": task.answer_type.max_tokens}
        )

    def respond(self, task: Task, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        choices = terminate_choices(task.answer_type.choices)
        texts = [request.prompt["prompt"] for request in requests]
        prompts = self.encode(texts)
        tails = [self.text_after_special_token(text) for text in texts] if choices else []
        endings_by_tail = {tail: self.tokenize_labels(tail, list(choices.values())) for tail in dict.fromkeys(tails)}
        endings = [endings_by_tail[tail] for tail in tails] if choices else [[] for _ in texts]
        room = [max(map(len, each), default=task.answer_type.max_tokens) for each in endings]
        too_long, batches = self.split_batches(list(map(len, prompts)), room)
        for place in too_long:
            yield place, Response(None, error=self.too_long_message)
        for places in batches:
            if not choices:
                yield from zip(places, self.generate([prompts[place] for place in places], task), strict=True)
                continue
            label_scores = self.score_endings(
                [prompts[place] for place in places], [endings[place] for place in places]
            )
            for place, scores in zip(places, label_scores, strict=True):
                by_label = dict(zip(choices, scores, strict=True))
                yield place, Response(max(by_label, key=by_label.__getitem__), by_label)

    def score_endings(self, prompts: Sequence[Tokens], endings: Sequence[Sequence[Tokens]]) -> list[list[float]]:
        """Return the log-likelihood of each ending of each prompt; every prompt has as many."""
        import torch

        batch = self.pad([{"input_ids": prompt, "attention_mask": [1] * len(prompt)} for prompt in prompts], "left")
        mask = batch["attention_mask"]
        is_multi_token = any(len(ending) > 1 for each in endings for ending in each)
        with torch.inference_mode():
            first = self.model(
                input_ids=batch["input_ids"],
                attention_mask=mask,
                position_ids=(mask.cumsum(-1) - 1).clamp(min=0),
                use_cache=is_multi_token,
                logits_to_keep=1,
            )
            start = first.logits[:, -1].float().log_softmax(-1)
            scores = [[float(start[place, ending[0]]) for ending in each] for place, each in enumerate(endings)]
            if is_multi_token:
                self._add_rest(scores, endings, mask, first.past_key_values)
        return scores

    def _add_rest(self, scores: list[list[float]], endings: Sequence[Sequence[Tokens]], mask: Any, past: Any) -> None:
        """Add the log-likelihood of each ending's tokens behind its first."""
        import torch

        labels, width = len(endings[0]), max(len(ending) for each in endings for ending in each) - 1
        rows = [ending for each in endings for ending in each]
        continuation = torch.zeros(len(rows), width, dtype=torch.long)
        continuation_mask = torch.zeros(len(rows), width, dtype=mask.dtype)
        for place, ending in enumerate(rows):
            continuation[place, : len(ending) - 1] = torch.tensor(ending[:-1], dtype=torch.long)
            continuation_mask[place, : len(ending) - 1] = 1
        past.batch_repeat_interleave(labels)
        before = mask.repeat_interleave(labels, 0)
        places = before.sum(-1, keepdim=True) + torch.arange(width, device=mask.device)
        output = self.model(
            input_ids=continuation.to(self.device),
            attention_mask=torch.cat([before, continuation_mask.to(self.device)], -1),
            position_ids=places,
            past_key_values=past,
        )
        logprobs = output.logits.float().log_softmax(-1)
        for place, ending in enumerate(rows):
            rest = sum(float(logprobs[place, step, token]) for step, token in enumerate(ending[1:]))
            scores[place // labels][place % labels] += rest

    def generate(self, prompts: Sequence[Tokens], task: Task) -> list[Response]:
        """Return what the model writes after each prompt, greedily."""
        import torch

        batch = self.pad([{"input_ids": prompt, "attention_mask": [1] * len(prompt)} for prompt in prompts], "left")
        end = self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else self.tokenizer.eos_token_id
        with torch.inference_mode():
            generated = self.model.generate(
                **batch,
                max_new_tokens=task.answer_type.max_tokens,
                do_sample=False,
                temperature=None,
                top_p=None,
                top_k=None,
                pad_token_id=end,
            )
        texts = self.tokenizer.batch_decode(generated[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
        return [Response(text) for text in texts]

    def count_tokens(self, task: Task, requests: Sequence[Request]) -> int | None:
        return sum(map(len, self.encode([request.prompt["prompt"] for request in requests])))

    def pad(self, encoded: Any, side: str = "right") -> Any:
        """Pad with the end where a tokenizer has no padding of its own."""
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        return super().pad(encoded, side)
