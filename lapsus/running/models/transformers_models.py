"""Models of transformers: classifiers, taggers, readers of passages, writers; instruction models are in `instructed`.

Texts go through the model in batches of like length, nothing is ever cut: a text that is longer than the model's
context gets no answer, and the run says how many did.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lapsus.kernel.extras import needed
from lapsus.kernel.names import shown
from lapsus.kernel.progress_bars import quiet_transformers
from lapsus.kernel.rows import first_sentence
from lapsus.kernel.words import as_text
from lapsus.running.answers import Answer
from lapsus.running.kinds import Exact, Frame, Label, Span, Translation
from lapsus.running.models import Model, ModelKind, Row
from lapsus.running.tasks import Task

BATCHES = 8  # batches under way at once: enough to sort by length, few to lose
NO_LIMIT = 10**9  # tokenizers write such a number where they know none
PIECES = 64  # of a weights file that its fingerprint reads
PIECE_BYTES = 1 << 16


@dataclass(frozen=True)
class Loaded:
    """A model with its tokenizer, and what its answers depend on."""

    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    name: str
    identity: str
    batch_size: int
    device: str

    @property
    def batch(self) -> int:
        return self.batch_size * BATCHES

    @property
    def limit(self) -> int:
        """How many tokens the model can read at once."""
        told = [getattr(self.model.config, "max_position_embeddings", None), self.tokenizer.model_max_length]
        return min((int(number) for number in told if number is not None and 0 < number < NO_LIMIT), default=NO_LIMIT)

    @property
    def too_long(self) -> str:
        """Why a long text has no answer."""
        return f"longer than the {self.limit} tokens that {self.name} can read; shorten the rows, or take another model"

    def batches(self, lengths: Sequence[int], room: Sequence[int] | None = None) -> tuple[list[int], list[list[int]]]:
        """Return the places of the texts that are too long, and those of the others in batches, longest first.

        `room` is what each text needs behind it for its answer.
        """
        needed = lengths if room is None else [length + more for length, more in zip(lengths, room, strict=True)]
        limit = self.limit
        order = sorted((place for place, n in enumerate(needed) if n <= limit), key=lambda place: -lengths[place])
        batches = [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]
        return [place for place, n in enumerate(needed) if n > limit], batches

    def padded(self, encoded: Sequence[Mapping[str, Any]], side: str = "right") -> Any:
        """Return encoded texts as tensors of one length on the model's device."""
        self.tokenizer.padding_side = side
        return self.tokenizer.pad(list(encoded), return_tensors="pt").to(self.device)

    def usage(self) -> Mapping[str, int]:
        return {}


@dataclass(frozen=True)
class Classifier(Loaded):
    """A model that names one of its labels for a text or a pair of texts."""

    label_map: Mapping[str, str] = field(default_factory=dict)

    def prepare(self, task: Task) -> None:
        if not isinstance(task.kind, Label | Exact):
            raise TypeError(
                f"{self.name} is a classifier, but {task.name} does not ask for a label; take another model"
            )
        if len(task.inputs) > 2:
            raise ValueError(
                f"{self.name} reads one text or two, but {task.name} has {len(task.inputs)} columns; name fewer"
            )
        self.names(task)

    def names(self, task: Task) -> list[str]:
        """Return the task's name of each of the model's labels, in the model's order."""
        own = {int(place): str(label) for place, label in self.model.config.id2label.items()}
        labels = [own[place] for place in sorted(own)]
        wanted = list(task.kind.choices) or list(getattr(task.kind, "golds", ()))
        return mapped(labels, wanted, self.label_map, f"{self.name} has the labels")

    def question(self, task: Task, row: Row) -> Any:
        texts = [as_text(row[name]) for name in task.inputs]
        return [texts, self.label_map] if self.label_map else texts

    def answers(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Answer]]:
        import torch

        names = self.names(task)
        encoded = self._encoded(task, rows)
        too_long, batches = self.batches([len(one["input_ids"]) for one in encoded])
        for place in too_long:
            yield place, Answer(None, problem=self.too_long)
        for places in batches:
            with torch.inference_mode():
                logits = self.model(**self.padded([encoded[place] for place in places])).logits.float()
            for place, scores in zip(places, logits.log_softmax(-1).tolist(), strict=True):
                best = max(range(len(names)), key=scores.__getitem__)
                by_name: dict[str, float] = {}
                for name, score in zip(names, scores, strict=True):
                    by_name[name] = max(score, by_name.get(name, score))
                yield place, Answer(names[best], by_name)

    def _encoded(self, task: Task, rows: Sequence[Row]) -> list[Mapping[str, Any]]:
        texts = [self.question(task, row) for row in rows]
        pairs = [each[0] if self.label_map else each for each in texts]
        made = self.tokenizer(*(list(column) for column in zip(*pairs, strict=True)), truncation=False, verbose=False)
        return [{name: made[name][place] for name in made} for place in range(len(rows))]

    def tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        return sum(len(one["input_ids"]) for one in self._encoded(task, rows)) if rows else 0


