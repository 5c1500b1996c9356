"""Dictate Chinese with an accent into a recogniser: modelled noise, not the output of one.

The recogniser knows frequent words well and guesses at the others: a stretch that it misses comes back as words that
sound like it with this speaker's accent, or not at all. Numbers come back as digits, Latin words hardly
ever, and the punctuation is the recogniser's own. What the parameters are fitted on is told in docs/fidelity.md.

>>> from lapsus.perturbations import apply, perturb
>>> text = "傅昆宝家的厨房收拾得干干净净，桌上放着一盆南瓜头菜"
>>> apply(text, perturb(ZhSpeech.annotator(1), text, seed=1, key="row-3"))
'长保家的厨房收拾的干干净净，桌上防止一盆南瓜都猜。'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import exp, log
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

from lapsus.core.edits import Edit, trim_edit
from lapsus.perturbations.streams import draw_index
from lapsus.perturbations.zh.input_method.pinyin import Word, load_engine
from lapsus.perturbations.zh.speech.accents import (
    ACCENTS,
    Hearing,
    load_fitted,
    load_hearing,
    read_with_tones,
    speaker_difficulty,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

LONGEST = 20_000  # characters that are dictated; the rest of a text stays as it is
HAN = "\u4e00-\u9fff"
PARTS = re.compile(rf"[{HAN}]+|[A-Za-z]+|\d+(?:时|点半)(?![间期代候光])|\d[\d,.]*\d|\d|[^\w]+|.", re.DOTALL)
ASKING = re.compile(r"吗|呢|什么|怎么|为何|多少|几|哪|谁|(.)[不没]\1")
COUNTED = (  # words, before | and the next character, that are written with a digit, and how often
    (re.compile(r"第[一二三四五六七八九].?\|.?"), 0.6),
    (re.compile(r"[四五六七八九](\|[个名条级]|[个名条级].?\|.?)"), 0.85),
    (re.compile(r"[四五六七八九]\|.?"), 0.35),
    (re.compile(r"一[个名条级]?\|.?"), 0.05),
)
DIGITS = str.maketrans("一二三四五六七八九", "123456789")
SINGLE = dict(zip("2345678", "两三四五六七八", strict=True))
COUNTERS, AS_WORD = "个名天处架年", 0.5  # before these a single digit is written as a word so often
GROUPED = 0.09  # of four digits being written as 3,500; longer numbers always are
ALOUD = "%％℃°/~"  # marks that are read as words
TIME = (":", "：")  # between digits
MARKS = (  # what a run with such a mark becomes: the upper limits of a draw; nothing above the last
    ("。！？!?", ((0.92, "。"), (1.0, "，"))),
    ("；;", ((0.05, "。"), (0.93, "，"))),
    ("、：:", ((0.54, "，"),)),
    ("-—", ((0.4, "，"),)),
    (" ", ((0.5, "，"),)),
    ("（()）…", ((0.25, "，"),)),
)
OTHER_MARKS = ((0.03, "，"),)
SHORTEST_CLAUSE, SHORT_CLAUSE = 3, 5  # characters
SAYING = frozenset({"表示", "说", "称", "认为", "要求", "指出"})  # what is said follows, often without a comma
SENTENCE_ENDS = MARKS[0][0]
ENDING = 12  # characters of the end of a sentence that tell whether it is a question
DEAREST = 20.0  # nats: what is rarer is as good as unknown
NEWER = frozenset({"新冠"})  # our list knows it; READIN's recogniser lost it in 9 of 10 places
WEAK = "儿啊呀哦"  # ends of words that recognisers lose though the word was heard
STRONG = frozenset({"女儿", "婴儿", "幼儿", "少儿", "胎儿", "孤儿", "健儿", "混血儿"})  # 儿 is a child here, and stays
ENCLITIC = "的了们着过地得"  # no pause comes before these
PAUSE_AFTER_SHORT, PAUSE_AFTER_LONG = 0.57, 1.2  # how much likelier a pause is than after any word
FOREIGN = ("应为", "应用", "因为", "应问", "一文")  # a Latin word that is heard as Chinese
ENGLISH = ("so", "you", "see", "how", "now", "easy", "OK", "word", "interest", "Tom", "but", "yeah")  # and the reverse
SPELLED = {
    "bi": "b",
    "xi": "c",
    "di": "d",
    "yi": "e",
    "ai": "i",
    "an": "n",
    "ou": "o",
    "pi": "p",
    "ti": "t",
    "wei": "v",
}
STRAY = ("de5", "yi1", "shi4", "le5", "zai4", "you3")
GROUPS = (2, 2, 2, 2, 2, 3, 1)  # syllables of the words that a missed stretch is heard as
SIMILAR_DIGITS = "4175"  # si, yao, qi, wu
RECOGNISED = ("accented Mandarin", "standard Mandarin", "AISHELL-1", "MagicData")  # transcripts that are fitted on
BURDEN = 2.5  # how much more a speaker is missed, on the logit, for each nat per syllable less clear than the others
Usual: TypeAlias = "tuple[tuple[float, str], ...]"  # the upper limits of a draw; nothing above the last


@dataclass(frozen=True, slots=True)
class Speaker:
    """One person at the recogniser; probabilities, unless said otherwise."""

    sounds: str  # whose sounds: a name among those fitted, or a speaker of READIN's Table 8
    hazard: tuple[float, ...]  # of a word being missed: the weights of its `traits`, on the logit
    own: Mapping[str, float]  # on the logit: on top, for words that are missed more or less often than their traits say
    spread: tuple[float, ...]  # on the logit: of texts, for all speakers; for this one; of words in a text, for all
    lost: tuple[float, ...]  # of a missed word leaving nothing: of one character, of two, of more
    silent: float  # of a missed stretch leaving nothing
    swallowed: float  # of a syllable of a regrouped stretch being swallowed
    added: float  # of a sound too many, per missed stretch
    weak: tuple[float, ...]  # of each of `WEAK` being lost
    usual: Mapping[str, Usual]  # what is often written for a word that was heard
    figures: bool  # whether the recogniser writes digits for words, such as 第1
    latin: bool  # whether it writes Latin letters for what it missed
    regrouped: tuple[float, ...]  # of a missed word, of a longer stretch, being heard as other words than it has
    halting: float  # of a comma before, or after, a missed stretch
    omitted: float  # of a clause left out
    ended: float  # of stopping before the end
    temperature: float  # how freely the recogniser guesses: a factor
    language: float  # how much it listens to its language model: a factor
    breaks: tuple[float, ...]  # of a comma lost, by `break_after`
    pause: float  # of a comma too many, after any word
    foreign: tuple[float, ...]  # of a Latin word announced as one, of one left out
    number: float  # of a number misheard


@cache
def load_speakers() -> dict[str, Speaker]:
    """Return who was fitted, the annotators of READIN and four recognisers' speakers, and the ten of its Table 8."""

    def make_speaker(habits: dict[str, Any]) -> Speaker:
        frozen: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in habits.items()}
        usual = {word: cumulate(shares) for word, shares in habits["usual"].items()}
        return Speaker(**frozen | {"usual": usual})

    constant, *weights = load_fitted()["anyone"]["hazard"]
    by_name = {
        habits["sounds"]: make_speaker(habits)
        for habits in (*load_fitted()["annotators"], *load_fitted()["recognisers"])
    }
    for home in (accent.home for accent in ACCENTS):
        hazard = [constant + BURDEN * speaker_difficulty(home), *weights]
        by_name[home] = make_speaker(load_fitted()["anyone"] | {"sounds": home, "hazard": hazard})
    return by_name


