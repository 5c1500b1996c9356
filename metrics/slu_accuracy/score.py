"""Whether an utterance was understood: its intent, its slots, and both."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lapsus.kernel import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

OUTSIDE, BEGIN, INSIDE = range(3)
PIECE = 4096


def slu_accuracy(
    predictions: Iterable[Mapping[str, Any]],
    references: Iterable[Mapping[str, Any]],
    *,
    scheme: str | None = None,
) -> dict[str, Any]:
    """Return intent accuracy, slot F1 over spans, and the share of utterances with intent and all tags right.

    Args:
        predictions: for each utterance `{"intent": str, "tags": list of str}`; tags are O, B-<slot> or I-<slot>.
        references: the same, for the truth.
        scheme: None reads spans as conlleval does, where an I- that continues nothing starts a span; "IOB2" is strict:
            only B- starts one.

    A rate with nothing to divide by is None.

    Returns:
        e2e_accuracy: the share of utterances whose intent and tags are all right.
        intent_accuracy: the share of utterances whose intent is right.
        slot_f1, slot_precision, slot_recall: over the spans of all utterances.
        counts: the spans that are true, predicted, and correct (both).
        slot_types: the same for each slot, by its name.
        examples: how many utterances there are.

    Example:
        >>> truth = {"intent": "play", "tags": ["O", "B-artist", "I-artist"]}
        >>> guess = {"intent": "play", "tags": ["O", "B-artist", "O"]}
        >>> result = slu_accuracy([truth, guess], [truth, truth])
        >>> result["intent_accuracy"], result["slot_f1"], result["e2e_accuracy"], result["counts"]
        (1.0, 0.5, 0.5, {'true': 2, 'predicted': 2, 'correct': 1})
    """
    columns.one_of("scheme", scheme, (None, "IOB2"))
    intents, tags = _Intents(), _Tags()
    guessed = _read("predictions", predictions, intents, tags)
    true = _read("references", references, intents, tags)
    examples = columns.same_length(predictions=guessed.intents, references=true.intents)
    if (unequal := guessed.lengths != true.lengths).any():
        index = unequal.argmax()
        raise ValueError(
            f"predictions[{index}] has {guessed.lengths[index]} tags and references[{index}] has "
            f"{true.lengths[index]}: give one tag per token."
        )

    guess, truth, lengths = guessed.tags, true.tags, true.lengths
    parts, slots, names = _decoded(tags)
    ends = np.cumsum(lengths)
    starts = (ends - lengths)[lengths > 0]
    true_spans = _spans(parts[truth], slots[truth], starts, strict=scheme == "IOB2")
    guessed_spans = _spans(parts[guess], slots[guess], starts, strict=scheme == "IOB2")
    guessed_end = np.full(len(truth) + 1, -1)
    guessed_end[guessed_spans.start] = guessed_spans.end
    correct = (guessed_end[true_spans.start] == true_spans.end) & (slots[guess[true_spans.start]] == true_spans.slot)

    tags_right = np.ones(examples, bool)
    if len(starts):
        tags_right[lengths > 0] = np.logical_and.reduceat(truth == guess, starts)
    intent_right = guessed.intents == true.intents
    overall = _f1(len(true_spans.slot), len(guessed_spans.slot), int(correct.sum()))
    by_slot = [
        np.bincount(found, minlength=len(names)).tolist()
        for found in (true_spans.slot, guessed_spans.slot, true_spans.slot[correct])
    ]
    return {
        "e2e_accuracy": float((intent_right & tags_right).mean()),
        "intent_accuracy": float(intent_right.mean()),
        "slot_f1": overall["f1"],
        "slot_precision": overall["precision"],
        "slot_recall": overall["recall"],
        "counts": overall["counts"],
        "slot_types": {
            name: _f1(*counts) for name, *counts in sorted(zip(names, *by_slot, strict=True)) if any(counts)
        },
        "examples": examples,
    }


class _Spans(NamedTuple):
    start: columns.IntArray
    end: columns.IntArray
    slot: columns.IntArray


class _Intents(dict[str, int]):
    """Intents and their numbers; a new one gets the next."""

    def __missing__(self, intent: object) -> int:
        if not isinstance(intent, str):
            raise TypeError(intent)
        return self.setdefault(intent, len(self))


class _Tags(dict[str, int]):
    """Tags and their numbers; a new one gets the next."""

    def __missing__(self, tag: object) -> int:
        if not isinstance(tag, str) or not (tag in {"O", "B", "I"} or tag[:2] in {"B-", "I-"}):
            raise TypeError(tag)
        return self.setdefault(tag, len(self))


class _Side(NamedTuple):
    """Utterances as numbers: an intent and a length each, and the tags of all in order."""

    intents: columns.IntArray
    lengths: columns.IntArray
    tags: columns.IntArray


def _read(name: str, rows: Iterable[Mapping[str, Any]], intents: _Intents, tags: _Tags) -> _Side:
    """Return the rows as numbers.

    It goes piece by piece, and touches each string once: of a million strings, to fetch them is what takes the time.
    """
    column = columns.listed(name, rows)
    pieces = []
    for start in range(0, len(column), PIECE):
        piece = column[start : start + PIECE]
        try:
            pieces.append(_read_piece(piece, intents, tags))
        except (TypeError, KeyError, IndexError, ValueError):
            for index, row in enumerate(piece, start):
                _refuse_wrong(f"{name}[{index}]", row, intents, tags)
            raise
    return _Side(*map(np.concatenate, zip(*pieces, strict=True)))


def _read_piece(rows: Sequence[Mapping[str, Any]], intents: _Intents, tags: _Tags) -> _Side:
    sentences = [row["tags"] for row in rows]
    if any(issubclass(kind, str) for kind in set(map(type, sentences))):
        raise TypeError("the letters of a text are no tags")
    lengths = np.fromiter(map(len, sentences), np.int64, len(rows))
    tag_numbers = map(tags.__getitem__, chain.from_iterable(sentences))
    return _Side(
        np.array([intents[row["intent"]] for row in rows], np.int64),
        lengths,
        np.fromiter(tag_numbers, np.int64, int(lengths.sum())),
    )


def _refuse_wrong(place: str, row: Any, intents: _Intents, tags: _Tags) -> None:
    """Raise what is wrong with the row, if anything is."""
    if not hasattr(row, "keys") or not {"intent", "tags"} <= set(row.keys()):
        raise TypeError(f'{place} is {row!r}: give {{"intent": ..., "tags": [...]}}.')
    if isinstance(row["tags"], str) or not hasattr(row["tags"], "__len__"):
        raise TypeError(f"{place} has the tags {row['tags']!r}: give a list with one tag per token.")
    for what, values, numbers in (("intent", [row["intent"]], intents), ("tag", row["tags"], tags)):
        for value in values:
            try:
                numbers[value]
            except TypeError:
                expected = "tags are O, B-<slot> or I-<slot>" if what == "tag" else "it is not text"
                raise TypeError(f"{place} has the {what} {value!r}: {expected}.") from None


def _decoded(numbers: _Tags) -> tuple[NDArray[np.int8], columns.IntArray, list[str]]:
    """Return the part (O, B, I) and the slot of each tag number, and the slots' names."""
    parts = np.array(["OBI".index(tag[0]) for tag in numbers], np.int8)
    slot_names = [tag[2:] or "_" for tag in numbers]  # a bare B or I has the slot that seqeval calls _
    names = sorted(set(slot_names))
    place = {name: number for number, name in enumerate(names)}
    return parts, np.array([place[name] for name in slot_names], np.int64), names


def _spans(parts: NDArray[np.int8], slots: columns.IntArray, starts: columns.IntArray, *, strict: bool) -> _Spans:
    """Return every span: a run of one slot that a B- or another slot ends, within one sentence."""
    inside = parts != OUTSIDE
    follows = np.zeros(len(parts), bool)
    follows[1:] = inside[:-1] & (slots[1:] == slots[:-1])
    follows[starts] = False
    first = inside & ((parts == BEGIN) | ~follows)
    last = np.ones(len(parts), bool)
    last[:-1] = first[1:] | ~inside[1:]
    start, end = np.flatnonzero(first), np.flatnonzero(inside & last)
    if strict:
        begun = parts[start] == BEGIN
        start, end = start[begun], end[begun]
    return _Spans(start, end, slots[start])


def _f1(true: int, predicted: int, correct: int) -> dict[str, Any]:
    return {
        "f1": 2 * correct / (true + predicted) if true + predicted else None,
        "precision": correct / predicted if predicted else None,
        "recall": correct / true if true else None,
        "counts": {"true": true, "predicted": predicted, "correct": correct},
    }
