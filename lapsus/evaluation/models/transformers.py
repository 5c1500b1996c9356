"""Models of transformers: classifiers, taggers, readers of passages, writers; instruction models are in `causal`.

Texts go through the model in batches of like length, nothing is ever cut: a text that is longer than the model's
context gets no answer, and the run says how many did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from lapsus.core.conversations import require_text
from lapsus.core.messages import format_list
from lapsus.core.text import to_text
from lapsus.core.types import Request, Response, Row
from lapsus.evaluation.answer_types import ExactAnswer, FrameAnswer, LabelAnswer, SpanAnswer, TranslationAnswer
from lapsus.evaluation.models import ModelAdapter, ModelProvider
from lapsus.evaluation.models.weights import find_checkpoint, load_weights
from lapsus.evaluation.tasks import Task

BATCHES = 8  # batches under way at once: enough to sort by length, few to lose
NO_LIMIT = 10**9  # tokenizers write such a number where they know none


@dataclass(frozen=True)
class TransformersModel:
    """A model with its tokenizer, and what its answers depend on."""

    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    name: str
    identity: str
    forward_batch_size: int
    device: str
    deterministic: ClassVar[bool] = True  # answers are classes, likelihoods, or greedy texts

    @property
    def batch_size(self) -> int:
        return self.forward_batch_size * BATCHES

    @property
    def max_length(self) -> int:
        """How many tokens the model can read at once."""
        limits = [getattr(self.model.config, "max_position_embeddings", None), self.tokenizer.model_max_length]
        return min((int(number) for number in limits if number is not None and 0 < number < NO_LIMIT), default=NO_LIMIT)

    @property
    def too_long_message(self) -> str:
        """Why a long text has no answer."""
        return f"longer than the {self.max_length} tokens of {self.name}; shorten the rows, or take another model"

    def split_batches(
        self, lengths: Sequence[int], room: Sequence[int] | None = None
    ) -> tuple[list[int], list[list[int]]]:
        """Return the places of the texts that are too long, and those of the others in batches, longest first.

        `room` is what each text needs behind it for its answer.
        """
        required = lengths if room is None else [length + more for length, more in zip(lengths, room, strict=True)]
        limit = self.max_length
        order = sorted((place for place, n in enumerate(required) if n <= limit), key=lambda place: -lengths[place])
        batches = [
            order[start : start + self.forward_batch_size] for start in range(0, len(order), self.forward_batch_size)
        ]
        return [place for place, n in enumerate(required) if n > limit], batches

    def pad(self, encoded: Sequence[Mapping[str, Any]], side: str = "right") -> Any:
        """Return encoded texts as tensors of one length on the model's device."""
        self.tokenizer.padding_side = side
        return self.tokenizer.pad(list(encoded), return_tensors="pt").to(self.device)

    def get_usage(self) -> Mapping[str, int]:
        return {}


