"""Fit the English recognisers: `python tools/fit_en_speech.py SLURP NOISEQA DISFL_QA [--out JSON] [--quarter]`.

Used are SLURP's recordings of requests with an even number, and every other question of NoiseQA; Disfl-QA's training
questions lend the pairs of words of `search`. --quarter uses half of that, to judge on the other half.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from corpora.transcripts import Row, aligned, noiseqa, profile, read_as_words, slurp
from rapidfuzz.distance import Levenshtein
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from lapsus.perturbations import EnSpeech, apply, perturb_batch
from lapsus.perturbations.en.sounds import pronounce
from lapsus.perturbations.en.speech import dictation, hearing
from lapsus.perturbations.en.speech.dictation import split_tokens
from lapsus.perturbations.en.speech.model import FITTED, WORD_FEATURES, Recogniser, word_features

ROUNDS = 8
AT_ONCE = 1600  # texts that are dictated in a round
MANY = 3  # words
CHOSEN = {
    "forget": 3.0,
    "split": 0.5,
    "merge": 0.5,
    "alone": 0.3,
    "capital for a name": 0.5,
    "capital for a word": 0.14,
}
"""Chosen by hand: what aligned texts do not show."""
KNOWS_MORE = {"assistant": 0.11, "search": 0.0}
"""What is added to the chance of a miss, on the logit: a fit on a quarter of the rows, which knows more than the halves
it was corrected on, missed a tenth too little of another quarter."""
OFTEN = {"assistant": 2, "search": 5}  # pairs of words that are kept


def of_half(row: Row, *, quarter: bool) -> bool:
    """Whether a row is one that the fit may see."""
    return row.number % 2 == 0 and not (quarter and row.number // 2 % 2)


def language(rows: list[Row], more: list[str], often: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return how often words and pairs were written; texts of the domain count like one recording each."""
    texts = [read_as_words(row.heard)[0] for row in rows]
    texts += [[token.word for token in split_tokens(text)] for text in more]
    words = Counter(word for text in texts for word in text if word != "<unk>")
    pairs = Counter(
        f"{one} {other}"
        for text in texts
        for one, other in zip(["^", *text], [*text, "$"], strict=True)
        if "<unk>" not in (one, other)
    )
    words["^"] = words["$"] = len(texts)
    return dict(words.most_common()), {pair: n for pair, n in pairs.most_common() if n >= often}


def blank(name: str, words: dict[str, float], pairs: dict[str, float]) -> dict[str, Any]:
    """Return a recogniser of which only the language is known."""
    return {
        "hazard": [0.0] * len(WORD_FEATURES),
        "spread": [0.0, 0.0, 0.0],
        "shares": {
            "general": 0.2 if name == "assistant" else 0.6,
            "distance": 0.6,
            "rarity": 0.3,
            "before": 0.5,
            "next": 0.5,
        },
        "sizes": {},
        "words": words,
        "pairs": pairs,
        "habits": {},
        "memory": {},
        "added": {"the": 1},
        "heard": {},
    }


def fold(row: Row) -> int:
    """Return the part of a row: what is learned from one part is tried on the other."""
    return row.number // 4 % 2


def hazard(whole: dict[str, Any], parts: list[dict[str, Any]], rows: list[Row], found: list[Any]) -> None:
    """Fit which words are missed: a logistic regression over traits, and what single words have beyond it.

    The traits of a row are those that it has for a recogniser that knows only the other part of the rows.
    """
    values, labels, names, of = [], [], [], []
    made = [Recogniser.from_fit(part) for part in parts]
    for row, (words, missed, _) in zip(rows, found, strict=True):
        gone = {at for one in missed for at in range(one.start, one.end)}
        capital = [token.text[:1].isupper() for token in split_tokens(row.clean)]
        for at, trait in enumerate(word_features(made[1 - fold(row)], words, capital)):
            trait[9] = float(at - 1 in gone)
            values.append(trait)
            labels.append(at in gone)
            names.append(words[at])
            of.append(fold(row))
    x, y, part_of = np.array(values), np.array(labels), np.array(of)

    def habits(chance: np.ndarray, which: np.ndarray) -> dict[str, float]:
        real: Counter[str] = Counter()
        expected: defaultdict[str, float] = defaultdict(float)
        for at in np.flatnonzero(which):
            real[names[at]] += bool(y[at])
            expected[names[at]] += chance[at]
        beyond = {name: log((real[name] + 6) / (expected[name] + 6)) for name in expected}
        return {name: round(value, 2) for name, value in beyond.items() if abs(value) > 0.2}

    line = LogisticRegression(C=1.0, fit_intercept=False, max_iter=500)
    x[:, 10] = 0
    chance = line.fit(x, y).predict_proba(x)[:, 1]
    whole["habits"] = habits(chance, part_of >= 0)
    for number, part in enumerate(parts):
        part["habits"] = habits(chance, part_of == number)
    x[:, 10] = [parts[1 - number]["habits"].get(name, 0.0) for name, number in zip(names, of, strict=True)]
    weights = line.fit(x, y).coef_[0]
    print("hazard", dict(zip(WORD_FEATURES, weights.round(2).tolist(), strict=True)))
    for one in (whole, *parts):
        one["hazard"] = [round(float(weight), 4) for weight in weights]


