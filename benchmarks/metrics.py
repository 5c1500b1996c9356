"""Speed of the metrics compared with their peers, in one run; writes docs/benchmarks-metrics.md.

    python benchmarks/metrics.py [--quick]

Times are CPU seconds of all threads, so that other load matters little; the median of five runs, or one run
for peers that take long. Ratios are peer / lapsus. A peer that would take minutes is timed on fewer rows and scaled up
linearly, which the table says.
"""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from lapsus.metrics import micro_worst_average, mixed_effects, noise_rate, slu_accuracy

ROOT = Path(__file__).parents[1]
QUICK = "--quick" in sys.argv
SCALE = 0.05 if QUICK else 1


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: the task, the peer, the speed, and the speed that is required."""

    work: str
    peer: str
    ours: float
    theirs: float
    wanted: float
    doubled: float

    def cells(self) -> list[str]:
        """Return the cells of the line."""
        ratio = self.theirs / self.ours
        return [
            self.work,
            self.peer,
            f"{self.ours:.3g} s",
            f"{self.theirs:.3g} s",
            f"{ratio:,.2f}" if ratio < 10 else f"{ratio:,.0f}",
            f"{self.wanted:,g}",
            f"{self.doubled:.2f}",
        ]


def seconds(work: Callable[[], Any], times: int = 5) -> float:
    """Return the median processor time of the work."""
    taken = []
    for _ in range(times):
        gc.collect()
        gc.disable()  # no garbage collection, as in timeit: it would traverse all prepared rows
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
        gc.enable()
    return median(taken)


def in_turns(*works: Callable[[], Any]) -> list[float]:
    """Return the median CPU time of each, run in turns, so that the order does not decide close results."""
    taken = [[seconds(work, 1) for work in works] for _ in range(5)]
    return [median(times) for times in zip(*taken, strict=True)]


def agree(one: Any, other: Any) -> None:
    """Raise unless the peer gives the same result, without which speeds are not comparable."""
    if one != other and abs(one - other) > 1e-9:
        raise ValueError(f"{one} and {other} should be equal.")


def rows(count: int) -> int:
    """Return how many rows to work on."""
    return max(200, int(count * SCALE))


def chinese(count: int, shortest: int, longest: int) -> tuple[list[str], list[str]]:
    """Return noisy and clean texts; 15 % of the characters differ, as in READIN."""
    rng = random.Random(0)
    letters = [chr(0x4E00 + number) for number in range(3000)]
    clean = ["".join(rng.choices(letters, k=rng.randint(shortest, longest))) for _ in range(count)]
    noisy = ["".join(rng.choice(letters) if rng.random() < 0.15 else letter for letter in text) for text in clean]
    return noisy, clean


def noise_rates(shortest: int, longest: int) -> list[Row]:
    """Time noise_rate on texts of these lengths."""
    import datasets
    import evaluate
    import jiwer
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    class Cer(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
        """The work of evaluate's cer: one call of jiwer per pair."""

        def _info(self) -> evaluate.MetricInfo:
            features = datasets.Features(dict.fromkeys(("predictions", "references"), datasets.Value("string")))
            return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

        def _compute(self, predictions: list[str], references: list[str]) -> dict[str, float]:
            edits = total = 0
            for text, truth in zip(predictions, references, strict=True):
                found = jiwer.process_characters(truth, text)
                edits += found.substitutions + found.deletions + found.insertions
                total += found.substitutions + found.deletions + found.hits
            return {"cer": edits / total}

    count = rows(200_000)
    noisy, clean = chinese(2 * count, shortest, longest)
    once = noisy[:count], clean[:count]
    ours, double, bare = in_turns(
        lambda: noise_rate(*once),
        lambda: noise_rate(noisy, clean),
        lambda: cpdist(*once, scorer=Levenshtein.distance, workers=1),
    )
    few, cer, found = count // 10, Cer(keep_in_memory=True), {}
    slow = seconds(lambda: found.update(cer.compute(predictions=noisy[:few], references=clean[:few])), 1) * count / few
    agree(found["cer"], noise_rate(noisy[:few], clean[:few])["corpus_rate"])
    work = f"noise_rate, {count:,} Chinese pairs of {(shortest + longest) // 2} characters"
    return [
        Row(work, "rapidfuzz cpdist, one worker, bare", ours, bare, 0.8, double / ours),
        Row(work, f"evaluate's cer (timed on {few:,}, scaled up)", ours, slow, 60, double / ours),
    ]


