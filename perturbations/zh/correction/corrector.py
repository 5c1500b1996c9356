"""Correct words that were typed or heard as others of the same sound: READIN's counter-measure, put before a model.

A noisy channel: the likeliest text under the engine's language model, each replaced word paying for the replacement,
dearly enough that right text is left alone.

>>> from lapsus.perturbations import apply, perturb
>>> text = "花呗怎么申请分期服款"
>>> apply(text, perturb(ZhCorrect(), text))
'花呗怎么申请分期付款'

Clean texts of the task, such as those a model is trained on, teach it the task's words:

>>> texts = ["花呗怎么还款", "怎么关闭花呗", "花呗可以提前还款吗", "怎么提前还借呗", "花呗怎么分期还款"]
>>> apply("华北怎么还款", perturb(ZhCorrect.from_texts(texts), "华北怎么还款"))
'花呗怎么还款'

A tagger that was trained on them (`lapsus train-corrector`) repairs more, and most beside them:
`ZhCorrect(corpus="FILE", tagger="FOLDER")`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from math import exp, log
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lapsus.core.edits import Edit, apply
from lapsus.perturbations.core import ShortRepr
from lapsus.perturbations.zh.correction.combine import (
    can_combine,
    is_in_both_tasks,
    is_same_task,
    rank_proposals,
    select_edits,
)
from lapsus.perturbations.zh.correction.tagger import CORRECTED, Tagger
from lapsus.perturbations.zh.correction.task_words import Corpus, load_task_model
from lapsus.perturbations.zh.input_method.pinyin import UNKNOWN_COST, Word, load_engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

STRETCH = re.compile(r"[\u4e00-\u9fff]{2,60}")
LONGEST, LONGEST_ADAPTED = 100_000, 10_000  # characters: a second or two
LONGEST_WORD = 4
BEAM = 6
CAUTION = 6.0  # nats
SHORT = (14.0, 9.0, 3.0, 0.0)  # on top for a word of one, two, three characters: names look like misspelt short words
CANDIDATES = 5  # words of one reading that are considered
MERGED = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("l", "n"), ("ing", "in"), ("eng", "en"), ("ang", "an"))
ACCENTS = (*MERGED, *((second, first) for first, second in MERGED))


class _WordPath(NamedTuple):
    """The likeliest reading of a text up to some place; each word with where it starts."""

    cost: float
    word: str
    words: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True, repr=False)
class ZhCorrect(ShortRepr):
    """Replace words by likelier ones that sound the same, or nearly so.

    Args:
        caution: what replacing a word costs, in nats. Higher corrects less, and spoils less. With a corpus, which
            tells its own price, or a tagger, what is above or below 6 is added.
        accent: what it costs on top if one syllable differs by an accent, such as zh for z; a corpus has its own.
        corpus: a file of clean texts of the task to learn from: one per line, or JSON lines, of which each string
            counts; nothing to learn from none. Their words are then corrected to from the same sound, and from one
            slip of the fingers; texts that are not of the task are corrected as without.
        tagger: a folder that `lapsus train-corrector` wrote; nothing to use none. What it changes goes before all
            else; with a corpus of its task, each weighs what the other proposes, with one of another it is not used.
    """

    caution: float = CAUTION
    accent: float = 5.0
    corpus: str | Path | Corpus = ""
    tagger: str | Path | Tagger = ""
    name: str = "zh_correct"
    version: str = "1"

    def __post_init__(self) -> None:
        for name in ("caution", "accent"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is {getattr(self, name)!r}; give a number from 0 on, in nats")
        if not isinstance(self.corpus, str | Path | Corpus):
            raise TypeError(f"corpus is {self.corpus!r}; give the path of a file, or use ZhCorrect.from_texts(texts)")
        if not isinstance(self.corpus, Corpus) and str(self.corpus):
            object.__setattr__(self, "corpus", Corpus.read(str(self.corpus)))
        if not isinstance(self.tagger, str | Path | Tagger):
            raise TypeError(f"tagger is {self.tagger!r}; give the folder that lapsus train-corrector wrote")
        if not isinstance(self.tagger, Tagger) and str(self.tagger):
            object.__setattr__(self, "tagger", Tagger.read(str(self.tagger)))

    @classmethod
    def from_texts(cls, texts: Iterable[str], caution: float = CAUTION) -> ZhCorrect:
        """Return a corrector that has learned from the clean `texts` of a task."""
        if isinstance(texts, str):
            raise TypeError("the texts to learn from are one string; give a list of texts")
        return cls(caution, corpus=Corpus(tuple(texts)))

    def edits(self, text: str, rng: Random) -> tuple[Edit, ...]:
        """Propose the corrections of the text."""
        if self.untouched(text):
            return ()
        accepted: list[Edit] = []
        for proposal in self._iter_proposals(text):
            accepted += [edit for edit in proposal if all(can_combine(edit, previous) for previous in accepted)]
        return tuple(sorted(accepted))

    def _iter_proposals(self, text: str) -> Iterator[list[Edit]]:
        """Yield the edits of each model, the one that knows most of the task first."""
        extra_caution = self.caution - CAUTION
        engine_edits = [
            edit for match in STRETCH.finditer(text) for edit in self._correct_stretch(match.group(), match.start())
        ]
        tagger = self.tagger if isinstance(self.tagger, Tagger) else None
        corpus = self.corpus if isinstance(self.corpus, Corpus) else None
        model = corpus and load_task_model(corpus)
        if tagger and corpus and not is_same_task(tagger, corpus):
            tagger = None
        if tagger and model and is_in_both_tasks(text, tagger, model):
            yield select_edits(rank_proposals(text, tagger, model), tagger.corpus_threshold + extra_caution)
        else:
            tagger_edits = tagger.edits(text, _scale_odds(tagger.threshold, extra_caution)) if tagger else []
            if tagger and not model and tagger.units.is_foreign(apply(text, tagger_edits), CORRECTED):
                tagger, tagger_edits = None, []
            yield tagger_edits
            if model:
                yield model.edits(text, model.caution + extra_caution)
        if tagger:
            engine_edits = [edit for edit in engine_edits if not tagger.units.has_seen(text, edit)]
        if model:
            engine_edits = [edit for edit in engine_edits if not model.has_seen(text, edit)]
        yield engine_edits

    def untouched(self, text: str) -> str:
        """Say why a text is left as it is; nothing where it is looked through."""
        longest = LONGEST_ADAPTED if self.corpus or self.tagger else LONGEST
        return f"longer than {longest} characters: correct it in pieces" if len(text) > longest else ""

    def _correct_stretch(self, text: str, offset: int) -> Iterator[Edit]:
        engine = load_engine()
        row = engine.bigrams.row
        readings = engine.readings(text)
        size = len(text)
        ends: list[dict[str, _WordPath]] = [{} for _ in range(size + 1)]
        ends[0][""] = _WordPath(0.0, "", ())
        for start in range(size):
            paths = sorted(ends[start].values())[:BEAM]
            rows = [(path, *row(path.word)) for path in paths]
            for end in range(start + 1, min(start + LONGEST_WORD, size) + 1):
                for word, price in self._find_candidates(text[start:end], readings[start:end]):
                    least, source = 1e9, paths[0]
                    for path, following, backoff in rows:
                        cost = path.cost + following.get(word.text, backoff + word.cost)
                        if cost < least:
                            least, source = cost, path
                    known = ends[end].get(word.text)
                    if known is None or least + price < known.cost:
                        ends[end][word.text] = _WordPath(
                            least + price, word.text, (*source.words, (start, end, word.text))
                        )
        best = min(ends[size].values())
        padded = ["", *(word for _, _, word in best.words), ""]
        for place, (start, end, new) in enumerate(best.words, 1):
            before, after = padded[place - 1], padded[place + 1]
            fits = new in row(before)[0] or after in row(new)[0]
            if new != text[start:end] and (fits or end - start > 3):
                yield Edit(offset + start, offset + end, new)

    def _find_candidates(self, text: str, readings: list[str]) -> list[tuple[Word, float]]:
        """Return the words that may be meant by a stretch of text, each with its price."""
        engine = load_engine()
        known = engine.by_text.get(text)
        candidates = [(known, 0.0)] if known else [(Word(text, "", UNKNOWN_COST), 0.0)] if len(text) == 1 else []
        if not all(readings):
            return candidates
        price = self.caution + SHORT[len(text) - 1]
        reading = " ".join(readings)
        candidates += [(word, price) for word in engine.by_reading.get(reading, ())[:CANDIDATES] if word.text != text]
        if len(text) > 1:
            candidates += [
                (word, price + self.accent)
                for variant in _accent_variants(reading)
                for word in engine.by_reading.get(variant, ())[:CANDIDATES]
            ]
        return candidates


def _scale_odds(probability: float, nats: float) -> float:
    """Return a probability with other odds.

    >>> round(_scale_odds(0.5, 2.0), 2), _scale_odds(0.5, 0.0)
    (0.88, 0.5)
    """
    odds = log(probability / (1 - probability)) + nats if 0 < probability < 1 else probability * 1e3 - 500
    return 1 / (1 + exp(-min(odds, 500))) if nats else probability


@cache
def _accent_variants(reading: str) -> tuple[str, ...]:
    """Return the readings that differ in one syllable by an accent.

    >>> _accent_variants("shi li")
    ('si li', 'shi ni')
    """
    known = load_engine().syllables
    syllables = reading.split(" ")
    variants = []
    for place, syllable in enumerate(syllables):
        for old, new in ACCENTS:
            if old.endswith("ng") or old in {"in", "en", "an"}:
                changed = syllable.removesuffix(old) + new if syllable.endswith(old) else ""
            else:
                changed = new + syllable.removeprefix(old) if syllable.startswith(old) else ""
            if changed in known:
                variants.append(" ".join([*syllables[:place], changed, *syllables[place + 1 :]]))
    return tuple(variants)


UNITS = (ZhCorrect(),)
