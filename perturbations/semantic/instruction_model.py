"""Semantic edits by an instruction model: the few-shot prompts of Sun et al. 2023 (Table 6), and their check.

The exemplars here are lapsus' own, in the form of the paper's; the paper's can be given as a file. An edit of a
model is only made where `explain_refusal` finds that the meaning has changed.

>>> print(build_prompt("replace", "we met on Monday", EXEMPLARS)[:129])
Generate a sentence by replacing one word from the original sentence and change its meaning.
<BLANKLINE>
Original Sentence: the soup was hot
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, get_args

from lapsus.core.edits import Edit
from lapsus.perturbations.semantic.edits import Kind, Language, explain_refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike
    from random import Random

INSTRUCTIONS: dict[Kind, str] = {
    "replace": "Generate a sentence by replacing one word from the original sentence and change its meaning.",
    "insert": "Add one word to a sentence and change its meaning.",
    "delete": "Generate a sentence by deleting one word from the original sentence and change its meaning.",
}
PREFIXES: dict[Kind, str] = {
    "replace": "Replace one word from original sentence:",
    "insert": "Add a word to it:",
    "delete": "Delete one word from original sentence:",
}


class Exemplar(NamedTuple):
    """A sentence, and the same with another meaning."""

    kind: Kind
    original: str
    edited: str


EXEMPLARS = (
    Exemplar("replace", "the soup was hot when they served it", "the soup was cold when they served it"),
    Exemplar("replace", "my cousin moved to the coast last spring", "my cousin moved to the coast last winter"),
    Exemplar("replace", "three of the lamps are broken", "seven of the lamps are broken"),
    Exemplar("replace", "she always locks the back door", "she never locks the back door"),
    Exemplar("replace", "the baker sold his shop to a friend", "the baker sold his shop to a stranger"),
    Exemplar("insert", "the museum is open on holidays", "the museum is not open on holidays"),
    Exemplar("insert", "he wants to see the other rooms", "he wants to see the other empty rooms"),
    Exemplar("insert", "they took the train to work", "they took the wrong train to work"),
    Exemplar("insert", "it is my favorite song of the evening", "it is my least favorite song of the evening"),
    Exemplar("insert", "the children can swim in the lake", "the children can hardly swim in the lake"),
    Exemplar("delete", "you should not water the plants at noon", "you should water the plants at noon"),
    Exemplar("delete", "we rarely eat before the film", "we eat before the film"),
    Exemplar("delete", "his former wife runs the hotel", "his wife runs the hotel"),
    Exemplar("delete", "there was no bread left in the kitchen", "there was bread left in the kitchen"),
    Exemplar("delete", "the plan failed and nobody noticed it at night", "the plan failed and nobody noticed it"),
)


class PromptModel(Protocol):
    """What answers prompts: `lapsus.evaluation.models.endpoint_client.Endpoint`, or anything like it."""

    def complete_all(self, prompts: Sequence[str]) -> Sequence[str]:
        """Return the answer to each prompt."""
        ...


@dataclass(frozen=True, slots=True)
class SemanticModel:
    """One kind of semantic edit, made by an instruction model and kept only where the meaning surely changes.

    Give the three kinds to `semantic_edit(text, operators=semantic_models(endpoint))`.
    """

    model: PromptModel
    kind: Kind = "replace"
    language: Language = "en"
    exemplars: tuple[Exemplar, ...] = EXEMPLARS
    version: str = "1"

    @property
    def name(self) -> str:
        """What the operator is called."""
        return f"semantic_{self.kind}_model"

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Make one edit, or none."""
        return next(iter(self.edits_batch([text], [rng])))

    def edits_batch(self, texts: Sequence[str], rngs: Sequence[Random]) -> Iterator[tuple[Edit, ...]]:
        """Make one edit of each text, or none; all questions are asked at once."""
        responses = self.model.complete_all([build_prompt(self.kind, text, self.exemplars) for text in texts])
        for text, response in zip(texts, responses, strict=True):
            edited = clean_response(response, self.kind)
            edit = find_edit(text, edited)
            fits = classify_edit(edit) == self.kind and explain_refusal(text, edited, self.language) is None
            yield (edit,) if fits else ()


def make_semantic_models(
    model: PromptModel, language: Language = "en", exemplars: tuple[Exemplar, ...] = EXEMPLARS
) -> dict[Kind, SemanticModel]:
    """Return the three kinds of edit by one model, in the paper's order."""
    return {kind: SemanticModel(model, kind, language, exemplars) for kind in INSTRUCTIONS}


def build_prompt(kind: Kind, text: str, exemplars: Iterable[Exemplar] = EXEMPLARS) -> str:
    """Write the few-shot prompt of one kind, ending where the model goes on."""
    shots = [
        f"Original Sentence: {original}\n{PREFIXES[kind]} {edited}"
        for shot, original, edited in exemplars
        if shot == kind
    ]
    return "\n\n".join([INSTRUCTIONS[kind], *shots, f"Original Sentence: {text}\n{PREFIXES[kind]}"])


def clean_response(response: str, kind: Kind) -> str:
    r"""Return the sentence of an answer: its first line, without the prefix and quotes around it.

    >>> clean_response('Add a word to it: "it is not here"\n\nOriginal Sentence: ...', "insert")
    'it is not here'
    """
    line = next((line.strip() for line in response.splitlines() if line.strip()), "")
    line = line.removeprefix(PREFIXES[kind]).strip()
    return line[1:-1] if len(line) > 1 and line[0] in "\"“'「" and line[-1] in "\"”'」" else line


def find_edit(old: str, new: str) -> Edit:
    """Return the one edit from `old` to `new`, grown to whole words where words have spaces between.

    >>> find_edit("the soup was hot", "the soup was not hot")
    Edit(start=13, end=13, text='not ')
    """
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    while start and (_is_inside_word(old, start) or _is_inside_word(new, start)):
        start -= 1
    tail, longest = 0, min(len(old), len(new)) - start
    while tail < longest and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    while tail and (_is_inside_word(old, len(old) - tail) or _is_inside_word(new, len(new) - tail)):
        tail -= 1
    return Edit(start, len(old) - tail, new[start : len(new) - tail])


def classify_edit(edit: Edit) -> Kind:
    """Tell whether an edit replaces, inserts or deletes."""
    if not edit.text.strip():
        return "delete"
    return "insert" if edit.start == edit.end else "replace"


def load_exemplars(path: str | PathLike[str]) -> tuple[Exemplar, ...]:
    """Read exemplars from a file of JSON lines with `kind`, `original` and `edited`: the paper's fifteen, say."""
    exemplars = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        row: Mapping[str, Any] = json.loads(line)
        if set(row) != set(Exemplar._fields) or row["kind"] not in get_args(Kind):
            raise ValueError(
                f"line {number} of {path} is no exemplar; give kind (replace, insert or delete), original and edited"
            )
        exemplars.append(Exemplar(**row))
    return tuple(exemplars)


def _is_inside_word(text: str, at: int) -> bool:
    """Tell whether a word with Latin letters goes on across `at`."""
    return 0 < at < len(text) and all(letter.isalnum() and ord(letter) < 0x2E80 for letter in text[at - 1 : at + 1])
