"""Which entities were understood: types and what fills them, wherever the words stand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from lapsus import stats
from lapsus.core import checks
from lapsus.stats.classification import compute_f1

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
        clusters: the original of each utterance; utterances with the same original form one cluster.
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
            the effective number: the unit is the utterance (or the cluster), not the entity.
        types: f1, precision, recall and counts of each type, by its name.
        examples: how many utterances there are.

    Example:
        >>> truth = [{"type": "person", "filler": "mary ann"}, {"type": "date", "filler": "today"}]
        >>> heard = [{"type": "person", "filler": "mary and"}, {"type": "date", "filler": "today"}]
        >>> result = entity_f1([heard], [truth])
        >>> result["entity_f1"], result["word_f1"], result["char_f1"]
        (0.5, 0.8, 0.9411764705882353)
    """
    guessed, true = _read_entities("predictions", predictions), _read_entities("references", references)
    examples = checks.check_same_length(predictions=guessed, references=true)
    stats.check_level(confidence_level)
    cluster_ids = checks.number_clusters(clusters, predictions=guessed)
    totals: dict[str, Counter[str]] = {"true": Counter(), "predicted": Counter(), "correct": Counter()}
    counts = np.empty((3, examples), np.int64)  # the true, predicted and correct ones of each utterance
    for index, (guess, truth) in enumerate(zip(guessed, true, strict=True)):
        correct = Counter(guess) & Counter(truth)
        totals["true"].update(kind for kind, _ in truth)
        totals["predicted"].update(kind for kind, _ in guess)
        totals["correct"].update(kind for kind, _ in correct.elements())
        counts[:, index] = len(truth), len(guess), correct.total()
    n_true, n_predicted, n_correct = counts
    words, characters = (
        _count_soft_errors(guessed, true, word_distance),
        _count_soft_errors(guessed, true, char_distance),
    )
    rates = {
        "entity_f1": (2 * n_correct, n_true + n_predicted),
        "entity_precision": (n_correct, n_predicted),
        "entity_recall": (n_correct, n_true),
        **{
            name: (2 * paired, 2 * paired + errors)
            for name, (paired, errors) in (("word_f1", words), ("char_f1", characters), ("slu_f1", words + characters))
        },
    }
    overall = compute_f1(**{side: counter.total() for side, counter in totals.items()})
    return {
        **{name: float(part.sum() / total.sum()) if total.any() else None for name, (part, total) in rates.items()},
        **{f"{name}_ci": _compute_interval(*parts, cluster_ids, confidence_level) for name, parts in rates.items()},
        "counts": overall["counts"],
        "types": {
            kind: compute_f1(**{side: counter[kind] for side, counter in totals.items()})
            for kind in sorted(totals["true"] | totals["predicted"])
        },
        "examples": examples,
    }


def _compute_interval(
    part: checks.FloatArray | checks.IntArray,
    total: checks.FloatArray | checks.IntArray,
    cluster_ids: checks.IntArray,
    level: float,
) -> stats.Interval | None:
    sums = stats.ClusterSums(np.bincount(cluster_ids, part), np.bincount(cluster_ids, total))
    return stats.clustered_rate_interval(sums, level)


def word_distance(gold: str, predicted: str) -> float:
    """Return the word errors per true word.

    >>> word_distance("mary ann", "mary and ann")
    0.5
    """
    return Levenshtein.distance(gold.split(), predicted.split()) / max(1, len(gold.split()))


def char_distance(gold: str, predicted: str) -> float:
    """Return the edits per character of the longer text.

    >>> char_distance("ann", "anna")
    0.25
    """
    return Levenshtein.normalized_distance(gold, predicted)


def _count_soft_errors(
    guessed: list[list[Entity]], true: list[list[Entity]], distance: Callable[[str, str], float]
) -> checks.FloatArray:
    """Return, of each utterance, how many predicted entities have a true one of their type, and all errors.

    Errors are what is missed or invented.
    """
    counts = np.zeros((2, len(true)))
    for index, (guess, truth) in enumerate(zip(guessed, true, strict=True)):
        paired, errors = 0, 0.0
        unmatched = list(truth)
        for kind, filler in guess:
            candidates = [
                (distance(text, filler), number) for number, (other, text) in enumerate(unmatched) if other == kind
            ]
            if candidates:
                error, number = min(candidates)
                del unmatched[number]
                paired += 1
                errors += 2 * error
            else:
                errors += 1
        counts[:, index] = paired, errors + len(unmatched)
    return counts


def _read_entities(name: str, rows: Iterable[Iterable[Mapping[str, str] | Sequence[str]]]) -> list[list[Entity]]:
    entities = []
    for index, row in enumerate(checks.check_list(name, rows)):
        try:
            entities.append([_parse_entity(entity) for entity in row])
        except (TypeError, KeyError, ValueError):
            raise TypeError(
                f'{name}[{index}] is {row!r}: give a list of entities such as {{"type": "date", "filler": "today"}}.'
            ) from None
    return entities


def _parse_entity(entity: Any) -> Entity:
    """Return an entity that is a mapping, or a pair of type and filler."""
    kind, filler = entity if isinstance(entity, list | tuple) else (entity["type"], entity["filler"])
    if not (isinstance(kind, str) and isinstance(filler, str)):
        raise TypeError(entity)
    return kind, filler
