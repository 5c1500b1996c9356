"""Count how people correct themselves: `python tools/fit_en_repair.py DISFL_QA/train.json [--out JSON]`.

Counted are the repairs that put something in at one place: where, how many words are said again and how many instead,
of which kind, and with which cue.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from corpora.repairs import FIRST, key, pairs, repairs

from lapsus.perturbations.en.repair import ENDS, FITTED, FUNCTION, RepairWord, classify_word, split_words
from lapsus.perturbations.en.sounds import load_frequencies

LONGEST = 12
COMMON = 1e-5  # share of English: words that are listed though they were said once
KEYWORDS = 8
WORDS_OF_A_CUE = 6
ALONE = 0.75  # one word comes out more often than it is drawn, where no longer thing is known


def kinds_of(words: list[str]) -> list[str]:
    """Return the kind of each word of a question."""
    found: list[RepairWord] = split_words(" ".join(words))
    by_place = {word.start: word.kind for word in found}
    places, at = [], 0
    for word in words:
        lead = len(word) - len(word.lstrip("\"'([“"))
        places.append(by_place.get(at, by_place.get(at + lead, "link")))
        at += len(word) + 1
    return places


def table(counts: Counter[str], least: int = 1) -> dict[str, float]:
    """Return counts in a fixed order."""
    return {one: n for one, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])) if n >= least}


def fit(file: Path) -> dict[str, Any]:
    """Return what is counted."""
    cues: dict[str, Counter[str]] = {"start": Counter(), "within": Counter()}
    begun: dict[str, Counter[str]] = defaultdict(Counter)
    begun_sizes: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    exposed: Counter[str] = Counter()
    again: dict[str, Counter[str]] = defaultdict(Counter)
    sizes: dict[str, Counter[str]] = defaultdict(Counter)
    things: dict[str, dict[str, Counter[str]]] = {part: defaultdict(Counter) for part in ("names", "words", "things")}
    near: dict[str, Counter[str]] = defaultdict(Counter)
    lower = upper = starts = total = 0
    for one in repairs(pairs(file)):
        total += 1
        own = one.cue
        if not own:  # a cue may go on in words that others do not use
            end = next((at for at, word in enumerate(one.said) if at and key(word) in FIRST), len(one.said))
            one, own = one._replace(said=one.said[:end]), one.said[end:]  # noqa: PLW2901
        cue = " ".join(own)
        if len(own) <= WORDS_OF_A_CUE and (cue == cue.lower() or one.cue):
            comma = ", " if one.said[-1].endswith(",") and cue else ""
            cues["within" if one.at else "start"][comma + cue] += 1
        if not one.at:
            starts += 1
            said = [key(word) for word in one.said]
            begun_sizes[str(min(len(said), LONGEST))] += 1
            begun[str(min(len(said), 3))][" ".join(said[:3])] += 1
            if one.words[0][:1].isupper() and one.after:
                lower, upper = lower + one.after[:1].islower(), upper + one.after[:1].isupper()
            continue
        kinds = kinds_of(one.words)
        if one.at >= len(one.words):
            continue
        hits[f"{kinds[one.at - 1]} {kinds[one.at]}"] += 1
        exposed.update(f"{left} {right}" for left, right in pairwise(kinds))
        same = min(one.retraced, len(one.words) - one.at - 1)
        again[kinds[one.at]][str(min(same, 3))] += 1
        kind = kinds[one.at + same]
        new = one.said[same:]
        sizes[kind][str(min(max(len(new), 1), LONGEST))] += 1
        if 0 < len(new) < 4:
            phrase = " ".join(ENDS.sub("", word) for word in new)
            of = classify_word(ENDS.sub("", new[-1]) or "x")
            part = (
                "names"
                if kind == of == "name"
                else "things"
                if kind in FUNCTION.values() and kind != "number"
                else "words"
            )
            if part == "names" or (phrase == phrase.lower() and phrase.replace(" ", "").isalpha()):
                things[part][kind][phrase] += 1
                near[phrase].update(w for w in map(key, one.words) if w not in FUNCTION and len(w) > 3)

    def listed(part: str) -> dict[str, dict[str, list[Any]]]:
        return {
            kind: {
                phrase: [n, " ".join(word for word, _ in near[phrase].most_common(KEYWORDS)) if n > 1 else ""]
                for phrase, n in sorted(counts.items())
                if n > 1 or (part == "words" and all(load_frequencies().get(w, 0) > COMMON for w in phrase.split()))
            }
            for kind, counts in sorted(things[part].items())
        }

    rate = hits.total() / exposed.total()
    return {
        "restart": round(starts / total, 4),
        "lower": round(lower / max(lower + upper, 1), 4),
        "cues": {where: table(counts) for where, counts in cues.items()},
        "begun sizes": table(begun_sizes),
        "begun": {size: table(counts, 1 if size == "1" else 2) for size, counts in sorted(begun.items())},
        "sites": {
            **{pair: round((hits[pair] + 3 * rate) / (exposed[pair] + 3), 5) for pair in sorted(exposed)},
            "any": round(rate, 5),
        },
        "again": {kind: table(counts) for kind, counts in sorted(again.items())},
        "sizes": {
            kind: {size: n * (ALONE if size == "1" else 1) for size, n in table(counts).items()}
            for kind, counts in sorted(sizes.items())
        },
        "names": listed("names"),
        "words": listed("words"),
        "things": {kind: table(counts, 2) for kind, counts in sorted(things["things"].items())},
    }


def main() -> None:
    """Count, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("--out", type=Path, default=FITTED)
    args = parser.parse_args()
    made = json.dumps(fit(args.train), ensure_ascii=False, separators=(",", ":"))
    args.out.write_text(made + "\n", "utf-8")


if __name__ == "__main__":
    main()
