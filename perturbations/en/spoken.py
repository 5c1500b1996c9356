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

from lapsus.perturbations.en.lexicon import FOLDER, iter_lemmas
from lapsus.perturbations.en.tagging import WORD, predict_tags
from lapsus.perturbations.semantic.word_lists import parse_word_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from lapsus.core.edits import Span

CLITIC = re.compile(rf"(?i)(?<!\w)(?:['’](?:s|m|d|re|ve|ll)|n['’]t)(?!\w)|{WORD.pattern}")
"""A word; also what follows a blank in texts that were cut before, such as `i 'd like`."""
CONTRACTION = re.compile(r"(?i)(?<=\w)n['’]t\b|(?<=\w)['’](?:s|m|d|re|ve|ll)\b|(?<=\bcan)not\b")
LOST_CLITICS = {"s": "'s", "m": "'m", "d": "'d", "re": "'re", "ve": "'ve", "ll": "'ll"}
"""What is left of a contraction where the apostrophe became a blank: `what s`."""
CLITIC_HOSTS = parse_word_list(
    "i you he she it we they that this there here what who where when how why which let let's everybody"
)
NEGATED_VERBS = {
    "don": "do", "doesn": "does", "didn": "did", "isn": "is", "aren": "are", "wasn": "was", "weren": "were",
    "hasn": "has", "haven": "have", "hadn": "had", "won": "wo", "wouldn": "would", "can": "ca", "couldn": "could",
    "shouldn": "should",
}  # fmt: skip
OPENINGS = parse_word_list("please kindly ok okay and now then so well hey hi hello just also alexa siri google")
REQUESTS = parse_word_list(
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
BEHIND_A_NOUN = parse_word_list("of for is are was were in on at from and or that which by ? .")
"""Behind one of these the word is a noun: *list of flights*."""
NOUNS_TOO = parse_word_list(
    "answer book call change check display email end file help list mark message name order place plan play post "
    "print rate record report request return review schedule search share shop show start stop text track tweet "
    "update use view watch"
)
MAX_NAME_WORDS = 4  # words


@dataclass(frozen=True, slots=True)
class SpokenTagger:
    """The perceptron on truecased words, with imperatives known.

    >>> SpokenTagger()(["list", "flights", "to", "milwaukee"])
    ['VB', 'NNS', 'TO', 'NNP']
    """

    version: str = "1"

    def __call__(self, words: Sequence[str], /) -> list[str]:
        """Return one tag per word."""
        first = find_imperative(words)
        written = truecase(restore_clitics(words))
        known = {i: "NNP" for i, word in enumerate(written) if word != words[i] and is_name(word)}
        return predict_tags(
            [normalise_apostrophe(word) for word in written], known if first is None else known | {first: "VB"}
        )

    def find_words(self, text: str) -> tuple[Span, ...]:
        """Cut a text as the Penn Treebank does: contractions are two words."""
        spans: list[Span] = []
        for match in CLITIC.finditer(text):
            cuts = [cut.start() for cut in CONTRACTION.finditer(text, match.start(), match.end())]
            edges = [match.start(), *cuts, match.end()]
            spans += [(a, b) for a, b in pairwise(edges) if a < b]
        return tuple(spans)


SPOKEN = SpokenTagger()


def normalise_apostrophe(word: str) -> str:
    """Write a word with the newspapers' apostrophe."""
    return word.replace("’", "'")


def restore_clitics(words: Sequence[str]) -> list[str]:
    """Join the parts of contractions that lost their apostrophe: `what s`, `don t`.

    >>> restore_clitics(["don", "t", "tell", "me", "what", "s", "on"])
    ['do', "n't", 'tell', 'me', 'what', "'s", 'on']
    """
    forms = list(words)
    for i in range(1, len(forms)):
        before, word = forms[i - 1].lower(), forms[i].lower()
        if word == "t" and before in NEGATED_VERBS:
            forms[i - 1], forms[i] = NEGATED_VERBS[before], "n't"
        elif word in LOST_CLITICS and before in CLITIC_HOSTS:
            forms[i] = LOST_CLITICS[word]
    return forms


def truecase(words: Sequence[str]) -> list[str]:
    """Write names with a capital and other words without, as far as WordNet knows them.

    >>> truecase("Show me FLIGHTS from new york to Boston".split())
    ['show', 'me', 'FLIGHTS', 'from', 'New', 'York', 'to', 'Boston']
    >>> truecase("PLAY SOME JAZZ".split())
    ['play', 'some', 'jazz']
    """
    letters = [word for word in words if word.isalpha()]
    headline = all(word[0].isupper() for word in letters) and (len(letters) > 2 or all(map(str.isupper, letters)))
    single, multiword, common = load_names()
    cased = list(words)
    seen_first = False
    for i, word in enumerate(cased):
        if not word[:1].isalpha():
            continue
        if (headline or not seen_first) and word[0].isupper() and word.lower() in common and word != "I":
            cased[i] = word.lower()
        seen_first = True
    lower = [word.lower() for word in cased]
    i = 0
    while i < len(cased):
        name_length = next(
            (n for n in range(min(MAX_NAME_WORDS, len(cased) - i), 1, -1) if " ".join(lower[i : i + n]) in multiword), 0
        )
        for j in range(i, i + name_length):
            cased[j] = cased[j].capitalize() if cased[j].islower() and len(cased[j]) > 2 else cased[j]
        if not name_length:
            cased[i] = "I" if cased[i] == "i" else single.get(cased[i], cased[i])
        i += name_length or 1
    return cased


def is_name(word: str) -> bool:
    """Return whether a word with a capital is nothing but a name; *American* is an adjective too.

    >>> is_name("Denver"), is_name("American"), is_name("Play")
    (True, False, False)
    """
    return word[0].isupper() and word.lower() in load_names()[0] and word.lower() not in load_proper_adjectives()


@cache
def load_proper_adjectives() -> frozenset[str]:
    """Return the adjectives that have a capital."""
    return frozenset(word.lower() for word in iter_lemmas("a") if word[0].isupper())


def find_imperative(words: Sequence[str]) -> int | None:
    """Return the place of the imperative that opens a request, if one does.

    >>> requests = "please list flights", "list of flights", "cheap flights"
    >>> [find_imperative(request.split()) for request in requests]
    [1, None, None]
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
def load_names() -> tuple[Mapping[str, str], frozenset[str], frozenset[str]]:
    """Return what WordNet writes with a capital only: single words as it writes them, several words; and all others."""
    capitalised: dict[str, str] = {}
    multiword: set[str] = set()
    common = set((FOLDER / "stopwords.txt").read_text(encoding="utf-8").split()) | REQUESTS | OPENINGS
    for part in "nvar":
        for word in iter_lemmas(part):
            if not word[0].isupper():
                common.add(word)
            elif "_" in word:
                if all(piece[0].isupper() for piece in word.split("_") if len(piece) > 3):
                    multiword.add(word.replace("_", " ").lower())
            elif word[1:].islower() and len(word) > 3:
                capitalised.setdefault(word.lower(), word)
    single = {
        word: cased for word, cased in capitalised.items() if word not in common and not is_inflected(word, common)
    }
    return single, frozenset(multiword), frozenset(common)


def is_inflected(word: str, common: AbstractSet[str]) -> bool:
    """Return whether a word without its ending is a common one."""
    return any(word.endswith(end) and word[: -len(end)] in common for end in ("s", "es", "ed", "d", "ing", "er", "est"))
