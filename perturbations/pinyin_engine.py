"""A Pinyin input method without a keyboard: letters in, ranked Chinese text out.

>>> engine = load_engine()
>>> engine.candidates("shishi", limit=4)
['事实', '实施', '试试', '实时']
>>> engine.candidates("yjl", limit=2)
['眼睛里', '远距离']
>>> engine.sentence("zhegedingdanzhichifenqifukuanma")
'这个订单支持分期付款吗'
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, lru_cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Lattice: TypeAlias = "Sequence[Sequence[tuple[int, str, float]]]"

DATA = Path(__file__).parent / "pinyin_data"
LONGEST_SYLLABLE = 6
LONGEST_WORD = 7
LONGEST_ABBREVIATED = 4
PARTIAL = "~"  # ends a syllable of which only the beginning was typed
PARTIAL_COST = 7.0  # an unfinished syllable, in nats
RAW_COST = 18.0  # a letter that no syllable takes in
UNKNOWN_COST = 20.0
NEVER = 1e9
BEGINNING_COST = 100.0  # of a word for the first syllables alone: it is offered after all others
WORD_COST = 1.0  # for each word of a text put together: input methods like few and long words
KEPT_PER_READING = 16  # words of one reading that decoding looks at
KEPT_PER_ABBREVIATION = 24
BEAM = 8
QUICK = 4  # beam, and words of one reading, where many candidates are wanted at once
SURE = 13.0  # nats: a word this likely is offered before any text put together
STARTS = tuple("。，：、")  # the marks that open a row of bigrams of their own


class Word(NamedTuple):
    """A word in one of its readings; `cost` is minus the logarithm of its probability."""

    text: str
    reading: str
    cost: float
    rarer: float = 0.0  # what this reading costs beyond the word's most common one


class _Path(NamedTuple):
    """The cheapest way to a place in the lattice whose last word is `word`."""

    cost: float
    word: str
    text: str


class PinyinEngine:
    """Decode Pinyin with a word list and word bigrams; `load_engine()` gives the embedded one."""

    def __init__(self, words: Sequence[Word], bigrams: Bigrams) -> None:
        self.words = words
        self.bigrams = bigrams
        self.by_text: dict[str, Word] = {}
        self.by_reading: dict[str, list[Word]] = {}
        for word in words:
            self.by_text.setdefault(word.text, word)
            self.by_reading.setdefault(word.reading, []).append(word)
        self.syllables = frozenset(r for r in self.by_reading if " " not in r)
        self._beginnings = frozenset(s[:n] for s in self.syllables for n in range(1, len(s)))
        self._openings = {r[:n] for r in self.by_reading if " " in r for n, letter in enumerate(r) if letter == " "}
        self._by_initials: dict[str, list[Word]] | None = None
        self._completions = lru_cache(1 << 14)(self._complete)
        self.scored = lru_cache(1 << 16)(self._scored)
        self._parse = lru_cache(1 << 14)(self.parse)
        self.segment = lru_cache(1 << 14)(self._segment)

    def candidates(self, keys: str, context: str = "", limit: int = 20) -> list[str]:
        """Return what the input method offers for the letters `keys` typed after the text `context`."""
        return [text for text, _ in self.scored(keys, self.last_word(context, STARTS), limit)]

    def sentence(self, keys: str | Sequence[str], context: str = "") -> str:
        """Return the likeliest text for `keys`: unseparated letters, or a list of syllables.

        >>> load_engine().sentence(["jin", "tian", "tian", "qi", "hen", "hao"])
        '今天天气很好'
        """
        if isinstance(keys, str):
            return self.decode(self.parse(keys), context)
        return self.decode([[(n, s, 0.0)] for n, s in enumerate(keys, 1)], context)

    def decode(self, lattice: Lattice, context: str = "") -> str:
        """Return the likeliest text for a lattice of syllables.

        `lattice[i]` holds the (end, syllable, cost) that begin at position i; `end` at most `len(lattice)`, and an
        empty syllable passes without a character. Costs are nats. Text that is no syllable stands for itself.

        >>> load_engine().decode([[(1, "hu", 0.0), (1, "fu", 1.0)], [(2, "nan", 0.0), (2, "lan", 1.0)]])
        '湖南'
        """
        path = self._search(lattice, self.last_word(context, STARTS), BEAM, KEPT_PER_READING)
        return path.text if path else ""

    def decode_slots(self, slots: Sequence[Sequence[tuple[str, float]]], context: str = "") -> str:
        """Return the likeliest text where each position has alternatives `(syllable, cost)`."""
        return self.decode([[(n, s, c) for s, c in slot] for n, slot in enumerate(slots, 1)], context)

    def parse(self, keys: str) -> list[list[tuple[int, str, float]]]:
        """Return the lattice of syllables in `keys`; unfinished ones only where full ones do not suffice."""
        keys = keys.replace("lve", "lue").replace("nve", "nue")
        full: list[list[tuple[int, str, float]]] = [[] for _ in keys]
        for i in range(len(keys)):
            if keys[i] == "'":
                full[i].append((i + 1, "", 0.0))
            for j in range(i + 1, min(i + LONGEST_SYLLABLE, len(keys)) + 1):
                if keys[i:j] in self.syllables:
                    full[i].append((j, keys[i:j], 0.0))
        if _reaches_end(full):
            return full
        for i, edges in enumerate(full):
            whole = {j for j, _, _ in edges}
            for j in range(i + 1, min(i + LONGEST_SYLLABLE, len(keys)) + 1):
                if j not in whole and keys[i:j] in self._beginnings:
                    edges.append((j, keys[i:j] + PARTIAL, PARTIAL_COST))
            if not edges or not keys[i].isalpha():
                edges.append((i + 1, keys[i], RAW_COST))
        return full

    def _segment(self, text: str) -> tuple[Word, ...]:
        """Split `text` into the likeliest words; a character without a reading stands for itself.

        >>> [word.text for word in load_engine().segment("支付宝还款失败")]
        ['支付宝', '还款', '失败']
        """
        by_text = self.by_text
        size = len(text)
        best = [0.0] * (size + 1)
        choice: list[Word | None] = [None] * (size + 1)
        for i in range(size - 1, -1, -1):
            cost, chosen = UNKNOWN_COST + best[i + 1], None
            for j in range(i + 1, min(i + LONGEST_WORD, size) + 1):
                word = by_text.get(text[i:j])
                if word is not None and word.cost + best[j] < cost:
                    cost, chosen = word.cost + best[j], word
            best[i], choice[i] = cost, chosen
        words: list[Word] = []
        i = 0
        while i < size:
            word = choice[i] or Word(text[i], "", UNKNOWN_COST)
            words.append(word)
            i += len(word.text)
        return tuple(words)

    def readings(self, text: str) -> list[str]:
        """Return the syllable of each character of `text`, in context; empty where it has none.

        >>> load_engine().readings("银行行长")
        ['yin', 'hang', 'hang', 'zhang']
        """
        return [s for word in self.segment(text) for s in (word.reading.split(" ") if word.reading else [""])]

    def last_word(self, context: str, marks: Sequence[str] = ()) -> str:
        """Return the longest word that `context` ends in, or which of `marks`; nothing where it ends otherwise.

        >>> load_engine().last_word("我用支付宝"), load_engine().last_word("还款，", STARTS)
        ('支付宝', '，')
        """
        tails = (context[-size:] for size in range(min(4, len(context)), 0, -1))
        return next((tail for tail in tails if tail in self.by_text or tail in marks), "")

    def _scored(self, keys: str, last: str, limit: int) -> tuple[tuple[str, float], ...]:
        """Return candidates and their costs: texts for all of `keys` first, then words for its beginning."""
        lattice = self._parse(keys)
        if not lattice:
            return ()
        found: dict[str, float] = {}
        shorter: list[tuple[int, float, str]] = []
        row, backoff = self.bigrams.row(last)
        for end, slots, words in self._words_from(lattice, 0, limit):
            extra = slots + WORD_COST
            if end < len(lattice):
                shorter += [(-end, extra + word.cost, word.text) for word in words]
                continue
            for word in words:
                text = word.text
                cost = extra + (row[text] + word.rarer if text in row else backoff + word.cost)
                if cost < found.get(text, NEVER):
                    found[text] = cost
        if min(found.values(), default=SURE) >= SURE and (path := self._search(lattice, last, QUICK, 2 * QUICK)):
            found.setdefault(path.text, path.cost)
        ranked = dict(sorted(found.items(), key=_second))
        if len(ranked) < limit:
            for _, cost, text in sorted(shorter)[: 2 * limit]:
                ranked.setdefault(text, BEGINNING_COST + cost)
        return tuple(ranked.items())[:limit]

    def _search(self, lattice: Lattice, last: str, beam: int, kept: int) -> _Path | None:
        """Return the cheapest text of a lattice, by a beam over positions and last words."""
        size = len(lattice)
        ends: list[dict[str, _Path]] = [{} for _ in range(size + 1)]
        ends[0][last] = _Path(0.0, last, "")
        for i in range(size):
            if not ends[i]:
                continue
            paths = sorted(ends[i].values())[:beam]
            for end, _, raw_cost in (edge for edge in lattice[i] if not edge[1]):
                for path in paths:
                    _keep(ends[end], _Path(path.cost + raw_cost, path.word, path.text))
            rows = [(path, *self.bigrams.row(path.word)) for path in paths]
            for end, cost, words in self._words_from(lattice, i, kept):
                target = ends[end]
                for word in words:
                    text, unigram = word.text, word.cost
                    least, source = NEVER, paths[0]
                    for path, row, backoff in rows:
                        total = path.cost + (row[text] + word.rarer if text in row else backoff + unigram)
                        if total < least:
                            least, source = total, path
                    least += cost + WORD_COST
                    known = target.get(text)
                    if known is None or least < known.cost:
                        target[text] = _Path(least, text, source.text + text)
        return min(ends[size].values(), default=None)

    def _words_from(self, lattice: Lattice, start: int, kept: int) -> Iterator[tuple[int, float, Sequence[Word]]]:
        """Yield (end, cost, words) of every reading that begins at `start`."""
        size = len(lattice)
        stack: list[tuple[int, str, float, int]] = [(start, "", 0.0, 0)]
        while stack:
            here, reading, cost, length = stack.pop()
            for end, syllable, extra in lattice[here]:
                if not syllable:
                    if length and end < size:
                        stack.append((end, reading, cost + extra, length))
                    continue
                longer = f"{reading} {syllable}" if reading else syllable
                words: Sequence[Word]
                if PARTIAL in longer:
                    words, more = self._completions(longer), length + 1 < LONGEST_ABBREVIATED
                elif syllable in self.syllables:
                    words, more = self.by_reading.get(longer, ()), longer in self._openings
                else:
                    words, more = () if length else (Word(syllable, "", UNKNOWN_COST),), False
                if words:
                    yield end, cost + extra, words[:kept]
                if more and end < size:
                    stack.append((end, longer, cost + extra, length + 1))

    def _complete(self, reading: str) -> tuple[Word, ...]:
        """Return the likeliest words for a reading with unfinished syllables, such as `yao j~`."""
        if self._by_initials is None:
            by_initials = defaultdict(list)
            for word in self.words:
                if word.reading.count(" ") < LONGEST_ABBREVIATED:
                    by_initials["".join(s[0] for s in word.reading.split(" "))].append(word)
            self._by_initials = dict(by_initials)
        slots = reading.split(" ")
        loose = [(n, slot[:-1]) for n, slot in enumerate(slots) if len(slot) > 2 and slot.endswith(PARTIAL)]
        exact = [(n, slot) for n, slot in enumerate(slots) if not slot.endswith(PARTIAL)]
        found: list[Word] = []
        for word in self._by_initials.get("".join(slot[0] for slot in slots), ()):
            parts = word.reading.split(" ")
            if all(parts[n] == s for n, s in exact) and all(parts[n].startswith(s) for n, s in loose):
                found.append(word)
                if len(found) == KEPT_PER_ABBREVIATION:
                    break
        return tuple(found)


class Bigrams:
    """The costs of words after words, in rows that are read when first asked for."""

    def __init__(self, words: Sequence[Word], folder: Path) -> None:
        self._start, self._next, self._cost, self._backoff = (
            np.load(folder / f"{name}.npy", mmap_mode="r")
            for name in ("bigram_start", "bigram_next", "bigram_cost", "backoff")
        )
        self._words = words
        self._row_of = {mark: len(words) + n for n, mark in enumerate(STARTS)}
        for n, word in enumerate(words):
            self._row_of.setdefault(word.text, n)
        self.row = lru_cache(None)(self._row)

    def cost(self, last: str, word: Word) -> float:
        """Return the cost of `word` after the word `last`; of the word alone where `last` is empty."""
        row, backoff = self.row(last)
        return row[word.text] + word.rarer if word.text in row else backoff + word.cost

    def _row(self, last: str) -> tuple[Mapping[str, float], float]:
        n = self._row_of.get(last)
        if n is None:
            return {}, 0.0
        span = slice(int(self._start[n]), int(self._start[n + 1]))
        texts = (self._words[i].text for i in self._next[span].tolist())
        return dict(zip(texts, (self._cost[span] / 10).tolist(), strict=True)), float(self._backoff[n]) / 10


_second = itemgetter(1)


def _keep(paths: dict[str, _Path], path: _Path) -> None:
    known = paths.get(path.word)
    if known is None or path.cost < known.cost:
        paths[path.word] = path


def _reaches_end(lattice: Lattice) -> bool:
    reached = {0}
    for i, edges in enumerate(lattice):
        if i in reached:
            reached.update(end for end, _, _ in edges)
    return len(lattice) in reached


@cache
def load_engine() -> PinyinEngine:
    """Return the embedded engine; the first call takes a fraction of a second."""
    lines = (DATA / "words.tsv").read_text(encoding="utf-8").splitlines()
    words = []
    usual: dict[str, float] = {}
    for line in lines:  # likeliest first
        text, reading, centi = line.split("\t")
        cost = int(centi) / 100
        words.append(Word(text, reading, cost, cost - usual.setdefault(text, cost)))
    return PinyinEngine(words, Bigrams(words, DATA))
