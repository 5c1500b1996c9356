"""Fit the English typist to typing logs: `python tools/fit_en_keyboard.py KEYSTROKES [--half] [--out JSON]`.

Counted: how often each kind of slip happens at each place, made and left; what is written; how people differ. A rate
is a product over the parts of a place, smoothed; then each kind's rate is corrected until typing the same sentences
gives as many of it. With --half only every other typist and every other sentence are used, for judging on the rest.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from corpora.typing_logs import Row, Slip, is_of_half, read, slips
from scipy.stats import beta, norm

from lapsus.core.edits import Edit, apply
from lapsus.perturbations.en.typist.keyboard import EnKeyboard, leaves_only_words, simulate_typing
from lapsus.perturbations.en.typist.keys import find_key, neighbouring_keys
from lapsus.perturbations.en.typist.model import (
    CLASSES,
    CLOSING,
    FITTED,
    PARTS,
    SIZE,
    WORDS,
    TypistModel,
    classify_characters,
)
from lapsus.perturbations.en.typist.slips import SLIPS, find_class
from lapsus.perturbations.streams import stream_starts

PRIOR = 4.0  # how many slips what is expected weighs beside those counted, in a part of a place and in a cell
QUANTILES = 65
ROUNDS = 10
AGAIN = 6  # versions of each text in a round
LETTER_KINDS = ("beside", "too_after", "too_before", "other", "stray", "after_end")


def counted(rows: list[Row]) -> dict[str, list[tuple[Row, Slip]]]:
    """Return the slips by kind."""
    found: dict[str, list[tuple[Row, Slip]]] = defaultdict(list)
    for row in rows:
        for slip in slips(row.clean, row.typed):
            found[slip.kind].append((row, slip))
    return found


def rates(rows: list[Row], found: dict[str, list[tuple[Row, Slip]]]) -> dict[str, dict[str, Any]]:
    """Return how often each kind happens, as the product of what the parts of a place contribute."""
    texts = sorted({row.clean for row in rows})
    place, bounds = classify_characters(texts)
    start = {text: bounds[number] for number, text in enumerate(texts)}
    times = Counter(row.clean for row in rows)
    repeats = np.repeat([times[text] for text in texts], np.diff(bounds))
    exposed = np.bincount(place, repeats, SIZE).reshape(PARTS)
    fitted = {}
    for kind in SLIPS:
        at = [place[start[row.clean] + slip.at] for row, slip in found.get(kind, [])]
        count = np.bincount(np.array(at, np.int64), minlength=SIZE).reshape(PARTS).astype(float)
        fitted[kind] = product(count, exposed)
    return fitted


def product(count: np.ndarray, exposed: np.ndarray) -> dict[str, Any]:
    """Fit a rate times a factor for each part of a place, then what single places have beyond it, drawn towards 1."""
    rate = count.sum() / exposed.sum()
    parts = [np.ones(size) for size in count.shape]

    def expected() -> np.ndarray:
        return np.asarray(rate * exposed * np.einsum("a,b,c,d->abcd", *parts))

    for _ in range(30):
        for axis in range(count.ndim):
            others = tuple(other for other in range(count.ndim) if other != axis)
            parts[axis] *= (count.sum(axis=others) + 0.5) / (expected().sum(axis=others) + 0.5)
        rate *= count.sum() / max(expected().sum(), 1e-9)
    beyond = (count.reshape(-1) + PRIOR) / (expected().reshape(-1) + PRIOR)
    return {
        "rate": rounded(rate),
        "parts": [[rounded(value) for value in part] for part in parts],
        "cells": {str(i): rounded(beyond[i]) for i in np.flatnonzero(abs(np.log(beyond)) > 0.2)},
    }


def written(found: dict[str, list[tuple[Row, Slip]]]) -> dict[str, dict[str, dict[str, float]]]:
    """Return what is written by each kind of slip for each class, drawn towards what fingers or all classes do."""
    result: dict[str, dict[str, dict[str, float]]] = {}
    for kind in LETTER_KINDS:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for row, slip in found.get(kind, []):
            counts[find_class(row.clean, slip.at)][slip.new] += 1
        everywhere = sum(counts.values(), Counter())
        total = everywhere.total()
        result[kind] = {}
        for name in CLASSES[1:]:
            character = {"digit": "5", "symbol": ";"}.get(name, name[-1])
            own = counts.get(name, Counter())
            prior: dict[str, float]
            if kind in ("beside", "too_after", "too_before"):
                near = sorted(neighbouring_keys(find_key(character)))
                if name == "digit":
                    near = list("1234567890")
                upper = character.isupper() and kind in ("beside", "too_before")
                prior = {one.upper() if upper else one: 1 / len(near) for one in near}
            elif kind == "after_end":
                prior = {one: n / total for one, n in everywhere.items()} if name.startswith("final") else {}
            else:
                prior = {
                    one: n / total
                    for one, n in everywhere.items()
                    if one.isalpha() and one.lower() != character.lower()
                }
            weights = {
                one: (own[one] + PRIOR * prior.get(one, 0)) / (own.total() + PRIOR) for one in sorted({*own, *prior})
            }
            top = {one: rounded(weight) for one, weight in weights.items() if weight >= 0.002}
            if top:
                result[kind][name] = top
    return result


def shares(found: dict[str, list[tuple[Row, Slip]]], rows: list[Row]) -> tuple[dict[str, Any], dict[str, float]]:
    """Return what the longer slips need: lengths, words for words, words left out and put in."""
    words: dict[str, Counter[str]] = defaultdict(Counter)
    rest = []
    for row, slip in found["run"]:
        pair = whole_words(row.clean, slip)
        if pair:
            words[pair[0]][pair[1]] += 1
        else:
            rest.append(slip)
    lengths = Counter(f"{len(slip.old)} {len(slip.new)}" for slip in rest if len(slip.old) < 6 and len(slip.new) < 6)
    near = sum(
        find_key(b) in neighbouring_keys(find_key(a)) for slip in rest for a, b in zip(slip.old, slip.new, strict=False)
    ) / max(sum(min(len(slip.old), len(slip.new)) for slip in rest), 1)
    cut = Counter(str(len(slip.old)) for _, slip in found["cut"] if len(slip.old) < 8)
    of_words = Counter(word for row in rows for word in row.clean.lower().split())
    gone = Counter(slip.old.lower() for _, slip in found["cut_word"])
    all_gone, all_words = gone.total(), of_words.total()
    word_cut = {word: (n + 1) / (of_words[word] + all_words / all_gone) for word, n in gone.items() if n > 1}
    most = max(word_cut.values())
    added = Counter(slip.new.lower() for _, slip in found["add_word"] if len(slip.new) > 1 or slip.new in "aI")
    longer = {
        "word": {word: dict(others) for word, others in sorted(words.items()) if others.total() > 1},
        "run lengths": {"any": dict(lengths.most_common())},
        "cut lengths": {"any": dict(cut.most_common())},
        "word added": {"any": dict(added.most_common(12))},
    }
    single = {
        **{f"cut {word}": rounded(n) for word, n in sorted(word_cut.items())},
        "cut most": rounded(most),
        "cut else": rounded(0.3 * all_gone / all_words),
        "word for a word": 0.8,
        "run beside": round(near, 3),
        "run other": round(near + (1 - near) / 2, 3),
        "whole capitals": 0.5,
    }
    return longer, single


def whole_words(clean: str, slip: Slip) -> tuple[str, str] | None:
    """Return the word and what stands for it, where both are words of letters only."""
    start, end = slip.at, slip.at + len(slip.old)
    while start and clean[start - 1].isalpha():
        start -= 1
    while end < len(clean) and clean[end].isalpha():
        end += 1
    old = clean[start:end]
    new = clean[start : slip.at] + slip.new + clean[slip.at + len(slip.old) : end]
    common = {
        "the",
        "this",
        "that",
        "a",
        "an",
        "in",
        "on",
        "to",
        "is",
        "of",
        "are",
        "has",
        "have",
        "had",
        "my",
        "your",
        "his",
        "her",
        "their",
        "and",
        "for",
        "at",
        "was",
        "were",
        "it",
        "any",
        "some",
        "these",
        "those",
        "would",
        "will",
        "can",
        "could",
        "with",
        "from",
        "than",
        "then",
        "our",
        "there",
        "they",
        "you",
        "we",
        "as",
        "if",
    }
    return (old.lower(), new.lower()) if {old.lower(), new.lower()} <= common else None


def spread(rows: list[Row], kinds: frozenset[str]) -> tuple[float, float]:
    """Return how much people and, beyond that, texts differ in how often they slip: variances of the logarithm."""
    counts: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        counts[row.typist].append((sum(s.kind in kinds for s in slips(row.clean, row.typed)), len(row.clean)))
    rate = sum(n for c in counts.values() for n, _ in c) / sum(length for c in counts.values() for _, length in c)
    across = [0.0, 0.0]
    within = [0.0, 0.0]
    for texts in counts.values():
        for i, (n, length) in enumerate(texts):
            within[0] += n * (n - 1)
            within[1] += (rate * length) ** 2
            for m, other in texts[:i]:
                across[0] += n * m
                across[1] += rate * length * rate * other
    person = across[0] / across[1]
    return log(max(person, 1)), log(max(within[0] / within[1] / person, 1))


def word_odds(rows: list[Row]) -> float:
    """Return the odds that a slip within a word makes another word."""
    words = frozenset(WORDS.read_text(encoding="utf-8").split())
    right = wrong = 0
    for row in rows:
        for slip in slips(row.clean, row.typed):
            if slip.kind in ("beside", "other", "next", "before", "omit", "swap", "double", "stray", "run", "cut"):
                edit = Edit(slip.at, slip.at + len(slip.old), slip.new)
                if (slip.old + slip.new).isalpha() and slip.kind not in ("double", "stray"):
                    good = leaves_only_words(row.clean, edit, words)
                    right, wrong = right + good, wrong + (not good)
    return right / wrong


def lognormal(variance: float) -> list[float]:
    """Return the quantiles of a log-normal factor with mean 1."""
    shares_ = (np.arange(QUANTILES) + 0.5) / QUANTILES
    values = np.exp(norm.ppf(shares_) * variance**0.5)
    return [rounded(value) for value in values / np.trapezoid(values, dx=1 / (QUANTILES - 1))]


def habit(rows: list[Row], kind: str, exposed: Any) -> list[float]:
    """Return the quantiles of a factor for what some people never do: a beta distribution by its first two moments."""
    done: Counter[int] = Counter()
    could: Counter[int] = Counter()
    for row in rows:
        could[row.typist] += exposed(row.clean)
        done[row.typist] += sum(slip.kind == kind for slip in slips(row.clean, row.typed))
    pairs = [(min(done[one], could[one]), could[one]) for one in could if could[one] > 1]
    mean = sum(n for n, _ in pairs) / sum(m for _, m in pairs)
    second = sum(n * (n - 1) for n, _ in pairs) / sum(m * (m - 1) for _, m in pairs)
    size = (mean - second) / (second - mean**2)  # a + b
    values = beta.ppf((np.arange(QUANTILES) + 0.5) / QUANTILES, mean * size, (1 - mean) * size)
    return [rounded(value) for value in values / np.trapezoid(values, dx=1 / (QUANTILES - 1))]


def retyped(model: TypistModel, rows: list[Row], *, corrects: bool, seed: int) -> list[Row]:
    """Return the same sentences as the fitted people type them: each typist is replaced by one of them."""
    by_typist: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_typist[row.typist].append(row)
    result = []
    for typist, own in by_typist.items():
        op = EnKeyboard.annotator(typist + 10_000 * (seed + 1), corrects=corrects)
        texts = [row.clean for row in own]
        made = simulate_typing(model, op, texts, stream_starts(f"{op.name}/{seed}", [f"{i}" for i in range(len(own))]))
        result += [row._replace(typed=apply(row.clean, edits)) for row, edits in zip(own, made, strict=True)]
    return result


def fit(sent: list[Row], raw: list[Row]) -> dict[str, Any]:
    """Return the model."""
    made, left = counted(raw), counted(sent)
    both = {kind: made.get(kind, []) + left.get(kind, []) for kind in {*made, *left}}
    longer, single = shares(both, raw + sent)
    ratio = (word_odds(sent) / word_odds(raw)) ** 0.5
    motor = frozenset(SLIPS) - {"lower", "open", "after_end"}
    (person, text), (person_left, text_left) = spread(raw, motor), spread(sent, motor)
    spreads = {"haste": text, "unseen": max(text_left - text, 0)}
    model: dict[str, Any] = {
        "slips": rates(raw, made),
        "left": rates(sent, left),
        "written": {**written(both), **longer},
        "shares": {**single, "unseen in a word": ratio, "unseen in no word": 1 / ratio, "habit": 0.2},
        "people": {
            "haste": lognormal(person),
            "unseen": lognormal(max(person_left - person, 0)),
            "small in a text": lognormal(spread(sent, frozenset({"lower"}))[1]),
            "small": habit(sent, "lower", lambda clean: sum(map(str.isupper, clean))),
            "open": habit(sent, "open", lambda clean: clean[-1] in CLOSING),
            "blank": habit(sent, "after_end", lambda _: 1),
            **{f"{trait} in a text": lognormal(variance) for trait, variance in spreads.items()},
        },
    }
    for turn in range(ROUNDS):
        correct(model, spreads, "haste", raw, made, turn)
        correct(model, spreads, "unseen", sent, left, turn)
    return model


def correct(
    model: dict[str, Any],
    spreads: dict[str, float],
    trait: str,
    rows: list[Row],
    real: dict[str, list[tuple[Row, Slip]]],
    turn: int,
) -> None:
    """Type the rows with the model, and move it to where they come out as people's: kinds, words, share changed."""
    is_left = trait == "unseen"
    fitted, step = TypistModel.from_fit(model), 1 / (1 + turn / 3)
    seeds = range(AGAIN * turn, AGAIN * (turn + 1))
    again = [row for seed in seeds for row in retyped(fitted, rows, corrects=is_left, seed=seed)]
    ours = counted(again)
    for kind, part in model["left" if is_left else "slips"].items():
        want, got = len(real.get(kind, [])) + 1, len(ours.get(kind, [])) / AGAIN + 1
        part["rate"] = rounded(part["rate"] * np.clip(want / got, 0.5, 2) ** step)
    likeness, single = word_odds(rows) / word_odds(again), model["shares"]
    if is_left:
        single["unseen in a word"] = rounded(single["unseen in a word"] * likeness**0.5)
        single["unseen in no word"] = rounded(single["unseen in no word"] / likeness**0.5)
    else:
        single["habit"] = rounded(np.clip(single["habit"] + 0.5 * log(likeness), 0, 1))
    human, mine = (sum(row.clean != row.typed for row in some) / len(some) for some in (rows, again))
    moved = spreads[trait] + step * (40 if is_left else 8) * (mine - human)
    spreads[trait] = float(np.clip(moved, 0, 9))
    model["people"][f"{trait} in a text"] = lognormal(spreads[trait])
    counts = sum(map(len, ours.values())) / AGAIN, sum(map(len, real.values()))
    print(f"{turn} {trait}: {counts[0]:.0f} slips for {counts[1]}, changed {mine:.3f} for {human:.3f}")


def rounded(value: float) -> float:
    """Return a number as the file writes it."""
    return float(f"{value:.4g}")


def main() -> None:
    """Fit, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("keystrokes", type=Path)
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--out", type=Path, default=FITTED)
    args = parser.parse_args()
    sent, raw = read(args.keystrokes)
    if args.half:
        sent, raw = ([row for row in rows if is_of_half(row, 0)] for rows in (sent, raw))
    model = fit(sent, raw)
    args.out.write_text(json.dumps(model, ensure_ascii=False, indent=None, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main()