def cumulate(shares: Mapping[str, float]) -> Usual:
    """Return the upper limits of a draw of which each of some words comes out.

    >>> cumulate({"了": 0.5, "啊": 0.25})
    ((0.5, '了'), (0.75, '啊'))
    """
    return tuple(zip(accumulate(shares.values()), shares, strict=True))


@dataclass(frozen=True, slots=True)
class ZhSpeech:
    """A person dictating a text, and what a recogniser could have written down.

    Args:
        who: Whose voice: "annotator 1" to "annotator 3", the home and age of a speaker of READIN's Table 8, or whose
            transcripts a profile was fitted on: "accented Mandarin", "standard Mandarin", "AISHELL-1" or "MagicData".
        cut_at_comma: Whether a text ends at its first ASCII comma, as READIN's do.

    >>> ZhSpeech.speaker(5)
    ZhSpeech(who='Datong, 32', cut_at_comma=False, name='zh_speech', version='5')
    """

    who: str = "annotator 1"
    cut_at_comma: bool = False
    name: str = "zh_speech"
    version: str = "5"

    def __post_init__(self) -> None:
        known = (*(f"annotator {n}" for n in (1, 2, 3)), *RECOGNISED, *(accent.home for accent in ACCENTS))
        if self.who not in known:
            raise ValueError(f"who is {self.who!r}; choose one of {'; '.join(known)}")

    @classmethod
    def annotator(cls, number: int) -> ZhSpeech:
        """Return one of the three of the `-sim` tracks, who saw a text only up to its first ASCII comma."""
        return cls(f"annotator {number}", cut_at_comma=True)

    @classmethod
    def speaker(cls, number: int) -> ZhSpeech:
        """Return one of the ten speakers of READIN's Table 8, by the sounds of their region."""
        if not 1 <= number <= len(ACCENTS):
            raise ValueError(f"there is no speaker {number!r}; choose one from 1 to {len(ACCENTS)}")
        return cls(ACCENTS[number - 1].home)

    def edits(self, text: str, rng: Random) -> list[Edit]:
        """Propose what the recogniser makes of the text."""
        if not text.strip() or self.untouched(text):
            return []
        # A stream for each speaker: with a shared one, all would be missed at the same places.
        speaker_rng = Random(f"{int(rng.random() * 2**53)}/{self.who}")
        return _ChineseDictation(
            load_speakers()[self.who], text, speaker_rng.random, cut_at_comma=self.cut_at_comma
        ).run()

    def untouched(self, text: str) -> str:
        """Return why a text is left as it is; nothing where it is dictated.

        >>> ZhSpeech().untouched("国" * 30_000)
        'nobody dictates more than 20000 characters'
        """
        return f"nobody dictates more than {LONGEST} characters" if len(text) > LONGEST else ""


