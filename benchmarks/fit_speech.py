"""Fit the speakers of `zh_speech`: the annotators on READIN's WMT speech, others on what recognisers wrote of Mandarin.

    python benchmarks/fit_speech.py FOLDER_OF_REALTYPO_NMT FOLDER_OF_ZH_ASR_PAIRS

Half of each is for evaluation. READIN's rows are split in blocks of ten, which keeps a news article on one side. It
writes perturbations/zh/data/zh_speech.json, which contains no text of either.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from itertools import compress, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from _readin import news
from _recognised import recognised
from rapidfuzz.distance import Levenshtein
from scipy.optimize import minimize
from scipy.special import expit, logit

from lapsus.metrics.human_likeness.score import changes
from lapsus.perturbations.zh.engine.pinyin import load_engine
from lapsus.perturbations.zh.speech.accents import FITTED, Hearing, sound, tone
from lapsus.perturbations.zh.speech.dictation import SHORT_CLAUSE, WEAK, traits

Pairs: TypeAlias = list[tuple[str, str]]
Counts: TypeAlias = "Counter[tuple[str, str]]"

# Parameters that aligned texts do not show, chosen by comparing profiles and AUC on the half used for fitting.
CHOSEN: dict[str, Any] = {
    "spread": [0.45, 0.28, 0.25],
    "silent": 0.02,
    "swallowed": 0.06,
    "added": 0.04,
    "regrouped": [0.12, 0.45],
    "halting": 0.03,
    "omitted": 0.004,
    "temperature": 0.7,
    "language": 0.6,
    "foreign": [0.72, 0.12],
    "number": 0.03,
}


class Recogniser(NamedTuple):
    """What the transcripts do not show, chosen by error rates and AUC on the half that is fitted on."""

    language: float  # as in `Speaker`
    missed: float  # on top, on the logit, of a word being missed: some come back right by chance


RECOGNISERS = {
    "accented Mandarin": Recogniser(0.6, 0.1),
    "standard Mandarin": Recogniser(0.3, 0.1),
    "AISHELL-1": Recogniser(0.3, -0.05),
    "MagicData": Recogniser(0.3, 0.3),
}
SAME_TONE = 0.29  # share of same-tone homophones if the tone is ignored
ANYONES_TONES = 0.3
HAN = re.compile(r"[\u4e00-\u9fff]+")
ENOUGH = 50  # times that a character must be said for its losses to be counted
PHRASE = 5  # deleting this many characters at once is an omission, not a mishearing
NEAR_INITIALS = ("zh ch sh r z c s", "j q x zh ch sh", "b p m f", "d t n l r", "g k h f", "y w n l", "j q x d t")
NEAR_FINALS = (
    "a ia ua an ang ai",
    "e o uo ou ei",
    "i in ing ie ian",
    "u v ui uo ou ong",
    "an ang ian iang uan uang ai",
    "en eng in ing un ong iong vn",
    "ao iao ou iu",
    "ie ve ian van",
    "er e a",
    "ai ei ui uai",
)


def read_pairs(folder: Path) -> list[Pairs]:
    """Return the (clean, noisy) texts of each annotator, of the rows that are fitted on."""
    keys, clean, noisy = news(folder, "asr")
    fitted_on = [int(key) // 10 % 2 == 0 for key in keys]
    return [list(compress(zip(clean, side, strict=True), fitted_on)) for side in noisy]


def intact(clean: str, noisy: str) -> np.ndarray:
    """Return which clean characters are unchanged in the noisy text."""
    kept = np.zeros(len(clean), bool)
    for operation in Levenshtein.opcodes(clean, noisy):
        if operation.tag == "equal":
            kept[operation.src_start : operation.src_end] = True
    return kept


def confusions(pairs: Pairs) -> tuple[Counts, Counts]:
    """Count which initial was heard for which, and which final, in the misrecognised stretches."""
    readings = load_engine().readings
    initials: Counts = Counter()
    finals: Counts = Counter()
    for clean, noisy in pairs:
        old, new = ([syllable for syllable in readings(text) if syllable] for text in (clean, noisy))
        kept = intact("".join(character for character in clean if readings(character)[0]), noisy)
        for op in Levenshtein.opcodes(old, new):
            if op.tag not in {"equal", "replace"}:
                continue
            for n, m in zip(range(op.src_start, op.src_end), range(op.dest_start, op.dest_end), strict=False):
                if op.tag == "replace" or (n < len(kept) and not kept[n]):
                    (initial, final), (other, another) = sound(old[n]), sound(new[m])
                    initials[initial, other] += 1
                    finals[final, another] += 1
    return initials, finals


def costs(own: Counts, pooled: Counts, near: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Return -log p of hearing one sound as another: own counts, smoothed by pooled counts, those by nearness."""
    groups = [set(group.split()) for group in near]
    sounds = sorted({one for pair in pooled for one in pair})
    found = {}
    for one in sounds:
        closeness = [
            1.0 if one == other else max((one in g and other in g) / len(g) for g in groups) for other in sounds
        ]
        prior = np.array(closeness) / 2 + 0.002
        shares = np.array([pooled[one, other] for other in sounds]) + 8 * prior / prior.sum()
        shares = np.array([own[one, other] for other in sounds]) + 12 * shares / shares.sum()
        shares /= shares.sum()
        found[one] = {other: round(-float(np.log(p)), 2) for other, p in zip(sounds, shares, strict=True) if p > 0.004}
    return found


