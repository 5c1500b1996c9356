"""How fast the English operators are beside what they are compared with: ratios of one run, in one process.

    python benchmarks/perturbations.py [--utterances FILE] [--rows 1000000]

Times of one process are CPU seconds, so that a busy machine changes them little. FILE holds one utterance per line;
without it, sentences are put together from a few hundred words.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from lapsus.jobs.perturb_file import perturb_file
from lapsus.perturbations import OPERATORS, apply, perturb_batch
from lapsus.perturbations.en.lexicon import read_table
from lapsus.perturbations.en.tagging import PERCEPTRON, tag_text

TAG_USERS = [
    "filler_pre_verb",
    "filler_post_verb",
    "synonym_verb",
    "synonym_adjective",
    "synonym_adverb",
    "synonym_any",
    "synonym_stopword",
]


def made_up(count: int) -> list[str]:
    """Compose sentences; most are distinct."""
    rng = random.Random(0)
    verbs = ["play", "find", "book", "add", "show", "rate", "start", "open", "call", "send"]
    things = [
        "song",
        "playlist",
        "table",
        "movie",
        "book",
        "recipe",
        "message",
        "alarm",
        "flight",
        "restaurant",
        "weather",
        "hotel",
        "news",
        "train",
        "ticket",
    ]
    kinds = ["good", "new", "cheap", "quiet", "early", "small", "famous", "modern", "happy", "late", "local", "long"]
    places = ["boston paris", "kitchen town", "office london", "garden work"]
    whens = ["now", "tomorrow", "tonight", "quickly", "again", "soon", "later", "today", "really", "often"]
    return [
        f"please {rng.choice(verbs)} a {rng.choice(kinds)} {rng.choice(things)} and the {rng.choice(things)} "
        f"in {rng.choice(places)} for {rng.randrange(1, 400)} people {rng.choice(whens)}"
        for _ in range(count)
    ]


def speed(work: Callable[[], object], count: int, *, least: float = 1.0) -> float:
    """Return how many texts per second `work` processes, the best of repeated runs."""
    best, spent, runs = float("inf"), 0.0, 0
    while spent < least or runs < 3:
        start = time.process_time()
        work()
        took = time.process_time() - start
        best, spent, runs = min(best, took), spent + took, runs + 1
    return count / best


def fillers(texts: list[str]) -> None:
    """Fillers at the beginning and the end, beside nlpaug's KeyboardAug."""
    from nlpaug.augmenter.char import KeyboardAug

    peer = KeyboardAug()
    few = texts[:1000]
    base = speed(lambda: [peer.augment(text) for text in few], len(few))
    print(f"nlpaug KeyboardAug            {base:10,.0f} texts/s")
    for name in ("filler_bos", "filler_eos"):
        ours = speed(partial(noisy, name, texts), len(texts))
        print(f"{name:<29} {ours:10,.0f} texts/s  {ours / base:6.1f} x (wanted: 20)")


def noisy(name: str, texts: list[str]) -> list[str]:
    """Return the noisy texts."""
    return [apply(text, edits) for text, edits in zip(texts, perturb_batch(OPERATORS[name], texts), strict=True)]


def taggers(texts: list[str]) -> None:
    """The seven operators that need tags, beside the bare tagger."""
    from nltk.tag.perceptron import PerceptronTagger

    nltk = PerceptronTagger(load=False)
    nltk.model.weights, nltk.tagdict, nltk.classes = json.loads(read_table("tagger.json"))
    nltk.model.classes = nltk.classes
    words = [text.split() for text in texts]
    for name in TAG_USERS:
        noisy(name, texts[:200])  # warm-up: loads the dictionaries
    theirs = speed(lambda: [nltk.tag(one) for one in words], len(texts))
    bare = speed(lambda: [PERCEPTRON(one) for one in words], len(texts))
    print(f"bare tagger: NLTK             {theirs:10,.0f} texts/s")
    print(f"bare tagger: ours             {bare:10,.0f} texts/s")

    def all_seven() -> None:
        tag_text.cache_clear()
        for name in TAG_USERS:
            noisy(name, texts)

    ours = speed(all_seven, len(texts) * len(TAG_USERS))
    print(f"seven operators, on average   {ours:10,.0f} texts/s")
    print(f"  beside the bare tagger      {ours / theirs:6.2f} x NLTK's, {ours / bare:.2f} x ours (wanted: 0.7)")
    for name in TAG_USERS:
        one = speed(partial(noisy, name, texts), len(texts), least=0.3)
        print(f"  {name:<27} {one:10,.0f} texts/s, tags at hand")


