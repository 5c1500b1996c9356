"""Fit the typists to READIN: `python tools/fit_keyboard.py READIN_FOLDER [--kind question] [--turns N]`.

Rows with an even id are fitted on; rows with an odd id are left for judging. Two things are fitted in turns:

- what was learned: which words are typed for which more often than the rest explains, how candidates must move to be
  chosen as often as the humans chose them, which words go wrong less often;
- habits: a list of statistics of the noise is compared (how much, which kinds, which lengths, where); every round
  measures how each habit moves them and takes the damped least-squares step.

It goes on from what stands in perturbations/zh/data/zh_keyboard.json and zh_keyboard_memory.json, and writes both.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from corpora.readin import column, news, questions
from rapidfuzz.distance import Levenshtein

from lapsus.core.edits import apply
from lapsus.metrics.human_likeness.score import KINDS as COARSE
from lapsus.metrics.human_likeness.score import classify_change as coarse_kind
from lapsus.metrics.human_likeness.score import count_latin, diff_texts
from lapsus.perturbations.streams import session_starts
from lapsus.perturbations.zh.input_method.pinyin import PinyinEngine, load_engine
from lapsus.perturbations.zh.typist.candidates import EMBEDDED
from lapsus.perturbations.zh.typist.confusable_words import commonness
from lapsus.perturbations.zh.typist.habits import ANNOTATORS, Typist, load_annotators
from lapsus.perturbations.zh.typist.keys import NEIGHBOURS
from lapsus.perturbations.zh.typist.memory import MEMORIES, NOTHING, Memory
from lapsus.perturbations.zh.typist.retyping import IMES, RUNS, retype
from lapsus.perturbations.zh.typist.session import TypingSession

TASKS = {"question": "afqmc", "prose": "wmt"}
COUNTED = {
    "care",
    "alike",
    "digit",
    "wide_digits",
    "chosen",
}  # set by hand to what people do
STEP = 0.5  # in logits
GOES = 2  # synthetic versions of each text
Pairs = list[tuple[str, str, str]]

if TYPE_CHECKING:
    from collections.abc import Container, Mapping


def read(folder: Path, task: str, annotator: int, parity: int) -> Pairs:
    """Return (key, clean, typed) of one task's rows of one parity."""
    tracks = news(folder / "realtypo_nmt", "keyboard") if task == "wmt" else questions(folder / "afqmc_balanced")
    rows = zip(tracks.keys, tracks.clean, tracks.noisy[annotator - 1], strict=True)
    return [row for row in rows if int(row[0].split("-")[0]) % 2 == parity]


def _han(text: str) -> bool:
    return all("\u4e00" <= c <= "\u9fff" for c in text)