def share(hits: float, of: float) -> float:
    """Return a share as the file writes it."""
    return round(hits / max(of, 1), 5)


def stretches(model: dict[str, Any], rows: list[Row], found: list[Any]) -> None:
    """Count what is written for missed stretches: how many words, what again and again, what is added."""
    sizes: dict[int, Counter[int]] = defaultdict(Counter)
    memory: dict[str, Counter[str]] = defaultdict(Counter)
    added: Counter[str] = Counter()
    gaps: Counter[bool] = Counter()
    for words, missed, _ in found:
        for one in missed:
            size, old = one.end - one.start, words[one.start : one.end]
            if not size:
                gaps[one.start == 0] += 1
                if "<unk>" not in one.new and len(one.new) < MANY:
                    added[" ".join(one.new)] += 1
                continue
            sizes[0 if size == 1 and len(old[0]) < dictation.SHORT else min(size, dictation.MAX_STRETCH)][
                len(one.new)
            ] += 1
            if size <= MANY:
                memory[" ".join(old)][" ".join(one.new).replace("<unk>", "< unk >")] += 1
    model["sizes"] = {
        str(size): {str(new): n for new, n in sorted(counts.items())} for size, counts in sorted(sizes.items())
    }
    model["memory"] = {
        old: dict(new.most_common(8)) for old, new in sorted(memory.items()) if new.most_common(1)[0][1] > 1
    }
    model["added"] = dict(added.most_common(60))
    marked = sum(row.heard.count("< unk >") for row in rows)
    model["shares"] |= {
        "added": share(gaps[False], sum(len(words) for words, *_ in found)),
        "added first": share(gaps[True], len(rows)),
        "unknown marked": share(marked, marked + sum(row.heard.count("@@UNKNOWN@@") for row in rows)),
        **CHOSEN,
    }


def case_and_marks(model: dict[str, Any], name: str, rows: list[Row], found: list[Any]) -> None:
    """Count how words are written that were heard."""
    heard: dict[str, Counter[str]] = defaultdict(Counter)
    marks: Counter[str] = Counter()
    capital: Counter[tuple[bool, bool]] = Counter()
    lowered: Counter[bool] = Counter()
    for row, (_, _, right) in zip(rows, found, strict=True):
        tokens = split_tokens(row.clean)
        named = [dictation.ENDS.sub("", token.text)[:1].isupper() for token in tokens]
        if sum(named[at] for at, *_ in right if at) > 1:
            lowered[row.heard.islower()] += 1
        for at, word, seen in right:
            low = seen.lower()
            if "'" in word:
                clitic = "apart" if " '" in low or " n't" in low else "bare" if " " in low else "none"
                marks["whole" if clitic == "none" and "'" in low else clitic] += 1
            else:
                heard[word][low if "'" in low else word] += 1
            if at:
                capital[named[at], seen[:1].isupper()] += 1
    model["heard"] = {
        word: dict(forms) for word, forms in sorted(heard.items()) if forms.total() - forms[word] > 1 and len(forms) > 1
    }
    searching = name == "search"
    plain = share(lowered[True], lowered.total()) if searching else 0.0
    kept, new = (share(capital[of, True], capital[of, True] + capital[of, False]) for of in (True, False))
    model["shares"] |= {
        "plain": plain,
        "capital kept": min(round(kept / (1 - plain), 4), 1.0),
        "capital new": round(1.3 * new, 4),  # longer words get them
        **{f"clitic {mark}": share(marks[mark], marks.total()) for mark in ("apart", "bare", "none")},
    }


