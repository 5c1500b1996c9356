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
from functools import partial
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
    from seqeval.metrics import classification_report, f1_score
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
    strict = Row(work, "seqeval's strict report", ours, slow, 50, double / ours)
    ours, double = in_turns(lambda: slu_accuracy(guess[:count], truth[:count]), lambda: slu_accuracy(guess, truth))
    slow = seconds(lambda: found.update(f1=f1_score(*sides)), 1)
    agree(found["f1"], slu_accuracy(guess[:count], truth[:count])["slot_f1"])
    return [strict, Row(f"{work}, lenient tags", "seqeval's plain f1_score", ours, slow, 10, double / ours)]


def scores_of(count: int, *, missing: float = 0.0) -> tuple[Any, Any, Any]:
    """Return scores, conditions and examples of a design with three conditions; some of the scores are missing."""
    rng = np.random.default_rng(0)
    score = (rng.normal(size=(count, 1)) + rng.normal(size=(count, 3)) + [0, 0.1, 0.2]).ravel()
    kept = rng.random(3 * count) >= missing
    return score[kept], np.tile([0, 1, 2], count)[kept], np.repeat(np.arange(count), 3)[kept]


def uneven(count: int) -> tuple[Any, Any, Any]:
    """Return scores of a design in which an example has one to five answers in each of two to three conditions."""
    rng = np.random.default_rng(0)
    times = rng.integers(1, 6, (count, 3))
    times[rng.random(count) < 0.3, 2] = 0
    example = np.repeat(np.repeat(np.arange(count), 3), times.ravel())
    condition = np.repeat(np.tile([0, 1, 2], count), times.ravel())
    score = rng.normal(size=count)[example] + rng.normal(size=len(example)) + 0.1 * condition
    return score, condition, example


LME4 = """
library(lme4, quietly = TRUE)
data <- read.csv(commandArgs(TRUE)[1])
data$condition <- factor(data$condition)
started <- proc.time()
model <- lmer(score ~ condition + (1 | example), data)
taken <- proc.time() - started
cat(taken[["user.self"]] + taken[["sys.self"]], fixef(model)[["condition1"]])
"""


def lme4(data: tuple[Any, Any, Any]) -> tuple[float, float] | None:
    """Return the processor time of R's lme4 and its first contrast; None where R or lme4 is not there."""
    import shutil
    import tempfile

    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "data.csv"
        np.savetxt(table, np.column_stack(data), "%.17g", ",", header="score,condition,example", comments="")
        (Path(folder) / "fit.R").write_text(LME4)
        done = subprocess.run(
            ["Rscript", f"{folder}/fit.R", table], check=False, capture_output=True, text=True, env={**os.environ}
        )
    if done.returncode:
        return None
    taken, contrast = map(float, done.stdout.split())
    return taken, contrast


def effects() -> list[Row]:
    """Time mixed_effects on balanced data, with missing scores, and on an uneven design."""
    import statsmodels.api as sm

    count, few = rows(100_000), rows(20_000)
    designs: list[tuple[str, Callable[[int], tuple[Any, Any, Any]], float]] = [
        ("examples × 3", scores_of, 3000),
        ("examples × 3, 20 % of the scores missing", partial(scores_of, missing=0.2), 390),
        ("examples × 2 or 3, 1 to 5 answers each", uneven, 100),
    ]
    table = []
    for name, design, wanted in designs:
        once, twice, less = design(count), design(2 * count), design(few)
        one, two = (partial(mixed_effects, *data) for data in (once, twice))
        ours, double = in_turns(one, two)
        contrast = _first_contrast(mixed_effects(*less))
        score, condition, example = less
        matrix = np.column_stack([np.ones(len(score)), condition == 1, condition == 2])
        fitted: dict[str, Any] = {}
        model = sm.MixedLM(score, matrix, groups=example)
        slow = seconds(partial(lambda model, fitted: fitted.update(found=model.fit(reml=True)), model, fitted), 1)
        near(contrast, float(fitted["found"].fe_params[1]))
        work = f"mixed_effects, {count:,} {name}"
        peer = f"statsmodels MixedLM ({slow:.3g} s at {few:,}, scaled up)"
        table.append(Row(work, peer, ours, slow * count / few, wanted, double / ours))
        found = lme4(once)
        if found:
            near(_first_contrast(mixed_effects(*once)), found[1])
            table.append(Row(work, "lme4 of R", ours, found[0], wanted / 100, double / ours))
        elif design is scores_of and not QUICK:
            table.append(Row(work, "lme4 of R, on an earlier machine", ours, 7.0, wanted / 100, double / ours))
    return table


def _first_contrast(result: dict[str, Any]) -> float:
    return float(result["coefficients"]["1"]["estimate"])


def near(one: float, other: float) -> None:
    """Raise unless two iterative fits agree to five digits."""
    if abs(one - other) > 1e-5 * max(1.0, abs(one)):
        raise ValueError(f"{one} and {other} should be equal.")


