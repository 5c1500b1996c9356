"""Compare the accuracy that noise costs models with what people's errors cost them, on READIN's public AFQMC rows.

    python benchmarks/fidelity/average_bias.py READIN_FOLDER [READING...]

Eight ways to read a question, each in a model trained on clean pairs, on pairs of which half were typed by
`zh_keyboard`, and on pairs of which half have random homophones: 24 models of AFQMC, by logistic regression, in a
dozen minutes of one core; with some of the ways (READING: characters, words, Pinyin) in fewer. Each loses some accuracy
to the three people who typed READIN, and some to imitations: `zh_keyboard` annotators 1 to 3, and random homophones
that make as many errors. The bias of an imitation is its loss less the people's, in points of balanced accuracy,
averaged over models: of the mean of the three tracks, and of the worst (a row counts where all three are right).
Intervals are 95 % of bootstraps over rows. The rows with even ids, which `zh_keyboard` was fitted on, and the others
are shown apart, and so is each draw of the noise. Kendall's tau says whether the models come in the same order of what
they lose.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pypinyin import lazy_pinyin
from rapidfuzz.distance import Levenshtein
from scipy.stats import kendalltau
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from lapsus.perturbations import apply, perturb_batch
from lapsus.perturbations.zh.homophone import ZhHomophone
from lapsus.perturbations.zh.input_method.pinyin import load_engine
from lapsus.perturbations.zh.typist.keyboard import ZhKeyboard

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from corpora.readin import labelled, questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from lapsus.perturbations import Operator

    Read = Callable[[str], Sequence[str]]
    Pairs = Sequence[tuple[str, str]]
    Counts = NDArray[np.float64]  # of shape (rows,), or (tracks, rows)

SEEDS, BOOTSTRAPS = 3, 2000


class Rows(NamedTuple):
    """Pairs and whether they ask the same."""

    pairs: list[tuple[str, str]]
    same: NDArray[np.int64]

    def weights(self) -> NDArray[np.float64]:
        """Return a weight for each row, so that both labels count the same."""
        share = self.same.mean()
        weights: NDArray[np.float64] = np.where(self.same, 0.5 / share, 0.5 / (1 - share))
        return weights


class Material(NamedTuple):
    """What the models learn from, by what was done to the pairs, and what they are judged on."""

    same: NDArray[np.int64]
    ways: dict[str, list[tuple[str, str]]]
    test: Rows
    human: list[list[tuple[str, str]]]
    imitations: dict[str, list[list[list[tuple[str, str]]]]]  # by seed and track


class Losses(NamedTuple):
    """What each row counts where a model has it right: clean, as people typed it, and as imitations do, by seed."""

    clean: Counts
    human: Counts
    imitated: dict[str, list[Counts]]


def characters(text: str) -> Sequence[str]:
    """Cut a text into its characters."""
    return text


def words(text: str) -> Sequence[str]:
    """Cut a text into words."""
    return load_engine().split(text)


@cache
def syllables(text: str) -> Sequence[str]:
    """Cut a text into its syllables."""
    found: list[str] = lazy_pinyin(text)
    return found


def letters(text: str) -> Sequence[str]:
    """Spell a text."""
    return "".join(syllables(text))


def runs(read: Read, longest: int) -> Read:
    """Return a reading of up to `longest` units at a time."""

    def read_runs(text: str) -> Sequence[str]:
        units = read(text)
        sizes = range(1, longest + 1)
        return [" ".join(units[at : at + size]) for size in sizes for at in range(len(units) - size + 1)]

    return read_runs


READINGS: dict[str, Read] = {
    "characters": runs(characters, 1),
    "characters, 1 to 2": runs(characters, 2),
    "characters, 1 to 3": runs(characters, 3),
    "words": runs(words, 1),
    "words, 1 to 2": runs(words, 2),
    "Pinyin": runs(syllables, 1),
    "Pinyin, 1 to 2": runs(syllables, 2),
    "letters, 1 to 4": runs(letters, 4),
}


def features(read: Read, pairs: Pairs) -> list[dict[str, float]]:
    """Return for each pair what both sides have, what one has alone, and how much they overlap."""

    def of(pair: tuple[str, str]) -> dict[str, float]:
        one, other = (Counter(read(text)) for text in pair)
        both, alone = one & other, (one - other) + (other - one)
        size = max(sum((one | other).values()), 1)
        found: dict[str, float] = {f"={unit}": 0.5 for unit in both} | {f"-{unit}": 1.0 for unit in alone}
        share = sum(both.values()) / size
        return found | {"share": 4 * share, "squared": 4 * share**2, f"bin {int(share * 10)}": 1.0, "size": size / 20}

    return list(map(of, pairs))


def load(folder: Path, name: str) -> Rows:
    """Return the rows of a clean file."""
    rows = labelled(folder, name)
    return Rows([(one, other) for one, other, _ in rows], np.array([int(label) for *_, label in rows]))


def noisy(op: Operator, pairs: Pairs, seed: int) -> list[tuple[str, str]]:
    """Return pairs as an operator makes them, the two questions of a pair in one sitting."""
    texts = [text for pair in pairs for text in pair]
    keys = [f"{n // 2}/{n % 2}" for n in range(len(texts))]
    edits = perturb_batch(op, texts, seed=seed, keys=keys, sessions=[key.partition("/")[0] for key in keys])
    made = list(map(apply, texts, edits))
    return list(zip(made[::2], made[1::2], strict=True))


def homophones(clean: Pairs, human: Sequence[Pairs]) -> ZhHomophone:
    """Return random homophones that make as many errors as people do."""
    pairs = [pair for track in human for pair in zip(clean, track, strict=True)]
    wanted = sum(Levenshtein.distance(a, b) for one, other in pairs for a, b in zip(one, other, strict=True))
    edits = perturb_batch(ZhHomophone(rate=1.0), [text for pair in clean for text in pair])
    most = sum(len(edit.text) for some in edits for edit in some)
    return ZhHomophone(rate=wanted / len(human) / most)


def bias(losses: Sequence[Losses], imitation: str) -> NDArray[np.float64]:
    """Return how much more an imitation costs than people do, on average and at worst, in points for each row."""
    found = []
    for model in losses:
        ours = model.imitated[imitation]
        mean = model.human.mean(axis=0) - np.mean([right.mean(axis=0) for right in ours], axis=0)
        worst = model.human.min(axis=0) - np.mean([right.min(axis=0) for right in ours], axis=0)
        found.append((mean, worst))
    points: NDArray[np.float64] = 100 * np.mean(found, axis=0)
    return points


def order(losses: Sequence[Losses], imitation: str) -> float:
    """Return Kendall's tau between what people and an imitation cost the models on average."""
    human = [model.clean.mean() - model.human.mean() for model in losses]
    ours = [model.clean.mean() - np.mean([right.mean() for right in model.imitated[imitation]]) for model in losses]
    return float(kendalltau(human, ours).statistic)