def speakos(texts: list[str]) -> None:
    """Speako, beside a search of the dictionary for each sentence."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import extractOne

    from lapsus.perturbations.en.sounds import load_frequent_pronunciations
    from lapsus.perturbations.en.speako import find_nearest_words

    find_nearest_words()
    spoken = load_frequent_pronunciations()
    rng = random.Random(0)
    targets = [rng.choice([word for word in text.split() if word in spoken]) for text in texts[:30]]
    others = [[sound for other, sound in spoken.items() if other != word] for word in targets]
    ours = speed(lambda: noisy("speako", texts), len(texts))

    def loop() -> None:
        for word, sounds in zip(targets, others, strict=True):
            min(sounds, key=partial(Levenshtein.distance, spoken[word]))

    def process() -> None:
        for word, sounds in zip(targets, others, strict=True):
            extractOne(spoken[word], sounds, scorer=Levenshtein.distance)

    loop_speed, process_speed = speed(loop, len(targets)), speed(process, len(targets))
    print(f"direct search, a loop         {loop_speed:10,.1f} texts/s")
    print(f"direct search, rapidfuzz' own {process_speed:10,.1f} texts/s")
    print(f"speako                        {ours:10,.0f} texts/s")
    print(f"  beside the loop             {ours / loop_speed:6.0f} x")
    print(f"  beside rapidfuzz' own       {ours / process_speed:6.0f} x (wanted: 100)")


def busy(count: int) -> int:
    """Keep one processor busy."""
    return sum(i * i % 7 for i in range(count))


def processor_time() -> float:
    """Return the CPU seconds of this process and of its finished children."""
    return sum(used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


def workers(rows: int, texts: list[str]) -> None:
    """Perturb a file of `rows` utterances with one and two workers; also measure the speed-up of two bare processes."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.jsonl"
        with source.open("w", encoding="utf-8") as file:
            for i in range(rows):
                file.write(f"{json.dumps({'id': i, 'text': texts[i % len(texts)]})}\n")
        took, spent, results = {}, {}, {}
        for count in (1, 2):
            start, before = time.perf_counter(), processor_time()
            perturb_file(
                source,
                Path(folder) / "out.jsonl",
                "filler_eos",
                text="text",
                id="id",
                workers=count,
                progress=False,
                overwrite=True,
            )
            took[count], spent[count] = time.perf_counter() - start, processor_time() - before
            with (Path(folder) / "out.jsonl").open("rb") as file:
                results[count] = hashlib.file_digest(file, "sha256").hexdigest()
        assert results[1] == results[2]  # noqa: S101 - a benchmark of something wrong is worth nothing
        megabytes = (Path(folder) / "out.jsonl").stat().st_size / 1e6
    start = time.perf_counter()
    busy(8_000_000)
    alone = time.perf_counter() - start
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(busy, [1, 1]))
        start = time.perf_counter()
        list(pool.map(busy, [8_000_000] * 2))
        ceiling = 2 * alone / (time.perf_counter() - start)
    memory = [getrusage(who).ru_maxrss / 1024 for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    print(f"{rows:,} rows ({megabytes:.0f} MB): {took[1]:.1f} s with one worker, {took[2]:.1f} s with two")
    print(f"  two workers beside one      {took[1] / took[2]:6.2f} x (wanted: 1.7)")
    print(
        f"  CPU seconds                 {spent[1]:6.1f} and {spent[2]:.1f}: with two free processors up to this gain:"
    )
    print(f"                              {2 * spent[1] / spent[2]:6.2f} x")
    print(f"  two busy loops beside one   {ceiling:6.2f} x: what this machine has to give now")
    print(f"  at most {memory[0]:.0f} MB in this process, {memory[1]:.0f} MB in a worker")


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--utterances", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    texts = given.utterances.read_text(encoding="utf-8").splitlines() if given.utterances else made_up(4000)
    workers(given.rows, texts)  # first, while the process is small
    fillers(texts)
    taggers(texts[:4000])
    speakos(texts)


if __name__ == "__main__":
    main()
