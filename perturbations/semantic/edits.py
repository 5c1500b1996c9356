"""Edits of one word after which a sentence surely means something else, in English, Chinese and Portuguese.

They measure phi-robustness: a metric should rate another dialect above another meaning. What is replaced, inserted
or deleted comes from small word lists written for this (numbers, negation, antonyms, quantifiers, time and place,
comparatives, names, colours, family ...), and `explain_refusal` rejects what leaves the meaning.

>>> find_semantic_edit("The shop opens before nine.", "en", key="3")
SemanticEdit(kind='replace', edit=Edit(start=15, end=21, text='after'), text='The shop opens after nine.')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lapsus.core.edits import Edit, Span, apply, common_affixes
from lapsus.core.imports import import_optional
from lapsus.perturbations.core import ShortRepr, perturb
from lapsus.perturbations.semantic.word_lists import (
    Rule,
    parse_groups,
    parse_rules,
    parse_word_list,
    read_version,
    read_word_lists,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from random import Random

    from lapsus.perturbations.core import Operator

Language = Literal["en", "zh", "pt"]
Kind = Literal["replace", "insert", "delete"]

NAMES: dict[Language, str] = {"en": "English", "zh": "Chinese", "pt": "Portuguese"}
NEVER = "(?!)"  # matches nothing
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
# a number of its own: no part of a name (A4, 5G, Sun-1), a time, an ordinal or a reference
NUMBER = re.compile(r"(?<![A-Za-zÀ-ÿ\d°#\[/:–—-])(?<![\d][.,])[0-9]+(?:[.,][0-9]+)*(?![A-Za-zÀ-ÿ\dº°ª\]/:–—-]|[.,]\d)")
QUESTION_END = re.compile(r"[?？]\W*$|吗\W*$")
CLAUSE_END = re.compile(r"[,.;:!?()\"“”—，。；：！？、（）]")
END_OF_SENTENCE = frozenset(".!?:。！？：")
OPENING = 8  # letters: as many quotes and spaces may open a sentence
DECADE = re.compile(r"\s*年代")  # Chinese counts the decades of a century: 20 世纪 30 年代
WINDOW = 24  # letters before a number that tell whether it is a year
LONGEST_CHANGE = 3  # words: what the paper calls a single word or phrase


class Token(NamedTuple):
    """A word and where it stands."""

    text: str
    start: int
    end: int


class SemanticEdit(NamedTuple):
    """Which kind of edit was found, the edit, and the sentence that it makes."""

    kind: Kind
    edit: Edit
    text: str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The word lists of one language, parsed."""

    replace: dict[str, list[Rule]]
    insert: dict[str, list[Rule]]
    opening_insert: dict[str, list[Rule]]
    delete: dict[str, list[Rule]]
    numerals: dict[str, str]
    synonyms: dict[str, frozenset[int]]
    negations: frozenset[str]
    negating: frozenset[str]
    affirming: frozenset[str]
    fillers: frozenset[str]
    question: re.Pattern[str]
    counts_before: re.Pattern[str]
    counts_after: re.Pattern[str]
    years_before: re.Pattern[str]


@cache
def load_lexicon(language: Language) -> Lexicon:
    """Return the word lists of `language`."""
    if language not in NAMES:
        raise ValueError(f"no semantic edits for language {language!r}: choose one of {', '.join(NAMES)}")
    lists = read_word_lists(language)
    return Lexicon(
        replace=parse_rules(lists["replace"]),
        insert=parse_rules(lists["insert"]),
        opening_insert=parse_rules(lists["insert at the opening"]),
        delete=parse_rules(lists["delete"]),
        numerals={word: digits for digits, word in (pair.split("=") for pair in lists["numerals"].split())},
        synonyms=parse_groups(lists["synonyms"]),
        negations=parse_word_list(lists["negations"]),
        negating=parse_word_list(lists["negating prefixes"]),
        affirming=parse_word_list(lists["not negations"]),
        fillers=parse_word_list(lists["fillers"]),
        question=re.compile(lists["question"] or NEVER),
        counts_before=re.compile(lists["counts before"] or NEVER),
        counts_after=re.compile(lists["counts after"] or NEVER),
        years_before=re.compile(lists["years before"] or NEVER),
    )


class WordListOperator(ShortRepr):
    """Base of the three operators: their version is that of the word lists of their language."""

    __slots__ = ()
    language: Language
    version: str

    def __post_init__(self) -> None:
        if not self.version and self.language in NAMES:
            object.__setattr__(self, "version", read_version(self.language))

    @property
    def needs(self) -> str:
        """The extra that the language needs."""
        return "lapsus[zh]" if self.language == "zh" else ""


