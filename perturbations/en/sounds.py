"""How English words sound, and how far two sounds are apart: a lexicon in IPA, and classes of sounds.

A sound is written as its class and itself, so that a plain edit distance weighs what happened: another sound of the
same class costs 1, a sound of another class 2, a sound lost or added 2.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from lapsus.perturbations.en.lexicon import read_table

MIN_FREQUENCY = 1000 / 4e9  # a thousand times in the four thousand million words of the English Wikipedia
CLASSES = ("pb", "td", "kɡ", "fvθð", "szʃʒ", "mnŋ", "lɹ", "wj", "h", "ɪieɛ", "æaɑʌə", "ɔoʊu", "ɚ")
CLASSED = str.maketrans({sound: f"{number:X}{sound}" for number, sounds in enumerate(CLASSES) for sound in sounds})
LETTERS = dict(
    pair.split("=")
    for line in (
        "tch=tʃ sch=sk igh=aɪ ch=tʃ sh=ʃ th=θ ph=f gh=ɡ ck=k qu=kw wh=w ng=ŋ wr=ɹ kn=n ee=i ea=i oo=u ou=aʊ ow=oʊ",
        "ai=eɪ ay=eɪ oi=ɔɪ oy=ɔɪ au=ɔ aw=ɔ ie=i er=ɚ ir=ɚ ur=ɚ ce=s ci=sɪ a=æ b=b c=k d=d e=ɛ f=f g=ɡ h=h i=ɪ j=dʒ k=k",
        "l=l m=m n=n o=ɑ p=p q=k r=ɹ s=s t=t u=ʌ v=v w=w x=ks y=i z=z",
        "0=oʊ 1=wʌn 2=tu 3=θɹi 4=fɔɹ 5=faɪv 6=sɪks 7=sɛvən 8=eɪt 9=naɪn",
    )
    for pair in line.split()
)
"""How letters and digits are read in a word that no lexicon has; the longest that fits."""
READ = re.compile("|".join(sorted(LETTERS, key=len, reverse=True)))


@cache
def load_lexicon() -> dict[str, str]:
    """Return the IPA of every word that gruut knows, without stress; of several pronunciations the first."""
    return dict(line.split("\t") for line in read_table("pronunciations.tsv").splitlines())


@cache
def load_frequencies() -> dict[str, float]:
    """Return the share of each word in English texts, as wordfreq counted it."""
    lines = read_table("frequencies.txt").splitlines()
    return {word: share for n, line in enumerate(lines) if (share := 10 ** (-n / 100)) for word in line.split()}


@cache
def load_offensive_words() -> frozenset[str]:
    """Return words that are not put into a text that has none of them: a short list made by hand."""
    return frozenset((Path(__file__).parent / "data" / "coarse.txt").read_text(encoding="utf-8").split())


def load_frequent_pronunciations() -> dict[str, str]:
    """Return the IPA of the frequent English words, the most frequent first."""
    frequency, spoken = load_frequencies(), load_lexicon()
    words = [
        word
        for word in spoken
        if frequency.get(word, 0) >= MIN_FREQUENCY and word.isalpha() and (len(word) > 1 or word in {"a", "i"})
    ]
    return {word: spoken[word] for word in sorted(words, key=lambda word: (-frequency[word], word))}


def pronounce(word: str) -> str:
    """Return the IPA of a word in lower case: the lexicon's, else as its letters are read.

    >>> pronounce("watch"), pronounce("kublai")
    ('wɔtʃ', 'kʌbleɪ')
    """
    known = load_lexicon()
    plain = word.replace("'", "")
    return known.get(word) or known.get(plain) or "".join(LETTERS[match[0]] for match in READ.finditer(plain))


def classify_sounds(sounds: str) -> str:
    """Write each sound as its class and itself.

    >>> from rapidfuzz.distance import Levenshtein
    >>> [Levenshtein.distance(classify_sounds("bɪt"), classify_sounds(other)) for other in ("pɪt", "bit", "sɪt", "bɪ")]
    [1, 1, 2, 2]
    """
    return sounds.translate(CLASSED)
