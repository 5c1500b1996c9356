"""Tags for requests as people say and type them: the perceptron, shown the words as its training text wrote them.

It was trained on newspapers. Three things set requests apart: names in lower case, an imperative as the first word, and
contractions, which the Penn Treebank cuts in two. The text itself stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from lapsus.perturbations.en.tables import FOLDER
from lapsus.perturbations.en.tagging import WORD, perceptron_tags
from lapsus.perturbations.en.wordnet import lemmas
from lapsus.perturbations.semantic.word_lists import word_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from lapsus.perturbations.core import Span

CLITIC = re.compile(rf"(?i)(?<!\w)(?:['’](?:s|m|d|re|ve|ll)|n['’]t)(?!\w)|{WORD.pattern}")
"""A word; also what follows a blank in texts that were cut before, such as `i 'd like`."""
CONTRACTION = re.compile(r"(?i)(?<=\w)n['’]t\b|(?<=\w)['’](?:s|m|d|re|ve|ll)\b|(?<=\bcan)not\b")
LEANING = {"s": "'s", "m": "'m", "d": "'d", "re": "'re", "ve": "'ve", "ll": "'ll"}
"""What is left of a contraction where the apostrophe became a blank: `what s`."""
HOSTS = word_list("i you he she it we they that this there here what who where when how why which let let's everybody")
DENIED = {"don": "do", "doesn": "does", "didn": "did", "isn": "is", "aren": "are", "wasn": "was", "weren": "were",
          "hasn": "has", "haven": "have", "hadn": "had", "won": "wo", "wouldn": "would", "can": "ca",
          "couldn": "could", "shouldn": "should"}  # fmt: skip
OPENINGS = word_list("please kindly ok okay and now then so well hey hi hello just also alexa siri google")
REQUESTS = word_list(
    """
    activate add adjust announce answer append archive arrange ask block book bring brighten buy calculate call cancel
    change check choose clean clear close compare compute confirm connect continue convert cook copy count create cut
    decrease delete describe determine dial dim disable disconnect display do download draw drive email enable end
    enter estimate exclude explain fetch file fill find finish fix fly follow forget forward gather get give go hang
    help hide hold include increase inform insert invite join keep launch leave let lighten list listen load locate
    look lower make mark mention message move mute name need notify open order organize pause pay pick place plan play
    please post prepare preview print provide purchase put query raise rate read recommend record reduce refresh
    refuse remember remind remove rename rent repeat replace reply report request reserve reset restart resume retrieve
    return review save say schedule search select send set share shop show shuffle shut silence skip sort speak spell
    start stop stream submit subscribe suggest switch take tell text throw track transfer translate try tune turn
    tweet uninstall unlock unmute unplay update upgrade use view vote wait wake warm warn watch write
    """
)
"""Verbs that open a request."""
BEHIND_A_NOUN = word_list("of for is are was were in on at from and or that which by ? .")
"""Behind one of these the word is a noun: *list of flights*."""
NOUNS_TOO = word_list(
    "answer book call change check display email end file help list mark message name order place plan play post "
    "print rate record report request return review schedule search share shop show start stop text track tweet "
    "update use view watch"
)
LONGEST_NAME = 4  # words


@dataclass(frozen=True, slots=True)
class SpokenTagger:
    """The perceptron on truecased words, with imperatives known.

    >>> SpokenTagger()(["list", "flights", "to", "milwaukee"])
    ['VB', 'NNS', 'TO', 'NNP']
    """

    version: str = "1"

    def __call__(self, words: Sequence[str], /) -> list[str]:
        """Return one tag per word."""
        first = opening(words)
        written = truecased(restored(words))
        known = {i: "NNP" for i, word in enumerate(written) if word != words[i] and is_name(word)}
        return perceptron_tags([plain(word) for word in written], known if first is None else known | {first: "VB"})

    def places(self, text: str) -> tuple[Span, ...]:
        """Cut a text as the Penn Treebank does: contractions are two words."""
        found: list[Span] = []
        for match in CLITIC.finditer(text):
            cuts = [cut.start() for cut in CONTRACTION.finditer(text, match.start(), match.end())]
            edges = [match.start(), *cuts, match.end()]
            found += [(a, b) for a, b in pairwise(edges) if a < b]
        return tuple(found)


SPOKEN = SpokenTagger()


def plain(word: str) -> str:
    """Write a word with the newspapers' apostrophe."""
    return word.replace("’", "'")


