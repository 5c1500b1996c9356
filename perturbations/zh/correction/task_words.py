"""Learn a corrector from the clean texts of a task: its words, its sequences of characters, and how careful to be.

- A model of characters is learned from the texts. The cost of a word mixes this model with that of the engine, in the
  share that best predicts texts held out.
- Candidates for up to four characters are the recurring strings of the texts that sound the same, or are one slip of
  the keys away.
- The price of a replacement is the lowest at which the texts held out stay as they are, but for three characters in a
  thousand (most of those are typos).
- The last characters of a replacement must have been seen before the characters that follow.
- A text that is likelier under the engine alone is not of the task, and is almost never changed. Nor are any texts
  where the task consists of fixed phrases with names, since a rare name cannot be told from a misspelt one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise, zip_longest
from math import exp, log
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from lapsus.core.edits import Edit, trim_edit
from lapsus.io.readers import FileFormatError, decode_lines, parse_json
from lapsus.perturbations.zh.correction.language_model import EDGE, ORDER, CharacterModel, ReadingIndex
from lapsus.perturbations.zh.input_method.pinyin import UNKNOWN_COST, load_engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Candidates = Mapping[str, Sequence[tuple[str, float]]]  # (text, price), by first character

CHINESE = re.compile(r"[\u4e00-\u9fff]+")
UNIT = re.compile(r"[A-Za-z]+|.", re.DOTALL)
OTHER_COST = 5.0  # of a mark, a digit, a Latin word
PRICES = {  # nats, found on the half of READIN's rows that is not judged
    "same": 4.0,
    "accent": 7.0,
    "missed": 9.0,
    "swapped": 9.0,
    "added": 11.0,
    "beside": 11.0,
    "other": 11.0,
    "initials": 12.0,
}
FOREIGN = 16.0  # on top, in a text that is not of the task
CAUTIONS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0)  # on top in one that is, to choose from
CHANGED = 0.003  # characters of clean texts that may be changed
NEW, FIXED = 0.3, 0.65  # pairs of characters never seen, and the share of the texts' model: beyond both, names
FEW, HELD_OUT = 10, 400  # texts
RECURRING = 2
LONGEST_STRING = 3
SPAN = 4  # characters, or Latin words
LONGEST_READING = 18
BEAM = 4
SLACK = 6.0  # nats that a path may cost more than the text as it is
UNSURE = 0.01  # a text this unlikely to be of the task is left alone
PRIOR, EVIDENCE = -3.0, 5.0  # nats: what must be outweighed, and what one word may speak for the task


@dataclass(frozen=True, slots=True)
class Corpus:
    """Clean texts to learn from; two with the same content are equal."""

    texts: tuple[str, ...] = field(compare=False, repr=False)
    path: str = field(default="", compare=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        texts = tuple(dict.fromkeys(text.strip() for text in self.texts if CHINESE.search(text)))
        if not texts:
            source = self.path or "what is to be learned from"
            raise ValueError(
                f"{source} holds no Chinese text, by line or as strings of JSON lines; give clean sentences"
            )
        object.__setattr__(self, "texts", texts)
        content = EDGE.join(texts).encode("utf-8", "surrogatepass")
        object.__setattr__(self, "digest", sha256(content).hexdigest()[:12])

    @classmethod
    def read(cls, path: str, digest: str = "") -> Corpus:
        """Read a file: one text per line, or JSON lines, of which each string counts.

        With a digest, the content must still be what it was.
        """
        try:
            with Path(path).open("rb") as file:
                lines = "".join(decode_lines(file, path)).splitlines()
        except OSError as error:
            raise ValueError(f"{path} cannot be read ({error.strerror}); give a file of clean texts") from None
        corpus = cls(tuple(text for line in lines for text in _extract_strings(line)), path)
        if digest and digest != corpus.digest:
            raise ValueError(f"{path} is not what it was: its digest is {corpus.digest}, not {digest}")
        return corpus

    def __repr__(self) -> str:
        if self.path:
            return f"Corpus.read({self.path!r}, {self.digest!r})"
        return f"Corpus(<{len(self.texts)} texts, {self.digest}>)"


def _extract_strings(line: str) -> list[str]:
    if line.startswith("{"):
        try:
            return [value for value in parse_json(line, "").values() if isinstance(value, str)]
        except FileFormatError:
            pass  # a line of text that begins with a brace
    return [line]


class _EditPath(NamedTuple):
    """The likeliest reading of a text up to some place, and what it replaces."""

    cost: float
    word: str
    before: str
    edits: tuple[tuple[int, int, str], ...]


_EditPaths: TypeAlias = "dict[tuple[str, str], _EditPath]"  # by their last word and what the next is judged after


class TaskModel:
    """A corrector for texts like those of a corpus."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.engine = load_engine()
        self.unknown_cost = lru_cache(1 << 16)(self._unknown_cost)
        self._learn_strings(texts)
        step = max(4, len(texts) // HELD_OUT)
        held_out = texts[::step] if len(texts) >= step else ()
        self.model = CharacterModel(text for n, text in enumerate(texts) if n % step or not held_out)
        self.share = self._fit_share(held_out)
        has_names = len(held_out) > FEW and self._share_unseen(held_out) > NEW and self.share > FIXED
        self.caution = CAUTIONS[-1] if has_names or not held_out else self._choose_caution(held_out)
        self.model = CharacterModel(texts)

    def _learn_strings(self, texts: Iterable[str]) -> None:
        """Collect the strings that recur, by their letters and by their initials."""
        counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
        for text in texts:
            for match in CHINESE.finditer(text):
                characters, readings = match.group(), self.engine.readings(match.group())
                counts.update(
                    (characters[i:j], tuple(readings[i:j]))
                    for i in range(len(characters))
                    for j in range(i + 1, min(i + LONGEST_STRING, len(characters)) + 1)
                )
        self.strings: dict[str, int] = {}
        self._by_letters = defaultdict(list)
        self._by_initials = defaultdict(list)
        for (string, syllables), count in counts.most_common():  # the usual reading first
            if count < RECURRING:
                break
            if string in self.strings or not all(syllables):
                continue
            self.strings[string] = count
            self._by_letters["".join(syllables)].append(string)
            if len(string) > 1 and count > RECURRING:
                self._by_initials["".join(syllable[0] for syllable in syllables)].append(string)
        self._readings = ReadingIndex(self._by_letters)
        self.find_candidates = lru_cache(1 << 13)(self._find_candidates)

    def _find_candidates(self, letters: str, initials: str) -> Candidates:
        """Return what may have been meant by letters, and by a word of these initials."""
        prices = dict.fromkeys(self._by_initials.get(initials, ()), PRICES["initials"])
        for reading, slip in self._readings.find_near(letters):
            prices |= dict.fromkeys(self._by_letters[reading], PRICES[slip])
        prices |= dict.fromkeys(self._by_letters.get(letters, ()), PRICES["same"])
        by_first_character = defaultdict(list)
        for text, price in prices.items():
            by_first_character[text[0]].append((text, price))
        return by_first_character

    def _plain_cost(self, last: str, word: str) -> float:
        """Return the cost of `word` after `last` under the engine alone."""
        row, backoff = self.engine.bigrams.row(last)
        if word in row:
            return row[word]
        alone = self.engine.costs.get(word)
        return self.unknown_cost(word) if alone is None else backoff + alone

    def _unknown_cost(self, word: str) -> float:
        """Return the cost of what the engine does not know: that of its characters."""
        if not CHINESE.match(word):
            return OTHER_COST
        return sum(self.engine.costs.get(c, UNKNOWN_COST) for c in word)

    def _iter_evidence(self, text: str) -> Iterator[tuple[float, float]]:
        """Yield the probability of each Chinese word under the texts' model and under the engine."""
        last, before = "", EDGE
        for word in self.engine.split(text):
            if CHINESE.match(word):
                yield self.model.text_probability(word, before), exp(-self._plain_cost(last, word))
            last, before = word, (before + word)[1 - ORDER :]

    def _fit_share(self, texts: Iterable[str]) -> float:
        """Return the weight of the texts' model that predicts other texts best."""
        pairs = [pair for text in texts for pair in self._iter_evidence(text)]
        share = 0.5
        for _ in range(8 if pairs else 0):
            share = sum(
                share * corpus_probability / (share * corpus_probability + (1 - share) * plain)
                for corpus_probability, plain in pairs
            ) / len(pairs)
        return min(max(share, 0.01), 0.99)

    def _share_unseen(self, texts: Iterable[str]) -> float:
        """Return which part of the pairs of characters in other texts was never seen."""
        pairs = [pair for text in texts for pair in pairwise(EDGE + text + EDGE)]
        return sum(not self._has_pair(*pair) for pair in pairs) / max(len(pairs), 1)

    def has_seen(self, text: str, edit: Edit) -> bool:
        """Say whether the texts hold every pair of characters of what is to be replaced, and its neighbours."""
        edged = f"{EDGE}{text}{EDGE}"
        return all(self._has_pair(*pair) for pair in pairwise(edged[edit.start : edit.end + 2]))

    def _has_pair(self, first: str, second: str) -> bool:
        return second in self.model.followers.get(first, ())

    def _choose_caution(self, texts: Iterable[str]) -> float:
        """Return the least caution that leaves clean texts alone."""
        allowed = CHANGED * sum(map(len, texts))
        for caution in CAUTIONS:
            changes = {text: self.edits(text, caution) for text in texts}
            if sum(max(end - start, len(new)) for edits in changes.values() for start, end, new in edits) <= allowed:
                return caution
            texts = [text for text, edits in changes.items() if edits]  # more caution changes no others
        return CAUTIONS[-1]

    def task_probability(self, text: str) -> float:
        """Return how sure it is that a text is like those learned from, from 0 to 1."""
        share = self.share
        odds = PRIOR + sum(min(log(share * a / b + 1 - share), EVIDENCE) for a, b in self._iter_evidence(text))
        return 1 / (1 + exp(-max(-30.0, min(odds, 30.0))))

    def log_odds(self, text: str, edit: Edit) -> float:
        """Return how much likelier a text is with a change than without under the texts' model, as a logarithm."""
        after = text[edit.end : edit.end + ORDER - 1] + EDGE[: edit.end + ORDER - 1 > len(text)]
        before = (EDGE + text[: edit.start])[1 - ORDER :]
        cost = self.model.cost
        return cost(text[edit.start : edit.end] + after, before) - cost(edit.text + after, before)

    def edits(self, text: str, caution: float) -> list[Edit]:
        """Return the corrections of a text; each costs at least `caution` on top."""
        probability = self.task_probability(text)
        if probability < UNSURE:
            return []
        share = self.share * probability
        min_price = caution * probability + FOREIGN * (1 - probability)
        units = list(UNIT.finditer(text))
        letters = self._spell_units(text, units)
        ends: list[_EditPaths] = [{} for _ in range(len(text) + 1)]
        ends[0]["", EDGE] = _EditPath(0.0, "", EDGE, ())
        cost_limits = [cost + SLACK for cost in self._estimate_unchanged_costs(text, units, share)]
        for n, unit in enumerate(units):
            start = unit.start()
            unchanged = list(self._iter_unchanged_words(text, unit))
            spans = list(self._iter_spans(text, units, letters, n))
            for path in sorted(ends[start].values())[:BEAM]:
                following = self.model.followers.get(path.before[-1:], {})
                steps = [
                    (end, word, price + min_price)
                    for end, candidates in spans
                    if path.cost + min_price < cost_limits[end]
                    for first in candidates
                    if first in following
                    for word, price in candidates[first]
                    if path.cost + price + min_price < cost_limits[end] and word != text[start:end]
                ]
                for end, word, price in unchanged + steps:
                    self._step(ends[end], path, (start, end, word), price, share)
        likelihood = self.model.probability
        best = min(
            ends[-1].values(), key=lambda p: (p.cost - log(share * likelihood(p.before, EDGE) + 0.05 * (1 - share)), p)
        )
        return list(self._keep_seen(text, [trim_edit(i, text[i:j], new) for i, j, new in best.edits]))

    def _estimate_unchanged_costs(self, text: str, units: Sequence[re.Match[str]], share: float) -> list[float]:
        """Return about what the text costs up to each place if nothing is replaced."""
        ends: list[_EditPaths] = [{} for _ in range(len(text) + 1)]
        ends[0]["", EDGE] = _EditPath(0.0, "", EDGE, ())
        costs = [0.0] * len(ends)
        for unit in units:
            path = min(ends[unit.start()].values())
            costs[unit.start()] = path.cost
            for end, word, price in self._iter_unchanged_words(text, unit):
                self._step(ends[end], path, (unit.start(), end, word), price, share)
        costs[-1] = min(ends[-1].values()).cost
        return costs

    def _step(self, paths: _EditPaths, path: _EditPath, edit: tuple[int, int, str], price: float, share: float) -> None:
        """Lengthen a path by a word, which is an edit where it has a price."""
        cost, last, before, edits = path
        word = edit[2]
        likely = share * self.model.text_probability(word, before) + (1 - share) * exp(-self._plain_cost(last, word))
        total = cost + price - log(likely + 1e-30)
        after = (before + word)[1 - ORDER :]
        known = paths.get((word, after))
        if known is None or total < known.cost:
            paths[word, after] = _EditPath(total, word, after, (*edits, edit) if price else edits)

    def _keep_seen(self, text: str, edits: Sequence[Edit]) -> Iterator[Edit]:
        """Keep the edits whose end has been seen before what follows it in the corrected text."""
        for edit, following in zip_longest(edits, edits[1:]):
            touches = following is not None and following.start == edit.end and following.text
            after = following.text[:1] if following and touches else text[edit.end : edit.end + 1] or EDGE
            if self._has_pair((text[: edit.start] + edit.text)[-1:] or EDGE, after):
                yield edit

    def _spell_units(self, text: str, units: Sequence[re.Match[str]]) -> list[str]:
        """Return the letters of each unit: its reading, or itself where it is Latin."""
        readings = self.engine.readings(text)
        return [
            unit.group().lower() if unit.group().isascii() and unit.group().isalpha() else readings[unit.start()]
            for unit in units
        ]

    def _iter_unchanged_words(self, text: str, unit: re.Match[str]) -> Iterator[tuple[int, str, float]]:
        """Yield (end, word, no price) of each word that the text may hold from a unit on."""
        start, end = unit.span()
        yield end, unit.group(), 0.0
        for longer in range(end + 1, min(start + SPAN, len(text)) + 1):
            word = text[start:longer]
            if word in self.engine.by_text or word in self.strings:
                yield longer, word, 0.0

    def _iter_spans(
        self, text: str, units: Sequence[re.Match[str]], letters: Sequence[str], n: int
    ) -> Iterator[tuple[int, Candidates]]:
        """Yield (end, what may be meant) of each stretch from unit `n` on."""
        typed, initials = "", ""
        for unit, spelling in zip(units[n : n + SPAN], letters[n : n + SPAN], strict=True):
            typed, initials = typed + spelling, initials + spelling[:1]
            if not spelling or len(typed) > LONGEST_READING:
                return
            word = text[units[n].start() : unit.end()]
            abbreviated = len(initials) > 1 and word in self.engine.by_text  # input methods offer words
            if candidates := self.find_candidates(typed, initials if abbreviated else ""):
                yield unit.end(), candidates


@lru_cache(4)
def load_task_model(corpus: Corpus) -> TaskModel:
    """Return the corrector for a corpus; learning takes a few seconds for tens of thousands of texts."""
    return TaskModel(corpus.texts)
