"""Measure the English operators: likeness to people and speed.

    python benchmarks/fidelity/english.py likeness KEYSTROKES MODEL
    python benchmarks/fidelity/english.py speech SLURP NOISEQA
    python benchmarks/fidelity/english.py repairs DISFL_QA/dev.json
    python benchmarks/fidelity/english.py speed

Likeness is judged on the typists and sentences that `fit_en_keyboard.py --half --out MODEL` left out; of speech on the
requests with an odd number and every other question, of repairs on the questions that are not the training ones. Speed
is a ratio in one process, in CPU time, the best of five, beside nlpaug's KeyboardAug on the same sentences.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from _judges import judged, people
from rapidfuzz.distance import Levenshtein

from lapsus.perturbations import EnRepair, EnSpeech, apply, perturb_batch
from lapsus.perturbations.en.typist.keyboard import EnKeyboard
from lapsus.perturbations.en.typist.model import WORDS, TypistModel

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from corpora.repairs import key, pairs, repairs
from corpora.transcripts import noiseqa, slurp
from corpora.transcripts import profile as of_transcripts
from corpora.typing_logs import is_of_half, read, slips
from fit_en_keyboard import retyped

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.repairs import Repair
    from corpora.typing_logs import Row

TEXTS = 20_000
BY_PEER = 500
VERSIONS = 3
JUDGED = 2_500  # transcripts of each side that a classifier sees


def profile(rows: list[Row]) -> tuple[float, float, float, Counter[str]]:
    """Return error rate, share of sentences changed, slips in a changed one, and the kinds of slips."""
    wrong = sum(Levenshtein.distance(row.clean, row.typed) for row in rows) / sum(len(row.clean) for row in rows)
    changed = sum(row.clean != row.typed for row in rows)
    kinds = Counter(slip.kind for row in rows for slip in slips(row.clean, row.typed))
    return wrong, changed / len(rows), kinds.total() / changed, kinds


def likeness(keystrokes: Path, fitted: Path) -> None:
    """Print what people and the fitted typist do on the half that was not fitted on, and who can tell."""
    model = TypistModel.from_fit(json.loads(fitted.read_text(encoding="utf-8")))
    for name, rows, corrects in zip(("corrects", "does not"), read(keystrokes), (True, False), strict=True):
        held = [row for row in rows if is_of_half(row, 1)]
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


def speech(requests: Path, questions: Path) -> None:
    """Print what recognisers and the fitted ones write of what was not fitted on, and who can tell."""
    for name, rows in (("assistant", slurp(requests)), ("search", noiseqa(questions))):
        held = [row for row in rows if row.number % 2]
        human = [(row.clean, row.heard) for row in held]
        every = len(held) // JUDGED + 1
        texts, keys = [row.clean for row in held], [str(number) for number in range(len(held))]
        print(f"{name}: {len(held)} texts; word error rate, substitutions, insertions, deletions, share changed")
        print("  recogniser", *(f"{value:.4f}" for value in of_transcripts(human)))
        for who in (0, 1, 2, 3):
            edits = perturb_batch(EnSpeech(who), texts, seed=who, keys=keys)
            ours = [(text, apply(text, found)) for text, found in zip(texts, edits, strict=True)]
            line = f"  person {who}" if who else "  anybody"
            print(line, *(f"{value:.4f}" for value in of_transcripts(ours)), flush=True)
            if who < 2:
                trees, ngrams = judged(human[::every], ours[::every])
                print(f"    AUC: trees {trees:.3f}, n-grams {ngrams:.3f}", flush=True)
        seen: Counter[int] = Counter()
        sides: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
        for row, pair in zip(held, human, strict=True):
            sides[seen[row.number] > 0].append(pair)
            seen[row.number] += 1
        if sides[1]:
            trees, ngrams = judged(*sides)
            print(f"  one recording against the others: trees {trees:.3f}, n-grams {ngrams:.3f}")


def repaired(file: Path) -> None:
    """Print how people and the operator correct themselves in questions that were not counted, and who can tell."""
    human = pairs(file)
    texts = [clean for clean, _ in human]
    edits = perturb_batch(EnRepair(), texts, keys=[str(number) for number in range(len(texts))])
    ours = [(text, apply(text, found)) for text, found in zip(texts, edits, strict=True)]
    print(f"{len(texts)} questions")
    for name, some in (("people", list(repairs(human))), ("ours", list(repairs(ours)))):
        print(f"  {name}: {len(some)} with one repair at one place")
        shown: dict[str, Callable[[Repair], str]] = {
            "kind": lambda one: one.kind,
            "words said first": lambda one: str(min(len(one.said), 6)),
            "words of the cue": lambda one: str(min(len(one.cue), 5)),
            "cue": lambda one: " ".join(map(key, one.cue)) or "none",
        }
        for what, of in shown.items():
            counts = Counter(map(of, some))
            print(f"    {what}:", ", ".join(f"{value} {n / len(some):.3f}" for value, n in counts.most_common(9)))
    trees, ngrams = judged(human, ours)
    print(f"  AUC: trees {trees:.3f}, n-grams {ngrams:.3f}")


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
        rate = TEXTS / seconds(lambda op=op: op.edits_from_keys(texts, 0, keys))  # type: ignore[misc]
        print(f"corrects={corrects}: {rate:,.0f} sentences of 50 characters a second, {rate / theirs:.1f}x KeyboardAug")
    for spoken in (EnSpeech(recogniser="assistant"), EnSpeech(recogniser="search"), EnRepair()):
        rate = 2000 / seconds(lambda op=spoken: perturb_batch(op, texts[:2000], keys=keys[:2000]))  # type: ignore[misc]
        print(f"{spoken.name}: {rate:,.0f} a second, {rate / theirs:.1f}x KeyboardAug")


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["likeness", "speech", "repairs", "speed"])
    parser.add_argument("paths", nargs="*", type=Path)
    args = parser.parse_args()
    tasks: dict[str, Callable[..., None]] = {
        "likeness": likeness,
        "speech": speech,
        "repairs": repaired,
        "speed": speed,
    }
    tasks[args.what](*args.paths)


if __name__ == "__main__":
    main()
