"""The laws that every operator keeps, and the core that they rest on."""

from __future__ import annotations

import importlib
import pkgutil
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lapsus.perturbations
from lapsus.core.edits import trim_edit
from lapsus.perturbations import (
    OPERATORS,
    Edit,
    Mixture,
    ZhKeyboard,
    ZhSpeech,
    apply,
    laws,
    move_spans,
    perturb,
    perturb_batch,
    perturb_tokens,
)
from lapsus.perturbations.core import Constraints, Shout, Thinned, drop_conflicts
from lapsus.perturbations.streams import GOLDEN, HashedStream, scramble, stream_start, stream_starts

SENTENCES = list(laws.TEXTS)
NEED_MODELS = {"nlpaug_tfidf", "nlpaug_contextual"}  # tested with models made on the spot
NAMES = [name for name in OPERATORS if name not in NEED_MODELS]


def edits_of(name, texts=SENTENCES, **options):
    try:
        return perturb_batch(OPERATORS[name], texts, **options)
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))


def test_operators_are_found_with_the_names_of_the_configs():
    ten = "filler_bos filler_pre_verb filler_post_verb filler_eos synonym_verb synonym_adjective synonym_adverb"
    rest = "synonym_any synonym_stopword speako nlpaug_keyboard nlpaug_spelling nlpaug_synonym nlpaug_antonym"
    assert set(f"{ten} {rest} nlpaug_tfidf nlpaug_contextual random.0 random.9".split()) <= set(OPERATORS)
    assert all(operator.name == name for name, operator in OPERATORS.items())


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(KeyError, match=r"^there is no operator 'filler'.*filler_bos"):
        OPERATORS["filler"]


def test_import_is_light():
    code = (  # 0.3 s on an idle machine; beside numpy's own import it is told from a busy one
        "import sys, time; start = time.process_time(); import numpy; middle = time.process_time();"
        "import lapsus.perturbations as p; p.OPERATORS; took = (time.process_time() - middle) / (middle - start);"
        "heavy = {'torch', 'transformers', 'evaluate', 'datasets', 'nltk', 'nlpaug', 'wordfreq', 'scipy'};"
        "print(took, *heavy & set(sys.modules))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    results = [run.stdout.split() for run in runs]
    assert all(len(result) == 1 for result in results)
    assert min(float(result[0]) for result in results) < 1


ANNOTATORS = [who for number in (1, 2, 3) for who in (ZhKeyboard.annotator(number), ZhSpeech.annotator(number))]
KEYED = (OPERATORS["filler_bos"], OPERATORS["zh_homophone"], *ANNOTATORS)
MIXTURES = [Mixture("keyed", KEYED), Mixture("nested", (Mixture("keyed", KEYED), OPERATORS["filler_eos"], Shout()))]


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    "operator",
    [*map(OPERATORS.get, NAMES), *ANNOTATORS, *MIXTURES],
    ids=lambda op: f"{op.name}{getattr(op, 'who', '')}",
)
def test_every_operator_keeps_the_law(law, operator):
    try:
        law(operator)
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))


