"""What very large jobs would cost, computed from rates that are measured first; prints the tables of docs/scale.md.

    python benchmarks/scale_plan.py [--texts FILE] [--rows 20000]

Rates are CPU seconds of this process, so that a busy machine changes them little. FILE holds a text per line; without
it, the texts are those of tests/frozen_texts.txt.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lapsus.evaluation.models.function import FunctionModel
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet
from lapsus.hub import build_rows
from lapsus.jobs.perturb_corpus import perturb_corpus
from lapsus.perturbations import OPERATORS, Noise

KNOWN = Path(__file__).parents[1] / "tests" / "frozen_texts.txt"
OPERATORS_SHOWN = ("zh_homophone", "zh_keyboard")
CORES = 1_000
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Rates:
    """What was measured."""

    rows_a_second: dict[str, float]  # by operator, of one core
    bytes_a_row: dict[str, float]  # of the shards
    shard: float  # seconds that a shard takes beside its rows
    answer: float  # seconds to ask a model that takes no time, and to write its answer
    bytes_an_answer: float  # in the file of predictions
    bytes_kept: float  # in the cache of answers
    config: float  # seconds of a config of a dataset folder beside its rows
    bytes_a_config: float  # in the card


def seconds(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of a function."""
    start = time.process_time()
    work()
    return time.process_time() - start


def size(folder: Path, pattern: str) -> int:
    """Return the bytes of files."""
    return sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file())


def perturbing(texts: list[str], rows: int, home: Path) -> tuple[dict[str, float], dict[str, float], float]:
    """Measure operators on a corpus, and what a shard costs."""
    source = home / "corpus.parquet"
    pq.write_table(
        pa.table({"id": [str(n) for n in range(rows)], "text": [texts[n % len(texts)] for n in range(rows)]}), source
    )
    speeds, sizes, few = {}, {}, 0.0
    for name in OPERATORS_SHOWN:
        noise = Noise(OPERATORS[name], text="text", id="id")
        noise({"text": texts[:10], "id": list("0123456789")})  # tables are loaded once
        out = home / name
        few = seconds(partial(perturb_corpus, source, out, noise, progress=False))
        speeds[name], sizes[name] = rows / few, size(out, "*.parquet") / rows
    noise, many = Noise(OPERATORS["zh_homophone"], text="text", id="id"), home / "many"
    few = seconds(lambda: perturb_corpus(source, home / "few", noise, progress=False))
    slow = seconds(
        lambda: perturb_corpus(source, many, noise, progress=False, shard_bytes=source.stat().st_size // 200)
    )
    return speeds, sizes, (slow - few) / len(list(many.iterdir()))


def running(texts: list[str], rows: int, home: Path) -> tuple[float, float, float]:
    """Measure a run of a model that takes no time."""
    task = make_task(["text"], "label", labels=["music", "other"])
    data = TrackSet.from_rows(
        "board", task, [{"id": str(n), "text": texts[n % len(texts)] + str(n), "label": "other"} for n in range(rows)]
    )
    model = FunctionModel(lambda asked: ["other"] * len(asked), "none", "1")
    took = seconds(lambda: Evaluation(data, model, home / "run").execute())
    return took / rows, size(home / "run", "*.jsonl") / rows, size(home / "run", "answers.sqlite*") / rows


def building(texts: list[str], home: Path) -> tuple[float, float]:
    """Measure what another annotator adds to a dataset folder."""
    source = home / "few.jsonl"
    source.write_text("".join(json.dumps({"id": n, "text": texts[n]}) + "\n" for n in range(10)), encoding="utf-8")
    took, cards = [], []
    for number in (10, 60):
        out = home / f"made{number}"
        took.append(seconds(partial(build_rows, source, out, text="text", noise=f"typed=zh_homophone:{number}")))
        cards.append((out / "README.md").stat().st_size)
    return (took[1] - took[0]) / 50, (cards[1] - cards[0]) / 50


def measured(texts: list[str], rows: int) -> Rates:
    """Measure everything."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        speeds, sizes, shard = perturbing(texts, rows, home)
        return Rates(speeds, sizes, shard, *running(texts, rows, home), *building(texts, home))


def told(number: float) -> str:
    """Return a number of seconds in words."""
    for unit, length in (("days", DAY), ("hours", 3600), ("minutes", 60)):
        if number >= 2 * length:
            return f"{number / length:,.0f} {unit}"
    return f"{number:,.0f} s"


def held(number: float) -> str:
    """Return a number of bytes in words."""
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if number >= length:
            return f"{number / length:,.3g} {unit}"
    return f"{number / 1e3:,.3g} kB"


def show(rates: Rates) -> None:
    """Print the tables."""
    print("| measured | |\n| --- | ---: |")
    for name in OPERATORS_SHOWN:
        print(f"| `{name}`, rows a second of one core | {rates.rows_a_second[name]:,.0f} |")
        print(f"| its shards, bytes a row | {rates.bytes_a_row[name]:,.0f} |")
    print(f"| a shard, beside its rows | {1e3 * rates.shard:,.0f} ms |")
    print(f"| a question asked, judged and written, beside the model | {1e3 * rates.answer:,.2f} ms |")
    print(f"| an answer in a file of predictions | {rates.bytes_an_answer:,.0f} bytes |")
    print(f"| and in the cache | {rates.bytes_kept:,.0f} bytes |")
    print(f"| a config of a dataset folder, beside its rows | {rates.config:,.2f} s |")
    print(f"| its lines in the card | {rates.bytes_a_config:,.0f} bytes |")

    print("\n| a billion sentences | core time | on 1,000 cores | shards |\n| --- | ---: | ---: | ---: |")
    for name in OPERATORS_SHOWN:
        work = 1e9 / rates.rows_a_second[name]
        print(f"| `{name}` | {told(work)} | {told(work / CORES)} | {held(1e9 * rates.bytes_a_row[name])} |")

    print("\n| a thousand annotators, 10,000 rows | |\n| --- | ---: |")
    noise = told(2 * 1e7 / rates.rows_a_second["zh_keyboard"])
    print(f"| noise of `zh_keyboard`, each text made for its config and for all together: core time | {noise} |")
    print(f"| writing 1,002 configs | {told(1002 * rates.config)} |")
    print(f"| Parquet | {held(1e7 * rates.bytes_a_row['zh_keyboard'])} and as much again for all together |")
    print(f"| the card | {held(1000 * rates.bytes_a_config)} |")

    print("\n| 500 models × 200 tracks × 10,000 examples | |\n| --- | ---: |")
    print(f"| answers | {500 * 200 * 10_000:,} |")
    print(f"| asking, judging and writing them, beside the models: core time | {told(1e9 * rates.answer)} |")
    print(f"| files of predictions | {held(1e9 * rates.bytes_an_answer)} |")
    print(f"| caches of answers, one for each model | {held(2e6 * rates.bytes_kept)} each |")
    print(f"| a model that answers 100 questions a second: time of one, with one replica | {told(2e6 / 100)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, default=KNOWN)
    parser.add_argument("--rows", type=int, default=20_000)
    given = parser.parse_args()
    show(measured([line for line in given.texts.read_text(encoding="utf-8").splitlines() if line.strip()], given.rows))
