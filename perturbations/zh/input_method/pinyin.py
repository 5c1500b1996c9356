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

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import islice
from math import log
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Lattice: TypeAlias = "Sequence[Sequence[tuple[int, str, float]]]"
Entry: TypeAlias = tuple[str, str, float, float]  # a word, stored as the garbage collector does not track it
TextPath: TypeAlias = tuple[float, str, str]  # the cost of a text, its last word, the text
Context: TypeAlias = "tuple[float, str, Mapping[str, float], float]"  # cost and text, what follows, the back-off

Kept = TypeVar("Kept")
Made = TypeVar("Made")

DATA = Path(__file__).parents[1] / "data" / "pinyin"
LONGEST_SYLLABLE = 6
LONGEST_CACHED = 60  # characters of a text whose words are cached
LONGEST_TYPED = 60  # letters that are taken apart from the end; what is longer, from the beginning
LONGEST_ABBREVIATED = 4
PARTIAL = "~"  # ends a syllable of which only the beginning was typed
PARTIAL_COST = 7.0  # an unfinished syllable, in nats
RAW_COST = 18.0  # a letter that belongs to no syllable
UNKNOWN_COST = 20.0
NEVER = 1e9
BEGINNING_COST = 100.0  # of a word for the first syllables alone: it is offered after all others
WORD_COST = 1.0  # for each word of a text put together: input methods like few and long words
MAX_PER_READING = 16  # words of one reading that decoding looks at
MAX_PER_ABBREVIATION = 24
BEAM = 8
QUICK = 3  # beam, and words of one reading, where many candidates are wanted at once
SURE = 13.0  # nats: a word this likely is offered before any text put together
TENTHS = tuple(n / 10 for n in range(256))  # costs as they are stored
NOTHING: Mapping[int, Sequence[TextPath]] = MappingProxyType({})
FAR: TextPath = (NEVER, "", "")
STARTS = tuple("。，：、")  # the marks that open a row of bigrams of their own


class Word(NamedTuple):
    """A word in one of its readings; `cost` is minus the logarithm of its probability."""

    text: str
    reading: str
    cost: float
    rarer: float = 0.0  # what this reading costs beyond the word's most common one


class LazyMapping(Mapping[str, Made], Generic[Kept, Made]):
    """A mapping whose values are made of what is kept when they are asked for."""

    def __init__(self, stored: Mapping[str, Kept], convert: Callable[[Kept], Made]) -> None:
        self._stored = stored
        self._convert = lru_cache(1 << 14)(lambda key: convert(stored[key]))

    def __getitem__(self, key: str) -> Made:
        """Return the value, from the cache or made now."""
        return self._convert(key)

    def __contains__(self, key: object) -> bool:
        """Return whether there is one, without making it."""
        return key in self._stored

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value, or `default`: most keys asked for are not there, and an exception is slow."""
        return self._convert(key) if key in self._stored else default

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys."""
        return iter(self._stored)

    def __len__(self) -> int:
        """Count the keys."""
        return len(self._stored)