@dataclass(frozen=True, slots=True, repr=False)
class SemanticReplace(WordListOperator):
    """Replace one word by another that cannot be true with it.

    >>> apply("她在 1990 年出生", perturb(SemanticReplace(language="zh"), "她在 1990 年出生", key="3"))
    '她在 1990 年去世'
    """

    language: Language = "en"
    version: str = ""

    @property
    def name(self) -> str:
        """What the operator is called."""
        return _make_name("replace", self.language)

    @property
    def summary(self) -> str:
        """What the operator does."""
        return f"Replace one {NAMES[self.language]} word by another that cannot be true with it"

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Replace one word, or none."""
        return _draw_edit("replace", text, self.language, rng)


@dataclass(frozen=True, slots=True, repr=False)
class SemanticInsert(WordListOperator):
    """Insert one word that turns the meaning: mostly a negation, where the grammar has its place.

    >>> apply("The bridge was open.", perturb(SemanticInsert(), "The bridge was open."))
    'The bridge was not open.'
    """

    language: Language = "en"
    version: str = ""

    @property
    def name(self) -> str:
        """What the operator is called."""
        return _make_name("insert", self.language)

    @property
    def summary(self) -> str:
        """What the operator does."""
        return f"Insert one {NAMES[self.language]} word that turns the meaning, mostly a negation"

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Insert one word, or none."""
        return _draw_edit("insert", text, self.language, rng)


