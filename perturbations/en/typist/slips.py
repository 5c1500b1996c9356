"""What each kind of slip makes of a text, at the character where it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lapsus.core.edits import Edit
from lapsus.perturbations.en.typist.keys import from_qwerty, to_qwerty
from lapsus.perturbations.en.typist.model import CLOSING, MARKS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lapsus.perturbations.en.typist.model import TypistModel


class KeyPress(NamedTuple):
    """The key at which a slip happens: in a text, by a model, with random numbers of its own, on a layout."""

    text: str
    at: int
    model: TypistModel
    draw: Callable[[], float]
    layout: str

    @property
    def character(self) -> str:
        """What the key was to type."""
        return self.text[self.at]

    def replace(self, new: str) -> Edit:
        """Return the edit that puts `new` for the character."""
        return Edit(self.at, self.at + 1, new)

    def insert_after(self, new: str) -> Edit:
        """Return the edit that puts `new` behind the character."""
        return Edit(self.at + 1, self.at + 1, new)

    def draw_option(self, what: str) -> str:
        """Return one of the options that hold anywhere."""
        return self.model.outputs[what]["any"].pick(self.draw())


def make_slip(kind: str, press: KeyPress) -> Edit | None:
    """Return what a kind of slip changes; nothing where it cannot happen."""
    return SLIPS[kind](press)


def find_class(text: str, at: int) -> str:
    """Return the class of a character, as `places` numbers them.

    >>> find_class("at 9.", 3), find_class("at 9.", 4)
    ('digit', 'final .')
    """
    character = text[at]
    if character in CLOSING and at == len(text) - 1:
        return f"final {character}"
    if character in "0123456789":
        return "digit"
    return "'" if character == "’" else character if character.isalpha() or character in MARKS else "symbol"


def _draw_typed(kind: str, press: KeyPress) -> str:
    """Return what a finger or a mind puts for, or beside, the character; nothing if that is unknown."""
    text, at, model, draw, layout = press
    by_finger = layout != "qwerty" and kind not in ("other", "stray")
    qwerty_text = text[:at] + to_qwerty(text[at], layout) + text[at + 1 :] if by_finger else text
    options = model.outputs[kind].get(find_class(qwerty_text, at))
    if not options:
        return ""
    new = options.pick(draw())
    return "".join(from_qwerty(character, layout) for character in new) if by_finger else new


def _type_neighbour(press: KeyPress) -> Edit | None:
    new = _draw_typed("beside", press)
    return press.replace(new) if new else None


def _type_other(press: KeyPress) -> Edit | None:
    new = _draw_typed("other", press)
    return press.replace(new) if new else None


def _type_next(press: KeyPress) -> Edit | None:
    after = press.text[press.at + 1 : press.at + 2]
    return press.replace(after) if after and after.lower() != press.character.lower() else None


def _type_previous(press: KeyPress) -> Edit | None:
    before = press.text[: press.at][-1:].lower()
    return press.replace(before) if before and before != press.character.lower() else None


def _omit(press: KeyPress) -> Edit:
    return press.replace("")


def _swap(press: KeyPress) -> Edit | None:
    pair = press.text[press.at : press.at + 2]
    if len(pair) < 2 or pair[0] == pair[1]:
        return None
    if pair[0].isupper() and pair[1].islower():  # shift is held for the first key, whichever it is
        pair = pair.swapcase()
    return Edit(press.at, press.at + 2, pair[::-1])


def _double(press: KeyPress) -> Edit:
    is_shifted = press.at and press.text[press.at - 1].isupper()  # shift
    return press.insert_after(press.character if is_shifted else press.character.lower())


def _insert_after(press: KeyPress) -> Edit | None:
    new = _draw_typed("too_after", press)
    return press.insert_after(new) if new else None


def _insert_before(press: KeyPress) -> Edit | None:
    new = _draw_typed("too_before", press)
    return Edit(press.at, press.at, new) if new else None


def _insert_stray(press: KeyPress) -> Edit | None:
    new = _draw_typed("stray", press)
    return press.insert_after(new) if new else None


def _append_after_end(press: KeyPress) -> Edit | None:
    new = _draw_typed("after_end", press)
    return press.insert_after(new) if new else None


def _insert_space(press: KeyPress) -> Edit:
    return press.insert_after(" ")


def _to_upper(press: KeyPress) -> Edit | None:
    return press.replace(press.character.upper()) if press.character.islower() else None


def _to_lower(press: KeyPress) -> Edit | None:
    end = press.at
    while end < len(press.text) and press.text[end].isupper():
        end += 1
    if end - press.at > 1 and press.draw() < press.model.shares["whole capitals"]:
        return Edit(press.at, end, press.text[press.at : end].lower())
    return press.replace(press.character.lower()) if end > press.at else None


def _type_wrong_run(press: KeyPress) -> Edit | None:
    """Return several wrong keys in a row: a word for another, or a hand that lies beside its place."""
    text, at, model, draw, _ = press
    word = _find_word(press)
    replacements = model.outputs["word"].get(word.lower())
    if word and replacements and draw() < model.shares["word for a word"]:
        new = replacements.pick(draw())
        return Edit(at, at + len(word), new.capitalize() if word[0].isupper() else new)
    length, count = map(int, press.draw_option("run lengths").split())
    old = text[at : at + length]
    letters = []
    for number in range(count):
        later_press = press._replace(at=min(at + number, len(text) - 1))
        way = draw()
        if way < model.shares["run beside"]:
            letters.append(_draw_typed("beside", later_press) or later_press.character)
        elif way < model.shares["run other"]:
            letters.append(_draw_typed("stray", later_press) or later_press.character)
        else:
            letters.append(text[min(later_press.at + 1, len(text) - 1)])
    new = "".join(letters)
    return Edit(at, at + len(old), new) if new != old else None


def _find_word(press: KeyPress) -> str:
    """Return the word that begins at the character; nothing inside a word."""
    end = press.at
    if not end or not press.text[end - 1].isalnum():
        while end < len(press.text) and press.text[end].isalpha():
            end += 1
    return press.text[press.at : end]


def _cut(press: KeyPress) -> Edit | None:
    end = press.at + int(press.draw_option("cut lengths"))
    return Edit(press.at, end, "") if end <= len(press.text) else None


def _cut_word(press: KeyPress) -> Edit | None:
    word = _find_word(press)
    chances = press.model.shares
    chance = chances.get(f"cut {word.lower()}", chances["cut else"])
    end = press.at + len(word)
    if not word or press.text[end : end + 1] != " " or press.draw() * chances["cut most"] >= chance:
        return None
    return Edit(press.at, end + 1, "")


def _add_word(press: KeyPress) -> Edit | None:
    return Edit(press.at, press.at, press.draw_option("word added") + " ") if _find_word(press) else None


def _repeat_last(press: KeyPress) -> Edit:
    """Return the last two or three characters once more."""
    begin = max(0, press.at - 1 - int(press.draw() * 2))
    return press.insert_after(press.text[begin : press.at + 1].lower())


SLIPS: Mapping[str, Callable[[KeyPress], Edit | None]] = {
    "beside": _type_neighbour,
    "other": _type_other,
    "next": _type_next,
    "before": _type_previous,
    "omit": _omit,
    "swap": _swap,
    "double": _double,
    "too_after": _insert_after,
    "too_before": _insert_before,
    "stray": _insert_stray,
    "space": _insert_space,
    "upper": _to_upper,
    "run": _type_wrong_run,
    "cut": _cut,
    "cut_word": _cut_word,
    "add_word": _add_word,
    "extra": _repeat_last,
    "lower": _to_lower,
    "open": _omit,  # the mark at the end
    "after_end": _append_after_end,
}
