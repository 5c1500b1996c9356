"""Which entities were understood: types and what fills them, wherever the words stand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from lapsus.kernel import columns, statistics
from lapsus.kernel.f_score import f1

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Entity = tuple[str, str]  # its type, and its filler


def entity_f1(
    predictions: Iterable[Iterable[Mapping[str, str] | Sequence[str]]],
    references: Iterable[Iterable[Mapping[str, str] | Sequence[str]]],
    *,
    clusters: Iterable[Any] | None = None,
    confidence_level: float = 0.95,
) -> dict[str, Any]:
    """Return F1 over entities, and SLU-F1, which forgives a misheard filler as far as it is like the true one.

    No positions are compared, so that what was understood of recognised speech can be scored.

    Args:
        predictions: for each utterance the list of its entities, `{"type": str, "filler": str}`; without evaluate also
            `[type, filler]`, as `lapsus run` writes slots.
        references: the same, for the truth.
        clusters: what each utterance was made from: utterances that share an original count as one finding.
        confidence_level: of the intervals.

    A rate with nothing to divide by is None.

    Returns:
        entity_f1, entity_precision, entity_recall: over the entities of all utterances, right in type and filler.
        counts: the entities that are true, predicted, and correct (both).
        word_f1: each predicted entity is paired with the nearest true one of its type; a pair is right, and as much
            missed and invented as its filler has word errors per true word.
        char_f1: the same with the edits of the filler per character of the longer one.
        slu_f1: of the sums of both, as SLURP defines it.
        entity_f1_ci, entity_precision_ci, entity_recall_ci, word_f1_ci, char_f1_ci, slu_f1_ci: Wilson's intervals at
            the effective number: what varies is the utterance (or the original), not the entity.
        types: f1, precision, recall and counts of each type, by its name.
        examples: how many utterances there are.

    Example:
        >>> truth = [{"type": "person", "filler": "mary ann"}, {"type": "date", "filler": "today"}]
        >>> heard = [{"type": "person", "filler": "mary and"}, {"type": "date", "filler": "today"}]
        >>> result = entity_f1([heard], [truth])
        >>> result["entity_f1"], result["word_f1"], result["char_f1"]
        (0.5, 0.8, 0.9411764705882353)
    """
    guessed, true = _read("predictions", predictions), _read("references", references)
    examples = columns.same_length(predictions=guessed, references=true)
    statistics.check_level(confidence_level)
    originals = np.arange(examples)
    if clusters is not None:
        originals, _ = columns.numbered("clusters", clusters)
        columns.same_length(predictions=guessed, clusters=originals)
    totals: dict[str, Counter[str]] = {"true": Counter(), "predicted": Counter(), "correct": Counter()}
    counts = np.empty((3, examples), np.int64)  # the true, predicted and correct ones of each utterance
    for place, (guess, truth) in enumerate(zip(guessed, true, strict=True)):
        correct = Counter(guess) & Counter(truth)
        totals["true"].update(kind for kind, _ in truth)
        totals["predicted"].update(kind for kind, _ in guess)
        totals["correct"].update(kind for kind, _ in correct.elements())
        counts[:, place] = len(truth), len(guess), correct.total()
    there, given, right = counts
    words, characters = _forgiving(guessed, true, word_distance), _forgiving(guessed, true, char_distance)
    rates = {
        "entity_f1": (2 * right, there + given),
        "entity_precision": (right, given),
        "entity_recall": (right, there),
        **{
            name: (2 * paired, 2 * paired + errors)
            for name, (paired, errors) in (("word_f1", words), ("char_f1", characters), ("slu_f1", words + characters))
        },
    }
    overall = f1(**{side: found.total() for side, found in totals.items()})
    return {
        **{name: float(part.sum() / whole.sum()) if whole.any() else None for name, (part, whole) in rates.items()},
        **{f"{name}_ci": _interval(*parts, originals, confidence_level) for name, parts in rates.items()},
        "counts": overall["counts"],
        "types": {
            kind: f1(**{side: found[kind] for side, found in totals.items()})
            for kind in sorted(totals["true"] | totals["predicted"])
        },
        "examples": examples,
    }


def _interval(
    part: columns.FloatArray | columns.IntArray,
    whole: columns.FloatArray | columns.IntArray,
    originals: columns.IntArray,
    level: float,
) -> statistics.Interval | None:
    found = statistics.Clustered(np.bincount(originals, part), np.bincount(originals, whole))
    return statistics.clustered_rate(found, level)


def word_distance(truth: str, heard: str) -> float:
    """Return the word errors per true word.

    >>> word_distance("mary ann", "mary and ann")
    0.5
    """
    return Levenshtein.distance(truth.split(), heard.split()) / max(1, len(truth.split()))


def char_distance(truth: str, heard: str) -> float:
    """Return the edits per character of the longer text.

    >>> char_distance("ann", "anna")
    0.25
    """
    return Levenshtein.normalized_distance(truth, heard)


def _forgiving(
    guessed: list[list[Entity]], true: list[list[Entity]], distance: Callable[[str, str], float]
) -> columns.FloatArray:
    """Return, of each utterance, how many predicted entities have a true one of their type, and all errors.

    Errors are what is missed or invented.
    """
    found = np.zeros((2, len(true)))
    for place, (guess, truth) in enumerate(zip(guessed, true, strict=True)):
        paired, errors = 0, 0.0
        left = list(truth)
        for kind, filler in guess:
            near = [(distance(text, filler), number) for number, (other, text) in enumerate(left) if other == kind]
            if near:
                wrong, number = min(near)
                del left[number]
                paired += 1
                errors += 2 * wrong
            else:
                errors += 1
        found[:, place] = paired, errors + len(left)
    return found


def _read(name: str, rows: Iterable[Iterable[Mapping[str, str] | Sequence[str]]]) -> list[list[Entity]]:
    read = []
    for index, row in enumerate(columns.listed(name, rows)):
        try:
            read.append([_entity(entity) for entity in row])
        except (TypeError, KeyError, ValueError):
            raise TypeError(
                f'{name}[{index}] is {row!r}: give a list of entities such as {{"type": "date", "filler": "today"}}.'
            ) from None
    return read


def _entity(given: Any) -> Entity:
    """Return an entity that is a mapping, or a pair of type and filler."""
    kind, filler = given if isinstance(given, list | tuple) else (given["type"], given["filler"])
    if not (isinstance(kind, str) and isinstance(filler, str)):
        raise TypeError(given)
    return kind, filler
