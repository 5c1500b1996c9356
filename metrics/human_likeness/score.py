"""How human synthetic noise is: its profile beside that of humans, and the AUC of a classifier between the two."""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from itertools import chain, pairwise
from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
from rapidfuzz.distance import Levenshtein

from lapsus import stats
from lapsus.core import checks
from lapsus.stats.noise_rates import EditCounts, compute_edit_distances

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

Noisy: TypeAlias = "Iterable[str] | Iterable[Iterable[str | None]]"

KINDS = ("homophone", "fuzzy_sound", "same_initials", "resegmented", "other", "insertion", "deletion")
FOLDS = 5
COLUMNS = 9_000  # of words; beyond 10,000 numbers BLAS starts threads, which costs more than it gives
TOLERANCE = 1e-3  # of the weights, on average


def human_likeness(
    predictions: Noisy,
    references: Iterable[str],
    human: Noisy,
    *,
    top_features: int = 10,
    clusters: Iterable[Any] | None = None,
    confidence_level: float = 0.95,
) -> dict[str, Any]:
    """Return the AUC of a classifier between synthetic and human noise, and the profile of each side.

    The classifier is a logistic regression over how the texts differ from the clean ones and over character n-grams,
    cross-validated so that all versions of a sentence are in the same fold. At an AUC of 0.5 the two cannot be told
    apart. `human_aucs` are those of each human against the other humans: what an operator can reach.

    Args:
        predictions: the synthetic texts, or for each example the list of them, one per annotator; None if missing.
        references: the clean texts.
        human: the human texts, given likewise.
        top_features: how many of the strongest features of each side are listed.
        clusters: the original of each clean text: texts with the same original form a cluster, which is in one fold.
        confidence_level: of the intervals.

    Returns:
        auc: of the classifier between synthetic and human texts, the mean over five folds; None with too few texts.
        auc_ci: its interval, by DeLong's variance over clusters, enlarged for what such classifiers learn by chance.
        human_aucs, human_aucs_ci: the same for each human against the other humans.
        synthetic: the profile of the synthetic texts: `micro_average` and `worst_average` of the error rate,
            `annotator_averages`, `unchanged` (share of the texts), `equal_length` (share of the changed texts),
            `edits_per_text`, `kinds` and `span_lengths` (shares of the edits), and `new_latin` (share of the texts
            with Latin letters that the clean text has not).
        human: the profile of the human texts.
        humans: the profile of each human.
        features: the strongest features of the classifier, by side.
        examples: how many were compared.

    Example:
        >>> clean = ["花呗怎么不能提额了", "借呗额度为什么没有了", "怎么申请开通花呗", "今天几点自动扣款"]
        >>> human = [["花呗怎么不能贴了"], ["借呗额度为什么没有了"], ["怎么申请开通画呗"], ["今天几点自动口款"]]
        >>> result = human_likeness(["哗呗怎么不能提额了", *clean[1:]], clean, human)
        >>> result["human"]["unchanged"], result["synthetic"]["kinds"]["homophone"]
        (0.25, 1.0)
    """
    top_features = checks.check_integer("top_features", top_features)
    clean = checks.check_texts("references", references)
    if "" in clean:
        raise ValueError(f"references[{clean.index('')}] is empty, so that it has no noise rate: leave it out.")
    synthetic, humans = _read_tracks("predictions", predictions, clean), _read_tracks("human", human, clean)
    features = extract_features([*synthetic, *humans])
    cluster_ids, fold_of = _number_clusters(clean, clusters)
    example = np.array([text.example for text in features.texts])
    folds, cluster = fold_of[example], cluster_ids[example]
    annotator = np.repeat(np.arange(len(synthetic) + len(humans)), [len(track) for track in (*synthetic, *humans)])
    is_synthetic = (annotator < len(synthetic)).astype(float)
    among_humans = np.flatnonzero(is_synthetic == 0)
    aucs = [
        estimate_auc(features.values[rows], labels[rows], folds[rows], cluster[rows], confidence_level)
        for rows, labels in (
            (np.arange(len(annotator)), is_synthetic),
            *(
                (among_humans, (annotator == human_annotator) * 1.0)
                for human_annotator in range(len(synthetic), len(synthetic) + len(humans))
            ),
        )
    ]
    return {
        "auc": aucs[0].value,
        "auc_ci": aucs[0].interval,
        "human_aucs": [estimate.value for estimate in aucs[1:]],
        "human_aucs_ci": [estimate.interval for estimate in aucs[1:]],
        "synthetic": profile_noise(synthetic, len(clean)),
        "human": profile_noise(humans, len(clean)),
        "humans": [profile_noise([track], len(clean)) for track in humans],
        "features": rank_features(features, is_synthetic, top_features),
        "examples": len(clean),
    }


