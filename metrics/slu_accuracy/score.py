"""Whether an utterance was understood: its intent, its slots, and both."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lapsus import stats
from lapsus.core import bio, checks
from lapsus.stats.classification import compute_f1

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

PIECE = 4096


def slu_accuracy(
    predictions: Iterable[Mapping[str, Any]],
    references: Iterable[Mapping[str, Any]],
    *,
    scheme: str | None = None,
    clusters: Iterable[Any] | None = None,
    confidence_level: float = 0.95,
) -> dict[str, Any]:
    """Return intent accuracy, slot F1 over spans, and the share of utterances with intent and all tags right.

    Args:
        predictions: for each utterance `{"intent": str, "tags": list of str}`; tags are O, B-<slot> or I-<slot>, and
            those of IOBES and BILOU.
        references: the same, for the truth.
        scheme: None reads spans as conlleval does, where an I- that continues nothing starts a span; "IOB2" is strict:
            only B- starts one. So are "IOBES" and "BILOU": a span is one S- (U-), or begins with B- and ends with E-
            (L-).
        clusters: the original of each utterance; utterances with the same original form one cluster.
        confidence_level: of the intervals.

    A rate with nothing to divide by is None.

    Returns:
        e2e_accuracy: the share of utterances whose intent and tags are all right.
        intent_accuracy: the share of utterances whose intent is right.
        slot_f1, slot_precision, slot_recall: over the spans of all utterances.
        e2e_accuracy_ci, intent_accuracy_ci, slot_f1_ci, slot_precision_ci, slot_recall_ci: Wilson's intervals at the
            effective number: what varies is the utterance (or the original), not the span.
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
    checks.check_choice("scheme", scheme, (None, *bio.SCHEMES))
    stats.check_level(confidence_level)
    intents, tags = _Intents(), _Tags(scheme)
    guessed = _read("predictions", predictions, intents, tags)
    true = _read("references", references, intents, tags)
    examples = checks.check_same_length(predictions=guessed.intents, references=true.intents)
    if (unequal := guessed.lengths != true.lengths).any():
        index = unequal.argmax()
        raise ValueError(
            f"predictions[{index}] has {guessed.lengths[index]} tags and references[{index}] has "
            f"{true.lengths[index]}: give one tag per token."
        )

    guess, truth, lengths = guessed.tags, true.tags, true.lengths
    parts, slots, names = _decode_tags(tags)
    ends = np.cumsum(lengths)
    starts = (ends - lengths)[lengths > 0]
    true_spans = bio.extract_slots_batch(parts[truth], slots[truth], starts, scheme)
    guessed_spans = bio.extract_slots_batch(parts[guess], slots[guess], starts, scheme)
    guessed_last = np.full(len(truth) + 1, -1)
    guessed_last[guessed_spans.first] = guessed_spans.last
    correct = (guessed_last[true_spans.first] == true_spans.last) & (slots[guess[true_spans.first]] == true_spans.label)

    tags_right = np.ones(examples, bool)
    if len(starts):
        tags_right[lengths > 0] = np.logical_and.reduceat(truth == guess, starts)
    intent_right = guessed.intents == true.intents
    overall = compute_f1(len(true_spans.label), len(guessed_spans.label), int(correct.sum()))
    by_slot = [
        np.bincount(label_numbers, minlength=len(names)).tolist()
        for label_numbers in (true_spans.label, guessed_spans.label, true_spans.label[correct])
    ]
    cluster_ids = checks.number_clusters(clusters, predictions=guessed.intents)
    cluster_of_token = np.repeat(cluster_ids, lengths)
    spans = [
        np.bincount(cluster_of_token[firsts], minlength=int(cluster_ids.max()) + 1)
        for firsts in (true_spans.first, guessed_spans.first, true_spans.first[correct])
    ]
    return {
        "e2e_accuracy": float((intent_right & tags_right).mean()),
        **_compute_intervals(intent_right & tags_right, intent_right, cluster_ids, spans, confidence_level),
        "intent_accuracy": float(intent_right.mean()),
        "slot_f1": overall["f1"],
        "slot_precision": overall["precision"],
        "slot_recall": overall["recall"],
        "counts": overall["counts"],
        "slot_types": {
            name: compute_f1(*counts) for name, *counts in sorted(zip(names, *by_slot, strict=True)) if any(counts)
        },
        "examples": examples,
    }


