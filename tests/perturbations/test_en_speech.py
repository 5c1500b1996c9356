"""A person dictating English."""

from collections import Counter

import pytest

from lapsus.perturbations import EnSpeech, apply, perturb, perturb_batch
from lapsus.perturbations.en.sounds import classify_sounds, pronounce
from lapsus.perturbations.en.speech.dictation import GOLDEN, person_quantile, split_tokens
from lapsus.perturbations.en.speech.hearing import SOUND_SHIFTS, apply_accent, find_similar_words, split_sounds
from lapsus.perturbations.en.speech.model import WORD_FEATURES, load_recognisers, word_features
from lapsus.perturbations.streams import WeightedOptions

REQUESTS = [
    f"{ask} {what} {when}"
    for ask in ("please play", "what is", "can you find", "olly tell me about", "i want to hear")
    for what in ("the news", "some jazz music", "the weather in boston", "my first email", "that podcast on science")
    for when in ("today", "for next monday", "at nine in the evening", "right now")
]
QUESTIONS = [
    f"{ask} {who} {what}?"
    for ask in ("When did", "Why would", "In what year did")
    for who in ("the University of Warsaw", "Martin Luther", "most of the Huguenots", "their government")
    for what in ("decide to leave France", "print the first edition", "stop building steam engines")
]


def written(op: EnSpeech, texts: list[str], seed: int = 0) -> list[str]:
    """Return all texts as `op` dictates them."""
    made = perturb_batch(op, texts, seed=seed, keys=[f"row-{number}" for number in range(len(texts))])
    return [apply(text, edits) for text, edits in zip(texts, made, strict=True)]


def missed(op: EnSpeech, texts: list[str]) -> float:
    """Return the share of texts whose words are not those that were said."""

    def words(text: str) -> list[str]:
        return [token.word.replace("'", "") for token in split_tokens(text.replace(" '", "'"))]

    return sum(words(one) != words(two) for one, two in zip(texts, written(op, texts), strict=True)) / len(texts)


def test_how_much_is_missed() -> None:
    """SLURP's recordings have about 47 of 100 requests with a wrong word, NoiseQA's questions 74."""
    assert 0.25 < missed(EnSpeech(), REQUESTS) < 0.7
    assert 0.5 < missed(EnSpeech(), QUESTIONS * 4) < 0.95


def test_each_recogniser_writes_in_its_own_way() -> None:
    """An assistant's has no capitals and sets clitics apart; the other drops marks and keeps most names."""
    requests = written(EnSpeech(rate=0.01), ["what's on my list"] * 50)
    assert Counter(requests).most_common(1)[0][0] == "what 's on my list"
    questions = Counter(written(EnSpeech(rate=0.01), ["When did Martin Luther leave Warsaw?"] * 60))
    assert questions.most_common(1)[0][0] == "when did Martin Luther leave Warsaw"
    assert all("?" not in one for one in questions)


def test_people_differ_and_stay_themselves() -> None:
    """The first few people already differ as the population does, and more rate misses more."""
    shares = [missed(EnSpeech.annotator(number), REQUESTS) for number in range(1, 9)]
    assert max(shares) - min(shares) > 0.15
    assert written(EnSpeech.annotator(3), REQUESTS) == written(EnSpeech.annotator(3), REQUESTS)
    assert (
        missed(EnSpeech.annotator(1, rate=0.2), REQUESTS) < shares[0] < missed(EnSpeech.annotator(1, rate=4), REQUESTS)
    )
    assert abs(sum(map(person_quantile, range(1, 101)))) < 1
    assert person_quantile(1) == pytest.approx(0.3003, abs=1e-3)
    assert 0 < GOLDEN < 1


def test_what_is_heard_sounds_alike() -> None:
    """The words that come to mind for some sounds are near them, and the nearest are among them."""
    from rapidfuzz.distance import Levenshtein

    for word in ("weather", "night", "mail", "songs"):
        heard = find_similar_words("assistant", pronounce(word))
        said = classify_sounds(pronounce(word))
        assert word in {one.word for one in heard}
        assert all(one.distance == Levenshtein.distance(said, classify_sounds(pronounce(one.word))) for one in heard)
    assert "whether" in {one.word for one in find_similar_words("search", pronounce("weather"))}


@pytest.mark.parametrize("accent", [name for name in SOUND_SHIFTS if name != "us"])
def test_an_accent_moves_sounds_and_is_missed_more(accent: str) -> None:
    """Each accent says some sound otherwise, if it does at all."""
    everything = "".join(sorted({sound for sound, *_ in SOUND_SHIFTS[accent]}))
    assert apply_accent(everything, accent, lambda: 0.0) != everything
    assert apply_accent(everything, accent, lambda: 0.999) == everything
    rows = REQUESTS + QUESTIONS
    assert missed(EnSpeech.annotator(2, accent=accent), rows) > missed(EnSpeech.annotator(2), rows)


def test_sounds_are_cut_into_pieces() -> None:
    """All sounds stay, none is in two pieces, no piece is empty."""
    for pieces in (1, 2, 3, 5):
        for draw in (0.0, 0.5, 0.999):
            found = split_sounds("abcdefghij", pieces, lambda draw=draw: draw)
            assert len(found) == pieces
            assert all(found)
            assert "".join(found) == "abcdefghij"


def test_model_is_sound() -> None:
    """Every trait has a weight, chances are chances, and a word that fits its neighbours is likelier beside them."""
    for name, model in load_recognisers().items():
        assert len(model.hazard) == len(WORD_FEATURES)
        assert all(0 <= model.shares[key] <= 1 for key in ("added", "added first", "plain", "unknown", "general"))
        assert all(
            row[9] == 0 and len(row) == len(WORD_FEATURES)
            for row in word_features(model, ["play", "jazz"], [False, False])
        )
        assert model.pair_affinity("what", "is") > model.pair_affinity("what", "jazz"), name
        assert sum(map(model.word_share, ["play", "jazz", "is"])) < 1
    assert WeightedOptions.from_weights({"a": 1, "b": 1}).pick(0.99) == "b"


def test_nothing_that_nobody_says_is_touched() -> None:
    """Other scripts and emoji stay, and no text is lost altogether."""
    for key in map(str, range(60)):
        made = apply("play 🎷 周杰伦 now", perturb(EnSpeech(rate=10), "play 🎷 周杰伦 now", key=key))
        assert "🎷" in made
        assert "周杰伦" in made
        assert apply("jazz", perturb(EnSpeech(rate=10), "jazz", key=key)).strip()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: EnSpeech(rate=-1), "rate is -1"),
        (lambda: EnSpeech(rate=float("nan")), "rate is nan"),
        (lambda: EnSpeech(recogniser="siri"), "'siri'; choose assistant or search"),
        (lambda: EnSpeech(accent="xx"), "accent is 'xx'; choose one of us, de"),
        (lambda: EnSpeech(who=-1), "who is -1"),
        (lambda: EnSpeech(who=True), "who is True"),
        (lambda: EnSpeech.annotator(0), "numbered from 1"),
    ],
)
def test_bad_settings_are_named(make: object, says: str) -> None:
    """One sentence with the value and the cure."""
    with pytest.raises(ValueError, match=says):
        make()  # type: ignore[operator]