def utterances(count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return guesses and truths with the lengths of ATIS and SNIPS and 120 tags; 4 % of the tags are wrong."""
    rng = random.Random(0)
    tags = [f"{part}-slot.{number}" for number in range(60) for part in "BI"] + ["O"] * 160
    truth = [" ".join(rng.choices(tags, k=rng.randint(5, 14))) for _ in range(count)]
    guess = [" ".join(rng.choice(tags) if rng.random() < 0.04 else tag for tag in text.split()) for text in truth]
    intents = [str(rng.randrange(20)) for _ in range(count)]

    def rows_of(side: list[str]) -> list[dict[str, Any]]:
        return [{"intent": intent, "tags": text.split()} for intent, text in zip(intents, side, strict=True)]

    return rows_of(guess), rows_of(truth)


def slots() -> list[Row]:
    """Time slu_accuracy in its strict scheme."""
    from seqeval.metrics import classification_report
    from seqeval.scheme import IOB2

    count = rows(100_000)
    guess, truth = utterances(2 * count)
    ours, double = in_turns(
        lambda: slu_accuracy(guess[:count], truth[:count], scheme="IOB2"),
        lambda: slu_accuracy(guess, truth, scheme="IOB2"),
    )
    sides = [[row["tags"] for row in side[:count]] for side in (truth, guess)]

    found = {}

    def report() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.update(classification_report(*sides, mode="strict", scheme=IOB2, output_dict=True))

    slow = seconds(report, 1)
    agree(found["micro avg"]["f1-score"], slu_accuracy(guess[:count], truth[:count], scheme="IOB2")["slot_f1"])
    work = f"slu_accuracy, {count:,} utterances from lists"
    return [Row(work, "seqeval's strict report", ours, slow, 50, double / ours)]


def effects() -> list[Row]:
    """Time mixed_effects on balanced data."""
    import statsmodels.api as sm

    def data(count: int) -> tuple[Any, Any, Any]:
        rng = np.random.default_rng(0)
        score = rng.normal(size=(count, 1)) + rng.normal(size=(count, 3)) + [0, 0.1, 0.2]
        return score.ravel(), np.tile([0, 1, 2], count), np.repeat(np.arange(count), 3)

    count = rows(100_000)
    once, twice = data(count), data(2 * count)
    ours, double = in_turns(lambda: mixed_effects(*once), lambda: mixed_effects(*twice))
    few = rows(40_000)
    score, condition, example = data(few)
    design = np.column_stack([np.ones(len(score)), condition == 1, condition == 2])
    slow = seconds(lambda: sm.MixedLM(score, design, groups=example).fit(reml=True), 1)
    peer = f"statsmodels MixedLM ({slow:.3g} s at {few:,}, scaled up)"
    return [Row(f"mixed_effects, {count:,} examples × 3", peer, ours, slow * count / few, 3000, double / ours)]


def intervals(kind: str, wanted: float) -> list[Row]:
    """Time the intervals of two systems on the same examples."""
    rng = np.random.default_rng(0)
    count, resamples = rows(20_000), rows(10_000)
    systems = [rng.random((2 * count, 3)) for _ in range(2)]
    if kind == "0/1":
        systems = [(table > 0.3).astype(float) for table in systems]
    lists = [system.tolist() for system in systems]

    def score(number: int) -> Any:
        return [micro_worst_average(system[:number], n_resamples=resamples) for system in lists]

    def plainly() -> Any:
        draws = []
        for _ in range(50):
            picked = rng.integers(0, count, count)
            samples = [system[:count][picked] for system in systems]
            draws.append([(sample.mean(), sample.min(axis=1).mean()) for sample in samples])
        return np.quantile(draws, [0.025, 0.975], axis=0)

    ours, double = in_turns(lambda: score(count), lambda: score(2 * count))
    work = f"micro and worst intervals, {resamples:,} resamples, {count:,} × 3, two systems, {kind} scores"
    theirs = seconds(plainly, 3) * resamples / 50
    return [Row(work, "plain numpy (timed on 50 resamples)", ours, theirs, wanted, double / ours)]


def evaluate_path() -> list[Row]:
    """Time `compute` of an evaluate module from Python lists."""
    import datasets
    import evaluate

    from lapsus.metrics import prediction_consistency

    names = ("predictions", "references", "original_predictions")

    class Usual(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
        """The same metric through evaluate's default conversion."""

        def _info(self) -> evaluate.MetricInfo:
            features = datasets.Features(dict.fromkeys(names, datasets.Value("int64")))
            return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

        def _compute(self, **columns: Any) -> dict[str, Any]:
            return prediction_consistency(**columns)

    count = rows(1_000_000)
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 3, 2 * count).tolist() for name in names}
    metric, usual = evaluate.load(str(ROOT / "metrics" / "prediction_consistency")), Usual(keep_in_memory=True)

    def compute(module: evaluate.Metric, number: int) -> dict[str, Any]:
        result: dict[str, Any] = module.compute(**{name: column[:number] for name, column in columns.items()})
        return result

    agree(compute(metric, 500), compute(usual, 500))
    ours, double = in_turns(lambda: compute(metric, count), lambda: compute(metric, 2 * count))
    work = f"compute through evaluate, {count:,} integer predictions"
    return [Row(work, "evaluate's own path", ours, seconds(lambda: compute(usual, count), 1), 10, double / ours)]


