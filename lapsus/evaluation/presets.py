"""Noise named by what people do: a preset is an operator of a language, how much it does, and how human that is.

The figures are those of docs/english.md, docs/chinese.md and docs/fidelity.md, of the version that a preset names.

>>> [preset.spec for preset in choose_presets("en")]
['typed=en_keyboard:3', 'dictated=en_speech:3', 'fillers=filler_eos:3']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lapsus.evaluation.rewording import REWORDED  # what people do that no operator does alone
from lapsus.perturbations.specs import LANGUAGE_NAMES


@dataclass(frozen=True, slots=True)
class Preset:
    """Noise of one kind in one language.

    Args:
        name: What people do.
        language: The code of the language.
        operator: The operator.
        version: The version of the operator that the figures are of.
        severity: How much it does.
        likeness: How human it is, and in which texts that was measured.
        people: The number of simulated people, each a track.
    """

    name: str
    language: str
    operator: str
    version: str
    severity: str
    likeness: str
    people: int = 3

    @property
    def spec(self) -> str:
        """The noise as `--noise` takes it."""
        return f"{self.name}={self.operator}:{self.people}"


PRESETS = (
    Preset(
        "typed",
        "en",
        "en_keyboard",
        "1",
        "people who correct what they see; 1.0 % of the characters are wrong, 30 % of the sentences change",
        "people: 1.1 % and 27 % in copied English sentences; a classifier tells it from them with an AUC of .59 to .61 "
        "(.60 between two halves of the people, .5 is a coin); other texts are not measured",
    ),
    Preset(
        "dictated",
        "en",
        "en_speech",
        "1",
        "15 % of the words are wrong in requests to an assistant, 22 % in questions",
        "recognisers: 16 and 22 %; a classifier tells it from them with an AUC of .61 and .65 (.55 between recordings "
        "of the same requests); other texts are not measured",
    ),
    Preset(
        "fillers",
        "en",
        "filler_eos",
        "2",
        "one filler at the end of each text that admits one",
        "read by one person: 1 of 60 in requests and questions moved the meaning; how often people say fillers is not "
        "measured",
    ),
    Preset(
        "typed",
        "zh",
        "zh_keyboard",
        "4",
        "people in a hurry who may not go back; 17 % of the characters are wrong",
        "people: 17 to 18 % in questions to a payment service and in news; a classifier tells it from them with an AUC "
        "of .66 and .68 (.71 to .84 between people); other texts are not measured",
    ),
    Preset(
        "dictated",
        "zh",
        "zh_speech",
        "5",
        "what a recogniser makes of three speakers, two of them with an accent; 21 % of the characters are wrong",
        "recognised readers: 21 % in news; a classifier tells it from them with an AUC of .74 (.72 to .78 between "
        "people); other texts are not measured",
    ),
)


def name_language(code: str) -> str:
    """Return the English name of a language where it is known, else its code.

    >>> name_language("pt"), name_language("ja")
    ('Portuguese', 'ja')
    """
    return LANGUAGE_NAMES.get(code, code)


def is_preset(word: str) -> bool:
    """Return whether a word names a preset of any language."""
    return word == REWORDED or any(preset.name == word for preset in PRESETS)


def choose_presets(language: str, names: Sequence[str] = ()) -> tuple[Preset, ...]:
    """Return the presets of a language, or those with these names; refuse what there is not.

    >>> choose_presets("zh", ["fillers"])
    Traceback (most recent call last):
    ...
    LookupError: there is no preset fillers for Chinese; take typed or dictated, or name an operator with --noise
    """
    if REWORDED in names:
        raise LookupError(
            "reworded needs a model that rewrites texts; name one with --rewriter MODEL, or for other words in English "
            "take --noise fillers, or --noise synonym_any:3 with the extra lapsus[en]"
        )
    known = {preset.name: preset for preset in PRESETS if preset.language == language}
    missing = next((name for name in names if name not in known), None)
    if missing or not known:
        problem = f"there is no preset {missing}" if known else "no preset is"
        cure = f"take {' or '.join(known)}, or" if known else "there are some for English and Chinese:"
        raise LookupError(f"{problem} for {name_language(language)}; {cure} name an operator with --noise")
    return tuple(known[name] for name in names or known)