@dataclass(frozen=True)
class Tagger(Loaded):
    """A model that gives each token a tag."""

    def prepare(self, task: Task) -> None:
        if not isinstance(task.kind, Frame) or task.kind.with_intent or task.inputs != ("tokens",):
            raise TypeError(
                f"{self.name} tags tokens, and names no intent, so it cannot do {task.name}; take a task of slots "
                "alone, such as nature-snips-slots"
            )
        own = {str(tag)[2:] for tag in self.model.config.id2label.values() if str(tag)[:2] in {"B-", "I-"}}
        lacking = set(task.kind.slots) - own
        if lacking:
            raise ValueError(
                f"{self.name} does not know the slots {shown(sorted(lacking))} of {task.name} (it knows "
                f"{shown(sorted(own))}); take a model that was trained on this task"
            )

    def question(self, task: Task, row: Row) -> Any:
        return row["tokens"]

    def answers(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Answer]]:
        import torch

        encoded = [
            self.tokenizer(list(row["tokens"]), is_split_into_words=True, truncation=False, verbose=False)
            for row in rows
        ]
        too_long, batches = self.batches([len(one["input_ids"]) for one in encoded])
        for place in too_long:
            yield place, Answer(None, problem=self.too_long)
        for places in batches:
            with torch.inference_mode():
                best = self.model(**self.padded([dict(encoded[place]) for place in places])).logits.argmax(-1).tolist()
            for place, found in zip(places, best, strict=True):
                yield place, Answer({"tags": self._tags(rows[place]["tokens"], encoded[place].word_ids(), found)})

    def _tags(self, tokens: Sequence[str], words: Sequence[int | None], found: Sequence[int]) -> list[str]:
        """Return the tag of each word's first piece; a word without pieces is outside of any slot."""
        first: dict[int, str] = {}
        for word, tag in zip(words, found, strict=False):
            if word is not None:
                first.setdefault(word, str(self.model.config.id2label[tag]))
        return [first.get(place, "O") for place in range(len(tokens))]

    def tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        return sum(len(self.tokenizer(list(row["tokens"]), is_split_into_words=True)["input_ids"]) for row in rows)


