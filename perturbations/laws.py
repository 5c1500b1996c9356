"""The laws of operators; `check` tests an operator of any package against them.

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

from lapsus.core.edits import Edit, apply
from lapsus.perturbations.core import Operator, move_spans, open_stream, perturb, perturb_batch
from lapsus.perturbations.tokens import apply_tokens, make_constraints, parse_utterance, perturb_tokens

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
HASH_SEED = "4321"  # another order of every set of strings


class BrokenLawError(AssertionError):
    """An operator breaks a law; the message names the operator, the law and the evidence."""

    def __init__(self, op: Operator, law: str, evidence: str) -> None:
        super().__init__(f"{op.name} {law}: {evidence}")


def _require(true: object, op: Operator, law: str, evidence: str) -> None:
    if not true:
        raise BrokenLawError(op, law, evidence)


def check_name(op: Operator) -> None:
    """An operator has a name, a version, and a docstring whose first line `lapsus list` shows."""
    _require(isinstance(op, Operator), op, "is no operator", "give it a name, a version and edits(text, rng)")
    for what in ("name", "version"):
        value = getattr(op, what)
        _require(isinstance(value, str) and value, op, f"has the {what} {value!r}", "give it a text that is not empty")
    _require((type(op).__doc__ or "").strip(), op, "has no docstring", "begin it with one line that says what it does")


def check_pure(op: Operator) -> None:
    """The same text, seed and key give the same edits, and Python's own random numbers stay untouched."""
    first_edits = perturb_batch(op, TEXTS, seed=1, keys=KEYS)
    before = random.getstate()
    second_edits = perturb_batch(op, TEXTS, seed=1, keys=KEYS)
    for text, first, second in zip(TEXTS, first_edits, second_edits, strict=True):
        _require(first == second, op, "is not pure", f"{text!r} first gets {first}, then {second}")
    _require(random.getstate() == before, op, "draws from the module random", "draw from the stream it is given")


def check_replay(op: Operator) -> None:
    """Edits are `Edit`s in order, within the text, without overlap, and each changes something."""
    for text, edits in zip(TEXTS, perturb_batch(op, TEXTS, keys=KEYS), strict=True):
        for edit in edits:
            kinds = isinstance(edit, Edit) and tuple(map(type, edit)) == (int, int, str)
            _require(kinds, op, "proposes what is no Edit", f"{edit!r} for {text!r}; give Edit(int, int, str)")
            idle = text[edit.start : edit.end] == edit.text
            _require(not idle, op, "proposes an edit that changes nothing", f"{edit} of {text!r}")
        try:
            apply(text, edits)
        except ValueError as error:
            raise BrokenLawError(op, "proposes edits that do not replay", f"{edits} of {text!r}: {error}") from error


def check_batching(op: Operator) -> None:
    """Neither the order of the texts nor the batch that a text is in matters."""
    batch_edits = perturb_batch(op, TEXTS, keys=KEYS)
    reordered_edits = perturb_batch(op, TEXTS[::-1], keys=KEYS[::-1])[::-1]
    single_edits = [perturb(op, text, key=key) for text, key in zip(TEXTS, KEYS, strict=True)]
    for text, in_batch, reordered, single in zip(TEXTS, batch_edits, reordered_edits, single_edits, strict=True):
        _require(
            in_batch == reordered,
            op,
            "depends on the order of the texts",
            f"{text!r} gets {in_batch}, in another order {reordered}",
        )
        _require(
            in_batch == single, op, "depends on the batch", f"{text!r} gets {in_batch} among others, {single} alone"
        )


def check_stream(op: Operator) -> None:
    """`op.edits` with the stream of an example proposes the edits that `perturb` returns, in a batch of any size."""
    for text, key in zip(TEXTS, KEYS, strict=True):
        for seed in (0, 3):
            edits = tuple(op.edits(text, open_stream(op, seed, key)))
            perturbed = perturb(op, text, seed=seed, key=key)
            _require(
                edits == perturbed,
                op,
                "has two noise functions",
                f"for {text!r} edits gives {edits}, perturb {perturbed}",
            )