MEMORY = """
import evaluate, numpy as np, resource, sys
name, count = sys.argv[2], int(sys.argv[3])
metric = evaluate.load(f"{sys.argv[1]}/{name}")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rng = np.random.default_rng(0)
for start in range(0, count, 100_000):
    if name == "prediction_consistency":
        columns = ("predictions", "references", "original_predictions")
        metric.add_batch(**{key: rng.integers(0, 3, 100_000).tolist() for key in columns})
    elif name == "micro_worst_average":
        metric.add_batch(predictions=rng.integers(0, 2, (33_333, 3)).tolist())
    else:
        metric.add_batch(predictions=rng.random(100_000).tolist(), references=rng.random(100_000).tolist())
metric.compute()
print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def memory() -> list[str]:
    """Return the peak of a process that scores ten million predictions, with evaluate and all it imports."""
    count = 10_000_000 if not QUICK else 500_000
    lines = []
    for name in ("prediction_consistency", "micro_worst_average", "win_rate"):
        command = [sys.executable, "-c", MEMORY, str(ROOT / "metrics"), name, str(count)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        before, after = (int(number) / 1e6 for number in output.split())
        lines.append(f"| {name}, {count:,} predictions | {after:.2f} GB | {before:.2f} GB | 2 GB |")
    return lines


LOADING = """
import evaluate, sys, time
started = time.process_time()
evaluate.load(f"{sys.argv[1]}/{sys.argv[2]}")
print(time.process_time() - started)
"""


def loading(folder: Path) -> list[str]:
    """Return what `evaluate.load` of each metric costs a process that has imported evaluate."""
    lines = []
    for name in sorted(script.parent.name for script in (ROOT / "metrics").glob("*/score.py")):
        if not (ROOT / "metrics" / name / f"{name}.py").is_file():
            continue
        command = [sys.executable, "-c", LOADING, str(ROOT / "metrics"), name]
        environment = {**os.environ, "HF_HOME": str(folder)}
        taken = [
            float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)
            for _ in range(1 if QUICK else 2)
        ]
        lines.append(f"| {name} | {1000 * min(taken):.0f} ms |")
    return lines


PAGE = """\
# Speed of the metrics

Generated by `python benchmarks/metrics.py`. {machine}

Times are processor seconds of all threads, the median of five (one for peers that take long); the ratio is how often
lapsus is as fast as its peer. "Twice the rows" is how often as long twice as many rows take: at most 2.2 is the aim.

| work | beside | lapsus | peer | ratio | aim | twice the rows |
|---|---|---|---|---|---|---|
{table}

| memory at the peak, through evaluate, in batches | whole process | of it before the first row | aim |
|---|---|---|---|
{memory}

What `evaluate.load` takes in a new process beyond importing evaluate (aim: 50 ms):

| metric | processor time |
|---|---|
{loading}
"""


def main() -> None:
    """Time everything and print the table; write it unless --quick is given."""
    import tempfile

    parts: tuple[Callable[[], Iterable[Row]], ...] = (
        lambda: noise_rates(8, 24),
        lambda: noise_rates(20, 70),
        slots,
        effects,
        lambda: intervals("0/1", 200),
        lambda: intervals("continuous", 5),
        evaluate_path,
    )
    table = []
    for part in parts:
        for row in part():
            table.append("| " + " | ".join(row.cells()) + " |")
            print(table[-1], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        page = PAGE.format(
            machine=f"Python {sys.version.split()[0]}, {os.cpu_count()} cores.",
            table="\n".join(table),
            memory="\n".join(memory()),
            loading="\n".join(loading(Path(folder))),
        )
    print(page)
    if not QUICK:
        (ROOT / "docs" / "benchmarks-metrics.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