def with_interval(points: NDArray[np.float64], draws: NDArray[np.int64]) -> str:
    """Return a mean over rows and the middle 95 % of its bootstraps."""
    low, high = np.percentile([points[draw].mean() for draw in draws], [2.5, 97.5])
    return f"{points.mean():+.2f} [{low:+.2f}, {high:+.2f}]"


def material(folder: Path) -> Material:
    """Return what the models learn from and are judged on."""
    train, test = load(folder, "train"), load(folder, "test_clean")
    human = [list(zip(side[::2], side[1::2], strict=True)) for side in questions(folder).noisy]
    random = homophones(test.pairs, human)
    typists: list[Operator] = [ZhKeyboard.annotator(number) for number in (1, 2, 3)]
    typed, replaced = list(train.pairs), list(train.pairs)
    for number, op in enumerate(typists):
        typed[2 * number + 1 :: 6] = noisy(op, train.pairs[2 * number + 1 :: 6], 11)
    replaced[1::2] = noisy(random, train.pairs[1::2], 11)
    imitations = {
        "zh_keyboard": [[noisy(op, test.pairs, seed) for op in typists] for seed in range(SEEDS)],
        f"zh_homophone@{random.rate:.2f}": [
            [noisy(random, test.pairs, 3 * s + n) for n in range(3)] for s in range(SEEDS)
        ],
    }
    ways = {"": train.pairs, ", half typed": typed, ", half homophones": replaced}
    return Material(train.same, ways, test, human, imitations)


