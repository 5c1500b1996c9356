"""Each law catches the operator that breaks it, with a sentence that names both."""

from __future__ import annotations

import importlib
import random
from dataclasses import dataclass, field

import pytest

from lapsus.perturbations import Edit
from lapsus.perturbations.core import Shout
from lapsus.perturbations.laws import LAWS, BrokenLawError, check, check_other_process


@dataclass(frozen=True)
class Marks:
    """Ends with a mark; each class below does it in a way that a law forbids."""

    name: str = "marks"
    version: str = "1"

    def edits(self, text, rng):
        return (Edit(len(text), len(text), "!"),)


class Unversioned(Marks):
    """Has no version."""

    def __init__(self):
        super().__init__(version="")


class Undocumented(Marks):
    __doc__ = None


@dataclass(frozen=True)
class Counting(Marks):
    """Remembers how often it was asked."""

    asked: list[str] = field(default_factory=list, compare=False)

    def edits(self, text, rng):
        self.asked.append(text)
        return (Edit(0, 0, "!" * len(self.asked)),)


class Global(Marks):
    """Draws from the module random; what it draws does not show."""

    def edits(self, text, rng):
        random.random()
        return super().edits(text, rng)


class Outside(Marks):
    """Edits behind the end."""

    def edits(self, text, rng):
        return (Edit(len(text) + 1, len(text) + 1, "!"),)


class Idle(Marks):
    """Replaces a letter by itself."""

    def edits(self, text, rng):
        return (Edit(0, 1, text[:1]),)


class Plain(Marks):
    """Returns tuples."""

    def edits(self, text, rng):
        return ((0, 0, "!"),)


class Together(Marks):
    """Looks at the first text of the batch."""

    def edits_batch(self, texts, rngs):
        return [(Edit(0, 0, texts[0][:1] or "!"),) for _ in texts]


class Crowd(Marks):
    """Looks at the size of the batch."""

    def edits_batch(self, texts, rngs):
        return [(Edit(0, 0, "!" * len(texts)),) for _ in texts]


class Keyed(Marks):
    """Draws otherwise for many than for one."""

    def edits_from_keys(self, texts, seed, keys):
        return [(Edit(0, 0, key),) for key in keys]


class Forgetful(Marks):
    """Comes back from a worker with another setting."""

    def __reduce__(self):
        return Forgetful, ("another",)


@pytest.mark.parametrize(
    ("op", "law", "says"),
    [
        (Unversioned(), "check_name", "marks has the version ''"),
        (Undocumented(), "check_name", "marks has no docstring"),
        (Counting(), "check_pure", "marks is not pure: 'please"),
        (Global(), "check_pure", "marks draws from the module random"),
        (Outside(), "check_replay", "marks proposes edits that do not replay"),
        (Idle(), "check_replay", "marks proposes an edit that changes nothing"),
        (Plain(), "check_replay", "marks proposes what is no Edit"),
        (Together(), "check_batching", "marks depends on the order of the texts"),
        (Crowd(), "check_batching", "marks depends on the batch"),
        (Keyed(), "check_stream", "marks has two noise functions"),
        (Forgetful(), "check_pickling", "marks is another one after pickling"),
    ],
)
def test_a_broken_law_is_named(op, law, says):
    (held,) = (each for each in LAWS if each.__name__ == law)
    with pytest.raises(BrokenLawError, match=says):
        held(op)
    held(Shout())


HASHED = '''
from dataclasses import dataclass
from lapsus.perturbations import Edit

@dataclass(frozen=True)
class Hashed:
    """Goes by the hash of a string, which each process has its own of."""

    name: str = "hashed"
    version: str = "1"

    def edits(self, text, rng):
        return (Edit(0, 0, str(hash(text + "salt"))),)
'''


@pytest.mark.slow
def test_hashes_of_strings_are_caught_in_another_process(tmp_path, monkeypatch):
    (tmp_path / "goes_by_hash.py").write_text(HASHED)  # a module of its own: the other process must import it
    monkeypatch.syspath_prepend(tmp_path)
    hashed = importlib.import_module("goes_by_hash").Hashed()
    with pytest.raises(BrokenLawError, match="hashed makes other edits in another process"):
        check_other_process(hashed)
    monkeypatch.undo()
    with pytest.raises(BrokenLawError, match=r"hashed does not run in another process: .*goes_by_hash"):
        check_other_process(hashed)
    check(Shout())
