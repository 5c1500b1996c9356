"""Requests as people say them: their tags, closing fillers that fit the clause, synonyms that keep the meaning."""

import re

import pytest

from lapsus.perturbations import OPERATORS, apply, perturb, perturb_tokens
from lapsus.perturbations.core import Constraints
from lapsus.perturbations.en.close_synonyms import LISTS, PARTS, TAGS, CloseSynonym, load_rules
from lapsus.perturbations.en.fillers import END, NATURE_FILLERS, ClosingFiller, OpeningFiller, VerbFiller
from lapsus.perturbations.en.nature import NATURE
from lapsus.perturbations.en.spoken import SPOKEN
from lapsus.perturbations.en.tagging import tag_text

LIGHT = re.compile(r"(?:be|is|are|was|were|am|have|has|had|do|does|did|get|gets|got|go|goes|went|make|take)(?!\w)")


def tags(text):
    sentence = tag_text(text, SPOKEN)
    return dict(zip(sentence.words, sentence.tags, strict=True))


def outcomes(operator, text, seeds=60):
    return {apply(text, perturb(operator, text, seed=seed)) for seed in range(seeds)}


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("show flights from burbank to milwaukee", {"show"}),
        ("list the fares", {"list"}),
        ("list of fares", set()),
        ("What's the weather like?", {"'s"}),
        ("what s the weather like", {"s"}),
        ("i 'd like to fly to denver", {"like", "fly"}),
        ("I don’t want jazz", {"do", "want"}),
        ("PLAY SOME JAZZ", {"PLAY"}),
        ("Book a table in New York", {"Book"}),
    ],
)
def test_requests_are_tagged_as_they_are_meant(text, verbs):
    assert {word for word, tag in tags(text).items() if tag.startswith("VB")} == verbs


def test_the_words_of_the_text_stay_its_own():
    text = "I couldn’t've known, what's up? i 'd say: can't!"
    sentence = tag_text(text, SPOKEN)
    assert [text[start:end] for start, end in sentence.spans] == list(sentence.words)
    assert "".join(sentence.words) == re.sub(r"\s", "", text)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("What's the weather?", "Like what's the weather?", "What's like the weather?"),
        ("I don't know", "I like don't know", "I don't know like"),
        ("Play jazz", "Like play jazz", "Play like jazz"),
        ("flights to milwaukee leave today", "flights to milwaukee like leave today", None),
    ],
)
def test_a_filler_stands_beside_the_verb(text, before, after):
    assert before in outcomes(VerbFiller("before"), text)
    assert after is None or after in outcomes(VerbFiller("after"), text)


def test_a_filler_takes_the_capital_over_but_not_that_of_a_name():
    assert "Well play jazz" in outcomes(OpeningFiller(), "Play jazz")
    assert "Well Boston weather" in outcomes(OpeningFiller(), "Boston weather")
    assert "Well I like it" in outcomes(OpeningFiller(), "I like it")
    assert "WELL CALL MOM" in outcomes(OpeningFiller(), "CALL MOM")
    assert "well Play jazz" in outcomes(NATURE_FILLERS[0], "Play jazz")
    assert perturb_tokens(OpeningFiller(("well",)), ["Play", "jazz"], ["O", "B-g"]).tokens == ["Well", "play", "jazz"]


@pytest.mark.parametrize(
    ("text", "never", "some"),
    [
        ("what is the fare", {"would you ?", "right away", "if you can", "will you ?"}, {"please"}),
        ("wake me on friday", {"now", "right now", "right this minute"}, {"will you ?", "please"}),
        ("can you play jazz?", {"would you", "can you"}, {"right now", "please"}),
        ("i want to fly at 5 pm", {"right now", "can you ?"}, {"if you can"}),
        ("please play jazz", {"please", "pretty please", "now please"}, {"right now"}),
    ],
)
def test_a_closing_filler_fits_its_clause(text, never, some):
    ends = {one[len(text.rstrip("?")) :].strip("? ") for one in outcomes(ClosingFiller(), text, 300)}
    assert not ends & {one.removesuffix(" ?") for one in never}
    assert {one.removesuffix(" ?") for one in some} <= ends


def test_what_is_said_to_nobody_gets_no_request():
    assert outcomes(ClosingFiller(), "It is cold outside.") == {"It is cold outside."}
    assert len(outcomes(NATURE_FILLERS[3], "It is cold outside.", 300)) == len(END)


