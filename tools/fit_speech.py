"""Fit the speakers of `zh_speech`: the annotators on READIN's WMT speech, others on what recognisers wrote of Mandarin.

    python tools/fit_speech.py FOLDER_OF_REALTYPO_NMT FOLDER_OF_ZH_ASR_PAIRS

Half of each is for evaluation. READIN's rows are split in blocks of ten, which keeps a news article on one side. It
writes perturbations/zh/data/zh_speech.json, which contains no text of either.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from itertools import compress, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from corpora.readin import news, places
from corpora.recognised import recognised
from rapidfuzz.distance import Levenshtein
from scipy.optimize import minimize
from scipy.special import expit, logit

from lapsus.metrics.human_likeness.score import list_changes
from lapsus.perturbations.zh.input_method.pinyin import load_engine
from lapsus.perturbations.zh.speech.accents import FITTED, Hearing, find_tone, split_syllable
from lapsus.perturbations.zh.speech.dictation import PARTS, STRONG, WEAK, classify_comma, iter_word_features

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Pairs: TypeAlias = list[tuple[str, str]]
Counts: TypeAlias = "Counter[tuple[str, str]]"

# Parameters that aligned texts do not show, chosen by comparing profiles and AUC on the half used for fitting.
CHOSEN: dict[str, Any] = {
    "spread": [0.45, 0.28, 0.25],
    "silent": 0.02,
    "swallowed": 0.06,
    "added": 0.04,
    "regrouped": [0.12, 0.45],
    "halting": 0.06,
    "omitted": 0.004,
    "temperature": 0.7,
    "language": 0.6,
    "foreign": [0.72, 0.12],
    "number": 0.03,
}
# What READIN's recogniser writes; the shares of words were counted in all transcripts, also the others'.
WRITING: dict[str, Any] = {
    "usual": {
        "地": {"的": 0.05},
        "得": {"的": 0.05},
        "她": {"他": 0.6},
        "它": {"他": 0.5},
        "他": {"她": 0.05},
        "再": {"在": 0.25},
        "做": {"作": 0.1},
        "作": {"做": 0.02},
    },
    "figures": True,
    "latin": True,
}


class Recogniser(NamedTuple):
    """What the transcripts do not show, chosen by error rates and AUC on the half that is fitted on."""

    language: float  # as in `Speaker`
    missed: float  # on top, on the logit, of a word being missed: some come back right by chance
    spread: tuple[float, ...] = (0.05, 0.1, 0.25)  # as in `Speaker`: of short texts, read one by one


RECOGNISERS = {
    "accented Mandarin": Recogniser(0.6, 0.3),
    "standard Mandarin": Recogniser(0.45, 0.05),
    "AISHELL-1": Recogniser(0.45, -0.05),
    "MagicData": Recogniser(0.3, 0.32),
}
SAME_TONE = 0.29  # share of same-tone homophones if the tone is ignored
ANYONES_TONES = 0.3
HAN = re.compile(r"[\u4e00-\u9fff]+")
ENOUGH = 20  # times that a character must be said for its losses to be counted
FREQUENT = 20  # texts that a word with a hazard of its own is in
DOUBT, SOME = 6.0, 0.2  # what draws that hazard to 0, and the least that is kept
OFTEN, MUCH = 5, 0.02  # times, and share, from which on a word that is written for another is usual
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


class Word(NamedTuple):
    """A word of a text, and what stands for it in the transcript."""

    start: int
    said: str
    written: str
    clear: bool  # whether the characters on both sides came through


def transcribed(clean: str, noisy: str) -> Iterator[Word]:
    """Yield the words of a text.

    >>> [(word.said, word.written, word.clear) for word in transcribed("她来啦", "他来了")]
    [('她', '他', True), ('来啦', '来了', False)]
    """
    kept = np.concatenate([[True], intact(clean, noisy), [True]])
    place = places(clean, noisy)
    for match in HAN.finditer(clean):
        start = match.start()
        for word in load_engine().split(match.group()):
            end = start + len(word)
            yield Word(start, word, noisy[place[start] : place[end]], bool(kept[start] and kept[end + 1]))
            start = end


def usual(pairs: Pairs) -> dict[str, dict[str, float]]:
    """Return what is often written for a word between characters that came through, but for `WEAK` ones lost."""
    said: Counter[str] = Counter()
    written: Counts = Counter()
    for word in (word for pair in pairs for word in transcribed(*pair) if word.clear):
        said[word.said] += 1
        written[word.said, word.written] += 1
    found: dict[str, dict[str, float]] = {}
    for (one, other), count in sorted(written.items()):
        lost = one[-1] in WEAK and other == one[:-1]
        if other != one and not lost and count >= OFTEN and count >= MUCH * said[one]:
            found.setdefault(one, {})[other] = round(count / said[one], 3)
    return found


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
                    (initial, final), (other, another) = split_syllable(old[n]), split_syllable(new[m])
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
        find_tone(old) == find_tone(new)
        for clean, noisy in pairs
        for change in list_changes(clean, noisy)
        if change.kind == "homophone"
        for old, new in zip(change.old, change.new, strict=True)
    ]
    return round(float(logit(np.mean(same)) - logit(SAME_TONE)), 2)


class Heard(NamedTuple):
    """The words of some texts: their traits and whether the one before was missed, and whether each was missed."""

    words: list[tuple[str, str]]  # each word, and the text that it stands in
    traits: np.ndarray
    missed: np.ndarray
    lost: list[float]  # of missed words of one, two, more characters: the share that left nothing


def heard(pairs: Pairs, hearing: Hearing, written: Mapping[str, Mapping[str, float]]) -> Heard:
    """Return which words were missed.

    `WEAK` characters that are lost alone count as recognised, as do words with what is usually written for them.
    """
    found, values, labels = [], [], []
    missed: dict[int, list[bool]] = {1: [], 2: [], 3: []}
    for clean, noisy in pairs:
        kept, deleted = intact(clean, noisy), np.zeros(len(clean), bool)
        for op in Levenshtein.opcodes(clean, noisy):
            if op.tag == "delete" and op.src_end - op.src_start < PHRASE:
                deleted[op.src_start : op.src_end] = True
                if clean[op.src_start : op.src_end] in tuple(WEAK):
                    kept[op.src_start] = True
        for one in transcribed(clean, noisy):
            if one.clear and one.written in written.get(one.said, {}):
                kept[one.start : one.start + len(one.said)] = True
        before = False
        for match in PARTS.finditer(clean):
            start = match.start()
            words = load_engine().segment(match.group()) if HAN.match(match.group()) else []
            for word, trait in zip(
                words, iter_word_features(words, hearing, clean[max(start - 1, 0) : start]), strict=True
            ):
                span = slice(start, start + len(word.text))
                values.append((*trait, float(before)))
                before = not kept[span].all()
                found.append((word.text, clean))
                labels.append(float(before))
                if before:
                    missed[min(len(word.text), 3)].append(bool(deleted[span].all()))
                start = span.stop
    lost = [round(float(np.mean(each)), 3) for each in missed.values()]
    return Heard(found, np.array(values), np.array(labels), lost)


def slopes(told: Heard) -> np.ndarray:
    """Return the weights of a logistic regression of a word being missed."""
    x, y = told.traits, told.missed
    penalty = np.array([0.0, *np.ones(x.shape[1] - 1)])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        s = x @ w
        return float((np.logaddexp(0, s) - y * s).sum() + penalty @ w**2 / 2), x.T @ (expit(s) - y) + penalty * w

    weights: np.ndarray = minimize(loss, np.zeros(x.shape[1]), jac=True).x
    return weights


def own(told: Sequence[Heard], weights: Sequence[np.ndarray]) -> dict[str, float]:
    """Return how much more often than by its traits a frequent word is missed, on the logit, drawn towards 0."""
    texts: dict[str, set[str]] = defaultdict(set)
    more, sure = Counter[str](), Counter[str]()
    for each, w in zip(told, weights, strict=True):
        chances = expit(each.traits @ w)
        for (word, text), rest, weight in zip(each.words, each.missed - chances, chances * (1 - chances), strict=True):
            texts[word].add(text)
            more[word] += rest
            sure[word] += weight
    found = {word: more[word] / (sure[word] + DOUBT) for word in sorted(texts) if len(texts[word]) >= FREQUENT}
    return {word: round(float(value), 2) for word, value in found.items() if abs(value) >= SOME}


def hazards(told: Sequence[Heard], spread: Sequence[float]) -> list[dict[str, Any]]:
    """Return the habits of missing words of speakers at one recogniser, whose own words they share."""
    weights = [slopes(each) for each in told]
    words = own(told, weights)
    # Random effects of texts and words flatten all of it but how far being missed runs on.
    factor = (1 + 0.346 * sum((mood * np.pi / 3**0.5) ** 2 for mood in spread)) ** 0.5
    return [
        {
            "hazard": [round(float(factor * weight), 3) for weight in w[:-1]] + [round(float(w[-1]), 3)],
            "own": {word: round(factor * value, 2) for word, value in words.items()},
            "lost": each.lost,
        }
        for each, w in zip(told, weights, strict=True)
    ]


def weak(pairs: Pairs) -> dict[str, Any]:
    """Return how often each of `WEAK` is lost where all else is heard; never, where it is too rare to tell."""
    said, lost = Counter[str](), Counter[str]()
    for word in (word for pair in pairs for word in transcribed(*pair) if word.clear):
        if word.said[-1] in WEAK and word.said not in STRONG:
            said[word.said[-1]] += word.written in {word.said, word.said[:-1]}
            lost[word.said[-1]] += word.written == word.said[:-1]
    return {"weak": [round(lost[one] / said[one], 3) if said[one] >= ENOUGH else 0.0 for one in WEAK]}


def seen(pairs: Pairs, kind: str) -> bool:
    """Say whether a transcript has a character of a kind."""
    return any(re.search(kind, noisy) for _, noisy in pairs)


def marks(pairs: Pairs) -> dict[str, Any]:
    """Return the rates of commas lost by kind, of commas added, and of texts cut short."""
    lost: tuple[list[bool], ...] = ([], [], [], [])
    added, words, ended = 0, 0, 0
    for clean, noisy in pairs:
        kept = intact(clean, noisy)
        for start, comma in pairwise([-1, *(m.start() for m in re.finditer("，", clean))]):
            if comma + 1 < len(clean) and kept[comma - 1] and kept[comma + 1]:
                clause = re.sub(r"\W", "", clean[start + 1 : comma])
                word = load_engine().find_last_word(clause[-4:])
                lost[classify_comma(len(clause), word)].append(not kept[comma])
        operations = Levenshtein.opcodes(clean, noisy)
        added += sum(op.tag == "insert" and "，" in noisy[op.dest_start : op.dest_end] for op in operations)
        words += sum(len(load_engine().split(match.group())) for match in HAN.finditer(clean))
        ended += any(
            op.tag == "delete" and op.src_end - op.src_start > 2 * PHRASE and op.src_end >= len(clean) - 2
            for op in operations
        )
    return {
        "breaks": [round(float(np.mean(commas)), 3) for commas in lost],
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
    for number, (side, counted) in enumerate(zip(pairs, counts, strict=True), 1):
        fitted["sounds"][f"annotator {number}"] = sounds(counted, pooled, tones(side))
    told = [heard(side, Hearing(**fitted["sounds"][f"annotator {number}"]), {}) for number, side in enumerate(pairs, 1)]
    for number, (side, missed) in enumerate(zip(pairs, hazards(told, CHOSEN["spread"]), strict=True), 1):
        name = f"annotator {number}"
        habits = missed | marks(side) | weak(side) | CHOSEN
        fitted["annotators"].append({"sounds": name, **habits, **WRITING})
        print(name, habits["hazard"], habits["own"])
    fitted["anyone"] = {
        habit: np.mean([one[habit] for one in fitted["annotators"]], axis=0).round(4).tolist()
        for habit in fitted["annotators"][0]
        if habit not in {"sounds", "own", *WRITING}
    }
    fitted["anyone"] |= {"own": fitted["annotators"][0]["own"], **WRITING}
    fitted["recognisers"] = []
    for name, recogniser in RECOGNISERS.items():
        side = recognised(recognisers, name, half=0)
        fitted["sounds"][name] = sounds(nobody, confusions(side), tones(side))
        often = usual(side)
        (missed,) = hazards([heard(side, Hearing(**fitted["sounds"][name]), often)], recogniser.spread)
        habits = missed | weak(side) | {"usual": often}
        habits |= {"figures": seen(side, r"\d"), "latin": seen(side, "[A-Za-z]")}
        habits["hazard"][0] = round(habits["hazard"][0] + recogniser.missed, 3)
        print(name, {habit: value for habit, value in habits.items() if habit not in {"usual", "own"}})
        print(len(often), "usual words,", len(habits["own"]), "words missed more or less often")
        habits |= {"omitted": 0.0, "ended": 0.0}  # short texts, read to the end
        habits |= {"language": recogniser.language, "spread": list(recogniser.spread)}
        fitted["recognisers"].append(fitted["anyone"] | {"sounds": name} | habits)
    FITTED.write_text(json.dumps(fitted, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {FITTED}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder_of_realtypo_nmt", type=Path)
    parser.add_argument("folder_of_zh_asr_pairs", type=Path)
    options = parser.parse_args()
    main(options.folder_of_realtypo_nmt, options.folder_of_zh_asr_pairs)