class PinyinEngine:
    """Decode Pinyin with a word list and word bigrams; `load_engine()` gives the embedded one."""

    def __init__(self, entries: Sequence[Entry], bigrams: Bigrams) -> None:
        self.bigrams = bigrams
        self.entries: Sequence[Entry] = tuple(entries)  # the likeliest first
        by_text: dict[str, Entry] = {}
        by_reading: dict[str, tuple[Entry, ...]] = {}
        for entry in entries:
            by_text.setdefault(entry[0], entry)
            by_reading[entry[1]] = (*by_reading.get(entry[1], ()), entry)
        self.by_text: Mapping[str, Word] = LazyMapping(by_text, Word._make)
        self.by_reading: Mapping[str, Sequence[Word]] = LazyMapping(by_reading, _to_words)
        self.entries_by_reading: Mapping[str, Sequence[Entry]] = by_reading  # as kept: quicker to look up
        self.syllables = frozenset(r for r in by_reading if " " not in r)
        self._beginnings = frozenset(s[:n] for s in self.syllables for n in range(1, len(s)))
        self.openings = {r[:n] for r in by_reading if " " in r for n, letter in enumerate(r) if letter == " "}
        self._by_letters: dict[str, tuple[str, ...]] = {}
        for reading in by_reading:
            letters = reading.replace(" ", "")
            self._by_letters[letters] = (*self._by_letters.get(letters, ()), reading)
        self._most_letters = max(map(len, self._by_letters), default=0)
        self.costs = {text: entry[2] for text, entry in by_text.items()}
        self._longest: dict[str, int] = {}  # word that begins with these two characters
        for text in by_text:
            if len(text) > self._longest.get(text[:2], 1):
                self._longest[text[:2]] = len(text)
        self._abbreviated = cache(self._index_by_initials)  # made when the first abbreviation is typed
        self._completed = lru_cache(1 << 12)(self._complete)
        self._paths = lru_cache(1 << 12)(self._paths_to)
        self.find_full_texts = lru_cache(1 << 13)(self._find_full_texts)
        self.rank_candidates = lru_cache(1 << 10)(self._rank_candidates)
        self._splits = lru_cache(1 << 11)(self._split)
        self.find_syllables = lru_cache(1 << 14)(self._find_syllables)
        self.find_last_word = lru_cache(1 << 14)(self._find_last_word)

    def with_words(self, shares: Mapping[str, float]) -> PinyinEngine:
        """Return another engine that also has a person's own words, as a user dictionary has.

        `shares` are of all words that the person types. A word is read as its characters are; what this engine
        holds for likelier stays as it is.

        >>> own = load_engine().with_words({"花呗": 0.02})
        >>> load_engine().sentence("zenmekaitonghuabei"), own.sentence("zenmekaitonghuabei")
        ('怎么开通华北', '怎么开通花呗')
        """
        own_entries: dict[str, Entry] = {}
        for text, share in shares.items():
            reading = self.readings(text)
            if not text or not all(reading):
                raise ValueError(f"{text!r} cannot be typed: give words of simplified Chinese characters only")
            if not 0 < share <= 1:
                raise ValueError(f"the share of {text} is {share}: give a part of all words, above 0 and at most 1")
            if -log(share) < self.costs.get(text, NEVER):
                own_entries[text] = (text, " ".join(reading), -log(share), 0.0)
        entries = (
            entry for entry in self.entries if entry[0] not in own_entries or entry[1] != own_entries[entry[0]][1]
        )
        return PinyinEngine(sorted((*entries, *own_entries.values()), key=itemgetter(2)), self.bigrams)

    def candidates(self, keys: str, context: str = "", limit: int = 20) -> list[str]:
        """Return what the input method offers for the letters `keys` typed after the text `context`."""
        return [text for text, _ in self.rank_candidates(keys, self.find_last_word(context, STARTS), limit)]

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
        paths = self._search(lattice, self.find_last_word(context, STARTS), BEAM, MAX_PER_READING)
        return paths[0][2] if paths else ""

    def decode_slots(self, slots: Sequence[Sequence[tuple[str, float]]], context: str = "") -> str:
        """Return the likeliest text where each position has alternatives `(syllable, cost)`."""
        return self.decode([[(n, s, c) for s, c in slot] for n, slot in enumerate(slots, 1)], context)

    def parse(self, keys: str) -> list[list[tuple[int, str, float]]]:
        """Return the lattice of syllables in `keys`; unfinished ones only where full ones do not suffice."""
        keys = _normalise_keys(keys)
        full: list[list[tuple[int, str, float]]] = [[] for _ in keys]
        for i in range(len(keys)):
            if keys[i] == "'":
                full[i].append((i + 1, "", 0.0))
            for j in range(i + 1, min(i + LONGEST_SYLLABLE, len(keys)) + 1):
                if keys[i:j] in self.syllables:
                    full[i].append((j, keys[i:j], 0.0))
        if _can_reach_end(full):
            return full
        for i, edges in enumerate(full):
            full_ends = {j for j, _, _ in edges}
            for j in range(i + 1, min(i + LONGEST_SYLLABLE, len(keys)) + 1):
                if j not in full_ends and keys[i:j] in self._beginnings:
                    edges.append((j, keys[i:j] + PARTIAL, PARTIAL_COST))
            if not edges or not keys[i].isalpha():
                edges.append((i + 1, keys[i], RAW_COST))
        return full

    def segment(self, text: str) -> tuple[Word, ...]:
        """Split `text` into the likeliest words; a character without a reading stands for itself.

        >>> [word.text for word in load_engine().segment("支付宝还款失败")]
        ['支付宝', '还款', '失败']
        """
        return tuple([self.by_text.get(word) or Word(word, "", UNKNOWN_COST) for word in self.split(text)])

    def split(self, text: str) -> tuple[str, ...]:
        """Return the texts of the words that `segment` gives."""
        return self._splits(text) if len(text) <= LONGEST_CACHED else self._split(text)

    def _split(self, text: str) -> tuple[str, ...]:
        """Return the texts of the likeliest words."""
        cost_of, longest = self.costs.get, self._longest
        size = len(text)
        best = [0.0] * (size + 1)
        ends = [0] * size
        for i in range(size - 1, -1, -1):
            least, end = cost_of(text[i], UNKNOWN_COST) + best[i + 1], i + 1
            if most := longest.get(text[i : i + 2]):
                for j in range(i + 2, min(i + most, size) + 1):
                    cost = cost_of(text[i:j], NEVER) + best[j]
                    if cost < least:
                        least, end = cost, j
            best[i], ends[i] = least, end
        words: list[str] = []
        i = 0
        while i < size:
            words.append(text[i : ends[i]])
            i = ends[i]
        return tuple(words)

    def readings(self, text: str) -> list[str]:
        """Return the syllable of each character of `text`, in context; empty where it has none.

        >>> load_engine().readings("银行行长")
        ['yin', 'hang', 'hang', 'zhang']
        """
        return [syllable for word in self.split(text) for syllable in self.find_syllables(word)]

    def _find_syllables(self, word: str) -> tuple[str, ...]:
        """Return the syllables of a word, in its most common reading; empty ones where it has none."""
        known = self.by_text.get(word)
        return tuple(known.reading.split(" ")) if known else ("",) * len(word)

    def _find_last_word(self, context: str, marks: Sequence[str] = ()) -> str:
        """Return the longest word that `context` ends in, or which of `marks`; nothing where it ends otherwise.

        >>> load_engine().find_last_word("我用支付宝"), load_engine().find_last_word("还款，", STARTS)
        ('支付宝', '，')
        """
        for size in range(min(4, len(context)), 0, -1):
            if (tail := context[-size:]) in self.costs or tail in marks:
                return tail
        return ""

    def _rank_candidates(self, keys: str, last: str, limit: int) -> tuple[tuple[str, float], ...]:
        """Return candidates and their costs: texts for all of `keys` first, then words for its beginning."""
        full_texts = self.find_full_texts(keys, last, limit)
        if len(full_texts) >= limit or not keys:
            return full_texts
        lattice = self.parse(keys)
        shorter = [
            (-end, cost + WORD_COST + unigram, text)
            for end, cost, reading in self._iter_readings(lattice, 0)
            if end < len(lattice)
            for text, _, unigram, _ in self._find_entries(reading)[:limit]
        ]
        ranked = dict(full_texts)
        for _, cost, text in sorted(shorter)[: 2 * limit]:
            ranked.setdefault(text, BEGINNING_COST + cost)
        return tuple(ranked.items())[:limit]

    def _find_full_texts(self, keys: str, last: str, limit: int) -> tuple[tuple[str, float], ...]:
        """Return texts for all of `keys` after the word `last`, and their costs."""
        if not keys or limit < 1:
            return ()
        keys = _normalise_keys(keys)
        costs: dict[str, float] = {}
        full = self._by_letters.get(keys, ())
        for reading in full:
            self._weigh(reading, 0.0, last, limit, costs)
        if not full or min(costs.values()) >= SURE:
            paths: Sequence[TextPath] = self._paths(keys, last) if len(keys) <= LONGEST_TYPED else ()
            if not paths:
                lattice, behind, ahead = _prune_lattice(self.parse(keys))
                for end, cost, reading in self._iter_readings(lattice, 0):
                    if end == len(lattice):
                        self._weigh(reading, cost, last, limit, costs)
                if (least := min(costs.values(), default=NEVER)) >= SURE + ahead[0]:
                    plain = (i for i, edges in enumerate(lattice) if edges and not behind[i])
                    known = {i: paths for i in plain if (paths := self._paths(keys[:i], last))}
                    paths = self._search(lattice, last, QUICK, QUICK, [least - cost for cost in ahead], known)
            if paths:
                cost, _, text = paths[0]
                costs.setdefault(text, cost)
        return tuple(sorted(costs.items(), key=_second)[:limit])

    def _weigh(self, reading: str, cost: float, last: str, limit: int, costs: dict[str, float]) -> None:
        """Add the words of a reading to `costs`, with their costs."""
        row, backoff = self.bigrams.row(last)
        cost += WORD_COST
        for text, _, unigram, rarer in self._find_entries(reading)[:limit]:
            total = cost + (row[text] + rarer if text in row else backoff + unigram)
            if total < costs.get(text, NEVER):
                costs[text] = total

    def _paths_to(self, keys: str, last: str) -> tuple[TextPath, ...]:
        """Return the cheapest texts for whole syllables, by their last words, from those for the letters before."""
        if not keys:
            return ((0.0, last, ""),)
        by_last_word: dict[str, TextPath] = {}
        for cut in range(len(keys) - 1, max(len(keys) - self._most_letters, 0) - 1, -1):
            readings = self._by_letters.get(keys[cut:])
            if readings and (paths := self._paths(keys[:cut], last)):
                contexts = self._contexts(paths)
                for reading in readings:
                    _extend(by_last_word, contexts, 0.0, self._find_entries(reading)[:QUICK])
        return tuple(sorted(by_last_word.values())[:QUICK])

    def _search(
        self,
        lattice: Lattice,
        last: str,
        beam: int,
        max_entries: int,
        limits: Sequence[float] = (),
        known: Mapping[int, Sequence[TextPath]] = NOTHING,
    ) -> Sequence[TextPath]:
        """Return the cheapest texts of a lattice, by a beam over positions and last words.

        `limits` are the most that a way to each position may cost; the ways to some are `known`.
        """
        ends: list[dict[str, TextPath]] = [{} for _ in range(len(lattice) + 1)]
        ends[0][last] = (0.0, last, "")
        for i, edges in enumerate(lattice):
            paths = known[i] if i in known else sorted(ends[i].values())[:beam]
            if limits:
                paths = [path for path in paths if path[0] < limits[i]]
            if not paths:
                continue
            for end, _, passing in (edge for edge in edges if not edge[1]):
                for cost, word, text in paths:
                    if cost + passing < ends[end].get(word, FAR)[0]:
                        ends[end][word] = (cost + passing, word, text)
            contexts = self._contexts(paths)
            for end, cost, reading in self._iter_readings(lattice, i):
                if end not in known:
                    _extend(ends[end], contexts, cost, self._find_entries(reading)[:max_entries])
        return sorted(ends[-1].values())[:beam]

    def _contexts(self, paths: Sequence[TextPath]) -> Sequence[Context]:
        """Return what the next word of each way is weighed with."""
        row = self.bigrams.row
        return [(cost + WORD_COST, text, *row(word)) for cost, word, text in paths]

    def _iter_readings(self, lattice: Lattice, start: int) -> Iterator[tuple[int, float, str]]:
        """Yield (end, cost, reading) of every reading of a word that begins at `start`."""
        size = len(lattice)
        stack: list[tuple[int, str, float, int]] = [(start, "", 0.0, 0)]
        while stack:
            position, reading, cost, length = stack.pop()
            for end, syllable, extra in lattice[position]:
                if not syllable:
                    if length and end < size:
                        stack.append((end, reading, cost + extra, length))
                    continue
                longer = f"{reading} {syllable}" if reading else syllable
                if PARTIAL in longer:
                    known, more = bool(self._find_entries(longer)), length + 1 < LONGEST_ABBREVIATED
                elif syllable in self.syllables:
                    known, more = longer in self.entries_by_reading, longer in self.openings
                else:
                    known, more = not length, False
                if known:
                    yield end, cost + extra, longer
                if more and end < size:
                    stack.append((end, longer, cost + extra, length + 1))

    def _find_entries(self, reading: str) -> Sequence[Entry]:
        """Return the words of a reading, the likeliest first; what has no reading stands for itself."""
        if known := self.entries_by_reading.get(reading):
            return known
        return self._completed(reading) if PARTIAL in reading else ((reading, "", UNKNOWN_COST, 0.0),)

    def _complete(self, reading: str) -> tuple[Entry, ...]:
        """Return the likeliest words for a reading with unfinished syllables, such as `yao j~`."""
        slots = reading.split(" ")
        rough = [s[0] + PARTIAL if s.endswith(PARTIAL) or len(slots) > 2 else s for s in slots]
        entries: Iterable[Entry] = self._abbreviated().get(" ".join(rough), ())
        if rough != slots:
            prefixes = [s[:-1] if s.endswith(PARTIAL) else f"{s} " for s in slots]
            entries = (word for word in entries if all(map(str.startswith, _mark_syllable_ends(word[1]), prefixes)))
        return tuple(islice(entries, MAX_PER_ABBREVIATION))

    def _index_by_initials(self) -> Mapping[str, tuple[Entry, ...]]:
        """Return the words, the likeliest first, by initials, and those of two syllables also by one of them."""
        by_pattern: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            syllables = entry[1].split(" ")
            if len(syllables) == 2:
                first, second = syllables
                by_pattern[f"{first} {second[0]}{PARTIAL}"].append(entry)
                by_pattern[f"{first[0]}{PARTIAL} {second}"].append(entry)
            if len(syllables) <= LONGEST_ABBREVIATED:
                by_pattern[" ".join([s[0] + PARTIAL for s in syllables])].append(entry)
        return {pattern: tuple(entries) for pattern, entries in by_pattern.items()}