def test_a_hashed_stream_goes_on_with_the_draws_of_its_batch():
    start = stream_starts("name/0", ["row-7"])
    rng = HashedStream(int(start[0]))
    draws = [start, *(scramble(start + np.array([n], np.uint64) * GOLDEN) for n in (1, 2, 3))]
    assert [rng.random() for _ in draws] == [int(draw[0]) // 2**32 / 2**32 for draw in draws]
    assert stream_start(HashedStream(int(start[0]))) == int(start[0])
    assert {0, 1, 2} == {HashedStream(n).randrange(3) for n in stream_starts("name/0", list("abcdefghijkl")).tolist()}
    with pytest.raises(TypeError, match="a hashed stream starts at 'row-7'"):
        HashedStream("row-7")


@pytest.mark.parametrize(
    "name", [name for name in NAMES if not name.startswith(("semantic", "zh_correct"))]
)  # those prefer, not draw
def test_seed_and_key_matter(name):
    texts = [*SENTENCES[:4], *SENTENCES[10:], "i want to find a good place to eat"]
    first = edits_of(name, texts, seed=0)
    assert any(edits_of(name, texts, seed=seed) != first for seed in range(1, 60))  # some change little


@pytest.mark.parametrize("name", list(OPERATORS))
def test_the_repr_gives_the_operator_back(name):
    operator = OPERATORS[name]
    namespace = {}
    for module in pkgutil.walk_packages(lapsus.perturbations.__path__, "lapsus.perturbations."):
        namespace |= vars(importlib.import_module(module.name)) if ".installed." not in module.name else {}
    assert eval(repr(operator), namespace) == operator  # noqa: S307 - our own repr


@pytest.mark.slow
def test_the_hash_seed_does_not_matter(tmp_path, monkeypatch):
    (tmp_path / "transformers.py").write_text("raise ImportError('nlpaug imports it for nothing')")
    monkeypatch.syspath_prepend(tmp_path)
    there = []
    for name in NAMES:
        try:
            perturb(OPERATORS[name], SENTENCES[0])
            there.append(OPERATORS[name])
        except ModuleNotFoundError:
            continue
    laws.check_other_process(*there)


words = st.text(st.sampled_from("abehilnoprstuwy'é🎷音1.?-"), min_size=1, max_size=8)


@given(st.lists(words, min_size=1, max_size=9), st.data())
@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
@pytest.mark.parametrize("name", NAMES)
def test_tags_stay_true_whatever_is_said(name, tokens, data):
    tags, label = [], "O"
    for _ in tokens:
        label = data.draw(st.sampled_from(["O", "B-a", "B-b"] + ([f"I-{label[2:]}"] if label != "O" else [])))
        tags.append(label)
    try:
        laws.check_tags(OPERATORS[name], tokens, tags)
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))


spans = st.lists(st.integers(0, 30), min_size=2, max_size=2).map(sorted).map(tuple)


@given(
    st.text("abc d", min_size=30, max_size=30),
    st.lists(st.tuples(spans, st.text("xy ", max_size=4)), max_size=6),
    st.lists(spans, max_size=3),
)
@settings(deadline=None)
def test_settled_edits_spare_spans_and_what_is_protected(text, wanted, protected):
    edits, cursor = [], 0
    for (start, end), new in sorted(wanted):
        if start >= cursor:
            edits.append(Edit(start, end, new))
            cursor = end + (start == end)
    frame = Constraints(spans=tuple(span for span in protected if span[0] < span[1]), protected=())
    kept = drop_conflicts(edits, frame)
    noisy = apply(text, kept)
    for (start, end), (new_start, new_end) in zip(frame.spans, move_spans(kept, frame.spans), strict=True):
        assert new_end - new_start >= 0
        inside = [edit for edit in kept if start <= edit.start and edit.end <= end and edit.start < end]
        if not inside:
            assert noisy[new_start:new_end] == text[start:end]
    guarded = drop_conflicts(edits, Constraints(protected=frame.spans))
    noisy = apply(text, guarded)
    for (start, end), (new_start, new_end) in zip(frame.spans, move_spans(guarded, frame.spans), strict=True):
        assert noisy[new_start:new_end] == text[start:end]


@pytest.mark.parametrize(
    ("edit", "kept"),
    [
        (Edit(4, 4, "!"), Edit(4, 4, "!")),  # at the left border of "home"
        (Edit(8, 8, "!"), Edit(8, 8, "!")),  # at its right border
        (Edit(4, 4, "so "), Edit(4, 4, "so ")),
        (Edit(8, 8, " now"), Edit(8, 8, " now")),
        (Edit(6, 6, "!"), None),
        (Edit(6, 6, "so "), Edit(4, 4, "so ")),
        (Edit(6, 6, " now"), Edit(8, 8, " now")),
        (Edit(6, 6, " now "), Edit(4, 4, " now ")),
        (Edit(2, 4, "x"), Edit(2, 4, "x")),  # what is replaced ends where the protected word begins
        (Edit(8, 9, "x"), Edit(8, 9, "x")),
        (Edit(3, 5, "x"), None),
        (Edit(7, 9, "x"), None),
        (Edit(4, 8, "x"), None),
        (Edit(2, 10, "x"), None),
    ],
)
def test_an_insertion_stands_at_the_border_of_a_protected_word_and_never_in_it(edit, kept):
    assert drop_conflicts([edit], Constraints(protected=((4, 8),))) == (
        () if kept is None else (kept,)
    )  # go, home, now