@dataclass(frozen=True, slots=True, repr=False)
class SemanticDelete(WordListOperator):
    """Delete one word that the meaning hangs on: a negation or a restriction.

    >>> apply("Ele nunca voltou.", perturb(SemanticDelete(language="pt"), "Ele nunca voltou."))
    'Ele voltou.'
    """

    language: Language = "en"
    version: str = ""

    @property
    def name(self) -> str:
        """What the operator is called."""
        return _make_name("delete", self.language)

    @property
    def summary(self) -> str:
        """What the operator does."""
        return f"Delete one {NAMES[self.language]} word that the meaning hangs on: a negation or a restriction"

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Delete one word, or none."""
        return _draw_edit("delete", text, self.language, rng)


OPERATORS: dict[Kind, type[SemanticReplace | SemanticInsert | SemanticDelete]] = {
    "replace": SemanticReplace,
    "insert": SemanticInsert,
    "delete": SemanticDelete,
}
UNITS = tuple(operator(language) for language in NAMES for operator in OPERATORS.values())


def find_semantic_edit(
    text: str,
    language: Language = "en",
    seed: int = 0,
    key: str | None = None,
    *,
    operators: Mapping[Kind, Operator] | None = None,
) -> SemanticEdit | None:
    """Return the first edit that applies, in the paper's order: replace, insert, delete; None if none does.

    `operators` are those of the word lists, unless others are given, such as `make_semantic_models(endpoint)`.
    """
    load_lexicon(language)
    kinds = operators or {kind: operator(language) for kind, operator in OPERATORS.items()}
    for kind, operator in kinds.items():
        for edit in perturb(operator, text, seed=seed, key=key):
            return SemanticEdit(kind, edit, apply(text, [edit]))
    return None


def explain_refusal(clean: str, noisy: str, language: Language = "en") -> str | None:  # noqa: PLR0911 - one return per reason
    """Say why `noisy` may still mean what `clean` means, or None if it surely does not.

    It reads only the two sentences, so that it judges the edits of any model as well.

    >>> explain_refusal("It was a big day.", "It was a large day.")
    'big and large are synonyms'
    >>> explain_refusal("She never came.", "She not never came.")
    'another negation stands in the clause'
    """
    lists = load_lexicon(language)
    before, old, new = _find_changed_words(clean, noisy, language)
    old_words, new_words = [token.text.lower() for token in before[slice(*old)]], [token.text.lower() for token in new]
    if not (old_words or new_words) or _normalise_numerals(clean, language) == _normalise_numerals(noisy, language):
        return "the words are the same"
    if max(len(old_words), len(new_words)) > LONGEST_CHANGE:
        return f"it changes {max(len(old_words), len(new_words))} words"
    if set(old_words + new_words) <= lists.fillers:
        return f"{' '.join(old_words + new_words)} adds no meaning"
    if len(old_words) == len(new_words) == 1 and lists.synonyms.get(old_words[0], frozenset()) & lists.synonyms.get(
        new_words[0], frozenset()
    ):
        return f"{old_words[0]} and {new_words[0]} are synonyms"
    if any(_is_negation(word, lists) for word in old_words) != any(_is_negation(word, lists) for word in new_words):
        if QUESTION_END.search(clean) or lists.question.match(clean):
            return "a negated question asks the same"
        if len(old_words) != len(new_words) and _find_opposites(old_words, lists).intersection(new_words):
            return "the opposite is negated"
        if _has_other_negation(before, old, clean, lists):
            return "another negation stands in the clause"
    return None


def _find_opposites(words: list[str], lists: Lexicon) -> set[str]:
    return {target for word in words for rule in lists.replace.get(word, ()) for target in rule.targets}


def tokenize(text: str, language: str) -> list[Token]:
    """Return the words of `text`; Chinese is segmented, so that no part of a longer word counts as a word."""
    text = text.replace("’", "'")
    if language == "zh":
        return [Token(*item) for item in _load_segmenter().tokenize(text) if item[0].strip() and WORD.match(item[0])]
    return [Token(match[0], match.start(), match.end()) for match in WORD.finditer(text)]


def _make_name(kind: Kind, language: str) -> str:
    return f"semantic_{kind}" if language == "en" else f"semantic_{kind}_{language}"


def _draw_edit(kind: Kind, text: str, language: Language, rng: Random) -> Iterator[Edit]:
    """Draw a place, then one of its edits, until one is not refused."""
    places = [list(edits) for edits in _iter_places(kind, text, language) if edits]
    while places:
        place = int(rng.random() * len(places))
        edit = places[place].pop(int(rng.random() * len(places[place])))
        if explain_refusal(text, apply(text, [edit]), language) is None:
            yield edit
            return
        if not places[place]:
            del places[place]


def _iter_places(kind: Kind, text: str, language: Language) -> Iterator[list[Edit]]:
    """Propose, for each place where the lists allow it, every edit of this kind."""
    lists = load_lexicon(language)
    text = text.replace("’", "'")  # as the lists write it
    words = tokenize(text, language)
    present = {token.text.lower() for token in words}
    for i, token in enumerate(words):
        word, start, end = token
        if kind == "replace":
            fresh = [target for target in _find_targets(lists.replace, text, token) if target.lower() not in present]
            if word[0].isupper() and _is_in_name(text, words, i):
                continue
            yield [Edit(start, end, _match_case(target, word)) for target in fresh]
        elif kind == "insert":
            rules = lists.opening_insert if _starts_sentence(text, start) else lists.insert
            yield [_make_insertion(token, target.replace("_", word)) for target in _match_targets(rules, text, token)]
        elif kind == "delete":
            targets = dict.fromkeys(_find_targets(lists.delete, text, token))
            yield [
                _make_deletion(text, start, end + len(target) - 1) for target in targets
            ]  # `_ of`: the word and the next
    if kind == "replace":
        for match in NUMBER.finditer(text):
            decade = bool(DECADE.match(text, match.end()))
            numbers = nearby_numbers(match[0], language, decade=decade, year=not _is_quantity(text, match, lists))
            yield [Edit(*match.span(), number) for number in numbers if number not in present]


def _is_quantity(text: str, number: re.Match[str], lists: Lexicon) -> bool:
    """Tell whether a number that might be a year counts something."""
    before = text[max(number.start() - WINDOW, 0) : number.start()]
    after = lists.counts_after.match(text, number.end())
    return bool(lists.counts_before.search(before)) or (after is not None and not lists.years_before.search(before))


def nearby_numbers(number: str, language: str, *, decade: bool = False, year: bool = True) -> list[str]:
    """Return numbers of the same look as `number`: small ones fit clocks and calendars, years stay near.

    >>> nearby_numbers("1920", "en")[:3], nearby_numbers("2.5", "en")[:3], nearby_numbers("1", "en")
    (['1880', '1890', '1900'], ['1.5', '3.5', '4.5'], [])
    """
    head = 0 if number[0] != "0" else len(number) - 1
    candidates = [number[:head] + digit + number[head + 1 :] for digit in "123456789" if digit != number[head]]
    if not number.isdigit() or len(number) > 4 or (len(number) > 1 and number[0] == "0"):
        return candidates
    value = int(number)
    if decade and len(number) == 2:
        return [str(candidate) for candidate in range(20, 100, 10) if candidate != value]
    if value == 1 and language != "zh":
        return []  # the noun would have to become a plural
    for low, high in ((0, 12), (13, 20), (21, 28), (29, 31)):
        if low <= value <= high:
            return [
                str(candidate) for candidate in range(max(low, 2), high + 1) if abs(candidate - value) > (high < 29)
            ]
    if year and 1000 <= value <= 2099:
        step = 10 if value % 10 == 0 else 1
        return [str(value + step * offset) for offset in (-4, -3, -2, 2, 3, 4) if 1000 < value + step * offset < 2025]
    return candidates


def _find_targets(rules: dict[str, list[Rule]], text: str, token: Token) -> list[str]:
    """Return what the lists put in place of `token`; a capital that opens the sentence is no part of its word."""
    targets = _match_targets(rules, text, token)
    if targets or not _starts_sentence(text, token.start):
        return targets
    start, lower = token.start, token.text[0].lower()
    return _match_targets(rules, text[:start] + lower + text[start + 1 :], token._replace(text=lower + token.text[1:]))


def _match_targets(rules: dict[str, list[Rule]], text: str, token: Token) -> list[str]:
    fitting = (rule for rule in _find_rules(rules, token.text) if rule.can_apply(text, token.start))
    return [target for rule in fitting for target in rule.targets]


def _find_rules(rules: dict[str, list[Rule]], word: str) -> list[Rule]:
    return [*rules.get(word, ()), *(rule for rule in rules.get("", ()) if re.fullmatch(rule.word, word))]


def _match_case(target: str, word: str) -> str:
    return target[0].upper() + target[1:] if word[0].isupper() else target


def _starts_sentence(text: str, start: int) -> bool:
    """Tell whether a sentence begins at `start`."""
    before = text[max(start - OPENING, 0) : start].rstrip(" \t\n\"“”'‘’(（")
    return before[-1:] in END_OF_SENTENCE if before else start <= OPENING


def _is_in_name(text: str, words: list[Token], i: int) -> bool:
    """Tell whether a capitalised word is part of a longer name: another capital stands beside it."""
    _, start, end = words[i]
    before = words[i - 1] if i else None
    after = words[i + 1] if i + 1 < len(words) else None
    return bool(
        (
            before
            and before.text[0].isupper()
            and text[before.end : start] == " "
            and not _starts_sentence(text, before.start)
        )
        or (after and after.text[0].isupper() and text[end : after.start] == " ")
    )


def _make_insertion(token: Token, longer: str) -> Edit:
    """Return the edit that makes `token` the longer text, which holds it."""
    if longer.endswith(f" {token.text}"):
        return Edit(token.start, token.start, longer.removesuffix(token.text))
    at = next((i for i, letter in enumerate(token.text) if letter != longer[i]), len(token.text))
    return Edit(token.start + at, token.start + at, longer[at : at + len(longer) - len(token.text)])


def _make_deletion(text: str, start: int, end: int) -> Edit:
    """Delete a word with one of the spaces around it."""
    if text[end : end + 1] == " ":
        return Edit(start, end + 1, "")
    return Edit(start - 1 if text[max(start - 1, 0) : start] == " " else start, end, "")


def _find_changed_words(clean: str, noisy: str, language: Language) -> tuple[list[Token], Span, list[Token]]:
    """Return the words of the clean text, the span of them that changed, and the words in their place."""
    before, after = tokenize(clean, language), tokenize(noisy, language)
    if language == "zh":  # a change may shift how its neighbours are cut, so letters are compared
        start, tail = common_affixes(clean, noisy)
        old, new = (
            _find_touched_span(before, start, len(clean) - tail),
            _find_touched_span(after, start, len(noisy) - tail),
        )
    else:
        start, tail = common_affixes([token.text.lower() for token in before], [token.text.lower() for token in after])
        old, new = (start, len(before) - tail), (start, len(after) - tail)
    return before, old, after[slice(*new)]


def _normalise_numerals(text: str, language: Language) -> list[str]:
    """Return the words (of Chinese, the letters) of `text` with every numeral in digits."""
    units = text if language == "zh" else [token.text.lower() for token in tokenize(text, language)]
    return [load_lexicon(language).numerals.get(unit, unit) for unit in units if not unit.isspace()]


def _find_touched_span(words: list[Token], start: int, end: int) -> Span:
    """Return the span of words that a stretch of text touches; an empty stretch touches none."""
    first = next((i for i, token in enumerate(words) if token.end > start), len(words))
    return first, first if start == end else next(
        (i for i in range(first, len(words)) if words[i].start >= end), len(words)
    )


def _is_negation(word: str, lists: Lexicon) -> bool:
    """Tell whether a word denies; Chinese writes the negation at the head of many words."""
    return word in lists.negations or (word[:1] in lists.negating and word not in lists.affirming)


def _has_other_negation(words: list[Token], span: Span, text: str, lists: Lexicon) -> bool:
    """Tell whether the clause of the words of `span` holds a negation outside of them."""
    start, end = span
    left, right = start, end
    gap_ends = [*(token.start for token in words[1:]), len(text)]  # of the gap after each word
    while left and not CLAUSE_END.search(text, words[left - 1].end, gap_ends[left - 1]):
        left -= 1
    while right < len(words) and not (right and CLAUSE_END.search(text, words[right - 1].end, gap_ends[right - 1])):
        right += 1
    return any(_is_negation(token.text.lower(), lists) for token in (*words[left:start], *words[end:right]))


@cache
def _load_segmenter() -> Any:
    jieba = import_optional("jieba", "zh")
    jieba.setLogLevel("ERROR")
    return jieba.Tokenizer()
