"""Train a corrector of typed Chinese on clean texts of a task, in minutes on one core: noise them, learn to undo it.

The tagger reads each character with its Pinyin and its neighbours, and says what it should be (itself, nothing, another
character) and what is missing before it. Three people who type (`zh_keyboard`) make its examples. How sure it must be
is set on texts held out: clean text stays as it is but for a share of its characters. The extra `papers` installs
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

from lapsus.core.edits import Edit, apply
from lapsus.papers.corrector_schedule import DEFAULT_SCHEDULE, Schedule
from lapsus.papers.training import group_by_length, limit_threads, warmup_then_decay
from lapsus.perturbations.core import Operator, perturb_batch
from lapsus.perturbations.zh.correction.combine import is_in_both_tasks, rank_proposals, select_edits
from lapsus.perturbations.zh.correction.tagger import (
    DELETE,
    END,
    FIRST,
    KEEP,
    LAYERS,
    PAD,
    WIDTH,
    Tagger,
    TaggerVocabulary,
    Weights,
    character_pairs,
    find_reading,
)
from lapsus.perturbations.zh.correction.task_words import CHINESE, TaskModel
from lapsus.perturbations.zh.typist.keyboard import ZhKeyboard

FEWEST, HELD_OUT = 100, 2000  # texts
LONGEST = 200  # characters of a text that are learned from
# of the characters of clean texts held out: alone, and beside a corpus
MAX_CHANGE_RATE, MAX_CHANGE_RATE_WITH_CORPUS = 0.0015, 0.0022
MIN_THRESHOLD = 0.3
CORPUS_THRESHOLD_RANGE = (-5.0, 20.0)  # beside a corpus
MIN_COUNT = 2  # occurrences of a character in clean texts before it is written
PEOPLE = tuple(map(ZhKeyboard.annotator, (1, 2, 3)))
Pair = tuple[str, str]
Log = Callable[[str], None]


class CorrectorNetwork(nn.Module):
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
        mask = (characters != PAD)[:, :, None]
        state = (self.characters(characters) + self.readings(readings)) * mask
        for layer, norm in zip(self.layers, self.norms, strict=True):
            context = layer((norm(state) * mask).transpose(1, 2)).transpose(1, 2)
            state = (state + self.dropout(torch.relu(context))) * mask
        characters_of_all: Tensor = state[mask[:, :, 0]]
        return characters_of_all

    def compute_loss(self, characters: Tensor, readings: Tensor, tags: Tensor, missing: Tensor) -> Tensor:
        """Return how far it is from tags of the characters and of what is missing before them, per character."""
        state = self(characters, readings)
        total: Tensor = state.new_zeros(())
        for gold, kind, character in ((tags, self.kinds, self.write), (missing, self.gaps, self.fill)):
            total = total + nn.functional.cross_entropy(kind(state), gold.clamp(max=kind.out_features - 1))
            new = gold >= FIRST
            if new.any():
                character_loss = nn.functional.cross_entropy(character(state[new]), gold[new] - FIRST, reduction="sum")
                total = total + character_loss / len(gold)
        return total


def train(
    texts: Sequence[str],
    seed: int = 0,
    *,
    people: Sequence[Operator] = PEOPLE,
    schedule: Schedule = DEFAULT_SCHEDULE,
    log: Log = lambda _: None,
) -> Tagger:
    """Train on clean texts, each as every person types it, and once as it is.

    The same texts and seed give the same weights: it runs on one thread and leaves the caller's random state alone.
    """
    if isinstance(texts, str):
        raise TypeError("the texts to learn from are one string; give a list of texts")
    chinese_texts = sorted({text.strip()[:LONGEST] for text in texts if CHINESE.search(text)})
    if len(chinese_texts) < FEWEST:
        raise ValueError(
            f"there are {len(chinese_texts)} different Chinese texts to learn from; give at least {FEWEST} clean ones"
        )
    rng = Random(f"corrector/{seed}")
    order = sorted(chinese_texts, key=lambda _: rng.random())
    held_out = order[: min(HELD_OUT, len(order) // 10)]
    clean = order[len(held_out) :]
    pairs = list(zip(clean, clean, strict=True))
    for number, person in enumerate(people):
        for version in range(schedule.copies):
            pairs += _simulate_typing(person, clean, seed * 1000 + version)
        log(f"typed by {number + 1} of {len(people)}")
    return learn_from_pairs(pairs, held_out, seed, schedule, log)


def _simulate_typing(person: Operator, texts: Sequence[str], seed: int) -> Iterator[Pair]:
    for text, edits in zip(texts, perturb_batch(person, texts, seed=seed), strict=True):
        if edits and (noisy := apply(text, edits)):
            yield text, noisy


def learn_from_pairs(pairs: Sequence[Pair], held_out: Sequence[str], seed: int, schedule: Schedule, log: Log) -> Tagger:
    """Learn from (clean, noisy) texts; how sure to be is set on clean texts held out."""
    clean = sorted({clean for clean, _ in pairs})
    units = build_vocabulary(clean, [noisy for _, noisy in pairs])
    uncalibrated = Tagger.from_weights(units, _train_network(pairs, units, seed, schedule, log), 0.0, 0.0)
    confidence_threshold = calibrate_threshold(uncalibrated, held_out)
    log(f"changes what it is {confidence_threshold:.4f} sure of")
    corpus_threshold = calibrate_corpus_threshold(uncalibrated, TaskModel(clean), held_out)
    log(f"changes what {corpus_threshold:.2f} speaks for, beside a corpus")
    return Tagger.from_weights(units, uncalibrated.weights, confidence_threshold, corpus_threshold)


def build_vocabulary(clean: Sequence[str], noisy: Sequence[str]) -> TaggerVocabulary:
    """Return what a tagger of these texts reads and writes."""
    character_counts = Counter(character for text in clean for character in text)
    read_characters = sorted({character for text in noisy for character in text})
    return TaggerVocabulary(
        (*read_characters, END),
        tuple(sorted({*map(find_reading, read_characters), END})),
        tuple(sorted(character for character, count in character_counts.items() if count >= MIN_COUNT)),
        frozenset(pair for text in clean for pair in character_pairs(f"{END}{text}{END}")),
    )


def align_tags(clean: str, noisy: str, written: Mapping[str, int]) -> tuple[list[int], list[int]]:
    """Return what each character of the noisy text should be, and what is missing before each and at the end.

    >>> align_tags("花呗怎么", "华呗怎怎", {"花": 2, "么": 3})
    ([2, 0, 0, 3, 0], [0, 0, 0, 0, 0])
    >>> align_tags("花呗怎么了", "花怎怎么了", {"呗": 2})
    ([0, 2, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0])
    """
    targets, missing = [KEEP] * (len(noisy) + 1), [KEEP] * (len(noisy) + 1)
    for op in Levenshtein.opcodes(noisy, clean):
        if op.tag == "insert" and op.dest_end - op.dest_start == 1:
            missing[op.src_start] = written.get(clean[op.dest_start], KEEP)
        for at in range(op.src_start, op.src_end):
            if op.tag == "replace":
                targets[at] = written.get(clean[op.dest_start + at - op.src_start], KEEP)
            elif op.tag == "delete":
                targets[at] = DELETE
    return targets, missing


def calibrate_threshold(uncalibrated: Tagger, held_out: Sequence[str]) -> float:
    """Return the lowest threshold that changes at most `MAX_CHANGE_RATE` of the characters of clean texts."""
    return _search_threshold(
        {text: partial(uncalibrated.edits, text) for text in held_out}, MAX_CHANGE_RATE, MIN_THRESHOLD, 1.0
    )


def calibrate_corpus_threshold(uncalibrated: Tagger, model: TaskModel, held_out: Sequence[str]) -> float:
    """Return the lowest threshold beside a corpus that changes at most `MAX_CHANGE_RATE_WITH_CORPUS`."""
    known_texts = [text for text in held_out if is_in_both_tasks(text, uncalibrated, model)]
    return _search_threshold(
        {text: partial(select_edits, rank_proposals(text, uncalibrated, model)) for text in known_texts},
        MAX_CHANGE_RATE_WITH_CORPUS,
        *CORPUS_THRESHOLD_RANGE,
    )


def _search_threshold(
    edits: Mapping[str, Callable[[float], Sequence[Edit]]], share: float, low: float, high: float
) -> float:
    """Return the lowest bar, by how the texts are edited at one, that changes no more of their characters."""
    allowed = share * sum(map(len, edits))
    for _ in range(12):
        middle = (low + high) / 2
        changes = {text: edits[text](middle) for text in edits}
        changed = sum(Levenshtein.distance(text, apply(text, text_edits)) for text, text_edits in changes.items())
        if changed <= allowed:
            high = middle
        else:
            low = middle
            edits = {
                text: edits[text] for text, text_edits in changes.items() if text_edits
            }  # a higher one changes no others
    return high


def _train_network(pairs: Sequence[Pair], units: TaggerVocabulary, seed: int, schedule: Schedule, log: Log) -> Weights:
    characters, readings, written = units.ids
    rows = [
        tuple(map(torch.tensor, (*units.encode(noisy), *align_tags(clean, noisy, written)))) for clean, noisy in pairs
    ]
    size, epochs = schedule.batch_size, schedule.epochs
    rng = Random(f"corrector/{seed}/order")
    with torch.random.fork_rng(devices=[]), limit_threads(1):
        torch.manual_seed(seed)
        network = CorrectorNetwork(len(characters) + 2, len(readings) + 2, len(written))
        optimizer = torch.optim.AdamW(network.parameters(), lr=schedule.learning_rate)
        scheduler = warmup_then_decay(optimizer, epochs * -(-len(rows) // size), warmup=0.02)
        for epoch in range(epochs):
            total = 0.0
            batches = group_by_length([len(row[0]) for row in rows], size, rng)
            for batch in batches:
                first, second = (pad_sequence([rows[n][k] for n in batch], batch_first=True) for k in (0, 1))
                loss = network.compute_loss(first, second, *(torch.cat([rows[n][k] for n in batch]) for k in (2, 3)))
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(network.parameters(), 5.0)
                optimizer.step()
                scheduler.step()
                total += loss.item()
            log(f"epoch {epoch + 1} of {epochs}: loss {total / len(batches):.3f}")
    return {name: value.numpy().astype("float16").astype("float32") for name, value in network.state_dict().items()}