class Bigrams:
    """The costs of words after words, in rows that are read when first asked for."""

    def __init__(self, texts: Sequence[str], folder: Path) -> None:
        self._start, self._next, self._cost, self._backoff = (
            memoryview(np.load(folder / f"{name}.npy", mmap_mode="r"))  # slices of it are cheaper than an array's
            for name in ("bigram_start", "bigram_next", "bigram_cost", "backoff")
        )
        self._texts = tuple(texts)
        self._row_of = {mark: len(texts) + n for n, mark in enumerate(STARTS)}
        for n, text in enumerate(self._texts):
            self._row_of.setdefault(text, n)
        self.row = lru_cache(1 << 12)(self._read_row)

    def cost(self, last: str, word: Word) -> float:
        """Return the cost of `word` after the word `last`; of the word alone where `last` is empty.

        A row is sorted by the numbers of its words: most are asked for one word, which is not worth a mapping.
        """
        n, following = self._row_of.get(last), self._row_of.get(word.text)
        if n is None:
            return word.cost
        if following is not None:
            start, end = self._start[n], self._start[n + 1]
            place = bisect_left(self._next, following, start, end)
            if place < end and self._next[place] == following:
                return TENTHS[self._cost[place]] + word.rarer
        return TENTHS[self._backoff[n]] + word.cost

    def costs(self, last: str, words: Iterable[Word]) -> list[float]:
        """Return the costs of many words after the word `last`, each as `cost` does."""
        row, backoff = self.row(last)
        return [row[word.text] + word.rarer if word.text in row else backoff + word.cost for word in words]

    def _read_row(self, last: str) -> tuple[Mapping[str, float], float]:
        n = self._row_of.get(last)
        if n is None:
            return {}, 0.0
        span = slice(self._start[n], self._start[n + 1])
        texts = map(self._texts.__getitem__, self._next[span])
        costs = map(TENTHS.__getitem__, self._cost[span])
        return dict(zip(texts, costs, strict=True)), TENTHS[self._backoff[n]]


