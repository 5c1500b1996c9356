"""Presets name operators that there are, in the version that their figures are of; languages are told by their texts."""

from __future__ import annotations

import pytest
from paths import ROOT

from lapsus.evaluation.presets import PRESETS
from lapsus.perturbations.languages import detect_language
from lapsus.perturbations.specs import OPERATORS, find_languages, parse_noises


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: f"{preset.name}-{preset.language}")
def test_a_preset_is_of_the_version_that_its_figures_are_of(preset):
    operator = OPERATORS[preset.operator]
    assert operator.version == preset.version, "read its figures again in docs/, and change the version of the preset"
    assert find_languages(operator) == (preset.language,)
    (tracks,) = parse_noises([preset.spec]).values()
    assert len(tracks) == preset.people
    row = next(
        line
        for line in (ROOT / "docs" / "check.md").read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| `{preset.name}`") and preset.operator in line
    )
    assert f"`{preset.operator}:{preset.people}` (version {preset.version})" in row


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["play jazz by miles davis", "book a table for two"], "en"),
        (["What is the capital of Assyria?"], "en"),
        (["wird es morgen in Köln regnen", "spiele ein Lied von Bach"], None),
        (["Comment puis-je réinitialiser mon mot de passe ?"], None),
        (["花呗怎么提额 Pay"], "zh"),
        (["明日の天気はどうですか"], "ja"),
        (["내일 비가 올까요"], "ko"),
        (["какая завтра погода"], None),
        (["12", ""], None),
        (["花呗怎么提额", "какая завтра", "will it rain"], None),
    ],
)
def test_a_language_is_told_or_unknown(texts, language):
    assert detect_language(texts).language == language
