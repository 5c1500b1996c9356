"""A character tagger: what each character of a noisy text should be, learned from clean texts of a task.

`lapsus train-corrector` makes one, and needs torch; reading and using one needs numpy alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from lapsus.core.edits import Edit, trim_edit
from lapsus.perturbations.zh.input_method.pinyin import load_engine

PAD, UNKNOWN = 0, 1  # of characters and readings
KEEP, DELETE = 0, 1  # of tags
FIRST = 2  # number of the first unit
END = "\n"  # after each text: what is missing there stands before it
WEIGHTS, SETTINGS = "weights.npz", "tagger.json"
LAYERS, WIDTH = 4, 5  # of the network, and how many characters a layer sees at once
NEVER = -20.0  # logarithm of the share of what is never written
FOREIGN = 0.6  # share of a text's pairs of characters that the task never had, above which the text is not of the task
CORRECTED = 0.35  # the same of a corrected text, where no corpus tells the task
Weights = Mapping[str, NDArray[np.float32]]
Places = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TaggerVocabulary:
    """What a tagger knows: characters that it reads, their readings, characters that it writes, pairs of its task."""

    characters: tuple[str, ...]
    readings: tuple[str, ...]
    written: tuple[str, ...]
    pairs: frozenset[str]
    ids: tuple[Places, Places, Places] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        indices = (
            {unit: n for n, unit in enumerate(symbols, FIRST)}
            for symbols in (self.characters, self.readings, self.written)
        )
        object.__setattr__(self, "ids", tuple(indices))

    def encode(self, text: str) -> tuple[list[int], list[int]]:
        """Return the numbers of a text's characters and of their readings, and of its end."""
        characters, readings, _ = self.ids
        ended = text + END
        return (
            [characters.get(character, UNKNOWN) for character in ended],
            [readings.get(find_reading(character), UNKNOWN) for character in ended],
        )

    def is_foreign(self, text: str, share: float = FOREIGN) -> bool:
        """Say whether a text is not of the task: more than a share of its pairs of characters are new."""
        pairs = character_pairs(f"{END}{text}{END}")
        return sum(pair not in self.pairs for pair in pairs) > share * len(pairs)

    def has_seen(self, text: str, edit: Edit) -> bool:
        """Say whether the task has every pair of characters of what is to be replaced, and its neighbours."""
        return self.pairs.issuperset(character_pairs(f"{END}{text}{END}"[edit.start : edit.end + 2]))


def character_pairs(text: str) -> list[str]:
    """Return the pairs of characters that stand beside each other."""
    return [text[at : at + 2] for at in range(len(text) - 1)]


@cache
def find_reading(character: str) -> str:
    """Return the usual reading of a character, the character itself where it has none.

    >>> find_reading("还"), find_reading("a")
    ('hai', 'a')
    """
    return load_engine().readings(character)[0] or character if "\u4e00" <= character <= "\u9fff" else character


