"""What each kind of slip makes of a text, at the character where it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lapsus.perturbations.core import Edit
from lapsus.perturbations.en.typist.keys import from_qwerty, on_qwerty
from lapsus.perturbations.en.typist.places import CLOSING, MARKS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lapsus.perturbations.en.typist.model import Model


class Press(NamedTuple):
    """The key at which a slip happens: in a text, by a model, with random numbers of its own, on a layout."""

    text: str
    at: int
    model: Model
    draw: Callable[[], float]
    layout: str

    @property
    def character(self) -> str:
        """What the key was to type."""
        return self.text[self.at]

    def replaced(self, new: str) -> Edit:
        """Return the edit that puts `new` for the character."""
        return Edit(self.at, self.at + 1, new)

    def followed(self, new: str) -> Edit:
        """Return the edit that puts `new` behind the character."""
        return Edit(self.at + 1, self.at + 1, new)

    def any_of(self, what: str) -> str:
        """Return one of the options that hold anywhere."""
        return self.model.written[what]["any"].pick(self.draw())


def slip(kind: str, press: Press) -> Edit | None:
    """Return what a kind of slip changes; nothing where it cannot happen."""
    return SLIPS[kind](press)


def class_of(text: str, at: int) -> str:
    """Return the class of a character, as `places` numbers them.

    >>> class_of("at 9.", 3), class_of("at 9.", 4)
    ('digit', 'final .')
    """
    character = text[at]
    if character in CLOSING and at == len(text) - 1:
        return f"final {character}"
    if character in "0123456789":
        return "digit"
    return "'" if character == "’" else character if character.isalpha() or character in MARKS else "symbol"


def _written(kind: str, press: Press) -> str:
    """Return what a finger or a mind puts for, or beside, the character; nothing if that is unknown."""
    text, at, model, draw, layout = press
    by_finger = layout != "qwerty" and kind not in ("other", "stray")
    shown = text[:at] + on_qwerty(text[at], layout) + text[at + 1 :] if by_finger else text
    options = model.written[kind].get(class_of(shown, at))
    if not options:
        return ""
    new = options.pick(draw())
    return "".join(from_qwerty(one, layout) for one in new) if by_finger else new


def _beside(press: Press) -> Edit | None:
    new = _written("beside", press)
    return press.replaced(new) if new else None


def _other(press: Press) -> Edit | None:
    new = _written("other", press)
    return press.replaced(new) if new else None


def _next(press: Press) -> Edit | None:
    after = press.text[press.at + 1 : press.at + 2]
    return press.replaced(after) if after and after.lower() != press.character.lower() else None


def _before(press: Press) -> Edit | None:
    before = press.text[: press.at][-1:].lower()
    return press.replaced(before) if before and before != press.character.lower() else None


def _omit(press: Press) -> Edit:
    return press.replaced("")


def _swap(press: Press) -> Edit | None:
    pair = press.text[press.at : press.at + 2]
    if len(pair) < 2 or pair[0] == pair[1]:
        return None
    if pair[0].isupper() and pair[1].islower():  # shift is held for the first key, whichever it is
        pair = pair.swapcase()
    return Edit(press.at, press.at + 2, pair[::-1])


def _double(press: Press) -> Edit:
    held = press.at and press.text[press.at - 1].isupper()  # shift
    return press.followed(press.character if held else press.character.lower())


def _too_after(press: Press) -> Edit | None:
    new = _written("too_after", press)
    return press.followed(new) if new else None


def _too_before(press: Press) -> Edit | None:
    new = _written("too_before", press)
    return Edit(press.at, press.at, new) if new else None


def _stray(press: Press) -> Edit | None:
    new = _written("stray", press)
    return press.followed(new) if new else None


def _after_end(press: Press) -> Edit | None:
    new = _written("after_end", press)
    return press.followed(new) if new else None


def _space(press: Press) -> Edit:
    return press.followed(" ")


def _upper(press: Press) -> Edit | None:
    return press.replaced(press.character.upper()) if press.character.islower() else None


def _lower(press: Press) -> Edit | None:
    end = press.at
    while end < len(press.text) and press.text[end].isupper():
        end += 1
    if end - press.at > 1 and press.draw() < press.model.shares["whole capitals"]:
        return Edit(press.at, end, press.text[press.at : end].lower())
    return press.replaced(press.character.lower()) if end > press.at else None


def _run(press: Press) -> Edit | None:
    """Return several wrong keys in a row: a word for another, or a hand that lies beside its place."""
    text, at, model, draw, _ = press
    word = _word(press)
    others = model.written["word"].get(word.lower())
    if word and others and draw() < model.shares["word for a word"]:
        new = others.pick(draw())
        return Edit(at, at + len(word), new.capitalize() if word[0].isupper() else new)
    length, count = map(int, press.any_of("run lengths").split())
    old = text[at : at + length]
    letters = []
    for number in range(count):
        there = press._replace(at=min(at + number, len(text) - 1))
        way = draw()
        if way < model.shares["run beside"]:
            letters.append(_written("beside", there) or there.character)
        elif way < model.shares["run other"]:
            letters.append(_written("stray", there) or there.character)
        else:
            letters.append(text[min(there.at + 1, len(text) - 1)])
    new = "".join(letters)
    return Edit(at, at + len(old), new) if new != old else None


def _word(press: Press) -> str:
    """Return the word that begins at the character; nothing inside a word."""
    end = press.at
    if not end or not press.text[end - 1].isalnum():
        while end < len(press.text) and press.text[end].isalpha():
            end += 1
    return press.text[press.at : end]


def _cut(press: Press) -> Edit | None:
    end = press.at + int(press.any_of("cut lengths"))
    return Edit(press.at, end, "") if end <= len(press.text) else None


def _cut_word(press: Press) -> Edit | None:
    word = _word(press)
    chances = press.model.shares
    chance = chances.get(f"cut {word.lower()}", chances["cut else"])
    end = press.at + len(word)
    if not word or press.text[end : end + 1] != " " or press.draw() * chances["cut most"] >= chance:
        return None
    return Edit(press.at, end + 1, "")


def _add_word(press: Press) -> Edit | None:
    return Edit(press.at, press.at, press.any_of("word added") + " ") if _word(press) else None


def _extra(press: Press) -> Edit:
    """Return the last two or three characters once more."""
    begin = max(0, press.at - 1 - int(press.draw() * 2))
    return press.followed(press.text[begin : press.at + 1].lower())


SLIPS: Mapping[str, Callable[[Press], Edit | None]] = {
    "beside": _beside,
    "other": _other,
    "next": _next,
    "before": _before,
    "omit": _omit,
    "swap": _swap,
    "double": _double,
    "too_after": _too_after,
    "too_before": _too_before,
    "stray": _stray,
    "space": _space,
    "upper": _upper,
    "run": _run,
    "cut": _cut,
    "cut_word": _cut_word,
    "add_word": _add_word,
    "extra": _extra,
    "lower": _lower,
    "open": _omit,  # the mark at the end
    "after_end": _after_end,
}
