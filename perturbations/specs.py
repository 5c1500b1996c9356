"""Noise specs: `[TRACK=]OPERATOR[:ANNOTATORS][@SEVERITY]`, and several operators joined by `+`.

`zh_keyboard:3` is three annotators, `filler_eos:2` two seeds, `zh_homophone@0.3` one track at a rate of 0.3, and
`zh_speech:3+zh_homophone@0.1` homophones on what each of three speakers dictated. `typed=zh_keyboard:3` calls the
tracks `typed.1` to `typed.3`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from lapsus.core.messages import format_unknown_name
from lapsus.core.plugins import load_units
from lapsus.perturbations.core import Clean, Mixture, Operator, Thinned
from lapsus.perturbations.noise import Noise

MIN_TEXTS = 10  # fewer texts than this may all stay unchanged by chance
MIN_SHARE = 0.5  # of letters in the writing that an operator is for
MAX_TEXTS = 500  # texts that are looked at
CHINESE = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
LANGUAGE_NAMES = {"zh": "Chinese", "en": "English", "pt": "Portuguese", "de": "German", "fr": "French", "es": "Spanish"}

# Every operator there is: those of this package, found in its modules, and those of other packages.


@cache
def _load_operators() -> Mapping[str, Operator]:
    return MappingProxyType(dict(load_units("lapsus.perturbations", "lapsus.operators", lambda unit: unit.name)))


class UnknownOperatorError(KeyError):
    """No operator has this name."""

    def __str__(self) -> str:
        return format_unknown_name("operator", self.args[0], _load_operators())


class _Operators(Mapping[str, Operator]):
    """A read-only mapping from name to operator, filled when it is first asked."""

    def __getitem__(self, name: str) -> Operator:
        if name not in _load_operators():
            raise UnknownOperatorError(name)
        return _load_operators()[name]

    def __contains__(self, name: object) -> bool:
        return name in _load_operators()

    def __iter__(self) -> Iterator[str]:
        return iter(_load_operators())

    def __len__(self) -> int:
        return len(_load_operators())


OPERATORS: Mapping[str, Operator] = _Operators()


def find_languages(unit: Any) -> tuple[str, ...]:
    """Return the languages that a unit is for: those it states, or that of its package; a metric is for any.

    >>> find_languages(OPERATORS["zh_homophone"]), find_languages(OPERATORS["semantic_delete_pt"])
    (('zh',), ('pt',))
    """
    if isinstance(codes := getattr(unit, "LANGUAGES", None), tuple):
        return codes
    if isinstance(code := getattr(unit, "language", None), str):
        return (code,)
    if parts := getattr(unit, "operators", None) or [part for part in [getattr(unit, "operator", None)] if part]:
        return find_languages(parts[0])
    match = re.match(r"lapsus\.perturbations\.(en|zh)\b", type(unit).__module__)
    return (match[1],) if match else ()


SPEC = re.compile(r"(?P<name>[^:@=+\s]+)(:(?P<count>[0-9]+))?(@(?P<severity>[^:@=+\s]+))?")
TRACK = re.compile(r"(?:(?P<track>[^:@=+]+)=)?(?P<noise>.*)", re.DOTALL)  # a spec has no other `=`
MAX_ANNOTATORS = 1000  # tracks of one spec; each becomes a config


class NoiseStep(NamedTuple):
    """One operator, and the number of the annotator that its seed stands for: 0 where the operator is the annotator."""

    operator: Operator
    annotator: int


class NoiseTrack(NamedTuple):
    """Operators in the order in which they are put on a text, and what the name of the track ends with.

    `suffix` is ".1" to ".N", or nothing where the track is alone.
    """

    suffix: str
    steps: tuple[NoiseStep, ...]

    def make_noises(self, *, seed: int = 0, **settings: Any) -> tuple[Noise, ...]:
        """Return the noise of each step, for `apply_in_turn`; `settings` are those of `Noise`."""
        return tuple(Noise(step.operator, seed=pair_seed(seed, step.annotator), **settings) for step in self.steps)


def pair_seed(seed: int, annotator: int) -> int:
    """Return the seed of an annotator under another seed; all pairs of a seed and an annotator have different ones.

    Under seed 0 annotator n draws from seed n.

    >>> [pair_seed(seed, annotator) for seed in (0, 1) for annotator in (1, 2, 3)]
    [1, 2, 3, 1001, 1002, 1003]
    """
    return seed * MAX_ANNOTATORS + annotator if annotator else seed


def parse_noises(specs: Iterable[str]) -> dict[str, tuple[NoiseTrack, ...]]:
    """Return the tracks of each spec, by the name that it gives them, or by its operators.

    >>> {name: len(tracks) for name, tracks in parse_noises(["typed=zh_keyboard:3", "zh_homophone:2@0.3"]).items()}
    {'typed': 3, 'zh_homophone_30%': 2}
    """
    noises: dict[str, tuple[NoiseTrack, ...]] = {}
    for spec in specs:
        name, noise = split_track_name(spec)
        tracks = parse_noise(noise)
        name = name or format_noise_name(noise)
        if name in noises:
            raise ValueError(f"two tracks are called {name!r}; name one of them: TRACK={noise}")
        noises[name] = tracks
    return noises


def split_track_name(spec: str) -> tuple[str, str]:
    """Return the name that a spec gives its track, or nothing, and its noise.

    >>> split_track_name("typed=zh_keyboard:3"), split_track_name("zh_keyboard")
    (('typed', 'zh_keyboard:3'), ('', 'zh_keyboard'))
    """
    match = TRACK.fullmatch(spec)
    return (match["track"] or "", match["noise"]) if match else ("", spec)


def list_operator_names(spec: str) -> list[str]:
    """Return the names of the operators of a spec, in their order.

    >>> list_operator_names("both=zh_speech:3+zh_homophone@0.1")
    ['zh_speech', 'zh_homophone']
    """
    return [part.partition("@")[0].partition(":")[0] for part in split_track_name(spec)[1].split("+")]


def format_noise_name(noise: str) -> str:
    """Return what the tracks of a noise are called: its operators, each with its severity in percent.

    >>> format_noise_name("zh_homophone:3@0.3"), format_noise_name("zh_speech:3+zh_homophone@0.1")
    ('zh_homophone_30%', 'zh_speech+zh_homophone_10%')
    """
    names = []
    for part in noise.split("+"):
        name, _, severity = part.partition("@")
        names.append(name.partition(":")[0] + (f"_{float(severity) * 100:g}%" if severity else ""))
    return "+".join(names)


def parse_noise(spec: str) -> tuple[NoiseTrack, ...]:
    """Return the tracks that `OPERATOR[:ANNOTATORS][@SEVERITY]`, or several joined by `+`, stand for.

    ANNOTATORS asks for that many tracks: the operator's annotators 1 to N where it has any, otherwise the seeds 1
    to N. Without it there is one track: the operator as `lapsus list` shows it, with seed 0, as `lapsus perturb` has
    it. SEVERITY is the operator's setting `rate`; of an operator without one, the share of its edits that are kept.
    Several operators are applied in order; one without ANNOTATORS is the same in all tracks.

    >>> [(track.suffix, step.operator.who, step.operator.rate, step.annotator)
    ...  for track in parse_noise("zh_keyboard:2@0.5") for step in track.steps]
    [('.1', 1, 0.5, 0), ('.2', 2, 0.5, 0)]
    >>> [(track.suffix, [(step.operator.name, step.annotator) for step in track.steps])
    ...  for track in parse_noise("filler_eos:2+speako")]
    [('.1', [('filler_eos', 1), ('speako', 0)]), ('.2', [('filler_eos', 2), ('speako', 0)])]
    """
    parts = spec.split("+")
    matches = [SPEC.fullmatch(part) for part in parts]
    if not all(matches):
        raise ValueError(
            f"{spec!r} is no noise spec; write OPERATOR[:ANNOTATORS][@SEVERITY], e.g. zh_keyboard:3@0.5, "
            "with + between several operators"
        )
    tracks = [_parse_single(match, part) for match, part in zip(matches, parts, strict=True) if match]
    counts = {len(group) for group in tracks if group[0].suffix}
    if len(counts) > 1:
        raise ValueError(f"{spec!r} asks for {' and for '.join(map(str, sorted(counts)))} annotators; give one number")
    count = max(counts, default=1)
    expanded = [group if group[0].suffix else group * count for group in tracks]
    return tuple(
        NoiseTrack(
            max(track.suffix for track in combination), tuple(step for track in combination for step in track.steps)
        )
        for combination in zip(*expanded, strict=True)
    )


def mix(specs: Mapping[str, float] | Iterable[str]) -> Operator:
    """Return an operator that draws one of several noises for each row, by their weights where these are given.

    A spec is `OPERATOR[:ANNOTATORS][@SEVERITY]`, whose annotators share its weight, or `clean`: the share of the rows
    without noise.

    >>> mixture = mix({"en_keyboard:2@0.5": 3, "filler_eos": 1, "clean": 2})
    >>> [operator.name for operator in mixture.operators], mixture.weights
    (['en_keyboard', 'en_keyboard', 'filler_eos', 'clean'], (1.5, 1.5, 1.0, 2.0))
    >>> mix(["zh_homophone@0.2"]).rate
    0.2
    """
    names = [specs] if isinstance(specs, str) else list(specs)
    weights = dict(specs) if isinstance(specs, Mapping) else dict.fromkeys(names, 1)
    if not names:
        raise ValueError("there is no noise to mix; give at least one spec, such as en_keyboard:3@0.5")
    for spec, weight in weights.items():
        if not isinstance(weight, int | float):
            raise TypeError(f"the weight of {spec} is {weight!r}; give a number")
    groups = {spec: _parse_members(spec) for spec in names}
    operators = tuple(operator for group in groups.values() for operator in group)
    if len(operators) == 1:
        return operators[0]
    if len(groups) == 1:
        return Mixture(names[0], operators)
    shares = (weights[spec] / len(group) for spec, group in groups.items() for _ in group)
    return Mixture("mix", operators, weights=tuple(shares))


def _parse_members(spec: str) -> tuple[Operator, ...]:
    """Return the operators of one spec of a mixture: its annotators."""
    if spec == "clean":
        return (Clean(),)
    tracks = parse_noise(spec)
    if any(len(track.steps) != 1 for track in tracks):
        raise ValueError(f"{spec!r} joins several operators; name one")
    return tuple(track.steps[0].operator for track in tracks)


def _parse_single(match: re.Match[str], spec: str) -> tuple[NoiseTrack, ...]:
    """Return the tracks of one operator."""
    operator = OPERATORS[match["name"]]
    rate = None if match["severity"] is None else _parse_severity(match["severity"], spec)
    if match["count"] is None:
        return (NoiseTrack("", (NoiseStep(_set_rate(operator, rate), 0),)),)
    count = int(match["count"])
    if not 1 <= count <= MAX_ANNOTATORS:
        raise ValueError(f"{spec!r} asks for {count} annotators; give a number from 1 to {MAX_ANNOTATORS}")
    annotator = getattr(type(operator), "annotator", None)
    if annotator is None:
        return tuple(NoiseTrack(f".{n}", (NoiseStep(_set_rate(operator, rate), n),)) for n in range(1, count + 1))
    return tuple(NoiseTrack(f".{n}", (NoiseStep(_set_rate(annotator(n), rate), 0),)) for n in range(1, count + 1))


def _parse_severity(value: str, spec: str) -> float:
    try:
        rate = float(value)
    except ValueError:
        rate = math.nan
    if not math.isfinite(rate):
        raise ValueError(f"the severity {value!r} of {spec!r} is no number; write one such as @0.5")
    return rate


def _set_rate(operator: Operator, rate: float | None) -> Operator:
    """Return the operator at a rate; the operator itself knows which rates it takes."""
    if rate is None:
        return operator
    if not (is_dataclass(operator) and any(field.name == "rate" for field in fields(operator))):
        return Thinned(operator, rate)
    changed: Operator = replace(operator, rate=rate)
    return changed


# Whether noise is noise: how many texts it changed, and whether its operator is for the writing of the texts.


def find_languages_of(spec: str) -> tuple[str, ...]:
    """Return the languages of the first operator of a noise spec that is for some; none of operators for any.

    >>> find_languages_of("typed=zh_keyboard:3@0.5")
    ('zh',)
    """
    for name in list_operator_names(spec):
        if name in OPERATORS and (languages := find_languages(OPERATORS[name])):
            return languages
    return ()


def describe_mismatch(languages: Sequence[str], texts: Iterable[str]) -> str | None:
    """Say that texts are in another writing than that of these languages; None where they are not.

    >>> describe_mismatch(("en",), ["花呗怎么提额"])
    'made for English, and 0 % of the letters of the texts are Latin letters'
    >>> describe_mismatch(("en",), ["will it rain", "wird es regnen"]), describe_mismatch((), ["花呗"])
    (None, None)
    """
    codes = {code.partition("-")[0] for code in languages}
    if not codes <= LANGUAGE_NAMES.keys() or not codes or ("zh" in codes and len(codes) > 1):
        return None
    letters = [letter for text in list(texts)[:MAX_TEXTS] for letter in text if letter.isalpha()]
    pattern, writing = (CHINESE, "Chinese characters") if "zh" in codes else (LATIN, "Latin letters")
    share = sum(pattern.match(letter) is not None for letter in letters) / max(1, len(letters))
    if not letters or share >= MIN_SHARE:
        return None
    names = " and ".join(LANGUAGE_NAMES[code] for code in sorted(codes))
    return f"made for {names}, and {share:.0%} of the letters of the texts are {writing}".replace("%", " %")


def check_effect(track: str, spec: str, changed: int, texts: Sequence[str]) -> list[str]:
    """Return what a user must know of noise on texts; raise where it changes none, and is for another language.

    >>> check_effect("keyboard", "en_keyboard", 0, ["花呗怎么提额"] * 20)
    Traceback (most recent call last):
    ValueError: the noise of keyboard changes none of the 20 texts: en_keyboard is made for English, and 0 % of the \
letters of the texts are Latin letters; take an operator for their language (lapsus list operators)
    """
    name = ", ".join(list_operator_names(spec))
    mismatch = describe_mismatch(find_languages_of(spec), texts)
    cure = "take an operator for their language (lapsus list operators)"
    reason = f"{name} is {mismatch}; {cure}" if mismatch else "take another operator, or more of it"
    if changed:
        return [f"warning: {track}: {reason}"] if mismatch else []
    message = f"the noise of {track} changes none of the {len(texts)} texts: {reason}"
    if mismatch and len(texts) >= MIN_TEXTS:
        raise ValueError(message)
    return [f"warning: {message}"]