def _number_clusters(clean: Sequence[str], clusters: Iterable[Any] | None) -> tuple[checks.IntArray, checks.IntArray]:
    """Return the number of each example's original, and its fold: by the first text of the original."""
    cluster_ids = checks.number_clusters(clusters, references=clean)
    _, first, number = np.unique(cluster_ids, return_index=True, return_inverse=True)
    fold = np.array([crc32(clean[place].encode("utf-8", "replace")) % FOLDS for place in first])
    return cluster_ids, fold[number]


class Change(NamedTuple):
    """A part of the clean text, and what replaces it."""

    old: str
    new: str
    kind: str


class Text(NamedTuple):
    """One writer's text of one example, and how it differs from the clean one."""

    example: int
    clean: str
    noisy: str
    changes: list[Change]


def _read_tracks(name: str, noisy: Noisy, clean: Sequence[str]) -> list[list[Text]]:
    """Return the texts of each writer."""
    column = checks.check_list(name, noisy)
    checks.check_same_length(**{name: column, "references": clean})
    rows = [[text] for text in column] if all(isinstance(text, str) for text in column) else column
    flat, width = checks.flatten_rows(name, rows)
    checks.check_texts(name, ["" if text is None else text for text in flat])
    tracks: list[list[Text]] = [[] for _ in range(width)]
    for number, text in enumerate(flat):
        example, annotator = divmod(number, width)
        if text is not None:
            tracks[annotator].append(Text(example, clean[example], text, list_changes(clean[example], text)))
    if not all(tracks):
        raise ValueError(f"{name} has a writer without any text: leave the writer out.")
    return tracks


@cache
def _get_readings(character: str) -> tuple[str, ...]:
    """Return the toneless readings of a character, the most common first; none for what is not Chinese."""
    from pypinyin.contrib.tone_convert import to_normal
    from pypinyin.pinyin_dict import pinyin_dict

    return tuple(to_normal(reading) for reading in pinyin_dict.get(ord(character), "").split(",") if reading)


@cache
def _get_syllables(character: str) -> frozenset[str]:
    return frozenset(_get_readings(character))


@cache
def _normalise_accent(syllable: str) -> str:
    """Return the syllable as heard without zh/z, ch/c, sh/s, n/l/r, f/hu or final n/ng.

    >>> _normalise_accent("zhuang") == _normalise_accent("zuan"), _normalise_accent("hui") == _normalise_accent("fei")
    (True, True)
    >>> _normalise_accent("li")
    'ni'
    """
    for initial, replacement in (("zh", "z"), ("ch", "c"), ("sh", "s"), ("l", "n"), ("r", "n")):
        if syllable.startswith(initial):
            syllable = replacement + syllable.removeprefix(initial)
            break
    if syllable.startswith("hu"):
        syllable = {"hui": "fei", "hun": "fen"}.get(syllable, "f" + (syllable[2:] or "u"))
    return syllable[:-1] if syllable.endswith("ng") else syllable


def _get_first_letter(syllable: str) -> str:
    return syllable[0]


def _spell_pinyin(text: str) -> str:
    """Return the letters that type a text, by the most common reading of each character."""
    return "".join((_get_readings(character) or (character,))[0] for character in text)


@lru_cache(1 << 16)
def classify_change(old: str, new: str) -> str:
    """Return the kind of a change.

    >>> classify_change("里", "历"), classify_change("第二", "地热"), classify_change("提额", "贴")
    ('homophone', 'other', 'resegmented')
    >>> classify_change("的", ""), classify_change("要尽力", "药剂量")
    ('deletion', 'same_initials')
    """
    if not old or not new:
        return "deletion" if old else "insertion"
    if len(old) != len(new):
        return (
            "resegmented"
            if Levenshtein.normalized_distance(_spell_pinyin(old), _spell_pinyin(new)) <= 0.25
            else "other"
        )

    def has_same_sounds(key: Callable[[str], str]) -> bool:
        sounds = (
            (set(map(key, _get_syllables(a))), set(map(key, _get_syllables(b)))) for a, b in zip(old, new, strict=True)
        )
        return all(old_sounds & new_sounds for old_sounds, new_sounds in sounds)

    sound_keys: dict[str, Callable[[str], str]] = {
        "homophone": str,
        "fuzzy_sound": _normalise_accent,
        "same_initials": _get_first_letter,
    }
    return next((name for name, key in sound_keys.items() if has_same_sounds(key)), "other")