@pytest.mark.parametrize("part", TAGS)
def test_no_light_verb_is_replaced_and_no_word_by_itself(part):
    for rules in load_rules(part).values():
        for rule in rules:
            assert part != "verb" or not LIGHT.match(rule.word), rule.word
            assert rule.word not in rule.targets, rule.word


@pytest.mark.parametrize("part", TAGS)
def test_every_line_of_the_lists_is_read(part):
    lines = (LISTS / f"{part}.txt").read_text(encoding="utf-8").splitlines()
    assert all(" > " in line or " / " in line for line in lines)
    assert "" not in load_rules(part)  # each names a plain word


@pytest.mark.parametrize(
    ("part", "text", "expected"),
    [
        ("verb", "i am buying a car", {"i am purchasing a car"}),
        ("verb", "show me the money", {"give me the money"}),
        ("verb", "what is it", {"what is it"}),
        ("verb", "do you have time to go", {"do you have time to go"}),
        ("adjective", "a cheap hotel", {"an inexpensive hotel", "an affordable hotel"}),
        ("adjective", "An inexpensive hotel", {"A cheap hotel"}),
        ("adjective", "play great expectations", {"play great expectations"}),
        ("adverb", "call me again", {"call me once more", "call me one more time"}),
        ("stopword", "what's new", {"what is new"}),
        ("stopword", "Can you help", {"Could you help"}),
        ("stopword", "you can't swim can you", {"you cannot swim can you"}),
        ("stopword", "call me if you can", {"call me if you can"}),
        ("stopword", "tell me if you can", {"tell me whether you can"}),
        ("stopword", "built after 1945", {"built after 1945"}),
        ("adverb", "the only region", {"the only region"}),
        ("adverb", "show only flights", {"show just flights"}),
        ("adverb", "how soon", {"how soon"}),
        ("verb", "what enables the parliament to act", {"what enables the parliament to act"}),
        ("verb", "enable the bedroom lights", {"turn on the bedroom lights"}),
        ("verb", "it happened to him", {"it happened to him"}),
        ("verb", "what happened then", {"what occurred then"}),
        ("verb", "does he want to go", {"does he wish to go"}),
        ("verb", "i want to go", {"i wish to go", "i would like to go"}),
    ],
)
def test_a_synonym_says_the_same(part, text, expected):
    assert outcomes(CloseSynonym(part), text) == expected


def test_slots_names_and_quotations_stay():
    frame = Constraints(spans=((5, 10),))
    assert perturb(CloseSynonym("adjective"), "play happy songs", constraints=frame) == ()
    assert perturb(CloseSynonym("adjective", opens_slots=True), "play happy songs", constraints=frame)
    assert outcomes(CloseSynonym("adjective"), 'play "happy songs"') == {'play "happy songs"'}
    assert outcomes(CloseSynonym("adjective"), "play Happy Songs by Queen") == {"play Happy Songs by Queen"}
    assert perturb(CloseSynonym("adjective"), "a cheap hotel", constraints=Constraints(protected=((0, 1),))) == ()


@pytest.mark.parametrize(
    "text", ["", " ", "?!", "İİİ buy a cheap car", "ﬁnd ß a movie", "buy " * 2000, "'s n't 'd", "\ud800 buy it"]
)
def test_odd_texts_are_handled(text):
    for part in PARTS:
        apply(text, perturb(CloseSynonym(part), text))
    for name in ("filler_bos", "filler_eos", "filler_pre_verb", "filler_post_verb"):
        apply(text, perturb(OPERATORS[name], text))


def test_a_part_that_is_none():
    with pytest.raises(ValueError, match=r"^part is 'noun'; it is one of verb, adjective, adverb, stopword, any$"):
        CloseSynonym("noun")


def test_the_papers_operators_keep_their_names_and_versions():
    assert [f"{op.name}@{op.version}" for op in NATURE] == [
        "filler_bos@1", "filler_pre_verb@2", "filler_post_verb@2", "filler_eos@1", "synonym_verb@1",
        "synonym_adjective@1", "synonym_adverb@1", "synonym_any@1", "synonym_stopword@1", "speako@1",
    ]  # fmt: skip
    assert {f"nature.synonym_{part}" for part in PARTS} <= set(OPERATORS)
