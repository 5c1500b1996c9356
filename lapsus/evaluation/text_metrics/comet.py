"""COMET by its own command: `uv tool install unbabel-comet --with 'setuptools<81'`; a model is Unbabel/wmt22-comet-da.

Its package holds numpy, transformers and huggingface_hub below the versions that lapsus needs, so it lives in an
environment of its own, and its command `comet-score` is asked, wherever that is on the path. An old
torchmetrics, to which it is held, needs setuptools below 81. The command of 2.2.7 computes in half precision: scores
near .8 are .0005 apart, and ties more frequent than they would be otherwise.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from lapsus.evaluation.text_metrics import FunctionMetric, MetricInput, MetricProvider, Reads, TextMetric

INSTALL = "uv tool install unbabel-comet --with 'setuptools<81'"
FILES = ("-t", "-r", "-s")  # hypotheses, references, sources


def open_comet(rest: str) -> TextMetric:
    """Return COMET with a model of the Hub, or a checkpoint file; one without references has `qe` or `kiwi` in it."""
    command = shutil.which("comet-score")
    if command is None:
        raise FileNotFoundError(f"comet-score is not on the path; {INSTALL}")
    estimates = any(part in rest.lower() for part in ("-qe-", "cometkiwi"))
    required: tuple[Reads, ...] = ("sources",) if estimates else ("references", "sources")
    return FunctionMetric(f"comet:{Path(rest).name}", partial(_rate, command, rest), required=required)


def _rate(command: str, model: str, metric_input: MetricInput) -> list[float]:
    with TemporaryDirectory() as folder:
        gpus = "1" if shutil.which("nvidia-smi") else "0"
        arguments = [command, "--model", model, "--gpus", gpus, "--quiet", "--to_json", f"{folder}/scores.json"]
        for option, texts in zip(
            FILES, (metric_input.candidates, metric_input.references, metric_input.sources), strict=True
        ):
            if texts:
                path = Path(folder) / f"{option[1:]}.txt"
                path.write_text("".join(f"{' '.join(text.split())}\n" for text in texts), encoding="utf-8")
                arguments += [option, str(path)]
        process = subprocess.run(arguments, capture_output=True, text=True, check=False)  # noqa: S603 - a command on the path
        if process.returncode:
            raise OSError(f"comet-score failed: {(process.stderr.strip().splitlines() or ['it said nothing'])[-1]}")
        (rows,) = json.loads((Path(folder) / "scores.json").read_text(encoding="utf-8")).values()
    return [row["COMET"] for row in rows]


UNITS = (MetricProvider("comet", "comet:MODEL", "COMET, by the command comet-score", open_comet),)
