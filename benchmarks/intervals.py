"""Simulate the coverage of intervals and the level of tests; writes the table of docs/statistics.md.

    python benchmarks/intervals.py [--quick | --short] [PART ...]

Every cell is a study repeated many times with a known truth: how often the 95 % interval covers it, or how often
a test at 0.05 rejects a true hypothesis. Studies go through the public functions, with a seed of their own. A cell is
repeated until it is clear whether it is within its limits, but not for ever (`--short`: 12,000 times at most). Parts
(functions of this file that yield cells) can be run one by one: their lines are exchanged in the table, the others
stay.
"""

from __future__ import annotations

import math
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from lapsus import stats as statistics
from lapsus.core.types import Track
from lapsus.metrics import (
    annotated_bleu,
    annotated_chrf,
    classification,
    dialect_awareness,
    entity_f1,
    micro_worst_average,
    mixed_effects,
    noise_rate,
    prediction_consistency,
    slu_accuracy,
    win_rate,
)
from lapsus.reporting.analysis.comparisons import apply_holm, compare_paired_scores
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.analysis.records import AnalysisOptions, PairedTest
from lapsus.reporting.analysis.scores import ExampleScores, compute_balanced_drop_p
from lapsus.reporting.html.tables import format_count

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "statistics.md"
QUICK = "--quick" in sys.argv
SHORT = "--short" in sys.argv
FEWEST, MOST = (200, 200) if QUICK else (3000, 12_000 if SHORT else 200_000)  # studies of a cell
CERTAIN = 2.6  # standard errors from a limit, from which a cell counts as decided: 99 % of a normal distribution
FEW = 5  # expected 0s or 1s, below which an interval cannot come close to 0.95: a single outcome makes steps of 0.02
Generator = np.random.Generator
Limits = tuple[float, float]

TEST: Limits = (0.04, 0.06)
AT_MOST: Limits = (0.0, 0.06)  # exact tests and families: conservative, since few counts are possible
COVERAGE: Limits = (0.94, 0.96)
STEPS: Limits = (0.94, 1.0)  # fewer than FEW expected 0s or 1s
SMALL: Limits = (0.93, 1.0)  # 20 originals

