"""What comes back of whole questions typed without a choice.

    python benchmarks/fidelity/whole_sentences.py AFQMC_BALANCED

READIN's public test questions of 6 to 14 Chinese characters as unseparated Pinyin without tones, and the share of
their characters that the engine gives back: as it comes, with words that somebody names, and with a user dictionary
learned from the training questions that are no test questions.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from pypinyin import lazy_pinyin
from rapidfuzz.distance import Levenshtein

from lapsus.perturbations.zh.input_method.pinyin import PinyinEngine, load_engine

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from corpora.readin import different

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMED = ("花呗", "借呗")
QUESTION = re.compile(r"[\u4e00-\u9fff]{6,14}")
STRETCH = re.compile(r"[\u4e00-\u9fff]+")
LONGEST, RECURRING = 4, 5  # characters of a word that is learned, and how often it was typed


def named(texts: Iterable[str]) -> dict[str, float]:
    """Return the share of the named words among all words of the texts."""
    joined = "\n".join(texts)
    words = sum(len(load_engine().split(match.group())) for match in STRETCH.finditer(joined))
    return {word: joined.count(word) / words for word in NAMED}


def learned(texts: Iterable[str]) -> dict[str, float]:
    """Return the shares of what is typed again and again: words, and two words that make a short one together."""
    counts: Counter[str] = Counter()
    words = 0
    for match in STRETCH.finditer("\n".join(texts)):
        parts = load_engine().split(match.group())
        words += len(parts)
        counts.update(parts)
        counts.update(one + other for one, other in pairwise(parts) if len(one + other) <= LONGEST)
    readings = load_engine().readings
    return {text: count / words for text, count in counts.items() if count >= RECURRING and all(readings(text))}


def come_back(engine: PinyinEngine, texts: Iterable[str]) -> float:
    """Return the share of characters that come back."""
    pairs = [(text, engine.sentence("".join(lazy_pinyin(text)))) for text in texts]
    return 1 - sum(Levenshtein.distance(*pair) for pair in pairs) / sum(len(text) for text, _ in pairs)


def main(folder: Path) -> None:
    """Print the shares."""
    test = different(folder, "test_clean")
    judged = [text for text in test if QUESTION.fullmatch(text)]
    others = set(different(folder, "train")) - set(test)
    training = sorted(others)
    print(f"{len(judged)} questions; words are learned from {len(training)} others")
    engine = load_engine()
    few: dict[str, dict[str, float]] = {"as it comes": {}, "with " + " and ".join(NAMED): named(training)}
    for name, own in few.items():
        print(f"{name:32}{come_back(engine.with_words(own), judged):.3f}", flush=True)
    for size in (100, 1_000, 10_000, len(training)):
        own = learned(training[:: len(training) // size][:size])
        name = f"learned from {size}, {len(own)} words"
        print(f"{name:32}{come_back(engine.with_words(own), judged):.3f}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