@dataclass(frozen=True)
class Reader(Loaded):
    """A model that finds the answer to a question in a passage; a long passage is read in overlapping windows.

    Where questions may have no answer, a model says so by the score of its first token, as those trained on SQuAD 2.0.
    """

    longest: int = 60  # tokens of an answer

    def prepare(self, task: Task) -> None:
        if not isinstance(task.kind, Span):
            raise TypeError(
                f"{self.name} finds answers in a passage, which {task.name} does not ask for; take another model"
            )

    def question(self, task: Task, row: Row) -> Any:
        return [row["question"], row["context"]]

    def answers(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Answer]]:
        for place, row in enumerate(rows):
            yield place, self._answer(row["question"], row["context"], getattr(task.kind, "unanswerable", ""))

    def _answer(self, question: str, context: str, unanswerable: str) -> Answer:
        import torch

        room = self.limit - len(self.tokenizer(question, verbose=False)["input_ids"]) - 4
        if room < 32:
            return Answer(None, problem=self.too_long)
        windows = self.tokenizer(
            question,
            context,
            truncation="only_second",
            max_length=min(self.limit, 10**6),
            stride=min(128, room // 2),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            padding=True,
            return_tensors="pt",
        )
        offsets = windows.pop("offset_mapping").tolist()
        windows.pop("overflow_to_sample_mapping")
        best, said, none = -float("inf"), "", float("inf")
        for start in range(0, len(offsets), self.batch_size):
            part = {name: values[start : start + self.batch_size].to(self.device) for name, values in windows.items()}
            with torch.inference_mode():
                made = self.model(**part)
            for place in range(len(part["input_ids"])):
                inside = [each == 1 for each in windows.sequence_ids(start + place)]
                score, first, last = best_span(
                    made.start_logits[place].tolist(), made.end_logits[place].tolist(), inside, self.longest
                )
                if score > best:
                    spans = offsets[start + place]
                    best, said = score, context[spans[first][0] : spans[last][1]]
                none = min(none, float(made.start_logits[place][0] + made.end_logits[place][0]))
        return Answer(unanswerable if unanswerable and none > best else said)

    def tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        return sum(len(self.tokenizer(row["question"], row["context"], verbose=False)["input_ids"]) for row in rows)


def best_span(
    starts: Sequence[float], ends: Sequence[float], inside: Sequence[bool], longest: int
) -> tuple[float, int, int]:
    """Return the score, the first and the last place of the likeliest span.

    >>> best_span([9, 1, 5, 0], [0, 2, 1, 7], [False, True, True, True], longest=2)
    (12.0, 2, 3)
    """
    import numpy as np

    opening = np.where(inside, starts, -np.inf)
    closing = np.where(inside, ends, -np.inf)
    best = (-np.inf, 0, 0)
    for more in range(min(longest, len(opening))):  # all spans of one length at once
        scores = opening[: len(opening) - more] + closing[more:]
        first = int(np.argmax(scores))
        score = float(scores[first])
        if score > best[0] or (score == best[0] > -np.inf and first < best[1]):
            best = (score, first, first + more)
    return best


@dataclass(frozen=True)
class Writer(Loaded):
    """An encoder-decoder that writes: translations from the text alone, anything else from the task's prompt."""

    def prepare(self, task: Task) -> None:
        """Accept any task: what is written is read as any model's text."""

    def question(self, task: Task, row: Row) -> Any:
        return row[task.inputs[0]] if isinstance(task.kind, Translation) else task.asked(row)

    def answers(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Answer]]:
        import torch

        encoded = [self.tokenizer(self.question(task, row), truncation=False, verbose=False) for row in rows]
        too_long, batches = self.batches([len(one["input_ids"]) for one in encoded])
        for place in too_long:
            yield place, Answer(None, problem=self.too_long)
        for places in batches:
            with torch.inference_mode():
                made = self.model.generate(
                    **self.padded([dict(encoded[place]) for place in places]),
                    max_new_tokens=task.kind.max_tokens,
                    do_sample=False,
                )
            for place, text in zip(places, self.tokenizer.batch_decode(made, skip_special_tokens=True), strict=True):
                yield place, Answer(text)

    def tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        return sum(len(self.tokenizer(self.question(task, row), verbose=False)["input_ids"]) for row in rows)


ALIKE = {
    "entailed": ("entailment", "yes"),
    "not_entailed": ("not_entailment", "contradiction", "neutral", "no"),
    "paraphrase": ("equivalent", "same", "duplicate", "similar"),
    "different": ("not_equivalent", "not_duplicate", "not_paraphrase", "dissimilar"),
}


def mapped(labels: Sequence[str], wanted: Sequence[str], label_map: Mapping[str, str], what: str) -> list[str]:
    """Return the wanted name of each label: by the map, by the same name, or by a name that is known to mean the same.

    >>> mapped(["ENTAILMENT", "NOT_ENTAILMENT"], ["not_entailed", "entailed"], {}, "it has")
    ['entailed', 'not_entailed']
    """
    plain = {_plain(name): name for name in wanted}
    plain |= {_plain(other): name for name in wanted for other in ALIKE.get(name, ()) if _plain(other) not in plain}
    found = []
    for label in labels:
        name = label_map.get(label, plain.get(_plain(label)))
        found.append(label if name is None and not wanted else name)
    lacking = [name for name in wanted if name not in found]
    unknown = [label for label, name in zip(labels, found, strict=True) if name is None]
    if len(lacking) > len(unknown):
        raise ValueError(
            f"{what} {shown(labels)}, so that it can never answer {shown(lacking)}; take a model that was trained on "
            "this task"
        )
    if lacking or (unknown and len(wanted) <= len(labels) and len(labels) - len(unknown) < len(wanted)):
        example = ",".join(f"{label}={name}" for label, name in zip(unknown, lacking, strict=False))
        raise ValueError(
            f"{what} {shown(labels)}, the task {shown(wanted)}; say which is which with --label-map, as in "
            f"--label-map {example}"
        )
    return [label if name is None else name for label, name in zip(labels, found, strict=True)]