@dataclass(frozen=True)
class Classifier(TransformersModel):
    """A model that names one of its labels for a text or a pair of texts."""

    label_map: Mapping[str, str] = field(default_factory=dict)

    def prepare(self, task: Task) -> None:
        if not isinstance(task.answer_type, LabelAnswer | ExactAnswer):
            raise TypeError(
                f"{self.name} is a classifier, but {task.name} does not ask for a label; take another model"
            )
        if len(task.inputs) > 2:
            raise ValueError(
                f"{self.name} reads one text or two, but {task.name} has {len(task.inputs)} columns; name fewer"
            )
        self.map_labels(task)

    def map_labels(self, task: Task) -> list[str]:
        """Return the task's name of each of the model's labels, in the model's order."""
        own = {int(place): str(label) for place, label in self.model.config.id2label.items()}
        labels = [own[place] for place in sorted(own)]
        task_labels = list(task.answer_type.choices) or list(getattr(task.answer_type, "known_golds", ()))
        return match_labels(labels, task_labels, self.label_map, f"{self.name} has the labels")

    def build_prompt(self, task: Task, row: Row) -> Any:
        texts = [to_text(row[name]) for name in task.inputs]
        return [texts, self.label_map] if self.label_map else texts

    def respond(self, task: Task, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        import torch

        names = self.map_labels(task)
        encoded = self._encode(requests)
        too_long, batches = self.split_batches([len(encoding["input_ids"]) for encoding in encoded])
        for place in too_long:
            yield place, Response(None, error=self.too_long_message)
        for places in batches:
            with torch.inference_mode():
                logits = self.model(**self.pad([encoded[place] for place in places])).logits.float()
            for place, scores in zip(places, logits.log_softmax(-1).tolist(), strict=True):
                best = max(range(len(names)), key=scores.__getitem__)
                by_name: dict[str, float] = {}
                for name, score in zip(names, scores, strict=True):
                    by_name[name] = max(score, by_name.get(name, score))
                yield place, Response(names[best], by_name)

    def _encode(self, requests: Sequence[Request]) -> list[Mapping[str, Any]]:
        prompts = [request.prompt for request in requests]
        pairs = [prompt[0] if self.label_map else prompt for prompt in prompts]
        encodings = self.tokenizer(
            *(list(column) for column in zip(*pairs, strict=True)), truncation=False, verbose=False
        )
        return [{name: encodings[name][place] for name in encodings} for place in range(len(requests))]

    def count_tokens(self, task: Task, requests: Sequence[Request]) -> int | None:
        return sum(len(encoding["input_ids"]) for encoding in self._encode(requests)) if requests else 0


@dataclass(frozen=True)
class TokenClassifier(TransformersModel):
    """A model that gives each token a tag."""

    def prepare(self, task: Task) -> None:
        if not isinstance(task.answer_type, FrameAnswer) or task.answer_type.with_intent or task.inputs != ("tokens",):
            raise TypeError(
                f"{self.name} tags tokens, and names no intent, so it cannot do {task.name}; take a task of slots "
                "alone, such as nature-snips-slots"
            )
        own = {str(tag)[2:] for tag in self.model.config.id2label.values() if str(tag)[:2] in {"B-", "I-"}}
        missing = set(task.answer_type.slots) - own
        if missing:
            raise ValueError(
                f"{self.name} does not know the slots {format_list(sorted(missing))} of {task.name} (it knows "
                f"{format_list(sorted(own))}); take a model that was trained on this task"
            )

    def build_prompt(self, task: Task, row: Row) -> Any:
        return row["tokens"]

    def respond(self, task: Task, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        import torch

        encoded = [
            self.tokenizer(list(request.prompt), is_split_into_words=True, truncation=False, verbose=False)
            for request in requests
        ]
        too_long, batches = self.split_batches([len(encoding["input_ids"]) for encoding in encoded])
        for place in too_long:
            yield place, Response(None, error=self.too_long_message)
        for places in batches:
            with torch.inference_mode():
                best = self.model(**self.pad([dict(encoded[place]) for place in places])).logits.argmax(-1).tolist()
            for place, tag_ids in zip(places, best, strict=True):
                yield (
                    place,
                    Response({"tags": self._tag_words(requests[place].prompt, encoded[place].word_ids(), tag_ids)}),
                )

    def _tag_words(self, tokens: Sequence[str], words: Sequence[int | None], tag_ids: Sequence[int]) -> list[str]:
        """Return the tag of each word's first piece; a word without pieces is outside of any slot."""
        first: dict[int, str] = {}
        for word, tag in zip(words, tag_ids, strict=False):
            if word is not None:
                first.setdefault(word, str(self.model.config.id2label[tag]))
        return [first.get(place, "O") for place in range(len(tokens))]

    def count_tokens(self, task: Task, requests: Sequence[Request]) -> int | None:
        return sum(
            len(self.tokenizer(list(request.prompt), is_split_into_words=True)["input_ids"]) for request in requests
        )


@dataclass(frozen=True)
class SpanReader(TransformersModel):
    """A model that finds the answer to a question in a passage; a long passage is read in overlapping windows.

    Where questions may have no answer, a model says so by the score of its first token, as those trained on SQuAD 2.0.
    """

    longest: int = 60  # tokens of an answer

    def prepare(self, task: Task) -> None:
        if not isinstance(task.answer_type, SpanAnswer):
            raise TypeError(
                f"{self.name} finds answers in a passage, which {task.name} does not ask for; take another model"
            )

    def build_prompt(self, task: Task, row: Row) -> Any:
        return [row["question"], row["context"]]

    def respond(self, task: Task, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for index, request in enumerate(requests):
            question, context = request.prompt
            yield index, self._answer(question, context, getattr(task.answer_type, "unanswerable", ""))

    def _answer(self, question: str, context: str, unanswerable: str) -> Response:
        import torch

        room = self.max_length - len(self.tokenizer(question, verbose=False)["input_ids"]) - 4
        if room < 32:
            return Response(None, error=self.too_long_message)
        windows = self.tokenizer(
            question,
            context,
            truncation="only_second",
            max_length=min(self.max_length, 10**6),
            stride=min(128, room // 2),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            padding=True,
            return_tensors="pt",
        )
        offsets = windows.pop("offset_mapping").tolist()
        windows.pop("overflow_to_sample_mapping")
        best, answer, null_score = -float("inf"), "", float("inf")
        for start in range(0, len(offsets), self.forward_batch_size):
            part = {
                name: values[start : start + self.forward_batch_size].to(self.device)
                for name, values in windows.items()
            }
            with torch.inference_mode():
                output = self.model(**part)
            for place in range(len(part["input_ids"])):
                allowed = [each == 1 for each in windows.sequence_ids(start + place)]
                score, first, last = find_best_span(
                    output.start_logits[place].tolist(), output.end_logits[place].tolist(), allowed, self.longest
                )
                if score > best:
                    spans = offsets[start + place]
                    best, answer = score, context[spans[first][0] : spans[last][1]]
                null_score = min(null_score, float(output.start_logits[place][0] + output.end_logits[place][0]))
        return Response(unanswerable if unanswerable and null_score > best else answer)

    def count_tokens(self, task: Task, requests: Sequence[Request]) -> int | None:
        return sum(len(self.tokenizer(*request.prompt, verbose=False)["input_ids"]) for request in requests)


def find_best_span(
    starts: Sequence[float], ends: Sequence[float], allowed: Sequence[bool], longest: int
) -> tuple[float, int, int]:
    """Return the score, the first and the last place of the likeliest span.

    >>> find_best_span([9, 1, 5, 0], [0, 2, 1, 7], [False, True, True, True], longest=2)
    (12.0, 2, 3)
    """
    import numpy as np

    opening = np.where(allowed, starts, -np.inf)
    closing = np.where(allowed, ends, -np.inf)
    best = (-np.inf, 0, 0)
    for more in range(min(longest, len(opening))):  # all spans of one length at once
        scores = opening[: len(opening) - more] + closing[more:]
        first = int(np.argmax(scores))
        score = float(scores[first])
        if score > best[0] or (score == best[0] > -np.inf and first < best[1]):
            best = (score, first, first + more)
    return best


@dataclass(frozen=True)
class Seq2SeqModel(TransformersModel):
    """An encoder-decoder that writes: translations from the text alone, anything else from the task's prompt."""

    def prepare(self, task: Task) -> None:
        """Accept any task: what is written is read as any model's text."""

    def build_prompt(self, task: Task, row: Row) -> Any:
        if isinstance(task.answer_type, TranslationAnswer):
            return row[task.inputs[0]]
        return require_text(task.render_prompt(row), self.name)

    def respond(self, task: Task, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        import torch

        encoded = [self.tokenizer(request.prompt, truncation=False, verbose=False) for request in requests]
        too_long, batches = self.split_batches([len(encoding["input_ids"]) for encoding in encoded])
        for place in too_long:
            yield place, Response(None, error=self.too_long_message)
        for places in batches:
            with torch.inference_mode():
                generated = self.model.generate(
                    **self.pad([dict(encoded[place]) for place in places]),
                    max_new_tokens=task.answer_type.max_tokens,
                    do_sample=False,
                )
            for place, text in zip(
                places, self.tokenizer.batch_decode(generated, skip_special_tokens=True), strict=True
            ):
                yield place, Response(text)

    def count_tokens(self, task: Task, requests: Sequence[Request]) -> int | None:
        return sum(len(self.tokenizer(request.prompt, verbose=False)["input_ids"]) for request in requests)


LABEL_SYNONYMS = {
    "entailed": ("entailment", "yes"),
    "not_entailed": ("not_entailment", "contradiction", "neutral", "no"),
    "paraphrase": ("equivalent", "same", "duplicate", "similar"),
    "different": ("not_equivalent", "not_duplicate", "not_paraphrase", "dissimilar"),
}


def match_labels(
    labels: Sequence[str], task_labels: Sequence[str], label_map: Mapping[str, str], subject: str
) -> list[str]:
    """Return the wanted name of each label: by the map, by the same name, or by a name that is known to mean the same.

    >>> match_labels(["ENTAILMENT", "NOT_ENTAILMENT"], ["not_entailed", "entailed"], {}, "it has")
    ['entailed', 'not_entailed']
    """
    by_normalised = {_normalise_label(name): name for name in task_labels}
    by_normalised |= {
        _normalise_label(other): name
        for name in task_labels
        for other in LABEL_SYNONYMS.get(name, ())
        if _normalise_label(other) not in by_normalised
    }
    names = []
    for label in labels:
        name = label_map.get(label, by_normalised.get(_normalise_label(label)))
        names.append(label if name is None and not task_labels else name)
    missing = [name for name in task_labels if name not in names]
    unknown = [label for label, name in zip(labels, names, strict=True) if name is None]
    if len(missing) > len(unknown):
        raise ValueError(
            f"{subject} {format_list(labels)}, so it can never answer {format_list(missing)}; "
            "give a model that was trained on this task"
        )
    if missing or (unknown and len(task_labels) <= len(labels) and len(labels) - len(unknown) < len(task_labels)):
        example = ",".join(f"{label}={name}" for label, name in zip(unknown, missing, strict=False))
        raise ValueError(
            f"{subject} {format_list(labels)}, the task {format_list(task_labels)}; "
            f"map them, e.g. --label-map {example}"
        )
    return [label if name is None else name for label, name in zip(labels, names, strict=True)]


def _normalise_label(label: str) -> str:
    return label.casefold().replace("-", "_").replace(" ", "_")


FAMILIES: Mapping[str, tuple[str, Callable[..., ModelAdapter]]] = {
    "ForSequenceClassification": ("AutoModelForSequenceClassification", Classifier),
    "ForTokenClassification": ("AutoModelForTokenClassification", TokenClassifier),
    "ForQuestionAnswering": ("AutoModelForQuestionAnswering", SpanReader),
    "ForConditionalGeneration": ("AutoModelForSeq2SeqLM", Seq2SeqModel),
    "MTModel": ("AutoModelForSeq2SeqLM", Seq2SeqModel),
}


def find_family(architecture: str) -> tuple[str, Callable[..., ModelAdapter]] | None:
    """Return what loads a model of this class, and what asks it; None for a class that answers no task.

    >>> find_family("GPT2LMHeadModel")
    ('AutoModelForCausalLM', <class 'lapsus.evaluation.models.causal.CausalModel'>)
    """
    from lapsus.evaluation.models.causal import CausalModel

    causal = ("AutoModelForCausalLM", CausalModel)
    families = {**FAMILIES, "ForCausalLM": causal, "LMHeadModel": causal}
    return next((family for ending, family in families.items() if architecture.endswith(ending)), None)


def load_transformers(rest: str, options: Mapping[str, Any]) -> ModelAdapter:
    """Load the model at a path, or of the Hub, in the family that its config names."""
    from lapsus.evaluation.models.causal import CausalModel

    checkpoint = find_checkpoint(rest, trust_remote_code=bool(options.get("trust_remote_code")))
    path, architecture = checkpoint.path, (checkpoint.config.architectures or ["none"])[0]
    found = find_family(architecture)
    if found is None:
        raise TypeError(
            f"{path} is a {architecture}, which answers no task; give a classifier, a tagger, a reader of passages, "
            "a translator or an instruction model"
        )
    auto, family = found
    extra = {name: options[name] for name in ("label_map",) if family is Classifier and options.get(name)}
    if options.get("chat_template") is False:
        if family is not CausalModel:
            raise ValueError(f"{path} is a {architecture}, which has no chat template; leave out --no-chat-template")
        extra["bare_prompt"] = True
    model, device, precision = load_weights(checkpoint, auto, options)
    return family(
        model,
        checkpoint.load_tokenizer(),
        options.get("name") or Path(path).name,
        f"hf:{path} at {checkpoint.fingerprint()} {precision}",
        int(options.get("batch_size") or 16),
        device,
        **extra,
    )


TRANSFORMERS_OPTIONS = (
    "batch_size",
    "chat_template",
    "device",
    "device_map",
    "dtype",
    "quantisation",
    "trust_remote_code",
)

UNITS = (
    ModelProvider(
        "hf",
        "hf:PATH-OR-ID",
        "a fine-tuned or an instruction model, through transformers",
        load_transformers,
        TRANSFORMERS_OPTIONS,
    ),
)