def diff_texts(clean: str, noisy: str) -> list[tuple[int, str, str]]:
    """Return (place, old, new) of the parts in which two texts differ; neighbouring operations are one.

    >>> diff_texts("提前还里程额度", "提前话历程额度吗")
    [(2, '还里', '话历'), (7, '', '吗')]
    """
    spans: list[list[int]] = []
    for operation in Levenshtein.opcodes(clean, noisy):
        if operation.tag == "equal":
            continue
        if spans and spans[-1][1] == operation.src_start and spans[-1][3] == operation.dest_start:
            spans[-1][1::2] = operation.src_end, operation.dest_end
        else:
            spans.append([operation.src_start, operation.src_end, operation.dest_start, operation.dest_end])
    return [(i, clean[i:j], noisy[k:m]) for i, j, k, m in spans]


def list_changes(clean: str, noisy: str) -> list[Change]:
    """Return the parts in which two texts differ, and the kind of each.

    >>> [(old, new) for old, new, _ in list_changes("提前还里程额度", "提前话历程额度吗")]
    [('还里', '话历'), ('', '吗')]
    """
    return [Change(old, new, classify_change(old, new)) for _, old, new in diff_texts(clean, noisy)]


def count_latin(text: str) -> int:
    """Return the number of Latin letters."""
    return sum(character.isascii() and character.isalpha() for character in text)


def profile_noise(tracks: Sequence[Sequence[Text]], examples: int) -> dict[str, Any]:
    """Return the profile of the noise of one side: its rate, the kinds and the lengths of its edits."""
    texts = list(chain.from_iterable(tracks))
    rates = _count_edits(tracks, texts, examples)
    changed = [text for text in texts if text.changes]
    edits = list(chain.from_iterable(text.changes for text in texts))
    kinds = Counter(edit.kind for edit in edits)
    spans = Counter(min(max(len(edit.old), len(edit.new)), 5) for edit in edits)

    def share(count: int, total: int) -> float:
        return count / total if total else 0.0

    return {
        "micro_average": float(rates.mean_by_example.mean()),
        "worst_average": float(rates.worst_by_example.mean()),
        "annotator_averages": rates.mean_by_annotator(),
        "unchanged": 1 - share(len(changed), len(texts)),
        "equal_length": share(sum(len(text.clean) == len(text.noisy) for text in changed), len(changed)),
        "edits_per_text": share(len(edits), len(texts)),
        "kinds": {name: share(kinds[name], len(edits)) for name in KINDS},
        "span_lengths": {f"{n}+" if n == 5 else f"{n}": share(spans[n], len(edits)) for n in range(1, 6)},
        "new_latin": share(sum(count_latin(text.noisy) > count_latin(text.clean) for text in texts), len(texts)),
    }


def _count_edits(tracks: Sequence[Sequence[Text]], texts: Sequence[Text], examples: int) -> EditCounts:
    """Return the error rates of the examples that any of the writers has."""
    edits, present = np.zeros((2, len(tracks), examples), np.int64)
    place = np.repeat(np.arange(len(tracks)), list(map(len, tracks))), np.array([text.example for text in texts])
    edits[place] = compute_edit_distances([text.noisy for text in texts], [text.clean for text in texts])
    present[place] = 1
    lengths = np.zeros(examples, np.int64)
    lengths[place[1]] = [len(text.clean) for text in texts]
    return EditCounts(edits, present > 0, lengths).select(lengths > 0)


NUMBERS = (
    "changed", "edited characters", "length difference", "relative length", "edits", "mean edit", "longest edit",
    "new latin", "before the first edit", "after the last edit", "rarest new character", "new characters' rarity",
    "rarest new pair", "new pairs' rarity", *(f"kind {name}" for name in KINDS),
)  # fmt: skip


class Features(NamedTuple):
    """The input of the classifier: a row for each text, a name for each column."""

    texts: list[Text]
    values: csr_matrix
    names: list[str]