def iter_word_features(words: Sequence[Word], hearing: Hearing, before: str) -> Iterator[tuple[float, ...]]:
    """Yield, for each word of a stretch, the numbers that its chance of being missed depends on.

    These are: one; its rarity in nats; its surprise after the word before, in nats; whether it has one
    character, and whether more than two; whether it is the first of the text; whether a digit stands before it; how
    unclear its sounds are, in nats. `before` is the character before the stretch; nothing where the text begins.
    """
    cost = load_engine().bigrams.cost
    last = ""
    for number, word in enumerate(words):
        size = len(word.text)
        difficulty = hearing.measure_difficulty(word.reading) if word.reading else 2.0
        rarity, surprise = min(word.cost, DEAREST), min(cost(last, word), DEAREST)
        is_first, follows_digit = number == 0 and not before, number == 0 and before.isdigit()
        yield (
            1.0,
            rarity,
            surprise,
            float(size == 1),
            float(size > 2),
            float(is_first),
            float(follows_digit),
            difficulty,
        )
        last = word.text


def classify_comma(clause: int, word: str) -> int:
    """Return the kind of a comma: 0 to 2 by how many characters its clause has, 3 where a verb of saying ends it."""
    return 3 if word in SAYING else (clause > SHORTEST_CLAUSE) + (clause > SHORT_CLAUSE)


def to_logistic(number: int) -> float:
    """Spread 32 bits over the logit: a standard logistic variate, of standard deviation 1.8.

    >>> to_logistic(2**31 - 1) < 0 < to_logistic(2**31)
    True
    """
    share = (number + 0.5) / 2**32
    return log(share / (1 - share))