def restored(words: Sequence[str]) -> list[str]:
    """Give contractions whose apostrophe is lost their parts back: `what s`, `don t`.

    >>> restored(["don", "t", "tell", "me", "what", "s", "on"])
    ['do', "n't", 'tell', 'me', 'what', "'s", 'on']
    """
    found = list(words)
    for i in range(1, len(found)):
        before, word = found[i - 1].lower(), found[i].lower()
        if word == "t" and before in DENIED:
            found[i - 1], found[i] = DENIED[before], "n't"
        elif word in LEANING and before in HOSTS:
            found[i] = LEANING[word]
    return found


def truecased(words: Sequence[str]) -> list[str]:
    """Write names with a capital and other words without, as far as WordNet knows them.

    >>> truecased("Show me FLIGHTS from new york to Boston".split())
    ['show', 'me', 'FLIGHTS', 'from', 'New', 'York', 'to', 'Boston']
    >>> truecased("PLAY SOME JAZZ".split())
    ['play', 'some', 'jazz']
    """
    letters = [word for word in words if word.isalpha()]
    headline = all(word[0].isupper() for word in letters) and (len(letters) > 2 or all(map(str.isupper, letters)))
    single, several, common = names()
    found = list(words)
    seen_first = False
    for i, word in enumerate(found):
        if not word[:1].isalpha():
            continue
        if (headline or not seen_first) and word[0].isupper() and word.lower() in common and word != "I":
            found[i] = word.lower()
        seen_first = True
    lower = [word.lower() for word in found]
    i = 0
    while i < len(found):
        long = next(
            (n for n in range(min(LONGEST_NAME, len(found) - i), 1, -1) if " ".join(lower[i : i + n]) in several), 0
        )
        for j in range(i, i + long):
            found[j] = found[j].capitalize() if found[j].islower() and len(found[j]) > 2 else found[j]
        if not long:
            found[i] = "I" if found[i] == "i" else single.get(found[i], found[i])
        i += long or 1
    return found


def is_name(word: str) -> bool:
    """Tell whether a word with a capital is nothing but a name; *American* is an adjective too.

    >>> is_name("Denver"), is_name("American"), is_name("Play")
    (True, False, False)
    """
    return word[0].isupper() and word.lower() in names()[0] and word.lower() not in adjectives()


@cache
def adjectives() -> frozenset[str]:
    """Return the adjectives that have a capital."""
    return frozenset(word.lower() for word in lemmas("a") if word[0].isupper())


def opening(words: Sequence[str]) -> int | None:
    """Return the place of the imperative that opens a request, if one does.

    >>> opening(["please", "list", "flights"]), opening(["list", "of", "flights"]), opening(["cheap", "flights"])
    (1, None, None)
    """
    for i, word in enumerate(words):
        lower = word.lower()
        if not word[:1].isalpha() or (lower in OPENINGS and lower != "please"):
            continue
        if lower == "please" and i + 1 < len(words):
            continue
        if lower not in REQUESTS or (
            lower in NOUNS_TOO and (i + 1 == len(words) or words[i + 1].lower() in BEHIND_A_NOUN)
        ):
            return None
        return i
    return None


@cache
def names() -> tuple[Mapping[str, str], frozenset[str], frozenset[str]]:
    """Return what WordNet writes with a capital only: single words as it writes them, several words; and all others."""
    found: dict[str, str] = {}
    several: set[str] = set()
    common = set((FOLDER / "stopwords.txt").read_text(encoding="utf-8").split()) | REQUESTS | OPENINGS
    for part in "nvar":
        for word in lemmas(part):
            if not word[0].isupper():
                common.add(word)
            elif "_" in word:
                if all(each[0].isupper() for each in word.split("_") if len(each) > 3):
                    several.add(word.replace("_", " ").lower())
            elif word[1:].islower() and len(word) > 3:
                found.setdefault(word.lower(), word)
    single = {word: cased for word, cased in found.items() if word not in common and not inflected(word, common)}
    return single, frozenset(several), frozenset(common)


def inflected(word: str, common: AbstractSet[str]) -> bool:
    """Tell whether a word without its ending is a common one."""
    return any(word.endswith(end) and word[: -len(end)] in common for end in ("s", "es", "ed", "d", "ing", "er", "est"))