def tones(pairs: Pairs) -> float:
    """Return the cost of a wrong tone in nats; negative where wrong tones are more frequent than by chance."""
    same = [
        tone(old) == tone(new)
        for clean, noisy in pairs
        for change in changes(clean, noisy)
        if change.kind == "homophone"
        for old, new in zip(change.old, change.new, strict=True)
    ]
    return round(float(logit(np.mean(same)) - logit(SAME_TONE)), 2)


def hazard(pairs: Pairs, heard: Hearing) -> dict[str, Any]:
    """Return the weights of a logistic regression of a word being misrecognised, and how often such words are lost.

    `WEAK` characters that are lost alone count as recognised.
    """
    values, labels = [], []
    missed: dict[int, list[bool]] = {1: [], 2: [], 3: []}
    for clean, noisy in pairs:
        kept, deleted = intact(clean, noisy), np.zeros(len(clean), bool)
        for op in Levenshtein.opcodes(clean, noisy):
            if op.tag == "delete" and op.src_end - op.src_start < PHRASE:
                deleted[op.src_start : op.src_end] = True
                if clean[op.src_start : op.src_end] in tuple(WEAK):
                    kept[op.src_start] = True
        before = False
        for match in HAN.finditer(clean):
            start = match.start()
            words = load_engine().segment(match.group())
            for word, trait in zip(words, traits(words, heard, start == 0), strict=True):
                span = slice(start, start + len(word.text))
                values.append((*trait, float(before)))
                before = not kept[span].all()
                labels.append(float(before))
                if before:
                    missed[min(len(word.text), 3)].append(bool(deleted[span].all()))
                start = span.stop
    x, y = np.array(values), np.array(labels)
    penalty = np.array([0.0, *np.ones(x.shape[1] - 1)])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        s = x @ w
        return float((np.logaddexp(0, s) - y * s).sum() + penalty @ w**2 / 2), x.T @ (expit(s) - y) + penalty * w

    weights = minimize(loss, np.zeros(x.shape[1]), jac=True).x
    variance = sum((spread * np.pi / 3**0.5) ** 2 for spread in CHOSEN["spread"])
    weights[:-1] *= (1 + 0.346 * variance) ** 0.5  # random effects of texts and words flatten the slopes
    return {
        "hazard": [round(float(weight), 3) for weight in weights],
        "lost": [round(float(np.mean(lost)), 3) for lost in missed.values()],
    }


