"""Self-repairs, and capitals and marks lost."""

from collections import Counter

import pytest

from lapsus.perturbations import Constraints, EnRepair, EnUnmarked, Noise, apply, perturb, perturb_batch
from lapsus.perturbations.en.repair import classify_word, draw_key, extract_phrases, load_fitted, split_words

QUESTIONS = [
    f"{ask} {who} {what}?"
    for ask in ("When did", "Why would", "In what year did", "Which city could")
    for who in ("the University of Warsaw", "Martin Luther", "most of the Huguenots", "their government")
    for what in ("decide to leave France", "print the first edition", "stop building steam engines in 1875")
]
KEYS = [f"row-{number}" for number in range(len(QUESTIONS))]


def test_every_text_gets_a_repair_from_which_it_can_be_read_again() -> None:
    """What was put in stands in the edits; most repairs are one insertion, without which the text is as before."""
    insertions = Counter[bool]()
    for text, edits in zip(QUESTIONS, perturb_batch(EnRepair(), QUESTIONS, keys=KEYS), strict=True):
        assert edits
        noisy = apply(text, edits)
        moved, back = 0, []
        for edit in edits:
            back.append((edit.start + moved, edit.start + moved + len(edit.text), text[edit.start : edit.end]))
            moved += len(edit.text) - (edit.end - edit.start)
        assert apply(noisy, back) == text
        insertions[len(edits) == 1] += 1
    assert insertions[True] > 0.8 * insertions.total()


def test_shares_are_those_of_people() -> None:
    """Of Disfl-QA's repairs 44 in 100 begin the question anew; nearly all have a cue."""
    made = perturb_batch(EnRepair(), QUESTIONS * 10, keys=[f"{n}" for n in range(len(QUESTIONS) * 10)])
    anew = sum(edits[0].start == 0 for edits in made) / len(made)
    assert anew == pytest.approx(load_fitted()["restart"], abs=0.06)
    cues = " ".join(edits[-1].text for edits in made).lower()
    assert cues.count(" no ") > 0.15 * len(made)


def test_what_is_said_by_mistake() -> None:
    """The list that is given comes first, then the context, then words like the right one."""
    text = "Show me flights from here to Denver on Monday"
    given = [apply(text, perturb(EnRepair(distractors=("Oz",)), text, key=f"{n}")) for n in range(300)]
    assert sum("Oz" in one for one in given) > 60
    days = [one for one in given if one.count("day") == 2]
    assert days
    assert all("Monday" in one for one in days)
    frame = Constraints(context="The city of Samarkand lies on the way to Bukhara.")
    question = "When did the army reach Tashkent?"
    seen = [apply(question, perturb(EnRepair(), question, key=f"{n}", constraints=frame)) for n in range(200)]
    assert any("Samarkand" in one for one in seen)
    assert any("Bukhara" in one for one in seen)
    assert extract_phrases("He saw Mount Everest and Mount Everest again", "name") == {"Mount Everest": 2.0}


def test_noise_hands_the_context_over() -> None:
    """A column of passages is where the words come from, for one row and for a batch."""
    noise = Noise(EnRepair(), text="question", id="id", context="passage")
    rows = {
        "id": [f"{n}" for n in range(100)],
        "question": ["When did the army reach Tashkent?"] * 100,
        "passage": ["They came by Samarkand."] * 100,
    }
    made = noise(rows)
    assert any("Samarkand" in one for one in made["question"])
    assert noise({name: values[7] for name, values in rows.items()})["question"] == made["question"][7]
    with pytest.raises(LookupError, match="passage"):
        noise({"id": "1", "question": "When?"})
    with pytest.raises(ValueError, match="context"):
        Noise(EnRepair(), text="tokens", tags="tags", context="passage")


def test_kinds_of_words() -> None:
    """The first word of a text is no name for its capital alone."""
    assert [word.kind for word in split_words("Which Rhine city was quickly building 20 bridges?")] == [
        *("wh", "name", "word", "aux", "ly", "ing", "number", "s")
    ]  # fmt: skip
    assert classify_word("Rhine", first=True) == "word"
    assert draw_key({"a": 1, "b": 1}, 0.999) == "b"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: EnRepair(rate=2), "rate is 2"),
        (lambda: EnRepair(distractors="Boston"), "give a tuple"),  # type: ignore[arg-type]
        (lambda: EnRepair(distractors=("",)), "give a tuple"),
        (lambda: EnUnmarked(by="radio"), "'radio'; choose one of recogniser, phone"),
        (lambda: EnUnmarked(rate=11), "rate is 11"),
    ],
)
def test_bad_settings_are_named(make: object, says: str) -> None:
    """One sentence with the value and the cure."""
    with pytest.raises(ValueError, match=says):
        make()  # type: ignore[operator]


def test_rate_is_a_share_of_the_texts() -> None:
    """At 0 nothing is repaired."""
    assert not any(perturb_batch(EnRepair(rate=0), QUESTIONS, keys=KEYS))
    half = sum(map(bool, perturb_batch(EnRepair(rate=0.5), QUESTIONS * 5, keys=[f"{n}" for n in range(240)])))
    assert 80 < half < 160


@pytest.mark.parametrize("by", ["recogniser", "phone"])
def test_only_case_and_marks_are_lost(by: str) -> None:
    """No letter goes, and a recogniser leaves next to no mark."""
    texts = ['What, in "Das Kapital", did K. Marx write?', "I saw 3.5 km, e.g. here!"]
    for key in map(str, range(100)):
        for text in texts:
            made = apply(text, perturb(EnUnmarked(by=by), text, key=key))
            assert [c.lower() for c in made if c.isalnum()] == [c.lower() for c in text if c.isalnum()]
            assert "3.5" in made or "3.5" not in text
            assert by == "phone" or not made.endswith(("?", "!"))
