"""Read what recognisers wrote of English speech: SLURP's recordings and NoiseQA's questions, clean beside heard."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from lapsus.perturbations.en.speech.dictation import ENDS, split_tokens

if TYPE_CHECKING:
    from pathlib import Path

APART = re.compile(r" ('s|n't|'m|'d|'ll|'re|'ve|')(?= |$)")
BARE = re.compile(r"(?<=\w) (s|m|d|ll|re|ve|t)(?= |$)")


class Row(NamedTuple):
    """A text, and what one recogniser wrote of one reading of it."""

    number: int
    clean: str
    heard: str


class Missed(NamedTuple):
    """Words `start` to `end` of the clean text, and the words that stand for them."""

    start: int
    end: int
    new: list[str]


def slurp(folder: Path) -> list[Row]:
    """Return a row for each recording that has a transcript; the number is the request's."""
    requests: dict[str, Any] = {}
    for file in ("devel.jsonl", "test.jsonl"):
        for line in (folder / file).read_text(encoding="utf-8").splitlines():
            request = json.loads(line)
            requests |= {recording["file"]: request for recording in request["recordings"]}
    lines = (folder / "predictions" / "multi_slurp_hermit_predictions.jsonl").read_text(encoding="utf-8").splitlines()
    heard = {row["file"]: row["text"] for row in map(json.loads, lines)}
    return [
        Row(requests[file]["slurp_id"], requests[file]["sentence"], text)
        for file, text in heard.items()
        if file in requests
    ]


def asked(folder: Path, name: str) -> dict[str, str]:
    """Return the questions of one of NoiseQA's files by their id."""
    data = json.loads((folder / "Natural" / f"xquad-{name}.json").read_text(encoding="utf-8"))["data"]
    return {one["id"]: one["question"] for article in data for part in article["paragraphs"] for one in part["qas"]}


def noiseqa(folder: Path) -> list[Row]:
    """Return a row for each question; the number is its place in the file."""
    clean, heard = asked(folder, "context-en-question-en"), asked(folder, "asr-natural")
    return [Row(number, clean[key], heard[key]) for number, key in enumerate(clean)]


def read_as_words(heard: str) -> tuple[list[str], list[str]]:
    """Return the words of a transcript as they are compared, and as they are written: clitics stand with their word.

    >>> read_as_words("what 's < unk > Kublai")
    (["what's", '<unk>', 'kublai'], ["what 's", '< unk >', 'Kublai'])
    """
    marked = heard.replace("< unk >", "<unk>").replace("@@UNKNOWN@@", "<unk>")
    joined = APART.sub("\t\\1", marked)
    joined = BARE.sub("\t'\\1", joined)
    words, written = [], []
    for token in joined.split(" "):
        if not token:
            continue
        if token == "<unk>":  # noqa: S105 - a mark, no password
            words.append(token)
            written.append("< unk >")
            continue
        plain = ENDS.sub("", token.replace("\t", "").lower().replace("’", "'"))
        words.append(plain or token)
        written.append(
            token.replace("\t'", " '" if f" '{token.rpartition(chr(39))[2]}" in heard else " ").replace("\t", " ")
        )
    return words, written


def aligned(clean: str, heard: str) -> tuple[list[str], list[Missed], list[tuple[int, str, str]]]:
    """Return the words of a text, the stretches that were missed, and each word that was heard as it is written."""
    old = [token.word for token in split_tokens(clean)]
    new, written = read_as_words(heard)
    missed: list[Missed] = []
    right: list[tuple[int, str, str]] = []
    plain_old, plain_new = ([word.replace("'", "") for word in words] for words in (old, new))
    for step in Levenshtein.opcodes(plain_old, plain_new):
        i, j, k, m = step.src_start, step.src_end, step.dest_start, step.dest_end
        if step.tag == "equal":
            right += [(i + n, old[i + n], written[k + n]) for n in range(j - i)]
        elif missed and missed[-1].end == i:  # insertions behind a replacement belong to it
            missed[-1] = Missed(missed[-1].start, j, missed[-1].new + new[k:m])
        else:
            missed.append(Missed(i, j, new[k:m]))
    return old, missed, right


def profile(pairs: list[tuple[str, str]]) -> tuple[float, float, float, float, float]:
    """Return word error rate, shares of substitutions, insertions, deletions, and share of texts changed."""
    kinds: Counter[str] = Counter()
    words = changed = 0
    for clean, noisy in pairs:
        old, new = (
            [token.word.replace("'", "") for token in split_tokens(clean)],
            [w.replace("'", "") for w in read_as_words(noisy)[0]],
        )
        words += len(old)
        operations = Levenshtein.editops(old, new)
        kinds.update(one.tag for one in operations)
        changed += len(operations) > 0
    total = kinds.total()
    return (
        total / words,
        kinds["replace"] / total,
        kinds["insert"] / total,
        kinds["delete"] / total,
        changed / len(pairs),
    )
