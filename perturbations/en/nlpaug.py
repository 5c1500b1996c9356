"""The six augmenters of nlpaug that NATURE augments training data with (section 4.4), made pure and label-preserving.

nlpaug returns another text, often with another number of tokens. Here an edit script between the old and the new
tokens says which came from which, so that tags follow; a result that mixes a slot with its neighbours is drawn again.
Each call is seeded by the example and leaves the global random state as it was. Unlike the operators of lapsus,
nlpaug may draw otherwise under another version of Python.
"""

from __future__ import annotations

import math
import random
import re
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from lapsus.core.edits import Edit, overlaps
from lapsus.core.imports import import_optional
from lapsus.perturbations.core import Constraints, Mixture, ShortRepr, SingleTextMixin, drop_conflicts
from lapsus.perturbations.en.lexicon import find_senses, lemmatise
from lapsus.perturbations.en.masked_model import MaskedLM
from lapsus.perturbations.en.synonyms import Gap
from lapsus.perturbations.en.tagging import PERCEPTRON
from lapsus.perturbations.streams import draw_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from random import Random

SUMMARIES = {
    "keyboard": "Hit a neighbouring key in some words (nlpaug's KeyboardAug)",
    "spelling": "Misspell some words as people often do (nlpaug's SpellingAug)",
    "synonym": "Replace some words by a synonym of WordNet, whatever the context (nlpaug's SynonymAug)",
    "antonym": "Replace some words by a word of the opposite meaning (nlpaug's AntonymAug)",
    "tfidf": "Replace some words by others that tell as little of a text, learnt from a corpus (nlpaug's TfIdfAug)",
}
CLASSES = {
    "keyboard": "char.KeyboardAug",
    "spelling": "word.SpellingAug",
    "synonym": "word.SynonymAug",
    "antonym": "word.AntonymAug",
    "tfidf": "word.TfIdfAug",
}
SHARE, MAX_WORDS, TOP = (
    0.3,
    10,
    100,
)  # nlpaug's own: the share of words replaced, at most so many, from so many candidates
DRAWS = 10  # results that are tried before a text is left as it is


@dataclass(frozen=True, slots=True, repr=False)
class Nlpaug(ShortRepr, SingleTextMixin):
    """One of nlpaug's augmenters.

    Args:
        augmenter: keyboard, spelling, synonym, antonym or tfidf.
        model: For tfidf, the folder that `train_tfidf` filled.

    >>> from lapsus.perturbations import apply, perturb
    >>> text = "please play some music"
    >>> apply(text, perturb(Nlpaug("keyboard"), text)) != text
    True
    """

    needs: ClassVar[str] = "lapsus[augment]"
    augmenter: str
    model: str = ""
    version: str = "1"

    def __post_init__(self) -> None:
        if self.augmenter not in CLASSES:
            raise ValueError(f"augmenter is {self.augmenter!r}; it is one of {', '.join(CLASSES)}")

    @property
    def name(self) -> str:
        """The name in datasets."""
        return f"nlpaug_{self.augmenter}"

    @property
    def summary(self) -> str:
        """What the augmenter does."""
        return SUMMARIES[self.augmenter]

    def edits_within(
        self, texts: Sequence[str], rngs: Sequence[Random], constraint_sets: Sequence[Constraints]
    ) -> list[tuple[Edit, ...]]:
        """Take the first result of each text that changes something and keeps every slot."""
        return [
            next((edits for edits in self.iter_results(text, rng) if edits and _keeps_slots(edits, constraints)), ())
            for text, rng, constraints in zip(texts, rngs, constraint_sets, strict=True)
        ]

    def iter_results(self, text: str, rng: Random) -> Iterator[tuple[Edit, ...]]:
        """Return one result after another, as edits."""
        augmenter = _load_augmenter(self.augmenter, self.model)
        for _ in range(DRAWS if text.strip() else 0):
            with _seed_globals(int(rng.random() * 2**32)):
                results = augmenter.augment(text)
            yield diff_words(text, results[0] if results else text)