def extract_features(tracks: Iterable[Iterable[Text]]) -> Features:
    """Return the rows of all tracks, one after the other: numbers first, then the commonest words."""
    texts = list(chain.from_iterable(tracks))
    clean = {text.example: text.clean for text in texts}.values()
    from scipy.sparse import csr_matrix, hstack

    characters, pairs = (
        _compute_rarities(chain.from_iterable(clean)),
        _compute_rarities(chain.from_iterable(map(_iter_pairs, clean))),
    )
    numbers = np.array([_extract_numbers(text, characters, pairs) for text in texts], np.float64)
    numbers = 0.5 * (numbers - numbers.mean(axis=0)) / np.maximum(numbers.std(axis=0), 1e-9)

    column: dict[str, int] = {}
    words = [
        [column.setdefault(word, len(column)) for word in sorted(set(_iter_word_features(text)))] for text in texts
    ]
    examples: list[set[int]] = [set() for _ in column]
    for text, text_words in zip(texts, words, strict=True):
        for word in text_words:
            examples[word].add(text.example)
    spread = np.fromiter(map(len, examples), np.int64, len(column))
    top_columns = np.argsort(-spread, kind="stable")[:COLUMNS]
    top_columns = top_columns[spread[top_columns] > 1]  # what only one sentence has cannot help with another
    bounds = np.cumsum([0, *map(len, words)])
    table = csr_matrix((np.ones(bounds[-1]), list(chain.from_iterable(words)), bounds), (len(texts), len(column)))
    table = table[:, top_columns]
    table = table.multiply(3 / np.sqrt(np.maximum(table.sum(axis=1), 1)))
    names = list(column)
    return Features(texts, hstack([csr_matrix(numbers), table]).tocsr(), [*NUMBERS, *(names[n] for n in top_columns)])


def _iter_word_features(text: Text) -> Iterator[str]:
    """Yield what a reader notices: the n-grams of the text, and what stands in place of what."""
    yield from (f"text {ngram}" for ngram in _iter_ngrams(text.noisy, 3))
    for old, new, name in text.changes:
        yield f"edit {old}→{new}"
        yield f"{name} {min(len(old), 5)}→{min(len(new), 5)}"
        yield from (f"gone {character}" for character in old)
        yield from (f"new {ngram}" for ngram in _iter_ngrams(new, 2))


def _iter_ngrams(text: str, longest: int) -> Iterator[str]:
    padded = f"^{text}$"
    for length in range(1, longest + 1):
        for start in range(len(padded) - length + 1):
            yield padded[start : start + length]


def _iter_pairs(text: str) -> Iterator[str]:
    return map("".join, pairwise(f"^{text}$"))


class _Rarity(dict[str, float]):
    """How many bits each item of the clean texts is worth; what they lack is rarest."""

    def __missing__(self, item: str) -> float:
        return self[""]


def _compute_rarities(items: Iterable[str]) -> _Rarity:
    counts = Counter(items)
    total = counts.total()
    return _Rarity({"": log2(2 * total), **{item: log2(total / count) for item, count in counts.items()}})


def _extract_numbers(text: Text, characters: _Rarity, pairs: _Rarity) -> list[float]:
    _, clean, noisy, edits = text
    lengths = [max(len(edit.old), len(edit.new)) for edit in edits] or [0]
    kinds = Counter(edit.kind for edit in edits)
    new = [characters[item] for item in (Counter(noisy) - Counter(clean)).elements()] or [0.0]
    new_pairs = [pairs[item] for item in (Counter(_iter_pairs(noisy)) - Counter(_iter_pairs(clean))).elements()] or [
        0.0
    ]
    return [
        bool(edits), sum(lengths) / len(clean), len(noisy) - len(clean), len(noisy) / len(clean), len(edits),
        sum(lengths) / len(lengths), max(lengths), max(count_latin(noisy) - count_latin(clean), 0),
        _count_common_prefix(clean, noisy) / len(clean), _count_common_prefix(clean[::-1], noisy[::-1]) / len(clean),
        max(new), sum(new) / len(new), max(new_pairs), sum(new_pairs) / len(new_pairs),
        *(np.log1p(kinds[name]) for name in KINDS),
    ]  # fmt: skip


def _count_common_prefix(first: str, second: str) -> int:
    """Return the length of the common beginning."""
    return next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


