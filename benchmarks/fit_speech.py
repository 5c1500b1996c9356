"""Fit the annotators of `zh_speech` on half of READIN's WMT speech; the rows between are there to judge.

    python benchmarks/fit_speech.py FOLDER_OF_REALTYPO_NMT

Rows are taken by tens, so that a news article stays on one side.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
from lapsus.metrics.human_likeness.score import changes
from lapsus.perturbations import _hearing, zh_speech
from lapsus.perturbations.pinyin_engine import load_engine
from rapidfuzz.distance import Levenshtein
from scipy.optimize import minimize
from scipy.special import expit, logit

HAN = re.compile(r"[\u4e00-\u9fff]+")
HAND_SET = {
    "spread": [0.45, 0.28, 0.25], "silent": 0.05, "halting": 0.03, "added": 0.04, "regrouped": [0.12, 0.45], "swallowed": 0.06, "omitted": 0.004, "temperature": 0.7,
    "language": 0.6, "foreign": [0.72, 0.12], "number": 0.03,
}  # fmt: skip


CHANCE = 0.29  # of two homophones having one tone, when tones are not heard


def rows(folder: Path) -> list[tuple[int, str, list[str]]]:
    """Return (id, clean, [three transcripts]) of the rows that every annotator has."""
    read = lambda name: {
        int(row["id"]): row["zh"].strip()
        for row in map(json.loads, (folder / f"{name}.json").read_text(encoding="utf-8").splitlines())
    }
    clean, noisy = read("test_clean"), [read(f"test_noisy_asr_{n}") for n in (1, 2, 3)]
    return [(n, text, [side[n] for side in noisy]) for n, text in clean.items() if all(n in side for side in noisy)]


def halves(found):
    return [r for r in found if r[0] // 10 % 2 == 0], [r for r in found if r[0] // 10 % 2]


def intact(clean: str, noisy: str) -> np.ndarray:
    kept = np.zeros(len(clean), bool)
    for operation in Levenshtein.opcodes(clean, noisy):
        if operation.tag == "equal":
            kept[operation.src_start : operation.src_end] = True
    return kept


def syllables(text: str) -> list[str]:
    return [syllable for syllable in load_engine().readings(text) if syllable]


def confusions(pairs, initials, finals):
    """Count what was heard for what, in the missed stretches only."""
    for clean, noisy in pairs:
        old, new = syllables(clean), syllables(noisy)
        kept_text = intact("".join(c for c in clean if load_engine().readings(c)[0]), noisy)
        place = 0
        for op in Levenshtein.opcodes(old, new):
            if op.tag in {"equal", "replace"}:
                for n, m in zip(range(op.src_start, op.src_end), range(op.dest_start, op.dest_end)):
                    if op.tag == "equal" and n < len(kept_text) and kept_text[n]:
                        continue
                    (i, f), (j, g) = _hearing.sound(old[n]), _hearing.sound(new[m])
                    initials[i, j] += 1
                    finals[f, g] += 1


def tones(pairs) -> float:
    """Return what a wrong tone costs, in nats: below zero where the speaker's own tones mislead."""
    found = [
        _hearing.tone(old) == _hearing.tone(new)
        for clean, noisy in pairs
        for change in changes(clean, noisy)
        if change.kind == "homophone"
        for old, new in zip(change.old, change.new, strict=True)
    ]
    share = sum(found) / len(found)
    return round(float(logit(share) - logit(CHANCE)), 2)


def nearness(one: str, other: str, groups) -> float:
    if one == other:
        return 0.5
    return 0.5 * max((one in g and other in g) / len(g) for g in groups)


I_GROUPS = [set(g.split()) for g in ("zh ch sh r z c s", "j q x zh ch sh", "b p m f", "d t n l r", "g k h f", "y w n l", "j q x d t")] + [{"", "w", "y"}]
F_GROUPS = [set(g.split()) for g in ("a ia ua an ang ai", "e o uo ou ei", "i in ing ie ian", "u v ui uo ou ong", "an ang ian iang uan uang ai", "en eng in ing un ong iong vn", "ao iao ou iu", "ie ve ian van", "er e a", "ai ei ui uai")]


def costs(own, pooled, groups, strength=12.0):
    """Return costs smoothed towards the pooled counts, and these towards nearness."""
    sounds = sorted({a for a, _ in pooled} | {b for _, b in pooled})
    result = {}
    for a in sounds:
        near = np.array([nearness(a, b, groups) for b in sounds]) + 0.002
        near /= near.sum()
        p = np.array([pooled[a, b] for b in sounds], float)
        p = (p + 8 * near) / (p.sum() + 8)
        q = np.array([own[a, b] for b in sounds], float)
        q = (q + strength * p) / (q.sum() + strength)
        result[a] = {b: round(float(-np.log(x)), 2) for b, x in zip(sounds, q, strict=True) if x > 0.004}
    return result