_second = itemgetter(1)


def _extend(paths: dict[str, TextPath], contexts: Sequence[Context], cost: float, entries: Sequence[Entry]) -> None:
    """Add the cheapest path to each word of a reading to `paths`."""
    so_far, before, row, backoff = contexts[0]
    rest = contexts[1:]
    for text, _, unigram, rarer in entries:
        least, source = so_far + (row[text] + rarer if text in row else backoff + unigram), before
        for its_cost, its_text, its_row, its_backoff in rest:
            total = its_cost + (its_row[text] + rarer if text in its_row else its_backoff + unigram)
            if total < least:
                least, source = total, its_text
        least += cost
        if text not in paths or least < paths[text][0]:
            paths[text] = (least, text, source + text)


def _to_words(entries: Sequence[Entry]) -> tuple[Word, ...]:
    return tuple(map(Word._make, entries))


def _mark_syllable_ends(reading: str) -> list[str]:
    return [f"{syllable} " for syllable in reading.split(" ")]


def _normalise_keys(keys: str) -> str:
    return keys.replace("lve", "lue").replace("nve", "nue")


def _prune_lattice(lattice: Lattice) -> tuple[Lattice, Sequence[float], Sequence[float]]:
    """Return what of a lattice lies on ways to its end that cost little more than the cheapest.

    And what the cheapest way costs to each position, and from there to the end.
    """
    size = len(lattice)
    behind = [0.0, *[NEVER] * size]
    ahead = [*[NEVER] * size, 0.0]
    for i, edges in enumerate(lattice):
        for end, _, cost in edges:
            behind[end] = min(behind[end], behind[i] + cost)
    for i in range(size - 1, -1, -1):
        ahead[i] = min((cost + ahead[end] for end, _, cost in lattice[i]), default=NEVER)
    pruned = [
        [edge for edge in edges if behind[i] + edge[2] + ahead[edge[0]] <= ahead[0]] for i, edges in enumerate(lattice)
    ]
    return pruned, behind, ahead


def _can_reach_end(lattice: Lattice) -> bool:
    reached = {0}
    for i, edges in enumerate(lattice):
        if i in reached:
            reached.update(end for end, _, _ in edges)
    return len(lattice) in reached


@cache
def load_engine() -> PinyinEngine:
    """Return the embedded engine; the first call takes a fraction of a second."""
    lines = (DATA / "words.tsv").read_text(encoding="utf-8").splitlines()
    entries = []
    usual: dict[str, float] = {}
    for line in lines:  # likeliest first
        text, reading, centi = line.split("\t")
        cost = int(centi) / 100
        entries.append((text, reading, cost, cost - usual.setdefault(text, cost)))
    return PinyinEngine(entries, Bigrams([entry[0] for entry in entries], DATA))
