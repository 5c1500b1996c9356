"""The laws that every operator keeps; `check` holds an operator of any package to them.

In the tests of a package that adds operators, all at once or one test for each law:

    from lapsus.perturbations.laws import LAWS, check

    def test_hush_keeps_the_laws():
        check(Hush())

    @pytest.mark.parametrize("law", LAWS)
    def test_hush_keeps_the_law(law):
        law(Hush())

>>> from lapsus.perturbations.core import Shout
>>> check(Shout())
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Sequence

from lapsus.perturbations.core import Edit, Operator, apply, moved, perturb, perturb_batch, stream
from lapsus.perturbations.tokens import apply_tokens, frame, perturb_tokens, utterance

TEXTS = (
    "please play some jazz in the living room",
    "what s the weather like in boston on the 4th of july",
    "book a table for four people at a quiet place tomorrow evening",
    "Could you quickly find me the cheapest flight to Denver, please?",
    "jazz",
    "",
    "  ",
    "?!",
    "🎷🎶",
    "play a cafe\u0301 song by Beyonce\u0301",
    "我想听周杰伦的歌,明天提醒我开会",
    "remind me not to call o'clock-records at 10:30 a.m.",
    "comprei dois livros muito bons ontem em Lisboa",
)
TAGGED = (
    (TEXTS[0], "O O B-music_item I-music_item O B-place I-place I-place"),
    (TEXTS[2], "O O O O B-size I-size O O B-quality B-kind B-time I-time"),
)
KEYS = tuple(f"row-{number}" for number in range(len(TEXTS)))
HASHED_AS = "4321"  # another order of every set of strings


class BrokenLawError(AssertionError):
    """An operator breaks a law; the message names the operator, the law and what showed it."""

    def __init__(self, op: Operator, law: str, shown: str) -> None:
        super().__init__(f"{op.name} {law}: {shown}")


def _hold(true: object, op: Operator, law: str, shown: str) -> None:
    if not true:
        raise BrokenLawError(op, law, shown)


def named(op: Operator) -> None:
    """An operator has a name, a version, and a docstring whose first line `lapsus list` shows."""
    _hold(isinstance(op, Operator), op, "is no operator", "give it a name, a version and edits(text, rng)")
    for what in ("name", "version"):
        value = getattr(op, what)
        _hold(isinstance(value, str) and value, op, f"has the {what} {value!r}", "give it a text that is not empty")
    _hold((type(op).__doc__ or "").strip(), op, "has no docstring", "begin it with one line that says what it does")


def pure(op: Operator) -> None:
    """The same text, seed and key give the same edits, and Python's own random numbers stay untouched."""
    once = perturb_batch(op, TEXTS, seed=1, keys=KEYS)
    before = random.getstate()
    again = perturb_batch(op, TEXTS, seed=1, keys=KEYS)
    for text, first, second in zip(TEXTS, once, again, strict=True):
        _hold(first == second, op, "is not pure", f"{text!r} first gets {first}, then {second}")
    _hold(random.getstate() == before, op, "draws from the module random", "draw from the stream it is given")


def replayable(op: Operator) -> None:
    """Edits are `Edit`s in order, within the text, without overlap, and each changes something."""
    for text, edits in zip(TEXTS, perturb_batch(op, TEXTS, keys=KEYS), strict=True):
        for edit in edits:
            kinds = isinstance(edit, Edit) and tuple(map(type, edit)) == (int, int, str)
            _hold(kinds, op, "proposes what is no Edit", f"{edit!r} for {text!r}; give Edit(int, int, str)")
            idle = text[edit.start : edit.end] == edit.text
            _hold(not idle, op, "proposes an edit that changes nothing", f"{edit} of {text!r}")
        try:
            apply(text, edits)
        except ValueError as error:
            raise BrokenLawError(op, "proposes edits that do not replay", f"{edits} of {text!r}: {error}") from error


def batchable(op: Operator) -> None:
    """Neither the order of the texts nor the batch that a text is in matters."""
    whole = perturb_batch(op, TEXTS, keys=KEYS)
    turned = perturb_batch(op, TEXTS[::-1], keys=KEYS[::-1])[::-1]
    alone = [perturb(op, text, key=key) for text, key in zip(TEXTS, KEYS, strict=True)]
    for text, one, two, three in zip(TEXTS, whole, turned, alone, strict=True):
        _hold(one == two, op, "depends on the order of the texts", f"{text!r} gets {one}, in another order {two}")
        _hold(one == three, op, "depends on the batch", f"{text!r} gets {one} among others, {three} alone")