def weak(pairs: Pairs) -> dict[str, Any]:
    """Return how often each of `WEAK` is lost alone; never, where it is too rare to tell."""
    said = Counter(character for clean, _ in pairs for character in clean)
    lost: Counter[str] = Counter(
        clean[op.src_start : op.src_end]
        for clean, noisy in pairs
        for op in Levenshtein.opcodes(clean, noisy)
        if op.tag == "delete"
    )
    return {"weak": [round(lost[one] / said[one], 3) if said[one] >= ENOUGH else 0.0 for one in WEAK]}


def marks(pairs: Pairs) -> dict[str, Any]:
    """Return the rates of commas lost after a short and a longer clause, of commas added, and of texts cut short."""
    lost: tuple[list[bool], list[bool]] = ([], [])
    added, words, ended = 0, 0, 0
    for clean, noisy in pairs:
        kept = intact(clean, noisy)
        for start, comma in pairwise([-1, *(m.start() for m in re.finditer("，", clean))]):
            if comma + 1 < len(clean) and kept[comma - 1] and kept[comma + 1]:
                lost[len(re.sub(r"\W", "", clean[start + 1 : comma])) >= SHORT_CLAUSE].append(not kept[comma])
        operations = Levenshtein.opcodes(clean, noisy)
        added += sum(op.tag == "insert" and "，" in noisy[op.dest_start : op.dest_end] for op in operations)
        words += sum(len(load_engine().split(match.group())) for match in HAN.finditer(clean))
        ended += any(
            op.tag == "delete" and op.src_end - op.src_start > 2 * PHRASE and op.src_end >= len(clean) - 2
            for op in operations
        )
    return {
        "breaks": [round(0.9 * float(np.mean(commas)), 3) for commas in lost],  # some are lost with their clause
        "pause": round(1.5 * added / words, 4),  # not every word can be followed by a comma
        "ended": round(ended / len(pairs), 4),
    }


def sounds(own: tuple[Counts, Counts], pooled: tuple[Counts, Counts], steady: float) -> dict[str, Any]:
    """Return what it costs to hear one sound for another, and a wrong tone."""
    return {
        "tones": steady,
        "initials": costs(own[0], pooled[0], NEAR_INITIALS),
        "finals": costs(own[1], pooled[1], NEAR_FINALS),
    }


def main(readin: Path, recognisers: Path) -> None:
    """Fit, and write."""
    pairs = [[pair for pair in side if "," not in pair[0]] for side in read_pairs(readin)]  # these texts were cut short
    counts = [confusions(side) for side in pairs]
    initials, finals = (sum((count[part] for count in counts), Counter()) for part in (0, 1))
    pooled, nobody = (initials, finals), (Counter[tuple[str, str]](), Counter[tuple[str, str]]())
    fitted: dict[str, Any] = {"sounds": {"anyone": sounds(nobody, pooled, ANYONES_TONES)}, "annotators": []}
    for number, (side, own) in enumerate(zip(pairs, counts, strict=True), 1):
        name = f"annotator {number}"
        fitted["sounds"][name] = sounds(own, pooled, tones(side))
        habits = hazard(side, Hearing(**fitted["sounds"][name])) | marks(side) | weak(side) | CHOSEN
        fitted["annotators"].append({"sounds": name, **habits})
        print(name, habits)
    fitted["anyone"] = {
        habit: np.mean([one[habit] for one in fitted["annotators"]], axis=0).round(4).tolist()
        for habit in fitted["annotators"][0]
        if habit != "sounds"
    }
    fitted["recognisers"] = []
    for name, recogniser in RECOGNISERS.items():
        side = recognised(recognisers, name, half=0)
        fitted["sounds"][name] = sounds(nobody, confusions(side), tones(side))
        habits = hazard(side, Hearing(**fitted["sounds"][name])) | weak(side)
        habits["hazard"][0] = round(habits["hazard"][0] + recogniser.missed, 3)
        print(name, habits)
        habits |= {"language": recogniser.language, "omitted": 0.0, "ended": 0.0}  # short texts, read to the end
        fitted["recognisers"].append(fitted["anyone"] | {"sounds": name} | habits)
    FITTED.write_text(json.dumps(fitted, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {FITTED}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
