"""Train a corrector of typed Chinese on clean texts of a task, in minutes on one core: noise them, learn to undo it.

The tagger reads each character with its Pinyin and its neighbours, and says what it should be (itself, nothing, another
character) and what is missing before it. Three people who type (`zh_keyboard`) make its examples. How sure it must be
is set on texts held out: clean text stays as it is but for a share of its characters. The extra `models` installs
torch; using the corrector needs numpy alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random

import torch
from rapidfuzz.distance import Levenshtein
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from lapsus.models.corrector_schedule import USUAL, Schedule
from lapsus.models.training import batches_by_length, rising_and_falling, threads
from lapsus.perturbations.core import Edit, Operator, apply, perturb_batch
from lapsus.perturbations.zh.correction.second_opinion import agreed, both_know, proposals
from lapsus.perturbations.zh.correction.tagger import (
    DELETE,
    END,
    FIRST,
    KEEP,
    LAYERS,
    PAD,
    WIDTH,
    Tagger,
    Units,
    Weights,
    neighbours,
    reading_of,
)
from lapsus.perturbations.zh.correction.task_words import CHINESE, Adapted
from lapsus.perturbations.zh.typist.keyboard import ZhKeyboard

FEWEST, HELD_OUT = 100, 2000  # texts
LONGEST = 200  # characters of a text that are learned from
CHANGED, BESIDE = 0.0015, 0.0022  # of the characters of clean texts held out: alone, and beside a corpus
LOWEST = 0.3  # threshold
BARS = (-5.0, 20.0)  # beside a corpus
SEEN = 2  # occurrences of a character in clean texts before it is written
PEOPLE = tuple(map(ZhKeyboard.annotator, (1, 2, 3)))
Pair = tuple[str, str]
Say = Callable[[str], None]


class Network(nn.Module):
    """Convolutions over characters and their readings, as `Tagger` computes them."""

    def __init__(self, characters: int, readings: int, written: int, size: int = 128) -> None:
        super().__init__()
        self.characters = nn.Embedding(characters, size, padding_idx=PAD)
        self.readings = nn.Embedding(readings, size, padding_idx=PAD)
        self.layers = nn.ModuleList([nn.Conv1d(size, size, WIDTH, padding=WIDTH // 2) for _ in range(LAYERS)])
        self.norms = nn.ModuleList([nn.LayerNorm(size) for _ in range(LAYERS)])
        self.kinds, self.gaps = nn.Linear(size, 3), nn.Linear(size, 2)
        self.write, self.fill = nn.Linear(size, written), nn.Linear(size, written)
        self.dropout = nn.Dropout(0.1)

    def forward(self, characters: Tensor, readings: Tensor) -> Tensor:
        """Return a vector per character of all texts, one text after the other."""
        there = (characters != PAD)[:, :, None]
        state = (self.characters(characters) + self.readings(readings)) * there
        for layer, norm in zip(self.layers, self.norms, strict=True):
            around = layer((norm(state) * there).transpose(1, 2)).transpose(1, 2)
            state = (state + self.dropout(torch.relu(around))) * there
        characters_of_all: Tensor = state[there[:, :, 0]]
        return characters_of_all

    def loss(self, characters: Tensor, readings: Tensor, tags: Tensor, missing: Tensor) -> Tensor:
        """Return how far it is from tags of the characters and of what is missing before them, per character."""
        state = self(characters, readings)
        found: Tensor = state.new_zeros(())
        for gold, kind, character in ((tags, self.kinds, self.write), (missing, self.gaps, self.fill)):
            found = found + nn.functional.cross_entropy(kind(state), gold.clamp(max=kind.out_features - 1))
            new = gold >= FIRST
            if new.any():
                wrong = nn.functional.cross_entropy(character(state[new]), gold[new] - FIRST, reduction="sum")
                found = found + wrong / len(gold)
        return found


def train(
    texts: Sequence[str],
    seed: int = 0,
    *,
    people: Sequence[Operator] = PEOPLE,
    schedule: Schedule = USUAL,
    say: Say = lambda _: None,
) -> Tagger:
    """Train on clean texts, each as every person types it, and once as it is.

    The same texts and seed give the same weights: it runs on one thread and leaves the caller's random state alone.
    """
    if isinstance(texts, str):
        raise TypeError("the texts to learn from are one string; give a list of texts")
    known = sorted({text.strip()[:LONGEST] for text in texts if CHINESE.search(text)})
    if len(known) < FEWEST:
        raise ValueError(
            f"there are {len(known)} different Chinese texts to learn from; give at least {FEWEST} clean ones"
        )
    rng = Random(f"corrector/{seed}")
    order = sorted(known, key=lambda _: rng.random())
    held = order[: min(HELD_OUT, len(order) // 10)]
    clean = order[len(held) :]
    pairs = list(zip(clean, clean, strict=True))
    for number, person in enumerate(people):
        for version in range(schedule.versions):
            pairs += _typed(person, clean, seed * 1000 + version)
        say(f"typed by {number + 1} of {len(people)}")
    return learned(pairs, held, seed, schedule, say)


def _typed(person: Operator, texts: Sequence[str], seed: int) -> Iterator[Pair]:
    for text, edits in zip(texts, perturb_batch(person, texts, seed=seed), strict=True):
        if edits and (noisy := apply(text, edits)):
            yield text, noisy


def learned(pairs: Sequence[Pair], held: Sequence[str], seed: int, schedule: Schedule, say: Say) -> Tagger:
    """Learn from (clean, noisy) texts; how sure to be is set on clean texts held out."""
    clean = sorted({clean for clean, _ in pairs})
    units = units_of(clean, [noisy for _, noisy in pairs])
    careless = Tagger.of(units, _trained(pairs, units, seed, schedule, say), 0.0, 0.0)
    least = threshold(careless, held)
    say(f"changes what it is {least:.4f} sure of")
    beside = bar(careless, Adapted(clean), held)
    say(f"changes what {beside:.2f} speaks for, beside a corpus")
    return Tagger.of(units, careless.weights, least, beside)


def units_of(clean: Sequence[str], noisy: Sequence[str]) -> Units:
    """Return what a tagger of these texts reads and writes."""
    written = Counter(character for text in clean for character in text)
    read = sorted({character for text in noisy for character in text})
    return Units(
        (*read, END),
        tuple(sorted({*map(reading_of, read), END})),
        tuple(sorted(character for character, count in written.items() if count >= SEEN)),
        frozenset(pair for text in clean for pair in neighbours(f"{END}{text}{END}")),
    )


def tags(clean: str, noisy: str, written: Mapping[str, int]) -> tuple[list[int], list[int]]:
    """Return what each character of the noisy text should be, and what is missing before each and at the end.

    >>> tags("花呗怎么", "华呗怎怎", {"花": 2, "么": 3})
    ([2, 0, 0, 3, 0], [0, 0, 0, 0, 0])
    >>> tags("花呗怎么了", "花怎怎么了", {"呗": 2})
    ([0, 2, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0])
    """
    found, missing = [KEEP] * (len(noisy) + 1), [KEEP] * (len(noisy) + 1)
    for op in Levenshtein.opcodes(noisy, clean):
        if op.tag == "insert" and op.dest_end - op.dest_start == 1:
            missing[op.src_start] = written.get(clean[op.dest_start], KEEP)
        for at in range(op.src_start, op.src_end):
            if op.tag == "replace":
                found[at] = written.get(clean[op.dest_start + at - op.src_start], KEEP)
            elif op.tag == "delete":
                found[at] = DELETE
    return found, missing


def threshold(careless: Tagger, held: Sequence[str]) -> float:
    """Return the lowest threshold at which no more than `CHANGED` of the characters of clean texts are changed."""
    return _lowest({text: partial(careless.edits, text) for text in held}, CHANGED, LOWEST, 1.0)


def bar(careless: Tagger, model: Adapted, held: Sequence[str]) -> float:
    """Return the lowest bar beside a corpus at which no more than `BESIDE` of the characters are changed."""
    known = [text for text in held if both_know(text, careless, model)]
    return _lowest({text: partial(agreed, proposals(text, careless, model)) for text in known}, BESIDE, *BARS)


def _lowest(edits: Mapping[str, Callable[[float], Sequence[Edit]]], share: float, low: float, high: float) -> float:
    """Return the lowest bar, by how the texts are edited at one, that changes no more of their characters."""
    allowed = share * sum(map(len, edits))
    for _ in range(12):
        middle = (low + high) / 2
        changes = {text: edits[text](middle) for text in edits}
        changed = sum(Levenshtein.distance(text, apply(text, made)) for text, made in changes.items())
        if changed <= allowed:
            high = middle
        else:
            low = middle
            edits = {text: edits[text] for text, made in changes.items() if made}  # a higher one changes no others
    return high


def _trained(pairs: Sequence[Pair], units: Units, seed: int, schedule: Schedule, say: Say) -> Weights:
    characters, readings, written = units.places
    rows = [tuple(map(torch.tensor, (*units.encoded(noisy), *tags(clean, noisy, written)))) for clean, noisy in pairs]
    size, epochs = schedule.batch_size, schedule.epochs
    rng = Random(f"corrector/{seed}/order")
    with torch.random.fork_rng(devices=[]), threads(1):
        torch.manual_seed(seed)
        network = Network(len(characters) + 2, len(readings) + 2, len(written))
        optimizer = torch.optim.AdamW(network.parameters(), lr=schedule.rate)
        steps = rising_and_falling(optimizer, epochs * -(-len(rows) // size), warmup=0.02)
        for epoch in range(epochs):
            total = 0.0
            batches = batches_by_length([len(row[0]) for row in rows], size, rng)
            for some in batches:
                first, second = (pad_sequence([rows[n][k] for n in some], batch_first=True) for k in (0, 1))
                loss = network.loss(first, second, *(torch.cat([rows[n][k] for n in some]) for k in (2, 3)))
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(network.parameters(), 5.0)
                optimizer.step()
                steps.step()
                total += loss.item()
            say(f"epoch {epoch + 1} of {epochs}: loss {total / len(batches):.3f}")
    return {name: value.numpy().astype("float16").astype("float32") for name, value in network.state_dict().items()}