def _compute_intervals(
    all_right: NDArray[np.bool_],
    intent_right: NDArray[np.bool_],
    cluster_ids: checks.IntArray,
    spans: Sequence[checks.IntArray],
    level: float,
) -> dict[str, Any]:
    """Return the interval of each rate; `spans` are the true, the predicted and the correct ones of each original."""
    true, predicted, correct = spans
    rates = {
        "slot_f1": (2 * correct, true + predicted),
        "slot_precision": (correct, predicted),
        "slot_recall": (correct, true),
    }
    return {
        "e2e_accuracy_ci": stats.clustered_rate_interval(
            stats.sum_by_cluster_number(all_right * 1.0, cluster_ids), level
        ),
        "intent_accuracy_ci": stats.clustered_rate_interval(
            stats.sum_by_cluster_number(intent_right * 1.0, cluster_ids), level
        ),
        **{f"{name}_ci": stats.clustered_wilson_interval(*parts, level) for name, parts in rates.items()},
    }


class _Intents(dict[str, int]):
    """Intents and their numbers; a new one gets the next."""

    def __missing__(self, intent: object) -> int:
        if not isinstance(intent, str):
            raise TypeError(intent)
        return self.setdefault(intent, len(self))


class _Tags(dict[str, int]):
    """Tags of a scheme and their numbers; a new one gets the next."""

    def __init__(self, scheme: str | None) -> None:
        self.parts = bio.PREFIX_FLAGS if scheme is None else bio.SCHEMES[scheme]

    def __missing__(self, tag: object) -> int:
        if not isinstance(tag, str):
            raise TypeError(tag)
        bio.parse_tag(tag, self.parts)
        return self.setdefault(tag, len(self))


class _Side(NamedTuple):
    """Utterances as numbers: an intent and a length each, and the tags of all in order."""

    intents: checks.IntArray
    lengths: checks.IntArray
    tags: checks.IntArray


def _read(name: str, rows: Iterable[Mapping[str, Any]], intents: _Intents, tags: _Tags) -> _Side:
    """Return the rows as numbers.

    It goes piece by piece, and touches each string once: of a million strings, to fetch them is what takes the time.
    """
    column = checks.check_list(name, rows)
    pieces = []
    for start in range(0, len(column), PIECE):
        piece = column[start : start + PIECE]
        try:
            pieces.append(_read_piece(piece, intents, tags))
        except (TypeError, KeyError, IndexError, ValueError):
            for index, row in enumerate(piece, start):
                _check_row(f"{name}[{index}]", row, intents, tags)
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


def _check_row(place: str, row: Any, intents: _Intents, tags: _Tags) -> None:
    """Raise what is wrong with the row, if anything is."""
    if not hasattr(row, "keys") or not {"intent", "tags"} <= set(row.keys()):
        raise TypeError(f'{place} is {row!r}: give {{"intent": ..., "tags": [...]}}.')
    if isinstance(row["tags"], str) or not hasattr(row["tags"], "__len__"):
        raise TypeError(f"{place} has the tags {row['tags']!r}: give a list with one tag per token.")
    for field, values, numbers in (("intent", [row["intent"]], intents), ("tag", row["tags"], tags)):
        for value in values:
            try:
                numbers[value]
            except (TypeError, ValueError):
                prefixes = "".join(f", {part}-<slot>" for part in tags.parts if part != "O")
                expected = f"tags are O{prefixes}" if field == "tag" else "it is not text"
                raise TypeError(f"{place} has the {field} {value!r}: {expected}.") from None


def _decode_tags(numbers: _Tags) -> tuple[NDArray[np.int8], checks.IntArray, list[str]]:
    """Return the part and the slot of each tag number, and the slots' names."""
    tags = [bio.parse_tag(tag) for tag in numbers]
    names = sorted({slot for _, slot in tags})
    place = {name: number for number, name in enumerate(names)}
    return np.array([part for part, _ in tags], np.int8), np.array([place[slot] for _, slot in tags], np.int64), names