@dataclass(frozen=True, slots=True, repr=False)
class Contextual(ShortRepr, SingleTextMixin):
    """Replace three words in ten by what a fill-mask model draws for their place, as ContextualWordEmbsAug does.

    nlpaug's own class asks tokenizers for a method that transformers 5 no longer has; and it draws from torch's
    global generator. This one draws from the example's stream, and replaces word by word, so that tags stay.
    """

    needs: ClassVar[str] = "lapsus[models]"
    candidates: MaskedLM
    name: str = "nlpaug_contextual"
    version: str = "1"

    def edits_within(
        self, texts: Sequence[str], rngs: Sequence[Random], constraint_sets: Sequence[Constraints]
    ) -> list[tuple[Edit, ...]]:
        """Replace the last chosen word of all texts, then the one before, each in the light of the others."""
        places = [self._choose_words(*args) for args in zip(texts, rngs, constraint_sets, strict=True)]
        noisy = list(texts)
        edits: list[list[Edit]] = [[] for _ in texts]
        while waiting := [i for i, left in enumerate(places) if left]:
            gaps = [Gap(noisy[i], *places[i].pop(), tag="", part="any") for i in waiting]
            for i, gap, candidates in zip(waiting, gaps, self.candidates.score(gaps), strict=True):
                word = _draw_word(candidates, gap.word, rngs[i].random())
                edits[i].insert(0, Edit(gap.start, gap.end, word))
                noisy[i] = f"{noisy[i][: gap.start]}{word}{noisy[i][gap.end :]}"
        return [
            tuple(edit for edit in text_edits if text[edit.start : edit.end] != edit.text)
            for text, text_edits in zip(texts, edits, strict=True)
        ]

    def _choose_words(self, text: str, rng: Random, constraints: Constraints) -> list[tuple[int, int]]:
        """Choose the words of one text."""
        words = [match.span() for match in re.finditer(r"\S+", text)]
        free = [(start, end) for start, end in words if not overlaps(start, end, constraints.protected)]
        count = min(math.ceil(SHARE * len(words)), MAX_WORDS)
        return sorted(sorted(free, key=lambda _: rng.random())[:count])


def _draw_word(candidates: Sequence[tuple[str, float]], old: str, draw: float) -> str:
    """Draw a word by its probability among the candidates; where there is none, the old one stays."""
    alternatives = [(word, score) for word, score in candidates if word.lower() != old.lower()]
    if not alternatives:
        return old
    return alternatives[draw_index((math.exp(score - alternatives[0][1]) for _, score in alternatives), draw)][0]


def make_augmentation(tfidf: str, contextual: MaskedLM | None = None) -> Mixture:
    """Return the operator of NATURE's config `augmented`: one of the augmenters for each example.

    Args:
        tfidf: The folder that `train_tfidf` filled from the training texts.
        contextual: The fill-mask model of the paper's sixth augmenter, which is left out without one.
    """
    augmenters = (Nlpaug(name, tfidf if name == "tfidf" else "") for name in CLASSES)
    return Mixture("augmented", (*augmenters, *([Contextual(contextual)] if contextual else [])))


def train_tfidf(texts: Iterable[str], folder: Path) -> None:
    """Write the word statistics that nlpaug's TF-IDF augmenter reads."""
    statistics = import_optional("nlpaug.model.word_stats", "augment").TfIdf()
    statistics.train([text.split() for text in texts])
    folder.mkdir(parents=True, exist_ok=True)
    statistics.save(str(folder))