def long_texts() -> list[Row]:
    """Time noise_rate on texts of many characters."""
    from rapidfuzz.distance import Levenshtein

    table = []
    for length in (10_000, 100_000):
        size = max(1000, int(length * SCALE))
        noisy, clean = chinese(4, size, size)
        ours, double = in_turns(
            lambda clean=clean, noisy=noisy: noise_rate(noisy[:2], clean[:2]),  # type: ignore[misc]
            lambda clean=clean, noisy=noisy: noise_rate(noisy, clean),  # type: ignore[misc]
        )
        bare = seconds(
            lambda clean=clean, noisy=noisy: [  # type: ignore[misc]
                Levenshtein.distance(*pair) for pair in zip(noisy[:2], clean[:2], strict=True)
            ],
            3,
        )
        work = f"noise_rate, 2 Chinese pairs of {size:,} characters"
        table.append(Row(work, "rapidfuzz, without a band", ours, bare, 1, double / ours))
    return table


def intervals(kind: str, wanted: float) -> list[Row]:
    """Time the intervals of two systems on the same examples."""
    rng = np.random.default_rng(0)
    count, resamples = rows(20_000), rows(10_000)
    systems = [rng.random((2 * count, 3)) for _ in range(2)]
    if kind == "0/1":
        systems = [(table > 0.3).astype(float) for table in systems]
    lists = [system.tolist() for system in systems]

    def score(systems: list[Any], number: int) -> Any:
        return [micro_worst_average(system[:number], n_resamples=resamples) for system in systems]

    def plainly() -> Any:
        draws = []
        for _ in range(50):
            picked = rng.integers(0, count, count)
            samples = [system[:count][picked] for system in systems]
            draws.append([(sample.mean(), sample.min(axis=1).mean()) for sample in samples])
        return np.quantile(draws, [0.025, 0.975], axis=0)

    ours, double = in_turns(lambda: score(lists, count), lambda: score(lists, 2 * count))
    of_arrays, double_of_arrays = in_turns(lambda: score(systems, count), lambda: score(systems, 2 * count))

    def multinomial() -> Any:
        draws = []
        for system in systems:
            rows_of = np.column_stack([system[:count].mean(axis=1), system[:count].min(axis=1)])
            kinds, numbers = np.unique(rows_of, axis=0, return_counts=True)
            picked = rng.multinomial(count, numbers / count, few)
            draws.append(np.quantile(picked @ kinds / count, [0.025, 0.975], axis=0))
        return draws

    work = f"micro and worst intervals, {resamples:,} resamples, {count:,} × 3, two systems, {kind} scores"
    theirs = seconds(plainly, 3) * resamples / 50
    few = resamples if kind == "0/1" else 50
    drawn = seconds(multinomial, 3) * resamples / few
    scaled = "" if few == resamples else f" (timed on {few} resamples)"
    return [
        Row(f"{work} in lists", "plain numpy (timed on 50 resamples)", ours, theirs, wanted, double / ours),
        Row(
            *(f"{work} in arrays", f"numpy's multinomial in five lines{scaled}"),
            *(of_arrays, drawn, 3, double_of_arrays / of_arrays),
        ),
    ]


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
import evaluate, os, sys, time
for place in sys.argv[1:]:
    if os.fork() == 0:  # a process for each, which has imported evaluate alone
        started = time.process_time()
        evaluate.load(place)
        print(os.path.basename(place), time.process_time() - started, sep="\\t", flush=True)
        os._exit(0)
    os.wait()
"""
TRIVIAL = """
import datasets
import evaluate


class Trivial(evaluate.Metric):
    def _info(self):
        columns = {"predictions": datasets.Value("int64"), "references": datasets.Value("int64")}
        features = datasets.Features(columns)
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions, references):
        return {"equal": sum(map(int.__eq__, predictions, references)) / len(predictions)}
"""


def loading(folder: Path) -> list[str]:
    """Return what `evaluate.load` of each metric costs a process that has imported evaluate.

    Beside them is a module that imports nothing but evaluate. Sources are compiled before, as pip does.
    """
    trivial = folder / "trivial"
    trivial.mkdir()
    (trivial / f"{trivial.name}.py").write_text(TRIVIAL, encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["HF_HOME"] = str(folder / "home")
    scripts = (place / f"{place.name}.py" for place in sorted((ROOT / "metrics").iterdir()))
    places = [str(trivial), *(str(script.parent) for script in scripts if script.is_file())]
    command = [sys.executable, "-c", LOADING, *places * (2 if QUICK else 4)]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    taken: dict[str, list[float]] = {}
    for name, seconds in (line.split("\t") for line in output.splitlines()):
        taken.setdefault(name, []).append(float(seconds))
    return [f"| {name} | {1000 * min(times):.0f} ms |" for name, times in taken.items()]


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

Bare `cpdist` compares texts and does nothing else. `noise_rate` also checks that every element is a text, counts the
characters of the clean ones, and makes three intervals: on short texts that takes as long as the comparison, which is
why its ratio stays under the aim there, and rises with the length. From lists, most of `micro_worst_average` is reading
Python's numbers; numpy's five lines have arrays, and so has lapsus beside them.

What `evaluate.load` takes in a new process beyond importing evaluate (aim: 50 ms), with compiled sources; `trivial` is
a metric that imports nothing of its own, and BLEU and chrF import sacrebleu:

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
        long_texts,
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
