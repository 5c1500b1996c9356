"""Measure the English operators: likeness to people and speed.

    python benchmarks/english.py likeness KEYSTROKES MODEL
    python benchmarks/english.py speed

Likeness is judged on the typists and sentences that `fit_en_keyboard.py --half --out MODEL` left out. Speed is a
ratio in one process, in CPU time, the best of five, beside nlpaug's KeyboardAug on the same sentences.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from _judges import judged, people
from _typing_logs import read, slips
from fit_en_keyboard import half, retyped
from rapidfuzz.distance import Levenshtein

from lapsus.perturbations.en.typist.keyboard import EnKeyboard
from lapsus.perturbations.en.typist.model import WORDS, Model

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typing_logs import Row

TEXTS = 20_000
BY_PEER = 500
VERSIONS = 3


def profile(rows: list[Row]) -> tuple[float, float, float, Counter[str]]:
    """Return error rate, share of sentences changed, slips in a changed one, and the kinds of slips."""
    wrong = sum(Levenshtein.distance(row.clean, row.typed) for row in rows) / sum(len(row.clean) for row in rows)
    changed = sum(row.clean != row.typed for row in rows)
    kinds = Counter(slip.kind for row in rows for slip in slips(row.clean, row.typed))
    return wrong, changed / len(rows), kinds.total() / changed, kinds


def likeness(keystrokes: Path, fitted: Path) -> None:
    """Print what people and the fitted typist do on the half that was not fitted on, and who can tell."""
    model = Model.of(json.loads(fitted.read_text(encoding="utf-8")))
    for name, rows, corrects in zip(("corrects", "does not"), read(keystrokes), (True, False), strict=True):
        held = [row for row in rows if half(row, 1)]
        versions = [retyped(model, held, corrects=corrects, seed=1000 + seed) for seed in range(VERSIONS)]
        human, ours = profile(held), profile([row for version in versions for row in version])
        print(f"{name}: {len(held)} sentences; error rate, share changed, slips in a changed one")
        print(f"  people {human[0]:.2%} {human[1]:.3f} {human[2]:.2f}, ours {ours[0]:.2%} {ours[1]:.3f} {ours[2]:.2f}")
        worst = max(
            (abs(human[3][kind] / human[3].total() - ours[3][kind] / ours[3].total()), kind) for kind in human[3]
        )
        print(f"  the kind furthest off: {worst[1]}, by {worst[0]:.3f}")
        pairs = [(row.clean, row.typed) for row in held]
        for version in versions:
            trees, ngrams = judged(pairs, [(row.clean, row.typed) for row in version])
            print(f"  AUC: trees {trees:.3f}, n-grams {ngrams:.3f}")
        trees, ngrams = people([(row.typist, (row.clean, row.typed)) for row in held])
        print(f"  people against people: trees {trees:.3f}, n-grams {ngrams:.3f}")


def seconds(task: Callable[[], object]) -> float:
    """Return the CPU time of a task, the best of five."""
    times = []
    for _ in range(5):
        started = time.process_time()
        task()
        times.append(time.process_time() - started)
    return min(times)


def speed() -> None:
    """Print sentences a second, and the ratio to nlpaug."""
    import nlpaug.augmenter.char as nac

    draw = random.Random(0)
    words = WORDS.read_text(encoding="utf-8").split()
    texts = [" ".join(draw.choice(words) for _ in range(9))[:49].capitalize() + "." for _ in range(TEXTS)]
    keys = list(map(str, range(TEXTS)))
    peer = nac.KeyboardAug()
    theirs = BY_PEER / seconds(lambda: [peer.augment(text) for text in texts[:BY_PEER]])
    for corrects in (True, False):
        op = EnKeyboard(corrects=corrects)
        rate = TEXTS / seconds(lambda op=op: op.edits_keyed(texts, 0, keys))  # type: ignore[misc]
        print(f"corrects={corrects}: {rate:,.0f} sentences of 50 characters a second, {rate / theirs:.1f}x KeyboardAug")


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["likeness", "speed"])
    parser.add_argument("paths", nargs="*", type=Path)
    args = parser.parse_args()
    if args.what == "speed":
        speed()
    else:
        likeness(*args.paths)


if __name__ == "__main__":
    main()
