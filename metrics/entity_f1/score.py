"""Which entities were understood: types and what fills them, wherever the words stand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rapidfuzz.distance import Levenshtein

from lapsus.kernel import columns
from lapsus.kernel.f_score import f1

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Entity = tuple[str, str]  # its type, and its filler


def entity_f1(
    predictions: Iterable[Iterable[Mapping[str, str]]], references: Iterable[Iterable[Mapping[str, str]]]
) -> dict[str, Any]:
    """Return F1 over entities, and SLU-F1, which forgives a misheard filler as far as it is like the true one.

    No positions are compared, so that what was understood of recognised speech can be scored.

    Args:
        predictions: for each utterance the list of its entities, `{"type": str, "filler": str}`.
        references: the same, for the truth.

    A rate with nothing to divide by is None.

    Returns:
        entity_f1, entity_precision, entity_recall: over the entities of all utterances, right in type and filler.
        counts: the entities that are true, predicted, and correct (both).
        word_f1: each predicted entity is paired with the nearest true one of its type; a pair is right, and as much
            missed and invented as its filler has word errors per true word.
        char_f1: the same with the edits of the filler per character of the longer one.
        slu_f1: of the sums of both, as SLURP defines it.
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
    totals: dict[str, Counter[str]] = {"true": Counter(), "predicted": Counter(), "correct": Counter()}
    for guess, truth in zip(guessed, true, strict=True):
        totals["true"].update(kind for kind, _ in truth)
        totals["predicted"].update(kind for kind, _ in guess)
        totals["correct"].update(kind for kind, _ in (Counter(guess) & Counter(truth)).elements())
    words, characters = _forgiving(guessed, true, word_distance), _forgiving(guessed, true, char_distance)
    overall = f1(**{side: counts.total() for side, counts in totals.items()})
    return {
        "entity_f1": overall["f1"],
        "entity_precision": overall["precision"],
        "entity_recall": overall["recall"],
        "counts": overall["counts"],
        "word_f1": _of_errors(*words),
        "char_f1": _of_errors(*characters),
        "slu_f1": _of_errors(words[0] + characters[0], words[1] + characters[1]),
        "types": {
            kind: f1(**{side: counts[kind] for side, counts in totals.items()})
            for kind in sorted(totals["true"] | totals["predicted"])
        },
        "examples": examples,
    }


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
) -> tuple[int, float]:
    """Return how many predicted entities have a true one of their type, and all that is missed or invented."""
    paired, errors = 0, 0.0
    for guess, truth in zip(guessed, true, strict=True):
        left = list(truth)
        for kind, filler in guess:
            near = [(distance(text, filler), place) for place, (other, text) in enumerate(left) if other == kind]
            if near:
                wrong, place = min(near)
                del left[place]
                paired += 1
                errors += 2 * wrong
            else:
                errors += 1
        errors += len(left)
    return paired, errors


def _of_errors(paired: int, errors: float) -> float | None:
    return 2 * paired / (2 * paired + errors) if paired or errors else None


def _read(name: str, rows: Iterable[Iterable[Mapping[str, str]]]) -> list[list[Entity]]:
    read = []
    for index, row in enumerate(columns.listed(name, rows)):
        try:
            read.append([_entity(entity) for entity in row])
        except (TypeError, KeyError):
            raise TypeError(
                f'{name}[{index}] is {row!r}: give a list of entities such as {{"type": "date", "filler": "today"}}.'
            ) from None
    return read


def _entity(given: Mapping[str, str]) -> Entity:
    kind, filler = given["type"], given["filler"]
    if not (isinstance(kind, str) and isinstance(filler, str)):
        raise TypeError(given)
    return kind, filler
