"""Noise rates: edits from a clean text to a noisy one, per character of the clean text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lapsus.core.conversations import is_messages
from lapsus.core.text import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from lapsus.core.checks import FloatArray, IntArray


LONG = 1000  # characters of a clean text from which a band around the diagonal is searched first


def compute_edit_distances(
    noisy: Sequence[Sequence[str]], clean: Sequence[Sequence[str]], *, cap: int | None = None
) -> IntArray:
    """Return the Levenshtein distance of each pair: the fewest insertions, deletions and replacements.

    They count the characters of texts, or the words of lists. `cap` is the length of the longest clean text, for
    callers that know it.

    >>> compute_edit_distances(["花贝提额", "您"], ["花呗提额", "你好"])
    array([1, 2])
    >>> compute_edit_distances([["a", "lmap"]], [["a", "lamp", "is"]])
    array([2])
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    if (max(map(len, clean), default=0) if cap is None else cap) < LONG:
        return np.asarray(cpdist(noisy, clean, scorer=Levenshtein.distance), np.int64)
    pairs = zip(noisy, clean, strict=True)  # the band is widened where it is too narrow
    return np.array([Levenshtein.distance(*pair, score_hint=len(pair[1]) // 5) for pair in pairs], np.int64)


class EditCounts(NamedTuple):
    """The edits of each annotator (0 where one is missing), which are present, and the length of each clean text.

    >>> rates = EditCounts(np.array([[1, 0], [2, 0]]), np.array([[True, True], [True, False]]), np.array([4, 2]))
    >>> rates.mean_by_example, rates.worst_by_example, rates.mean_by_annotator(), rates.corpus_rate()
    (array([0.375, 0.   ]), array([0.5, 0. ]), [0.125, 0.5], 0.3)
    """

    edits: IntArray  # annotators x examples
    present: NDArray[np.bool_]  # annotators x examples
    lengths: IntArray

    @property
    def rates(self) -> FloatArray:
        """The rate of each annotator and example; `select` the examples with a length above 0 first."""
        return self.edits / self.lengths

    @property
    def mean_by_example(self) -> FloatArray:
        """The mean over the annotators of each example."""
        return np.asarray(self.rates.sum(axis=0) / self.present.sum(axis=0))

    @property
    def worst_by_example(self) -> FloatArray:
        """The highest rate among the annotators of each example."""
        return np.asarray(self.rates.max(axis=0))

    @property
    def characters(self) -> int:
        """The number of clean characters, counted once for each annotator that has a text."""
        return int((self.present.sum(axis=0) * self.lengths).sum())

    def mean_by_annotator(self) -> list[float | None]:
        """Return the mean rate of each annotator, None for one without texts."""
        columns = zip(self.rates, self.present, strict=True)
        return [float(rates[present].mean()) if present.any() else None for rates, present in columns]

    def corpus_rate(self) -> float:
        """Return the sum of all edits divided by the number of all clean characters."""
        return float(self.edits.sum() / self.characters)

    def select(self, mask: NDArray[np.bool_]) -> EditCounts:
        """Return the counts of some examples."""
        return EditCounts(self.edits[:, mask], self.present[:, mask], self.lengths[mask])


def count_edits(noisy: Sequence[Sequence[str]], clean: Sequence[str]) -> EditCounts:
    """Return the edits of texts with any number of annotators each.

    >>> count_edits([["ab", "b"], ["c"]], ["ab", "c"]).mean_by_example
    array([0.25, 0.  ])
    """
    n_texts = np.array([len(texts) for texts in noisy], np.int64)
    example = np.repeat(np.arange(len(clean)), n_texts)
    annotator = np.arange(len(example)) - np.repeat(np.cumsum(n_texts) - n_texts, n_texts)
    shape = int(n_texts.max(initial=1)), len(clean)
    edits, present = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
    present[annotator, example] = True
    edits[annotator, example] = compute_edit_distances(
        [text for texts in noisy for text in texts], [clean[i] for i in example.tolist()]
    )
    return EditCounts(edits, present, np.array([len(text) for text in clean], np.int64))


@dataclass(frozen=True, slots=True)
class TrackNoiseRates:
    """The noise rates of one column of one track."""

    location: str  # "config/split"
    column: str
    micro_average: float  # mean over rows of the mean over annotators of distance / length
    worst_average: float | None  # the same with the worst annotator of each row, where there are several
    corpus_rate: float  # all edits / all clean characters; a row without clean text has no rate


def find_noisy_columns(features: Mapping[str, Any], noisy: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the clean columns with the path of their noisy twin: that of `noisy`, or the name without "clean_".

    >>> find_noisy_columns({"text": 0, "clean_text": 0, "clean_zh": 0, "pair": 0}, {"clean_zh": ("pair", "zh")})
    {'clean_text': ('text',), 'clean_zh': ('pair', 'zh')}
    """
    paths = {
        name: noisy.get(name, (name.removeprefix("clean_"),))
        for name in features
        if name.startswith("clean_") and name != "clean_tags"
    }
    return {clean: path for clean, path in paths.items() if path and path[0] in features}


class NoiseRateAccumulator:
    """Sums of the edit distances between the clean and noisy texts of one split.

    A column `clean_X` is the clean text of `X`, or of the path that `noisy` names for it; an empty path leaves it out.
    The texts of the columns `joined` are also measured as one text, one after the other.
    """

    def __init__(
        self,
        location: str,
        features: Mapping[str, Any],
        noisy: Mapping[str, tuple[str, ...]],
        joined: tuple[str, ...] = (),
    ) -> None:
        self.location = location
        self.columns = find_noisy_columns(features, noisy)
        self.annotated = {clean for clean, path in self.columns.items() if _has_annotations(features, path)}
        self.source_columns = {name for clean, path in self.columns.items() for name in (clean, path[0])}
        self.joined = joined if {f"clean_{name}" for name in joined} <= self.columns.keys() else ()
        self.names = [".".join(path) for path in self.columns.values()] + ([" + ".join(joined)] if self.joined else [])
        self.sums = {name: np.zeros(5) for name in self.names}  # rows, mean, worst, edits, characters
        self.annotators = dict.fromkeys(self.names, 1)

    def update(self, batch: Mapping[str, list[Any]]) -> dict[str, tuple[list[str], list[str]]]:
        """Add a batch; return the clean and the first noisy text of each row, per clean column."""
        texts = {}
        for column, path in self.columns.items():
            clean = [to_text(value or "") for value in batch[column]]
            noisy = [_annotator_texts(value, path[1:], column in self.annotated) for value in batch[path[0]]]
            texts[column] = clean, noisy
            self._count(".".join(path), clean, noisy)
        if self.joined:
            parts = [texts[f"clean_{name}"] for name in self.joined]
            clean = ["".join(row) for row in zip(*(clean for clean, _ in parts), strict=True)]
            rows = zip(*(noisy for _, noisy in parts), strict=True)
            self._count(self.names[-1], clean, [["".join(pieces) for pieces in zip(*row, strict=True)] for row in rows])
        return {
            column: (clean, [versions[0] if versions else "" for versions in noisy])
            for column, (clean, noisy) in texts.items()
        }

    def _count(self, name: str, clean: Sequence[str], noisy: Sequence[Sequence[str]]) -> None:
        counts = count_edits(noisy, clean)
        self.annotators[name] = max(self.annotators[name], len(counts.edits))
        counts = counts.select((counts.lengths > 0) & counts.present.any(axis=0))
        sums = counts.mean_by_example.sum(), counts.worst_by_example.sum(), counts.edits.sum()
        self.sums[name] += [len(counts.lengths), *sums, counts.characters]

    def finish(self) -> Iterator[TrackNoiseRates]:
        """Yield the rates of each noisy column that has rows."""
        for name, (rows, mean, worst, edits, characters) in self.sums.items():
            if rows:
                is_annotated = self.annotators[name] > 1
                yield TrackNoiseRates(
                    self.location, name, mean / rows, worst / rows if is_annotated else None, edits / characters
                )


def _has_annotations(features: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Return whether the feature at a path is a list of annotations, which may be empty where nobody wrote a text."""
    feature: Any = features
    for step in path:
        feature = feature.get(step) if isinstance(feature, dict) else None
    return isinstance(getattr(feature, "feature", None), dict)


def _annotator_texts(value: Any, path: tuple[str, ...], is_annotated: bool) -> list[str]:
    """Return the noisy texts of a cell: one, or one per annotator."""
    for step in path:
        value = value[step]
    if is_messages(value):
        return [to_text(value)]
    if is_annotated or (isinstance(value, list) and value and isinstance(value[0], dict)):
        return [to_text(annotation["text"]) for annotation in value or ()]
    return [to_text(value or "")]
