"""What the models of `gain.py` learn from and are asked, and the noise they train with."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from corpora.readin import labelled
from corpora.transcripts import slurp

from lapsus.perturbations import OPERATORS, Edit, Mixture, Noise, Operator, mix
from lapsus.perturbations.en.nlpaug import make_augmentation

Texts = tuple[str, ...]  # one text, or two
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class RandomEdits:
    """Replace, drop, double or swap characters at random: what augmentation without people's habits does.

    Args:
        rate: The share of the characters that change.
        alphabet: What a character is replaced by.
    """

    rate: float
    alphabet: str
    name: str = "random_edits"
    version: str = "1"

    def edits(self, text: str, rng: Random) -> Iterator[Edit]:
        """Change each character with the same probability, in one of four ways."""
        free = 0  # characters before it have changed
        for i in range(len(text)):
            if i < free or rng.random() >= self.rate:
                continue
            way = int(rng.random() * 4)
            other = self.alphabet[int(rng.random() * len(self.alphabet))]
            if way == 0 and other != text[i]:
                yield Edit(i, i + 1, other)
            elif way == 1:
                yield Edit(i, i + 1, "")
            elif way == 2:
                yield Edit(i, i, other)
            elif way == 3 and i + 1 < len(text) and text[i] != text[i + 1]:
                yield Edit(i, i + 2, text[i + 1] + text[i])
                free = i + 2


class Training(NamedTuple):
    """A row of the table: what the copies of the training rows are made with, and whether each pass has new ones."""

    label: str
    operator: Operator | None
    fresh: bool = True


class Material(NamedTuple):
    """A dataset: rows to train on, and test rows in their clean and in several noisy versions."""

    name: str
    title: str
    is_laboratory: bool  # whether operators made the test's noise, and not people
    train: Sequence[tuple[Texts, str]]
    test: Sequence[tuple[Texts, str]]
    noisy: list[list[Texts]]  # of each test row
    trainings: Sequence[Training]
    models: Sequence[str]


def snips(data: Path) -> Material:
    """SNIPS' intents; the test has NATURE's operators, since no people's noise is published for it."""
    train, test = (_read_blocks(data / "nature_slu/snips" / f"{part}.txt") for part in ("train", "test"))
    rows = {"text": [texts[0] for texts, _ in test], "id": [str(number) for number in range(len(test))]}
    tracks = [Noise(OPERATORS[f"random.{number}"], id="id")(rows)["text"] for number in range(5)]
    noisy: list[list[Texts]] = [[(text,) for text in versions] for versions in zip(*tracks, strict=True)]
    return Material("snips", "SNIPS, noise of NATURE's operators", True, train, test, noisy, english(), ("words",))


def requests(data: Path) -> Material:
    """Intents of NLU-Evaluation-Data, asked about SLURP's requests as recognisers wrote their recordings.

    The test has the requests with odd numbers, which `en_speech` was not fitted on; no training row has a test text.
    """
    found = [json.loads(line) for line in (data / "slurp/test.jsonl").read_text("utf-8").splitlines()]
    labels = {each["slurp_id"]: f"{each['scenario']}_{each['action']}" for each in found}
    clean: dict[int, str] = {}
    heard: dict[int, list[Texts]] = {}
    for row in slurp(data / "slurp"):
        if row.number in labels and row.number % 2:
            clean[row.number] = _normalise(row.clean)
            heard.setdefault(row.number, []).append((_normalise(row.heard),))
    held = set(clean.values())
    lines = map(json.loads, (data / "nlued/nlued_cv_union.jsonl").read_text("utf-8").splitlines())
    train = [((_normalise(row["answer_from_anno"]),), f"{row['scenario']}_{row['intent']}") for row in lines]
    train = [(texts, label) for texts, label in train if texts[0] and texts[0] not in held]
    known = {label for _, label in train}
    numbers = [number for number in clean if labels[number] in known]
    test: list[tuple[Texts, str]] = [((clean[number],), labels[number]) for number in numbers]
    noisy = [heard[number] for number in numbers]
    return Material(
        "slurp", "NLU-ED, SLURP's recordings as recognised", False, train, test, noisy, english(), ("words",)
    )