def unknown(parts: list[dict[str, Any]], rows: list[Row], found: list[Any]) -> dict[str, float]:
    """Return how often a missed word is marked as unknown, where the recogniser of the other part knows it, or not."""
    counts: Counter[tuple[bool, bool]] = Counter()
    for row, (words, missed, _) in zip(rows, found, strict=True):
        known = parts[1 - fold(row)]["words"]
        for one in missed:
            old = words[one.start : one.end]
            foreign = sorted((word not in known for word in old), reverse=True)
            marked = one.new.count("<unk>")
            for at, is_foreign in enumerate(foreign):
                if one.new:
                    counts[is_foreign, at < marked] += 1
    return {
        name: round(counts[foreign, True] / max(counts[foreign, True] + counts[foreign, False], 1), 4)
        for name, foreign in (("unknown foreign", True), ("unknown", False))
    }


def confusions(parts: list[dict[str, Any]], name: str, rows: list[Row], found: list[Any]) -> dict[str, float]:
    """Fit what weighs how much in what one word is heard as: a conditional logit over words that sound alike."""
    cases = []
    ones = 0
    for number, part in enumerate(parts):
        use(name, part)
        made = Recogniser.from_fit(part)
        for row, (words, missed, _) in zip(rows, found, strict=True):
            for one in missed:
                if fold(row) == number or not one.end - one.start == len(one.new) == 1 or one.new[0] == "<unk>":
                    continue
                ones += 1
                said = pronounce(words[one.start])
                options = [heard for heard in hearing.find_similar_words(name, said) if heard.word != words[one.start]]
                if one.new[0] in {heard.word for heard in options}:
                    before = words[one.start - 1] if one.start else "^"
                    after = words[one.end] if one.end < len(words) else "$"
                    far = [
                        [h.distance, h.rarity, -made.pair_affinity(before, h.word), -made.pair_affinity(h.word, after)]
                        for h in options
                    ]
                    cases.append((np.array(far), next(n for n, h in enumerate(options) if h.word == one.new[0])))

    def loss(weights: np.ndarray) -> float:
        total = 0.0
        for values, right in cases:
            scores = -values @ weights
            most = scores.max()
            total += most + np.log(np.exp(scores - most).sum()) - scores[right]
        return float(total + 0.5 * (weights**2).sum())

    best = minimize(loss, [0.6, 0.3, 0.5, 0.5]).x
    print(f"{name}: {len(cases)} of {ones} words heard as another are among the candidates; {best.round(3)}")
    return dict(zip(("distance", "rarity", "before", "next"), (round(float(v), 4) for v in best), strict=True))


def far(pairs: list[tuple[str, str]]) -> float:
    """Return how many letters a wrong word is off."""
    letters = sum(Levenshtein.distance(" ".join(read_as_words(noisy)[0]), clean) for clean, noisy in plain(pairs))
    return letters / max(
        sum(Levenshtein.distance(clean.split(), read_as_words(noisy)[0]) for clean, noisy in plain(pairs)), 1
    )