def statistics(pairs: Pairs) -> dict[str, tuple[float, float]]:
    """Return the statistics of the noise, each with its tolerance: the difference that counts as one unit of misfit."""
    engine = load_engine()
    counts: Counter[str] = Counter()
    rates, shifts = [], []
    unchanged = equal = edits = more_latin = letters = 0
    places: Counter[int] = Counter()
    rarity: list[float] = []
    familiar: dict[str, list[float]] = {"1>1": [], "0>1": [], "1>0": [], "longer": []}
    pairs_known = Counter(pair for _, clean, _ in pairs for pair in pairwise(f"^{clean}$"))
    per_text: list[int] = []
    wrong: dict[str, list[float]] = {"common": [], "rare": [], "of 1": [], "of 2": [], "of 3": []}
    for _, clean, typed in pairs:
        rates.append(Levenshtein.distance(clean, typed) / len(clean))
        found = diff_texts(clean, typed)
        per_text.append(len(found))
        unchanged += not found
        equal += bool(found) and len(clean) == len(typed)
        shifts.append(len(typed) - len(clean))
        edits += len(found)
        more_latin += count_latin(typed) > count_latin(clean)
        gone = {n for place, old, _ in found for n in range(place, place + len(old))}
        for start, end in bounds(clean):
            if _han(clean[start:end]):
                is_wrong = not gone.isdisjoint(range(start, end))
                wrong[f"of {min(end - start, 3)}"].append(is_wrong)
                wrong["common" if commonness(clean[start:end]) > 0.6 else "rare"].append(is_wrong)
        shift = 0
        for place, old, new in found:
            around = f"^{typed}$"[place + shift : place + shift + len(new) + 2]
            shift += len(new) - len(old)
            shape = f"{min(len(old), 4)}>{min(len(new), 4)}"
            usual = [pairs_known[pair] > 3 for pair in pairwise(around)]
            familiar[shape if shape in familiar else "longer"].append(all(usual))
            places[min(4, place * 5 // len(clean))] += 1
            counts[shape] += 1
            rarity += [engine.costs.get(c, 18.0) for c in new if _han(c)]
            counts[_kind(engine, clean, place, old, new)] += 1
            counts[coarse := coarse_kind(old, new)] += 1
            counts[f"{coarse} {shape}"] += 1
            counts[f"{old}>{new}"] += 1
            letters += max(0, count_latin(new) - count_latin(old))
    n = len(pairs)
    total = max(edits, 1)
    found_stats = {
        "rate": (float(np.mean(rates)), 0.002),
        "rate spread": (float(np.std(rates)), 0.004),
        "unchanged": (unchanged / n, 0.008),
        "equal length": (equal / max(n - unchanged, 1), 0.004),
        "edits": (edits / n, 0.02 * edits / n + 0.01),
        "edits spread": (float(np.std(per_text)), 0.03 * float(np.mean(per_text)) + 0.01),
        "longer": (float(np.mean(shifts)), 0.03),
        "latin": (more_latin / n, 0.008),
        "letters": (letters / n, 0.03),
        "rarity": (float(np.mean(rarity)) if rarity else 0.0, 0.08),
        "rarity spread": (float(np.std(rarity)) if rarity else 0.0, 0.1),
    }
    found_stats |= {f"familiar {shape}": (float(np.mean(known or [0.0])), 0.02) for shape, known in familiar.items()}
    found_stats |= {f"wrong {kind}": (float(np.mean(known or [0.0])), 0.006) for kind, known in wrong.items()}
    found_stats |= {f"place {p}": (places[p] / total, 0.015) for p in range(5)}
    found_stats |= {name: (counts[name] / total, 0.006) for name in COARSE}
    for name in (*KINDS, *SHAPES, *COMMON, *MARKS):
        found_stats[name] = (counts[name] / total, 0.003 + 0.03 * counts[name] / total)
    return found_stats


KINDS = (
    "same 1", "same 2", "same 3+", "initials 1", "initials 2", "initials 3+", "near 1", "near 2", "near 3+", "far 1",
    "far 2", "far 3+", "beside 1", "beside 2", "beside 3+", "swapped 2", "swapped 3+", "resegmented near", "mark",
    "mark gone", "quote", "quote gone", "comma", "comma gone", "end gone", "gone 1", "gone 2+", "again", "repeat",
    "into", "begins alike", "ends alike", "other length", "letters",
)  # fmt: skip
MARKS = (
    "、>，", "。>，", "，>。", " >，", "；>，", " >", "。>", "、>", "，>", "“>", "”>", "“>”", "”>“",
    ">，", ">。", "> ", ">“", ">”", ",>，", "(>（",
)  # fmt: skip
COMMON = tuple(
    f"{kind} {shape}"
    for kind, shapes in {
        "homophone": ("1>1", "2>2", "3>3"), "same_initials": ("1>1", "2>2", "3>3"), "fuzzy_sound": ("1>1", "2>2"),
        "resegmented": ("1>2", "2>1", "2>3", "3>4"), "insertion": ("0>1", "0>2", "0>3", "0>4"),
        "deletion": ("1>0", "2>0", "3>0"),
        "other": ("1>1", "2>2", "3>3", "4>4", "1>2", "2>1", "2>3", "3>2", "1>3", "3>4", "2>4"),
    }.items()
    for shape in shapes
)  # fmt: skip
QUOTES = ("“", "”", "‘", "’")
SHAPES = ("1>1", "2>2", "3>3", "4>4", "0>1", "0>2", "0>3", "1>0", "2>0", "1>2", "2>1", "2>3", "3>2", "1>3", "3>1")


def _kind(engine: PinyinEngine, clean: str, place: int, old: str, new: str) -> str:  # noqa: C901, PLR0911 - a decision list
    if any(c.isascii() and c.isalpha() for c in new):
        return "letters"
    if not _han(old) or not _han(new):
        mark = "quote" if old in QUOTES else "comma" if old in ("，", "。") else "mark"
        return mark if new else f"{mark} gone"
    end = place + len(old) == len(clean)
    if not new:
        return "end gone" if end else "gone 1" if len(old) == 1 else "gone 2+"
    if not old:
        following = clean[place : place + len(new)]
        if clean[max(0, place - len(new)) : place] == new or following == new:
            return "repeat"
        one, two = "".join(engine.readings(new)), "".join(engine.readings(following))
        return "again" if one and two and (Levenshtein.distance(one, two) <= 2 or one[0] == two[0]) else "into"
    a, b = engine.readings(old), engine.readings(new)
    size = min(len(old), 3)
    tail = f" {size}" + ("+" if size == 3 else "")
    distance = Levenshtein.distance("".join(a), "".join(b))
    if len(old) != len(new):
        return "resegmented near" if distance <= 2 else "other length"
    if a == b:
        return f"same{tail}"
    if distance <= 1:
        return f"near{tail}"
    if all(x[:1] == y[:1] for x, y in zip(a, b, strict=True)):
        return f"initials{tail}"
    first, second = ([x[:1] for x in side] for side in (a, b))
    if len(old) > 1 and sorted(first) == sorted(second):
        return f"swapped{tail}"
    if all(x == y or y in NEIGHBOURS.get(x, "") for x, y in zip(first, second, strict=True)):
        return f"beside{tail}"
    if len(old) > 1 and (old[0] == new[0] or old[-1] == new[-1]):
        return "begins alike" if old[0] == new[0] else "ends alike"
    return f"far{tail}"


def typed(typist: Typist, pairs: Pairs, seed: int, memory: Memory = NOTHING, ime: int = 0) -> Pairs:
    """Return `pairs` with the operator's texts in place of the human's."""
    shared = session_starts(f"{seed}", [key.split("-")[0] for key, _, _ in pairs])
    return [
        (key, clean, apply(clean, retype(clean, typist, Random(f"{seed}/{key}"), EMBEDDED, ime, memory, sitting)))
        for (key, clean, _), sitting in zip(pairs, [TypingSession.for_person(each) for each in shared], strict=True)
    ]


SEEDS = 3  # synthetic versions of each human's texts
PRIOR, MOST = 10, 0.25  # pseudo-count of right occurrences of a word; highest rate of a confusion
LEAST = 1e-4  # least weight of a stray insertion, per occurrence
KNOWN = 6  # occurrences and places that a word needs before anything is learned of it
FOLLOWS, FOLLOWERS = 40, 12  # occurrences that a pair of words needs; words kept after each word
TELLING, ABOUT, TOPIC_WORDS = 2000, 10, 700  # ratio to the frequency elsewhere; words that identify a topic; its words


@dataclass(frozen=True)
class Person:
    """What a human typed, and the typist that is fitted to it."""

    human: Pairs
    typist: Typist
    learned: dict[str, Any]
    ime: int

    def goes(self, go: int) -> Pairs:
        """Return the human's clean texts typed synthetically with `SEEDS` seeds."""
        memory = Memory.from_json(self.learned)
        seeds = range(100 * go, 100 * go + SEEDS)
        return [pair for seed in seeds for pair in typed(self.typist, self.human, seed, memory, self.ime)]


def reranked(people: list[Person], go: int) -> dict[str, float]:
    """Return the change in cost (nats) of each candidate that brings its synthetic frequency to the humans'."""
    given, taken = defaultdict[str, float](float), defaultdict[str, float](float)
    for person in people:
        _chosen(_replaced(person.human), 1.0, given)
        _chosen(_replaced(person.goes(go)), 1 / SEEDS, taken)
    moved = {
        new: 0.6 * math.log((taken[new] + 2) / (given[new] + 2))
        for new in given | taken
        if given[new] + taken[new] >= KNOWN
    }
    print(f"candidates, go {go}: {sum(map(abs, moved.values())):.0f} nats for {len(moved)} words", flush=True)
    return moved


def _chosen(counts: Counter[tuple[str, str]], share: float, into: dict[str, float]) -> None:
    for (old, new), count in counts.items():
        if old and 1 <= len(new) <= 2 and _han(new):
            into[new] += count * share


def moved(learned: dict[str, Any], by: Mapping[str, float]) -> dict[str, Any]:
    """Return the learned data with the costs of candidates changed by `by`."""
    ranks = dict(learned["ranks"])
    for text, cost in by.items():
        ranks[text] = round(min(max(ranks.get(text, 0.0) + cost, -5.0), 5.0), 2)
    return learned | {"ranks": {text: cost for text, cost in sorted(ranks.items()) if abs(cost) >= 0.1}}


def surer(people: list[Person], go: int) -> dict[str, float]:
    """Return the share of errors to suppress for each word, so that it goes wrong as often as for the humans."""
    wanted, found = defaultdict[str, float](float), defaultdict[str, float](float)
    for person in people:
        for into, share, pairs in ((wanted, 1.0, person.human), (found, 1 / SEEDS, person.goes(go))):
            for (old, _), count in _words(pairs).items():
                into[old] += count * share
    sure = dict(people[0].learned["sure"])
    for word in wanted | found:
        if wanted[word] + found[word] >= 2 * KNOWN and _han(word):
            left = (1 - sure.get(word, 0.0)) * (wanted[word] + 3) / (found[word] + 3)
            sure[word] = round(min(max(1 - left, 0.0), 0.9), 3)
    print(f"sure, go {go}: {sum(map(bool, sure.values()))} words", flush=True)
    return {word: share for word, share in sorted(sure.items()) if share >= 0.02}


def confused(person: Person, go: int) -> dict[str, Any]:
    """Return the learned data with confusions and stray insertions moved towards the human's."""
    human, learned = person.human, person.learned
    engine = load_engine()
    occurs: Counter[str] = Counter()
    places: dict[str, set[int]] = {}  # blocks of 20 rows, since neighbours are often of one article
    for key, clean, _ in human:
        for word in chain.from_iterable(map(engine.split, RUNS.findall(clean))):
            occurs[word] += 1
            places.setdefault(word, set()).add(int(key.split("-")[0]) // 20)
    goes = person.goes(go)
    rates: dict[str, dict[str, float]] = {old: dict(row) for old, row in learned["confusions"].items()}
    wanted, found = _words(human), _words(goes)
    for (old, new), count in sorted(wanted.items()):
        if count >= 3 and len(places.get(old, ())) >= KNOWN and _han(old + new) and len(new) in (0, len(old)):
            more = 0.8 * (count - 0.5 - found[old, new] / SEEDS) / occurs[old]
            most = min(MOST, count / (occurs[old] + PRIOR))
            rates.setdefault(old, {})[new] = round(min(rates.get(old, {}).get(new, 0.0) + more, most), 4)
    rates = {old: {new: rate for new, rate in row.items() if rate >= 0.002} for old, row in rates.items()}
    missing = sum(abs(count - found[pair] / SEEDS) for pair, count in wanted.items() if count > 2)
    print(f"confusions, go {go}: off by {missing:.0f} of {sum(n for n in wanted.values() if n > 2)}", flush=True)
    inserted, put_in = _replaced(human), _replaced(goes)
    strays = {
        new: learned["strays"].get(new, 0.0) * (count + 1) / (put_in["", new] / SEEDS + 1) + LEAST * count
        for (old, new), count in sorted(inserted.items())
        if not old and count > 2 and len(new) <= 2 and _han(new)
    }
    whole = sum(strays.values())
    strays = {new: round(weight / whole, 4) for new, weight in strays.items()}
    return learned | {"confusions": {old: row for old, row in rates.items() if row}, "strays": strays}


@lru_cache(1 << 13)
def bounds(text: str) -> list[tuple[int, int]]:
    """Return where each word of a text starts and ends."""
    found = []
    for run in RUNS.finditer(text):
        start = run.start()
        for word in load_engine().split(run.group()):
            found.append((start, start + len(word)))
            start += len(word)
    return found


def _words(pairs: Pairs) -> Counter[tuple[str, str]]:
    """Count the replacements of whole words, for changes that lie within one word."""
    found: Counter[tuple[str, str]] = Counter()
    for _, clean, noisy in pairs:
        for place, old, new in diff_texts(clean, noisy):
            for start, end in bounds(clean):
                if old and start <= place and place + len(old) <= end:
                    found[clean[start:end], clean[start:place] + new + clean[place + len(old) : end]] += 1
    return found


def _replaced(pairs: Pairs) -> Counter[tuple[str, str]]:
    return Counter((old, new) for _, clean, noisy in pairs for _, old, new in diff_texts(clean, noisy))


def to_logits(typist: Typist, only: Container[str] = ()) -> tuple[list[str], np.ndarray]:
    """Return the names and logits of the habits that are fitted: `only` some, or all that are not counted."""
    names, values = [], []
    for name, value in asdict(typist).items():
        if name not in only if only else name in COUNTED:
            continue
        for n, one in enumerate(value if isinstance(value, tuple) else (value,)):
            names.append(f"{name}/{n}")
            p = min(max(one, 1e-4), 0.9999)
            values.append(math.log(p / (1 - p)))
    return names, np.array(values)


def from_logits(typist: Typist, names: list[str], values: np.ndarray) -> Typist:
    """Return `typist` with the habits that these logits give."""
    row: dict[str, Any] = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(typist).items()}
    for label, value in zip(names, np.clip(values, -9, 9), strict=True):
        name, n = label.split("/")
        p = 1 / (1 + math.exp(-value))
        if isinstance(row[name], list):
            row[name][int(n)] = round(p, 5)
        else:
            row[name] = round(p, 5)
    changed: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}
    return Typist(**changed)


def fit(person: Person, label: str, rounds: int, only: Container[str] = ()) -> Typist:
    """Fit the habits: return those with which the operator's statistics are nearest to the human's."""
    human, typist, memory, ime = person.human, person.typist, Memory.from_json(person.learned), person.ime
    target = statistics(human)

    def differences(candidate: Typist, seed: int) -> np.ndarray:
        goes = [pair for go in range(GOES) for pair in typed(candidate, human, GOES * seed + go, memory, ime)]
        found = statistics(goes)
        rows = [(found[name][0] - value) / tolerance for name, (value, tolerance) in target.items()]
        clipped: np.ndarray = np.clip(np.array(rows), -12, 12)
        return clipped

    names, x = to_logits(typist, only)
    for n in range(rounds):
        base = differences(from_logits(typist, names, x), n)
        jacobian = np.zeros((len(base), len(x)))
        for i in range(len(x)):
            moved = x.copy()
            moved[i] += STEP
            jacobian[:, i] = (differences(from_logits(typist, names, moved), n) - base) / STEP
        score = float(base @ base)
        options = []
        for d in (6, 25, 100, 400):
            step = -np.linalg.solve(jacobian.T @ jacobian + d * np.eye(len(x)), jacobian.T @ base)
            step = np.clip(step, -1.0, 1.0)
            trial = differences(from_logits(typist, names, x + step), n)
            options.append((float(trial @ trial), d, step))
        options.sort(key=lambda option: option[0])
        print(f"{label} round {n}: {score:.0f} -> {options[0][0]:.0f} (damping {options[0][1]:g})", flush=True)
        if options[0][0] < score:
            x = x + options[0][2]
    result = from_logits(typist, names, x)
    found = statistics(typed(result, human, 99, memory, ime))
    worst = sorted(target, key=lambda name: -abs(found[name][0] - target[name][0]) / target[name][1])
    print(label, " | ".join(f"{name}: {found[name][0]:.3f} for {target[name][0]:.3f}" for name in worst[:16]))
    return result


def topic(texts: list[str]) -> dict[str, Any]:
    """Return the topic of one kind of text: its words, their successors, and the words that identify the kind."""
    engine = load_engine()
    rows = [engine.split(text) for text in texts]
    words = Counter(chain.from_iterable(rows))
    spread = Counter(chain.from_iterable(map(set, rows)))
    follows: dict[str, dict[str, float]] = {}
    for (last, word), count in Counter(chain.from_iterable(map(pairwise, rows))).most_common():
        if count >= FOLLOWS and _han(last + word) and len(word) <= 2 and len(follows.get(last, ())) < FOLLOWERS:
            follows.setdefault(last, {})[word] = round(count / words[last], 4)
    shares = {word: count / words.total() for word, count in words.items() if _han(word)}
    rarer = {
        word: spread[word] * math.log(share / math.exp(-engine.costs[word]))
        for word, share in shares.items()
        if len(word) > 1 and word in engine.costs and share > TELLING * math.exp(-engine.costs[word])
    }
    return {
        "about": sorted(rarer, key=lambda word: -rarer[word])[:ABOUT],
        "words": {word: round(shares[word], 6) for word, _ in words.most_common(TOPIC_WORDS) if word in shares},
        "follows": follows,
    }


def main() -> None:
    """Fit what the three annotators do and have learned, in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="holds afqmc_balanced and realtypo_nmt")
    parser.add_argument("--kind", choices=sorted(TASKS))
    parser.add_argument("--turns", type=int, default=2, help="of fitting the words, then the habits")
    parser.add_argument("--rounds", type=int, default=2, help="of fitting the habits in each turn")
    parser.add_argument("--only", nargs="*", default=(), help="habits to fit; the other habits and the words stay")
    parser.add_argument("--habits", type=Path, default=ANNOTATORS)
    parser.add_argument("--words", type=Path, default=MEMORIES)
    options = parser.parse_args()
    if options.folder is None:
        print("nothing to fit on: give the folder of READIN's files")
        return
    habits = {number: dict(row) for number, row in load_annotators().items()}
    learned = json.loads(MEMORIES.read_text(encoding="utf-8"))
    train = options.folder / "afqmc_balanced" / "train.json"
    learned["topics"] = [topic(sorted({*column(train, "sentence1"), *column(train, "sentence2")}))]
    for kind in [options.kind] if options.kind else TASKS:
        people = [
            Person(
                read(options.folder, TASKS[kind], number, 0),
                row[kind],
                learned["people"][number - 1][kind],
                IMES * number,
            )
            for number, row in habits.items()
        ]
        for turn in range(options.turns):
            people = people if options.only else worded(people, turn)
            people = [
                replace(person, typist=fit(person, f"{kind} {number}", options.rounds, options.only))
                for number, person in enumerate(people, 1)
            ]
        for number, person in enumerate(people, 1):
            habits[number][kind] = person.typist
            learned["people"][number - 1][kind] = person.learned
    rows = [{kind: asdict(typist) for kind, typist in row.items()} for row in habits.values()]
    options.habits.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    options.words.write_text(json.dumps(learned, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def worded(people: list[Person], turn: int) -> list[Person]:
    """Return the people with refitted words: confusions, costs of candidates, and shares of errors to suppress."""
    for go in range(4 * turn, 4 * turn + 2):
        people = [replace(person, learned=confused(person, go)) for person in people]
    for go in range(4 * turn + 2, 4 * turn + 4):
        shift = reranked(people, go)
        people = [replace(person, learned=moved(person.learned, shift)) for person in people]
        sure = surer(people, go)
        people = [replace(person, learned=person.learned | {"sure": sure}) for person in people]
    return people


if __name__ == "__main__":
    main()