def questions(data: Path) -> Material:
    """AFQMC as READIN balanced it, asked about what three people typed.

    The test has the odd rows, which `zh_keyboard` was not fitted on.
    """
    folder = data / "readin/afqmc_balanced"
    train, clean, *typed = (
        [((first, second), label) for first, second, label in labelled(folder, name)]
        for name in ("train", "test_clean", *(f"test_noisy_{number}" for number in (1, 2, 3)))
    )
    places = range(1, len(clean), 2)
    noisy: list[list[Texts]] = [[track[place][0] for track in typed] for place in places]
    test = [clean[place] for place in places]
    frequent = Counter("".join(text for texts, _ in train for text in texts)).most_common(2000)
    chinese = (
        Training("no noise", None),
        Training("random edits", RandomEdits(0.1, "".join(char for char, _ in frequent if char.isalpha()))),
        Training("READIN's ADA: one copy with homophones", OPERATORS["zh_homophone"], fresh=False),
        Training("lapsus, typed: `zh_keyboard:3`", mix(["zh_keyboard:3"])),
    )
    return Material(
        "afqmc", "AFQMC, READIN's three typists", False, train, test, noisy, chinese, ("shared characters",)
    )


def dialects(data: Path) -> Material:
    """Requests of xSID in Bokmål, asked as ten writers of Norwegian dialects put them; no test text is trained on."""
    valid, test = (_read_conll(data / "xsid" / f"no.{part}.conll") for part in ("valid", "test"))
    rows = [versions["B"] for versions in test.values()]
    held = {texts for texts, _ in rows}
    train = [versions["B"] for versions in valid.values() if versions["B"][0] not in held]
    keep = [versions for versions in test.values() if {label for _, label in versions.values()} == {versions["B"][1]}]
    noisy: list[list[Texts]] = [[texts for writer, (texts, _) in each.items() if writer != "B"] for each in keep]
    own = [Training(*each) for each in english() if "spoken" not in each.label and "NATURE" not in each.label]
    by_bokmaal = {
        versions["B"][0][0]: [texts[0] for writer, (texts, _) in versions.items() if writer != "B"]
        for versions in valid.values()
    }
    return Material(
        "xsid",
        "xSID, ten writers of Norwegian dialects",
        False,
        train,
        [each["B"] for each in keep],
        noisy,
        [*own, Training("for comparison: people's dialects of the training rows", Rewritten(by_bokmaal))],
        ("words", "letters"),
    )


@dataclass(frozen=True, eq=False)
class Rewritten:
    """One of the versions that people wrote of a text."""

    versions: Mapping[str, Sequence[str]]
    name: str = "rewritten"
    version: str = "1"

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Replace the whole text."""
        versions = self.versions[text]
        new = versions[int(rng.random() * len(versions))]
        return [Edit(0, len(text), new)] if new != text else []


def english() -> Sequence[Training]:
    """Return the trainings of texts in Latin letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    six = make_augmentation("").operators
    nature = Mixture("augmented", tuple(operator for operator in six if operator.name != "nlpaug_tfidf"))
    return (
        Training("no noise", None),
        Training("random edits", RandomEdits(0.05, letters)),
        Training("nlpaug's keyboard", OPERATORS["nlpaug_keyboard"]),
        Training("NATURE's augmentation: one copy by nlpaug", nature, fresh=False),
        Training("lapsus, typed: `en_keyboard:3`", mix(["en_keyboard:3"])),
        Training("lapsus, spoken: `en_speech:3`", mix(["en_speech:3"])),
        Training(
            "lapsus, typed, spoken and fillers",
            mix({"en_keyboard:3": 1, "en_speech:3": 1, "filler_eos": 0.5, "filler_bos": 0.5}),
        ),
    )


def _normalise(text: str) -> str:
    return " ".join(WORD.findall(text.lower()))


def _read_blocks(path: Path) -> list[tuple[Texts, str]]:
    """Read `token tag` lines, the intent on the last line of each block."""
    rows: list[tuple[Texts, str]] = []
    for block in path.read_text("utf-8").split("\n\n"):
        *tokens, intent = block.strip().splitlines() or [""]
        if tokens:
            rows.append(((" ".join(line.split()[0] for line in tokens),), intent.strip()))
    return rows


def _read_conll(path: Path) -> dict[str, dict[str, tuple[Texts, str]]]:
    """Return the requests by number and writer."""
    found: dict[str, dict[str, Any]] = {}
    for block in path.read_text("utf-8").split("\n\n"):
        head = dict(re.findall(r"^# ([\w-]+) ?[=:] ?(.*)$", block, re.MULTILINE))
        if "id" in head:
            number, _, writer = head["id"].partition("/")
            found.setdefault(number, {})[writer] = ((head["text"].strip(),), head["intent"])
    return {number: versions for number, versions in found.items() if "B" in versions}