@dataclass(frozen=True, slots=True)
class Tagger:
    """A trained tagger; two with the same digest are equal."""

    units: TaggerVocabulary = field(compare=False, repr=False)
    weights: Weights = field(compare=False, repr=False, hash=False)
    threshold: float  # of the probability of a change
    corpus_threshold: float  # what the weighed odds of a change must exceed beside a corpus: `second_opinion`
    digest: str
    path: str = field(default="", compare=False)

    @classmethod
    def read(cls, folder: str, digest: str = "") -> Tagger:
        """Read what `save` wrote; with a digest, it must still be what it was."""
        root = Path(folder)
        try:
            settings: dict[str, Any] = json.loads((root / SETTINGS).read_text(encoding="utf-8"))
            with np.load(BytesIO((root / WEIGHTS).read_bytes()), allow_pickle=False) as arrays:
                weights = {name: arrays[name].astype(np.float32) for name in arrays.files}
            characters, readings, written = (tuple(settings[name]) for name in ("characters", "readings", "written"))
            units = TaggerVocabulary(characters, readings, written, frozenset(settings["pairs"]))
            tagger = cls.from_weights(units, weights, settings["threshold"], settings["beside"], folder)
        except (OSError, EOFError, ValueError, LookupError, TypeError, BadZipFile):
            raise ValueError(
                f"{folder} is no folder of a corrector ({SETTINGS}, {WEIGHTS}); make one with: lapsus train-corrector"
            ) from None
        if digest and digest != tagger.digest:
            raise ValueError(f"{folder} is not what it was: its digest is {tagger.digest}, not {digest}")
        return tagger

    @classmethod
    def from_weights(
        cls, units: TaggerVocabulary, weights: Weights, threshold: float, corpus_threshold: float, path: str = ""
    ) -> Tagger:
        """Return a tagger of trained weights."""
        rows = {"characters": len(units.characters) + FIRST, "readings": len(units.readings) + FIRST,
                "write": len(units.written), "fill": len(units.written)}  # fmt: skip
        if any(len(weights[f"{name}.weight"]) != count for name, count in rows.items()):
            raise ValueError("the weights are of other characters")
        vocabulary = json.dumps(
            [threshold, corpus_threshold, units.characters, units.readings, units.written, sorted(units.pairs)]
        )
        content = b"".join(weights[name].tobytes() for name in sorted(weights))
        return cls(
            units, weights, threshold, corpus_threshold, sha256(content + vocabulary.encode()).hexdigest()[:12], path
        )

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Say whether a folder looks like one that `save` wrote."""
        return {path.name for path in folder.iterdir()} == {WEIGHTS, SETTINGS}

    def save(self, folder: str | Path) -> None:
        """Write the tagger into a folder, which is made."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        np.savez_compressed(
            Path(folder) / WEIGHTS, allow_pickle=False, **{n: w.astype(np.float16) for n, w in self.weights.items()}
        )
        units = self.units
        settings = {"threshold": self.threshold, "beside": self.corpus_threshold, "characters": units.characters,
                    "readings": units.readings, "written": units.written,
                    "pairs": sorted(units.pairs)}  # fmt: skip
        (Path(folder) / SETTINGS).write_text(json.dumps(settings, ensure_ascii=False) + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        return f"Tagger.read({self.path!r}, {self.digest!r})" if self.path else f"Tagger(<{self.digest}>)"

    def edits(self, text: str, threshold: float | None = None) -> list[Edit]:
        """Return the changes that are surer than the threshold, or than the tagger's own."""
        if not text or self.units.is_foreign(text):
            return []
        return self.predict(text).edits(self.threshold if threshold is None else threshold)

    def predict(self, text: str) -> TaggerOutput:
        """Return what the tagger says of a text."""
        state = self.read_characters(text)
        return TaggerOutput(self, text, state, self.score(state, "kinds"), self.score(state, "gaps"))

    def read_characters(self, text: str) -> NDArray[np.float32]:
        """Return a vector for each character, and for the end."""
        first, second = self.units.encode(text)
        w = self.weights
        state: NDArray[np.float32] = w["characters.weight"][first] + w["readings.weight"][second]
        for n in range(LAYERS):
            state = state + np.maximum(_convolve(_layer_norm(state, w, n), w, n), 0)
        return state

    def score(self, state: NDArray[np.float32], head: str) -> NDArray[np.float32]:
        """Return the logarithms of the shares that a head of the network gives, for each vector."""
        scores = state @ self.weights[f"{head}.weight"].T + self.weights[f"{head}.bias"]
        scores = scores - scores.max(axis=1, keepdims=True)
        shares: NDArray[np.float32] = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return shares


@dataclass(frozen=True, slots=True, eq=False)
class TaggerOutput:
    """What a tagger says of each character of a text and of its end, in logarithms of shares."""

    tagger: Tagger = field(repr=False)
    text: str
    state: NDArray[np.float32] = field(repr=False)
    kinds: NDArray[np.float32] = field(repr=False)  # keep, delete, write
    gaps: NDArray[np.float32] = field(repr=False)  # nothing or something is missing before it

    def edits(self, threshold: float) -> list[Edit]:
        """Return the changes that are surer than the threshold."""
        text = self.text
        tags = self._select_tags(self.kinds, "write", threshold)
        missing = self._select_tags(self.gaps, "fill", threshold)
        changes: list[Edit] = []
        for at, (tag, before) in enumerate(zip(tags, missing, strict=True)):
            old = text[at : at + 1]
            new = self._apply_tag(before, "") + (self._apply_tag(tag, old) if old else "")
            if new == old:
                continue
            if changes and changes[-1].end == at:
                changes[-1] = Edit(changes[-1].start, at + len(old), changes[-1].text + new)
            else:
                changes.append(Edit(at, at + len(old), new))
        minimal = (trim_edit(start, text[start:end], new) for start, end, new in changes)
        return [edit for edit in minimal if text[edit.start : edit.end] != edit.text]

    def log_odds(self, edit: Edit) -> float:
        """Return how much likelier a change is than none, as a logarithm."""
        total = 0.0
        for op in Levenshtein.opcodes(self.text[edit.start : edit.end], edit.text):
            new, at = edit.text[op.dest_start : op.dest_end], edit.start + op.src_start
            if op.tag == "insert":
                total += self._write_log_odds(self.gaps[at], "fill", at, new[0]) + NEVER * (len(new) - 1)
            elif op.tag == "replace":
                total += sum(
                    self._write_log_odds(self.kinds[n], "write", n, character) for n, character in enumerate(new, at)
                )
            elif op.tag == "delete":
                total += float(
                    sum(self.kinds[n, DELETE] - self.kinds[n, KEEP] for n in range(at, edit.start + op.src_end))
                )
        return total

    def _write_log_odds(self, kinds: NDArray[np.float32], head: str, at: int, character: str) -> float:
        """Return how much likelier a character is written than none."""
        number = self.tagger.units.ids[2].get(character)
        if number is None:
            return NEVER
        return float(kinds[-1] - kinds[KEEP] + self.tagger.score(self.state[at : at + 1], head)[0, number - FIRST])

    def _apply_tag(self, tag: int, character: str) -> str:
        return character if tag == KEEP else "" if tag == DELETE else self.tagger.units.written[tag - FIRST]

    def _select_tags(self, logarithms: NDArray[np.float32], head: str, threshold: float) -> list[int]:
        """Return the tags of changes that are sure enough: of a kind, and where it writes, of a character."""
        kinds = np.exp(logarithms)
        tags = np.zeros(len(kinds), dtype=np.int64)
        (positions,) = np.nonzero(kinds[:, -1] > threshold)
        if len(positions):
            characters = np.exp(self.tagger.score(self.state[positions], head))
            probabilities = kinds[positions, -1] * characters.max(axis=1)
            tags[positions] = np.where(probabilities > threshold, characters.argmax(axis=1) + FIRST, KEEP)
        if kinds.shape[1] > FIRST:
            tags[kinds[:, DELETE] > np.maximum(threshold, kinds[:, -1])] = DELETE
        tag_list: list[int] = tags.tolist()
        return tag_list


def _layer_norm(state: NDArray[np.float32], weights: Weights, n: int) -> NDArray[np.float32]:
    centred = state - state.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    normed: NDArray[np.float32] = scaled * weights[f"norms.{n}.weight"] + weights[f"norms.{n}.bias"]
    return normed


def _convolve(state: NDArray[np.float32], weights: Weights, n: int) -> NDArray[np.float32]:
    padded = np.pad(state, ((WIDTH // 2, WIDTH // 2), (0, 0)))
    kernel = weights[f"layers.{n}.weight"]  # (out, in, width)
    output = sum(padded[k : k + len(state)] @ kernel[:, :, k].T for k in range(WIDTH))
    convolved: NDArray[np.float32] = output + weights[f"layers.{n}.bias"]
    return convolved
