"""Count capitals and marks lost: `python tools/fit_en_unmarked.py NOISEQA [--half N]`.

As a recogniser: NoiseQA's spoken questions. As somebody typing: its typed ones. Only words that both versions have are
compared. Used is every other question; with --half 1 the others are counted instead and printed beside what the
operator loses of them, and nothing is written.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.transcripts import asked
from rapidfuzz.distance import Levenshtein

from lapsus.perturbations import EnUnmarked, apply, perturb_batch
from lapsus.perturbations.en.unmarked import FITTED, MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

LOST = ("first capital", "name", "all capitals", "mark within", "last mark")
FILES = {"recogniser": "asr-natural", "phone": "keyboard-natural"}
BARE = re.compile(r"\W")
LEAST = 2  # names in a text of which all are lost: a habit of the text
ENDING = re.compile(r"[^\w\s]+$")


def lost(pairs: list[tuple[str, str]]) -> dict[str, float]:
    """Return how often each is lost."""
    seen: Counter[tuple[str, bool]] = Counter()
    for clean, noisy in pairs:
        seen.update(losses(clean, noisy))
    return {kind: round(seen[kind, True] / max(seen[kind, True] + seen[kind, False], 1), 4) for kind in LOST}


def losses(clean: str, noisy: str) -> Iterator[tuple[str, bool]]:
    """Yield what of a text could be lost, and whether it is."""
    old, new = clean.split(), noisy.split()
    plain = [[BARE.sub("", word.lower()) for word in words] for words in (old, new)]
    names: list[bool] = []
    both = [
        (block.a + at, old[block.a + at], new[block.b + at])
        for block in Levenshtein.editops(*plain).as_matching_blocks()
        for at in range(block.size)
    ]
    for at, one, other in both:
        bare, now = (MARK.sub("", word) for word in (one, other))
        if bare[:1].isupper() and bare != "I":
            if at:
                names.append(not now[:1].isupper())
            else:
                yield "first capital", not now[:1].isupper()
        if ENDING.search(one):
            yield "mark within" if at < len(old) - 1 else "last mark", ENDING.search(other) is None
    if len(names) >= LEAST:
        yield "all capitals", all(names)
    if names and not (len(names) >= LEAST and all(names)):
        yield from (("name", small) for small in names)


def main() -> None:
    """Count, and write or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("noiseqa", type=Path)
    parser.add_argument("--half", type=int, choices=(0, 1), default=0)
    args = parser.parse_args()
    clean = asked(args.noiseqa, "context-en-question-en")
    found = {}
    for by, name in FILES.items():
        noisy = asked(args.noiseqa, name)
        pairs = [(clean[key], noisy[key]) for key in clean][args.half :: 2]
        found[by] = lost(pairs)
        print(by, "people", found[by])
        if args.half:
            texts = [text for text, _ in pairs]
            made = perturb_batch(EnUnmarked(by=by), texts, keys=[f"{n}" for n in range(len(texts))])
            print(by, "ours  ", lost([(text, apply(text, edits)) for text, edits in zip(texts, made, strict=True)]))
    if not args.half:
        FITTED.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