def diff_words(text: str, noisy: str) -> tuple[Edit, ...]:
    """Return the edits of whole words that turn the words of `text` into those of `noisy`.

    A word that is new belongs to the word before it, as when *tv* becomes *tv set*.

    >>> diff_words("a tv series", "a tv set series")
    (Edit(start=2, end=4, text='tv set'),)
    """
    from rapidfuzz.distance import Levenshtein

    places = [match.span() for match in re.finditer(r"\S+", text)]
    old, new = [text[start:end] for start, end in places], noisy.split()
    replacements: list[list[str]] = [[] for _ in old]
    for step in Levenshtein.opcodes(old, new):
        words = new[step.dest_start : step.dest_end]
        if step.tag == "insert" and old:
            replacements[max(step.src_start - 1, 0)] += words
        else:
            for i, word in zip(range(step.src_start, step.src_end), words, strict=False):  # what is deleted stays []
                replacements[i].append(word)
    first_kept = next((i for i, words in enumerate(replacements) if words), len(old))
    edits = []
    for i, (start, end) in enumerate(places):
        if replacements[i] == [text[start:end]]:
            continue
        gap_start = places[i - 1][1] if i > first_kept else start  # with a word goes the space beside it
        gap_end = places[i + 1][0] if i < first_kept and i + 1 < len(places) else end
        edits.append(Edit(start, end, " ".join(replacements[i])) if replacements[i] else Edit(gap_start, gap_end, ""))
    return tuple(edits)


def _keeps_slots(edits: tuple[Edit, ...], constraints: Constraints) -> bool:
    """Return whether these edits leave every slot whole, and delete none."""
    gone = any(not text and overlaps(start, end, constraints.spans) for start, end, text in edits)
    return not gone and drop_conflicts(edits, constraints) == edits


@contextmanager
def _seed_globals(seed: int) -> Iterator[None]:
    """Seed the global generators that nlpaug draws from, and put them back."""
    import numpy as np

    state, np_state = random.getstate(), np.random.get_state()  # noqa: NPY002 - nlpaug draws from the global one
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - likewise
    try:
        yield
    finally:
        random.setstate(state)
        np.random.set_state(np_state)  # noqa: NPY002 - likewise


@lru_cache(maxsize=16)
def _load_augmenter(name: str, model: str) -> Any:
    """Make nlpaug's object once."""
    module, _, class_name = CLASSES[name].partition(".")
    factory = getattr(import_optional(f"nlpaug.augmenter.{module}", "augment"), class_name)
    if name == "tfidf":
        if not model:
            raise ValueError("nlpaug_tfidf has no word statistics; make them with train_tfidf and give their folder")
        return factory(model_path=model, tokenizer=str.split, reverse_tokenizer=" ".join)
    if name in {"synonym", "antonym"}:
        thesaurus = _Thesaurus(antonyms=name == "antonym")
        factory = type(class_name, (factory,), {"get_model": classmethod(lambda *_: thesaurus)})
    augmenter = factory(tokenizer=str.split, reverse_tokenizer=" ".join)
    if name == "spelling":  # nlpaug keeps the misspellings in the order of a set: another in every process
        augmenter.model.dict = {word: sorted(misspellings) for word, misspellings in augmenter.model.dict.items()}
    return augmenter


@dataclass(frozen=True, slots=True)
class _Thesaurus:
    """Answers nlpaug from lapsus' WordNet and tagger: NLTK's would want a download at run time."""

    antonyms: bool

    def pos_tag(self, words: Sequence[str]) -> list[tuple[str, str]]:
        """Tag words, as nltk.pos_tag does."""
        return list(zip(words, PERCEPTRON(words), strict=True))

    def predict(self, word: str, pos: str | None = None) -> list[str]:
        """Return the synonyms or the antonyms of every sense of a word."""
        words: list[str] = []
        for part in "nvar" if pos is None else pos.strip("s"):  # satellites are adjectives
            for base in lemmatise(word, part):
                for sense in find_senses(base, part):
                    words += sense.antonyms if self.antonyms else sense.words
        return words


BERT = MaskedLM("bert-base-uncased", revision="86b5e0934494bd15c9632b12f734a8a67f723594", top=TOP)
UNITS = (*(Nlpaug(augmenter) for augmenter in CLASSES), Contextual(BERT))