def plain(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs with the clean text in words without marks."""
    return [(" ".join(token.word for token in split_tokens(clean)), noisy) for clean, noisy in pairs]


def use(name: str, model: dict[str, Any]) -> None:
    """Let the operator use a model that is not written down yet."""
    made = {name: Recogniser.from_fit(model)}
    for module in (hearing, dictation):
        vars(module)["load_recognisers"] = lambda: made
    hearing.find_similar_words.cache_clear()
    hearing._load_vocabulary.cache_clear()  # noqa: SLF001 - the words of this fit


def dictated(name: str, model: dict[str, Any], rows: list[Row], seed: int) -> list[tuple[str, str]]:
    """Return every text beside what the fitted recogniser writes of somebody's reading."""
    use(name, model)
    op = EnSpeech(recogniser=name)
    texts = [row.clean for row in rows]
    made = perturb_batch(op, texts, seed=seed, keys=[f"{n}" for n in range(len(texts))])
    return [(text, apply(text, edits)) for text, edits in zip(texts, made, strict=True)]


def correct(name: str, whole: dict[str, Any], parts: list[dict[str, Any]], rows: list[Row], turn: int) -> None:
    """Move the model to where its transcripts come out as the real ones: how much, how unevenly, which operations."""
    some = [rows[at * 7919 % len(rows)] for at in range(AT_ONCE * turn, AT_ONCE * (turn + 1))]
    pairs = [
        pair
        for number, part in enumerate(parts)
        for pair in dictated(name, part, [row for row in some if fold(row) != number], turn)
    ]
    heard = [(row.clean, row.heard) for row in some]
    real, ours = profile(heard), profile(pairs)
    step = 1 / (1 + turn / 4)

    def towards(want: float, got: float, power: float = 1.0) -> float:
        return float(np.clip((want + 1e-4) / (got + 1e-4), 0.6, 1.6) ** (power * step))

    bias = whole["hazard"][0] + step * 1.1 * log(real[0] / ours[0])
    spread = sum(one**2 for one in whole["spread"]) ** 0.5
    spread = float(np.clip(spread + step * 4 * (ours[4] - real[4]), 0.1, 3))
    shares = dict(whole["shares"])
    letters = far(heard), far(pairs)
    shares["distance"] = round(float(np.clip(shares["distance"] * towards(letters[1], letters[0]), 0.3, 4)), 4)
    fewer, more = (towards(real[at] * real[0], ours[at] * ours[0], 0.5) for at in (3, 2))
    for insertion in ("added", "added first"):
        shares[insertion] = round(shares[insertion] * more**1.5, 5)
    for model in (whole, *parts):
        model["hazard"][0] = round(bias, 4)
        model["spread"] = [round(part * spread, 3) for part in (0.6, 0.5, 0.62)]
        model["shares"] = {**model["shares"], **{key: shares[key] for key in ("distance", "added", "added first")}}
        for size, counts in model["sizes"].items():
            for new in counts:
                if int(new) != max(int(size), 1):
                    counts[new] = round(counts[new] * (fewer if int(new) < max(int(size), 1) else more), 2)
    print(
        turn,
        name,
        "real",
        *(f"{v:.3f}" for v in (*real, letters[0])),
        "ours",
        *(f"{v:.3f}" for v in (*ours, letters[1])),
        round(spread, 2),
        shares["distance"],
        flush=True,
    )


def fit(name: str, rows: list[Row], more: list[str]) -> dict[str, Any]:
    """Return one recogniser."""
    found = [aligned(row.clean, row.heard) for row in rows]

    def texts(some: list[Row]) -> list[str]:
        return sorted({row.clean for row in some}) + more

    whole = blank(name, *language(rows, texts(rows), OFTEN[name]))
    parts = []
    for number in (0, 1):
        own = [row for row in rows if fold(row) == number]
        parts.append(blank(name, *language(own, texts(own), OFTEN[name])))
        mine = [one for row, one in zip(rows, found, strict=True) if fold(row) == number]
        stretches(parts[-1], own, mine)
        case_and_marks(parts[-1], name, own, mine)
    stretches(whole, rows, found)
    case_and_marks(whole, name, rows, found)
    hazard(whole, parts, rows, found)
    weights = unknown(parts, rows, found) | confusions(parts, name, rows, found)
    for model in (whole, *parts):
        model["shares"] |= weights
        model["spread"] = [0.5, 0.5, 0.5]
    for turn in range(ROUNDS):
        correct(name, whole, parts, rows, turn)
    whole["hazard"][0] = round(whole["hazard"][0] + KNOWS_MORE[name], 4)
    return whole


def main() -> None:
    """Fit, and write the recognisers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("slurp", type=Path)
    parser.add_argument("noiseqa", type=Path)
    parser.add_argument("disfl_qa", type=Path)
    parser.add_argument("--quarter", action="store_true")
    parser.add_argument("--only", choices=["assistant", "search"])
    parser.add_argument("--out", type=Path, default=FITTED)
    args = parser.parse_args()
    requests = [row for row in slurp(args.slurp) if of_half(row, quarter=args.quarter)]
    questions = [row for row in noiseqa(args.noiseqa) if of_half(row, quarter=args.quarter)]
    asked = json.loads((args.disfl_qa / "train.json").read_text(encoding="utf-8")).values()
    models = json.loads(args.out.read_text(encoding="utf-8")) if args.only and args.out.exists() else {}
    if args.only != "search":
        models["assistant"] = fit("assistant", requests, [])
    if args.only != "assistant":
        models["search"] = fit("search", questions, [row["original"].strip() for row in asked])
    args.out.write_text(json.dumps(models, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main()
