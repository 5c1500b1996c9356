"""What is published under a name and a version stays as it is; what `Dataset.map` reuses is of the same version."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

import digests
import pytest
from datasets.fingerprint import Hasher

from lapsus.perturbations import Edit, Mixture, Noise, ZhKeyboard
from lapsus.perturbations.core import Shout


@pytest.mark.parametrize(
    ("name", "op"), list(digests.operators()), ids=lambda each: each if isinstance(each, str) else ""
)
def test_noise_is_what_was_published(name, op):
    try:
        digest = digests.digest_of_noise(op)
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))
    said = digests.fault(name, digest, digests.frozen())
    assert said is None, said


def test_the_sample_and_its_card_are_what_was_published(built_sample):
    known = digests.frozen()
    sample = digests.digests_of_sample(built_sample)
    faults = [said for name, digest in sample.items() if (said := digests.fault(name, digest, known))]
    assert not faults, "\n".join(faults)


def test_the_prose_of_every_card_is_what_was_published():
    known = digests.frozen()
    faults = [said for name, digest in digests.cards().items() if (said := digests.fault(name, digest, known))]
    assert not faults, "\n".join(faults)


@dataclass(frozen=True, slots=True)
class Two:
    """Ends with two marks: `Shout` after a change that forgot the version."""

    name: str = "shout"
    version: str = "1"

    def edits(self, text: str, rng: Random) -> tuple[Edit, ...]:
        return (Edit(len(text), len(text), "!!"),)


def test_other_bytes_under_the_same_version_say_to_raise_it():
    known = {"shout@1": digests.digest_of_noise(Shout())}
    assert digests.fault("shout@1", digests.digest_of_noise(Shout()), known) is None
    assert digests.fault("shout@1", digests.digest_of_noise(Two()), known) == (
        "shout makes other bytes than were published as version 1; raise its version, say so in CHANGELOG.md, "
        "and add the digest with: python tests/helpers/digests.py"
    )
    assert digests.fault("shout@2", digests.digest_of_noise(Two()), known) == (
        "shout@2 has no digest; add it with: python tests/helpers/digests.py"
    )


def test_every_annotator_and_every_speaker_is_held():
    names = {name.partition("@")[0] for name, _ in digests.operators()}
    assert {f"zh_{track}.{number}" for track in ("keyboard", "speech") for number in (1, 2, 3)} <= names
    assert {f"zh_speech.speaker.{number}" for number in range(1, 11)} <= names
    assert {f"random.{number}" for number in range(10)} <= names


class Terse:
    """An operator whose repr hides its version, and whose version is no part of its own state."""

    name = "terse"
    version = "1"

    def __repr__(self) -> str:
        return "Terse()"

    def edits(self, text: str, rng: Random) -> tuple[Edit, ...]:
        return ()


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda op: op,
        lambda op: Mixture("m", (Shout(), op)),
        lambda op: Mixture("outer", (Mixture("inner", (op, Shout())), Shout())),
    ],
    ids=["alone", "in a mixture", "in a mixture of mixtures"],
)
def test_another_version_is_another_fingerprint_of_map(wrapped, monkeypatch):
    """`Dataset.map` reuses rows by what `Hasher` says of the function."""
    first = Hasher.hash(Noise(wrapped(Terse())))
    assert Hasher.hash(Noise(wrapped(Terse()))) == first
    monkeypatch.setattr(Terse, "version", "2")
    assert Hasher.hash(Noise(wrapped(Terse()))) != first
    typist = ZhKeyboard.annotator(2)
    assert Hasher.hash(Noise(wrapped(typist))) != Hasher.hash(Noise(wrapped(replace(typist, version="99"))))