def test_edits_stay_in_order_when_one_moves_to_the_border_of_its_span():
    frame = Constraints(spans=((4, 8),))
    assert drop_conflicts([Edit(5, 6, "x"), Edit(6, 6, "so ")], frame) == (Edit(4, 4, "so "), Edit(5, 6, "x"))


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        ("aa", "aaa", Edit(12, 12, "a")),
        ("aaa", "aa", Edit(12, 13, "")),
        ("abab", "ab", Edit(12, 14, "")),
        ("same", "same", Edit(14, 14, "")),
        ("", "x", Edit(10, 10, "x")),
    ],
)
def test_what_both_sides_share_is_counted_once(old, new, edit):
    assert trim_edit(10, old, new) == edit
    assert apply(" " * 10 + old, [edit]) == " " * 10 + new


def test_what_is_inserted_at_the_border_of_a_span_stays_outside():
    assert move_spans([Edit(4, 4, "so ")], [(4, 8)]) == [(7, 11)]
    assert move_spans([Edit(8, 8, " now")], [(4, 8)]) == [(4, 8)]
    assert move_spans([Edit(6, 6, "-")], [(4, 8)]) == [(4, 9)]


def test_edits_out_of_place_are_refused():
    with pytest.raises(
        ValueError, match=r"edit \(1, 3, 'x'\) overlaps its neighbour or leaves the text of 2 characters"
    ):
        apply("ab", [Edit(1, 3, "x")])
    with pytest.raises(ValueError, match="crosses the border of the span"):
        move_spans([Edit(0, 3, "x")], [(2, 5)])


def test_as_many_keys_as_texts():
    with pytest.raises(ValueError, match="2 texts but 1 keys"):
        perturb_batch(Shout(), ["a", "b"], keys=["1"])


def test_mixture_draws_each_operator_about_as_often_and_says_which():
    from lapsus.perturbations.en.nature import NATURE, random_operator

    drawn = [random_operator(0).choose(random.Random(i)).name for i in range(4000)]
    counts = {operator.name: drawn.count(operator.name) for operator in NATURE}
    assert len(counts) == 10
    assert all(320 < count < 480 for count in counts.values())
    mixture = Mixture("loud", (Shout(), OPERATORS["filler_bos"]))
    done = [perturb_tokens(mixture, ["go", "home"], key=str(i)) for i in range(20)]
    assert {one.operator.name for one in done} == {"shout", "filler_bos"}
    for one in done:
        assert (one.tokens[-1] == "home!") == (one.operator.name == "shout")


def test_missing_extras_are_said_in_one_sentence():
    code = """
import sys
absent = "lemminflect nlpaug torch transformers".split()
sys.modules |= dict.fromkeys(absent)
from lapsus.perturbations import OPERATORS, perturb
for name, operator in OPERATORS.items():
    if name.startswith(("filler", "synonym", "speako", "nlpaug")) and name != "nlpaug_tfidf":
        try:
            perturb(operator, "please play some jazz")
            print(name, "runs")
        except ModuleNotFoundError as error:
            print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    sentence = 'this operator needs {}; install it with: pip install "lapsus[{}]"'.format
    assert sorted(set(said)) == sorted(
        [
            "filler_bos runs",
            "filler_eos runs",
            "filler_post_verb runs",
            "filler_pre_verb runs",
            "speako runs",
            "synonym_adjective runs",
            "synonym_adverb runs",
            "synonym_stopword runs",
            sentence("lemminflect", "en"),
            sentence("nlpaug.augmenter.char", "augment"),
            sentence("nlpaug.augmenter.word", "augment"),
            sentence("torch", "models"),
        ]
    )


@pytest.mark.parametrize("name", ["speako", "synonym_verb", "filler_pre_verb"])
def test_a_thinned_operator_at_a_rate_of_1_is_the_operator_also_within_constraints(name):
    """It reads the constraints before it chooses a place, as the operator does."""
    text = "please play some jazz in the living room and turn the lights down"
    op, n_changed = OPERATORS[name], 0
    for first, second in ((7, 16), (12, 24), (0, 11), (44, 65)):
        constraints = Constraints(protected=((first, second),))
        for seed in range(8):
            edits = perturb(op, text, seed=seed, constraints=constraints)
            assert perturb(Thinned(op, 1.0), text, seed=seed, constraints=constraints) == edits
            n_changed += bool(edits)
    assert n_changed > 8