def fit_logistic(values: csr_matrix, labels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of an L2-regularised logistic regression, the intercept last.

    Both classes weigh the same, however many writers they have.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    weight = np.where(labels > 0, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
    across = values.T.tocsr()

    def loss(weights: NDArray[np.float64]) -> float:
        scores = values @ weights[:-1] + weights[-1]
        cost = weight * (np.logaddexp(0, scores) - labels * scores)
        return float(cost.sum() + (weights[:-1] ** 2).sum() / 2)

    def slope(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        pull = weight * (expit(values @ weights[:-1] + weights[-1]) - labels)
        return np.append(across @ pull + weights[:-1], pull.sum())

    def curvature(weights: NDArray[np.float64], step: NDArray[np.float64]) -> NDArray[np.float64]:
        chance = expit(values @ weights[:-1] + weights[-1])
        pull = weight * chance * (1 - chance) * (values @ step[:-1] + step[-1])
        return np.append(across @ pull + step[:-1], pull.sum())

    start = np.zeros(values.shape[1] + 1)
    solution = minimize(loss, start, jac=slope, hessp=curvature, method="Newton-CG", options={"xtol": TOLERANCE})
    return np.asarray(solution.x)


def compute_auc(scores: NDArray[np.float64], labels: NDArray[np.float64]) -> float:
    """Return the probability that a positive scores above a negative, ties counting half.

    >>> compute_auc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([0, 0, 1, 1]))
    0.875
    """
    return float(place_scores(scores, labels)[labels > 0].mean())


def place_scores(scores: NDArray[np.float64], labels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each positive the share of negatives below it, for each negative that of positives above it.

    >>> place_scores(np.array([0.1, 0.4, 0.4, 0.9]), np.array([0, 0, 1, 1]))
    array([1.  , 0.75, 0.75, 1.  ])
    """
    from scipy.stats import rankdata

    shares = np.empty(len(scores))
    ranks = rankdata(scores)
    for side in (labels > 0, labels <= 0):
        below = (ranks[side] - rankdata(scores[side])) / (len(side) - side.sum())
        shares[side] = below if labels[side][0] > 0 else 1 - below
    return shares


class Auc(NamedTuple):
    """The mean AUC over the folds, and its interval; None where there is none."""

    value: float | None
    interval: stats.Interval | None


def estimate_auc(
    values: csr_matrix,
    labels: NDArray[np.float64],
    folds: NDArray[np.int64],
    cluster_ids: NDArray[np.int64],
    level: float,
) -> Auc:
    """Return the mean AUC over the folds, each scored by a classifier fitted on the others.

    Its variance is DeLong's, with what the texts of one original add to the AUC summed first; and as the classifiers
    were learnt from the same texts, it is enlarged as Nadeau and Bengio do.
    """
    aucs: list[float] = []
    contributions = np.full(len(labels), np.nan)
    for fold in np.unique(folds):
        held_out = folds == fold
        if all(len(np.unique(labels[part])) == 2 for part in (held_out, ~held_out)):
            weights = fit_logistic(values[~held_out], labels[~held_out])
            shares, positive = place_scores(values[held_out] @ weights[:-1], labels[held_out]), labels[held_out] > 0
            aucs.append(float(shares[positive].mean()))
            contributions[held_out] = (shares - aucs[-1]) / np.where(positive, positive.sum(), (~positive).sum())
    if not aucs:
        return Auc(None, None)
    scored = ~np.isnan(contributions)
    by_cluster = np.bincount(np.unique(cluster_ids[scored], return_inverse=True)[1], contributions[scored] / len(aucs))
    value, n_clusters = float(np.mean(aucs)), len(by_cluster)
    if n_clusters < 2:
        return Auc(value, None)
    correction = 1 + len(aucs) / (FOLDS - 1)
    variance = float(by_cluster @ by_cluster) * correction * n_clusters / (n_clusters - 1)
    return Auc(value, stats.effective_interval(value, variance, n_clusters, level))


def rank_features(features: Features, labels: NDArray[np.float64], count: int) -> dict[str, list[str]]:
    """Return the features that speak most for either side, by what they move over all texts."""
    weights = fit_logistic(features.values, labels)[:-1]
    centred = features.values.power(2).mean(axis=0).A1 - features.values.mean(axis=0).A1 ** 2
    importances = weights * np.sqrt(np.maximum(centred, 0))
    order = np.argsort(importances, kind="stable")
    return {
        "synthetic": [features.names[n] for n in order[::-1][:count] if importances[n] > 0],
        "human": [features.names[n] for n in order[:count] if importances[n] < 0],
    }