class _ChineseDictation:
    """The dictation of one text: its random draws, and the edits so far."""

    def __init__(self, speaker: Speaker, text: str, draw: Callable[[], float], *, cut_at_comma: bool) -> None:
        self.speaker, self.text, self.draw, self.cut_at_comma = speaker, text, draw, cut_at_comma
        self.hearing, self.engine = load_hearing(speaker.sounds), load_engine()
        self.edits: list[Edit] = []
        self.last = ""  # the word before
        self.missed: list[tuple[int, Word]] = []  # the words of the stretch being missed, and where they start
        self.astray = False  # whether the word before was missed
        self.clause = 0  # characters since the last mark
        self.sentence = 0  # where the sentence begins
        self.hard = crc32(text.encode("utf-8", "replace"))  # how hard a text is, is the same for every speaker
        self.mood = speaker.spread[0] * to_logistic(self.hard) + speaker.spread[1] * to_logistic(int(draw() * 2**32))

    def run(self) -> list[Edit]:
        """Go through the text from left to right."""
        omitted, start, end = False, len(self.text), self.end()
        for match in PARTS.finditer(self.text):
            part = match.group()
            if match.start() >= end or (match.end() == len(self.text) and not part[0].isalnum()):
                start = match.start() + (part[0] in ALOUD)
                break
            if not part[0].isalnum():
                self.flush()
                self.write_mark(part, match.start())
                omitted = self.draw() < self.speaker.omitted
            elif omitted:
                self.replace(match.start(), match.end(), "")
            elif part[0] > "\u2fff":
                self.hear_chinese(part, match.start())
            else:
                self.flush()
                self.hear_foreign(part, match.start())
        self.flush()
        is_question = self.sounds_like_question(start) and not self.text.endswith("。")
        self.replace(start, len(self.text), "？" if is_question else "。")
        return self.edits

    def sounds_like_question(self, end: int) -> bool:
        """Return whether the end of the sentence so far sounds like a question."""
        return ASKING.search(self.text, max(end - ENDING, self.sentence), end) is not None

    def end(self) -> int:
        """Return where the speaker stops."""
        end = len(self.text)
        if self.draw() < self.speaker.ended:
            end = int(end * (0.15 + 0.8 * self.draw()))
        comma = self.text.find(",") if self.cut_at_comma else -1
        if comma > 0 and not self.text[comma + 1 : comma + 2].isdigit():
            end = min(end, comma)
        return end

    def replace(self, start: int, end: int, new: str) -> None:
        """Record an edit, without what it leaves as it is."""
        if (old := self.text[start:end]) != new:
            self.edits.append(trim_edit(start, old, new))

    def hear_chinese(self, part: str, start: int) -> None:
        """Hear a stretch of Chinese, word by word."""
        *weights, astray_weight = self.speaker.hazard
        words = self.engine.segment(part)
        before = self.text[max(start - 1, 0) : start]
        for word, trait in zip(words, iter_word_features(words, self.hearing, before), strict=True):
            own = self.speaker.own.get(word.text, 0.0)
            own += self.speaker.spread[2] * to_logistic(crc32(b"%d" % start, self.hard))
            logit = self.mood + own + sum(weight * value for weight, value in zip(weights, trait, strict=True))
            if word.text in NEWER or self.draw() < 1 / (1 + exp(-logit - astray_weight * self.astray)):
                self.missed.append((start, word))
                self.astray = True
            else:
                self.flush(word)
                self.astray = False
                self.write_heard(word.text, start)
            start += len(word.text)
            self.clause += len(word.text)

    def write_heard(self, word: str, start: int) -> None:
        """Write down a word that was heard."""
        end = start + len(word)
        new = self.spell_word(word, self.text[end : end + 1])
        if new != word:
            self.replace(start, end, new)
        elif (place := WEAK.find(word[-1])) >= 0 and word not in STRONG and self.draw() < self.speaker.weak[place]:
            self.replace(end - 1, end, "")
        chance = self.speaker.pause * (PAUSE_AFTER_LONG if len(word) > 1 else PAUSE_AFTER_SHORT)
        if self.draw() < chance and self.text[end : end + 1].isalnum() and self.text[end] not in ENCLITIC:
            self.replace(end, end, "，")
        self.last = word

    def spell_word(self, word: str, following: str) -> str:
        """Return what is written for a word that was heard, before a character."""
        chance = self.draw()
        if self.speaker.figures:
            before = f"{word}|{following}"
            often = next((often for counted, often in COUNTED if counted.fullmatch(before)), 0.0)
            if chance < often:
                return word.translate(DIGITS)
        return next((spelling for limit, spelling in self.speaker.usual.get(word, ()) if chance < limit), word)

    def flush(self, following: Word | None = None) -> None:
        """Write down the missed stretch as it was heard, before the word that follows."""
        if not self.missed:
            return
        speaker, draw = self.speaker, self.draw
        start, end = self.missed[0][0], self.missed[-1][0] + len(self.missed[-1][1].text)
        words = [word for _, word in self.missed if draw() >= speaker.lost[min(len(word.text), 3) - 1]]
        words = [] if draw() < speaker.silent else words
        self.missed = []
        groups = [(read_with_tones(word), word.text) for word in words]
        if draw() < speaker.regrouped[len(words) > 1]:
            groups = self.regroup([syllable for reading, _ in groups for syllable in reading.split()])
        if draw() < speaker.added:
            groups.insert(int(draw() * (len(groups) + 1)), (STRAY[int(draw() * len(STRAY))], ""))
        within = start > 0 and self.text[start - 1].isalnum() and not (self.edits and self.edits[-1].end == start)
        new = "，" if draw() < speaker.halting and within else ""
        for number, (reading, text) in enumerate(groups, 1):
            new += self.guess(reading, text, following if number == len(groups) else None)
        self.replace(start, end, new + ("，" if draw() < speaker.halting and following else ""))

    def regroup(self, syllables: list[str]) -> list[tuple[str, str]]:
        """Cut syllables into words anew, swallowing some."""
        heard = [syllable for syllable in syllables if self.draw() >= self.speaker.swallowed] or syllables[:1]
        groups = []
        while heard:
            size = GROUPS[int(self.draw() * len(GROUPS))]
            groups.append((" ".join(heard[:size]), ""))
            heard = heard[size:]
        return groups

    def guess(self, reading: str, text: str, following: Word | None) -> str:
        """Return a word that sounds like the reading and is not the text."""
        chance = self.draw()
        if chance < 0.004 and self.speaker.latin:
            return ENGLISH[int(self.draw() * len(ENGLISH))]
        if reading[:-1] in SPELLED and chance < 0.06 and self.speaker.latin:
            return SPELLED[reading[:-1]]
        candidates = (
            [(cost, word) for cost, word in self.hearing.find_near_homophones(reading) if word.text != text]
            if reading
            else []
        )
        if not candidates:
            parts = reading.split()
            return "".join(self.guess(part, "", None) for part in parts) if len(parts) > 1 else text
        bigrams, language = self.engine.bigrams, self.speaker.language
        costs = bigrams.costs(self.last, (word for _, word in candidates))
        scores = [heard + language * cost for (heard, _), cost in zip(candidates, costs, strict=True)]
        if following:
            fits = (language * (bigrams.cost(word.text, following) - following.cost) for _, word in candidates)
            scores = [score + fit for score, fit in zip(scores, fits, strict=True)]
        least = min(scores)
        weights = (exp((least - score) / self.speaker.temperature) for score in scores)
        self.last = candidates[draw_index(weights, self.draw())][1].text
        return self.last

    def write_mark(self, part: str, start: int) -> None:
        """Put the recogniser's own mark, or none."""
        choices = next((choices for marks, choices in MARKS if not set(marks).isdisjoint(part)), OTHER_MARKS)
        if "，" in part:
            choices = ((self.speaker.breaks[classify_comma(self.clause, self.last)], ""), (1.0, "，"))
        chance = self.draw()
        new = next((mark for limit, mark in choices if chance < limit), "")
        if part in TIME and self.text[start - 1 : start].isdigit() and self.text[start + 1 : start + 2].isdigit():
            new = ":"
        if not set(SENTENCE_ENDS).isdisjoint(part):
            new = "？" if new == "。" and not set("？?").isdisjoint(part) and self.sounds_like_question(start) else new
            self.sentence = start + len(part)
        self.replace(start, start + len(part), (part[0] if part[0] in ALOUD else "") + new)
        self.clause, self.last = 0, ""

    def hear_foreign(self, part: str, start: int) -> None:
        """Hear a number, a Latin word, or a character of another script, which stays."""
        new = part
        if part[0].isdigit():
            new = self.write_number(part, self.text[start + len(part) : start + len(part) + 1])
        elif part.isascii():
            announced, left_out = self.speaker.foreign
            chance = self.draw()
            heard = FOREIGN[int(self.draw() * len(FOREIGN))]
            new = "英文" if chance < announced else "" if chance < announced + left_out else heard
        self.replace(start, start + len(part), new)
        self.clause, self.last = self.clause + len(part), ""

    def write_number(self, part: str, following: str) -> str:
        """Write a number as recognisers do, before a character."""
        if self.draw() < self.speaker.number:
            place = int(self.draw() * len(part))
            digit = "" if self.draw() < 0.4 else SIMILAR_DIGITS[int(self.draw() * len(SIMILAR_DIGITS))]
            return part[:place] + digit + part[place + 1 :]
        for spoken_as, written in (("时", ":00"), ("点半", ":30")):
            if part.endswith(spoken_as):
                return part.removesuffix(spoken_as) + written if self.draw() < 0.8 else part
        if part.isdecimal() and part.isascii() and len(part) > 3:
            if part.endswith("0000"):
                return f"{part[:-4]}万" if len(part) > 4 else part
            plain = len(part) == 4 and (following == "年" or self.draw() >= GROUPED)
            return part if plain or len(part) > 15 else f"{int(part):,}"
        counted = part in SINGLE and following and following in COUNTERS
        return SINGLE[part] if counted and self.draw() < AS_WORD else part


UNITS = (ZhSpeech(),)