def check_pickling(op: Operator) -> None:
    """An operator survives pickling, as workers need it, with its settings and its noise."""
    copy = pickle.loads(pickle.dumps(op))  # noqa: S301 - made a moment ago
    _require(copy == op, op, "is another one after pickling", f"{op!r} comes back as {copy!r}")
    _require(
        perturb_batch(copy, TEXTS, keys=KEYS) == perturb_batch(op, TEXTS, keys=KEYS), op, "noises otherwise", "pickled"
    )


def check_slots(op: Operator) -> None:
    """Every slot of a tagged utterance stays whole, in order and labelled, and protected words stay as they are."""
    for text, labels in TAGGED:
        for seed in range(5):
            check_tags(op, text.split(), labels.split(), seed)
            check_protected_words(op, text.split(), text.split()[::3], seed)


def check_tags(op: Operator, tokens: Sequence[str], tags: Sequence[str], seed: int = 0) -> None:
    """Check the tags of one perturbed utterance."""
    noisy = perturb_tokens(op, tokens, tags, seed=seed)
    got = noisy.tags or []
    where = f"{list(tokens)} with {list(tags)} becomes {noisy.tokens} with {got}"
    _require(len(noisy.tokens) == len(got) and all(noisy.tokens), op, "loses tokens or tags", where)
    _require(apply_tokens(tokens, noisy.edits) == noisy.tokens, op, "records edits that do not replay", where)
    slots = [tag[2:] for tag in tags if tag[0] == "B"]
    _require([tag[2:] for tag in got if tag[0] == "B"] == slots, op, "loses, invents or reorders slots", where)
    for before, tag in zip(["O", *got], got, strict=False):
        _require(tag[0] != "I" or before[2:] == tag[2:], op, "leaves an I tag without its slot", where)


def check_protected_words(op: Operator, tokens: Sequence[str], words: Sequence[str], seed: int = 0) -> None:
    """Check that protected words of one perturbed utterance are unchanged."""
    clean = parse_utterance(tokens)
    noisy = perturb_tokens(op, tokens, protect=words, seed=seed)
    text, guarded = " ".join(noisy.tokens), make_constraints(clean, words).protected
    for (start, end), (first, last) in zip(guarded, move_spans(noisy.edits, guarded), strict=True):
        where = f"{clean.text[start:end]!r} of {clean.text!r} becomes {text[first:last]!r}"
        _require(text[first:last] == clean.text[start:end], op, "alters a protected word", where)


LAWS: tuple[Callable[[Operator], None], ...] = (
    check_name,
    check_pure,
    check_replay,
    check_batching,
    check_stream,
    check_pickling,
    check_slots,
)


def digest_edits(*operators: Operator) -> str:
    """Return a digest of the edits that operators make of the texts.

    >>> from lapsus.perturbations.core import Shout
    >>> digest_edits(Shout()) == digest_edits(Shout())
    True
    """
    edits = [perturb_batch(op, TEXTS, seed=3, keys=KEYS) for op in operators]
    return hashlib.sha256(json.dumps(edits).encode("utf-8", "surrogatepass")).hexdigest()


def check_other_process(*operators: Operator) -> None:
    """A new process with other hashes of strings makes the same edits, as on another machine or a worker."""
    code = (
        "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer);"
        "from lapsus.perturbations.laws import digest_edits; print(digest_edits(*pickle.load(sys.stdin.buffer)))"
    )
    process = subprocess.run(  # noqa: S603 - this Python, and code from above
        [sys.executable, "-c", code],
        input=pickle.dumps(sys.path) + pickle.dumps(operators),
        env=os.environ | {"PYTHONHASHSEED": HASH_SEED},
        capture_output=True,
        check=False,
    )
    for op in operators[:1]:
        last = (process.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
        _require(process.returncode == 0, op, "does not run in another process", last)
        names = ", ".join(each.name for each in operators)
        _require(
            process.stdout.decode().strip() == digest_edits(*operators),
            op,
            "makes other edits in another process",
            names,
        )


def check(*operators: Operator) -> None:
    """Check operators against every law; raise BrokenLawError with the first broken one."""
    for op in operators:
        for law in LAWS:
            law(op)
    check_other_process(*operators)