def one_function(op: Operator) -> None:
    """`op.edits` with the stream of an example proposes what `perturb` makes of it, however many are drawn at once."""
    for text, key in zip(TEXTS, KEYS, strict=True):
        for seed in (0, 3):
            edits = tuple(op.edits(text, stream(op, seed, key)))
            made = perturb(op, text, seed=seed, key=key)
            _hold(edits == made, op, "has two noise functions", f"for {text!r} edits gives {edits}, perturb {made}")


def portable(op: Operator) -> None:
    """An operator survives pickling, as workers need it, with its settings and its noise."""
    copy = pickle.loads(pickle.dumps(op))  # noqa: S301 - made a moment ago
    _hold(copy == op, op, "is another one after pickling", f"{op!r} comes back as {copy!r}")
    _hold(
        perturb_batch(copy, TEXTS, keys=KEYS) == perturb_batch(op, TEXTS, keys=KEYS), op, "noises otherwise", "pickled"
    )


def true_to_tags(op: Operator) -> None:
    """Every slot of a tagged utterance stays whole, in order and labelled, and protected words stay as they are."""
    for text, labels in TAGGED:
        for seed in range(5):
            keep_tags(op, text.split(), labels.split(), seed)
            spare_words(op, text.split(), text.split()[::3], seed)


def keep_tags(op: Operator, tokens: Sequence[str], tags: Sequence[str], seed: int = 0) -> None:
    """Hold an operator to what tags need, on one utterance."""
    noisy = perturb_tokens(op, tokens, tags, seed=seed)
    got = noisy.tags or []
    where = f"{list(tokens)} with {list(tags)} becomes {noisy.tokens} with {got}"
    _hold(len(noisy.tokens) == len(got) and all(noisy.tokens), op, "loses tokens or tags", where)
    _hold(apply_tokens(tokens, noisy.edits) == noisy.tokens, op, "records edits that do not replay", where)
    slots = [tag[2:] for tag in tags if tag[0] == "B"]
    _hold([tag[2:] for tag in got if tag[0] == "B"] == slots, op, "loses, invents or reorders slots", where)
    for before, tag in zip(["O", *got], got, strict=False):
        _hold(tag[0] != "I" or before[2:] == tag[2:], op, "leaves an I tag without its slot", where)


def spare_words(op: Operator, tokens: Sequence[str], words: Sequence[str], seed: int = 0) -> None:
    """Hold an operator to leaving protected words as they are, on one utterance."""
    said = utterance(tokens)
    noisy = perturb_tokens(op, tokens, protect=words, seed=seed)
    text, guarded = " ".join(noisy.tokens), frame(said, words).protected
    for (start, end), (first, last) in zip(guarded, moved(noisy.edits, guarded), strict=True):
        where = f"{said.text[start:end]!r} of {said.text!r} becomes {text[first:last]!r}"
        _hold(text[first:last] == said.text[start:end], op, "alters a protected word", where)


LAWS: tuple[Callable[[Operator], None], ...] = (
    named,
    pure,
    replayable,
    batchable,
    one_function,
    portable,
    true_to_tags,
)


def digest(*operators: Operator) -> str:
    """Return a digest of what operators make of the texts.

    >>> from lapsus.perturbations.core import Shout
    >>> digest(Shout()) == digest(Shout())
    True
    """
    made = [perturb_batch(op, TEXTS, seed=3, keys=KEYS) for op in operators]
    return hashlib.sha256(json.dumps(made).encode("utf-8", "surrogatepass")).hexdigest()


def same_in_another_process(*operators: Operator) -> None:
    """A new process in which strings hash otherwise makes the same edits, as on another machine or a worker."""
    code = (
        "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer);"
        "from lapsus.perturbations.laws import digest; print(digest(*pickle.load(sys.stdin.buffer)))"
    )
    done = subprocess.run(  # noqa: S603 - this Python, and code from above
        [sys.executable, "-c", code],
        input=pickle.dumps(sys.path) + pickle.dumps(operators),
        env=os.environ | {"PYTHONHASHSEED": HASHED_AS},
        capture_output=True,
        check=False,
    )
    for op in operators[:1]:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
        _hold(done.returncode == 0, op, "does not run in another process", last)
        shown = ", ".join(each.name for each in operators)
        _hold(done.stdout.decode().strip() == digest(*operators), op, "makes other edits in another process", shown)


def check(*operators: Operator) -> None:
    """Hold operators to every law; raises BrokenLawError with the first that is broken."""
    for op in operators:
        for law in LAWS:
            law(op)
    same_in_another_process(*operators)