HEAD = ["what", "setting", "measured", "studies", "aim", "holds"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A study: its subject, its setting, the limits; `study` returns whether the interval held or the test rejected.

    `exact` is the share of studies that do, where it is counted or known, and needs no drawing; `studies` how many are
    drawn before it is asked whether the cell is decided.
    """

    what: str
    setting: str
    limits: Limits
    study: Callable[[Generator], bool]
    exact: float | None = None
    studies: int = FEWEST

    def run(self) -> tuple[int, int]:
        """Return how many studies returned True, and how many were made."""
        rng = np.random.Generator(np.random.SFC64(zlib.crc32(f"{self.what}/{self.setting}".encode())))
        true = studies = 0
        fewest = min(self.studies, FEWEST)
        while studies < fewest or (studies < MOST and self.verdict(true, studies) == "open"):
            step = fewest // 2
            true += sum(self.study(rng) for _ in range(step))
            studies += step
        return true, studies

    def verdict(self, true: int, studies: int) -> str:
        """Say whether the share is within its limits, or too close to one of them to be sure."""
        share, (low, high) = true / studies, self.limits
        error = CERTAIN * math.sqrt(max(share * (1 - share), 1 / studies) / studies)
        if (share - error >= low or not low) and (share + error <= high or high == 1):
            return "yes"
        return "no" if share + error < low or share - error > high else "open"

    def line(self) -> tuple[str, ...]:
        """Return the line of the table."""
        low, high = self.limits
        asked = f"at most {high:.2f}" if not low else f"at least {low:.2f}" if high == 1 else f"{low:.2f} to {high:.2f}"
        if self.exact is not None:
            inside = low <= self.exact <= high
            return self.what, self.setting, f"{self.exact:.4f}", "exact", asked, "yes" if inside else "no"
        true, studies = self.run()
        return self.what, self.setting, f"{true / studies:.4f}", f"{studies:,}", asked, self.verdict(true, studies)


def holds(interval: Any, truth: float) -> bool:
    """Return whether the interval covers the truth."""
    low, high = interval
    return bool(low - 1e-12 <= truth <= high + 1e-12)


def limits(examples: int, rarest: float = 1.0) -> Limits:
    """Return the limits of the coverage for so many originals, of which this share is a 0 (or a 1) in the scores."""
    return SMALL if examples < 50 else STEPS if examples * rarest < FEW else COVERAGE


def averages_near_the_ends() -> Iterator[Cell]:
    """Average and worst, near 0 and 1 and between."""

    def average(key: str, truth: float, chance: float, examples: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            return holds(micro_worst_average((rng.random((examples, 3)) < chance) * 1.0)[key], truth)

        return study

    for examples in (20, 50, 200):
        for chance in (0.98, 0.75, 0.02):
            setting = f"{examples} examples × 3 annotators, right with {chance:.2f}"
            for key, truth, rows in (("micro_average_ci", chance, 3), ("worst_average_ci", chance**3, 1)):
                within = limits(examples, rows * min(truth, 1 - truth))
                yield Cell(key, setting, within, average(key, truth, chance, examples))


def averages_of_shared_originals() -> Iterator[Cell]:
    """Averages and drops with several rows per original."""

    def shared(key: str, examples: int) -> Callable[[Generator], bool]:
        """Return a study of five noisy and clean rows per original; each original has its own success probability."""

        def study(rng: Generator) -> bool:
            ability = rng.beta(3, 1, (examples, 1))
            noisy, clean = (rng.random((examples, 5)) < ability * 0.9), (rng.random((examples, 5)) < ability)
            result = micro_worst_average(
                noisy.reshape(-1, 1) * 1.0, clean_scores=clean.ravel() * 1.0, clusters=np.repeat(np.arange(examples), 5)
            )
            return holds(result[key], {"micro_average_ci": 0.675, "micro_drop_ci": 0.075}[key])

        return study

    for examples in (20, 50, 200):
        for key in ("micro_average_ci", "micro_drop_ci"):
            yield Cell(key, f"{examples} originals × 5 rows", limits(examples), shared(key, examples))

    truths = {"micro_average": 0.675, "worst_average": 0.3645, "micro_drop": 0.075, "worst_drop": 0.3855}

    def annotated(key: str, examples: int) -> Callable[[Generator], bool]:
        """Return a study of two rewrites per original and three annotators."""

        def study(rng: Generator) -> bool:
            ability = rng.beta(3, 1, (examples, 1, 1))
            noisy, clean = (rng.random((examples, 2, 3)) < ability * 0.9), (rng.random((examples, 2, 1)) < ability)
            result = micro_worst_average(
                noisy.reshape(-1, 3) * 1.0, clean_scores=clean.ravel() * 1.0, clusters=np.repeat(np.arange(examples), 2)
            )
            return holds(result[f"{key}_ci"], truths[key])

        return study

    for examples in (50, 200):
        for key in truths:
            setting = f"{examples} originals × 2 rows × 3 annotators"
            yield Cell(f"{key}_ci", setting, limits(examples), annotated(key, examples))


def averages_that_drop() -> Iterator[Cell]:
    """Drops near 0."""

    def drop(examples: int, level: float) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            clean = rng.random(examples) < level
            noisy = clean[:, None] & (rng.random((examples, 1)) < 0.95)
            return holds(micro_worst_average(noisy * 1.0, clean_scores=clean * 1.0)["micro_drop_ci"], 0.05 * level)

        return study

    for examples in (20, 50, 200):
        setting = f"{examples} examples, 0.95 right when clean, 1 of 20 lost"
        yield Cell("micro_drop_ci", setting, limits(examples, 0.05 * 0.95), drop(examples, 0.95))


def consistency() -> Iterator[Cell]:
    """Changed predictions, with 1 to 5 rows per original."""

    def study_of(key: str, examples: int, most: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            originals = np.repeat(np.arange(examples), rng.integers(1, most + 1, examples))
            chance = rng.beta(1, 3, examples)[originals]  # of a change, in a direction that rewrites share
            right = rng.random(examples)[originals] < 0.5
            changed = rng.random(len(originals)) < chance
            old, new = right.astype(int), (right ^ changed).astype(int)
            result = prediction_consistency(new, np.ones(len(new), int), old, clusters=originals)
            return holds(result[key], 0.25) if key.endswith("_ci") else bool(result[key] < 0.05)

        return study

    for examples in (50, 200):
        yield Cell("mcnemar_p", f"{examples} originals × 1 to 5 rows", TEST, study_of("mcnemar_p", examples, 5))
        yield Cell(
            "mcnemar_p", f"{examples} examples", AT_MOST if examples < 100 else TEST, study_of("mcnemar_p", examples, 1)
        )
    for examples in (20, 50, 200):
        yield Cell(
            "changed_rate_ci",
            f"{examples} originals × 1 to 5 rows",
            limits(examples),
            study_of("changed_rate_ci", examples, 5),
        )


def wins() -> Iterator[Cell]:
    """Win rates with ties, and dialect awareness."""

    def rejects(examples: int, share: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            outcome = np.repeat(rng.choice([-1.0, 0, 1], examples, p=[0.35, 0.3, 0.35]), share)
            clusters = np.repeat(np.arange(examples), share)
            result = win_rate(outcome, np.zeros(len(outcome)), clusters=clusters, alternative="two-sided")
            return bool(result["p_value"] is not None and result["p_value"] < 0.05)

        return study

    for examples in (20, 50, 200):
        yield Cell("win_rate p_value", f"{examples} pairs, 30 % ties, two-sided, exact", AT_MOST, rejects(examples, 1))
    for examples in (50, 200):
        yield Cell("win_rate p_value", f"{examples} originals × 4 pairs, 30 % ties", TEST, rejects(examples, 4))

    def aware(examples: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            chance = rng.beta(4, 1, examples)
            own = (rng.random((3, examples)) < chance).T.ravel() * 1.0
            clusters = np.repeat(np.arange(examples), 3)
            return holds(dialect_awareness(own, np.full(len(own), 0.5), clusters=clusters)["awareness_rate_ci"], 0.8)

        return study

    for examples in (20, 50):
        yield Cell("awareness_rate_ci", f"{examples} originals × 3 texts", limits(examples), aware(examples))


def rejects(scores: Callable[[Generator], np.ndarray], *, missing: float = 0.0) -> Callable[[Generator], bool]:
    """Return a study: does the test reject scores (examples x conditions x rewrites) with equal means of conditions?"""

    def study(rng: Generator) -> bool:
        table = scores(rng)
        example, condition, _ = (axis.ravel() for axis in np.indices(table.shape))
        kept = rng.random(table.size) >= missing
        result = mixed_effects(table.ravel()[kept], condition[kept], example[kept])
        return any(effect["p_value"] < 0.05 for effect in result["coefficients"].values())

    return study


def level_of_paired_t(scores: Callable[[Generator], np.ndarray]) -> float:
    """Return the level that the paired t-test of examples' means has with normal scores; raise if the test is another.

    Where each example has as many rewrites in each of two conditions, it is that test.
    """
    table = scores(np.random.default_rng(0))
    example, condition, _ = (axis.ravel() for axis in np.indices(table.shape))
    (found,) = mixed_effects(table.ravel(), condition, example)["coefficients"].values()
    first, second = table.mean(axis=2).T
    if not math.isclose(found["p_value"], stats.ttest_rel(second, first).pvalue, rel_tol=1e-9):
        raise ValueError("mixed_effects is not the paired t-test of the means: draw studies instead.")
    return 0.05


def effects_of_rewrites() -> Iterator[Cell]:
    """mixed_effects where the assumptions of its model do not hold."""

    def rewritten(spread: float, rewrites: int) -> Callable[[Generator], np.ndarray]:
        def scores(rng: Generator) -> np.ndarray:
            cells = rng.normal(size=(50, 1, 1)) + spread * rng.normal(size=(50, 2, 1))
            return cells + rng.normal(size=(50, 2, rewrites))

        return scores

    for spread in (0.5, 1.0):
        for rewrites in (3, 10):
            setting = f"50 examples × 2 conditions × {rewrites} rewrites, example × condition spread {spread:g}"
            scores = rewritten(spread, rewrites)
            yield Cell("coefficients p_value", setting, TEST, rejects(scores), level_of_paired_t(scores))
    setting = "50 examples × 2 × 3 rewrites, spread 1, 30 % of rows missing"
    yield Cell("coefficients p_value", setting, TEST, rejects(rewritten(1, 3), missing=0.3))


def effects_of_unequal_noise() -> Iterator[Cell]:
    """mixed_effects where conditions differ in variance, and where there are several."""

    def unequal(rng: Generator) -> np.ndarray:
        return rng.normal(size=(100, 1, 1)) + (rng.normal(size=(100, 2)) * [3, 1])[:, :, None]

    yield Cell("coefficients p_value", "100 examples × 2, noise 3 and 1", TEST, rejects(unequal))

    def other_is_wide(rng: Generator) -> bool:
        """Compare two conditions of low variance in the presence of a third of high variance."""
        table = rng.normal(size=(100, 1)) + rng.normal(size=(100, 3)) * [1, 1, 5]
        columns = table.ravel(), np.tile([0, 1, 2], 100), np.repeat(np.arange(100), 3)
        return bool(mixed_effects(*columns)["coefficients"]["1"]["p_value_single"] < 0.05)

    yield Cell("coefficients p_value_single", "100 examples × 3, noise 1, 1 and 5: the first two", TEST, other_is_wide)

    def six(rng: Generator) -> np.ndarray:
        return rng.normal(size=(50, 1, 1)) + rng.normal(size=(50, 6, 1))

    yield Cell("coefficients p_value, any of five", "50 examples × 6 conditions", AT_MOST, rejects(six))


def slots_and_utterances() -> Iterator[Cell]:
    """Slots, and whole utterances."""
    words = np.array(["O", "B-x", "I-x", "B-y"])

    def utterances(rng: Generator, count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return guesses and truths; some utterances are hard, and there most tags are wrong."""
        guess, truth = [], []
        for error, size in zip(rng.beta(0.5, 4, count), rng.integers(3, 12, count), strict=True):
            tags = rng.choice(words, size)
            wrong = rng.random(size) < error
            truth.append({"intent": "a", "tags": tags.tolist()})
            guess.append({"intent": "b" if rng.random() < error else "a", "tags": np.where(wrong, "O", tags).tolist()})
        return guess, truth

    world = utterances(np.random.default_rng(0), 4000)
    truths = slu_accuracy(*world)

    def slots(key: str, examples: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            rows = rng.integers(0, 4000, examples)
            return holds(slu_accuracy(*([side[row] for row in rows] for side in world))[f"{key}_ci"], truths[key])

        return study

    def counted(examples: int) -> float:
        """Return the chance that the interval covers E2E accuracy: over every number of right utterances."""
        right_row, wrong_row = ({"intent": intent, "tags": ["O"]} for intent in "ab")
        chances = stats.binom.pmf(np.arange(examples + 1), examples, truths["e2e_accuracy"])
        return float(
            sum(
                chance
                for right, chance in enumerate(chances)
                if holds(
                    slu_accuracy([right_row] * right + [wrong_row] * (examples - right), [right_row] * examples)[
                        "e2e_accuracy_ci"
                    ],
                    truths["e2e_accuracy"],
                )
            )
        )

    for examples in (20, 50, 200):
        yield Cell("slot_f1_ci", f"{examples} utterances", limits(examples), slots("slot_f1", examples))
        exact = counted(examples)
        yield Cell(
            "e2e_accuracy_ci", f"{examples} utterances", limits(examples), slots("e2e_accuracy", examples), exact
        )


def entities() -> Iterator[Cell]:
    """Entities; some utterances have none, and in some most are misheard."""
    random = np.random.default_rng(3)
    truth, guess = [], []
    for error, size in zip(random.beta(0.5, 3, 4000), random.integers(0, 4, 4000), strict=True):
        mine = [
            {"type": str(random.choice(["who", "when"])), "filler": f"word {random.integers(9)}"} for _ in range(size)
        ]
        heard = [entity | {"filler": "word x"} if random.random() < error else entity for entity in mine]
        truth.append(mine)
        guess.append(heard[int(random.random() < error) :])
    found = entity_f1(guess, truth)

    def entity(key: str, examples: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            rows = rng.integers(0, 4000, examples)
            return holds(entity_f1(*([side[row] for row in rows] for side in (guess, truth)))[f"{key}_ci"], found[key])

        return study

    for examples in (20, 50, 200):
        for key in ("entity_f1", "slu_f1"):
            yield Cell(f"{key}_ci", f"{examples} utterances", limits(examples), entity(key, examples))


def answers_by_class(rng: Generator, examples: int, recalls: list[float]) -> tuple[Any, Any]:
    """Return predictions and right answers of three classes, which have half, three and two tenths of the examples."""
    truth = rng.choice(3, examples, p=[0.5, 0.3, 0.2])
    right = rng.random(examples) < np.array(recalls)[truth]
    return np.where(right, truth, (truth + rng.integers(1, 3, examples)) % 3), truth


def classes() -> Iterator[Cell]:
    """Balanced accuracy and macro F1, and whether a report sees balanced accuracy fall."""
    recalls = [0.9, 0.7, 0.6]
    world = classification(*answers_by_class(np.random.default_rng(4), 4_000_000, recalls))
    truths = {"balanced_accuracy": sum(recalls) / 3, "macro_f1": world["macro_f1"]}

    def rate(key: str, examples: int, rewrites: int, alike: float = 1.0) -> Callable[[Generator], bool]:
        """Return a study of several rows per original; this share of them are answered as the first one is."""

        def study(rng: Generator) -> bool:
            guess, truth = (np.repeat(side, rewrites) for side in answers_by_class(rng, examples, recalls))
            other = np.where(rng.random(len(truth)) < np.array(recalls)[truth], truth, (truth + 1) % 3)
            guess = np.where(rng.random(len(truth)) < alike, guess, other)
            clusters = np.repeat(np.arange(examples), rewrites)
            return holds(classification(guess, truth, clusters=clusters)[f"{key}_ci"], truths[key])

        return study

    for examples in (50, 200):
        for key in truths:
            yield Cell(f"{key}_ci", f"{examples} examples of 3 classes", limits(examples), rate(key, examples, 1))
            setting = f"{examples} originals × 3 equal rows, 3 classes"
            yield Cell(f"{key}_ci", setting, limits(examples), rate(key, examples, 3))
        setting = f"{examples} originals × 3 rows, half of them equal, 3 classes"
        yield Cell("balanced_accuracy_ci", setting, limits(examples), rate("balanced_accuracy", examples, 3, 0.5))

    def falls(examples: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            guess, truth = answers_by_class(rng, examples, recalls)
            clean = guess == truth
            noisy = rng.random(examples) < np.array(recalls)[truth]
            p_value = compute_balanced_drop_p(clean, noisy, truth, None)
            return p_value is not None and p_value < 0.05

        return study

    for examples in (50, 200):
        yield Cell("balanced_drop_p", f"{examples} examples of 3 classes", TEST, falls(examples))


def gaps() -> Iterator[Cell]:
    """The gap between the groups that are served worst and best."""

    def rejects(groups: int, examples: int, rewrites: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            ability = np.repeat(rng.beta(3, 1, examples), rewrites)
            scores = (rng.random(len(ability)) < ability).astype(np.float64)
            group = np.repeat(rng.choice(groups, examples), rewrites)
            found = statistics.compare_group_extremes(scores, group, np.repeat(np.arange(examples), rewrites))
            return found is not None and found.p_value is not None and found.p_value < 0.05

        return study

    for groups in (2, 3, 6):
        yield Cell("gaps p_value", f"200 examples in {groups} groups", TEST, rejects(groups, 200, 1))
        yield Cell("gaps p_value", f"100 originals × 3 rows in {groups} groups", TEST, rejects(groups, 100, 3))


def families_of_a_report() -> Iterator[Cell]:
    """Any of the tests of a report, where noise costs nothing and two models are equally good."""

    def rejects(table: str) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            ability = rng.beta(3, 1, 60)
            ids = [str(number) for number in range(60)]

            def track(model: str, name: str) -> Track:
                scores = (rng.random(60) < ability) * 1.0
                return Track(model, name, [{"id": key, "score": score} for key, score in zip(ids, scores, strict=True)])

            names = ("clean", "keyboard.1", "keyboard.2", "keyboard.3", "speech")
            found = measure([track(model, name) for model in ("one", "other") for name in names], AnalysisOptions())
            if table == "comparisons":
                return any((record.test.p_holm or 1.0) < 0.05 for record in found.comparisons)
            if table == "tracks":
                return any(record.from_clean.test.is_suggestive for record in found.tracks if record.from_clean)
            return any(record.is_significant for record in found.summary)

        return study

    setting = "60 examples, 2 models, clean, 3 annotators of a keyboard, 1 of speech"
    yield Cell("p_holm of averages against clean, any", setting, AT_MOST, rejects("summary"))
    yield Cell("p_bh of tracks against clean, any", setting, AT_MOST, rejects("tracks"))
    yield Cell("p_holm of models, any", setting, AT_MOST, rejects("comparisons"))


def error_rates() -> Iterator[Cell]:
    """Error rates."""
    random = np.random.default_rng(1)
    clean = ["".join(random.choice(list("abcd"), size)) for size in random.integers(5, 25, 4000)]
    noisy = [
        [
            "".join(letter for letter in text if random.random() > loss) + "x" * int(random.random() < loss)
            for _ in range(2)
        ]
        for text, loss in zip(clean, random.beta(1, 6, 4000), strict=True)
    ]
    rates = noise_rate(noisy, clean)

    def errors(key: str, examples: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            rows = rng.integers(0, 4000, examples)
            return holds(
                noise_rate([noisy[row] for row in rows], [clean[row] for row in rows])[f"{key}_ci"], rates[key]
            )

        return study

    for examples in (20, 50, 200):
        for key in ("micro_average", "corpus_rate"):
            yield Cell(
                f"noise_rate {key}_ci", f"{examples} texts × 2 annotators", limits(examples), errors(key, examples)
            )


def translations() -> Iterator[Cell]:
    """BLEU and chrF."""
    random = np.random.default_rng(2)
    truth = [" ".join(random.choice(list("abcdefgh"), size)) for size in random.integers(6, 20, 2000)]
    said = [
        [" ".join("z" if random.random() < loss else word for word in text.split())]
        for text, loss in zip(truth, random.beta(1, 4, 2000), strict=True)
    ]
    corpus_chrf = partial(annotated_chrf, mode="corpus")
    measures: list[tuple[str, Any, str]] = [
        ("BLEU of the corpus", annotated_bleu, "micro_average"),
        ("BLEU of sentences", annotated_bleu, "worst_average"),
        ("chrF of the corpus", corpus_chrf, "micro_average"),
        ("chrF of sentences", annotated_chrf, "worst_average"),
    ]

    def scored(metric: Any, key: str, whole: float, examples: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            rows = rng.integers(0, 2000, examples)
            result = metric([said[row] for row in rows], [truth[row] for row in rows])
            return holds(result[f"{key}_ci"], whole)

        return study

    for name, metric, key in measures:
        whole = metric(said, truth)[key]
        for examples in (20, 50):
            study = scored(metric, key, whole, examples)
            yield Cell(f"{name}, {key}_ci", f"{examples} sentences", limits(examples), study)


def pairs(rng: Generator, kind: str, examples: int) -> tuple[Any, Any, Any]:
    """Return the scores of two tracks that are alike on average, and their originals."""
    if kind == "right or wrong":
        ability = rng.beta(2, 1, examples)
        return (rng.random(examples) < ability) * 1.0, (rng.random(examples) < ability) * 1.0, None
    if kind == "graded":
        ability = rng.beta(4, 2, examples)
        return rng.beta(8 * ability, 8 * (1 - ability)), rng.beta(8 * ability, 8 * (1 - ability)), None
    if kind == "beyond 1":
        first, second = np.exp(rng.normal(size=(2, examples)) / 2)
        return first, second, None
    ability = rng.beta(2, 1, (2, examples))
    first, second = ((rng.random((5, examples)) < side).T.ravel() * 1.0 for side in ability)
    return first, second, np.repeat(np.arange(examples), 5)


def comparisons() -> Iterator[Cell]:
    """`statistics.compare` of two tracks, which reports use."""

    def rejects(kind: str, examples: int) -> Callable[[Generator], bool]:
        return lambda rng: (statistics.compare_paired(*pairs(rng, kind, examples)).p_value or 0.0) < 0.05

    def permuted(kind: str, examples: int) -> Callable[[Generator], bool]:
        return lambda rng: (
            statistics.permutation_test(*pairs(rng, kind, examples), n_resamples=999, seed=int(rng.integers(1 << 30)))
            < 0.05
        )

    for kind in ("right or wrong", "graded", "beyond 1", "five rows per original"):
        for examples in (50, 200):
            within = AT_MOST if examples == 50 and kind == "right or wrong" else TEST  # exact
            yield Cell("compare p_value", f"{examples} originals, {kind}", within, rejects(kind, examples))
    yield Cell("permutation_test", "50 originals, five rows per original", TEST, permuted("five rows per original", 50))

    def covers(examples: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            first, second = ((rng.random(examples) < chance).astype(np.float64) for chance in (0.9, 0.7))
            return holds(statistics.compare_paired(first, second).interval, 0.2)

        return study

    for examples in (20, 50, 200):
        yield Cell("compare interval", f"{examples} examples, 0.90 against 0.70", limits(examples), covers(examples))


def relative_changes() -> Iterator[Cell]:
    """The change of an average as a share of the clean one, %Δ."""

    def covers_relative(examples: int, kept: float) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            clean = (rng.random(examples) < 0.8).astype(np.float64)
            noisy = np.where(rng.random(examples) < 0.05, 1 - clean, clean) * (rng.random(examples) < kept)
            averages = ExampleScores.from_table(noisy[:, None], None, clean).estimate(AnalysisOptions())
            return holds(averages.relative_change.interval, kept * (0.8 * 0.95 + 0.2 * 0.05) / 0.8 - 1)

        return study

    for examples in (20, 50, 200):
        for kept in (0.97, 0.6):
            setting = f"{examples} examples, 0.80 right when clean, {100 * (1 - kept):.0f} % of noisy answers lost"
            yield Cell("relative_change interval", setting, SMALL, covers_relative(examples, kept))


def sizes_of_originals(rng: Generator, kind: str, originals: int) -> Any:
    """Return how many rows each original has."""
    if kind == "lognormal":
        return np.clip(np.round(np.exp(rng.normal(1, 1, originals))), 1, 60).astype(int)
    if kind == "geometric":
        return np.minimum(60, rng.geometric(1 / 20, originals))
    sizes = np.full(originals, 2)
    sizes[0] = int(0.4 / 0.6 * 2 * (originals - 1))  # two fifths of all rows
    return sizes


def unequal_originals() -> Iterator[Cell]:
    """Originals with very different numbers of rows, which move together."""

    def answers(rng: Generator, kind: str, originals: int) -> tuple[Any, Any, Any]:
        sizes = sizes_of_originals(rng, kind, originals)
        clusters = np.repeat(np.arange(originals), sizes)
        ability, shift = rng.beta(2, 1, originals)[clusters], rng.choice([-0.15, 0.15], originals)[clusters]
        clean, noisy = (rng.random(len(clusters)) < np.clip(ability + sign * shift, 0, 1) for sign in (1, -1))
        return clean * 1.0, noisy * 1.0, clusters

    truth = 2 / 3

    def rejects(kind: str, originals: int) -> Callable[[Generator], bool]:
        return lambda rng: (statistics.compare_paired(*answers(rng, kind, originals)).p_value or 0.0) < 0.05

    def covers(kind: str, originals: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            sizes = sizes_of_originals(rng, kind, originals)
            clusters = np.repeat(np.arange(originals), sizes)
            right = (rng.random(len(clusters)) < rng.beta(2, 1, originals)[clusters]).astype(np.float64)
            return holds(statistics.estimate_average(right, clusters).interval, truth)

        return study

    names = {"lognormal": "lognormal sizes", "geometric": "geometric sizes", "one": "one holds 40 % of the rows"}
    for kind, label in names.items():
        for originals in (10, 20, 50, 100):
            within = AT_MOST if originals < 50 or kind == "one" else TEST
            yield Cell("compare p_value", f"{originals} originals, {label}", within, rejects(kind, originals))
            yield Cell("average interval", f"{originals} originals, {label}", SMALL, covers(kind, originals))


def many_classes() -> Iterator[Cell]:
    """Balanced accuracy and macro-F1 of many classes, some of them rare."""
    designs = {
        "7 classes × 14": [14] * 7,
        "20 classes × 10": [10] * 20,
        "77 classes × 13": [13] * 77,
        "a class of 100 and 20 of 3": [100] + [3] * 20,
    }

    def answer(rng: Generator, sizes: list[int], recalls: Any) -> tuple[Any, Any]:
        truth = np.repeat(np.arange(len(sizes)), sizes)
        right = rng.random(len(truth)) < recalls[truth]
        return np.where(right, truth, (truth + rng.integers(1, len(sizes), len(truth))) % len(sizes)), truth

    def covers(key: str, sizes: list[int], recalls: Any, truth: float) -> Callable[[Generator], bool]:
        return lambda rng: holds(classification(*answer(rng, sizes, recalls))[f"{key}_ci"], truth)

    def falls(sizes: list[int], recalls: Any) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            guess, truth = answer(rng, sizes, recalls)
            other, _ = answer(rng, sizes, recalls)
            return (compute_balanced_drop_p(guess == truth, other == truth, truth, None) or 0.0) < 0.05

        return study

    for name, sizes in designs.items():
        for recall in (0.9, 0.7):
            random = np.random.default_rng(5)
            recalls = np.clip(recall + 0.1 * np.linspace(-1, 1, len(sizes)), 0, 1)
            drawn = [classification(*answer(random, sizes, recalls))["macro_f1"] for _ in range(100 if QUICK else 2000)]
            truths = {"balanced_accuracy": float(recalls.mean()), "macro_f1": float(np.mean(drawn))}
            for key, truth in truths.items():
                setting = f"{name}, recalls about {recall:.1f}"
                yield Cell(f"{key}_ci", setting, SMALL, covers(key, sizes, recalls, truth))
        yield Cell("balanced_drop_p", f"{name}, recalls about 0.7", AT_MOST, falls(sizes, recalls))


def unequal_groups() -> Iterator[Cell]:
    """The gap between groups of unequal size, in which predictions change at different rates."""

    def rejects(sizes: tuple[int, ...], flips: tuple[float, ...]) -> Callable[[Generator], bool]:
        groups = np.repeat(np.arange(len(sizes)), sizes)

        def study(rng: Generator) -> bool:
            changes = np.where(
                rng.random(len(groups)) < np.array(flips)[groups], rng.choice([-1.0, 1.0], len(groups)), 0
            )
            found = statistics.compare_group_extremes(changes, groups, np.arange(len(groups)))
            return found is not None and found.p_value is not None and found.p_value < 0.05

        return study

    designs = [
        ((150, 50), (0.04, 0.2)),
        ((50, 150), (0.04, 0.2)),
        ((80, 20), (0.05, 0.3)),
        ((100, 60, 20), (0.05, 0.1, 0.3)),
        ((200, 30, 30, 30, 30, 30), (0.05, 0.2, 0.2, 0.2, 0.2, 0.2)),
    ]
    for sizes, flips in designs:
        setting = f"groups of {', '.join(map(str, sizes))} that flip in {', '.join(f'{flip:.0%}' for flip in flips)}"
        yield Cell("gaps p_value", setting.replace("%", " %"), AT_MOST, rejects(sizes, flips))


def skewed_scores() -> Iterator[Cell]:
    """Scores beyond 1 that are skewed: seconds, counts, perplexities."""

    def differences(rng: Generator, examples: int) -> Any:
        return rng.exponential(size=examples) ** 1.5

    truth = math.gamma(2.5)

    def covers(examples: int) -> Callable[[Generator], bool]:
        return lambda rng: holds(
            statistics.compare_paired(5 + differences(rng, examples), np.full(examples, 5.0)).interval, truth
        )

    def agrees(examples: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            found = statistics.compare_paired(9 + differences(rng, examples), np.full(examples, 9 + truth / 2))
            return (found.p_value is not None and found.p_value < 0.05) == (not holds(found.interval, 0))

        return study

    for examples in (20, 50):
        yield Cell("compare interval", f"{examples} examples, skewed", SMALL, covers(examples), studies=800)
    yield Cell("compare interval and p_value agree", "20 examples, skewed", (0.99, 1.0), agrees(20), studies=800)


def few_originals() -> Iterator[Cell]:
    """Win rates and mixed effects with few originals."""

    def wins_of(originals: int) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            chance = np.repeat(rng.beta(2, 2, originals), 4)
            outcome = np.where(rng.random(4 * originals) < chance, 1.0, -1.0)
            clusters = np.repeat(np.arange(originals), 4)
            result = win_rate(outcome, np.zeros(len(outcome)), clusters=clusters, alternative="two-sided")
            return bool(result["p_value"] is not None and result["p_value"] < 0.05)

        return study

    for originals in (8, 12, 20):
        yield Cell("win_rate p_value", f"{originals} originals × 4 pairs", AT_MOST, wins_of(originals))

    def effect_of(originals: int, errors: str) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            table = rng.normal(size=(originals, 1)) + rng.normal(size=(originals, 3))
            columns = table.ravel(), np.tile([0, 1, 2], originals), np.repeat(np.arange(originals), 3)
            return bool(mixed_effects(*columns, errors=errors)["coefficients"]["1"]["p_value_single"] < 0.05)

        return study

    for originals in (8, 20):
        for errors in ("robust", "model"):
            setting = f"{originals} examples × 3, errors={errors}"
            yield Cell("coefficients p_value_single", setting, TEST, effect_of(originals, errors))


def new_annotators() -> Iterator[Cell]:
    """The interval of an average over other annotators too."""

    def covers(annotators: int, spread: float, originals: int) -> Callable[[Generator], bool]:
        random = np.random.default_rng(9)
        logits = random.normal(1.5, 1, 1_000_000) + spread * random.normal(size=1_000_000)
        truth = float((1 / (1 + np.exp(-logits))).mean())

        def study(rng: Generator) -> bool:
            logits = rng.normal(1.5, 1, (originals, 1)) + spread * rng.normal(size=(1, annotators))
            table = (rng.random((originals, annotators)) < 1 / (1 + np.exp(-logits))).astype(np.float64)
            return holds(statistics.new_annotators_interval(table, 0.95), truth)

        return study

    for annotators in (3, 5, 10):
        for spread in (0.0, 0.3, 1.0):
            for originals in (50, 200):
                differ = {0.0: "alike", 0.3: "who differ a little", 1.0: "who differ much"}[spread]
                setting = f"{originals} examples × {annotators} annotators {differ}"
                yield Cell("average, new annotators", setting, SMALL, covers(annotators, spread, originals))


POWERFUL: Limits = (0.75, 0.85)  # of the true difference that is printed


def detectable_differences() -> Iterator[Cell]:
    """How often a true difference of the printed size is found: a study prints it, a second one has it."""

    def flips(rng: Generator, examples: int, shares: tuple[float, float], rows: int) -> tuple[Any, Any, Any]:
        """Return noisy and clean scores, of which these shares are lost and won; rows of one original change alike."""
        draw = rng.random(examples)
        lost, won = draw < shares[0], draw > 1 - shares[1]
        clean = np.where(lost, 1.0, np.where(won, 0.0, rng.random(examples) < 0.7))
        noisy = np.where(lost, 0.0, np.where(won, 1.0, clean))
        return np.repeat(noisy, rows), np.repeat(clean, rows), np.repeat(np.arange(examples), rows)

    def found(examples: int, changed: float, tests: int, tilts: bool, rows: int = 1) -> Callable[[Generator], bool]:
        """Return a study; where the difference `tilts` directions, it also adds changes, else it only turns them."""
        others = [PairedTest()] * (tests - 1)

        def compare(rng: Generator, drop: float) -> PairedTest:
            total = math.hypot(changed, drop) if tilts else max(changed, drop)
            shares = (total + drop) / 2, (total - drop) / 2
            return apply_holm([compare_paired_scores(*flips(rng, examples, shares, rows), 0.95), *others])[0]

        def study(rng: Generator) -> bool:
            printed = compare(rng, 0.0).minimum_detectable
            return compare(rng, 1.0 if printed is None else printed).is_significant

        return study

    for examples, changed, tests in (
        *((90, 0.2, 1), (90, 0.2, 12), (90, 0.05, 1), (300, 0.1, 1), (300, 0.1, 12)),
        *((600, 0.2, 1), (600, 0.2, 12), (600, 0.05, 12)),
    ):
        setting = f"{examples} examples, {100 * changed:.0f} % change by chance, {format_count(tests, 'test')}"
        for tilts, label in ((True, "more losses, fewer gains"), (False, "as many changes")):
            study = found(examples, changed, tests, tilts)
            within = POWERFUL if tilts else (POWERFUL[0], 1.0)
            yield Cell("minimum_detectable, power", f"{setting}; {label}", within, study)
    setting = "200 originals × 3 rows alike, 20 % change by chance, 12 tests; more losses, fewer gains"
    yield Cell("minimum_detectable, power", setting, POWERFUL, found(200, 0.2, 12, True, 3))

    def graded(rng: Generator, examples: int, drop: float, top: float) -> tuple[Any, Any]:
        ability = 0.5 + 0.15 * rng.normal(size=examples)
        first, second = (ability + mean + 0.1 * rng.normal(size=examples) for mean in (-drop, 0.0))
        return top * first.clip(0, 1), top * second.clip(0, 1)

    def graded_found(examples: int, top: float) -> Callable[[Generator], bool]:
        def study(rng: Generator) -> bool:
            printed = compare_paired_scores(*graded(rng, examples, 0.0, top), None, 0.95).minimum_detectable
            test = compare_paired_scores(*graded(rng, examples, (printed or top) / top, top), None, 0.95)
            return test.p_value is not None and test.p_value < 0.05

        return study

    yield Cell("minimum_detectable, power", "100 examples, graded", POWERFUL, graded_found(100, 1.0))
    yield Cell(
        "minimum_detectable, power", "30 examples, from 0 to 100", POWERFUL, graded_found(30, 100.0), studies=1500
    )


PARTS: tuple[Callable[[], Iterator[Cell]], ...] = (
    *(averages_near_the_ends, averages_of_shared_originals, averages_that_drop, consistency, wins),
    *(effects_of_rewrites, effects_of_unequal_noise, slots_and_utterances, entities, classes, gaps),
    *(error_rates, translations, comparisons, families_of_a_report),
    relative_changes,
    *(unequal_originals, many_classes, unequal_groups, skewed_scores, few_originals, new_annotators),
    detectable_differences,
)
TABLE = re.compile(r"(<!-- table -->\n)(.*)(<!-- /table -->)", re.DOTALL)


def table_with(new: dict[str, list[tuple[str, ...]]], page: str) -> str:
    """Return the page with the lines of these parts in its table; a part is the heading of its lines."""
    found = TABLE.search(page)
    old = {name: lines for name, lines in parts_of(found[2] if found else "").items() if name not in new}
    order = [part.__name__ for part in PARTS]
    text = ""
    for name in sorted(old.keys() & set(order) | new.keys(), key=order.index):
        lines = new.get(name, old.get(name, []))
        text += f"\n**{name.replace('_', ' ').capitalize()}**\n\n"
        text += "".join(f"| {' | '.join(line)} |\n" for line in (HEAD, ["---"] * len(HEAD), *lines))
    return TABLE.sub(lambda marks: f"{marks[1]}{text}\n{marks[3]}", page)


def parts_of(text: str) -> dict[str, list[tuple[str, ...]]]:
    """Return the lines of a table by part."""
    parts: dict[str, list[tuple[str, ...]]] = {}
    for heading, body in re.findall(r"\*\*(.+?)\*\*\n\n((?:\|.*\n)+)", text):
        rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in body.splitlines()[2:]]
        parts[heading.lower().replace(" ", "_")] = rows
    return parts


def main() -> int:
    """Run the cells and print them; exchange their lines in the table unless --quick is given."""
    chosen = [word for word in sys.argv[1:] if not word.startswith("-")]
    unknown = set(chosen) - {part.__name__ for part in PARTS}
    if unknown:
        sys.exit(f"There is no part {', '.join(sorted(unknown))}: take {', '.join(part.__name__ for part in PARTS)}.")
    verdicts = set()
    for part in PARTS:
        if chosen and part.__name__ not in chosen:
            continue
        lines = []
        for cell in part():
            lines.append(cell.line())
            verdicts.add(lines[-1][-1])
            print(" | ".join(lines[-1]), flush=True)
        if not QUICK:
            PAGE.write_text(table_with({part.__name__: lines}, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0 if verdicts == {"yes"} else 1


if __name__ == "__main__":
    sys.exit(main())
