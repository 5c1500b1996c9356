"""Two classifiers that try to tell synthetic from human noise in English, as a referee would.

Boosted trees over kinds, places and words of the edits; a logistic regression over n-grams of edits and texts. Only
changed rows count; all versions of a sentence are in the same of five folds.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
from rapidfuzz.distance import Levenshtein
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from lapsus.metrics.human_likeness.score import diff_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOLDS = 5
RARE = 8  # a feature that fewer texts have says nothing
Pair = tuple[str, str]


class Verdict(NamedTuple):
    """How well each classifier tells the two sides apart: 0.5 is a coin."""

    trees: float
    ngrams: float


def judged(human: Iterable[Pair], ours: Iterable[Pair]) -> Verdict:
    """Return the AUCs between two lists of (clean, noisy)."""
    sides = [[pair for pair in side if pair[0] != pair[1]] for side in (human, ours)]
    pairs = [pair for side in sides for pair in side]
    label = np.repeat([0, 1], list(map(len, sides)))
    fold = np.array([crc32(clean.encode()) % FOLDS for clean, _ in pairs])
    weight = np.where(label == 1, 0.5 / label.mean(), 0.5 / (1 - label.mean()))
    words = Counter(word for clean, _ in sides[0] for word in clean.lower().split())
    rows = [_numbers(*pair, words) for pair in pairs]
    names = [name for name, count in Counter(name for row in rows for name in row).items() if count >= RARE]
    numbers = np.array([[row.get(name, 0) for name in names] for row in rows], float)
    ngrams = FeatureHasher(2**18, alternate_sign=False).transform([_ngrams(*pair) for pair in pairs])
    trees, lines = [], []
    for one in range(FOLDS):
        train, test = fold != one, fold == one
        tree = HistGradientBoostingClassifier(
            max_iter=150, learning_rate=0.06, max_leaf_nodes=15, min_samples_leaf=15, l2_regularization=1
        ).fit(numbers[train], label[train], sample_weight=weight[train])
        trees.append(roc_auc_score(label[test], tree.predict_proba(numbers[test])[:, 1]))
        line = LogisticRegression(C=0.3, max_iter=300, solver="liblinear")
        line.fit(ngrams[train], label[train], sample_weight=weight[train])
        lines.append(roc_auc_score(label[test], line.decision_function(ngrams[test])))
    return Verdict(float(np.mean(trees)), float(np.mean(lines)))


def _numbers(clean: str, noisy: str, words: Counter[str]) -> dict[str, float]:
    edits = diff_texts(clean, noisy)
    sizes = [max(len(old), len(new)) for _, old, new in edits]
    gaps = [later[0] - earlier[0] for earlier, later in pairwise(edits)]
    found: Counter[str] = Counter()
    known, lengths, frequencies, inside = 0, [], [], []
    for at, old, new in edits:
        start, end = at, at + len(old)
        while start and clean[start - 1].isalpha():
            start -= 1
        while end < len(clean) and clean[end].isalpha():
            end += 1
        lengths.append(end - start)
        frequencies.append(np.log1p(words[clean[start:end].lower()]))
        inside.append((at - start) / max(1, end - start))
        known += (clean[start:at] + new + clean[at + len(old) : end]).lower() in words
        found[f"shape {_shape(old)}>{_shape(new)}"] += 1
        found.update(f"old {character.lower()}" for character in old)
        found.update(f"new {character.lower()}" for character in new)
        swap = len(old) == 2 and old == new[::-1]
        double = not old and len(new) == 1 and new in clean[max(0, at - 1) : at + 1]
        found["swap"] += swap
        found["double"] += double
    return {
        **found,
        "edits": len(edits),
        "length": len(clean),
        "longer": len(noisy) - len(clean),
        "distance": Levenshtein.distance(clean, noisy),
        "first": edits[0][0] / len(clean),
        "last": edits[-1][0] / len(clean),
        "at the end": edits[-1][0] >= len(clean) - 1,
        "longest": max(sizes),
        "mean": float(np.mean(sizes)),
        "gap": min(gaps, default=99),
        "words": known,
        "word length": float(np.mean(lengths)),
        "word frequency": float(np.mean(frequencies)),
        "in the word": float(np.mean(inside)),
        "capitals": sum(map(str.isupper, noisy)) - sum(map(str.isupper, clean)),
    }


def _shape(text: str) -> str:
    return "".join("A" if one.isupper() else "a" if one.islower() else "9" if one.isdigit() else one for one in text)


def _ngrams(clean: str, noisy: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for at, old, new in diff_texts(clean, noisy):
        before, after = clean[max(0, at - 2) : at], clean[at + len(old) : at + len(old) + 2]
        found.update(
            (f"{old}>{new}", f"{before[-1:]}|{old}>{new}", f"{old}>{new}|{after[:1]}", f"{before}[{new}]{after}")
        )
    padded = f"^{noisy}$"
    found.update(padded[start : start + size] for size in (1, 2, 3) for start in range(len(padded) - size + 1))
    return found


def people(rows: Sequence[tuple[int, Pair]]) -> Verdict:
    """Return how well one half of the people is told from the other: what nobody can be asked to beat."""
    sides: tuple[list[Pair], list[Pair]] = ([], [])
    for person, pair in rows:
        sides[crc32(f"people {person}".encode()) % 2].append(pair)
    return judged(*sides)