def hazard(fit_rows, number, hearing):
    """Return the weights of a logistic regression of a word being missed."""
    engine = load_engine()
    values, labels = [], []
    lost = {1: [0, 0], 2: [0, 0], 3: [0, 0]}
    for _, clean, noisy in fit_rows:
        if "," in clean:
            continue
        kept = intact(clean, noisy[number])
        deleted = np.zeros(len(clean), bool)
        for op in Levenshtein.opcodes(clean, noisy[number]):
            if op.tag == "delete" and op.src_end - op.src_start < 5:
                deleted[op.src_start : op.src_end] = True
        before = 0.0
        for match in HAN.finditer(clean):
            words = engine.segment(match.group())
            place = match.start()
            for word, trait in zip(words, zh_speech.traits(words, hearing, place == 0), strict=True):
                span = slice(place, place + len(word.text))
                bad = float(not kept[span].all())
                values.append((*trait, before))
                labels.append(bad)
                if bad:
                    entry = lost[min(len(word.text), 3)]
                    entry[0] += bool(deleted[span].all())
                    entry[1] += 1
                before = bad
                place = span.stop
    x, y = np.array(values), np.array(labels)

    def loss(w):
        s = x @ w
        return (np.logaddexp(0, s) - y * s).sum() + (w[1:] ** 2).sum() / 2, x.T @ (expit(s) - y) + np.r_[0, w[1:]]

    w = minimize(loss, np.zeros(x.shape[1]), jac=True).x
    variance = sum((s * np.pi / 3**0.5) ** 2 for s in HAND_SET["spread"])
    w[:-1] *= (1 + 0.346 * variance) ** 0.5  # what is spread over texts and words flattens the slopes
    return [round(float(v), 3) for v in w], [round(a / b, 3) for a, b in lost.values()]


def marks(fit_rows, number):
    """Return how often a comma is lost after a short and a longer clause, and how often one is too many."""
    dropped, seen, added, places, ended = [0, 0], [0, 0], 0, 0, 0
    for _, clean, noisy in fit_rows:
        kept = intact(clean, noisy[number])
        for a, b in pairwise([-1, *(m.start() for m in re.finditer("，", clean))]):
            long = int(len(re.sub(r"\W", "", clean[a + 1 : b])) >= 6)
            if b and b + 1 < len(clean) and kept[b - 1] and kept[b + 1]:
                seen[long] += 1
                dropped[long] += not kept[b]
        ops = Levenshtein.opcodes(clean, noisy[number])
        added += sum(op.tag == "insert" and "，" in noisy[number][op.dest_start : op.dest_end] for op in ops)
        places += sum(len(load_engine().segment(m.group())) for m in HAN.finditer(clean))
        ended += "," not in clean and len(noisy[number]) < len(clean) - 10 and any(
            op.tag == "delete" and op.src_end - op.src_start > 9 and op.src_end >= len(clean) - 2 for op in ops
        )
    return [round(0.9 * d / s, 3) for d, s in zip(dropped, seen)], round(1.5 * added / places, 4), round(ended / len(fit_rows), 4)


def main(folder: Path, target: Path) -> None:
    fit_rows, _ = halves(rows(folder))
    counts = []
    for number in range(3):
        initials, finals = Counter(), Counter()
        confusions([(clean, noisy[number]) for _, clean, noisy in fit_rows if "," not in clean], initials, finals)
        counts.append((initials, finals))
    pooled = [sum((c[n] for c in counts), Counter()) for n in (0, 1)]
    sounds = {"anyone": {"tones": 0.3, "initials": costs(Counter(), pooled[0], I_GROUPS), "finals": costs(Counter(), pooled[1], F_GROUPS)}}
    annotators = []
    for number, (initials, finals) in enumerate(counts):
        name = f"annotator {number + 1}"
        sounds[name] = {"tones": tones([(clean, noisy[number]) for _, clean, noisy in fit_rows]), "initials": costs(initials, pooled[0], I_GROUPS), "finals": costs(finals, pooled[1], F_GROUPS)}
        weights, lost = hazard(fit_rows, number, _hearing.Hearing(**sounds[name]))
        breaks, pause, ended = marks(fit_rows, number)
        annotators.append({"sounds": name, "hazard": weights, "lost": lost, "breaks": breaks, "pause": pause, "ended": ended, **HAND_SET})
    anyone = {name: np.mean([a[name] for a in annotators], axis=0).round(3).tolist() for name in annotators[0] if name != "sounds"}
    target.write_text(json.dumps({"annotators": annotators, "anyone": anyone, "sounds": sounds}, ensure_ascii=False, indent=None), encoding="utf-8")
    for a in annotators:
        print(a)


if __name__ == "__main__":
    main(Path(sys.argv[1]), _hearing.FITTED)