def _plain(label: str) -> str:
    return label.casefold().replace("-", "_").replace(" ", "_")


def fingerprint(folder: Path) -> str:
    """Return a hash of a model's folder: its small files, and pieces from all over its weights."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.startswith(".") or path.suffix in {".md", ".txt.bak"}:
            continue
        size = path.stat().st_size
        found.update(f"{path.name} {size}\n".encode())
        with path.open("rb") as file:
            for piece in range(PIECES):
                file.seek(size * piece // PIECES)
                found.update(file.read(PIECE_BYTES))
    return found.hexdigest()[:16]


FAMILIES: Mapping[str, tuple[str, Callable[..., Model]]] = {
    "ForSequenceClassification": ("AutoModelForSequenceClassification", Classifier),
    "ForTokenClassification": ("AutoModelForTokenClassification", Tagger),
    "ForQuestionAnswering": ("AutoModelForQuestionAnswering", Reader),
    "ForConditionalGeneration": ("AutoModelForSeq2SeqLM", Writer),
    "MTModel": ("AutoModelForSeq2SeqLM", Writer),
}


def open_transformers(rest: str, options: Mapping[str, Any]) -> Model:
    """Load the model at a path, or of the Hub, in the family that its config names."""
    from lapsus.running.models.instructed import Instructed

    transformers = needed("transformers", "models")
    torch = needed("torch", "models")
    path, _, revision = rest.partition("@")
    local = Path(path)
    if local.exists() and not (local / "config.json").is_file():
        raise FileNotFoundError(f"{path} has no config.json; give the folder that save_pretrained wrote")
    if not local.exists() and (path.startswith((".", "/", "~")) or path.count("/") > 1):
        raise FileNotFoundError(f"there is no folder {path}; give the folder of a model, or its id on the Hub")
    kept = {"revision": revision} if revision else {}
    try:
        config = transformers.AutoConfig.from_pretrained(path, **kept)
    except OSError as error:
        raise FileNotFoundError(
            f"there is no folder {path}, and the Hub gives no model of this id ({first_sentence(error)}); "
            "give the folder that save_pretrained wrote, or another id"
        ) from error
    architecture = (config.architectures or ["none"])[0]
    families = {
        **FAMILIES,
        "ForCausalLM": ("AutoModelForCausalLM", Instructed),
        "LMHeadModel": ("AutoModelForCausalLM", Instructed),
    }
    ending = next((ending for ending in families if architecture.endswith(ending)), None)
    if ending is None:
        raise TypeError(
            f"{path} is a {architecture}, which answers no task; give a classifier, a tagger, a reader of passages, "
            "a translator or an instruction model"
        )
    auto, family = families[ending]
    device = options.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = options.get("dtype") or (
        "bfloat16" if device.startswith("cuda") and torch.cuda.is_bf16_supported() else "float32"
    )
    with quiet_transformers():
        model, told = getattr(transformers, auto).from_pretrained(
            path, dtype=getattr(torch, dtype), output_loading_info=True, **kept
        )
    if told["missing_keys"]:
        raise ValueError(
            f"{path} lacks the weights of {shown(sorted(told['missing_keys']), 2)}, so its answers would be random; "
            "give a model that was trained for the task"
        )
    tokenizer = transformers.AutoTokenizer.from_pretrained(path, **kept)
    mark = fingerprint(local) if local.is_dir() else getattr(config, "_commit_hash", None) or revision or "unknown"
    more = {name: options[name] for name in ("label_map",) if family is Classifier and options.get(name)}
    more |= {"plain": True} if family is Instructed and options.get("plain") else {}
    return family(
        model.eval().to(device),
        tokenizer,
        options.get("name") or Path(path).name,
        f"hf:{path} at {mark} {dtype}",
        int(options.get("batch") or 16),
        device,
        **more,
    )


UNITS = (
    ModelKind("hf", "hf:PATH-OR-ID", "a fine-tuned or an instruction model, through transformers", open_transformers),
)