def losses_of(reading: str, data: Material) -> Iterator[tuple[str, Losses]]:
    """Train the models that read in one way, and yield the name of each and what it loses."""
    seen = partial(features, READINGS[reading])
    clean, held = seen(data.test.pairs), [seen(track) for track in data.human]
    imitated = {name: [[seen(track) for track in tracks] for tracks in by] for name, by in data.imitations.items()}
    weights = data.test.weights()
    for how, pairs in data.ways.items():
        model = make_pipeline(DictVectorizer(), LogisticRegression(C=0.3, max_iter=500))
        model.fit(seen(pairs), data.same)

        def right(data_seen: list[dict[str, float]], model: Pipeline = model) -> Counts:
            found: Counts = (model.predict(data_seen) == data.test.same) * weights
            return found

        yield (
            reading + how,
            Losses(
                right(clean),
                np.array(list(map(right, held))),
                {name: [np.array(list(map(right, tracks))) for tracks in by] for name, by in imitated.items()},
            ),
        )


def summary(losses: Sequence[Losses]) -> Iterator[str]:
    """Yield how far each imitation is off, over all models and over those that were trained on clean pairs."""
    rows = len(losses[0].clean)
    draws = np.random.default_rng(0).integers(0, rows, (BOOTSTRAPS, rows))
    for group, some in {"all models": losses, "trained on clean pairs": losses[::3]}.items():
        for name in some[0].imitated:
            mean, worst = (with_interval(points, draws) for points in bias(some, name))
            yield f"{name}, {group}: average {mean}, worst {worst}, tau {order(some, name):.2f}"
    yield from (in_parts(losses, name) for name in losses[0].imitated)


def in_parts(losses: Sequence[Losses], imitation: str) -> str:
    """Return the bias of the average on the rows that `zh_keyboard` was fitted on and on the others, and by draw."""
    points = bias(losses, imitation)[0]
    rng = np.random.default_rng(0)
    halves = (points[::2], points[1::2])
    even, odd = (with_interval(half, rng.integers(0, len(half), (BOOTSTRAPS, len(half)))) for half in halves)
    drawn = [[each._replace(imitated={imitation: [one]}) for one in each.imitated[imitation]] for each in losses]
    alone = ", ".join(f"{bias(some, imitation)[0].mean():+.2f}" for some in zip(*drawn, strict=True))
    return f"{imitation}, all models: average in even rows {even}, in odd ones {odd}; by draw of the noise {alone}"


def kept(pairs: Pairs) -> float:
    """Return the mean share of characters that both questions of a pair have."""
    counts = [(Counter(one), Counter(other)) for one, other in pairs]
    return float(np.mean([sum((one & other).values()) / max(sum((one | other).values()), 1) for one, other in counts]))


def main() -> None:
    """Train the models, and print what each loses and how far the imitations are off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds afqmc_balanced")
    parser.add_argument("readings", nargs="*", metavar="READING", help=f"of {', '.join(READINGS)}; all of them if none")
    args = parser.parse_args()
    if unknown := sorted(set(args.readings) - set(READINGS)):
        parser.error(f"there is no reading {unknown[0]!r}; choose of {', '.join(READINGS)}")
    data = material(args.folder / "afqmc_balanced")
    human = np.mean(list(map(kept, data.human)))
    shares = {name: np.mean([kept(track) for tracks in by for track in tracks]) for name, by in data.imitations.items()}
    told = (f"{name} {share:.3f}" for name, share in {"clean": kept(data.test.pairs), "human": human, **shares}.items())
    print("characters that both questions have:", *told)
    print(f"{'':34}{'clean':>7}{'human':>14}", *(f"{name:>20}" for name in data.imitations))
    losses = []
    for name, found in (pair for reading in args.readings or READINGS for pair in losses_of(reading, data)):
        print(f"{name:34}{line(found)}", flush=True)
        losses.append(found)
    print(*summary(losses), sep="\n")


def line(model: Losses) -> str:
    """Return a model's accuracy, and what it loses: on average, and at worst."""
    clean = 100 * model.clean.mean()

    def lost(by: Sequence[Counts]) -> str:
        mean = clean - 100 * np.mean([right.mean() for right in by])
        worst = clean - 100 * np.mean([right.min(axis=0).mean() for right in by])
        return f"{mean:7.1f}{worst:7.1f}"

    return f"{clean:7.1f}{lost([model.human])}" + "".join(f"{lost(by):>21}" for by in model.imitated.values())


if __name__ == "__main__":
    main()
